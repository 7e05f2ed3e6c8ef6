"""Storages of a dtype: they are the tensors' own memory."""

from __future__ import annotations

import pytest

import torchgen_out as torch


def test_what_is_written_shows_in_tensors() -> None:
    x = torch.arange(6.0).reshape(2, 3)
    storage = x[1].storage()
    assert isinstance(storage, torch.FloatStorage) and torch.is_storage(storage)
    assert not isinstance(storage, torch.LongStorage)
    assert len(storage) == storage.size() == 6 and storage.tolist() == [0, 1, 2, 3, 4, 5]
    storage[-1] = 9
    storage[0] = 7
    assert x.tolist() == [[7, 1, 2], [3, 4, 9]] and storage[5] == 9.0
    storage.fill_(2)
    assert x.sum() == 12 and list(storage) == [2.0] * 6
    assert storage.data_ptr() == x.data_ptr() and storage.nbytes() == 24
    assert storage.type() == "torch.FloatStorage" and storage.element_size() == 4


def test_making_and_converting() -> None:
    storage = torch.IntStorage([1, 2, 300])
    assert storage.dtype is torch.int32 and storage.byte().tolist() == [1, 2, 44]
    assert storage.double().type() == "torch.DoubleStorage"
    assert len(torch.DoubleStorage(4)) == 4 and len(torch.Storage()) == 0
    copy = storage.clone()
    copy[0] = 5
    assert storage[0] == 1 and copy.tolist() == [5, 2, 300]
    torch.LongStorage([0, 0, 0]).copy_(copy)
    assert "int32, device=cpu) of size 3" in repr(copy) and copy.cpu() is copy


def test_tensors_of_storages() -> None:
    storage = torch.FloatStorage([1, 2, 3, 4])
    x = torch.FloatTensor(storage)
    y = torch.tensor([]).set_(storage, 1, (2,))
    storage[1] = 8
    assert x.tolist() == [1, 8, 3, 4] and y.tolist() == [8, 3]


def test_mistakes() -> None:
    storage = torch.FloatStorage([1, 2])
    with pytest.raises(IndexError, match="index 2 out of range for storage of size 2"):
        storage[2]
    with pytest.raises(RuntimeError, match="slices are only supported"):
        storage[0:1]
    with pytest.raises(TypeError, match="can't index a storage with str"):
        storage["a"]
    with pytest.raises(TypeError, match="invalid data type 'str'"):
        torch.FloatStorage("a")
