"""Values that are no values of an option: each is refused before anything is changed."""

from __future__ import annotations

import math
from typing import Any, Callable

import pytest

import tableq

HUGE = 10**400


def _begin(db: tableq.Database, **options: Any) -> object:
    return db.claim("parts", batches=True).begin_batch(**options)


def _by(db: tableq.Database, filter: Any) -> object:
    return list(db.claim("jobs").messages_by(filter))


REFUSED: "dict[str, Callable[[tableq.Database], object]]" = {
    "dead_letters is the name": lambda db: db.claim("jobs", dead_letters=""),
    "then is the name": lambda db: _begin(db, then=""),
    "give its fields to put, or it to put_batch": lambda db: db.claim("jobs").put(
        tableq.NewMessage("a", key="b")  # type: ignore[arg-type]
    ),
    "keep_completed is True or False": lambda db: db.claim("jobs", keep_completed="no"),  # type: ignore[arg-type]
    "groups is True or False": lambda db: db.claim("jobs", groups=1),  # type: ignore[arg-type]
    "lease is out of range": lambda db: db.claim("jobs", lease=HUGE),
    "lease is not a finite": lambda db: db.claim("jobs", lease=1e306),
    "rate is out of range": lambda db: db.claim("jobs").set_limits(tableq.Limits(rate=HUGE)),
    "limits is a Limits": lambda db: db.claim("jobs").set_limits(None),  # type: ignore[arg-type]
    "filter is a Filter": lambda db: _by(db, None),
    "header is a name and a value": lambda db: _by(db, tableq.Filter(header=("a",))),  # type: ignore[arg-type]
    "state is a str": lambda db: db.claim("jobs").purge(None),  # type: ignore[arg-type]
    "state has a NUL": lambda db: db.claim("jobs").purge("dead\0"),
    "a batch takes a list": lambda db: db.claim("jobs").complete_batch("1.2.3"),
    "takes a list": lambda db: db.claim("jobs").put_batch(None),  # type: ignore[arg-type]
    "note is a str": lambda db: db.claim("jobs").progress("1.2.3", 0.5, None),  # type: ignore[arg-type]
    "grace is negative": lambda db: db.claim("jobs").work(print, grace=-1),
    "retry_for is negative": lambda db: db.transact(lambda tx: None, retry_for=-1),
    "function is not callable": lambda db: db.transact(None),  # type: ignore[arg-type,var-annotated]
    "count_to is at least 1": lambda db: db.batches(count_to=0),
    "delay is negative": lambda db: tableq.Retry("later", delay=-1),
    "delay is from 0 to 3,650 days": lambda db: tableq.Retry("later", delay=1e12),
    "delay is not a finite": lambda db: tableq.Retry("later", delay=math.nan),
}


@pytest.mark.parametrize("words", REFUSED)
def test_a_wrong_value_is_refused(db: tableq.Database, words: str) -> None:
    db.claim("jobs").put("stays")
    with pytest.raises(tableq.InvalidArgument, match=words):
        REFUSED[words](db)
    assert db.claim("jobs").stats().ready == 1
    assert not db.batches()
