"""Composites of the indexing family."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings.arguments import store_out
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import calls, ops


def take_along_dim(self: Any, indices: Any, dim: int | None = None) -> Any:
    """`gather` after broadcasting self and `indices` in all dims but `dim`.

    With a `dim`, indices count round its size, as in PyTorch: -1 is the last.

    **Raises** RuntimeError for the dtype of `indices` or unequal ndim.
    """
    if indices.dtype is not dtypes.int64:
        raise RuntimeError(
            "torch.take_along_dim(): dtype of indices should be Long but got "
            f"{errors.scalar_type_name(indices.dtype)}"
        )
    if dim is None:
        return self.reshape((-1,)).gather(0, indices.reshape((-1,)))
    if self.ndim != indices.ndim:
        raise RuntimeError(
            "torch.take_along_dim(): input and indices should have the same number of dimensions, "
            f"but got {self.ndim} dimensions for input, and {indices.ndim} dimensions for indices"
        )
    dim = shapes.normalize_dim(dim, self.ndim)
    if size := self.size(dim):
        indices = indices.remainder(size)
    if _differ_only_in(dim, self._sizes, indices._sizes):
        return self.gather(dim, indices)
    own, given = list(self.shape), list(indices.shape)
    own[dim] = given[dim] = 1
    common = shapes.broadcast_shapes(own, given)
    source = self.expand((*common[:dim], self.size(dim), *common[dim + 1 :]))
    places = indices.expand((*common[:dim], indices.size(dim), *common[dim + 1 :]))
    return source.gather(dim, places)


def _differ_only_in(dim: int, a: tuple[int, ...], b: tuple[int, ...]) -> bool:
    return a == b or (a[:dim] == b[:dim] and a[dim + 1 :] == b[dim + 1 :])


def nonzero(self: Any, as_tuple: bool = False, out: Any = None) -> Any:
    """The places of nonzero elements: a row each, or a vector per dim.

    Raises: RuntimeError for vectors with out=, which is one tensor.
    """
    if out is None:
        return nonzero_vectors(self) if as_tuple else _nonzero_rows(self)
    if not isinstance(out, Tensor):
        raise errors.out_expected("nonzero", out)
    if as_tuple:
        raise errors.out_with_as_tuple()
    return store_out("nonzero", out, _nonzero_rows(self), "exact", apart=[self])


def _nonzero_rows(self: Tensor) -> Tensor:
    mask = _nonzero_mask(self)
    rows: Tensor = calls._nonzero[mask._key](mask)
    return rows


def nonzero_vectors(self: Tensor) -> tuple[Tensor, ...]:
    """The places of nonzero elements: a vector per dim, one for a tensor of none."""
    mask = _nonzero_mask(self)
    return tuple(ops._nonzero(mask if mask.ndim else mask.unsqueeze(0)).unbind(1))


def _nonzero_mask(self: Tensor) -> Tensor:
    """The tensor itself, if its bits tell which elements are zero: of 16-bit floats, -0 is, too."""
    own = self.dtype
    return self if own.opmath is own else self.ne(0)


def unravel_index(indices: Any, shape: Any) -> tuple[Any, ...]:
    """One index per dim of `shape` for each index into its elements in row-major order."""
    if indices.dtype.kind != "i":
        raise TypeError(f"expected 'indices' to be integer dtype, but got {indices.dtype}")
    sizes = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(size < 0 for size in sizes):
        raise ValueError(f"'shape' cannot have negative values, but got {sizes}")
    if any(size >= 2**63 for size in sizes):
        raise ValueError(f"'shape' must fit into 64 bits, but got {sizes}")
    steps = shapes.contiguous_strides(sizes)
    indices = indices.to(dtypes.int64)
    return tuple(
        [
            indices.floor_divide(step) % size if size else indices
            for step, size in zip(steps, sizes, strict=True)
        ]
    )


# -- for backends that have no kernel for it ----------------------------------------------------


def one_hot(self: Any, num_classes: int = -1) -> Any:
    """Return rows of zeros with a one at each class.

    Where the number of classes is given, nothing waits: one outside is noted, its row is zero.

    Raises: RuntimeError for another dtype than int64, or if the greatest class, which is waited
    for where their number is not given, is negative.
    """
    if self.dtype is not dtypes.int64:
        raise RuntimeError("one_hot is only applicable to index tensor of type LongTensor.")
    if not self.numel():
        if num_classes <= 0:
            raise RuntimeError("Can not infer total number of classes from empty tensor.")
        return self.new_empty((*self._sizes, num_classes))
    if num_classes == -1:
        low, high = (int(each) for each in ops.aminmax(self))
        if low < 0:
            raise RuntimeError("Class values must be non-negative.")
        num_classes = high + 1
    elif num_classes < 1:
        raise RuntimeError("Class values must be smaller than num_classes.")
    zeros = self.new_zeros((*self._sizes, num_classes))
    return ops.scatter(zeros, -1, self.unsqueeze(-1), 1)


def repeat_interleave(repeats: Any, output_size: int | None = None) -> Any:
    """Return index i repeats[i] times."""
    if repeats.ndim != 1:
        raise RuntimeError("repeat_interleave only accept 1D vector as repeat")
    ends = repeats.to(dtypes.int64).cumsum(0)
    total = int(ends.select(0, -1)) if repeats.numel() else 0
    if repeats.numel() and int(repeats.min()) < 0:
        raise RuntimeError("repeats can not be negative")
    if output_size is not None and output_size != total:
        raise RuntimeError("allocated size does not match required size")
    places = ops.arange(total, device=repeats.device)
    return ops.searchsorted(ends, places, right=True).to(repeats.dtype)
