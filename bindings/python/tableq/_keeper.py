"""Leases that the library extends."""

from __future__ import annotations

from typing import TYPE_CHECKING, List, NamedTuple, Optional

from ._errors import InvalidArgument, call
from ._handles import Closing, Duration, Pointer, Result, made, milliseconds, out_int, text_of
from ._library import lib

if TYPE_CHECKING:
    from ._database import Database
    from ._messages import Job


class LostLease(NamedTuple):
    """A message whose work is to end: its lease was lost, or its batch was cancelled."""

    receipt: str
    queue: str
    why: str
    """`lease_lost`: the database has refused an extension. `not_confirmed`: the database could not
    be reached before the lease ended. `batch_cancelled`: the keeper still has the message, and its
    settlement counts."""


class Keeper(Closing):
    """A thread of the library, not of Python, that extends the lease of each job given to it, every
    third of its length, until it is settled, lost or removed. Workers have one of their own.

        with db.keeper() as keeper:
            for job in jobs.take(10):
                keeper.add(job)
    """

    def __init__(self, database: "Database") -> None:
        self._pointer: Optional[Pointer] = made(
            lib.tq_keeper_free, lib.tq_keeper_new, database._handle()
        )
        database._adopt(self)

    def _handle(self) -> Pointer:
        pointer = self._pointer
        if pointer is None:
            raise InvalidArgument("tableq: the keeper is closed")
        return pointer

    def add(self, job: "Job", lease: Optional[Duration] = None) -> None:
        """Gives it a job, soon after the take. lease: as the take gave it; without, the queue's."""
        receipt = text_of(job.receipt, "a receipt")
        length = 0 if lease is None else milliseconds(lease, "lease")
        call(
            lib.tq_keeper_add,
            self._handle(),
            job.queue._handle(),
            receipt,
            len(receipt),
            length,
        )
        job._kept = (self, lease)

    def remove(self, job: "Job") -> bool:
        """Takes a job out: its lease ends in its time. False: it was settled or lost."""
        receipt = text_of(job.receipt, "a receipt")
        kept, pointer = out_int()
        call(lib.tq_keeper_remove, self._handle(), receipt, len(receipt), pointer)
        return kept.value != 0

    def lost(self) -> List[LostLease]:
        """The messages that were lost since the last call, or whose batch was cancelled. Never
        waits."""
        return Result(lib.tq_keeper_lost, self._handle()).records(LostLease)

    def _news(self) -> List[LostLease]:
        """The same, of none once it is closed, which another thread may do at any step."""
        pointer = self._pointer
        return Result(lib.tq_keeper_lost, pointer).records(LostLease) if pointer else []

    def fileno(self) -> int:
        """A descriptor that is readable while `lost` has something to tell."""
        return int(lib.tq_keeper_descriptor(self._handle()))

    @property
    def closed(self) -> bool:
        return self._pointer is None

    def __len__(self) -> int:
        return int(lib.tq_keeper_count(self._handle()))

    def close(self) -> None:
        """Ends the thread. Leases end in their time."""
        self._pointer = None
