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


REFERENCES = {
    "rms_norm_gated": _rms_norm_gated,
    "local_correlation": _local_correlation,
    "segment_softmax": _segment_softmax,
}


def _randn(*shape: int) -> Any:
    return torch.randn(*shape, dtype=F64)


def _calls() -> dict[str, tuple[Any, ...]]:
    torch.manual_seed(0)
    segment = torch.tensor([0, 1, 1, 0, 3, 1])
    return {
        "rms_norm_gated": (_randn(2, 3, 4).transpose(0, 1), _randn(2, 4), _randn(4)),
        "local_correlation": (_randn(2, 3, 2, 5), _randn(2, 3, 2, 5)[..., ::2].repeat(1, 1, 1, 2)
                              [..., :5], 2),
        "segment_softmax": (_randn(6), segment, 4),
    }  # fmt: skip


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
    assert gradgradcheck(operator, inputs)


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
