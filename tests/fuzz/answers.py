"""What a library answers to a random call, and how two answers differ."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from tests import calls, op_samples, tolerances
from tests.fuzz.laid_out import Maker, Stored, stored_as
from tests.fuzz.random_calls import RandomCall
from tests.inputs import DtypeName

REFUSALS = (RuntimeError, TypeError, ValueError, IndexError, MemoryError, ZeroDivisionError)
"""How a library says that it does not compute something; NotImplementedError is a RuntimeError."""
INTERNAL = re.compile(
    r"unbox|numpy|numba|\bnp\.|operands could not be|cannot reshape array|has no attribute"
    r"|unsupported operand|(?<!but got )NoneType|too large to|not subscriptable|ufunc"
    r"|out of bounds for axis"
    r"|tuple index|list index|LAPACK|buffer|zero-size|argument must be a string or a real"
    r"|arrays? must|object is not iterable|unexpected keyword|positional argument",
    re.IGNORECASE,
)
"""Words of libraries below ours, and of Python about our own code."""
GROSS = 50
ILL_CONDITIONED = (
    *("*svd*", "*eig*", "*pinv*", "pinverse", "*lstsq", "*lu*", "*qr*", "*solve*", "*inv*"),
    *("*cond*", "*det*", "*lobpcg*", "*lowrank*", "*matrix_power*", "*ldl*", "*ormqr*"),
    *("nuclear_norm*", "linalg_*norm*"),
)
"""Factorisations and what they are used for: random layouts make singular matrices."""
MOST = 1 << 20
"""Elements of a result that are compared."""


@dataclass(frozen=True, slots=True)
class Refusal:
    """An exception."""

    kind: str
    text: str
    is_internal: bool

    def __str__(self) -> str:
        return f"{self.kind}: {self.text[:200]}"


@dataclass(frozen=True, slots=True)
class Result:
    """Values by what they are: results, and memory afterwards, each with its dtype."""

    values: list[tuple[str, Any]]
    memory: list[tuple[str, np.ndarray]]

    def __str__(self) -> str:
        return "; ".join(f"{dtype} {_short(value)}" for dtype, value in self.values)


def _short(value: Any) -> str:
    return (
        f"{np.shape(value)} {np.asarray(value).ravel()[:8].tolist()}" if value is not None else ""
    )


Answer = Refusal | Result


def answer(library: Any, call: RandomCall, is_guarded: bool) -> Answer:
    """Call the operator in a library."""
    maker = Maker(library, is_guarded)
    session = calls.Session(library)
    try:
        made = {name: _made(session, maker, value) for name, value in call.arguments.items()}
        results = calls.results(_invoke(session, maker, call, made))
        if call.way == "gradient":
            results += _gradients(library, maker, results)
        return Result([_value(each) for each in results], maker.contents())
    except Exception as error:
        text = str(error)
        is_internal = not isinstance(error, REFUSALS) or bool(INTERNAL.search(text))
        return Refusal(type(error).__name__, text, is_internal)


def _made(session: calls.Session, maker: Maker, value: Any) -> Any:
    if isinstance(value, Stored):
        return maker.tensor(value)
    if isinstance(value, list | tuple):
        return [_made(session, maker, each) for each in value]
    return session.dtype(value.name) if isinstance(value, DtypeName) else value


def _invoke(session: calls.Session, maker: Maker, call: RandomCall, made: dict[str, Any]) -> Any:
    invoked = calls.Call(session, call.operator, made, ())
    name = call.operator.public_name
    if call.way == "method":
        return invoked.method(name)
    if call.way == "inplace":
        return invoked.method(name + "_")
    if call.way == "gradient":
        for tensor in maker.tensors.values():
            tensor.requires_grad_(tensor.is_floating_point() or tensor.is_complex())
    if call.way in ("function", "gradient"):
        return invoked.plain()
    template = calls.results(invoked.plain())
    outs = [_out(session, maker, call, each) for each in template]
    first = next((v for v in made.values() if hasattr(v, "stride")), None)
    if call.out == "self" and first is not None:
        outs[0] = first
    return invoked.plain(out=outs[0] if len(outs) == 1 else tuple(outs))


def _gradients(library: Any, maker: Maker, results: list[Any]) -> list[Any]:
    """Of the sum of all results, for the tensors that the call was given; None where there is no
    gradient."""
    outputs = [each for each in results if getattr(each, "requires_grad", False)]
    leaves = [each for each in maker.tensors.values() if each.requires_grad]
    if not outputs:
        return []
    ones = [library.ones_like(each) for each in outputs]
    return list(library.autograd.grad(outputs, leaves, ones, allow_unused=True))


def _out(session: calls.Session, maker: Maker, call: RandomCall, like: Any) -> Any:
    """A tensor to write a result into."""
    library, sizes, dtype = session.library, tuple(like.shape), calls.name_of(like.dtype)
    if call.out == "dtype":
        return library.zeros(sizes, dtype=library.int32)
    if call.out in ("short", "long"):
        count = 0 if call.out == "short" else like.numel() + 2
        return library.zeros((count,), dtype=like.dtype)
    step = 2 if call.out == "stepped" else 1
    strides = tuple(step * s for s in like.contiguous().stride())
    span = 1 + sum((n - 1) * s for n, s in zip(sizes, strides, strict=True)) if like.numel() else 0
    stored = Stored(stored_as(np.ones(span), dtype), dtype, sizes, strides, 0, True)
    maker.memories[id(stored)] = stored, stored.memory  # keeps it
    return maker.tensor(stored)


def _value(result: Any) -> tuple[str, Any]:
    if not hasattr(result, "detach"):
        return type(result).__name__, result
    dtype = calls.name_of(result.dtype)
    if result.numel() > MOST:
        return f"{dtype} {tuple(result.shape)}", None
    return dtype, calls.array(result)


NOT_OFFERED = re.compile(
    r"has no attribute '\w+_'|unexpected keyword argument 'out'|invalid combination of arguments"
    r"|not differentiable with respect to argument|derivative for .* is not implemented"
    r"|does not support automatic differentiation for outputs"
)
"""What PyTorch says of variants that it has not."""


def differences(call: RandomCall, ours: Answer, theirs: Answer) -> Iterator[tuple[str, str]]:
    """(kind, what) of each: internal, accepted, refused, dtype, shape, value, memory."""
    if isinstance(ours, Refusal):
        if ours.is_internal:
            yield "internal", str(ours)
        elif isinstance(theirs, Result):
            yield "refused", f"{ours}; PyTorch: {theirs}"
    elif isinstance(theirs, Refusal):
        if not NOT_OFFERED.search(theirs.text):
            yield "accepted", f"{ours}; PyTorch: {theirs}"
    else:
        comparable = is_comparable(call)
        yield from _different(call, "value", ours.values, theirs.values, comparable)
        if comparable:
            yield from _different(call, "memory", ours.memory, theirs.memory, comparable)


def is_comparable(call: RandomCall) -> bool:
    """Whether values are the same in both libraries: they are defined, and no tensor holds
    infinities, NaN or numbers that overflow on the way."""
    operator = call.operator
    if operator.has_tag("nondeterministic") or operator.name in op_samples.NOT_UNIQUE:
        return False
    if any(fnmatchcase(operator.name, pattern) for pattern in ILL_CONDITIONED):
        return False
    if call.way == "out" and call.out == "self":
        return False  # PyTorch reads what it has overwritten
    if call.way == "inplace" and call.written_repeats():
        return False
    return all(stored.is_tame() for stored in call.tensors())


def _different(
    call: RandomCall, kind: str, ours: Any, theirs: Any, comparable: bool
) -> Iterator[tuple[str, str]]:
    if len(ours) != len(theirs):
        yield "shape", f"{len(ours)} results, PyTorch: {len(theirs)}"
        return
    for (dtype, a), (wanted, b) in zip(ours, theirs, strict=True):
        if dtype != wanted:
            yield "dtype", f"{dtype}, PyTorch: {wanted}"
        elif np.shape(a) != np.shape(b):
            yield "shape", f"{np.shape(a)}, PyTorch: {np.shape(b)}"
        elif comparable and a is not None:
            error = _error(call, dtype, a, b)
            if error:
                yield kind, error


def _error(call: RandomCall, dtype: str, ours: Any, theirs: Any) -> str:
    """Where values are farther apart than rounding explains.

    What is close is the business of other tests: here the table's tolerance is taken GROSS times,
    relative to the largest value.
    """
    if not isinstance(ours, np.ndarray):
        return "" if ours == theirs or ours != ours else f"{ours!r}, PyTorch: {theirs!r}"
    allowed = tolerances.tolerance(tolerances.VALUE, call.operator.name, dtype)
    flat = theirs.ravel() if theirs.dtype.kind in "fc" else np.empty(0)
    largest = float(np.max(np.abs(flat[np.isfinite(flat)]), initial=1.0))
    wide = tolerances.Tolerance(GROSS * allowed.relative, GROSS * allowed.absolute * largest)
    try:
        tolerances.assert_close(ours, theirs, wide)
    except AssertionError as error:
        return str(error)[:300]
    return ""
