"""Memory and processor time of `tableq serve` with 20 queues and 10,000 jobs a second: figures.py URL MINUTES

For docs/dashboard.md; scripts/dashboard.sh starts it. In each second 500 jobs are added to each of 20 queues, taken and
completed, by hundreds. A viewer reads the page of the queues, one of a queue and /metrics every two seconds. A line for
each minute.
"""

from __future__ import annotations

import os
import subprocess
import sys
import threading
import time
import urllib.request
from pathlib import Path

import tableq

QUEUES, EACH, BATCH, WORKERS = 20, 500, 100, 2


def work(url: str, mine: list[str], until: float, done: list[int]) -> None:
    with tableq.open(url) as db:
        queues = [db.claim(name) for name in mine]
        due = time.monotonic()
        while time.monotonic() < until:
            for queue in queues:
                queue.put_batch([b"x" * 100] * BATCH)
                taken = queue.take(BATCH)
                queue.complete_batch(taken)
                done[0] += len(taken)
            # A producer that is late catches up, with up to ten seconds.
            due = max(due + BATCH / EACH, time.monotonic() - 10)
            time.sleep(max(0.0, due - time.monotonic()))


def view(url: str, until: float, answers: list[int]) -> None:
    time.sleep(2)  # After the first look.
    while time.monotonic() < until:
        for path in ("", "db/1/queues/queue00", "metrics"):
            with urllib.request.urlopen(url + path, timeout=30) as answer:
                answers[0] += len(answer.read()) > 0
        time.sleep(2)


def resident(pid: int) -> float:
    (line,) = [each for each in Path(f"/proc/{pid}/status").read_text().splitlines() if each.startswith("VmRSS")]
    return int(line.split()[1]) / 1024


def processor(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def main(url: str, minutes: int) -> None:
    names = [f"queue{i:02}" for i in range(QUEUES)]
    with tableq.open(url) as db:
        for name in names:
            db.claim(name)
    command = [os.environ["TABLEQ_COMMAND"], "serve", "--db", url, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serve:
        assert serve.stdout is not None
        page = serve.stdout.readline().strip()
        begin = time.monotonic()
        until = begin + 60 * minutes
        done, answers = [[0] for _ in range(WORKERS)], [0]
        threads = [
            threading.Thread(target=work, args=(url, names[i::WORKERS], until, done[i])) for i in range(WORKERS)
        ] + [threading.Thread(target=view, args=(page, until, answers))]
        for each in threads:
            each.start()
        for minute in range(1, minutes + 1):
            time.sleep(max(0.0, begin + 60 * minute - time.monotonic()))
            passed = time.monotonic() - begin
            print(
                f"after {minute} min: {resident(serve.pid):.1f} MiB, {processor(serve.pid):.1f} s of processor time"
                f" ({100 * processor(serve.pid) / passed:.2f}% of one), {sum(map(sum, done)) / passed:.0f} jobs/s,"
                f" {answers[0]} answers, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
        for each in threads:
            each.join()
        serve.terminate()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]))
