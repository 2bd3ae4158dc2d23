"""A worker that survives a kill: run it, kill it with SIGKILL, run it again. SIGTERM ends it in
order."""

import sys
import time

import tableq

url = sys.argv[1] if len(sys.argv) > 1 else "sqlite://jobs.db"

with tableq.open(url) as db:
    jobs = db.claim("thumbnails", lease=5)

    def handle(job: tableq.Job) -> None:
        print(f"begins: {job.text} attempt {job.attempt}", flush=True)
        time.sleep(1)  # The work. The library extends the lease meanwhile.
        print(f"done: {job.text}", flush=True)

    jobs.work(handle, threads=4, until_empty="--until-empty" in sys.argv)
