"""What Windows and macOS lack of POSIX is not needed: names are taken away, and the library runs.

This stands in for machines that nobody here has run it on; docs/systems.md says what is known.
"""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

WITHOUT = """
import json, sys
import numpy, numba, scipy.linalg, scipy.fft, scipy.special  # these know their system
import ctypes, mmap, multiprocessing.connection, os, pathlib, selectors, socket, tempfile

absent, modules, platform, folder = json.loads(sys.argv[1])
for name in absent:
    place, attribute = name.split(".")
    if hasattr(sys.modules[place], attribute):
        delattr(sys.modules[place], attribute)
for name in modules:
    sys.modules[name] = None
sys.platform = platform
os.environ["TORCHGEN_CACHE_DIR"] = folder

import torchgen_out as torch
from torchgen_out.utils.data import DataLoader

model = torch.nn.Sequential(torch.nn.Conv2d(1, 2, 3), torch.nn.ReLU(), torch.nn.Flatten())
optimizer = torch.optim.SGD(model.parameters(), lr=0.1)
for batch in DataLoader(torch.randn(4, 1, 5, 5), batch_size=2):
    model(batch).sum().backward()
    optimizer.step()
path = os.path.join(folder, "model.pt")
torch.save(model.state_dict(), path)
for mapped in (False, True):
    model.load_state_dict(torch.load(path, mmap=mapped))
flat = torch.FloatStorage.from_file(os.path.join(folder, "flat"), shared=True, size=3)
flat.fill_(2)
del flat
again = torch.FloatStorage.from_file(os.path.join(folder, "flat"), size=3)
said = ""
try:
    torch.ones(2).share_memory_()
except RuntimeError as error:
    said = str(error)
loading = ""
try:
    next(iter(DataLoader(torch.ones(4), num_workers=1)))
except RuntimeError as error:
    loading = str(error)
print(json.dumps([again.tolist(), said, loading]))
"""

NO_FORKS = ["os.fork", "os.forkpty", "os.register_at_fork", "os.geteuid", "os.getuid"]
NO_AFFINITY = ["os.sched_getaffinity", "os.sched_setaffinity", "os.memfd_create"]
NO_FLAGS = ["mmap.MAP_PRIVATE", "mmap.MAP_SHARED", "mmap.PROT_READ", "mmap.PROT_WRITE"]


def _run(folder: Path, platform: str, absent: list[str], modules: list[str]) -> list[object]:
    order = json.dumps([absent, modules, platform, str(folder)])
    ended = subprocess.run(
        [sys.executable, "-c", WITHOUT, order], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
    found: list[object] = json.loads(ended.stdout.splitlines()[-1])
    return found


def test_without_what_windows_lacks(tmp_path: Path) -> None:
    absent = [*NO_FORKS, *NO_AFFINITY, *NO_FLAGS]
    values, sharing, loading = _run(
        tmp_path, "win32", absent, ["fcntl", "resource", "pwd", "grp", "termios"]
    )
    assert values == [2, 2, 2]
    assert "not provided on Windows" in str(sharing)
    assert "num_workers=0" in str(loading)


def test_without_what_macos_lacks(tmp_path: Path) -> None:
    assert _run(tmp_path, "darwin", NO_AFFINITY, []) == [[2, 2, 2], "", ""]


@pytest.mark.parametrize("folder", ["codegen", "runtime", "tests", "torchgen_out"])
def test_checkouts_need_no_links(folder: str) -> None:
    """Git on Windows writes a link as a file with the target's name in it."""
    root = Path(__file__).resolve().parents[2]
    assert [str(path) for path in (root / folder).rglob("*") if path.is_symlink()] == []
