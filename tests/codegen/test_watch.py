"""`codegen watch`: what counts as changed, and rounds of a real one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import IO

import pytest

from codegen import library
from codegen.commands import watch
from codegen.project import LIBRARY, Project

FUNCTIONS = """\
# operators of ours
- func: watched_one(Tensor self) -> Tensor
  dtypes: floating
  pointwise: self * 2
  samples: {self: [-3, 3]}
  doc: Twice the input.

- func: "watched_two.Tensor(Tensor self) -> Tensor"
  dtypes: floating
  pointwise: self * 3
  samples: {self: [-3, 3]}
  doc: Three times the input.
"""
DERIVATIVES = "- name: watched_one\n  self: auto\n- name: watched_two.Tensor\n  self: auto\n"


@pytest.fixture
def project(tmp_path: Path) -> Project:
    functions, derivatives = tmp_path / "functions.yaml", tmp_path / "derivatives.yaml"
    functions.write_text(FUNCTIONS)
    derivatives.write_text(DERIVATIVES)
    return Project(functions, derivatives, tmp_path / "watched_ops", base=LIBRARY)


def _changed(project: Project, path: Path, old: str, new: str) -> list[str]:
    before = watch.entries_of(project)
    path.write_text(path.read_text().replace(old, new))
    return watch.differing(before, watch.entries_of(project))


def test_an_operator_has_changed_when_one_of_its_entries_has(project: Project) -> None:
    assert project.derivatives is not None
    assert _changed(project, project.functions, "self * 3", "self * 4") == ["watched_two.Tensor"]
    derivatives = project.derivatives
    assert _changed(project, derivatives, "auto\n- name", "grad * 2\n- name") == ["watched_one"]
    assert _changed(project, project.functions, "# operators", "# Operators") == [""]
    assert _changed(project, project.functions, "watched_one", "watched") == [
        "watched_one",
        "watched",
    ]


def test_a_file_that_is_not_there_has_no_stamp(project: Project) -> None:
    before = watch.stamps(watch.own_files(project))
    project.functions.unlink()
    after = watch.stamps(watch.own_files(project))
    assert watch.differing(before, after) == [project.functions]


@pytest.fixture
def told(project: Project) -> Iterator[IO[str]]:
    """What a real `watch` of the project prints, errors included."""
    options = {"functions": project.functions, "derivatives": project.derivatives}
    with subprocess.Popen(
        [sys.executable, "-m", "codegen", "watch", f"--out={project.out}"]
        + [f"--{name}={path}" for name, path in options.items()],
        cwd=library.ROOT,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        env={**os.environ, "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
    ) as process:
        assert process.stdout is not None
        yield process.stdout
        process.terminate()


def _line(told: IO[str], word: str) -> str:
    return next(line for line in told if word in line)


@pytest.mark.skipif(not hasattr(os, "fork"), reason="watch is refused there")
def test_every_save_generates_and_what_changed_is_compiled(project: Project, told: IO[str]) -> None:
    assert "2 operators" in _line(told, "written")
    assert _line(told, ": compiled,").startswith("watched_one, watched_two.Tensor:")
    right = project.functions.read_text()
    project.functions.write_text(right.replace("self * 3", "self * tanhh(3)"))
    assert "'tanhh'" in _line(told, "error")
    project.functions.write_text(right.replace("self * 3", "self * 5"))
    assert "2 operators" in _line(told, "written")
    assert _line(told, ": compiled,").startswith("watched_two.Tensor:")
    written = (project.out / "kernels" / "pointwise.py").read_text()
    assert "5" in written and "tanhh" not in written
