"""torch.fft: transforms over one and over several dims, put down to three kernels.

Real to complex, complex to real, and complex to complex. An `n` or `s` cuts the input or fills it
up with zeros.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings.arguments import store_out
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.shape import normalize_dim
from torchgen_out._runtime.dispatch import ops

NONE, BY_ROOT, BY_COUNT = 0, 1, 2

Sizes = Sequence[int] | int | None
_at = tuple.__getitem__


def normalization(norm: str | None, forward: bool) -> int:
    """How a transform in one direction is scaled."""
    if norm is None or norm == "backward":
        return NONE if forward else BY_COUNT
    if norm == "forward":
        return BY_COUNT if forward else NONE
    if norm == "ortho":
        return BY_ROOT
    raise errors.unknown_norm(norm)


def to_floating(tensor: Any) -> Any:
    """The tensor in a dtype that has a transform; integers become the default dtype."""
    wanted = _floating(tensor.dtype)
    return tensor if wanted is tensor.dtype else ops._to_copy(tensor, dtype=wanted)


def _floating(own: dtypes.dtype) -> dtypes.dtype:
    if own.kind in "bi":
        return dtypes.default_dtype()
    if own.itemsize < 4:
        raise errors.fft_dtype(own)
    return own


def to_complex(tensor: Any) -> Any:
    """The tensor as complex numbers."""
    own = tensor.dtype
    return tensor if own.is_complex else ops._to_copy(tensor, dtype=_floating(own).to_complex())


def to_real(operator: str, tensor: Any) -> Any:
    """The tensor in a real floating dtype."""
    if tensor.dtype.is_complex:
        raise errors.real_transform_of_complex(operator, tensor.dtype)
    return to_floating(tensor)


def resize(tensor: Any, dim: int, size: int) -> Any:
    """The first `size` elements along a dim, zeros behind if there are fewer."""
    own = _at(tensor._sizes, dim)
    if own > size:
        return tensor.narrow(dim, 0, size)
    if own == size:
        return tensor
    sizes = [*tensor.shape[:dim], size, *tensor.shape[dim + 1 :]]
    return ops._put_slice(tensor, sizes, dim, 0)


def _points(count: int) -> int:
    if count < 1:
        raise errors.no_data_points(count)
    return count


def _dim(tensor: Any, dim: int) -> int:
    ndim = len(tensor._sizes)
    if ndim == 0:
        raise errors.dim_of_scalar(dim)
    return normalize_dim(dim, ndim)


def _of_points(tensor: Any, dim: int, count: int | None) -> Any:
    """The tensor with so many elements along a dim, as many as it has by default."""
    if count is None:
        _points(_at(tensor._sizes, dim))
        return tensor
    return resize(tensor, dim, _points(count))


# -- one dim -----------------------------------------------------------------------------------


def fft(self: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The transform over one dim."""
    tensor, dim = to_floating(self), _dim(self, dim)
    tensor = _of_points(tensor, dim, n)
    if tensor.dtype.is_complex:
        return ops._fft_c2c(tensor, (dim,), normalization(norm, True), True)
    return ops._fft_r2c(tensor, (dim,), normalization(norm, True), False)


def ifft(
    self: Any, n: int | None = None, dim: int = -1, norm: str | None = None, out: Any = None
) -> Any:
    """The inverse transform over one dim. That of real numbers is not cast to out=."""
    tensor, dim = to_complex(self), _dim(self, dim)
    tensor = _of_points(tensor, dim, n)
    result = ops._fft_c2c(tensor, (dim,), normalization(norm, False), False)
    if out is None:
        return result
    return store_out("fft_ifft", out, result, "cast" if self.is_complex() else "exact")


def rfft(self: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The first half of the transform of real numbers."""
    return _half("rfft", self, n, dim, normalization(norm, True))


def _half(name: str, self: Any, n: int | None, dim: int, scale: int) -> Any:
    tensor, dim = to_real(name, self), _dim(self, dim)
    tensor = _of_points(tensor, dim, n)
    return ops._fft_r2c(tensor, (dim,), scale, True)


def irfft(self: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The real numbers whose transform has this first half."""
    return _from_half(to_complex(self), n, dim, normalization(norm, False))


def _from_half(tensor: Any, n: int | None, dim: int, scale: int) -> Any:
    dim = _dim(tensor, dim)
    size = _points(2 * (_at(tensor._sizes, dim) - 1) if n is None else n)
    return ops._fft_c2r(resize(tensor, dim, size // 2 + 1), (dim,), scale, size)


def hfft(self: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The real transform of a signal of which the first half is given."""
    return _from_half(to_complex(self).conj(), n, dim, normalization(norm, True))


def ihfft(self: Any, n: int | None = None, dim: int = -1, norm: str | None = None) -> Any:
    """The first half of the signal whose transform is real."""
    return _half("ihfft", self, n, dim, normalization(norm, False)).conj()


# -- several dims ------------------------------------------------------------------------------


def plan(tensor: Any, s: Sizes, dim: Sizes) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """The dims, counted from 0, and the number of points in each."""
    return _plan(tensor._sizes, _as_tuple(s), _as_tuple(dim))


def _as_tuple(sizes: Sizes) -> tuple[int, ...] | None:
    return (sizes,) if isinstance(sizes, int) else None if sizes is None else tuple(sizes)


@lru_cache(maxsize=1024)
def _plan(
    sizes: tuple[int, ...], s: tuple[int, ...] | None, dim: tuple[int, ...] | None
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    ndim = len(sizes)
    if dim and not ndim:
        raise errors.dim_of_scalar(dim[0])
    if dim is not None:
        dims = tuple([normalize_dim(d, ndim) for d in dim])
        if len(set(dims)) < len(dims):
            raise errors.repeated_fft_dims()
    elif s is None:
        dims = tuple(range(ndim))
    elif len(s) > ndim:
        raise errors.shape_too_long(len(s), ndim)
    else:
        dims = tuple(range(ndim - len(s), ndim))
    if s is None:
        return dims, tuple([sizes[d] for d in dims])
    if len(s) != len(dims):
        raise errors.shape_and_dim_differ(s, dims)
    return dims, tuple([sizes[d] if n == -1 else n for d, n in zip(dims, s, strict=True)])


def _resized(tensor: Any, dims: Sequence[int], sizes: Sequence[int]) -> Any:
    for dim, size in zip(dims, sizes, strict=True):
        tensor = resize(tensor, dim, _points(size))
    return tensor


def fftn(self: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The transform over several dims."""
    tensor = to_floating(self)
    dims, sizes = plan(tensor, s, dim)
    tensor = _resized(tensor, dims, sizes)
    if tensor.dtype.is_complex or not dims:
        return ops._fft_c2c(to_complex(tensor), dims, normalization(norm, True), True)
    return ops._fft_r2c(tensor, dims, normalization(norm, True), False)


def ifftn(self: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The inverse transform over several dims."""
    tensor = to_complex(self)
    dims, sizes = plan(tensor, s, dim)
    tensor = _resized(tensor, dims, sizes)
    return ops._fft_c2c(tensor, dims, normalization(norm, False), False)


def rfftn(self: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The transform of real numbers, the last dim halved."""
    return _halves("rfftn", self, s, dim, normalization(norm, True))


def _halves(name: str, self: Any, s: Sizes, dim: Sizes, scale: int) -> Any:
    tensor = to_real(name, self)
    dims, sizes = plan(tensor, s, dim)
    if not dims:
        raise errors.no_axis(name)
    return ops._fft_r2c(_resized(tensor, dims, sizes), dims, scale, True)


def irfftn(self: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The real numbers whose transform over several dims has this first half."""
    return _from_halves("irfftn", to_complex(self), s, dim, normalization(norm, False))


def _from_halves(name: str, tensor: Any, s: Sizes, dim: Sizes, scale: int) -> Any:
    dims, sizes = plan(tensor, s, dim)
    if not dims:
        raise errors.no_axis(name)
    is_given = s is not None and (s if isinstance(s, int) else s[-1]) != -1
    last = _points(sizes[-1] if is_given else 2 * (tensor.shape[dims[-1]] - 1))
    tensor = _resized(tensor, dims, [*sizes[:-1], last // 2 + 1])
    return ops._fft_c2r(tensor, dims, scale, last)


def hfftn(self: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """The real transform of a signal over several dims of which half is given."""
    return _from_halves("hfftn", to_complex(self).conj(), s, dim, normalization(norm, True))


def ihfftn(self: Any, s: Sizes = None, dim: Sizes = None, norm: str | None = None) -> Any:
    """Half of the signal whose transform over several dims is real."""
    return _halves("ihfftn", self, s, dim, normalization(norm, False)).conj()


# -- shifts ------------------------------------------------------------------------------------


@lru_cache(maxsize=1024)
def _shifts(
    sizes: tuple[int, ...], dim: tuple[int, ...] | None, rounded_up: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Half the size of each dim, and the dims."""
    ndim = len(sizes)
    dims = tuple(range(ndim)) if dim is None else tuple([normalize_dim(d, ndim) for d in dim])
    return tuple([(sizes[d] + rounded_up) // 2 for d in dims]), dims


def fftshift(self: Any, dim: Sizes = None) -> Any:
    """Roll frequency 0 into the middle."""
    shifts, dims = _shifts(self._sizes, _as_tuple(dim), 0)
    return self.roll(shifts, dims) if dims else self.clone()


def ifftshift(self: Any, dim: Sizes = None) -> Any:
    """Roll frequency 0 back to the front."""
    shifts, dims = _shifts(self._sizes, _as_tuple(dim), 1)
    return self.roll(shifts, dims) if dims else self.clone()
