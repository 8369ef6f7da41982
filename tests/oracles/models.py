"""Random models and what goes into them: files of parameters and of models, words, vectors and masks."""
import json
import math

import numpy as np

import matrices
from attention import ACTIVATIONS
from transformer import SIDES, Model


class Mask:
    """What is permitted and what is added, for one attention."""

    def __init__(self, case, n_q, n_k, causal=False, padding=None):
        self.case, self.shape, self.bias, self.some = case, (n_q, n_k), None, causal
        self.allowed = np.ones((n_q, n_k), dtype=bool)
        if causal:
            self.allowed &= np.arange(n_k)[None, :] <= np.arange(n_q)[:, None]
        if padding is not None and not all(padding):
            self.some = True
            self.allowed &= np.array(padding)[None, :]

    def draw(self, prefix=""):
        case, (n_q, n_k) = self.case, self.shape
        kind = case.one_of("none", "none", "none", "permits", "adds", "length", "lengths")
        if kind == "permits":
            permits = case.random.random((case.one_of(1, n_q), n_k)) < 0.7
            self.allowed &= permits
            self.some = True
            case.option(f"--{prefix}mask", case.file(f"{prefix}mask.npy", matrices.to_npy(permits)))
        elif kind == "adds":
            added = case.normal(case.one_of(1, n_q), n_k)
            added[case.random.random(added.shape) < 0.2] = -np.inf
            self.bias = added
            case.option(f"--{prefix}mask", case.file(f"{prefix}mask.npy", matrices.to_npy(added)))
        elif kind in ("length", "lengths"):
            lengths = [case.size(1, n_k) for _ in range(1 if kind == "length" else n_q)]
            self.allowed &= np.arange(n_k)[None, :] < np.array(lengths)[:, None]
            self.some = True
            case.option(f"--{prefix}valid-length", ",".join(map(str, lengths)))
        return self

    def put(self, out, side, cross=""):
        name = f"{side}.{cross}"
        if self.some:
            out.put(name + "mask", self.allowed)
        if self.bias is not None:
            out.put(name + "bias", self.bias)
        return (self.allowed if self.some else None), self.bias

    def for_torch(self):
        """As numbers to add; nothing where a query would have no key, for which PyTorch has NaN."""
        added = np.where(self.allowed, 0.0 if self.bias is None else self.bias, -np.inf)
        return None if np.isneginf(added).all(axis=1).any() else added


def draw_recipe(case, kind):
    d_head = case.one_of(1, 2, 3, 4, 8)
    model = Model(kind=kind, heads=case.one_of(1, 2, 2, 3, 4))
    if case.chance(0.3):
        model.kv_heads = case.one_of(*(n for n in range(1, model.heads + 1) if model.heads % n == 0))
    model.norm = case.one_of("post", "pre", "none")
    model.norm_kind = case.one_of("layer", "layer", "rms")
    model.epsilon = case.one_of(1e-5, 1e-5, 1e-6, 1e-3, case.number(0, 0.1))
    model.activation = case.one_of(*ACTIVATIONS)
    model.positions = case.one_of("none", "sinusoidal", "sinusoidal", "concatenated", "learned", "rotary")
    if model.positions == "rotary" and d_head % 2:
        d_head += 1
    if model.positions in ("sinusoidal", "concatenated", "rotary") and case.chance(0.4):
        model.base = case.one_of(100.5, 500000.0, case.number(2, 20000))
    if case.chance(0.3):
        model.scale = case.one_of("none", "sqrt-n", case.number(0.5, 9.0))
    model.scale_embeddings = case.chance(0.7)
    model.d = d_head * model.heads
    return model


def draw_parameters(case, model):
    """Random matrices of every part. Biases and β may be left out, one by one or all."""
    d, d_ff = model.d, case.size(1, 12)
    d_k = d // model.heads * (model.kv_heads or model.heads)
    biases = "all" if model.all_biases else case.one_of("all", "none", "some")
    p = model.p

    def bias(name, n):
        if biases == "all" or biases == "some" and case.chance():
            p[name] = case.normal(1, n, spread=0.5)

    def norm(scope):
        p[scope + "gamma"] = 1 + case.normal(1, d, spread=0.3)
        if model.norm_kind == "layer":
            bias(scope + "beta", d)

    def attention(scope):
        for name, shape in (("q", (d, d)), ("k", (d, d_k)), ("v", (d, d_k)), ("o", (d, d))):
            p[f"{scope}w_{name}"] = case.normal(*shape, spread=1 / math.sqrt(d))
            bias(f"{scope}b_{name}", shape[1])

    for side in SIDES[model.kind]:
        parts = ["self_attention.", "cross_attention."] if len(SIDES[model.kind]) == 2 and side == "decoder" else ["self_attention."]
        for layer in range(1, case.one_of(1, 1, 2, 3) + 1):
            scope = f"{side}.{layer}."
            for i, part in enumerate([*parts, "feed_forward."], start=1):
                if part == "feed_forward.":
                    p[scope + part + "w_1"] = case.normal(d, d_ff, spread=1 / math.sqrt(d))
                    bias(scope + part + "b_1", d_ff)
                    p[scope + part + "w_2"] = case.normal(d_ff, d, spread=1 / math.sqrt(d_ff))
                    bias(scope + part + "b_2", d)
                else:
                    attention(scope + part)
                if model.norm != "none":
                    norm(f"{scope}norm_{i}.")
        if model.norm != "none" and case.chance(0.6):
            norm(f"{side}.norm.")
    model.words = {}
    for side, name in (("source", "encoder"), ("target", "decoder")):
        if name in SIDES[model.kind]:
            model.words[side] = case.size(2, 9)
            p[f"{side}_embedding.e"] = case.normal(model.words[side], d)
            if model.positions == "learned":
                p[f"{side}_positions.table"] = case.normal(8, d)
    if "target" in model.words:
        if case.chance(0.3):
            model.tied_output = True
        else:
            p["output.w"] = case.normal(d, model.words["target"])
            bias("output.b", model.words["target"])


def give_parameters(case, model):
    """As a file of parameters with options for the recipe, or as a model file with its members."""
    if case.chance(0.4):
        recipe = {name: getattr(model, name) for name in (
            "heads", "norm", "norm_kind", "epsilon", "activation", "positions", "base", "scale_embeddings", "tied_output")}
        recipe["scale"] = str(model.scale)
        if case.chance(0.3):
            recipe["causal_encoder"] = model.causal_encoder = case.chance()
        if case.chance(0.3) and not model.must_be_causal:
            recipe["causal_decoder"] = model.causal_decoder = case.chance()
        for side, n in model.words.items():
            recipe[f"{side}_vocabulary"] = [f"{side[0]}{i}" for i in range(1, n + 1)]
        recipe["parameters"] = {name: matrices.rows_of(matrix) for name, matrix in model.p.items()}
        model.named = True
        case.option("--model", case.file("model.json", json.dumps(recipe).encode()))
        return
    model.named = False
    ending, content = case.one_of(
        (".safetensors", matrices.to_safetensors), (".npz", matrices.to_npz),
        (".json", lambda arrays: json.dumps({name: matrices.rows_of(a) for name, a in arrays.items()}).encode()))
    arrays, options = model.p, []
    if ending != ".json" and case.chance(0.3):
        arrays, options = {"a.b." + name: matrix for name, matrix in model.p.items()}, ["--prefix", "a.b"]
        arrays["other"] = np.zeros(3)
    case.option("--parameters", case.file("model" + ending, content(arrays)))
    case.words += options
    give_recipe(case, model)


def give_recipe(case, model):
    case.option("--heads", model.heads)
    for option, value, usual in (("--norm", model.norm, "post"), ("--norm-kind", model.norm_kind, "layer"),
                                 ("--epsilon", model.epsilon, 1e-5), ("--activation", model.activation, "relu"),
                                 ("--positions", model.positions, "sinusoidal"), ("--base", model.base, 10000.0),
                                 ("--scale", model.scale, "sqrt-dk")):
        if value != usual or case.chance(0.2) and not (option in ("--epsilon", "--norm-kind") and model.norm == "none") \
                and not (option == "--base"):
            if option in ("--epsilon", "--norm-kind") and model.norm == "none":
                setattr(model, option[2:].replace("-", "_"), usual)
                continue
            case.option(option, value)
    if not model.scale_embeddings:
        case.option("--unscaled-embeddings")
    if model.tied_output:
        case.option("--tied-output")


class Input:
    """Words or vectors of one side."""

    def __init__(self, case, model, side, n):
        self.case, self.model, self.side, self.n = case, model, side, n
        self.ids, self.x = None, None

    def words(self, option):
        self.ids = [self.case.size(1, self.model.words[self.side]) for _ in range(self.n)]
        prefix = self.side[0] if self.model.named else ""
        # Words without names are token ids, which count from 0; rows of the embeddings count from 1.
        self.case.option(option, " ".join(f"{prefix}{i}" if prefix else str(i - 1) for i in self.ids))
        return self

    def vectors(self, option):
        self.x = self.case.give(option, self.case.normal(self.n, self.model.d, spread=self.case.one_of(1, 1, 1, 10)))
        return self

    def place(self, prefix=""):
        """Where the words stand, if that changes a number: begun with another position, or as ids of up to 7 say."""
        positions = self.model.positions
        if positions == "none" or self.x is not None and positions != "rotary" or not self.case.chance(0.15):
            return self
        if self.case.chance():
            first = self.case.size(0, 8 - self.n)
            self.case.option(f"--{prefix}first-position", first)
            self.model.at = {**self.model.at, self.side: range(first, first + self.n)}
        else:
            ids = [self.case.size(0, 7) for _ in range(self.n)]
            self.case.option(f"--{prefix}position-ids", " ".join(map(str, ids)))
            self.model.at = {**self.model.at, self.side: ids}
        return self

    def run(self, out):
        return self.model.embed(out, self.side, self.ids) if self.ids else out.put(self.side + ".x", self.x)


def draw_state_dictionary(case):
    """A module of PyTorch: its state dictionary is read."""
    return draw(case, of_torch=True)


def give_state_dictionary(case, model):
    """Under PyTorch's names, which have all biases or none, and no embeddings."""
    import torch_modules
    model.words, model.named = {}, False
    model.p = {name: matrix for name, matrix in model.p.items() if name.startswith(("encoder.", "decoder."))}
    names = {name.split(".")[0] for name in model.p}
    state = {(side + "." if len(names) > 1 else "") + name: tensor.numpy()
             for side in sorted(names) for name, tensor in torch_modules.state_of(model, side).items()}
    if case.chance(0.3):  # biases that are zero may be absent
        for name in [name for name in state if name.endswith("bias")]:
            del state[name]
        for name in [name for name in model.p if name.rpartition(".")[2].startswith("b")]:
            del model.p[name]
    ending, write = case.one_of((".npz", matrices.to_npz), (".safetensors", matrices.to_safetensors))
    prefix = case.one_of("", "", "module.")
    content = write({prefix + name: np.ascontiguousarray(array) for name, array in state.items()})
    case.option("--parameters", case.file("state" + ending, content))
    give_recipe(case, model)


def draw(case, of_torch=False):
    kind = case.one_of("encoder-decoder", "encoder-decoder", "encoder-only", "decoder-only")
    if of_torch and kind == "decoder-only":
        kind = "encoder-decoder"
    model = draw_recipe(case, kind)
    if of_torch:
        model.kv_heads, model.all_biases = None, True
        model.norm = case.one_of("pre", "post")
        model.scale_embeddings = True
        if model.positions == "learned":
            model.positions = "none"
    draw_parameters(case, model)
    if of_torch:
        model.tied_output = False
    command = "transformer"
    if case.chance(0.5):
        command = {"encoder-decoder": case.one_of("encoder", "decoder", "transformer")}.get(kind, kind.split("-")[0])
    given_memory = kind == "encoder-decoder" and command == "decoder" and case.chance()
    if given_memory:  # a decoder alone
        for name in [name for name in model.p if name.startswith(("encoder", "source"))]:
            del model.p[name]
        model.words.pop("source", None)
    give_state_dictionary(case, model) if of_torch else give_parameters(case, model)
    case.words.insert(0, command)
    out = case.expected
    for name, matrix in model.p.items():
        out.put(name, matrix)
    n, m = case.size(1, 7), case.size(1, 7)
    source_causal, target_causal = model.causal_encoder, model.causal_decoder
    flag = None if model.named else case.one_of(None, None, "--causal", "--not-causal")
    if flag and kind == "encoder-decoder" and command == "transformer":
        source_causal, target_causal = {"--causal": (True, target_causal), "--not-causal": (False, False)}[flag]
    elif flag:  # of the words that the command begins with
        source_causal = flag == "--causal" and command != "decoder"
        target_causal = flag == "--causal"
    if flag:
        case.option(flag)
    memory, modules = None, []
    if "encoder" in SIDES[kind] and not given_memory:
        source = Input(case, model, "source", n)
        source.words("--source") if model.words and case.chance(0.6) else source.vectors("--x")
        if command != "decoder":
            source.place()
        mask = Mask(case, n, n, source_causal)
        if command != "decoder":
            mask.draw()
        x = source.run(out)
        bottom = x
        memory = model.run_side(out, "encoder", x, mask.put(out, "encoder"))
        modules.append(("encoder", bottom, mask, None, None, memory))
    elif given_memory:
        memory = out.put("memory", case.give("--memory", case.normal(n, model.d)))
    if "decoder" in SIDES[kind] and command != "encoder":
        target = Input(case, model, "target", m)
        if model.words and case.chance(0.6):
            target.words("--target")
        else:
            target.vectors("--target-x")
        target.place("target-" if command == "transformer" and kind == "encoder-decoder" else "")
        mask = Mask(case, m, m, target_causal).draw(
            "target-" if command == "transformer" else "")
        cross = None
        if kind == "encoder-decoder":
            cross = Mask(case, m, n).draw("memory-")
        x = target.run(out)
        result = model.run_side(out, "decoder", x, mask.put(out, "decoder"), memory,
                                cross.put(out, "decoder", "cross_") if cross else None)
        modules.append(("decoder", x, mask, memory, cross, result))
        model.logits(out, result)
    case.checks = [lambda module=module: against_torch(model, *module) for module in modules]
    return "state dictionary" if of_torch else command + (f": {kind}" if command == "transformer" else "")


# PyTorch

def against_torch(model, side, x, mask, memory, cross, result):
    """How far the oracle is from PyTorch's module of the same parameters, or nothing where it has none."""
    import torch_modules
    return torch_modules.distance(model, side, x, mask, memory, cross, result)
