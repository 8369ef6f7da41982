"""Pooling, scoring functions and masks compared, sweeps of the scale, swapped words, and averaging."""
import numpy as np

import matrices
import problems
from attention import How, multi_head, score_of, softmax, waves, weights_of


def queries_and_keys(case, values=True):
    n_q, n_k, d, d_v = case.size(1, 6), case.size(1, 6), case.size(1, 6), case.size(1, 5)
    q, k = case.give("--q", case.normal(n_q, d)), case.give("--k", case.normal(n_k, d))
    return q, k, case.give("--v", case.normal(n_k, d_v)) if values else None


def pool(case):
    """Four rules from the same scores to weights."""
    case.words.append("pool")
    q, k, v = queries_and_keys(case)
    how = How()
    problems.Problem.draw_score(Scoring(case, how), q.shape[1], k.shape[1])
    out = case.expected
    scores, involved = score_of(out, q, k, how)
    out.put("scores", scores, *(involved if isinstance(involved, list) else [involved]))
    weights_of(out, scores, how, k.shape[1])
    scaled, magnitude = out.matrices["scaled"], out.magnitudes["scaled"]
    sums = scaled.sum(axis=1, keepdims=True)
    left = np.abs(sums) / np.abs(scaled).sum(axis=1, keepdims=True)
    if ((left > 1e-15) & (left < 1e-9)).any():  # whether that is zero depends on the rounding
        return None
    sums = np.where(left > 1e-15, sums, np.inf)  # nothing can be divided by zero: the weights become zero
    one_hot = np.zeros_like(scaled)
    one_hot[np.arange(len(scaled)), scaled.argmax(axis=1)] = 1.0
    # A sum near zero, and what is divided by it, has lost digits.
    lost = np.abs(scaled / sums).max() / left[left > 1e-15].min(initial=1.0)
    rules = {"average": np.full(scaled.shape, 1 / scaled.shape[1]), "look-up": one_hot,
             "sum": scaled / sums, "softmax": softmax(scaled)}
    for rule, weights in rules.items():
        with out.within(rule + "."):
            involved = lost if rule == "sum" else magnitude if rule == "softmax" else 1.0
            out.put("weights", weights, 1.0, involved)
            out.put("output", weights @ v, np.abs(weights) @ np.abs(v), involved * np.abs(v))
    if k.shape[1] == v.shape[1] == 1:
        draw_curve(out, k, v, how, q.shape[1])
    return "pool"


def draw_curve(out, k, v, how, d_q):
    """Keys and values that are points: the same pooled for queries from below the least key to above the largest."""
    margin = 0.1 * (k.max() - k.min())
    grid = (k.min() - margin + np.linspace(0, 1, 129) * (k.max() - k.min() + 2 * margin))[:, None]
    inner = matrices.Expected()
    scores, involved = score_of(inner, grid, k, how)
    inner.put("scores", scores, *(involved if isinstance(involved, list) else [involved]))
    weights = {"softmax": weights_of(inner, scores, how, 1), "average": np.full(scores.shape, 1 / len(k))}
    one_hot = np.zeros_like(scores)
    one_hot[np.arange(129), scores.argmax(axis=1)] = 1.0
    weights["look-up"] = one_hot
    for rule, shares in weights.items():
        out.put(f"curve.{rule}.output", shares @ v, np.abs(v) * inner.magnitudes["scaled"], np.abs(v))


class Scoring:
    """What draw_score needs of a problem. A cap comes after what is pooled."""

    def __init__(self, case, how):
        self.case, self.how, self.p, self.draws, self.bilinear, self.positions = case, how, {}, None, False, "none"

    parameter, draw_scale = problems.Problem.parameter, problems.Problem.draw_scale

    def draw_cap(self):
        pass


def compare_scores(case):
    case.words.append("compare-scores")
    q, k, _ = queries_and_keys(case, values=False)
    d, h = q.shape[1], case.size(1, 5)
    sigma = 1.0
    if case.chance():
        sigma = case.number(0.3, 3)
        case.option("--score-sigma", sigma)
    m = case.give("--score-m", case.normal(d, d))
    w_q, w_k, w_v = (case.give("--score-w" + letter, case.normal(*shape))
                     for letter, shape in (("q", (d, h)), ("k", (d, h)), ("v", (h, 1))))
    out = case.expected
    for name in ("scaled-dot", "dot", "cosine", "gaussian", "bilinear", "additive"):
        with out.within(name + "."):
            how = How(score=name, sigma=sigma, m=m, w_q=w_q, w_k=w_k, w_v=w_v)
            scores, involved = score_of(out, q, k, how)
            out.put("scores", scores, involved if not isinstance(involved, list) else involved[0])
            weights_of(out, scores, how, d)
    if case.chance(0.3):
        case.option("--only", "|".join(["*hidden*", "*.scores", "*activated", "*unit_*", "*expanded", "*projected_q"]))

    def torch_too():
        import torch
        x, y = torch.tensor(q), torch.tensor(k)
        theirs = torch.nn.functional.cosine_similarity(x[:, None], y[None], dim=-1, eps=1e-300).numpy()
        return agreed("cosine_similarity", theirs, out.matrices["cosine.scores"], 1.0)

    case.checks.append(torch_too)
    return "compare-scores"


def agreed(name, theirs, ours, *involved):
    far = matrices.distance("PyTorch's " + name, theirs, ours, matrices.largest(theirs, *involved))
    if not far <= matrices.TOLERANCE:
        raise matrices.Difference(f"PyTorch's {name} is {far:.3g} from the oracle")
    return far


def compare_masks(case):
    case.words.append("compare-masks")
    n_q, n_k = case.size(1, 6), case.size(2, 6)
    scores = case.give("--scores", case.normal(n_q, n_k, spread=2))
    out = case.expected
    allowed = np.arange(n_k)[None, :] <= np.arange(n_q)[:, None]
    if case.chance():
        case.option("--causal")
    else:
        lengths = [case.size(1, n_k) for _ in range(n_q)]
        allowed = np.arange(n_k)[None, :] < np.array(lengths)[:, None]
        case.option("--valid-length", ",".join(map(str, lengths)))
    if allowed.all():  # nothing is masked, and nothing compared
        return None
    case.option("--scale", "none")
    out.put("scores", scores)
    out.put("scaled", scores)
    out.put("mask", allowed)
    masked = out.put("before.masked", np.where(allowed, scores, -np.inf))
    out.put("before.weights", softmax(masked), scores, 1.0)
    unmasked = out.put("of_weights.unmasked", softmax(scores), scores, 1.0)
    out.put("of_weights.filled", np.where(allowed, unmasked, -1e6))
    left = out.put("of_weights.left", unmasked * allowed, 1.0, scores)
    rest = left.sum(axis=1, keepdims=True)
    out.put("after.weights", left / rest, matrices.largest(scores) / rest.min())
    return "compare-masks"


def sweep(case):
    case.words.append("scale")
    q, k, _ = queries_and_keys(case, values=False)
    numbers = [case.number(0.1, 50) for _ in range(case.size(1, 4))]
    case.option("--sweep", ",".join(map(repr, numbers)))
    out = case.expected
    scores = out.product("scores", q, k.T)
    magnitude = out.magnitudes["scores"]
    for i, row in enumerate(scores):
        with out.within(f"query.{i + 1}."):
            scaled = out.put("scaled", np.array([row / number for number in numbers]), magnitude / min(numbers))
            out.put("weights", softmax(scaled), 1.0, magnitude / min(numbers))
    return "scale --sweep"


def swap(case):
    """Two words swapped, with and without positions: sinusoidal ones, if none are asked for."""
    n, d = case.size(2, 6), case.size(1, 3) * 2
    case.words.append("walk")
    x = case.give("--x", case.normal(n, d))
    i, j = case.random.choice(n, 2, replace=False)
    case.option("--swap", f"{i + 1},{j + 1}")
    kind = case.one_of("none", "sinusoidal", "learned", "rotary", "relative-bias", "relative-vectors")
    how = How()
    if kind != "none":
        case.option("--positions", kind)
        shape = {"learned": (n, d), "relative-bias": (1, 5), "relative-vectors": (3, d)}.get(kind)
        if shape:
            how.table = case.give("--position-table", case.normal(*shape))
    w = [case.give("--w" + letter, case.normal(d, d)) for letter in "qkv"]
    order = np.arange(n)
    order[[i, j]] = order[[j, i]]
    out = case.expected
    for positions in ("none", "sinusoidal" if kind == "none" else kind):
        how.positions = positions
        for name, rows in (("original", x), ("swapped", x[order])):
            scope = f"{'without' if positions == 'none' else 'with'}.{name}."
            with out.within(scope):
                y = rows
                if positions == "sinusoidal":
                    y = rows + waves(n, d)
                elif positions == "learned":
                    y = rows + how.table
                multi_head(out, *(out.product(letter, y, matrix) for letter, matrix in zip("qkv", w)), how)
    return "walk --swap"


def averaging(case):
    problem = problems.Problem(case, "embeddings")
    if problem.layers == 1 or problem.how.heads > 1:
        return None
    problem.draw_word_positions()
    case.words.insert(0, "averaging")
    problem.compute(case.expected)
    return "averaging"


KINDS = {"pool": pool, "compare-scores": compare_scores, "compare-masks": compare_masks, "sweep": sweep, "swap": swap,
         "averaging": averaging}
