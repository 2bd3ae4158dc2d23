"""The rules on what is caught: `catch (...)` has one of four reasons, which its code bears out; an error that ends in
its `catch` has a comment."""

import re

# The application's own function may throw anything: that becomes a sentence.
FOREIGN = {
    ("core/queue/async_writer.hpp", "write"), ("core/queue/async_writer.hpp", "told"),
    ("core/worker/engine.cpp", "post"), ("core/worker/handle.cpp", "verdict_of"),
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


def everything_is_caught_for_a_reason(tree):
    for source in tree.cpp("core", "drivers", "tools", "bench"):
        for line, found in source.matches(r"\bcatch\s*\(\s*\.\.\.\s*\)\s*\{"):
            name, header = enclosing_function(source.code, found.start())
            needed = "noexcept" in header or "~" in header
            goes_on = re.search(r"\bthrow\s*;\s*\}$|\bcurrent_exception\(\)", body_at(source.code, found.end()))
            if not needed and not goes_on and (source.name, name) not in FOREIGN:
                yield f"{source.name}:{line}: catch (...) in {name}, which may throw, and nothing is undone or handed over"


def swallowed_exceptions_say_why(tree):
    pattern = r"\bcatch\s*\(\s*(?:\.\.\.|const\s+error\s*&\s*(\w*))\s*\)\s*\{"
    for source in tree.cpp("include", "core", "drivers", "bindings", "tools"):
        for line, found in source.matches(pattern):
            told = rf"\bthrow\b|\b{found[1]}\b" if found[1] else r"\bthrow\b"
            if found[1] is not None and re.search(told, body_at(source.code, found.end())):
                continue
            if not any(near in source.comments for near in (line - 1, line, line + 1)):
                yield f"{source.name}:{line}: an exception ends here without a comment"


RULES = [everything_is_caught_for_a_reason, swallowed_exceptions_say_why]
