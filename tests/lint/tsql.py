#!/usr/bin/env python3
"""Holds the texts of SQL Server's dialect against rules of our own.

    tsql.py ROOT            exit status 1 with findings, one a line

No server is needed. tsql_parser.py holds the same texts against the grammar.
"""

import re
import sys
from pathlib import Path

from tsql_doctor import doctor_knows_the_columns
from tsql_locks import LOCK_BREACHES, LOCK_RULES, rows_follow_the_items
from tsql_numbers import numbers_are_known
from tsql_rules import BREACHES, RULES
from tsql_texts import read_contracts, read_texts

RULES = RULES + LOCK_RULES
BREACHES = {**BREACHES, **LOCK_BREACHES}

# Statements that the dialect may do without. A queue has one of the two takes. A look is a question and a take here. The
# others are for a database that copies the rows which a change returns, and for one with one writer.
OPTIONAL = ("claim.take", "claim.look", "claim.take_limited", "claim.lease", "claim.payload", "claim.groups_in_use",
            "batch.remove")


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
    if len(sys.argv) != 2 or not Path(sys.argv[1], "drivers/sqlserver").is_dir():
        sys.exit("usage: tsql.py ROOT, with the project's folder")
    root = Path(sys.argv[1])
    contracts = read_contracts(root)
    given, aliases = read_texts(root, given_clock=True)
    findings = [*breaches(given, contracts, aliases), *numbers_are_known(root), *doctor_knows_the_columns(root),
                *rows_follow_the_items(root)]
    for more in ({"given_clock": False}, {}, {"turns": True}, {"columns": "outline"}, {"columns": "seen"}):
        kind = {"given_clock": True, **more}
        texts, of_these = read_texts(root, **kind)
        own_clock = not kind["given_clock"]  # which takes no parameter
        findings += rules(texts, contracts, of_these, [
            rule for rule in RULES if not (own_clock and rule.__name__ == "parameters_are_of_the_contract")])
    for finding in findings:
        print(finding)
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
