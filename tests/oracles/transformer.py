"""The Transformer as its paper writes it (Vaswani et al. 2017), with what others changed: the oracle of encoder, decoder,
transformer and generate. Pre-norm (Radford et al. 2019), RMS norm (Zhang and Sennrich 2019), shared heads of keys (Ainslie
et al. 2023), rotary positions (Su et al. 2021), other activations. A model that PyTorch can build is run there as well.
"""
import math

import numpy as np

from attention import How, feed_forward, linear, multi_head, softmax, waves

SIDES = {"encoder-decoder": ("encoder", "decoder"), "encoder-only": ("encoder",), "decoder-only": ("decoder",)}


class Model:
    """Parameters by name, and how they are used."""
    norm, norm_kind, epsilon, activation = "post", "layer", 1e-5, "relu"
    positions, base, scale = "sinusoidal", 10000.0, "sqrt-dk"
    at = {}  # the positions of the words of a side, where they are not 0, 1, 2 …
    scale_embeddings, tied_output, causal_encoder, causal_decoder = True, False, False, True
    heads, kv_heads = 1, None
    keys_of_rows = None  # how many keys there were for each query of the decoder, where it was cached
    must_be_causal = all_biases = False

    def __init__(self, **members):
        self.__dict__.update(members)
        self.p = {}

    def of(self, scope):
        """The parameters of a part, by their names in it."""
        return {name[len(scope):]: matrix for name, matrix in self.p.items() if name.startswith(scope)}

    # One part after the other

    def normalize(self, out, scope, x):
        p = self.of(scope)
        with out.within(scope):
            if self.norm_kind == "rms":
                length = np.sqrt((x ** 2).mean(axis=1, keepdims=True) + self.epsilon)
                normal = out.put("normalised", x / length, 1.0, x / length * out.looseness(x))
            else:
                mean = x.mean(axis=1, keepdims=True)
                apart = x - mean
                variance = (apart ** 2).mean(axis=1, keepdims=True)
                deviation = np.sqrt(variance + self.epsilon)
                out.put("mean", mean, x * out.looseness(x))
                # The mean is rounded where x is large, and what is left of it is divided by the deviation.
                out.put("variance", variance, np.abs(x) * np.sqrt(variance) * out.looseness(x))
                normal = out.put("normalised", apart / deviation, 1.0, x / deviation * out.looseness(x))
            magnitude = out.magnitudes[out.scope + "normalised"]
            return out.put("output", normal * p["gamma"] + p.get("beta", 0.0), magnitude * np.abs(p["gamma"]),
                           p.get("beta", 0.0))

    def attend(self, out, scope, x, memory, mask, rotates):
        p = self.of(scope)
        allowed, bias = mask
        how = How(heads=self.heads, kv_heads=self.kv_heads, scale=self.scale, base=self.base, allowed=allowed, bias=bias,
                  positions="rotary" if self.positions == "rotary" and rotates else "none")
        if rotates:
            how.at = how.keys_at = self.at.get("source" if scope.startswith("encoder") else "target")
        if rotates and self.scale == "sqrt-n" and self.keys_of_rows is not None and scope.startswith("decoder"):
            how.scale = np.sqrt(self.keys_of_rows)
        with out.within(scope):
            q, k, v = (linear(out, name, of, p["w_" + name], p.get("b_" + name))
                       for name, of in (("q", x), ("k", memory), ("v", memory)))
            out.put("keys", k, out.magnitudes[out.scope + "k"])
            out.put("values", v, out.magnitudes[out.scope + "v"])
            return multi_head(out, q, k, v, how, p["w_o"], p.get("b_o"))

    def feed(self, out, scope, x):
        with out.within(scope):
            return feed_forward(out, x, self.of(scope), self.activation)

    def layers(self, side):
        return max(int(name.split(".")[1]) for name in self.p if name.startswith(side + ".") and name.split(".")[1].isdigit())

    def run_side(self, out, side, x, self_mask, memory=None, cross_mask=None):
        for number in range(1, self.layers(side) + 1):
            scope = f"{side}.{number}."
            parts = [lambda y, s=scope: self.attend(out, s + "self_attention.", y, y, self_mask, True)]
            if memory is not None:
                parts.append(lambda y, s=scope: self.attend(out, s + "cross_attention.", y, memory, cross_mask, False))
            parts.append(lambda y, s=scope: self.feed(out, s + "feed_forward.", y))
            for i, part in enumerate(parts, start=1):
                norm = f"{scope}norm_{i}."
                y = part(self.normalize(out, norm, x) if self.norm == "pre" else x)
                x = out.put(f"{scope}sum_{i}", x + y, x * out.looseness(x), y * out.looseness(y))
                if self.norm == "post":
                    x = self.normalize(out, norm, x)
        if f"{side}.norm.gamma" in self.p:
            x = self.normalize(out, f"{side}.norm.", x)
        last = list(out.magnitudes.values())[-1]
        return out.put(f"{side}.output", x, last)

    def embed(self, out, side, ids):
        e = self.p[f"{side}_embedding.e"]
        out.put(f"{side}.ids", np.array(ids)[:, None])
        x = out.put(f"{side}.x", e[np.array(ids) - 1])
        if self.scale_embeddings:
            x = out.put(f"{side}.scaled_x", x * math.sqrt(e.shape[1]))
        if self.positions in ("sinusoidal", "concatenated", "learned"):
            at = self.at.get(side, range(len(ids)))
            table = (self.p[f"{side}_positions.table"][at] if self.positions == "learned"
                     else waves(*x.shape, self.positions, self.base, at))
            if self.positions == "learned" and (np.diff(at) != 1).any():
                out.put(f"{side}.table_rows", np.array(at)[:, None] + 1)
            out.put(f"{side}.positions", table, 1.0)
            x = out.put(f"{side}.positioned", x + table, x, table)
        return x

    def logits(self, out, x):
        if self.tied_output:
            e = self.p["target_embedding.e"].T
            logits = out.product("logits", x, e)
        elif "output.w" in self.p:
            logits = linear(out, "logits", x, self.p["output.w"], self.p.get("output.b"))
        else:
            return None
        out.put("distribution", softmax(logits), 1.0, out.magnitudes[out.scope + "logits"])
        return logits
