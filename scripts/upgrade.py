#!/usr/bin/env python3
"""Measures how long calls wait while `tableq migrate` changes a large queue on PostgreSQL.

    scripts/with_postgresql.sh scripts/upgrade.py build/release/tools/tableq build/release/bindings/c/libtableq.so.0

The figures of docs/performance.md. It needs psql, and an empty database in TABLEQ_TEST_POSTGRESQL.
"""

import argparse
import os
import pathlib
import subprocess
import sys
import threading
import time


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="the tableq command")
    parser.add_argument("library", help="libtableq.so.0")
    parser.add_argument("--messages", type=int, default=10_000_000, help="in the queue (10000000)")
    parser.add_argument("--threads", type=int, default=8, help="that enqueue, take and complete (8)")
    return parser.parse_args()


class Load:
    """Calls from several threads, and the longest of each kind."""

    def __init__(self, jobs, threads):
        self.jobs = jobs
        self.longest = {"enqueue": 0.0, "take": 0.0, "complete": 0.0}
        self.calls = 0
        self.over = threading.Event()
        self.lock = threading.Lock()
        self.threads = [threading.Thread(target=self.run) for _ in range(threads)]
        for thread in self.threads:
            thread.start()

    def timed(self, kind, call):
        began = time.monotonic()
        answer = call()
        took = time.monotonic() - began
        with self.lock:
            self.calls += 1
            self.longest[kind] = max(self.longest[kind], took)
        return answer

    def run(self):
        while not self.over.is_set():
            self.timed("enqueue", lambda: self.jobs.put(b"x" * 100))
            job = self.timed("take", self.jobs.take_one)
            if job is not None:
                self.timed("complete", job.complete)

    def stop(self):
        self.over.set()
        for thread in self.threads:
            thread.join()


def measured(jobs, threads, what, body):
    load = Load(jobs, threads)
    began = time.monotonic()
    try:
        body()
        took = time.monotonic() - began
    finally:
        load.stop()
    waits = ", ".join(f"{kind} {1000 * seconds:.0f} ms" for kind, seconds in load.longest.items())
    print(f"{what}: {took:.1f} s, {load.calls} calls beside it; the longest: {waits}", flush=True)


def main():
    given = options()
    url = os.environ["TABLEQ_TEST_POSTGRESQL"]
    os.environ["TABLEQ_DB"] = url
    os.environ["TABLEQ_LIBRARY"] = os.path.abspath(given.library)
    sys.path.insert(0, str(pathlib.Path(__file__).parent.parent / "bindings" / "python"))
    import tableq

    def command(*words):
        subprocess.run([given.command, *words], check=True, stdout=subprocess.DEVNULL)

    command("create", "claim", "upgraded")
    command("migrate", "--to", "2")
    rows = f"""INSERT INTO upgraded (payload)
               SELECT pg_catalog.convert_to(pg_catalog.repeat('x', 100), 'UTF8')
               FROM pg_catalog.generate_series(1, {given.messages})"""
    subprocess.run(["psql", "-XqAt", url, "-c", rows, "-c", "VACUUM ANALYZE upgraded"], check=True)
    with tableq.open(url) as db:
        jobs = db.claim("upgraded")
        measured(jobs, given.threads, "without a step", lambda: time.sleep(30))
        measured(jobs, given.threads, "to layout 3", lambda: command("migrate"))
        measured(jobs, given.threads, "back to layout 2", lambda: command("migrate", "--to", "2"))
    command("drop", "upgraded", "--yes")


if __name__ == "__main__":
    main()
