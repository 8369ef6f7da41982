#!/usr/bin/python3
"""Whether the code that attn says makes a matrix does make it: each is run in NumPy.

    right_code.py PROGRAM [ROW…]

PROGRAM is attn_right_code (right_code_made.cpp), which says for each matrix of the problems of tests/mistake_problems.hpp
the code of src/school/check/right_code.cpp, with the matrices that its names stand for. A row of that table which no
problem runs fails. With ROW only its codes are run, and they are shown.
"""
import json
import subprocess
import sys

try:
    import numpy as np
except ImportError as absent:
    print(f"skipped: the oracles need python3-numpy ({absent})")
    sys.exit(77)

TOLERANCE = 1e-9
MOST_LINES, MOST_COLUMNS = 3, 110


def as_named(matrices, name):
    """What a name stands for, as someone has it who writes NumPy."""
    every = [np.array(matrices[str(number)], dtype=float) for number in name["of"]]
    if name["is"] == "ids":
        return every[0][:, 0].astype(int) - 1
    if name["is"] == "permissions":
        return every[0] != 0
    return np.stack(every) if len(every) > 1 else every[0]


def what_is_wrong(matrices, code):
    """A sentence on what is wrong with a code; None: nothing is."""
    lines = code["code"].split("\n")
    if len(lines) > MOST_LINES or max(map(len, lines)) > MOST_COLUMNS:
        return "it is too long"
    names = {name: as_named(matrices, of) for name, of in code["names"].items()}
    before = {name: x.copy() for name, x in names.items()}
    names["np"] = np
    right = np.array(matrices[str(code["made"])], dtype=float)
    with np.errstate(all="raise", under="ignore"):
        try:
            exec(code["code"], names)  # pylint: disable=exec-used
        except Exception as error:  # pylint: disable=broad-except
            return f"{type(error).__name__}: {error}"
    found = np.asarray(names[code["result"]], dtype=float)
    # Ids and losses have one axis in NumPy.
    if found.shape != right.shape and (found.ndim != 1 or found.size != right.size or right.shape[1] != 1):
        return f"it makes a matrix of {found.shape} and not of {right.shape}"
    if not np.allclose(found.reshape(right.shape), right, rtol=0, atol=TOLERANCE, equal_nan=True):
        return f"it makes\n{found}\nand not\n{right}"
    if any(name != code["result"] and not np.array_equal(names[name], x) for name, x in before.items()):
        return "it changes a matrix that was there"
    return None


def main():
    program, only = sys.argv[1], sys.argv[2:]
    answer = subprocess.run([program], stdout=subprocess.PIPE, text=True, check=True).stdout.splitlines()
    rows, run, failed, shown = json.loads(answer[0]), {}, 0, set()
    for line in answer[1:]:
        problem = json.loads(line)
        for code in problem["codes"]:
            if only and code["row"] not in only:
                continue
            run[code["row"]] = run.get(code["row"], 0) + 1
            wrong = what_is_wrong(problem["matrices"], code)
            failed += wrong is not None
            if wrong or (only and code["code"] not in shown):
                shown.add(code["code"])
                print(f"{problem['problem']}, {code['matrix']} ({code['row']}):\n{code['code']}\n{wrong or 'right'}\n")
    for row in only or rows:
        if row not in run:
            failed += 1
            print(f"{row}: no problem runs this row\n")
    for row in set(rows):
        if rows.count(row) > 1:
            failed += 1
            print(f"{row}: two rows have this name\n")
    print(f"{len(rows)} rows, {sum(run.values())} codes, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
