"""The negative log likelihood against its definition."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.kernels.cpu.loss import nll_loss as losses

NONE, MEAN, SUM = 0, 1, 2


def reference(scores: np.ndarray, target: np.ndarray, weight: np.ndarray, ignored: int):
    """Losses and weights per place, 0 where the target is ignored."""
    kept = np.where(target == ignored, 0, target)
    weights = weight[kept] * (target != ignored)
    chosen = np.take_along_axis(scores, np.expand_dims(kept, 1), 1).squeeze(1)
    return -weights * chosen, weights


def nll_loss_backward(upstream: np.ndarray, target: Any, weight: Any, total: Any, *how: Any) -> Any:
    """The gradients, by the operator."""
    given = [None if x is None else torch.from_numpy(x) for x in (upstream, target, weight, total)]
    return ops._nll_loss_backward(*given, *how).numpy()


def test_gradients_of_what_has_no_weight() -> None:
    """Of a mean over weights that are all 0, and at targets that became no class."""
    upstream, target = np.asarray(1.0), np.array([0, 1, 7, -3])
    total = np.asarray(0.0)
    grad = nll_loss_backward(upstream, target, np.zeros(2), total, (4, 2), MEAN, -100)
    np.testing.assert_array_equal(grad, np.zeros((4, 2)))
    grad = nll_loss_backward(upstream, target, None, total, (4, 2), SUM, 1)
    np.testing.assert_array_equal(grad, [[-1, 0], [0, 0], [0, 0], [0, 0]])


@pytest.mark.parametrize("places", [(), (2,), (2, 3)])
@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("ignored", [-100, 1])
def test_losses_and_gradients(places: tuple[int, ...], weighted: bool, ignored: int) -> None:
    rng = np.random.default_rng(0)
    scores = rng.standard_normal((5, 4, *places))
    target = rng.integers(0, 4, (5, *places))
    weight = rng.random(4) if weighted else np.ones(4)
    each, weights = reference(scores, target, weight, ignored)
    given = weight if weighted else None
    expected = {NONE: each, MEAN: each.sum() / weights.sum(), SUM: each.sum()}
    for reduction, value in expected.items():
        out, total = np.empty(np.shape(value)), np.empty(())
        losses.nll_loss_forward(out, total, scores, target, given, reduction, ignored)
        np.testing.assert_allclose(out, value)
        np.testing.assert_allclose(total, weights.sum())
        upstream = np.asarray(rng.standard_normal(out.shape))
        grad = nll_loss_backward(upstream, target, given, total, scores.shape, reduction, ignored)
        scale = upstream / weights.sum() if reduction == MEAN else upstream
        one_hot = np.moveaxis(np.eye(4)[target], -1, 1)
        np.testing.assert_allclose(grad, np.expand_dims(-weights * scale, 1) * one_hot)


def test_target_that_is_no_class() -> None:
    arguments = (np.zeros((2, 3)), np.array([0, 3]), None, MEAN, -100)
    with pytest.raises(IndexError, match="Target 3 is out of bounds"):
        losses.nll_loss_forward(np.empty(()), np.empty(()), *arguments)


def test_nothing_to_average() -> None:
    out, total = np.empty(()), np.empty(())
    losses.nll_loss_forward(out, total, np.zeros((2, 3)), np.array([-100, -100]), None, MEAN, -100)
    assert np.isnan(out) and total == 0


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_cross_entropy_of_rows(weighted: bool, reduction: int) -> None:
    rng = np.random.default_rng(1)
    scores, target = rng.standard_normal((5, 4)), np.array([0, 3, 1, 2, 3])
    weight = rng.random(4) if weighted else None
    logarithms = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    shape = (5,) if reduction == NONE else ()
    expected, out, total = np.empty(shape), np.empty(shape), np.empty(())
    losses.nll_loss_forward(expected, total, logarithms, target, weight, reduction, 1)
    saved = np.empty_like(scores)
    losses.cross_entropy_rows(out, saved, total, scores, target, weight, reduction, 1, 0.0)
    np.testing.assert_allclose(out, expected)
    np.testing.assert_allclose(saved, logarithms)
    grad, upstream = np.empty_like(scores), np.asarray(rng.standard_normal(shape))
    arguments = (saved, target, weight, total, reduction, 1, 0.0)
    losses.cross_entropy_rows_backward(grad, upstream, *arguments)
    halves = nll_loss_backward(upstream, target, weight, total, (5, 4), reduction, 1)
    unfused = halves - np.exp(logarithms) * halves.sum(axis=1, keepdims=True)
    np.testing.assert_allclose(grad, unfused, atol=1e-14)


@pytest.mark.parametrize("weighted", [False, True])
@pytest.mark.parametrize("reduction", [NONE, MEAN, SUM])
def test_all_classes_share_a_smoothed_target(weighted: bool, reduction: int) -> None:
    rng = np.random.default_rng(2)
    scores, target = rng.standard_normal((5, 4)), np.array([0, 3, 1, 2, 3])
    weight = rng.random(4) if weighted else None
    logarithms = scores - np.log(np.exp(scores).sum(axis=1, keepdims=True))
    wanted = (0.7 * np.eye(4)[target] + 0.3 / 4) * (weight if weighted else 1)
    wanted[target == 1] = 0
    divisor = (target != 1).sum() if weight is None else weight[target[target != 1]].sum()
    each = -(wanted * logarithms).sum(axis=1)
    shape = (5,) if reduction == NONE else ()
    out, total, saved = np.empty(shape), np.empty(()), np.empty_like(scores)
    losses.cross_entropy_rows(out, saved, total, scores, target, weight, reduction, 1, 0.3)
    np.testing.assert_allclose(total, divisor)
    expected = {NONE: each, MEAN: each.sum() / divisor, SUM: each.sum()}
    np.testing.assert_allclose(out, expected[reduction])
    grad, upstream = np.empty_like(scores), np.asarray(rng.standard_normal(shape))
    arguments = (saved, target, weight, total, reduction, 1, 0.3)
    losses.cross_entropy_rows_backward(grad, upstream, *arguments)
    rows = wanted * np.broadcast_to(upstream, 5)[:, None]
    less = np.exp(logarithms) * rows.sum(axis=1, keepdims=True) - rows
    np.testing.assert_allclose(grad, less / (divisor if reduction == MEAN else 1), atol=1e-14)


def test_smoothed_target_that_is_no_class() -> None:
    scores, out = np.zeros((2, 3)), np.empty(())
    with pytest.raises(IndexError, match="Target 3 is out of bounds"):
        losses.cross_entropy_rows(out, scores, out, scores, np.array([0, 3]), None, MEAN, -1, 0.1)
