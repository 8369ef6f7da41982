"""Parity with PyTorch for what its modules have as arguments: activations, ε, masks, depths, biases, and norms.

    python3 recipes.py ATTN

Random modules in double precision, with random choices of all of these, are saved, run by attn with the options that
say the same, and compared as in parity.py. Rotary positions and shared heads of keys are computed by hand.
"""
import subprocess

import parity
from parity import FILES, Listener, distances, np, our_name, torch
from torch import nn
from torch.nn import functional

ACTIVATIONS = {
    "relu": functional.relu, "gelu": functional.gelu, "tanh": torch.tanh, "silu": functional.silu,
    "gelu-tanh": lambda x: functional.gelu(x, approximate="tanh")}


class RMSNorm(nn.Module):
    def __init__(self, size, epsilon):
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(torch.ones(size, dtype=torch.float64)), epsilon

    def forward(self, x):
        return x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def with_rms_norms(module, epsilon):
    for name, part in list(module.named_modules()):
        if isinstance(part, nn.LayerNorm):
            outer, _, leaf = name.rpartition(".")
            setattr(module.get_submodule(outer), leaf, RMSNorm(part.normalized_shape[0], epsilon))


def module_of(case):
    sizes = {"d_model": case["d_model"], "nhead": case["heads"], "dim_feedforward": case["d_ff"], "dropout": 0.0,
             "activation": ACTIVATIONS[case["activation"]], "layer_norm_eps": case["epsilon"], "batch_first": True,
             "norm_first": case["norm_first"], "dtype": torch.float64}
    if case["side"] is None:
        encoders, decoders = case["layers"]
        module = nn.Transformer(num_encoder_layers=encoders, num_decoder_layers=decoders, **sizes)
    elif case["side"] == "encoder":
        norm = nn.LayerNorm(case["d_model"], case["epsilon"], dtype=torch.float64)
        module = nn.TransformerEncoder(nn.TransformerEncoderLayer(**sizes), case["layers"][0], norm)
    else:
        module = nn.TransformerDecoder(nn.TransformerDecoderLayer(**sizes), case["layers"][1])
    if case["norm_kind"] == "rms":
        with_rms_norms(module, case["epsilon"])
    for name, parameter in module.named_parameters():
        nn.init.normal_(parameter, std=0.5)
        if not case["bias"] and name.endswith("bias"):
            nn.init.zeros_(parameter)
    return module.train()


class Mask:
    """A mask of some queries and keys: its arguments there, and its options here. Every query may attend to the first
    key, since attn has zeros where PyTorch has NaN."""

    def __init__(self, random, kind, queries, keys):
        self.attention, self.padding, self.option = None, None, []
        if kind == "boolean":
            allowed = random.random_sample((queries, keys)) < 0.6
            allowed[:, 0] = True
            self.attention, self.option = torch.from_numpy(~allowed), ["mask", allowed]
        elif kind == "numbers":
            bias = random.standard_normal((queries, keys))
            bias[random.random_sample((queries, keys)) < 0.3] = -np.inf
            bias[:, 0] = 0.5
            self.attention, self.option = torch.from_numpy(bias), ["mask", bias]
        elif kind == "padding":
            allowed = random.random_sample(keys) < 0.6
            allowed[0] = True
            self.padding, self.option = torch.from_numpy(~allowed), ["mask", allowed[None, :]]
        elif kind == "length":
            length = random.randint(1, keys + 1)
            self.padding, self.option = torch.arange(keys) >= length, ["valid-length", length]

    def options(self, folder, whose):
        if not self.option:
            return []
        kind, value = self.option
        if isinstance(value, np.ndarray):
            file = folder / f"{whose}mask.npy"
            np.save(file, value)
            value = file
        return [f"--{whose}{kind}", str(value)]

    def with_causal(self, causal, size):
        if not causal:
            return self.attention
        later = torch.triu(torch.ones(size, size, dtype=torch.bool), diagonal=1)
        if self.attention is None:
            return later
        if self.attention.dtype == torch.bool:
            return later | self.attention
        return self.attention.masked_fill(later, float("-inf"))


def compared(attn, folder, case):
    random = np.random.RandomState(case["seed"])
    n, m, d = case["n_source"], case["n_target"], case["d_model"]
    source, target = random.standard_normal((n, d)), random.standard_normal((m, d))
    masks = [Mask(random, kind, *sizes) for kind, sizes in zip(case["masks"], ((n, n), (m, m), (m, n)))]
    of_source, of_target, of_memory = masks
    module = module_of(case)
    state = {name: tensor.numpy() for name, tensor in module.state_dict().items()
             if case["bias"] or not name.endswith("bias")}
    file = folder / ("module" + case["ending"])
    FILES[case["ending"]](file, state)
    listener = Listener(module)
    x, y = torch.from_numpy(source), torch.from_numpy(target)
    as_target = {"tgt_mask": of_target.with_causal(case["causal_decoder"], m), "memory_mask": of_memory.attention,
                 "tgt_key_padding_mask": of_target.padding, "memory_key_padding_mask": of_memory.padding}
    source_mask = of_source.with_causal(case["causal_encoder"], n)
    if case["side"] == "encoder":
        module(x, mask=source_mask, src_key_padding_mask=of_source.padding)
    elif case["side"] == "decoder":
        module(y, x, **as_target)
    else:
        module(x, y, src_mask=source_mask, src_key_padding_mask=of_source.padding, **as_target)
    np.save(folder / "source.npy", source)
    np.save(folder / "target.npy", target)
    command = case["side"] or "transformer"
    options = ["--norm", "pre" if case["norm_first"] else "post", "--norm-kind", case["norm_kind"],
               "--activation", case["activation"], "--epsilon", str(case["epsilon"])]
    if command != "encoder":
        options += ["--target-x", folder / "target.npy", *of_memory.options(folder, "memory-")]
    if command == "encoder":
        options += ["--x", folder / "source.npy", *of_source.options(folder, "")]
        options += ["--causal"] if case["causal_encoder"] else []
    elif command == "decoder":
        options += ["--memory", folder / "source.npy", *of_target.options(folder, "")]
        options += [] if case["causal_decoder"] else ["--not-causal"]
    else:
        options += ["--x", folder / "source.npy", *of_source.options(folder, ""),
                    *of_target.options(folder, "target-")]
        options += {(False, True): [], (True, True): ["--causal"],
                    (False, False): ["--not-causal"]}[case["causal_encoder"], case["causal_decoder"]]
    found = folder / "found.npz"
    subprocess.run([attn, command, "--parameters", file, "--heads", str(case["heads"]), *options, "--format", "npz",
                    "--output", found], check=True, stdout=subprocess.DEVNULL)
    theirs = {our_name(name, case): matrix for name, matrix in listener.heard.items()}
    return distances(theirs, np.load(found))


def cases():
    random = np.random.RandomState(2024)

    def one_of(*values):
        return values[random.randint(len(values))]

    kinds = ("none", "boolean", "numbers", "padding", "length")
    for number in range(120):
        side = ("encoder", "decoder", None)[number % 3]
        d_model, heads, d_ff = one_of((4, 1, 6), (8, 2, 5), (12, 4, 24))
        causal_encoder = side != "decoder" and one_of(True, False)
        yield {"side": side, "layers": one_of((1, 2), (3, 1), (2, 2)), "norm_first": one_of(True, False),
               "activation": list(ACTIVATIONS)[number % len(ACTIVATIONS)], "epsilon": one_of(1e-5, 1e-6, 1e-12, 0.0),
               "norm_kind": one_of("layer", "layer", "rms"), "bias": one_of(True, True, False),
               "causal_encoder": causal_encoder, "causal_decoder": causal_encoder or one_of(True, False),
               "masks": [one_of(*kinds) for _ in range(3)], "d_model": d_model, "heads": heads, "d_ff": d_ff,
               "n_source": random.randint(1, 8), "n_target": random.randint(1, 8), "seed": number,
               "ending": list(FILES)[number % len(FILES)]}


def turned(x, base):
    """Rotary positions: columns 2j and 2j + 1 as a complex number, turned by i / base^(2j/d)."""
    n, d = x.shape
    angles = np.arange(n)[:, None] / base ** (2 * np.arange(d // 2) / d)
    pairs = (x[:, 0::2] + 1j * x[:, 1::2]) * np.exp(1j * angles)
    return np.stack([pairs.real, pairs.imag], axis=-1).reshape(n, d)


def compared_heads(attn, folder, case):
    """One encoder layer without norms, by hand: rotary positions, and heads of keys that queries share."""
    heads, of_keys, base, random = case["heads"], case["kv_heads"], case["base"], np.random.RandomState(case["seed"])
    d, d_k, n = case["d_model"], case["d_model"] // case["heads"], case["n_source"]
    shapes = {"w_q": (d, d), "w_k": (d, of_keys * d_k), "w_v": (d, of_keys * d_k), "w_o": (d, d)}
    w = {name: random.standard_normal(shape) for name, shape in shapes.items()}
    layer = {f"encoder.1.self_attention.{name}": matrix for name, matrix in w.items()}
    layer["encoder.1.feed_forward.w_1"], layer["encoder.1.feed_forward.w_2"] = np.zeros((d, 3)), np.zeros((3, d))
    x = random.standard_normal((n, d))
    q, k, v = (x @ w[name] for name in ("w_q", "w_k", "w_v"))
    theirs, outputs = {}, []
    for head in range(heads):
        group = head * of_keys // heads
        q_i = q[:, head * d_k:(head + 1) * d_k]
        k_i, v_i = (whole[:, group * d_k:(group + 1) * d_k] for whole in (k, v))
        scores = torch.from_numpy(turned(q_i, base) @ turned(k_i, base).T / np.sqrt(d_k))
        weights = torch.softmax(scores, 1).numpy()
        theirs[f"encoder.1.self_attention.head.{head + 1}.weights"] = weights
        outputs.append(weights @ v_i)
    theirs["encoder.1.self_attention.output"] = np.concatenate(outputs, 1) @ w["w_o"]
    FILES[case["ending"]](folder / ("layer" + case["ending"]), layer)
    np.save(folder / "x.npy", x)
    found = folder / "found.npz"
    subprocess.run([attn, "encoder", "--parameters", folder / ("layer" + case["ending"]), "--heads", str(heads), "--norm",
                    "none", "--positions", "rotary", "--base", str(base), "--x", folder / "x.npy", "--format", "npz",
                    "--output", found], check=True, stdout=subprocess.DEVNULL)
    return distances(theirs, np.load(found))


def heads():
    for seed, (d_model, of_queries, of_keys) in enumerate([(8, 2, 2), (8, 2, 1), (24, 6, 2), (16, 4, 1), (12, 3, 3)]):
        yield {"d_model": d_model, "heads": of_queries, "kv_heads": of_keys, "n_source": 5, "seed": seed,
               "base": [10000, 100.5][seed % 2], "ending": list(FILES)[seed % len(FILES)]}


if __name__ == "__main__":
    parity.main([(compared, cases()), (compared_heads, heads())])
