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
    soci_errors_are_not_quoted,
    tests_do_not_sleep,
    unity_builds_change_no_overload,
]
