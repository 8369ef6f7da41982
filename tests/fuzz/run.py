#!/usr/bin/env python3
"""Builds the fuzz targets and runs each for some seconds, from seeds that are new every time.

    tests/fuzz/run.py                          every target for 30 seconds, two at a time
    tests/fuzz/run.py --seconds 600 npy csv    these for ten minutes each
    tests/fuzz/run.py --corpus DIR             goes on with the cases that were found before, and keeps new ones

A finding is printed in base64 with the command that repeats it; the exit code is then 1. Needs clang and ninja.
"""

import argparse
import base64
import concurrent.futures
import os
import pathlib
import random
import re
import shlex
import subprocess
import sys
import tempfile

source = pathlib.Path(__file__).resolve().parents[2]
seeds = source / "tests/fuzz/seeds"

# What a target begins with, beside its own folder of seeds. A target that is none of these has that alone.
documents = [source / "README.md", source / "docs", source / "lessons"]
begins_with = {
    "any-file": [seeds / "npy", seeds / "npz", seeds / "safetensors", seeds / "json", seeds / "csv"],
    "tsv": [seeds / "csv"],
    "trace": [seeds / "json", seeds / "npz", seeds / "safetensors"],
    "comparison": [seeds / "npy", seeds / "npz", seeds / "safetensors", seeds / "json", seeds / "csv"],
    "problem": [source / "lessons/examples"],
    "model": [source / "lessons/models"],
    "alignment": [source / "lessons/align"],
    "document": documents,
    "markdown": documents,
    "lesson": [source / "lessons"],
    "puzzle": [source / "lessons/puzzles"],
    "drill": [source / "lessons/drills"],
    "terminal": [source / "lessons/01-soft-lookup.md"],
    "words": [source / "lessons/01-soft-lookup.md"],
    "gguf-words": [seeds / "gguf"],
    "text-to-cut": [source / "lessons/01-soft-lookup.md"],
}
# Larger cases take longer each and find no more, but a model has to be whole.
usual_size = 4096
sizes = {"model": 32768, "tokenizer": 16384, "sentence-piece": 16384, "alignment": 16384, "state": 32768}
limits = ["-timeout=25", "-rss_limit_mb=2048", "-malloc_limit_mb=512"]


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("targets", nargs="*", metavar="TARGET")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--jobs", type=int, default=2)
    parser.add_argument("--build", type=pathlib.Path, default=source / "build-sanitized")
    parser.add_argument("--corpus", type=pathlib.Path)
    parser.add_argument("--no-build", action="store_true", help="the targets are built already")
    return parser.parse_args()


def build(folder):
    options = ["-DCMAKE_CXX_COMPILER=clang++", "-DATTN_SANITIZE=ON", "-DATTN_FUZZ=ON"]
    subprocess.run(["cmake", "-S", source, "-B", folder, "-G", "Ninja", *options], check=True, stdout=subprocess.DEVNULL)
    subprocess.run(["cmake", "--build", folder, "--target", "attn", "attn_fuzz"], check=True)


def files(target):
    for place in [seeds / target, *begins_with.get(target, [])]:
        if place.is_file():
            yield place
        elif place.is_dir():
            yield from sorted(path for path in place.iterdir() if path.is_file())


def sections(path):
    """The sections of a document, each behind its front matter."""
    front, text = re.match(r"(---\n.*?^---\n)?(.*)", path.read_text(), re.M | re.S).groups()
    return [(front or "") + section for section in re.split(r"^(?=## |\*\*\*)", text, flags=re.M)]


def cases(target):
    """The bytes of the cases that a target begins with."""
    texts = []
    for path in files(target if target != "commands" else "document"):
        texts += [text.encode() for text in sections(path)] if path.suffix == ".md" else [path.read_bytes()]
    if target == "commands":
        texts = [block for text in texts for block in re.findall(rb"^```attn[^\n]*\n(.*?)^```", text, re.M | re.S)]
    return texts


def dictionary(target, program, place):
    """The words of a target's cases, and those of the program's help, for libFuzzer to put in."""
    text = b" ".join(cases(target))
    if target in ("commands", "drill", "lesson", "problem", "puzzle"):
        for command in ["help input", "help output", "walk --help", "generate --help", "help"]:
            text += subprocess.run([program, *command.split()], capture_output=True, check=True).stdout
    words = set(re.findall(rb"--[a-z-]+|[A-Za-z_<>|'\"`#-][\w<>|'\"`#-]{1,30}", text))
    lines = ['"' + "".join(f"\\x{byte:02x}" for byte in word) + '"' for word in sorted(words)]
    place.write_text("\n".join(lines) + "\n")


def last_number(pattern, text):
    found = re.findall(pattern, text)
    return int(found[-1]) if found else 0


def run(target, wanted, folder):
    """Runs a target. Returns what it did, and what it found as text for the reader."""
    place = folder / target
    place.mkdir()
    corpus = (wanted.corpus or folder / "corpus") / target
    corpus.mkdir(parents=True, exist_ok=True)
    begin = place / "begin"
    begin.mkdir()
    for i, case in enumerate(cases(target)):
        (begin / str(i)).write_bytes(case)
    dictionary(target, wanted.build / "attn", place / "words")
    seed = random.SystemRandom().randrange(1, 2**31)
    program = [str(wanted.build / "tests/fuzz/attn_fuzz"), f"--target={target}"]
    size = f"-max_len={sizes.get(target, usual_size)}"
    fuzz = [*limits, size, f"-seed={seed}", f"-max_total_time={wanted.seconds}", f"-dict={place / 'words'}",
            f"-artifact_prefix={place}/", "-print_final_stats=1"]  # fmt: skip
    environment = dict(os.environ, UBSAN_OPTIONS="print_stacktrace=1", TMPDIR=str(place))
    done = subprocess.run([*program, *fuzz, corpus, begin], capture_output=True, env=environment)
    log = done.stderr.decode(errors="replace")
    executions = last_number(r"stat::number_of_executed_units: (\d+)", log) or last_number(r"#(\d+)", log)
    edges = last_number(r"cov: (\d+)", log)
    print(f"{target:12} seed {seed:10} {executions:9} executions {edges:6} edges", flush=True)
    if done.returncode == 0:
        return ""
    report = f"\n== {target} found something\n" + "\n".join(log.splitlines()[-60:]) + "\n"
    for case in sorted(path for path in place.iterdir() if re.match("crash|leak|oom|timeout", path.name)):
        encoded = base64.b64encode(case.read_bytes()).decode()
        report += f"\nTo repeat it:\nbase64 -d > case <<< '{encoded}'\n{shlex.join([*program, *limits, 'case'])}\n"
    return report


def main():
    wanted = arguments()
    if not wanted.no_build:
        build(wanted.build)
    program = wanted.build / "tests/fuzz/attn_fuzz"
    every = subprocess.run([program, "--list"], capture_output=True, text=True, check=True).stdout.split()
    memory = "/dev/shm" if os.access("/dev/shm", os.W_OK) else None  # many cases are files
    with tempfile.TemporaryDirectory(prefix="attn-fuzz-", dir=memory) as folder:
        with concurrent.futures.ThreadPoolExecutor(wanted.jobs) as pool:
            chosen = wanted.targets or every
            findings = list(pool.map(lambda target: run(target, wanted, pathlib.Path(folder)), chosen))
    print("".join(findings), end="")
    print(f"{len(findings)} targets, {sum(map(bool, findings))} with a finding")
    return 1 if any(findings) else 0


if __name__ == "__main__":
    sys.exit(main())
