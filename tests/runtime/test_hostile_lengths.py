"""Lengths, offsets, window numbers, indices that callers give: read within bounds, or refused.

What is read lies beside pages that end the process when touched.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.guarded_memory import guarded_copy

F = torch.nn.functional
FAR = 2**62


def beside(values: Any, dtype: str = "float32") -> Any:
    """A tensor whose last element precedes such a page."""
    return torch.from_numpy(guarded_copy(np.array(values, dtype), at_end=True))


def bags(indices: Any, offsets: Any, mode: str, **options: Any) -> Any:
    rows = beside(np.arange(15.0).reshape(5, 3))
    return F.embedding_bag(
        beside(indices, "int64"), rows, beside(offsets, "int64"), mode=mode, **options
    )


def packed(sizes: list[int]) -> Any:
    return torch.nn.utils.rnn.PackedSequence(torch.ones(5, 4), torch.tensor(sizes))


REFUSED: dict[str, Callable[[], Any]] = {
    **{
        f"embedding_bag {mode} {at} {offsets}": partial(bags, [0, at, 2, 3], offsets, mode)
        for mode in ("sum", "max")
        for at, offsets in (
            (-1, [0, 2]), (5, [0, 2]), (FAR, [0, 2]), (1, [1, 2]), (1, [0, 5]), (1, [0, -3]),
            (1, [0, 3, 1]), (1, [0, FAR, 3]),
        )
    },
    "bags that end behind": lambda: bags([0, 1], [0, 3], "sum", include_last_offset=True),
    "bags without an end": lambda: bags([], [], "max", include_last_offset=True),
    "pool of a far window": lambda: F.max_pool1d(torch.ones(1, 1, 4), FAR, 1, FAR // 2),
    "pool of far steps": lambda: F.avg_pool2d(torch.ones(1, 4, 4), 2, 2**31),
    "pool of no number": lambda: F.max_pool1d(torch.ones(1, 1, 4), 2.0),
    "unpool behind": lambda: F.max_unpool1d(torch.ones(1, 1, 2), beside([[[0, 4]]], "int64"), 2),
    "unpool before": lambda: F.max_unpool1d(torch.ones(1, 1, 2), beside([[[0, -1]]], "int64"), 2),
    "unpool 32 bits": lambda: F.max_unpool1d(torch.ones(1, 1, 2), beside([[[0, 1]]], "int32"), 2),
    "pack too long": lambda: torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 2, 4), [FAR, 1]),
    "pack nothing": lambda: torch.nn.utils.rnn.pack_padded_sequence(torch.ones(3, 0, 4), []),
    **{
        f"unpack {sizes}": lambda s=sizes: torch.nn.utils.rnn.pad_packed_sequence(packed(s))
        for sizes in ([], [3, -1, 3], [1, 2, 2], [FAR, 1], [2, 2, 2])
    },
    "run packed": lambda: torch.nn.LSTM(4, 5)(packed([1, 2, 2])),
    "states of other numbers": lambda: torch.nn.GRU(4, 5)(
        torch.ones(1, 1, 4), torch.ones(1, 1, 5).double()
    ),
    "cell of too many rows": lambda: torch.rnn_tanh_cell(
        torch.ones(2, 4), torch.ones(2, 5), torch.ones(7, 4), torch.ones(7, 5)
    ),
    "cell states differ": lambda: torch.lstm_cell(
        torch.ones(2, 4), (torch.ones(2, 5), torch.ones(1, 5)), torch.ones(20, 4), torch.ones(20, 5)
    ),
    "heads that do not divide": lambda: F.scaled_dot_product_attention(
        torch.ones(1, 3, 4, 5), *[torch.ones(1, 2, 4, 5)] * 2, enable_gqa=True
    ),
    "attention under a larger mask": lambda: F.scaled_dot_product_attention(
        *[torch.ones(1, 2, 4, 5)] * 3, torch.ones(1, 1, 1, 4, 4)
    ),
    "draws from no classes": lambda: torch.multinomial(torch.ones(2, 0), 1, True),
    "attention of vectors": lambda: F.scaled_dot_product_attention(*[torch.ones(5)] * 3),
    "gradient of rows that are not": lambda: torch.ops.aten.embedding_dense_backward(
        torch.ones(2, 3), beside([0, 9], "int64"), 5, -1, False
    ),
}  # fmt: skip


@pytest.mark.parametrize("call", REFUSED.values(), ids=REFUSED)
def test_refused(call: Callable[[], Any]) -> None:
    with pytest.raises((RuntimeError, ValueError, TypeError, IndexError)) as caught:
        call()
    assert "subscriptable" not in str(caught.value) and "cannot reshape" not in str(caught.value)


def test_padding_of_targets_may_be_any_number() -> None:
    """Labels behind a sequence's length are not looked at."""
    probabilities = torch.ones(5, 2, 4).log_softmax(2)
    lengths = [5, 5], [1, 2]
    padded = F.ctc_loss(probabilities, beside([[1, -1], [3, 1]], "int64"), *lengths)
    assert torch.equal(padded, F.ctc_loss(probabilities, beside([1, 3, 1], "int64"), *lengths))


@pytest.mark.parametrize("mode", ["sum", "mean", "max"])
def test_last_offset_ends_the_last_bag(mode: str) -> None:
    found = bags([0, 1, 2, 3], [0, 2, 3], mode, include_last_offset=True)
    assert torch.equal(found, bags([0, 1, 2], [0, 2], mode))


@pytest.mark.parametrize("padding", ["border", "reflection"])
def test_points_that_are_no_number(padding: str) -> None:
    """They lie at the first element, as the documentation of PyTorch says."""
    image = beside(np.arange(1.0, 5.0).reshape(1, 1, 2, 2)).requires_grad_()
    points = beside(np.full((1, 1, 1, 2), np.nan)).requires_grad_()
    found = F.grid_sample(image, points, padding_mode=padding, align_corners=False)
    found.backward()
    assert found.item() == 1.0
    assert image.grad.flatten().tolist() == [1.0, 0.0, 0.0, 0.0]
    assert points.grad.flatten().tolist() == [0.0, 0.0]


def test_circular_padding_wraps_what_negative_numbers_leave() -> None:
    found = F.pad(torch.arange(4.0).reshape(1, 4), (-1, 2), mode="circular")
    assert found.tolist() == [[1.0, 2.0, 3.0, 1.0, 2.0]]


def test_what_no_element_has() -> None:
    """Rows, heads, batches and vectors of size 0."""
    row = F.embedding(torch.tensor([0]), torch.ones(3, 0).requires_grad_())
    row.sum().backward()
    assert torch.nn.LSTM(4, 5)(torch.ones(3, 0, 4))[0].shape == (3, 0, 5)
    found = F.scaled_dot_product_attention(
        torch.ones(1, 1, 2, 0), torch.ones(1, 1, 3, 0), torch.arange(3.0).reshape(1, 1, 3, 1)
    )
    assert found.flatten().tolist() == [1.0, 1.0]


def _nll_loss(x: Any) -> tuple[Any, Any]:
    target = beside([0, 1, 2], "int64")
    return F.nll_loss(x, target), target


def _cross_entropy(x: Any) -> tuple[Any, Any]:
    target = beside([0, 1, 2], "int64")
    return F.cross_entropy(x, target), target


def _max_pool2d(x: Any) -> tuple[Any, Any]:
    values, indices = F.max_pool2d(x[None], 2, return_indices=True)
    return values.sum(), indices


@pytest.mark.parametrize("make", [_nll_loss, _cross_entropy, _max_pool2d])
def test_indices_written_behind_autograds_back(make: Callable[[Any], tuple[Any, Any]]) -> None:
    """Memory that NumPy shares has no versions: the backward pass writes nowhere else."""
    x = beside(np.arange(12.0).reshape(3, 4)).requires_grad_()
    loss, indices = make(x)
    indices.numpy()[...] = FAR
    loss.backward()
    assert x.grad.count_nonzero() == 0
