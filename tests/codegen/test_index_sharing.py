"""What programs of one operator have in common stands once in its module."""

from __future__ import annotations

import ast
from collections import Counter
from collections.abc import Iterable, Iterator
from pathlib import Path

import pytest

from codegen.emit.index_sharing import Launches

MODULES = sorted(Path(__file__).parents[2].joinpath("torchgen_out/kernels/index").glob("*.py"))
LISTS = ("launches", "on_device", "on_long_rows")


def functions_of(tree: ast.Module) -> Iterator[str]:
    """The text of each function of a module, but for its name and its docstring."""
    for each in tree.body:
        if isinstance(each, ast.FunctionDef):
            body = each.body[1:] if ast.get_docstring(each) else each.body
            yield "\n".join([ast.unparse(each.args), *map(ast.unparse, body)])


def launches_of(tree: ast.Module) -> Iterator[str]:
    """The text of each launch that stands in a list, or by itself."""
    for each in ast.walk(tree):
        if isinstance(each, ast.keyword) and each.arg in LISTS:
            assert isinstance(each.value, ast.Tuple)
            calls = (launch for launch in each.value.elts if isinstance(launch, ast.Call))
            yield from map(ast.unparse, calls)
        if isinstance(each, ast.Assign) and ast.unparse(each.value).startswith("Launch("):
            yield ast.unparse(each.value)


def repeated(texts: Iterable[str]) -> list[str]:
    return [text for text, count in Counter(texts).items() if count > 1]


@pytest.mark.parametrize("path", MODULES, ids=lambda path: path.stem)
def test_modules_repeat_nothing(path: Path) -> None:
    tree = ast.parse(path.read_text(encoding="utf-8"))
    assert not repeated(functions_of(tree))
    assert not repeated(launches_of(tree))


def test_programs_share_launches() -> None:
    """Some operator's programs do; else the test above would find nothing to say."""
    texts = (path.read_text(encoding="utf-8") for path in MODULES)
    assert sum(text.count("_launch = Launch(") for text in texts) > 10


def test_launches_that_differ_have_names_that_differ() -> None:
    one, other = ("function=f, light=True,",), ("function=f,",)
    launches = Launches.of([one, other, one, other])
    first, second = launches.defined([one, other])
    assert first[0] == "f_launch = Launch("
    assert second[0] == "f_launch1 = Launch("
    assert launches.listed([one, other, one]) == (("f_launch,",), ("f_launch1,",), ("f_launch,",))
    assert not launches.defined([other, one])


def test_a_launch_alone_stands_where_it_is_used() -> None:
    launches = Launches.of([("function=f,",), ("function=g,",)])
    assert not launches.defined([("function=f,",)])
    assert launches.listed([("function=f,",)]) == (("Launch(", "    function=f,", "),"),)
