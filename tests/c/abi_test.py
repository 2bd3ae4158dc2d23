#!/usr/bin/env python3
"""Compares the binary interface of tableq.h with that of the last release, and with what the library exports.

    abi_test.py HEADER COMPILER NM LIBRARY STORED [--write]

A library of empty functions is made of the header: it has the types that a program sees, and nothing of the inside.
abidiff compares it with STORED; added functions and numbers are no difference. --write stores it instead: after a
release, or for a function that no release has had. Exit status 77 without abidiff.
"""

import re
import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

# Types and places alone: no paths, no lines.
PLAIN = ("--no-show-locs", "--no-corpus-path", "--no-comp-dir-path")


def run(*command):
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\n{done.stdout}{done.stderr}")
    return done.stdout


def functions(header):
    """The names of the declared functions, and the declarations."""
    text = re.sub(r"//[^\n]*", "", header.read_text(encoding="utf-8"))
    found = {}
    for declaration in re.findall(r"^TQ_API ([^;]*?);", text, re.M | re.S):
        declaration = " ".join(declaration.split())
        found[re.search(r"\b(tq_\w+)\(", declaration)[1]] = declaration
    return found, re.findall(r"^enum (tq_\w+) \{", text, re.M)


def stub(header, compiler, folder):
    """A shared library of empty functions, and one more for the numbers of each enumeration."""
    declared, enumerations = functions(header)
    lines = ["#include <tableq.h>"]
    for name, declaration in declared.items():
        lines.append(declaration + (" {}" if declaration.startswith(f"void {name}(") else " { return 0; }"))
    lines += [f"TQ_API void numbers_of_{name}(enum {name} x) {{}}" for name in enumerations]
    source, library = folder / "stub.c", folder / "libtableq.so.0"
    source.write_text("\n".join(lines) + "\n", encoding="utf-8")
    run(compiler, "-std=c99", "-g", "-w", "-shared", "-fPIC", f"-I{header.parent}", "-Wl,-soname,libtableq.so.0",
        "-o", str(library), str(source))
    return library, set(declared)


def main():
    header, compiler, nm, library, stored = Path(sys.argv[1]), sys.argv[2], sys.argv[3], sys.argv[4], sys.argv[5]
    if shutil.which("abidiff") is None:
        print("abidiff is not installed (Debian: abigail-tools)")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        made, declared = stub(header, compiler, Path(folder))
        exported = {line.split()[-1] for line in run(nm, "-D", "--defined-only", library).splitlines()}
        if exported != declared:
            sys.exit(f"exported and not declared: {sorted(exported - declared)}\n"
                     f"declared and not exported: {sorted(declared - exported)}")
        if "--write" in sys.argv:
            run("abidw", *PLAIN, "--out-file", stored, str(made))
            return
        compared = subprocess.run(["abidiff", "--no-added-syms", stored, str(made)], capture_output=True, text=True,
                                  check=False)
        if compared.returncode != 0:
            sys.exit(f"the binary interface differs from that of {stored}:\n{compared.stdout}{compared.stderr}\n"
                     "libtableq.so.0 never breaks: add a function, key or number in place of the change")


main()
