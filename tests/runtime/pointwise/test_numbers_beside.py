"""Numbers outside the promotion of dtypes: they become elements, or are refused, as PyTorch's."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch

MASK = torch.tensor([True, False])
TAKEN = [
    ("int8", 2.7, 2), ("int8", -2.7, -2), ("int64", 3 + 0j, 3), ("uint8", True, 1),
    ("float16", 65504, 65504.0), ("float16", float("inf"), float("inf")), ("float32", 3 + 0j, 3.0),
    ("bool", 0.5, True), ("bool", 2 + 1j, True), ("complex64", 1 + 2j, 1 + 2j),
    ("int64", 2**62, 2**62),
]  # fmt: skip
REFUSED = [
    ("int8", 128), ("int8", 300.5), ("uint8", float("nan")), ("int64", float("inf")),
    ("float16", 70000), ("float16", 1e6), ("bfloat16", 1e39), ("float32", 1e39), ("float32", 1j),
    ("int32", 1 + 1j),
]  # fmt: skip


@pytest.mark.parametrize(("dtype", "value", "element"), TAKEN)
def test_what_a_number_becomes(dtype: str, value: Any, element: Any) -> None:
    x = torch.zeros(2, dtype=getattr(torch, dtype))
    filled = x.masked_fill(MASK, value)
    assert filled.dtype is x.dtype
    assert filled.tolist() == [element, 0]
    x.masked_fill_(MASK, value)
    assert x.tolist() == [element, 0]


@pytest.mark.parametrize(("dtype", "value"), REFUSED)
def test_what_is_out_of_range(dtype: str, value: Any) -> None:
    x = torch.zeros(2, dtype=getattr(torch, dtype))
    with pytest.raises(RuntimeError, match="without overflow"):
        x.masked_fill(MASK, value)


def test_tensors_in_the_place_of_numbers() -> None:
    """They have no dims, are converted to whatever the others are, and have a gradient."""
    for own, other in ((torch.float32, torch.float64), (torch.int16, torch.float32)):
        filled = torch.zeros(2, dtype=own).masked_fill(MASK, torch.tensor(2.5, dtype=other))
        assert filled.dtype is own
        assert filled.tolist() == [2.5 if own.is_floating_point else 2, 0]
    with pytest.raises(RuntimeError, match="only supports a 0-dimensional value tensor"):
        torch.zeros(2).masked_fill(MASK, torch.zeros(1))
    with pytest.raises(RuntimeError, match="complex Scalar to non-complex"):
        torch.zeros(2).masked_fill(MASK, torch.tensor(1j))
    value = torch.tensor(3.0, requires_grad=True)
    torch.zeros(3, 2).masked_fill(MASK, value).sum().backward()
    assert value.grad == 3
