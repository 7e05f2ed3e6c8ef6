"""What Numba has for what the walk does not know: its types, its signatures, its code generators.

Importing Numba takes a quarter of a second, and most kernels do without. The first question loads
it. What its generators compile beside the walk's own module is linked to that at the end.
"""

from __future__ import annotations

import contextlib
import importlib
from collections.abc import Callable, Iterator, Sequence
from functools import cache
from typing import Any, NamedTuple

from torchgen_out._runtime.kernels import lean_compiler
from torchgen_out._runtime.kernels.compiler import kinds, numpy_names
from torchgen_out._runtime.kernels.compiler.values import Kind, Number, Unsupported

KNOWN_NUMBA = "0.68."
"""The release whose rules and code generators the walk relies on."""


class _Numba(NamedTuple):
    errors: Any
    typing: Any
    context: Any


_import: list[Callable[[], None]] = []
"""What imports Numba; the first that needs it says how."""


def imported_by(function: Callable[[], None]) -> None:
    """Say what imports Numba."""
    _import[:] = [function]


@cache
def _types() -> Any:
    """Numba's types, which all its releases have."""
    for each in _import:
        each()
    return importlib.import_module("numba.core.types")


@cache
def numba() -> _Numba:
    """Numba's code generator for kernels, that divides by zero as NumPy does, and its inference.

    Raises: Unsupported if its release is another one than that whose rules are known.
    """
    _types()
    if not importlib.import_module("numba").__version__.startswith(KNOWN_NUMBA):
        raise Unsupported(f"the rules of a Numba that is not {KNOWN_NUMBA}")
    from numba.core import callconv, errors
    from numba.core.registry import cpu_target

    cpu_target.typing_context.refresh()
    cpu_target.target_context.refresh()
    context = cpu_target.target_context.subtarget(
        enable_nrt=True,
        error_model=callconv.create_error_model("numpy", cpu_target.target_context),
    )
    return _Numba(errors, cpu_target.typing_context, context)


# While a text is walked.


class _Session:
    """One walk: what Numba's generators compile for it."""

    def __init__(self) -> None:
        self._stack = contextlib.ExitStack()
        self.library: Any = None

    def begin(self) -> None:
        """Have Numba's generators put what they compile into a library of this walk's own."""
        if self.library is not None:
            return
        context = numba().context
        self._stack.enter_context(lean_compiler.compiling_parts())
        self.library = context.codegen().create_library("parts of a text")
        self._stack.enter_context(context.push_code_library(self.library))

    def end(self) -> None:
        """Leave Numba as it was."""
        self._stack.close()


_sessions: list[_Session] = []


@contextlib.contextmanager
def session() -> Iterator[_Session]:
    """Walk a text: Numba may be asked meanwhile."""
    own = _Session()
    _sessions.append(own)
    try:
        yield own
    finally:
        _sessions.pop()
        own.end()


def parts_of(library: Any) -> list[Any]:
    """The modules of LLVM's that Numba's generators have made. Raises: Unsupported."""
    from numba.core.runtime.nrt import rtsys

    made = dict.fromkeys([*library._linking_libraries, rtsys.library])
    if any(each.has_dynamic_globals for each in (library, *made)):
        raise Unsupported("addresses of this process")
    return [each._get_module_for_linking() for each in made]


# Types.


@cache
def to_numba(kind: Kind) -> Any:
    """Numba's type."""
    types = _types()
    if isinstance(kind, tuple):
        return types.Tuple([to_numba(each) for each in kind])
    if isinstance(kind, kinds.Array):
        item = to_numba(kind.dtype)
        lies = {"readonly": not kind.mutable, "aligned": kind.aligned}
        return types.Array(item, kind.ndim, kind.layout, **lies)
    if kind is kinds.boolean:
        return types.boolean
    if kinds.is_number(kind) or kind is kinds.none:
        return getattr(types, kind.name)
    raise Unsupported(f"an argument of type {kind}")


def from_numba(kind: Any) -> Kind:
    """The type that Numba calls so."""
    types = _types()
    if isinstance(kind, types.BaseTuple):
        return tuple([from_numba(each) for each in kind])
    if isinstance(kind, types.Array):
        item = from_numba(kind.dtype)
        return kinds.Array(item, kind.ndim, kind.layout, kind.mutable, kind.aligned)
    if kind == types.none:
        return kinds.none
    found = kinds.BY_NAME.get(str(getattr(kind, "literal_type", kind)))
    if found is None:
        raise Unsupported(f"a result of type {kind}")
    return found


# Questions.


@cache
def resolved(function: Any, given: tuple[Any, ...]) -> tuple[Any, Callable[..., Any]]:
    """Numba's signature of a function for arguments of its types, and what makes its code."""
    own = numba()
    if isinstance(function, numpy_names.Function):
        function = function.own()
    try:
        kind = function if isinstance(function, _types().Type) else _kind_of(function)
        signature = own.typing.resolve_function_type(kind, given, {})
        if signature is None:
            raise Unsupported(f"{function} of {given}")
        return signature, own.context.get_function(kind, signature)
    except (own.errors.NumbaError, NotImplementedError, AttributeError) as error:
        raise Unsupported(f"{function} of {given}: {error}") from error


def _kind_of(function: Any) -> Any:
    """Numba's type of a function, which may have been defined since it was last asked."""
    own = numba()
    for _ in range(2):
        with contextlib.suppress(ValueError):
            return own.typing.resolve_value_type(function)
        own.typing.refresh()
        own.context.refresh()
    raise Unsupported(f"a call of {function}")


def unified(first: Kind, second: Kind) -> Kind:
    """The type of a variable that is one or the other."""
    kind = numba().typing.unify_pairs(to_numba(first), to_numba(second))
    if kind is None or not kind.is_precise():
        raise Unsupported(f"a variable that is {first} and {second}")
    return from_numba(kind)


def counted_in(given: Sequence[Kind]) -> Kind:
    """The type of the numbers of a range."""
    signature, _ = resolved(range, tuple(map(to_numba, given)))
    return from_numba(signature.return_type.dtype)


def call(builder: Any, function: Any, given: Sequence[tuple[Any, Any]], owner: Any = None) -> Any:
    """The type and the register of what Numba's function returns, both Numba's.

    given: types and registers of the arguments. owner: the register of what a method belongs to.
    """
    signature, implementation = resolved(function, tuple([kind for kind, _ in given]))
    if len(given) != len(signature.args):
        raise Unsupported(f"arguments of {function} that are left out")
    _sessions[-1].begin()
    context = numba().context
    registers = [] if owner is None else [owner]
    try:
        for (kind, register), wanted in zip(given, signature.args, strict=True):
            registers.append(context.cast(builder, register, kind, wanted))
        return signature.return_type, implementation(builder, registers)
    except (numba().errors.NumbaError, NotImplementedError) as error:
        raise Unsupported(f"{function} of {given}: {error}") from error


def of_numbers(builder: Any, function: Any, given: Sequence[Number]) -> Number:
    """A function of numbers that is a number."""
    kind, register = call(builder, function, [(to_numba(x.kind), x.ir) for x in given])
    return Number(from_numba(kind), register)


def method_of(kind: Kind, name: str) -> Any:
    """Numba's type of a method."""
    found = numba().typing.resolve_getattr(to_numba(kind), name)
    if found is None:
        raise Unsupported(f"the method {name}")
    return found


def tuple_of(builder: Any, kind: Any, registers: Sequence[Any]) -> Any:
    """Several values as Numba holds them."""
    return numba().context.make_tuple(builder, kind, list(registers))
