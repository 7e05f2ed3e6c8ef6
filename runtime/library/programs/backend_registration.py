"""`torch.utils.backend_registration`: device types that programs and packages bring along.

PyTorch's name for such a type is `privateuseone` until it is renamed. `register_backend` is this
library's own: PyTorch's backends are registered in C++.
"""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.common.own_memory import OwnMemory
from torchgen_out._runtime.backends.protocol import Backend
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import backends
from torchgen_out._runtime.library.nn.module import Module

__all__ = [
    "Backend",
    "OwnMemory",
    "generate_methods_for_privateuse1_backend",
    "register_backend",
    "rename_privateuse1_backend",
]


def register_backend(name: str, backend: Any) -> None:
    """Let tensors live on devices of type `name`, which a backend serves.

    backend: an `OwnMemory`, or what else implements `Backend`; its `type_index` is set.

    **Raises** TypeError if it does not implement the protocol; RuntimeError for the name of a
    device type that the library serves itself, or where no number is left.
    """
    if not isinstance(backend, Backend):
        raise errors.not_a_backend(backend)
    if devices.TYPE_INDEX.get(name, devices.META + 1) <= devices.META:
        raise errors.device_type_taken(name)
    served: Any = backend
    served.type_index = devices.register_type(name)
    backends.register_backend(devices.TYPE_INDEX[name], backend)


def rename_privateuse1_backend(backend_name: str) -> None:
    """Let `privateuseone` mean the device type `backend_name`.

    **Raises** RuntimeError if it has another name by now.
    """
    devices.rename_private_type(backend_name)


def generate_methods_for_privateuse1_backend(
    for_tensor: bool = True,
    for_module: bool = True,
    for_packed_sequence: bool = True,
    for_storage: bool = False,
    unsupported_dtype: Any = None,
) -> None:
    """Give tensors and modules `x.name()` and tensors `x.is_name`, for the renamed device type.

    **Raises** RuntimeError if it has not been renamed.
    """
    name = devices.private_type_name()
    if name == devices.PRIVATE:
        raise errors.private_type_unnamed()

    def is_there(self: Tensor) -> bool:
        return self.device.type == name

    def moved(self: Any, device: Any = None, *args: Any, **kwargs: Any) -> Any:
        on = name if device is None else device
        return self.to(f"{name}:{on}" if isinstance(on, int) else on, *args, **kwargs)

    if for_tensor:
        setattr(Tensor, f"is_{name}", property(is_there))
        setattr(Tensor, name, moved)
    if for_module:
        setattr(Module, name, moved)


public.place("utils.backend_registration", Backend, OwnMemory)
