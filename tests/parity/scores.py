"""Parity with PyTorch of one attention: cosine and bilinear scores, factors, soft caps, causal offsets, masks of every type,
and keys and values of different inputs. Random matrices in double precision, saved as .npy, run by attn.

    python3 scores.py ATTN

ends with 0 where all agree to 1e-9, with 1 where something differs, and with 77 where PyTorch or NumPy is absent.
"""
import pathlib
import subprocess
import sys
import tempfile

from parity import TOLERANCE, nn, np, torch

torch.manual_seed(0)
torch.set_default_dtype(torch.float64)
Q, K, V = torch.randn(3, 4), torch.randn(5, 4), torch.randn(5, 2)
X, KEYS, VALUES = torch.randn(3, 4), torch.randn(5, 3), torch.randn(5, 5)
PERMITS = torch.tensor([[True, False, True, True, False]])
ADDED = torch.randn(3, 5, dtype=torch.float32)
BILINEAR = nn.Bilinear(4, 4, 1)
OF_QUERY, OF_KEY, TO_SCORE = nn.Linear(4, 6), nn.Linear(4, 6, bias=False), nn.Linear(6, 1, bias=False)
HEADS = nn.MultiheadAttention(4, 2, kdim=3, vdim=5, batch_first=True)


def pairs(x, y):
    return x[:, None].expand(3, 5, 4).contiguous(), y[None].expand(3, 5, 4).contiguous()


def attention(mask=None, scale=0.5, change=lambda scores: scores):
    scores = change(Q @ K.T * scale)
    if mask is not None:
        scores = scores.masked_fill(~mask, -torch.inf) if mask.dtype == torch.bool else scores + mask
    return torch.softmax(scores, -1) @ V


# What is asked of attn beside the queries, keys and values, with tensors for files; the matrix; and what it must be.
QKV = ["--q", Q, "--k", K, "--v", V]
CASES = [
    (QKV + ["--score", "cosine"], "scores", nn.functional.cosine_similarity(Q[:, None], K[None], dim=-1)),
    (QKV + ["--score", "bilinear", "--score-m", BILINEAR.weight[0], "--score-b", BILINEAR.bias], "scores",
     BILINEAR(*pairs(Q, K))[..., 0]),
    (QKV + ["--score", "additive", "--score-wq", OF_QUERY.weight.T, "--score-wk", OF_KEY.weight.T,
            "--score-wv", TO_SCORE.weight[0], "--score-b", OF_QUERY.bias], "scores",
     TO_SCORE(torch.tanh(OF_QUERY(Q)[:, None] + OF_KEY(K)[None]))[..., 0]),
    (QKV + ["--multiply", "0.3"], "output", attention(scale=0.3)),
    (QKV + ["--soft-cap", "1.5"], "output", attention(change=lambda s: 1.5 * torch.tanh(s / 1.5))),
    (QKV + ["--causal-offset", "2"], "output", attention(torch.ones(3, 5, dtype=torch.bool).tril(2))),
    (QKV + ["--mask", torch.zeros(3, 5, dtype=torch.float32)], "output", attention()),
    (QKV + ["--mask", ADDED], "output", attention(ADDED.double())),
    (QKV + ["--mask", PERMITS], "output", attention(PERMITS)),
    (QKV + ["--mask", PERMITS[0].int()], "output", attention(PERMITS)),
    (["--x", X, "--memory", KEYS, "--value-memory", VALUES, "--heads", "2", "--parameters", HEADS], "output",
     HEADS(X[None], KEYS[None], VALUES[None])[0][0]),
]


def saved(folder, i, word):
    if isinstance(word, nn.Module):
        file = folder / f"{i}.npz"
        np.savez(file, **{name: tensor.numpy() for name, tensor in word.state_dict().items()})
        return str(file)
    if isinstance(word, torch.Tensor):
        file = folder / f"{i}.npy"
        np.save(file, word.detach().numpy())
        return str(file)
    return word


def main():
    wrong = 0
    with tempfile.TemporaryDirectory() as name:
        folder = pathlib.Path(name)
        for words, matrix, expected in CASES:
            words = [saved(folder, i, word) for i, word in enumerate(words)]
            subprocess.run([sys.argv[1], "walk", *words, "--only", matrix, "-o", folder / "result.npy"], check=True)
            difference = np.abs(np.load(folder / "result.npy") - expected.detach().numpy()).max()
            if not difference <= TOLERANCE:
                print(f"{matrix} differs by {difference}: {' '.join(words)}")
                wrong += 1
    print(f"{len(CASES) - wrong} of {len(CASES)} agree")
    return 1 if wrong else 0


sys.exit(main())
