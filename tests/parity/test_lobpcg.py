"""Eigenvalues found step by step: as `eigh` finds all, and as PyTorch tells what cannot be."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch

theirs = pytest.importorskip("torch")


def symmetric(*sizes: int, dtype: Any = torch.float64) -> Any:
    torch.manual_seed(7)
    matrix = torch.randn(*sizes, sizes[-1], dtype=dtype)
    return matrix @ matrix.mT + torch.eye(sizes[-1], dtype=dtype)


@pytest.mark.parametrize("largest", [True, False])
@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_pairs(largest: bool, dtype: Any) -> None:
    """Ordered from the end that was asked for; vectors are orthonormal."""
    matrix = symmetric(2, 24, dtype=dtype)
    values, vectors = torch.lobpcg(matrix, k=3, largest=largest, tol=1e-5)
    every = torch.linalg.eigvalsh(matrix)
    expected = every.flip(-1)[..., :3] if largest else every[..., :3]
    scale = float(every.max())
    assert torch.allclose(values, expected, rtol=0, atol=1e-4 * scale)
    assert float((matrix @ vectors - vectors * values.unsqueeze(-2)).abs().max()) < 1e-3 * scale
    assert torch.allclose(vectors.mT @ vectors, torch.eye(3, dtype=dtype), atol=1e-4)


def test_against_pytorch() -> None:
    """With another metric, a start, a preconditioner."""
    matrix, metric = symmetric(15), symmetric(15) / 15 + torch.eye(15, dtype=torch.float64)
    start, solver = torch.randn(15, 3, dtype=torch.float64), torch.linalg.inv(matrix)
    given = {"B": metric, "X": start, "iK": solver}
    values, vectors = torch.lobpcg(matrix, k=2, largest=False, tol=1e-10, **given)
    copies = {name: theirs.from_numpy(each.numpy()) for name, each in given.items()}
    other = theirs.lobpcg(theirs.from_numpy(matrix.numpy()), k=2, largest=False, tol=1e-8, **copies)
    assert torch.allclose(values, torch.from_numpy(other[0].numpy()), rtol=1e-6)
    unit = torch.eye(2, dtype=torch.float64)
    assert torch.allclose(vectors.mT @ metric @ vectors, unit, atol=1e-8)


def test_gradient() -> None:
    """As that of `eigh`, for the pairs that were asked for."""
    matrix = symmetric(2, 12).requires_grad_()
    weights, factors = torch.randn(2, 12, 2, dtype=torch.float64), torch.tensor([1.0, -2.0])
    values, vectors = torch.lobpcg(matrix, k=2, tol=1e-13)
    every = torch.linalg.eigh(matrix)
    exact, turned = every[0].flip(-1)[..., :2], every[1].flip(-1)[..., :2]
    signs = (turned * vectors).sum(-2, keepdim=True).sign().detach()
    losses = [(values * factors).sum() + (vectors * weights).sum()]
    losses.append((exact * factors).sum() + (turned * signs * weights).sum())
    got, expected = (torch.autograd.grad(each, matrix)[0] for each in losses)
    assert torch.allclose(got, (expected + expected.mT) / 2, atol=1e-7)


@pytest.mark.parametrize(
    "given", [{"k": 5}, {"k": 0}, {"k": 2, "n": 1}, {"method": "magic"}], ids=str
)
def test_what_cannot_be(given: dict[str, Any]) -> None:
    with pytest.raises(ValueError, match="lobpcg"):
        torch.lobpcg(symmetric(12), **given)
