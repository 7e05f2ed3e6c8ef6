"""The CUDA backend. Importing it costs nothing: it opens when a CUDA device is first asked for."""

from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.dispatch.backends import register_backend_module

register_backend_module(devices.CUDA, "torchgen_out._runtime.backends.cuda.backend")
