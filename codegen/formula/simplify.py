"""Rewrites expressions into cheaper ones of the same value, sharing equal parts.

Every rule holds for infinities and NaN and is exact up to rounding and the sign of zero. Two rules
follow PyTorch rather than IEEE at one point: pow(x, 0.5) is sqrt(x), pow(x, -0.5) is rsqrt(x).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from ..errors import CodegenError, Diagnostic, SourceLocation
from ..model.formula import (
    Call,
    Constant,
    Expression,
    Formula,
    Select,
    children,
    walk,
)
from .collect import collect_terms
from .expressions import (
    FALSE,
    ONE,
    TRUE,
    ZERO,
    call,
    is_call,
    select,
    substitute,
    with_children,
)
from .fold import fold, is_power_of_two, value_of

_COMMUTATIVE = frozenset({"add", "mul", "min", "max", "eq", "ne", "logical_and", "logical_or"})
_LARGEST_UNROLLED_POWER = 4


def simplify(formula: Formula, collect: bool = False, unroll: bool = True) -> Formula:
    """Simplify all outputs together, so that they share what they can.

    `collect` also gathers like terms and common factors, which rounds differently: for derivatives.
    `unroll` turns small powers into products; a formula to be differentiated keeps its powers.
    """
    simplifier = Simplifier(collect, unroll)
    try:
        outputs = tuple(simplifier(output) for output in formula.outputs)
    except RecursionError:
        where = formula.where or SourceLocation("<formula>", 1, 1)
        message = "this, or its derivative, is too large to simplify"
        raise CodegenError([Diagnostic("E715", where, message)]) from None
    live = set(walk(outputs))
    names = []
    for name, node in formula.names:
        node = simplifier(node)
        if node in live and children(node):
            names.append((name, node))
    return replace(formula, outputs=outputs, names=tuple(names))


class Simplifier:
    """Simplifies expressions bottom-up and remembers them, so that equal ones become one object."""

    def __init__(self, collect: bool = False, unroll: bool = True) -> None:
        self._collect = collect
        self._rules = {**_RULES, **(_UNROLLING if unroll else {})}
        self._done: dict[Expression, Expression] = {}
        self._known: dict[Expression, Expression] = {}

    def __call__(self, node: Expression) -> Expression:
        found = self._done.get(node)
        if found is None:
            rebuilt = with_children(node, tuple(self(child) for child in children(node)))
            found = self._rewrite(rebuilt)
            self._done[node] = self._done[found] = found
        return found

    def _rewrite(self, node: Expression) -> Expression:
        better = fold(node)
        if better is None and isinstance(node, Select):
            better = _select(node)
        elif better is None and isinstance(node, Call):
            rule = self._rules.get(node.primitive.name)
            better = rule(*node.operands) if rule else None
            if better is None and self._collect:
                better = collect_terms(node)
        return self._unique(node) if better is None else self(better)

    def _unique(self, node: Expression) -> Expression:
        """Return the one object for `node`, which may be there with its operands exchanged."""
        if isinstance(node, Call) and node.primitive.name in _COMMUTATIVE:
            exchanged = Call(node.primitive, node.operands[::-1])
            node = self._known.get(exchanged, node)
        return self._known.setdefault(node, node)


def _negated(node: Expression) -> Expression | None:
    """Return x if `node` is -x, written so or as a negative constant."""
    if is_call(node, "neg"):
        return children(node)[0]
    value = value_of(node) if isinstance(node, Constant) else None
    if value is not None and not isinstance(value, complex) and value < 0:
        return Constant(-value)
    return None


def _add(x: Expression, y: Expression) -> Expression | None:
    if x == ZERO:
        return y
    if y == ZERO:
        return x
    if (minus := _negated(y)) is not None:
        return call("sub", x, minus)
    if is_call(x, "neg"):
        return call("sub", y, children(x)[0])
    return _of_choices("add", x, y)


def _of_choices(name: str, x: Expression, y: Expression) -> Expression | None:
    """Combine two choices by one condition into one choice."""
    if isinstance(x, Select) and isinstance(y, Select) and x.condition == y.condition:
        then, otherwise = call(name, x.then, y.then), call(name, x.otherwise, y.otherwise)
        return select(x.condition, then, otherwise)
    return None


def _sub(x: Expression, y: Expression) -> Expression | None:
    if y == ZERO:
        return x
    if x == ZERO:
        return call("neg", y)
    if (minus := _negated(y)) is not None:
        return call("add", x, minus)
    return _of_choices("sub", x, y)


def _mul(x: Expression, y: Expression) -> Expression | None:
    if value_of(y) is not None and value_of(x) is None:
        return call("mul", y, x)
    if x == ONE:
        return y
    if x == Constant(-1):
        return call("neg", y)
    if is_call(x, "neg"):
        return call("neg", call("mul", children(x)[0], y))
    if is_call(y, "neg"):
        return call("neg", call("mul", x, children(y)[0]))
    for one, other in ((x, y), (y, x)):
        if is_call(one, "div") and value_of(children(one)[0]) is not None:
            numerator, denominator = children(one)
            return call("div", call("mul", numerator, other), denominator)
    return _constant_first(x, y)


def _constant_first(x: Expression, y: Expression) -> Expression | None:
    """Move constant factors to the front of a product, where they meet and are folded."""
    for one, other in ((x, y), (y, x)):
        if is_call(one, "mul") and value_of(children(one)[0]) is not None:
            factor, rest = children(one)
            if value_of(other) is not None:
                return call("mul", call("mul", other, factor), rest)
            product = call("mul", rest, other) if one is x else call("mul", other, rest)
            return call("mul", factor, product)
    return None


def _div(x: Expression, y: Expression) -> Expression | None:
    if y == ONE:
        return x
    if y == Constant(-1):
        return call("neg", x)
    if is_call(x, "neg"):
        return call("neg", call("div", children(x)[0], y))
    if is_call(y, "neg"):
        return call("neg", call("div", x, children(y)[0]))
    if isinstance(y, Constant) and is_power_of_two(y.value):
        return call("mul", Constant(1 / y.value), x)
    if is_call(x, "mul") and value_of(children(x)[0]) is not None:
        return call("mul", children(x)[0], call("div", children(x)[1], y))
    if is_call(y, "div") and value_of(children(y)[0]) is not None:
        return call("div", call("mul", x, children(y)[1]), children(y)[0])
    return _logistic(x, y)


def _logistic(x: Expression, y: Expression) -> Expression | None:
    """1 / (1 + e^t) is sigmoid(-t), and e^t / (1 + e^t) is sigmoid(t) also where e^t overflows."""
    if not is_call(y, "add") or ONE not in children(y):
        return None
    power = next((child for child in children(y) if is_call(child, "exp")), None)
    if power is None or x not in (ONE, power):
        return None
    argument = children(power)[0]
    return call("sigmoid", argument if x == power else call("neg", argument))


def _neg(x: Expression) -> Expression | None:
    if is_call(x, "neg"):
        return children(x)[0]
    if is_call(x, "sub"):
        return call("sub", *children(x)[::-1])
    if is_call(x, "mul") or is_call(x, "div"):
        first, second = children(x)
        if isinstance(first, Constant):
            assert isinstance(x, Call)
            return call(x.primitive.name, Constant(-first.value), second)
    return None


def _trivial_pow(x: Expression, y: Expression) -> Expression | None:
    if y == ZERO:
        return ONE
    return x if y == ONE else None


def _pow(x: Expression, y: Expression) -> Expression | None:
    exponent = y.value if isinstance(y, Constant) else None
    if exponent is None or isinstance(exponent, complex):
        return None
    if exponent == 0.5:
        return call("sqrt", x)
    if exponent == -0.5:
        return call("rsqrt", x)
    if exponent != int(exponent) or abs(exponent) > _LARGEST_UNROLLED_POWER:
        return None
    if exponent < 0:
        return call("div", ONE, call("pow", x, Constant(-int(exponent))))
    result: Expression = ONE
    for factor in ((), (x,), (x, x), (x, x, x), (call("mul", x, x),) * 2)[int(exponent)]:
        result = factor if result is ONE else call("mul", result, factor)
    return result


def _conj(x: Expression) -> Expression | None:
    if is_call(x, "conj"):
        return children(x)[0]
    if is_call(x, "real") or is_call(x, "imag") or is_call(x, "abs"):
        return x
    value = value_of(x)
    if value is not None:
        return Constant(value.conjugate()) if isinstance(value, complex) else x
    if isinstance(x, Select):
        return select(x.condition, call("conj", x.then), call("conj", x.otherwise))
    return None


def _abs(x: Expression) -> Expression | None:
    if is_call(x, "abs"):
        return x
    return call("abs", children(x)[0]) if is_call(x, "neg") else None


def _not(x: Expression) -> Expression | None:
    for name, opposite in (("eq", "ne"), ("ne", "eq")):
        if is_call(x, name):
            return call(opposite, *children(x))
    return children(x)[0] if is_call(x, "logical_not") else None


def _and(x: Expression, y: Expression) -> Expression | None:
    for one, other in ((x, y), (y, x)):
        if one == TRUE:
            return other
        if one == FALSE:
            return FALSE
    return x if x == y else None


def _or(x: Expression, y: Expression) -> Expression | None:
    for one, other in ((x, y), (y, x)):
        if one == FALSE:
            return other
        if one == TRUE:
            return TRUE
    return x if x == y else None


def _comparison(name: str) -> Callable[[Expression, Expression], Expression | None]:
    def rule(x: Expression, y: Expression) -> Expression | None:
        """Compare a choice between two constants with a constant: the condition or its opposite."""
        if not (isinstance(x, Select) and isinstance(y, Constant)):
            return None
        if not (isinstance(x.then, Constant) and isinstance(x.otherwise, Constant)):
            return None
        return select(x.condition, call(name, x.then, y), call(name, x.otherwise, y))

    return rule


def _select(node: Select) -> Expression | None:
    condition, then, otherwise = node.condition, node.then, node.otherwise
    if condition in (TRUE, FALSE):
        return then if condition == TRUE else otherwise
    if then == otherwise:
        return then
    if then == TRUE and otherwise == FALSE:
        return condition
    if then == FALSE and otherwise == TRUE:
        return call("logical_not", condition)
    if is_call(condition, "logical_not"):
        return select(children(condition)[0], otherwise, then)
    if isinstance(otherwise, Select) and otherwise.then == then:
        return select(call("logical_or", condition, otherwise.condition), then, otherwise.otherwise)
    if isinstance(then, Select) and then.otherwise == otherwise:
        return select(call("logical_and", condition, then.condition), then.then, otherwise)
    known = select(
        condition,
        substitute(then, {condition: TRUE}),
        substitute(otherwise, {condition: FALSE}),
    )
    return None if known == node else known


_UNROLLING: dict[str, Callable[..., Expression | None]] = {
    "pow": _pow,
    "square": lambda x: call("mul", x, x),
}
_RULES: dict[str, Callable[..., Expression | None]] = {
    "add": _add,
    "sub": _sub,
    "mul": _mul,
    "div": _div,
    "neg": _neg,
    "pow": _trivial_pow,
    "reciprocal": lambda x: call("div", ONE, x),
    "conj": _conj,
    "abs": _abs,
    "logical_not": _not,
    "logical_and": _and,
    "logical_or": _or,
    **{name: _comparison(name) for name in ("lt", "le", "gt", "ge", "eq", "ne")},
}
