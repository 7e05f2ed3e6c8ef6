"""Properties of a tensor that a node may keep in its stead, and how formulas spell them."""

from __future__ import annotations

from ..model.expression import Save
from ..record import record


@record
class Part:
    """One spelling of a property."""

    what: Save
    plain: str | None = None
    """The spelling that the library understands, where the formula's is another (`.sizes()`)."""
    suffix: str = ""
    """What follows the saved property: `x.is_complex()` is `x_dtype.is_complex`."""
    may_index: bool = False
    """Whether it may take one argument: `x.size(0)` is `x_sizes[0]`."""
    must_index: bool = False

    def takes(self, positional: int, keywords: int) -> bool:
        """Whether a call with so many arguments is this property."""
        least, most = int(self.must_index), int(self.may_index)
        return not keywords and least <= positional <= most


PARTS: dict[tuple[str, bool], Part] = {
    ("shape", False): Part(Save.SIZES),
    ("sizes", True): Part(Save.SIZES, ".shape"),
    ("sym_sizes", True): Part(Save.SIZES, ".shape"),
    ("size", True): Part(Save.SIZES, may_index=True),
    ("sym_size", True): Part(Save.SIZES, ".size()", may_index=True, must_index=True),
    ("ndim", False): Part(Save.NDIM),
    ("dim", True): Part(Save.NDIM),
    ("ndimension", True): Part(Save.NDIM),
    ("numel", True): Part(Save.NUMEL),
    ("nelement", True): Part(Save.NUMEL),
    ("sym_numel", True): Part(Save.NUMEL, ".numel()"),
    ("dtype", False): Part(Save.DTYPE),
    ("scalar_type", True): Part(Save.DTYPE, ".dtype"),
    ("is_complex", True): Part(Save.DTYPE, suffix=".is_complex"),
    ("is_floating_point", True): Part(Save.DTYPE, suffix=".is_floating_point"),
    ("device", False): Part(Save.DEVICE),
    ("layout", False): Part(Save.LAYOUT),
    ("stride", True): Part(Save.STRIDES, may_index=True),
    ("strides", True): Part(Save.STRIDES, ".stride()"),
    ("sym_strides", True): Part(Save.STRIDES, ".stride()"),
    ("storage_offset", True): Part(Save.STORAGE_OFFSET),
    ("sym_storage_offset", True): Part(Save.STORAGE_OFFSET, ".storage_offset()"),
}
"""(name, whether it is called) -> property."""
