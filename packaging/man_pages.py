#!/usr/bin/env python3
"""Makes manual pages of the command's own help: one for the program, one for each of its commands.

    man_pages.py COMMAND FOLDER
"""

import re
import subprocess
import sys
from pathlib import Path

NAME = "tableq"


def output_of(command, *arguments):
    done = subprocess.run([command, *arguments], capture_output=True, text=True, check=True)
    return done.stdout


def escaped(text):
    """A line of running text for roff."""
    text = text.replace("\\", "\\e").replace("-", "\\-")
    return "\\&" + text if text.startswith((".", "'")) else text


def entries(lines):
    """Pairs of a word and its explanation, of lines as CLI11 sets them: two columns."""
    found = []
    for line in lines:
        entry = re.match(r"^  (\S.*?)(?: {2,}(\S.*))?$", line)
        if entry:
            found.append([entry[1], [entry[2]] if entry[2] else []])
        elif line.strip():
            found[-1][1].append(line.strip())
    return found


def parts_of(text):
    """The help as its introduction, its usage, its headed parts, and what follows them."""
    introduction, rest = re.split(r"^Usage: ", text, maxsplit=1, flags=re.M)
    usage, rest = rest.split("\n", 1)
    headed, free = {}, []
    heading = None
    for line in rest.split("\n"):
        head = re.match(r"^([A-Z]\w+):$", line)
        if head:
            heading = head[1]
            headed[heading] = []
        elif heading and (line.startswith("  ") or not line):
            headed[heading].append(line)
        else:
            heading = None
            free.append(line)
    return introduction.strip().split("\n"), usage, headed, "\n".join(free).strip()


def page(path, text, version, others):
    introduction, usage, headed, free = parts_of(text)
    title = "-".join([NAME, *path])
    lines = [
        f'.TH {title.upper()} 1 "" "{version}" "{NAME}"',
        ".SH NAME",
        f"{escaped(title)} \\- {escaped(introduction[0])}",
        ".SH SYNOPSIS",
        f".B {' '.join([NAME, *path])}",
        escaped(usage.removeprefix(" ".join([NAME, *path])).strip()),
    ]
    if introduction[1:]:
        lines += [".SH DESCRIPTION", *map(escaped, introduction[1:])]
    names = {"Positionals": "ARGUMENTS", "Subcommands": "COMMANDS", "Database": "OPTIONS FOR THE DATABASE"}
    examples = headed.pop("Examples", [])
    for heading, body in headed.items():
        lines.append(f".SH {names.get(heading, heading.upper())}")
        for word, explained in entries(body):
            lines += [".TP", f".B {escaped(word)}", *map(escaped, explained)]
    if free:
        lines.append(".SH NOTES")
        for line in free.split("\n"):
            lines += [escaped(line), ".br"]
    if any(examples):
        lines += [".SH EXAMPLES", ".nf", *(escaped(line) for line in examples if line), ".fi"]
    if others:
        lines.append(".SH SEE ALSO")
        lines += [f".BR {escaped(name)} (1){'' if name == others[-1] else ','}" for name in others]
    return "\n".join(lines) + "\n"


def main():
    command, folder = sys.argv[1], Path(sys.argv[2])
    folder.mkdir(parents=True, exist_ok=True)
    version = output_of(command, "--version").strip()
    texts, waiting = {}, [()]
    while waiting:
        path = waiting.pop(0)
        texts[path] = output_of(command, *path, "--help")
        below = parts_of(texts[path])[2].get("Subcommands", [])
        waiting += [(*path, word) for word, _ in entries(below)]
    for path, text in texts.items():
        near = [path[:-1]] if path else []
        near += [other for other in texts if len(other) == len(path) + 1 and other[: len(path)] == path]
        names = ["-".join([NAME, *other]) for other in near]
        (folder / f"{'-'.join([NAME, *path])}.1").write_text(page(path, text, version, names), encoding="utf-8")


main()
