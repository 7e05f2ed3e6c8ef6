"""Random kernels: the Philox stream, distributions, and that a draw depends on the seed alone."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy import stats

from torchgen_out._runtime.core.generator import Generator
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.common.draw import program_of
from torchgen_out._runtime.kernels.cpu.random import choosing, philox, poisson_binomial

COUNT = 200_003  # no multiple of four: the last run is cut off


def drawing(name: str) -> Any:
    """The kernel of an operator that is a formula over the stream."""
    return program_of(name).kernel_for("torchgen_out._runtime.kernels.cpu")


uniform_, normal_, exponential_ = map(drawing, ("uniform_", "normal_", "exponential_"))
bernoulli_, bernoulli, random_from_ = map(
    drawing, ("bernoulli_.float", "bernoulli", "random_.from")
)


@pytest.fixture
def generator() -> Generator:
    return Generator().manual_seed(7)


def test_known_answers() -> None:
    """The vectors published with the algorithm: counter and key zero; the counter goes first."""
    words = np.empty((4, 1), np.uint32)
    philox.fill_words(words, 1, np.uint64(0), np.uint64(0))
    assert [f"{word:08x}" for word in words[:, 0]] == [
        "6627e8d5",
        "e169c58d",
        "bc57ac4c",
        "9b00dbd8",
    ]


def test_words_come_in_runs(generator: Generator) -> None:
    """Number i takes word i // blocks of block i % blocks."""
    words = np.empty(10, np.int64)
    random_from_(words, 0, 2**32, generator)
    one_by_one = np.empty((4, 3), np.uint32)
    for block in range(3):
        single = np.empty((4, 1), np.uint32)
        philox.fill_words(single, 1, np.uint64(block), np.uint64(7))
        one_by_one[:, block] = single[:, 0]
    np.testing.assert_array_equal(words, one_by_one.reshape(-1)[:10])
    assert generator.get_offset() == 3


CONTINUOUS = {
    "uniform": (uniform_, (-1.0, 3.0), stats.uniform(-1, 4)),
    "normal": (normal_, (1.0, 2.0), stats.norm(1, 2)),
    "exponential": (exponential_, (2.0,), stats.expon(scale=0.5)),
    "cauchy": (drawing("cauchy_"), (1.0, 2.0), stats.cauchy(1, 2)),
    "log_normal": (drawing("log_normal_"), (0.1, 0.5), stats.lognorm(0.5, scale=np.exp(0.1))),
}


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("name", CONTINUOUS)
def test_continuous(generator: Generator, name: str, dtype: str) -> None:
    fill, parameters, distribution = CONTINUOUS[name]
    x = np.empty(COUNT, dtype)
    fill(x, *parameters, generator)
    for part in (x, x[-COUNT // 4 :]):
        assert stats.kstest(part.astype(np.float64), distribution.cdf).pvalue > 1e-3
    assert abs(np.corrcoef(x[:-1], x[1:])[0, 1]) < 0.02 or name == "cauchy"


@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_bounds(generator: Generator, dtype: str) -> None:
    x = np.empty(COUNT, dtype)
    uniform_(x, 0.0, 1.0, generator)
    assert x.min() >= 0 and x.max() < 1
    exponential_(x, 1.0, generator)
    assert x.min() > 0


@pytest.mark.parametrize("dtype", ["float32", "int64", "uint8"])
def test_discrete(generator: Generator, dtype: str) -> None:
    x = np.empty(COUNT, dtype)
    drawing("geometric_")(x, 0.3, generator)
    shares = [(x == k).mean() for k in (1, 2, 3)]
    np.testing.assert_allclose(shares, stats.geom(0.3).pmf([1, 2, 3]), atol=0.01)
    random_from_(x, 3, 9, generator)
    np.testing.assert_allclose(
        [(x == k).mean() for k in range(2, 10)], [0, *[1 / 6] * 6, 0], atol=0.01
    )
    bernoulli_(x, 0.3, generator)
    assert abs(x.mean() - 0.3) < 0.01


@pytest.mark.parametrize(
    "distribution",
    [
        *[stats.poisson(rate) for rate in (0.3, 9.9, 10.0, 1e6)],
        *[stats.binom(*each) for each in ((5, 0.3), (20, 0.9), (30, 0.4), (1e6, 0.2))],
    ],
)
def test_counts_of_events(generator: Generator, distribution: Any) -> None:
    name, parameters = distribution.dist.name, distribution.args
    x = np.empty(COUNT)
    draw = poisson_binomial.poisson if name == "poisson" else poisson_binomial.binomial
    draw(x, *[np.full(COUNT, float(each)) for each in parameters], generator)
    for count in distribution.ppf([0.1, 0.5, 0.9]):
        share = distribution.cdf(count)
        assert abs((x <= count).mean() - share) <= 5 * np.sqrt(share * (1 - share) / COUNT)


@pytest.mark.parametrize("p", [0.0, 1.0])
def test_certain_events(generator: Generator, p: float) -> None:
    x = np.empty(1000, np.float32)
    bernoulli_(x, p, generator)
    assert (x == p).all()
    bernoulli(x, np.full(1000, p, np.float32), generator)
    assert (x == p).all()


@pytest.mark.parametrize("dtype", ["uint8", "int8", "int16", "int32", "int64", "bool"])
def test_whole_range(generator: Generator, dtype: str) -> None:
    x = np.empty(COUNT, dtype)
    drawing("random_")(x, generator)
    top = 1 if dtype == "bool" else np.iinfo(dtype).max
    assert x.min() >= 0
    assert x.max() > 0.99 * top
    if dtype == "int64":
        random_from_(x, -(2**63), None, generator)
        assert x.min() < -0.99 * 2**63
        assert x.max() > 0.99 * 2**63


def test_complex_numbers_share_the_variance(generator: Generator) -> None:
    x = np.empty((100, 1000), np.complex64)
    normal_(x, 0.0, 2.0, generator)
    assert abs(x.real.var() - 2) < 0.05
    assert abs(x.imag.var() - 2) < 0.05


def test_strided_and_empty(generator: Generator) -> None:
    x = np.zeros((6, 4), np.float32).T[::2]
    uniform_(x, 1.0, 2.0, generator)
    assert (x >= 1).all()
    before = generator.get_offset()
    normal_(np.empty((0, 3)), 0.0, 1.0, generator)
    assert generator.get_offset() == before


@pytest.mark.parametrize("p", [0.0, 0.3, 1.0])
def test_dropout(p: float) -> None:
    x = np.random.default_rng(0).standard_normal(COUNT).astype(np.float32)
    out, mask = np.empty_like(x), np.empty(COUNT, np.bool_)
    drawing("_dropout")(out, mask, x, p)
    assert abs(mask.mean() - (1 - p)) < 0.01
    scaled = x / np.float32(1 - p) if p < 1 else np.zeros_like(x)
    np.testing.assert_allclose(out, np.where(mask, scaled, 0), rtol=1e-6)


def test_randperm(generator: Generator) -> None:
    out = np.empty(1000, np.int64)
    choosing.randperm(out, 1000, generator)
    assert sorted(out) == list(range(1000))
    firsts = np.empty(5, np.int64)
    seen = set()
    for _ in range(50):
        choosing.randperm(firsts, 5, generator)
        seen.add(int(firsts[0]))
    assert seen == set(range(5))


def test_multinomial(generator: Generator) -> None:
    weights = np.array([0, 1, 2, 3, 0], np.float32)
    out = np.empty(60_000, np.int64)
    choosing.multinomial(out, weights, out.size, True, generator)
    shares = np.bincount(out, minlength=5) / out.size
    np.testing.assert_allclose(shares, weights / 6, atol=0.01)
    rows = np.broadcast_to(weights, (20_000, 5))
    for count in (1, 3):
        out = np.empty((len(rows), count), np.int64)
        choosing.multinomial(out, rows, count, False, generator)
        shares = np.bincount(out[:, 0], minlength=5) / len(rows)
        np.testing.assert_allclose(shares, weights / 6, atol=0.015)
    assert (np.sort(out, 1) == [1, 2, 3]).all()


@pytest.mark.parametrize("weights, says", [([1, -1], "element < 0"), ([0, 0], "sum of prob")])
def test_multinomial_refuses(generator: Generator, weights: list[float], says: str) -> None:
    out: Any = np.empty(1, np.int64)
    with pytest.raises(RuntimeError, match=says):
        choosing.multinomial(out, np.array(weights, np.float32), 1, False, generator)


def test_the_seed_decides() -> None:
    draws = []
    for _ in range(2):
        generator = Generator().manual_seed(11)
        x = np.empty(1001, np.float32)
        normal_(x, 0.0, 1.0, generator)
        uniform_(x[::2], 0.0, 1.0, generator)
        draws.append(x)
    np.testing.assert_array_equal(*draws)


@pytest.mark.parametrize("fill", [uniform_, normal_])
def test_threads_change_nothing(fill: Any) -> None:
    draws = []
    before = threads.get_num_threads()
    try:
        for count in (1, 3):
            threads.set_num_threads(count)
            draws.append(np.empty(COUNT, np.float32))
            fill(draws[-1], 0.0, 1.0, Generator().manual_seed(5))
    finally:
        threads.set_num_threads(before)
    np.testing.assert_array_equal(*draws)
