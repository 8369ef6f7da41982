"""Parity with GPT-2: tiny models in plain PyTorch, saved under the names of Hugging Face and of minGPT, run by attn, and
the hidden states, the attention weights and the logits compared.

    python3 gpt2.py ATTN
"""
import subprocess

import parity
from parity import FILES, distances, np, torch
from torch.nn import functional

EPSILON = 1e-5


def tensors_of(case):
    """Everything as Hugging Face's Conv1D has it, (in, out), by names without `transformer.`."""
    d, layers, words, places = case["d_model"], case["layers"], case["words"], case["places"]
    shapes = {"wte.weight": (words, d), "wpe.weight": (places, d), "ln_f.weight": (d,), "ln_f.bias": (d,)}
    for i in range(layers):
        of_layer = {"ln_1.weight": (d,), "ln_1.bias": (d,), "attn.c_attn.weight": (d, 3 * d),
                    "attn.c_attn.bias": (3 * d,), "attn.c_proj.weight": (d, d), "attn.c_proj.bias": (d,),
                    "ln_2.weight": (d,), "ln_2.bias": (d,), "mlp.c_fc.weight": (d, 4 * d), "mlp.c_fc.bias": (4 * d,),
                    "mlp.c_proj.weight": (4 * d, d), "mlp.c_proj.bias": (d,)}
        shapes.update({f"h.{i}.{name}": shape for name, shape in of_layer.items()})
    return {name: torch.randn(shape, dtype=torch.float64) * 0.5 for name, shape in shapes.items()}


def run(tensors, head, ids, case):
    """What attn should find, by its names."""
    d, heads = case["d_model"], case["heads"]
    n, found = len(ids), {}
    later = torch.triu(torch.ones(n, n, dtype=torch.bool), diagonal=1)

    def norm(name, x):
        return functional.layer_norm(x, (d,), tensors[name + ".weight"], tensors[name + ".bias"], EPSILON)

    def linear(name, x):
        return x @ tensors[name + ".weight"] + tensors[name + ".bias"]

    x = tensors["wte.weight"][ids] + tensors["wpe.weight"][:n]
    for i in range(case["layers"]):
        q, k, v = linear(f"h.{i}.attn.c_attn", norm(f"h.{i}.ln_1", x)).split(d, dim=1)
        outputs = []
        for h, (q_h, k_h, v_h) in enumerate(zip(*(part.split(d // heads, dim=1) for part in (q, k, v)))):
            scores = (q_h @ k_h.T / (d // heads) ** 0.5).masked_fill(later, float("-inf"))
            weights = torch.softmax(scores, dim=1)
            outputs.append(weights @ v_h)
            found[f"decoder.{i + 1}.self_attention.head.{h + 1}.weights"] = weights
        x = x + linear(f"h.{i}.attn.c_proj", torch.cat(outputs, dim=1))
        inner = functional.gelu(linear(f"h.{i}.mlp.c_fc", norm(f"h.{i}.ln_2", x)), approximate="tanh")
        x = x + linear(f"h.{i}.mlp.c_proj", inner)
        found[f"decoder.{i + 1}.sum_2"] = x
    found["decoder.output"] = norm("ln_f", x)
    found["logits"] = found["decoder.output"] @ head.T
    return {name: tensor.numpy() for name, tensor in found.items()}


def saved_as(case, tensors, head):
    """The state dictionary under the names of a library, with the buffers that it has."""
    names = case["names"]
    n, is_conv = case["places"], names != "minGPT"
    state = {}
    for name, tensor in tensors.items():
        is_map = name.startswith("h.") and tensor.dim() == 2
        state[name] = tensor if is_conv or not is_map else tensor.T.contiguous()
    for i in range(case["layers"]):
        state[f"h.{i}.attn.bias"] = torch.tril(torch.ones(1, 1, n, n, dtype=torch.float64))
        if is_conv:
            state[f"h.{i}.attn.masked_bias"] = torch.tensor(-1e4, dtype=torch.float64)
    if names != "without prefix":
        state = {"transformer." + name: tensor for name, tensor in state.items()}
    if names in ("with head", "minGPT"):
        state["lm_head.weight"] = head
    return {name: tensor.numpy() for name, tensor in state.items()}


def compared(attn, folder, case):
    tensors = tensors_of(case)
    is_tied = case["names"] != "minGPT"
    head = tensors["wte.weight"] if is_tied else torch.randn_like(tensors["wte.weight"])
    ids = torch.randint(case["words"], (case["n"],))
    file = folder / ("gpt2" + case["ending"])
    FILES[case["ending"]](file, saved_as(case, tensors, head))
    words = " ".join(str(int(id)) for id in ids)
    found = folder / "found.npz"
    subprocess.run([attn, "transformer", "--parameters", file, "--heads", str(case["heads"]), "--target", words,
                    "--format", "npz", "--output", found], check=True, stdout=subprocess.DEVNULL)
    return distances(run(tensors, head, ids, case), np.load(found))


def cases():
    seed = 0
    for names in ("with head", "without head", "without prefix", "minGPT"):
        for ending in FILES:
            for d_model, heads, layers, n in [(8, 2, 1, 3), (12, 4, 3, 7), (32, 2, 2, 1)]:
                seed += 1
                yield {"names": names, "ending": ending, "d_model": d_model, "heads": heads, "layers": layers, "n": n,
                       "words": 11, "places": 8, "seed": seed}


if __name__ == "__main__":
    parity.main([(compared, cases())])
