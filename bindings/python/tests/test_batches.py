"""Batches: a message at the end of many."""

from __future__ import annotations

import threading
from typing import Any, Iterator

import pytest

import tableq
from conftest import Place, Thread, until


@pytest.fixture
def connection(place: Place) -> Iterator[Any]:
    found = place.connect()
    yield found
    found.close()


def test_a_batch_ends_with_one_message_that_has_the_counts(db: tableq.Database) -> None:
    parts = db.claim("parts", batches=True, retry="none")
    reports = db.claim("reports")
    batch = parts.begin_batch(
        then="reports", payload="all done", headers={"of": "import"}, name="import 7"
    )
    parts.put("first", batch=batch)
    parts.put_batch([tableq.NewMessage("second", batch=batch.id)])
    batch.seal()
    with pytest.raises(tableq.InvalidArgument):
        parts.put("late", batch=batch)
    job, other = parts.take(2)
    mine = parts.batch_of(job)
    assert mine is not None and mine.id == batch.id
    parts.put("sibling", batch=mine)
    job.complete()
    other.fail("no", give_up=True)
    info = batch.info()
    assert info is not None
    assert (info.total, info.outstanding, info.completed, info.dead) == (3, 1, 1, 1)
    assert (info.sealed, info.cancelled, info.then) == (True, False, "reports")
    assert info.name == "import 7"
    assert info.finished_at is None
    parts.take()[0].complete()
    (report,) = reports.take()
    assert report.text == "all done"
    assert report.headers["of"] == "import"
    assert report.headers["tableq-batch-completed"] == "2"
    assert report.headers["tableq-batch-dead"] == "1"
    assert [each.batch for each in db.batches()] == [batch.id]


def test_a_batch_is_begun_in_a_transaction_and_cancelled(db: tableq.Database) -> None:
    parts = db.claim("parts", batches=True)
    with db.transaction() as tx:
        outer = parts.begin_batch(tx=tx)
        inner = parts.begin_batch(parent=outer, tx=tx)
        parts.put("part", batch=inner, tx=tx)
        outer.seal(tx=tx)
    assert parts.batch_of(parts.take_one() or "") is not None
    assert db.batch(outer.id).cancel()
    assert not db.batch(98765).cancel()
    assert db.batch(98765).info() is None


def test_a_connection_of_the_application_adds_members(
    db: tableq.Database, connection: Any
) -> None:
    parts = db.claim("parts", batches=True)
    batch = parts.begin_batch()
    parts.put("first", batch=batch, using=connection)
    items = [
        tableq.NewMessage("second", key="k", batch=batch.id),
        tableq.NewMessage("the same key", key="k", batch=batch),
        tableq.NewMessage("alone"),
    ]
    added = parts.put_batch(items, using=connection)
    assert [one.outcome for one in added] == ["added", "kept_first", "added"]
    connection.commit()
    info = batch.info()
    assert info is not None and (info.total, info.outstanding) == (2, 2)
    batch.seal()
    with pytest.raises(tableq.InvalidArgument, match="sealed"):
        parts.put("late", batch=batch, using=connection)
    connection.rollback()
    job, *others = parts.take(3)
    parts.put("sibling", batch=parts.batch_of(job), using=connection)
    connection.commit()
    for each in (job, *others, *parts.take(5)):
        assert each.complete()
    info = batch.info()
    assert info is not None and (info.total, info.completed) == (3, 3)
    assert info.finished_at is not None
    with pytest.raises(tableq.InvalidArgument, match="batches=True"):
        db.claim("others").put("x", batch=batch, using=connection)


def test_members_are_added_in_a_transaction_only(db: tableq.Database, connection: Any) -> None:
    """Of two statements that commit by themselves one could be lost."""
    parts = db.claim("parts", batches=True)
    batch = parts.begin_batch()
    connection.rollback()
    if db.backend == "sqlite":
        connection.isolation_level = None
    else:
        connection.autocommit = True
    with pytest.raises(tableq.InvalidArgument, match="transaction"):
        parts.put("alone", batch=batch, using=connection)
    parts.put("of no batch", using=connection)
    connection.cursor().execute("BEGIN")
    parts.put("in a transaction", batch=batch, using=connection)
    connection.cursor().execute("COMMIT")
    info = batch.info()
    assert info is not None and info.total == 1
    assert parts.stats().ready == 2


def test_a_handler_is_told_that_its_batch_was_cancelled(db: tableq.Database) -> None:
    parts = db.claim("parts", batches=True)
    batch = parts.begin_batch()
    parts.put("long", batch=batch)
    batch.seal()
    begun, seen = threading.Event(), []

    def handle(job: tableq.Job) -> None:
        begun.set()
        until(lambda: job.cancelled)
        seen.append((job.cancelled, job.lost))

    worker = tableq.Worker(parts, handle, lease=0.3)
    running = Thread(lambda: worker.run(signals=False))
    assert begun.wait(60)
    assert batch.cancel()
    until(lambda: seen)
    until(lambda: (batch.info() or pytest.fail("it is gone")).finished_at)
    worker.stop()
    assert running.result() == 1 and seen == [(True, False)]


def test_a_coroutine_is_told_that_its_batch_was_cancelled(db: tableq.Database) -> None:
    import asyncio

    parts = db.claim("parts", batches=True)
    batch = parts.begin_batch()
    parts.put("long", batch=batch)
    batch.seal()
    seen = []

    async def main() -> None:
        async def handle(job: tableq.Job) -> None:
            await asyncio.get_running_loop().run_in_executor(None, batch.cancel)
            while not job.cancelled:
                await asyncio.sleep(0.001)
            seen.append(job.lost)
            worker.stop()

        worker = tableq.AsyncWorker(parts, handle, lease=0.3)
        await asyncio.wait_for(worker.run(signals=False), 60)

    asyncio.run(main())
    assert seen == [False]
