"""dtype, layout, memory format, finfo and iinfo: rows, singletons, limits."""

import copy
import pickle

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import finfo as limits
from torchgen_out._runtime.core import layout, memory_format, promotion
from torchgen_out._runtime.kernels.cpu import narrow_arrays


@pytest.mark.parametrize("dtype", dtypes.ALL, ids=str)
def test_row(dtype):
    assert dtypes.BY_INDEX[dtype.index] is dtype
    assert repr(dtype) == str(dtype) == "torch." + dtype.name
    assert dtype.itemsize == dtype.numpy.itemsize
    assert dtype.is_floating_point == (dtype.kind == "f")
    assert dtype.is_complex == (dtype.kind == "c")
    assert pickle.loads(pickle.dumps(dtype)) is dtype
    assert copy.deepcopy(dtype) is copy.copy(dtype) is dtype


def test_pytorch_numbering():
    numbers = {each.name: each.index for each in dtypes.ALL}
    assert numbers["uint8"] == 0
    assert numbers["float32"] == 6
    assert numbers["bool"] == 11
    assert numbers["bfloat16"] == 15


def test_second_names():
    assert dtypes.float is dtypes.float32
    assert dtypes.long is dtypes.int64
    assert dtypes.by_name("half") is dtypes.float16
    with pytest.raises(AttributeError, match="float8"):
        dtypes.by_name("float8")


def test_sixteen_bit_floats_compute_in_float32():
    for each in (dtypes.float16, dtypes.bfloat16):
        assert each.numpy == np.uint16
        assert each.opmath is each.acc is dtypes.float32


def test_complex_counterparts():
    assert dtypes.float32.to_complex() is dtypes.complex64
    assert dtypes.complex128.to_real() is dtypes.float64
    assert dtypes.int32.to_real() is dtypes.int32
    with pytest.raises(RuntimeError, match="Unknown Complex ScalarType"):
        dtypes.int32.to_complex()


def test_cannot_be_created():
    with pytest.raises(TypeError, match="cannot create"):
        dtypes.dtype()


def test_from_numpy():
    for name in ("uint8", "int64", "float16", "float32", "complex64", "bool"):
        assert dtypes.from_numpy(np.dtype(name)).name == name
    ml_dtypes = pytest.importorskip("ml_dtypes")
    assert dtypes.from_numpy(ml_dtypes.bfloat16) is dtypes.bfloat16
    with pytest.raises(TypeError, match=r"can't convert np\.ndarray of type"):
        dtypes.from_numpy(np.dtype(object))
    with pytest.raises(ValueError, match="byte order"):
        dtypes.from_numpy(np.dtype(">i4"))


def test_default_dtype():
    try:
        dtypes.set_default_dtype(dtypes.float64)
        assert promotion.number_dtype(1.5) is dtypes.float64
        assert promotion.number_dtype(1j) is dtypes.complex128
        with pytest.raises(TypeError, match="only floating-point types"):
            dtypes.set_default_dtype(dtypes.int32)
        with pytest.raises(TypeError, match="invalid dtype object"):
            dtypes.set_default_dtype("float32")
    finally:
        dtypes.set_default_dtype(dtypes.float32)


@pytest.mark.parametrize("dtype", [np.float16, np.float32, np.float64], ids=lambda d: d.__name__)
def test_finfo_against_numpy(dtype):
    ours, theirs = limits.finfo(dtypes.from_numpy(dtype)), np.finfo(dtype)
    for name in ("bits", "eps", "max", "min", "tiny", "smallest_normal"):
        assert getattr(ours, name) == float(getattr(theirs, name))


def test_finfo_of_bfloat16_and_complex():
    assert limits.finfo(dtypes.bfloat16).eps == 2**-7
    assert limits.finfo(dtypes.complex64) == limits.finfo(dtypes.float32) == limits.finfo()
    assert repr(limits.finfo(dtypes.float16)) == (
        "finfo(resolution=0.001, min=-65504, max=65504, eps=0.000976562, "
        "smallest_normal=6.10352e-05, tiny=6.10352e-05, dtype=float16)"
    )
    with pytest.raises(TypeError, match="requires a floating point"):
        limits.finfo(dtypes.int32)


def test_iinfo():
    assert (limits.iinfo(dtypes.int8).min, limits.iinfo(dtypes.int8).max) == (-128, 127)
    assert limits.iinfo(dtypes.uint8).max == 255
    assert limits.iinfo(dtypes.int64).bits == 64
    with pytest.raises(TypeError, match=r"not supported by torch\.iinfo"):
        limits.iinfo(dtypes.bool)
    with pytest.raises(TypeError, match="requires an integer"):
        limits.iinfo(dtypes.float32)


@pytest.mark.parametrize("each", [*layout.BY_INDEX, *memory_format.ALL], ids=str)
def test_layouts_and_memory_formats_are_singletons(each):
    assert repr(each) == "torch." + each.name
    assert pickle.loads(pickle.dumps(each)) is copy.deepcopy(each) is each


# Every float16 and bfloat16 value, and every float32 rounding situation.


def test_half_round_trips_every_value():
    bits = np.arange(2**16, dtype=np.uint32).astype(np.uint16)
    for dtype in (dtypes.float16, dtypes.bfloat16):
        wide = narrow_arrays.widen(bits, dtype)
        numbers = ~np.isnan(wide)
        assert np.array_equal(narrow_arrays.narrow(wide, dtype)[numbers], bits[numbers])
        rounded = narrow_arrays.narrow(wide[~numbers], dtype)
        assert np.isnan(narrow_arrays.widen(rounded, dtype)).all()


def test_half_rounds_to_nearest_even():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    rng = np.random.default_rng(0)
    random_bits = rng.integers(0, 2**32, 200_000, dtype=np.uint32).view(np.float32)
    near_ties = (rng.integers(0, 2**16, 5000, dtype=np.uint32) << 16 | 0x8000).view(np.float32)
    values = np.concatenate([random_bits, near_ties, np.float32([0, -0.0, np.inf, -np.inf, 65520])])
    values = values[~np.isnan(values)]
    with np.errstate(over="ignore"):
        as_float16 = values.astype(np.float16).view(np.uint16)
    assert np.array_equal(narrow_arrays.narrow(values, dtypes.float16), as_float16)
    as_bfloat16 = values.astype(ml_dtypes.bfloat16).view(np.uint16)
    assert np.array_equal(narrow_arrays.narrow(values, dtypes.bfloat16), as_bfloat16)


def test_constants_of_the_top_level() -> None:
    assert (torch.pi, torch.e, torch.inf) == (np.pi, np.e, np.inf)
    assert torch.nan != torch.nan
    assert torch.newaxis is None
