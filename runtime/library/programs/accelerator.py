"""`torch.accelerator`: the GPU, if there is one, whatever its make; here CUDA is the only make."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.device import device
from torchgen_out._runtime.namespaces import cuda_names as cuda

__all__ = [
    "current_accelerator", "current_device_idx", "current_device_index", "current_stream",
    "device_count", "device_index", "empty_cache", "get_memory_info", "is_available",
    "max_memory_allocated", "max_memory_reserved", "memory_allocated", "memory_reserved",
    "memory_stats", "reset_accumulated_memory_stats", "reset_peak_memory_stats",
    "set_device_idx", "set_device_index", "set_stream", "synchronize",
]  # fmt: skip


def is_available() -> bool:
    """Return whether there is a GPU that can be used."""
    return cuda.is_available()


def device_count() -> int:
    """Return how many GPUs there are."""
    return cuda.device_count()


def current_accelerator(check_available: bool = False) -> device | None:
    """Return the kind of GPU, None where there is none."""
    return device("cuda") if is_available() else None


def _require() -> None:
    if not is_available():
        raise errors.no_accelerator()


def _index(given: Any) -> Any:
    return given.index if isinstance(given, device) else given


def current_device_index() -> int:
    """Return which GPU new tensors on the accelerator use."""
    _require()
    return cuda.current_device()


def set_device_index(device: Any, /) -> None:
    """Choose the GPU of new tensors."""
    _require()
    cuda.set_device(device)


current_device_idx, set_device_idx = current_device_index, set_device_index


def current_stream(device: Any = None, /) -> Any:
    """Return the stream to which work is given."""
    _require()
    return cuda.current_stream(device)


def set_stream(stream: Any) -> None:
    """Choose the stream to which work is given."""
    _require()
    cuda.set_stream(stream)


def synchronize(device: Any = None, /) -> None:
    """Wait for all work of a GPU."""
    _require()
    cuda.synchronize(device)


def empty_cache() -> None:
    """Give back memory that the allocator keeps."""
    _require()
    cuda.empty_cache()


def get_memory_info(device_index: Any = None, /) -> tuple[int, int]:
    """Return the free and the whole memory of a GPU in bytes."""
    _require()
    return cuda.mem_get_info(_index(device_index))


def memory_allocated(device_index: Any = None, /) -> int:
    """Return how many bytes tensors use."""
    _require()
    return cuda.memory_allocated(_index(device_index))


def max_memory_allocated(device_index: Any = None, /) -> int:
    """Return how many bytes tensors have used at most."""
    _require()
    return cuda.max_memory_allocated(_index(device_index))


def memory_reserved(device_index: Any = None, /) -> int:
    """Return how many bytes the allocator holds."""
    _require()
    return cuda.memory_reserved(_index(device_index))


def max_memory_reserved(device_index: Any = None, /) -> int:
    """Return how many bytes the allocator has held at most."""
    _require()
    return cuda.max_memory_reserved(_index(device_index))


def memory_stats(device_index: Any = None, /) -> Any:
    """Return the allocator's counts."""
    _require()
    return cuda.memory_stats(_index(device_index))


def reset_peak_memory_stats(device_index: Any = None, /) -> None:
    """Count the most memory from now on."""
    _require()
    cuda.reset_peak_memory_stats(_index(device_index))


def reset_accumulated_memory_stats(device_index: Any = None, /) -> None:
    """Count all memory from now on."""
    _require()
    cuda.reset_accumulated_memory_stats(_index(device_index))


class device_index:
    """Work on another GPU inside a `with` block; None changes nothing."""

    def __init__(self, device: int | None, /) -> None:
        self.wanted = device
        self.before: int | None = None

    def __enter__(self) -> None:
        if self.wanted is not None:
            self.before = current_device_index()
            set_device_index(self.wanted)

    def __exit__(self, *raised: object) -> None:
        if self.before is not None:
            set_device_index(self.before)


public.place_all("accelerator", globals())
