"""Matrices by name: what an oracle expects, with the magnitude of what each was computed from, and what attn found.

Two programs that round differently agree only relative to the numbers that they added up: a sum of 1e6 and -1e6 may be
wrong by 1e-10 with either. So a matrix is compared relative to the largest magnitude involved: that of its own cells and
of the terms that were summed for them, such as |a| ⋅ |b| for a product, or the scores for the weights. What is computed
from a matrix with large terms is as inexact as that matrix.
"""
import io
import json
import struct

import numpy as np

TOLERANCE = 1e-12


def largest(*involved):
    """The largest finite magnitude."""
    found = 0.0
    for matrix in involved:
        cells = np.abs(np.asarray(matrix, dtype=float))
        cells = cells[np.isfinite(cells)]
        found = max(found, cells.max(initial=0.0))
    return found


class Expected:
    """What an oracle computes, by name."""

    def __init__(self):
        self.matrices, self.magnitudes, self.scope = {}, {}, ""
        self.loose, self.alive = {}, []

    def put(self, name, matrix, *involved):
        matrix = np.atleast_2d(np.asarray(matrix, dtype=float))
        self.matrices[self.scope + name] = matrix
        self.magnitudes[self.scope + name] = largest(matrix, *involved)
        self.loose[id(matrix)] = self.magnitudes[self.scope + name] / (largest(matrix) or 1.0)
        self.alive.append(matrix)
        return matrix

    def looseness(self, *matrices):
        """How much larger the magnitude involved was than the matrices themselves."""
        return max(self.loose.get(id(matrix), 1.0) for matrix in matrices)

    def product(self, name, a, b):
        return self.put(name, a @ b, np.abs(a) @ np.abs(b) * self.looseness(a, b))

    def part(self, name, matrix, whole):
        """Some columns or rows of another matrix, as exact as that is."""
        return self.put(name, matrix, largest(whole) * self.looseness(whole))

    def also(self, other, name):
        """Another name for a matrix of this scope."""
        self.put(name, self.matrices[self.scope + other], self.magnitudes[self.scope + other])

    class Within:
        def __init__(self, expected, scope):
            self.expected, self.scope = expected, scope

        def __enter__(self):
            self.before = self.expected.scope
            self.expected.scope += self.scope

        def __exit__(self, *_):
            self.expected.scope = self.before

    def within(self, scope):
        return Expected.Within(self, scope)


class Difference(Exception):
    """Where attn and an oracle do not agree."""


def distance(name, expected, found, magnitude):
    """The largest difference, relative to the magnitude involved. Infinities and NaN must be the same cells."""
    if expected.shape != found.shape:
        raise Difference(f"{name} is {found.shape}, and must be {expected.shape}")
    finite = np.isfinite(expected)
    if not np.array_equal(finite, np.isfinite(found)) or not np.array_equal(
            expected[~finite], found[~finite], equal_nan=True):
        raise Difference(f"{name} has other infinities or NaN:\n{found}\nand must be\n{expected}")
    far = np.abs(expected[finite] - found[finite]).max(initial=0.0)
    return 0.0 if far == 0.0 else far / magnitude


def compare(expected, found, unknown=lambda name: False):
    """The largest relative difference over all matrices that attn found; every one of them must be expected."""
    worst = 0.0
    if not found:
        raise Difference("there are no matrices")
    for name, matrix in found.items():
        if name not in expected.matrices:
            if unknown(name):
                continue
            raise Difference(f"{name} is not known to the oracle")
        far = distance(name, expected.matrices[name], matrix, expected.magnitudes[name])
        if not far <= TOLERANCE:
            raise Difference(f"{name} differs by {far:.3g} of {expected.magnitudes[name]:.3g}:\n{matrix}\n"
                             f"and must be\n{expected.matrices[name]}")
        worst = max(worst, far)
    return worst


# What attn writes

def numbers(rows):
    words = {"NaN": np.nan, "Infinity": np.inf, "-Infinity": -np.inf}
    return np.array([[words.get(cell, cell) if isinstance(cell, str) else cell for cell in row] for row in rows],
                    dtype=float).reshape(len(rows), -1)


def from_json(content):
    return {name: numbers(rows) for name, rows in json.loads(content)["arrays"].items()}


def from_npz(content):
    with np.load(io.BytesIO(content)) as arrays:
        return {name: np.atleast_2d(arrays[name]) for name in arrays}


def from_safetensors(content):
    size, = struct.unpack_from("<Q", content)
    found = {}
    for name, tensor in json.loads(content[8:8 + size]).items():
        if name != "__metadata__":
            begin, end = (8 + size + offset for offset in tensor["data_offsets"])
            found[name] = np.frombuffer(content[begin:end]).reshape(tensor["shape"])
            found[name] = np.atleast_2d(found[name])
    return found


READERS = {"json": from_json, "npz": from_npz, "safetensors": from_safetensors}


# What attn reads

def to_safetensors(arrays):
    header, data = {}, b""
    for name, array in arrays.items():
        numbers = np.ascontiguousarray(array, dtype="<f8").tobytes()
        header[name] = {"dtype": "F64", "shape": list(array.shape), "data_offsets": [len(data), len(data) + len(numbers)]}
        data += numbers
    text = json.dumps(header).encode()
    return struct.pack("<Q", len(text)) + text + data


def rows_of(array):
    """Rows of numbers for JSON, with infinities as Python writes them."""
    return np.atleast_2d(array).tolist()


def to_npz(arrays):
    buffer = io.BytesIO()
    np.savez(buffer, **arrays)
    return buffer.getvalue()


def to_npy(array):
    buffer = io.BytesIO()
    np.save(buffer, array)
    return buffer.getvalue()


def to_csv(array):
    return "".join(",".join(repr(float(cell)) for cell in row) + "\n" for row in np.atleast_2d(array)).encode()


WRITERS = {"npy": to_npy, "csv": to_csv, "json": lambda array: json.dumps(rows_of(array)).encode(),
           "npz": lambda array: to_npz({"only": array}), "tsv": lambda array: to_csv(array).replace(b",", b"\t"),
           "safetensors": lambda array: to_safetensors({"only": np.asarray(array)})}
