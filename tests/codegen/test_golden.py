"""What is emitted from a dozen operators, one of each kind, compared with files that people read.

`pytest tests/codegen/test_golden.py --update-golden` writes the files anew; a change of theirs
belongs in the commit that means it.
"""

from __future__ import annotations

import difflib
from functools import cache
from pathlib import Path

import pytest

from codegen import emit, lower
from codegen.check import read_program
from codegen.parse import Inputs

HERE = Path(__file__).resolve().parent
GOLDEN = HERE / "golden"


@cache
def emitted() -> dict[str, str]:
    """The text of every artifact, by path."""
    program = read_program(
        Inputs(
            HERE / "fixture.yaml",
            HERE / "fixture_derivatives.yaml",
            HERE / "fixture_formulas.py",
            surface=HERE / "surface",
        )
    )
    files = emit.emit(lower.lower(program))
    return {f.path: f.text for f in files if f.text}


@pytest.fixture(scope="module", autouse=True)
def _update(request: pytest.FixtureRequest) -> None:
    if not request.config.getoption("--update-golden"):
        return
    for path in sorted(GOLDEN.rglob("*"), reverse=True):
        path.rmdir() if path.is_dir() else path.unlink()
    for name, text in emitted().items():
        path = GOLDEN / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")


@pytest.mark.parametrize("path", sorted(emitted()))
def test_artifact(path: str) -> None:
    golden = GOLDEN / path
    assert golden.is_file(), f"no golden file for {path}: run with --update-golden"
    expected = golden.read_text(encoding="utf-8")
    difference = difflib.unified_diff(
        expected.splitlines(), emitted()[path].splitlines(), "golden", "emitted", lineterm=""
    )
    assert expected == emitted()[path], "\n".join(difference)


def test_no_golden_file_is_left_over() -> None:
    kept = {str(path.relative_to(GOLDEN)) for path in GOLDEN.rglob("*") if path.is_file()}
    assert kept == set(emitted())


def test_emitted_modules_compile() -> None:
    for path, text in emitted().items():
        if path.endswith((".py", ".pyi")):
            compile(text, path, "exec")
