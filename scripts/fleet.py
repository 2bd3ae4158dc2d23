#!/usr/bin/env python3
"""Counts the transactions that a fleet of waiting workers costs on PostgreSQL: idle, and for each message.

    scripts/with_postgresql.sh --fast scripts/fleet.py build/release/tools/tableq

The figures of docs/scale.md. It needs psql, and an empty database in TABLEQ_TEST_POSTGRESQL.
"""

import argparse
import os
import subprocess
import time


def options():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("command", help="the tableq command")
    parser.add_argument("--processes", type=int, default=10, help="`tableq work --concurrency 4` each (10)")
    parser.add_argument("--messages", type=int, default=40, help="one each 250 ms (40)")
    return parser.parse_args()


def transactions(url):
    """Of the database until now. Servers report theirs once a second."""
    time.sleep(2)
    asked = "SELECT xact_commit + xact_rollback FROM pg_stat_database WHERE datname = current_database()"
    return int(subprocess.run(["psql", "-XqAt", url, "-c", asked], capture_output=True, check=True, text=True).stdout)


def main():
    given = options()
    url = os.environ["TABLEQ_TEST_POSTGRESQL"]
    environment = dict(os.environ, TABLEQ_DB=url)
    subprocess.run([given.command, "create", "claim", "fleet"], env=environment, check=True)
    work = [given.command, "work", "fleet", "--concurrency", "4", "--", "true"]
    workers = [subprocess.Popen(work, env=environment) for _ in range(given.processes)]
    producer = subprocess.Popen([given.command, "enqueue", "fleet", "--lines"], env=environment,
                                stdin=subprocess.PIPE, stdout=subprocess.DEVNULL, text=True)
    time.sleep(5)
    begin, began = transactions(url), time.monotonic()
    time.sleep(10)
    idle, ended = transactions(url), time.monotonic()
    a_second = (idle - begin) / (ended - began)
    for _ in range(given.messages):
        print("x", file=producer.stdin, flush=True)
        time.sleep(0.25)
    busy, over = transactions(url), time.monotonic()
    for_messages = busy - idle - a_second * (over - ended)
    print(f"{given.processes} processes: idle {a_second / given.processes:.2f} transactions a second each; "
          f"each message causes {for_messages / given.messages:.1f}")
    producer.communicate()
    for worker in workers:
        worker.terminate()
    for worker in workers:
        worker.wait()
    subprocess.run([given.command, "drop", "fleet", "--yes"], env=environment, check=True)


if __name__ == "__main__":
    main()
