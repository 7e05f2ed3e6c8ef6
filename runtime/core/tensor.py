"""The tensor record: a geometry over a shared storage, a dispatch key, and a place in the graph.

The record knows neither operators nor gradients. Generated code puts the operators on the class,
`runtime.tensor_api.methods` the Python-only methods.
"""

from __future__ import annotations

import builtins
from collections.abc import Iterable
from functools import lru_cache
from math import prod
from typing import TYPE_CHECKING, Any

import numpy as np

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import memory_format as memory_formats
from torchgen_out._runtime.core import shape as shapes
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage

if TYPE_CHECKING:
    # Types only: a checker sees the methods that generated and hand-written code put on the class.
    from torchgen_out._runtime.core.autograd_members import AutogradMembers
    from torchgen_out._runtime.core.tensor_api import TensorAPI, TensorMethods

    class _Methods(TensorMethods, TensorAPI, AutogradMembers): ...

else:
    _Methods = object


class AutogradMeta:
    """What only tensors inside autograd carry, and only when asked for.

    grad: the accumulated gradient of a leaf (or of one that retains it).
    accumulator: a weak reference to the leaf's AccumulateGrad node.
    hooks: the tensor's own hooks. retains_grad: whether a non-leaf keeps its gradient.
    base, view, base_version: for a differentiable view, the tensor it looks into, its
    geometry there, and the base's version when the view's edge was last made.
    creation: how a view came to be, where that forbids writing into it.
    """

    __slots__ = (
        "accumulator",
        "base",
        "base_version",
        "creation",
        "grad",
        "hooks",
        "name",
        "post_hooks",
        "retains_grad",
        "view",
    )

    def __init__(self) -> None:
        self.accumulator: Any = None
        self.base: Tensor | None = None
        self.base_version = 0
        self.creation: str | None = None
        self.grad: Tensor | None = None
        self.hooks: Any = None
        self.name: str | None = None
        self.post_hooks: Any = None
        self.retains_grad = False
        self.view: Any = None


class Tensor(_Methods):
    """An n-dimensional array of one dtype on one device.

    `_key` chooses the code (`runtime.core.key`). `_sizes`, `_strides` and `_offset` (in elements)
    place the elements in `_storage`. `_flat` is the one-dimensional array of just these elements
    once it is known that they lie densely in row-major order; None says unknown or not.
    `_shared` is the storage, or None as long as nobody asked for it: a result is alone with its
    `_flat`, and most are never viewed or written to (a tenth of a small operator's time).
    `_edge` is None or an edge of the graph; `_meta` is None or an `AutogradMeta`. `_base` is, for
    a view that autograd follows, the tensor whose memory it looks into.
    """

    __slots__ = (
        "__dict__",
        "__weakref__",
        "_base",
        "_edge",
        "_flat",
        "_key",
        "_meta",
        "_offset",
        "_shared",
        "_sizes",
        "_strides",
    )

    _override_bit = 0
    """What a subclass adds to the keys of its instances: `keys.OVERRIDES` if it answers calls."""
    _base: Tensor | None
    _edge: tuple[Any, int, Any, int, int | None] | None
    _flat: Any
    _key: int
    _meta: AutogradMeta | None
    _offset: int
    _shared: Storage | None
    _sizes: Size
    _strides: tuple[int, ...]

    # -- what it is -------------------------------------------------------------------------

    @property
    def shape(self) -> Size:
        """The sizes of all dimensions."""
        return self._sizes

    @property
    def dtype(self) -> dtypes.dtype:
        """The type of the elements."""
        return dtypes.BY_INDEX[self._key & keys.DTYPE_MASK]

    @property
    def device(self) -> devices.device:
        """Where the elements live."""
        index = self._key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK
        return devices.cpu if index == devices.CPU else devices.of_storage(index, self._storage)

    @property
    def layout(self) -> layouts.layout:
        """How the elements are stored."""
        return layouts.BY_INDEX[self._key >> keys.LAYOUT_SHIFT & keys.LAYOUT_MASK]

    @property
    def ndim(self) -> int:
        """The number of dimensions."""
        return len(self._sizes)

    @property
    def itemsize(self) -> int:
        """The size of an element in bytes."""
        return self.dtype.itemsize

    @property
    def nbytes(self) -> int:
        """The size of all elements in bytes; of a sparse tensor, of its indices and values."""
        if self._key >> keys.LAYOUT_SHIFT & keys.LAYOUT_MASK:
            return self._storage.nbytes()
        return self.numel() * self.dtype.itemsize

    @property
    def is_leaf(self) -> bool:
        """Whether no recorded operator made this tensor."""
        return self._edge is None

    @property
    def _version(self) -> int:
        """How often the storage has been written in place."""
        return self._storage.version

    @property
    def is_cuda(self) -> bool:
        """Whether the tensor lives on a CUDA device."""
        return (self._key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK) == devices.CUDA

    @property
    def is_cpu(self) -> bool:
        """Whether the tensor lives in host memory."""
        return (self._key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK) == devices.CPU

    @property
    def is_meta(self) -> bool:
        """Whether the tensor has a shape and a dtype but no data."""
        return (self._key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK) == devices.META

    @property
    def is_sparse(self) -> bool:
        """Whether the layout is COO; compressed rows and columns have other names."""
        return (self._key >> keys.LAYOUT_SHIFT & keys.LAYOUT_MASK) == layouts.sparse_coo.index

    @property
    def is_sparse_csr(self) -> bool:
        """Whether the layout is CSR."""
        return (self._key >> keys.LAYOUT_SHIFT & keys.LAYOUT_MASK) == layouts.sparse_csr.index

    # -- geometry ---------------------------------------------------------------------------

    def size(self, dim: int | None = None) -> Any:
        """The sizes of all dimensions, or of one.

        Raises: IndexError if dim is out of range.
        """
        if dim is None:
            return self._sizes
        try:
            return self._sizes[shapes.normalize_dim(dim, len(self._sizes))]
        except TypeError:
            raise errors.wrong_argument_type("size", "dim", 0, "int", dim) from None
        except IndexError:
            if self._sizes:
                raise
            raise errors.dim_of_scalar(dim) from None

    def stride(self, dim: int | None = None) -> Any:
        """The strides of all dimensions in elements, or of one.

        Raises: IndexError if dim is out of range.
        """
        if dim is None:
            return self._strides
        if not self._sizes:
            raise errors.dim_of_scalar(dim)
        return self._strides[shapes.normalize_dim(dim, len(self._sizes))]

    def dim(self) -> int:
        """The number of dimensions."""
        return len(self._sizes)

    def ndimension(self) -> int:
        """The number of dimensions."""
        return len(self._sizes)

    def numel(self) -> int:
        """The number of elements."""
        return shapes.numel(self._sizes)

    def nelement(self) -> int:
        """The number of elements."""
        return shapes.numel(self._sizes)

    def storage_offset(self) -> int:
        """Where the first element lies in the storage, in elements."""
        return self._offset

    def element_size(self) -> int:
        """The size of an element in bytes."""
        return self.dtype.itemsize

    def is_contiguous(self, memory_format: Any = None) -> bool:
        """Whether the elements lie densely in row-major order (or in `memory_format`'s order)."""
        if memory_format is None or memory_format is memory_formats.contiguous_format:
            return self._flat is not None or shapes.is_contiguous(self._sizes, self._strides)
        if not isinstance(memory_format, memory_formats.memory_format):
            wanted = "torch.memory_format"
            raise errors.wrong_argument_type(
                "is_contiguous", "memory_format", 0, wanted, memory_format
            )
        return shapes.lies_as(self._sizes, self._strides, memory_format.name)

    # -- memory -----------------------------------------------------------------------------

    @property
    def _storage(self) -> Storage:
        """The memory shared by this tensor and its views."""
        storage = self._shared
        if storage is None:
            fresh = _new(Storage)
            fresh.buffer = self._flat
            fresh.version = 0
            # Of two threads that ask at once, both get the same: the interpreter changes from one
            # to another after calls, and this has none. (A lock costs as much as all the rest.)
            storage = self._shared = fresh if self._shared is None else self._shared
        return storage

    @_storage.setter
    def _storage(self, storage: Storage) -> None:
        self._shared = storage

    def untyped_storage(self) -> Storage:
        """The memory shared by this tensor and its views."""
        storage = self._storage
        storage.check_readable()
        return storage

    def data_ptr(self) -> int:
        """The address of the first element; 0 without memory."""
        if self._storage.buffer is None or not self.numel():
            return 0
        return self._storage.data_ptr() + self._offset * self.dtype.itemsize

    def _dense(self) -> Any:
        """`_flat`, found out and remembered if it was unknown; None if the tensor is not dense."""
        flat = self._flat
        if flat is None and _is_contiguous(self._sizes, self._strides):
            buffer = (self._storage if self._shared is None else self._shared).buffer
            if buffer is None:
                return None
            own = dtypes.BY_INDEX[self._key & keys.DTYPE_MASK].numpy
            if buffer.dtype is not own:
                buffer = buffer.view(own)
            start, stop = self._offset, self._offset + prod(self._sizes)
            flat = self._flat = buffer[start:stop] if start or stop != buffer.size else buffer
        return flat

    def _array(self) -> Any:
        """The elements as a strided array over the same memory (16-bit floats as uint16)."""
        flat = self._dense()
        if flat is not None:
            return flat.reshape(self._sizes)
        dtype = self.dtype
        item = dtype.itemsize
        return np.ndarray(
            tuple(self._sizes),
            dtype.numpy,
            self._storage.buffer,
            self._offset * item,
            tuple(stride * item for stride in self._strides),
        )


Tensor.__module__ = "torchgen_out"

_new = object.__new__
_is_contiguous = lru_cache(maxsize=1024)(shapes.is_contiguous)


def build(
    key: int,
    sizes: Size,
    strides: tuple[int, ...],
    offset: int,
    storage: Storage | None,
    flat: Any = None,
) -> Tensor:
    """A tensor from its parts, outside autograd unless `key` says otherwise.

    storage: None for a new one that holds just `flat`.
    """
    self = _new(Tensor)
    self._key = key
    self._sizes = sizes
    self._strides = strides
    self._offset = offset
    self._shared = storage
    self._flat = flat
    self._base = None
    self._edge = None
    self._meta = None
    return self


def make_tensor(
    buffer: Any,
    sizes: Iterable[int],
    dtype: dtypes.dtype,
    device: devices.device | None = None,
) -> Tensor:
    """A contiguous tensor over a one-dimensional buffer (None on the meta device)."""
    sizes = sizes if sizes.__class__ is Size else Size(sizes)
    index = devices.CPU if device is None else device.type_index
    key = keys.pack(dtype.index, index, 0, not sizes)
    strides = shapes.contiguous_strides(sizes)
    return build(key, sizes, strides, 0, None if buffer is not None else Storage(None), buffer)


def from_array(array: Any, dtype: dtypes.dtype | None = None) -> Tensor:
    """A CPU tensor holding the elements of an ndarray, without a copy where it is contiguous.

    dtype: float16 and bfloat16 arrive as uint16 and must be named.
    """
    array = np.asarray(array)
    sizes = Size(array.shape)
    flat = np.ascontiguousarray(array).reshape(-1)
    return make_tensor(flat, sizes, dtype or dtypes.from_numpy(array.dtype))


def alias(tensor: Tensor, sizes: Iterable[int], strides: tuple[int, ...], offset: int) -> Tensor:
    """Another geometry over the storage of `tensor`, outside autograd."""
    sizes = sizes if sizes.__class__ is Size else Size(sizes)
    key = tensor._key & ~(keys.GRAD | keys.ZERO_DIM | keys.OVERRIDES)
    if not sizes:
        key |= keys.ZERO_DIM
    storage = tensor._storage if tensor._shared is None else tensor._shared
    return build(key, sizes, strides, offset, storage)


def is_tensor(obj: object) -> builtins.bool:
    """Whether `obj` is a tensor."""
    return isinstance(obj, Tensor)
