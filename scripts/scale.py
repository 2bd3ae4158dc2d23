#!/usr/bin/env python3
"""Calculates what many times the load of one server needs, and places tenants on servers.

The figures of docs/scale.md.
"""

import argparse
import random


def options():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rate", type=float, default=12_000, help="jobs/s that one server shall do (12000)")
    parser.add_argument("--wal", type=float, default=1_200, help="bytes of the write-ahead log for a job (1200)")
    parser.add_argument("--handler", type=float, default=10, help="ms that a handler takes (10)")
    parser.add_argument("--handlers", type=int, default=64, help="handlers in a worker process (64)")
    parser.add_argument("--sessions", type=int, default=4, help="sessions of a process with a server (4)")
    parser.add_argument("--tenants", type=int, default=10_000, help="tenants, each with a queue (10000)")
    parser.add_argument("--seed", type=int, default=1)
    return parser.parse_args()


def fullest(servers, weights, seed):
    """The load of the fullest server, as a multiple of the mean, if each tenant is on a random one."""
    chosen = random.Random(seed)
    load = [0.0] * servers
    for weight in weights:
        load[chosen.randrange(servers)] += weight
    return max(load) * servers / sum(weights)


def main():
    given = options()
    equal = [1.0] * given.tenants
    skewed = [1 / rank for rank in range(1, given.tenants + 1)]  # Zipf: the second has half of the first
    largest = skewed[0] / sum(skewed)
    log = given.rate * given.wal
    print(f"The log of one server: {log / 1e6:.0f} MB/s, {log * 86_400 / 1e12:.1f} TB a day.")
    print(f"Skewed: the largest tenant has {largest:.1%} of all jobs.")
    row = "{:>5} {:>12} {:>9} {:>20} {:>15} {:>16} {:>24}"
    print(row.format("load", "jobs/s", "processes", "sessions with each", "fullest, equal", "fullest, skewed",
                     "servers of the largest"))
    for times in (1, 10, 100, 1000):
        rate = times * given.rate
        processes = max(1, round(rate * given.handler / 1000 / given.handlers))
        print(row.format(times, f"{rate:,.0f}", processes, processes * given.sessions,
                         f"{fullest(times, equal, given.seed):.2f}", f"{fullest(times, skewed, given.seed):.2f}",
                         f"{largest * times:.1f}"))


if __name__ == "__main__":
    main()
