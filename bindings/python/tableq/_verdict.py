"""How workers settle a job."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Callable, Optional, Tuple, Type

from ._errors import (
    Busy,
    Cancelled,
    Conflict,
    ConnectionFailed,
    ConnectionLost,
    Error,
    InvalidArgument,
    OutcomeUnknown,
    ReadOnly,
    StorageFailed,
    StorageFull,
)
from ._messages import Job, log, log_failure
from ._pause import Pauses

if TYPE_CHECKING:
    from ._database import Database
    from ._lease import LeaseQueue

# Refusals that pass: a worker tries again.
PASSING: Tuple[Type[Error], ...] = (
    Busy,
    Cancelled,
    Conflict,
    ConnectionFailed,
    ConnectionLost,
    OutcomeUnknown,
    ReadOnly,
    StorageFailed,
    StorageFull,
)

# How long an ending worker tries to settle what it has.
_LAST_SECONDS = 10.0


def passes(error: Error) -> bool:
    """Whether the next try may succeed."""
    return isinstance(error, PASSING) or error.retryable


def of_a_close(error: BaseException, database: "Database") -> bool:
    """Whether a worker met the close of its database, which may come at any step. A message that it
    has comes again when its lease ends."""
    if not (isinstance(error, InvalidArgument) and database._closing):
        return False
    log.warning("tableq: the database was closed beside a worker; its messages may run again")
    return True


def is_empty(queue: "LeaseQueue") -> bool:
    """Whether no message is ready, delayed or leased by anyone."""
    stats = queue.stats(count_to=1)
    return not (stats.ready or stats.due or stats.delayed or stats.leased or stats.held)


def settle(
    job: Job, failure: Optional[BaseException], ending: Callable[[], bool]
) -> Optional[bool]:
    """Completes a job, or fails it with an exception. While the database refuses that for now, it
    tries again; meanwhile the keeper extends the lease.

    Returns whether the handler's work counts; None: nobody knows, and the message may come again.
    """
    if job.settled:
        if failure is not None:
            log.error("tableq: %r failed after it was settled", job, exc_info=failure)
        return failure is None and not job.lost
    if failure is not None:
        log_failure(job, failure)
    pauses = Pauses()
    end: Optional[float] = None
    while not job.lost:
        try:
            applied = job.complete() if failure is None else job._fail_with(failure)
            if applied:
                return failure is None
            break
        except Error as refusal:
            if job.queue.database.closed:
                log.warning("tableq: the database was closed before message %d in %s was settled; "
                            "it may run again", job.id, job.queue.name)
                return None
            if not passes(refusal):
                if failure is not None:
                    log.error("tableq: message %d in %s waits for the end of its lease: %s",
                              job.id, job.queue.name, refusal)
                    return None
                # A trigger or a constraint, say: the message must not come back for ever.
                log.error("tableq: %s", refusal)
                # Its traceback has this frame: they would keep each other.
                failure = refusal.with_traceback(None)
                continue
            log.warning("tableq: message %d in %s cannot be settled now: %s", job.id,
                        job.queue.name, refusal)
        if ending():
            now = time.monotonic()
            end = now + _LAST_SECONDS if end is None else end
            if now >= end:
                return None
        time.sleep(pauses.next())
    log.warning("tableq: the lease of message %d in %s was lost; it may run again", job.id,
                job.queue.name)
    return None
