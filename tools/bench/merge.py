#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Merge the outputs of several bench_peers processes: the median over the processes of each figure.

usage: merge.py OUT.csv RUN.txt...

Prints the ratios to the peer and their geometric mean. Fails if a size is missing in a run, if the mean
over 2^10 ... 2^25 is below 1.2, a ratio below 0.95, or a served time more than 5 % off the tuner's.
"""
import datetime
import math
import re
import statistics
import sys

COLUMNS = "op,dtype,n,cache,tuned_us,default_us,cub_us,floor_us,config"


GOAL, LEAST, APART = 1.2, 0.95, 0.05
NOTE = re.compile(r"# n=(\d+) tuner_us=([\d.]+) measured_us=([\d.]+)")


def read(path):
    rows, device, pairs = {}, "", {}
    with open(path, encoding="utf-8") as f:
        for line in f:
            line = line.rstrip("\n")
            if line.startswith("# device="):
                device = line[2:]
            elif NOTE.match(line):
                n, tuner, measured = NOTE.match(line).groups()
                pairs[n] = (float(tuner), float(measured))
            elif line and not line.startswith("#"):
                field = line.split(",")
                if len(field) != len(COLUMNS.split(",")):
                    sys.exit(f"merge.py: {path}: not a result line: {line}")
                rows[tuple(field[:4])] = field
    if not rows or not device:
        sys.exit(f"merge.py: {path}: no results")
    return rows, device, pairs


def main():
    if len(sys.argv) < 3:
        sys.exit(__doc__)
    runs = [read(path) for path in sys.argv[2:]]
    keys = list(runs[0][0])
    if any(list(rows) != keys for rows, _, _ in runs):
        sys.exit("merge.py: the runs do not have the same sizes")
    today = datetime.datetime.now(datetime.timezone.utc).strftime("%Y-%m-%d")
    lines = [f"# date={today} processes={len(runs)} {device}" for _, device, _ in runs[:1]]
    lines.append(COLUMNS)
    logs, worst = [], (9.0, "")
    print(f"{'n':>12} {'tuned':>9} {'default':>9} {'cub':>9} {'floor':>9} cub/tuned  config")
    for key in keys:
        cells = [rows[key] for rows, _, _ in runs]
        t, d, c, f = (statistics.median(float(x[i]) for x in cells) for i in (4, 5, 6, 7))
        config = cells[0][8]
        lines.append(",".join(key) + f",{t:.3f},{d:.3f},{c:.3f},{f:.3f},{config}")
        n = int(key[2])
        ratio = c / t
        worst = min(worst, (ratio, key[2]))
        if 2**10 <= n <= 2**25:
            logs.append(math.log(ratio))
        print(f"{n:>12} {t:9.2f} {d:9.2f} {c:9.2f} {f:9.2f} {ratio:9.3f}  {config}")
    with open(sys.argv[1], "w", encoding="utf-8") as out:
        out.write("\n".join(lines) + "\n")
    print_verdict(logs, worst, runs)


def print_verdict(logs, worst, runs):
    failed = []
    if logs:
        mean = math.exp(statistics.fmean(logs))
        print(f"geometric mean of cub/tuned over 2^10 ... 2^25: {mean:.4f}")
        if mean < GOAL:
            failed.append(f"the mean is below {GOAL}")
    print(f"worst: {worst[0]:.3f} at n = {worst[1]}")
    if worst[0] < LEAST:
        failed.append(f"a ratio is below {LEAST}")
    apart = []
    for n, (tuner, _) in runs[0][2].items():
        if tuner > 0:
            served = statistics.median(pairs[n][1] for _, _, pairs in runs)
            apart.append((abs(served / tuner - 1), n, tuner, served))
    if apart:
        share, n, tuner, served = max(apart)
        print(f"furthest from the tuner: {served:.2f} us served, {tuner:.2f} us tuned at n = {n}")
        if share > APART:
            failed.append(f"a served time is more than {APART:.0%} off the tuner's")
    if failed:
        sys.exit("merge.py: " + "; ".join(failed))


if __name__ == "__main__":
    main()
