"""`finfo` and `iinfo`: the limits of floating-point and integer dtypes."""

from __future__ import annotations

import builtins
from math import ceil, log10

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dtype import dtype

# (bits of the significand, largest exponent) of each real floating-point dtype.
_FORMATS = {
    dtypes.float16: (11, 15),
    dtypes.bfloat16: (8, 127),
    dtypes.float32: (24, 127),
    dtypes.float64: (53, 1023),
}
_NAMED_FORMATS = {
    "float8_e4m3fn": (0.125, -448.0, 448.0, 2.0**-6),
    "float8_e4m3fnuz": (0.125, -240.0, 240.0, 2.0**-7),
    "float8_e5m2": (0.25, -57344.0, 57344.0, 2.0**-14),
    "float8_e5m2fnuz": (0.125, -57344.0, 57344.0, 2.0**-15),
    "float8_e8m0fnu": (1.0, 2.0**-127, 2.0**127, 2.0**-127),
}
"""eps, min, max and tiny of the types of 8 bits, as PyTorch tells them."""


class finfo:
    """The limits of a floating-point dtype; a complex dtype has those of its parts.

    Attributes: `bits`, `eps` (distance from 1 to the next number), `max`, `min` (-max),
    `smallest_normal` and `tiny` (the smallest positive number of full precision), `resolution`
    (a power of ten that every number of this many decimals survives), `dtype` (a name).

    **Raises** TypeError for an integer or bool dtype.
    """

    __slots__ = ("bits", "dtype", "eps", "max", "min", "resolution", "smallest_normal", "tiny")
    __module__ = "torchgen_out"

    def __init__(self, type: dtype | None = None) -> None:
        given = _meant(type or dtypes.default_dtype(), "finfo")
        if given.kind not in "fc":
            raise TypeError(
                "torch.finfo() requires a floating point input type. "
                "Use torch.iinfo to handle 'torch.finfo'"
            )
        real = given.to_real()
        self.dtype = real.name
        self.bits = real.itemsize * 8
        if real.name in _NAMED_FORMATS:
            self.eps, self.min, self.max, self.tiny = _NAMED_FORMATS[real.name]
            self.smallest_normal, self.resolution = self.tiny, 1.0
            return
        digits, exponent = _FORMATS[real]
        self.eps = 2.0 ** (1 - digits)
        self.max = (2.0 - self.eps) * 2.0**exponent
        self.min = -self.max
        self.tiny = self.smallest_normal = 2.0 ** (1 - exponent)
        self.resolution = float(f"1e{ceil(log10(self.eps))}")

    def __repr__(self) -> str:
        return (
            f"finfo(resolution={self.resolution:g}, min={self.min:g}, max={self.max:g}, "
            f"eps={self.eps:g}, smallest_normal={self.smallest_normal:g}, tiny={self.tiny:g}, "
            f"dtype={self.dtype})"
        )

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, finfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("finfo", self.dtype))


class iinfo:
    """The limits of an integer dtype: `bits`, `max`, `min`, and `dtype` (a name).

    **Raises** TypeError for a dtype that is no integer.
    """

    __slots__ = ("bits", "dtype", "max", "min")
    __module__ = "torchgen_out"

    def __init__(self, type: dtype) -> None:
        given = _meant(type, "iinfo")
        if given is dtypes.bool:
            raise TypeError("torch.bool is not supported by torch.iinfo")
        if given.kind != "i":
            raise TypeError(
                "torch.iinfo() requires an integer input type. "
                "Use torch.finfo to handle 'torch.iinfo'"
            )
        self.dtype = given.name
        self.bits = given.itemsize * 8
        self.max = 2 ** (self.bits - given.is_signed) - 1
        self.min = -self.max - 1 if given.is_signed else 0

    def __repr__(self) -> str:
        return f"iinfo(min={self.min:g}, max={self.max:g}, dtype={self.dtype})"

    def __eq__(self, other: object) -> builtins.bool:
        return isinstance(other, iinfo) and self.dtype == other.dtype

    def __hash__(self) -> int:
        return hash(("iinfo", self.dtype))


def _meant(given: object, function: str) -> dtype:
    meant = dtypes.meant_by(given)
    if meant is None:
        raise TypeError(
            f"{function}(): argument 'type' (position 1) must be torch.dtype, "
            f"not {given.__class__.__name__}"
        )
    return meant
