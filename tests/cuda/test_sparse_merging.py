"""Entries of one place as one on a device, by sorts and searches, beside the CPU's kernels."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.dispatch import ops

pytestmark = pytest.mark.usefixtures("emulated")

SIZES = [(50, 5, 7), (64, 100_000, 70_000), (1, 1, 1), (20, 3, 1), (0, 0, 0)]
"""Entries, lines and others: keys of 32 bits and of more, and few places for many entries."""


def _entries(count: int, lines: int, across: int) -> tuple[Any, Any]:
    drawn = np.random.default_rng(0)
    return tuple(torch.tensor(drawn.integers(0, max(each, 1), count)) for each in (lines, across))


@pytest.mark.parametrize("sizes", SIZES)
@pytest.mark.parametrize("dtype", ["float32", "int32"])
def test_sums_of_values(sizes: tuple[int, int, int], dtype: str) -> None:
    lines, others = _entries(*sizes)
    values = (torch.arange(sizes[0]) - 9).to(getattr(torch, dtype))
    given = lines, others, values
    expected = ops._merge_values(*given, *sizes[1:])
    found = [each.cpu() for each in ops._merge_values(*(x.cuda() for x in given), *sizes[1:])]
    kept = int(expected[2])
    assert int(found[2]) == kept
    assert torch.equal(found[0][:, :kept], expected[0][:, :kept])
    assert torch.equal(found[1][:kept], expected[1][:kept])


@pytest.mark.parametrize("sizes", SIZES)
def test_what_joins_what(sizes: tuple[int, int, int]) -> None:
    lines, others = _entries(*sizes)
    expected = ops._merge(lines, others, *sizes[1:])
    found = [each.cpu() for each in ops._merge(lines.cuda(), others.cuda(), *sizes[1:])]
    kept = int(expected[3])
    assert int(found[3]) == kept
    places, one_of_each, sources, _ = found
    assert torch.equal(places[:, :kept], expected[0][:, :kept])
    ones = one_of_each[:kept]
    assert torch.equal(torch.stack([lines[ones], others[ones]]), places[:, :kept])
    assert torch.equal(places[:, sources], torch.stack([lines, others]))
