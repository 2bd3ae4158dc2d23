"""Leases and their ends."""

from __future__ import annotations

import asyncio
import datetime
import functools
import logging
import math
import select
import signal
import sys
from datetime import timedelta, timezone
from typing import Any

import pytest

import tableq
from conftest import Place, run


def test_a_job_has_what_was_put(jobs: tableq.ClaimQueue) -> None:
    when = datetime.datetime(2031, 2, 3, tzinfo=timezone.utc)
    mine = datetime.datetime(2032, 2, 3, tzinfo=timezone.utc)
    added = jobs.put(
        b"x", priority=-3, headers={"typ\u00e9": "a\u20acb"}, key="k1", created_at=when
    )
    (job,) = jobs.take(claimed_at=mine, lease=60)
    assert added == (job.id, "added")
    assert (job.payload, job.text, job.priority) == (b"x", "x", -3)
    assert (job.headers, job.key, job.group) == ({"typ\u00e9": "a\u20acb"}, "k1", None)
    assert (job.attempt, job.created_at, job.claimed_at) == (1, when, mine)
    assert job.lease_until.tzinfo is timezone.utc
    assert job.row == {} and not job.settled and not job.lost


def test_a_number_that_c_has_no_room_for_is_refused(
    db: tableq.Database, jobs: tableq.ClaimQueue
) -> None:
    first = jobs.put("a").id
    too_large = 2**64
    refused = [
        lambda: jobs.cancel(too_large + first),
        lambda: jobs.get(too_large + first),
        lambda: jobs.cancel(first - too_large),
        lambda: jobs.set_priority(first, 2**32 + 7),
        lambda: jobs.set_priority_by(tableq.Filter(state="ready"), 2**32 + 7),
        lambda: jobs.take(too_large + 1),
        lambda: jobs.take(lease=too_large),
        lambda: jobs.put("b", delay=1e300),
        lambda: jobs.put("b", delay=too_large // 1000),
        lambda: jobs.put("b", time_to_live=10**400),
        lambda: db.batch(too_large + 1),
    ]
    for call in refused:
        with pytest.raises(tableq.InvalidArgument, match="out of range"):
            call()
    (job,) = jobs.take(10)
    assert (job.id, job.priority, job.attempt) == (first, 0, 1)


def test_completed_jobs_are_gone(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    (job,) = jobs.take()
    assert job.complete() and job.settled
    assert not jobs.complete(job)
    assert jobs.stats().leased == 0


def test_a_job_whose_settlement_had_no_effect_is_lost(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(["a", "b", "c"])
    first, second, third = jobs.take(3, lease=60)
    jobs.release_batch([job.receipt for job in (first, second, third)])
    assert not first.complete() and first.lost
    assert jobs.complete_batch([second]) == [False] and second.lost
    assert not third.extend(60) and third.lost and not third.settled
    (again,) = jobs.take(lease=60)
    assert again.complete() and not again.complete() and not again.lost


def test_each_answer_of_a_batch_is_of_its_own_job(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(str(number) for number in range(9))
    of_one, of_other = jobs.take(4, lease=60), jobs.take(4, lease=60)
    alone = jobs.take_one(lease=60)
    assert alone is not None
    jobs.release(of_one[2].receipt)
    assert jobs.extend_batch(of_one, 60) == [True, True, False, True]  # All of a take, in its order.
    assert [job.lost for job in of_one] == [False, False, True, False]
    mixed = [of_other[3], alone, of_one[2], of_other[1]]
    assert jobs.complete_batch(mixed) == [True, True, False, True]
    assert jobs.fail_batch(reversed(of_one), "no") == [True, False, True, True]
    assert jobs.release_batch(of_other) == [True, False, True, False]
    left = sorted(job.text for job in jobs.take(9))
    assert left == sorted(job.text for job in (*of_one, of_other[0], of_other[2]))


def test_what_a_handler_says_itself_is_logged_without_a_traceback(
    jobs: tableq.ClaimQueue, caplog: pytest.LogCaptureFixture
) -> None:
    for failure in (tableq.GiveUp("no picture"), tableq.Retry("busy", delay=60)):
        jobs.put("a")
        with jobs.take()[0]:
            raise failure
    assert [(record.levelno, record.exc_info) for record in caplog.records] == [
        (logging.WARNING, None)
    ] * 2
    assert "no picture" in caplog.text and "busy" in caplog.text


def test_completed_jobs_stay_where_the_queue_keeps_them(db: tableq.Database) -> None:
    jobs = db.claim("kept", keep_completed=True)
    jobs.put("a")
    jobs.take()[0].complete()
    (done,) = jobs.messages("done")
    assert done.text == "a" and done.finished_at is not None
    assert jobs.purge(older_than=timedelta(days=1)) == 0
    assert jobs.purge() == 1


def test_a_failed_job_comes_again_with_its_errors(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    jobs.take()[0].fail("first")
    jobs.take()[0].fail(ValueError("second"))
    jobs.take()[0].fail(tableq.GiveUp("third"))
    (dead,) = jobs.dead()
    assert [text for _, text in dead.errors] == ["first", "ValueError: second", "third"]
    assert all(at.tzinfo is timezone.utc for at, _ in dead.errors)
    assert (dead.state, dead.attempts) == ("dead", 3)


def test_a_failure_may_have_its_own_delay_or_be_the_last(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(["a", "b"])
    one, two = jobs.take(2)
    one.fail("later", delay=timedelta(hours=1))
    two.fail("never", give_up=True)
    stats = jobs.stats()
    assert (stats.delayed, stats.dead) == (1, 1)


def test_any_text_is_an_error(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    assert jobs.take()[0].fail("\udcff" + "x" * 5000, give_up=True)
    (dead,) = jobs.dead()
    assert len(dead.errors[0][1].encode()) <= 2000


def test_a_released_job_has_lost_no_attempt(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    assert jobs.take()[0].release()
    assert jobs.take()[0].attempt == 1


def test_an_old_receipt_settles_nothing(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    (old,) = jobs.take()
    old.release()
    (new,) = jobs.take()
    assert not jobs.complete(old.receipt)
    assert not jobs.fail(old.receipt, "x")
    assert not jobs.release(old.receipt)
    assert not jobs.extend(old.receipt, 60)
    assert new.complete()


def test_a_receipt_settles_in_another_process(place: Place, jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    (job,) = jobs.take()
    done = run(place.program(f"print(db.claim('jobs').complete({job.receipt!r}))"))
    assert done.stdout == "True\n"
    assert not job.complete()


def test_values_of_another_type_are_refused_by_name(
    db: tableq.Database, jobs: tableq.ClaimQueue
) -> None:
    wrong: Any = 5
    text: Any = "a=1"
    for match, call in (
        ("put adds one", lambda: jobs.put_batch("abc")),
        ("put adds one", lambda: tableq.Outbox("jobs").put_batch(b"abc", wrong)),
        ("tx is a Transaction .* as using", lambda: jobs.put("a", tx=text)),
        ("retry is .* a list of delays", lambda: jobs.put("a", retry=wrong)),
        ("headers is a dict", lambda: jobs.put("a", headers=text)),
        ("an id is an int", lambda: jobs.get(text)),
        ("an id is an int", lambda: jobs.cancel(text)),
        ("an id is an int", lambda: jobs.redrive(text)),
    ):
        with pytest.raises(tableq.InvalidArgument, match=match):
            call()


def test_a_receipt_of_another_queue_is_refused(db: tableq.Database, jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    (job,) = jobs.take()
    with pytest.raises(tableq.InvalidArgument):
        db.claim("other").complete(job)
    with pytest.raises(tableq.InvalidArgument):
        jobs.complete("no receipt")


def test_batches_settle_in_one_call(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch([str(n) for n in range(8)])
    taken = jobs.take(8)
    assert jobs.extend_batch(taken, 60) == [True] * 8
    assert jobs.complete_batch([taken[0], taken[1].receipt]) == [True, True]
    assert jobs.fail_batch(taken[2:4], "both", give_up=True) == [True, True]
    assert jobs.release_batch(taken[4:6]) == [True, True]
    assert jobs.complete_batch(taken) == [False] * 6 + [True, True]
    assert [m.errors[0][1] for m in jobs.dead()] == ["both", "both"]


def test_the_end_of_a_block_completes(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(["a", "b"])
    for job in jobs.take(10, wait=5):
        with job:
            pass
    stats = jobs.stats()
    assert (stats.ready, stats.leased) == (0, 0)


def test_an_exception_in_a_block_fails_the_job_and_ends_there(
    jobs: tableq.ClaimQueue, caplog: pytest.LogCaptureFixture
) -> None:
    jobs.put_batch(["a", "b"])
    seen = []
    for job in jobs.take(10):
        with job:
            seen.append(job.text)
            raise ValueError("bad")
    assert seen == ["a", "b"]
    assert [m.errors[0][1] for m in jobs.messages("ready")] == ["ValueError: bad"] * 2
    assert [record.levelno for record in caplog.records] == [logging.ERROR] * 2


def test_an_exception_without_a_text_fails_its_job_only(
    jobs: tableq.ClaimQueue, caplog: pytest.LogCaptureFixture
) -> None:
    class Mute(Exception):
        def __str__(self) -> str:
            raise AttributeError("no text")

    class MuteGiveUp(tableq.GiveUp, Mute):
        __str__ = Mute.__str__

    def handler(job: tableq.Job) -> None:
        if job.text != "good":
            raise Mute

    jobs.put_batch(["a", "b", "c"])
    for job, error in zip(jobs.take(3), (Mute(), MuteGiveUp(), None)):
        with job:
            if error is not None:
                raise error
    jobs.put_batch(["d", "good"])
    assert jobs.work(handler, until_empty=True) == 1
    errors = [message.errors[0][1] for message in jobs.dead()]
    assert sorted(errors) == ["Mute"] * 2 + ["MuteGiveUp"]


def test_a_block_says_when_and_whether_the_next_attempt_comes(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(["a", "b"])
    for job, error in zip(jobs.take(2), (tableq.Retry("busy", delay=60), tableq.GiveUp("no use"))):
        with job:
            raise error
    (delayed,), (dead,) = jobs.messages("delayed"), jobs.dead()
    assert (delayed.errors[0][1], dead.errors[0][1]) == ("busy", "no use")


@pytest.mark.parametrize("kind", [KeyboardInterrupt, asyncio.CancelledError])
def test_an_interrupted_block_gives_its_job_back(
    jobs: tableq.ClaimQueue, kind: "type[BaseException]"
) -> None:
    jobs.put("a")
    with pytest.raises(kind):
        with jobs.take()[0]:
            raise kind()
    assert jobs.take()[0].attempt == 1


def test_system_exit_in_a_block_is_a_failed_attempt_and_goes_on(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    with pytest.raises(SystemExit):
        with jobs.take()[0]:
            sys.exit(3)
    (message,) = jobs.messages("ready")
    assert [text for _, text in message.errors] == ["SystemExit: 3"]


class _Exit:
    def method(self, number: int, frame: object) -> None:
        sys.exit(7)

    __call__ = method


@pytest.mark.parametrize(
    "handler",
    [
        lambda number, frame: sys.exit(7),
        _Exit().method,
        _Exit(),
        functools.partial(_Exit.method, _Exit()),
    ],
    ids=["function", "method", "object", "partial"],
)
def test_a_block_that_a_signals_handler_ends_gives_its_job_back(
    jobs: tableq.ClaimQueue, handler: Any
) -> None:
    jobs.put("a")
    before = signal.signal(signal.SIGUSR1, handler)
    try:
        with pytest.raises(SystemExit):
            with jobs.take()[0]:
                signal.raise_signal(signal.SIGUSR1)
    finally:
        signal.signal(signal.SIGUSR1, before)
    assert jobs.take()[0].attempt == 1


def test_a_block_that_has_settled_its_job_is_left_alone(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    with jobs.take()[0] as job:
        job.fail("mine", give_up=True)
    assert jobs.stats().dead == 1


def test_a_block_whose_lease_was_lost_says_so(
    jobs: tableq.ClaimQueue, caplog: pytest.LogCaptureFixture
) -> None:
    jobs.put("a")
    with jobs.take()[0] as job:
        jobs.release(job.receipt)
    assert "lost" in caplog.text


def test_work_and_completion_commit_together(db: tableq.Database, jobs: tableq.ClaimQueue) -> None:
    sent = db.fifo("sent")
    jobs.put("a")
    with jobs.take()[0] as job:
        with db.transaction() as tx:
            sent.put(job.payload, tx=tx)
            assert job.complete(tx=tx) and not job.settled
        assert job.settled
    assert (sent.stats().waiting, jobs.stats().leased) == (1, 0)


def test_a_rolled_back_completion_fails_the_job(db: tableq.Database, jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    with jobs.take()[0] as job:
        with db.transaction() as tx:
            job.complete(tx=tx)
            raise ValueError("after all")
    (again,) = jobs.messages("ready")
    assert again.errors[0][1] == "ValueError: after all"


def test_a_rollback_undoes_a_take(db: tableq.Database, jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    with pytest.raises(ZeroDivisionError):
        with db.transaction() as tx:
            assert len(jobs.take(tx=tx)) == 1
            raise ZeroDivisionError
    assert jobs.take()[0].attempt == 1


def test_keys_are_held_once(jobs: tableq.ClaimQueue) -> None:
    first = jobs.put("a", key="k")
    assert jobs.put("b", key="k") == (first.id, "kept_first")
    assert jobs.put("c", key="k", on_duplicate="replace") == (first.id, "replaced")
    assert jobs.put("d", key="k", on_duplicate="postpone", delay=60) == (first.id, "postponed")
    with pytest.raises(tableq.DuplicateKey):
        jobs.put("e", key="k", on_duplicate="reject")
    found = jobs.find("k")
    assert found is not None and (found.text, found.state) == ("d", "delayed")
    assert jobs.find("other") is None


def test_groups_come_one_after_the_other(db: tableq.Database) -> None:
    jobs = db.claim("grouped", groups=True)
    for text in ("a1", "a2", "b1"):
        jobs.put(text, group=text[0])
    taken = jobs.take(10)
    assert sorted(job.text for job in taken) == ["a1", "b1"]
    assert {job.group for job in taken} == {"a", "b"}
    jobs.complete_batch(taken)
    assert [job.text for job in jobs.take(10)] == ["a2"]
    with pytest.raises(tableq.InvalidArgument, match="groups is false"):
        db.claim("ungrouped", groups=False, group_limit=2)


def test_priorities_and_cancellation(jobs: tableq.ClaimQueue) -> None:
    low, high, gone = (jobs.put(t, priority=p).id for t, p in (("l", 0), ("h", 5), ("g", 9)))
    assert jobs.cancel(gone) == "applied"
    assert jobs.cancel(gone) == "not_there"
    assert jobs.set_priority(low, 7) == "applied"
    assert [m.text for m in jobs.peek(5)] == ["l", "h"]
    assert [job.text for job in jobs.take(5)] == ["l", "h"]
    assert jobs.cancel(high) == "running"
    assert jobs.get(high) is not None and jobs.get(gone) is None


def test_dead_messages_are_redriven(db: tableq.Database) -> None:
    jobs = db.claim("jobs", max_attempts=1, dead_letters="graves")
    ids = [jobs.put(str(n)).id for n in range(3)]
    for job in jobs.take(3):
        job.fail("bad")
    assert jobs.stats().dead_letters == 3
    assert jobs.redrive_all(max=2).count == 2
    other = db.claim("plain", max_attempts=1)
    other.put("x")
    (job,) = other.take()
    job.fail("bad")
    assert other.redrive(job.id, 12345) == 1
    assert len(ids) == 3


def test_pages_hold_all_messages_once(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch([str(n) for n in range(25)])
    assert [m.text for m in jobs.messages("ready", page=10)] == [str(n) for n in range(25)]


def test_messages_expire_or_live_for_ever(db: tableq.Database) -> None:
    jobs = db.claim("short", time_to_live=timedelta(days=1))
    jobs.put("a")
    jobs.put("b", time_to_live=math.inf)
    assert [m.expires_at is None for m in jobs.messages("ready")] == [False, True]


def test_settings_of_a_queue_are_stored(db: tableq.Database) -> None:
    db.claim("slow", lease=timedelta(minutes=2), max_attempts=7, retry=[1, 2.5], retry_jitter=10)
    info = db.find("slow")
    assert info is not None
    assert (info.options["lease_ms"], info.options["max_attempts"]) == (120000, 7)
    assert [entry["ms"] for entry in info.options["retry_ms"]] == [1000, 2500]
    assert db.claim("slow").settings() == {"lease_ms": 120000, "max_attempts": 7}


def test_a_keeper_extends_leases(db: tableq.Database) -> None:
    jobs = db.claim("short", lease=0.3)
    jobs.put("a")
    with db.keeper() as keeper:
        (job,) = jobs.take()
        keeper.add(job)
        assert len(keeper) == 1
        # The message is ready again for other readers, unless the keeper extends it.
        assert jobs.take(wait=1.0) == []
        assert job.complete()
        assert not keeper.remove(job) and len(keeper) == 0


def test_a_keeper_tells_lost_leases(place: Place, db: tableq.Database) -> None:
    jobs = db.claim("short", lease=0.3)
    jobs.put("a")
    (job,) = jobs.take()
    with db.keeper() as keeper:
        keeper.add(job)
        # A settlement of which the keeper's database object knows nothing.
        place.open().claim("short").complete(job.receipt)
        poll = select.poll()
        poll.register(keeper, select.POLLIN)
        assert poll.poll(30_000)
        (lost,) = keeper.lost()
        assert lost == (job.receipt, "short", "lease_lost")


def test_a_keeper_has_the_job_again_after_a_rollback(db: tableq.Database) -> None:
    jobs = db.claim("short", lease=0.4)
    jobs.put("a")
    with db.keeper() as keeper:
        (job,) = jobs.take()
        keeper.add(job)
        with pytest.raises(ZeroDivisionError):
            with db.transaction() as tx:
                job.complete(tx=tx)
                raise ZeroDivisionError
        assert len(keeper) == 1
        tx = db.transaction()
        job.complete(tx=tx)
        tx.rollback()
        assert len(keeper) == 1
        tx = db.transaction()
        job.complete(tx=tx)
        tx.close()
        assert len(keeper) == 1
        assert job.complete() and len(keeper) == 0


def test_messages_are_listed_and_changed_by_a_filter(db: tableq.Database) -> None:
    jobs = db.claim("jobs")
    for number in range(30):
        jobs.put(b"x", delay=3600, headers={"tenant": "a" if number % 3 else "b"})
    of_b = tableq.Filter(header=("tenant", "b"))
    assert len(list(jobs.messages_by(of_b, page=4))) == 10
    assert jobs.make_ready_by(of_b, dry_run=True).count == 10
    done = jobs.make_ready_by(of_b, batch=3)
    assert (done.count, done.running, done.changed, done.stopped_at) == (10, 0, 0, None)
    assert jobs.set_priority_by(tableq.Filter(state="ready"), 7).count == 10
    assert jobs.cancel_by(tableq.Filter(all=True)).count == 30
    assert jobs.redrive_by(tableq.Filter(error="no")).count == 0
    assert jobs.purge_by(tableq.Filter(state="dead", older_than=3600)).count == 0
    with pytest.raises(tableq.InvalidArgument):
        jobs.cancel_by(tableq.Filter())
    with pytest.raises(tableq.InvalidArgument):
        jobs.cancel_by(tableq.Filter(all=True), after="nowhere")


def test_a_delayed_message_is_made_ready(db: tableq.Database) -> None:
    jobs = db.claim("jobs")
    later = jobs.put(b"x", delay=3600).id
    assert jobs.make_ready(later) == "applied"
    assert jobs.make_ready(999_999) == "not_there"
    assert len(jobs.take(1)) == 1


def test_options_change_while_a_queue_is_open(db: tableq.Database) -> None:
    jobs = db.claim("jobs")
    assert db.alter("jobs", lease=120, dry_run=True)[0].after == "120000"
    changes = db.alter("jobs", lease=120, retain_done=timedelta(days=7), keep_completed=True)
    assert [(each.option, each.refused_at_open) for each in changes] == [
        ("keep_completed", False),
        ("lease_ms", False),
        ("retain_done_ms", True),
    ]
    jobs.put(b"x")
    (job,) = jobs.take(1)
    assert (job.lease_until - job.created_at).total_seconds() > 100
    db.alter("jobs", retain_done=math.inf)
    with pytest.raises(tableq.OptionsMismatch):
        db.alter("jobs", group_by_turns=True)
    with pytest.raises(tableq.InvalidArgument, match="alter changes no batches; there are lease,"):
        db.alter("jobs", batches=True)


def test_progress_is_stored_with_the_lease_and_shown_by_get(jobs: tableq.ClaimQueue) -> None:
    put = jobs.put("a")
    (job,) = jobs.take()
    job.progress(0.25, "page 3 of 12")
    assert job.extend(60)
    plain, found = jobs.get(put.id), jobs.get(put.id, progress=True, result=True)
    assert plain is not None and plain.progress is None
    assert found is not None and found.progress is not None
    assert (found.progress.done, found.progress.note) == (0.25, "page 3 of 12")
    assert found.progress.at.tzinfo is timezone.utc
    assert jobs.get(put.id + 1000, progress=True) is None
    job.complete()


@pytest.mark.parametrize("done", [40, 1.01, -0.1, math.nan, "half", True])
def test_progress_in_per_cent_is_refused(jobs: tableq.ClaimQueue, done: Any) -> None:
    jobs.put("a")
    (job,) = jobs.take()
    with pytest.raises(ValueError, match="from 0 to 1"):
        job.progress(done)
    assert job.complete()


def test_a_look_reads_as_much_as_it_is_told(jobs: tableq.ClaimQueue) -> None:
    put = jobs.put("secret", headers={"to": "ann"}, key="k")
    outline = jobs.get(put.id, detail="outline")
    assert outline is not None and (outline.payload, outline.headers) == (b"", {})
    assert outline.key == "k"
    seen = jobs.get(put.id, detail="seen")
    assert seen is not None and (seen.id, seen.key) == (put.id, None)
    (listed,) = jobs.messages("ready", detail="outline")
    assert listed == outline
    (by,) = jobs.messages_by(tableq.Filter(key_prefix="k"), detail="outline")
    assert by == outline
    with pytest.raises(tableq.InvalidArgument, match="all, outline, seen"):
        jobs.get(put.id, detail="some")


def test_groups_that_wait_are_counted(db: tableq.Database) -> None:
    jobs = db.claim("grouped", groups=True)
    for group in ("ann", "bob", "ann"):
        jobs.put("x", group=group)
    groups = jobs.groups()
    assert [(one.group, one.waiting) for one in groups] == [("ann", 2), ("bob", 1)]
    assert groups[0].oldest <= groups[1].oldest
    assert jobs.groups(1) == groups[:1]


def test_a_worker_stores_progress(jobs: tableq.ClaimQueue) -> None:
    put = jobs.put("a")

    def handle(job: tableq.Job) -> None:
        job.progress(0.5, "half")
        while True:
            found = jobs.get(put.id, progress=True, result=True)
            if found is not None and found.progress is not None:
                return

    assert jobs.work(handle, lease=0.3, until_empty=True) == 1


def test_a_result_is_waited_for(db: tableq.Database) -> None:
    jobs = db.claim("kept", keep_completed=True)
    put = jobs.put("a")
    early = jobs.wait_for(put.id, wait=0)
    assert (early.ending, early.state, early.result) == ("waiting", "ready", None)

    def handle(job: tableq.Job) -> None:
        assert job.complete(result=b"\xff42")

    jobs.work(handle, until_empty=True)
    assert jobs.wait_for(put.id) == ("done", "done", b"\xff42", None, None)
    assert asyncio.run(jobs.wait_for_async(put.id)).result == b"\xff42"
    found = jobs.get(put.id, progress=True, result=True)
    assert found is not None and found.result == b"\xff42"
    assert jobs.wait_for(put.id + 1000, wait=math.inf).ending == "gone"


def test_a_wait_for_a_message_ends_with_its_settlement(db: tableq.Database) -> None:
    jobs = db.claim("dying", max_attempts=1)
    put = jobs.put("a")
    (job,) = jobs.take()

    async def both() -> tableq.Awaited:
        waits = asyncio.ensure_future(jobs.wait_for_async(put.id, wait=60))
        await job.fail_async("broken")
        return await waits

    assert asyncio.run(both()).ending == "dead"
    assert jobs.wait_for(put.id).error == "broken"


def test_a_result_that_nothing_keeps_is_refused(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    (job,) = jobs.take()
    with pytest.raises(tableq.InvalidArgument):
        job.complete(result="42")
    assert job.complete()
