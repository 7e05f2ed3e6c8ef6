"""Products of whole numbers, of any strides and batches, and sums that wrap round."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels import threads

DTYPES = ["uint8", "int8", "int16", "int32", "int64"]
SIZES = [(33, 65, 17), (64, 16, 40), (1, 100, 100), (5, 1000, 8), (130, 70, 33)]
SIZES += [(1, 1, 1), (3, 5, 2), (9, 31, 1)]


def numbers(dtype: str, *sizes: int) -> np.ndarray:
    """Numbers of all of a dtype's range."""
    limits = np.iinfo(dtype)
    source = np.random.default_rng(len(sizes))
    return source.integers(limits.min, limits.max, sizes, dtype, endpoint=True)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(("m", "k", "n"), SIZES)
def test_matrices(dtype: str, m: int, k: int, n: int) -> None:
    a, b = numbers(dtype, m, k), numbers(dtype, k, n)
    first, second = torch.tensor(a), torch.tensor(b)
    expected = np.matmul(a, b)
    turned = torch.tensor(np.ascontiguousarray(b.T)).t()
    strided = torch.tensor(numbers(dtype, m, 2 * k))[:, ::2]
    strided.copy_(first)
    for left, right in ((first, second), (first, turned), (strided, second)):
        assert np.array_equal((left @ right).numpy(), expected)


def test_batches_and_what_they_are_added_to() -> None:
    a, b = numbers("int64", 3, 30, 40), numbers("int64", 3, 40, 20)
    c = numbers("int64", 3, 30, 20)
    given = [torch.tensor(each) for each in (c, a, b)]
    for alpha, beta in ((1, 1), (-2, 0), (3, -5)):
        found = torch.baddbmm(*given, beta=beta, alpha=alpha)
        assert np.array_equal(found.numpy(), alpha * np.matmul(a, b) + beta * c)
        found = torch.addmm(*[each[0] for each in given], beta=beta, alpha=alpha)
        assert np.array_equal(found.numpy(), alpha * np.matmul(a[0], b[0]) + beta * c[0])


@pytest.mark.parametrize("dtype", DTYPES)
def test_what_is_repeated_is_added_and_vectors_are_columns(dtype: str) -> None:
    a, b, v, w = (numbers(dtype, *sizes) for sizes in ((9, 7), (7, 5), (7,), (9,)))
    first, second, vector = map(torch.tensor, (a, b, v))
    for sizes in ((9, 5), (5,), (9, 1), (1, 1)):
        c = numbers(dtype, *sizes)
        found = torch.addmm(torch.tensor(c), first, second, beta=3, alpha=2)
        scale, factor = (np.dtype(dtype).type(each) for each in (3, 2))
        assert np.array_equal(found.numpy(), scale * c + factor * (a @ b))
    found = torch.addmv(torch.tensor(w), first, vector, beta=3, alpha=2)
    assert np.array_equal(found.numpy(), scale * w + factor * (a @ v))
    assert torch.dot(vector, first[3]).item() == a[3] @ v
    added = torch.addr(first, torch.tensor(w), vector, beta=3, alpha=2)
    assert np.array_equal(added.numpy(), scale * a + factor * np.outer(w, v))


@pytest.mark.parametrize("dtype", ["int64", "float32", "complex64"])
def test_products_of_nothing_are_zero(dtype: str) -> None:
    a, b = torch.ones(3, 0).to(getattr(torch, dtype)), torch.ones(0, 4).to(getattr(torch, dtype))
    assert torch.equal(a @ b, torch.zeros(3, 4, dtype=a.dtype))
    assert torch.equal(a @ b[:, 0], torch.zeros(3, dtype=a.dtype))
    assert torch.equal(torch.dot(a[0], b[:, 0]), torch.zeros((), dtype=a.dtype))
    batches = a.expand(2, 3, 0), b.expand(2, 0, 4)
    assert torch.equal(torch.bmm(*batches), torch.zeros(2, 3, 4, dtype=a.dtype))
    own = torch.ones(3, 4, dtype=a.dtype)
    assert torch.equal(torch.addbmm(own, *batches), own)


@pytest.mark.parametrize("batch", [1, 2, 5])
def test_on_threads(batch: int, monkeypatch: pytest.MonkeyPatch) -> None:
    """Parts begin and end within a matrix."""
    monkeypatch.setattr(threads, "_threads", 3)
    a, b = numbers("int32", batch, 101, 90), numbers("int32", batch, 90, 65)
    assert np.array_equal((torch.tensor(a) @ torch.tensor(b)).numpy(), np.matmul(a, b))
