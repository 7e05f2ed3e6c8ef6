"""No operator's name appears in codegen/: what is special about an operator stands in the YAML.

Formulas and index texts have languages of their own whose words are called like operators (`exp`,
`add`, `clamp`); so the modules of these languages may not know operators at all, and everywhere
else a text that equals an operator's name must be a word of a closed vocabulary.
"""

from __future__ import annotations

import ast
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from codegen.model import stream, vocabulary
from codegen.model.expression import Save
from codegen.model.schema import BASE_TYPES
from codegen.parse.keys import KINDS
from codegen.parse.parts import PARTS

ROOT = Path(__file__).resolve().parents[2]
CODEGEN = ROOT / "codegen"
_FUNC = re.compile(r"^- func: *[\"']?(?:\w+::)?(\w+)(?:\.(\w+))?\(", re.MULTILINE)
_TAG = re.compile(r"\{[%{].*?[%}]\}", re.DOTALL)
_QUOTED = re.compile(r"""(["'])(\w+)\1""")

COMPUTE_TYPE = "T"
"""The type of a kernel's arithmetic, in the kernel's own text."""


@cache
def operator_names() -> frozenset[str]:
    """Names of operators, with and without overload."""
    text = (ROOT / "native_functions.yaml").read_text(encoding="utf-8")
    found = _FUNC.findall(text)
    return frozenset(name for name, _ in found) | {f"{n}.{o}" for n, o in found if o}


@cache
def vocabularies() -> frozenset[str]:
    """The words of the closed vocabularies, each of which says what it is for."""
    stems = (name.strip("_") for name in vocabulary.DUNDERS)
    return frozenset(
        (
            COMPUTE_TYPE,
            *KINDS,
            *BASE_TYPES,
            *(save.value for save in Save),
            *(name for name, _ in PARTS),
            *vocabulary.DTYPE_SETS,
            *vocabulary.DTYPE_SETS["all"],
            *vocabulary.PROMOTIONS,
            *vocabulary.TAGS,
            *stream.NAMED,
            *stream.CALLED,
            *vocabulary.SAMPLE_CONSTRUCTORS,
            *vocabulary.SAMPLE_NAMES,
            *vocabulary.EXPRESSION_BUILTINS,
            *vocabulary.RECORD_METHODS,
            *vocabulary.RECORD_PROPERTIES,
            *vocabulary.DUNDERS,
            *stems,
        )
    )


def named_in_python(source: str) -> Iterator[tuple[int, str]]:
    """Operators that a module names: (line, name)."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.Constant) and node.value in operator_names() - vocabularies():
            yield node.lineno, node.value


def named_in_template(source: str) -> Iterator[tuple[int, str]]:
    """Operators that a template's tags name."""
    for tag in _TAG.finditer(source):
        for _, word in _QUOTED.findall(tag[0]):
            if word in operator_names() - vocabularies():
                yield source.count("\n", 0, tag.start()) + 1, word


def is_of_a_language(path: Path) -> bool:
    """Whether a module knows the words of formulas, or of index texts."""
    return (
        path.parent.name in ("formula", "index") or re.match("index|place", path.stem) is not None
    )


def modules() -> list[Path]:
    return [path for path in sorted(CODEGEN.rglob("*.py")) if not is_of_a_language(path)]


def told(path: Path, found: Iterator[tuple[int, str]]) -> list[str]:
    return [f"{path.relative_to(ROOT)}:{line}: names the operator '{name}'" for line, name in found]


def test_no_module_names_an_operator() -> None:
    found = [line for path in modules() for line in told(path, named_in_python(path.read_text()))]
    assert "\n".join(found) == ""


def test_no_template_names_an_operator() -> None:
    paths = sorted(CODEGEN.rglob("*.jinja"))
    found = [line for path in paths for line in told(path, named_in_template(path.read_text()))]
    assert "\n".join(found) == ""


def test_formulas_know_no_operators() -> None:
    for path in sorted((CODEGEN / "formula").glob("*.py")):
        for node in ast.walk(ast.parse(path.read_text())):
            if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("codegen"):
                allowed = ("codegen.formula", "codegen.model.formula", "codegen.errors")
                place = f"{path.relative_to(ROOT)}:{node.lineno}"
                assert (node.module or "").startswith(allowed), f"{place}: imports {node.module}"


@pytest.mark.parametrize(
    "source",
    [
        'if operator.name == "softmax": pass',
        'if name in ("mm", "addmm", "matmul"): pass',
        '_SPECIAL = frozenset({"dropout"})',
        'match name:\n    case "sum.dim_IntList":\n        pass',
        'table = {"cat": 1}',
    ],
)
def test_a_special_case_is_found(source: str) -> None:
    assert list(named_in_python(source))


def test_a_special_case_in_a_template_is_found() -> None:
    assert list(named_in_template('{% if item.name == "relu" %}x{% endif %}'))
    assert not list(named_in_template('the operator "relu" in plain text'))
