"""The CPU backend: NumPy memory, Numba loops, kernels over arrays."""

from torchgen_out._runtime.backends.cpu.backend import CPUBackend

__all__ = ["CPUBackend"]
