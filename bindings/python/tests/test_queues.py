"""Queues of all kinds, and what all calls have in common."""

from __future__ import annotations

import datetime
import decimal
import math
import pickle
from datetime import timedelta, timezone

import pytest

import tableq
from conftest import Place

KINDS = ["heap", "fifo", "lifo", "pending", "claim"]


def queue_of(db: tableq.Database, kind: str) -> tableq.Queue:
    return getattr(db, kind)("letters")


def test_a_wait_that_is_no_time_is_refused(jobs: tableq.ClaimQueue) -> None:
    for wait in (-1, timedelta(seconds=-1), None, "5", True, math.nan):
        with pytest.raises(tableq.InvalidArgument, match="wait"):
            jobs.put("a", wait=wait)  # type: ignore[arg-type]
        with pytest.raises(tableq.InvalidArgument, match="wait"):
            jobs.take(wait=wait)  # type: ignore[arg-type]
        with pytest.raises(tableq.InvalidArgument, match="wait"):
            jobs.database.fifo("letters").dequeue(wait=wait)  # type: ignore[arg-type]
    assert jobs.stats().ready == 0


def test_a_text_that_is_no_utf_8_is_refused(db: tableq.Database) -> None:
    for kind in KINDS:
        with pytest.raises(tableq.InvalidArgument, match="surrogate"):
            getattr(db, kind)(f"texts_{kind}").put("\ud800")


@pytest.mark.parametrize("kind", KINDS)
def test_a_queue_knows_its_name_and_kind(db: tableq.Database, kind: str) -> None:
    queue = queue_of(db, kind)
    assert (queue.name, queue.kind) == ("letters", kind)
    assert [(info.name, info.kind) for info in db.queues()] == [("letters", kind)]


@pytest.mark.parametrize("payload", [b"", b"\0\xff", "h\u00fcte", bytearray(b"ab"), memoryview(b"cd")])
def test_any_bytes_come_back(db: tableq.Database, payload: tableq.Payload) -> None:
    heap, claim = db.heap("mail"), db.claim("jobs")
    heap.put(payload)
    claim.put(payload)
    wanted = payload.encode() if isinstance(payload, str) else bytes(payload)
    assert [m.payload for m in heap.dequeue()] == [wanted]
    assert [job.payload for job in claim.take()] == [wanted]


def test_a_text_comes_back_as_text(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    mail.put("h\u00fcte")
    message = mail.dequeue_one()
    assert message is not None and message.text == "h\u00fcte"


def test_fifo_and_lifo_have_their_order(db: tableq.Database) -> None:
    fifo, lifo = db.fifo("fifo"), db.lifo("lifo")
    for queue in (fifo, lifo):
        queue.put_batch(["1", "2", "3"])
    assert [m.text for m in fifo.dequeue(10)] == ["1", "2", "3"]
    assert [m.text for m in lifo.dequeue(10)] == ["3", "2", "1"]


def test_pending_messages_fall_due(db: tableq.Database) -> None:
    later = db.pending("later")
    now = datetime.datetime.now(timezone.utc)
    later.put("due", due_at=now - timedelta(days=1))
    later.put("tomorrow", delay=timedelta(days=1))
    later.put("in an hour", due_at=(now + timedelta(hours=1)).astimezone(timezone(timedelta(hours=5))))
    assert [m.text for m in later.dequeue(10)] == ["due"]
    assert later.stats().delayed == 2


def test_a_read_of_nothing_is_empty(db: tableq.Database) -> None:
    assert db.heap("mail").dequeue(10) == []
    assert db.heap("mail").dequeue_one() is None
    assert db.claim("jobs").take(10) == []
    assert db.claim("jobs").take_one() is None


def test_times_are_aware_and_to_the_millisecond(db: tableq.Database) -> None:
    mail = db.heap("mail")
    when = datetime.datetime(2031, 2, 3, 4, 5, 6, 789000, tzinfo=timezone.utc)
    mail.put("x", created_at=when.astimezone(timezone(timedelta(hours=-3))))
    (message,) = mail.dequeue()
    assert message.created_at == when and message.created_at.tzinfo is timezone.utc


def test_a_time_without_a_zone_is_refused(db: tableq.Database) -> None:
    with pytest.raises(tableq.InvalidArgument, match="no time zone"):
        db.pending("later").put("x", due_at=datetime.datetime(2031, 1, 1))


@pytest.mark.parametrize("wait", [math.nan, -math.inf, "5", None, True])
def test_a_duration_that_is_none_is_refused(db: tableq.Database, wait: object) -> None:
    with pytest.raises(tableq.InvalidArgument, match="wait"):
        db.heap("mail").dequeue(wait=wait)  # type: ignore[arg-type]


@pytest.mark.parametrize("payload", [None, 5, ["x"]])
def test_a_payload_that_is_none_is_refused(db: tableq.Database, payload: object) -> None:
    with pytest.raises(tableq.InvalidArgument, match="payload"):
        db.heap("mail").put(payload)  # type: ignore[arg-type]


def test_a_transaction_commits_at_the_end_of_its_block(db: tableq.Database) -> None:
    mail, jobs = db.fifo("mail"), db.claim("jobs")
    with db.transaction() as tx:
        mail.put("a", tx=tx)
        jobs.put("b", tx=tx)
        assert tx.active
    assert not tx.active
    assert (mail.stats().waiting, jobs.stats().ready) == (1, 1)


def test_a_transaction_rolls_back_when_its_block_raises(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    mail.put("stays")
    with pytest.raises(ZeroDivisionError):
        with db.transaction() as tx:
            mail.put("a", tx=tx)
            assert [m.text for m in mail.dequeue(10, tx=tx)] == ["stays", "a"]
            raise ZeroDivisionError
    assert [m.text for m in mail.dequeue(10)] == ["stays"]


def test_a_transaction_has_ended_while_the_error_of_its_block_is_kept(db: tableq.Database) -> None:
    mail, jobs = db.fifo("mail"), db.claim("jobs")
    with pytest.raises(tableq.InvalidArgument) as kept, db.transaction() as tx:
        mail.put("a", tx=tx)
        jobs.put("b", key="", tx=tx)
    mail.put("c")  # The thread has no open transaction, and SQLite's file no writer.
    assert [message.text for message in mail.dequeue(10)] == ["c"]
    assert kept.value.__traceback__ is not None


def test_close_ends_a_transaction_whose_handle_is_kept(db: tableq.Database) -> None:
    mail, jobs = db.fifo("mail"), db.claim("jobs")
    tx = db.transaction()
    mail.put("a", tx=tx)
    with pytest.raises(tableq.InvalidArgument) as kept:
        jobs.put("b", key="", tx=tx)
    tx.close()
    tx.close()
    assert not tx.active
    mail.put("c")  # The thread has no open transaction, and SQLite's file no writer.
    assert [message.text for message in mail.dequeue(10)] == ["c"]
    assert kept.value.__traceback__ is not None


def test_a_block_whose_database_was_closed_has_not_committed(place: Place) -> None:
    db = place.open()
    mail = db.fifo("mail")
    with pytest.raises(tableq.InvalidArgument, match="closed before the commit"):
        with db.transaction() as tx:
            mail.put("a", tx=tx)
            db.close()
    assert place.open().fifo("mail").stats().waiting == 0


def test_a_call_that_forgets_its_transaction_is_refused(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    with pytest.raises(tableq.InvalidArgument):
        with db.transaction() as tx:
            mail.put("a", tx=tx)
            mail.put("b")
    assert mail.stats().waiting == 0


def test_an_ended_transaction_is_refused(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    tx = db.transaction()
    tx.rollback()
    tx.rollback()
    with pytest.raises(tableq.InvalidArgument, match="has ended"):
        mail.put("a", tx=tx)


def test_transact_runs_a_function_again_after_a_conflict(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    runs = []

    def work(tx: tableq.Transaction) -> str:
        mail.put("a", tx=tx)
        runs.append(1)
        if len(runs) < 3:
            raise tableq.Conflict("again", advice="transaction")
        return "done"

    assert db.transact(work) == "done"
    assert (len(runs), mail.stats().waiting) == (3, 1)


def test_errors_have_a_class_for_each_code(db: tableq.Database) -> None:
    db.fifo("mail")
    with pytest.raises(tableq.KindMismatch) as caught:
        db.claim("mail")
    error = caught.value
    assert isinstance(error, tableq.Error)
    assert (error.code, error.name, error.retryable, error.advice) == (3, "kind_mismatch", False, "never")
    assert error.backend == db.backend
    assert "mail" in str(error)


def test_an_error_crosses_processes(db: tableq.Database) -> None:
    db.fifo("mail")
    with pytest.raises(tableq.KindMismatch) as caught:
        db.claim("mail")
    copy = pickle.loads(pickle.dumps(caught.value))
    assert type(copy) is tableq.KindMismatch
    assert (str(copy), copy.backend) == (str(caught.value), caught.value.backend)


def test_create_false_makes_nothing(place: Place, db: tableq.Database) -> None:
    db.fifo("mail")
    careful = place.open(create=False)
    careful.fifo("mail").put("x")
    with pytest.raises(tableq.NotFound):
        careful.fifo("other")


def test_limits_of_groups(db: tableq.Database) -> None:
    jobs = db.claim("tenants", groups=True)
    jobs.set_group_limits(tableq.GroupLimits(running=2))
    jobs.set_group_limits(tableq.GroupLimits(running=9, rate=0.5, burst=3), "vip")
    assert dict(jobs.group_limits(page=1)) == {
        "": tableq.GroupLimits(running=2),
        "vip": tableq.GroupLimits(running=9, rate=0.5, burst=3),
    }
    assert [group for group, _ in jobs.group_limits(first="a")] == ["vip"]
    for group in ("a", "vip"):
        for _ in range(5):
            jobs.put("x", group=group)
    taken = [message.group for message in jobs.take(20)]
    assert sorted(taken, key=str) == ["a", "a", "vip", "vip", "vip"]
    jobs.set_group_limits(tableq.GroupLimits(), "vip")
    jobs.set_group_limits(tableq.GroupLimits())
    assert dict(jobs.group_limits()) == {}
    with pytest.raises(tableq.InvalidArgument):
        jobs.set_group_limits(tableq.GroupLimits(running=0))
    with pytest.raises(tableq.InvalidArgument):
        jobs.set_group_limits(tableq.GroupLimits(weight=2))
    for wrong in ({"rate": "a"}, {"rate": True}, {"burst": 1.5}):
        with pytest.raises(tableq.InvalidArgument, match="is an? (int|number), not"):
            jobs.set_group_limits(tableq.GroupLimits(**wrong))  # type: ignore[arg-type]
    for other in (None, 3, tableq.Limits(rate=1)):
        with pytest.raises(tableq.InvalidArgument, match="limits is a GroupLimits, not"):
            jobs.set_group_limits(other)  # type: ignore[arg-type]
    with pytest.raises(tableq.InvalidArgument, match="limits is a Limits, not NoneType"):
        jobs.set_limits(None)  # type: ignore[arg-type]
    turns = db.claim("turns", groups=True, group_by_turns=True)
    turns.set_group_limits(tableq.GroupLimits(weight=2), "vip")
    assert dict(turns.group_limits()) == {"vip": tableq.GroupLimits(weight=2)}


def test_a_full_queue_refuses(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    mail.set_limits(tableq.Limits(capacity=2, rate=100))
    assert mail.limits == tableq.Limits(capacity=2, rate=100.0)
    mail.put_batch(["a", "b"])
    with pytest.raises(tableq.QueueFull):
        mail.put("c")
    with pytest.raises(tableq.QueueFull):
        mail.put("c", wait=0.05)
    mail.set_limits(tableq.Limits())
    mail.put("c")


def test_a_paused_queue_gives_nothing(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    mail.put("a")
    mail.pause()
    assert mail.paused and mail.dequeue() == []
    mail.resume()
    assert not mail.paused and len(mail.dequeue()) == 1


def test_looks_change_nothing(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    mail.put_batch(["a", "b"])
    assert [m.text for m in mail.peek(5)] == ["a", "b"]
    assert mail.stats().waiting == 2
    assert db.find("mail") == db.queues()[0]
    assert db.find("other") is None
    assert all(finding.severity in ("ok", "warning", "problem") for finding in db.inspect())
    assert db.migrate(dry_run=True) == []


def test_purge_and_drop_delete(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    mail.put_batch(["a", "b"])
    assert mail.purge() == 2
    assert db.drop("mail") and not db.drop("mail")
    with pytest.raises(tableq.NotFound):
        mail.put("x")


def test_a_batch_is_stored_whole_or_not_at_all(db: tableq.Database) -> None:
    jobs = db.claim("jobs")
    with pytest.raises(tableq.DuplicateKey):
        jobs.put_batch(
            [
                tableq.NewMessage("a", key="k"),
                tableq.NewMessage("b", key="k", on_duplicate="reject"),
            ]
        )
    assert jobs.stats().ready == 0
    assert jobs.put_batch([]) == []


def test_metrics_are_text(place: Place) -> None:
    db = place.open(metrics=True)
    db.fifo("mail").put("a")
    assert "mail" in db.metrics()
    assert db.metrics("json").startswith("{")


def test_a_closed_database_refuses(db: tableq.Database) -> None:
    mail = db.fifo("mail")
    db.close()
    db.close()
    for call in (lambda: mail.put("x"), lambda: db.fifo("mail"), db.queues, db.transaction):
        with pytest.raises(tableq.InvalidArgument, match="closed"):
            call()


def test_a_database_that_is_not_closed_is_a_warning(place: Place) -> None:
    db = tableq.open(place.url, **place.options)
    with pytest.warns(ResourceWarning, match="unclosed"):
        del db


def test_a_wrong_address_fails_at_open() -> None:
    with pytest.raises(tableq.InvalidArgument, match="scheme|sqlite"):
        tableq.open("nonsense://x")
    with pytest.raises(tableq.ConnectionFailed):
        tableq.open("postgresql://127.0.0.1:1/none?connect_timeout=2", retry_for=0)


def test_a_table_of_the_application_is_a_queue(place: Place, db: tableq.Database) -> None:
    connection = place.connect()
    table = "orders" if place.backend == "sqlite" else f'{place.options["schema_name"]}.orders'
    connection.cursor().execute(
        f"CREATE TABLE {table} (id INTEGER PRIMARY KEY, what TEXT, paid NUMERIC(9, 2), state TEXT "
        "NOT NULL DEFAULT 'new', taken BIGINT, due BIGINT, tries INTEGER NOT NULL DEFAULT 0)"
    )
    connection.commit()
    connection.close()
    definition = {
        "table": "orders",
        "key": ["id"],
        "waiting": {"states": "state", "waiting": "new", "taken": "taken", "done": "done"},
        **({"schema": place.options["schema_name"]} if place.options else {}),
    }
    orders = db.table(definition)
    assert orders.kind == "table"
    orders.put({"id": 1, "what": "h\u00fcte", "paid": decimal.Decimal("12.50"), "taken": None})
    (stored,) = orders.put_batch([{"id": 2, "what": "b"}])
    assert stored["id"] == 2 and stored["state"] == "new"
    assert [row["id"] for row in orders.peek(5)] == [1, 2]
    job, other = orders.take(5)
    assert (job.row["id"], job.row["what"], float(job.row["paid"])) == (1, "h\u00fcte", 12.5)
    assert job.complete() and other.release()
    assert [each.row["id"] for each in orders.take(5)] == [2]
    db.store_table("orders", definition)
    assert db.stored_table("orders").stats().ready == 0


def test_the_sql_of_a_queue_is_told() -> None:
    text = tableq.ddl("postgresql", "claim", "jobs", schema_name="shop", lease=60, groups=True)
    assert 'CREATE TABLE "shop"."jobs"' in text and "lease_ms=60000" in text
    assert "strict" in tableq.ddl("sqlite", "fifo", "ledger", ordering="strict")
    with pytest.raises(tableq.InvalidArgument):
        tableq.ddl("sqlite", "heap", "mail", ordering="strict", lease=1)


def test_the_grants_of_a_role_are_told() -> None:
    text = tableq.grants("postgresql", "consumer", "worker", "claim", "jobs", schema_name="shop")
    assert 'ON "shop"."jobs" TO "worker"' in text
    with pytest.raises(tableq.InvalidArgument, match="role"):
        tableq.grants("postgresql", "reader", "worker", "claim", "jobs")
