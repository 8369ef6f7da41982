"""PyTorch as a second oracle: its modules, filled with the parameters of a model or saved as a state dictionary."""
import numpy as np
import torch
from torch import nn
from torch.nn import functional

import matrices

torch.set_num_threads(1)

ACTIVATIONS = {
    "relu": functional.relu, "gelu": functional.gelu, "tanh": torch.tanh, "silu": functional.silu,
    "gelu-tanh": lambda x: functional.gelu(x, approximate="tanh")}
PARTS = {"self_attention": "self_attn", "cross_attention": "multihead_attn"}


class RMSNorm(nn.Module):
    def __init__(self, size, epsilon):
        super().__init__()
        self.weight, self.epsilon = nn.Parameter(torch.ones(size, dtype=torch.float64)), epsilon

    def forward(self, x):
        return x / torch.sqrt((x ** 2).mean(-1, keepdim=True) + self.epsilon) * self.weight


def state_of(model, side):
    """The parameters of one side under PyTorch's names, without its beginning."""
    state, p, d = {}, model.p, model.d

    def linear(theirs, w, b, columns):
        state[theirs + "weight"] = w.T
        state[theirs + "bias"] = np.zeros(columns) if b is None else b[0]

    for number in range(1, model.layers(side) + 1):
        ours, theirs = f"{side}.{number}.", f"layers.{number - 1}."
        for part, name in PARTS.items():
            if ours + part + ".w_q" in p:
                of = model.of(ours + part + ".")
                state[f"{theirs}{name}.in_proj_weight"] = np.concatenate([of["w_" + x].T for x in "qkv"])
                state[f"{theirs}{name}.in_proj_bias"] = np.concatenate([of.get("b_" + x, np.zeros((1, d)))[0] for x in "qkv"])
                linear(f"{theirs}{name}.out_proj.", of["w_o"], of.get("b_o"), d)
        of = model.of(ours + "feed_forward.")
        linear(theirs + "linear1.", of["w_1"], of.get("b_1"), of["w_1"].shape[1])
        linear(theirs + "linear2.", of["w_2"], of.get("b_2"), d)
    for name, matrix in p.items():
        if name.startswith(side + ".") and ".norm" in "." + name.removeprefix(side):
            scope, _, leaf = name.rpartition(".")
            if leaf != "gamma":
                continue
            if scope == f"{side}.norm":
                theirs = "norm."
            else:
                _, number, norm = scope.split(".")
                theirs = f"layers.{int(number) - 1}.{norm.replace('_', '')}."
            state[theirs + "weight"] = matrix[0]
            if model.norm_kind == "layer":
                state[theirs + "bias"] = p.get(scope + ".beta", np.zeros((1, d)))[0]
    return {name: torch.tensor(np.ascontiguousarray(array)) for name, array in state.items()}


def module_of(model, side, crosses):
    """PyTorch's module, or nothing where it has none for such a model."""
    if model.norm == "none" or model.scale != "sqrt-dk" or model.positions == "rotary":
        return None
    if model.kv_heads not in (None, model.heads) or (side == "decoder") != crosses:
        return None
    d_ff = model.p[f"{side}.1.feed_forward.w_1"].shape[1]
    kind = nn.TransformerDecoderLayer if crosses else nn.TransformerEncoderLayer
    layer = kind(model.d, model.heads, d_ff, dropout=0.0, activation=ACTIVATIONS[model.activation],
                 layer_norm_eps=model.epsilon, batch_first=True, norm_first=model.norm == "pre", dtype=torch.float64)
    has_norm = f"{side}.norm.gamma" in model.p
    norm = nn.LayerNorm(model.d, model.epsilon, dtype=torch.float64) if has_norm else None
    module = (nn.TransformerDecoder if crosses else nn.TransformerEncoder)(layer, model.layers(side), norm)
    if model.norm_kind == "rms":
        for name, part in list(module.named_modules()):
            if isinstance(part, nn.LayerNorm):
                outer, _, leaf = name.rpartition(".")
                setattr(module.get_submodule(outer), leaf, RMSNorm(model.d, model.epsilon))
    module.load_state_dict(state_of(model, side))
    return module.train()  # the fast path of evaluation has other roundings; there is no dropout


def distance(model, side, x, mask, memory, cross, result):
    """How far the oracle is from PyTorch, or nothing where PyTorch has no such module."""
    module = module_of(model, side, memory is not None)
    masks = [part.for_torch() for part in (mask, cross) if part is not None]
    if module is None or any(added is None for added in masks):
        return None
    masks = [torch.tensor(np.ascontiguousarray(np.broadcast_to(added, part.shape)))
             for added, part in zip(masks, (mask, cross))]
    with torch.no_grad():
        if memory is None:
            theirs = module(torch.tensor(x), mask=masks[0])
        else:
            theirs = module(torch.tensor(x), torch.tensor(memory), tgt_mask=masks[0], memory_mask=masks[1])
    far = matrices.distance("PyTorch's " + side, theirs.numpy(), result, matrices.largest(result, x))
    if not far <= matrices.TOLERANCE:
        raise matrices.Difference(f"PyTorch's {side} is {far:.3g} from the oracle")
    return far
