"""Comparing large results of both libraries: how far sums of many terms may be apart is measured.

The tolerances of the table are those of a few operations. What a longer chain of roundings adds is
taken from PyTorch: its error in the dtype under test against its own result in float64.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

from tests import calls, tolerances
from tests.harness import Case
from tests.tolerances import Tolerance

Table = Mapping[str, Tolerance]

AS_ACCURATE = 4.0
"""How many times PyTorch's own largest error a result may be away from PyTorch's."""
SINGLE_TO_DOUBLE = 2.0**-27
"""Rounding errors of float64 in terms of those of float32: 2**-29, and as they are not measured
but estimated, four times that."""
LESS_ACCURATE: dict[str, tuple[float, str]] = {
    "*fft*": (16.0, "PyTorch's float64 transforms have up to 40 times the error of SciPy's"),
    "*stft": (16.0, "PyTorch's float64 transforms have up to 40 times the error of SciPy's"),
}
"""Pattern of operators -> (how much larger PyTorch's errors in float64 are than estimated, why)."""
LUCKY: dict[str, tuple[float, str]] = {
    **dict.fromkeys(
        ("*solve*", "*inv*", "*det", "*qr*"),
        (16.0, "the condition number times a draw of rounding: PyTorch's may be a lucky one"),
    ),
}
"""Pattern of operators -> (by how much more its results may be away from PyTorch's, why)."""
FEWER = 4
"""By what factor results are fewer than operands if they are sums."""
LANES = 4
UNIT = {"float32": 2.0**-24, "float64": 2.0**-53, "complex64": 2.0**-24, "complex128": 2.0**-53}
"""Unit roundoff: the error of one addition."""


@dataclass(frozen=True, slots=True)
class Expected:
    """PyTorch's results in one dtype, and the errors that rounding left in them."""

    arrays: Sequence[np.ndarray | None]
    names: Sequence[str]
    errors: Sequence[float]


def largest_error(result: np.ndarray, reference: np.ndarray) -> float:
    """The largest distance between numbers that both are finite; 0 for others than floats."""
    if result.dtype.kind not in "fc":
        return 0.0
    with np.errstate(all="ignore"):
        distance = np.abs(result.astype(reference.dtype) - reference)
    finite = np.isfinite(distance)
    return float(distance[finite].max(initial=0.0))


def measured(results: Sequence[Any], references: Sequence[Any]) -> Expected:
    """PyTorch's results with the errors that they have against references in float64."""
    arrays = [None if each is None else calls.values(each) for each in results]
    names = ["" if each is None else _dtype_name(each) for each in results]
    errors = [
        0.0 if each is None or other is None else largest_error(each, calls.values(other))
        for each, other in zip(arrays, references, strict=True)
    ]
    return Expected(arrays, names, errors)


def as_double(single: Expected, results: Sequence[Any], operator: str) -> Expected:
    """PyTorch's results in float64, with errors estimated from those in float32."""
    known = [f for name, (f, _) in LESS_ACCURATE.items() if fnmatchcase(operator, name)]
    scale = SINGLE_TO_DOUBLE * max(known, default=1.0)
    exact = measured(results, results)
    return replace(exact, errors=[scale * error for error in single.errors])


def _dtype_name(result: Any) -> str:
    return calls.name_of(result.dtype) if hasattr(result, "dtype") else ""


def terms(case: Case, size: int) -> float:
    """About how many numbers are added up for each of `size` results."""
    numel = max(each.data.size for each in case.inputs)
    longest = max(max(each.data.shape, default=1) for each in case.inputs)
    return max(numel / max(size, 1), longest if FEWER * size <= numel else 1)


def allowed(case: Case, name: str, theirs: np.ndarray, error: float, table: Table) -> Tolerance:
    """The tolerance of the table, and what rounding adds in a long sum.

    Where results are few, PyTorch's error is one draw of few, maybe a lucky one: numbers near 1
    may be added up in `LANES` lanes, one after the other.
    """
    usual = tolerances.tolerance(table, case.operator.name, name)
    in_order = UNIT.get(name, 0.0) * terms(case, theirs.size) / LANES
    lucky = max(
        (f for each, (f, _) in LUCKY.items() if fnmatchcase(case.operator.name, each)), default=1.0
    )
    absolute = usual.absolute + AS_ACCURATE * lucky * error + in_order
    return Tolerance(usual.relative + in_order, absolute)


def assert_as_close(
    got: Sequence[Any], expected: Expected, table: Table, case: Case, what: str
) -> None:
    """Fail unless all results have PyTorch's dtypes and shapes, and come as close as it does."""
    if len(got) != len(expected.arrays):  # no gradient at all counts as none of each
        assert not got and not any(each is not None and each.any() for each in expected.arrays), (
            what
        )
        return
    rows = zip(got, expected.arrays, expected.names, expected.errors, strict=True)
    for i, (ours, theirs, name, error) in enumerate(rows):
        if theirs is None:
            assert ours is None or not calls.values(ours).any(), f"{what}: result {i} is not none"
            continue
        if ours is None:
            assert not theirs.any(), f"{what}: result {i} is none"
            continue
        assert _dtype_name(ours) == name, f"{what}: {_dtype_name(ours)}, expected {name}"
        bound = allowed(case, name, theirs, error, table)
        tolerances.assert_close(calls.values(ours), theirs, bound, f"{what}: result {i}")
