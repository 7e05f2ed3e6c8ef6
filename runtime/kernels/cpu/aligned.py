"""Vectors of undefined values that begin at a cache line.

The widest vectors are whole cache lines: read from elsewhere, each costs two. NumPy's memory begins
at a multiple of 16 bytes, and looking for the line in a larger array takes 1.5 us in Python.
"""

from __future__ import annotations

from functools import cache
from typing import Any

import numpy as np

from torchgen_out._runtime.kernels import build

CACHE_LINE = 64

TEXT = '''\
from llvmlite import ir
from numba import types
from numba.extending import intrinsic
from numba.np.arrayobj import populate_array

ELEMENT = types.{element}
SIZE = {size}
CACHE_LINE = {cache_line}


@intrinsic
def allocate(typingctx, count):
    """A vector that begins at a cache line. Raises: MemoryError."""
    kind = types.Array(ELEMENT, 1, "C")

    def emit(context, builder, signature, args):
        size = context.get_constant(types.intp, SIZE)
        line = context.get_constant(types.uint32, CACHE_LINE)
        memory = context.nrt.meminfo_alloc_aligned(builder, builder.mul(args[0], size), line)
        array = context.make_array(kind)(context, builder)
        data = context.nrt.meminfo_data(builder, memory)
        populate_array(
            array,
            data=builder.bitcast(data, context.get_data_type(ELEMENT).as_pointer()),
            shape=args,
            strides=[size],
            itemsize=size,
            meminfo=memory,
        )
        return array._getvalue()

    return kind(types.intp), emit


@entry
def kernel(count):
    """A vector of so many elements."""
    return allocate(count)
'''


@cache
def empty_of(dtype: Any) -> Any:
    """empty(count): what makes vectors of a dtype."""
    from numba import from_dtype

    if dtype == np.float16:  # which Numba has for devices only
        empty = empty_of(np.dtype(np.uint16))
        return lambda count: empty(count).view(dtype)

    element = str(from_dtype(dtype)).replace("bool", "boolean")
    head = build.HEADER.format(title=f"Memory for {dtype.name}.")
    text = head + TEXT.format(element=element, size=dtype.itemsize, cache_line=CACHE_LINE)
    return build.entry_point(f"empty_{dtype.name}", text, (int,))
