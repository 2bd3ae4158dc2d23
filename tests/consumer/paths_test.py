#!/usr/bin/env python3
"""Looks for paths of the machine that built in what is installed: they would be wrong on every other one.

    paths_test.py PREFIX OBJCOPY PATH...        exit status 1 with findings, one a line

Debug information names sources, and is not looked at.
"""

import subprocess
import sys
import tempfile
from pathlib import Path


def contents(path, objcopy, work):
    data = path.read_bytes()
    if data[:4] != b"\x7fELF" and data[:8] != b"!<arch>\n":
        return data
    stripped = Path(work) / "stripped"
    subprocess.run([objcopy, "--strip-debug", str(path), str(stripped)], check=True)
    return stripped.read_bytes()


def main():
    prefix, objcopy, paths = Path(sys.argv[1]), sys.argv[2], [path.encode() for path in sys.argv[3:]]
    paths.append(str(prefix).encode())
    found, count = [], 0
    with tempfile.TemporaryDirectory() as work:
        for path in sorted(prefix.rglob("*")):
            if path.is_symlink():
                if path.readlink().is_absolute():
                    found.append(f"{path.relative_to(prefix)}: a link to {path.readlink()}")
            elif path.is_file():
                count += 1
                text = contents(path, objcopy, work)
                found += [f"{path.relative_to(prefix)}: names {each.decode()}" for each in paths if each in text]
    if count < 50:
        found.append(f"only {count} files in {prefix}")
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    sys.exit(1 if found else 0)


main()
