"""Kernels whose rows, channels or planes are shared by threads: any number gives the same result,
and none of them needs Python's own threads."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
import torchgen_out.nn.functional as F
from runtime.kernels import threads

Tensor = Any


def tensor(*sizes: int, seed: int = 0, grad: bool = False) -> Tensor:
    """Normal numbers."""
    numbers = np.random.default_rng(seed).standard_normal(sizes)
    made = torch.from_numpy(numbers.astype(np.float32))
    return made.requires_grad_() if grad else made


def trained(function: Callable[..., Tensor], *sizes: tuple[int, ...]) -> list[Tensor]:
    """The result of a function of tensors of some sizes, and all gradients."""
    leaves = [tensor(*each, seed=i, grad=True) for i, each in enumerate(sizes)]
    result = function(*leaves)
    result.backward(tensor(*result.shape, seed=9))
    return [result.detach(), *(leaf.grad for leaf in leaves)]


def strided(*sizes: int) -> Tensor:
    """Every second element of a tensor."""
    return tensor(*sizes[:-1], 2 * sizes[-1])[..., ::2]


NORMS: dict[str, Callable[[], list[Tensor]]] = {
    "layer_norm": lambda: trained(
        lambda x, w, b: F.layer_norm(x, (19,), w, b), (103, 19), (19,), (19,)
    ),
    "layer_norm, no bias": lambda: trained(
        lambda x, w: F.layer_norm(x, (3, 19), w), (41, 3, 19), (3, 19)
    ),
    "layer_norm, strided": lambda: [F.layer_norm(strided(41, 19), (19,))],
    "group_norm": lambda: trained(
        lambda x, w, b: F.group_norm(x, 3, w, b), (5, 6, 7, 3), (6,), (6,)
    ),
    "group_norm, strided": lambda: [F.group_norm(strided(5, 6, 11), 2)],
    "batch_norm": lambda: trained(
        lambda x, w, b: F.batch_norm(x, None, None, w, b, True), (5, 7, 11), (7,), (7,)
    ),
    "batch_norm of rows": lambda: trained(
        lambda x, w: F.batch_norm(x, None, None, w, None, True), (41, 13), (13,)
    ),
    "batch_norm, running": lambda: trained(
        lambda x: F.batch_norm(x, tensor(13), tensor(13).abs(), None, None, False), (5, 13, 3)
    ),
    "batch_norm, strided": lambda: [F.batch_norm(strided(5, 7, 11), None, None, training=True)],
    "instance_norm": lambda: trained(F.instance_norm, (3, 5, 23)),
}
COPIES: dict[str, Callable[[], list[Tensor]]] = {
    "clone": lambda: [tensor(3, 50_001).clone()],
    "copy_": lambda: [torch.empty(3, 50_001).copy_(tensor(3, 50_001))],
    "copy_ into a transpose": lambda: [torch.empty(19, 31).t().copy_(tensor(31, 19))],
    "clone, strided": lambda: [strided(31, 19).clone(), tensor(31, 19)[:, 3:].contiguous()],
    "fill_": lambda: [torch.empty(3, 50_001).fill_(2.5), torch.empty(3, 50_001).zero_()],
    "casts": lambda: [
        (100 * tensor(31, 17)).to(own).to(wanted) for own in DTYPES for wanted in DTYPES
    ],
    "casts, strided": lambda: [strided(31, 17).long().t().float(), strided(31, 17).int().bool()],
}
DTYPES = (torch.float32, torch.float64, torch.int64, torch.int32, torch.int16, torch.bool)
CASES = {**NORMS, **COPIES}


@pytest.fixture(autouse=True)
def small_grain(monkeypatch: pytest.MonkeyPatch) -> None:
    """Little work is shared, but never by Python's threads."""

    def refuse(kernel: Any, calls: Any) -> None:
        pytest.fail(f"{kernel} is called by Python's threads")

    monkeypatch.setattr(threads, "GRAIN", 64)
    monkeypatch.setattr(threads, "_run_in_pool", refuse)


@pytest.mark.parametrize("case", CASES.values(), ids=CASES)
def test_any_number_of_threads(
    case: Callable[[], list[Tensor]], monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = None
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "_threads", count)
        found = [each.numpy() for each in case()]
        expected = expected or found
        for one, other in zip(found, expected, strict=True):
            np.testing.assert_allclose(one, other, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("own", ["float32", "float64", "float16"])
@pytest.mark.parametrize("wanted", ["int64", "int32", "bool"])
def test_casts_of_any_length_agree(own: str, wanted: str) -> None:
    """Few elements are cast by NumPy, many by loops: also those that no integer is near to."""
    odd = [np.nan, np.inf, -np.inf, 1e30, -1e30, 3e9, -3e9, 2.0**63, 2.5, -2.5, -0.0, 1e-40]
    few = torch.from_numpy(np.array(odd)).to(getattr(torch, own))
    many = few.repeat(2 * 64)
    cast = many.to(getattr(torch, wanted)).reshape(-1, len(odd))
    assert (cast == few.to(getattr(torch, wanted))).all()
