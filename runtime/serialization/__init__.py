"""Saving and loading: PyTorch's `.pt` files and safetensors files."""

from runtime.serialization.archive import load, save
from runtime.serialization.safetensors_files import load_file, save_file
from runtime.serialization.unpickling import (
    add_safe_globals,
    clear_safe_globals,
    get_safe_globals,
    safe_globals,
)

__all__ = [
    "add_safe_globals",
    "clear_safe_globals",
    "get_safe_globals",
    "load",
    "load_file",
    "safe_globals",
    "save",
    "save_file",
]
