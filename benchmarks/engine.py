"""The backward engine alone, over nodes that hand their gradient on."""

from __future__ import annotations

import importlib
from typing import Any

from benchmarks import timing
from benchmarks.case import Call
from torchgen_out._runtime.autograd import engine, graph
from torchgen_out._runtime.autograd.node import Node

TITLE = "The backward engine alone"
OURS: Any = importlib.import_module("torchgen_out")
LENGTH = 1000


class Pass(Node):
    """Hands its gradient on."""

    __slots__ = ()

    def apply(self, grad: Any) -> tuple[Any, ...]:
        """Return the gradient as it came."""
        return (grad,)


def _chain(length: int) -> Any:
    """The edge to the last of a chain of nodes over one leaf."""
    edge = graph.gradient_edge(OURS.ones(8, requires_grad=True))
    for _ in range(length):
        result = OURS.ones(8)
        node = Pass()
        node.edges = (edge,)
        graph.attach(result, node)
        edge = graph.gradient_edge(result)
    return edge


def _backward(edge: Any) -> Call:
    roots, grads = (edge,), (OURS.ones(8),)
    return lambda: engine.run_backward(roots, grads, True, False, None)


def table(rounds: int) -> list[str]:
    """The page's lines."""
    calls = [_backward(_chain(1)), _backward(_chain(LENGTH + 1))]
    one, many = timing.best_in_turns(calls, rounds)
    per_node = (many - one) / LENGTH
    return [
        "| what | us |",
        "|---|--:|",
        f"| a node: counting it, calling its `apply` and `release` | {per_node * 1e6:.2f} |",
        f"| once per backward, with one leaf added to | {(one - per_node) * 1e6:.2f} |",
    ]
