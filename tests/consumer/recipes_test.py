#!/usr/bin/env python3
"""Does what docs/recipes.md shows: runs the commands of each recipe in a folder of its own, and compares what they print.

    recipes_test.py PAGE COMMAND

COMMAND is the command of the shell. Exit status 1 with findings.
"""

import os
import re
import subprocess
import sys
import tempfile
from pathlib import Path


def recipes(page):
    """The title of each recipe, its commands, and what they print."""
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        blocks = re.findall(r"^```(\w+)\n(.*?)^```$", section, re.S | re.M)
        commands = "".join(text for language, text in blocks if language == "sh")
        printed = "".join(text for language, text in blocks if language == "text")
        yield section.split("\n", 1)[0], commands, printed


def run(commands, environment):
    with tempfile.TemporaryDirectory() as folder:
        Path(folder, "jobs.db").touch()
        return subprocess.run(["sh", "-e", "-c", commands], cwd=folder, env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, text=True, check=False, timeout=60)


def main():
    page, command = sys.argv[1:]
    environment = {**os.environ, "TABLEQ_DB": "sqlite://jobs.db", "PATH": f"{Path(command).parent}:{os.environ['PATH']}"}
    environment.pop("TABLEQ_TO", None)
    found = []
    for title, commands, printed in recipes(Path(page).read_text(encoding="utf-8")):
        if not commands:
            found.append(f"{title}: no commands")
            continue
        done = run(commands, environment)
        if done.returncode != 0 or done.stdout != printed:
            found.append(f"{title}: exit status {done.returncode}, and it printed\n{done.stdout}in place of\n{printed}")
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    sys.exit(1 if found else 0)


main()
