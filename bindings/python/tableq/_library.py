"""Finds the C library of tableq, loads it once, and declares its functions."""

from __future__ import annotations

import ctypes
import ctypes.util
import os
import sys
from ctypes import POINTER, c_char_p, c_double, c_int, c_int32, c_int64, c_size_t, c_void_p
from pathlib import Path
from typing import Any, Dict, List, Optional, Tuple

NAME = "libtableq.so.0"

_out = POINTER(c_void_p)
_int = POINTER(c_int)
_int64 = POINTER(c_int64)
_size = POINTER(c_size_t)
_array = c_void_p  # Numbers one after the other, as bytes.
_text = (c_char_p, c_size_t)

# Name -> (what it returns, its parameters without the error). Functions that can fail return c_int
# and take the error as their last parameter.
_Declared = Dict[str, Tuple[Any, Tuple[Any, ...]]]

# These never wait and ask no database: they keep the GIL, which costs less than to give it up.
QUICK: _Declared = {
    "tq_error_advice": (c_int, (c_void_p,)),
    "tq_error_retryable": (c_int, (c_void_p,)),
    "tq_error_message": (c_char_p, (c_void_p,)),
    "tq_error_operation": (c_char_p, (c_void_p,)),
    "tq_error_backend": (c_char_p, (c_void_p,)),
    "tq_error_sqlstate": (c_char_p, (c_void_p,)),
    "tq_error_native": (c_int, (c_void_p,)),
    "tq_error_free": (None, (c_void_p,)),
    "tq_code_name": (c_char_p, (c_int,)),
    "tq_advice_name": (c_char_p, (c_int,)),
    "tq_outcome_name": (c_char_p, (c_int,)),
    "tq_ending_name": (c_char_p, (c_int,)),
    "tq_version": (c_char_p, ()),
    "tq_options_free": (None, (c_void_p,)),
    "tq_stop_requested": (c_int, (c_void_p,)),
    "tq_clock_set": (None, (c_void_p, c_int64)),
    "tq_clock_free": (None, (c_void_p,)),
    "tq_result_count": (c_size_t, (c_void_p,)),
    "tq_result_field_count": (c_size_t, (c_void_p,)),
    "tq_result_field_name": (c_char_p, (c_void_p, c_size_t)),
    "tq_result_type": (c_int, (c_void_p, c_size_t, c_char_p)),
    "tq_result_int": (c_int64, (c_void_p, c_size_t, c_char_p)),
    "tq_result_double": (c_double, (c_void_p, c_size_t, c_char_p)),
    "tq_result_bytes": (c_void_p, (c_void_p, c_size_t, c_char_p, _size)),
    "tq_result_all_ints": (None, (c_void_p, c_char_p, _array)),
    "tq_result_all_bytes": (c_size_t, (c_void_p, c_char_p, _array, c_void_p, c_size_t)),
    "tq_result_list": (c_void_p, (c_void_p, c_size_t, c_char_p)),
    "tq_result_free": (None, (c_void_p,)),
    "tq_batch_free": (None, (c_void_p,)),
    "tq_database_backend": (c_char_p, (c_void_p,)),
    "tq_transaction_active": (c_int, (c_void_p,)),
    "tq_queue_name": (c_char_p, (c_void_p,)),
    "tq_queue_kind": (c_char_p, (c_void_p,)),
    "tq_watch_descriptor": (c_int, (c_void_p,)),
    "tq_watch_next": (c_int, (c_void_p, _int64)),
    "tq_keeper_descriptor": (c_int, (c_void_p,)),
    "tq_keeper_count": (c_size_t, (c_void_p,)),
}

# The same, and they can fail.
QUICK_CALLS: _Declared = {
    "tq_options_new": (c_int, (c_int, _out)),
    "tq_options_set_bool": (c_int, (c_void_p, c_char_p, c_int)),
    "tq_options_set_int": (c_int, (c_void_p, c_char_p, c_int64)),
    "tq_options_set_double": (c_int, (c_void_p, c_char_p, c_double)),
    "tq_options_set_text": (c_int, (c_void_p, c_char_p, *_text)),
    "tq_options_set_bytes": (c_int, (c_void_p, c_char_p, *_text)),
    "tq_options_set_decimal": (c_int, (c_void_p, c_char_p, *_text)),
    "tq_options_set_time": (c_int, (c_void_p, c_char_p, c_int64)),
    "tq_options_set_null": (c_int, (c_void_p, c_char_p, c_int)),
    "tq_options_add_int": (c_int, (c_void_p, c_char_p, c_int64)),
    "tq_options_add_text": (c_int, (c_void_p, c_char_p, *_text)),
    "tq_options_set_header": (c_int, (c_void_p, *_text, *_text)),
    "tq_options_set_stop": (c_int, (c_void_p, c_void_p)),
    "tq_options_set_clock": (c_int, (c_void_p, c_void_p)),
    "tq_stop_new": (c_int, (_out,)),
    "tq_clock_new": (c_int, (c_int64, _out)),
    "tq_batch_new": (c_int, (_out,)),
    "tq_batch_add": (c_int, (c_void_p, *_text, c_void_p)),
    "tq_batch_add_all": (c_int, (c_void_p, c_char_p, _array, c_size_t, c_void_p)),
    "tq_batch_add_id": (c_int, (c_void_p, c_int64, c_int32)),
    "tq_batch_add_receipts": (c_int, (c_void_p, c_void_p, c_void_p)),
    "tq_progress": (c_int, (c_void_p, *_text, c_double, *_text)),
}

# These may wait or ask the database, so that they give up the GIL.
SLOW: _Declared = {
    "tq_stop_request": (None, (c_void_p,)),
    "tq_stop_free": (None, (c_void_p,)),
    "tq_database_close": (None, (c_void_p,)),
    "tq_transaction_free": (None, (c_void_p,)),
    "tq_queue_close": (None, (c_void_p,)),
    "tq_watch_remove": (None, (c_void_p, c_int64)),
    "tq_watch_free": (None, (c_void_p,)),
    "tq_keeper_free": (None, (c_void_p,)),
}

# The same, and they can fail.
SLOW_CALLS: _Declared = {
    "tq_database_open": (c_int, (*_text, c_void_p, _out)),
    "tq_database_queues": (c_int, (c_void_p, _out)),
    "tq_database_find": (c_int, (c_void_p, *_text, _out)),
    "tq_database_alter": (c_int, (c_void_p, *_text, c_void_p, _out)),
    "tq_database_drop": (c_int, (c_void_p, *_text, _int)),
    "tq_database_store_table": (c_int, (c_void_p, *_text, *_text)),
    "tq_database_migrate": (c_int, (c_void_p, c_void_p, _out)),
    "tq_database_inspect": (c_int, (c_void_p, _out)),
    "tq_database_metrics": (c_int, (c_void_p, c_char_p, _out)),
    "tq_schedule_add": (c_int, (c_void_p, *_text, c_void_p)),
    "tq_schedule_change": (c_int, (c_void_p, *_text, c_void_p)),
    "tq_schedule_change_found": (c_int, (c_void_p, c_void_p, *_text, c_void_p, _int)),
    "tq_schedule_pause": (c_int, (c_void_p, *_text, _int)),
    "tq_schedule_resume": (c_int, (c_void_p, *_text, _int)),
    "tq_schedule_remove": (c_int, (c_void_p, *_text, _int)),
    "tq_schedule_run_now": (c_int, (c_void_p, *_text, _int64, _int)),
    "tq_schedule_declare": (c_int, (c_void_p, *_text, c_void_p, _out)),
    "tq_schedule_list": (c_int, (c_void_p, _out)),
    "tq_schedule_find": (c_int, (c_void_p, *_text, _out)),
    "tq_database_batches": (c_int, (c_void_p, c_size_t, c_int64, c_size_t, _out)),
    "tq_database_find_batch": (c_int, (c_void_p, c_void_p, c_int64, _out)),
    "tq_database_seal_batch": (c_int, (c_void_p, c_void_p, c_int64)),
    "tq_database_cancel_batch": (c_int, (c_void_p, c_int64, _int)),
    "tq_queue_begin_batch": (c_int, (c_void_p, c_void_p, *_text, c_void_p, _int64)),
    "tq_queue_batch_of": (c_int, (c_void_p, c_void_p, *_text, _int64)),
    "tq_ddl": (c_int, (c_char_p, *_text, c_char_p, c_void_p, c_void_p, _out)),
    "tq_grants": (
        c_int,
        (c_char_p, c_char_p, *_text, *_text, c_char_p, c_void_p, c_void_p, _out),
    ),
    "tq_transaction_begin": (c_int, (c_void_p, _out)),
    "tq_transaction_commit": (c_int, (c_void_p,)),
    "tq_transaction_rollback": (c_int, (c_void_p,)),
    "tq_queue_open": (c_int, (c_void_p, *_text, c_char_p, c_void_p, _out)),
    "tq_queue_open_table": (c_int, (c_void_p, *_text, _out)),
    "tq_queue_open_stored_table": (c_int, (c_void_p, *_text, _out)),
    "tq_queue_outside": (c_int, (c_void_p, _out)),
    "tq_queue_settings": (c_int, (c_void_p, _out)),
    "tq_queue_pause": (c_int, (c_void_p,)),
    "tq_queue_resume": (c_int, (c_void_p,)),
    "tq_queue_paused": (c_int, (c_void_p, _int)),
    "tq_queue_set_limits": (c_int, (c_void_p, c_void_p)),
    "tq_queue_limits": (c_int, (c_void_p, _out)),
    "tq_queue_stats": (c_int, (c_void_p, c_void_p, _out)),
    "tq_queue_inspect": (c_int, (c_void_p, _out)),
    "tq_queue_ddl": (c_int, (c_void_p, _out)),
    "tq_enqueue": (c_int, (c_void_p, c_void_p, *_text, c_void_p, _int64, _int)),
    "tq_enqueue_batch": (c_int, (c_void_p, c_void_p, c_void_p, c_void_p, _out)),
    "tq_dequeue": (c_int, (c_void_p, c_void_p, c_size_t, c_void_p, _out)),
    "tq_peek": (c_int, (c_void_p, c_size_t, _out)),
    "tq_purge": (c_int, (c_void_p, c_char_p, c_void_p, _int64)),
    "tq_take": (c_int, (c_void_p, c_void_p, c_size_t, c_void_p, _out)),
    "tq_complete": (c_int, (c_void_p, c_void_p, *_text, _int)),
    "tq_complete_with_result": (c_int, (c_void_p, c_void_p, *_text, *_text, _int)),
    "tq_complete_batch": (c_int, (c_void_p, c_void_p, c_void_p, _out)),
    "tq_fail": (c_int, (c_void_p, c_void_p, *_text, *_text, c_void_p, _int)),
    "tq_fail_batch": (c_int, (c_void_p, c_void_p, c_void_p, _out)),
    "tq_release": (c_int, (c_void_p, c_void_p, *_text, _int)),
    "tq_release_batch": (c_int, (c_void_p, c_void_p, c_void_p, _out)),
    "tq_extend": (c_int, (c_void_p, c_void_p, *_text, c_int64, _int)),
    "tq_extend_batch": (c_int, (c_void_p, c_void_p, c_void_p, c_int64, _out)),
    "tq_list": (c_int, (c_void_p, c_char_p, c_size_t, c_void_p, c_void_p, _out)),
    "tq_get": (c_int, (c_void_p, c_void_p, c_int64, c_void_p, _out)),
    "tq_groups": (c_int, (c_void_p, c_size_t, _out)),
    "tq_wait_for": (c_int, (c_void_p, c_int64, c_void_p, _out)),
    "tq_set_group_limits": (c_int, (c_void_p, *_text, c_void_p)),
    "tq_group_limits": (c_int, (c_void_p, c_size_t, *_text, _out, _out)),
    "tq_find": (c_int, (c_void_p, c_void_p, *_text, c_void_p, _out)),
    "tq_cancel": (c_int, (c_void_p, c_void_p, c_int64, _int)),
    "tq_set_priority": (c_int, (c_void_p, c_void_p, c_int64, c_int32, _int)),
    "tq_make_ready": (c_int, (c_void_p, c_void_p, c_int64, _int)),
    "tq_list_by": (c_int, (c_void_p, c_void_p, _out, _out)),
    "tq_cancel_by": (c_int, (c_void_p, c_void_p, _out)),
    "tq_set_priority_by": (c_int, (c_void_p, c_int32, c_void_p, _out)),
    "tq_make_ready_by": (c_int, (c_void_p, c_void_p, _out)),
    "tq_redrive_by": (c_int, (c_void_p, c_void_p, _out)),
    "tq_purge_by": (c_int, (c_void_p, c_void_p, _out)),
    "tq_redrive": (c_int, (c_void_p, c_void_p, _int64)),
    "tq_redrive_all": (c_int, (c_void_p, c_void_p, _out)),
    "tq_requeue_older_than": (c_int, (c_void_p, c_int64, _int64)),
    "tq_watch_new": (c_int, (_out,)),
    "tq_watch_add": (c_int, (c_void_p, c_void_p, c_int64)),
    "tq_watch_done": (c_int, (c_void_p, c_int64, c_size_t)),
    "tq_keeper_new": (c_int, (c_void_p, _out)),
    "tq_keeper_add": (c_int, (c_void_p, c_void_p, *_text, c_int64)),
    "tq_keeper_remove": (c_int, (c_void_p, *_text, _int)),
    "tq_keeper_lost": (c_int, (c_void_p, _out)),
}

# Functions of tableq.h that Python does not use, and why.
UNUSED: Dict[str, str] = {
    "tq_error_code": "each call returns it",
    "tq_batch_count": "Python counts",
    "tq_database_outside": "another thread, or another Database, is outside of a transaction",
    "tq_enlist_libpq": "a connection joins by SQL text: two copies of libpq must not share a pointer",
    "tq_enlist_sqlite": "the same for SQLite",
    "tq_enlist_odbc": "the same for ODBC",
    "tq_transaction_libpq": "the same in the other direction",
    "tq_transaction_sqlite": "the same in the other direction",
    "tq_transaction_odbc": "the same in the other direction",
    "tq_batch_clear": "each call makes its own batch",
    "tq_get_batch": "get() serves one message",
    "tq_cancel_batch": "cancel() serves one message",
    "tq_set_priority_batch": "set_priority() serves one message",
    "tq_make_ready_batch": "make_ready() serves one message",
    "tq_queue_rates": "two Stats and their times are enough",
    "tq_dialects": "open() lists them when it knows no such scheme",
    "tq_statements": "the command shows them",
}


class Library:
    """The functions of the library, by their names."""

    def __init__(self, path: str) -> None:
        self.path = path
        slow = ctypes.CDLL(path)
        quick = ctypes.PyDLL(path)
        for source, declared, fails in (
            (quick, QUICK, False),
            (quick, QUICK_CALLS, True),
            (slow, SLOW, False),
            (slow, SLOW_CALLS, True),
        ):
            for name, (result, parameters) in declared.items():
                try:
                    function = getattr(source, name)
                except AttributeError:
                    raise ImportError(
                        f"tableq: {path} has no {name}: it is older than this package; "
                        "install the version of libtableq that the package names"
                    ) from None
                function.restype = result
                function.argtypes = [*parameters, _out] if fails else list(parameters)
                setattr(self, name, function)

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(name)


def _places() -> List[str]:
    """Where the library may be, the best first."""
    given = os.environ.get("TABLEQ_LIBRARY")
    if given:
        return [given]
    beside = Path(__file__).with_name(NAME)
    places = [str(beside)] if beside.exists() else []
    places.append(NAME)
    found = ctypes.util.find_library("tableq")
    if found and found not in places and found.endswith(".so.0"):
        places.append(found)
    return places


def _load() -> Library:
    if not sys.platform.startswith("linux"):
        raise ImportError(f"tableq: {sys.platform} is not supported: the package runs on Linux")
    if getattr(sys, "_is_gil_enabled", lambda: True)() is False:
        raise ImportError("tableq: free-threaded Python is not supported: run it with PYTHON_GIL=1")
    tried: List[str] = []
    for place in _places():
        try:
            return Library(place)
        except OSError as problem:
            tried.append(f"{place}: {problem}")
    raise ImportError(
        f"tableq: no {NAME}. Install tableq's C library where the system's loader looks, and run "
        f"ldconfig; or put its path into TABLEQ_LIBRARY. Tried: {'; '.join(tried)}"
    )


_loaded: Optional[Library] = None


def library() -> Library:
    """The library, loaded by the first call."""
    global _loaded
    if _loaded is None:
        _loaded = _load()
    return _loaded


lib = library()
