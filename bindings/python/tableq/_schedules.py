"""Rules of periodic messages."""

from __future__ import annotations

import dataclasses
import datetime
from typing import TYPE_CHECKING, Any, Dict, Iterable, List, Mapping, Optional, Sequence, Union

from ._errors import NotFound, call
from ._handles import (
    FOR_SCHEDULE,
    Batch,
    Duration,
    Options,
    Payload,
    Result,
    bytes_of,
    out_int,
    out_int64,
    text_of,
)
from ._library import lib

if TYPE_CHECKING:
    from ._database import Database


@dataclasses.dataclass(frozen=True)
class Schedule:
    """A rule that adds a message to a queue again and again.

    Give `cron`, `"0 2 * * mon-fri"` or `"@daily"`, with a `zone` such as `"Europe/Berlin"`; or
    `every`, whole seconds. catch_up: how many of the times at which no process was there get a
    message later. not_later_than: times that are longer ago get none. skip_if_running: none while an
    earlier message is in the queue. headers to priority, and skip_if_running: `claim` queues only.
    """

    name: str
    queue: str
    payload: Payload = b""
    cron: Optional[str] = None
    every: Optional[Duration] = None
    zone: str = "UTC"
    headers: Optional[Mapping[str, str]] = None
    key: Optional[str] = None
    group: Optional[str] = None
    priority: int = 0
    catch_up: int = 1
    not_later_than: Optional[Duration] = None
    skip_if_running: bool = False


@dataclasses.dataclass(frozen=True)
class ScheduleInfo:
    """A rule as it is stored. next: its next five times. overdue: a time that waits for a process.
    problem: why it cannot be followed."""

    rule: Schedule
    owner: str
    enabled: bool
    problem: str
    last: Optional[datetime.datetime]
    overdue: Optional[datetime.datetime]
    next: List[datetime.datetime]


@dataclasses.dataclass(frozen=True)
class Declared:
    """What `declare` did."""

    added: int
    changed: int
    removed: int


def _options(rule: Schedule) -> Options:
    options = Options(FOR_SCHEDULE)
    for name in ("name", "queue", "cron", "zone", "key", "group"):
        options.text(name.encode(), getattr(rule, name))
    options.duration(b"every_ms", rule.every)
    options.integer(b"priority", rule.priority)
    options.integer(b"catch_up", rule.catch_up)
    options.duration(b"not_later_than_ms", rule.not_later_than)
    options.boolean(b"skip_if_running", rule.skip_if_running)
    options.headers(rule.headers)
    return options


def _length(milliseconds: Optional[int]) -> Optional[datetime.timedelta]:
    return None if milliseconds is None else datetime.timedelta(milliseconds=milliseconds)


def _info(rows: Result, row: int) -> ScheduleInfo:
    fields: Dict[str, Any] = rows.dict(row)
    rule = Schedule(
        headers=rows.headers(row),
        every=_length(fields["every_ms"]),
        not_later_than=_length(fields["not_later_than_ms"]),
        **{
            name: fields[name]
            for name in ("name", "queue", "payload", "cron", "zone", "key", "group", "priority",
                         "catch_up", "skip_if_running")
        },
    )
    return ScheduleInfo(
        rule=rule,
        next=[each["at"] for each in fields["next"]],
        **{name: fields[name] for name in ("owner", "enabled", "problem", "last", "overdue")},
    )


class Schedules:
    """The rules of a database: `db.schedules`. Each call has its own transaction."""

    def __init__(self, database: "Database") -> None:
        self._database = database

    def _store(self, function: Any, rule: Schedule, *before: Any, after: Sequence[Any] = ()) -> None:
        payload = bytes_of(rule.payload)
        call(function, self._database._handle(), *before, payload, len(payload), _options(rule),
             *after)

    def _found(self, name: str) -> Result:
        text = text_of(name, "name")
        return Result(lib.tq_schedule_find, self._database._handle(), text, len(text))

    def _by_name(self, function: Any, name: str) -> bool:
        text = text_of(name, "name")
        value, pointer = out_int()
        call(function, self._database._handle(), text, len(text), pointer)
        return value.value != 0

    def add(self, rule: Schedule) -> None:
        """Adds a rule. A cron text that is wrong is InvalidArgument, with the position."""
        self._store(lib.tq_schedule_add, rule)

    def change(self, rule: Union[Schedule, str], **fields: Any) -> None:
        """Replaces the rule of that name, or changes some fields of the rule with a name:
        `change("nightly", cron="30 3 * * *")`, which keeps what somebody else changes meanwhile. A
        paused one stays paused."""
        if not isinstance(rule, str):
            if fields:
                raise TypeError("give a whole rule, or a name and fields")
            self._store(lib.tq_schedule_change, rule)
            return
        if "cron" in fields or "every" in fields:
            fields = {"cron": None, "every": None, **fields}
        changed, pointer = out_int()
        while not changed.value:
            found = self._found(rule)
            if not len(found):
                raise NotFound("there is no schedule of this name; add it")
            wanted = dataclasses.replace(_info(found, 0).rule, **fields)
            self._store(lib.tq_schedule_change_found, wanted, found, after=[pointer])

    def pause(self, name: str) -> bool:
        """Stops following a rule. Returns whether there is one."""
        return self._by_name(lib.tq_schedule_pause, name)

    def resume(self, name: str) -> bool:
        """Goes on with the next time from now. Returns whether there is one."""
        return self._by_name(lib.tq_schedule_resume, name)

    def remove(self, name: str) -> bool:
        """Returns whether there was one."""
        return self._by_name(lib.tq_schedule_remove, name)

    def run_now(self, name: str) -> Optional[int]:
        """Adds the rule's message at once. Returns its id, or that of the earlier message that keeps
        it out; None: there is no such rule."""
        text = text_of(name, "name")
        message, id_pointer = out_int64()
        outcome, pointer = out_int()
        call(lib.tq_schedule_run_now, self._database._handle(), text, len(text), id_pointer, pointer)
        return message.value if outcome.value else None

    def declare(self, owner: str, rules: Iterable[Schedule]) -> Declared:
        """Makes the rules of this owner these: adds, changes and removes what differs. Rules of
        others stay. For the start of a program."""
        batch = Batch()
        for rule in rules:
            batch.add(bytes_of(rule.payload), _options(rule))
        text = text_of(owner, "owner")
        done = Result(lib.tq_schedule_declare, self._database._handle(), text, len(text), batch)
        return done.record(Declared)

    def list(self) -> List[ScheduleInfo]:
        """All rules, by name."""
        rows = Result(lib.tq_schedule_list, self._database._handle())
        return [_info(rows, row) for row in range(len(rows))]

    def find(self, name: str) -> Optional[ScheduleInfo]:
        """One of them, or None."""
        rows = self._found(name)
        return _info(rows, 0) if len(rows) else None
