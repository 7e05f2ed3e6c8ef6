"""out= of other dtypes and shapes, and over the memory of inputs: what PyTorch does with them.

Operators that are one formula by element are held to it by `op_db`; here are those that follow a
rule of their own. `out` stands for the given tensor, `torch` and `F` for either library.
"""

from __future__ import annotations

import warnings
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402

DTYPES = ("int32", "float64", "complex128")

BY_DTYPE = (
    "torch.sum(x, 1, out=out(3))",
    "torch.sum(i, 1, out=out(3))",
    "torch.sum(x, 1, dtype=torch.float32, out=out(3))",
    "torch.prod(x, 1, out=out(3))",
    "torch.mean(x, 1, out=out(3))",
    "torch.mean(x, 1, dtype=torch.float64, out=out(3))",
    "torch.nansum(i, 1, out=out(3))",
    "torch.nansum(x, 1, out=out(3))",
    "torch.nanmean(x, 1, out=out(3))",
    "torch.cumsum(x, 1, out=out(3, 4))",
    "torch.cumprod(x, 1, out=out(3, 4))",
    "torch.cumsum(x, 1, dtype=torch.float64, out=out(3, 4))",
    "torch.fft.rfft(x, out=out(3, 3))",
    "torch.fft.ifft(x, out=out(3, 4))",
    "torch.fft.ifft(x + 0j, out=out(3, 4))",
    "torch.linalg.ldl_solve(x[:, 1:], i[0, :3].int() + 1, x, out=out(3, 4))",
    "torch.fft.irfft(x, out=out(3, 6))",
    "torch.fft.hfftn(x, out=out(3, 6))",
    "torch.inner(x, x, out=out(3, 3))",
    "torch.inner(x, torch.tensor(2.0), out=out(3, 4))",
    "torch.linalg.matrix_power(x[:, 1:], 0, out=out(3, 3))",
    "torch.linalg.matrix_power(x[:, 1:], 1, out=out(3, 3))",
    "torch.linalg.matrix_power(x[:, 1:], 2, out=out(3, 3))",
    "torch.bernoulli(torch.ones(3), out=out(3))",
    "torch.normal(x, 0.0, out=out(3, 4))",
    "torch.normal(1.0, torch.zeros(3), out=out(3))",
    "torch.cat([x, x], out=out(6, 4))",
    "torch.hstack([x, x], out=out(3, 8))",
    "torch.take(x, i, out=out(3, 4))",
    "torch.unbind_copy(i, out=[out(4), out(4), out(4)])",
    "torch.lu(x[:, 1:] + torch.eye(3), out=(out(3, 3), out(3)))[1]",
)

SHAPED = (
    "torch.linspace(0, 1, 6, out=torch.zeros(2, 3))",
    "torch.linspace(0, 1, 6, out=torch.zeros(3, 2).t())",
    "torch.logspace(0, 1, 6, out=torch.zeros(2, 4))",
    "torch.arange(6, out=torch.zeros(2, 3))",
    "torch.arange(0, 64, 0.5, out=torch.zeros(0, dtype=torch.int64))",
    "torch.arange(0.5, 6.7, 1.5, out=torch.zeros(0, dtype=torch.int64))",
    "torch.arange(0.5, 6.7, 1.5, out=torch.zeros(0, dtype=torch.int32))",
    "torch.arange(0, -4, -0.5, out=torch.zeros(0, dtype=torch.int8))",
    "torch.arange(0, 64, 0, out=torch.zeros(0, dtype=torch.int64))",
    "torch.cumsum(x, 1, out=torch.zeros(2))",
    "torch.inner(x, x, out=torch.zeros(0))",
    "torch.nonzero(x, out=torch.zeros(0, dtype=torch.int64))",
    "torch.nonzero(x, as_tuple=True, out=torch.zeros(0, dtype=torch.int64))",
    "torch.nonzero(x, as_tuple=True, out=(torch.zeros(0, dtype=torch.int64),) * 2)",
    "torch.unbind_copy(x, out=[torch.zeros(0), torch.zeros(4), torch.zeros(4, 1)])",
    "torch.unbind_copy(x, out=[torch.zeros(4)])",
    "torch.unbind_copy(x, out=torch.zeros(4))",
    "torch.split_with_sizes_copy(x, [1, 2], out=[torch.zeros(1, 4), torch.zeros(2, 4)])",
    "torch.lu(x[:, 1:] + torch.eye(3), out=[torch.zeros(0), torch.zeros(0)])[0]",
    "torch.lu(x[:, 1:], out=torch.zeros(3, 3))",
)

OVERLAPPING = (
    "torch.cat([x, x], out=x)",
    "torch.cat([x[1:], x[1:]], out=x[:2])",
    "torch.cat([torch.zeros(0), x], out=x)",
    "torch.stack([x, x], out=x)",
    "torch.gather(x, 1, i, out=x)",
    "torch.gather(i, 1, i % 4, out=i)",
    "torch.gather(k, 0, k[1:], out=k[:1])",
    "torch.gather(x, 1, i % 4, out=torch.zeros(1).expand(3, 4))",
    "torch.take(x, i, out=x)",
    "torch.take(i, i, out=i)",
    "torch.masked_select(x, x > 2, out=x)",
    "torch.masked_select(x, x > 2, out=torch.zeros(1).expand(9))",
    "torch.index_select(x, 0, k, out=x)",
    "torch.index_select(x, 1, k[:2], out=torch.zeros(4).expand(2, 4))",
    "torch.kthvalue(x, 1, out=(x[0, :3], torch.zeros(3, dtype=torch.int64)))",
    "torch.topk(x, 4, out=(x, torch.zeros(3, 4, dtype=torch.int64)))",
    "torch.index_copy(x, 0, k, torch.zeros(3, 4), out=x)",
    "torch.index_add(torch.zeros(3, 4), 0, k, x, out=x)",
    "torch.scatter_add(torch.zeros(3, 4), 0, i % 3, x, out=x)",
    "torch.scatter_add(m[:3], 0, i % 3, x, out=m[1:])",
    "torch.take_along_dim(x, i % 3, 0, out=x)",
    "torch.linalg.cross(x[:, :3], x[:, :3], out=x[:, :3])",
    "torch.cross(n, n, dim=1, out=n)",
    "torch.hstack([x, x[:, :1]], out=x)",
    "torch.nonzero(k[:2], out=k[:1])",
    "torch.nonzero(i, out=i)",
    "(lambda t: torch.nonzero_static(t, size=3, out=t))(torch.arange(6).reshape(3, 2))",
    "torch.cumsum(m[:3], 0, out=m[1:])",
    "torch.cumsum(x, 0, out=x)",
    "torch.max(x, 0, out=(x[0], torch.zeros(4, dtype=torch.int64)))",
    "torch.sort(m[:3], out=(m[1:], torch.zeros(3, 4, dtype=torch.int64)))",
    "torch.div(m[:3], 2.0, rounding_mode='floor', out=m[1:])",
    "torch.div(x, 2.0, rounding_mode='floor', out=x)",
    "torch.gcd(i[:2], i[1:], out=i[1:])",
    "torch.gcd(i[:2], i[:2], out=i[1:])",
    "torch.i0(x, out=x)",
    "torch.i0(m[:3], out=m[1:])",
    "torch.frexp(m[:3], out=(m[1:], torch.zeros(3, 4, dtype=torch.int32)))",
)

PRODUCTS = (
    "torch.mm(x[:, :3], x, out=x)",
    "torch.mm(n, n, out=n)",
    "torch.mm(n.t(), n, out=n)",
    "torch.matmul(n, n, out=n)",
    "torch.addmm(n, n, n, out=n)",
    "torch.mv(n, n[0], out=n[0])",
)

DIMS = (
    "torch.zeros([1] * 64).amax(-1)",
    "torch.zeros([1] * 65).amax()",
    "torch.zeros([1] * 65).amax(-1)",
    "torch.zeros([1] * 65).sum((0, 1))",
    "torch.zeros([1] * 65).var(0)",
    "torch.aminmax(torch.zeros([1] * 65), dim=64)",
    "torch.zeros([1] * 65).flip(0, 1)",
    "torch.zeros([1] * 65).logsumexp(1)",
)


def answer(library: Any, call: str, dtype: str = "float32") -> Any:
    """What a call gives and leaves in its out= tensors, or the class of its error."""
    given: list[Any] = []

    def out(*sizes: int) -> Any:
        given.append(library.ones(sizes, dtype=getattr(library, dtype)))
        return given[-1]

    x = library.arange(12.0).reshape(3, 4)
    i = library.arange(12).reshape(3, 4)
    m, n = library.arange(16.0).reshape(4, 4), library.arange(9.0).reshape(3, 3)
    names = {"torch": library, "x": x, "i": i, "k": library.arange(3), "m": m, "n": n, "out": out}
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            result = eval(call, names)
    except Exception as error:
        return type(error)
    results = result if isinstance(result, (tuple, list)) else (result,)
    return [None if each is None else np.asarray(each) for each in (*results, *given)]


def check_alike(call: str, dtype: str = "float32") -> None:
    """Both libraries give and write the same, or refuse with the same class."""
    theirs, ours = answer(torch, call, dtype), answer(torchgen_out, call, dtype)
    if isinstance(theirs, type) or isinstance(ours, type):
        assert isinstance(ours, type) and isinstance(theirs, type), f"{ours}, expected {theirs}"
        expected = next(each for each in theirs.__mro__ if each.__module__ == "builtins")
        assert issubclass(ours, expected), f"{ours}, expected {theirs}"
        return
    assert [np.asarray(each).dtype for each in ours] == [np.asarray(each).dtype for each in theirs]
    for mine, other in zip(ours, theirs, strict=True):
        np.testing.assert_allclose(mine, other, 1e-6, 1e-6) if mine is not None else None
        assert np.shape(mine) == np.shape(other)


@pytest.mark.parametrize("call", BY_DTYPE)
def test_dtypes_that_out_may_have(call: str) -> None:
    for dtype in DTYPES:
        check_alike(call, dtype)


@pytest.mark.parametrize("call", SHAPED)
def test_out_of_other_shapes(call: str) -> None:
    check_alike(call)


@pytest.mark.parametrize("call", OVERLAPPING)
def test_out_in_the_memory_of_inputs(call: str) -> None:
    check_alike(call)


@pytest.mark.parametrize("call", PRODUCTS)
def test_products_in_the_memory_of_inputs(call: str) -> None:
    """As without out=: what PyTorch leaves there depends on the processor's BLAS."""
    (ours,), (expected,) = answer(torchgen_out, call), answer(torch, call.split(", out=")[0] + ")")
    np.testing.assert_array_equal(ours, expected)


@pytest.mark.parametrize("call", DIMS)
def test_more_dims_than_can_be_chosen_from(call: str) -> None:
    check_alike(call)
