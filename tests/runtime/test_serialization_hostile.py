"""Files that mean harm: none reaches memory, attributes or code, and none takes much memory."""

from __future__ import annotations

import io
import pickle
import struct
import subprocess
import sys
import zipfile
from collections import OrderedDict
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.old_files import Call, Name, Reference, dumps
from torchgen_out.serialization import LoadError

FLOATS = Name("torch", "FloatStorage")
V2, V3 = Name("torch._utils", "_rebuild_tensor_v2"), Name("torch._utils", "_rebuild_tensor_v3")


def archive(pickled: bytes, records: dict[str, bytes] | None = None, method: int = 0) -> bytes:
    file = io.BytesIO()
    with zipfile.ZipFile(file, "w", method) as written:
        written.writestr("x/data.pkl", pickled)
        for name, data in (records or {}).items():
            written.writestr(f"x/{name}", data)
    return file.getvalue()


def storage(kind: Name = FLOATS, key: str = "0", count: int = 4) -> Reference:
    return Reference(("storage", kind, key, "cpu", count))


def tensor(size: Any, stride: Any, offset: Any = 0, of: Any = None) -> Call:
    return Call(V2, (of or storage(), offset, size, stride, False, OrderedDict()))


def load(obj: Any, count: int = 4) -> Any:
    data = archive(dumps(obj), {"data/0": np.arange(count, dtype="<f4").tobytes()})
    return torch.load(io.BytesIO(data))


def test_what_these_files_are_when_they_mean_well() -> None:
    assert load(tensor((2, 2), (2, 1))).tolist() == [[0, 1], [2, 3]]
    assert load(tensor((3,), (0,), 3)).tolist() == [3, 3, 3]
    assert load(tensor((0, 5), (1, 1), 10**9)).shape == (0, 5)


@pytest.mark.parametrize(
    ("size", "stride", "offset"),
    [
        ((4,), (10**9,), 0),
        ((4,), (5000,), 0),
        ((5,), (1,), 0),
        ((4,), (1,), 1),
        ((200000, 2), (1, 3), 0),
        ((2,), (1,), -1),
        ((2,), (-1,), 3),
        ((-2,), (1,), 0),
        ((2**62, 4), (2**62, 1), 0),
        ((2**62, 4), (0, 0), 0),
        ((2**62, 4, 0), (1, 1, 1), 0),
        ((2,), (2**63,), 0),
        ((2**64 + 1,), (1,), 0),
        ((2, 2), (1,), 0),
        ((), (), 4),
        ((2.0,), (1,), 0),
        ((True,), (1,), 0),
        (("2",), (1,), 0),
        (4, 1, 0),
        (None, None, None),
    ],
)
def test_geometry(size: Any, stride: Any, offset: Any) -> None:
    with pytest.raises(LoadError, match="damaged"):
        load(tensor(size, stride, offset))


def test_geometry_of_another_dtype() -> None:
    def retyped(dtype: Any, size: Any) -> Any:
        return Call(V3, (storage(), 0, size, (1,), False, OrderedDict(), dtype))

    assert load(retyped(Name("torch", "float64"), (2,))).dtype is torch.float64
    for dtype, size in ((Name("torch", "float64"), (3,)), ("float64", (1,)), (8, (1,))):
        with pytest.raises(LoadError):
            load(retyped(dtype, size))
    with pytest.raises(LoadError, match="evenly"):
        data = archive(
            dumps(Call(V3, (storage(count=3), 0, (1,), (1,), False, {}, Name("torch", "float64")))),
            {"data/0": bytes(12)},
        )
        torch.load(io.BytesIO(data))


def test_storages_are_as_large_as_their_records() -> None:
    for count in (5, 3, 10**9, 2**62):
        with pytest.raises(LoadError, match="takes"):
            load(tensor((1,), (1,), of=storage(count=count)))
    with pytest.raises(LoadError, match="no record"):
        load(tensor((1,), (1,), of=storage(key="../data.pkl")))
    with pytest.raises(LoadError, match="two ways"):
        load([storage(), storage(kind=Name("torch", "IntStorage"))])


TARGETS = {
    "class": Name("torch", "Tensor"),
    "parameter class": Name("torch.nn.parameter", "Parameter"),
    "function": V2,
    "tensor": tensor((1,), (1,)),
    "storage": storage(),
    "dtype": Name("torch", "float32"),
    "size": Call(Name("torch", "Size"), ((1,),)),
    "device": Call(Name("torch", "device"), ("cpu",)),
    "list": [1],
    "dict": {"a": 1},
    "set": {1},
    "old tensor twice": Call(Name("torch", "FloatTensor"), (), (storage(), 0, (1,), (1,))),
    "counter": Call(Name("collections", "Counter"), ()),
}


@pytest.mark.parametrize("state", [{"add": 1}, {"_sizes": (9,)}, (None, {"_key": 0})], ids=str)
@pytest.mark.parametrize("target", TARGETS)
def test_no_attribute_is_set(target: str, state: Any) -> None:
    before = dict(vars(torch.Tensor))
    pickled = dumps(TARGETS[target])[:-1] + dumps(state)[2:-1] + pickle.BUILD + pickle.STOP
    with pytest.raises(LoadError):
        torch.load(io.BytesIO(archive(pickled, {"data/0": bytes(16)})))
    assert all(vars(torch.Tensor)[name] is value for name, value in before.items())
    assert vars(torch.Tensor).keys() == before.keys()


@pytest.mark.parametrize("name", ["_sizes", "add", "__class__", "data", "grad", "shape", 3])
def test_no_attribute_of_a_tensor_is_hidden(name: Any) -> None:
    rebuild = Name("torch._tensor", "_rebuild_from_type_v2")
    given = (storage(), 0, (1,), (1,), False, OrderedDict())

    def with_attributes(attributes: Any) -> Any:
        return load(Call(rebuild, (V2, Name("torch", "Tensor"), given, attributes)))

    assert with_attributes({"note": 1}).note == 1
    with pytest.raises(LoadError, match="sets attribute"):
        with_attributes({name: 1})


class Allowed(torch.Tensor):
    """A subclass that a user lets files mention."""


def test_allowed_subclasses_hide_nothing_either() -> None:
    rebuild = Name("torch._tensor", "_rebuild_from_type_v2")
    given = (storage(), 0, (1,), (1,), False, OrderedDict())
    states = [{"add": 1}, (storage(), 0, (9,), (1,)), ({"shape": (9,)}, None)]
    with torch.serialization.safe_globals([Allowed]):
        cls = Name(Allowed.__module__, "Allowed")
        assert type(load(Call(rebuild, (V2, cls, given, {})))) is Allowed
        for state in states:
            with pytest.raises(LoadError):
                load(Call(rebuild, (V2, cls, given, state)))
            with pytest.raises(LoadError):
                load(Call(rebuild, (V2, cls, given, {}), state))


@pytest.mark.parametrize("state", [{"items": 1}, {"__class__": 1}, {3: 1}, [1], 1])
def test_no_method_of_a_dict_is_hidden(state: Any) -> None:
    def with_state(state: Any) -> Any:
        pickled = dumps(OrderedDict(a=1))[:-1] + dumps(state)[2:-1] + b"b."
        return torch.load(io.BytesIO(archive(pickled)))

    assert with_state({"_metadata": 1})._metadata == 1
    with pytest.raises(LoadError):
        with_state(state)


@pytest.mark.parametrize(
    "change", [b"K\x00K\x01s", b"(K\x00K\x01u", b"K\x00a", b"(K\x00e", b"(K\x00\x90"]
)
@pytest.mark.parametrize("target", sorted(TARGETS.keys() - {"list", "dict", "set", "counter"}))
def test_no_items_are_set(target: str, change: bytes) -> None:
    pickled = dumps(TARGETS[target])[:-1] + change + pickle.STOP
    with pytest.raises(LoadError):
        torch.load(io.BytesIO(archive(pickled, {"data/0": bytes(16)})))


@pytest.mark.parametrize(
    ("function", "arguments"),
    [
        (Name("os", "system"), ("true",)),
        (Name("builtins", "eval"), ("1",)),
        (Name("builtins", "getattr"), ({}, "keys")),
        (Name("torch", "load"), ("x",)),
        (Name("torch", "FloatTensor"), (10**9,)),
        (Name("torch", "FloatStorage"), (10**9,)),
        (Name("torch", "float32"), ()),
        (Name("builtins", "bytearray"), (3 * 2**30,)),
        (Name("builtins", "bytes"), (3 * 2**30,)),
        (Name("builtins", "list"), (tensor((4,), (1,)),)),
        (Name("builtins", "int"), ("9" * 4000, 10)),
        (Name("_codecs", "encode"), ("x", "zlib")),
        (Name("collections", "defaultdict"), (V2,)),
        (Name("torch", "device"), ("nowhere",)),
        (Name("torch", "Size"), (tensor((4,), (1,)),)),
        (Name("torch.serialization", "_get_layout"), ("nowhere",)),
        (V2, ()),
        (V2, (1,) * 6),
        (V2, (storage(), 0, (1,), (1,), False, {}, {"conj": True})),
        (V2, (storage(), 0, (1,), (1,), False, {}, {"other": True})),
        (V2, (storage(), 0, (1,), (1,), "x", {})),
        (Name("torch._utils", "_rebuild_parameter"), (1, True, {})),
        (
            Name("torch._tensor", "_rebuild_from_type_v2"),
            (Name("os", "system"), Name("torch", "Tensor"), ("true",), {}),
        ),
        (
            Name("torch._utils", "_rebuild_device_tensor_from_cpu_tensor"),
            (tensor((2**40,), (0,)), Name("torch", "float64"), "cpu", False),
        ),
    ],
)
def test_calls(function: Name, arguments: tuple[Any, ...]) -> None:
    with pytest.raises(LoadError):
        load(Call(function, arguments))


def test_keys_that_hash_for_ever() -> None:
    deep: Any = ()
    for _ in range(60):
        deep = (deep, deep)  # 2**60 steps
    for key in (deep, 2**70):
        for opcode in (b"N", None):
            pickled = dumps(key)[:-1]
            changed = b"}" + pickled[2:] + b"Ns." if opcode else b"\x8f(" + pickled[2:] + b"\x90."
            with pytest.raises(LoadError, match="a key"):
                torch.load(io.BytesIO(archive(changed)))
    nested = b"}" + b")" + b"\x85" * 100_000 + b"Ns."  # the C stack ends before
    with pytest.raises(LoadError, match="a key"):
        torch.load(io.BytesIO(archive(nested)))


@pytest.mark.parametrize("name", ["list", "set", "frozenset", "bytearray", "dict"])
def test_copies_of_copies(name: str) -> None:
    """A long list costs its bytes once, and would cost its length again with each call."""
    given = {"bytearray": b"x" * 1000, "dict": {i: i for i in range(1000)}}
    first = given.get(name, list(range(1000)))
    pickled = dumps(first)[:-1] + b"q\xff0"  # kept in the memo
    call = b"cbuiltins\n%s\nh\xff\x85R0" % name.encode()
    good, bad = pickled + 3 * call + b"N.", pickled + 3000 * call + b"N."
    assert torch.load(io.BytesIO(archive(good))) is None
    with pytest.raises(LoadError, match="again and again"):
        torch.load(io.BytesIO(archive(bad)))


@pytest.mark.parametrize(
    "pickled",
    [
        b".", b"0.", b"}b.", b"t.", b"\x85.", b"h\x00.", b"Nq", b"\xff.", b"\x80\x09N.",
        b"(K\x00d.",
        b"I1x\n.", b"L" + b"9" * 5000 + b"\n.", b"F1..\n.", b"S'a\n.", b"X\xff\xff\xff\xffab.",
        b"\x8d" + b"\xff" * 8 + b".", b"\x8b\xff\xff\xff\x7f.", b"\x82\x01.", b"\x97.", b"Ng5\n.",
        b"N\x93.", b"K\x00K\x01\x93.", b"X\x01\x00\x00\x00\xff.", b"cos\nsystem\n.", b"(o.",
        b"NN\x81.",
        b"]N}\x92.", b"Np-1\n.", b"NQ.", b"Px\n.", b"]]R.", b"cx\xff\ny\n.", b"c",
    ],
    ids=repr,
)  # fmt: skip
def test_damaged_pickles(pickled: bytes) -> None:
    with pytest.raises(LoadError):
        torch.load(io.BytesIO(archive(pickled)))


def memory_to_load(data: bytes) -> int:
    """How many bytes a fresh process takes to refuse a file."""
    program = (
        "import io, resource, sys; import torchgen_out as torch; torch.serialization\n"
        "data = sys.stdin.buffer.read()\n"
        "before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss\n"
        "try: torch.load(io.BytesIO(data))\n"
        "except torch.serialization.LoadError: pass\n"
        "else: assert 0\n"
        "print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before)"
    )
    found = subprocess.run([sys.executable, "-c", program], input=data, capture_output=True)
    assert found.returncode == 0, found.stderr.decode()
    return int(found.stdout) * 1024


def test_bombs() -> None:
    inflating = archive(dumps(tensor((4,), (1,))), {"data/0": bytes(1 << 29)}, zipfile.ZIP_DEFLATED)
    index = archive(b"\x80\x02Nr" + struct.pack("<I", 1 << 28) + b".")[:-1]
    for data in (inflating, index):
        assert memory_to_load(data) < 4 * len(data) + (1 << 24)


def test_packed_again_by_another_tool() -> None:
    values = np.arange(4, dtype="<f4").tobytes()
    data = archive(dumps(tensor((4,), (1,))), {"data/0": values}, zipfile.ZIP_DEFLATED)
    assert torch.load(io.BytesIO(data)).tolist() == [0, 1, 2, 3]


def test_archives_that_lie() -> None:
    good = archive(dumps(tensor((4,), (1,))), {"data/0": bytes(16)})
    place = good.index(bytes(16))
    with pytest.raises(LoadError, match="checksum"):
        torch.load(io.BytesIO(good[:place] + b"\x01" + good[place + 1 :]))
    with pytest.raises(LoadError, match="byte order"):
        torch.load(io.BytesIO(archive(dumps(1), {"byteorder": b"middle"})))
    with pytest.warns(UserWarning, match="Duplicate"):
        twice = archive(dumps(1), {"data.pkl": dumps(2)})
    with pytest.raises(LoadError, match="two records"):
        torch.load(io.BytesIO(twice))
    with pytest.raises(LoadError, match="method"):
        torch.load(io.BytesIO(archive(dumps(1), method=zipfile.ZIP_BZIP2)))
    encrypted = bytearray(archive(dumps(1)))
    encrypted[encrypted.index(b"PK\x01\x02") + 8] |= 1
    with pytest.raises(LoadError, match="encrypted"):
        torch.load(io.BytesIO(encrypted))
    with pytest.raises(LoadError, match="TorchScript"):
        torch.load(io.BytesIO(archive(dumps(1), {"constants.pkl": b""})))
    with pytest.raises(LoadError, match=r"no data\.pkl"):
        torch.load(io.BytesIO(archive(dumps(1)).replace(b"data.pkl", b"data.pkx")))
    for size in range(len(good)):
        with pytest.raises(LoadError):
            torch.load(io.BytesIO(good[:size]))


def test_truth_values_are_0_or_1() -> None:
    pickled = dumps(tensor((3,), (1,), of=storage(Name("torch", "BoolStorage"), count=3)))
    loaded = torch.load(io.BytesIO(archive(pickled, {"data/0": b"\x00\x01\xff"})))
    assert loaded.tolist() == [False, True, True] and int(loaded.sum()) == 2


def test_state_of_another_random_generator() -> None:
    state = torch.zeros(5056, dtype=torch.uint8)
    with pytest.raises(RuntimeError, match="PyTorch's"):
        torch.set_rng_state(state)
