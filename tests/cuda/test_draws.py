"""Equal seeds give equal numbers on the CPU and on a device, of all that is drawn by kernels."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from tests.cuda.compiling import check, needs_extra
from torchgen_out._runtime.core import dtype as dtypes

pytestmark = pytest.mark.usefixtures("emulated")

ROWS = [[0.5, 0.0, 2.0, 1.0, 0.0], [1.0, 3.0, 0.25, 0.0, 0.0], [0.0, 0.0, 0.0, 0.0, 4.0]]
RATES = [0.0, 0.5, 3.0, 9.99, 10.0, 55.5, 1e4, 1e9]
COUNTS = [0.0, 5.0, 40.0, 1e3, 1e6, float("nan"), 12.0, 3.0]
CHANCES = [0.5, 0.0, 0.9, 0.3, 0.75, 0.5, 1.0, float("nan")]


def compare(function: Any, *values: Any) -> None:
    """Draw with one seed on both, several times from one stream."""
    drawn = []
    for device in ("cpu", "cuda"):
        generator = torch.Generator(device).manual_seed(7)
        given = [value.to(device) for value in values]
        drawn.append([function(*given, generator=generator).cpu() for _ in range(3)])
    for expected, got in zip(*drawn, strict=True):
        assert got.dtype is expected.dtype
        assert torch.equal(got.nan_to_num(-1), expected.nan_to_num(-1)), (got, expected)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64, dtypes.float16], ids=str)
@pytest.mark.parametrize("samples, replacement", [(1, False), (1, True), (40, True)])
def test_weighted_choices(dtype, samples, replacement):
    weights = torch.tensor(ROWS, dtype=dtype)
    compare(
        lambda w, generator: torch.multinomial(w, samples, replacement, generator=generator),
        weights,
    )
    compare(
        lambda w, generator: torch.multinomial(w[0], samples, replacement, generator=generator),
        weights,
    )


def test_weighted_orders():
    weights = torch.arange(1, 31).reshape(3, 10).float()
    compare(lambda w, generator: torch.multinomial(w, 10, generator=generator), weights)


@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64, dtypes.bfloat16], ids=str)
def test_counts(dtype):
    compare(torch.poisson, torch.tensor(RATES, dtype=dtype).repeat(9))
    counts, chances = (torch.tensor(each, dtype=dtype).repeat(9) for each in (COUNTS, CHANCES))
    compare(torch.binomial, counts, chances)
    compare(torch.binomial, counts.reshape(9, 8).mT[:, :1], chances[:8])


@needs_extra
@pytest.mark.parametrize("dtype", [dtypes.float32, dtypes.float64], ids=str)
def test_draws_compile(emulated, dtype):
    """A kernel for each word of the stream, and for each operator with a loop of its own."""
    x = torch.ones(5, dtype=dtype, device="cuda")
    for made in (
        x.uniform_(),
        x.normal_(),
        x.exponential_(),
        x.fill_(0.5).bernoulli(),
        x.random_(9),
    ):
        assert made.shape == x.shape
    for source in emulated.sources.values():
        check(source, dtype is dtypes.float64 or "chance_of_element" in source.text)


@needs_extra
def test_counts_compile(emulated):
    x = torch.full((5,), 0.5, device="cuda", dtype=torch.float64)
    torch.poisson(x), torch.binomial(x, x)
    named = {source.name: source for source in emulated.sources.values()}
    for name in ("poisson_counts", "binomial_counts"):
        check(named[name], True)
