"""From a kernel and its types to a module of LLVM's."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

from llvmlite import binding, ir

from torchgen_out._runtime.kernels.compiler import (
    calls,
    convention,
    kinds,
    memory,
    numba_rules,
    stand_ins,
)
from torchgen_out._runtime.kernels.compiler.body import Body, Retype
from torchgen_out._runtime.kernels.compiler.values import (
    Array,
    Kind,
    Number,
    Static,
    Tuple,
    Unsupported,
    Value,
)
from torchgen_out._runtime.kernels.machine.signatures import kind_of

ATTEMPTS = 12
"""How often a walk begins again, as a variable has another type than it seemed."""

RESULT = "result"
APART = "__apart__"
"""What a text calls its arrays that lie in memory of their own; see `build.apart`."""


class Walked(NamedTuple):
    """A kernel's code, which nothing has optimised yet.

    name: of its function. signature, result: the types that it takes and returns.
    """

    module: Any
    name: str
    signature: tuple[Kind, ...]
    result: Kind


def walked(name: str, text: str, function: str, spelled: Sequence[str]) -> Walked:
    """The code of a function of a text for arguments of such types, as `signatures` spells them.

    Raises: Unsupported if the text has what only Numba compiles.
    """
    kernel = getattr(stand_ins.module_of(name, text), function)
    signature = tuple(map(kind_spelled, spelled))
    settled: dict[Any, Kind] = {}
    for _ in range(ATTEMPTS):
        try:
            return _attempt(kernel, signature, settled)
        except Retype as other:
            if settled.get(other.place) == other.kind:
                break
            settled[other.place] = other.kind
    raise Unsupported("variables whose types depend on each other")


def kind_spelled(spelled: str) -> Kind:
    """The type of an argument."""
    kind = kind_of(spelled)
    own = kinds.BY_NAME[kind.name]
    if kind.form == "array":
        layout = kind.layout.replace("U", "A")
        return kinds.Array(own, kind.items, layout, aligned=kind.layout != "U")
    return (own,) * kind.items if kind.form == "tuple" else own


def _attempt(kernel: Any, signature: tuple[Kind, ...], settled: dict[Any, Kind]) -> Walked:
    module = ir.Module(kernel.__name__)
    result = settled.get(RESULT, kinds.none)
    name = f"kernel.{kernel.__name__}"
    function = convention.declared(module, name, signature, result)
    with numba_rules.session() as session:
        _fill(Body(function, settled), kernel, signature, result)
        parsed = binding.parse_assembly(str(module))
        for each in numba_rules.parts_of(session.library) if session.library else ():
            parsed.link_in(each, preserve=True)
    return Walked(parsed, name, signature, result)


def _fill(body: Body, kernel: Any, signature: tuple[Kind, ...], result: Kind) -> None:
    """The code of a kernel."""
    definition = calls.definition_of(kernel.py_func)
    names = [each.arg for each in definition.args.args]
    if len(names) != len(signature):
        raise Unsupported("arguments that are left out")
    known = kernel.py_func.__globals__
    given = convention.arguments(body.builder, body.function, signature)
    for name, each in zip(names, given, strict=True):
        if name in known.get(APART, ()) and isinstance(each, Array):
            each.data.add_attribute("noalias")
    body.scope.names = known
    body.scope.env = dict(zip(names, given, strict=True))
    with body.reassociating(calls.flags_of(kernel)):
        _return(body, calls.finished(body, definition), result)


def _return(body: Body, value: Value, expected: Kind) -> None:
    """Return the kernel's result, and nothing that it owns."""
    memory.release(body, body.scope)
    if isinstance(value, Static):
        if value.value is not None:
            raise Unsupported(f"the result {value.value}")
        own: Kind = kinds.none
    elif isinstance(value, (Number, Tuple)):
        own = value.kind
    else:
        raise Unsupported("a result that is an array")
    if own != expected:
        raise Retype(RESULT, own)
    convention.return_value(body.builder, value)
