"""Two seconds that tell whether anything works at all: the pre-commit hook."""

from __future__ import annotations

import subprocess
import sys

import pytest

import torchgen_out as torch


def test_import_compiles_nothing_and_leaves_numba_out() -> None:
    code = "import sys, torchgen_out; assert 'numba' not in sys.modules"
    subprocess.run([sys.executable, "-c", code], check=True)


def test_geometry_and_printing() -> None:
    x = torch.arange(6).view(2, 3)
    assert x.t().shape == (3, 2)
    assert x[1, 1:].tolist() == [4, 5]
    assert repr(torch.tensor([], dtype=torch.int64).view(0, 2)) == (
        "tensor([], size=(0, 2), dtype=torch.int64)"
    )


def test_value_and_gradient() -> None:
    x = torch.tensor([1.0, 2.0, 3.0], requires_grad=True)
    y = (x * x + x).sum()
    y.backward()
    assert y.item() == 20.0
    assert x.grad is not None
    assert x.grad.tolist() == [3.0, 5.0, 7.0]


def test_meta_has_shapes_only() -> None:
    x = torch.empty(4, 1, device="meta")
    y = (x + torch.empty(3, device="meta")).sum(0)
    assert y.shape == (3,)
    assert y.device.type == "meta"


def test_mistakes_are_explained() -> None:
    with pytest.raises(RuntimeError, match="must match the size of tensor b"):
        torch.ones(2) + torch.ones(3)
    with pytest.raises(TypeError, match=r"argument '(input|self)'"):
        torch.exp("x")
