"""Recording and backward: the engine's own cost per node, and small graphs beside PyTorch's."""

from __future__ import annotations

import math
from collections.abc import Callable
from types import ModuleType
from typing import Any

from benchmarks import timing

Case = Callable[[], object]


def cases(T: ModuleType) -> dict[str, Case]:
    """The workload, written once against a module with PyTorch's interface."""
    x, y = T.ones(8, requires_grad=True), T.ones(8, requires_grad=True)
    factor, start = T.ones(8), T.ones(8)
    weight, bias = T.ones(8, 8, requires_grad=True), T.ones(8, requires_grad=True)
    batch = T.ones(4, 8)

    def chain(length: int) -> Any:
        result = x
        for _ in range(length):
            result = result * factor
        return result

    def fan(width: int) -> Any:
        result = x * factor
        for _ in range(width):
            result = result + x * factor
        return result

    def forget_grad() -> None:
        x.grad = y.grad = weight.grad = bias.grad = None

    def product() -> None:
        forget_grad()
        (x * y).sum().backward()

    def accumulated() -> None:
        (x * y).sum().backward()

    def layer() -> None:
        forget_grad()
        (batch @ weight.t() + bias).exp().sum().backward()

    def second() -> None:
        (first,) = T.autograd.grad((x * x * x).sum(), x, create_graph=True)
        first.sum().backward()

    def through_a_view() -> None:
        base = x * 1
        base[2:5].mul_(factor[2:5])
        base.sum().backward()

    long, wide = chain(100), fan(50)
    return {
        "x * y, recorded": lambda: x * y,
        "x.exp(), recorded": lambda: x.exp(),
        "x.view(2, 4), recorded": lambda: x.view(2, 4),
        "(x * y).sum(), forward and backward": product,
        "the same, adding to .grad": accumulated,
        "layer, forward and backward": layer,
        "grad with create_graph, backward": second,
        "in-place through a view, backward": through_a_view,
        "backward of 100 products in a row": lambda: long.backward(start, retain_graph=True),
        "backward of 50 uses added up": lambda: wide.backward(start, retain_graph=True),
    }


def engine_costs() -> list[str]:
    """The engine alone, over nodes that hand their gradient on."""
    import torchgen_out as T
    from runtime.autograd import engine, graph
    from runtime.autograd.node import Node

    class Pass(Node):
        __slots__ = ()

        def apply(self, grad: Any) -> tuple[Any, ...]:
            return (grad,)

    def chain(length: int) -> Any:
        edge = graph.gradient_edge(T.ones(8, requires_grad=True))
        for _ in range(length):
            result = T.ones(8)
            node = Pass()
            node.edges = (edge,)
            graph.attach(result, node)
            edge = graph.gradient_edge(result)
        return edge

    def backward(edge: Any) -> Case:
        roots, grads = (edge,), (T.ones(8),)
        targets: list[Any] = []
        return lambda: engine.run_backward(roots, grads, True, False, targets or None)

    one, thousand = timing.best_in_turns([backward(chain(1)), backward(chain(1001))])
    per_node = (thousand - one) / 1000
    return [
        f"The engine alone: {per_node * 1e9:.0f} ns per node of a chain (counting it, calling its "
        f"`apply` and `release`), {(one - per_node) * 1e6:.1f} us once per backward, with one "
        "leaf added to."
    ]


def run() -> None:
    """Print and write the table."""
    import torch

    import torchgen_out

    torch.set_num_threads(1)
    lines = [*engine_costs(), "", "| | ours, us | PyTorch, us | ratio |", "|---|---|---|---|"]
    print(lines[0])
    ours, theirs = cases(torchgen_out), cases(torch)
    ratios = []
    for name in ours:
        mine, other = timing.best_in_turns([ours[name], theirs[name]])
        ratios.append(mine / other)
        lines.append(f"| {name} | {mine * 1e6:.2f} | {other * 1e6:.2f} | {mine / other:.2f} |")
        print(lines[-1], flush=True)
    mean = math.exp(sum(map(math.log, ratios)) / len(ratios))
    lines += ["", f"Geometric mean of the ratios: {mean:.2f}. Budget: 0.8, no case above 1.5."]
    print(lines[-1])
    timing.write("autograd", "Recording and backward on eight elements", lines)


if __name__ == "__main__":
    run()
