"""Batches: a message at the end of many."""

from __future__ import annotations

import pytest

import tableq


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
