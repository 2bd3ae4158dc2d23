"""The package beside the plain statements by hand, on one database, in turns.

    beside_drivers.py sqlite://FILE|postgresql://... [ROUNDS [processor]]

For each task: messages a second by tableq and by the driver, medians of the rounds, and their ratio. By hand means
the statements that an application would write for the same effect, on a table of the same layout: one transaction for
each step, a lease with a fence. processor: by the processor time of this process, for SQLite on a busy machine.

SQLite: each side has a file of its own, the other one's name ends with -hand. The log of a file grows at first, and a
file that grows is slower to flush; so both sides work before the rounds until it no longer does.
"""

import sqlite3
import statistics
import sys
import time

import tableq

PAYLOAD = b"x" * 100
SINGLE, BATCH, BATCHES = 200, 100, 20
BEFORE = 4


class Sqlite:
    def __init__(self, url):
        self.connection = sqlite3.connect(url.partition("://")[2], isolation_level=None, timeout=10)
        self.connection.execute("PRAGMA journal_mode = WAL")
        self.connection.execute("PRAGMA synchronous = FULL")

    def put(self, payloads):
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany("INSERT INTO hand (payload) VALUES (?)", [(p,) for p in payloads])
        self.connection.execute("COMMIT")

    def take(self, count):
        return self.connection.execute(
            "UPDATE hand SET state = 1, fence = fence + 1, "
            "attempts = attempts + 1, due_at = ? WHERE id IN (SELECT id FROM hand "
            "WHERE state = 0 ORDER BY priority DESC, id LIMIT ?) RETURNING id, fence, payload",
            (int(time.time() * 1000) + 30000, count),
        ).fetchall()

    def complete(self, rows):
        self.connection.execute("BEGIN IMMEDIATE")
        self.connection.executemany(
            "DELETE FROM hand WHERE id = ? AND state = 1 AND fence = ?", [row[:2] for row in rows]
        )
        self.connection.execute("COMMIT")


class Postgresql:
    def __init__(self, url):
        import psycopg2
        import psycopg2.extras

        self.values = psycopg2.extras.execute_values
        self.connection = psycopg2.connect(url)
        self.cursor = self.connection.cursor()

    def put(self, payloads):
        if len(payloads) == 1:
            self.cursor.execute("INSERT INTO hand (payload) VALUES (%s)", payloads)
        else:
            self.values(self.cursor, "INSERT INTO hand (payload) VALUES %s", [(p,) for p in payloads])
        self.connection.commit()

    def take(self, count):
        self.cursor.execute(
            "UPDATE hand SET state = 1, fence = fence + 1, "
            "attempts = attempts + 1, due_at = %s WHERE id IN (SELECT id FROM hand "
            "WHERE state = 0 ORDER BY priority DESC, id LIMIT %s FOR UPDATE SKIP LOCKED) RETURNING id, fence, payload",
            (int(time.time() * 1000) + 30000, count),
        )
        rows = self.cursor.fetchall()
        self.connection.commit()
        return rows

    def complete(self, rows):
        if len(rows) == 1:
            self.cursor.execute(
                "DELETE FROM hand WHERE id = %s AND state = 1 AND fence = %s", rows[0][:2]
            )
        else:
            self.values(
                self.cursor,
                "DELETE FROM hand USING (VALUES %s) AS v (id, fence) WHERE hand.id = v.id AND "
                "hand.state = 1 AND hand.fence = v.fence",
                [row[:2] for row in rows],
            )
        self.connection.commit()


clock = time.process_time if sys.argv[3:] == ["processor"] else time.perf_counter


def rate(count, work):
    begin = clock()
    work()
    return count / (clock() - begin)


def main():
    url = sys.argv[1]
    rounds = int(sys.argv[2]) if len(sys.argv) > 2 else 9
    other = url + "-hand" if url.startswith("sqlite:") else url
    with tableq.open(url) as db:
        db.drop("bench")
        jobs = db.claim("bench")
        with tableq.open(other) as theirs:
            theirs.drop("hand")
            theirs.claim("hand")
        hand = Sqlite(other) if db.backend == "sqlite" else Postgresql(other)
        batch = [PAYLOAD] * BATCH

        def ours_single_put():
            for _ in range(SINGLE):
                jobs.put(PAYLOAD)

        def ours_single_take():
            for _ in range(SINGLE):
                jobs.take_one().complete()

        def ours_batch_put():
            for _ in range(BATCHES):
                jobs.put_batch(batch)

        def ours_batch_take():
            for _ in range(BATCHES):
                taken = jobs.take(BATCH)
                assert sum(len(job.payload) for job in taken) == BATCH * len(PAYLOAD)
                jobs.complete_batch(taken)

        def hand_single_put():
            for _ in range(SINGLE):
                hand.put([PAYLOAD])

        def hand_single_take():
            for _ in range(SINGLE):
                hand.complete(hand.take(1))

        def hand_batch_put():
            for _ in range(BATCHES):
                hand.put(batch)

        def hand_batch_take():
            for _ in range(BATCHES):
                taken = hand.take(BATCH)
                assert sum(len(bytes(row[2])) for row in taken) == BATCH * len(PAYLOAD)
                hand.complete(taken)

        tasks = [
            ("put", SINGLE, ours_single_put, hand_single_put),
            ("take and complete", SINGLE, ours_single_take, hand_single_take),
            (f"put {BATCH}", BATCH * BATCHES, ours_batch_put, hand_batch_put),
            (f"take and complete {BATCH}", BATCH * BATCHES, ours_batch_take, hand_batch_take),
        ]
        for _ in range(BEFORE):
            for work in (ours_batch_put, ours_batch_take, hand_batch_put, hand_batch_take):
                work()
        figures = {name: ([], []) for name, *_ in tasks}
        for number in range(rounds):
            for name, count, ours, theirs in tasks:
                turns = [(0, ours), (1, theirs)]
                for side, work in turns if number % 2 else reversed(turns):
                    figures[name][side].append(rate(count, work))
        for name, (ours, theirs) in figures.items():
            one, other = statistics.median(ours), statistics.median(theirs)
            print(f"{name:24} tableq {one:9.0f}/s   by hand {other:9.0f}/s   ratio {one / other:5.2f}")


main()
