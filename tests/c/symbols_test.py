#!/usr/bin/env python3
"""Compares the symbols file of the Debian package with the functions of tableq.h.

    symbols_test.py HEADER VERSION SYMBOLS [--write]

The file tells the version in which a function came, so that a package that depends on libtableq0 asks for the oldest
that will do. --write adds new functions, with VERSION. A function that is gone breaks the binary interface.
"""

import re
import sys
from pathlib import Path

HEAD = "libtableq.so.0 libtableq0 #MINVER#"


def main():
    header, version, stored = Path(sys.argv[1]), sys.argv[2], Path(sys.argv[3])
    text = re.sub(r"//[^\n]*", "", header.read_text(encoding="utf-8"))
    declared = set(re.findall(r"^TQ_API [^;]*?\b(tq_\w+)\(", text, re.M))
    known = dict(re.findall(r"^ (tq_\w+)@Base (\S+)$", stored.read_text(encoding="utf-8"), re.M)) if stored.exists() else {}
    gone = sorted(set(known) - declared)
    new = sorted(declared - set(known))
    if gone:
        sys.exit(f"gone from tableq.h: {', '.join(gone)}")
    if new and "--write" in sys.argv:
        known.update((name, version) for name in new)
        lines = [HEAD, *(f" {name}@Base {known[name]}" for name in sorted(known))]
        stored.write_text("\n".join(lines) + "\n", encoding="utf-8")
    elif new:
        sys.exit(f"not in {stored}: {', '.join(new)}\n{' '.join(sys.argv)} --write adds them")


main()
