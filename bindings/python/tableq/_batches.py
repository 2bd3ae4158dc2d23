"""Batches of messages: a message at the end of many."""

from __future__ import annotations

import dataclasses
import datetime
from ctypes import c_int64
from typing import TYPE_CHECKING, Mapping, Optional, Tuple, Union

from ._errors import call
from ._handles import FOR_BATCH, Options, Result, id_of, out_int
from ._library import lib
from ._transaction import transaction_pointer

if TYPE_CHECKING:
    from ._database import Database
    from ._transaction import Transaction


@dataclasses.dataclass(frozen=True)
class BatchInfo:
    """A batch and what has become of its messages."""

    batch: int
    name: Optional[str]
    total: int
    outstanding: int
    completed: int
    dead: int
    removed: int
    gone: int
    sealed: bool
    cancelled: bool
    then: Optional[str]
    created_at: datetime.datetime
    finished_at: Optional[datetime.datetime]
    counted_to: Optional[int]
    """Where the counts but `total` stopped. None: they are exact."""


class MessageBatch:
    """A batch of messages. When it is sealed and each message is completed, dead or removed, it
    ends: one message comes, with the counts in its headers. See docs/batches.md."""

    def __init__(self, database: "Database", id: int, member: Optional[str] = None) -> None:
        self._database = database
        self.id = id
        self.member = member
        """The receipt of the message whose handler adds to the batch."""

    def seal(self, *, tx: Optional["Transaction"] = None) -> None:
        """All messages are added; an empty batch ends now."""
        handle = self._database._handle()
        call(lib.tq_database_seal_batch, handle, transaction_pointer(tx), c_int64(self.id))

    def cancel(self) -> bool:
        """Seals it and removes its messages that wait. False: it has ended, or is not there."""
        value, pointer = out_int()
        handle = self._database._handle()
        call(lib.tq_database_cancel_batch, handle, c_int64(self.id), pointer)
        return value.value != 0

    def info(self, *, tx: Optional["Transaction"] = None) -> Optional[BatchInfo]:
        """Its counts, or None if it is not there (any more)."""
        handle, within = self._database._handle(), transaction_pointer(tx)
        rows = Result(lib.tq_database_find_batch, handle, within, c_int64(self.id))
        return rows.record(BatchInfo) if len(rows) else None

    def __repr__(self) -> str:
        return f"<tableq.MessageBatch {self.id}>"


AnyBatch = Union[MessageBatch, int]
"""A batch, or its id."""


def batch_parts(batch: AnyBatch) -> Tuple[int, Optional[str]]:
    """The id, and the receipt of the member whose handler adds to it."""
    if isinstance(batch, MessageBatch):
        return batch.id, batch.member
    return id_of(batch), None


def member_of(receipt: str) -> Tuple[int, int]:
    """The identity of the queue and the id of the message, of a receipt of this library."""
    message, _, queue = receipt.split(".")[:3]
    return int(queue, 16), int(message, 16)


def set_batch(options: Options, key: str, batch: Optional[AnyBatch]) -> None:
    """The keys of a batch, and of the member whose handler adds to it."""
    if isinstance(batch, MessageBatch):
        options.integer(key.encode(), batch.id)
        options.text(f"{key}_member".encode(), batch.member)
    else:
        options.integer(key.encode(), batch)


def begin_options(
    then: Optional[str],
    headers: Optional[Mapping[str, str]],
    key: Optional[str],
    group: Optional[str],
    priority: Optional[int],
    parent: Optional[AnyBatch],
    name: Optional[str] = None,
) -> Options:
    options = Options(FOR_BATCH)
    options.text(b"name", name)
    options.text(b"then", then)
    options.text(b"key", key)
    options.text(b"group", group)
    options.integer(b"priority", priority)
    options.headers(headers)
    set_batch(options, "parent", parent)
    return options

