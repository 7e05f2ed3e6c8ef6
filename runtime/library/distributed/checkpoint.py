"""Checkpoints that all ranks write together: each its part, whole or not at all.

A checkpoint is a folder with files of tensors and an index, `.metadata`, that names them with their
lengths and checksums. New files get names of their own and the index is replaced at the end, so a
process killed at any moment leaves the checkpoint before. Any number of ranks can load it: each
reads the files that have what it asks for.
"""

from __future__ import annotations

import hashlib
import json
import os
import secrets
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import collectives, objects, world

__all__ = [
    "CheckpointException", "FileSystemReader", "FileSystemWriter", "load", "load_state_dict",
    "save", "save_state_dict",
]  # fmt: skip

INDEX = ".metadata"
_FORMAT = "torchgen_out checkpoint 1"
_MOST_INDEX_BYTES = 1 << 28


class CheckpointException(RuntimeError):
    """A checkpoint cannot be written, or is not whole."""


class FileSystemWriter:
    """Where a checkpoint is written: a folder, made if there is none."""

    def __init__(self, path: str | os.PathLike[str], **unused: Any) -> None:
        self.path = Path(path)


class FileSystemReader:
    """Where a checkpoint is read."""

    def __init__(self, path: str | os.PathLike[str], **unused: Any) -> None:
        self.path = Path(path)


def _folder(checkpoint_id: Any, storage: Any) -> Path:
    if checkpoint_id is not None:
        return Path(checkpoint_id)
    if storage is None:
        raise ValueError("checkpoint_id or a storage with a path is needed")
    return Path(storage.path)


def _leaves(state: Any, prefix: tuple[Any, ...] = ()) -> Iterator[tuple[tuple[Any, ...], Any]]:
    """All values within dicts and lists, by the way to them."""
    items: Any = None
    if isinstance(state, dict) and state:
        items = state.items()
    elif isinstance(state, list) and state:
        items = enumerate(state)
    if items is None:
        yield prefix, state
        return
    for key, value in items:
        if hasattr(value, "state_dict") and callable(value.state_dict):
            value = value.state_dict()
        yield from _leaves(value, (*prefix, key))


def _name(way: tuple[Any, ...]) -> str:
    return ".".join(str(step) for step in way)


class _Ranks:
    """The ranks that write or read together: those of a group, or this process alone."""

    def __init__(self, group: Any, alone: bool) -> None:
        self.group = None if alone or not world.is_initialized() else world.resolve(group)
        self.rank = 0 if self.group is None else self.group.rank()

    def gather(self, own: Any) -> list[Any]:
        if self.group is None:
            return [own]
        every = [None] * self.group.size()
        objects.all_gather_object(every, own, self.group)
        return every

    def barrier(self) -> None:
        if self.group is not None:
            collectives.barrier(self.group)


# -- writing --------------------------------------------------------------------------------------


def save(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Any = None,
    storage_writer: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> dict[str, Any]:
    """Write what all ranks have; what several have, one of them writes. Returns the index.

    checkpoint_id: the folder. state_dict: tensors and plain values in dicts and lists; objects with
    a `state_dict`. **Raises** CheckpointException on all ranks if one cannot write.
    """
    folder, ranks = _folder(checkpoint_id, storage_writer), _Ranks(process_group, no_dist)
    leaves = {_name(way): value for way, value in _leaves(state_dict)}
    sizes = {name: getattr(value, "nbytes", 0) for name, value in leaves.items()}
    plan = _plan(ranks.gather(sizes))
    token = ranks.gather(secrets.token_hex(8))[0]
    own = {name: leaves[name] for name, rank in plan.items() if rank == ranks.rank}
    written = ranks.gather(_write(folder, f"{token}_{ranks.rank}.distcp", own))
    failed = [
        f"rank {rank}: {each['error']}" for rank, each in enumerate(written) if "error" in each
    ]
    if failed:
        raise CheckpointException(f"the checkpoint is not written: {'; '.join(failed)}")
    index = {"format": _FORMAT, "files": written, "where": plan}
    if ranks.rank == 0:
        _publish(folder, index)
    ranks.barrier()
    return index


def _plan(sizes: list[dict[str, int]]) -> dict[str, int]:
    """Which rank writes what: of those that have it, the one with the least to write so far."""
    loads = [0] * len(sizes)
    holders: dict[str, list[int]] = {}
    for rank, each in enumerate(sizes):
        for name in each:
            holders.setdefault(name, []).append(rank)
    plan = {}
    largest = sorted(holders, key=lambda name: -sizes[holders[name][0]][name])
    for name in largest:
        chosen = min(holders[name], key=lambda rank: loads[rank])
        loads[chosen] += sizes[chosen][name] + 1
        plan[name] = chosen
    return plan


def _write(folder: Path, name: str, values: dict[str, Any]) -> dict[str, Any]:
    """Write one rank's file; return what the index says of it, or the error."""
    path = folder / name
    try:
        folder.mkdir(parents=True, exist_ok=True)
        torch.save(values, path)
        with path.open("rb+") as file:
            os.fsync(file.fileno())
        return {"name": name, "bytes": path.stat().st_size, "sha256": _checksum(path)}
    except OSError as error:
        return {"name": name, "error": str(error)}


def _checksum(path: Path) -> str:
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while data := file.read(1 << 20):
            digest.update(data)
    return digest.hexdigest()


def _publish(folder: Path, index: dict[str, Any]) -> None:
    """Let the new files be the checkpoint; then remove those that no index names."""
    made = folder / f"{INDEX}.{secrets.token_hex(4)}"
    made.write_text(json.dumps(index))
    with made.open("rb+") as file:
        os.fsync(file.fileno())
    os.replace(made, folder / INDEX)
    named = {each["name"] for each in index["files"]}
    for path in [*folder.glob("*.distcp"), *folder.glob(f"{INDEX}.*")]:
        if path.name not in named:
            path.unlink(missing_ok=True)


# -- reading --------------------------------------------------------------------------------------


def _read_index(folder: Path) -> dict[str, Any]:
    """The index of a checkpoint, checked. **Raises** CheckpointException."""
    path = folder / INDEX
    if not path.exists():
        raise CheckpointException(f"{folder} has no checkpoint: there is no {INDEX}")
    if path.stat().st_size > _MOST_INDEX_BYTES:
        raise CheckpointException(f"{path} is no index of a checkpoint")
    try:
        index = json.loads(path.read_text())
        files, where = index["files"], index["where"]
        names = [each["name"] for each in files]
        sound = index["format"] == _FORMAT and all(
            isinstance(name, str) and Path(name).name == name for name in names
        )
        sound = sound and all(0 <= rank < len(files) for rank in where.values())
    except (ValueError, KeyError, TypeError, AttributeError):
        sound = False
    if not sound:
        raise CheckpointException(f"{path} is no index of a checkpoint")
    return dict(index)


def _read(folder: Path, file: dict[str, Any]) -> dict[str, Any]:
    """One file, if it is what the index says."""
    path = folder / str(file["name"])
    if not path.exists() or path.stat().st_size != file["bytes"]:
        raise CheckpointException(f"{path} is missing, or not whole")
    if _checksum(path) != file["sha256"]:
        raise CheckpointException(f"{path} is damaged: its checksum is another one")
    loaded: dict[str, Any] = torch.load(path, weights_only=True)
    return loaded


def load(
    state_dict: dict[str, Any],
    *,
    checkpoint_id: Any = None,
    storage_reader: Any = None,
    planner: Any = None,
    process_group: Any = None,
    no_dist: bool = False,
) -> None:
    """Fill the tensors of a state dict, in place; replace its other values; load objects in it.

    What it has not is left in the files. **Raises** CheckpointException for what the checkpoint has
    not, for tensors of other shapes, and for a checkpoint that is damaged; nothing is written then.
    """
    folder = _folder(checkpoint_id, storage_reader)
    index = _read_index(folder)
    wanted = [(way, value) for way, value in _leaves(state_dict)]
    missing = [_name(way) for way, _ in wanted if _name(way) not in index["where"]]
    if missing:
        raise CheckpointException(f"{folder} has no values for {missing[:8]}")
    found: dict[str, Any] = {}
    for number in sorted({index["where"][_name(way)] for way, _ in wanted}):
        found.update(_read(folder, index["files"][number]))
    for way, value in wanted:
        if isinstance(value, torch.Tensor) and found[_name(way)].shape != value.shape:
            shape = list(found[_name(way)].shape)
            raise CheckpointException(f"{_name(way)}: {shape} is saved, {list(value.shape)} wanted")
    for way, value in wanted:
        _put(state_dict, way, value, found[_name(way)])
    for value in state_dict.values():
        if hasattr(value, "load_state_dict"):
            own = _within(value.state_dict(), state_dict, value, found)
            value.load_state_dict(own)
    _Ranks(process_group, no_dist).barrier()


def _within(state: Any, whole: dict[str, Any], owner: Any, found: dict[str, Any]) -> Any:
    """The state of an object in a state dict, with the values that were found."""
    name = next(key for key, value in whole.items() if value is owner)
    for way, value in list(_leaves(state, (name,))):
        _put({name: state}, way, value, found[_name(way)])
    return state


def _put(state: Any, way: tuple[Any, ...], before: Any, value: Any) -> None:
    """Fill a tensor, or replace another value."""
    for step in way[:-1]:
        state = state[step]
        if hasattr(state, "state_dict") and callable(state.state_dict):
            return  # loaded as a whole
    if isinstance(before, torch.Tensor):
        with torch.no_grad():
            before.copy_(value)
    else:
        state[way[-1]] = value


def save_state_dict(
    state_dict: dict[str, Any], storage_writer: Any, process_group: Any = None, **rest: Any
) -> Any:
    """`save` under its old name."""
    no_dist = bool(rest.get("no_dist", False))
    return save(
        state_dict, storage_writer=storage_writer, process_group=process_group, no_dist=no_dist
    )


def load_state_dict(
    state_dict: dict[str, Any], storage_reader: Any, process_group: Any = None, **rest: Any
) -> None:
    """`load` under its old name."""
    no_dist = bool(rest.get("no_dist", False))
    load(state_dict, storage_reader=storage_reader, process_group=process_group, no_dist=no_dist)


public.place_all("distributed.checkpoint", globals())
