"""Enqueues by SQL text on the application's own connection."""

from __future__ import annotations

import contextlib
import datetime
import importlib
import math
import os
import sqlite3
import subprocess
import sys
from datetime import timedelta, timezone
from pathlib import Path
from typing import Any, Iterator, Tuple

import pytest

import tableq
from conftest import Place, Thread, environment, until


@pytest.fixture
def connection(place: Place) -> Iterator[Any]:
    """A connection of sqlite3, psycopg2 or psycopg."""
    driver = os.environ.get("TABLEQ_TEST_DRIVER", "psycopg2")
    if place.backend == "sqlite":
        found = place.connect()
    else:
        found = importlib.import_module(driver).connect(place.url)
    yield found
    found.close()


@pytest.mark.parametrize("kind", ["heap", "fifo", "lifo"])
def test_a_message_is_there_when_the_application_commits(
    db: tableq.Database, connection: Any, kind: str
) -> None:
    queue = getattr(db, kind)("mail")
    first = queue.put(b"\0%s:x\xff", using=connection)
    connection.rollback()
    assert queue.stats().waiting == 0
    second = queue.put_batch(["a", tableq.NewMessage("b")], using=connection)
    assert queue.peek(5) == []
    connection.commit()
    assert sorted(m.text for m in queue.dequeue(5)) == ["a", "b"]
    assert first.outcome == "added" and [added.outcome for added in second] == ["added"] * 2


def test_any_bytes_are_stored(db: tableq.Database, connection: Any) -> None:
    mail, jobs = db.fifo("mail"), db.claim("jobs")
    payloads = [b"", b"\0\xff", b"100%s :x %(y)s \\", bytes(range(256))]
    mail.put_batch(payloads, using=connection)
    jobs.put_batch(payloads, using=connection)
    connection.commit()
    assert [m.payload for m in mail.dequeue(9)] == payloads
    assert [job.payload for job in jobs.take(9)] == payloads


def test_it_stores_what_put_stores(db: tableq.Database, connection: Any) -> None:
    """Each option, by both ways: the same message comes out."""
    soon = datetime.datetime.now(timezone.utc) + timedelta(days=2)
    past = datetime.datetime(2001, 1, 1, tzinfo=timezone.utc)
    messages = [
        tableq.NewMessage("plain"),
        tableq.NewMessage("high", priority=7),
        tableq.NewMessage("headers", headers={"typ\u00e9": "a\"\\\u20ac", "b": "%s :x"}),
        tableq.NewMessage("key", key="k\u00e9y"),
        tableq.NewMessage("delayed", delay=timedelta(days=2)),
        tableq.NewMessage("dated", due_at=soon),
        tableq.NewMessage("past", due_at=past, created_at=past),
        tableq.NewMessage("rules", max_attempts=9, retry=[1, 2.5], retry_jitter=10),
        tableq.NewMessage("usual", retry="usual"),
        tableq.NewMessage("none", retry="none"),
        tableq.NewMessage("short", time_to_live=3600),
        tableq.NewMessage("long", time_to_live=math.inf),
    ]
    ours, theirs = db.claim("ours", time_to_live=86400), db.claim("theirs", time_to_live=86400)
    for message in messages:
        ours.put_batch([message])
        theirs.put_batch([message], using=connection)
        connection.commit()
    for state in ("ready", "delayed"):
        for one, other in zip(ours.messages(state), theirs.messages(state)):
            assert (one.text, one.state, one.headers, one.key, one.priority) == (
                other.text, other.state, other.headers, other.key, other.priority
            )
            for name in ("created_at", "due_at", "expires_at"):
                mine, their = getattr(one, name), getattr(other, name)
                assert (mine is None) == (their is None), (one.text, name)
                assert mine is None or abs(mine - their) < timedelta(minutes=1), (one.text, name)
        assert len(list(ours.messages(state))) == len(list(theirs.messages(state)))
    cursor = connection.cursor()
    schema = f'"{db._schema_name}".' if db._schema_name else ""
    columns = "max_attempts, retry, state, fence"
    for name in ("ours", "theirs"):
        cursor.execute(f"SELECT {columns} FROM {schema}{name} ORDER BY id")
        rows = [(m, r, s) for m, r, s, f in cursor.fetchall()]
        if name == "ours":
            wanted = rows
    assert rows == wanted


def test_pending_messages_fall_due(db: tableq.Database, connection: Any) -> None:
    later = db.pending("later")
    later.put("now", using=connection)
    later.put("tomorrow", delay=86400, using=connection)
    connection.commit()
    assert [m.text for m in later.dequeue(5)] == ["now"]
    assert later.stats().delayed == 1


def test_a_held_key_keeps_the_first(db: tableq.Database, connection: Any) -> None:
    jobs = db.claim("jobs")
    first = jobs.put("a", key="k")
    assert jobs.put("b", key="k", using=connection) == (first.id, "kept_first")
    with pytest.raises(tableq.DuplicateKey):
        jobs.put("c", key="k", on_duplicate="reject", using=connection)
    jobs.put("d", key="other", using=connection)
    connection.commit()
    assert [m.text for m in jobs.messages("ready")] == ["a", "d"]


def test_a_group_is_kept_in_order(db: tableq.Database, connection: Any) -> None:
    jobs = db.claim("jobs", groups=True)
    jobs.put("a", group="g")
    jobs.put("b", group="g", using=connection)
    jobs.put("c", group="g", using=connection)
    connection.commit()
    jobs.put("d", group="g")
    seen = []
    for job in iter(lambda: next(iter(jobs.take(10)), None), None):
        seen.append(job.text)
        assert job.group == "g"
        assert job.complete()
    assert seen == ["a", "b", "c", "d"]
    with pytest.raises(tableq.InvalidArgument, match="neither delay nor due_at"):
        jobs.put("x", group="g", delay=1, using=connection)
    with pytest.raises(tableq.InvalidArgument, match="no groups"):
        db.claim("plain").put("x", group="g", using=connection)


@pytest.mark.parametrize(
    "options",
    [
        {"key": "k", "on_duplicate": "replace"},
        {"key": "k", "on_duplicate": "postpone"},
    ],
)
def test_what_needs_more_statements_is_refused(
    db: tableq.Database, connection: Any, options: Any
) -> None:
    jobs = db.claim("jobs", groups=True)
    with pytest.raises(tableq.Unsupported, match="use tx|needs tx"):
        jobs.put("a", using=connection, **options)
    windows = db.claim("windows", key_window=60)
    with pytest.raises(tableq.Unsupported, match="key_window"):
        windows.put("a", key="k", using=connection)


@pytest.mark.parametrize(
    "options",
    [
        {"key": ""},
        {"key": "x" * 201},
        {"key": "a\0b"},
        {"headers": {"": "x"}},
        {"headers": {"a": "x" * 70000}},
        {"headers": {"a": "x\0"}},
        {"delay": -1},
        {"delay": timedelta(days=4000)},
        {"delay": 1, "due_at": datetime.datetime(2031, 1, 1, tzinfo=timezone.utc)},
        {"created_at": datetime.datetime(1960, 1, 1, tzinfo=timezone.utc)},
        {"priority": 2**31},
        {"max_attempts": 0},
        {"retry": [-1]},
        {"retry": "often"},
        {"time_to_live": 0},
        {"wait": 1},
    ],
)
def test_what_put_refuses_is_refused(db: tableq.Database, connection: Any, options: Any) -> None:
    jobs = db.claim("jobs")
    with pytest.raises(tableq.InvalidArgument):
        jobs.put("a", using=connection, **options)
    if "wait" not in options:
        with pytest.raises(tableq.InvalidArgument):
            jobs.put("a", **options)


def test_an_outbox_needs_no_database(db: tableq.Database, place: Place, connection: Any) -> None:
    db.fifo("mail")
    outbox = tableq.Outbox("mail", **place.options)
    outbox.put("a", using=connection)
    outbox.put_batch(["b", "c"], using=connection)
    assert outbox.put_batch([], using=connection) == []
    connection.commit()
    assert [m.text for m in db.fifo("mail").dequeue(5)] == ["a", "b", "c"]
    with pytest.raises(tableq.NotFound):
        tableq.Outbox("other", **place.options).put("a", using=connection)
    connection.rollback()
    for name in ("", "Mail", 'a"b', "x" * 41, "1a"):
        with pytest.raises(tableq.InvalidArgument):
            tableq.Outbox(name)


def test_another_database_is_refused(
    db: tableq.Database, place: Place, connection: Any, tmp_path: Any
) -> None:
    mail = db.fifo("mail")
    mail.put("a", using=connection)
    connection.commit()
    db.drop("mail")
    db.fifo("mail")  # The same name, another queue.
    with pytest.raises(tableq.InvalidArgument, match="another"):
        mail.put("b", using=connection)
    connection.rollback()
    assert db.fifo("mail").stats().waiting == 0
    with tableq.open(f"sqlite://{tmp_path}/other.db") as other, pytest.raises(
        tableq.InvalidArgument
    ):
        if place.backend == "sqlite":
            other.fifo("mail").put("c", using=connection)
        else:
            other.fifo("mail").put("c", using=connection)


@pytest.mark.parametrize("using", ["text", 5, object()])
def test_what_is_no_connection_is_refused(db: tableq.Database, using: Any) -> None:
    with pytest.raises(tableq.InvalidArgument, match="using is a connection"):
        db.fifo("mail").put("a", using=using)


def test_tx_and_using_are_not_for_one_call(db: tableq.Database, connection: Any) -> None:
    mail = db.fifo("mail")
    with db.transaction() as tx, pytest.raises(tableq.InvalidArgument, match="not both"):
        mail.put("a", tx=tx, using=connection)


def _first(connection: Any, query: str) -> Any:
    cursor = connection.cursor()
    cursor.execute(query)
    found = cursor.fetchone()[0]
    connection.rollback()
    return found


def test_a_waiting_reader_is_woken(place: Place, connection: Any) -> None:
    """Long before the next poll."""
    db = place.open(poll_interval=86400)
    mail = db.fifo("mail")
    waiting = Thread(lambda: mail.dequeue(wait=3600))
    if place.backend == "postgresql":
        held = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND classid = 1952606577"
        until(lambda: _first(connection, held))
    tableq.Outbox("mail", **place.options).put("a", using=connection)
    connection.commit()
    (message,) = waiting.result()
    assert message.text == "a"


def _listening(place: Place) -> "Tuple[Any, Any]":
    """A connection that hears of the queue mail, and its cursor."""
    listener = place.connect()
    listener.autocommit = True
    cursor = listener.cursor()
    cursor.execute("LISTEN mail_tableq")
    return listener, cursor


def _hold_lock_of_listeners(cursor: Any, info: Any) -> None:
    lock = (1952606577, info.identity & 2147483647)
    cursor.execute("SELECT pg_advisory_lock_shared(%s, CAST(%s AS integer))", lock)


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_listeners_are_notified_at_the_commit(
    db: tableq.Database, place: Place, connection: Any
) -> None:
    mail = db.fifo("mail")
    info = db.find("mail")
    assert info is not None
    listener, cursor = _listening(place)
    # Nobody holds the lock of a listener: a commit with NOTIFY would be for nothing.
    mail.put("a", using=connection)
    connection.commit()
    cursor.execute("SELECT 1")
    assert listener.notifies == []
    _hold_lock_of_listeners(cursor, info)
    mail.put("b", using=connection)
    cursor.execute("SELECT 1")
    assert listener.notifies == []
    connection.commit()
    cursor.execute("SELECT 1")
    assert [notice.channel for notice in listener.notifies] == ["mail_tableq"]
    listener.close()


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_notifications_that_are_off_leave_the_transaction_free_of_them(
    place: Place, connection: Any
) -> None:
    """PostgreSQL prepares no transaction that notifies."""
    quiet = place.open(notifications="off")
    mail = quiet.fifo("mail")
    info = quiet.find("mail")
    assert info is not None
    listener, cursor = _listening(place)
    _hold_lock_of_listeners(cursor, info)
    mail.put("a", using=connection)
    tableq.Outbox("mail", **place.options, notifications="off").put("b", using=connection)
    connection.commit()
    cursor.execute("SELECT 1")
    assert listener.notifies == []
    assert [m.text for m in mail.dequeue(5)] == ["a", "b"]
    listener.close()


def test_a_strict_queue_is_locked(db: tableq.Database, place: Place, connection: Any) -> None:
    ledger = db.fifo("ledger", ordering="strict")
    ledger.put("first", using=connection)
    second = Thread(lambda: ledger.put("second"))
    if place.backend == "postgresql":
        other = place.connect()
        until(lambda: _first(other, "SELECT count(*) FROM pg_locks WHERE NOT granted"))
        other.close()
    connection.commit()
    second.result()
    assert [m.text for m in ledger.dequeue(5)] == ["first", "second"]


def test_a_connection_that_is_none_is_refused(db: tableq.Database) -> None:
    """A variable that was not set must not take the message out of the application's transaction."""
    with pytest.raises(tableq.InvalidArgument, match="using is None"):
        db.fifo("mail").put("a", using=None)
    with pytest.raises(tableq.InvalidArgument, match="using is None"):
        db.claim("jobs").put_batch(["a"], using=None)
    with pytest.raises(tableq.InvalidArgument):
        tableq.Outbox("mail").put("a", using=None)
    assert db.fifo("mail").stats().waiting == 0


# ------------------------------------------------------------------------------ copies of SQLite


def test_the_installed_sqlite_is_one(tmp_path: Any) -> None:
    """Debian's Python and this library use one libsqlite3: both may have the file open."""
    from tableq import _sqlite

    path = tmp_path / "one.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    if not _sqlite.one_sqlite():
        pytest.skip("this Python has a SQLite of its own")
    with tableq.open(f"sqlite://{path}") as db:
        mail = db.fifo("mail")
        mail.put("a", using=connection)
        connection.commit()
        assert mail.dequeue()[0].text == "a"
    connection.close()


@pytest.fixture
def two_copies(monkeypatch: pytest.MonkeyPatch) -> None:
    """As with a wheel, whose SQLite is its own."""
    from tableq import _sqlite

    monkeypatch.setattr(_sqlite, "one_sqlite", lambda: False)


def test_a_file_that_another_sqlite_has_open_is_refused(
    two_copies: None, tmp_path: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "two.db"
    connection = sqlite3.connect(path)
    connection.execute("CREATE TABLE mine (x)")
    connection.commit()
    with pytest.raises(tableq.Unsupported, match="two.db"):
        tableq.open(f"sqlite://{path}")
    connection.close()
    with tableq.open(f"sqlite://{path}?busy_timeout=1s") as db:
        mail = db.fifo("mail")
        for name in (path, str(path), os.fsencode(path)):
            with pytest.raises(tableq.Unsupported, match="two.db"):
                sqlite3.connect(name)
        for name in (f"file:{path}?mode=rw", f"file://localhost{path}"):
            with pytest.raises(tableq.Unsupported, match="two.db"):
                sqlite3.connect(name, uri=True)
        with monkeypatch.context() as unnoticed:
            unnoticed.setattr(tableq._sqlite, "one_sqlite", lambda: True)
            connection = sqlite3.connect(path)
        with db.transaction() as tx:  # By the session that is open.
            mail.put("b", tx=tx)
            with pytest.raises(tableq.Unsupported, match="two.db"):
                mail.outside().peek()
        with pytest.raises(tableq.Unsupported, match="two.db"):
            mail.put("a", using=connection)
        with pytest.raises(tableq.Unsupported, match="two.db"):
            tableq.Outbox("mail").put("a", using=connection)
        connection.close()
    connection = sqlite3.connect(path)
    tableq.Outbox("mail").put("a", using=connection)
    connection.commit()
    connection.close()


def test_other_files_are_not_refused(two_copies: None, tmp_path: Any) -> None:
    other = sqlite3.connect(tmp_path / "other.db")
    other.execute("CREATE TABLE mine (x)")
    with tableq.open(f"sqlite://{tmp_path}/mine.db") as db:
        db.fifo("mail").put("a")
    with tableq.open("sqlite://:memory:") as memory:
        memory.fifo("mail").put("a")
    other.close()


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_a_schema_of_the_search_path_is_found(place: Place, connection: Any) -> None:
    """Without schema_name, by an address that sets the search path."""
    schema = place.options["schema_name"]
    with tableq.open(f"{place.url}?options=-csearch_path%3D{schema}") as db:
        mail = db.fifo("mail")
        with pytest.raises(Exception):
            mail.put("a", using=connection)
        connection.rollback()
        connection.cursor().execute(f"SET search_path = {schema}")
        mail.put("b", using=connection)
        connection.commit()
        assert [m.text for m in mail.dequeue(5)] == ["b"]


def test_two_copies_of_sqlite_are_told_apart(tmp_path: Path) -> None:
    """A copy of the library needs a copy of libsqlite3 under another name, as in a wheel."""
    library = Path(os.environ["TABLEQ_LIBRARY"]).read_bytes()
    plain, other = b"libsqlite3.so.0\0", b"libsqliteX.so.0\0"
    maps = Path("/proc/self/maps").read_text().split()
    installed = next((each for each in maps if "libsqlite3.so" in each), None)
    if plain not in library or installed is None:
        pytest.skip("no libsqlite3 is shared")
    (tmp_path / "libtableq.so.0").write_bytes(library.replace(plain, other))
    (tmp_path / "libsqliteX.so.0").write_bytes(Path(installed).read_bytes().replace(plain, other))
    seen = subprocess.run(
        [sys.executable, "-c", TWO_COPIES],
        env={
            **environment(),
            "TABLEQ_LIBRARY": str(tmp_path / "libtableq.so.0"),
            "LD_LIBRARY_PATH": str(tmp_path),
        },
        cwd=tmp_path, stdout=subprocess.PIPE, text=True, check=True,
    )
    assert seen.stdout == "refused at open\nrefused at connect\nput\n"


TWO_COPIES = """
import sqlite3, tableq
connection = sqlite3.connect("shop.db")
connection.execute("CREATE TABLE mine (x)")
try:
    tableq.open("sqlite://shop.db")
except tableq.Unsupported:
    print("refused at open")
connection.close()
with tableq.open("sqlite://shop.db") as db:
    mail = db.fifo("mail")
    try:
        sqlite3.connect("shop.db")
    except tableq.Unsupported:
        print("refused at connect")
connection = sqlite3.connect("shop.db")
tableq.Outbox("mail").put("a", using=connection)
connection.commit()
print("put")
"""


@pytest.mark.parametrize("place", ["sqlite"], indirect=True)
def test_a_transaction_of_sqlite_that_reads_first_waits_if_it_begins_immediate(
    place: Place, db: tableq.Database
) -> None:
    jobs, mail = db.claim("jobs"), db.fifo("mail")

    def reads_and_puts(begin: str) -> None:
        with contextlib.closing(place.connect()) as connection:
            connection.execute(begin)
            connection.execute("SELECT count(*) FROM jobs").fetchall()
            jobs.put("a", using=connection)
            connection.commit()

    with db.transaction() as tx:
        mail.put("a worker writes", tx=tx)
        with pytest.raises(sqlite3.OperationalError, match="locked"):
            reads_and_puts("BEGIN")
        waiting = Thread(lambda: reads_and_puts("BEGIN IMMEDIATE"))
    waiting.result()
    assert jobs.stats().ready == 1


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_a_strict_queue_needs_a_transaction(db: tableq.Database, connection: Any) -> None:
    connection.autocommit = True
    db.fifo("mail").put("at once", using=connection)
    assert db.fifo("mail").stats().waiting == 1
    with pytest.raises(tableq.InvalidArgument, match="autocommit"):
        db.fifo("ledger", ordering="strict").put("a", using=connection)


def test_the_row_factory_of_the_application_is_left_alone(
    db: tableq.Database, place: Place, connection: Any
) -> None:
    """Rows as dicts, by each driver's own setting."""
    if place.backend == "sqlite":
        connection.row_factory = lambda cursor, row: dict(enumerate(map(str, row)))
        connection.text_factory = bytes
    elif type(connection).__module__.startswith("psycopg2"):
        from psycopg2.extras import RealDictCursor

        connection.cursor_factory = RealDictCursor
    else:
        from psycopg.rows import dict_row

        connection.row_factory = dict_row
    jobs = db.claim("jobs")
    first = jobs.put("a", key="k", using=connection)
    assert jobs.put("b", key="k", using=connection) == (first.id, "kept_first")
    connection.commit()
    cursor = connection.cursor()
    cursor.execute("SELECT 1 AS one")
    assert isinstance(cursor.fetchone(), dict)
