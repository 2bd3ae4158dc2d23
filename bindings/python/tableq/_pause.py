"""Growing pauses between repetitions."""

from __future__ import annotations

import random
import threading
import time
from typing import Optional


class Pauses:
    """10 ms, then twice as long each time up to 2 s, each randomly shorter by up to half."""

    def __init__(self, longest: Optional[float] = None) -> None:
        self._end = None if longest is None else time.monotonic() + longest
        self._next = 0.01

    def next(self) -> float:
        """The next pause in seconds."""
        pause = self._next * random.uniform(0.5, 1)
        self._next = min(self._next * 2, 2.0)
        return pause

    def sleep(self, stop: Optional[threading.Event] = None) -> bool:
        """Rests. False: the time is over, or `stop` is set."""
        if self._end is not None and time.monotonic() >= self._end:
            return False
        if stop is None:
            time.sleep(self.next())
            return True
        return not stop.wait(self.next())
