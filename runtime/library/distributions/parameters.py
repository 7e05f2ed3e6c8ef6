"""What distributions share: parameters that broadcast, lazy ones, probabilities and logits."""

from __future__ import annotations

from collections.abc import Callable
from functools import update_wrapper
from numbers import Number
from typing import Any, Generic, TypeVar, overload

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out.nn import functional as F

__all__ = [
    "_standard_normal",
    "_sum_rightmost",
    "broadcast_all",
    "clamp_probs",
    "lazy_property",
    "logits_to_probs",
    "probs_to_logits",
    "tril_matrix_to_vec",
    "vec_to_tril_matrix",
]

Value = TypeVar("Value")
EULER_CONSTANT = 0.57721566490153286060


def broadcast_all(*values: Any) -> tuple[Tensor, ...]:
    """Tensors of one shape; a number takes the dtype and device of the first tensor.

    dtype: the default one, where all are numbers.
    Raises: ValueError for what is neither a number nor a tensor.
    """
    if not all(torch.is_tensor(value) or isinstance(value, Number) for value in values):
        raise ValueError(
            "Input arguments must all be instances of Number or torch.Tensor, got "
            + ", ".join(type(value).__name__ for value in values)
        )
    first = next((value for value in values if torch.is_tensor(value)), None)
    like: dict[str, Any] = {"dtype": torch.get_default_dtype()}
    if first is not None:
        like = {"dtype": first.dtype, "device": first.device}
    tensors = [v if torch.is_tensor(v) else torch.tensor(v, **like) for v in values]
    return tuple(torch.broadcast_tensors(*tensors))


class lazy_property(Generic[Value]):
    """A property that is computed when it is first read, and then is a plain attribute.

    It is computed with gradients: what reads it first may be a `sample` that records none.
    """

    def __init__(self, wrapped: Callable[[Any], Value]) -> None:
        self.wrapped = wrapped
        shown: Any = self
        update_wrapper(shown, wrapped)

    @overload
    def __get__(self, instance: None, owner: Any = None) -> lazy_property[Value]: ...
    @overload
    def __get__(self, instance: Any, owner: Any = None) -> Value: ...
    def __get__(self, instance: Any, owner: Any = None) -> Any:
        if instance is None:
            return self
        with torch.enable_grad():
            value = self.wrapped(instance)
        setattr(instance, self.wrapped.__name__, value)
        return value


def clamp_probs(probs: Tensor) -> Tensor:
    """`probs`, held off 0 and 1 by the dtype's eps: their logits are finite."""
    eps = torch.finfo(probs.dtype).eps
    return probs.clamp(min=eps, max=1 - eps)


def probs_to_logits(probs: Tensor, is_binary: bool = False) -> Tensor:
    """The log of probabilities, or of the odds if they are of a binary variable."""
    held = clamp_probs(probs)
    return torch.log(held) - torch.log1p(-held) if is_binary else torch.log(held)


def logits_to_probs(logits: Tensor, is_binary: bool = False) -> Tensor:
    """The probabilities of log odds, or of the logits along the last dim."""
    return torch.sigmoid(logits) if is_binary else F.softmax(logits, dim=-1)


def sum_rightmost(value: Tensor, ndim: int) -> Tensor:
    """Sum over the last `ndim` dims."""
    return value.sum(tuple(range(-ndim, 0))) if ndim else value


def standard_normal(shape: Any, like: Any) -> Tensor:
    """Normal numbers of `like`'s dtype and device."""
    return torch.randn(shape, dtype=like.dtype, device=like.device)


def uniform(shape: Any, like: Any) -> Any:
    """Uniform numbers above 0 and below 1, of `like`'s dtype and device."""
    limits = torch.finfo(like.dtype)
    return torch.rand(shape, dtype=like.dtype, device=like.device).clamp(
        limits.tiny, 1 - limits.eps
    )


def tril_matrix_to_vec(mat: Tensor, diag: int = 0) -> Tensor:
    """The lower triangle of matrices, row by row.

    Shape: (*B, N, N) -> (*B, K), where diagonal `diag` is the last one taken.
    """
    size = mat.shape[-1]
    if not -size <= diag < size:
        raise ValueError(f"diag ({diag}) provided is outside [{-size}, {size - 1}].")
    rows, columns = torch.tril_indices(size, size, diag, device=mat.device)
    return mat[..., rows, columns]


def vec_to_tril_matrix(vec: Tensor, diag: int = 0) -> Tensor:
    """Lower triangular matrices from their entries, row by row.

    Shape: (*B, K) -> (*B, N, N), where diagonal `diag` is the last one filled.
    """
    count = vec.shape[-1]
    size = (
        -(1 + 2 * diag) + ((1 + 2 * diag) ** 2 + 8 * count + 4 * abs(diag) * (diag + 1)) ** 0.5
    ) / 2
    if not round(size, 4).is_integer():
        raise ValueError(f"The size of last dimension is {count} which cannot be expressed as the "
                         "lower triangular part of a square D x D matrix.")  # fmt: skip
    n = round(size)
    rows, columns = torch.tril_indices(n, n, diag, device=vec.device)
    matrix = torch.zeros((*vec.shape[:-1], n, n), dtype=vec.dtype, device=vec.device)
    matrix[..., rows, columns] = vec
    return matrix


_sum_rightmost = sum_rightmost


def _standard_normal(shape: Any, dtype: Any, device: Any) -> Any:
    """Return normal numbers, by the name and the arguments that programs use."""
    return torch.randn(shape, dtype=dtype, device=device)


public.place_all("distributions.utils", globals())
