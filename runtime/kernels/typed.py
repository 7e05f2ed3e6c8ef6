"""Kernels written once and compiled per element type, with the vector mathematics at hand.

A typed kernel may use `T`, the constructor of its element type, `BITS`, that of the signed integers
of its size, `SIGN`, the place of their sign bit, and the primitives of `runtime.kernels.vecmath`
(exp, log, sqrt ...) by name, besides what every kernel may use.
"""

from __future__ import annotations

import re
from collections.abc import Callable
from types import FunctionType
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.vecmath import compose

STRICT = '"fastmath": {"contract"}'
REASSOCIATED = '"fastmath": {"reassoc", "nsz", "contract"}'


class TypedKernel:
    """A family of compiled kernels, one per dtype of the first argument."""

    def __init__(self, function: FunctionType, reassociate: bool) -> None:
        self.function = function
        self.reassociate = reassociate
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._compiled: dict[Any, Callable[..., Any]] = {}
        self._texts: dict[Any, str] = {}

    def __call__(self, first: Any, *args: Any) -> Any:
        return self.dispatcher_for(first)(first, *args)

    def dispatcher_for(self, first: Any) -> Any:
        """Numba's dispatcher for the dtype of the first argument."""
        return self.of(first.dtype)

    def of(self, dtype: Any) -> Any:
        """Numba's dispatcher for elements of a dtype."""
        compiled = self._compiled.get(dtype)
        if compiled is None:
            compiled = self._compiled[dtype] = self.compiled(dtype.name)
        return compiled

    def entry_point(self, dtype: Any, arguments: tuple[Any, ...]) -> Any:
        """The function for elements of one dtype, for arguments as `build.entry_point` has them."""
        name = f"{self.__name__}_{dtype.name}"
        text = self._texts.get(dtype)
        if text is None:
            text = self._texts[dtype] = typed_text(self.function, dtype.name, self.reassociate)
        return build.entry_point(name, text, arguments)

    def library_text(self, dtype: Any) -> str:
        """Text that defines the kernel for elements of a dtype, for other functions of the text."""
        return joint_text((self.function,), dtype.name, self.reassociate, decorator="@inner\n")

    def compiled(self, type_name: str) -> Any:
        """The compiled function for elements of one NumPy type."""
        name = f"{self.__name__}_{type_name}"
        return build.compile_text(name, typed_text(self.function, type_name, self.reassociate))


def typed(function: FunctionType) -> TypedKernel:
    """Mark a function as a kernel that is compiled per dtype of its first argument."""
    return TypedKernel(function, reassociate=False)


def typed_sum(function: FunctionType) -> TypedKernel:
    """As `typed`; its own additions may be reordered, so that loops that sum vectorise.

    The vector mathematics it calls is compiled without that freedom.
    """
    return TypedKernel(function, reassociate=True)


def typed_text(function: FunctionType, type_name: str, reassociate: bool) -> str:
    """The self-contained text of a typed kernel for one element type."""
    text = joint_text((function,), type_name, reassociate)
    return text + f"\n\nkernel = {function.__name__}\n"


def joint_text(
    functions: tuple[FunctionType, ...],
    type_name: str,
    reassociate: bool,
    given: str = "",
    decorator: str = "@entry\n",
) -> str:
    """One text for typed kernels that share much, so that this is compiled once for all of them.

    given: text that defines further names, compiled without the freedom to reassociate.
    """
    helpers: dict[str, str] = {}
    bodies = [_collect(function, helpers) for function in functions]
    library = compose.compose("\n".join([*helpers.values(), *bodies]), type_name)
    library = re.sub(r"^def ", "@inner\ndef ", library, flags=re.MULTILINE)
    header = build.HEADER.format(title=f"{functions[0].__name__}: {type_name}.")
    options = f"options = {{**options, {REASSOCIATED}}}\n" + build.DECORATORS if reassociate else ""
    bits = 8 * min(np.dtype(type_name).itemsize, 8)
    parts = [
        header,
        f"T = np.{type_name}\nBITS = np.int{bits}\nSIGN = {bits - 1}\n",
        library,
        given,
        options,
        *helpers.values(),
        *(decorator + body for body in bodies),
    ]
    return "\n\n".join(part for part in parts if part)


def _collect(function: FunctionType, helpers: dict[str, str]) -> str:
    """The source of `function`; typed kernels and numbers it uses join `helpers` first."""
    source = build.plain_source(function)
    for name in build.names_used(source):
        value = function.__globals__.get(name)
        if name in helpers or name == function.__name__:
            continue
        if isinstance(value, (TypedKernel, build.Kernel)):
            text = _collect(value.function, helpers)
            helpers[name] = "@inner\n" + text
        elif isinstance(value, (bool, int, float)):
            helpers[name] = f"{name} = {value!r}\n"
    return source
