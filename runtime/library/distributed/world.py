"""The groups of this process: the default one, and those made of parts of it."""

from __future__ import annotations

import hashlib
import itertools
import os
import threading
from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.distributed import (
    backend_names,
    constants,
    environment,
    errors,
    making,
)
from torchgen_out._runtime.library.distributed.backend_names import Backend
from torchgen_out._runtime.library.distributed.rendezvous import rendezvous
from torchgen_out._runtime.library.distributed.stores.store import PrefixStore, Store
from torchgen_out._runtime.library.multiprocessing.processors import share_processors


class _Known:
    """What is known of one group that this process is in."""

    def __init__(self, ranks: list[int], backend: str, store: Store, timeout: timedelta) -> None:
        self.ranks, self.backend, self.store, self.timeout = ranks, backend, store, timeout
        self.places = {rank: place for place, rank in enumerate(ranks)}


class _World:
    """The state of the module."""

    def __init__(self) -> None:
        self.default: Any = None
        self.groups: dict[Any, _Known] = {}
        self.numbers = itertools.count()
        self.lock = threading.RLock()


_world = _World()


class _GroupMeta(type):
    @property
    def WORLD(cls) -> Any:
        """The default group, or None."""
        return _world.default


class group(metaclass=_GroupMeta):
    """`group.WORLD` is the default group."""


class GroupMember(metaclass=_GroupMeta):
    """`GroupMember.WORLD` is the default group; `NON_GROUP_MEMBER` stands for one without us."""

    NON_GROUP_MEMBER = -100


# -- questions ------------------------------------------------------------------------------------


def is_available() -> bool:
    """Return True: processes can form groups."""
    return True


def is_initialized() -> bool:
    """Return whether there is a default group."""
    return _world.default is not None


def is_torchelastic_launched() -> bool:
    """Return whether a launcher has started the process."""
    return "TORCHELASTIC_RUN_ID" in os.environ


def _get_default_group() -> Any:
    """The default group. **Raises** ValueError if there is none."""
    if _world.default is None:
        raise errors.not_initialized()
    return _world.default


def resolve(given: Any) -> Any:
    """The group that a user has given, None for the default one. **Raises** ValueError."""
    if given is None or given is group.WORLD:
        return _get_default_group()
    return given


def is_outside(given: Any) -> bool:
    """Whether this process is not in a group."""
    return given is GroupMember.NON_GROUP_MEMBER or given == -100


def _known(given: Any) -> _Known:
    found = _world.groups.get(resolve(given))
    if found is None:
        raise ValueError("Invalid process group specified")
    return found


def get_rank(group: Any = None) -> int:
    """Return this process's rank in a group; -1 if it is not in there."""
    return -1 if is_outside(group) else int(resolve(group).rank())


def get_world_size(group: Any = None) -> int:
    """Return how many ranks a group has; -1 if this process is not in there."""
    return -1 if is_outside(group) else int(resolve(group).size())


def get_backend(group: Any = None) -> Backend:
    """Return the name of a group's backend. **Raises** ValueError for a group without us."""
    if is_outside(group):
        raise ValueError("Invalid process group specified")
    names = list(dict.fromkeys(backend_names.parse(_known(group).backend).values()))
    return Backend(names[0] if names else Backend.UNDEFINED)


def get_backend_config(group: Any = None) -> str:
    """Return the backends of a group by device types, such as "cpu:gloo,cuda:nccl"."""
    pairs = backend_names.parse(_known(group).backend).items()
    return ",".join(f"{device}:{name}" for device, name in pairs)


def get_default_backend_for_device(device: Any) -> str:
    """Return the backend that a device type has if nobody names one. **Raises** ValueError."""
    kind = torch.device(device).type
    if kind not in Backend.default_device_backend_map:
        raise ValueError(f"Default backend not registered for device : {device}")
    return Backend.default_device_backend_map[kind]


def get_process_group_ranks(group: Any = None) -> list[int]:
    """Return the global ranks of a group's members, in their order."""
    return list(_known(group).ranks)


def get_global_rank(group: Any, group_rank: int) -> int:
    """Return the global rank of a group's rank. **Raises** ValueError if there is none."""
    ranks = _known(group).ranks
    if not 0 <= group_rank < len(ranks):
        raise ValueError(f"Group rank {group_rank} is not part of group of {len(ranks)} ranks")
    return ranks[group_rank]


def get_group_rank(group: Any, global_rank: int) -> int:
    """Return the group's rank of a global rank. **Raises** ValueError if it is not in there."""
    places = _known(group).places
    if global_rank not in places:
        raise ValueError(f"Global rank {global_rank} is not part of group {resolve(group)}")
    return places[global_rank]


def get_node_local_rank(fallback_rank: int | None = None) -> int:
    """Return this process's number on its machine, which the launcher tells."""
    found = environment.number("LOCAL_RANK")
    if found is None and fallback_rank is None:
        raise RuntimeError(
            "LOCAL_RANK is not in the environment. Consider passing fallback_rank to allow "
            "`get_node_local_rank` to work, assuming you are not running in a multi-device "
            "context and want the code to run locally instead."
        )
    return int(found if found is not None else fallback_rank)  # type: ignore[arg-type]


def by_name(name: str) -> Any:
    """Return the group of a name. **Raises** ValueError if this process is in none."""
    for each in _world.groups:
        if each.group_name == name:
            return each
    raise ValueError(f"this process is in no process group '{name}'")


def get_pg_count() -> int:
    """Return how many groups there are."""
    return len(_world.groups)


def is_default(given: Any) -> bool:
    """Whether a group is the default one."""
    return given is None or given is _world.default


def store_of(group: Any) -> Store:
    """Return the store in which a group's members can leave things for each other."""
    return _known(group).store


def timeout_of(group: Any) -> timedelta:
    """Return how long calls of a group may take."""
    return _known(group).timeout


# -- beginning and end ----------------------------------------------------------------------------


def init_process_group(
    backend: str | None = None,
    init_method: str | None = None,
    timeout: timedelta | None = None,
    world_size: int = -1,
    rank: int = -1,
    store: Store | None = None,
    group_name: str = "",
    pg_options: Any = None,
    device_id: Any = None,
    _ranks: list[int] | None = None,
) -> None:
    """Make the default group of all processes of the job; returns when all have come.

    backend: "gloo", "mpi", "nccl", one from outside, or "cpu:gloo,cuda:nccl". init_method: a URL
    (`env://`, `tcp://host:port`, `file:///path`); or a `store` with `rank` and `world_size`.
    timeout: how long a call may take at most, 30 minutes if not given.
    **Raises** ValueError for arguments that do not fit or a group that there is; DistNetworkError,
    DistStoreError or DistBackendError if the processes do not find each other in time.
    """
    if is_initialized():
        raise ValueError("trying to initialize the default process group twice!")
    if store is not None and init_method is not None:
        raise ValueError("Cannot specify both init_method and store.")
    if timeout is not None and not isinstance(timeout, timedelta):
        raise TypeError(
            f"Expected timeout argument to be of type datetime.timedelta, got {timeout}"
        )
    share_processors(environment.number("LOCAL_WORLD_SIZE") or 1)
    wanted = (backend or Backend.UNDEFINED).lower()
    devices = backend_names.parse(backend)
    seconds = timeout or constants.default_pg_timeout
    if set(devices.values()) == {"mpi"}:
        rank, world_size, store = making.ranks_of_mpi(rank, world_size, store)
    elif store is None:
        store, rank, world_size = next(
            rendezvous(init_method or "env://", rank, world_size, timeout=seconds)
        )
    if rank < 0 or world_size < 1 or rank >= world_size:
        raise ValueError(f"rank {rank} and world_size {world_size} do not fit together")
    assert store is not None
    store.set_timeout(seconds)
    made = _make(list(range(world_size)), rank, wanted, store, seconds, "default", pg_options)
    _world.default = made


def destroy_process_group(group: Any = None) -> None:
    """Hang up: end a group, or without one all of them. **Raises** ValueError for a stranger."""
    if is_outside(group):
        return
    given = _get_default_group() if group is None else group
    if given not in _world.groups:
        raise ValueError("Invalid process group specified")
    ends = list(_world.groups) if is_default(given) else [given]
    for each in reversed(ends):
        _world.groups.pop(each)
        if hasattr(each, "shutdown"):
            each.shutdown()
        if is_default(each):
            _world.default = None
    if not _world.groups:
        _world.numbers = itertools.count()


def _make(
    ranks: list[int],
    rank: int,
    backend: str,
    store: Store,
    timeout: timedelta,
    name: str,
    options: Any,
    description: str | None = None,
) -> Any:
    """A group of which this process is a member, with the rank `rank` in it."""
    own = PrefixStore(f"group:{name}", store)
    devices = backend_names.parse(backend)
    made: Any = making.group(devices, own, ranks, rank, timeout, name, options)
    made.group_name, made.group_desc = name, description or name
    _world.groups[made] = _Known(ranks, backend, own, timeout)
    return made


# -- parts ----------------------------------------------------------------------------------------


def new_group(
    ranks: Sequence[int] | None = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    use_local_synchronization: bool = False,
    group_desc: str | None = None,
    device_id: Any = None,
    sort_ranks: bool = True,
) -> Any:
    """Make a group of some global ranks, None for all. All processes call it, in the same order.

    Returns `GroupMember.NON_GROUP_MEMBER` where the process is not in there.
    use_local_synchronization: only members call it.
    **Raises** ValueError for ranks that are not there, or twice; RuntimeError for an empty list.
    """
    default = _get_default_group()
    all_ranks, own = _known(None), get_rank()
    members = list(range(default.size())) if ranks is None else list(ranks)
    if not members:
        raise RuntimeError("new_group: a group needs a rank at least")
    if len(set(members)) != len(members) or not set(members) <= set(all_ranks.places):
        raise ValueError(
            f"new_group: {members} are no different ranks of the {default.size()} that there are"
        )
    members = sorted(members) if sort_ranks else members
    if use_local_synchronization:
        if own not in members:
            return GroupMember.NON_GROUP_MEMBER
        name = _local_name(members)
    else:
        name = str(next(_world.numbers))
    if own not in members:
        return GroupMember.NON_GROUP_MEMBER
    kind = (backend or all_ranks.backend).lower()
    seconds = timeout or all_ranks.timeout
    place = members.index(own)
    return _make(members, place, kind, all_ranks.store, seconds, name, pg_options, group_desc)


def _local_name(members: list[int]) -> str:
    """A name that the members alone agree on: of those members, and how many such groups were."""
    digest = hashlib.sha256(repr(members).encode()).hexdigest()[:16]
    before = sum(known.ranks == members for known in _world.groups.values())
    return f"local:{digest}:{before}"


def new_subgroups(
    group_size: int | None = None,
    group: Any = None,
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Split all ranks into groups of `group_size` neighbours; return the own one and all.

    **Raises** ValueError if the sizes do not divide.
    """
    if group_size is None:
        group_size = int(os.environ.get("LOCAL_WORLD_SIZE", 0)) or torch.cuda.device_count() or 1
        warn(f"new_subgroups: groups of {group_size}")
    size = get_world_size(group)
    if group_size <= 0 or group_size > size:
        raise ValueError(f"group_size: {group_size} is not within 1 and the world size {size}")
    if size % group_size:
        raise ValueError(
            f"The world size ({size}) must be divisible by the group size ({group_size})"
        )
    everyone = get_process_group_ranks(group)
    lists = [everyone[first : first + group_size] for first in range(0, size, group_size)]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)


def new_subgroups_by_enumeration(
    ranks_per_subgroup_list: Sequence[Sequence[int]],
    timeout: timedelta | None = None,
    backend: str | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
) -> tuple[Any, list[Any]]:
    """Make a group for each list of ranks, which share none; return the own one (or None) and all.

    **Raises** ValueError for an empty list, or a rank that is in two.
    """
    if not ranks_per_subgroup_list:
        raise ValueError("The arg 'ranks_per_subgroup_list' cannot be empty")
    flat = [rank for ranks in ranks_per_subgroup_list for rank in ranks]
    if len(flat) != len(set(flat)):
        raise ValueError(f"new_subgroups: a rank is in two groups: {ranks_per_subgroup_list}")
    own, groups = None, []
    for ranks in ranks_per_subgroup_list:
        made = new_group(ranks, timeout, backend, pg_options, group_desc=group_desc)
        groups.append(made)
        if get_rank() in ranks:
            own = made
    return own, groups


def split_group(
    parent_pg: Any = None,
    split_ranks: Sequence[Sequence[int]] | None = None,
    timeout: timedelta | None = None,
    pg_options: Any = None,
    group_desc: str | None = None,
    backend: Any = None,
) -> Any:
    """Split a group into groups of its own ranks; return the one with this process, or None.

    **Raises** ValueError without lists of ranks.
    """
    if not split_ranks:
        raise ValueError("split_ranks cannot be None or empty")
    ranks = get_process_group_ranks(parent_pg)
    lists = [[ranks[place] for place in places] for places in split_ranks]
    return new_subgroups_by_enumeration(lists, timeout, backend, pg_options, group_desc)[0]


def shrink_group(
    ranks_to_exclude: list[int], group: Any = None, shrink_flags: int = 0, pg_options: Any = None
) -> Any:
    """Make a group of those who are left of one. Only they call it.

    The default group is replaced by it. **Raises** ValueError for ranks that are not in there.
    """
    known = _known(group)
    if not set(ranks_to_exclude) <= set(range(len(known.ranks))):
        raise ValueError(f"shrink_group: {ranks_to_exclude} are no ranks of {known.ranks}")
    members = [r for place, r in enumerate(known.ranks) if place not in set(ranks_to_exclude)]
    was_default = is_default(group)
    made = new_group(members, known.timeout, known.backend, pg_options, True)
    if was_default and not is_outside(made):
        old, _world.default = _world.default, made
        _world.groups[made].ranks = list(range(len(members)))
        _world.groups[made].places = {rank: rank for rank in range(len(members))}
        _world.groups.pop(old)
        if hasattr(old, "shutdown"):
            old.shutdown()
    return made


public.place("distributed", group, GroupMember)
