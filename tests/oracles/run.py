#!/usr/bin/python3
"""Random problems of every kind, computed by attn and by oracles in NumPy, and every matrix compared by name.

    run.py [--program ATTN] [--cases N] [--seed N] [--only KIND] [--case N]

Every case depends on the seed and its number alone: `--seed S --case N` repeats one.
"""
import argparse
import os
import pathlib
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

try:
    import numpy as np
    import torch  # noqa: F401, the oracles of modules need it
except ImportError as absent:
    print(f"skipped: the oracles need python3-numpy and python3-torch ({absent})")
    sys.exit(77)

import alignments
import comparisons
import generation
import matrices
import models
import options as options_of_attn
import others
import problems
from drawing import Case

# What draws a case, and how often, of each kind.
KINDS = {"problems": (problems.draw, 24), "models": (models.draw, 12), "state": (models.draw_state_dictionary, 4),
         "generation": (generation.draw, 5), "align": (alignments.draw, 4),
         **{name: (draw, 1 if name in ("large", "embed", "cost") else 2)
            for name, draw in {**comparisons.KINDS, **others.KINDS}.items()}}


def run(program, folder, case, wanted):
    """What attn finds: matrices by name."""
    def answer(words, wanted):
        done = subprocess.run([program, *words, "--format", wanted], cwd=folder, capture_output=True,
                              stdin=subprocess.DEVNULL, timeout=60)
        if done.returncode != 0:
            raise matrices.Difference(f"exit code {done.returncode}: {done.stderr.decode()}")
        # What is random is a note beside a part of a page.
        said = [line for line in done.stderr.splitlines() if b"warning" not in line and b"not trained" not in line]
        if said:
            raise matrices.Difference(f"standard error: {b' '.join(said).decode()}")
        return done.stdout

    for name, content in case.files.items():
        (folder / name).write_bytes(content)
    words = case.words
    if case.again:
        (folder / "problem.json").write_bytes(answer(words, "json"))
        words = [words[0], "--problem", "problem.json"]
    content = answer(words, wanted)
    return case.read(content) if case.read else matrices.READERS[wanted](content)


def drawn(names, seed, number):
    """The case with this number, and its kind. What is drawn may be no problem of its kind: then it is drawn again."""
    attempt = 0
    while True:
        case = Case([seed, number, attempt])
        name = case.one_of(*names)
        with np.errstate(over="ignore"):
            kind = KINDS[name][0](case)
        if kind is not None:
            return kind, case
        attempt += 1


def main():
    parser = argparse.ArgumentParser()
    repository = pathlib.Path(__file__).resolve().parent.parent.parent
    parser.add_argument("--program", default=str(repository / "build" / "attn"))
    parser.add_argument("--cases", type=int, default=400)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="")
    parser.add_argument("--case", type=int)
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    print(f"seed {options.seed}", flush=True)
    unknown = options_of_attn.unknown(program)
    for sentence in unknown:
        print(sentence)
    used = {"--format"}
    names = [name for name, (_, share) in KINDS.items() for _ in range(share) if options.only in name]
    worst, counts, failed, compared, by_torch = {}, {}, 0, 0, 0
    numbers = range(options.cases) if options.case is None else [options.case]
    with tempfile.TemporaryDirectory(prefix="oracles-") as base:
        folder = pathlib.Path(base) / "case"
        for number in numbers:
            folder.mkdir()
            kind, case = drawn(names, options.seed, number)
            case.folder = folder
            used.update(word.partition("=")[0] for word in [*case.words, "--problem"] if word.startswith("--"))
            try:
                found = run(program, folder, case, "json" if case.read else case.one_of(*case.formats))
                if case.later:
                    case.later(found)
                far = matrices.compare(case.expected, found, case.unknown)
                compared += len(found)
                for check in case.checks:
                    with_torch = check()
                    if with_torch is not None:
                        by_torch += 1
                        far = max(far, with_torch)
            except matrices.Difference as difference:
                failed += 1
                kept = f"/tmp/oracle-{options.seed}-{number}"
                shutil.rmtree(kept, ignore_errors=True)
                shutil.copytree(folder, kept)
                print(f"\ncase {number} ({kind}): {difference}\n  cd {kept} && {shlex.join([program, *case.words])}\n"
                      f"  again: run.py --seed {options.seed} --case {number}" +
                      (f" --only {options.only}" if options.only else ""), flush=True)
                far = 0.0
            shutil.rmtree(folder)
            counts[kind] = counts.get(kind, 0) + 1
            worst[kind] = max(worst.get(kind, 0.0), far)
    print(f"\n{'kind':30} {'cases':>6}  largest difference")
    for kind in sorted(counts):
        print(f"{kind:30} {counts[kind]:6}  {worst[kind]:.2g}")
    print(f"{len(numbers)} cases, {compared} matrices, {by_torch} modules of PyTorch, {failed} failed")
    if len(numbers) >= 2000 and not options.only:
        unused = [option for option in options_of_attn.DRAWN if option not in used]
        if unused:
            unknown.append(f"no case has {', '.join(unused)}")
            print(unknown[-1])
    return 1 if failed or unknown else 0


sys.exit(main())
