"""Arguments that the schema says are dtypes, devices, layouts, memory formats or generators.

Each class stands here by the name that bindings know it by: they have an argument `dtype`. A
function is asked when a value is of another class: it returns the object that the value stands for.

**Raises** TypeError if it stands for none.
"""

from __future__ import annotations

from typing import Any, TypeAlias

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.core import memory_format as formats
from torchgen_out._runtime.core.generator import Generator

Dtype: TypeAlias = dtypes.dtype
Device: TypeAlias = devices.device
Layout: TypeAlias = layouts.layout
MemoryFormat: TypeAlias = formats.memory_format


def as_dtype(value: Any, operator: str, argument: str, position: int) -> Dtype:
    """The dtype that a Python type stands for: float64, int64, bool or complex128."""
    if value.__class__ is type and value in dtypes.BY_PYTHON_TYPE:
        return dtypes.BY_PYTHON_TYPE[value]
    raise errors.class_expected(operator, argument, position, "torch.dtype", value)


def as_device(value: Any, operator: str, argument: str, position: int) -> Device:
    """The device that a text or an index stands for."""
    if isinstance(value, (str, int)) and not isinstance(value, bool):
        return devices.device(value)
    raise errors.class_expected(operator, argument, position, "torch.device", value)


def as_layout(value: Any, operator: str, argument: str, position: int) -> Layout:
    """No value stands for a layout."""
    raise errors.class_expected(operator, argument, position, "torch.layout", value)


def as_memory_format(value: Any, operator: str, argument: str, position: int) -> MemoryFormat:
    """No value stands for a memory format."""
    raise errors.class_expected(operator, argument, position, "torch.memory_format", value)


def as_generator(value: Any, operator: str, argument: str, position: int) -> Generator:
    """A generator of a class of the user's own."""
    if isinstance(value, Generator):
        return value
    raise errors.class_expected(operator, argument, position, "torch.Generator", value)
