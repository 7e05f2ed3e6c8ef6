"""Tests that need a GPU: `make gpu` runs them and writes a page about the run.

Without a GPU they are collected and skipped. With `--emulated` they run on the emulated driver of
`tests/cuda`, which tests the tests.
"""

from __future__ import annotations

import platform
import time
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

import torchgen_out as torch
from tests.cuda.conftest import emulated
from torchgen_out._runtime.backends.cuda import availability

__all__ = ["emulated"]

PACKAGES = ("torchgen-out", "numba-cuda", "cuda-core", "cuda-bindings", "nvmath-python",
            "nvidia-cublas", "nvidia-cufft", "nvidia-cusolver", "nvidia-cudnn-cu13",
            "nvidia-cuda-sanitizer-api", "numpy", "torch")  # fmt: skip


def pytest_addoption(parser: pytest.Parser) -> None:
    """Options of `make gpu`."""
    parser.addoption("--gpu-report", type=Path, default=None, help="write a page about the run")
    parser.addoption("--emulated", action="store_true", help="on the emulated driver")


def is_emulated(config: pytest.Config) -> bool:
    """Whether an emulated driver takes the place of NVIDIA's."""
    return bool(config.getoption("--emulated", False))


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Mark what is in this folder, and skip it where there is no GPU."""
    own = [item for item in items if Path(__file__).parent in item.path.parents]
    reasons = () if is_emulated(config) else availability.missing()
    for item in own:
        item.add_marker(pytest.mark.gpu)
        if reasons:
            item.add_marker(pytest.mark.skip(reason="; ".join(reasons)))


@pytest.fixture(autouse=True)
def device(request: pytest.FixtureRequest) -> Iterator[Any]:
    """The GPU, its work done at the end."""
    if is_emulated(request.config):
        request.getfixturevalue("emulated")
    yield torch.device("cuda", 0)
    torch.cuda.synchronize()


def pytest_terminal_summary(terminalreporter: Any, config: pytest.Config) -> None:
    """Write the page that `--gpu-report` asks for."""
    path = config.getoption("--gpu-report", None)
    if path is not None and not is_emulated(config) and torch.cuda.is_available():
        path.write_text(_page(terminalreporter.stats), encoding="utf-8")


def _page(stats: dict[str, list[Any]]) -> str:
    """When, on what, with which versions, and what became of the tests."""
    card = torch.cuda.get_device_properties(0)
    rows = [f"| {name} | {_version(name)} |" for name in PACKAGES]
    counts = [f"| {name} | {len(stats.get(name, ()))} |" for name in ("passed", "failed", "error")]
    missing = sorted({_reason(each) for each in stats.get("skipped", ())})
    failed = [f"- {each.nodeid}" for each in (*stats.get("failed", ()), *stats.get("error", ()))]
    return "\n".join([
        "# Tests on a GPU", "",
        f"{time.strftime('%Y-%m-%d')}, {card.name} (compute capability {card.major}.{card.minor}, "
        f"{card.total_memory >> 20} MiB), {platform.platform()}, Python "
        f"{platform.python_version()}.", "",
        "| package | version |", "|---|---|", *rows, "", "| tests | number |", "|---|---|", *counts,
        f"| skipped | {len(stats.get('skipped', ()))} |", "",
        *(["## Failed", "", *failed, ""] if failed else []),
        *(["## Skipped", "", *[f"- {each}" for each in missing], ""] if missing else []),
    ])  # fmt: skip


def _version(package: str) -> str:
    try:
        return metadata.version(package)
    except metadata.PackageNotFoundError:
        return "not installed"


def _reason(report: Any) -> str:
    return str(report.longrepr[2] if isinstance(report.longrepr, tuple) else report.longrepr)
