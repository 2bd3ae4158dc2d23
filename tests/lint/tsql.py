#!/usr/bin/env python3
"""Holds the texts of SQL Server's dialect against a T-SQL grammar and rules of our own.

    tsql.py ROOT            exit status 1 with findings, one a line
    tsql.py ROOT --write    also records that the grammar takes the texts

No server is needed. The grammar is sqlfluff's; it knows neither names nor types nor plans. It takes minutes, and is left
out while the texts are those of the record.
"""

import hashlib
import json
import re
import subprocess
import sys
import tempfile
from pathlib import Path

from tsql_doctor import doctor_knows_the_columns
from tsql_locks import LOCK_BREACHES, LOCK_RULES
from tsql_numbers import numbers_are_known
from tsql_rules import BREACHES, RULES
from tsql_texts import as_sent, read_contracts, read_texts

RULES = RULES + LOCK_RULES
BREACHES = {**BREACHES, **LOCK_BREACHES}

# What sqlfluff 1.4.5 does not know, although the server does, and what is parsed instead.
GAPS = {
    r"SET \(LOCK_ESCALATION = DISABLE\)": "ADD gap int",
    r"EXEC \(N'ALTER INDEX [^']*'\)": "EXEC sp_gap",
    r"OUTPUT [^\n]*\n(?=SELECT)": "",  # between the columns and the SELECT
    r"SET (LOCK_TIMEOUT|ROWCOUNT|TEXTSIZE) \d+;\n": "",  # options that take a number
}

# A text that the grammar must refuse, or the check is none.
BROKEN = "WITH c AS (SELECT TOP (1) id FROM [mail] DELETE FROM c OUTPUT deleted.id"

# Statements that the dialect may do without. A queue has one of the two takes. A look is a question and a take here. The
# others are for a database that copies the rows which a change returns, and for one with one writer.
OPTIONAL = ("claim.take", "claim.look", "claim.take_limited", "claim.lengthy", "batch.remove")


def refused(texts):
    """The names of those that the grammar does not know, with where."""
    with tempfile.TemporaryDirectory() as folder:
        for number, text in enumerate(texts.values()):
            # No end of line: rule L009 finds that in each file that sqlfluff has read.
            (Path(folder) / f"{number}.sql").write_text(text.rstrip("; \n") + ";", encoding="utf-8")
        # Without templates: `{%` is one. No text is too long.
        (Path(folder) / ".sqlfluff").write_text(
            "[sqlfluff]\ndialect = tsql\ntemplater = raw\nlarge_file_skip_byte_limit = 0\n",
            encoding="utf-8",
        )
        done = subprocess.run(
            ["sqlfluff", "lint", "--rules", "L009", "--format", "json", "--processes", "2", "."],
            cwd=folder, capture_output=True, text=True, check=False,
        )
    if done.returncode not in (0, 1, 65):
        sys.exit(f"tsql.py: sqlfluff failed: {done.stderr.strip()[-200:]}")
    # sqlfluff leaves out a file on which it gives up, and names it in no message.
    out = {name: "sqlfluff gives up on it" for name in texts}
    for one in json.loads(done.stdout):
        name = list(texts)[int(Path(one["filepath"]).stem)]
        out[name] = [each["description"] for each in one["violations"] if each["code"] in ("PRS", "LXR", "TMP")]
    return {name: why for name, why in out.items() if why}


def rules(texts, contracts, aliases, applied):
    for contract in contracts:
        # Sessions do not tell each other of changes there.
        optional = contract in OPTIONAL or contract.startswith(("notify.", "listen."))
        # One that reads fewer columns has the text of the one with all.
        if not optional and re.sub("_(outline|seen)$", "", contract) not in aliases:
            yield f"{contract}: has no text"
    for name, text in texts.items():
        # Rights name users, schemas and columns, of which the rules on statements know nothing.
        for rule in applied if name != "roles" else ():
            for finding in rule(name, text, contracts, aliases):
                yield f"{name}: {finding}"


def breaches(texts, contracts, aliases):
    """Each rule finds what it is for."""
    for rule in RULES:
        if not BREACHES.get(rule.__name__):
            yield f"self-test: {rule.__name__} has no breach"
        for name, part, instead in BREACHES.get(rule.__name__, ()):
            text = texts[name]
            if part not in text:
                yield f"self-test: {name} has no {part.strip()}"
            elif not list(rule(name, text.replace(part, instead), contracts, aliases)):
                yield f"self-test: {rule.__name__} does not find {instead or 'what is missing'} in {name}"


def main():
    if sys.argv[2:] not in ([], ["--write"]) or not Path(*sys.argv[1:2], "drivers/sqlserver").is_dir():
        sys.exit("usage: tsql.py ROOT [--write], with the project's folder")
    root = Path(sys.argv[1])
    contracts = read_contracts(root)
    given, aliases = read_texts(root, given_clock=True)
    findings = [*breaches(given, contracts, aliases), *numbers_are_known(root), *doctor_knows_the_columns(root)]
    # The grammar takes most of the time, and both clocks are an expression to it: one text stands for
    # all that have the clock of a test.
    parsed = {"claim.take with a given clock": given["claim.take"], "broken": BROKEN}
    for more in ({"given_clock": False}, {}, {"turns": True}, {"columns": "outline"}, {"columns": "seen"}):
        kind = {"given_clock": True, **more}
        texts, of_these = read_texts(root, **kind)
        own_clock = not kind["given_clock"]  # which takes no parameter
        findings += rules(texts, contracts, of_these, [
            rule for rule in RULES if not (own_clock and rule.__name__ == "parameters_are_of_the_contract")])
        # A GRANT names a type of another dialect in the roles, and sqlfluff gives up.
        parsed.update({f"{name} {more}": text for name, text in texts.items()
                       if (own_clock or text != given.get(name)) and name != "roles"})
    for part, instead in GAPS.items():
        parsed = {name: re.sub(part, instead, as_sent(text)) for name, text in parsed.items()}
    record = root / "tests/lint/grammar.digest"
    now = hashlib.sha256(json.dumps(parsed, sort_keys=True).encode()).hexdigest()
    if not record.is_file() or record.read_text(encoding="utf-8").strip() != now:
        refusals = refused(parsed)
        if not refusals.pop("broken", None):
            refusals["self-test"] = "the grammar takes a text although a parenthesis is open"
        findings += [f"{name}: {why}" for name, why in refusals.items()]
        if not refusals and sys.argv[2:]:
            record.write_text(f"{now}\n", encoding="utf-8")
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
