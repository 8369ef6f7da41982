#!/usr/bin/python3
"""Multi-head self-attention in NumPy, as a careful user writes it: in place, one head after another.

  numpy_attention.py X.npy HEADS              with random parameters; prints the output
  numpy_attention.py X.npy HEADS RESULT.npz   with the parameters in RESULT.npz; prints the largest difference from
                                              the output there
"""

import sys

import numpy as np


def self_attention(x, heads, w_q, w_k, w_v, w_o):
    q, k, v = x @ w_q, x @ w_k, x @ w_v
    d_k = q.shape[1] // heads
    concat = np.empty_like(v)
    for head in range(heads):
        part = slice(head * d_k, (head + 1) * d_k)
        s = q[:, part] @ k[:, part].T
        s /= np.sqrt(d_k)
        s -= s.max(axis=1, keepdims=True)
        np.exp(s, out=s)
        s /= s.sum(axis=1, keepdims=True)
        np.matmul(s, v[:, part], out=concat[:, part])
    return concat @ w_o


def main():
    x, heads = np.load(sys.argv[1]), int(sys.argv[2])
    if len(sys.argv) > 3:
        result = np.load(sys.argv[3])
        output = self_attention(x, heads, *(result[name] for name in ("w_q", "w_k", "w_v", "w_o")))
        print(np.abs(output - result["output"]).max())
    else:
        d_model = x.shape[1]
        limit = np.sqrt(3 / d_model)
        random = np.random.default_rng(1)
        print(self_attention(x, heads, *(random.uniform(-limit, limit, (d_model, d_model)) for _ in range(4))))


if __name__ == "__main__":
    main()
