"""What users see as `autograd.graph`: nodes, edges, and hooks over several places of the graph."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any

from torchgen_out._runtime.autograd import engine, hooks
from torchgen_out._runtime.autograd.api import GradientEdge, get_gradient_edge
from torchgen_out._runtime.autograd.graph import bump_version, gradient_edges
from torchgen_out._runtime.autograd.node import Node
from torchgen_out._runtime.autograd.saved import disable_saved_tensors_hooks, saved_tensors_hooks
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor

__all__ = [
    "GradientEdge",
    "Node",
    "allow_mutation_on_saved_tensors",
    "disable_saved_tensors_hooks",
    "get_gradient_edge",
    "increment_version",
    "register_multi_grad_hook",
    "save_on_cpu",
    "saved_tensors_hooks",
]


class save_on_cpu(saved_tensors_hooks):
    """Keep the tensors saved inside in host memory, and bring them back for backward.

    pin_memory: keep them in pinned memory, so that the way back runs alongside computation.
    """

    def __init__(self, pin_memory: bool = False, device_type: str = "cuda") -> None:
        def pack(tensor: Tensor) -> tuple[Any, Tensor]:
            packed = tensor.detach().cpu()
            if packed.device == tensor.device:
                packed = packed.clone()
            return tensor.device, packed.pin_memory() if pin_memory else packed

        def unpack(packed: tuple[Any, Tensor]) -> Tensor:
            device, tensor = packed
            return tensor.to(device, non_blocking=pin_memory)

        super().__init__(pack, unpack)


@contextmanager
def allow_mutation_on_saved_tensors() -> Iterator[saved_tensors_hooks]:
    """Let what is saved inside be written to: backward, inside as well, has the values of before.

    Every saved tensor is copied when it is saved, where PyTorch waits for the write.
    """
    is_open = True

    def unpack(saved: Tensor) -> Tensor:
        if not is_open:
            raise AssertionError(
                "Trying to backward outside of the 'allow_mutation_on_saved_tensors' context in "
                "which the graph was originally recorded."
            )
        return saved

    try:
        with (context := saved_tensors_hooks(lambda tensor: tensor.detach().clone(), unpack)):
            yield context
    finally:
        is_open = False


def increment_version(tensor: Tensor | Sequence[Tensor]) -> None:
    """Count a write that autograd could not see."""
    for each in (tensor,) if isinstance(tensor, Tensor) else tensor:
        bump_version(each)


class _Handles:
    """The handles of one hook on several tensors."""

    def __init__(self, handles: Sequence[hooks.RemovableHandle]) -> None:
        self.handles = tuple(handles)

    def remove(self) -> None:
        """Take the hook out everywhere."""
        for handle in self.handles:
            handle.remove()

    def __enter__(self) -> _Handles:
        return self

    def __exit__(self, *exc: object) -> None:
        self.remove()


def register_multi_grad_hook(
    tensors: Sequence[Tensor], fn: Callable[[Any], Any], *, mode: str = "all"
) -> _Handles:
    """Call `fn` when the gradients of `tensors` have been computed in a backward.

    mode 'all': with a list of them, None for those that backward does not reach.
    mode 'any': with the first one that arrives.
    """
    if mode not in ("all", "any"):
        raise ValueError(f"Expects mode to be one of ('all', 'any') but got {mode}")
    if mode == "any":
        once = _once_per_backward(fn)
        return _Handles([tensor.register_hook(once) for tensor in tensors])
    targets = [edge[0] for edge in gradient_edges(tensors) if edge is not None]
    arrived: dict[int, list[Any]] = {}  # by the backward's number
    missing: dict[int, int] = {}

    def make(position: int) -> Callable[[Tensor], None]:
        def hook(grad: Tensor) -> None:
            number = engine.task_nr()
            if number not in arrived:
                arrived[number] = [None] * len(tensors)
                missing[number] = 1 + sum(map(engine.is_yet_to_run, targets))
            arrived[number][position] = grad
            missing[number] -= 1
            if not missing[number]:
                del missing[number]
                fn(arrived.pop(number))

        return hook

    return _Handles([tensor.register_hook(make(i)) for i, tensor in enumerate(tensors)])


def _once_per_backward(fn: Callable[[Any], Any]) -> Callable[[Tensor], None]:
    last = -1

    def hook(grad: Tensor) -> None:
        nonlocal last
        number = engine.task_nr()
        if number != last:
            last = number
            fn(grad)

    return hook


public.place("autograd.graph", save_on_cpu)
