"""The base Transformer in PyTorch, double precision, one thread, as nn.Transformer is used.

Reads `forward N` or `decode N` a line; answers with the seconds of one run. `forward`
takes N source and N target tokens; `decode` writes N tokens, each of which goes in at the next step: nn.Transformer
has no cache, so that the decoder sees all of them again.
"""
import sys
import time

import torch

D_MODEL = 512

torch.set_num_threads(1)
torch.set_default_dtype(torch.float64)


def forward(model, n):
    source, target = torch.rand(1, n, D_MODEL), torch.rand(1, n, D_MODEL)
    mask = model.generate_square_subsequent_mask(n)
    begin = time.perf_counter()
    model(source, target, tgt_mask=mask)
    return time.perf_counter() - begin


def decode(model, n):
    source, target = torch.rand(1, n, D_MODEL), torch.rand(1, 1, D_MODEL)
    begin = time.perf_counter()
    memory = model.encoder(source)
    for _ in range(n):
        mask = model.generate_square_subsequent_mask(target.shape[1])
        output = model.decoder(target, memory, tgt_mask=mask)
        target = torch.cat([target, output[:, -1:]], dim=1)
    return time.perf_counter() - begin


def main():
    torch.manual_seed(0)
    model = torch.nn.Transformer(D_MODEL, 8, 6, 6, 2048, dropout=0.0, batch_first=True).eval()
    runs = {"forward": forward, "decode": decode}
    with torch.no_grad():
        for line in sys.stdin:
            kind, n = line.split()
            print(runs[kind](model, int(n)), flush=True)


if __name__ == "__main__":
    main()
