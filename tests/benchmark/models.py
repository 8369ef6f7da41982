#!/usr/bin/python3
"""A model of GPT-2 small's size that is read from a folder, in float32: attn beside PyTorch, as whole processes.

  models.py PROGRAM                 prints two Markdown tables

  --rounds N       each command runs so often (default 5)
  --only TEXT      only the rows whose label holds this text, such as "1 thread"
  --folder DIR     keeps the model there, or takes it from there
  --single         attn computes in single precision, as PyTorch does

The numbers of the model are random (torch_model.py), and its 498 MB are mapped by both. Its input has 64 words. In each
round every command runs once; attn and PyTorch take turns, on as many threads. Before that both write 32 words: where
these differ, the exit code is 1. Output goes to /dev/null. The goals are printed, not enforced.
"""

import argparse
import os
import pathlib
import re
import statistics
import subprocess
import sys
import tempfile

from whole_processes import PYTHON, Runs, count_of, milliseconds

TORCH = [PYTHON, str(pathlib.Path(__file__).with_name("torch_model.py"))]
WORDS, STEPS, KNOWN = 64, 32, 50257
IDS = " ".join(str(i * 7919 % KNOWN) for i in range(WORDS))
GOAL_RATIO, GOAL_MEMORY = 0.9, 1.2


def commands(program, folder, threads, single):
    """Each work with what attn and PyTorch are asked for."""
    options = ["--model", folder, "--target", IDS, "--threads", str(threads), *(["--single"] if single else [])]
    for steps, work in ((1, f"first word after {WORDS}"), (STEPS, f"{STEPS} words after {WORDS}")):
        yield work, [program, "generate", "--steps", str(steps), *options], [str(steps)]
    yield f"map of {WORDS} words", [program, "map", "decoder", *options], ["map"]


def rows(program, folder, single):
    for threads in (1, 2):
        for work, own, other in commands(program, folder, threads, single):
            torch = [*TORCH, *other, folder, str(threads), IDS]
            # What torch.set_num_threads does not reach.
            of_libraries = {f"{library}_NUM_THREADS": str(threads) for library in ("OMP", "OPENBLAS", "MKL")}
            yield f"{work}, {count_of(threads, 'thread')}", Runs(own), Runs(torch, of_libraries)


def require_same_words(program, folder, single):
    own, other = [(a, b) for work, a, b in commands(program, folder, 1, single)][1]
    said = subprocess.run(own, stdout=subprocess.PIPE, text=True, check=True).stdout
    written = re.search(r"Written: ([\d\s]+?)\n\n", said).group(1).split()
    said = subprocess.run([*TORCH, *other, folder, "1", IDS], stdout=subprocess.PIPE, text=True, check=True).stdout
    if written != [line.split()[0] for line in said.splitlines()]:
        sys.exit("attn and PyTorch write different words")


def print_times(measured):
    print("| whole process | attn, ms: best | median | of processors | PyTorch, ms: best | median | of processors | ratio: best | median | of processors | goal |")
    print(f"| :--- | {'---: | ' * 10}".rstrip())
    for label, *both in measured:
        figures = [(min(runs.seconds), statistics.median(runs.seconds), statistics.median(runs.of_processors)) for runs in both]
        cells = [label, *(milliseconds(figure) for three in figures for figure in three)]
        cells += [f"{own / other:.2f}" for own, other in zip(*figures)]
        print(f"| {' | '.join([*cells, f'≤ {GOAL_RATIO}'])} |")


def print_memory(measured, file_bytes):
    print("| peak memory | attn, MB | of the file | PyTorch, MB | of the file | goal |")
    print("| :--- | ---: | ---: | ---: | ---: | ---: |")
    for label, *both in measured:
        cells = [label]
        for runs in both:
            cells += [f"{max(runs.bytes) / 1e6:.0f}", f"{max(runs.bytes) / file_bytes:.2f}"]
        print(f"| {' | '.join([*cells, f'≤ {GOAL_MEMORY}'])} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    parser.add_argument("--folder")
    parser.add_argument("--single", action="store_true")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)

    with tempfile.TemporaryDirectory() as name:
        folder = arguments.folder or name
        file = pathlib.Path(folder) / "model.safetensors"
        if not file.exists():
            subprocess.run([*TORCH, "make", folder], check=True)
        measured = [row for row in rows(program, folder, arguments.single) if arguments.only in row[0]]
        require_same_words(program, folder, arguments.single)
        for number in range(1, arguments.rounds + 1):
            print(f"round {number} of {arguments.rounds}", file=sys.stderr)
            for _, *both in measured:
                for runs in both:
                    runs.run()
        print_times(measured)
        print()
        print_memory(measured, file.stat().st_size)


if __name__ == "__main__":
    main()
