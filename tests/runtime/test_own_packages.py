"""Small packages of one's own: each kind of operator alone, and what is said of wrong parts."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

import torchgen_out as torch
from codegen.__main__ import main

Make = Callable[..., Any]


@pytest.fixture
def make(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Make]:
    """A function that generates and imports a package of the entries and modules given."""
    monkeypatch.syspath_prepend(str(tmp_path))
    made = []

    def made_of(name: str, functions: str, derivatives: str = "", **modules: str) -> Any:
        (tmp_path / "ops.yaml").write_text(functions)
        (tmp_path / "derivatives.yaml").write_text(derivatives)
        parts = tmp_path / f"{name}_parts"
        parts.mkdir()
        for module, text in modules.items():
            (parts / f"{module}.py").write_text(text)
        words = ["--functions", "ops.yaml", "--derivatives", "derivatives.yaml"]
        words += ["--out", name, "--implementations", parts.name]
        monkeypatch.chdir(tmp_path)
        assert main(words) == 0
        made.append(name)
        return importlib.import_module(name)

    yield made_of
    for name in [n for n in sys.modules if n.partition(".")[0].removesuffix("_parts") in made]:
        del sys.modules[name]


ALONE = {
    "pointwise": "pointwise: self + 1\n  samples: {self: [-1, 1]}",
    "composite": 'composite: self + 1\n  samples:\n    - {self: "randn(2)"}',
    "dispatch": "dispatch: {CPU: kernels.alone_dispatch}\n  meta: shapes.alone_dispatch\n"
    '  samples:\n    - {self: "randn(2)"}',
}
KERNELS = "def alone_dispatch(out, self):\n    out[...] = self + 1\n"
SHAPES = "def alone_dispatch(self):\n    return self.shape, self.dtype\n"


@pytest.mark.parametrize("kind", ALONE)
def test_one_operator_is_a_package(make: Make, kind: str) -> None:
    name = f"alone_{kind}"
    entry = f"- func: {name}(Tensor self) -> Tensor\n  {ALONE[kind]}\n  doc: Add one.\n"
    derivative = "" if kind == "composite" else f"- name: {name}\n  self: grad\n"
    package = make(name, entry, derivative, kernels=KERNELS, shapes=SHAPES)
    assert getattr(package, name)(torch.zeros(2)).tolist() == [1, 1]


VIEW = """\
- func: own_windows(Tensor(a) self, int width) -> Tensor(a)
  view: views.own_windows
  samples:
    - {self: "randn(5)", width: 2}
  doc: Overlapping windows.
"""
LISTS = """\
def own_windows(self, width):
    (size,), (stride,) = self.shape, self.stride()
    return [size - width + 1, width], [stride, stride], self.storage_offset()
"""


def test_a_view_may_answer_with_lists(make: Make) -> None:
    package = make(
        "own_views",
        VIEW,
        "- name: own_windows\n  self: non_differentiable\n",
        views=LISTS,
    )
    x = torch.arange(4.0)
    windows = package.own_windows(x, 2)
    assert (windows + 0).tolist() == [[0, 1], [1, 2], [2, 3]]
    windows[:, 0].mul_(10)
    assert x.tolist() == [0, 10, 20, 3]


MISSING = """\
- func: own_affine(Tensor x, Tensor? scale, Tensor? shift, int? power) -> Tensor
  variants: function
  dtypes: floating
  promotion: none
  index: |
    raised[i] = repeat(2, r = x[i]: r * x[i]) if power is not None else x[i]
    out[i] = raised[i] * (scale[i] if scale is not None else 2)
        + (shift[i] if shift is not None else 0)
  meta: shapes.own_affine
  samples:
    - {x: "randn(3)", scale: "None", shift: "randn(3)", power: "None"}
  doc: What is missing, where a shape function sees all arguments.
"""


def test_what_is_missing_makes_programs_of_one_operator(make: Make) -> None:
    """Every set of those that are there, among other arguments; 0 is there, and no False."""
    package = make(
        "own_affine",
        MISSING,
        "- name: own_affine\n"
        "  x: grad * scale if scale is not None else 2 * grad\n"
        "  scale: non_differentiable\n  shift: non_differentiable\n",
        shapes="def own_affine(x, *others):\n    return x.shape, x.dtype\n",
    )
    x, scale, shift = (torch.arange(3.0) + n for n in (1, 5, 9))
    for a in (None, scale):
        for b in (None, shift):
            for power in (None, 0):
                raised = x if power is None else x * x * x
                wanted = raised * (2 if a is None else a) + (0 if b is None else b)
                assert torch.equal(package.own_affine(x, a, b, power), wanted)
    y = package.own_affine(x.requires_grad_(), None, shift, None)
    assert y.grad_fn.name() == "OwnAffineBackward0"


KERNEL = """\
- func: {name}(Tensor self) -> Tensor
  dispatch: {{CPU: kernels.{name}}}
  meta: {meta}
  samples:
    - {{self: "randn(2)"}}
  doc: Wrong.
"""


@pytest.mark.parametrize(
    ("name", "meta", "answer"),
    [
        ("only_sizes", "shapes.only_sizes", "self.shape"),
        ("no_answer", "shapes.no_answer", "None"),
        ("named_dtype", "shapes.named_dtype", "self.shape, 'float32'"),
        ("no_array", "dynamic", "None"),
    ],
)
def test_wrong_answers_are_told(make: Make, name: str, meta: str, answer: str) -> None:
    shapes = f"def {name}(self):\n    return {answer}\n"
    kernels = f"def {name}(*arrays):\n    return None\n"
    entry, derivative = KERNEL.format(name=name, meta=meta), f"- name: {name}\n  self: grad\n"
    package = make(f"wrong_{name}", entry, derivative, kernels=kernels, shapes=shapes)
    wanted = "return its array" if meta == "dynamic" else r"return \(sizes, dtype\)"
    with pytest.raises(TypeError, match=f"{name}: .* must {wanted}, not "):
        getattr(package, name)(torch.zeros(2))


FAULTS = """\
def forgets(out, self):
    out = self * 2


def spoils(out, self):
    out[...] = self
    self[...] = 0


def fails(out, self):
    out[...] = self[5]
"""


def test_verify_tells_what_kernels_do_wrong(make: Make, capfd: pytest.CaptureFixture[str]) -> None:
    names = ("forgets", "spoils", "fails")
    entry = "\n".join(KERNEL.format(name=name, meta="shapes.same") for name in names)
    derivative = "\n".join(f"- name: {name}\n  self: grad\n" for name in names)
    shapes = "def same(self):\n    return self.shape, self.dtype\n"
    make("wrong_kernels", entry, derivative, kernels=FAULTS, shapes=shapes)
    words = "--functions ops.yaml --derivatives derivatives.yaml --out wrong_kernels"
    parts = "--implementations wrong_kernels_parts"
    assert main(["verify", *words.split(), *parts.split()]) == 1
    forgets, spoils, fails = capfd.readouterr().out.split("(wrong_kernels.")[1:]
    assert "✗ written            sample 1: the kernel leaves elements of result 0" in forgets
    assert "✗ values             sample 1: the call wrote into its argument 'self'" in spoils
    assert "IndexError" in fails and "wrong_kernels_parts/kernels.py:11, in fails" in fails
