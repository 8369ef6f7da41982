#!/usr/bin/python3
"""Test data for `attn check`: PyTorch modules, right and wrong ones, recorded by the recorder of attn.

recorded.py OUTDIR ATTN writes r01.npz… and cases.json; ATTN is the program. Mistakes are in the code of forward only:
names of classes, settings and parameters are those of a right module."""
import json, math, os, subprocess, sys
import torch
from torch import nn
import torch.nn.functional as F

INF = float('-inf')


def scaled_dot_product_attention(q, k, v, is_causal=False):
    """That of torch.nn.functional from PyTorch 2.0 on."""
    s = q @ k.transpose(-2, -1) / math.sqrt(q.shape[-1])
    if is_causal: s = s.masked_fill(torch.triu(torch.ones(s.shape[-2:]), 1) == 1, INF)
    return torch.softmax(s, -1) @ v


if not hasattr(F, 'scaled_dot_product_attention'): F.scaled_dot_product_attention = scaled_dot_product_attention


# Own attention

def weights_of(q, k, blocked, mistake, d_model):
    """Softmax of the scores; `blocked` is 1 where a query may not attend."""
    d_k = q.shape[-1]
    scale = {'no scale': 1, 'divided by d_k': d_k, 'divided by sqrt(d_model)': math.sqrt(d_model)}
    s = q @ k.transpose(-2, -1) / scale.get(mistake, math.sqrt(d_k))
    if blocked is not None:
        if mistake == 'mask transposed': blocked = blocked.transpose(-2, -1)
        if mistake != 'mask after softmax': s = s.masked_fill(blocked, 0.0 if mistake == '0 for -inf' else INF)
    w = torch.softmax(s, -2 if mistake in ('softmax over the wrong axis', 'softmax over queries') else -1)
    return w.masked_fill(blocked, 0.0) if mistake == 'mask after softmax' else w


def merged(y, mistake):
    """[batch, heads, n, d_k] -> [batch, n, heads * d_k]"""
    b, h, n, d = y.shape
    return (y if mistake == 'heads merged without transpose' else y.transpose(1, 2)).reshape(b, n, h * d)


def split_attention(d, heads, mask='forward', mistake=None, block=16):
    """q_proj … out_proj; mask: made in forward, a buffer, F.scaled_dot_product_attention, or None."""
    class MultiHeadAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.num_heads, self.head_dim = heads, d // heads
            self.q_proj, self.k_proj = nn.Linear(d, d), nn.Linear(d, d)
            self.v_proj, self.out_proj = nn.Linear(d, d), nn.Linear(d, d)
            if mask == 'buffer': self.register_buffer('mask', torch.triu(torch.ones(block, block), diagonal=1))

        def forward(self, x):
            B, T, C = x.shape
            q, k, v = (p(x).view(B, T, self.num_heads, self.head_dim).transpose(1, 2)
                       for p in (self.q_proj, self.k_proj, self.v_proj))
            if mask == 'sdpa':
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                blocked = None
                if mask == 'forward': blocked = torch.triu(torch.ones(T, T), 1) == 1
                if mask == 'buffer': blocked = self.mask[:T, :T] == 1
                y = weights_of(q, k, blocked, mistake, C) @ (k if mistake == 'k for v' else v)
            y = merged(y, mistake)
            return y if mistake == 'no output projection' else self.out_proj(y)
    return MultiHeadAttention()


def fused_attention(d, heads, mask='forward', mistake=None, block=16):
    """c_attn and c_proj, as in nanoGPT."""
    class CausalSelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_attn, self.c_proj = nn.Linear(d, 3 * d), nn.Linear(d, d)
            self.attn_dropout, self.resid_dropout = nn.Dropout(0.1), nn.Dropout(0.1)
            self.n_head, self.n_embd, self.dropout = heads, d, 0.1
            if mask == 'buffer':
                self.register_buffer('bias', torch.tril(torch.ones(block, block)).view(1, 1, block, block))

        def forward(self, x):
            B, T, C = x.size()
            q, k, v = (t.view(B, T, self.n_head, C // self.n_head).transpose(1, 2)
                       for t in self.c_attn(x).split(self.n_embd, dim=2))
            if mask == 'sdpa':
                y = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            else:
                blocked = self.bias[:, :, :T, :T] == 0 if mask == 'buffer' else torch.triu(torch.ones(T, T), 1) == 1
                att = self.attn_dropout(weights_of(q, k, blocked, mistake, C))
                y = att @ (k if mistake == 'k for v' else v)
            y = merged(y, mistake)
            return y if mistake == 'no output projection' else self.resid_dropout(self.c_proj(y))
    return CausalSelfAttention()


def single_head(d, d_k, mistake=None):
    class SelfAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, d_k, bias=False) for _ in range(3))

        def forward(self, x):
            weights = weights_of(self.q_proj(x), self.k_proj(x), None, mistake, d)
            return weights @ self.v_proj(x), weights
    return SelfAttention()


def grouped(d, heads, kv_heads):
    class GroupedQueryAttention(nn.Module):
        def __init__(self):
            super().__init__()
            self.n_heads, self.n_kv_heads, self.head_dim = heads, kv_heads, d // heads
            self.q_proj, self.o_proj = nn.Linear(d, d, bias=False), nn.Linear(d, d, bias=False)
            self.k_proj, self.v_proj = (nn.Linear(d, kv_heads * d // heads, bias=False) for _ in range(2))

        def forward(self, x):
            B, T, _ = x.shape
            q = self.q_proj(x).view(B, T, self.n_heads, self.head_dim).transpose(1, 2)
            k, v = (p(x).view(B, T, self.n_kv_heads, self.head_dim).transpose(1, 2)
                    .repeat_interleave(self.n_heads // self.n_kv_heads, dim=1) for p in (self.k_proj, self.v_proj))
            return self.o_proj(merged(weights_of(q, k, None, None, d) @ v, None))
    return GroupedQueryAttention()


class BahdanauAttention(nn.Module):
    """As in PyTorch's tutorial on translation."""
    def __init__(self, hidden_size):
        super().__init__()
        self.Wa, self.Ua = nn.Linear(hidden_size, hidden_size), nn.Linear(hidden_size, hidden_size)
        self.Va = nn.Linear(hidden_size, 1)

    def forward(self, query, keys):
        scores = self.Va(torch.tanh(self.Wa(query) + self.Ua(keys))).squeeze(1).unsqueeze(0)
        weights = F.softmax(scores, dim=-1)
        return weights @ keys, weights


class HalfHead(nn.Module):
    """A single head in float16, whose products are summed in float32, as a GPU does."""
    def __init__(self, d):
        super().__init__()
        self.q_proj, self.k_proj, self.v_proj = (nn.Linear(d, d, bias=False) for _ in range(3))

    def forward(self, x):
        q, k, v = (x.float() @ p.weight.float().T for p in (self.q_proj, self.k_proj, self.v_proj))
        weights = torch.softmax(q @ k.T / math.sqrt(q.shape[-1]), -1)
        return (weights @ v).half(), weights.half()


# Norms, blocks, models

class RMSNorm(nn.Module):
    def __init__(self, dim, eps=1e-6):
        super().__init__()
        self.eps, self.weight = eps, nn.Parameter(torch.ones(dim))

    def forward(self, x): return x * torch.rsqrt(x.pow(2).mean(-1, keepdim=True) + self.eps) * self.weight


def layer_norm(d, mistake=None):
    class LayerNorm(nn.Module):
        def __init__(self):
            super().__init__()
            self.eps, self.weight, self.bias = 1e-5, nn.Parameter(torch.ones(d)), nn.Parameter(torch.zeros(d))

        def forward(self, x):
            var = x.var(-1, unbiased=mistake == 'n-1', keepdim=True)
            return (x - x.mean(-1, keepdim=True)) / torch.sqrt(var + self.eps) * self.weight + self.bias
    return LayerNorm()


def gpt_block(d, heads, mask='buffer', approximate='none', mistake=None):
    class MLP(nn.Module):
        def __init__(self):
            super().__init__()
            self.c_fc, self.gelu = nn.Linear(d, 4 * d), nn.GELU(approximate=approximate)
            self.c_proj, self.dropout = nn.Linear(4 * d, d), nn.Dropout(0.1)

        def forward(self, x):
            x = self.c_fc(x)
            return self.dropout(self.c_proj(x if mistake == 'GELU missing' else self.gelu(x)))

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.ln_1, self.attn = nn.LayerNorm(d), fused_attention(d, heads, mask)
            self.ln_2, self.mlp = nn.LayerNorm(d), MLP()

        def forward(self, x):
            if mistake == 'norm after instead of before':
                x = self.ln_1(x + self.attn(x))
                return self.ln_2(x + self.mlp(x))
            a = self.attn(self.ln_1(x))
            x = a if mistake == 'residual missing' else x + a
            return x + self.mlp(self.ln_2(x))
    return Block()


class GPT(nn.Module):
    """nanoGPT, with the embedding table as output layer."""
    def __init__(self, vocabulary, block, d, heads, layers):
        super().__init__()
        self.transformer = nn.ModuleDict(dict(
            wte=nn.Embedding(vocabulary, d), wpe=nn.Embedding(block, d), drop=nn.Dropout(0.1),
            h=nn.ModuleList([gpt_block(d, heads, 'sdpa') for _ in range(layers)]), ln_f=nn.LayerNorm(d)))
        self.lm_head = nn.Linear(d, vocabulary, bias=False)
        self.transformer.wte.weight = self.lm_head.weight

    def forward(self, idx):
        x = self.transformer.drop(self.transformer.wte(idx) + self.transformer.wpe(torch.arange(idx.size(1))))
        for block in self.transformer.h: x = block(x)
        return self.lm_head(self.transformer.ln_f(x))


# Cases

def r(*shape): return torch.randn(*shape, dtype=torch.double)


def layer(kind, **settings): return kind(8, 2, dim_feedforward=16, batch_first=True, **settings)


def causal(n): return torch.triu(torch.ones(n, n), 1) == 1


def rights():
    """What it is, the module, its inputs, options, type."""
    mha, enc, dec = nn.MultiheadAttention, nn.TransformerEncoderLayer, nn.TransformerDecoderLayer
    double, single = torch.double, torch.float32
    x = r(1, 5, 8)
    yield 'nn.MultiheadAttention, key_padding_mask', mha(8, 2, batch_first=True), (x, x, x), \
        {'key_padding_mask': torch.tensor([[False, False, False, True, True]])}, double
    y = r(5, 8)
    yield 'nn.MultiheadAttention, causal attn_mask, no batch', mha(8, 4), (y, y, y), {'attn_mask': causal(5)}, single
    yield 'nn.MultiheadAttention, cross, kdim and vdim', mha(8, 2, kdim=6, vdim=5, batch_first=True), \
        (r(1, 3, 8), r(1, 5, 6), r(1, 5, 5)), {}, double
    yield 'own single head, returns output and weights', single_head(8, 4), (r(5, 8),), {}, double
    for what, make in (('q_proj … out_proj', split_attention), ('c_attn, c_proj', fused_attention)):
        yield f'own causal attention, mask made in forward, {what}', make(8, 2, 'forward'), (r(1, 5, 8),), {}, double
        yield f'own causal attention, mask in a buffer, {what}', make(8, 2, 'buffer'), (r(1, 6, 8),), {}, single
    yield 'own causal attention, scaled_dot_product_attention(is_causal=True)', split_attention(8, 2, 'sdpa'), \
        (r(1, 5, 8),), {}, double
    yield 'nn.TransformerEncoderLayer, relu', layer(enc), (r(1, 4, 8),), {}, double
    yield 'nn.TransformerEncoderLayer, gelu', layer(enc, activation='gelu'), (r(1, 4, 8),), {}, single
    yield 'nn.TransformerEncoderLayer, norm_first', layer(enc, norm_first=True), (r(1, 4, 8),), {}, double
    yield 'nn.TransformerDecoderLayer, causal tgt_mask', layer(dec), (r(1, 4, 8), r(1, 5, 8)), {'tgt_mask': causal(4)}, \
        double
    yield 'nn.TransformerEncoder, two layers and a last norm', nn.TransformerEncoder(layer(enc), 2, nn.LayerNorm(8)), \
        (r(1, 5, 8),), {}, double
    yield 'block of nanoGPT, GELU, buffer', gpt_block(8, 2, 'buffer'), (r(1, 5, 8),), {}, double
    yield "block of nanoGPT, GELU(approximate='tanh'), mask made in forward", gpt_block(8, 2, 'forward', 'tanh'), \
        (r(1, 5, 8),), {}, double
    yield 'GPT, the highest id among the ids', GPT(11, 8, 8, 2, 2), (torch.tensor([[3, 10, 0, 7, 7]]),), {}, double
    yield 'additive attention of the translation tutorial', BahdanauAttention(6), (r(1, 6), r(5, 6)), {}, double
    yield 'nn.LayerNorm', nn.LayerNorm(8), (3 * r(4, 8) + 1,), {}, double
    yield 'own RMSNorm', RMSNorm(8), (3 * r(4, 8) + 1,), {}, double
    yield 'grouped-query attention, 4 heads, 2 of keys and values', grouped(8, 4, 2), (r(1, 5, 8),), {}, double
    z = r(2, 5, 8)
    yield 'nn.MultiheadAttention, a batch of two sentences', mha(8, 2, batch_first=True), (z, z, z), {}, double
    b = r(5, 8)
    yield 'nn.MultiheadAttention, bfloat16', mha(8, 2), (b, b, b), {}, torch.bfloat16
    yield 'own single head, float16', HalfHead(8), (r(5, 8),), {}, torch.half


def wrongs():
    """The mistake, what it is, how a module is made with a mistake or none, its input, type."""
    double, single = torch.double, torch.float32
    forms = (('q_proj … out_proj, mask made in forward', split_attention, 'forward'),
             ('c_attn, c_proj, mask made in forward', fused_attention, 'forward'),
             ('q_proj … out_proj, mask in a buffer', split_attention, 'buffer'),
             ('c_attn, c_proj, mask in a buffer', fused_attention, 'buffer'))
    for i, mistake in enumerate(('no scale', 'divided by d_k', 'softmax over the wrong axis', 'mask after softmax',
                                 '0 for -inf', 'mask transposed', 'k for v', 'heads merged without transpose',
                                 'no output projection')):
        what, make, mask = forms[i % 4]
        yield mistake, 'own causal attention, ' + what, lambda m, make=make, mask=mask: make(8, 2, mask, m), \
            r(1, 5, 8), single if i % 3 == 2 else double
    yield 'divided by sqrt(d_model)', 'own attention, not causal', lambda m: split_attention(8, 2, None, m), \
        r(1, 5, 8), double
    yield 'softmax over queries', 'own single head', lambda m: single_head(8, 4, m), r(5, 8), double
    for mistake in ('residual missing', 'norm after instead of before', 'GELU missing'):
        yield mistake, 'block of nanoGPT', lambda m: gpt_block(8, 2, 'buffer', mistake=m), r(1, 5, 8), double
    yield 'n-1', 'own LayerNorm', lambda m: layer_norm(8, m), r(4, 8), double


def ready(module, dtype):
    """As after some training: no parameter is 0 or 1."""
    with torch.no_grad():
        for p in module.parameters(): p.add_(0.3 * torch.randn_like(p))
    return module.to(dtype).eval()


def first(result): return result[0] if isinstance(result, tuple) else result


def main(outdir, attn):
    os.makedirs(outdir, exist_ok=True)
    code = subprocess.run([attn, 'check', '--recorder', 'pytorch'], check=True, capture_output=True, text=True).stdout
    recorder = {'__name__': 'recorder'}
    exec(code, recorder)
    cases = []

    def write(module, inputs, options, what, mistakes):
        name = f'r{len(cases) + 1:02}'
        case = {'id': name, 'args': [name + '.npz'], 'wrong': bool(mistakes), 'mistakes': mistakes, 'what': what}
        try: recorder['record'](module, os.path.join(outdir, name + '.npz'), *inputs, **options)
        except Exception as error:          # the case stays: its file is missing
            case['error'] = f'{type(error).__name__}: {error}'
            print(name, what, case['error'], file=sys.stderr)
        cases.append(case)

    torch.manual_seed(517)
    for what, module, inputs, options, dtype in rights():
        inputs = tuple(t.to(dtype) if t.is_floating_point() else t for t in inputs)
        inputs = tuple(inputs[0] if torch.equal(t, inputs[0]) else t for t in inputs)    # self-attention: one tensor
        write(ready(module, dtype), inputs, options, what, [])
    for mistake, what, make, x, dtype in wrongs():
        module, x = ready(make(mistake), dtype), x.to(dtype)
        right = make(None).to(dtype).eval()
        right.load_state_dict(module.state_dict())
        far = (first(module(x)) - first(right(x))).abs().max()
        assert far > 1e-2, (mistake, far)   # it can be seen
        write(module, (x,), {}, what, [mistake])
    with open(os.path.join(outdir, 'cases.json'), 'w') as f: json.dump(cases, f, indent=1, ensure_ascii=False)


if __name__ == '__main__': main(*sys.argv[1:3])
