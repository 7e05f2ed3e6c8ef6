"""Makes `import torch` mean this library, for a program and the processes that it starts.

`python -m torchgen_out.as_torch train.py arguments` runs a program so; `-m module` runs a module;
`import torchgen_out.as_torch` does it for a process. There is one copy of everything: `torch.nn`
is the module `torchgen_out.nn`, and the classes of both say that they are of `torch`.
"""

from __future__ import annotations

import importlib
import importlib.util
import runpy
import sys
from collections.abc import Iterator, Sequence
from email.message import Message
from importlib import abc, machinery, metadata
from multiprocessing import forkserver, spawn
from pathlib import Path
from types import ModuleType
from typing import Any

import torchgen_out
from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings import inspection
from torchgen_out._runtime.core import public, version
from torchgen_out.public_modules import PUBLIC_MODULES

__all__ = ["activate", "main"]

_USAGE = "usage: python -m torchgen_out.as_torch (SCRIPT | -m MODULE) [ARGUMENTS ...]"


def _own_name(name: str) -> str:
    return "torchgen_out" + name.removeprefix("torch")


class _Alias(abc.Loader):
    """Loads `torch.x` by putting the module `torchgen_out.x` in its place."""

    def create_module(self, spec: machinery.ModuleSpec) -> None:
        """Leave the making to Python: what it makes is replaced."""

    def exec_module(self, module: ModuleType) -> None:
        """Let the name stand for the module that we have."""
        sys.modules[module.__name__] = importlib.import_module(_own_name(module.__name__))


class Torch(metadata.Distribution):
    """What `importlib.metadata` says of the distribution `torch`."""

    def read_text(self, filename: str) -> str | None:
        """Return a file of the distribution's description: there is only METADATA."""
        if filename != "METADATA":
            return None
        message = Message()
        message["Metadata-Version"] = "2.1"
        message["Name"] = "torch"
        message["Version"] = str(version.__version__)
        return message.as_string()

    def locate_file(self, path: Any) -> Path:
        """Return where a file of the distribution lies."""
        place: Path = Path(str(torchgen_out.__file__)).parent / path
        return place


class Finder(abc.MetaPathFinder):
    """Finds `torch` and all that is below it in this library, before anybody else is asked."""

    def find_spec(
        self, fullname: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> machinery.ModuleSpec | None:
        """Return how `torch.x` is loaded; None for other names and for what we have not."""
        if fullname != "torch" and not fullname.startswith("torch."):
            return None
        try:
            found = importlib.util.find_spec(_own_name(fullname))
        except ModuleNotFoundError:  # its package has no such module either
            return None
        return None if found is None else machinery.ModuleSpec(
            fullname, _Alias(), origin=found.origin,
            is_package=found.submodule_search_locations is not None,
        )  # fmt: skip

    def find_distributions(self, context: Any = None) -> Iterator[metadata.Distribution]:
        """Find the distribution `torch`, in which programs look up the version."""
        if context is None or context.name is None or context.name.lower() == "torch":
            yield Torch()


class _Activation:
    """Travels to a spawned process and is unpickled there before the program is imported."""

    def __reduce__(self) -> tuple[Any, tuple[str]]:
        return exec, (f"import sys; sys.path[:] = {sys.path!r}; import torchgen_out.as_torch",)


def _tell_children() -> None:
    """Let processes that `multiprocessing` spawns begin as this one did."""
    describe = spawn.get_preparation_data

    def get_preparation_data(name: str) -> dict[str, Any]:
        return {**describe(name), "torchgen_out": _Activation()}

    spawn.get_preparation_data = get_preparation_data
    forkserver.set_forkserver_preload(["torchgen_out.as_torch"])


def activate() -> None:
    """Let `import torch` mean this library from now on.

    **Raises** RuntimeError if PyTorch is imported already.
    """
    if any(isinstance(each, Finder) for each in sys.meta_path):
        return
    loaded = sys.modules.get("torch")
    if loaded is not None:
        raise errors.real_torch_loaded(getattr(loaded, "__file__", None))
    sys.meta_path.insert(0, Finder())
    torchgen_out.__name__ = "torch"
    public.rename("torch")
    for name, place in PUBLIC_MODULES.items():
        PUBLIC_MODULES[name] = "torch" + place.removeprefix("torchgen_out")
    for module in (torchgen_out, torchgen_out.linalg, torchgen_out.fft, torchgen_out.special):
        inspection.show(list(vars(module).values()))
    _tell_children()


def main(arguments: Sequence[str] | None = None) -> None:
    """Run a script or, after `-m`, a module, in which `torch` means this library."""
    given = list(sys.argv[1:] if arguments is None else arguments)
    is_module = given[:1] == ["-m"]
    if is_module:
        given = given[1:]
    if not given or given[0].startswith("-"):
        sys.exit(_USAGE)
    activate()
    sys.argv = given
    if is_module:
        runpy.run_module(given[0], run_name="__main__", alter_sys=True)
    else:
        sys.path[0] = str(Path(given[0]).resolve().parent)
        sys.path.append(str(Path(str(torchgen_out.__file__)).parent.parent))
        runpy.run_path(given[0], run_name="__main__")
