"""Composites over matrix products: matmul's cases, outer and inner products, chains."""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from math import prod
from operator import itemgetter
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.bindings.arguments import store_out
from torchgen_out._runtime.core.shape import broadcast_shapes, normalize_dims
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.dispatch import calls, ops
from torchgen_out._runtime.ops.composite.view.reshaping import own_view, reshape, unseen_view


def matmul(self: Any, other: Any) -> Any:
    """The product by the numbers of dims; a batch against one matrix is one product.

    Shape: (n) (n) -> (); (n, m) (m) -> (n); (*A, n, m) (*B, m, p) -> (*broadcast(A, B), n, p);
    a vector on the left is a row, on the right a column, and its dim is dropped again.
    """
    ndim_self, ndim_other = len(self._sizes), len(other._sizes)
    if ndim_self == 2 and ndim_other == 2:
        return calls.mm[self._key, other._key](self, other)
    if ndim_self == 0 or ndim_other == 0:
        raise RuntimeError(
            "both arguments to matmul need to be at least 1D, but they are "
            f"{ndim_self}D and {ndim_other}D"
        )
    if ndim_self == 1:
        if ndim_other == 1:
            return self.dot(other)
        return matmul(self.unsqueeze(0), other).squeeze(-2)
    if ndim_other <= 2:
        return _matmul_folded(self, other)
    return _matmul_batched(self, other)


def _matmul_folded(self: Any, other: Any) -> Any:
    """All rows of `self` against one matrix or vector."""
    if other.ndim == 1 and self.ndim == 2:
        return self.mv(other)
    *batch, length = self.shape
    rows = self.reshape((prod(batch), length))
    if other.ndim == 1:
        return own_view(rows.mv(other), tuple(batch))
    return own_view(rows.mm(other), (*batch, other._sizes[1]))


def _matmul_batched(self: Any, other: Any) -> Any:
    """Broadcast the batch dims of both and multiply matrix by matrix."""
    *batch, n, m = self.shape
    *batch_other, k, p = other.shape
    if batch != batch_other:
        batch = list(broadcast_shapes(tuple(batch), tuple(batch_other)))
        self, other = self.expand((*batch, n, m)), other.expand((*batch, k, p))
    if len(batch) == 1:
        return self.bmm(other)
    count = prod(batch)
    product = self.reshape((count, n, m)).bmm(other.reshape((count, k, p)))
    return own_view(product, (*batch, n, p))


def outer(self: Any, vec2: Any) -> Any:
    """self[i] * vec2[j]."""
    if self.ndim != 1:
        raise errors.expected_vector_argument("outer", "self", self.ndim)
    if vec2.ndim != 1:
        raise errors.expected_vector_argument("outer", "vec2", vec2.ndim)
    return self.unsqueeze(1) * vec2


def inner(self: Any, other: Any, out: Any = None) -> Any:
    """Sum over the last dims; a 0-d operand multiplies. Products are cast to out=, sums are not."""
    if self.ndim == 0 or other.ndim == 0:
        return ops.mul(self, other, out=out)
    result = _inner(self, other)
    return result if out is None else store_out("inner", out, result, "exact")


def _inner(self: Any, other: Any) -> Any:
    if self.dtype is not other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    if self.shape[-1] != other.shape[-1]:
        raise RuntimeError(
            "inner() the last dimension must match on both input tensors but got shapes "
            f"{list(self.shape)} and {list(other.shape)}"
        )
    if self.ndim == other.ndim == 1:
        return self.dot(other)
    return tensordot(self, other, (-1,), (-1,))


def tensordot_count(self: Any, other: Any, dims: int = 2) -> Any:
    """Contract the last `dims` dims of `self` with the first of `other`."""
    if dims < 0:
        raise RuntimeError(f"tensordot expects dims >= 0, but got dims={dims}")
    if dims > min(self.ndim, other.ndim):
        raise RuntimeError(f"tensordot expects dims < ndim_a or ndim_b, but got dims={dims}")
    return tensordot(self, other, list(range(-dims, 0)), list(range(dims)))


def tensordot_pair(self: Any, other: Any, dims: Any) -> Any:
    """Contract the dims that the pair `dims` names."""
    dims_self, dims_other = ([d] if isinstance(d, int) else list(d) for d in dims)
    return tensordot(self, other, dims_self, dims_other)


def tensordot(self: Any, other: Any, dims_self: Sequence[int], dims_other: Sequence[int]) -> Any:
    """Contract dims_self[i] with dims_other[i], as one matrix product.

    A contracted dim of size 1 on one side broadcasts: the other side is summed over it.
    """
    if self.dtype is not other.dtype:
        raise RuntimeError("both inputs should have same dtype")
    plan = _contraction(self._sizes, other._sizes, tuple(dims_self), tuple(dims_other))
    for dim in plan.summed_self:
        self = self.sum(dim, keepdim=True, dtype=self.dtype)
    for dim in plan.summed_other:
        other = other.sum(dim, keepdim=True, dtype=other.dtype)
    left, right = _laid_out(self, plan.left), _laid_out(other, plan.right)
    return reshape(left.mm(right), plan.sizes)


class Contraction(NamedTuple):
    """How two tensors are contracted.

    summed_self, summed_other: the dims that a size of 1 on the other side sums up. left, right: the
    order of dims, and the sizes as a matrix. sizes: the result's.
    """

    summed_self: list[int]
    summed_other: list[int]
    left: tuple[tuple[int, ...], tuple[int, int]]
    right: tuple[tuple[int, ...], tuple[int, int]]
    sizes: tuple[int, ...]


@lru_cache(maxsize=1024)
def _contraction(
    sizes_self: Size, sizes_other: Size, dims_self: tuple[int, ...], dims_other: tuple[int, ...]
) -> Contraction:
    """Plan a contraction. **Raises** RuntimeError if dims do not fit, IndexError if not there."""
    if len(dims_self) != len(dims_other):
        raise RuntimeError("both dimension lists should have same length")
    own, others = list(sizes_self), list(sizes_other)
    for dims, ndim in ((dims_self, len(own)), (dims_other, len(others))):
        if dims and not ndim:
            raise errors.dim_of_scalar(dims[0])
    contracted_self = normalize_dims(dims_self, len(own))
    contracted_other = normalize_dims(dims_other, len(others))
    summed_self, summed_other = [], []
    for place, (a, b) in enumerate(zip(contracted_self, contracted_other, strict=True)):
        if others[b] == 1:
            summed_self.append(a)
            own[a] = 1
        elif own[a] == 1:
            summed_other.append(b)
            others[b] = 1
        elif own[a] != others[b]:
            raise RuntimeError(
                f"contracted dimensions need to match, but first has size {own[a]} in dim "
                f"{dims_self[place]} and second has size {others[b]} in dim {dims_other[place]}"
            )
    kept_self = tuple([d for d in range(len(own)) if d not in contracted_self])
    kept_other = tuple([d for d in range(len(others)) if d not in contracted_other])
    length = prod([own[d] for d in contracted_self])
    rows, columns = [own[d] for d in kept_self], [others[d] for d in kept_other]
    return Contraction(
        summed_self,
        summed_other,
        ((*kept_self, *contracted_self), (prod(rows), length)),
        ((*contracted_other, *kept_other), (length, prod(columns))),
        (*rows, *columns),
    )


def _laid_out(tensor: Any, layout: tuple[tuple[int, ...], tuple[int, int]]) -> Any:
    """A tensor as a matrix, its dims in another order."""
    order, sizes = layout
    if order != tuple(range(len(order))):
        tensor = tensor.permute(order)
    return tensor if tensor._sizes == sizes else reshape(tensor, sizes)


def kron(self: Any, other: Any) -> Any:
    """Kronecker product: blocks self[i, j] * other, in any number of dims."""
    spread_self, spread_other, sizes = _spread(self._sizes, other._sizes)
    if self._flat is None or other._flat is None:
        product = reshape(self, spread_self) * reshape(other, spread_other)
    else:
        first, second = unseen_view(self, spread_self), unseen_view(other, spread_other)
        product = calls.mul_Tensor[first._key, second._key](first, second)
    return own_view(product, sizes)


@lru_cache(maxsize=1024)
def _spread(sizes_self: Size, sizes_other: Size) -> tuple[tuple[int, ...], ...]:
    """The factors' sizes with the dims of both alternating, and the product's sizes."""
    ndim = max(len(sizes_self), len(sizes_other))
    own = (1,) * (ndim - len(sizes_self)) + tuple(sizes_self)
    others = (1,) * (ndim - len(sizes_other)) + tuple(sizes_other)
    return (
        tuple([size for each in own for size in (each, 1)]),
        tuple([size for each in others for size in (1, each)]),
        tuple([a * b for a, b in zip(own, others, strict=True)]),
    )


def multi_dot(tensors: Sequence[Any]) -> Any:
    """Product of a chain, in the order that costs least; vectors are allowed at the ends."""
    if len(tensors) < 2:
        raise RuntimeError(f"multi_dot(): expected at least 2 tensors but got {len(tensors)}")
    chain = list(tensors)
    starts_flat, ends_flat = len(chain[0]._sizes) == 1, len(chain[-1]._sizes) == 1
    if starts_flat:
        chain[0] = chain[0].unsqueeze(0)
    if ends_flat:
        chain[-1] = chain[-1].unsqueeze(1)
    result = chain_product(chain)
    if starts_flat:
        result = result.squeeze(0)
    return result.squeeze(-1) if ends_flat else result


def chain_product(chain: list[Any]) -> Any:
    """Product of two or more matrices, parenthesised by dynamic programming."""
    mm = calls.mm
    for left, right in _products(tuple([matrix._sizes for matrix in chain])):
        first, second = chain[left], chain[right]
        chain.append(mm[first._key, second._key](first, second))
    return chain[-1]


@lru_cache(maxsize=256)
def _products(shapes: tuple[Size, ...]) -> tuple[tuple[int, int], ...]:
    """The products that cost least, by numbers in the chain, at the end of which results are put.

    Raises: RuntimeError if one is no matrix.
    """
    for index, shape in enumerate(shapes):
        if len(shape) != 2:
            raise RuntimeError(f"multi_dot(): tensor {index} must be 2D but got {len(shape)}D")
    products: list[tuple[int, int]] = []

    def number_of(order: Any) -> int:
        if order.__class__ is int:
            return int(order)
        products.append((number_of(order[0]), number_of(order[1])))
        return len(shapes) + len(products) - 1

    number_of(_order((*[shape[0] for shape in shapes], shapes[-1][1])))
    return tuple(products)


def _order(sizes: tuple[int, ...]) -> Any:
    """Which product costs least: a matrix's number, or the pair of what is multiplied."""
    n = len(sizes) - 1
    best: dict[tuple[int, int], tuple[int, Any]] = {(i, i): (0, i) for i in range(n)}
    for length in range(1, n):
        for i in range(n - length):
            j, found = i + length, []
            for k in range(i, j):
                (left, a), (right, b) = best[i, k], best[k + 1, j]
                found.append((left + right + sizes[i] * sizes[k + 1] * sizes[j + 1], (a, b)))
            best[i, j] = min(found, key=itemgetter(0))
    return best[0, n - 1][1]


def chain_matmul(matrices: Sequence[Any]) -> Any:
    """Product of a chain of matrices; of one matrix, itself. Raises: RuntimeError for none."""
    if not matrices:
        raise RuntimeError("chain_matmul(): Expected one or more matrices")
    return matrices[0] if len(matrices) == 1 else chain_product(list(matrices))


def bilinear(input1: Any, input2: Any, weight: Any, bias: Any = None) -> Any:
    """input1[i] * weight[k, i, j] * input2[j] summed over i and j, plus bias[k]."""
    _check_bilinear(input1, input2, weight, bias)
    n, i, j = weight.shape
    batch = input1.shape[:-1]
    rows = prod(batch)
    rows1 = input1.reshape((rows, i))
    rows2 = input2.reshape((rows, j))
    crossed = rows1.mm(weight.permute((1, 0, 2)).reshape((i, n * j)))
    result = crossed.view((rows, n, j)).bmm(rows2.unsqueeze(2)).view((*batch, n))
    return result if bias is None else result + bias


def _check_bilinear(input1: Any, input2: Any, weight: Any, bias: Any) -> None:
    if input1.ndim != input2.ndim:
        raise RuntimeError(
            f"bilinear(): input dimensions do not match: got {input1.ndim} and {input2.ndim}"
        )
    for dim, (a, b) in enumerate(zip(input1.shape[:-1], input2.shape[:-1], strict=True)):
        if a != b:
            raise RuntimeError(
                f"bilinear(): input batch dimensions do not match at dim {dim}: got {a} and {b}"
            )
    for name, tensor, dim in (("input1", input1, 1), ("input2", input2, 2)):
        if tensor.shape[-1] != weight.size(dim):
            raise RuntimeError(
                f"bilinear(): {name} size does not match weight size: got {tensor.shape[-1]} "
                f"but expected {weight.size(dim)}"
            )
    if bias is not None and bias.shape[0] != weight.shape[0]:
        raise RuntimeError(
            f"bilinear(): bias size does not match weight size: got {bias.shape[0]} "
            f"but expected {weight.shape[0]}"
        )


def vecdot(x: Any, y: Any, dim: int = -1) -> Any:
    """The sum of conj(x) * y over `dim`; the other dims broadcast.

    Raises: RuntimeError for different dtypes.
    """
    if x.dtype is not y.dtype:
        raise RuntimeError(
            "linalg.vecdot: Expected x and y to have the same dtype, but found x of type "
            f"{errors.scalar_type_name(x.dtype)} and y of type {errors.scalar_type_name(y.dtype)}"
        )
    return (x.conj() * y).sum(dim)
