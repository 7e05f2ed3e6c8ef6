"""The files of public modules: what is wrong in them is found at its place."""

import shutil
from pathlib import Path

import pytest

from codegen.errors import CodegenError
from codegen.parse import Inputs, parse
from codegen.project import LIBRARY

HERE = Path(__file__).resolve().parent
CARET = "‸"
MISTAKES = [
    ("facades.yaml", "  doc: Plane", "  ‸dok: Plane", "E107", "did you mean 'doc'"),
    ("facades.yaml", "  doc: Plane figures.\n", "", "E108", "no 'doc'"),
    ("facades.yaml", "source: shapes\n\n- folder", "source: ‸shape\n\n- folder", "E702", "shape"),
    ("facades.yaml", "  source: release\n  at", "  source: ‸layers\n  at", "E703", "__all__"),
    ("facades.yaml", "layers: Conv2d", "‸layer: Conv2d", "E702", "layer"),
    ("facades.yaml", "layers: Conv2d", "layers: ‸Conv4d", "E703", "did you mean 'Conv"),
    ("facades.yaml", "  names:", "  source: layers\n  ‸names:", "E701", "not both"),
    ("facades.yaml", "r: shapes\n  source: shapes", "r: shapes\n  source: ‸s", "E702", "s"),
    ("facades.yaml", "switches: True", "switches: ‸yes", "E106", "True"),
    ("facades.yaml", "sources: layers", "sources: ‸layer", "E702", "layer"),
    ("absent.yaml", "      marks: wrap", "      ‸mark: wrap", "E107", "did you mean 'marks'"),
    ("absent.yaml", "- remedy: nothing is traced\n", "- ", "E108", "remedy"),
    ("absent.yaml", "      doc: Graphs\n      classes: Graph", "      ‸[]", "E105", "a mapping"),
]  # fmt: skip


def read(folder: Path) -> str:
    """What is said of the files in a folder."""
    inputs = Inputs(HERE / "fixture.yaml", HERE / "fixture_derivatives.yaml", surface=folder)
    return str(parse(inputs).report.error())


@pytest.mark.parametrize(("file", "old", "new", "code", "word"), MISTAKES)
def test_mistakes(tmp_path: Path, file: str, old: str, new: str, code: str, word: str) -> None:
    folder = shutil.copytree(HERE / "surface", tmp_path / "surface")
    text = (folder / file).read_text()
    assert text.count(old) == 1
    text = text.replace(old, new)
    place = ""
    if CARET in text:
        before = text[: text.index(CARET)]
        place = f"{before.count(chr(10)) + 1}:{len(before) - before.rfind(chr(10))}:"
    (folder / file).write_text(text.replace(CARET, ""))
    said = [part for part in read(folder).split("\n\n") if f"error[{code}]" in part]
    assert any(f"{file}:{place}" in part and word in part for part in said), read(folder)


def test_the_fixture_is_good() -> None:
    assert "surface" not in read(HERE / "surface")


def test_modules_that_are_found_by_their_folder() -> None:
    """A new distribution needs neither the generator nor its YAML."""
    surface = LIBRARY.read().surface
    assert sum(module.of_folder for module in surface.modules) > 40
    folder = surface.files[-1].parent if surface.files else Path()
    assert all(path.exists() for path in surface.files) and folder.is_dir()


def test_unreadable_files_are_said(tmp_path: Path) -> None:
    with pytest.raises(CodegenError):
        raise parse(Inputs(HERE / "fixture.yaml", None, surface=tmp_path)).report.error()
