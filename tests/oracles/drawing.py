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
    """The random numbers of attn, as docs/formats.md says: the Mersenne twister of NumPy's legacy generator, with words
    uniform in [−√3, √3] and parameters uniform in [−a, a], a = √(6 / (in + out)); with --random numpy in [0, 1)."""

    def __init__(self, seed, kind="attn"):
        self.source, self.kind = np.random.RandomState(seed), kind

    def uniform(self, shape, limit):
        numbers = self.source.rand(*shape)
        return numbers if self.kind == "numpy" else -limit + 2 * limit * numbers

    def words(self, *shape):
        return self.uniform(shape, np.sqrt(3.0))

    def parameter(self, *shape):
        return self.uniform(shape, np.sqrt(6.0 / sum(shape)))


WORDS = ["dog", "bites", "man", "the", "cat", "it", "because", "tired", "won't", "well-known", "über", "猫"]
