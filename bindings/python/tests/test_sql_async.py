"""Enqueues by SQL text on the application's own asynchronous connection."""

from __future__ import annotations

import asyncio
from typing import Any, Awaitable, Callable, List

import pytest

import tableq
from conftest import Place

Connect = Callable[[], Awaitable["Connection"]]


class Connection:
    """A connection of an asynchronous driver, in a transaction."""

    def __init__(self, driver: str, raw: Any) -> None:
        self.raw = raw
        self._driver = driver
        self._transaction: Any = None

    async def begin(self) -> "Connection":
        if self._driver == "asyncpg":
            self._transaction = self.raw.transaction()
            await self._transaction.start()
        return self

    async def commit(self) -> None:
        await (self._transaction or self.raw).commit()
        await self.begin()

    async def rollback(self) -> None:
        await (self._transaction or self.raw).rollback()
        await self.begin()


_DRIVERS = [("sqlite", "aiosqlite"), ("postgresql", "psycopg"), ("postgresql", "asyncpg")]
pytestmark = pytest.mark.parametrize("place, driver", _DRIVERS, indirect=["place"])


@pytest.fixture
def connect(place: Place, driver: str) -> Connect:
    module = pytest.importorskip(driver)

    async def made() -> Connection:
        if driver == "psycopg":
            raw = await module.AsyncConnection.connect(place.url)
        elif driver == "asyncpg":
            raw = await module.connect(place.url)
        else:
            raw = await module.connect(place.url.partition("://")[2])
        return await Connection(driver, raw).begin()

    return made


def play(connect: Connect, program: Callable[[Connection], Awaitable[None]]) -> None:
    async def run() -> None:
        connection = await connect()
        try:
            await program(connection)
        finally:
            await connection.raw.close()

    asyncio.run(run())


@pytest.mark.parametrize("kind", ["heap", "fifo", "lifo", "pending"])
def test_a_message_is_there_when_the_application_commits(
    db: tableq.Database, connect: Connect, kind: str
) -> None:
    queue = getattr(db, kind)("mail")

    async def program(connection: Connection) -> None:
        await queue.put_async(b"\0%s:x\xff", using=connection.raw)
        await connection.rollback()
        assert queue.stats().waiting == 0
        await queue.put_async("a", using=connection.raw)
        await queue.put_async(b"\0%s:x\xff", using=connection.raw)
        assert queue.peek(5) == []
        await connection.commit()

    play(connect, program)
    assert sorted(m.payload for m in queue.dequeue(5)) == [b"\0%s:x\xff", b"a"]


def test_the_options_of_a_message_are_stored(db: tableq.Database, connect: Connect) -> None:
    jobs = db.claim("jobs", groups=True, batches=True)
    batch = jobs.begin_batch()

    async def program(connection: Connection) -> None:
        first = await jobs.put_async(
            "a", key="k", priority=3, headers={"h": "\u00fc"}, batch=batch, using=connection.raw
        )
        assert await jobs.put_async("b", key="k", using=connection.raw) == (first.id, "kept_first")
        with pytest.raises(tableq.DuplicateKey):
            await jobs.put_async("c", key="k", on_duplicate="reject", using=connection.raw)
        await jobs.put_async("d", group="g", time_to_live=60, using=connection.raw)
        await connection.commit()

    play(connect, program)
    batch.seal()
    first, second = jobs.take(5)
    assert (first.text, first.priority, first.headers, first.key) == ("a", 3, {"h": "\u00fc"}, "k")
    assert (second.text, second.group) == ("d", "g")
    assert first.complete() and batch.info().completed == 1  # type: ignore[union-attr]


def test_an_outbox_needs_no_database(place: Place, db: tableq.Database, connect: Connect) -> None:
    ledger = db.fifo("ledger", ordering="strict")
    outbox = tableq.Outbox("ledger", **place.options)

    async def program(connection: Connection) -> None:
        added = await outbox.put_batch_async(["a", "b"], using=connection.raw)
        assert [each.outcome for each in added] == ["added"] * 2
        await outbox.put_async(tableq.NewMessage("c"), using=connection.raw)
        await connection.commit()

    play(connect, program)
    assert [m.text for m in ledger.dequeue(5)] == ["a", "b", "c"]


def test_a_connection_of_the_other_sort_is_refused(
    place: Place, db: tableq.Database, connect: Connect
) -> None:
    mail = db.fifo("mail")
    plain = place.connect()

    async def program(connection: Connection) -> None:
        with pytest.raises(tableq.InvalidArgument, match="put_async"):
            mail.put("a", using=connection.raw)
        with pytest.raises(tableq.InvalidArgument, match="asynchronous connection"):
            await mail.put_async("a", using=plain)
        with pytest.raises(tableq.InvalidArgument, match="using is None"):
            await mail.put_async("a", using=None)
        with pytest.raises(tableq.InvalidArgument, match="no wait"):
            await db.claim("jobs").put_async("a", wait=1, using=connection.raw)

    play(connect, program)
    plain.close()
    assert mail.stats().waiting == 0


def test_asyncpg_needs_a_transaction(db: tableq.Database, connect: Connect, driver: str) -> None:
    mail = db.fifo("mail")
    refusals: List[str] = []

    async def program(connection: Connection) -> None:
        await connection.raw.execute("ROLLBACK" if driver == "asyncpg" else "SELECT 1")
        try:
            await mail.put_async("a", using=connection.raw)
        except tableq.InvalidArgument as refused:
            refusals.append(str(refused))

    play(connect, program)
    assert len(refusals) == (1 if driver == "asyncpg" else 0)
    assert all("no open transaction" in each for each in refusals)
    assert mail.stats().waiting == 0
