"""The rule that compares the order of locks (lock_order.txt) with the texts of SQL Server's dialect."""

import re
from collections import Counter

from tsql_texts import BLOCK, whole_statements, with_fragments, without_comments, without_literals

DATA = "tests/lint/lock_order.txt"
OWN = "read catalog pk READCOMMITTEDLOCK"
REFERENCE = re.compile(
    r"\b(?P<verb>INSERT INTO|DELETE FROM|UPDATE|DROP TABLE|FROM|JOIN)\s+\{(?P<table>table|catalog|limits|batches|members|schedules|quotas|starts)\}"
    r"(?:\s+AS\s+\w+)?(?:\s*WITH \((?P<hints>(?:[^()]|\([^()]*\))*)\))?"
)
# A batch in a batch.
INNER = re.compile(r"\bEXEC sp_executesql N'((?:[^']|'')*)'")
# A change of an alias or a CTE.
CHANGE = re.compile(r"\b(?P<verb>DELETE(?: FROM)?|UPDATE)\s+(?!FROM\b)(?P<name>\w+)\b")
VERBS = {"INSERT INTO": "insert", "DELETE FROM": "delete", "DELETE": "delete", "UPDATE": "update",
         "DROP TABLE": "drop", "FROM": "read", "JOIN": "read"}


def reference(verb, table, hints):
    """One use of a table: what is done, the hints, and the index that the text names."""
    named = re.search(r"\bINDEX \(\{table:(\w+)\}\)", hints)
    words = re.findall(r"\w+", re.sub(r"\bINDEX \([^()]*\)", " ", hints))
    return (verb, table, " ".join(sorted(words)), named[1] if named else "")


def found_by_cte(bare, name):
    """The table from which a CTE of this name takes rows; the queue's, if there is none."""
    cte = re.search(rf"\bWITH {name} AS \(\s*SELECT[^{{}}]*?(?:\{{clock\}}[^{{}}]*?)?FROM \{{(batches|starts)\}}", bare)
    return cte[1] if cte else "table"


def of_text(text):
    """All uses in a text."""
    bare = without_literals(INNER.sub(r"\1", text))
    found = Counter(
        reference(VERBS[m["verb"]], m["table"], m["hints"] or "") for m in REFERENCE.finditer(bare))
    for change in CHANGE.finditer(bare):
        stands_for = re.search(rf"\{{(batches|members|starts)\}} AS {change['name']}\b", bare)
        table = stands_for[1] if stands_for else found_by_cte(bare, change["name"])
        found[reference(VERBS[change["verb"]], table, "")] += 1
    if "sp_getapplock" in text:
        found["applock", "", "", ""] += 1
    return found


def of_data(lines):
    """The same from the lines of the data."""
    found = Counter()
    for line in lines:
        words = (OWN if line == "own" else line).split()
        if words[0] == "applock":
            found["applock", "", "", ""] += 1
            continue
        verb, table, index, *hints = words + ["pk"] * (len(words) < 3)
        named = index if "INDEX" in hints else ""
        found[verb, table, " ".join(sorted(set(hints) - {"INDEX"})), named] += 1
    return found


def read_data(text):
    """Name -> lines."""
    out = {}
    for block in BLOCK.finditer(text):
        body = [line.strip() for line in without_comments(block[2]).split("\n")]
        for name in block[1].split():
            out[name] = [line for line in body if line and not line.startswith("#")]
    return out


def told(uses):
    return ", ".join(" ".join(part for part in use if part) for use in sorted(uses)) or "nothing"


def lock_data_are_those_of_the_texts(tree):
    """Each statement that locks has data, and they name exactly the text's tables, hints and named indexes."""
    if not (tree.root / "drivers/sqlserver/statements.sql").is_file():
        return
    data = read_data(tree.text(DATA))
    texts = {name: text for names, text in with_fragments(whole_statements(tree.root), False) for name in names}
    for name, text in texts.items():
        wanted = of_text(text)
        if wanted and name not in data:
            yield f"{DATA}: {name} has no data, and uses {told(wanted)}"
        elif name in data and of_data(data[name]) != wanted:
            has = of_data(data[name])
            yield f"{DATA}: {name} has {told((has - wanted).elements())}; the text {told((wanted - has).elements())}"
    turned = {}
    for names, text in with_fragments(whole_statements(tree.root), False, turns=True):
        turned.update({f"{name}.turns": text for name in names})
    for name, text in turned.items():
        plain = name.removesuffix(".turns")
        wanted = of_text(text)
        has = of_data(data.get(name, data.get(plain, [])))
        if has != wanted:
            yield f"{DATA}: {name} has {told((has - wanted).elements())}; the text {told((wanted - has).elements())}"
    for name in sorted(data.keys() - texts.keys() - turned.keys()):
        yield f"{DATA}: there is no statement {name}"


RULES = [lock_data_are_those_of_the_texts]
