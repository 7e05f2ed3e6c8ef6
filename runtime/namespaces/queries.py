"""Questions that are no operators: what an object is, what dtype a combination would have."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import promotion, shape
from torchgen_out._runtime.core.dtype import dtype
from torchgen_out._runtime.core.size import Size
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import signature
from torchgen_out._runtime.tensor_api.typed_storage import TypedStorage


def is_tensor(obj: Any, /) -> bool:
    """Return whether an object is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj: Any, /) -> bool:
    """Return whether an object is the memory of tensors."""
    return isinstance(obj, (Storage, TypedStorage))


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """Return the dtype of an arithmetic operation on two tensors or numbers.

    **Example** `torch.result_type(torch.tensor([1, 2]), 1.0)` is `torch.float32`
    """
    entries = []
    for position, given in enumerate((tensor1, tensor2)):
        try:
            entries.append(signature.kind_of(given))
        except AttributeError:
            name = f"tensor{position + 1}"
            raise errors.wrong_argument_type(
                "result_type", name, position, "number", given
            ) from None
    return promotion.result_type(signature.promotion_entries(entries))


def broadcast_shapes(*shapes: Any) -> Size:
    """Return the shape to which all shapes broadcast; a shape of one dim may be a number.

    **Raises** RuntimeError if they do not.

    **Example** `torch.broadcast_shapes((2, 1), 3)` is `torch.Size([2, 3])`
    """
    given = [(each,) if isinstance(each, int) else tuple(each) for each in shapes]
    for sizes in given:
        if min(sizes, default=0) < 0:
            raise errors.negative_size(min(sizes), sizes)
    return Size(shape.broadcast_shapes(*given))


def typename(obj: Any, /) -> str:
    """Return the old name of a tensor's type, or the full name of another object's class."""
    if isinstance(obj, Tensor):
        name: str = obj.type()
        return name
    cls = obj if isinstance(obj, type) else type(obj)
    module = "" if cls.__module__ in ("builtins", "") else cls.__module__ + "."
    return module + cls.__qualname__
