"""Tensor arguments as NumPy data: what a sample expression makes, and how it lies in memory."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

FLOATING = ("float16", "bfloat16", "float32", "float64")
COMPLEX = ("complex64", "complex128", "complex32")
INTEGRAL = ("uint8", "int8", "int16", "int32", "int64", "uint16", "uint32", "uint64")
FLOAT8 = (
    *("float8_e5m2", "float8_e4m3fn", "float8_e5m2fnuz", "float8_e4m3fnuz", "float8_e8m0fnu"),
)
WIDENED = {"complex32": "complex64", **dict.fromkeys(("float16", "bfloat16", *FLOAT8), "float32")}
"""What NumPy lacks, or libraries do not exchange with it -> the dtype that holds its values."""
UNSIGNED = ("uint8", "uint16", "uint32", "uint64", "float8_e8m0fnu")


@dataclass(frozen=True, slots=True)
class Input:
    """A tensor argument: its data, which dtypes it may take, and how it lies in memory."""

    data: np.ndarray
    kind: str
    """`float`: takes the floating or complex dtype under test; `any`: takes every dtype;
    `same`: keeps the dtype of its data."""
    dims: tuple[int, ...] | None = None
    """The tensor is this permutation of one that holds the data contiguously."""

    def stored(self) -> np.ndarray:
        """The data as it lies in memory, before the permutation."""
        return self.data if self.dims is None else self.data.transpose(np.argsort(self.dims))

    def _apply(self, function: Callable[..., Any], other: Any = None) -> Input:
        operands = (self.data,) if other is None else (self.data, _plain(other))
        return Input(np.asarray(function(*operands)), self.kind)

    def __add__(self, other: Any) -> Input:
        return self._apply(np.add, other)

    def __sub__(self, other: Any) -> Input:
        return self._apply(np.subtract, other)

    def __mul__(self, other: Any) -> Input:
        return self._apply(np.multiply, other)

    def __truediv__(self, other: Any) -> Input:
        return self._apply(np.true_divide, other)

    def __matmul__(self, other: Any) -> Input:
        return self._apply(np.matmul, other)

    def __gt__(self, other: Any) -> Input:
        return Input(self.data > _plain(other), "same")

    def __getitem__(self, index: Any) -> Input:
        return Input(np.array(self.data[_plain(index)]), self.kind)

    def __neg__(self) -> Input:
        return self._apply(np.negative)

    def __abs__(self) -> Input:
        return self._apply(np.abs)

    @property
    def mT(self) -> Input:
        """The transposed matrices."""
        return self._apply(lambda data: data.swapaxes(-1, -2))


def _plain(value: Any) -> Any:
    return value.data if isinstance(value, Input) else value


@dataclass(frozen=True, slots=True)
class DtypeName:
    """A dtype argument, by name."""

    name: str


def _shape(shape: tuple[Any, ...]) -> tuple[int, ...]:
    return tuple(shape[0]) if shape and isinstance(shape[0], tuple | list) else shape


def constructors(seed: str) -> dict[str, Any]:
    """The names that a sample expression may use; random ones draw from a generator of `seed`."""
    generator = np.random.default_rng(zlib.crc32(seed.encode()))

    def uniform(low: float, high: float, shape: tuple[int, ...]) -> Input:
        return Input(generator.uniform(low, high, shape), "float")

    def distinct(*shape: int) -> Input:
        size = math.prod(_shape(shape))
        data = generator.permutation(size) - size // 2 + 0.25
        return Input(data.reshape(_shape(shape)), "float")

    def definite(*shape: int) -> Input:
        """Symmetric positive-definite matrices with eigenvalues of 1 and more."""
        data = generator.standard_normal(_shape(shape))
        return Input(data @ data.swapaxes(-1, -2) + np.eye(data.shape[-1]), "float")

    def triangular(*shape: int) -> Input:
        """Lower triangular matrices with diagonals between 1 and 2; zeros above."""
        data = generator.standard_normal(_shape(shape))
        diagonal = generator.uniform(1, 2, data.shape[:-1])
        return Input(np.tril(data, -1) + diagonal[..., None] * np.eye(data.shape[-1]), "float")

    def places(below: int, shape: tuple[int, ...]) -> Input:
        """In every plane of the last two dims numbers below `below`, none twice."""
        planes = np.empty((math.prod(shape[:-2]), math.prod(shape[-2:])), np.int64)
        for plane in planes:
            plane[:] = generator.permutation(below)[: plane.size]
        return Input(planes.reshape(shape), "same")

    return {
        "places": places,
        "eye": lambda n: Input(np.eye(n), "float"),
        "randn": lambda *shape: Input(generator.standard_normal(_shape(shape)), "float"),
        "rand": lambda *shape: Input(generator.random(_shape(shape)), "float"),
        "uniform": uniform,
        "randint": lambda low, high, shape: Input(generator.integers(low, high, shape), "same"),
        "bools": lambda *shape: Input(generator.random(_shape(shape)) < 0.5, "same"),
        "bytes": lambda *shape: Input(generator.integers(0, 256, _shape(shape), np.uint8), "same"),
        "ints": lambda values: Input(np.array(values, np.int64), "same"),
        "floats": lambda values: Input(np.array(values, np.float64), "float"),
        "arange": lambda n: Input(np.arange(n), "same"),
        "permuted": lambda x, dims: Input(
            np.ascontiguousarray(x.data).transpose(dims), x.kind, tuple(dims)
        ),
        "distinct": distinct,
        "same_floats": lambda values: Input(np.array(values, np.float64), "same"),
        "definite": definite,
        "triangular": triangular,
        "swaps": lambda values: Input(np.array(values, np.int32), "same"),
        "inf": math.inf,
        "nan": math.nan,
        "pi": math.pi,
        **{name: DtypeName(name) for name in (*FLOATING, *COMPLEX, *INTEGRAL, "bool")},
    }


def is_input(value: Any) -> bool:
    """Whether an argument is a tensor."""
    return isinstance(value, Input)


def rounded(data: np.ndarray, dtype: str) -> np.ndarray:
    """Round float64 data to what a floating-point dtype holds."""
    if data.dtype != np.float64 or dtype not in FLOATING:
        return data
    with np.errstate(over="ignore", under="ignore"):
        if dtype == "bfloat16":
            bits = data.astype(np.float32).view(np.uint32)
            return (bits & np.uint32(0xFFFF0000)).view(np.float32).astype(np.float64)
        return data.astype(dtype).astype(np.float64)
