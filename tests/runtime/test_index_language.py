"""Operators written as statements over named indices: values, gradients of two orders, refusals."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from codegen.__main__ import main
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck

RESEARCH = Path(__file__).parents[2] / "examples" / "research_ops"
F64 = torch.float64


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The package of examples/research_ops."""
    folder = tmp_path_factory.mktemp("index")
    files = ["--functions", str(RESEARCH / "research_ops.yaml")]
    files += ["--derivatives", str(RESEARCH / "research_derivatives.yaml")]
    assert main([*files, "--out", str(folder / "research_ops")]) == 0
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("research_ops")
    finally:
        sys.path.remove(str(folder))


def _rms_norm_gated(x: Any, gate: Any, weight: Any) -> Any:
    rows = 1 / np.sqrt((x * x).mean(-1, keepdims=True) + 1e-6)
    return x * rows * weight / (1 + np.exp(-gate))


def _local_correlation(a: Any, b: Any, radius: int) -> Any:
    wide = np.pad(b, [(0, 0)] * 3 + [(radius, radius)])
    n = a.shape[-1]
    found = [(a * wide[..., d : d + n]).sum(1) for d in range(2 * radius + 1)]
    return np.stack(found, 1)


def _segment_softmax(score: Any, segment: Any, segments: int) -> Any:
    e = np.exp(score)
    return e / np.bincount(segment, e, segments)[segment]


def _selective_scan(x: Any, delta: Any, a: Any, b: Any, c: Any) -> Any:
    h = np.zeros((*x.shape[:-2], *a.shape))
    found = []
    for t in range(x.shape[-2]):
        step = delta[..., t, :, None]
        h = np.exp(step * a) * h + step * b[..., t, None, :] * x[..., t, :, None]
        found.append((h * c[..., t, None, :]).sum(-1))
    return np.stack(found, -2)


def _causal_conv1d(x: Any, weight: Any, dilation: int) -> Any:
    size, taps = x.shape[-1], weight.shape[-1]
    wide = np.pad(x, [(0, 0)] * 2 + [((taps - 1) * dilation, 0)])
    start = (taps - 1) * dilation
    return sum(
        np.einsum("bct,oc->bot", wide[..., start - k * dilation :][..., :size], weight[..., k])
        for k in range(taps)
    )


def _rotary_embedding(x: Any, angle: Any) -> Any:
    turned = np.stack([-x[..., 1::2], x[..., ::2]], -1).reshape(x.shape)
    wide = np.repeat(angle, 2, -1)
    return x * np.cos(wide) + turned * np.sin(wide)


def _total_variation(image: Any) -> Any:
    down, right = np.diff(image, axis=-2), np.diff(image, axis=-1)
    return np.abs(down).sum((-1, -2)) + np.abs(right).sum((-1, -2))


def _bilateral_filter(image: Any, radius: int) -> Any:
    wide, (rows, columns) = np.pad(image, radius, "edge"), image.shape
    total = result = 0
    for i in range(2 * radius + 1):
        for j in range(2 * radius + 1):
            other = wide[i : i + rows, j : j + columns]
            apart = ((i - radius) ** 2 + (j - radius) ** 2) / 8 + (other - image) ** 2 / 0.5
            total = total + np.exp(-apart)
            result = result + np.exp(-apart) * other
    return result / total


def _focal_loss(score: Any, target: Any) -> Any:
    log_p = score[np.arange(len(target)), target] - np.log(np.exp(score).sum(1))
    return (-((1 - np.exp(log_p)) ** 2) * log_p).mean()


REFERENCES = {
    "rms_norm_gated": _rms_norm_gated,
    "local_correlation": _local_correlation,
    "segment_softmax": _segment_softmax,
    "selective_scan": _selective_scan,
    "causal_conv1d": _causal_conv1d,
    "rotary_embedding": _rotary_embedding,
    "total_variation": _total_variation,
    "bilateral_filter": _bilateral_filter,
    "focal_loss": _focal_loss,
}
TWICE = ("rms_norm_gated", "local_correlation", "segment_softmax", "selective_scan")
"""Those whose second derivatives are checked: a fold, a window, a scatter and a scan."""


def _randn(*shape: int) -> Any:
    return torch.randn(*shape, dtype=F64)


def _calls() -> dict[str, tuple[Any, ...]]:
    """Arguments, some of them strided, broadcast, or of an empty segment."""
    torch.manual_seed(0)
    segment, target = torch.tensor([0, 1, 1, 0, 3, 1]), torch.tensor([0, 2, 1, 1])
    scanned = [_randn(2, 3, 2) for _ in range(4)]
    return {
        "rms_norm_gated": (_randn(2, 3, 4).transpose(0, 1), _randn(2, 4), _randn(4)),
        "local_correlation": (_randn(2, 3, 2, 5), _randn(2, 3, 2, 10)[..., ::2], 2),
        "segment_softmax": (_randn(6), segment, 4),
        "selective_scan": (*scanned[:2], _randn(2, 2), *scanned[2:]),
        "causal_conv1d": (_randn(2, 2, 6), _randn(3, 2, 2), 2),
        "rotary_embedding": (_randn(2, 3, 4), _randn(3, 2)),
        "total_variation": (_randn(2, 3, 4),),
        "bilateral_filter": (_randn(3, 4), 1),
        "focal_loss": (_randn(4, 3), target),
    }


@pytest.mark.parametrize("name", REFERENCES)
def test_values_and_gradients(ops: Any, name: str) -> None:
    """Values are a reference's, gradients those of finite differences, of strided operands, too."""
    args = _calls()[name]
    operator = getattr(ops, name)
    plain = [a.numpy() if isinstance(a, torch.Tensor) else a for a in args]
    np.testing.assert_allclose(operator(*args).numpy(), REFERENCES[name](*plain), rtol=1e-12)
    inputs = [
        a.detach().requires_grad_() if isinstance(a, torch.Tensor) and a.dtype == F64 else a
        for a in args
    ]
    assert gradcheck(operator, inputs)
    if name in TWICE:
        assert gradgradcheck(operator, inputs)


def test_gradients_that_nobody_needs_are_left_out(ops: Any) -> None:
    """Each gradient alone is what it is among all."""
    x, gate, weight = _calls()["rms_norm_gated"]
    inputs = [each.detach().requires_grad_() for each in (x, gate, weight)]
    whole = torch.autograd.grad(ops.rms_norm_gated(*inputs).sum(), inputs)
    for number, each in enumerate(inputs):
        given = [one if one is each else one.detach() for one in inputs]
        (alone,) = torch.autograd.grad(ops.rms_norm_gated(*given).sum(), each)
        np.testing.assert_array_equal(alone.numpy(), whole[number].numpy())


def test_sizes_that_do_not_fit_are_refused(ops: Any) -> None:
    """Before anything is made, with the index and both sizes in the message."""
    x = _randn(2, 3, 4)
    with pytest.raises(RuntimeError, match=r"'j' goes to 4, but size\(weight, -1\) is 5"):
        ops.rms_norm_gated(x, x, _randn(5))
    with pytest.raises(RuntimeError, match="expected at least 2 dims of 'x'"):
        ops.rms_norm_gated(_randn(4), x, _randn(4))
    with pytest.raises(RuntimeError, match="the extent of 'd' is -1"):
        ops.local_correlation(_randn(1, 1, 1, 1), _randn(1, 1, 1, 1), -1)
    with pytest.raises(IndexError, match="an index is out of the range"):
        ops.segment_softmax(_randn(2), torch.tensor([0, 2]), 2)
