"""The rule that each `catch (...)` has one of four reasons, and that its code bears it out."""

import re

NEEDED = "a noexcept function must not let it out"
UNDONE = "something is undone, and the exception goes on"
HANDED_OVER = "it is kept for another thread, or for each caller of a shared unit of work"
FOREIGN = "the application's own function may throw anything: that becomes a sentence"

# Each `catch (...)`: its file, its function, and the reasons in their order there.
CAUGHT = {
    "bench/measure.cpp": {"work": [HANDED_OVER, HANDED_OVER]},
    "core/claim/scoped_delivery.cpp": {"let_go": [NEEDED]},
    "core/table/table_queue.cpp": {"give_back": [NEEDED]},
    "core/queue/table_call.cpp": {"run_combined": [HANDED_OVER]},
    "core/session/combiner.cpp": {"failed": [NEEDED]},
    "core/database/database_state.cpp": {"announce": [NEEDED]},
    "core/input/identifier.cpp": {"good_queue_name": [NEEDED]},
    "core/observe/observation.hpp": {"notify_observer": [NEEDED], "run": [UNDONE]},
    "core/queue/async_writer.hpp": {"write": [FOREIGN], "told": [FOREIGN]},
    "core/base/process.cpp": {"leave_to_parent": [NEEDED]},
    "drivers/transport/files.cpp": {"handle_to": [NEEDED], "refusal_of_writes": [NEEDED], "room_for": [NEEDED]},
    "core/waking/watcher.cpp": {"sleep_until": [NEEDED]},
    "core/waking/watcher_listens.cpp": {"open_listener": [NEEDED], "follow": [NEEDED]},
    "core/watch/keeper.cpp": {"run": [NEEDED]},
    "core/worker/engine.cpp": {
        "run": [NEEDED, NEEDED], "post": [FOREIGN], "call": [NEEDED],
    },
    "core/worker/handle.cpp": {"verdict_of": [FOREIGN]},
    "core/worker/kept_state.cpp": {"~kept_state": [NEEDED]},
    "core/worker/worker_state.cpp": {"report": [NEEDED]},
    "drivers/opening.cpp": {"open_callers": [UNDONE]},
    "drivers/postgresql/floor/floor_session.cpp": {"aside": [NEEDED]},
    "drivers/session.cpp": {"undo_unit": [NEEDED]},
    "tools/children.cpp": {"start": [UNDONE]},
}

BLOCK = re.compile(r"[{};]")
# What stands before the brace of a function's body.
FUNCTION = re.compile(
    r"(?P<name>~?\w+)\s*\((?:[^()]|\([^()]*\))*\)[^()]*(?:\([^()]*\)[^()]*)*$", re.S
)
STATEMENT = {"if", "for", "while", "switch", "catch"}


def enclosing_function(code, position):
    """The name and the header of the function around a position; lambdas belong to theirs."""
    depth = 0
    while position > 0:
        position -= 1
        depth += {"}": 1, "{": -1}.get(code[position], 0)
        if depth >= 0:
            continue
        depth = 0
        begin = max((m.end() for m in BLOCK.finditer(code, 0, position)), default=0)
        header = code[begin:position]
        found = FUNCTION.search(re.sub(r"\btry\s*$", "", header))
        if found and found["name"] not in STATEMENT and "=" not in header[:found.start()] \
                and "[" not in re.sub(r"\[\[.*?\]\]", "", header):
            return found["name"], header
    return None, ""


def body_at(code, position):
    """The text between a brace and the one that closes it."""
    depth, end = 1, position
    while depth and end < len(code):
        depth += {"{": 1, "}": -1}.get(code[end], 0)
        end += 1
    return code[position:end]


def bears_out(reason, header, body):
    if reason == NEEDED:
        return "noexcept" in header or "~" in header
    if reason == UNDONE:
        return re.search(r"\bthrow\s*;\s*\}$", body)
    if reason == HANDED_OVER:
        return "current_exception()" in body
    return True


def everything_is_caught_for_a_reason(tree):
    page = "CAUGHT in tests/lint/catches.py"
    for source in tree.cpp("core", "drivers", "tools", "bench"):
        met = {}
        for line, found in source.matches(r"\bcatch\s*\(\s*\.\.\.\s*\)\s*\{"):
            name, header = enclosing_function(source.code, found.start())
            met.setdefault(name, []).append((line, header, body_at(source.code, found.end())))
        known = CAUGHT.get(source.name, {})
        for name, places in met.items():
            reasons = known.get(name, [])
            for at, (line, header, body) in enumerate(places):
                if at >= len(reasons):
                    yield f"{source.name}:{line}: catch (...) in {name} is not in {page}"
                elif not bears_out(reasons[at], header, body):
                    yield f"{source.name}:{line}: not so in {name}: {reasons[at]!r}; see {page}"
        for name, reasons in known.items():
            if len(reasons) > len(met.get(name, [])):
                yield f"{source.name}: {page} has more for {name} than the file"


RULES = [everything_is_caught_for_a_reason]
