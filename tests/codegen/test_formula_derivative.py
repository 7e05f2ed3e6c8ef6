"""Symbolic derivatives against numerical ones, and at kinks, ties and infinities."""

import math
import random

import mpmath
import pytest

from codegen.errors import CodegenError
from codegen.formula import backward, is_identically_zero, parse_formula, partial, simplify
from codegen.formula.primitives import PRIMITIVES
from codegen.model.formula import Argument, Formula
from tests.codegen.formula_evaluation import EXACT, evaluate

SELF, OTHER = Argument("self"), Argument("other")
BETA = Argument("beta", "scalar")
DOMAIN = {
    "acosh": (1.1, 4), "asin": (-0.9, 0.9), "acos": (-0.9, 0.9), "atanh": (-0.9, 0.9),
    "erfinv": (-0.9, 0.9), "log": (0.1, 4), "log2": (0.1, 4), "log10": (0.1, 4), "log1p": (-0.5, 4),
    "sqrt": (0.1, 4), "rsqrt": (0.1, 4), "pow": (0.1, 3), "lgamma": (0.2, 5), "digamma": (0.2, 5),
    "trigamma": (0.2, 5), "ndtri": (0.1, 0.9), "k0": (0.2, 5), "k0e": (0.2, 5), "k1": (0.2, 5),
    "k1e": (0.2, 5), "bessel_y0": (0.2, 5), "bessel_y1": (0.2, 5),
}  # fmt: skip
FLAT = {
    "floor_divide", "sign", "floor", "ceil", "round", "trunc", "bitwise_not", "bitwise_and",
    "bitwise_or", "bitwise_xor", "left_shift", "right_shift", "gcd", "lcm",
}  # fmt: skip
SMOOTH = [
    name
    for name, primitive in PRIMITIVES.items()
    if primitive.type == "number" and None not in primitive.derivatives and name not in FLAT
]
FORMULAS = [
    "self * tanh(log1p(exp(self)))",
    "self * sigmoid(self)",
    "self if self * beta > 2 else log1p(exp(self * beta)) / beta",
    "self * 0.5 * (1 + erf(self * sqrt(0.5)))",
    "inner = sqrt(2 / pi) * (self + 0.044715 * self ** 3)\n0.5 * self * (1 + tanh(inner))",
    "sqrt(self * self + other * other)",
    "self / (1 + abs(self))",
    "log(self * self + 1) - other ** 3 / 3",
    "max(self, 0) - self * other + log1p(exp(-abs(self)))",
    "self + beta * (other - self)",
    "exp(self) / (1 + exp(self))",
    "1 / (1 + exp(-self)) + self ** -2",
    "-0.5 * ((self - other) / beta) ** 2 - log(beta)",
    "self * self * self * self - 2 * self * self + self",
    "where(self > other, sin(self) * cos(other), self * other)",
    "2 ** self * other / self",
]


def call(name: str) -> Formula:
    primitive = PRIMITIVES[name]
    text = primitive.python if primitive.symbol else f"{name}({{0}}, {{1}})"
    assert text is not None
    if primitive.arity == 1:
        text = text.replace(", {1}", "")
    return parse_formula(text.format("self", "other"), arguments=(SELF, OTHER)[: primitive.arity])


def points(low: float, high: float) -> list[dict[str, float]]:
    source = random.Random(7)

    def draw() -> mpmath.mpf:
        return mpmath.mpf(source.uniform(low, high))

    return [{"self": draw(), "other": draw(), "beta": abs(draw()) + 0.1} for _ in range(12)]


def check_gradients(formula: Formula, low: float, high: float, tolerance: float = 1e-12) -> None:
    """Compare backward with mpmath's numerical derivative."""
    needs = [argument.name for argument in formula.arguments if argument.kind == "tensor"]
    derived = backward(formula, needs)
    for point in points(low, high):
        values = {argument.name: point[argument.name] for argument in formula.arguments}
        result = evaluate(formula, values, EXACT)[0]
        grads = evaluate(derived, {**values, "grad": mpmath.mpf(0.75), "result": result}, EXACT)
        for name, grad in zip(needs, grads, strict=True):

            def along(x: mpmath.mpf, name: str = name, values: dict = values) -> mpmath.mpf:
                return evaluate(formula, {**values, name: x}, EXACT)[0]

            expected = 0.75 * mpmath.diff(along, values[name])
            assert abs(grad - expected) <= tolerance * (1 + abs(expected)), (name, values)


@pytest.mark.parametrize("name", SMOOTH)
def test_derivative_of_primitive(name: str) -> None:
    if name in ("real", "imag", "conj"):
        pytest.skip("of complex numbers, tested below")
    check_gradients(call(name), *DOMAIN.get(name, (-3, 3)))


@pytest.mark.parametrize("name", sorted(FLAT))
def test_flat_primitive(name: str) -> None:
    formula = call(name)
    derived = backward(formula, formula.used)
    assert all(is_identically_zero(derived))
    assert derived.used == ()


@pytest.mark.parametrize("text", FORMULAS)
def test_derivative_of_formula(text: str) -> None:
    formula = parse_formula(text, arguments=(SELF, OTHER, BETA))
    check_gradients(formula, -3, 3)


@pytest.mark.parametrize("text", FORMULAS)
def test_second_derivative(text: str) -> None:
    formula = parse_formula(text, arguments=(SELF, OTHER, BETA))
    first = partial(formula, "self")
    second = partial(first, "self")
    for point in points(-3, 3):

        def along(x: mpmath.mpf, point: dict = point) -> mpmath.mpf:
            return evaluate(first, {**point, "self": x}, EXACT)[0]

        expected = mpmath.diff(along, point["self"])
        found = evaluate(second, point, EXACT)[0]
        assert abs(found - expected) <= 1e-9 * (1 + abs(expected))


def test_backward_of_backward() -> None:
    """A backward formula has one output per need; its own backward takes as many gradients."""
    formula = parse_formula("self * exp(other)", arguments=(SELF, OTHER))
    first = backward(formula, ("self", "other"))
    assert first.used == ("grad", "other", "result")
    second = backward(first, first.used, grad="grad_grad")
    assert [a.name for a in second.arguments[:2]] == ["grad_grad0", "grad_grad1"]
    g, other, result, gg0, gg1 = 0.3, 0.4, 1.7, 0.5, -2.0
    values = {"grad": g, "other": other, "result": result, "grad_grad0": gg0, "grad_grad1": gg1}
    e = math.exp(other)
    values |= {"result0": g * e, "result1": g * result}
    expected = (gg0 * e + gg1 * result, gg0 * g * e, gg1 * g)
    assert evaluate(second, values) == pytest.approx(expected)


def gradient(text: str, x: float, y: float = 0.0) -> tuple[float, ...]:
    arguments = (SELF, OTHER) if "other" in text else (SELF,)
    formula = parse_formula(text, arguments=arguments)
    derived = backward(formula, [argument.name for argument in arguments])
    values = {"self": x, "other": y}
    result = evaluate(simplify(formula), values)[0]
    return evaluate(derived, {**values, "grad": 1.0, "result": result})


@pytest.mark.parametrize(
    ("text", "x", "y", "expected"),
    [
        ("max(self, other)", 2.0, 2.0, (0.5, 0.5)),
        ("max(self, other)", 1.0, 2.0, (0.0, 1.0)),
        ("max(self, other)", math.nan, 2.0, (1.0, 1.0)),
        ("min(self, other)", 2.0, 2.0, (0.5, 0.5)),
        ("min(self, other)", 1.0, 2.0, (1.0, 0.0)),
        ("fmax(self, other)", 2.0, 2.0, (1.0, 0.0)),
        ("fmax(self, other)", math.nan, 2.0, (0.0, 1.0)),
        ("abs(self)", 0.0, 0.0, (0.0,)),
        ("abs(self)", math.nan, 0.0, (0.0,)),
        ("sign(self)", 0.0, 0.0, (0.0,)),
        ("pow(self, other)", 0.0, 0.0, (0.0, 0.0)),
        ("pow(self, other)", 0.0, 2.0, (0.0, 0.0)),
        ("pow(self, other)", 0.0, -1.0, (-math.inf, -math.inf)),
        ("atan2(self, other)", 0.0, 0.0, (0.0, 0.0)),
        ("copysign(self, other)", 0.0, 1.0, (0.0, 0.0)),
        ("copysign(self, other)", -1.0, 2.0, (-1.0, 0.0)),
        ("sqrt(self)", 0.0, 0.0, (math.inf,)),
        ("self if self > 0 else 0", 0.0, 0.0, (0.0,)),
    ],
)
def test_as_pytorch(text: str, x: float, y: float, expected: tuple[float, ...]) -> None:
    assert gradient(text, x, y) == expected


@pytest.mark.parametrize(
    ("text", "x", "y", "expected"),
    [
        ("sqrt(self) if self > 0 else 0", 0.0, 0.0, (0.0,)),
        ("0 if self == 0 else self * log(self)", 0.0, 0.0, (0.0,)),
        ("where(self > 0, log(self), self)", 0.0, 0.0, (1.0,)),
        ("0 if other == 0 else self / other", 1.0, 0.0, (0.0, 0.0)),
        ("exp(sqrt(where(self > 0, self, 0)))", -1.0, 0.0, (0.0,)),
        ("3 * (self ** -2 if self > 1 else 0) + self", 0.0, 0.0, (1.0,)),
        ("self if self > 20 else log1p(exp(self))", 1000.0, 0.0, (1.0,)),
        ("log1p(exp(self))", 1000.0, 0.0, (1.0,)),
        ("self * tanh(log1p(exp(self)))", 1000.0, 0.0, (1.0,)),
        ("self * sigmoid(self)", -1000.0, 0.0, (0.0,)),
        ("1 / (1 + exp(-self))", -1000.0, 0.0, (0.0,)),
        ("max(self, 0) + log1p(exp(-abs(self)))", 1000.0, 0.0, (1.0,)),
    ],
)
def test_masked_branches_do_not_leak(
    text: str, x: float, y: float, expected: tuple[float, ...]
) -> None:
    assert gradient(text, x, y) == expected


def test_unknown_derivative_is_an_error() -> None:
    with pytest.raises(CodegenError, match="airy_ai"):
        backward(parse_formula("airy_ai(self)", arguments=(SELF,)), ["self"])


COMPLEX = [
    "self * self + 3 * self",
    "exp(self) * other",
    "conj(self) * self",
    "abs(self)",
    "real(self) * imag(self)",
    "sign(self)",
    "self / other",
    "abs(self * other) + exp(conj(self))",
]


@pytest.mark.parametrize("text", COMPLEX)
def test_complex_gradient(text: str) -> None:
    """The gradient of Re(conj(grad) * f) is d/dx + i d/dy of it, in PyTorch's convention."""
    names = ("self", "other") if "other" in text else ("self",)
    formula = parse_formula(text, arguments=[Argument(name) for name in names])
    derived = backward(formula, names, is_complex=True)
    functions = {**EXACT, **{name: getattr(mpmath, name) for name in ("conj",)}}
    functions |= {"real": mpmath.re, "imag": mpmath.im, "sign": mpmath.sign}
    functions |= {"div": lambda x, y: x / y}
    values = {"self": mpmath.mpc(0.7, -1.3), "other": mpmath.mpc(-0.4, 0.9)}
    grad = mpmath.mpc(0.6, 0.8)
    result = evaluate(formula, values, functions)[0]
    if mpmath.im(result) == 0:
        grad = mpmath.re(grad)
    found = evaluate(derived, {**values, "grad": grad, "result": result}, functions)
    for name, value in zip(names, found, strict=True):

        def loss(z: mpmath.mpc, name: str = name) -> mpmath.mpf:
            moved = evaluate(formula, {**values, name: z}, functions)[0]
            return mpmath.re(mpmath.conj(grad) * moved)

        z = values[name]
        by_real = mpmath.diff(lambda t, z=z: loss(z + t), 0)
        by_imaginary = mpmath.diff(lambda t, z=z: loss(z + 1j * t), 0)
        assert abs(value - mpmath.mpc(by_real, by_imaginary)) < 1e-9
