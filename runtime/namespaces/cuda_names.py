"""The names of `torch.cuda`, which the generated facade re-exports."""

from __future__ import annotations

from torchgen_out._runtime.backends.cuda.availability import is_available
from torchgen_out._runtime.backends.cuda.current import (
    current_device,
    device,
    device_count,
    device_of,
    init,
    is_initialized,
    set_device,
    synchronize,
)
from torchgen_out._runtime.backends.cuda.graphs import (
    CUDAGraph,
    graph,
    graph_pool_handle,
    is_current_stream_capturing,
)
from torchgen_out._runtime.backends.cuda.memory import (
    empty_cache,
    max_memory_allocated,
    max_memory_cached,
    max_memory_reserved,
    memory_allocated,
    memory_cached,
    memory_reserved,
    memory_stats,
    memory_summary,
    reset_accumulated_memory_stats,
    reset_max_memory_allocated,
    reset_max_memory_cached,
    reset_peak_memory_stats,
)
from torchgen_out._runtime.backends.cuda.properties import (
    can_device_access_peer,
    get_device_capability,
    get_device_name,
    get_device_properties,
    is_bf16_supported,
    mem_get_info,
)
from torchgen_out._runtime.backends.cuda.random import (
    get_rng_state,
    get_rng_state_all,
    initial_seed,
    manual_seed,
    manual_seed_all,
    seed,
    seed_all,
    set_rng_state,
    set_rng_state_all,
)
from torchgen_out._runtime.backends.cuda.streams import (
    Event,
    ExternalStream,
    Stream,
    StreamContext,
    current_stream,
    default_stream,
    set_stream,
    stream,
)
from torchgen_out._runtime.errors import AcceleratorError, OutOfMemoryError
from torchgen_out._runtime.namespaces.cuda_graphs import make_graphed_callables
from torchgen_out._runtime.tensor_api.legacy_types import CUDA_TYPES

BFloat16Tensor = CUDA_TYPES["BFloat16Tensor"]
BoolTensor = CUDA_TYPES["BoolTensor"]
ByteTensor = CUDA_TYPES["ByteTensor"]
CharTensor = CUDA_TYPES["CharTensor"]
DoubleTensor = CUDA_TYPES["DoubleTensor"]
FloatTensor = CUDA_TYPES["FloatTensor"]
HalfTensor = CUDA_TYPES["HalfTensor"]
IntTensor = CUDA_TYPES["IntTensor"]
LongTensor = CUDA_TYPES["LongTensor"]
ShortTensor = CUDA_TYPES["ShortTensor"]

__all__ = [
    "AcceleratorError",
    "BFloat16Tensor",
    "BoolTensor",
    "ByteTensor",
    "CUDAGraph",
    "CharTensor",
    "DoubleTensor",
    "Event",
    "ExternalStream",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "OutOfMemoryError",
    "ShortTensor",
    "Stream",
    "StreamContext",
    "can_device_access_peer",
    "current_device",
    "current_stream",
    "default_stream",
    "device",
    "device_count",
    "device_of",
    "empty_cache",
    "get_device_capability",
    "get_device_name",
    "get_device_properties",
    "get_rng_state",
    "get_rng_state_all",
    "graph",
    "graph_pool_handle",
    "init",
    "initial_seed",
    "is_available",
    "is_bf16_supported",
    "is_current_stream_capturing",
    "is_initialized",
    "make_graphed_callables",
    "manual_seed",
    "manual_seed_all",
    "max_memory_allocated",
    "max_memory_cached",
    "max_memory_reserved",
    "mem_get_info",
    "memory_allocated",
    "memory_cached",
    "memory_reserved",
    "memory_stats",
    "memory_summary",
    "reset_accumulated_memory_stats",
    "reset_max_memory_allocated",
    "reset_max_memory_cached",
    "reset_peak_memory_stats",
    "seed",
    "seed_all",
    "set_device",
    "set_rng_state",
    "set_rng_state_all",
    "set_stream",
    "stream",
    "synchronize",
]
