"""The functions of `torch.sparse`, and products under older names."""

from __future__ import annotations

from collections.abc import Sequence
from math import inf
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core import sparse
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import products, reductions


def _check_sparse(name: str, tensor: Any) -> None:
    if not isinstance(tensor, Tensor) or not sparse.is_sparse(tensor):
        got = getattr(tensor, "layout", type(tensor).__name__)
        raise errors.not_this_layout(name, "sparse", got)


def mm(mat1: Tensor, mat2: Tensor, reduce: str | None = None) -> Tensor:
    """Multiply two matrices of which one or both are sparse.

    The gradient of a sparse matrix is sparse, with its entries. reduce: what joins the products of
    a row, "sum", "mean", "amax" or "amin"; rows without entries are zero.

    Shape: (n, m), (m, p) -> (n, p).
    **Raises** RuntimeError for other sizes or dtypes.
    """
    if reduce is not None and reduce != "sum":
        return products.reduced_mm(mat1, mat2, reduce)
    return ops.mm(mat1, mat2)


def addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """Return `beta * input + alpha * (mat1 @ mat2)`, mat1 being sparse."""
    return ops.addmm(input, mat1, mat2, beta=beta, alpha=alpha, out=out)


def sum(input: Tensor, dim: Any = None, dtype: dtypes.dtype | None = None) -> Tensor:
    """Sum over some dims, or all: dense if no dim with indices is left, else sparse."""
    _check_sparse("sparse.sum", input)
    return reductions.sum(input, dim, False, dtype)


def softmax(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """Softmax over the entries along a dim: an element without an entry counts as minus infinity.

    **Raises** RuntimeError for another layout than COO.
    """
    return _normalised("sparse.softmax", input, dim, dtype, is_log=False)


def log_softmax(input: Tensor, dim: int, *, dtype: dtypes.dtype | None = None) -> Tensor:
    """The logarithm of `softmax`, over the entries along a dim."""
    return _normalised("sparse.log_softmax", input, dim, dtype, is_log=True)


def _normalised(name: str, self: Tensor, dim: int, dtype: Any, *, is_log: bool) -> Tensor:
    if not structure.is_coo(self):
        raise errors.not_this_layout(name, "sparse coordinate", getattr(self, "layout", self))
    dim = shapes.normalize_dim(dim, self.ndim)
    self = structure.coalesced(self)
    pattern, given = structure.coo_pattern(self), structure.values(self)
    given = given if dtype is None else given.to(dtype)
    if 0 in self._sizes:
        return structure.with_values(self, given.clone())
    if given.dtype.is_complex:
        called = name.removeprefix("sparse.")
        raise errors.dtype_not_supported(called, given.dtype, "real floating-point dtypes")
    count = entries.sparse_dims(pattern)
    if dim >= count:
        normalise = ops.log_softmax if is_log else ops.softmax
        return structure.with_values(self, normalise(given, dim - count + 1))
    group, groups = _lines(pattern, self._sizes, dim)
    sizes = (groups, *given._sizes[1:])
    spread = group.reshape((-1, *[1] * (given.ndim - 1))).expand(given._sizes)
    highest = given.new_full(sizes, -inf).scatter_reduce(0, spread, ops.detach(given), "amax")
    shifted = given - highest.index_select(0, group)
    exponentials = shifted.exp()
    total = given.new_zeros(sizes).index_add(0, group, exponentials)
    if is_log:
        result = shifted - total.log().index_select(0, group)
    else:
        result = exponentials / total.index_select(0, group)
    return structure.with_values(self, result)


def _lines(pattern: Pattern, sizes: Any, dim: int) -> tuple[Tensor, int]:
    """For each entry the number of its line along a dim, and how many lines there are."""
    others = [each for each in range(entries.sparse_dims(pattern)) if each != dim]
    if not others:
        return pattern.indices.new_zeros((entries.count_of(pattern),)), 1
    rows = ops.stack([pattern.row(each) for each in others])
    places = entries.positions(Pattern(rows, False), [sizes[each] for each in others])
    _, group, _ = ops._unique2(places, True, True)
    return group, int(group.max()) + 1 if group.numel() else 0


def sampled_addmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """Return `beta * input + alpha * (mat1 @ mat2)` where `input` has entries, as they are.

    **Raises** RuntimeError for sizes that do not fit, or a dense input.
    """
    _check_sparse("sparse.sampled_addmm", input)
    expected = (*mat1._sizes[:-1], mat2._sizes[-1])
    if mat1._sizes[-1] != mat2._sizes[-2] or input._sizes != expected:
        raise RuntimeError(
            f"sampled_addmm: expected sizes that fit, got {list(input._sizes)}, "
            f"{list(mat1._sizes)} and {list(mat2._sizes)}"
        )
    matrix, given = products.matrix_of(input)
    found = products.InnerProducts.apply(mat1, mat2.t(), matrix)
    total = found.mul(alpha) if beta == 0 else given.mul(beta) + found.mul(alpha)
    result = structure.with_values(input, total)
    if out is None:
        return result
    sparse.storage_of(out).take(sparse.storage_of(result))
    made: Tensor = out
    return made


def spdiags(diagonals: Tensor, offsets: Tensor, shape: Sequence[int], layout: Any = None) -> Tensor:
    """Return a matrix with the rows of `diagonals` on the diagonals that `offsets` names.

    An element of column j comes from place j of its row. offsets: 0 is the main diagonal, positive
    ones stand above it. layout: COO unless another sparse one is named.

    **Raises** RuntimeError for diagonals named twice, or other numbers of them.
    """
    diagonals = diagonals if diagonals.ndim > 1 else diagonals.unsqueeze(0)
    offsets = offsets if offsets.ndim else offsets.unsqueeze(0)
    if len(shape) != 2:
        raise RuntimeError("Output shape must be 2d")
    if diagonals._sizes[0] != offsets._sizes[0]:
        raise RuntimeError(
            f"Number of diagonals ({diagonals._sizes[0]}) does not match the number of offsets "
            f"({offsets._sizes[0]})"
        )
    numbers = offsets.tolist()
    if len(set(numbers)) != len(numbers):
        raise RuntimeError("Offset tensor contains duplicate values")
    rows, columns = shape
    places, chosen, on = [], [], diagonals.device
    for row, offset in enumerate(numbers):
        first, last = max(0, offset), min(columns, rows + offset, diagonals._sizes[1])
        along = ops.arange(first, max(first, last), device=on)
        places.append(ops.stack([along - offset, along]))
        chosen.append(diagonals.select(0, row).index_select(0, along))
    indices = ops.cat(places, 1) if places else ops.zeros((2, 0), dtype=dtypes.int64, device=on)
    given = ops.cat(chosen) if chosen else diagonals.new_zeros((0,))
    made = structure.with_pattern(list(shape), Pattern(indices, False), given)
    return made if layout is None else made.to_sparse(layout=layout)


def spsolve(input: Tensor, other: Tensor, *, left: bool = True) -> Tensor:
    """Solve `input @ x = other` for a square CSR matrix, by sparse LU factors.

    **Raises** RuntimeError for a singular matrix, or sizes that do not fit.
    """
    return products.solve(input, other)


def as_sparse_gradcheck(gradcheck: Any) -> Any:
    """Return the check itself: `gradcheck` takes sparse inputs, and `masked=`."""
    return gradcheck


# -- older names ------------------------------------------------------------------------------


def spmm(input: Tensor, mat2: Tensor) -> Tensor:
    """Multiply a sparse matrix by a dense one."""
    return ops.mm(input, mat2)


def native_norm(input: Tensor, p: Any = 2) -> Tensor:
    """Return the norm of order p of all elements; the name that `torch` has for sparse tensors."""
    return ops.linalg_vector_norm(input, p)


def smm(input: Tensor, mat: Tensor) -> Tensor:
    """Multiply a sparse matrix by a dense one into a sparse one."""
    return _all_entries(ops.mm(input, mat))


def sspaddmm(
    input: Tensor, mat1: Tensor, mat2: Tensor, *, beta: Any = 1, alpha: Any = 1, out: Any = None
) -> Tensor:
    """Return `beta * input + alpha * (mat1 @ mat2)` as a sparse matrix, input and mat1 being so."""
    result = input.mul(beta) + _all_entries(ops.mm(mat1, mat2)).mul(alpha)
    if out is None:
        return result
    if not isinstance(out, Tensor) or out.layout is not result.layout:
        raise errors.not_this_layout("sspaddmm", "sparse out=", getattr(out, "layout", type(out)))
    return ops.copy_(out.sparse_resize_and_clear_(result._sizes, 2, 0), result)


def hspmm(mat1: Tensor, mat2: Tensor) -> Tensor:
    """Multiply a sparse matrix by a dense one into a tensor with indices of rows only."""
    matrix, _ = products.matrix_of(mat1)
    rows, _, _ = ops._unique2(matrix.row_indices)
    product = ops.mm(mat1, mat2)
    pattern = Pattern(rows.unsqueeze(0), True)
    return structure.with_pattern(product._sizes, pattern, product.index_select(0, rows))


def _all_entries(dense: Tensor) -> Tensor:
    """A dense matrix with an entry for each element of rows that are not zero."""
    rows = ops.detach(dense).ne(0).any(1).nonzero().select(1, 0)
    columns = dense._sizes[1]
    across = ops.arange(columns, device=dense.device)
    indices = ops.stack([rows.repeat_interleave(columns), across.repeat((rows._sizes[0],))])
    given = dense.index_select(0, rows).reshape((-1,))
    return structure.with_pattern(dense._sizes, Pattern(indices, True), given)
