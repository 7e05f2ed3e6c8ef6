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
from torchgen_out._runtime.autograd.gradcheck import gradcheck

TEXTS = {
    "rows_sum": ("x", "out[i] = sum(j: x[i, j])"),
    "columns_mean": ("x", "out[j] = mean(i: x[i, j])"),
    "whole_mean": ("x", "out[] = mean(...: x[...])"),
}
"""Operators: their tensors, and their text."""
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
        samples = ", ".join(f'{each}: "randn(3, 3)"' for each in tensors)
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
