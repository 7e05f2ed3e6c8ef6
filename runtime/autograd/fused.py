"""Nodes of pointwise calls: one kernel, chosen when a call is recorded, gives all gradients.

A generated `FusedNode` is data: the call's arguments, and a kernel for every set of inputs that may
need a gradient. What a node saves and how it calls the kernel is written here, once for each set
that occurs, as straight-line code: a call that is recorded, and a node that runs, decide nothing.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, ClassVar

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import saved
from torchgen_out._runtime.autograd.grad_mode import state
from torchgen_out._runtime.autograd.graph import (
    attach,
    check_inplace,
    gradient_edge,
    rebase_history,
)
from torchgen_out._runtime.autograd.node import LEAF, Node
from torchgen_out._runtime.autograd.saved import (
    save,
    save_operand,
    save_original,
    save_result,
    unpack,
)
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.cached import cached
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.dispatch.operator import Call, Pointwise
from torchgen_out._runtime.dispatch.signature import kind_of

Needs = tuple[bool | None, ...]
"""By input: whether it needs a gradient, None if it is absent."""

COMPUTED = frozenset(
    each.name for each in dtypes.ALL if each.kind in "fc" and each.itemsize > 1
)  # numbers of one byte are only stored
"""The dtypes that gradients have."""


class BackwardKernel(Pointwise):
    """The gradients of a pointwise operator for some of its inputs: an operator below autograd.

    formula: the scalar function of `grad` and what the node has saved. gradient: the same over
    public operators, for `create_graph=True`. operands: what it reads of tensors, by kind as for
    `Operator`. gives: the inputs whose gradients are its results. values: what it reads besides,
    'scalar' or 'raw', behind the operands. promoted: the operands whose dtype counts; all unless
    given.
    """

    def __init__(
        self,
        formula: Any,
        gradient: Call,
        operands: dict[str, str],
        gives: tuple[str, ...],
        *,
        values: dict[str, str] | None = None,
        promoted: tuple[str, ...] | None = None,
    ) -> None:
        name = formula.__name__
        tensors = ", ".join(f"Tensor {each}" for each in operands)
        super().__init__(
            f"{name}({tensors}) -> {', '.join(gives)}",
            operands,
            arguments={**dict.fromkeys(operands, "operand"), **(values or {})},
            promoted=promoted,
            dtypes=COMPUTED,
            formulas={(): formula},
            outputs=len(gives),
        )
        self.gradient = gradient
        self.gives = gives

    @property
    def reads(self) -> dict[str, str]:
        """What a node saves for it: the kind of each argument but `grad`, in order."""
        kinds = self.arguments | self.operands
        return {name: kinds[name] for name in kinds if name != "grad"}


class FusedNode(Node):
    """The backward of a pointwise call.

    arguments: of the call, in order. inputs: those that may need a gradient. cases: the kernel for
    each set of inputs that do; where some set has none, the kernel for all of them serves.
    recorded: of `second_gradients`, what gradients pass through where they are recorded.
    """

    __slots__ = ()

    arguments: ClassVar[tuple[str, ...]]
    inputs: ClassVar[tuple[str, ...]]
    cases: ClassVar[dict[Needs, BackwardKernel]] = {}
    recorded: ClassVar[Any] = None

    @classmethod
    def recording(cls, below: Call, *needs: bool | None, inplace: bool = False) -> Call:
        """Record this node around `below`, which writes to its first argument if inplace."""
        return _make_recording(cls, needs, inplace)(below)


def as_tensor_of(value: Any, grad: Tensor) -> Tensor:
    """An operand for the public operators of a derivative: in the gradient's dtype if narrower.

    The formula was computed in that dtype; `1 / y` of an integer y would be in the default one. A
    number becomes a zero-dimensional tensor.
    """
    if isinstance(value, Tensor):
        if not (value._key ^ grad._key) & keys.DTYPE_MASK:
            return value
        own, wanted = value.dtype, grad.dtype
        is_narrow = own.kind in "bi" or (own.kind == wanted.kind and own.itemsize < wanted.itemsize)
        return value.to(wanted) if is_narrow else value
    return ops.scalar_tensor(value, dtype=grad.dtype, device=grad.device)


# -- what is written for one set of needs -------------------------------------------------------


@cached
def _make_recording(node: type[FusedNode], needs: Needs, inplace: bool) -> Callable[[Call], Call]:
    """The maker of recording calls; their nodes' `apply` knows which gradients it computes."""
    case = _case_of(node, needs)
    names = {
        "Case": case,
        "LEAF": LEAF,
        "attach": rebase_history if inplace else attach,
        "check_inplace": check_inplace,
        "gradient_edge": gradient_edge,
        "save": save,
        "save_operand": save_operand,
        "save_original": save_original,
        "save_result": save_result,
        "saved": saved,
        "state": state,
    }
    maker: Callable[[Call], Call] = _made(
        _recording_lines(node, case.kernel, needs, inplace), names
    )
    return maker


@cached
def _case_of(node: type[FusedNode], needs: Needs) -> Any:
    """The node's class for one set of needs, or for all inputs that are there."""
    if needs not in node.cases:
        needs = tuple([None if each is None else True for each in needs])
    kernel = node.cases.get(needs)
    if kernel is None:
        return _unwritten(node)
    names = {
        "as_tensor_of": as_tensor_of,
        "Tensor": Tensor,
        "calls": kernel.calls,
        "gradient": kernel.gradient,
        "kind_of": kind_of,
        "recorded": node.recorded,
        "state": state,
        "unpack": unpack,
    }
    functions = {
        "apply": _made(_apply_lines(node, kernel), names),
        "release": _made(_release_lines(kernel), {}),
    }
    about = {"__doc__": node.__doc__, "__module__": node.__module__, "kernel": kernel}
    slots = tuple([f"saved_{name}" for name in kernel.reads])
    return type(node.__name__, (node,), {"__slots__": slots, **about, **functions})


class _NoKernel:
    """In place of a kernel where one of the derivatives is not implemented: it reads nothing."""

    reads: ClassVar[dict[str, str]] = {}


def _unwritten(node: type[FusedNode]) -> Any:
    """The node's class where an input needs a gradient that nobody has written."""

    def apply(node: FusedNode, *grads: Any) -> Any:
        return errors.raise_not_differentiable(node.__class__.__name__)

    members = {"apply": apply, "release": lambda node: None, "kernel": _NoKernel}
    about = {"__doc__": node.__doc__, "__module__": node.__module__}
    return type(node.__name__, (node,), {"__slots__": (), **about, **members})


def _recording_lines(
    node: type[FusedNode], kernel: BackwardKernel | type[_NoKernel], needs: Needs, inplace: bool
) -> Iterator[str]:
    """Check, make the node, save, run below, attach. Arguments `x` are called `x_` here."""
    first = f"{node.arguments[0]}_"
    given = ", ".join(f"{name}_" for name in node.arguments)
    needed = [name for name, need in zip(node.inputs, needs, strict=True) if need]
    edges = [f"{each}_edge" if each in needed else "None" for each in node.inputs]
    yield "def recording(below):"
    yield f"    def call({given}):"
    yield "        if not state.enabled:"
    yield f"            return below({given})"
    if inplace:
        yield f"        check_inplace({first})"
    for each in needed:
        yield from _edge_lines(f"{each}_")
    yield "        node = Case()"
    yield f"        node.edges = ({', '.join(edges)},)"
    for name, kind in kernel.reads.items():
        if name in needed and not (inplace and f"{name}_" == first):
            yield from _save_lines(name)
        elif name != "result":
            keep = "save_original" if inplace and f"{name}_" == first else _KEEPS.get(kind, "")
            yield f"        node.saved_{name} = {keep}({name}_)"
    yield f"        result = below({given})"
    if "result" in kernel.reads:
        yield "        node.saved_result = save_result(result)"
    yield "        attach(result, node)"
    yield "        return result"
    yield "    return call"


_KEEPS = {"tensor": "save", "number": "save_operand"}
"""How an argument is kept, by kind; what is no tensor, as it is."""


def _edge_lines(tensor: str) -> Iterator[str]:
    """`gradient_edge`, but called for views alone: the call is a twentieth of a recorded `exp`."""
    yield f"        {tensor}edge = {tensor}._edge"
    yield f"        if {tensor}edge is None and {tensor}._base is None:"
    yield f"            {tensor}edge = ({tensor}, LEAF, {tensor}._sizes, {tensor}._key, None)"
    yield f"        elif {tensor}edge is None or {tensor}edge[4] is not None:"
    yield f"            {tensor}edge = gradient_edge({tensor})"


def _save_lines(name: str) -> Iterator[str]:
    """`save` of an argument that is a tensor, which is called with hooks alone."""
    yield f"        storage = {name}_._shared"
    yield f"        node.saved_{name} = ({name}_, 0 if storage is None else storage.version)"
    yield "        if saved.any_hooks:"
    yield f"            node.saved_{name} = save({name}_)"


def _apply_lines(node: type[FusedNode], kernel: BackwardKernel) -> Iterator[str]:
    """Unpack what was saved, call the kernel; gradients stand in the order of the inputs."""
    reads = kernel.reads
    keys, again = ["grad._key"], ["grad"]
    yield "def apply(node, grad):"
    for name, kind in reads.items():
        saved = f"saved_{name}"
        if name not in kernel.operands:
            yield f"    {saved} = node.{saved}"
            again.append(saved)
            continue
        yield f"    {saved} = unpack(node.{saved}, node)"
        is_number = f" if {saved}.__class__ is Tensor else kind_of({saved})"
        keys.append(f"{saved}._key" if kind == "tensor" else f"{saved}._key{is_number}")
        again.append(saved if kind == "tensor" else f"as_tensor_of({saved}, grad)")
    given = ", ".join(["grad", *(f"saved_{name}" for name in reads)])
    yield "    if state.enabled:"
    yield f"        grads = gradient({', '.join(again)})"
    if node.recorded is not None:
        yield f"        return recorded(node, {_in_order(node.inputs, kernel.gives)})"
    yield "    else:"
    yield f"        grads = calls[{', '.join(keys)}]({given})"
    yield f"    return {_in_order(node.inputs, kernel.gives)}"


def _in_order(inputs: tuple[str, ...], gives: tuple[str, ...]) -> str:
    """`grads`, one gradient or a tuple of them, as a tuple of one for each input."""
    if len(gives) == 1:
        parts = ["grads" if name in gives else "None" for name in inputs]
    elif inputs == gives:
        return "grads"
    else:
        parts = [f"grads[{gives.index(name)}]" if name in gives else "None" for name in inputs]
    return f"({', '.join(parts)},)"


def _release_lines(kernel: BackwardKernel) -> Iterator[str]:
    yield "def release(node):"
    for name in kernel.operands:
        if name != "grad":
            yield f"    node.saved_{name} = None"
    yield "    return None"


def _made(lines: Iterator[str], names: dict[str, Any]) -> Any:
    """The function that the lines define, over these names."""
    text = "\n".join(lines)
    name = text[len("def ") : text.index("(")]
    exec(_code(name, text), names)
    return names[name]


@cache
def _code(name: str, text: str) -> Any:
    """Nodes that save the same share it; tracebacks show it."""
    file = f"<{name} of a fused node, {_code.cache_info().currsize}>"
    linecache.cache[file] = (len(text), None, text.splitlines(keepends=True), file)
    return compile(text, file, "exec")
