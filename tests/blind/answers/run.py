#!/usr/bin/env python3
"""Prints what the program says to wrong answers that were made up without knowing what it recognizes.

Usage: run.py PROGRAM [ANSWERS] [--json FILE]

Each line of answers.jsonl is an answer: the lesson or the drill (with its seed and count), the question, what was typed,
the right answer, what the author of the answer thought, and what a tutor should say. Read the reasons, and grade each: the
mistake is named; the reason helps; only a bound or a phrase; nothing; false or misleading. Mend classes, never single
answers: the next set is another one.
"""
import argparse
import csv
import io
import json
import os
import subprocess
import tempfile
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path


def asked(program, row):
    """The row with the verdict and the reason of the program."""
    with tempfile.TemporaryDirectory() as home:
        sheet = Path(home) / "student.txt"
        sheet.write_text(f"{row['question']}. {row['typed']}\n", encoding="utf-8")
        if "lesson" in row:
            command = [program, "lesson", "run", row["lesson"]]
        else:
            command = [program, "drill", row["drill"], "--seed", str(row["seed"]), "--count", str(row["count"])]
        command += ["--answers", str(sheet), "--format", "csv"]
        done = subprocess.run(
            command,
            stdin=subprocess.DEVNULL,
            env=dict(os.environ, NO_COLOR="1", HOME=home, XDG_STATE_HOME=home),
            capture_output=True,
            text=True,
        )
        for line in csv.DictReader(io.StringIO(done.stdout)):
            if line["number"] == str(row["question"]):
                return dict(row, verdict=line["verdict"], said=line["reason"])
        return dict(row, verdict="error", said=done.stderr.strip())


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=os.path.abspath)
    parser.add_argument("answers", nargs="?", default=Path(__file__).with_name("answers.jsonl"), type=Path)
    parser.add_argument("--json", type=Path, help="write the rows with verdict and reason to this file")
    given = parser.parse_args()
    rows = [json.loads(line) for line in given.answers.read_text(encoding="utf-8").splitlines() if line.strip()]
    with ThreadPoolExecutor(os.cpu_count() or 2) as pool:
        results = list(pool.map(lambda row: asked(given.program, row), rows))
    if given.json:
        given.json.write_text("".join(json.dumps(row, ensure_ascii=False) + "\n" for row in results), encoding="utf-8")
    else:
        for row in results:
            place = f"{row.get('lesson') or row.get('drill')}.{row['question']}"
            print(f"{place}  {row['typed']}  (right: {row['right']}; thought: {row['thought']})")
            print(f"    [{row['verdict']}] {row['said']}\n")
    print(len(results), dict(Counter(row["verdict"] for row in results)))


main()
