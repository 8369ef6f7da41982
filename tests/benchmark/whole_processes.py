#!/usr/bin/python3
"""Time and memory of whole processes, from their start to their end: attn, and NumPy with the same work.

  whole_processes.py PROGRAM                 prints three Markdown tables

  --rounds N       each command runs so often (default 5)
  --only TEXT      only the rows whose label holds this text, such as "n = 1024"

In each round every command runs once. attn and NumPy take turns, with the same input and as many threads. Before that
attn's result is compared with NumPy's: where they differ by more than 1e-9, the exit code is 1. Output goes to
/dev/null. The goals are printed, not enforced.
"""

import argparse
import array
import dataclasses
import os
import pathlib
import random
import statistics
import subprocess
import sys
import tempfile
import time

D_MODEL, HEADS = 512, 8
LARGEST_DIFFERENCE = 1e-9
# Debian's NumPy belongs to Debian's python3, which need not be the first one on the path. This process does not import
# it, and stays small: the peak that Linux reports for a child is at least that of its parent.
PYTHON = "/usr/bin/python3"
NUMPY = [PYTHON, str(pathlib.Path(__file__).with_name("numpy_attention.py"))]


@dataclasses.dataclass
class Runs:
    """What some runs of one command took: seconds from start to end and of processors, and the largest resident memory
    in bytes."""

    command: list
    environment: dict = dataclasses.field(default_factory=dict)
    seconds: list = dataclasses.field(default_factory=list)
    of_processors: list = dataclasses.field(default_factory=list)
    bytes: list = dataclasses.field(default_factory=list)

    def run(self):
        begin = time.perf_counter()
        process = os.posix_spawn(
            self.command[0],
            self.command,
            {**os.environ, **self.environment},
            file_actions=[(os.POSIX_SPAWN_OPEN, 1, os.devnull, os.O_WRONLY, 0)],
        )
        _, status, usage = os.wait4(process, 0)
        self.seconds.append(time.perf_counter() - begin)
        self.of_processors.append(usage.ru_utime + usage.ru_stime)
        self.bytes.append(usage.ru_maxrss * 1024)
        if status != 0:
            sys.exit(f"failed: {' '.join(self.command)}")


@dataclasses.dataclass
class Row:
    """One line of the tables. Goals are None where there is none."""

    work: str
    attn: Runs
    numpy: Runs | None = None
    threads: int | None = None
    n: int | None = None  # tokens in X.npy
    goal_ratio: float | None = None
    goal_milliseconds: float | None = None
    goal_megabytes: float | None = None

    @property
    def label(self):
        return self.work if self.threads is None else f"{self.work}, {count_of(self.threads, 'thread')}"


def count_of(count, noun):
    return f"{count} {noun}{'s' if count > 1 else ''}"


def write_x(path, n):
    """X.npy: [n, d_model] of random numbers of variance 1."""
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({n}, {D_MODEL}), }}"
    header = header.ljust(-(len(header) + 11) % 64 + len(header)) + "\n"
    generator, limit = random.Random(n), 3**0.5
    with open(path, "wb") as file:
        file.write(b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode("latin1"))
        for _ in range(n):  # row by row: this process stays small
            array.array("d", (generator.uniform(-limit, limit) for _ in range(D_MODEL))).tofile(file)


def rows(program, folder):
    yield Row(
        "attn walk; python3 -c 'import numpy'",
        Runs([program, "walk"]),
        Runs([PYTHON, "-c", "import numpy"]),
        goal_milliseconds=3,
    )
    goals = {(1024, 1): 0.75, (4096, 1): 0.75, (1024, 2): 0.45, (4096, 2): 0.45}
    megabytes = {4096: 250, 16384: 1000}
    for n in (128, 512, 1024, 4096, 16384):
        x = str(folder / f"x{n}.npy")
        for threads in (1, 2):
            walk = [program, "walk", "--x", x, "--heads", str(HEADS), "--seed", "1", "--only", "output"]
            attn = Runs([*walk, "--threads", str(threads)])
            # One head's weights would take 2 GiB.
            numpy = Runs([*NUMPY, x, str(HEADS)], {"OPENBLAS_NUM_THREADS": str(threads)}) if n < 16384 else None
            yield Row(
                f"n = {n}",
                attn,
                numpy,
                threads,
                n,
                goals.get((n, threads)),
                goal_megabytes=megabytes.get(n),
            )
    models = {
        f"encoder of {count_of(layers, 'layer')}, n = 512": f"encoder --size base --layers {layers} --n 512 --only output"
        for layers in (1, 6, 24)
    }
    models |= {f"base Transformer, n = {n}": f"transformer --size base --n {n} --only decoder.output" for n in (64, 512)}
    for work, command in models.items():
        for threads in (1, 2):
            yield Row(work, Runs([program, *command.split(), "--threads", str(threads)]), threads=threads)


def require_same_results(program, folder, n):
    x, result = str(folder / f"x{n}.npy"), str(folder / "result.npz")
    walk = [program, "walk", "--x", x, "--heads", str(HEADS), "--seed", "1", "--format", "npz"]
    with open(result, "wb") as file:
        subprocess.run([*walk, "--only", "w_q|w_k|w_v|w_o|output"], stdout=file, check=True)
    said = subprocess.run([*NUMPY, x, str(HEADS), result], stdout=subprocess.PIPE, text=True, check=True)
    print(f"n = {n}: largest difference {float(said.stdout):.1e}", file=sys.stderr)
    if not float(said.stdout) <= LARGEST_DIFFERENCE:
        sys.exit(f"n = {n}: attn and NumPy differ by more than {LARGEST_DIFFERENCE:.0e}")


def milliseconds(seconds):
    return f"{seconds * 1e3:.1f}" if seconds < 0.1 else f"{seconds * 1e3:.0f}"


def megabytes(runs):
    return f"{max(runs.bytes) / 1e6:.0f}" if runs else ""


def at_most(goal, unit=""):
    return "" if goal is None else f"≤ {goal:g}{unit}"


def print_times(measured):
    print("| whole process | attn, ms: best | median | NumPy, ms: best | median | ratio: best | median | goal |")
    print("| :--- | ---: | ---: | ---: | ---: | ---: | ---: | ---: |")
    for row in measured:
        cells = [row.label]
        figures = [(min(runs.seconds), statistics.median(runs.seconds)) for runs in (row.attn, row.numpy) if runs]
        cells += [milliseconds(figure) for pair in figures for figure in pair]
        if row.numpy:
            cells += [f"{own / other:.2f}" for own, other in zip(*figures)]
        else:
            cells += [""] * 4
        cells.append(at_most(row.goal_ratio) or at_most(row.goal_milliseconds, " ms"))
        print(f"| {' | '.join(cells)} |")


def print_memory(measured):
    print("| peak memory | attn, MB | NumPy, MB | ratio | goal, MB |")
    print("| :--- | ---: | ---: | ---: | ---: |")
    for row in measured:
        ratio = f"{max(row.attn.bytes) / max(row.numpy.bytes):.2f}" if row.numpy else ""
        cells = [row.label, megabytes(row.attn), megabytes(row.numpy), ratio, at_most(row.goal_megabytes)]
        print(f"| {' | '.join(cells)} |")


def print_expected(measured):
    """What a size takes, on as many threads as were measured."""
    counts = sorted({row.threads for row in measured if row.threads})
    if not counts:
        return
    columns = [f"{count_of(count, 'thread')}, ms" for count in counts]
    print(f"| work | {' | '.join(columns)} | memory, MB |")
    print(f"| :--- | {'---: | ' * (len(counts) + 1)}".rstrip())
    for work in dict.fromkeys(row.work for row in measured if row.threads):
        by_count = {row.threads: row.attn for row in measured if row.work == work}
        times = [milliseconds(statistics.median(by_count[count].seconds)) for count in counts]
        most = max(by_count.values(), key=lambda runs: max(runs.bytes))
        print(f"| {work} | {' | '.join(times)} | {megabytes(most)} |")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--only", default="")
    arguments = parser.parse_args()
    program = os.path.abspath(arguments.program)

    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        measured = [row for row in rows(program, folder) if arguments.only in row.label]
        for n in dict.fromkeys(row.n for row in measured if row.n):
            write_x(folder / f"x{n}.npy", n)
        for n in dict.fromkeys(row.n for row in measured if row.n and row.numpy):
            require_same_results(program, folder, n)
        for number in range(1, arguments.rounds + 1):
            print(f"round {number} of {arguments.rounds}", file=sys.stderr)
            for row in measured:
                for runs in (row.attn, row.numpy):
                    if runs:
                        runs.run()
    print_expected(measured)
    print()
    print_times(measured)
    print()
    print_memory(measured)


if __name__ == "__main__":
    main()
