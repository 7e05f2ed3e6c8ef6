"""Sums, products and powers of sparse tensors that no rule for formulas makes."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.ops.composite.sparse import compressed, conversion


def add(self: Any, other: Any, alpha: Any = 1) -> Tensor:
    """self + alpha * other: of two sparse tensors sparse, of a dense and a sparse one dense.

    Raises: RuntimeError for a sparse and a dense one in this order, or for different shapes.
    """
    if structure.is_dense(self):
        return self + conversion.to_dense(other).mul(alpha) if alpha != 1 else _onto(self, other)
    if not isinstance(other, Tensor) or structure.is_dense(other):
        if structure.is_compressed(self) and isinstance(other, Tensor):
            return add(other.mul(alpha), self)
        raise errors.add_to_sparse()
    return _joined("add", self, other, alpha)


def sub(self: Any, other: Any, alpha: Any = 1) -> Tensor:
    """self - alpha * other."""
    return add(self, other, -alpha)


def rsub(self: Any, other: Any, alpha: Any = 1) -> Tensor:
    """other - alpha * self."""
    return add(other, self, -alpha)


def _onto(self: Tensor, other: Tensor) -> Tensor:
    """A dense tensor with the values of a sparse one added where they belong."""
    if self._sizes != other._sizes:
        raise errors.different_shapes("add", self._sizes, other._sizes)
    result = self.add(conversion.to_dense(other))
    return result


def add_(self: Tensor, other: Tensor, alpha: Any = 1) -> Tensor:
    """self += alpha * other, where dense `self` gets its entries one by one."""
    if not structure.is_dense(self):
        return add(self, other, alpha)
    if self._sizes != other._sizes:
        raise errors.different_shapes("add_", self._sizes, other._sizes)
    other = structure.as_coo(other)
    pattern, given = structure.coo_pattern(other), structure.values(other)
    given = given.to(self.dtype)
    dims = entries.sparse_dims(pattern)
    given = given if alpha == 1 else given.mul(alpha)
    if dims == 1:
        return self.index_add_(0, pattern.row(0), given)
    if not dims:
        return self.add_(given.sum(0))
    return self.index_put_([pattern.row(i) for i in range(dims)], given, True)


def sub_(self: Tensor, other: Tensor, alpha: Any = 1) -> Tensor:
    """self -= alpha * other."""
    return add_(self, other, -alpha)


def _joined(name: str, self: Tensor, other: Tensor, alpha: Any) -> Tensor:
    """The sum of two sparse tensors: the entries of both."""
    if self._sizes != other._sizes:
        raise errors.different_shapes(name, self._sizes, other._sizes)
    if structure.is_compressed(self) or structure.is_compressed(other):
        return _joined_compressed(name, self, other, alpha)
    one, two = structure.coo_pattern(self), structure.coo_pattern(other)
    if entries.sparse_dims(one) != entries.sparse_dims(two):
        raise RuntimeError(
            f"{name}: expected 'self' and 'other' to have same number of sparse "
            f"dims, got {entries.sparse_dims(one)} and {entries.sparse_dims(two)}"
        )
    first, second = structure.values(self), structure.values(other)
    second = second if alpha == 1 else second.mul(alpha)
    if one is two:
        return structure.with_values(self, first.add(second))
    dtype = promotion.promote_types(first.dtype, second.dtype)
    pattern = Pattern(ops.cat([one.indices, two.indices], 1), False)
    joined = ops.cat([first.to(dtype), second.to(dtype)])
    made = structure.with_pattern(self._sizes, pattern, joined)
    return structure.coalesced(made) if one.is_coalesced and two.is_coalesced else made


def _joined_compressed(name: str, self: Tensor, other: Tensor, alpha: Any) -> Tensor:
    """The sum of compressed tensors, in the layout of the first."""
    if structure.pattern_of(self) is structure.pattern_of(other):
        second = structure.values(other)
        second = second if alpha == 1 else second.mul(alpha)
        return structure.with_values(self, structure.values(self).add(second))
    parts = [structure.coalesced(structure.as_coo(each)) for each in (self, other)]
    return compressed.like(_joined(name, parts[0], parts[1], alpha), self)


def div(self: Any, other: Any) -> Tensor:
    """Values divided by a number, or a tensor without dims.

    Raises: RuntimeError for another divisor.
    """
    is_number = not isinstance(other, Tensor) or (structure.is_dense(other) and not other.ndim)
    if not structure.is_coo(self) and not structure.is_compressed(self):
        raise errors.no_rule_for_layout("div", other.layout, "the divisor is sparse")
    if not is_number:
        raise errors.sparse_divisor(other._sizes)
    return structure.with_values(self, ops.div(structure.values(self), other))


def div_floor(self: Any, other: Any) -> Tensor:
    """Values divided by a number and rounded down; the tensor in order."""
    return _divided(ops.floor_divide, self, other)


def div_trunc(self: Any, other: Any) -> Tensor:
    """Values divided by a number and rounded towards zero."""
    return _divided(ops._div_trunc, self, other)


def div_trunc_integral(self: Any, other: Any) -> Tensor:
    """The same of integers."""
    return _divided(ops._div_trunc_integral, self, other)


def _divided(divide: Any, self: Any, other: Any) -> Tensor:
    checked = div(self, other)  # says what is wrong
    if structure.is_coo(checked):
        self = structure.coalesced(self)
    return structure.with_values(self, divide(structure.values(self), other))


def pow(self: Any, exponent: Any) -> Tensor:
    """Entries to the power of a number that is not zero.

    Raises: RuntimeError for the exponent 0; NotImplementedError for tensors.
    """
    if isinstance(exponent, Tensor):
        raise errors.no_rule_for_layout(
            "pow",
            (exponent if structure.is_dense(self) else self).layout,
            "the exponent is a tensor",
        )
    if exponent == 0:
        raise errors.zeroth_power()
    if structure.is_coo(self):
        self = structure.coalesced(self)
    return structure.with_values(self, structure.values(self).pow(exponent))


def float_power(self: Any, exponent: Any) -> Tensor:
    """Entries to the power of a number that is not zero, in float64 or complex128.

    Raises: as `pow`.
    """
    if isinstance(exponent, Tensor) or exponent == 0:
        return pow(self, exponent)  # which says what is wrong
    if structure.is_coo(self):
        self = structure.coalesced(self)
    return structure.with_values(self, structure.values(self).float_power(exponent))
