"""When a result of ours equals PyTorch's: kind, shape, dtype, strides, elements."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any, NamedTuple

import numpy as np
import torch

import torchgen_out
from tests import calls, tolerances
from tests.parity.op_db import transfer


class Fault(NamedTuple):
    """One thing that is not as in PyTorch."""

    check: str
    """What was looked at: `function`, `out dtype` ..."""
    message: str


def flat(value: Any) -> list[Any]:
    """The results of a call as a list; numbers in a size are results too."""
    if isinstance(value, dict):
        return [each for _, item in sorted(value.items()) for each in flat(item)]
    if isinstance(value, tuple | list):
        return [each for item in value for each in flat(item)]
    return [value]


def metadata_faults(ours: Any, theirs: torch.Tensor) -> Iterator[str]:
    """What a tensor's shape and dtype have different."""
    if tuple(ours.shape) != tuple(theirs.shape):
        yield f"shape {tuple(ours.shape)}, PyTorch {tuple(theirs.shape)}"
    if calls.name_of(ours.dtype) != calls.name_of(theirs.dtype):
        yield f"dtype {ours.dtype}, PyTorch {theirs.dtype}"


def stride_fault(ours: Any, theirs: torch.Tensor) -> str | None:
    """Say which strides differ, in dims of more than one element, where no dim is empty."""
    if not theirs.numel():
        return None
    sizes = tuple(theirs.shape)
    pair = [
        tuple(s for s, size in zip(each.stride(), sizes, strict=True) if size > 1)
        for each in (ours, theirs)
    ]
    return None if pair[0] == pair[1] else f"strides {pair[0]}, PyTorch {pair[1]}"


Exact = Callable[[], Sequence[Any]]
"""PyTorch's results in float64, computed when they are asked for."""


def element_fault(
    subject: Subject, ours: Any, theirs: torch.Tensor, exact: Callable[[], Any] | None
) -> str | None:
    """Say which elements differ by more than the tolerance.

    Of 16- and 32-bit floats, what is as near to PyTorch's float64 result is right as well.
    """
    got, expected = calls.array(ours), transfer.to_numpy(theirs)
    dtype = subject.computed or theirs.dtype
    allowed = subject.tolerance(calls.name_of(dtype), expected)
    fault = difference(got, expected, allowed)
    if fault is None or exact is None or dtype not in NARROW:
        return fault
    wide = exact()
    if not isinstance(wide, torch.Tensor) or wide.shape != theirs.shape:
        return fault
    narrowed = transfer.to_numpy(wide.to(dtype).to(theirs.dtype))
    return None if difference(got, narrowed, allowed) is None else fault


class Subject(NamedTuple):
    """Whose results are compared, and how near they have to be."""

    name: str
    by_element: bool = True
    """Whether an element depends on one element of each operand alone."""
    computed: torch.dtype | None = None
    """The dtype in which results were computed, if they were cast afterwards."""
    elements: bool = True
    """Whether equal calls give equal elements."""
    strides: bool = True
    """Whether the layout of results is compared."""

    def tolerance(
        self, dtype: str, expected: np.ndarray, table: Any = tolerances.VALUE
    ) -> tolerances.Tolerance:
        """The tolerance in a dtype; beside sums, of the largest element instead of each one."""
        allowed = tolerances.tolerance(table, self.name, dtype)
        finite = np.abs(expected[np.isfinite(expected)]) if expected.dtype.kind in "fc" else []
        if self.by_element or not len(finite):
            return allowed
        absolute = allowed.absolute * max(1.0, float(np.max(finite)))
        return tolerances.Tolerance(allowed.relative, absolute)


NARROW = (torch.float16, torch.bfloat16, torch.float32, torch.complex64, torch.complex32)


def difference(got: np.ndarray, expected: np.ndarray, allowed: tolerances.Tolerance) -> str | None:
    try:
        tolerances.assert_close(got, expected, allowed)
    except AssertionError as fault:
        return str(fault).removeprefix(": ")[:300]
    return None


def compare(
    check: str, subject: Subject, ours: Any, theirs: Any, exact: Exact | None = None
) -> Iterator[Fault]:
    """Compare all results of a call."""
    got, expected = flat(ours), flat(theirs)
    if len(got) != len(expected):
        yield Fault(check, f"{len(got)} results, PyTorch {len(expected)}")
        return
    for i, (mine, other) in enumerate(zip(got, expected, strict=True)):
        if not isinstance(other, torch.Tensor):
            yield from _compare_plain(check, mine, other, subject.elements)
            continue
        if not isinstance(mine, torchgen_out.Tensor):
            yield Fault(check, f"result {i} is a {type(mine).__name__}, PyTorch's a tensor")
            continue
        if other.layout is not torch.strided:
            continue
        found = list(metadata_faults(mine, other))
        yield from (Fault(check, f"result {i}: {each}") for each in found)
        if found:
            continue
        if subject.strides and (stride := stride_fault(mine, other)):
            yield Fault(f"{check} strides", f"result {i}: {stride}")
        wide = None if exact is None else _nth(exact, i)
        if subject.elements and (fault := element_fault(subject, mine, other, wide)):
            yield Fault(f"{check} values", f"result {i}: {fault}")


def _nth(exact: Exact, i: int) -> Callable[[], Any]:
    return lambda: results[i] if i < len(results := exact()) else None


def _compare_plain(check: str, ours: Any, theirs: Any, elements: bool) -> Iterator[Fault]:
    """Compare numbers, strings, dtypes."""
    if type(theirs).__module__ == "torch":
        ours, theirs = str(ours), str(theirs)
    if type(ours) is not type(theirs):
        yield Fault(check, f"{type(ours).__name__} {ours!r}, PyTorch {theirs!r}")
    elif elements and ours != theirs and not (ours != ours and theirs != theirs):
        yield Fault(check, f"{ours!r}, PyTorch {theirs!r}")
