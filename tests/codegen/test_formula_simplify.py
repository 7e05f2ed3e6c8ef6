"""The simplifier: it never changes values, and it finds what it should."""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from codegen.formula import parse_formula, python_function, simplify
from codegen.formula.expressions import call, select
from codegen.model.formula import Argument, Call, Constant, Expression, Formula, walk
from tests.codegen.formula_evaluation import EXACT, evaluate

X, Y = Argument("x"), Argument("y")
SPECIAL = [0.0, 1.0, -1.0, 0.5, -2.0, 3.0, math.inf, -math.inf, math.nan]


def expressions() -> st.SearchStrategy[Expression]:
    leaves = st.sampled_from([X, Y, *(Constant(value) for value in (0, 1, -1, 2, 0.5, 3, 0.25))])

    def extend(inner: st.SearchStrategy[Expression]) -> st.SearchStrategy[Expression]:
        binary = st.sampled_from(["add", "sub", "mul", "div", "min", "max"])
        unary = st.sampled_from(["neg", "abs", "square", "reciprocal", "sign"])
        power = st.sampled_from([Constant(value) for value in (0, 1, 2, 3, -1, -2)])
        test = st.builds(call, st.sampled_from(["lt", "ge", "eq", "ne"]), inner, inner)
        test |= st.builds(call, st.just("logical_not"), test)
        test |= st.builds(call, st.sampled_from(["logical_and", "logical_or"]), test, test)
        return st.one_of(
            st.builds(call, binary, inner, inner),
            st.builds(call, unary, inner),
            st.builds(call, st.just("pow"), inner, power),
            st.builds(select, test, inner, inner),
        )

    return st.recursive(leaves, extend, max_leaves=12)


def same(found: float, expected: float) -> bool:
    if math.isnan(expected):
        return math.isnan(found)
    return found == expected or math.isclose(found, expected, rel_tol=1e-12)


@settings(max_examples=400, deadline=None)
@given(expressions(), st.sampled_from(SPECIAL), st.sampled_from(SPECIAL))
def test_value_stays_at_special_points(node: Expression, x: float, y: float) -> None:
    formula = Formula((X, Y), (node,))
    values = {"x": x, "y": y}
    expected = evaluate(formula, values)[0]
    found = evaluate(simplify(formula), values)[0]
    assert same(found, expected) or divides(formula)


def divides(formula: Formula) -> bool:
    """Whether the sign of a zero may decide between infinities: a freedom the simplifier takes."""
    nodes = [node for node in walk(formula.outputs) if isinstance(node, Call)]
    return any(node.primitive.name in ("div", "reciprocal", "pow") for node in nodes)


@settings(max_examples=300, deadline=None)
@given(expressions(), st.floats(0.1, 3), st.floats(-3, -0.1))
def test_collected_value_stays(node: Expression, x: float, y: float) -> None:
    formula = Formula((X, Y), (node,))
    values = {"x": x, "y": y}
    try:
        expected = float(evaluate(formula, values, EXACT)[0])
    except ZeroDivisionError:
        return
    collected = simplify(formula, collect=True)
    try:
        found = float(evaluate(collected, values, EXACT)[0])
    except ZeroDivisionError:
        return
    if math.isfinite(expected):
        assert math.isclose(found, expected, rel_tol=1e-6, abs_tol=1e-6) or near_a_jump(
            formula, values
        )


def near_a_jump(formula: Formula, values: dict[str, float]) -> bool:
    """Whether rounding alone may take another branch: the value differs beside the point."""
    moved = {name: value * (1 + 1e-9) for name, value in values.items()}
    here, there = (float(evaluate(formula, v, EXACT)[0]) for v in (values, moved))
    return not math.isclose(here, there, rel_tol=1e-6, abs_tol=1e-6)


@settings(max_examples=200, deadline=None)
@given(expressions())
def test_simplifying_twice_changes_nothing(node: Expression) -> None:
    once = simplify(Formula((X, Y), (node,)))
    assert simplify(once) == once


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x ** 2", "x * x"),
        ("x ** 3", "x * x * x"),
        ("x ** -1", "T(1) / x"),
        ("x ** -2", "T(1) / (x * x)"),
        ("x ** 0.5", "sqrt(x)"),
        ("x ** -0.5", "rsqrt(x)"),
        ("x ** 1", "x"),
        ("x ** 2.5", "pow(x, T(2.5))"),
        ("x / 2", "T(0.5) * x"),
        ("x / 3", "x / T(3)"),
        ("x * 1 + 0", "x"),
        ("0 - x", "-x"),
        ("-(-x)", "x"),
        ("x + -y", "x - y"),
        ("-(x - y)", "y - x"),
        ("2 * (3 * x)", "T(6) * x"),
        ("x * 2 * y * 0.5", "x * y"),
        ("sqrt(2 / pi) * x", "T(0.7978845608028654) * x"),
        ("x if 1 > 2 else y", "y"),
        ("x if not x > 0 else y", "y if x > T(0) else x"),
        ("x if x > y else x", "x"),
        ("(x if x > 0 else y) if x > 0 else 3", "x if x > T(0) else T(3)"),
        ("((x > 0) + 0) != 0", "x > T(0)"),
        ("0 * x", "T(0) * x"),
        ("x - x", "x - x"),
        ("x + inf", "x + T(inf)"),
        ("abs(-x)", "abs(x)"),
        ("conj(conj(x))", "x"),
        ("1 / (1 + exp(-x))", "sigmoid(x)"),
        ("exp(x) / (1 + exp(x))", "sigmoid(x)"),
        ("0 if x == 0 else 0 if y == 0 else x", "T(0) if x == T(0) or y == T(0) else x"),
    ],
)
def test_rewrites(text: str, expected: str) -> None:
    formula = simplify(parse_formula(text, arguments=(X, Y)))
    assert python_function(formula, "f").splitlines()[-1] == f"    return {expected}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("x * y + x * 2", "x * (y + T(2))"),
        ("x + x", "T(2) * x"),
        ("x * x * 2 + x * x", "T(3) * x * x"),
        ("x * y / y", "x"),
        ("1 + (x - 1)", "x"),
        ("expm1(x) + 1", "exp(x)"),
        ("1 / (x / y)", "y / x"),
    ],
)
def test_collects(text: str, expected: str) -> None:
    formula = simplify(parse_formula(text, arguments=(X, Y)), collect=True)
    assert python_function(formula, "f").splitlines()[-1] == f"    return {expected}"


def test_equal_parts_are_one() -> None:
    text = "exp(x * y) + log(y * x)"
    body = python_function(simplify(parse_formula(text, arguments=(X, Y))), "f").splitlines()
    assert body[2:] == ["    t0 = x * y", "    return exp(t0) + log(t0)"]
