#!/usr/bin/python3
"""make.py OUTDIR [--right]: writes the files of all cases and OUTDIR/cases.json.  Deterministic.
With --right, the same files as the right programs would have saved them (to see that all are read and compared)."""
import json, os, sys, zlib
import numpy as np
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from bases import BASES
from catalogue import C
from core import inputs, run, source, write

SQ = dict(n=4, d=5, dk=5)                       # square projections
KW = {'sqrt-n': dict(n=7), 'int-sqrt': dict(dk=6), 'wx': SQ, 'Wq-T': SQ, 'residual': SQ, 'x-for-q': SQ,
      'overflow': dict(c=40.0), 'half': dict(c=2.0), 'bt-broadcast': dict(B=4), 'max-no-keepdims': dict(c=1.5),
      'einsum-ones': dict(n=5), 'floordiv': dict(c=1.5), 'int-output': dict(c=2.0)}
PRE = {'bt-broadcast': [('lengths=(4, 2, 3)', 'lengths=(4, 2, 3, 1)')]}        # right and wrong program alike
ARGS = {'bt-broadcast': ['--heads', '2', '--valid-length', '4,2,3,1']}

UP = {'x': 'X', 'W_q': 'WQ', 'W_k': 'WK', 'W_v': 'WV', 'q': 'Q', 'k': 'K', 'v': 'V', 'scores': 'attn_scores',
      'weights': 'attn_weights', 'output': 'out'}
LONG = {'q': 'query', 'k': 'key', 'v': 'value', 'weights': 'attention_weights', 'output': 'attn_output'}
SHORT = {'scores': 'S', 'weights': 'A', 'q': 'Q', 'k': 'K', 'v': 'V', 'output': 'O'}
WX = {'W_q': 'Wq', 'W_k': 'Wk', 'W_v': 'Wv', 'weights': 'attn', 'scaled': 'scaled_scores'}
T4 = {'w_q': 'W_Q', 'w_k': 'W_K', 'w_v': 'W_V', 'w_o': 'W_O', 'weights': 'attention', 'output': 'Z'}
FORM = {'single': [{}, dict(rename=WX), {}, dict(rename=LONG), dict(format='safetensors'), dict(rename=UP),
                   dict(format='json'), {}, dict(rename=T4), dict(reverse=True)]}

SINGLE = '''div-dk softmax-axis0 sum-no-keepdims max-no-keepdims kqt v-from-wk floordiv inplace-scores inplace-softmax
einsum-ones overflow half last-row int-output triu k-1 fill1e-9 mask-after nan-mask pad-rows pad-off1 view merge-view
k-view-T softmax-heads mean-weights lp-carry lp-stride ln-notassigned ln-noT ln-C ip-headsplit cx-v cx-letters
bt-broadcast bt-vT ln-ddof ln-swap ln-prec pe-double pe-cosidx ro-v ro-inplace ad-sep ge-MT do-axis kv-late gq-tile
gr-nosum gr-kT gr-xq en-norm1twice en-resx en-inplace en-gelu vi-vx de-kvself de-causalx de-res3 em-after em-noscale
lm-tied s2-order s2-shift lu-prev'''.split()
SINGLE_OUT = '''noscale softmax-twice wT-v swap-kv cosine from-1 dropout hard scale-after c-window bk-for-bv pad-v0
interleave bo-heads merge-T2 lp-slice lp-vcol ln-drop ip-order cx-causal bt-len0 ln-gb rms-1g pe-swap ro-half ad-tanhout
kv-front en-ffx en-pre vi-post de-qx de-shared em-exp s2-first'''.split()
PAIR_OUT = '''div-dk+v-from-wk softmax-axis0+noscale kqt+wT-v k-from-wq+sqrt-dmodel sigmoid+mul-sqrt softmax-twice+last-row
triu+c-noscale k1+bk-for-bv mask-after+no-bq fill1e-9+c-dk nomask+c-vk c-window+no-biases pad-none+p-noscale
pad-off1+p-wT view-v+no-bo merge-view+mh-dmodel interleave+wo-T mean-heads+mh-noscale mh-vk+merge-T2 softmax-dim1+no-wo
lp-heads-scale+lp-woT lp-kv0+lp-noscale ln-triu+ln-outT ln-fill0+ln-nobias ln-y-view+ln-C ip-order+ip-E
ip-nobias+ip-merge cx-v+cx-noscale cx-k+cx-noo cx-causal+cx-wkv bt-nopad+bt-sqrtd bt-len0+bt-merge bt-off+bt-noo
ln-ddof+ln-gb pe-pos1+si-noscale pe-swap+si-wT ro-qonly+ro-noscale ro-v+ro-nomask ad-notanh+ad-keys ge-MT+ge-axis
gq-tile+gq-noscale en-nores1+en-gelu en-noscale+en-ddof en-nob1+en-resx vi-relu+vi-nofinal de-nocausal+de-resx
de-shared+de-norelu em-noscale+em-exp lm-nocausal+lm-nobias s2-init0+s2-noeos gr-noscale+gr-xnov'''.split()
PAIR = '''div-dk+wT-v v-from-wk+softmax-axis0 triu+bk-for-bv merge-view+mh-noscale view+no-bo lp-carry+lp-heads-scale
cx-v+cx-axis bt-off+bt-merge pe-double+si-axis ro-half+ro-triu gr-nosum+gr-vT en-norelu+en-nores1 de-causalx+de-norm2
kv-vk+kv-noscale ad-relu+ad-keys s2-hlast+s2-mean'''.split()
ROUNDED = '''noscale k1 mh-dmodel:out lp-last cx-k:out pe-pos1 ln-nosqrt en-nores2 gr-sign de-triu:out bt-invert
ge-tanh'''.split()

# right programs: (name, base, edits, options, only these matrices or None)
E = [('scores as a matrix product with the axes named otherwise', 'head', [('scores = q @ k.T', "scores = np.einsum('qe,ke->qk', q, k)")], dict(rename=LONG), None),
     ('stored as float32', 'head', [], dict(dtype='float32', rename=UP), None),
     ('computed in float32, stored in safetensors', 'linear', [('torch.tensor(x)[None]', 'torch.tensor(x)[None].float()'), ('torch.tensor(b) for', 'torch.tensor(b).float() for')], dict(format='safetensors'), None),
     ('JSON with other names', 'cross', [], dict(format='json', rename=T4), None),
     ('output alone in a CSV file', 'head', [], dict(format='csv', args=['--as', 'output', '--x', '{id}_in.npz:x', '--wq', '{id}_in.npz:W_q', '--wk', '{id}_in.npz:W_k', '--wv', '{id}_in.npz:W_v']), ['output']),
     ('weights alone in an npy file', 'causal', [], dict(format='npy', args=['--as', 'weights', '--causal', '--x', '{id}_in.npz:x', '--wq', '{id}_in.npz:W_q', '--wk', '{id}_in.npz:W_k', '--wv', '{id}_in.npz:W_v', '--bq', '{id}_in.npz:b_q', '--bk', '{id}_in.npz:b_k', '--bv', '{id}_in.npz:b_v']), ['weights']),
     ('mask value -1e9 instead of -inf', 'causal', [('scaled, -np.inf)', 'scaled, -1e9)')], {}, None),
     ('mask after the exponential, and normalized afterwards', 'causal', [('    e = np.exp(masked - masked.max(-1, keepdims=True))\n', '    e = np.exp(scaled) * mask\n')], {}, ['q', 'k', 'v', 'weights', 'output']),
     ('queries divided by sqrt(d_k) before the product', 'head', [('scores = q @ k.T', 'scores = (q / np.sqrt(d_k)) @ k.T'), ('scaled = scores / np.sqrt(d_k)', 'scaled = scores')], {}, ['k', 'v', 'scaled', 'weights', 'output']),
     ('softmax without subtracting the maximum, small scores', 'padded', [('weights = softmax(masked)', 'e = np.exp(masked)\n    weights = e / e.sum(1)[:, None]')], dict(rename=SHORT), None),
     ('heads saved as (n, heads, d_k)', 'mha', [('return dict(q=q, k=k, v=v, scores=scores', 'return dict(q=q.transpose(1, 0, 2), k=k.transpose(1, 0, 2), v=v.transpose(1, 0, 2), scores=scores')], {}, None),
     ('Fortran order, names in reverse order', 'loop', [], dict(fortran=True, reverse=True), None),
     ('extra matrices: entropy, loss, learning rate', 'head', [], dict(extra=dict(entropy=np.array([.5, .6, .7, .8]), loss=np.array(0.25), lr=np.array(1e-3), step=np.arange(3))), None),
     ('output as the sum over heads of head @ rows of w_o', 'mha', [('output = concat @ w_o + b_o', 'output = sum(heads[i] @ w_o[i * d_k:(i + 1) * d_k] for i in range(n_heads)) + b_o')], dict(rename=T4), None),
     ('layer norm as in torch', 'ln', [('    y = gamma * x_hat + beta', '    y = F.layer_norm(torch.tensor(x), (x.shape[1],), torch.tensor(gamma), torch.tensor(beta), eps).numpy()')], {}, None),
     ('positions written with 10000 ** (2 * (i // 2) / d)', 'sinu', [('    pe[:, 0::2] = np.sin(pos * div)\n    pe[:, 1::2] = np.cos(pos * div)\n', '    i = np.arange(d)\n    a = pos / 10000.0 ** (2 * (i // 2) / d)\n    pe = np.where(i % 2 == 0, np.sin(a), np.cos(a))\n')], {}, None),
     ('rotary with complex numbers', 'rope', [('        out[:, 0::2] = t[:, 0::2] * cos - t[:, 1::2] * sin\n        out[:, 1::2] = t[:, 0::2] * sin + t[:, 1::2] * cos\n', '        z = (t[:, 0::2] + 1j * t[:, 1::2]) * np.exp(1j * angle)\n        out[:, 0::2], out[:, 1::2] = z.real, z.imag\n')], {}, None),
     ('no cache: all at once, float32 results', 'kv', [], dict(dtype='float32'), None),
     ('grouped heads by index', 'gqa', [('np.repeat(xk, n_heads // n_kv, axis=0)', 'xk[np.arange(n_heads) // (n_heads // n_kv)]'), ('np.repeat(xv, n_heads // n_kv, axis=0)', 'xv[np.arange(n_heads) // (n_heads // n_kv)]')], {}, None),
     ('additive score of the concatenation [q; k] with stacked matrices', 'additive', [('np.tanh(hidden_q[:, None, :] + hidden_k[None, :, :])', 'np.tanh(np.concatenate([np.repeat(query[:, None], len(keys), 1), np.repeat(keys[None], len(query), 0)], -1) @ np.concatenate([W_a, U_a]))')], {}, None),
     ('gradients of autograd', 'grad', [('    d_x = d_q @ W_q.T + d_k @ W_k.T + d_v @ W_v.T\n', '    X, A, B, D = [torch.tensor(t, requires_grad=True) for t in (x, W_q, W_k, W_v)]\n    (torch.softmax((X @ A) @ (X @ B).T / c, -1) @ (X @ D)).backward(torch.tensor(d_output))\n    d_x, d_W_q, d_W_k, d_W_v = X.grad.numpy(), A.grad.numpy(), B.grad.numpy(), D.grad.numpy()\n')], {}, None),
     ('encoder layer in float32', 'enc', [('        ', '        ', 0)], dict(dtype='float32', dtype_results_only=True), None),
     ('decoder layer, mask as added numbers', 'dec', [('s = np.where(mask, s, -1e9)', 's = s + (1 - mask) * -1e9')], {}, None),
     ('lengths by an added mask', 'batch', [('np.where(pad[:, None, None, :], -np.inf, scaled)', 'scaled + np.where(pad, -np.inf, 0)[:, None, None, :]')], {}, None)]


def first_difference(mats, right, keys):
    for k in keys:
        a, b = mats[k], right.get(k)
        if b is None or a.shape != b.shape:
            return k
        with np.errstate(all='ignore'):
            same = (a == b) | (np.isnan(a) & np.isnan(b)) | (np.abs(a - b) <= 1e-7)
        if not same.all():
            return k


def main():
    out = sys.argv[1]
    right_only = '--right' in sys.argv
    os.makedirs(out + '/src', exist_ok=True)
    cases, problems, used = [], [], {}

    def case(kind, keys, opt, no):
        cid = f's{len(cases) + 1:03d}'
        name = C[keys[0]][0]
        b = BASES[name]
        pre, kw = [], {}
        for k in keys:
            pre += PRE.get(k, [])
            kw.update(KW.get(k, {}))
            if k in ARGS:
                opt = dict(opt, args=ARGS[k])
        edits = [e for k in keys for e in C[k][1]]
        src = source(b, pre + edits)
        inp = inputs(b, zlib.crc32('+'.join(keys).encode()) % 100000 + no, kw)
        right = run(source(b, pre), inp)
        mats = run(src, inp)
        out_only = kind in ('single-output', 'pair-output') or opt.get('out_only')
        place = first_difference(mats, right, list(mats))
        keep = [b['final']] if out_only else list(mats)
        where = first_difference(mats, right, keep)
        if where is None:
            problems.append(f'{cid} {keys}: nothing differs')
        if len(keys) == 2:
            for k in keys:
                one = run(source(b, pre + list(C[k][1])), inp)
                if first_difference(one, right, keep) is None:
                    problems.append(f'{cid} {keys}: {k} alone shows nothing')
                if first_difference(mats, one, keep) is None:
                    problems.append(f'{cid} {keys}: the other than {k} adds nothing')
        saved = {k: (right if right_only else mats)[k] for k in keep if k in (right if right_only else mats)}
        ren = opt.get('rename', {})
        args = write(b, out, cid, inp, saved, opt)
        open(f'{out}/src/{cid}.py', 'w').write('# ' + '; '.join(C[k][2] for k in keys) + '\nimport math\nimport numpy as np\n'
                                               'import torch\nimport torch.nn.functional as F\nfrom core import softmax, gelu\n\n\n' + src.lstrip())
        cases.append(dict(id=cid, kind=kind, args=args, mistakes=[C[k][2] for k in keys], where=ren.get(where, where),
                          place=place, keys=list(keys), base=name))

    def styles(i, name):
        o = dict(FORM['single'][i % len(FORM['single'])])
        # names are changed only where the file has x and weight matrices of one attention
        if 'rename' in o and name not in ('head', 'causal', 'padded', 'mha', 'loop', 'cross', 'batch', 'sinu', 'rope'):
            o.pop('rename')
        if o.get('format') == 'json':
            o.pop('format') if name in ('dot', 'additive') else None
        return o

    for i, k in enumerate(SINGLE):
        case('single', [k], styles(i, C[k][0]) if k not in ('overflow', 'nan-mask', 'half') else {}, i)
    for i, k in enumerate(SINGLE_OUT):
        case('single-output', [k], styles(i + 3, C[k][0]), i)
    for i, k in enumerate(PAIR_OUT):
        case('pair-output', k.split('+'), styles(i + 5, C[k.split('+')[0]][0]), i)
    for i, k in enumerate(PAIR):
        case('pair', k.split('+'), styles(i + 1, C[k.split('+')[0]][0]), i)
    for i, k in enumerate(ROUNDED):
        k, _, o = k.partition(':')
        case('rounded', [k], dict(round=3, out_only=bool(o)), i)
    for i, (text, name, edits, opt, only) in enumerate(E):
        cid = f's{len(cases) + 1:03d}'
        b = BASES[name]
        opt = dict(opt)
        if 'args' in opt:
            opt['args'] = [a.replace('{id}', cid) for a in opt['args']]
        src = source(b, [e for e in edits if len(e) == 2])
        inp = inputs(b, 7000 + i)
        mats = run(src, inp)
        if name != 'linear':                    # harmless indeed
            r = run(source(b), inp)
            f = first_difference(mats, r, [k for k in (only or mats) if k not in ('q', 'k', 'v', 'masked')])
            if f:
                problems.append(f'{cid} right program differs at {f}')
        args = write(b, out, cid, inp, {k: mats[k] for k in (only or mats)}, opt)
        open(f'{out}/src/{cid}.py', 'w').write('# right: ' + text + '\n' + src)
        cases.append(dict(id=cid, kind='right', args=args, mistakes=[], where='', note=text, base=name))
    json.dump(cases, open(out + '/cases.json', 'w'), indent=1, ensure_ascii=False)
    for p in problems:
        print('PROBLEM', p)
    from collections import Counter
    print(len(cases), dict(Counter(c['kind'] for c in cases)))
    print(dict(Counter(c['base'] for c in cases)))


main()
