#!/usr/bin/python3
"""A random model of GPT-2 small's size, and what people write in PyTorch to run one: the other side of models.py.

  torch_model.py make FOLDER                 writes config.json and model.safetensors, float32
  torch_model.py STEPS FOLDER THREADS IDS    writes as many words, each with its probability, with a cache of keys and
                                             values: STEPS is a number
  torch_model.py map FOLDER THREADS IDS      all weights of all heads, and of each head how far it looks on average

The file is mapped: nothing of it is copied but what torch copies itself.
"""

import json
import math
import mmap
import os
import struct
import sys

import torch

LAYERS, D_MODEL, HEADS, WORDS, PLACES = 12, 768, 12, 50257, 1024
NAME = "model.safetensors"


def shapes():
    d = D_MODEL
    yield "wte.weight", (WORDS, d)
    yield "wpe.weight", (PLACES, d)
    for i in range(LAYERS):
        for norm in ("ln_1", "ln_2"):
            yield f"h.{i}.{norm}.weight", (d,)
            yield f"h.{i}.{norm}.bias", (d,)
        for part, rows, columns in (("attn.c_attn", d, 3 * d), ("attn.c_proj", d, d), ("mlp.c_fc", d, 4 * d), ("mlp.c_proj", 4 * d, d)):
            yield f"h.{i}.{part}.weight", (rows, columns)
            yield f"h.{i}.{part}.bias", (columns,)
    yield "ln_f.weight", (d,)
    yield "ln_f.bias", (d,)


def make(folder):
    os.makedirs(folder, exist_ok=True)
    header, end = {}, 0
    for name, shape in shapes():
        begin, end = end, end + 4 * math.prod(shape)
        header[name] = {"dtype": "F32", "shape": list(shape), "data_offsets": [begin, end]}
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    generator = torch.Generator().manual_seed(1)
    with open(os.path.join(folder, NAME), "wb") as file:
        file.write(struct.pack("<Q", len(text)) + text)
        for name, shape in shapes():
            numbers = torch.randn(shape, generator=generator) * 0.02
            if "ln_" in name and name.endswith("weight"):
                numbers += 1
            file.write(numbers.numpy().tobytes())
    config = {"model_type": "gpt2", "n_head": HEADS, "n_embd": D_MODEL, "n_layer": LAYERS, "vocab_size": WORDS}
    config |= {"layer_norm_epsilon": 1e-5, "activation_function": "gelu_new"}
    with open(os.path.join(folder, "config.json"), "w") as file:
        json.dump(config, file)


def mapped(folder):
    with open(os.path.join(folder, NAME), "rb") as file:
        bytes_ = mmap.mmap(file.fileno(), 0, access=mmap.ACCESS_COPY)
    (length,) = struct.unpack("<Q", bytes_[:8])
    tensors = {}
    for name, entry in json.loads(bytes_[8 : 8 + length]).items():
        shape = entry["shape"]
        numbers = torch.frombuffer(bytes_, dtype=torch.float32, count=math.prod(shape), offset=8 + length + entry["data_offsets"][0])
        tensors[name] = numbers.view(shape)
    return tensors


class Model:
    def __init__(self, tensors):
        self.tensors, self.keys, self.values = tensors, [None] * LAYERS, [None] * LAYERS

    def norm(self, name, x):
        return torch.nn.functional.layer_norm(x, (D_MODEL,), self.tensors[name + ".weight"], self.tensors[name + ".bias"], 1e-5)

    def linear(self, name, x):
        return torch.addmm(self.tensors[name + ".bias"], x, self.tensors[name + ".weight"])

    def attend(self, i, x, keep):
        n = x.shape[0]
        q, k, v = (part.view(n, HEADS, -1).transpose(0, 1) for part in self.linear(f"h.{i}.attn.c_attn", x).split(D_MODEL, 1))
        if self.keys[i] is not None:
            k, v = torch.cat([self.keys[i], k], 1), torch.cat([self.values[i], v], 1)
        self.keys[i], self.values[i] = k, v
        scores = q @ k.transpose(1, 2) / math.sqrt(D_MODEL // HEADS)
        if n > 1:
            later = torch.ones(n, k.shape[1], dtype=torch.bool).triu(k.shape[1] - n + 1)
            scores = scores.masked_fill(later, -math.inf)
        weights = scores.softmax(-1)
        if keep is not None:
            keep.append(weights)
        return self.linear(f"h.{i}.attn.c_proj", (weights @ v).transpose(0, 1).reshape(n, D_MODEL))

    def run(self, ids, keep=None):
        """The last word's vector."""
        before = 0 if self.keys[0] is None else self.keys[0].shape[1]
        x = self.tensors["wte.weight"][ids] + self.tensors["wpe.weight"][before : before + len(ids)]
        for i in range(LAYERS):
            x = x + self.attend(i, self.norm(f"h.{i}.ln_1", x), keep)
            inner = torch.nn.functional.gelu(self.linear(f"h.{i}.mlp.c_fc", self.norm(f"h.{i}.ln_2", x)), approximate="tanh")
            x = x + self.linear(f"h.{i}.mlp.c_proj", inner)
        return self.norm("ln_f", x[-1:])


def write(model, ids, steps):
    for _ in range(steps):
        probabilities = (model.run(ids) @ model.tensors["wte.weight"].T).softmax(-1)[0]
        best = int(probabilities.argmax())
        print(best, float(probabilities[best]))
        ids = [best]


def show(model, ids):
    weights = []
    model.run(ids, weights)
    distance = torch.arange(len(ids)).view(-1, 1) - torch.arange(len(ids)).view(1, -1)
    for i, layer in enumerate(weights):
        for head, of_head in enumerate(layer):
            print(i + 1, head + 1, float((of_head * distance).sum(1).mean()), float(of_head[:, 0].mean()))


def main():
    what, folder = sys.argv[1:3]
    if what == "make":
        return make(folder)
    torch.set_num_threads(int(sys.argv[3]))
    ids = [int(word) for word in sys.argv[4].split()]
    with torch.no_grad():
        model = Model(mapped(folder))
        return show(model, ids) if what == "map" else write(model, ids, int(what))


if __name__ == "__main__":
    main()
