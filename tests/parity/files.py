"""Parity of the files of models: one tiny GPT-2, and one model of llama2.c, in each format in which models lie on disk,
run by attn, and what they compute compared with PyTorch. The numbers are rounded to the type of the file first.

    python3 files.py ATTN
"""
import json
import pathlib
import struct
import subprocess

import gpt2
import parity
from parity import distances, np, torch

BLOCK = 32


def rounded_q8(tensor):
    """As GGUF's Q8_0 has it: blocks of a row have a factor of 16 bits and whole numbers of 8."""
    rows = tensor.reshape(-1, BLOCK).float()
    factor = (rows.abs().amax(dim=1, keepdim=True) / 127).half()
    whole = torch.where(factor == 0, torch.zeros_like(rows), rows / factor.float()).round().clamp(-127, 127)
    return factor, whole.to(torch.int8), (factor.double() * whole.double()).reshape(tensor.shape)


TYPES = {"F64": torch.float64, "F32": torch.float32, "F16": torch.float16, "BF16": torch.bfloat16}


def rounded(tensor, type_name):
    if type_name == "Q8_0":
        return rounded_q8(tensor)[2] if tensor.dim() == 2 else tensor.float().double()
    return tensor.to(TYPES[type_name]).double()


def raw(tensor):
    tensor = tensor.contiguous()
    return tensor.view(torch.int16).numpy().tobytes() if tensor.dtype == torch.bfloat16 else tensor.numpy().tobytes()


def write_safetensors(path, tensors, type_name):
    header, data = {}, b""
    for name, tensor in tensors.items():
        numbers = raw(tensor.to(TYPES[type_name]))
        header[name] = {"dtype": type_name, "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def typed(tensors, type_name):
    return {name: tensor.to(TYPES[type_name]) for name, tensor in tensors.items()}


# --- GGUF

GGUF_TYPES = {"F32": 0, "F16": 1, "Q8_0": 8, "F64": 28, "BF16": 30}
GGUF_NAMES = {"wte": "token_embd", "wpe": "position_embd", "ln_f": "output_norm", "ln_1": "attn_norm", "ln_2": "ffn_norm",
              "attn.c_attn": "attn_qkv", "attn.c_proj": "attn_output", "mlp.c_fc": "ffn_up", "mlp.c_proj": "ffn_down"}


def gguf_text(text):
    return struct.pack("<Q", len(text)) + text.encode()


def gguf_value(value):
    if isinstance(value, str):
        return struct.pack("<I", 8) + gguf_text(value)
    if isinstance(value, float):
        return struct.pack("<If", 6, value)
    if isinstance(value, list):
        return struct.pack("<IIQ", 9, 8, len(value)) + b"".join(gguf_text(text) for text in value)
    return struct.pack("<II", 4, value)


def write_gguf(path, metadata, tensors, type_name):
    """Vectors are single precision there, whatever maps are."""
    head = b"GGUF" + struct.pack("<IQQ", 3, len(tensors), len(metadata))
    for name, value in metadata.items():
        head += gguf_text(name) + gguf_value(value)
    data = b""
    for name, tensor in tensors.items():
        own = type_name if tensor.dim() == 2 else "F32"
        head += gguf_text(name) + struct.pack("<I", tensor.dim())
        head += b"".join(struct.pack("<Q", size) for size in reversed(tensor.shape))
        head += struct.pack("<IQ", GGUF_TYPES[own], len(data))
        if own == "Q8_0":
            factor, whole, _ = rounded_q8(tensor)
            data += b"".join(raw(f) + raw(w) for f, w in zip(factor, whole))
        else:
            data += raw(tensor.to(TYPES[own]))
        data += b"\0" * (-len(data) % 32)
    path.write_bytes(head + b"\0" * (-len(head) % 32) + data)


def gguf_name(name):
    stem, _, leaf = name.rpartition(".")
    if not stem.startswith("h."):
        return f"{GGUF_NAMES[stem]}.{leaf}"
    _, layer, part = stem.split(".", 2)
    return f"blk.{layer}.{GGUF_NAMES[part]}.{leaf}"


# --- formats

def config_of(case):
    return json.dumps({"model_type": "gpt2", "n_head": case["heads"], "layer_norm_epsilon": 1e-5,
                       "activation_function": "gelu_new"})


def in_one_file(folder, case, tensors):
    write_safetensors(folder / "model.safetensors", tensors, case["type"])


def in_shards(folder, case, tensors):
    names = list(tensors)
    parts = [names[i::3] for i in range(3)]
    files = [f"model-{i:05}-of-00003.safetensors" for i in (1, 2, 3)]
    for file, part in zip(files, parts):
        write_safetensors(folder / file, {name: tensors[name] for name in part}, case["type"])
    index = {"metadata": {}, "weight_map": {name: file for file, part in zip(files, parts) for name in part}}
    (folder / "model.safetensors.index.json").write_text(json.dumps(index))


def in_bin(folder, case, tensors):
    torch.save(typed(tensors, case["type"]), folder / "pytorch_model.bin")


def in_bin_shards(folder, case, tensors):
    names = list(tensors)
    parts = [names[i::2] for i in range(2)]
    files = [f"pytorch_model-{i:05}-of-00002.bin" for i in (1, 2)]
    for file, part in zip(files, parts):
        torch.save(typed({name: tensors[name] for name in part}, case["type"]), folder / file)
    index = {"weight_map": {name: file for file, part in zip(files, parts) for name in part}}
    (folder / "pytorch_model.bin.index.json").write_text(json.dumps(index))


def in_module(folder, case, tensors):
    """Parameters, tied and viewed: the maps are transposed views of others, and two names have one storage."""
    state = {}
    for name, tensor in typed(tensors, case["type"]).items():
        is_map = name.startswith("h.") and tensor.dim() == 2
        state[name] = tensor.T.contiguous().T if is_map else torch.nn.Parameter(tensor)
    state["lm_head.weight"] = state["wte.weight"]
    torch.save(state, folder / "pytorch_model.bin")


def in_gguf(folder, case, tensors):
    converted = {gguf_name(name): tensor.T if name.startswith("h.") and tensor.dim() == 2 else tensor
                 for name, tensor in tensors.items()}
    write_gguf(folder / "model.gguf",
               {"general.architecture": "gpt2", "general.name": "tiny", "gpt2.attention.head_count": case["heads"],
                "gpt2.attention.layer_norm_epsilon": 1e-5, "tokenizer.ggml.tokens": ["a", "b"]},
               converted, case["type"])
    return folder / "model.gguf"


def rounded_as(case, write, tensors):
    """What the file will hold. Blocks of Q8_0 lie along the rows that it has, which are the columns of Conv1D's maps."""
    if write is not in_gguf:
        return {name: rounded(tensor, case["type"]) for name, tensor in tensors.items()}
    turned = {name: tensor.T if name.startswith("h.") and tensor.dim() == 2 else tensor for name, tensor in tensors.items()}
    kept = {name: rounded(t, case["type"]) if t.dim() == 2 else t.float().double() for name, t in turned.items()}
    return {name: t.T if name.startswith("h.") and t.dim() == 2 else t for name, t in kept.items()}


def compared_gpt2(attn, folder, case):
    write = case["write"]
    tensors = rounded_as(case, write, gpt2.tensors_of(case))
    model = write(folder, case, tensors) or folder
    if model == folder:
        (folder / "config.json").write_text(config_of(case))
    ids = torch.randint(case["words"], (case["n"],))
    epsilon_of_single = 1e-5 if write is not in_gguf else float(np.float32(1e-5))
    gpt2.EPSILON = epsilon_of_single
    theirs = gpt2.run(tensors, tensors["wte.weight"], ids, case)
    return distances(theirs, run_ours(attn, folder, model, ids))


def run_ours(attn, folder, model, ids):
    found = folder / "found.npz"
    subprocess.run([attn, "transformer", "--model", model, "--target", " ".join(str(int(id)) for id in ids),
                    "--format", "npz", "--output", found], check=True, stdout=subprocess.DEVNULL)
    return np.load(found)


def compared_nested(attn, folder, case):
    """A checkpoint of a training script: what stands beside the model is left out."""
    tensors = {name: rounded(tensor, case["type"]) for name, tensor in gpt2.tensors_of(case).items()}
    file = folder / "ckpt.pt"
    state = typed({"_orig_mod.transformer." + name: tensor for name, tensor in tensors.items()}, case["type"])
    torch.save({"optimizer": {"state": {0: {"exp_avg": torch.zeros(3)}}, "param_groups": [{"lr": 1e-3, "betas": (0.9, 0.95)}]},
                "iter_num": 5000, "best_val_loss": torch.tensor(1.5), "config": {"dropout": 0.0, "compile": True},
                case["name"]: state}, file)
    ids = torch.randint(case["words"], (case["n"],))
    words, found = " ".join(str(int(id)) for id in ids), folder / "found.npz"
    subprocess.run([attn, "transformer", "--parameters", file, "--heads", str(case["heads"]), "--target", words,
                    "--format", "npz", "--output", found], check=True, stdout=subprocess.DEVNULL)
    gpt2.EPSILON = 1e-5
    return distances(gpt2.run(tensors, tensors["wte.weight"], ids, case), np.load(found))


# --- Llama, with neighbors rotated, as llama2.c and GGUF have it

LLAMA = {"d_model": 64, "d_ff": 96, "layers": 2, "heads": 4, "key_heads": 2, "words": 11, "places": 8, "n": 5}


def tensors_of_llama(case):
    """Maps as (out, in), by the names of GGUF."""
    d, inner, keys = case["d_model"], case["d_ff"], case["d_model"] // case["heads"] * case["key_heads"]
    shapes = {"token_embd": (case["words"], d), "output_norm": (d,)}
    for i in range(case["layers"]):
        of_layer = {"attn_norm": (d,), "attn_q": (d, d), "attn_k": (keys, d), "attn_v": (keys, d), "attn_output": (d, d),
                    "ffn_norm": (d,), "ffn_gate": (inner, d), "ffn_down": (d, inner), "ffn_up": (inner, d)}
        shapes.update({f"blk.{i}.{name}": shape for name, shape in of_layer.items()})
    if not case["tied"]:
        shapes["output"] = (case["words"], d)
    return {name: torch.randn(shape, dtype=torch.float64) * 0.3 for name, shape in shapes.items()}


def rotated_pairs(x, size):
    """Each pair of neighbors is turned by its position times its frequency."""
    n, width = x.shape
    angles = torch.outer(torch.arange(n, dtype=torch.float64), 10000.0 ** (-torch.arange(0, size, 2, dtype=torch.float64) / size))
    turned = torch.view_as_complex(x.reshape(n, width // size, size // 2, 2)) * torch.polar(torch.ones_like(angles), angles)[:, None]
    return torch.view_as_real(turned).reshape(n, width)


def run_llama(tensors, ids, case, epsilon):
    size, n, found = case["d_model"] // case["heads"], len(ids), {}
    later = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)

    def norm(name, x):
        return x / (x.pow(2).mean(dim=1, keepdim=True) + epsilon).sqrt() * tensors[name]

    x = tensors["token_embd"][ids]
    for i in range(case["layers"]):
        def linear(name, x, i=i):
            return x @ tensors[f"blk.{i}.{name}"].T

        inner = norm(f"blk.{i}.attn_norm", x)
        q, k, v = rotated_pairs(linear("attn_q", inner), size), rotated_pairs(linear("attn_k", inner), size), linear("attn_v", inner)
        outputs, share = [], case["heads"] // case["key_heads"]
        for h in range(case["heads"]):
            q_h, k_h, v_h = q.split(size, 1)[h], k.split(size, 1)[h // share], v.split(size, 1)[h // share]
            weights = torch.softmax((q_h @ k_h.T / size ** 0.5).masked_fill(later, float("-inf")), dim=1)
            outputs.append(weights @ v_h)
            found[f"decoder.{i + 1}.self_attention.head.{h + 1}.weights"] = weights
        x = x + linear("attn_output", torch.cat(outputs, dim=1))
        inner = norm(f"blk.{i}.ffn_norm", x)
        x = x + linear("ffn_down", torch.nn.functional.silu(linear("ffn_gate", inner)) * linear("ffn_up", inner))
        found[f"decoder.{i + 1}.sum_2"] = x
    found["decoder.output"] = norm("output_norm", x)
    found["logits"] = found["decoder.output"] @ tensors["token_embd" if case["tied"] else "output"].T
    return {name: tensor.numpy() for name, tensor in found.items()}


def llama_in_gguf(folder, case, tensors):
    write_gguf(folder / "llama.gguf",
               {"general.architecture": "llama", "llama.attention.head_count": case["heads"],
                "llama.attention.head_count_kv": case["key_heads"], "llama.attention.layer_norm_rms_epsilon": 1e-5,
                "llama.rope.freq_base": 10000.0, "llama.rope.dimension_count": case["d_model"] // case["heads"],
                "llama.embedding_length": case["d_model"], "llama.block_count": case["layers"]},
               {name + ".weight": tensor for name, tensor in tensors.items()}, case["type"])
    return folder / "llama.gguf"


LLAMA2C_ORDER = ["attn_norm", "attn_q", "attn_k", "attn_v", "attn_output", "ffn_norm", "ffn_gate", "ffn_down", "ffn_up"]


def llama_in_llama2c(folder, case, tensors):
    words = case["words"] if case["tied"] else -case["words"]
    data = struct.pack("<7i", case["d_model"], case["d_ff"], case["layers"], case["heads"], case["key_heads"], words,
                       case["places"])
    names = ["token_embd"] + [f"blk.{i}.{name}" for name in LLAMA2C_ORDER for i in range(case["layers"])] + ["output_norm"]
    for name in names:
        data += raw(tensors[name].float())
    data += bytes(2 * 4 * case["places"] * (case["d_model"] // case["heads"] // 2))
    if not case["tied"]:
        data += raw(tensors["output"].float())
    (folder / "model.bin").write_bytes(data)
    return folder / "model.bin"


def compared_llama(attn, folder, case):
    tensors = {name: rounded(t, case["type"]) if t.dim() == 2 else t.float().double()
               for name, t in tensors_of_llama(case).items()}
    model = case["write"](folder, case, tensors)
    ids = torch.randint(case["words"], (case["n"],))
    epsilon = float(np.float32(1e-5)) if case["write"] is llama_in_gguf else 1e-5
    return distances(run_llama(tensors, ids, case, epsilon), run_ours(attn, folder, model, ids))


def llama_cases():
    for seed, tied in enumerate((True, False)):
        yield {**LLAMA, "write": llama_in_llama2c, "type": "F32", "tied": tied, "seed": seed}
        for type_name in GGUF_TYPES:
            yield {**LLAMA, "write": llama_in_gguf, "type": type_name, "tied": tied, "seed": seed}


SIZES = {"d_model": 32, "heads": 2, "layers": 2, "n": 5, "words": 11, "places": 8}


def cases():
    for seed, write in enumerate((in_one_file, in_shards, in_bin, in_bin_shards, in_module)):
        for type_name in TYPES:
            yield {**SIZES, "write": write, "type": type_name, "seed": seed}
    for type_name in GGUF_TYPES:
        yield {**SIZES, "write": in_gguf, "type": type_name, "seed": 9}


def nested_cases():
    for seed, name in enumerate(("model", "state_dict", "model_state_dict")):
        yield {**SIZES, "name": name, "type": "BF16", "seed": seed}


if __name__ == "__main__":
    parity.main([(compared_gpt2, cases()), (compared_nested, nested_cases()), (compared_llama, llama_cases())])
