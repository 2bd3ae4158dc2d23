#!/usr/bin/env python3
"""Compares the binary interface of tableq.h with that of the last release, and with what the library exports.

    abi_test.py HEADER NM LIBRARY STORED [--write]

STORED has each declaration of the last release, without names of parameters, and each number. What is added is no
difference. --write stores those of HEADER: after a release, or for a function that no release has had.
"""

import re
import subprocess
import sys
from pathlib import Path

PARAMETER_NAME = re.compile(r"(?<=[\w*])\s+\w+(?=[,)])")


def interface(header):
    """The declarations of the header, one a line."""
    text = re.sub(r"//[^\n]*", "", header.read_text(encoding="utf-8"))
    for declaration in re.findall(r"^(?:TQ_API|typedef) [^;]*;", text, re.M):
        yield PARAMETER_NAME.sub("", " ".join(declaration.removeprefix("TQ_API ").split()))
    for name, numbers in re.findall(r"^enum (\w+) \{([^}]*)\};", text, re.M):
        yield from (f"enum {name} {number};" for number in re.findall(r"\w+ = \d+", numbers))


def main():
    header, nm, library, stored = Path(sys.argv[1]), sys.argv[2], sys.argv[3], Path(sys.argv[4])
    declared = sorted(interface(header))
    functions = {name for line in declared for name in re.findall(r"\b(tq_\w+)\(", line)}
    symbols = subprocess.run([nm, "-D", "--defined-only", library], capture_output=True, text=True, check=True).stdout
    exported = {line.split()[-1] for line in symbols.splitlines()}
    if exported != functions:
        sys.exit(f"exported and not declared: {sorted(exported - functions)}\n"
                 f"declared and not exported: {sorted(functions - exported)}")
    if "--write" in sys.argv:
        stored.write_text("\n".join(declared) + "\n", encoding="utf-8")
        return
    gone = sorted(set(stored.read_text(encoding="utf-8").splitlines()) - set(declared))
    if gone:
        sys.exit(f"{stored.name} has, and tableq.h has not:\n" + "\n".join(gone) +
                 "\nlibtableq.so.0 never breaks: add a function, key or number in place of the change")


main()
