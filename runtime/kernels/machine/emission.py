"""From what Numba compiled to an image and its description: the last step of compiling.

A kernel's own function takes the address of a place for its result, that of one for its error, and
its arguments taken apart. Beside it stands `torchgen_run`, which takes all of these from words in
memory: the only thing that a caller must know. LLVM emits both as code that works at any address.
"""

from __future__ import annotations

import pickle
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from torchgen_out._runtime.kernels.machine import digests, host, images, support_text, symbols
from torchgen_out._runtime.kernels.machine.packs import Entry
from torchgen_out._runtime.kernels.machine.signatures import kind_of

RUN = "torchgen_run"
ENTRY_ERRORS = "errors"


class Unspeakable(Exception):
    """Something compiled is no plain data."""


def numba_type(spelled: str) -> Any:
    """Numba's type of an argument."""
    from numba import types

    kind = kind_of(spelled)
    own = types.boolean if kind.name == "bool" else getattr(types, kind.name)
    if kind.form == "array":
        layout = kind.layout.replace("U", "A")
        return types.Array(own, kind.items, layout, aligned=kind.layout != "U")
    return types.UniTuple(own, kind.items) if kind.form == "tuple" else own


def emitted(result: Any, about: dict[str, Any]) -> Entry:
    """The entry of a result of Numba's compiler, which is not used after that.

    Raises: Unspeakable or Unlinkable for code that needs the interpreter or Numba to run.
    """
    library = result.library
    if result.objectmode or result.lifted or result.reload_init or library.has_dynamic_globals:
        raise Unspeakable("it needs the interpreter or addresses of this process")
    module = library._final_module
    about = {
        **about,
        "returns": _returned(result.signature.return_type),
        ENTRY_ERRORS: _errors(module),
    }
    module.link_in(_run_module(result.fndesc))
    return Entry(about, _image(module, (RUN,)))


def emitted_text(text: str, names: Sequence[str], about: dict[str, Any]) -> Entry:
    """The entry of functions in LLVM's language, of which some are called by name."""
    from llvmlite import binding

    module = binding.parse_assembly(text)
    codegen = _codegen()
    module.triple, module.data_layout = _triple(), codegen._data_layout
    builder = binding.create_pass_builder(_machine(), binding.create_pipeline_tuning_options(2))
    _internalise(module, names)
    builder.getModulePassManager().run(module, builder)
    return Entry(about, _image(module, names))


def _image(module: Any, names: Sequence[str]) -> images.Image:
    from llvmlite import binding

    _internalise(module, names)
    builder = binding.create_pass_builder(_machine(), binding.create_pipeline_tuning_options(0))
    passes = binding.create_new_module_pass_manager()
    passes.add_global_dead_code_eliminate_pass()
    passes.run(module, builder)
    if module.triple != _triple():
        module.triple = _triple()
    image = images.link(_machine().emit_object(module), names)
    for _, name in image.slots:
        _check_name(name)
    return image


def _internalise(module: Any, names: Sequence[str]) -> None:
    """What is not called by name is the module's own: unused, it is dropped."""
    for each in (*module.functions, *module.global_variables):
        if not each.is_declaration and each.name not in names:
            each.linkage = "internal"


def _check_name(name: str) -> None:
    """A kernel calls functions that are there without Numba, and none of the interpreter's."""
    if name in support_text.NAMES:
        return
    if name.startswith("NRT_"):
        raise Unspeakable(f"it calls {name}")
    try:
        symbols.address_of(name)
    except symbols.Unknown:
        raise Unspeakable(f"it calls {name}") from None


def _codegen() -> Any:
    from numba.core.registry import cpu_target

    return cpu_target.target_context.codegen()


@cache
def _machine() -> Any:
    """What emits code for any address; all else is as Numba has it."""
    from llvmlite import binding
    from numba.core import config

    codegen = _codegen()
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    try:
        target = binding.Target.from_triple(_triple())
    except RuntimeError as error:
        raise Unspeakable(f"this LLVM makes no code for {_triple()}: {error}") from None
    other = host.target()
    return target.create_target_machine(
        cpu="generic" if other else codegen._get_host_cpu_name(),
        features=host.features_of(other) if other else codegen._tm_features,
        opt=int(config.OPT),
        reloc="pic",
        codemodel="small",
    )


def aim() -> None:
    """Let Numba compile for another machine than this one, where that is asked for."""
    if host.target():
        codegen = _codegen()
        codegen._tm = _machine()
        codegen._data_layout = str(_machine().target_data)


@cache
def _triple() -> str:
    """The system's name for LLVM; objects are ELF wherever they run."""
    from llvmlite import binding

    triple = str(binding.get_process_triple())
    if host.target() == "aarch64" and not triple.startswith("aarch64"):
        return f"aarch64-{triple.partition('-')[2]}"
    return triple if sys.platform not in ("darwin", "win32") else f"{triple}-elf"


def _run_module(described: Any) -> Any:
    """`torchgen_run` for a function that Numba describes."""
    from llvmlite import binding, ir
    from numba.core.registry import cpu_target

    context = cpu_target.target_context
    kind = context.call_conv.get_function_type(described.restype, described.argtypes)
    module = ir.Module(name=RUN)
    kernel = ir.Function(module, kind, described.llvm_func_name)
    word = ir.IntType(64)
    run = ir.Function(module, ir.FunctionType(ir.IntType(32), [word.as_pointer()]), RUN)
    builder = ir.IRBuilder(run.append_basic_block())
    values = []
    for i, form in enumerate(kind.args):
        place = builder.gep(run.args[0], [ir.Constant(word, i)])
        values.append(builder.load(builder.bitcast(place, form.as_pointer())))
    builder.ret(builder.call(kernel, values))
    return binding.parse_assembly(str(module))


def _returned(kind: Any) -> list[str]:
    """The types of a result: none, one, or those of a tuple."""
    from numba import types

    if isinstance(kind, types.NoneType):
        return []
    if isinstance(kind, types.BaseTuple):
        found = [_number(each) for each in kind]
        if any(name not in ("int64", "uint64", "float64") for name in found) or len(found) < 2:
            raise Unspeakable(f"it returns {kind}")
        return found
    return [_number(kind)]


def _number(kind: Any) -> str:
    from numba import types

    if isinstance(kind, types.Literal):
        kind = kind.literal_type
    if isinstance(kind, types.Boolean):
        return "bool"
    if isinstance(kind, (types.Integer, types.Float, types.Complex)):
        return str(kind)
    raise Unspeakable(f"it returns {kind}")


def _errors(module: Any) -> dict[str, list[Any]]:
    """The errors that a module raises, by the hash that its code has of them."""
    found = {}
    for each in module.global_variables:
        if each.name.startswith(".const.pickledata.") and "sha1" not in each.name:
            content = _bytes_of(str(each))
            kind, values, *_ = pickle.loads(content)
            if kind.__module__ != "builtins" or not _is_plain(values):
                raise Unspeakable(f"it raises {kind} with {values}")
            own = [kind.__name__, *(values or ())]
            found[digests.sha1(content)] = own
    return found


def _is_plain(values: Any) -> bool:
    return values is None or all(isinstance(each, (str, int, float)) for each in values)


def _bytes_of(text: str) -> bytes:
    """What a constant in LLVM's language holds."""
    match = re.search(r'c"(.*?)"', text)
    if match is None:
        raise Unspeakable("it holds Python objects")
    decoded = re.sub(r"\\(\\|[0-9A-Fa-f]{2})", _character, match[1])
    return decoded.encode("latin-1")


def _character(escaped: re.Match[str]) -> str:
    return "\\" if escaped[1] == "\\" else chr(int(escaped[1], 16))
