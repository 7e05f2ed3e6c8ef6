"""Factories, with NumPy as the reference; `tests/parity` compares them with PyTorch."""

import numpy as np
import pytest

import torchgen_out as torch


def check(tensor, array, dtype):
    assert tensor.dtype is dtype
    assert tensor.shape == array.shape
    assert np.allclose(tensor.tolist(), array.tolist(), atol=1e-6)


def test_constant_values():
    check(torch.zeros(2, 3), np.zeros((2, 3)), torch.float32)
    check(torch.ones((2,), dtype=torch.int8), np.ones(2), torch.int8)
    check(torch.full((2, 2), 1.5), np.full((2, 2), 1.5), torch.float32)
    check(torch.full((), 7), np.array(7), torch.int64)
    check(torch.eye(2, 3), np.eye(2, 3), torch.float32)
    for half in (torch.float16, torch.bfloat16):
        check(torch.full((3,), 1.5, dtype=half), np.full(3, 1.5), half)
    assert torch.empty(4, 0).shape == (4, 0)


def test_ranges():
    check(torch.arange(2, 9, 3), np.arange(2, 9, 3), torch.int64)
    check(torch.arange(1, 0, -0.25), np.arange(1, 0, -0.25), torch.float32)
    check(torch.linspace(-1, 1, 5), np.linspace(-1, 1, 5), torch.float32)
    check(torch.logspace(0, 2, 3), np.logspace(0, 2, 3), torch.float32)
    with pytest.raises(RuntimeError, match="step must be nonzero"):
        torch.arange(0, 1, 0)
    with pytest.raises(RuntimeError, match="inconsistent with step sign"):
        torch.arange(1, 0, 1)


def test_like_keeps_the_order_of_dims():
    x = torch.ones(2, 3, 4).permute(2, 0, 1)
    assert torch.zeros_like(x).stride() == x.stride() == (1, 12, 4)
    assert torch.zeros_like(x, memory_format=torch.contiguous_format).stride() == (6, 3, 1)
    assert x.new_zeros(2).dtype is torch.float32
    assert x.new_full((2,), 3, dtype=torch.int16).dtype is torch.int16


def test_default_dtype_and_device():
    try:
        torch.set_default_dtype(torch.float64)
        assert torch.zeros(1).dtype is torch.float64
        assert torch.tensor(1.5).dtype is torch.float64
        assert torch.tensor(1j).dtype is torch.complex128
    finally:
        torch.set_default_dtype(torch.float32)
    with torch.device("meta"):
        assert torch.zeros(2).is_meta
        assert torch.tensor([1, 2]).is_meta
    assert torch.zeros(2).is_cpu


def test_tensor_copies():
    array = np.arange(3)
    x = torch.tensor(array)
    array[0] = 9
    assert x.tolist() == [0, 1, 2]
    with pytest.warns(UserWarning, match="recommended to use sourceTensor"):
        y = torch.tensor(x)
    y[0] = 5
    assert x[0].item() == 0


@pytest.mark.parametrize(
    ("data", "dtype"),
    [
        (True, "bool"),
        (1, "int64"),
        (1.5, "float32"),
        (1j, "complex64"),
        ([1, 2.5], "float32"),
        ([[True], [2]], "int64"),
        ([], "float32"),
        (np.float64(1), "float64"),
        (np.ones(2, np.int16), "int16"),
    ],
)
def test_inferred_dtype(data, dtype):
    assert torch.tensor(data).dtype.name == dtype


@pytest.mark.parametrize(
    ("data", "error", "phrase"),
    [
        ([[1, 2], [3]], ValueError, r"expected sequence of length 2 at dim 1 \(got 1\)"),
        ([[1, 2], 3], TypeError, "not a sequence"),
        (["a"], ValueError, "too many dimensions 'str'"),
        ("a", TypeError, "invalid data type 'str'"),
        (None, RuntimeError, "Could not infer dtype of NoneType"),
        ([2**63], ValueError, "Overflow"),
    ],
)
def test_refused_data(data, error, phrase):
    with pytest.raises(error, match=phrase):
        torch.tensor(data)


def test_numbers_out_of_range():
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.tensor([300], dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="without overflow"):
        torch.full((2,), 2**40, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="can require gradients"):
        torch.tensor([1], requires_grad=True)


def test_old_types():
    assert torch.FloatTensor([1, 2]).dtype is torch.float32
    assert torch.LongTensor(2, 3).shape == (2, 3)
    assert torch.Tensor([1, 2]).tolist() == [1.0, 2.0]
    assert isinstance(torch.zeros(1), torch.FloatTensor)
    assert not isinstance(torch.zeros(1), torch.IntTensor)
    assert torch.zeros(1).type() == "torch.FloatTensor"
    assert torch.zeros(1).type("torch.IntTensor").dtype is torch.int32


def test_draws_follow_the_seed():
    torch.manual_seed(1)
    first = torch.rand(5), torch.randn(5), torch.randint(0, 9, (5,)), torch.randperm(5)
    torch.manual_seed(1)
    second = torch.rand(5), torch.randn(5), torch.randint(0, 9, (5,)), torch.randperm(5)
    for a, b in zip(first, second, strict=True):
        assert a.tolist() == b.tolist()
    assert sorted(first[3].tolist()) == [0, 1, 2, 3, 4]
