"""Formulas read as plain Python over NumPy scalars: what an operator should give, in float64.

It shares nothing with what the generator makes of the same text, so that the two can be compared.
"""

from __future__ import annotations

import ast
import importlib
import math
from collections.abc import Callable, Mapping
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.vecmath import numpy_reference
from torchgen_out._runtime.library.tools.cases import Array, Case, Data
from torchgen_out._runtime.library.tools.records import Record

_OWN: dict[str, Callable[..., Any]] = {
    "sign": lambda x: np.sign(x) if x == x else type(x)(0),
    "lgamma": lambda x: numpy_reference.lgamma(abs(x) if np.isinf(x) else x),
    "trigamma": lambda x: np.float64(numpy_reference.trigamma(x)),
    "where": lambda condition, x, y: x if condition else y,
}
_CONSTANTS = {"pi": math.pi, "inf": math.inf, "nan": math.nan}


class _Names(dict[str, Any]):
    """The names of the formula language, looked up when a formula first uses them."""

    def __init__(self, compute: Any) -> None:
        eps = np.finfo(compute).eps if np.issubdtype(compute, np.inexact) else 0
        super().__init__({**_CONSTANTS, "eps": eps, "__builtins__": {}})

    def __missing__(self, name: str) -> Any:
        found = _OWN[name] if name in _OWN else getattr(numpy_reference, name)
        self[name] = found
        return found


@cache
def function_of(text: str) -> Callable[[Mapping[str, Any], Any], Any]:
    """The value of a formula, as a function of its arguments and the type to compute in."""
    body = ast.parse(text.strip()).body
    last = body[-1]
    assert isinstance(last, ast.Expr)
    steps = compile(ast.Module(body[:-1], []), "<formula>", "exec")
    value = compile(ast.Expression(last.value), "<formula>", "eval")

    def function(arguments: Mapping[str, Any], compute: Any) -> Any:
        names = _Names(compute)
        names.update(arguments)
        exec(steps, names)
        return eval(value, names)

    return function


def expected(record: Record, case: Case, compute: Any) -> Array | None:
    """What a call should give; None where nothing independent says it.

    compute: the NumPy type to compute in; data must be what the operator under test is given.
    """
    plain = {
        name: value.array if isinstance(value, Data) else value
        for name, value in case.arguments.items()
    }
    with np.errstate(all="ignore"):
        if record.kind == "reduction":
            return _reduced(record, plain, compute)
        if record.reference and all(isinstance(v, Data) for v in case.arguments.values()):
            return np.asarray(_named(record.reference)(*plain.values()))
        if record.formula is None:
            return None
        return _element_wise(record, plain, compute)


def _element_wise(record: Record, plain: dict[str, Any], compute: Any) -> Array:
    function = function_of(record.formula or "")
    values = {a.name: plain.get(a.name, a.default) for a in record.arguments}
    arrays = {name: _typed(value, compute) for name, value in values.items() if _is_many(value)}
    grid = np.broadcast(*arrays.values())
    found = [
        function({**values, **dict(zip(arrays, elements, strict=True))}, compute)
        for elements in grid
    ]
    return np.array(found).reshape(grid.shape)


def _is_many(value: Any) -> bool:
    return isinstance(value, (np.ndarray, int, float, complex)) and not isinstance(value, bool)


def _typed(value: Any, compute: Any) -> Array:
    is_condition = isinstance(value, np.ndarray) and value.dtype.kind == "b"
    return np.asarray(value) if is_condition else np.asarray(value, compute)


def _named(dotted: str) -> Callable[..., Any]:
    module, _, name = dotted.rpartition(".")
    function: Callable[..., Any] = getattr(importlib.import_module(module), name)
    return function


def _reduced(record: Record, plain: dict[str, Any], compute: Any) -> Array | None:
    tensor = record.tensors[0].name
    data = np.asarray(plain[tensor], compute)
    dim = plain.get("dim")
    dims = tuple(range(data.ndim)) if dim is None else tuple(np.atleast_1d(dim) % max(data.ndim, 1))
    scalars = {a.name: plain.get(a.name, a.default) for a in record.arguments if not a.is_tensor}
    kept = [d for d in range(data.ndim) if d not in dims]
    rows = data.transpose(*kept, *[d for d in range(data.ndim) if d in dims])
    shape = [data.shape[d] for d in kept]
    flat = rows.reshape(math.prod(shape), -1) if data.size else np.zeros((math.prod(shape), 0))
    found = np.array([_folded(record, tensor, row, scalars, compute) for row in flat])
    if plain.get("keepdim"):
        shape = [1 if d in dims else data.shape[d] for d in range(data.ndim)]
    return found.reshape(shape)


def _folded(
    record: Record, tensor: str, row: Array, scalars: Mapping[str, Any], compute: Any
) -> Any:
    """One row folded from left to right."""
    parts = record.parts
    elements = list(row)
    if parts["identity"] is None:
        acc = elements.pop(0)
    else:
        acc = compute(function_of(parts["identity"])(scalars, compute))
    reduce = function_of(parts["reduce"] or "")
    for element in elements:
        acc = reduce({**scalars, "acc": acc, tensor: element}, compute)
    if parts["project"] is None:
        return acc
    count = compute(len(row))
    return function_of(parts["project"])({**scalars, "acc": acc, "count": count}, compute)
