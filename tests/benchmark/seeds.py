#!/usr/bin/env python3
"""What training reaches from other seeds: every task of attn train that has data of its own, from seed 1 on.

  seeds.py PROGRAM          prints a Markdown table, and what heads do

  --seeds N        so many seeds (default 100)
  --task NAME      only this task

Of the shares there are the least, the tenth, the median and the largest. Seconds are those of the processor, of a whole
process that also measures its heads. Each runs alone, on one thread.
"""

import argparse
import collections
import os
import re
import statistics
import subprocess

parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
parser.add_argument("program")
parser.add_argument("--seeds", type=int, default=100)
parser.add_argument("--task")
arguments = parser.parse_args()
TASKS = ["reverse", "sort", "induction", "induction-fixed", "names", "dates", "coreference"]


def run(task, seed):
    before = os.times()
    page = subprocess.run([arguments.program, "train", task, "--seed", str(seed), "--threads", "1", "--width", "150",
                           "--precision", "6"], check=True, text=True, stdout=subprocess.PIPE,
                          stderr=subprocess.DEVNULL).stdout
    after = os.times()
    return page, after.children_user + after.children_system - before.children_user - before.children_system


def last_point(page):
    """Of the curve, by name, and its step."""
    lines = page.splitlines()
    header = next(re.split(r"\s{2,}", line.split("│")[1].strip()) for line in lines if line.startswith("  curve  "))
    last = [line.split("│") for line in lines if re.match(r"  step \d+ +│", line)][-1]
    return last[0].split()[1], dict(zip(header, map(float, last[1].split())))


def goal(page):
    """The goal as the page states it, and whether the run reached it."""
    found = re.search(r"The goal of the task: at least (\d+ %) .*? are: the goal is (not )?reached", " ".join(page.split()))
    return found and (found[1], not found[2])


def label(line):
    """What a head attends to, from its line of the page."""
    found = re.match(r"\s+(\S+self_attention|alignment)(?:, (head \d+))?\s{2,}(\D+?)\s{2,}", line)
    return found and (found[1].split(".")[1] if "." in found[1] else "", found[3])


def percent(share):
    return f"{100 * share:.1f}".rstrip("0").rstrip(".")


def distribution(shares):
    """The least, the tenth (a tenth of all are below it), the median and the largest."""
    ordered = sorted(shares)
    return " · ".join(percent(share) for share in (ordered[0], ordered[len(ordered) // 10], statistics.median(ordered),
                                                   ordered[-1]))


print("| task | steps | loss of guessing | held-out loss | words right, % | goal | reached | sentences right, % "
      "| seconds |")
print("| :--- | ---: | ---: | ---: | :--- | ---: | ---: | :--- | ---: |")
heads = {}
for task in [arguments.task] if arguments.task else TASKS:
    points, seconds, goals, labels = [], [], [], collections.Counter()
    for seed in range(1, arguments.seeds + 1):
        page, took = run(task, seed)
        steps, point = last_point(page)
        points.append(point)
        seconds.append(took)
        goals.append(goal(page))
        labels.update({found for found in map(label, page.splitlines()) if found})
    losses = [point["held out"] for point in points]
    sentences = distribution([point["sentences"] for point in points]) if "sentences" in points[0] else "–"
    stated, reached = (goals[0][0], f"{sum(has for _, has in goals)} of {len(goals)}") if goals[0] else ("–", "–")
    print(f"| {task} | {steps} | {points[0]['guessing']:.3f} | {min(losses):.4f}–{max(losses):.4f} | "
          f"{distribution([point['words'] for point in points])} | {stated} | {reached} | {sentences} | "
          f"{min(seconds):.1f}–{max(seconds):.1f} |", flush=True)
    heads[task] = labels
print()
print("| task | layer | what a head attends to, and from how many seeds |")
print("| :--- | :--- | :--- |")
for task, labels in heads.items():
    for layer in sorted({layer for layer, _ in labels}):
        found = ", ".join(f"{what} {count}" for (where, what), count in labels.most_common() if where == layer)
        print(f"| {task} | {layer} | {found} |")
