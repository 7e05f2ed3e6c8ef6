"""What texts import of Numba and NumPy, without these: enough for the walk to know what they mean.

A text says `from numba import njit` and so on, as Numba may have to compile it. Where it is walked,
these names mean the things below, and others a thing that the walk finds unsupported when it is
used: a text may import what only Numba's own compiler needs.
"""

from __future__ import annotations

import ast
import builtins
from collections.abc import Callable, Mapping, Sequence
from types import ModuleType, SimpleNamespace
from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler import kinds, numpy_names
from torchgen_out._runtime.kernels.compiler.values import Unsupported

DEFINITIONS = "__definitions__"
"""What a text's module calls the syntax trees of its functions, by name and first line."""


class Function:
    """A function of a text, and what it said to `njit`."""

    def __init__(self, function: Any, options: dict[str, Any]) -> None:
        self.py_func = function
        self.targetoptions = options
        self.__name__ = function.__name__

    def __call__(self, *given: Any) -> Any:
        """Call it as Python has it: a text may compute its constants."""
        return self.py_func(*given)


def njit(**options: Any) -> Callable[[Any], Function]:
    """Mark a function as a kernel, or a part of kernels."""
    return lambda function: Function(function, options)


class Intrinsic:
    """A function that makes LLVM's code of its own. made(context, *kinds): how it is called."""

    def __init__(self, made: Callable[..., Any]) -> None:
        self.made = made
        self.name = getattr(made, "__name__", "")


class _Structure(SimpleNamespace):
    """The parts of an array that are asked for."""


class Context:
    """What intrinsics ask Numba's code generator."""

    @staticmethod
    def get_data_type(kind: Any) -> Any:
        """How LLVM holds an element of an array."""
        return kind.memory

    @staticmethod
    def get_dummy_value() -> Any:
        """What stands for nothing."""
        return ir.Constant(kinds.none.register, None)

    @staticmethod
    def make_array(kind: Any) -> Callable[..., _Structure]:
        """What takes an array apart."""
        return lambda context, builder, value: _Structure(data=builder.extract_value(value, 4))

    def __getattr__(self, name: str) -> Any:
        raise Unsupported(f"an intrinsic that asks for {name}")


CONTEXT = Context()


class Missing:
    """Something that only Numba has."""

    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        return self()

    def __call__(self, *given: Any, **named: Any) -> Any:
        """Nobody can call it here."""
        raise Unsupported(f"{self._name}, which only Numba has")


_MODULES: dict[str, dict[str, Any]] = {
    "numba": {"njit": njit, "types": kinds, "from_dtype": numpy_names.kind_of},
    "numba.core": {"types": kinds},
    "numba.extending": {"intrinsic": Intrinsic},
    "numba.np": {"arrayobj": SimpleNamespace(make_array=Context.make_array)},
}


def _import(
    name: str,
    globals: Mapping[str, Any] | None = None,
    locals: Mapping[str, Any] | None = None,
    fromlist: Sequence[str] | None = (),
    level: int = 0,
) -> Any:
    """What `import` does in a text."""
    if name == "numpy" and not fromlist:
        return numpy_names.NAMES
    if name.partition(".")[0] != "numba" or not fromlist:
        return builtins.__import__(name, globals, locals, fromlist or (), level)
    known = _MODULES.get(name, {})
    return SimpleNamespace(**{each: known.get(each, Missing(each)) for each in fromlist})


_NAMES = {**vars(builtins), "__import__": _import}


def module_of(name: str, text: str) -> ModuleType:
    """Run a text, with stand-ins for what it imports of Numba, in a module of its own."""
    tree = ast.parse(text)
    module = ModuleType(name)
    module.__dict__["__builtins__"] = _NAMES
    module.__dict__[DEFINITIONS] = {
        (each.name, each.decorator_list[0].lineno if each.decorator_list else each.lineno): each
        for each in tree.body
        if isinstance(each, ast.FunctionDef)
    }
    exec(compile(tree, f"<text of {name}>", "exec"), module.__dict__)
    return module
