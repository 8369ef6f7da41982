"""Parameters of PyTorch that were saved in one file beside what their module took and made: attn check computes with
them without any other option, also where nothing says how many heads there are.

    python3 beside.py ATTN
"""
import math
import subprocess
import sys
import tempfile
from pathlib import Path

try:
    import numpy as np
    import torch
    from torch import nn
except ImportError:
    print("skipped: PyTorch or NumPy is missing")
    sys.exit(77)

import gpt2

ATTN = sys.argv[1]
D, HEADS, INNER = 8, 2, 16


def drawn(module):
    with torch.no_grad():
        for parameter in module.parameters():
            parameter.add_(0.3 * torch.randn_like(parameter))
    return module.eval()


def beside(module, **others):
    return {**{name: tensor.numpy() for name, tensor in module.state_dict().items()},
            **{name: tensor.detach().numpy()[0] for name, tensor in others.items()}}


def models():
    """A name, what is saved, the words behind the file, and what is said of it where it is wrong or refused."""
    source, target = torch.randn(1, 5, D), torch.randn(1, 4, D)
    causal = nn.Transformer.generate_square_subsequent_mask(4).double()
    sizes = {"dim_feedforward": INNER, "dropout": 0.0, "batch_first": True}
    layer = drawn(nn.TransformerEncoderLayer(D, HEADS, **sizes))
    for name in ("x", "src", "inputs"):
        yield f"encoder layer of {name}", beside(layer, **{name: source}, output=layer(source)), [], ""
    without = beside(layer, x=source, output=layer(source))
    without["output"] = without["output"] + 1.0
    yield "encoder layer with 1 added", without, ["--heads", "2"], "differs"
    stack = drawn(nn.TransformerEncoder(layer, 2))
    yield "encoder", beside(stack, src=source, out=stack(source)), [], ""
    decoder = drawn(nn.TransformerDecoderLayer(D, HEADS, **sizes))
    for mask, wrong in ((causal, ""), (None, "order-not-masked")):
        saved = beside(decoder, tgt=target, memory=source, output=decoder(target, source, tgt_mask=mask))
        yield f"decoder layer, mask {mask is not None}", saved, ["--heads", "2"], wrong
    alone = beside(decoder, tgt=target, output=decoder(target, source, tgt_mask=causal))
    yield "decoder layer without memory", alone, [], "give --memory"
    nothing = beside(layer, output=layer(source))
    yield "encoder layer of nothing", nothing, [], "give --x"
    narrow = beside(layer, x=source[..., :-1], output=layer(source))
    yield "encoder layer of narrow vectors", narrow, [], "must have 8 columns"
    two = beside(layer, output=layer(source))
    yield "encoder layer of two sentences", {**two, "x": source.repeat(2, 1, 1).numpy()}, [], "has 2 sentences"
    whole = drawn(nn.Transformer(D, HEADS, 1, 1, **sizes))
    yield "transformer", beside(whole, src=source, tgt=target, output=whole(source, target, tgt_mask=causal)), [], ""


def decoders():
    """GPT-2 under the names of several libraries, with its buffers. Ids go in."""
    for case in gpt2.cases():
        if case["ending"] != ".npz":
            continue
        tensors = gpt2.tensors_of(case)
        head = torch.randn_like(tensors["wte.weight"]) if case["names"] == "minGPT" else tensors["wte.weight"]
        ids = torch.randint(case["words"], (case["n"],))
        logits = gpt2.run(tensors, head, ids, case)["logits"]
        saved = {**gpt2.saved_as(case, tensors, head), "logits": logits}
        line = ["--target", " ".join(str(int(one)) for one in ids)]
        yield f"GPT-2, {case}", saved, line, ""
        yield f"GPT-2 of no ids, {case}", saved, [], "give --target"


def norms():
    norm, x = drawn(nn.LayerNorm(D)), torch.randn(1, 5, D)
    yield "norm", beside(norm, x=x, output=norm(x)), ["layer-norm"], ""
    deviation = torch.sqrt(x.var(-1, keepdim=True) + norm.eps)
    other = (x - x.mean(-1, keepdim=True)) / deviation * norm.weight + norm.bias
    yield "norm by n - 1", beside(norm, x=x, output=other), ["layer-norm"], "variance-by-n-minus-1"


def softmax(x):
    e = np.exp(x - x.max(-1, keepdims=True))
    return e / e.sum(-1, keepdims=True)


def attentions():
    """Heads that share keys and are not counted, and masks by how people call them."""
    draw = np.random.default_rng(3)
    x, w_q, w_o = draw.normal(size=(5, D)), draw.normal(size=(D, D)), draw.normal(size=(D, D))
    for heads, groups in ((4, 2), (4, 1), (2, 1)):
        size = D // heads
        w_k, w_v = draw.normal(size=(D, groups * size)), draw.normal(size=(D, groups * size))
        q, k, v = x @ w_q, x @ w_k, x @ w_v
        parts = []
        for head in range(heads):
            own, shared = slice(head * size, (head + 1) * size), head // (heads // groups) * size
            keys, values = k[:, shared:shared + size], v[:, shared:shared + size]
            parts.append(softmax(q[:, own] @ keys.T / math.sqrt(size)) @ values)
        saved = {"x": x, "w_q": w_q, "w_k": w_k, "w_v": w_v, "w_o": w_o, "output": np.hstack(parts) @ w_o}
        yield f"{heads} heads with keys of {groups}", saved, [], ""
    is_padding = np.array([False, False, False, True, True])
    q, k, v = (x @ draw.normal(size=(D, D)) for _ in range(3))
    weights = softmax(np.where(is_padding, -np.inf, q @ k.T / math.sqrt(D)))
    for name in ("key_padding_mask", "src_key_padding_mask", "padding_mask", "pad_mask"):
        yield name, {"q": q, "k": k, "v": v, name: is_padding, "weights": weights, "output": weights @ v}, [], ""
    yield "mask of what is seen", {"q": q, "k": k, "v": v, "padding_mask": ~is_padding, "output": weights @ v}, [], ""


def fault(name, path, line, wrong):
    """What is wrong with what attn check says, as a sentence."""
    page = subprocess.run([ATTN, "check", path, *line], capture_output=True, text=True)
    if wrong:
        is_named = wrong in (page.stdout if page.returncode == 1 else page.stderr) and page.returncode in (1, 2)
        return "" if is_named else f"{name}: {wrong} is not said: {page.stderr}{page.stdout[:600]}"
    return "" if page.returncode == 0 else f"{name} does not agree: {page.stderr}{page.stdout[:600]}"


def main():
    torch.manual_seed(1)
    torch.set_default_dtype(torch.float64)
    faults, tried = [], 0
    with tempfile.TemporaryDirectory() as folder:
        path = str(Path(folder) / "mine.npz")
        for cases in (models, decoders, norms, attentions):
            for name, saved, line, wrong in cases():
                np.savez(path, **saved)
                faults += filter(None, [fault(name, path, line, wrong)])
                tried += 1
    print("\n".join(faults) or f"{tried} files were read")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
