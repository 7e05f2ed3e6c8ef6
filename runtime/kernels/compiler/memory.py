"""The memory that a kernel allocates: each function releases its own, whichever way it ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler import convention, kinds
from torchgen_out._runtime.kernels.compiler.body import Body, Scope
from torchgen_out._runtime.kernels.compiler.convention import SOME, WORD
from torchgen_out._runtime.kernels.compiler.values import Array, Kind, Unsupported
from torchgen_out._runtime.kernels.machine import support_text


def allocated(body: Body, shape: Sequence[Any], kind: Kind, zero: bool) -> Array:
    """New memory, which is released when the function ends. Nothing else shows it, as LLVM is told:
    a loop over it and another array need not look whether they overlap."""
    builder = body.builder
    size = body.index(kinds.item_size(kind))
    for each in shape:
        size = builder.mul(size, each)
    allocate = runtime_function(body, support_text.NEW, SOME, [WORD])
    allocate.return_value.add_attribute("noalias")
    data = builder.call(allocate, [size])
    own(body, data, support_text.RELEASE)
    is_none = builder.icmp_unsigned("==", data, ir.Constant(SOME, None))
    with builder.if_then(is_none, likely=False):
        release_all(body)
        convention.raise_error(builder, MemoryError, ("Allocation failed",))
    if zero:
        clear = builder.module.declare_intrinsic("llvm.memset", [SOME, WORD])
        builder.call(clear, [data, ir.IntType(8)(0), size, ir.IntType(1)(0)])
    pointer = builder.bitcast(data, kind.memory.as_pointer())
    return Array(kinds.Array(kind, len(shape), "C"), pointer, shape, None)


def own(body: Body, memory: Any, release: str) -> None:
    """Release memory that a function has allocated, when it ends. release: what does that."""
    if body.scope.loops:
        raise Unsupported("an allocation in a loop")
    slot = body.slot(SOME)
    body.builder.store(memory, slot)
    body.scope.owned.append((slot, release))


def hand_over(scope: Scope, outer: Scope) -> None:
    """Let the caller release what a function has allocated, as it may have returned it."""
    if scope.owned and outer.loops:
        raise Unsupported("an allocation in a loop")
    outer.owned += scope.owned


def release_all(body: Body) -> None:
    """Release what any function has allocated that the walk is in: an error leaves them all."""
    scope: Scope | None = body.scope
    while scope is not None:
        release(body, scope)
        scope = scope.outer


def release(body: Body, scope: Scope) -> None:
    """Release what a function has allocated."""
    for slot, name in scope.owned:
        function = runtime_function(body, name, ir.VoidType(), [SOME])
        body.builder.call(function, [body.builder.load(slot)])
        body.builder.store(ir.Constant(SOME, None), slot)


def runtime_function(body: Body, name: str, result: Any, arguments: Sequence[Any]) -> Any:
    """A function that is there wherever kernels are called."""
    module = body.builder.module
    found = module.globals.get(name)
    return found or ir.Function(module, ir.FunctionType(result, arguments), name)
