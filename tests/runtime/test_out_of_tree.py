"""A package outside the tree: its operators are equal to the library's in every way."""

from __future__ import annotations

import importlib
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import torchgen_out as torch
from codegen.__main__ import main
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck
from torchgen_out._runtime.dispatch import ops

FUNCTIONS = """\
- func: oot_mish(Tensor self, Scalar beta=1) -> Tensor
  variants: function, method, inplace, out
  aliases: oot_mish_alias
  dtypes: floating
  promotion: int_to_float
  pointwise: self * tanh(log1p(exp(self * beta)))
  samples: {self: [-3, 3], beta: [1, 0.5]}
  doc: Apply a smooth activation.

- func: oot_hardish(Tensor self) -> Tensor
  variants: function
  python_module: nn.functional
  dtypes: floating
  pointwise: 0 if self <= 0 else self * self
  samples: {self: [-3, 3]}
  doc: Square what is positive.

- func: oot_square_sum(Tensor self, int[1]? dim=None, bool keepdim=False) -> Tensor
  variants: function, method, out
  dtypes: floating
  reduction:
    identity: 0
    reduce: acc + self * self
    combine: acc + other
  samples: {self: [-3, 3]}
  doc: Sum the squares.

- func: oot_blend.Tensor(Tensor self, Tensor other, Tensor weight) -> Tensor
  composite: self + (other - self) * weight
  samples: {self: [-3, 3]}
  doc: Interpolate with a weight per element.

- func: oot_blend.Scalar(Tensor self, Tensor other, float weight) -> Tensor
  composite: bodies.blend
  samples: {self: [-3, 3]}
  doc: Interpolate with one weight.

- func: oot_row_norms(Tensor self, float eps=0.0) -> Tensor
  variants: function, method
  dtypes: floating
  dispatch: {CPU: kernels.row_norms}
  meta: shapes.row_norms
  samples:
    - {self: "randn(3, 4)"}
    - {self: "randn(3)", raises: IndexError}
  doc: Take the Euclidean norm of each row.

- func: oot_extremes(Tensor self) -> (Tensor low, Tensor high)
  variants: function, method
  dtypes: real
  dispatch: {CPU: kernels.extremes}
  meta: shapes.extremes
  samples:
    - {self: "distinct(3, 4)"}
  doc: Return the smallest and the largest element.

- func: oot_every_second(Tensor(a) self) -> Tensor(a)
  variants: function, method
  view: geometry.every_second
  samples:
    - {self: "randn(5)"}
  doc: Take every second element.
"""

CASE = """\
- func: oot_mv(Tensor self, Tensor vec) -> Tensor
  variants: function
  dtypes: numeric
  case_of: _product(None, self, vec, beta=0, alpha=1)
  meta: matmul.mv
  samples:
    - {self: "randn(3, 4)", vec: "randn(4)"}
  doc: Multiply a matrix by a vector.
"""

DERIVATIVES = """\
- name: oot_mish
  self: auto
  result: auto_element_wise

- name: oot_hardish
  self: auto

- name: oot_square_sum
  self: square_sum_backward(grad, self, dim, keepdim)

- name: oot_row_norms
  self: row_norms_backward(grad, self, result)
  # what is not differentiated says so

- name: oot_extremes
  output_differentiability: [False, False]
  self: non_differentiable

- name: oot_every_second
  self: every_second_backward(grad, self.shape)
"""

IMPLEMENTATIONS = {
    "__init__.py": "",
    "bodies.py": '''\
"""Composite bodies."""


def blend(self, other, weight):
    return self + (other - self) * weight
''',
    "kernels.py": '''\
"""Kernels."""

import numpy as np


def row_norms(out, self, eps):
    np.sqrt((self * self).sum(-1) + eps, out=out)


def extremes(low, high, self):
    low[...] = self.min()
    high[...] = self.max()
''',
    "shapes.py": '''\
"""Shape functions."""


def row_norms(self, eps):
    if self.ndim != 2:
        raise IndexError(f"oot_row_norms: expected a matrix, got {self.ndim} dims")
    return self.shape[:1], self.dtype


def extremes(self):
    return ((), self.dtype), ((), self.dtype)
''',
    "geometry.py": '''\
"""Views."""


def every_second(self):
    (size,), (stride,) = self._sizes, self._strides
    return ((size + 1) // 2,), (2 * stride,), self._offset
''',
    "formulas.py": '''\
"""Functions for derivative formulas."""


def square_sum_backward(grad, self, dim, keepdim):
    if dim is not None and not keepdim:
        grad = grad.unsqueeze(dim[0] if isinstance(dim, (tuple, list)) else dim)
    return 2 * self * grad


def row_norms_backward(grad, self, result):
    return self * (grad / result).unsqueeze(1)


def every_second_backward(grad, shape):
    full = grad.new_zeros(shape)
    full.oot_every_second().copy_(grad)
    return full
''',
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The inputs of the package."""
    folder = tmp_path_factory.mktemp("project")
    (folder / "ops.yaml").write_text(FUNCTIONS)
    (folder / "derivatives.yaml").write_text(DERIVATIVES)
    (folder / "oot_parts").mkdir()
    for name, text in IMPLEMENTATIONS.items():
        (folder / "oot_parts" / name).write_text(text)
    return folder


def options(folder: Path) -> list[str]:
    pairs = {
        "functions": "ops.yaml",
        "derivatives": "derivatives.yaml",
        "out": "oot_ops",
        "implementations": "oot_parts",
    }
    return [word for name, path in pairs.items() for word in (f"--{name}", str(folder / path))]


@pytest.fixture(scope="module")
def package(folder: Path) -> Iterator[Any]:
    """The generated package, imported."""
    assert main(options(folder)) == 0
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("oot_ops")
    finally:
        sys.path.remove(str(folder))


def leaf(*sizes: int) -> Any:
    torch.manual_seed(0)
    return torch.randn(*sizes, dtype=torch.float64).requires_grad_(True)


def test_functions_methods_and_variants(package: Any) -> None:
    x = torch.tensor([-1.0, 0.0, 2.0])
    expected = x * (1 + x.exp()).log().tanh()
    assert torch.allclose(package.oot_mish(x), expected)
    assert torch.allclose(x.oot_mish(), expected)
    assert torch.allclose(package.oot_mish_alias(x), expected)
    assert torch.allclose(ops.oot_mish(x), expected)
    out = torch.empty(3)
    assert package.oot_mish(x, out=out) is out
    assert torch.allclose(out, expected)
    assert x.oot_mish_() is x
    assert torch.allclose(x, expected)
    assert package.oot_mish(torch.tensor([1, 2])).dtype is torch.float32


def test_functions_are_where_the_entry_says(package: Any) -> None:
    assert package.nn.functional.oot_hardish(torch.tensor([-1.0, 3.0])).tolist() == [0.0, 9.0]
    assert not hasattr(package, "oot_hardish")


@pytest.mark.parametrize("keepdim", [False, True])
@pytest.mark.parametrize("dim", [None, 0, -1])
def test_reduction(package: Any, dim: int | None, keepdim: bool) -> None:
    x = leaf(3, 4)
    found = package.oot_square_sum(x, dim, keepdim)
    assert torch.allclose(found, (x * x).sum(dim, keepdim))
    assert gradcheck(lambda x: package.oot_square_sum(x, dim, keepdim), (x,))


def test_gradients(package: Any) -> None:
    for function, x in (
        (package.oot_mish, leaf(3, 4)),
        (lambda x: package.oot_mish(x, 0.5), leaf(4, 3).t()),
        (package.oot_row_norms, leaf(3, 4)),
        (package.oot_every_second, leaf(5)),
    ):
        assert gradcheck(function, (x,))
        assert gradgradcheck(function, (x,))


def test_nodes_have_names(package: Any) -> None:
    assert package.oot_mish(leaf(2)).grad_fn.name() == "OotMishBackward0"


def test_families(package: Any) -> None:
    x, y = torch.zeros(2), torch.ones(2)
    assert package.oot_blend(x, y, 0.25).tolist() == [0.25, 0.25]
    assert x.oot_blend(y, torch.tensor([0.0, 1.0])).tolist() == [0.0, 1.0]
    with pytest.raises(TypeError, match="oot_blend"):
        package.oot_blend(x, y, "half")


def test_hand_written_kernels(package: Any) -> None:
    assert package.oot_row_norms(torch.tensor([[3.0, 4.0]])).tolist() == [5.0]
    low, high = package.oot_extremes(torch.tensor([3, 1, 2]))
    assert (low.item(), high.item()) == (1, 3)
    assert package.oot_extremes(torch.ones(2)).high.item() == 1.0
    with pytest.raises(IndexError, match="expected a matrix"):
        package.oot_row_norms(torch.ones(2))


def test_views_share_memory(package: Any) -> None:
    x = torch.zeros(5)
    package.oot_every_second(x).add_(1)
    assert x.tolist() == [1, 0, 1, 0, 1]


def test_documentation_and_stubs(package: Any, folder: Path) -> None:
    assert "oot_mish" in (folder / "oot_ops/reference/torch.md").read_text()
    assert "def oot_mish" in (folder / "oot_ops/tensor_methods.pyi").read_text()


def test_generating_again_changes_nothing(package: Any, folder: Path) -> None:
    before = {path: path.stat().st_mtime_ns for path in (folder / "oot_ops").rglob("*.py")}
    assert main(options(folder)) == 0
    assert main([*options(folder), "--check"]) == 0
    assert {p: p.stat().st_mtime_ns for p in (folder / "oot_ops").rglob("*.py")} == before


def test_a_change_of_own_formulas_counts(package: Any, folder: Path) -> None:
    formulas = folder / "oot_parts" / "formulas.py"
    text = formulas.read_text()
    try:
        formulas.write_text(text.replace("def row_norms_backward", "def other_name"))
        assert main(options(folder)) == 1
    finally:
        formulas.write_text(text)


def test_imported_first_by_a_fresh_process(package: Any, folder: Path) -> None:
    program = "import oot_ops; import torchgen_out as t; print(t.ones(2).oot_mish().shape)"
    path = f"{folder}:{Path(torch.__file__).parents[1]}"
    found = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": path, "HOME": str(folder)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert (found.stdout.strip(), found.stderr) == ("torch.Size([2])", "")


@pytest.mark.parametrize(
    ("old", "new", "told"),
    [
        ("oot_mish(", "add(", "'add' is the base package's"),
        ("oot_mish_alias", "exp", "the name 'exp' is taken by 'exp'"),
        ("  aliases:", "  operators: __add__\n  aliases:", "__add__ is taken by 'add.Tensor'"),
    ],
)
def test_names_of_the_library_are_taken(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], old: str, new: str, told: str
) -> None:
    functions, derivatives = tmp_path / "clash.yaml", tmp_path / "clash_derivatives.yaml"
    functions.write_text(FUNCTIONS.partition("\n\n")[0].replace(old, new))
    derivatives.write_text(DERIVATIVES.partition("\n\n")[0].replace(old.strip("("), new.strip("(")))
    out = tmp_path / "clash"
    words = ["--functions", functions, "--derivatives", derivatives, "--out", out]
    assert main([str(word) for word in words]) == 1
    assert told in capsys.readouterr().err
    assert not out.exists()


def test_a_case_is_of_an_operator_of_the_library(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Its kernel is the library's; a name that is nearly one of the library's is told."""
    functions, derivatives = tmp_path / "cases.yaml", tmp_path / "derivatives.yaml"
    derivatives.write_text("- name: oot_mv\n  self: grad.outer(vec)\n  vec: self.t().mv(grad)\n")
    words = ["--functions", functions, "--derivatives", derivatives, "--out", tmp_path / "oot_case"]
    functions.write_text(CASE.replace("_product", "_produkt"))
    assert main([str(word) for word in words]) == 1
    assert "did you mean '_product'?" in capsys.readouterr().err
    functions.write_text(CASE)
    assert main([str(word) for word in words]) == 0
    monkeypatch.syspath_prepend(str(tmp_path))
    oot_mv = importlib.import_module("oot_case").oot_mv
    a, x = leaf(3, 4), leaf(4)
    assert torch.equal(oot_mv(a, x), torch.mv(a, x))
    assert gradcheck(oot_mv, (a, x))


def test_a_folder_of_something_else_is_refused(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    arguments = options(folder)
    arguments[arguments.index("--out") + 1] = str(folder / "oot_parts")
    before = (folder / "oot_parts" / "__init__.py").read_text()
    assert main(arguments) == 1
    assert "holds what is not generated" in capsys.readouterr().err
    assert (folder / "oot_parts" / "__init__.py").read_text() == before


def test_options_belong_together() -> None:
    with pytest.raises(SystemExit):
        main(["--out", "somewhere"])
    with pytest.raises(SystemExit):
        main(["--functions", "somewhere.yaml"])
