"""Devices: parsing, identity, the default device; and generators, which belong to one."""

import pickle

import pytest

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import generator
from torchgen_out._runtime.core.device import device


def test_parsing():
    assert (device("cuda:1").type, device("cuda:1").index) == ("cuda", 1)
    assert device("cpu").index is None
    assert device("cuda", 2) is device("cuda:2")
    assert device("cuda") is not device("cuda:0")
    assert device(device("meta")) is device("meta")
    assert device(type="cpu", index=1).index == 1


def test_texts():
    assert repr(device("cpu")) == "device(type='cpu')"
    assert repr(device("cuda:1")) == "device(type='cuda', index=1)"
    assert str(device("cuda:1")) == "cuda:1"
    assert pickle.loads(pickle.dumps(device("cuda:1"))) is device("cuda:1")


@pytest.mark.parametrize(
    ("arguments", "error", "phrase"),
    [
        (("foo",), RuntimeError, "Expected one of cpu, cuda"),
        (("",), RuntimeError, "must not be empty"),
        (("cuda:x",), RuntimeError, "Invalid device string: 'cuda:x'"),
        (("cuda:-1",), RuntimeError, "Invalid device string"),
        (("cuda:01",), RuntimeError, "Invalid device string"),
        (("cuda", -2), RuntimeError, "must not be negative"),
        (("cuda:0", 1), RuntimeError, "must not include an index"),
        (("cuda", "1"), TypeError, "argument 'index'"),
        ((None,), TypeError, "invalid combination of arguments"),
        ((1.5,), TypeError, "invalid combination of arguments"),
    ],
)
def test_errors(arguments, error, phrase):
    with pytest.raises(error, match=phrase):
        device(*arguments)


def test_default_device():
    assert devices.default_device() is devices.cpu
    with device("meta"):
        assert devices.default_device() is devices.meta
        with device("cpu"):
            assert devices.default_device() is devices.cpu
        assert devices.default_device() is devices.meta
    try:
        devices.set_default_device("meta")
        assert devices.default_device() is devices.meta
    finally:
        devices.set_default_device(None)
    assert devices.default_device() is devices.cpu


def test_generator_stream():
    ours = generator.Generator()
    assert ours.initial_seed() == generator.DEFAULT_SEED
    assert ours.manual_seed(5) is ours
    assert ours.advance(10) == (5, 0)
    assert ours.advance(1) == (5, 10)
    assert ours.get_offset() == 11


def test_generator_state():
    ours = generator.Generator().manual_seed(-1)
    assert ours.initial_seed() == 2**64 - 1
    ours.advance(3)
    state = ours.get_state()
    expected = ours.advance(1)
    assert ours.set_state(state).advance(1) == expected
    ours.set_state(state)
    assert ours.clone_state().advance(1) == expected
    with pytest.raises(ValueError, match="Overflow"):
        ours.manual_seed(2**64)
    with pytest.raises(RuntimeError, match="expected a long"):
        ours.manual_seed(2.5)
    with pytest.raises(TypeError, match="ByteTensor"):
        ours.set_state([1, 2])


def test_default_generators():
    saved = generator.get_rng_state()
    try:
        assert generator.manual_seed(7) is generator.default_generator
        assert generator.initial_seed() == 7
        assert generator.default_for(device("cuda:0")).initial_seed() == 7
        generator.manual_seed(8)
        assert generator.default_for(device("cuda:0")).initial_seed() == 8
        assert generator.seed() == generator.initial_seed()
    finally:
        generator.manual_seed(generator.DEFAULT_SEED)
        generator.set_rng_state(saved)
