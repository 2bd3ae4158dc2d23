"""Connections of the application: how statements run on one, by the driver that it is of."""

from __future__ import annotations

from typing import Any, Callable, Dict, Generator, List, Mapping, NamedTuple, Optional, Tuple, TypeVar

from ._errors import InvalidArgument

T = TypeVar("T")


class Ran(NamedTuple):
    """What became of a statement."""

    row: Optional[Tuple[Any, ...]]
    """The first one, if it was asked for."""
    changed: int
    """The rows that it has changed or returned."""
    last_id: Any = None
    """Of an INSERT of SQLite."""


Statement = Tuple[str, Mapping[str, Any], bool]
"""A text with values as `:name`, the values, and whether its first row is asked for."""

Steps = Generator[Statement, Ran, T]
"""Statements one after the other, each with what became of the one before."""


def _marked(sql: str, mark: Callable[[str], str]) -> str:
    """The statement with a driver's marks in place of `:name`."""
    out: List[str] = []
    rest = sql
    while True:
        before, colon, after = rest.partition(":")
        out.append(before)
        if not colon:
            return "".join(out)
        length = 0
        while length < len(after) and (after[length].isalnum() or after[length] == "_"):
            length += 1
        out.append(mark(after[:length]))
        rest = after[length:]


class Driver:
    """How statements run on a connection of one DB-API module."""

    def __init__(self, dialect: str, mark: str) -> None:
        self.dialect = dialect
        self.mark = mark  # `%({})s` or `:{}`

    def cursor(self, connection: Any) -> Any:
        """A cursor whose rows are tuples, whatever the application has chosen for its own."""
        module = type(connection).__mro__
        if any(kind.__module__.partition(".")[0] == "psycopg2" for kind in module):
            from psycopg2.extensions import cursor

            return connection.cursor(cursor_factory=cursor)
        if self.dialect == "postgresql":
            from psycopg.rows import tuple_row

            return connection.cursor(row_factory=tuple_row)
        found = connection.cursor()
        found.row_factory = None
        return found

    def has_transaction(self, connection: Any) -> bool:
        """Whether statements run in a transaction: one is open, or the next one begins it."""
        if self.dialect == "postgresql":
            return not connection.autocommit or int(connection.info.transaction_status) == 2
        if connection.in_transaction:
            return True
        autocommit = getattr(connection, "autocommit", -1)  # From Python 3.12 on.
        if isinstance(autocommit, bool):
            return not autocommit
        return connection.isolation_level is not None

    def text(self, sql: str) -> str:
        escaped = sql.replace("%", "%%") if self.mark.startswith("%") else sql
        return _marked(escaped, self.mark.format)

    def run(self, connection: Any, steps: "Steps[T]") -> T:
        cursor = self.cursor(connection)
        try:
            sql, values, asks = next(steps)
            while True:
                cursor.execute(self.text(sql), values)
                row = cursor.fetchone() if asks else None
                sql, values, asks = steps.send(Ran(row, cursor.rowcount, _last_id(cursor)))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]
        finally:
            cursor.close()


class AsyncDriver(Driver):
    """The same for connections whose calls are awaited."""

    async def execute(
        self, connection: Any, sql: str, values: Mapping[str, Any], asks: bool
    ) -> Ran:
        if self.dialect == "sqlite":
            cursor = await connection.cursor()
            cursor.row_factory = None
        else:
            cursor = self.cursor(connection)
        try:
            await cursor.execute(self.text(sql), values)
            row = await cursor.fetchone() if asks else None
            return Ran(row, cursor.rowcount, _last_id(cursor))
        finally:
            await cursor.close()

    async def run_async(self, connection: Any, steps: "Steps[T]") -> T:
        try:
            statement = next(steps)
            while True:
                statement = steps.send(await self.execute(connection, *statement))
        except StopIteration as end:
            return end.value  # type: ignore[no-any-return]


class _Asyncpg(AsyncDriver):
    """It numbers values, and has no cursors of DB-API."""

    def has_transaction(self, connection: Any) -> bool:
        return bool(connection.is_in_transaction())

    async def execute(
        self, connection: Any, sql: str, values: Mapping[str, Any], asks: bool
    ) -> Ran:
        numbers: Dict[str, int] = {}
        text = _marked(sql, lambda name: f"${numbers.setdefault(name, len(numbers) + 1)}")
        rows = await connection.fetch(text, *map(values.get, numbers))
        return Ran(tuple(rows[0]) if rows else None, len(rows))


def _last_id(cursor: Any) -> Any:
    return getattr(cursor, "lastrowid", None)


_SQLITE = Driver("sqlite", ":{}")
_PSYCOPG = Driver("postgresql", "%({})s")
_DRIVERS = {
    ("sqlite3", "Connection"): _SQLITE,
    ("psycopg", "Connection"): _PSYCOPG,
    ("psycopg2", "connection"): _PSYCOPG,
}
_ASYNC_PSYCOPG = AsyncDriver("postgresql", "%({})s")
_ASYNCPG = _Asyncpg("postgresql", "")
_ASYNC_DRIVERS = {
    ("aiosqlite", "Connection"): AsyncDriver("sqlite", ":{}"),
    ("psycopg", "AsyncConnection"): _ASYNC_PSYCOPG,
    ("asyncpg", "Connection"): _ASYNCPG,
    ("asyncpg", "PoolConnectionProxy"): _ASYNCPG,
}


def _found(connection: Any, drivers: Mapping[Tuple[str, str], T]) -> Optional[T]:
    for kind in type(connection).__mro__:
        known = drivers.get((kind.__module__.partition(".")[0], kind.__name__))
        if known is not None:
            return known
    return None


def driver_of(connection: Any) -> Driver:
    """The driver of a DB-API connection.

    Raises InvalidArgument for what is no connection of sqlite3, psycopg or psycopg2.
    """
    found = _found(connection, _DRIVERS)
    if found is not None:
        return found
    raise InvalidArgument(
        f"tableq: using is a connection of sqlite3, psycopg or psycopg2, not {_name_of(connection)}; "
        "Django has it in connection.connection, SQLAlchemy in "
        "session.connection().connection.dbapi_connection; an asynchronous one is for put_async"
    )


def async_driver_of(connection: Any) -> AsyncDriver:
    """The same for connections of an event loop."""
    found = _found(connection, _ASYNC_DRIVERS)
    if found is not None:
        if found is _ASYNCPG and not found.has_transaction(connection):
            raise InvalidArgument(
                "tableq: the connection of asyncpg has no open transaction: begin one, as by "
                "async with connection.transaction()"
            )
        return found
    raise InvalidArgument(
        "tableq: using of put_async is an asynchronous connection of psycopg, asyncpg or aiosqlite, "
        f"not {_name_of(connection)}; SQLAlchemy has it in (await (await "
        "session.connection()).get_raw_connection()).driver_connection; put takes other connections"
    )


def _name_of(connection: Any) -> str:
    return f"{type(connection).__module__}.{type(connection).__qualname__}"
