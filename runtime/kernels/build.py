"""Compiling kernels with Numba, cached by content.

A kernel's whole text - formula, the vector mathematics it uses, loop - names its files in the
user's cache folder by its hash (`kernels/store.py`). Equal texts are compiled once per machine,
whatever clone or path they came from; a change of any part gives another hash. Numba itself is
imported by the first kernel that runs, and a kernel's text is run only to compile it, or by those
who need Numba's own dispatcher.
"""

from __future__ import annotations

import ast
import contextlib
import functools
import gc
import hashlib
import importlib.util
import inspect
import linecache
import marshal
import sys
import textwrap
import threading
from collections.abc import Callable, Iterator
from functools import cache
from types import CodeType, FunctionType, ModuleType
from typing import Any

import numpy as np

from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.kernels import (
    compiling_once,
    interrupts,
    lean_compiler,
    machine_code,
    native,
    store,
)

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

ONLY = '''\
def only(signature):
    """Compile a kernel for these types at once, to which it then converts its arguments."""

    def mark(dispatcher):
        dispatcher.only = signature
        return dispatcher

    return mark
'''
"""For texts that say of a kernel, above `@entry`: `@only(types.void(...))`."""

_building = threading.RLock()
"""Held while Numba is imported and kernels are loaded or compiled."""
_held = contextlib.ExitStack()


def _hold_locks() -> None:
    """Let a fork wait for kernels that other threads are making, loading or deleting.

    The child has no such threads, and would wait for their locks for ever.
    """
    _held.enter_context(_building)
    compiler = sys.modules.get("numba.core.compiler_lock")
    if compiler is not None:
        _held.enter_context(compiler.global_compiler_lock)
    library = getattr(sys.modules.get("llvmlite.binding.ffi"), "lib", None)
    if hasattr(library, "_lock"):
        _held.enter_context(library._lock)


at_fork(before=_hold_locks, after_in_parent=_held.close, after_in_child=_held.close)


def _one_at_a_time(function: Callable[..., Any]) -> Callable[..., Any]:
    """Make kernels in one thread only, and in none while another one forks."""

    @functools.wraps(function)
    def alone(*args: Any, **keywords: Any) -> Any:
        with _building:
            return function(*args, **keywords)

    return alone


def cache_counts() -> tuple[int, int]:
    """(loaded from the cache, compiled), over all signatures of this process's kernels."""
    return machine_code.counts["loaded"], machine_code.counts["compiled"]


def compile_text(name: str, text: str) -> Any:
    """The function `kernel` of `text`, compiled on its first call or loaded from the cache.

    name: a readable prefix for the file.
    """
    return load_text(name, text).kernel


@cache
def entry_point(name: str, text: str, arguments: tuple[Any, ...], function: str = "kernel") -> Any:
    """A function of `text`, compiled or loaded at once for arguments of known types.

    Called without Numba's look at its arguments, which costs 60 ns: the caller answers for them.
    arguments: a NumPy dtype for a contiguous one-dimensional array, which may be read-only if the
    kernel only reads it; float, int, complex, bool or np.uint64 for a number.
    """
    import_numba()
    from numba import from_dtype, types

    numbers = {
        float: types.float64,
        int: types.int64,
        complex: types.complex128,
        bool: types.boolean,
        np.uint64: types.uint64,
    }
    signature = tuple(
        [numbers.get(each) or types.Array(from_dtype(each), 1, "C") for each in arguments]
    )
    return entry_for(name, text, function, signature)


def entry_for(name: str, text: str, function: str, signature: tuple[Any, ...]) -> Any:
    """The entry point of a text's function for arguments of Numba's types."""
    with _building, interrupts.postponed():
        stem, module = _empty_module(name, text)
        result = machine_code.load(stem, module, function, signature)
    if result is None:
        result = interrupts.apart(lambda: _compiled(name, text, function, signature))
    native.remember(result)
    return result.entry_point


@_one_at_a_time
def _compiled(name: str, text: str, function: str, signature: tuple[Any, ...]) -> Any:
    """Numba's result for one function of a text."""
    dispatcher = getattr(load_text(name, text), function)
    dispatcher.compile(signature)
    return dispatcher.overloads[signature]


@contextlib.contextmanager
def _without_collections() -> Iterator[None]:
    """Pause the garbage collector: a compilation makes enough objects for it to walk over all."""
    was_on = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_on:
            gc.enable()


@cache
def load_text(name: str, text: str) -> ModuleType:
    """Run a text, which defines kernels as Numba's dispatchers, in a module of its own."""
    import_numba()
    module: ModuleType = interrupts.apart(lambda: _filled_module(name, text))
    return module


@_one_at_a_time
def _filled_module(name: str, text: str) -> ModuleType:
    stem, module = _empty_module(name, text)
    exec(_code(stem, text), module.__dict__)
    entries = _entries(module)
    for dispatcher in entries:
        dispatcher._cache = machine_code.KernelCache(stem, module, dispatcher.__name__)
        dispatcher.compile = _guarded(dispatcher, stem, text)
    for dispatcher in entries:
        signature = getattr(dispatcher, "only", None)
        if signature is not None:
            dispatcher.compile(signature)
            dispatcher.disable_compile()
    return module


def _entries(module: ModuleType) -> list[Any]:
    """The kernels of a text that Python calls, in their order; some have two names."""
    found = dict.fromkeys(
        value
        for value in vars(module).values()
        if hasattr(value, "overloads") and not value.targetoptions.get("no_cpython_wrapper")
    )
    return [value for value in found if value.__module__ == module.__name__]


def _empty_module(name: str, text: str) -> tuple[str, ModuleType]:
    """The beginning of the names of a text's files, and the module in which it runs."""
    stem = f"{name}_{hashlib.sha256(text.encode()).hexdigest()[:24]}"
    full_name = f"torchgen_kernel_{stem}"
    module = sys.modules.get(full_name)
    if module is None:
        module = sys.modules[full_name] = ModuleType(full_name)
    return stem, module


def _code(stem: str, text: str) -> CodeType:
    """A text's bytecode, with its lines at hand for messages."""
    place = f"<{stem}>"
    linecache.cache[place] = (len(text), None, text.splitlines(keepends=True), place)
    name, key = f"{stem}.{sys.implementation.cache_tag}.code", f"{stem} {sys.version}"
    parts = store.read(name, key)
    if parts is not None:
        return marshal.loads(parts[0])
    code = compile(text, place, "exec")
    store.write(name, key, [marshal.dumps(code)])
    return code


def _guarded(dispatcher: Any, stem: str, text: str) -> Callable[..., Any]:
    """What compiles a kernel: in one process, in one thread, and undisturbed by Control-C."""
    compile_or_load = dispatcher.compile

    @_one_at_a_time
    def compile_once(signature: Any) -> Any:
        with compiling_once.locked(store.keep_text(f"{stem}.py", text)), _without_collections():
            if dispatcher._cache.load_overload(signature, None) is not None:
                return compile_or_load(signature)
            with lean_compiler.compiling(dispatcher):
                return compile_or_load(signature)

    def guarded(signature: Any) -> Any:
        with _building, interrupts.postponed():
            if dispatcher._cache.load_overload(signature, None) is not None:
                return compile_or_load(signature)
        return interrupts.apart(lambda: compile_once(signature))

    return guarded


@cache
def import_numba() -> None:
    """Import Numba, whole or not at all."""
    interrupts.apart(_import_numba)


@_one_at_a_time
def _import_numba() -> None:
    """Import Numba's arrays without SciPy's linear algebra, which they look for: 0.1 s.

    That it can be found is enough here; whoever uses it in a kernel of theirs imports it then.
    Numba asks for masked arrays at its first call: were they imported then, a child that is forked
    meanwhile would wait for them for ever.
    """
    import numba.np.linalg as linalg
    import numpy.ma  # noqa: F401

    look = linalg.ensure_blas
    linalg.ensure_blas = lambda: None if importlib.util.find_spec("scipy") else look()
    try:
        import numba.np.arraymath  # noqa: F401
    finally:
        linalg.ensure_blas = look
    _prefer_wide_vectors()


def _prefer_wide_vectors() -> None:
    """Let LLVM use the full width of AVX-512, where that is more than halves of it.

    LLVM takes half the width on all of Intel's processors, as on the first that had AVX-512 wide
    vectors slowed the clock. These have no VBMI2. Whoever sets NUMBA_CPU_FEATURES decides alone.
    """
    from llvmlite import binding
    from numba.core import config as settings

    features = binding.get_host_cpu_features()
    if settings.CPU_FEATURES is None and features.get("avx512vbmi2"):
        settings.CPU_FEATURES = features.flatten() + ",-prefer-256-bit"


@cache
def fuses_multiply_add() -> bool:
    """Whether kernels are compiled for a processor that multiplies and adds with one rounding."""
    from llvmlite import binding
    from numba.core import config as settings

    if not binding.get_process_triple().startswith(("x86_64", "i686")):
        return True
    features = settings.CPU_FEATURES
    if features is None and settings.CPU_NAME is None:
        features = binding.get_host_cpu_features().flatten()
    return "+fma" in (features or "").split(",")


class Kernel:
    """A hand-written kernel, compiled with its helpers and constants on its first call."""

    def __init__(self, function: FunctionType) -> None:
        self.function = function
        self.__name__ = function.__name__
        self.__doc__ = function.__doc__
        self._compiled: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        return self.dispatcher_for()(*args)

    def dispatcher_for(self, first: Any = None) -> Any:
        """Numba's dispatcher, which compiles for further types of arguments by itself."""
        compiled = self._compiled
        if compiled is None:
            compiled = self._compiled = compile_text(self.__name__, kernel_text(self.function))
        return compiled

    def entry_point(self, arguments: tuple[Any, ...]) -> Any:
        """The function for arguments as the module's `entry_point` has them."""
        return entry_point(self.__name__, kernel_text(self.function), arguments)

    def library_text(self, dtype: Any) -> str:
        """Text that defines the kernel for other functions of the text; dtypes are all the same."""
        return kernel_text(self.function, as_library=True)


def kernel(function: FunctionType) -> Kernel:
    """Mark a plain function as a Numba kernel.

    It may use `np`, `math`, other kernels and module-level numbers; nothing is imported or
    compiled before its first call.
    """
    return Kernel(function)


def kernel_text(function: FunctionType, as_library: bool = False) -> str:
    """The self-contained text of a hand-written kernel; as_library: it is called by more text."""
    helpers: dict[str, str] = {}
    body = _collect(function, helpers)
    head = HEADER.format(title=function.__name__) + "\n" + "".join(helpers.values())
    if as_library:
        return f"{head}@inner\n{body}"
    return f"{head}@entry\n{body}\nkernel = {function.__name__}\n"


def _collect(function: FunctionType, helpers: dict[str, str]) -> str:
    """The source of `function`; what it uses from its module is added to `helpers` first."""
    source = plain_source(function)
    for name in names_used(source):
        value = function.__globals__.get(name)
        if name in helpers or name == function.__name__:
            continue
        if isinstance(value, Kernel):
            helpers[name] = ""
            text = _collect(value.function, helpers)
            del helpers[name]
            helpers[name] = "@inner\n" + text + "\n\n"
        elif isinstance(value, (bool, int, float)):
            helpers[name] = f"{name} = {value!r}\n"
    return source


@cache
def plain_source(function: FunctionType) -> str:
    """The source of a function without its decorators."""
    lines = textwrap.dedent(inspect.getsource(function)).splitlines(keepends=True)
    start = next(i for i, line in enumerate(lines) if line.startswith("def "))
    return "".join(lines[start:])


@cache
def names_used(source: str) -> tuple[str, ...]:
    """The global names that a function's source may mean, in order of appearance."""
    names = (node.id for node in ast.walk(ast.parse(source)) if isinstance(node, ast.Name))
    return tuple(dict.fromkeys(names))
