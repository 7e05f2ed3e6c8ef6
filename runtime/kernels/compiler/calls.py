"""Calls: of functions of the text, which are walked in place, of types, and of Numba's own."""

from __future__ import annotations

import ast
import linecache
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

import numpy as np
from llvmlite import ir
from numba.core import cgutils, errors, funcdesc, types

from torchgen_out._runtime.kernels.compiler import arrays, expressions, flow, scalars
from torchgen_out._runtime.kernels.compiler.body import Body, Scope
from torchgen_out._runtime.kernels.compiler.values import (
    Array,
    Kind,
    Method,
    Number,
    Static,
    Tuple,
    Unsupported,
    Value,
)

RESULT = "<result>"
"""The variable that holds what a function returns."""


def call(body: Body, node: ast.Call) -> Value:
    """Compile a call."""
    function = expressions.value(body, node.func)
    given: list[Value] = []
    for each in node.args:
        if isinstance(each, ast.Starred):
            given += expressions.items_of(body, expressions.value(body, each.value))
        else:
            given.append(expressions.value(body, each))
    named = {str(each.arg): expressions.value(body, each.value) for each in node.keywords}
    if isinstance(function, Method):
        return _method(body, function, given, named)
    if not isinstance(function, Static):
        raise Unsupported(f"a call: {ast.unparse(node)}")
    if hasattr(function.value, "py_func"):
        return inlined(body, function.value, given, named, id(node))
    return _function(body, function.value, given, named)


# Functions of the text.


def inlined(
    body: Body, dispatcher: Any, given: Sequence[Value], named: dict[str, Value], place: Any
) -> Value:
    """Walk a function of the text with these arguments, and go on behind it."""
    function = dispatcher.py_func
    definition = definition_of(function)
    outer, path = body.scope, body.path
    scope = Scope(function.__globals__, _bound(function, definition, given, named), outer)
    body.scope, body.path = scope, (*path, place)
    with body.reassociating(flags_of(dispatcher)):
        made = finished(body, definition)
        if isinstance(made, (Number, Static)):
            release(body, scope)
        else:
            hand_over(scope, outer)
    body.scope, body.path = outer, path
    return made


def finished(body: Body, definition: ast.FunctionDef) -> Value:
    """Walk all of a function; what it returns."""
    flow.run(body, definition.body)
    if body.scope.env is not None:
        body.scope.env = {RESULT: Static(None)}
        body.scope.returns += body.edge()
    edges = body.scope.returns
    if not edges:
        raise Unsupported("a function that never returns")
    if all(_is_none(env[RESULT]) for _, env in edges):
        for _, env in edges:
            env[RESULT] = _NONE
    body.join(edges)
    made = body[RESULT]
    if made is None:
        raise Unsupported("a function that returns things of two kinds")
    return made


_NONE = Static(None)


def _is_none(value: Value) -> bool:
    return isinstance(value, Static) and value.value is None


def _bound(
    function: Any, definition: ast.FunctionDef, given: Sequence[Value], named: dict[str, Value]
) -> dict[str, Value]:
    arguments = definition.args
    if arguments.vararg or arguments.kwarg or arguments.kwonlyargs:
        raise Unsupported("a function with arguments of any number")
    names = [each.arg for each in (*arguments.posonlyargs, *arguments.args)]
    env = dict(zip(names, given, strict=False))
    env.update(named)
    defaults = function.__defaults__ or ()
    for name, default in zip(names[len(names) - len(defaults) :], defaults, strict=True):
        env.setdefault(name, expressions.known(default))
    if set(env) != set(names) or len(given) > len(names):
        raise Unsupported(f"the arguments of {definition.name}")
    return env


def flags_of(dispatcher: Any) -> tuple[str, ...]:
    """What the optimiser may assume of the floats of a function."""
    chosen = dispatcher.targetoptions.get("fastmath")
    if not chosen:
        return ()
    return ("fast",) if chosen is True else tuple(sorted(chosen))


def definition_of(function: Any) -> ast.FunctionDef:
    """The syntax tree of a function of a text."""
    code = function.__code__
    found = _definitions(code.co_filename, "".join(linecache.getlines(code.co_filename)))
    definition = found.get((code.co_name, code.co_firstlineno))
    if definition is None:
        raise Unsupported(f"{code.co_name} has no text")
    return definition


@lru_cache(4)
def _definitions(place: str, text: str) -> dict[tuple[str, int], ast.FunctionDef]:
    tree = ast.parse(text)
    return {
        (each.name, each.decorator_list[0].lineno if each.decorator_list else each.lineno): each
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
    }


def own(body: Body, memory: Any) -> None:
    """Release memory that a function has allocated, when it ends."""
    if body.scope.loops:
        raise Unsupported("an allocation in a loop")
    slot = body.slot(cgutils.voidptr_t)
    body.builder.store(memory, slot)
    body.scope.owned.append(slot)


def hand_over(scope: Scope, outer: Scope) -> None:
    """Let the caller release what a function has allocated, as it may have returned it."""
    if scope.owned and outer.loops:
        raise Unsupported("an allocation in a loop")
    outer.owned += scope.owned


def release_all(body: Body) -> None:
    """Release what any function has allocated that the walk is in: an error leaves them all."""
    scope: Scope | None = body.scope
    while scope is not None:
        release(body, scope)
        scope = scope.outer


def release(body: Body, scope: Scope) -> None:
    """Release what a function has allocated."""
    for slot in scope.owned:
        kind = ir.FunctionType(ir.VoidType(), [cgutils.voidptr_t])
        decrease = cgutils.get_or_insert_function(body.builder.module, kind, "NRT_decref")
        body.builder.call(decrease, [body.builder.load(slot)])
        body.builder.store(ir.Constant(cgutils.voidptr_t, None), slot)


# Types, and what belongs to a value.


def _function(body: Body, function: Any, given: Sequence[Value], named: dict[str, Value]) -> Value:
    if isinstance(function, types.ExternalFunction):
        return _external(body, function, given)
    special = _SPECIAL.get(function) if callable(function) else None
    if special is not None:
        return special(body, given, named)
    if isinstance(function, types.Type) or (
        isinstance(function, type) and issubclass(function, np.generic)
    ):
        return converted(body, expressions.dtype_of(Static(function)), given)
    if given and all(isinstance(each, Static) for each in given):
        return expressions.known(function(*[each.value for each in given]))
    if getattr(function, "__name__", "") == "dense" and not named:
        return arrays.dense(body, *given)
    if named:
        raise Unsupported(f"a call of {function} with names")
    if all(isinstance(each, Number) for each in given):
        return _of_numbers(body, function, given)
    return numbas(body, function, given)


def _of_numbers(body: Body, function: Any, given: Sequence[Any]) -> Value:
    name = INTRINSICS.get(function)
    if name is not None and len(given) == 1 and given[0].kind in scalars.FLOATS:
        register = given[0].ir
        declared = body.builder.module.declare_intrinsic(name, [register.type])
        return Number(given[0].kind, body.builder.call(declared, [register]))
    signature, _ = scalars.resolved(function, tuple([each.kind for each in given]))
    if not isinstance(signature.return_type, (types.Number, types.Boolean)):
        return numbas(body, function, given)
    return scalars.generic(body.builder, function, given)


def _external(body: Body, function: Any, given: Sequence[Value]) -> Value:
    """Call a function of a library by its name."""
    wanted = function.sig.args
    if len(wanted) != len(given) or not all(isinstance(each, Number) for each in given):
        raise Unsupported(f"a call of {function}")
    registers = [body.converted(*each).ir for each in zip(given, wanted, strict=True)]
    described = funcdesc.ExternalFunctionDescriptor(
        function.symbol, function.sig.return_type, wanted
    )
    context = scalars.context
    callee = context.declare_external_function(body.builder.module, described)
    made = context.call_external_function(body.builder, callee, wanted, registers)
    return value_of_numba(body, function.sig.return_type, made)


def converted(body: Body, kind: Kind, given: Sequence[Value]) -> Number:
    """kind(x)."""
    if len(given) != 1 or not isinstance(given[0], Number):
        raise Unsupported(f"a conversion to {kind}")
    return scalars.cast(body.builder, given[0], kind)


def _method(body: Body, method: Method, given: Sequence[Value], named: dict[str, Value]) -> Value:
    owner, name = method.owner, method.name
    if name == "view" and len(given) == 1 and not named:
        kind = expressions.dtype_of(given[0])
        if isinstance(owner, Number):
            return _reinterpreted(body, owner, kind)
        if isinstance(owner, Array):
            return arrays.viewed(body, owner, kind)
    if name == "reshape" and isinstance(owner, Array) and not named:
        return arrays.reshaped(body, owner, given)
    if named or not isinstance(owner, (Array, Number)):
        raise Unsupported(f"the method {name}")
    own_kind = scalars.typing.resolve_getattr(owner.kind, name)
    if own_kind is None:
        raise Unsupported(f"the method {name}")
    return numbas(body, own_kind, given, owner)


def _reinterpreted(body: Body, owner: Number, kind: Kind) -> Number:
    size = {id(each): getattr(each, "bitwidth", 0) for each in (owner.kind, kind)}
    if len(set(size.values())) != 1 or not size[id(kind)]:
        raise Unsupported(f"{owner.kind} seen as {kind}")
    wanted = scalars.context.get_value_type(kind)
    return Number(kind, body.builder.bitcast(owner.ir, wanted))


def _length(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    if isinstance(given[0], Tuple):
        return scalars.literal(len(given[0].items))
    if isinstance(given[0], Array):
        return arrays.size(given[0].shape[0])
    raise Unsupported("a length")


def _type(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    if len(given) == 1 and isinstance(given[0], Number):
        return Static(given[0].kind)
    raise Unsupported("type")


def _least(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    return _extreme(body, given, operator.lt)


def _greatest(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    return _extreme(body, given, operator.gt)


def _extreme(body: Body, given: Sequence[Value], wins: Any) -> Value:
    """The argument that wins over those before it."""
    if len(given) == 1 and isinstance(given[0], Tuple):
        given = given[0].items
    best, *others = given
    for each in others:
        if not isinstance(best, Number) or not isinstance(each, Number):
            raise Unsupported("an extreme of other things than numbers")
        kind = scalars.unified(best.kind, each.kind)
        best, other = (scalars.cast(body.builder, x, kind) for x in (best, each))
        won = scalars.binary(body.builder, wins, other, best)
        if won.literal is not None:
            best = other if won.literal else best
            continue
        is_natural = best.is_natural and other.is_natural
        best = Number(kind, body.builder.select(won.ir, other.ir, best.ir), None, is_natural)
    return best


def _empty(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    return arrays.allocated(body, *_shape_and_dtype(body, given, named), zero=False)


def _zeros(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    return arrays.allocated(body, *_shape_and_dtype(body, given, named), zero=True)


def _full(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    if len(given) < 2 or not isinstance(given[1], Number):
        raise Unsupported("an allocation")
    rest = given[2:] or (Static(given[1].kind),)
    made = arrays.allocated(body, *_shape_and_dtype(body, [given[0], *rest], named), zero=False)
    arrays.fill(body, made, given[1])
    return made


def _ones(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    made = arrays.allocated(body, *_shape_and_dtype(body, given, named), zero=False)
    arrays.fill(body, made, scalars.literal(1))
    return made


def _shape_and_dtype(
    body: Body, given: Sequence[Value], named: dict[str, Value]
) -> tuple[list[Any], Kind]:
    if set(named) - {"dtype"} or not 1 <= len(given) + len(named) <= 2:
        raise Unsupported("an allocation")
    chosen = named.get("dtype", given[1] if len(given) > 1 else Static(np.float64))
    return arrays.sizes(body, given[0]), expressions.dtype_of(chosen)


_SPECIAL: dict[Any, Callable[[Body, Sequence[Value], dict[str, Value]], Value]] = {
    len: _length,
    type: _type,
    min: _least,
    max: _greatest,
    np.empty: _empty,
    np.zeros: _zeros,
    np.ones: _ones,
    np.full: _full,
}

INTRINSICS: dict[Any, str] = {
    np.sqrt: "llvm.sqrt",
    np.rint: "llvm.rint",
    np.trunc: "llvm.trunc",
}
"""What Numba makes of these for floats, too."""


# Numba's functions.


def numbas(body: Body, function: Any, given: Sequence[Value], owner: Any = None) -> Value:
    """Call what Numba has for a function of any values."""
    arguments = [numbas_value(body, each) for each in given]
    signature, implementation = scalars.resolved(function, tuple([kind for kind, _ in arguments]))
    if len(arguments) != len(signature.args):
        raise Unsupported(f"arguments of {function} that are left out")
    registers = []
    for (kind, register), wanted in zip(arguments, signature.args, strict=True):
        registers.append(scalars.context.cast(body.builder, register, kind, wanted))
    if owner is not None:
        registers.insert(0, numbas_value(body, owner)[1])
    made = implementation(body.builder, registers)
    return value_of_numba(body, signature.return_type, made)


def numbas_attribute(body: Body, owner: Number, name: str) -> Value:
    """An attribute of a number."""
    try:
        kind = scalars.typing.resolve_getattr(owner.kind, name)
        make = scalars.context.get_getattr(owner.kind, name)
    except (errors.NumbaError, NotImplementedError) as error:
        raise Unsupported(f"{name} of {owner.kind}") from error
    if kind is None or make is None:
        raise Unsupported(f"{name} of {owner.kind}")
    return Number(kind, make(scalars.context, body.builder, owner.kind, owner.ir, name))


def numbas_value(body: Body, value: Value) -> tuple[Kind, Any]:
    """A value as Numba's functions take it."""
    if isinstance(value, Number):
        return value.kind, value.ir
    if isinstance(value, Array):
        return value.kind, arrays.as_structure(body, value)
    if isinstance(value, Tuple):
        items = [numbas_value(body, each) for each in value.items]
        kind = types.Tuple([each for each, _ in items])
        made = scalars.context.make_tuple(body.builder, kind, [each for _, each in items])
        return kind, made
    raise Unsupported(f"an argument {value}")


def value_of_numba(body: Body, kind: Kind, register: Any) -> Value:
    """What one of Numba's functions has returned."""
    if isinstance(kind, (types.Number, types.Boolean)):
        return Number(kind, register)
    if isinstance(kind, types.BaseTuple):
        registers = cgutils.unpack_tuple(body.builder, register, len(kind))
        return Tuple([value_of_numba(body, *each) for each in zip(kind, registers, strict=True)])
    if isinstance(kind, types.Array):
        array, memory = arrays.from_structure(body, kind, register)
        own(body, memory)
        return array
    if kind == types.none:
        return Static(None)
    raise Unsupported(f"a result of type {kind}")
