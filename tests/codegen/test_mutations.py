"""Mutated YAML ends in errors with places, or in a program; no exception escapes."""

from __future__ import annotations

import random
from pathlib import Path

import pytest

from codegen import emit, lower
from codegen.check import read_program
from codegen.errors import CodegenError
from codegen.parse import Inputs
from tests.codegen.small_program import DERIVATIVES, FORMULAS, FUNCTIONS

PIECES = (
    *(
        "(",
        ")",
        "[",
        "]",
        "{",
        "}",
        ":",
        ": ",
        ",",
        "- ",
        "*",
        "&a ",
        "*a",
        "!",
        "'",
        '"',
        "|",
        "#",
    ),
    *("?", "->", "=", "==", " if ", " else ", "None", "nan", "-", "**", "9" * 25, "1e999", "\n"),
    *("\t", "  ", "\\", "%", "@", "\u2028", "\U0001f600", "\x7f", "self", "grad", "lambda: ", "0x"),
)
"""What means something to one of the languages in the files."""


def mutated(text: str, chance: random.Random) -> str:
    """The text after a few insertions, deletions, repetitions and exchanges."""
    for _ in range(chance.choice((1, 1, 1, 2, 5))):
        at = chance.randrange(len(text))
        end = min(len(text), at + chance.choice((1, 2, 5, 20, 100)))
        match chance.randrange(5):
            case 0:
                text = text[:at] + chance.choice(PIECES) + text[at:]
            case 1:
                text = text[:at] + text[end:]
            case 2:
                text = text[:end] + text[at:]
            case 3:
                text = text[:at] + chance.choice(PIECES) + text[end:]
            case _:
                other = chance.randrange(len(text))
                text = text[:other] + text[at:end] + text[other:]
    return text


def run(folder: Path, seed: int) -> bool:
    """Generate from a mutation; whether it was accepted, and then it is Python."""
    chance = random.Random(seed)
    functions, derivatives = FUNCTIONS, DERIVATIVES
    if seed % 3:
        functions = mutated(functions, chance)
    else:
        derivatives = mutated(derivatives, chance)
    (folder / "functions.yaml").write_text(functions, encoding="utf-8")
    (folder / "derivatives.yaml").write_text(derivatives, encoding="utf-8")
    try:
        paths = [folder / f"{name}.yaml" for name in ("functions", "derivatives")]
        program = read_program(Inputs(*paths, folder / "formulas.py"))
    except CodegenError as error:
        assert str(error)
        assert all(each.where.line >= 1 and each.where.column >= 1 for each in error.diagnostics)
        return False
    if seed % 10 == 0:  # most of the time goes into this
        for file in emit.emit(lower.lower(program)):
            if file.path.endswith(".py"):
                compile(file.text, file.path, "exec")
    return True


@pytest.mark.parametrize(
    "seeds", [range(200), pytest.param(range(200, 20_000), marks=pytest.mark.slow)], ids=len
)
def test_mutations(seeds: range, tmp_path: Path) -> None:
    (tmp_path / "formulas.py").write_text(FORMULAS, encoding="utf-8")
    accepted = 0
    for seed in seeds:
        try:
            accepted += run(tmp_path, seed)
        except Exception as error:
            error.args = (f"seed {seed}: {error}",)
            raise
    assert 0 < accepted < len(seeds)
