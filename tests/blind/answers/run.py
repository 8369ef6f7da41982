#!/usr/bin/env python3
"""Prints what the program says to wrong answers that were made up without knowing what it recognizes.

Usage: run.py PROGRAM ANSWERS [--json FILE]

Each line of a set, such as first.jsonl, is an answer: the lesson or the drill (with its seed and count), what it asks,
what was typed,
the right answer, what the author of the answer thought, and what a tutor should say. Read the reasons, and grade each: the
mistake is named; the reason helps; only a bound or a phrase; nothing; false or misleading. Mend classes, never single
answers: the next set is another one.
"""
import argparse
import csv
import functools
import io
import json
import os
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def command_of(row):
    if "lesson" in row:
        return ("lesson", "run", row["lesson"])
    return ("drill", row["drill"], "--seed", str(row["seed"]), "--count", str(row["count"]))


def marked(program, command, answers):
    """The rows of the table that marks a file with these lines, and what is said where there is none."""
    with tempfile.TemporaryDirectory() as home:
        sheet = Path(home) / "student.txt"
        sheet.write_text(answers, encoding="utf-8")
        done = subprocess.run(
            [program, *command, "--answers", str(sheet), "--format", "csv"],
            stdin=subprocess.DEVNULL,
            env=dict(os.environ, NO_COLOR="1", HOME=home, XDG_STATE_HOME=home),
            capture_output=True,
            text=True,
        )
        return list(csv.DictReader(io.StringIO(done.stdout))), done.stderr.strip()


@functools.cache
def numbers_of(program, command):
    """The number of each question, by what it asks."""
    return {line["question"]: line["number"] for line in marked(program, command, "1. -\n")[0]}


def asked(program, row):
    """The row with the verdict and the reason of the program."""
    command = command_of(row)
    number = numbers_of(program, command).get(row["ask"])
    if number is None:
        return dict(row, verdict="error", said="no question asks this")
    lines, error = marked(program, command, f"{number}. {row['typed']}\n")
    for line in lines:
        if line["number"] == number:
            return dict(row, verdict=line["verdict"], said=line["reason"])
    return dict(row, verdict="error", said=error)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("answers", type=Path)
    parser.add_argument("--json", type=Path, help="write the rows with verdict and reason to this file")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.answers.read_text(encoding="utf-8").splitlines() if line.strip()]
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = list(pool.map(lambda row: asked(given.program, row), rows))
    if given.json:
        given.json.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in results), encoding="utf-8")
    else:
        for row in results:
            print(f"{row.get('lesson') or row.get('drill')}: {row['ask']}")
            print(f"    {row['typed']}  (right: {row['right']}; thought: {row['thought']})")
            print(f"    [{row['verdict']}] {row['said']}\n")
    print(len(results), dict(Counter(row["verdict"] for row in results)))


main()
