"""Every view function gives PyTorch's sizes, strides, offset and errors, on drawn geometries."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor, alias, from_array
from torchgen_out._runtime.ops import views

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402

dims = st.integers(-4, 4)
small = st.integers(-2, 5)
dim_lists = st.lists(dims, max_size=4)


@st.composite
def sources(draw: Any) -> Any:
    """A torch tensor: permuted, sliced or expanded, down to 0-d and to no elements."""
    shape = draw(st.lists(st.integers(0, 4), max_size=4))
    x = torch.arange(float(np.prod(shape, dtype=int))).reshape(shape)
    if x.dim():
        x = x.permute(draw(st.permutations(range(x.dim()))))
        start = draw(st.integers(0, 2))
        x = x[start:] if draw(st.booleans()) else x[..., start::2]
    if draw(st.booleans()):
        x = x.unsqueeze(draw(st.integers(0, x.dim())))
        if draw(st.booleans()):
            x = x.expand([3 if size == 1 else -1 for size in x.shape])
    return x


def record(x: Any) -> Tensor:
    """Our record over a copy of the torch tensor's storage, with its geometry."""
    count = x.untyped_storage().nbytes() // x.element_size()
    flat = torch.as_strided(x, (count,), (1,), 0).clone().numpy()
    ours = alias(from_array(flat), tuple(x.shape), x.stride(), x.storage_offset())
    ours._dense()
    return ours


def outcome(call: Any) -> Any:
    """The geometries that a call gives, or its exception's class and first line."""
    try:
        found = call()
    except (RuntimeError, IndexError) as error:
        return type(error), str(error).splitlines()[0]
    return [
        (tuple(each.shape), each.stride(), each.storage_offset())
        if hasattr(each, "stride")
        else (tuple(each[0]), each[1], each[2])
        for each in (found if _is_pieces(found) else [found])
    ]


def _is_pieces(found: Any) -> bool:
    if isinstance(found, tuple):
        return not found or hasattr(found[0], "stride")
    return isinstance(found, list)


def agree(x: Any, ours: Any, theirs: Any, *args: Any) -> None:
    """Both give the same geometries or raise the same."""
    expected = outcome(lambda: theirs(x, *args))
    got = outcome(lambda: ours(record(x), *args))
    assert got == expected, f"{ours.__name__}{args} of {tuple(x.shape)}, {x.stride()}"


UNARY = [
    (views.alias, torch.ops.aten.alias),
    (views.squeeze, torch.squeeze),
    (views.t, torch.t),
    (views.reverse_dims, lambda x: x.permute(*reversed(range(x.dim()))) if x.dim() else x),
]


@pytest.mark.parametrize(("ours", "theirs"), UNARY, ids=lambda f: getattr(f, "__name__", "torch"))
@given(x=sources())
def test_without_arguments(ours: Any, theirs: Any, x: Any) -> None:
    agree(x, ours, theirs)


@given(sources())
def test_matrix_transpose(x: Any) -> None:
    if x.dim() == 1:
        with pytest.raises(RuntimeError, match="only supported on matrices or batches"):
            views.matrix_transpose(record(x))
    else:
        agree(x, views.matrix_transpose, lambda x: x.mT if x.dim() else x)


@given(sources(), st.lists(st.integers(-1, 6), max_size=4))
def test_view(x: Any, size: list[int]) -> None:
    agree(x, views.view, lambda x, size: x.view(size), size)


@pytest.mark.parametrize(
    "code",
    [
        *("x.view(m.tensor(6))", "x.view(m.tensor(2), 3)", "x.view((m.tensor(2), m.tensor(3)))"),
        *("x.view(m.tensor([6]))", "x.reshape(m.tensor(2, dtype=m.uint8), -1)"),
        *("x.view(m.tensor(6.0))", "x.view(m.tensor([2, 3]))", "x.split([m.tensor(2), 4])[1]"),
    ],
)
def test_sizes_that_are_tensors(code: str) -> None:
    found = []
    for library in (torch, torchgen_out):
        try:
            found.append(eval(code, {"m": library, "x": library.arange(6)}).tolist())
        except TypeError:
            found.append(TypeError)
    assert found[0] == found[1]


@given(sources(), st.data())
def test_view_that_fits(x: Any, data: Any) -> None:
    count, size = x.numel(), []
    while count > 1:
        divisors = [d for d in range(1, count + 1) if count % d == 0]
        size.append(data.draw(st.sampled_from(divisors)))
        count //= size[-1]
    agree(x, views.view, lambda x, size: x.view(size), size)


@given(sources(), dims, st.lists(st.integers(-1, 3), min_size=1, max_size=3))
def test_unflatten(x: Any, dim: int, sizes: list[int]) -> None:
    expected = outcome(lambda: x.unflatten(dim, sizes))
    if isinstance(expected, tuple) and "unexpected error" in expected[1]:
        with pytest.raises(RuntimeError):
            views.unflatten(record(x), dim, sizes)
    elif not (isinstance(expected, tuple) and x.numel() == 0):
        agree(x, views.unflatten, lambda x, *a: x.unflatten(*a), dim, sizes)


@given(sources(), dims, dims)
def test_transpose(x: Any, dim0: int, dim1: int) -> None:
    agree(x, views.transpose, torch.transpose, dim0, dim1)


@given(sources(), dim_lists)
def test_permute_errors(x: Any, order: list[int]) -> None:
    agree(x, views.permute, torch.permute, order)


@given(sources(), st.data())
def test_permute(x: Any, data: Any) -> None:
    agree(x, views.permute, torch.permute, data.draw(st.permutations(range(x.dim()))))


@given(sources(), dims, dims)
def test_movedim(x: Any, source: int, destination: int) -> None:
    agree(x, views.movedim, torch.movedim, source, destination)


@given(sources(), st.data())
def test_movedim_of_lists(x: Any, data: Any) -> None:
    count = data.draw(st.integers(0, 3))
    lists = st.lists(st.integers(-3, 3), min_size=count, max_size=count)
    agree(x, views.movedim, torch.movedim, data.draw(lists), data.draw(lists))


@given(sources(), st.lists(st.integers(-1, 4), max_size=5))
def test_expand_errors(x: Any, size: list[int]) -> None:
    expected = outcome(lambda: x.expand(size))
    overflows = isinstance(expected, tuple) and "overflow" in expected[1]
    if overflows or (not x.dim() and min(size, default=0) < 0):  # no check in PyTorch 2.13
        return
    agree(x, views.expand, lambda x, size: x.expand(size), size)


@given(sources(), st.data())
def test_expand(x: Any, data: Any) -> None:
    leading = data.draw(st.lists(st.integers(0, 3), max_size=2))
    own = [data.draw(st.sampled_from([size, -1] + [4] * (size == 1))) for size in x.shape]
    agree(x, views.expand, lambda x, size: x.expand(size), [*leading, *own])


@given(sources(), st.integers(-5, 5))
def test_unsqueeze(x: Any, dim: int) -> None:
    agree(x, views.unsqueeze, torch.unsqueeze, dim)


@given(sources(), dims)
def test_squeeze_dim(x: Any, dim: int) -> None:
    agree(x, views.squeeze_dim, torch.squeeze, dim)


@given(sources(), dim_lists)
def test_squeeze_dims(x: Any, dim: list[int]) -> None:
    agree(x, views.squeeze_dims, torch.squeeze, dim)


@given(sources(), dims, st.integers(-5, 5))
def test_select(x: Any, dim: int, index: int) -> None:
    agree(x, views.select, torch.select, dim, index)


bounds = st.none() | st.integers(-6, 6)


@given(sources(), dims, bounds, bounds, st.integers(0, 3))
def test_slice(x: Any, dim: int, start: Any, end: Any, step: int) -> None:
    agree(x, views.slice, torch.ops.aten.slice, dim, start, end, step)


@given(sources(), dims, st.integers(-5, 5), st.integers(-1, 5))
def test_narrow(x: Any, dim: int, start: int, length: int) -> None:
    agree(x, views.narrow, torch.narrow, dim, start, length)


@given(sources(), dims, st.integers(-1, 4), st.integers(0, 3))
def test_unfold(x: Any, dim: int, size: int, step: int) -> None:
    agree(x, views.unfold, lambda x, *a: x.unfold(*a), dim, size, step)


@given(sources(), st.integers(-4, 4), dims, dims)
def test_diagonal(x: Any, offset: int, dim1: int, dim2: int) -> None:
    agree(x, views.diagonal, torch.diagonal, offset, dim1, dim2)


@given(sources(), small, dims)
def test_split(x: Any, size: int, dim: int) -> None:
    agree(x, views.split, torch.split, size, dim)


@given(sources(), st.lists(st.integers(-1, 4), min_size=1, max_size=3), dims)
def test_split_with_sizes(x: Any, sizes: list[int], dim: int) -> None:
    agree(x, views.split_with_sizes, torch.split, sizes, dim)


@given(sources(), small, dims)
def test_chunk(x: Any, chunks: int, dim: int) -> None:
    agree(x, views.chunk, torch.chunk, chunks, dim)


@given(sources(), dims)
def test_unbind(x: Any, dim: int) -> None:
    agree(x, views.unbind, torch.unbind, dim)


@given(
    sources(),
    st.lists(st.integers(-1, 3), max_size=3),
    st.lists(st.integers(-1, 3), max_size=3),
    st.none() | st.integers(-1, 4),
)
def test_as_strided(x: Any, size: list[int], stride: list[int], offset: Any) -> None:
    if -1 in size:  # PyTorch's message depends on how its size product overflows
        return
    agree(x, views.as_strided, torch.as_strided, size, stride, offset)


@given(sources(), st.sampled_from(["int8", "int16", "int32", "int64", "float64", "complex64"]))
def test_view_dtype(x: Any, name: str) -> None:
    ours, theirs = dtypes.by_name(name), getattr(torch, name)
    expected = outcome(lambda: x.view(theirs))
    got = outcome(lambda: views.view_dtype(record(x), ours))
    assert got == expected


@given(sources(), st.booleans())
def test_complex_and_real(x: Any, double: bool) -> None:
    z = x.to(torch.complex128 if double else torch.complex64)
    for case in (x, z, torch.view_as_real(z)):
        agree(case, views.view_as_real, torch.view_as_real)
        if case.numel():  # PyTorch 2.13 skips its checks for a tensor without elements
            agree(case, views.view_as_complex, torch.view_as_complex)
