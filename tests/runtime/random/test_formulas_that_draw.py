"""Formulas over a generator's stream, in a package outside the tree."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from scipy import stats

import torchgen_out as torch
from tests.research_package import generated
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("draws")
    with generated(folder, "draw_kernels", Path(__file__).parent, "draws") as package:
        yield package


def test_a_distribution_of_one_s_own(ops: Any) -> None:
    """A seed decides, whatever the strides; the numbers are distributed as the formula says."""
    one, other = torch.empty(400, 500), torch.empty(500, 400).t()
    for x in (one, other):
        ops.gumbel_(x, 1.0, 2.0, generator=torch.Generator().manual_seed(5))
    assert torch.equal(one, other) and one.isfinite().all()
    assert stats.kstest(one.double().flatten().numpy(), stats.gumbel_r(1, 2).cdf).pvalue > 1e-3
    assert one.gumbel_() is one and one._version == 2
    x = ops.gumbel_(torch.empty(1000, dtype=torch.complex64))
    assert abs(np.corrcoef(x.real.numpy(), x.imag.numpy())[0, 1]) < 0.2


def test_results_have_the_shape_of_all_tensors(ops: Any) -> None:
    """A derivative by hand is of the numbers that were drawn."""
    mean = torch.randn(3, 1, dtype=torch.float64, requires_grad=True)
    std = torch.rand(4, dtype=torch.float64).add(0.5).requires_grad_()

    def seeded(*args: Any) -> Any:
        return ops.noisy(*args, generator=torch.Generator().manual_seed(7))

    assert seeded(mean, std).shape == (3, 4)
    assert gradcheck(seeded, [mean, std]) and gradgradcheck(seeded, [mean, std])
    with pytest.raises(RuntimeError, match="must match the size"):
        ops.noisy(torch.ones(3), torch.ones(4))


def test_fractions_fill_integers_up_to_their_ends(ops: Any) -> None:
    x = torch.full((1000,), 5, dtype=torch.int8)
    ops.spotted_(x, 4)
    assert sorted(set(x.tolist())) == [5, 105, 127]
