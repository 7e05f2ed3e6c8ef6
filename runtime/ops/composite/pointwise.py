"""Composites around pointwise operators: choices by a string or a dtype, and checks of arguments.

A formula knows neither; what is computed is in hidden pointwise entries, `_gelu_erf` and its kin.
"""

from __future__ import annotations

import math
from functools import cache, lru_cache
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core.finfo import finfo
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import calls, ops, signature
from torchgen_out._runtime.factories import creation
from torchgen_out._runtime.kernels.cpu.reduction import comparing


def div_mode(self: Any, other: Any, rounding_mode: str | None) -> Any:
    """Divide, then round as `rounding_mode` says. **Raises** RuntimeError for an unknown mode."""
    if rounding_mode is None:
        return ops.div(self, other)
    if rounding_mode == "floor":
        return ops._div_floor(self, other)
    if rounding_mode != "trunc":
        raise RuntimeError(
            "div expected rounding_mode to be one of None, 'trunc', or 'floor' "
            f"but found '{rounding_mode}'"
        )
    if _is_integral(self) and _is_integral(other):
        return ops._div_trunc_integral(self, other)
    return ops._div_trunc(self, other)


def div_number_mode(self: Any, other: Any, rounding_mode: str | None) -> Any:
    """Divide a number, of the dtype that it has beside `other`, and round."""
    if rounding_mode is not None and isinstance(other, Tensor):
        return div_mode(self, other, rounding_mode)
    entries = [signature.kind_of(each) for each in (self, other)]
    dtype = promotion.result_type(signature.promotion_entries(entries))
    device = getattr(other, "device", None)
    return div_mode(ops.scalar_tensor(self, dtype=dtype, device=device), other, rounding_mode)


def floor_divide_numbers(self: Any, other: Any) -> Any:
    """The quotient of two numbers, rounded down."""
    is_whole = self.__class__ is int and other.__class__ is int
    if is_whole and abs(self) < 2**63 and 0 < abs(other) < 2**63:
        return creation.full((), self // other)
    number = creation.full((), self)
    call = calls.floor_divide[number._key, signature.kind_of(other)]
    return call(number, other)


def _is_integral(operand: Any) -> bool:
    """Whether a tensor or number is of an integer type or bool."""
    if isinstance(operand, Tensor):
        return operand.dtype.kind in "bi"
    return isinstance(operand, int)


def positive(self: Any) -> Any:
    """The tensor itself. **Raises** RuntimeError for bool."""
    if self.dtype is dtypes.bool:
        raise RuntimeError("The `+` operator, on a bool tensor is not supported.")
    return self


def isclose(
    self: Any, other: Any, rtol: float = 1e-05, atol: float = 1e-08, equal_nan: bool = False
) -> Any:
    """Compare with a tolerance; what is equal (infinities too) is close.

    **Raises** RuntimeError for different dtypes or a negative tolerance.
    """
    if self.dtype is not other.dtype:
        names = [errors.scalar_type_name(each.dtype) for each in (self, other)]
        raise RuntimeError(f"{names[0]} did not match {names[1]}")
    for name, value in (("rtol", rtol), ("atol", atol)):
        if not value >= 0:
            raise RuntimeError(f"{name} must be greater than or equal to zero, but got {value}")
    close = self == other
    if self.dtype.kind in "bi":
        self, other = self.to(dtypes.default_dtype()), other.to(dtypes.default_dtype())
    elif equal_nan:
        close = close | (self.isnan() & other.isnan())
    distance = (self - other).abs()
    allowed = atol + (rtol * other).abs()
    return close | (distance.isfinite() & (distance <= allowed))


def equal(self: Any, other: Any) -> bool:
    """Whether shapes agree and all elements are equal."""
    if self._sizes != other._sizes:
        return False
    a, b = self._flat, other._flat
    if a is not None and b is not None and self._key == other._key and a.size <= comparing.MOST:
        compare = _comparison(self._key)
        if compare is not None:
            return bool(compare(a, b))
    return bool((self == other).all().item())


@cache
def _comparison(key: int) -> Any:
    """The loop for dense operands in host memory, of a dtype that Numba has."""
    own = dtypes.BY_INDEX[key & keys.DTYPE_MASK]
    if own.opmath is not own or key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK:
        return None
    return comparing.are_equal.entry_point((own.numpy, own.numpy))


def nan_to_num(
    self: Any, nan: float | None = None, posinf: float | None = None, neginf: float | None = None
) -> Any:
    """Replace what is not finite, of a complex number in each part; the defaults are 0 and the
    limits of the dtype."""
    if self.dtype.kind == "c":
        parts = nan_to_num(ops.view_as_real(self), nan, posinf, neginf)
        return ops.view_as_complex(parts)
    if self.dtype.kind != "f":
        return self.clone()
    limits = _limits(self.dtype)
    return ops._nan_to_num(
        self,
        0.0 if nan is None else _rounded(nan, limits),
        limits.max if posinf is None else _rounded(posinf, limits),
        limits.min if neginf is None else _rounded(neginf, limits),
    )


@cache
def _limits(dtype: Any) -> finfo:
    return finfo(dtype)


def _rounded(number: float, limits: finfo) -> float:
    """A number out of a dtype's range is infinite."""
    return math.copysign(math.inf, number) if abs(number) > limits.max else number


def round_decimals(self: Any, decimals: int) -> Any:
    """Round to a number of decimal places; negative ones are places before the point."""
    if decimals == 0:
        return ops.round(self)
    scale = _decimal_scale(decimals, self.dtype.opmath)
    return ops._round_scaled(self, scale) if decimals > 0 else ops._round_coarse(self, scale)


@lru_cache(maxsize=256)
def _decimal_scale(decimals: int, dtype: dtypes.dtype) -> float:
    """The power of ten, infinite where the dtype does not reach."""
    scale = math.inf if abs(decimals) > 308 else 10.0 ** abs(decimals)
    return _rounded(scale, finfo(dtype)) if dtype.kind == "f" else scale


def ldexp(self: Any, other: Any) -> Any:
    """Multiply by a power of two, computed in the dtype of a floating-point self."""
    if not isinstance(other, Tensor):
        kind = type(other).__name__
        raise TypeError(f"ldexp(): argument 'other' (position 2) must be Tensor, not {kind}")
    if self.dtype.kind != "c" and other.dtype.kind != "c":
        return ops._ldexp(self, other)
    if other.dtype.kind in "bi":
        other = other.to(self.dtype)
    return self * ops.pow(2.0, other)


def polygamma(n: int, self: Any) -> Any:
    """The n-th derivative of digamma. **Raises** RuntimeError for a negative n."""
    if n < 0:
        raise RuntimeError("polygamma(n, x) does not support negative n.")
    if n > 1:
        return ops._polygamma(n, self)
    return ops._trigamma(self) if n else ops.digamma(self)


def mvlgamma(self: Any, p: int) -> Any:
    """The sum of lgamma(self - j / 2) over j below p, and a constant.

    **Raises** RuntimeError for p below 1.
    """
    if p < 1:
        raise RuntimeError("p has to be greater than or equal to 1")
    total = ops.lgamma(self)
    for j in range(1, p):
        total = total + ops.lgamma(self - j / 2)
    return total + p * (p - 1) / 4 * math.log(math.pi)


def glu(self: Any, dim: int = -1) -> Any:
    """The first half times the sigmoid of the second.

    **Raises** RuntimeError for a 0-d tensor or an odd size, IndexError for dim.
    """
    sizes = self._sizes
    if not sizes:
        raise RuntimeError("glu does not support 0-dimensional tensors")
    dim = normalize_dim(dim, len(sizes))
    size = sizes[dim]
    if size % 2:
        raise RuntimeError(f"Halving dimension must be even, but dimension {dim} is size {size}")
    halves = size // 2, size // 2
    return ops._gated(*calls.split_with_sizes[self._key](self, halves, dim))


def gelu(self: Any, approximate: str = "none") -> Any:
    """Choose the formula by name. **Raises** RuntimeError for an unknown one."""
    if approximate == "none":
        return ops._gelu_erf(self)
    if approximate != "tanh":
        raise RuntimeError("approximate argument must be either none or tanh.")
    return ops._gelu_tanh(self)


def prelu(self: Any, weight: Any) -> Any:
    """Lay the weight along dim 1, or over everything if it has one element.

    **Raises** RuntimeError if dtypes differ, or if weights and channels differ in number.
    """
    if self.dtype is not weight.dtype:
        names = [errors.scalar_type_name(each.dtype) for each in (self, weight)]
        raise RuntimeError(f"prelu: Type promoting not supported. Got {names[0]} and {names[1]}")
    shape, ndim = weight._sizes, len(self._sizes)
    if len(shape) > 1:
        raise RuntimeError(
            f"prelu: Expected `weight` to be a scalar or 1D tensor, but got: ndim = {len(shape)}"
        )
    count = shape[0] if shape else 1
    if count == 1:
        return ops._prelu_kernel(self, weight.reshape(()) if ndim == 0 else weight)
    if ndim == 0:
        raise RuntimeError("Not allow zero-dim input tensor.")
    channels = self._sizes[1] if ndim > 1 else 1
    if channels != count:
        raise RuntimeError(
            "Mismatch of parameter numbers and input channel size. "
            f"Found parameter numbers = {count} and channel size = {channels}."
        )
    along = calls.view[weight._key](weight, (1, count, *(1,) * (ndim - 2)))
    return ops._prelu_kernel(self, along)


# -- rounding to what an integer type will hold ---------------------------------------------------

_FEW = 64
"""Numbers that Python looks at sooner than a kernel."""

_ZERO_POINTS = (dtypes.int32, dtypes.float16, dtypes.float32, dtypes.float64)


def fake_quantize_per_tensor_affine(
    self: Any, scale: float, zero_point: int, quant_min: int, quant_max: int
) -> Any:
    """Round by a scale and a zero point that are numbers."""
    _check_quantised_limits(quant_min, quant_max)
    if not quant_min <= zero_point <= quant_max:
        raise _zero_point_outside()
    return _by_numbers(self, scale, zero_point, quant_min, quant_max)


@lru_cache(maxsize=256)
def _single(scale: float | str) -> tuple[float, float]:
    """A scale as float32 holds it, and its inverse there; a zero by its text, which has a sign."""
    single = np.float32(scale)
    with np.errstate(divide="ignore", over="ignore"):
        return float(single), float(np.float32(1) / single)


def fake_quantize_by_tensors(
    self: Any, scale: Any, zero_point: Any, quant_min: int, quant_max: int
) -> Any:
    """Round by a scale and a zero point that are tensors of one element."""
    _check_quantised_limits(quant_min, quant_max)
    for each in (scale, zero_point):
        if each.numel() != 1:
            raise RuntimeError(
                f"a Tensor with {each.numel()} elements cannot be converted to Scalar"
            )
    if not ((self._key & keys.NOT_HERE) | ((scale._key | zero_point._key) & _NO_NUMBER)):
        number, whole = scale.item(), zero_point.item()
        if whole.__class__ is int:
            if not -(2**31) <= whole < 2**31:
                raise RuntimeError(f"zero_point: {whole} is no int32: it would overflow")
            return _by_numbers(self, number, whole, quant_min, quant_max)
    scale, whole = scale.to(dtypes.float32), zero_point.to(dtypes.int32)
    if max(scale.ndim, whole.ndim) > self.ndim:
        scale, whole = scale.reshape(()), whole.reshape(())
    return _by_tensors(self, scale, whole, False, quant_min, quant_max)


_NO_NUMBER = keys.NOT_HERE | keys.GRAD | keys.OVERRIDES
"""Bits of tensors that are not looked at for their element."""


def fake_quantize_per_channel_affine(
    self: Any, scale: Any, zero_point: Any, axis: int, quant_min: int, quant_max: int
) -> Any:
    """Round by a scale and a zero point for each place of a dim."""
    whole = zero_point.dtype
    if whole not in _ZERO_POINTS:
        raise RuntimeError(
            f"Zero-point must be Int32, Float or Half, found {errors.scalar_type_name(whole)}"
        )
    if len(scale._sizes) != 1:
        raise RuntimeError("scale should be a 1-D tensor")
    if len(zero_point._sizes) != 1:
        raise RuntimeError("zero point should be a 1-D tensor")
    (count,) = zero_point._sizes
    if scale._sizes[0] != count:
        raise RuntimeError("scale and zero-point need to have the same dimensions")
    ndim = len(self._sizes)
    dim = normalize_dim(axis, ndim)
    if self._sizes[dim] != count:
        raise RuntimeError(
            "dimensions of scale and zero-point are not consistent with input tensor"
        )
    _check_quantised_limits(quant_min, quant_max)
    if count and not zero_point.is_meta:
        few: Any = zero_point.tolist() if count <= _FEW else zero_point.aminmax()
        for each in few:
            if not quant_min <= each <= quant_max:
                raise _zero_point_outside()
    if axis < 0:
        raise RuntimeError("`axis` must be between 0 and number of dimensions of input")
    places = (count, *[1] * (ndim - dim - 1))
    scale, zero_point = _single_elements(scale, places), _single_elements(zero_point, places)
    return _by_tensors(self, scale, zero_point, whole is not dtypes.int32, quant_min, quant_max)


def _single_elements(each: Any, sizes: tuple[int, ...]) -> Any:
    """A vector in float32, with dims of size 1 behind."""
    if each._key & keys.DTYPE_MASK != dtypes.float32.index:
        each = each.to(dtypes.float32)
    return each if len(sizes) == 1 else calls.view[each._key](each, sizes)


def _by_tensors(
    self: Any, scale: Any, zero_point: Any, shifts: bool, quant_min: int, quant_max: int
) -> Any:
    """Round a tensor by a scale and a zero point, which is added before rounding if it `shifts`."""
    if (scale._key | zero_point._key) & keys.GRAD and grad_mode.is_enabled():
        for name, each in (("scale", scale), ("zero_point", zero_point)):
            if each.requires_grad:
                raise errors.not_differentiable("fake_quantize", name)
    inverse, own = calls.reciprocal[scale._key](scale), self.dtype
    if own is dtypes.float64:
        scale, inverse, zero_point = scale.to(own), inverse.to(own), zero_point.to(own)
    wide = self if own in _TAKEN else _widened(self)
    shift, kind = (zero_point, zero_point._key) if shifts else (0, int)
    call = calls._fake_quantize[wide._key, scale._key, inverse._key, zero_point._key, kind]
    result = call(wide, scale, inverse, zero_point, shift, quant_min, quant_max)
    return result if wide is self else result.to(own)


_TAKEN = (dtypes.float32, dtypes.float64)


def _widened(self: Any) -> Any:
    """A tensor of 16-bit floats in float32, so that scales keep their digits."""
    if not self.is_floating_point():
        raise errors.dtype_not_supported("fake_quantize", self.dtype, "floating-point numbers")
    return self.to(dtypes.float32)


def _by_numbers(self: Any, scale: float, zero_point: int, quant_min: int, quant_max: int) -> Any:
    """Round a tensor by numbers."""
    single, inverse = _single(scale or repr(scale))
    own = self.dtype
    wide = self if own in _TAKEN else _widened(self)
    call = calls._fake_quantize[wide._key, float, float, int, int]
    result = call(wide, single, inverse, zero_point, 0, quant_min, quant_max)
    return result if wide is self else result.to(own)


def _check_quantised_limits(quant_min: int, quant_max: int) -> None:
    if quant_min > quant_max:
        raise RuntimeError("`quant_min` should be less than or         equal to `quant_max`.")


def _zero_point_outside() -> RuntimeError:
    return RuntimeError("`zero_point` must be between `quant_min` and `quant_max`.")
