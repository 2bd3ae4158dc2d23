"""The rule that each promise of docs/guarantees.md names tests that exist."""

import fnmatch
import re

PAGE = "docs/guarantees.md"
SECTION = "## Each promise and its test"
GTEST = re.compile(r"\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")
ENTRY = re.compile(r"\badd_test\(\s*NAME\s+([\w.]+)(\$\{)?")


def gtests(tree):
    """`suite.test`, as the sources of the tests declare them."""
    return {f"{m[1]}.{m[2]}" for s in tree.cpp("tests", ends=(".cpp",)) for _, m in s.matches(GTEST)}


def is_entry(name, lists):
    """Whether CTest has an entry of that name; what a variable adds to one is a word of its list."""
    for text in lists:
        for literal, variable in ENTRY.findall(text):
            rest = name[len(literal):] if name.startswith(literal) else None
            if rest == "" or (rest and variable and re.search(rf"\b{re.escape(rest)}\b", text)):
                return True
    return False


def promises(tree):
    """The rows of the table: (line, cells)."""
    lines = tree.text(PAGE).splitlines()
    begin = lines.index(SECTION) if SECTION in lines else len(lines)
    for number, line in enumerate(lines[begin + 1:], begin + 2):
        if line.startswith("## "):
            return
        if line.startswith("|") and not re.match(r"\|\s*(-+|promise)\s*\|", line):
            yield number, [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def every_promise_names_tests_that_exist(tree):
    known = gtests(tree)
    suites = {name.split(".")[0] for name in known}
    lists = [path.read_text(encoding="utf-8") for path in tree.paths("tests", ends=("CMakeLists.txt",))]
    rows = list(promises(tree))
    if not rows:
        yield f"{PAGE}: no table below {SECTION!r}"
    for number, cells in rows:
        names = re.findall(r"`([^`]+)`", cells[-1]) if len(cells) == 2 else []
        if not names:
            yield f"{PAGE}:{number}: the promise names no test"
        for name in names:
            # A program shows the database and the kind behind a name: `suite.test/sqlite`.
            bare = name.split("/")[0]
            if bare.endswith(".*") and "*" not in bare[:-1]:
                found = bare[:-2] in suites
            else:
                found = bool(fnmatch.filter(known, bare)) or is_entry(name, lists)
            if not found:
                yield f"{PAGE}:{number}: there is no test {name}"


RULES = [every_promise_names_tests_that_exist]
