"""The formula parser: what it accepts, and that every mistake is reported at its own column."""

import math

import pytest

from codegen.errors import CodegenError, SourceLocation
from codegen.formula import parse_formula, specialize, with_scalars
from codegen.model.formula import Argument, Formula
from tests.codegen.formula_evaluation import evaluate

SELF = Argument("self")
BETA = Argument("beta", "scalar")
LOW = Argument("min", "scalar", optional=True)
FLAG = Argument("flag", "bool")
WHERE = SourceLocation("ops.yaml", 7, 14)


def parse(text: str) -> Formula:
    return parse_formula(text, WHERE, (SELF, BETA, LOW, FLAG))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("self + beta * 2", 1.5 + 6),
        ("-self ** 2", -2.25),
        ("self // beta", 0),
        ("self % beta", 1.5),
        ("self if self > beta else beta", 3),
        ("where(self > beta, self, beta)", 3),
        ("not self", False),
        ("self and beta", True),
        ("(self > 0) + 1", 2),
        ("(self > 0) & (beta < 0)", False),
        ("(self > 0) ^ (beta < 0)", True),
        ("~(self > 0)", False),
        ("self > 0 and self < 2 and not flag", False),
        ("self * flag", 1.5),
        ("pi * self", math.pi * 1.5),
        ("t = self * self\nu = t + 1\nt / u", 2.25 / 3.25),
        ("max(self, min)", 2),
        ("  exp(self)  ", math.exp(1.5)),
        ("+self", 1.5),
        ("1 if True else self", 1),
    ],
)
def test_value(text: str, expected: float) -> None:
    values = {"self": 1.5, "beta": 3.0, "min": 2.0, "flag": True}
    assert evaluate(parse(text), values) == (pytest.approx(expected),)


@pytest.mark.parametrize(
    ("text", "code", "line", "column", "says"),
    [
        ("self + bta", "E707", 7, 21, "beta"),
        ("slef", "E707", 7, 14, "self"),
        ("1 + ex(self)", "E708", 7, 18, "exp"),
        ("1 + exp", "E707", 7, 18, "exp(...)"),
        ("exp(self, 2)", "E709", 7, 14, "takes 1 argument, got 2"),
        ("where(self > 0, 1)", "E709", 7, 14, "takes 3 arguments, got 2"),
        ("exp(x=self)", "E709", 7, 14, "keyword"),
        ("0 < self < 1", "E710", 7, 14, "a < b and b < c"),
        ("self.exp()", "E701", 7, 14, "exp(x), not x.exp()"),
        ("self[0]", "E701", 7, 14, "subscript"),
        ("'a'", "E712", 7, 14, "not a number"),
        ("self is None", "E711", 7, 14, "optional"),
        ("min is 3", "E711", 7, 14, "None only"),
        ("min == None", "E711", 7, 21, "is None"),
        ("self @ beta", "E701", 7, 14, "operator"),
        ("self in beta", "E701", 7, 14, "comparison"),
        ("exp(self", "E701", 7, 17, "never closed"),
        ("", "E702", 7, 14, "empty"),
        ("t = 1\nself", "E706", 7, 14, "never used"),
        ("self = 1\nself", "E705", 7, 14, "already an argument"),
        ("t = self\nt = t + 1\nt", "E705", 7, 23, "already defined"),
        ("t = self", "E703", 7, 14, "result expression"),
        ("a, b = 1, 2\nself", "E704", 7, 14, "one name"),
        ("self\nbeta", "E704", 7, 14, "name = expression"),
        ("math.tanh(self)", "E701", 7, 14, "tanh(x), not"),
        ("relu(self)", "E708", 7, 14, "primitives and the pointwise operators above"),
        ("(self, beta)", "E701", 7, 14, "one number"),
        ("self[0]", "E701", 7, 14, "one number"),
        ("t = self\nt += 1\nt", "E704", 7, 23, "name of its own"),
        ("return self", "E703", 7, 14, "value alone"),
        ("if self > 0:\n  self", "E703", 7, 14, "a if condition else b"),
    ],
)
def test_mistake(text: str, code: str, line: int, column: int, says: str) -> None:
    with pytest.raises(CodegenError) as caught:
        parse(text)
    first = caught.value.diagnostics[0]
    assert (first.code, first.where.line, first.where.column) == (code, line, column)
    assert says in f"{first.message} {first.hint}"


def test_all_mistakes_are_reported_together() -> None:
    with pytest.raises(CodegenError) as caught:
        parse("slef + exp(self, 1) * ex(bta)")
    assert len(caught.value.diagnostics) == 4


def test_columns_count_characters() -> None:
    with pytest.raises(CodegenError) as caught:
        parse("'ä' + bta")
    assert [d.where.column for d in caught.value.diagnostics] == [14, 20]


def test_specialize_decides_none() -> None:
    formula = parse("self if min is None else max(self, min) * beta")
    absent = specialize(formula, {"min"})
    given = specialize(formula)
    assert [argument.name for argument in absent.arguments] == ["self", "beta", "flag"]
    assert absent.outputs == (SELF,)
    assert given.used == ("self", "beta", "min")
    assert not any(argument.optional for argument in given.arguments)


def test_with_scalars_changes_the_kind() -> None:
    formula = with_scalars(
        parse_formula("self * other", arguments=(SELF, Argument("other"))), {"other"}
    )
    assert [argument.kind for argument in formula.arguments] == ["tensor", "scalar"]
    assert formula.used == ("self", "other")
