"""Rules of periodic messages."""

from __future__ import annotations

import dataclasses
import datetime
from typing import Any

import pytest

import tableq
from conftest import Place


def test_a_rule_is_added_followed_changed_and_removed(jobs: tableq.ClaimQueue, db: tableq.Database) -> None:
    rule = tableq.Schedule(
        "often", "jobs", b"x\0y", every=1, headers={"a": "b"}, priority=3, key="k", catch_up=5,
        not_later_than=60, skip_if_running=True,
    )
    db.schedules.add(rule)
    (job,) = jobs.take(wait=60)
    assert job.payload == b"x\0y" and job.headers["tableq-schedule"] == "often"
    assert datetime.datetime.fromisoformat(job.headers["tableq-scheduled-at"].replace("Z", "+00:00"))
    job.complete()
    (info,) = db.schedules.list()
    assert info.rule == tableq.Schedule(
        "often", "jobs", b"x\0y", every=datetime.timedelta(seconds=1), headers={"a": "b"},
        priority=3, key="k", catch_up=5, not_later_than=datetime.timedelta(seconds=60),
        skip_if_running=True,
    )
    assert info.enabled and info.problem == "" and info.last is not None and len(info.next) == 5
    assert db.find("jobs").options["schedules"] is True  # type: ignore[union-attr]
    db.schedules.change(tableq.Schedule("often", "jobs", cron="@daily", zone="Europe/Berlin"))
    found = db.schedules.find("often")
    assert found is not None and found.rule.cron == "@daily" and found.rule.every is None
    db.schedules.change("often", every=60, payload="z")
    found = db.schedules.find("often")
    assert found is not None and found.rule.cron is None and found.rule.payload == b"z"
    with pytest.raises(tableq.NotFound):
        db.schedules.change("daily", payload="z")
    assert db.schedules.pause("often") and db.schedules.resume("often")
    assert db.schedules.run_now("seldom") is None
    number = db.schedules.run_now("often")
    assert number is not None and number in [job.id for job in jobs.take(10)]
    assert db.schedules.remove("often") and not db.schedules.remove("often")
    assert db.schedules.find("often") is None
    assert "schedules" not in db.find("jobs").options  # type: ignore[union-attr]


def test_a_change_of_some_fields_keeps_what_another_changes_meanwhile(
    place: Place, jobs: tableq.ClaimQueue, db: tableq.Database, monkeypatch: pytest.MonkeyPatch
) -> None:
    db.schedules.add(tableq.Schedule("nightly", "jobs", "report", cron="@daily"))
    other = place.open()
    plain = tableq._schedules._info

    def slow(*arguments: Any) -> tableq.ScheduleInfo:
        monkeypatch.undo()
        found = plain(*arguments)
        other.schedules.change(dataclasses.replace(found.rule, payload="long report"))
        return found

    monkeypatch.setattr(tableq._schedules, "_info", slow)
    db.schedules.change("nightly", cron="@hourly", priority=3)
    found = db.schedules.find("nightly")
    assert found is not None and (found.rule.cron, found.rule.priority) == ("@hourly", 3)
    assert found.rule.payload == b"long report"
    monkeypatch.setattr(tableq._schedules, "_info", lambda *arguments: (
        monkeypatch.undo(), other.schedules.remove("nightly"), plain(*arguments)
    )[2])
    with pytest.raises(tableq.NotFound):
        db.schedules.change("nightly", cron="@daily")
    assert db.schedules.list() == []


def test_an_owner_declares_its_rules(jobs: tableq.ClaimQueue, db: tableq.Database) -> None:
    rules = [tableq.Schedule(name, "jobs", cron="@hourly") for name in ("a", "b")]
    assert db.schedules.declare("app", rules) == tableq.Declared(added=2, changed=0, removed=0)
    assert db.schedules.declare("app", rules[:1]) == tableq.Declared(added=0, changed=0, removed=1)
    assert [each.owner for each in db.schedules.list()] == ["app"]


def test_a_wrong_rule_says_where(jobs: tableq.ClaimQueue, db: tableq.Database) -> None:
    with pytest.raises(tableq.InvalidArgument, match="character 9"):
        db.schedules.add(tableq.Schedule("a", "jobs", cron="0 2 * * moon"))
    with pytest.raises(tableq.NotFound):
        db.schedules.add(tableq.Schedule("a", "absent", cron="@daily"))
