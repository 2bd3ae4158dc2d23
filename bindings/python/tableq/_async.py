"""Reads and a worker for event loops: one descriptor for any number of queues, no thread for a
wait."""

from __future__ import annotations

import asyncio
import collections
import concurrent.futures
import contextlib
import functools
import inspect
import os
import signal
import sys
import threading
import weakref
from ctypes import byref, c_int64
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Deque,
    Dict,
    Iterable,
    List,
    Optional,
    Set,
    Tuple,
    TypeVar,
    Union,
)

from ._errors import Error, InvalidArgument, call
from ._exits import ending_signals, is_failure
from ._handles import Duration, made, process, wait_milliseconds
from ._library import lib
from ._messages import Job, log
from ._queue import Queue
from ._sources import PATIENCE, Choice, Line, Source, Turn
from ._verdict import passes, settle
from ._worker_base import WorkerBase

if TYPE_CHECKING:
    from ._lease import LeaseQueue

T = TypeVar("T")

_NOT_ASYNC = (
    "tableq: the handler of work_async returns nothing to await: write it as async def, or use work"
)


def _is_plain(handler: Any) -> bool:
    """Whether it is a function that was written without `async`. Of a lambda, a decorated function
    and any other callable only the result tells."""
    while isinstance(handler, functools.partial):
        handler = handler.func
    known = inspect.isfunction(handler) or inspect.ismethod(handler)
    if not known or inspect.iscoroutinefunction(handler):
        return False
    return handler.__name__ != "<lambda>" and not hasattr(handler, "__wrapped__")


class _Entry:
    """One queue of a hub, and the awaits that wait for it."""

    def __init__(self, loop: asyncio.AbstractEventLoop, queue: Queue, number: int) -> None:
        self.queue = queue
        self.number = number
        self.users = 0
        # A future keeps its loop alive, and `_hubs` must not: a loop that is closed, or dropped, with
        # awaits of its own takes its hub with it.
        self.waiters: Deque["weakref.ref[asyncio.Future[bool]]"] = collections.deque()
        self.news = False  # That came while all awaits were reading.
        self.loop = weakref.ref(loop)

    def tell(self) -> None:
        """The queue may have a message: one await reads."""
        while self.waiters:
            if _woken(self.waiters.popleft()()):
                return
        self.news = True

    def tell_all(self) -> None:
        while self.waiters:
            _woken(self.waiters.popleft()())

    def _leave(self) -> None:
        """The database is closed, perhaps by another thread."""
        loop = self.loop()
        if loop is not None and not loop.is_closed():
            loop.call_soon_threadsafe(self.tell_all)

    async def named(self, seconds: float) -> bool:
        """Waits for news. False: the time is over."""
        if self.news:
            self.news = False
            return True
        loop = asyncio.get_running_loop()
        waiter: "asyncio.Future[bool]" = loop.create_future()
        timer = loop.call_later(seconds, _time_is_over, waiter)
        place = weakref.ref(waiter)
        self.waiters.append(place)
        try:
            return await waiter
        except asyncio.CancelledError:
            if waiter.done() and not waiter.cancelled() and waiter.result():
                self.tell()  # The news is another await's.
            raise
        finally:
            timer.cancel()
            if place in self.waiters:
                self.waiters.remove(place)


def _woken(waiter: "Optional[asyncio.Future[bool]]") -> bool:
    if waiter is None or waiter.done():
        return False
    waiter.set_result(True)
    return True


def _time_is_over(waiter: "asyncio.Future[bool]") -> None:
    if not waiter.done():
        waiter.set_result(False)


class _Hub:
    """The watch of one event loop. Its descriptor is in the loop while awaits wait."""

    def __init__(self) -> None:
        self._watch = made(lib.tq_watch_free, lib.tq_watch_new)
        self._descriptor = int(lib.tq_watch_descriptor(self._watch))
        self._entries: Dict[int, _Entry] = {}  # By number.
        self._numbers: Dict[int, int] = {}  # By the queue object's id.
        self._last = 0

    @property
    def usable(self) -> bool:
        return not self._watch.inherited

    def enter(self, queue: Queue) -> _Entry:
        loop = asyncio.get_running_loop()
        number = self._numbers.get(id(queue))
        if number is None:
            self._last += 1
            number = self._last
            call(lib.tq_watch_add, self._watch, queue._handle(), number)
            if not self._entries:
                loop.add_reader(self._descriptor, self._readable)
            self._entries[number] = _Entry(loop, queue, number)
            self._numbers[id(queue)] = number
            queue.database._adopt(self._entries[number])
        entry = self._entries[number]
        entry.users += 1
        return entry

    def leave(self, entry: _Entry) -> None:
        entry.users -= 1
        if entry.users:
            return
        lib.tq_watch_remove(self._watch, entry.number)
        del self._entries[entry.number]
        del self._numbers[id(entry.queue)]
        loop = entry.loop()  # Not running when it drops its awaits.
        if not self._entries and loop is not None and not loop.is_closed():
            loop.remove_reader(self._descriptor)

    def done(self, entry: _Entry, found: int) -> None:
        """What a read found; with nothing this may ask the database."""
        call(lib.tq_watch_done, self._watch, entry.number, found)

    def _readable(self) -> None:
        number = c_int64()
        while lib.tq_watch_next(self._watch, byref(number)):
            entry = self._entries.get(number.value)
            if entry is not None:
                entry.tell()


_hubs: "weakref.WeakKeyDictionary[asyncio.AbstractEventLoop, _Hub]" = weakref.WeakKeyDictionary()


def _hub() -> _Hub:
    loop = asyncio.get_running_loop()
    hub = _hubs.get(loop)
    if hub is None or not hub.usable:
        hub = _hubs[loop] = _Hub()
    return hub


async def _read_now(
    queue: Queue, once: Callable[[], List[T]], give_back: Optional[Callable[[List[T]], None]]
) -> List[T]:
    """One read that does not wait, in a thread. If the await is cancelled meanwhile, what the read
    has taken is given back."""
    threads = queue.database._threads()
    future = threads.submit(once)
    try:
        return await asyncio.wrap_future(future)
    except asyncio.CancelledError:
        if not future.cancel() and give_back is not None:
            returning = give_back
            here = threading.current_thread()

            def finished(read: "concurrent.futures.Future[List[T]]") -> None:
                if read.cancelled() or read.exception() is not None or not read.result():
                    return
                if threading.current_thread() is here:
                    try:
                        threads.submit(returning, read.result())
                        return
                    except RuntimeError:
                        pass  # The database is being closed: its threads take no more.
                returning(read.result())

            future.add_done_callback(finished)
        raise


async def read(
    queue: Queue,
    once: Callable[[], List[T]],
    wait: Duration,
    give_back: Optional[Callable[[List[T]], None]],
) -> List[T]:
    """A read that waits for the first message."""
    longest = wait_milliseconds(wait)
    found = await _read_now(queue, once, give_back)
    if found or longest <= 0 or queue.database._closing:
        return found
    loop = asyncio.get_running_loop()
    end = loop.time() + longest / 1000
    hub = _hub()
    entry = hub.enter(queue)
    try:
        while True:
            named = await entry.named(max(end - loop.time(), 0))
            if queue.database._closing:
                return []
            try:
                found = await _read_now(queue, once, give_back)
                if found and named:
                    hub.done(entry, len(found))
                if found or not named:
                    return found
                await queue.database._run(lambda: hub.done(entry, 0))
            except asyncio.CancelledError:
                if named and not queue.database._closing:
                    hub.done(entry, 1)  # Its messages may be another await's.
                raise
            except InvalidArgument:
                if queue.database._closing:  # In the midst of the read.
                    return []
                raise
    finally:
        hub.leave(entry)


def _of_the_handler_alone(error: BaseException) -> bool:
    """Whether the handler met the end of something that it awaits, and its own task goes on. Given
    back without an attempt, its message would come again for ever. Before Python 3.11 no task tells.
    """
    cancelling = getattr(asyncio.current_task(), "cancelling", None)
    return (
        isinstance(error, asyncio.CancelledError) and cancelling is not None and cancelling() == 0
    )


def _refusal(handler: Any) -> Optional[str]:
    return _NOT_ASYNC if _is_plain(handler) else None


class AsyncWorker(WorkerBase):
    """Takes messages and awaits a handler for each: see `ClaimQueue.work_async`. Several queues may
    share its handlers: `AsyncWorker([Source(orders, ship), Source(mails, send)])`.

    `run` returns when it has ended; `stop` ends it in order.
    """

    def __init__(
        self,
        queue: "Union[LeaseQueue, Iterable[Source]]",
        handler: Optional[Callable[[Job], Awaitable[Any]]] = None,
        concurrency: int = 10,
        lease: Optional[Duration] = None,
        until_empty: bool = False,
        grace: Optional[Duration] = None,
    ) -> None:
        if isinstance(concurrency, bool) or not isinstance(concurrency, int) or concurrency < 1:
            raise InvalidArgument("tableq: concurrency is an int of at least 1")
        super().__init__(queue, handler, _refusal, lease, until_empty, grace)
        self._concurrency = min(concurrency, 10_000)
        self._patience = PATIENCE if len(self._databases) > 1 else None
        self._tasks: Set["asyncio.Task[None]"] = set()
        self._handling = 0  # Handlers that run. A settlement takes no place: its database may be away.
        self._waiting: Deque[Tuple[Job, Source]] = collections.deque()  # For a place: from late reads.
        self._loop: Optional[asyncio.AbstractEventLoop] = None
        self._stopping: Optional[asyncio.Event] = None
        self._cut = False  # `_cut_off` gives back what handlers leave.
        self._process = process()
        self._stopped = False  # Perhaps before `run`: until Python 3.10 events need a loop.
        self._news: Optional["asyncio.Future[None]"] = None
        self._emptiness: "Optional[asyncio.Future[bool]]" = None  # While a database is asked for it.

    def stop(self) -> None:
        """Takes no more messages; running handlers finish. Call it in the loop's thread."""
        self._stopped = True
        if self._stopping is not None:
            self._stopping.set()

    async def run(self, signals: bool = True) -> int:
        """Works until it is stopped or cancelled. Returns how many messages its
        handlers have done, also those that they have settled themselves. A worker runs once."""
        if self._stopping is not None:
            raise InvalidArgument("tableq: a worker runs once")
        loop = self._loop = asyncio.get_running_loop()
        self._stopping = asyncio.Event()
        if self._stopped:
            self._stopping.set()
        before: Dict[int, Any] = {}
        choice = Choice(self._sources, self._lock, watched=True)
        self._keepers = {key: each.keeper() for key, each in self._databases.items()}
        lost = {keeper.fileno(): keeper for keeper in self._keepers.values()}
        for each in self._databases.values():
            each._adopt(self)
        for descriptor, keeper in lost.items():
            loop.add_reader(descriptor, self._note_lost, keeper)
        loop.add_reader(choice.descriptor, self._readable, choice)
        try:
            if signals and threading.current_thread() is threading.main_thread():
                for number in ending_signals():
                    before[number] = signal.getsignal(number)
                    loop.add_signal_handler(number, self._signalled, asyncio.current_task())
            await self._take(choice)
            self._stopping.set()
            returning = asyncio.ensure_future(self._give_back(self._not_begun()))
            await asyncio.wait([*self._tasks, returning], timeout=self._grace)
            await self._cut_off()
        except BaseException as error:
            self._stopping.set()
            await self._cut_off()
            if self._signals > 1 and isinstance(error, asyncio.CancelledError):
                raise KeyboardInterrupt from None
            raise
        finally:
            for known, handler in before.items():
                loop.remove_signal_handler(known)
                signal.signal(known, handler)
            for descriptor in (choice.descriptor, *lost):
                loop.remove_reader(descriptor)
            for keeper in self._keepers.values():
                keeper.close()
        if self._failure is not None:
            raise self._failure
        return self._completed

    def _leave(self) -> None:
        """A database is closed, perhaps by another thread."""
        if self._loop is not None:
            with contextlib.suppress(RuntimeError):  # The loop is closed.
                self._loop.call_soon_threadsafe(self.stop)

    def _signalled(self, run: "asyncio.Task[Any]") -> None:
        self._signals += 1
        if self._signals > 1:
            run.cancel()
        self.stop()

    def _readable(self, choice: Choice) -> None:
        choice.readable()
        self._note_news()

    def _note_news(self, _: Any = None) -> None:
        if self._news is not None and not self._news.done():
            self._news.set_result(None)

    async def _take(self, choice: Choice) -> None:
        assert self._stopping is not None
        stopping = asyncio.ensure_future(self._stopping.wait())
        longest = 0.2 if self._until_empty else 3600.0
        try:
            while not self._stopping.is_set():
                free = self._concurrency - self._handling
                turn, pause = choice.pick(free) if free > 0 else (None, longest)
                if turn is None:
                    self._news = asyncio.get_running_loop().create_future()
                    both: "List[asyncio.Future[Any]]" = [self._news, stopping]
                    await asyncio.wait(
                        both, timeout=min(pause, longest), return_when=asyncio.FIRST_COMPLETED
                    )
                    if await self._is_over(choice):
                        return
                    continue
                taking = turn.ended or asyncio.ensure_future(self._read(choice, turn))
                try:
                    await asyncio.wait(
                        [taking, stopping],
                        timeout=self._patience,
                        return_when=asyncio.FIRST_COMPLETED,
                    )
                except asyncio.CancelledError:
                    await self._cancel(taking)
                    raise
                if taking.done():
                    if not self._took(taking, choice, turn.line):
                        return
                elif self._stopping.is_set():
                    await self._cancel(taking)
                else:
                    choice.late(turn, taking)
                    taking.add_done_callback(self._note_news)
                del taking  # The next wait keeps no payloads.
        finally:
            stopping.cancel()
            if self._emptiness is not None:
                self._emptiness.cancel()
            late = choice.late_reads
            for each in late:
                each.cancel()
            for each in late:
                await self._cancel(each)

    def _took(self, taking: "asyncio.Future[List[Job]]", choice: Choice, line: Line) -> bool:
        """A read has ended. False: so does the worker."""
        try:
            jobs = taking.result()
        except Error as error:
            if line.source.queue.database._closing:
                return False
            if not passes(error):
                raise
            log.warning("tableq: %s", error)
            choice.refused(line)
            return True
        for job in jobs:
            self._running[job.receipt] = job
            self._waiting.append((job, line.source))
        self._begin()
        return True

    async def _is_over(self, choice: Choice) -> bool:
        if not self._until_empty or self._running or choice.late_reads:
            return False
        if self._emptiness is None:
            database = self._sources[0].queue.database
            self._emptiness = asyncio.ensure_future(database._run(self._ends_empty))
        asked = self._emptiness
        await asyncio.wait([asked], timeout=self._patience)
        if not asked.done():
            return False
        self._emptiness = None
        try:
            return asked.result() and not self._running
        except Error as error:
            if not self._of_a_close(error):
                raise
            return True

    async def _read(self, choice: Choice, turn: Turn) -> List[Job]:
        queue = turn.line.source.queue

        keeper = self._keepers[id(queue.database)]

        def once() -> List[Job]:
            jobs = queue.take(turn.most, lease=self._lease)
            try:
                choice.read(turn, len(jobs))
                for job in jobs:  # Not by its task: another handler may hold up the loop.
                    keeper.add(job, self._lease)
            except BaseException:
                queue._give_back(jobs)
                raise
            return jobs

        return await _read_now(queue, once, queue._give_back)

    async def _cancel(self, taking: "asyncio.Future[List[Job]]") -> None:
        if not taking.done():
            taking.cancel()
            await asyncio.wait([taking])
        if not taking.cancelled() and taking.exception() is None:
            await self._give_back(taking.result())

    async def _cut_off(self) -> None:
        """Cancels the handlers that run, and gives their messages back, all at once."""
        self._cut = True
        for task in self._tasks:
            task.cancel()
        try:
            if self._tasks:
                await asyncio.wait(self._tasks)
        finally:
            # Of tasks that had not begun, or that a second cancel has left.
            await self._give_back(list(self._running.values()))

    async def _give_back(self, jobs: List[Job]) -> None:
        """Also if the await is cancelled."""
        ends = []
        for queue in {id(job.queue): job.queue for job in jobs}.values():
            if not queue.database._closing:
                its = [job for job in jobs if job.queue is queue]
                end = queue.database._run_to_end(functools.partial(queue._give_back, its))
                ends.append(asyncio.ensure_future(end))
        if ends:
            await asyncio.wait(ends)
        for each in ends:
            each.result()

    def _is_stopping(self) -> bool:
        return self._stopping is not None and self._stopping.is_set()

    def _begin(self) -> None:
        """As many handlers as have places."""
        while self._waiting and self._handling < self._concurrency:
            job, source = self._waiting.popleft()
            self._handling += 1
            task = asyncio.ensure_future(self._handle(job, source))
            self._tasks.add(task)
            task.add_done_callback(self._ended)

    def _not_begun(self) -> List[Job]:
        jobs = [job for job, _ in self._waiting]
        self._waiting.clear()
        for job in jobs:
            self._running.pop(job.receipt, None)
        return jobs

    def _ended(self, task: "asyncio.Task[None]") -> None:
        self._tasks.discard(task)
        error = None if task.cancelled() else task.exception()
        if error is not None:
            self._note_failure(error)
            self.stop()

    async def _handle(self, job: Job, source: Source) -> None:
        failure: Optional[BaseException] = None
        left = False
        try:
            try:
                awaitable = True
                try:
                    working = source.handler(job)
                    awaitable = inspect.isawaitable(working)
                    if awaitable:
                        await working
                except BaseException as error:
                    if not is_failure(error) and not _of_the_handler_alone(error):
                        raise
                    failure = error
                finally:
                    if process() != self._process:
                        # The loop of a child of fork() has the parent's descriptors.
                        problem = failure or sys.exc_info()[1]
                        log.error("tableq: %r came back in a child of fork(), which ends", job,
                                  exc_info=problem)
                        os._exit(0 if problem is None else 1)
                    self._handling -= 1
                    if not self._is_stopping():
                        self._begin()
                    self._note_news()
                if not awaitable:  # The program is wrong, not the message: no attempt counts.
                    raise InvalidArgument(_NOT_ASYNC)
            except BaseException:
                if not job.settled:
                    left = self._cut
                    if not left:
                        await self._give_back([job])
                raise
            counts = await source.queue.database._run_to_end(
                lambda: settle(job, failure, self._is_stopping)
            )
            self._completed += 1 if counts else 0
        finally:
            failure = None  # Its traceback has this frame: they would keep each other.
            if not left:
                self._running.pop(job.receipt, None)
