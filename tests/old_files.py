"""Files as PyTorch before 1.6 wrote them, made from their structure, and small pickles by hand."""

from __future__ import annotations

import io
import pickle
import struct
import tarfile
from typing import Any

import numpy as np


class Name:
    """A global in a pickle that need not exist here."""

    def __init__(self, module: str, name: str) -> None:
        self.module, self.name = module, name

    def __call__(self, *args: Any) -> Any:
        raise AssertionError("only a name")


class Reference:
    """A persistent reference in a pickle."""

    def __init__(self, to: Any) -> None:
        self.to = to


class Call:
    """A call in a pickle, and the state that is given to the result."""

    def __init__(self, function: Name, arguments: tuple[Any, ...], state: Any = None) -> None:
        self.reduced = function, arguments, state


class Pickler(pickle._Pickler):
    """Writes the three above."""

    dispatch = pickle._Pickler.dispatch.copy()

    def persistent_id(self, obj: Any) -> Any:
        return obj.to if isinstance(obj, Reference) else None

    def reducer_override(self, obj: Any) -> Any:
        return obj.reduced if isinstance(obj, Call) else NotImplemented

    def save_name(self, obj: Name) -> None:
        self.write(pickle.GLOBAL + f"{obj.module}\n{obj.name}\n".encode())

    dispatch[Name] = save_name


def dumps(obj: Any, protocol: int = 2) -> bytes:
    file = io.BytesIO()
    Pickler(file, protocol).dump(obj)
    return file.getvalue()


def stream(obj: Any, storages: dict[str, Any], protocol: int = 2) -> bytes:
    """The format of 0.1.10 to 1.5: `obj` refers to storages, which are given as arrays by key."""
    system = {"protocol_version": 1001, "little_endian": True, "type_sizes": {"int": 4}}
    parts = [dumps(each, protocol) for each in (0x1950A86A20F9469CFC6C, 1001, system, obj)]
    parts.append(dumps(sorted(storages), protocol))
    for key in sorted(storages):
        parts.append(struct.pack("<q", storages[key].size) + storages[key].tobytes())
    return b"".join(parts)


def tar(
    obj: Any,
    storages: list[tuple[int, str, Any]],
    views: list[tuple[int, int, int, int]],
    tensors: list[tuple[int, int, str, tuple[int, ...], tuple[int, ...], int]],
) -> bytes:
    """The format of 0.1.1 to 0.1.9.

    storages: (key, type, array). views: (key, storage, offset, count). tensors: (key, storage,
    type, sizes, strides, offset). `obj` refers to both by key.
    """
    stored = dumps(len(storages))
    for key, kind, array in storages:
        stored += dumps((key, "cpu", Name("torch", kind)))
        stored += struct.pack("<q", array.size) + array.tobytes()
    stored += dumps(views)
    placed = dumps(len(tensors))
    for key, storage, kind, sizes, strides, offset in tensors:
        placed += dumps((key, storage, Name("torch", kind)))
        placed += struct.pack("<q", len(sizes))
        placed += np.array([*sizes, *strides, offset], "<i8").tobytes()
    file = io.BytesIO()
    members = {"sys_info": dumps({}), "pickle": dumps(obj), "tensors": placed, "storages": stored}
    with tarfile.open(fileobj=file, mode="w:", format=tarfile.PAX_FORMAT) as archive:
        for name, data in members.items():
            info = tarfile.TarInfo(name)
            info.size = len(data)
            archive.addfile(info, io.BytesIO(data))
    return file.getvalue()


def sample_stream(protocol: int = 2) -> bytes:
    """A parameter, a Variable of 0.3, a tensor of 0.1 and two views that share memory."""
    values = np.arange(12, dtype=np.float32)
    kind = Name("torch", "FloatStorage")

    def storage(view: Any = None) -> Reference:
        return Reference(("storage", kind, "93825", "cpu", 12, view))

    rebuild = Name("torch._utils", "_rebuild_tensor")
    whole = Call(rebuild, (storage(), 0, (3, 4), (4, 1)))
    part = Call(rebuild, (storage(("777", 4, 8)), 1, (2, 2), (4, 2)))
    variable = Name("torch.autograd.variable", "Variable")
    longs = Reference(("storage", Name("torch", "LongStorage"), "93826", "cpu", 2, None))
    counts = Call(rebuild, (longs, 0, (2,), (1,)))
    state = (storage(), 2, (2, 3), (4, 1))
    obj = {
        "whole": whole,
        "part": part,
        "old": Call(Name("torch", "FloatTensor"), (), state),
        "variable": Call(variable, (whole,), (True, False, {})),
        "first": Call(variable, (), (counts, None, {}, False, False)),
        "parameter": Call(Name("torch.nn.parameter", "Parameter"), (part,), (True, False, {})),
    }
    return stream(obj, {"93825": values, "93826": np.array([5, 6])}, protocol)


def sample_tar() -> bytes:
    """Two tensors that share a storage, one of them through a view, and one of integers."""
    obj = {"a": Reference(10), "b": Reference(11), "c": [Reference(12)], "s": Reference(1)}
    return tar(
        obj,
        [(1, "FloatStorage", np.arange(6, dtype="<f4")), (2, "LongStorage", np.array([7, 8]))],
        [(3, 1, 2, 4)],
        [
            (10, 1, "FloatTensor", (2, 3), (3, 1), 0),
            (11, 3, "FloatTensor", (2, 2), (2, 1), 0),
            (12, 2, "LongTensor", (2,), (1,), 0),
        ],
    )
