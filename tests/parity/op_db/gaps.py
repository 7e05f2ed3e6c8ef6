"""What is known to differ from PyTorch, by kind: reason, kinds of fault, entries.

Strict: an entry that a row names and that has no such fault fails the full tier. The rows were
found at the first two samples of each entry in float32; other dtypes may have more to tell.
"""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import NamedTuple


class Gap(NamedTuple):
    """A reason, and where it shows."""

    reason: str
    checks: tuple[str, ...]
    """Kinds of fault, with wildcards."""
    entries: str
    """Names of entries as `Entry` prints them, separated by blanks."""


GAPS: tuple[Gap, ...] = (
    Gap(
        "is not there yet",
        ("function", "gradient", "method", "missing"),
        """
        chalf hash_tensor
        """,
    ),
    Gap(
        "a complex out= takes real results, in PyTorch only of all elements or of complex ones",
        ("out wider refusal",),
        """
        std var
        """,
    ),
    Gap(
        "nothing written in place grows, as PyTorch says of all but this one",
        ("inplace",),
        """
        addbmm
        """,
    ),
    Gap(
        "the kept elements get their gradient: docs/deviations.md",
        ("gradient",),
        """
        as_strided_scatter
        """,
    ),
    Gap(
        "a dim outside is an IndexError, as everywhere",
        ("error refusal",),
        """
        narrow_copy
        """,
    ),
    Gap(
        "a right out= is not resized: PyTorch resizes it to what its kernel writes, and warns",
        ("out strided strides", "out strided warning", "out warning"),
        """
        nn.functional.linear
        """,
    ),
    Gap(
        "out= that requires grad is refused, which PyTorch forgets here",
        ("out gradient",),
        """
        split_with_sizes_copy
        """,
    ),
)


def gaps_of(entry: str) -> list[Gap]:
    """The rows that name an entry."""
    return [gap for gap in GAPS if entry in gap.entries.split()]


def covers(gap: Gap, check: str) -> bool:
    """Whether a row expects a kind of fault."""
    return any(fnmatchcase(check, pattern) for pattern in gap.checks)
