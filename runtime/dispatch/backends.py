"""The backends by device type: registered at once, or as a module that is imported when needed."""

from __future__ import annotations

import importlib
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.dispatch.tables import forget_calls

_backends: dict[int, Any] = {}
_backend_modules: dict[int, str] = {}


def register_backend(device_index: int, backend: Any) -> None:
    """Make `backend` serve a device type. Tables resolved before forget what they knew."""
    _backends[device_index] = backend
    forget_calls()


def register_backend_module(device_index: int, module: str) -> None:
    """Have a device type served by the backend that `open_backend()` of a module returns.

    The module is imported when a tensor first asks for such a device, so that until then the
    backend costs nothing. `open_backend` raises what is missing where it cannot run.
    """
    _backend_modules[device_index] = module


def opened() -> list[Any]:
    """The backends that are in use so far."""
    return list(_backends.values())


def backend_of(device_index: int) -> Any:
    """The backend of a device type.

    Raises: NotImplementedError if none is registered; RuntimeError if it cannot run here.
    """
    backend = _backends.get(device_index)
    if backend is None:
        module = _backend_modules.get(device_index)
        if module is None:
            raise errors.no_backend(devices.type_name(device_index))
        backend = _backends[device_index] = importlib.import_module(module).open_backend()
    return backend
