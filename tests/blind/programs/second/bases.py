"""Right programs, in the styles in which people write them.  A wrong program is one of them with some lines changed."""
import numpy as np

BASES = {}


def base(name, make, src, args, final='output', params=None, common=''):
    BASES[name] = dict(name=name, make=make, src=src.strip('\n') + '\n', args=args, final=final, params=params)


def G(r, *s, c=1.0):
    return r.normal(size=s) * c


# ---------------------------------------------------------------- one head
def mk_head(r, n=4, d=6, dk=4, dv=None, c=1.0, bias=False):
    dv = dv or dk
    o = dict(x=G(r, n, d, c=c), W_q=G(r, d, dk, c=.6), W_k=G(r, d, dk, c=.6), W_v=G(r, d, dv, c=.6))
    if bias:
        o.update(b_q=G(r, dk, c=.5), b_k=G(r, dk, c=.5), b_v=G(r, dv, c=.5))
    return o


base('head', mk_head, '''
def program(x, W_q, W_k, W_v):
    n, d_model = x.shape
    q = x @ W_q
    k = x @ W_k
    v = x @ W_v
    d_k = k.shape[-1]
    scores = q @ k.T
    scaled = scores / np.sqrt(d_k)
    e = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    weights = e / e.sum(axis=-1, keepdims=True)
    output = weights @ v
    return dict(q=q, k=k, v=v, scores=scores, scaled=scaled, weights=weights, output=output)
''', [])

base('causal', lambda r, n=5, d=6, dk=4, **k: mk_head(r, n, d, dk, bias=True, **k), '''
def program(x, W_q, W_k, W_v, b_q, b_k, b_v):
    n = len(x)
    q = x @ W_q + b_q
    k = x @ W_k + b_k
    v = x @ W_v + b_v
    scores = np.einsum('id,jd->ij', q, k)
    scaled = scores / math.sqrt(k.shape[1])
    mask = np.tril(np.ones((n, n), dtype=bool))
    masked = np.where(mask, scaled, -np.inf)
    e = np.exp(masked - masked.max(-1, keepdims=True))
    weights = e / e.sum(-1, keepdims=True)
    output = np.einsum('ij,jd->id', weights, v)
    return dict(q=q, k=k, v=v, scores=scores, scaled=scaled, masked=masked, weights=weights, output=output)
''', ['--causal'])

base('padded', lambda r, n=6, **k: mk_head(r, n, 4, 4, **k), '''
def program(x, W_q, W_k, W_v, valid=4):
    n = x.shape[0]
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    scores = q @ k.T
    scaled = scores / k.shape[-1] ** 0.5
    key_mask = np.arange(n) < valid
    masked = np.where(key_mask[None, :], scaled, -np.inf)
    weights = softmax(masked)
    output = weights @ v
    return dict(q=q, k=k, v=v, scores=scores, scaled=scaled, masked=masked, weights=weights, output=output)
''', ['--valid-length', '4'])


# ---------------------------------------------------------------- multi-head
def mk_mha(r, n=5, d=8, bias=True):
    o = dict(x=G(r, n, d))
    for a in 'qkvo':
        o['w_' + a] = G(r, d, d, c=.5)
    if bias:
        for a in 'qkvo':
            o['b_' + a] = G(r, d, c=.4)
    return o


base('mha', mk_mha, '''
def program(x, w_q, w_k, w_v, w_o, b_q, b_k, b_v, b_o, n_heads=2):
    n, d_model = x.shape
    d_k = d_model // n_heads
    q = x @ w_q + b_q
    k = x @ w_k + b_k
    v = x @ w_v + b_v
    q = q.reshape(n, n_heads, d_k).transpose(1, 0, 2)
    k = k.reshape(n, n_heads, d_k).transpose(1, 0, 2)
    v = v.reshape(n, n_heads, d_k).transpose(1, 0, 2)
    scores = q @ k.transpose(0, 2, 1)
    scaled = scores / np.sqrt(d_k)
    weights = softmax(scaled, axis=-1)
    heads = weights @ v
    concat = heads.transpose(1, 0, 2).reshape(n, d_model)
    output = concat @ w_o + b_o
    return dict(q=q, k=k, v=v, scores=scores, scaled=scaled, weights=weights, head_out=heads, concat=concat,
                output=output)
''', ['--heads', '2'])

base('loop', lambda r, n=4, d=6: mk_mha(r, n, d, bias=False), '''
def program(x, w_q, w_k, w_v, w_o, heads=3):
    n, d = x.shape
    d_k = d // heads
    Q, K, V = x @ w_q, x @ w_k, x @ w_v
    saved = {'q': Q, 'k': K, 'v': V}
    outs = []
    for i in range(heads):
        cols = slice(i * d_k, (i + 1) * d_k)
        q_i, k_i, v_i = Q[:, cols], K[:, cols], V[:, cols]
        s = q_i @ k_i.T
        a = softmax(s / np.sqrt(d_k))
        outs.append(a @ v_i)
        saved[f'head.{i + 1}.scores'] = s
        saved[f'head.{i + 1}.weights'] = a
        saved[f'head.{i + 1}.output'] = outs[-1]
    concat = np.concatenate(outs, axis=-1)
    output = concat @ w_o
    saved['concat'] = concat
    saved['output'] = output
    return saved
''', ['--heads', '3'])


def mk_lin(r, n=5, d=8):
    o = {}
    for a in ['q_proj', 'k_proj', 'v_proj', 'out_proj']:
        o[a + '.weight'] = G(r, d, d, c=.45)
        o[a + '.bias'] = G(r, d, c=.3)
    o['x'] = G(r, n, d)
    return o


# a torch module; the batch has one sentence
base('linear', mk_lin, '''
def program(x, n_head=4, **p):
    x = torch.tensor(x)[None]
    p = {a: torch.tensor(b) for a, b in p.items()}
    B, T, C = x.size()
    q = F.linear(x, p['q_proj.weight'], p['q_proj.bias'])
    k = F.linear(x, p['k_proj.weight'], p['k_proj.bias'])
    v = F.linear(x, p['v_proj.weight'], p['v_proj.bias'])
    q = q.view(B, T, n_head, C // n_head).transpose(1, 2)
    k = k.view(B, T, n_head, C // n_head).transpose(1, 2)
    v = v.view(B, T, n_head, C // n_head).transpose(1, 2)
    att = (q @ k.transpose(-2, -1)) * (1.0 / math.sqrt(k.size(-1)))
    bias = torch.tril(torch.ones(T, T)).view(1, 1, T, T)
    masked = att.masked_fill(bias[:, :, :T, :T] == 0, float('-inf'))
    attn = F.softmax(masked, dim=-1)
    y = attn @ v
    ctx = y.transpose(1, 2).contiguous().view(B, T, C)
    out = F.linear(ctx, p['out_proj.weight'], p['out_proj.bias'])
    return dict(q=q[0], k=k[0], v=v[0], scaled=att[0], masked=masked[0], attn_weights=attn[0], context=ctx[0],
                out=out[0])
''', ['--heads', '4', '--causal'], final='out')


def mk_inproj(r, n=4, d=6):
    return {'in_proj_weight': G(r, 3 * d, d, c=.5), 'in_proj_bias': G(r, 3 * d, c=.3),
            'out_proj.weight': G(r, d, d, c=.5), 'out_proj.bias': G(r, d, c=.3), 'x': G(r, n, d)}


base('inproj', mk_inproj, '''
def program(x, num_heads=2, **p):
    L, E = x.shape
    W, b = p['in_proj_weight'], p['in_proj_bias']
    proj = x @ W.T + b
    q, k, v = np.split(proj, 3, axis=-1)
    split = lambda t: t.reshape(L, num_heads, E // num_heads).swapaxes(0, 1)
    q, k, v = split(q), split(k), split(v)
    attn = softmax(q @ k.swapaxes(-1, -2) / math.sqrt(E // num_heads))
    attn_output = (attn @ v).swapaxes(0, 1).reshape(L, E)
    output = attn_output @ p['out_proj.weight'].T + p['out_proj.bias']
    return dict(q=q, k=k, v=v, attn_weights=attn, concat=attn_output, output=output)
''', ['--heads', '2'])


# ---------------------------------------------------------------- cross-attention
def mk_cross(r, n=4, m=4, d=6):
    o = mk_mha(r, n, d, bias=False)
    x = o.pop('x')
    return dict(x=x, memory=G(r, m, d), **o)


base('cross', mk_cross, '''
def program(x, memory, w_q, w_k, w_v, w_o, h=2):
    n, d = x.shape
    m = memory.shape[0]
    q = x @ w_q
    k = memory @ w_k
    v = memory @ w_v
    split = lambda t: t.reshape(len(t), h, d // h).transpose(1, 0, 2)
    q, k, v = split(q), split(k), split(v)
    scores = np.einsum('hqd,hkd->hqk', q, k)
    scaled = scores / np.sqrt(d // h)
    weights = softmax(scaled)
    context = np.einsum('hqk,hkd->hqd', weights, v)
    concat = context.transpose(1, 0, 2).reshape(n, d)
    output = concat @ w_o
    return dict(q=q, k=k, v=v, scores=scores, scaled=scaled, weights=weights, context=context, concat=concat,
                output=output)
''', ['--heads', '2'])


# ---------------------------------------------------------------- batch
def mk_batch(r, B=3, n=4, d=6):
    o = dict(x=G(r, B, n, d))
    for a in 'qkvo':
        o['w_' + a] = G(r, d, d, c=.5)
    return o


base('batch', mk_batch, '''
def program(x, w_q, w_k, w_v, w_o, n_heads=2, lengths=(4, 2, 3)):
    B, n, d = x.shape
    d_k = d // n_heads
    q = (x @ w_q).reshape(B, n, n_heads, d_k).transpose(0, 2, 1, 3)
    k = (x @ w_k).reshape(B, n, n_heads, d_k).transpose(0, 2, 1, 3)
    v = (x @ w_v).reshape(B, n, n_heads, d_k).transpose(0, 2, 1, 3)
    scores = q @ k.swapaxes(-1, -2)
    scaled = scores / np.sqrt(d_k)
    pad = np.arange(n)[None, :] >= np.array(lengths)[:, None]
    masked = np.where(pad[:, None, None, :], -np.inf, scaled)
    weights = softmax(masked, axis=-1)
    ctx = weights @ v
    concat = ctx.transpose(0, 2, 1, 3).reshape(B, n, d)
    output = concat @ w_o
    return dict(q=q, k=k, v=v, scores=scores, scaled=scaled, masked=masked, weights=weights, concat=concat,
                output=output)
''', ['--heads', '2', '--valid-length', '4,2,3'])


# ---------------------------------------------------------------- normalization
def mk_ln(r, n=4, d=6):
    return dict(x=G(r, n, d, c=1.5) + .5, gamma=1 + G(r, d, c=.4), beta=G(r, d, c=.4))


base('ln', mk_ln, '''
def program(x, gamma, beta, eps=1e-5):
    mean = x.mean(axis=-1, keepdims=True)
    var = x.var(axis=-1, keepdims=True)
    x_hat = (x - mean) / np.sqrt(var + eps)
    y = gamma * x_hat + beta
    return dict(mean=mean, var=var, x_hat=x_hat, y=y)
''', ['layer-norm', '--gamma', '{f}:gamma', '--beta', '{f}:beta'], final='y')

base('rms', lambda r, n=3, d=8: dict(x=G(r, n, d) + .4, gamma=1 + G(r, d, c=.4)), '''
def program(x, gamma, eps=1e-5):
    ms = (x ** 2).mean(-1, keepdims=True)
    normed = x / np.sqrt(ms + eps)
    output = normed * gamma
    return dict(normalised=normed, output=output)
''', ['layer-norm', '--norm-kind', 'rms', '--gamma', '{f}:gamma'])


# ---------------------------------------------------------------- positions
base('sinu', lambda r, n=5, d=8, dk=4: mk_head(r, n, d, dk), '''
def program(x, W_q, W_k, W_v):
    n, d = x.shape
    pe = np.zeros((n, d))
    pos = np.arange(n)[:, None]
    div = np.exp(np.arange(0, d, 2) * -(math.log(10000.0) / d))
    pe[:, 0::2] = np.sin(pos * div)
    pe[:, 1::2] = np.cos(pos * div)
    z = x + pe
    q, k, v = z @ W_q, z @ W_k, z @ W_v
    scores = q @ k.T
    scaled = scores / math.sqrt(k.shape[-1])
    weights = softmax(scaled)
    output = weights @ v
    return dict(positions=pe, positioned=z, q=q, k=k, v=v, scores=scores, scaled=scaled, weights=weights,
                output=output)
''', ['--positions', 'sinusoidal'])

base('rope', lambda r, n=5, d=6, dk=6: mk_head(r, n, d, dk, bias=True), '''
def program(x, W_q, W_k, W_v, b_q, b_k, b_v, base=10000.0):
    n = x.shape[0]

    def rotate(t, start=0):
        d = t.shape[-1]
        freq = base ** (-np.arange(0, d, 2) / d)
        angle = np.arange(start, start + n)[:, None] * freq
        cos, sin = np.cos(angle), np.sin(angle)
        out = np.empty_like(t)
        out[:, 0::2] = t[:, 0::2] * cos - t[:, 1::2] * sin
        out[:, 1::2] = t[:, 0::2] * sin + t[:, 1::2] * cos
        return out

    q = x @ W_q + b_q
    k = x @ W_k + b_k
    v = x @ W_v + b_v
    rotated_q = rotate(q)
    rotated_k = rotate(k)
    scores = rotated_q @ rotated_k.T
    scaled = scores / math.sqrt(k.shape[-1])
    allowed = np.tril(np.ones((n, n)))
    masked = np.where(allowed == 1, scaled, -1e9)
    weights = softmax(masked)
    output = weights @ v
    return dict(q=q, k=k, v=v, rotated_q=rotated_q, rotated_k=rotated_k, scores=scores, scaled=scaled,
                weights=weights, output=output)
''', ['--positions', 'rotary', '--causal'])


# ---------------------------------------------------------------- alignment scores
base('additive', lambda r, n=3, m=5, dq=4, dk=4, h=6: dict(query=G(r, n, dq), keys=G(r, m, dk), values=G(r, m, dk),
     W_a=G(r, dq, h, c=.7), U_a=G(r, dk, h, c=.7), v_a=G(r, h, 1)), '''
def program(query, keys, values, W_a, U_a, v_a):
    hidden_q = query @ W_a
    hidden_k = keys @ U_a
    features = np.tanh(hidden_q[:, None, :] + hidden_k[None, :, :])
    scores = (features @ v_a).squeeze(-1)
    weights = softmax(scores, axis=-1)
    context = weights @ values
    return dict(hidden_q=hidden_q, hidden_k=hidden_k, scores=scores, weights=weights, context=context)
''', ['--score', 'additive', '--score-wq', '{f}:W_a', '--score-wk', '{f}:U_a', '--score-wv', '{f}:v_a'], final='context')

base('general', lambda r, n=4, m=4, dq=5, dk=5: dict(q=G(r, n, dq), k=G(r, m, dk), v=G(r, m, dk),
     score_m=G(r, dq, dk, c=.5)), '''
def program(q, k, v, score_m):
    projected_q = q @ score_m
    scores = projected_q @ k.T
    weights = softmax(scores)
    context = weights @ v
    return dict(projected_q=projected_q, scores=scores, weights=weights, context=context)
''', ['--score', 'bilinear'], final='context')

base('dot', lambda r, n=3, m=5, d=4: dict(decoder_states=G(r, n, d), encoder_states=G(r, m, d)), '''
def program(decoder_states, encoder_states):
    scores = decoder_states @ encoder_states.T
    weights = softmax(scores)
    context = weights @ encoder_states
    return dict(scores=scores, weights=weights, context=context)
''', ['--score', 'dot', '--q', '{f}:decoder_states', '--k', '{f}:encoder_states', '--v', '{f}:encoder_states'],
     final='context')


# ---------------------------------------------------------------- KV cache, grouped heads
base('kv', lambda r, n=5, d=6, dk=4: mk_head(r, n, d, dk), '''
def program(x, W_q, W_k, W_v):
    n = len(x)
    d_k = W_k.shape[1]
    k_cache, v_cache = np.zeros((0, d_k)), np.zeros((0, W_v.shape[1]))
    out, att = [], np.zeros((n, n))
    for t in range(n):
        x_t = x[t:t + 1]
        q_t = x_t @ W_q
        k_cache = np.concatenate([k_cache, x_t @ W_k], axis=0)
        v_cache = np.concatenate([v_cache, x_t @ W_v], axis=0)
        s = q_t @ k_cache.T / np.sqrt(d_k)
        a = softmax(s)
        att[t, :a.shape[1]] = a[0]
        out.append(a @ v_cache)
    output = np.concatenate(out, axis=0)
    return dict(k=k_cache, v=v_cache, weights=att, output=output)
''', ['--causal'])

base('gqa', lambda r, n=5, d=8, dkv=4: dict(x=G(r, n, d), wq=G(r, d, d, c=.5), wk=G(r, d, dkv, c=.5),
     wv=G(r, d, dkv, c=.5), wo=G(r, d, d, c=.5)), '''
def program(x, wq, wk, wv, wo, n_heads=4, n_kv=2):
    n, d = x.shape
    hd = d // n_heads
    xq = (x @ wq).reshape(n, n_heads, hd).transpose(1, 0, 2)
    xk = (x @ wk).reshape(n, n_kv, hd).transpose(1, 0, 2)
    xv = (x @ wv).reshape(n, n_kv, hd).transpose(1, 0, 2)
    keys = np.repeat(xk, n_heads // n_kv, axis=0)
    values = np.repeat(xv, n_heads // n_kv, axis=0)
    scores = xq @ keys.swapaxes(1, 2) / math.sqrt(hd)
    scores = scores + np.triu(np.full((n, n), -np.inf), k=1)
    w = softmax(scores)
    o = (w @ values).transpose(1, 0, 2).reshape(n, d)
    output = o @ wo
    return dict(weights=w, concat=o, output=output)
''', ['--heads', '4', '--kv-heads', '2', '--causal'])


# ---------------------------------------------------------------- gradients
base('grad', lambda r, n=4, d=5, dk=5: dict(**mk_head(r, n, d, dk), d_output=G(r, n, dk)), '''
def program(x, W_q, W_k, W_v, d_output):
    q, k, v = x @ W_q, x @ W_k, x @ W_v
    c = np.sqrt(k.shape[1])
    scores = q @ k.T
    w = softmax(scores / c)
    output = w @ v
    d_weights = d_output @ v.T
    d_v = w.T @ d_output
    d_scaled = w * (d_weights - (d_weights * w).sum(axis=1, keepdims=True))
    d_scores = d_scaled / c
    d_q = d_scores @ k
    d_k = d_scores.T @ q
    d_W_q = x.T @ d_q
    d_W_k = x.T @ d_k
    d_W_v = x.T @ d_v
    d_x = d_q @ W_q.T + d_k @ W_k.T + d_v @ W_v.T
    return dict(weights=w, output=output, d_weights=d_weights, d_v=d_v, d_scaled=d_scaled, d_scores=d_scores, d_q=d_q,
                d_k=d_k, d_w_q=d_W_q, d_w_k=d_W_k, d_w_v=d_W_v, d_x=d_x)
''', ['backward', '--upstream', '{f}:d_output'], final='d_x')


# ---------------------------------------------------------------- encoder layer
def P_att(r, pre, d, c=.45):
    o = {}
    for a in 'qkvo':
        o[f'{pre}.w_{a}'] = G(r, d, d, c=c)
        o[f'{pre}.b_{a}'] = G(r, 1, d, c=.3)
    return o


def P_norm(r, pre, d):
    return {pre + '.gamma': 1 + G(r, 1, d, c=.3), pre + '.beta': G(r, 1, d, c=.3)}


def P_ff(r, pre, d, f):
    return {pre + '.w_1': G(r, d, f, c=.5), pre + '.b_1': G(r, 1, f, c=.3), pre + '.w_2': G(r, f, d, c=.5),
            pre + '.b_2': G(r, 1, d, c=.3)}


def mk_enc(r, n=4, d=6, f=10, pre=False):
    o = dict(x=G(r, n, d))
    o.update(P_att(r, 'encoder.1.self_attention', d))
    o.update(P_norm(r, 'encoder.1.norm_1', d))
    o.update(P_ff(r, 'encoder.1.feed_forward', d, f))
    o.update(P_norm(r, 'encoder.1.norm_2', d))
    if pre:
        o.update(P_norm(r, 'encoder.norm', d))
    return o


ENC = '''
def layer_norm(x, p, name, eps=1e-5):
    mu = x.mean(-1, keepdims=True)
    var = x.var(-1, keepdims=True)
    return (x - mu) / np.sqrt(var + eps) * p[name + '.gamma'] + p[name + '.beta']


def attention(xq, xkv, p, name, h, mask=None):
    d = xq.shape[1]
    q = xq @ p[name + '.w_q'] + p[name + '.b_q']
    k = xkv @ p[name + '.w_k'] + p[name + '.b_k']
    v = xkv @ p[name + '.w_v'] + p[name + '.b_v']
    sp = lambda t: t.reshape(t.shape[0], h, d // h).transpose(1, 0, 2)
    q, k, v = sp(q), sp(k), sp(v)
    s = q @ k.transpose(0, 2, 1) / np.sqrt(d // h)
    if mask is not None:
        s = np.where(mask, s, -1e9)
    w = softmax(s)
    c = (w @ v).transpose(1, 0, 2).reshape(xq.shape[0], d)
    return c @ p[name + '.w_o'] + p[name + '.b_o'], w


def feed_forward(x, p, name):
    hidden = x @ p[name + '.w_1'] + p[name + '.b_1']
    return np.maximum(hidden, 0) @ p[name + '.w_2'] + p[name + '.b_2'], hidden
'''

ENCARGS = ['encoder', '--parameters', '{p}', '--heads', '2', '--x', '{f}:x']
base('enc', mk_enc, ENC + '''

def program(x, h=2, **p):
    a, w = attention(x, x, p, 'encoder.1.self_attention', h)
    sum_1 = x + a
    n1 = layer_norm(sum_1, p, 'encoder.1.norm_1')
    f, hidden = feed_forward(n1, p, 'encoder.1.feed_forward')
    sum_2 = n1 + f
    n2 = layer_norm(sum_2, p, 'encoder.1.norm_2')
    return {'encoder.1.self_attention.output': a, 'encoder.1.sum_1': sum_1, 'encoder.1.norm_1.output': n1,
            'encoder.1.feed_forward.inner': hidden, 'encoder.1.feed_forward.output': f, 'encoder.1.sum_2': sum_2,
            'encoder.output': n2}
''', ENCARGS, final='encoder.output', params='encoder')

# a vision transformer's block: pre-norm and GELU
base('vit', lambda r, n=5, d=8, f=12: mk_enc(r, n, d, f, pre=True), ENC.replace('np.maximum(hidden, 0)', 'gelu(hidden)') + '''

def program(x, h=2, **p):
    n1 = layer_norm(x, p, 'encoder.1.norm_1')
    a, w = attention(n1, n1, p, 'encoder.1.self_attention', h)
    x1 = x + a
    n2 = layer_norm(x1, p, 'encoder.1.norm_2')
    f, hidden = feed_forward(n2, p, 'encoder.1.feed_forward')
    x2 = x1 + f
    y = layer_norm(x2, p, 'encoder.norm')
    return {'encoder.1.norm_1.output': n1, 'encoder.1.self_attention.output': a, 'encoder.1.sum_1': x1,
            'encoder.1.norm_2.output': n2, 'encoder.1.feed_forward.inner': hidden,
            'encoder.1.feed_forward.output': f, 'encoder.1.sum_2': x2, 'encoder.output': y}
''', ENCARGS + ['--norm', 'pre', '--activation', 'gelu'], final='encoder.output', params='encoder')


# ---------------------------------------------------------------- decoder layer
def mk_dec(r, n=4, m=4, d=6, f=8):
    o = dict(x=G(r, n, d), memory=G(r, m, d))
    o.update(P_att(r, 'decoder.1.self_attention', d))
    o.update(P_norm(r, 'decoder.1.norm_1', d))
    o.update(P_att(r, 'decoder.1.cross_attention', d))
    o.update(P_norm(r, 'decoder.1.norm_2', d))
    o.update(P_ff(r, 'decoder.1.feed_forward', d, f))
    o.update(P_norm(r, 'decoder.1.norm_3', d))
    return o


base('dec', mk_dec, ENC + '''

def program(x, memory, h=2, **p):
    n = len(x)
    causal = np.tril(np.ones((n, n), dtype=bool))
    a, w = attention(x, x, p, 'decoder.1.self_attention', h, causal)
    s1 = x + a
    n1 = layer_norm(s1, p, 'decoder.1.norm_1')
    c, wc = attention(n1, memory, p, 'decoder.1.cross_attention', h)
    s2 = n1 + c
    n2 = layer_norm(s2, p, 'decoder.1.norm_2')
    f, hidden = feed_forward(n2, p, 'decoder.1.feed_forward')
    s3 = n2 + f
    n3 = layer_norm(s3, p, 'decoder.1.norm_3')
    return {'decoder.1.self_attention.output': a, 'decoder.1.sum_1': s1, 'decoder.1.norm_1.output': n1,
            'decoder.1.cross_attention.output': c, 'decoder.1.sum_2': s2, 'decoder.1.norm_2.output': n2,
            'decoder.1.feed_forward.inner': hidden, 'decoder.1.feed_forward.output': f, 'decoder.1.sum_3': s3,
            'decoder.output': n3}
''', ['decoder', '--parameters', '{p}', '--heads', '2', '--x', '{f}:x', '--memory', '{f}:memory'],
     final='decoder.output', params='decoder')


# ---------------------------------------------------------------- words: embeddings, positions, an encoder
def mk_emb(r, V=5, d=6, f=8, seq=(3, 0, 2, 2)):
    o = mk_enc(r, 2, d, f)
    o.pop('x')
    return dict(**{'source.ids': np.array(seq)}, **{'source_embedding.e': G(r, V, d, c=.6)}, **o)


base('emb', mk_emb, ENC + '''

def program(h=2, **p):
    ids = p['source.ids']
    x = p['source_embedding.e'][ids]
    n, d = x.shape
    scaled_x = x * np.sqrt(d)
    pe = np.zeros((n, d))
    for pos in range(n):
        for i in range(0, d, 2):
            pe[pos, i] = np.sin(pos / 10000 ** (i / d))
            pe[pos, i + 1] = np.cos(pos / 10000 ** (i / d))
    z = scaled_x + pe
    a, w = attention(z, z, p, 'encoder.1.self_attention', h)
    sum_1 = z + a
    n1 = layer_norm(sum_1, p, 'encoder.1.norm_1')
    f, hidden = feed_forward(n1, p, 'encoder.1.feed_forward')
    sum_2 = n1 + f
    n2 = layer_norm(sum_2, p, 'encoder.1.norm_2')
    return {'source.x': x, 'source.scaled_x': scaled_x, 'source.positions': pe, 'source.positioned': z,
            'encoder.1.self_attention.output': a, 'encoder.1.sum_1': sum_1, 'encoder.1.norm_1.output': n1,
            'encoder.1.feed_forward.output': f, 'encoder.1.sum_2': sum_2, 'encoder.output': n2}
''', ['encoder', '--parameters', '{p}', '--heads', '2', '--source', '3 0 2 2'], final='encoder.output',
     params='.')


# ---------------------------------------------------------------- decoder-only language model
def mk_lm(r, V=6, d=6, f=8, seq=(0, 4, 2, 5)):
    o = {'target.ids': np.array(seq), 'target_embedding.e': G(r, V, d, c=.6)}
    o.update(P_att(r, 'decoder.1.self_attention', d))
    o.update(P_norm(r, 'decoder.1.norm_1', d))
    o.update(P_ff(r, 'decoder.1.feed_forward', d, f))
    o.update(P_norm(r, 'decoder.1.norm_2', d))
    o['output.w'] = G(r, d, V, c=.5)
    o['output.b'] = G(r, 1, V, c=.3)
    return o


base('lm', mk_lm, ENC + '''

def program(h=2, **p):
    ids = p['target.ids']
    x = p['target_embedding.e'][ids]
    n, d = x.shape
    pos, i = np.arange(n)[:, None], np.arange(d)[None, :]
    angle = pos / 10000 ** (2 * (i // 2) / d)
    pe = np.where(i % 2 == 0, np.sin(angle), np.cos(angle))
    z = x * np.sqrt(d) + pe
    causal = np.tril(np.ones((n, n), dtype=bool))
    a, w = attention(z, z, p, 'decoder.1.self_attention', h, causal)
    n1 = layer_norm(z + a, p, 'decoder.1.norm_1')
    f, hidden = feed_forward(n1, p, 'decoder.1.feed_forward')
    n2 = layer_norm(n1 + f, p, 'decoder.1.norm_2')
    logits = n2 @ p['output.w'] + p['output.b']
    probs = softmax(logits)
    return {'target.positions': pe, 'target.positioned': z, 'decoder.1.self_attention.output': a,
            'decoder.1.norm_1.output': n1, 'decoder.1.feed_forward.output': f, 'decoder.output': n2,
            'logits': logits, 'distribution': probs}
''', ['decoder', '--kind', 'decoder-only', '--parameters', '{p}', '--heads', '2', '--target', '0 4 2 5'],
     final='distribution', params='.')


# ---------------------------------------------------------------- recurrent encoder-decoders
def mk_s2s(r, d=4, luong=False):
    P = {'encoder.e': G(r, 4, d), 'encoder.w_xh': G(r, d, d, c=.7), 'encoder.w_hh': G(r, d, d, c=.7),
         'encoder.b_h': G(r, 1, d, c=.4), 'decoder.e': G(r, 5, d), 'decoder.w_s': G(r, d, d, c=.7),
         'decoder.b_s': G(r, 1, d, c=.4), 'decoder.w_xh': G(r, d if luong else 2 * d, d, c=.6),
         'decoder.w_hh': G(r, d, d, c=.7), 'decoder.b_h': G(r, 1, d, c=.4)}
    if not luong:
        P.update({'decoder.score_wq': G(r, d, d), 'decoder.score_wk': G(r, d, d), 'decoder.score_wv': G(r, d, 1)})
    P.update({'decoder.w_o': G(r, 2 * d if luong else d, 5), 'decoder.b_o': G(r, 1, 5, c=.4)})
    return P


S2S = '''
SOURCE = [0, 2, 1, 3]
TARGET = [0, 3, 1, 2]


def encode(p):
    h = np.zeros((1, p['encoder.w_hh'].shape[0]))
    states = []
    for i in SOURCE:
        h = np.tanh(p['encoder.e'][i:i + 1] @ p['encoder.w_xh'] + h @ p['encoder.w_hh'] + p['encoder.b_h'])
        states.append(h)
    return np.concatenate(states)
'''
base('s2s', mk_s2s, S2S + '''

def program(**p):
    h = encode(p)
    s = np.tanh(h[-1:] @ p['decoder.w_s'] + p['decoder.b_s'])
    saved = {'h': h, 'decoder.0.state': s}
    rows = []
    for t, y in enumerate(TARGET, 1):
        emb = p['decoder.e'][y:y + 1]
        energy = np.tanh(s @ p['decoder.score_wq'] + h @ p['decoder.score_wk'])
        score = (energy @ p['decoder.score_wv']).T
        alpha = softmax(score)
        context = alpha @ h
        rnn_in = np.concatenate([context, emb], axis=1)
        s = np.tanh(rnn_in @ p['decoder.w_xh'] + s @ p['decoder.w_hh'] + p['decoder.b_h'])
        logits = s @ p['decoder.w_o'] + p['decoder.b_o']
        rows.append(alpha)
        saved.update({f'decoder.{t}.scores': score, f'decoder.{t}.weights': alpha, f'decoder.{t}.context': context,
                      f'decoder.{t}.state': s, f'decoder.{t}.logits': logits})
    saved['alignment'] = np.concatenate(rows)

    return saved
''', ['align', '--parameters', '{p}', '--source', 'a c b', '--target', 'z x y'], final='alignment', params='json')

base('luong', lambda r: mk_s2s(r, luong=True), S2S + '''

def program(**p):
    h = encode(p)
    s = np.tanh(h[-1:] @ p['decoder.w_s'] + p['decoder.b_s'])
    saved = {'h': h, 'decoder.0.state': s}
    rows = []
    for t, y in enumerate(TARGET, 1):
        s = np.tanh(p['decoder.e'][y:y + 1] @ p['decoder.w_xh'] + s @ p['decoder.w_hh'] + p['decoder.b_h'])
        score = s @ h.T
        alpha = softmax(score)
        context = alpha @ h
        joined = np.concatenate([context, s], axis=1)
        logits = joined @ p['decoder.w_o'] + p['decoder.b_o']
        rows.append(alpha)
        saved.update({f'decoder.{t}.state': s, f'decoder.{t}.scores': score, f'decoder.{t}.weights': alpha,
                      f'decoder.{t}.context': context, f'decoder.{t}.logits': logits})
    saved['alignment'] = np.concatenate(rows)
    return saved
''', ['align', '--variant', 'luong', '--parameters', '{p}', '--source', 'a c b', '--target', 'z x y'],
     final='alignment', params='json')
