"""Values at the edges of what operators are defined for, ours and PyTorch's side by side.

Nothing to work on, one element, numbers that overflow, nan beside a factor of zero: each function
is called with both libraries.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402
from tests import calls, tolerances  # noqa: E402

NAN, LEAST = float("nan"), -(2**63)


def statistics_of_nothing(t: Any) -> Any:
    mean, var = t.zeros(3), t.ones(3)
    t.nn.functional.batch_norm(t.zeros(0, 3, 2), mean, var, training=True)
    return mean, var


def equal_columns(t: Any) -> Any:
    """The last pivots are rounding errors of rounding errors, in the end subnormal."""
    generator = np.random.default_rng(0)
    matrices = np.repeat(generator.standard_normal((50, 8, 1)), 8, 2).astype(np.float32)
    return t.linalg.det(t.from_numpy(matrices)).isnan()


def slope(t: Any, function: Callable[[Any], Any]) -> Any:
    x = t.tensor(5.0, requires_grad=True)
    return t.autograd.grad(function(x), x)


def eigenvector_slope(t: Any) -> Any:
    x = t.tensor([[2.0, 1.0], [1.0, 5.0]], dtype=t.float64, requires_grad=True)
    return t.autograd.grad((t.linalg.eigh(x)[1].abs() * t.tensor([1.0, 3.0])).sum(), x)


def powers(t: Any, exponent: Any) -> Any:
    """Of numbers side by side, apart and halves, and their slopes."""
    x = t.tensor([0.0, -0.0, 1.0, -1.0, 4.0, -4.0, float("inf"), -float("inf"), NAN])
    x.requires_grad_()
    doubles, halves = x.double(), x.half()
    results = [
        x**exponent,
        doubles**exponent,
        halves**exponent,
        t.stack([x, x], 1)[:, 0] ** exponent,
    ]
    return [*results, t.autograd.grad((x**exponent).sum(), x)[0]]


CASES: Mapping[str, Callable[[Any], Any]] = {
    **{
        f"powers of {exponent}": lambda t, exponent=exponent: powers(t, exponent)
        for exponent in (0.5, -0.5, -1, -2, 0, 1, 1.5, 2, 3)
    },
    "powers of a tensor": lambda t: powers(t, t.tensor(0.5)),
    "running statistics, empty batch": statistics_of_nothing,
    "determinant, equal columns": equal_columns,
    "lp_pool1d, negative sums": lambda t: t.nn.functional.lp_pool1d(-t.ones(1, 1, 4), 1, 2),
    "lp_pool2d, negative sums": lambda t: t.nn.functional.lp_pool2d(-t.ones(1, 1, 4, 4), 1, 2),
    "lp_pool1d, odd power": lambda t: t.nn.functional.lp_pool1d(-t.ones(1, 1, 4), 3, 2),
    "max_pool1d, padding alone": lambda t: t.nn.functional.max_pool1d(
        t.tensor([[[5.0]]]), 2, 1, 1, 2, return_indices=True
    )[0],
    "max_pool2d, padding alone": lambda t: t.nn.functional.max_pool2d(
        t.arange(12.0).reshape(1, 4, 3), 2, 1, 1, 4, return_indices=True
    )[0],
    "max_pool2d, no places": lambda t: t.nn.functional.max_pool2d(
        t.arange(12.0).reshape(1, 4, 3), 2, 1, 1, 4
    ),
    "sum to bool": lambda t: t.tensor([0.43, 0.0]).sum(dtype=t.bool),
    "sum to bool along a dim": lambda t: t.tensor([[0.43], [0.0]]).sum(1, dtype=t.bool),
    "prod to bool": lambda t: t.tensor([0.43]).prod(dtype=t.bool),
    "nansum to bool": lambda t: t.tensor([0.43, NAN]).nansum(dtype=t.bool),
    "nansum of nan to bool": lambda t: t.tensor([NAN]).nansum(dtype=t.bool),
    "nansum to integers": lambda t: t.tensor([-1.5, NAN, 2.5]).nansum(dtype=t.int64),
    "addmm, alpha 0": lambda t: t.addmm(
        t.ones(3, 3), t.full((3, 3), NAN), t.ones(3, 3), alpha=0, beta=2
    ),
    "addmm, alpha and beta 0": lambda t: t.addmm(
        t.full((3, 3), NAN), t.full((3, 3), NAN), t.ones(3, 3), alpha=0, beta=0
    ),
    "addmv, alpha 0": lambda t: t.addmv(t.ones(2), t.full((2, 3), NAN), t.ones(3), alpha=0),
    "addr, alpha 0": lambda t: t.addr(t.ones(1, 1), t.tensor([NAN]), t.ones(1), alpha=0),
    "multi_margin_loss, nan": lambda t: t.nn.functional.multi_margin_loss(
        t.tensor([[NAN, 1.0, 2.0]]), t.tensor([1])
    ),
    "multi_margin_loss, one number": lambda t: t.nn.functional.multi_margin_loss(
        t.tensor(1.0), t.tensor(0)
    ),
    "multilabel_margin_loss, nan": lambda t: t.nn.functional.multilabel_margin_loss(
        t.tensor([[NAN, 1.0, 2.0]]), t.tensor([[1, -1, 0]])
    ),
    "multilabel_margin_loss, infinite": lambda t: t.nn.functional.multilabel_margin_loss(
        t.tensor([[1.0, float("inf"), 1.5, 0.0]]), t.tensor([[1, 2, -1, 0]])
    ),
    "multilabel_margin_loss, no class": lambda t: t.nn.functional.multilabel_margin_loss(
        t.ones(1, 3), t.tensor([[1, -5, 0]])
    ),
    "any over no dims": lambda t: t.tensor([[True, False]]).any(dim=[]),
    "all over no dims": lambda t: t.all(t.tensor([[2.0, 0.0]]), dim=()),
    "sum over no dims": lambda t: t.tensor([[1.0, 2.0]]).sum(dim=[]),
    "block_diag, number of 64 bits": lambda t: t.block_diag(
        t.tensor(1.0, dtype=t.float64), t.ones(1, 1)
    ),
    "left shift": lambda t: t.tensor([1, -1, 3]) << t.tensor([100, 64, -1]),
    "left shift of bytes": lambda t: (
        t.tensor([1, 1, 255], dtype=t.uint8) << t.tensor([7, 8, 1], dtype=t.uint8)
    ),
    "right shift": lambda t: t.tensor([1, -1, -3]) >> t.tensor([100, 64, 63]),
    "floor_divide overflows": lambda t: t.tensor([LEAST, 5, LEAST]) // t.tensor([-1, -1, 1]),
    "remainder overflows": lambda t: t.tensor([5, 7, -7]) % t.tensor([-1, -1, -2]),
    "ldexp by a number": lambda t: t.ones(2).ldexp(3),
    "isclose to a number": lambda t: t.isclose(t.ones(2), 1),
    "float_power_ of 32 bits": lambda t: t.ones(2).float_power_(2),
    "float_power_ of 64 bits": lambda t: t.full((2,), 3.0, dtype=t.float64).float_power_(2),
    "repeat_interleave along a dim of a number": lambda t: t.tensor(3.0).repeat_interleave(2, 0),
    "repeat_interleave by a tensor": lambda t: t.tensor(3.0).repeat_interleave(t.tensor([2]), 0),
    "interpolate to negative sizes": lambda t: t.nn.functional.interpolate(
        t.ones(1, 1, 4), scale_factor=-1
    ),
    "layer_norm over nothing": lambda t: t.nn.functional.layer_norm(t.ones(2), ()),
    "ones into integers": lambda t: t.ones(2, out=t.zeros(2, dtype=t.int64)),
    "ones of another dtype": lambda t: t.ones(2, dtype=t.float64, out=t.zeros(2)),
    "abs into another dtype": lambda t: t.abs(t.ones(2), out=t.ones(2, dtype=t.float64)),
    "gather at 32-bit places": lambda t: t.gather(
        t.arange(6.0).reshape(3, 2), 0, t.tensor([[2, 0]], dtype=t.int32)
    ),
    "matrix product, reflected": lambda t: t.ones(3, 4).__rmatmul__(t.ones(2, 3)),
    "method of a function with self last": lambda t: t.tensor([1.5]).polygamma(2),
    "method in place, of that": lambda t: t.tensor([1.5]).polygamma_(1),
    "covariance of integers": lambda t: t.cov(t.arange(6).reshape(2, 3)),
    "gradient at unit distances": lambda t: t.gradient(t.arange(5.0) ** 2, spacing=None),
    "gradient of a number's mean": lambda t: slope(t, lambda x: x.mean(0)),
    "gradient of a number's index_reduce": lambda t: slope(
        t, lambda x: x.index_reduce(0, t.tensor([0]), t.tensor(2.0), "mean")
    ),
    "gradient of eigenvectors": eigenvector_slope,
    "multilabel_margin_loss, one number": lambda t: t.nn.functional.multilabel_margin_loss(
        t.tensor(0.5), t.tensor(0)
    ),
    "largest element of all": lambda t: t.max(t.arange(3.0), out=t.empty(0)),
}


def outcome(function: Callable[[Any], Any], library: Any) -> list[Any]:
    """The call's results, or the class of its error."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return calls.results(function(library))
        except (RuntimeError, TypeError, ValueError, IndexError) as error:
            return [type(error)]


@pytest.mark.parametrize("function", CASES.values(), ids=CASES)
def test_edge(function: Callable[[Any], Any]) -> None:
    ours, theirs = outcome(function, torchgen_out), outcome(function, torch)
    assert len(ours) == len(theirs)
    for got, expected in zip(ours, theirs, strict=True):
        if isinstance(expected, type):
            assert got is expected
            continue
        assert calls.name_of(got.dtype) == calls.name_of(expected.dtype)
        allowed = tolerances.tolerance(tolerances.VALUE, "", calls.name_of(got.dtype))
        tolerances.assert_close(calls.values(got), calls.values(expected), allowed)
