"""How a kernel's function is called: as Numba's own are.

It takes the address of a place for its result, that of one for its error, and its arguments taken
apart; it returns whether there was an error. What an error is stands in a constant, which is known
by its hash: `machine/emission.py` writes down whose that is.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from typing import Any

from llvmlite import ir

from torchgen_out._runtime.kernels.compiler import kinds
from torchgen_out._runtime.kernels.compiler.values import (
    Array,
    Kind,
    Number,
    Static,
    Tuple,
    Unsupported,
    Value,
)
from torchgen_out._runtime.kernels.machine import digests

WORD = ir.IntType(64)
SOME = ir.IntType(8).as_pointer()
STATUS = ir.IntType(32)
FINE, FAILED = 0, 1  # what a function returns
ERROR = ir.LiteralStructType([SOME, STATUS, SOME, SOME, STATUS])
"""What is said of an error: what it is, the length of that, its hash; and what only Numba uses."""


def function_type(signature: Sequence[Kind], result: Kind) -> Any:
    """The type of a kernel's function."""
    taken = [part for kind in signature for part in _parts(kind)]
    places = [returned_type(result).as_pointer(), ERROR.as_pointer().as_pointer()]
    return ir.FunctionType(STATUS, [*places, *taken])


def returned_type(kind: Kind) -> Any:
    """How a result lies in memory."""
    if isinstance(kind, tuple):
        return ir.LiteralStructType([returned_type(each) for each in kind])
    return kind.memory


def declared(module: Any, name: str, signature: Sequence[Kind], result: Kind) -> Any:
    """A kernel's function, which is yet to be filled."""
    function = ir.Function(module, function_type(signature, result), name)
    for place in function.args[:2]:
        place.add_attribute("noalias")
    return function


def _parts(kind: Kind) -> list[Any]:
    """An argument taken apart."""
    if isinstance(kind, tuple):
        return [part for each in kind for part in _parts(each)]
    if isinstance(kind, kinds.Array):
        sizes = [WORD] * (2 * kind.ndim)
        return [SOME, SOME, WORD, WORD, kind.dtype.memory.as_pointer(), *sizes]
    if isinstance(kind, kinds.Complex):
        return [kind.part.memory] * 2
    return [kind.memory]


def arguments(builder: Any, function: Any, signature: Sequence[Kind]) -> list[Value]:
    """What a kernel's function is called with."""
    registers = iter(function.args[2:])
    return [_argument(builder, kind, registers) for kind in signature]


def _argument(builder: Any, kind: Kind, registers: Iterator[Any]) -> Value:
    if isinstance(kind, tuple):
        return Tuple([_argument(builder, each, registers) for each in kind])
    if isinstance(kind, kinds.Array):
        for _ in ("memory", "owner", "numel", "item size"):
            next(registers)
        data = next(registers)
        shape = [next(registers) for _ in range(kind.ndim)]
        strides = [next(registers) for _ in range(kind.ndim)]
        return Array(kind, data, shape, None if kind.layout == "C" else strides)
    if isinstance(kind, kinds.Complex):
        return Number(kind, joined(builder, kind, next(registers), next(registers)))
    return Number(kind, from_memory(builder, kind, next(registers)))


def joined(builder: Any, kind: Kind, real: Any, imag: Any) -> Any:
    """A complex number of its parts."""
    made = builder.insert_value(ir.Constant(kind.register, ir.Undefined), real, 0)
    return builder.insert_value(made, imag, 1)


def from_memory(builder: Any, kind: Kind, register: Any) -> Any:
    """A value that was loaded, or handed over."""
    return builder.icmp_unsigned("!=", register, register.type(0)) if _is_bit(kind) else register


def to_memory(builder: Any, kind: Kind, register: Any) -> Any:
    """A value as it is stored."""
    return builder.zext(register, kind.memory) if _is_bit(kind) else register


def _is_bit(kind: Kind) -> bool:
    return kind is kinds.boolean


def return_value(builder: Any, value: Value) -> None:
    """End a kernel's function with its result."""
    if not isinstance(value, Static):
        builder.store(_as_stored(builder, value), builder.function.args[0])
    builder.ret(STATUS(FINE))


def _as_stored(builder: Any, value: Value) -> Any:
    if isinstance(value, Number):
        return to_memory(builder, value.kind, value.ir)
    assert isinstance(value, Tuple)
    made = ir.Constant(returned_type(value.kind), ir.Undefined)
    for at, each in enumerate(value.items):
        made = builder.insert_value(made, _as_stored(builder, each), at)
    return made


def raise_error(builder: Any, kind: type[Exception], told: tuple[Any, ...]) -> None:
    """End a kernel's function with an error."""
    if not isinstance(kind, type) or not issubclass(kind, Exception):
        raise Unsupported(f"an error of type {kind}")
    builder.store(_constant_error(builder.module, kind, told), builder.function.args[1])
    builder.ret(STATUS(FAILED))


def _constant_error(module: Any, kind: type[Exception], told: tuple[Any, ...]) -> Any:
    content = pickle.dumps((kind, told, None), protocol=4)
    digest = bytes.fromhex(digests.sha1(content))
    name = f".const.pickledata.{digest.hex()}"
    data = constant(module, name, _bytes(content)).bitcast(SOME)
    known_by = constant(module, f"{name}.sha1", _bytes(digest)).bitcast(SOME)
    parts = [data, STATUS(len(content)), known_by, ir.Constant(SOME, None), STATUS(0)]
    return constant(module, f".const.picklebuf.{digest.hex()}", ir.Constant(ERROR, parts))


def _bytes(content: bytes) -> Any:
    return ir.Constant(ir.ArrayType(ir.IntType(8), len(content)), bytearray(content))


def constant(module: Any, name: str, value: Any) -> Any:
    """A value that lies beside the code, once."""
    found = module.globals.get(name)
    if found is None:
        found = ir.GlobalVariable(module, value.type, name)
        found.linkage, found.global_constant, found.initializer = "internal", True, value
    return found
