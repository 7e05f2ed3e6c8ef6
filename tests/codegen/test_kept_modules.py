"""Modules of index programs are made again only for entries that changed, and are the same then."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codegen import kept_modules, manifest
from codegen.__main__ import generate
from codegen.emit import index_kernels
from codegen.project import Project

ENTRY = """\
- func: {name}(Tensor x, Tensor y) -> Tensor
  variants: function
  dtypes: floating
  index: "out[i] = {body}"
  samples: {{x: [-1, 1], y: [-1, 1]}}
  doc: |
    A sum.
"""
FIRST, SECOND, OTHER = "sum(j: x[i] * y[j])", "sum(j: x[j] + y[i])", "sum(j: x[i] - y[j])"


class Generating:
    """A project in a folder, and how many modules each run made."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch, folder: Path) -> None:
        self.out = folder / "out"
        self._functions, derivatives = folder / "functions.yaml", folder / "derivatives.yaml"
        derivatives.write_text(
            "".join(f"- name: {name}\n  x: auto\n  y: auto\n" for name in ("first", "second"))
        )
        self._project = Project(self._functions, derivatives, self.out)
        self._made: list[str] = []
        make = index_kernels.program_text

        def counted(operator: Any, *args: Any, **given: Any) -> index_kernels.ProgramText:
            self._made.append(operator.name)
            return make(operator, *args, **given)

        monkeypatch.setattr(index_kernels, "program_text", counted)

    def run(self, first: str, second: str, head: str = "", force: bool = False) -> list[str]:
        """Which modules a run makes."""
        self._made.clear()
        entries = ENTRY.format(name="first", body=first), ENTRY.format(name="second", body=second)
        self._functions.write_text(head + "\n".join(entries))
        assert generate(self._project, force=force) == 0
        return sorted(set(self._made))

    def modules(self) -> dict[str, str]:
        """The texts that there are."""
        folder = self.out / "kernels" / "index"
        return {path.name: path.read_text() for path in folder.glob("*.py")}

    @property
    def place(self) -> Path:
        """The file that is kept."""
        return self.out / manifest.CACHE / kept_modules.NAME


@pytest.fixture
def generating(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Iterator[Generating]:
    kept_modules._generator.cache_clear()
    yield Generating(monkeypatch, tmp_path)
    kept_modules._generator.cache_clear()


def test_what_changed_is_made_again(generating: Generating) -> None:
    derived = generating.run(FIRST, SECOND)
    assert {"first", "second"} < set(derived)  # and what derivatives are made of
    assert generating.run(FIRST, OTHER) == [name for name in derived if "second" in name]
    assert generating.run(OTHER, OTHER) == [name for name in derived if "first" in name]
    kept = generating.modules()
    for lines in ("# moved down\n\n", ""):
        assert generating.run(OTHER, OTHER, lines) == []
    for second in (FIRST, SECOND, OTHER):  # each time the folder is another
        assert "first" not in generating.run(OTHER, second)
    assert generating.run(OTHER, OTHER, "# forced\n", force=True) == derived
    assert generating.modules() == kept


@pytest.mark.parametrize("damage", ["", "[]", '{"generator": 1}', '{"modules": {}}', None])
def test_a_damaged_file_is_made_again(generating: Generating, damage: str | None) -> None:
    derived = generating.run(FIRST, SECOND)
    whole = generating.place.read_text()
    other_generator = json.dumps({**json.loads(whole), "generator": "another"})
    generating.place.write_text(other_generator if damage is None else damage)
    made = generating.modules()
    assert generating.run(FIRST, SECOND, "# again\n") == derived
    assert generating.modules() == made
    assert generating.place.read_text() == whole
