"""Gradients of products of reflections: of none, beside PyTorch's, and how far they are rounded."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch

reference = pytest.importorskip("torch")

NO_REFLECTIONS = [
    *(((3, 2), (0,)), ((3, 0), (0,)), ((0, 0), (0,)), ((2, 3, 2), (2, 0))),
    *(((2, 3, 0), (2, 0)), ((0, 3, 2), (0, 2)), ((0, 3, 2), (0, 0))),
]


def gradients(library: Any, sizes: Any, create_graph: bool) -> list[Any]:
    """The sizes of the gradients of reflectors and scales, None where there is none."""
    x, tau = (library.ones(each, requires_grad=True) for each in sizes)
    result = library.linalg.householder_product(x, tau)
    found = library.autograd.grad(
        result.sum(), (x, tau), create_graph=create_graph, allow_unused=True
    )
    return [each if each is None else tuple(each.shape) for each in found]


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("sizes", NO_REFLECTIONS)
def test_gradients_of_no_reflections(sizes: Any, create_graph: bool) -> None:
    assert gradients(torch, sizes, create_graph) == gradients(reference, sizes, create_graph)


@pytest.mark.parametrize("create_graph", [False, True])
@pytest.mark.parametrize("wanted", ["reflectors", "scales", "other"])
def test_a_product_with_no_reflections_has_gradients(wanted: str, create_graph: bool) -> None:
    """Also where the only operand that asks for one has no influence."""
    operands = {"reflectors": (3, 0), "scales": (0,), "other": (3, 2)}
    tensors = {name: torch.ones(size) for name, size in operands.items()}
    tensors[wanted].requires_grad_()
    result = torch.ormqr(*tensors.values()).sum()
    (grad,) = torch.autograd.grad(
        result, [tensors[wanted]], create_graph=create_graph, allow_unused=True
    )
    assert grad is None if wanted != "other" else grad.tolist() == [[1.0, 1.0]] * 3


def test_complex_gradients_are_those_of_the_product_written_out() -> None:
    """In 32 bits to a few roundings, of any reflectors: nothing is divided by what may cancel."""
    rng = np.random.default_rng(0)
    operands = [rng.uniform(-9, 9, (2, *sizes)) for sizes in ((5, 4), (4,))]
    x, tau = (torch.tensor(parts[0] + 1j * parts[1]) for parts in operands)

    def written_out(x: Any, tau: Any) -> Any:
        product = one = torch.eye(5, dtype=x.dtype)
        for i in reversed(range(4)):
            v = x.tril(-1)[:, i : i + 1] + one[:, i : i + 1]
            product = product - tau[i] * v @ (v.mH @ product)
        return product[:, :4]

    found = []
    for function, dtype in (
        (torch.linalg.householder_product, torch.complex64),
        (written_out, torch.complex128),
    ):
        leaves = [each.to(dtype).requires_grad_() for each in (x, tau)]
        found.append(torch.autograd.grad(function(*leaves).abs().sum(), leaves))
    for ours, exact in zip(*found, strict=True):
        assert (ours - exact).abs().max() < 2e-6 * exact.abs().max()
