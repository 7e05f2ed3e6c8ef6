"""The package as people install it: one importable name, whatever stands beside their script."""

from __future__ import annotations

import os
import subprocess
import sys
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy
import pytest

ROOT = Path(__file__).resolve().parents[2]

TEN_OPERATORS = """
import torchgen_out as torch

x = torch.tensor([[1.0, 2.0], [3.0, 4.0]], requires_grad=True)
values = [
    x + x, x.exp(), x.sum(), x.mean(0), x @ x, x.t(), torch.cat([x, x]), x.max(1).values,
    x.softmax(0), torch.linalg.inv(x),
]
torch.stack([value.sum() for value in values]).sum().backward()
print(torch.nn.Linear(2, 2)(x).shape, x.grad.isfinite().all().item())
"""

OPERATOR = """
- func: softcube(Tensor self) -> Tensor
  variants: function, method
  dtypes: floating
  pointwise: self * self * self / (1 + self * self)
  samples: {self: [-3, 3]}
  doc: Grows like the identity, starts like a cube.
"""

DERIVATIVE = "- name: softcube\n  self: auto\n"

OWN_OPERATOR = """
import my_ops, torchgen_out as torch
x = torch.tensor([2.0], requires_grad=True)
my_ops.softcube(x).backward()
print(round(x.grad.item(), 4))
"""


@dataclass(frozen=True)
class Installed:
    """An environment with nothing but the wheel and its dependencies; a folder full of traps."""

    python: Path
    packages: Path
    """Its site-packages."""
    work: Path

    def run(self, *command: str, expected: int = 0) -> str:
        """Run Python in the folder; return what it prints."""
        environment = {k: v for k, v in os.environ.items() if not k.startswith("PYTHON")}
        ended = subprocess.run(
            [str(self.python), *command],
            cwd=self.work,
            env=environment,
            capture_output=True,
            text=True,
            check=False,
        )
        assert ended.returncode == expected, ended.stdout + ended.stderr
        return ended.stdout + ended.stderr

    def files(self) -> dict[str, tuple[int, int]]:
        """Size and time of everything that the wheel installed, without Python's own caches."""
        return {
            str(path): (path.stat().st_size, path.stat().st_mtime_ns)
            for path in self.packages.rglob("*")
            if path.is_file() and path.parent.name != "__pycache__"
        }


def _built(folder: Path) -> Path:
    """A wheel, by way of a source distribution."""
    command = [sys.executable, "-m", "build", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    ended = subprocess.run(command, capture_output=True, text=True, check=False)
    assert ended.returncode == 0, ended.stdout + ended.stderr
    assert len(list(folder.glob("*.tar.gz"))) == 1
    return next(folder.glob("*.whl"))


def _environment(folder: Path) -> tuple[Path, Path]:
    """A Python that finds this one's packages, but not this checkout; and its site-packages."""
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(folder)], check=True)
    packages = next(folder.rglob("site-packages"))
    (packages / "dependencies.pth").write_text(f"{Path(numpy.__file__).parents[1]}\n")
    scripts = "Scripts" if os.name == "nt" else "bin"
    return next((folder / scripts).glob("python*")), packages


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Installed:
    folder = tmp_path_factory.mktemp("installed")
    python, packages = _environment(folder / "environment")
    with zipfile.ZipFile(_built(folder / "dist")) as wheel:
        wheel.extractall(packages)
    work = folder / "work"
    for name in ("runtime", "codegen"):
        (work / name).mkdir(parents=True)
        (work / name / "__init__.py").write_text(f"raise ImportError('{name} of the user')\n")
    return Installed(python, packages, work)


def test_one_name_is_installed(installed: Installed) -> None:
    names = {path.name for path in installed.packages.iterdir()} - {"dependencies.pth"}
    assert {name for name in names if not name.endswith(".dist-info")} == {"torchgen_out"}
    distribution = next(name for name in names if name.endswith(".dist-info"))
    scripts = (installed.packages / distribution / "entry_points.txt").read_text()
    assert "torchgen-out = torchgen_out.codegen.__main__:run" in scripts


def test_operators_run(installed: Installed) -> None:
    assert "True" in installed.run("-c", TEN_OPERATORS)


def _generator(installed: Installed, options: Sequence[str], expected: int = 0) -> str:
    before = installed.files()
    printed = installed.run("-m", "torchgen_out.codegen", *options, expected=expected)
    assert installed.files() == before, "the generator wrote to the installed package"
    return printed


def test_the_installed_package_is_as_generated(installed: Installed) -> None:
    assert _generator(installed, ["--check"]) == ""


@pytest.mark.parametrize("options", [[], ["--force"], ["new", "softcube"]])
def test_the_library_is_not_regenerated_in_place(installed: Installed, options: list[str]) -> None:
    assert "installed" in _generator(installed, options, expected=1)


def test_operators_of_ones_own(installed: Installed) -> None:
    (installed.work / "my_ops.yaml").write_text(OPERATOR)
    (installed.work / "my_derivatives.yaml").write_text(DERIVATIVE)
    options = ["--functions", "my_ops.yaml", "--derivatives", "my_derivatives.yaml"]
    options += ["--out", "my_ops"]
    assert "1 operators" in _generator(installed, options)
    assert installed.run("-c", OWN_OPERATOR).strip() == "1.12"
    assert "0 files written" in _generator(installed, [*options, "--check"])
    assert "softcube" in _generator(installed, ["explain", "softcube", *options])
    assert "softcube" in _generator(installed, ["verify", "softcube", *options])
