"""Calls at the corners: the same value, layout or class of error as PyTorch's.

A call is statements and an expression at the end; `torch` and `F` stand for either library,
`packed` for packing padded sequences, `last` for an image with its channels last.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402

LEADING_ONES = """
x = torch.zeros(4, 4); x[torch.ones(4, 4, dtype=torch.bool)] = torch.ones(1, 1); x
x = torch.zeros(4, 4); x[torch.ones(4, 4, dtype=torch.bool)] = torch.ones(1, 16); x
x = torch.zeros(4, 4); x[torch.ones(4, 4, dtype=torch.bool)] = torch.ones(2, 8); x
x = torch.zeros(7, 1, 5); x[torch.tensor([1, 5]), torch.tensor([0, -1]), -5] = torch.ones(1, 1); x
x = torch.zeros(3, 3); x[True, torch.eye(3) > 0] = torch.ones(1, 1, 3); x
x = torch.zeros(3, 3); x[torch.tensor([[0, 1]])] = torch.ones(1, 1, 2, 3); x
x = torch.zeros(3, 3); x[torch.tensor([[0, 1]])] = torch.ones(2, 1, 2, 3); x
x = torch.zeros(3, 3); x[torch.tensor([0, 1]), :1] = torch.ones(1, 1, 1, 1); x
x = torch.zeros(3, 3); x[:2] = torch.ones(1, 1, 1, 3); x
v = torch.ones(1, 1, requires_grad=True); x = torch.zeros(3, 3); x[torch.eye(3) > 0] = v; \
x.sum().backward(); v.grad
"""

JACOBIANS = """
torch.func.jacrev(lambda x: x.argmax())(torch.ones(3))
torch.func.jacrev(lambda x: x * 1j)(torch.ones(3))
torch.func.jacfwd(lambda x: x * 1j)(torch.ones(3))
torch.func.jacrev(lambda x: x[:0])(torch.ones(3))
torch.func.jacfwd(lambda x: x[:0])(torch.ones(3))
"""

OTHER_DTYPES = """
x = torch.zeros(3); x[(True,)] = torch.ones(1, dtype=torch.int64); x
x = torch.zeros(3); x[True] = torch.ones(1, dtype=torch.int64); x
x = torch.zeros(3); x[torch.tensor(True)] = torch.ones((), dtype=torch.int64); x
x = torch.zeros(()); x[torch.tensor(True)] = torch.ones((), dtype=torch.int64); x
x = torch.zeros(1); x[torch.tensor([True])] = torch.ones((), dtype=torch.int64); x
x = torch.zeros(3); x[torch.eye(3)[0] > 0] = torch.ones(1, dtype=torch.int64); x
x = torch.zeros(3); x[torch.eye(3)[0] > 0, True] = torch.ones(1, dtype=torch.int64); x
x = torch.zeros(3, 3); x[torch.eye(3)[0] > 0, torch.eye(3)[0] > 0] = torch.tensor(1); x
x = torch.zeros(3, 3); x[:, torch.eye(3)[0] > 0] = torch.ones(1, 1, dtype=torch.int64); x
x = torch.zeros(3, dtype=torch.uint8); x[torch.eye(3)[0] > 0] = torch.tensor(300); x
x = torch.zeros(3, dtype=torch.uint8); x[torch.eye(3)[0] > 0] = torch.tensor(2.5); x
x = torch.zeros(3); x[torch.eye(3)[0] > 0] = torch.tensor(1j); x
x = torch.zeros(3); x[torch.eye(3)[0] > 0] = torch.tensor(2 + 0j); x
"""

BYTES = """
x = torch.zeros(4, 4); x[torch.ones(4, dtype=torch.uint8)] = 1.0; x
x = torch.zeros(4, 4); x[torch.ones(4, dtype=torch.uint8)] = torch.ones(1, 1); x
x = torch.zeros(4, 4); x[torch.ones(4, dtype=torch.uint8)] = torch.ones(4); x
x = torch.zeros(4, 4); x[0, torch.ones(4, dtype=torch.uint8)] = 1; x
x = torch.zeros(4); x[torch.ones(4, dtype=torch.uint8), True] = 1.0; x
x = torch.zeros(4); x[torch.tensor(2, dtype=torch.uint8)] = 1.0; x
torch.zeros(4).masked_fill_(torch.ones(4, dtype=torch.uint8), 1)
torch.where(torch.ones(4, dtype=torch.uint8), torch.ones(4), 0.0)
"""

GRADIENTS_OF_VIEWS = """
torch.ops.aten.select_backward(torch.ones(1), [5, 3], 0, 1)
torch.ops.aten.select_backward(torch.ones(()), [5, 3], 0, 1)
torch.ops.aten.select_backward(torch.ones(2), [5, 3], 1, 1)
torch.ops.aten.select_backward(torch.ones(3), [5, 3], 0, 7)
torch.ops.aten.select_backward(torch.ones(3), [5, 3], 0, -6)
torch.ops.aten.select_backward(torch.ones(4), [5, 3], 0, 1)
torch.ops.aten.slice_backward(torch.ones(9, 3), [5, 3], 0, 0, 4, 1)
torch.ops.aten.slice_backward(torch.ones(1, 3), [5, 3], 0, 0, 4, 1)
torch.ops.aten.slice_backward(torch.ones(2, 3), [5, 3], 0, 0, 4, 2)
"""

SUMS = """
torch.ones(70, dtype=torch.complex64).sum(dtype=torch.float64)
torch.ones(7, dtype=torch.complex64).sum(0, dtype=torch.int64)
torch.ones(70, dtype=torch.complex64).mean(dtype=torch.float64)
(torch.ones(7, dtype=torch.complex64) * 0).sum(dtype=torch.bool)
"""

PACKS = """
x = torch.arange(18.).reshape(3, 3, 2); packed(x, [3, 2], True, False).data
x = torch.arange(18.).reshape(3, 3, 2); packed(x, [2, 3], False, False).data
x = torch.arange(18.).reshape(3, 3, 2); packed(x, [3, 2], True).data
"""

AMONG_SLICES = """
torch.arange(35.0).view(5, 7).t()[None, torch.tensor([0, 3])]
torch.arange(35.0).view(5, 7).t()[None, [0, 3]]
torch.arange(15.0).view(3, 1, 5).permute(1, 2, 0)[0:9, torch.tensor([0, 1])]
torch.arange(280.0).view(7, 5, 8).permute(2, 0, 1)[-2:-1, [0, 2, 2]]
torch.arange(19932.0).view(151, 132).t()[None, torch.tensor([0, 3])]
torch.arange(8.0).view(1, 4, 2).permute(2, 1, 0)[:, torch.tensor([0, 3, 1]), :]
x = torch.zeros(3, 4); x[:, torch.tensor([0])] = 2**63; x
x = torch.zeros(3); x[0] = 2**63; x
x = torch.zeros(3); x[0] = 2**63 - 1; x
x = torch.zeros(3); x[:1] = -2**64; x
x = torch.arange(12.0).view(3, 4); x[:, torch.tensor([3, 2, 1, 0])] = x; x
x = torch.arange(12.0).view(3, 4); x[torch.tensor([2, 1, 0])] = x; x
x = torch.arange(12.0).view(3, 4); x[torch.tensor([2, 1])] = x[:2]; x
x = torch.arange(12.0).view(3, 4); x[torch.tensor([2, 1])] = x[:2].clone(); x
"""

OUTSIDE_OF_NOTHING = """
x = torch.zeros(4, 2, 1); x[:0, :, torch.tensor([-7])] = 1.0; x
x = torch.zeros(4, 2, 1); x[:0, :, torch.tensor([-7])] = torch.ones(1); x
x = torch.ones(4, 2, 1, requires_grad=True); x[:0, :, torch.tensor([-7])].sum().backward(); x.grad
x = torch.zeros(2, 2, 0); x[torch.tensor([-7]), torch.tensor([-7])]
x = torch.zeros(2, 2, 0); x[torch.tensor([-7]), torch.tensor([-7])] = 1.0; x
x = torch.zeros(2, 0, 2); x[torch.tensor([-7]), :, torch.tensor([-7])]
x = torch.zeros(2, 0, 2); x[torch.tensor([-7]), :, torch.tensor([-7])] = 1.0; x
x = torch.zeros(2, 0); x[:, torch.tensor([-7])] = 1.0; x
x = torch.zeros(2, 0); x[:, torch.tensor([-7])]
torch.zeros(2, 0).index_fill_(0, torch.tensor([7]), 1.0)
torch.zeros(2, 0).index_copy_(0, torch.tensor([7]), torch.ones(1, 0))
torch.zeros(2, 0).index_add_(0, torch.tensor([7]), torch.ones(1, 0))
torch.zeros(3, 0).index_add_(1, torch.tensor([1]), torch.ones(3, 1))
torch.zeros(3, 0).index_add(1, torch.tensor([1]), torch.ones(3, 1))
torch.zeros(0).index_add_(0, torch.tensor([1]), torch.ones(1))
torch.zeros(2, 0).index_reduce_(0, torch.tensor([7]), torch.ones(1, 0), 'mean')
"""

PADS = """
F.pad(torch.arange(12.0).view(4, 3).t(), (-1, -1))
F.pad(torch.arange(12.0).view(4, 3).t(), (-2, -2))
F.pad(torch.arange(12.0).view(4, 3).t(), (0, 0, 0, 0))
F.pad(torch.arange(12.0).view(4, 3).t(), (0, -1, -1, 0))
F.pad(torch.arange(60.0).view(3, 4, 5).permute(2, 0, 1), (-1, -1, -1, 0))
F.pad(torch.arange(60.0).view(3, 4, 5).permute(2, 0, 1), (-1, -3, -1, 0))
F.pad(torch.arange(3.0).view(3, 1).expand(3, 4), (-1, -1))
F.pad(last(torch.arange(32.0).view(1, 2, 4, 4)), (-1, -1, -1, -1))
F.pad(last(torch.arange(32.0).view(1, 2, 4, 4)), (-1, -1, -1, -3))
F.pad(last(torch.arange(32.0).view(1, 2, 4, 4)), (-4, 0, 0, 0))
F.pad(last(torch.arange(64.0).view(2, 2, 4, 4)), (-1, 0, 0, 0, 0, -1))
F.pad(last(torch.arange(64.0).view(2, 2, 4, 4)), (-1, 0, 0, 0, 0, 0, 0, -1))
F.pad(torch.arange(64.0).view(2, 2, 4, 4)[:,:,::2], (-1, 0))
F.pad(torch.arange(64.0).view(2, 2, 4, 4)[:,:,::2], ())
F.pad(torch.ones(2, 2, 8, 1), [-2, 2, 1, -3])
F.pad(torch.ones(3), [-4, 4])
F.pad(torch.ones(3), [4, -4])
F.pad(torch.ones(3), [4, -3])
F.pad(torch.ones(3), [-2, -1])
F.pad(torch.ones(3), [-2, -2])
F.pad(torch.ones(2, 3), (-1, -2), mode='replicate')
F.pad(torch.ones(2, 3), (-1, -2), mode='reflect')
F.pad(torch.ones(2, 3), (-1, -2), mode='circular')
F.pad(torch.ones(0, 2, 3), (-1, -2), mode='replicate')
F.pad(torch.ones(1, 2, 3, 3), (-1, -3, 0, 0), mode='replicate')
F.pad(torch.ones(1, 2, 3, 3), (-1, -2, -1, -2), mode='replicate')
F.pad(torch.ones(1, 2, 3, 3), (-1, -2, -1, -2), mode='reflect')
F.pad(torch.ones(1, 2, 3, 3), (-1, -2, -1, -1), mode='reflect')
F.pad(torch.ones(1, 2, 3, 3), (-1, -1, -1, -2), mode='replicate')
F.pad(torch.ones(1, 2, 3, 3, 3), (-1, -2, -1, -2, -1, -2), mode='replicate')
F.pad(torch.ones(1, 2, 3, 3, 3), (-1, -2, -1, -2, -1, -1), mode='reflect')
"""

POOLS = """
F.avg_pool3d(torch.ones(1, 1, 1, 6, 1), (1, 4, 3), padding=(0, 1, 1))
F.avg_pool3d(torch.ones(1, 1, 1, 6, 1), (1, 7, 1), ceil_mode=True)
F.avg_pool3d(torch.ones(1, 1, 1, 6, 1), (1, 6, 1), ceil_mode=True)
F.lp_pool3d(torch.ones(1, 1, 1, 6, 1), 2, (1, 7, 1), ceil_mode=True)
F.avg_pool2d(torch.ones(1, 1, 6, 1), (4, 3), padding=(1, 1))
"""

EXTREMA = """
torch.zeros(0, 0).amax(1)
torch.zeros(0, 0).amax(1, keepdim=True)
torch.zeros(0, 3, 0).amin((1, 2))
torch.zeros(0, 3, 0).amax(1)
torch.zeros(0, 0, dtype=torch.int64).amin(1)
torch.zeros(0, 3).max(1).values
torch.zeros(0).max()
"""

RESIZED = """
F.interpolate(torch.arange(2.0).view(1, 1, 2), scale_factor=0.3, mode='area')
F.interpolate(torch.arange(2.0).view(1, 1, 2), scale_factor=.3)
F.interpolate(torch.ones(1, 1, 2, 2), size=(0, 2), mode='area')
F.interpolate(torch.ones(1, 1, 2, 2), size=(-1, 2), mode='area')
F.interpolate(torch.ones(1, 1, 8).reshape(1, 1, 2, 2, 2), scale_factor=0.3, mode='area')
"""
GIVEN_RESULTS = """
o = torch.empty(0); torch.sin(torch.ones(3, 4).t(), out=o)
o = torch.empty(5, 5); torch.sin(torch.ones(3, 4).t(), out=o)
o = torch.empty(0); torch.add(last(torch.ones(2, 2, 3, 3)), 1, out=o)
o = torch.empty(0); torch.add(last(torch.ones(2, 2, 3, 3)), torch.ones(3), out=o)
o = torch.empty(0); torch.mul(torch.ones(3, 4).t(), torch.ones(4, 3), out=o)
o = torch.empty(0); torch.mul(torch.ones(4, 3), torch.ones(3, 4).t(), out=o)
o = torch.empty(0); torch.mul(torch.ones(1, 3).expand(4, 3), torch.ones(3, 4).t(), out=o)
o = torch.empty(0, dtype=torch.bool); torch.lt(torch.ones(3, 4).t(), 2, out=o)
o = torch.empty(0); torch.clamp(torch.ones(3, 4).t()[::2], 0, out=o)
o = torch.empty(0); torch.softmax(torch.ones(3, 4).t(), 0, out=o)
o = torch.empty(30)[4:4]; torch.sin(torch.ones(3, 4).t(), out=o); o.as_strided((12,), (1,))
o = torch.zeros(1).expand(3); torch.sin(torch.ones(2), out=o)
o = torch.zeros(1).expand(3); torch.add(torch.ones(2), 1, out=o)
o = torch.zeros(1).expand(3); torch.where(torch.ones(2) > 0, torch.ones(2), torch.ones(2), out=o)
o = torch.zeros(1).expand(3); torch.mm(torch.ones(2, 2), torch.ones(2, 2), out=o)
"""

GROUPS = (
    AMONG_SLICES,
    *(LEADING_ONES, JACOBIANS, OTHER_DTYPES, BYTES, OUTSIDE_OF_NOTHING),
    *(PADS, POOLS, EXTREMA, RESIZED, GIVEN_RESULTS, GRADIENTS_OF_VIEWS, SUMS, PACKS),
)


def lines(*texts: str) -> list[str]:
    return [line for text in texts for line in text.strip().splitlines()]


def answer(library: Any, call: str) -> Any:
    """Dtype, shape, strides and values of the expression, or its error."""
    *before, last = [each.strip() for each in call.split(";")]
    names = {"torch": library, "F": library.nn.functional}
    names["packed"] = library.nn.utils.rnn.pack_padded_sequence
    names["last"] = lambda image: image.to(memory_format=library.channels_last)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            exec(";".join(before), names)
            result = eval(last, names)
        except Exception as error:
            return error
    dtype = str(result.dtype).removeprefix("torch.")
    return dtype, tuple(result.shape), result.stride(), np.asarray(result.tolist())


@pytest.mark.parametrize("call", lines(*GROUPS))
def test_corner_calls(call: str) -> None:
    theirs, ours = answer(torch, call), answer(torchgen_out, call)
    if not isinstance(theirs, Exception):
        assert not isinstance(ours, Exception), f"{ours!r}, expected {theirs}"
        assert ours[:3] == theirs[:3]
        np.testing.assert_allclose(ours[3], theirs[3], 1e-6)
        return
    expected = next(each for each in type(theirs).__mro__ if each.__module__ == "builtins")
    assert isinstance(ours, expected), f"{ours!r}, expected {theirs!r}"
