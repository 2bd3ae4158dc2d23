"""Signals that end a process, and whose SystemExit it is: a handler's own, or that of one."""

from __future__ import annotations

import functools
import inspect
import signal
from types import CodeType
from typing import Any, List, Optional


def ending_signals() -> List[signal.Signals]:
    """Those that end a worker: not where a program in C, in which Python runs, has a handler, which
    Python could not put back."""
    both = (signal.SIGTERM, signal.SIGINT)
    return [number for number in both if signal.getsignal(number) is not None]


def is_failure(error: BaseException) -> bool:
    """Whether work that raised this has failed. Otherwise it was interrupted.

    A handler that calls sys.exit has failed: were no attempt counted, its message would come back
    for ever. What a signal ends did nothing wrong.
    """
    if isinstance(error, SystemExit):
        return not _of_a_signal(error)
    return isinstance(error, Exception)


def _of_a_signal(error: BaseException) -> bool:
    """Whether the code of a signal's handler has raised it."""
    codes = {_code_of(signal.getsignal(number)) for number in signal.valid_signals()} - {None}
    step = error.__traceback__
    while step is not None:
        if step.tb_frame.f_code in codes:
            return True
        step = step.tb_next
    return False


def _code_of(handler: Any) -> Optional[CodeType]:
    if not callable(handler):  # SIG_DFL, say.
        return None
    while isinstance(handler, functools.partial):
        handler = handler.func
    if not inspect.isroutine(handler):
        handler = type(handler).__call__
    return getattr(handler, "__code__", None)
