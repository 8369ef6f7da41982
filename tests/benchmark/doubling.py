#!/usr/bin/env python3
"""What a reader takes when its input is doubled: whole processes of attn, by their processor time and their memory.

  tests/benchmark/doubling.py build/attn [--rounds N] [--only TEXT]

For each kind of file, and for tokenizers of strangers, the input is made once, and twice as large. Prints a table; the
exit code is 1 where time or memory grows by more than 2.5. What a process takes in any case is subtracted, and what is
below 50 ms or 10 MB is no verdict.
"""
import argparse
import json
import os
import struct
import subprocess
import sys
import tempfile
import zipfile
from pathlib import Path

MOST_GROWTH = 2.5
LEAST_SECONDS, LEAST_BYTES = 0.05, 10e6

BPE = {"type": "BPE", "vocab": {"a": 0, "b": 1, "ab": 2}, "merges": ["a b"]}


def process(words):
    """The processor time and the memory of a process, whether it refuses its input or not."""
    child = subprocess.Popen(words, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
    errors = child.stderr.read().decode()
    _, status, used = os.wait4(child.pid, 0)
    code = os.waitstatus_to_exitcode(status)
    if code not in (0, 2):
        sys.exit(f"{' '.join(words)}: exit code {code}: {errors}")
    return used.ru_utime + used.ru_stime, used.ru_maxrss * 1024, errors.strip() if code == 2 else ""


# --- inputs: each is written for a size, and returns the words of a command

def rows(size):
    return [[(i + 3 * j) % 1000 + 0.5 for j in range(100)] for i in range(size * 100)]


def as_csv(folder, size):
    path = folder / f"{size}.csv"
    path.write_text("\n".join(",".join(map(str, row)) for row in rows(size)) + "\n")
    return ["convert", str(path), str(folder / "out.npy")]


def as_json(folder, size):
    path = folder / f"{size}.json"
    path.write_text(json.dumps(rows(size)))
    return ["convert", str(path), str(folder / "out.npy")]


def npy_bytes(size):
    header = f"{{'descr': '<f8', 'fortran_order': False, 'shape': ({size * 100}, 100), }}".ljust(117) + "\n"
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + \
        b"".join(struct.pack("<100d", *row) for row in rows(size))


def as_npy(folder, size):
    path = folder / f"{size}.npy"
    path.write_bytes(npy_bytes(size))
    return ["convert", str(path), str(folder / "out.npy")]


def as_npz(folder, size):
    path = folder / f"{size}.npz"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("scores.npy", npy_bytes(size))
    return ["convert", str(path), str(folder / "out.npy")]


def as_safetensors(folder, size):
    path = folder / f"{size}.safetensors"
    data = b"".join(struct.pack("<100f", *row) for row in rows(size))
    header = json.dumps({"scores": {"dtype": "F32", "shape": [size * 100, 100], "data_offsets": [0, len(data)]}}).encode()
    path.write_bytes(struct.pack("<Q", len(header)) + header + data)
    return ["convert", str(path), str(folder / "out.npy")]


def as_pickle(folder, size):
    """Four matrices of 2×2, whose rows are far apart in compressed storages."""
    path, numbers = folder / f"{size}.pt", size * 12500
    text = lambda words: b"X" + struct.pack("<I", len(words)) + words.encode()
    state = b"\x80\x02}("
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for i, name in enumerate(("w_q", "w_k", "w_v", "w_o")):
            state += text(name) + b"ctorch._utils\n_rebuild_tensor_v2\n((" + text("storage") + \
                b"ctorch\nDoubleStorage\n" + text(str(i)) + text("cpu") + b"J" + struct.pack("<i", numbers) + \
                b"tQK\x00K\x02K\x02\x86J" + struct.pack("<i", numbers - 2) + b"K\x01\x86\x89ccollections\nOrderedDict\n)RtR"
            archive.writestr(f"p/data/{i}", bytes(8 * numbers))
        archive.writestr("p/data.pkl", state + b"u.")
    return ["walk", "--parameters", str(path), "--text", "a b", "--heads", "1"]


def tokenizer(text, **members):
    def write(folder, size):
        file, words = folder / f"{size}.tokenizer.json", folder / f"{size}.txt"
        file.write_text(json.dumps({"model": BPE, **{name: value(size) if callable(value) else value
                                                     for name, value in members.items()}}))
        words.write_text((text * (size * 1000))[:size * 1000])
        return ["tokenize", "--tokenizer", str(file), "--text-file", str(words), "--format", "csv"]
    return write


def split(expression):
    return {"type": "Split", "behavior": "Isolated", "pattern": {"Regex": expression}}


def replace(by):
    return {"type": "Replace", "pattern": {"String": "a"}, "content": by}


WORD_PIECE = {"type": "WordPiece", "unk_token": "b", "max_input_chars_per_word": 10 ** 7,
              "vocab": {"b": 0, "a": 1, "##a": 2}}
NESTED = {"type": "Unigram", "unk_id": 0, "vocab": [["<unk>", 0]] + [["a" * n, -n] for n in range(1, 501)]}


def learned(folder, size):
    path = folder / f"{size}.txt"
    path.write_text(" ".join(f"w{i * i % 99991}" for i in range(size * 150)))
    return ["tokenize", "--learn", "400", "--text-file", str(path)]


INPUTS = [
    ("CSV", as_csv, 100), ("JSON", as_json, 100), ("npy", as_npy, 200), ("npz", as_npz, 100),
    ("safetensors", as_safetensors, 200), ("compressed tensors", as_pickle, 100),
    (r"tokenizer: \p{L}+\d", tokenizer("a", pre_tokenizer=split(r"\p{L}+\d")), 50),
    (r"tokenizer: a*+\d", tokenizer("a", pre_tokenizer=split(r"a*+\d")), 50),
    (r"tokenizer: (?:a|b)*+\d", tokenizer("a", pre_tokenizer=split(r"(?:a|b)*+\d")), 50),
    (r"tokenizer: \w{1,1999}\d", tokenizer("a", pre_tokenizer=split(r"\w{1,1999}\d")), 50),
    ("tokenizer: a doubled again and again", tokenizer("a", normalizer={"type": "Sequence", "normalizers": [replace("aa")] * 40}), 100),
    ("tokenizer: a long replacement", tokenizer("a", normalizer=replace("b" * 10 ** 5)), 1000),
    ("tokenizer: WordPiece", tokenizer("a", model=WORD_PIECE), 500),
    ("tokenizer: nested pieces", tokenizer("a", model=NESTED), 20),
    ("tokenizer: one word", tokenizer("ab", ), 1000),
    ("tokenizer: words", tokenizer("ab ba abba "), 2000),
    ("tokenizer: learned", learned, 500),
]


def written(name, folder, size):
    """The words of a command. A process of its own writes its input: what is measured begins with the memory of this one."""
    made = subprocess.run([sys.executable, "-B", __file__, "--write", name, folder, str(size)], check=True,
                          stdout=subprocess.PIPE)
    return json.loads(made.stdout)


def main():
    if sys.argv[1:2] == ["--write"]:
        name, folder, size = sys.argv[2:]
        write = next(row[1] for row in INPUTS if row[0] == name)
        return print(json.dumps(write(Path(folder), int(size))))
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("program")
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    program = str(Path(options.program).resolve())
    least = [min(values) for values in zip(*(process([program, "tokenize"])[:2] for _ in range(options.rounds)))]
    print("| input | s | twice | times | MB | twice | times | ends with |\n| :--- | ---: | ---: | ---: | ---: | ---: | ---: | :--- |")
    is_bad = False
    for name, _, size in INPUTS:
        if options.only not in name:
            continue
        with tempfile.TemporaryDirectory() as folder:
            lines = [[program] + written(name, folder, size * times) for times in (1, 2)]
            taken = [[process(line) for _ in range(options.rounds)] for line in lines]
        ends_with = taken[1][0][2].removeprefix("attn: ")[:60].replace("|", "\\|")
        cells = []
        for what, unit, smallest in ((0, 1, LEAST_SECONDS), (1, 1e6, LEAST_BYTES)):
            once, twice = (max(min(one[what] for one in rounds) - least[what], 1e-9) for rounds in taken)
            growth = twice / once
            is_bad = is_bad or (growth > MOST_GROWTH and once >= smallest)
            cells += [f"{once / unit:.2f}", f"{twice / unit:.2f}", f"{growth:.1f}" if once >= smallest else "–"]
        print(f"| {name} | " + " | ".join(cells) + f" | {ends_with} |", flush=True)
    sys.exit(1 if is_bad else 0)


if __name__ == "__main__":
    main()
