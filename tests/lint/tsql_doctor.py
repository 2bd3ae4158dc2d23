"""`doctor` knows the columns of a claim queue on SQL Server that it knows on PostgreSQL, with the types of the table."""

import re
from pathlib import Path

BYTES = {"bigint": 8, "int": 4, "tinyint": 1}


def block(root, dialect, name):
    text = (Path(root) / f"drivers/{dialect}/statements.sql").read_text(encoding="utf-8")
    return re.search(rf"-- name: {re.escape(name)}\n(.*?)(?=\n-- name: |\Z)", text, re.S)[1]


def looked_at(text):
    return {name: (type_, int(size)) for name, type_, size in
            re.findall(r"\(N'(?:all|claim)', N'(\w+)', N'(\w+)', (-?\d+)\)", text)}


def created(root):
    """Column -> its type and the size that sys.columns has for it."""
    out = {}
    text = (Path(root) / "schema/sqlserver/claim.sql").read_text(encoding="utf-8")
    for name, type_, size in re.findall(r"^  \[?(\w+)\]? (\w+)(?:\((\w+)\))? .*NULL", text, re.M):
        if type_ in ("CHECK", "KEY"):
            continue
        width = -1 if size == "max" else int(size) if size.isdigit() else BYTES[type_]
        out[name] = (type_, width * 2 if type_ == "nvarchar" and width > 0 else width)
    return out


def complaints(here, there, table):
    for name in sorted(there - here.keys()):
        yield f"doctor.queue: does not look at {name}, as it does on PostgreSQL"
    for name, shape in sorted(here.items()):
        if table.get(name) != shape:
            yield f"doctor.queue: {name} is {table.get(name)} in the table, not {shape}"


def doctor_knows_the_columns(root):
    here = looked_at(block(root, "sqlserver", "doctor.queue"))
    theirs = block(root, "postgresql", "doctor.queue")
    there = set(re.findall(r"\('(?:all|claim)', '(\w+)', '\w+'(?:, \d+)?\)", theirs))
    table = created(root)
    yield from complaints(here, there, table)
    # It finds what it is for.
    less = {name: shape for name, shape in here.items() if name != "retry"}
    if not there or not list(complaints(less, there, table)) or not list(complaints({"id": ("int", 4)}, set(), table)):
        yield "self-test: doctor_knows_the_columns finds no missing column, or no wrong type"
