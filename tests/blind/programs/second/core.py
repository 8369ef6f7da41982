import json, math, os
import numpy as np, torch
import torch.nn.functional as F
from bases import BASES


def softmax(z, axis=-1):
    e = np.exp(z - z.max(axis=axis, keepdims=True))
    return e / e.sum(axis=axis, keepdims=True)


def gelu(z):
    return z * 0.5 * (1 + np.vectorize(math.erf)(z / math.sqrt(2)))


def source(b, edits=()):
    s = b['src']
    for e in edits:
        old, new = e[0], e[1]
        count = e[2] if len(e) > 2 else 1
        assert s.count(old) == count, (b['name'], old, s.count(old))
        s = s.replace(old, new)
    return s


def run(src, inp):
    ns = dict(np=np, math=math, torch=torch, F=F, softmax=softmax, gelu=gelu, rng=np.random.default_rng(11))
    torch.manual_seed(11)
    exec(compile(src, 'program', 'exec'), ns)
    with np.errstate(all='ignore'):
        r = ns['program'](**{k: (v.copy() if hasattr(v, 'copy') else v) for k, v in inp.items()})
    return {k: np.asarray(v.detach() if torch.is_tensor(v) else v) for k, v in r.items()}


def inputs(b, seed, kw=None):
    return b['make'](np.random.default_rng(seed), **(kw or {}))


def is_param(b, k):
    if b['params'] == 'json':
        return True
    if b['params'] in ('encoder', 'decoder'):
        return k.startswith(b['params'])
    return b['params'] == '.' and not k.endswith('.ids')


def write(b, out, cid, inp, mats, opt):
    """mats: what the program saved.  Returns the arguments after 'attn check'."""
    ren = opt.get('rename', {})
    fmt = opt.get('format', 'npz')
    fn = f'{cid}.{fmt}'
    pn = None
    par = {k: v for k, v in inp.items() if is_param(b, k)}
    main = {k: v for k, v in inp.items() if k not in par and not k.endswith('.ids')}
    if b['params'] == 'json':
        pn = f'{cid}_model.json'
        json.dump(dict(variant='luong' if b['name'] == 'luong' else 'bahdanau', cell='tanh', source='a c b',
                       source_words=['a', 'b', 'c', '<end>'], target_words=['<start>', 'x', 'y', 'z', '<end>'],
                       parameters={k: (np.round(v, opt['round']) if opt.get('round') is not None else v).tolist() for k, v in par.items()}), open(f'{out}/{pn}', 'w'))
    elif b['params']:
        pn = f'{cid}_params.npz'
        if opt.get('round') is not None:
            par = {k: np.round(v, opt['round']) for k, v in par.items()}
        np.savez(f'{out}/{pn}', **par)
    D = {ren.get(k, k): v for k, v in list(main.items()) + list(mats.items())}
    for k, v in opt.get('extra', {}).items():
        D[k] = v
    if opt.get('dtype'):
        keep = set(ren.get(k, k) for k in main) if opt.get('dtype_results_only') else set()
        D = {k: (v.astype(opt['dtype']) if v.dtype.kind == 'f' and k not in keep else v) for k, v in D.items()}
    if opt.get('round') is not None:
        D = {k: np.round(v, opt['round']) if v.dtype.kind == 'f' else v for k, v in D.items()}
    if opt.get('fortran'):
        D = {k: np.asfortranarray(v) for k, v in D.items()}
    if opt.get('reverse'):
        D = dict(reversed(list(D.items())))
    path = f'{out}/{fn}'
    if fmt == 'npz':
        np.savez(path, **D)
    elif fmt == 'json':
        enc = {k: (v.tolist() if not np.isnan(v).any() and not np.isinf(v).any() else
                   json.loads(json.dumps(v.tolist()))) for k, v in D.items()}
        json.dump(enc, open(path, 'w'))
    elif fmt == 'safetensors':
        head, blob = {}, b''
        for k, v in D.items():
            v = np.ascontiguousarray(v)
            t = {'float64': 'F64', 'float32': 'F32', 'float16': 'F16', 'int64': 'I64', 'bool': 'BOOL'}[str(v.dtype)]
            head[k] = dict(dtype=t, shape=list(v.shape), data_offsets=[len(blob), len(blob) + v.nbytes])
            blob += v.tobytes()
        h = json.dumps(head).encode()
        h += b' ' * (-len(h) % 8)
        open(path, 'wb').write(len(h).to_bytes(8, 'little') + h + blob)
    elif fmt in ('npy', 'csv'):                  # the last matrix alone; what goes in stays in an npz
        np.savez(f'{out}/{cid}_in.npz', **{k: v for k, v in D.items() if k in main or k in ren})
        last = ren.get(list(mats)[-1], list(mats)[-1])
        if fmt == 'npy':
            np.save(path, D[last])
        else:
            np.savetxt(path, D[last], delimiter=',', fmt='%.9g')
    a = [s.replace('{f}', fn).replace('{p}', pn or '') for s in opt.get('args', b['args'])]
    a = [s for s in a]
    # names in {f}:NAME follow the renaming
    for i, s in enumerate(a):
        if s.startswith(fn + ':'):
            k = s.split(':', 1)[1]
            a[i] = fn + ':' + ren.get(k, k)
    return [fn] + a
