#!/usr/bin/env python3
"""Completes command lines in the real shells, and holds what they offer against the text of --help.

    completion_test.py COMMAND SHELL...        exit status 1 with findings, one a line
"""

import re
import subprocess
import sys
import tempfile
from pathlib import Path

# Each prints what it offers for the last word of its arguments.
ASK = {
    "bash": ["bash", "-c", 'source "$0"; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); compopt() { echo FILES; }; _tableq;'
             ' printf "%s\\n" "${COMPREPLY[@]}"'],
    "zsh": ["zsh", "-f", "-c", 'compdef() { }; _files() { print FILES }; '
            '_describe() { print -l -- "${(@)${(@P)2}%%:*}"; }; '
            'source "$0"; words=("$@"); CURRENT=$#; _tableq'],
    # The completed line is one text.
    "fish": ["fish", "--no-config", "-c", 'source $argv[1]; complete -C "$argv[2..]" | string split -f 1 \\t'],
}


def run(*command):
    return subprocess.run(command, capture_output=True, text=True, check=False, timeout=60)


def help_of(command, path):
    done = run(command, *path, "--help")
    assert done.returncode == 0, done.stderr
    return done.stdout


def named(text):
    """The commands and the options in a text of --help."""
    part = re.search(r"^Subcommands:\n((?: .*\n)+)", text, re.M)
    commands = re.findall(r"^  (\S+)", part[1], re.M) if part else []
    options = []
    for line in re.findall(r"^  (-\S+)", text.split("\nExamples:")[0], re.M):
        options += [name for name in line.split(",") if name.startswith("--")]
    return commands, options


def offers(shell, script, line):
    """What the shell offers after the words of a line, of which the last is begun."""
    words = line.split(" ")
    done = subprocess.run([*ASK[shell], script, *words], capture_output=True, text=True, check=False, timeout=60,
                          env={"PATH": f"{Path(sys.argv[1]).parent}:/usr/bin:/bin",
                               "HOME": str(Path(script).parent), "LC_ALL": "C"})
    return done.stdout.split("\n") + ["ERROR: " + text for text in done.stderr.splitlines()]


def findings(command, shell, folder):
    script = str(Path(folder) / f"completion.{shell}")
    made = run(command, "completion", shell)
    Path(script).write_text(made.stdout, encoding="utf-8")
    places = [[]]
    for path in places:
        commands, options = named(help_of(command, path))
        places += [path + [name] for name in commands]
        line = " ".join(["tableq", *path])
        for begun, expected in (("", commands), ("--", options)):
            got = offers(shell, script, f"{line} {begun}")
            for word in set(expected) - set(got):
                yield f"{shell}: {line} {begun}: offers no {word}"
            yield from (f"{shell}: {line}: {text}" for text in got if text.startswith("ERROR"))
    if len(places) < 20:
        yield f"{shell}: --help names {len(places)} commands only"
    for line, word, offered in (
        ("tableq enqueue mail --on-duplicate ", "postpone", True),
        ("tableq --db dead enq", "enqueue", True),
        ("tableq enqueue mail work --c", "--concurrency", False),
        ("tableq dead list --count ", "--json", False),
        ("tableq completion ", "zsh", True),
    ):
        if (word in offers(shell, script, line)) != offered:
            yield f"{shell}: {line}: {word} is {'not ' if offered else ''}offered"
    if shell != "fish" and "FILES" not in offers(shell, script, "tableq work jobs -- "):
        yield f"{shell}: no files are offered after --"


def main():
    found = []
    with tempfile.TemporaryDirectory() as folder:
        for shell in sys.argv[2:]:
            found += findings(sys.argv[1], shell, folder)
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    sys.exit(1 if found else 0)


main()
