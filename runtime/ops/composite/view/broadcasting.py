"""Composites about broadcasting: tensors to one shape, grids, and a sum back to a smaller shape."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

from torchgen_out._runtime.core import deprecation
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.shape import broadcast_shapes
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.dispatch import calls
from torchgen_out._runtime.ops.composite.view.reshaping import own_view


def broadcast_tensors(tensors: Sequence[Any]) -> list[Any]:
    """Every tensor expanded to the shape to which all of them broadcast."""
    shape = broadcast_shapes(*[tensor._sizes for tensor in tensors])
    return [tensor.expand(shape) for tensor in tensors]


def meshgrid(tensors: Sequence[Any], indexing: str | None = None) -> list[Any]:
    """Coordinate grids of vectors; "xy" swaps the first two dims, as plots want them.

    **Raises** RuntimeError for no tensor, for one with two dims or more, or for mixed dtypes.
    """
    if not tensors:
        raise RuntimeError("meshgrid expects a non-empty TensorList")
    if indexing is None:
        deprecation.grid_without_indexing()
        indexing = "ij"
    if indexing not in ("ij", "xy"):
        raise RuntimeError(
            f'torch.meshgrid: indexing must be one of "xy" or "ij", but received: {indexing}'
        )
    first = tensors[0]
    is_here = first.is_cpu
    for tensor in tensors:
        if len(tensor._sizes) > 1:
            raise RuntimeError(
                "torch.meshgrid: Expected 0D or 1D tensor in the tensor list but got: "
                f"a tensor of shape {list(tensor._sizes)}"
            )
        if is_here and not (tensor._key ^ first._key) & ~keys.ZERO_DIM:
            continue
        if tensor.dtype is not first.dtype:
            raise RuntimeError("meshgrid expects all tensors to have the same dtype")
        if tensor.device != first.device:
            raise RuntimeError("meshgrid expects all tensors to have the same device")
    swapped = indexing == "xy" and len(tensors) > 1
    vectors = [tensors[1], tensors[0], *tensors[2:]] if swapped else list(tensors)
    shape, along = _grid_sizes(tuple([vector._sizes for vector in vectors]))
    grids = [
        calls.expand[line._key](line, shape, False)
        for line in [calls.view[v._key](v, size) for v, size in zip(vectors, along, strict=True)]
    ]
    if swapped:
        grids[0], grids[1] = grids[1], grids[0]
    return grids


@lru_cache(maxsize=1024)
def _grid_sizes(
    given: tuple[tuple[int, ...], ...],
) -> tuple[tuple[int, ...], tuple[tuple[int, ...], ...]]:
    """The sizes of a grid, and those of each vector along its dim."""
    shape = tuple([size for (size,) in [sizes or (1,) for sizes in given]])
    ndim = len(shape)
    return shape, tuple(
        [(*(1,) * dim, size, *(1,) * (ndim - dim - 1)) for dim, size in enumerate(shape)]
    )


def sum_to_size(self: Any, size: Sequence[int]) -> Any:
    """Sum over the dims that broadcasting `size` to the tensor's shape would add or repeat.

    **Raises** RuntimeError if `size` does not broadcast to the tensor's shape.
    """
    wanted = tuple(size)
    if wanted and wanted == self._sizes:
        return self
    repeated = _repeated(self._sizes, wanted)
    call = calls.sum_dim_IntList[self._key]
    return own_view(call(self, repeated, True, None), wanted)


@lru_cache(maxsize=1024)
def _repeated(sizes: Size, size: tuple[int, ...]) -> tuple[int, ...]:
    """The dims of `sizes` along which a tensor of `size` is repeated."""
    missing = len(sizes) - len(size)
    fits = missing >= 0 and all(
        wanted in (1, own) for wanted, own in zip(size, list(sizes)[missing:], strict=True)
    )
    if not fits:
        raise RuntimeError(f"size {{{list(size)}}} is not expandable to size {{{list(sizes)}}}.")
    return tuple(
        [
            dim
            for dim, own in enumerate(sizes)
            if dim < missing or (size[dim - missing] == 1 and own != 1)
        ]
    )
