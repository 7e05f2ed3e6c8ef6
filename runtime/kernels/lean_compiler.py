"""Numba's compiler without what kernels have no use for, in its place while a kernel is compiled.

What a kernel calls is inlined into it, yet Numba optimises each of these functions by itself and
makes machine code of it. Here they are linked into the kernel's module as they are, and only that
is optimised, once. An error that no kernel lets happen would cost a second: its message spells
shapes, for which Numba compiles its strings. And some questions that Numba asks ten thousand times
are answered faster. Other users of Numba in the process see nothing of it: they compile meanwhile
neither before nor after, as the compiler has a lock.

Most kernels do without Numba: `kernels/compiler/` makes LLVM's code of their text.

A replacement takes the place of a function only if that has the parameters it had when this was
written (Numba 0.68); with another Numba kernels compile as slowly as ever.
"""

from __future__ import annotations

import contextlib
import inspect
from collections.abc import Callable, Iterator
from functools import cache
from typing import Any, NamedTuple


class _Entry:
    """The function that is being compiled to be called from Python; the others are its parts."""

    def __init__(self, dispatcher: Any) -> None:
        function = dispatcher.py_func
        self.name = function.__module__, function.__qualname__
        self.library: Any = None


_entries: list[Any] = []
"""The innermost last: an entry may call another one."""


class _NoEntry:
    """In the place of an entry: nothing that is compiled is called from Python."""

    name = library = None


def compiling_parts() -> contextlib.AbstractContextManager[None]:
    """Compile nothing to machine code, but parts of something that is compiled elsewhere."""
    return _compiling(_NoEntry())


def compiling(dispatcher: Any) -> contextlib.AbstractContextManager[None]:
    """Compile what is called from Python alone to machine code; the rest becomes part of it."""
    return _compiling(_Entry(dispatcher))


@contextlib.contextmanager
def _compiling(entry: Any) -> Iterator[None]:
    from numba.core.compiler_lock import global_compiler_lock

    with global_compiler_lock, contextlib.ExitStack() as stack:
        _entries.append(entry)
        stack.callback(_entries.pop)
        if len(_entries) == 1:
            for each in _replacements():
                setattr(each.owner, each.name, each.function)
                stack.callback(setattr, each.owner, each.name, each.original)
        yield


class _Replacement(NamedTuple):
    owner: Any
    name: str
    original: Any
    function: Any


@cache
def _replacements() -> tuple[_Replacement, ...]:
    """What takes the place of what; nothing for what this Numba does not have in that form."""
    from numba.core import codegen, cpu, ir, targetconfig
    from numba.np import arrayobj

    wanted = [
        (codegen.CPUCodeLibrary, "finalize", _finalize),
        (cpu.CPUContext, "get_executable", _get_executable),
        (arrayobj, "raise_with_shape_context", _refuse_shapes()),
    ]
    found = _fitting(wanted) + _questions(ir, targetconfig)
    names = [each.name for each in found]
    both = "finalize" in names and "get_executable" in names  # one without the other is no use
    return tuple(each for each in found if both or each.name not in ("finalize", "get_executable"))


def _questions(ir: Any, targetconfig: Any) -> list[_Replacement]:
    """What is asked ten thousand times for a kernel, of Numba's core or of CUDA's copy of that."""
    wanted = [
        (ir.Inst, "_rec_list_vars", _lister(ir)),
        (targetconfig.TargetConfig, "__hash__", _hash),
        (targetconfig.TargetConfig, "values", _values),
    ]
    return _fitting(wanted)


def _fitting(wanted: list[tuple[Any, str, Callable[..., Any]]]) -> list[_Replacement]:
    found = []
    for owner, name, function in wanted:
        original = vars(owner).get(name)
        if original is not None and _parameters(original) == _parameters(function):
            found.append(_Replacement(owner, name, original, function))
    return found


@contextlib.contextmanager
def answering_faster(ir: Any, targetconfig: Any) -> Iterator[None]:
    """Have faster answers in modules that copy Numba's of these names."""
    with contextlib.ExitStack() as stack:
        for each in _questions(ir, targetconfig):
            setattr(each.owner, each.name, each.function)
            stack.callback(setattr, each.owner, each.name, each.original)
        yield


def _parameters(function: Callable[..., Any]) -> list[str]:
    return list(inspect.signature(function).parameters)


# One module.


def _finalize(self: Any) -> None:
    """Link what a library needs into it; optimise it only if it is the entry's."""
    self._raise_if_finalized()
    for library in dict.fromkeys(self._linking_libraries):
        if hasattr(library, "_reload_init"):  # newer Numbas have it
            self._reload_init.update(library._reload_init)
        self._final_module.link_in(library._get_module_for_linking(), preserve=True)
    if self is _entries[-1].library:
        self._optimize_final_module()
    self._finalize_dynamic_globals()
    self._finalized = True


def _get_executable(self: Any, library: Any, fndesc: Any, env: Any) -> Any:
    """A name without code: what is made of the entry's module is no function of Numba's."""
    if (fndesc.modname, fndesc.qualname) == _entries[-1].name:
        _entries[-1].library = library
        library.finalize()
    from numba import _dynfunc

    name = fndesc.qualname.rpartition(".")[2]
    return _dynfunc.make_function(fndesc.lookup_module(), name, "", 0, env, (library,))


# Smaller things.


@cache
def _refuse_shapes() -> Callable[..., Any]:
    """What Numba calls where a slice is assigned an array of another shape."""
    from numba.core import types
    from numba.extending import overload

    def raise_with_shape_context(src_shapes: Any, index_shape: Any) -> None:
        raise NotImplementedError

    @overload(raise_with_shape_context)
    def refuse(src_shapes: Any, index_shape: Any) -> Any:
        if isinstance(src_shapes, types.BaseTuple) and isinstance(index_shape, types.BaseTuple):

            def implementation(src_shapes: Any, index_shape: Any) -> None:
                raise ValueError("cannot assign slice from input of different size")

            return implementation
        return None

    return raise_with_shape_context


def _lister(ir: Any) -> Callable[..., list[Any]]:
    """The method that lists the variables in a part of an instruction, in order.

    CUDA's copy knows instructions of both.
    """
    variables = getattr(ir, "var_types", (ir.Var,))
    instructions = getattr(ir, "inst_types", (ir.Inst,))

    def _rec_list_vars(self: Any, val: Any) -> list[Any]:
        kind = val.__class__
        if kind in variables:
            return [val]
        if kind is dict:
            val = val.values()
        elif kind is not list and kind is not tuple:
            return val.list_vars() if isinstance(val, instructions) else []
        found = []
        for each in val:
            if each.__class__ in variables:
                found.append(each)
            elif each.__class__ not in _WITHOUT_VARIABLES:
                found += _rec_list_vars(self, each)
        return found

    return _rec_list_vars


_WITHOUT_VARIABLES = frozenset((str, int, float, bool, type(None)))


def _hash(self: Any) -> int:
    """The hash of a compiler's options: of their names, as Numba has it."""
    return _hash_of_class(self.__class__)


@cache
def _hash_of_class(cls: type) -> int:
    return hash(tuple(sorted(cls.options)))


def _values(self: Any) -> dict[str, Any]:
    """The values of a compiler's options."""
    own = self._values
    return {name: own.get(name, option.default) for name, option in self.options.items()}
