"""Queues whose reads lease: `claim`, and tables of the application."""

from __future__ import annotations

import asyncio
import datetime
import itertools
import operator
import time
from ctypes import byref, c_int, c_void_p
from typing import (
    TYPE_CHECKING,
    Any,
    Awaitable,
    Callable,
    Dict,
    Iterable,
    Iterator,
    List,
    Mapping,
    Optional,
    Sequence,
    Set,
    Tuple,
    Union,
)

from ._batches import AnyBatch, MessageBatch, begin_options
from ._errors import Error, InvalidArgument, call
from ._handles import (
    NOT_GIVEN,
    FOR_ENQUEUE,
    FOR_FAILURE,
    FOR_FILTER,
    FOR_GROUP_LIMITS,
    FOR_LOOK,
    FOR_READ,
    FOR_REDRIVE,
    Batch,
    Duration,
    Options,
    Payload,
    Result,
    RetryDelays,
    Stop,
    bytes_of,
    id_of,
    listed,
    of_type,
    out_int,
    out_int64,
    priority_of,
    row_options,
    text_of,
    wait_milliseconds,
    wait_options,
    word_of,
)
from ._library import lib
from ._messages import (
    Added,
    Awaited,
    BulkResult,
    ClaimStats,
    Filter,
    Finding,
    GroupLimits,
    Job,
    NewMessage,
    Redriven,
    StoredMessage,
    Taken,
    WaitingGroup,
    log,
    text_of_exception,
)
from ._pause import Pauses
from ._queue import (
    NO_OPTIONS,
    BatchItem,
    Queue,
    count_of,
    ids_batch,
    lease_milliseconds,
    outcome_name,
)
from ._transaction import transaction_pointer

if TYPE_CHECKING:
    from ._transaction import Transaction

AnyJob = Union[Job, str]
"""A job, or its receipt."""


_ONE = "for one job there is the call without _batch"


def _receipt(job: AnyJob) -> bytes:
    if isinstance(job, Job):
        return job._rows.receipt(job._row)
    if not isinstance(job, str):
        raise InvalidArgument(
            f"tableq: a job is a Job, or its receipt as a str, not {type(job).__name__}"
        )
    return text_of(job, "a receipt")


def _receipts(
    jobs: List[AnyJob], whole: Optional[Taken], options: Optional[Options] = None
) -> Batch:
    """The receipts of jobs, for one call. whole: see `_whole`."""
    batch = Batch()
    if whole is not None:  # Without their texts.
        call(lib.tq_batch_add_receipts, batch, whole, options)
    else:
        batch.add_all([_receipt(job) for job in jobs], options)
    return batch


_rows_of, _row_of = operator.attrgetter("_rows"), operator.attrgetter("_row")


def _whole(jobs: List[AnyJob]) -> Optional[Taken]:
    """The result of a take, if these are all its jobs. No step of Python for each."""
    try:
        results: Set[Taken] = set(map(_rows_of, jobs))
        rows = results.pop()
    except (AttributeError, KeyError):  # Of a receipt, or of none.
        return None
    whole = not results and list(map(_row_of, jobs)) == list(range(len(rows)))
    return rows if whole else None


def _settled(job: AnyJob, applied: bool, tx: Optional["Transaction"]) -> bool:
    """Marks a job as settled: at once, or when the transaction commits; or as lost."""
    if isinstance(job, Job):
        if not applied:
            _lose(job)
        if tx is None:
            job._over = True
        else:
            tx._jobs.append(job)
    return applied


def _lose(job: AnyJob) -> None:
    """Marks a job as lost whose settlement or extension had no effect."""
    if isinstance(job, Job) and not job.settled:
        job._lost = True


def _error_text(error: "str | BaseException") -> bytes:
    text = text_of_exception(error) if isinstance(error, BaseException) else error
    return _lenient_text(text, "error is a str or an exception")


def _lenient_text(text: str, what: str) -> bytes:
    if not isinstance(text, str):
        raise InvalidArgument(f"tableq: {what}")
    return text.encode("utf-8", "backslashreplace")


def _failure(delay: Optional[Duration], give_up: bool) -> Optional[Options]:
    if delay is None and not give_up:
        return None
    options = Options(FOR_FAILURE)
    options.duration(b"delay_ms", delay)
    options.boolean(b"give_up", give_up)
    return options


def _read_options(
    wait_ms: int,
    stop: Optional[Stop],
    lease: Optional[Duration],
    claimed_at: Optional[datetime.datetime],
) -> Optional[Options]:
    if not wait_ms and stop is None and lease is None and claimed_at is None:
        return None
    options = Options(FOR_READ)
    options.waiting(wait_ms, stop)
    options.duration(b"lease_ms", lease)
    options.time(b"claimed_at", claimed_at)
    return options


def _set_look(options: Options, detail: str, progress: bool, result: bool) -> None:
    options.text(b"detail", detail)
    options.boolean(b"progress", progress)
    options.boolean(b"result", result)


def _look_options(detail: str, progress: bool, result: bool) -> Optional[Options]:
    if detail == "all" and not progress and not result:
        return None
    options = Options(FOR_LOOK)
    _set_look(options, detail, progress, result)
    return options


class LeaseQueue(Queue):
    """A queue whose reads lease: a message is yours until you settle it, or its lease ends."""

    def take(
        self,
        max: int = 1,
        *,
        wait: Duration = 0,
        lease: Optional[Duration] = None,
        claimed_at: Optional[datetime.datetime] = None,
        tx: Optional["Transaction"] = None,
    ) -> List[Job]:
        """Takes up to `max` messages (1 to 10,000) under a lease, in the queue's order.

        wait: the longest wait for the first message; `math.inf` waits for ever. Ctrl-C ends it.
        lease: instead of the queue's. claimed_at: your own time of the take, stored and returned.
        tx: a rollback undoes the take; nothing waits.
        """
        taken: List[Job] = []
        try:
            self._take_into(taken, max, wait, lease, claimed_at, tx)
            return taken
        except BaseException:  # Of a signal's handler, say, that came too late to take nothing.
            if tx is None:
                self._give_back(taken)
            raise

    def _take_into(
        self,
        taken: List[Job],
        max: int,
        wait: Duration,
        lease: Optional[Duration],
        claimed_at: Optional[datetime.datetime],
        tx: Optional["Transaction"],
    ) -> None:
        count = count_of(max)
        longest = 0 if wait == 0 else wait_milliseconds(wait)
        if longest == 0 or tx is not None:
            self._take(count, _read_options(longest, None, lease, claimed_at), tx, taken)
            return

        def attempt(stop: Optional[Stop], wait_ms: int) -> List[Job]:
            return self._take(count, _read_options(wait_ms, stop, lease, claimed_at), None, taken)

        self._database._wait_for_messages(attempt, longest)

    def _take(
        self,
        count: int,
        options: Optional[Options],
        tx: Optional["Transaction"] = None,
        into: Optional[List[Job]] = None,
    ) -> List[Job]:
        jobs = [] if into is None else into
        alone = count == 1
        rows = Taken(self, alone)  # Before the call: an exception may come as soon as it returns.
        try:
            call(
                lib.tq_take,
                self._handle(),
                transaction_pointer(tx),
                count,
                options,
                byref(rows._as_parameter_),
            )
            if alone:  # Without arrays, which cost more than a message.
                payload = rows.data(0, b"payload")
                if payload is not None:
                    jobs.append(Job(rows, 0, payload))
            else:
                jobs.extend(map(Job, itertools.repeat(rows), itertools.count(), rows.all(b"payload")))
            return jobs
        except BaseException:
            if tx is None and len(rows):
                self._give_back([receipt.decode() for receipt in rows.all(b"receipt")])
            raise

    def take_one(
        self,
        *,
        wait: Duration = 0,
        lease: Optional[Duration] = None,
        claimed_at: Optional[datetime.datetime] = None,
        tx: Optional["Transaction"] = None,
    ) -> Optional[Job]:
        """One message, or None."""
        taken: List[Job] = []
        try:
            self._take_into(taken, 1, wait, lease, claimed_at, tx)
            return taken[0] if taken else None
        except BaseException:
            if tx is None:
                self._give_back(taken)
            raise

    async def take_async(
        self,
        max: int = 1,
        *,
        wait: Duration = 0,
        lease: Optional[Duration] = None,
        claimed_at: Optional[datetime.datetime] = None,
    ) -> List[Job]:
        """As `take`, without holding up the event loop or a thread. A cancelled await gives its
        messages back."""
        from ._async import read

        return await read(
            self,
            lambda: self.take(max, lease=lease, claimed_at=claimed_at),
            wait,
            self._give_back,
        )

    async def take_one_async(
        self, *, wait: Duration = 0, lease: Optional[Duration] = None
    ) -> Optional[Job]:
        """One message, or None."""
        jobs = await self.take_async(1, wait=wait, lease=lease)
        return jobs[0] if jobs else None

    def _give_back(self, jobs: Sequence[AnyJob]) -> None:
        if not jobs:
            return
        try:
            self.release_batch(jobs)
        except Error as error:
            log.warning("tableq: messages of %s that nobody got wait for the end of their leases: "
                        "%s", self.name, error)

    # --------------------------------------------------------------------------------- settlements

    def complete(
        self,
        job: AnyJob,
        *,
        result: Optional[Payload] = None,
        tx: Optional["Transaction"] = None,
    ) -> bool:
        """The work is done: removes the message, or marks it done in a queue that keeps them.
        False: the lease had ended, or it was settled before, and nothing has happened.

        result: up to 64 KiB for `wait_for` and `get`, kept with the message. Only in a `claim`
        queue with keep_completed.
        """
        if result is None:
            return self._settle_one(lib.tq_complete, job, tx)
        given = bytes_of(result)
        return self._settle_one(lib.tq_complete_with_result, job, tx, given, len(given))

    def progress(self, job: AnyJob, done: float, note: str = "") -> None:
        """Says how far a message is; `get` shows it. Asks no database: a Keeper
        or a worker stores it with the next extension of the lease; so do `extend`, `fail` and
        `release`. A retry keeps it, a completion clears it. Only in a `claim` queue.

        done: from 0 to 1, not per cent. note: cut at 500 bytes.
        """
        if isinstance(done, bool) or not isinstance(done, (int, float)) or not 0 <= done <= 1:
            raise InvalidArgument("tableq: done is a number from 0 to 1: 0.4 for 40 per cent")
        receipt = _receipt(job)
        text = _lenient_text(note, "note is a str")
        call(lib.tq_progress, self._handle(), receipt, len(receipt), float(done), text, len(text))

    def complete_batch(
        self, jobs: Iterable[AnyJob], *, tx: Optional["Transaction"] = None
    ) -> List[bool]:
        """Completes all in one transaction. One answer for each, in order."""
        return self._settle_batch(lib.tq_complete_batch, jobs, tx)

    def fail(
        self,
        job: AnyJob,
        error: "str | BaseException" = "",
        *,
        delay: Optional[Duration] = None,
        give_up: bool = False,
        tx: Optional["Transaction"] = None,
    ) -> bool:
        """A failed attempt: ready again after the queue's delays or `delay`, or dead after the last
        one. give_up: dead at once. error: stored in the message's history, cut at 2,000 bytes.
        False: as of `complete`."""
        text = _error_text(error)
        return self._settle_one(
            lib.tq_fail, job, tx, text, len(text), _failure(delay, give_up)
        )

    def fail_batch(
        self,
        jobs: Iterable[AnyJob],
        error: "str | BaseException" = "",
        *,
        delay: Optional[Duration] = None,
        give_up: bool = False,
        tx: Optional["Transaction"] = None,
    ) -> List[bool]:
        """Fails all in one transaction, with one text. One answer for each, in order."""
        options = _failure(delay, give_up) or Options(FOR_FAILURE)
        text = _error_text(error)
        call(lib.tq_options_set_text, options, b"error", text, len(text))
        return self._settle_batch(lib.tq_fail_batch, jobs, tx, options)

    def release(self, job: AnyJob, *, tx: Optional["Transaction"] = None) -> bool:
        """Gives the message back without an attempt: ready again at once. False: as of
        `complete`."""
        return self._settle_one(lib.tq_release, job, tx)

    def release_batch(
        self, jobs: Iterable[AnyJob], *, tx: Optional["Transaction"] = None
    ) -> List[bool]:
        """Releases all in one transaction. One answer for each, in order."""
        return self._settle_batch(lib.tq_release_batch, jobs, tx)

    def extend(
        self, job: AnyJob, lease: Duration, *, tx: Optional["Transaction"] = None
    ) -> bool:
        """The lease ends that long from now. A Keeper does it by itself. False: it had ended."""
        applied = self._call_with_receipt(lib.tq_extend, job, tx, lease_milliseconds(lease))
        if not applied:
            _lose(job)
        return applied

    def extend_batch(
        self, jobs: Iterable[AnyJob], lease: Duration, *, tx: Optional["Transaction"] = None
    ) -> List[bool]:
        """Extends all in one transaction. One answer for each, in order."""
        given = list(listed(jobs, _ONE))
        rows = Result(
            lib.tq_extend_batch,
            self._handle(),
            transaction_pointer(tx),
            _receipts(given, _whole(given)),
            lease_milliseconds(lease),
        )
        applied = [outcome == 0 for outcome in rows.integers(b"outcome")]
        for job, took_effect in zip(given, applied):
            if not took_effect:
                _lose(job)
        return applied

    def _call_with_receipt(
        self, function: Any, job: AnyJob, tx: Optional["Transaction"], *more: Any
    ) -> bool:
        """Whether it took effect."""
        receipt = _receipt(job)
        outcome = c_int()
        call(function, self._handle(), transaction_pointer(tx), receipt, len(receipt), *more,
             byref(outcome))
        return not outcome.value

    def _settle_one(
        self, function: Any, job: AnyJob, tx: Optional["Transaction"], *more: Any
    ) -> bool:
        return _settled(job, self._call_with_receipt(function, job, tx, *more), tx)

    def _settle_batch(
        self,
        function: Any,
        given: Iterable[AnyJob],
        tx: Optional["Transaction"],
        options: Optional[Options] = None,
    ) -> List[bool]:
        jobs = list(listed(given, _ONE))
        whole = _whole(jobs)
        batch = _receipts(jobs, whole, options)
        rows = Result(function, self._handle(), transaction_pointer(tx), batch)
        outcomes = rows.integers(b"outcome")
        if tx is not None or any(outcomes):
            return [_settled(job, outcome == 0, tx) for job, outcome in zip(jobs, outcomes)]
        if whole is not None:
            whole.settled = True
        else:
            for job in jobs:
                _settled(job, True, None)
        return [True] * len(jobs)

    # ------------------------------------------------------------------------------------- workers

    def work(
        self,
        handler: Callable[[Job], Any],
        *,
        threads: int = 1,
        lease: Optional[Duration] = None,
        until_empty: bool = False,
        signals: bool = True,
        grace: Optional[Duration] = None,
    ) -> int:
        """Gives each message to `handler(job)` until it is told to end. Returns how many it has
        completed.

        A handler that returns completes its job, one that raises fails it with the exception's
        text, SystemExit too; `tableq.Retry` and `tableq.GiveUp` say more. A handler may settle its
        job itself.

        threads: handlers at a time. The library's own thread extends the leases, also while a
        handler holds the GIL; `job.lost` tells a handler that it was too late.
        until_empty: return when no message is ready, delayed or leased by anyone.
        signals: in the main thread, SIGTERM and SIGINT end it in order: no more messages are taken,
        running handlers finish. A second one gives the messages of running handlers back and raises
        KeyboardInterrupt. The handlers that were there before are put back at the end.
        grace: how long running handlers may go on after the first signal. None: as long as they
        need. A handler that is still running then goes on in its thread, and its message is given
        back.
        """
        from ._worker import Worker

        return Worker(self, handler, threads, lease, until_empty, grace).run(signals)

    async def work_async(
        self,
        handler: Callable[[Job], Awaitable[Any]],
        *,
        concurrency: int = 10,
        lease: Optional[Duration] = None,
        until_empty: bool = False,
        signals: bool = True,
        grace: Optional[Duration] = None,
    ) -> int:
        """The same with `await handler(job)` for up to `concurrency` jobs at a time, on the event
        loop. Cancel it to end it at once: handlers are cancelled, and their messages given back.

        handler: an `async def`; a plain function is refused. A lambda, a decorated function or
        another callable ends the worker with InvalidArgument when its result cannot be awaited; its
        message is given back.
        grace: a handler that is still running after that time is cancelled, and its message given
        back."""
        from ._async import AsyncWorker

        worker = AsyncWorker(self, handler, concurrency, lease, until_empty, grace)
        return await worker.run(signals)

    def stats(self, *, exact: bool = False, count_to: Optional[int] = None) -> ClaimStats:
        """Counts messages. Reads only."""
        return self._stats(exact, count_to).record(ClaimStats)

    def purge(
        self,
        state: str = "done",
        *,
        older_than: Optional[Duration] = None,
        batch: Optional[int] = None,
    ) -> int:
        """Deletes messages that are `done` or `dead`, in small transactions. Returns how many."""
        return self._purge(word_of(state, "state"), older_than, batch)


def _filter_options(filter: Filter, after: Optional[str]) -> Options:
    of_type(filter, Filter, "filter")
    options = Options(FOR_FILTER)
    options.text(b"state", filter.state)
    options.duration(b"older_than_ms", filter.older_than)
    if filter.header is not None:
        if not isinstance(filter.header, tuple) or len(filter.header) != 2:
            raise InvalidArgument("tableq: header is a name and a value: a tuple of two texts")
        options.headers(dict([filter.header]))
    options.text(b"group", filter.group)
    options.text(b"key_prefix", filter.key_prefix)
    options.text(b"error", filter.error)
    options.boolean(b"all", filter.all)
    options.text(b"after", after)
    return options


class ClaimQueue(LeaseQueue):
    """A queue of the kind `claim`."""

    def put(
        self,
        payload: Payload,
        *,
        priority: Optional[int] = None,
        delay: Optional[Duration] = None,
        due_at: Optional[datetime.datetime] = None,
        headers: Optional[Mapping[str, str]] = None,
        key: Optional[str] = None,
        on_duplicate: Optional[str] = None,
        group: Optional[str] = None,
        time_to_live: Optional[Duration] = None,
        max_attempts: Optional[int] = None,
        retry: Optional[RetryDelays] = None,
        retry_jitter: Optional[int] = None,
        created_at: Optional[datetime.datetime] = None,
        batch: Optional[AnyBatch] = None,
        wait: Duration = 0,
        tx: Optional["Transaction"] = None,
        using: Any = NOT_GIVEN,
    ) -> Added:
        """Adds one message. It is stored when the call returns; with `tx`, when that commits.
        Returns its id and outcome; with a key that another message holds, that message's id.

        priority: higher comes first. delay, due_at: the earliest take. headers: texts by name.
        key: at most one message of the queue holds it; on_duplicate says what happens then:
        "keep_first" (nothing is added), "reject" (DuplicateKey), "replace" or "postpone".
        group: its messages are handed out one after the other. time_to_live: how long it may be
        handed out; `math.inf`: for ever. max_attempts, retry, retry_jitter: instead of the queue's.
        batch: to which it belongs, in a queue with batches.
        wait: for room in a full queue.
        using: a connection of psycopg, psycopg2 or sqlite3 to the same database: the message is
        added by SQL text in the transaction that is open there, and you commit it. Without
        "replace" and "postpone", and without keys in a queue with a key_window.
        """
        options = (created_at, delay, due_at, priority, headers, key, on_duplicate, group,
                   time_to_live, max_attempts, retry, retry_jitter, batch)
        # The shortest way, for most messages.
        if options == NO_OPTIONS and wait == 0 and using is NOT_GIVEN:
            return self._enqueue_once(bytes_of(payload), None, tx)
        return self._enqueue(NewMessage(payload, *options), wait, tx, using)

    async def put_async(self, payload: Payload, **options: Any) -> Added:
        """As `put` with the same options but tx, in a thread of the database object. `using` is an
        asynchronous connection of psycopg, asyncpg or aiosqlite."""
        if options.pop("tx", None) is not None:
            raise InvalidArgument("tableq: a transaction belongs to one thread: use put")
        using, wait = options.pop("using", NOT_GIVEN), options.pop("wait", 0)
        return await self._put_async(NewMessage(payload, **options), using, wait)

    def put_batch(
        self,
        messages: Iterable[BatchItem],
        *,
        wait: Duration = 0,
        tx: Optional["Transaction"] = None,
        using: Any = NOT_GIVEN,
    ) -> List[Added]:
        """Adds all or none, in order, in one transaction: payloads, or NewMessage for those with
        options. See `put`."""
        return self._enqueue_batch(messages, wait, tx, using)

    def begin_batch(
        self,
        *,
        then: Optional[str] = None,
        payload: Payload = b"",
        headers: Optional[Mapping[str, str]] = None,
        key: Optional[str] = None,
        group: Optional[str] = None,
        priority: Optional[int] = None,
        parent: Optional[AnyBatch] = None,
        name: Optional[str] = None,
        tx: Optional["Transaction"] = None,
    ) -> MessageBatch:
        """Begins a batch, to which messages of all queues with batches may belong.

        then: the queue that gets a message at the end, with this payload; a `claim` queue also
        with headers, key, group and priority. parent: the batch of which it is a member. name:
        for people.
        """
        data = bytes_of(payload)
        options = begin_options(then, headers, key, group, priority, parent, name)
        value, pointer = out_int64()
        within = transaction_pointer(tx)
        call(
            lib.tq_queue_begin_batch, self._handle(), within, data, len(data), options, pointer
        )
        return MessageBatch(self._database, value.value)

    def batch_of(
        self, job: AnyJob, *, tx: Optional["Transaction"] = None
    ) -> Optional[MessageBatch]:
        """The batch of a message that this process has taken: its handler adds to it, also after
        it was sealed. None: it belongs to none."""
        receipt = _receipt(job)
        value, pointer = out_int64()
        within = transaction_pointer(tx)
        call(lib.tq_queue_batch_of, self._handle(), within, receipt, len(receipt), pointer)
        if value.value == 0:
            return None
        return MessageBatch(self._database, value.value, receipt.decode())

    def messages(
        self,
        state: str,
        *,
        page: int = 100,
        detail: str = "all",
        progress: bool = False,
        result: bool = False,
    ) -> Iterator[StoredMessage]:
        """The messages in a state (`ready`, `leased`, `delayed`, `done`, `dead` or `held`), read in
        pages. Reads only.

        detail: "outline" leaves out payload and headers, "seen" all that a viewer may not read.
        progress, result: with what handlers said last, and what completed messages gave.
        """
        after: Optional[Result] = None
        look = _look_options(detail, progress, result)
        while True:
            rows = Result(
                lib.tq_list, self._handle(), word_of(state, "state"), count_of(page), after, look
            )
            for row in range(len(rows)):
                yield StoredMessage._of(rows, row)
            if len(rows) < page:
                return
            after = rows

    def dead(self, *, page: int = 100, detail: str = "all") -> Iterator[StoredMessage]:
        """The dead messages, with the errors of their attempts."""
        return self.messages("dead", page=page, detail=detail)

    def peek(self, max: int = 1) -> List[StoredMessage]:
        """Up to `max` messages that takes would return next. Reads only."""
        rows = Result(lib.tq_peek, self._handle(), count_of(max))
        return [StoredMessage._of(rows, row) for row in range(len(rows))]

    def wait_for(self, message_id: int, *, wait: Duration = 30) -> Awaited:
        """Waits until a message is done or dead; at once if it is not there.

        wait: the longest time; `math.inf` waits for ever. Ctrl-C ends it. Settlements through this
        database object end it at once, all others within half a second.
        """
        number, longest = id_of(message_id), wait_milliseconds(wait)

        def attempt(stop: Optional[Stop], wait_ms: int) -> Awaited:
            options = wait_options(FOR_READ, wait_ms, stop)
            return Awaited._of(Result(lib.tq_wait_for, self._handle(), number, options))

        found = attempt(None, 0)
        if found.ending != "waiting" or longest <= 0:
            return found
        return self._database._beside(lambda stop: attempt(stop, longest))

    async def wait_for_async(self, message_id: int, *, wait: Duration = 30) -> Awaited:
        """The same, without holding up the event loop or a thread: it looks soon at first, later
        every half second."""
        end = time.monotonic() + wait_milliseconds(wait) / 1000
        pauses = Pauses()
        while True:
            found = await self._database._run(lambda: self.wait_for(message_id, wait=0))
            left = end - time.monotonic()
            if found.ending != "waiting" or left <= 0:
                return found
            await asyncio.sleep(min(pauses.next(), left, 0.5))

    def get(
        self,
        message_id: int,
        *,
        detail: str = "all",
        progress: bool = False,
        result: bool = False,
        tx: Optional["Transaction"] = None,
    ) -> Optional[StoredMessage]:
        """One message in any state, or None. The options are those of `messages`."""
        look = _look_options(detail, progress, result)
        rows = Result(
            lib.tq_get, self._handle(), transaction_pointer(tx), id_of(message_id), look
        )
        return StoredMessage._of(rows, 0) if len(rows) else None

    def find(
        self,
        key: str,
        *,
        progress: bool = False,
        result: bool = False,
        tx: Optional["Transaction"] = None,
    ) -> Optional[StoredMessage]:
        """The message that holds a key, or None. The options are those of `messages`."""
        text, look = text_of(key, "key"), _look_options("all", progress, result)
        rows = Result(lib.tq_find, self._handle(), transaction_pointer(tx), text, len(text), look)
        return StoredMessage._of(rows, 0) if len(rows) else None

    def groups(self, max: int = 20) -> List[WaitingGroup]:
        """The groups whose oldest message waits longest. Reads only."""
        return Result(lib.tq_groups, self._handle(), count_of(max)).records(WaitingGroup)

    def set_group_limits(self, limits: GroupLimits, group: str = "") -> None:
        """Sets the limits of a group, or of each group without its own, for every process within a
        second. `GroupLimits()`: the group has none of its own any more."""
        of_type(limits, GroupLimits, "limits")
        options = Options(FOR_GROUP_LIMITS)
        options.integer(b"running", limits.running)
        options.double(b"rate", limits.rate)
        options.integer(b"burst", limits.burst)
        options.integer(b"weight", limits.weight)
        text = text_of(group, "group")
        call(lib.tq_set_group_limits, self._handle(), text, len(text), options)

    def group_limits(
        self, *, first: str = "", page: int = 500
    ) -> Iterator[Tuple[str, GroupLimits]]:
        """Groups and their limits, by their names, page by page; "": each group without its own.
        first: the name to begin with."""
        begin: Optional[str] = first
        while begin is not None:
            text, limits = text_of(begin, "first"), c_void_p()
            following = Result(
                lib.tq_group_limits, self._handle(), count_of(page), text, len(text), byref(limits)
            )
            rows = Result.into(limits)
            for row in range(len(rows)):
                yield rows.text(row, b"group"), rows.record(GroupLimits, row)
            begin = following.text(0, b"group") if len(following) else None

    def cancel(self, message_id: int, *, tx: Optional["Transaction"] = None) -> str:
        """Removes a message that is ready, delayed, held or dead, and frees its key. Returns
        `applied`, or why not: `running`, `finished` or `not_there`."""
        value, pointer = out_int()
        call(lib.tq_cancel, self._handle(), transaction_pointer(tx), id_of(message_id), pointer)
        return outcome_name(value.value)

    def set_priority(
        self, message_id: int, priority: int, *, tx: Optional["Transaction"] = None
    ) -> str:
        """Changes the priority of a message that is ready, delayed or held. Returns as `cancel`."""
        value, pointer = out_int()
        call(
            lib.tq_set_priority,
            self._handle(),
            transaction_pointer(tx),
            id_of(message_id),
            priority_of(priority),
            pointer,
        )
        return outcome_name(value.value)

    def make_ready(self, message_id: int, *, tx: Optional["Transaction"] = None) -> str:
        """Makes a delayed message ready now, also one that rests before its next attempt. Returns
        as `cancel`; `applied` too if it is ready already."""
        value, pointer = out_int()
        call(lib.tq_make_ready, self._handle(), transaction_pointer(tx), id_of(message_id), pointer)
        return outcome_name(value.value)

    def messages_by(
        self,
        filter: Filter,
        *,
        page: int = 100,
        detail: str = "all",
        progress: bool = False,
        result: bool = False,
    ) -> Iterator[StoredMessage]:
        """The messages that fit, page by page; each call reads at most 10,000. Reads only. The
        options are those of `messages`."""
        after: Optional[str] = None
        while True:
            options = _filter_options(filter, after)
            options.integer(b"max", count_of(page))
            _set_look(options, detail, progress, result)
            messages = c_void_p()
            next_place = Result(lib.tq_list_by, self._handle(), options, byref(messages))
            rows = Result.into(messages)
            for row in range(len(rows)):
                yield StoredMessage._of(rows, row)
            if not len(next_place):
                return
            after = next_place.text(0, b"place")

    def cancel_by(self, filter: Filter, **how: Any) -> BulkResult:
        """Removes the messages that fit and are ready, delayed, held or dead, in steps of up to
        1,000. `dry_run` counts them, `batch` is the size of a step, and `after` a `stopped_at`.
        Ctrl-C ends it after the current step."""
        return self._by(lib.tq_cancel_by, filter, how)

    def set_priority_by(self, filter: Filter, priority: int, **how: Any) -> BulkResult:
        """Changes the priority of the messages that fit and wait. As `cancel_by`."""
        return self._by(lib.tq_set_priority_by, filter, how, priority_of(priority))

    def make_ready_by(self, filter: Filter, **how: Any) -> BulkResult:
        """Makes the delayed messages that fit ready now. As `cancel_by`."""
        return self._by(lib.tq_make_ready_by, filter, how)

    def redrive_by(self, filter: Filter, **how: Any) -> BulkResult:
        """Makes the dead messages that fit ready again, also those in the queue's dead-letter
        queue. As `cancel_by`."""
        return self._by(lib.tq_redrive_by, filter, how)

    def purge_by(self, filter: Filter, **how: Any) -> BulkResult:
        """Deletes the done and dead messages that fit. As `cancel_by`."""
        return self._by(lib.tq_purge_by, filter, how)

    def _by(self, function: Any, filter: Filter, how: Dict[str, Any], *first: int) -> BulkResult:
        unknown = sorted(set(how) - {"dry_run", "batch", "after"})
        if unknown:
            raise InvalidArgument(f"tableq: an action by filter has no {unknown[0]}")

        def attempt(stop: Stop) -> BulkResult:
            options = _filter_options(filter, how.get("after"))
            options.boolean(b"dry_run", how.get("dry_run"))
            options.integer(b"batch", how.get("batch"))
            options.stop(stop)
            return Result(function, self._handle(), *first, options).record(BulkResult)

        return self._database._beside(attempt)

    def redrive(self, *ids: int) -> int:
        """Makes these dead messages ready again. Returns how many were dead."""
        value, pointer = out_int64()
        call(lib.tq_redrive, self._handle(), ids_batch(ids), pointer)
        return value.value

    def redrive_all(
        self, *, max: Optional[int] = None, per_second: Optional[float] = None
    ) -> Redriven:
        """Makes all dead messages ready again, also those in the queue's dead-letter queue, in
        several transactions. Ctrl-C ends it after the current batch."""

        def attempt(stop: Stop) -> Redriven:
            options = Options(FOR_REDRIVE)
            options.integer(b"max", max)
            options.double(b"per_second", per_second)
            options.stop(stop)
            return Result(lib.tq_redrive_all, self._handle(), options).record(Redriven)

        return self._database._beside(attempt)


class TableQueue(LeaseQueue):
    """A table of the application as a queue: see docs/tables.md."""

    def put(self, row: Mapping[str, Any], *, tx: Optional["Transaction"] = None) -> None:
        """Adds one row: values by column."""
        call(
            lib.tq_enqueue,
            self._handle(),
            transaction_pointer(tx),
            None,
            0,
            row_options(row),
            None,
            None,
        )

    def put_batch(
        self, rows: Iterable[Mapping[str, Any]], *, tx: Optional["Transaction"] = None
    ) -> List[Dict[str, Any]]:
        """Adds all or none, in one transaction. Returns the rows as they are stored."""
        batch = Batch()
        for row in rows:
            batch.add(None, row_options(row))
        added = Result(
            lib.tq_enqueue_batch,
            self._handle(),
            transaction_pointer(tx),
            batch,
            Options(FOR_ENQUEUE),
        )
        stored = [added.inner(row, b"row") for row in range(len(added))]
        return [one.dict(0) if one is not None and len(one) else {} for one in stored]

    def peek(self, max: int = 1) -> List[Dict[str, Any]]:
        """Up to `max` rows that takes would return next. Reads only."""
        rows = Result(lib.tq_peek, self._handle(), count_of(max))
        found = [rows.inner(row, b"row") for row in range(len(rows))]
        return [one.dict(0) if one is not None and len(one) else {} for one in found]

    def requeue_older_than(self, age: Duration) -> int:
        """Rows that were taken longer ago wait again, whatever became of their takers. Returns how
        many."""
        from ._handles import milliseconds

        value, pointer = out_int64()
        call(lib.tq_requeue_older_than, self._handle(), milliseconds(age, "age"), pointer)
        return value.value

    def inspect(self) -> List[Finding]:
        """Checks indexes and mapping. Reads only."""
        return Result(lib.tq_queue_inspect, self._handle()).records(Finding)

    def ddl(self) -> str:
        """The SQL of the indexes that are missing. Reads only."""
        return Result(lib.tq_queue_ddl, self._handle()).text(0, b"text")
