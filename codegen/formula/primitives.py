"""The closed set of primitives of the formula language; derivative rules are formulas themselves.

A derivative is written in `x`, `y` (the operands) and `result` (the value), an adjoint also in
`grad`. Where PyTorch defines a derivative at a kink or a tie, the row says the same. "0" marks a
function that is flat wherever it is differentiable. Writing a rule with `result` is what lets the
backward pass of tanh read the output instead of the input.
"""

from __future__ import annotations

from ..model.formula import Primitive
from .primitive_forms import (
    ADDITION,
    ATOM,
    POWER,
    PRODUCT,
    UNARY,
    binary,
    comparison,
    connective,
    function,
    infix,
    predicate,
    special,
)

_EXTREMUM = ("0 if x {0} y else 0.5 if x == y else 1", "0 if x {1} y else 0.5 if x == y else 1")

_ARITHMETIC = (
    infix("add", "+", ADDITION, ("1", "1"), "{0} + {1}"),
    infix("sub", "-", ADDITION, ("1", "-1"), "{0} - {1}"),
    infix("mul", "*", PRODUCT, ("y", "x"), r"{0} \, {1}"),
    Primitive(
        "div",
        2,
        r"\frac{{{0}}}{{{1}}}",
        "{0} / {1}",
        "{0} / {1}",
        ("1 / y", "-result / y"),
        symbol="/",
        precedence=PRODUCT,
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
        precedence=UNARY,
        latex_precedence=ADDITION,
        latex_operands=(PRODUCT,),
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
        latex_precedence=POWER,
        latex_operands=(ATOM, 0),
        cost=30,
    ),
    binary(
        "floor_divide",
        ("0", "0"),
        r"\left\lfloor \frac{{{0}}}{{{1}}} \right\rfloor",
        "{0} // {1}",
        "ops.floor_divide({0}, {1})",
    ),
    binary(
        "remainder",
        ("1", "-floor(x / y)"),
        r"{0} \bmod {1}",
        "{0} % {1}",
        "ops.remainder({0}, {1})",
    ),
    binary(
        "fmod",
        ("1", "-trunc(x / y)"),
        r"\operatorname{{fmod}}\left({0}, {1}\right)",
        "math.fmod({0}, {1})",
        "ops.fmod({0}, {1})",
        cost=12,
    ),
)

_INTEGER = (
    binary(
        "gcd", ("0", "0"), r"\gcd\left({0}, {1}\right)", "math.gcd({0}, {1})", "ops.gcd({0}, {1})"
    ),
    binary(
        "lcm",
        ("0", "0"),
        r"\operatorname{{lcm}}\left({0}, {1}\right)",
        "math.lcm({0}, {1})",
        "ops.lcm({0}, {1})",
    ),
    infix("bitwise_and", "&", 8, ("0", "0"), r"{0} \mathbin{{\&}} {1}"),
    infix("bitwise_xor", "^", 7, ("0", "0"), r"{0} \oplus {1}"),
    infix("bitwise_or", "|", 6, ("0", "0"), r"{0} \mathbin{{|}} {1}"),
    binary(
        "left_shift",
        ("0", "0"),
        r"\left({0} \ll {1}\right)",
        None,
        "ops.bitwise_left_shift({0}, {1})",
    ),
    binary(
        "right_shift",
        ("0", "0"),
        r"\left({0} \gg {1}\right)",
        None,
        "ops.bitwise_right_shift({0}, {1})",
    ),
    Primitive(
        "bitwise_not",
        1,
        r"\mathord{{\sim}} {0}",
        "~{0}",
        "~{0}",
        ("0",),
        symbol="~",
        precedence=UNARY,
        latex_precedence=UNARY,
        latex_operands=(UNARY,),
    ),
)

INTEGER_OPERATIONS = frozenset(primitive.name for primitive in _INTEGER)
"""They exist for integers, most of them for bool, only."""

_LOGIC = (
    comparison("lt", "<", "<"),
    comparison("le", "<=", r"\le"),
    comparison("gt", ">", ">"),
    comparison("ge", ">=", r"\ge"),
    comparison("eq", "==", "="),
    comparison("ne", "!=", r"\ne"),
    connective("logical_and", "and", 3, 2, r"{0} \land {1}", "ops.logical_and({0}, {1})"),
    connective("logical_or", "or", 2, 2, r"{0} \lor {1}", "ops.logical_or({0}, {1})"),
    connective("logical_not", "not", 4, 1, r"\lnot {0}", "ops.logical_not({0})"),
    predicate("isnan", "math.isnan({0})", r"{0} \text{{ is NaN}}"),
    predicate("isinf", "math.isinf({0})", r"\left|{0}\right| = \infty"),
    predicate("isfinite", "math.isfinite({0})", r"\left|{0}\right| < \infty"),
    predicate("signbit", "math.copysign(1.0, {0}) < 0", r"\operatorname{{signbit}}({0})"),
)

_EXPONENTIAL = (
    function("exp", "result", r"e^{{{0}}}"),
    function("exp2", "result * log(2)", r"2^{{{0}}}"),
    function("expm1", "result + 1", r"\left(e^{{{0}}} - 1\right)"),
    function("log", "1 / x", r"\log\left({0}\right)"),
    function("log2", "1 / (x * log(2))", r"\log_2\left({0}\right)"),
    function("log10", "1 / (x * log(10))", r"\log_{{10}}\left({0}\right)"),
    function("log1p", "1 / (1 + x)", r"\log\left(1 + {0}\right)"),
    function("sqrt", "0.5 / result", r"\sqrt{{{0}}}", cost=4),
    function(
        "rsqrt",
        "-0.5 * result * result * result",
        r"\frac{{1}}{{\sqrt{{{0}}}}}",
        "{0} ** -0.5",
        cost=6,
    ),
    function(
        "cbrt",
        "1 / (3 * result * result)",
        r"\sqrt[3]{{{0}}}",
        "math.cbrt({0})",
        "{0}.sign() * {0}.abs() ** (1 / 3)",
    ),
    function("reciprocal", "-result * result", r"\frac{{1}}{{{0}}}", "1 / {0}", cost=4),
    Primitive(
        "square",
        1,
        "{{{0}}}^2",
        "{0}.square()",
        "{0} ** 2",
        ("2 * x",),
        latex_precedence=POWER,
        latex_operands=(ATOM,),
    ),
)

_TRIGONOMETRIC = (
    function("sin", "cos(x)", r"\sin\left({0}\right)"),
    function("cos", "-sin(x)", r"\cos\left({0}\right)"),
    function("tan", "1 + result * result", r"\tan\left({0}\right)"),
    function("asin", "rsqrt(1 - x * x)", r"\arcsin\left({0}\right)"),
    function("acos", "-rsqrt(1 - x * x)", r"\arccos\left({0}\right)"),
    function("atan", "1 / (1 + x * x)", r"\arctan\left({0}\right)"),
    binary(
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
    function("sinh", "cosh(x)", r"\sinh\left({0}\right)"),
    function("cosh", "sinh(x)", r"\cosh\left({0}\right)"),
    function("tanh", "1 - result * result", r"\tanh\left({0}\right)"),
    function("asinh", "rsqrt(x * x + 1)", r"\operatorname{{arsinh}}\left({0}\right)"),
    function(
        "acosh", "1 / (sqrt(x - 1) * sqrt(x + 1))", r"\operatorname{{arcosh}}\left({0}\right)"
    ),
    function("atanh", "1 / (1 - x * x)", r"\operatorname{{artanh}}\left({0}\right)"),
)

_SPECIAL = (
    function(
        "sigmoid", "result * (1 - result)", r"\sigma\left({0}\right)", "1 / (1 + math.exp(-{0}))"
    ),
    function("erf", "2 / sqrt(pi) * exp(-x * x)"),
    function("erfc", "-2 / sqrt(pi) * exp(-x * x)"),
    function(
        "erfinv",
        "sqrt(pi) / 2 * exp(result * result)",
        r"\operatorname{{erf}}^{{-1}}\left({0}\right)",
        None,
    ),
    function("lgamma", "digamma(x)", r"\log\left|\Gamma\left({0}\right)\right|", cost=40),
    function("digamma", "trigamma(x)", r"\psi\left({0}\right)", None, cost=40),
    function(
        "trigamma", "polygamma(2, x)", r"\psi_1\left({0}\right)", None, "ops.polygamma(1, {0})", 40
    ),
    binary(
        "polygamma",
        (None, "polygamma(x + 1, y)"),
        r"\psi^{{({0})}}\left({1}\right)",
        None,
        "ops.polygamma({0}, {1})",
        cost=200,
    ),
    binary(
        "zeta",
        (None, "-x * zeta(x + 1, y)"),
        r"\zeta\left({0}, {1}\right)",
        None,
        "ops.special_zeta({0}, {1})",
        cost=200,
    ),
    binary(
        "igamma",
        (None, "exp((x - 1) * log(y) - y - lgamma(x))"),
        r"P\left({0}, {1}\right)",
        None,
        "ops.igamma({0}, {1})",
        cost=200,
    ),
    binary(
        "igammac",
        (None, "-exp((x - 1) * log(y) - y - lgamma(x))"),
        r"Q\left({0}, {1}\right)",
        None,
        "ops.igammac({0}, {1})",
        cost=200,
    ),
    Primitive(
        "three_term_recurrence",
        12,
        r"p_{{{1}}}\left({0}\right)",
        "ops._three_term_recurrence(" + ", ".join(f"{{{i}}}" for i in range(12)) + ")",
        None,
        (None,) * 12,
        cost=200,
    ),
    special("erfcx", "2 * x * result - 2 / sqrt(pi)"),
    special("ndtri", "sqrt(2 * pi) * exp(result * result / 2)", r"\Phi^{{-1}}\left({0}\right)"),
)

_BESSEL = (
    function("i0", "i1(x)", r"I_0\left({0}\right)", None, cost=40),
    special("i0e", "i1e(x) - sign(x) * result"),
    special("i1", "0.5 if x == 0 else i0(x) - result / x", r"I_1\left({0}\right)"),
    special("i1e", "0.5 if x == 0 else i0e(x) - result * (sign(x) + 1 / x)"),
    special("k0", "-k1(x)", r"K_0\left({0}\right)", "modified_bessel_k0"),
    special("k0e", "result - k1e(x)", "", "scaled_modified_bessel_k0"),
    special("k1", "-k0(x) - result / x", r"K_1\left({0}\right)", "modified_bessel_k1"),
    special("k1e", "result - k0e(x) - result / x", "", "scaled_modified_bessel_k1"),
    special("bessel_j0", "-bessel_j1(x)", r"J_0\left({0}\right)"),
    special("bessel_j1", "0.5 if x == 0 else bessel_j0(x) - result / x", r"J_1\left({0}\right)"),
    special("bessel_y0", "-bessel_y1(x)", r"Y_0\left({0}\right)"),
    special("bessel_y1", "bessel_y0(x) - result / x", r"Y_1\left({0}\right)"),
    special("airy_ai", None, r"\operatorname{{Ai}}\left({0}\right)"),
)

_PIECEWISE = (
    function(
        "abs",
        "sign(x)",
        r"\left|{0}\right|",
        "abs({0})",
        cost=1,
        adjoint="real(grad) * sign(x)",
    ),
    function(
        "sign",
        "0",
        r"\operatorname{{sgn}}\left({0}\right)",
        "({0} > 0) - ({0} < 0)",
        "{0}.sgn()",
        cost=2,
        adjoint="0 if x == 0 else (grad - result * real(conj(result) * grad)) / abs(x)",
    ),
    function("floor", "0", r"\left\lfloor {0} \right\rfloor", cost=1),
    function("ceil", "0", r"\left\lceil {0} \right\rceil", cost=1),
    function("round", "0", r"\operatorname{{round}}\left({0}\right)", "round({0})", cost=1),
    function("trunc", "0", r"\operatorname{{trunc}}\left({0}\right)", cost=1),
    binary(
        "min",
        (_EXTREMUM[0].format(">", "<"), _EXTREMUM[1].format(">", "<")),
        r"\min\left({0}, {1}\right)",
        "min({0}, {1})",
        "ops.minimum({0}, {1})",
    ),
    binary(
        "max",
        (_EXTREMUM[0].format("<", ">"), _EXTREMUM[1].format("<", ">")),
        r"\max\left({0}, {1}\right)",
        "max({0}, {1})",
        "ops.maximum({0}, {1})",
    ),
    binary(
        "fmin",
        ("1 if (x <= y or isnan(y)) else 0", "0 if (x <= y or isnan(y)) else 1"),
        r"\operatorname{{fmin}}\left({0}, {1}\right)",
        None,
        "ops.fmin({0}, {1})",
    ),
    binary(
        "fmax",
        ("1 if (x >= y or isnan(y)) else 0", "0 if (x >= y or isnan(y)) else 1"),
        r"\operatorname{{fmax}}\left({0}, {1}\right)",
        None,
        "ops.fmax({0}, {1})",
    ),
    binary(
        "copysign",
        ("0 if x == 0 else result / x", "0"),
        r"\operatorname{{copysign}}\left({0}, {1}\right)",
        "math.copysign({0}, {1})",
        "ops.copysign({0}, {1})",
    ),
    binary(
        "nextafter",
        (None, None),
        r"\operatorname{{nextafter}}\left({0}, {1}\right)",
        "math.nextafter({0}, {1})",
        "ops.nextafter({0}, {1})",
        cost=12,
    ),
)

_COMPLEX = (
    function("conj", "1", r"\overline{{{0}}}", "{0}.conjugate()", cost=1, adjoint="conj(grad)"),
    function(
        "real",
        "1",
        r"\operatorname{{Re}}\left({0}\right)",
        "{0}.real",
        "ops.real({0})",
        1,
        "real(grad)",
    ),
    function(
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
        _INTEGER,
        _LOGIC,
        _EXPONENTIAL,
        _TRIGONOMETRIC,
        _SPECIAL,
        _BESSEL,
        _PIECEWISE,
        _COMPLEX,
    )
    for primitive in rows
}

FUNCTIONS = (*(name for name in PRIMITIVES if PRIMITIVES[name].symbol is None), "where")
"""Names that a formula may call."""

CONSTANTS = ("pi", "inf", "nan", "eps")
"""Names of constants."""
