"""The methods of `Tensor` that are no operators: Python's protocols, conversions, memory.

Operators' methods are generated, autograd's are in `autograd.tensor_attributes`. `install` puts
these beside them.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterator
from types import FunctionType
from typing import Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends import protocol as backends
from torchgen_out._runtime.core import deprecation
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import sparse as sparse_records
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.memory_format import memory_format
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import creation, from_data
from torchgen_out._runtime.ops.composite.sparse import conversion as sparse_conversion
from torchgen_out._runtime.ops.composite.sparse import functions as sparse_functions
from torchgen_out._runtime.tensor_api import (
    conversion,
    dlpack,
    indexing,
    interop,
    legacy_types,
    memory,
    pickling,
    printing,
    sparse,
    subclassing,
    untyped_storage,
)
from torchgen_out._runtime.tensor_api.typed_storage import TypedStorage

Self = Any  # a Tensor, once the methods are installed


class TensorAPI:
    """Holds the methods; no tensor is ever made of this class."""

    __array_priority__ = 1000  # above NumPy's arrays: array + tensor is the tensor's to answer

    def __new__(cls: Any, *args: Any, device: Any = None) -> Tensor:
        """Make a tensor of the default dtype: `Tensor(2, 3)` by sizes, `Tensor([1, 2])` by data."""
        on = creation.device_or_default(device)
        made = legacy_types.from_sizes_or_data(dtypes.default_dtype(), on, args)
        return pickling.as_class(cls, made)

    def __init_subclass__(cls: Any, **options: Any) -> None:
        subclassing.init_subclass(cls, **options)

    __torch_function__: Any = classmethod(subclassing.torch_function)
    _make_subclass = staticmethod(subclassing.make_subclass)

    # -- text -----------------------------------------------------------------------------------

    def __repr__(self: Self, *, tensor_contents: str | None = None) -> str:
        return printing.tensor_repr(self, tensor_contents)

    def __format__(self: Self, format_spec: str) -> str:
        if self.dim() == 0 and not self.is_meta and self.__class__ is Tensor:
            return format(self.item(), format_spec)
        return object.__format__(self, format_spec)

    # -- a sequence -----------------------------------------------------------------------------

    __getitem__ = indexing.getitem
    __setitem__ = indexing.setitem
    __len__ = indexing.length
    __contains__ = indexing.contains

    def __delitem__(self: Self, index: Any) -> None:
        raise TypeError("Tensor does not support deleting items")

    def __iter__(self: Self) -> Iterator[Tensor]:
        return indexing.iterate(self)

    def __reversed__(self: Self) -> Tensor:
        """The elements in reverse order along all dims."""
        tensor: Tensor = self
        return tensor.flip(tuple(range(tensor.dim()))) if tensor.dim() else tensor

    __hash__ = object.__hash__  # by identity; a Python function would cost every dict and set

    # -- numbers --------------------------------------------------------------------------------

    item = interop.item
    tolist = interop.tolist
    __bool__ = interop.as_bool
    __int__ = interop.as_int
    __float__ = interop.as_float
    __index__ = interop.as_index

    def __complex__(self: Self) -> builtins.complex:
        return complex(interop.as_number(self))

    def __invert__(self: Self) -> Tensor:
        try:
            return ops.bitwise_not(self)
        except NotImplementedError:
            raise errors.invert_of_numbers(self.dtype) from None

    # -- arrays ---------------------------------------------------------------------------------

    numpy = interop.numpy
    __array__ = interop.array
    __dlpack__ = dlpack.to_dlpack
    __dlpack_device__ = dlpack.dlpack_device

    @property
    def __cuda_array_interface__(self: Self) -> dict[str, Any]:
        """The description of a CUDA tensor's memory, version 3, for other libraries.

        **Raises** AttributeError for tensors elsewhere, RuntimeError if it requires grad.
        """
        return interop.cuda_array_interface(self)

    def record_stream(self: Self, stream: Any) -> None:
        """Keep the memory from other use until what `stream` was given so far is done."""
        backends.of(self).record_stream(self, stream)

    def __array_wrap__(
        self: Self, array: np.ndarray, context: Any = None, return_scalar: builtins.bool = False
    ) -> Tensor:
        """Make a tensor of what a NumPy function returns."""
        return from_data.as_tensor(np.asarray(array))

    # -- what no tensor is ----------------------------------------------------------------------

    is_ipu = is_maia = is_mkldnn = is_mps = is_mtia = is_nested = is_quantized = False
    is_vulkan = is_xla = is_xpu = False

    # -- copies ---------------------------------------------------------------------------------

    __reduce_ex__ = pickling.reduce
    __setstate__ = pickling.restore
    __deepcopy__ = pickling.deepcopy

    def new_tensor(
        self: Self,
        data: Any,
        *,
        dtype: dtype | None = None,
        device: Any = None,
        requires_grad: builtins.bool = False,
        pin_memory: builtins.bool = False,
    ) -> Tensor:
        """Return a new tensor with a copy of `data`, of this tensor's dtype and device."""
        return from_data.tensor(
            data,
            dtype=dtype or self.dtype,
            device=self.device if device is None else device,
            requires_grad=requires_grad,
            pin_memory=pin_memory,
        )

    def new(self: Self, *args: Any, device: Any = None) -> Tensor:
        """Make a tensor of this dtype, by sizes or by data. Prefer `new_empty`, `new_tensor`."""
        on = self.device if device is None else devices.device(device)
        if sparse_records.is_sparse(self):
            if not self.is_sparse:
                raise errors.not_this_layout("new", "strided or sparse coordinate", self.layout)
            return legacy_types.entries_or_sizes(self.dtype, on, args)
        return legacy_types.from_sizes_or_data(self.dtype, on, args)

    def as_subclass(self: Self, cls: type[Tensor]) -> Tensor:
        """Return this tensor as an instance of a subclass, with the same memory and history."""
        return pickling.as_class(cls, ops.alias(self))

    # -- conversions ----------------------------------------------------------------------------

    to = conversion.to_by_arguments

    def cpu(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in host memory; itself if it is there."""
        return conversion.to(self, device=devices.cpu, memory_format=memory_format)

    def cuda(
        self: Self,
        device: Any = None,
        non_blocking: builtins.bool = False,
        memory_format: memory_format | None = None,
        **kwargs: Any,
    ) -> Tensor:
        """Return the tensor on a CUDA device, the current one unless `device` names another.

        kwargs: `async`, the name of `non_blocking` before Python took the word.
        """
        on = devices.device("cuda" if device is None else device)
        if on.type != "cuda":
            raise errors.cuda_device_expected()
        non_blocking = legacy_types.non_blocking_of("cuda", non_blocking, kwargs)
        return conversion.to(
            self, device=on, non_blocking=non_blocking, memory_format=memory_format
        )

    def type(
        self: Self, dtype: Any = None, non_blocking: builtins.bool = False, **kwargs: Any
    ) -> Any:
        """Return the old name of the type; with a dtype, an old type or its name: the tensor in it.

        kwargs: `async`, the name of `non_blocking` before Python took the word.

        **Example** `torch.zeros(2).type()` is `"torch.FloatTensor"`
        """
        non_blocking = legacy_types.non_blocking_of("type", non_blocking, kwargs)
        if dtype is None:
            return legacy_types.type_name(self)
        of, on = legacy_types.meaning_of(dtype)
        return conversion.to(self, of, on, non_blocking)

    def double(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in float64."""
        return conversion.to_dtype(self, dtypes.float64, memory_format)

    def float(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in float32."""
        return conversion.to_dtype(self, dtypes.float32, memory_format)

    def half(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in float16."""
        return conversion.to_dtype(self, dtypes.float16, memory_format)

    def bfloat16(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in bfloat16."""
        return conversion.to_dtype(self, dtypes.bfloat16, memory_format)

    def long(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in int64."""
        return conversion.to_dtype(self, dtypes.int64, memory_format)

    def int(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in int32."""
        return conversion.to_dtype(self, dtypes.int32, memory_format)

    def short(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in int16."""
        return conversion.to_dtype(self, dtypes.int16, memory_format)

    def char(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in int8."""
        return conversion.to_dtype(self, dtypes.int8, memory_format)

    def byte(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in uint8."""
        return conversion.to_dtype(self, dtypes.uint8, memory_format)

    def bool(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return which elements are not zero."""
        return conversion.to_dtype(self, dtypes.bool, memory_format)

    def chalf(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in complex32."""
        return conversion.to_dtype(self, dtypes.complex32, memory_format)

    def cfloat(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in complex64."""
        return conversion.to_dtype(self, dtypes.complex64, memory_format)

    def cdouble(self: Self, memory_format: memory_format | None = None) -> Tensor:
        """Return the tensor in complex128."""
        return conversion.to_dtype(self, dtypes.complex128, memory_format)

    # -- facts ----------------------------------------------------------------------------------

    get_device = interop.get_device
    is_set_to = memory.is_set_to

    def is_conj(self: Self) -> builtins.bool:
        """Return whether conjugation is pending: never, `conj` is carried out at once."""
        return False

    def is_neg(self: Self) -> builtins.bool:
        """Return whether negation is pending: never."""
        return False

    def dim_order(self: Self) -> tuple[builtins.int, ...]:
        """Return the dims from outermost to innermost in memory."""
        strides = self._strides
        return tuple(sorted(range(len(strides)), key=lambda dim: (-strides[dim], dim)))

    # -- sparse layouts -------------------------------------------------------------------------

    to_dense = sparse_conversion.to_dense
    to_sparse = sparse.to_sparse
    to_sparse_coo = sparse_conversion.to_sparse_coo
    to_sparse_csr = sparse.to_sparse_csr
    to_sparse_csc = sparse.to_sparse_csc
    to_sparse_bsr = sparse.to_sparse_bsr
    to_sparse_bsc = sparse.to_sparse_bsc
    crow_indices = sparse.crow_indices
    col_indices = sparse.col_indices
    ccol_indices = sparse.ccol_indices
    row_indices = sparse.row_indices
    sparse_mask = sparse_conversion.sparse_mask
    coalesce = sparse.coalesce
    is_coalesced = sparse.is_coalesced
    _coalesced_ = sparse.coalesced_
    indices = sparse.indices
    values = sparse.values
    _indices = sparse.plain_indices
    _values = sparse.plain_values
    _nnz = sparse.nnz
    sparse_dim = _dimI = sparse.sparse_dim
    dense_dim = _dimV = sparse.dense_dim
    sparse_resize_ = sparse.sparse_resize_
    resize_as_sparse_ = sparse.resize_as_sparse_
    sparse_resize_and_clear_ = sparse.sparse_resize_and_clear_
    smm = sparse_functions.smm
    sspaddmm = sparse_functions.sspaddmm

    # -- memory ---------------------------------------------------------------------------------

    resize = memory.resize
    resize_as = memory.resize_as
    resize_ = memory.resize_
    resize_as_ = memory.resize_as_
    set_ = memory.set_
    apply_ = memory.apply_
    map_ = memory.map_

    def storage(self: Self) -> TypedStorage:
        """All the memory that the tensor looks into, in its dtype."""
        if sparse_records.is_sparse(self):
            raise errors.no_strided_memory(self.layout)
        deprecation.typed_storage()
        return TypedStorage.of_tensor(self)

    share_memory_ = memory.share_memory_
    is_shared = memory.is_shared

    def is_pinned(self: Self, device: Any = None) -> builtins.bool:
        """Return whether the memory is page-locked."""
        return bool(self._storage.is_page_locked)

    def pin_memory(self: Self, device: Any = None) -> Tensor:
        """Return the tensor in page-locked memory, from which a device copies faster.

        **Raises** RuntimeError without a device that could.
        """
        if self.is_pinned():
            tensor: Tensor = self
            return tensor
        return interop.pin_memory(self)


_SKIPPED = ("__dict__", "__weakref__", "__module__", "__doc__", "__qualname__")


def install(tensor_class: type[Tensor]) -> None:
    """Put the methods on the class of tensors, under the names that they have here."""
    for name, member in vars(TensorAPI).items():
        if name not in _SKIPPED:
            setattr(tensor_class, name, member)
        if isinstance(member, FunctionType):
            member.__name__, member.__qualname__ = name, f"Tensor.{name}"
    untyped_storage.install()
