#!/usr/bin/env python3
"""The same text everywhere: command lines with every kernel of OpenBLAS that this processor runs, with several numbers of
threads, in several locales, and with the program of another compiler.

    run.py [--program ATTN] [--other ATTN] [--lines N] [--longest SECONDS] [--seed N] [--only TEXT]

Text and Markdown must be the same bytes, and so must standard error and the exit code. In JSON all words must be the
same, and numbers may differ by 1e-12 of the largest number of their matrix, or of 1 where all of it is smaller: sums
of other kernels round differently, and a softmax turns what its scores have lost into weights of at most 1.

The command lines are those of the documents, of help, of the examples and of tests/recording/problems.txt; --lines
takes some of them at random, 0 all. What takes longer than --longest is left out.
"""
import argparse
import collections
import concurrent.futures
import contextlib
import json
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile
import time

REPOSITORY = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(REPOSITORY / "tests" / "recording"))
import command_lines  # noqa: E402
import recording  # noqa: E402

TOLERANCE = 1e-12
KERNELS = {  # and what a processor must be able to do
    "Prescott": "pni", "Core2": "ssse3", "Nehalem": "sse4_2", "Barcelona": "pni", "Sandybridge": "avx", "Haswell": "avx2",
    "Zen": "avx2", "SkylakeX": "avx512f", "Cooperlake": "avx512_bf16"}
LOCALES = ("C.UTF-8", "C", "de_DE.UTF-8", "tr_TR.UTF-8")
FORMATS = ("text", "markdown", "json")

Variant = collections.namedtuple("Variant", "name program variables words", defaults=({}, ""))


def answer(files, variant, line):
    """The exit code, standard output and standard error of a command line that writes no files."""
    step, = recording.steps_of(line + variant.words)
    fixed = {"HOME": str(files), "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color"}
    done = subprocess.run(step.words, executable=variant.program, cwd=files, stdin=subprocess.DEVNULL, capture_output=True,
                          env={**fixed, **variant.variables, **step.variables}, timeout=recording.SECONDS)
    return done.returncode, done.stdout, done.stderr


def with_locale(name, folder):
    """Variables that set the locale, which is made in the folder if the system can; or nothing."""
    language, _, _ = name.partition(".")
    if name not in ("C", "C.UTF-8"):
        with contextlib.suppress(OSError):
            subprocess.run(["localedef", "-i", language, "-f", "UTF-8", folder / name], stderr=subprocess.DEVNULL)
        if not (folder / name).is_dir():
            print(f"there is no locale {name} here: install the package locales")
            return None
    return {"LC_ALL": name, "LOCPATH": str(folder)}


def variants(program, other, folder):
    flags = set()
    with contextlib.suppress(OSError):
        flags = set(re.search(r"^flags\s*:(.*)$", pathlib.Path("/proc/cpuinfo").read_text(), re.MULTILINE)[1].split())
    for kernel, needed in KERNELS.items():
        if needed in flags:
            yield Variant(kernel, program, {"OPENBLAS_CORETYPE": kernel})
    for threads in (1, 2, 3, 8):
        yield Variant(f"{threads} threads", program, {}, f" --threads {threads}")
    yield Variant("threads of BLAS", program, {"OPENBLAS_NUM_THREADS": "3", "OMP_NUM_THREADS": "2"})
    folder.mkdir()
    for name in LOCALES:
        variables = with_locale(name, folder)
        if variables:
            yield Variant("locale " + name, program, variables)
    if other:
        yield Variant("the other program", other)


def lines_of(program, files):
    """The command lines, without what they write and without a format of their own."""
    found = {}
    def from_help():
        for name in command_lines.commands(program):
            for line in command_lines.output_of(program, name, "-h").splitlines():
                if line.startswith("  attn "):
                    yield line.strip()
    def of_examples():
        for name in command_lines.examples(program):
            yield from (f"attn walk --example {name}{options}" for options in
                        ("", " --causal", " --score gaussian", " --score additive", " --layers 2", " --transpose"))
    for source in (command_lines.in_documents(REPOSITORY), from_help(), command_lines.listed("problems.txt"), of_examples()):
        for line in source:
            line = re.sub(r" (-o|--output|--format|--save(-\w+)?)[ =]\S+", "", line)
            try:
                words = shlex.split(line)
            except ValueError:
                continue
            left_out = {"--measure", "lesson", "docs", "convert", "&&", ">", "<", "|", "--threads", "COMMAND",
                        "version", "--version", "complete"}  # what names the kernel, and what answers a shell
            if words[:1] == ["attn"] and not left_out & set(words) and command_lines.readable(line, files):
                found[line] = None
    return list(found)


def largest(numbers):
    """Of nested lists of numbers."""
    if isinstance(numbers, list):
        return max(map(largest, numbers), default=0.0)
    return abs(numbers) if isinstance(numbers, (int, float)) and not isinstance(numbers, bool) else 0.0


def farthest(one, two, scale=1.0):
    """The largest difference of numbers, relative to their matrix; infinite where words or shapes differ."""
    if isinstance(one, dict) and isinstance(two, dict) and one.keys() == two.keys():
        return max((farthest(one[key], two[key], scale) for key in one), default=0.0)
    if isinstance(one, list) and isinstance(two, list) and len(one) == len(two):
        inner = max(scale, largest(one)) if one and isinstance(one[0], (list, int, float)) else scale
        return max((farthest(x, y, inner) for x, y in zip(one, two)), default=0.0)
    if isinstance(one, (int, float)) and isinstance(two, (int, float)):
        return 0.0 if one == two else abs(one - two) / max(scale, abs(one))
    return 0.0 if one == two else float("inf")


def in_json(text):
    """What JSON says, or the text itself where it is none: it must then be the same text."""
    try:
        return json.loads(text)
    except ValueError:
        return text


class Comparison:
    def __init__(self, files, usual, others, longest):
        self.files, self.usual, self.others, self.longest = files, usual, others, longest

    def compare(self, line):
        """Of one command line: what differs, and by how much, for each variant and format; or nothing if it takes long."""
        told, far = [], {}
        begun = time.monotonic()
        answer(self.files, self.usual, line)
        if time.monotonic() - begun > self.longest:
            return None
        for format_name in FORMATS:
            written = f"{line} --format {format_name}"
            usual = answer(self.files, self.usual, written)
            in_ascii = answer(self.files, self.usual, written + " --ascii")
            for variant in self.others:
                expected = in_ascii if variant.variables.get("LC_ALL") == "C" else usual
                found = answer(self.files, variant, written)
                if expected == found:
                    far.setdefault(variant.name, 0.0)
                    continue
                if format_name == "json" and expected[0] == found[0] == 0:
                    distance = farthest(in_json(expected[1]), in_json(found[1]))
                    if distance <= TOLERANCE:
                        far[variant.name] = distance
                        continue
                told.append(self.difference(variant, written, expected, found))
        return told, far

    def difference(self, variant, written, expected, found):
        variables = "".join(f"{name}={value} " for name, value in variant.variables.items())
        lines = [f"{variant.name}: {variables}{variant.program} {written.removeprefix('attn ')}{variant.words}"]
        for name, before, after in zip(("exit code", "output", "errors"), expected, found):
            if before != after:
                lines += [f"  {name}: {before} {after}"] if name == "exit code" else [
                    f"  {name}: {place[:300]}" for place in recording.difference(before, after, False)]
        return "\n".join(lines)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(REPOSITORY / "build" / "attn"))
    parser.add_argument("--other", default="")
    parser.add_argument("--lines", type=int, default=40)
    parser.add_argument("--longest", type=float, default=0.3)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    program = os.path.abspath(options.program)
    source, begun = random.Random(options.seed), time.monotonic()
    print(f"seed {options.seed}", flush=True)
    with tempfile.TemporaryDirectory(prefix="kernels-") as base:
        files = recording.prepare(pathlib.Path(base) / "model")
        lines = [line for line in lines_of(program, files) if options.only in line]
        if options.lines and options.lines < len(lines):
            lines = source.sample(lines, options.lines)
        others = list(variants(program, os.path.abspath(options.other) if options.other else "",
                               pathlib.Path(base) / "locales"))
        comparison = Comparison(files, Variant("usual", program), others, options.longest)
        wrong, compared, most = 0, 0, {}
        with concurrent.futures.ThreadPoolExecutor(recording.WORKERS) as pool:
            for result in pool.map(comparison.compare, lines):
                if result is None:
                    continue
                told, far = result
                wrong, compared = wrong + len(told), compared + 1
                for line in told:
                    print(line, flush=True)
                for name, distance in far.items():
                    most[name] = max(most.get(name, 0.0), distance)
    for name, far in most.items():
        print(f"{name:24} JSON differs by {far:.2g} at most")
    print(f"{compared} of {len(lines)} command lines, {len(others)} variants, {compared * len(others) * len(FORMATS)} "
          f"comparisons, {wrong} differ, {time.monotonic() - begun:.0f} s")
    return 1 if wrong or not compared else 0


sys.exit(main())
