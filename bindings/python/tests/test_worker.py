"""Workers with threads."""

from __future__ import annotations

import asyncio
import contextlib
import ctypes
import gc
import logging
import os
import signal
import sys
import threading
import weakref
from pathlib import Path
from typing import Any, List

import pytest

import tableq
from conftest import Place, Thread, start, until
from tableq._async import AsyncWorker
from tableq._worker import Worker


def test_a_worker_completes_and_fails(
    jobs: tableq.ClaimQueue, caplog: pytest.LogCaptureFixture
) -> None:
    jobs.put_batch([str(n) for n in range(20)] + ["bad"])
    seen = []

    def handler(job: tableq.Job) -> None:
        if job.text == "bad":
            raise ValueError("no number")
        seen.append(int(job.text))

    assert jobs.work(handler, threads=4, until_empty=True) == 20
    assert sorted(seen) == list(range(20))
    (dead,) = jobs.dead()
    assert [text for _, text in dead.errors] == ["ValueError: no number"] * 3
    assert caplog.records


def test_handlers_run_beside_each_other(jobs: tableq.ClaimQueue) -> None:
    jobs.put_batch(["1", "2", "3"])
    together = threading.Barrier(3)
    assert jobs.work(lambda job: together.wait(60), threads=3, until_empty=True) == 3


def test_a_handler_may_settle_its_job_or_say_more(
    db: tableq.Database, jobs: tableq.ClaimQueue
) -> None:
    sent = db.fifo("sent")
    jobs.put_batch(["own", "tx", "later", "never"])

    def handler(job: tableq.Job) -> None:
        if job.text == "own":
            job.fail("mine", give_up=True)
        elif job.text == "tx":
            with db.transaction() as tx:
                sent.put("x", tx=tx)
                job.complete(tx=tx)
        elif job.text == "later":
            if job.attempt == 1:
                raise tableq.Retry("not yet", delay=0.1)
        else:
            raise tableq.GiveUp("no use")

    jobs.work(handler, until_empty=True)
    stats = jobs.stats()
    assert (stats.dead, stats.delayed, stats.ready, stats.leased) == (2, 0, 0, 0)
    assert sent.stats().waiting == 1


def test_a_coroutine_that_work_does_not_await_completes_nothing(jobs: tableq.ClaimQueue) -> None:
    async def handler(job: tableq.Job) -> None:
        pass

    with pytest.raises(tableq.InvalidArgument, match="work_async"):
        jobs.work(handler)
    jobs.put("a")
    coroutines = []

    def hidden(job: tableq.Job) -> object:
        coroutines.append(handler(job))
        return coroutines[-1]

    assert jobs.work(hidden, until_empty=True) == 0
    for coroutine in coroutines:
        coroutine.close()
    (dead,) = jobs.dead()
    assert "work_async" in dead.errors[0][1]


def test_a_worker_of_a_thread_is_stopped_by_another(jobs: tableq.ClaimQueue) -> None:
    worker = tableq.Worker(jobs, lambda job: None, threads=2)
    running = Thread(worker.run)
    jobs.put("a")
    until(lambda: not jobs.stats().ready and not jobs.stats().leased)
    worker.stop()
    assert running.result() == 1


def test_leases_are_extended_while_a_handler_holds_the_gil(db: tableq.Database) -> None:
    jobs = db.claim("short", lease=0.4)
    jobs.put("a")
    attempts = []

    def handler(job: tableq.Job) -> None:
        attempts.append(job.attempt)
        # A call of PyDLL keeps the GIL: no thread of Python runs meanwhile.
        ctypes.PyDLL(None).usleep(1_500_000)

    assert jobs.work(handler, threads=2, until_empty=True) == 1
    assert attempts == [1]


def test_a_handler_is_told_of_a_lost_lease(place: Place, db: tableq.Database) -> None:
    jobs = db.claim("short", lease=0.3)
    jobs.put("a")
    other = place.open().claim("short")
    told = []

    def handler(job: tableq.Job) -> None:
        other.complete(job.receipt)
        until(lambda: job.lost)
        told.append(job.text)

    assert jobs.work(handler, until_empty=True) == 0
    assert told == ["a"]


def test_a_lasting_failure_ends_the_worker(place: Place, db: tableq.Database) -> None:
    jobs = db.claim("jobs")
    jobs.put("a")

    def handler(job: tableq.Job) -> None:
        place.open().drop("jobs")

    with pytest.raises(tableq.Error):
        jobs.work(handler, threads=2)


def test_system_exit_of_a_handler_is_a_failed_attempt(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")

    def handler(job: tableq.Job) -> None:
        sys.exit("no licence")

    assert jobs.work(handler, until_empty=True) == 0
    (dead,) = jobs.dead()
    assert [text for _, text in dead.errors] == ["SystemExit: no licence"] * 3


def test_system_exit_by_the_applications_signal_handler_ends_the_worker(
    place: Place, jobs: tableq.ClaimQueue
) -> None:
    jobs.put("a")
    worker = start(
        place.program(
            """
            import signal, threading
            signal.signal(signal.SIGTERM, lambda number, frame: sys.exit(7))
            def handler(job):
                print('running', flush=True)
                threading.Event().wait()
            db.claim('jobs').work(handler, signals=False)
            """
        )
    )
    assert worker.stdout is not None and worker.stdout.readline() == "running\n"
    worker.send_signal(signal.SIGTERM)
    worker.communicate(timeout=60)
    assert worker.returncode == 7
    assert jobs.take()[0].attempt == 1


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_a_worker_in_order(
    place: Place, jobs: tableq.ClaimQueue, number: signal.Signals
) -> None:
    jobs.put_batch(["1", "2", "3"])
    worker = start(
        place.program(
            """
            import signal, threading
            begun = threading.Barrier(2)
            told = threading.Event()
            def handler(job):
                if begun.wait() == 0:
                    print('running', flush=True)
                assert told.wait(60)
            jobs = db.claim('jobs')
            worker = tableq.Worker(jobs, handler, threads=2)
            # The handlers go on after the signal, and are waited for.
            stop = worker.stop
            def stopped():
                stop()
                threading.Timer(0.3, told.set).start()
            worker.stop = stopped
            before = signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)
            print(worker.run())
            print(before == (signal.getsignal(signal.SIGTERM), signal.getsignal(signal.SIGINT)))
            """
        )
    )
    assert worker.stdout is not None and worker.stdout.readline() == "running\n"
    worker.send_signal(number)
    assert worker.communicate(timeout=60)[0] == "2\nTrue\n"
    stats = jobs.stats()
    assert (stats.ready, stats.leased) == (1, 0)


@pytest.mark.parametrize(
    "work",
    [
        """
            import threading
            def handler(job):
                print('running', flush=True)
                threading.Event().wait()
            def work():
                db.claim('jobs').work(handler)
        """,
        """
            import asyncio
            async def handler(job):
                print('running', flush=True)
                await asyncio.Event().wait()
            def work():
                asyncio.run(db.claim('jobs').work_async(handler))
        """,
    ],
    ids=["threads", "asyncio"],
)
def test_a_second_signal_gives_the_messages_back(
    place: Place, jobs: tableq.ClaimQueue, work: str
) -> None:
    jobs.put("a")
    worker = start(
        place.program(
            work
            + """
            try:
                work()
            except KeyboardInterrupt:
                print('interrupted', flush=True)
            """
        )
    )
    assert worker.stdout is not None and worker.stdout.readline() == "running\n"
    worker.send_signal(signal.SIGTERM)
    worker.send_signal(signal.SIGINT)
    assert worker.communicate(timeout=60)[0] == "interrupted\n"
    assert jobs.take()[0].attempt == 1


def test_the_grace_bounds_the_end(place: Place, jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")
    worker = start(
        place.program(
            """
            import threading
            def handler(job):
                print('running', flush=True)
                threading.Event().wait()
            print(db.claim('jobs').work(handler, grace=0.1), flush=True)
            """
        )
    )
    assert worker.stdout is not None and worker.stdout.readline() == "running\n"
    worker.send_signal(signal.SIGTERM)
    assert worker.communicate(timeout=60)[0] == "0\n"
    assert jobs.take()[0].attempt == 1


def test_close_ends_a_worker(db: tableq.Database, jobs: tableq.ClaimQueue) -> None:
    running = Thread(lambda: jobs.work(lambda job: None, threads=3))
    jobs.put("a")
    until(lambda: not jobs.stats().ready and not jobs.stats().leased)
    db.close()
    assert running.result() == 1


def test_close_ends_a_worker_that_has_just_taken(
    db: tableq.Database, jobs: tableq.ClaimQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    plain = tableq.Keeper.add

    def late(self: tableq.Keeper, job: tableq.Job, *lease: Any) -> None:
        db.close()
        plain(self, job, *lease)

    monkeypatch.setattr(tableq.Keeper, "add", late)
    jobs.put("a")
    assert jobs.work(lambda job: None, threads=2) == 0


def test_a_refused_completion_fails_the_job(
    place: Place, jobs: tableq.ClaimQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A trigger of the application refuses the deletion. No error needs the garbage collector."""
    monkeypatch.setattr(logging.getLogger("tableq"), "disabled", True)  # pytest keeps records
    connection = place.connect()
    cursor = connection.cursor()
    if place.backend == "sqlite":
        cursor.execute(
            "CREATE TRIGGER never BEFORE DELETE ON jobs BEGIN SELECT RAISE(ABORT, 'not this'); END"
        )
    else:
        schema = place.options["schema_name"]
        cursor.execute(
            f"CREATE FUNCTION {schema}.never() RETURNS trigger LANGUAGE plpgsql AS "
            "$$BEGIN RAISE EXCEPTION 'not this' USING ERRCODE = 'check_violation'; END$$"
        )
        cursor.execute(
            f"CREATE TRIGGER never BEFORE DELETE ON {schema}.jobs FOR EACH ROW "
            f"EXECUTE FUNCTION {schema}.never()"
        )
    connection.commit()
    connection.close()
    jobs.put("a")
    gc.collect()
    gc.disable()
    try:
        assert jobs.work(lambda job: None, until_empty=True) == 0
        kept = [each for each in gc.get_objects() if isinstance(each, tableq.ConstraintViolated)]
        assert not kept
    finally:
        gc.enable()
    (dead,) = jobs.dead()
    assert dead.attempts == 3 and dead.errors[0][1].startswith("ConstraintViolated")


@pytest.mark.parametrize("threads", [0, 1001, True, "4"])
def test_a_wrong_number_of_threads_is_refused(jobs: tableq.ClaimQueue, threads: int) -> None:
    with pytest.raises(tableq.InvalidArgument, match="threads"):
        jobs.work(lambda job: None, threads=threads)


def test_a_worker_of_a_closed_database_leaves_nothing_open(
    db: tableq.Database, jobs: tableq.ClaimQueue
) -> None:
    db.close()
    gc.collect()  # what earlier tests have left
    before = os.listdir("/proc/self/fd")
    with pytest.raises(tableq.InvalidArgument, match="closed"):
        jobs.work(lambda job: None)
    assert os.listdir("/proc/self/fd") == before


def test_a_signal_handler_of_c_is_left_alone(
    jobs: tableq.ClaimQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Python tells None of one, in a program that it is a part of, and takes none back."""
    handler_of = signal.getsignal
    at_first = handler_of(signal.SIGTERM)
    monkeypatch.setattr(signal, "getsignal", lambda number: None)
    jobs.put("a")
    seen = []
    jobs.work(lambda job: seen.append(handler_of(signal.SIGTERM)), until_empty=True)
    assert seen == [at_first]


def test_a_late_stop_writes_into_no_other_file(
    jobs: tableq.ClaimQueue, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The end of the worker closes a descriptor, whose number the program may have again."""
    worker = Worker(jobs, lambda job: None)
    running = Thread(worker.run)
    until(lambda: worker._alive == 1)
    files = []

    def kept_open() -> bool:
        free = worker._lock.acquire(blocking=False)
        if free:
            worker._lock.release()
        return not free

    write = os.write

    def late(descriptor: int, data: bytes) -> int:
        here = threading.current_thread() is threading.main_thread()
        if here and not Thread(kept_open).result():
            running.result()
            files.extend(open(tmp_path / str(n), "wb") for n in range(9))
        return write(descriptor, data)

    monkeypatch.setattr(os, "write", late)
    worker.stop()
    assert running.result() == 0
    for file in files:
        file.close()
    assert [file.name for file in files if os.path.getsize(file.name)] == []


def test_several_queues_share_the_threads_of_a_worker(place: Place, tmp_path: Path) -> None:
    near = place.open()
    far = tableq.open(f"sqlite://{tmp_path}/far.db")
    with far:
        orders, mails, remote = near.claim("orders"), near.claim("mails"), far.claim("remote")
        done = []

        def handler(name: str) -> Any:
            return lambda job: done.append((name, job.text))

        worker = tableq.Worker(
            [
                tableq.Source(orders, handler("orders")),
                tableq.Source(mails, handler("mails")),
                tableq.Source(remote, handler("remote")),
            ],
            threads=2,
        )
        running = Thread(worker.run)
        for queue in (orders, mails, remote, mails):
            queue.put("x")  # While all threads wait.
            queue.put_batch(["y"] * 20)
        until(lambda: len(done) == 84)
        worker.stop()
        assert running.result() == 84
        assert done.count(("mails", "y")) == 40
        assert done.count(("remote", "y")) == 20


def test_the_sources_of_a_worker_have_precedence_and_weight(db: tableq.Database) -> None:
    urgent, many, few = db.claim("urgent"), db.claim("many"), db.claim("few")
    done = []
    for queue in (few, many, urgent):
        queue.put_batch([queue.name] * 12)
    sources = [
        tableq.Source(few, lambda job: done.append(job.text)),
        tableq.Source(many, lambda job: done.append(job.text), weight=3),
        tableq.Source(urgent, lambda job: done.append(job.text), precedence=1),
    ]
    assert tableq.Worker(sources, until_empty=True).run() == 36
    assert done[:12] == ["urgent"] * 12
    assert done[12:28].count("many") == 12 and done[12:28].count("few") == 4


def test_a_database_that_is_away_holds_up_only_its_own_queues(
    db: tableq.Database, jobs: tableq.ClaimQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    away = db.claim("away")
    refusals = []

    def refuse(*arguments: Any) -> Any:
        refusals.append(1)
        raise tableq.ConnectionFailed("tableq: the database is away")

    monkeypatch.setattr(away, "_take", refuse)
    jobs.put_batch(["x"] * 50)
    done = []
    worker = tableq.Worker(
        [
            tableq.Source(away, print, precedence=1),
            tableq.Source(jobs, lambda job: done.append(job.text)),
        ],
        threads=2,
    )
    running = Thread(worker.run)
    until(lambda: len(done) == 50 and len(refusals) > 2)
    worker.stop()
    assert running.result() == 50
    assert len(refusals) < 50


def begin_worker(kind: Any, sources: List[tableq.Source]) -> "Thread":
    """A worker that handles at most two messages at a time, until the queues are empty."""
    if kind is tableq.Worker:
        return Thread(kind(sources, threads=2, until_empty=True).run)

    def awaited(handler: Any) -> Any:
        async def handle(job: tableq.Job) -> None:
            await asyncio.get_running_loop().run_in_executor(None, handler, job)

        return handle

    sources = [each._replace(handler=awaited(each.handler)) for each in sources]
    worker = kind(sources, concurrency=2, until_empty=True)
    return Thread(lambda: asyncio.run(worker.run()))


@pytest.mark.parametrize("kind", [tableq.Worker, tableq.AsyncWorker])
@pytest.mark.parametrize("waits", ["a read", "settlements"])
def test_a_call_without_an_answer_holds_up_only_its_own_database(
    place: Place, tmp_path: Path, kind: Any, waits: str
) -> None:
    away = place.open(retry_for=3600).claim("away", lease=3600)
    away.put_batch(["x"] * 2)
    done: List[str] = []
    begun = threading.Semaphore(0)
    silent = threading.Event()

    def handle(job: tableq.Job) -> None:
        begun.release()
        assert silent.wait(60)
        done.append(job.text)

    with tableq.open(f"sqlite://{tmp_path}/near.db") as db, contextlib.ExitStack() as lock:
        near = db.claim("near")
        sources = [
            tableq.Source(away, handle, precedence=1),
            tableq.Source(near, lambda job: done.append(job.text)),
        ]
        if waits == "a read":
            lock.enter_context(place.locked("away"))
            running = begin_worker(kind, sources)
        else:
            running = begin_worker(kind, sources)
            assert all(begun.acquire(timeout=60) for _ in range(2))
            lock.enter_context(place.locked("away"))
        silent.set()
        for _ in range(3):
            near.put_batch(["y"] * 10)
            until(lambda: near.stats().leased + near.stats().ready == 0)
        assert done.count("y") == 30
        assert done.count("x") == (0 if waits == "a read" else 2)
        lock.close()
        assert running.result() == 32
        assert done.count("x") == 2
        assert away.stats().leased == 0


@pytest.mark.parametrize("kind", [tableq.Worker, tableq.AsyncWorker])
def test_wrong_sources_of_a_worker_are_refused(
    db: tableq.Database, jobs: tableq.ClaimQueue, kind: Any
) -> None:
    handler: Any = lambda job: None  # noqa: E731
    good: Any = tableq.Source(jobs, handler)
    for wrong in ([], [good] * 101, [jobs], ["x"], "x", 5, None, good, jobs):
        with pytest.raises(tableq.InvalidArgument):
            kind(wrong)
    for wrong in (5, None, "x", [jobs]):
        with pytest.raises(tableq.InvalidArgument, match="tableq.Source"):
            kind(wrong)
    for queue in (5, db):
        with pytest.raises(tableq.InvalidArgument, match="the queue of a worker is a LeaseQueue"):
            kind([good._replace(queue=queue)])
    with pytest.raises(tableq.InvalidArgument, match="claim or a table, not fifo; dequeue"):
        kind([good._replace(queue=db.fifo("mail"))])
    with pytest.raises(tableq.InvalidArgument, match="claim or a table, not fifo; dequeue"):
        kind(db.fifo("mail"), handler)
    for number in (0, 1001, True, 1.5):
        with pytest.raises(tableq.InvalidArgument, match="weight"):
            kind([good._replace(weight=number)])
    with pytest.raises(tableq.InvalidArgument, match="each Source"):
        kind([good], handler)
    with pytest.raises(tableq.InvalidArgument, match="callable"):
        kind([good._replace(handler=5)])
    for name, value in (("lease", "5"), ("until_empty", "no"), ("grace", "5"), ("grace", -1)):
        with pytest.raises(tableq.InvalidArgument, match=name):
            kind(jobs, handler, **{name: value})


def test_close_ends_a_worker_that_waits_for_several_queues(place: Place) -> None:
    db = place.open()
    queues = db.claim("jobs"), db.claim("others")
    worker = tableq.Worker([tableq.Source(each, print) for each in queues], threads=3)
    running = Thread(worker.run)
    until(lambda: worker._alive == 3)
    db.close()
    assert running.result() == 0


class Noted(Exception):
    """Raised by a handler; each is in `all` until it is freed."""

    all: "weakref.WeakSet[Noted]" = weakref.WeakSet()

    def __init__(self) -> None:
        self.all.add(self)


def fail(job: tableq.Job) -> None:
    raise Noted


async def fail_async(job: tableq.Job) -> None:
    raise Noted


def test_a_failed_attempt_needs_no_garbage_collector(
    jobs: tableq.ClaimQueue, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A worker may run where gc is off, or frozen before a fork."""
    monkeypatch.setattr(logging.getLogger("tableq"), "disabled", True)  # pytest keeps records
    gc.disable()
    try:
        jobs.put("a")
        jobs.work(fail, until_empty=True)
        assert not Noted.all
        jobs.put("a")
        asyncio.run(jobs.work_async(fail_async, until_empty=True))
        assert not Noted.all
        with pytest.raises(Noted):
            jobs.database._beside(fail)  # type: ignore[arg-type]
        assert not Noted.all
    finally:
        gc.enable()


def test_a_worker_that_waits_keeps_no_message(jobs: tableq.ClaimQueue) -> None:
    kept = []
    jobs.put("a")
    worker = tableq.Worker(jobs, lambda job: kept.append(weakref.ref(job._rows)))
    running = Thread(worker.run)
    until(lambda: kept and kept[0]() is None)
    worker.stop()
    assert running.result() == 1


def test_an_async_worker_that_waits_keeps_no_message(jobs: tableq.ClaimQueue) -> None:
    jobs.put("a")

    async def handler(job: tableq.Job) -> None:
        kept.append(weakref.ref(job._rows))

    async def main() -> int:
        worker = AsyncWorker(jobs, handler)
        running = asyncio.ensure_future(worker.run())
        while not kept or kept[0]() is not None:
            await asyncio.sleep(0.001)
        worker.stop()
        return await running

    kept: "list[weakref.ref[Any]]" = []
    assert asyncio.run(asyncio.wait_for(main(), 60)) == 1


def test_a_close_beside_the_news_of_a_lost_lease_ends_a_worker(
    place: Place, monkeypatch: pytest.MonkeyPatch
) -> None:
    db, other = place.open(), place.open()
    jobs, theirs = db.claim("jobs"), other.claim("jobs")
    jobs.put("a")
    monkeypatch.setattr(
        tableq.Keeper, "closed", property(lambda keeper: db.close() or False)  # as it was just now
    )

    def handler(job: tableq.Job) -> None:
        assert theirs.complete(job.receipt)
        until(lambda: db.closed)

    running = Thread(tableq.Worker(jobs, handler, lease=0.3).run)
    assert running.result() == 0
    other.close()
