"""Classes are found by the names they give, and modules load in any order."""

from __future__ import annotations

import importlib
import inspect
import pkgutil
import subprocess
import sys

import pytest

import torchgen_out as torch
import torchgen_out.nn as ours_nn
from codegen.check import names
from codegen.model import vocabulary
from codegen.project import LIBRARY


def test_class_names_lead_to_the_class() -> None:
    """What pickling asks of every class that `nn` shows."""
    for name in ours_nn.__all__:
        value = getattr(ours_nn, name)
        if inspect.isclass(value):
            assert getattr(sys.modules[value.__module__], value.__qualname__) is value


def test_the_generator_knows_the_members_of_tensors() -> None:
    """What is hand-written is not replaced by operators outside the tree; what formulas call is."""
    members = names.members(LIBRARY.read().surface.classes["Tensor"])
    for name, value in vars(torch.Tensor).items():
        written = value.fget if isinstance(value, property) else value
        if str(getattr(written, "__module__", "")).startswith("torchgen_out._runtime"):
            assert name in members or name.startswith("__"), name
    classes = (torch.Tensor, torch.dtype, torch.device)
    for name in vocabulary.RECORD_METHODS | vocabulary.RECORD_PROPERTIES:
        assert any(hasattr(each, name) for each in classes), name


IMPORTS = """
import os, sys
failed = []
for name in sys.argv[1:]:
    child = os.fork()
    if child == 0:
        status = 1
        try:
            __import__(name)
            import torchgen_out as torch
            torch.nn.Linear, torch.nn.modules.conv.Conv2d, torch.optim.SGD
            torch.optim.lr_scheduler.StepLR, torch.nn.utils.rnn.pad_sequence
            status = 0
        finally:
            os._exit(status)
    if os.waitpid(child, 0)[1]:
        failed.append(name)
sys.exit(" ".join(failed) or 0)
"""


@pytest.mark.parametrize(
    "first",
    [
        [
            "torchgen_out._runtime.library.nn.activation",
            "torchgen_out._runtime.library.nn.functional",
            "torchgen_out._runtime.library.optim.adam",
        ],
        pytest.param(None, marks=pytest.mark.full),
    ],
    ids=["some", "all"],
)
def test_any_module_may_be_imported_first(first: list[str] | None) -> None:
    if first is None:
        packages = (
            "torchgen_out._runtime.library.nn",
            "torchgen_out._runtime.library.optim",
            "torchgen_out.nn",
            "torchgen_out.optim",
        )
        first = [
            each.name
            for package in packages
            for each in pkgutil.walk_packages(
                importlib.import_module(package).__path__, f"{package}."
            )
        ]
        assert len(first) > 100
    ended = subprocess.run(
        [sys.executable, "-c", IMPORTS, *first], capture_output=True, text=True, check=False
    )
    assert ended.returncode == 0, ended.stderr
