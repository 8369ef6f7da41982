#!/usr/bin/env python3
"""Wrong and right attention programs, and what their authors saved: data for a blind test of `attn check`.

classic.py OUTDIR [--right] writes OUTDIR/NAME.npz, .json or .csv, and OUTDIR/cases.json. A program is a list of steps; a
case replaces some of them. What is in `bad` is a mistake and is left out with --right; what is in `way` is another way
to compute or to store the same, and stays. In cases.json, `unsaid` has the options that a program would have needed
and that `args` leaves out, and `note` says what is unusual, but harmless.
"""
import csv, json, math, os, sys
from types import SimpleNamespace
import numpy as np

np.seterr(all='ignore')


# --- The parts of right programs ------------------------------------------------------------------------------------

def T(a): return np.swapaxes(a, -1, -2)
def total(a, axis=-1): return a.sum(axis, keepdims=True)
def softmax(s, axis=-1):
    e = np.exp(s - np.max(s, axis, keepdims=True))
    return e / total(e, axis)
def split(a, h): return a.reshape(len(a), h, -1).swapaxes(0, 1)
def join(a): return a.swapaxes(0, 1).reshape(a.shape[1], -1)
def layer_norm(x, g, b, eps): return (x - x.mean(-1, keepdims=True)) / np.sqrt(x.var(-1, keepdims=True) + eps) * g + b
def rms_norm(x, g, eps): return x / np.sqrt((x * x).mean(-1, keepdims=True) + eps) * g
def relu(x): return np.maximum(x, 0)
def gelu(x): return 0.5 * x * (1 + np.vectorize(math.erf)(x / np.sqrt(2)))
def sinusoids(n, d, base=10000.0, first=0, exponent=lambda j, d: (j - j % 2) / d, turn=lambda a: a, swap=0):
    j = np.arange(d)
    a = turn(np.arange(first, first + n)[:, None] / base ** exponent(j, d))
    return np.where((j + swap) % 2 == 0, np.sin(a), np.cos(a))
def rotate(a):
    n, d = a.shape[-2:]
    angle = np.arange(n)[:, None] / 10000.0 ** (np.arange(0, d, 2) / d)
    c, s, u, v = np.cos(angle), np.sin(angle), a[..., ::2], a[..., 1::2]
    return np.stack([u * c - v * s, u * s + v * c], -1).reshape(a.shape)

# A step is a function of the record R of what was given and computed before. Arrays of heads are h × n × n.
PROJECT = dict(
    a=lambda R: R.x + R.pe if R.positions else R.x,
    source=lambda R: R.memory if R.memory is not None else R.a,
    q=lambda R: R.a @ R.w_q + R.b_q,
    k=lambda R: R.source @ R.w_k + R.b_k,
    v=lambda R: R.source @ R.w_v + R.b_v,
    qh=lambda R: split(R.q, R.h), kh=lambda R: split(R.k, R.h), vh=lambda R: split(R.v, R.h))
WEIGH = dict(
    masked=lambda R: np.where(R.keep, R.scaled, R.fill),
    weights=lambda R: softmax(R.masked),
    heads=lambda R: R.weights @ R.vh,
    concat=lambda R: join(R.heads),
    output=lambda R: R.concat @ R.w_o + R.b_o if R.w_o is not None else R.concat)
ATTENTION = dict(PROJECT, scores=lambda R: R.qh @ T(R.kh), scaled=lambda R: R.scores / np.sqrt(R.kh.shape[-1]), **WEIGH)
ROTARY = dict(PROJECT, rotated_q=lambda R: rotate(R.qh), rotated_k=lambda R: rotate(R.kh),
              scores=lambda R: R.rotated_q @ T(R.rotated_k), scaled=ATTENTION['scaled'], **WEIGH)
ADDITIVE = dict(qh=lambda R: R.q[None], kh=lambda R: R.k[None], vh=lambda R: R.v[None],
    tanh=lambda R: np.tanh((R.q @ R.score_wq)[:, None] + (R.k @ R.score_wk)[None] + R.score_b),
    scores=lambda R: (R.tanh @ R.score_wv)[None, :, :, 0], scaled=lambda R: R.scores, **WEIGH)
FEED = dict(inner=lambda R: R.f @ R.w_1 + R.b_1, act=lambda R: R.activation(R.inner), ffn=lambda R: R.act @ R.w_2 + R.b_2)
NORM = dict(output=lambda R: layer_norm(R.x, R.gamma, R.beta, R.eps))
RMS = dict(output=lambda R: rms_norm(R.x, R.gamma, R.eps))
ENCODER = dict(ATTENTION, sum_1=lambda R: R.x + R.output, norm_1=lambda R: layer_norm(R.sum_1, R.g_1, R.be_1, R.eps),
               f=lambda R: R.norm_1, **FEED, sum_2=lambda R: R.norm_1 + R.ffn,
               norm_2=lambda R: layer_norm(R.sum_2, R.g_2, R.be_2, R.eps), layer=lambda R: R.norm_2)
PRE = dict(norm_1=lambda R: layer_norm(R.x, R.g_1, R.be_1, R.eps), **dict(ATTENTION, a=lambda R: R.norm_1),
           sum_1=lambda R: R.x + R.output, norm_2=lambda R: layer_norm(R.sum_1, R.g_2, R.be_2, R.eps),
           f=lambda R: R.norm_2, **FEED, sum_2=lambda R: R.sum_1 + R.ffn, layer=lambda R: R.sum_2)
PROGRAMS = dict(attention=ATTENTION, rotary=ROTARY, additive=ADDITIVE, encoder=ENCODER, pre=PRE, norm=NORM, rms=RMS,
                ff=dict(f=lambda R: R.x, **FEED), positions=dict(output=lambda R: R.pe),
                add=dict(positioned=lambda R: R.x + R.pe))


def inputs(c, seed):
    """What goes into the program of a case: whole numbers, short decimals or any numbers, and the settings."""
    random, o = np.random.RandomState(seed), c.size
    n, d, h = o.get('n', 4), o.get('d', 4), o.get('h', 1)
    m, f, dk = o.get('m', n), o.get('f', 2 * d), o.get('dk', d // h)
    dv, words = o.get('dv', dk), bool(o.get('memory'))
    def draw(*shape, small=False):
        if c.style == 'whole': return random.randint(-1 if small else 0, 2 if small else 3, shape).astype(float)
        a = random.randn(*shape) * o.get('spread', 1) * ((1 / np.sqrt(shape[0]) if len(shape) > 1 else 0.5) if small else 1)
        return np.round(a, 1) + 0.0 if c.style == 'short' else a
    R = SimpleNamespace(h=h, d=d, n=n, eps=o.get('eps', 1e-5), fill=o.get('fill', -np.inf), positions=o.get('positions', 0),
                        activation=dict(relu=relu, gelu=gelu)[o.get('activation', 'relu')], random=random)
    R.x = draw(n, d) * o.get('big', 1)
    R.memory = draw(m, d) if words else None
    if c.program == 'additive':
        R.q, R.k, R.v, e = draw(n, d), draw(m, d), draw(m, dv), o.get('e', 5)
        R.score_wq, R.score_wk, R.score_wv = draw(d, e, small=True), draw(d, e, small=True), draw(e, 1, small=True)
        R.score_b = draw(e, small=True) + 0.5 if o.get('b') else 0.0
    else:
        R.w_q, R.w_k, R.w_v = draw(d, h * dk, small=True), draw(d, h * dk, small=True), draw(d, h * dv, small=True)
        for name, size in dict(q=h * dk, k=h * dk, v=h * dv, o=d).items():
            setattr(R, 'b_' + name, draw(size, small=True) + 0.5 if o.get('b') else 0.0)
    R.w_o = draw(h * dv, d, small=True) if o.get('wo', h > 1 or c.program in ('encoder', 'pre')) else None
    R.w_1, R.w_2, R.b_1, R.b_2 = draw(d, f, small=True), draw(f, d, small=True), draw(f, small=True) + 0.2, draw(d, small=True) - 0.3
    for g in ('gamma', 'g_1', 'g_2'): setattr(R, g, 1 + np.round(draw(d, small=True) / 2, 6))
    for b in ('beta', 'be_1', 'be_2'): setattr(R, b, draw(d, small=True) / 2)
    R.keep = np.tril(np.ones((n, m), bool)) if o.get('causal') else np.ones((n, m), bool)
    if 'valid' in o: R.keep = R.keep & (np.arange(m) < o['valid'])
    if 'mask' in o: R.keep = o['mask'](n, m)
    R.bias = np.where(R.keep, 0.0, -np.inf)
    R.pe = sinusoids(n, d, o.get('base', 10000.0))
    return R


def run(c, seed, steps):
    R = inputs(c, seed)
    program = dict(PROGRAMS[c.program])
    if 'pe' in steps: program = dict(pe=0, **program)
    for name, f in program.items():
        f = steps.get(name, f)
        setattr(R, name, np.asarray(f(R), float))
    return R


# --- What is saved --------------------------------------------------------------------------------------------------

NAMES = dict(attention='weights', wq='w_q', wk='w_k', wv='w_v', wo='w_o', bq='b_q', bk='b_k', bv='b_v', bo='b_o', w1='w_1', b1='b_1', w2='w_2',
    b2='b_2', queries='q', query='q', keys='k', values='v', rawscores='scores', dots='scores', energy='scores',
    attnscores='scores', qkt='scores', attentionscores='scores', scaledscores='scaled', maskedscores='masked',
    attn='weights', a='weights', p='weights', alpha='weights', att='weights', softmax='weights', probs='weights',
    attnweights='weights', attentionweights='weights', z='output', y='output', o='output', out='output', result='output',
    attnoutput='output', context='output', embeddings='x', inputs='x', mask='keep', hidden='inner', relu='act', ff='ffn')
LAYER = dict(zip('w_q w_k w_v w_o b_q b_k b_v b_o'.split(), ['self_attention.' + w for w in 'w_q w_k w_v w_o b_q b_k b_v b_o'.split()]),
             g_1='norm_1.gamma', be_1='norm_1.beta', g_2='norm_2.gamma', be_2='norm_2.beta',
             **{w: 'feed_forward.' + w for w in ('w_1', 'b_1', 'w_2', 'b_2')})


def saved(c, R, after):
    """The arrays of a file. A word of `save` is NAME or NAME=STEP; .T transposes, and .0 takes the first head. LAYER and
    TORCH are all parameters of an encoder layer; the latter go into a file of their own, as of PyTorch."""
    arrays = {}
    for word in c.save.split():
        if word == 'LAYER':
            for key, name in LAYER.items():
                if np.ndim(getattr(R, key)): arrays['encoder.1.' + name] = getattr(R, key)
            continue
        if word == 'TORCH':
            biases = [getattr(R, b) * np.ones(R.d) for b in ('b_q', 'b_k', 'b_v')]
            torch = {'self_attn.in_proj_weight': np.vstack([R.w_q.T, R.w_k.T, R.w_v.T]),
                'self_attn.in_proj_bias': np.concatenate(biases), 'self_attn.out_proj.weight': R.w_o.T,
                'self_attn.out_proj.bias': R.b_o * np.ones(R.d), 'linear1.weight': R.w_1.T, 'linear1.bias': R.b_1,
                'linear2.weight': R.w_2.T, 'linear2.bias': R.b_2, 'norm1.weight': R.g_1, 'norm1.bias': R.be_1,
                'norm2.weight': R.g_2, 'norm2.bias': R.be_2}
            arrays.update({'PARAMETERS/' + name: a for name, a in torch.items()})
            continue
        name, _, key = word.partition('=')
        key, *parts = (key or NAMES.get(name.lower().replace('_', ''), name.lower())).split('.')
        a = getattr(R, key)
        a = after[key](a) if key in after else a
        for p in parts: a = T(a) if p == 'T' else a[int(p)]
        arrays[name] = a[0] if np.ndim(a) == 3 and len(a) == 1 else a
    return arrays


def write(path, arrays, c):
    def stored(name, a):
        if a.dtype == bool: return a
        if c.digits is not None: a = np.round(a, c.digits) + 0.0
        if c.dtype: return a.astype(c.dtype)
        return a.astype(int) if c.style == 'whole' and np.isfinite(a).all() and (a == np.round(a)).all() else a
    arrays = {name: stored(name, np.asarray(a)) for name, a in arrays.items()}
    inner = {name.split('/')[1]: arrays.pop(name) for name in list(arrays) if '/' in name}
    if inner: np.savez(path.replace('.npz', '-parameters.npz'), **inner)
    if c.format == 'npz': np.savez(path, **arrays)
    elif c.format == 'json':
        with open(path, 'w') as file: json.dump({name: a.tolist() for name, a in arrays.items()}, file)
    else:
        with open(path, 'w', newline='') as file:
            for name, a in arrays.items():
                if len(arrays) > 1: file.write(f'# {name}\n')
                csv.writer(file, lineterminator='\n').writerows(np.atleast_2d(a.astype(int) if a.dtype == bool else a).tolist())
                if len(arrays) > 1: file.write('\n')


# --- The table of cases ---------------------------------------------------------------------------------------------

CASES = []


def case(kind, mistakes, where, save, args='', bad=None, way=None, cell=None, unsaid='', program='attention', style='real',
         format='npz', digits=None, dtype=None, note='', **size):
    """`bad` and `way` are replaced steps. `cell` changes only what is saved. Two mistakes are two members of `bad`."""
    mistakes = [mistakes] if isinstance(mistakes, str) else mistakes
    CASES.append(SimpleNamespace(**locals()))


def right(save, note, args='', **more): case('right', [], '', save, args, note=note, **more)


def typo(row, column, amount):
    def change(a):
        a = np.array(a, float)
        a[..., row, column] += amount
        return a
    return change
def then(step, change, program='attention'):
    """The right step, and what a mistyped number or a rounding makes of its result."""
    return {step: lambda R: change(PROGRAMS[program][step](R))}


BASIC, SHORT, ALL = 'x W_q W_k W_v', 'x Wq Wk Wv', 'x Wq Wk Wv Q K V scores scaled weights output'
S, C, D = dict(style='whole'), dict(causal=1), dict(style='short')
CAUSAL = '--causal'

# Scores and their scale
case('scores', 'divided by d_k instead of its root', 'scaled', ALL, bad=dict(scaled=lambda R: R.scores / R.kh.shape[-1]), n=3, d=4, **S)
case('scores', 'not scaled', 'scaled', 'x W_Q W_K W_V A Z',
     bad=dict(scaled=lambda R: R.scores), n=3, d=4, dk=2, format='json', digits=4, unsaid=CAUSAL, **C, **D)
case('scores', 'divided by the root of d_model instead of d_k', 'scaled', BASIC + ' W_o scores=scaled weights output', '--heads 2',
     bad=dict(scaled=lambda R: R.scores / np.sqrt(R.d)), n=4, d=8, h=2)
case('scores', 'divided by the root of the number of keys', 'scaled', 'Q K V attention_weights output',
     bad=dict(scaled=lambda R: R.scores / np.sqrt(R.n)), n=5, d=3, unsaid=CAUSAL, **C)
case('scores', 'multiplied by the root of d_k', 'scaled', ALL, bad=dict(scaled=lambda R: R.scores * np.sqrt(R.kh.shape[-1])), n=3, d=3, **D)
case('scores', 'divided by 1.5', 'scaled', SHORT + ' scores scaled attn', bad=dict(scaled=lambda R: R.scores / 1.5), n=4, d=6, dk=4)
case('scores', 'divided by 0.7', 'scaled', 'x Wq Wk Wv output', bad=dict(scaled=lambda R: R.scores / 0.7), n=4, d=5, dk=3, **D)
case('scores', 'a temperature of 2 beside the root of d_k', 'scaled', 'q k v attn_weights context',
     bad=dict(scaled=lambda R: R.scores / np.sqrt(R.d) / 2), n=6, d=4)
case('scores', 'keys and queries exchanged: k q^T', 'scores', ALL, bad=dict(scores=lambda R: R.kh @ T(R.qh)), n=3, d=3, **S)
case('scores', 'w_q is used transposed', 'q', ALL, bad=dict(q=lambda R: R.x @ R.w_q.T), n=3, d=4, **S)
case('scores', 'w_k is used transposed', 'k', SHORT + ' attn out', bad=dict(k=lambda R: R.x @ R.w_k.T), n=5, d=5)
case('scores', 'one score mistyped, and everything after computed from it', 'scores', ALL,
     bad=then('scores', typo(1, 2, 3)), n=3, d=3, digits=3, format='csv', **S)
case('scores', 'one score mistyped, and what follows is right', 'scores', ALL, cell=dict(scores=typo(0, 1, -2)), n=3, d=4, **S)

# Softmax
E = np.exp
SOFTMAX = [
    ('no exponential: scores divided by their sum', lambda s: s / total(s), 'scores scaled weights output', dict(n=3, d=3, **S)),
    ('over the columns', lambda s: softmax(s, -2), 'attn out', dict(n=4, d=6, dk=3, unsaid=CAUSAL, **C)),
    ('over the whole matrix', lambda s: E(s) / E(s).sum(), 'out', dict(n=3, d=4, **D)),
    ('keepdims forgotten, no maximum subtracted', lambda s: E(s) / E(s).sum(-1), 'attention out', dict(n=4, d=5, dk=4)),
    ('keepdims forgotten in the sum, maximum of the row', lambda s: E(s - s.max(-1, keepdims=True)) / E(s - s.max(-1, keepdims=True)).sum(-1), 'scores attn', dict(n=5, d=4)),
    ('keepdims forgotten in the sum, maximum of all', lambda s: E(s - s.max()) / E(s - s.max()).sum(-1), 'output', dict(n=3, d=6, dk=2, **D)),
    ('keepdims forgotten in the maximum alone', lambda s: E(s - s.max(-1)) / total(E(s - s.max(-1))), 'attn', dict(n=4, d=4)),
    ('keepdims forgotten in maximum and sum', lambda s: E(s - s.max(-1)) / E(s - s.max(-1)).sum(-1), 'scores weights out', dict(n=4, d=3, **S)),
    ('keepdims forgotten in the sum, maximum of the column', lambda s: E(s - s.max(-2, keepdims=True)) / E(s - s.max(-2, keepdims=True)).sum(-1), 'A Z', dict(n=3, d=5)),
    ('not normalised', lambda s: E(s), 'scaled weights output', dict(n=3, d=4, dk=2, **D)),
    ('sigmoid', lambda s: 1 / (1 + E(-s)), 'output', dict(n=4, d=4, unsaid=CAUSAL, **C)),
    ('powers of 2 instead of e', lambda s: 2 ** s / total(2 ** s), 'probs result', dict(n=4, d=3, dk=2, unsaid=CAUSAL, **C, **D)),
    ('scores negated', lambda s: softmax(-s), 'scores scaled weights output', dict(n=3, d=4, **S)),
]
for text, f, results, size in SOFTMAX:
    case('softmax', text, 'weights', SHORT + ' ' + results, bad=dict(weights=lambda R, f=f: f(R.masked)), **size)

# NaN and infinity
def plain(s): return E(s) / total(E(s))
case('nan', 'exponentials overflow in all rows', 'weights', SHORT + ' scores attn out',
     bad=dict(weights=lambda R: plain(R.masked)), n=3, d=4, big=400, spread=4)
case('nan', 'exponentials overflow in some rows', 'weights', 'q k v weights output', bad=dict(weights=lambda R: plain(R.masked)),
     way=dict(q=lambda R: R.x @ R.w_q * np.array([1, 600, 1, 0.5])[:, None]), n=4, d=4, spread=2)
case('nan', '+inf in place of masked scores', 'masked', SHORT + ' masked attn',
     CAUSAL, bad=dict(masked=lambda R: np.where(R.keep, R.scaled, np.inf)), n=4, d=4, **C)
case('nan', 'mask times -inf: 0 * -inf is NaN', 'masked', BASIC + ' mask weights output',
     bad=dict(masked=lambda R: R.scaled + (1.0 - R.keep) * -np.inf), n=3, d=4, **C)

# Masks
case('mask', 'masked scores are 0 instead of -inf', 'masked', ALL.replace('weights', 'masked weights'),
     CAUSAL, bad=dict(masked=lambda R: R.scaled * R.keep), n=4, d=3, **C, **S)
case('mask', 'weights masked after the softmax, not normalised again', 'weights', SHORT + ' mask attn out',
     bad=dict(weights=lambda R: softmax(R.scaled) * R.keep), n=4, d=4, **C)
case('mask', 'mask transposed', 'masked', BASIC + ' weights output',
     CAUSAL, bad=dict(masked=lambda R: np.where(R.keep.T, R.scaled, -np.inf)), n=4, d=4, dk=2, **C, **D)
case('mask', 'mask reversed: what it permits is masked', 'masked', BASIC + ' mask masked_scores weights',
     bad=dict(masked=lambda R: np.where(R.keep, -np.inf, R.scaled)), n=4, d=5, dk=3,
     mask=lambda n, m: np.arange(m) < np.array([3, 2, 3, 1])[:, None])
case('mask', 'off by one: each query sees the next key too', 'masked', SHORT + ' out',
     CAUSAL, bad=dict(masked=lambda R: np.where(np.tri(R.n, R.n, 1) > 0, R.scaled, -np.inf)), n=5, d=4, **C, **D)
case('mask', 'off by one: no query sees its own key; -1e9', 'masked', ALL,
     CAUSAL, bad=dict(masked=lambda R: np.where(np.tri(R.n, R.n, -1) > 0, R.scaled, -1e9)), n=4, d=3, **C, **D)
case('mask', 'padding forgotten', 'masked', SHORT + ' out', '--valid-length 3', bad=dict(masked=lambda R: R.scaled), n=5, d=4, valid=3)
case('mask', 'padding masks the rows of the queries instead of the keys; -1e9', 'masked', 'q k v weights output',
     '--valid-length 2', bad=dict(masked=lambda R: np.where(R.keep.T, R.scaled, -1e9)), n=4, d=3, valid=2, **S)
case('mask', 'the mask of 1 and 0 is added to the scores', 'masked', SHORT + ' scaled masked attn',
     CAUSAL, bad=dict(masked=lambda R: R.scaled + R.keep), n=4, d=4, **C)

# Values
case('values', 'values are not projected', 'v', BASIC + ' weights output', bad=dict(v=lambda R: R.x), n=3, d=4, **S)
case('values', 'weights transposed', 'output', ALL, bad=dict(heads=lambda R: T(R.weights) @ R.vh), n=4, d=3, **D)
case('values', 'weights times values cell by cell', 'output', 'Q K V attn out', bad=dict(heads=lambda R: R.weights * R.vh), n=4, d=4)
case('values', 'keys instead of values', 'output', SHORT + ' V attn out',
     bad=dict(heads=lambda R: R.weights @ R.kh), n=3, d=4, dk=3, unsaid=CAUSAL, **C, **S)
case('values', 'w_v is used transposed', 'v', SHORT + ' out', bad=dict(v=lambda R: R.x @ R.w_v.T), n=4, d=4, unsaid=CAUSAL, **C)
case('values', 'w_o is missing', 'output', BASIC + ' W_o out', unsaid='--heads 2', bad=dict(output=lambda R: R.concat), n=3, d=4, h=2, **D)
case('values', 'b_v is forgotten', 'v', BASIC + ' b_q b_k b_v V weights output', bad=dict(v=lambda R: R.x @ R.w_v), b=1, n=3, d=3, **S)
case('values', 'one number of the output mistyped', 'output', ALL, cell=dict(output=typo(2, 1, 0.9)), n=3, d=3, digits=2, format='json', **S)

# Heads
def heads(save, text, where, bad, said=True, **size):
    option = f'--heads {size["h"]}'
    case('heads', text, where, save, option if said else '', bad=bad, unsaid='' if said else option, **size)
HEADS = BASIC + ' W_o'
heads(HEADS + ' out', 'split by a reshape without a transpose', 'head.1.q',
     {a + 'h': lambda R, a=a: getattr(R, a).reshape(R.h, R.n, -1) for a in 'qkv'}, n=4, d=6, h=2)
heads(HEADS + ' weights concat output', 'joined by a reshape without a transpose', 'concat',
     dict(concat=lambda R: R.heads.reshape(R.n, -1)), said=False, n=3, d=4, h=2, **S)
heads(HEADS + ' attention_weights out', 'heads have every second column', 'head.1.q',
     {a + 'h': lambda R, a=a: np.stack([getattr(R, a)[:, i::R.h] for i in range(R.h)]) for a in 'qkv'}, n=5, d=8, h=2)
heads(HEADS + ' weights output', 'the last head is left out', 'concat',
     dict(concat=lambda R: join(R.heads * (np.arange(R.h) < R.h - 1)[:, None, None])), said=False, n=3, d=6, h=3, **D)
heads(HEADS + ' out', 'the average of the heads instead of their concatenation', 'concat',
     dict(concat=lambda R: np.tile(R.heads.mean(0), R.h)), said=False, n=4, d=4, h=2)
heads(HEADS + ' attn out', 'the sum of the heads instead of their concatenation', 'concat',
     dict(concat=lambda R: np.tile(R.heads.sum(0), R.h)), n=4, d=6, h=2, **D)
heads(HEADS + ' attn out', 'softmax over the heads', 'head.1.weights', dict(weights=lambda R: softmax(R.masked, 0)), n=4, d=8, h=2)

# Norms
N, NARGS = 'x gamma beta output', 'layer-norm'
def norm(text, f, save=N, args=NARGS, program='norm', **more):
    case('norm', text, 'output', save, args, bad=dict(output=f), program=program, **more)
def centred(x): return x - x.mean(-1, keepdims=True)
def sd(x, dof=0): return x.std(-1, ddof=dof, keepdims=True)
norm('variance with n-1', lambda R: centred(R.x) / np.sqrt(R.x.var(-1, ddof=1, keepdims=True) + R.eps) * R.gamma + R.beta, n=3, d=4, **S)
norm('epsilon outside the root', lambda R: centred(R.x) / (sd(R.x) + R.eps) * R.gamma + R.beta, unsaid='--epsilon 1e-3', eps=1e-3, n=4, d=6)
norm("Annotated Transformer's norm: n-1, and epsilon 1e-6 outside", lambda R: centred(R.x) / (sd(R.x, 1) + 1e-6) * R.gamma + R.beta, n=3, d=8)
norm('divided by the variance', lambda R: centred(R.x) / (sd(R.x) ** 2 + R.eps) * R.gamma + R.beta, n=3, d=5, **D)
norm('multiplied by the deviation', lambda R: centred(R.x) * np.sqrt(sd(R.x) ** 2 + R.eps) * R.gamma + R.beta, n=3, d=4, **S)
norm('no brackets: x - mean / deviation',
     lambda R: R.x - R.x.mean(-1, keepdims=True) / np.sqrt(sd(R.x) ** 2 + R.eps) * R.gamma + R.beta, n=4, d=6, digits=4)
norm('over the columns', lambda R: (R.x - R.x.mean(0)) / np.sqrt(R.x.var(0) + R.eps) * R.gamma + R.beta, n=4, d=4, **D)
norm('gamma is missing', lambda R: layer_norm(R.x, 1, R.beta, R.eps), n=3, d=6, **D)
norm('beta is missing', lambda R: layer_norm(R.x, R.gamma, 0, R.eps), n=3, d=3, digits=3, format='json', **S)
norm('the mean is subtracted, as in layer normalization',
     lambda R: centred(R.x) / np.sqrt(sd(R.x) ** 2 + R.eps) * R.gamma, 'x gamma out', 'layer-norm --norm-kind rms', 'rms', n=3, d=6)
norm('sum of the squares instead of their mean',
     lambda R: R.x / np.sqrt(total(R.x ** 2) + R.eps) * R.gamma, 'x gamma out', 'layer-norm --norm-kind rms', 'rms', n=3, d=4, **D)

# Layers of an encoder
L, LARGS = 'x LAYER weights output=layer', 'encoder --parameters {f} --x {f}:x --heads 2'
TORCH = LARGS.replace('{f} ', '{p} ')
def layer(text, where, bad, save=L, args=LARGS, program='encoder', kind='layer', **more):
    case(kind, text, where, save, args, bad=bad, program=program, **dict(dict(n=3, d=4, h=2), **more))
def dropout(R):
    a = R.activation(R.inner)
    return a * (np.random.RandomState(5).rand(*a.shape) >= 0.3) / 0.7
layer('the first residual connection is missing', 'sum_1', dict(sum_1=lambda R: R.output), **D)
layer('the second residual connection is missing', 'sum_2', dict(sum_2=lambda R: R.ffn), 'x LAYER attn_output=output ffn output=layer',
      program='pre', unsaid='--norm pre')
layer('the norm stands before the attention, and the layer is said to be post-norm', 'norm_1',
      dict(a=lambda R: layer_norm(R.x, R.g_1, R.be_1, R.eps), norm_1=lambda R: R.sum_1, f=lambda R: layer_norm(R.sum_1, R.g_2, R.be_2, R.eps), layer=lambda R: R.sum_2), d=6)
layer('relu is missing', 'feed_forward', dict(act=lambda R: R.inner), style='short', program='pre', unsaid='--norm pre')
layer('b_1 is missing', 'feed_forward',
     dict(inner=lambda R: R.f @ R.w_1), 'x TORCH output=layer', TORCH, d=6, activation='gelu', unsaid='--activation gelu')
layer('dropout left on inside the feed-forward layer', 'feed_forward', dict(act=dropout), 'x LAYER norm1=norm_1 ffn output=layer', d=6)

# Positions
def pe(text, save='pe', args='positions', kind='positions', where='positions', program='positions', also=None, **more):
    case(kind, text, where, save, args, bad=dict(pe=lambda R: sinusoids(R.n, R.d, **also)), program=program, **more)
pe('positions counted from 1', also=dict(first=1), n=6, d=4)
pe('the exponent is j/d for the columns j, instead of 2i/d for pairs', also=dict(exponent=lambda j, d: j / d), n=5, d=8)
pe('the exponent is i/d, without the 2', args='positions --as positions', format='csv', digits=4, also=dict(exponent=lambda j, d: (j // 2) / d), n=6, d=6)
pe('cosine before sine', also=dict(swap=1), n=4, d=6)
pe('base 1000', also=dict(base=1000.0), n=6, d=8)
pe('angles in degrees', 'x pe positioned', 'add-positions --positions sinusoidal', program='add', also=dict(turn=np.deg2rad), n=5, d=4, **D)
case('positions', 'positions are missing', 'positioned', 'X=x Wq Wk Wv attn out',
     '--positions sinusoidal', bad=dict(a=lambda R: R.x), positions=1, n=4, d=4, **S)
case('positions', 'positions added to q and k instead of x', 'q', 'x W_q W_k W_v Q K V weights output', '--positions sinusoidal', bad=dict(
     a=lambda R: R.x, q=lambda R: R.x @ R.w_q + R.pe, k=lambda R: R.x @ R.w_k + R.pe, v=lambda R: R.x @ R.w_v), positions=1, n=4, d=6)

# Additive attention
AD, ADARGS = 'q k v score_wq score_wk score_wv scores weights output', '--score additive'
case('additive', 'tanh is missing', 'scores', AD, ADARGS,
     bad=dict(tanh=lambda R: (R.q @ R.score_wq)[:, None] + (R.k @ R.score_wk)[None]), program='additive', n=3, d=4, m=4, **D)
case('additive', 'tanh after the sum', 'scores', AD, ADARGS,
     bad=dict(scores=lambda R: np.tanh(((R.q @ R.score_wq)[:, None] + (R.k @ R.score_wk)[None]) @ R.score_wv)[None, :, :, 0]), program='additive', n=2, d=3, m=3, **D)
case('additive', 'the bias is missing', 'scores', AD.replace('score_wv', 'score_wv score_b'), ADARGS,
     bad=dict(tanh=lambda R: np.tanh((R.q @ R.score_wq)[:, None] + (R.k @ R.score_wk)[None])), program='additive', b=1, n=3, d=4, m=5)

# Cross-attention
CROSS = 'x memory W_q W_k W_v'
case('cross', 'queries of the memory, keys and values of x', 'q', CROSS + ' weights output',
     bad=dict(a=lambda R: R.memory, source=lambda R: R.x), memory=1, n=4, d=4, **S)
case('cross', 'values of x instead of the memory', 'v', CROSS + ' out', bad=dict(v=lambda R: R.x @ R.w_v), memory=1, n=3, d=4, **S)

# Rotary positions
RO = 'x W_q W_k W_v rotated_q rotated_k scores weights output'
case('positions', 'scores of the queries and keys before the rotation', 'scores', RO,
     '--positions rotary', bad=dict(scores=lambda R: R.qh @ T(R.kh)), program='rotary', n=4, d=4)

# Two mistakes
def two(first, second, where, save, args='', **more): case('two', [first, second], where, save, args, **more)
UNSCALED, BY_DK, COLUMNS = (dict(scaled=lambda R: R.scores), dict(scaled=lambda R: R.scores / R.kh.shape[-1]),
                            dict(weights=lambda R: softmax(R.masked, -2)))
KEYS, TRANSPOSED, RESHAPED = (dict(heads=lambda R: R.weights @ R.kh), dict(heads=lambda R: T(R.weights) @ R.vh),
                              dict(concat=lambda R: R.heads.reshape(R.n, -1)))
two('not scaled', 'weights transposed', 'scaled', SHORT + ' out', bad=UNSCALED | TRANSPOSED, n=4, d=4, **D)
two('divided by d_k instead of its root', 'values are not projected', 'v', ALL, bad=BY_DK | dict(v=lambda R: R.x), n=3, d=4, **S)
two('softmax over the columns', 'keys instead of values', 'weights', BASIC + ' weights output', bad=COLUMNS | KEYS, n=4, d=6, dk=3)
two('not scaled', 'masked scores are 0 instead of -inf', 'scaled', SHORT + ' scores attn out',
     CAUSAL, bad=UNSCALED | dict(masked=lambda R: R.scaled * R.keep), n=4, d=4, **C)
two('not scaled', 'sigmoid instead of softmax', 'scaled', 'Q K V attn out',
     bad=UNSCALED | dict(weights=lambda R: 1 / (1 + E(-R.masked))), n=3, d=4, **D)
two('keys and queries exchanged: k q^T', 'w_v is used transposed', 'v', BASIC + ' V scores weights output',
     bad=dict(scores=lambda R: R.kh @ T(R.qh), v=lambda R: R.x @ R.w_v.T), n=4, d=3, **D)
two('not scaled', 'joined by a reshape without a transpose', 'scaled', HEADS + ' attn out', '--heads 2', bad=UNSCALED | RESHAPED, n=4, d=8, h=2)
two('divided by the root of d_model instead of d_k', 'w_o is missing', 'scaled', HEADS + ' attention_weights out', '--heads 2',
    bad=dict(scaled=lambda R: R.scores / np.sqrt(R.d), output=lambda R: R.concat), n=3, d=6, h=2)
two('variance with n-1', 'beta is missing', 'output', N, NARGS,
     bad=dict(output=lambda R: centred(R.x) / np.sqrt(sd(R.x, 1) ** 2 + R.eps) * R.gamma), program='norm', n=3, d=4, **S)
two('divided by the variance', 'gamma is missing', 'output', N, NARGS,
     bad=dict(output=lambda R: centred(R.x) / (sd(R.x) ** 2 + R.eps) + R.beta), program='norm', n=4, d=6)
two('relu is missing', 'the second residual connection is missing', 'feed_forward', 'x LAYER ffn output=layer', LARGS,
     bad=dict(act=lambda R: R.inner, sum_2=lambda R: R.ffn), program='encoder', n=3, d=4, h=2)
two('positions counted from 1', 'base 1000', 'positions', 'pe', 'positions',
     bad=dict(pe=lambda R: sinusoids(R.n, R.d, base=1000.0, first=1)), program='positions', n=5, d=6)
two('padding forgotten', 'not scaled', 'scaled', SHORT + ' attn out',
     '--valid-length 3', bad=UNSCALED | dict(masked=lambda R: R.scaled), n=4, d=5, valid=3)
two('values of x instead of the memory', 'softmax over the columns', 'v', CROSS + ' attn out',
     bad=COLUMNS | dict(v=lambda R: R.x @ R.w_v), memory=1, n=4, d=4)
two('b_1 is missing', 'relu is missing', 'inner', 'x W1 b1 W2 b2 ffn', 'feed-forward',
     bad=dict(inner=lambda R: R.f @ R.w_1, act=lambda R: R.inner), program='ff', n=3, d=4, **D)

# Right programs: what differs is harmless
RESULTS = ' scores weights output'
def cut(digits): return lambda a: np.trunc(a * 10 ** digits) / 10 ** digits
def to(digits): return lambda a: np.round(a, digits)
def half(step, program='attention'): return then(step, lambda a: a.astype('float16').astype(float), program)
right(BASIC + RESULTS, 'results with 2 decimals', digits=2, n=3, d=3, format='csv', **S)
right(BASIC + RESULTS, 'results with 2 decimals', digits=2, n=3, d=4, dk=2, format='json', **S)
right(SHORT + ' attn out', 'results with 2 decimals', digits=2, n=4, d=4, **D)
right(SHORT + ' Q K V scaled attn out', 'results with 3 decimals', digits=3, n=3, d=4, format='csv', **D)
right(SHORT + ' attn out', 'results with 3 decimals', digits=3, n=4, d=5, **S)
right('Q K V attention_weights output', 'everything with 4 decimals', digits=4, n=5, d=4)
right(SHORT + ' attn out', 'everything with 4 decimals', digits=4, n=4, d=6, format='csv')
right(SHORT + ' scores attn out', 'float32', dtype='float32', n=5, d=8)
right(HEADS + ' attn out', 'float32', '--heads 2', dtype='float32', n=4, d=8, h=2)
right(N, 'float32', NARGS, dtype='float32', program='norm', n=4, d=8)
right(SHORT + ' attn out', 'values were float16 when they were weighed', way=half('v'), n=4, d=4)
right(SHORT + ' V attn out', 'values were float16 when they were weighed', way=half('v'), n=3, d=6, **D)
right(SHORT + ' attn out', 'everything is saved as float16', dtype='float16', n=4, d=4)
right('Q K V scores weights output', 'everything is saved as float16', dtype='float16', n=5, d=8)
right(SHORT + ' attn out', 'every step in float16, and saved so', dtype='float16',
     way={k: v for s in ('q', 'k', 'v', 'scores', 'scaled', 'weights', 'output') for k, v in half(s).items()}, n=4, d=6)
right(SHORT + ' masked attn out', 'mask value -1e9', CAUSAL, fill=-1e9, n=4, d=4, **C)
right(BASIC + ' masked_scores weights output', 'mask value -inf', CAUSAL, n=3, d=4, **C, **S)
right(SHORT + ' attn out', 'mask value -1e9, not saved', CAUSAL, fill=-1e9, n=5, d=6, **C)
right(SHORT + ' scaled masked attn out', '-1e9 is added to the scores',
     CAUSAL, way=dict(masked=lambda R: R.scaled + np.where(R.keep, 0, -1e9)), n=4, d=5, **C)
right(SHORT + ' mask=bias attn out', 'a mask of 0 and -inf is saved', n=4, d=4, **C)
right(BASIC + ' mask weights output', 'a mask of true and false is saved', mask=lambda n, m: np.arange(m) < np.array([4, 2, 3, 4])[:, None], n=4, d=4)
BEFORE = dict(scaled=lambda R: np.where(R.keep, R.scores, R.fill) / np.sqrt(R.kh.shape[-1]), masked=lambda R: R.scaled)
right(SHORT + ' attn out', 'masked before the scores are scaled', CAUSAL, way=BEFORE, n=4, d=4, **C)
right(SHORT + ' masked attn out', 'masked with -1e9 before the scores are scaled', CAUSAL, way=BEFORE, fill=-1e9, n=4, d=4, **C)
QUERIES = dict(qh=lambda R: split(R.q, R.h) / np.sqrt(R.kh.shape[-1] if hasattr(R, 'kh') else R.q.shape[1] // R.h), scaled=lambda R: R.scores)
right(SHORT + ' attn out', 'queries are scaled instead of scores', way=QUERIES, n=4, d=4)
right('x Wq Wk Wv Q K V scores attn out', 'queries are scaled instead of scores; saved before that', way=QUERIES, n=3, d=4, **S)
right('x Wq Wk Wv Q=qh K V scores attn out', 'queries are scaled instead of scores; saved after that', way=QUERIES, n=4, d=6)
right('x Wq=w_q.T Wk=w_k.T Wv=w_v.T attn out', 'square matrices stored as (out, in)', n=4, d=4)
right('x W_q=w_q.T W_k=w_k.T W_v=w_v.T Q K V scores weights output', 'square matrices stored as (out, in)', n=3, d=3, **S)
right('x q_proj.weight=w_q.T k_proj.weight=w_k.T v_proj.weight=w_v.T attn out', 'linear layers of PyTorch, (out, in)', n=4, d=6)
right(HEADS + ' weights out', 'weights of the heads are stacked', '--heads 2', n=3, d=4, h=2, **S)
right(HEADS + ' attn head_outputs=heads out', 'heads are stacked', '--heads 4', n=4, d=8, h=4)
right(HEADS + ' head1_attn=weights.0 head2_attn=weights.1 out', 'a name for each head', '--heads 2', n=4, d=6, h=2)
right(SHORT + ' attn out', 'softmax without a maximum', way=dict(weights=lambda R: plain(R.masked)), n=4, d=4)
right(SHORT + ' attn out', 'softmax by logarithms', way=dict(weights=lambda R: E(R.masked - np.log(total(E(R.masked))))), n=4, d=3, **D)
right(SHORT + ' out', 'divided by the sum after the values were added up',
     way=dict(heads=lambda R: E(R.masked) @ R.vh / total(E(R.masked))), n=5, d=4)
right('x LAYER weights output=layer', 'pre-norm, said', LARGS + ' --norm pre', program='pre', n=3, d=4, h=2)
right('x TORCH output=layer', 'GELU is not said', TORCH, program='encoder', activation='gelu', unsaid='--activation gelu', n=4, d=6, h=2)
right('X=x pe Wq Wk Wv Q K V attn out', 'positions included', '--positions sinusoidal', positions=1, n=4, d=6)
right('x pe positioned', 'positions included', 'add-positions --positions sinusoidal', program='add', digits=3, format='json', n=4, d=4, **S)
right(N, 'epsilon 1e-12, said', NARGS + ' --epsilon 1e-12', program='norm', eps=1e-12, n=3, d=6)
right(N, 'epsilon 1e-12, not said', NARGS, program='norm', eps=1e-12, unsaid='--epsilon 1e-12', n=4, d=5)
right(SHORT + ' attn out', 'causal mask not said', unsaid=CAUSAL, n=4, d=4, **C)
right(BASIC + RESULTS, 'causal mask not said', unsaid=CAUSAL, digits=3, n=3, d=4, **C, **S)
right(HEADS + ' attn out', 'heads not said', unsaid='--heads 2', n=4, d=6, h=2)
right(HEADS + ' out', 'heads not said', unsaid='--heads 2', n=3, d=4, h=2)
right(SHORT + ' attn out', 'weights rounded to 2 decimals, saved so', way=then('weights', to(2)), digits=2, n=3, d=4, **S)
right(SHORT + ' scores out', 'weights rounded to 2 decimals before they were multiplied, not saved', way=then('weights', to(2)), n=3, d=3, **S)
right('Q K V scaled attn out', 'scores cut to 2 decimals', way=then('scaled', cut(2)), n=3, d=3, **S)
right(SHORT + ' scaled attn out', 'root of d_k rounded to 1.41',
     way=dict(scaled=lambda R: R.scores / 1.41), digits=3, n=3, d=4, dk=2, format='json', **S)
right('q k v score_wq score_wk score_wv scores weights output', 'additive attention, 4 decimals', ADARGS,
     program='additive', digits=4, n=2, d=3, m=4, **D)


# --- Writing --------------------------------------------------------------------------------------------------------

def differs(a, b, digits):
    """Whether any array of two files differs by more than is lost when numbers are written."""
    lost = 1e-8 if digits is None else 1.01 * 10.0 ** -digits
    return any(np.shape(a[k]) != np.shape(b[k]) or not np.allclose(np.asarray(a[k], float), np.asarray(b[k], float), 1e-6, lost, True)
               for k in a)


def main():
    folder, as_right = sys.argv[1], '--right' in sys.argv[2:]
    os.makedirs(folder, exist_ok=True)
    table = []
    for number, c in enumerate(CASES, 1):
        seed, bad, way = 4000 + number, c.bad or {}, c.way or {}
        good, wrong = (saved(c, run(c, seed, steps), after) for steps, after in ((way, {}), (way | bad, c.cell or {})))
        assert bool(c.mistakes) == differs(good, wrong, c.digits), (number, c.mistakes, 'does not show')
        if len(c.mistakes) > 1:
            for step in bad:
                alone = saved(c, run(c, seed, way | {step: bad[step]}), {})
                assert len(bad) < 2 or differs(alone, wrong, c.digits), (number, c.mistakes, 'only one shows')
        file = f'c{number:03}.{c.format}'
        write(os.path.join(folder, file), good if as_right else wrong, c)
        table.append(dict(id=file[:4], kind=c.kind, args=[file, *c.args.format(f=file, p=file[:4] + '-parameters.npz').split()], wrong=bool(c.mistakes) and not as_right,
                          mistakes=[] if as_right else c.mistakes, where='' if as_right else c.where, unsaid=c.unsaid.split(), note=c.note))
    with open(os.path.join(folder, 'cases.json'), 'w') as out: json.dump(table, out, indent=1, ensure_ascii=False)


if __name__ == '__main__': main()
