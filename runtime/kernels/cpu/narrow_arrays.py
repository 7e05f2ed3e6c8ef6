"""Arrays of narrow types, stored as bits, to those they are computed in and back; bit-exact.

Rounding is to nearest, ties to even; NaN stays NaN. Small arrays go through NumPy, which needs no
compiled kernel; others through loops that vectorise, 7 to 25 times as fast.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.build import kernel
from torchgen_out._runtime.kernels.common.pointwise import PointwiseSpec
from torchgen_out._runtime.kernels.cpu.loops.pointwise import contiguous_kernel
from torchgen_out._runtime.kernels.vecmath import half

SMALL = 256  # elements up to which NumPy's calls cost no more than the kernel's


def widen(stored: np.ndarray, source: dtype) -> np.ndarray:
    """Return the elements of an array that holds `source`, a narrow dtype, in its `opmath`.

    Shape: any, also strided; the result is C-contiguous and new.
    """
    if source.is_complex:
        parts = np.ascontiguousarray(stored).reshape(-1).view(source.to_real().numpy)
        wide = widen(parts, source.to_real())
        return wide.view(source.opmath.numpy).reshape(stored.shape)
    if source.itemsize == 1:
        return _table(source)[stored]
    if stored.size > SMALL:
        flat = np.ascontiguousarray(stored).reshape(-1)
        wide = np.empty(stored.shape, np.float32)
        kernel = widen_float16 if source is dtypes.float16 else widen_bfloat16
        threads.run_flat(kernel, (wide.reshape(-1).view(np.uint32), flat))
        return wide
    if source is dtypes.float16:
        return stored.view(np.float16).astype(np.float32, order="C")
    wide = np.empty(stored.shape, np.uint32)
    np.left_shift(stored, 16, out=wide, dtype=np.uint32)
    return wide.view(np.float32)


def narrow(values: np.ndarray, target: dtype, out: np.ndarray | None = None) -> np.ndarray:
    """Return values of a narrow dtype's `opmath`, rounded to it, as the dtype stores them.

    Shape: any, also strided. out: an array of the stored type to write to, of any strides.
    """
    contiguous = out is None or out.flags.c_contiguous
    rounded = np.empty(values.shape, target.numpy) if out is None or not contiguous else out
    if target.is_complex:
        real = target.to_real()
        parts = np.ascontiguousarray(values).reshape(-1).view(real.opmath.numpy)
        narrow(parts, real, rounded.reshape(-1).view(real.numpy))
    else:
        _round(values, target, rounded)
    if out is not None and not contiguous:
        out[...] = rounded
        return out
    return rounded


def _round(values: np.ndarray, target: dtype, rounded: np.ndarray) -> None:
    """Write float32 values into a contiguous array of a narrow float type."""
    if target.itemsize == 1:
        _round_to_bytes(values, target, rounded)
    elif values.size > SMALL:
        flat = np.ascontiguousarray(values).reshape(-1).view(np.uint32)
        kernel = narrow_float16 if target is dtypes.float16 else narrow_bfloat16
        threads.run_flat(kernel, (rounded.reshape(-1), flat))
    elif target is dtypes.float16:
        with np.errstate(over="ignore", under="ignore"):
            rounded[...] = values.astype(np.float16).view(np.uint16)
    else:
        rounded[...] = _round_bfloat16(values)


@cache
def _table(source: dtype) -> np.ndarray:
    """The values of all bytes."""
    convert = getattr(half, f"{source.name}_to_float32")
    return np.array([convert(byte) for byte in np.arange(256, dtype=np.uint8)], np.float32)


def _round_to_bytes(values: np.ndarray, target: dtype, rounded: np.ndarray) -> None:
    if values.size > SMALL:
        spec = PointwiseSpec(_unchanged, ("tensor",), (target.opmath,), (target,), target.opmath)
        flat = np.ascontiguousarray(values).reshape(-1)
        threads.run_flat(contiguous_kernel(spec), (rounded.reshape(-1), flat))
    else:
        convert = getattr(half, f"float32_to_{target.name}")
        with np.errstate(over="ignore"):
            codes = [convert(value) for value in values.reshape(-1)]
        rounded[...] = np.array(codes, np.uint8).reshape(values.shape)


def _unchanged(x):
    """The element itself: storing rounds it."""
    return x


def _round_bfloat16(values: np.ndarray) -> np.ndarray:
    """Add half a unit in the last place, less one if the last kept bit is even; then cut."""
    bits = np.ascontiguousarray(values).view(np.uint32).reshape(values.shape)
    rounded = ((bits >> 16) & 1) + 0x7FFF + bits >> 16
    return np.where(np.isnan(values), 0x7FC0 | (bits >> 16 & 0x8000), rounded)


@kernel
def widen_float16(out, bits):
    """Put exponent and significand in float32's place; 2**112 corrects the bias, also of
    subnormals. An exponent of all ones stays one."""
    for i in range(out.size):
        half = np.uint32(bits[i])
        magnitude = np.uint32((half & np.uint32(0x7FFF)) << np.uint32(13))
        scaled = np.float32(magnitude.view(np.float32) * np.float32(2.0**112))
        finite = scaled.view(np.uint32)
        special = np.uint32(magnitude | np.uint32(0x7F800000))
        wide = special if (half & np.uint32(0x7C00)) == np.uint32(0x7C00) else finite
        out[i] = np.uint32(wide | ((half & np.uint32(0x8000)) << np.uint32(16)))


@kernel
def narrow_float16(out, bits):
    """Below 2**-14, adding 0.5 lets the float32 adder round to float16's subnormal grid; above,
    rounding is an integer addition, and the bias changes with it."""
    for i in range(out.size):
        wide = np.uint32(bits[i])
        magnitude = np.uint32(wide & np.uint32(0x7FFFFFFF))
        lifted = np.float32(magnitude.view(np.float32) + np.float32(0.5))
        subnormal = np.uint32(lifted.view(np.uint32) - np.uint32(0x3F000000))
        tie = (magnitude >> np.uint32(13)) & np.uint32(1)
        rebiased = np.uint32(magnitude + np.uint32(0xC8000FFF) + tie)
        normal = np.uint32(rebiased >> np.uint32(13))
        nan = np.uint32(0x7E00) | ((magnitude >> np.uint32(13)) & np.uint32(0x3FF))
        half = subnormal if magnitude < np.uint32(0x38800000) else normal
        half = np.uint32(0x7C00) if magnitude >= np.uint32(0x47800000) else half
        half = nan if magnitude > np.uint32(0x7F800000) else half
        out[i] = np.uint16(half | ((wide >> np.uint32(16)) & np.uint32(0x8000)))


@kernel
def widen_bfloat16(out, bits):
    """A bfloat16 is the upper half of a float32."""
    for i in range(out.size):
        out[i] = np.uint32(np.uint32(bits[i]) << np.uint32(16))


@kernel
def narrow_bfloat16(out, bits):
    """Add half a unit in the last place, less one if the last kept bit is even; then cut."""
    for i in range(out.size):
        wide = np.uint32(bits[i])
        upper = np.uint32(wide >> np.uint32(16))
        rounded = np.uint32(wide + np.uint32(0x7FFF) + (upper & np.uint32(1))) >> np.uint32(16)
        nan = np.uint32(0x7FC0) | (upper & np.uint32(0x8000))
        is_nan = (wide & np.uint32(0x7FFFFFFF)) > np.uint32(0x7F800000)
        out[i] = np.uint16(nan if is_nan else rounded)
