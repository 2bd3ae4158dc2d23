"""Rules that tie the tables' texts, their layout numbers and the changelog together."""

import hashlib
import re

HEADER = "core/schema/catalog.hpp"
PAGE = "CHANGELOG.md"
RECORD = "schema/layouts.txt"
CATALOG = "catalog.sql"
# Rights are no part of a table, and are not stored.
WITHOUT_LAYOUT = ("roles.sql",)
# This text changes tables of another, and so does that one's step.
STEP_OF = {"turns.sql": "claim.sql"}
# A step, by the layout that it leads to: schema/postgresql/steps/2/claim.sql.
STEP = re.compile(r"[a-z]+/steps/(\d+)/([a-z]+)(\.down)?\.sql")


def layouts(tree):
    """The layout of the catalogue, and that of the queues' tables."""
    text = tree.text(HEADER)
    names = ("catalog_layout", "queue_layout")
    found = [re.search(rf"\b{name}\s*=\s*(\d+)\s*;", text) for name in names]
    return [int(each[1]) if each else 0 for each in found]


def the_changelog_tells_the_layouts(tree):
    of_catalog, of_queues = layouts(tree)
    text = tree.text(PAGE)
    line = f"Layout of the catalogue: {of_catalog}; of all other tables: {of_queues}."
    if of_catalog == of_queues:
        line = f"Layout of the catalogue and of all tables: {of_catalog}."
    # The first such line is that of the newest version.
    told = re.search(r"^Layout of .*$", text, re.M)
    if not told or told[0] != line:
        yield f"{PAGE}: its first 'Layout of' line is not '{line}', as in {HEADER}"
    for layout in range(2, max(of_catalog, of_queues) + 1):
        heading = rf"^#+ Upgrade to layout {layout}\n(.*?)(?=^#|\Z)"
        section = re.search(heading, text, re.M | re.S)
        if not section or "\ntableq migrate\n" not in section[1]:
            yield f"{PAGE}: no section 'Upgrade to layout {layout}' with what to run"


def digest(text):
    """Of a text without its comments, which have lines of their own, and without blank lines."""
    lines = [line.rstrip() for line in text.splitlines()]
    kept = [line for line in lines if line and not line.lstrip().startswith("--")]
    return hashlib.sha256("\n".join(kept).encode()).hexdigest()


def record(tree):
    """(layout, file) -> sha256, and what is wrong with the list."""
    number = dict(zip((True, False), layouts(tree)))
    recorded, problems = {}, []
    for at, line in enumerate(tree.text(RECORD).splitlines(), 1):
        found = re.fullmatch(r"(\d+) (\S+\.sql) ([0-9a-f]{64})", line)
        if found:
            layout, name = int(found[1]), found[2]
            recorded[layout, name] = found[3]
            if layout > number[name.endswith("/" + CATALOG)]:
                problems.append(f"{RECORD}:{at}: {HEADER} has no layout {layout} yet")
        elif line and not line.startswith("#"):
            problems.append(f"{RECORD}:{at}: not a layout, a file and a sha256")
    return recorded, problems


def a_changed_table_has_a_new_layout(tree):
    """A file's line for a layout stays when a later layout gets its own."""
    number = dict(zip((True, False), layouts(tree)))
    recorded, problems = record(tree)
    yield from problems
    for path in tree.paths("schema", ends=(".sql",)):
        name = path.relative_to(tree.root / "schema").as_posix()
        if path.name in WITHOUT_LAYOUT or "/steps/" in name:
            continue
        layout = number[path.name == CATALOG]
        mine = digest(path.read_text(encoding="utf-8"))
        known = recorded.get((layout, name))
        constant = "catalog_layout" if path.name == CATALOG else "queue_layout"
        if known is None:
            yield f"schema/{name}: add the line '{layout} {name} {mine}' to {RECORD}"
        elif known != mine:
            yield (
                f"schema/{name}: its text changed, and {constant} is still {layout}: raise it in "
                f"{HEADER}, write 'Upgrade to layout {layout + 1}' in {PAGE}, add a step to {layout + 1}, "
                f"and the new lines to {RECORD}, the first '{layout + 1} {name} {mine}'. "
                "Before 1.0: see the head of that file"
            )


def a_step_never_changes(tree):
    """Tables that took it would differ from those that take it later."""
    recorded, _ = record(tree)
    found = {}
    for path in tree.paths("schema", ends=(".sql",)):
        name = path.relative_to(tree.root / "schema").as_posix()
        if "/steps/" not in name:
            continue
        step = STEP.fullmatch(name)
        if not step or int(step[1]) not in range(2, max(layouts(tree)) + 1):
            yield f"schema/{name}: no step to a layout of {HEADER}"
            continue
        mine = digest(path.read_text(encoding="utf-8"))
        found[int(step[1]), name] = mine
        known = recorded.get((int(step[1]), name))
        if known is None:
            yield f"schema/{name}: add the line '{step[1]} {name} {mine}' to {RECORD}"
        elif known != mine:
            yield f"schema/{name}: a step that changed; write a new one to the next layout"
    for layout, name in sorted(set(recorded) - set(found)):
        if "/steps/" in name:
            yield f"{RECORD}: the step {name} to layout {layout} is gone"
    # A table whose text changed from one layout to the next has a step.
    for (layout, name), text in sorted(recorded.items()):
        before = recorded.get((layout - 1, name))
        dialect, _, file = name.rpartition("/")
        file = STEP_OF.get(file, file)
        if before and before != text and "/" not in dialect:
            if (layout, f"{dialect}/steps/{layout}/{file}") not in found and file != CATALOG:
                yield f"schema/{name}: it differs from layout {layout - 1}, and no step leads to {layout}"


RULES = [the_changelog_tells_the_layouts, a_changed_table_has_a_new_layout, a_step_never_changes]
