#!/usr/bin/env python3
"""Runs one rule, or all: lint.py [--sources FILE] ROOT [RULE...]. Exit status 1 with findings."""

import argparse
import sys

import c_interface
import catches
import completeness
import documented
import habits
import layers
import layouts
import locks
import promises
import sql
from tree import Tree

PARTS = (layers, sql, habits, catches, completeness, layouts, locks, documented, promises, c_interface)
RULES = {rule.__name__: rule for part in PARTS for rule in part.RULES}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sources", help="a list of what the build compiles")
    parser.add_argument("--list", action="store_true", help="print the rules' names")
    parser.add_argument("root", nargs="?")
    parser.add_argument("rule", nargs="*")
    given = parser.parse_args()
    if given.list:
        print("\n".join(RULES))
        return 0
    tree = Tree(given.root, given.sources)
    if not tree.paths("include/tableq") or not tree.paths("core") or not tree.paths("drivers"):
        sys.exit(f"lint.py: {given.root} is not the project")
    findings = [f for name in given.rule or RULES for f in RULES[name](tree)]
    print("\n".join(findings) if findings else "nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
