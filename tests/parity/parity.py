"""Parity with PyTorch: random modules in double precision, saved as .safetensors and .npz, run by attn, and every
intermediate value that PyTorch exposes compared: what each of its modules returns, and the attention weights.

    python3 parity.py ATTN

ends with 0 where all agree to 1e-9, with 1 where something differs, and with 77 where PyTorch or NumPy is absent.
"""
import json
import pathlib
import struct
import subprocess
import sys
import tempfile

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError as absent:
    print(f"skipped: this test needs python3-torch and python3-numpy ({absent})")
    sys.exit(77)

TOLERANCE = 1e-9


def save_safetensors(path, tensors):
    """Eight bytes that tell the length of the header, the header as JSON, and all numbers, one tensor after another."""
    header, data = {}, b""
    for name, tensor in tensors.items():
        numbers = np.ascontiguousarray(tensor).tobytes()
        header[name] = {"dtype": "F64", "shape": list(tensor.shape), "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    path.write_bytes(struct.pack("<Q", len(text)) + text + data)


def save_npz(path, tensors):
    np.savez(path, **tensors)


FILES = {".safetensors": save_safetensors, ".npz": save_npz}


def save(folder, case, module):
    file = folder / ("module" + case["ending"])
    FILES[case["ending"]](file, {name: tensor.numpy() for name, tensor in module.state_dict().items()})
    return file


class Listener:
    """What every module within a module returns, by the module's name; of an attention also its weights."""

    def __init__(self, module):
        self.heard = {}
        for name, part in module.named_modules():
            if isinstance(part, nn.MultiheadAttention):
                self._ask_for_weights(name, part)
            elif not isinstance(part, (nn.Dropout, nn.ModuleList)) and "out_proj" not in name:
                part.register_forward_hook(self._hook(name))

    def _hook(self, name):
        def hook(_module, _inputs, output):
            self.heard[name] = output.detach().numpy()

        return hook

    # Layers do not ask their attention for its weights: here they do, one matrix a head.
    def _ask_for_weights(self, name, attention):
        forward = attention.forward

        def asking(*inputs, **options):
            options.update(need_weights=True, average_attn_weights=False)
            output, weights = forward(*inputs, **options)
            self.heard[name] = output.detach().numpy()
            for head, matrix in enumerate(weights.detach().numpy(), start=1):
                self.heard[f"{name} head {head}"] = matrix
            return output, weights

        attention.forward = asking


# What a module within a layer is called here, and its output.
ENCODER_PARTS = {"self_attn": "self_attention.output", "norm1": "norm_1.output", "linear1": "feed_forward.inner",
                 "linear2": "feed_forward.output", "norm2": "norm_2.output"}
DECODER_PARTS = {**ENCODER_PARTS, "multihead_attn": "cross_attention.output", "norm3": "norm_3.output"}
PARTS = {"encoder": ENCODER_PARTS, "decoder": DECODER_PARTS}
LAST_PLACE = {"encoder": 2, "decoder": 3}


def layer_name(side, number, part, case):
    """Our name for "self_attn head 2" within the third layer: encoder.3.self_attention.head.2.weights."""
    scope = f"{side}.{number}."
    part, _, head = part.partition(" head ")
    if part == "":  # the layer itself
        return scope + (f"sum_{LAST_PLACE[side]}" if case["norm_first"] else f"norm_{LAST_PLACE[side]}.output")
    ours = PARTS[side][part]
    if not head:
        return scope + ours
    of_head = f"head.{head}." if case["heads"] > 1 else ""
    return scope + ours.removesuffix("output") + of_head + "weights"


def our_name(theirs, case):
    """Our name for what a module of PyTorch returns."""
    side = case["side"]
    if side is None:  # nn.Transformer
        side, _, theirs = theirs.partition(".")
        if side == "":
            return "decoder.output"
    if case["layers"] is None:  # one layer
        return layer_name(side, 1, theirs, case)
    if theirs in ("", "norm"):
        return f"{side}.output"
    _, number, *part = theirs.split(".")
    return layer_name(side, int(number) + 1, ".".join(part), case)


def module_of(case):
    sizes = {"d_model": case["d_model"], "nhead": case["heads"], "dim_feedforward": case["d_ff"], "dropout": 0.0,
             "batch_first": True, "norm_first": case["norm_first"], "dtype": torch.float64}
    side, layers = case["side"], case["layers"]
    if side is None:
        module = nn.Transformer(num_encoder_layers=layers, num_decoder_layers=layers, **sizes)
        if not case["final_norm"]:
            module.encoder.norm = module.decoder.norm = None
    else:
        layer = (nn.TransformerEncoderLayer if side == "encoder" else nn.TransformerDecoderLayer)(**sizes)
        stack = nn.TransformerEncoder if side == "encoder" else nn.TransformerDecoder
        norm = nn.LayerNorm(case["d_model"], dtype=torch.float64) if case["final_norm"] else None
        module = layer if layers is None else stack(layer, layers, norm)
    for parameter in module.parameters():  # biases and norms as well, which begin at 0 and 1
        nn.init.normal_(parameter, std=0.5)
    return module.train()  # the fast path of evaluation calls no module within; there is no dropout


def inputs_of(case):
    random = np.random.RandomState(case["seed"])
    source = random.standard_normal((case["n_source"], case["d_model"]))
    target = random.standard_normal((case["n_target"], case["d_model"]))
    return source, target


def run_theirs(module, case, source, target):
    source, target = torch.from_numpy(source), torch.from_numpy(target)
    padding = torch.zeros(len(source), dtype=torch.bool)
    if case["blanks"]:
        padding[-case["blanks"]:] = True
    causal = torch.triu(torch.ones(len(target), len(target), dtype=torch.bool), diagonal=1)
    listener = Listener(module)
    if case["side"] == "encoder":
        module(source, src_key_padding_mask=padding)
    elif case["side"] == "decoder":
        module(target, source, tgt_mask=causal)
    else:
        module(source, target, tgt_mask=causal, src_key_padding_mask=padding, memory_key_padding_mask=padding)
    return listener.heard


def run_ours(attn, folder, case, file, source, target):
    np.save(folder / "source.npy", source)
    np.save(folder / "target.npy", target)
    command = case["side"] or "transformer"
    words = [f"w{i}" for i in range(len(source) - case["blanks"])] + ["<blank>"] * case["blanks"]
    as_source = ["--memory" if command == "decoder" else "--x", folder / "source.npy"]
    if case["blanks"]:
        as_source += ["--source", " ".join(words)]
    as_target = [] if command == "encoder" else ["--target-x", folder / "target.npy"]
    norm = ["--norm", "pre" if case["norm_first"] else "post"]
    found = folder / "found.npz"
    subprocess.run([attn, command, "--parameters", file, "--heads", str(case["heads"]), *as_source, *as_target, *norm,
                    "--format", "npz", "--output", found], check=True, stdout=subprocess.DEVNULL)
    return np.load(found)


def distances(theirs, ours):
    """How far each matrix of theirs is from ours; infinitely where we have none of that name and shape."""
    def apart(name, expected):
        fits = name in ours and ours[name].shape == expected.shape
        return np.abs(ours[name] - expected).max() if fits else float("inf")

    return {name: apart(name, expected) for name, expected in theirs.items()}


def cases():
    sizes = [  # d_model, heads, d_ff, n_source, n_target
        (4, 1, 6, 3, 2), (8, 2, 5, 1, 4), (12, 4, 24, 7, 5), (64, 8, 128, 20, 17)]
    seed = 0
    for side in ("encoder", "decoder", None):
        for layers in (None, 1, 3):
            for norm_first in (False, True):
                for final_norm in (False, True):
                    if layers is None and (side is None or final_norm):
                        continue
                    for d_model, heads, d_ff, n_source, n_target in sizes:
                        seed += 1
                        blanks = 2 if side != "decoder" and n_source > 2 and seed % 2 else 0
                        yield {"side": side, "layers": layers, "norm_first": norm_first, "final_norm": final_norm,
                               "d_model": d_model, "heads": heads, "d_ff": d_ff, "n_source": n_source,
                               "n_target": n_target, "blanks": blanks, "seed": seed,
                               "ending": list(FILES)[seed % len(FILES)]}


def attentions():
    seed = 1000
    for embed, heads, n_query, n_key in [(4, 1, 2, 3), (6, 3, 5, 5), (16, 4, 7, 3), (64, 8, 20, 31)]:
        for kind in ("self", "causal", "cross", "cross from another width"):
            for bias in (True, False):
                seed += 1
                yield {"kind": kind, "embed": embed, "heads": heads, "n_query": n_query, "n_key": n_key, "bias": bias,
                       "width": embed + 3 if kind.endswith("width") else embed, "seed": seed,
                       "ending": list(FILES)[seed // 2 % len(FILES)]}


def compared_attention(attn, folder, case):
    """A lone attention: its output and the weights of its heads."""
    random = np.random.RandomState(case["seed"])
    module = nn.MultiheadAttention(case["embed"], case["heads"], bias=case["bias"], kdim=case["width"],
                                   vdim=case["width"], batch_first=True, dtype=torch.float64)
    for parameter in module.parameters():
        nn.init.normal_(parameter, std=0.5)
    file = save(folder, case, module)
    x = random.standard_normal((case["n_query"], case["embed"]))
    memory = x if case["kind"] in ("self", "causal") else random.standard_normal((case["n_key"], case["width"]))
    mask = torch.triu(torch.ones(len(x), len(x), dtype=torch.bool), diagonal=1) if case["kind"] == "causal" else None
    query, key = torch.from_numpy(x), torch.from_numpy(memory)
    output, weights = module(query, key, key, attn_mask=mask, average_attn_weights=False)
    np.save(folder / "x.npy", x)
    np.save(folder / "memory.npy", memory)
    options = {"self": [], "causal": ["--causal"]}.get(case["kind"], ["--memory", folder / "memory.npy"])
    found = folder / "found.npz"
    subprocess.run([attn, "walk", "--parameters", file, "--heads", str(case["heads"]), "--x", folder / "x.npy",
                    *options, "--format", "npz", "--output", found], check=True, stdout=subprocess.DEVNULL)
    theirs = {"output": output.detach().numpy()}
    for head, matrix in enumerate(weights.detach().numpy(), start=1):
        theirs[f"head.{head}.weights" if case["heads"] > 1 else "weights"] = matrix
    return distances(theirs, np.load(found))


def compared_layers(attn, folder, case):
    module = module_of(case)
    source, target = inputs_of(case)
    file = save(folder, case, module)
    theirs = run_theirs(module, case, source, target)
    ours = run_ours(attn, folder, case, file, source, target)
    return distances({our_name(name, case): matrix for name, matrix in theirs.items()}, ours)


def main(comparisons):
    attn = sys.argv[1]
    torch.set_num_threads(1)
    modules, matrices, largest, failed = 0, 0, 0.0, 0
    for compared, table in comparisons:
        for case in table:
            torch.manual_seed(case["seed"])
            modules += 1
            with tempfile.TemporaryDirectory() as name:
                for matrix, apart in compared(attn, pathlib.Path(name), case).items():
                    matrices += 1
                    largest = max(largest, apart)
                    if not apart <= TOLERANCE:
                        failed += 1
                        print(f"{case}: {matrix} differs by {apart}")
    print(f"{matrices} matrices of {modules} modules compared, the largest difference {largest:.2g}")
    sys.exit(1 if failed or not matrices else 0)


if __name__ == "__main__":
    main([(compared_attention, attentions()), (compared_layers, cases())])
