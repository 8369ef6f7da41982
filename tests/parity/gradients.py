"""Parity of gradients with PyTorch's autograd: the same computations written in PyTorch, in double precision, with the
matrices that attn drew; every gradient by a parameter, an input or a matrix on the way compared with that of attn.

    python3 gradients.py ATTN

ends with 0 where all agree to 1e-9 of the largest number of their matrix, with 1 where something differs, and with 77
where PyTorch or NumPy is absent.
"""
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    from torch.nn import functional
except ImportError as absent:
    print(f"skipped: this test needs python3-torch and python3-numpy ({absent})")
    sys.exit(77)

TOLERANCE = 1e-9
INFINITY = float("inf")


def run(attn, folder, command, options):
    found = folder / "found.npz"
    words = [attn, *command, *map(str, options), "--format", "npz", "--output", str(found)]
    ended = subprocess.run(words, check=False, capture_output=True, text=True)
    if ended.returncode:
        sys.exit(f"{' '.join(words)}: {ended.stderr}")
    return np.load(found)


def name_of_gradient(name):
    scope, dot, leaf = name.rpartition(".")
    return f"{scope}{dot}d_{leaf}"


class Computation:
    """A computation in PyTorch with the matrices of attn. `prefix` stands before all names."""

    def __init__(self, found, prefix="", tensors=None):
        self.found, self.prefix = found, prefix
        self.tensors = {} if tensors is None else tensors

    def within(self, scope):
        return Computation(self.found, f"{self.prefix}{scope}.", self.tensors)

    def has(self, name):
        return self.prefix + name in self.found

    def given(self, name):
        """A matrix that attn drew or read, of which there is a gradient."""
        full = self.prefix + name
        if full not in self.tensors:
            self.tensors[full] = torch.from_numpy(self.found[full]).requires_grad_()
        return self.tensors[full]

    def ids(self, name):
        return torch.from_numpy(self.found[self.prefix + name][:, 0].astype(np.int64)) - 1

    def named(self, name, tensor):
        """A matrix on the way, under the name that attn gives it."""
        tensor.retain_grad()
        self.tensors[self.prefix + name] = tensor
        return tensor

    def distances(self):
        """How far each gradient is from ours, and each matrix itself, measured by its largest number and by 1."""
        result = {}
        for name, tensor in self.tensors.items():
            gradient = name_of_gradient(name)
            if tensor.grad is None and gradient not in self.found:
                continue
            expected = np.zeros(tensor.shape) if tensor.grad is None else tensor.grad.numpy()
            for which, theirs in ((gradient, expected), (name, tensor.detach().numpy())):
                if which not in self.found or self.found[which].shape != theirs.shape:
                    result[which] = INFINITY
                    continue
                ours = self.found[which]
                is_same = ours == theirs  # infinities as well
                apart = np.where(is_same, 0.0, np.abs(np.where(is_same, 0.0, ours) - np.where(is_same, 0.0, theirs)))
                finite = np.abs(theirs[np.isfinite(theirs)])
                result[which] = apart.max() / max(1.0, finite.max() if finite.size else 0.0)
        return result


# --- the parts


def linear(c, x, w, b):
    product = x @ c.given(w)
    return product + c.given(b) if c.has(b) else product


def scores_of(c, q, k, kind):
    """`c` holds the learned matrices of the score."""
    if kind in ("scaled-dot", "dot"):
        return q @ k.T
    if kind == "cosine":
        return functional.normalize(q, dim=1) @ functional.normalize(k, dim=1).T
    if kind == "gaussian":
        return -0.5 * ((q[:, None, :] - k[None, :, :]) ** 2).sum(-1)
    if kind == "bilinear":
        product = q @ c.given("score_m") @ k.T
        return product + c.given("score_b") if c.has("score_b") else product
    hidden_k = linear(c, k, "score_wk", "score_b")
    hidden = q @ c.given("score_wq")
    return (torch.tanh(hidden[:, None, :] + hidden_k[None, :, :]) @ c.given("score_wv"))[:, :, 0]


def softmax(scores, allowed):
    """A row in which nothing is allowed has weights of 0."""
    if allowed is None:
        return torch.softmax(scores, -1)
    some = allowed.any(-1, keepdim=True)
    return torch.softmax(scores.masked_fill(~allowed & some, -INFINITY), -1) * some


def sinusoid(n, d, base=10000.0):
    position, pair = np.arange(n)[:, None], np.arange(d)[None, :] // 2
    angle = position / base ** (2.0 * pair / d)
    return torch.from_numpy(np.where(np.arange(d) % 2 == 0, np.sin(angle), np.cos(angle)))


def rotated(x, base=10000.0):
    n, d = x.shape
    angle = torch.arange(n, dtype=torch.float64)[:, None] / base ** (2.0 * torch.arange(d // 2) / d)
    turned = torch.view_as_complex(x.reshape(n, d // 2, 2)) * torch.polar(torch.ones_like(angle), angle)
    return torch.view_as_real(turned).reshape(n, d)


def by_distance(table, n_q, n_k):
    """What a table of distances, one row for all or one for each query, holds for every query and key."""
    most = table.shape[1] // 2
    columns = (torch.arange(n_k)[None, :] - torch.arange(n_q)[:, None]).clamp(-most, most) + most
    return table.expand(n_q, -1).gather(1, columns)


ACTIVATIONS = {"relu": torch.relu, "gelu": functional.gelu, "tanh": torch.tanh, "silu": functional.silu,
               "gelu-tanh": lambda x: 0.5 * x * (1 + torch.tanh((2 / np.pi) ** 0.5 * (x + 0.044715 * x ** 3)))}


def norm(c, x, kind):
    if kind == "rms":
        y = x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + 1e-5) * c.given("gamma")
    else:
        beta = c.given("beta")[0] if c.has("beta") else None
        y = functional.layer_norm(x, x.shape[-1:], c.given("gamma")[0], beta, 1e-5)
    return c.named("output", y)


def embedded(c, table, ids):
    return functional.embedding(c.ids(ids), table)


def cross_entropy(logits, c):
    return functional.cross_entropy(logits, c.ids("expected"))


# --- attention with every score and mask


def attention(c, case, allowed):
    x = c.given("x")
    words = x
    if case["positions"] == "sinusoidal":
        words = c.named("positioned", x + sinusoid(*x.shape))
    source = c.given("memory") if c.has("memory") else words
    q = c.named("q", linear(c, words, "w_q", "b_q"))
    k = c.named("k", linear(c, source, "w_k", "b_k"))
    v = c.named("v", linear(c, source, "w_v", "b_v"))
    outputs = []
    for head in range(case["heads"]):
        within = c.within(f"head.{head + 1}") if case["heads"] > 1 else c
        q_i, k_i, v_i = (part.chunk(case["heads"], 1)[head] for part in (q, k, v))
        if case["heads"] > 1:
            q_i, k_i, v_i = (within.named(name, part) for name, part in zip("qkv", (q_i, k_i, v_i)))
        if case["positions"] == "rotary":
            q_i, k_i = within.named("rotated_q", rotated(q_i)), within.named("rotated_k", rotated(k_i))
        scores = scores_of(c, q_i, k_i, case["score"])
        if case["score"] == "gaussian":
            scores = scores / case["sigma"] ** 2
        if case["positions"] == "relative-vectors":
            distances = within.named("distances", q_i @ c.given("position_table").T)
            scores = scores + by_distance(distances, len(q_i), len(k_i))
        scores = within.named("scores", scores)
        scaled = within.named("scaled", scores / q_i.shape[1] ** 0.5 if case["score"] == "scaled-dot" else scores * 1)
        if case["positions"] == "relative-bias":
            scaled = scaled + by_distance(c.given("position_table"), len(q_i), len(k_i))
        if case["cap"]:
            scaled = within.named("capped", case["cap"] * torch.tanh(scaled / case["cap"]))
        weights = within.named("weights", softmax(scaled, allowed))
        output = weights @ v_i
        outputs.append(within.named("output", output) if case["heads"] > 1 else output)
    concat = torch.cat(outputs, 1)
    return c.named("output", linear(c, concat, "w_o", "b_o") if c.has("w_o") else concat * 1)


def compared_attention(attn, folder, case):
    random = np.random.RandomState(case["seed"])
    n, d = case["n"], case["d_model"]
    n_k = n
    matrices = {"x": random.standard_normal((n, d))}
    if case["memory"]:
        n_k = n + 2
        matrices["memory"] = random.standard_normal((n_k, d))
    for bias in case["biases"]:
        matrices[bias] = random.standard_normal((1, d))
    if case["score_bias"]:
        size = 1 if case["score"] == "bilinear" else d // case["heads"]
        matrices["score-b"] = random.standard_normal((1, size))
    allowed = {
        "none": None,
        "causal": np.tril(np.ones((n, n_k), bool)),
        "valid": np.tile(np.arange(n_k) < n_k - 1, (n, 1)),
        "some": np.where(np.arange(n)[:, None] == 1, False, random.random_sample((n, n_k)) < 0.6),
    }[case["mask"]]
    options = ["--heads", case["heads"], "--score", case["score"], "--seed", case["seed"],
               "--positions", case["positions"]]
    if case["mask"] == "causal":
        options += ["--causal"]
    elif allowed is not None:
        matrices["mask"] = allowed
    if case["score"] == "gaussian":
        options += ["--score-sigma", case["sigma"]]
    if case["cap"]:
        options += ["--soft-cap", case["cap"]]
    if case["positions"].startswith("relative"):
        options += ["--max-distance", 2]
    matrices["upstream"] = random.standard_normal((n, d))
    for name, matrix in matrices.items():
        np.save(folder / f"{name}.npy", matrix)
        option = {"score-b": "score-b", "upstream": "upstream"}.get(name, name.replace("_", ""))
        options += [f"--{option}", folder / f"{name}.npy"]
    c = Computation(run(attn, folder, ["backward"], options))
    (attention(c, case, None if allowed is None else torch.from_numpy(allowed)) * torch.from_numpy(matrices["upstream"])).sum().backward()
    return c.distances()


def attentions():
    usual = {"heads": 1, "n": 4, "d_model": 4, "score": "scaled-dot", "mask": "none", "positions": "none", "memory": False,
             "biases": (), "score_bias": False, "cap": 0, "sigma": 1.5}
    seed = 0
    for score in ("scaled-dot", "dot", "cosine", "gaussian", "bilinear", "additive"):
        for mask in ("none", "causal", "valid", "some"):
            for heads in (1, 2, 4):
                seed += 1
                yield {**usual, "score": score, "mask": mask, "heads": heads, "d_model": 4 * heads, "n": 3 + seed % 4,
                       "memory": mask != "causal" and seed % 2 == 0, "biases": ("bq", "bk", "bv") if seed % 3 else (),
                       "score_bias": score in ("bilinear", "additive") and seed % 2 == 1, "seed": seed}
    for positions in ("sinusoidal", "rotary", "relative-bias", "relative-vectors"):
        for heads in (1, 2):
            seed += 1
            yield {**usual, "positions": positions, "heads": heads, "d_model": 4 * heads, "n": 6, "mask": "causal",
                   "seed": seed}
    for heads in (1, 3):
        seed += 1
        yield {**usual, "cap": 1.5, "heads": heads, "d_model": 4 * heads, "seed": seed}
    yield {**usual, "heads": 8, "n": 21, "d_model": 64, "mask": "some", "seed": seed + 1}


# --- whole Transformers


class Transformer:
    def __init__(self, c, case):
        self.c, self.case = c, case
        self.relative = None

    def attend(self, c, words, memory, is_self, allowed):
        heads, of_keys = self.case["heads"], self.case["kv_heads"] or self.case["heads"]
        q = c.named("q", linear(c, words, "w_q", "b_q"))
        k = c.named("k", linear(c, memory, "w_k", "b_k"))
        v = c.named("v", linear(c, memory, "w_v", "b_v"))
        outputs = []
        for head in range(heads):
            group = head * of_keys // heads
            q_i, k_i, v_i = q.chunk(heads, 1)[head], k.chunk(of_keys, 1)[group], v.chunk(of_keys, 1)[group]
            if is_self and self.case["positions"] == "rotary":
                q_i, k_i = rotated(q_i), rotated(k_i)
            scores = q_i @ k_i.T
            if is_self and self.case["positions"] == "relative-vectors":
                scores = scores + by_distance(q_i @ self.table(c).T, len(q_i), len(k_i))
            scaled = scores / q_i.shape[1] ** 0.5
            if is_self and self.case["positions"] == "relative-bias":
                scaled = scaled + by_distance(self.table(c), len(q_i), len(k_i))
            within = c.within(f"head.{head + 1}") if heads > 1 else c
            outputs.append(within.named("weights", softmax(scaled, allowed)) @ v_i)
        return c.named("output", linear(c, torch.cat(outputs, 1), "w_o", "b_o"))

    def connect(self, c, x, number, sublayer):
        normalize = lambda words: norm(c.within(f"norm_{number}"), words, self.case["norm_kind"])
        if self.case["norm"] == "pre":
            return c.named(f"sum_{number}", x + sublayer(normalize(x)))
        return normalize(c.named(f"sum_{number}", x + sublayer(x)))

    def feed_forward(self, c, x):
        inner = c.named("inner", linear(c, x, "w_1", "b_1"))
        return c.named("output", linear(c, ACTIVATIONS[self.case["activation"]](inner), "w_2", "b_2"))

    def layers(self, side, x, allowed, memory):
        for number in range(1, self.case["layers"] + 1):
            c, place = self.c.within(f"{side}.{number}"), 1
            x = self.connect(c, x, 1, lambda words: self.attend(c.within("self_attention"), words, words, True, allowed))
            if memory is not None:
                place = 2
                x = self.connect(c, x, 2,
                                 lambda words: self.attend(c.within("cross_attention"), words, memory, False, None))
            x = self.connect(c, x, place + 1, lambda words: self.feed_forward(c.within("feed_forward"), words))
        return norm(self.c.within(f"{side}.norm"), x, self.case["norm_kind"]) if self.case["norm"] == "pre" else x

    def words(self, side):
        table = self.c.given(f"{side}_embedding.e")
        x = self.c.named(f"{side}.x", embedded(self.c.within(side), table, "ids"))
        d = x.shape[1]
        x = x * d ** 0.5
        if self.case["positions"] == "sinusoidal":
            x = x + sinusoid(*x.shape)
        if self.case["positions"] == "learned":
            x = x + self.c.given(f"{side}_positions.table")[:len(x)]
        return x

    def run(self):
        memory = None
        if self.case["kind"] != "decoder-only":
            memory = self.layers("encoder", self.words("source"), None, None)
        if self.case["kind"] == "encoder-only":
            return memory
        x = self.words("target")
        causal = torch.tril(torch.ones(len(x), len(x), dtype=torch.bool))
        x = self.layers("decoder", x, causal, memory)
        if self.case["tied"]:
            product = x @ self.c.given("target_embedding.e").T
            return self.c.named("logits", product + self.c.given("output.b") if self.c.has("output.b") else product)
        return self.c.named("logits", linear(self.c, x, "output.w", "output.b"))


def compared_transformer(attn, folder, case):
    random = np.random.RandomState(case["seed"])
    command = "encoder" if case["kind"] == "encoder-only" else "transformer"
    options = ["--kind", case["kind"]] if command == "transformer" else []
    options += ["--layers", case["layers"], "--heads", case["heads"], "--d-model", case["d_model"],
               "--norm", case["norm"], "--norm-kind", case["norm_kind"], "--activation", case["activation"],
               "--positions", case["positions"], "--seed", case["seed"]]
    options += ["--kv-heads", case["kv_heads"]] if case["kv_heads"] else []
    options += ["--tied-output"] if case["tied"] else []
    options += ["--source", "a b c a d"] if case["kind"] != "decoder-only" else []
    options += ["--target", "x y x z"] if case["kind"] != "encoder-only" else []
    upstream = random.standard_normal((5, case["d_model"]))
    if case["kind"] == "encoder-only":
        np.save(folder / "upstream.npy", upstream)
        options += ["--of", "encoder.output", "--upstream", folder / "upstream.npy"]
    c = Computation(run(attn, folder, ["backward", command], options))
    result = Transformer(c, case).run()
    if case["kind"] == "encoder-only":
        (result * torch.from_numpy(upstream)).sum().backward()
    else:
        cross_entropy(result, c).backward()
    return c.distances()


def transformers():
    usual = {"kind": "encoder-decoder", "layers": 1, "heads": 2, "kv_heads": 0, "d_model": 8, "norm": "post",
             "norm_kind": "layer", "activation": "relu", "positions": "sinusoidal", "tied": False}
    seed = 0
    for kind in ("encoder-decoder", "encoder-only", "decoder-only"):
        for where in ("post", "pre"):
            for norm_kind in ("layer", "rms"):
                for positions in ("sinusoidal", "learned", "rotary", "none"):
                    seed += 1
                    yield {**usual, "kind": kind, "norm": where, "norm_kind": norm_kind, "positions": positions,
                           "layers": 1 + seed % 2, "heads": (1, 2, 4)[seed % 3], "d_model": (4, 8, 16)[seed % 3],
                           "tied": kind != "encoder-only" and seed % 4 == 1,
                           "activation": list(ACTIVATIONS)[seed % 5], "seed": seed}
    for activation in ACTIVATIONS:
        seed += 1
        yield {**usual, "activation": activation, "seed": seed}
    for kv_heads in (1, 2):
        for kind in ("encoder-decoder", "decoder-only"):
            seed += 1
            yield {**usual, "kind": kind, "heads": 4, "kv_heads": kv_heads, "d_model": 16, "norm": "pre",
                   "positions": "rotary", "seed": seed}


# --- recurrent encoder-decoders


def step(c, cell, x, h):
    if cell == "tanh":
        return torch.tanh(x @ c.given("w_xh") + h @ c.given("w_hh") + c.given("b_h"))
    gate = lambda g, state: x @ c.given(f"w_x{g}") + state @ c.given(f"w_h{g}") + c.given(f"b_{g}")
    reset, update = torch.sigmoid(gate("r", h)), torch.sigmoid(gate("z", h))
    return update * h + (1 - update) * torch.tanh(gate("h", reset * h))


def recurrent(c, case):
    encoder, decoder = c.within("encoder"), c.within("decoder")
    x = encoder.named("x", embedded(encoder, encoder.given("e"), "source"))
    h, states = torch.zeros((1, case["hidden"]), dtype=torch.float64), []
    for t in range(len(x)):
        h = encoder.named(f"{t + 1}.h", step(encoder, case["cell"], x[t:t + 1], h))
        states.append(h)
    keys = c.named("h", torch.cat(states))
    state = decoder.named("0.state", torch.tanh(h @ decoder.given("w_s") + decoder.given("b_s")))
    score = {"bahdanau": "additive", "luong": "dot", "scaled-dot": "scaled-dot"}.get(case["variant"])

    def attend(at, query):
        scores = scores_of(decoder, query, keys, score)
        scaled = scores / case["hidden"] ** 0.5 if score == "scaled-dot" else scores
        return at.named("context", at.named("weights", torch.softmax(scaled, -1)) @ keys)

    logits = []
    while decoder.has(f"{len(logits) + 1}.previous"):
        at = decoder.within(str(len(logits) + 1))
        word = at.named("y", embedded(at, decoder.given("e"), "previous"))
        if case["variant"] == "bahdanau":
            state = joined = step(decoder, case["cell"], torch.cat((attend(at, state), word), 1), state)
            at.named("state", state)
        else:
            before = state
            state = at.named("state", step(decoder, case["cell"], word, before))
            joined = state
            if score:
                joined = torch.cat((attend(at, state if case["variant"] == "luong" else before), state), 1)
        logits.append(at.named("logits", joined @ decoder.given("w_o") + decoder.given("b_o")))
    return torch.cat(logits)


def compared_recurrent(attn, folder, case):
    options = ["--variant", case["variant"], "--cell", case["cell"], "--hidden", case["hidden"], "--seed", case["seed"],
               "--source", case["source"], "--target", "eins zwei eins drei"]
    c = Computation(run(attn, folder, ["backward", "align"], options))
    cross_entropy(recurrent(c, case), c).backward()
    return c.distances()


def recurrents():
    seed = 0
    for variant in ("bahdanau", "luong", "scaled-dot", "none"):
        for cell in ("tanh", "gru"):
            for source, hidden in (("one", 3), ("one two one three four", 6)):
                seed += 1
                yield {"variant": variant, "cell": cell, "source": source, "hidden": hidden, "seed": seed}


def main(comparisons):
    attn = sys.argv[1]
    torch.set_num_threads(1)
    computations, matrices, largest, failed = 0, 0, 0.0, 0
    for compared, table in comparisons:
        for case in table:
            computations += 1
            with tempfile.TemporaryDirectory() as name:
                for matrix, apart in compared(attn, pathlib.Path(name), case).items():
                    matrices += 1
                    largest = max(largest, apart)
                    if not apart <= TOLERANCE:
                        failed += 1
                        print(f"{case}: {matrix} differs by {apart}")
    print(f"{matrices} matrices of {computations} computations compared, the largest difference {largest:.2g}")
    sys.exit(1 if failed or not matrices else 0)


if __name__ == "__main__":
    main([(compared_attention, attentions()), (compared_transformer, transformers()),
          (compared_recurrent, recurrents())])
