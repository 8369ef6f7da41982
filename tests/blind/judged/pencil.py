#!/usr/bin/python3
"""Test data for `attn check`: attention computed by hand at some precision, and attention with an odd divisor.

pencil.py OUTDIR writes p001…p200 (right by hand), d001…d060 (odd divisors), w001…w040 (wrong by hand), and cases.json.
The paths in "args" are relative to OUTDIR."""
import json, os, random, sys
from dataclasses import dataclass, field
from decimal import Decimal as D, ROUND_DOWN, ROUND_HALF_UP, getcontext
import numpy as np

getcontext().prec = 12                      # a pocket calculator
STEPS = ('q', 'scores', 'scaled', 'exps', 'weights', 'output')
ROOTS = {2: ('1.4', '1.41', '1.414'), 3: ('1.7', '1.73', '1.732')}


class Redraw(Exception):
    """Nobody would choose this problem, or go on with these numbers."""


@dataclass
class Hand:
    """How somebody computes: `keep` is the decimals that a step goes on with (None: all that the calculator has),
    `show` those that are written down."""
    keep: dict
    show: dict
    root: D = None
    e: D = None
    minus_max: bool = False
    cut: bool = False
    how: list = field(default_factory=list)

    def rounded(self, number, decimals):
        return number if decimals is None else \
            number.quantize(D(1).scaleb(-decimals), ROUND_DOWN if self.cut else ROUND_HALF_UP)

    def step(self, name, m):
        return [[self.rounded(c, self.keep[name]) for c in row] for row in m]

    def exp(self, x):
        return self.rounded(x.exp() if self.e is None else self.e ** x, self.keep['exps'])


def transpose(m): return [list(r) for r in zip(*m)]


def product(a, b): return [[sum((x * y for x, y in zip(r, c)), D(0)) for c in zip(*b)] for r in a]


def softmax(m, allowed, hand):
    """Row by row; `allowed` are the cells that are not masked."""
    rows = []
    for row, may in zip(m, allowed):
        top = max(c for c, a in zip(row, may) if a) if hand.minus_max else D(0)
        exps = [hand.exp(c - top) if a else D(0) for c, a in zip(row, may)]
        if hand.keep['exps'] is not None and max(exps) < 10 * D(1).scaleb(-hand.keep['exps']):
            raise Redraw                    # exponentials of one digit at most: nobody divides by them
        rows.append((exps, sum(exps)))
    return rows


def attention(p, hand, mistake=None):
    """All steps of the problem as this hand computes them, with one mistake or none."""
    q, k, v = p['q'], p['k'], p['v']
    if 'x' in p:
        q, k, v = (hand.step('q', product(p['x'], p[w])) for w in ('w_q', 'w_k', 'w_v'))
    n_q, n_k, d_k = len(q), len(k), len(k[0])
    open_ = [[True] * n_k for _ in q]
    allowed = [[j <= i for j in range(n_k)] for i in range(n_q)] if p['causal'] else open_
    if mistake == 'mask transposed': allowed = transpose(allowed)
    s = product(q, k if mistake == 'keys not transposed' else transpose(k))
    if mistake == 'queries and keys exchanged': s = transpose(s)
    if mistake == 'sign of one product':
        i, j = p['cell'][0] % n_q, p['cell'][1] % n_k
        c = max(range(d_k), key=lambda c: abs(q[i][c] * k[j][c]))
        s[i][j] -= 2 * q[i][c] * k[j][c]
    scores = hand.step('scores', s)
    root = D(d_k).sqrt() if hand.root is None else hand.root
    divisor = {'not scaled': D(1), 'divided by d_k': D(d_k), 'multiplied by the root': 1 / root,
               'divided by the root of the number of words': D(n_k).sqrt()}.get(mistake, root)
    scaled = hand.step('scaled', [[c / divisor for c in r] for r in scores])
    masked, may = scaled, allowed
    if mistake == '0 for a masked score':
        masked, may = [[c if a else D(0) for c, a in zip(r, m)] for r, m in zip(scaled, allowed)], open_
    if mistake in ('not masked', 'masked after softmax'): may = open_
    if mistake == 'softmax over columns':
        parts = softmax(transpose(masked), transpose(may), hand)
        w = transpose([[x / total for x in exps] for exps, total in parts])
    elif mistake == 'divided by the sum of the scores':
        if any(abs(sum(r)) < 1 for r in masked): raise Redraw
        w = [[x / sum(r) for x in r] for r in masked]
    else:
        other = hand
        if mistake == 'powers of 2': other = Hand(hand.keep, hand.show, hand.root, D(2), hand.minus_max, hand.cut)
        parts = softmax(masked, may, other)
        totals = [t for _, t in parts]
        if mistake == 'divided by the sum of another row': totals = totals[1:] + totals[:1]
        if mistake == 'exponentials not divided': totals = [D(1)] * n_q
        w = [[x / t for x in exps] for (exps, _), t in zip(parts, totals)]
    if mistake == 'masked after softmax': w = [[c if a else D(0) for c, a in zip(r, m)] for r, m in zip(w, allowed)]
    if mistake == 'weights transposed': w = transpose(w)
    weights = hand.step('weights', w)
    values = {'keys for values': k, 'queries for values': q}.get(mistake, v)
    output = product(weights, values)
    if mistake == 'weights transposed in the weighted sum': output = product(transpose(weights), values)
    if mistake == 'weighted sum divided by the number of words': output = [[c / n_k for c in r] for r in output]
    return {'q': q, 'k': k, 'v': v, 'scores': scores, 'scaled': scaled, 'weights': weights,
            'output': hand.step('output', output)}


# Problems

def matrix(r, rows, columns, decimals, low, high):
    unit = 10 ** decimals
    return [[D(r.randint(low * unit, high * unit)) / unit for _ in range(columns)] for _ in range(rows)]


def problem(r, form, n=None, d_k=None, causal=None):
    """2 to 4 words, whole numbers or numbers of one decimal."""
    n, d_k, d_v = n or r.randint(2, 4), d_k or r.choice((1, 2, 2, 2, 3, 3, 4)), r.randint(1, 3)
    causal = r.random() < 0.15 if causal is None else causal
    p = {'causal': causal, 'q': None, 'k': None, 'v': None, 'cell': (r.randint(0, 3), r.randint(0, 3))}
    decimals = r.random() < 0.4
    if form == 'x':
        d = r.randint(2, 3)
        p['x'] = matrix(r, n, d, decimals, -1, 2)
        p.update({w: matrix(r, d, c, decimals and r.random() < 0.5, -1, 2)
                  for w, c in (('w_q', d_k), ('w_k', d_k), ('w_v', d_v))})
    else:
        n_q = n if causal or r.random() < 0.85 else r.randint(1, 4)
        p.update(q=matrix(r, n_q, d_k, decimals, -2, 3), k=matrix(r, n, d_k, decimals, -2, 3),
                 v=matrix(r, n, d_v, decimals, -2, 4))
    a = attention(p, calculator())
    if any(max(row) - min(row) > 7 for row in a['scaled']) or max(abs(c) for row in a['scaled'] for c in row) > 9:
        raise Redraw                        # no problem for a pencil
    if all(max(row) - min(row) < D('0.3') for row in a['scaled']): raise Redraw
    return p


def calculator(decimals=None): return Hand(dict.fromkeys(STEPS), dict.fromkeys(STEPS, decimals))


def root_in_words(hand, d_k): return [f'root {hand.root}'] if hand.root is not None else \
    [] if d_k not in ROOTS else ['root of the calculator']


def draw_hand(r, p, style=None, decimals=None, cut=None):
    """A way of computing. What is written but not rounded on the way has the decimals of the case."""
    d_k, steps = size_of_key(p), STEPS[0 if 'x' in p else 1:]
    style = style or r.choices(('each', 'mixed', 'weights', 'exps', 'scaled', 'output'), (30, 20, 15, 15, 10, 10))[0]
    decimals = decimals or r.randint(1, 4)
    h = calculator(decimals)
    h.cut = r.random() < 0.2 if cut is None else cut
    if style == 'each':
        h.keep = dict.fromkeys(STEPS, decimals)
        h.how.append(f'each step to {decimals} decimals')
    elif style == 'mixed':
        h.keep = {s: r.randint(1, 4) for s in STEPS}
        h.keep['q'] = max(2, h.keep['q'])
        h.how.append('decimals: ' + ', '.join(f'{s} {h.keep[s]}' for s in steps))
    else:
        h.keep['output'] = decimals
        if style == 'exps': h.keep['exps'] = r.randint(max(1, decimals - 1), 4)
        if style == 'weights' or style == 'exps' and r.random() < 0.7: h.keep['weights'] = decimals
        if style == 'scaled': h.keep['scaled'] = decimals
        h.how.append('rounded on the way: ' +
                     (', '.join(f'{s} {h.keep[s]}' for s in steps[:-1] if h.keep[s] is not None) or 'nothing') +
                     f'; written to {decimals} decimals')
    h.show.update({s: d for s, d in h.keep.items() if d is not None})
    if d_k in ROOTS:
        if style == 'each' and r.random() < 0.5: h.root = h.rounded(D(d_k).sqrt(), decimals)
        elif r.random() < 0.5: h.root = D(r.choice(ROOTS[d_k]))
    if r.random() < 0.15: h.e = D(r.choice(('2.718', '2.72')))
    h.minus_max = r.random() < 0.5
    h.how += root_in_words(h, d_k) + ([f'e {h.e}'] if h.e else []) + \
        (['row maximum subtracted'] if h.minus_max else []) + (['cut'] if h.cut else [])
    return h


# Files

def fixed(number, decimals): return f'{number or abs(number):.{decimals}f}'   # no -0.00


def plain(number):
    text = f'{number.normalize():f}'
    return '0' if text == '-0' else text


def written(hand, name, m, style):
    """Texts: with all decimals that are kept; 'whole' writes q, k, v and scores that are exact without zeros behind;
    'number' is how a program writes a decimal number."""
    name = 'q' if name in 'kv' else name
    places = hand.show[name]
    if name == 'q' and hand.keep[name] is None: return [[plain(c) for c in r] for r in m]
    m = [[hand.rounded(c, places) for c in r] for r in m]
    if style == 'number': return [[str(float(c) + 0.0) for c in r] for r in m]
    if style == 'whole' and name in ('q', 'scores') and all(c == c.to_integral_value() for r in m for c in r):
        return [[plain(c) for c in r] for r in m]
    return [[fixed(c, places) for c in r] for r in m]


def literal(m): return '; '.join(' '.join(plain(c) for c in r) for r in m)


def options(p):
    names = (('x', 'x'), ('w_q', 'wq'), ('w_k', 'wk'), ('w_v', 'wv')) if 'x' in p else tuple((s, s) for s in 'qkv')
    return [a for name, option in names for a in (f'--{option}', literal(p[name]))]


def json_text(matrices):
    return '{\n' + ',\n'.join(f'  "{name}": [' + ', '.join('[' + ', '.join(r) + ']' for r in m) + ']'
                              for name, m in matrices.items()) + '\n}\n'


def save(r, outdir, name, p, hand, steps, saved, style, in_file):
    """Writes the file and returns the arguments. `steps` are texts, `saved` the names that are written."""
    if saved == ['output'] and not in_file and r.random() < 0.6:
        file, extra = name + '.csv', ['--as', 'output']
        text = '\n'.join(','.join(row) for row in steps['output']) + '\n'
    else:
        file, extra = name + '.json', []
        inputs = {s: [[plain(c) for c in row] for row in p[s]] for s in ('x', 'w_q', 'w_k', 'w_v')} if in_file else {}
        text = json_text({**inputs, **{s: steps[s] for s in saved}})
    with open(os.path.join(outdir, file), 'w') as f: f.write(text)
    return [file] + extra + ([] if in_file else options(p)) + (['--causal'] if p['causal'] else [])


def what_is_saved(r, p, shares):
    saved = list(r.choices((STEPS[-1:], STEPS[-2:], ('scores', 'scaled', 'weights', 'output')), shares)[0])
    return (['q', 'k', 'v'] if len(saved) == 4 and 'x' in p and r.random() < 0.5 else []) + saved


def size_of_key(p): return len((p['w_k'] if 'x' in p else p['k'])[0])


def until_possible(draw):
    while True:
        try: return draw()
        except Redraw: pass


def right(r, outdir, name):
    def draw():
        p = problem(r, r.choice(('qkv', 'qkv', 'x')))
        hand = draw_hand(r, p)
        return p, hand, attention(p, hand)
    p, hand, steps = until_possible(draw)
    saved = what_is_saved(r, p, (4, 3, 3))
    in_file = 'x' in p and r.random() < 0.7
    style = r.choices(('fixed', 'whole', 'number'), (4, 4, 2))[0] if saved != ['output'] else 'fixed'
    args = save(r, outdir, name, p, hand, {s: written(hand, s, steps[s], style) for s in saved}, saved, style, in_file)
    return {'id': name, 'kind': 'pencil', 'how': ', '.join(hand.how), 'args': args, 'wrong': False, 'mistakes': []}


# Mistakes: what a problem must be for each

MISTAKES = {
    'not scaled': {'d_k': (2, 3, 4)}, 'divided by d_k': {'d_k': (2, 3, 4)}, 'multiplied by the root': {'d_k': (2, 3)},
    'divided by the root of the number of words': {}, 'softmax over columns': {}, 'exponentials not divided': {},
    'weights transposed': {}, 'weights transposed in the weighted sum': {}, 'keys for values': {},
    'queries for values': {}, 'typo': {},
    '0 for a masked score': {'causal': True}, 'not masked': {'causal': True}, 'masked after softmax': {'causal': True},
    'mask transposed': {'causal': True}, 'keys not transposed': {'square': True}, 'queries and keys exchanged': {},
    'sign of one product': {}, 'divided by the sum of the scores': {}, 'powers of 2': {},
    'divided by the sum of another row': {}, 'weighted sum divided by the number of words': {}}
ORDER = list(MISTAKES) + ['not scaled', 'divided by d_k', 'softmax over columns', 'exponentials not divided',
    'weights transposed in the weighted sum', 'keys for values', 'typo', 'typo', 'typo', 'typo', '0 for a masked score',
    'not masked', 'masked after softmax', 'not scaled', 'softmax over columns', 'typo', 'divided by d_k',
    '0 for a masked score']


def typo(r, text):
    """A cell as somebody may mistype it."""
    kind = r.choice(('digit', 'digit', 'swap', 'sign', 'point'))
    digits = [i for i, c in enumerate(text) if c.isdigit()]
    if kind == 'digit':
        i = r.choice(digits)
        return text[:i] + r.choice([c for c in '0123456789' if c != text[i]]) + text[i + 1:]
    if kind == 'swap' and len(digits) > 1:
        i, j = sorted(r.sample(digits, 2))
        return text[:i] + text[j] + text[i + 1:j] + text[i] + text[j + 1:]
    if kind == 'sign': return text[1:] if text[0] == '-' else '-' + text
    whole, _, part = text.partition('.')
    return whole + part[:1] + '.' + part[1:] + '0' if part else text


def wrong(r, outdir, name, mistake):
    needs = MISTAKES[mistake]

    def draw():
        form = r.choice(('qkv', 'qkv', 'x'))
        n = r.randint(2, 4)
        d_k = n if needs.get('square') else r.choice(needs.get('d_k', (1, 2, 2, 3, 4)))
        p = problem(r, form, n, d_k, needs.get('causal', False))
        if 'x' not in p:
            if len(p['q']) != len(p['k']): raise Redraw
            if mistake.endswith('for values'): p['v'] = matrix(r, n, d_k, 0, -2, 4)
        elif mistake.endswith('for values'): p['w_v'] = matrix(r, len(p['x'][0]), d_k, 0, -1, 2)
        hand = draw_hand(r, p, 'each', r.randint(2, 3), cut=r.random() < 0.1)
        saved = what_is_saved(r, p, (3, 4, 5))
        good, bad = attention(p, hand), attention(p, hand, mistake)
        style = r.choice(('fixed', 'whole')) if saved != ['output'] else 'fixed'
        texts = {s: written(hand, s, bad[s], style) for s in saved}
        where = ''
        if mistake == 'typo':
            s = r.choice([s for s in saved if s not in 'qkv'])
            i, j = r.randrange(len(texts[s])), r.randrange(len(texts[s][0]))
            texts[s][i][j] = typo(r, texts[s][i][j])
            where = f' in {s}[{i + 1},{j + 1}]'
        far = max(abs(D(t) - hand.rounded(c, hand.show['scores'])) for s in saved if s not in 'qkv'
                  for tr, cr in zip(texts[s], good[s]) for t, c in zip(tr, cr))
        if far < D('0.08'): raise Redraw    # nobody could see it
        return p, hand, texts, saved, style, where
    p, hand, texts, saved, style, where = until_possible(draw)
    in_file = 'x' in p and r.random() < 0.7
    args = save(r, outdir, name, p, hand, texts, saved, style, in_file)
    return {'id': name, 'kind': 'wrong pencil', 'how': ', '.join(hand.how), 'args': args, 'wrong': True,
            'mistakes': [mistake + where]}


# Divisors

def divisor(g, outdir, name):
    """Attention in float64 whose scores are divided by another number as well as by √d_k."""
    n, d, d_k, d_v = g.integers(3, 8), g.integers(3, 9), g.integers(2, 9), g.integers(2, 7)
    while True:
        number = round(float(g.uniform(0.2, 5)), int(g.choice((1, 1, 2, 4, 15))))
        total = number * d_k ** 0.5         # not what another mistake would also give
        usual = (1, d_k, d_k ** 0.5, d, d ** 0.5, n, n ** 0.5, d_k ** 2, 1 / d_k)
        if all(abs(total / u - 1) > 0.02 for u in usual): break
    x = g.standard_normal((n, d))
    w = {s: g.standard_normal((d, c)) / d ** 0.5 for s, c in (('w_q', d_k), ('w_k', d_k), ('w_v', d_v))}
    causal = g.random() < 0.2
    s = (x @ w['w_q']) @ (x @ w['w_k']).T / total
    if causal: s = np.where(np.tri(n, dtype=bool), s, -np.inf)
    e = np.exp(s - s.max(1, keepdims=True))
    weights = e / e.sum(1, keepdims=True)
    made = {'weights': weights, 'output': weights @ (x @ w['w_v'])}
    kept = (('weights',), ('output',), ('weights', 'output'))[g.integers(3)]
    np.savez(os.path.join(outdir, name + '.npz'), x=x, **w, **{s: made[s] for s in kept})
    return {'id': name, 'kind': 'divisor', 'how': f'divided by √{d_k} and by {number}; saved: ' + ', '.join(kept),
            'args': [name + '.npz'] + (['--causal'] if causal else []), 'wrong': True,
            'mistakes': [f'scores divided by {number} besides √{d_k}'], 'number': number,
            'number_with_root': float(total)}


def main(outdir):
    os.makedirs(outdir, exist_ok=True)
    r, g = random.Random(20417), np.random.default_rng(20417)
    cases = [right(r, outdir, f'p{i:03}') for i in range(1, 201)] + \
        [divisor(g, outdir, f'd{i:03}') for i in range(1, 61)] + \
        [wrong(r, outdir, f'w{i:03}', m) for i, m in enumerate(ORDER, 1)]
    with open(os.path.join(outdir, 'cases.json'), 'w') as f: json.dump(cases, f, indent=1, ensure_ascii=False)


if __name__ == '__main__': main(sys.argv[1])
