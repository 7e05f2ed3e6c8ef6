"""Convolutions of each channel by itself against their definition, beside guard pages."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.guarded_memory import guarded, guarded_copy
from tests.runtime.conv.test_conv_kernels import reference
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.conv import choice, columns, convolution, depthwise, planes

CASES = [
    # channels, size, kernel, stride, padding, dilation
    (16, (1, 7, 7), (1, 3, 3), (1, 1, 1), (0, 1, 1), (1, 1, 1)),
    (37, (1, 9, 8), (1, 3, 3), (1, 2, 2), (0, 1, 1), (1, 1, 1)),
    (8, (1, 12, 15), (1, 5, 4), (1, 2, 3), (0, 2, 1), (1, 1, 2)),
    (19, (1, 1, 20), (1, 1, 7), (1, 1, 1), (0, 0, 3), (1, 1, 1)),
    (20, (4, 5, 6), (2, 3, 1), (2, 1, 2), (1, 1, 0), (1, 2, 1)),
    (64, (1, 6, 6), (1, 1, 1), (1, 3, 3), (0, 0, 0), (1, 1, 1)),
]


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("numbers", CASES, ids=str)
def test_products_beside_guard_pages(
    numbers: Any, dtype: str, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The result and both gradients, of images that threads share."""
    monkeypatch.setattr(threads, "_threads", count)
    monkeypatch.setattr(threads, "GRAIN", 16)
    channels, size, kernel, sliding = *numbers[:3], numbers[3:]
    rng = np.random.default_rng(0)
    x = rng.standard_normal((3, channels, *size))
    w = rng.standard_normal((channels, 1, *kernel))
    bias = rng.standard_normal(channels)
    places = tuple(
        (n + 2 * p - d * (k - 1) - 1) // s + 1
        for n, k, s, p, d in zip(size, kernel, *sliding, strict=True)
    )
    y = reference(x, w, places, *sliding, channels)
    grad = rng.standard_normal(y.shape)
    dx, dw = np.empty_like(x), np.empty_like(w)
    plan = planes.lay_out(size, kernel, places, *sliding)
    columns.convolve_transposed(dx, grad, w, plan, channels)
    columns.correlate(dw, grad, x, plan, channels)
    tolerance = 2e-5 if dtype == "float32" else 1e-12
    for at_end in (False, True):
        given = [guarded_copy(a.astype(dtype), at_end) for a in (x, w, grad, bias)]
        made = [guarded(a.shape, dtype, at_end) for a in (y, dx, dw)]
        depthwise.convolve(made[0], given[0], given[1], given[3], sliding)
        depthwise.convolve_transposed(made[1], given[2], given[1], None, sliding)
        depthwise.correlate(made[2], given[2], given[0], sliding)
        expected = y + bias.reshape(-1, 1, 1, 1), dx, dw
        for found, exact in zip(made, expected, strict=True):
            np.testing.assert_allclose(found, exact, tolerance, tolerance)
        depthwise.convolve_transposed(made[1], given[2], given[1], given[3], sliding)
        exact = dx + bias.reshape(-1, 1, 1, 1)
        np.testing.assert_allclose(made[1], exact, tolerance, tolerance)


@pytest.mark.parametrize("options", [{}, {"stride": 2, "output_padding": 1, "padding": 1}])
def test_transposed_layers(options: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of which results, and gradients, reach beyond the windows."""
    rng = np.random.default_rng(0)
    given = [
        torch.from_numpy(rng.standard_normal(shape))
        for shape in ((2, 24, 9, 7), (24, 1, 3, 3), (24,))
    ]
    found = []
    for is_apart in (True, False):
        if not is_apart:
            monkeypatch.setattr(depthwise, "suits", lambda *args: False)
            choice.forget()
        x, w, bias = (each.clone().requires_grad_() for each in given)
        y = torch.nn.functional.conv_transpose2d(x, w, bias, groups=24, **options)
        y.square().sum().backward()
        found.append([each.detach().numpy() for each in (y, x.grad, w.grad, bias.grad)])
    choice.forget()
    for apart, plain in zip(*found, strict=True):
        np.testing.assert_allclose(apart, plain, 1e-11, 1e-11)


def test_it_is_chosen_for_layers_of_each_channel(monkeypatch: pytest.MonkeyPatch) -> None:
    """Small planes and strides, all three products; large dense planes have a quicker way."""
    called: list[str] = []
    for name in ("convolve", "convolve_transposed", "correlate"):
        plain = getattr(depthwise, name)
        monkeypatch.setattr(
            depthwise, name, lambda *args, n=name, f=plain: called.append(n) or f(*args)
        )
    assert convolution.depthwise is depthwise
    for size, stride, expected in (
        ((32, 14, 14), 1, ["convolve", "convolve_transposed", "correlate"]),
        ((32, 64, 64), 2, ["convolve", "convolve_transposed", "correlate"]),
        ((32, 64, 64), 1, []),
        ((1, 64, 64), 2, []),
    ):
        called.clear()
        x = torch.ones(2, *size, requires_grad=True)
        w = torch.ones(size[0], 1, 3, 3, requires_grad=True)
        y = torch.nn.functional.conv2d(x, w, stride=stride, padding=1, groups=size[0])
        y.sum().backward()
        assert sorted(called) == expected
