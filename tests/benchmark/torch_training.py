"""A step of training in PyTorch, double precision, one thread: a Transformer of 2 + 2 layers, as nn.Transformer is used.

For every line `step N` that it reads, it answers with the seconds of one step on a new batch of N sentences: forward,
cross-entropy, backward, clipping, Adam.
"""
import math
import sys
import time

import torch

D_MODEL, HEADS, LAYERS, D_FF, WORDS, VOCABULARY = 64, 4, 2, 256, 16, 32

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


class Translator(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.source = torch.nn.Embedding(VOCABULARY, D_MODEL)
        self.target = torch.nn.Embedding(VOCABULARY, D_MODEL)
        self.transformer = torch.nn.Transformer(D_MODEL, HEADS, LAYERS, LAYERS, D_FF, dropout=0.0, batch_first=True)
        self.output = torch.nn.Linear(D_MODEL, VOCABULARY)
        angles = torch.arange(WORDS)[:, None] / 10000.0 ** (torch.arange(0, D_MODEL, 2) / D_MODEL)
        positions = torch.stack([torch.sin(angles), torch.cos(angles)], dim=2).reshape(WORDS, D_MODEL)
        self.register_buffer("positions", positions)
        self.register_buffer("mask", torch.nn.Transformer.generate_square_subsequent_mask(WORDS))

    def forward(self, source, target):
        x = self.source(source) * math.sqrt(D_MODEL) + self.positions
        y = self.target(target) * math.sqrt(D_MODEL) + self.positions
        return self.output(self.transformer(x, y, tgt_mask=self.mask))


def step(model, optimizer, sentences):
    source, given, expected = (torch.randint(VOCABULARY, (sentences, WORDS)) for _ in range(3))
    begin = time.perf_counter()
    optimizer.zero_grad()
    logits = model(source, given)
    loss = torch.nn.functional.cross_entropy(logits.reshape(-1, VOCABULARY), expected.reshape(-1))
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
    loss.item()
    return time.perf_counter() - begin


def main():
    torch.manual_seed(0)
    model = Translator().train()
    optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, betas=(0.9, 0.98), eps=1e-9)
    for line in sys.stdin:
        print(step(model, optimizer, int(line.split()[1])), flush=True)


if __name__ == "__main__":
    main()
