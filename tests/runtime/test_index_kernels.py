"""The loops that index texts become: sums as exact as reductions, whatever the threads."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from codegen.__main__ import main
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck

TEXTS = {
    "rows_sum": ("x", "out[i] = sum(j: x[i, j])"),
    "columns_mean": ("x", "out[j] = mean(i: x[i, j])"),
    "whole_mean": ("x", "out[] = mean(...: x[...])"),
    "scattered_exp": (
        "x, y",
        "out[s : 4] = sum(i where int(y[i]) == s: exp(x[i]) * sin(x[i]))",
    ),
    "by_pairs": ("x", "out[i, j : 2 * size(x, -1)] = x[i, j // 2] * x[i, j // 2]"),
    "taken_twice": ("x", "out[i : 2 * size(x, -1)] = x[i // 2] * (i % 2 + 1) * x[i // 2]"),
    "swapped": ("x", "out[i : size(x, -1)] = x[i + 1 - 2 * (i % 2)] ** 2 * (i // 2 + 1)"),
    "swapped_of_odd": ("x", "out[i : size(x, -1)] = x[i + 1 - 2 * (i % 2) else 0] ** 2"),
    "unshuffled": ("x", "out[i : size(x, -1)] = x[i // 2 + size(x, -1) // 2 * (i % 2)] ** 2"),
    "repeated": ("x", "out[i : 3 * size(x, -1)] = x[i % size(x, -1)] ** 2"),
    "repeated_in_part": ("x", "out[i : 2 * size(x, -1) + 1] = x[i % size(x, -1)] ** 2"),
    "rolled": ("x", "out[i : size(x, -1)] = x[wrap(i - 2)] ** 2"),
    "wrapped": ("x", "out[i : size(x, -1) + 4] = x[wrap(i - 2)] ** 2"),
    "each_third": ("x", "out[i : size(x, -1) // 3 + 1] = x[3 * i else 0] ** 2"),
}
"""Operators: their tensors, and their text."""
SAMPLES = dict.fromkeys(("rows_sum", "columns_mean", "by_pairs"), "3, 3")
ENTRY = """
- func: {name}({arguments}) -> Tensor
  variants: function
  dtypes: floating
  index: |
    {text}
  samples:
    - {{{samples}}}
  doc: |
    An operator of this test.
"""
DERIVATIVE = """
- name: {name}
  {names}: auto
"""


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """A package of `TEXTS`."""
    folder = tmp_path_factory.mktemp("kernels")
    entries, derivatives = "", ""
    for name, (names, text) in TEXTS.items():
        tensors = names.split(", ")
        arguments = ", ".join(f"Tensor {each}" for each in tensors)
        samples = ", ".join(f'{each}: "randn({SAMPLES.get(name, 4)})"' for each in tensors)
        text = text.replace("\n", "\n    ")
        entries += ENTRY.format(name=name, arguments=arguments, text=text, samples=samples)
        derivatives += DERIVATIVE.format(name=name, names=names)
    (folder / "functions.yaml").write_text(entries)
    (folder / "derivatives.yaml").write_text(derivatives)
    files = ["--functions", str(folder / "functions.yaml")]
    files += ["--derivatives", str(folder / "derivatives.yaml")]
    assert main([*files, "--out", str(folder / "index_kernels")]) == 0
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("index_kernels")
    finally:
        sys.path.remove(str(folder))


SUMS = {
    "rows_sum": (lambda x: x.reshape(2, -1), lambda x: x.sum(1)),
    "columns_mean": (lambda x: x.reshape(-1, 64), lambda x: x.mean(0)),
    "whole_mean": (lambda x: x.reshape(4, -1), lambda x: x.mean()),
}


@pytest.mark.parametrize("name", SUMS)
def test_sums_of_a_million_elements_are_exact(ops: Any, name: str) -> None:
    """To two units in the last place of float32, where a running sum loses thousands."""
    shape, reference = SUMS[name]
    plain = shape(np.random.default_rng(0).random(1 << 20, np.float32))
    wanted = reference(plain.astype(np.float64))
    operator, x = getattr(ops, name), torch.from_numpy(plain)
    before = torch.get_num_threads()
    found = []
    for count in (1, 2):
        torch.set_num_threads(count)
        try:
            found.append(operator(x).numpy())
        finally:
            torch.set_num_threads(before)
    np.testing.assert_allclose(found[0], wanted, rtol=2**-23)
    np.testing.assert_array_equal(*found)


def test_gradients_of_folds_over_all_dims_have_their_sizes(ops: Any) -> None:
    """The gradient of a number alone does not tell how far `...` goes."""
    assert gradcheck(ops.whole_mean, [torch.randn(2, 3, dtype=torch.float64, requires_grad=True)])


def test_scatters_are_computed_in_blocks_and_added_in_order(ops: Any) -> None:
    """More values than a block holds; those that go nowhere are left out."""
    x = torch.randn(1200, dtype=torch.float64, generator=torch.Generator().manual_seed(0))
    place = torch.arange(1200) * 7 % 6
    found = ops.scattered_exp(x, place.to(torch.float64))
    item = np.exp(x.numpy()) * np.sin(x.numpy())
    wanted = np.bincount(place.numpy(), item, 6)[:4]
    np.testing.assert_allclose(found.numpy(), wanted, rtol=1e-12)


GATHERED = {
    "by_pairs": (4, 5),
    "taken_twice": (3,),
    "swapped": (6,),
    "swapped_of_odd": (5,),
    "unshuffled": (6,),
    "repeated": (3,),
    "repeated_in_part": (3,),
    "rolled": (5,),
    "wrapped": (4,),
    "each_third": (8,),
}


@pytest.mark.parametrize("name", GATHERED)
def test_adjoints_of_maps_that_can_be_inverted_are_gathers(ops: Any, name: str) -> None:
    """Quotients, remainders, swaps and turns: right to the second order, and without a scatter."""
    operator = getattr(ops, name)
    x = torch.randn(*GATHERED[name], dtype=torch.float64, requires_grad=True)
    assert gradcheck(operator, [x])
    assert gradgradcheck(operator, [x])
    kernels = importlib.import_module("index_kernels.kernels.index")
    programs = [getattr(kernels, f"_{name}_backward")]
    assert not any(launch.scatter for each in programs for launch in each.on_device)
