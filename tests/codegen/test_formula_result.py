"""What a backward formula saves: the inputs, or the result where that costs less."""

import pytest

from codegen.formula import backward, parse_formula
from codegen.model.formula import Argument

ARGUMENTS = (Argument("self"), Argument("other"), Argument("beta", "scalar"))


@pytest.mark.parametrize(
    ("text", "needs", "used"),
    [
        ("exp(self)", "self", "grad result"),
        ("exp2(self)", "self", "grad result"),
        ("expm1(self)", "self", "grad result"),
        ("tanh(self)", "self", "grad result"),
        ("sigmoid(self)", "self", "grad result"),
        ("1 / (1 + exp(-self))", "self", "grad result"),
        ("sqrt(self)", "self", "grad result"),
        ("rsqrt(self)", "self", "grad result"),
        ("reciprocal(self)", "self", "grad result"),
        ("1 / self", "self", "grad result"),
        ("-tanh(self)", "self", "grad result"),
        ("2 * sigmoid(self)", "self", "grad result"),
        ("self if self > 0 else 0", "self", "grad result"),
        ("self if self > beta else beta", "self", "grad beta result"),
        ("0 if self <= 0 else self", "self", "grad result"),
        ("0 if self < 0 else self", "self", "grad self"),
        ("log(self)", "self", "grad self"),
        ("sin(self)", "self", "grad self"),
        ("self * sigmoid(self)", "self", "grad self"),
        ("self * tanh(log1p(exp(self)))", "self", "grad self"),
        ("self if self * beta > 20 else log1p(exp(self * beta)) / beta", "self", "grad self beta"),
        ("self * other", "self", "grad other"),
        ("self * other", "other", "grad self"),
        ("self * other", "self other", "grad self other"),
        ("self / other", "self", "grad other"),
        ("sqrt(self * self + other * other)", "self other", "grad self other"),
        ("self + beta * other", "self other", "grad beta"),
        ("self + other", "self other", "grad"),
        ("floor(self)", "self", ""),
    ],
)
def test_saved(text: str, needs: str, used: str) -> None:
    derived = backward(parse_formula(text, arguments=ARGUMENTS), needs.split())
    assert list(derived.used) == used.split()
    saved = [argument.name for argument in derived.arguments if argument.name != "grad"]
    assert saved == [name for name in derived.used if name != "grad"]


@pytest.mark.parametrize(
    ("text", "needs", "used"),
    [
        ("exp(self)", "self", "grad self"),
        ("self / other", "other", "grad self other"),
        ("self / other", "self other", "grad self other"),
        ("floor(self)", "self", ""),
    ],
)
def test_saved_of_operands(text: str, needs: str, used: str) -> None:
    formula = parse_formula(text, arguments=ARGUMENTS)
    derived = backward(formula, needs.split(), may_read_result=False)
    assert list(derived.used) == used.split()
