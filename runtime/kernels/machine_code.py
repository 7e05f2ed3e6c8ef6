"""Numba's compiled functions as plain data, and back: an object file and what describes it.

A file of the cache holds no pickle: types are spelled, and the rest is names. What cannot be
spelled is not kept. Loading touches neither Numba's compiler nor the kernel's text. The bitcode,
which only other kernels that call this one need, is compressed and not read before that.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sys
import types as python_types
import zlib
from collections.abc import Callable
from functools import cache
from typing import Any

from torchgen_out._runtime.kernels import store

SIMPLE = "none boolean int8 int16 int32 int64 uint8 uint16 uint32 uint64 float32 float64 complex64 "
SIMPLE += "complex128"
ENVIRONMENT = "_ZN08NumbaEnv"
"""How the symbols begin that hold the address of a function's environment."""

counts = {"loaded": 0, "compiled": 0}
_results: dict[str, Any] = {}
"""What this process has compiled or loaded, by the names of the files."""


class Unspeakable(Exception):
    """Something compiled is no plain data."""


class KernelCache:
    """Where Numba's dispatcher of one function looks for compiled code, and leaves it."""

    cache_path = None

    def __init__(self, stem: str, module: python_types.ModuleType, function: str) -> None:
        self.stem, self.module, self.function = stem, module, function

    def load_overload(self, signature: Any, target_context: Any) -> Any:
        """Numba's result for a signature; None if there is none."""
        return load(self.stem, self.module, self.function, _arguments(signature))

    def save_overload(self, signature: Any, result: Any) -> None:
        """Keep what Numba has compiled."""
        key = _key(self.function, _arguments(signature))
        name = _file_name(self.stem, self.function, key)
        counts["compiled"] += 1
        _results[name] = result
        try:
            parts = _parts(result)
        except Unspeakable as error:
            store.log.info("%s cannot be kept: %s", name, error)
            return
        store.write(name, key, parts)

    def enable(self) -> None:
        """It always is."""

    def disable(self) -> None:
        """It never is."""

    def flush(self) -> None:
        """What is compiled from the same text stays the same."""


def load(
    stem: str, module: python_types.ModuleType, function: str, arguments: tuple[Any, ...]
) -> Any:
    """Numba's result for a function of a module, from this process or from the cache; or None.

    module: it need not hold the function yet.
    """
    key = _key(function, arguments)
    name = _file_name(stem, function, key)
    found = _results.get(name)
    if found is None:
        parts = store.read(name, key)
        if parts is None:
            return None
        found = _results[name] = _rebuilt(parts, module, arguments)
        counts["loaded"] += 1
    return found


def _arguments(signature: Any) -> tuple[Any, ...]:
    from numba.core import sigutils

    return tuple(sigutils.normalize_signature(signature)[0])


def _key(function: str, arguments: tuple[Any, ...]) -> str:
    return f"{function}({', '.join(map(str, arguments))}) {_platform()}"


def _file_name(stem: str, function: str, key: str) -> str:
    return f"{stem}.{function}.{hashlib.blake2b(key.encode(), digest_size=12).hexdigest()}.kernel"


@cache
def _platform() -> str:
    """All that the machine code depends on besides text and types."""
    import llvmlite
    import numba
    from numba.core import config

    settings = "OPT LOOP_VECTORIZE SLP_VECTORIZE BOUNDSCHECK DEBUGINFO_DEFAULT LLVM_REFPRUNE_PASS"
    chosen = [f"{name}={getattr(config, name, None)}" for name in settings.split()]
    versions = [numba.__version__, llvmlite.__version__, sys.implementation.cache_tag]
    return " ".join(map(str, (*versions, getattr(sys, "abiflags", ""), *chosen, *_codegen_key())))


def _codegen_key() -> tuple[str, ...]:
    return tuple(_target_context().codegen().magic_tuple())


@cache
def _target_context() -> Any:
    """Numba's context, with its memory management at hand, which kernels that allocate call."""
    from numba.core.registry import cpu_target
    from numba.core.runtime import rtsys

    context = cpu_target.target_context
    rtsys.initialize(context)
    return context


def _parts(result: Any) -> list[bytes]:
    """What to keep of a result: its description, machine code, and bitcode."""
    library, described = result.library, result.fndesc
    if result.objectmode or result.lifted or result.reload_init or library.has_dynamic_globals:
        raise Unspeakable("it needs the interpreter or addresses of this process")
    from numba.core.environment import lookup_environment

    environments = {}
    for variable in library._final_module.global_variables:
        if variable.name.startswith(ENVIRONMENT):
            environments[variable.name] = lookup_environment(variable.name)
    used = [name for name, environment in environments.items() if environment is not None]
    if any(environments[name].consts for name in used) or result.environment.consts:
        raise Unspeakable("it holds Python objects")
    about = {
        "library": library.name,
        "returns": _spelled(result.signature.return_type),
        "environments": used,
        **{name: getattr(described, name) for name in DESCRIPTION},
    }
    bitcode = library._get_module_for_linking().as_bitcode()
    code = library._get_compiled_object()
    return [json.dumps(about).encode(), bytes(code), zlib.compress(bitcode, 1)]


DESCRIPTION = ("native", "modname", "qualname", "unique_name", "args", "mangled_name", "env_name")
DESCRIPTION += ("inline", "noalias", "abi_tags", "uid")
"""What Numba's descriptor of a function says in plain data."""


def _rebuilt(
    parts: list[bytes], module: python_types.ModuleType, arguments: tuple[Any, ...]
) -> Any:
    """Numba's result from its parts."""
    from numba import _dynfunc
    from numba.core import compiler, compiler_lock, typing

    about, code, bitcode = json.loads(parts[0]), parts[1], parts[2]
    context = _target_context()
    described = _descriptor(about, arguments)
    with compiler_lock.global_compiler_lock:
        library = _library(context.codegen(), about["library"], code, bitcode)
        names = [described.llvm_func_name, described.llvm_cpython_wrapper_name]
        context.codegen()._engine._defined_symbols.update(names)
        own = _environment(described.env_name, module)
        entry = _dynfunc.make_function(
            module,
            described.qualname.split(".")[-1],
            f"compiled {described.qualname}",
            library.get_pointer_to_function(described.llvm_cpython_wrapper_name),
            own,
            (library,),
        )
        used = [_environment(name, module) for name in about["environments"]]
        for environment in (own, *used):
            context.codegen().set_env(environment.env_name, environment)
    return compiler.compile_result(
        target_context=context,
        typing_context=context.typing_context,
        library=library,
        environment=own,
        entry_point=entry,
        fndesc=described,
        type_annotation="",
        signature=typing.signature(_type_of(about["returns"]), *arguments),
        objectmode=False,
        lifted=(),
        reload_init=[],
        referenced_envs=used,
    )


def _descriptor(about: dict[str, Any], arguments: tuple[Any, ...]) -> Any:
    from numba.core import funcdesc

    return funcdesc.FunctionDescriptor(
        native=about["native"],
        modname=about["modname"],
        qualname=about["qualname"],
        unique_name=about["unique_name"],
        doc="",
        typemap=None,
        restype=_type_of(about["returns"]),
        calltypes=None,
        args=tuple(about["args"]),
        kws=(),
        mangler=lambda *_, **__: about["mangled_name"],
        argtypes=arguments,
        inline=about["inline"],
        noalias=about["noalias"],
        env_name=about["env_name"],
        abi_tags=tuple(about["abi_tags"]),
        uid=about["uid"],
    )


def _library(codegen: Any, name: str, code: bytes, bitcode: bytes) -> Any:
    """A library of Numba's that has its machine code already."""
    library = codegen.create_library(name)
    library.enable_object_caching()
    library._set_compiled_object(code)
    library._get_module_for_linking = functools.cache(_linkable(codegen, bitcode))
    library._finalize_final_module()
    return library


def _linkable(codegen: Any, bitcode: bytes) -> Callable[[], Any]:
    """What gives the intermediate code that a kernel which calls this one is linked with."""

    def module() -> Any:
        from llvmlite import binding

        parsed = binding.parse_bitcode(zlib.decompress(bitcode))
        codegen._engine._load_defined_symbols(parsed)
        return parsed

    return module


def _environment(name: str, module: python_types.ModuleType) -> Any:
    """The environment of a function, without objects: one for a name, as Numba has it."""
    from numba.core import environment

    found = environment.lookup_environment(name)
    if found is None:
        found = environment.Environment(module.__dict__)
        found.env_name = name
        environment.Environment._memo[name] = found
    return found


def _spelled(kind: Any) -> Any:
    """A type as plain data: a name, or a list that begins with what it is."""
    from numba import types

    if isinstance(kind, types.Literal) and type(kind.literal_value) in (bool, int):
        return ["literal", kind.literal_value]
    if type(kind) in (types.Tuple, types.UniTuple):
        return ["tuple", *map(_spelled, kind)]
    if type(kind) is types.Array:
        own = [kind.ndim, kind.layout, not kind.mutable, kind.aligned]
        return ["array", _spelled(kind.dtype), *own]
    for name in SIMPLE.split():
        if kind == getattr(types, name):
            return name
    raise Unspeakable(f"it returns {kind}")


def _type_of(spelled: Any) -> Any:
    from numba import types

    if isinstance(spelled, str):
        return getattr(types, spelled)
    what, *rest = spelled
    if what == "literal":
        return types.literal(rest[0])
    if what == "tuple":
        return types.Tuple([_type_of(each) for each in rest])
    element, ndim, layout, readonly, aligned = rest
    return types.Array(_type_of(element), ndim, layout, readonly=readonly, aligned=aligned)
