#!/usr/bin/python3
"""make.py OUTDIR [--right]: wrong attention programs (and 20 right ones) as saved matrices, with OUTDIR/cases.json.
--right writes the same files without any mistake (to see that the arguments are what they should be)."""
import json, os, sys
import numpy as np
np.seterr(all='ignore')
RIGHT = '--right' in sys.argv
OUT = [a for a in sys.argv[1:] if not a.startswith('--')][0]
os.makedirs(OUT, exist_ok=True)

D = {}   # bug -> (description, where)
def desc(bug, text, where): D[bug] = (text, where)

# ------------------------------------------------------------------ attention
def softmax(a, ax=-1):
    m = a.max(ax, keepdims=True)
    e = np.exp(a - m); return e / e.sum(ax, keepdims=True)

def dropout(a, p, seed):
    r = np.random.default_rng(seed); keep = r.random(a.shape) >= p
    if keep.all(): keep.flat[1] = False
    return a * keep / (1 - p)

def rope_angles(n, d, b, base=10000.):
    if 'rope_base' in b: base = 1000.
    i = np.arange(0, d, 2)
    ex = i / d
    if 'rope_exp' in b: ex = i / 2 / d
    p = np.arange(n) + (1 if 'rope_from1' in b else 0)
    return p[:, None] / base ** ex

def rope(m, b, which):
    t = rope_angles(m.shape[-2], m.shape[-1], b)
    c, s = np.cos(t), np.sin(t)
    if 'rope_sign' in b: s = -s
    if 'rope_sign_k' in b and which == 'k': s = -s
    o = np.zeros_like(m)
    if 'rope_half' in b:
        h = m.shape[-1] // 2; x1, x2 = m[..., :h], m[..., h:]
        o[..., :h], o[..., h:] = x1 * c - x2 * s, x1 * s + x2 * c
    else:
        x1, x2 = m[..., ::2], m[..., 1::2]
        if 'rope_minus' in b: o[..., ::2], o[..., 1::2] = x1 * c + x2 * s, x1 * s + x2 * c
        else: o[..., ::2], o[..., 1::2] = x1 * c - x2 * s, x1 * s + x2 * c
    return o

def split(m, h, b=()):
    n, d = m.shape
    if 'reshape_heads' in b: return m.reshape(h, n, d // h)
    if 'interleave' in b: return m.reshape(n, d // h, h).transpose(2, 0, 1)
    return m.reshape(n, h, d // h).transpose(1, 0, 2)

def att(I, b=(), h=1, causal=False, pad=None, ropes=False, score='scaled', offset=0, seed=99):
    """I: x, mem (optional), W_q W_k W_v W_o b_q .. (optional), or q, k, v; returns all matrices."""
    b = set(b); R = {}
    x = I.get('x'); mem = I.get('mem', x)
    if x is not None:
        if 'drop_x' in b: x = dropout(x, .2, seed); mem = I.get('mem', x)
        src = {'q': x, 'k': mem, 'v': mem}
        if 'q_from_mem' in b: src['q'] = mem
        if 'k_from_x' in b: src['k'] = x
        if 'v_from_x' in b: src['v'] = x
        if 'kv_from_x' in b: src['k'] = src['v'] = x
        if 'swap_sources' in b: src = {'q': mem, 'k': x, 'v': x}
        if 'v_from_k' in b: pass
        use = {c: I['W_' + c] for c in 'qkv'}; bias = {c: I.get('b_' + c) for c in 'qkv'}
        for c in 'qkv':
            if f'W{c}_T' in b: use[c] = use[c].T
        if 'Wall_T' in b: use = {c: w.T for c, w in use.items()}
        if 'swap_Wqk' in b: use['q'], use['k'] = use['k'], use['q']; bias['q'], bias['k'] = bias['k'], bias['q']
        if 'swap_Wkv' in b: use['k'], use['v'] = use['v'], use['k']; bias['k'], bias['v'] = bias['v'], bias['k']
        if 'k_uses_Wq' in b: use['k'] = use['q']; bias['k'] = bias['q']
        if 'v_uses_Wk' in b: use['v'] = use['k']; bias['v'] = bias['k']
        if 'bk_is_bq' in b: bias['k'] = bias['q']
        if 'bv_is_bk' in b: bias['v'] = bias['k']
        for c in 'qkv':
            R[c] = src[c] @ use[c]
            if bias[c] is not None:
                f = 0 if f'no_b{c}' in b or 'no_bqkv' in b else 2 if f'b{c}_twice' in b else -1 if f'b{c}_neg' in b else 1
                R[c] = R[c] + f * bias[c]
        if 'v_unprojected' in b: R['v'] = src['v'].copy()
        if 'v_from_k' in b: R['v'] = R['k'] @ use['v']
        if 'relu_q' in b: R['q'] = np.maximum(R['q'], 0)
        if 'relu_v' in b: R['v'] = np.maximum(R['v'], 0)
        if 'normalize_qk' in b:
            for c in 'qk': R[c] = R[c] / np.linalg.norm(R[c], axis=-1, keepdims=True)
        if 'drop_v' in b: R['v'] = dropout(R['v'], .25, seed)
        if 'abs_q' in b: R['q'] = np.abs(R['q'])
    else:
        R['q'], R['k'], R['v'] = (I[c] for c in 'qkv')
    if 'cache_front' in b:      # new keys and values put before the cached ones
        for c in 'kv': R[c] = np.roll(R[c], len(R['q']), 0)
    if 'cache_missing_new' in b:
        for c in 'kv': R[c] = R[c][:-1]
    if 'cache_v_stale' in b: R['v'] = R['v'].copy(); R['v'][-len(R['q']):] = 0
    if 'cache_k_twice' in b:    # the last new token stored twice, the one before lost
        for c in 'kv': R[c] = R[c].copy(); R[c][-2] = R[c][-1]
    q, k, v = R['q'], R['k'], R['v']
    nq, nk, d = len(q), len(k), q.shape[1]
    if h > 1 and ropes and 'rope_before_split' in b: q, k = rope(q, b, 'q'), rope(k, b, 'k')
    Q, K, V = (split(m, h, b) if h > 1 else m[None] for m in (q, k, v))
    if ropes and not ('rope_before_split' in b and h > 1):
        if 'rope_none' not in b:
            Q = rope(Q, b, 'q')
            if 'rope_q_only' not in b: K = rope(K, b, 'k')
            if 'rope_v' in b: V = rope(V, b, 'v')
            if 'rope_twice' in b: Q, K = rope(Q, b, 'q'), rope(K, b, 'k')
        R['rotated_q'], R['rotated_k'] = Q, K
    if 'kv_cross_heads' in b and h > 1: K = K[::-1]
    if 'first_kv_head' in b and h > 1: K = np.repeat(K[:1], h, 0); V = np.repeat(V[:1], h, 0)
    dk = Q.shape[-1]
    if score == 'additive':
        A = I
        wq, wk, wv, sb = A['score_wq'], A['score_wk'], A['score_wv'], A.get('score_b')
        hq, hk = Q[0] @ wq, K[0] @ wk
        if sb is not None: sb = sb * (0 if 'add_no_b' in b else 2 if 'add_b_twice' in b else 1)
        hid = hq[:, None] + hk[None] + (0 if sb is None else sb)
        if 'add_minus' in b: hid = hq[:, None] - hk[None] + (0 if sb is None else sb)
        if 'add_mul' in b: hid = hq[:, None] * hk[None]
        if 'add_tanh_each' in b: act = np.tanh(hq)[:, None] + np.tanh(hk)[None]
        elif 'add_no_tanh' in b: act = hid
        elif 'add_relu' in b: act = np.maximum(hid, 0)
        elif 'add_sigmoid' in b: act = 1 / (1 + np.exp(-hid))
        else: act = np.tanh(hid)
        s = (act.sum(-1) if 'add_no_v' in b else np.tanh(act @ wv[:, 0]) if 'add_tanh_after' in b else act @ wv[:, 0])[None]
        R['hidden_q'], R['hidden_k'] = hq, hk
        R['hidden'], R['activated'] = hid.reshape(nq * nk, -1), act.reshape(nq * nk, -1)
        sc = s / np.sqrt(act.shape[-1]) if 'add_scaled' in b else s
    else:
        s = Q @ K.transpose(0, 2, 1)
        if 'scores_qq' in b: s = Q @ Q.transpose(0, 2, 1)
        if 'scores_kk' in b: s = K @ K.transpose(0, 2, 1)
        if 'scores_T' in b: s = K @ Q.transpose(0, 2, 1)
        if 'scores_kv' in b: s = Q @ V.transpose(0, 2, 1)
        if 'cosine' in b: s = s / np.linalg.norm(Q, axis=-1)[..., None] / np.linalg.norm(K, axis=-1)[:, None]
        if 'distance' in b: s = -((Q[:, :, None] - K[:, None]) ** 2).sum(-1)
        if 'abs_scores' in b: s = np.abs(s)
        if 'relu_scores' in b: s = np.maximum(s, 0)
        if 'tanh_scores' in b: s = np.tanh(s)
        if 'log_scores' in b: s = np.log(np.abs(s))
        if 'fp16_scores' in b: s = s.astype(np.float16).astype(np.float64)
        f = np.sqrt(dk)
        if 'no_scale' in b: f = 1
        if 'times_sqrt' in b: f = 1 / np.sqrt(dk)
        if 'div_dk' in b: f = dk
        if 'scale_dmodel' in b: f = np.sqrt(I['W_q'].shape[0])
        if 'scale_n' in b: f = np.sqrt(nk)
        if 'scale_h' in b: f = np.sqrt(h)
        if 'scale_twice' in b: f = dk
        if 'scale_quarter' in b: f = dk ** .25
        if 'scale_2' in b: f = 2 * np.sqrt(dk)
        if 'scale_log' in b: f = np.log(dk)
        if 'scale_const8' in b: f = 8.
        if 'neg_scores' in b: f = -f
        sc = s / f
        if 'clip_scores' in b: sc = np.clip(sc, -1, 1)
    R['scores'], R['scaled'] = s, sc
    allow = np.ones((nq, nk), bool)
    if causal:
        kk = offset
        if 'causal_plus1' in b: kk += 1
        if 'strict' in b: kk -= 1
        if 'offset0' in b: kk = 0
        allow = np.tril(allow, kk)
        if 'upper' in b: allow = np.triu(np.ones((nq, nk), bool), offset)
        if 'inverted' in b: allow = ~allow
    if pad is not None:
        L = pad + (1 if 'pad_plus1' in b else -1 if 'pad_minus1' in b else 0)
        ok = np.arange(nk) < L
        if 'pad_inverted' in b: ok = ~ok
        if 'pad_first' in b: ok = ok[::-1]
        if 'pad_queries' in b: allow = allow & ok[:nq, None]
        elif 'pad_both' in b: allow = allow & (ok[None] & ok[:nq, None])
        elif 'pad_none' in b: pass
        else: allow = allow & ok[None]
    if 'no_mask' in b: allow[:] = True
    masked_any = (causal or pad is not None)
    fill = -np.inf
    for name, val in (('fill0', 0.), ('fill_m1', -1.), ('fill_m10', -10.), ('fill_m100', -100.), ('fill_1em9', 1e-9), ('fill_m1em9', -1e-9),
                      ('fill_p1e9', 1e9), ('fill_m1e9', -1e9), ('fill_1', 1.), ('fill_m2', -2.), ('fill_fmin', np.finfo(np.float32).tiny)):
        if name in b: fill = val
    m = np.where(allow, sc, fill)
    if 'mask_added_bool' in b: m = sc + allow
    if 'mask_times' in b: m = sc * allow
    if 'mask_sub' in b: m = sc - (~allow)
    if 'mask_before_scale' in b: m = np.where(allow, s, -2.) / np.sqrt(dk)
    if 'mask_head1' in b and h > 1: m = np.concatenate([m[:1], sc[1:]])
    after = {'after_softmax', 'after_renorm', 'after_row'} & b
    if after: m = sc.copy()
    R['masked'] = m
    e = None
    with np.errstate(all='ignore'):
        if 'axis0' in b: w = softmax(m, -2)
        elif 'axis_all' in b: e = np.exp(m - m.max()); w = e / e.sum((-1, -2), keepdims=True)
        elif 'axis_heads' in b: w = softmax(m, 0)
        elif 'axis_heads_all' in b: e = np.exp(m - m.max()); w = e / e.sum()
        elif 'no_exp' in b: z = np.where(np.isinf(m), 0, m); w = z / z.sum(-1, keepdims=True)
        elif 'abs_norm' in b: z = np.where(np.isinf(m), 0, np.abs(m)); w = z / z.sum(-1, keepdims=True)
        elif 'base2' in b: e = 2. ** (m - m.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)
        elif 'base10' in b: e = 10. ** (m - m.max(-1, keepdims=True)); w = e / e.sum(-1, keepdims=True)
        elif 'sq_norm' in b: e = np.exp(m); w = e / np.sqrt((e ** 2).sum(-1, keepdims=True))
        elif 'sq_scores' in b: z = np.where(np.isinf(m), 0, m) ** 2; w = z / z.sum(-1, keepdims=True)
        elif 'no_norm' in b: w = np.exp(m - m.max(-1, keepdims=True))
        elif 'no_sum' in b: w = np.exp(m)
        elif 'div_max' in b: e = np.exp(m); w = e / e.max(-1, keepdims=True)
        elif 'mean_norm' in b: e = np.exp(m); w = e / e.mean(-1, keepdims=True)
        elif 'sigmoid' in b: w = 1 / (1 + np.exp(-m))
        elif 'no_softmax' in b: w = np.where(np.isinf(m), 0, m)
        elif 'log_softmax' in b: w = np.log(softmax(m))
        elif 'softmax_plus1' in b: e = np.exp(m - m.max(-1, keepdims=True)); w = e / (1 + e.sum(-1, keepdims=True))
        elif 'sub_max_twice' in b: e = np.exp(m) ; w = e / np.exp(m - m.max(-1, keepdims=True)).sum(-1, keepdims=True)
        elif 'neg_exp' in b: e = np.exp(-m); w = e / e.sum(-1, keepdims=True)
        elif 'col_sum' in b: e = np.exp(m - m.max(-1, keepdims=True)); w = e / e.sum(-2, keepdims=True)
        elif 'fp16_softmax' in b: e = np.exp(m.astype(np.float16)); w = (e / e.sum(-1, keepdims=True)).astype(np.float64)
        elif 'fp32_nomax' in b: e = np.exp(m.astype(np.float32)); w = (e / e.sum(-1, keepdims=True)).astype(np.float64)
        elif 'hardmax' in b: w = (m == m.max(-1, keepdims=True)).astype(float)
        elif 'softmax_unscaled' in b: w = softmax(np.where(allow, s, -np.inf))
        elif 'softmax_unmasked' in b: w = softmax(sc)
        else:
            mm = m.max(-1, keepdims=True); mm = np.where(np.isinf(mm), 0, mm) if 'strict' not in b and 'pad_queries' not in b else mm
            e = np.exp(m - mm); w = e / e.sum(-1, keepdims=True)
        if 'softmax_twice' in b: w = softmax(w)
        if after:
            w = w * allow
            if 'after_renorm' in b: w = w / w.sum(-1, keepdims=True)   # (right again with the same softmax)
        if 'nan_to_0' in b: w = np.nan_to_num(w)
        if 'weights_log' in b: w = np.log(w)
        if 'weights_round' in b: w = np.round(w, 1)
        if 'weights_clip' in b: w = np.clip(w, .05, .5)
        if 'weights_T' in b: w = w.transpose(0, 2, 1)
        if 'weights_sym' in b: w = (w + w.transpose(0, 2, 1)) / 2
        if 'weights_scaled' in b: w = w / np.sqrt(dk)
        if 'weights_sqrt' in b: w = np.sqrt(w)
        if 'drop_weights' in b: w = dropout(w, .2, seed)
        if 'mean_weights' in b and h > 1: w = np.repeat(w.mean(0, keepdims=True), h, 0)
        R['weights'] = w
        ww = w
        if 'wT_v' in b: ww = w.transpose(0, 2, 1)
        if 'scaled_v' in b: ww = R['scaled']
        VV = K if 'w_k' in b else Q if 'w_q' in b else V
        o = ww @ VV
        if 'out_scaled' in b: o = o / np.sqrt(dk)
        if 'out_mean' in b: o = o / nk
        R['heads'] = o
        if h > 1:
            c = o.transpose(1, 0, 2).reshape(nq, -1)
            if 'concat_noT' in b: c = o.reshape(nq, -1)
            if 'concat_rev' in b: c = np.concatenate(list(o[::-1]), -1)
            if 'concat_interleave' in b: c = o.transpose(1, 2, 0).reshape(nq, -1)
            if 'sum_heads' in b: c = np.tile(o.sum(0), (1, h))
            if 'mean_heads' in b: c = np.tile(o.mean(0), (1, h))
        else: c = o[0]
        if 'drop_concat' in b: c = dropout(c, .2, seed)
        R['concat'] = c
        out = c
        if 'W_o' in I:
            Wo, bo = I['W_o'], I.get('b_o')
            if 'Wo_T' in b: Wo = Wo.T
            out = c if 'no_Wo' in b else c @ Wo
            if bo is not None and not ('no_Wo' in b):
                fb = 0 if 'no_bo' in b else 2 if 'bo_twice' in b else -1 if 'bo_neg' in b else h if 'bo_per_head' in b else 1
                out = out + fb * bo
            if 'Wo_twice' in b: out = out @ Wo
        if 'out_residual' in b: out = out + x
        if 'out_residual_q' in b: out = out + q
        if 'drop_out' in b: out = dropout(out, .25, seed)
        if 'out_tanh' in b: out = np.tanh(out)
        if 'out_relu' in b: out = np.maximum(out, 0)
        if 'out_ln' in b: out = (out - out.mean(-1, keepdims=True)) / np.sqrt(out.var(-1, keepdims=True) + 1e-5)
        R['output'] = out
    return R

for bug, text, where in [
 ('Wq_T', 'the query matrix W_q is transposed (x·W_qᵀ)|W_q transposed', 'q'),
 ('Wk_T', 'the key matrix W_k is transposed|W_k transposed', 'k'),
 ('Wv_T', 'the value matrix W_v is transposed|W_v transposed', 'v'),
 ('Wall_T', 'all three projection matrices transposed|W_q, W_k and W_v transposed', 'q'),
 ('swap_Wqk', 'W_q and W_k exchanged|queries and keys exchanged|scores transposed: k·qᵀ instead of q·kᵀ', 'q'),
 ('swap_Wkv', 'W_k and W_v exchanged|keys and values exchanged', 'k'),
 ('k_uses_Wq', 'keys computed with W_q instead of W_k|k projected with the query matrix', 'k'),
 ('v_uses_Wk', 'values computed with W_k instead of W_v|v projected with the key matrix|keys used as values', 'v'),
 ('v_from_k', 'values computed from the keys (k·W_v) instead of from x', 'v'),
 ('v_unprojected', 'values not projected: x itself is used as v|W_v left out', 'v'),
 ('q_from_mem', 'queries computed from the memory instead of x|q from memory', 'q'),
 ('k_from_x', 'keys computed from x instead of the memory', 'k'),
 ('v_from_x', 'values computed from x instead of the memory', 'v'),
 ('kv_from_x', 'keys and values computed from x instead of the memory|self-attention instead of cross-attention|memory ignored', 'k'),
 ('swap_sources', 'x and memory exchanged: queries from the memory, keys and values from x', 'q'),
 ('bk_is_bq', 'the bias of the queries b_q added to the keys instead of b_k|b_q used for k', 'k'),
 ('bv_is_bk', 'the bias b_k added to the values instead of b_v|b_k used for v', 'v'),
 ('no_bqkv', 'all biases of q, k and v missing', 'q'),
 ('relu_q', 'ReLU applied to the queries', 'q'), ('relu_v', 'ReLU applied to the values', 'v'), ('abs_q', 'absolute value of the queries', 'q'),
 ('normalize_qk', 'queries and keys divided by their norms|cosine|q and k normalized to length 1', 'q'),
 ('drop_v', 'dropout left on, on the values', 'v'), ('drop_x', 'dropout left on, on the embeddings x', 'q'),
 ('drop_weights', 'dropout left on, on the attention weights', 'weights'), ('drop_out', 'dropout left on, on the output', 'output'),
 ('drop_concat', 'dropout left on, on the concatenated heads', 'concat'),
 ('reshape_heads', 'heads made by reshape to h×n×d_k without transposing|reshape instead of split and transpose|rows mixed between heads', 'head.1.q'),
 ('interleave', 'heads split the other way: head i takes every h-th column (reshape n×d_k×h)|interleaved heads', 'head.1.q'),
 ('kv_cross_heads', 'each head uses the keys of the other head|order of the heads of k reversed', 'head.1.k'),
 ('first_kv_head', 'all heads use the keys and values of the first head|multi-query instead of multi-head', 'head.2.k'),
 ('concat_noT', 'heads concatenated by reshape without transposing back|reshape h×n×d_k to n×d without transpose', 'concat'),
 ('concat_rev', 'heads concatenated in reversed order', 'concat'),
 ('concat_interleave', 'heads interleaved when concatenated (columns of the heads alternate)', 'concat'),
 ('sum_heads', 'heads summed instead of concatenated', 'concat'), ('mean_heads', 'heads averaged instead of concatenated', 'concat'),
 ('mean_weights', 'weights averaged over the heads', 'head.1.weights'),
 ('no_Wo', 'output projection W_o (and b_o) missing', 'output'), ('Wo_T', 'W_o transposed', 'output'), ('Wo_twice', 'W_o applied twice', 'output'),
 ('bo_per_head', 'output bias b_o added once for every head|b_o multiplied by the number of heads', 'output'),
 ('no_scale', 'scores not divided by √d_k|scaling missing', 'scaled'), ('times_sqrt', 'scores multiplied by √d_k instead of divided', 'scaled'),
 ('div_dk', 'scores divided by d_k instead of √d_k', 'scaled'), ('scale_dmodel', 'divided by √d_model instead of √d_k', 'scaled'),
 ('scale_n', 'divided by √n (number of keys) instead of √d_k', 'scaled'), ('scale_h', 'divided by the square root of the number of heads', 'scaled'),
 ('scale_twice', 'scaled twice|divided by d_k instead of √d_k', 'scaled'), ('scale_quarter', 'divided by the fourth root of d_k instead of √d_k|only q or only k scaled by d_k^(1/4)', 'scaled'),
 ('scale_2', 'divided by 2√d_k', 'scaled'), ('scale_log', 'divided by log d_k instead of √d_k', 'scaled'),
 ('scale_const8', 'divided by 8, the constant of the paper, instead of √d_k|scale of 64-wide heads', 'scaled'),
 ('neg_scores', 'scores with the wrong sign|negative scores', 'scaled'),
 ('scores_qq', 'q·qᵀ instead of q·kᵀ', 'scores'), ('scores_kk', 'k·kᵀ instead of q·kᵀ', 'scores'), ('scores_T', 'scores transposed: k·qᵀ instead of q·kᵀ', 'scores'),
 ('scores_kv', 'q·vᵀ instead of q·kᵀ|values used as keys', 'scores'), ('cosine', 'cosine similarity instead of the dot product|scores divided by the norms', 'scores'),
 ('distance', 'negative squared distance instead of the dot product', 'scores'), ('abs_scores', 'absolute value of the scores', 'scores'),
 ('relu_scores', 'ReLU of the scores|negative scores set to 0', 'scores'), ('tanh_scores', 'tanh of the scores', 'scores'), ('log_scores', 'log of the absolute scores', 'scores'),
 ('fp16_scores', 'scores rounded to float16', 'scores'), ('clip_scores', 'scaled scores clipped to [-1, 1]', 'scaled'),
 ('causal_plus1', 'causal mask off by one: each query also sees the next word|diagonal=1 too far', 'masked'),
 ('strict', 'diagonal excluded from the causal mask: a query does not see its own position|offset by one', 'masked'),
 ('offset0', 'causal mask without the offset of the cached keys: queries counted from position 0', 'masked'),
 ('upper', 'causal mask on the wrong side: upper triangle kept|masked the past instead of the future', 'masked'),
 ('inverted', 'mask inverted: masked where it should attend', 'masked'), ('no_mask', 'mask missing', 'masked'),
 ('pad_plus1', 'padding mask off by one: one padding key attended', 'masked'), ('pad_minus1', 'padding mask off by one: the last valid key masked', 'masked'),
 ('pad_inverted', 'padding mask inverted: only the padding is attended', 'masked'), ('pad_first', 'padding masked at the wrong end (the first keys instead of the last)', 'masked'),
 ('pad_queries', 'padding mask applied to the queries (rows) instead of the keys (columns)|mask transposed', 'masked'),
 ('pad_both', 'padding queries masked as well as keys (rows too)', 'masked'), ('pad_none', 'padding mask missing|padding not masked', 'masked'),
 ('fill0', 'masked scores set to 0 instead of -inf', 'masked'), ('fill_m1', 'masked scores set to -1 instead of -inf', 'masked'), ('fill_m2', 'masked scores set to -2 instead of -inf', 'masked'),
 ('fill_m10', 'masked scores set to -10 instead of -inf|mask value too small', 'masked'), ('fill_m100', 'masked scores set to -100 instead of -inf', 'masked'),
 ('fill_1em9', 'mask value 1e-9 instead of -1e9|masked scores set to (about) 0 instead of -inf', 'masked'), ('fill_m1em9', 'mask value -1e-9 instead of -1e9', 'masked'), ('fill_p1e9', 'mask value +1e9 instead of -1e9|wrong sign of the mask value', 'masked'),
 ('fill_1', 'masked scores set to 1 instead of -inf', 'masked'), ('fill_fmin', 'mask value is the smallest positive float (finfo.tiny) instead of the most negative', 'masked'),
 ('mask_added_bool', 'the mask of 1 and 0 added to the scores instead of masking with -inf', 'masked'), ('mask_times', 'scores multiplied by the mask of 1 and 0|0 instead of -inf', 'masked'),
 ('mask_sub', 'subtracted 1 from masked scores instead of -inf', 'masked'), ('mask_before_scale', 'mask value -2 put in before the scaling, so far from -inf', 'masked'),
 ('mask_head1', 'mask applied to the first head only', 'head.2.masked'),
 ('after_softmax', 'mask applied after the softmax without renormalizing|weights multiplied by the mask', 'masked'),
 ('axis0', 'softmax over the columns (axis 0) instead of rows|softmax over the queries', 'weights'), ('axis_all', 'softmax over the whole matrix', 'weights'),
 ('axis_heads', 'softmax over the heads', 'head.1.weights'), ('axis_heads_all', 'softmax over everything, all heads', 'head.1.weights'),
 ('no_exp', 'scores divided by their sum without exp', 'weights'), ('abs_norm', 'absolute scores divided by their sum, no exp', 'weights'),
 ('base2', 'softmax with base 2 instead of e', 'weights'), ('base10', 'softmax with base 10 instead of e', 'weights'),
 ('sq_norm', 'divided by the square root of the sum of squares (L2 norm) instead of the sum', 'weights'), ('sq_scores', 'squares of the scores normalized instead of exp', 'weights'),
 ('no_norm', 'softmax not divided by the sum|normalization missing', 'weights'), ('no_sum', 'only exp of the scores, not divided by the sum|normalization missing', 'weights'),
 ('div_max', 'divided by the maximum instead of the sum', 'weights'), ('mean_norm', 'divided by the mean instead of the sum|weights n times too large', 'weights'),
 ('sigmoid', 'sigmoid instead of softmax', 'weights'), ('no_softmax', 'softmax left out: scores used as weights', 'weights'), ('log_softmax', 'log_softmax instead of softmax|log of the weights', 'weights'),
 ('softmax_plus1', '1 added to the denominator of the softmax|softmax one', 'weights'), ('sub_max_twice', 'maximum subtracted only in the denominator', 'weights'),
 ('neg_exp', 'exp(-score): wrong sign in the softmax', 'weights'), ('col_sum', 'exp divided by the sums of the columns instead of the rows', 'weights'),
 ('fp16_softmax', 'exp overflows in float16 without subtracting the maximum (inf/nan)', 'weights'), ('fp32_nomax', 'exp overflows in float32: maximum not subtracted (nan)', 'weights'),
 ('hardmax', 'argmax (1 for the largest) instead of softmax|hard attention', 'weights'), ('softmax_unscaled', 'softmax of the unscaled scores', 'weights'), ('softmax_unmasked', 'softmax of the scores before masking|mask ignored', 'weights'),
 ('softmax_twice', 'softmax applied twice', 'weights'), ('nan_to_0', 'NaN replaced by 0', 'weights'), ('weights_log', 'log of the weights|log_softmax instead of softmax', 'weights'), ('weights_round', 'weights rounded to one decimal', 'weights'),
 ('weights_clip', 'weights clipped to [0.05, 0.5]', 'weights'), ('weights_T', 'weights transposed', 'weights'), ('weights_sym', 'weights made symmetric (averaged with their transpose)', 'weights'),
 ('weights_scaled', 'weights divided by √d_k after the softmax', 'weights'), ('weights_sqrt', 'square root of the weights', 'weights'),
 ('wT_v', 'weightsᵀ·v instead of weights·v|weights transposed in the weighted sum', 'output'), ('scaled_v', 'scaled scores multiplied with v instead of the weights|softmax not used', 'output'),
 ('w_k', 'weights·k instead of weights·v|keys used as values', 'output'), ('w_q', 'weights·q instead of weights·v', 'output'),
 ('out_scaled', 'output divided by √d_k', 'output'), ('out_mean', 'output divided by the number of keys', 'output'),
 ('out_residual', 'x added to the output (residual)|residual connection', 'output'), ('out_residual_q', 'q added to the output', 'output'),
 ('out_tanh', 'tanh of the output', 'output'), ('out_relu', 'ReLU of the output', 'output'), ('out_ln', 'layer normalization of the output', 'output'),
 ('rope_base', 'rotary base 1000 instead of 10000', 'rotated_q'), ('rope_exp', 'rotary exponent i/d instead of 2i/d', 'rotated_q'), ('rope_from1', 'rotary positions counted from 1', 'rotated_q'),
 ('rope_sign', 'rotation in the opposite direction (negative angles)', 'rotated_q'), ('rope_sign_k', 'keys rotated in the opposite direction', 'rotated_k'),
 ('rope_half', 'rotary pairs are halves (column i with i+d/2) instead of neighbors', 'rotated_q'), ('rope_minus', 'sign of one sine wrong in the rotation|+ instead of - in x1·cos − x2·sin', 'rotated_q'),
 ('rope_none', 'rotary rotation missing', 'rotated_q'), ('rope_q_only', 'only queries rotated, not keys', 'rotated_k'), ('rope_v', 'values rotated as well', 'head.1.v'), ('rope_twice', 'rotation applied twice', 'rotated_q'),
 ('rope_before_split', 'rotation of the whole vectors before the split into heads', 'rotated_q'),
 ('cache_front', 'new keys and values put in front of the cached ones instead of behind|order of the cache wrong', 'k'), ('cache_missing_new', 'the key and value of the newest word are not in the cache', 'k'),
 ('cache_v_stale', 'values of the new words missing (zeros) in the cache', 'v'), ('cache_k_twice', 'last new word written twice into the cache, over the word before it', 'k'),
 ('add_no_b', 'bias of the additive score missing', 'hidden'), ('add_b_twice', 'bias of the additive score added twice', 'hidden'), ('add_minus', 'W_q q − W_k k instead of the sum', 'hidden'), ('add_mul', 'product instead of sum of the hidden layers', 'hidden'),
 ('add_tanh_each', 'tanh of each part before the sum instead of tanh of the sum', 'activated'), ('add_no_tanh', 'tanh missing in the additive score', 'activated'), ('add_relu', 'ReLU instead of tanh in the additive score', 'activated'),
 ('add_sigmoid', 'sigmoid instead of tanh in the additive score', 'activated'), ('add_no_v', 'vector w_v missing: hidden layer summed', 'scores'), ('add_tanh_after', 'tanh of the scores additionally (after w_v)', 'scores'),
 ('add_scaled', 'additive scores divided by the square root of the hidden size', 'scaled'),
]: desc(bug, text, where)
for c in 'qkvo':
    m = {'o': 'output'}.get(c, c)
    desc(f'no_b{c}', f'bias b_{c} missing', m); desc(f'b{c}_twice', f'bias b_{c} added twice|b_{c} doubled', m); desc(f'b{c}_neg', f'bias b_{c} subtracted instead of added|wrong sign of b_{c}', m)

# ------------------------------------------------------------------ names people give
STYLES = {
 'snake': {},
 'caps': dict(x='X', mem='M', W_q='WQ', W_k='WK', W_v='WV', W_o='WO', q='Q', k='K', v='V', weights='attn', output='Z'),
 'long': dict(x='embeddings', mem='memory', W_q='Wq', W_k='Wk', W_v='Wv', W_o='Wo', b_q='bq', b_k='bk', b_v='bv', b_o='bo', q='query', k='key', v='value',
              scores='attention_scores', scaled='scaled_scores', masked='masked_scores', weights='attention_weights', output='out'),
 'plural': dict(mem='memory', q='queries', k='keys', v='values', weights='attn_weights', output='context'),
 'lower': dict(mem='memory', W_q='wq', W_k='wk', W_v='wv', W_o='wo', b_q='bq', b_k='bk', b_v='bv', b_o='bo', weights='A', output='out'),
 'torch': dict(mem='memory', W_q='q_proj.weight', W_k='k_proj.weight', W_v='v_proj.weight', W_o='out_proj.weight', b_q='q_proj.bias', b_k='k_proj.bias', b_v='v_proj.bias', b_o='out_proj.bias',
               weights='attn_weights', output='attn_output'),
}
def rename(R, style):
    S = STYLES[style]; o = {}
    for n, a in R.items():
        if n in ('W_q', 'W_k', 'W_v', 'W_o') and style == 'torch': a = a.T
        o[S.get(n, {'mem': 'memory'}.get(n, n))] = a
    return o

# ------------------------------------------------------------------ inputs
def inputs(cfg, seed):
    """a configuration by name -> (I, att arguments, check arguments)"""
    r = np.random.default_rng(seed); t = set(cfg.split('+'))
    h = 4 if 'h4' in t else 3 if 'h3' in t else 2 if 'mh' in t else 1
    dk = int(r.choice([3, 4] if h > 1 else [4, 5, 6]))
    if 'rope' in t or 'even' in t: dk = 4 if h > 1 else int(r.choice([4, 6]))
    d = h * dk if h > 1 or 'sq' in t else dk + int(r.choice([1, 2, 3]))
    n = int(r.integers(4, 8)); nm = int(r.integers(3, 8)); nm += nm == n
    if 'samelen' in t: nm = n
    I = {}
    N = (lambda *s: np.round(r.normal(size=s) * 2)) if 'int' in t else (lambda *s: r.normal(size=s))
    W = (lambda *s: r.integers(-1, 2, size=s).astype(float)) if 'int' in t else (lambda *s: r.normal(size=s) / np.sqrt(s[0]) * 1.3)
    if 'int' in t: n, d = 3, (4 if 'sq' not in t else 4); dk = d if 'sq' in t else 3
    if 'qkv' in t:
        I['q'], I['k'], I['v'] = N(n, dk), N(n if 'samelen' in t else nm, dk), None
        I['v'] = N(len(I['k']), dk)
    else:
        I['x'] = N(n, d)
        if 'big' in t: I['x'] = I['x'] * 12
        if 'cross' in t: I['mem'] = N(nm, d)
        for c in 'qkv': I['W_' + c] = W(d, h * dk if h > 1 else dk)
        if h > 1 or 'wo' in t: I['W_o'] = W(h * dk if h > 1 else dk, d)
        if 'bias' in t:
            for c in 'qkv': I['b_' + c] = r.normal(size=I['W_' + c].shape[1]) * .7
            if 'W_o' in I: I['b_o'] = r.normal(size=d) * .7
    if 'dec' in t: I = {n: np.round(a, 2) for n, a in I.items()}
    kw, ar = dict(h=h), []
    if h > 1: ar += ['--heads', str(h)]
    if 'causal' in t: kw['causal'] = True; ar += ['--causal']
    if 'pad' in t: kw['pad'] = (len(I['mem']) if 'cross' in t else len(I.get('k', I.get('x')))) - 2; ar += ['--valid-length', str(kw['pad'])]
    if 'rope' in t: kw['ropes'] = True; ar += ['--positions', 'rotary']
    if 'additive' in t:
        hh = 5; dq = dk + 1
        I = {'q': N(n, dq), 'k': N(nm, dk), 'v': N(nm, dk), 'score_wq': W(dq, hh), 'score_wk': W(dk, hh), 'score_wv': N(hh, 1)}
        if 'bias' in t: I['score_b'] = r.normal(size=hh)
        kw['score'] = 'additive'; ar += ['--score', 'additive']
    if 'cache' in t:
        off = n - 2; kw['causal'] = True; kw['offset'] = off; ar += ['--causal-offset', str(off)]
        I['mem'] = I['x']; I['x'] = I['x'][off:]
    return I, kw, ar

CASES = []; COUNT = {}
PFX = {'single': 's', 'single-output': 'o', 'pair-output': 'p', 'pair': 'm', 'rounded': 'r', 'right': 'g'}
def new(kind):
    COUNT[kind] = COUNT.get(kind, 0) + 1
    return f'{PFX[kind]}{COUNT[kind]:03d}'
ORDER = ['x', 'positions', 'scaled_x', 'positioned', 'q', 'k', 'v', 'scores', 'scaled', 'masked', 'weights', 'd_output', 'd_scaled', 'd_scores']
def put(kind, cid, args, bugs, where=None, texts=None):
    if kind == 'pair' and where:       # the first of the two
        ends = [D[x][1].split('.')[-1] for x in bugs]
        if D[bugs[1]][1].startswith('self_attention') and D[bugs[0]][1].startswith(('cross', 'feed')): where = 'decoder.1.' + D[bugs[1]][1]
        elif bugs[1] == 'no_causal': where = 'decoder.1.self_attention.masked'
        elif all(e in ORDER for e in ends) and ORDER.index(ends[1]) < ORDER.index(ends[0]) and '.' not in D[bugs[1]][1]: where = D[bugs[1]][1]
    first = where or (D[bugs[0]][1] if bugs else '')
    if kind.endswith('output') and not where: first = 'output'
    CASES.append({'id': cid, 'kind': kind, 'args': args, 'mistakes': texts or [D[x][0] for x in bugs], 'where': first if (bugs or texts) else ''})
def savez(name, **a): np.savez(os.path.join(OUT, name), **a)
def npy(name, a): np.save(os.path.join(OUT, name), a)
def csv(name, a, nd=3): np.savetxt(os.path.join(OUT, name), np.atleast_2d(a), delimiter=',', fmt=f'%.{nd}f')

INKEYS = ('x', 'mem', 'W_q', 'W_k', 'W_v', 'W_o', 'b_q', 'b_k', 'b_v', 'b_o', 'q', 'k', 'v', 'score_wq', 'score_wk', 'score_wv', 'score_b')
OPT = {'x': '--x', 'mem': '--memory', 'W_q': '--wq', 'W_k': '--wk', 'W_v': '--wv', 'W_o': '--wo', 'b_q': '--bq', 'b_k': '--bk', 'b_v': '--bv', 'b_o': '--bo', 'q': '--q', 'k': '--k', 'v': '--v',
       'score_wq': '--score-wq', 'score_wk': '--score-wk', 'score_wv': '--score-wv', 'score_b': '--score-b'}
def drop_unneeded(R, kw, I, style):
    R = dict(R)
    if not (kw.get('causal') or kw.get('pad') is not None): R.pop('masked')
    if kw['h'] == 1:
        for n in ('scores', 'scaled', 'masked', 'weights', 'heads', 'rotated_q', 'rotated_k'):
            if n in R and R[n].ndim == 3: R[n] = R[n][0]
        R.pop('heads')
        if 'W_o' not in I: R.pop('concat')
    if kw.get('score') == 'additive': R.pop('scaled')
    return R

def walk(kind, cfg, bugs, style='snake', seed=None, fmt='npz', less=(), mods=()):
    """one case of attention"""
    cid = new(kind)
    seed = seed if seed is not None else len(CASES) * 17 + 5
    I, kw, ar = inputs(cfg, seed)
    R = att(I, list(mods) + ([] if RIGHT else list(bugs)), seed=seed + 1, **kw)
    R = drop_unneeded(R, kw, I, style)
    if {'no_mask', 'after_softmax', 'pad_none'} & set(bugs) and not RIGHT: R.pop('masked', None)
    for n in less: R.pop(n, None)
    if kind.endswith('output'):
        R = {'output': R['output']}
    rnd = (lambda a: np.round(a, 3)) if kind == 'rounded' else (lambda a: a)
    base = {n: a for n, a in I.items() if n in INKEYS}
    memarg = []
    if fmt == 'npz':
        al = rename({**base, **R}, style)
        if 'mem' in base and STYLES[style].get('mem', 'memory') != 'memory': memarg = ['--memory', f'{cid}.npz:{STYLES[style]["mem"]}']
        if STYLES[style].get('x') == 'embeddings' and 'x' in base: memarg += ['--x', f'{cid}.npz:embeddings']
        savez(cid + '.npz', **{n: rnd(np.asarray(a)) for n, a in al.items()})
        args = [cid + '.npz'] + ar + memarg + (['--mask-fill', '-1e9'] if 'fill_m1e9' in mods else [])
    elif fmt == 'npy':      # the output as .npy, inputs as separate files
        npy(cid + '_out.npy', R['output']); args = [cid + '_out.npy', '--as', 'output']
        for n, a in base.items():
            npy(f'{cid}_{n}.npy', a); args += [OPT[n], f'{cid}_{n}.npy']
        args += ar
    w = D[bugs[0]][1]
    if bugs[0] in ('no_mask', 'after_softmax', 'pad_none'): w = 'weights'
    if kw['h'] > 1 and w in ('scores', 'scaled', 'masked', 'weights'): w = 'head.1.' + w
    if kw['h'] == 1: w = w.replace('head.1.', '').replace('head.2.', '')
    put(kind, cid, args, bugs, 'output' if kind.endswith('output') else w)
    if 'scale_dmodel' in bugs and abs(I['W_q'].shape[0] ** .5 - I['W_q'].shape[1] / kw['h']) < 1e-9:    # the same number here
        CASES[-1]['mistakes'] = [t + ('|scores divided by d_k instead of √d_k' if 'd_model' in t else '') for t in CASES[-1]['mistakes']]
    return cid

# ------------------------------------------------------------------ layers
def ln(x, g, be, b=(), tag='', eps=1e-5):
    on = lambda s: s in b or (tag and f'{tag}:{s}' in b)
    ax = 0 if on('ln_axis0') else None if on('ln_all') else -1
    kd = dict(axis=ax, keepdims=True)
    mu = x.mean(**kd); va = x.var(**kd)
    if on('ln_sample'): va = x.var(axis=ax, keepdims=True, ddof=1)
    if on('ln_uncentered_var'): va = (x ** 2).mean(**kd)
    if on('ln_eps1e-3'): eps = 1e-3
    if on('ln_eps1e-1'): eps = 1e-1
    if on('ln_eps0'): eps = 0
    c = x - (0 if on('ln_no_center') else mu)
    if on('ln_no_sqrt'): nz = c / (va + eps)
    elif on('ln_eps_out'): nz = c / (np.sqrt(va) + eps)
    elif on('ln_no_var'): nz = c
    elif on('ln_mul_std'): nz = c * np.sqrt(va + eps)
    elif on('ln_rms'): nz = x / np.sqrt((x ** 2).mean(**kd) + eps)
    else: nz = c / np.sqrt(va + eps)
    o = nz
    if on('ln_beta_first'): o = (nz + be) * g
    elif on('ln_swap_gb'): o = nz * be + g
    else:
        if not on('ln_no_gamma'): o = o * (1 + g if on('ln_1plus_gamma') else g)
        if not on('ln_no_beta'): o = o - be if on('ln_beta_minus') else o + be
    return o, mu, va, nz

def act(a, b):
    from math import erf
    if 'ff_gelu' in b: return a * .5 * (1 + np.vectorize(erf)(a / np.sqrt(2)))
    if 'ff_tanh' in b: return np.tanh(a)
    if 'ff_silu' in b: return a / (1 + np.exp(-a))
    if 'ff_sigmoid' in b: return 1 / (1 + np.exp(-a))
    if 'ff_leaky' in b: return np.where(a > 0, a, .01 * a)
    if 'ff_abs' in b: return np.abs(a)
    if 'ff_no_act' in b: return a
    return np.maximum(a, 0)
def ff(x, P, b, R=None, pre='', seed=7):
    W1, W2 = P['W1'], P['W2']
    if 'ff_W1T' in b: W1 = W1.T
    if 'ff_W2T' in b: W2 = W2.T
    if 'ff_W1_twice' in b: W2 = W1
    i = x @ W1 + (0 if 'ff_no_b1' in b else P['b1'] * (2 if 'ff_b1_twice' in b else 1))
    a = act(i, b)
    if 'ff_drop' in b: a = dropout(a, .2, seed)
    o = a @ W2 + (0 if 'ff_no_b2' in b else P['b2'] * (2 if 'ff_b2_twice' in b else 1))
    if 'ff_relu_out' in b: o = np.maximum(o, 0)
    if R is not None: R[pre + 'inner'], R[pre + 'rectified'], R[pre + 'output'] = i, a, o
    return o

def sub(b, tag): return {x[len(tag) + 1:] for x in b if x.startswith(tag + ':')}
def params_att(r, d):
    P = {'W_' + c: r.normal(size=(d, d)) / np.sqrt(d) * 1.3 for c in 'qkvo'}
    P.update({'b_' + c: r.normal(size=d) * .5 for c in 'qkvo'}); return P
def params_layer(r, d, f, cross=False):
    P = {'sa': params_att(r, d)}
    if cross: P['ca'] = params_att(r, d)
    P.update(W1=r.normal(size=(d, f)) / np.sqrt(d) * 1.3, b1=r.normal(size=f) * .5, W2=r.normal(size=(f, d)) / np.sqrt(f) * 1.3, b2=r.normal(size=d) * .5)
    P['norm'] = [(1 + .3 * r.normal(size=d), .4 * r.normal(size=d)) for _ in range(3 if cross else 2)]
    return P
def torch_names(P, pre=''):
    o = {}
    for k, n in (('sa', 'self_attn'), ('ca', 'multihead_attn')):
        if k in P:
            A = P[k]
            o[f'{n}.in_proj_weight'] = np.vstack([A['W_' + c].T for c in 'qkv']); o[f'{n}.in_proj_bias'] = np.hstack([A['b_' + c] for c in 'qkv'])
            o[f'{n}.out_proj.weight'] = A['W_o'].T; o[f'{n}.out_proj.bias'] = A['b_o']
    o.update({'linear1.weight': P['W1'].T, 'linear1.bias': P['b1'], 'linear2.weight': P['W2'].T, 'linear2.bias': P['b2']})
    for i, (g, be) in enumerate(P['norm']): o[f'norm{i+1}.weight'], o[f'norm{i+1}.bias'] = g, be
    return {pre + k: v for k, v in o.items()}
def attn_names(P, pre):
    o = {}
    for k, n in (('sa', 'self_attention'), ('ca', 'cross_attention')):
        if k in P: o.update({f'{pre}.{n}.{w.lower()}': a for w, a in P[k].items()})
    o.update({f'{pre}.feed_forward.w_1': P['W1'], f'{pre}.feed_forward.b_1': P['b1'], f'{pre}.feed_forward.w_2': P['W2'], f'{pre}.feed_forward.b_2': P['b2']})
    for i, (g, be) in enumerate(P['norm']): o[f'{pre}.norm_{i+1}.gamma'], o[f'{pre}.norm_{i+1}.beta'] = g, be
    return o

def encoder_layer(x, P, b, h, R, pre='', norm='post', causal=False, pad=None, seed=1):
    nb = lambda i: sub(b, f'n{i}') | {s for s in b if s.startswith('ln_')}
    N = P['norm']
    if 'norms_swapped' in b: N = N[::-1]
    if 'norm1_twice' in b: N = [N[0], N[0]]
    LN = lambda a, i: a if f'no_norm{i+1}' in b else ln(a, *N[i], nb(i + 1))[0]
    A = lambda y: att({'x': y, **P['sa']}, sub(b, 'sa'), h=h, causal=causal, pad=pad, seed=seed)
    kx = 0 if 'no_res1' in b else 2 if 'res1_twice' in b else 1
    if norm == 'post':
        if 'ff_first' in b:
            F = ff(x, P, b, R, pre + 'feed_forward.'); y = LN(x + F, 0); a = A(y); o = LN(y + a['output'], 1); return o
        xin = LN(x, 0) if 'pre_instead' in b else x
        a = A(xin)
        R[pre + 'self_attention.weights'] = a['weights']; R[pre + 'self_attention.concat'] = a['concat']
        ao = a['output']
        if 'drop_att' in b: ao = dropout(ao, .2, seed)
        R[pre + 'self_attention.output'] = ao
        s1 = ao + kx * x
        if 'pre_instead' in b:
            F = ff(LN(s1, 1), P, b, R, pre + 'feed_forward.'); R[pre + 'sum_1'] = s1; R[pre + 'sum_2'] = s1 + F; return s1 + F
        if 'norm_before_add' in b: y = x + LN(ao, 0)
        else: y = LN(s1, 0)
        R[pre + 'sum_1'] = s1; R[pre + 'norm_1.output'] = y
        F = ff(s1 if 'ff_from_sum' in b else x if 'ff_from_x' in b else ao if 'ff_from_att' in b else y, P, b, R, pre + 'feed_forward.')
        if 'drop_ff' in b:
            F = dropout(F, .2, seed + 1); R[pre + 'feed_forward.output'] = F
        base = 0 * y if 'no_res2' in b else x if 'res2_from_x' in b else 2 * y if 'res2_twice' in b else s1 if 'res2_from_sum' in b else ao if 'res2_from_att' in b else y
        s2 = base + F
        o = y + LN(F, 1) if 'norm2_before_add' in b else LN(s2, 1)
        if 'drop_layer' in b: o = dropout(o, .2, seed + 2)
        R[pre + 'sum_2'] = s2; R[pre + 'norm_2.output'] = o
        return o
    if 'post_instead' in b:
        return encoder_layer(x, P, b - {'post_instead'}, h, R, pre, 'post', causal, pad, seed)
    z = LN(x, 0); a = A(z)
    R[pre + 'norm_1.output'] = z; R[pre + 'self_attention.weights'] = a['weights']; R[pre + 'self_attention.output'] = a['output']
    base = z if 'res_from_norm' in b else x * kx
    s1 = base + a['output']; z2 = LN(s1, 1)
    if 'norm2_skipped' in b: z2 = s1
    F = ff(z2, P, b, R, pre + 'feed_forward.')
    base2 = z2 if 'res2_from_norm' in b else x if 'res2_from_x' in b else 0 * s1 if 'no_res2' in b else s1
    R[pre + 'sum_1'] = s1; R[pre + 'norm_2.output'] = z2; R[pre + 'sum_2'] = base2 + F
    return base2 + F

def decoder_layer(x, mem, P, b, h, R, pre='', memvalid=None, seed=1):
    nb = lambda i: sub(b, f'n{i}') | {s for s in b if s.startswith('ln_')}
    N = list(P['norm'])
    if 'norms12_swapped' in b: N[0], N[1] = N[1], N[0]
    if 'norm1_for_all' in b: N = [N[0]] * 3
    LN = lambda a, i: a if f'no_norm{i+1}' in b else ln(a, *N[i], nb(i + 1))[0]
    sa, ca = P['sa'], P['ca']
    if 'shared_att' in b: ca = sa
    if 'shared_att_ca' in b: sa = ca
    if 'swapped_att' in b: sa, ca = ca, sa
    def SA(y): return att({'x': y, **sa}, sub(b, 'sa'), h=h, causal='no_causal' not in b, seed=seed)
    def CA(y, m):
        kw = dict(causal=True) if 'causal_cross' in b else {}
        if memvalid is not None and 'no_memmask' not in b: kw['pad'] = memvalid
        return att({'x': y, 'mem': m, **ca}, sub(b, 'ca'), h=h, seed=seed + 5, **kw)
    if 'cross_first' in b:
        c = CA(x, mem); y1 = LN(x + c['output'], 0); a = SA(y1); y2 = LN(y1 + a['output'], 1); F = ff(y2, P, b, R, pre + 'feed_forward.'); o = LN(y2 + F, 2)
        R[pre + 'self_attention.output'] = a['output']; R[pre + 'norm_1.output'] = y1; R[pre + 'cross_attention.output'] = c['output']; R[pre + 'norm_2.output'] = y2; R[pre + 'norm_3.output'] = o
        return o
    a = SA(x); kx = 0 if 'no_res1' in b else 2 if 'res1_twice' in b else 1
    y1 = LN(kx * x + a['output'], 0)
    R[pre + 'self_attention.weights'] = a['weights']; R[pre + 'self_attention.output'] = a['output']; R[pre + 'norm_1.output'] = y1
    if 'ff_before_cross' in b:
        F = ff(y1, P, b, R, pre + 'feed_forward.'); y2 = LN(y1 + F, 1); c = CA(y2, mem); o = LN(y2 + c['output'], 2)
        R[pre + 'cross_attention.output'] = c['output']; R[pre + 'norm_2.output'] = y2; R[pre + 'norm_3.output'] = o; return o
    if 'no_cross' in b: y2 = y1
    else:
        m = y1 if 'mem_ignored' in b else mem
        qin = x if 'cross_q_from_x' in b else a['output'] if 'cross_q_from_att' in b else y1
        if 'mem_normed' in b: m = ln(mem, *N[1])[0]
        c = CA(qin, m)
        co = c['output']
        if 'drop_cross' in b: co = dropout(co, .2, seed)
        R[pre + 'cross_attention.weights'] = c['weights']; R[pre + 'cross_attention.output'] = co
        base = 0 * y1 if 'no_res2' in b else x if 'res2_from_x' in b else mem if 'res2_from_mem' in b else 2 * y1 if 'res2_twice' in b else y1
        y2 = LN(base + co, 1)
        R[pre + 'norm_2.output'] = y2
    F = ff(y1 if 'ff_from_norm1' in b else y2, P, b, R, pre + 'feed_forward.')
    base = 0 * y2 if 'no_res3' in b else y1 if 'res3_from_norm1' in b else x if 'res3_from_x' in b else y2
    o = LN(base + F, 2); R[pre + 'norm_3.output'] = o
    return o

for bug, text, where in [
 ('ln_sample', 'sample variance (n−1) instead of the population variance in the layer norm|unbiased variance', 'norm.variance'),
 ('ln_uncentered_var', 'mean of squares instead of the variance in the layer norm', 'norm.variance'),
 ('ln_eps1e-3', 'eps 1e-3 instead of 1e-5 in the layer norm|epsilon too large', 'norm.normalised'), ('ln_eps1e-1', 'eps 0.1 instead of 1e-5 in the layer norm|epsilon too large', 'norm.normalised'),
 ('ln_eps0', 'no eps in the layer norm', 'norm.normalised'), ('ln_eps_out', 'eps added to the standard deviation instead of the variance|eps outside the square root', 'norm.normalised'),
 ('ln_axis0', 'layer norm over the columns (axis 0: the words) instead of each row|batch norm', 'norm.mean'), ('ln_all', 'layer norm over the whole matrix instead of each row', 'norm.mean'),
 ('ln_no_center', 'mean not subtracted in the layer norm', 'norm.normalised'), ('ln_no_sqrt', 'divided by the variance instead of the standard deviation|square root missing', 'norm.normalised'),
 ('ln_no_var', 'not divided by the standard deviation', 'norm.normalised'), ('ln_mul_std', 'multiplied by the standard deviation instead of divided', 'norm.normalised'), ('ln_rms', 'RMS normalization instead of layer normalization', 'norm.normalised'),
 ('ln_beta_first', 'beta added before multiplying by gamma', 'norm.output'), ('ln_swap_gb', 'gamma and beta exchanged', 'norm.output'), ('ln_no_gamma', 'gamma missing in the layer norm', 'norm.output'), ('ln_no_beta', 'beta missing in the layer norm', 'norm.output'),
 ('ln_1plus_gamma', '1 + gamma instead of gamma', 'norm.output'), ('ln_beta_minus', 'beta subtracted instead of added', 'norm.output'),
 ('ff_gelu', 'GELU instead of ReLU', 'feed_forward.rectified'), ('ff_tanh', 'tanh instead of ReLU', 'feed_forward.rectified'), ('ff_silu', 'SiLU instead of ReLU', 'feed_forward.rectified'), ('ff_sigmoid', 'sigmoid instead of ReLU', 'feed_forward.rectified'),
 ('ff_leaky', 'leaky ReLU instead of ReLU', 'feed_forward.rectified'), ('ff_abs', 'absolute value instead of ReLU', 'feed_forward.rectified'), ('ff_no_act', 'activation missing in the feed-forward layer|ReLU left out', 'feed_forward.rectified'),
 ('ff_W1T', 'W_1 transposed in the feed-forward layer', 'feed_forward.inner'), ('ff_W2T', 'W_2 transposed in the feed-forward layer', 'feed_forward.output'), ('ff_W1_twice', 'W_1 used in place of W_2', 'feed_forward.output'),
 ('ff_no_b1', 'bias b_1 missing in the feed-forward layer', 'feed_forward.inner'), ('ff_no_b2', 'bias b_2 missing in the feed-forward layer', 'feed_forward.output'), ('ff_b1_twice', 'bias b_1 added twice', 'feed_forward.inner'), ('ff_b2_twice', 'bias b_2 added twice', 'feed_forward.output'),
 ('ff_drop', 'dropout left on inside the feed-forward layer', 'feed_forward.rectified'), ('ff_relu_out', 'ReLU also after the second layer of the feed-forward', 'feed_forward.output'),
 ('norms_swapped', 'parameters of the two layer norms exchanged', 'norm_1.output'), ('norm1_twice', 'the first layer norm used for both (norm_1 parameters in norm_2)', 'norm_2.output'),
 ('no_norm1', 'first layer norm missing', 'norm_1.output'), ('no_norm2', 'second layer norm missing', 'norm_2.output'), ('no_norm3', 'third layer norm missing', 'norm_3.output'),
 ('no_res1', 'first residual connection missing', 'sum_1'), ('res1_twice', 'x added twice in the first residual connection', 'sum_1'), ('no_res2', 'second residual connection missing', 'sum_2'),
 ('res2_from_x', 'second residual taken from x, the input of the layer', 'sum_2'), ('res2_twice', 'residual doubled in the second sub-layer', 'sum_2'), ('res2_from_sum', 'second residual taken from before the layer norm', 'sum_2'), ('res2_from_att', 'second residual taken from the attention output', 'sum_2'),
 ('ff_first', 'feed-forward before self-attention: order of the sub-layers', 'self_attention.output'), ('pre_instead', 'pre-norm instead of post-norm', 'self_attention.output'), ('post_instead', 'post-norm instead of pre-norm', 'self_attention.output'),
 ('norm_before_add', 'layer norm of the sub-layer output before the residual is added: x + norm(sublayer(x))', 'norm_1.output'), ('norm2_before_add', 'second layer norm before the residual is added: y + norm(ff(y))', 'norm_2.output'),
 ('ff_from_sum', 'feed-forward gets the sum before the layer norm', 'feed_forward.inner'), ('ff_from_x', 'feed-forward gets x, the input of the layer', 'feed_forward.inner'), ('ff_from_att', 'feed-forward gets the attention output without residual and norm', 'feed_forward.inner'),
 ('drop_att', 'dropout left on, on the output of self-attention', 'self_attention.output'), ('drop_ff', 'dropout left on, on the output of the feed-forward layer', 'feed_forward.output'), ('drop_layer', 'dropout left on, on the output of the layer', 'norm_2.output'),
 ('res_from_norm', 'residual taken from the normalized input instead of x', 'sum_1'), ('res2_from_norm', 'second residual taken from the normalized input', 'sum_2'), ('norm2_skipped', 'second layer norm missing', 'norm_2.output'),
 ('norms12_swapped', 'parameters of norm_1 and norm_2 exchanged', 'norm_1.output'), ('norm1_for_all', 'the first layer norm used for all three', 'norm_2.output'),
 ('shared_att', 'cross-attention uses the parameters of the self-attention|shared parameters', 'cross_attention.q'), ('shared_att_ca', 'self-attention uses the parameters of the cross-attention|shared parameters', 'self_attention.q'), ('swapped_att', 'parameters of self-attention and cross-attention exchanged', 'self_attention.q'),
 ('no_causal', 'causal mask missing in the decoder', 'self_attention.masked'), ('causal_cross', 'causal mask in the cross-attention', 'cross_attention.masked'), ('no_memmask', 'padding mask of the memory missing in the cross-attention', 'cross_attention.masked'),
 ('cross_first', 'cross-attention before self-attention: order of the sub-layers', 'self_attention.output'), ('ff_before_cross', 'feed-forward before the cross-attention: order of the sub-layers', 'cross_attention.output'), ('no_cross', 'cross-attention left out', 'cross_attention.output'),
 ('mem_ignored', 'cross-attention uses the target instead of the memory for keys and values|memory ignored', 'cross_attention.k'), ('cross_q_from_x', 'queries of the cross-attention from x instead of the output of the first sub-layer', 'cross_attention.q'), ('cross_q_from_att', 'queries of the cross-attention from the self-attention output without residual and norm', 'cross_attention.q'),
 ('mem_normed', 'memory normalized (layer norm) before the cross-attention', 'cross_attention.k'), ('drop_cross', 'dropout left on, on the cross-attention output', 'cross_attention.output'), ('res2_from_mem', 'residual of the cross-attention from the memory', 'sum_2'),
 ('ff_from_norm1', 'feed-forward gets the output of the first norm: cross-attention result skipped', 'feed_forward.inner'), ('no_res3', 'third residual connection missing', 'sum_3'), ('res3_from_norm1', 'third residual taken from norm_1 instead of norm_2', 'sum_3'), ('res3_from_x', 'third residual taken from x', 'sum_3'),
]: desc(bug, text, where)
for tag, name in (('sa', 'self_attention'), ('ca', 'cross_attention')):
    for k in list(D):
        if ':' not in k and D[k][1].split('.')[-1] in ('q', 'k', 'v', 'scores', 'scaled', 'masked', 'weights', 'concat', 'output') and not k.startswith(('ln_', 'ff_', 'rope', 'add_')):
            desc(f'{tag}:{k}', '|'.join(f'{t} (in the {name.replace("_", "-")})' for t in D[k][0].split('|')), f'{name}.{D[k][1]}')
for i in (1, 2, 3):
    for k in [k for k in D if k.startswith('ln_')]: desc(f'n{i}:{k}', '|'.join(f'norm {i} only: {t}' for t in D[k][0].split('|')), D[k][1].replace('norm.', f'norm_{i}.'))

SHORT = {'self_attention.weights': 'attn_weights', 'self_attention.output': 'attn_output', 'norm_1.output': 'norm1', 'norm_2.output': 'norm2', 'norm_3.output': 'norm3',
         'feed_forward.output': 'ff', 'cross_attention.output': 'cross_attn_output'}
def stack(kind, bugs, model='encoder', layers=1, h=2, d=8, f=12, n=5, norm='post', style='full', pnames='torch', causal=False, pad=None, memvalid=None, seed=None, square=False, fmt='npz', same=False):
    cid = new(kind); seed = seed if seed is not None else len(CASES) * 13 + 3
    r = np.random.default_rng(seed); b = set() if RIGHT else set(bugs)
    x = r.normal(size=(n, d)); nm = n - 1 if not square else n; mem = r.normal(size=(nm, d)); f = d if square else f
    Ps = [params_layer(r, d, f, model == 'decoder') for _ in range(layers)]
    fin = (1 + .3 * r.normal(size=d), .4 * r.normal(size=d))
    R = {}; y = x
    for i, P in enumerate(Ps):
        use = Ps[0] if 'shared_layers' in b else Ps[layers - 1 - i] if 'layers_reversed' in b else P
        xin = x if 'layer2_from_x' in b else y
        if model == 'encoder': y = encoder_layer(xin, use, b, h, R, f'encoder.{i+1}.', norm, causal, pad, seed)
        else: y = decoder_layer(xin, mem, use, b, h, R, f'decoder.{i+1}.', memvalid, seed)
        if 'one_layer' in b: break
    if norm == 'pre' and layers > 1 and 'no_final_norm' not in b: y = ln(y, *fin)[0]
    if norm == 'post' and 'extra_final_norm' in b: y = ln(y, *Ps[-1]['norm'][-1])[0]
    # parameters
    pf = cid + '_params.npz'
    if pnames == 'torch':
        pr = {}
        for i, P in enumerate(Ps): pr.update(torch_names(P, f'layers.{i}.' if layers > 1 else ''))
        if norm == 'pre' and layers > 1: pr['norm.weight'], pr['norm.bias'] = fin
    else:
        pr = {}
        for i, P in enumerate(Ps): pr.update(attn_names(P, f'{model}.{i+1}'))
    savez(pf, **pr)
    out = {'x': x}
    if model == 'decoder': out['memory'] = mem
    if not kind.endswith('output'):
        for k, a in R.items():
            q = k.split('.', 2)[2]
            if style == 'short':
                if q in SHORT and layers == 1: out[SHORT[q]] = a
            elif k.endswith('.weights'):
                for j in range(h): out[k[:-7] + f'head.{j+1}.weights'] = a[j]
            else: out[k] = a
    out['output'] = y
    rnd = (lambda a: np.round(a, 3)) if kind == 'rounded' else (lambda a: a)
    xo = '--x' if model == 'encoder' else '--target-x'
    if fmt == 'npy' and kind.endswith('output'):
        npy(cid + '.npy', y); npy(cid + '_x.npy', x); args = [cid + '.npy', model, '--as', 'output', '--parameters', pf, '--heads', str(h), xo, cid + '_x.npy']
        if model == 'decoder': npy(cid + '_mem.npy', mem); args += ['--memory', cid + '_mem.npy']
    else:
        savez(cid + '.npz', **{k: rnd(a) for k, a in out.items()}); args = [cid + '.npz', model, '--parameters', pf, '--heads', str(h), xo, cid + '.npz:x']
        if model == 'decoder': args += ['--memory', cid + '.npz:memory']
    if norm == 'pre': args += ['--norm', 'pre']
    if causal: args += ['--causal']
    if pad is not None: args += ['--valid-length', str(pad)]
    if memvalid is not None: args += ['--memory-valid-length', str(memvalid)]
    w = D[bugs[0]][1] if bugs else ''
    if w and not w.startswith('encoder'): w = f'{model}.1.{w}'.replace('.norm.', '.norm_1.')
    put(kind, cid, args, bugs, w if not kind.endswith('output') else None)
desc('shared_layers', 'both layers use the parameters of layer 1|shared parameters', 'encoder.2.self_attention.q'); desc('layers_reversed', 'layers in reversed order', 'encoder.1.self_attention.q')
desc('layer2_from_x', 'the second layer gets x instead of the output of the first layer', 'encoder.2.self_attention.q'); desc('one_layer', 'only one layer run instead of two', 'encoder.output')
desc('no_final_norm', 'final layer norm missing', 'encoder.output'); desc('extra_final_norm', 'layer norm applied once more at the end', 'encoder.output')

def layernorm(kind, bugs, seed=None, less=(), d=6, n=4, args=(), data=None):
    cid = new(kind); r = np.random.default_rng(seed or len(CASES) + 900)
    x = r.normal(size=(n, d)) * 2 + r.normal(size=(n, 1)); g, be = 1 + .4 * r.normal(size=d), .5 * r.normal(size=d)
    if data == 'small': x = x * .01
    o, mu, va, nz = ln(x, g, be, () if RIGHT else set(bugs))
    z = dict(x=x, gamma=g, beta=be, mean=mu, var=va, normalized=nz, output=o)
    if mu.shape != (n, 1): z.pop('mean'); z.pop('var')
    if kind.endswith('output'): z = dict(x=x, gamma=g, beta=be, output=o)
    rnd = (lambda a: np.round(a, 3)) if kind == 'rounded' else (lambda a: a)
    savez(cid + '.npz', **{k: rnd(a) for k, a in z.items()})
    f = cid + '.npz'
    put(kind, cid, [f, 'layer-norm', '--x', f + ':x', '--gamma', f + ':gamma', '--beta', f + ':beta', *args], bugs, None if not bugs or kind.endswith('output') else D[bugs[0]][1].replace('norm.', ''))

# positions
def pe(n, d, b=(), base=10000.):
    if 'pos_base1000' in b: base = 1000.
    if 'pos_base1e5' in b: base = 100000.
    p = np.arange(n, dtype=float) + ('pos_from1' in b)
    i = np.arange(0, d, 2)
    e = i / d
    if 'pos_exp_2i2' in b: e = 2 * i / d          # 2i with i already even
    if 'pos_exp_half' in b: e = i / 2 / d
    if 'pos_exp_dm1' in b: e = np.arange(d // 2) / (d // 2 - 1)
    a = p[:, None] / base ** e
    if 'pos_multiply' in b: a = p[:, None] * base ** e
    if 'pos_degrees' in b: a = np.radians(a)
    if 'pos_reversed' in b: a = a[::-1]
    if 'pos_per_column' in b:     # every column has its own frequency
        al = p[:, None] / base ** (np.arange(d) / d); o = np.where(np.arange(d) % 2 == 0, np.sin(al), np.cos(al)); return o
    s, c = np.sin(a), np.cos(a)
    if 'pos_cos_sin' in b: s, c = c, s
    if 'pos_all_sin' in b: c = s
    if 'pos_concat' in b: return np.concatenate([s, c], 1)
    o = np.zeros((n, d)); o[:, ::2], o[:, 1::2] = s, c
    return o
for bug, text in [('pos_base1000', 'base 1000 instead of 10000'), ('pos_base1e5', 'base 100000 instead of 10000'), ('pos_from1', 'positions counted from 1 instead of 0|offset by one'), ('pos_exp_2i2', 'exponent twice too large: 2·(2i)/d instead of 2i/d'),
   ('pos_exp_half', 'exponent i/d instead of 2i/d|exponent half as large'), ('pos_exp_dm1', 'exponent i/(d/2 − 1) instead of 2i/d', ), ('pos_multiply', 'position multiplied with the power instead of divided', ), ('pos_degrees', 'angle converted from degrees', ), ('pos_reversed', 'positions in reversed order'),
   ('pos_per_column', 'each column has its own frequency: exponent with the column number for cosines too (no pairs)|exponent of the odd columns wrong'), ('pos_cos_sin', 'sine and cosine exchanged|cosine in the even columns'), ('pos_all_sin', 'sine in all columns, no cosine'),
   ('pos_concat', 'all sine columns before all cosine columns instead of alternating|concatenated')]: desc(bug, text, 'positions')
for bug, text, w in [('pos_twice', 'positions added twice', 'positioned'), ('pos_missing', 'positions not added', 'positioned'), ('pos_times', 'embeddings multiplied with the positions instead of added', 'positioned'),
   ('emb_scaled', 'embeddings multiplied by √d_model before the positions are added', 'positioned'), ('emb_unscaled', 'embeddings not multiplied by √d_model', 'scaled_x'), ('emb_scaled_after', 'sum of embeddings and positions multiplied by √d_model instead of the embeddings alone', 'positioned'),
   ('pos_qk_only', 'positions not in the values: added for q and k only', 'v'), ('pos_minus', 'positions subtracted instead of added', 'positioned'), ('emb_divided', 'embeddings divided by √d_model instead of multiplied', 'scaled_x')]: desc(bug, text, w)
def positions(kind, bugs, fmt='npy', n=6, d=8):
    cid = new(kind); r = np.random.default_rng(len(CASES) + 50); p = pe(n, d, () if RIGHT else set(bugs)); x = r.normal(size=(n, d))
    npy(cid + '_x.npy', x)
    if fmt == 'npy': npy(cid + '.npy', p); a = [cid + '.npy', '--as', 'positions']
    elif fmt == 'csv': csv(cid + '.csv', p, 3 if kind == 'rounded' else 8); a = [cid + '.csv', '--as', 'positions']
    else: savez(cid + '.npz', pe=p); a = [cid + '.npz', '--as', 'positions'] if False else [cid + '.npz']
    put(kind, cid, a + ['--x', cid + '_x.npy', '--positions', 'sinusoidal'], bugs)
def walkpos(kind, bugs, n=5, d=6, less=()):
    """embeddings + positions, then one head"""
    cid = new(kind); r = np.random.default_rng(len(CASES) + 70); b = set() if RIGHT else set(bugs)
    E = r.normal(size=(n, d)); W = {'W_' + c: r.normal(size=(d, 4)) * .6 for c in 'qkv'}
    p = pe(n, d, b); e = E * np.sqrt(d) if 'emb_scaled' in b else E
    x = e + p
    if 'pos_twice' in b: x = x + p
    if 'pos_missing' in b: x = e
    if 'pos_times' in b: x = e * p
    if 'pos_minus' in b: x = e - p
    R = att({'x': x, **W}, b)
    if 'pos_qk_only' in b: R['v'] = E @ W['W_v']; R['output'] = R['weights'][0] @ R['v']
    z = dict(x=E, **W)
    if not kind.endswith('output'): z.update(pe=p, x_pe=x, q=R['q'], k=R['k'], v=R['v'], scores=R['scores'][0], weights=R['weights'][0])
    z['output'] = R['output']
    savez(cid + '.npz', **z); put(kind, cid, [cid + '.npz', '--positions', 'sinusoidal'], bugs)
def embenc(kind, bugs, d=8, n=4, dec=False):
    """word ids, embeddings, positions, one layer (and for dec, logits)"""
    cid = new(kind); r = np.random.default_rng(len(CASES) + 170); b = set() if RIGHT else set(bugs); V = 6
    E = r.normal(size=(V, d)) * .5; P = params_layer(r, d, 12); ids = np.array([2, 3, 5, 4, 3, 2])[:n]
    Wo, bo = r.normal(size=(d, V)), r.normal(size=V)
    inp = ids
    if 'label_shift_left' in b: inp = np.append(ids[1:], 1)
    if 'label_shift_right' in b: inp = np.append([0], ids[:-1])
    if 'ids_plus1' in b: inp = (ids + 1) % V
    if 'ids_reversed' in b: inp = ids[::-1]
    e = E[inp]; s = e * np.sqrt(d)
    if 'emb_unscaled' in b: s = e
    if 'emb_divided' in b: s = e / np.sqrt(d)
    p = pe(n, d, b); x = s + p
    if 'emb_scaled_after' in b: x = (e + p) * np.sqrt(d)
    if 'pos_twice' in b: x = x + p
    if 'pos_missing' in b: x = s
    if 'pos_in_every' in b: pass
    R = {}; pre = 'decoder.1.' if dec else 'encoder.1.'
    y = encoder_layer(x, P, b, 2, R, pre, causal=dec and 'no_causal' not in b, seed=5)
    pr = attn_names(P, 'decoder.1' if dec else 'encoder.1'); src = 'target' if dec else 'source'
    pr[f'{src}_embedding.e'] = E
    z = {f'{src}.x': e, f'{src}.scaled_x': s, f'{src}.positions': p, f'{src}.positioned': x} if not kind.endswith('output') else {}
    if not kind.endswith('output'):
        for k, a in R.items():
            if k.endswith('weights'):
                for j in range(2): z[k[:-7] + f'head.{j+1}.weights'] = a[j]
            else: z[k] = a
    if dec:
        pr['output.w'], pr['output.b'] = Wo, bo
        lo = y @ Wo + (0 if 'no_out_b' in b else bo)
        if 'tied' in b: lo = y @ E.T
        if 'logit_scaled' in b: lo = lo / np.sqrt(d)
        z['logits'] = lo; z['distribution'] = softmax(lo, 0) if 'dist_axis0' in b else softmax(lo)
        if kind.endswith('output'): z.pop('logits') if 'keep' in b else None
    else: z['output'] = y
    savez(cid + '_params.npz', **pr); savez(cid + '.npz', **z)
    words = ' '.join(map(str, ids))
    a = [cid + '.npz'] + (['transformer', '--kind', 'decoder-only', '--target', words] if dec else ['encoder', '--text', words]) + ['--parameters', cid + '_params.npz', '--heads', '2']
    w = D[bugs[0]][1] if bugs else ''
    if w in ('positions', 'positioned', 'scaled_x', 'x'): w = f'{src}.{w}'
    put(kind, cid, a, bugs, w if not kind.endswith('output') else None)
desc('label_shift_left', 'the words shifted by one: the labels (next words) go in instead of the input words|label shift', 'x'); desc('label_shift_right', 'words shifted right once too often|label shift twice', 'x')
desc('ids_plus1', 'word ids off by one: the wrong rows of the embedding table', 'x'); desc('ids_reversed', 'words in reversed order', 'x'); desc('no_out_b', 'bias of the output layer missing', 'logits'); desc('logit_scaled', 'logits divided by √d_model', 'logits'); desc('dist_axis0', 'softmax of the logits over the positions instead of the words', 'distribution')
desc('tied', 'transposed embedding table used as the output layer instead of output.w (and no bias)', 'logits')

# gradients
for bug, text, w in [('g_no_scale', '1/√d_k missing in the gradient of the scores', 'd_scores'), ('g_diag', 'only the diagonal of the softmax Jacobian: w(1−w)·dw', 'd_scaled'), ('g_no_sum', 'softmax gradient without subtracting the row sum: w·dw', 'd_scaled'), ('g_sum_axis0', 'row sum of the softmax gradient taken over columns (axis 0)', 'd_scaled'),
   ('g_dv_noT', 'w·dO instead of wᵀ·dO for the values', 'd_v'), ('g_dk_noT', 'dS·q instead of dSᵀ·q for the keys|d_scores not transposed', 'd_k'), ('g_dq_T', 'dSᵀ·k instead of dS·k for the queries', 'd_q'), ('g_sign', 'sign of the gradient of the scores wrong', 'd_scaled'),
   ('g_dx_no_v', 'path through the values missing in the gradient of x', 'd_x'), ('g_dx_no_k', 'path through the keys missing in the gradient of x', 'd_x'), ('g_dx_only_q', 'gradient of x only through the queries', 'd_x'), ('g_dw_T', 'gradients of the weight matrices transposed', 'd_w_q'), ('g_dx_noT', 'W instead of Wᵀ in the gradient of x', 'd_x'), ('g_scale_mul', 'gradient of the scores multiplied by √d_k instead of divided', 'd_scores'),
   ('g_dw_with_q', 'd_weights = dO·qᵀ..: dO·kᵀ instead of dO·vᵀ', 'd_weights'), ('g_softmax_skipped', 'softmax gradient left out: d_scores = d_weights', 'd_scaled'), ('g_mean', 'gradient divided by the number of rows (mean instead of sum)', 'd_output'), ('g_dk_q_swap', 'd_q and d_k exchanged', 'd_q')]: desc(bug, text, w)
def grads(kind, bugs, seed=None, h=1, style='d_', causal=False, only=None, square=True):
    cid = new(kind); r = np.random.default_rng(seed or len(CASES) + 333); b = set() if RIGHT else set(bugs); n, d = 5, 6; dk = 6 if square else 4
    x = r.normal(size=(n, d)); W = {'W_' + c: r.normal(size=(d, dk)) * .5 for c in 'qkv'}
    A = att({'x': x, **W}, b, causal=causal); q, k, v, w = A['q'], A['k'], A['v'], A['weights'][0]
    G = r.normal(size=(n, dk)); g = {}; f = np.sqrt(dk)
    up = G
    if 'g_mean' in b: G = G / n
    dv = (w @ G) if 'g_dv_noT' in b else w.T @ G; dw = G @ (k.T if 'g_dw_with_q' in b else v.T)
    ds = w * (dw - (dw * w).sum(0 if 'g_sum_axis0' in b else 1, keepdims=True))
    if 'g_diag' in b: ds = w * (1 - w) * dw
    if 'g_no_sum' in b: ds = w * dw
    if 'g_softmax_skipped' in b: ds = dw.copy()
    if 'g_sign' in b: ds = -ds
    dS = ds * (f if 'g_scale_mul' in b else 1 if 'g_no_scale' in b else 1 / f)
    dq = (dS.T if 'g_dq_T' in b else dS) @ k; dK = (dS if 'g_dk_noT' in b else dS.T) @ q
    if 'g_dk_q_swap' in b: dq, dK = dK, dq
    gw = [x.T @ dq, x.T @ dK, x.T @ dv]
    if 'g_dw_T' in b: gw = [a.T for a in gw]
    T = (lambda m: m) if 'g_dx_noT' in b else (lambda m: m.T)
    dx = dq @ T(W['W_q'])
    if not {'g_dx_only_q', 'g_dx_no_k'} & b: dx = dx + dK @ T(W['W_k'])
    if not {'g_dx_only_q', 'g_dx_no_v'} & b: dx = dx + dv @ T(W['W_v'])
    g = dict(output=G, weights=dw, v=dv, scaled=ds, scores=dS, q=dq, k=dK, w_q=gw[0], w_k=gw[1], w_v=gw[2], x=dx)
    if style == 'd': nm = {'output': 'dout', 'w_q': 'dW_q', 'w_k': 'dW_k', 'w_v': 'dW_v', 'x': 'dx', 'q': 'dq', 'k': 'dk', 'v': 'dv', 'weights': 'dweights', 'scores': 'dscores', 'scaled': 'dscaled'}
    elif style == 'grad': nm = {k: 'grad_' + k for k in g}
    else: nm = {k: 'd_' + k for k in g}
    z = dict(x=x, **W)
    if kind.endswith('output'): z.update({nm['x']: dx})
    else: z.update(q=q, k=k, v=v, weights=w, output=A['output'], **{nm[n]: a for n, a in g.items() if not only or n in only})
    z['upstream'] = up
    savez(cid + '.npz', **z); put(kind, cid, [cid + '.npz', 'backward', '--upstream', cid + '.npz:upstream'] + (['--causal'] if causal else []), bugs, D[bugs[0]][1] if bugs and not kind.endswith('output') else 'd_x' if bugs else None)

# batches
for bug, text, w in [('b_softmax_batch', 'softmax over the batch (axis 0) instead of the keys', 'weights'), ('b_mixed', 'words of all sentences taken as one sequence: attention across the batch', 'scores'), ('b_swapped', 'batch and word axes exchanged: attends over the sentences', 'scores'), ('b_first_kv', 'keys and values of the first sentence used for all', 'scores'),
   ('b_reshape', 'heads made by reshape (b, h, n, d_k) without transposing', 'head.1.q'), ('b_mean', 'weights averaged over the batch', 'weights')]: desc(bug, text, 'sentence.1.' + w)
def batch(kind, bugs, h=2, nb=3, n=4, dk=3, bias=False, style='snake', heads_arg=True):
    cid = new(kind); r = np.random.default_rng(len(CASES) + 555); b = set() if RIGHT else set(bugs); d = h * dk
    X = r.normal(size=(nb, n, d)); I = {'W_' + c: r.normal(size=(d, d)) * .6 for c in ('qkvo' if h > 1 else 'qkv')}
    if bias: I.update({'b_' + c: r.normal(size=d) * .5 for c in ('qkvo' if h > 1 else 'qkv')})
    q, k, v = (X @ I['W_' + c] + I.get('b_' + c, 0) for c in 'qkv')
    S = lambda m: (m.reshape(nb, h, n, dk) if 'b_reshape' in b else m.reshape(nb, n, h, dk).transpose(0, 2, 1, 3))
    if 'b_first_kv' in b: k, v = (np.repeat(m[:1], nb, 0) for m in (k, v))
    Q, K, V = S(q), S(k), S(v)
    if 'b_swapped' in b:
        Q, K, V = (m.transpose(2, 1, 0, 3) for m in (Q, K, V))
    if 'b_mixed' in b:
        Q, K, V = (m.transpose(1, 0, 2, 3).reshape(1, h, nb * n, dk) for m in (Q, K, V))
    s = Q @ K.transpose(0, 1, 3, 2); sc = s / (1 if 'no_scale' in b else np.sqrt(dk))
    w = softmax(sc, 0 if 'b_softmax_batch' in b else 1 if 'axis_heads' in b else -2 if 'axis0' in b else -1)
    if 'b_mean' in b: w = np.repeat(w.mean(0, keepdims=True), nb, 0)
    o = w @ V
    if 'b_swapped' in b: o = o.transpose(2, 1, 0, 3)
    if 'b_mixed' in b: o = o.reshape(h, nb, n, dk).transpose(1, 0, 2, 3)
    c = o.transpose(0, 2, 1, 3).reshape(nb, n, d)
    out = c @ I['W_o'] + I.get('b_o', 0) if h > 1 else c
    R = dict(q=q, k=k, v=v)
    if 'b_swapped' not in b and 'b_mixed' not in b: R.update(scores=s if h > 1 else s[:, 0], scaled=sc if h > 1 else sc[:, 0], weights=w if h > 1 else w[:, 0])
    if h > 1: R['concat'] = c
    R['output'] = out
    if kind.endswith('output'): R = dict(output=out)
    savez(cid + '.npz', **rename({'x': X, **I, **R}, style)); put(kind, cid, [cid + '.npz'] + (['--heads', str(h)] if heads_arg else []), bugs)

# recurrent encoder-decoder with additive attention
for bug, text, w in [('a_query_new', 'the new decoder state is the query instead of the previous one', 'decoder.1.query'), ('a_no_tanh', 'tanh missing in the additive score', 'decoder.1.activated'), ('a_swap', 'W_q and W_k of the additive score exchanged|query and key matrices exchanged', 'decoder.1.hidden_q'),
   ('a_no_softmax', 'softmax left out: scores used as weights', 'decoder.1.weights'), ('a_ctx_last', 'context is the last encoder state instead of the weighted sum', 'decoder.1.context'), ('a_ctx_mean', 'context is the mean of the encoder states', 'decoder.1.context'), ('a_order', 'embedding before the context in the input of the cell instead of after it: concatenation order', 'decoder.1.x'),
   ('a_no_bias', 'bias of the decoder cell missing', 'decoder.1.state'), ('a_h_shift', 'encoder states shifted by one (state before each word)', 'h'), ('a_no_cell_tanh', 'tanh of the decoder cell missing', 'decoder.1.state'), ('a_label', 'decoder gets the current word instead of the previous one|label shift', 'decoder.1.y'), ('a_state0', 'decoder starts with zeros instead of the state computed from the encoder', 'decoder.0.state'), ('a_no_bs', 'bias b_s missing in the first decoder state', 'decoder.0.state')]: desc(bug, text, w)
def align(kind, bugs, hd=4):
    cid = new(kind); r = np.random.default_rng(len(CASES) + 444); b = set() if RIGHT else set(bugs)
    m = lambda a, c: np.round(r.normal(size=(a, c)) * .8, 2)
    P = {'encoder.e': m(4, hd), 'encoder.w_xh': m(hd, hd), 'encoder.w_hh': m(hd, hd), 'encoder.b_h': m(1, hd), 'decoder.e': m(5, hd), 'decoder.w_s': m(hd, hd), 'decoder.b_s': m(1, hd), 'decoder.w_xh': m(2 * hd, hd), 'decoder.w_hh': m(hd, hd), 'decoder.b_h': m(1, hd),
         'decoder.score_wq': m(hd, hd), 'decoder.score_wk': m(hd, hd), 'decoder.score_wv': m(hd, 1), 'decoder.w_o': m(hd, 5), 'decoder.b_o': m(1, 5)}
    json.dump(dict(title='translation', cell='tanh', variant='bahdanau', source='one two three', target='eins zwei', source_words=['<end>', 'one', 'two', 'three'], target_words=['<start>', '<end>', 'eins', 'zwei', 'drei'],
                   parameters={k: v.tolist() for k, v in P.items()}), open(os.path.join(OUT, cid + '_model.json'), 'w'))
    hh = np.zeros((1, hd)); H = []
    for t in (1, 2, 3, 0):
        if 'a_h_shift' in b: H.append(hh)
        hh = np.tanh(P['encoder.e'][[t]] @ P['encoder.w_xh'] + hh @ P['encoder.w_hh'] + P['encoder.b_h'])
        if 'a_h_shift' not in b: H.append(hh)
    Hs = np.vstack(H); s = np.tanh(hh @ P['decoder.w_s'] + (0 if 'a_no_bs' in b else P['decoder.b_s']))
    if 'a_state0' in b: s = np.zeros((1, hd))
    z = {'h': Hs, 'decoder.0.state': s}; al = []
    prev, cur = [0, 2, 3], [2, 3, 1]
    wq, wk = P['decoder.score_wq'], P['decoder.score_wk']
    if 'a_swap' in b: wq, wk = wk, wq
    for i in range(3):
        y = P['decoder.e'][[(cur if 'a_label' in b else prev)[i]]]; p = f'decoder.{i+1}.'
        qy = s
        if 'a_query_new' in b: qy = np.tanh(np.hstack([Hs.mean(0, keepdims=True), y]) @ P['decoder.w_xh'] + s @ P['decoder.w_hh'] + P['decoder.b_h'])
        hid = qy @ wq + Hs @ wk; ac = hid if 'a_no_tanh' in b else np.tanh(hid)
        sc = (ac @ P['decoder.score_wv']).T; w = sc if 'a_no_softmax' in b else softmax(sc)
        if 'a_no_exp' in b: w = sc / sc.sum()
        c = w @ Hs
        if 'a_ctx_last' in b: c = Hs[-1:]
        if 'a_ctx_mean' in b: c = Hs.mean(0, keepdims=True)
        xx = np.hstack([y, c] if 'a_order' in b else [c, y])
        pre = xx @ P['decoder.w_xh'] + s @ P['decoder.w_hh'] + (0 if 'a_no_bias' in b else P['decoder.b_h'])
        s = pre if 'a_no_cell_tanh' in b else np.tanh(pre); lo = s @ P['decoder.w_o'] + P['decoder.b_o']
        z.update({p + 'y': y, p + 'query': qy, p + 'hidden': hid, p + 'activated': ac, p + 'scores': sc, p + 'weights': w, p + 'context': c, p + 'x': xx, p + 'state': s, p + 'logits': lo, p + 'distribution': softmax(lo)}); al.append(w)
    z['alignment'] = np.vstack(al)
    if kind.endswith('output'): z = {'alignment': z['alignment'], **{k: v for k, v in z.items() if k.endswith('logits')}}
    savez(cid + '.npz', **z); put(kind, cid, [cid + '.npz', 'align', '--parameters', cid + '_model.json'], bugs)
    if bugs and not kind.endswith('output'): CASES[-1]['where'] = D[bugs[0]][1]

# ------------------------------------------------------------------ right programs
def walkcsv(cfg, bugs, which):
    """CSV files as np.savetxt(fmt='%.3f') writes them, one for each matrix"""
    cid = new('rounded'); seed = len(CASES) * 17 + 5
    I, kw, ar = inputs(cfg, seed); R = drop_unneeded(att(I, () if RIGHT else bugs, seed=seed + 1, **kw), kw, I, 'snake')
    csv(f'{cid}_{which}.csv', R[which]); args = [f'{cid}_{which}.csv', '--as', which]
    for n, a in I.items():
        csv(f'{cid}_{n}.csv', a, 3); args += [OPT[n], f'{cid}_{n}.csv']
    put('rounded', cid, args + ar, bugs, which)

def rights():
    r = np.random.default_rng(2024)
    def base(cfg, seed):
        I, kw, ar = inputs(cfg, seed); return I, kw, ar, drop_unneeded(att(I, **kw), kw, I, '')
    def done(cid, args): put(G, cid, args, [])
    # 1 other names
    cid = new(G); I, kw, ar, R = base('plain', 11)
    savez(cid + '.npz', inputs=I['x'], Wquery=I['W_q'], Wkey=I['W_k'], Wvalue=I['W_v'], querys=R['q'], keys=R['k'], values=R['v'], attn_scores=R['scores'], attn_weights=R['weights'], context_vec=R['output'])
    done(cid, [cid + '.npz', '--x', cid + '.npz:inputs', '--wq', cid + '.npz:Wquery', '--wk', cid + '.npz:Wkey', '--wv', cid + '.npz:Wvalue'])
    # 2 batch axis of 1
    cid = new(G); I, kw, ar, R = base('plain+bias', 12)
    z = {**I, **R}; savez(cid + '.npz', **{n: (a[None] if n in ('x', 'q', 'k', 'v', 'scores', 'scaled', 'weights', 'output') else a) for n, a in z.items()}); done(cid, [cid + '.npz'])
    # 3 float32
    cid = new(G); I, kw, ar, R = base('mh+bias', 13); I32 = {n: a.astype(np.float32) for n, a in I.items()}
    R = drop_unneeded(att(I32, **kw), kw, I32, ''); savez(cid + '.npz', **rename({**I32, **{n: a.astype(np.float32) for n, a in R.items()}}, 'caps')); done(cid, [cid + '.npz'] + ar)
    # 4 torch names of a BERT layer, [out, in]
    cid = new(G); I, kw, ar, R = base('h3+bias', 14); z = {'hidden_states': I['x']}
    for c, n in zip('qkv', ('query', 'key', 'value')): z[f'attention.self.{n}.weight'] = I['W_' + c].T; z[f'attention.self.{n}.bias'] = I['b_' + c]
    z['attention.output.dense.weight'], z['attention.output.dense.bias'] = I['W_o'].T, I['b_o']
    savez(cid + '.npz', **z, attention_probs=R['weights'][None], context_layer=R['concat'][None], attention_output=R['output'][None]); done(cid, [cid + '.npz', '--x', cid + '.npz:hidden_states'] + ar)
    # 5 self.q.weight
    cid = new(G); I, kw, ar, R = base('mh+bias', 15); z = {'x': I['x']}
    for c in 'qkvo': z[f'self.{c}.weight'] = I['W_' + c].T; z[f'self.{c}.bias'] = I['b_' + c]
    savez(cid + '.npz', **z, q=R['q'], k=R['k'], v=R['v'], attn=R['weights'], out=R['output']); done(cid, [cid + '.npz'] + ar)
    # 6 transposed storage said by name
    cid = new(G); I, kw, ar, R = base('plain', 16)
    savez(cid + '.npz', x=I['x'], W_q=I['W_q'], W_k=I['W_k'], W_v=I['W_v'], q=R['q'], k_T=R['k'].T, kT=R['k'].T, v=R['v'], scores=R['scores'], weights=R['weights'], weights_T=R['weights'].T, output=R['output']); done(cid, [cid + '.npz'])
    # 7 boolean mask in the file, -1e9
    cid = new(G); I, kw, ar, _ = base('causal+mh', 17); R = drop_unneeded(att(I, ['fill_m1e9'], **kw), kw, I, '')
    savez(cid + '.npz', **I, **R, mask=np.tril(np.ones((len(I['x']),) * 2, bool))); done(cid, [cid + '.npz', '--heads', '2', '--causal', '--mask-fill', '-1e9'])
    # 8 -1e9 for padding, no mask in the file
    cid = new(G); I, kw, ar, _ = base('pad', 18); R = drop_unneeded(att(I, ['fill_m1e9'], **kw), kw, I, ''); savez(cid + '.npz', **I, **R); done(cid, [cid + '.npz'] + ar)
    # 9 'scores' are the masked scaled scores
    cid = new(G); I, kw, ar, R = base('causal', 19); savez(cid + '.npz', X=I['x'], W_Q=I['W_q'], W_K=I['W_k'], W_V=I['W_v'], Q=R['q'], K=R['k'], V=R['v'], scores=R['masked'], attn=R['weights'], out=R['output']); done(cid, [cid + '.npz'] + ar)
    # 10 additive float mask saved too
    cid = new(G); I, kw, ar, R = base('causal+mh+bias', 20); n = len(I['x']); savez(cid + '.npz', **I, **R, attn_mask=np.triu(np.full((n, n), -np.inf), 1)); done(cid, [cid + '.npz'] + ar)
    # 11 heads as separate matrices, own names
    cid = new(G); I, kw, ar, R = base('mh', 21); z = dict(I)
    for i in range(2): z[f'scores_head{i+1}'], z[f'weights_head{i+1}'], z[f'output_head{i+1}'] = R['scores'][i], R['weights'][i], R['heads'][i]
    savez(cid + '.npz', **z, concat=R['concat'], output=R['output']); done(cid, [cid + '.npz'] + ar)
    # 12 heads named as the program names them
    cid = new(G); I, kw, ar, R = base('h3', 22); z = dict(I)
    for i in range(3): z[f'head.{i+1}.scaled'], z[f'head.{i+1}.weights'], z[f'head.{i+1}.output'] = R['scaled'][i], R['weights'][i], R['heads'][i]
    savez(cid + '.npz', **z, concat=R['concat'], output=R['output']); done(cid, [cid + '.npz'] + ar)
    # 13 4-D weights 1×h×n×n, torch names
    cid = new(G); I, kw, ar, R = base('h4+bias', 23); savez(cid + '.npz', **rename({**I}, 'torch'), q=split(R['q'], 4)[None], k=split(R['k'], 4)[None], v=split(R['v'], 4)[None], attn_weights=R['weights'][None], attn_output=R['output'][None]); done(cid, [cid + '.npz'] + ar)
    # 14 other rounding: 2 decimals for weights, 4 for the rest
    cid = new(G); I, kw, ar, R = base('plain', 24); savez(cid + '.npz', **I, q=np.round(R['q'], 4), k=np.round(R['k'], 4), v=np.round(R['v'], 4), weights=np.round(R['weights'], 2), output=np.round(R['output'], 4)); done(cid, [cid + '.npz'])
    # 15 extra matrices that have nothing to do with it
    cid = new(G); I, kw, ar, R = base('plain+bias', 25); savez(cid + '.npz', **I, **R, tokens=np.arange(len(I['x'])), loss_history=r.normal(size=(30,)), W_out_vocab=r.normal(size=(d_ := I['x'].shape[1], 11)), rng_state=np.array(3), tmp=r.normal(size=(2, 2))); done(cid, [cid + '.npz'])
    # 16 encoder, pre-norm with the flag
    stack(G, [], norm='pre', style='short', pnames='attn', seed=1600)
    # 17 two encoder layers, pre-norm, final norm, torch names
    stack(G, [], norm='pre', layers=2, style='full', seed=1700)
    # 18 decoder with masked memory, output in float32 by another order of operations
    stack(G, [], model='decoder', style='full', memvalid=3, seed=1800)
    # 19 batch of 2 with heads, padded sentence lengths equal
    batch(G, [], h=2, nb=2, bias=True, style='torch')
    # 20 scale put on q before the product: saved q is scaled, rest right
    cid = new(G); I, kw, ar, R = base('mh', 27); dk = R['q'].shape[1] // 2
    savez(cid + '.npz', **I, q=R['q'], k=R['k'], v=R['v'], q_scaled=R['q'] / np.sqrt(dk), scores=R['scaled'], attn=R['weights'], z=R['concat'], output=R['output']); done(cid, [cid + '.npz'] + ar)

# ------------------------------------------------------------------ the cases
S, O, P2, M, RD, G = 'single', 'single-output', 'pair-output', 'pair', 'rounded', 'right'

# --- 60 single mistakes, everything saved
walk(S, 'plain', ['no_scale'], 'snake')
walk(S, 'mh', ['scale_dmodel'], 'caps')
walk(S, 'plain', ['div_dk'], 'long')
walk(S, 'qkv', ['scale_n'], 'plural')
walk(S, 'plain+bias', ['times_sqrt'], 'lower')
walk(S, 'int', ['scores_qq'], 'caps')
walk(S, 'plain', ['axis0'], 'caps')
walk(S, 'mh+bias', ['axis_heads'], 'torch')
walk(S, 'qkv', ['axis_all'], 'long')
walk(S, 'plain', ['base2'], 'snake')
walk(S, 'int', ['sq_norm'], 'snake')
walk(S, 'plain', ['softmax_twice'], 'plural')
walk(S, 'qkv+samelen', ['sigmoid'], 'snake')
walk(S, 'plain+big', ['fp16_softmax'], 'snake')
walk(S, 'causal', ['upper'], 'snake')
walk(S, 'causal', ['fill0'], 'long')
walk(S, 'mh+causal', ['strict'], 'caps', mods=['fill_m1e9'])
walk(S, 'causal+bias', ['after_softmax'], 'lower')
walk(S, 'pad', ['pad_queries'], 'snake')
walk(S, 'causal', ['fill_1em9'], 'plural')
walk(S, 'causal+mh', ['fill_m100'], 'snake')
walk(S, 'mh+causal+bias', ['causal_plus1'], 'torch')
walk(S, 'pad+bias', ['pad_plus1'], 'caps')
walk(S, 'mh+bias', ['reshape_heads'], 'snake')
walk(S, 'h4', ['interleave'], 'plural')
walk(S, 'h3+bias', ['concat_noT'], 'long')
walk(S, 'mh', ['concat_rev'], 'lower')
walk(S, 'mh+bias', ['no_Wo'], 'caps')
walk(S, 'mh+bias', ['no_bk'], 'torch')
walk(S, 'mh+bias', ['bv_neg'], 'snake')
walk(S, 'mh+bias', ['bo_twice'], 'lower')
walk(S, 'mh', ['Wk_T'], 'torch')
walk(S, 'sq+plain', ['swap_Wkv'], 'snake')
walk(S, 'cross', ['q_from_mem'], 'plural')
walk(S, 'cross+mh+bias+samelen', ['v_from_x'], 'snake', less=[])
walk(S, 'plain', ['drop_weights'], 'snake')
walk(S, 'plain', ['abs_scores'], 'caps')
walk(S, 'plain+samelen', ['clip_scores'], 'snake')
walk(S, 'plain', ['wT_v'], 'caps')
walk(S, 'rope', ['rope_half'], 'snake')
walk(S, 'additive', ['add_tanh_each'], 'snake')
walk(S, 'cache', ['offset0'], 'snake')
stack(S, ['sa:no_scale'], style='full')
stack(S, ['n1:ln_sample'], style='full', pnames='attn')
stack(S, ['ff_gelu'], style='full')
stack(S, ['res2_from_x'], style='short')
stack(S, ['norm_before_add'], style='full', pnames='attn')
stack(S, ['ff_no_b1'], style='short')
stack(S, ['cross_first'], model='decoder', style='full')
stack(S, ['shared_att'], model='decoder', style='short')
stack(S, ['res3_from_norm1'], model='decoder', style='full')
layernorm(S, ['ln_eps_out'], data='small')
layernorm(S, ['ln_axis0'])
positions(S, ['pos_exp_half'])
walkpos(S, ['pos_twice'])
embenc(S, ['emb_unscaled'])
embenc(S, ['label_shift_left'], dec=True)
grads(S, ['g_no_sum'])
batch(S, ['b_softmax_batch'])
align(S, ['a_no_tanh'])

# --- 25 single mistakes, the output only
walk(O, 'mh+bias', ['no_bq'], 'torch')
walk(O, 'plain', ['no_exp'], 'snake')
walk(O, 'plain+samelen', ['col_sum'], 'caps', fmt='npy')
walk(O, 'pad+mh', ['pad_inverted'], 'snake')
walk(O, 'causal', ['fill_p1e9'], 'caps')
walk(O, 'mh', ['sum_heads'], 'long', fmt='npy')
walk(O, 'h4+bias', ['bo_per_head'], 'snake')
walk(O, 'qkv', ['cosine'], 'plural')
walk(O, 'causal', ['mask_times'], 'snake')
walk(O, 'rope+mh', ['rope_q_only'], 'snake')
walk(O, 'plain', ['hardmax'], 'lower')
walk(O, 'cross+mh', ['kv_from_x'], 'snake', fmt='npy')
walk(O, 'mh+bias+causal', ['drop_concat'], 'torch')
walk(O, 'sq', ['v_unprojected'], 'snake')
walk(O, 'mh+bias', ['out_residual'], 'plural')
walk(O, 'additive+bias', ['add_no_b'], 'snake')
stack(O, ['pre_instead'])
stack(O, ['no_res1'], fmt='npy')
stack(O, ['res_from_norm'], norm='pre')
stack(O, ['ff_no_act'], model='decoder')
stack(O, ['mem_ignored'], model='decoder', square=True)
stack(O, ['shared_layers'], layers=2)
positions(O, ['pos_base1000'], fmt='csv')
layernorm(O, ['ln_beta_first'])
grads(O, ['g_diag'])

# --- 40 pairs, the output only
walk(P2, 'plain', ['no_scale', 'axis0'], 'snake')
walk(P2, 'mh', ['scale_dmodel', 'concat_noT'], 'caps')
walk(P2, 'mh+bias', ['no_bq', 'no_bo'], 'torch')
walk(P2, 'causal', ['upper', 'no_scale'], 'long')
walk(P2, 'mh+causal', ['reshape_heads', 'no_mask'], 'snake')
walk(P2, 'mh+bias', ['Wo_T', 'bv_twice'], 'lower')
walk(P2, 'plain', ['div_dk', 'base2'], 'plural', fmt='npy')
walk(P2, 'qkv+samelen', ['axis0', 'wT_v'], 'snake')
walk(P2, 'qkv', ['no_scale', 'softmax_twice'], 'caps')
walk(P2, 'sq', ['Wq_T', 'scores_T'], 'snake')
walk(P2, 'sq', ['swap_Wkv', 'no_scale'], 'long')
walk(P2, 'causal+bias', ['fill0', 'no_bv'], 'snake')
walk(P2, 'pad', ['pad_plus1', 'times_sqrt'], 'caps')
walk(P2, 'pad+mh', ['pad_none', 'no_Wo'], 'snake')
walk(P2, 'h4', ['interleave', 'scale_dmodel'], 'plural')
walk(P2, 'h3+bias', ['concat_rev', 'bq_neg'], 'torch')
walk(P2, 'cross', ['kv_from_x', 'div_dk'], 'snake')
walk(P2, 'cross+mh+samelen', ['v_from_x', 'no_scale'], 'plural', seed=4242)
walk(P2, 'cross+mh+bias', ['no_bq', 'concat_noT'], 'lower', fmt='npy')
walk(P2, 'causal+mh', ['causal_plus1', 'no_Wo'], 'caps')
walk(P2, 'causal+mh+bias', ['strict', 'scale_dmodel'], 'torch', mods=['fill_m1e9'])
walk(P2, 'plain', ['sigmoid', 'no_scale'], 'lower')
walk(P2, 'plain', ['no_sum', 'out_residual_q'], 'snake')
walk(P2, 'rope', ['rope_half', 'no_scale'], 'snake')
walk(P2, 'rope+mh', ['rope_from1', 'rope_q_only'], 'caps')
walk(P2, 'additive', ['add_no_tanh', 'add_scaled'], 'snake')
walk(P2, 'int', ['div_dk', 'scores_qq'], 'caps')
walk(P2, 'causal', ['fill_1em9', 'div_dk'], 'snake')
walk(P2, 'mh+bias', ['drop_weights', 'no_bo'], 'snake')
walk(P2, 'plain', ['relu_v', 'no_scale'], 'snake')
stack(P2, ['sa:no_scale', 'ff_gelu'])
stack(P2, ['ln_sample', 'ff_no_b2'])
stack(P2, ['norm_before_add', 'norm2_before_add'], pnames='attn')
stack(P2, ['no_res1', 'sa:scale_dmodel'])
stack(P2, ['norms_swapped', 'sa:no_bo'], fmt='npy')
stack(P2, ['res2_from_x', 'ff_no_b1'], norm='pre')
stack(P2, ['no_causal', 'shared_att'], model='decoder')
stack(P2, ['causal_cross', 'ca:no_scale'], model='decoder')
stack(P2, ['ff_tanh', 'res3_from_norm1'], model='decoder')
batch(P2, ['b_reshape', 'no_scale'], bias=True)

# --- 15 pairs, with intermediates
walk(M, 'plain', ['no_scale', 'axis0'], 'caps')
walk(M, 'mh+bias', ['no_bk', 'no_Wo'], 'torch')
walk(M, 'mh', ['reshape_heads', 'scale_dmodel'], 'snake')
walk(M, 'causal', ['fill0', 'softmax_twice'], 'plural')
walk(M, 'cross+samelen', ['v_from_x', 'scale_n'], 'snake', seed=77)
walk(M, 'sq+bias', ['Wv_T', 'bq_twice'], 'lower')
walk(M, 'mh+causal+bias', ['causal_plus1', 'concat_noT'], 'long')
walk(M, 'pad', ['pad_minus1', 'drop_weights'], 'snake')
walk(M, 'rope+mh', ['rope_base', 'no_scale'], 'snake')
walk(M, 'qkv+samelen', ['cosine', 'wT_v'], 'caps')
stack(M, ['n1:ln_no_beta', 'ff_no_b2'], style='full')
stack(M, ['drop_att', 'no_res2'], style='short')
stack(M, ['ff_before_cross', 'no_causal'], model='decoder', style='short')
embenc(M, ['pos_concat', 'sa:no_scale'])
grads(M, ['g_no_scale', 'g_dx_no_v'], style='d')

# --- 10 rounded to 3 decimals
walk(RD, 'plain', ['no_scale'], 'snake')
walk(RD, 'mh+bias+dec', ['bq_neg'], 'torch')
walk(RD, 'causal', ['strict'], 'long', mods=['fill_m1e9'])
walkcsv('plain+dec', ['axis0'], 'weights')
walkcsv('qkv+dec', ['div_dk'], 'weights')
walkcsv('mh+bias', ['concat_noT'], 'output')
walkcsv('causal+dec', ['after_softmax'], 'weights')
stack(RD, ['ff_no_b2'], style='short')
layernorm(RD, ['ln_sample'])
positions(RD, ['pos_cos_sin'], fmt='csv')

# --- 20 right programs with harmless differences
rights()

# --- more of each
walk(S, 'causal+bias', ['strict'], 'caps')                       # the first row is fully masked: NaN
walk(S, 'pad', ['pad_both'], 'snake')
walk(S, 'cache+bias', ['cache_front'], 'snake')
walk(S, 'cache', ['cache_v_stale'], 'lower')
walk(S, 'plain', ['v_uses_Wk'], 'snake')
walk(S, 'sq+bias', ['bk_is_bq'], 'torch')
walk(S, 'mh', ['mean_weights'], 'plural')
walk(S, 'plain', ['log_softmax'], 'snake')
walk(S, 'plain+samelen', ['weights_log'], 'caps')
walk(S, 'mh', ['first_kv_head'], 'snake')
walk(S, 'mh+causal', ['mask_head1'], 'snake')
walk(S, 'plain', ['out_scaled'], 'snake')
walk(S, 'mh+bias', ['drop_out'], 'torch')
walk(S, 'plain', ['drop_x'], 'snake')
walk(S, 'plain', ['softmax_plus1'], 'long')
walk(S, 'causal+mh+bias', ['mask_added_bool'], 'snake')
walk(S, 'plain+big', ['fp32_nomax'], 'caps')
walk(S, 'rope', ['rope_sign_k'], 'snake')
walk(S, 'additive', ['add_no_v'], 'snake')
walk(S, 'int', ['neg_scores'], 'caps')
stack(S, ['ln_all'], style='full')
stack(S, ['ff_W1_twice'], style='full', square=True)
stack(S, ['drop_ff'], style='short')
stack(S, ['ca:q_from_mem'], model='decoder', style='full', square=True)
stack(S, ['layer2_from_x'], layers=2, style='full')
stack(S, ['no_memmask'], model='decoder', style='full', memvalid=2)
embenc(S, ['pos_from1'])
grads(S, ['g_dv_noT'], style='d')
grads(S, ['g_dk_noT'], style='grad', only=('output', 'q', 'k', 'v'))
batch(S, ['b_mixed'], style='snake')
align(S, ['a_label'])
align(S, ['a_swap'])
walk(O, 'cache', ['cache_missing_new'], 'snake')
walk(O, 'mh', ['axis_heads_all'], 'snake')
walk(O, 'plain', ['sq_scores'], 'snake')
walk(O, 'qkv', ['distance'], 'plural')
walk(O, 'causal+mh', ['after_softmax'], 'caps')
walk(O, 'mh+bias', ['Wall_T'], 'snake')
stack(O, ['drop_att'])
stack(O, ['n2:ln_no_gamma'], pnames='attn')
stack(O, ['ff_from_sum'])
stack(O, ['cross_q_from_x'], model='decoder')
stack(O, ['norm1_for_all'], model='decoder')
embenc(O, ['emb_scaled_after'])
walkpos(O, ['pos_times'])
batch(O, ['b_swapped'])
walk(P2, 'mh+bias', ['swap_Wqk', 'no_bv'], 'snake')
walk(P2, 'mh', ['mean_heads', 'no_scale'], 'caps')
walk(P2, 'causal', ['after_softmax', 'no_scale'], 'snake')
walk(P2, 'pad+bias', ['pad_minus1', 'no_bq'], 'lower')
walk(P2, 'plain', ['drop_x', 'no_scale'], 'snake')
walkpos(P2, ['pos_from1', 'no_scale'])
walkpos(P2, ['pos_cos_sin', 'emb_scaled'])
embenc(P2, ['emb_unscaled', 'pos_from1'])
stack(P2, ['ff_W2T', 'no_norm1'], square=True)
stack(P2, ['drop_att', 'drop_ff'])
stack(P2, ['ca:no_scale', 'sa:no_scale'], model='decoder')
stack(P2, ['ln_eps1e-1', 'ff_leaky'])
walk(M, 'cache+bias', ['offset0', 'no_bv'], 'snake')
walk(M, 'h3+bias', ['sum_heads', 'bo_neg'], 'plural')
embenc(M, ['emb_unscaled', 'no_out_b'], dec=True)
align(M, ['a_no_tanh', 'a_no_bias'])
layernorm(M, ['ln_sample', 'ln_no_beta'])

CASES.sort(key=lambda c: (list(PFX).index(c['kind']), c['id']))
if not RIGHT:       # first_saved: the first array of the file that the mistakes change, by its name in the file
    import subprocess, tempfile
    with tempfile.TemporaryDirectory() as T:
        subprocess.run([sys.executable, os.path.abspath(__file__), T, '--right'], check=True, stdout=subprocess.DEVNULL)
        for c in CASES:
            f = c['args'][0]
            def load(d):
                p = os.path.join(d, f)
                return dict(np.load(p)) if f.endswith('npz') else {f: np.load(p) if f.endswith('npy') else np.loadtxt(p, delimiter=',')}
            a, b = load(OUT), load(T)
            diff = [k for k in a if k not in b or a[k].shape != b[k].shape or not np.allclose(a[k], b[k], rtol=1e-9, atol=1e-12, equal_nan=True)]
            c['first_saved'] = diff[0] if diff else ''
            if not diff and c['kind'] != 'right': print('no difference in the file:', c['id'])
json.dump(CASES, open(os.path.join(OUT, 'cases.json'), 'w'), indent=1, ensure_ascii=False)
print(len(CASES), COUNT)
