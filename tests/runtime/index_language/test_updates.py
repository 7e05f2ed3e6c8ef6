"""Statements that update arguments: what they return, what they leave, and what the graph sees."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.research_package import generated
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck

Array = Any


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("updates")
    with generated(folder, "updates_ops", Path(__file__).parent, "updates") as package:
        yield package


# -- what is expected: all results, then what the arguments become --------------------------------


def follow(x: Array, mean: Array, share: float = 0.1) -> tuple[Array, ...]:
    batch = x.reshape(-1, x.shape[-1]).mean(0)
    return x - mean, (1 - share) * mean + share * batch


def momentum_step(
    weight: Array, velocity: Array, slope: Array, *, rate: float, momentum: float = 0.9
) -> tuple[Array, ...]:
    speed = momentum * velocity + slope
    return weight - rate * speed, speed


def quantised(x: Array, codes: Array, counts: Array, decay: float) -> tuple[Array, ...]:
    chosen = ((x[:, None] - codes) ** 2).sum(-1).argmin(1)
    one_hot = np.eye(len(codes))[chosen]
    next_ = decay * counts + (1 - decay) * one_hot.sum(0)
    moved = decay * counts[:, None] * codes + (1 - decay) * (one_hot.T @ x)
    return codes[chosen], chosen, moved / next_[:, None], next_


def turned(x: Array) -> tuple[Array, ...]:
    return x, x[::-1]


def counted(x: Array, state: Array, keeps: bool = False) -> tuple[Array, ...]:
    total = x.sum() if keeps else x.max()
    return x - total, state + total


CASES: dict[str, tuple[Callable[..., Any], tuple[str, ...], list[Callable[[], Any]]]] = {
    "follow": (
        follow,
        ("mean",),
        [
            lambda: {"x": torch.randn(5, 3), "mean": torch.randn(3)},
            lambda: {"x": torch.randn(2, 40, 3), "mean": torch.randn(3), "share": 0.5},
        ],
    ),
    "momentum_step": (
        momentum_step,
        ("weight", "velocity"),
        [
            lambda sizes=sizes: {
                **{n: torch.randn(sizes) for n in ("weight", "velocity", "slope")},
                "rate": 0.2,
            }
            for sizes in ((7,), (3, 5), (0,), ())
        ],
    ),
    "quantised": (
        quantised,
        ("codes", "counts"),
        [
            lambda: {
                "x": torch.randn(50, 3),
                "codes": torch.randn(4, 3),
                "counts": torch.rand(4) + 1,
                "decay": 0.9,
            }
        ],
    ),
    "turned": (turned, ("x",), [lambda: {"x": torch.randn(9)}]),
    "counted": (
        counted,
        ("state",),
        [
            lambda keeps=keeps: {"x": torch.randn(9), "state": torch.randn(()), "keeps": keeps}
            for keeps in (False, True)
        ],
    ),
}


def made(ops: Any, name: str, given: dict[str, Any]) -> list[Any]:
    """All that a call returns, and what its arguments then are."""
    found = getattr(ops, name)(**given)
    results = () if found is None else found if isinstance(found, tuple) else (found,)
    return [*results, *[given[each] for each in CASES[name][1]]]


def spread(value: Any) -> Any:
    """A tensor as every second element of a larger one, dims in the opposite order."""
    if not isinstance(value, torch.Tensor) or not value.dim():
        return value
    dims = tuple(reversed(range(value.dim())))
    wide = value.new_zeros([2 * size for size in reversed(value.shape)]).permute(dims)
    view = wide[tuple(slice(1, None, 2) for _ in dims)]
    view.copy_(value)
    return view


@pytest.mark.parametrize("lies", ["dense", "spread"])
@pytest.mark.parametrize("dtype", [torch.float64, torch.float32, torch.bfloat16])
@pytest.mark.parametrize("name", CASES)
def test_values(ops: Any, name: str, dtype: Any, lies: str) -> None:
    torch.manual_seed(0)
    reference, _, calls = CASES[name]
    tolerance = {torch.float64: 1e-12, torch.float32: 1e-5}.get(dtype, 3e-2)
    for call in calls:
        given = {k: v.to(dtype) if isinstance(v, torch.Tensor) else v for k, v in call().items()}
        arrays = {
            k: v.double().numpy().copy() if isinstance(v, torch.Tensor) else v
            for k, v in given.items()
        }
        if lies == "spread":
            given = {k: spread(v) for k, v in given.items()}
        found = made(ops, name, given)
        for ours, theirs in zip(found, reference(**arrays), strict=True):
            ours = ours.double().numpy()
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def test_elements_of_every_dtype_change_places(ops: Any) -> None:
    for dtype in (torch.bool, torch.int16, torch.complex64, torch.float16):
        x = torch.tensor([1, 0, 1, 1]).to(dtype)
        assert ops.turned(x).tolist() == [1, 0, 1, 1]
        assert x.tolist() == [1, 1, 0, 1]


def test_draws_and_missing_arguments(ops: Any) -> None:
    x, scale = torch.zeros(6), torch.full((6,), 2.0)
    for given, factor in (({}, 1), ({"scale": scale}, 2)):
        state = torch.zeros(6)
        found = ops.shaken(x, state, **given, generator=torch.Generator().manual_seed(3))
        assert state.abs().min() > 0
        assert torch.equal(found, factor * state)


def test_gradients(ops: Any) -> None:
    """Those of results; what an argument was may have one, what it becomes is a constant."""
    torch.manual_seed(0)

    def function(x: Any, mean: Any) -> Any:
        return ops.follow(x, mean * 1)

    leaves = tuple(torch.randn(*s, dtype=torch.float64, requires_grad=True) for s in ((4, 3), (3,)))
    assert gradcheck(function, leaves)
    assert gradgradcheck(function, leaves)
    mean = torch.zeros(3, dtype=torch.float64)
    ops.follow(leaves[0], mean)
    assert not mean.requires_grad


def test_an_update_is_a_write(ops: Any) -> None:
    """Versions count it, leaves that require grad refuse it, and so does vmap of what is shared."""
    x, mean = torch.randn(4, 3), torch.randn(3)
    factor = torch.randn(3, requires_grad=True)
    product, version = factor * mean, mean._version
    ops.follow(x, mean)
    assert mean._version == version + 1
    with pytest.raises(RuntimeError, match="modified by an inplace operation"):
        product.sum().backward()
    with pytest.raises(RuntimeError, match="a leaf Variable that requires grad"):
        ops.follow(x, factor)
    with torch.no_grad():
        ops.follow(x, factor)
    with pytest.raises(RuntimeError, match="the same for all samples"):
        torch.func.vmap(lambda row: ops.follow(row, mean))(torch.randn(2, 4, 3))
    means = torch.zeros(2, 3)
    torch.func.vmap(ops.follow)(torch.ones(2, 4, 3), means)
    torch.testing.assert_close(means, torch.full((2, 3), 0.1))


def test_memory_may_be_shared(ops: Any) -> None:
    """Statements read what arguments were, also one that is another's memory."""
    mean = torch.tensor([1.0, 2.0, 3.0])
    x = mean.expand(2, 3)
    assert ops.follow(x, mean).tolist() == [[0.0] * 3] * 2


def test_nothing_is_written_after_an_error(ops: Any) -> None:
    velocity, weight = torch.ones(2, 3), torch.ones(3)
    with pytest.raises(RuntimeError, match="doesn't match the broadcast shape"):
        ops.momentum_step(weight, velocity, torch.ones(2, 3), rate=1.0)
    with pytest.raises(RuntimeError, match="'c' goes to 4"):
        ops.follow(torch.ones(2, 4), weight)
    assert velocity.tolist() == [[1.0] * 3] * 2
    assert weight.tolist() == [1.0] * 3
