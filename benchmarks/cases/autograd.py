"""Recording and backward: what the engine and the nodes cost on eight elements."""

from __future__ import annotations

from types import ModuleType
from typing import Any

from benchmarks.case import Call, Case, Work, normal, statement

LEAF, OTHER = normal(8, grad=True), normal(8, grad=True)
X, BATCH, MATRIX = normal(8), normal(4, 8), normal(8, 8)


def _product(T: ModuleType, forgets: bool) -> Work:
    x, y = T.ones(8, requires_grad=True), T.ones(8, requires_grad=True)

    def product() -> None:
        if forgets:
            x.grad = y.grad = None
        (x * y).sum().backward()

    return Work(product, (x, y))


def _second(T: ModuleType) -> Work:
    x = T.ones(8, requires_grad=True)

    def second() -> None:
        (first,) = T.autograd.grad((x * x * x).sum(), x, create_graph=True)
        first.sum().backward()

    return Work(second, (x,))


def _through_a_view(T: ModuleType) -> Work:
    x, factor = T.ones(8, requires_grad=True), T.ones(8) * 2

    def through_a_view() -> None:
        base = x * 1
        base[2:5].mul_(factor[2:5])
        base.sum().backward()

    return Work(through_a_view, (x,))


def _again(T: ModuleType, x: Any, result: Any) -> Work:
    """Backward of a graph that is kept."""
    start = T.ones(8)
    call: Call = lambda: result.backward(start, retain_graph=True)  # noqa: E731
    return Work(call, (x,))


def _long(T: ModuleType) -> Work:
    x, factor = T.ones(8, requires_grad=True), T.ones(8)
    result = x
    for _ in range(100):
        result = result * factor
    return _again(T, x, result)


def _wide(T: ModuleType) -> Work:
    x, factor = T.ones(8, requires_grad=True), T.ones(8)
    result = x * factor
    for _ in range(50):
        result = result + x * factor
    return _again(T, x, result)


CASES = [
    statement("x + y", x=LEAF, y=X, note="recorded"),
    statement("x * y", x=LEAF, y=OTHER, note="recorded"),
    statement("x * x", x=LEAF, note="recorded"),
    statement("x.exp()", x=LEAF, note="recorded"),
    statement("x.view(2, 4)", x=LEAF, note="recorded"),
    Case("`(x * y).sum()`, forward and backward", "8", lambda T: _product(T, True)),
    Case("the same, adding to .grad", "8", lambda T: _product(T, False)),
    statement("torch.mm(a, b).tanh().sum()", a=MATRIX, b=MATRIX, train="b"),
    statement("(x @ w.t() + b).exp().sum()", x=BATCH, w=MATRIX, b=X, train="w b"),
    statement("F.cross_entropy(x, y)", x=BATCH, y=BATCH, train="x"),
    Case("`grad` with `create_graph`, then backward", "8", _second),
    Case("in-place through a view, backward", "8", _through_a_view),
    Case("backward of 100 products in a row", "8", _long),
    Case("backward of 50 uses added up", "8", _wide),
]
