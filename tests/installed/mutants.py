#!/usr/bin/python3
"""Mutants: small valid files of all formats with some bits, bytes or parts changed, given to the program as it is
installed. Each is read, or refused: the exit code is 0, 1 or 2, no signal ends the program, and time and memory stay
bounded.

usage: mutants.py PROGRAM [--count N] [--seed S] [--only NAME] [--keep FOLDER]
"""
import argparse
import collections
import pathlib
import random
import sys
import tempfile

import files

MOST_SECONDS = 20  # of processors
MOST_KILOBYTES = 1 << 20
# What readers look for: sizes at their ends, and what closes or begins things in texts.
WHOLE = [0, 1, 0x7F, 0x80, 0xFF, 0x7FFF, 0x8000, 0xFFFF, 0x7FFFFFFF, 0x80000000, 0xFFFFFFFF, 2**63 - 1, 2**63, 2**64 - 1]
TEXTS = [b'"', b"{", b"}", b"[", b"]", b":", b",", b"\n", b"\0", b"\x1b", b"\xff", b"-1", b"1e999", b"NaN", b"null", b"[[[[[[[[",
         b"99999999999999999999", b"../", b"\\u0000", b"\xef\xbb\xbf", b"```\n"]


def mutant(data, draw):
    """One to four changes. Many are at the beginning, where headers are, or at the end, where directories are."""
    data = bytearray(data)

    def place():
        near = min(len(data), 64)
        where = draw.random()
        if not data:
            return 0
        if where < 0.3:
            return draw.randrange(near)
        return draw.randrange(len(data) - near, len(data)) if where < 0.5 else draw.randrange(len(data))

    def flip():
        if data:
            data[place()] ^= 1 << draw.randrange(8)

    def byte():
        if data:
            data[place()] = draw.randrange(256)

    def number():
        size = draw.choice([1, 2, 4, 8])
        at = place()
        data[at:at + size] = (draw.choice(WHOLE) % 256**size).to_bytes(size, draw.choice(["little", "big"]))

    def text():
        at = place()
        data[at:at + draw.randrange(3)] = draw.choice(TEXTS)

    def cut():
        del data[place():]

    def leave_out():
        at = place()
        del data[at:at + draw.randrange(1, 40)]

    def again():
        at = place()
        part = data[at:at + draw.randrange(1, 200)]
        data[at:at] = part * draw.randrange(1, 4)

    def move():
        at = place()
        part = data[at:at + draw.randrange(1, 40)]
        data[at:at + len(part)] = b""
        to = place()
        data[to:to] = part

    for _ in range(draw.randrange(1, 5)):
        draw.choice([flip, flip, flip, byte, number, text, cut, leave_out, again, move])()
    return bytes(data)


def complaint(finished):
    """What is wrong with an end; empty: nothing."""
    if finished.is_late:
        return f"it did not end within {files.SECONDS} seconds"
    if finished.signal is not None:
        return f"signal {finished.signal} ended it"
    if finished.code > 2:
        return f"exit code {finished.code}"
    if finished.processor > MOST_SECONDS:
        return f"it took {finished.processor:.1f} s of processors"
    if finished.kilobytes > MOST_KILOBYTES:
        return f"it took {finished.kilobytes} kB"
    if finished.code == 2 and not finished.errors.startswith("attn: "):
        return "no sentence says why"
    return ""


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("--count", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--only", default="", metavar="NAME", help="formats whose names have this word")
    parser.add_argument("--keep", type=pathlib.Path, metavar="FOLDER", help="what was found is written there")
    arguments = parser.parse_args()
    program = str(arguments.program.resolve())
    draw = random.Random(arguments.seed)
    codes = collections.Counter()
    slowest, largest, wrong = (0.0, ""), (0, ""), 0
    with tempfile.TemporaryDirectory() as folder:
        rows = [row for row in files.formats(program, pathlib.Path(folder)) if arguments.only in row[0].name]
        for number in range(arguments.count):
            row, place = rows[number % len(rows)]
            path = place / row.file
            whole = path.read_bytes()
            changed = mutant(whole, draw)
            path.write_bytes(changed)
            finished = files.run(program, row.command, place)
            path.write_bytes(whole)
            codes[finished.code] += 1
            slowest = max(slowest, (finished.processor, row.name))
            largest = max(largest, (finished.kilobytes, row.name))
            said = complaint(finished)
            if not said:
                continue
            wrong += 1
            print(f"mutant {number} (seed {arguments.seed}) of {row.name}: attn {' '.join(row.command)}: {said}"
                  f"\n{finished.errors[:300]}", flush=True)
            if arguments.keep:
                arguments.keep.mkdir(parents=True, exist_ok=True)
                (arguments.keep / f"{number}-{row.name}-{path.name}").write_bytes(changed)
    told = ", ".join(f"{count} × {code}" for code, count in sorted(codes.items(), key=str))
    print(f"{arguments.count} mutants of {len(rows)} formats (seed {arguments.seed}), exit codes: {told}; "
          f"slowest {slowest[0]:.1f} s ({slowest[1]}), largest {largest[0] // 1024} MB ({largest[1]}); {wrong} wrong")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
