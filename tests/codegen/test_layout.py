"""Long lines of generated code break where `ruff format` breaks them."""

from __future__ import annotations

import ast
import importlib.util
import subprocess
import sys
from pathlib import Path

import pytest

from codegen.emit import layout

ROOT = Path(__file__).resolve().parents[2]

LONG = "a_rather_long_argument_name"
STATEMENTS = [
    f"return function({LONG}, {LONG}_2, {LONG}_3, keyword=value)",
    f"return function({LONG}, {LONG}_2, {LONG}_3, {LONG}_4, {LONG}_5, keyword=value)",
    f"result = module.function({LONG}, other.method({LONG}, {LONG}_2), {LONG}_3)[index]",
    f"return {LONG} + {LONG}_2 * {LONG}_3 - {LONG}_4 / {LONG}_5",
    f"return {LONG}_2.something.other * function({LONG}, {LONG}_2, {LONG}_3)",
    f"return function({LONG}, {LONG}_2, {LONG}_3) * {LONG}_2.something.other",
    f"return function({LONG}, {LONG}_2) / input.isnan().logical_not().sum({LONG}, {LONG})",
    f"grad_self = function({LONG}, {LONG}_2, {LONG}_3) * self.isnan().logical_not()",
    f"if {LONG} is None and {LONG}_2 is not None and {LONG}_3 not in {LONG}_4:\n        pass",
    f"if {LONG} is MISSING or is_number({LONG}_2 if {LONG}_3 is MISSING else {LONG}_4):\n"
    "        pass",
    f"if is_good({LONG}) and ({LONG}_2 is MISSING or is_number({LONG}_3) or {LONG}_4):\n"
    "        pass",
    f"value = {LONG} if {LONG}_2 is None else function({LONG}_3, {LONG}_4)",
    f"return function(first={LONG} if {LONG}_2 is None else {LONG}_3, second={LONG}_4 + 1)",
    f"return {LONG}, {LONG}_2, {LONG}_3 * ({LONG}_4 - {LONG}_5).conj()",
    f"is_inside = (whole(first[U({LONG} + {LONG}_2 * {LONG}_3) + {LONG}_4]) >= 0) & "
    f"(whole(first[U({LONG} + {LONG}_2 * {LONG}_3) + {LONG}_4]) < size)",
    f"is_inside = (whole(first[U({LONG} + {LONG}_2 * {LONG}_3) + {LONG}_4]) >= 0) & (size > 0)",
    f'raise no_overload("name", ("{LONG} {LONG}", "{LONG}"), ({LONG}, {LONG}_2)) from None',
    f"values = [{LONG}, {LONG}_2, {LONG}_3, {LONG}_4, {LONG}_5]",
    f'table = {{"first": {LONG}, "second": {LONG}_2, "third": {LONG}_3, "last": {LONG}_4}}',
    f"return tuple([function({LONG}, each, {LONG}_2) for each in {LONG}_3 if {LONG}_4])",
    f"return -{LONG} * ({LONG}_2 if {LONG}_3 else {LONG}_4) ** 2 + {LONG}_5",
    f"return not {LONG} and function({LONG}_2, {LONG}_3)[{LONG}_4 + 1] == {LONG}_5",
    f"first, second = function({LONG}, {LONG}_2, {LONG}_3, {LONG}_4)",
    f"return ({LONG} + 1)",
    f"if ({LONG} or other):\n        pass",
    f"return {LONG}[{LONG}_2 : {LONG}_3 + {LONG}_4].method({LONG}_5)",
    f"{LONG}, {LONG}_2, {LONG}_3, {LONG}_4, other = module.function({LONG}, {LONG}_2)",
    f"{LONG}, {LONG}_2 = modules.{LONG}_function_of_a_long_name({LONG}, {LONG}_2, {LONG}_3)",
    f"{LONG}[U(begin + {LONG}_2 * stride)] = {LONG}_3[U({LONG}_4 - {LONG}_5)]",
    f"{LONG}[U(begin + {LONG}_2 * stride)] = {LONG}_3 + {LONG}_4[U(i - begin)]",
    f"{LONG}[U({LONG}_2 + {LONG}_3 * {LONG}_4)] = T({LONG}_5[U(i)] + WIDE({LONG}_6))",
    f"{LONG}[U(i)] = np.int64({LONG}_2 + I({LONG}_3 * stride) + {LONG}_4)",
    f"return ({LONG}, i), ({LONG}_2, i), ({LONG}_3, j), ({LONG}_4, {LONG}_5)",
]


def module(statements: list[str]) -> str:
    """Each statement in a function of its own, with a wide signature."""
    parts = [
        f"def function_{i}(self: Tensor, *args: Any, {LONG}: Number = 1) -> Tensor:\n    {text}\n"
        for i, text in enumerate(statements)
    ]
    wide = ", ".join(f"{LONG}_{i}: Tensor | Number | None = None" for i in range(4))
    return "\n\n".join([*parts, f"def wide(input: Tensor, {wide}) -> tuple[Tensor, Tensor]: ...\n"])


def test_code_stays_the_same() -> None:
    text = module(STATEMENTS)
    assert ast.dump(ast.parse(layout.fit(text))) == ast.dump(ast.parse(text))


def test_lines_are_short() -> None:
    assert [line for line in layout.fit(module(STATEMENTS)).split("\n") if len(line) > 100] == []


@pytest.mark.skipif(importlib.util.find_spec("ruff") is None, reason="needs ruff")
def test_ruff_agrees() -> None:
    text = layout.fit(module(STATEMENTS))
    command = [
        sys.executable,
        "-m",
        "ruff",
        "format",
        "--config",
        str(ROOT / "pyproject.toml"),
        "-",
    ]
    formatted = subprocess.run(command, input=text, capture_output=True, text=True, check=True)
    assert text == formatted.stdout


def test_schemas_in_docstrings_wrap() -> None:
    line = f'    """name({", ".join(f"Tensor {LONG}_{i}" for i in range(5))}) -> Tensor'
    assert all(len(each) <= 100 for each in layout.fit(line).split("\n"))


def test_long_strings_become_adjacent_literals() -> None:
    schema = f"name({', '.join(f'Tensor {LONG}_{i}' for i in range(5))}) -> Tensor"
    fitted = layout.fit(f'call(\n    "{schema}",\n    (1, "{schema}"),\n)\n')
    assert ast.dump(ast.parse(fitted)) == ast.dump(ast.parse(f'call("{schema}", (1, "{schema}"))'))
    assert max(map(len, fitted.split("\n"))) <= 100


def test_definitions_stand_apart() -> None:
    fitted = layout.fit('"""Doc."""\ndef f():\n    pass\nx = 1\ny = 2\n\n')
    assert fitted == '"""Doc."""\n\n\ndef f():\n    pass\n\n\nx = 1\ny = 2\n'
