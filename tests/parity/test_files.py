"""Files between this library and PyTorch, in both directions and all formats."""

from __future__ import annotations

import io
import pickle
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import torch as reference

import torchgen_out as torch
from tests import old_files

pytestmark = [
    pytest.mark.filterwarnings("ignore:TypedStorage is deprecated:UserWarning"),
    pytest.mark.filterwarnings("ignore:Detected pickle protocol:UserWarning"),
]

COMPLEX = reference.tensor([1 + 2j, 3 - 1j])
VALUES: dict[str, Any] = {
    "float32": reference.arange(4.0),
    "view": reference.arange(12.0).reshape(3, 4)[1:, ::2],
    "expanded": reference.ones(1).expand(3, 2),
    "empty": reference.zeros(3, 4)[3:, 2:2],
    "0d": reference.tensor(3),
    "bfloat16": reference.ones(3, dtype=reference.bfloat16),
    "float16": reference.ones(3, dtype=reference.float16),
    "bool": reference.tensor([True, False]),
    "int8": reference.tensor([-1, 2], dtype=reference.int8),
    "complex128": COMPLEX.to(reference.complex128),
    "conj": COMPLEX.conj(),
    "imaginary part of conj": COMPLEX.conj().imag,
    "neg": reference._neg_view(reference.arange(3.0)),
}


def saved_by(library: Any, obj: Any, **options: Any) -> io.BytesIO:
    file = io.BytesIO()
    library.save(obj, file, **options)
    file.seek(0)
    return file


@pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "stream"])
@pytest.mark.parametrize("protocol", range(6))
@pytest.mark.parametrize("name", VALUES)
def test_from_pytorch(name: str, protocol: int, is_zip: bool) -> None:
    value = VALUES[name]
    options = {"pickle_protocol": protocol, "_use_new_zipfile_serialization": is_zip}
    for weights_only in (True, False):
        loaded = torch.load(saved_by(reference, value, **options), weights_only=weights_only)
        assert str(loaded.dtype) == str(value.dtype)
        assert tuple(loaded.shape) == tuple(value.shape) and loaded.stride() == value.stride()
        assert loaded.tolist() == value.tolist()


@pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "stream"])
@pytest.mark.parametrize("protocol", range(6))
def test_to_pytorch(protocol: int, is_zip: bool) -> None:
    base = torch.arange(12.0).reshape(3, 4)
    value = {
        "view": base[1:, ::2],
        "base": base,
        "half": torch.ones(2).bfloat16(),
        "parameter": torch.nn.Parameter(torch.ones(2)),
        "meta": torch.empty(2, 3, device="meta"),
        "storage": torch.ones(3).storage(),
        "rest": [torch.Size([1]), torch.float16, torch.device("cpu"), torch.strided],
    }
    value["base"].note = "kept"
    file = saved_by(torch, value, pickle_protocol=protocol, _use_new_zipfile_serialization=is_zip)
    loaded = reference.load(file, weights_only=protocol == 2)
    loaded["base"][1, 0] = 99.0
    assert loaded["view"].tolist() == [[99, 6], [8, 10]] and loaded["base"].note == "kept"
    assert loaded["half"].dtype is reference.bfloat16
    assert type(loaded["parameter"]) is reference.nn.Parameter
    assert loaded["meta"].device.type == "meta" and list(loaded["storage"]) == [1, 1, 1]
    expected = [reference.Size([1]), reference.float16, reference.device("cpu"), reference.strided]
    assert loaded["rest"] == expected


def test_shared_conjugates_and_attributes() -> None:
    value = COMPLEX.clone()
    value.note = {"a": 1}
    loaded = torch.load(saved_by(reference, [value, value.conj(), value[:1].conj()]))
    assert loaded[0].note == {"a": 1}
    assert loaded[1].tolist() == COMPLEX.conj().tolist() and len(loaded[2]) == 1
    assert loaded[1].data_ptr() == loaded[2].data_ptr()


def test_storages() -> None:
    value = [reference.ones(2).storage(), reference.ones(1).untyped_storage()]
    loaded = torch.load(saved_by(reference, value))
    assert loaded[0].tolist() == [1.0, 1.0] and loaded[0].dtype is torch.float32
    assert loaded[1].tolist() == [0, 0, 128, 63]


def test_the_tar_of_0_1(tmp_path: Path) -> None:
    path = tmp_path / "x.tar"
    path.write_bytes(old_files.sample_tar())
    ours, theirs = torch.load(path), reference.load(path, weights_only=False)
    for name in ("a", "b"):
        assert ours[name].tolist() == theirs[name].tolist()
    assert ours["c"][0].tolist() == theirs["c"][0].tolist()
    assert ours["s"].tolist() == list(theirs["s"])


def test_the_stream_of_0_4() -> None:
    data = old_files.sample_stream()
    theirs = reference.load(io.BytesIO(data), weights_only=False)
    ours = torch.load(io.BytesIO(data))
    assert {name: tensor.tolist() for name, tensor in ours.items()} == {
        name: tensor.tolist() for name, tensor in theirs.items()
    }


MODULES: dict[str, tuple[Callable[[Any], Any], Callable[[], tuple[Any, ...]]]] = {
    "convolution": (
        lambda nn: nn.Sequential(
            nn.Conv2d(3, 4, 3, padding=1),
            nn.BatchNorm2d(4),
            nn.ReLU(),
            nn.MaxPool2d(2),
            nn.Flatten(),
            nn.Linear(16, 2),
        ),
        lambda: (reference.randn(2, 3, 4, 4),),
    ),
    "circular": (
        lambda nn: nn.Conv1d(2, 3, 3, padding=1, padding_mode="circular"),
        lambda: (reference.randn(1, 2, 5),),
    ),
    "lstm": (
        lambda nn: nn.LSTM(3, 4, 2, bidirectional=True),
        lambda: (reference.randn(5, 2, 3),),
    ),
    "attention": (
        lambda nn: nn.MultiheadAttention(4, 2),
        lambda: (reference.randn(5, 2, 4),) * 3,
    ),
    "encoder": (
        lambda nn: nn.TransformerEncoderLayer(4, 2, 8, activation="gelu"),
        lambda: (reference.randn(5, 2, 4),),
    ),
    "embedding": (
        lambda nn: nn.Embedding(5, 3, padding_idx=0),
        lambda: (reference.tensor([0, 2]),),
    ),
    "loss": (
        lambda nn: nn.CrossEntropyLoss(label_smoothing=0.1),
        lambda: (reference.randn(2, 3), reference.tensor([0, 2])),
    ),
}


def ours(tensor: Any) -> Any:
    return torch.tensor(tensor.tolist(), dtype=getattr(torch, str(tensor.dtype)[6:]))


def first(result: Any) -> Any:
    return first(result[0]) if isinstance(result, tuple) else result


@pytest.mark.parametrize("is_zip", [True, False], ids=["zip", "stream"])
@pytest.mark.parametrize("name", MODULES)
def test_whole_modules_from_pytorch(name: str, is_zip: bool) -> None:
    make, make_inputs = MODULES[name]
    reference.manual_seed(0)
    module, inputs = make(reference.nn).eval(), make_inputs()
    file = saved_by(reference, module, _use_new_zipfile_serialization=is_zip)
    with pytest.raises(torch.serialization.LoadError, match="was not an allowed global"):
        torch.load(file, weights_only=True)
    file.seek(0)
    loaded = torch.load(file, weights_only=False)
    assert type(loaded) is type(make(torch.nn))
    expected = first(module(*inputs)).detach().numpy()
    result = first(loaded(*map(ours, inputs))).detach().numpy()
    assert abs(expected - result).max() < 1e-5


GAINED: dict[str, tuple[Callable[[Any], Any], list[str]]] = {
    "convolution of 1.0": (
        lambda nn: nn.Conv2d(2, 3, 3),
        ["padding_mode", "_reversed_padding_repeated_twice"],
    ),
    "lstm of 1.7": (
        lambda nn: nn.LSTM(2, 3),
        ["proj_size", "_flat_weights", "_flat_weights_names", "_flat_weight_refs"],
    ),
    "loss of 1.9": (lambda nn: nn.CrossEntropyLoss(), ["label_smoothing"]),
    "GELU of 1.11": (lambda nn: nn.GELU(), ["approximate"]),
    "attention of 1.1": (
        lambda nn: nn.MultiheadAttention(4, 2),
        ["batch_first", "_qkv_same_embed_dim"],
    ),
    "normalization of 0.3": (lambda nn: nn.BatchNorm1d(3), ["track_running_stats"]),
    "resizing of 1.4": (lambda nn: nn.Upsample(scale_factor=2), ["recompute_scale_factor"]),
    "pooling of 1.1": (lambda nn: nn.AvgPool2d(2), ["divisor_override"]),
    "encoder of 1.8": (lambda nn: nn.TransformerEncoderLayer(4, 2, 8), ["norm_first"]),
    "encoder of 1.2": (lambda nn: nn.TransformerEncoderLayer(4, 2, 8), ["activation"]),
    "decoder of 1.2": (lambda nn: nn.TransformerDecoderLayer(4, 2, 8), ["activation"]),
}
HOOKS_OF_0_4 = {"_backward_hooks", "_forward_hooks", "_forward_pre_hooks"}


def aged(module: Any, gained: list[str]) -> Any:
    """Take away what an older release did not have, and add what it had instead."""
    for each in module.modules():
        attributes = each.__dict__
        newer = {name for name in attributes if "hooks" in name} - HOOKS_OF_0_4
        for name in {*newer, *gained, "_is_full_backward_hook", "_non_persistent_buffers_set"}:
            attributes.pop(name, None)
        attributes["_backend"] = None
    return module


@pytest.mark.parametrize("name", GAINED)
def test_modules_of_older_releases(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(reference.nn.RNNBase, "__getstate__", lambda self: self.__dict__)
    make, gained = GAINED[name]
    module = aged(make(reference.nn).eval(), gained)
    file = saved_by(reference, module, _use_new_zipfile_serialization=False)
    loaded = torch.load(file, weights_only=False)
    today = make(torch.nn).eval()
    assert repr(loaded) == repr(today)
    missing = [name for name in vars(today) if not hasattr(loaded, name)]
    assert missing == [] and loaded.state_dict().keys() == today.state_dict().keys()
    assert getattr(loaded, "activation", None) is getattr(today, "activation", None)
    simple = [name for name in gained if isinstance(vars(today).get(name), str | int | float)]
    assert {name: getattr(loaded, name) for name in simple} == {
        name: getattr(today, name) for name in simple
    }


def test_whole_modules_to_pytorch() -> None:
    module = torch.nn.Sequential(torch.nn.Linear(2, 3), torch.nn.Tanh(), torch.nn.Dropout(0.5))
    loaded = reference.load(saved_by(torch, module), weights_only=False)
    assert type(loaded) is reference.nn.Sequential
    for name, tensor in module.state_dict().items():
        assert loaded.state_dict()[name].tolist() == tensor.tolist()


def test_what_this_library_lacks_is_named() -> None:
    packed = reference.zeros(2, dtype=reference.uint8).view(reference.float4_e2m1fn_x2)
    file = saved_by(reference, packed)
    with pytest.raises(torch.serialization.LoadError, match=r"torch\.float4_e2m1fn_x2"):
        torch.load(file)


def test_programs_that_handle_pytorchs_errors() -> None:
    """Each file is refused by both, and one handler of PyTorch's errors is enough."""
    whole = saved_by(torch, [torch.ones(2)]).getvalue()
    for data in (b"", b"no file", whole[:100], whole[:-30], pickle.dumps(1)):
        handled = (RuntimeError, EOFError, pickle.UnpicklingError)
        for library in (reference, torch):
            with pytest.raises(handled):
                library.load(io.BytesIO(data))


def test_files_without_checksums() -> None:
    before = reference.serialization.get_crc32_options()
    reference.serialization.set_crc32_options(False)
    try:
        file = saved_by(reference, reference.arange(3))
    finally:
        reference.serialization.set_crc32_options(before)
    assert torch.load(file).tolist() == [0, 1, 2]


def test_sparse_tensors_without_memory() -> None:
    """What a file says of the layout is kept; there are no indices to look at."""
    buffer = io.BytesIO()
    torch.save(torch.eye(3).to_sparse(), buffer)
    buffer.seek(0)
    loaded = torch.load(buffer, map_location="meta")
    assert (loaded.layout, loaded.device.type) == (torch.sparse_coo, "meta")
    assert (loaded.shape, loaded.dtype) == ((3, 3), torch.float32)
