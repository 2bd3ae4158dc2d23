"""Puts a message for each of its arguments."""

import sys

import tableq

with tableq.open(sys.argv[1]) as db:
    jobs = db.claim("thumbnails", lease=5)
    for name in sys.argv[2:]:
        print(jobs.put(name).id)
