#!/usr/bin/python3
"""A damaged file of each format is refused with one sentence and exit code 2, by the program as it is installed.

usage: damaged.py PROGRAM
"""
import pathlib
import sys
import tempfile

import files


def complaint(program, row, place):
    """What is wrong with how one format is read; empty: nothing."""
    path = place / row.file
    whole = path.read_bytes()
    valid = files.run(program, row.command, place)
    if valid.code not in row.codes:
        return f"the valid file gives {valid.code or valid.signal}: {valid.errors}"
    path.write_bytes(row.damage(whole))
    refused = files.run(program, row.command, place)
    path.write_bytes(whole)
    is_one_sentence = refused.errors.startswith("attn: ") and refused.errors.count("\n") == 1
    if refused.code != 2 or not is_one_sentence:
        return f"the damaged file gives {refused.code or refused.signal}: {refused.errors}"
    return ""


def main():
    program = str(pathlib.Path(sys.argv[1]).resolve())
    wrong = 0
    with tempfile.TemporaryDirectory() as folder:
        rows = files.formats(program, pathlib.Path(folder))
        for row, place in rows:
            said = complaint(program, row, place)
            if said:
                wrong += 1
                print(f"{row.name}: attn {' '.join(row.command)}: {said}")
    print(f"{len(rows)} damaged files, {wrong} of them not refused in one sentence with exit code 2")
    return 1 if wrong or len(rows) < 50 else 0


if __name__ == "__main__":
    sys.exit(main())
