#!/usr/bin/python3
"""Programs and computations by hand that others wrote without knowing attn's mistakes: what attn check says of them.

    run.py SET [--program ATTN] [--folder FOLDER] [--one-in N] [--write]

SET is modern, classic, pencil or recorded: SET.py writes its files and cases.json. A right one must be accepted (exit
code 0), and a wrong one refused (1). expected.tsv says of each wrong one what its page must name, of those that are
named, and of each case that is judged otherwise why it is. With --one-in N, every Nth of them from one that every run
draws anew; with ATTN_ALL_SEEDS in the environment, all.
"""
import argparse
import collections
import concurrent.futures
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
NEEDED = {"modern": ["numpy", "torch"], "recorded": ["numpy", "torch"]}


def expected():
    rows = {}
    for line in (HERE / "expected.tsv").read_text().splitlines():
        if line and not line.startswith("#"):
            name, verdict, words = line.split("\t")
            rows[name] = (verdict, words)
    return rows


def judged(program, folder, case):
    done = subprocess.run([program, "check", *case["args"], "--format", "json"], cwd=folder, capture_output=True,
                          stdin=subprocess.DEVNULL, timeout=60, env={**os.environ, "NO_COLOR": "1"})
    named, said = [], ""
    if done.returncode in (0, 1):
        for block in json.loads(done.stdout)["page"]:
            if block["type"] == "prose" and not said:
                said = block["text"]
            if block.get("name") == "findings":
                for row in block["rows"]:
                    finding = row if isinstance(row, dict) else dict(zip(block["columns"], row))
                    named.append(finding["mistakes"])
    return done.returncode, named, said or done.stderr.decode().strip()


def names_first(named, words):
    """Whether the first finding names a mistake, or a pair, or all pairs of the words, in any order of findings."""
    wanted = [set(one.split("+")) for one in words.split()]
    found = [set(one.replace(" ", "").split("+")) for finding in named for one in finding]
    first = [set(one.replace(" ", "").split("+")) for one in (named[0] if named else [])]
    return any(one in wanted for one in first) and all(any(one <= other for other in found) for one in wanted)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("set")
    parser.add_argument("--program", default="attn")
    parser.add_argument("--folder")
    parser.add_argument("--one-in", type=int, default=1)
    options = parser.parse_args()
    for module in NEEDED.get(options.set, ["numpy"]):
        try:
            __import__(module)
        except ImportError as absent:
            print(f"skipped: the programs need {module} ({absent})")
            return 77
    folder = options.folder or tempfile.mkdtemp()
    program = os.path.abspath(options.program)
    words = [folder] + ([program] if options.set == "recorded" else [])
    subprocess.run([sys.executable, HERE / f"{options.set}.py", *words], check=True, stdout=subprocess.DEVNULL)
    cases = [case for case in json.loads((pathlib.Path(folder) / "cases.json").read_text()) if not case.get("error")]
    one_in = 1 if os.environ.get("ATTN_ALL_SEEDS") else options.one_in
    cases = cases[random.randrange(one_in)::one_in]
    rows, counts, lost = expected(), collections.Counter(), []
    with concurrent.futures.ThreadPoolExecutor(2) as pool:
        pages = list(pool.map(lambda case: judged(program, folder, case), cases))
    for case, (code, named, said) in zip(cases, pages):
        verdict, wanted = rows.get(case["id"], ("", ""))
        is_wrong = case["wrong"]
        if verdict == "otherwise":
            counts["judged otherwise, with a reason"] += 1
            is_well = code in (0, 1, 2)
        elif not is_wrong:
            counts["right, accepted" if code == 0 else "right, refused"] += 1
            is_well = code == 0
        elif verdict == "named":
            is_well = code in (0, 1) and names_first(named, wanted)
            counts["wrong, named first" if is_well else "wrong, no longer named"] += 1
        else:
            is_well = code == 1 and not any(named)
            counts["wrong, said to be unknown" if is_well else "wrong, named as another"] += 1
        if not is_well:
            lost.append(f"{case['id']}: {' and '.join(case.get('mistakes', [])) or 'right'}: {code}, {named}: {said}")
    for what, count in sorted(counts.items()):
        print(f"{what}: {count}")
    print("\n".join(lost))
    return 1 if lost else 0


sys.exit(main())
