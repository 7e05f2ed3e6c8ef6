"""Products of sparse matrices: with dense ones, and with each other.

A product over entries runs row by row (`_spmm`): entries that are not in the order of rows get a
permutation, which the pattern remembers, as it does that of columns for the transposed product.
"""

from __future__ import annotations

from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import grad_mode
from torchgen_out._runtime.autograd.function import Function
from torchgen_out._runtime.autograd.sparse import compressed as patterns
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core.sparse import (
    LAYOUTS,
    CompressedPattern,
    Pattern,
    SparseStorage,
    storage_of,
)
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import compressed, factors
from torchgen_out._runtime.ops.shapes import matmul as shapes
from torchgen_out._runtime.ops.shapes import sparse as shapes_of_entries


class Side(NamedTuple):
    """Entries of a matrix by rows.

    offsets: where each row begins in the order, and the end. others: the column of each entry, in
    that order. order: which entry comes when; None if they are in order. All are int32 where that
    is enough: products of few columns take as long as these are read.
    """

    offsets: Tensor
    others: Tensor
    order: Tensor | None


def _narrow(offsets: Tensor, others: Tensor, order: Tensor | None, size: int) -> Side:
    """A side whose indices, of `size` columns, take as little memory as they need."""
    wanted = shapes_of_entries.index_dtype(max(size, others._sizes[0]))
    parts = [each.to(wanted).contiguous() for each in (offsets, others)]
    return Side(parts[0], parts[1], None if order is None else order.to(wanted))


class Matrix:
    """The entries of a sparse matrix by rows and by columns, each found out when it is needed."""

    def __init__(self, pattern: Pattern, rows: int, columns: int) -> None:
        self.pattern, self.sizes = pattern, (rows, columns)

    @property
    def known(self) -> dict[str, Any]:
        """What was found out about the pattern."""
        return self.pattern.known

    @property
    def row_indices(self) -> Tensor:
        """The row of each entry."""
        return self.pattern.row(0)

    @property
    def column_indices(self) -> Tensor:
        """The column of each entry."""
        return self.pattern.row(1)

    def side(self, is_transposed: bool) -> Side:
        """Entries by rows, or of the transposed matrix by its rows."""
        known = self.known
        name = "by columns" if is_transposed else "by rows"
        found = known.get(name)
        if found is None or found[0] != self.sizes:
            self.check()
            found = known[name] = self.sizes, self._grouped(is_transposed)
        side: Side = found[1]
        return side

    def check(self) -> None:
        """Raise RuntimeError for an entry outside of the matrix, which kernels would not notice."""
        known = self.pattern.known
        if known.get("inside") == self.sizes or not entries.count_of(self.pattern):
            return
        least, most = self.pattern.indices.amin(1).tolist(), self.pattern.indices.amax(1).tolist()
        for dim, size in enumerate(self.sizes):
            if least[dim] < 0:
                raise errors.negative_index(least[dim], dim)
            if most[dim] >= size:
                raise errors.index_beyond_size(dim, size, most[dim])
        known["inside"] = self.sizes

    def chosen_product(self, given: Tensor, grad: Tensor, chosen: Tensor) -> Tensor:
        """The transposed matrix times a gradient, of the entry that each element chose only."""
        side = self.side(True)
        order = ops.arange(given._sizes[0], dtype=side.others.dtype, device=given.device)
        order = side.order if side.order is not None else order
        made: Tensor = ops._spmm_chosen(*side[:2], given, grad, chosen, order)
        return made

    def _grouped(self, is_transposed: bool) -> Side:
        lines, others = self.row_indices, self.column_indices
        if is_transposed:
            lines, others = others, lines
        count, across = self.sizes[::-1] if is_transposed else self.sizes
        if self.pattern.is_coalesced and not is_transposed:
            edges = ops.arange(count + 1, device=lines.device)
            return _narrow(ops.searchsorted(lines.contiguous(), edges), others, None, across)
        offsets, order = ops._group(lines, count)
        return _narrow(offsets, others.index_select(0, order), order, across)


class CompressedMatrix(Matrix):
    """The entries of a matrix in compressed rows or columns, which are as products need them."""

    def __init__(self, compressed: CompressedPattern, sizes: Any) -> None:
        self.compressed, self.sizes = compressed, sizes

    @property
    def known(self) -> dict[str, Any]:
        """What was found out about the pattern."""
        return self.compressed.known

    @property
    def pattern(self) -> Pattern:  # type: ignore[override]
        """Where each entry is."""
        return patterns.of_units(self.compressed, self.sizes)

    @property
    def _across_size(self) -> int:
        """How many plain indices there may be."""
        size: int = self.sizes[1 if self.compressed.is_by_rows else 0]
        return size

    def check(self) -> None:
        """Raise RuntimeError for indices of an unchecked tensor that are no places of a matrix."""
        known = self.compressed.known
        if "inside" not in known:
            patterns.check_indices(self.compressed, self._across_size)
            known["inside"] = True

    def _grouped(self, is_transposed: bool) -> Side:
        """As they are, or by their plain indices."""
        offsets, others = self.compressed.parts
        if self.compressed.is_by_rows is not is_transposed:
            return _narrow(offsets, others, None, self._across_size)
        numbers = compressed.numbers_of(others)
        begins, lines, order = ops._turn(offsets, others, numbers, self._across_size)
        return _narrow(begins, lines, order, self.sizes[not self.compressed.is_by_rows])


class MatrixProduct(Function):
    """matrix of entries @ dense matrix: out[row] = the sum of value * mat[column] over entries."""

    @staticmethod
    def forward(
        ctx: Any, given: Tensor, mat: Tensor, matrix: Matrix, is_transposed: bool
    ) -> Tensor:
        """Go through the rows."""
        ctx.matrix, ctx.is_transposed = matrix, is_transposed
        ctx.save_for_backward(given, mat)
        side = matrix.side(is_transposed)
        made: Tensor = ops._spmm(side.offsets, side.others, given, mat, side.order)
        return made

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        """The values' by the entries' inner products, the matrix's by the transposed product."""
        given, mat = ctx.saved_tensors
        of_values = of_mat = None
        if ctx.needs_input_grad[0]:
            left, right = (mat.conj(), grad) if ctx.is_transposed else (grad, mat.conj())
            of_values = InnerProducts.apply(left, right, ctx.matrix)
        if ctx.needs_input_grad[1]:
            turned = not ctx.is_transposed
            of_mat = MatrixProduct.apply(given.conj(), grad, ctx.matrix, turned)
        return of_values, of_mat, None, None


class ExtremeProduct(Function):
    """As `MatrixProduct`, with the greatest or least product of a row in place of the sum."""

    @staticmethod
    def forward(ctx: Any, given: Tensor, mat: Tensor, matrix: Matrix, is_max: bool) -> Tensor:
        """Go through the rows, and keep which entry each result is of."""
        side = matrix.side(False)
        found, ctx.chosen = ops._spmm_extreme(
            side.offsets, side.others, given, mat, is_max, side.order
        )
        ctx.matrix = matrix
        ctx.save_for_backward(given, mat)
        made: Tensor = found
        return made

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        """To the entry and the element that a result is the product of."""
        given, mat = ctx.saved_tensors
        if not grad_mode.state.enabled and not ctx.needs_input_grad[0]:
            return None, ctx.matrix.chosen_product(given, grad, ctx.chosen), None, None
        chosen = ctx.chosen.clamp(min=0).reshape((-1,))
        columns = ctx.matrix.column_indices.index_select(0, chosen)
        across = ops.arange(mat._sizes[1], device=mat.device).repeat((grad._sizes[0],))
        flat = grad.masked_fill(ctx.chosen.lt(0), 0).reshape((-1,))
        of_values = of_mat = None
        if ctx.needs_input_grad[0]:
            each = flat * ops.index(mat, [columns, across])
            of_values = ops.zeros_like(given).index_add(0, chosen, each)
        if ctx.needs_input_grad[1]:
            each = flat * given.index_select(0, chosen)
            of_mat = ops.zeros_like(mat).index_put((columns, across), each, accumulate=True)
        return of_values, of_mat, None, None


class InnerProducts(Function):
    """For each entry of a matrix, the inner product left[row] . right[column]."""

    @staticmethod
    def forward(ctx: Any, left: Tensor, right: Tensor, matrix: Matrix) -> Tensor:
        """Go through the entries."""
        ctx.matrix = matrix
        ctx.save_for_backward(left, right)
        matrix.check()
        made: Tensor = ops._sampled_products(matrix.row_indices, matrix.column_indices, left, right)
        return made

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        """Products with the matrix of the gradient."""
        left, right = ctx.saved_tensors
        of_left = of_right = None
        if ctx.needs_input_grad[0]:
            of_left = MatrixProduct.apply(grad, right.conj(), ctx.matrix, False)
        if ctx.needs_input_grad[1]:
            of_right = MatrixProduct.apply(grad, left.conj(), ctx.matrix, True)
        return of_left, of_right, None


def product_of(given: Tensor, mat: Tensor, matrix: Matrix, is_transposed: bool) -> Tensor:
    """`MatrixProduct`, recorded where one of the operands is."""
    if grad_mode.state.enabled and (given._key | mat._key) & keys.GRAD:
        recorded: Tensor = MatrixProduct.apply(given, mat, matrix, is_transposed)
        return recorded
    side = matrix.side(is_transposed)
    made: Tensor = ops._spmm(side.offsets, side.others, given, mat, side.order)
    return made


def _known_product(self: Tensor, mat2: Tensor) -> Tensor | None:
    """An unrecorded product of a sparse matrix whose rows are known, and a dense one.

    None for all others: small products take as long as what is asked about them.
    """
    key, other = self._key, mat2._key
    if not key & LAYOUTS or other & LAYOUTS or (key ^ other) & keys.DTYPE_MASK:
        return None
    if (key | other) & keys.GRAD and grad_mode.state.enabled:
        return None
    storage, wide = storage_of(self), mat2._sizes
    known = storage.pattern.known
    found = known.get("by rows")
    if found is None:
        return _few_entries(self, storage, known, mat2)
    if found[0] != self._sizes or len(wide) != 2:
        return None
    (_, columns), (depth, _) = found[0], wide  # indexing a `Size` is a call
    if columns != depth:
        return None
    offsets, others, order = found[1]
    made: Tensor = ops._spmm(offsets, others, storage.values, mat2, order)
    return made


FEW = 1 << 12
"""Products of numbers up to which entries are taken as they come: to group them takes longer."""


def _few_entries(
    self: Tensor, storage: SparseStorage, known: dict[str, Any], mat2: Tensor
) -> Tensor | None:
    """The same of a COO matrix of a few entries that are known to be inside; None for others."""
    pattern, wide, sizes = storage.pattern, mat2._sizes, self._sizes
    if pattern.__class__ is not Pattern or len(wide) != 2 or known.get("inside") != sizes:
        return None
    (rows, columns), (depth, across) = sizes, wide
    if columns != depth or not 0 < storage.values.numel() * across <= FEW:
        return None
    made: Tensor = ops._coo_mm(pattern.indices, storage.values, mat2, rows)
    return made


def matrix_of(tensor: Tensor) -> tuple[Matrix, Tensor]:
    """A sparse matrix' entries, and their values, recorded."""
    known = structure.pattern_of(tensor).known.get("matrix")
    if known is not None and known.sizes == tensor._sizes:
        return known, structure.values(tensor)
    if structure.is_compressed(tensor) and structure.pattern_of(tensor).parts[1].ndim == 1:
        return _compressed_matrix(tensor)
    tensor = structure.as_coo(tensor)
    pattern = structure.coo_pattern(tensor)
    if entries.sparse_dims(pattern) != 2 or tensor.ndim != 2:
        raise errors.no_rule_for_layout("mm", tensor.layout, "it is no matrix of numbers")
    return Matrix(pattern, *tensor._sizes), structure.values(tensor)


def _compressed_matrix(tensor: Tensor) -> tuple[Matrix, Tensor]:
    """A compressed matrix' entries, and their values.

    Of entries without blocks the pattern keeps them, and by rows (columns) they need no arithmetic.
    """
    pattern = structure.compressed_pattern(tensor)
    given = structure.values(tensor)
    if pattern.blocksize is None and given.ndim == 1 and tensor.ndim == 2:
        found = pattern.known["matrix"] = CompressedMatrix(pattern, tensor._sizes)
        return found, given
    as_coo = structure.as_coo(tensor)
    if as_coo.ndim != 2:
        raise errors.no_rule_for_layout("mm", tensor.layout, "it is no matrix of numbers")
    return Matrix(structure.coo_pattern(as_coo), *as_coo._sizes), structure.values(as_coo)


def mm(self: Tensor, mat2: Tensor) -> Tensor:
    """A product of two matrices of which one is sparse (the result is dense) or both (sparse).

    Raises: RuntimeError for other dims, sizes that do not fit, or different dtypes.
    """
    known = _known_product(self, mat2)
    if known is not None:
        return known
    shapes.mm(self, mat2)
    if structure.is_dense(mat2):
        matrix, given = matrix_of(self)
        return product_of(given, mat2, matrix, False)
    if structure.is_dense(self):
        matrix, given = matrix_of(mat2)
        return product_of(given, self.t(), matrix, True).t()
    return _of_two(self, mat2)


def _of_two(self: Tensor, mat2: Tensor) -> Tensor:
    """sparse @ sparse: each entry of the first meets the row of the second that it names."""
    first, a = matrix_of(self)
    second, b = matrix_of(mat2)
    side = second.side(False)
    lengths = side.offsets.diff()
    met = lengths.index_select(0, first.column_indices)
    which = ops.repeat_interleave(met)
    begins = side.offsets.index_select(0, first.column_indices) - (met.cumsum(0) - met)
    at = ops.arange(which.numel(), device=which.device) + begins.index_select(0, which)
    columns = side.others.index_select(0, at).to(dtypes.int64)
    at = at if side.order is None else side.order.index_select(0, at)
    rows = first.row_indices.index_select(0, which)
    products = a.index_select(0, which) * b.index_select(0, at)
    pattern = entries.Rows([rows, columns], False)
    sizes = (self._sizes[0], mat2._sizes[1])
    made = structure.coalesced(structure.with_pattern(sizes, pattern, products))
    if self.layout is layouts.sparse_csc:
        return compressed.to_layout(made, layouts.sparse_csr)
    return compressed.like(made, self)


REDUCTIONS = {**{name: name for name in ("mean", "amax", "amin")}, "max": "amax", "min": "amin"}
"""What may join the products of a row besides sums, by its names."""


def reduced_mm(self: Tensor, mat2: Tensor, reduce: str) -> Tensor:
    """A product whose sums are other folds; rows without entries are zero.

    Raises: RuntimeError for another fold, sizes that do not fit, or different dtypes.
    """
    if reduce not in REDUCTIONS:
        raise RuntimeError(f"reduce argument must be sum, mean, amax or amin, got {reduce}")
    if structure.is_dense(self) or not structure.is_dense(mat2):
        raise errors.no_rule_for_layout("sparse.mm", mat2.layout, "with reduce= mat2 is strided")
    shapes.mm(self, mat2)
    reduce = REDUCTIONS[reduce]
    matrix, given = matrix_of(structure.coalesced(self) if structure.is_coo(self) else self)
    if reduce == "mean":
        mean: Tensor = product_of(given, mat2, matrix, False) / _counts(matrix, given.dtype)
        return mean
    if not given.numel():
        return product_of(given, mat2, matrix, False)
    if not (grad_mode.state.enabled and (given._key | mat2._key) & keys.GRAD):
        side = matrix.side(False)
        made: Tensor = ops._spmm(side.offsets, side.others, given, mat2, side.order, reduce)
        return made
    found: Tensor = ExtremeProduct.apply(given, mat2, matrix, reduce == "amax")
    return found


def _counts(matrix: Matrix, dtype: Any) -> Tensor:
    """How many entries each row has, at least 1. Shape: (rows, 1)."""
    known, offsets = matrix.known, matrix.side(False).offsets
    found = known.get("counts")
    if found is None or found[0] is not offsets or found[1].dtype is not dtype:
        counted = offsets.diff().clamp(min=1).unsqueeze(1).to(dtype)
        found = known["counts"] = offsets, counted
    counts: Tensor = found[1]
    return counts


class Solution(Function):
    """x with matrix @ x = right, by SciPy's LU factors of a sparse matrix."""

    @staticmethod
    def forward(
        ctx: Any, given: Tensor, right: Tensor, matrix: Matrix, is_transposed: bool
    ) -> Tensor:
        """Factorise and solve."""
        ctx.matrix, ctx.is_transposed = matrix, is_transposed
        found = factors.solve(
            matrix.row_indices, matrix.column_indices, given, right, is_transposed
        )
        ctx.save_for_backward(given, found)
        return found

    @staticmethod
    def backward(ctx: Any, grad: Tensor) -> tuple[Any, ...]:
        """The right side's by the transposed system; the values' by its outer product with x."""
        given, found = ctx.saved_tensors
        turned = Solution.apply(given.conj(), grad, ctx.matrix, not ctx.is_transposed)
        of_values = None
        if ctx.needs_input_grad[0]:
            columns = [each.reshape((each._sizes[0], -1)) for each in (turned, found.conj())]
            left, right = columns[::-1] if ctx.is_transposed else columns
            of_values = InnerProducts.apply(left, right, ctx.matrix).neg()
        return of_values, turned, None, None


def solve(self: Tensor, other: Tensor) -> Tensor:
    """x with self @ x = other, for a square sparse matrix.

    Raises: RuntimeError for sizes or dtypes that do not fit, and a singular matrix.
    """
    _check_system("spsolve", self, other)
    matrix, given = matrix_of(self)
    made: Tensor = Solution.apply(given, other, matrix, False)
    return made


def solve_triangular(
    self: Tensor, B: Tensor, upper: bool, left: bool = True, unitriangular: bool = False
) -> Tensor:
    """X with self @ X = B (X @ self = B), of the entries in one triangle of a sparse matrix.

    Raises: RuntimeError for sizes or dtypes that do not fit, and a zero on the diagonal.
    """
    if structure.is_dense(self) or not structure.is_dense(B):
        raise errors.no_rule_for_layout("triangular_solve", B.layout, "the right side is sparse")
    if not left:
        turned = self.transpose(-2, -1)
        return solve_triangular(turned, B.mT, not upper, True, unitriangular).mT
    _check_system("triangular_solve", self, B)
    matrix, given = matrix_of(self)
    rows, columns = matrix.row_indices, matrix.column_indices
    within = rows.le(columns) if upper else rows.ge(columns)
    within = within.logical_and(rows.ne(columns)) if unitriangular else within
    chosen = within.nonzero().select(1, 0)
    indices, given = matrix.pattern.indices.index_select(1, chosen), given.index_select(0, chosen)
    if unitriangular:
        diagonal = ops.arange(self._sizes[0], device=indices.device).expand((2, -1))
        indices = ops.cat([indices, diagonal], 1)
        given = ops.cat([given, given.new_ones((self._sizes[0],))])
    triangle = Matrix(Pattern(indices, False), *self._sizes)
    made: Tensor = Solution.apply(given, B, triangle, False)
    return made


def _check_system(name: str, self: Tensor, right: Tensor) -> None:
    rows, columns = self._sizes if self.ndim == 2 else (0, 1)
    if rows != columns or right.ndim not in (1, 2) or right._sizes[0] != rows:
        raise RuntimeError(
            f"{name}: expected a square matrix and as many rows on the right, got "
            f"{list(self._sizes)} and {list(right._sizes)}"
        )
    if self.dtype is not right.dtype:
        raise errors.matrices_differ_in_dtype(self.dtype, right.dtype)


def mv(self: Tensor, vec: Tensor) -> Tensor:
    """A matrix times a vector, of which one or both are sparse."""
    shapes.mv(self, vec)
    if structure.is_dense(vec):
        matrix, given = matrix_of(self)
        return product_of(given, vec.unsqueeze(1), matrix, False).squeeze(1)
    return mm(self, vec.unsqueeze(1)).squeeze(1)


def addmm(self: Tensor, mat1: Tensor, mat2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * self + alpha * (mat1 @ mat2), where any of the three may be sparse."""
    product = mm(mat1, mat2) if not _all_dense(mat1, mat2) else mat1.mm(mat2)
    product = product if alpha == 1 else product.mul(alpha)
    if beta == 0 and structure.is_dense(self):
        return product
    if beta != 1:
        self = self.mul(beta)
    if structure.is_dense(product) and not structure.is_dense(self):
        return product.add(self)
    return self.add(product)


def addr(self: Tensor, vec1: Tensor, vec2: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * self + alpha * (vec1 outer vec2), dense; vectors are strided."""
    for vec in (vec1, vec2):
        if not structure.is_dense(vec):
            raise errors.no_rule_for_layout("addr", vec.layout, "a vector is sparse")
    product = ops.outer(vec1, vec2).mul(alpha)
    return product if beta == 0 else product + self.mul(beta)


def addmv(self: Tensor, mat: Tensor, vec: Tensor, beta: Any = 1, alpha: Any = 1) -> Tensor:
    """beta * self + alpha * (mat @ vec)."""
    product = mv(mat, vec)
    return self.mul(beta).add(product, alpha=alpha)


def linear(input: Tensor, weight: Tensor, bias: Tensor | None = None) -> Tensor:
    """input @ weight^T + bias, where input or weight is sparse."""
    product = ops.matmul(input, weight.t())
    if bias is None:
        return product
    return product + bias if structure.is_dense(product) else bias.expand(product._sizes) + product


def _all_dense(*tensors: Tensor) -> bool:
    return all(map(structure.is_dense, tensors))


def bmm(self: Tensor, mat2: Tensor) -> Tensor:
    """A batch of sparse matrices times a batch of dense ones."""
    if structure.is_dense(self) or not structure.is_dense(mat2):
        other = self if not structure.is_dense(self) else mat2
        raise errors.no_rule_for_layout("bmm", other.layout, "expected COO and strided batches")
    shapes.bmm(self, mat2)
    batch, rows, inner = self._sizes
    self = structure.as_coo(self)
    matrix = Matrix(
        _block_diagonal(structure.coo_pattern(self), rows, inner), batch * rows, batch * inner
    )
    given = structure.values(self)
    flat = mat2.reshape((batch * inner, mat2._sizes[2]))
    made: Tensor = MatrixProduct.apply(given, flat, matrix, False).reshape(
        (batch, rows, mat2._sizes[2])
    )
    return made


def _block_diagonal(pattern: Pattern, rows: int, columns: int) -> Pattern:
    """The matrices of a batch along the diagonal of one."""
    which, row, column = (pattern.row(dim) for dim in range(3))
    indices = ops.stack([which * rows + row, which * columns + column])
    return Pattern(indices, pattern.is_coalesced)
