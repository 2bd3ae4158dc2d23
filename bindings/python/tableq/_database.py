"""Databases, and calls that wait."""

from __future__ import annotations

import _thread
import asyncio
import atexit
import concurrent.futures
import contextlib
import threading
import time
import warnings
import weakref
from typing import Any, Callable, Dict, Iterator, List, Mapping, Optional, Set, Tuple, TypeVar, Union

from ._batches import BatchInfo, MessageBatch
from ._errors import InvalidArgument, QueueFull, call
from ._handles import (
    FOR_ALTER,
    FOR_MIGRATE,
    FOR_OPEN,
    FOR_QUEUE,
    Closing,
    Duration,
    Options,
    Pointer,
    Result,
    RetryDelays,
    Stop,
    bool_of,
    id_of,
    made,
    out_int,
    span_milliseconds,
    text_of,
    word_of,
)
from ._keeper import Keeper
from ._lease import ClaimQueue, TableQueue
from ._library import lib
from ._messages import Finding, MigrationStep, OptionChange, QueueInfo
from ._queue import PendingQueue, PlainQueue, count_of
from ._schedules import Schedules
from ._sql import Outbox
from ._sqlite import Guard
from ._transaction import Transaction
from .testing import Clock

T = TypeVar("T")

_open_databases: "weakref.WeakSet[Database]" = weakref.WeakSet()
_open_lock = threading.RLock()  # A signal's handler may come in the midst of it.

# Threads for the calls of an event loop. None of these calls waits for messages, so that a few
# threads serve any number of awaits.
_ASYNC_THREADS = 8

# How long the end of the interpreter waits for calls in threads that are daemons.
_END_SECONDS = 5.0

# A signal that comes just before the main thread sleeps does not wake it: it looks that often.
_SIGNAL_SECONDS = 0.1

# How long a thread may take to begin.
_BEGIN_SECONDS = 1.0


@atexit.register
def _close_all() -> None:
    """Before the interpreter ends: no call waits, and no thread of the library is left."""
    with _open_lock:
        databases = list(_open_databases)
    for database in databases:
        database.close()
        if not database.closed:
            continue  # Of the parent process: its calls are not of this one.
        end = time.monotonic() + _END_SECONDS
        while database._stops and time.monotonic() < end:
            time.sleep(0.001)


def _place(schema_name: Optional[str], table_prefix: Optional[str], options: Options) -> None:
    options.text(b"schema_name", schema_name)
    options.text(b"table_prefix", table_prefix)


# The options of a `claim` queue but for `retry` and `retry_jitter`, which go together.
_CLAIM_OPTIONS: Dict[str, Tuple[Callable[[Options, bytes, Any], None], bytes]] = {
    "lease": (Options.duration, b"lease_ms"),
    "max_attempts": (Options.integer, b"max_attempts"),
    "keep_completed": (Options.boolean, b"keep_completed"),
    "time_to_live": (Options.lifetime, b"time_to_live_ms"),
    "keys": (Options.text, b"keys"),
    "key_window": (Options.duration, b"key_window_ms"),
    "groups": (Options.boolean, b"groups"),
    "group_limit": (Options.integer, b"group_limit"),
    "group_on_failure": (Options.text, b"group_on_failure"),
    "group_by_turns": (Options.boolean, b"group_by_turns"),
    "dead_letters": (Options.text, b"dead_letters"),
    "retain_done": (Options.duration, b"retain_done_ms"),
    "retain_dead": (Options.duration, b"retain_dead_ms"),
    "batches": (Options.boolean, b"batches"),
}

# The options that `alter` takes, some of them in another form.
_CHANGES: Dict[str, Tuple[Callable[[Options, bytes, Any], None], bytes]] = {
    **{name: option for name, option in _CLAIM_OPTIONS.items() if name != "batches"},
    "retain_done": (Options.lifetime, b"retain_done_ms"),
    "retain_dead": (Options.lifetime, b"retain_dead_ms"),
    "ordering": (Options.text, b"ordering"),
}


def claim_options(given: Mapping[str, Any], purpose: int = FOR_QUEUE) -> Options:
    known = _CLAIM_OPTIONS if purpose == FOR_QUEUE else _CHANGES
    options = Options(purpose)
    options.retry(given.get("retry"), given.get("retry_jitter"))
    for name, value in given.items():
        if name in ("retry", "retry_jitter"):
            continue
        if name not in known:
            names = ", ".join((*known, "retry", "retry_jitter"))
            lacks = "a claim queue has no" if purpose == FOR_QUEUE else "alter changes no"
            raise InvalidArgument(f"tableq: {lacks} {name}; there are {names}")
        store, key = known[name]
        store(options, key, value)
    return options


class Database(Closing):
    """A database that holds queues. Any thread may use it. `tableq.open` makes it, and connects
    once, so that a wrong address, password or file fails there.

    url: `sqlite:///var/lib/shop/shop.db` (three slashes: an absolute path), `sqlite://shop.db`,
    `postgresql://user:password@host/database`. create: whether opening a queue may create its
    table. schema_name, table_prefix: where the tables are. retry_for: how long a call is repeated
    after errors that allow it, 10 s by default. clock: for tests, see tableq.testing. The others:
    `open_options` in tableq/options.hpp.

    Close it with `close`, or by `with`; what is open when the interpreter ends is closed then. In a
    child of fork() every call raises InvalidArgument: open another one there.
    """

    def __init__(
        self,
        url: str,
        *,
        create: bool = True,
        schema_name: Optional[str] = None,
        table_prefix: Optional[str] = None,
        notifications: Optional[str] = None,
        max_sessions: Optional[int] = None,
        session_timeout: Optional[Duration] = None,
        retry_for: Optional[Duration] = None,
        max_payload: Optional[int] = None,
        poll_interval: Optional[Duration] = None,
        refuses_beside_begin: Optional[bool] = None,
        metrics: bool = False,
        clock: Optional[Clock] = None,
    ) -> None:
        self._pointer: Optional[Pointer] = None
        self._stops: Set[Stop] = set()
        # A signal's handler may close the database in the midst of a call.
        self._lock = threading.RLock()
        self._children: "weakref.WeakSet[Any]" = weakref.WeakSet()
        self._closing = False
        self._executor: Optional[concurrent.futures.ThreadPoolExecutor] = None
        self._schema_name = schema_name or ""
        self._table_prefix = table_prefix or ""
        self._notifications = notifications
        options = Options(FOR_OPEN)
        options.text(b"schema", "create_if_missing" if bool_of(create, "create") else "verify_only")
        _place(schema_name, table_prefix, options)
        options.text(b"notifications", notifications)
        options.integer(b"max_sessions", max_sessions)
        options.duration(b"session_timeout_ms", session_timeout)
        options.duration(b"retry_for_ms", retry_for)
        options.integer(b"max_payload", max_payload)
        options.duration(b"poll_interval_ms", poll_interval)
        options.boolean(b"refuses_beside_begin", refuses_beside_begin)
        options.boolean(b"metrics", metrics)
        if clock is not None:
            if not isinstance(clock, Clock):
                raise InvalidArgument("tableq: clock is a tableq.testing.Clock")
            call(lib.tq_options_set_clock, options, clock)
        text_of(url, "url")
        self._guard = Guard(url)
        text = text_of(self._guard.url, "url")
        self._pointer = made(lib.tq_database_close, lib.tq_database_open, text, len(text), options)
        self._guard.opened()
        self._backend: str = lib.tq_database_backend(self._pointer).decode()
        with _open_lock:
            _open_databases.add(self)

    @property
    def backend(self) -> str:
        """The dialect's name: `postgresql`."""
        return self._backend

    @property
    def closed(self) -> bool:
        return self._pointer is None

    def _adopt(self, child: Any) -> None:
        """What `close` closes too."""
        with self._lock:
            self._children.add(child)

    def _handle(self) -> Pointer:
        pointer = self._pointer
        if pointer is None:
            raise InvalidArgument("tableq: the database is closed")
        return pointer

    def close(self) -> None:
        """Ends it: calls that wait return with nothing, and later calls raise InvalidArgument.
        Nothing that was leased is given back."""
        pointer = self._pointer
        if pointer is None or pointer.inherited:
            return
        with self._lock:
            self._closing = True
            executor = self._executor
        if executor is not None:
            executor.shutdown(wait=True)  # Awaits that were cancelled give their messages back.
        with self._lock:
            self._pointer = None
            stops = list(self._stops)
        for stop in stops:
            stop.request()
        # The sessions stay open for them.
        with self._lock:
            children = list(self._children)
        for child in children:
            child._leave()
        self._guard.closed()
        with _open_lock:
            _open_databases.discard(self)

    def __del__(self) -> None:
        pointer = getattr(self, "_pointer", None)
        if pointer is not None and not pointer.inherited:
            warnings.warn(f"unclosed {self!r}", ResourceWarning, source=self)
            self._guard.closed()

    def __repr__(self) -> str:
        return f"<tableq.Database {getattr(self, '_backend', '')}>"

    # ------------------------------------------------------------------------------------- queues

    def _queue(self, name: str, kind: bytes, options: Optional[Options]) -> Pointer:
        text = text_of(name, "name")
        return made(
            lib.tq_queue_close, lib.tq_queue_open, self._handle(), text, len(text), kind, options
        )

    def heap(self, name: str) -> PlainQueue:
        """Opens a queue of the kind `heap`: any message comes next. Creates it, in a transaction of
        its own, if it does not exist and `create` allows that."""
        return PlainQueue(self, self._queue(name, b"heap", None))

    def _ordered(self, name: str, kind: bytes, ordering: Optional[str]) -> PlainQueue:
        options = None
        if ordering is not None:
            options = Options(FOR_QUEUE)
            options.text(b"ordering", ordering)
        return PlainQueue(self, self._queue(name, kind, options))

    def fifo(self, name: str, *, ordering: Optional[str] = None) -> PlainQueue:
        """The same for the kind `fifo`: the oldest comes next.

        ordering: "relaxed" (parallel consumers may overtake each other) or "strict".
        """
        return self._ordered(name, b"fifo", ordering)

    def lifo(self, name: str, *, ordering: Optional[str] = None) -> PlainQueue:
        """The same for the kind `lifo`: the newest comes next."""
        return self._ordered(name, b"lifo", ordering)

    def pending(self, name: str) -> PendingQueue:
        """The same for the kind `pending`: messages fall due."""
        return PendingQueue(self, self._queue(name, b"pending", None))

    def claim(
        self,
        name: str,
        *,
        lease: Optional[Duration] = None,
        max_attempts: Optional[int] = None,
        keep_completed: Optional[bool] = None,
        retry: Optional[RetryDelays] = None,
        retry_jitter: Optional[int] = None,
        time_to_live: Optional[Duration] = None,
        keys: Optional[str] = None,
        key_window: Optional[Duration] = None,
        groups: Optional[bool] = None,
        group_limit: Optional[int] = None,
        group_on_failure: Optional[str] = None,
        group_by_turns: Optional[bool] = None,
        dead_letters: Optional[str] = None,
        retain_done: Optional[Duration] = None,
        retain_dead: Optional[Duration] = None,
        batches: Optional[bool] = None,
    ) -> ClaimQueue:
        """The same for the kind `claim`: a read leases. What is given is stored with a new queue;
        on an existing one lease, max_attempts, keep_completed, retry and time_to_live hold for this
        handle, and all else must equal what is stored.

        lease: 30 s in a new queue. max_attempts: 5. retry: delays after failed attempts; "usual"
        (1 s, 5 s, 30 s, then 5 min) in a new queue, or "none". retry_jitter: per cent.
        keep_completed: a completed message stays until `purge`. keys: how long a message holds its
        key, "active" or "waiting". key_window: how long a completed one does. groups: messages may
        have a group, as with each of the next three; False is as None. group_limit: leases of one
        at a time. group_on_failure: "hold" or "pass" while one of its messages rests.
        group_by_turns: a long backlog of one holds up no other. dead_letters: the queue that
        receives dead messages. retain_done, retain_dead: finished messages that old are removed.
        batches: messages may belong to batches.
        """
        given = {name: value for name, value in locals().items() if name not in ("self", "name")}
        return ClaimQueue(self, self._queue(name, b"claim", claim_options(given)))

    def table(self, definition: Union[str, Mapping[str, Any]]) -> TableQueue:
        """Uses a table of the application as a queue, and changes nothing.

        definition: the table and what its columns mean, as JSON or a dict: see docs/tables.md.
        """
        text = _json(definition)
        return TableQueue(
            self,
            made(lib.tq_queue_close, lib.tq_queue_open_table, self._handle(), text, len(text)),
        )

    def stored_table(self, name: str) -> TableQueue:
        """The same for a table that `store_table` has stored under this name."""
        text = text_of(name, "name")
        return TableQueue(
            self,
            made(
                lib.tq_queue_close, lib.tq_queue_open_stored_table, self._handle(), text, len(text)
            ),
        )

    def store_table(self, name: str, definition: Union[str, Mapping[str, Any]]) -> None:
        """Stores a definition in the catalogue, so that other programs find it by its name."""
        text, json = text_of(name, "name"), _json(definition)
        call(lib.tq_database_store_table, self._handle(), text, len(text), json, len(json))

    def queues(self) -> List[QueueInfo]:
        """All queues of the catalogue, by name. Reads only."""
        rows = Result(lib.tq_database_queues, self._handle())
        return [_info(rows, row) for row in range(len(rows))]

    def find(self, name: str) -> Optional[QueueInfo]:
        """One queue of the catalogue, or None. Reads only."""
        text = text_of(name, "name")
        rows = Result(lib.tq_database_find, self._handle(), text, len(text))
        return _info(rows, 0) if len(rows) else None

    def drop(self, name: str) -> bool:
        """Deletes a queue with all its messages; of a stored table only its definition. Returns
        whether there was one."""
        text = text_of(name, "name")
        value, pointer = out_int()
        call(lib.tq_database_drop, self._handle(), text, len(text), pointer)
        return value.value != 0

    def alter(self, name: str, *, dry_run: bool = False, **changes: Any) -> List[OptionChange]:
        """Changes options of a queue while programs use it: those of `claim`, by the same names,
        with `math.inf` for no `time_to_live`, `retain_done` or `retain_dead`, and an empty text for
        no `dead_letters`. Open queues follow within a second. Returns what changed."""
        options = claim_options(changes, FOR_ALTER)
        options.boolean(b"dry_run", dry_run)
        text = text_of(name, "name")
        rows = Result(lib.tq_database_alter, self._handle(), text, len(text), options)
        return rows.records(OptionChange)

    def batch(self, id: int) -> MessageBatch:
        """A batch by its id. The database is not asked."""
        return MessageBatch(self, id_of(id))

    def batches(
        self, max: int = 20, *, before: int = 0, count_to: Optional[int] = None
    ) -> List[BatchInfo]:
        """Batches, the newest first. before: only those with lower ids. count_to: at least so many
        members of each are counted; without, all. Reads only."""
        if count_to == 0:
            raise InvalidArgument("tableq: count_to is at least 1; leave it out to count all")
        least = 0 if count_to is None else count_of(count_to)
        rows = Result(
            lib.tq_database_batches, self._handle(), count_of(max), id_of(before), least
        )
        return rows.records(BatchInfo)

    def migrate(
        self,
        *queues: str,
        to: Optional[int] = None,
        wait: Optional[Duration] = None,
        dry_run: bool = False,
    ) -> List[MigrationStep]:
        """Brings catalogue and queues to a layout, the newest without `to`. Never runs by itself."""
        options = Options(FOR_MIGRATE)
        for name in queues:
            text = text_of(name, "name")
            call(lib.tq_options_add_text, options, b"queues", text, len(text))
        options.integer(b"to", to)
        options.duration(b"wait_ms", wait)
        options.boolean(b"dry_run", dry_run)
        rows = Result(lib.tq_database_migrate, self._handle(), options)
        return [
            MigrationStep(
                queue=rows.text(row, b"queue"),
                from_layout=rows.integer(row, b"from"),
                to_layout=rows.integer(row, b"to"),
                sql=rows.text(row, b"sql"),
            )
            for row in range(len(rows))
        ]

    def inspect(self) -> List[Finding]:
        """Checks for causes of slow or wrong queues. Reads only."""
        return Result(lib.tq_database_inspect, self._handle()).records(Finding)

    @property
    def schedules(self) -> Schedules:
        """The rules of periodic messages."""
        return Schedules(self)

    def metrics(self, format: str = "prometheus") -> str:
        """The figures of a database that was opened with `metrics=True`: "prometheus" or "json"."""
        return Result(lib.tq_database_metrics, self._handle(), word_of(format, "format")).text(0, b"text")

    # ------------------------------------------------------------------------------- transactions

    def transaction(self) -> Transaction:
        """Begins a transaction on a session of its own: `with db.transaction() as tx:`."""
        return Transaction(self)

    def transact(self, function: Callable[[Transaction], T], *, retry_for: Duration = 10) -> T:
        """Runs `function(tx)` and commits. After a conflict, or a session lost before the commit,
        it runs again from the start, for up to `retry_for`: it must have no effects outside of the
        transaction. Never again after OutcomeUnknown."""
        from ._errors import Error
        from ._pause import Pauses

        if not callable(function):
            raise InvalidArgument("tableq: function is not callable")
        pauses = Pauses(span_milliseconds(retry_for, "retry_for") / 1000)
        while True:
            try:
                with self.transaction() as tx:
                    return function(tx)
            except Error as error:
                if error.advice not in ("transaction", "session") or not pauses.sleep():
                    raise

    def keeper(self) -> Keeper:
        """Makes a keeper of leases: see Keeper."""
        return Keeper(self)

    # ----------------------------------------------------------------------------------- internal

    def _outbox_of(self, name: str) -> Outbox:
        info = self.find(name)
        if info is None:
            raise InvalidArgument(f"tableq: the catalogue has no queue {name}")
        return Outbox(
            name,
            table_prefix=self._table_prefix,
            schema_name=self._schema_name,
            notifications=self._notifications,
            identity=info.identity,
            backend=self._backend,
        )

    def _stop(self) -> "contextlib.AbstractContextManager[Stop]":
        """A stop that `close` requests."""
        return self._also(Stop())

    @contextlib.contextmanager
    def _also(self, stop: Stop) -> Iterator[Stop]:
        """The same for a stop that is there."""
        try:
            with self._lock:
                if self._pointer is None:
                    stop.request()
                self._stops.add(stop)
            yield stop
        finally:
            with self._lock:
                self._stops.discard(stop)

    def _wait_for_messages(
        self,
        attempt: Callable[[Optional[Stop], int], List[T]],
        longest: int,
    ) -> List[T]:
        if threading.current_thread() is not threading.main_thread():
            with self._stop() as stop:
                return attempt(stop, longest)
        # The first look needs no thread.
        found = attempt(None, 0)
        if found:
            return found
        return self._beside(lambda stop: attempt(stop, longest))

    def _wait_for_room(self, attempt: Callable[[Optional[Stop], int], T], longest: int) -> T:
        if threading.current_thread() is not threading.main_thread():
            with self._stop() as stop:
                return attempt(stop, longest)
        try:
            return attempt(None, 0)
        except QueueFull:
            return self._beside(lambda stop: attempt(stop, longest))

    def _beside(self, attempt: Callable[[Stop], T]) -> T:
        """Runs a call that waits; when this raises, that call has ended or will never begin. In the
        main thread it runs in another one: Python's signal handlers run in the main thread, between
        two steps of Python and never in a C call."""
        if threading.current_thread() is not threading.main_thread():
            with self._stop() as stop:
                return attempt(stop)
        results: List[T] = []
        errors: List[BaseException] = []
        # A signal's handler may raise at any step. It cannot leave these locks in disorder, as it
        # could those of threading.Event and threading.Thread, which are written in Python.
        begun, done = _thread.allocate_lock(), _thread.allocate_lock()
        begun.acquire()
        done.acquire()
        over: List[bool] = []
        stop = Stop()

        def run() -> None:
            begun.release()
            try:
                # An interrupted caller has gone on without this thread.
                if not stop.requested:
                    results.append(attempt(stop))
            except BaseException as error:  # It is raised in the caller's thread.
                errors.append(error)
            finally:
                over.append(True)
                done.release()

        try:
            with self._also(stop):
                _thread.start_new_thread(run, ())
                while not done.acquire(timeout=_SIGNAL_SECONDS):
                    pass
        except BaseException:
            stop.request()
            if begun.acquire(timeout=_BEGIN_SECONDS):
                # The exception may have come when `done` was acquired already.
                while not over:
                    done.acquire(timeout=_SIGNAL_SECONDS)
            raise
        if errors:
            raise errors.pop()  # Kept here, it would keep this frame, which keeps it.
        if not results:  # The database was closed before the call began.
            return attempt(stop)
        return results[0]

    def _threads(self) -> concurrent.futures.ThreadPoolExecutor:
        with self._lock:
            if self._pointer is None or self._closing:
                raise InvalidArgument("tableq: the database is closed")
            if self._pointer.inherited:
                raise InvalidArgument(
                    "tableq: the database was opened before a fork: open another one in the child"
                )
            if self._executor is None:
                self._executor = concurrent.futures.ThreadPoolExecutor(
                    _ASYNC_THREADS, thread_name_prefix="tableq"
                )
            return self._executor

    def _submit(self, function: Callable[[], T]) -> "concurrent.futures.Future[T]":
        """Runs a call that does not wait for messages in another thread."""
        try:
            return self._threads().submit(function)
        except RuntimeError:  # A close has come between.
            raise InvalidArgument("tableq: the database is closed") from None

    async def _run(self, function: Callable[[], T]) -> T:
        """Runs a call that does not wait for messages, beside the event loop. A call that has begun
        goes on to its end when the await is cancelled."""
        return await asyncio.wrap_future(self._submit(function))

    async def _run_to_end(self, function: Callable[[], T]) -> T:
        """The same for the end of a job: the call also goes on if the await is cancelled before it
        has begun. `close` waits for it."""
        future = self._submit(function)
        loop = asyncio.get_running_loop()
        over: "asyncio.Future[None]" = loop.create_future()

        def set_over() -> None:
            if not over.done():
                over.set_result(None)

        def tell(_: Any) -> None:
            with contextlib.suppress(RuntimeError):  # The loop is closed.
                loop.call_soon_threadsafe(set_over)

        future.add_done_callback(tell)
        await over
        return future.result()


def ddl(
    dialect: str,
    kind: str,
    name: str,
    *,
    schema_name: Optional[str] = None,
    table_prefix: Optional[str] = None,
    **options: Any,
) -> str:
    """The SQL with which an administrator, or a migration, creates a queue; no database is asked.

    dialect: "sqlite", "postgresql" or "sqlserver". options: of a `claim` queue, those of
    `Database.claim`; of a `fifo` or `lifo` queue `ordering`.
    """
    queue = _queue_of(kind, name, schema_name, table_prefix, options)
    return Result(lib.tq_ddl, word_of(dialect, "dialect"), *queue).text(0, b"text")


def grants(
    dialect: str,
    role: str,
    user: str,
    kind: str,
    name: str,
    *,
    schema_name: Optional[str] = None,
    table_prefix: Optional[str] = None,
    **options: Any,
) -> str:
    """The SQL that grants a user of the database the rights of a role on a queue; no database is
    asked.

    role: "producer", "replacer", "consumer", "viewer", "manager", "owner" or "scheduler". options:
    as of `ddl`, those that the queue was created with.
    """
    to = text_of(user, "user")
    queue = _queue_of(kind, name, schema_name, table_prefix, options)
    words = word_of(dialect, "dialect"), word_of(role, "role")
    return Result(lib.tq_grants, *words, to, len(to), *queue).text(0, b"text")


def _queue_of(
    kind: str,
    name: str,
    schema_name: Optional[str],
    table_prefix: Optional[str],
    options: Dict[str, Any],
) -> Tuple[Any, ...]:
    """The parameters of C for a queue that need not exist."""
    place = Options(FOR_OPEN)
    _place(schema_name, table_prefix, place)
    if kind == "claim":
        given = claim_options(options)
    else:
        given = Options(FOR_QUEUE)
        given.text(b"ordering", options.pop("ordering", None))
        if options:
            raise InvalidArgument(f"tableq: a {kind} queue has no {next(iter(options))}")
    text = text_of(name, "name")
    return text, len(text), word_of(kind, "kind"), given, place


def _info(rows: Result, row: int) -> QueueInfo:
    fields: Dict[str, Any] = rows.dict(row)
    known = {
        name: fields.pop(name) for name in ("name", "kind", "layout", "identity", "created_at")
    }
    for mark in ("schedules", "group_limits", "group_rates"):
        if not fields[mark]:
            del fields[mark]
    options = {name: value for name, value in fields.items() if value is not None}
    return QueueInfo(options=options, **known)


def _json(definition: Union[str, Mapping[str, Any]]) -> bytes:
    import json

    if isinstance(definition, str):
        return text_of(definition, "definition")
    return json.dumps(definition).encode()


open = Database
