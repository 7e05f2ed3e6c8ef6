"""Questions that are no operators: what an object is, what dtype a combination would have."""

from __future__ import annotations

from typing import Any

from runtime.core import promotion
from runtime.core.dtype import dtype
from runtime.core.storage import Storage
from runtime.core.tensor import Tensor
from runtime.dispatch import signature


def is_tensor(obj: Any, /) -> bool:
    """Return whether an object is a tensor."""
    return isinstance(obj, Tensor)


def is_storage(obj: Any, /) -> bool:
    """Return whether an object is the memory of tensors."""
    return isinstance(obj, Storage)


def result_type(tensor1: Any, tensor2: Any) -> dtype:
    """Return the dtype of an arithmetic operation on two tensors or numbers.

    **Example** `torch.result_type(torch.tensor([1, 2]), 1.0)` is `torch.float32`
    """
    entries = [signature.kind_of(tensor1), signature.kind_of(tensor2)]
    return promotion.result_type(signature.promotion_entries(entries))


def typename(obj: Any, /) -> str:
    """Return the old name of a tensor's type, or the full name of another object's class."""
    if isinstance(obj, Tensor):
        return obj.type()  # type: ignore[attr-defined, no-any-return]
    cls = obj if isinstance(obj, type) else type(obj)
    module = "" if cls.__module__ in ("builtins", "") else cls.__module__ + "."
    return module + cls.__qualname__
