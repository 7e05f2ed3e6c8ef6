"""Files of the kernel cache are believed only if whole and safe, and nothing needs them."""

from __future__ import annotations

import errno
import json
import os
import subprocess
import sys
import warnings
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from torchgen_out._runtime import config
from torchgen_out._runtime.kernels import build, store

KEY, CONTENT = "probe(int64)", b"what was compiled"
NAME = store.file_name(KEY)
STRANGER = 54321


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A cache of the test's own, of which nothing has been said yet."""
    monkeypatch.setenv("TORCHGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(store, "_said", set())
    monkeypatch.setattr(store, "_judged", {})
    yield tmp_path / "compiled"


def probe(addend: int) -> str:
    """The text of a kernel; another addend, another kernel."""
    head = build.HEADER.format(title="probe")
    return f"{head}\n\n@entry\ndef kernel(x):\n    return x + {addend}\n"


def test_what_is_kept_is_read() -> None:
    store.write(KEY, CONTENT)
    assert store.read(KEY) == CONTENT
    assert store.read("probe(float64)") is None


def test_no_damage_is_believed(home: Path) -> None:
    """Every byte changed, every length cut, something appended, other files in its place."""
    store.write(KEY, CONTENT)
    file = home / NAME
    whole = file.read_bytes()
    damaged = [whole[:n] for n in range(len(whole))]
    damaged += [
        whole[:i] + bytes([whole[i] ^ 1 << i % 8]) + whole[i + 1 :] for i in range(len(whole))
    ]
    damaged += [b"\x80\x04.", bytes(10_000), b"\x7fELF" + whole]
    for content in damaged:
        file.write_bytes(content)
        assert store.read(KEY) is None
    store.write(KEY, CONTENT)
    assert store.read(KEY) == CONTENT


def test_damaged_files_are_made_again_with_a_line_in_the_log(
    home: Path, caplog: pytest.LogCaptureFixture
) -> None:
    store.write(KEY, CONTENT)
    (home / NAME).write_bytes(b"")
    with caplog.at_level("INFO", "torchgen_out.kernels"), warnings.catch_warnings():
        warnings.simplefilter("error")
        assert store.read(KEY) is None
    assert [record.levelname for record in caplog.records] == ["INFO"]
    assert NAME in caplog.text and "damaged" in caplog.text


PROBE = """
import json, sys
from torchgen_out._runtime.kernels import build
found = [build.entry_point("probe", text, (int,))(1) for text in json.load(sys.stdin)]
found += [build.compile_text("probe", build.HEADER.format(title="") + '''
@entry
def kernel(x):
    return x * 10
''')(4)]
print(*found, *build.cache_counts())
"""


def use_probes() -> list[int]:
    """What a process of its own computes with kernels, and how many it loaded and compiled."""
    command = [sys.executable, "-W", "error", "-c", PROBE]
    texts = json.dumps([probe(1), probe(2)])
    done = subprocess.run(command, input=texts, stdout=subprocess.PIPE, text=True, check=True)
    return [int(each) for each in done.stdout.split()]


def test_a_damaged_cache_is_rebuilt(home: Path) -> None:
    assert use_probes() == [2, 3, 40, 0, 3]
    assert use_probes() == [2, 3, 40, 3, 0]
    for i, file in enumerate(sorted(home.iterdir())):
        content = file.read_bytes()
        half = len(content) // 2
        file.write_bytes((b"", content[:half], content[:half] + b"?" + content[half + 1 :])[i % 3])
    assert use_probes() == [2, 3, 40, 0, 3]
    assert use_probes() == [2, 3, 40, 3, 0]


FIND_NO_CLASS = """
import json, sys
from torchgen_out._runtime.kernels import build
def look(event, found):
    if event == "pickle.find_class":
        sys.exit(f"unpickles {found}")
sys.addaudithook(look)
print(build.entry_point("probe", sys.stdin.read(), (int,))(1), *build.cache_counts())
"""


def test_loading_reads_no_pickle() -> None:
    command = [sys.executable, "-c", FIND_NO_CLASS]
    for counts in ("0 1", "1 0"):
        done = subprocess.run(command, input=probe(3), capture_output=True, text=True)
        assert done.stdout.split() == ["4", *counts.split()], done.stderr


def test_files_are_readable_by_all_and_writable_by_their_owner_alone(home: Path) -> None:
    before = os.umask(0)
    try:
        store.write(KEY, CONTENT)
        assert store.keep_text("probe.py", "x") == home / "probe.py"
    finally:
        os.umask(before)
    assert home.stat().st_mode & 0o777 == 0o755
    assert {file.stat().st_mode & 0o777 for file in home.iterdir()} == {0o644}
    assert len(list(home.iterdir())) == 2


def owned_by(uid: int, status: os.stat_result) -> os.stat_result:
    """A file's status, had it another owner."""
    return os.stat_result([*status[:4], uid, *status[5:10]])


def test_what_root_has_made_serves_everybody(monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(KEY, CONTENT)
    monkeypatch.setattr(os, "geteuid", lambda: STRANGER)
    fstat, stat = os.fstat, os.stat
    monkeypatch.setattr(os, "fstat", lambda file: owned_by(0, fstat(file)))
    monkeypatch.setattr(os, "stat", lambda path, **how: owned_by(0, stat(path, **how)))
    assert store.read(KEY) == CONTENT


def test_a_folder_that_others_may_write_into_is_not_used(home: Path) -> None:
    store.write(KEY, CONTENT)
    home.chmod(0o777)
    store._judged.clear()
    with pytest.warns(RuntimeWarning, match=r"chmod -R go-w .*TORCHGEN_CACHE_DIR") as told:
        assert store.read(KEY) is None
        store.write("second(int64)", CONTENT)
        assert build.entry_point("probe", probe(4), (int,))(1) == 5
    assert len(told) == 1
    assert [file.name for file in home.iterdir()] == [NAME]


def test_a_folder_of_another_user_is_not_used(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(KEY, CONTENT)
    store._judged.clear()
    stat = os.stat
    monkeypatch.setattr(os, "stat", lambda path, **how: owned_by(STRANGER, stat(path, **how)))
    with pytest.warns(RuntimeWarning, match=r"belongs to another user.*TORCHGEN_CACHE_DIR") as told:
        assert store.read(KEY) is None
        store.write("second(int64)", CONTENT)
    assert len(told) == 1
    assert [file.name for file in home.iterdir()] == [NAME]


def test_a_file_of_another_user_is_not_read(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(KEY, CONTENT)
    (home / NAME).chmod(0o666)
    assert store.read(KEY) is None
    (home / NAME).chmod(0o644)
    assert store.read(KEY) == CONTENT
    fstat = os.fstat
    monkeypatch.setattr(os, "fstat", lambda file: owned_by(STRANGER, fstat(file)))
    assert store.read(KEY) is None


def refuse(number: int) -> Any:
    """A function of the system that always fails."""

    def refused(*args: Any, **keywords: Any) -> Any:
        raise OSError(number, os.strerror(number), str(args[0]))

    return refused


HINDRANCES = (
    "file instead of folder",
    "file instead of parent",
    "read-only",
    "not ours",
    "full",
    "no home",
)


@pytest.mark.parametrize("hindrance", HINDRANCES)
def test_without_a_writable_cache_kernels_work_with_one_warning(
    hindrance: str, home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    if hindrance == "file instead of folder":
        home.write_text("")
    elif hindrance == "file instead of parent":
        monkeypatch.setenv("TORCHGEN_CACHE_DIR", str(home / "file" / "folder"))
        home.mkdir()
        (home / "file").write_text("")
    elif hindrance == "read-only":
        monkeypatch.setattr(Path, "mkdir", refuse(errno.EROFS))
    elif hindrance == "not ours":
        monkeypatch.setattr(store, "_replace", refuse(errno.EACCES))
    elif hindrance == "full":
        monkeypatch.setattr(os, "replace", refuse(errno.ENOSPC))
    else:
        monkeypatch.setattr(store.config, "cache_folder", lambda: None)
    first = 100 + 2 * HINDRANCES.index(hindrance)
    with pytest.warns(RuntimeWarning, match=r"not kept.*TORCHGEN_CACHE_DIR") as told:
        for addend in (first, first + 1):
            assert build.entry_point("probe", probe(addend), (int,))(1) == 1 + addend
    assert len(told) == 1
    assert not list(home.parent.rglob("*.kernel")) and not list(home.parent.rglob("*.tmp"))


def test_a_read_only_cache_that_is_warm_serves(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    store.write(KEY, CONTENT)
    monkeypatch.setattr(Path, "mkdir", refuse(errno.EROFS))
    assert store.read(KEY) == CONTENT


def test_without_a_home_there_is_no_folder(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("TORCHGEN_CACHE_DIR", "XDG_CACHE_HOME", "HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(os.path, "expanduser", lambda path: path)  # no entry in the user database
    assert config.cache_folder() is None
    monkeypatch.setenv("HOME", "")
    assert config.cache_folder() is None
    monkeypatch.setenv("HOME", "/home/somebody")
    monkeypatch.setenv("XDG_CACHE_HOME", "relative")  # the specification says: ignored
    assert config.cache_folder() == Path("/home/somebody/.cache/torchgen")
