"""Products of samples: all of them at once, as products of batches of matrices."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.batched.given import Sides


def mm(self: Any, mat2: Any) -> Any:
    """`self @ mat2` of matrices."""
    return _product(self, mat2, 2)


def bmm(self: Any, mat2: Any) -> Any:
    """`self @ mat2` of batches of matrices."""
    return _product(self, mat2, 3)


def _product(self: Tensor, mat2: Tensor, ndim: int) -> Any:
    if self.ndim != ndim or mat2.ndim != ndim or self.shape[-1] != mat2.shape[-2]:
        return _refused(self, mat2, ndim)
    sides = Sides(self, mat2)
    first, second = sides.values
    if ndim == 2 and not sides.held[1]:  # one product of all rows
        rows = ops.mm(ops.flatten(first, 0, 1), second)
        return sides.batch(ops.reshape(rows, [sides.size, self.shape[0], mat2.shape[1]]))
    return sides.batch(ops.matmul(first, second))


def _refused(self: Tensor, mat2: Tensor, ndim: int) -> Any:
    """What plain tensors of these shapes give: an error."""
    given = [each.new_empty(each.shape) for each in (self, mat2)]
    plain = [Sides(each).values[0].select(0, 0) for each in given]
    return ops.mm(*plain) if ndim == 2 else ops.bmm(*plain)


def mv(self: Any, vec: Any) -> Any:
    """`self @ vec`; one product of all vectors where samples share the matrix."""
    if self.ndim != 2 or vec.ndim != 1 or self.shape[1] != vec.shape[0]:
        return ops.mm(self, vec.unsqueeze(-1)).squeeze(-1)
    sides = Sides(self, vec)
    matrices, vectors = sides.values
    if not sides.held[0]:
        return sides.batch(ops.mm(vectors, ops.t(matrices)))
    if not sides.held[1]:
        return sides.batch(ops.matmul(matrices, vectors))
    return sides.batch(ops.squeeze(ops.bmm(matrices, ops.unsqueeze(vectors, 2)), 2))


def dot(self: Any, tensor: Any) -> Any:
    """The sum of products of two vectors."""
    if self.ndim != 1 or tensor.ndim != 1 or self.shape != tensor.shape:
        return ops.mm(self.unsqueeze(0), tensor.unsqueeze(1)).squeeze(1).squeeze(0)
    sides = Sides(self, tensor)
    if not all(sides.held):
        shared, vectors = sorted(sides.values, key=lambda each: len(each._sizes))
        return sides.batch(ops.mv(vectors, shared))
    rows, columns = ops.unsqueeze(sides.values[0], 1), ops.unsqueeze(sides.values[1], 2)
    return sides.batch(ops.reshape(ops.bmm(rows, columns), [sides.size]))


def vdot(self: Any, other: Any) -> Any:
    """The same, the first conjugated."""
    return ops.dot(self.conj(), other)


def addmm(self: Any, mat1: Any, mat2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * self + alpha * (mat1 @ mat2)`."""
    return _added(self, ops.mm(mat1, mat2), beta, alpha)


def addmv(self: Any, mat: Any, vec: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * self + alpha * (mat @ vec)`."""
    return _added(self, ops.mv(mat, vec), beta, alpha)


def addbmm(self: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * self` plus `alpha` times the sum of the products."""
    return _added(self, ops.sum(ops.bmm(batch1, batch2), 0), beta, alpha)


def baddbmm(self: Any, batch1: Any, batch2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * self + alpha * bmm(batch1, batch2)`."""
    return _added(self, ops.bmm(batch1, batch2), beta, alpha)


def addr(self: Any, vec1: Any, vec2: Any, beta: Any = 1, alpha: Any = 1) -> Any:
    """`beta * self + alpha * outer(vec1, vec2)`."""
    return _added(self, vec1.unsqueeze(1) * vec2, beta, alpha)


def _added(self: Any, product: Any, beta: Any, alpha: Any) -> Any:
    """Beta 0 ignores `self`, also where it holds NaN."""
    if alpha != 1:
        product = product * alpha
    if beta == 0:
        return product.expand(ops.broadcast_tensors([self, product])[1].shape)
    return product + (self if beta == 1 else self * beta)


def linear(input: Any, weight: Any, bias: Any = None) -> Any:
    """`input @ weight.mT + bias`; one product of all rows where samples share the weight."""
    sides = Sides(input, weight, bias)
    if not any(sides.held[1:]):
        return sides.batch(ops.linear(sides.values[0], weight, bias))
    if not any(sides.held[:2]):
        return ops.linear(input, weight) + bias
    if weight.ndim == 1:
        made = ops.mv(input.reshape(-1, input.shape[-1]), weight).reshape(input.shape[:-1])
    else:
        rows = ops.mm(input.reshape(-1, input.shape[-1]), weight.t())
        made = rows.reshape([*input.shape[:-1], weight.shape[0]])
    return made if bias is None else made + bias
