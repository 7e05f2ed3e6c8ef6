"""Python expressions in the YAML (derivatives, composite bodies), read and resolved as data."""

from __future__ import annotations

import enum
from dataclasses import field

from ..errors import SourceLocation
from ..record import record


class Save(enum.Enum):
    """What of a value a formula needs."""

    DTYPE = "dtype"
    DEVICE = "device"
    LAYOUT = "layout"
    NDIM = "ndim"
    NUMEL = "numel"
    SIZES = "sizes"
    STRIDES = "strides"
    STORAGE_OFFSET = "storage_offset"
    VALUE = "value"
    """The whole argument, which is no tensor: a number, dims, a flag."""
    TENSOR = "tensor"
    TENSORS = "tensors"
    """A list of tensors."""

    @property
    def is_whole(self) -> bool:
        """Whether the value itself is kept, not one of its properties."""
        return self in (Save.VALUE, Save.TENSOR, Save.TENSORS)


@record
class SavedValue:
    """One thing a node keeps from the forward call.

    A property of a list of tensors (`[t.shape for t in tensors]`) is a list of properties.
    """

    name: str
    """An argument, or a result (`result`, `result1`, a named return)."""
    what: Save
    is_result: bool = False
    result_index: int = 0
    """Which result, where `is_result`."""

    @property
    def local(self) -> str:
        """Its name in the rewritten formula: `self`, `self_sizes`, `other_dtype`."""
        return self.name if self.what.is_whole else f"{self.name}_{self.what.value}"

    @property
    def is_tensor(self) -> bool:
        """Whether it must be saved with a version and unpacked."""
        return self.what in (Save.TENSOR, Save.TENSORS)


@record
class Use:
    """A name or attribute that an expression reads, and where."""

    name: str
    offset: int
    """Of its first character, in the text."""


@record
class Call:
    """A call inside an expression."""

    name: str
    offset: int
    positional: int
    """How many positional arguments it gives."""
    keywords: tuple[str, ...] = ()
    is_method: bool = False
    """Whether it is `x.name(...)`; then `x` is not counted."""
    receiver: str | None = None
    """The name before the dot, where it is one: `math` in `math.sqrt(2)`."""
    given: tuple[str, ...] = ()
    """The positional arguments that are a name alone."""


@record
class Expression:
    """A Python expression over arguments, results and gradients."""

    text: str
    """As written, for documentation."""
    code: str
    """As the emitted function writes it: `self.sizes()` has become `self_sizes`, if only the sizes
    are saved, and `self.shape` otherwise."""
    saved: tuple[SavedValue, ...] = ()
    """What it needs of arguments and results: arguments in schema order, then results."""
    names: tuple[Use, ...] = ()
    """Every name it reads (not what it calls), in order; names it binds itself are left out."""
    attributes: tuple[Use, ...] = ()
    """Every attribute it reads (not methods it calls)."""
    calls: tuple[Call, ...] = ()
    where: SourceLocation | None = field(default=None, compare=False, repr=False)
    """The place of its first character."""
    functions: tuple[str, ...] = ()
    """Called functions of runtime/autograd/formulas/, in order of first use."""
    operators: tuple[str, ...] = ()
    """Called public operators (not methods), in order of first use."""
    gradients: tuple[int, ...] = ()
    """Which output gradients it reads; `grad` is 0, `grads[1]` is 1."""
    uses_grads: bool = False
    """Whether it reads the list `grads` as a whole."""

    def uses(self, name: str) -> bool:
        """Whether it reads `name` (`grad_input_mask`, `grad`, an argument)."""
        return any(use.name == name for use in self.names)
