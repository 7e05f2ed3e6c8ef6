"""Files of PyTorch before 1.6: the tar of 0.1, the stream of 0.1.10 to 1.5."""

from __future__ import annotations

import io
import pickle
from pathlib import Path
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests import old_files
from tests.old_files import Call, Name, Reference
from torchgen_out import nn


def load(data: bytes, **options: Any) -> Any:
    return torch.load(io.BytesIO(data), **options)


@pytest.mark.parametrize("weights_only", [True, False])
def test_tar(weights_only: bool) -> None:
    loaded = load(old_files.sample_tar(), weights_only=weights_only)
    assert loaded["a"].tolist() == [[0, 1, 2], [3, 4, 5]]
    assert loaded["b"].tolist() == [[2, 3], [4, 5]]
    assert loaded["c"][0].tolist() == [7, 8] and loaded["c"][0].dtype is torch.int64
    loaded["a"][0, 2] = 9.0
    assert float(loaded["b"][0, 0]) == 9.0
    assert loaded["s"].tolist() == loaded["a"].flatten().tolist()


@pytest.mark.parametrize("weights_only", [True, False])
@pytest.mark.parametrize("protocol", range(1, 6))
def test_stream(protocol: int, weights_only: bool) -> None:
    loaded = load(old_files.sample_stream(protocol), weights_only=weights_only)
    assert loaded["whole"].tolist() == np.arange(12.0).reshape(3, 4).tolist()
    assert loaded["part"].tolist() == [[5, 7], [9, 11]]
    assert loaded["old"].tolist() == [[2, 3, 4], [6, 7, 8]]
    assert loaded["first"].tolist() == [5, 6] and loaded["first"].dtype is torch.int64
    assert type(loaded["parameter"]) is nn.Parameter and loaded["parameter"].requires_grad
    assert loaded["variable"].requires_grad and loaded["variable"].is_leaf
    with torch.no_grad():
        loaded["whole"][1, 2] = 60.0
    assert [float(loaded[name].flatten()[index]) for name, index in (("old", 3), ("part", 0))] == [
        60.0,
        5.0,
    ]


def test_strings_of_python_2() -> None:
    # {'name': '\xe9'} as Python 2 writes it in protocol 2
    pickled = b"\x80\x02}q\x01U\x04nameq\x02U\x01\xe9q\x03s."
    data = old_files.stream(0, {}).replace(old_files.dumps(0), pickled, 1)
    with pytest.raises(torch.serialization.LoadError, match='encoding="latin1"'):
        load(data)
    assert load(data, encoding="latin1") == {"name": "\xe9"}
    assert load(data, encoding="bytes") == {b"name": b"\xe9"}


def test_ordered_dicts_of_python_2() -> None:
    pairs = [["a", 1], ["b", 2]]
    data = old_files.stream(Call(Name("collections", "OrderedDict"), (pairs,)), {})
    assert list(load(data).items()) == [("a", 1), ("b", 2)]


def test_objects_one_after_another(tmp_path: Path) -> None:
    path = tmp_path / "several"
    with open(path, "wb") as file:
        file.write(b"head")
        for value in (1.0, 2.0):
            torch.save(torch.tensor([value]), file, _use_new_zipfile_serialization=False)
    with open(path, "rb") as file:
        assert file.read(4) == b"head"
        assert [float(torch.load(file)) for _ in range(2)] == [1.0, 2.0]


def test_streams_are_not_mapped(tmp_path: Path) -> None:
    torch.save(torch.ones(1), tmp_path / "x", _use_new_zipfile_serialization=False)
    with pytest.raises(RuntimeError, match="mmap can only be used"):
        torch.load(tmp_path / "x", mmap=True)


@pytest.mark.parametrize(
    ("reference", "message"),
    [
        (("storage", Name("torch", "FloatStorage"), "0", "cpu", 3, None), "has 2 in the file"),
        (("storage", Name("torch", "FloatStorage"), "1", "cpu", 2, None), "not those of the"),
        (("storage", Name("torch", "FloatStorage"), "0", "cpu", 2, ("1", 1, 2)), "reaches beyond"),
        (("storage", Name("torch", "FloatStorage"), "0", "cpu", -2, None), "must lie in"),
        (("storage", Name("torch", "Size"), "0", "cpu", 2, None), "a type of storages"),
        (("stored", Name("torch", "FloatStorage"), "0", "cpu", 2, None), "names no storage"),
        (("storage", 0, "0"), "a tuple of five or six"),
    ],
)
def test_false_references(reference: Any, message: str) -> None:
    data = old_files.stream([Reference(reference)], {"0": np.zeros(2, np.float32)})
    with pytest.raises(torch.serialization.LoadError, match=message):
        load(data)


def test_truncated_anywhere() -> None:
    archive = old_files.sample_tar().rstrip(b"\0")
    for data in (old_files.sample_stream(), archive):
        for size in range(0, len(data), 7):
            with pytest.raises(torch.serialization.LoadError):
                load(data[:size])


def test_pickles_of_others() -> None:
    with pytest.raises(RuntimeError, match="Invalid magic number"):
        load(pickle.dumps({"a": 1}))
    with pytest.raises(EOFError, match="Ran out of input"):
        load(b"")
