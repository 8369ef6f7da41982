"""Attention as the papers write it, in plain NumPy and double precision: the oracle of all commands that take a problem.

Written from the papers, not from the sources of attn: Vaswani et al. 2017 (scaled dot-product, multi-head, sinusoidal
positions, feed-forward), Luong et al. 2015 (dot, bilinear), Bahdanau et al. 2014 (additive), Graves et al. 2014 (cosine),
Dive into Deep Learning 11 (Gaussian kernel), Shaw et al. 2018 (relative vectors), Su et al. 2021 (rotary), Gemma Team 2024
(soft cap), Hendrycks and Gimpel 2016 (GELU, SiLU).
"""
import math

import numpy as np

error_function = np.vectorize(math.erf, otypes=[float])

ACTIVATIONS = {
    "relu": lambda x: np.maximum(x, 0.0),
    "gelu": lambda x: x * 0.5 * (1.0 + error_function(x / math.sqrt(2.0))),
    "gelu-tanh": lambda x: 0.5 * x * (1.0 + np.tanh(math.sqrt(2.0 / math.pi) * (x + 0.044715 * x ** 3))),
    "tanh": np.tanh,
    "silu": lambda x: x / (1.0 + np.exp(-x)),
}


def softmax(x):
    """Each row; a row that is masked as a whole has no weights at all."""
    top = x.max(axis=1, keepdims=True)
    powers = np.exp(x - np.where(np.isinf(top), 0.0, top))
    sums = powers.sum(axis=1, keepdims=True)
    return np.divide(powers, sums, out=np.zeros_like(powers), where=sums != 0)


def waves(n, d, layout="sinusoidal", base=10000.0, at=None):
    """sin and cos of i / base^(2j/d), in neighboring columns or all sines first."""
    angles = np.asarray(range(n) if at is None else at)[:n, None] / base ** (2 * np.arange((d + 1) // 2) / d)
    table = np.zeros((n, d))
    if layout == "sinusoidal":
        table[:, 0::2], table[:, 1::2] = np.sin(angles), np.cos(angles)[:, :d // 2]
    else:
        table[:, :(d + 1) // 2], table[:, (d + 1) // 2:] = np.sin(angles), np.cos(angles)[:, :d // 2]
    return table


def turned(x, base=10000.0, at=None):
    """Columns 2j and 2j + 1 as a complex number, turned by i / base^(2j/d)."""
    n, d = x.shape
    pairs = (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(
        1j * np.asarray(range(n) if at is None else at)[:n, None] / base ** (2 * np.arange(d // 2) / d))
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(n, d)


def steps_up(word, parents):
    """The words on the way from a word to the root, itself first; parents count from 1, and 0 is above the root."""
    way = [word]
    while parents[way[-1]] != 0:
        way.append(parents[way[-1]] - 1)
    return way


def edges(a, b, parents):
    """How many edges of the tree lie between two words: those above either of them that are not above both."""
    return len(set(steps_up(a, parents)) ^ set(steps_up(b, parents)))


def by_distance(table, n_q, n_k, at=None, keys_at=None, parents=None):
    """For each query i and key j the column of the distance j − i, cut to −c … c, or of the edges between them in a tree,
    cut to 0 … c; a table of one row is for all."""
    at, keys_at = (range(n) if given is None else given[:n] for n, given in ((n_q, at), (n_k, keys_at)))
    if parents is None:
        c = table.shape[1] // 2
        distances = np.clip(np.subtract.outer(np.negative(at), np.negative(keys_at)), -c, c) + c
    else:
        distances = np.minimum([[edges(i, j, parents) for j in keys_at] for i in at], table.shape[1] - 1)
    return np.take_along_axis(np.broadcast_to(table, (n_q, table.shape[1])), distances, axis=1)


def unit(x):
    lengths = np.sqrt((x ** 2).sum(axis=1, keepdims=True))
    return np.divide(x, lengths, out=np.zeros_like(x), where=lengths > 0)


class How:
    """How queries, keys and values attend: everything beside their numbers."""
    score, sigma, scale, multiply, cap, fill = "scaled-dot", 1.0, None, None, None, -np.inf
    positions, base, table = "none", 10000.0, None
    at, keys_at, parents = None, None, None  # positions of queries and keys where they do not begin with 0; a tree
    allowed, bias = None, None  # what the masks permit, and what is added
    heads, kv_heads = 1, None

    def __init__(self, **members):
        self.m = self.w_q = self.w_k = self.w_v = self.b = None  # of the scoring function
        self.__dict__.update(members)


def score_of(out, q, k, how):
    """The scores, and what they are computed from."""
    if how.score in ("scaled-dot", "dot"):
        return q @ k.T, np.abs(q) @ np.abs(k).T
    if how.score == "cosine":
        unit_q, unit_k = out.put("unit_q", unit(q)), out.put("unit_k", unit(k))
        return unit_q @ unit_k.T, 1.0
    if how.score == "gaussian":
        out.product("dot", q, k.T)
        out.put("half_q", (q ** 2).sum(axis=1, keepdims=True) / 2)
        out.put("half_k", (k ** 2).sum(axis=1, keepdims=True) / 2)
        distances = ((q[:, None, :] - k[None, :, :]) ** 2).sum(axis=2) / (2 * how.sigma ** 2)
        terms = np.abs(q) @ np.abs(k).T, (q ** 2).sum(axis=1), (k ** 2).sum(axis=1)
        out.put("expanded", -distances, *(term / how.sigma ** 2 for term in terms))
        return -distances, 0.0
    if how.score == "bilinear":
        projected = out.product("projected_q", q, how.m)
        b = 0.0 if how.b is None else how.b
        return projected @ k.T + b, [np.abs(q) @ np.abs(how.m) @ np.abs(k).T, b]
    hidden_q = out.product("hidden_q", q, how.w_q)
    b = 0.0 if how.b is None else how.b
    hidden_k = out.put("hidden_k", k @ how.w_k + b, np.abs(k) @ np.abs(how.w_k), b)
    hidden = (hidden_q[:, None, :] + hidden_k[None, :, :]).reshape(-1, hidden_q.shape[1])
    out.put("hidden", hidden, hidden_q, hidden_k)
    activated = out.put("activated", np.tanh(hidden))
    return (activated @ how.w_v).reshape(len(q), len(k)), np.abs(activated) @ np.abs(how.w_v)


def divisor(how, d_k, n_k):
    scale = how.scale if how.scale is not None else ("sqrt-dk" if how.score == "scaled-dot" else "none")
    return {"sqrt-dk": math.sqrt(d_k), "none": 1.0, "sqrt-n": math.sqrt(n_k)}[scale] if isinstance(scale, str) else scale


def weights_of(out, scores, how, d_k=0, relative=None):
    """From scores to weights: scaled, capped, with what is added, and masked."""
    involved = out.magnitudes[out.scope + "scores"]
    factor = how.multiply if how.multiply is not None else 1.0 / divisor(how, d_k, scores.shape[1])
    x = scores * how.multiply if how.multiply is not None else scores / divisor(how, d_k, scores.shape[1])
    involved *= np.max(factor)
    out.put("scaled", x, involved)
    if how.cap is not None:
        x = out.put("capped", how.cap * np.tanh(x / how.cap), involved)
    for added in (how.bias, relative):
        if added is not None:
            involved = max(involved, np.abs(np.where(np.isfinite(added), added, 0.0)).max(initial=0.0))
            x = x + added
    if how.allowed is not None:
        nothing = ~how.allowed.any(axis=1, keepdims=True)
        x = np.where(how.allowed, x, np.where(nothing, -np.inf, how.fill))
    out.put("masked", x, involved)
    return out.put("weights", softmax(x), 1.0, involved if np.isfinite(x).any() else 1.0)


def one_head(out, q, k, v, how, positioned=True, loose=1.0):
    """Queries, keys and values of one head; without values only the weights."""
    positions = how.positions if positioned else "none"
    if positions == "rotary":
        q = out.put("rotated_q", turned(q, how.base, how.at))
        k = out.put("rotated_k", turned(k, how.base, how.keys_at))
    scores, involved = score_of(out, q, k, how)
    involved = involved if isinstance(involved, list) else [involved]
    relative = None
    if positions.endswith("-vectors"):
        out.put("content", scores, *involved)
        of_distances = out.product("distances", q, how.table.T)
        added = out.put("relative", by_distance(of_distances, len(q), len(k), how.at, how.keys_at, how.parents), np.abs(q) @ np.abs(how.table).T)
        scores = scores + added
        involved = [*involved, out.magnitudes[out.scope + "relative"]]
    if positions.endswith("-bias"):
        relative = by_distance(how.table, len(q), len(k), how.at, how.keys_at, how.parents)
    out.put("scores", scores, *(np.multiply(term, loose) for term in involved))
    weights = weights_of(out, scores, how, k.shape[1], relative)
    return weights, None if v is None else weights @ v


def multi_head(out, q, k, v, how, w_o=None, b_o=None, positioned=True):
    """All heads, concatenated, and projected."""
    heads, of_keys = how.heads, how.kv_heads or how.heads
    outputs, terms, loose = [], [], out.looseness(q, k)
    loose_values = 1.0 if v is None else out.looseness(v)
    if how.positions.endswith("-bias") and positioned:
        out.put("relative", by_distance(how.table, len(q), len(k), how.at, how.keys_at, how.parents))
    for head in range(heads):
        with out.within(f"head.{head + 1}." if heads > 1 else ""):
            group = head * of_keys // heads
            q_i = np.split(q, heads, axis=1)[head]
            k_i = np.split(k, of_keys, axis=1)[group]
            v_i = None if v is None else np.split(v, of_keys, axis=1)[group]
            if heads > 1:
                for name, part, whole in (("q", q_i, q), ("k", k_i, k), ("v", v_i, v)):
                    if part is not None:
                        out.part(name, part, whole)
            weights, output = one_head(out, q_i, k_i, v_i, how, positioned, loose)
            if output is not None:
                terms.append(weights @ np.abs(v_i) * max(loose_values, out.magnitudes[out.scope + "weights"]))
                outputs.append(out.put("output" if heads > 1 else "head", output, terms[-1]))
    if not outputs:
        return None
    concat = out.put("concat", np.concatenate(outputs, axis=1), *terms)
    if w_o is None:
        return out.put("output", concat, *terms)
    result = concat @ w_o + (0.0 if b_o is None else b_o)
    return out.put("output", result, np.concatenate(terms, axis=1) @ np.abs(w_o), 0.0 if b_o is None else b_o)


def linear(out, name, x, w, b=None):
    if b is None:
        return out.product(name, x, w)
    return out.put(name, x @ w + b, np.abs(x) @ np.abs(w) * out.looseness(x), b)


def feed_forward(out, x, p, activation="relu", result="output"):
    inner = linear(out, "inner", x, p["w_1"], p.get("b_1"))
    name = "rectified" if activation == "relu" else "activated"
    active = out.put(name, ACTIVATIONS[activation](inner), np.abs(inner) * out.looseness(inner))
    return linear(out, result, active, p["w_2"], p.get("b_2"))
