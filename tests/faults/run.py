#!/usr/bin/env python3
"""Faults on purpose: for a list of commands the n-th call of each kind fails, for n = 1, 2, 3 … until there is no n-th.

    run.py [--program ATTN] [--shim LIBRARY] [--calls N] [--seed N] [--only TEXT] [--kind NAME] [--seconds S]

Whatever fails, each file is the old one or the new one, whole; no other file is left; the exit code is 0 where the
fault was survived and all is as without it, and otherwise 1 for output or 2 for input and memory, with one line on
standard error that begins with `attn: `. A call that is interrupted, and a write that takes a part of the bytes, is no
fault at all: both must be survived.

Of the kinds with many calls (memory), --calls chooses some at random; 0 takes all.
"""
import argparse
import errno
import os
import pathlib
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
import time

HERE = pathlib.Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent

SECONDS = 10  # that a run may take

# Each kind of call: its errors, and the exit codes that a fault may end with, beside 0 for one that is survived.
KINDS = {
    "memory": ([errno.ENOMEM], {1, 2}),
    "map": ([errno.ENOMEM], {1, 2}),
    "thread": ([errno.EAGAIN], set()),
    "open": ([errno.EACCES, errno.EMFILE], {1, 2}),
    "read": ([errno.EIO], {1, 2}),
    "write": ([errno.ENOSPC, errno.EIO], {1}),
    "sync": ([errno.EIO, errno.ENOSPC], {1}),
    "close": ([errno.EIO], {1, 2}),
    "rename": ([errno.EACCES, errno.EIO], {1}),
    "truncate": ([errno.EIO], {1}),
    "folder": ([errno.EACCES, errno.ENOSPC], {1}),
    "lock": ([errno.ENOLCK], {1}),
    "mode": ([errno.EPERM], {1}),
}

# Command lines, with the files that they write; these stand there before, or are new.
COMMANDS = [
    ("walk --example animal -o walk.txt", ["walk.txt"]),
    ("walk -o walk.md", ["walk.md"]),
    ("walk --example animal -o walk.csv", ["walk.csv"]),
    ("walk -o walk.json", ["walk.json"]),
    ("walk -o walk.npz", ["walk.npz"]),
    ("walk -o walk.safetensors", ["walk.safetensors"]),
    ("walk --only weights -o weights.npy", ["weights.npy"]),
    ("walk --example animal", []),
    ("walk --n-q 700 --n-k 700 --d-k 32 --heads 2 --only output -o large.npy", ["large.npy"]),
    ("softmax --scores 1,2", []),
    ("walk --q in.npz:q --k in.safetensors:k --v in.csv", []),
    ("walk --problem problem.json", []),
    ("explain output[1,1] --depth 9", []),
    ("show trace.json", []),
    ("show trace.npz --only weights", []),
    ("convert in.csv out.npy", ["out.npy"]),
    ("convert in.npz out.json --key q", ["out.json"]),
    ("parameters --seed 2 --save-parameters model.npz", ["model.npz"]),
    ("transformer --seed 2 --save-parameters model.safetensors -o page.md", ["model.safetensors", "page.md"]),
    ("transformer --parameters parameters.npz --heads 2", []),
    ("generate --steps 3", []),
    ("docs update document.md second.md", ["document.md", "second.md"]),
    ("docs check document.md", []),
    ("lesson run 1 --answers answers.txt --state state.json", ["state.json"]),
    ("lesson export 1 lesson.html", ["lesson.html"]),
    ("help walk -o help.txt", ["help.txt"]),
]

DOCUMENT = """# A document

```attn
attn softmax
```

```attn
attn scale --scores '1 2' --scale 2
```
"""


class Room:
    """A folder with all that the command lines read, as it is before each of them."""

    def __init__(self, program, folder):
        self.program, self.folder, self.before = program, folder, {}
        folder.mkdir()
        (folder / "document.md").write_text(DOCUMENT)
        (folder / "second.md").write_text(DOCUMENT.replace("softmax", "walk"))
        (folder / "in.csv").write_text("1,2\n3,4\n")
        for line in ("walk --q '1 2;3 4' --k '1 0;0 1' --v '1;2' -o in.npz", "walk --n-q 2 --n-k 2 --d-k 2 -o in.safetensors",
                     "walk -o trace.json", "walk -o trace.npz", "walk --text 'a b' -o problem.json",
                     "parameters --seed 1 --save-parameters parameters.npz", "lesson run 1 --no-input -o whole.txt"):
            self.run(line).check_returncode()
        (folder / "answers.txt").write_text("1\n" * 40)
        for path in folder.iterdir():
            self.before[path.name] = path.read_bytes()

    def run(self, line, **variables):
        # OpenBLAS's kernels for AVX-512 ask for memory while they multiply small matrices, and do not look at the answer.
        environment = {"PATH": "/usr/bin:/bin", "HOME": str(self.folder), "LC_ALL": "C.UTF-8", "TERM": "dumb",
                       "OPENBLAS_CORETYPE": "Haswell", **variables}
        return subprocess.run(shlex.split("attn " + line), executable=self.program, cwd=self.folder, env=environment,
                              stdin=subprocess.DEVNULL, capture_output=True, timeout=SECONDS)

    def tidy(self, old):
        """Puts the folder in order; the files of `old` stand there as well."""
        wanted = {**self.before, **old}
        for path in list(self.folder.iterdir()):
            if path.is_dir():
                shutil.rmtree(path)
            elif path.name not in wanted:
                path.unlink()
            elif path.stat().st_size != len(wanted[path.name]) or path.read_bytes() != wanted[path.name]:
                path.write_bytes(wanted[path.name])
        for name, content in wanted.items():
            if not (self.folder / name).exists():
                (self.folder / name).write_bytes(content)

    def files(self):
        return {path.name: path.read_bytes() for path in self.folder.iterdir() if path.is_file()}


class Trial:
    """One command line in a room: without a fault, and with one after the other."""

    def __init__(self, room, shim, line, written, is_new):
        self.room, self.shim, self.line, self.written = room, shim, line, written
        self.old = {name: room.before.get(name, b"old\n") for name in written} if not is_new else {}
        if any(name in room.before for name in written):
            self.old = {name: room.before[name] for name in written if name in room.before}
        if "state.json" in written:
            self.old = {}
        self.reached = room.folder.parent / "reached"
        room.tidy(self.old)
        self.right = room.run(line)
        self.new = room.files()

    def run(self, fault):
        self.room.tidy(self.old)
        self.reached.unlink(missing_ok=True)
        return self.room.run(self.line, FAULT=fault, FAULT_REACHED=str(self.reached), LD_PRELOAD=self.shim)

    def count(self, kind):
        """How many calls of this kind there are."""
        done = self.run(f"{kind}:0:0")
        return self.reached.stat().st_size if self.reached.exists() and done.returncode == self.right.returncode else 0

    def wrong(self, kind, number, error):
        """What is wrong after this fault, or nothing."""
        try:
            done = self.run(f"{kind}:{number}:{error}")
        except subprocess.TimeoutExpired:
            return "does not end"
        if not self.reached.exists():
            return ""
        files = self.room.files()
        left = sorted(set(files) - set(self.new) - set(self.old))
        if left:
            return f"{left} left behind"
        as_new = all(files.get(name) == self.new.get(name) for name in self.written)
        for name in self.written:
            if files.get(name) not in (self.old.get(name), self.new.get(name)):
                return f"{name} is neither the old nor the new one"
        changed = [name for name in self.room.before if name not in self.written and files.get(name) != self.room.before[name]]
        if changed:
            return f"{changed} changed"
        if done.returncode < 0:
            return f"signal {-done.returncode}: {done.stderr.decode(errors='replace')}"
        if done.returncode == self.right.returncode and done.stderr == self.right.stderr:
            same = as_new and done.stdout == self.right.stdout
            return "" if same else f"exit code {done.returncode}, and the output is another"
        if done.returncode not in KINDS.get(kind, ([], set()))[1]:
            survived = done.returncode == self.right.returncode and as_new and done.stdout == self.right.stdout
            warned = all(line.startswith(b"attn: warning: ") for line in done.stderr.splitlines())
            if survived and warned:
                return ""
            return f"exit code {done.returncode}: {done.stderr.decode(errors='replace')}"
        complaints = [line for line in done.stderr.splitlines() if not line.startswith(b"attn: warning: ")]
        if len(complaints) != 1 or not complaints[0].startswith(b"attn: "):
            return f"standard error: {done.stderr.decode(errors='replace')!r}"
        if kind in ("memory", "map") and b"memory" not in complaints[0]:
            return f"the sentence does not speak of memory: {complaints[0].decode()}"
        return ""


def chosen(calls, most, source):
    return range(1, calls + 1) if not most or calls <= most else sorted(source.sample(range(1, calls + 1), most))


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--program", default=str(REPOSITORY / "build" / "attn"))
    parser.add_argument("--shim", default=str(REPOSITORY / "build" / "tests" / "faults" / "libfaults.so"))
    parser.add_argument("--calls", type=int, default=12)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--only", default="")
    parser.add_argument("--kind", default="")
    options = parser.parse_args()
    source = random.Random(options.seed)
    print(f"seed {options.seed}", flush=True)
    failed, trials, begun = 0, {}, time.monotonic()
    with tempfile.TemporaryDirectory(prefix="faults-") as base:
        room = Room(os.path.abspath(options.program), pathlib.Path(base) / "room")
        for i, (line, written) in enumerate(COMMANDS):
            if options.only not in line:
                continue
            trial = Trial(room, os.path.abspath(options.shim), line, written, is_new=i % 2 == 1)
            for kind, (errors, _) in KINDS.items():
                if options.kind not in ("", kind):
                    continue
                for number in chosen(trial.count(kind), options.calls, source):
                    for error in errors if len(errors) > 1 and number < 50 else errors[:1]:
                        failed += told(trial, kind, number, error, trials)
            for kind, numbers in (("short", (5, 1000)), ("again", (2, 3, 5))):
                for number in numbers if options.kind in ("", kind) else ():
                    failed += told(trial, kind, number, 0, trials)
    print("  ".join(f"{kind} {count}" for kind, count in trials.items()))
    print(f"{sum(trials.values())} faults, {failed} of them wrong, in {time.monotonic() - begun:.0f} s")
    return 1 if failed or not trials else 0


def told(trial, kind, number, error, trials):
    trials[kind] = trials.get(kind, 0) + 1
    wrong = trial.wrong(kind, number, error)
    if wrong:
        print(f"attn {trial.line}\n  FAULT={kind}:{number}:{error}: {wrong.strip()[:600]}", flush=True)
    return bool(wrong)


sys.exit(main())
