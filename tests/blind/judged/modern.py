#!/usr/bin/env python3
"""Write matrices of attention programs, wrong and right, for `attn check`.

    modern.py OUTDIR [--right]

OUTDIR gets a NAME.npz for each case and cases.json. With --right the same files are written without any mistake.
Each case is a row of the table at the end: a program, its settings, what it saves under which names, and its mistakes.
"""
import json
import math
import sys
from pathlib import Path

import numpy as np
import torch

# ---- mistakes that the programs can make, some more than the table below uses: name → (step, what is wrong) ----------

MISTAKES = {name: (where, text) for where, group in {
    "positions": {
        "pos-to-qk": "the sinusoids are added to q and k instead of x",
        "pos-forgotten": "the sinusoids are never added",
        "pos-from-1": "positions begin with 1 instead of 0",
        "pos-exponent": "the exponent is 2i/d with i already counting columns, so it is doubled",
        "pos-swapped": "cosine in the even columns and sine in the odd ones",
        "pos-base": "base 1000 instead of 10000",
        "pos-times": "x is multiplied by the table instead of added to it",
        "pos-columns": "the exponent is j/d of each column, so sine and cosine of a pair have different frequencies",
    },
    "projections": {
        "chunk-kqv": "the fused projection is cut as k, q, v",
        "chunk-vkq": "the fused projection is cut as v, k, q",
        "chunk-per-head": "the fused projection is cut head by head (h, 3, d_k) instead of (3, h, d_k)",
        "wk-for-q": "the key projection is used for the queries too",
        "v-is-k": "the keys are used as values",
        "v-is-x": "x is used as values without w_v",
        "bv-forgotten": "b_v is not added",
        "bq-forgotten": "b_q is not added",
        "wk-transposed": "w_k is used transposed",
        "kv-from-x": "keys and values come from x instead of the memory",
        "v-from-x": "values come from x instead of the memory",
        "q-from-memory": "queries come from the memory, keys and values from x",
    },
    "split into heads": {
        "view-no-transpose": "view(h, n, d_k) without a transpose",
        "strided-heads": "a head has every h-th column (view(n, d_k, h)) instead of d_k columns in a row",
        "gqa-repeat": "keys and values are repeated as blocks (repeat) instead of one by one (repeat_interleave)",
        "gqa-first": "all heads use the first head of keys and values",
        "gqa-v-repeat": "values are repeated as blocks, keys one by one",
    },
    "rotary": {
        "rope-layout": "the other pairs of columns are turned together (halves or neighbours)",
        "rope-mixed": "cosines for neighbours with rotate_half for halves",
        "rope-v": "the values are turned as well",
        "rope-base": "another base than 10000",
        "rope-q-offset": "the queries begin with position 1, the keys with 0",
        "rope-sign": "turned by the negative angle",
        "rope-q-only": "only the queries are turned",
        "rope-x": "x is turned before the projection instead of q and k",
        "rope-before-split": "q and k are turned as a whole before they are split into heads",
        "rope-exponent": "the exponent is i/d_k instead of 2i/d_k",
        "rope-forgotten": "q and k are not turned",
        "rope-qk-opposite": "the keys are turned by the negative angle",
    },
    "scores": {
        "scores-transposed": "einsum writes scores[k, q] instead of scores[q, k]",
        "q-with-q": "queries are compared with queries",
        "k-with-k": "keys are compared with keys",
    },
    "scale": {
        "no-scale": "scores are not divided by the root of d_k",
        "scale-dmodel": "divided by the root of d_model instead of d_k",
        "scale-dk": "divided by d_k instead of its root",
        "scale-twice": "divided by the root of d_k twice",
        "scale-multiplied": "multiplied by the root of d_k",
        "scale-heads": "divided by the root of the number of heads",
        "temperature": "a temperature of 0.7 is left in",
        "scale-weights": "the weights are divided by the root of d_k instead of the scores",
    },
    "mask": {
        "mask-forgotten": "no mask",
        "mask-next": "the diagonal is off by one: the next word is seen",
        "mask-strict": "the diagonal is off by one: a word does not see itself",
        "mask-upper": "triu instead of tril",
        "mask-reversed": "the booleans are reversed: what should be masked is all that is seen",
        "mask-added": "the mask of 0 and 1 is added to the scores",
        "mask-multiplied": "the scores are multiplied by the mask",
        "mask-after": "the weights are masked after softmax and not normalised again",
        "mask-fill": "masked scores are -1e-9 instead of -1e9",
        "mask-first-head": "only the first head is masked",
        "mask-queries": "the rows of the padding are masked instead of its columns",
        "padding-forgotten": "the padding is not masked, only later words",
        "causal-forgotten": "later words are not masked, only the padding",
        "mask-top-left": "is_causal aligns the mask with the first key instead of the last",
        "cross-causal": "a causal mask where there should be none",
        "mask-transposed": "the mask is used transposed",
    },
    "softmax": {
        "softmax-queries": "softmax over the queries (axis -2)",
        "softmax-heads": "softmax over the heads (axis of the heads)",
        "softmax-all": "softmax over the whole matrix",
        "sum-keepdims": "keepdims forgotten in the sum: column j is divided by the sum of row j",
        "max-keepdims": "keepdims forgotten in the maximum: the maximum of row j is subtracted from column j",
        "max-column": "the maximum of the column is subtracted, the sum is that of the row",
        "softmax-double": "softmax twice",
        "softmax-log": "log_softmax instead of softmax",
        "softmax-sigmoid": "sigmoid instead of softmax",
        "softmax-none": "no softmax",
        "softmax-linear": "scores divided by their sum, without exp",
        "softmax-unnormalised": "exp without division by the sum",
        "softmax-plus-one": "1 is added to the denominator",
        "softmax-base-2": "powers of 2 instead of e",
        "max-after": "the maximum is subtracted in the numerator only",
        "dropout": "dropout of the weights is left on",
    },
    "weighted sum": {
        "weights-transposed": "the transposed weights are multiplied by v",
        "elementwise": "weights * v elementwise instead of the matrix product",
    },
    "merge": {
        "merge-no-transpose": "the heads are merged without a transpose",
        "last-head-out": "the last head is left out, its columns stay 0",
        "merge-interleaved": "the heads are merged column by column",
        "heads-reversed": "the heads are merged in reverse order",
    },
    "output projection": {
        "wo-forgotten": "w_o is forgotten",
        "wo-transposed": "w_o is used transposed",
        "bo-forgotten": "b_o is not added",
        "bo-per-head": "b_o is added once for each head",
        "residual-added": "x is added to the output",
    },
    "cache": {
        "cache-k-first": "new keys are put before the cached ones, new values behind",
        "cache-v-first": "new values are put before the cached ones, new keys behind",
        "cache-restart": "positions restart at 0 in each step",
        "cache-overwritten": "the cache is overwritten by the newest key and value",
        "cache-newest": "the newest key and value are missing",
        "cache-window-more": "the window has one word too many",
        "cache-window-less": "the window has one word too few",
        "cache-v-is-k": "the new key is appended to the cached values too",
        "cache-prompt": "the prompt is not masked",
        "cache-empty": "empty slots of the cache (zeros) are attended to as well",
        "cache-stale": "the cache is read before the newest key is written, values after",
        "cache-turned-again": "cached keys are turned again in each step",
        "cache-position-late": "positions of all steps after the prompt are one too small",
    },
    "norm": {
        "norm-n-1": "the variance is divided by n - 1",
        "norm-eps-outside": "eps is added to the deviation instead of the variance",
        "norm-multiplied": "multiplied by the deviation instead of divided",
        "norm-brackets": "brackets missing: x - mean / std",
        "norm-columns": "mean and variance of columns instead of rows",
        "norm-all": "mean and variance of the whole matrix",
        "norm-variance": "divided by the variance instead of the deviation",
        "norm-beta-forgotten": "beta is not added",
        "norm-gamma-first": "beta is added before gamma is multiplied",
        "norm-mean": "the mean is not subtracted",
        "norm-gamma-one": "multiplied by 1 + gamma",
        "rms-mean": "RMSNorm also subtracts the mean",
        "rms-sum": "the sum of squares instead of their mean",
        "rms-no-root": "divided by the mean of squares without the root",
        "rms-n-1": "the mean of squares is divided by n - 1",
        "norm-eps-large": "eps of 0.1 instead of 1e-5",
    },
    "feed-forward": {
        "ff-no-activation": "no activation",
        "ff-gelu": "GELU instead of ReLU",
        "ff-b1-forgotten": "b_1 is not added",
        "ff-dropout": "dropout inside the feed-forward layer is left on",
        "ff-activation-last": "ReLU after the second linear layer instead of the first",
        "ff-gate-swapped": "the activation is on the other branch of the gate",
        "ff-relu-for-gelu": "ReLU instead of GELU",
    },
    "layer": {
        "residual-1-forgotten": "no residual connection around attention",
        "residual-2-forgotten": "no residual connection around the feed-forward layer",
        "residual-normed": "the residual of a pre-norm layer is the normalised x",
        "norm-inside": "x + norm(sublayer(x)) instead of norm(x + sublayer(x))",
        "norm-1-twice": "the first norm is used in place of the second",
        "norm-2-forgotten": "no norm after the feed-forward layer",
        "ff-of-x": "the feed-forward layer gets the input of the layer instead of the attention's result",
        "layer-1-twice": "the second layer uses the parameters of the first",
        "layers-parallel": "the second layer gets the input of the first",
        "norm-pre-for-post": "pre-norm instead of post-norm",
        "cross-forgotten": "cross-attention is left out",
    },
    "loss": {
        "labels-not-shifted": "labels are not shifted: each word predicts itself",
        "loss-softmax": "softmax is applied before cross_entropy, which applies it again",
        "loss-log2": "log2 instead of ln",
    },
}.items() for name, text in group.items()}

# ---- what a case knows ---------------------------------------------------------------------------------------------

DEFAULTS = dict(n=4, m=None, d=8, h=1, kv=None, dk=None, bias=False, wo=True, causal=False, valid=None, offset=0,
                rot=None, pos=False, base=10000, soft="row", fill=-math.inf, scaled_q=False, masked_exp=False,
                dtype="f64", names="np", save="x par out", stack="stack", flat=True, batch=False, decimals=None,
                inputs_decimals=None, unsaid=(), args=(), rng_scale=1.0, elementwise=False,
                prompt=1, window=None, steps=True, cached=True,
                layers=1, norm="post", norm_kind="layer", eps=1e-5, act="relu", gated=False, d_ff=12, final=False)


class Case:
    def __init__(self, seed, settings, mistakes):
        self.s = type("Settings", (), {**DEFAULTS, **settings})
        self.on, self.asked = set(mistakes), set()
        self.rng, self.noise = np.random.default_rng(seed), np.random.default_rng(seed + 500)

    def has(self, mistake):
        self.asked.add(mistake)
        return mistake in self.on

    def r(self, a):
        """a rounded to the type that the program computes in"""
        a = np.asarray(a)
        if self.s.dtype == "f64":
            return a
        a = a.astype(np.float32)
        if self.s.dtype == "bf16":
            return torch.from_numpy(np.ascontiguousarray(a)).bfloat16().float().numpy()
        return a.astype(np.float16).astype(np.float32) if self.s.dtype == "f16" else a

    def normal(self, *shape, scale=1.0):
        a = self.rng.standard_normal(shape) * scale
        return self.r(a if self.s.inputs_decimals is None else np.round(a, self.s.inputs_decimals))

    def drop(self, a, p):
        keep = self.noise.random(a.shape) >= p
        keep.flat[0] = not keep.flat[1:].all()
        return self.r(a * keep / (1 - p))


def parameters(c, d, d_memory=None, bias=None):
    s, m = c.s, d_memory or d
    h, kv, dk = s.h, s.kv or s.h, s.dk or d // s.h
    shapes = dict(q=(d, h * dk), k=(m, kv * dk), v=(m, kv * dk), **({"o": (h * dk, d)} if s.wo else {}))
    p = {"w_" + i: c.normal(*shape, scale=1.2 / math.sqrt(shape[0])) for i, shape in shapes.items()}
    if s.bias if bias is None else bias:
        p |= {"b_" + i: c.normal(shape[1], scale=0.5) for i, shape in shapes.items()}
    return p

# ---- the steps of attention ----------------------------------------------------------------------------------------


def sinusoids(c, ids, d):
    if c.has("pos-from-1"):
        ids = ids + 1
    i = np.arange(0, d, 2)
    base = 1000 if c.has("pos-base") else c.s.base
    even = ids[:, None] / base ** ((2 if c.has("pos-exponent") else 1) * i / d)
    odd = ids[:, None] / base ** ((i + 1) / d) if c.has("pos-columns") else even
    pe = np.empty((len(ids), d))
    pe[:, 0::2], pe[:, 1::2] = (np.cos(even), np.sin(odd)) if c.has("pos-swapped") else (np.sin(even), np.cos(odd))
    return c.r(pe)


def rope(c, z, ids):
    """z [..., n, d] turned by its positions"""
    d = z.shape[-1]
    base = 500 if c.has("rope-base") else c.s.base
    angle = ids[:, None] / base ** (np.arange(0, d, 2) / d * (0.5 if c.has("rope-exponent") else 1))
    angle = -angle if c.has("rope-sign") else angle
    halves = (c.s.rot == "rotary-halves") != c.has("rope-layout")
    rotate = (np.concatenate([-z[..., d // 2:], z[..., :d // 2]], -1) if halves
              else np.stack([-z[..., 1::2], z[..., 0::2]], -1).reshape(z.shape))
    wide = np.tile(angle, 2) if halves != c.has("rope-mixed") else np.repeat(angle, 2, -1)
    return c.r(z * c.r(np.cos(wide)) + rotate * c.r(np.sin(wide)))


def split(c, z, h):
    n, d = z.shape
    if c.has("view-no-transpose"):
        return z.reshape(h, n, d // h)
    if c.has("strided-heads"):
        return z.reshape(n, d // h, h).transpose(2, 0, 1)
    return z.reshape(n, h, d // h).transpose(1, 0, 2)


def grouped(c, k, v):
    """keys and values of each head of queries"""
    g = c.s.h // len(k)
    if c.has("gqa-first"):
        return np.repeat(k[:1], c.s.h, 0), np.repeat(v[:1], c.s.h, 0)
    blocks = c.has("gqa-repeat")
    return (np.tile(k, (g, 1, 1)) if blocks else np.repeat(k, g, 0),
            np.tile(v, (g, 1, 1)) if blocks or c.has("gqa-v-repeat") else np.repeat(v, g, 0))


def scale_of(c, B, d, dk):
    return (1 if B("no-scale") or B("scale-weights") else d ** -0.5 if B("scale-dmodel") else 1 / dk if B("scale-dk")
            or B("scale-twice") else dk ** 0.5 if B("scale-multiplied") else c.s.h ** -0.5 if B("scale-heads")
            else dk ** -0.5 / 0.7 if B("temperature") else dk ** -0.5)


def allowed_of(c, B, n, m, causal, valid, offset):
    late = np.arange(m)[None, :] - np.arange(n)[:, None]      # how much later a key is than its query
    may = np.ones((n, m), bool)
    if (causal or B("cross-causal")) and not B("causal-forgotten"):
        shift = offset + (1 if B("mask-next") else -1 if B("mask-strict") else 0)
        shift = 0 if B("mask-top-left") else shift
        may = late >= shift if B("mask-upper") else late <= shift
    if c.s.window and causal:
        may = may & (late > -c.s.window)
    if valid and not B("padding-forgotten"):
        may = may & ((np.arange(n)[:, None] if B("mask-queries") else np.arange(m)[None, :]) < valid)
    may = ~may if B("mask-reversed") else may.T if B("mask-transposed") else may
    return may


def masked_of(c, B, scaled, may):
    if may.all() or B("mask-forgotten") or B("mask-after"):
        return scaled
    if B("mask-added"):
        return c.r(scaled + may)
    if B("mask-multiplied"):
        return c.r(scaled * may)
    # A row without any key is uniform with a finite fill, as with -1e9.
    fill = -1e-9 if B("mask-fill") else c.s.fill if may.any(-1).all() else -1e9
    out = np.where(may, scaled, c.r(fill).astype(scaled.dtype))
    if B("mask-first-head"):
        out[1:] = scaled[1:]
    return out


def softmax(c, B, z, may):
    if B("softmax-none"):
        return z
    if B("softmax-sigmoid"):
        return c.r(1 / (1 + np.exp(-z)))
    if B("softmax-linear"):
        return c.r(z / z.sum(-1, keepdims=True))
    axis = -2 if B("softmax-queries") else 0 if B("softmax-heads") else (-2, -1) if B("softmax-all") else -1
    top = z.max(axis, keepdims=True)
    if c.s.soft == "global":
        top = z.max()
    elif c.s.soft == "none":
        top = z.dtype.type(0)
    if B("max-keepdims"):
        top = z.max(-1)[..., None, :]
    elif B("max-column"):
        top = z.max(-2, keepdims=True)
    power = np.exp2 if B("softmax-base-2") else np.exp
    if c.s.soft == "log":                                     # exp(z - logsumexp(z))
        w = np.exp(c.r(z - c.r(top + np.log(np.exp(z - top).sum(axis, keepdims=True)))))
    else:
        e = c.r(power(c.r(z - top)))
        e = e * may if c.s.masked_exp else e
        total = e.sum(axis, keepdims=True)
        if B("sum-keepdims"):
            total = e.sum(-1)[..., None, :]
        elif B("softmax-plus-one"):
            total = 1 + np.exp(z).sum(axis, keepdims=True)
            e = np.exp(z)
        elif B("max-after"):
            total = np.exp(z).sum(axis, keepdims=True)
        w = np.exp(z) if B("softmax-unnormalised") else e / total
    w = c.r(w)
    if B("softmax-log"):
        w = c.r(np.where(np.isfinite(z), np.log(np.maximum(w, 1e-300)), 0))
    if B("softmax-double"):
        e = np.exp(w)
        w = c.r(e / e.sum(-1, keepdims=True))
    return w


def attend(c, q, k, v, may, B, d):
    """scores … output of each head, from q, k and v [heads, words, d_k]"""
    dk, r = q.shape[-1], c.r
    scale = scale_of(c, B, d, dk)
    left, right = (q, q) if B("q-with-q") else (k, k) if B("k-with-k") else (q, k)
    equation = "hid,hjd->hji" if B("scores-transposed") else "hid,hjd->hij"
    scores = r(np.einsum(equation, r(left * scale) if c.s.scaled_q else left, right))
    scaled = scores if c.s.scaled_q else r(scores * scale)
    masked = masked_of(c, B, scaled, may)
    weights = softmax(c, B, masked, may)
    if B("mask-after"):
        weights = r(weights * may)
    if B("scale-weights"):
        weights = r(weights * dk ** -0.5)
    if B("dropout"):
        weights = c.drop(weights, 0.3)
    heads = (r(weights * v) if B("elementwise") else
             r(np.einsum("hji,hjd->hid" if B("weights-transposed") else "hij,hjd->hid", weights, v)))
    return dict(scores=scores, scaled=scaled, masked=masked, weights=weights, heads=heads)


def merge_project(c, B, heads, p, x):
    h, n, dk = heads.shape
    heads = heads.copy()
    if B("last-head-out"):
        heads[-1] = 0
    heads = heads[::-1] if B("heads-reversed") else heads
    concat = (heads.reshape(n, h * dk) if B("merge-no-transpose") else
              heads.transpose(1, 2, 0).reshape(n, h * dk) if B("merge-interleaved") else
              heads.transpose(1, 0, 2).reshape(n, h * dk))
    out = concat
    if "w_o" in p and not B("wo-forgotten"):
        out = c.r(out @ (p["w_o"].T if B("wo-transposed") else p["w_o"]))
        if "b_o" in p and not B("bo-forgotten"):
            out = c.r(out + p["b_o"] * (h if B("bo-per-head") else 1))
    if B("residual-added"):
        out = c.r(out + x)
    return concat, out


def project(c, B, x, p, memory, ids):
    """q, k and v, words × columns"""
    r, s = c.r, c.s
    d, kv = x.shape[1], s.kv or s.h
    source = x if memory is None or B("kv-from-x") else memory
    values = x if B("v-from-x") else source
    if B("q-from-memory"):
        x, source, values = memory, x, x
    if s.rot and B("rope-x"):
        x = source = rope(c, x, ids)
    add = lambda z, b: r(z + p[b]) if b in p and not B(b.replace("_", "") + "-forgotten") else z
    qkv = [add(r(z @ p["w_" + i]), "b_" + i) for i, z in (("q", x), ("k", source), ("v", values))]
    if B("chunk-kqv"):
        qkv = [qkv[i] for i in (1, 0, 2)]
    if B("chunk-vkq"):
        qkv = [qkv[i] for i in (2, 1, 0)]
    if B("chunk-per-head"):
        cut = np.concatenate(qkv, 1).reshape(len(x), kv, 3, -1)
        qkv = [cut[:, :, i].reshape(len(x), -1) for i in range(3)]
    q, k, v = qkv
    if B("wk-for-q"):
        q = add(r(x @ p["w_k"]), "b_k")
    if B("wk-transposed"):
        k = add(r(source @ p["w_k"].T), "b_k")
    return q, k, k if B("v-is-k") else values if B("v-is-x") else v


def attention(c, x, p, memory=None, at="", causal=False, valid=None, offset=0):
    """all matrices of one attention; at says which of several attentions of a program this is"""
    s, r = c.s, c.r
    B = lambda mistake: c.has(mistake + at)
    n, d = x.shape
    h, kv, ids = s.h, s.kv or s.h, np.arange(n) + offset
    t = dict(x=x, **p)
    if memory is not None:
        t["memory"] = memory
    if s.pos and not B("pos-to-qk"):
        t["positions"] = sinusoids(c, ids, d)
        x = x if B("pos-forgotten") else r(x * t["positions"] if B("pos-times") else x + t["positions"])
        t["positioned"] = x
    q, k, v = project(c, B, x, p, memory, ids)
    if s.pos and B("pos-to-qk"):
        q, k = r(q + sinusoids(c, ids, q.shape[1])), r(k + sinusoids(c, ids, k.shape[1]))
    t |= dict(q=q, k=k, v=v)
    whole = s.rot and B("rope-before-split")
    if whole:
        q, k = rope(c, q, ids), rope(c, k, ids)
    q, k, v = split(c, q, h), split(c, k, kv), split(c, v, kv)
    if s.rot and not whole and not B("rope-x") and not B("rope-forgotten"):
        q = rope(c, q, ids + B("rope-q-offset"))
        if not B("rope-q-only"):
            k = rope(c, k, -ids if B("rope-qk-opposite") else ids)
        v = rope(c, v, ids) if B("rope-v") else v
        t |= dict(rotated_q=q, rotated_k=k)
    k, v = grouped(c, k, v)
    may = allowed_of(c, B, q.shape[1], k.shape[1], causal, valid, offset)
    t |= attend(c, q, k, v, may, B, d)
    t["concat"], t["output"] = merge_project(c, B, t["heads"], p, t["x"])
    t["mask"] = allowed_of(c, lambda mistake: False, q.shape[1], k.shape[1], causal, valid, offset)
    return t

# ---- programs: each returns the arrays that it saves and the options that belong to them ----------------------------


def single(c):
    s = c.s
    x = c.normal(s.n, s.d, scale=s.rng_scale)
    memory = c.normal(s.m, s.d) if s.m else None
    t = attention(c, x, parameters(c, s.d), memory, "", s.causal, s.valid, s.offset)
    return named(c, t), []


def sdpa(q, k, v, attn_mask=None, is_causal=False, scale=None, enable_gqa=False, repeat=torch.repeat_interleave):
    """F.scaled_dot_product_attention, as the documentation of PyTorch 2 spells it out"""
    n, m = q.shape[-2], k.shape[-2]
    bias = torch.zeros(n, m, dtype=q.dtype)
    if is_causal:
        bias.masked_fill_(torch.ones(n, m).tril() == 0, -math.inf)
    if attn_mask is not None:
        bias = bias.masked_fill(~attn_mask, -math.inf) if attn_mask.dtype == torch.bool else bias + attn_mask
    if enable_gqa:
        k, v = repeat(k, q.shape[0] // k.shape[0]), repeat(v, q.shape[0] // v.shape[0])
    scale = q.shape[-1] ** -0.5 if scale is None else scale
    return torch.softmax(q @ k.transpose(-2, -1) * scale + bias, -1) @ v


def fused_kernel(c):
    """q, k and v go into F.scaled_dot_product_attention; nothing between is seen"""
    s, h, kv = c.s, c.s.h, c.s.kv or c.s.h
    n, m, dk = s.n, s.m or s.n, s.dk or s.d // s.h
    q, k, v = (torch.from_numpy(np.asarray(c.normal(i, j, dk))) for i, j in ((h, n), (kv, m), (kv, m)))
    how = {}
    if s.causal or s.valid:
        may = torch.from_numpy(allowed_of(c, c.has, n, m, s.causal, s.valid, s.offset))
        how = dict(attn_mask=may.to(q.dtype) if c.has("mask-added") else may)
    if c.has("mask-forgotten"):
        how = {}
    how["scale"] = scale_of(c, c.has, s.d, dk)
    if kv != h:
        how |= dict(enable_gqa=True, repeat=lambda z, g: z.repeat(g, 1, 1) if c.has("gqa-repeat") else
                    z[:1].expand(h, -1, -1) if c.has("gqa-first") else z.repeat_interleave(g, 0))
    out = sdpa(q, k, v, **how)
    a = dict(q=q.numpy(), k=k.numpy(), v=v.numpy(), out=out.numpy())
    if s.flat:
        a = {name: z.transpose(1, 0, 2).reshape(z.shape[1], -1) for name, z in a.items()}
    if "weights" in s.save:
        a["attn"] = sdpa(q, k, torch.eye(m, dtype=q.dtype).expand(kv, m, m), **how).numpy()
    return finish(c, a), []


def cached(c):
    """words go in one after the other behind a prompt; keys and values are kept"""
    s, r, B = c.s, c.r, c.has
    x, p, n = c.normal(s.n, s.d), parameters(c, s.d), s.n
    h, kv = s.h, s.kv or s.h
    K = V = np.zeros((kv, 0, p["w_k"].shape[1] // kv))
    a, joined = named(c, dict(x=x, **p), finished=False), []
    edges = [0, *range(s.prompt, n + 1)]
    for step, (begin, end) in enumerate(zip(edges, edges[1:]), 1):
        ids = np.arange(end - begin) + (0 if B("cache-restart") else begin - 1 if begin and B("cache-position-late")
                                        else begin)
        xs = r(x[begin:end] + sinusoids(c, ids, s.d)) if s.pos else x[begin:end]
        q, k, v = project(c, B, xs, p, None, ids)
        t = dict(q=q, k=k, v=v)
        q, k, v = split(c, q, h), split(c, k, kv), split(c, v, kv)
        if s.rot:
            q, k = rope(c, q, ids), rope(c, k, ids)
            K = rope(c, K, np.arange(begin)) if begin and B("cache-turned-again") else K
        v = k if begin and B("cache-v-is-k") else v
        old_K = K
        if begin and B("cache-overwritten"):
            K, V = k, v
        else:
            K = np.concatenate([k, K] if B("cache-k-first") else [K, k], 1)
            V = np.concatenate([v, V] if B("cache-v-first") else [V, v], 1)
        keys, values = K, V
        if begin and B("cache-newest"):
            keys, values = K[:, :-1], V[:, :-1]
        if begin and B("cache-stale"):                        # the slot of the newest key has still zeros
            keys = np.concatenate([old_K, np.zeros_like(k)], 1)
        if B("cache-empty"):
            keys, values = (np.concatenate([z, np.zeros((kv, n - end, z.shape[2]), z.dtype)], 1) for z in (K, V))
        late = np.arange(keys.shape[1])[None, :] - np.arange(begin, end)[:, None]
        may = np.ones(late.shape, bool) if B("cache-empty") or B("cache-prompt") else late <= 0
        if B("cache-overwritten"):
            may = np.ones(late.shape, bool) if begin else may
        if s.window:
            may &= late > -(s.window + (1 if B("cache-window-more") else -1 if B("cache-window-less") else 0))
        wide = grouped(c, keys, values)
        t |= attend(c, q, *wide, may, B, s.d)
        t["concat"], t["output"] = merge_project(c, B, t["heads"], p, xs)
        t["cached_k"], t["cached_v"] = (z.transpose(1, 0, 2).reshape(z.shape[1], -1) for z in (keys, values))
        joined.append(t)
        if s.steps:
            for name in s.save.split():
                if name in ("q", "k", "v", "weights", "output"):
                    key = "cached_" + name if s.cached and name in "kv" else name
                    a[f"step.{step}.{name}"] = t[key][0] if name == "weights" and h == 1 else t[key]
    if not s.steps:
        pad = lambda w: np.concatenate([w, np.zeros((h, w.shape[1], n - w.shape[2]), w.dtype)], 2)
        t = {i: np.concatenate([t[i] for t in joined]) for i in ("q", "k", "v", "output")}
        if not B("cache-overwritten"):
            t["weights"] = np.concatenate([pad(j["weights"]) for j in joined], 1)
        a |= named(c, t, finished=False)
    if s.window:
        a["mask"] = np.tril(np.ones((n, n))) - np.tril(np.ones((n, n)), -s.window) > 0
        return finish(c, a), []
    return finish(c, a), ["--causal"] if not s.unsaid else []


def norm(c, x, gamma, beta, at=""):
    """mean, variance, normalised and output of layer or root mean square normalisation"""
    s, r = c.s, c.r
    B = lambda mistake: c.has(mistake + at)
    eps = 0.1 if B("norm-eps-large") else s.eps
    n = x.shape[-1]
    if s.norm_kind == "rms":
        z = r(x - x.mean(-1, keepdims=True)) if B("rms-mean") else x
        square = r((z * z).sum(-1, keepdims=True) / (1 if B("rms-sum") else n - 1 if B("rms-n-1") else n))
        normalised = r(z / ((square + eps) if B("rms-no-root") else np.sqrt(square + eps)))
        return dict(normalised=normalised, output=r(normalised * (gamma + B("norm-gamma-one"))))
    axis = 0 if B("norm-columns") else None if B("norm-all") else -1
    mean = x.mean(axis, keepdims=True)
    variance = x.var(axis, keepdims=True, ddof=int(B("norm-n-1")))
    centred = x if B("norm-mean") else r(x - mean)
    std = np.sqrt(variance) + eps if B("norm-eps-outside") else np.sqrt(variance + eps)
    normalised = r(x - mean / std if B("norm-brackets") else centred * std if B("norm-multiplied") else
                   centred / (variance + eps) if B("norm-variance") else centred / std)
    if B("norm-gamma-first"):
        return dict(mean=mean, variance=variance, normalised=normalised, output=r((normalised + beta) * gamma))
    out = r(normalised * (gamma + B("norm-gamma-one")))
    out = out if beta is None or B("norm-beta-forgotten") else r(out + beta)
    return dict(mean=mean, variance=variance, normalised=normalised, output=out)


def norm_alone(c):
    s = c.s
    x, gamma, beta = c.normal(s.n, s.d, scale=1.5) + c.r(0.7), c.r(1 + c.normal(s.d, scale=0.4)), c.normal(s.d)
    x = c.r(x)
    t = norm(c, x, gamma, beta)
    recorded = s.names == "pt"  # an nn.LayerNorm, as recorders of modules name its tensors
    names = {"parameter.weight" if recorded else "gamma": gamma, "input..input" if recorded else "x": x}
    if s.norm_kind == "layer":
        names["parameter.bias" if recorded else "beta"] = beta
    wanted = [i for i in ("mean", "variance", "normalised") if i in s.save and i in t]
    a = dict(**names, **{{"variance": "var", "normalised": "x_norm"}.get(i, i): t[i] for i in wanted})
    return finish(c, a | {"output" if recorded else "out": t["output"]}), \
        ["layer-norm"] + (["--norm-kind", "rms"] if s.norm_kind == "rms" else []) + epsilon(s)


def epsilon(s):
    return [] if s.eps == 1e-5 or "epsilon" in s.unsaid else ["--epsilon", f"{s.eps:g}"]


def activation(z, name):
    z = torch.from_numpy(np.ascontiguousarray(z))
    if name == "gelu-tanh":                                   # PyTorch's approximate="tanh"
        return (0.5 * z * (1 + torch.tanh(math.sqrt(2 / math.pi) * (z + 0.044715 * z ** 3)))).numpy()
    return dict(relu=torch.relu, gelu=torch.nn.functional.gelu, silu=torch.nn.functional.silu)[name](z).numpy()


def feed_forward(c, x, p, at=""):
    B, r = lambda mistake: c.has(mistake + at), c.r
    b = lambda i: p[i] if i in p and not (i == "b_1" and B("ff-b1-forgotten")) else 0
    act = "gelu" if B("ff-gelu") else "relu" if B("ff-relu-for-gelu") else c.s.act
    inner = r(x @ p["w_1"] + b("b_1"))
    if c.s.gated:
        gate = r(x @ p["w_gate"] + b("b_gate"))
        gate, inner = (inner, gate) if B("ff-gate-swapped") else (gate, inner)
        z = r(r(activation(gate, act)) * inner)
    else:
        z = inner if B("ff-no-activation") or B("ff-activation-last") else r(activation(inner, act))
    z = c.drop(z, 0.2) if B("ff-dropout") else z
    z = r(z @ p["w_2"] + b("b_2"))
    return r(activation(z, act)) if B("ff-activation-last") else z


def layer_parameters(c, norms, cross):
    s = c.s
    p = dict(self_attn=parameters(c, s.d, bias=s.bias))
    if cross:
        p["multihead_attn"] = parameters(c, s.d, bias=s.bias)
    shapes = dict(w_1=(s.d, s.d_ff), w_2=(s.d_ff, s.d), **({"w_gate": (s.d, s.d_ff)} if s.gated else {}))
    p["ff"] = {i: c.normal(*shape, scale=1.3 / math.sqrt(shape[0])) for i, shape in shapes.items()}
    if s.bias:
        p["ff"] |= {i.replace("w", "b", 1): c.normal(shape[1], scale=0.4) for i, shape in shapes.items()}
    p["norms"] = [(c.r(1 + c.normal(s.d, scale=0.3)), c.normal(s.d, scale=0.3) if s.norm_kind == "layer" and s.bias
                   else None) for _ in range(norms)]
    return p


def parameter_names(c, p, prefix, side):
    """a layer's parameters as its state dictionary has them, or by attn's names where PyTorch has no such module"""
    a = {}
    own = c.s.gated or c.s.kv
    for module, block in p.items():
        if own:
            scope = {"self_attn": "self_attention.", "multihead_attn": "cross_attention.", "ff": "feed_forward."}
            if module == "norms":
                a |= {f"{prefix}norm_{i}.{n}": z for i, pair in enumerate(block, 1)
                      for n, z in zip(("gamma", "beta"), pair) if z is not None}
            else:
                a |= {prefix + scope[module] + i: z for i, z in block.items()}
        elif module == "norms":
            a |= {f"{prefix}norm{i}.{n}": z for i, pair in enumerate(block, 1)
                  for n, z in zip(("weight", "bias"), pair) if z is not None}
        elif module == "ff":
            a |= {prefix + {"w_1": "linear1.weight", "w_2": "linear2.weight", "b_1": "linear1.bias",
                            "b_2": "linear2.bias"}[i]: z.T for i, z in block.items()}
        else:
            a |= {prefix + module + "." + i: z for i, z in in_proj(block).items()}
    return a


def in_proj(p):
    a = {"in_proj_weight": np.concatenate([p["w_" + i].T for i in "qkv"])}
    if "b_q" in p:
        a["in_proj_bias"] = np.concatenate([p["b_" + i] for i in "qkv"])
    if "w_o" in p:
        a["out_proj.weight"] = p["w_o"].T
    if "b_o" in p:
        a["out_proj.bias"] = p["b_o"]
    return a


def stack(c, decoder=False):
    """layers of an encoder, or of a decoder with cross-attention"""
    s, r = c.s, c.r
    x, memory = c.normal(s.n, s.d), c.normal(s.m, s.d) if decoder else None
    layers = [layer_parameters(c, 3 if decoder else 2, decoder) for _ in range(s.layers)]
    last = (c.r(1 + c.normal(s.d, scale=0.3)), c.normal(s.d, scale=0.3) if s.norm_kind == "layer" else None)
    a = {"input..tgt" if decoder else "input..src": x} | ({"input..memory": memory} if decoder else {})
    own, side = s.gated or s.kv, "decoder" if decoder else "encoder"
    for i, p in enumerate(layers):
        prefix = f"{side}.{i + 1}." if own else f"layers.{i}." if s.layers > 1 else ""
        a |= {"parameter." + j: z for j, z in parameter_names(c, p, prefix, side).items()}
    seen, first = {}, x
    for i, p in enumerate(layers):
        at = f"@{i + 1}" if s.layers > 1 else ""
        B = lambda mistake: c.has(mistake + at)
        p = layers[0] if i and c.has("layer-1-twice") else p
        x = first if i and c.has("layers-parallel") else x
        given, norms = x, p["norms"]
        blocks = [("self_attn", lambda z: attention(c, z, p["self_attn"], None, at + "@self" if decoder else at,
                                                    s.causal, s.valid))]
        if decoder and not B("cross-forgotten"):
            blocks.append(("cross_attn", lambda z: attention(c, z, p["multihead_attn"], memory, at + "@cross")))
        blocks.append(("ff", lambda z: dict(output=feed_forward(c, given if B("ff-of-x") else z, p["ff"], at))))
        post = s.norm == "post" and not B("norm-pre-for-post")
        for j, (name, block) in enumerate(blocks):
            number = 2 if name == "ff" else 1 if name == "self_attn" else 0
            which = len(norms) - 1 if name == "ff" else j
            which = 0 if name == "ff" and B("norm-1-twice") else which
            normalise = lambda z: norm(c, z, *norms[which], at + "@norm")["output"]
            t = block(x if post else normalise(x))
            for key in ("weights", "output"):
                if key in t:
                    seen[f"{name}.{i}.{key}"] = t[key]
            keep = not (number and B(f"residual-{number}-forgotten"))
            base = normalise(x) if not post and B("residual-normed") else x
            if post and B("norm-inside"):
                x = r(x + normalise(t["output"]))
            else:
                x = r(base + t["output"]) if keep else t["output"]
                x = normalise(x) if post and not (name == "ff" and B("norm-2-forgotten")) else x
            seen[f"norm.{i}.{j}"] = x
    if s.final:
        a |= {"parameter.norm.weight" if not own else f"parameter.{side}.norm.gamma": last[0]}
        a |= {"parameter.norm.bias": last[1]} if last[1] is not None else {}
        x = norm(c, x, *last, "@last")["output"]
    one = s.layers == 1
    for key, z in seen.items():
        name, i, *rest = key.split(".")
        if name == "norm" and "norms" in s.save and s.norm == "post":
            a[f"norm{int(rest[0]) + 1}" if one else f"layers.{i}.norm{int(rest[0]) + 1}"] = z
        elif rest == ["weights"] and "weights" in s.save:
            a[f"{name}_weights" if one else f"layers.{i}.{name}_weights"] = z[0] if len(z) == 1 else z
        elif rest == ["output"] and "sub" in s.save:
            a[name if one else f"layers.{i}.{name}"] = z
    a["output"] = x
    args = [side, *heads(s)] + (["--norm", "pre"] if s.norm == "pre" else [])
    args += ["--norm-kind", "rms"] if s.norm_kind == "rms" else []
    args += ["--activation", s.act] if s.act != "relu" and "act" not in s.unsaid else []
    args += ["--gated"] if s.gated else []
    args += ["--causal"] if s.causal and not decoder and "causal" not in s.unsaid else []
    return finish(c, a), args + epsilon(s)


def decoder(c):
    return stack(c, True)


def positions(c):
    s = c.s
    return finish(c, {s.names: sinusoids(c, np.arange(s.n), s.d)}), ["positions"]


def loss(c):
    s = c.s
    z = c.normal(s.n, s.d, scale=1.5)
    words = c.rng.permutation(s.d)[:s.n + 1]
    targets = words[:-1] if c.has("labels-not-shifted") else words[1:]
    soft = lambda a: np.exp(a - a.max(-1, keepdims=True)) / np.exp(a - a.max(-1, keepdims=True)).sum(-1, keepdims=True)
    probs = soft(soft(z)) if c.has("loss-softmax") else soft(z)
    losses = -np.log(probs[np.arange(s.n), targets]) / (math.log(2) if c.has("loss-log2") else 1)
    a = dict(logits=z, losses=c.r(losses[:, None]))
    if "probs" in s.save:
        a["distribution"] = c.r(probs)
    return finish(c, a), ["cross-entropy", "--targets", ",".join(str(i + 1) for i in words[1:])]

# ---- what is saved, under which names ------------------------------------------------------------------------------

NAMES = {  # those of a scheme that differ from attn's own
    "np": dict(w_q="Wq", w_k="Wk", w_v="Wv", w_o="Wo", b_q="bq", b_k="bk", b_v="bv", b_o="bo", q="Q", k="K", v="V",
               weights="attn", heads="head", output="out", concat="context"),
    "us": dict(w_q="W_q", w_k="W_k", w_v="W_v", w_o="W_o", weights="attention_weights"),
    "low": dict(w_q="wq", w_k="wk", w_v="wv", w_o="wo", weights="weights", output="output"),
    "pt": dict(w_q="q_proj.weight", w_k="k_proj.weight", w_v="v_proj.weight", w_o="o_proj.weight", b_q="q_proj.bias",
               b_k="k_proj.bias", b_v="v_proj.bias", b_o="o_proj.bias", weights="attn_weights", output="attn_output"),
    "bert": dict(w_q="query.weight", w_k="key.weight", w_v="value.weight", w_o="out_proj.weight", b_q="query.bias",
                 b_k="key.bias", b_v="value.bias", b_o="out_proj.bias", weights="attn_probs", output="out"),
    "fused": dict(weights="attn_weights", output="output"),
}
GROUPS = dict(x=("x", "memory"), par=tuple(a + "_" + b for b in "qkvo" for a in "wb"), qkv=("q", "k", "v"),
              rot=("rotated_q", "rotated_k"), out=("output",), pos=("positions", "positioned"))


def named(c, t, finished=True):
    """the matrices that the case saves, under its names"""
    s, names = c.s, NAMES[c.s.names]
    wanted = [j for i in s.save.split() for j in GROUPS.get(i, (i,)) if j in t]
    fused = s.names == "fused" and "par" in s.save.split()
    a = in_proj(t) if fused else {}
    for key in wanted:
        if fused and key[:2] in ("w_", "b_"):
            continue
        z, name = t[key], names.get(key, key)
        if key.startswith("w_") and name.endswith(".weight"):
            z = z.T
        if key in ("q", "k", "v") and not s.flat and s.h > 1:
            z = z.reshape(len(z), -1, t["heads"].shape[2]).transpose(1, 0, 2)
        if z.ndim == 3 and key not in ("q", "k", "v", "x"):
            if len(z) == 1:
                z = z[0]
            elif s.stack == "mean" and key == "weights":
                z = z.mean(0)
            elif s.stack == "each":
                a |= {f"head{i}_{name}": one for i, one in enumerate(z)}
                continue
        if s.batch and key in ("x", "memory", "q", "k", "v", "output", "weights", "scores", "scaled", "concat"):
            z = z[None]
        a[name] = z
    return finish(c, a) if finished else a


def finish(c, a):
    types = dict(f64=np.float64, f32=np.float32, bf16=np.float32, f16=np.float16)
    out = {}
    for name, z in a.items():
        z = np.asarray(z)
        if z.dtype != bool:
            z = z.astype(types[c.s.dtype])
            z = z if c.s.decimals is None else np.round(z, c.s.decimals)
        out[name] = z
    return out


def heads(s):
    return (["--heads", str(s.h)] if s.h > 1 and "heads" not in s.unsaid else []) + \
        (["--kv-heads", str(s.kv)] if s.kv and "kv" not in s.unsaid else [])


def options(s):
    """the options of a single attention"""
    args = heads(s)
    args += ["--causal"] if s.causal and "causal" not in s.unsaid else []
    args += ["--causal-offset", str(s.offset)] if s.offset else []
    args += ["--valid-length", str(s.valid)] if s.valid and "valid" not in s.unsaid else []
    args += ["--positions", s.rot] if s.rot and "rot" not in s.unsaid else []
    return args + (["--positions", "sinusoidal"] if s.pos else [])

# ---- the cases: kind, idiom, program, mistakes, settings -----------------------------------------------------------

IO, IWO, ALL = "x par out", "x par weights out", "x par qkv scores scaled weights concat out"
MH = dict(h=2, d=8, n=5)
PT = dict(names="pt", dtype="f32")
GQA = dict(h=4, kv=2, d=8, n=5)
ROT = dict(rot="rotary-halves", h=2, d=8, n=5)
SD = dict(names="pt", dtype="f32", h=2, d=8, n=5, save="qkv out", flat=False)
LAYER = dict(h=2, d=8, n=5, bias=True, dtype="f32", save="")


def row(kind, idiom, program, *mistakes, **settings):
    merged = {}
    for part in settings.pop("use", ()):
        merged |= part
    return kind, idiom, program, mistakes, merged | settings


WRONG = [
    # single attention
    row("attention", "einsum", single, "no-scale", use=[MH, PT], save=IO, unsaid=["causal"], causal=True),
    row("attention", "numpy", single, "scale-dmodel", use=[MH], save=IWO, names="us"),
    row("attention", "scaled queries", single, "scale-twice", use=[MH, PT], save=IWO),
    row("attention", "numpy", single, "softmax-queries", save=ALL, n=5, d=6, names="low"),
    row("attention", "torch", single, "softmax-queries", use=[MH, PT], save=IO, causal=True, unsaid=["causal"]),
    row("attention", "torch", single, "softmax-heads", use=[PT], h=3, d=6, n=4, save=IWO),
    row("attention", "stable softmax", single, "sum-keepdims", n=4, d=6, save="x par scores weights out"),
    row("attention", "stable softmax", single, "max-keepdims", n=4, d=6, save=IWO, names="us"),
    row("attention", "stable softmax", single, "max-column", n=5, d=6, save=IO),
    row("attention", "stable softmax", single, "max-after", n=4, d=6, save=IWO, names="low"),
    row("attention", "torch", single, "softmax-double", use=[MH, PT], save=IWO),
    row("attention", "torch", single, "softmax-log", n=4, d=6, dtype="f32", save=IWO),
    row("attention", "numpy", single, "softmax-plus-one", n=4, d=6, save=IO, names="us"),
    row("attention", "einsum", single, "temperature", use=[MH], save=IO),
    row("attention", "einsum", single, "scores-transposed", use=[MH, PT], save=IWO),
    row("attention", "einsum", single, "weights-transposed", use=[MH, PT], save=IO),
    row("attention", "numpy", single, "elementwise", n=4, d=4, wo=False, save=IWO, names="low"),
    row("attention", "numpy", single, "v-is-k", use=[MH], save=IO),
    row("attention", "torch", single, "dropout", n=5, d=6, dtype="f32", save=IO, causal=True, unsaid=["causal"]),
    row("attention", "numpy", single, "wo-forgotten", use=[MH], save=IWO, names="us"),
    row("attention", "torch", single, "bo-per-head", use=[PT], h=3, d=6, n=4, bias=True, save=IO),
    # heads
    row("heads", "fused qkv", single, "chunk-kqv", use=[MH], names="fused", dtype="f32", bias=True, save=IWO),
    row("heads", "fused qkv", single, "chunk-per-head", use=[MH], names="fused", dtype="f32", save=IO),
    row("heads", "fused qkv", single, "view-no-transpose", use=[MH, PT], save=IWO),
    row("heads", "view", single, "merge-no-transpose", use=[MH, PT], save=IWO, bias=True),
    row("heads", "view", single, "merge-no-transpose", h=3, d=6, n=4, save=IO, unsaid=["causal"], causal=True),
    row("heads", "loop", single, "last-head-out", h=3, d=6, n=4, save=IWO, names="us", stack="each"),
    row("heads", "einops", single, "merge-interleaved", use=[MH], save=IO),
    row("heads", "gqa", single, "gqa-repeat", use=[GQA, PT], save=IWO),
    row("heads", "gqa", fused_kernel, "gqa-repeat", use=[SD], h=4, kv=2, flat=True),
    row("heads", "gqa", single, "gqa-v-repeat", use=[GQA, PT], save=IO, unsaid=["causal"], causal=True),
    # masks and F.scaled_dot_product_attention
    row("mask", "sdpa", fused_kernel, "scale-multiplied", use=[SD], flat=True),
    row("mask", "sdpa", fused_kernel, "no-scale", use=[SD], causal=True),
    row("mask", "sdpa", fused_kernel, "mask-added", use=[SD], causal=True, h=1, d=4),
    row("mask", "sdpa", fused_kernel, "mask-reversed", use=[SD], valid=3, flat=True),
    row("mask", "sdpa", fused_kernel, "mask-top-left", use=[SD], n=2, m=5, offset=3, causal=True, h=1, d=4),
    row("mask", "sdpa", fused_kernel, "mask-upper", use=[SD], causal=True, unsaid=["causal"], flat=True),
    row("mask", "torch", single, "mask-forgotten", use=[MH, PT], causal=True, save=IO),
    row("mask", "numpy", single, "mask-next", n=5, d=6, causal=True, save=IWO),
    row("mask", "torch", single, "mask-next", use=[MH, PT], causal=True, save=IO, unsaid=["causal"]),
    row("mask", "torch", single, "mask-strict", use=[MH], causal=True, fill=-1e9, save=IO, names="us"),
    row("mask", "numpy", single, "mask-multiplied", n=4, d=6, causal=True, unsaid=["causal"],
        save="x par scores masked weights out"),
    row("mask", "torch", single, "mask-after", use=[MH, PT], causal=True, save=IWO, unsaid=["causal"]),
    row("mask", "numpy", single, "mask-fill", n=5, d=6, causal=True, save=IO, names="low"),
    row("mask", "numpy", single, "mask-queries", n=5, d=6, valid=3, save=IO),
    row("mask", "torch", single, "padding-forgotten", use=[MH, PT], valid=3, causal=True, save=IO),
    # caches
    row("cache", "cache", cached, "cache-k-first", n=5, d=6, save="x par k weights output"),
    row("cache", "cache", cached, "cache-v-first", n=4, d=6, save=IO, steps=False, names="us"),
    row("cache", "cache", cached, "cache-overwritten", n=4, d=6, save="x par out", steps=False),
    row("cache", "cache", cached, "cache-newest", n=5, d=6, save="x par weights output", prompt=2),
    row("cache", "cache", cached, "cache-restart", n=5, d=6, pos=True, save="x par q k v output", cached=False,
        args=["--positions", "sinusoidal"]),
    row("cache", "rotary cache", cached, "cache-restart", use=[ROT], dtype="f32", save=IWO, steps=False,
        args=["--heads", "2", "--positions", "rotary-halves"]),
    row("cache", "window cache", cached, "cache-window-more", n=6, d=6, window=3, steps=False, save=IWO),
    row("cache", "cache", cached, "cache-prompt", n=5, d=8, h=2, prompt=3, save=IWO, steps=False, dtype="f32",
        args=["--heads", "2"]),
    row("cache", "static cache", cached, "cache-empty", n=5, d=6, save=IWO, steps=False),
    row("cache", "cache", cached, "cache-v-is-k", n=4, d=6, save="x par k v output", unsaid=["causal"]),
    # rotary
    row("rotary", "einsum", single, "rope-layout", use=[ROT, PT], save=IWO, causal=True, unsaid=["causal"]),
    row("rotary", "numpy", single, "rope-v", n=5, d=4, rot="rotary", save=IO),
    row("rotary", "torch", single, "rope-base", use=[ROT, PT], save="x par qkv rot weights out"),
    row("rotary", "torch", single, "rope-q-offset", use=[ROT, PT], save=IO, unsaid=["causal"], causal=True),
    row("rotary", "numpy", single, "rope-qk-opposite", n=4, d=6, rot="rotary", save=IWO, names="us"),
    row("rotary", "torch", single, "rope-x", use=[ROT, PT], save=IO),
    row("rotary", "torch", single, "rope-before-split", use=[ROT, PT], save=IWO, causal=True, unsaid=["causal"]),
    row("rotary", "torch", single, "rope-mixed", use=[ROT, PT], save="x par rot out"),
    # norms
    row("norm", "numpy", norm_alone, "norm-n-1", n=4, d=6, save="mean variance"),
    row("norm", "torch", norm_alone, "norm-eps-outside", n=4, d=5, eps=1e-3, names="pt"),
    row("norm", "torch", norm_alone, "norm-multiplied", n=4, d=6, names="pt", dtype="f32"),
    row("norm", "numpy", norm_alone, "norm-brackets", n=3, d=6, save="mean variance normalised"),
    row("norm", "rms", norm_alone, "rms-no-root", n=4, d=6, norm_kind="rms", save="normalised"),
    # layers
    row("layer", "torch", stack, "residual-normed", use=[LAYER], norm="pre"),
    row("layer", "torch", stack, "ff-dropout", use=[LAYER], save="weights"),
    row("layer", "torch", stack, "norm-n-1@norm", use=[LAYER], save="weights norms"),
    row("layer", "torch", stack, "ff-activation-last", use=[LAYER], norm="pre", unsaid=["causal"], causal=True),
    row("layer", "llama", stack, "ff-gate-swapped", use=[LAYER], bias=False, gated=True, act="silu", norm="pre",
        norm_kind="rms"),
    row("layer", "torch", stack, "layer-1-twice", use=[LAYER], layers=2, save="sub"),
    row("layer", "torch", decoder, "kv-from-x@cross", use=[LAYER], n=4, m=5, causal=True),
    row("layer", "torch", decoder, "v-from-x@cross", use=[LAYER], n=5, m=5, causal=True, save="weights norms"),
    row("layer", "torch", decoder, "mask-forgotten@self", use=[LAYER], n=4, m=5, causal=True),
    row("layer", "torch", decoder, "cross-causal@cross", use=[LAYER], n=4, m=6, causal=True, save="weights"),
    # positions, sums and losses
    row("positions", "numpy", positions, "pos-exponent", n=6, d=8, names="pe"),
    row("positions", "numpy", single, "pos-to-qk", n=5, d=6, pos=True, save=IWO),
    row("loss", "torch", loss, "labels-not-shifted", n=4, d=7, dtype="f32"),
    # low precision, with a mistake
    row("precision", "bf16", single, "scale-dmodel", use=[MH, PT], dtype="bf16", save=IWO),
    row("precision", "float16", single, "mask-next", use=[MH], names="pt", dtype="f16", causal=True, save=IWO),
    row("precision", "float16", single, "merge-no-transpose", use=[MH], names="pt", dtype="f16", save=IO),
]

WRONG_TWO = [
    row("attention", "numpy", single, "no-scale", "softmax-queries", n=5, d=6, save=ALL),
    row("attention", "torch", single, "no-scale", "mask-forgotten", use=[MH, PT], causal=True, save=IWO),
    row("attention", "torch", single, "softmax-double", "wo-forgotten", use=[MH, PT], save=IWO),
    row("heads", "view", single, "view-no-transpose", "scale-dmodel", use=[MH, PT], save=IWO),
    row("heads", "fused qkv", single, "chunk-per-head", "merge-no-transpose", use=[MH], names="fused", dtype="f32",
        save="x par qkv weights out"),
    row("mask", "numpy", single, "mask-next", "scale-twice", n=5, d=6, causal=True, save=IWO, unsaid=["causal"]),
    row("mask", "torch", single, "mask-after", "bo-forgotten", use=[MH, PT], bias=True, causal=True, save=IWO),
    row("rotary", "torch", single, "rope-layout", "no-scale", use=[ROT, PT], save="x par rot weights out",
        causal=True),
    row("rotary", "gqa", single, "gqa-repeat", "rope-v", use=[ROT, PT], h=4, kv=2, d=16, save=IWO),
    row("cache", "cache", cached, "cache-restart", "no-scale", n=5, d=6, pos=True, save="x par q weights output",
        args=["--positions", "sinusoidal"]),
    row("layer", "torch", stack, "norm-n-1@norm", "ff-gelu", use=[LAYER], save="weights norms"),
    row("layer", "torch", decoder, "kv-from-x@cross", "mask-forgotten@self", use=[LAYER], n=4, m=5, causal=True,
        save="weights norms"),
    row("norm", "numpy", norm_alone, "norm-n-1", "norm-beta-forgotten", n=4, d=6, save="variance normalised"),
    row("precision", "bf16", single, "mask-forgotten", "wo-forgotten", use=[MH, PT], dtype="bf16", causal=True,
        save=IWO),
    row("attention", "stable softmax", single, "sum-keepdims", "v-is-k", n=4, d=6, save=IWO, names="low"),
]

RIGHT = [
    row("attention", "numpy", single, n=4, d=6, save=ALL),
    row("attention", "torch", single, use=[MH, PT], save=IWO, bias=True),
    row("attention", "torch", single, use=[MH], names="bert", dtype="f32", save=ALL, bias=True),
    row("attention", "einsum", single, use=[MH, PT], save=ALL, causal=True),
    row("attention", "stable softmax", single, n=5, d=6, soft="global", save=IWO, names="us"),
    row("attention", "stable softmax", single, use=[MH], soft="none", save=ALL),
    row("attention", "log-sum-exp", single, use=[MH, PT], soft="log", save=IWO),
    row("attention", "scaled queries", single, use=[MH, PT], scaled_q=True, save=IWO),
    row("attention", "scaled queries", single, n=4, d=6, scaled_q=True, save="x par scores weights out", dtype="f32"),
    row("attention", "batch of one", single, use=[MH, PT], batch=True, save=IWO, flat=False),
    row("attention", "batch of one", single, n=4, d=6, batch=True, save="x par scores weights out"),
    row("attention", "4 decimals", single, n=4, d=6, decimals=4, save=IWO),
    row("attention", "4 decimals", single, use=[MH], decimals=4, save=ALL, causal=True, names="us"),
    row("attention", "rounded inputs", single, use=[MH], inputs_decimals=2, save=IWO, names="low"),
    row("attention", "cross", single, n=3, m=5, d=6, save=IWO),
    row("heads", "weights averaged", single, use=[MH, PT], stack="mean", save=IWO),
    row("heads", "weights of each head", single, use=[MH], stack="each", save=IWO, names="us"),
    row("heads", "heads unsaid", single, use=[MH, PT], unsaid=["heads"], save=IWO),
    row("heads", "heads unsaid", single, use=[MH], unsaid=["heads"], names="us", save=ALL, flat=False),
    row("heads", "fused qkv", single, use=[MH], names="fused", dtype="f32", bias=True, save=IWO),
    row("heads", "fused qkv", single, h=3, d=6, n=4, names="fused", dtype="f32", save=IO),
    row("heads", "gqa", single, use=[GQA, PT], save=IWO, causal=True),
    row("heads", "gqa", single, use=[GQA, PT], save=IWO, unsaid=["kv"]),
    row("heads", "gqa", fused_kernel, use=[SD], h=4, kv=2, flat=True),
    row("mask", "sdpa", fused_kernel, use=[SD], causal=True),
    row("mask", "sdpa", fused_kernel, use=[SD], causal=True, unsaid=["causal"], flat=True),
    row("mask", "sdpa", fused_kernel, use=[SD], valid=3, flat=True),
    row("mask", "-1e9", single, use=[MH, PT], causal=True, fill=-1e9, save=IWO),
    row("mask", "-1e9", single, n=5, d=6, causal=True, fill=-1e9, save="x par masked weights out"),
    row("mask", "exp times mask", single, n=5, d=6, causal=True, masked_exp=True, fill=-30.0, save=IWO, names="us"),
    row("mask", "inside", single, use=[MH, PT], causal=True, unsaid=["causal"], save=IWO),
    row("mask", "inside", single, n=5, d=6, causal=True, unsaid=["causal"], save=ALL),
    row("mask", "inside, padding", single, use=[MH, PT], valid=3, unsaid=["valid"], save=IWO),
    row("mask", "mask saved", single, use=[MH, PT], causal=True, unsaid=["causal"], save=IWO + " mask"),
    row("cache", "cache", cached, n=5, d=6, save="x par q k v weights output"),
    row("cache", "cache", cached, n=5, d=8, h=2, prompt=2, steps=False, dtype="f32", save=IWO, args=["--heads", "2"]),
    row("cache", "rotary cache", cached, use=[ROT], dtype="f32", save="x par weights output", prompt=2,
        args=["--heads", "2", "--positions", "rotary-halves"]),
    row("cache", "window cache", cached, n=6, d=6, window=3, steps=False, save=IWO),
    row("rotary", "torch", single, use=[ROT, PT], save=IWO, causal=True),
    row("rotary", "numpy", single, n=5, d=6, rot="rotary", save="x par qkv rot weights out"),
    row("norm", "eps 1e-6 unsaid", norm_alone, n=4, d=6, eps=1e-6, unsaid=["epsilon"], names="pt", dtype="f32"),
    row("norm", "rms", norm_alone, n=4, d=6, norm_kind="rms", names="pt", dtype="f32", save="normalised"),
    row("layer", "torch", stack, use=[LAYER], save="weights norms"),
    row("layer", "gelu unsaid", stack, use=[LAYER], act="gelu", unsaid=["act"], norm="pre"),
    row("layer", "gelu-tanh unsaid", stack, use=[LAYER], act="gelu-tanh", unsaid=["act"]),
    row("layer", "torch", decoder, use=[LAYER], n=4, m=5, causal=True, save="weights"),
    row("precision", "bf16", single, use=[MH, PT], dtype="bf16", save=IWO),
    row("precision", "float16", single, use=[MH, PT], dtype="f16", causal=True, save=IWO),
    row("precision", "float16", single, use=[MH], names="us", dtype="f16", save=ALL),
    row("precision", "bf16", single, use=[ROT, PT], dtype="bf16", save=IO, causal=True),
]

UNSAID = dict(causal=lambda s: ["--causal"], valid=lambda s: ["--valid-length", str(s.valid)],
              heads=lambda s: ["--heads", str(s.h)], kv=lambda s: ["--kv-heads", str(s.kv)],
              act=lambda s: ["--activation", s.act], epsilon=lambda s: ["--epsilon", f"{s.eps:g}"])


def run(number, program, settings, mistakes):
    c = Case(1000 + number, settings, mistakes)
    with np.errstate(over="ignore", invalid="ignore", divide="ignore"):
        arrays, args = program(c)
    missing = set(mistakes) - c.asked
    assert not missing, f"m{number:03}: the program cannot make {missing}"
    for name, z in arrays.items():
        assert not np.isnan(z.astype(float)).any(), f"m{number:03}: {name} has NaN"
    return arrays, (args or (options(c.s) if program in (single, fused_kernel) else [])) + list(c.s.args), c.s


def same(a, b):
    return a.keys() == b.keys() and all(a[i].shape == b[i].shape and np.allclose(a[i].astype(float), b[i].astype(
        float), rtol=1e-7, atol=1e-7) for i in a)


def main():
    right = "--right" in sys.argv[1:]
    out = Path(next(i for i in sys.argv[1:] if not i.startswith("--")))
    out.mkdir(parents=True, exist_ok=True)
    cases = []
    for number, (kind, idiom, program, mistakes, settings) in enumerate(WRONG + WRONG_TWO + RIGHT, 1):
        name = f"m{number:03}"
        arrays, args, s = run(number, program, settings, () if right else mistakes)
        if not right:                                         # every mistake must change what is saved
            for one in mistakes:
                others = run(number, program, settings, [i for i in mistakes if i != one])[0]
                assert not same(arrays, others), f"{name}: {one} changes nothing"
        np.savez(out / f"{name}.npz", **arrays)
        known = [MISTAKES[i.split("@")[0]] for i in mistakes]
        step = lambda i, where: where + "".join(" (" + {"self": "self-attention", "cross": "cross-attention"}.get(p, p)
                                               + ")" for p in i.split("@")[1:] if p != "norm")
        cases.append({
            "id": name, "kind": kind, "idiom": idiom, "args": [f"{name}.npz", *args],
            "unsaid": [j for i in s.unsaid for j in UNSAID[i](s)],
            "wrong": bool(mistakes) and not right,
            "mistakes": [] if right else [text for _, text in known],
            "where": "; ".join(step(i, where) for i, (where, _) in zip(mistakes, known)),
        })
    (out / "cases.json").write_text(json.dumps(cases, indent=1, ensure_ascii=False) + "\n")


if __name__ == "__main__":
    main()
