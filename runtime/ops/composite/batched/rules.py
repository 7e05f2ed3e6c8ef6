"""The rule of every operator inside `vmap`: by its kind, by what its entry says, or by a loop."""

from __future__ import annotations

import importlib
from collections.abc import Callable
from functools import partial
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import promotion
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch import signature as signatures
from torchgen_out._runtime.dispatch.operator import (
    INPLACE,
    OUT,
    CallTable,
    Operator,
    Pointwise,
    Reduction,
    View,
)
from torchgen_out._runtime.ops.composite.batched import drawing, shaping, views
from torchgen_out._runtime.ops.composite.batched.given import Given, Rule
from torchgen_out._runtime.ops.composite.batched.loop import one_by_one

Call = Callable[..., Any]

_COMPOSITES = "torchgen_out._runtime.ops.composite"


def make_call(table: CallTable) -> Call:
    """The call of an operator, for operands of which some are samples.

    Raises: RuntimeError for out=, and for a write of samples into what has none.
    """
    operator = table.operator
    if table.variant == OUT:
        raise errors.out_inside_map(operator.base_name)
    composite = _named(operator)
    if composite is not None and table.variant != INPLACE:
        return composite
    rule = one_by_one if composite else rule_of(operator)

    def batched_call(*args: Any) -> Any:
        given = Given(table, args)
        if given.writes and not given.held[0]:
            raise errors.write_of_samples(given.name)
        return given.result(rule(given))

    return batched_call


def _named(operator: Operator) -> Call | None:
    """The composite over samples that the entry names."""
    module, _, name = operator.vmap.rpartition(".")
    if not module:
        return None
    found: Call = getattr(importlib.import_module(f"{_COMPOSITES}.{module}"), name)
    return found


def rule_of(operator: Operator) -> Rule:
    """What makes one call on all samples of several."""
    if operator.vmap == "drawn" or "generator" in operator.arguments.values():
        at_once = aligned if operator.vmap == "drawn" else one_by_one
        return partial(drawing.by_randomness, rule=at_once, each=one_by_one)
    if operator.vmap:
        return _STRUCTURAL[operator.vmap]
    if isinstance(operator, Pointwise):
        return aligned
    if isinstance(operator, Reduction):
        return reduced
    if isinstance(operator, View):
        return views.RULES.get(operator.name, one_by_one)
    return one_by_one


# -- by kind ------------------------------------------------------------------------------------


def aligned(given: Given) -> Any:
    """A formula of elements: operands broadcast to each other behind the dim of samples."""
    ndim = max(given.ndim(place) for place, _, _ in given.tensors())
    if given.writes and given.ndim(0) < ndim:
        raise errors.inplace_shape(given.name, given.args[0]._sizes[1:], _shape_of(given))
    args = _one_dtype(given)
    for place, tensor, held in given.tensors():
        missing = ndim - given.ndim(place)
        if held and missing:
            sizes = tensor._sizes
            args[place] = ops.reshape(args[place], [sizes[0], *[1] * missing, *sizes[1:]])
    return given.call(args)


def _shape_of(given: Given) -> Any:
    sizes = [tensor._sizes[held:] for _, tensor, held in given.tensors()]
    return shapes.broadcast_shapes(*sizes)


def _one_dtype(given: Given) -> list[Any]:
    """The operands in the dtype that samples have together: one without dims gives way to others.

    All samples of it have a dim, and would not.
    """
    args, operator = list(given.args), given.operator
    if given.writes or not isinstance(operator, Pointwise):
        return args
    places = [list(operator.arguments).index(name) for name in operator.promoted]
    places = [place for place in places if place < len(args) and args[place] is not None]
    own = {args[place].dtype for place in places if isinstance(args[place], Tensor)}
    if len(own) < 2:
        return args
    seen = [signatures.kind_of(given.original[place]) for place in places]
    common = promotion.result_type(signatures.promotion_entries(seen))
    for place in places:
        if isinstance(args[place], Tensor):
            args[place] = args[place].to(common)
    return args


def reduced(given: Given) -> Any:
    """A fold over dims, by default over all but that of samples."""
    args, ndim = list(given.args), given.ndim(0)
    if not ndim:
        args[0] = ops.unsqueeze(args[0], 1)
    if "dim" not in given.names:
        return one_by_one(given)
    at = given.names.index("dim")
    every = list(range(1, max(ndim, 1) + 1))
    if args[at] is None or (not isinstance(args[at], int) and not len(args[at])):
        if "int?" in given.operator.schema.partition("dim")[0]:
            args[0], every = ops.reshape(args[0], [given.size, -1]), [1]
        args[at] = every
    else:
        args[at] = shifted(args[at], max(ndim, 1))
    if not ndim:
        args[given.names.index("keepdim")] = False
    return given.call(args)


# -- by what the entry says ---------------------------------------------------------------------


def along(given: Given) -> Any:
    """Dims are counted behind that of samples; operands have as many dims as each other."""
    args = _counted(given)
    if args is None:
        flat = _flattened(given)
        return one_by_one(given) if flat is None else given.call(flat)
    for place, _, _ in given.tensors():
        args[place] = given.expanded(place)
    return given.call(args)


def rows(given: Given) -> Any:
    """The same, but for an index, which has to be the same for all samples."""
    index = given.names.index("index")
    args = _counted(given)
    numbers = [place for place, _, held in given.tensors() if held and not given.ndim(place)]
    if args is None or given.held[index] or numbers:
        return one_by_one(given)
    for place, _, _ in given.tensors():
        if place != index and given.ndim(place):
            args[place] = given.expanded(place)
    return given.call(args)


def folded(given: Given) -> Any:
    """What the first dim counts is computed alike: that of samples goes in front of it."""
    places = [place for place, _, _ in given.tensors()]
    lists = any(isinstance(held, list) and any(held) for held in given.held)
    if lists or min(map(given.ndim, places)) < 2:
        return one_by_one(given)
    args = list(given.args)
    for place in places:
        args[place] = ops.flatten(given.expanded(place), 0, 1)
    made = given.call(args)
    if isinstance(made, Tensor):
        return _unfolded(made, given.size)
    return tuple([_unfolded(each, given.size) for each in made])


def _unfolded(made: Tensor, size: int) -> Tensor:
    return ops.reshape(made, [size, made._sizes[0] // max(size, 1), *made._sizes[1:]])


def leading(given: Given) -> Any:
    """Leading dims of operands are a batch in any case; they have equally many."""
    if len({given.ndim(place) for place, _, _ in given.tensors()}) > 1:
        return one_by_one(given)
    args = list(given.args)
    for place, _, _ in given.tensors():
        args[place] = given.expanded(place)
    return given.call(args)


def joined(given: Given) -> Any:
    """A list of tensors is joined along a dim, which may be a new one."""
    tensors, dim = given.args[0], given.args[1]
    pairs = list(zip(tensors, given.held[0], strict=True))
    ndims = [len(each._sizes) - held for each, held in pairs]
    whole = [each if held else ops.expand(each, [given.size, *each._sizes]) for each, held in pairs]
    if given.operator.base_name == "stack":
        ndims = [ndim + 1 for ndim in ndims]
    return given.call([whole, shifted(dim, max(ndims))])


_STRUCTURAL: dict[str, Rule] = {
    "elements": aligned,
    "leading": leading,
    "along": along,
    "rows": rows,
    "folded": folded,
    "joined": joined,
    "written": shaping.written,
}
"""By the words of `vmap` in native_functions.yaml."""

_DIMS = frozenset({"dim", "dims"})


def _counted(given: Given) -> list[Any] | None:
    """The arguments with dims of all samples; None if the elements have no dims, or no order."""
    args, ndim = list(given.args), given.ndim(0)
    for place, name in enumerate(given.names[: len(args)]):
        if name not in _DIMS:
            continue
        dim = args[place]
        is_list = f"]? {name}" in given.operator.schema
        if not ndim or (dim is None and not is_list) or (isinstance(dim, list | tuple) and not dim):
            return None
        args[place] = shifted(dim, ndim)
    return args


def _flattened(given: Given) -> list[Any] | None:
    """The arguments for one dim of all elements, where `dim=None` asks for it, as in `argmax`."""
    if "dim" not in given.names or given.argument("dim") is not None:
        return None
    if len(list(given.tensors())) > 1 or ("keepdim" in given.names and given.argument("keepdim")):
        return None
    args = list(given.args)
    args[0] = ops.reshape(args[0], [given.size, args[0].numel() // max(given.size, 1)])
    args[given.names.index("dim")] = 1
    return args


def shifted(dim: Any, ndim: int) -> Any:
    """Dims of a sample as dims of all samples.

    Raises: IndexError for those that a sample has not.
    """
    if dim is None:
        return list(range(1, ndim + 1))
    if isinstance(dim, (list, tuple)):
        return [shapes.normalize_dim(each, ndim) + 1 for each in dim]
    return shapes.normalize_dim(dim, ndim) + 1
