#!/usr/bin/env python3
"""A recording of all that attn says, and its replay against another build.

A rebuilding inside must not change what the program says. `record` runs a few thousand command lines with one
build and keeps standard output, standard error, the exit code and all files written, byte for byte. `compare`
runs the same command lines with another build and shows every difference:

  recording.py record PROGRAM FOLDER          run the command lines and keep what PROGRAM does in FOLDER
  recording.py compare PROGRAM FOLDER         run them again with PROGRAM; exit code 1 if anything differs

  --only TEXT      only the command lines that hold this text
  --kind NAME      only those of one kind: documents, lessons, help, examples, explained, tests, wrong, problems,
                   sequences
  --quick          every tenth command line
  --kernel NAME    only with this kernel of OpenBLAS; by default with Haswell and with Prescott, which round
                   differently, so that each has a recording of its own
  --diff           (compare) all lines that differ, instead of the first one
  --verbose        (compare) show also the differences that are intended

What has changed on purpose is listed in intended.txt, with its reason; `compare` counts it, and names the
entries that match no difference. FOLDER also keeps the files that the command lines read, so that a replay does
not depend on the documents of today. command_lines.py says where the command lines come from.

A command line is written as for a shell, but no shell runs it. It may have a few forms of a shell:
`NAME=VALUE attn …` sets a variable, `attn … < FILE` gives standard input, and `attn … && attn …` are steps that
leave files to each other. Each command line runs in a folder of its own, which is its home too, and which holds
the README, docs/, lessons/, tests/golden/ and the small files/ of small_files.py. What a terminal would show and
what is measured in seconds are not recorded.
"""

import argparse
import concurrent.futures
import contextlib
import difflib
import hashlib
import io
import json
import os
import queue
import re
import shlex
import shutil
import struct
import subprocess
import sys
import tempfile
import time
import zipfile
import zlib
from pathlib import Path

import command_lines
import small_files

HERE = Path(__file__).resolve().parent
REPOSITORY = HERE.parent.parent
KERNELS = ("Haswell", "Prescott")
SECONDS = 60  # that a step may take
WORKERS = 2
KEPT = 1 << 20  # bytes; of what is longer, only the size and the digest are kept


# Command lines

class Step:
    """One run of the program: its words, variables, and the file that is its standard input."""

    def __init__(self, words):
        self.variables = {}
        while words and re.match(r"[A-Z_]+=", words[0]):
            name, value = words.pop(0).split("=", 1)
            self.variables[name] = value
        self.input = words[-1] if words[-2:-1] == ["<"] else None
        self.words = words[:-2] if self.input else words


def steps_of(line):
    steps = [[]]
    for word in shlex.split(line):
        if word == "&&":
            steps.append([])
        else:
            steps[-1].append(word)
    return [Step(words) for words in steps]


# Running

class Room:
    """A folder with the files that command lines read. After each command line it is put in order again."""

    def __init__(self, model, folder):
        self.model, self.folder = model, folder
        shutil.copytree(model, folder)
        self.stamps = self.look()

    def look(self):
        """A stamp of each file and folder, which tells whether it was written."""
        stamps = {}
        for folder, folders, files in os.walk(self.folder):
            for name in files:
                path = os.path.join(folder, name)
                status = os.lstat(path)
                stamps[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
            for name in folders:
                stamps[os.path.join(folder, name)] = "folder"
        return stamps

    def environment(self, kernel, variables):
        fixed = {"HOME": self.folder, "PATH": "/usr/bin:/bin", "LC_ALL": "C.UTF-8", "TERM": "xterm-256color",
                 "OPENBLAS_CORETYPE": kernel}
        return {**fixed, **variables}

    def run(self, program, line, kernel):
        """What the command line does: its exit code, and the bytes of each part by name."""
        out, errors, code = b"", b"", 0
        for step in steps_of(line):
            with open(os.path.join(self.folder, step.input) if step.input else os.devnull, "rb") as given:
                try:
                    done = subprocess.run(step.words, executable=program, stdin=given, capture_output=True,
                                          cwd=self.folder, env=self.environment(kernel, step.variables),
                                          timeout=SECONDS)
                except subprocess.TimeoutExpired:
                    self.tidy()
                    return "timeout", {}
            out, errors, code = out + done.stdout, errors + done.stderr, done.returncode
            if code != 0:
                break
        parts = {"stdout": out, "stderr": errors}
        parts = {name: text.replace(self.folder.encode(), b"ROOM") for name, text in parts.items()}
        return code, {**parts, **self.tidy()}

    def tidy(self):
        """Puts the room in order, and returns the bytes of each file that was written."""
        found, written = self.look(), {}
        for path in sorted(set(found) | set(self.stamps)):
            if found.get(path) == self.stamps.get(path):
                continue
            name = os.path.relpath(path, self.folder)
            if found.get(path) == "folder":
                written["folder " + name] = b""
            elif path in found:
                written["file " + name] = Path(path).read_bytes()
            else:
                written["gone " + name] = b""
        for path in sorted(found, reverse=True):  # what is in a folder before the folder
            if path not in self.stamps:
                os.rmdir(path) if found[path] == "folder" else os.remove(path)
        for path, stamp in self.stamps.items():
            if found.get(path) != stamp and stamp != "folder":
                os.makedirs(os.path.dirname(path), exist_ok=True)
                shutil.copy2(os.path.join(self.model, os.path.relpath(path, self.folder)), path)
                status = os.lstat(path)
                self.stamps[path] = (status.st_mtime_ns, status.st_size, status.st_ino)
        return written


@contextlib.contextmanager
def rooms(model):
    """A function that runs command lines, several at a time, and gives line, code and parts of each in order."""
    with tempfile.TemporaryDirectory(prefix="recording-") as folder:
        free = queue.Queue()
        for number in range(WORKERS):
            free.put(Room(str(model), os.path.join(folder, f"room-{number}")))

        def run(program, line, kernel, use):
            room = free.get()
            try:
                return use(line, *room.run(program, line, kernel))
            finally:
                free.put(room)

        with concurrent.futures.ThreadPoolExecutor(WORKERS) as pool:
            yield lambda program, lines, kernel, use: pool.map(
                lambda line: run(program, line, kernel, use), lines)


# What is kept of a part

def with_arrays(parts):
    """The parts, and those that an .npz file consists of, one by one."""
    all_parts = {}
    for name, content in parts.items():
        if name.endswith(".npz") or (name == "stdout" and content[:2] == b"PK"):
            with contextlib.suppress(zipfile.BadZipFile), zipfile.ZipFile(io.BytesIO(content)) as archive:
                for member in archive.namelist():
                    all_parts[f"{name}: {member}"] = archive.read(member)
        all_parts[name] = content
    return all_parts


def mark_of(content):
    return f"{len(content)} {hashlib.sha256(content).hexdigest()}"


class Contents:
    """The bytes of all parts, each stored once under its digest."""

    def __init__(self, folder):
        self.folder = Path(folder) / "contents"

    def path(self, mark):
        digest = mark.split()[1]
        return self.folder / digest[:2] / digest

    def keep(self, content):
        mark = mark_of(content)
        path = self.path(mark)
        if len(content) <= KEPT and not path.exists():
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(zlib.compress(content, 1))
        return mark

    def find(self, mark):
        """The bytes, or nothing if they were too many to be kept."""
        path = self.path(mark)
        return zlib.decompress(path.read_bytes()) if path.exists() else None


# Recording

def chosen(lines, options):
    """The command lines, by kind, that the options choose."""
    every = 10 if options.quick else 1
    kept = [line for line in lines
            if options.only in line and options.kind in ("", lines[line])]
    return kept[::every]


def prepare(folder):
    """The files that command lines read, in a fresh folder."""
    shutil.rmtree(folder, ignore_errors=True)
    files = folder / "files"
    files.mkdir(parents=True)
    for name in ("README.md", "docs", "lessons", "tests/golden"):
        copy = shutil.copytree if (REPOSITORY / name).is_dir() else shutil.copy2
        (files / name).parent.mkdir(exist_ok=True)
        copy(REPOSITORY / name, files / name)
    small_files.write(files / "files")
    return files


def record(options):
    folder = Path(options.folder)
    files = prepare(folder)
    contents = Contents(folder)
    lines = command_lines.gathered(REPOSITORY, options.program, files)
    (folder / "lines.json").write_text(json.dumps(lines, indent=0, ensure_ascii=False))
    with rooms(files) as run:
        for kernel in options.kernels:
            began = time.monotonic()

            def keep(line, code, parts):
                return line, code, {name: contents.keep(part) for name, part in with_arrays(parts).items()}

            results = {}
            for line, code, parts in run(options.program, chosen(lines, options), kernel, keep):
                if code == "timeout":
                    print(f"left out, because it takes more than {SECONDS} s: {line}")
                else:
                    results[line] = {"code": code, "parts": parts}
            (folder / f"{kernel}.json").write_text(json.dumps(results, indent=0, ensure_ascii=False))
            print(f"{kernel}: {len(results)} command lines in {time.monotonic() - began:.0f} s")
    for kind in sorted(set(lines.values())):
        print(f"  {sum(1 for line in results if lines[line] == kind):5}  {kind}")


# Comparing

class Intended:
    """The differences that are intended: patterns of command lines, each with its reason."""

    def __init__(self, path):
        self.entries = []
        for line in path.read_text().splitlines():
            if line.strip() and not line.startswith("#"):
                pattern, _, reason = line.partition("  =>  ")
                if not reason.strip():
                    sys.exit(f"{path}: an entry needs '  =>  ' and a reason: {line}")
                self.entries.append([re.compile(pattern.strip()), reason.strip(), 0])

    def reason(self, line):
        """The reason why this command line may differ, if there is one."""
        reasons = []
        for entry in self.entries:
            if entry[0].search(line):
                entry[2] += 1
                reasons.append(entry[1])
        return "; ".join(reasons)

    def idle(self):
        return [pattern.pattern for pattern, _, count in self.entries if count == 0]


def numbers_of(npy):
    """The header and the numbers of a .npy file of doubles."""
    begin = 10 + struct.unpack_from("<H", npy, 8)[0]
    return npy[:begin], [repr(number) for number, in struct.iter_unpack("<d", npy[begin:])]


def difference(before, after, whole):
    """Where two contents differ first, or all the lines that differ."""
    if before is None:
        return ["too long for the recording to show where"]
    if before[:6] == after[:6] == b"\x93NUMPY":
        with contextlib.suppress(struct.error):
            (header, left), (other_header, right) = numbers_of(before), numbers_of(after)
            if header != other_header:
                return [f"before: {header!r}", f"after:  {other_header!r}"]
            unequal = [i for i, (one, other) in enumerate(zip(left, right)) if one != other]
            return [f"{len(unequal)} of {len(left)} numbers; number {unequal[0] + 1}:",
                    f"before: {left[unequal[0]]}", f"after:  {right[unequal[0]]}"]
    left = before.decode(errors="backslashreplace").split("\n")
    right = after.decode(errors="backslashreplace").split("\n")
    if whole:
        return list(difflib.unified_diff(left, right, "before", "after", lineterm="", n=1))
    place = next((i for i, (one, other) in enumerate(zip(left, right)) if one != other),
                 min(len(left), len(right)))
    shown = [lines[place] if place < len(lines) else "(no more lines)" for lines in (left, right)]
    return [f"line {place + 1}", f"before: {shown[0]}", f"after:  {shown[1]}"]


def differences(old, code, parts, contents, whole):
    """The differences of one command line, as lines to show."""
    told = []
    if old["code"] != code:
        told.append(f"exit code: {old['code']} before, {code} after")
    explained = set()  # files of which an array is already shown to differ
    for name in sorted(set(old["parts"]) | set(parts), key=lambda name: (": " not in name, name)):
        mark = old["parts"].get(name)
        if name not in parts:
            told.append(f"{name}: is no longer there")
        elif mark is None:
            told.append(f"{name}: is new")
        elif mark != mark_of(parts[name]) and name not in explained:
            told.append(f"{name}:")
            told += ["  " + line for line in difference(contents.find(mark), parts[name], whole)]
        else:
            continue
        explained.add(name.split(": ")[0])
    return told


def compare(options):
    folder = Path(options.folder)
    contents, intended = Contents(folder), Intended(HERE / "intended.txt")
    lines = json.loads((folder / "lines.json").read_text())
    began, compared, unexpected, expected = time.monotonic(), 0, 0, 0
    with rooms(folder / "files") as run:
        for kernel in options.kernels:
            recorded = json.loads((folder / f"{kernel}.json").read_text())

            def tell(line, code, parts):
                return line, differences(recorded[line], code, with_arrays(parts), contents, options.diff)

            replayed = [line for line in chosen(lines, options) if line in recorded]
            for line, told in run(options.program, replayed, kernel, tell):
                compared += 1
                if not told:
                    continue
                reason = intended.reason(line)
                expected += bool(reason)
                unexpected += not reason
                if not reason or options.verbose:
                    print(f"{kernel}: {line}" + (f"\n  intended: {reason}" if reason else ""))
                    print("".join(f"  {text}\n" for text in told), flush=True)
    for pattern in intended.idle():
        print(f"intended.txt: matches no difference: {pattern}")
    print(f"{compared} command lines in {time.monotonic() - began:.0f} s: "
          f"{unexpected} differ, {expected} more differ as intended.")
    return 1 if unexpected else 0


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("action", choices=("record", "compare"))
    parser.add_argument("program")
    parser.add_argument("folder")
    parser.add_argument("--only", default="", metavar="TEXT")
    parser.add_argument("--kind", default="", metavar="NAME")
    parser.add_argument("--kernel", dest="kernels", type=lambda name: [name], default=KERNELS, metavar="NAME")
    for switch in ("--quick", "--diff", "--verbose"):
        parser.add_argument(switch, action="store_true")
    options = parser.parse_args()
    options.program = os.path.abspath(options.program)
    return record(options) if options.action == "record" else compare(options)


if __name__ == "__main__":
    sys.exit(main())
