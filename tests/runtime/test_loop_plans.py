"""Kernels whose loops run over flat memory while small: bit by bit what they compute otherwise."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
import torchgen_out.nn.functional as F
from tests.runtime.planned_ways import LAYOUTS, places_in, results, tied, without_plans
from tests.tolerances import VALUE

ALONG: dict[str, Callable[[Any, int], Any]] = {
    "std": lambda x, dim: x.std(dim),
    "var": lambda x, dim: x.var(dim, correction=0, keepdim=True),
    "std_mean": lambda x, dim: torch.std_mean(x, dim),
    "var_mean": lambda x, dim: torch.var_mean(x, (0, dim % 3 or 1), correction=2),
    "argmax": lambda x, dim: x.argmax(dim),
    "argmin": lambda x, dim: x.argmin(dim, keepdim=True),
    "max": lambda x, dim: x.max(dim),
    "min": lambda x, dim: x.min(dim, keepdim=True),
    "mode": lambda x, dim: x.mode(dim),
    "cumprod": lambda x, dim: x.cumprod(dim),
    "cummax": lambda x, dim: x.cummax(dim),
    "cummin": lambda x, dim: x.cummin(dim),
    "logcumsumexp": lambda x, dim: x.logcumsumexp(dim),
}
"""Operators along a dim."""

OF_ALL: dict[str, Callable[[Any], Any]] = {
    "std": lambda x: x.nan_to_num(3, 9, -7).std(correction=0),
    "var_mean": lambda x: torch.var_mean(x.nan_to_num(3, 9, -7), correction=0),
    "argmax": lambda x: x.argmax(),
    "argmin": lambda x: x.argmin(keepdim=True),
    "median": lambda x: x.median(),
    "nanmedian": lambda x: x.nanmedian(),
}

FINITE = ("std", "var", "var_mean", "std_mean")
"""Those that warn of NaN or infinity where NumPy takes part."""

OF_INTEGERS = ("argmin", "max", "cumprod", "cummax")


def same_without_plans(compute: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    planned = compute()
    with without_plans(monkeypatch):
        assert planned == compute()


@pytest.mark.parametrize("name", ALONG)
def test_along_a_dim(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def compute() -> list[Any]:
        given = [make() for make in LAYOUTS.values()]
        if name in FINITE:
            given = [x.nan_to_num(3, 9, -7) for x in given]
        if name in OF_INTEGERS:
            given += [x.nan_to_num(3, 9, -7).to(torch.int64) for x in given]
        return [results(ALONG[name](x, dim)) for x in given for dim in (0, 1, 2, -1)]

    same_without_plans(compute, monkeypatch)


@pytest.mark.parametrize("name", OF_ALL)
def test_of_all(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    given = [*(make() for make in LAYOUTS.values()), tied(7).nan_to_num(1), tied(1)]
    same_without_plans(lambda: [results(OF_ALL[name](x)) for x in given], monkeypatch)


def part(parameter: Any) -> Any:
    """One number per channel."""
    return None if parameter is None else parameter[:5]


OPTIONAL: dict[str, Callable[..., Any]] = {
    "layer_norm": lambda x, w, b: torch.native_layer_norm(x, [7], w, b, 1e-3),
    "group_norm": lambda x, w, b: torch.native_group_norm(x, part(w), part(b), 6, 5, 7, 5, 1e-3),
    "batch_norm": lambda x, w, b: torch.nn.functional.batch_norm(
        x, x[0, :, 0] + 1, x[1, :, 1].abs(), part(w), part(b)
    ),
}
"""Operators with weight and bias."""


@pytest.mark.parametrize("name", OPTIONAL)
def test_optional_parameters(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    weight, bias = tied(2, 7).nan_to_num(3, 9, -7)
    given = [make().nan_to_num(3, 9, -7) for make in LAYOUTS.values()]

    def compute() -> list[Any]:
        pairs = [(weight, bias), (weight, None), (None, bias), (None, None)]
        found = [OPTIONAL[name](x, *pair) for x in given for pair in pairs]
        return [each if isinstance(each, tuple) else (each,) for each in found]

    close_without_plans(compute, monkeypatch)


def close_without_plans(compute: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """Sums may be taken in another order."""
    relative, absolute = VALUE["float32"]
    planned = compute()
    with without_plans(monkeypatch):
        for mine, other in zip(planned, compute(), strict=True):
            for a, b in zip(mine, other, strict=True):
                np.testing.assert_allclose(a.numpy(), b.numpy(), relative, absolute)


ADDING: dict[str, Callable[[Any, Any, Any, Any], Any]] = {
    "addmm": lambda x, a, b, n: x.addmm(a[0], b[0], **n),
    "addmm of a transpose": lambda x, a, b, n: x.addmm(b[0].t(), a[0].t(), **n),
    "addmv": lambda x, a, b, n: x[0, :1].addmv(a[1], b[1, :, 2], **n),
    "addmv of a row": lambda x, a, b, n: a[0, :, 0].addmv(a[1], b[1, :, 2], **n),
    "baddbmm": lambda x, a, b, n: x.baddbmm(a, b, **n),
    "baddbmm of batches apart": lambda x, a, b, n: x.baddbmm(
        a.transpose(0, 1)[:4].transpose(0, 1), b.flip(0), **n
    ),
    "addbmm": lambda x, a, b, n: x.addbmm(a, b, **n),
    "addr": lambda x, a, b, n: (x if x.shape == (4, 4) else x.expand(4, 4)).addr(
        a[0, :, 0], b[0, 0], **n
    ),
}


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64, torch.int64], ids=str)
@pytest.mark.parametrize("name", ADDING)
def test_adding(name: str, dtype: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    a, b = places_in(5, 3, 4, 6).to(dtype), places_in(5, 3, 6, 4).to(dtype)
    given = [places_in(7, *sizes).to(dtype) for sizes in ((4, 4), (1, 4), (4, 1), (1, 1))]
    factors = [{}, {"beta": 0}, {"beta": 2, "alpha": 3}, {"alpha": 0}]

    def compute() -> list[Any]:
        return [results(ADDING[name](x, a, b, n)) for x in given for n in factors]

    same_without_plans(compute, monkeypatch)


def test_what_is_added_nothing_to_is_not_read() -> None:
    x, a = torch.full((3, 3), torch.nan), torch.ones(3, 3)
    assert x.addmm(a, a, beta=0).sum() == 27
    assert x.addr(a[0], a[1], beta=0).sum() == 9


POOLING: dict[str, Callable[[Any], Any]] = {
    "max1d": lambda x: F.max_pool1d(x, 2, return_indices=True),
    "max2d": lambda x: F.max_pool2d(x, 3, 2, 1, return_indices=True),
    "max2d, values": lambda x: F.max_pool2d(x, (2, 3), padding=1, dilation=2, ceil_mode=True),
    "max3d": lambda x: F.max_pool3d(x[None], 2, return_indices=True),
    "adaptive max2d": lambda x: F.adaptive_max_pool2d(x, (3, 2), return_indices=True),
    "adaptive max3d": lambda x: F.adaptive_max_pool3d(x[None], 2),
    "avg1d": lambda x: F.avg_pool1d(x, 3),
    "avg2d": lambda x: F.avg_pool2d(x, 3, 2, 1, count_include_pad=False),
    "avg2d, padding counted": lambda x: F.avg_pool2d(x, 3, 2, 1, ceil_mode=True),
    "avg2d, divisor": lambda x: F.avg_pool2d(x, (4, 5), divisor_override=3),
    "avg3d": lambda x: F.avg_pool3d(x[None], 2),
    "adaptive avg2d": lambda x: F.adaptive_avg_pool2d(x, (3, 2)),
    "adaptive avg3d": lambda x: F.adaptive_avg_pool3d(x[None], 2),
}


@pytest.mark.parametrize("name", POOLING)
def test_pooling(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def compute() -> list[Any]:
        given = [make() for make in LAYOUTS.values()]
        found = [POOLING[name](x if "max" in name else x.nan_to_num(3, 9, -7)) for x in given]
        return [each if isinstance(each, tuple) else (each,) for each in found]

    close_without_plans(compute, monkeypatch)
