"""Two copies of SQLite in one process must not have one file open: POSIX locks belong to the
process, so that each close of the file by one copy drops the locks of the other."""

from __future__ import annotations

import ctypes
import functools
import importlib.util
import os
import sys
import threading
from typing import Any, Dict, Optional, Tuple
from urllib.parse import unquote

from ._connections import Steps
from ._errors import Unsupported
from ._library import lib

_File = Tuple[int, int]  # Device and inode.

_lock = threading.RLock()  # A Database may be collected in the midst of this.
_ours: Dict[_File, int] = {}  # Files of open databases of tableq, and how many.


def _symbol(path: str) -> Optional[int]:
    """Where the SQLite of a loaded object begins: of itself, or of the libraries that it needs."""
    try:
        function = ctypes.CDLL(path).sqlite3_libversion_number
    except (OSError, AttributeError):
        return None
    return ctypes.cast(function, ctypes.c_void_p).value


@functools.lru_cache(maxsize=None)
def one_sqlite() -> bool:
    """Whether tableq and Python's module sqlite3 use one copy of SQLite."""
    found = importlib.util.find_spec("_sqlite3")
    if found is None:
        return True  # No other one that Python could use.
    path = found.origin
    ours = _symbol(lib.path)
    return path is not None and ours is not None and ours == _symbol(path)


def _file_of(path: str) -> Optional[_File]:
    try:
        found = os.stat(path)
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _open_here(path: str) -> bool:
    """Whether a Database of this process has that file open."""
    with _lock:
        return bool(path) and _file_of(path) in _ours


def path_of(url: str) -> Optional[str]:
    """The file that an address names, or None: not SQLite, or no file."""
    scheme, found, rest = url.partition("://")
    if not found or scheme not in ("sqlite", "sqlite3"):
        return None
    path = unquote(rest.partition("?")[0])
    if path.startswith("dbname="):
        path = path[len("dbname="):].split(" ")[0]
    return None if not path or path == ":memory:" else path


def _connecting(event: str, arguments: Tuple[Any, ...]) -> None:
    """Told by Python of what it does: refuses to open a file of tableq with Python's SQLite."""
    if event != "sqlite3.connect" or not _ours or not arguments or one_sqlite():
        return
    path = os.fsdecode(arguments[0]) if isinstance(arguments[0], (str, bytes, os.PathLike)) else ""
    if path.startswith("file:"):
        path = unquote(path[len("file:"):].partition("?")[0])
        if path.startswith("//"):  # An authority: none, or localhost.
            path = "/" + path[2:].partition("/")[2]
    if _open_here(path):
        raise Unsupported(
            f"tableq: a Database has {path} open with another SQLite than Python's, and two copies "
            "break each other's locks. Close it first, or use a libtableq that links Python's "
            "libsqlite3"
        )


@functools.lru_cache(maxsize=None)
def _watch_connections() -> None:
    """From now on, for ever: Python has no call that ends it."""
    sys.addaudithook(_connecting)


class Guard:
    """Refuses another SQLite of this process on the file of a database."""

    def __init__(self, url: str) -> None:
        path = path_of(url)
        self.url = url
        """For the library, which looks for others at each new session."""
        if path is not None and not one_sqlite() and sys.platform == "linux":
            self.url += ("&" if "?" in url else "?") + "other_sqlite=refuse"
        # Relative addresses are meant from where the process is now.
        self._path = None if path is None else os.path.abspath(path)
        self._file: Optional[_File] = None

    def opened(self) -> None:
        if self._path is None:
            return
        self._file = _file_of(self._path)
        if self._file is not None:
            with _lock:
                _ours[self._file] = _ours.get(self._file, 0) + 1
            if not one_sqlite():
                _watch_connections()

    def closed(self) -> None:
        file, self._file = self._file, None
        if file is None:
            return
        with _lock:
            left = _ours.get(file, 0) - 1
            if left > 0:
                _ours[file] = left
            else:
                _ours.pop(file, None)


def check_connection() -> Steps[None]:
    """A connection of Python's sqlite3 beside an open database of tableq."""
    if one_sqlite():
        return
    row = (yield "PRAGMA database_list", {}, True).row  # Its first one is of `main`.
    path = "" if row is None else row[2]
    if _open_here(path):
        raise Unsupported(
            f"tableq: a Database has {path} open with another SQLite than this connection, and two "
            "copies break each other's locks. Use tableq.Outbox without a Database in this process, "
            "or a libtableq that links Python's libsqlite3"
        )
