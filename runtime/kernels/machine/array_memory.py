"""Pools from which compiled code lends to NumPy's arrays (`pool_text`): their words and handler."""

from __future__ import annotations

import ctypes
from collections.abc import Callable
from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels.machine import callers, numpy_functions, pool_text, symbols
from torchgen_out._runtime.kernels.machine.numpy_functions import address_of

HANDLER_NAME = b"mem_handler"
_VERSION, _ALLOCATOR = 127, 128  # in NumPy's description of a handler, after its name
_Words = ctypes.c_int64 * (pool_text.HEADS + pool_text.LISTS)


def new_pool() -> Any:
    """The words of an empty pool that keeps nothing. They stay: arrays may die after modules."""
    words = _Words()
    begin = ctypes.addressof(words)
    handler = begin + 8 * pool_text.HANDLER
    ctypes.memmove(handler, b"torchgen", 8)
    ctypes.c_uint8.from_address(handler + _VERSION).value = 1
    functions = [symbols.address_of(f"torchgen_pool_{each}") for each in pool_text.FUNCTIONS]
    first = pool_text.HANDLER + _ALLOCATOR // 8
    words[first : first + 5] = [begin, *functions]
    made = ctypes.PYFUNCTYPE(ctypes.py_object, ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p)(
        ("PyCapsule_New", ctypes.pythonapi)
    )(handler, HANDLER_NAME, None)
    context, malloc, _, _, free = _allocator(_default_handler())
    addresses = {"handler": id(made), "context": context, "malloc": malloc, "free": free}
    for name, address in addresses.items():
        words[pool_text.WORDS.index(name)] = address
    for each in (words, made, HANDLER_NAME):
        ctypes.pythonapi.Py_IncRef(ctypes.py_object(each))
    return words


def dropper(words: Any) -> Callable[[], None]:
    """What gives all that a pool keeps back to the system."""
    form = ctypes.PYFUNCTYPE(None, ctypes.c_void_p)  # holds the GIL
    drop, begin = form(symbols.address_of("torchgen_pool_drop")), ctypes.addressof(words)
    return lambda: drop(begin)


def lender(words: Any, dtype: Any, refuse: Callable[[int], Any]) -> Callable[[int], Any]:
    """lend(numel): vectors of a dtype, the large ones from a pool.

    refuse: called where there is no memory, or cannot be; what it returns is the result.
    """
    numbers = callers.numbers_of_empty(dtype)
    numbers += [ctypes.addressof(words), pool_text.LEAST_BYTES // dtype.itemsize]
    numbers += [pool_text.MOST_BYTES // dtype.itemsize]
    owner = [dtype, np.array(numbers, np.uint64).tobytes(), refuse]
    return callers.function_of("lend", "torchgen_lend", owner)


@cache
def is_possible() -> bool:
    """Whether NumPy's arrays have their handler, and handlers their functions, where expected."""
    if not callers.work_here() or np.ndarray.__basicsize__ < 96:
        return False
    version, feature = _versions()
    return version in (1, 2) and feature >= 15 and _has_fields() and _is_handler(_default_handler())


def _versions() -> tuple[int, int]:
    """Of NumPy's binary interface, and of the functions in its table."""
    asked = ctypes.PYFUNCTYPE(ctypes.c_uint)
    version = asked(address_of(numpy_functions.ABI_VERSION))() >> 24
    return version, asked(address_of(numpy_functions.FEATURE_VERSION))()


def _has_fields() -> bool:
    """Whether arrays' headers are as `torchgen_lend` writes them."""
    whole = np.empty(3)
    part = whole[1:]
    current = ctypes.PYFUNCTYPE(ctypes.py_object)(address_of(numpy_functions.GET_HANDLER))()
    return _header(whole) == (whole.ctypes.data, 1, 0, whole.flags.num, id(current)) and (
        _header(part) == (part.ctypes.data, 1, id(whole), part.flags.num, 0)
    )


def _header(array: Any) -> tuple[int, int, int, int, int]:
    """Elements, ndim, base, flags and handler, read where they should be."""
    word, half = ctypes.c_int64.from_address, ctypes.c_int32.from_address
    at = id(array)
    numbers = word(at + 16), half(at + 24), word(at + 48), half(at + 64), word(at + 88)
    data, ndim, base, flags, handler = (each.value for each in numbers)
    return data, ndim, base, flags, handler


def _default_handler() -> Any:
    """The capsule of NumPy's own."""
    return ctypes.py_object.from_address(address_of(numpy_functions.DEFAULT_HANDLER)).value


def _is_handler(capsule: Any) -> bool:
    try:
        content = numpy_functions.content_of(capsule, HANDLER_NAME)
    except ValueError:
        return False
    return ctypes.c_uint8.from_address(content + _VERSION).value == 1 and all(
        _allocator(capsule)[1:]
    )


def _allocator(capsule: Any) -> list[int]:
    """The context of a handler, and its functions in the order of `pool_text.FUNCTIONS`."""
    content = numpy_functions.content_of(capsule, HANDLER_NAME)
    return list((ctypes.c_int64 * 5).from_address(content + _ALLOCATOR))
