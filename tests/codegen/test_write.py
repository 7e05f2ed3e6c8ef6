"""Writing the package: only what changed, all or nothing, and never over a person's work."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from codegen import exchange, manifest, write
from codegen.write import EditedByHand, File, NotGenerated

OLD = [File("__init__.py", "from pkg import a\n"), File("a.py", "x = 1\n"), File("s/b.py", "y\n")]
NEW = [File("__init__.py", "from pkg import c\n"), File("a.py", "x = 1\n"), File("c.py", "z\n")]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A package that was generated from OLD."""
    write.write(tmp_path / "pkg", OLD)
    return tmp_path / "pkg"


def content(folder: Path) -> dict[str, str]:
    """Every file of a package by path, the manifest left out."""
    return {path: (folder / path).read_text() for path in sorted(manifest.present(folder))}


def texts(files: list[File]) -> dict[str, str]:
    return {file.path: file.text for file in sorted(files, key=lambda f: f.path)}


def test_first_run_writes_everything(folder: Path) -> None:
    assert content(folder) == texts(OLD)
    assert manifest.is_as_generated(folder)


def test_second_run_writes_nothing(folder: Path) -> None:
    before = (folder / "a.py").stat().st_ino, folder.stat().st_ino
    changes = write.write(folder, OLD)
    assert (changes.written, changes.deleted) == ((), ())
    assert ((folder / "a.py").stat().st_ino, folder.stat().st_ino) == before


def test_only_changes_are_written_and_orphans_deleted(folder: Path) -> None:
    before = (folder / "a.py").stat()
    changes = write.write(folder, NEW)
    assert changes.written == ("__init__.py", "c.py")
    assert changes.unchanged == ("a.py",)
    assert changes.deleted == ("s/b.py",)
    assert content(folder) == texts(NEW)
    assert not (folder / "s").exists()
    after = (folder / "a.py").stat()
    assert (after.st_ino, after.st_mtime_ns) == (before.st_ino, before.st_mtime_ns)
    assert [path.name for path in folder.parent.iterdir()] == ["pkg"]


def test_compiled_files_stay_with_unchanged_sources(folder: Path) -> None:
    cache = folder / "__pycache__"
    cache.mkdir()
    for name in ("a.cpython-311.pyc", "__init__.cpython-311.pyc", "gone.cpython-311.pyc"):
        (cache / name).write_bytes(b"")
    write.write(folder, NEW)
    assert [path.name for path in (folder / "__pycache__").iterdir()] == ["a.cpython-311.pyc"]


def test_what_is_written_twice_within_a_second_is_imported_anew(tmp_path: Path) -> None:
    """Bytecode, wherever Python keeps it, knows its source by the second and the size."""
    folder = tmp_path / "quick_ops"
    for number in range(4):
        write.write(folder, [File("__init__.py", f"number = {number}\n")])
        for elsewhere in ("", str(tmp_path / "bytecode")):
            environment = {**os.environ, "PYTHONPYCACHEPREFIX": elsewhere}
            environment.pop("PYTHONDONTWRITEBYTECODE", None)
            program = "import quick_ops; print(quick_ops.number)"
            command = [sys.executable, "-c", program]
            found = subprocess.check_output(command, env=environment, cwd=tmp_path, text=True)
            assert int(found) == number


def test_diff_tells_every_difference(folder: Path) -> None:
    assert write.diff(folder, OLD) == ""
    (folder / "stray.py").write_text("")
    told = write.diff(folder, NEW)
    assert "-from pkg import a\n+from pkg import c\n" in told
    assert "no entry makes this file any more: s/b.py" in told
    assert "this file is not generated: stray.py" in told
    assert content(folder) == {**texts(OLD), "stray.py": ""}


def test_diff_notices_a_damaged_manifest(folder: Path) -> None:
    (folder / manifest.NAME).write_text("<<<<<<< one\n=======\n")
    assert manifest.NAME in write.diff(folder, OLD)
    write.write(folder, OLD)
    assert manifest.is_as_generated(folder)


# ----------------------------------------------------------------------------------------------
# Refusals


@pytest.mark.parametrize("path", ["__init__.py", "s/b.py"])
def test_edited_files_are_refused(folder: Path, path: str) -> None:
    (folder / path).write_text("by hand\n")
    before = content(folder)
    with pytest.raises(EditedByHand) as caught:
        write.write(folder, NEW)
    assert caught.value.paths == (path,)
    assert content(folder) == before
    write.write(folder, NEW, force=True)
    assert content(folder) == texts(NEW)


def test_an_edit_to_what_would_be_generated_anyway_is_fine(folder: Path) -> None:
    (folder / "__init__.py").write_text(NEW[0].text)
    write.write(folder, NEW)
    assert content(folder) == texts(NEW)


@pytest.mark.parametrize("force", [False, True])
@pytest.mark.parametrize("path", ["mine.py", "s/data.txt", ".git/HEAD"])
def test_foreign_files_are_refused(folder: Path, path: str, force: bool) -> None:
    (folder / path).parent.mkdir(exist_ok=True)
    (folder / path).write_text("mine\n")
    before = content(folder)
    with pytest.raises(NotGenerated) as caught:
        write.write(folder, NEW, force=force)
    assert caught.value.paths == (path,)
    assert content(folder) == before


def test_a_folder_that_is_no_package_is_refused(tmp_path: Path) -> None:
    (tmp_path / "a.py").write_text("precious\n")
    with pytest.raises(NotGenerated):
        write.write(tmp_path, OLD)
    assert content(tmp_path) == {"a.py": "precious\n"}


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "pkg").mkdir()
    write.write(tmp_path / "pkg", OLD)
    assert content(tmp_path / "pkg") == texts(OLD)


# ----------------------------------------------------------------------------------------------
# Accidents: at every step the package is all old or all new, and the next run puts it right


class Accident(Exception):
    """What happens at one step of a run."""


LIVE: list[int] = []
"""Steps left until the accident; empty while none is to happen. An audit hook cannot be removed."""
DIE = [False]
STEPS = ("open", "os.link", "os.mkdir", "os.rename", "os.rmdir", "os.remove", "os.scandir")


def hook(event: str, args: object) -> None:
    """Count the steps that touch files; at the chosen one raise, or end the process at once."""
    if LIVE and event in STEPS:
        LIVE[0] -= 1
        if LIVE[0] < 0:
            LIVE.clear()
            if DIE[0]:
                os._exit(9)
            raise Accident(event)


sys.addaudithook(hook)


def prepare(parent: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool) -> Path:
    parent.mkdir()
    write.write(parent / "pkg", OLD)
    if not at_once:
        monkeypatch.setattr(exchange, "_swap", lambda one, other: False)
    return parent / "pkg"


def run_until(step: int, folder: Path, die: bool) -> bool:
    """Write NEW with an accident at `step`; whether the run came to its end."""
    DIE[0] = die
    LIVE[:] = [step]
    try:
        write.write(folder, NEW)
    except Accident:
        return False
    finally:
        LIVE.clear()
    return True


@pytest.mark.parametrize("at_once", [True, False], ids=["exchange", "two renames"])
def test_an_error_at_any_step_leaves_one_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    step, finished = 0, False
    while not finished:
        folder = prepare(tmp_path / str(step), monkeypatch, at_once)
        finished = run_until(step, folder, die=False)
        assert content(folder) in (texts(OLD), texts(NEW)), step
        assert manifest.is_as_generated(folder)
        check_next_run(folder)
        step += 1
    assert step > 15


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
@pytest.mark.parametrize("at_once", [True, False], ids=["exchange", "two renames"])
def test_a_kill_at_any_step_leaves_one_package(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, at_once: bool
) -> None:
    step, status = 0, 9
    while status == 9:
        folder = prepare(tmp_path / str(step), monkeypatch, at_once)
        child = os.fork()
        if child == 0:
            os._exit(0 if run_until(step, folder, die=True) else 1)
        status = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
        if at_once or folder.exists():
            assert content(folder) in (texts(OLD), texts(NEW)), step
        check_next_run(folder)
        step += 1
    assert status == 0
    assert step > 15


def check_next_run(folder: Path) -> None:
    """A run after the accident ends well and leaves nothing lying about."""
    write.write(folder, NEW)
    assert content(folder) == texts(NEW)
    assert [path.name for path in folder.parent.iterdir()] == ["pkg"]


def test_a_folder_that_cannot_be_made_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(write.Unwritable, match=r"exists|ot a directory"):
        write.write(tmp_path / "file" / "pkg", OLD)
