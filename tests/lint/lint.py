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
import promises
import sql
from tree import Tree

PARTS = (layers, sql, habits, catches, completeness, layouts, documented, promises, c_interface)
RULES = {rule.__name__: rule for part in PARTS for rule in part.RULES}


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--sources", help="a list of what a build of all parts compiles")
    parser.add_argument("root")
    parser.add_argument("rule", nargs="*")
    given = parser.parse_args()
    tree = Tree(given.root, given.sources)
    if not tree.paths("include/tableq") or not tree.paths("core") or not tree.paths("drivers"):
        sys.exit(f"lint.py: {given.root} is not the project")
    names = given.rule or [name for name in RULES if given.sources or name != "every_source_is_in_a_target"]
    findings = [f"{name}: {found}" for name in names for found in RULES[name](tree)]
    print("\n".join(findings) if findings else "nothing found")
    return 1 if findings else 0


if __name__ == "__main__":
    sys.exit(main())
