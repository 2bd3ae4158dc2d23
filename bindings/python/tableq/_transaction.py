"""Transactions of tableq."""

from __future__ import annotations

from types import TracebackType
from typing import TYPE_CHECKING, List, Optional, Type

from ._errors import Error, InvalidArgument, call
from ._handles import Closing, Pointer, made
from ._library import lib

if TYPE_CHECKING:
    from ._database import Database
    from ._messages import Job


class Transaction(Closing):
    """Several calls that commit together: give it to them as `tx`.

    `with db.transaction() as tx:` commits at the end, and rolls back when the block raises. One
    thread at a time uses it. While it is open, the thread that used it last is refused calls
    without `tx` on the same database; `Queue.outside` is for such work on purpose.
    """

    def __init__(self, database: "Database") -> None:
        self._pointer: Optional[Pointer] = made(
            lib.tq_transaction_free, lib.tq_transaction_begin, database._handle()
        )
        self._jobs: List["Job"] = []
        self._left = False
        database._adopt(self)

    def _handle(self) -> Pointer:
        pointer = self._pointer
        if pointer is None:
            raise InvalidArgument("tableq: the transaction has ended")
        return pointer

    @property
    def active(self) -> bool:
        """Neither committed nor rolled back."""
        return self._pointer is not None and bool(lib.tq_transaction_active(self._pointer))

    def commit(self) -> None:
        """Makes all permanent. OutcomeUnknown: the session died meanwhile; check before you repeat
        the work."""
        pointer = self._handle()
        try:
            call(lib.tq_transaction_commit, pointer)
        except Error:
            if not self.active:
                self._pointer = None
                self._keep_again()
            raise
        self._pointer = None
        for job in self._jobs:
            job._over = True

    def rollback(self) -> None:
        """Undoes all. Nothing if it has ended."""
        if self.active:
            try:
                call(lib.tq_transaction_rollback, self._pointer)
            finally:
                self.close()
                self._keep_again()

    def close(self) -> None:
        """Rolls back if it is active. Never fails."""
        pointer = self._pointer
        if pointer is not None:
            # No reference of a frame, of an error's traceback say, keeps it open.
            undone = lib.tq_transaction_rollback(pointer, None) == 0
            self._pointer = None
            if undone:
                self._keep_again()

    def _leave(self) -> None:
        """The database was closed, maybe beside a call of this transaction, whose end rolls back."""
        self._left = self._pointer is not None
        self._pointer = None

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        try:
            if error is None:
                if self.active:
                    self.commit()
                elif self._left:
                    raise InvalidArgument("tableq: the database was closed before the commit")
            self.close()
        finally:
            self.close()  # Again: a signal's handler may have raised.

    def _keep_again(self) -> None:
        """A settlement has taken its job out of the keeper, and was undone."""
        jobs, self._jobs = self._jobs, []
        for job in jobs:
            if job._kept is None or job._kept[0].closed:
                continue
            try:
                job._kept[0].add(job, job._kept[1])
            except Error:
                pass  # The lease ends in its time.


def transaction_pointer(tx: Optional[Transaction]) -> Optional[Pointer]:
    """The handle of a transaction, or None without one."""
    if tx is None:
        return None
    if not hasattr(tx, "_handle"):
        raise InvalidArgument(
            f"tableq: tx is a Transaction of tableq, not {type(tx).__name__}; give a connection of "
            "your own as using"
        )
    return tx._handle()
