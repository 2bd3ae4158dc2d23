"""For tests of your own code: a clock that is set, in place of the database's.

    clock = tableq.testing.Clock(datetime(2026, 1, 1, tzinfo=timezone.utc))
    with tableq.open("sqlite://:memory:", clock=clock) as db:
        jobs = db.claim("jobs", lease=30)
        jobs.put("x", delay=60)
        clock.advance(60)
        assert jobs.take_one() is not None

Due times, leases and ages follow it. Waits do not: they last as long as they would, and a message
that falls due because the clock was set is found by the next read. Not for production.
"""

from __future__ import annotations

import datetime
from ctypes import byref, c_void_p

from ._errors import call
from ._handles import EPOCH, Duration, Pointer, milliseconds, time_milliseconds
from ._library import lib

__all__ = ["Clock"]


class Clock(Pointer):
    """A clock that stands until it is set. Give it to `tableq.open`; any number of databases may
    share it, and any thread may set it."""

    __slots__ = ("_now",)

    def __init__(self, now: datetime.datetime) -> None:
        self._now = time_milliseconds(now, "now")
        value = c_void_p()
        super().__init__(value, lib.tq_clock_free)
        call(lib.tq_clock_new, self._now, byref(value))

    @property
    def now(self) -> datetime.datetime:
        """Its time, in UTC."""
        return EPOCH + datetime.timedelta(milliseconds=self._now)

    def set(self, now: datetime.datetime) -> None:
        """Sets its time."""
        self._now = time_milliseconds(now, "now")
        lib.tq_clock_set(self, self._now)

    def advance(self, by: Duration) -> None:
        """Sets it that much later."""
        self._now += milliseconds(by, "by")
        lib.tq_clock_set(self, self._now)
