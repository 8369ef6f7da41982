"""Multi-head self-attention in NumPy, the usual way: a loop over heads, fresh temporaries.

Reads a number of tokens a line; answers with the seconds of one run and the sum of its output, so that the other
side can see that both compute the same.
"""
import sys
import time

import numpy as np

D_MODEL, HEADS = 512, 8
D_K = D_MODEL // HEADS


def softmax(scores):
    return np.exp(scores) / np.sum(np.exp(scores), axis=-1, keepdims=True)


def self_attention(x, w_q, w_k, w_v, w_o):
    q, k, v = np.matmul(x, w_q), np.matmul(x, w_k), np.matmul(x, w_v)
    outputs, weights = [], []
    for head in range(HEADS):
        part = slice(head * D_K, (head + 1) * D_K)
        scores = np.matmul(q[:, part], k[:, part].T) / np.sqrt(D_K)
        weights.append(softmax(scores))
        outputs.append(np.matmul(weights[-1], v[:, part]))
    return np.matmul(np.concatenate(outputs, axis=-1), w_o), weights


def inputs(n):
    generator = np.random.RandomState(0)
    x = generator.rand(n, D_MODEL) - 0.5
    return [x] + [(generator.rand(D_MODEL, D_MODEL) - 0.5) * 0.1 for _ in range(4)]


def main():
    prepared = {}
    for line in sys.stdin:
        n = int(line)
        if n not in prepared:
            prepared = {n: inputs(n)}
        begin = time.perf_counter()
        output, weights = self_attention(*prepared[n])
        seconds = time.perf_counter() - begin
        print(seconds, float(np.sum(output)), flush=True)
        del output, weights


if __name__ == "__main__":
    main()
