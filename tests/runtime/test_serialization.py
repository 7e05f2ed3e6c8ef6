"""Saving and loading: what goes in comes out, shared memory stays shared, nothing else runs."""

from __future__ import annotations

import io
import os
import pickle
from collections import OrderedDict
from pathlib import Path
from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out import nn, serialization


def round_trip(obj: Any, **options: Any) -> Any:
    file = io.BytesIO()
    torch.save(obj, file)
    file.seek(0)
    return torch.load(file, **options)


DTYPES = ["float32", "float64", "float16", "bfloat16", "int64", "int32", "int16", "int8", "uint8"]


@pytest.mark.parametrize("name", [*DTYPES, "bool", "complex64"])
def test_dtypes(name: str) -> None:
    dtype = getattr(torch, name)
    tensor = torch.tensor([0, 1, 2]).to(dtype)
    loaded = round_trip(tensor)
    assert loaded.dtype is dtype and torch.equal(loaded, tensor)


def test_containers_and_values() -> None:
    value = {
        "size": torch.Size([1, 2]),
        "dtype": torch.bfloat16,
        "device": torch.device("cpu"),
        "plain": (1, 2.5, "x", None, True, b"ab", {1, 2}, [3j]),
        "ordered": OrderedDict(a=1),
    }
    assert round_trip(value) == value


def test_views_still_share_memory() -> None:
    base = torch.arange(12.0).reshape(3, 4)
    loaded = round_trip({"base": base, "view": base[1:, ::2], "empty": base[:0]})
    assert loaded["view"].stride() == (4, 2) and loaded["empty"].shape == (0, 4)
    loaded["base"][1, 0] = 99.0
    assert float(loaded["view"][0, 0]) == 99.0


def test_parameters_stay_parameters() -> None:
    loaded = round_trip(nn.Parameter(torch.ones(2), requires_grad=False))
    assert type(loaded) is nn.Parameter and not loaded.requires_grad
    assert round_trip(torch.ones(1, requires_grad=True)).requires_grad


class Noted(torch.Tensor):
    """A subclass that is asked about operators."""


class Silent(torch.Tensor):
    """One that is not."""

    __torch_function__ = torch._C._disabled_torch_function_impl


@pytest.mark.parametrize("cls", [Noted, Silent])
def test_subclasses_and_attributes(cls: type) -> None:
    tensor = torch.arange(3.0).as_subclass(cls)
    tensor.note = "kept"
    with pytest.raises(serialization.LoadError, match=cls.__name__):
        round_trip(tensor)
    with serialization.safe_globals([cls]):
        for loaded in (round_trip(tensor), round_trip(tensor, weights_only=False)):
            assert type(loaded) is cls and loaded.note == "kept" and loaded.tolist() == [0, 1, 2]
    parameter = nn.Parameter(torch.ones(1))
    parameter.note = 3
    assert round_trip(parameter).note == 3
    buffer = round_trip(nn.Buffer(torch.ones(1), persistent=False))
    assert type(buffer) is nn.Buffer and not buffer.persistent


class Guarded(torch.Tensor):
    """A subclass with a state of its own."""

    def __setstate__(self, state: Any) -> None:
        self.seen = state


def test_states_of_subclasses() -> None:
    tensor = torch.ones(1).as_subclass(Guarded)
    tensor.note = 1
    with serialization.safe_globals([Guarded]):
        assert round_trip(tensor).seen == {"note": 1}


def test_only_known_names_are_reached() -> None:
    class Attack:
        def __reduce__(self) -> Any:
            return os.system, ("false",)

    with pytest.raises(pickle.UnpicklingError, match=r"Unsupported global: GLOBAL posix\.system"):
        round_trip(Attack())
    module = nn.Linear(2, 1)
    with pytest.raises(pickle.UnpicklingError, match="add_safe_globals"):
        round_trip(module)
    assert torch.equal(round_trip(module, weights_only=False).weight, module.weight)


def test_names_can_be_allowed() -> None:
    with serialization.safe_globals([Path, type(Path())]):
        assert round_trip(Path("a")) == Path("a")
    assert serialization.get_safe_globals() == []


def test_a_file_is_whole_or_absent(tmp_path: Path) -> None:
    target = tmp_path / "state.pt"
    torch.save({"a": torch.ones(1)}, target)
    with pytest.raises((pickle.PicklingError, AttributeError)):
        torch.save({"b": lambda: 0}, target)
    assert list(torch.load(target)) == ["a"]
    assert [path.name for path in tmp_path.iterdir()] == ["state.pt"]


def test_equal_contents_give_equal_files() -> None:
    files = []
    for _ in range(2):
        file = io.BytesIO()
        torch.save({"a": torch.ones(3)}, file)
        files.append(file.getvalue())
    assert files[0] == files[1]


def test_wrong_files(tmp_path: Path) -> None:
    (tmp_path / "x.pt").write_bytes(b"no zip")
    with pytest.raises(RuntimeError, match="neither a zip archive"):
        torch.load(tmp_path / "x.pt")
    with pytest.raises(AttributeError, match="file-like object with read"):
        torch.load(3)
    with pytest.raises(FileNotFoundError):
        torch.load(tmp_path / "absent.pt")


def test_map_location() -> None:
    for where in ("cpu", torch.device("cpu"), {"cpu": "cpu"}, lambda storage, location: storage):
        assert round_trip(torch.ones(1), map_location=where).device.type == "cpu"


def test_safetensors(tmp_path: Path) -> None:
    pytest.importorskip("safetensors")
    state = {"a": torch.arange(6.0).reshape(2, 3).t(), "b": torch.ones(2).bfloat16()}
    serialization.save_file(state, tmp_path / "x.safetensors", {"made": "here"})
    loaded = serialization.load_file(tmp_path / "x.safetensors")
    assert loaded.keys() == state.keys()
    for name, tensor in state.items():
        assert loaded[name].dtype is tensor.dtype and torch.equal(loaded[name], tensor)
    with pytest.raises(TypeError, match=r"have no torch\.complex128"):
        serialization.save_file({"z": torch.ones(1).to(torch.complex128)}, tmp_path / "y")
