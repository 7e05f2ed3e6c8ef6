"""Hand-written functions that entries name must be defined where they are looked for."""

from __future__ import annotations

from pathlib import Path

import pytest

from codegen.check import read_program
from codegen.errors import CodegenError
from codegen.parse import Inputs
from codegen.parse.implementations import Implementations

ENTRY = """\
- func: f(Tensor self) -> Tensor
  variants: function
  {kind}
  samples:
    - {{self: "randn(3)"}}
  doc: Compute something.
"""

KINDS = {
    "composite": "composite: bodies.{name}",
    "kernel": "dispatch: {{CPU: bodies.{name}}}\n  meta: bodies.good",
    "meta": "dispatch: {{CPU: bodies.good}}\n  meta: bodies.{name}",
    "absolute": "composite: parts.bodies:{name}",
}

MODULE = """\
from other import (
    first,
    second as imported,
)

assigned = print


def good(self):
    return self


class Callable:
    def method(self):
        return 1
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "__init__.py").write_text("")
    (tmp_path / "parts" / "bodies.py").write_text(MODULE)
    return tmp_path


def read(folder: Path, kind: str, name: str) -> None:
    text = ENTRY.format(kind=KINDS[kind].format(name=name))
    (folder / "functions.yaml").write_text(text)
    (folder / "derivatives.yaml").write_text("- name: f\n  self: non_differentiable\n")
    read_program(
        Inputs(
            folder / "functions.yaml",
            folder / "derivatives.yaml" if "dispatch" in text else None,
            implementations=Implementations(folder / "parts", "parts"),
            roots=[folder],
        )
    )


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["good", "assigned", "imported", "first", "Callable"])
def test_defined_functions_are_found(folder: Path, kind: str, name: str) -> None:
    read(folder, kind, name)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("name", ["goood", "second", "method"])
def test_missing_functions_are_told(folder: Path, kind: str, name: str) -> None:
    with pytest.raises(CodegenError) as caught:
        read(folder, kind, name)
    (diagnostic,) = caught.value.diagnostics
    assert diagnostic.code == "E324"
    assert f"parts.bodies has no function '{name}'" in diagnostic.message
    line = (folder / "functions.yaml").read_text().split("\n")[diagnostic.where.line - 1]
    assert line[diagnostic.where.column - 1 :].startswith(("bodies.", "parts.bodies:"))
    if name == "goood":
        assert diagnostic.hint == "did you mean 'good'?"


def test_a_missing_module_is_told(folder: Path) -> None:
    (folder / "parts" / "bodies.py").unlink()
    with pytest.raises(CodegenError, match=r"no module parts\.bodies"):
        read(folder, "composite", "good")


def test_packages_elsewhere_are_not_looked_at(folder: Path) -> None:
    (folder / "parts" / "bodies.py").rename(folder / "bodies.py")
    (folder / "parts" / "__init__.py").unlink()
    (folder / "parts").rmdir()
    read(folder, "absolute", "good")
