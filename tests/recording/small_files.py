"""The small files that recorded command lines read: matrices in each format, parameters, models, documents.

They are written byte by byte here, not by attn, so that they are the same whatever attn does.
"""

import json
import random
import struct
import zipfile

WORDS = "the cat sat on a mat while one old dog slept under some table near it".split()


def matrix(seed, rows, columns):
    """Random numbers, the same on every machine."""
    numbers = random.Random(seed)
    return [[numbers.uniform(-1.7, 1.7) for _ in range(columns)] for _ in range(rows)]


def npy(cells, kind="d", shape=None):
    """The bytes of a NumPy array: d is float64, f is float32, q is int64."""
    name = {"d": "<f8", "f": "<f4", "q": "<i8"}[kind]
    shape = shape or (len(cells), len(cells[0]))
    header = f"{{'descr': '{name}', 'fortran_order': False, 'shape': ({', '.join(map(str, shape))},), }}"
    header = header.replace(",), }", "), }") if len(shape) > 1 else header
    header += " " * (63 - (10 + len(header)) % 64) + "\n"
    numbers = [number for row in cells for number in row]
    return b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode() + struct.pack(
        f"<{len(numbers)}{kind}", *numbers)


def npz(path, matrices, compression=zipfile.ZIP_STORED):
    with zipfile.ZipFile(path, "w", compression) as archive:
        for name, cells in matrices.items():
            archive.writestr(zipfile.ZipInfo(name + ".npy"), npy(cells))


def safetensors(matrices, kind="F32"):
    """The bytes of a safetensors file. A matrix of one row is written as a vector."""
    code, size = {"F32": ("f", 4), "F64": ("d", 8)}[kind]
    header, data = {}, b""
    for name, cells in matrices.items():
        numbers = [number for row in cells for number in row]
        shape = [len(cells), len(cells[0])] if len(cells) > 1 else [len(cells[0])]
        header[name] = {"dtype": kind, "shape": shape, "data_offsets": [len(data), len(data) + size * len(numbers)]}
        data += struct.pack(f"<{len(numbers)}{code}", *numbers)
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def csv(cells, separator=",", row_labels=None, column_labels=None):
    lines = []
    if column_labels:
        lines.append(separator.join([""] * bool(row_labels) + column_labels))
    for i, row in enumerate(cells):
        lines.append(separator.join(([row_labels[i]] if row_labels else []) + [repr(number) for number in row]))
    return "\n".join(lines) + "\n"


def torch_attention(size, seed):
    """A state dictionary of PyTorch's nn.MultiheadAttention."""
    return {"in_proj_weight": matrix(seed, 3 * size, size), "in_proj_bias": matrix(seed + 1, 1, 3 * size),
            "out_proj.weight": matrix(seed + 2, size, size), "out_proj.bias": matrix(seed + 3, 1, size)}


def torch_encoder(size, inner, layers, seed):
    """A state dictionary of PyTorch's nn.TransformerEncoder."""
    state = {}
    for layer in range(layers):
        at, begin = seed + 20 * layer, f"layers.{layer}."
        for name, cells in torch_attention(size, at).items():
            state[f"{begin}self_attn.{name}"] = cells
        state[begin + "linear1.weight"] = matrix(at + 4, inner, size)
        state[begin + "linear1.bias"] = matrix(at + 5, 1, inner)
        state[begin + "linear2.weight"] = matrix(at + 6, size, inner)
        state[begin + "linear2.bias"] = matrix(at + 7, 1, size)
        for norm in (1, 2):
            state[f"{begin}norm{norm}.weight"] = matrix(at + 7 + norm, 1, size)
            state[f"{begin}norm{norm}.bias"] = matrix(at + 9 + norm, 1, size)
    return state


STALE = """# A document

```attn
attn softmax --scores '1 2 3'
```
<!-- attn:output -->
```text
weights  1
```
<!-- /attn:output -->

```attn format=markdown precision=2
attn scores --q '1 2' --k '3 4; 5 6'
attn version
```

```attn fails
attn softmax --scores '1 2; 3'
```
"""

LESSON = """---
title: A small lesson
can: tell a weight
---

A **row** of scores:

```attn
attn softmax --scores '0 0' --tokens 'cat' --key-tokens 'dog mouse'
```

```question
ask: What is the weight of the dog?
of: weights[1,1]
tolerance: 0.01
hint: Both scores are equal.
wrong: 1 => A row sums to 1, and there are two keys.
```

```question
ask: Which shape have the weights?
kind: shape
of: shape(weights)
hint: One row for each query.
```
"""


def write(folder):
    folder.mkdir()

    def text(name, content):
        (folder / name).write_text(content, encoding="utf-8")

    def data(name, content):
        (folder / name).write_bytes(content)

    for name, rows, columns in (("x", 3, 4), ("y", 5, 4), ("x1", 1, 8), ("x40", 40, 16), ("x600", 600, 64),
                                ("x1000", 1000, 64), ("y300", 300, 64), ("wide", 4, 200)):
        data(name + ".npy", npy(matrix(len(name) * 1000 + rows, rows, columns)))
    for number, name in enumerate(("wq", "wk", "wv", "wo")):
        data(name + ".npy", npy(matrix(50 + number, 4, 4)))
        data(name + "64.npy", npy([[cell / 8 for cell in row] for row in matrix(60 + number, 64, 64)]))
    data("float32.npy", npy(matrix(7, 3, 4), "f"))
    data("integers.npy", npy([[1, 2, 3], [4, 5, 6]], "q"))
    data("vector.npy", npy([[1.5, 2.5, 3.5]], shape=(3,)))
    data("three.npy", npy([[1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0]], shape=(2, 2, 2)))
    data("cut.npy", npy(matrix(7, 3, 4))[:-9])
    data("empty.npy", b"")
    qkv = {"q": matrix(1, 3, 4), "k": matrix(2, 5, 4), "v": matrix(3, 5, 4)}
    npz(folder / "qkv.npz", qkv)
    npz(folder / "packed.npz", qkv, zipfile.ZIP_DEFLATED)
    data("cut.npz", (folder / "qkv.npz").read_bytes()[:-30])
    data("qkv.safetensors", safetensors(qkv, "F64"))
    data("attention.safetensors", safetensors(torch_attention(8, 100)))
    data("encoder.safetensors", safetensors(torch_encoder(8, 16, 2, 200)))
    npz(folder / "encoder.npz", torch_encoder(8, 16, 2, 200))
    extra = {**torch_attention(8, 100), "bias_k": matrix(5, 1, 8)}
    data("bias_k.safetensors", safetensors(extra))
    data("cut.safetensors", safetensors(qkv)[:40])
    text("scores.csv", csv(matrix(11, 3, 4)))
    text("labels.csv", csv(matrix(11, 3, 4), ",", WORDS[:3], WORDS[:4]))
    text("labels.tsv", csv(matrix(11, 3, 4), "\t", WORDS[:3], WORDS[:4]))
    text("semicolons.csv", csv(matrix(12, 2, 3), ";"))
    text("blocks.csv", "# q\n1,2\n\n# k\n3,4\n5,6\n")
    text("ragged.csv", "1,2,3\n4,5\n")
    text("words.csv", "1,2\n3,four\n")
    text("mask.csv", "1,0,1\n1,1,0\n1,1,1\n")
    text("rows.json", json.dumps(matrix(13, 3, 4)))
    text("several.json", json.dumps({"a": [[1, 2]], "b": [[3, 4], [5, 6]]}))
    text("special.json", '[[1, "-Infinity"], [true, 2.5e-3]]')
    text("broken.json", '{"x": [[1, 2')
    text("problem.json", json.dumps({"x": matrix(14, 3, 4), "tokens": WORDS[:3], "w_q": matrix(15, 4, 4),
                                     "w_k": matrix(16, 4, 4), "w_v": matrix(17, 4, 4), "heads": 2, "causal": True}))
    text("unknown.json", '{"w_qq": [[1]]}')
    text("glove.txt", "".join(f"{word} " + " ".join(f"{cell:.5f}" for cell in row) + "\n"
                              for word, row in zip(WORDS, matrix(18, len(WORDS), 6))))
    text("long.txt", " ".join(WORDS[(i * i + i // 7) % len(WORDS)] for i in range(300)) + "\n")
    text("answers.txt", "0.5\n1x2\n")
    text("numbers.txt", "0.5\n1/8\n2x4\n1\n" * 8)
    text("stale.md", STALE)
    text("lesson.md", LESSON)
    text("mistakes.md", LESSON.replace("hint: Both scores are equal.\n", "").replace("weights[1,1]", "wieghts[1,1]"))
    text("untitled.md", LESSON.replace("title: A small lesson\n", ""))
    text("outside.md", "```attn\nattn softmax --scores ../scores.csv\n```\n\n```attn\nattn walk | head\n```\n")
