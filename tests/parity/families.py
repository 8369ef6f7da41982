"""Parity with today's decoders: tiny random models of each family, saved as folders under the names and with the
config.json that Hugging Face has, computed by the plain PyTorch code below, which is written from the papers and from
what the reference implementations do, and by attn. Compared are the attention weights of every head, the hidden states
after each layer, the logits, and the words that are written one by one with a cache.

    python3 families.py ATTN
"""
import json
import math
import struct
import subprocess

import parity
from parity import distances, np, torch
from torch.nn import functional

STORED = {"F64": (torch.float64, lambda t: t.numpy().tobytes()),
          "F32": (torch.float32, lambda t: t.numpy().tobytes()),
          "F16": (torch.float16, lambda t: t.numpy().tobytes()),
          "BF16": (torch.bfloat16, lambda t: t.view(torch.int16).numpy().tobytes())}
ACTIVATIONS = {"silu": functional.silu, "gelu": functional.gelu, "relu": functional.relu,
               "gelu_new": lambda x: functional.gelu(x, approximate="tanh"),
               "gelu_pytorch_tanh": lambda x: functional.gelu(x, approximate="tanh")}


def save_folder(folder, config, tensors, dtype):
    header, data = {}, b""
    for name, tensor in tensors.items():
        numbers = STORED[dtype][1](tensor.to(STORED[dtype][0]).contiguous())
        header[name] = {"dtype": dtype, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    text += b" " * (-len(text) % 8)
    (folder / "model.safetensors").write_bytes(struct.pack("<Q", len(text)) + text + data)
    (folder / "config.json").write_text(json.dumps(config))


# --- what all of them are made of


def layer_norm(x, weight, bias, epsilon):
    return functional.layer_norm(x, (x.shape[-1],), weight, bias, epsilon)


def rms_norm(x, weight, epsilon):
    return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * weight


def inverse_frequencies(size, base, scaling):
    """One for each pair of columns, scaled as rope_scaling says."""
    all_of_them = 1.0 / base ** (torch.arange(0, size, 2, dtype=torch.float64) / size)
    kind = (scaling or {}).get("rope_type", (scaling or {}).get("type", "default"))
    if kind == "linear":
        return all_of_them / scaling["factor"]
    if kind != "llama3":
        return all_of_them
    scaled = []
    for frequency in all_of_them.tolist():
        length = 2 * math.pi / frequency
        trained = scaling["original_max_position_embeddings"]
        if length < trained / scaling["high_freq_factor"]:
            scaled.append(frequency)
        elif length > trained / scaling["low_freq_factor"]:
            scaled.append(frequency / scaling["factor"])
        else:
            smooth = (trained / length - scaling["low_freq_factor"]) / (
                scaling["high_freq_factor"] - scaling["low_freq_factor"])
            scaled.append((1 - smooth) * frequency / scaling["factor"] + smooth * frequency)
    return torch.tensor(scaled, dtype=torch.float64)


def rotate_halves(x, frequencies):
    """The first 2·len(frequencies) columns, column j with column j + len(frequencies)."""
    half = len(frequencies)
    angles = torch.arange(len(x), dtype=torch.float64)[:, None] * frequencies[None, :]
    cosine, sine = torch.cat([angles.cos()] * 2, dim=1), torch.cat([angles.sin()] * 2, dim=1)
    turned, left = x[:, :2 * half], x[:, 2 * half:]
    swapped = torch.cat([-turned[:, half:], turned[:, :half]], dim=1)
    return torch.cat([turned * cosine + swapped * sine, left], dim=1)


def allowed(n, window):
    """Causal; with a window each query sees so many keys, its own included."""
    places = torch.arange(n)
    back = places[:, None] - places[None, :]
    return (back >= 0) & (back < window if window else torch.ones(n, n, dtype=torch.bool))


class Found(dict):
    """What attn should find, by its names."""

    def attend(self, layer, q, k, v, divisor, window=None, cap=None):
        """Heads of q, k and v as lists; keys and values may be fewer. The outputs side by side."""
        outputs, group = [], len(q) // len(k)
        for h, query in enumerate(q):
            scores = query @ k[h // group].T / divisor
            if cap:
                scores = cap * torch.tanh(scores / cap)
            scores = scores.masked_fill(~allowed(len(query), window), float("-inf"))
            weights = torch.softmax(scores, dim=1)
            head = f"head.{h + 1}." if len(q) > 1 else ""
            self[f"decoder.{layer + 1}.self_attention.{head}weights"] = weights
            outputs.append(weights @ v[h // group])
        return torch.cat(outputs, dim=1)


def heads_of(x, size):
    return list(x.split(size, dim=1))


# --- the families


def gpt2(c, t, ids, found, prefix="transformer."):
    at = lambda name: t[prefix + name]
    d, heads, epsilon = c["n_embd"], c["n_head"], c.get("layer_norm_epsilon", 1e-5)
    norm = lambda name, x: layer_norm(x, at(name + ".weight"), at(name + ".bias"), epsilon)
    linear = lambda name, x: x @ at(name + ".weight") + at(name + ".bias")
    x = at("wte.weight")[ids] + at("wpe.weight")[:len(ids)]
    for i in range(c["n_layer"]):
        h = f"h.{i}."
        q, k, v = (heads_of(part, d // heads) for part in linear(h + "attn.c_attn", norm(h + "ln_1", x)).split(d, dim=1))
        divisor = math.sqrt(d // heads) if c.get("scale_attn_weights", True) else 1.0
        x = x + linear(h + "attn.c_proj", found.attend(i, q, k, v, divisor))
        x = x + linear(h + "mlp.c_proj", ACTIVATIONS[c.get("activation_function", "gelu_new")](
            linear(h + "mlp.c_fc", norm(h + "ln_2", x))))
        found[f"decoder.{i + 1}.sum_2"] = x
    last = norm("ln_f", x)
    head = at("wte.weight") if c.get("tie_word_embeddings", True) else t["lm_head.weight"]
    return last, last @ head.T


def gpt_neo(c, t, ids, found):
    at = lambda name: t["transformer." + name]
    d, heads, epsilon = c["hidden_size"], c["num_heads"], c.get("layer_norm_epsilon", 1e-5)
    kinds = [kind for group, count in c["attention_types"] for _ in range(count) for kind in group]
    norm = lambda name, x: layer_norm(x, at(name + ".weight"), at(name + ".bias"), epsilon)
    linear = lambda name, x: functional.linear(x, at(name + ".weight"), t.get("transformer." + name + ".bias"))
    x = at("wte.weight")[ids] + at("wpe.weight")[:len(ids)]
    for i in range(c["num_layers"]):
        h, attention = f"h.{i}.", f"h.{i}.attn.attention."
        normed = norm(h + "ln_1", x)
        q, k, v = (heads_of(linear(attention + name, normed), d // heads) for name in ("q_proj", "k_proj", "v_proj"))
        window = c.get("window_size", 256) if kinds[i] == "local" else None
        x = x + linear(attention + "out_proj", found.attend(i, q, k, v, 1.0, window))
        x = x + linear(h + "mlp.c_proj", ACTIVATIONS[c.get("activation_function", "gelu_new")](
            linear(h + "mlp.c_fc", norm(h + "ln_2", x))))
        found[f"decoder.{i + 1}.sum_2"] = x
    last = norm("ln_f", x)
    return last, last @ at("wte.weight").T


def gpt_neox(c, t, ids, found):
    at = lambda name: t["gpt_neox." + name]
    d, heads, epsilon = c["hidden_size"], c["num_attention_heads"], c.get("layer_norm_eps", 1e-5)
    size = d // heads
    norm = lambda name, x: layer_norm(x, at(name + ".weight"), at(name + ".bias"), epsilon)
    linear = lambda name, x: functional.linear(x, at(name + ".weight"), t.get("gpt_neox." + name + ".bias"))
    rope = inverse_frequencies(int(size * c.get("rotary_pct", 0.25)), c.get("rotary_emb_base", 10000), c.get("rope_scaling"))
    x = at("embed_in.weight")[ids]
    for i in range(c["num_hidden_layers"]):
        h = f"layers.{i}."
        # [n, heads, q k v, size]
        packed = linear(h + "attention.query_key_value", norm(h + "input_layernorm", x)).view(len(ids), heads, 3, size)
        q, k, v = ([packed[:, j, part] for j in range(heads)] for part in range(3))
        q, k = ([rotate_halves(head, rope) for head in all_heads] for all_heads in (q, k))
        attended = linear(h + "attention.dense", found.attend(i, q, k, v, math.sqrt(size)))
        second = x if c.get("use_parallel_residual", True) else x + attended
        inner = ACTIVATIONS[c.get("hidden_act", "gelu")](
            linear(h + "mlp.dense_h_to_4h", norm(h + "post_attention_layernorm", second)))
        x = x + attended + linear(h + "mlp.dense_4h_to_h", inner)
        found[f"decoder.{i + 1}.sum_2"] = x
    last = norm("final_layer_norm", x)
    return last, last @ (t["embed_out.weight"] if not c.get("tie_word_embeddings", False) else at("embed_in.weight")).T


DEFAULTS = {  # of the reference implementation: ε, tied
    "llama": (1e-6, False), "mistral": (1e-6, False), "qwen2": (1e-6, False), "qwen3": (1e-6, False),
    "gemma": (1e-6, True), "gemma2": (1e-6, True), "gemma3_text": (1e-6, True), "phi3": (1e-5, False),
    "olmo2": (1e-5, False)}


def window_of(c, layer):
    """How many keys a query of this layer sees, or None."""
    kind = c["model_type"]
    if kind in ("llama", "gemma", "olmo2"):
        return None
    if kind in ("qwen2", "qwen3") and not c.get("use_sliding_window", False):
        return None
    usual = {"phi3": None}.get(kind, 4096)
    window = c.get("sliding_window", usual)
    if window is None:
        return None
    if "layer_types" in c:
        local = c["layer_types"][layer] == "sliding_attention"
    elif kind in ("qwen2", "qwen3"):
        local = layer >= c.get("max_window_layers", 28)
    elif kind == "gemma2":
        local = (layer + 1) % 2 != 0
    elif kind == "gemma3_text":
        local = (layer + 1) % c.get("sliding_window_pattern", 6) != 0
    else:
        local = True
    return window if local else None


def like_llama(c, t, ids, found):
    kind = c["model_type"]
    is_gemma = kind.startswith("gemma")
    at = lambda name: t["model." + name]
    d, heads = c["hidden_size"], c["num_attention_heads"]
    key_heads, size = c.get("num_key_value_heads") or heads, c.get("head_dim") or d // heads
    usual_epsilon, usually_tied = DEFAULTS[kind]
    epsilon = c.get("rms_norm_eps", usual_epsilon)
    norm = lambda name, x: rms_norm(x, (1.0 if is_gemma else 0.0) + at(name + ".weight"), epsilon)
    linear = lambda name, x: functional.linear(x, at(name + ".weight"), t.get("model." + name + ".bias"))
    usual_activation = "gelu_pytorch_tanh" if is_gemma else "silu"
    activate = ACTIVATIONS[(c.get("hidden_activation") if is_gemma else c.get("hidden_act")) or usual_activation]
    divisor = math.sqrt(c.get("query_pre_attn_scalar", 256)) if kind in ("gemma2", "gemma3_text") else math.sqrt(size)
    cap = c.get("attn_logit_softcapping", 50.0 if kind == "gemma2" else None)
    last_cap = cap_of(c)
    scaling = c.get("rope_parameters") or c.get("rope_scaling")
    base = (c.get("rope_parameters") or {}).get("rope_theta") or c.get("rope_theta", 1e6 if kind == "gemma3_text" else 1e4)
    turned = int(size * c.get("partial_rotary_factor", 1.0))
    x = at("embed_tokens.weight")[ids]
    if is_gemma:
        x = x * math.sqrt(d)
    for i in range(c["num_hidden_layers"]):
        h = f"layers.{i}."
        normed = x if kind == "olmo2" else norm(h + "input_layernorm", x)
        if kind == "phi3":
            q, k, v = linear(h + "self_attn.qkv_proj", normed).split([heads * size, key_heads * size, key_heads * size], dim=1)
        else:
            q, k, v = (linear(f"{h}self_attn.{name}", normed) for name in ("q_proj", "k_proj", "v_proj"))
        if kind == "olmo2":  # over the whole width
            q, k = norm(h + "self_attn.q_norm", q), norm(h + "self_attn.k_norm", k)
        q, k, v = heads_of(q, size), heads_of(k, size), heads_of(v, size)
        if kind in ("qwen3", "gemma3_text"):  # each head
            q = [norm(h + "self_attn.q_norm", head) for head in q]
            k = [norm(h + "self_attn.k_norm", head) for head in k]
        window = window_of(c, i)
        if kind == "gemma3_text" and window:
            rope = inverse_frequencies(turned, c.get("rope_local_base_freq", 10000.0), None)
        else:
            rope = inverse_frequencies(turned, base, scaling)
        q, k = ([rotate_halves(head, rope) for head in all_heads] for all_heads in (q, k))
        attended = linear(h + "self_attn.o_proj", found.attend(i, q, k, v, divisor, window, cap))
        if kind in ("gemma2", "gemma3_text", "olmo2"):
            attended = norm(h + "post_attention_layernorm", attended)
        x = x + attended
        second = {"olmo2": lambda: x}.get(kind, lambda: norm(h + (
            "pre_feedforward_layernorm" if kind in ("gemma2", "gemma3_text") else "post_attention_layernorm"), x))()
        if kind == "phi3":
            gate, up = linear(h + "mlp.gate_up_proj", second).chunk(2, dim=1)
        else:
            gate, up = linear(h + "mlp.gate_proj", second), linear(h + "mlp.up_proj", second)
        fed = linear(h + "mlp.down_proj", activate(gate) * up)
        if kind in ("gemma2", "gemma3_text", "olmo2"):
            fed = norm(h + "post_feedforward_layernorm", fed)
        x = x + fed
        found[f"decoder.{i + 1}.sum_2"] = x
    last = norm("norm", x)
    tied = c.get("tie_word_embeddings", usually_tied)
    logits = last @ (at("embed_tokens.weight") if tied else t["lm_head.weight"]).T
    return last, last_cap * torch.tanh(logits / last_cap) if last_cap else logits


FAMILIES = {"gpt2": gpt2, "gpt_neo": gpt_neo, "gpt_neox": gpt_neox}


def computed(config, tensors, ids):
    found = Found()
    last, logits = FAMILIES.get(config["model_type"], like_llama)(config, tensors, ids, found)
    found["decoder.output"], found["logits"] = last, logits
    return {name: tensor.numpy() for name, tensor in found.items()}


# --- their tensors, by name and shape

WORDS, PLACES = 11, 16


def shapes_of(c, biases, has_head):
    kind = c["model_type"]
    if kind in ("gpt2", "gpt_neo"):
        d = c.get("n_embd") or c["hidden_size"]
        linear = (lambda a, b: (a, b)) if kind == "gpt2" else (lambda a, b: (b, a))
        shapes = {"transformer.wte.weight": (WORDS, d), "transformer.wpe.weight": (PLACES, d),
                  "transformer.ln_f.weight": (d,), "transformer.ln_f.bias": (d,)}
        for i in range(c.get("n_layer") or c["num_layers"]):
            h = f"transformer.h.{i}."
            for norm in ("ln_1", "ln_2"):
                shapes.update({f"{h}{norm}.weight": (d,), f"{h}{norm}.bias": (d,)})
            if kind == "gpt2":
                shapes.update({h + "attn.c_attn.weight": (d, 3 * d), h + "attn.c_attn.bias": (3 * d,),
                               h + "attn.c_proj.weight": (d, d), h + "attn.c_proj.bias": (d,)})
            else:
                attention = h + "attn.attention."
                shapes.update({attention + f"{name}_proj.weight": (d, d) for name in ("q", "k", "v", "out")})
                shapes[attention + "out_proj.bias"] = (d,)
                shapes[attention + "masked_bias"] = ()
                shapes[attention + "bias"] = (1, 1, PLACES, PLACES)
            shapes.update({h + "mlp.c_fc.weight": linear(d, 4 * d), h + "mlp.c_fc.bias": (4 * d,),
                           h + "mlp.c_proj.weight": linear(4 * d, d), h + "mlp.c_proj.bias": (d,)})
        if has_head:
            shapes["lm_head.weight"] = (WORDS, d)
        return shapes
    d = c["hidden_size"]
    if kind == "gpt_neox":
        shapes = {"gpt_neox.embed_in.weight": (WORDS, d), "gpt_neox.final_layer_norm.weight": (d,),
                  "gpt_neox.final_layer_norm.bias": (d,), "embed_out.weight": (WORDS, d)}
        for i in range(c["num_hidden_layers"]):
            h = f"gpt_neox.layers.{i}."
            for norm in ("input_layernorm", "post_attention_layernorm"):
                shapes.update({f"{h}{norm}.weight": (d,), f"{h}{norm}.bias": (d,)})
            for name, (a, b) in {"attention.query_key_value": (3 * d, d), "attention.dense": (d, d),
                                 "mlp.dense_h_to_4h": (20, d), "mlp.dense_4h_to_h": (d, 20)}.items():
                shapes[f"{h}{name}.weight"] = (a, b)
                if biases or "mlp" in name:
                    shapes[f"{h}{name}.bias"] = (a,)
            shapes[h + "attention.rotary_emb.inv_freq"] = (2,)
        return shapes
    heads = c["num_attention_heads"]
    size, inner = c.get("head_dim") or d // heads, 20
    keys = (c.get("num_key_value_heads") or heads) * size
    queries = heads * size
    shapes = {"model.embed_tokens.weight": (WORDS, d), "model.norm.weight": (d,)}
    if has_head:
        shapes["lm_head.weight"] = (WORDS, d)
    norms = {"olmo2": ("post_attention", "post_feedforward"),
             "gemma2": ("input", "post_attention", "pre_feedforward", "post_feedforward")}
    norms["gemma3_text"] = norms["gemma2"]
    for i in range(c["num_hidden_layers"]):
        h = f"model.layers.{i}."
        shapes.update({f"{h}{norm}_layernorm.weight": (d,) for norm in norms.get(kind, ("input", "post_attention"))})
        linear = {"self_attn.o_proj": (d, queries), "mlp.down_proj": (d, inner)}
        if kind == "phi3":
            linear.update({"self_attn.qkv_proj": (queries + 2 * keys, d), "mlp.gate_up_proj": (2 * inner, d)})
        else:
            linear.update({"self_attn.q_proj": (queries, d), "self_attn.k_proj": (keys, d), "self_attn.v_proj": (keys, d),
                           "mlp.gate_proj": (inner, d), "mlp.up_proj": (inner, d)})
        for name, shape in linear.items():
            shapes[f"{h}{name}.weight"] = shape
            if any(part in name for part in biases or ()):
                shapes[f"{h}{name}.bias"] = shape[:1]
        if kind in ("qwen3", "gemma3_text"):
            shapes.update({h + "self_attn.q_norm.weight": (size,), h + "self_attn.k_norm.weight": (size,)})
        if kind == "olmo2":
            shapes.update({h + "self_attn.q_norm.weight": (queries,), h + "self_attn.k_norm.weight": (keys,)})
    return shapes


def compared(attn, folder, case):
    config = case["config"]
    tensors = {name: torch.randn(shape, dtype=torch.float64) * 0.5
               for name, shape in shapes_of(config, case.get("biases", True), case.get("has_head", False)).items()}
    tensors = {name: tensor.to(STORED[case["dtype"]][0]).to(torch.float64) for name, tensor in tensors.items()}
    save_folder(folder, config, tensors, case["dtype"])
    ids = torch.randint(WORDS, (case["n"],)).tolist()
    found = folder / "found.npz"
    words = " ".join(str(id) for id in ids)
    subprocess.run([attn, "decoder", "--model", folder, "--target", words, "--format", "npz", "--output", found],
                   check=True, stdout=subprocess.DEVNULL)
    apart = distances(computed(config, tensors, ids), np.load(found))
    steps = 5
    subprocess.run([attn, "generate", "--model", folder, "--target", words, "--steps", str(steps), "--format", "npz",
                    "--output", found], check=True, stdout=subprocess.DEVNULL)
    theirs = {}
    for step in range(1, steps + 1):
        logits = torch.from_numpy(computed(config, tensors, ids)["logits"])[-1:]
        theirs[f"step.{step}.distribution"] = torch.softmax(logits, dim=1).numpy()
        ids.append(int(logits.argmax()))
    apart.update(distances(theirs, np.load(found)))
    apart.update(distances_of_lens(attn, folder, words, computed(config, tensors, ids[:case["n"]])["logits"], found, cap_of(config)))
    return apart


def cap_of(config):
    return config.get("final_logit_softcapping", 30.0 if config["model_type"] == "gemma2" else None)


def distances_of_lens(attn, folder, words, logits, found, cap):
    """What the last layer would name is what the model names, and the terms of a logit add up to it, before a soft cap."""
    word = 3
    subprocess.run([attn, "lens", "--model", folder, "--target", words, "--of", f"logits[{len(logits)},{word}]",
                    "--format", "npz", "--output", found], check=True, stdout=subprocess.DEVNULL)
    lens = np.load(found)
    apart = {"lens.logits": np.abs(lens["lens.logits"][-1] - logits[-1]).max(),
             "lens.contributions": abs(lens["lens.contributions"].sum() - lens["lens.logit"].item())}
    logit = lens["lens.logit"].item()
    capped = cap * np.tanh(logit / cap) if cap else logit
    return apart | {"lens.logit": abs(capped - logits[-1, word - 1])}


def compared_alone(attn, folder, case):
    """One attention of a model by itself: the weights of its heads, as the model has them."""
    config = case["config"]
    tensors = {name: torch.randn(shape, dtype=torch.float64) * 0.5
               for name, shape in shapes_of(config, case.get("biases", True), case.get("has_head", False)).items()}
    save_folder(folder, config, tensors, "F64")
    ids = torch.randint(WORDS, (7,)).tolist()
    theirs, apart, found = computed(config, tensors, ids), {}, folder / "found.npz"
    for layer in (1, config.get("num_hidden_layers") or config.get("num_layers") or config["n_layer"]):
        scope = f"decoder.{layer}.self_attention."
        subprocess.run([attn, "walk", "--model", folder, "--layer", str(layer), "--text", " ".join(map(str, ids)),
                        "--format", "npz", "--output", found], check=True, stdout=subprocess.DEVNULL)
        of_layer = {name.removeprefix(scope): matrix for name, matrix in theirs.items() if name.startswith(scope)}
        apart.update({f"{scope}{name} alone": far for name, far in distances(of_layer, np.load(found)).items()})
    return apart


def mistaken(attn, folder, case):
    """Neighbors turned in the place of halves, in a Llama: attn check says so."""
    config = case["config"]
    tensors = {name: torch.randn(shape, dtype=torch.float64) * 0.5
               for name, shape in shapes_of(config, (), True).items()}
    save_folder(folder, config, tensors, "F64")
    ids = torch.randint(WORDS, (5,)).tolist()

    def rotate_neighbors(x, frequencies):
        angles = torch.arange(len(x), dtype=torch.float64)[:, None] * frequencies[None, :]
        first, second = x[:, 0::2], x[:, 1::2]
        turned = torch.empty_like(x)
        turned[:, 0::2] = first * angles.cos() - second * angles.sin()
        turned[:, 1::2] = first * angles.sin() + second * angles.cos()
        return turned

    global rotate_halves
    right, rotate_halves = rotate_halves, rotate_neighbors
    try:
        wrong = computed(config, tensors, ids)
    finally:
        rotate_halves = right
    mine = folder / "mine.npz"
    np.savez(mine, **{name: matrix for name, matrix in wrong.items() if name.endswith("weights")})
    words = " ".join(map(str, ids))
    told = subprocess.run([attn, "check", mine, "decoder", "--model", folder, "--target", words, "--format", "json"],
                          capture_output=True, text=True).stdout
    return {"the mistake that is named": 0.0 if '"neighbors-for-halves"' in told else float("inf")}


LLAMA3 = {"rope_type": "llama3", "factor": 8.0, "low_freq_factor": 1.0, "high_freq_factor": 4.0,
          "original_max_position_embeddings": 64}


def configs():
    yield {"model_type": "gpt2", "n_embd": 12, "n_head": 3, "n_layer": 2, "layer_norm_epsilon": 1e-3}, {}
    yield {"model_type": "gpt2", "n_embd": 8, "n_head": 2, "n_layer": 1, "activation_function": "gelu",
           "scale_attn_weights": False, "tie_word_embeddings": False}, {"has_head": True}
    yield {"model_type": "gpt_neo", "hidden_size": 12, "num_heads": 3, "num_layers": 4, "window_size": 3,
           "attention_types": [[["global", "local"], 2]]}, {}
    yield {"model_type": "gpt_neo", "hidden_size": 8, "num_heads": 2, "num_layers": 2, "window_size": 256,
           "attention_types": [[["local"], 2]]}, {}
    neox = {"model_type": "gpt_neox", "hidden_size": 24, "num_attention_heads": 3, "num_hidden_layers": 2}
    yield neox | {"rotary_pct": 0.5}, {}
    yield neox | {"use_parallel_residual": False, "rotary_emb_base": 500, "hidden_act": "relu"}, {}
    yield neox | {"rotary_pct": 1.0, "rope_scaling": {"type": "linear", "factor": 4.0}}, {"biases": False}
    llama = {"model_type": "llama", "hidden_size": 16, "num_attention_heads": 4, "num_hidden_layers": 2,
             "num_key_value_heads": 2, "rms_norm_eps": 1e-5}
    yield llama, {"has_head": True, "biases": ()}
    yield llama | {"tie_word_embeddings": True, "num_key_value_heads": None}, {"biases": ("self_attn", "mlp")}
    yield llama | {"tie_word_embeddings": True, "head_dim": 6}, {"has_head": True, "biases": ()}
    yield llama | {"rope_theta": 500000.0, "rope_scaling": LLAMA3}, {"has_head": True, "biases": ()}
    yield llama | {"rope_parameters": LLAMA3 | {"rope_theta": 100.0}}, {"has_head": True, "biases": ()}
    yield llama | {"rope_scaling": {"type": "linear", "factor": 2.0}}, {"has_head": True, "biases": ()}
    mistral = llama | {"model_type": "mistral"}
    yield mistral | {"sliding_window": 3}, {"has_head": True, "biases": ()}
    yield mistral | {"sliding_window": None, "rms_norm_eps": 1e-6}, {"has_head": True, "biases": ()}
    qwen = llama | {"model_type": "qwen2", "rope_theta": 1000000.0, "sliding_window": 2}
    yield qwen | {"use_sliding_window": False, "tie_word_embeddings": True}, {"biases": ("q_proj", "k_proj", "v_proj")}
    yield qwen | {"use_sliding_window": True, "max_window_layers": 1}, {"has_head": True, "biases": ("q_proj", "k_proj", "v_proj")}
    qwen3 = llama | {"model_type": "qwen3", "head_dim": 6}
    yield qwen3, {"has_head": True, "biases": ()}
    yield qwen3 | {"use_sliding_window": True, "sliding_window": 3, "layer_types": ["sliding_attention", "full_attention"],
                   "num_attention_heads": 2, "num_key_value_heads": 1}, {"has_head": True, "biases": ()}
    gemma = {"model_type": "gemma", "hidden_size": 16, "num_attention_heads": 2, "num_hidden_layers": 2,
             "num_key_value_heads": 1, "head_dim": 6, "hidden_act": "gelu"}
    yield gemma, {"biases": ()}
    gemma2 = gemma | {"model_type": "gemma2", "query_pre_attn_scalar": 7, "num_hidden_layers": 3}
    yield gemma2 | {"sliding_window": 3, "attn_logit_softcapping": 2.0, "final_logit_softcapping": 3.0}, {"biases": ()}
    yield gemma2 | {"attn_logit_softcapping": None, "final_logit_softcapping": None}, {"biases": ()}
    yield gemma2, {"biases": ()}
    gemma3 = gemma | {"model_type": "gemma3_text", "num_hidden_layers": 4, "sliding_window": 3, "query_pre_attn_scalar": 9}
    yield gemma3 | {"sliding_window_pattern": 3, "rope_scaling": {"rope_type": "linear", "factor": 8.0}}, {"biases": ()}
    yield gemma3 | {"num_attention_heads": 4, "num_key_value_heads": 2, "layer_types": [
        "full_attention", "sliding_attention", "sliding_attention", "full_attention"]}, {"biases": ()}
    phi3 = llama | {"model_type": "phi3", "sliding_window": None}
    yield phi3, {"has_head": True, "biases": ()}
    yield phi3 | {"sliding_window": 4, "partial_rotary_factor": 0.5, "num_key_value_heads": 4}, {"has_head": True, "biases": ()}
    olmo2 = llama | {"model_type": "olmo2"}
    yield olmo2, {"has_head": True, "biases": ()}
    yield olmo2 | {"num_attention_heads": 2, "num_key_value_heads": 1, "tie_word_embeddings": True}, {"biases": ()}


def cases():
    seed = 0
    for config, how in configs():
        for n in (1, 7):
            seed += 1
            yield how | {"config": config, "n": n, "dtype": list(STORED)[seed // 2 % 4 if seed % 3 == 0 else 0], "seed": seed}


if __name__ == "__main__":
    alone = [how | {"config": config, "seed": 500 + i} for i, (config, how) in enumerate(configs())]
    llama = [{"config": {"model_type": "llama", "hidden_size": 16, "num_attention_heads": heads,
                         "num_hidden_layers": 1}, "seed": 900 + heads} for heads in (1, 2)]
    parity.main([(compared, cases()), (compared_alone, alone), (mistaken, llama)])
