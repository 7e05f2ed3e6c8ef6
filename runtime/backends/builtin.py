"""The backends that come with the library. CUDA's is imported when such a device is first used."""

from __future__ import annotations

from torchgen_out._runtime.backends.cpu.backend import CPUBackend
from torchgen_out._runtime.backends.meta import MetaBackend
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.dispatch.backends import register_backend, register_backend_module

register_backend(devices.CPU, CPUBackend())
register_backend(devices.META, MetaBackend())
register_backend_module(devices.CUDA, "torchgen_out._runtime.backends.cuda.backend")
