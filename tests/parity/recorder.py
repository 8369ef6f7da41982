"""What `attn check --recorder` prints, tried: modules of PyTorch and functions of NumPy record what they take and make, and
attn check reads it without any other option. Right ones agree, and in wrong ones the mistake is named.

    python3 recorder.py ATTN
"""
import math
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError:
    print("skipped: PyTorch or NumPy is missing")
    sys.exit(77)

ATTN = sys.argv[1]
D, HEADS, INNER = 8, 2, 16


def recorder(name):
    """The function that attn prints."""
    code = subprocess.run([ATTN, "check", "--recorder", name], capture_output=True, check=True, text=True).stdout
    scope = {}
    exec("\n".join(line[2:] if line.startswith("  ") else line for line in code.splitlines()), scope)
    return scope["record"]


class SelfAttention(nn.Module):
    """As people write it."""

    def __init__(self, wrong="", causal=False):
        super().__init__()
        self.num_heads, self.causal, self.wrong = HEADS, causal, wrong
        self.q_proj, self.k_proj, self.v_proj, self.out_proj = (nn.Linear(D, D) for _ in range(4))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (layer(x).view(b, n, self.num_heads, d // self.num_heads).transpose(1, 2)
                   for layer in (self.q_proj, self.k_proj, self.v_proj))
        scores = q @ k.transpose(-2, -1)
        if self.wrong != "not-scaled":
            scores = scores / math.sqrt(q.shape[-1])
        if self.causal:
            scores = scores.masked_fill(torch.ones(n, n, dtype=torch.bool).triu(1), -math.inf)
        output = scores.softmax(-2 if self.wrong == "softmax-over-queries" else -1) @ v
        if self.wrong != "heads-merged-by-reshape":
            output = output.transpose(1, 2)
        return self.out_proj(output.reshape(b, n, d))


class CausalSelfAttention(nn.Module):
    """As nanoGPT has it, with its mask as a buffer."""

    def __init__(self):
        super().__init__()
        self.n_head = HEADS
        self.c_attn, self.c_proj = nn.Linear(D, 3 * D), nn.Linear(D, D)
        self.register_buffer("bias", torch.ones(9, 9).tril().view(1, 1, 9, 9))

    def forward(self, x):
        b, n, d = x.shape
        q, k, v = (t.view(b, n, self.n_head, d // self.n_head).transpose(1, 2) for t in self.c_attn(x).split(d, dim=2))
        scores = (q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])).masked_fill(self.bias[:, :, :n, :n] == 0, -math.inf)
        return self.c_proj((scores.softmax(-1) @ v).transpose(1, 2).reshape(b, n, d))


class FeedForward(nn.Module):
    def __init__(self):
        super().__init__()
        self.c_fc, self.c_proj = nn.Linear(D, INNER), nn.Linear(INNER, D)

    def forward(self, x):
        h = self.c_fc(x)
        return self.c_proj(h * 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (h + 0.044715 * h ** 3))))


class Block(nn.Module):
    """A layer of a small GPT."""

    def __init__(self, wrong=""):
        super().__init__()
        self.ln_1, self.attn, self.ln_2, self.mlp = nn.LayerNorm(D), CausalSelfAttention(), nn.LayerNorm(D), FeedForward()
        self.wrong = wrong

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        after = self.mlp(self.ln_2(x))
        return after if self.wrong == "second-residual-missing" else x + after


class WithNames(nn.Module):
    """A layer whose names are its own: its attention is compared."""

    def __init__(self, wrong=""):
        super().__init__()
        self.before, self.mixing, self.widen = nn.LayerNorm(D), SelfAttention(wrong), nn.Linear(D, D)

    def forward(self, x):
        return self.widen(x + self.mixing(self.before(x)))


def modules():
    """Name, module, inputs, options of the call, and the mistake: none where it is right."""
    x, memory = torch.randn(1, 5, D), torch.randn(1, 7, D)
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    added = torch.zeros(5, 5).masked_fill(later, -math.inf)
    padded = torch.tensor([[False, False, False, False, True]])
    first = {"batch_first": True}

    def turned(*all):
        return tuple(t.transpose(0, 1) for t in all)

    layer = nn.TransformerEncoderLayer(D, HEADS, INNER, **first)
    pre = nn.TransformerEncoderLayer(D, HEADS, INNER, norm_first=True, activation="gelu")
    decoder = nn.TransformerDecoderLayer(D, HEADS, INNER, **first)
    yield "attention", nn.MultiheadAttention(D, HEADS), turned(x, x, x), {}, ""
    yield "attention, batch first", nn.MultiheadAttention(D, HEADS, **first), (x, x, x), {}, ""
    yield "cross-attention", nn.MultiheadAttention(D, HEADS, **first), (x, memory, memory), {}, ""
    yield "causal attention", nn.MultiheadAttention(D, HEADS, **first), (x, x, x), {"attn_mask": later}, ""
    yield "attention with an added mask", nn.MultiheadAttention(D, HEADS), turned(x, x, x), {"attn_mask": added}, ""
    yield "attention with padding", nn.MultiheadAttention(D, 4, **first), (x, x, x), {"key_padding_mask": padded}, ""
    yield "attention of other sizes", nn.MultiheadAttention(D, HEADS, **first, kdim=6, vdim=4), \
        (x, torch.randn(1, 7, 6), torch.randn(1, 7, 4)), {}, ""
    yield "attention without a batch", nn.MultiheadAttention(D, HEADS, bias=False), (x[0], x[0], x[0]), {}, ""
    yield "encoder layer", layer, (x,), {}, ""
    yield "encoder layer, pre-norm", pre, turned(x), {}, ""
    yield "masked encoder layer", nn.TransformerEncoderLayer(D, HEADS, INNER, **first), (x,), {"src_mask": later}, ""
    yield "padded encoder layer", nn.TransformerEncoderLayer(D, HEADS, INNER, **first), (x,), \
        {"src_key_padding_mask": padded}, ""
    yield "encoder", nn.TransformerEncoder(nn.TransformerEncoderLayer(D, HEADS, INNER, **first), 3), (x,), {}, ""
    yield "encoder, pre-norm", nn.TransformerEncoder(
        nn.TransformerEncoderLayer(D, HEADS, INNER, norm_first=True, activation="gelu"), 2, nn.LayerNorm(D)), \
        turned(x), {}, ""
    yield "decoder layer", decoder, (x, memory), {"tgt_mask": later}, ""
    yield "decoder layer that looks ahead", nn.TransformerDecoderLayer(D, HEADS, INNER, **first), (x, memory), {}, ""
    yield "decoder", nn.TransformerDecoder(nn.TransformerDecoderLayer(D, HEADS, INNER, **first), 2), (x, memory), \
        {"tgt_mask": added}, ""
    yield "transformer", nn.Transformer(D, HEADS, 2, 2, INNER, **first), (memory, x), {"tgt_mask": added}, ""
    yield "transformer, pre-norm", nn.Transformer(D, HEADS, 1, 2, INNER, norm_first=True), turned(memory, x), {}, ""
    yield "own attention", SelfAttention(), (x,), {}, ""
    yield "own causal attention", SelfAttention(causal=True), (x,), {}, ""
    for wrong in ("not-scaled", "softmax-over-queries", "heads-merged-by-reshape"):
        yield "wrong attention", SelfAttention(wrong), (x,), {}, wrong
    yield "layer norm", nn.LayerNorm(D, eps=1e-3), (x,), {}, ""
    yield "embedding", nn.Embedding(20, D), (torch.tensor([[3, 7, 3, 19]]),), {}, ""
    yield "attention of a GPT", CausalSelfAttention(), (x,), {}, ""
    yield "block of a GPT", Block(), (x,), {}, ""
    yield "wrong block of a GPT", Block("second-residual-missing"), (x,), {}, "second-residual-missing"
    yield "layer with names of its own", WithNames(), (x,), {}, ""
    yield "wrong layer with names of its own", WithNames("not-scaled"), (x,), {}, "not-scaled"


def softmax(scores):
    exponentials = np.exp(scores - scores.max(-1, keepdims=True))
    return exponentials / exponentials.sum(-1, keepdims=True)


def attention(x, W_q, W_k, W_v, causal=False):
    Q, K, V = x @ W_q, x @ W_k, x @ W_v
    scores = Q @ K.T / np.sqrt(K.shape[1])
    if causal:
        scores = np.where(np.tril(np.ones(scores.shape)) == 1, scores, -np.inf)
    attn = softmax(scores)
    return attn @ V, attn


def scaled_dot_product(q, k, v):
    weights = softmax(q @ k.T)
    return weights @ v


class MultiHead:
    def __init__(self):
        self.num_heads = HEADS
        self.W_q, self.W_k, self.W_v, self.W_o = np.random.normal(size=(4, D, D))

    def split(self, t):
        return t.reshape(len(t), self.num_heads, -1).transpose(1, 0, 2)

    def __call__(self, x):
        q, k, v = self.split(x @ self.W_q), self.split(x @ self.W_k), self.split(x @ self.W_v)
        weights = softmax(q @ k.transpose(0, 2, 1) / np.sqrt(q.shape[-1]))
        out = (weights @ v).transpose(1, 0, 2).reshape(x.shape)
        return out @ self.W_o


def functions():
    x, projections = np.random.normal(size=(5, D)), np.random.normal(size=(3, D, 4))
    yield "attention in NumPy", attention, (x, *projections), {}, ""
    yield "causal attention in NumPy", attention, (x, *projections), {"causal": True}, ""
    yield "heads in NumPy", MultiHead(), (x,), {}, ""
    yield "wrong attention in NumPy", scaled_dot_product, (x, x[:3], projections[0][:3]), {}, "not-scaled"


def check(name, path, wrong):
    """What is wrong with what attn check says, as a sentence."""
    page = subprocess.run([ATTN, "check", path], capture_output=True, text=True)
    if wrong:
        return "" if page.returncode == 1 and wrong in page.stdout else f"{name}: {wrong} is not named: {page.stderr}"
    return "" if page.returncode == 0 else f"{name} does not agree: {page.stderr}{page.stdout[:600]}"


def main():
    torch.manual_seed(1)
    np.random.seed(1)
    torch.set_default_dtype(torch.float64)
    faults, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "mine.npz")
        for name, record, recorded in (("pytorch", recorder("pytorch"), modules), ("numpy", recorder("numpy"), functions)):
            for name, module, inputs, options, wrong in recorded():
                if isinstance(module, nn.Module):
                    with torch.no_grad():
                        for parameter in module.parameters():
                            parameter.add_(0.3 * torch.randn_like(parameter))
                record(module, path, *inputs, **options)
                faults += filter(None, [check(name, path, wrong)])
                tried += 1
    print("\n".join(faults) or f"{tried} modules and functions were recorded and read")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
