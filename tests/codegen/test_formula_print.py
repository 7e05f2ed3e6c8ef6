"""Printed formulas: kernels, tensor functions and LaTeX, word for word."""

import textwrap

import pytest

from codegen.formula import (
    backward,
    latex,
    parse_formula,
    python_function,
    simplify,
    tensor_expressions,
    tensor_function,
    with_scalars,
)
from codegen.model.formula import Argument, Formula

SELF, OTHER = Argument("self"), Argument("other")
SCALARS = tuple(Argument(name, "scalar") for name in ("beta", "threshold", "min"))


def formula(text: str) -> Formula:
    parsed = parse_formula(text, arguments=(SELF, OTHER, *SCALARS))
    kept = tuple(argument for argument in parsed.arguments if argument.name in parsed.used)
    return Formula(kept, parsed.outputs, parsed.names, parsed.text)


SOFTPLUS = "self if self * beta > threshold else log1p(exp(self * beta)) / beta"
GELU = "inner = sqrt(2 / pi) * (self + 0.044715 * self ** 3)\n0.5 * self * (1 + tanh(inner))"

KERNELS = {
    SOFTPLUS: '''
        def f(self, beta, threshold):
            """self if self * beta > threshold else log1p(exp(self * beta)) / beta"""
            t0 = self * beta
            return self if t0 > threshold else log1p(exp(t0)) / beta
        ''',
    GELU: '''
        def f(self):
            """inner = sqrt(2 / pi) * (self + 0.044715 * self ** 3)
            0.5 * self * (1 + tanh(inner))
            """
            inner = T(0.7978845608028654) * (self + T(0.044715) * self * self * self)
            return T(0.5) * self * (T(1) + tanh(inner))
        ''',
    "max(self, min)": '''
        def f(self, min_):
            """max(self, min)"""
            return max(self, min_)
        ''',
    "not (self > 0 and (other < 1 or isnan(other)))": '''
        def f(self, other):
            """not (self > 0 and (other < 1 or isnan(other)))"""
            return not (self > T(0) and (other < T(1) or isnan(other)))
        ''',
    "(self - (other - 1)) / (self / other) % 3": '''
        def f(self, other):
            """(self - (other - 1)) / (self / other) % 3"""
            return remainder((self - (other - T(1))) / (self / other), T(3))
        ''',
    "-(self + other) * (1 if self > 0 else pi) + eps": '''
        def f(self, other):
            """-(self + other) * (1 if self > 0 else pi) + eps"""
            return eps - (self + other) * (T(1) if self > T(0) else T(pi))
        ''',
    "(self & 3) << 1 | other": '''
        def f(self, other):
            """(self & 3) << 1 | other"""
            return left_shift(self & T(3), T(1)) | other
        ''',
}

BACKWARD = {
    SOFTPLUS: '''
        def f(grad, self, beta, threshold):
            """d/dself: self if self * beta > threshold else log1p(exp(self * beta)) / beta"""
            t0 = self * beta
            return grad * (T(1) if t0 > threshold else sigmoid(t0))
        ''',
    "self / other": '''
        def f(grad, other, result):
            """d/dself, d/dother: self / other"""
            return grad / other, -(grad * (result / other))
        ''',
    "tanh(self)": '''
        def f(grad, result):
            """d/dself: tanh(self)"""
            return grad * (T(1) - result * result)
        ''',
    "pow(self, other)": '''
        def f(grad, self, other):
            """d/dself, d/dother: pow(self, other)"""
            return (
                T(0) if other == T(0) else other * pow(self, other - T(1)) * grad,
                T(0) if self == T(0) and other >= T(0) else pow(self, other) * log(self) * grad,
            )
        ''',
}

TENSORS = {
    SOFTPLUS: '''
        def f(grad, self, beta, threshold):
            """d/dself: self if self * beta > threshold else log1p(exp(self * beta)) / beta"""
            t0 = self * beta
            return grad * ops.where(t0 > threshold, 1, t0.sigmoid())
        ''',
    "max(self, other)": '''
        def f(grad, self, other):
            """d/dself, d/dother: max(self, other)"""
            t0 = ops.where(self == other, 0.5 * grad, grad)
            return ops.where(self < other, 0, t0), ops.where(self > other, 0, t0)
        ''',
    "pow(self, beta)": '''
        def f(grad, self, beta):
            """d/dself: pow(self, beta)"""
            return ops.full_like(grad, 0) if beta == 0 else beta * self ** (beta - 1) * grad
        ''',
    "log(beta) * self": '''
        def f(grad, beta):
            """d/dself: log(beta) * self"""
            return grad * math.log(beta)
        ''',
    "floor(self)": '''
        def f(grad):
            """d/dself: floor(self)"""
            return ops.full_like(grad, 0)
        ''',
    "atan2(self, other)": '''
        def f(grad, self, other):
            """d/dself, d/dother: atan2(self, other)"""
            t0 = (self == 0) & (other == 0)
            t1 = self * self + other * other
            return ops.where(t0, 0, other / t1 * grad), ops.where(t0, 0, -(self / t1 * grad))
        ''',
}


def block(text: str) -> str:
    return textwrap.dedent(text).lstrip("\n")


def derived(text: str) -> Formula:
    forward = formula(text)
    needs = [argument.name for argument in forward.arguments if argument.kind == "tensor"]
    return backward(forward, needs)


@pytest.mark.parametrize("text", KERNELS)
def test_kernel(text: str) -> None:
    assert python_function(simplify(formula(text)), "f") == block(KERNELS[text])


@pytest.mark.parametrize("text", BACKWARD)
def test_backward_kernel(text: str) -> None:
    assert python_function(derived(text), "f") == block(BACKWARD[text])


@pytest.mark.parametrize("text", TENSORS)
def test_tensor_function(text: str) -> None:
    assert tensor_function(derived(text), "f") == block(TENSORS[text])


def test_a_function_named_like_a_primitive_gets_an_underscore() -> None:
    assert python_function(formula("exp(self)"), "exp").startswith("def exp_(self):")


def test_tensor_expressions_take_the_names_of_their_place() -> None:
    renamed = tensor_expressions(derived("self * other"), {"self": "self_", "grad": "grads[0]"})
    assert renamed == ("grads[0] * other", "grads[0] * self_")


def test_numbers_among_tensors_become_tensors_where_they_must() -> None:
    text = tensor_expressions(with_scalars(formula("max(self, other)"), {"other"}))
    assert text == ("ops.maximum(self, self.new_full((), other))",)


def test_lines_stay_short() -> None:
    long = " + ".join(f"sin(self * {i}.5 + other) * cos(other * {i}.25)" for i in range(12))
    for text in (python_function(formula(long), "f"), tensor_function(formula(long), "f")):
        assert max(map(len, text.splitlines())) <= 100


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self * other", r"x \, y"),
        ("(self + other) * beta", r"\left(x + y\right) \, \beta"),
        ("self - (other - 1)", r"x - \left(y - 1\right)"),
        ("exp(-self) / beta", r"\frac{e^{-x}}{\beta}"),
        ("(self + 1) ** 2", r"{\left(x + 1\right)}^{2}"),
        ("sqrt(abs(self))", r"\sqrt{\left|x\right|}"),
        ("erf(self)", r"\operatorname{erf}\left(x\right)"),
        ("1e-5 * self", r"1 \cdot 10^{-5} \, x"),
        (
            "self if self > 0 else 0",
            r"\begin{cases} x & \text{if } x > 0 \\ 0 & \text{otherwise} \end{cases}",
        ),
        (
            "t = exp(self)\nt / (1 + t)",
            r"\frac{t}{1 + t} \quad\text{where}\quad t = e^{x}",
        ),
    ],
)
def test_latex(text: str, expected: str) -> None:
    assert latex(formula(text)) == expected
