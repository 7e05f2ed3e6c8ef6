"""Where the time of a call goes: its steps timed one by one, by what they call themselves."""

from __future__ import annotations

import importlib
import inspect
from collections.abc import Callable
from typing import Any

import numpy as np

from benchmarks import timing
from torchgen_out._runtime.autograd import engine, graph
from torchgen_out._runtime.autograd.node import Node
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import build
from torchgen_out._runtime.dispatch.operator import operators
from torchgen_out._runtime.kernels.cpu import pool

TITLE = "Where the time of a call goes"
OURS: Any = importlib.import_module("torchgen_out")
Step = tuple[str, Callable[[], object]]


def _nothing() -> None: ...


def _forward_steps() -> list[Step]:
    """What `x + y` calls, from the outside in; each step contains those below it."""
    x, y = OURS.randn(8), OURS.randn(8)
    calls = operators["add.Tensor"].calls
    binding, below = type(x).__add__, calls[x._key, y._key]
    x + y  # compiles
    a, b = x._flat, y._flat
    buffer = np.empty(8, np.float32)
    kernel = _kernel_of(below)
    lend = pool.any_size(buffer.dtype)
    return [
        ("`x + y`", lambda: x + y),
        ("its binding `Tensor.__add__`", lambda: binding(x, y)),
        ("the call found in the table", lambda: below(x, y, 1)),
        ("the kernel", lambda: kernel(buffer, a, b)),
        ("the memory of the result", lambda: np.empty(8, np.float32)),
        ("that of 2^20 numbers, lent and taken back", lambda: lend(1 << 20)),
        ("the record of the result", lambda: build(x._key, x._sizes, x._strides, 0, None, a)),
    ]


def _kernel_of(call: Any) -> Any:
    """The compiled function that a resolved call of `add` holds."""
    return inspect.getclosurevars(call).nonlocals["kernel"]


class _End(Node):
    """Takes a gradient and passes nothing on."""

    __slots__ = ()

    def apply(self, grad: Any) -> tuple[Any, ...]:
        """Nothing goes on."""
        return ()


def _backward_steps() -> list[Step]:
    """What `(x * y).sum().backward()` does."""
    x, y = OURS.randn(8, requires_grad=True), OURS.randn(8, requires_grad=True)
    a, b, one = OURS.randn(8), OURS.randn(8), OURS.ones(())

    def whole() -> None:
        x.grad = y.grad = None
        (x * y).sum().backward()

    def leaves() -> None:
        x.grad = y.grad = None

    product, total = x * y, (x * y).sum()
    sum_node, mul_node = total.grad_fn, product.grad_fn
    grad = OURS.ones(8)
    edge = _edge_to(_End())
    return [
        ("`(x * y).sum().backward()`, gradients taken away first", whole),
        ("taking the gradients away", leaves),
        ("`x * y` without recording", lambda: a * b),
        ("`x * y`, recorded", lambda: x * y),
        ("`.sum()` without recording", lambda: a.sum()),
        ("`.sum()`, recorded", lambda: product.sum()),
        ("the node of the sum: a view that repeats its gradient", lambda: sum_node.apply(one)),
        ("the node of the product: one kernel for both factors", lambda: mul_node.apply(grad)),
        (
            "the engine, for one node that ends",
            lambda: engine.run_backward((edge,), (grad,), True, False, None),
        ),
    ]


def _edge_to(node: Any) -> Any:
    node.edges = ()
    result = OURS.ones(8)
    graph.attach(result, node)
    result._key |= keys.GRAD
    return graph.gradient_edge(result)


def table(rounds: int) -> list[str]:
    """The page's lines. A call of nothing is taken off every step."""
    lines = []
    for title, steps in (
        ("`x + y` of eight numbers: each step contains what it calls", _forward_steps()),
        ("`(x * y).sum().backward()`: the parts one by one", _backward_steps()),
    ):
        functions = [_nothing, *[function for _, function in steps]]
        nothing, *times = timing.best_in_turns(functions, rounds)
        lines += [f"{title}:", "", "| step | us |", "|---|--:|"]
        lines += [
            f"| {name} | {(each - nothing) * 1e6:.2f} |"
            for (name, _), each in zip(steps, times, strict=True)
        ]
        lines.append("")
    return lines[:-1]
