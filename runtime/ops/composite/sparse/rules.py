"""What kinds of operators do for sparse tensors where their entries say nothing; in place; out=.

A pointwise operator works on values if its formula vanishes with the sparse operands: the
generator has proven that, and in which operands it is linear (`vanishes_with`, `linear_in`).
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import graph
from torchgen_out._runtime.autograd.sparse import entries, structure
from torchgen_out._runtime.bindings import arguments as bindings
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import promotion, sparse
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.sparse import Pattern
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch.operator import INPLACE, OUT, CallTable, Operator, Pointwise
from torchgen_out._runtime.ops.composite.sparse import compressed, conversion

Call = Callable[..., Any]


def of_kind(operator: Operator, layout: Any, signature: tuple[Any, ...]) -> Call | None:
    """The rule of an operator's kind, if there is one."""
    if isinstance(operator, Pointwise):
        return _pointwise(operator, signature)
    return None


# -- formulas -----------------------------------------------------------------------------------


def _pointwise(operator: Pointwise, signature: tuple[Any, ...]) -> Call | None:
    named = dict(zip(operator.operands, signature, strict=True))
    held = [name for name, entry in named.items() if _is_sparse(entry)]
    others = [name for name, entry in named.items() if entry is not None and name not in held]
    place = list(operator.arguments).index
    vanishes = [set(each) for each in operator.vanishes_with]
    if len(held) == 1 and {held[0]} in vanishes:
        is_linear = held[0] in operator.linear_in
        others = [name for name in others if named[name].__class__ is int]
        return partial(_of_one, operator, place(held[0]), [*map(place, others)], is_linear)
    if len(held) == 2 and not others:
        numbers = [name for name in held if named[name] & keys.ZERO_DIM]
        if len(numbers) == 1:
            return partial(_with_number, operator, place(numbers[0]))
        places = [place(name) for name in held]
        if {held[0]} in vanishes or {held[1]} in vanishes:
            return partial(_where_both, operator, places)
        if set(held) in vanishes:
            return partial(_where_either, operator, places)
    return None


def _is_sparse(entry: Any) -> bool:
    return entry.__class__ is int and bool(entry & sparse.LAYOUTS)


def _compute(operator: Pointwise, args: list[Any]) -> Tensor:
    """The operator on dense operands."""
    operands = tuple([args[place] for place in operator.operand_places])
    result: Tensor = operator.calls[operator.signature(operands)](*args)
    return result


def _of_one(
    operator: Pointwise, place: int, others: list[int], is_linear: bool, *args: Any
) -> Tensor:
    """The values of the sparse operand, with numbers and with what dense ones have there."""
    tensor, given = args[place], list(args)
    for other in others:
        tensor = _grown(tensor, args[other])
    if structure.is_coo(tensor) and not is_linear:
        tensor = structure.coalesced(tensor)
    for other in others:
        given[other] = _beside(operator, args[other], tensor)
    given[place] = structure.values(tensor)
    return structure.with_values(tensor, _compute(operator, given))


def _beside(operator: Operator, dense: Tensor, tensor: Tensor) -> Tensor:
    """The elements of a dense operand where a sparse one has entries, if it broadcasts to it."""
    if not dense._sizes:
        return dense
    if dense._sizes != tensor._sizes:
        try:
            dense = dense.expand(tensor._sizes)
        except RuntimeError:
            raise errors.different_shapes(operator.base_name, tensor._sizes, dense._sizes) from None
    return structure.values_at(dense, tensor._sizes, structure.pattern_of(tensor))


def _grown(tensor: Tensor, dense: Tensor) -> Tensor:
    """A sparse operand, repeated where a dense one has more dims or greater ones."""
    sizes, others = tensor._sizes, dense._sizes
    if sizes == others or not others:
        return tensor
    try:
        wanted = shapes.broadcast_shapes(sizes, others)
    except RuntimeError:
        return tensor  # `_beside` says what is wrong
    return tensor if wanted == tuple(sizes) else ops.expand(tensor, wanted)


def _with_number(operator: Pointwise, place: int, *args: Any) -> Tensor:
    """The operator where one of two sparse operands has no dims."""
    given = list(args)
    given[place] = conversion.to_dense(given[place])
    function = operator.calls[
        operator.signature(tuple([given[i] for i in operator.operand_places]))
    ]
    made: Tensor = function(*given)
    return made


def _pair(operator: Operator, places: list[int], args: tuple[Any, ...]) -> list[Tensor]:
    """Both operands, of one shape, with entries in order."""
    first, second = [args[place] for place in places]
    if first._sizes != second._sizes:
        raise errors.different_shapes(operator.base_name, first._sizes, second._sizes)
    is_same = structure.pattern_of(first) is structure.pattern_of(second)
    if is_same and structure.is_compressed(first):
        return [first, second]
    if structure.is_compressed(first) or structure.is_compressed(second):
        return [structure.coalesced(structure.as_coo(each)) for each in (first, second)]
    found = [structure.coalesced(each) for each in (first, second)]
    dims = [entries.sparse_dims(structure.coo_pattern(each)) for each in found]
    if dims[0] != dims[1]:
        raise errors.no_rule_for_layout(
            operator.base_name, first.layout, f"{dims[0]} and {dims[1]} sparse dims"
        )
    return found


def _where_both(operator: Pointwise, places: list[int], *args: Any) -> Tensor:
    """The formula where both operands have an entry; elsewhere it is zero."""
    first, second = _pair(operator, places, args)
    given = list(args)
    if structure.pattern_of(second) is structure.pattern_of(first):
        return compressed.like(_on_values(operator, places, given, first, second), args[places[0]])
    pattern = structure.coo_pattern(first)
    if not entries.count_of(structure.coo_pattern(second)):
        return compressed.like(_on_values(operator, places, given, second, second), args[places[0]])
    at, found = entries.lookup(structure.coo_pattern(second), pattern, first._sizes)
    kept = found.nonzero().select(1, 0)
    given[places[0]] = structure.values(first).index_select(0, kept)
    given[places[1]] = structure.values(second).index_select(0, at.index_select(0, kept))
    both = Pattern(pattern.indices.index_select(1, kept), True)
    made = structure.with_pattern(first._sizes, both, _compute(operator, given))
    return compressed.like(made, args[places[0]])


def _where_either(operator: Pointwise, places: list[int], *args: Any) -> Tensor:
    """The formula where one of the operands has an entry: the other may be zero there."""
    first, second = _pair(operator, places, args)
    given = list(args)
    if structure.pattern_of(first) is structure.pattern_of(second):
        return compressed.like(_on_values(operator, places, given, first, second), args[places[0]])
    patterns = [structure.coo_pattern(each) for each in (first, second)]
    listed = ops.cat([each.indices for each in patterns], 1)
    either = entries.merge(Pattern(listed, False), first._sizes).pattern
    for place, each in zip(places, (first, second), strict=True):
        given[place] = structure.values_at(each, each._sizes, either)
    made = structure.with_pattern(first._sizes, either, _compute(operator, given))
    return compressed.like(made, args[places[0]])


def _on_values(
    operator: Pointwise, places: list[int], given: list[Any], first: Tensor, second: Tensor
) -> Tensor:
    given[places[0]], given[places[1]] = structure.values(first), structure.values(second)
    return structure.with_values(first, _compute(operator, given))


# -- in place, out= -----------------------------------------------------------------------------


def variant_of(table: CallTable, function: Call) -> Call:
    """The call of a variant, made of a function that returns a new tensor."""
    operator = table.operator
    if table.variant == OUT:
        return partial(_into_out, operator, function)
    mutates = getattr(operator, "mutates", False)
    if table.variant != INPLACE and not mutates:
        return function
    own = None if mutates else _own_variant(function)
    return partial(_in_place, operator, own or function)


def _own_variant(function: Call) -> Call | None:
    """A function `name_` beside `name`, which may write to a dense self by itself."""
    name = f"{getattr(function, '__name__', '')}_"
    return getattr(function, "__globals__", {}).get(name)


def _in_place(operator: Operator, function: Call, *args: Any) -> Tensor:
    self = args[0]
    if sparse.is_sparse(self):
        graph.check_inplace(self)
    result: Tensor = function(*args)
    if not sparse.is_sparse(self) and sparse.is_sparse(result):
        result = conversion.to_dense(result)
    return self if result is self else hold(operator.base_name + "_", self, result)


def hold(name: str, self: Tensor, result: Tensor) -> Tensor:
    """Let a tensor be what a call has computed: its entries if it is sparse, else its elements.

    Raises: RuntimeError for a result of another layout, shape, or kind of dtype.
    """
    if not sparse.is_sparse(self):
        return ops.copy_(self, result)
    if self.layout is not result.layout:
        raise errors.not_this_layout(name, f"a result of {self.layout}", result.layout)
    if self._sizes != result._sizes:
        raise errors.inplace_shape(name, self._sizes, result._sizes)
    if self.dtype is not result.dtype:
        promotion.check_out(result.dtype, self.dtype, "cast")
        result = result.to(self.dtype)
    sparse.storage_of(self).take(sparse.storage_of(result))
    if result._key & keys.GRAD and graph.gradient_edge(result) is not None:
        self._edge = result._edge
        self._key |= keys.GRAD
    return self


def _into_out(operator: Operator, function: Call, out: Any, *args: Any) -> Tensor:
    if not isinstance(out, Tensor):
        raise errors.out_expected(operator.base_name, out, "Tensor")
    result: Tensor = function(*args)
    if not sparse.is_sparse(out) and not sparse.is_sparse(result):
        stored: Tensor = bindings.store_out(operator.base_name, out, result, operator.out_rule)
        return stored
    if out._sizes != result._sizes:
        out._sizes, out._strides = result._sizes, result._strides
    return hold(operator.base_name, out, result)
