"""The library's program is kept for packages outside the tree, and believed only if it is that."""

from __future__ import annotations

import os
import pickle
from collections.abc import Callable
from pathlib import Path

import pytest

from codegen import kept, manifest
from codegen.model.formula import Formula
from codegen.model.operator import Pointwise
from codegen.model.program import Program
from codegen.project import Project

FUNCTIONS = """\
- func: swash(Tensor self, Scalar beta=1) -> Tensor
  variants: function, method
  dtypes: floating
  promotion: int_to_float
  pointwise: "self * tanh(beta * self)"
  samples: {self: [-3, 3]}
  doc: |
    An activation.
"""
DERIVATIVES = "- name: swash\n  self: auto\n"


class Reading:
    """A project that counts how often it is read."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.folder, self.times = folder, 0
        self.functions, derivatives = folder / "functions.yaml", folder / "derivatives.yaml"
        self.functions.write_text(FUNCTIONS)
        derivatives.write_text(DERIVATIVES)
        (folder / "out").mkdir()
        self.project = Project(self.functions, derivatives, folder / "out")
        read: Callable[[Project], Program] = Project.read

        def counted(project: Project) -> Program:
            self.times += 1
            return read(project)

        monkeypatch.setattr(Project, "read", counted)

    @property
    def place(self) -> Path:
        """The file that is kept."""
        (found,) = (self.folder / "out" / manifest.CACHE).iterdir()
        return found

    def again(self) -> tuple[int, Program]:
        """How often it is read for one more question, and the answer."""
        before = self.times
        program = kept.read(self.project)
        return self.times - before, program


def test_a_program_is_read_once_until_something_changes(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    reading = Reading(monkeypatch, tmp_path)
    _, first = reading.again()
    times, second = reading.again()
    assert times == 0 and second is not first
    assert repr(second) == repr(first)
    assert formulas(second) == formulas(first) and len(formulas(first)) == 1
    with open(reading.functions, "a") as file:
        file.write("\n# another text\n")
    assert reading.again()[0] == 1
    monkeypatch.chdir(tmp_path)  # places are told as they are seen from the working folder
    assert reading.again()[0] == 1 and reading.again()[0] == 0


def formulas(program: Program) -> list[Formula]:
    """The formulas, which compare by their primitives and hashes."""
    kinds = [operator.kind for operator in program.operators]
    return [kind.formula for kind in kinds if isinstance(kind, Pointwise)]


class Harmful:
    """What would run a command when it is unpickled."""

    def __reduce__(self) -> tuple[Callable[[str], int], tuple[str]]:
        return os.system, ("exit 7",)


def test_damage_is_not_believed(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    reading = Reading(monkeypatch, tmp_path)
    reading.again()
    whole = reading.place.read_bytes()
    head, _, content = whole.partition(b"\n")
    ran: list[str] = []
    monkeypatch.setattr(os, "system", ran.append)
    for damaged in (
        *(whole[: len(whole) * i // 7] for i in range(7)),
        head + b"\n" + pickle.dumps(Harmful()),
        head + b"\n" + pickle.dumps([1, 2]),
        b"[]\n" + content,
        head.replace(b'"files"', b'"f"') + b"\n" + content,
    ):
        reading.place.write_bytes(damaged)
        assert reading.again()[0] == 1
        assert reading.again()[0] == 0
    assert not ran
