"""What PyTorch's files call to rebuild tensors and parameters; each checks all that it is given."""

from __future__ import annotations

from typing import Any
from weakref import WeakKeyDictionary

import torchgen_out as torch
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.sparse import is_sparse
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import build
from torchgen_out._runtime.library.serialization import errors, geometry
from torchgen_out._runtime.tensor_api import subclassing
from torchgen_out._runtime.tensor_api.pickling import as_class
from torchgen_out._runtime.tensor_api.typed_storage import TypedStorage
from torchgen_out.nn.parameter import Buffer, Parameter

IS_BUFFER = "_is_buffer"
"""The attribute by which PyTorch tells a buffer from other tensors."""


def rebuild_tensor(storage: Any, offset: Any, size: Any, stride: Any) -> Any:
    """A tensor over a storage, in the storage's dtype."""
    return _over(storage, offset, size, stride, None)


def _over(storage: Any, offset: Any, size: Any, stride: Any, of: dtypes.dtype | None) -> Any:
    if type(storage) is not TypedStorage:
        raise errors.wrong_argument("a tensor", "a storage", storage)
    of = storage.dtype if of is None else of
    geometry.check(offset, size, stride, of.itemsize, storage.nbytes())
    elements: Any = storage._elements
    buffer = storage.untyped().buffer
    if storage.dtype is not of and buffer is not None and storage.nbytes() % of.itemsize:
        raise errors.damaged(f"a storage of {storage.nbytes()} bytes does not hold {of} evenly")
    device = elements._key >> keys.DEVICE_SHIFT & keys.DEVICE_MASK
    key = keys.pack(of.index, device, 0, not size)
    return build(key, Size(size), tuple(stride), offset, storage.untyped())


def rebuild_tensor_v2(
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    metadata: Any = None,
) -> Any:
    """The same with what autograd and lazy conjugation and negation add."""
    tensor = rebuild_tensor(storage, offset, size, stride)
    return _finished(tensor, storage, requires_grad, metadata)


def rebuild_tensor_v3(
    storage: Any,
    offset: Any,
    size: Any,
    stride: Any,
    requires_grad: Any,
    backward_hooks: Any,
    dtype: Any,
    metadata: Any = None,
) -> Any:
    """The same over a storage of bytes."""
    if type(dtype) is not dtypes.dtype:
        raise errors.wrong_argument("a tensor", "a dtype", dtype)
    tensor = _over(storage, offset, size, stride, dtype)
    return _finished(tensor, storage, requires_grad, metadata)


def _finished(tensor: Any, storage: Any, requires_grad: Any, metadata: Any) -> Any:
    if metadata is not None:
        tensor = _resolved(tensor, storage, metadata)
    return _requiring(tensor, requires_grad)


def _requiring(tensor: Any, requires_grad: Any) -> Any:
    if type(requires_grad) is not bool:
        raise errors.wrong_argument("requires_grad", "a bool", requires_grad)
    if requires_grad and tensor.dtype.kind not in "fc":
        raise errors.damaged(f"a tensor of {tensor.dtype} requires grad")
    return tensor.requires_grad_() if requires_grad else tensor


def _resolved(tensor: Any, storage: TypedStorage, metadata: Any) -> Any:
    """Compute what PyTorch marks only: a conjugate or negative view.

    The whole storage is computed, and once: so what is allocated is never more than a few times
    what the file holds, whatever the sizes say, and tensors that shared memory still do.
    """
    if type(metadata) is not dict:
        raise errors.wrong_argument("a tensor", "a dict of marks", metadata)
    for mark, value in metadata.items():
        if type(mark) is not str or mark not in ("conj", "neg") or type(value) is not bool:
            raise errors.damaged("a tensor is marked as something else than conj or neg")
    conj, neg = metadata.get("conj", False), metadata.get("neg", False)
    if not conj and not neg:
        return tensor
    if storage.dtype is not tensor.dtype or conj > tensor.is_complex() or tensor.dtype.kind == "b":
        raise errors.damaged(
            f"a tensor of {tensor.dtype} is marked as a conjugate or negative view"
        )
    known = _computed.setdefault(storage.untyped(), {})
    if (conj, neg) not in known:
        elements = storage._elements.conj().resolve_conj() if conj else storage._elements
        known[conj, neg] = (elements.neg() if neg else elements).untyped_storage()
    key = tensor._key
    return build(key, tensor._sizes, tensor._strides, tensor._offset, known[conj, neg])


_computed: WeakKeyDictionary[Storage, dict[tuple[bool, bool], Storage]] = WeakKeyDictionary()


def rebuild_meta_tensor(dtype: Any, size: Any, stride: Any, requires_grad: Any) -> Any:
    """A tensor without data, whatever its size."""
    if type(dtype) is not dtypes.dtype:
        raise errors.wrong_argument("a tensor", "a dtype", dtype)
    geometry.check(0, size, stride, dtype.itemsize, 1 << 127)
    made: Any = torch.empty_strided(size, stride, dtype=dtype, device="meta")
    return _requiring(made, requires_grad)


def rebuild_sparse(layout: Any, data: Any) -> Any:
    """A sparse tensor from its parts, all of whose indices are looked at.

    **Raises** LoadError for parts that contradict each other.
    """
    if type(layout) is not torch.layout or layout is torch.strided:
        raise errors.wrong_argument("a sparse tensor", "a sparse layout", layout)
    is_coo = layout is torch.sparse_coo
    if type(data) is not tuple or len(data) not in ((3, 4) if is_coo else (4,)):
        raise errors.wrong_argument("a sparse tensor", "a tuple of its parts", data)
    parts, size = data[: 2 if is_coo else 3], data[2 if is_coo else 3]
    if not all(type(each) is torch.Tensor and not is_sparse(each) for each in parts):
        raise errors.wrong_argument("a sparse tensor", "strided parts", parts)
    if type(size) not in (tuple, Size) or not all(type(each) is int for each in size):
        raise errors.wrong_argument("a sparse tensor", "its sizes", size)
    is_coalesced = data[3] if is_coo and len(data) == 4 else None
    if is_coalesced not in (None, True, False):
        raise errors.wrong_argument("a sparse tensor", "a bool", is_coalesced)
    if any(each.is_meta for each in parts):  # map_location: there are no indices to look at
        return torch.empty(size, dtype=parts[-1].dtype, layout=layout, device="meta")
    try:
        if is_coo:
            return torch.sparse_coo_tensor(
                *parts, size, check_invariants=True, is_coalesced=is_coalesced
            )
        compressed, plain, values = parts
        return torch.sparse_compressed_tensor(
            compressed, plain, values, size, layout=layout, check_invariants=True
        )
    except (RuntimeError, IndexError, ValueError) as error:
        raise errors.damaged(
            f"the parts of a sparse tensor contradict each other: {error}"
        ) from None


def rebuild_device_tensor(data: Any, dtype: Any, device: Any, requires_grad: Any) -> Any:
    """A tensor that was saved by its values, since its device has no storages."""
    if not isinstance(data, torch.Tensor) or data.dtype is not dtype:
        raise errors.wrong_argument("a tensor", "a tensor of its dtype", data)
    return _requiring(data.detach(), requires_grad)


def rebuild_parameter(data: Any, requires_grad: Any, backward_hooks: Any) -> Any:
    """A parameter over a tensor."""
    if not isinstance(data, torch.Tensor):
        raise errors.wrong_argument("a parameter", "a tensor", data)
    return _requiring(Parameter(data.detach(), False), requires_grad)


def rebuild_parameter_with_state(
    data: Any, requires_grad: Any, backward_hooks: Any, state: Any
) -> Any:
    """A parameter with attributes of its own."""
    made = rebuild_parameter(data, requires_grad, backward_hooks)
    give_attributes(made, state)
    return made


def rebuild_as(make: Any, cls: Any, arguments: Any, state: Any) -> Any:
    """A tensor of a subclass, or with attributes of its own.

    `cls` comes from a name that may be loaded; `make` is one of the functions above.
    """
    if not any(make is each for each in REBUILDERS):
        raise errors.wrong_argument("a tensor of a subclass", "a function of PyTorch", make)
    if not (isinstance(cls, type) and issubclass(cls, torch.Tensor)):
        raise errors.wrong_argument("a tensor of a subclass", "a subclass of Tensor", cls)
    if type(arguments) is not tuple:
        raise errors.wrong_argument("a tensor of a subclass", "a tuple", arguments)
    made = make(*arguments)
    if cls is torch.Tensor and type(state) is dict and state.get(IS_BUFFER) is True:
        cls, state = Buffer, {name: each for name, each in state.items() if name != IS_BUFFER}
    if type(made) is not cls:
        made = as_class(cls, made)
    if subclassing.overrides_method(cls, "__setstate__"):
        made.__setstate__(state)
    else:
        give_attributes(made, state)
    return made


def give_attributes(instance: Any, state: Any) -> None:
    """Add attributes that the class does not know: none of its own is set or hidden.

    **Raises** LoadError for names that mean something already.
    """
    for part in state if type(state) is tuple else (state,):
        if part is None:
            continue
        if not isinstance(part, dict):
            raise errors.wrong_argument("an object's state", "a dict", part)
        for name, value in part.items():
            if type(name) is not str or hasattr(type(instance), name) or name[:2] == "__":
                shown = errors.shown(name) if type(name) is str else type(name).__name__
                cls = type(instance).__name__
                raise errors.weights_only(f"The pickle sets attribute '{shown}' of a {cls}")
            instance.__dict__[name] = value


class OldTensor:
    """What `torch.FloatTensor` means in files of before 0.2: its state makes it a tensor.

    Other parts of the pickle may refer to the tensor before it has a state, so it exists already.
    """

    def __init__(self, of: dtypes.dtype) -> None:
        self.dtype = of

    def __call__(self, *arguments: Any) -> Any:
        if arguments:
            raise errors.damaged("an old tensor type is called with arguments")
        return torch.empty(0, dtype=self.dtype)

    @staticmethod
    def restore(tensor: Any, state: Any) -> None:
        """Let a tensor without elements look into a storage."""
        if type(state) is not tuple or len(state) != 4:
            raise errors.wrong_argument("an old tensor", "a tuple of four", state)
        over = rebuild_tensor(*state)
        if over.dtype is not tensor.dtype:
            raise errors.damaged(f"a tensor of {tensor.dtype} has a storage of {over.dtype}")
        tensor.set_(over)


def variable(data: Any = None) -> Any:
    """What `Variable` of before 0.4 made: a tensor over the same memory."""
    if data is None:
        return torch.empty(0)
    if not isinstance(data, torch.Tensor):
        raise errors.wrong_argument("a Variable", "a tensor", data)
    return data.detach()


def parameter(data: Any = None, requires_grad: Any = True) -> Any:
    """A parameter by its class's own name."""
    if data is None:
        data = torch.empty(0)
    return rebuild_parameter(data, requires_grad, None)


def restore_variable(variable: Any, state: Any) -> None:
    """Give a `Variable` or parameter of before 0.4 its state: requires_grad, volatile, hooks."""
    if type(state) is not tuple or len(state) not in (3, 5):
        raise errors.wrong_argument("an old Variable", "a tuple of three or five", state)
    if len(state) == 5 and not isinstance(state[0], torch.Tensor):
        raise errors.wrong_argument("an old Variable", "a tensor", state[0])
    requires_grad = state[0] if len(state) == 3 else state[3]
    if type(requires_grad) is not bool:
        raise errors.wrong_argument("requires_grad", "a bool", requires_grad)
    variable.__setstate__(state)


REBUILDERS = (
    rebuild_tensor,
    rebuild_tensor_v2,
    rebuild_tensor_v3,
    rebuild_meta_tensor,
    rebuild_sparse,
    rebuild_device_tensor,
    rebuild_parameter,
    rebuild_parameter_with_state,
)
