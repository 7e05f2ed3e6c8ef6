"""Calls to check an operator with: NumPy data from its samples, and tensors made of it."""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor, from_array
from torchgen_out._runtime.library.tools.records import Argument, Record

Array = np.ndarray[Any, Any]
FLOATING = tuple(each.name for each in dtypes.ALL if each.kind == "f")
COMPLEX = tuple(each.name for each in dtypes.ALL if each.kind == "c")


@dataclass(frozen=True)
class Data:
    """The values of a tensor argument.

    kind: 'any' takes every dtype under test, 'float' the floating and complex ones, 'same' keeps
    its own. dims: how a tensor that holds them contiguously is permuted.
    """

    array: Array
    kind: str
    dims: tuple[int, ...] | None = None

    def _apply(self, function: Callable[..., Any], *others: Any) -> Data:
        operands = [other.array if isinstance(other, Data) else other for other in others]
        return Data(np.asarray(function(self.array, *operands)), self.kind)

    def __add__(self, other: Any) -> Data:
        return self._apply(np.add, other)

    def __sub__(self, other: Any) -> Data:
        return self._apply(np.subtract, other)

    def __mul__(self, other: Any) -> Data:
        return self._apply(np.multiply, other)

    def __truediv__(self, other: Any) -> Data:
        return self._apply(np.true_divide, other)

    def __matmul__(self, other: Any) -> Data:
        return self._apply(np.matmul, other)

    def __gt__(self, other: Any) -> Data:
        return replace(self._apply(np.greater, other), kind="same")

    def __neg__(self) -> Data:
        return self._apply(np.negative)

    def __abs__(self) -> Data:
        return self._apply(np.abs)

    def __getitem__(self, index: Any) -> Data:
        return Data(np.array(self.array[index]), self.kind)

    @property
    def mT(self) -> Data:
        """The transposed matrices."""
        return self._apply(lambda array: array.swapaxes(-1, -2))


@dataclass(frozen=True)
class Case:
    """One call: arguments by name (Data, lists of it, or values), and what it must raise."""

    label: str
    arguments: Mapping[str, Any]
    raises: str | None = None

    @property
    def data(self) -> list[Data]:
        """All tensors of the call, in order."""
        values = [v if isinstance(v, list) else [v] for v in self.arguments.values()]
        return [each for members in values for each in members if isinstance(each, Data)]

    @property
    def is_empty(self) -> bool:
        """Whether some tensor has no element."""
        return any(each.array.size == 0 for each in self.data)


def constructors(seed: str) -> dict[str, Any]:
    """The names that sample expressions use; random ones draw from a generator of `seed`."""
    draw = np.random.default_rng(zlib.crc32(seed.encode()))

    def shape(sizes: tuple[Any, ...]) -> tuple[int, ...]:
        return tuple(sizes[0]) if sizes and isinstance(sizes[0], (tuple, list)) else sizes

    def distinct(*sizes: Any) -> Data:
        count = math.prod(shape(sizes))
        return Data((draw.permutation(count) - count // 2 + 0.25).reshape(shape(sizes)), "float")

    def definite(*sizes: Any) -> Data:
        """Symmetric positive-definite matrices with eigenvalues of 1 and more."""
        data = draw.standard_normal(shape(sizes))
        return Data(data @ data.swapaxes(-1, -2) + np.eye(data.shape[-1]), "float")

    def triangular(*sizes: Any) -> Data:
        """Lower triangular matrices with diagonals between 1 and 2; zeros above."""
        data = draw.standard_normal(shape(sizes))
        diagonal = draw.uniform(1, 2, data.shape[:-1])
        return Data(np.tril(data, -1) + diagonal[..., None] * np.eye(data.shape[-1]), "float")

    return {
        "randn": lambda *sizes: Data(np.asarray(draw.standard_normal(shape(sizes))), "float"),
        "rand": lambda *sizes: Data(np.asarray(draw.random(shape(sizes))), "float"),
        "uniform": lambda low, high, sizes: Data(
            np.asarray(draw.uniform(low, high, sizes)), "float"
        ),
        "randint": lambda low, high, sizes: Data(
            np.asarray(draw.integers(low, high, sizes)), "same"
        ),
        "bools": lambda *sizes: Data(np.asarray(draw.random(shape(sizes)) < 0.5), "same"),
        "bytes": lambda *sizes: Data(draw.integers(0, 256, shape(sizes), np.uint8), "same"),
        "ints": lambda values: Data(np.array(values, np.int64), "same"),
        "floats": lambda values: Data(np.array(values, np.float64), "float"),
        "arange": lambda count: Data(np.arange(count), "same"),
        "permuted": lambda x, dims: Data(x.array.transpose(dims), x.kind, tuple(dims)),
        "distinct": distinct,
        "same_floats": lambda values: Data(np.array(values, np.float64), "same"),
        "definite": definite,
        "triangular": triangular,
        "swaps": lambda values: Data(np.array(values, np.int32), "same"),
        "inf": math.inf,
        "nan": math.nan,
        "pi": math.pi,
        **{dtype.name: dtype for dtype in dtypes.ALL},
    }


def cases(record: Record) -> list[Case]:
    """All calls of an operator: the samples as written, or those that its domains give."""
    if record.calls:
        return [_written(record, number) for number in range(len(record.calls))]
    return list(_made(record))


def _written(record: Record, number: int) -> Case:
    call = record.calls[number]
    names = constructors(f"{record.name} {number}")

    def value(text: str, argument: Argument | None) -> Any:
        found = _evaluate(text, names)
        if argument is not None and argument.kind != "value" and isinstance(found, (str, list)):
            items = [found] if isinstance(found, str) else found
            made = [_evaluate(item, names) if isinstance(item, str) else item for item in items]
            return made[0] if isinstance(found, str) else made
        return found

    arguments = {name: value(text, record.argument(name)) for name, text in call.arguments.items()}
    return Case(f"sample {number + 1}", arguments, call.raises)


def _evaluate(text: str, names: Mapping[str, Any]) -> Any:
    return eval(text, {"__builtins__": {"float": float, "complex": complex, "slice": slice}}, names)


def _made(record: Record) -> Iterator[Case]:
    draw = np.random.default_rng(zlib.crc32(record.name.encode()))
    tensors = record.tensors

    def call(*shapes: tuple[int, ...], choice: int = 0, **fixed: Any) -> dict[str, Any]:
        """One set of arguments; the last shape stands for all further tensors."""
        values: dict[str, Any] = {}
        for argument in record.arguments:
            if argument.name in fixed:
                values[argument.name] = fixed[argument.name]
            elif argument.is_tensor:
                shape = shapes[min(tensors.index(argument), len(shapes) - 1)]
                values[argument.name] = _tensor_data(argument, shape, draw)
            elif argument.choices:
                text = argument.choices[min(choice, len(argument.choices) - 1)]
                values[argument.name] = _evaluate(text, constructors(""))
        return values

    yield Case("usual", call((3, 4)))
    for i in range(1, max((len(a.choices) for a in record.arguments), default=0)):
        yield Case(f"other values {i}", call((3, 4), choice=i))
    yield Case("0-d", call(()))
    if record.kind == "reduction":
        yield from _reductions(record, call)
    else:
        yield Case("empty", call((0,)))
        yield from _element_wise(record, call)


def _element_wise(record: Record, call: Callable[..., dict[str, Any]]) -> Iterator[Case]:
    if len(record.tensors) > 1:
        yield Case("broadcast", call((3, 1), (4,)))
        yield Case("shapes that differ", call((3,), (4,)), "RuntimeError")
    for argument in record.tensors:
        if argument.optional:
            yield Case(f"no {argument.name}", call((3, 4), **{argument.name: None}))
        elif argument.kind == "number" and len(record.tensors) > 1:
            low, high = argument.domain
            number = round(low + 0.7 * (high - low))
            yield Case(f"a number as {argument.name}", call((3, 4), **{argument.name: number}))


def _reductions(record: Record, call: Callable[..., dict[str, Any]]) -> Iterator[Case]:
    if record.parts["identity"] is not None:
        yield Case("empty", call((0,)))
    if record.argument("dim") is None:
        return
    yield Case("inner dim", {**call((2, 3, 4)), "dim": -1})
    yield Case("outer dim, kept", {**call((2, 3, 4)), "dim": 0, "keepdim": True})
    yield Case("no such dim", {**call((3, 4)), "dim": 5}, "IndexError")


def _tensor_data(argument: Argument, shape: tuple[int, ...], draw: Any) -> Data:
    low, high = argument.domain
    is_number = argument.kind == "number" and not argument.promoted
    array = np.asarray(draw.uniform(low, high, () if is_number else shape))
    if not (argument.promoted or is_number):
        return Data(array > (low + high) / 2, "same")  # a condition
    return Data(array, "any")


# -- tensors ------------------------------------------------------------------------------------


def dtype_for(data: Data, dtype: str) -> str:
    """The dtype that some data takes when `dtype` is under test."""
    is_float = dtype in FLOATING or dtype in COMPLEX
    if data.kind == "same" or (data.kind == "float" and not is_float):
        return "float32" if data.array.dtype.kind == "f" else str(data.array.dtype)
    if np.iscomplexobj(data.array) and dtype not in COMPLEX:
        return "complex128" if dtype == "float64" else "complex64"
    return dtype


def tensor_of(data: Data, dtype: str) -> Tensor:
    """A tensor of some data, which is rounded to what the dtype holds."""
    target = dtypes.by_name(dtype_for(data, dtype))
    array = data.array if data.dims is None else data.array.transpose(np.argsort(data.dims))
    if target is dtypes.bool and array.dtype.kind == "f":
        array = array > 0
    elif not target.is_signed and array.dtype.kind == "f":
        array = np.abs(array)
    plain = np.array(array, dtype=target.opmath.numpy, order="C")
    tensor = from_array(plain.reshape(array.shape)).to(target)
    return tensor if data.dims is None else tensor.permute(data.dims)


def values_of(tensor: Any) -> Array:
    """A result as an array; what is stored narrowly, in the dtype that it is computed in."""
    if not isinstance(tensor, Tensor):
        return np.asarray(tensor)
    plain: Any = tensor.detach()
    return np.array(plain.to(plain.dtype.opmath).numpy())
