#!/usr/bin/env python3
"""Prints recurrence_vectors.txt: what croniter and zoneinfo say about cron texts and time zones.

Needs croniter from PyPI and the system's tzdata: tests/unit/recurrence_vectors.py > tests/unit/recurrence_vectors.txt
The times of a zone are croniter's wall times, converted by zoneinfo.
"""
import datetime as dt
import zoneinfo

import croniter

UTC = dt.timezone.utc
ZONES = ["Europe/Berlin", "America/New_York", "America/Santiago", "Australia/Lord_Howe",
         "Antarctica/Troll", "Asia/Amman", "Australia/Sydney"]
BEGIN, END = dt.datetime(2015, 1, 1), dt.datetime(2025, 1, 1)

TEXTS = """* * * * *|*/15 * * * *|7-59/13 * * * *|0 2 * * *|30 2 * * *|0,30 1,2 * * *|5 4 * * sun
0 0 1 * *|0 0 29 2 *|0 0 29 2 1|15 10 15 * 5|0 0 */2 * *|0 0 1-7 * 1|0 12 * jan-mar,nov mon-fri|59 23 31 12 *
0 0 * * 0|0 0 * * 7|0 0 * * 5-7|0 0 * * 1,3,5|0 */6 * * *|10-20/5 8-18/2 * * *|0 0 31 * *|0 0 30 4,6,9,11 *
0 9 1,15 6-8 *|45 23 * 2 6|@yearly|@annually|@monthly|@weekly|@daily|@midnight|@hourly|1-3,50 0,12,23 * * *
0 0 13 * 5|23 0-20/2 * * *|0 4 8-14 * *|0 22 * * 1-5|5,10,15 * 1 1 *|0 0 1 1 1|*/20 3 * */3 */2""".replace("\n", "|").split("|")
STARTS = [dt.datetime(2016, 2, 28, 23, 59), dt.datetime(2019, 12, 31, 23, 58, 30)]

# Those with single hours and minutes are times of the day, the others real times.
DAILY = ["0 0 * * *", "30 0 * * *", "0 2 * * *", "30 2 * * *", "15 1,2,3 * * *", "45 2 * * sun"]
REAL = ["0 * * * *", "*/15 * * * *", "30 1-3 * * *"]


def stamp(wall):
    return int(wall.replace(tzinfo=UTC).timestamp())


def walls(text, begin, end=None, count=None):
    it = croniter.croniter(text, begin)
    while count is None or count > 0:
        wall = it.get_next(dt.datetime)
        if end is not None and wall >= end:
            return
        yield wall
        count = None if count is None else count - 1


def shown(zone, wall):
    """The instants at which the clocks of the zone show this time."""
    out = []
    for fold in (0, 1):
        instant = wall.replace(tzinfo=zone, fold=fold).astimezone(UTC)
        if instant.astimezone(zone).replace(tzinfo=None) == wall:
            out.append(int(instant.timestamp()))
    return sorted(set(out))


def first(zone, wall):
    """The first instant at which they show this time or a later one."""
    found = shown(zone, wall)
    if found:
        return found[0]
    low, high = stamp(wall) - 2 * 86400, stamp(wall) + 2 * 86400  # a gap: its end
    while low + 1 < high:
        middle = (low + high) // 2
        local = dt.datetime.fromtimestamp(middle, zone).replace(tzinfo=None)
        low, high = (middle, high) if local < wall else (low, middle)
    return high


def changes(zone, begin, end):
    out, now = [], stamp(begin)
    offset = lambda at: int(dt.datetime.fromtimestamp(at, zone).utcoffset().total_seconds())
    while now < stamp(end):
        later = now + 86400
        if offset(later) != offset(now):
            low, high = now, later
            while low + 1 < high:
                middle = (low + high) // 2
                low, high = (middle, high) if offset(middle) == offset(now) else (low, middle)
            out.append((high, offset(high)))
        now = later
    return out


def digest(instants):
    out = 0xCBF29CE484222325
    for each in instants:
        out = ((out ^ each) * 0x100000001B3) % 2**64
    return out


def main():
    for text in TEXTS:
        for start in STARTS:
            print("wall", text, stamp(start), *(stamp(w) for w in walls(text, start, count=12)), sep="|")
    grid = {text: list(walls(text, BEGIN, END)) for text in DAILY + REAL}
    for name in ZONES:
        zone = zoneinfo.ZoneInfo(name)
        for begin, end in ((BEGIN, END), (dt.datetime(2050, 1, 1), dt.datetime(2052, 1, 1))):
            found = changes(zone, begin, end)
            print("changes", name, stamp(begin), stamp(end), *(f"{at} {off}" for at, off in found), sep="|")
            minutes = [wall + dt.timedelta(minutes=m) for at, off in found for m in range(-300, 301, 10)
                       for wall in [dt.datetime.fromtimestamp(at, zone).replace(tzinfo=None)]]
            print("first", name, *(f"{stamp(w)} {first(zone, w)}" for w in minutes[:400]), sep="|")
        for text in DAILY + REAL:
            found = [at for wall in grid[text]
                     for at in ([first(zone, wall)] if text in DAILY else shown(zone, wall))]
            found = sorted({at for at in found if at > first(zone, BEGIN)})
            found = [at for at in found if at < first(zone, END)]
            print("times", name, text, first(zone, BEGIN), first(zone, END), len(found), digest(found), sep="|")


main()
