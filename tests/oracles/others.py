"""Layer normalization, feed-forward layers, positions, embeddings, costs, explained cells, stored parameters, attention of
PyTorch, and large matrices."""
import json

import numpy as np

import matrices
import models
import problems
from attention import How, by_distance, feed_forward, multi_head, waves
from comparisons import agreed
from drawing import Drawn, WORDS
from transformer import SIDES, Model


def layer_norm(case):
    case.words.append("layer-norm")
    n, d = case.size(1, 6), case.size(1, 40)
    x = case.give("--x", case.normal(n, d, spread=case.one_of(1, 1, 1e-3, 1e3)) + case.one_of(0, 0, 5, 1e4))
    model = Model()
    if case.chance(0.4):
        model.epsilon = case.one_of(1e-12, 1e-3, case.number(0, 1))
        case.option("--epsilon", model.epsilon)
    gamma, beta = np.ones((1, d)), np.zeros((1, d))
    as_file = case.chance(0.3)
    if as_file:
        gamma, beta = case.normal(1, d), case.normal(1, d)
        names = case.one_of(("weight", "bias"), ("gamma", "beta"))
        writer = case.one_of((".npz", matrices.to_npz), (".safetensors", matrices.to_safetensors))
        case.option("--parameters", case.file("norm" + writer[0], writer[1](dict(zip(names, (gamma[0], beta[0]))))))
    else:
        if case.chance():
            gamma = case.give("--gamma", case.normal(1, d))
        if case.chance():
            beta = case.give("--beta", case.normal(1, d))
    out = case.expected
    out.put("x", x)
    model.p = {"gamma": out.put("gamma", gamma), "beta": out.put("beta", beta)}
    model.normalize(out, "", x)

    def torch_too():
        import torch
        theirs = torch.nn.functional.layer_norm(torch.tensor(x), (d,), torch.tensor(gamma[0]), torch.tensor(beta[0]),
                                                model.epsilon).numpy()
        deviation = np.sqrt(x.var(axis=1, keepdims=True) + model.epsilon)
        return agreed("layer_norm", theirs, out.matrices["output"], out.magnitudes["output"],
                      x / deviation * np.abs(gamma) * (np.abs(x).max(axis=1, keepdims=True) / deviation))

    case.checks.append(torch_too)
    return "layer-norm"


def feed(case):
    case.words.append("feed-forward")
    n, d, inner, wide = case.size(1, 6), case.size(1, 6), case.size(1, 9), case.size(1, 6)
    x = case.give("--x", case.normal(n, d))
    p = {"w_1": case.normal(d, inner), "w_2": case.normal(inner, wide)}
    if case.chance():
        p["b_1"] = case.normal(1, inner)
    if case.chance():
        p["b_2"] = case.normal(1, wide)
    if case.chance(0.3) and "b_1" in p and "b_2" in p:  # as a layer of PyTorch has them
        state = {"linear1.weight": p["w_1"].T, "linear1.bias": p["b_1"][0], "linear2.weight": p["w_2"].T,
                 "linear2.bias": p["b_2"][0]}
        case.option("--parameters", case.file("layer.safetensors", matrices.to_safetensors(state)))
    else:
        for name, matrix in p.items():
            case.give("--" + name.replace("_", ""), matrix)
    out = case.expected
    out.put("x", x)
    for name, matrix in p.items():
        out.put(name, matrix)
    feed_forward(out, x, p, result="feed_forward")
    return "feed-forward"


def positions(case):
    case.words.append("positions")
    kind = case.one_of("sinusoidal", "concatenated", "learned", "relative-bias", "relative-vectors")
    n, d = case.size(1, 40), case.size(1, 20)
    out = case.expected
    if kind != "sinusoidal" or case.chance():
        case.option("--positions", kind)
    if kind in ("sinusoidal", "concatenated"):
        case.option("--n", n)
        case.option("--d-model", d)
        table = out.put("positions", waves(n, d, kind), 1.0)
        out.put("dot_products", table @ table.T, d)
    elif kind == "learned":
        table = case.give("--position-table", case.normal(n, d))
        case.option("--n", n)
        out.put("position_table", table)
        out.put("positions", table)
        out.product("dot_products", table, table.T)
    else:
        c = case.size(0, 5)
        table = case.normal(1, 2 * c + 1) if kind == "relative-bias" else case.normal(2 * c + 1, d)
        case.give("--position-table", table)
        case.option("--n", n)
        out.put("position_table", table)
        if kind == "relative-bias":
            out.put("relative", by_distance(table, n, n))
    if "positions" in out.matrices:
        case.option("--columns", "1")
    return "positions"


def embed(case):
    case.words.append("embed")
    words = [case.one_of(*WORDS) for _ in range(case.size(1, 9))]
    d = case.size(1, 8)
    case.option("--text", " ".join(words))
    distinct = list(dict.fromkeys(words))
    if case.chance(0.3):
        table = {word: case.normal(d) for word in WORDS}
        lines = [" ".join([word, *map(repr, map(float, row))]) for word, row in table.items()]
        case.option("--embeddings", case.file("glove.txt", "\n".join(lines).encode() + b"\n"))
        e = np.array([table[word] for word in distinct])
    else:
        seed = case.size(0, 2 ** 32 - 1)
        kind = case.one_of("attn", "numpy")
        case.option("--random", f"{kind}:{seed}")
        case.option("--d-model", d)
        e = Drawn(seed, kind).words(distinct, d)
    out = case.expected
    out.put("e", e)
    ids = np.array([[distinct.index(word) + 1] for word in words])
    out.put("ids", ids)
    out.put("x", e[ids[:, 0] - 1])
    out.put("one_hot", np.eye(len(distinct))[ids[:, 0] - 1])
    out.put("product", e[ids[:, 0] - 1])
    return "embed"


def cost(case):
    """Kinds of layers by formula, and the steps of one attention."""
    case.words.append("cost")
    n, d, k = case.size(2, 40), case.size(1, 20), case.one_of(2, 3, 5, 7)
    out = case.expected
    if case.chance():
        case.option("--n", n)
        case.option("--d", d)
        case.option("--kernel", k)
        layers = np.array([[2 * n * n * d, 4], [2 * n * n * d + 4 * n * d * d, 6], [2 * n * d * d, 3 * n],
                           [k * n * d * d, 1], [k * n * d * d, 1], [n * n * d * d, 1]], dtype=float)
        needed = [[-(-(m - 1) // (k - 1)), -(-(m - 1) // (k - 1)), whole_log(m, k), whole_log(m, k)]
                  for m in (5, 9, 17, 32)]

        def later(found):
            for name, matrix in found.items():
                out.put(name, matrix)
            for name in ("layers", "counted") if n <= 8 and d <= 8 else ("layers",):  # what is counted is built smaller
                out.put(name, np.concatenate([layers, found[name][:, 2:]], axis=1))
            out.put("meeting", needed)

        case.later = later
        return "cost"
    heads, n_q, n_k, d_k, d_v = case.size(1, 3), case.size(1, 9), case.size(1, 9), case.size(1, 6), case.size(1, 6)
    for name, value in (("--heads", heads), ("--n-q", n_q), ("--n-k", n_k), ("--d-k", d_k), ("--d-v", d_v)):
        case.option(name, value)

    def of_steps(found):
        for name, matrix in found.items():
            out.put(name, matrix)
        total = found["by_step"][-1].copy()
        total[0] = heads * n_q * n_k * (d_k + d_v)
        out.put("by_step", np.concatenate([found["by_step"][:-1], [total]]))

    case.later = of_steps
    return "cost"


def whole_log(n, k):
    """The smallest number of layers l with k^l >= n."""
    layers = 0
    while k ** layers < n:
        layers += 1
    return layers


def explain(case):
    """One cell of a problem: its value, and the cells that it is made of."""
    form = case.one_of("queries", "embeddings", "embeddings")
    problem = problems.Problem(case, form)
    problem.draw_masks()
    problem.compute(case.expected)
    out = case.expected
    computed = [name for name, matrix in out.matrices.items() if not name.startswith("averaging") and matrix.size
                and not name.endswith("concat") and name.rpartition(".")[2] in
                ("q", "scores", "scaled", "masked", "weights", "output", "feed_forward", "inner", "positioned", "hidden_k")]
    name = case.one_of(*computed)
    rows, columns = out.matrices[name].shape
    cell = f"{name}[{case.size(1, rows)},{case.size(1, columns)}]"
    case.words = ["explain", cell, "--depth", str(case.size(0, 3)), *case.words]
    case.read = lambda content: explained(out, json.loads(content))
    return "explain"


def explained(out, answer):
    """Every cell that a derivation speaks of, as the only one of its matrix that is known."""
    found = matrices.from_json(json.dumps(answer))

    def check(name, row, column, value):
        value = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}.get(value, value)
        if name in out.matrices:
            expected = np.array([[out.matrices[name][row - 1, column - 1]]])
            far = matrices.distance(name, expected, np.array([[float(value)]]), out.magnitudes[name] or 1.0)
            if not far <= matrices.TOLERANCE:
                raise matrices.Difference(f"the cell {name}[{row},{column}] of the derivation is {value}, not {expected}")

    def walk(part):
        if isinstance(part, list):
            for each in part:
                walk(each)
        elif isinstance(part, dict):
            if "array" in part and "value" in part:
                check(part["array"], part["row"], part["column"], part["value"])
            for each in part.values():
                walk(each)

    walk(answer["page"])
    if not any(block["type"] == "derivation" for block in answer["page"]):
        raise matrices.Difference("there is no derivation")
    return found


def saved(case):
    """A random model whose parameters attn saves; the oracle reads them back."""
    kind = case.one_of("encoder-decoder", "encoder-only", "decoder-only")
    model = models.draw_recipe(case, kind)
    model.named = False
    case.words.append("transformer")
    case.option("--kind", kind)
    case.option("--seed", case.size(0, 9999))
    case.option("--d-model", model.d)
    case.option("--layers", case.size(1, 3))
    case.option("--d-ff", case.size(1, 9))
    if model.kv_heads:
        case.option("--kv-heads", model.kv_heads)
    if case.chance(0.3):
        case.option("--no-bias")
    model.tied_output = kind != "encoder-only" and case.chance(0.2)
    models.give_recipe(case, model)
    n = case.size(1, 6)
    case.option("--n", n)
    ending = case.one_of("safetensors", "npz")
    case.option("--save-parameters", "saved." + ending)

    def later(found):
        content = (case.folder / f"saved.{ending}").read_bytes()
        model.p = matrices.READERS[ending](content)
        out, memory = case.expected, None
        for name, matrix in model.p.items():
            out.put(name, matrix)
        if "encoder" in SIDES[kind]:
            x = model.embed(out, "source", found["source.ids"][:, 0].astype(int))
            memory = model.run_side(out, "encoder", x, (None, None))
        if "decoder" in SIDES[kind]:
            x = model.embed(out, "target", found["target.ids"][:, 0].astype(int))
            causal = np.tril(np.ones((len(x), len(x)), dtype=bool))
            out.put("decoder.mask", causal)
            model.logits(out, model.run_side(out, "decoder", x, (causal, None), memory, (None, None)))

    case.later = later
    return "saved parameters"


def torch_attention(case):
    """PyTorch's nn.MultiheadAttention: its state dictionary is read, and its output and weights compared."""
    import torch
    heads = case.size(1, 4)
    embed_size = heads * case.size(1, 5)
    kdim, vdim = case.one_of((embed_size, embed_size), (case.size(1, 6), case.size(1, 6)))
    bias = case.chance()
    module = torch.nn.MultiheadAttention(embed_size, heads, bias=bias, kdim=kdim, vdim=vdim, batch_first=True,
                                         dtype=torch.float64)
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.copy_(torch.tensor(case.normal(*parameter.shape, spread=0.5)))
    state = {name: tensor.numpy() for name, tensor in module.state_dict().items()}
    ending, write = case.one_of((".npz", matrices.to_npz), (".safetensors", matrices.to_safetensors))
    case.words.append("walk")
    case.option("--parameters", case.file("module" + ending, write(state)))
    case.option("--heads", heads)
    n, m = case.size(1, 6), case.size(1, 6)
    x = case.give("--x", case.normal(n, embed_size))
    is_self = kdim == vdim == embed_size and case.chance()
    keys = values = x
    if not is_self:
        keys = case.give("--memory", case.normal(m, kdim))
        values = keys
        if vdim != kdim or case.chance():
            values = case.give("--value-memory", case.normal(m, vdim))
    m = len(keys)
    mask = models.Mask(case, n, m).draw()
    added = mask.for_torch()
    while added is None:
        return None
    added = torch.tensor(np.ascontiguousarray(np.broadcast_to(added, (n, m))))
    with torch.no_grad():
        output, weights = module(*(torch.tensor(part)[None] for part in (x, keys, values)), attn_mask=added,
                                 average_attn_weights=False)
    out = case.expected
    scores = 10 * max(1.0, matrices.largest(x) * matrices.largest(keys))
    out.put("output", output[0].numpy(), scores)
    for head in range(heads):
        out.put(f"head.{head + 1}.weights" if heads > 1 else "weights", weights[0, head].numpy(), scores)
    case.option("--only", "output|*weights")
    return "nn.MultiheadAttention"


def large(case):
    """Rows pass by in blocks, on several threads."""
    n, m, d, heads = case.size(190, 700), case.size(190, 700), case.size(1, 40), case.size(1, 2)
    case.words.append("walk")
    if heads > 1:
        case.option("--heads", heads)
    if case.chance(0.3):
        n, m, heads, case.words = case.size(1100, 1300), case.size(1000, 1200), 1, ["walk"]
    q, k, v = (case.give("--" + name, case.normal(rows, heads * d)) for name, rows in (("q", n), ("k", m), ("v", m)))
    how = How(heads=heads)
    if case.chance():
        case.option("--causal")
        how.allowed = np.arange(m)[None, :] <= np.arange(n)[:, None]
    how.score = case.one_of("scaled-dot", "gaussian", "cosine")
    case.option("--score", how.score)
    case.option("--threads", case.size(1, 4))
    shown = case.one_of("output", "output", "output|*weights")
    case.option("--only", shown)
    out = case.expected
    multi_head(out, q, k, v, how)
    case.formats = ("npz", "safetensors")
    return "large"


KINDS = {"layer-norm": layer_norm, "feed": feed, "positions": positions, "embed": embed, "cost": cost, "explain": explain,
         "saved": saved, "attention of PyTorch": torch_attention, "large": large}
