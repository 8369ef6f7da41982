#!/usr/bin/python3
"""Wrong programs that others wrote without knowing attn's mistakes, and whether attn check still names what it named.

    run.py [--program ATTN] [--folder FOLDER] [--one-in N]

With --one-in N, every Nth of them from one that every run draws anew; with ATTN_ALL_SEEDS in the environment, all.
make.py writes what the programs save; grades.tsv says how each was graded, and what must be on its page. A program that
is graded A or B, and a right one, must keep its grade.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import re
import subprocess
import sys
import tempfile

try:
    import numpy  # noqa: F401, the programs need it
except ImportError as absent:
    print(f"skipped: the programs need python3-numpy ({absent})")
    sys.exit(77)

HERE = pathlib.Path(__file__).parent


def grades():
    for line in (HERE / "grades.tsv").read_text().splitlines():
        if not line.startswith("#"):
            name, grade, words = line.split("\t")
            yield name, grade, words


def page_of(program, folder, case):
    done = subprocess.run([program, "check", *case["args"], "--width", "100"], cwd=folder, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=60, env={**os.environ, "NO_COLOR": "1"})
    return done.returncode, re.sub(r"\s+", " ", done.stdout.decode()), done.stderr.decode()


def has_words(page, words):
    """Whether all names of mistakes are listed on a page, or words in quotes are there."""
    if words.startswith('"'):
        return words.strip('"') in page
    return all(f"- {word}:" in page or f"- {word} (a convention):" in page for word in words.split())


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default="attn")
    parser.add_argument("--folder")
    parser.add_argument("--one-in", type=int, default=1)
    options = parser.parse_args()
    folder = options.folder or tempfile.mkdtemp()
    subprocess.run([sys.executable, HERE / "make.py", folder], check=True, stdout=subprocess.DEVNULL)
    cases = {case["id"]: case for case in json.loads((pathlib.Path(folder) / "cases.json").read_text())}
    counts, lost = collections.defaultdict(collections.Counter), []
    one_in = 1 if os.environ.get("ATTN_ALL_SEEDS") else options.one_in
    chosen = list(grades())[random.randrange(one_in)::one_in]
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        program = os.path.abspath(options.program)
        pages = list(pool.map(lambda row: page_of(program, folder, cases[row[0]]), chosen))
    for (name, grade, words), (code, page, errors) in zip(chosen, pages):
        case = cases[name]
        is_found = has_words(page, words)
        counts[case["kind"]][grade if is_found else "lost"] += 1
        if code not in (0, 1) or (grade in "AB" and not is_found):
            lost.append(f"{name}: {' and '.join(case['mistakes']) or 'a right program'}: '{words}' is missing {errors}")
    for kind, of_kind in counts.items():
        total = sum(of_kind.values())
        print(f"{kind:14}", *(f"{grade} {count} ({100 * count / total:.0f} %)" for grade, count in sorted(of_kind.items())))
    print("\n".join(lost))
    return 1 if lost else 0


sys.exit(main())
