"""Running backward: nodes in the reverse order of recording, each once, when all has arrived.

Cost on top of the nodes' own work (Zen 5, Python 3.11; `benchmarks/engine.py` measures it):
0.4 us per node of a chain - 0.1 to count it, 0.1 to call `apply` and `release`, 0.2 to deliver its
gradient -, 0.9 us where many are ready at once, and 1.8 us once per backward.
"""

from __future__ import annotations

import itertools
import sys
import threading
from collections.abc import Sequence
from functools import partial
from heapq import heappop, heappush, heappushpop
from operator import attrgetter
from typing import Any, NamedTuple

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import accumulate, anomaly, grad_mode, hooks
from torchgen_out._runtime.autograd.node import LEAF, Edge, Node
from torchgen_out._runtime.autograd.sum_to_size import fit
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import tensor as tensors
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import overrides

_SAME = keys.GRAD - 1 & ~keys.ZERO_DIM  # the bits of the key in which a gradient must agree

Pending = dict[Any, int]
Wanted = dict[Any, list[tuple[int, int]]]

_edges_of, _sequence_nr_of = attrgetter("edges"), attrgetter("sequence_nr")

_DEPTH_PER_THREAD = 40  # each takes some ten frames of the thousand that Python allows

next_task_nr = itertools.count().__next__


class Task(NamedTuple):
    """A running backward, as `grad_mode.state.task` of its thread."""

    number: int
    pending: Pending
    """How many gradients each node and leaf that has yet to run still waits for."""
    is_restricted: bool
    """Whether it goes to chosen inputs only."""
    outer: Task | None
    """The backward whose node runs this one."""
    depth: int
    """How many are around it in this thread."""


_new_task = partial(tuple.__new__, Task)  # without the checks of `Task(...)`: half of its time


def run_backward(
    roots: Sequence[Edge],
    grads: Sequence[Tensor | None],
    keep_graph: bool,
    create_graph: bool,
    targets: Sequence[Edge] | None = None,
    accumulates: bool = True,
) -> list[Any] | None:
    """Send `grads` into `roots` and on through the graph to its leaves.

    targets: go only where these edges can be reached. accumulates: add to the leaves' `.grad`;
    otherwise return the gradients that arrived at the targets, None where none did.
    """
    if overrides.InUse.classes and overrides.state.enabled:
        # What was saved is of the class that the caller gave.
        with overrides.DisableTorchFunctionSubclass():
            return run_backward(roots, grads, keep_graph, create_graph, targets, accumulates)
    state = grad_mode.state
    outer = state.task
    depth = 0 if outer is None else outer.depth + 1
    if depth == _DEPTH_PER_THREAD:
        return _in_new_thread(roots, grads, keep_graph, create_graph, targets, accumulates)
    wanted: Wanted = {}
    captured: list[Any] | None = None
    if targets is None:
        pending, _ = _count(roots)
    else:
        pending = _count_towards(roots, targets)
        wanted = _wanted(targets)
        captured = None if accumulates else [None] * len(targets)
    before, state.enabled = state.enabled, create_graph
    state.task = _new_task((next_task_nr(), pending, targets is not None, outer, depth))
    try:
        _run(roots, grads, pending, keep_graph, wanted, captured)
        if state.callbacks:
            _run_callbacks()
    finally:
        state.enabled, state.task = before, outer
        if outer is None:
            state.callbacks = None
    return captured


def _in_new_thread(*args: Any) -> list[Any] | None:
    """`run_backward` where Python's stack is empty: for backward deep inside of backward."""
    outer = grad_mode.state.task
    outcome: list[list[Any] | BaseException | None] = []
    carry = backends.carried()

    def run() -> None:
        carry()
        grad_mode.state.task = outer._replace(depth=-1)
        try:
            outcome.append(run_backward(*args))
        except BaseException as error:
            outcome.append(error)

    thread = threading.Thread(target=run)
    thread.start()
    thread.join()
    (ended,) = outcome
    if isinstance(ended, BaseException):
        raise ended
    return ended


# -- about the backward that is running in this thread ------------------------------------------


def task_nr() -> int:
    """Return the number of the running backward; -1 if none runs."""
    task = grad_mode.state.task
    return -1 if task is None else task.number


def is_yet_to_run(target: Any) -> bool:
    """Return whether the running backward has still to come to a node or leaf."""
    return target in grad_mode.state.task.pending


def is_restricted() -> bool:
    """Return whether the running backward, or one around it, goes to chosen inputs only."""
    task = grad_mode.state.task
    while task is not None:
        if task.is_restricted:
            return True
        task = task.outer
    return False


def queue_callback(callback: Any) -> None:
    """Call `callback()` when the backward that is running in this thread has finished."""
    state = grad_mode.state
    if state.task is None:
        raise errors.no_backward_runs()
    state.callbacks = [*(state.callbacks or ()), callback]


def _run_callbacks() -> None:
    while grad_mode.state.callbacks:
        callbacks, grad_mode.state.callbacks = grad_mode.state.callbacks, None
        for callback in callbacks:
            callback()


# -- which nodes, and how many gradients each waits for -----------------------------------------


def _count(roots: Sequence[Edge]) -> tuple[Pending, list[Node]]:
    """How many gradients every node and leaf below `roots` will receive, and these nodes."""
    pending: Pending = {}
    nodes: list[Node] = []
    push = nodes.append
    for edges in itertools.chain(
        (roots,), map(_edges_of, nodes)
    ):  # of nodes that are found meanwhile, too
        for edge in edges:
            if edge is not None:
                target = edge[0]
                if target in pending:
                    pending[target] += 1
                else:
                    pending[target] = 1
                    if edge[1] != LEAF:
                        push(target)
    return pending, nodes


def _count_towards(roots: Sequence[Edge], targets: Sequence[Edge]) -> Pending:
    """The same, for those nodes alone through which a target is reached.

    Sequence numbers rise along every path from the leaves, so one pass in their order suffices.
    """
    everything, nodes = _count(roots)
    nodes.sort(key=_sequence_nr_of)
    pending: Pending = {edge[0]: 0 for edge in targets if edge[0] in everything}
    for node in nodes:
        leads = False
        for edge in node.edges:
            if edge is not None and edge[0] in pending:
                pending[edge[0]] += 1
                leads = True
        if leads and node not in pending:
            pending[node] = 0
    for edge in roots:
        if edge[0] in pending:
            pending[edge[0]] += 1
    return pending


def _wanted(targets: Sequence[Edge]) -> Wanted:
    """For each target, which of its outputs is asked for, and its place in the answer."""
    wanted: Wanted = {}
    for place, edge in enumerate(targets):
        wanted.setdefault(edge[0], []).append((max(edge[1], 0), place))
    return wanted


# -- the loop -----------------------------------------------------------------------------------


def _run(
    roots: Sequence[Edge],
    root_grads: Sequence[Tensor | None],
    pending: Pending,
    keep_graph: bool,
    wanted: Wanted,
    captured: list[Any] | None,
) -> None:
    """Deliver gradients along edges; run each node when its last one has arrived.

    One function, because every call in here is paid per edge. The next node stays in local
    variables; only while several are ready at once do they wait in a heap, last recorded first.
    """
    waiting: list[tuple[int, Node, Any]] = []
    arrived: dict[Any, Any] = {}  # by node; by (node, output number) beyond the first output
    take_count, held = pending.pop, arrived.pop
    unshared = accumulate.unshared
    watched, several = anomaly.is_on, hooks.SEVERAL_OUTPUTS
    node: Any = None
    inputs: tuple[Any, ...] | None
    edges: Any = roots
    results: Any = root_grads
    while True:
        ready = None
        for edge, grad in zip(edges, results):  # noqa: B905 (strict=True costs 50 ns)
            if edge is None:
                continue
            target, nr, sizes, key, _ = edge
            count = take_count(target, None)
            if count is None:
                continue
            if grad is not None and (
                (grad._sizes is not sizes and grad._sizes != sizes) or (grad._key ^ key) & _SAME
            ):
                grad = fit(grad, edge, node)
            references = unshared
            place = target if nr <= 0 else (target, nr)
            if arrived and place in arrived:
                if grad is None:
                    grad, references = held(place), 0
                else:
                    grad, references = accumulate.add(held(place), grad), accumulate.FRESH
            if count > 1:
                pending[target] = count - 1
                if grad is not None:
                    arrived[place] = grad
                continue
            if nr < 0:
                if captured is not None:
                    _capture(target, (accumulate.pass_hooks(target, grad),), wanted, captured)
                elif grad is not None:
                    accumulate.into_leaf(target, grad, references)
                continue
            if nr > 0:
                arrived[place] = grad
                grad = held(target, None)
            if ready is None:
                ready, first = target, grad
            else:
                heappush(waiting, (-target.sequence_nr, target, grad))
        if ready is None:
            if not waiting:
                return
            _, ready, first = heappop(waiting)
        elif waiting and waiting[0][0] < -ready.sequence_nr:
            _, ready, first = heappushpop(waiting, (-ready.sequence_nr, ready, first))
        node = ready
        edges = node.edges
        edge = grad = results = None  # let go of gradients before memory is needed for new ones
        extras = node.extras
        is_single = extras is None
        if watched or not (is_single or extras is several) or (wanted and node in wanted):
            inputs = (first,) if node.num_outputs == 1 else _gather(node, first, arrived)
            results = _run_carefully(node, inputs, pending, keep_graph, wanted, captured)
            inputs = None
        elif is_single:
            if first is not None or node.takes_undefined:
                results = node.apply(first)
            else:
                results = (None,) * len(edges)
            if not keep_graph:
                node.release()
        else:
            results = _run_several(node, _gather(node, first, arrived), keep_graph)
        first = None


def _gather(node: Any, first: Tensor | None, arrived: dict[Any, Any]) -> tuple[Any, ...]:
    """The gradients of all outputs of a node of several; None for one without influence.

    Where some are there and the node asks for it, the missing ones are zeros.
    """
    grads = [first, *[arrived.pop((node, nr), None) for nr in range(1, node.num_outputs)]]
    if node.materializes and _any_given(grads):
        for nr, output in enumerate(node.outputs):
            if grads[nr] is None and output is not None:
                grads[nr] = accumulate.zeros(*output)
    return tuple(grads)


def _run_several(node: Any, grads: tuple[Any, ...], keep_graph: bool) -> tuple[Any, ...]:
    """Run a node of several outputs that nobody watches."""
    results: tuple[Any, ...] = (None,) * len(node.edges)
    if node.takes_undefined or _any_given(grads):
        results = node.apply(*grads)
    if not keep_graph:
        node.release()
    return results


def _any_given(grads: Sequence[Tensor | None]) -> bool:
    """Whether there is a gradient; in a loop, as `in` would compare tensors."""
    for grad in grads:  # noqa: SIM110 (a generator costs as much as all else)
        if grad is not None:
            return True
    return False


def _run_carefully(
    node: Any,
    inputs: tuple[Any, ...],
    pending: Pending,
    keep_graph: bool,
    wanted: Wanted,
    captured: list[Any] | None,
) -> tuple[Any, ...]:
    """Run a node with hooks, under anomaly mode, or that is asked for."""
    edges = node.edges
    is_end = node in wanted and not any(edge is not None and edge[0] in pending for edge in edges)
    if captured is not None and node in wanted and not is_end:
        _capture(node, inputs, wanted, captured)  # as in PyTorch before the hooks, if it goes on
    if node.extras is not None:
        inputs = hooks.before_tensors(node.extras, inputs)
    if is_end:
        if captured is not None:
            _capture(node, inputs, wanted, captured)
        return (None,) * len(edges)
    if node.extras is not None:
        inputs = hooks.before_node(node.extras, inputs)
    if not node.takes_undefined and not _any_given(inputs):
        results: Any = (None,) * len(edges)
    elif anomaly.is_on:
        results = anomaly.apply(node, inputs)
    else:
        results = node.apply(*inputs)
    if not keep_graph:
        node.release()
    if node.extras is None or not node.extras.post_hooks:
        return tuple(results)
    fitting = tuple(  # as the operands get them
        grad if grad is None or edge is None or edge[2] is None else fit(grad, edge, node)
        for grad, edge in zip(results, edges, strict=True)
    )
    return hooks.after_node(node.extras, fitting, inputs)


def _capture(target: Any, grads: Sequence[Any], wanted: Wanted, captured: list[Any]) -> None:
    for nr, place in wanted[target]:
        captured[place] = grads[nr]


def _measure_references() -> None:
    """Set `accumulate.unshared`: the references to a gradient that `_run` hands to `into_leaf`.

    A leaf keeps such a gradient as its `.grad` if nobody else has it, and a copy of it otherwise:
    what else could have it shows in the number of references alone. How many of them are `_run`'s
    own (its variable, the results that it walks through, the argument) is the interpreter's
    business and changes with its versions, so one gradient is sent through at import and counted.
    """

    class Source(Node):
        __slots__ = ()

        def apply(self, grad: Any) -> tuple[Any, ...]:
            return (tensors.make_tensor(None, (), dtypes.float32),)

    def count(leaf: Any, grad: Any, references: int) -> None:
        accumulate.unshared = sys.getrefcount(grad)

    leaf = tensors.make_tensor(None, (), dtypes.float32)
    source = Source()
    source.edges = ((leaf, LEAF, leaf._sizes, leaf._key, None),)
    source.extras = None
    root: Edge = (source, 0, leaf._sizes, leaf._key, None)
    into_leaf, accumulate.into_leaf = accumulate.into_leaf, count
    try:
        _run((root,), (leaf,), _count((root,))[0], False, {}, None)
    finally:
        accumulate.into_leaf = into_leaf


_measure_references()
