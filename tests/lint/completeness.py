"""Rules that find what was forgotten, and documentation that is too long to be read."""

import re


def every_source_is_in_a_target(tree):
    compiled = tree.compiled()
    # The consumers' programs belong to projects of their own, and one must not compile.
    apart = ("tests/consumer/",)
    # `bench/` has a preset of its own.
    if not any("/bench/databases/" in str(source) for source in compiled):
        apart += ("bench/", "tests/bench/", "bindings/c/bench")
    folders = ("core", "drivers", "bindings", "tools", "examples", "tests", "bench")
    for path in tree.paths(*folders, ends=(".cpp",)):
        # Those of other systems are not compiled here.
        other = path.name.endswith(("_linux.cpp", "_portable.cpp", "_windows.cpp"))
        if path.resolve() not in compiled and not other and not tree.name(path).startswith(apart):
            yield f"{tree.name(path)}: in no target"


def shown_and_compiled(tree, page, program, mark):
    """The first block of C++ in a document is the part of a program between two marks."""
    between = re.search(rf"// \[{mark}\]\n(.*?)// \[/{mark}\]", tree.text(program), re.S)
    shown = re.search(r"^```cpp\n(.*?)^```$", tree.text(page), re.S | re.M)
    if not between:
        yield f"{program}: no part between [{mark}] and [/{mark}]"
    elif not shown:
        yield f"{page}: no ```cpp block"
    elif shown[1].strip() != between[1].strip():
        yield f"{page}: its first cpp block differs from {program}"


def the_readme_example_is_compiled(tree):
    yield from shown_and_compiled(tree, "README.md", "examples/hello.cpp", "readme")


def the_drivers_example_is_compiled(tree):
    yield from shown_and_compiled(tree, "docs/drivers.md", "examples/spool.cpp", "drivers")


def the_readme_has_a_sentence_for_each_folder(tree):
    section = re.search(r"^## What is where\n(.*?)(?=^## |\Z)", tree.text("README.md"), re.S | re.M)
    rows = dict(re.findall(r"^- `([\w.]+)/` (.*)$", section[1] if section else "", re.M))
    folders = tree.folders()
    for folder in folders:
        if not rows.get(folder, "").endswith("."):
            yield f"README.md: 'What is where' has no sentence for {folder}/"
    for folder in sorted(rows.keys() - folders):
        yield f"README.md: 'What is where' names {folder}/, which is no folder"


# Headers for a library that no package of Debian has; unit tests compile them.
NEEDS_OTHERS = {"tableq/opentelemetry.hpp"}


def the_consumer_includes_every_public_header(tree):
    (program,) = tree.cpp("tests/consumer/application")
    included = {header for _, header in program.includes}
    for header in tree.paths("include/tableq", ends=(".hpp",)):
        name = tree.name(header).removeprefix("include/")
        # Asio need not be there.
        if f"<{name}>" not in included and name not in NEEDS_OTHERS and not name.startswith("tableq/asio"):
            yield f"{program.name}: does not include {name}"


# Statements that no observer sees: parts of another one, and those that no call of a queue runs.
UNOBSERVED = re.compile(
    r"(catalog\.|session\.|notify\.|listen\.|doctor\.|schedules\.).*|claim\.(pick|lease|taken)"
    r"|table\.(exists|find|columns|keys|indexes|requeue)|queue\.(drop|alter|hidden)|claim\.unseen|limits\.remove"
    r"|batch\.(clear|finish|forget|lock|open)")


def every_operation_is_listed(tree):
    """docs/observing.md has each name that an observer is told, and no other."""
    listed = re.findall(r"(?:query|change|record)\((\w+, \w+),([^)]*)", tree.text("core/seam/statement.hpp"))
    names = {name.replace(", ", ".") for name, facts in listed if ".operation" not in facts}
    names = {name for name in names if not UNOBSERVED.fullmatch(name)}
    for source in tree.cpp("core"):
        names |= set(re.findall(r"\{\.name = \"(\w+)\"", source.text))
        names |= set(re.findall(r"database_operation\(\"(\w+)\"\)", source.text))
        names |= set(re.findall(r"\"(schedules\.\w+)\", outside_", source.text))
    section = re.search(r"^## Names of operations\n.*?^```text\n(.*?)^```$", tree.text("docs/observing.md"), re.S | re.M)
    columns = [line[20:] for line in (section[1] if section else "").splitlines()]
    listed = {name for column in columns for name in column.split()}
    for name in sorted(names - listed):
        yield f"docs/observing.md: 'Names of operations' lacks {name}"
    for name in sorted(listed - names):
        yield f"docs/observing.md: 'Names of operations' has {name}, which no observer is told"


def every_public_type_is_documented(tree):
    definition = (
        r"(?m)^(?:template <.*>\n)?"
        r"(?:class|struct|enum(?: class)?)\s+(?:TABLEQ_EXPORT\s+)?(\w+)[^;{]*\{"
    )
    for source in tree.cpp("include/tableq"):
        for line, found in source.matches(definition):
            if "///" not in source.comments.get(line - 1, ""):
                yield f"{source.name}:{line}: {found[1]} has no doc comment"


def the_journeys_name_what_exists(tree):
    """docs/design.md: `function` in `file`."""
    text = tree.text("docs/design.md")
    named = re.findall(r"`([\w:]+)`\s+in\s+`([\w/.]+\.[ch]pp)`", text)
    if not named:
        yield "docs/design.md: no function is named with its file"
    for function, name in named:
        last = function.rsplit("::", 1)[-1]
        if not (tree.root / name).is_file():
            yield f"docs/design.md: there is no {name}"
        elif not re.search(rf"\b{last}\s*\(", tree.text(name)):
            yield f"docs/design.md: {name} has no {function}"


def the_journeys_are_straight(tree):
    """The steps of each list in docs/design.md: a file calls the next step, and no room comes twice."""
    steps = []
    for line in [*tree.text("docs/design.md").splitlines(), "1. "]:
        step = re.match(r"(\d+)\. (?:`([\w:]+)` in `([\w/.]+)`)?", line)
        if not step:
            continue
        if step[1] == "1":
            yield from turns_of(tree, steps)
            steps = []
        if step[2] and (tree.root / step[3]).is_file():
            steps.append((step[2].rsplit("::", 1)[-1], step[3]))


def turns_of(tree, steps):
    left = []
    called_in = ""
    for function, name in steps:
        room = name.rsplit("/", 1)[0]
        if room in left[:-1]:
            yield f"docs/design.md: the room of {function} in {name} was left before"
        if not left or left[-1] != room:
            left.append(room)
        if called_in and not re.search(rf"\b{function}\b", called_in):
            yield f"docs/design.md: nothing before {function} in {name} calls it"
        called_in += tree.text(name)


def every_script_says_its_purpose(tree):
    """scripts/help.sh prints the second line of each script: one sentence."""
    for path in tree.paths("scripts", ends=(".sh", ".py")):
        lines = path.read_text(encoding="utf-8").splitlines()
        if len(lines) < 2 or not re.fullmatch(r'(?:# |""")[A-Z].*\.', lines[1]):
            yield f"{tree.name(path)}:2: is not the script's purpose in a sentence"


RULES = [
    every_source_is_in_a_target,
    the_readme_example_is_compiled,
    the_drivers_example_is_compiled,
    the_readme_has_a_sentence_for_each_folder,
    the_consumer_includes_every_public_header,
    every_operation_is_listed,
    every_public_type_is_documented,
    the_journeys_name_what_exists,
    the_journeys_are_straight,
    every_script_says_its_purpose,
]
