"""A node of the graph: the backward of one recorded operator call, and the edges it feeds.

An *edge* is a tuple `(node, output number, sizes, key, version)`: the node which takes the
gradient, the output of the forward call it belongs to, that output's sizes and dispatch key, to
which the gradient must fit, and for a view the version of its storage for which the edge holds
(otherwise None). A leaf's edge is `(leaf, LEAF, sizes, key, None)`: it leads to the tensor itself,
so that recording makes no accumulator; there is one as soon as somebody asks for it.
"""

from __future__ import annotations

import itertools
import re
import weakref
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from torchgen_out._runtime.autograd import hooks
from torchgen_out._runtime.core import public

Edge = tuple[Any, int, Any, int, int | None]

LEAF = -1

next_sequence_nr = itertools.count().__next__
"""Numbers nodes in the order of recording, which is a topological order of every graph."""


class Node:
    """The backward of one call.

    A subclass is made without arguments; whoever records sets `edges` (one per differentiable
    input, None where none is needed) and the saved values, and `graph.attach` the rest.
    """

    __slots__ = ("__weakref__", "_slices", "edges", "extras", "sequence_nr")

    edges: tuple[Edge | None, ...]
    extras: hooks.Extras | None
    sequence_nr: int

    _slices: weakref.ref[Node]
    """Of the node of a write through a view: the `CopySlices` that runs it. Others have none."""

    num_outputs = 1
    """How many results the forward call has; a node of several is a `MultiOutputNode`."""

    takes_undefined = False
    """Whether `apply` runs on missing gradients (None); others pass them on without running."""

    if TYPE_CHECKING:

        def __setattr__(self, name: str, value: Any) -> None: ...

    def apply(self, *grads: Any) -> tuple[Any, ...]:
        """Return one gradient per edge from one gradient per output."""
        raise NotImplementedError(f"{self.name()} does not implement apply")

    def release(self) -> None:
        """Drop the saved tensors: the graph has been used up."""

    # -- what users see -----------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        """What is saved, by PyTorch's names: `_saved_self` of the slot `saved_self`.

        `_raw_saved_self` is what keeps a tensor there, and takes hooks.
        """
        slot = name.removeprefix("_raw")[1:].replace("_sym_sizes", "_sizes")
        if name.startswith(("_saved_", "_raw_saved_")) and slot in _saved_slots(self):
            read, read_raw = _readers[-1]
            found = read(self, slot) if name.startswith("_saved_") else read_raw(self, slot)
            if found is not NotImplemented:
                return found
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")

    def __dir__(self) -> list[str]:
        slots = _saved_slots(self)
        raw = [
            f"_raw_{slot}" for slot in slots if _readers[-1][1](self, slot) is not NotImplemented
        ]
        own = [f"_{re.sub('_sizes$', '_sym_sizes', slot)}" for slot in slots]
        return [*super().__dir__(), *own, *raw]

    def name(self) -> str:
        """Return what kind of node this is."""
        return type(self).__name__

    @property
    def next_functions(self) -> tuple[tuple[Any, int], ...]:
        """The nodes that this one feeds, each with its output number."""
        return tuple(_public_edge(edge) for edge in self.edges)

    @property
    def metadata(self) -> dict[Any, Any]:
        """A dictionary for the user."""
        return hooks.extras_of(self).metadata

    def register_hook(self, fn: Callable[[Any, Any], Any]) -> hooks.RemovableHandle:
        """Call `fn(grad_inputs, grad_outputs)` after the node; it may replace grad_inputs."""
        return hooks.add_hook(hooks.extras_of(self).post_hooks, fn)

    def register_prehook(self, fn: Callable[[Any], Any]) -> hooks.RemovableHandle:
        """Call `fn(grad_outputs)` before the node; it may replace grad_outputs."""
        return hooks.add_hook(hooks.extras_of(self).pre_hooks, fn)

    def __call__(self, *grads: Any) -> Any:
        results = self.apply(*grads)
        return results[0] if len(results) == 1 else results

    def _sequence_nr(self) -> int:
        return self.sequence_nr

    def _input_metadata(self) -> list[Any]:
        return [None] * self.num_outputs

    def __repr__(self) -> str:
        return f"<{type(self).__name__} object at {id(self):#x}>"


def _saved_slots(node: Node) -> tuple[str, ...]:
    """The slots of what a node saves."""
    named = [slot for each in type(node).__mro__ for slot in getattr(each, "__slots__", ())]
    return tuple(sorted(slot for slot in named if slot.startswith("saved_")))


Reader = Callable[[Node, str], Any]

_readers: list[tuple[Reader, Reader]] = []


def on_read(read: Reader, read_raw: Reader) -> None:
    """Have read(node, slot) tell users what is saved, and read_raw what keeps it.

    The latter returns NotImplemented where a slot keeps no tensor.
    """
    _readers.append((read, read_raw))


class MultiOutputNode(Node):
    """The backward of a call with several results.

    outputs: per result its (sizes, key), or None if it is not differentiable.
    """

    __slots__ = ("num_outputs", "outputs")

    num_outputs: int
    outputs: tuple[tuple[Any, int] | None, ...]

    materializes = True
    """Whether a missing gradient among present ones arrives as zeros (else as None)."""


class AccumulateGrad(Node):
    """The end of the graph: adds what arrives to a leaf's `.grad`."""

    __slots__ = ("_variable",)

    def __init__(self, leaf: Any) -> None:
        self.edges = ()
        self.extras = None
        self.sequence_nr = next_sequence_nr()
        self._variable = weakref.ref(leaf)

    def name(self) -> str:
        return "torch::autograd::AccumulateGrad"

    @property
    def variable(self) -> Any:
        """The leaf."""
        return self._variable()


def accumulator(leaf: Any) -> AccumulateGrad:
    """Return the leaf's one AccumulateGrad. It refers to the leaf weakly."""
    meta = hooks.meta_of(leaf)
    if meta.accumulator is None:
        meta.accumulator = AccumulateGrad(leaf)
    made: AccumulateGrad = meta.accumulator
    return made


def _public_edge(edge: Edge | None) -> tuple[Any, int]:
    if edge is None:
        return None, 0
    target, output_nr, *_ = edge
    return (accumulator(target), 0) if output_nr == LEAF else (target, output_nr)


public.place("autograd.graph", Node)
public.place("autograd.function", MultiOutputNode)
