"""Shape arithmetic and `Size`, with NumPy as the reference where it has one."""

import copy
import pickle

import numpy as np
import pytest

from torchgen_out._runtime.core import shape
from torchgen_out._runtime.core.size import Size, make_size


def test_size():
    size = Size([2, 3, 4])
    assert repr(size) == str(size) == "torch.Size([2, 3, 4])"
    assert repr(Size()) == "torch.Size([])"
    assert size.numel() == 24
    assert Size().numel() == 1
    assert size == (2, 3, 4)
    assert hash(size) == hash((2, 3, 4))
    for part in (size[1:], size + (5,), (5,) + size, size * 2, 2 * size, make_size((1,))):  # noqa: RUF005
        assert type(part) is Size
    assert (5,) + size == (5, 2, 3, 4)  # noqa: RUF005
    assert type(size[0]) is int
    assert type(Size([np.int64(2)])[0]) is int


def test_size_copies():
    size = Size([2, 3])
    for same in (pickle.loads(pickle.dumps(size)), copy.deepcopy(size), copy.copy(size)):
        assert type(same) is Size
        assert same == size


def test_size_errors():
    with pytest.raises(TypeError, match=r"item 1 is 'str'"):
        Size([1, "a"])
    with pytest.raises(TypeError, match="item 0 is 'float'"):
        Size([1.5])
    with pytest.raises(TypeError, match="can only concatenate"):
        Size([1]) + [2]  # noqa: RUF005


def test_normalize_dim():
    assert [shape.normalize_dim(dim, 3) for dim in (-3, -1, 0, 2)] == [0, 2, 0, 2]
    assert shape.normalize_dim(-1, 0) == shape.normalize_dim(0, 0) == 0
    for dim, ndim, phrase in ((2, 2, r"range of \[-2, 1\], but got 2"), (1, 0, r"\[-1, 0\]")):
        with pytest.raises(IndexError, match=phrase):
            shape.normalize_dim(dim, ndim)


def test_normalize_dims():
    assert shape.normalize_dims(None, 2) == (0, 1)
    assert shape.normalize_dims((-1, 0), 3) == (2, 0)
    assert shape.normalize_dims(-1, 3) == (2,)
    with pytest.raises(RuntimeError, match="dim 1 appears multiple times"):
        shape.normalize_dims((1, -1), 2)


def test_broadcast_shapes():
    for shapes in [(), ((2, 3),), ((2, 1), (3,)), ((), (4,)), ((0,), (1,)), ((2, 1, 4), (3, 1))]:
        assert shape.broadcast_shapes(*shapes) == np.broadcast_shapes(*shapes)
    phrase = r"tensor a \(3\) must match the size of tensor b \(4\) at non-singleton dimension 1"
    with pytest.raises(RuntimeError, match=phrase):
        shape.broadcast_shapes((2, 3), (4,))


def test_broadcast_strides():
    x = np.zeros((3, 1), np.int8)
    wide = np.broadcast_to(x, (2, 3, 4))
    assert shape.broadcast_strides(x.shape, x.strides, (2, 3, 4)) == wide.strides


def test_contiguous_strides():
    assert shape.contiguous_strides(()) == ()
    assert shape.contiguous_strides((5,)) == (1,)
    assert shape.contiguous_strides((2, 3, 4)) == (12, 4, 1)
    assert shape.contiguous_strides((2, 0, 4)) == (4, 4, 1)


def test_is_contiguous():
    assert shape.is_contiguous((2, 3), (3, 1))
    assert not shape.is_contiguous((2, 3), (1, 2))
    assert shape.is_contiguous((1, 3), (99, 1))
    assert shape.is_contiguous((2, 0), (7, 7))
    assert shape.is_contiguous((), ())


def test_channels_last():
    order = shape.channels_last_strides((2, 3, 4, 5), "channels_last")
    assert order == (60, 1, 15, 3)
    assert shape.channels_last_strides((2, 3, 4), "channels_last") is None
    assert shape.channels_last_strides((1, 2, 3, 4, 5), "channels_last_3d") == (120, 1, 40, 10, 2)
    assert shape.same_order((2, 3, 1, 5), (15, 1, 99, 3), (15, 1, 15, 3))


def test_infer_size():
    assert shape.infer_size((2, -1), 6) == (2, 3)
    assert shape.infer_size((6,), 6) == (6,)
    assert shape.infer_size((-1, 3), 0) == (0, 3)
    for wanted, count, phrase in [
        ((4,), 6, r"shape '\[4\]' is invalid for input of size 6"),
        ((-1, 4), 6, "is invalid for input of size 6"),
        ((-1, -1), 6, "only one dimension can be inferred"),
        ((-2,), 6, "invalid shape dimension -2"),
        ((-1, 0), 0, "is ambiguous"),
        ((-1, 0), 6, "is invalid for input"),
    ]:
        with pytest.raises(RuntimeError, match=phrase):
            shape.infer_size(wanted, count)


def test_view_strides():
    assert shape.view_strides((2, 3), (3, 1), (6,)) == (1,)
    assert shape.view_strides((2, 3), (1, 2), (6,)) is None
    assert shape.view_strides((4, 3), (1, 4), (2, 2, 3)) == (2, 1, 4)
    assert shape.view_strides((), (), (1, 1)) == (1, 1)
    assert shape.view_strides((2, 0), (9, 9), (0,)) == (1,)
    assert shape.view_strides((3, 2), (0, 1), (3, 2, 1)) == (0, 1, 1)
