"""What all queues have, and the kinds whose reads delete."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import operator
from ctypes import byref, c_int, c_int64
from typing import TYPE_CHECKING, Any, Callable, Iterable, List, Optional, Sequence, Union, cast

from ._batches import set_batch
from ._errors import InvalidArgument, call
from ._handles import (
    NOT_GIVEN,
    FOR_ENQUEUE,
    FOR_LIMITS,
    FOR_MESSAGE,
    FOR_PURGE,
    FOR_READ,
    FOR_STATS,
    Batch,
    Closing,
    Duration,
    Options,
    Payload,
    Pointer,
    Result,
    Stop,
    bytes_of,
    id_of,
    listed,
    milliseconds,
    of_64_bits,
    of_type,
    out_int,
    out_int64,
    wait_milliseconds,
    wait_options,
)
from ._library import lib
from ._messages import Added, Limits, Message, NewMessage, QueueStats
from ._sql import Outbox
from ._transaction import transaction_pointer

if TYPE_CHECKING:
    from ._database import Database
    from ._transaction import Transaction


def connection_given(using: Any, wait: Duration, tx: Optional["Transaction"]) -> bool:
    """Whether a message goes by a connection of the application. A variable that is None by mistake
    must not take it out of the application's transaction."""
    if using is NOT_GIVEN:
        return False
    if using is None:
        raise InvalidArgument(
            "tableq: using is None: give a connection, or leave using out for a transaction of "
            "tableq's own"
        )
    if tx is not None:
        raise InvalidArgument("tableq: give tx or using, not both")
    if wait:
        raise InvalidArgument("tableq: nothing waits for room in a transaction: no wait")
    return True


@functools.lru_cache(maxsize=None)
def outcome_name(outcome: int) -> str:
    """`kept_first`, say."""
    return str(lib.tq_outcome_name(outcome).decode())


# As Added._make, without a step of Python.
_added = cast("Callable[[Iterable[Any]], Added]", functools.partial(tuple.__new__, Added))


_OPTIONS = tuple(each.name for each in dataclasses.fields(NewMessage) if each.name != "payload")
NO_OPTIONS = (None,) * len(_OPTIONS)
_options_of = operator.attrgetter(*_OPTIONS)


def message_options(message: NewMessage) -> Optional[Options]:
    """The options of a message, or None if it has none."""
    if _options_of(message) == NO_OPTIONS:
        return None
    options = Options(FOR_MESSAGE)
    options.time(b"created_at", message.created_at)
    options.duration(b"delay_ms", message.delay)
    options.time(b"due_at", message.due_at)
    options.integer(b"priority", message.priority)
    options.text(b"key", message.key)
    options.text(b"on_duplicate", message.on_duplicate)
    options.text(b"group", message.group)
    options.lifetime(b"time_to_live_ms", message.time_to_live)
    options.integer(b"max_attempts", message.max_attempts)
    options.retry(message.retry, message.retry_jitter)
    options.headers(message.headers)
    set_batch(options, "batch", message.batch)
    return options


BatchItem = Union[Payload, NewMessage]


def _batch_of(items: List[BatchItem]) -> Batch:
    batch = Batch()
    if set(map(type, items)) <= {bytes}:  # Without a step of Python for each.
        batch.add_all(cast("List[bytes]", items))
        return batch
    plain: List[bytes] = []
    for item in items:
        if isinstance(item, NewMessage):
            batch.add_all(plain)
            plain = []
            batch.add(bytes_of(item.payload), message_options(item))
        else:
            plain.append(bytes_of(item))
    batch.add_all(plain)
    return batch


def count_of(max: int) -> int:
    """A count for C, which checks its range."""
    if isinstance(max, bool) or not isinstance(max, int) or max < 0:
        raise InvalidArgument("tableq: max is an int of at least 1")
    return of_64_bits(max, "max")


class Queue(Closing):
    """One queue of a database. Any thread may use it."""

    def __init__(self, database: "Database", pointer: Pointer) -> None:
        self._database = database
        self._pointer: Optional[Pointer] = pointer
        self._name: str = lib.tq_queue_name(pointer).decode()
        self._kind: str = lib.tq_queue_kind(pointer).decode()
        self._outbox: Optional[Outbox] = None
        database._adopt(self)

    @property
    def name(self) -> str:
        return self._name

    @property
    def kind(self) -> str:
        """`heap`, `fifo`, `lifo`, `pending`, `claim` or `table`."""
        return self._kind

    @property
    def database(self) -> "Database":
        return self._database

    def _handle(self) -> Pointer:
        pointer = self._pointer
        if self._database.closed:
            raise InvalidArgument(f"tableq: the database of the queue {self._name} is closed")
        if pointer is None:
            raise InvalidArgument(f"tableq: the handle of the queue {self._name} is closed")
        return pointer

    def pause(self) -> None:
        """Stops all reads, in every process within a second, until `resume`."""
        call(lib.tq_queue_pause, self._handle())

    def resume(self) -> None:
        """Ends a pause."""
        call(lib.tq_queue_resume, self._handle())

    @property
    def paused(self) -> bool:
        """As it stands in the database now."""
        value, pointer = out_int()
        call(lib.tq_queue_paused, self._handle(), pointer)
        return value.value != 0

    def set_limits(self, limits: Limits) -> None:
        """Replaces all limits, for every process within a second."""
        of_type(limits, Limits, "limits")
        options = Options(FOR_LIMITS)
        options.integer(b"capacity", limits.capacity)
        options.double(b"rate", limits.rate)
        options.integer(b"burst", limits.burst)
        options.integer(b"concurrency", limits.concurrency)
        call(lib.tq_queue_set_limits, self._handle(), options)

    @property
    def limits(self) -> Limits:
        """As they stand in the database now."""
        return Result(lib.tq_queue_limits, self._handle()).record(Limits)

    def settings(self) -> "dict[str, Any]":
        """What holds for this handle, by the names of tableq.h. The database is not asked."""
        fields = Result(lib.tq_queue_settings, self._handle()).dict(0)
        return {name: value for name, value in fields.items() if value is not None}

    def outside(self) -> "Queue":
        """The same queue for work beside a transaction of this thread, on purpose."""
        made = type(self).__new__(type(self))
        pointer = _opened(lib.tq_queue_outside, self._handle())
        Queue.__init__(made, self._database, pointer)
        return made

    def close(self) -> None:
        """Ends the handle; the queue stays. Calls that wait go on to their end."""
        self._pointer = None

    def __repr__(self) -> str:
        return f"<tableq.{type(self).__name__} {self._name}>"

    # ----------------------------------------------------------------------------------- internal

    def _stats(self, exact: bool, count_to: Optional[int]) -> Result:
        options = Options(FOR_STATS)
        options.boolean(b"exact", exact)
        options.integer(b"count_to", count_to)
        return Result(lib.tq_queue_stats, self._handle(), options)

    def _purge(
        self, state: Optional[bytes], older_than: Optional[Duration], batch: Optional[int]
    ) -> int:
        options = None
        if older_than is not None or batch is not None:
            options = Options(FOR_PURGE)
            options.duration(b"older_than_ms", older_than)
            options.integer(b"batch", batch)
        value, pointer = out_int64()
        call(lib.tq_purge, self._handle(), state, options, pointer)
        return value.value

    def _enqueue(
        self,
        message: NewMessage,
        wait: Duration,
        tx: Optional["Transaction"],
        using: Any,
    ) -> Added:
        if connection_given(using, wait, tx):
            return self._through_sql().put(message, using)
        payload = bytes_of(message.payload)
        longest = 0 if wait == 0 else wait_milliseconds(wait)
        if longest == 0 or tx is not None:
            options = message_options(message)
            if longest:
                options = options or Options(FOR_MESSAGE)
                options.integer(b"wait_ms", longest)
            return self._enqueue_once(payload, options, tx)

        def attempt(stop: Optional[Stop], wait_ms: int) -> Added:
            options = message_options(message) or Options(FOR_MESSAGE)
            options.waiting(wait_ms, stop)
            return self._enqueue_once(payload, options, None)

        return self._database._wait_for_room(attempt, longest)

    def _enqueue_once(
        self, payload: bytes, options: Optional[Options], tx: Optional["Transaction"]
    ) -> Added:
        message_id, outcome = c_int64(), c_int()
        call(
            lib.tq_enqueue,
            self._handle(),
            transaction_pointer(tx),
            payload,
            len(payload),
            options,
            byref(message_id),
            byref(outcome),
        )
        return Added(message_id.value, outcome_name(outcome.value))

    def _enqueue_batch(
        self,
        messages: Iterable[BatchItem],
        wait: Duration,
        tx: Optional["Transaction"],
        using: Any,
    ) -> List[Added]:
        if connection_given(using, wait, tx):
            return self._through_sql().put_batch(messages, using)
        batch = _batch_of(list(listed(messages)))
        longest = wait_milliseconds(wait)

        def attempt(stop: Optional[Stop], wait_ms: int) -> List[Added]:
            options = wait_options(FOR_ENQUEUE, wait_ms, stop)
            rows = Result(
                lib.tq_enqueue_batch, self._handle(), transaction_pointer(tx), batch, options
            )
            outcomes = rows.integers(b"outcome")
            names = {outcome: outcome_name(outcome) for outcome in set(outcomes)}
            return list(map(_added, zip(rows.integers(b"id"), map(names.get, outcomes))))

        if longest == 0 or tx is not None:
            return attempt(None, longest)
        return self._database._wait_for_room(attempt, longest)

    async def _put_async(self, message: NewMessage, using: Any, wait: Duration = 0) -> Added:
        """By an asynchronous connection of the application, or in a thread of the database object."""
        if connection_given(using, wait, None):
            outbox = self._outbox
            if outbox is None:
                outbox = await self._database._run(self._through_sql)
            return await outbox.put_async(message, using)
        return await self._database._run(lambda: self._enqueue(message, wait, None, using))

    def _through_sql(self) -> Outbox:
        """Enqueues by SQL text on a connection of the application."""
        if self._outbox is None:
            self._handle()
            self._outbox = self._database._outbox_of(self._name)
        return self._outbox


def _opened(function: Any, *arguments: Any) -> Pointer:
    from ._handles import made

    return made(lib.tq_queue_close, function, *arguments)


class _DeletingQueue(Queue):
    """A queue whose reads delete."""

    def dequeue(
        self, max: int = 1, *, wait: Duration = 0, tx: Optional["Transaction"] = None
    ) -> List[Message]:
        """Takes up to `max` messages (1 to 10,000) out of the queue, in its order: what it returns
        is the only copy. Outside of a transaction they are lost if the process dies.

        wait: the longest wait for the first message; `math.inf` waits for ever. Ctrl-C ends it.
        """
        count = count_of(max)
        longest = wait_milliseconds(wait)

        def attempt(stop: Optional[Stop], wait_ms: int) -> List[Message]:
            options = wait_options(FOR_READ, wait_ms, stop)
            rows = Result(lib.tq_dequeue, self._handle(), transaction_pointer(tx), count, options)
            return [Message(rows, row) for row in range(len(rows))]

        if longest == 0 or tx is not None:
            return attempt(None, longest)
        return self._database._wait_for_messages(attempt, longest)

    def dequeue_one(
        self, *, wait: Duration = 0, tx: Optional["Transaction"] = None
    ) -> Optional[Message]:
        """One message, or None."""
        found = self.dequeue(1, wait=wait, tx=tx)
        return found[0] if found else None

    async def dequeue_async(self, max: int = 1, *, wait: Duration = 0) -> List[Message]:
        """As `dequeue`, without holding up the event loop or a thread. A cancelled wait takes
        nothing; a read under way when the await is cancelled is lost, as in a process that dies."""
        from ._async import read

        return await read(self, lambda: self.dequeue(max), wait, None)

    def peek(self, max: int = 1) -> List[Message]:
        """Up to `max` messages that reads would return next. Reads only."""
        rows = Result(lib.tq_peek, self._handle(), count_of(max))
        return [Message(rows, row) for row in range(len(rows))]

    def purge(self) -> int:
        """Deletes all messages, in small transactions. Returns how many."""
        return self._purge(None, None, None)

    def stats(self, *, exact: bool = False, count_to: Optional[int] = None) -> QueueStats:
        """Counts messages. Reads only."""
        return self._stats(exact, count_to).record(QueueStats)

    def put_batch(
        self,
        messages: Iterable[BatchItem],
        *,
        wait: Duration = 0,
        tx: Optional["Transaction"] = None,
        using: Any = NOT_GIVEN,
    ) -> List[Added]:
        """Adds all or none, in order, in one transaction. See `put`."""
        return self._enqueue_batch(messages, wait, tx, using)


class PlainQueue(_DeletingQueue):
    """A queue of the kind `heap`, `fifo` or `lifo`."""

    def put(
        self,
        payload: Payload,
        *,
        created_at: Optional[datetime.datetime] = None,
        wait: Duration = 0,
        tx: Optional["Transaction"] = None,
        using: Any = NOT_GIVEN,
    ) -> Added:
        """Adds one message. It is stored when the call returns; with `tx`, when that commits.
        Returns its id and outcome.

        created_at: stored and returned; decides nothing. wait: for room in a full queue.
        using: a connection of psycopg, psycopg2 or sqlite3 to the same database: the message is
        added by SQL text in the transaction that is open there, and you commit it.
        """
        if created_at is None and wait == 0 and using is NOT_GIVEN:
            return self._enqueue_once(bytes_of(payload), None, tx)
        return self._enqueue(NewMessage(payload, created_at=created_at), wait, tx, using)

    async def put_async(
        self,
        payload: Payload,
        *,
        created_at: Optional[datetime.datetime] = None,
        using: Any = NOT_GIVEN,
    ) -> Added:
        """As `put`, in a thread of the database object. using: an asynchronous connection of
        psycopg, asyncpg or aiosqlite."""
        return await self._put_async(NewMessage(payload, created_at=created_at), using)


class PendingQueue(_DeletingQueue):
    """A queue of the kind `pending`: messages fall due."""

    def put(
        self,
        payload: Payload,
        *,
        delay: Optional[Duration] = None,
        due_at: Optional[datetime.datetime] = None,
        created_at: Optional[datetime.datetime] = None,
        wait: Duration = 0,
        tx: Optional["Transaction"] = None,
        using: Any = NOT_GIVEN,
    ) -> Added:
        """Adds one message, due after `delay` or at `due_at`; with neither, at once. See
        `PlainQueue.put` for the rest."""
        message = NewMessage(payload, created_at=created_at, delay=delay, due_at=due_at)
        return self._enqueue(message, wait, tx, using)

    async def put_async(
        self,
        payload: Payload,
        *,
        delay: Optional[Duration] = None,
        due_at: Optional[datetime.datetime] = None,
        created_at: Optional[datetime.datetime] = None,
        using: Any = NOT_GIVEN,
    ) -> Added:
        """As `put`, in a thread of the database object. using: as of `PlainQueue.put_async`."""
        message = NewMessage(payload, created_at=created_at, delay=delay, due_at=due_at)
        return await self._put_async(message, using)


def ids_batch(ids: Sequence[int]) -> Batch:
    """A batch of messages' ids."""
    batch = Batch()
    for each in ids:
        batch.add_id(id_of(each))
    return batch


def lease_milliseconds(lease: Duration) -> int:
    """A lease for C, which checks its range."""
    return milliseconds(lease, "lease")
