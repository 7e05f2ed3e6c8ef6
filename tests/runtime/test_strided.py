"""Copies, folds and pointwise loops over small tensors of any strides, against NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import torchgen_out as torch

DTYPES = ["bool", "uint8", "int16", "float32", "int64", "complex64", "complex128"]


@st.composite
def views(draw: Any) -> tuple[np.ndarray, torch.Tensor]:
    """A view, by NumPy and by the library: cut, stepped, permuted, perhaps expanded."""
    shape = draw(st.lists(st.integers(1, 9), min_size=1, max_size=4))
    array = np.arange(np.prod(shape)).reshape(shape).astype(draw(st.sampled_from(DTYPES)))
    tensor = torch.from_numpy(array)
    cuts = tuple(slice(draw(st.integers(0, n - 1)), None, draw(st.integers(1, 2))) for n in shape)
    order = draw(st.permutations(range(len(shape))))
    array, tensor = array[cuts].transpose(order), tensor[cuts].permute(order)
    if draw(st.booleans()):
        array = np.broadcast_to(array[:1], (3, *array.shape[1:]))
        tensor = tensor[:1].expand(3, *tensor.shape[1:])
    return array, tensor


@settings(max_examples=40)
@given(views())
def test_copies_hold_the_elements(case: tuple[np.ndarray, torch.Tensor]) -> None:
    array, tensor = case
    for copied in (tensor.clone(), tensor.contiguous(), tensor.reshape(-1)):
        np.testing.assert_array_equal(copied.numpy().ravel(), array.ravel())
    target = torch.zeros(tensor.shape[::-1], dtype=tensor.dtype).permute(*range(tensor.ndim)[::-1])
    np.testing.assert_array_equal(target.copy_(tensor).numpy(), array)


@settings(max_examples=40)
@given(views())
def test_fills_write_the_elements_alone(case: tuple[np.ndarray, torch.Tensor]) -> None:
    _, tensor = case
    if 0 in tensor.stride():
        with pytest.raises(RuntimeError):
            tensor.expand(2, *tensor.shape).fill_(1)
        return
    whole = tensor._base if tensor._base is not None else tensor
    version, others = tensor._version, whole.clone().flatten().to(torch.complex128).sum()
    others = others - tensor.to(torch.complex128).sum()
    tensor.fill_(1)
    assert (tensor == 1).all()
    assert tensor._version == version + 1
    total = whole.flatten().to(torch.complex128).sum()
    assert torch.isclose(total, others + tensor.numel())


@settings(max_examples=40)
@given(views(), st.data())
def test_folds_take_the_elements_of_each_result(
    case: tuple[np.ndarray, torch.Tensor], data: st.DataObject
) -> None:
    array, tensor = case
    dims = data.draw(st.lists(st.integers(0, array.ndim - 1), unique=True))
    wanted = array.sum(tuple(dims) if dims else None)
    np.testing.assert_allclose(tensor.sum(dims).numpy(), wanted, rtol=1e-6)


@settings(max_examples=40)
@given(views())
def test_pointwise_loops_go_over_any_strides(case: tuple[np.ndarray, torch.Tensor]) -> None:
    array, tensor = case
    if array.dtype != bool:
        np.testing.assert_array_equal((tensor * tensor).numpy(), array * array)
        np.testing.assert_array_equal(torch.square(tensor).numpy(), np.square(array))
    np.testing.assert_array_equal(torch.where(tensor == 1, tensor, tensor).numpy(), array)


@pytest.mark.parametrize("count", [9, 400])
def test_large_and_small_strided_copies_agree(count: int) -> None:
    array = np.arange(float(count * count)).reshape(count, count)
    part = torch.from_numpy(array)[1:, ::2]
    np.testing.assert_array_equal(part.contiguous().numpy(), array[1:, ::2])


def test_writes_of_one_geometry_are_checked_for_overlap_each_time() -> None:
    apart, joint = torch.arange(4.0), torch.arange(6.0)
    first, second = torch.zeros(6)[1:5], joint[1:5]
    for _ in range(2):
        assert (first[::1].mul_(2) + apart).tolist() == apart.tolist()
        assert torch.ones(3, 4).mul_(apart).tolist() == [apart.tolist()] * 3
        with pytest.raises(RuntimeError, match="some elements of the input tensor and the written"):
            second.add_(joint[:4])
        first.add_(torch.zeros(5)[1:])
