#!/usr/bin/env python3
"""Does what docs/five-minutes.md shows: builds its programs, kills the first worker, and reads what the second one does.

    five_minutes_test.py PAGE PREFIX COMPILER COMMAND LIBRARY PACKAGE

PREFIX has tableq installed; COMMAND is the command of the shell, LIBRARY the one of C, PACKAGE the folder of Python's.
Exit status 1 with findings.
"""

import os
import re
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

JOBS = [f"{letter}.jpg" for letter in "abcdef"]


def blocks(page):
    """Section -> language -> the text of its first block."""
    found = {}
    for section in re.split(r"^## ", page, flags=re.M)[1:]:
        name = section.split("\n", 1)[0]
        for language, text in re.findall(r"^```(\w+)\n(.*?)^```$", section, re.S | re.M):
            found.setdefault(name, {}).setdefault(language, text)
    return found


def story(name, work, environment, producer, worker):
    """The worker is killed while it has four of six jobs; another one does the rest."""
    yield from said_wrong(name, producer, subprocess.run(producer, cwd=work, env=environment, capture_output=True, text=True,
                                                          check=False, timeout=60))
    text = until(worker, work, environment, "begins: ", 4)
    if text.count("attempt 1") != 4:
        yield f"{name}: the first worker said {text!r}"
    text = until(worker, work, environment, "done: ", len(JOBS))
    if sorted(re.findall(r"done: (\S\.jpg)", text)) != JOBS:
        yield f"{name}: the second worker did not do all: {text!r}"
    if text.count("attempt 2") != 4:
        yield f"{name}: not four jobs came a second time: {text!r}"


def until(worker, work, environment, word, count):
    """Starts a worker, and kills it when it has said a word so often. Its threads may write into each other's lines."""
    running = subprocess.Popen(worker, cwd=work, env=environment, stdout=subprocess.PIPE, text=True, start_new_session=True)
    text = ""
    while text.count(word) < count or not text.endswith("\n"):
        line = running.stdout.readline()
        if not line:
            break
        text += line
    os.killpg(running.pid, signal.SIGKILL)
    running.wait()
    return text


def said_wrong(name, command, done):
    if done.returncode != 0:
        yield f"{name}: {command}: {done.stdout}{done.stderr}"


def main():
    page, prefix, compiler, command, library, package = sys.argv[1:]
    shown = blocks(Path(page).read_text(encoding="utf-8"))
    found = []
    with tempfile.TemporaryDirectory() as folder:
        config = next(Path(prefix).rglob("tableq.pc")).parent
        environment = {**os.environ, "PKG_CONFIG_PATH": str(config), "LD_LIBRARY_PATH": str(config.parent),
                       "TABLEQ_LIBRARY": library, "PYTHONPATH": package,
                       "PATH": f"{Path(command).parent}:{os.environ['PATH']}"}

        def place(name):
            work = Path(folder) / name
            work.mkdir()
            return work

        work = place("cpp")
        build = shown["C++"]["sh"].split("\n")[0].replace("c++ ", f"{compiler} ", 1)
        (work / "jobs.cpp").write_text(shown["C++"]["cpp"], encoding="utf-8")
        done = subprocess.run(["sh", "-c", build], cwd=work, env=environment, capture_output=True, text=True, check=False)
        found += said_wrong("C++", build, done)
        if not found:
            found += story("C++", work, environment, ["./jobs", *JOBS], ["./jobs"])

        work = place("python")
        (work / "jobs.py").write_text(shown["Python"]["python"], encoding="utf-8")
        found += story("Python", work, environment, [sys.executable, "jobs.py", *JOBS], [sys.executable, "jobs.py"])

        work = place("shell")
        text = shown["The shell"]["sh"]
        setup = text.split("tableq work")[0]
        works = re.search(r"^tableq work .*--until-empty.*$", text, re.M)[0]
        (work / "setup.sh").write_text(setup, encoding="utf-8")
        (work / "worker.sh").write_text("export TABLEQ_DB=sqlite://jobs.db\nexec " + works.replace(" --until-empty", "") + "\n",
                                        encoding="utf-8")
        found += story("the shell", work, environment, ["sh", "setup.sh"], ["sh", "worker.sh"])
    print("\n".join(found), file=sys.stderr, end="\n" if found else "")
    sys.exit(1 if found else 0)


main()
