"""Handles of the C library as objects that Python counts and frees."""

from __future__ import annotations

import dataclasses
import datetime
import functools
import io
import math
import operator
import os
import struct
from ctypes import (
    byref,
    c_int,
    c_int64,
    c_size_t,
    sizeof,
    c_ssize_t,
    c_void_p,
    py_object,
    pythonapi,
)
from types import TracebackType
from typing import (
    Any,
    Callable,
    Dict,
    Iterable,
    List,
    Mapping,
    Optional,
    Sequence,
    Tuple,
    Type,
    TypeVar,
    Union,
    cast,
)

from ._errors import InvalidArgument, call
from ._library import lib

T = TypeVar("T")

Duration = Union[int, float, datetime.timedelta]
"""Seconds, or a timedelta. `math.inf` means for ever, where a parameter says so."""

Payload = Union[bytes, bytearray, memoryview, str]
"""Any bytes; a str is stored as UTF-8."""


class _NotGiven:
    def __repr__(self) -> str:
        return "NOT_GIVEN"


NOT_GIVEN: Any = _NotGiven()
"""The default of a parameter of which None would be a mistake."""

EPOCH = datetime.datetime(1970, 1, 1, tzinfo=datetime.timezone.utc)
_MILLISECOND = datetime.timedelta(milliseconds=1)
_LONGEST = 365 * 24 * 3600 * 1000
LONGEST_DELAY = 10 * _LONGEST
"""Of a failed attempt, in milliseconds."""


class _Process:
    """Which process this is: a child of fork() has another number than its parent."""

    number = 0

    @classmethod
    def forked(cls) -> None:
        cls.number += 1


os.register_at_fork(after_in_child=_Process.forked)


def process() -> int:
    """A number that changes in a child of fork()."""
    return _Process.number


class Pointer:
    """A C handle. The last reference frees it, so that a call that uses it keeps it; in a child of
    fork() C does nothing then."""

    __slots__ = ("_as_parameter_", "_end", "_process", "__weakref__")

    def __init__(self, value: c_void_p, free: Callable[[c_void_p], None]) -> None:
        self._as_parameter_ = value
        self._process = _Process.number
        self._end = functools.partial(free, value)

    # No step of Python: a signal's handler that raised in one would be ignored, Ctrl-C say, and the
    # handle would stay. An exception may also have ended the constructor before its last line.
    __del__ = property(operator.attrgetter("_end"))

    @property
    def inherited(self) -> bool:
        """Whether a parent process opened it."""
        return self._process != _Process.number


def made(free: Callable[[c_void_p], None], function: Any, *arguments: Any) -> Pointer:
    """The handle that a call makes; its pointer is the call's last parameter."""
    value = c_void_p()
    pointer = Pointer(value, free)  # Before the call: an exception may come as soon as it returns.
    call(function, *arguments, byref(value))
    return pointer


C = TypeVar("C", bound="Closing")


class Closing:
    """An object that the end of its `with` block closes."""

    def close(self) -> None:
        raise NotImplementedError

    def _leave(self) -> None:
        """The database is closed, maybe beside a call of another thread."""
        self.close()

    def __enter__(self: C) -> C:
        return self

    def __exit__(
        self,
        kind: Optional[Type[BaseException]],
        error: Optional[BaseException],
        trace: Optional[TracebackType],
    ) -> None:
        self.close()


# ------------------------------------------------------------------------------------------ values


def milliseconds(value: Duration, name: str) -> int:
    """A duration for C."""
    if isinstance(value, datetime.timedelta):
        return value // _MILLISECOND
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        raise InvalidArgument(f"tableq: {name} is seconds or a timedelta, not {type(value).__name__}")
    thousandths = value * 1000
    if isinstance(thousandths, float) and not math.isfinite(thousandths):
        raise InvalidArgument(f"tableq: {name} is not a finite number of seconds")
    return of_64_bits(round(thousandths), name)


def span_milliseconds(value: Duration, name: str) -> int:
    """A duration that Python itself measures."""
    found = milliseconds(value, name)
    if found < 0:
        raise InvalidArgument(f"tableq: {name} is negative")
    return found


def of_64_bits(value: int, name: str) -> int:
    """A number for C. ctypes would cut a longer one, and so name another message, say."""
    if not -(2**63) <= value < 2**63:
        raise InvalidArgument(f"tableq: {name} is out of range")
    return value


def wait_milliseconds(value: Duration) -> int:
    """How long to wait: `math.inf` is the longest that the library knows."""
    if value == math.inf:
        return _LONGEST
    found = milliseconds(value, "wait")
    if found < 0:
        raise InvalidArgument("tableq: wait is negative: 0 does not wait, math.inf waits for ever")
    return found


def time_milliseconds(value: datetime.datetime, name: str) -> int:
    """A time for C."""
    if not isinstance(value, datetime.datetime):
        raise InvalidArgument(f"tableq: {name} is a datetime, not {type(value).__name__}")
    if value.utcoffset() is None:
        raise InvalidArgument(
            f"tableq: {name} has no time zone; write datetime.now(timezone.utc), say"
        )
    return (value - EPOCH) // _MILLISECOND


def time_of(value: int) -> datetime.datetime:
    """A time of C, in UTC."""
    return EPOCH + datetime.timedelta(milliseconds=value)


def bytes_of(payload: Payload) -> bytes:
    """A payload as the library stores it."""
    if isinstance(payload, bytes):
        return payload
    if isinstance(payload, str):
        return text_of(payload, "a payload")
    if isinstance(payload, (bytearray, memoryview)):
        return bytes(payload)
    kind = type(payload).__name__
    other = ": give its fields to put, or it to put_batch" if kind == "NewMessage" else ""
    raise InvalidArgument(f"tableq: a payload is bytes or str, not {kind}{other}")


def text_of(value: str, name: str) -> bytes:
    """A text for C."""
    if not isinstance(value, str):
        raise InvalidArgument(f"tableq: {name} is a str, not {type(value).__name__}")
    try:
        return value.encode("utf-8")
    except UnicodeEncodeError:
        raise InvalidArgument(f"tableq: {name} has a lone surrogate, which is no UTF-8") from None


def word_of(value: str, name: str) -> bytes:
    """A word of the interface, such as a state, which C reads up to a NUL."""
    word = text_of(value, name)
    if b"\0" in word:
        raise InvalidArgument(f"tableq: {name} has a NUL")
    return word


def bool_of(value: bool, name: str) -> bool:
    """True or False: the text "no" must not mean yes."""
    if not isinstance(value, bool):
        raise InvalidArgument(f"tableq: {name} is True or False, not a {type(value).__name__}")
    return value


def of_type(value: T, kind: Type[T], name: str) -> T:
    """An object of this package."""
    if not isinstance(value, kind):
        raise InvalidArgument(
            f"tableq: {name} is a {kind.__name__}, not {type(value).__name__}"
        )
    return value


def delays_of(retry: Sequence[Duration]) -> List[int]:
    """The delays of a list, in milliseconds."""
    if not isinstance(retry, Iterable):
        raise InvalidArgument(
            f'tableq: retry is "usual", "none", or a list of delays, not {type(retry).__name__}'
        )
    return [milliseconds(delay, "retry") for delay in retry]


def pairs_of(headers: Optional[Mapping[str, str]]) -> Iterable[Tuple[str, str]]:
    """The names and values of headers."""
    if headers is None:
        return ()
    if not isinstance(headers, Mapping):
        raise InvalidArgument(f"tableq: headers is a dict, not {type(headers).__name__}")
    return headers.items()


def listed(items: Iterable[T], one: str = "put adds one") -> Iterable[T]:
    """The items of a batch. One text is not a list of its letters."""
    if isinstance(items, (str, bytes, bytearray, memoryview)) or not isinstance(items, Iterable):
        raise InvalidArgument(f"tableq: a batch takes a list; {one}")
    return items


def id_of(message_id: int) -> int:
    """The id of a message for C."""
    if isinstance(message_id, bool) or not isinstance(message_id, int):
        raise InvalidArgument(f"tableq: an id is an int, not {type(message_id).__name__}")
    return of_64_bits(message_id, "an id")


def priority_of(priority: int) -> int:
    """A priority for C."""
    if isinstance(priority, bool) or not isinstance(priority, int):
        raise InvalidArgument(f"tableq: priority is an int, not {type(priority).__name__}")
    if not -(2**31) <= priority < 2**31:
        raise InvalidArgument("tableq: priority is out of range")
    return priority


# ----------------------------------------------------------------------------------------- options

FOR_OPEN, FOR_QUEUE, FOR_MESSAGE, FOR_ROW, FOR_ENQUEUE, FOR_READ = 1, 2, 3, 4, 5, 6
FOR_FAILURE, FOR_LIMITS, FOR_STATS, FOR_PURGE, FOR_REDRIVE, FOR_MIGRATE = 7, 8, 9, 10, 11, 12
FOR_FILTER, FOR_ALTER, FOR_SCHEDULE, FOR_BATCH, FOR_GROUP_LIMITS = 13, 14, 15, 16, 17
FOR_LOOK = 18

RetryDelays = Union[str, Sequence[Duration]]
"""Delays after failed attempts, the last one repeats: `[1, 10, 60]`; or `"usual"`, or `"none"`."""


class Options(Pointer):
    """Values by key for one call. `None` is never set: the library's own default then holds."""

    __slots__ = ()

    def __init__(self, purpose: int) -> None:
        value = c_void_p()
        super().__init__(value, lib.tq_options_free)
        call(lib.tq_options_new, purpose, byref(value))

    def integer(self, key: bytes, value: Optional[int]) -> None:
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, int):
            raise InvalidArgument(f"tableq: {key.decode()} is an int, not {type(value).__name__}")
        call(lib.tq_options_set_int, self, key, of_64_bits(value, key.decode()))

    def boolean(self, key: bytes, value: Optional[bool]) -> None:
        if value is not None:
            call(lib.tq_options_set_bool, self, key, 1 if bool_of(value, key.decode()) else 0)

    def double(self, key: bytes, value: Optional[float]) -> None:
        if value is None:
            return
        if isinstance(value, bool) or not isinstance(value, (int, float)):
            raise InvalidArgument(f"tableq: {key.decode()} is a number, not {type(value).__name__}")
        try:
            number = float(value)
        except OverflowError:
            raise InvalidArgument(f"tableq: {key.decode()} is out of range") from None
        call(lib.tq_options_set_double, self, key, number)

    def text(self, key: bytes, value: Optional[str]) -> None:
        if value is not None:
            text = text_of(value, key.decode())
            call(lib.tq_options_set_text, self, key, text, len(text))

    def duration(self, key: bytes, value: Optional[Duration]) -> None:
        if value is not None:
            call(lib.tq_options_set_int, self, key, milliseconds(value, key.decode()[:-3]))

    def lifetime(self, key: bytes, value: Optional[Duration]) -> None:
        """A duration of which `math.inf` means for ever."""
        if value == math.inf:
            call(lib.tq_options_set_null, self, key, 0)
        else:
            self.duration(key, value)

    def time(self, key: bytes, value: Optional[datetime.datetime]) -> None:
        if value is not None:
            call(lib.tq_options_set_time, self, key, time_milliseconds(value, key.decode()))

    def retry(self, value: Optional[RetryDelays], jitter: Optional[int]) -> None:
        if isinstance(value, str):
            self.text(b"retry", value)
        elif value is not None:
            delays = delays_of(value)
            if not delays:
                self.text(b"retry", "none")
            for delay in delays:
                call(lib.tq_options_add_int, self, b"retry_ms", delay)
        self.integer(b"retry_jitter", jitter)

    def headers(self, headers: Optional[Mapping[str, str]]) -> None:
        for name, value in pairs_of(headers):
            key, text = text_of(name, "a header's name"), text_of(value, "a header's value")
            call(lib.tq_options_set_header, self, key, len(key), text, len(text))

    def stop(self, stop: "Stop") -> None:
        call(lib.tq_options_set_stop, self, stop)

    def waiting(self, wait_ms: int, stop: Optional["Stop"]) -> None:
        """How long a call waits, and what ends it."""
        self.integer(b"wait_ms", wait_ms)
        if stop is not None:
            self.stop(stop)


def wait_options(purpose: int, wait_ms: int, stop: Optional["Stop"]) -> Optional[Options]:
    """The options of a call that may wait, and has no other ones."""
    if not wait_ms and stop is None:
        return None
    options = Options(purpose)
    options.waiting(wait_ms, stop)
    return options


class Stop(Pointer):
    """Ends calls that wait, from any thread."""

    __slots__ = ()

    def __init__(self) -> None:
        value = c_void_p()
        super().__init__(value, lib.tq_stop_free)
        call(lib.tq_stop_new, byref(value))

    def request(self) -> None:
        lib.tq_stop_request(self)

    @property
    def requested(self) -> bool:
        return bool(lib.tq_stop_requested(self))


class Batch(Pointer):
    """The items of one call."""

    __slots__ = ()

    def __init__(self) -> None:
        value = c_void_p()
        super().__init__(value, lib.tq_batch_free)
        call(lib.tq_batch_new, byref(value))

    def add(self, data: Optional[bytes], options: Optional[Options] = None) -> None:
        size = len(data) if data is not None else 0
        # Without the error, which costs more than the call.
        if lib.tq_batch_add(self._as_parameter_, data, size, options, None):
            call(lib.tq_batch_add, self, data, size, options)

    def add_all(self, items: List[bytes], options: Optional[Options] = None) -> None:
        sizes = list(map(len, items))
        if sum(sizes) > _MUCH:
            for each in items:
                self.add(each, options)
        elif items:
            count = len(items)
            packed = struct.pack(f"{count}N", *sizes)
            call(lib.tq_batch_add_all, self, b"".join(items), packed, count, options)

    def add_id(self, message_id: int) -> None:
        call(lib.tq_batch_add_id, self, message_id, 0)


# ----------------------------------------------------------------------------------------- results

_NULL, _INT, _BOOL, _TIME, _DOUBLE, _DECIMAL, _TEXT, _BYTES, _LIST = 1, 2, 3, 4, 5, 6, 7, 8, 9


# ctypes.string_at without a step of Python; of NULL, bytes that a call of C fills before anybody
# sees them. An array of ctypes needs a type for each length, which costs more than the call.
bytes_at = pythonapi["PyBytes_FromStringAndSize"]
bytes_at.restype = py_object
bytes_at.argtypes = [c_void_p, c_ssize_t]

# Bytes of all rows at once are copied once more than one by one: worth it for short ones.
_MUCH = 1 << 20

# The room for the bytes of a row, of the first try.
_ROW = 256
_SIZE = sizeof(c_size_t)


@functools.lru_cache(maxsize=None)
def _names_of(kind: Any) -> Tuple[str, ...]:
    if dataclasses.is_dataclass(kind):
        return tuple(each.name for each in dataclasses.fields(kind))
    return tuple(kind._fields)


class Rows:
    """Rows of a result, or of a list inside of one."""

    __slots__ = ()
    _as_parameter_: c_void_p

    def __len__(self) -> int:
        return int(lib.tq_result_count(self))

    def integer(self, row: int, field: bytes) -> int:
        return int(lib.tq_result_int(self, row, field))

    def is_null(self, row: int, field: bytes) -> bool:
        return bool(lib.tq_result_type(self, row, field) == _NULL)

    def data(self, row: int, field: bytes) -> Optional[bytes]:
        size = c_size_t()
        start = lib.tq_result_bytes(self._as_parameter_, row, field, byref(size))
        return None if start is None else bytes_at(start, size.value)

    def integers(self, field: bytes) -> List[int]:
        """Of all rows."""
        values = bytes_at(None, 8 * len(self))
        lib.tq_result_all_ints(self, field, values)
        return memoryview(values).cast("q").tolist()

    def all(self, field: bytes) -> List[bytes]:
        """Bytes of all rows; those of none are empty."""
        count = len(self)
        sizes, room = bytes_at(None, _SIZE * count), _ROW * count
        joined = bytes_at(None, room)
        size = lib.tq_result_all_bytes(self, field, sizes, joined, room)
        if size > _MUCH:
            return [self.data(row, field) or b"" for row in range(count)]
        if size > room:
            joined = bytes_at(None, size)
            lib.tq_result_all_bytes(self, field, None, joined, size)
        # As wide as size_t, whose own letter newer stubs of memoryview do not know.
        return list(map(io.BytesIO(joined).read, memoryview(sizes).cast("P")))

    def text(self, row: int, field: bytes) -> str:
        return (self.data(row, field) or b"").decode("utf-8", "replace")

    def optional_text(self, row: int, field: bytes) -> Optional[str]:
        data = self.data(row, field)
        return None if data is None else data.decode("utf-8", "replace")

    def optional_integer(self, row: int, field: bytes) -> Optional[int]:
        return None if self.is_null(row, field) else self.integer(row, field)

    def optional_double(self, row: int, field: bytes) -> Optional[float]:
        if self.is_null(row, field):
            return None
        return float(lib.tq_result_double(self, row, field))

    def time(self, row: int, field: bytes) -> datetime.datetime:
        return time_of(self.integer(row, field))

    def optional_time(self, row: int, field: bytes) -> Optional[datetime.datetime]:
        return None if self.is_null(row, field) else self.time(row, field)

    def inner(self, row: int, field: bytes) -> Optional["Rows"]:
        found = lib.tq_result_list(self, row, field)
        return None if found is None else _Inside(c_void_p(found), self)

    def names(self) -> List[bytes]:
        count = lib.tq_result_field_count(self)
        return [lib.tq_result_field_name(self, field) for field in range(count)]

    def headers(self, row: int) -> Dict[str, str]:
        pairs = self.inner(row, b"headers")
        if pairs is None:
            return {}
        return {pairs.text(n, b"name"): pairs.text(n, b"value") for n in range(len(pairs))}

    def value(self, row: int, field: bytes) -> Any:
        """The value as Python has it."""
        kind = lib.tq_result_type(self, row, field)
        if kind == _INT:
            return self.integer(row, field)
        if kind == _BOOL:
            return self.integer(row, field) != 0
        if kind == _TIME:
            return self.time(row, field)
        if kind == _DOUBLE:
            return float(lib.tq_result_double(self, row, field))
        if kind == _DECIMAL:
            import decimal

            return decimal.Decimal(self.text(row, field))
        if kind == _TEXT:
            return self.text(row, field)
        if kind == _BYTES:
            return self.data(row, field)
        if kind == _LIST:
            rows = self.inner(row, field)
            return [] if rows is None else rows.dicts()
        return None

    def dict(self, row: int) -> Dict[str, Any]:
        return {name.decode(): self.value(row, name) for name in self.names()}

    def record(self, kind: Type[T], row: int = 0, **given: Any) -> T:
        """A dataclass or NamedTuple, whose fields have the names of the result's, but for those
        that are given. A later library may have more."""
        names = [name for name in _names_of(cast(Any, kind)) if name not in given]
        return kind(**{name: self.value(row, name.encode()) for name in names}, **given)

    def records(self, kind: Type[T]) -> List[T]:
        """Of all rows."""
        return [self.record(kind, row) for row in range(len(self))]

    def dicts(self) -> List[Dict[str, Any]]:
        return [self.dict(row) for row in range(len(self))]


class _Inside(Rows):
    """A list of a result."""

    __slots__ = ("_as_parameter_", "_owner")

    def __init__(self, value: c_void_p, owner: Rows) -> None:
        self._as_parameter_ = value
        self._owner = owner  # Keeps the outermost result.


class Result(Rows, Pointer):
    """What a call returned."""

    __slots__ = ()

    def __init__(self, function: Any, *arguments: Any) -> None:
        value = c_void_p()
        Pointer.__init__(self, value, lib.tq_result_free)
        call(function, *arguments, byref(value))

    @classmethod
    def into(cls, value: c_void_p) -> "Result":
        """Of a call that will set `value`."""
        result = cls.__new__(cls)
        Pointer.__init__(result, value, lib.tq_result_free)
        return result


def row_options(row: Mapping[str, Any]) -> Options:
    """A row of a table of the application."""
    import decimal

    options = Options(FOR_ROW)
    for name, value in row.items():
        key = text_of(name, "a column's name")
        if value is None:
            call(lib.tq_options_set_null, options, key, 0)
        elif isinstance(value, bool):
            call(lib.tq_options_set_bool, options, key, 1 if value else 0)
        elif isinstance(value, int):
            options.integer(key, value)
        elif isinstance(value, float):
            call(lib.tq_options_set_double, options, key, value)
        elif isinstance(value, str):
            options.text(key, value)
        elif isinstance(value, (bytes, bytearray, memoryview)):
            data = bytes(value)
            call(lib.tq_options_set_bytes, options, key, data, len(data))
        elif isinstance(value, decimal.Decimal):
            digits = format(value, "f").encode()
            call(lib.tq_options_set_decimal, options, key, digits, len(digits))
        elif isinstance(value, datetime.datetime):
            options.time(key, value)
        else:
            raise InvalidArgument(
                f"tableq: column {name} has a {type(value).__name__}; a row takes None, bool, int, "
                "float, str, bytes, Decimal and aware datetime"
            )
    return options


def out_int() -> Tuple[c_int, Any]:
    """An int that a call sets, and the pointer to it."""
    value = c_int()
    return value, byref(value)


def out_int64() -> Tuple[c_int64, Any]:
    """The same with 64 bits."""
    value = c_int64()
    return value, byref(value)
