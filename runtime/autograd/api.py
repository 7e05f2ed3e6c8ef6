"""What users call: `backward` fills the leaves' `.grad`, `grad` returns gradients."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import engine, graph
from torchgen_out._runtime.autograd.node import (
    LEAF,
    AccumulateGrad,
    Edge,
    MultiOutputNode,
    Node,
    accumulator,
)
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor, build
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops

_OFF_HOST = keys.DEVICE_MASK << keys.DEVICE_SHIFT
"""The bits of a key that are set for tensors of a device."""


class GradientEdge(NamedTuple):
    """A place in the graph, standing for a tensor without keeping it alive."""

    node: Node
    output_nr: int
    ownership_token: Any = None
    """Of PyTorch, whose nodes in C++ do not keep the graph alive; here the node does."""


def get_gradient_edge(tensor: Tensor) -> GradientEdge:
    """Return the place in the graph where the gradient of `tensor` arrives.

    Raises: RuntimeError if the tensor does not require grad.
    """
    edge = graph.gradient_edge(tensor)
    if edge is None:
        raise errors.edge_without_grad()
    if edge[1] == LEAF:
        return GradientEdge(accumulator(edge[0]), 0)
    return GradientEdge(edge[0], edge[1])


def backward(
    tensors: Any,
    grad_tensors: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    grad_variables: Any = None,
    inputs: Any = None,
) -> None:
    """Add the gradients of `tensors` with respect to the graph's leaves to their `.grad`.

    grad_tensors: the gradient arriving at each tensor; not needed for scalars. retain_graph: keep
    the graph for another backward (default: create_graph). create_graph: record backward itself.
    inputs: the tensors to accumulate into, instead of all leaves.
    """
    keep_graph = create_graph if retain_graph is None else retain_graph
    if create_graph:
        warn(_CYCLE)
    is_one = isinstance(tensors, Tensor) and grad_variables is inputs is None
    if is_one and (grad_tensors is None or isinstance(grad_tensors, Tensor)):
        edge, gradient = _root(0, tensors, grad_tensors)
        if tensors._key & _OFF_HOST:
            _run_backward((tensors,), (edge,), (gradient,), keep_graph, create_graph)
        else:
            engine.run_backward((edge,), (gradient,), keep_graph, create_graph)
        return
    if grad_tensors is None:
        grad_tensors = grad_variables
    elif grad_variables is not None:
        raise errors.both_grad_arguments()
    outputs = _listed(tensors)
    roots, grads = _roots(outputs, _grads_listed(grad_tensors, len(outputs)))
    targets = None
    if inputs is not None:
        targets = _targets(_listed(inputs))
        if not targets:
            raise errors.no_inputs()
        for tensor in _listed(inputs):
            if isinstance(tensor, Tensor) and tensor._edge is not None:
                tensor.retain_grad()
    _run_backward(outputs, roots, grads, keep_graph, create_graph, targets)


def _run_backward(outputs: Sequence[Any], *given: Any) -> list[Any] | None:
    """Run backward in the current stream, when the outputs are made."""
    for output in outputs:
        if getattr(output, "_key", 0) & _OFF_HOST:
            with backends.joined(outputs):
                return engine.run_backward(*given)
    return engine.run_backward(*given)


def grad(
    outputs: Any,
    inputs: Any,
    grad_outputs: Any = None,
    retain_graph: bool | None = None,
    create_graph: bool = False,
    only_inputs: bool = True,
    allow_unused: bool | None = None,
    is_grads_batched: bool = False,
    materialize_grads: bool = False,
) -> tuple[Tensor | None, ...]:
    """Return the gradients of `outputs` with respect to `inputs`; `.grad` stays as it is.

    allow_unused: an input that the outputs do not depend on gets None instead of an error.
    materialize_grads: it gets zeros instead. is_grads_batched: grad_outputs have a dim in front,
    and so have the gradients: one backward pass for each of its places.
    """
    if is_grads_batched:
        how = (True, create_graph, only_inputs, allow_unused, False, materialize_grads)
        return _each_grad(outputs, inputs, grad_outputs, how)
    if materialize_grads and allow_unused is False:
        raise errors.materialize_needs_unused()
    keep_graph = create_graph if retain_graph is None else retain_graph
    inputs = _listed(inputs)
    if isinstance(outputs, Tensor) and (grad_outputs is None or isinstance(grad_outputs, Tensor)):
        edge, gradient = _root(0, outputs, grad_outputs)
        outputs, roots, grads = (outputs,), [edge], [gradient]
    else:
        outputs = _listed(outputs)
        roots, grads = _roots(outputs, _grads_listed(grad_outputs, len(outputs)))
    targets = _targets(inputs)
    found = _run_backward(outputs, roots, grads, keep_graph, create_graph, targets, False)
    assert found is not None
    for position, gradient in enumerate(found):
        if gradient is None:
            if materialize_grads:
                found[position] = ops.zeros_like(inputs[position])
            elif not allow_unused:
                raise errors.unused_input(position)
    return tuple(found)


def _each_grad(
    outputs: Any, inputs: Any, grad_outputs: Any, how: tuple[Any, ...]
) -> tuple[Tensor | None, ...]:
    """The gradients for each of several starts, stacked."""
    ends = _listed(outputs)
    given = _grads_listed(grad_outputs, len(ends))
    counts = {each._sizes[0] for each in given if each is not None and each._sizes}
    if len(counts) != 1 or 0 in counts:
        raise errors.starts_counted(sorted(counts))
    found = [
        grad(ends, inputs, [None if each is None else each[i] for each in given], *how)
        for i in range(counts.pop())
    ]
    return tuple(
        [None if each[0] is None else ops.stack(each) for each in zip(*found, strict=True)]
    )


def _listed(tensors: Any) -> Sequence[Any]:
    if isinstance(tensors, (Tensor, GradientEdge)):
        return (tensors,)
    return tuple(tensors)


def _grads_listed(grads: Any, count: int) -> Sequence[Tensor | None]:
    if grads is None:
        return (None,) * count
    listed = (grads,) if isinstance(grads, Tensor) else tuple(grads)
    if len(listed) != count:
        raise errors.gradients_counted(count, len(listed))
    return listed


def _roots(
    outputs: Sequence[Any], given: Sequence[Tensor | None]
) -> tuple[list[Edge], list[Tensor]]:
    """The edges to start from, and their gradients: those given, or ones for scalars."""
    roots: list[Edge] = []
    grads: list[Any] = []
    for position, (output, gradient) in enumerate(zip(outputs, given, strict=True)):
        edge, gradient = _root(position, output, gradient)
        roots.append(edge)
        grads.append(gradient)
    return roots, grads


def _root(position: int, output: Any, gradient: Tensor | None) -> tuple[Edge, Tensor]:
    edge = graph.gradient_edge(output) if isinstance(output, Tensor) else _edge(output)
    if gradient is not None:
        _check_gradient(position, gradient, output)
    if edge is None:
        raise errors.nothing_to_differentiate(position)
    if gradient is None:
        gradient = _implicit_gradient(output)
    if edge[2] is None:
        edge = (*edge[:2], gradient._sizes, gradient._key, None)
    return edge, gradient


def _targets(inputs: Sequence[Any]) -> list[Edge]:
    targets: list[Any] = [_edge(tensor) for tensor in inputs]
    if None in targets:
        raise errors.gradient_not_needed()
    return targets


def _edge(tensor: Any) -> Edge | None:
    if not isinstance(tensor, GradientEdge):
        return graph.gradient_edge(tensor)
    node, nr = tensor.node, tensor.output_nr
    if isinstance(node, AccumulateGrad):
        return graph.gradient_edge(node.variable)
    known = node.outputs[nr] if isinstance(node, MultiOutputNode) else None
    sizes, key = known or (None, 0)
    return (node, nr, sizes, key, None)


def _check_gradient(position: int, gradient: Any, output: Any) -> None:
    if not isinstance(gradient, Tensor):
        raise errors.gradient_type(gradient)
    if isinstance(output, GradientEdge):
        return
    if gradient._sizes != output._sizes:
        raise errors.gradient_shape(position, gradient._sizes, output._sizes)
    if not (gradient._key ^ output._key) & keys.DTYPE_MASK:
        return
    if gradient.dtype.is_complex != output.dtype.is_complex:
        raise errors.gradient_complexity(position, gradient.dtype, output.dtype)


_CYCLE = (
    "Using backward() with create_graph=True will create a reference cycle between the parameter "
    "and its gradient which can cause a memory leak. Use autograd.grad when creating the graph, "
    "or set the .grad of the parameters to None after use."
)

_ones: dict[int, Any] = {}  # by the key of a number on the CPU, a buffer holding 1


def _implicit_gradient(output: Any) -> Tensor:
    """The gradient of a number with respect to itself, for the caller alone."""
    if isinstance(output, GradientEdge):
        raise errors.edge_needs_gradient()
    sizes = output._sizes
    if sizes and math.prod(sizes) != 1:
        raise errors.implicit_gradient(sizes)
    key = output._key & ~(keys.GRAD | keys.OVERRIDES)
    one = _ones.get(key)
    if one is None:
        return _first_one(output, key)
    buffer = one.copy()
    return build(key, sizes, (1,) * len(sizes), 0, None, buffer)


def _first_one(output: Tensor, key: int) -> Tensor:
    if output.dtype.is_complex:
        raise errors.implicit_gradient_complex(output.dtype)
    one: Tensor = ops.ones_like(output.detach())
    if one.is_cpu:
        _ones[key] = one._dense().copy()
    return one


public.place("autograd.graph", GradientEdge)
