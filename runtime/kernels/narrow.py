"""How kernels' texts read and write elements of narrow types, stored as bits.

A narrow type is one whose `opmath` is another; `vecmath/half.py` defines the conversions.
"""

from __future__ import annotations

from collections.abc import Iterable

from torchgen_out._runtime.core.dtype import dtype


def is_narrow(own: dtype) -> bool:
    """Whether elements are stored in another type than they are computed in."""
    return own.opmath is not own


def widened(element: str, own: dtype) -> str:
    """The expression of a stored element as its `opmath`."""
    return f"{own.name}_to_{own.opmath.name}({element})"


def narrowed(value: str, own: dtype) -> str:
    """The expression of a computed value as an element is stored."""
    return f"{own.opmath.name}_to_{own.name}(np.{own.opmath.name}({value}))"


def conversions(used: Iterable[dtype]) -> str:
    """The names of all conversions that some dtypes need."""
    narrow = sorted({each for each in used if is_narrow(each)}, key=lambda each: each.index)
    return "".join(f"\n{widened('', each)}, {narrowed('', each)}" for each in narrow)
