"""The queues of a worker, and which of them it reads next."""

from __future__ import annotations

import threading
import time
from ctypes import byref, c_int64
from typing import Any, Callable, Dict, Iterable, List, NamedTuple, Optional, Tuple

from ._errors import InvalidArgument, call
from ._handles import made, of_type
from ._lease import LeaseQueue
from ._library import lib
from ._messages import Job
from ._pause import Pauses
from ._queue import Queue

# So long a worker of several databases waits for one of them before it goes on with the others.
PATIENCE = 0.1

_NO_SOURCES = "tableq: give a queue and a handler, or a list of tableq.Source"


class Source(NamedTuple):
    """One of several queues of a worker, with the handler of its messages.

    tableq.Worker([tableq.Source(orders, ship, weight=3), tableq.Source(mails, send)], threads=8)

    The queues may be of several databases.
    """

    queue: "LeaseQueue"
    handler: Callable[[Job], Any]
    weight: int = 1
    """The share among sources of equal precedence, 1 to 1,000: with 3 and 1 the first gets three of
    four messages, while both have some."""
    precedence: int = 0
    """No message of a lower one is taken while a higher one has some."""


def sources_of(
    queue: Any, handler: Any, refusal: Callable[[Any], Optional[str]]
) -> List[Source]:
    """The sources of a worker, which is given a queue and its handler, or sources. `refusal` says
    why a handler is none of its kind."""
    if isinstance(queue, Queue):
        sources = [Source(queue, handler)]  # type: ignore[arg-type]
    elif isinstance(queue, (str, bytes)) or not isinstance(queue, Iterable):
        raise InvalidArgument(f"{_NO_SOURCES}, not {type(queue).__name__}")
    else:
        if handler is not None:
            raise InvalidArgument("tableq: of several queues each Source has its own handler")
        sources = list(queue)
        if not 1 <= len(sources) <= 100:
            raise InvalidArgument("tableq: a worker has 1 to 100 sources")
    for each in sources:
        if not isinstance(each, Source):
            raise InvalidArgument(f"{_NO_SOURCES}, not of {type(each).__name__}")
        if isinstance(each.queue, Queue) and not isinstance(each.queue, LeaseQueue):
            raise InvalidArgument(
                f"tableq: the queue of a worker is of the kind claim or a table, not {each.queue.kind}; "
                "dequeue reads it"
            )
        of_type(each.queue, LeaseQueue, "the queue of a worker")
        if not callable(each.handler):
            raise InvalidArgument("tableq: handler is not callable")
        refused = refusal(each.handler)
        if refused is not None:
            raise InvalidArgument(refused)
        for number, name, least, most in (
            (each.weight, "weight", 1, 1000),
            (each.precedence, "precedence", -(2**31), 2**31 - 1),
        ):
            if isinstance(number, bool) or not isinstance(number, int):
                raise InvalidArgument(f"tableq: {name} is an int")
            if not least <= number <= most:
                raise InvalidArgument(f"tableq: {name} is {least:,} to {most:,}")
    return sources


class Line:
    """A source, and what the worker knows of it."""

    def __init__(self, source: Source, number: int) -> None:
        self.source = source
        self.number = number
        self.named = True  # It may have messages.
        self.news = 0  # How often that was heard: a read that began before tells nothing.
        self.turns = 0.0  # Messages and empty reads, each counted as 1 / weight.
        self.pauses: Optional[Pauses] = None  # Of a database that refuses for now.
        self.rests = 0.0  # Until then no thread reads; for ever while one tries.


class Turn(NamedTuple):
    """A queue to read."""

    line: Line
    news: int  # What the read does not tell of: see `Line.news`.
    most: int  # Messages to take.
    ended: Any = None  # The future of its read, if that was late.


class Choice:
    """Says which queue is read next. With one queue the reads of threads wait themselves; otherwise
    a watch tells which queue may have a message."""

    def __init__(self, sources: List[Source], lock: Any, *, watched: bool) -> None:
        self._changed = threading.Condition(lock)
        self._lines = [Line(each, number) for number, each in enumerate(sources)]
        self._late: Dict[Any, Turn] = {}  # By the futures of their reads.
        self.waits = watched
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

    def next(self, longest: float) -> Optional[Turn]:
        """The queue that a thread reads. None: there is none yet, after `longest` seconds at most."""
        with self._changed:
            turn, pause = self.pick(1)
            if turn is None:
                self._changed.wait(min(pause, longest))
                turn, _ = self.pick(1)
            return turn

    def pick(self, room: int) -> Tuple[Optional[Turn], float]:
        """The queue to read for a worker with room for so many messages. Without one, also how long
        until a queue has rested."""
        with self._changed:
            for read, turn in self._late.items():
                if read.done():
                    del self._late[read]
                    return turn._replace(ended=read), 0.0
            silent = {id(turn.line.source.queue.database) for turn in self._late.values()}
            now = time.monotonic()
            named = [
                line
                for line in self._lines
                if line.named and id(line.source.queue.database) not in silent
            ]
            able = [line for line in named if line.rests <= now]
            if not able:
                return None, min([line.rests for line in named], default=float("inf")) - now
            line = min(able, key=lambda line: (-line.source.precedence, line.turns))
            weight, precedence = line.source.weight, line.source.precedence
            all_weights = sum(
                other.source.weight for other in able if other.source.precedence == precedence
            )
            line.turns += 1 / weight
            if line.pauses is not None:
                line.rests = float("inf")
            return Turn(line, line.news, max(1, room * weight // all_weights)), 0.0

    def read(self, turn: Turn, found: int) -> None:
        """A read has ended, which has found so many messages."""
        line = turn.line
        with self._changed:
            if line.pauses is not None:
                line.pauses, line.rests = None, 0.0
                self._changed.notify_all()
            line.turns += max(found - 1, 0) / line.source.weight
            if found and self.waits:
                self._name(line)
            if found or not self.waits or line.news != turn.news:
                return
            line.named = False
        call(lib.tq_watch_done, self._watch, line.number, 0)

    def late(self, turn: Turn, read: Any) -> None:
        """The database has not answered yet. Its queues are not read until it does; then `pick`
        gives the turn again, with the read."""
        with self._changed:
            self._late[read] = turn
        read.add_done_callback(lambda _: self.wake())

    @property
    def late_reads(self) -> Dict[Any, Turn]:
        """What `late` was told of and `pick` has not given again."""
        with self._changed:
            return dict(self._late)

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
