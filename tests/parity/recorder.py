"""What `attn check --recorder` prints, tried: modules of PyTorch and functions of NumPy record what they take and make, and
attn check reads it without any other option. Right ones agree, and in wrong ones the mistake is named.

    python3 recorder.py ATTN [NAME...]
"""
import math
import re
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

ATTN, only = sys.argv[1], sys.argv[2:]
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


class NewGELU(nn.Module):
    """As minGPT has it."""

    def forward(self, x):
        return x * 0.5 * (1 + torch.tanh(math.sqrt(2 / math.pi) * (x + 0.044715 * x ** 3)))


class FeedForward(nn.Module):
    def __init__(self, activation):
        super().__init__()
        self.c_fc, self.gelu, self.c_proj = nn.Linear(D, INNER), activation, nn.Linear(INNER, D)
        self.dropout = nn.Dropout(0.1)

    def forward(self, x):
        return self.dropout(self.c_proj(self.gelu(self.c_fc(x))))


class Block(nn.Module):
    """A layer of a small GPT."""

    def __init__(self, wrong="", activation=None):
        super().__init__()
        self.ln_1, self.attn, self.ln_2 = nn.LayerNorm(D), CausalSelfAttention(), nn.LayerNorm(D)
        self.mlp, self.wrong = FeedForward(activation or NewGELU()), wrong

    def forward(self, x):
        x = x + self.attn(self.ln_1(x))
        after = self.mlp(self.ln_2(x))
        return after if self.wrong == "second-residual-missing" else x + after


class GPT(nn.Module):
    """As nanoGPT has it: nn.Linear, or as GPT-2 stores it, with its output layer, or without."""

    def __init__(self, words=20, activation=None, tied=True, head=True):
        super().__init__()
        self.transformer = nn.ModuleDict({
            "wte": nn.Embedding(words, D), "wpe": nn.Embedding(9, D), "drop": nn.Dropout(0.1),
            "h": nn.ModuleList(Block("", activation) for _ in range(2)), "ln_f": nn.LayerNorm(D)})
        self.lm_head = nn.Linear(D, words, bias=False) if head else None
        if head and tied:
            self.transformer.wte.weight = self.lm_head.weight

    def forward(self, idx, targets=None):
        parts = self.transformer
        x = parts.drop(parts.wte(idx) + parts.wpe(torch.arange(idx.shape[1])))
        for block in parts.h:
            x = block(x)
        x = parts.ln_f(x)
        return (self.lm_head(x), None) if self.lm_head else x


class Conv1D(nn.Module):
    """A linear layer as GPT-2 stores it: (in, out)."""

    def __init__(self, rows, columns):
        super().__init__()
        self.weight, self.bias = nn.Parameter(torch.randn(rows, columns)), nn.Parameter(torch.randn(columns))

    def forward(self, x):
        return x @ self.weight + self.bias


def stored_as_gpt2(model):
    for name, module in list(model.named_modules()):
        outer, _, leaf = name.rpartition(".")
        if isinstance(module, nn.Linear) and leaf != "lm_head":
            setattr(model.get_submodule(outer), leaf, Conv1D(module.in_features, module.out_features))
    return model


class RMSNorm(nn.Module):
    def __init__(self):
        super().__init__()
        self.weight, self.eps = nn.Parameter(torch.ones(D)), 1e-5

    def forward(self, x):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


class AdditiveAttention(nn.Module):
    """As the tutorial of PyTorch has it."""

    def __init__(self, bias=True, wrong=""):
        super().__init__()
        self.Wa, self.Ua, self.Va = nn.Linear(D, D, bias), nn.Linear(D, D, bias), nn.Linear(D, 1, bias)
        self.wrong = wrong

    def forward(self, query, keys):
        hidden = self.Wa(query) + self.Ua(keys)
        scores = self.Va(hidden if self.wrong == "without-tanh" else torch.tanh(hidden)).squeeze(2).unsqueeze(1)
        weights = nn.functional.softmax(scores, dim=-1)
        return torch.bmm(weights, keys), weights


class ScoresOfPairs(nn.Module):
    """An additive attention of several queries, with other names and sizes, and modules for all of it."""

    def __init__(self):
        super().__init__()
        self.combine, self.of_key = nn.Linear(5, 1, False), nn.Linear(6, 5, False)
        self.of_query = nn.Linear(D, 5, False)
        self.tanh, self.softmax, self.dropout = nn.Tanh(), nn.Softmax(dim=-1), nn.Dropout(0.1)

    def forward(self, queries, keys, values):
        hidden = self.tanh(self.of_query(queries).unsqueeze(2) + self.of_key(keys).unsqueeze(1))
        weights = self.softmax(self.combine(hidden).squeeze(-1))
        return self.dropout(weights) @ values


class Decoder(nn.Module):
    """A step of a recurrent decoder, whose additive attention is compared."""

    def __init__(self):
        super().__init__()
        self.attention, self.rnn, self.out = AdditiveAttention(), nn.GRU(2 * D, D, batch_first=True), nn.Linear(D, 5)

    def forward(self, x, hidden, encoder_outputs):
        context, weights = self.attention(hidden.permute(1, 0, 2), encoder_outputs)
        output, hidden = self.rnn(torch.cat((x, context), dim=2), hidden)
        return {"logits": self.out(output), "attentions": None}


class WithSettings(SelfAttention):
    """What a module may keep besides, what it may return, and how it may be called."""

    def __init__(self):
        super().__init__()
        self.scale, self.fill, self.config, self.call_norm = (D // HEADS) ** -0.5, -math.inf, {"a": 1}, math.nan
        self.mask, self.norm = torch.ones(5, 5), nn.LayerNorm(D)

    def forward(self, x, *, context=None, **more):
        self.norm(self.norm(x))
        return {"output": super().forward(x), "cache": None}


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
    for name, activation in (("relu", nn.ReLU()), ("none", nn.GELU()), ("tanh", nn.GELU("tanh")), ("silu", nn.SiLU())):
        yield f"block of a GPT, {name}", Block("", activation), (x,), {}, ""
    ids = torch.tensor([[5, 19, 2, 7, 0]])
    yield "GPT", GPT(), (ids,), {}, ""
    yield "GPT called by names", GPT(activation=nn.GELU()), (), {"idx": ids, "targets": ids}, ""
    yield "GPT with an output layer of its own", GPT(tied=False), (ids,), {}, ""
    yield "GPT with a word for each number of a vector", GPT(words=D), (ids % D,), {}, ""
    yield "GPT without an output layer", GPT(head=False), (ids,), {}, ""
    yield "GPT as GPT-2 stores it", stored_as_gpt2(GPT(activation=nn.GELU("tanh"))), (ids,), {}, ""
    yield "attention as GPT-2 stores it", stored_as_gpt2(CausalSelfAttention()), (x,), {}, ""
    yield "RMS norm", RMSNorm(), (x,), {}, ""
    yield "additive attention", AdditiveAttention(), (x[:, :1], memory), {}, ""
    yield "additive attention without biases", AdditiveAttention(bias=False), (x[:, :1], memory), {}, ""
    yield "additive attention of pairs", ScoresOfPairs(), (x, torch.randn(1, 7, 6), torch.randn(1, 7, 4)), {}, ""
    yield "additive attention without tanh", AdditiveAttention(True, "without-tanh"), (x[:, :1], memory), {}, \
        "without-tanh"
    yield "step of a decoder", Decoder(), (x[:, :1], torch.randn(1, 1, D), memory), {}, ""
    yield "attention with settings", WithSettings(), (x,), {"context": None, "other": 1}, ""
    yield from batches()
    yield "wrong block of a GPT", Block("second-residual-missing"), (x,), {}, "second-residual-missing"
    yield "layer with names of its own", WithNames(), (x,), {}, ""
    yield "wrong layer with names of its own", WithNames("not-scaled"), (x,), {}, "not-scaled"


def batches():
    """Two or three sentences at once, of which the first is compared."""
    x, memory, first = torch.randn(2, 5, D), torch.randn(2, 7, D), {"batch_first": True}
    padded = torch.tensor([[False, False, False, True, True], [False, False, True, True, True]])
    later = torch.ones(5, 5, dtype=torch.bool).triu(1)
    turned, turned_memory = x.transpose(0, 1), memory.transpose(0, 1)
    yield "attentions", nn.MultiheadAttention(D, HEADS), (turned, turned_memory, turned_memory), {}, ""
    yield "attentions, batch first", nn.MultiheadAttention(D, HEADS, **first), (x, x, x), \
        {"key_padding_mask": padded}, ""
    yield "attentions with a mask each", nn.MultiheadAttention(D, HEADS, **first), (x, x, x), \
        {"attn_mask": later.expand(4, 5, 5)}, ""
    yield "five sentences of five words", nn.MultiheadAttention(D, HEADS, **first), (torch.randn(5, 5, D),) * 3, \
        {"attn_mask": later}, ""
    yield "encoder layers", nn.TransformerEncoderLayer(D, HEADS, INNER, **first), (x,), \
        {"src_key_padding_mask": padded}, ""
    yield "transformers", nn.Transformer(D, HEADS, 1, 1, INNER), (turned_memory, turned), {"tgt_mask": later}, ""
    yield "own attentions", SelfAttention(), (x,), {}, ""
    yield "GPTs", GPT(), (torch.tensor([[5, 19, 2, 7], [1, 2, 3, 4]]),), {}, ""
    yield "layer norms", nn.LayerNorm(D), (x,), {}, ""
    yield "embeddings", nn.Embedding(20, D), (torch.tensor([[3, 7, 3], [1, 2, 0]]),), {}, ""
    yield "additive attentions", AdditiveAttention(), (x[:, :1], memory), {}, ""


def of_short_numbers():
    """Modules of bfloat16, which NumPy does not have."""
    x = torch.randn(1, 5, D)
    yield "attention of bfloat16", nn.MultiheadAttention(D, HEADS, batch_first=True), (x, x, x), {}, ""
    yield "encoder layer of bfloat16", nn.TransformerEncoderLayer(D, HEADS, INNER, batch_first=True), (x,), {}, ""
    yield "own attention of bfloat16", SelfAttention(), (x,), {}, ""
    yield "layer norm of bfloat16", nn.LayerNorm(D), (x,), {}, ""


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


def of_type(dtype, value):
    return value.to(dtype) if torch.is_tensor(value) and value.is_floating_point() else value


def check(name, path, wrong):
    """What is wrong with what attn check says, as a sentence."""
    page = subprocess.run([ATTN, "check", path], capture_output=True, text=True)
    if wrong:
        return "" if page.returncode == 1 and wrong in page.stdout else f"{name}: {wrong} is not named: {page.stderr}"
    if page.returncode != 0:
        return f"{name} does not agree: {page.stderr}{page.stdout[:600]}"
    left = re.search(r"^- (\S*\boutput|logits|weights):", page.stdout, re.MULTILINE)
    return f"{name}: {left[1]} is not compared" if left else ""


def main():
    torch.manual_seed(1)
    np.random.seed(1)
    torch.set_default_dtype(torch.float64)
    faults, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "mine.npz")
        record = recorder("pytorch")
        for dtype, recorded in ((torch.float64, modules), (torch.float32, modules), (torch.bfloat16, of_short_numbers)):
            for name, module, inputs, options, wrong in recorded():
                if name in only or not only:
                    with torch.no_grad():
                        for parameter in module.parameters():
                            parameter.add_(0.3 * torch.randn_like(parameter))
                        record(module.to(dtype), path, *(of_type(dtype, value) for value in inputs),
                               **{key: of_type(dtype, value) for key, value in options.items()})
                    faults += filter(None, [check(f"{name} ({dtype})", path, wrong)])
                    tried += 1
        record = recorder("numpy")
        for name, function, inputs, options, wrong in functions():
            if name in only or not only:
                record(function, path, *inputs, **options)
                faults += filter(None, [check(name, path, wrong)])
                tried += 1
    print("\n".join(faults) or f"{tried} modules and functions were recorded and read")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
