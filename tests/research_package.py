"""The package of examples/research_ops, generated into a folder of the test run."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from codegen.__main__ import main

RESEARCH = Path(__file__).parents[1] / "examples" / "research_ops"


@contextmanager
def generated(
    folder: Path, name: str, files: Path = RESEARCH, stem: str = "research"
) -> Iterator[Any]:
    """The package `name`, made in `folder` of `stem`_ops.yaml and `stem`_derivatives.yaml."""
    given = ["--functions", str(files / f"{stem}_ops.yaml")]
    given += ["--derivatives", str(files / f"{stem}_derivatives.yaml")]
    assert main([*given, "--out", str(folder / name)]) == 0
    sys.path.insert(0, str(folder))
    try:
        yield importlib.import_module(name)
    finally:
        sys.path.remove(str(folder))


def module_of(name: str) -> Any:
    """A module of the example, which is a folder of scripts."""
    sys.path.insert(0, str(RESEARCH))
    try:
        return importlib.import_module(name)
    finally:
        sys.path.remove(str(RESEARCH))
