#!/usr/bin/python3
"""The program as it is installed: stripped, with the linker that the build has chosen. Its tables of unwinding lead every
exception through every function, a damaged file of each format is refused, and so are mutants of all of them.

usage: run.py --build FOLDER [--cmake CMAKE] [--mutants N] [--seed S] [--sanitized] [PROGRAM...]
       PROGRAM...    the same program linked in other ways, of which the tables are read as well
       --mutants N   so many of them (default: 3000)
       --sanitized   nothing is run, because sanitizers take more addresses than the limit of memory allows: they see
                     the readers by the tests and by the fuzz targets
"""
import argparse
import pathlib
import random
import subprocess
import sys
import tempfile

here = pathlib.Path(__file__).resolve().parent


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", required=True)
    parser.add_argument("--cmake", default="cmake")
    parser.add_argument("--mutants", type=int, default=3000)
    parser.add_argument("--seed", type=int, default=random.randrange(2**32))
    parser.add_argument("--sanitized", action="store_true")
    parser.add_argument("linked", nargs="*", metavar="PROGRAM")
    arguments = parser.parse_args()
    failed = False

    def step(script, *words):
        nonlocal failed
        print(f"== {script} {' '.join(map(str, words))}", flush=True)
        failed |= subprocess.run([sys.executable, here / script, *map(str, words)]).returncode != 0

    with tempfile.TemporaryDirectory() as prefix:
        subprocess.run([arguments.cmake, "--install", arguments.build, "--strip", "--prefix", prefix], check=True,
                       stdout=subprocess.DEVNULL)
        program, = pathlib.Path(prefix).glob("*bin/attn")
        step("unwind.py", program, *arguments.linked)
        if not arguments.sanitized:
            step("damaged.py", program)
            step("mutants.py", program, "--count", arguments.mutants, "--seed", arguments.seed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
