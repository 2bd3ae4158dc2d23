"""The numbers that the T-SQL texts throw are those that the driver's rules of errors know, and no others."""

import re
from pathlib import Path

OWN = re.compile(r"\b52\d{3}\b")


def complaints(thrown, known):
    for number in sorted(thrown - known):
        yield f"drivers/sqlserver/classify.cpp: does not know {number}, which a text throws"
    for number in sorted(known - thrown):
        yield f"drivers/sqlserver/classify.cpp: knows {number}, which no text throws"


def numbers_are_known(root):
    folder = Path(root) / "drivers/sqlserver"
    texts = "".join(path.read_text(encoding="utf-8") for path in sorted(folder.glob("*.sql")))
    thrown = {int(number) for number in re.findall(r"\bTHROW (52\d{3})\b", texts)}
    known = {int(number) for number in OWN.findall((folder / "classify.cpp").read_text(encoding="utf-8"))}
    yield from complaints(thrown, known)
    # It finds what it is for.
    if len(list(complaints(thrown | {52998}, known | {52999}))) < 2:
        yield "self-test: numbers_are_known finds no number that only one side has"
