"""Where files are written to and read from, and where their tensors go."""

from __future__ import annotations

import gzip
import io
import mmap
import os
import pickle
import stat
import threading
import zipfile
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.old_files import Name, Reference, dumps, stream
from torchgen_out import nn, serialization
from torchgen_out.serialization import LoadError

FORMATS = pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "stream"])


def saved(obj: Any, is_zip: bool = True, **options: Any) -> bytes:
    file = io.BytesIO()
    torch.save(obj, file, _use_new_zipfile_serialization=is_zip, **options)
    return file.getvalue()


# -- writing --------------------------------------------------------------------------------


def test_symlinks_stay(tmp_path: Path) -> None:
    (tmp_path / "folder").mkdir()
    target, link = tmp_path / "folder" / "target.pt", tmp_path / "link.pt"
    link.symlink_to(target)
    for value in (1.0, 2.0):
        torch.save(torch.tensor(value), link)
        assert link.is_symlink() and float(torch.load(target)) == value
    assert [path.name for path in target.parent.iterdir()] == ["target.pt"]


def test_permissions_stay(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save(1, path)
    mask = os.umask(0)
    os.umask(mask)
    assert stat.S_IMODE(path.stat().st_mode) == 0o666 & ~mask
    path.chmod(0o600)
    torch.save(2, path)
    assert stat.S_IMODE(path.stat().st_mode) == 0o600 and torch.load(path) == 2


@FORMATS
def test_pipes_are_written_to(tmp_path: Path, is_zip: bool) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    found: list[bytes] = []
    reader = threading.Thread(target=lambda: found.append(pipe.read_bytes()))
    reader.start()
    torch.save(torch.arange(3), pipe, _use_new_zipfile_serialization=is_zip)
    reader.join()
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert torch.load(io.BytesIO(found[0])).tolist() == [0, 1, 2]


def test_devices_are_written_to() -> None:
    torch.save(torch.ones(1), "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)


def test_a_name_of_the_greatest_length(tmp_path: Path) -> None:
    path = tmp_path / ("x" * 255)
    torch.save(1, path)
    assert torch.load(path) == 1


class OnlyWrites:
    """Takes a few bytes at a time and can do nothing else."""

    def __init__(self) -> None:
        self.data = b""

    def write(self, data: Any) -> int:
        taken = bytes(data[:1000])
        self.data += taken
        return len(taken)


@FORMATS
def test_objects_that_only_write(is_zip: bool) -> None:
    file = OnlyWrites()
    torch.save(torch.arange(1000), file, _use_new_zipfile_serialization=is_zip)
    assert torch.load(io.BytesIO(file.data)).tolist() == list(range(1000))


# -- reading --------------------------------------------------------------------------------


class OnlyReads:
    """Has `read` and `readline`, as a response of a server."""

    def __init__(self, data: bytes) -> None:
        self._file = io.BytesIO(data)
        self.read, self.readline = self._file.read, self._file.readline


class ReadsLittle(OnlyReads):
    """Gives fewer bytes than asked for."""

    def __init__(self, data: bytes) -> None:
        super().__init__(data)
        self.seek, self.tell = self._file.seek, self._file.tell
        self.read = lambda size=-1: self._file.read(min(size, 7) if size > 0 else size)


@FORMATS
@pytest.mark.parametrize("kind", [OnlyReads, ReadsLittle])
def test_objects_that_only_read(kind: Any, is_zip: bool) -> None:
    assert torch.load(kind(saved(torch.arange(300), is_zip))).tolist() == list(range(300))


@FORMATS
def test_pipes_are_read(is_zip: bool) -> None:
    reading, writing = os.pipe()
    with open(reading, "rb") as source, open(writing, "wb") as target:
        target.write(saved(torch.arange(3), is_zip))
        target.close()
        assert torch.load(source).tolist() == [0, 1, 2]


@FORMATS
def test_compressed_files(tmp_path: Path, is_zip: bool) -> None:
    with gzip.open(tmp_path / "x.gz", "wb") as file:
        torch.save(torch.arange(3), file, _use_new_zipfile_serialization=is_zip)
    with gzip.open(tmp_path / "x.gz", "rb") as file:
        assert torch.load(file).tolist() == [0, 1, 2]


@FORMATS
def test_offsets_in_files(tmp_path: Path, is_zip: bool) -> None:
    path = tmp_path / "x"
    path.write_bytes(b"a head of 19 bytes\n" + saved(torch.arange(3), is_zip))
    with open(path, "rb") as file:
        file.readline()
        assert torch.load(file).tolist() == [0, 1, 2]


def test_files_of_text() -> None:
    with pytest.raises(TypeError, match="reading bytes"):
        torch.load(io.StringIO("text"))


@pytest.mark.slow
def test_archives_above_4_gib(tmp_path: Path) -> None:
    path, count = tmp_path / "large.pt", (1 << 32) + 5
    if os.statvfs(tmp_path).f_bavail * os.statvfs(tmp_path).f_frsize < 2 * count:
        pytest.skip("no room on the disk for a file of 4 GiB")
    large = torch.zeros(count, dtype=torch.uint8)
    large[-1] = 7
    torch.save([large, torch.arange(3)], path)
    loaded = torch.load(path, mmap=True)
    assert len(loaded[0]) == count and int(loaded[0][-1]) == 7
    assert loaded[1].tolist() == [0, 1, 2]


# -- where tensors go -----------------------------------------------------------------------


@FORMATS
@pytest.mark.parametrize(
    "where",
    ["cpu", b"cpu", torch.device("cpu"), {"cpu": "cpu"}, {"cuda:0": "cpu"}, lambda s, where: s,
     lambda s, where: None, lambda s, where: s.untyped(), lambda s, where: s.cpu()],
)  # fmt: skip
def test_map_location(where: Any, is_zip: bool) -> None:
    loaded = torch.load(io.BytesIO(saved(torch.arange(3.0), is_zip)), map_location=where)
    assert loaded.device.type == "cpu" and loaded.tolist() == [0, 1, 2]


@FORMATS
@pytest.mark.parametrize("where", ["meta", torch.device("meta"), {"cpu": "meta"}])
def test_map_location_without_memory(where: Any, is_zip: bool) -> None:
    loaded = torch.load(io.BytesIO(saved(torch.ones(2, 3).t(), is_zip)), map_location=where)
    assert loaded.is_meta and loaded.shape == (3, 2) and loaded.stride() == (1, 3)


def test_tensors_share_memory_where_they_are_moved() -> None:
    base = torch.arange(4.0)
    for where in (None, lambda storage, location: storage.clone()):
        loaded = torch.load(io.BytesIO(saved([base, base[1:]])), map_location=where)
        loaded[0][1] = 9.0
        assert float(loaded[1][0]) == 9.0


@pytest.mark.skipif(torch.cuda.is_available(), reason="the device is there")
def test_devices_that_are_absent() -> None:
    def at(location: str) -> bytes:
        reference = Reference(("storage", Name("torch", "FloatStorage"), "0", location, 1, None))
        return stream([reference], {"0": np.ones(1, np.float32)})

    with pytest.raises(RuntimeError, match="Attempting to deserialize object on a CUDA device"):
        torch.load(io.BytesIO(at("cuda:0")))
    for location in ("nowhere", "mps", "hpu:1"):
        with pytest.raises(RuntimeError, match="don't know how to restore data location"):
            torch.load(io.BytesIO(at(location)))
    for where in ("cpu", {"cuda:1": "cpu"}, lambda storage, location: storage):
        assert torch.load(io.BytesIO(at("cuda:1")), map_location=where)[0].tolist() == [1.0]
    with pytest.raises(TypeError, match="map_location must return a storage"):
        torch.load(io.BytesIO(at("cpu")), map_location=lambda storage, location: "cpu")


# -- mapped files, files without data -------------------------------------------------------


def test_mapped_files(tmp_path: Path) -> None:
    path = tmp_path / "x.pt"
    torch.save({"a": torch.arange(1000), "b": torch.ones(3, dtype=torch.complex128)}, path)
    before = path.read_bytes()
    loaded = torch.load(path, mmap=True)
    loaded["a"][0] = 5
    assert loaded["a"][:2].tolist() == [5, 1] and loaded["b"].tolist() == [1, 1, 1]
    assert loaded["a"].data_ptr() % 64 == 0
    assert path.read_bytes() == before
    with serialization.set_default_mmap_options(mmap.MAP_SHARED):
        torch.load(path, mmap=True)["a"][0] = 5
    assert int(torch.load(path, mmap=True)["a"][0]) == 5
    assert serialization.get_default_mmap_options() == mmap.MAP_PRIVATE
    with pytest.raises(ValueError, match="must be a file path"):
        torch.load(io.BytesIO(before), mmap=True)


def test_mapped_files_of_other_tools(tmp_path: Path) -> None:
    """Elements at odd places are copied: kernels read whole elements only."""
    pickled = dumps([Reference(("storage", Name("torch", "DoubleStorage"), "0", "cpu", 2))])
    with zipfile.ZipFile(tmp_path / "x.pt", "w") as archive:
        archive.writestr("xyz/data.pkl", pickled)
        archive.writestr("xyz/data/0", np.array([1.0, 2.0]).tobytes())
    loaded = torch.load(tmp_path / "x.pt", mmap=True)
    assert loaded[0].tolist() == [1, 2] and loaded[0].data_ptr() % 8 == 0


@FORMATS
def test_without_data(is_zip: bool) -> None:
    data = saved({"a": torch.ones(3), "n": 1}, is_zip)
    with serialization.skip_data():
        loaded = torch.load(io.BytesIO(data))
        empty = saved(torch.ones(3), is_zip)
    assert loaded["a"].shape == (3,) and loaded["a"].tolist() == [0, 0, 0] and loaded["n"] == 1
    assert torch.load(io.BytesIO(empty)).tolist() == [0, 0, 0]
    assert torch.load(io.BytesIO(data))["a"].tolist() == [1, 1, 1]


def test_storages_of_files(tmp_path: Path) -> None:
    path = tmp_path / "x.bin"
    path.write_bytes(np.arange(4, dtype=np.float32).tobytes())
    whole = torch.UntypedStorage.from_file(str(path), nbytes=16)
    assert whole.nbytes() == 16 and whole[7] == 63 and whole[4:8].nbytes() == 4
    assert torch.asarray(whole[4:8], dtype=torch.uint8).view(torch.float32).tolist() == [1.0]
    floats = torch.FloatStorage.from_file(str(path), shared=True, size=6)
    assert path.stat().st_size == 24 and floats.tolist() == [0, 1, 2, 3, 0, 0]
    floats[5] = 2.5
    assert np.fromfile(path, np.float32)[5] == 2.5
    with pytest.raises(RuntimeError, match="100 bytes wanted"):
        torch.UntypedStorage.from_file(path, nbytes=100)
    mapped = torch.from_file(path, shared=True, size=8, dtype=torch.int16)
    mapped[7] = 258
    assert path.read_bytes()[14:16] == b"\x02\x01"
    private = torch.from_file(path, size=2)
    private.fill_(3)
    assert private.dtype is torch.float32 and path.read_bytes()[:8] != bytes(private.numpy())


# -- pickle modules, names, what forces what ------------------------------------------------


class _Upper(pickle._Unpickler):
    """Counts what it loads."""

    loads = 0

    def load(self) -> Any:
        _Upper.loads += 1
        return super().load()


class _Module:
    """A module with a pickler in Python and an unpickler of its own."""

    __name__ = "own"
    Pickler, Unpickler = pickle._Pickler, _Upper


@FORMATS
def test_other_pickle_modules(is_zip: bool) -> None:
    module = _Module()
    data = saved({"a": nn.Linear(1, 1), "b": torch.ones(1)}, is_zip, pickle_module=module)
    before = _Upper.loads
    loaded = torch.load(io.BytesIO(data), pickle_module=module)
    assert type(loaded["a"]) is nn.Linear and _Upper.loads == before + 1
    with pytest.raises(RuntimeError, match="Can not safely load weights"):
        torch.load(io.BytesIO(data), pickle_module=module, weights_only=True)


def test_pickle_modules_in_c() -> None:
    class InC:
        __name__, Pickler = "in_c", pickle.Pickler

    with pytest.raises(TypeError, match=r"in_c\.Pickler must be derived"):
        saved(torch.ones(1), pickle_module=InC())


def test_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    data = saved(nn.Linear(1, 1))
    monkeypatch.setenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD", "1")
    with pytest.warns(UserWarning, match="weights_only=False"):
        torch.load(io.BytesIO(data))
    monkeypatch.setenv("TORCH_FORCE_WEIGHTS_ONLY_LOAD", "1")
    with pytest.raises(RuntimeError, match="Only one of"):
        torch.load(io.BytesIO(data))
    monkeypatch.delenv("TORCH_FORCE_NO_WEIGHTS_ONLY_LOAD")
    with pytest.raises(LoadError):
        torch.load(io.BytesIO(data), weights_only=False)


class Point:
    def __init__(self, x: int) -> None:
        self.x = x


def test_classes_that_users_allow() -> None:
    data = saved([Point(3), nn.Linear(1, 1)])
    with pytest.raises(LoadError, match="add_safe_globals"):
        torch.load(io.BytesIO(data))
    with serialization.safe_globals([Point, (nn.Linear, "torch.nn.modules.linear.Linear")]):
        loaded = torch.load(io.BytesIO(data))
        assert loaded[0].x == 3 and type(loaded[1]) is nn.Linear
        assert len(serialization.get_safe_globals()) == 2
    assert serialization.get_safe_globals() == []
    with pytest.raises(ValueError, match="length 2"):
        serialization.add_safe_globals([(Point,)])


def test_names_that_would_be_refused(tmp_path: Path) -> None:
    torch.save([Point(3), torch.ones(1)], tmp_path / "x")
    place = f"{Point.__module__}.Point"
    found = serialization.get_unsafe_globals_in_checkpoint(tmp_path / "x")
    assert place in found and all("torch" not in name for name in found)
    with serialization.safe_globals([Point]):
        assert place not in serialization.get_unsafe_globals_in_checkpoint(tmp_path / "x")
    with pytest.raises(ValueError, match="Expected input to be a checkpoint"):
        serialization.get_unsafe_globals_in_checkpoint(io.BytesIO(saved(1, is_zip=False)))


def test_byte_orders() -> None:
    values = torch.tensor([1, 2], dtype=torch.int16)
    silent = saved(values, _disable_byteorder_record=True)
    assert torch.load(io.BytesIO(silent)).tolist() == [1, 2]
    order = serialization.LoadEndianness
    for chosen, expected in ((order.BIG, [256, 512]), (order.LITTLE, [1, 2]), (None, [1, 2])):
        serialization.set_default_load_endianness(chosen)
        assert serialization.get_default_load_endianness() is chosen
        assert torch.load(io.BytesIO(silent)).tolist() == expected
        assert torch.load(io.BytesIO(saved(values))).tolist() == [1, 2]
    with pytest.raises(TypeError, match="LoadEndianness"):
        serialization.set_default_load_endianness("big")


def test_safetensors_by_load(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    path = tmp_path / "x.safetensors"
    serialization.save_file({"a": torch.ones(2)}, path)
    assert torch.load(path)["a"].tolist() == [1, 1]
    with pytest.raises(RuntimeError, match="not as a dict"):
        torch.load(path, map_location={"cpu": "cpu"})
    for old, new in ((b'"F32","shape":[2]', b'"F4","shape":[16]'), (b"F32", b"X32")):
        data = path.read_bytes()
        head = data[8 : 8 + int.from_bytes(data[:8], "little")].rstrip().replace(old, new)
        changed = len(head).to_bytes(8, "little") + head + data[-8:]
        (tmp_path / "y.safetensors").write_bytes(changed)
        with pytest.raises(LoadError, match=r"F4|damaged"):
            torch.load(tmp_path / "y.safetensors")
