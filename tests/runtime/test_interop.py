"""Python numbers, NumPy, DLPack, pickle and copy, without another tensor library."""

import copy
import pickle

import numpy as np
import pytest

import torchgen_out as torch


def test_numbers():
    x = torch.tensor([2.5])
    assert (x.item(), float(x), int(x), bool(x)) == (2.5, 2.5, 2, True)
    assert complex(torch.tensor(1 + 2j)) == 1 + 2j
    assert ["a", "b"][torch.tensor(1)] == "b"
    assert torch.tensor([1.5], dtype=torch.bfloat16).item() == 1.5
    with pytest.raises(RuntimeError, match="2 elements cannot be converted to Scalar"):
        torch.ones(2).item()
    with pytest.raises(RuntimeError, match="more than one value is ambiguous"):
        bool(torch.ones(2))
    with pytest.raises(ValueError, match="only one element"):
        float(torch.ones(2))
    with pytest.raises(TypeError, match="only integer tensors"):
        torch.tensor(1.5).__index__()
    with pytest.raises(RuntimeError, match="meta"):
        torch.empty((), device="meta").item()


def test_numpy_shares_memory():
    array = np.arange(6.0).reshape(2, 3)
    x = torch.from_numpy(array)
    x[0, 0] = 9.0
    assert array[0, 0] == 9.0
    assert np.shares_memory(x.numpy(), array)
    assert torch.from_numpy(array.T).stride() == (1, 3)
    assert torch.from_numpy(array[:, ::2]).tolist() == array[:, ::2].tolist()
    half = torch.ones(2, dtype=torch.float16).numpy()
    assert half.dtype == np.float16


def test_numpy_errors():
    with pytest.raises(RuntimeError, match="requires grad"):
        torch.ones(2, requires_grad=True).numpy()
    assert torch.ones(2, requires_grad=True).numpy(force=True).tolist() == [1.0, 1.0]
    with pytest.raises(TypeError, match="to host memory first"):
        torch.empty(2, device="meta").numpy()
    with pytest.raises(ValueError, match="stride in the given numpy array is negative"):
        torch.from_numpy(np.arange(3)[::-1])
    with pytest.raises(TypeError, match="expected np"):
        torch.from_numpy([1])


@pytest.mark.parametrize(
    "name", ["bool", "uint8", "int64", "float16", "float32", "complex128"], ids=str
)
def test_dlpack_round_trip(name):
    x = torch.arange(6).reshape(2, 3).to(getattr(torch, name))
    y = torch.from_dlpack(x)
    assert y.dtype is x.dtype
    assert y.tolist() == x.tolist()
    y.zero_()
    assert not x.any().item()
    assert np.shares_memory(np.from_dlpack(x), x.numpy())


def test_dlpack_copies_on_demand():
    array = np.arange(3.0)
    torch.from_dlpack(array, copy=True)[0] = 5.0
    assert array[0] == 0.0


def test_pickle_and_copy():
    x = torch.arange(6.0).reshape(2, 3).requires_grad_()
    again = pickle.loads(pickle.dumps(x))
    assert again.requires_grad
    assert again.tolist() == x.tolist()
    a, b = pickle.loads(pickle.dumps((x.detach(), x.detach()[1])))
    a[1, 0] = 7.0
    assert b[0].item() == 7.0
    c, d = copy.deepcopy([x.detach(), x.detach()[0]])
    c[0, 0] = 8.0
    assert d[0].item() == 8.0
    with pytest.raises(RuntimeError, match="graph leaves"):
        copy.deepcopy(x * 2)


def test_conversions():
    x = torch.tensor([1.7, -1.7])
    assert x.int().tolist() == [1, -1]
    assert x.bool().tolist() == [True, True]
    assert x.double().dtype is torch.float64
    assert x.float() is x
    assert x.to(torch.float16).dtype is torch.float16
    assert x.to("cpu", torch.int8).tolist() == [1, -1]
    assert x.type_as(torch.zeros(1, dtype=torch.int64)).dtype is torch.int64
    assert torch.ones(2, 3).t().to(torch.float64).stride() == (1, 3)
    with pytest.warns(UserWarning, match="discards the imaginary part"):
        assert torch.tensor([1 + 2j]).float().tolist() == [1.0]


def test_gradients_pass_conversions():
    x = torch.ones(2, 3, requires_grad=True)
    (x.double() * 2).half().t().clone().sum().backward()
    assert x.grad.dtype is torch.float32
    assert x.grad.tolist() == [[2.0] * 3] * 2


def test_memory():
    x = torch.arange(4.0)
    x.resize_(2, 3)
    assert x.shape == (2, 3)
    assert x.flatten()[:4].tolist() == [0.0, 1.0, 2.0, 3.0]
    y = torch.zeros(0).set_(x)
    assert y.is_set_to(x)
    assert torch.arange(3.0).apply_(lambda v: v * v).tolist() == [0.0, 1.0, 4.0]


def test_capsules_by_their_old_names():
    x = torch.arange(3.0)
    for give in (torch.utils.dlpack.to_dlpack, torch.to_dlpack):
        back = torch.utils.dlpack.from_dlpack(give(x))
        assert back.data_ptr() == x.data_ptr() and back.tolist() == [0.0, 1.0, 2.0]
    assert torch.utils.dlpack.DLDeviceType.kDLCUDA == x.__dlpack_device__()[0] + 1


def test_memory_that_is_constant_is_warned_of() -> None:
    with pytest.warns(UserWarning, match="The given buffer is not writable"):
        assert torch.frombuffer(b"abc", dtype=torch.uint8).tolist() == [97, 98, 99]
    constant = np.arange(3)
    constant.flags.writeable = False
    with pytest.warns(UserWarning, match="The given NumPy array is not writable"):
        torch.from_numpy(constant)
