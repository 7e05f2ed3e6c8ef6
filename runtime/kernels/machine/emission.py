"""From what Numba compiled to an image and its description: the last step of compiling.

A kernel's own function takes the address of a place for its result, that of one for its error, and
its arguments taken apart. Beside it stands `torchgen_run`, which takes all of these from words in
memory: the only thing that a caller must know. LLVM emits both as code that works at any address.
"""

from __future__ import annotations

import os
import pickle
import re
import sys
from collections.abc import Sequence
from functools import cache
from typing import Any

from llvmlite import binding, ir

from torchgen_out._runtime.kernels.compiler import convention, kinds, numba_rules
from torchgen_out._runtime.kernels.compiler.library import Walked
from torchgen_out._runtime.kernels.machine import digests, host, images, support_text, symbols
from torchgen_out._runtime.kernels.machine.packs import Entry

RUN = "torchgen_run"
ENTRY_ERRORS = "errors"


class Unspeakable(Exception):
    """Something compiled is no plain data."""


class Missing(Exception):
    """Something compiled calls what a compiler's own library would have, which there is not."""


def emitted_walk(walked: Walked, about: dict[str, Any]) -> Entry:
    """The entry of a text's function, which LLVM optimises here.

    Raises: Unspeakable or Unlinkable for code that needs the interpreter or Numba to run.
    """
    module = walked.module
    module.triple, module.data_layout = _triple(), str(_machine().target_data)
    builder = _pass_builder(3)
    builder.getModulePassManager().run(module, builder)
    about = {**about, "returns": _returned(walked.result), ENTRY_ERRORS: _errors(module)}
    kind = convention.function_type(walked.signature, walked.result)
    module.link_in(_run_module(kind, walked.name))
    return Entry(about, _image(module, (RUN,)))


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
        "returns": _returned(numba_rules.from_numba(result.signature.return_type)),
        ENTRY_ERRORS: _errors(module),
    }
    module.link_in(_run_module(_numbas_function(result.fndesc), result.fndesc.llvm_func_name))
    return Entry(about, _image(module, (RUN,)))


def emitted_text(text: str, names: Sequence[str], about: dict[str, Any]) -> Entry:
    """The entry of functions in LLVM's language, of which some are called by name."""
    module = binding.parse_assembly(text)
    module.triple, module.data_layout = _triple(), str(_machine().target_data)
    builder = binding.create_pass_builder(_machine(), binding.create_pipeline_tuning_options(2))
    _internalise(module, names)
    builder.getModulePassManager().run(module, builder)
    return Entry(about, _image(module, names))


def _image(module: Any, names: Sequence[str]) -> images.Image:
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
    """A kernel calls functions that are there without Numba, and none of the interpreter's.

    Raises: Missing for one that Numba would not find either: it would jump to nowhere.
    """
    if name in support_text.NAMES or name == symbols.NDARRAY:
        return
    if name.startswith("NRT_"):
        raise Unspeakable(f"it calls {name}")
    try:
        symbols.address_of(name)
    except symbols.Unknown:
        if name.startswith("__") and binding.address_of_symbol(name) is None:
            raise Missing(f"it calls {name}, which is nowhere in this process") from None
        raise Unspeakable(f"it calls {name}") from None


def _codegen() -> Any:
    from numba.core.registry import cpu_target

    return cpu_target.target_context.codegen()


@cache
def _machine() -> Any:
    """What knows the processor, and emits code for any address."""
    if host.target():
        binding.initialize_all_targets()
        binding.initialize_all_asmprinters()
    else:
        binding.initialize_native_target()
        binding.initialize_native_asmprinter()
    try:
        target = binding.Target.from_triple(_triple())
    except RuntimeError as error:
        raise Unspeakable(f"this LLVM makes no code for {_triple()}: {error}") from None
    cpu, features = _processor()
    return target.create_target_machine(
        cpu=cpu, features=features, opt=3, reloc="pic", codemodel="small"
    )


def _processor() -> tuple[str, str]:
    """The name and the features of the processor that runs the code, as LLVM has them."""
    level = host.target()
    if level:
        return "generic", host.features_of(level)
    cpu = os.environ.get("NUMBA_CPU_NAME") or binding.get_host_cpu_name()
    chosen = os.environ.get("NUMBA_CPU_FEATURES")
    return cpu, host_features() if chosen is None else chosen


def host_features() -> str:
    """The features of this processor, with vectors of AVX-512's full width where they are fast.

    LLVM takes half the width on all of Intel's processors, as on the first that had AVX-512 wide
    vectors slowed the clock. These have no VBMI2.
    """
    try:
        features = binding.get_host_cpu_features()
    except RuntimeError:
        return ""
    flat: str = features.flatten()
    return flat + ",-prefer-256-bit" if features.get("avx512vbmi2") else flat


def _pass_builder(level: int) -> Any:
    """LLVM's optimiser as Numba asks for it."""
    options = binding.create_pipeline_tuning_options(level)
    options.slp_vectorization, options.loop_vectorization = False, True
    return binding.create_pass_builder(_machine(), options)


def aim() -> None:
    """Let Numba compile for another machine than this one, where that is asked for."""
    if host.target():
        codegen = _codegen()
        codegen._tm = _machine()
        codegen._data_layout = str(_machine().target_data)


@cache
def _triple() -> str:
    """The system's name for LLVM; objects are ELF wherever they run."""
    triple = str(binding.get_process_triple())
    if host.target() == "aarch64" and not triple.startswith("aarch64"):
        return f"aarch64-{triple.partition('-')[2]}"
    return triple if sys.platform not in ("darwin", "win32") else f"{triple}-elf"


def _numbas_function(described: Any) -> Any:
    """The type of a function that Numba describes."""
    from numba.core.registry import cpu_target

    conv = cpu_target.target_context.call_conv
    return conv.get_function_type(described.restype, described.argtypes)


def _run_module(kind: Any, name: str) -> Any:
    """`torchgen_run` for a kernel's function of some type."""
    module = ir.Module(name=RUN)
    kernel = ir.Function(module, kind, name)
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
    if kind is kinds.none:
        return []
    if isinstance(kind, tuple):
        found = [str(each) for each in kind]
        if any(name not in ("int64", "uint64", "float64") for name in found) or len(found) < 2:
            raise Unspeakable(f"it returns {kind}")
        return found
    if not kinds.is_number(kind):
        raise Unspeakable(f"it returns {kind}")
    return [str(kind)]


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
