"""The queues of a worker with threads, and which of them a free thread reads next."""

from __future__ import annotations

import threading
import time
from ctypes import byref, c_int64
from typing import TYPE_CHECKING, Any, Callable, List, NamedTuple, Optional, Tuple

from ._errors import call
from ._handles import made
from ._library import lib
from ._messages import Job
from ._pause import Pauses

if TYPE_CHECKING:
    from ._lease import LeaseQueue


class Source(NamedTuple):
    """One of several queues of a worker, with the handler of its messages.

    tableq.Worker([tableq.Source(orders, ship, weight=3), tableq.Source(mails, send)], threads=8)

    The queues may be of several databases.
    """

    queue: "LeaseQueue"
    handler: Callable[[Job], Any]
    weight: int = 1
    """The share among sources of equal precedence, 1 to 1,000: with 3 and 1 the first gets three of
    four free threads, while both have messages."""
    precedence: int = 0
    """A free thread takes no message of a lower one while a higher one has some."""


class Line:
    """A source, and what the worker knows of it."""

    def __init__(self, source: Source, number: int) -> None:
        self.source = source
        self.number = number
        self.named = True  # It may have messages.
        self.news = 0  # How often that was heard: a read that began before tells nothing.
        self.turns = 0.0  # Reads, each counted as 1 / weight.
        self.pauses: Optional[Pauses] = None  # Of a database that refuses for now.
        self.rests = 0.0  # Until then no thread reads; for ever while one tries.


class Choice:
    """Gives each free thread the queue that it reads. With one queue the reads wait; with several a
    watch tells which of them may have a message."""

    def __init__(self, sources: List[Source], lock: Any) -> None:
        self._changed = threading.Condition(lock)
        self._lines = [Line(each, number) for number, each in enumerate(sources)]
        self.waits = len(sources) > 1
        self.descriptor = -1
        if self.waits:
            self._watch = made(lib.tq_watch_free, lib.tq_watch_new)
            for line in self._lines:
                call(lib.tq_watch_add, self._watch, line.source.queue._handle(), line.number)
            self.descriptor = int(lib.tq_watch_descriptor(self._watch))

    def readable(self) -> None:
        """The descriptor is readable."""
        number = c_int64()
        while lib.tq_watch_next(self._watch, byref(number)):
            with self._changed:
                self._name(self._lines[number.value])

    def wake(self) -> None:
        """The threads that wait look whether the worker ends."""
        with self._changed:
            self._changed.notify_all()

    def next(self, longest: float) -> Optional[Tuple[Line, int]]:
        """The queue to read, and what `read` wants. None: there is none yet, after `longest` seconds
        at most."""
        with self._changed:
            line, pause = self._best()
            if line is None:
                self._changed.wait(min(pause, longest))
                line, _ = self._best()
            if line is None:
                return None
            line.turns += 1 / line.source.weight
            if line.pauses is not None:
                line.rests = float("inf")
            return line, line.news

    def read(self, line: Line, news: int, found: bool) -> None:
        """A read has ended."""
        with self._changed:
            if line.pauses is not None:
                line.pauses, line.rests = None, 0.0
                self._changed.notify_all()
            if found and self.waits:
                self._name(line)
            if found or not self.waits or line.news != news:
                return
            line.named = False
        call(lib.tq_watch_done, self._watch, line.number, 0)

    def refused(self, line: Line) -> None:
        """The database refuses for now: one thread tries again after a pause, the others go on with
        other queues."""
        with self._changed:
            line.named = True
            line.pauses = line.pauses or Pauses()
            line.rests = time.monotonic() + line.pauses.next()
            self._changed.notify()

    def _name(self, line: Line) -> None:
        if not line.named:
            # A queue that was empty has no claim to the time that others used.
            busy = [other.turns for other in self._lines if other.named]
            line.turns = max([line.turns, *([min(busy)] if busy else [])])
        line.named = True
        line.news += 1
        self._changed.notify()

    def _best(self) -> Tuple[Optional[Line], float]:
        """Without one, also how long until a queue has rested."""
        now = time.monotonic()
        named = [line for line in self._lines if line.named]
        able = [line for line in named if line.rests <= now]
        if not able:
            return None, min([line.rests for line in named], default=float("inf")) - now
        return min(able, key=lambda line: (-line.source.precedence, line.turns)), 0.0
