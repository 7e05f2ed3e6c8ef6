"""Files of every kind, damaged at random, and what may come of loading them.

A file loads, and then every tensor lies in its storage; or it raises LoadError. Nothing else: no
crash, no other exception, no wait, no memory that the file's size does not warrant. Run as a
program it goes on for some seconds of processor time and prints how often which of the two was so:

    python -m tests.fuzz.damaged_files --seconds 3600 --seed 1
"""

from __future__ import annotations

import argparse
import faulthandler
import io
import json
import pickle
import random
import resource
import struct
import time
import zipfile
from collections import Counter, OrderedDict
from collections.abc import Callable
from typing import Any

import numpy as np

import torchgen_out as torch
from tests import old_files

_PATIENCE = 20  # seconds of wall time for one file, on a busy machine
_MEMORY = 4  # times the file's size ...
_ALLOWANCE = 48 << 20  # ... and what one more page of Python's own memory may take

Mutation = Callable[[random.Random, bytes], bytes]


def corpus() -> list[bytes]:
    """Whole files: zips and streams in all protocols, deflated, with parameters, and a tar."""
    base = torch.arange(24.0).reshape(4, 6)
    state = OrderedDict(
        weight=torch.nn.Parameter(base),
        view=base[1:, ::2],
        half=torch.ones(3).half(),
        mask=torch.tensor([True, False]),
        empty=torch.zeros(0, 3),
        expanded=torch.ones(1).expand(5, 7),
    )
    state._metadata = OrderedDict({"": {"version": 1}})
    rest = {"step": 3, "lr": 0.1, "names": ["a", "é"], "size": torch.Size([2]), "raw": b"xyz"}
    value = {"model": state, "other": rest, "set": {1, 2}, "long": 1 << 70, "pair": (None, True)}
    files = []
    for protocol in range(6):
        for is_zip in (True, False):
            file = io.BytesIO()
            torch.save(value, file, pickle_protocol=protocol, _use_new_zipfile_serialization=is_zip)
            files.append(file.getvalue())
    files += [packed(records_of(files[4]), zipfile.ZIP_DEFLATED), old_files.sample_tar()]
    return [*files, old_files.sample_stream(), packed({"x/data.pkl": every_constructor()})]


def every_constructor() -> bytes:
    """A pickle that calls what the other files do not."""
    name, call = old_files.Name, old_files.Call
    return old_files.dumps(
        [
            call(name("collections", "Counter"), ({"a": 1},)),
            call(name("collections", "defaultdict"), (name("builtins", "list"), {"a": []})),
            call(name("builtins", "frozenset"), ([1, (2, 3)],)),
            call(name("builtins", "complex"), (1.0, 2.0)),
            call(name("builtins", "slice"), (1, 2, None)),
            call(name("builtins", "bytearray"), (b"abc",)),
            call(name("torch", "device"), ("cpu",)),
            call(name("torch.serialization", "_get_layout"), ("torch.strided",)),
            call(
                name("torch._utils", "_rebuild_meta_tensor_no_storage"),
                (name("torch", "float32"), (2, 3), (3, 1), False),
            ),
        ]
    )


def records_of(data: bytes) -> dict[str, bytes]:
    """The records of a zip file."""
    with zipfile.ZipFile(io.BytesIO(data)) as archive:
        return {name: archive.read(name) for name in archive.namelist()}


def packed(records: dict[str, bytes], method: int = zipfile.ZIP_STORED) -> bytes:
    """A zip file of these records."""
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as archive:
        for name, data in records.items():
            archive.writestr(name, data)
    return file.getvalue()


# -- mutations ------------------------------------------------------------------------------


def flip_bits(draw: random.Random, data: bytes) -> bytes:
    """Some bits, anywhere."""
    changed = bytearray(data)
    for _ in range(draw.choice([1, 1, 2, 8])):
        changed[draw.randrange(len(changed))] ^= 1 << draw.randrange(8)
    return bytes(changed)


def truncate(draw: random.Random, data: bytes) -> bytes:
    """The end is missing."""
    return data[: draw.randrange(len(data))]


def move_part(draw: random.Random, data: bytes) -> bytes:
    """A part is left out, doubled, or put elsewhere."""
    start = draw.randrange(len(data))
    part = data[start : start + draw.choice([1, 2, 4, 16, 64, 512])]
    place = draw.randrange(len(data))
    without = data[:start] + data[start + len(part) :]
    return draw.choice([without, data[:place] + part + data[place:]])


def change_number(draw: random.Random, data: bytes) -> bytes:
    """One, two, four or eight bytes become a number that is often wrong."""
    width, code = draw.choice([(1, "B"), (2, "H"), (4, "I"), (8, "Q")])
    top = 1 << 8 * width
    number = draw.choice([0, 1, 2, 4, 5, top // 2 - 1, top // 2, top - 1, draw.randrange(top)])
    place = draw.randrange(max(1, len(data) - width))
    return data[:place] + struct.pack(f"<{code}", number) + data[place + width :]


_OPCODES = [
    code for name in pickle.__all__ if isinstance(code := getattr(pickle, name), bytes)
    and len(code) == 1
]  # fmt: skip
_SNIPPETS = [
    b"ctorch\nTensor\n", b"ctorch\nfloat64\n", b"ctorch._utils\n_rebuild_tensor_v2\n",
    b"ctorch\nFloatTensor\n", b"ccollections\nOrderedDict\n", b"ctorch.nn.parameter\nParameter\n",
    b"J\xff\xff\xff\xff", b"\x8a\x08" + b"\xff" * 7 + b"\x7f", b"}", b"]", b")", b"N", b"(",
    b"X\x03\x00\x00\x00add", b"\x8f", b"cposix\nsystem\n", b"R", b"b", b"s", b"\x81", b"\x92",
]  # fmt: skip


def change_opcode(draw: random.Random, data: bytes) -> bytes:
    """An instruction of a pickle in place of a byte, or a few of them in between."""
    place = draw.randrange(len(data))
    if draw.random() < 0.5:
        return data[:place] + draw.choice(_OPCODES) + data[place + 1 :]
    added = b"".join(draw.choice(_SNIPPETS) for _ in range(draw.choice([1, 2, 3])))
    return data[:place] + added + data[place:]


ANYWHERE: list[Mutation] = [flip_bits, truncate, move_part, change_number, change_opcode]


def mutated(draw: random.Random, data: bytes) -> bytes:
    """Damage a file: its bytes as they are, or one record of a zip whose checksums then fit."""
    if not data.startswith(b"PK") or draw.random() < 0.25:
        return draw.choice(ANYWHERE)(draw, data)
    records = records_of(data)
    name = "x/data.pkl" if "x/data.pkl" in records else "archive/data.pkl"
    if draw.random() < 0.2:
        name = draw.choice(list(records))
    for _ in range(draw.choice([1, 1, 1, 2, 4])):
        mutate = draw.choice(ANYWHERE[2:] if name.endswith(".pkl") else ANYWHERE)
        records[name] = mutate(draw, records[name] or b"0")
    if draw.random() < 0.05:
        del records[draw.choice(list(records))]
    return packed(records, draw.choice([zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED]))


# -- what must hold -------------------------------------------------------------------------


def tensors_in(value: Any) -> list[Any]:
    """All tensors of nested containers, which may contain themselves."""
    found, seen, left = [], set(), [value]
    while left:
        each = left.pop()
        if id(each) in seen:
            continue
        seen.add(id(each))
        if isinstance(each, torch.Tensor):
            found.append(each)
        elif isinstance(each, dict):
            left += [*each.keys(), *each.values()]
        elif isinstance(each, list | tuple | set | frozenset):
            left += each
    return found


def check_tensor(tensor: Any) -> None:
    """Its elements lie in its storage, by arithmetic of our own, and can be read."""
    sizes, strides, offset = tensor.shape, tensor.stride(), tensor.storage_offset()
    assert min([0, offset, *sizes, *strides]) == 0
    if tensor.is_meta or 0 in sizes:
        return
    last = offset + sum((size - 1) * stride for size, stride in zip(sizes, strides, strict=True))
    assert (last + 1) * tensor.itemsize <= tensor.untyped_storage().nbytes()
    if tensor.numel() < 10_000 and len(sizes) <= 32:
        np.array(tensor.detach()._array())


def outcome(data: bytes) -> str:
    """Load a file; say whether it was taken or refused."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    try:
        loaded = torch.load(io.BytesIO(data))
    except torch.serialization.LoadError:
        found = "refused"
    else:
        found = "loaded"
        for tensor in tensors_in(loaded):
            check_tensor(tensor)
    grown = 1024 * (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)
    assert grown <= _MEMORY * len(data) + _ALLOWANCE, f"{len(data)} bytes took {grown}"
    return found


def run(seconds: float, seed: int) -> Counter[str]:
    """Damage and load files until the processor time is used up."""
    draw, counts, files = random.Random(seed), Counter[str](), corpus()
    for data in files:
        assert outcome(data) == "loaded"
    end = time.process_time() + seconds
    while time.process_time() < end:
        data = mutated(draw, draw.choice(files))
        faulthandler.dump_traceback_later(_PATIENCE, exit=True)
        try:
            counts[outcome(data)] += 1
        except BaseException:
            print(f"file {counts.total()} of seed {seed}: {data!r}")
            raise
        faulthandler.cancel_dump_traceback_later()
    return counts


if __name__ == "__main__":
    parser = argparse.ArgumentParser()
    parser.add_argument("--seconds", type=float, default=20)
    parser.add_argument("--seed", type=int, default=0)
    given = parser.parse_args()
    print(json.dumps(run(given.seconds, given.seed)))
