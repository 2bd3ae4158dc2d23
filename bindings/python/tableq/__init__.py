"""Durable queues in the tables of the SQL database that an application has: SQLite, PostgreSQL.

    import tableq

    db = tableq.open("sqlite:///var/lib/shop/shop.db")
    jobs = db.claim("thumbnails")
    jobs.put(b"cat.jpg")

    for job in jobs.take(10, wait=5):
        with job:
            make_thumbnail(job.text)

    jobs.work(lambda job: make_thumbnail(job.text), threads=4)

Durations are seconds or timedelta, times are datetime with a time zone.
"""

from __future__ import annotations

import typing as _typing

from . import testing
from ._async import AsyncWorker
from ._batches import AnyBatch as _AnyBatch
from ._batches import BatchInfo, MessageBatch
from ._database import Database, ddl, grants, open
from ._errors import (
    Busy,
    Cancelled,
    Conflict,
    ConnectionFailed,
    ConnectionLost,
    ConstraintViolated,
    DuplicateKey,
    Error,
    InternalError,
    InvalidArgument,
    KindMismatch,
    NoMemory,
    NotADatabase,
    NotFound,
    OptionsMismatch,
    OutcomeUnknown,
    PermissionDenied,
    QueueFull,
    ReadOnly,
    SchemaMismatch,
    SchemaTooNew,
    StorageFailed,
    StorageFull,
    TooLarge,
    Unsupported,
)
from ._handles import Duration, Payload, RetryDelays
from ._keeper import Keeper, LostLease
from ._lease import ClaimQueue, LeaseQueue, TableQueue
from ._library import lib as _lib
from ._messages import (
    Added,
    Awaited,
    BulkResult,
    ClaimStats,
    Filter,
    Finding,
    GiveUp,
    GroupLimits,
    Job,
    Limits,
    Message,
    MigrationStep,
    NewMessage,
    OptionChange,
    Progress,
    QueueInfo,
    QueueStats,
    Redriven,
    Retry,
    StoredMessage,
    WaitingGroup,
)
from ._queue import PendingQueue, PlainQueue, Queue
from ._schedules import Declared, Schedule, ScheduleInfo, Schedules
from ._sources import Source
from ._sql import Outbox
from ._transaction import Transaction
from ._worker import Worker

__all__ = [
    "Added",
    "AsyncWorker",
    "Awaited",
    "BatchInfo",
    "BulkResult",
    "Busy",
    "Cancelled",
    "ClaimQueue",
    "ClaimStats",
    "Conflict",
    "ConnectionFailed",
    "ConnectionLost",
    "ConstraintViolated",
    "Database",
    "Declared",
    "DuplicateKey",
    "Duration",
    "Error",
    "Filter",
    "Finding",
    "GiveUp",
    "GroupLimits",
    "InternalError",
    "InvalidArgument",
    "Job",
    "Keeper",
    "KindMismatch",
    "LeaseQueue",
    "Limits",
    "LostLease",
    "Message",
    "MessageBatch",
    "MigrationStep",
    "NewMessage",
    "NoMemory",
    "NotADatabase",
    "NotFound",
    "OptionChange",
    "OptionsMismatch",
    "Outbox",
    "OutcomeUnknown",
    "Payload",
    "PendingQueue",
    "PermissionDenied",
    "PlainQueue",
    "Progress",
    "Queue",
    "QueueFull",
    "QueueInfo",
    "QueueStats",
    "ReadOnly",
    "Redriven",
    "Retry",
    "RetryDelays",
    "Schedule",
    "ScheduleInfo",
    "Schedules",
    "Source",
    "SchemaMismatch",
    "SchemaTooNew",
    "StorageFailed",
    "StorageFull",
    "StoredMessage",
    "TableQueue",
    "TooLarge",
    "Transaction",
    "Unsupported",
    "WaitingGroup",
    "Worker",
    "ddl",
    "grants",
    "version_of_library",
    "open",
    "testing",
]


def version_of_library() -> str:
    """The version of the C library that runs: `0.2.0`."""
    return str(_lib.tq_version().decode())


def _name_by_package() -> None:
    """Tracebacks and help name the public classes as programs import them."""
    for name in __all__:
        each = globals()[name]
        if isinstance(each, type) and each.__module__.startswith("tableq."):
            # While their names are known: get_type_hints looks for them where __module__ says.
            hints = _typing.get_type_hints(each, localns={"AnyBatch": _AnyBatch, "LeaseQueue": LeaseQueue})
            if hints:
                each.__annotations__ = hints
            each.__module__ = "tableq"


_name_by_package()
