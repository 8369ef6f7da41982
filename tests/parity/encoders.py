"""Parity with encoders and encoder-decoders: folders with tiny random BERT, RoBERTa, DistilBERT, T5 and BART models and
ViT, written with their own names and config.json, run by attn, and every hidden state, attention weight and logit
compared with plain PyTorch. What encoder-decoders write by greedy search is compared, too.

    python3 encoders.py ATTN
"""
import json
import math
import re
import subprocess

import parity
from parity import distances, np, save_safetensors, torch
from torch.nn import functional

ACTIVATIONS = {"gelu": functional.gelu, "relu": functional.relu,
               "gelu_new": lambda x: functional.gelu(x, approximate="tanh")}


class Model:
    """Random tensors by name, and what is computed with them: a tensor is made when it is first asked for."""

    def __init__(self):
        self.tensors, self.found = {}, {}

    def tensor(self, name, *shape):
        if name not in self.tensors:
            self.tensors[name] = torch.randn(shape, dtype=torch.float64) * 0.4
        return self.tensors[name]

    def linear(self, name, x, outputs, bias=True):
        y = x @ self.tensor(name + ".weight", outputs, x.shape[1]).T
        return y + self.tensor(name + ".bias", outputs) if bias else y

    def layer_norm(self, name, x, epsilon):
        d = x.shape[1]
        return functional.layer_norm(x, (d,), self.tensor(name + ".weight", d), self.tensor(name + ".bias", d), epsilon)

    def rms_norm(self, name, x, epsilon):
        return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + epsilon) * self.tensor(name + ".weight", x.shape[1])

    def attention(self, place, names, x, memory, how):
        """how: heads, d_k, divisor, bias of each head or None, causal, whether the maps have biases."""
        heads, d_k, has_bias = how["heads"], how["d_k"], how.get("biases", True)
        q = self.linear(names["q"], x, heads * d_k, has_bias)
        k = self.linear(names["k"], memory, heads * d_k, has_bias)
        v = self.linear(names["v"], memory, heads * d_k, has_bias)
        outputs = []
        for h in range(heads):
            part = slice(h * d_k, (h + 1) * d_k)
            scores = q[:, part] @ k[:, part].T / how["divisor"]
            if how.get("relative") is not None:
                scores = scores + how["relative"][h]
            if how.get("causal"):
                later = torch.triu(torch.ones_like(scores, dtype=torch.bool), diagonal=1)
                scores = scores.masked_fill(later, float("-inf"))
            weights = torch.softmax(scores, dim=1)
            outputs.append(weights @ v[:, part])
            of_head = f"head.{h + 1}." if heads > 1 else ""
            self.found[f"{place}.{of_head}weights"] = weights
        return self.linear(names["o"], torch.cat(outputs, dim=1), x.shape[1], has_bias)


# --- encoders after BERT: what their tensors are called

BERT = {"words": "embeddings.word_embeddings", "places": "embeddings.position_embeddings",
        "types": "embeddings.token_type_embeddings", "norm": "embeddings.LayerNorm", "layer": "encoder.layer.",
        "attention": {part: "attention." + name for part, name in
                      {"q": "self.query", "k": "self.key", "v": "self.value", "o": "output.dense"}.items()},
        "norm_1": "attention.output.LayerNorm", "inner": "intermediate.dense", "outer": "output.dense",
        "norm_2": "output.LayerNorm"}
DISTILBERT = {**BERT, "types": None, "layer": "transformer.layer.",
              "attention": {part: f"attention.{name}_lin" for part, name in
                            {"q": "q", "k": "k", "v": "v", "o": "out"}.items()},
              "norm_1": "sa_layer_norm", "inner": "ffn.lin1", "outer": "ffn.lin2", "norm_2": "output_layer_norm"}
FAMILIES = {
    "bert": {"names": BERT, "before": "bert.", "epsilon": 1e-12, "first": 0, "dense": "cls.predictions.transform.dense",
             "head_norm": "cls.predictions.transform.LayerNorm", "bias": "cls.predictions.bias",
             "decoder": "cls.predictions.decoder", "types": 2, "activation": "hidden_act"},
    "roberta": {"names": BERT, "before": "roberta.", "epsilon": 1e-5, "first": 2, "dense": "lm_head.dense",
                "head_norm": "lm_head.layer_norm", "bias": "lm_head.bias", "decoder": "lm_head.decoder", "types": 1,
                "activation": "hidden_act"},
    "distilbert": {"names": DISTILBERT, "before": "distilbert.", "epsilon": 1e-12, "first": 0,
                   "dense": "vocab_transform", "head_norm": "vocab_layer_norm", "bias": "vocab_projector.bias",
                   "decoder": "vocab_projector", "types": 0, "activation": "activation"},
}


def encoded(model, case, ids, types):
    family, d = FAMILIES[case["family"]], case["d_model"]
    names, before, epsilon = family["names"], family["before"] if case["head"] else "", family["epsilon"]
    n = len(ids)
    x = model.tensor(before + names["words"] + ".weight", case["words"], d)[ids]
    if family["types"]:
        x = x + model.tensor(before + names["types"] + ".weight", family["types"], d)[types]
    places = model.tensor(before + names["places"] + ".weight", case["places"] + family["first"], d)
    x = x + places[family["first"]:family["first"] + n]
    x = model.layer_norm(before + names["norm"], x, epsilon)
    how = {"heads": case["heads"], "d_k": d // case["heads"], "divisor": math.sqrt(d // case["heads"]),
           "causal": case.get("causal")}
    for i in range(case["layers"]):
        layer, place = f"{before}{names['layer']}{i}.", f"encoder.{i + 1}"
        attention = {part: layer + name for part, name in names["attention"].items()}
        found = model.attention(place + ".self_attention", attention, x, x, how)
        x = model.layer_norm(layer + names["norm_1"], x + found, epsilon)
        inner = ACTIVATIONS[case["act"]](model.linear(layer + names["inner"], x, case["d_ff"]))
        x = model.layer_norm(layer + names["norm_2"], x + model.linear(layer + names["outer"], inner, d), epsilon)
        model.found[f"{place}.norm_2.output"] = x
    model.found["encoder.output"] = x
    if case["head"]:
        x = ACTIVATIONS[case["act"]](model.linear(family["dense"], x, d))
        x = model.layer_norm(family["head_norm"], x, epsilon)
        words = model.tensors[before + names["words"] + ".weight"]
        if case["head"] == "own":
            words = model.tensor(family["decoder"] + ".weight", case["words"], d)
        if case["head"] == "saved twice":
            model.tensors[family["decoder"] + ".weight"] = words
        model.found["logits"] = x @ words.T + model.tensor(family["bias"], case["words"])


def beside(model, case):
    """What real files have as well, and what changes nothing."""
    d, before = case["d_model"], FAMILIES[case["family"]]["before"] if case["head"] else ""
    if case["family"] == "distilbert":
        return
    model.tensors[before + "embeddings.position_ids"] = torch.arange(case["places"])[None].double()
    model.tensor(before + "pooler.dense.weight", d, d)
    model.tensor(before + "pooler.dense.bias", d)
    if case["family"] == "bert" and case["head"]:
        model.tensor("cls.seq_relationship.weight", 2, d)
        model.tensor("cls.seq_relationship.bias", 2)


def save(folder, config, model, old_names=False):
    (folder / "config.json").write_text(json.dumps(config))
    def called(name):
        if not old_names:
            return name
        return re.sub(r"LayerNorm\.(weight|bias)$",
                      lambda found: "LayerNorm." + {"weight": "gamma", "bias": "beta"}[found[1]], name)
    save_safetensors(folder / "model.safetensors",
                     {called(name): tensor.numpy() for name, tensor in model.tensors.items()})


def run(attn, folder, command, *options):
    found = folder / "found.npz"
    subprocess.run([attn, command, "--model", folder, *options, "--format", "npz", "--output", found], check=True,
                   stdout=subprocess.DEVNULL)
    return np.load(found)


def in_numpy(model):
    return {name: tensor.numpy() for name, tensor in model.found.items()}


def text_of(ids):
    return " ".join(str(int(id)) for id in ids)


def compared_encoder(attn, folder, case):
    family, model, n = FAMILIES[case["family"]], Model(), case["n"]
    ids = torch.randint(case["words"], (n,))
    first = n // 2 if family["types"] > 1 and n > 1 else n
    types = (torch.arange(n) >= first).long()
    encoded(model, case, ids, types)
    beside(model, case)
    heads = "n_heads" if case["family"] == "distilbert" else "num_attention_heads"
    config = {"model_type": case["family"], heads: case["heads"], family["activation"]: case["act"]}
    if case["family"] == "roberta":
        config |= {"layer_norm_eps": 1e-5, "pad_token_id": 1}
    if case["family"] == "bert" and case.get("causal"):
        config |= {"is_decoder": True, "position_embedding_type": "absolute"}
    save(folder, config, model, case.get("old_names"))
    texts = [part for part in (ids[:first], ids[first:]) if len(part)]
    ours = run(attn, folder, "encoder", *(word for part in texts for word in ("--text", text_of(part))))
    return distances(in_numpy(model), ours)


# --- T5

def bucket_of(distance, both_ways, count, longest):
    """As the reference implementation has it, in single precision."""
    bucket = torch.zeros_like(distance)
    if both_ways:
        count //= 2
        bucket = bucket + (distance > 0).long() * count
        distance = distance.abs()
    else:
        distance = -torch.min(distance, torch.zeros_like(distance))
    exact = count // 2
    large = exact + (torch.log(distance.float() / exact) / math.log(longest / exact) * (count - exact)).long()
    large = torch.min(large, torch.full_like(large, count - 1))
    return bucket + torch.where(distance < exact, distance, large)


def relative(model, name, n, both_ways, case):
    places = torch.arange(n)
    table = model.tensor(name + ".relative_attention_bias.weight", case["buckets"], case["heads"])
    return table[bucket_of(places[None, :] - places[:, None], both_ways, case["buckets"], case["longest"])].permute(2, 0, 1)


def t5_feed_forward(model, name, x, case):
    activation = ACTIVATIONS[case["act"]]
    if not case["gated"]:
        return model.linear(name + ".wo", activation(model.linear(name + ".wi", x, case["d_ff"], False)), x.shape[1], False)
    inner = activation(model.linear(name + ".wi_0", x, case["d_ff"], False)) * model.linear(name + ".wi_1", x, case["d_ff"], False)
    return model.linear(name + ".wo", inner, x.shape[1], False)


def t5_stack(model, side, ids, memory, case):
    d, n, crosses = case["d_model"], len(ids), memory is not None
    x = model.tensor("shared.weight", case["words"], d)[ids]
    how = {"heads": case["heads"], "d_k": case["d_k"], "divisor": 1.0, "biases": False}
    of_self = {**how, "causal": crosses,
               "relative": relative(model, f"{side}.block.0.layer.0.SelfAttention", n, not crosses, case)}
    for i in range(case["layers"]):
        block, place = f"{side}.block.{i}.layer.", f"{side}.{i + 1}"
        def names(part, kind):
            return {letter: f"{block}{part}.{kind}.{letter}" for letter in "qkvo"}
        y = model.rms_norm(f"{block}0.layer_norm", x, 1e-6)
        x = x + model.attention(place + ".self_attention", names(0, "SelfAttention"), y, y, of_self)
        if crosses:
            y = model.rms_norm(f"{block}1.layer_norm", x, 1e-6)
            x = x + model.attention(place + ".cross_attention", names(1, "EncDecAttention"), y, memory, how)
        last = 2 if crosses else 1
        y = model.rms_norm(f"{block}{last}.layer_norm", x, 1e-6)
        x = x + t5_feed_forward(model, f"{block}{last}.DenseReluDense", y, case)
        model.found[f"{place}.sum_{last + 1}"] = x
    x = model.rms_norm(f"{side}.final_layer_norm", x, 1e-6)
    model.found[f"{side}.output"] = x
    return x


def t5_logits(model, last, case):
    if case["tied"]:
        return last * case["d_model"] ** -0.5 @ model.tensors["shared.weight"].T
    return model.linear("lm_head", last, case["words"], False)


# --- BART

def bart_stack(model, side, ids, memory, case):
    d, n, crosses, before = case["d_model"], len(ids), memory is not None, f"model.{side}."
    x = model.tensor("model.shared.weight", case["words"], d)[ids]
    if case["scaled"]:
        x = x * math.sqrt(d)
    x = x + model.tensor(before + "embed_positions.weight", case["places"] + 2, d)[2:2 + n]
    x = model.layer_norm(before + "layernorm_embedding", x, 1e-5)
    how = {"heads": case["heads"], "d_k": d // case["heads"], "divisor": math.sqrt(d // case["heads"])}
    for i in range(case["layers"]):
        layer, place = f"{before}layers.{i}.", f"{side}.{i + 1}"
        def names(part):
            return {letter: f"{layer}{part}.{name}_proj" for letter, name in
                    {"q": "q", "k": "k", "v": "v", "o": "out"}.items()}
        found = model.attention(place + ".self_attention", names("self_attn"), x, x, {**how, "causal": crosses})
        x = model.layer_norm(layer + "self_attn_layer_norm", x + found, 1e-5)
        if crosses:
            found = model.attention(place + ".cross_attention", names("encoder_attn"), x, memory, how)
            x = model.layer_norm(layer + "encoder_attn_layer_norm", x + found, 1e-5)
        inner = ACTIVATIONS[case["act"]](model.linear(layer + "fc1", x, case["d_ff"]))
        x = model.layer_norm(layer + "final_layer_norm", x + model.linear(layer + "fc2", inner, d), 1e-5)
        model.found[f"{place}.norm_{3 if crosses else 2}.output"] = x
    model.found[f"{side}.output"] = x
    return x


def bart_logits(model, last, case):
    return last @ model.tensors["model.shared.weight"].T + model.tensor("final_logits_bias", 1, case["words"])


# --- both

SIDES = {"t5": (t5_stack, t5_logits), "bart": (bart_stack, bart_logits)}


def config_of(case):
    if case["family"] == "t5":
        act = {"relu": "relu", "gelu_new": "gated-gelu"}[case["act"]]
        return {"model_type": "t5", "num_heads": case["heads"], "d_kv": case["d_k"], "d_model": case["d_model"],
                "relative_attention_num_buckets": case["buckets"], "relative_attention_max_distance": case["longest"],
                "feed_forward_proj": act, "tie_word_embeddings": case["tied"], "layer_norm_epsilon": 1e-6,
                "decoder_start_token_id": 0}
    return {"model_type": "bart", "encoder_attention_heads": case["heads"], "decoder_attention_heads": case["heads"],
            "activation_function": case["act"], "scale_embedding": case["scaled"], "decoder_start_token_id": 2,
            "normalize_before": False}


def compared_both(attn, folder, case):
    stack, logits = SIDES[case["family"]]
    model = Model()
    source, target = torch.randint(case["words"], (case["n"],)), torch.randint(case["words"], (case["m"],))
    target[0] = config_of(case)["decoder_start_token_id"]
    memory = stack(model, "encoder", source, None, case)
    model.found["logits"] = logits(model, stack(model, "decoder", target, memory, case), case)
    theirs = in_numpy(model)
    shared = "shared.weight" if case["family"] == "t5" else "model.shared.weight"
    if case.get("saved twice"):
        before = shared.removesuffix("shared.weight")
        for side in ("encoder", "decoder"):
            model.tensors[f"{before}{side}.embed_tokens.weight"] = model.tensors[shared]
        if case.get("tied", True):
            model.tensors["lm_head.weight"] = model.tensors[shared]
    save(folder, config_of(case), model)
    apart = distances(theirs, run(attn, folder, "transformer", "--source", text_of(source), "--target", text_of(target)))
    # What it writes, one word after another, with what the decoder remembers.
    steps, words = 6, [config_of(case)["decoder_start_token_id"]]
    for _ in range(steps):
        last = stack(model, "decoder", torch.tensor(words), memory, case)
        words.append(int(logits(model, last, case)[-1].argmax()))
    ours = run(attn, folder, "generate", "--source", text_of(source), "--steps", str(steps))
    for step in range(steps):
        distribution = ours[f"step.{step + 1}.distribution"]
        apart[f"word {step + 1}"] = 0.0 if int(distribution[-1].argmax()) == words[step + 1] else float("inf")
    return apart


# --- ViT: patches are rows of pixels, channel after channel

def compared_vit(attn, folder, case):
    d, before, model = case["d_model"], "vit." if case["classes"] else "", Model()
    side, channels = 2, 3
    kernel = model.tensor(before + "embeddings.patch_embeddings.projection.weight", d, channels, side, side)
    bias = model.tensor(before + "embeddings.patch_embeddings.projection.bias", d)
    image = torch.randn(1, channels, side * case["n"], side, dtype=torch.float64)
    patches = functional.conv2d(image, kernel, bias, stride=side)[0].flatten(1).T
    x = torch.cat([model.tensor(before + "embeddings.cls_token", 1, 1, d)[0], patches])
    x = x + model.tensor(before + "embeddings.position_embeddings", 1, case["n"] + 1, d)[0]
    how = {"heads": case["heads"], "d_k": d // case["heads"], "divisor": math.sqrt(d // case["heads"])}
    for i in range(case["layers"]):
        layer, place = f"{before}encoder.layer.{i}.", f"encoder.{i + 1}"
        names = {part: f"{layer}attention.{name}" for part, name in
                 {"q": "attention.query", "k": "attention.key", "v": "attention.value", "o": "output.dense"}.items()}
        y = model.layer_norm(layer + "layernorm_before", x, 1e-12)
        x = x + model.attention(place + ".self_attention", names, y, y, how)
        y = model.layer_norm(layer + "layernorm_after", x, 1e-12)
        inner = functional.gelu(model.linear(layer + "intermediate.dense", y, case["d_ff"]))
        x = x + model.linear(layer + "output.dense", inner, d)
        model.found[f"{place}.sum_2"] = x
    x = model.layer_norm(before + "layernorm", x, 1e-12)
    model.found["encoder.output"] = x
    if case["classes"]:
        model.found["logits"] = model.linear("classifier", x[:1], case["classes"])
    save(folder, {"model_type": "vit", "num_attention_heads": case["heads"], "hidden_act": "gelu", "qkv_bias": True}, model)
    rows = functional.unfold(image, side, stride=side)[0].T
    np.savetxt(folder / "patches.csv", rows.numpy(), delimiter=",", fmt="%.17g")
    return distances(in_numpy(model), run(attn, folder, "encoder", "--x", folder / "patches.csv"))


# --- cases

SIZES = [(8, 2, 1, 3), (12, 4, 3, 7), (16, 1, 2, 1)]  # d_model, heads, layers, words


def encoder_cases():
    seed = 0
    for family in FAMILIES:
        for head in ("tied", "saved twice", "own", None):
            for d_model, heads, layers, n in SIZES:
                seed += 1
                yield {"family": family, "head": head, "d_model": d_model, "heads": heads, "layers": layers, "n": n,
                       "d_ff": 10, "words": 11, "places": 9, "act": "gelu", "seed": seed,
                       "causal": family == "bert" and seed % 2 == 0,
                       "old_names": family == "bert" and head != "own" and layers == 3}


def both_cases():
    seed = 100
    for act, tied in (("relu", True), ("gelu_new", False)):
        for d_model, heads, layers, n, m in [(8, 2, 1, 3, 2), (6, 4, 2, 7, 5), (8, 1, 2, 160, 90)]:
            seed += 1
            yield {"family": "t5", "act": act, "gated": act == "gelu_new", "tied": tied, "d_model": d_model, "d_k": 5,
                   "heads": heads, "layers": layers, "n": n, "m": m, "d_ff": 10, "words": 13,
                   "buckets": 32 if n > 100 else 8, "longest": 128 if n > 100 else 5, "seed": seed,
                   "saved twice": layers == 2}
    for scaled in (False, True):
        for d_model, heads, layers, n, m in [(8, 2, 1, 3, 2), (12, 4, 2, 7, 5), (8, 1, 3, 1, 1)]:
            seed += 1
            yield {"family": "bart", "act": "gelu", "scaled": scaled, "d_model": d_model, "heads": heads,
                   "layers": layers, "n": n, "m": m, "d_ff": 10, "words": 13, "places": 12, "seed": seed,
                   "saved twice": layers == 2}


def vit_cases():
    for seed, (d_model, heads, layers, n) in enumerate(SIZES, 200):
        for classes in (0, 5):
            yield {"d_model": d_model, "heads": heads, "layers": layers, "n": n, "d_ff": 10, "classes": classes, "seed": seed}


if __name__ == "__main__":
    parity.main([(compared_encoder, encoder_cases()), (compared_both, both_cases()), (compared_vit, vit_cases())])
