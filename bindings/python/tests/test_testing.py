"""A clock that is set, for tests of applications."""

from __future__ import annotations

from datetime import datetime, timedelta, timezone

import pytest

import tableq
from conftest import Place

START = datetime(2026, 1, 1, tzinfo=timezone.utc)


def test_due_times_and_leases_follow_a_set_clock(place: Place) -> None:
    clock = tableq.testing.Clock(START)
    db = place.open(clock=clock)
    jobs = db.claim("jobs", lease=30, retry=[60])
    jobs.put("later", delay=3600)
    assert jobs.take_one() is None
    clock.advance(timedelta(hours=1))
    job = jobs.take_one()
    assert job is not None and job.lease_until == START + timedelta(hours=1, seconds=30)
    assert job.created_at == START
    clock.advance(31)
    again = jobs.take_one()  # A worker has died.
    assert again is not None and again.attempt == 2
    assert not job.complete()
    again.fail("busy")
    assert jobs.take_one() is None
    clock.set(clock.now + timedelta(seconds=60))
    last = jobs.take_one()
    assert last is not None and last.complete()


def test_a_clock_serves_several_databases_and_needs_a_time_zone(place: Place) -> None:
    clock = tableq.testing.Clock(START)
    first, second = place.open(clock=clock), place.open(clock=clock)
    first.pending("mail").put("x", delay=10)
    assert second.pending("mail").dequeue() == []
    clock.advance(10)
    assert len(second.pending("mail").dequeue()) == 1
    with pytest.raises(tableq.InvalidArgument, match="time zone"):
        clock.set(datetime(2026, 1, 1))
