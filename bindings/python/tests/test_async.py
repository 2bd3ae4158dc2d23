"""Event loops."""

from __future__ import annotations

import asyncio
import functools
import gc
import signal
import subprocess
import sys
import threading
import weakref
from pathlib import Path
from typing import Any, Awaitable, Callable, List

import pytest

import tableq
from conftest import Place, Thread, environment, start, until


async def _until(condition: Callable[[], Any]) -> None:
    end = asyncio.get_running_loop().time() + 60
    while not condition():
        assert asyncio.get_running_loop().time() < end, "it does not come about"
        await asyncio.sleep(0.001)


def go(work: Callable[[], Awaitable[Any]]) -> Any:
    async def bounded() -> Any:
        return await asyncio.wait_for(work(), 30)

    return asyncio.run(bounded())


def test_an_await_gets_what_is_there_and_what_comes(jobs: tableq.ClaimQueue) -> None:
    async def work() -> None:
        jobs.put("a")
        assert [job.text for job in await jobs.take_async(5)] == ["a"]
        waiting = asyncio.ensure_future(jobs.take_async(1, wait=3600))
        other = asyncio.ensure_future(jobs.take_one_async(wait=3600))
        await asyncio.sleep(0.05)
        assert not waiting.done() and not other.done()
        await jobs.put_async("b", priority=1)
        await jobs.put_async("c")
        found = await waiting
        last = await other
        assert last is not None
        assert sorted([job.text for job in found] + [last.text]) == ["b", "c"]
        assert await jobs.take_async(wait=0.05) == []

    go(work)


def test_other_processes_and_plain_kinds_wake_an_await(place: Place, db: tableq.Database) -> None:
    mail, later = db.fifo("mail"), db.pending("later")

    async def work() -> None:
        waits = [
            asyncio.ensure_future(mail.dequeue_async(wait=3600)),
            asyncio.ensure_future(later.dequeue_async(wait=3600)),
        ]
        producer = await asyncio.create_subprocess_exec(
            *place.program("db.fifo('mail').put('a'); db.pending('later').put('b', delay=0.3)"),
            env=environment(),
        )
        assert [(await wait)[0].text for wait in waits] == ["a", "b"]
        await producer.wait()

    go(work)


def test_waits_need_no_thread_each(db: tableq.Database) -> None:
    queues = [db.fifo(f"mail{n}") for n in range(30)]

    async def work() -> None:
        waits = [asyncio.ensure_future(queue.dequeue_async(wait=3600)) for queue in queues]
        waits += [asyncio.ensure_future(queues[0].dequeue_async(wait=3600)) for _ in range(30)]
        await asyncio.sleep(0.3)
        assert threading.active_count() < 20
        for queue in queues:
            await queue.put_async("x")
        queues[0].put_batch(["y"] * 30)
        assert [len(await wait) for wait in waits] == [1] * 60

    go(work)


def test_a_cancelled_wait_takes_nothing(jobs: tableq.ClaimQueue) -> None:
    async def work() -> None:
        waiting = asyncio.ensure_future(jobs.take_async(wait=3600))
        await asyncio.sleep(0.05)
        waiting.cancel()
        with pytest.raises(asyncio.CancelledError):
            await waiting
        await jobs.put_async("a")
        assert [job.attempt for job in await jobs.take_async()] == [1]

    go(work)


def test_a_cancelled_await_gives_its_messages_back(
    jobs: tableq.ClaimQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The read has taken a message in its thread when the await is cancelled."""
    taken, go_on = threading.Event(), threading.Event()
    plain = type(jobs).take

    def slow(self: tableq.ClaimQueue, *args: Any, **kwargs: Any) -> List[tableq.Job]:
        found = plain(self, *args, **kwargs)
        taken.set()
        go_on.wait(60)
        return found

    monkeypatch.setattr(type(jobs), "take", slow)
    jobs.put("a")

    async def work() -> None:
        reading = asyncio.ensure_future(jobs.take_async())
        await _until(taken.is_set)
        reading.cancel()
        with pytest.raises(asyncio.CancelledError):
            await reading
        go_on.set()
        await _until(lambda: jobs.stats().ready)

    go(work)
    monkeypatch.undo()
    assert [job.attempt for job in jobs.take()] == [1]


def test_cancellation_at_any_moment_loses_no_lease(jobs: tableq.ClaimQueue) -> None:
    """Awaits are cancelled while messages come; in the end each message is there once."""
    async def work() -> int:
        got = 0
        for round in range(60):
            await jobs.put_async(str(round))
            reads = [asyncio.ensure_future(jobs.take_async(2, wait=3600)) for _ in range(3)]
            for _ in range(round % 7):
                await asyncio.sleep(0.0005)
            for read in reads:
                read.cancel()
            for result in await asyncio.gather(*reads, return_exceptions=True):
                if not isinstance(result, BaseException):
                    for job in result:
                        assert await job.complete_async()
                        got += 1
        return got

    got = go(work)
    db = jobs.database

    def all_there() -> bool:
        now = jobs.stats()  # A take that was cancelled may still come, and gives back what it took.
        return now.leased == 0 and got + now.ready == 60

    until(all_there)
    assert not db.closed


def test_close_after_a_cancelled_await_gives_back_first(
    place: Place, jobs: tableq.ClaimQueue
) -> None:
    jobs.put_batch([str(n) for n in range(50)])

    async def work() -> None:
        with place.open() as db:
            mine = db.claim("jobs")
            reads = [asyncio.ensure_future(mine.take_async(5)) for _ in range(10)]
            await asyncio.sleep(0)
            for read in reads:
                read.cancel()
            await asyncio.gather(*reads, return_exceptions=True)

    go(work)
    stats = jobs.stats()
    assert (stats.ready, stats.leased) == (50, 0)


def test_close_ends_awaits(db: tableq.Database, jobs: tableq.ClaimQueue) -> None:
    async def work() -> None:
        waiting = asyncio.ensure_future(jobs.take_async(wait=3600))
        await asyncio.sleep(0.05)
        db.close()
        assert await waiting == []

    go(work)


def test_close_ends_a_worker_whose_handlers_run(
    db: tableq.Database, jobs: tableq.ClaimQueue
) -> None:
    async def handle(job: tableq.Job) -> None:
        await asyncio.get_running_loop().run_in_executor(None, db.close)

    jobs.put("a")
    assert go(lambda: jobs.work_async(handle)) == 0


def test_a_block_settles_a_job(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(["a", "b", "c"])

    async def work() -> None:
        for job in await jobs.take_async(3):
            async with job:
                if job.text == "b":
                    raise tableq.GiveUp("no")
                if job.text == "c":
                    assert await job.extend_async(60)
                    await job.fail_async("later", delay=60)

    go(work)
    stats = jobs.stats()
    assert (stats.dead, stats.delayed, stats.ready, stats.leased) == (1, 1, 0, 0)


def test_two_loops_do_not_take_each_others_news(jobs: tableq.ClaimQueue) -> None:
    async def read() -> List[tableq.Job]:
        return await jobs.take_async(wait=3600)

    threads = [Thread(lambda: go(read)) for _ in range(2)]
    jobs.put("a")
    jobs.put("b")
    assert sorted(job.text for thread in threads for job in thread.result()) == ["a", "b"]


def test_a_loop_may_end_and_another_begin(jobs: tableq.ClaimQueue) -> None:
    for text in "abc":
        async def work() -> None:
            waiting = asyncio.ensure_future(jobs.take_async(wait=3600))
            await asyncio.sleep(0.01)
            await jobs.put_async(text)
            assert await (await waiting)[0].complete_async()

        go(work)


def test_a_worker_awaits_its_handlers(
    jobs: tableq.ClaimQueue, caplog: pytest.LogCaptureFixture
) -> None:
    jobs.put_batch([str(n) for n in range(30)] + ["bad"])
    running = most = 0

    async def handler(job: tableq.Job) -> None:
        nonlocal running, most
        running += 1
        most = max(most, running)
        await asyncio.sleep(0.01)
        running -= 1
        if job.text == "bad":
            raise ValueError("no number")

    async def work() -> int:
        return await jobs.work_async(handler, concurrency=5, until_empty=True)

    assert go(work) == 30
    assert 1 < most <= 5
    assert [text for _, text in next(jobs.dead()).errors] == ["ValueError: no number"] * 3
    assert caplog.records


def test_leases_are_extended_while_the_loop_is_held_up(place: Place, db: tableq.Database) -> None:
    import time

    jobs = db.claim("short", lease=0.4)
    other = place.open().claim("short")
    jobs.put("a")
    attempts = []

    async def handler(job: tableq.Job) -> None:
        attempts.append(job.attempt)
        time.sleep(1.2)  # A mistake of the handler, which holds up the loop.
        assert other.take() == []

    async def work() -> int:
        return await jobs.work_async(handler, until_empty=True)

    assert go(work) == 1
    assert attempts == [1]


def test_leases_are_extended_of_messages_whose_handlers_wait_for_the_loop(
    place: Place, db: tableq.Database
) -> None:
    import time

    jobs = db.claim("short", lease=0.4)
    other = place.open().claim("short")
    jobs.put_batch(["a", "b", "c"])
    attempts: List[int] = []

    async def handler(job: tableq.Job) -> None:
        if not attempts:
            time.sleep(1.2)  # The others of this take have not begun.
            assert other.take(3) == []
        attempts.append(job.attempt)

    async def work() -> int:
        return await jobs.work_async(handler, until_empty=True)

    assert go(work) == 3
    assert attempts == [1, 1, 1]


@pytest.mark.parametrize("raises", [False, True])
@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_a_child_of_fork_that_comes_back_from_a_handler_ends_and_settles_nothing(
    place: Place, jobs: tableq.ClaimQueue, raises: bool
) -> None:
    jobs.put("a")
    ended = subprocess.run(
        place.program(
            f"""
            import asyncio, os
            jobs = db.claim('jobs')
            children = []

            async def handler(job):
                children.append(os.fork())
                if children == [0] and {raises}:
                    raise ValueError('said by the child')

            print(asyncio.run(jobs.work_async(handler, until_empty=True)))
            print(os.WEXITSTATUS(os.waitpid(children[0], 0)[1]))
            """
        ),
        env=environment(),
        stdout=subprocess.PIPE,
        timeout=60,
        text=True,
    )
    assert ended.stdout == f"1\n{int(raises)}\n"
    assert jobs.stats(exact=True).dead == 0


def test_a_cancelled_worker_gives_all_back_at_once(
    jobs: tableq.ClaimQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A database that is away is asked once, not for each message."""
    jobs.put_batch(["x"] * 30)
    plain = jobs.release_batch
    sizes: List[int] = []

    def release_batch(those: Any, **options: Any) -> List[bool]:
        sizes.append(len(those))
        return plain(those, **options)

    monkeypatch.setattr(jobs, "release_batch", release_batch)
    begun = []

    async def handler(job: tableq.Job) -> None:
        begun.append(job)
        await asyncio.Event().wait()

    async def work() -> None:
        working = asyncio.ensure_future(jobs.work_async(handler, concurrency=30))
        await _until(lambda: len(begun) == 30)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working

    go(work)
    assert sizes == [30]
    assert jobs.stats().ready == 30


def test_a_cancelled_worker_gives_back(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(["a", "b", "c"])
    begun = []

    async def handler(job: tableq.Job) -> None:
        begun.append(job)
        await asyncio.Event().wait()

    async def work() -> None:
        working = asyncio.ensure_future(jobs.work_async(handler, concurrency=2))
        await _until(lambda: len(begun) == 2)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working

    go(work)
    until(lambda: jobs.stats().ready == 3)
    assert {job.attempt for job in jobs.take(3)} == {1}


@pytest.mark.parametrize("handled", [True, False])
def test_a_worker_that_is_cancelled_twice_leaves_no_lease(
    jobs: tableq.ClaimQueue, handled: bool
) -> None:
    """Its threads are busy: the settlements of handlers that have returned, and the releases of
    the others, wait for one."""
    jobs.put_batch([str(n) for n in range(30)])
    go_on = threading.Event()

    async def work() -> None:
        began: List[tableq.Job] = []

        async def handler(job: tableq.Job) -> None:
            began.append(job)
            if not handled:
                await asyncio.sleep(3600)

        def block() -> None:
            for _ in range(8):
                jobs.database._threads().submit(go_on.wait, 60)

        plain = tableq._async.AsyncWorker._begin

        def begin(self: Any, *arguments: Any) -> None:
            block()
            plain(self, *arguments)

        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(tableq._async.AsyncWorker, "_begin", begin)
            working = asyncio.ensure_future(jobs.work_async(handler, concurrency=30))
            await _until(lambda: len(began) == 30)
            working.cancel()
            await asyncio.sleep(0.01)
            working.cancel()
            await asyncio.sleep(0.01)
            go_on.set()
            with pytest.raises(asyncio.CancelledError):
                await working

    go(work)
    until(lambda: jobs.stats().leased == 0)
    assert jobs.stats().ready == (0 if handled else 30)


def test_a_block_ends_although_its_await_is_cancelled(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    go_on = threading.Event()

    async def work() -> None:
        (job,) = await jobs.take_async()
        left = asyncio.Event()

        async def block() -> None:
            async with job:
                left.set()

        for _ in range(8):
            jobs.database._threads().submit(go_on.wait, 60)
        ending = asyncio.ensure_future(block())
        await left.wait()
        await asyncio.sleep(0)
        ending.cancel()
        await asyncio.gather(ending, return_exceptions=True)
        go_on.set()

    go(work)
    until(lambda: jobs.stats().leased == 0)
    assert not jobs.take()


def test_a_worker_is_stopped_in_order(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(["a", "b", "c"])
    release = asyncio.Event

    async def work() -> int:
        go_on = release()

        async def handler(job: tableq.Job) -> None:
            worker.stop()
            asyncio.get_running_loop().call_later(0.05, go_on.set)
            await go_on.wait()

        worker = tableq.AsyncWorker(jobs, handler, concurrency=2)
        return int(await worker.run())

    assert go(work) == 2
    stats = jobs.stats()
    assert (stats.ready, stats.leased) == (1, 0)


def test_the_grace_of_a_stopped_worker_gives_back_what_still_runs(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(["quick", "slow"])

    async def work() -> int:
        both = asyncio.Event()
        begun: List[str] = []

        async def handler(job: tableq.Job) -> None:
            begun.append(job.text)
            if len(begun) == 2:
                worker.stop()
                both.set()
            await (both if job.text == "quick" else asyncio.Event()).wait()

        worker = tableq.AsyncWorker(jobs, handler, grace=0.3)
        return int(await worker.run())

    assert go(work) == 1
    assert [(job.text, job.attempt) for job in jobs.take(5)] == [("slow", 1)]


def test_an_async_worker_runs_once_and_not_after_its_stop(jobs: tableq.ClaimQueue) -> None:
    async def handler(job: tableq.Job) -> None:
        pass

    async def work() -> None:
        early = tableq.AsyncWorker(jobs, handler)
        early.stop()
        assert await early.run() == 0
        worker = tableq.AsyncWorker(jobs, handler)
        running = asyncio.ensure_future(worker.run())
        await asyncio.sleep(0)
        with pytest.raises(tableq.InvalidArgument, match="runs once"):
            await asyncio.wait_for(worker.run(), 5)
        worker.stop()
        assert await running == 0

    go(work)


def test_several_queues_share_the_handlers_of_an_async_worker(place: Place, tmp_path: Path) -> None:
    near = place.open()
    far = tableq.open(f"sqlite://{tmp_path}/far.db")
    with far:
        queues = near.claim("orders"), near.claim("mails"), far.claim("remote")

        async def work() -> int:
            done: List[str] = []

            async def handler(job: tableq.Job) -> None:
                done.append(job.queue.name + job.text)

            worker = tableq.AsyncWorker([tableq.Source(each, handler) for each in queues], None, 4)
            running = asyncio.ensure_future(worker.run())
            for each in queues:
                await asyncio.sleep(0.05)
                await each.put_async("x")  # While it waits for all of them.
                await asyncio.gather(*[each.put_async("y") for _ in range(20)])
            await _until(lambda: len(done) == 63)
            worker.stop()
            assert [done.count(each.name + "y") for each in queues] == [20, 20, 20]
            return int(await running)

        assert go(work) == 63


@pytest.mark.parametrize("concurrency", [1, 4])
def test_the_sources_of_an_async_worker_have_precedence_and_weight(
    db: tableq.Database, concurrency: int
) -> None:
    urgent, many, few = db.claim("urgent"), db.claim("many"), db.claim("few")
    done: List[str] = []

    async def handler(job: tableq.Job) -> None:
        done.append(job.text)

    for queue in (few, many, urgent):
        queue.put_batch([queue.name] * 12)
    sources = [
        tableq.Source(few, handler),
        tableq.Source(many, handler, weight=3),
        tableq.Source(urgent, handler, precedence=1),
    ]
    worker = tableq.AsyncWorker(sources, concurrency=concurrency, until_empty=True)
    assert go(worker.run) == 36
    assert done[:12] == ["urgent"] * 12
    assert done[12:28].count("many") == 12 and done[12:28].count("few") == 4


def test_an_async_worker_goes_on_while_one_database_is_away(
    db: tableq.Database, jobs: tableq.ClaimQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = db.claim("away")
    refusals: List[int] = []
    done: List[str] = []

    def refuse(*arguments: Any) -> Any:
        refusals.append(1)
        raise tableq.ConnectionFailed("tableq: the database is away")

    async def handler(job: tableq.Job) -> None:
        done.append(job.text)

    monkeypatch.setattr(away, "_take", refuse)
    jobs.put_batch(["x"] * 50)
    sources = [tableq.Source(away, handler, precedence=1), tableq.Source(jobs, handler)]
    worker = tableq.AsyncWorker(sources)

    async def work() -> int:
        running = asyncio.ensure_future(worker.run())
        await _until(lambda: len(done) == 50 and len(refusals) > 2)
        worker.stop()
        return int(await running)

    assert go(work) == 50
    assert len(refusals) < 50


def test_what_a_late_read_found_waits_for_a_place_and_is_given_back_by_a_stop(
    place: Place, tmp_path: Path
) -> None:
    away = place.open(retry_for=3600).claim("away")
    far = tableq.open(f"sqlite://{tmp_path}/far.db")

    async def work() -> None:
        near = far.claim("near")
        away.put_batch(["x", "x"])
        begun: List[str] = []
        ends = asyncio.Event()

        async def handler(job: tableq.Job) -> None:
            begun.append(job.text)
            await ends.wait()

        sources = [tableq.Source(away, handler, precedence=1), tableq.Source(near, handler)]
        worker = tableq.AsyncWorker(sources, concurrency=2)
        with place.locked("away"):
            running = asyncio.ensure_future(worker.run())
            near.put("y")
            await _until(lambda: begun)
        await _until(lambda: len(begun) == 2)
        assert away.stats().leased == 2
        worker.stop()
        await _until(lambda: away.stats().ready == 1)
        assert begun == ["y", "x"] and not running.done()
        ends.set()
        assert await running == 2

    with far:
        go(work)


@pytest.mark.parametrize("until_empty", [False, True])
def test_close_ends_an_async_worker_that_waits_for_several_queues(
    place: Place, until_empty: bool
) -> None:
    db, other = place.open(), place.open()
    other.claim("others").put("x", delay=3600)

    async def handler(job: tableq.Job) -> None:
        pass

    sources = [tableq.Source(each.claim("others"), handler) for each in (db, other)]

    async def work() -> int:
        running = asyncio.ensure_future(
            tableq.AsyncWorker(sources, until_empty=until_empty).run()
        )
        await asyncio.sleep(0.3)
        await asyncio.get_running_loop().run_in_executor(None, other.close)
        return int(await running)

    assert go(work) == 0


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_worker_in_order(
    place: Place, jobs: tableq.ClaimQueue, number: signal.Signals
) -> None:
    jobs.put("a")
    worker = start(
        place.program(
            """
            import asyncio, signal
            async def handler(job):
                print('running', flush=True)
                while worker._stopping is None or not worker._stopping.is_set():
                    await asyncio.sleep(0.001)
                await asyncio.sleep(0.05)
            async def main():
                global worker
                worker = tableq.AsyncWorker(db.claim('jobs'), handler)
                before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
                print(await worker.run())
                print(before == (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)))
            asyncio.run(main())
            """
        )
    )
    assert worker.stdout is not None and worker.stdout.readline() == "running\n"
    worker.send_signal(number)
    assert worker.communicate(timeout=60)[0] == "1\nTrue\n"
    assert jobs.stats().leased == 0


@pytest.mark.skipif(sys.version_info < (3, 11), reason="no task tells before Python 3.11")
def test_a_handler_that_meets_the_cancel_of_another_task_has_failed(
    jobs: tableq.ClaimQueue
) -> None:
    jobs.put("a")

    async def handler(job: tableq.Job) -> None:
        other = asyncio.ensure_future(asyncio.sleep(3600))
        other.cancel()
        await other

    assert go(lambda: jobs.work_async(handler, until_empty=True)) == 0
    (dead,) = jobs.dead()
    assert [text for _, text in dead.errors] == ["CancelledError"] * 3


def test_ctrl_c_ends_an_await(place: Place) -> None:
    place.open().claim("jobs")
    waiting = start(
        place.program(
            """
            import asyncio, os, signal
            async def main():
                asyncio.get_running_loop().call_later(0.1, os.kill, os.getpid(), signal.SIGINT)
                await db.claim('jobs').take_async(wait=3600)
            try:
                asyncio.run(main())
            except KeyboardInterrupt:
                print('interrupted')
            """
        )
    )
    assert waiting.communicate(timeout=60)[0] == "interrupted\n"


def test_news_that_comes_during_a_read_is_not_lost(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The only await is in the midst of a read that has found nothing when the message comes."""
    from tableq import _async

    jobs = place.open(poll_interval=86400).claim("jobs")
    plain = type(jobs).take
    reads = 0
    in_read, go_on = threading.Event(), threading.Event()

    def slow(self: tableq.ClaimQueue, *args: Any, **kwargs: Any) -> List[tableq.Job]:
        nonlocal reads
        found = plain(self, *args, **kwargs)
        reads += 1
        if reads == 2:
            in_read.set()
            go_on.wait(60)
        return found

    monkeypatch.setattr(type(jobs), "take", slow)

    async def work() -> None:
        waiting = asyncio.ensure_future(jobs.take_async(wait=3600))
        await _until(in_read.is_set)
        jobs.put("a")
        (entry,) = _async._hub()._entries.values()
        await _until(lambda: entry.news)
        go_on.set()
        assert [job.text for job in await waiting] == ["a"]

    go(work)


async def _two_waits(jobs: tableq.ClaimQueue) -> "tuple[Any, Any, Any]":
    """Two awaits that wait for one queue, in their order, and the queue's entry in the hub."""
    from tableq import _async

    first = asyncio.ensure_future(jobs.take_async(wait=3600))
    entries = _async._hub()._entries
    await _until(lambda: entries and len(next(iter(entries.values())).waiters) == 1)
    (entry,) = entries.values()
    # The news of the beginning has been read.
    await asyncio.sleep(0.1)
    await _until(lambda: len(entry.waiters) == 1)
    second = asyncio.ensure_future(jobs.take_async(wait=3600))
    await _until(lambda: len(entry.waiters) == 2)
    return first, second, entry


def test_news_for_a_cancelled_await_is_another_awaits(place: Place) -> None:
    """Cancelled when it was told, before it could read."""
    from tableq import _async

    jobs = place.open(poll_interval=86400).claim("jobs")

    async def work() -> None:
        first, second, entry = await _two_waits(jobs)
        jobs.put("a")
        until(lambda: _async._hub()._readable() or len(entry.waiters) < 2)
        first.cancel()
        assert [job.text for job in await second] == ["a"]
        with pytest.raises(asyncio.CancelledError):
            await first

    go(work)


def test_the_read_of_a_cancelled_await_is_another_awaits(place: Place) -> None:
    """Cancelled before its read has begun."""
    db = place.open(poll_interval=86400)
    jobs = db.claim("jobs")
    go_on = threading.Event()

    async def work() -> None:
        first, second, entry = await _two_waits(jobs)
        for _ in range(8):
            db._threads().submit(go_on.wait, 60)
        jobs.put("a")
        await _until(lambda: len(entry.waiters) < 2)
        await asyncio.sleep(0.01)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        go_on.set()
        assert [job.text for job in await second] == ["a"]

    go(work)


def test_a_cancelled_worker_settles_what_its_handlers_have_done(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch([str(n) for n in range(30)])

    async def work() -> None:
        done = asyncio.Event()
        waiting = 0

        async def handler(job: tableq.Job) -> None:
            nonlocal waiting
            waiting += 1
            await done.wait()

        working = asyncio.ensure_future(jobs.work_async(handler, concurrency=30))
        await _until(lambda: waiting == 30)
        done.set()
        await asyncio.sleep(0)  # The handlers return; most settlements wait for a thread.
        await asyncio.sleep(0)
        working.cancel()
        with pytest.raises(asyncio.CancelledError):
            await working

    go(work)
    until(lambda: jobs.stats().leased == 0)
    assert jobs.stats().ready == 0


def test_work_async_refuses_a_plain_function_at_once(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")

    def plain(job: tableq.Job) -> None:
        raise AssertionError("it is called")

    class Plain:
        def method(self, job: tableq.Job) -> None:
            raise AssertionError("it is called")

    for handler in (plain, Plain().method, functools.partial(plain)):
        with pytest.raises(tableq.InvalidArgument, match="async def"):
            tableq.AsyncWorker(jobs, handler)  # type: ignore[arg-type]
    with pytest.raises(tableq.InvalidArgument, match="callable"):
        go(lambda: jobs.work_async(5))  # type: ignore[arg-type]


def test_every_handler_whose_result_can_be_awaited_works(jobs: tableq.ClaimQueue) -> None:
    async def handler(job: tableq.Job) -> None:
        pass

    @functools.wraps(handler)
    def decorated(job: tableq.Job) -> Awaitable[None]:
        return handler(job)

    class Handler:
        async def __call__(self, job: tableq.Job) -> None:
            pass

    for each in (handler, Handler().__call__, functools.partial(handler), decorated, Handler(),
                 lambda job: handler(job)):
        jobs.put("a")
        assert go(lambda: jobs.work_async(each, until_empty=True)) == 1


def test_a_result_that_cannot_be_awaited_ends_the_worker_and_fails_nothing(
    jobs: tableq.ClaimQueue
) -> None:
    jobs.put_batch(["a", "b"])
    handler: Any = lambda job: None  # noqa: E731
    with pytest.raises(tableq.InvalidArgument, match="async def"):
        go(lambda: jobs.work_async(handler))
    attempts: List[int] = []
    # A thread of the database gives back what the end of the worker has cut off.
    until(lambda: attempts.extend(job.attempt for job in jobs.take(2)) or len(attempts) == 2)
    assert attempts == [1, 1]


def test_system_exit_of_an_awaited_handler_is_a_failed_attempt(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")

    async def handler(job: tableq.Job) -> None:
        sys.exit("no licence")

    async def block() -> None:
        async with (await jobs.take_async())[0]:
            sys.exit("no licence")

    with pytest.raises(SystemExit):
        asyncio.run(block())
    assert go(lambda: jobs.work_async(handler, until_empty=True)) == 0
    (dead,) = jobs.dead()
    assert [text for _, text in dead.errors] == ["SystemExit: no licence"] * 3


def test_an_awaited_handler_that_a_signals_handler_ends_gives_its_job_back(
    jobs: tableq.ClaimQueue
) -> None:
    jobs.put("a")

    async def handler(job: tableq.Job) -> None:
        signal.raise_signal(signal.SIGUSR1)

    before = signal.signal(signal.SIGUSR1, lambda number, frame: sys.exit(7))
    try:
        with pytest.raises(SystemExit):
            asyncio.run(jobs.work_async(handler, signals=False))
    finally:
        signal.signal(signal.SIGUSR1, before)
    # A thread of the database gives it back.
    assert jobs.take(wait=60)[0].attempt == 1


def test_a_loop_may_drop_a_waiting_take(jobs: tableq.ClaimQueue) -> None:
    """As one does that is left without a cancel; it does not run then."""
    loop = asyncio.new_event_loop()
    waiting = jobs.take_async(wait=60)
    task = loop.create_task(waiting)
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    until(lambda: loop.run_until_complete(asyncio.sleep(0)) or loop in tableq._async._hubs)
    waiting.close()
    assert not tableq._async._hubs[loop]._entries
    loop.close()


def test_a_loop_that_is_closed_beside_a_waiting_take_leaves_nothing(
    jobs: tableq.ClaimQueue,
) -> None:
    loop = asyncio.new_event_loop()
    task = loop.create_task(jobs.take_async(wait=60))
    task._log_destroy_pending = False  # type: ignore[attr-defined]
    hubs = tableq._async._hubs
    until(lambda: loop.run_until_complete(asyncio.sleep(0)) or loop in hubs)
    hub = weakref.ref(hubs[loop])
    loop.close()
    del loop, task
    gc.collect()
    assert hub() is None
