#!/usr/bin/env python3
"""What a run of the tests came to.

    test_figures.py CTEST_REPORT [PROGRAM_REPORT ...]

CTEST_REPORT is what ctest wrote, PROGRAM_REPORT what a test program wrote of its tests: its name is
that of its entry in the former. Prints how many tests passed, failed and were skipped, on one line,
then each reason to skip with its number. An entry that failed and left no report is one failed test.
"""

import collections
import pathlib
import sys
import xml.etree.ElementTree


def cases(report):
    return xml.etree.ElementTree.parse(report).getroot().iter("testcase")


def main(ctest_report, *program_reports):
    details = {pathlib.Path(path).stem: path for path in program_reports}
    figures = collections.Counter()
    reasons = collections.Counter()
    for entry in cases(ctest_report):
        failed = entry.find("failure") is not None or entry.get("status") == "fail"
        found = collections.Counter()
        for test in cases(details[entry.get("name")]) if entry.get("name") in details else ():
            skipped = test.find("skipped")
            if test.find("failure") is not None:
                found["failed"] += 1
            elif skipped is not None:
                found["skipped"] += 1
                reasons[skipped.get("message", "").splitlines()[-1]] += 1
            elif test.get("status", "run") == "run":
                found["passed"] += 1
        if failed and not found["failed"]:
            found["failed"] = 1
        elif not found and entry.get("status") != "run":
            found["skipped"] = 1
            reasons[entry.findtext("system-out", "").strip()] += 1
        elif not found and entry.get("name") not in details:
            found["passed"] = 1
        figures += found
    print(figures["passed"], figures["failed"], figures["skipped"])
    for reason, count in sorted(reasons.items()):
        print(f"{count:7} {reason}")


if __name__ == "__main__":
    main(*sys.argv[1:])
