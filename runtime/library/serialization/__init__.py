"""Saving and loading: PyTorch's `.pt` files and safetensors files."""

from torchgen_out._runtime.library.serialization.endianness import (
    LoadEndianness,
    get_default_load_endianness,
    set_default_load_endianness,
)
from torchgen_out._runtime.library.serialization.errors import LoadError, TruncatedFileError
from torchgen_out._runtime.library.serialization.loading import (
    get_unsafe_globals_in_checkpoint,
    load,
)
from torchgen_out._runtime.library.serialization.options import (
    get_default_mmap_options,
    set_default_mmap_options,
    skip_data,
)
from torchgen_out._runtime.library.serialization.safe_globals import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)
from torchgen_out._runtime.library.serialization.safetensors_files import load_file, save_file
from torchgen_out._runtime.library.serialization.saving import save
from torchgen_out._runtime.library.serialization.storages import MapLocation as MAP_LOCATION

__all__ = [
    "MAP_LOCATION",
    "LoadEndianness",
    "LoadError",
    "TruncatedFileError",
    "add_safe_globals",
    "clear_safe_globals",
    "get_default_load_endianness",
    "get_default_mmap_options",
    "get_safe_globals",
    "get_unsafe_globals_in_checkpoint",
    "load",
    "load_file",
    "safe_globals",
    "save",
    "save_file",
    "set_default_load_endianness",
    "set_default_mmap_options",
    "skip_data",
]
