#!/usr/bin/env python3
"""Each mistake of misuse.cpp is an error with the words of the comment above it: misuse_test.py MISUSE COMPILER..."""

import re
import subprocess
import sys
from pathlib import Path

# Compilers word it differently: GCC, then Clang.
WORDS = {
    "no conversion": "could not convert|cannot convert|cannot bind|invalid initialization|no matching|"
                     "no viable conversion|does not refer to any field",
    "no copy": "use of deleted function|call to (implicitly-)?deleted (copy |default )?constructor",
    "deleted": "use of deleted|call to deleted|invokes a deleted",
    "private": "is private|private constructor",
}
LEADS_TO_AN_ERROR = re.compile(r"required from|In instantiation|In (member )?function|In file included|^\s+from ")


def mistakes(text):
    """The first and last line of each, and what its error says."""
    said, first = "", None
    lines = text.split("#if defined(MISTAKES)\n")
    for number, line in enumerate(lines[1].split("#endif")[0].splitlines(), lines[0].count("\n") + 2):
        comment = re.match(r"  // error: (.*)", line)
        if comment:
            said = WORDS.get(comment[1]) or re.sub(r"(member named) (\w+)", r"\1 .\2", comment[1])
            continue
        first = first or number
        if line.endswith(";"):
            yield first, number, said
            first = None


def errors(output, file):
    """The text of each error, and the lines of the file that it is about."""
    found, before = [], []
    for line in output.splitlines():
        if LEADS_TO_AN_ERROR.search(line):
            before.append(line)
        elif " error: " in line:
            found.append([*before, line])
            before = []
        elif found:
            found[-1].append(line)
    place = re.compile(rf"\b{re.escape(file)}:(\d+):")
    return [("\n".join(each), {int(n) for n in place.findall("\n".join(each))}) for each in found]


def main():
    source, compiler = Path(sys.argv[1]), sys.argv[2:]
    command = [*compiler, "-DMISTAKES", str(source)]
    told = errors(subprocess.run(command, capture_output=True, text=True, check=False).stderr, source.name)
    all_mistakes = list(mistakes(source.read_text(encoding="utf-8")))
    taken = []
    for first, last, said in all_mistakes:
        here = [text for text, lines in told if lines & {*range(first, last + 1)}]
        if not any(re.search(f" error: [^\n]*({said})", text) for text in here):
            taken.append(first)
    if taken or len(all_mistakes) < 40:
        sys.exit(f"{source}: {len(all_mistakes)} mistakes; without the right error: lines {taken}")


main()
