#!/usr/bin/env python3
"""What training reaches from other seeds: every task of attn train that has data of its own, from seed 1 on.

  ten_seeds.py PROGRAM          prints a Markdown table, and what heads do

  --seeds N        so many seeds (default 10)
  --task NAME      only this task

Seconds are those of the processor, of a whole process that also looks at its heads. Each runs alone.
"""

import argparse
import collections
import csv
import io
import os
import re
import subprocess

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("--seeds", type=int, default=10)
parser.add_argument("--task")
arguments = parser.parse_args()
TASKS = ["reverse", "sort", "induction", "induction-fixed", "names", "dates", "coreference"]


def run(task, seed, *options):
    before = os.times()
    page = subprocess.run([arguments.program, "train", task, "--seed", str(seed), *options], check=True, text=True,
                          stdout=subprocess.PIPE, stderr=subprocess.DEVNULL).stdout
    after = os.times()
    return page, after.children_user + after.children_system - before.children_user - before.children_system


def last_point(page):
    """Of the curve, by name."""
    rows = [row for row in csv.reader(io.StringIO(page)) if row and row[0]]
    points = [row for row in rows if row[0].startswith("step ")]
    header = next(row for row in csv.reader(io.StringIO(page)) if row and row[0] == "" and "loss" in row)
    return points[-1][0].split()[1], dict(zip(header[1:], map(float, points[-1][1:])))


def label(line):
    """What a head attends to, from its line of the page."""
    found = re.match(r"\s+(\S+self_attention|alignment)(?:, (head \d+))?\s{2,}(\D+?)\s{2,}", line)
    return found and (found[1].split(".")[1] if "." in found[1] else "", found[3])


def percent(share):
    return f"{100 * share:.1f}".rstrip("0").rstrip(".")


print("| task | steps | loss of guessing | held-out loss | words right, % | sentences right, % | seconds |")
print("| :--- | ---: | ---: | ---: | :--- | :--- | ---: |")
heads = {}
for task in [arguments.task] if arguments.task else TASKS:
    points, seconds, labels = [], [], collections.Counter()
    for seed in range(1, arguments.seeds + 1):
        page, took = run(task, seed, "--format", "csv", "--only", "curve")
        steps, point = last_point(page)
        points.append(point)
        seconds.append(took)
        page, _ = run(task, seed, "--width", "150")
        labels.update({found for found in map(label, page.splitlines()) if found})
    losses = [point["held out"] for point in points]
    print(f"| {task} | {steps} | {points[0]['guessing']:.3f} | {min(losses):.4f}–{max(losses):.4f} | "
          f"{' '.join(percent(point['words']) for point in points)} | "
          f"{' '.join(percent(point['sentences']) for point in points)} | "
          f"{min(seconds):.1f}–{max(seconds):.1f} |", flush=True)
    heads[task] = labels
print()
print("| task | layer | what a head attends to, and from how many seeds |")
print("| :--- | :--- | :--- |")
for task, labels in heads.items():
    for layer in sorted({layer for layer, _ in labels}):
        found = ", ".join(f"{what} {count}" for (where, what), count in labels.most_common() if where == layer)
        print(f"| {task} | {layer} | {found} |")
