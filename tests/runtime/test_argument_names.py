"""Arguments may be called like anything that generated code uses: modules, functions, variables."""

from __future__ import annotations

import builtins
import importlib
import keyword
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import codegen
import torchgen_out as torch
from codegen.__main__ import main
from codegen.formula.primitives import CONSTANTS, PRIMITIVES

TEMPLATES = Path(codegen.__file__).parent / "templates"
KINDS = {
    "pw": "pointwise: {formula}\n  samples: {{self: [-1, 1]}}",
    "fm": "pointwise: {formula}\n  samples: {{self: [-1, 1]}}",
    "cp": 'composite: {formula}\n  samples:\n    - {{self: "randn(3)", {first}: 1}}',
}
"""Prefix of the operators -> how they run: with `auto`, with a formula, as a composite."""
CHUNK = 24
SPECIAL = {"self", "input", "out", "grad", "grads", "grad_input_mask", "result"}
"""Names that mean something in the YAML itself."""


def entry(kind: str, number: int, names: list[str]) -> str:
    """An operator whose arguments have these names: the sum of their multiples."""
    terms = [f"{name} * {i + 2}" for i, name in enumerate(names)]
    how = KINDS[kind].format(formula=" + ".join(["self * self", *terms]), first=names[0])
    dtypes = "" if kind == "cp" else "  dtypes: floating\n  promotion: int_to_float\n"
    arguments = ", ".join(f"Scalar {name}=1" for name in names[1:])
    return (
        f"- func: {kind}{number}(Tensor self, Scalar {names[0]}, {arguments}) -> Tensor\n"
        f"  variants: function, method, inplace, out\n{dtypes}  {how}\n  doc: Do.\n"
    )


def derivative(kind: str, number: int, names: list[str]) -> str:
    """Its derivative; the formula reads all arguments, and adds what is zero."""
    zero = " + ".join(f"0 * {name}" for name in names)
    formula = "auto" if kind == "pw" else f"grad * (2 * self + {zero})"
    return f"- name: {kind}{number}\n  self: {formula}\n"


def write(folder: Path, package: str, names: list[str]) -> list[list[str]]:
    """Generate a package; the names that its operators have."""
    chunks = [names[i : i + CHUNK] for i in range(0, len(names), CHUNK)]
    entries = [(kind, i, chunk) for kind in KINDS for i, chunk in enumerate(chunks)]
    functions, derivatives = folder / f"{package}.yaml", folder / f"{package}_d.yaml"
    functions.write_text("\n".join(entry(*each) for each in entries))
    derivatives.write_text("\n".join(derivative(*e) for e in entries if e[0] != "cp"))
    paths = {"functions": functions, "derivatives": derivatives, "out": folder / package}
    assert main([w for name, path in paths.items() for w in (f"--{name}", str(path))]) == 0
    return chunks


def names_used() -> list[str]:
    """The names of generated code that no operator brings: its templates', formulas', Python's."""
    found = {*PRIMITIVES, *CONSTANTS, "T", "t0", "exp_", "grad_self", "needs_self", "saves_self"}
    found |= {name for name in dir(builtins) if name.islower() and name[0] != "_"}
    templates = "functions", "function_piece", "nodes", "node_piece", "overloads", "gradients"
    for name in (*templates, "functional"):
        text = (TEMPLATES / f"{name}.py.jinja").read_text()
        text = re.sub(r'\{[{%].*?[}%]\}|"[^"\n]*"|#.*', " ", text)
        found |= set(re.findall(r"\b[A-Za-z]\w*", text))
    return sorted(n for n in found - SPECIAL if not keyword.iskeyword(n))


@pytest.fixture(scope="module")
def operators(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, list[list[str]]]]:
    """A package whose arguments have all those names."""
    folder = tmp_path_factory.mktemp("names")
    names = names_used()
    assert {"call", "Tensor", "grad_mode", "below", "exp", "T", "kind_of", "len"} <= set(names)
    chunks = write(folder, "taken_names", names)
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module("taken_names"), chunks
    finally:
        sys.path.remove(str(folder))


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_may_be_an_argument(kind: str, operators: tuple[Any, list[list[str]]]) -> None:
    package, chunks = operators
    for number, names in enumerate(chunks):
        function = getattr(package, f"{kind}{number}")
        x = torch.tensor([1.0, 2.0], dtype=torch.float64).requires_grad_()
        values = [0.5 * (i + 1) for i in range(len(names))]
        total = sum(value * (i + 2) for i, value in enumerate(values))
        named = dict(zip(names, values, strict=True))
        y = function(x, **named)
        assert y.tolist() == pytest.approx([1 + total, 4 + total])
        assert function(x, *values).tolist() == y.tolist()
        assert getattr(x, f"{kind}{number}")(*values[:1], **dict(list(named.items())[1:])).tolist()
        (gradient,) = torch.autograd.grad(y.sum(), x, create_graph=True)
        assert gradient.tolist() == pytest.approx([2, 4])
        assert torch.autograd.grad(gradient.sum(), x)[0].tolist() == pytest.approx([2, 2])
        out = torch.empty(2, dtype=torch.float64)
        assert function(x.detach(), **named, out=out) is out and out.tolist() == y.tolist()
        z = x.clone()
        assert getattr(z, f"{kind}{number}_")(**named) is z and z.tolist() == y.tolist()
        assert torch.autograd.grad(z.sum(), x)[0].tolist() == pytest.approx([2, 4])


@pytest.mark.parametrize("kind", KINDS)
def test_every_name_is_given_to_modes(kind: str, operators: tuple[Any, list[list[str]]]) -> None:
    class Passing(torch.overrides.TorchFunctionMode):
        def __torch_function__(self, func, types, args=(), kwargs=None):
            return func(*args, **(kwargs or {}))

    package, chunks = operators
    for number, names in enumerate(chunks):
        function, x = getattr(package, f"{kind}{number}"), torch.ones(2)
        named = dict.fromkeys(names, 0.5)
        with Passing():
            found = function(x, **named)
        assert torch.equal(found, function(x, **named))
