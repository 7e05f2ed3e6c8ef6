"""Groups made of backends: the library's own, and those that others have registered."""

from __future__ import annotations

from datetime import timedelta
from types import SimpleNamespace
from typing import Any

from torchgen_out._runtime.library.distributed.backend_names import Backend
from torchgen_out._runtime.library.distributed.gloo.process_group import ProcessGroupGloo
from torchgen_out._runtime.library.distributed.process_group import ProcessGroup
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
            return _own(self.name, self._store, self._ranks, self._rank, timeout)
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


def _own(name: str, store: Store, ranks: list[int], rank: int, timeout: timedelta) -> Any:
    size = len(ranks)
    if name == "gloo":
        return ProcessGroupGloo(store, rank, size, timeout)
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
    """Who we are among the processes that `mpiexec` has started; a store for what needs one."""
    raise RuntimeError("Distributed package doesn't have MPI built in: install torchgen-out[mpi]")
