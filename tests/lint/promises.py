"""Rules that a promise of tests/promises.md, and a capability in docs/drivers.md, names tests that
exist."""

import fnmatch
import re

from layers import capabilities

PAGE = "tests/promises.md"
SECTION = "# Each promise and its test"
GTEST = re.compile(r"\b(?:TYPED_)?TEST(?:_F|_P)?\(\s*(\w+)\s*,\s*(\w+)\s*\)")
IN_C = re.compile(r"^static void (\w+)\((?:void|const struct place\* at)\) \{", re.M)
IN_PYTHON = re.compile(r"^(?:async )?def test_(\w+)\(", re.M)
ENTRY = re.compile(r"\badd_test\(\s*NAME\s+([\w.]+)(\$\{)?")


def gtests(tree):
    """`suite.test`, as the sources of the tests declare them."""
    return {f"{m[1]}.{m[2]}" for s in tree.cpp("tests", ends=(".cpp",)) for _, m in s.matches(GTEST)}


def tests_of_c(tree):
    """`c_interface.test`: functions of the program in C."""
    for path in tree.paths("tests/c", ends=("_test.c",)):
        for name in IN_C.findall(path.read_text(encoding="utf-8")):
            yield f"c_interface.{name}"


def tests_of_python(tree):
    """`python.claim.test`: of test_claim.py, without their `test_`."""
    for path in tree.paths("bindings/python/tests", ends=(".py",)):
        for name in IN_PYTHON.findall(path.read_text(encoding="utf-8")):
            yield f"python.{path.stem.removeprefix('test_')}.{name}"


def is_entry(name, lists):
    """Whether CTest has an entry of that name; what a variable adds to one is a word of its list."""
    for text in lists:
        for literal, variable in ENTRY.findall(text):
            rest = name[len(literal):] if name.startswith(literal) else None
            if rest == "" or (rest and variable and re.search(rf"\b{re.escape(rest)}\b", text)):
                return True
    return False


def rows_below(tree, page, section):
    """The rows of the tables below a heading, without their heads: (line, cells)."""
    lines = tree.text(page).splitlines()
    begin = lines.index(section) if section in lines else len(lines)
    head = True
    for number, line in enumerate(lines[begin + 1:], begin + 2):
        if line.startswith("## "):
            return
        if not line.startswith("|"):
            head = True
        elif not head:
            yield number, [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]
        elif re.match(r"\|\s*-", line):
            head = False


class known_tests:
    """The tests that there are, by their names in a document."""

    def __init__(self, tree):
        self.names = gtests(tree) | {*tests_of_c(tree), *tests_of_python(tree)}
        self.suites = {name.split(".")[0] for name in self.names}
        lists = tree.paths("tests", ends=("CMakeLists.txt",))
        self.lists = [path.read_text(encoding="utf-8") for path in lists]

    def have(self, name):
        # A program shows the database and the kind behind a name: `suite.test/sqlite`.
        bare = name.split("/")[0]
        if bare.endswith(".*") and "*" not in bare[:-1]:
            return bare[:-2] in self.suites
        return bool(fnmatch.filter(self.names, bare)) or is_entry(name, self.lists)


def every_promise_names_tests_that_exist(tree):
    known = known_tests(tree)
    rows = list(rows_below(tree, PAGE, SECTION))
    if not rows:
        yield f"{PAGE}: no table below {SECTION!r}"
    for number, cells in rows:
        names = re.findall(r"`([^`]+)`", cells[-1]) if len(cells) == 2 else []
        if not names:
            yield f"{PAGE}:{number}: the promise names no test"
        for name in names:
            if not known.have(name):
                yield f"{PAGE}:{number}: there is no test {name}"


def every_capability_names_its_test(tree):
    page, section = "docs/drivers.md", "## Capabilities"
    known = known_tests(tree)
    named = {}
    for number, cells in rows_below(tree, page, section):
        field = cells[0].strip("`")
        named[field] = re.findall(r"`([^`]+)`", cells[-1])
        for name in named[field]:
            if not known.have(name):
                yield f"{page}:{number}: there is no test {name}"
    fields = capabilities(tree)
    for field in fields:
        if not named.get(field):
            yield f"{page}: no row with a test for {field} below {section!r}"
    for field in sorted(named.keys() - set(fields)):
        yield f"{page}: there is no capability {field}"


RULES = [every_promise_names_tests_that_exist, every_capability_names_its_test]
