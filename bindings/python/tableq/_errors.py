"""The errors of tableq: one class for each code of tableq.h, all below Error."""

from __future__ import annotations

from ctypes import byref, c_void_p
from typing import Any, Dict, Type

from ._library import lib


class Error(Exception):
    """Why a call failed. The text names backend, operation and remedy; it never holds a payload, a
    password or any other value of yours."""

    code: int = 0
    """The number of tableq.h: `tq_code`. It never changes."""

    def __init__(
        self,
        message: str,
        *,
        advice: str = "never",
        operation: str = "",
        backend: str = "",
        sqlstate: str = "",
        native: int = 0,
        retryable: bool = False,
    ) -> None:
        super().__init__(message)
        self.advice = advice
        """The largest unit that is safe to repeat: `never`, `statement` (the call), `transaction`
        or `session` (all of the transaction)."""
        self.operation = operation
        """The operation that failed: `claim.take`. May be empty."""
        self.backend = backend
        """The database's dialect: `postgresql`. Empty before a database is known."""
        self.sqlstate = sqlstate
        """Five characters, or empty."""
        self.native = native
        """The database's own number, or zero."""
        self.retryable = retryable
        """Whether the call, or with a transaction all of it, may be repeated."""

    @property
    def name(self) -> str:
        """The stable name of the code: `outcome_unknown`."""
        return str(lib.tq_code_name(self.code).decode())

    def __reduce__(self) -> Any:
        # For errors that cross processes: keyword arguments are not in Exception's state.
        return (_restored, (type(self), str(self), dict(self.__dict__)))


def _restored(kind: Type[Error], message: str, state: Dict[str, Any]) -> Error:
    error = kind(message)
    error.__dict__.update(state)
    return error


class InvalidArgument(Error, ValueError):
    """The call itself is wrong; nothing was sent."""

    code = 1

class NotFound(Error):
    """The queue, its table or the database's file is not there."""

    code = 2

class KindMismatch(Error):
    """The queue exists as another kind."""

    code = 3

class OptionsMismatch(Error):
    """The queue exists with another option that is fixed."""

    code = 4

class SchemaMismatch(Error):
    """A foreign table has the name, or the table differs."""

    code = 5

class SchemaTooNew(Error):
    """A newer tableq wrote the catalogue."""

    code = 6

class ConnectionFailed(Error):
    """No session could be opened."""

    code = 7

class ConnectionLost(Error):
    """The session died; nothing of the call has happened."""

    code = 8

class OutcomeUnknown(Error):
    """The session died in a change, which may have happened."""

    code = 9

class Busy(Error):
    """No lock or session was free in time."""

    code = 10

class Conflict(Error):
    """Deadlock or serialization: the transaction is undone."""

    code = 11

class ConstraintViolated(Error):
    """A constraint or trigger refused the row."""

    code = 12

class PermissionDenied(Error):
    """The user lacks a right."""

    code = 13

class ReadOnly(Error):
    """The file, database or session accepts no writes."""

    code = 14

class StorageFull(Error):
    """Disk, quota or log is full."""

    code = 15

class TooLarge(Error):
    """A payload is over the limit."""

    code = 16

class NotADatabase(Error):
    """The file is something else, or damaged."""

    code = 17

class DuplicateKey(Error):
    """Another message holds the key."""

    code = 18

class Cancelled(Error):
    """A time limit or cancel request ended the statement."""

    code = 19

class Unsupported(Error):
    """This database has no such feature."""

    code = 20

class QueueFull(Error):
    """The queue has reached its capacity."""

    code = 21

class StorageFailed(Error):
    """The disk failed a read or write."""

    code = 22

class InternalError(Error):
    """A result that no rule covers: please report it."""

    code = 23

class NoMemory(Error, MemoryError):
    """Memory was short. The call may have had its effect."""

    code = 1000


_BY_CODE: Dict[int, Type[Error]] = {
    kind.code: kind
    for kind in (
        InvalidArgument,
        NotFound,
        KindMismatch,
        OptionsMismatch,
        SchemaMismatch,
        SchemaTooNew,
        ConnectionFailed,
        ConnectionLost,
        OutcomeUnknown,
        Busy,
        Conflict,
        ConstraintViolated,
        PermissionDenied,
        ReadOnly,
        StorageFull,
        TooLarge,
        NotADatabase,
        DuplicateKey,
        Cancelled,
        Unsupported,
        QueueFull,
        StorageFailed,
        InternalError,
        NoMemory,
    )
}


def made(code: int, error: c_void_p) -> Error:
    """The exception of a call's error, which it frees."""
    kind = _BY_CODE.get(code, Error)
    text = lib.tq_error_message(error) or b""
    found = kind(
        text.decode("utf-8", "replace") or f"tableq: error {code}",
        advice=lib.tq_advice_name(lib.tq_error_advice(error)).decode(),
        operation=lib.tq_error_operation(error).decode(),
        backend=lib.tq_error_backend(error).decode(),
        sqlstate=lib.tq_error_sqlstate(error).decode(),
        native=lib.tq_error_native(error),
        retryable=lib.tq_error_retryable(error) != 0,
    )
    if kind is Error:
        found.code = code
    lib.tq_error_free(error)
    return found


def call(function: Any, *arguments: Any) -> None:
    """Calls a function that can fail, and raises its error."""
    error = c_void_p()
    code = function(*arguments, byref(error))
    if code:
        raise made(code, error)
