"""Winograd's convolutions against their definition, with hostile memory and hostile values."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.guarded_memory import guarded, guarded_copy
from tests.runtime.conv import launched
from tests.runtime.conv.test_conv_kernels import reference
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.conv import choice, convolution, winograd

CASES = [
    # images, channels, outputs, size, padding, dilation, groups
    (2, 32, 48, (17, 14), (1, 1), (1, 1), 1),
    (3, 37, 50, (9, 24), (0, 2), (1, 1), 1),
    (1, 128, 96, (16, 15), (2, 2), (2, 2), 2),
    (2, 33, 49, (13, 11), (3, 4), (3, 4), 1),
    (1, 40, 64, (5, 70), (5, 0), (1, 1), 1),
    (9, 64, 64, (4, 4), (1, 1), (1, 1), 1),
    (1, 200, 48, (12, 12), (1, 0), (1, 2), 1),
]
TOLERANCES = {"float32": 2e-6, "float64": 4e-15}
"""Of the greatest result."""


class Case:
    """Arrays of one geometry, as the kernels see them."""

    def __init__(self, numbers: Any, dtype: str) -> None:
        images, channels, outputs, size, padding, dilation, self.groups = numbers
        rng = np.random.default_rng(0)
        self.x = rng.standard_normal((images, channels, 1, *size)).astype(dtype)
        self.w = rng.standard_normal((outputs, channels // self.groups, 1, 3, 3)).astype(dtype)
        self.bias = rng.standard_normal(outputs).astype(dtype)
        self.sliding = (1, 1, 1), (0, *padding), (1, *dilation)
        places = (n + 2 * p - 2 * d for n, p, d in zip(size, padding, dilation, strict=True))
        wide = (each.astype(np.float64) for each in (self.x, self.w))
        self.y = reference(*wide, (1, *places), *self.sliding, self.groups)
        self.grad = rng.standard_normal(self.y.shape).astype(dtype)

    def grad_weight(self) -> np.ndarray:
        """The gradient of the weight, one tap after the other."""
        _, padding, dilation = self.sliding
        padded = np.pad(self.x.astype(np.float64), [(0, 0), (0, 0), *[(p, p) for p in padding]])
        made = np.zeros(self.w.shape)
        outputs, (height, width) = self.w.shape[0] // self.groups, self.y.shape[3:]
        for g in range(self.groups):
            own = self.grad[:, g * outputs : (g + 1) * outputs].astype(np.float64)
            channels = slice(g * self.w.shape[1], (g + 1) * self.w.shape[1])
            for i in range(3):
                for j in range(3):
                    h, v = i * dilation[1], j * dilation[2]
                    seen = padded[:, channels, :, h : h + height, v : v + width]
                    made[g * outputs : (g + 1) * outputs, :, 0, i, j] = np.einsum(
                        "nodhw,ncdhw->oc", own, seen
                    )
        return made


@pytest.mark.parametrize("count", [1, 2])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("numbers", CASES, ids=str)
def test_products_beside_guard_pages(numbers: Any, dtype: str, count: int) -> None:
    """The result, with and without a bias, and the gradient of the weight."""
    case, before = Case(numbers, dtype), threads.get_num_threads()
    threads.set_num_threads(count)
    try:
        for at_end in (False, True):
            x, w, grad, bias = (
                guarded_copy(each, at_end) for each in (case.x, case.w, case.grad, case.bias)
            )
            y, dw = guarded(case.y.shape, dtype, at_end), guarded(case.w.shape, dtype, at_end)
            assert winograd.convolve(y, x, w, bias, case.sliding, case.groups)
            _assert_near(y, case.y + case.bias.reshape(-1, 1, 1, 1), dtype)
            assert winograd.convolve(y, x, w, None, case.sliding, case.groups)
            _assert_near(y, case.y, dtype)
            assert winograd.correlate(dw, grad, x, case.sliding, case.groups)
            _assert_near(dw, case.grad_weight(), dtype)
    finally:
        threads.set_num_threads(before)


def _assert_near(found: np.ndarray, expected: np.ndarray, dtype: str) -> None:
    assert np.abs(found - expected).max() <= TOLERANCES[dtype] * np.abs(expected).max()


@pytest.mark.parametrize("options", [{}, {"padding": 1}, {"dilation": 2, "output_padding": 1}])
@pytest.mark.parametrize("groups", [1, 2])
def test_transposed_convolutions(
    options: Any, groups: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Results that no window reaches, and gradients that reach no tile, too."""
    rng = np.random.default_rng(0)
    shapes = (2, 64 * groups, 20, 18), (64 * groups, 48, 3, 3)
    given = [torch.from_numpy(rng.standard_normal(shape).astype(np.float32)) for shape in shapes]
    found = []
    for is_tiled in (True, False):
        if not is_tiled:
            monkeypatch.setattr(winograd, "suits", lambda *args: False)
            choice.forget()
        x, w = (each.clone().requires_grad_() for each in given)
        y = torch.nn.functional.conv_transpose2d(x, w, groups=groups, **options)
        y.square().sum().backward()
        found.append([each.detach().numpy() for each in (y, x.grad, w.grad)])
    choice.forget()
    for tiled, plain in zip(*found, strict=True):
        np.testing.assert_allclose(tiled, plain, 1e-5, 2e-6 * np.abs(plain).max())


def test_errors_are_those_of_a_sum_of_products() -> None:
    """Sums of 64 * 9 products in float32: no more than twice the plain algorithm's error."""
    case = Case((4, 64, 64, (28, 28), (1, 1), (1, 1), 1), "float32")
    errors = []
    for algorithm in (winograd, launched):
        y = np.empty(case.y.shape, np.float32)
        algorithm.convolve(y, case.x, case.w, None, case.sliding, 1)
        errors.append(np.sqrt(np.square(y - case.y).mean()))
    assert errors[0] <= 2 * errors[1]


def test_whole_numbers_are_exact() -> None:
    """The halves of the transforms lose nothing."""
    rng = np.random.default_rng(0)
    case = Case(CASES[0], "float32")
    case.x[...], case.w[...] = (
        rng.integers(-9, 10, case.x.shape),
        rng.integers(-9, 10, case.w.shape),
    )
    y, plain = (np.empty(case.y.shape, np.float32) for _ in range(2))
    assert winograd.convolve(y, case.x, case.w, None, case.sliding, 1)
    launched.convolve(plain, case.x, case.w, None, case.sliding, 1)
    assert (y == plain).all()


@pytest.mark.parametrize("value", [np.inf, -np.inf, np.nan, 3e38])
def test_what_is_not_finite_stays_where_it_belongs(value: float) -> None:
    """An infinity in an image, the weight or a gradient reaches the results that see it only."""
    for place in range(2):
        case = Case((2, 32, 48, (16, 16), (1, 1), (1, 1), 1), "float32")
        given = (case.x, case.w)[place]
        given.reshape(-1)[5] = value
        x, w = (torch.from_numpy(each.squeeze(2)) for each in (case.x, case.w))
        x.requires_grad_()
        w.requires_grad_()
        with np.errstate(all="ignore"):
            y = torch.nn.functional.conv2d(x, w, padding=1)
            y.backward(torch.from_numpy(case.grad.squeeze(2)))
            plain, dx, dw = (np.empty(a.shape, a.dtype) for a in (case.grad, case.x, case.w))
            launched.convolve(plain, case.x, case.w, None, case.sliding, 1)
            launched.convolve_transposed(dx, case.grad, case.w, None, case.sliding, 1)
            launched.correlate(dw, case.grad, case.x, case.sliding, 1)
        assert not np.isfinite(plain).all() or value == 3e38
        assert np.isfinite(plain).any()
        for found, expected in ((y, plain), (x.grad, dx), (w.grad, dw)):
            shown = found.detach().numpy().reshape(expected.shape)
            largest = np.abs(expected[np.isfinite(expected)]).max()
            np.testing.assert_allclose(shown, expected, 1e-5, 1e-5 * largest)


def test_it_is_chosen_where_it_pays(monkeypatch: pytest.MonkeyPatch) -> None:
    """Large layers of 3 x 3 with stride 1, all three products; no others."""
    called: list[str] = []
    for name in ("convolve", "correlate"):
        plain = getattr(winograd, name)
        monkeypatch.setattr(
            winograd, name, lambda *args, n=name, f=plain: called.append(n) or f(*args)
        )
    assert convolution.winograd is winograd
    for size, kernel, options, expected in (
        ((2, 64, 28, 28), 3, {"padding": 1}, ["convolve", "convolve", "correlate"]),
        ((2, 64, 28, 28), 3, {"padding": 2, "dilation": 2}, ["convolve", "convolve", "correlate"]),
        ((2, 64, 28, 28), 3, {"padding": 1, "stride": 2}, []),
        ((2, 64, 28, 28), 5, {"padding": 2}, []),
        ((2, 64, 6, 6), 3, {"padding": 1}, []),
        ((2, 16, 28, 28), 3, {"padding": 1}, []),
    ):
        called.clear()
        x = torch.ones(*size, requires_grad=True)
        w = torch.ones(64, size[1], kernel, kernel, requires_grad=True)
        torch.nn.functional.conv2d(x, w, **options).sum().backward()
        assert sorted(called) == expected
