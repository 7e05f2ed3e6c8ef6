"""Two runs give equal bytes: whatever the hash seed, the working folder or the order of reading."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codegen import manifest

HERE = Path(__file__).resolve().parent
ROOT = HERE.parents[1]

PROGRAM = """\
import sys
from codegen import emit, lower, write
from codegen.check import read_program
from codegen.parse import Inputs
from pathlib import Path

program = read_program(Inputs(*sys.argv[2:5]))
write.write(Path(sys.argv[1]), emit.emit(lower.lower(program)))
"""


def generate(out: Path, seed: int, cwd: Path) -> dict[str, bytes]:
    """Emit the fixture in a fresh process; every file by path, the manifest included."""
    inputs = [HERE / name for name in ("fixture.yaml", "fixture_derivatives.yaml")]
    environment = {**os.environ, "PYTHONHASHSEED": str(seed), "PYTHONPATH": str(ROOT)}
    command = [sys.executable, "-c", PROGRAM, out, *inputs, HERE / "fixture_formulas.py"]
    subprocess.run([str(part) for part in command], check=True, env=environment, cwd=cwd)
    paths = [*manifest.present(out), manifest.NAME]
    return {path: (out / path).read_bytes() for path in paths}


def test_equal_bytes_for_any_hash_seed(tmp_path: Path) -> None:
    first = generate(tmp_path / "one" / "pkg", seed=1, cwd=ROOT)
    second = generate(tmp_path / "two" / "pkg", seed=2, cwd=tmp_path)
    assert first.keys() == second.keys()
    assert [path for path in first if first[path] != second[path]] == []


@pytest.mark.parametrize("word", [str(ROOT), os.sep + "home", "2.13", "3.11"])
def test_output_knows_no_place_and_no_version(tmp_path: Path, word: str) -> None:
    files = generate(tmp_path / "pkg", seed=0, cwd=tmp_path)
    assert [path for path, content in files.items() if word.encode() in content] == []
