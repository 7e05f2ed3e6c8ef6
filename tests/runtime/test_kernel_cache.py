"""The kernel cache hits by content: another copy of the library compiles nothing again."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from torchgen_out._runtime.kernels import compiling_once, store
from torchgen_out._runtime.kernels.cpu.loops import pointwise
from torchgen_out.operators import pointwise as operators

ROOT = Path(__file__).resolve().parent.parent.parent

SCRIPT = """
import torchgen_out as torch
from torchgen_out._runtime.kernels import build, compiling_once
x = torch.linspace(0, 1, 24, dtype=torch.float64).view(4, 6).requires_grad_()
y = torch.nn.functional.softplus(x) + x[0]
y.sum().backward()
torch.cumsum(x.detach(), 0)
print(*build.cache_counts(), torch.__file__)
"""


def copy_library(target: Path) -> Path:
    """Another checkout, at another path and with other time stamps."""
    for package in ("runtime", "torchgen_out"):
        shutil.copytree(
            ROOT / package,
            target / package,
            ignore=shutil.ignore_patterns("__pycache__"),
            copy_function=shutil.copyfile,
        )
    return target


def start(library: Path, cache: Path) -> subprocess.Popen[str]:
    """A process that uses the copy of the library."""
    environment = {
        **os.environ,
        "PYTHONPATH": str(library),
        "TORCHGEN_CACHE_DIR": str(cache),
    }
    command = [sys.executable, "-c", SCRIPT]
    return subprocess.Popen(
        command, cwd=library, env=environment, stdout=subprocess.PIPE, text=True
    )


def counts(process: subprocess.Popen[str], library: Path) -> tuple[int, int]:
    """Loaded and compiled kernels of a process when it has ended."""
    loaded, compiled, file = process.communicate()[0].split()
    assert process.returncode == 0 and Path(file).is_relative_to(library)
    return int(loaded), int(compiled)


def run(library: Path, cache: Path) -> tuple[int, int]:
    """Loaded and compiled kernels of one process that uses the copy of the library."""
    return counts(start(library, cache), library)


def test_a_second_copy_compiles_nothing(tmp_path: Path) -> None:
    cache = tmp_path / "cache"
    loaded, compiled = run(copy_library(tmp_path / "first"), cache)
    assert loaded == 0
    assert compiled >= 4
    loaded, compiled = run(copy_library(tmp_path / "second"), cache)
    assert loaded >= 4
    assert compiled == 0


def test_of_two_processes_one_loads_what_the_other_compiles(tmp_path: Path) -> None:
    library, cache = copy_library(tmp_path / "library"), tmp_path / "cache"
    processes = [start(library, cache) for _ in range(2)]
    loaded = [counts(process, library)[0] for process in processes]
    assert (sum(loaded), 0) == run(library, cache)


def test_all_lock_the_file_of_whoever_keeps_a_text_first(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two that find no file make it at once: one that replaced it would lock another."""
    monkeypatch.setenv("TORCHGEN_CACHE_DIR", str(tmp_path))
    monkeypatch.setattr(Path, "exists", lambda path: False)
    first = store.keep_text("kernel.py", "text")
    assert first is not None
    before = first.stat().st_ino
    assert store.keep_text("kernel.py", "text") == first
    assert first.stat().st_ino == before
    assert first.read_text() == "text"


def test_texts_of_other_operators_do_not_depend_on_an_entry() -> None:
    def text_of(name: str) -> str:
        operator = getattr(operators, name)
        from torchgen_out._runtime.core import dtype as dtypes

        spec = pointwise.PointwiseSpec(
            operator.formulas[()],
            ("tensor",),
            (dtypes.float32,),
            (dtypes.float32,),
            dtypes.float32,
        )
        return pointwise.contiguous_text(spec)

    exp, tanh = text_of("exp"), text_of("tanh")
    assert "def tanh" not in exp
    assert "def tanh" in tanh
    assert str(ROOT) not in exp


FORKING = """
import os, signal, threading, torchgen_out as torch
x = torch.ones(100)
def use():
    assert (x + x).exp().log().sum() > 0
first = threading.Thread(target=use)
first.start()
for i in range(5):
    first.join(0.1 * i)
    child = os.fork()
    if child == 0:
        signal.alarm(20)
        use()
        os._exit(0)
    assert os.waitpid(child, 0)[1] == 0, f"child {i}"
first.join()
"""


@pytest.mark.skipif(not hasattr(os, "fork"), reason="this system cannot fork")
def test_a_fork_waits_for_kernels_that_another_thread_is_making() -> None:
    """Its child would wait for the locks of that thread, which it does not have, for ever."""
    subprocess.run([sys.executable, "-W", "ignore", "-c", FORKING], check=True, timeout=120)


def test_a_process_that_is_stuck_is_not_waited_for(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "kernel.py"
    path.write_text("")
    monkeypatch.setattr(compiling_once, "PATIENCE", 0.05)
    with open(path) as other:
        assert compiling_once._lock(other.fileno())
        with open(path) as own:
            assert not compiling_once._lock(own.fileno())
        with compiling_once.locked(path), compiling_once.locked(path):
            assert compiling_once._held == [path]
    assert not compiling_once._held
