#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Check that the README quotes docs/results/h200-spine.csv, and that the file keeps its promises.

usage: results.py ROOT
"""
import csv
import math
import pathlib
import re
import statistics
import sys

COLUMNS = "op,dtype,n,cache,tuned_us,default_us,cub_us,floor_us,config".split(",")


def fail(text):
    sys.exit(f"results.py: {text}")


def main():
    root = pathlib.Path(sys.argv[1])
    lines = (root / "docs/results/h200-spine.csv").read_text(encoding="utf-8").splitlines()
    if not re.match(r"# date=\S+ processes=\d+ device=.+ driver=\S+ .*commit=[0-9a-f]{7,} ", lines[0]):
        fail("the first line does not name date, device, driver and commit")
    rows = list(csv.DictReader(lines[1:]))
    if not rows or list(rows[0]) != COLUMNS:
        fail(f"the columns are not {COLUMNS}")
    ratios = {int(r["n"]): float(r["cub_us"]) / float(r["tuned_us"]) for r in rows}
    if sorted(ratios) != [2**k for k in range(6, 33)]:
        fail("the sizes are not 2^6 ... 2^32")
    for r in rows:
        if not 0 < float(r["floor_us"]) <= 1.02 * float(r["tuned_us"]):
            fail(f"n = {r['n']}: the floor is above the time")
    mean = math.exp(statistics.fmean(math.log(x) for n, x in ratios.items() if 2**10 <= n <= 2**25))
    longest = max(1 / x for x in ratios.values())
    readme = " ".join((root / "README.md").read_text(encoding="utf-8").split())
    for words in (f"takes {mean:.2f} times less time", f"more than {longest:.2f} times as long"):
        if words not in readme:
            fail(f'the README does not say "{words}", which is what the file gives')
    print(f"mean {mean:.4f}, longest {longest:.4f} of CUB's time: as the README says")


if __name__ == "__main__":
    main()
