"""An asyncio service: up to 100 handlers at a time, no thread for a wait."""

import asyncio
import sys

import tableq


async def handle(job: tableq.Job) -> None:
    await asyncio.sleep(0.1)  # The work.
    print(f"done: {job.text}", flush=True)


async def main() -> None:
    with tableq.open(sys.argv[1]) as db:
        jobs = db.claim("thumbnails", lease=5)
        await jobs.work_async(handle, concurrency=100, until_empty="--until-empty" in sys.argv)


asyncio.run(main())
