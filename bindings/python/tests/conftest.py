"""Databases for the tests: a SQLite file and a schema of PostgreSQL, new for each test."""

from __future__ import annotations

import contextlib
import itertools
import os
import subprocess
import sys
import textwrap
import threading
import time
from pathlib import Path
from typing import Any, Callable, Dict, Iterator, List

import pytest

sys.path.insert(0, str(Path(__file__).parents[1]))

import tableq  # noqa: E402

_numbers = itertools.count()
_SERVER = os.environ.get("TABLEQ_TEST_POSTGRESQL", "")
_REQUIRED = os.environ.get("TABLEQ_TEST_REQUIRE", "").split(",")


class Place:
    """Where a test's queues are."""

    def __init__(self, backend: str, url: str, options: Dict[str, Any], connect: Any) -> None:
        self.backend = backend
        self.url = url
        self.options = options
        self.connect: Callable[[], Any] = connect
        self.opened: List[tableq.Database] = []

    def open(self, **options: Any) -> tableq.Database:
        database = tableq.open(self.url, **{**self.options, **options})
        self.opened.append(database)
        return database

    @contextlib.contextmanager
    def locked(self, queue: str) -> Iterator[None]:
        """Meanwhile no call that changes the queue gets an answer."""
        connection = self.connect()
        cursor = connection.cursor()
        if self.backend == "sqlite":
            cursor.execute("BEGIN IMMEDIATE")
        else:
            schema = self.options["schema_name"]
            cursor.execute(f'LOCK TABLE "{schema}"."{queue}"')
        try:
            yield
        finally:
            connection.rollback()
            connection.close()

    def program(self, text: str) -> List[str]:
        """A program in Python with `db` open, as a command."""
        head = f"import sys, tableq\ndb = tableq.open({self.url!r}, **{self.options!r})\n"
        return [sys.executable, "-c", head + textwrap.dedent(text)]

    def command(self, *words: str) -> List[str]:
        """The command `tableq`, a program in C++."""
        tool = os.environ.get("TABLEQ_COMMAND")
        if tool is None:
            pytest.skip("TABLEQ_COMMAND is not set")
        schema = self.options.get("schema_name")
        place = ["--schema", schema] if schema else []
        return [tool, words[0], "--db", self.url, *place, *words[1:]]


def environment() -> Dict[str, str]:
    """For programs that a test starts."""
    return {**os.environ, "PYTHONPATH": str(Path(__file__).parents[1])}


def start(command: List[str], **options: Any) -> "subprocess.Popen[str]":
    """Starts a program whose output the test reads."""
    return subprocess.Popen(
        command, env=environment(), stdout=subprocess.PIPE, text=True, **options
    )


def run(command: List[str], **options: Any) -> "subprocess.CompletedProcess[str]":
    """Runs a program to its end."""
    return subprocess.run(
        command, env=environment(), stdout=subprocess.PIPE, text=True, timeout=60, check=True,
        **options
    )


def sqlite_place(folder: Path) -> Place:
    import sqlite3

    path = folder / "queues.db"
    return Place("sqlite", f"sqlite://{path}", {}, lambda: sqlite3.connect(path, timeout=10))


def postgresql_place() -> Place:
    if not _SERVER:
        if "postgresql" in _REQUIRED:
            pytest.fail("TABLEQ_TEST_REQUIRE names postgresql, and TABLEQ_TEST_POSTGRESQL is empty")
        pytest.skip("TABLEQ_TEST_POSTGRESQL is not set: scripts/with_postgresql.sh sets it")
    import psycopg2

    schema = f"python_{os.getpid()}_{next(_numbers)}"
    return Place("postgresql", _SERVER, {"schema_name": schema}, lambda: psycopg2.connect(_SERVER))


@pytest.fixture(params=["sqlite", "postgresql"])
def place(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Place]:
    if request.param == "sqlite":
        found = sqlite_place(tmp_path)
    else:
        found = postgresql_place()
        with_server(found, 'CREATE SCHEMA "{}"')
    yield found
    for database in found.opened:
        database.close()
    if found.backend == "postgresql":
        with_server(found, 'DROP SCHEMA "{}" CASCADE')


def with_server(place: Place, statement: str) -> None:
    connection = place.connect()
    connection.autocommit = True
    connection.cursor().execute("SET client_min_messages = warning")
    connection.cursor().execute(statement.format(place.options["schema_name"]))
    connection.close()


@pytest.fixture
def db(place: Place) -> tableq.Database:
    return place.open()


@pytest.fixture
def jobs(db: tableq.Database) -> tableq.ClaimQueue:
    """A claim queue whose failed messages are ready again at once."""
    return db.claim("jobs", retry="none", max_attempts=3)


def until(condition: Callable[[], Any]) -> None:
    """Looks again and again until it is so."""
    end = time.monotonic() + 60
    while not condition():
        assert time.monotonic() < end, "it does not come about"
        time.sleep(0.001)


class Thread(threading.Thread):
    """A thread whose result or error `result` gives."""

    def __init__(self, function: Callable[[], Any]) -> None:
        super().__init__(daemon=True)
        self._function = function
        self._value: Any = None
        self._error: Any = None
        self.start()

    def run(self) -> None:
        try:
            self._value = self._function()
        except BaseException as error:
            self._error = error

    def result(self) -> Any:
        self.join(60)
        assert not self.is_alive(), "the thread goes on"
        if self._error is not None:
            raise self._error
        return self._value
