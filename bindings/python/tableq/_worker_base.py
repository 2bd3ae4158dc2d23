"""What a worker with threads and one of an event loop have alike."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING, Any, Callable, Dict, Optional

from ._errors import Error
from ._handles import Duration, bool_of, milliseconds, span_milliseconds
from ._keeper import Keeper
from ._messages import Job, log
from ._sources import sources_of
from ._verdict import is_empty, of_a_close, passes

if TYPE_CHECKING:
    from ._database import Database


class WorkerBase:
    """Its sources, and the messages whose handlers run."""

    def __init__(
        self,
        queue: Any,
        handler: Any,
        refusal: Callable[[Any], Optional[str]],
        lease: Optional[Duration],
        until_empty: bool,
        grace: Optional[Duration],
    ) -> None:
        self._sources = sources_of(queue, handler, refusal)
        self._databases: "Dict[int, Database]" = {
            id(each.queue.database): each.queue.database for each in self._sources
        }
        if lease is not None:
            milliseconds(lease, "lease")
        self._lease = lease
        self._until_empty = bool_of(until_empty, "until_empty")
        self._grace = None if grace is None else span_milliseconds(grace, "grace") / 1000
        self._lock = threading.RLock()  # A signal's handler may come in the midst of it.
        self._keepers: Dict[int, Keeper] = {}  # By the database's id.
        self._running: Dict[str, Job] = {}
        self._completed = 0
        self._failure: Optional[BaseException] = None
        self._signals = 0

    def _note_lost(self, keeper: Keeper) -> None:
        for lost in keeper._news():
            with self._lock:
                job = self._running.get(lost.receipt)
            if job is not None:
                job._told(lost.why)

    def _of_a_close(self, error: BaseException) -> bool:
        return any(of_a_close(error, each) for each in self._databases.values())

    def _note_failure(self, error: BaseException) -> None:
        """`run` raises the first one."""
        if not self._of_a_close(error):
            with self._lock:
                self._failure = self._failure or error

    def _ends_empty(self) -> bool:
        with self._lock:
            if not self._until_empty or self._running:
                return False
        try:
            return all(is_empty(each.queue) for each in self._sources)
        except Error as error:
            if not passes(error):
                raise
            log.warning("tableq: %s", error)
            return False
