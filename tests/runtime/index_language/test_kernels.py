"""The loops that index texts become: sums as exact as reductions, whatever the threads."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from codegen.__main__ import main
from tests.index_programs import program
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck
from torchgen_out._runtime.kernels.cpu.loops import index_launches

TEXTS = {
    "rows_sum": ("x", "out[i] = sum(j: x[i, j])"),
    "columns_mean": ("x", "out[j] = mean(i: x[i, j])"),
    "whole_mean": ("x", "out[] = mean(...: x[...])"),
    "linear_relu": ("x, w, b", "out[..., o] = relu(sum(k: x[..., k] * w[o, k]) + b[o])"),
    "turned_products": ("x, y", "out[b, i, j] = sum(k: x[b, k, i] * y[b, j, k]) / size(x, 1)"),
    "weighted_rows": ("x, v", "out[i, d] = sum(j: exp(x[i, j]) * v[j, d])"),
    "softmax_of_columns": (
        "x",
        "e[b, i, j] = exp(x[b, i, j] - max(k: x[b, k, j]))\n"
        "    out[b, i, j] = e[b, i, j] / sum(k: e[b, k, j])",
    ),
    "strided_taps": (
        "x, w",
        "out[o, t : size(x, -1) // 2] = sum(c, k: x[c, 2 * t + k - 1 else 0] * w[o, c, k])",
    ),
    "scattered_exp": (
        "x, y",
        "out[s : 4] = sum(i where int(y[i]) == s: exp(x[i]) * sin(x[i]))",
    ),
    "turned_halves": (
        "x",
        "out[i : size(x, -1)] = x[(i + size(x, -1) // 2) % size(i)] ** 2 * exp(x[i % size(i)])"
        " * (1 if i >= size(x, -1) // 2 else -1)",
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
SAMPLES = {
    "rows_sum": {"x": "3, 3"},
    "columns_mean": {"x": "3, 3"},
    "by_pairs": {"x": "3, 3"},
    "linear_relu": {"x": "2, 4", "w": "4, 4"},
    "turned_products": {"x": "2, 3, 4", "y": "2, 4, 3"},
    "weighted_rows": {"x": "2, 3", "v": "3, 2"},
    "softmax_of_columns": {"x": "2, 3, 4"},
    "strided_taps": {"x": "2, 6", "w": "2, 2, 3"},
}
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
def files(tmp_path_factory: pytest.TempPathFactory) -> list[str]:
    """The files of `TEXTS`, as the generator takes them."""
    folder = tmp_path_factory.mktemp("kernels")
    entries, derivatives = "", ""
    for name, (names, text) in TEXTS.items():
        tensors = names.split(", ")
        arguments = ", ".join(f"Tensor {each}" for each in tensors)
        sizes = SAMPLES.get(name, {})
        samples = ", ".join(f'{each}: "randn({sizes.get(each, 4)})"' for each in tensors)
        entries += ENTRY.format(name=name, arguments=arguments, text=text, samples=samples)
        derivatives += DERIVATIVE.format(name=name, names=names)
    (folder / "functions.yaml").write_text(entries)
    (folder / "derivatives.yaml").write_text(derivatives)
    given = ["--functions", folder / "functions.yaml", "--derivatives", folder / "derivatives.yaml"]
    return [str(each) for each in (*given, "--out", folder / "index_kernels")]


@pytest.fixture(scope="module")
def ops(files: list[str]) -> Iterator[Any]:
    """A package of `TEXTS`."""
    assert main(files) == 0
    folder = str(Path(files[-1]).parent)
    sys.path.insert(0, folder)
    try:
        yield importlib.import_module("index_kernels")
    finally:
        sys.path.remove(folder)


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


@pytest.mark.parametrize("columns", [3, 5000])
def test_columns_are_computed_in_tiles(ops: Any, columns: int) -> None:
    """Tiles of the innermost index are items, beside others; the last one is smaller."""
    plain = np.random.default_rng(0).standard_normal((3, 300, columns))
    top = plain.max(1, keepdims=True)
    e = np.exp(plain - top)
    found = ops.softmax_of_columns(torch.from_numpy(plain)).numpy()
    np.testing.assert_allclose(found, e / e.sum(1, keepdims=True), rtol=1e-14)
    turned = torch.from_numpy(plain.swapaxes(1, 2).copy()).transpose(1, 2)
    np.testing.assert_array_equal(ops.softmax_of_columns(turned).numpy(), found)


def test_gradients_of_folds_over_all_dims_have_their_sizes(ops: Any) -> None:
    """The gradient of a number alone does not tell how far `...` goes."""
    assert gradcheck(ops.whole_mean, [torch.randn(2, 3, dtype=torch.float64, requires_grad=True)])


def _strided_taps(x: Any, w: Any) -> Any:
    wide = torch.nn.functional.pad(x, (1, w.shape[-1]))
    taps = [wide[:, k : k + x.shape[-1] : 2] for k in range(w.shape[-1])]
    return sum(w[..., k] @ taps[k] for k in range(w.shape[-1]))


PRODUCTS = {
    "linear_relu": (
        lambda x, w, b: torch.relu(x @ w.T + b),
        ((2, 9, 17), (19, 17), (19,)),
        3,
    ),
    "turned_products": (
        lambda x, y: x.transpose(1, 2) @ y.transpose(1, 2) / x.shape[1],
        ((3, 17, 18), (3, 19, 17)),
        3,
    ),
    "weighted_rows": (lambda x, v: torch.exp(x) @ v, ((17, 18), (18, 19)), 3),
    "strided_taps": (_strided_taps, ((17, 38), (18, 17, 3)), 2),
}
"""Compositions, sizes of arguments, and how many products a step is."""


@pytest.mark.parametrize("name", PRODUCTS)
def test_contractions_are_products_of_matrices(
    ops: Any, name: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Forward and backward, whatever is around them, as the composition has it; nothing is left to
    loops but what is too small."""
    composition, shapes, count = PRODUCTS[name]
    torch.manual_seed(0)
    args = [torch.randn(*shape, dtype=torch.float64, requires_grad=True) for shape in shapes]
    made = []
    plan = index_launches.plan_contraction
    monkeypatch.setattr(
        index_launches, "plan_contraction", lambda *a: made.append(plan(*a)) or made[-1]
    )
    operator = getattr(ops, name)
    result, wanted = operator(*args), composition(*args)
    np.testing.assert_allclose(result.detach().numpy(), wanted.detach().numpy(), rtol=1e-10)
    grad = torch.randn_like(wanted)
    found = torch.autograd.grad(result, args, grad)
    for one, other in zip(found, torch.autograd.grad(wanted, args, grad), strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-12)
    assert len(made) == count and None not in made
    small = [torch.randn(*(min(n, 3) for n in s), dtype=torch.float64) for s in shapes]
    assert gradcheck(operator, [each.requires_grad_() for each in small])


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
    "turned_halves": (7,),
    "each_third": (8,),
}


@pytest.mark.parametrize("name", GATHERED)
def test_adjoints_of_maps_that_can_be_inverted_are_gathers(ops: Any, name: str) -> None:
    """Quotients, remainders, swaps and turns: right to the second order, and without a scatter."""
    operator = getattr(ops, name)
    x = torch.randn(*GATHERED[name], dtype=torch.float64, requires_grad=True)
    assert gradcheck(operator, [x])
    assert gradgradcheck(operator, [x])
    adjoint = program(f"_{name}_backward", "index_kernels")
    assert not any(launch.scatter for launch in adjoint.on_device)


def test_explain_tells_of_contractions(
    files: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    """The statements of an operator and of its gradients that libraries multiply."""
    assert main(["explain", "linear_relu", *files]) == 0
    section = capsys.readouterr().out.partition("Products of matrices")[2]
    assert "out_sum[..., o] = sum(k: x[..., k] * w[o, k])" in section
    assert "grad_w[o, k] = sum(...:" in section
