"""Memory and processor time of `tableq serve` with 20 queues and 10,000 jobs a second: figures.py URL MINUTES

For docs/dashboard.md; scripts/dashboard.sh starts it. One thread adds 500 messages to each of 20 queues in each second,
takes and completes them. A viewer reads the page of the queues, one of a queue and /metrics every two seconds.
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

QUEUES, EACH = 20, 500


def work(url: str, until: float, done: list[int]) -> None:
    with tableq.open(url) as db:
        queues = [db.claim(f"queue{i:02}") for i in range(QUEUES)]
        due = time.monotonic()
        while time.monotonic() < until:
            for queue in queues:
                queue.put_batch([b"x" * 100] * EACH)
                taken = queue.take(EACH)
                queue.complete_batch(taken)
                done[0] += len(taken)
            due = max(due + 1, time.monotonic() - 10)  # A producer that is late catches up, with up to ten seconds.
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


def main(url: str, minutes: float) -> None:
    with tableq.open(url) as db:
        for i in range(QUEUES):
            db.claim(f"queue{i:02}")
    command = [os.environ["TABLEQ_COMMAND"], "serve", "--db", url, "--listen", "127.0.0.1:0"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as serve:
        assert serve.stdout is not None
        page = serve.stdout.readline().strip()
        begin = time.monotonic()
        until = begin + 60 * minutes
        done, answers = [0], [0]
        threads = [
            threading.Thread(target=work, args=(url, until, done)),
            threading.Thread(target=view, args=(page, until, answers)),
        ]
        for each in threads:
            each.start()
        step = 60 * minutes / 6
        for i in range(1, 7):
            time.sleep(max(0.0, begin + i * step - time.monotonic()))
            passed = time.monotonic() - begin
            print(
                f"after {passed / 60:.1f} min: {resident(serve.pid):.1f} MiB, {processor(serve.pid):.1f} s of processor"
                f" time ({100 * processor(serve.pid) / passed:.1f}% of one), {done[0] / passed:.0f} jobs/s,"
                f" {answers[0]} answers, load {os.getloadavg()[0]:.1f}",
                flush=True,
            )
        for each in threads:
            each.join()
        serve.terminate()


if __name__ == "__main__":
    main(sys.argv[1], float(sys.argv[2]))
