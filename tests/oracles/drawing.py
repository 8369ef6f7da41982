"""What all drawn problems share: a case, its files, and choices."""
import numpy as np

import matrices


class Case:
    """A command line with its files, and what its matrices must be."""

    def __init__(self, seed):
        self.random = np.random.default_rng(seed)
        self.words, self.files, self.expected, self.checks = [], {}, matrices.Expected(), []
        self.formats = ("safetensors", "safetensors", "json", "npz")
        self.read = None  # of JSON, where more than its matrices is compared
        self.again = False  # whether the problem is written as JSON first, and read from there
        self.later = None  # what is expected, where it depends on what was found
        self.unknown = lambda name: False  # matrices that are in the output and not compared

    def chance(self, probability=0.5):
        return bool(self.random.random() < probability)

    def one_of(self, *values):
        return values[self.random.integers(len(values))]

    def size(self, low, high):
        return int(self.random.integers(low, high + 1))

    def normal(self, *shape, spread=1.0):
        return self.random.standard_normal(shape) * spread

    def number(self, low, high):
        """A number that its decimals give exactly."""
        return float(repr(float(self.random.uniform(low, high))))

    def option(self, name, *value):
        self.words += [name, *map(str, value)]

    def file(self, name, content):
        self.files[name] = content
        return name

    def matrix(self, array, endings=("npy", "npz", "csv", "tsv", "json", "safetensors", "literal")):
        """A matrix as a word: a file of any format, or a literal."""
        ending = self.one_of(*endings)
        if ending == "literal":
            if array.size <= 12 and np.isfinite(array).all():
                return "; ".join(" ".join(repr(float(cell)) for cell in row) for row in array)
            ending = "npy"
        return self.file(f"{len(self.files)}.{ending}", matrices.WRITERS[ending](array))

    def give(self, option, array):
        self.option(option, self.matrix(array))
        return array


class Drawn:
    """The random numbers of attn, as docs/formats.md says: the Mersenne twister of NumPy's legacy generator. It begins
    with the seed and the name of each matrix, or of a word; vectors are uniform in [−√3, √3] and parameters in [−a, a],
    a = √(6 / (in + out)). With --random numpy all numbers come from the seed, in order, and lie in [0, 1)."""

    def __init__(self, seed, kind="attn"):
        self.seed, self.kind, self.in_order = seed, kind, np.random.RandomState(seed)

    def uniform(self, name, shape, limit):
        if self.kind == "numpy":
            return self.in_order.rand(*shape)
        return -limit + 2 * limit * np.random.RandomState([self.seed, *name.encode()]).rand(*shape)

    def vectors(self, name, *shape):
        return self.uniform(name, shape, np.sqrt(3.0))

    def words(self, words, d):
        """A row for each of some different words."""
        return np.concatenate([self.vectors(f"x[{word}]", 1, d) for word in words])

    def parameter(self, name, *shape):
        return self.uniform(name, shape, np.sqrt(6.0 / sum(shape)))


WORDS = ["dog", "bites", "man", "the", "cat", "it", "because", "tired", "won't", "well-known", "über", "猫"]
