"""Whatever is used first, all names mean the same afterwards.

A facade copies the names of a hand-written module. If that one is only half loaded, because the
facade itself was imported on the way, names are missing for the rest of the process. So each
submodule, and each name that loads late, is the first to be used in a process of its own.
"""

from __future__ import annotations

import json
import os
import pkgutil
import subprocess
import sys
from functools import cache
from pathlib import Path

import pytest

import torchgen_out as torch

_WALK = """
import importlib, json, os, sys
import torchgen_out as torch

firsts, names, submodules, workers = json.loads(sys.argv[1])

def contents(first):
    found = {}
    if first in names:
        getattr(torch, first)
    else:
        try:
            importlib.import_module(first)
        except ImportError:
            pass
    modules = {}
    for name in submodules:
        try:
            modules[name] = importlib.import_module(name)
        except ImportError as error:  # what it stands on is not installed
            found[name] = [str(error)]
    for name, module in modules.items():
        found[name] = sorted(each for each in vars(module) if each[:2] != "__")
    found["torchgen_out"] = sorted(each for each in names if not hasattr(torch, each))
    return found

def child(first, output):
    try:
        text = json.dumps([first, contents(first)])
    except BaseException as error:
        text = json.dumps([first, f"{type(error).__name__}: {error}"])
    with open(output, "a") as file:
        file.write(text + "\\n")

# `import torchgen_out` comes before everything, and a fork of it is as fresh as a new process.
output, running = sys.argv[2], 0
for first in firsts:
    if first in sys.modules:
        continue  # using it loads nothing
    if running == workers:
        os.wait()
        running -= 1
    if os.fork() == 0:
        child(first, output)
        os._exit(0)
    running += 1
for _ in range(running):
    os.wait()
"""


@cache
def submodules() -> list[str]:
    """Every public module of the package."""
    found = ["torchgen_out"]
    for each in pkgutil.walk_packages(torch.__path__, "torchgen_out."):
        if not any(part.startswith("_") for part in each.name.split(".")):
            found.append(each.name)
    return [name for name in found[1:] if name != "torchgen_out.as_torch"]  # renames the others


def late_names() -> list[str]:
    """What `torchgen_out` loads when it is first asked for it."""
    return sorted([*torch._LAZY_MODULES, *torch._LAZY_NAMES])


def first_uses() -> list[str]:
    """One for every module that `torchgen_out` loads late, by a name where it has one."""
    by_module = {module: name for name, module in torch._LAZY_NAMES.items()}
    return sorted({*torch._LAZY_MODULES, *by_module.values()})


def test_whatever_is_used_first(tmp_path: Path) -> None:
    check(first_uses(), tmp_path)


@pytest.mark.full
def test_whatever_is_used_first_of_all(tmp_path: Path) -> None:
    check([*late_names(), *submodules()], tmp_path)


def check(firsts: list[str], tmp_path: Path) -> None:
    """Each is the first that a process uses; all have the same names then."""
    output = tmp_path / "found"
    given = json.dumps([firsts, late_names(), submodules(), os.cpu_count() or 1])
    subprocess.run([sys.executable, "-c", _WALK, given, output], check=True, timeout=1800)
    with open(output) as file:
        found = dict(json.loads(line) for line in file)
    assert {"nn", "optim", "save"} & {*firsts} <= found.keys() and len(found) > 10
    failed = {first: problem for first, problem in found.items() if isinstance(problem, str)}
    assert failed == {}
    expected = found["nn"]
    assert "Linear" in expected["torchgen_out.nn"] and expected["torchgen_out"] == []
    for first, names in found.items():
        missing = {
            module: sorted(set(expected[module]) ^ set(names[module]))
            for module in expected
            if expected[module] != names[module]
        }
        assert missing == {}, f"after {first} as the first use"


_REPLACED = """
import importlib, json, sys, types
import torchgen_out

replaced = []
for name in json.loads(sys.argv[1]):
    package, _, own = name.rpartition(".")
    try:
        before = getattr(importlib.import_module(package), own, None)
        importlib.import_module(name)
    except ImportError:
        continue
    after = getattr(sys.modules[package], own)
    is_module = before is None or isinstance(before, types.ModuleType)
    if not is_module and after is not before:
        replaced.append(name)
print(json.dumps(replaced))
"""


def test_no_module_takes_the_name_of_a_function() -> None:
    """An import binds a module in its package: after that of `multiprocessing.spawn`, the function
    of that name would be gone."""
    command = [sys.executable, "-W", "ignore", "-c", _REPLACED, json.dumps(submodules())]
    done = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    assert json.loads(done.stdout) == []


_START = """
import gc, sys, weakref

class Ring:
    pass

ring = Ring()
ring.own, ring_is = ring, weakref.ref(ring)
if sys.argv[1] == "frozen":
    gc.freeze()
walks = [0]
gc.callbacks.append(lambda phase, walk: walks.append(len(gc.get_objects(0))))
import torchgen_out

own = [name for name in sys.modules if name.startswith("torchgen_out._runtime.")]
names = list(sys.modules)
before = [name for name in own if names.index(name) < names.index("numpy")]
walked, frozen = max(walks) > 10_000, gc.get_freeze_count()
del ring
gc.collect()
print(before, walked, frozen > 0, ring_is() is None, gc.isenabled())
"""


@pytest.mark.parametrize(
    ("way", "frozen", "collected"), [("free", False, True), ("frozen", True, False)]
)
def test_the_import_is_not_collected_and_keeps_what_is_frozen(
    way: str, frozen: bool, collected: bool
) -> None:
    """NumPy comes first, which is said in `__init__`. What was made is old without a walk over it,
    unless others froze something: that stays frozen, and nothing else is."""
    run = subprocess.run(
        [sys.executable, "-c", _START, way], capture_output=True, text=True, check=True
    )
    first = ["torchgen_out._runtime.interpreters", "torchgen_out._runtime.collector"]
    assert run.stdout.split("] ") == [f"{first}"[:-1], f"{frozen} {frozen} {collected} True\n"]
