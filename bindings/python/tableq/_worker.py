"""A worker with threads."""

from __future__ import annotations

import concurrent.futures
import contextlib
import functools
import inspect
import os
import select
import signal
import threading
import time
from types import FrameType
from typing import TYPE_CHECKING, Any, Callable, Dict, Iterable, List, Optional, Set, TypeVar, Union

from ._errors import Error, InvalidArgument
from ._exits import ending_signals
from ._handles import FOR_READ, Duration, Options, Stop
from ._keeper import Keeper
from ._messages import Job, log
from ._sources import PATIENCE, Choice, Source, Turn
from ._verdict import passes, settle
from ._worker_base import WorkerBase

if TYPE_CHECKING:
    from ._database import Database
    from ._lease import LeaseQueue

T = TypeVar("T")

_WAIT_MS = 3600 * 1000
_EMPTY_WAIT_MS = 200

# A signal that comes just before the main thread sleeps does not wake it: it looks that often.
_SIGNAL_MS = 100.0

_NOT_AWAITED = "tableq: the handler is a coroutine, which work does not await: use work_async"


def _refusal(handler: Any) -> Optional[str]:
    return _NOT_AWAITED if inspect.iscoroutinefunction(handler) else None


class Worker(WorkerBase):
    """Takes messages and gives each to a handler, in threads of its own: see `ClaimQueue.work`.
    Several queues may share the threads: `Worker([Source(orders, ship), Source(mails, send)])`.

    `run` returns when it has ended; `stop`, from any thread or handler, ends it in order.
    """

    def __init__(
        self,
        queue: "Union[LeaseQueue, Iterable[Source]]",
        handler: Optional[Callable[[Job], Any]] = None,
        threads: int = 1,
        lease: Optional[Duration] = None,
        until_empty: bool = False,
        grace: Optional[Duration] = None,
    ) -> None:
        if isinstance(threads, bool) or not isinstance(threads, int) or not 1 <= threads <= 1000:
            raise InvalidArgument("tableq: threads is 1 to 1,000")
        super().__init__(queue, handler, _refusal, lease, until_empty, grace)
        self._count = threads
        self._alone = len(self._databases) == 1  # No other one waits for it.
        self._asked: "Optional[concurrent.futures.Future[bool]]" = None  # Whether all is empty.
        self._late: "Set[concurrent.futures.Future[None]]" = set()  # Settlements.
        self._alive = 0
        self._ending = threading.Event()
        self._stop = Stop()
        self._wake: List[int] = []

    def stop(self) -> None:
        """Takes no more messages; running handlers finish. Returns at once."""
        self._ending.set()
        self._stop.request()
        self._poke()

    def run(self, signals: bool = True) -> int:
        """Works until it is stopped. Returns how many messages its handlers have done,
        also those that they have settled themselves.

        signals: in the main thread, SIGTERM and SIGINT stop it.
        """
        if self._wake:
            raise InvalidArgument("tableq: a worker runs once")
        before: Dict[int, Any] = {}
        threads: List[threading.Thread] = []
        choice = Choice(self._sources, self._lock, watched=len(self._sources) > 1)
        self._keepers = {key: each.keeper() for key, each in self._databases.items()}
        # Now: a database may close its keeper as soon as a thread runs.
        lost = {keeper.fileno(): keeper for keeper in self._keepers.values()}
        self._wake = list(os.pipe2(os.O_CLOEXEC | os.O_NONBLOCK))
        try:
            if signals and threading.current_thread() is threading.main_thread():
                for number in ending_signals():
                    before[number] = signal.signal(number, self._signalled)
            threads = [
                threading.Thread(
                    target=self._serve, args=(choice,), name=f"tableq-work-{n}", daemon=True
                )
                for n in range(self._count)
            ]
            self._alive = len(threads)
            with contextlib.ExitStack() as open_databases:
                for each in self._databases.values():
                    open_databases.enter_context(each._also(self._stop))
                for thread in threads:
                    thread.start()
                left = self._watch(choice, lost)
        except BaseException:
            self.stop()
            choice.wake()
            left = True
            raise
        finally:
            if threads and left:
                self._abandon()
            else:
                for thread in threads:
                    thread.join()
            for read, turn in choice.late_reads.items():
                read.cancel()
                read.add_done_callback(functools.partial(_give_back, turn.line.source.queue))
            for known, handler in before.items():
                signal.signal(known, handler)
            for keeper in self._keepers.values():
                keeper.close()
            with self._lock:
                pipe, self._wake = self._wake, [-1, -1]
            for descriptor in pipe:
                os.close(descriptor)
        if self._failure is not None:
            raise self._failure
        return self._completed

    # ----------------------------------------------------------------------------------- internal

    def _poke(self) -> None:
        # Under the lock: once it is closed, its number may be that of another file.
        with self._lock:
            if self._wake and self._wake[1] >= 0:
                try:
                    os.write(self._wake[1], b"x")
                except BlockingIOError:
                    pass  # It is readable already.

    def _signalled(self, number: int, frame: Optional[FrameType]) -> None:
        self._signals += 1
        if self._signals > 1:
            raise KeyboardInterrupt
        self.stop()

    def _watch(self, choice: Choice, lost: Dict[int, Keeper]) -> bool:
        """Until all threads have ended. Returns whether some are left at the end of the grace."""
        poll = select.poll()
        for number in (self._wake[0], *lost, *([choice.descriptor] if choice.waits else [])):
            poll.register(number, select.POLLIN)
        end: Optional[float] = None
        while True:
            with self._lock:
                if self._alive == 0 and not self._late:
                    return False
            pause = _SIGNAL_MS
            if any(each.closed for each in self._databases.values()):
                self.stop()
            if self._ending.is_set():
                choice.wake()
            if self._ending.is_set() and self._grace is not None:
                end = time.monotonic() + self._grace if end is None else end
                left = (end - time.monotonic()) * 1000
                if left <= 0:
                    return True
                pause = min(pause, left)
            for descriptor, _ in poll.poll(pause):
                if descriptor == self._wake[0]:
                    os.read(descriptor, 4096)
                elif descriptor == choice.descriptor:
                    choice.readable()
                elif lost[descriptor].closed:  # With the database: its descriptor is gone.
                    poll.unregister(descriptor)
                else:
                    self._note_lost(lost[descriptor])

    def _abandon(self) -> None:
        """Gives the messages of running handlers back. Their threads go on and are refused."""
        with self._lock:
            jobs = [job for job in self._running.values() if not job.settled]
        for job in jobs:
            job._lost = True
            try:
                job.release()
            except Error as error:
                log.warning("tableq: message %d waits for the end of its lease: %s", job.id, error)

    def _serve(self, choice: Choice) -> None:
        try:
            self._take_and_handle(choice)
        except BaseException as error:  # It is raised by `run`.
            self._note_failure(error)
            self.stop()
        finally:
            with self._lock:
                self._alive -= 1
            self._poke()

    def _take_and_handle(self, choice: Choice) -> None:
        wait = _EMPTY_WAIT_MS if self._until_empty else _WAIT_MS
        while not self._ending.is_set():
            turn = choice.next(wait / 1000)
            if turn is None:
                if self._is_over(choice):
                    self.stop()
                continue
            source = turn.line.source
            try:
                jobs = self._read(choice, turn, 0 if choice.waits else wait)
                if jobs == [] and self._is_over(choice):
                    self.stop()
            except Error as error:
                if source.queue.database.closed:
                    self.stop()
                    return
                if not passes(error):
                    raise
                log.warning("tableq: %s", error)
                choice.refused(turn.line)
                continue
            if jobs:
                self._handle(jobs.pop(), source)  # The next wait keeps no payload.

    def _beside(
        self, database: "Database", function: Callable[[], T]
    ) -> "concurrent.futures.Future[T]":
        """Runs a call in a thread of its database, so that this one need not wait for its end."""
        future = database._submit(function)
        concurrent.futures.wait([future], PATIENCE)
        return future

    def _read(self, choice: Choice, turn: Turn, wait: int) -> Optional[List[Job]]:
        """None: the database has not answered yet."""
        queue = turn.line.source.queue

        def once() -> List[Job]:
            options = Options(FOR_READ)
            options.integer(b"wait_ms", wait)
            options.duration(b"lease_ms", self._lease)
            options.stop(self._stop)
            jobs = queue._take(1, options)
            choice.read(turn, len(jobs))
            return jobs

        if self._alone:
            return once()
        reading = turn.ended or self._beside(queue.database, once)
        if not reading.done():
            choice.late(turn, reading)
            return None
        found: List[Job] = reading.result()
        return found

    def _is_over(self, choice: Choice) -> bool:
        if not self._until_empty or self._running or choice.late_reads:
            return False
        if self._alone:
            return self._ends_empty()
        asked = self._asked
        if asked is None or asked.done():
            asked = self._asked = self._beside(self._sources[0].queue.database, self._ends_empty)
        return asked.done() and asked.result()

    def _handle(self, job: Job, source: Source) -> None:
        keeper = self._keepers[id(source.queue.database)]
        with self._lock:
            self._running[job.receipt] = job
        failure: Optional[BaseException] = None
        try:
            keeper.add(job, self._lease)
            try:
                # What nobody awaits does not run: the message must not count as done.
                if inspect.isawaitable(source.handler(job)):
                    raise InvalidArgument(_NOT_AWAITED)
            except (Exception, SystemExit) as error:  # No signal's: those come to the main thread.
                failure = error
            self._settle(job, failure, keeper)
        except BaseException:
            # KeyboardInterrupt of a handler, say: another worker may have it.
            self._leave(job, keeper)
            raise
        finally:
            failure = None  # Its traceback has this frame: they would keep each other.

    def _settle(self, job: Job, failure: Optional[BaseException], keeper: Keeper) -> None:
        def once() -> None:
            counts = settle(job, failure, self._ending.is_set)
            with self._lock:
                self._completed += 1 if counts else 0
            self._forget(job, keeper)

        if self._alone:
            once()
            return
        settling = self._beside(job.queue.database, once)
        if settling.done():
            settling.result()
            return

        def ended(_: Any) -> None:
            error = settling.exception()
            if error is not None:
                self._note_failure(error)
                self.stop()
            with self._lock:
                self._late.discard(settling)
            self._poke()

        with self._lock:
            self._late.add(settling)
        settling.add_done_callback(ended)

    def _leave(self, job: Job, keeper: Keeper) -> None:
        if not job.settled and not job.queue.database.closed:
            job.release()
        self._forget(job, keeper)

    def _forget(self, job: Job, keeper: Keeper) -> None:
        with self._lock:
            self._running.pop(job.receipt, None)
        if not job.settled and not job.lost and not keeper.closed:
            keeper.remove(job)


def _give_back(queue: "LeaseQueue", read: "concurrent.futures.Future[List[Job]]") -> None:
    if not read.cancelled() and read.exception() is None and not queue.database.closed:
        queue._give_back(read.result())
