"""Rounding to quantised numbers, compared with PyTorch: values, gradients, what is refused."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import torchgen_out

CALLS: dict[str, Callable[[Any, Any], Any]] = {
    "numbers": lambda lib, x: lib.fake_quantize_per_tensor_affine(x, 0.3, 3, -8, 7),
    "tensors": lambda lib, x: lib.fake_quantize_per_tensor_affine(
        x, lib.tensor([0.3]), lib.tensor([3]), -8, 7
    ),
    "whole zero points": lambda lib, x: lib.fake_quantize_per_channel_affine(
        x, lib.tensor([0.5, 0.3, 0.25]), lib.tensor([1, -2, 3]).int(), 1, -8, 7
    ),
    "fractions": lambda lib, x: lib.fake_quantize_per_channel_affine(
        x, lib.tensor([0.5, 0.3, 0.25]), lib.tensor([1, -2.5, 3.5]), 1, -8, 7
    ),
}


@pytest.mark.parametrize("dtype", ["float16", "bfloat16", "float32", "float64"])
@pytest.mark.parametrize("call", CALLS)
def test_values_and_gradient(call: str, dtype: str) -> None:
    rng = np.random.default_rng(0)
    values = np.concatenate([rng.standard_normal((4, 3, 30)) * 4, np.full((4, 3, 2), 0.625)], -1)
    answers = []
    for lib in (torch, torchgen_out):
        x = lib.tensor(values).to(getattr(lib, dtype)).transpose(1, 2).contiguous()
        x = x.transpose(1, 2).requires_grad_()
        result = CALLS[call](lib, x)
        (gradient,) = lib.autograd.grad((2 * result).sum(), x)
        answers.append([result.detach(), gradient])
    for expected, got in zip(*answers, strict=True):
        assert got.stride() == expected.stride()
        assert str(got.dtype) == str(expected.dtype)
        np.testing.assert_allclose(got.double().numpy(), expected.double().numpy(), rtol=2e-7)


@pytest.mark.parametrize("scale", [0.0, -0.0, float("nan"), 1e-45, -0.5])
def test_scales_at_the_edges(scale: float) -> None:
    answers = []
    for lib in (torch, torchgen_out):
        x = lib.tensor([0.0, -0.0, 1.0, -1.0, float("inf"), float("-inf"), float("nan")])
        tensors = lib.tensor([scale]), lib.tensor([1]).int()
        for given in ((scale, 1), (-scale, 1), tensors):
            answers.append(lib.fake_quantize_per_tensor_affine(x, *given, -4, 3).tolist())
    assert repr(answers[:3]) == repr(answers[3:])


REFUSED: tuple[Callable[[Any, Any], Any], ...] = (
    lambda lib, x: lib.fake_quantize_per_tensor_affine(x, 0.1, 300, 0, 255),
    lambda lib, x: lib.fake_quantize_per_tensor_affine(x, 0.1, 3, 256, 255),
    lambda lib, x: lib.fake_quantize_per_tensor_affine(x, x[0], x[1], 0, 255),
    lambda lib, x: lib.fake_quantize_per_channel_affine(x, x, x[0].int(), 1, 0, 9),
    lambda lib, x: lib.fake_quantize_per_channel_affine(x, x[0], x[0].long(), 1, 0, 9),
    lambda lib, x: lib.fake_quantize_per_channel_affine(x, x[0], x[0].int(), 0, 0, 9),
    lambda lib, x: lib.fake_quantize_per_channel_affine(x, x[0], x[0].int(), -1, 0, 9),
    lambda lib, x: lib.fake_quantize_per_channel_affine(x, x[0], x[0].int() - 4, 1, 0, 9),
)


@pytest.mark.parametrize("case", range(len(REFUSED)))
def test_refused_alike(case: int) -> None:
    raised = []
    for lib in (torch, torchgen_out):
        with pytest.raises(RuntimeError) as caught:
            REFUSED[case](lib, lib.ones(2, 3))
        raised.append(str(caught.value).split("\n")[0])
    assert raised[0] == raised[1]


def test_whole_numbers_are_refused() -> None:
    for lib in (torch, torchgen_out):
        with pytest.raises(NotImplementedError, match="'Long'"):
            lib.fake_quantize_per_tensor_affine(lib.tensor([1, 2]), 0.1, 3, 0, 255)
