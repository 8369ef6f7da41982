#!/usr/bin/python3
"""What each mistake gives, computed once more in NumPy: a row here for each row of src/school/mistake, and one for each
of its variants, such as "softmax-over-all#2".

    mistakes.py PROGRAM [MISTAKE…]

PROGRAM is attn_mistakes (mistakes_made.cpp), which says what mistakes give in the problems of tests/mistake_problems.hpp
or in others in JSON. A mistake in the steps of attention is another step of the class `Attention`, and all matrices of
four problems are compared. Any other is made of right numbers, in three sizes, and one matrix is compared. A mistake
without a row fails, and one whose row changes nothing.
"""
import itertools
import json
import math
import subprocess
import sys

try:
    import numpy as np
except ImportError as absent:
    print(f"skipped: the oracles need python3-numpy ({absent})")
    sys.exit(77)

from attention import ACTIVATIONS, softmax, unit, waves

TOLERANCE, OF_LARGE = 1e-9, 1e-12
SIZES = range(3)
EPSILON = 0.01
INFINITY = math.inf


class Program:
    """What the program finds, question by question."""

    def __init__(self, path):
        self.process = subprocess.Popen([path], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.right = {}

    def ask(self, *words):
        self.process.stdin.write("\t".join(words) + "\n")
        self.process.stdin.flush()
        answer = self.process.stdout.readline()
        if not answer:
            sys.exit(f"no answer to: {' '.join(words)}")
        found = json.loads(answer)
        return np.array(found, dtype=float) if isinstance(found, list) and isinstance(found[0], list) else found

    def numbers(self, problem, name):
        if (problem, name) not in self.right:
            self.right[problem, name] = self.ask(problem, "", name)
        return self.right[problem, name]


class Numbers:
    """The right numbers of a problem, by name; None where there are none."""

    def __init__(self, program, problem, size=None):
        self.program, self.problem, self.size = program, problem, size

    def __call__(self, name):
        return self.program.numbers(self.problem, name)

    def of(self, problem):
        return Numbers(self.program, f"{problem}/{self.size}", self.size)


def alike(a, b):
    if a is None or b is None:
        return a is None and b is None
    return a.shape == b.shape and np.allclose(a, b, rtol=OF_LARGE, atol=TOLERANCE, equal_nan=True)


# --- rows of numbers

def shares(x):
    """Each row divided by its sum; a row of sum 0 is 0."""
    sums = x.sum(axis=1, keepdims=True)
    return np.divide(x, sums, out=np.zeros_like(x), where=sums != 0)


def divided(x):
    with np.errstate(divide="ignore", invalid="ignore"):
        return x / x.sum(axis=1, keepdims=True)


def less_largest(x):
    return x - x.max(axis=1, keepdims=True)


def mean(x):
    return x.mean(axis=1, keepdims=True)


def variance(x):
    return ((x - mean(x)) ** 2).mean(axis=1, keepdims=True)


def mean_square(x):
    return (x ** 2).mean(axis=1, keepdims=True)


def standard(x):
    return (x - mean(x)) / np.sqrt(variance(x) + EPSILON)


def by_rms(x):
    return x / np.sqrt(mean_square(x) + EPSILON)


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


def relu(x):
    return np.maximum(x, 0.0)


def attended(q, k, v):
    return softmax(q @ k.T / math.sqrt(q.shape[1])) @ v


def up_to_the_query(scores):
    i, j = np.indices(scores.shape)
    return np.where(j <= i, scores, -INFINITY)


# --- one attention, step by step

def attempt(step, *arguments):
    """None where it cannot be computed, or is made of what cannot."""
    try:
        return step(*arguments)
    except (AttributeError, IndexError, TypeError, ValueError):
        return None


def columns(x, first, count):
    if first + count > x.shape[1]:
        raise IndexError
    return x[:, first:first + count]


def linear(x, w, b):
    return x @ w if b is None else x @ w + b


class Head:
    def __init__(self, of, every, number):
        self.of, self.all, self.number = of, every, number


class Attention:
    """softmax(q kᵀ / √d_k) v in heads, of which some may share keys and values. Each step is a function, in whose place a
    mistake puts another."""

    def __init__(self, at, place, words, heads=1, key_heads=None, causal=False, length=None):
        self.x = at(words)
        self.w = [at(f"{place}w_{which}") for which in "qkvo"]
        self.b = [at(f"{place}b_{which}") for which in "qkvo"]
        self.heads, self.key_heads = heads, key_heads or heads
        self.d_k, self.d_v = self.w[0].shape[1] // self.heads, self.w[2].shape[1] // self.key_heads
        n = len(self.x)
        self.i, self.j = np.indices((n, n))
        self.length = n if length is None else length
        self.in_sentence, self.in_order = self.j < self.length, (self.j <= self.i) | (not causal)
        self.allowed = self.in_sentence & self.in_order if causal or self.length < n else None

    def filled(self, scores, fill):
        if self.allowed is None:
            return scores
        if scores.shape != self.allowed.shape:
            raise ValueError
        return np.where(self.allowed, scores, fill)

    def project(self, which):
        return linear(self.x, self.w[which], self.b[which])

    def part(self, whole, number, size, which):
        return columns(whole, number * size, size)

    def compare(self, h):
        return h.q @ h.k.T

    def scale(self, h):
        return h.scores / math.sqrt(self.d_k)

    def mask(self, h):
        return self.filled(h.scaled, -INFINITY)

    def weigh(self, h):
        return softmax(h.masked)

    def sum(self, h):
        return h.weights @ h.v

    def merge(self, every):
        return np.hstack([h.output for h in every])

    def finish(self, concat):
        return concat if self.w[3] is None else linear(concat, self.w[3], self.b[3])

    def run(self):
        """All matrices, by the names that the program gives them."""
        q, k, v = (attempt(self.project, which) for which in range(3))
        every, found = [], {"q": q, "k": k, "v": v}
        for number in range(self.heads):
            h, group = Head(self, every, number), number * self.key_heads // self.heads
            h.q, h.k, h.v = q, k, v
            if self.heads > 1:
                h.q = attempt(self.part, q, number, self.d_k, 0)
                h.k = attempt(self.part, k, group, self.d_k, 1)
                h.v = attempt(self.part, v, group, self.d_v, 2)
            every.append(h)
        for name, step in (("scores", self.compare), ("scaled", self.scale), ("masked", self.mask),
                           ("weights", self.weigh), ("output", self.sum)):
            for h in every:
                setattr(h, name, attempt(step, h))
        for h in every:
            place = f"head.{h.number + 1}." if self.heads > 1 else ""
            found.update((place + name, getattr(h, name))
                         for name in ("q", "k", "v", "scores", "scaled", "masked", "weights", "output"))
        if self.heads > 1:
            found["concat"] = None if any(h.output is None for h in every) else attempt(self.merge, every)
            found["output"] = attempt(self.finish, found["concat"])
        return found


THREE_HEADS = json.dumps({
    "text": "it was a dark and stormy night", "d_model": 6, "heads": 3, "causal": True, "valid_length": 5, "seed": 2,
    "b_q": [[1, -1, 0.5, 2, 0, 1]], "b_k": [[0, 1, 0, 0.5, 1, 1]], "b_v": [[0, 1, 2, -1, 0, 1]], "b_o": [[1, 2, 3, 4, 5, 6]]})
# Where an attention stands in a problem, what goes into it, and how it attends.
ATTENTIONS = (
    ('{"text": "the cat sat", "d_model": 4, "d_k": 3, "d_v": 2, "heads": 1, "seed": 1}', "", "x", {}),
    (THREE_HEADS, "", "x", {"heads": 3, "causal": True, "length": 5}),
    ("encoder-of-groups/2", "encoder.1.self_attention.", "source.positioned", {"heads": 4, "key_heads": 2, "length": 3}),
    ("decoder-of-groups/0", "decoder.1.self_attention.", "target.positioned", {"heads": 4, "key_heads": 2, "causal": True}),
)


def step(**steps):
    """Other steps, as functions of a head, of all of them, or of the whole."""
    return lambda a: a.__dict__.update(steps)


def scaled(factor):
    return step(scale=lambda h: h.scores * factor(h))


def allow(rule):
    def change(a):
        if a.allowed is not None:
            a.allowed = rule(a) & (a.i >= 0)
    return change


def both(*changes):
    def change(a):
        for one in changes:
            one(a)
    return change


def parameters(**names):
    """Matrices and biases of q, k, v and o by those of others, or transposed."""
    def change(a):
        w, b = list(a.w), list(a.b)
        for name, other in names.items():
            i = "qkvo".index(name)
            if other == "transposed":
                a.w[i] = w[i].T if w[i] is not None else None
            elif other == "without bias":
                a.b[i] = None
            else:
                a.w[i], a.b[i] = w["qkvo".index(other)], b["qkvo".index(other)]
    return change


def project(which_one, other):
    def change(a):
        a.project = lambda which: other(a) if which == which_one else linear(a.x, a.w[which], a.b[which])
    return change


def part(other):
    """Of a whole matrix the part of a head: with the attention, the number and the size of the part, and which matrix."""
    def change(a):
        a.part = lambda whole, number, size, which: other(a, whole, number, size, which)
    return change


def split_by_reshape(a, whole, number, size, which):
    return whole.reshape(-1, size)[number * len(a.x):(number + 1) * len(a.x)]


def words_split(is_shared):
    def of(a, whole, number, size, which):
        width, block = a.x.shape[1] // (whole.shape[1] // size), 0 if is_shared else number
        w = a.w[which][block * width:(block + 1) * width, block * size:(block + 1) * size]
        b = None if a.b[which] is None else a.b[which][:, block * size:(block + 1) * size]
        return linear(a.x[:, number * width:(number + 1) * width], w, b)
    return part(of)


def merged(function):
    return step(merge=lambda every: function(np.array([h.output for h in every])))


merged_by_reshape = merged(lambda heads: heads.reshape(-1, heads.shape[0] * heads.shape[2]))
whole_for_each = part(lambda a, whole, number, size, which: whole)


def with_no_number(h):
    return np.where((h.masked == INFINITY).any(axis=1, keepdims=True), np.nan, softmax(np.where(h.masked == INFINITY, 0, h.masked)))


def side_by_side(h, function):
    """A function of the scores of all heads side by side, and of that the columns of one."""
    n = h.masked.shape[1]
    return columns(function(np.hstack([one.masked for one in h.all])), h.number * n, n)


def all_as_one_row(function):
    return lambda x: function(x.reshape(1, -1)).reshape(x.shape)


def visible_in_opposite_order(h):
    weights = softmax(h.masked)
    for row_of_weights, allowed in zip(weights, h.of.allowed):
        row_of_weights[allowed] = row_of_weights[allowed][::-1]
    return weights


def wholes_from_fused(a):
    """q, k and v made of the columns of which each head gets the next."""
    fused = np.hstack([linear(a.x, a.w[which], a.b[which]) for which in range(3)])
    size, count = a.d_k, a.heads
    a.project = lambda which: np.hstack(
        [columns(fused, (3 * number + which) * size, size) for number in range(count)])


def cut_from_fused(a, whole, number, size, which):
    return columns(np.hstack([a.project(one) for one in range(3)]), (3 * number + which) * size, size)


# Maxima of the row, of all, of the column, and of row j in column j; where all is masked, 0.
MAXIMA = {
    "row": lambda x: x.max(axis=1, keepdims=True),
    "all": lambda x: x.max(keepdims=True),
    "column": lambda x: x.max(axis=0, keepdims=True),
    "other": lambda x: x.max(axis=1)}


def exponentials(which, divisor):
    def weigh(h):
        maxima = MAXIMA[which](h.masked)
        powers = np.exp(h.masked - np.where(np.isinf(maxima), 0.0, maxima))
        return powers / divisor(powers)
    return step(weigh=weigh)


def sums_of_other_rows(x):
    return x.sum(axis=1)


def sums_of_rows(x):
    return x.sum(axis=1, keepdims=True)


# The mistake, and what it makes of each of the four: d other numbers, = the same ones, - not all of it can be computed,
# . nothing, because it cannot be made there.
STEPS = {
    "keys-not-transposed": ("d---", step(compare=lambda h: h.q @ h.k)),
    "scores-transposed": ("dddd", step(compare=lambda h: h.k @ h.q.T)),
    "queries-with-queries": ("dddd", step(compare=lambda h: h.q @ h.q.T)),
    "keys-with-keys": ("dddd", step(compare=lambda h: h.k @ h.k.T)),
    "queries-with-values": ("-ddd", step(compare=lambda h: h.q @ h.v.T)),
    "words-with-words": ("dddd", step(compare=lambda h: h.of.x @ h.of.x.T)),
    "cosine": ("dddd", step(compare=lambda h: unit(h.q) @ unit(h.k).T)),
    "not-scaled": ("dddd", scaled(lambda h: 1.0)),
    "scale-squared": ("dddd", scaled(lambda h: 1.0 / h.of.d_k)),
    "multiplied-by-scale": ("dddd", scaled(lambda h: math.sqrt(h.of.d_k))),
    "divided-by-root-of-model": ("dddd", scaled(lambda h: 1.0 / math.sqrt(h.of.x.shape[1]))),
    "divided-by-keys": ("dddd", scaled(lambda h: 1.0 / len(h.k))),
    "divided-by-root-of-keys": ("=ddd", scaled(lambda h: 1.0 / math.sqrt(len(h.k)))),
    "scaled-after-softmax": ("dddd", step(scale=lambda h: h.scores,
                                          weigh=lambda h: softmax(h.masked) / math.sqrt(h.of.d_k))),
    "queries-scaled": ("dddd", both(project(0, lambda a: linear(a.x, a.w[0], a.b[0]) / math.sqrt(a.d_k)),
                                    step(scale=lambda h: h.scores))),
    "masked-before-scaled": (".ddd", step(
        mask=lambda h: h.scaled if h.of.allowed is None else h.of.filled(h.scores, -INFINITY),
        weigh=lambda h: softmax(h.masked if h.of.allowed is None else h.masked / math.sqrt(h.of.d_k)))),
    "softmax-over-queries": ("dddd", step(weigh=lambda h: softmax(h.masked.T).T)),
    "softmax-over-all": ("dddd", step(weigh=lambda h: all_as_one_row(softmax)(h.masked))),
    "divided-by-column-sums": ("dddd", step(weigh=lambda h: shares(np.exp(less_largest(h.masked)).T).T)),
    "softmax-over-heads": (".ddd", step(weigh=lambda h: side_by_side(h, softmax))),
    "softmax-over-all-heads": (".ddd", step(weigh=lambda h: side_by_side(h, all_as_one_row(softmax)))),
    "softmax-over-one": ("dddd", step(weigh=lambda h: np.ones_like(h.masked))),
    "shares-of-scores": ("dddd", step(weigh=lambda h: shares(h.of.filled(h.scaled, 0.0)))),
    "shares-of-scores#2": ("dddd", step(weigh=lambda h: divided(h.of.filled(h.scaled, 0.0)))),
    "no-softmax": ("dddd", step(weigh=lambda h: h.of.filled(h.scaled, 0.0))),
    "divided-by-sums-of-other-rows": ("dddd", step(weigh=lambda h: np.exp(h.masked) / np.exp(h.masked).sum(axis=1))),
    "last-query-left-out": ("dddd", step(weigh=lambda h: np.vstack([softmax(h.masked)[:-1], 0.0 * h.scaled[-1:]]))),
    "softmax-not-divided": ("dddd", step(weigh=lambda h: np.exp(h.masked))),
    "largest-subtracted-not-divided": ("dddd", step(weigh=lambda h: np.exp(less_largest(h.masked)))),
    "softmax-without-largest": ("dddd", step(
        weigh=lambda h: softmax(np.where(less_largest(h.masked) == 0, -INFINITY, h.masked)))),
    "divided-by-sums-of-other-rows#2": ("dddd", exponentials("row", sums_of_other_rows)),
    "divided-by-sums-of-other-rows#3": ("dddd", exponentials("column", sums_of_other_rows)),
    "divided-by-sums-of-other-rows#4": ("dddd", exponentials("other", sums_of_other_rows)),
    "softmax-over-all#2": ("dddd", exponentials("row", np.sum)),
    "softmax-over-all#3": ("dddd", exponentials("column", np.sum)),
    "softmax-over-all#4": ("dddd", exponentials("other", np.sum)),
    "largest-subtracted-not-divided#2": ("dddd", exponentials("all", np.ones_like)),
    "largest-subtracted-not-divided#3": ("dddd", exponentials("column", np.ones_like)),
    "largest-subtracted-not-divided#4": ("dddd", exponentials("other", np.ones_like)),
    "other-maximum-subtracted": ("dddd", exponentials("column", sums_of_rows)),
    "other-maximum-subtracted#2": ("dddd", exponentials("other", sums_of_rows)),
    "powers-of-two": ("dddd", step(weigh=lambda h: shares(2.0 ** h.masked))),
    "largest-alone": ("dddd", step(weigh=lambda h: 1.0 * (less_largest(h.masked) == 0))),
    "softmax-of-negated": ("dddd", step(weigh=lambda h: softmax(h.of.filled(-h.scaled, -INFINITY)))),
    "softmax-twice": ("dddd", step(weigh=lambda h: softmax(softmax(h.masked)))),
    "sigmoid": ("dddd", step(weigh=lambda h: sigmoid(h.masked))),
    "equal-weights": ("dddd", step(weigh=lambda h: shares(h.of.filled(np.ones_like(h.scaled), 0.0)))),
    "parameters-transposed": ("-d--", parameters(q="transposed", k="transposed", v="transposed", o="transposed")),
    "query-parameters-transposed": ("-ddd", parameters(q="transposed")),
    "key-parameters-transposed": ("-d--", parameters(k="transposed")),
    "value-parameters-transposed": ("-d--", parameters(v="transposed")),
    "output-parameters-transposed": (".ddd", parameters(o="transposed")),
    "biases-left-out": (".ddd", parameters(q="without bias", k="without bias", v="without bias", o="without bias")),
    "queries-keys-exchanged": ("dd--", parameters(q="k", k="q")),
    "keys-values-exchanged": ("-ddd", parameters(k="v", v="k")),
    "queries-values-exchanged": ("-d--", parameters(q="v", v="q")),
    "values-not-projected": ("dddd", project(2, lambda a: a.x)),
    "output-not-projected": (".ddd", step(finish=lambda concat: concat)),
    "weights-transposed": ("dddd", step(sum=lambda h: h.weights.T @ h.v)),
    "sum-of-queries": ("dddd", step(sum=lambda h: h.weights @ h.q)),
    "sum-of-keys": ("dddd", step(sum=lambda h: h.weights @ h.k)),
    "sum-divided": ("dddd", step(sum=lambda h: h.weights @ h.v / len(h.k))),
    "heads-split-by-reshape": (".ddd", part(split_by_reshape)),
    "heads-merged-by-reshape": (".ddd", merged_by_reshape),
    "heads-reshaped": (".ddd", both(part(split_by_reshape), merged_by_reshape)),
    "heads-in-strides": (".ddd", part(lambda a, whole, number, size, which: whole[:, number::whole.shape[1] // size])),
    "first-head-for-all": (".ddd", part(lambda a, whole, number, size, which: whole[:, :size])),
    "heads-not-split": (".---", whole_for_each),
    "one-head": (".d--", both(whole_for_each, scaled(lambda h: 1.0 / math.sqrt(h.k.shape[1])),
                              step(merge=lambda every: every[0].output))),
    "fused-cut-by-head": (".d..", part(cut_from_fused)),
    "fused-cut-by-head#2": (".d..", wholes_from_fused),
    "last-head-left-out": (".ddd", step(
        merge=lambda every: np.hstack([h.output for h in every[:-1]] + [0.0 * every[-1].output]))),
    "words-split-first": (".ddd", words_split(False)),
    "words-split-shared-parameters": (".ddd", words_split(True)),
    "heads-summed": (".---", merged(lambda heads: heads.sum(axis=0))),
    "heads-averaged": (".---", merged(lambda heads: heads.mean(axis=0))),
    "heads-below-each-other": (".---", merged(np.vstack)),
    "weights-averaged": (".ddd", step(sum=lambda h: np.mean([one.weights for one in h.all], axis=0) @ h.v)),
    "mask-reversed": (".ddd", allow(lambda a: ~a.allowed)),
    "order-not-masked": (".d.d", allow(lambda a: a.in_sentence)),
    "padding-not-masked": (".dd.", allow(lambda a: a.in_order)),
    "not-masked": (".d..", step(allowed=None)),
    "one-key-too-many": (".d.d", allow(lambda a: a.in_sentence & (a.j <= a.i + 1))),
    "one-key-too-few": (".d.d", allow(lambda a: a.in_sentence & (a.j < a.i))),
    "new-keys-first": (".d.d", step(weigh=visible_in_opposite_order)),
    "first-padding-seen": (".dd.", allow(lambda a: (a.j <= a.length) & a.in_order)),
    "last-word-masked": (".dd.", allow(lambda a: (a.j + 1 < a.length) & a.in_order)),
    "mask-transposed": (".ddd", allow(lambda a: a.allowed.T)),
    "queries-masked": (".dd.", both(allow(lambda a: (a.i < a.length) & a.in_order),
                                    step(mask=lambda h: h.of.filled(h.scaled, -1e9)))),
    "masked-score-is-zero": (".ddd", step(mask=lambda h: h.of.filled(h.scaled, 0.0))),
    "masked-score-is-infinite": (".ddd", step(mask=lambda h: h.of.filled(h.scaled, INFINITY), weigh=with_no_number)),
    "large-positive-mask-value": (".ddd", step(mask=lambda h: h.of.filled(h.scaled, 1e9))),
    "mask-times-infinity": (".ddd", step(mask=lambda h: h.scaled if h.of.allowed is None else h.of.filled(
        np.full_like(h.scaled, np.nan), -INFINITY), weigh=with_no_number)),
    "mask-added": (".ddd", step(mask=lambda h: h.scaled if h.of.allowed is None else h.scaled + h.of.allowed)),
    "masked-after-softmax": (".ddd", step(weigh=lambda h: h.of.filled(softmax(h.scaled), 0.0))),
}

# --- mistakes in other places, made of right numbers

ROWS = []


def row(mistake, problem, matrix, by_hand, shows=True):
    """A problem is a name, which has three sizes, or one or several in JSON. Whether the matrix becomes another one."""
    ROWS.append((mistake, problem, matrix, by_hand, shows))


def rows(problem, matrix, table):
    for mistake, by_hand in table.items():
        row(mistake, problem, matrix, by_hand)


def of_matrix(name, function):
    return lambda at: function(at(name))


# Softmax.
of_scaled = {
    "squares-divided": lambda x: shares(x ** 2),
    "positive-parts-divided": lambda x: shares(relu(x)),
    "sizes-of-scores-divided": lambda x: shares(np.abs(x)),
    "exponentials-of-length-1": lambda x: unit(np.exp(x)),
    "softmax-plus-one": lambda x: np.exp(x) / (1.0 + np.exp(x).sum(axis=1, keepdims=True)),
    "largest-subtracted-plus-one": lambda x: np.exp(less_largest(x)) / (
        1.0 + np.exp(less_largest(x)).sum(axis=1, keepdims=True)),
    "largest-subtracted-above-alone": lambda x: np.exp(less_largest(x)) / np.exp(x).sum(axis=1, keepdims=True),
    "logarithms-of-weights": lambda x: np.log(softmax(x)),
}
rows("walk", "weights", {mistake: of_matrix("scaled", function) for mistake, function in of_scaled.items()})
row("softmax-across-heads", "two-heads", "head.1.weights",
    lambda at: sigmoid(at("head.1.scaled") - at("head.2.scaled")))
row("softmax-across-sentences", "batch", "sentence.2.weights",
    lambda at: sigmoid(at("sentence.2.scaled") - at("sentence.1.scaled")))
row("weights-are-averaged", "two-heads", "head.2.weights", lambda at: (at("head.1.weights") + at("head.2.weights")) / 2)
row("weights-averaged-over-sentences", "batch", "sentence.1.weights",
    lambda at: (at("sentence.1.weights") + at("sentence.2.weights")) / 2)
row("largest-alone", "luong", "decoder.2.context", lambda at: at("h")[[np.argmax(at("decoder.2.weights")[0])]])
# In float32, e^88 is a number and e^89 is infinite, and e^−104 is 0.
row("largest-not-subtracted", '{"q": [[1], [1], [0]], "k": [[89], [2]], "score": "dot"}', "weights",
    lambda at: np.array([[np.nan, 0], [np.nan, 0], [0.5, 0.5]]))
row("largest-not-subtracted", '{"q": [[1], [0]], "k": [[-110], [-120]], "score": "dot"}', "weights",
    lambda at: np.array([[np.nan, np.nan], [0.5, 0.5]]))


# Scores.
def squared_distances(at):
    return ((at("q")[:, None, :] - at("k")[None, :, :]) ** 2).sum(axis=2)


def additive(combine, w_q=lambda at: at("score_wq"), w_k=lambda at: at("score_wk"), w_v=lambda at: at("score_wv")[:, 0]):
    """Σ w_v f(query's part, key's part)"""
    return lambda at: combine((at("q") @ w_q(at))[:, None, :], (at("k") @ w_k(at))[None, :, :]) @ w_v(at)


def tanh_of_sum(q, k):
    return np.tanh(q + k)


def transposed(name):
    return lambda at: at(name).T


BIASED_SCORES = [json.dumps({"score": "additive", **fields}) for fields in (
    {"q": [[1, 2]], "k": [[1, 0], [2, 1]], "score_wq": [[1], [2]], "score_wk": [[1], [0.5]], "score_wv": [[2]], "score_b": [[0.3]]},
    {"q": [[1]], "k": [[1], [2]], "score_wq": [[0.1]], "score_wk": [[0.2]], "score_wv": [[2]], "score_b": [[0.5]]},
    {"q": [[0.5], [1]], "k": [[1], [2]], "score_wq": [[0.1]], "score_wk": [[0.2]], "score_wv": [[3]], "score_b": [[-0.5]]})]
rows("walk", "scores", {
    "distance-for-dot-product": lambda at: -squared_distances(at),
    "half-distance-for-dot-product": lambda at: -squared_distances(at) / 2})
rows("additive", "scores", {
    "relu-for-tanh-in-score": additive(lambda q, k: relu(q + k)),
    "sigmoid-for-tanh-in-score": additive(lambda q, k: sigmoid(q + k)),
    "without-tanh": additive(lambda q, k: q + k),
    "tanh-of-each-part": additive(lambda q, k: np.tanh(q) + np.tanh(k)),
    "score-multiplies": additive(lambda q, k: np.tanh(q * k)),
    "score-vector-missing": additive(tanh_of_sum, w_v=lambda at: np.ones(at("score_wv").shape[0])),
    "tanh-of-the-score": lambda at: np.tanh(additive(lambda q, k: q + k)(at)),
    "score-parameters-exchanged": additive(tanh_of_sum, lambda at: at("score_wk"), lambda at: at("score_wq")),
    "score-parameters-transposed": additive(tanh_of_sum, transposed("score_wq"), transposed("score_wk")),
    "score-query-parameters-transposed": additive(tanh_of_sum, w_q=transposed("score_wq")),
    "score-key-parameters-transposed": additive(tanh_of_sum, w_k=transposed("score_wk"))})
row("score-bias-missing", BIASED_SCORES, "scores", additive(tanh_of_sum))
row("another-multiple-of-score-bias=3", BIASED_SCORES, "scores",
    lambda at: additive(lambda q, k: np.tanh(q + k + 3 * at("score_b")))(at))
row("score-matrix-transposed", "bilinear", "scores", lambda at: at("q") @ at("score_m").T @ at("k").T)
row("lengths-kept", "cosine", "scores", lambda at: at("q") @ at("k").T)
rows("kernel", "scores", {
    "distances-not-halved": lambda at: -squared_distances(at) / 0.25,
    "distances-positive": lambda at: squared_distances(at) / 2 / 0.25,
    "width-not-squared": lambda at: -squared_distances(at) / 2 / 0.5,
    "kernel-width-missing": lambda at: -squared_distances(at) / 2,
    "kernel-width-multiplied": lambda at: -squared_distances(at) / 2 * 0.25,
    "kernel-distance-not-squared": lambda at: -np.sqrt(squared_distances(at)) / 2 / 0.25,
    "another-kernel-width=3": lambda at: -3 * squared_distances(at) / 2 / 0.25})
rows("capped", "head.2.capped", {
    "not-capped": lambda at: at("head.2.scaled"),
    "not-divided-by-cap": lambda at: 2 * np.tanh(at("head.2.scaled")),
    "another-cap=3": lambda at: 3 * np.tanh(at("head.2.scaled") / 3)})
row("divided-by-root-of-key", ['{"q": [[3, 4]], "k": [[4, 3], [1, 0]], "score": "dot"}',
                               '{"q": [[3, 4]], "k": [[4, 3], [1, 0]], "scale": 8}'], "scaled",
    lambda at: at("q") @ at("k").T / math.sqrt(2))
row("divided-by-root-of-key", '{"q": [[2, 0]], "k": [[1, 0], [0, 1]], "score": "dot", "causal": true, "causal_offset": 1}',
    "weights", lambda at: softmax(at("q") @ at("k").T / math.sqrt(2)))
row("scale-squared", '{"q": [[3, 4]], "k": [[4, 3], [1, 0]], "scale": 2}', "scaled", lambda at: at("scores") / 4)
for fields, added in (({"q": [[1, 0, 0, 0]], "k": [[0, 1, 1, 1], [1, 1, 1, 1]]}, [[0.5, 2.5]]),
                      ({"q": [[1, 0, 0, 0], [2, 0, 0, 1]], "k": [[1, 1, 1, 1], [3, 1, 1, 1]]}, [[0.5, 1.5], [1, -2]])):
    problem = json.dumps({**fields, "mask": added})
    row("nothing-added", problem, "weights", lambda at: softmax(at("scores") / 2))
    row("added-before-scale", problem, "weights", lambda at, added=added: softmax((at("scores") + added) / 2))
row("another-scale=3", "walk", "scaled", lambda at: 3 * at("scaled"))
row("another-scale=3", "cosine", "weights", lambda at: softmax(3 * at("scores")))

# Values.
BIASED = [json.dumps({"d_model": 2, **fields}) for fields in (
    {"text": "a b c", "b_q": [[1, 2]], "b_k": [[2, 1]], "b_v": [[3, 1]], "w_o": [[1, 2], [0, 1]], "b_o": [[1, 4]], "seed": 1},
    {"text": "a b", "b_q": [[1, -2]], "b_k": [[0, 1]], "b_v": [[3, 2]], "w_o": [[1, 2], [3, 1]], "b_o": [[2, 4]], "seed": 2},
    {"text": "a b c d", "b_q": [[2, 2]], "b_k": [[2, 5]], "b_v": [[0, 1]], "w_o": [[1, 0], [3, 1]], "b_o": [[1, -1]], "seed": 3})]


def bias_times(matrix, bias, number):
    return lambda at: at(matrix) + (number - 1) * at(bias)


for noun, matrix, bias in (("query", "q", "b_q"), ("key", "k", "b_k"), ("value", "v", "b_v"), ("output", "output", "b_o")):
    row(f"{noun}-bias-missing", BIASED, matrix, bias_times(matrix, bias, 0))
    row(f"another-multiple-of-{noun}-bias=3", BIASED, matrix, bias_times(matrix, bias, 3))
    row(f"another-multiple-of-{noun}-bias=0", BIASED, matrix, bias_times(matrix, bias, 0))
row("input-parameters-transposed", "walk", "output",
    lambda at: attended(*(at("x") @ at(name).T for name in ("w_q", "w_k", "w_v"))))
row("values-alone", "walk", "output", lambda at: at("v"))
row("weights-times-values", [
    '{"q": [[1, 2], [0, 1]], "k": [[1, 0], [2, 1]], "v": [[1, 2], [3, 4]]}',
    '{"q": [[1], [3]], "k": [[1], [-1]], "v": [[1, -2], [3, 4]], "causal": true}',
    '{"q": [[1], [0], [2]], "k": [[1], [3], [-1]], "v": [[1, 2, 0], [5, 1, 2], [3, 4, 1]]}'], "output",
    lambda at: at("weights") * at("v"))
row("sum-divided", '{"q": [[1, 2]], "k": [[1, 0], [2, 1], [0, 3]], "v": [[1], [2], [4]]}', "output",
    lambda at: at("weights") @ at("v") / 3)
row("another-sum-of-values=3", "walk", "output", lambda at: 3 * at("output"))


# Heads.
def concatenated(*heads):
    return lambda at: np.hstack([function(at("head.1.output"), at("head.2.output")) for function in heads]) @ at("w_o")


def in_turn(at):
    heads = np.array([at("head.1.output"), at("head.2.output")])
    return heads.transpose(1, 2, 0).reshape(heads.shape[1], -1)


def with_first_keys(at):
    size = at("head.1.k").shape[1]
    return attended(at("q")[:, size:], at("k")[:, :size], at("v")[:, :at("head.1.v").shape[1]])


rows("two-heads", "output", {
    "heads-summed-in-each": concatenated(np.add, np.add),
    "heads-averaged-in-each": lambda at: concatenated(np.add, np.add)(at) / 2,
    "heads-reversed": concatenated(lambda one, two: two, lambda one, two: one)})
row("heads-interleaved", "two-heads", "concat", in_turn)
row("first-keys-and-values-for-all", "two-heads", "head.2.output", with_first_keys)
row("groups-in-turn", "grouped", "decoder.1.self_attention.head.2.k",
    lambda at: at("decoder.1.self_attention.head.3.k"))
row("groups-in-turn", "grouped", "decoder.1.self_attention.head.3.v",
    lambda at: at("decoder.1.self_attention.head.1.v"))


# Sides, and sentences of a batch.
CROSS, SELF = "decoder.1.cross_attention.", "decoder.1.self_attention."


def mapped(at, scope, which, x):
    return x @ at(f"{scope}w_{which}") + at(f"{scope}b_{which}")


def of_side(which, words, scope=CROSS):
    return lambda at: mapped(at, scope, which, at(words))


def scores_of(queries, keys):
    return lambda at: of_side("q", queries)(at) @ of_side("k", keys)(at).T


TARGET, SOURCE = "decoder.1.norm_1.output", "encoder.output"
row("keys-of-the-wrong-side", "equal-sides", CROSS + "k", of_side("k", TARGET))
row("values-of-the-wrong-side", "equal-sides", CROSS + "v", of_side("v", TARGET))
row("queries-of-the-wrong-side", "equal-sides", CROSS + "q", of_side("q", SOURCE))
row("parameters-of-self-attention", "equal-sides", CROSS + "q", of_side("q", TARGET, SELF))
row("parameters-of-self-attention", "equal-sides", CROSS + "v", of_side("v", SOURCE, SELF))
row("sides-exchanged", "both-sides", CROSS + "scores", scores_of(SOURCE, TARGET))
row("cross-attention-to-itself", "equal-sides", CROSS + "scores", scores_of(TARGET, TARGET))
row("words-taken-for-examples", "walk", "output", lambda at: at("v"))


def of_sentences(at, which):
    return np.array([at(f"sentence.{number}.{which}") for number in (1, 2)])


def words_of_all(sentence):
    """Each word with the words at its place in all sentences."""
    def by_hand(at):
        q, k, v = (of_sentences(at, which) for which in "qkv")
        return np.vstack([attended(q[sentence - 1, [i]], k[:, i], v[:, i]) for i in range(q.shape[1])])
    return by_hand


for sentence, output in ((1, "sentence.1.output"), (2, "sentence.2.output")):
    row("batch-taken-for-words", "batch", output, words_of_all(sentence))
    row("batch-as-one-sentence", "batch", output, lambda at, sentence=sentence: attended(
        at(f"sentence.{sentence}.q"), np.vstack(of_sentences(at, "k")), np.vstack(of_sentences(at, "v"))))
row("first-sentence-for-all", "batch", "sentence.2.output",
    lambda at: attended(at("sentence.2.q"), at("sentence.1.k"), at("sentence.1.v")))
row("first-sentence-for-all", "batch", "sentence.1.output", lambda at: at("sentence.1.output"), shows=False)


# Masks.
def hidden(is_hidden, fill=-INFINITY):
    def by_hand(at):
        scaled = at("scaled")
        return np.where(is_hidden(*np.indices(scaled.shape), *scaled.shape), fill, scaled)
    return by_hand


def weights_hidden(is_hidden):
    return lambda at: softmax(hidden(is_hidden)(at))


row("queries-masked-as-well", "padded", "masked", hidden(lambda i, j, n, m: (i >= 2) | (j >= 2)))
row("another-mask-value=-3", "padded", "masked", hidden(lambda i, j, n, m: j >= 2, -3.0))
row("number-added-to-masked=-3", "padded", "masked", lambda at: at("scaled") - 3.0 * (np.indices(at("scaled").shape)[1] >= 2))
row("number-added-to-visible=-3", "padded", "masked", lambda at: at("scaled") - 3.0 * (np.indices(at("scaled").shape)[1] < 2))
row("large-negative-mask-value", "padded", "masked", hidden(lambda i, j, n, m: j >= 2, -1e9))
row("newest-key-missing", [
    '{"q": [[1, 2], [0, 1]], "k": [[1, 0], [2, 1], [0, 3]], "causal": true, "causal_offset": 1}',
    '{"q": [[1, 2]], "k": [[1, 0], [2, 1], [0, 3]], "mask": [[true, true, true]]}',
    '{"q": [[1, -2], [2, 1]], "k": [[1, 0], [2, 1], [0, 3], [1, 1]], "causal": true, "causal_offset": 2}'], "weights",
    weights_hidden(lambda i, j, n, m: (j == m - 1) | (j > i + m - n)))
UNEQUAL = '{"q": [[1], [2]], "k": [[1], [2], [3]], "causal": true'
row("mask-aligned-otherwise", UNEQUAL + "}", "weights", weights_hidden(lambda i, j, n, m: j > i + 1))
row("mask-aligned-with-first-key", UNEQUAL + ', "causal_offset": 1}', "weights", weights_hidden(lambda i, j, n, m: j > i))
row("one-key-too-many", '{"q": [[0], [0]], "k": [[1], [2], [3], [4]], "valid_length": [1, 2]}', "mask",
    lambda at: np.array([[1.0, 1, 0, 0], [1, 1, 0, 0]]))
row("one-key-too-few", '{"q": [[0], [0]], "k": [[1], [2], [3], [4]], "valid_length": [1, 3]}', "mask",
    lambda at: np.array([[0.0, 0, 0, 0], [1, 1, 0, 0]]))
row("not-masked", '{"q": [[0], [0]], "k": [[1], [2]], "mask": [[false, true], [true, false]]}', "weights",
    lambda at: np.full((2, 2), 0.5))
ALL_MASKED = '{"q": [[1], [1]], "k": [[1], [1]], "mask": [[false, false], [true, false]]}'
row("equal-where-all-masked", ALL_MASKED, "weights", lambda at: np.array([[0.5, 0.5], [1, 0]]))
row("no-number-where-all-masked", ALL_MASKED, "weights", lambda at: np.array([[np.nan, np.nan], [1, 0]]))
row("order-masked", "rotary", "encoder.1.self_attention.weights",
    lambda at: softmax(up_to_the_query(at("encoder.1.self_attention.scaled"))))
row("window-forgotten", "window", SELF + "weights", lambda at: softmax(up_to_the_query(at(SELF + "scaled"))))


def window(first, last):
    """From so many keys before the query's own to so many behind it."""
    def by_hand(at):
        i, j = np.indices(at(SELF + "scaled").shape)
        return softmax(np.where((j >= i - first) & (j <= i + last), at(SELF + "scaled"), -INFINITY))
    return by_hand


rows("window", SELF + "weights", {
    "window-one-too-large": window(2, 0), "window-one-too-small": window(0, 0),
    "one-key-too-many": window(1, 1), "one-key-too-few": window(1, -1)})
row("new-keys-first", "step-by-step", "step.3.decoder.1.self_attention.keys",
    lambda at: at("step.3.decoder.1.self_attention.keys")[::-1])
row("new-keys-first", "step-by-step", "step.2.decoder.1.self_attention.values",
    lambda at: at("step.2.decoder.1.self_attention.values"), shows=False)
row("new-keys-first", "written", "step.3.decoder.1.self_attention.rotated_k",
    lambda at: np.vstack([at("step.3.decoder.1.self_attention.rotated_k")[rows] for rows in ([-1, -2], slice(0, -2))]))
for padding, head in itertools.product((0, 1), (1, 2)):
    row("target-mask-in-cross-attention", f"both-of-groups/{padding}", f"{CROSS}head.{head}.weights",
        lambda at, head=head: softmax(up_to_the_query(at(f"{CROSS}head.{head}.scaled"))))
row("target-mask-in-cross-attention", "both-of-groups/1", SELF + "output", lambda at: at(SELF + "output"), shows=False)
# With two heads and two sentences, head by head, masks are of sentences 1, 1, 2, 2.
SENTENCES = '{"text": ["a cat sat", "it sat"], "d_model": 4, "heads": 2, "seed": 1, "valid_length": [3, 2]}'
for sentence, head, of in ((1, 1, 1), (2, 1, 1), (1, 2, 2), (2, 2, 2)):
    row("mask-of-other-sentence", SENTENCES, f"sentence.{sentence}.head.{head}.weights",
        lambda at, sentence=sentence, head=head, of=of: softmax(np.where(
            at(f"sentence.{of}.mask") != 0, at(f"sentence.{sentence}.head.{head}.scaled"), -INFINITY)),
        shows=sentence != of)

# Norms.
NORMED, NORMALISED, SUM = "encoder.1.norm_1.output", "encoder.1.norm_1.normalised", "encoder.1.sum_1"


def norm(at, place, x, function=standard):
    beta = at(place + ".beta")
    return function(x) * at(place + ".gamma") + (0.0 if beta is None else beta)


def normed_by(function):
    return lambda at: norm(at, "encoder.1.norm_1", at(SUM), function)


def divided_by(divisor):
    return normed_by(lambda x: (x - mean(x)) / divisor(variance(x), x.shape[1]))


def standard_with(epsilon=EPSILON, factor=1.0):
    return divided_by(lambda v, d: np.sqrt(factor * v + epsilon))


def with_parameters(combine):
    return lambda at: combine(at(NORMALISED), at("encoder.1.norm_1.gamma"), at("encoder.1.norm_1.beta"))


rows("post", NORMED, {
    "variance-by-n-minus-1": divided_by(lambda v, d: np.sqrt(v * d / (d - 1) + EPSILON)),
    "epsilon-outside-the-root": divided_by(lambda v, d: np.sqrt(v) + EPSILON),
    "root-of-the-deviation": divided_by(lambda v, d: np.sqrt(np.sqrt(v) + EPSILON)),
    "divided-by-the-variance": divided_by(lambda v, d: v + EPSILON),
    "divided-by-the-variance-squared": divided_by(lambda v, d: (v + EPSILON) ** 2),
    "multiplied-by-the-deviation": normed_by(lambda x: (x - mean(x)) * np.sqrt(variance(x) + EPSILON)),
    "norm-without-brackets": normed_by(lambda x: x - mean(x) / np.sqrt(variance(x) + EPSILON)),
    "norm-without-epsilon": standard_with(0.0),
    "mean-not-subtracted": normed_by(lambda x: x / np.sqrt(variance(x) + EPSILON)),
    "rms-for-layer-norm": normed_by(by_rms),
    "norm-not-divided": divided_by(lambda v, d: 1.0),
    "norm-over-words": normed_by(lambda x: standard(x.T).T),
    "norm-over-everything": normed_by(all_as_one_row(standard)),
    "length-1-for-layer-norm": normed_by(lambda x: unit(x - mean(x))),
    "gamma-missing": with_parameters(lambda x, gamma, beta: x + beta),
    "beta-missing": with_parameters(lambda x, gamma, beta: x * gamma),
    "gamma-and-beta-missing": with_parameters(lambda x, gamma, beta: x),
    "gamma-and-beta-exchanged": with_parameters(lambda x, gamma, beta: x * beta + gamma),
    "beta-before-gamma": with_parameters(lambda x, gamma, beta: (x + beta) * gamma),
    "gamma-shifted=3": with_parameters(lambda x, gamma, beta: x * (gamma + 3) + beta),
    "norm-missing": lambda at: at(SUM),
    "another-epsilon=0.5": standard_with(0.5),
    "another-variance=3": standard_with(factor=3.0)})
rows("rms", NORMED, {
    "epsilon-outside-the-root": normed_by(lambda x: x / (np.sqrt(mean_square(x)) + EPSILON)),
    "multiplied-by-the-deviation": normed_by(lambda x: x * np.sqrt(mean_square(x) + EPSILON)),
    "mean-square-by-n-minus-1": normed_by(
        lambda x: x / np.sqrt(mean_square(x) * x.shape[1] / (x.shape[1] - 1) + EPSILON)),
    "mean-square-without-root": normed_by(lambda x: x / (mean_square(x) + EPSILON)),
    "divided-by-the-length": normed_by(unit),
    "divided-by-the-length#2": normed_by(lambda x: x / np.sqrt((x * x).sum(axis=1, keepdims=True) + EPSILON)),
    "norm-without-epsilon": normed_by(lambda x: x / np.sqrt(mean_square(x))),
    "norm-over-words": normed_by(lambda x: by_rms(x.T).T),
    "layer-norm-for-rms": normed_by(standard),
    "another-epsilon=0.5": normed_by(lambda x: x / np.sqrt(mean_square(x) + 0.5))})
row("one-not-added-to-gamma", "rms-plus-1", NORMED, normed_by(by_rms))
row("last-norm-missing", "pre", "encoder.output", lambda at: at("encoder.2.sum_2"))
row("second-norm-for-the-first", "one-head", NORMED, lambda at: norm(at, "encoder.1.norm_2", at(SUM)))
row("first-norm-for-all", "one-head", "encoder.1.norm_2.output",
    lambda at: norm(at, "encoder.1.norm_1", at("encoder.1.sum_2")))
row("first-layer-in-all", "one-head", "encoder.2.self_attention.q",
    lambda at: mapped(at, "encoder.1.self_attention.", "q", at("encoder.1.norm_2.output")))
row("layers-reversed", "one-head", "encoder.1.self_attention.q",
    lambda at: mapped(at, "encoder.2.self_attention.", "q", at("source.positioned")))


# Residual connections, norms and sub-layers of whole layers.
class Layer:
    def __init__(self, at, name):
        self.at, self.name = at, name

    def norm(self, x, number):
        return norm(self.at, f"{self.name}.norm_{number}", x)

    def attention(self, x, memory=None, which="self_attention"):
        scope = f"{self.name}.{which}."
        q, k, v = (mapped(self.at, scope, name, of) for name, of in (("q", x), ("k", x if memory is None else memory),
                                                                    ("v", x if memory is None else memory)))
        heads = 1 if self.at(scope + "head.1.q") is None else 2
        is_causal = memory is None and self.name.startswith("decoder")
        outputs = []
        for q_i, k_i, v_i in zip(*(np.split(matrix, heads, axis=1) for matrix in (q, k, v))):
            scores = q_i @ k_i.T / math.sqrt(q_i.shape[1])
            outputs.append(softmax(up_to_the_query(scores) if is_causal else scores) @ v_i)
        return mapped(self.at, scope, "o", np.hstack(outputs))

    def cross(self, x, memory=None):
        return self.attention(x, self.at("encoder.output") if memory is None else memory, "cross_attention")

    def fed(self, x):
        place = self.name + ".feed_forward."
        return mapped(self.at, place, "2", relu(mapped(self.at, place, "1", x)))


def encoded(layer, last=lambda at, x: x):
    """Both layers of an encoder, of which a layer is a function of its words."""
    def by_hand(at):
        x = at("source.positioned")
        for name in ("encoder.1", "encoder.2"):
            x = layer(Layer(at, name), x)
        return last(at, x)
    return by_hand


def usual(first=(1, 1), second=(1, 1), norms=(1, 2), from_the_layer=False):
    """How often the words and what is found are added, in both sub-layers, and which norm stands behind each."""
    def layer(of, x):
        words = of.norm(first[0] * x + first[1] * of.attention(x), norms[0])
        return of.norm(second[0] * (x if from_the_layer else words) + second[1] * of.fed(words), norms[1])
    return encoded(layer)


def pre_layer(of, x):
    x = x + of.attention(of.norm(x, 1))
    return x + of.fed(of.norm(x, 2))


def norms_inside(of, x):
    x = x + of.norm(of.attention(x), 1)
    return x + of.norm(of.fed(x), 2)


def from_norms(of, x):
    x = of.norm(x, 1) + of.attention(of.norm(x, 1))
    return of.norm(x, 2) + of.fed(of.norm(x, 2))


rows("post", "encoder.output", {
    "residual-missing": usual((0, 1), (0, 1)),
    "first-residual-missing": usual((0, 1)),
    "second-residual-missing": usual(second=(0, 1)),
    "residual-from-the-layer": usual(from_the_layer=True),
    "norms-exchanged": usual(norms=(2, 1)),
    "norm-inside-the-residual": encoded(norms_inside),
    "pre-norm": encoded(pre_layer),
    "another-multiple-of-residual=3": usual((3, 1), (3, 1)),
    "another-multiple-of-sub-layer=3": usual((1, 3), (1, 3)),
    "another-multiple-of-first-residual=3": usual((3, 1)),
    "another-multiple-of-first-sub-layer=3": usual((1, 3)),
    "another-multiple-of-second-residual=3": usual(second=(3, 1)),
    "another-multiple-of-second-sub-layer=3": usual(second=(1, 3))})
row("pre-norm", "post", NORMED, lambda at: Layer(at, "encoder.1").norm(at("source.positioned"), 1))
row("residual-from-the-norm", "pre", "encoder.output", encoded(from_norms, lambda at, x: norm(at, "encoder.norm", x)))
row("post-norm", "pre", "encoder.output", usual())
row("post-norm", "pre", NORMED, lambda at: Layer(at, "encoder.1").norm(
    at("source.positioned") + Layer(at, "encoder.1").attention(at("source.positioned")), 1))


def third(residual=1, found=1):
    return lambda at: Layer(at, "decoder.1").norm(
        residual * at("decoder.1.norm_2.output") + found * at("decoder.1.feed_forward.output"), 3)


def first_exchanged(first, second):
    """The encoder with its feed-forward layer first, and the decoder with its cross-attention first."""
    def by_hand(at):
        of, memory = Layer(at, "encoder.1"), at("source.positioned")
        memory = of.norm(memory + of.fed(memory), first)
        memory = of.norm(memory + of.attention(memory), second)
        of, x = Layer(at, "decoder.1"), at("target.positioned")
        x = of.norm(x + of.cross(x, memory), first)
        x = of.norm(x + of.attention(x), second)
        return of.norm(x + of.fed(x), 3)
    return by_hand


def last_exchanged(second, third):
    def by_hand(at):
        of, x = Layer(at, "decoder.1"), at("decoder.1.norm_1.output")
        x = of.norm(x + of.fed(x), second)
        return of.norm(x + of.cross(x), third)
    return by_hand


rows("both-sides", "decoder.output", {
    "third-residual-missing": third(0),
    "another-multiple-of-third-residual=3": third(3),
    "another-multiple-of-third-sub-layer=3": third(1, 3),
    "first-sub-layers-exchanged": first_exchanged(2, 1),
    "first-sub-layers-exchanged-norms-kept": first_exchanged(1, 2),
    "last-sub-layers-exchanged": last_exchanged(3, 2),
    "last-sub-layers-exchanged-norms-kept": last_exchanged(2, 3)})

# Feed-forward layers.
FED = "encoder.1.feed_forward."


def fed_by(function):
    """With another activation."""
    return lambda at: mapped(at, FED, "2", function(at(FED + "inner")))


def after_bias(number, function=relu):
    return lambda at: mapped(at, FED, "2", function(at(FED + "inner") + (number - 1) * at(FED + "b_1")))


def softplus(x):
    return np.log(1.0 + np.exp(x))


def selu(x):
    return 1.0507009873554805 * np.where(x > 0, x, 1.6732632423543772 * (np.exp(x) - 1))


gelu, gelu_by_tanh, silu = (ACTIVATIONS[name] for name in ("gelu", "gelu-tanh", "silu"))
rows("post", FED + "output", {
    "activation-missing": fed_by(lambda x: x),
    "activation-last": lambda at: relu(mapped(at, FED, "2", at(FED + "inner"))),
    "activation-twice": lambda at: relu(at(FED + "output")),
    "gelu-for-relu": fed_by(gelu),
    "gelu-by-tanh-for-relu": fed_by(gelu_by_tanh),
    "silu-for-relu": fed_by(silu),
    "sigmoid-for-relu": fed_by(sigmoid),
    "relu-keeps-negative-numbers": fed_by(lambda x: np.minimum(x, 0.0)),
    "relu-drops-the-sign": fed_by(np.abs),
    "another-slope=0.3": fed_by(lambda x: np.where(x > 0, x, 0.3 * x)),
    "tanh-as-activation": fed_by(np.tanh),
    "elu-as-activation": fed_by(lambda x: np.where(x > 0, x, np.exp(x) - 1)),
    "softplus-as-activation": fed_by(softplus),
    "squared-relu-as-activation": fed_by(lambda x: relu(x) ** 2),
    "selu-as-activation": fed_by(selu),
    "mish-as-activation": fed_by(lambda x: x * np.tanh(softplus(x))),
    "another-sigmoid-unit=3": fed_by(lambda x: x * sigmoid(3 * x)),
    "bias-after-activation": lambda at: mapped(
        at, FED, "2", relu(at(FED + "inner") - at(FED + "b_1")) + at(FED + "b_1")),
    "first-bias-missing": after_bias(0),
    "another-multiple-of-first-bias=3": after_bias(3),
    "second-bias-missing": lambda at: at(FED + "output") - at(FED + "b_2"),
    "another-multiple-of-second-bias=3": lambda at: at(FED + "output") + 2 * at(FED + "b_2")})
row("relu6-as-activation", "silu", FED + "output", fed_by(lambda x: np.clip(x, 0.0, 6.0)))
row("gates-exchanged", "gated", FED + "gated", lambda at: silu(at(FED + "inner")) * at(FED + "gate"))
for problem in ("gelu", "gelu-tanh"):
    rows(problem, FED + "output", {
        "relu-for-gelu": fed_by(relu),
        "gelu-by-sigmoid": fed_by(lambda x: x * sigmoid(1.702 * x)),
        "sigmoid-as-activation": fed_by(sigmoid)})
row("gelu-by-tanh", "gelu", FED + "output", fed_by(gelu_by_tanh))
row("gelu-by-erf", "gelu-tanh", FED + "output", fed_by(gelu))
rows("silu", FED + "output", {
    "sigmoid-for-silu": fed_by(sigmoid), "relu-as-activation": fed_by(relu), "gelu-as-activation": fed_by(gelu)})
row("sigmoid-for-tanh", "tanh", FED + "output", fed_by(sigmoid))


# Embeddings.
def rows_below(number):
    def by_hand(at):
        table = at("source_embedding.e")
        return table[(at("source.ids")[:, 0].astype(int) - 1 + number) % len(table)]
    return by_hand


def positioned(combine):
    return lambda at: combine(at("source.x"), at("source.positions"), math.sqrt(at("source.x").shape[1]))


rows("post", "source.x", {"next-embeddings": rows_below(1), "embeddings-before": rows_below(-1)})
rows("post", "source.positioned", {
    "embeddings-not-scaled": positioned(lambda x, p, root: x + p),
    "embeddings-divided": positioned(lambda x, p, root: x / root + p),
    "embeddings-times-d": positioned(lambda x, p, root: x * root * root + p),
    "positions-scaled-too": positioned(lambda x, p, root: (x + p) * root),
    "positions-missing": positioned(lambda x, p, root: x * root),
    "positions-alone": positioned(lambda x, p, root: p),
    "positions-multiplied": positioned(lambda x, p, root: x * root * p),
    "positions-by-sentence": positioned(lambda x, p, root: x * root + p[:1]),
    "another-multiple-of-positions=3": positioned(lambda x, p, root: x * root + 3 * p),
    "another-multiple-of-embeddings=3": positioned(lambda x, p, root: 3 * x * root + p)})


def behind_projection(which):
    def by_hand(at):
        x = at("source.x") * math.sqrt(at("source.x").shape[1])
        return mapped(at, "encoder.1.self_attention.", which, x) + (0.0 if which == "v" else at("source.positions"))
    return by_hand


for which in "qkv":
    row("positions-added-to-queries-and-keys", "post", f"encoder.1.self_attention.{which}", behind_projection(which))
row("embeddings-scaled", "unscaled", "source.positioned", positioned(lambda x, p, root: x * root + p))


# Sines and cosines of positions.
def wave(angle, is_sine=lambda j, d: j % 2 == 0):
    def by_hand(at):
        d = at("source.positions").shape[1]
        i, j = np.indices(at("source.positions").shape)
        return np.where(is_sine(j, d), np.sin(angle(i, j, d)), np.cos(angle(i, j, d)))
    return by_hand


def usual_angle(i, j, d, power=1.0, base=1e4):
    return i / base ** (power * 2 * (j // 2) / d)


def angle_in_halves(i, j, d, divisor=lambda k, d: 1e4 ** (2 * k / d)):
    return i / divisor(j % (d // 2), d)


def first_half(j, d):
    return j < d // 2


def by_base(base, **others):
    return lambda at: waves(*at("source.positions").shape, base=base, **others)


rows("post", "source.positions", {
    "exponent-counts-columns": wave(lambda i, j, d: i / 1e4 ** (2 * j / d)),
    "cosine-has-its-own-frequency": wave(lambda i, j, d: i / 1e4 ** (j / d)),
    "exponent-without-2": wave(lambda i, j, d: usual_angle(i, j, d, 0.5)),
    "exponent-doubled": wave(lambda i, j, d: usual_angle(i, j, d, 2.0)),
    "frequency-multiplied": wave(lambda i, j, d: usual_angle(i, j, d, -1.0)),
    "exponent-floored": wave(lambda i, j, d: i * np.exp(2 * (j // 2) * (-math.log(1e4) / d // 2))),
    "exponent-is-zero": wave(lambda i, j, d: i),
    "degrees": wave(lambda i, j, d: usual_angle(i, j, d) * math.pi / 180),
    "positions-from-1": wave(lambda i, j, d: usual_angle(i + 1, j, d)),
    "another-first-position=2.5": wave(lambda i, j, d: usual_angle(i + 2.5, j, d)),
    "another-step=0.3": wave(lambda i, j, d: usual_angle(0.3 * i, j, d)),
    "another-base=100": by_base(100.0),
    "cosines-first": wave(usual_angle, lambda j, d: j % 2 == 1),
    "sines-alone": wave(usual_angle, lambda j, d: j >= 0),
    "cosines-alone": wave(usual_angle, lambda j, d: j < 0),
    "sines-then-cosines": by_base(1e4, layout="concatenated"),
    "waves-up-to-the-base": wave(
        lambda i, j, d: angle_in_halves(i, j, d, lambda k, d: 1e4 ** (k / (d / 2 - 1))), first_half)})
row("later-words-at-0=2", "post", "source.positions", wave(lambda i, j, d: usual_angle(np.where(i < 2, i, 0), j, d)))
row("later-words-from-0=1", "post", "source.positions",
    wave(lambda i, j, d: usual_angle(np.where(i < 1, i, i - 1), j, d)))
row("sines-beside-cosines", "halves", "source.positions", by_base(1e4))
row("cosines-first", "halves", "source.positions", wave(angle_in_halves, lambda j, d: j >= d // 2))
row("positions-from-1", "learned", "target.positions",
    lambda at: at("target_positions.table")[1:len(at("target.positions")) + 1])
row("learned-position-restarted", "cached-learned", "positions", lambda at: at("position_table")[:len(at("positions"))])
# Words 2, 3 and 1 are at positions 0, 1 and 2.
for word in (2, 3, 1):
    row("position-restarted", "step-by-step", f"step.{word}.target.positions",
        lambda at: waves(1, at("step.2.target.positions").shape[1]), shows=word != 2)

# Positions that turn.
ENCODER = "encoder.1.self_attention."
Q, K = ENCODER + "q", ENCODER + "k"
ROTATED_Q, ROTATED_K = ENCODER + "rotated_q", ENCODER + "rotated_k"


def turned(x, angle=usual_angle, in_halves=False, at=None, sign=1.0):
    """Each column by an angle of its own: x cos − y sin, x sin + y cos."""
    i, j = np.indices(x.shape)
    d = x.shape[1]
    apart = d // 2 if in_halves else 1
    is_first = j < apart if in_halves else j % 2 == 0
    partners = np.take_along_axis(x, np.where(is_first, j + apart, j - apart), axis=1)
    angles = sign * angle(i if at is None else np.asarray(at)[:, None] + 0 * i, j, d)
    return x * np.cos(angles) + np.where(is_first, -1, 1) * partners * np.sin(angles)


def turned_from(name, *how, **others):
    return lambda at: turned(at(name), *how, **others)


def one_late(name):
    return lambda at: turned(at(name), at=np.arange(len(at(name))) + 1)


rows("rotary", ROTATED_Q, {
    "halves-for-neighbors": turned_from(Q, angle_in_halves, True),
    "rotary-angles-tiled": turned_from(Q, angle_in_halves),
    "rotary-angles-repeated": turned_from(Q, usual_angle, True),
    "rotary-backwards": turned_from(Q, sign=-1.0),
    "rotary-queries-not-turned": lambda at: at(Q),
    "rotary-missing": lambda at: at(Q),
    "rotary-exponent-without-2": turned_from(Q, lambda i, j, d: usual_angle(i, j, d, 0.5)),
    "positions-from-1": one_late(Q),
    "another-base=100": turned_from(Q, lambda i, j, d: usual_angle(i, j, d, base=100.0))})
rows("rotary", ROTATED_K, {
    "rotary-keys-not-turned": lambda at: at(K),
    "rotary-missing": lambda at: at(K),
    "rotary-keys-one-late": one_late(K)})
for name in (Q, K):
    to = {Q: ROTATED_Q, K: ROTATED_K}[name]
    row("later-words-at-0=2", "rotary", to,
        lambda at, name=name: turned(at(name), at=[0, 1] + [0] * (len(at(name)) - 2)))
    row("later-words-from-0=1", "rotary", to, lambda at, name=name: turned(at(name), at=[0, *range(len(at(name)) - 1)]))


def of_turned_words(which):
    return lambda at: mapped(at, ENCODER, which, turned(at("source.scaled_x")))


for variant in ("", "#2"):
    row("rotary-before-projection" + variant, "rotary", ROTATED_Q, of_turned_words("q"))
    row("rotary-before-projection" + variant, "rotary", ROTATED_K, of_turned_words("k"))
    row("rotary-before-projection" + variant, "rotary-heads", ENCODER + "head.1.rotated_q",
        lambda at: of_turned_words("q")(at)[:, :at(ENCODER + "head.1.q").shape[1]])
row("rotary-before-projection", "rotary", ENCODER + "v", lambda at: at(ENCODER + "v"), shows=False)
row("rotary-before-projection#2", "rotary", ENCODER + "v", of_turned_words("v"))
# Only distances count in the scores: all positions may move together.
row("positions-from-1", "rotary", ENCODER + "scores", lambda at: at(ENCODER + "scores"), shows=False)
rows("rotary-halves", ROTATED_Q, {
    "neighbors-for-halves": turned_from(Q),
    "rotary-halves-angles-repeated": turned_from(Q, usual_angle, True),
    "rotary-backwards": turned_from(Q, angle_in_halves, True, sign=-1.0)})
row("rotary-halves", "rotary-drawn", ROTATED_Q, turned_from(Q, angle_in_halves, True))
row("rotary-neighbors", "rotary-halves-drawn", ROTATED_Q, turned_from(Q))
row("wave-scaling-forgotten", "rotary-longer", ROTATED_Q, turned_from(Q, angle_in_halves, True))
row("rotary-values-turned", "rotary-heads", ENCODER + "head.2.output",
    lambda at: at(ENCODER + "head.2.weights") @ turned(at(ENCODER + "head.2.v")))
row("rotary-size-of-all-heads", "rotary-heads", ENCODER + "head.1.rotated_q",
    turned_from(ENCODER + "head.1.q", lambda i, j, d: usual_angle(i, j, 2 * d)))
WRITTEN = "step.3.decoder.1.self_attention."


def keys_at(of_new):
    """The positions of the words of the prompt, and then of each that was written."""
    def by_hand(at):
        keys = at(WRITTEN + "keys")
        n = len(keys)
        return turned(keys, at=[i if i < n - 2 else of_new(i) for i in range(n)])
    return by_hand


rows("written", WRITTEN + "rotated_k", {
    "rotary-from-0-with-cache": keys_at(lambda i: 0), "rotary-one-late-with-cache": keys_at(lambda i: i + 1)})
rows("written", WRITTEN + "rotated_q", {
    "rotary-from-0-with-cache": lambda at: at(WRITTEN + "q"),
    "rotary-one-late-with-cache": lambda at: turned(at(WRITTEN + "q"), at=[len(at(WRITTEN + "keys"))])})


# Distances.
def at_distances(distance, of=lambda at: at("position_table")):
    """What a table has for j − i, or another distance of a query and a key."""
    def by_hand(at):
        table, (i, j) = of(at), np.indices(at("relative").shape)
        most = table.shape[1] // 2
        return np.take_along_axis(np.broadcast_to(table, (len(i), table.shape[1])),
                                  np.clip(distance(i, j), -most, most) + most, axis=1)
    return by_hand


def in_text(at):
    i, j = np.indices(at("relative").shape)
    return at("position_table")[0, np.minimum(np.abs(i - j), at("position_table").shape[1] - 1)]


row("distance-reversed", "relative-bias", "relative", at_distances(lambda i, j: i - j))
row("distance-reversed", "relative-vectors", "relative",
    at_distances(lambda i, j: i - j, lambda at: at("q") @ at("position_table").T))
row("distance-from-0-with-cache", "cached-bias", "relative", at_distances(lambda i, j: j - i))
row("distance-in-text", "star", "relative", in_text)
row("distance-missing", "relative-vectors", "scores", lambda at: at("content"))

# Recurrent networks. The third state of an encoder, by a step of one's own.
STATE = "encoder.3.h"


def third_state(one_step):
    def by_hand(at):
        h = np.zeros((1, at(STATE).shape[1]))
        for t in range(3):
            h = one_step(at, at("encoder.x")[[t]], h)
        return h
    return by_hand


def joined(at, x, h, to="h"):
    return x @ at(f"encoder.w_x{to}") + h @ at(f"encoder.w_h{to}") + at(f"encoder.b_{to}")


def gate(at, x, h, to):
    return sigmoid(joined(at, x, h, to))


def gated(new_state):
    """Of the gates r and z, what was and what comes in, and their maps."""
    return third_state(lambda at, x, h: new_state(
        gate(at, x, h, "r"), gate(at, x, h, "z"), h, x @ at("encoder.w_xh") + at("encoder.b_h"), at("encoder.w_hh")))


rows("luong", STATE, {
    "tanh-missing": third_state(joined),
    "sigmoid-for-the-state": third_state(lambda at, x, h: sigmoid(joined(at, x, h))),
    "previous-state-missing": third_state(lambda at, x, h: np.tanh(joined(at, x, 0 * h))),
    "input-missing": third_state(lambda at, x, h: np.tanh(joined(at, 0 * x, h))),
    "bias-missing": third_state(lambda at, x, h: np.tanh(joined(at, x, h) - at("encoder.b_h"))),
    "maps-transposed": third_state(lambda at, x, h: np.tanh(
        x @ at("encoder.w_xh").T + h @ at("encoder.w_hh").T + at("encoder.b_h")))})
rows("gru", STATE, {
    "update-gate-exchanged": gated(lambda r, z, h, x, w: z * np.tanh(x + (r * h) @ w) + (1 - z) * h),
    "reset-after-the-product": gated(lambda r, z, h, x, w: z * h + (1 - z) * np.tanh(x + r * (h @ w))),
    "reset-gate-missing": gated(lambda r, z, h, x, w: z * h + (1 - z) * np.tanh(x + h @ w))})


def looked_at(query, states):
    return softmax(query @ states.T) @ states


row("states-of-the-decoder", "luong", "decoder.2.context", lambda at: looked_at(
    at("decoder.2.state"), np.vstack([at("decoder.0.state"), at("decoder.1.state")])))
# There is one state before the first output, and it has all the weight.
row("states-of-the-decoder", "bahdanau", "decoder.1.context", lambda at: at("decoder.0.state"))
row("query-is-the-new-state", "scaled-dot", "decoder.2.scores", lambda at: at("decoder.2.state") @ at("h").T)
row("query-is-the-previous-state", "luong", "decoder.2.context", lambda at: looked_at(at("decoder.1.state"), at("h")))
row("context-last", "luong", "decoder.2.joined", lambda at: np.hstack([at("decoder.2.state"), at("decoder.2.context")]))


# Losses, and the next word.
def cross_entropies(logits, ids, smoothing=0.1):
    words = logits.shape[1]
    target = (1 - smoothing) * np.eye(words)[ids[:, 0].astype(int) - 1] + smoothing / words
    return np.log(np.exp(logits).sum(axis=1, keepdims=True)) - (target * logits).sum(axis=1, keepdims=True)


def shifted_twice(at):
    sentences = at.size + 2
    words = len(at("expected")) // sentences
    one_more = np.arange(len(at("expected"))).reshape(sentences, words)[:, 1:].ravel()
    counts = one_more[at("counted")[0, one_more] != 0]
    return cross_entropies(at("logits")[counts - 1], at("expected")[counts]).mean(keepdims=True)


def shifted_back(at):
    sentences = at.size + 2
    words = len(at("expected")) // sentences
    behind = np.arange(len(at("expected"))).reshape(sentences, words)[:, 1:].ravel()
    counts = behind[at("counted")[0, behind] != 0]
    return cross_entropies(at("logits")[counts], at("expected")[counts - 1]).mean(keepdims=True)


def rolled(by):
    return lambda at: cross_entropies(
        at("logits"), np.roll(at("expected").reshape(at.size + 2, -1), by, axis=1).reshape(-1, 1))


rows("loss", "losses", {
    "shifted-twice#2": rolled(-1),
    "shifted-back#2": rolled(1),
    "softmax-before-cross-entropy": lambda at: cross_entropies(softmax(at("logits")), at("expected")),
    "smoothing-missing": lambda at: cross_entropies(at("logits"), at("expected"), 0.0),
    "loss-in-bits": lambda at: at("losses") / math.log(2),
    "logarithm-to-base-10": lambda at: at("losses") / math.log(10),
    "probability-without-logarithm": lambda at: np.take_along_axis(
        softmax(at("logits")), at("expected").astype(int) - 1, axis=1),
    "target-not-shifted": lambda at: at.of("loss-told")("losses"),
    "labels-not-shifted": lambda at: cross_entropies(at("logits"), at("target.ids"))})
rows("loss", "loss", {
    "loss-summed": lambda at: (at("counted") != 0) * 1.0 @ at("losses"),
    "padding-in-the-loss": lambda at: at("losses").mean(keepdims=True),
    "shifted-twice": shifted_twice,
    "shifted-back": shifted_back})
rows("written", "step.1.distribution", {
    "temperature-multiplied": lambda at: softmax(2 * at("step.1.logits")),
    "temperature-missing": lambda at: softmax(at("step.1.logits")),
    "temperature-after-softmax": lambda at: softmax(at("step.1.logits")) / 2,
    "another-temperature=3": lambda at: softmax(3 * at("step.1.logits") / 2)})
rows("written", "step.1.limited", {
    "choice-not-normalized": lambda at: at("step.1.distribution") * at("step.1.allowed"),
    "softmax-of-probabilities": lambda at: shares(np.exp(at("step.1.distribution")) * at("step.1.allowed"))})

# Gradients.
LAST = "encoder.2.feed_forward."


def of_weights(function):
    """Of weights and the gradient by them, its sum over each row, weighted and not."""
    def by_hand(at):
        a, d = at("weights"), at("d_weights")
        return function(a, d, (a * d).sum(axis=1, keepdims=True), d.sum(axis=1, keepdims=True))
    return by_hand


rows("attention-back", "d_scaled", {
    "softmax-diagonal-only": of_weights(lambda a, d, weighted, plain: a * (1 - a) * d),
    "softmax-sum-not-subtracted": of_weights(lambda a, d, weighted, plain: a * d),
    "softmax-sum-without-weights": of_weights(lambda a, d, weighted, plain: a * (d - plain)),
    "softmax-skipped": of_weights(lambda a, d, weighted, plain: d)})
row("gradient-not-scaled", "attention-back", "d_scores", lambda at: at("d_scaled"))
row("factor-not-transposed", "attention-back", "d_v", lambda at: at("weights") @ at("d_output"))
row("matrix-not-transposed", "attention-back", "d_x",
    lambda at: sum(at(f"d_{which}") @ at(f"w_{which}") for which in "qkv"))
row("slope-missing", "relu-back", LAST + "d_inner", lambda at: at(LAST + "d_rectified"))
row("slope-at-the-argument", "tanh-back", LAST + "d_inner",
    lambda at: at(LAST + "d_activated") * (1 - at(LAST + "inner") ** 2))
row("mean-and-variance-fixed", "relu-back", "encoder.2.d_sum_2",
    lambda at: at("encoder.2.norm_2.d_normalised") / np.sqrt(at("encoder.2.norm_2.variance") + EPSILON))
row("residual-forgotten", "relu-back", "encoder.2.norm_1.d_output",
    lambda at: at(LAST + "d_inner") @ at(LAST + "w_1").T)


# --- comparing

def in_steps(program, mistake):
    """Where a mistake in the steps of attention gives others than NumPy."""
    becomes, change = STEPS[mistake]
    for (problem, place, words, how), becoming in zip(ATTENTIONS, becomes):
        at = Numbers(program, problem)
        if program.ask(problem, mistake) != (becoming != "."):
            yield problem, f"it changes {'nothing' if becoming != '.' else 'something'}"
        if becoming == ".":
            continue
        right, mistaken = Attention(at, place, words, **how).run(), Attention(at, place, words, **how)
        change(mistaken)
        expected = mistaken.run()
        for name, cells in expected.items():
            found = program.ask(problem, mistake, place + name)
            if not alike(found, cells):
                yield problem, f"{place + name} is\n{found}\nand NumPy computes\n{cells}"
        is_other = any(not alike(cells, right[name]) for name, cells in expected.items())
        now = "-" if any(cells is None for cells in expected.values()) else "d" if is_other else "="
        if now != becoming:
            yield problem, f"NumPy makes it {now} and not {becoming}"


def with_sizes(problem):
    """A name has three; JSON has none, nor has what says its own."""
    if isinstance(problem, str) and not problem.startswith("{") and "/" not in problem:
        return [(f"{problem}/{size}", size) for size in SIZES]
    return [(one, None) for one in ([problem] if isinstance(problem, str) else problem)]


def in_row(program, mistake, problem, matrix, by_hand, shows):
    """Where a mistake gives other numbers than its row."""
    for one, size in with_sizes(problem):
        at = Numbers(program, one, size)
        found, wanted = program.ask(one, mistake, matrix), by_hand(at)
        if not alike(found, wanted):
            yield one, f"{matrix} is\n{found}\nand NumPy computes\n{wanted}"
        if alike(found, at(matrix)) == shows:
            yield one, f"{matrix} is {'the right one' if shows else 'another one'}"


def main():
    program, only = Program(sys.argv[1]), sys.argv[2:]
    failed, compared = 0, 0

    def tell(mistake, problem, sentence):
        nonlocal failed
        failed += 1
        print(f"{mistake} in {problem}: {sentence}\n", flush=True)

    for problem, place, words, how in ATTENTIONS:
        for name, cells in Attention(Numbers(program, problem), place, words, **how).run().items():
            if not alike(program.numbers(problem, place + name), cells):
                tell("no mistake", problem, f"{place + name} is not what NumPy computes")
    for mistake in STEPS:
        if not only or mistake in only:
            compared += 1
            for problem, sentence in in_steps(program, mistake):
                tell(mistake, problem, sentence)
    for mistake, problem, matrix, by_hand, shows in ROWS:
        if not only or mistake.partition("=")[0] in only:
            compared += 1
            for one, sentence in in_row(program, mistake, problem, matrix, by_hand, shows):
                tell(mistake, one, sentence)
    known = program.ask("mistakes")
    here = {*STEPS, *(mistake.partition("=")[0] for mistake, _, _, _, shows in ROWS if shows)}
    for mistake in known:
        if mistake not in here:
            tell(mistake, "all problems", "it has no row here")
    for mistake in here - set(known):
        tell(mistake, "all problems", "the program knows no such mistake")
    print(f"{len(known)} mistakes, {compared} rows, {failed} failed")
    return 1 if failed else 0


sys.exit(main())
