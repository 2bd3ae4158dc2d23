"""What queues return, and what is put into them."""

from __future__ import annotations

import dataclasses
import datetime
import logging
from ctypes import c_void_p
from types import TracebackType
from typing import TYPE_CHECKING, Any, Dict, List, Mapping, NamedTuple, Optional, Tuple, Type

from ._errors import Error, InvalidArgument
from ._exits import is_failure
from ._handles import (
    LONGEST_DELAY,
    Duration,
    Payload,
    Pointer,
    Result,
    RetryDelays,
    Rows,
    span_milliseconds,
)
from ._library import lib

if TYPE_CHECKING:
    from ._batches import AnyBatch
    from ._keeper import Keeper
    from ._lease import LeaseQueue
    from ._transaction import Transaction

log = logging.getLogger("tableq")


class Added(NamedTuple):
    """What became of a message that was put."""

    id: int
    """Of the message, or of the one that holds the key."""
    outcome: str
    """`added`; with a key also `kept_first`, `replaced` or `postponed`."""


@dataclasses.dataclass(frozen=True)
class NewMessage:
    """One message of a batch with options of its own: those of `put`."""

    payload: Payload
    created_at: Optional[datetime.datetime] = None
    delay: Optional[Duration] = None
    due_at: Optional[datetime.datetime] = None
    priority: Optional[int] = None
    headers: Optional[Mapping[str, str]] = None
    key: Optional[str] = None
    on_duplicate: Optional[str] = None
    group: Optional[str] = None
    time_to_live: Optional[Duration] = None
    max_attempts: Optional[int] = None
    retry: Optional[RetryDelays] = None
    retry_jitter: Optional[int] = None
    batch: Optional["AnyBatch"] = None


class Message:
    """A message that a read has deleted from its queue: this is the only copy."""

    __slots__ = ("id", "payload", "created_at", "due_at")

    def __init__(self, rows: Rows, row: int) -> None:
        self.id: int = rows.integer(row, b"id")
        self.payload: bytes = rows.data(row, b"payload") or b""
        self.created_at: datetime.datetime = rows.time(row, b"created_at")
        self.due_at: Optional[datetime.datetime] = rows.optional_time(row, b"due_at")
        """Of a `pending` queue."""

    @property
    def text(self) -> str:
        """The payload as UTF-8."""
        return self.payload.decode("utf-8")

    def __repr__(self) -> str:
        return f"<tableq.Message {self.id}>"


class Progress(NamedTuple):
    """How far a message is, as its handler said last."""

    done: float
    """From 0 to 1."""
    note: str
    at: datetime.datetime
    """When it was stored, by the database's clock."""


class Awaited(NamedTuple):
    """What `wait_for` has found."""

    ending: str
    """`done`; `dead`; `gone`: it is not in the queue, as a completed message of one that keeps
    none; `waiting`: the time is over."""
    state: Optional[str]
    """As last seen. None: it is gone."""
    result: Optional[bytes]
    """Of a done message."""
    error: Optional[str]
    """Of a done or dead message: its last failure."""
    error_at: Optional[datetime.datetime] = None
    """When that was."""

    @classmethod
    def _of(cls, rows: Rows) -> "Awaited":
        return cls(
            ending=lib.tq_ending_name(rows.integer(0, b"ending")).decode(),
            state=rows.optional_text(0, b"state"),
            result=rows.data(0, b"result"),
            error=rows.optional_text(0, b"error"),
            error_at=rows.optional_time(0, b"error_at"),
        )


@dataclasses.dataclass(frozen=True)
class StoredMessage:
    """A message as it stands in a `claim` queue."""

    id: int
    state: str
    """`ready`, `leased`, `delayed`, `done`, `dead` or `held`."""
    payload: bytes
    headers: Dict[str, str]
    key: Optional[str]
    group: Optional[str]
    priority: int
    attempts: int
    created_at: datetime.datetime
    due_at: Optional[datetime.datetime]
    expires_at: Optional[datetime.datetime]
    claimed_at: Optional[datetime.datetime]
    finished_at: Optional[datetime.datetime]
    errors: List[Tuple[datetime.datetime, str]]
    """When an attempt failed and why, the oldest first."""
    progress: Optional[Progress] = None
    """If the look asked for it: what a handler said last."""
    result: Optional[bytes] = None
    """If the look asked for it: what completed the message gave."""

    @property
    def text(self) -> str:
        """The payload as UTF-8."""
        return self.payload.decode("utf-8")

    @classmethod
    def _of(cls, rows: Rows, row: int) -> "StoredMessage":
        history = rows.inner(row, b"errors")
        return rows.record(
            cls,
            row,
            headers=rows.headers(row),
            errors=[(each["at"], each["error"]) for each in history.dicts()]
            if history is not None
            else [],
            progress=cls._progress(rows, row),
        )

    @staticmethod
    def _progress(rows: Rows, row: int) -> Optional[Progress]:
        note = rows.optional_text(row, b"progress_note")
        if note is None:
            return None
        done = rows.optional_double(row, b"progress") or 0.0
        return Progress(done, note, rows.time(row, b"progress_at"))


class GiveUp(Exception):
    """Raised by a handler, or in `with job:`: the message is dead at once, with this text."""


class Retry(Exception):
    """Raised by a handler, or in `with job:`: the attempt has failed, with this text, and the next
    one comes after `delay`."""

    def __init__(self, text: str = "", *, delay: Optional[Duration] = None) -> None:
        super().__init__(text)
        if delay is not None and span_milliseconds(delay, "delay") > LONGEST_DELAY:
            raise InvalidArgument("tableq: delay is from 0 to 3,650 days")
        self.delay = delay


def text_of_exception(error: BaseException) -> str:
    """The text for the message's history."""
    name = type(error).__name__
    try:
        text = str(error)
    except Exception:  # A handler may raise any class, and its message fails all the same.
        text = ""
    if isinstance(error, (GiveUp, Retry)) and text:
        return text
    return f"{name}: {text}" if text else name


def log_failure(job: "Job", error: BaseException) -> None:
    """Says that a handler has failed: with a traceback, unless it said itself what is to happen."""
    if isinstance(error, (GiveUp, Retry)):
        log.warning("tableq: message %d in %s: %s", job.id, job.queue.name,
                    text_of_exception(error))
    else:
        log.error("tableq: message %d in %s failed", job.id, job.queue.name, exc_info=error)


class Taken(Result):
    """What a take of a queue returned."""

    __slots__ = ("queue", "settled", "_alone", "_receipts")

    def __init__(self, queue: "LeaseQueue", alone: bool) -> None:
        Pointer.__init__(self, c_void_p(), lib.tq_result_free)
        self.queue = queue
        self.settled = False  # All messages, by one call.
        self._alone = alone  # At most one message.
        self._receipts: Optional[List[bytes]] = None

    def receipt(self, row: int) -> bytes:
        """Those of a batch are read when somebody asks for one: most batches are settled without."""
        if self._alone:
            return self.data(row, b"receipt") or b""
        if self._receipts is None:
            self._receipts = self.all(b"receipt")
        return self._receipts[row]


class Job:
    """A message under a lease: yours until the lease ends.

    `with job:` completes it at the end. An exception in the block fails it, with the exception's
    text in its history; the exception is logged (logger `tableq`) and ends there, so that a loop
    over jobs goes on. SystemExit fails it too, and goes on. KeyboardInterrupt,
    asyncio.CancelledError and a SystemExit that a signal's handler raises give the message back
    without an attempt and go on. A block that has settled the job itself is left alone.
    """

    __slots__ = ("payload", "_rows", "_row", "_over", "_lost", "_cancelled", "_kept")

    def __init__(self, rows: Taken, row: int, payload: bytes) -> None:
        self.payload = payload
        self._rows = rows
        self._row = row
        self._over = self._lost = self._cancelled = False
        self._kept: Optional[Tuple["Keeper", Optional[Duration]]] = None

    @property
    def queue(self) -> "LeaseQueue":
        """The queue that it came from."""
        return self._rows.queue

    @property
    def receipt(self) -> str:
        """The right to settle it: a text that may be stored, or sent to another process."""
        return self._rows.receipt(self._row).decode()

    @property
    def id(self) -> int:
        return self._rows.integer(self._row, b"id")

    @property
    def text(self) -> str:
        """The payload as UTF-8."""
        return self.payload.decode("utf-8")

    @property
    def headers(self) -> Dict[str, str]:
        return self._rows.headers(self._row)

    @property
    def key(self) -> Optional[str]:
        return self._rows.optional_text(self._row, b"key")

    @property
    def group(self) -> Optional[str]:
        return self._rows.optional_text(self._row, b"group")

    @property
    def priority(self) -> int:
        return self._rows.integer(self._row, b"priority")

    @property
    def attempt(self) -> int:
        """This attempt's number, from 1."""
        return self._rows.integer(self._row, b"attempt")

    @property
    def created_at(self) -> datetime.datetime:
        return self._rows.time(self._row, b"created_at")

    @property
    def claimed_at(self) -> Optional[datetime.datetime]:
        return self._rows.optional_time(self._row, b"claimed_at")

    @property
    def lease_until(self) -> datetime.datetime:
        """When the lease ends, as the take gave it; extensions do not change it here."""
        return self._rows.time(self._row, b"lease_until")

    @property
    def row(self) -> Dict[str, Any]:
        """The columns, of a table of the application; empty otherwise."""
        rows = self._rows.inner(self._row, b"row")
        return rows.dict(0) if rows is not None and len(rows) else {}

    @property
    def lost(self) -> bool:
        """The lease was lost, and another worker may have the message: a settlement or an extension
        of this object has returned False, or a worker has noticed it."""
        return self._lost

    @property
    def cancelled(self) -> bool:
        """Its batch was cancelled, as a worker has noticed: end the work soon. What becomes of the
        job counts as usual."""
        return self._cancelled

    def _told(self, why: str) -> None:
        """By a keeper."""
        if why == "batch_cancelled":
            self._cancelled = True
            return
        self._lost = True
        log.warning("tableq: the lease of message %d in %s was lost while its handler ran",
                    self.id, self.queue.name)

    @property
    def settled(self) -> bool:
        """Whether this object was completed, failed or released."""
        return self._over or self._rows.settled

    def complete(
        self, *, result: Optional[Payload] = None, tx: Optional["Transaction"] = None
    ) -> bool:
        """The work is done. False: the lease was lost, and nothing has happened. result: see
        `ClaimQueue.complete`."""
        return self.queue.complete(self, result=result, tx=tx)

    def progress(self, done: float, note: str = "") -> None:
        """Says how far it is: see `ClaimQueue.progress`."""
        self.queue.progress(self, done, note)

    def fail(
        self,
        error: "str | BaseException" = "",
        *,
        delay: Optional[Duration] = None,
        give_up: bool = False,
        tx: Optional["Transaction"] = None,
    ) -> bool:
        """The attempt has failed: see `ClaimQueue.fail`."""
        return self.queue.fail(self, error, delay=delay, give_up=give_up, tx=tx)

    def release(self, *, tx: Optional["Transaction"] = None) -> bool:
        """Gives it back without an attempt."""
        return self.queue.release(self, tx=tx)

    def extend(self, lease: Duration, *, tx: Optional["Transaction"] = None) -> bool:
        """The lease ends that long from now."""
        return self.queue.extend(self, lease, tx=tx)

    async def complete_async(self, *, result: Optional[Payload] = None) -> bool:
        """As `complete`."""
        return await self.queue._database._run(lambda: self.complete(result=result))

    async def fail_async(
        self,
        error: "str | BaseException" = "",
        *,
        delay: Optional[Duration] = None,
        give_up: bool = False,
    ) -> bool:
        """As `fail`."""
        return await self.queue._database._run(
            lambda: self.fail(error, delay=delay, give_up=give_up)
        )

    async def release_async(self) -> bool:
        """As `release`."""
        return await self.queue._database._run(self.release)

    async def extend_async(self, lease: Duration) -> bool:
        """As `extend`."""
        return await self.queue._database._run(lambda: self.extend(lease))

    def _end(self, error: Optional[BaseException]) -> bool:
        """The end of a block. Returns whether the exception ends here."""
        if self.settled:
            if isinstance(error, Exception):
                log.error("tableq: a job of %s failed after it was settled", self.queue.name,
                          exc_info=error)
            return isinstance(error, Exception)
        if error is None:
            if not self.complete():
                log.warning("tableq: the lease of message %d in %s was lost before it was "
                            "completed; it may run again", self.id, self.queue.name)
            return False
        if not is_failure(error):
            self.release()
            return False
        log_failure(self, error)
        if not self._fail_with(error):
            log.warning("tableq: the lease of message %d in %s was lost", self.id, self.queue.name)
        return isinstance(error, Exception)

    def _fail_with(self, error: BaseException) -> bool:
        delay = error.delay if isinstance(error, Retry) else None
        return self.fail(error, delay=delay, give_up=isinstance(error, GiveUp))

    def __enter__(self) -> "Job":
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> bool:
        try:
            return self._end(error)
        except Error:
            raise
        except BaseException:  # Of a signal's handler.
            if not self.settled:
                self.queue._give_back([self])
            raise

    async def __aenter__(self) -> "Job":
        return self

    async def __aexit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> bool:
        return await self.queue._database._run_to_end(lambda: self._end(error))

    def __repr__(self) -> str:
        return f"<tableq.Job {self.id} of {self.queue.name}>"


@dataclasses.dataclass(frozen=True)
class QueueStats:
    """Figures of a `heap`, `fifo`, `lifo` or `pending` queue."""

    waiting: int
    delayed: int
    last_id: Optional[int]
    oldest: Optional[datetime.datetime]
    counted_to: Optional[int]
    """Greater figures are lower bounds."""
    as_of: datetime.datetime


@dataclasses.dataclass(frozen=True)
class ClaimStats:
    """Figures of a `claim` queue or a table."""

    ready: int
    due: int
    delayed: int
    leased: int
    held: int
    done: int
    dead: int
    dead_letters: Optional[int]
    dead_letters_at_least: bool
    last_id: Optional[int]
    oldest: Optional[datetime.datetime]
    counted_to: Optional[int]
    """Greater figures are lower bounds."""
    as_of: datetime.datetime


@dataclasses.dataclass(frozen=True)
class Limits:
    """Limits of a queue. None: no limit."""

    capacity: Optional[int] = None
    rate: Optional[float] = None
    burst: Optional[int] = None
    concurrency: Optional[int] = None


@dataclasses.dataclass(frozen=True)
class GroupLimits:
    """Limits of a group of messages. None: no limit; running: that of the queue."""

    running: Optional[int] = None
    """Messages that are ready or leased at the same time."""
    rate: Optional[float] = None
    """Starts per second."""
    burst: Optional[int] = None
    """Starts at once after a time without any."""
    weight: Optional[int] = None
    """Turns of the group where others have one: with `group_by_turns`."""


class WaitingGroup(NamedTuple):
    """A group whose messages wait: `ClaimQueue.groups`."""

    group: str
    waiting: int
    """Among the messages that were looked at."""
    oldest: datetime.datetime
    """The earliest `created_at` among them."""


@dataclasses.dataclass(frozen=True)
class Finding:
    """One result of a check."""

    severity: str
    """`ok`, `warning` or `problem`."""
    subject: str
    what: str
    fix: str


@dataclasses.dataclass(frozen=True)
class QueueInfo:
    """A queue of the catalogue."""

    name: str
    kind: str
    layout: int
    identity: int
    created_at: datetime.datetime
    options: Dict[str, Any]
    """The options of its kind, by the names of tableq.h."""


@dataclasses.dataclass(frozen=True)
class MigrationStep:
    """A step between two layouts."""

    queue: str
    from_layout: int
    to_layout: int
    sql: str


@dataclasses.dataclass(frozen=True)
class Redriven:
    """What `redrive_all` did."""

    count: int
    """Messages that are ready again."""
    key_held: int
    """Messages that stay dead because another one holds their key."""


@dataclasses.dataclass(frozen=True)
class Filter:
    """Which messages of a `claim` queue an action or a list concerns: those that meet every
    condition. An action needs a condition, or `all`."""

    state: Optional[str] = None
    """`ready`, `delayed`, `leased`, `held`, `done` or `dead`."""
    older_than: Optional[Duration] = None
    """Finished, or if not finished added, at least so long ago."""
    header: Optional[Tuple[str, str]] = None
    """A name, and its exact value."""
    group: Optional[str] = None
    key_prefix: Optional[str] = None
    error: Optional[str] = None
    """A text that the last error contains."""
    all: bool = False


@dataclasses.dataclass(frozen=True)
class BulkResult:
    """What an action by filter did."""

    count: int
    """Messages that were changed; of a dry run, those that fit."""
    running: int
    """Skipped: they were leased."""
    changed: int
    """Skipped: another call changed them meanwhile."""
    key_held: int
    """Skipped: another message holds their key."""
    stopped_at: Optional[str]
    """For `after` of another call; None: nothing is left."""


@dataclasses.dataclass(frozen=True)
class OptionChange:
    """A changed option of a queue, by its name in tableq.h: `lease_ms`."""

    option: str
    before: str
    after: str
    refused_at_open: bool
    """A program that opens the queue with the old value is refused at its next start."""
