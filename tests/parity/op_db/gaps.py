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
        "a complex out= takes a real result",
        ("out integer refusal", "out wider refusal"),
        """
        fft.hfft fft.hfft2 fft.hfftn fft.irfft fft.irfft2 fft.irfftn linalg.matrix_power nonzero
        """,
    ),
    Gap(
        "dtypes of out= are refused by PyTorch's kernels, here by what can be cast",
        ("out integer refusal", "out wider refusal"),
        """
        bernoulli nanmean nansum normal std var
        """,
    ),
    Gap(
        "a result that out= cannot hold is a RuntimeError, in PyTorch a TypeError",
        ("out integer refusal",),
        """
        cat column_stack dstack hstack stack vstack
        """,
    ),
    Gap(
        "out= that cannot hold the result's kind of number is refused",
        ("out integer", "out wider"),
        """
        bernoulli cumprod cumsum inner normal
        """,
    ),
    Gap(
        "results are computed before they are written: what out= shares with an input is harmless",
        ("error refusal",),
        """
        cat gather kthvalue masked_select take
        """,
    ),
    Gap(
        "out= of another shape that has as many elements is given the result's",
        ("out shape",),
        """
        linspace linspace-tensor_overload logspace logspace-tensor_overload
        """,
    ),
    Gap(
        "tensors may have more dims than PyTorch's 64",
        ("error refusal",),
        """
        amax amin aminmax
        """,
    ),
    Gap(
        "returns what it wrote, PyTorch nothing",
        ("out", "out empty", "out shape", "out strided"),
        """
        split_with_sizes_copy unbind_copy
        """,
    ),
    Gap(
        "nothing written in place grows",
        ("inplace",),
        """
        addbmm
        """,
    ),
    Gap(
        "a step that an integer out= makes zero is refused as any other one",
        ("error refusal",),
        """
        arange
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
        "an out= of one element, repeated, is written",
        ("error refusal",),
        """
        index_select
        """,
    ),
    Gap(
        "takes no out=",
        (
            "out",
            "out empty",
            "out integer",
            "out overlapping refusal",
            "out shape",
            "out strided",
            "out wider",
        ),
        """
        lu
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
        "an out= that is written through views is resized without a word",
        ("out strided strides", "out strided warning", "out warning"),
        """
        nn.functional.linear
        """,
    ),
    Gap(
        "out= of several results",
        ("out empty refusal", "out refusal", "out shape refusal", "out strided refusal"),
        """
        nonzero
        """,
    ),
    Gap(
        "out= beside a gradient is refused, and the operator has one here",
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
