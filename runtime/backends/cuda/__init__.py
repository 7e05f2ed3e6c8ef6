"""The CUDA backend. Importing it costs nothing: it opens when a CUDA device is first asked for."""

from runtime.core import device as devices
from runtime.dispatch.backends import register_backend_module

register_backend_module(devices.CUDA, "runtime.backends.cuda.backend")
