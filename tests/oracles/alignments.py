"""Recurrent encoder-decoders with attention, from their papers: Elman 1990 and Cho et al. 2014 (cells), Sutskever et al.
2014 (without attention), Bahdanau et al. 2014, Luong et al. 2015. The oracle of align.
"""
import json

import numpy as np

import matrices
from attention import How, linear, score_of, softmax, weights_of


def sigmoid(x):
    return 1.0 / (1.0 + np.exp(-x))


class Network:
    def __init__(self, p, cell, variant):
        self.p, self.cell, self.variant = p, cell, variant

    def step(self, out, side, x, h, result):
        """The next state from an input and a state."""
        p, scope = self.p, side + "."

        def gate(letter, name, function, state):
            of_x = out.product(f"x_{letter}", x, p[f"{scope}w_x{letter}"])
            of_h = out.product(f"h_{letter}", state, p[f"{scope}w_h{letter}"])
            total = of_x + of_h + p[f"{scope}b_{letter}"]
            return out.put(name, function(total), of_x, of_h)

        if self.cell == "tanh":
            return gate("h", result, np.tanh, h)
        reset, update = gate("r", "reset", sigmoid, h), gate("z", "update", sigmoid, h)
        candidate = gate("h", "candidate", np.tanh, out.put("remembered", reset * h, 1.0))
        return out.put(result, update * h + (1 - update) * candidate, 1.0)

    def run(self, out, source, start, end, steps, forced, transpose):
        p = self.p
        for name, matrix in p.items():
            out.put(name, matrix)
        out.put("encoder.source", np.array(source)[:, None])
        x = out.put("encoder.x", p["encoder.e"][np.array(source) - 1])
        h = out.put("encoder.0.h", np.zeros((1, p["encoder.w_hh"].shape[0])))
        states = []
        for i in range(len(source)):
            with out.within(f"encoder.{i + 1}."):
                h = self.step(out, "encoder", out.put("x", x[i:i + 1]), h, "h")
            states.append(h)
        keys = out.put("h", np.concatenate(states))
        state = out.put("decoder.0.state", np.tanh(h @ p["decoder.w_s"] + p["decoder.b_s"]),
                        np.abs(h) @ np.abs(p["decoder.w_s"]))
        previous, rows = start, []
        for t in range(1, steps + 1):
            with out.within(f"decoder.{t}."):
                out.put("previous", [[previous]])
                y = out.put("y", p["decoder.e"][previous - 1:previous])
                if self.variant == "bahdanau":
                    context, weights = self.attend(out, state, keys)
                    state = self.step(out, "decoder", out.put("x", np.concatenate([context, y], axis=1)), state, "state")
                    joined = state
                else:
                    before = state
                    state = self.step(out, "decoder", out.put("x", y), state, "state")
                    joined, weights = state, None
                    if self.variant != "none":
                        context, weights = self.attend(out, state if self.variant == "luong" else before, keys)
                        joined = np.concatenate([context, state], axis=1)
                rows.append(weights)
                out.put("joined", joined, 1.0)
                logits = linear(out, "logits", joined, p["decoder.w_o"], p["decoder.b_o"])
                chances = out.put("distribution", softmax(logits), 1.0, logits)
                word = int(np.argmax(chances)) + 1
                if forced is not None:
                    word = forced[t - 1]
                previous = word
                if word == end:
                    break
        if self.variant != "none":
            alignment = out.put("alignment", np.concatenate(rows), 1.0)
            if transpose:
                out.put("alignment_transposed", alignment.T, 1.0)

    def attend(self, out, query, keys):
        p = self.p
        out.put("query", query, 1.0)
        names = {"bahdanau": "additive", "luong": "dot", "scaled-dot": "scaled-dot"}
        how = How(score=names[self.variant])
        if self.variant == "bahdanau":
            how.w_q, how.w_k, how.w_v = (p["decoder.score_w" + letter] for letter in "qkv")
        scores, involved = score_of(out, query, keys, how)
        out.put("scores", scores, involved)
        weights = weights_of(out, scores, how, keys.shape[1])
        return out.put("context", weights @ keys, weights @ np.abs(keys)), weights


def draw(case):
    cell = case.one_of("tanh", "gru")
    variant = case.one_of("bahdanau", "bahdanau", "luong", "scaled-dot", "none")
    n, steps = case.size(1, 5), case.size(1, 6)
    transpose = variant != "none" and case.chance(0.3)
    case.words.append("align")
    if transpose:
        case.option("--transpose")
    if variant != "bahdanau" or case.chance(0.3):
        case.option("--variant", variant)
    if case.chance(0.3):
        return draw_random(case, cell, variant, n, steps, transpose)
    source_words = [f"s{i}" for i in range(case.size(1, 6))] + ["<end>"]
    target_words = [f"t{i}" for i in range(case.size(1, 6))] + ["<start>", "<end>"]
    d, d_x, d_y, hidden = (case.size(1, 6) for _ in range(4))
    p = {"encoder.e": case.normal(len(source_words), d_x), "decoder.e": case.normal(len(target_words), d_y)}
    for side, size in (("encoder", d_x), ("decoder", d_y + (d if variant == "bahdanau" else 0))):
        for letter in "h" if cell == "tanh" else "hrz":
            p[f"{side}.w_x{letter}"] = case.normal(size, d)
            p[f"{side}.w_h{letter}"] = case.normal(d, d)
            p[f"{side}.b_{letter}"] = case.normal(1, d)
    p["decoder.w_s"], p["decoder.b_s"] = case.normal(d, d), case.normal(1, d)
    if variant == "bahdanau":
        p["decoder.score_wq"], p["decoder.score_wk"] = case.normal(d, hidden), case.normal(d, hidden)
        p["decoder.score_wv"] = case.normal(hidden, 1)
    wide = d if variant in ("bahdanau", "none") else 2 * d
    p["decoder.w_o"], p["decoder.b_o"] = case.normal(wide, len(target_words)), case.normal(1, len(target_words))
    parameters = {name: matrices.rows_of(matrix) for name, matrix in p.items()}
    own = {}
    if case.chance(0.3):  # some of them belong to the variant
        own = {variant: {name: parameters.pop(name) for name in list(parameters) if name.startswith("decoder.w_o")}}
    model = {"source_words": source_words, "target_words": target_words, "parameters": parameters}
    if own:
        model["variants"] = own
    if cell != "tanh":
        model["cell"] = cell
    case.option("--parameters", case.file("align.json", json.dumps(model).encode()))
    source = [case.size(1, len(source_words) - 1) for _ in range(n)]
    case.option("--source", " ".join(source_words[i - 1] for i in source))
    forced = None
    end = len(target_words)
    if case.chance(0.3):
        forced = [case.size(1, len(target_words) - 2) for _ in range(case.size(1, 4))]
        case.option("--target", " ".join(target_words[i - 1] for i in forced))
        forced.append(end)
        steps = len(forced)
    else:
        case.option("--steps", steps)
    Network(p, cell, variant).run(case.expected, source + [len(source_words)], target_words.index("<start>") + 1, end, steps,
                                  forced, transpose)
    if cell == "tanh":
        case.checks.append(lambda: against_torch(case.expected, p, len(source) + 1))
    return "align"


def draw_random(case, cell, variant, n, steps, transpose):
    """Random matrices for any words; the oracle takes them from the page, where they are inputs."""
    case.option("--seed", case.size(0, 1000))
    case.option("--hidden", case.size(1, 6))
    case.option("--cell", cell)
    case.option("--source", " ".join(f"w{case.size(1, 3)}" for _ in range(n)))
    case.option("--steps", steps)

    def compute(found):
        p = {name: matrix for name, matrix in found.items()
             if name.count(".") == 1 and name.split(".")[1].startswith(("w_", "b_", "score_w", "e")) and name != "encoder.e.x"}
        source = found["encoder.source"][:, 0].astype(int)
        start, end = 1, 2  # the first words of a vocabulary that is made from a sentence
        Network(p, cell, variant).run(case.expected, list(source), start, end, steps, None, transpose)

    case.later = compute
    return "align"


def against_torch(out, p, n):
    """The states of the encoder, by PyTorch's cell of the same name."""
    import torch
    cell = torch.nn.RNNCell(*p["encoder.w_xh"].shape, dtype=torch.float64)
    with torch.no_grad():
        cell.weight_ih.copy_(torch.tensor(p["encoder.w_xh"].T))
        cell.weight_hh.copy_(torch.tensor(p["encoder.w_hh"].T))
        cell.bias_ih.copy_(torch.tensor(p["encoder.b_h"][0]))
        cell.bias_hh.zero_()
        h, states = None, []
        for row in torch.tensor(out.matrices["encoder.x"]):
            h = cell(row[None], h)
            states.append(h[0].numpy())
    far = matrices.distance("PyTorch's RNNCell", np.array(states), out.matrices["h"], 1.0)
    if not far <= matrices.TOLERANCE:
        raise matrices.Difference(f"PyTorch's RNNCell is {far:.3g} from the oracle")
    return far
