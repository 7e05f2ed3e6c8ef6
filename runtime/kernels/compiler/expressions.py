"""Expressions: names, constants, arithmetic, comparisons and choices."""

from __future__ import annotations

import ast
import builtins
import operator
from collections.abc import Callable, Sequence
from functools import lru_cache
from typing import Any

from torchgen_out._runtime.kernels.compiler import (
    arrays,
    calls,
    flow,
    functions,
    kinds,
    numpy_names,
    scalars,
)
from torchgen_out._runtime.kernels.compiler.body import Body, Edge
from torchgen_out._runtime.kernels.compiler.convention import WORD
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

CHOSEN = "<chosen>"
"""The variable that holds what a choice gives."""

OPERATORS: dict[type, Any] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
    ast.LShift: operator.lshift,
    ast.RShift: operator.rshift,
    ast.BitAnd: operator.and_,
    ast.BitOr: operator.or_,
    ast.BitXor: operator.xor,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.USub: operator.neg,
    ast.UAdd: operator.pos,
    ast.Invert: operator.invert,
}


def value(body: Body, node: ast.expr) -> Value:
    """Compile an expression."""
    make = _EXPRESSIONS.get(node.__class__)
    if make is None:
        raise Unsupported(f"an expression: {ast.unparse(node)}")
    return make(body, node)


def number(body: Body, node: ast.expr) -> Number:
    """Compile an expression that is a number."""
    made = value(body, node)
    if not isinstance(made, Number):
        raise Unsupported(f"no number: {ast.unparse(node)}")
    return made


def _constant(body: Body, node: ast.Constant) -> Value:
    return (
        Static(node.value)
        if node.value is None or isinstance(node.value, str)
        else (scalars.literal(node.value))
    )


def _name(body: Body, node: ast.Name) -> Value:
    found = body[node.id]
    if found is not None:
        return found
    names = body.scope.names
    if node.id in names:
        return known(names[node.id])
    if hasattr(builtins, node.id):
        return known(getattr(builtins, node.id))
    raise Unsupported(f"the name {node.id}")


def known(thing: Any) -> Value:
    """A value of Python's that a text names."""
    constant = numpy_names.constant_of(thing)
    if constant is not None:
        return scalars.constant(constant.kind, constant.value)
    if isinstance(thing, (bool, int, float, complex)):
        return scalars.literal(thing)
    if type(thing) is tuple:
        return Tuple([known(each) for each in thing])
    return Static(thing)


def dtype_of(thing: Value) -> Kind:
    """The type for a dtype that a text names."""
    named = thing.value if isinstance(thing, Static) else None
    found = numpy_names.kind_of(named)
    if found is not None:
        return found
    raise Unsupported(f"the dtype {named}")


def _attribute(body: Body, node: ast.Attribute) -> Value:
    owner = value(body, node.value)
    name = node.attr
    if isinstance(owner, Static):
        if isinstance(owner.value, kinds.Kind):
            if name == "type":
                return owner
            raise Unsupported(f"{name} of a dtype")
        return known(getattr(owner.value, name))
    if isinstance(owner, Array):
        return arrays.attribute(body, owner, name)
    if isinstance(owner, Method) and owner.name == "ctypes" and name == "data":
        assert isinstance(owner.owner, Array)
        return Number(kinds.uintp, body.builder.ptrtoint(owner.owner.data, WORD))
    if isinstance(owner, Number) and name in ("real", "imag"):
        return scalars.attribute(body.builder, owner, name)
    if isinstance(owner, Number) and name == "dtype":
        return Static(owner.kind)
    return Method(owner, name)


def _tuple(body: Body, node: ast.Tuple) -> Tuple:
    made: list[Value] = []
    for each in node.elts:
        if isinstance(each, ast.Starred):
            made += items_of(body, value(body, each.value))
        else:
            made.append(value(body, each))
    return Tuple(made)


def items_of(body: Body, several: Value) -> tuple[Value, ...]:
    """The elements of a tuple."""
    if not isinstance(several, Tuple):
        raise Unsupported("no tuple to take apart")
    return several.items


# Arithmetic.


def _binary(body: Body, node: ast.BinOp) -> Value:
    if _is_written_out(node):
        return _constant(body, ast.Constant(_computed(node)))
    left, right = value(body, node.left), value(body, node.right)
    return binary(body, node.op, left, right)


def binary(body: Body, sign: ast.operator, left: Value, right: Value) -> Value:
    """left sign right."""
    function = OPERATORS.get(sign.__class__)
    if isinstance(left, Tuple) and isinstance(right, Tuple) and function is operator.add:
        return Tuple(left.items + right.items)
    if function is None or not isinstance(left, Number) or not isinstance(right, Number):
        raise Unsupported("arithmetic of other things than numbers")
    if left.literal is not None and right.literal is not None:
        made = _folded(function, left, right)
        if made is not None:
            return made
    if function is operator.pow and right.literal is not None:
        raise Unsupported("a known power, which Numba computes by multiplications")
    return scalars.binary(body.builder, function, left, right)


def _is_written_out(node: ast.expr) -> bool:
    """Whether an expression is of constants alone."""
    if isinstance(node, ast.BinOp):
        return _is_written_out(node.left) and _is_written_out(node.right)
    return isinstance(node.operand if isinstance(node, ast.UnaryOp) else node, ast.Constant)


@lru_cache(512)
def _computed(node: ast.BinOp) -> Any:
    """What Python's compiler makes of constants."""
    try:
        return eval(compile(ast.Expression(node), "<constants>", "eval"))
    except ArithmeticError as error:
        raise Unsupported(f"the constant {ast.unparse(node)}") from error


def _folded(function: Any, left: Number, right: Number) -> Number | None:
    """What known whole numbers give, if 64 bits hold that."""
    if left.kind is not kinds.int64 or right.kind is not kinds.int64:
        return None
    try:
        made = function(left.literal, right.literal)
    except (ArithmeticError, ValueError):
        return None
    if type(made) is not int or not kinds.int64.minval <= made <= kinds.int64.maxval:
        return None
    return scalars.literal(made)


def _unary(body: Body, node: ast.UnaryOp) -> Value:
    if isinstance(node.op, ast.Not):
        truth = scalars.truth(body.builder, number(body, node.operand))
        if truth.literal is not None:
            return scalars.literal(not truth.literal)
        return Number(kinds.boolean, body.builder.not_(truth.ir))
    operand = number(body, node.operand)
    function = OPERATORS[node.op.__class__]
    if operand.literal is not None and not isinstance(operand.literal, bool):
        if operand.kind in (kinds.int64, kinds.float64):
            return scalars.literal(function(operand.literal))
        if operand.kind is kinds.float32 and function is operator.neg:
            return scalars.constant(operand.kind, -operand.literal)
    return functions.generic(body.builder, function, (operand,))


def _compare(body: Body, node: ast.Compare) -> Value:
    sides = [value(body, each) for each in (node.left, *node.comparators)]
    if isinstance(node.ops[0], ast.In) and len(sides) == 2:
        return _is_among(body, sides[0], items_of(body, sides[1]))
    if isinstance(node.ops[0], (ast.Is, ast.IsNot)):
        same = isinstance(sides[0], Static) and sides[0].value is None
        return scalars.literal(same == isinstance(node.ops[0], ast.Is))
    made: Number | None = None
    for sign, left, right in zip(node.ops, sides[:-1], sides[1:], strict=True):
        if not isinstance(left, Number) or not isinstance(right, Number):
            raise Unsupported(f"a comparison: {ast.unparse(node)}")
        function = OPERATORS.get(sign.__class__)
        if function is None:
            raise Unsupported(f"a comparison: {ast.unparse(node)}")
        each = scalars.binary(body.builder, function, left, right)
        made = each if made is None else scalars.binary(body.builder, operator.and_, made, each)
    assert made is not None
    return made


def _is_among(body: Body, one: Value, others: Sequence[Value]) -> Number:
    made = scalars.literal(False)
    for other in others:
        if not isinstance(one, Number) or not isinstance(other, Number):
            raise Unsupported("a search for something else than a number")
        same = scalars.binary(body.builder, operator.eq, one, other)
        made = scalars.binary(body.builder, operator.or_, made, same)
    return made


# Choices.


def condition(
    body: Body, node: ast.expr, only_booleans: bool = False
) -> tuple[list[Edge], list[Edge]]:
    """Compile a test: the ends at which it holds, and those at which it does not."""
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        holds, fails = condition(body, node.operand)
        return fails, holds
    if isinstance(node, ast.BoolOp):
        return _several(body, node, only_booleans)
    tested = number(body, node)
    if only_booleans and tested.kind is not kinds.boolean:
        raise Unsupported("`and` or `or` of other things than truth values")
    truth = scalars.truth(body.builder, tested)
    if truth.literal is not None:
        ends = body.edge()
        return (ends, []) if truth.literal else ([], ends)
    holds_there, fails_there = body.block(), body.block()
    body.builder.cbranch(truth.ir, holds_there, fails_there)
    env, body.scope.env = body.scope.env, None
    assert env is not None
    return [(holds_there, env)], [(fails_there, dict(env))]


def _several(body: Body, node: ast.BoolOp, only_booleans: bool) -> tuple[list[Edge], list[Edge]]:
    """`and`, `or`: what is left of the operands is not computed once the answer is known."""
    is_and = isinstance(node.op, ast.And)
    decided: list[Edge] = []
    holds: list[Edge] = []
    fails: list[Edge] = []
    for at, each in enumerate(node.values):
        holds, fails = condition(body, each, only_booleans)
        if at == len(node.values) - 1:
            break
        decided += fails if is_and else holds
        body.join(holds if is_and else fails)
        if body.scope.env is None:
            return ([], decided) if is_and else (decided, [])
    return (holds, decided + fails) if is_and else (decided + holds, fails)


def _bool_op(body: Body, node: ast.BoolOp) -> Value:
    ends: list[Edge] = []
    for edges, answer in zip(condition(body, node, True), (True, False), strict=True):
        body.join(edges)
        if body.scope.env is not None:
            body[CHOSEN] = scalars.literal(answer)
            ends += body.edge()
    body.join(ends)
    return _chosen(body)


def _chosen(body: Body) -> Value:
    made = body[CHOSEN]
    if made is None or body.scope.env is None:
        raise Unsupported("a choice of things of two kinds")
    del body.scope.env[CHOSEN]
    return made


def _if_expression(body: Body, node: ast.IfExp) -> Value:
    """A choice, as branches: LLVM's own way to selects gives better masks than ours would."""

    def choose(chosen: ast.expr) -> Callable[[], None]:
        return lambda: body.__setitem__(CHOSEN, value(body, chosen))

    flow.branch(body, node.test, choose(node.body), choose(node.orelse))
    return _chosen(body)


def _subscript(body: Body, node: ast.Subscript) -> Value:
    return arrays.subscript(body, node)


def _call(body: Body, node: ast.Call) -> Value:
    return calls.call(body, node)


_EXPRESSIONS: dict[type, Callable[[Body, Any], Value]] = {
    ast.Constant: _constant,
    ast.Name: _name,
    ast.Attribute: _attribute,
    ast.Tuple: _tuple,
    ast.BinOp: _binary,
    ast.UnaryOp: _unary,
    ast.Compare: _compare,
    ast.BoolOp: _bool_op,
    ast.IfExp: _if_expression,
    ast.Subscript: _subscript,
    ast.Call: _call,
}
