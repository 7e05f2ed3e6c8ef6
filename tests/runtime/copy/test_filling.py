"""Memory that is filled with a number: lines, columns and blocks of tensors, beside NumPy."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.backends.cpu import conversions

PARTS = {
    "row": np.s_[1, 2],
    "column": np.s_[1, :, 3],
    "plane": np.s_[:, 1],
    "every other": np.s_[0, 1, ::2],
    "block": np.s_[1, 1:3, 2:4],
    "one": np.s_[1, 2, 3],
    "none": np.s_[1, 2, 3:3],
    "of size one": np.s_[1:, :, 3:4],
}
DTYPES = ("float32", "float64", "float16", "int64", "uint8", "bool", "complex64")


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("part", PARTS)
def test_only_what_is_seen_is_filled(part: str, dtype: str) -> None:
    for value in (0, 3, True, 2.0, torch.tensor(5)):
        numbers = np.arange(24).reshape(2, 3, 4).astype(dtype)
        whole = torch.from_numpy(numbers.copy())
        before = whole._version
        seen = whole[PARTS[part]]
        assert seen.fill_(value) is seen
        numbers[PARTS[part]] = int(value)
        assert whole.tolist() == numbers.tolist()
        assert whole._version == before + 1
        seen.zero_()
        numbers[PARTS[part]] = 0
        assert whole.tolist() == numbers.tolist()


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("dtype", [*DTYPES, "complex128", "bfloat16", "uint64"])
def test_large_memory_is_filled_to_its_ends(dtype: str, threads: int) -> None:
    """By a loop of vectors, in parts: all elements, in any order of dims, and none beside them."""
    before, rows = torch.get_num_threads(), 300
    torch.set_num_threads(threads)
    try:
        for order in ((0, 1, 2), (2, 0, 1), (1, 0, 2)):
            x = torch.zeros(rows + 2, 7, 131, dtype=getattr(torch, dtype))
            x[1:-1].permute(order).fill_(1)
            assert (x[1:-1] == 1).all() and (x[[0, -1]] == 0).all()
            x[1:-1, :, 1:].permute(order).zero_()  # not dense
            assert (x[1:-1, :, 1:] == 0).all() and (x[1:-1, :, 0] == 1).all()
    finally:
        torch.set_num_threads(before)


def test_diagonals() -> None:
    for sizes in [(3, 4), (4, 3), (3, 3, 3), (1, 5)]:
        for dims in (range(len(sizes)), range(len(sizes))[::-1]):
            x = torch.zeros(sizes).permute(tuple(dims))
            x.fill_diagonal_(2)
            expected = np.zeros(tuple(x.shape))
            np.fill_diagonal(expected, 2)
            assert x.tolist() == expected.tolist()


@pytest.mark.parametrize("dtype", DTYPES)
def test_ones_and_zeros(dtype: str) -> None:
    wanted = getattr(torch, dtype)
    x = torch.empty(2, 3)
    for made in (torch.ones(2, 3, dtype=wanted), torch.ones_like(x, dtype=wanted)):
        assert made.tolist() == np.ones((2, 3), dtype).tolist() and made.dtype is wanted
    assert torch.full((2,), 1.0, dtype=wanted).tolist() == np.ones(2, dtype).tolist()


def test_quotients_of_numbers() -> None:
    for a, b in [(-3, 2), (7, -2), (2**62, 3), (-(2**63) + 1, -1), (True, 2), (7.5, 2), (-7, 2.0)]:
        found = torch.floor_divide(a, b)
        assert found.item() == a // b
        assert found.dtype is (torch.float32 if isinstance(a // b, float) else torch.int64)
    with pytest.raises(RuntimeError, match="ZeroDivisionError"):
        torch.floor_divide(3, 0)


@pytest.mark.parametrize("name", ["float16", "bfloat16"])
@pytest.mark.parametrize("count", [5, 300, 40_000])
def test_numbers_of_16_bits(count: int, name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """One number is converted, not the tensor: what is there is not read."""
    own = getattr(torch, name)
    x = torch.zeros(count, 3, dtype=own)

    def read(*args: Any) -> Any:
        raise AssertionError("the tensor is converted")

    for value in (0.1, -3, True, float("inf"), float("nan")):
        expected = torch.tensor(value).to(own)
        with monkeypatch.context() as patch:
            patch.setattr(conversions.Operand, "loader", read)
            x.fill_(value)
        assert torch.equal(x.isnan(), expected.isnan().expand(count, 3))
        assert expected.isnan() or torch.equal(x, expected.expand(count, 3))
    x[:, 1].fill_(2)
    x.t()[2].zero_()
    assert x[:, 1].eq(2).all() and x[:, 2].eq(0).all() and x[:, 0].isnan().all()


@pytest.mark.parametrize(
    "value", [2.5, -0.0, float("nan"), float("inf"), 3, True, 2**60 + 2**36 + 1]
)
@pytest.mark.parametrize("size", [10, 8192, 70001])
def test_dense_memory_takes_numbers_as_they_are(size: int, value: Any) -> None:
    """Whole numbers are rounded once: the last one is nearer to the larger of two float32."""
    for dtype in ("float32", "float64", "complex64"):
        x = torch.ones(size, dtype=getattr(torch, dtype))
        expected = np.asarray(value).astype(dtype)
        assert x.fill_(value).numpy().tobytes() == expected.tobytes() * size
        assert x.zero_().numpy().tobytes() == bytes(size * x.element_size())
