"""From a kernel and its types to what Numba's compiler returns: a module of LLVM's, optimised."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from numba.core import codegen, compiler, environment, errors, funcdesc, types
from numba.core import typing as numba_typing
from numba.core.runtime import rtsys

from torchgen_out._runtime.kernels.compiler import calls, scalars
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

ATTEMPTS = 12
"""How often a walk begins again, as a variable has another type than it seemed."""

RESULT = "result"
APART = "__apart__"
"""What a text calls its arrays that lie in memory of their own; see `build.apart`."""


class _Library(codegen.JITCodeLibrary):
    """A kernel's code, which LLVM optimises once.

    Numba has it optimise each function, then the module cheaply, then the module: for counts of
    references, of which there are none here. It takes a third longer, for no faster code.
    """

    def _optimize_functions(self, ll_module: Any) -> None:
        ll_module.data_layout = self._codegen._data_layout

    def _optimize_final_module(self) -> None:
        builder = self._codegen._pass_builder()
        builder.getModulePassManager().run(self._final_module, builder)


def compiled(dispatcher: Any, signature: tuple[Kind, ...]) -> Any:
    """Numba's result for a kernel and arguments of such types; to be called while `compiling`.

    Raises: Unsupported if its text has what only Numba compiles.
    """
    settled: dict[Any, Kind] = {}
    for _ in range(ATTEMPTS):
        try:
            return _attempt(dispatcher, signature, settled)
        except (errors.NumbaError, NotImplementedError) as error:
            raise Unsupported(str(error)) from error
        except Retype as other:
            if settled.get(other.place) == other.kind:
                break
            settled[other.place] = other.kind
    raise Unsupported("variables whose types depend on each other")


def _attempt(dispatcher: Any, signature: tuple[Kind, ...], settled: dict[Any, Kind]) -> Any:
    context = scalars.context
    described = _descriptor(dispatcher.py_func, signature, settled.get(RESULT, types.none))
    library = _Library(context.codegen(), described.qualname)
    library.enable_object_caching()
    module = library.create_ir_module(described.unique_name)
    with context.push_code_library(library):
        _emit(dispatcher, described, library, module, settled)
    library.add_ir_module(module)
    library.add_linking_library(rtsys.library)
    return _result(described, library)


def _emit(
    dispatcher: Any, described: Any, library: Any, module: Any, settled: dict[Any, Kind]
) -> None:
    """The code of a kernel."""
    context = scalars.context
    function = context.declare_function(module, described)
    body = Body(function, library, settled)
    definition = calls.definition_of(dispatcher.py_func)
    names = [each.arg for each in definition.args.args]
    if len(names) != len(described.argtypes):
        raise Unsupported("arguments that are left out")
    known = dispatcher.py_func.__globals__
    registers = iter(context.call_conv.get_arguments(function))
    given = [_argument(body, kind, registers) for kind in described.argtypes]
    for name, each in zip(names, given, strict=True):
        if name in known.get(APART, ()):
            each.data.add_attribute("noalias")
    body.scope.names = known
    body.scope.env = dict(zip(names, given, strict=True))
    with body.reassociating(calls.flags_of(dispatcher)):
        _return(body, calls.finished(body, definition), described.restype)


def _argument(body: Body, kind: Kind, registers: Iterator[Any]) -> Value:
    """An argument, as Numba's calls hand it over."""
    if isinstance(kind, types.Array):
        for _ in ("memory", "owner", "numel", "item size"):
            next(registers)
        data = next(registers)
        shape = [next(registers) for _ in range(kind.ndim)]
        strides = [next(registers) for _ in range(kind.ndim)]
        return Array(kind, data, shape, None if kind.layout == "C" else strides)
    if isinstance(kind, types.BaseTuple):
        return Tuple([_argument(body, each, registers) for each in kind])
    if isinstance(kind, (types.Float, types.Integer, types.Boolean)):
        model = scalars.context.data_model_manager[kind]
        return Number(kind, model.from_argument(body.builder, next(registers)))
    if isinstance(kind, types.Complex):
        model = scalars.context.data_model_manager[kind]
        return Number(kind, model.from_argument(body.builder, (next(registers), next(registers))))
    raise Unsupported(f"an argument of type {kind}")


def _return(body: Body, value: Value, kind: Kind) -> None:
    """Return the kernel's result, and nothing that it owns."""
    calls.release(body, body.scope)
    context = scalars.context
    if isinstance(value, Static):
        if value.value is not None:
            raise Unsupported(f"the result {value.value}")
        own, register = types.none, context.get_dummy_value()
    elif isinstance(value, (Number, Tuple)):
        own, register = calls.numbas_value(body, value)
    else:
        raise Unsupported("a result that is an array")
    if own != kind:
        raise Retype(RESULT, own)
    builder, conv = body.builder, context.call_conv
    conv.return_value(builder, context.get_return_value(builder, own, register))


def _descriptor(function: Any, signature: tuple[Kind, ...], result: Kind) -> Any:
    code = function.__code__
    return funcdesc.FunctionDescriptor(
        native=True,
        modname=function.__module__,
        qualname=function.__qualname__,
        unique_name=function.__qualname__,
        doc="",
        typemap=None,
        restype=result,
        calltypes=None,
        args=code.co_varnames[: code.co_argcount],
        kws=(),
        mangler=scalars.context.mangler,
        argtypes=signature,
    )


def _result(described: Any, library: Any) -> Any:
    """What Numba's compiler returns; the entry point is what `lean_compiler` has in its place."""
    context = scalars.context
    own = environment.Environment.from_fndesc(described)
    entry_point = context.get_executable(library, described, own)
    return compiler.compile_result(
        target_context=context,
        typing_context=context.typing_context,
        library=library,
        environment=own,
        entry_point=entry_point,
        fndesc=described,
        type_annotation="",
        signature=numba_typing.signature(described.restype, *described.argtypes),
        objectmode=False,
        lifted=(),
        reload_init=[],
        referenced_envs=[],
    )
