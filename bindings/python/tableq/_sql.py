"""Enqueues by SQL text on a connection of the application.

Two copies of libpq or SQLite may be in one process: that of tableq and that of the Python driver. A
connection of one must never reach the other, so that nothing but text crosses. The texts keep to
what docs/table-format.md allows plain SQL.
"""

from __future__ import annotations

import datetime
import json
import math
from typing import Any, Dict, Iterable, List, Mapping, Optional, Sequence, Tuple, Union

from ._batches import AnyBatch, batch_parts, member_of
from ._connections import Driver, Statement, Steps, async_driver_of, driver_of
from ._errors import DuplicateKey, InvalidArgument, NotFound, TooLarge, Unsupported
from ._handles import (
    Duration,
    Payload,
    RetryDelays,
    bytes_of,
    delays_of,
    listed,
    milliseconds,
    pairs_of,
    time_milliseconds,
)
from ._messages import Added, NewMessage
from ._sqlite import check_connection

_DAY = 24 * 3600 * 1000
_LONGEST_DELAY = 3650 * _DAY
_FIRST_TIME = 0
_LAST_TIME = 253402300800000  # The year 10000.
_USUAL = ([1000, 5000, 30000, 300000], 20)

# {clock}, {table} and {catalog} are replaced; values are bound, with a driver's own marks.
_CLOCK = {
    "sqlite": "CAST((julianday('now') - 2440587.5) * 86400000 + 0.5 AS INTEGER)",
    "postgresql": "CAST(extract(epoch FROM pg_catalog.clock_timestamp()) * 1000 AS bigint)",
}

_PLAIN = """
INSERT INTO {table} (created_at, payload)
SELECT COALESCE(CAST(:created_at AS bigint), {clock}), CAST(:payload AS {bytes})
WHERE EXISTS (SELECT 1 FROM {catalog} WHERE identity = CAST(:identity AS bigint))
"""

_PENDING = """
INSERT INTO {table} (created_at, due_at, payload)
SELECT COALESCE(CAST(:created_at AS bigint), n.clock),
       COALESCE(CAST(:due_at AS bigint), n.clock + CAST(:delay AS bigint)),
       CAST(:payload AS {bytes})
FROM (SELECT {clock} AS clock) AS n
WHERE EXISTS (SELECT 1 FROM {catalog} WHERE identity = CAST(:identity AS bigint))
"""

# A message that is due in the future is delayed, state 2; any other one is ready, state 0. One with
# a group is due now, with fence -1: the next take puts it behind its group, see docs/sql.md.
_CLAIM = """
INSERT INTO {table} (payload, priority, state, due_at, fence, group_key, key, headers, created_at,
                     expires_at, max_attempts, retry)
SELECT CAST(:payload AS {bytes}), CAST(:priority AS bigint),
       CASE WHEN n.group_key IS NOT NULL OR n.due_at > n.clock THEN 2 ELSE 0 END,
       CASE WHEN n.group_key IS NOT NULL THEN n.clock WHEN n.due_at > n.clock THEN n.due_at
            ELSE 0 END,
       CASE WHEN n.group_key IS NOT NULL THEN -1 ELSE 0 END,
       n.group_key, CAST(:key AS text), CAST(:headers AS text),
       COALESCE(CAST(:created_at AS bigint), n.clock),
       n.clock + CAST(:ttl AS bigint),
       CAST(:max_attempts AS bigint), CAST(:retry AS text)
FROM (SELECT t.clock, CAST(:group AS text) AS group_key,
             COALESCE(CAST(:due_at AS bigint), t.clock + CAST(:delay AS bigint)) AS due_at
      FROM (SELECT {clock} AS clock) AS t) AS n
WHERE EXISTS (SELECT 1 FROM {catalog} WHERE identity = CAST(:identity AS bigint))
ON CONFLICT (key) WHERE key IS NOT NULL DO NOTHING
"""

_BY_KEY = "SELECT id FROM {table} WHERE key = :key"

# Members of a batch: the batch counts them, which keeps it open, and then each has a row. After the
# seal only the handler of a member adds some.
_COUNT_MEMBERS = """
UPDATE {batches}
SET total = total + CAST(:count AS bigint)
WHERE id = CAST(:batch AS bigint) AND finished_at IS NULL AND cancelled = 0
  AND (sealed = 0
       OR EXISTS (SELECT 1 FROM {members} AS m
                  WHERE m.queue = CAST(:queue AS bigint) AND m.message = CAST(:member AS bigint)
                    AND m.batch = CAST(:batch AS bigint) AND m.outcome = 0))
"""
_JOIN_BATCH = """
INSERT INTO {members} (queue, message, batch)
VALUES (CAST(:identity AS bigint), CAST(:message AS bigint), CAST(:batch AS bigint))
"""

# Only if another session listens: it then shares the first lock. Otherwise this transaction shares
# the second one until its end; a new listener polls until that is free. The same as notify.send of
# drivers/postgresql/statements.sql; see docs/waiting.md.
_LISTENS = """
NOT CASE WHEN pg_catalog.pg_try_advisory_lock(1952606577, id)
         THEN pg_catalog.pg_advisory_unlock(1952606577, id)
         ELSE false END
"""
_NOTIFY = f"""
SELECT pg_catalog.pg_notify(CAST(:channel AS text), '')
FROM (SELECT CAST(CAST(:identity AS bigint) & 2147483647 AS integer) AS id) AS queue
WHERE CASE WHEN {_LISTENS} THEN true
           WHEN NOT pg_catalog.pg_try_advisory_xact_lock_shared(1952606579, id) THEN true
           ELSE {_LISTENS} END
"""

# A strict fifo or lifo on PostgreSQL has one writer at a time.
_STRICT = "SELECT pg_catalog.pg_advisory_xact_lock(CAST(:identity AS bigint))"


class _Known:
    """What the catalogue says of a queue."""

    def __init__(self, identity: int, kind: str, options: Dict[str, str]) -> None:
        self.identity = identity
        self.kind = kind
        self.options = options


def _items(messages: Iterable[Union[Payload, NewMessage]]) -> List[NewMessage]:
    return [m if isinstance(m, NewMessage) else NewMessage(m) for m in listed(messages)]


class Outbox:
    """Enqueues into a queue of tableq by your own DB-API connection, in the transaction that is
    open there: the message is there when you commit, and never otherwise.

        outbox = tableq.Outbox("mail")
        outbox.put(b"hello", using=connection)
        connection.commit()

    It opens no session of tableq, and needs no Database. The queue must exist: a Database or the
    command `tableq create` makes it. It cannot wait for room in a queue with a capacity, and puts
    messages into a full one.

    With `notifications="off"` no reader is notified at the commit: PostgreSQL cannot prepare a
    transaction (`PREPARE TRANSACTION`) that notifies one.
    """

    def __init__(
        self,
        name: str,
        *,
        table_prefix: str = "",
        schema_name: str = "",
        notifications: Optional[str] = None,
        identity: Optional[int] = None,
        backend: Optional[str] = None,
    ) -> None:
        _check_name(name, "a queue's name", 40)
        if table_prefix:
            _check_name(table_prefix, "table_prefix", 16)
        if schema_name:
            _check_name(schema_name, "schema_name", 40)
        self.name = name
        self._prefix = table_prefix
        self._schema = schema_name
        if notifications not in (None, "automatic", "send_only", "off"):
            raise InvalidArgument('tableq: notifications is "automatic", "send_only" or "off"')
        self._notifies = notifications != "off"
        self._identity = identity  # Of an open queue: another database does not have it.
        self._backend = backend
        self._known: Optional[_Known] = None

    def put(
        self,
        message: Union[Payload, NewMessage],
        using: Any,
    ) -> Added:
        """Adds one message in the transaction of `using`. NewMessage gives it options."""
        return self.put_batch([message], using)[0]

    def put_batch(
        self, messages: Iterable[Union[Payload, NewMessage]], using: Any
    ) -> List[Added]:
        """The same for several, in order. If it raises, roll back: some may have been added."""
        items = _items(messages)
        driver = driver_of(using)
        return driver.run(using, self._steps(driver, using, items))

    async def put_async(self, message: Union[Payload, NewMessage], using: Any) -> Added:
        """As `put`, with an asynchronous connection of psycopg, asyncpg or aiosqlite."""
        return (await self.put_batch_async([message], using))[0]

    async def put_batch_async(
        self, messages: Iterable[Union[Payload, NewMessage]], using: Any
    ) -> List[Added]:
        """As `put_batch`, with an asynchronous connection."""
        items = _items(messages)
        driver = async_driver_of(using)
        return await driver.run_async(using, self._steps(driver, using, items))

    # ----------------------------------------------------------------------------------- internal

    def _steps(self, driver: Driver, using: Any, items: List[NewMessage]) -> Steps[List[Added]]:
        if self._backend is not None and self._backend != driver.dialect:
            raise InvalidArgument(
                f"tableq: the queue {self.name} is of {self._backend}, and the connection of "
                f"{driver.dialect}"
            )
        if driver.dialect == "sqlite":
            yield from check_connection()
        if not items:
            return []
        known = yield from self._look(driver)
        values = [self._values(driver, known, message) for message in items]
        batches = [message.batch for message in items if message.batch is not None]
        strict = driver.dialect == "postgresql" and known.options.get("ordering") == "strict"
        if (strict or batches) and not driver.has_transaction(using):
            why = (
                "has strict ordering, whose lock lasts for"
                if strict
                else "gets a member of a batch, which takes several statements in"
            )
            raise InvalidArgument(
                f"tableq: {self.name} {why} a transaction: begin one, or switch autocommit off"
            )
        if strict:
            yield self._statement(driver, _STRICT, {"identity": known.identity})
        yield from self._count_members(driver, batches, 1)
        added = []
        for message, bound in zip(items, values):
            added.append((yield from self._insert(driver, known, message, bound)))
        yield from self._join_batches(driver, known, items, added)
        if driver.dialect == "postgresql" and self._notifies:
            channel = f"{self._prefix}{self.name}_tableq"
            yield self._statement(
                driver, _NOTIFY, {"channel": channel, "identity": known.identity}
            )
        return added

    def _statement(
        self, driver: Driver, sql: str, values: Mapping[str, Any], asks: bool = False
    ) -> Statement:
        place = "main." if driver.dialect == "sqlite" else ""
        if self._schema:
            place = f'"{self._schema}".'
        # Psycopg binds what it finds; sqlite3 wants just the marks that are there.
        text = sql.replace("{table}", f'{place}"{self._prefix}{self.name}"')
        text = text.replace("{catalog}", f'{place}"{self._prefix}tableq_queues"')
        for name in ("batches", "members"):
            text = text.replace(f"{{{name}}}", f'{place}"{self._prefix}tableq_{name}"')
        text = text.replace("{clock}", _CLOCK[driver.dialect])
        text = text.replace("{bytes}", "blob" if driver.dialect == "sqlite" else "bytea")
        return text, dict(values), asks

    def _look(self, driver: Driver) -> Steps[_Known]:
        if self._known is not None:
            return self._known
        row = (
            yield self._statement(
                driver,
                "SELECT identity, kind, options FROM {catalog} WHERE name = :name",
                {"name": self.name},
                True,
            )
        ).row
        if row is None:
            raise NotFound(
                f"tableq: the connection's catalogue has no queue {self.name}: create it with a "
                "Database, or with the command: tableq create"
            )
        # A text_factory of sqlite3 may return bytes.
        kind, words = (
            each.decode() if isinstance(each, bytes) else str(each) for each in row[1:]
        )
        identity = int(row[0])
        if self._identity is not None and identity != self._identity:
            raise self._elsewhere()
        if kind not in ("heap", "fifo", "lifo", "pending", "claim"):
            raise InvalidArgument(f"tableq: {self.name} is of the kind {kind}, not a queue's")
        options = dict(word.partition("=")[::2] for word in words.split())
        self._known = _Known(identity, kind, options)
        return self._known

    def _elsewhere(self) -> InvalidArgument:
        return InvalidArgument(
            f"tableq: the connection given as using has another queue {self.name} than this "
            "object: it is to another database or schema, or the queue was dropped and made again"
        )

    def _count_members(
        self,
        driver: Driver,
        batches: Iterable[AnyBatch],
        step: int,
    ) -> Steps[None]:
        """Adds `step` to the total of each batch, once for each time that it is given."""
        counts: Dict[int, Tuple[int, Optional[str]]] = {}
        for batch in batches:
            number, member = batch_parts(batch)
            before, known = counts.get(number, (0, None))
            counts[number] = before + step, member or known
        for number, (count, member) in sorted(counts.items()):
            queue, message = (None, None) if member is None else member_of(member)
            values = {"batch": number, "count": count, "queue": queue, "member": message}
            returning = "RETURNING id" if driver.dialect == "postgresql" else ""
            ran = yield self._statement(driver, _COUNT_MEMBERS + returning, values)
            if ran.changed != 1:
                raise InvalidArgument(
                    f"tableq: the batch {number} takes no messages: it is sealed, cancelled, has "
                    "ended, or is not there. Handlers of its messages add by ClaimQueue.batch_of"
                )

    def _join_batches(
        self,
        driver: Driver,
        known: _Known,
        items: Sequence[NewMessage],
        added: Sequence[Added],
    ) -> Steps[None]:
        not_added = []
        for message, one in zip(items, added):
            if message.batch is None:
                continue
            if one.outcome == "added":
                number, _ = batch_parts(message.batch)
                values = {"identity": known.identity, "message": one.id, "batch": number}
                yield self._statement(driver, _JOIN_BATCH, values)
            else:  # Its key was held.
                not_added.append(message.batch)
        yield from self._count_members(driver, not_added, -1)

    def _insert(
        self,
        driver: Driver,
        known: _Known,
        message: NewMessage,
        values: Dict[str, Any],
    ) -> Steps[Added]:
        sql = {"pending": _PENDING, "claim": _CLAIM}.get(known.kind, _PLAIN)
        if driver.dialect == "postgresql":
            row = (yield self._statement(driver, sql + "RETURNING id", values, True)).row
            if row is not None:
                return Added(int(row[0]), "added")
        else:
            ran = yield self._statement(driver, sql, values)
            if ran.changed == 1:
                return Added(int(ran.last_id), "added")
        if message.key is not None:
            row = (yield self._statement(driver, _BY_KEY, {"key": message.key}, True)).row
            if row is not None:
                if message.on_duplicate == "reject":
                    raise DuplicateKey(
                        f"tableq: another message of {self.name} holds the key", operation="put"
                    )
                return Added(int(row[0]), "kept_first")
        self._known = None
        raise self._elsewhere()

    def _values(self, driver: Driver, known: _Known, message: NewMessage) -> Dict[str, Any]:
        """What the statement of the kind binds."""
        payload = bytes_of(message.payload)
        longest = 500_000_000 if driver.dialect == "postgresql" else 999_900_000
        if len(payload) > longest:
            raise TooLarge(f"tableq: a payload has at most {longest} bytes")
        values: Dict[str, Any] = {
            "payload": payload,
            "identity": known.identity,
            "created_at": _time(message.created_at, "created_at"),
        }
        given = [
            name
            for name in NewMessage.__dataclass_fields__
            if name not in ("payload", "created_at", *_ALLOWED.get(known.kind, ()))
            and getattr(message, name) is not None
        ]
        if given:
            raise InvalidArgument(f"tableq: a {known.kind} queue has no {given[0]}")
        if known.kind in ("pending", "claim"):
            if message.delay is not None and message.due_at is not None:
                raise InvalidArgument("tableq: give delay or due_at, not both")
            values["due_at"] = _time(message.due_at, "due_at")
            delay = 0 if message.delay is None else milliseconds(message.delay, "delay")
            values["delay"] = _within(delay, 0, _LONGEST_DELAY, "delay", "0 to 3,650 days")
        if known.kind == "claim":
            self._claim_values(known, message, values)
        return values

    def _claim_values(
        self, known: _Known, message: NewMessage, values: Dict[str, Any]
    ) -> None:
        if message.group is not None:
            if "groups_hold" not in known.options and "groups_pass" not in known.options:
                raise InvalidArgument(f"tableq: the queue {self.name} has no groups")
            if message.delay is not None or message.due_at is not None:
                raise InvalidArgument("tableq: a message with a group has neither delay nor due_at")
        values["group"] = None if message.group is None else _short(message.group, 200, "group")
        if message.on_duplicate not in (None, "keep_first", "reject"):
            raise Unsupported(
                f'tableq: on_duplicate="{message.on_duplicate}" needs tx, not using; using has '
                '"keep_first" and "reject"'
            )
        if message.batch is not None and known.options.get("batches") != "1":
            raise InvalidArgument(
                f"tableq: messages of the queue {self.name} belong to no batches: create it with "
                "batches=True"
            )
        if message.on_duplicate == "reject" and message.key is None:
            raise InvalidArgument('tableq: on_duplicate="reject" needs a key')
        if message.key is not None and "key_window_ms" in known.options:
            raise Unsupported(
                "tableq: a queue with a key_window frees keys in a statement of its own: use tx, "
                "not using"
            )
        ttl = message.time_to_live
        if ttl is None and "ttl_ms" in known.options:
            values["ttl"] = int(known.options["ttl_ms"])
        elif ttl is None or ttl == math.inf:
            values["ttl"] = None
        else:
            length = milliseconds(ttl, "time_to_live")
            values["ttl"] = _within(length, 1, _LONGEST_DELAY, "time_to_live", "1 ms to 3,650 days")
        values["priority"] = _within(
            message.priority or 0, -(2**31), 2**31 - 1, "priority", "an int of 32 bits"
        )
        values["max_attempts"] = (
            None
            if message.max_attempts is None
            else _within(message.max_attempts, 1, 1_000_000, "max_attempts", "1 to 1,000,000")
        )
        values["key"] = None if message.key is None else _short(message.key, 200, "key")
        values["headers"] = _headers(message.headers)
        values["retry"] = _retry(message.retry, message.retry_jitter)


_ALLOWED: Dict[str, Sequence[str]] = {
    "pending": ("delay", "due_at"),
    "claim": tuple(NewMessage.__dataclass_fields__),
}


def _check_name(name: str, what: str, longest: int) -> None:
    letters = "abcdefghijklmnopqrstuvwxyz_"
    good = isinstance(name, str) and 1 <= len(name) <= longest and name[0] in letters
    if not good or any(each not in letters + "0123456789-." for each in name):
        raise InvalidArgument(
            f"tableq: {what} has 1 to {longest} characters of a-z, 0-9, _, - and ., and begins with "
            "a letter or _"
        )


def _within(value: int, least: int, most: int, name: str, words: str) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or not least <= value <= most:
        raise InvalidArgument(f"tableq: {name} is {words}")
    return value


def _time(value: Optional[datetime.datetime], name: str) -> Optional[int]:
    if value is None:
        return None
    time = time_milliseconds(value, name)
    if not _FIRST_TIME <= time < _LAST_TIME:
        raise InvalidArgument(f"tableq: {name} is in the years 1970 to 9999")
    return time


def _short(text: str, longest: int, name: str) -> str:
    from ._handles import text_of

    if not 1 <= len(text_of(text, name)) <= longest or "\0" in text:
        raise InvalidArgument(f"tableq: {name} has 1 to {longest} bytes of UTF-8 without NUL")
    return text


def _headers(headers: Optional[Mapping[str, str]]) -> Optional[str]:
    if not headers:
        return None
    from ._handles import text_of

    for name, value in pairs_of(headers):
        _short(name, 100, "a header's name")
        text_of(value, "a header's value")
        if "\0" in value:
            raise InvalidArgument("tableq: a header's value is UTF-8 without NUL")
    text = json.dumps(dict(headers), ensure_ascii=False, separators=(",", ":"))
    if len(text.encode()) >= 64 * 1024:
        raise InvalidArgument("tableq: headers have less than 64 KiB as JSON")
    return text


def _retry(retry: Optional[RetryDelays], jitter: Optional[int]) -> Optional[str]:
    if retry is None:
        if jitter is not None:
            raise InvalidArgument("tableq: retry_jitter needs retry")
        return None
    after: List[int]
    if retry == "usual":
        after, usual = _USUAL
        jitter = usual if jitter is None else jitter
    elif retry == "none":
        after = []
    elif isinstance(retry, str):
        raise InvalidArgument('tableq: retry is "usual", "none", or a list of delays')
    else:
        after = delays_of(retry)
    for delay in after:
        _within(delay, 0, _LONGEST_DELAY, "retry", "a list of delays of 0 to 3,650 days")
    percent = _within(jitter or 0, 0, 100, "retry_jitter", "0 to 100 per cent")
    return json.dumps({"after": after, "jitter": percent}, separators=(",", ":"))
