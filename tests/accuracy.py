#!/usr/bin/python3
"""Compares what a program computes with 50-digit arithmetic, and NumPy with the same.

    tests/accuracy.py build/attn            prints the table of docs/performance.md
    tests/accuracy.py build/attn --check    fails where the document has other figures of the program

Every figure is the largest error over many random numbers (always the same ones), relative to the exact result, in units of
the rounding of one operation, 2^-53. No product of BLAS is among them, so they are the same on every processor.
Needs python3-numpy.
"""

import argparse
import collections
import decimal
import pathlib
import subprocess
import sys
import tempfile

try:
    import numpy
except ImportError:
    print("python3-numpy is not installed: nothing is compared")
    sys.exit(77)

decimal.getcontext().prec = 50
EXACT = decimal.Decimal
UNIT = EXACT(2) ** -53
DOCUMENT = pathlib.Path(__file__).parent.parent / "docs" / "performance.md"


def run(program, words, inputs):
    """One command line of the program on matrices, and the matrix that it writes."""
    with tempfile.TemporaryDirectory() as folder:
        for name, matrix in inputs.items():
            numpy.save(f"{folder}/{name}.npy", matrix)
            words = [word.replace(f"@{name}", f"{folder}/{name}.npy") for word in words]
        result = f"{folder}/result.npy"
        subprocess.run([program, *words, "-o", result], check=True)
        return numpy.load(result)


def units(value, exact, scale=None):
    """The error in units of rounding, relative to the exact number or a scale."""
    size = abs(exact) if scale is None else scale
    return float(abs(EXACT(float(value)) - exact) / (size * UNIT)) if size else float(value != 0.0)


def softmax_of(program, scores):
    return run(program, ["softmax", "--scores", "@s", "--only", "weights"], {"s": scores})


def softmax_by_numpy(scores):
    weights = numpy.exp(scores - scores.max(axis=1, keepdims=True))
    return weights / weights.sum(axis=1, keepdims=True)


def exact_softmax(row):
    """The distinct scores of a row and their exact weights."""
    counts = collections.Counter(row.tolist())
    largest = EXACT(max(counts))
    powers = {score: (EXACT(score) - largest).exp() for score in counts}
    total = sum(powers[score] * count for score, count in counts.items())
    return {score: power / total for score, power in powers.items()}


def error_of_softmax(weights, scores):
    worst = 0.0
    for row, given in zip(weights, scores):
        exact = exact_softmax(given)
        first = {}
        for j, score in enumerate(given.tolist()):
            first.setdefault(score, j)
        worst = max(worst, max(units(row[j], exact[score]) for score, j in first.items()))
    return worst


def exponentials(program, random):
    # Beside a score of 0 the weight of a score below -38 is its exponential, because the sum rounds to 1.
    x = random.uniform(-708.3, -38.0, 4000)
    scores = numpy.column_stack([numpy.zeros_like(x), x])
    exact = [EXACT(value).exp() for value in x.tolist()]
    worst = lambda values: max(units(value, e) for value, e in zip(values, exact))
    return worst(softmax_of(program, scores)[:, 1]), worst(numpy.exp(x))


def tiny_exponentials(program, random):
    # Denormal numbers lie 2^-1074 apart: the error is counted in halves of that.
    x = random.uniform(-745.0, -708.5, 1000)
    scores = numpy.column_stack([numpy.zeros_like(x), x])
    exact = [EXACT(value).exp() for value in x.tolist()]
    half = EXACT(2) ** -1075 / UNIT
    worst = lambda values: max(units(value, e, half) for value, e in zip(values, exact))
    return worst(softmax_of(program, scores)[:, 1]), worst(numpy.exp(x))


def softmax(make):
    def measured(program, random):
        scores = make(random)
        return error_of_softmax(softmax_of(program, scores), scores), error_of_softmax(softmax_by_numpy(scores), scores)
    return measured


def million(random):
    # Of a thousand different scores, so that the exact sum takes a thousand exponentials.
    return random.choice(random.normal(size=1000), size=(1, 1_000_000))


def layer_norm(mean):
    def measured(program, random):
        x = mean + random.normal(size=(16, 64))
        ours = run(program, ["layer-norm", "--x", "@x", "--epsilon", "0", "--only", "normalised"], {"x": x})
        distance = x - x.mean(axis=1, keepdims=True)
        theirs = distance / numpy.sqrt((distance * distance).mean(axis=1, keepdims=True))
        worst = [0.0, 0.0]
        for i, row in enumerate(x.tolist()):
            numbers = [EXACT(value) for value in row]
            middle = sum(numbers) / len(numbers)
            deviation = (sum((value - middle) ** 2 for value in numbers) / len(numbers)).sqrt()
            for j, value in enumerate(numbers):
                exact = (value - middle) / deviation
                # A number beside the mean is nearly 0: the error counts beside a deviation, which is 1.
                scale = max(abs(exact), EXACT(1))
                for k, found in enumerate((ours, theirs)):
                    worst[k] = max(worst[k], units(found[i, j], exact, scale))
        return tuple(worst)
    return measured


def gaussian(program, random):
    distance = 10.0 ** random.uniform(0.0, 15.0, 500)
    q = distance[:, None] + random.normal(size=(500, 1))
    k = distance[:, None]
    worst = [0.0, 0.0]
    for begin in range(0, 500, 100):
        rows = slice(begin, begin + 100)
        ours = run(program, ["scores", "--q", "@q", "--k", "@k", "--score", "gaussian", "--only", "scores"],
                   {"q": q[rows], "k": k[rows]})
        theirs = -0.5 * (q[rows] - k[rows].T) ** 2
        for i, a in enumerate(q[rows, 0].tolist()):
            for j, b in enumerate(k[rows, 0].tolist()):
                exact = -(EXACT(a) - EXACT(b)) ** 2 / 2
                for m, found in enumerate((ours, theirs)):
                    worst[m] = max(worst[m], units(found[i, j], exact))
    return tuple(worst)


ROWS = [
    ("exp(x), −708 < x < −38", exponentials),
    ("exp(x), −745 < x < −708, where results are denormal", tiny_exponentials),
    ("softmax of 256 normal scores", softmax(lambda random: random.normal(size=(32, 256)))),
    ("softmax of 256 scores near 10⁸", softmax(lambda random: 1e8 + random.normal(size=(32, 256)))),
    ("softmax of 10⁶ scores", softmax(million)),
    ("layer normalization, mean 0, variance 1", layer_norm(0.0)),
    ("layer normalization, mean 10⁸, variance 1", layer_norm(1e8)),
    ("layer normalization, mean 10¹², variance 1", layer_norm(1e12)),
    ("Gaussian score, distances from 1 to 10¹⁵ of the origin", gaussian),
]


def written(number):
    if number < 1e4:
        return f"{number:.2g}"
    digit, exponent = f"{number:.0e}".split("e")
    return f"{digit}·10{str(int(exponent)).translate(str.maketrans('0123456789', '⁰¹²³⁴⁵⁶⁷⁸⁹'))}"


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program")
    parser.add_argument("--check", action="store_true")
    asked = parser.parse_args()
    wrong = 0
    document = DOCUMENT.read_text() if asked.check else ""
    print("| what | attn | NumPy |\n| :--- | ---: | ---: |")
    for name, measured in ROWS:
        ours, theirs = measured(asked.program, numpy.random.default_rng(1))
        print(f"| {name} | {written(ours)} | {written(theirs)} |")
        if asked.check and f"| {name} | {written(ours)} |" not in document:
            print(f"{DOCUMENT.name} has another figure for: {name}", file=sys.stderr)
            wrong = 1
    return wrong


if __name__ == "__main__":
    sys.exit(main())
