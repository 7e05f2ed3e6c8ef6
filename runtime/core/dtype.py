"""Element types: one row per dtype and all that follows from it; promotion is in `promotion.py`."""

from __future__ import annotations

import builtins
from collections.abc import Callable
from typing import Any

import numpy as np

from torchgen_out._runtime import errors


class dtype:
    """The type of a tensor's elements. Instances are singletons; compare them with `is`.

    Attributes:
        name: "float32"; `repr` adds the prefix under which users know it.
        index: PyTorch's number of the type; the low five bits of a tensor's key.
        itemsize: bytes per element.
        numpy: the NumPy dtype of the *storage*. Narrow types, whose `opmath` is another one, are
            stored as unsigned integers of their size: float16 as uint16.
        kind: "b" (bool), "i" (integer), "f" (floating) or "c" (complex).
        is_promoted: whether other dtypes beside it have a common dtype with it.
        opmath: the dtype in which an element-wise formula computes.
        acc: the dtype in which a sum accumulates.
    """

    __slots__ = (
        "_complex",
        "_real",
        "acc",
        "index",
        "is_complex",
        "is_floating_point",
        "is_promoted",
        "is_signed",
        "itemsize",
        "kind",
        "name",
        "numpy",
        "opmath",
    )
    __module__ = "torchgen_out"

    name: str
    index: builtins.int
    itemsize: builtins.int
    numpy: np.dtype
    kind: str
    is_floating_point: builtins.bool
    is_complex: builtins.bool
    is_signed: builtins.bool
    is_promoted: builtins.bool
    opmath: dtype
    acc: dtype
    _real: dtype
    _complex: dtype | None

    def __init__(self, *args: object, **kwargs: object) -> None:
        raise TypeError("cannot create 'torch.dtype' instances")

    def to_real(self) -> dtype:
        """Return the dtype of the real part: complex64 gives float32; a real dtype gives itself."""
        return self._real

    def to_complex(self) -> dtype:
        """Return the complex dtype whose parts have this dtype; float32 gives complex64."""
        if self._complex is None:
            raise errors.no_complex_dtype(self)
        return self._complex

    def __repr__(self) -> str:
        return "torch." + self.name

    def __reduce__(self) -> tuple[object, tuple[str]]:
        return by_name, (self.name,)

    def __getattr__(self, name: str) -> Any:
        if name in dtype.__slots__:  # what computing with a type needs, and a name alone has not
            raise errors.absent_dtype(self)
        raise AttributeError(f"'torch.dtype' object has no attribute '{name}'")


# None where PyTorch's numbering has a type that is not here.
BY_INDEX: list[dtype] = [None] * 32  # type: ignore[list-item]


def _define(name: str, index: builtins.int, storage: str, kind: str) -> dtype:
    self: dtype = object.__new__(dtype)
    self.name, self.index, self.kind = name, index, kind
    self.numpy = np.dtype(storage)
    self.itemsize = self.numpy.itemsize
    self.is_floating_point = kind == "f"
    self.is_complex = kind == "c"
    self.is_signed = kind in "fc" or name.startswith("int")
    self.is_promoted = True
    self.opmath = self.acc = self
    self._complex = None
    BY_INDEX[index] = self
    return self


uint8 = _define("uint8", 0, "uint8", "i")
int8 = _define("int8", 1, "int8", "i")
int16 = _define("int16", 2, "int16", "i")
int32 = _define("int32", 3, "int32", "i")
int64 = _define("int64", 4, "int64", "i")
float16 = _define("float16", 5, "uint16", "f")
float32 = _define("float32", 6, "float32", "f")
float64 = _define("float64", 7, "float64", "f")
complex32 = _define("complex32", 8, "uint32", "c")
complex64 = _define("complex64", 9, "complex64", "c")
complex128 = _define("complex128", 10, "complex128", "c")
bool = _define("bool", 11, "bool", "b")
# 12, 13 and 14 are kept for the quantised integers.
bfloat16 = _define("bfloat16", 15, "uint16", "f")

uint16 = _define("uint16", 27, "uint16", "i")
uint32 = _define("uint32", 28, "uint32", "i")
uint64 = _define("uint64", 29, "uint64", "i")
float8_e5m2 = _define("float8_e5m2", 23, "uint8", "f")
float8_e4m3fn = _define("float8_e4m3fn", 24, "uint8", "f")
float8_e5m2fnuz = _define("float8_e5m2fnuz", 25, "uint8", "f")
float8_e4m3fnuz = _define("float8_e4m3fnuz", 26, "uint8", "f")
float8_e8m0fnu = _define("float8_e8m0fnu", 30, "uint8", "f")  # PyTorch's 44 has no place here.
float8_e8m0fnu.is_signed = False

ALL: tuple[dtype, ...] = tuple(each for each in BY_INDEX if each is not None)

for _integer in (bool, uint8, int8, int16, int32, int64, uint16, uint32, uint64):
    _integer.acc = int64
    _integer._real = _integer
_FLOAT8 = (float8_e5m2, float8_e4m3fn, float8_e5m2fnuz, float8_e4m3fnuz, float8_e8m0fnu)
for _float in _FLOAT8:
    _float.opmath = _float.acc = float32
    _float._real = _float
for _alone in (uint16, uint32, uint64, *_FLOAT8):
    _alone.is_promoted = False
for _float, _its_complex in (
    (float16, complex32),
    (float32, complex64),
    (float64, complex128),
):
    _float._complex = _its_complex._complex = _its_complex
    _float._real = _its_complex._real = _float
bfloat16._real, bfloat16._complex = bfloat16, complex64
for _narrow, _wide in ((float16, float32), (bfloat16, float32), (complex32, complex64)):
    _narrow.opmath = _narrow.acc = _wide

# PyTorch's second names. `float`, `int` and `bool` hide the builtins in this module only.
half = float16
float = float32
double = float64
short = int16
int = int32
long = int64
chalf = complex32
cfloat = complex64
cdouble = complex128

ALIASES: dict[str, dtype] = {
    "half": half,
    "float": float,
    "double": double,
    "short": short,
    "int": int,
    "long": long,
    "chalf": chalf,
    "cfloat": cfloat,
    "cdouble": cdouble,
}

BY_PYTHON_TYPE: dict[type, dtype] = {
    builtins.float: float64,
    builtins.int: int64,
    builtins.bool: bool,
    builtins.complex: complex128,
}
"""What Python's number types mean where a dtype is asked for."""


def meant_by(given: object) -> dtype | None:
    """Return a dtype, or what a Python number type stands for; None for anything else."""
    if isinstance(given, dtype):
        return given
    return BY_PYTHON_TYPE.get(given) if given.__class__ is type else None


_BY_NAME = {each.name: each for each in ALL}
_BY_NUMPY = {each.numpy: each for each in ALL if each.name == each.numpy.name}
_BY_NUMPY[np.dtype("float16")] = float16


def _define_name(name: str, itemsize: builtins.int) -> dtype:
    self: dtype = object.__new__(dtype)
    self.name, self.itemsize, self._real = name, itemsize, self
    if name.startswith(("float", "uint", "int")):
        self.kind = "f" if name.startswith("float") else "i"
    self.is_floating_point = name.startswith("float")
    self.is_complex = False
    self.is_signed = self.is_floating_point or name.startswith(("qint", "int"))
    return self


ABSENT: dict[str, dtype] = {
    name: _define_name(name, itemsize)
    for name, itemsize in {
        "float4_e2m1fn_x2": 1,
        "qint8": 1, "quint8": 1, "qint32": 4, "quint4x2": 1, "quint2x4": 1,
        **{f"int{bits}": 1 for bits in range(1, 8)},
        **{f"uint{bits}": 1 for bits in range(1, 8)},
    }.items()
}  # fmt: skip
"""Types that PyTorch has and nothing here computes in: programs ask whether a tensor has one."""


def by_name(name: str) -> dtype:
    """Return the dtype called `name`, "float32" or "float"."""
    found = _BY_NAME.get(name) or ALIASES.get(name) or ABSENT.get(name)
    if found is None:
        raise AttributeError(f"module 'torch' has no attribute '{name}'")
    return found


def from_numpy(numpy_dtype: object) -> dtype:
    """Return the dtype whose values a NumPy dtype holds; ml_dtypes' bfloat16 is known too.

    Raises: TypeError for a NumPy dtype without counterpart (str, object, float128 ...).
    """
    as_numpy = np.dtype(numpy_dtype)  # type: ignore[call-overload]
    found = _BY_NUMPY.get(as_numpy)
    if found is not None:
        return found
    if as_numpy.name == "bfloat16":
        return bfloat16
    native = as_numpy.newbyteorder("=")
    if native in _BY_NUMPY and not as_numpy.isnative:
        raise errors.foreign_byte_order()
    raise errors.unsupported_numpy_dtype(as_numpy)


def is_part(own: dtype) -> builtins.bool:
    """Return whether there are complex numbers whose parts have this dtype."""
    return not own.is_complex and own._complex is not None and own._complex._real is own


_default = float32
_on_default_change: list[Callable[[], object]] = []


def default_dtype() -> dtype:
    """Return the dtype of tensors made from Python floats."""
    return _default


def set_default_dtype(d: dtype, /) -> None:
    """Set the dtype of tensors made from Python floats; it must be a floating-point dtype.

    **Raises** TypeError for an integer, bool or complex dtype.
    """
    global _default
    if not isinstance(d, dtype):
        raise errors.default_dtype_not_floating("invalid dtype object: ", d)
    if not d.is_floating_point:
        raise errors.default_dtype_not_floating("", d)
    _default = d
    for callback in _on_default_change:
        callback()


def on_default_change(callback: Callable[[], object]) -> None:
    """Have `callback` called after every change of the default dtype."""
    _on_default_change.append(callback)
