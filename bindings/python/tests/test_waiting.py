"""Waits, and what ends them: a message, a signal, a close, a fork, the end of the interpreter."""

from __future__ import annotations

import _thread
import dis
import itertools
import os
import signal
import subprocess
import sys
import threading
from types import FrameType
from typing import Any, Callable, Set

import pytest

import tableq
from conftest import Place, Thread, environment, run, start, until


def test_a_waiting_read_gets_what_another_thread_puts(db: tableq.Database) -> None:
    """Which also shows that a wait does not hold the GIL."""
    mail, jobs = db.fifo("mail"), db.claim("jobs")
    reads = [Thread(lambda: mail.dequeue(wait=60)), Thread(lambda: jobs.take(wait=60))]
    mail.put("a")
    jobs.put("b")
    assert [one.payload for read in reads for one in read.result()] == [b"a", b"b"]


def test_a_waiting_read_of_the_main_thread_gets_what_another_process_puts(
    place: Place, db: tableq.Database
) -> None:
    jobs = db.claim("jobs")
    producer = start(place.program("db.claim('jobs').put('a')"))
    assert [job.text for job in jobs.take(wait=60)] == ["a"]
    producer.communicate(timeout=60)


def test_a_wait_ends_with_its_time(db: tableq.Database) -> None:
    jobs = db.claim("jobs")
    assert jobs.take(wait=0.05) == []
    assert Thread(lambda: jobs.take(wait=0.05)).result() == []


WAITS = {
    "take": "db.claim('jobs').take(wait=3600)",
    "dequeue": "db.fifo('mail').dequeue(wait=float('inf'))",
    "put into a full queue": """
mail = db.fifo('full')
mail.set_limits(tableq.Limits(capacity=1))
mail.put('a')
mail.put('b', wait=3600)""",
    "redrive": """
jobs = db.claim('slow', max_attempts=1)
jobs.put_batch([str(n) for n in range(3000)])
jobs.fail_batch(jobs.take(3000), 'x')
jobs.redrive_all(per_second=0.001)""",
}


@pytest.mark.parametrize("pause", [0, 0.1])
@pytest.mark.parametrize("wait", list(WAITS))
def test_ctrl_c_ends_a_wait(place: Place, wait: str, pause: float) -> None:
    """Without a pause the signal comes while the wait begins."""
    place.open().fifo("mail")
    waiting = start(
        place.program(
            f"""
import os, signal, threading, time
def interrupt():
    while not db._stops:
        time.sleep(0.001)
    time.sleep({pause})
    os.kill(os.getpid(), signal.SIGINT)
threading.Thread(target=interrupt, daemon=True).start()
try:
{_indented(WAITS[wait])}
except KeyboardInterrupt:
    print('interrupted')
"""
        )
    )
    assert waiting.communicate(timeout=60)[0] == "interrupted\n"


def test_an_interrupt_in_the_instant_of_a_message_ends_the_wait_and_gives_it_back(
    db: tableq.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs = db.claim("jobs")
    raised = []

    class Lock:
        def __init__(self) -> None:
            self._lock = threading.Lock()
            self.release = self._lock.release

        def acquire(self, **given: float) -> bool:
            """A signal's handler raises just after the lock was acquired."""
            got = self._lock.acquire(**given)
            if got and given and not raised:
                raised.append(True)
                raise KeyboardInterrupt
            return got

    class Threads:
        allocate_lock = Lock
        start_new_thread = staticmethod(_thread.start_new_thread)

    def enqueue() -> None:
        until(lambda: db._stops)
        jobs.put("a")

    monkeypatch.setattr(tableq._database, "_thread", Threads)
    enqueuing = Thread(enqueue)
    with pytest.raises(KeyboardInterrupt):
        jobs.take(wait=3600)
    enqueuing.result()
    assert (jobs.stats().ready, jobs.stats().leased) == (1, 0)


def _interrupted_at(step: int, work: Callable[[], Any]) -> Any:
    """Runs `work`. A signal's handler raises after that call which Python makes in the package."""
    package = os.path.dirname(tableq.__file__)
    left = step
    called: Set[int] = set()  # Frames by their ids: nothing keeps what they have.

    def trace(frame: FrameType, event: str, argument: Any) -> Any:
        nonlocal left
        if not frame.f_code.co_filename.startswith(package):
            return None
        frame.f_trace_opcodes = True
        if event == "opcode":
            if id(frame) in called:  # Handlers run then, and before the first step of a function.
                called.discard(id(frame))
                left -= 1
                if left == 0:
                    raise KeyboardInterrupt
            if dis.opname[frame.f_code.co_code[frame.f_lasti]].startswith("CALL"):
                called.add(id(frame))
        return trace

    sys.settrace(trace)
    try:
        return work()
    finally:
        sys.settrace(None)


@pytest.mark.parametrize("take", ["take", "take_one"])
def test_an_interrupt_at_any_step_of_a_take_leaves_no_lease(
    db: tableq.Database, take: str
) -> None:
    jobs = db.claim("jobs")
    jobs.put("a")
    for step in itertools.count(1):
        try:
            assert _interrupted_at(step, getattr(jobs, take))
            break
        except KeyboardInterrupt:
            stats = jobs.stats()
            assert (stats.ready, stats.leased) == (1, 0), f"step {step}"
    assert step > 20


def test_an_interrupt_at_any_step_leaves_no_transaction_open(db: tableq.Database) -> None:
    jobs = db.claim("jobs")
    kept = []

    def put() -> None:
        with db.transaction() as tx:
            kept.append(tx)
            jobs.put("a", tx=tx)

    for step in itertools.count(1):
        try:
            _interrupted_at(step, put)
            break
        except KeyboardInterrupt:
            pass  # Its traceback holds what the frames have.
        jobs.put("b")  # It would be refused beside an open transaction of the thread.
    assert step > 20
    assert not any(tx.active for tx in kept)


@pytest.mark.parametrize("wait", [0, 60])
def test_an_interrupt_while_a_read_takes_messages_gives_them_back(
    db: tableq.Database, monkeypatch: pytest.MonkeyPatch, wait: int
) -> None:
    """A signal's handler runs when the call in C has returned."""
    jobs = db.claim("jobs")
    jobs.put_batch(["a", "b"])
    plain = tableq._lease.call

    def interrupted(function: object, *arguments: object) -> None:
        monkeypatch.undo()
        plain(function, *arguments)
        raise KeyboardInterrupt

    monkeypatch.setattr(tableq._lease, "call", interrupted)
    with pytest.raises(KeyboardInterrupt):
        jobs.take(2, wait=wait)
    assert (jobs.stats().ready, jobs.stats().leased) == (2, 0)


def _indented(text: str) -> str:
    return "\n".join("    " + line for line in text.strip().splitlines())


def test_a_handler_of_the_application_runs_in_a_wait(place: Place, db: tableq.Database) -> None:
    """And the wait goes on if it does not raise."""
    db.claim("jobs")
    waiting = start(
        place.program(
            """
            import signal
            signal.signal(signal.SIGUSR1, lambda *_: print('handled', flush=True))
            print('ready', flush=True)
            print(db.claim('jobs').take_one(wait=3600).text)
            """
        )
    )
    assert waiting.stdout is not None and waiting.stdout.readline() == "ready\n"
    waiting.send_signal(signal.SIGUSR1)
    assert waiting.stdout.readline() == "handled\n"
    db.claim("jobs").put("a")
    assert waiting.communicate(timeout=60)[0] == "a\n"


def test_an_interrupted_take_gives_back_what_it_got(place: Place, jobs: tableq.ClaimQueue) -> None:
    """The message comes while the handler of the signal runs."""
    interrupted = start(
        place.program(
            """
            import os, signal, threading
            jobs = db.claim('jobs')
            class Stop(Exception): pass
            def handler(*_):
                print('in the handler', flush=True)
                sys.stdin.readline()
                raise Stop
            signal.signal(signal.SIGUSR1, handler)
            def ready():
                while not db._stops: pass
                print('ready', flush=True)
            threading.Thread(target=ready, daemon=True).start()
            try:
                jobs.take(wait=3600)
            except Stop:
                print('stopped', flush=True)
            """
        ),
        stdin=subprocess.PIPE,
    )
    assert interrupted.stdin is not None and interrupted.stdout is not None
    assert interrupted.stdout.readline() == "ready\n"
    interrupted.send_signal(signal.SIGUSR1)
    assert interrupted.stdout.readline() == "in the handler\n"
    jobs.put("a")
    until(lambda: next(jobs.messages("leased"), None) is not None)
    interrupted.communicate("go on\n", timeout=60)
    (job,) = jobs.take()
    assert job.attempt == 1


def test_close_ends_the_waits_of_other_threads(db: tableq.Database) -> None:
    jobs, mail = db.claim("jobs"), db.fifo("mail")
    waits = [Thread(lambda: jobs.take(wait=3600)), Thread(lambda: mail.dequeue(wait=3600))]
    until(lambda: len(db._stops) == 2)
    db.close()
    assert [wait.result() for wait in waits] == [[], []]


def test_a_daemon_thread_that_waits_does_not_hold_up_the_end(place: Place) -> None:
    place.open().claim("jobs")
    ended = run(
        place.program(
            """
            import threading
            jobs = db.claim('jobs')
            threading.Thread(target=lambda: jobs.take(wait=3600), daemon=True).start()
            while not db._stops: pass
            print('end')
            """
        )
    )
    assert ended.stdout == "end\n"


def test_objects_that_are_left_open_do_not_hold_up_the_end(place: Place) -> None:
    ended = run(
        place.program(
            """
            mail, jobs = db.fifo('mail'), db.claim('jobs')
            jobs.put('a')
            keeper = db.keeper()
            job = jobs.take_one()
            keeper.add(job)
            tx = db.transaction()
            mail.put('x', tx=tx)
            print('end')
            """
        )
    )
    assert ended.stdout == "end\n"
    assert place.open().fifo("mail").stats().waiting == 0


def test_a_child_of_fork_is_told_and_its_end_touches_nothing(
    place: Place, db: tableq.Database
) -> None:
    db.fifo("mail")
    ended = run(
        place.program(
            """
            import os, gc
            mail, jobs = db.fifo('mail'), db.claim('jobs')
            jobs.put('a')
            (job,) = jobs.take()
            keeper = db.keeper()
            keeper.add(job)
            tx = db.transaction()
            mail.put('x', tx=tx)
            sys.stdout.flush()
            if os.fork() == 0:
                told = []
                for call in (lambda: mail.put('y'), lambda: jobs.take(), lambda: job.complete(),
                             lambda: mail.put('z', tx=tx), lambda: db.fifo('other'), keeper.lost,
                             lambda: db.transaction(), lambda: jobs.take(wait=5)):
                    try:
                        call()
                    except tableq.InvalidArgument as error:
                        told.append('fork' in str(error))
                assert job.payload == b'a'
                db.close()
                del mail, jobs, job, tx, keeper, db
                gc.collect()
                print(told, flush=True)
                os._exit(0)
            os.wait()
            tx.commit()
            print(mail.dequeue_one().text, job.complete())
            """
        )
    )
    assert ended.stdout == f"{[True] * 8}\nx True\n"


def test_a_child_of_fork_ends_without_waiting_for_calls_of_the_parent(place: Place) -> None:
    ended = run(
        place.program(
            """
            import os, threading, time
            jobs = db.claim('jobs')
            waiting = threading.Thread(target=lambda: jobs.take(wait=1000))
            waiting.start()
            while not db._stops:
                time.sleep(0.001)
            pause, child = time.sleep, os.fork()
            if child == 0:
                time.sleep = lambda seconds: (print('waits', flush=True), pause(seconds))
                sys.exit(0)
            print(os.waitpid(child, 0)[1])
            db.close()
            waiting.join()
            """
        )
    )
    assert ended.stdout == "0\n"


@pytest.mark.parametrize("place", ["postgresql"], indirect=True)
def test_a_child_of_fork_may_open_its_own(place: Place) -> None:
    """A SQLite file that the parent had open is refused there."""
    ended = run(
        place.program(
            f"""
            import multiprocessing
            db.fifo('mail').put('a')
            def work(queue):
                with tableq.open({place.url!r}, **{place.options!r}) as mine:
                    queue.put(mine.fifo('mail').dequeue_one().text)
            context = multiprocessing.get_context('fork')
            queue = context.Queue()
            child = context.Process(target=work, args=(queue,))
            child.start()
            print(queue.get(timeout=60))
            child.join()
            print(child.exitcode, db.fifo('mail').stats().waiting)
            """
        )
    )
    assert ended.stdout == "a\n0 0\n"


def test_many_threads_share_one_database(db: tableq.Database) -> None:
    jobs = db.claim("jobs")
    jobs.put_batch([str(n) for n in range(200)])
    seen = []

    def work() -> None:
        while taken := jobs.take(3):
            seen.extend(job.text for job in taken)
            assert all(jobs.complete_batch(taken))

    for thread in [Thread(work) for _ in range(8)]:
        thread.result()
    assert sorted(seen, key=int) == [str(n) for n in range(200)]


def test_a_close_beside_running_calls_is_safe(place: Place) -> None:
    for _ in range(5):
        db = place.open()
        mail = db.fifo("mail")
        begun = threading.Barrier(5)

        def work() -> int:
            begun.wait()
            done = 0
            try:
                while True:
                    mail.put("x")
                    done += 1
            except tableq.InvalidArgument:
                return done

        threads = [Thread(work) for _ in range(4)]
        begun.wait()
        db.close()
        for thread in threads:
            thread.result()


def test_a_handle_whose_constructor_was_interrupted_ends_quietly(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    from tableq import _handles

    told: List[Any] = []
    monkeypatch.setattr(sys, "unraisablehook", told.append)
    unmade = _handles.Pointer.__new__(_handles.Pointer)
    del unmade
    assert not told


def test_a_database_closes_while_others_open_queues(place: Place) -> None:
    for _ in range(20):
        db = place.open()
        db.heap("mail")
        begun = threading.Barrier(3)

        def work() -> None:
            begun.wait()
            kept = []
            try:
                while True:
                    kept.append(db.heap("mail"))
            except tableq.InvalidArgument:
                return

        threads = [Thread(work) for _ in range(2)]
        begun.wait()
        db.close()
        for thread in threads:
            thread.result()


def test_the_library_is_found_by_name_and_its_absence_is_told() -> None:
    missing = subprocess.run(
        [sys.executable, "-c", "import tableq"],
        env={**environment(), "TABLEQ_LIBRARY": "/nonexistent/libtableq.so.0"},
        stderr=subprocess.PIPE,
        text=True,
    )
    assert missing.returncode == 1
    assert "TABLEQ_LIBRARY" in missing.stderr and "/nonexistent" in missing.stderr
    folder = os.path.dirname(os.path.abspath(os.environ["TABLEQ_LIBRARY"]))
    by_name = {k: v for k, v in environment().items() if k != "TABLEQ_LIBRARY"}
    found = subprocess.run(
        [sys.executable, "-c", "import tableq; print(tableq.version_of_library())"],
        env={**by_name, "LD_LIBRARY_PATH": folder},
        stdout=subprocess.PIPE,
        text=True,
        check=True,
    )
    assert found.stdout == tableq.version_of_library() + "\n"
