#!/usr/bin/env python3
"""Writes the files that fuzzing begins with, by the tools that write such files elsewhere.

Run as `/usr/bin/python3 tests/fuzz/make_seeds.py` with NumPy and PyTorch; the result is committed. What the
repository has anyway (lessons, examples, models, documents) is no part of it: run.py adds that.
"""

import csv
import io
import json
import pathlib
import pickle
import struct
import zipfile

import numpy as np
import torch

folder = pathlib.Path(__file__).parent / "seeds"


def write(target, name, data):
    path = folder / target / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(data if isinstance(data, bytes) else data.encode())


def npy(array, version=None):
    file = io.BytesIO()
    np.lib.format.write_array(file, array, version=version)
    return file.getvalue()


def npz(compressed=False, **arrays):
    file = io.BytesIO()
    (np.savez_compressed if compressed else np.savez)(file, **arrays)
    return file.getvalue()


# https://github.com/huggingface/safetensors#format
def safetensors(tensors, metadata=None):
    names = {torch.float64: "F64", torch.float32: "F32", torch.float16: "F16", torch.bfloat16: "BF16",
             torch.int64: "I64", torch.int32: "I32", torch.int16: "I16", torch.int8: "I8", torch.uint8: "U8",
             torch.bool: "BOOL"}  # fmt: skip
    header, data = {}, b""
    if metadata:
        header["__metadata__"] = metadata
    for name, tensor in tensors.items():
        raw = bytes(tensor.contiguous().flatten().view(torch.uint8).tolist()) if tensor.numel() else b""
        header[name] = {"dtype": names[tensor.dtype], "shape": list(tensor.shape),
                        "data_offsets": [len(data), len(data) + len(raw)]}  # fmt: skip
        data += raw
    text = json.dumps(header, separators=(",", ":")).encode()
    text += b" " * (-len(text) % 8)
    return struct.pack("<Q", len(text)) + text + data


def table(rows, **dialect):
    file = io.StringIO(newline="")
    csv.writer(file, **dialect).writerows(rows)
    return file.getvalue()


def small(state):
    return {name: tensor.detach() for name, tensor in state.items()}


numbers = np.array([[1.5, -2.25, 1e-300], [np.inf, np.nan, -0.0]])
for dtype in ["<f8", ">f8", "<f4", ">f4", "<f2", "|b1", "|i1", "|u1", "<i2", ">i4", "<i8", "<u8"]:
    with np.errstate(all="ignore"):
        array = np.nan_to_num(numbers, posinf=3).astype(dtype) if dtype[1] in "biu" else numbers.astype(dtype)
    write("npy", dtype.strip("<>|") + ("-big" if dtype[0] == ">" else "") + ".npy", npy(array))
for version in [(1, 0), (2, 0), (3, 0)]:
    write("npy", f"version{version[0]}.npy", npy(numbers, version))
write("npy", "fortran.npy", npy(np.asfortranarray(np.arange(6.0).reshape(2, 3))))
write("npy", "vector.npy", npy(np.arange(5.0)))
write("npy", "scalar.npy", npy(np.float64(2)))
write("npy", "three.npy", npy(np.arange(12.0).reshape(2, 3, 2)))
write("npy", "complex.npy", npy(numbers.astype("<c16")))
write("npy", "fields.npy", npy(np.zeros(2, dtype=[("a", "<f8"), ("b", "<i4")])))

q, k, v = np.eye(2), np.array([[1.0, 2.0], [3.0, 4.0], [5.0, 6.0]]), np.arange(6).reshape(3, 2)
write("npz", "stored.npz", npz(q=q, k=k, v=v))
write("npz", "deflated.npz", npz(compressed=True, q=q, k=k, batch=np.zeros((2, 3, 4))))
write("npz", "positional.npz", npz(arr_0=q.astype("<f4")))

write("safetensors", "types.safetensors", safetensors(
    {str(dtype)[6:]: torch.ones(2, 3).to(dtype) for dtype in
     [torch.float64, torch.float32, torch.float16, torch.bfloat16, torch.int64, torch.int32, torch.int16,
      torch.int8, torch.uint8, torch.bool]}, {"format": "pt"}))  # fmt: skip
write("safetensors", "shapes.safetensors", safetensors(
    {"vector": torch.arange(3.0), "empty": torch.zeros(0), "scalar": torch.tensor(1.0),
     "batch": torch.ones(2, 2, 2)}))  # fmt: skip

write("safetensors", "empty.safetensors", safetensors({}))
write("safetensors", "metadata.safetensors", safetensors({}, {"format": "pt"}))

torch.manual_seed(1)
attention = torch.nn.MultiheadAttention(2, 1, batch_first=True)
layer = torch.nn.TransformerEncoderLayer(2, 1, 3)
states = {"attention": attention, "encoder-layer": layer, "norm": torch.nn.LayerNorm(2),
          "transformer": torch.nn.Transformer(2, 1, 1, 1, 3)}  # fmt: skip
for name, module in states.items():
    write("parameters", name + ".safetensors", safetensors(small(module.state_dict())))
write("parameters", "attention.npz", npz(**{n: t.numpy() for n, t in small(attention.state_dict()).items()}))
write("parameters", "attention.json", json.dumps({n: t.tolist() for n, t in small(attention.state_dict()).items()}))
gpt = {"wte.weight": (3, 2), "wpe.weight": (4, 2), "h.0.ln_1.weight": (2,), "h.0.ln_1.bias": (2,),
       "h.0.attn.c_attn.weight": (2, 6), "h.0.attn.c_attn.bias": (6,), "h.0.attn.c_proj.weight": (2, 2),
       "h.0.attn.c_proj.bias": (2,), "h.0.ln_2.weight": (2,), "h.0.ln_2.bias": (2,),
       "h.0.mlp.c_fc.weight": (2, 8), "h.0.mlp.c_fc.bias": (8,), "h.0.mlp.c_proj.weight": (8, 2),
       "h.0.mlp.c_proj.bias": (2,), "ln_f.weight": (2,), "ln_f.bias": (2,)}  # fmt: skip
write("parameters", "gpt2.safetensors", safetensors({n: torch.rand(s) for n, s in gpt.items()}))

# Files of models: the same GPT-2, as others write it.
def archive(state):
    file = io.BytesIO()
    torch.save(state, file)
    return file.getvalue()


tiny = {n: torch.rand(s) for n, s in gpt.items()}
plain, half = {"a": torch.ones(2, 3)}, {"a": torch.ones(2).half(), "b": torch.ones(2, 2).bfloat16().T}
nested = {"model": plain, "iter_num": 5, "lr": 1e-3, "betas": (0.9, 0.95), "best": torch.tensor(1.5), "none": None}
for name, state in {"plain": plain, "half": half, "nested": nested, "parameter": torch.nn.Linear(2, 1).state_dict()}.items():
    written = archive(state)
    write("torch", name + ".pt", written)
    write("pickle", name, zipfile.ZipFile(io.BytesIO(written)).read("archive/data.pkl"))
deflated = io.BytesIO()
with zipfile.ZipFile(deflated, "w", zipfile.ZIP_DEFLATED) as out:
    for member in zipfile.ZipFile(io.BytesIO(archive(plain))).infolist():
        out.writestr(member.filename, zipfile.ZipFile(io.BytesIO(archive(plain))).read(member.filename))
write("torch", "deflated.pt", deflated.getvalue())
for protocol in (0, 2, 4, 5):
    write("pickle", f"protocol{protocol}", pickle.dumps({"a": [1, 2.5, "x", b"y", None, True, {3}], "b": (1, 2)}, protocol))
write("pickle", "system", b"\x80\x02cos\nsystem\nX\x02\x00\x00\x00ls\x85R.")


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf(values, tensors):
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(values)) + b"".join(values)
    data = b""
    for name, (sizes, number, numbers) in tensors.items():
        head += gguf_text(name) + struct.pack("<I", len(sizes)) + b"".join(struct.pack("<Q", s) for s in sizes)
        head += struct.pack("<IQ", number, len(data))
        data += numbers + b"\0" * (-len(numbers) % 32)
    return head + b"\0" * (-len(head) % 32) + data


values = [gguf_text("general.architecture") + struct.pack("<I", 8) + gguf_text("gpt2"),
          gguf_text("gpt2.attention.head_count") + struct.pack("<II", 4, 1),
          gguf_text("tokenizer.ggml.tokens") + struct.pack("<IIQ", 9, 8, 2) + gguf_text("a") + gguf_text("b"),
          gguf_text("tokenizer.ggml.scores") + struct.pack("<IIQff", 9, 6, 2, 0.5, 1.5)]  # fmt: skip
write("gguf", "types.gguf", gguf(values, {
    "single": ((2, 3), 0, bytes(24)), "half": ((2,), 1, bytes(4)), "brain": ((2,), 30, bytes(4)),
    "blocks": ((32, 2), 8, bytes(68)), "unread": ((32,), 12, bytes(34))}))  # fmt: skip


def gguf_list(number, form, items):
    return struct.pack("<IIQ", 9, number, len(items)) + b"".join(gguf_text(i) if form is None else struct.pack(form, i) for i in items)


def gguf_words(kind, tokens, **more):
    said = {"model": struct.pack("<I", 8) + gguf_text(kind), "tokens": gguf_list(8, None, tokens), **more}
    return gguf([gguf_text("tokenizer.ggml." + name) + value for name, value in said.items()], {})


bytes_of_e = ["<0xC3>", "<0xA9>"]
write("gguf-words", "bytes.gguf", gguf_words(
    "gpt2", ["a", "b", "ab", "Ġ", "1", "<s>"], pre=struct.pack("<I", 8) + gguf_text("llama-bpe"),
    merges=gguf_list(8, None, ["a b"]), token_type=gguf_list(5, "<i", [1, 1, 1, 1, 1, 3]), bos_token_id=struct.pack("<II", 4, 5)))  # fmt: skip
write("gguf-words", "scores.gguf", gguf_words(
    "llama", ["<unk>", "<s>", "</s>", *bytes_of_e, "▁", "a", "▁a"], scores=gguf_list(6, "<f", [0, 0, 0, 0, 0, -3, -2, -1]),
    token_type=gguf_list(5, "<i", [2, 3, 3, 6, 6, 1, 1, 1]), add_space_prefix=struct.pack("<IB", 7, 1)))  # fmt: skip
write("llama2c-words", "tokenizer.bin", struct.pack("<i", 7) + b"".join(
    struct.pack("<fi", score, len(piece.encode())) + piece.encode() for piece, score in
    [("<unk>", 0), ("\n<s>\n", 0), ("\n</s>\n", 0), *((b, 0) for b in bytes_of_e), (" ", -3), ("a", -2), (" a", -1)]))  # fmt: skip
sizes = (2, 4, 1, 1, 1, 3, 2)
floats = 3 * 2 + 2 + 4 * 4 + 2 + 3 * 8 + 2 + 2 * 2 * 1
write("llama2c", "tied.bin", struct.pack("<7i", *sizes) + bytes(4 * floats))
write("llama2c", "untied.bin", struct.pack("<7i", *sizes[:5], -3, 2) + bytes(4 * (floats + 6)))
for name, data in {"gpt2.pt": archive(tiny), "gpt2.gguf": gguf(values, {"token_embd.weight": ((2, 3), 0, bytes(24))}),
                   "llama2.bin": struct.pack("<7i", *sizes) + bytes(4 * floats)}.items():  # fmt: skip
    write("model-file", name, data)
write("index", "one.json", json.dumps({"metadata": {"total_size": 8}, "weight_map": {"wte.weight": "a.safetensors"}}))
write("index", "outside.json", json.dumps({"weight_map": {"wte.weight": "../a.safetensors"}}))
write("config", "gpt2.json", json.dumps({"model_type": "gpt2", "n_head": 2, "layer_norm_epsilon": 1e-5,
                                         "activation_function": "gelu_new"}))  # fmt: skip
write("config", "mixtral.json", json.dumps({"model_type": "mixtral", "num_attention_heads": 32}))

# Of q, k and v that attn check is given; the weights look at every word, and others are scaled twice.
scores = np.array([[4, 1, 2], [2, 2, 2]])
weights = np.exp(scores) / np.exp(scores).sum(-1, keepdims=True)
mine = {"attn_weights": weights, "logits": scores / 3, "out": weights @ np.array([[1, 2], [5, 7], [4, 4]])}
write("comparison", "mine.npz", npz(**mine, compressed=True))
write("comparison", "half.npz", npz(**{n: a.astype("<f2")[None] for n, a in mine.items()}))
write("comparison", "mine.json", json.dumps({n: a.round(3).tolist() for n, a in mine.items()}))
write("comparison", "problem.json", json.dumps({"Q": [[1, 2], [0, 1]], "K": [[2, 1], [1, 1]], "V": [[1], [2]],
                                                "attn": [[0.6, 0.4], [0.4, 0.6]]}))  # fmt: skip

rows = [["", "the", 'a "b"'], ["one", 1, -2.5], ["zwei, drei", "1e-3", 4]]
write("csv", "excel.csv", b"\xef\xbb\xbf" + table(rows).encode())
write("csv", "semicolons.csv", table(rows, delimiter=";", lineterminator="\n"))
write("csv", "quoted.csv", table(rows, quoting=csv.QUOTE_ALL))
write("csv", "plain.csv", table([[1, 2], [3, 4]], lineterminator="\n"))
write("csv", "pandas.csv", ",it,was\n0,0.1,0.9\n1,0.3,0.7\n")
write("csv", "pandas-columns.csv", "0,1\n0.1,0.9\n0.3,0.7\n")
write("csv", "write-table.csv", '"V1" "V2"\n"1" 0.1 0.9\n"2" 0.3 0.7\n')
write("csv", "decimal-commas.csv", '"";"V1";"V2"\n"1";0,1;0,9\n')
write("csv", "blocks.csv", "# q\n1,2\n\n# k\nx,y\n3,inf\n")
text = io.StringIO()
np.savetxt(text, numbers, header="from numpy.savetxt")
write("csv", "savetxt.csv", text.getvalue())
write("tsv", "table.tsv", table(rows, dialect="excel-tab"))

write("json", "rows.json", json.dumps([[1, 2.5e10], [True, "NaN"]]))
write("json", "named.json", json.dumps({"q": [[1, 2]], "k": {"a": [3, "-Infinity"]}}, indent=1))
write("json", "page.json", json.dumps({"schema": "attn/1", "arrays": {"weights": [[0.25, 0.75]]},
                                       "nodes": [{"name": "weights", "op": "softmax"}]}))  # fmt: skip

for name, text in {"python": "[[1, 0.5], [-2e3, inf]]", "matlab": "1 0; 0 1", "vector": "[1,2,3]",
                   "numpy": "[[1. 2.]\n [3. 4.]]", "nested": "[[[1,2]],[[3,4]]]"}.items():  # fmt: skip
    write("literal", name, text)
write("embeddings", "glove.txt", "the 0.418 0.24968\nof 0.70853 0.57088\n, 0.013441 0.23682\n")
write("embeddings", "word2vec.txt", "4 3\nthe 1 2 3\nof -1e-2 2 3\n</s> 0 0 0\n, 3 2 1\n")

for i, text in enumerate(["1.5", "-2e-308", "+Infinity", "nan", "true", "1e999", "0x1p3", "1_000",
                          "123456789012345678901234567890", ".5", "5."]):  # fmt: skip
    write("cell", str(i), text)
for i, value in enumerate([0.125, 1 / 3, -0.0, 5e-324, 1.7976931348623157e308, 2.5, 1e22]):
    write("number", str(i), struct.pack("<dB", value, i))
for i, text in enumerate(["scores[1,2] / sqrt(d_k)\n0,88", "largest(weights[Machines]) > 0.5\nyes",
                          "shape(q)\n2x3", "most(weights[Thinking])\nMachines",
                          "-(1 + 2)^2 * exp(-1)\n-3.31"]):  # fmt: skip
    write("quantity", str(i), text)
for i, text in enumerate(["\x1b[31mred\x1b[0m plain", "e\u0301\u4e2d\u6587 \U0001f468\u200d\U0001f469\u200d\U0001f467",
                          "\u202eabc\u2066\u200f", "\U0001f1e9\U0001f1ea\u00a0x", "\u0e01\u0e33 \u0915\u093f"]):
    write("terminal", str(i), text)
write("terminal", "latin1", b"caf\xe9 \xff\xc3")
write("words", "sentence", "The animal didn't cross, because it's 3.5 m; <blank> \u201cso\u201d.")
write("likeness", "numbers", "a 0.12345 1e-17 2\na 0.12346 0 2")
write("markdown", "github", "# A *b*\n\n> - [x](y.md) `c`\n>   1. **d**\n\n| a | b |\n|---|:-:|\n| 1 | ~~2~~ |\n\n"
      "<b>no</b> <http://a.b> [r]\n\n[r]: /u 't'\n\n```attn w=1\nx\n```\n\n***\n")  # fmt: skip
write("document", "lists.md", "\ufeff# T\r\n\r\n- a\r\n\r\n  ```attn format=markdown\r\n  attn a 'b c'\r\n  ```\r\n\r\n> ```attn\r\n"
      "> attn x \\\r\n>   y\r\n> ```\r\n")  # fmt: skip
write("document", "current.md", "```attn\nattn a\n```\n<!-- attn:output -->\n```text\na\n0.12346\n```\n<!-- /attn:output -->\n\n"
      "```attn fails\nattn wrong\n```\n")  # fmt: skip
write("lesson", "short.md", "---\ntitle: T\ncan: see it\n---\nA **score**.\n\n```attn\nattn softmax --scores '1 2'\n```\n\n"
      "```question\nask: How many?\nkind: number\nof: weights[1,1]\nhint: Look.\nwrong: weights[1,2] => No.\n```\n\n***\n\nEnd.\n")  # fmt: skip
write("puzzle", "short.md", "```puzzle\nask: A.\non: attn softmax\nset: scores 2x2\nholds: weights[i,j-1] + entropy(weights[i]) >= 0.5 "
      "for i = 1..2, j = 2..i+1\nholds: largest(scores[1]) < 9\nnote: x > 1 => No.\n```\nscores = 1 0; 0 1/2\nscores[1,2] = cos(1)\n[[1,2],[3,4]]\n")  # fmt: skip
write("drill", "short.md", "---\ntrains: t\n---\n```drill\noften: 2\ndraw: n = 2..4 step 2\nabout: a, b = x; 1 | y; 2\n"
      "draw: w = 2 rows of shuffled one of 1 2 | 3 4\nlet: m = 1 by n of log(column) > 0\nlet: c = item b of {a} | z\nkeep: n < 9\n"
      "ask: {a}{{ {share(e^w[1] without 2, 1)} {powers(w[,1])} {products(m, m)} {w: 2 decimals}?\non: --scores '{w}'\n"
      "of: weights[1,{b}]\nhint: {c}\ngiven: scores => attn walk\nsolution: --only weights\n```\n")  # fmt: skip
write("progress", "state.json", json.dumps({"schema": "attn/progress/1", "last": "masks", "lessons": {
    "masks": {"done": ["0123456789abcdef"], "answers": {"0123456789abcdef-2": {
        "text": "0.5", "right": True, "first": True, "missed": False}}}}}))  # fmt: skip
