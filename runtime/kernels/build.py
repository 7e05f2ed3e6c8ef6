"""Kernels, compiled on their first call or found compiled: by content.

A kernel's whole text - formula, the vector mathematics it uses, loop - and the types of its
arguments are what it is known by (`kernels/machine/library.py`). Equal texts are compiled once per
machine, whatever clone or path they came from; a change of any part gives another hash. They are
compiled in a process of its own, and LLVM and Numba are imported nowhere else.
"""

from __future__ import annotations

import linecache
import textwrap
from collections.abc import Callable, Mapping, Sequence
from functools import cache
from types import FunctionType
from typing import Any

from torchgen_out._runtime.kernels import native
from torchgen_out._runtime.kernels.machine import callers, library
from torchgen_out._runtime.kernels.machine.host import fuses_multiply_add as fuses_multiply_add
from torchgen_out._runtime.kernels.machine.spelling import spell
from torchgen_out._runtime.kernels.native import Overloads
from torchgen_out._runtime.kernels.vecmath import compose

DECORATORS = """\
inner = njit(forceinline=True, no_cpython_wrapper=True, **options)
entry = njit(**options)
"""
"""For what kernels call, and for kernels. Repeated in a text after a change of `options`."""

HEADER = (
    '''\
"""{title}"""
import math

import numpy as np
from numba import njit

options = {{"nogil": True, "error_model": "numpy", "fastmath": {{"contract"}}}}
options["no_cfunc_wrapper"] = True
'''
    + DECORATORS
)


def apart(names: Sequence[str]) -> str:
    """The line of a text that says of which array parameters nothing else shows the memory.

    LLVM vectorises a loop over arrays that might overlap twice: as such, and element by element,
    where sums have another order and so other bits. Which one runs depends on addresses.
    """
    return f"__apart__ = {tuple(names)!r}\n"


def cache_counts() -> tuple[int, int]:
    """(loaded from the cache, compiled), over all signatures of this process's kernels."""
    return library.counts["loaded"], library.counts["compiled"]


@cache
def compile_text(name: str, text: str, function: str = "kernel") -> Callable[..., Any]:
    """A function of `text`, compiled or loaded for the types that it is called with.

    name: a readable prefix for the file.
    """
    if not callers.work_here():
        return native.in_numba(name, text, function)
    return Overloads(name, text, function).entry


class Functions:
    """The functions of a text, as `compile_text` has them."""

    def __init__(self, name: str, text: str) -> None:
        self._name, self._text = name, text

    def __getattr__(self, function: str) -> Callable[..., Any]:
        if function != "kernel" and f"def {function}(" not in self._text:
            raise AttributeError(f"the text of {self._name} has no function {function}")
        found = compile_text(self._name, self._text, function)
        setattr(self, function, found)
        return found


@cache
def load_text(name: str, text: str) -> Functions:
    """The functions of a text, none of which is compiled before it is called."""
    return Functions(name, text)


@cache
def entry_point(name: str, text: str, arguments: tuple[Any, ...], function: str = "kernel") -> Any:
    """A function of `text`, compiled or loaded at once for arguments of known types.

    It is called without a look at their types: the caller answers for them. arguments: a NumPy
    dtype for a dense vector; float, int, complex, bool or np.uint64 for a number; or a type as
    `machine.signatures` spells it.
    """
    return native.entry_for(name, text, function, tuple(map(spell, arguments)))


class Kernel:
    """A hand-written kernel, compiled with its helpers and constants on its first call.

    given: what the function names besides what its module has.
    """

    def __init__(self, function: FunctionType, given: Mapping[str, Kernel]) -> None:
        self.function = function
        self.given = given
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._compiled: Callable[..., Any] | None = None
        self._text: str | None = None

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher_for()(*args)

    def dispatcher_for(self, first: Any = None) -> Any:
        """The function, which compiles for further types of arguments by itself."""
        compiled = self._compiled
        if compiled is None:
            compiled = self._compiled = compile_text(self.__name__, kernel_text(self))
        return compiled

    def entry_point(self, arguments: tuple[Any, ...]) -> Any:
        """The function for arguments as the module's `entry_point` has them."""
        if self._text is None:
            self._text = kernel_text(self)
        return entry_point(self.__name__, self._text, arguments)

    def library_text(self, dtype: Any) -> str:
        """Text that defines the kernel for other functions of the text; dtypes are all the same."""
        return kernel_text(self, as_library=True)


def kernel(function: FunctionType, **given: Kernel) -> Kernel:
    """Mark a plain function as a Numba kernel.

    It may use `np`, `math`, other kernels and module-level numbers; nothing is imported or
    compiled before its first call. given: kernels that it names and its module has not.
    """
    return Kernel(function, given)


def kernel_text(made: Kernel, as_library: bool = False) -> str:
    """The self-contained text of a hand-written kernel; as_library: it is called by more text."""
    helpers: dict[str, str] = {}
    body = _collect(made, helpers)
    head = HEADER.format(title=made.__name__) + "\n" + "".join(helpers.values())
    if as_library:
        return f"{head}@inner\n{body}"
    return f"{head}@entry\n{body}\nkernel = {made.__name__}\n"


def _collect(made: Kernel, helpers: dict[str, str]) -> str:
    """The source of a kernel; what it uses from its module is added to `helpers` first."""
    function = made.function
    source = plain_source(function)
    for name in names_used(source):
        value = made.given.get(name, function.__globals__.get(name))
        if name in helpers or name == function.__name__:
            continue
        if isinstance(value, Kernel):
            helpers[name] = ""
            text = _collect(value, helpers)
            del helpers[name]
            helpers[name] = "@inner\n" + text + "\n\n"
        elif isinstance(value, (bool, int, float)):
            helpers[name] = f"{name} = {value!r}\n"
    return source


@cache
def plain_source(function: FunctionType) -> str:
    """The source of a function without its decorators.

    Told by lines alone: `inspect` reads it word by word, and that was most of what a process did
    that found its kernels compiled.
    """
    code = function.__code__
    lines = linecache.getlines(code.co_filename, function.__globals__)[code.co_firstlineno - 1 :]
    last = max(line or 0 for _, _, line in code.co_lines()) - code.co_firstlineno
    lines = textwrap.dedent("".join(_definition(lines, last))).splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "".join(lines[start:])


def _definition(lines: list[str], last: int) -> list[str]:
    """Those of some lines that define a function: up to what is indented as little as the first.

    last: where its last statement begins.
    """
    margin = len(lines[0]) - len(lines[0].lstrip())
    end = last + 1
    for i, line in enumerate(lines[end:], end):
        if line.strip() and len(line) - len(line.lstrip()) <= margin:
            break
        if line.strip():
            end = i + 1
    return lines[:end]


@cache
def names_used(source: str) -> tuple[str, ...]:
    """The global names that a function's source may mean, in order of appearance."""
    return compose.names_in(source)
