"""The closed set of primitives of the formula language; derivative rules are formulas themselves.

A derivative is written in `x`, `y` (the operands) and `result` (the value), an adjoint also in
`grad`. Where PyTorch defines a derivative at a kink or a tie, the row says the same. "0" marks a
function that is flat wherever it is differentiable. Writing a rule with `result` is what lets the
backward pass of tanh read the output instead of the input.
"""

from __future__ import annotations

from codegen.model.formula import Primitive

_ADDITION, _PRODUCT, _UNARY, _POWER, _ATOM = 10, 11, 12, 13, 14


def _function(
    name: str,
    derivative: str | None,
    latex: str = "",
    python: str | None = "",
    operator: str = "",
    cost: int = 12,
    adjoint: str | None = None,
) -> Primitive:
    """A function of one operand; by default a method of tensors and a function of `math`."""
    return Primitive(
        name,
        1,
        latex or rf"\operatorname{{{{{name}}}}}\left({{0}}\right)",
        operator or f"{{0}}.{name}()",
        f"math.{name}({{0}})" if python == "" else python,
        (derivative,),
        None if adjoint is None else (adjoint,),
        cost=cost,
    )


def _binary(
    name: str,
    derivatives: tuple[str | None, str | None],
    latex: str,
    python: str | None,
    operator: str,
    cost: int = 4,
) -> Primitive:
    """A function of two operands that is written as a call."""
    return Primitive(name, 2, latex, operator, python, derivatives, cost=cost)


def _infix(
    name: str,
    symbol: str,
    precedence: int,
    derivatives: tuple[str | None, str | None],
    latex: str,
    cost: int = 1,
) -> Primitive:
    """A Python operator between two numbers."""
    text = f"{{0}} {symbol} {{1}}"
    return Primitive(
        name,
        2,
        latex,
        text,
        text,
        derivatives,
        symbol=symbol,
        precedence=precedence,
        latex_precedence=precedence,
        latex_operands=(precedence, precedence + 1),
        cost=cost,
    )


def _comparison(name: str, symbol: str, latex: str) -> Primitive:
    text = f"{{0}} {symbol} {{1}}"
    return Primitive(
        name,
        2,
        f"{{0}} {latex} {{1}}",
        text,
        text,
        ("0", "0"),
        type="bool",
        symbol=symbol,
        precedence=5,
        latex_precedence=5,
        latex_operands=(6, 6),
    )


def _connective(
    name: str, symbol: str, precedence: int, arity: int, latex: str, operator: str
) -> Primitive:
    return Primitive(
        name,
        arity,
        latex,
        operator,
        f"{{0}} {symbol} {{1}}" if arity == 2 else f"{symbol} {{0}}",
        ("0",) * arity,
        type="bool",
        operands="bool",
        symbol=symbol,
        precedence=precedence,
        latex_precedence=precedence,
        latex_operands=(precedence, precedence + 1),
    )


def _predicate(name: str, python: str | None, latex: str) -> Primitive:
    return Primitive(name, 1, latex, f"{{0}}.{name}()", python, ("0",), type="bool", cost=2)


_EXTREMUM = ("0 if x {0} y else 0.5 if x == y else 1", "0 if x {1} y else 0.5 if x == y else 1")

_ARITHMETIC = (
    _infix("add", "+", _ADDITION, ("1", "1"), "{0} + {1}"),
    _infix("sub", "-", _ADDITION, ("1", "-1"), "{0} - {1}"),
    _infix("mul", "*", _PRODUCT, ("y", "x"), r"{0} \, {1}"),
    Primitive(
        "div",
        2,
        r"\frac{{{0}}}{{{1}}}",
        "{0} / {1}",
        "{0} / {1}",
        ("1 / y", "-result / y"),
        symbol="/",
        precedence=_PRODUCT,
        cost=4,
    ),
    Primitive(
        "neg",
        1,
        "-{0}",
        "-{0}",
        "-{0}",
        ("-1",),
        symbol="-",
        precedence=_UNARY,
        latex_precedence=_ADDITION,
        latex_operands=(_PRODUCT,),
    ),
    Primitive(
        "pow",
        2,
        "{{{0}}}^{{{1}}}",
        "{0} ** {1}",
        "{0} ** {1}",
        (
            "0 if y == 0 else y * pow(x, y - 1)",
            "0 if (x == 0 and real(y) >= 0) else result * log(x)",
        ),
        latex_precedence=_POWER,
        latex_operands=(_ATOM, 0),
        cost=30,
    ),
    _binary(
        "floor_divide",
        ("0", "0"),
        r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor",
        "{0} // {1}",
        "ops.floor_divide({0}, {1})",
    ),
    _binary(
        "remainder",
        ("1", "-floor(x / y)"),
        r"{0} \bmod {1}",
        "{0} % {1}",
        "ops.remainder({0}, {1})",
    ),
    _binary(
        "fmod",
        ("1", "-trunc(x / y)"),
        r"\operatorname{{fmod}}\left({0}, {1}\right)",
        "math.fmod({0}, {1})",
        "ops.fmod({0}, {1})",
        cost=12,
    ),
)

_BITS = (
    _infix("bitwise_and", "&", 8, ("0", "0"), r"{0} \mathbin{{\&}} {1}"),
    _infix("bitwise_xor", "^", 7, ("0", "0"), r"{0} \oplus {1}"),
    _infix("bitwise_or", "|", 6, ("0", "0"), r"{0} \mathbin{{|}} {1}"),
    _infix("left_shift", "<<", 9, ("0", "0"), r"{0} \ll {1}"),
    _infix("right_shift", ">>", 9, ("0", "0"), r"{0} \gg {1}"),
    Primitive(
        "bitwise_not",
        1,
        r"\mathord{{\sim}} {0}",
        "~{0}",
        "~{0}",
        ("0",),
        symbol="~",
        precedence=_UNARY,
        latex_precedence=_UNARY,
        latex_operands=(_UNARY,),
    ),
)

BIT_OPERATIONS = frozenset(primitive.name for primitive in _BITS)
"""They exist for integers and bool only."""

_LOGIC = (
    _comparison("lt", "<", "<"),
    _comparison("le", "<=", r"\le"),
    _comparison("gt", ">", ">"),
    _comparison("ge", ">=", r"\ge"),
    _comparison("eq", "==", "="),
    _comparison("ne", "!=", r"\ne"),
    _connective("logical_and", "and", 3, 2, r"{0} \land {1}", "ops.logical_and({0}, {1})"),
    _connective("logical_or", "or", 2, 2, r"{0} \lor {1}", "ops.logical_or({0}, {1})"),
    _connective("logical_not", "not", 4, 1, r"\lnot {0}", "ops.logical_not({0})"),
    _predicate("isnan", "math.isnan({0})", r"{0} \text{{ is NaN}}"),
    _predicate("isinf", "math.isinf({0})", r"\left|{0}\right| = \infty"),
    _predicate("isfinite", "math.isfinite({0})", r"\left|{0}\right| < \infty"),
    _predicate("signbit", "math.copysign(1.0, {0}) < 0", r"\operatorname{{signbit}}({0})"),
)

_EXPONENTIAL = (
    _function("exp", "result", r"e^{{{0}}}"),
    _function("exp2", "result * log(2)", r"2^{{{0}}}"),
    _function("expm1", "result + 1", r"\left(e^{{{0}}} - 1\right)"),
    _function("log", "1 / x", r"\log\left({0}\right)"),
    _function("log2", "1 / (x * log(2))", r"\log_2\left({0}\right)"),
    _function("log10", "1 / (x * log(10))", r"\log_{{10}}\left({0}\right)"),
    _function("log1p", "1 / (1 + x)", r"\log\left(1 + {0}\right)"),
    _function("sqrt", "0.5 / result", r"\sqrt{{{0}}}", cost=4),
    _function(
        "rsqrt",
        "-0.5 * result * result * result",
        r"\frac{{1}}{{\sqrt{{{0}}}}}",
        "{0} ** -0.5",
        cost=6,
    ),
    _function(
        "cbrt",
        "1 / (3 * result * result)",
        r"\sqrt[3]{{{0}}}",
        "math.cbrt({0})",
        "{0}.sign() * {0}.abs() ** (1 / 3)",
    ),
    _function("reciprocal", "-result * result", r"\frac{{1}}{{{0}}}", "1 / {0}", cost=4),
    Primitive(
        "square",
        1,
        "{{{0}}}^2",
        "{0}.square()",
        "{0} ** 2",
        ("2 * x",),
        latex_precedence=_POWER,
        latex_operands=(_ATOM,),
    ),
)

_TRIGONOMETRIC = (
    _function("sin", "cos(x)", r"\sin\left({0}\right)"),
    _function("cos", "-sin(x)", r"\cos\left({0}\right)"),
    _function("tan", "1 + result * result", r"\tan\left({0}\right)"),
    _function("asin", "rsqrt(1 - x * x)", r"\arcsin\left({0}\right)"),
    _function("acos", "-rsqrt(1 - x * x)", r"\arccos\left({0}\right)"),
    _function("atan", "1 / (1 + x * x)", r"\arctan\left({0}\right)"),
    _binary(
        "atan2",
        (
            "0 if (x == 0 and y == 0) else y / (x * x + y * y)",
            "0 if (x == 0 and y == 0) else -x / (x * x + y * y)",
        ),
        r"\operatorname{{atan2}}\left({0}, {1}\right)",
        "math.atan2({0}, {1})",
        "ops.atan2({0}, {1})",
        cost=16,
    ),
    _function("sinh", "cosh(x)", r"\sinh\left({0}\right)"),
    _function("cosh", "sinh(x)", r"\cosh\left({0}\right)"),
    _function("tanh", "1 - result * result", r"\tanh\left({0}\right)"),
    _function("asinh", "rsqrt(x * x + 1)", r"\operatorname{{arsinh}}\left({0}\right)"),
    _function(
        "acosh", "1 / (sqrt(x - 1) * sqrt(x + 1))", r"\operatorname{{arcosh}}\left({0}\right)"
    ),
    _function("atanh", "1 / (1 - x * x)", r"\operatorname{{artanh}}\left({0}\right)"),
)

_SPECIAL = (
    _function(
        "sigmoid", "result * (1 - result)", r"\sigma\left({0}\right)", "1 / (1 + math.exp(-{0}))"
    ),
    _function("erf", "2 / sqrt(pi) * exp(-x * x)"),
    _function("erfc", "-2 / sqrt(pi) * exp(-x * x)"),
    _function(
        "erfinv",
        "sqrt(pi) / 2 * exp(result * result)",
        r"\operatorname{{erf}}^{{-1}}\left({0}\right)",
        None,
    ),
    _function("lgamma", "digamma(x)", r"\log\left|\Gamma\left({0}\right)\right|", cost=40),
    _function("digamma", "trigamma(x)", r"\psi\left({0}\right)", None, cost=40),
    _function("trigamma", None, r"\psi_1\left({0}\right)", None, "ops.polygamma(1, {0})", cost=40),
)

_PIECEWISE = (
    _function(
        "abs",
        "sign(x)",
        r"\left|{0}\right|",
        "abs({0})",
        cost=1,
        adjoint="real(grad) * sign(x)",
    ),
    _function(
        "sign",
        "0",
        r"\operatorname{{sgn}}\left({0}\right)",
        "({0} > 0) - ({0} < 0)",
        "{0}.sgn()",
        cost=2,
        adjoint="0 if x == 0 else (grad - result * real(conj(result) * grad)) / abs(x)",
    ),
    _function("floor", "0", r"\left\lfloor {0} \right\rfloor", cost=1),
    _function("ceil", "0", r"\left\lceil {0} \right\rceil", cost=1),
    _function("round", "0", r"\operatorname{{round}}\left({0}\right)", "round({0})", cost=1),
    _function("trunc", "0", r"\operatorname{{trunc}}\left({0}\right)", cost=1),
    _binary(
        "min",
        (_EXTREMUM[0].format(">", "<"), _EXTREMUM[1].format(">", "<")),
        r"\min\left({0}, {1}\right)",
        "min({0}, {1})",
        "ops.minimum({0}, {1})",
    ),
    _binary(
        "max",
        (_EXTREMUM[0].format("<", ">"), _EXTREMUM[1].format("<", ">")),
        r"\max\left({0}, {1}\right)",
        "max({0}, {1})",
        "ops.maximum({0}, {1})",
    ),
    _binary(
        "fmin",
        ("1 if (x <= y or isnan(y)) else 0", "0 if (x <= y or isnan(y)) else 1"),
        r"\operatorname{{fmin}}\left({0}, {1}\right)",
        None,
        "ops.fmin({0}, {1})",
    ),
    _binary(
        "fmax",
        ("1 if (x >= y or isnan(y)) else 0", "0 if (x >= y or isnan(y)) else 1"),
        r"\operatorname{{fmax}}\left({0}, {1}\right)",
        None,
        "ops.fmax({0}, {1})",
    ),
    _binary(
        "copysign",
        ("0 if x == 0 else result / x", "0"),
        r"\operatorname{{copysign}}\left({0}, {1}\right)",
        "math.copysign({0}, {1})",
        "ops.copysign({0}, {1})",
    ),
    _binary(
        "nextafter",
        (None, None),
        r"\operatorname{{nextafter}}\left({0}, {1}\right)",
        "math.nextafter({0}, {1})",
        "ops.nextafter({0}, {1})",
        cost=12,
    ),
)

_COMPLEX = (
    _function("conj", "1", r"\overline{{{0}}}", "{0}.conjugate()", cost=1, adjoint="conj(grad)"),
    _function(
        "real",
        "1",
        r"\operatorname{{Re}}\left({0}\right)",
        "{0}.real",
        "ops.real({0})",
        1,
        "real(grad)",
    ),
    _function(
        "imag",
        "0",
        r"\operatorname{{Im}}\left({0}\right)",
        "{0}.imag",
        "ops.imag({0})",
        1,
        "1j * real(grad)",
    ),
)

PRIMITIVES: dict[str, Primitive] = {
    primitive.name: primitive
    for rows in (
        _ARITHMETIC,
        _BITS,
        _LOGIC,
        _EXPONENTIAL,
        _TRIGONOMETRIC,
        _SPECIAL,
        _PIECEWISE,
        _COMPLEX,
    )
    for primitive in rows
}

FUNCTIONS = (*(name for name in PRIMITIVES if PRIMITIVES[name].symbol is None), "where")
"""Names that a formula may call."""

CONSTANTS = ("pi", "inf", "nan", "eps")
"""Names of constants."""
