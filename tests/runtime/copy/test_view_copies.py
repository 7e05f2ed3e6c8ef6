"""Copies of views, made in one step, beside the view and its clone: whatever tensors lie like."""

from __future__ import annotations

import pytest

import torchgen_out as torch
from torchgen_out._runtime.dispatch.operator import View, operators
from torchgen_out._runtime.ops.composite.view import copies

CALLS = {
    "alias": [()],
    "as_strided": [((2, 2), (2, 1)), ((2, 2), (2, 1), 1), ((3,), (0,))],
    "detach": [()],
    "diagonal": [(), (1, -1, 0)],
    "expand": [((3, 4, 6),), ((2, 4, 6),)],
    "narrow": [(1, 1, 2), (0, 0, 3), (2, 1, 0)],
    "permute": [((1, 0, 2),), ((2, 0, 1),)],
    "select.int": [(0, 1), (2, -1)],
    "slice.Tensor": [(1, 1, 4, 2), (2, 0, 0)],
    "split.Tensor": [(2, 1), (4, 2)],
    "split_with_sizes": [((1, 3), 1), ((0, 6), 2)],
    "squeeze": [()],
    "squeeze.dim": [(0,)],
    "squeeze.dims": [((0, 1),)],
    "transpose.int": [(0, 1), (1, 2)],
    "unbind.int": [(), (2,)],
    "unfold": [(1, 2, 1), (2, 4, 2)],
    "unsqueeze": [(1,), (-1,)],
}
"""Arguments for three sizes: 3, 4 and 6; of `expand` and `squeeze` for others."""
SIZES = {"expand": (1, 4, 6), "squeeze": (1, 4, 1), "squeeze.dim": (1, 4, 6)}
DTYPES = (torch.float32, torch.bfloat16, torch.int64, torch.bool, torch.complex64, torch.complex128)


def _laid_out(sizes, dtype, scale):
    """Tensors of such sizes: dense, dense inside others, with gaps, permuted, repeated."""
    first, *rest = sizes
    sizes = (first, *rest[:-1], rest[-1] * scale)
    whole = torch.arange(3 * torch.Size(sizes).numel() * 2).reshape(3, *sizes, 2).to(dtype)
    yield whole[0, ..., 0].clone()
    yield whole[..., 0].clone()[1]
    yield whole[1, ..., 1]
    yield whole[2, ..., 0].permute(2, 1, 0).contiguous().permute(2, 1, 0)
    yield whole[:1, :1, ..., 0].clone()[0].expand(sizes)


def _check(name, x, args, keeps_order=False):
    """A copy beside a clone of the view, when it is planned and when it is remembered."""
    operator = operators[name]
    shown = operator.calls[x._key](x, *args)
    table = (copies._ordered if keeps_order else copies._contiguous)[name]
    wanted = torch.preserve_format if keeps_order else torch.contiguous_format
    for _ in range(2):
        found = table[x._key](x, *args)
        pairs = zip(found, shown, strict=True) if operator.several else [(found, shown)]
        for own, part in pairs:
            expected = part.clone(memory_format=wanted)
            assert torch.equal(own, expected)
            assert own.stride() == expected.stride() and own.dtype is expected.dtype
            assert not own._is_view() and own.storage_offset() == 0
            assert own.untyped_storage().data_ptr() != x.untyped_storage().data_ptr()
            assert own.untyped_storage().nbytes() == expected.untyped_storage().nbytes()


@pytest.mark.parametrize("scale", [1, 60], ids=["few", "many"])
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("name", CALLS)
def test_a_copy_is_the_clone_of_the_view(name, dtype, scale):
    for x in _laid_out(SIZES.get(name, (3, 4, 6)), dtype, scale if name != "expand" else 1):
        for args in CALLS[name]:
            if name == "squeeze" and scale > 1:
                x = x.unsqueeze(0)
            _check(name, x, args if name != "split_with_sizes" or scale == 1 else ((1, 3), 1))


@pytest.mark.parametrize("x", list(_laid_out((3, 4, 6), torch.float32, 1)))
def test_narrow_copy_keeps_the_order_of_dims(x):
    for args in CALLS["narrow"]:
        _check("narrow", x, args, keeps_order=True)


@pytest.mark.parametrize("x", list(_laid_out((3, 4, 6), torch.float32, 1)))
def test_transposed_matrices(x):
    _check("t", x[1], ())
    _check("t", x[:, 1, 1], ())


@pytest.mark.parametrize("dtype", [torch.int32, torch.uint8, torch.float64, torch.float16], ids=str)
@pytest.mark.parametrize("count", [8, 1000])
def test_elements_of_another_size(dtype, count):
    whole = torch.arange(6.0 * count).reshape(3, 2, count)
    for x in (whole[0].clone(), whole[1], whole[:, 1]):
        _check("view.dtype", x, (dtype,))
    for z in (torch.view_as_complex(whole.reshape(3, count, 2)), whole[0] * 1j, (whole * 1j)[1:]):
        _check("view_as_real", z, ())
    _check("view_as_complex", whole.reshape(3, count, 2)[1:], ())
    _check("view_as_complex", whole.reshape(3, count, 2)[:, ::2], ())


def test_a_view_of_more_than_the_tensor_shows():
    whole = torch.arange(12.0)
    for x in (whole[:4].view(2, 2), whole[4:8], whole):
        for size, stride, offset in [((3, 3), (1, 1), 0), ((2, 3), (6, 1), 2), ((5,), (2,), 3)]:
            _check("as_strided", x, (size, stride, offset))
    with pytest.raises(RuntimeError, match="storage"):
        torch.as_strided_copy(whole[:4].clone(), (5,), (1,))


def test_recorded_copies_have_gradients():
    x = torch.arange(12.0).reshape(3, 4).requires_grad_()
    (torch.select_copy(x, 0, 1) * torch.narrow_copy(x, 0, 2, 1)[0]).sum().backward()
    assert x.grad.tolist() == [[0.0] * 4, [8.0, 9.0, 10.0, 11.0], [4.0, 5.0, 6.0, 7.0]]


def test_whoever_watches_calls_sees_the_view_and_the_clone():
    x = torch.arange(12.0).reshape(3, 4)
    torch.t_copy(x)
    with torch.profiler.profile() as seen:
        torch.t_copy(x)
    names = {each.key for each in seen.key_averages()}
    assert any(name.endswith("clone") for name in names), names


def test_every_copy_of_a_view_is_here():
    named = {"t", "view.dtype", "view_as_real", "view_as_complex", *CALLS}
    bodies = [f for f in vars(torch).values() if getattr(f, "__name__", "").endswith("_copy")]
    views = [name for name, each in operators.items() if isinstance(each, View)]
    called = {f"{name.partition('.')[0]}_copy" for name in views} & {f.__name__ for f in bodies}
    assert called <= {f"{name.partition('.')[0]}_copy" for name in named}
