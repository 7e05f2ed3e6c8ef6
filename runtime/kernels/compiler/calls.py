"""Calls: of functions of the text, which are walked in place, of types, and of Numba's own."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Sequence
from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler import (
    arrays,
    convention,
    expressions,
    flow,
    functions,
    kinds,
    memory,
    numba_rules,
    numpy_names,
    scalars,
    stand_ins,
)
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
    numbers_of,
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
    if isinstance(function.value, stand_ins.Function):
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
            memory.release(body, scope)
        else:
            memory.hand_over(scope, outer)
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
    known = function.__globals__[stand_ins.DEFINITIONS]
    definition: ast.FunctionDef | None = known.get((code.co_name, code.co_firstlineno))
    if definition is None:
        raise Unsupported(f"{code.co_name} has no text")
    return definition


# Types, and what belongs to a value.


def _function(body: Body, function: Any, given: Sequence[Value], named: dict[str, Value]) -> Value:
    if isinstance(function, kinds.ExternalFunction):
        return _external(body, function, given)
    if isinstance(function, stand_ins.Intrinsic):
        return _intrinsic(body, function, given)
    special = _SPECIAL.get(function) if callable(function) else None
    if special is not None:
        return special(body, given, named)
    kind = numpy_names.kind_of(function)
    if kind is not None:
        return converted(body, kind, given)
    if given and all(isinstance(each, Static) for each in given):
        return expressions.known(function(*[x.value for x in given if isinstance(x, Static)]))
    if named:
        raise Unsupported(f"a call of {function} with names")
    if all(isinstance(each, Number) for each in given):
        return _of_numbers(body, function, given)
    return numbas(body, function, given)


def _of_numbers(body: Body, function: Any, given: Sequence[Any]) -> Value:
    if function in functions.KNOWN:
        return functions.generic(body.builder, function, given)
    return numbas(body, function, given)


def _intrinsic(body: Body, function: Any, given: Sequence[Value]) -> Value:
    """Call what a text has written in LLVM's language: `dense`, or what makes its own code."""
    if function.name == "dense":
        return arrays.dense(body, *given)
    taken = [_as_taken(body, each) for each in given]
    signature, emit = function.made(None, *[kind for kind, _ in taken])
    registers = [
        scalars.cast(body.builder, each, kind).ir if isinstance(each, Number) else register
        for each, kind, (_, register) in zip(given, signature.args, taken, strict=True)
    ]
    made = emit(stand_ins.CONTEXT, body.builder, signature, registers)
    return value_of(body, signature.return_type, made)


def _as_taken(body: Body, value: Value) -> tuple[Kind, Any]:
    """The type and the register of an argument."""
    if isinstance(value, Number):
        return value.kind, value.ir
    if isinstance(value, Array):
        return value.kind, arrays.as_structure(body, value)
    raise Unsupported(f"an argument {value}")


def _external(body: Body, function: Any, given: Sequence[Value]) -> Value:
    """Call a function of a library by its name."""
    wanted = function.sig.args
    if len(wanted) != len(given) or not all(isinstance(each, Number) for each in given):
        raise Unsupported(f"a call of {function}")
    registers = [
        convention.to_memory(body.builder, kind, scalars.cast(body.builder, each, kind).ir)
        for each, kind in zip(given, wanted, strict=True)
        if isinstance(each, Number)
    ]
    result = function.sig.return_type
    returned = ir.VoidType() if result is kinds.none else result.memory
    taken = [each.memory for each in wanted]
    callee = memory.runtime_function(body, function.symbol, returned, taken)
    made = body.builder.call(callee, registers)
    return value_of(body, result, convention.from_memory(body.builder, result, made))


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
    return numbas(body, numba_rules.method_of(owner.kind, name), given, owner)


def _reinterpreted(body: Body, owner: Number, kind: Kind) -> Number:
    size = {id(each): getattr(each, "bitwidth", 0) for each in (owner.kind, kind)}
    if len(set(size.values())) != 1 or not size[id(kind)]:
        raise Unsupported(f"{owner.kind} seen as {kind}")
    return Number(kind, body.builder.bitcast(owner.ir, kind.register))


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


def _divided(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    left, right = numbers_of(given, "divmod")
    return Tuple(scalars.divided(body.builder, left, right))


def _empty(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    return memory.allocated(body, *_shape_and_dtype(body, given, named), zero=False)


def _zeros(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    return memory.allocated(body, *_shape_and_dtype(body, given, named), zero=True)


def _full(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    if len(given) < 2 or not isinstance(given[1], Number):
        raise Unsupported("an allocation")
    rest = given[2:] or (Static(given[1].kind),)
    made = memory.allocated(body, *_shape_and_dtype(body, [given[0], *rest], named), zero=False)
    arrays.fill(body, made, given[1])
    return made


def _ones(body: Body, given: Sequence[Value], named: dict[str, Value]) -> Value:
    made = memory.allocated(body, *_shape_and_dtype(body, given, named), zero=False)
    arrays.fill(body, made, scalars.literal(1))
    return made


def _shape_and_dtype(
    body: Body, given: Sequence[Value], named: dict[str, Value]
) -> tuple[list[Any], Kind]:
    if set(named) - {"dtype"} or not 1 <= len(given) + len(named) <= 2:
        raise Unsupported("an allocation")
    chosen = named.get("dtype", given[1] if len(given) > 1 else Static(kinds.float64))
    return arrays.sizes(body, given[0]), expressions.dtype_of(chosen)


_SPECIAL: dict[Any, Callable[[Body, Sequence[Value], dict[str, Value]], Value]] = {
    len: _length,
    type: _type,
    min: _least,
    max: _greatest,
    numpy_names.FUNCTIONS["empty"]: _empty,
    numpy_names.FUNCTIONS["zeros"]: _zeros,
    numpy_names.FUNCTIONS["ones"]: _ones,
    numpy_names.FUNCTIONS["full"]: _full,
    divmod: _divided,
}


# Numba's functions.


def numbas(body: Body, function: Any, given: Sequence[Value], owner: Any = None) -> Value:
    """Call what Numba has for a function of any values."""
    arguments = [numbas_value(body, each) for each in given]
    belongs_to = None if owner is None else numbas_value(body, owner)[1]
    kind, register = numba_rules.call(body.builder, function, arguments, belongs_to)
    return value_of(body, numba_rules.from_numba(kind), register)


def numbas_value(body: Body, value: Value) -> tuple[Any, Any]:
    """A value as Numba's functions take it, and Numba's type of it."""
    if isinstance(value, Number):
        return numba_rules.to_numba(value.kind), value.ir
    if isinstance(value, Array):
        return numba_rules.to_numba(value.kind), arrays.as_structure(body, value)
    if isinstance(value, Tuple):
        items = [numbas_value(body, each) for each in value.items]
        kind = numba_rules.to_numba(value.kind)
        return kind, numba_rules.tuple_of(body.builder, kind, [each for _, each in items])
    raise Unsupported(f"an argument {value}")


def value_of(body: Body, kind: Kind, register: Any) -> Value:
    """What a function has returned."""
    if kinds.is_number(kind):
        return Number(kind, register)
    if isinstance(kind, tuple):
        registers = [body.builder.extract_value(register, at) for at in range(len(kind))]
        return Tuple([value_of(body, *each) for each in zip(kind, registers, strict=True)])
    if isinstance(kind, kinds.Array):
        array, memory = arrays.from_structure(body, kind, register)
        memory.own(body, memory, "NRT_decref")
        return array
    return Static(None)
