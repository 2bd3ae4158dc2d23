"""Rules on files and on habits in the code."""

import re

OURS = ("include", "core", "drivers", "bindings", "tools", "examples", "tests", "bench")


def files_stay_short(tree):
    for source in tree.cpp(*OURS):
        limit = 250 if source.name.startswith("include/") else 600
        lines = source.text.count("\n")
        if lines > limit:
            yield f"{source.name}: {lines} lines, {limit} at most"


def sources_are_ascii(tree):
    ends = (".cpp", ".hpp", ".sql", ".cmake", ".txt", ".in", ".py", ".sh", ".json", ".map")
    for path in tree.paths(*OURS, "cmake", "schema", "scripts", ends=ends):
        for number, line in enumerate(path.read_bytes().splitlines(), 1):
            if not line.isascii():
                yield f"{tree.name(path)}:{number}: not ASCII"


def headers_begin_with_pragma_once(tree):
    for source in tree.cpp(*OURS, ends=(".hpp",)):
        if not re.match(r"\s*#pragma once\n", source.code):
            yield f"{source.name}: does not begin with #pragma once"


def headers_use_no_namespace(tree):
    for source in tree.cpp(*OURS, ends=(".hpp",)):
        for line, _ in source.matches(r"\busing\s+namespace\b"):
            yield f"{source.name}:{line}: using namespace in a header"


def the_library_is_in_its_versioned_namespace(tree):
    """Another spelling would open a second namespace beside it."""
    for source in tree.cpp("include", "core", "drivers"):
        for line, match in source.matches(r"\bnamespace\s+tableq\b(?!::inline v0\b)(?=[\w:\s]*\{)"):
            yield f"{source.name}:{line}: not namespace tableq::inline v0"


def nothing_is_left_undone(tree):
    for source in tree.cpp(*OURS):
        for line, text in source.comments.items():
            if re.search(r"\b(TODO|FIXME|XXX|HACK)\b", text):
                yield f"{source.name}:{line}: {text.strip()}"


def suppressions_name_their_check(tree):
    for source in tree.cpp(*OURS):
        for line, text in source.comments.items():
            if re.search(r"\bNOLINT(NEXTLINE|BEGIN|END)?\b(?!\([a-z])", text):
                yield f"{source.name}:{line}: NOLINT without the check's name"


def swallowed_exceptions_say_why(tree):
    for source in tree.cpp("include", "core", "drivers", "bindings", "tools"):
        for line, _ in source.matches(r"\bcatch\s*\(\s*\.\.\.\s*\)"):
            if not any(near in source.comments for near in (line - 1, line, line + 1)):
                yield f"{source.name}:{line}: catch (...) without a comment"


def soci_errors_are_not_quoted(tree):
    """soci_error::what() holds the statement and its values."""
    for source in tree.cpp("core", "drivers", "tools"):
        pattern = r"catch\s*\(\s*(?:const\s+)?soci::\w+(?:\s+const)?\s*&\s*(\w+)\s*\)\s*\{"
        for line, found in source.matches(pattern):
            depth, end = 1, found.end()
            while depth and end < len(source.code):
                depth += {"{": 1, "}": -1}.get(source.code[end], 0)
                end += 1
            if re.search(rf"\b{found[1]}\s*\.\s*what\b", source.code[found.end():end]):
                yield f"{source.name}:{line}: what() of a SOCI exception"


# Where core catches an error of its own, and why.
CAUGHT = {
    "retry.hpp": "a unit of work may be repeated",
    "observation.hpp": "an observer is told, and the error goes on",
    "alter_table.hpp": "the error tells which sessions were in the way, and goes on",
    "errors.hpp": "the error gets the name of its operation, and goes on",
    "busy_beside.hpp": "a lock of the thread's own transaction is told as that",
    "combiner.cpp": "calls that shared a unit of work are run alone",
    "async_writer.hpp": "the error is the outcome that another thread is told",
    "leased_queue.cpp": "as operation.hpp; a lambda there would lead out of the room and back",
    "operation.hpp": "it gets the name of its operation, perhaps a clearer sentence, and goes on",
    "waiting.cpp": "the next read meets the failure, unless only the look is refused",
    "identity.cpp": "a look that fails too says less than the error that it was to explain",
    "keeper.cpp": "a keeper goes on",
    "paced_work.hpp": "a later look, or another process, does the same",
    "batch.cpp": "a catalogue without the tables of batches is told as that",
    "ends.cpp": "the next end forgets old batches",
    "batch_hook.cpp": "leases are extended all the same",
    "take.cpp": "messages that were taken are returned all the same",
    "progress.cpp": "an extension or a settlement goes on without what the handler said",
    "step.cpp": "nobody can tell: the caller is told that",
    "dead_letters.hpp": "a dead-letter queue that is missing is named",
    "dead_letters.cpp": "a user without rights on the dead-letter queue gets the other figures",
    "enqueue.cpp": "messages that were stored are stored for good",
    "worker.cpp": "a drain goes on",
    "call_handler.cpp": "a worker goes on",
    "keep_leases.cpp": "a worker goes on",
    "settle_messages.cpp": "a worker goes on; a settlement and a take that shared a unit of work are run alone",
    "take_messages.cpp": "a worker goes on",
    "settle_and_take.cpp": "messages that were taken are returned all the same",
    "catalog.cpp": "a user without rights on the catalogue may have tables of the application",
    "database.cpp": "a mapping that its table no longer fits is a finding; who may not read gets the others",
    "queue_options.cpp": "a stored definition that cannot be read is a defect of the catalogue",
    "firing.cpp": "a rule that cannot be followed fails no read: it is told by list and doctor",
    "schedules.cpp": "a rule that cannot be followed is listed with the reason",
    "handle.cpp": "a handler with a transaction is called again",
}


def errors_are_caught_in_few_places(tree):
    for source in tree.cpp("core"):
        for line, _ in source.matches(r"\bcatch\s*\(\s*const\s+error\s*&"):
            if source.name.rsplit("/", 1)[-1] not in CAUGHT:
                yield f"{source.name}:{line}: catches an error; see CAUGHT in tests/lint/habits.py"


def tests_do_not_sleep(tree):
    for source in tree.cpp("tests"):
        for line, found in source.matches(r"\b(sleep_for|sleep_until|usleep|nanosleep|sleep)\s*\("):
            yield f"{source.name}:{line}: {found[1]}"


def unity_builds_change_no_overload(tree):
    """Files that are compiled as one share their anonymous namespace: a helper that takes
    `const char*` in one file would get the literals that another file gives its own helper of the
    same name, which takes `const std::string&`."""
    anonymous = re.compile(r"(?ms)^namespace \{\n(.*?)^\}  ")
    helper = re.compile(r"(?m)^[\w\[\]][\w\[\]:<>,*& ]*?[ *&](\w+)\(([^(),]*)")
    text = re.compile(r"(?:const )?(?:char\s*\*|std::string_view|std::string)(?:\s*&)?")
    for folder in ("core", "drivers", "tools", "bench"):
        taken = {}  # Name -> the type of its first parameter, and where it was met first.
        for source in tree.cpp(folder, ends=(".cpp",)):
            for block in anonymous.finditer(source.code):
                for found in helper.finditer(block[1]):
                    first = text.match(found[2].strip())
                    if not first or block[1][: found.start()].endswith("return "):
                        continue
                    kind, other = taken.setdefault(found[1], (first[0].rstrip(), source.name))
                    if other != source.name and kind != first[0].rstrip():
                        line = source.line_of(block.start(1) + found.start())
                        yield (
                            f"{source.name}:{line}: {found[1]} takes {first[0]}, and {kind} "
                            f"in {other}"
                        )


RULES = [
    files_stay_short,
    sources_are_ascii,
    headers_begin_with_pragma_once,
    headers_use_no_namespace,
    the_library_is_in_its_versioned_namespace,
    nothing_is_left_undone,
    suppressions_name_their_check,
    swallowed_exceptions_say_why,
    soci_errors_are_not_quoted,
    errors_are_caught_in_few_places,
    tests_do_not_sleep,
    unity_builds_change_no_overload,
]
