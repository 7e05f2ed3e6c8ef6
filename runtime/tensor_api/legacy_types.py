"""PyTorch's first names of tensor types: FloatTensor, cuda.LongTensor; and constructors by size."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import deprecation
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.size import make_size
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.factories import creation, from_data
from torchgen_out._runtime.factories.sparse_tensors import sparse_coo_tensor
from torchgen_out._runtime.tensor_api.typed_storage import TypedStorage


def from_sizes_or_data(of: dtype, on: device, args: tuple[Any, ...]) -> Tensor:
    """Make a tensor as the constructors of old did: ints are sizes, a sequence or array is data.

    **Raises** TypeError for anything else.
    """
    if not args:
        return creation.allocate(make_size((0,)), of, on)
    first = args[0]
    if isinstance(first, TypedStorage):
        return ops.alias(creation.allocate(make_size((0,)), of, on).set_(first))
    if len(args) == 1 and isinstance(first, Tensor):
        if first.dtype is not of or first.device.type != on.type:
            raise errors.old_type_expected(_name(of, on.type), type_name(first))
        return ops.alias(first)
    if len(args) == 1 and (isinstance(first, list) or hasattr(first, "__array_interface__")):
        return from_data.from_data(first, of, on)
    if len(args) == 1 and isinstance(first, tuple) and type(first) is tuple:
        return from_data.from_data(list(first), of, on)
    if (
        len(args) == 1
        and not hasattr(first.__class__, "__index__")
        and not isinstance(first, tuple)
    ):
        raise TypeError(f"new(): data must be a sequence (got {type(first).__name__})")
    sizes = first if len(args) == 1 and isinstance(first, tuple) else args
    return creation.allocate(creation.sizes_of(sizes), of, on)


class TensorType(type):
    """The metaclass of the old types: a tensor is an instance if dtype and device are right."""

    dtype: dtype
    device_type: str
    layout = layouts.strided

    @property
    def is_sparse(cls) -> bool:
        """Whether its tensors are in COO."""
        return cls.layout is layouts.sparse_coo

    @property
    def is_cuda(cls) -> bool:
        """Whether its tensors are on a CUDA device."""
        return cls.device_type == "cuda"

    def __instancecheck__(cls, instance: object) -> bool:
        return (
            isinstance(instance, Tensor)
            and instance.dtype is cls.dtype
            and instance.device.type == cls.device_type
        )

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        """A tensor of the given sizes and undefined values, or with the given data."""
        on = cls.device_type if device is None else device
        return from_sizes_or_data(cls.dtype, devices.device(on), args)


class SparseTensorType(TensorType):
    """The metaclass of the old types of COO tensors."""

    layout = layouts.sparse_coo

    def __instancecheck__(cls, instance: object) -> bool:
        return super().__instancecheck__(instance) and getattr(instance, "is_sparse", False)

    def __call__(cls, *args: Any, device: Any = None) -> Tensor:
        """A COO tensor of indices, values and sizes, or of sizes alone."""
        on = cls.device_type if device is None else device
        return entries_or_sizes(cls.dtype, devices.device(on), args)


def entries_or_sizes(of: dtype, on: device, args: tuple[Any, ...]) -> Tensor:
    """Make a COO tensor as the constructors of old did: of indices, values and sizes, or of sizes.

    Given values keep their dtype, as in PyTorch: the type's own is that of a tensor without any.
    **Raises** TypeError for a tensor by itself; RuntimeError for indices that are not int64.
    """
    if len(args) == 1 and isinstance(args[0], Tensor):
        raise TypeError("new(): expected indices and values, or sizes, got one tensor")
    if args and not isinstance(args[0], Tensor):
        sizes = args[0] if isinstance(args[0], (tuple, list)) else args
        return sparse_coo_tensor(size=sizes, dtype=of, device=on)
    if not args:
        return sparse_coo_tensor((0,), dtype=of, device=on)
    if args[0].dtype is not dtypes.int64:
        raise errors.indices_not_integers(args[0].dtype)
    return sparse_coo_tensor(*args, device=on)


def _define(of: dtype, device_type: str) -> TensorType:
    name = errors.scalar_type_name(of) + "Tensor"
    module = "torchgen_out" if device_type == "cpu" else f"torchgen_out.{device_type}"
    doc = f"The type of {of.name} tensors on the {device_type.upper()}; calling it makes one."
    members = {"dtype": of, "device_type": device_type, "__module__": module, "__doc__": doc}
    return TensorType(name, (), members)


_OF_OLD = [of for of in dtypes.ALL if of.kind != "c" and of.index <= dtypes.bfloat16.index]
_CPU_TYPES = {of: _define(of, "cpu") for of in _OF_OLD}
_CUDA_TYPES = {of: _define(of, "cuda") for of in _OF_OLD}

FloatTensor = _CPU_TYPES[dtypes.float32]
DoubleTensor = _CPU_TYPES[dtypes.float64]
HalfTensor = _CPU_TYPES[dtypes.float16]
BFloat16Tensor = _CPU_TYPES[dtypes.bfloat16]
ByteTensor = _CPU_TYPES[dtypes.uint8]
CharTensor = _CPU_TYPES[dtypes.int8]
ShortTensor = _CPU_TYPES[dtypes.int16]
IntTensor = _CPU_TYPES[dtypes.int32]
LongTensor = _CPU_TYPES[dtypes.int64]
BoolTensor = _CPU_TYPES[dtypes.bool]

_SPARSE = [of for of in _OF_OLD if of is not dtypes.bool]
SPARSE_TYPES: dict[str, TensorType] = {
    each.__name__: SparseTensorType(
        each.__name__,
        (),
        {
            "dtype": of,
            "device_type": "cpu",
            "__module__": "torchgen_out.sparse",
            "__doc__": f"The type of {of.name} COO tensors on the CPU; calling it makes one.",
        },
    )
    for of, each in _CPU_TYPES.items()
    if of in _SPARSE
}
"""The types that `torch.sparse` shows."""

CUDA_TYPES: dict[str, TensorType] = {each.__name__: each for each in _CUDA_TYPES.values()}
"""The types that `torch.cuda` shows."""


def type_name(self: Tensor) -> str:
    """Return the old name of a tensor's type, "torch.FloatTensor" or "torch.cuda.FloatTensor"."""
    plain = _name(self.dtype, self.device.type)
    return plain.replace("torch.", "torch.sparse.", 1) if self.is_sparse else plain


def _name(of: dtype, device_type: str) -> str:
    where = "" if device_type == "cpu" else device_type + "."
    return f"torch.{where}{errors.scalar_type_name(of)}Tensor"


def non_blocking_of(function: str, non_blocking: bool, given: dict[str, Any]) -> bool:
    """Return `non_blocking`, which may be given by its old name `async`.

    Raises: TypeError for another name.
    """
    if not given:
        return non_blocking
    old = given.pop("async", non_blocking)
    for name in given:
        raise errors.unexpected_keyword(function, name)
    return bool(old)


def meaning_of(type: Any) -> tuple[dtype, device | None]:
    """Return the dtype and device that a dtype, an old type or its name stands for.

    **Raises** ValueError for an unknown name.
    """
    if isinstance(type, dtype):
        return type, None
    if isinstance(type, TensorType):
        return type.dtype, devices.device(type.device_type)
    if type is Tensor or type == "torch.Tensor":
        return dtypes.default_dtype(), devices.cpu
    for prefix, known in (
        ("torch.", _CPU_TYPES.values()),
        ("torch.cuda.", _CUDA_TYPES.values()),
        ("torch.sparse.", SPARSE_TYPES.values()),
    ):
        for each in known:
            if type == prefix + each.__name__:
                return each.dtype, devices.device(each.device_type)
    raise ValueError(f"invalid type: {type!r}")


def set_default_tensor_type(t: Any, /) -> None:
    """Set the default dtype, and device, by an old type or its name. Prefer `set_default_dtype`."""
    deprecation.default_tensor_type()
    of, on = meaning_of(t)
    dtypes.set_default_dtype(of)
    devices.set_default_device(on)
