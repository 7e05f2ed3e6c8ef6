"""Views as arithmetic: (sizes, strides, storage_offset) of the result; no data is touched.

A function has its operator's arguments in schema order and returns one triple, or a list of
triples for an operator with several results. Strides and offsets count elements; the offset is
absolute. Operators tagged `reinterpret` return the result's dtype as a fourth item, and their
strides and offset count elements of that dtype.
"""

from torchgen_out._runtime.ops.views.memory import (
    alias,
    as_strided,
    view_as_complex,
    view_as_real,
    view_dtype,
)
from torchgen_out._runtime.ops.views.order import (
    matrix_transpose,
    movedim,
    permute,
    reverse_dims,
    t,
    transpose,
)
from torchgen_out._runtime.ops.views.pieces import (
    chunk,
    split,
    split_with_sizes,
    unbind,
)
from torchgen_out._runtime.ops.views.selection import diagonal, narrow, select, slice, unfold
from torchgen_out._runtime.ops.views.sizes import (
    expand,
    squeeze,
    squeeze_dim,
    squeeze_dims,
    unflatten,
    unsqueeze,
    view,
)

__all__ = [
    "alias",
    "as_strided",
    "chunk",
    "diagonal",
    "expand",
    "matrix_transpose",
    "movedim",
    "narrow",
    "permute",
    "reverse_dims",
    "select",
    "slice",
    "split",
    "split_with_sizes",
    "squeeze",
    "squeeze_dim",
    "squeeze_dims",
    "t",
    "transpose",
    "unbind",
    "unflatten",
    "unfold",
    "unsqueeze",
    "view",
    "view_as_complex",
    "view_as_real",
    "view_dtype",
]
