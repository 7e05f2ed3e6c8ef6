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
        __rdiv__ chalf hash_tensor nn.functional.linear_cross_entropy
        nn.functional.linear_cross_entropy-chunked
        nn.functional.linear_cross_entropy-chunked_none
        resize_as_
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
        "a result that could be a view is copied, or the other way round",
        ("view",),
        """
        conj_physical nn.functional.pixel_shuffle nn.functional.pixel_unshuffle
        """,
    ),
    Gap(
        "reflected operators take a tensor of no dims for a number",
        ("gradient",),
        """
        __rmod__ __rpow__
        """,
    ),
    Gap(
        "limits that exclude each other and negative lambdas are taken as they are",
        ("error refusal",),
        """
        nn.functional.hardtanh nn.functional.softshrink
        """,
    ),
    Gap(
        "lies in memory otherwise",
        ("function strides",),
        """
        pca_lowrank svd_lowrank
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
        "a number is no vector",
        ("function", "gradient"),
        """
        linalg.vander
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
        "mean and reciprocal deviation get gradients, too",
        ("gradient",),
        """
        native_group_norm
        """,
    ),
    Gap(
        "too few dims are an IndexError",
        ("error refusal",),
        """
        nn.functional.avg_pool3d
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
        "a number is taken for a tensor",
        ("error refusal",),
        """
        polar
        """,
    ),
    Gap(
        "out= beside a gradient is refused, and the operator has one here",
        ("out gradient",),
        """
        split_with_sizes_copy
        """,
    ),
    Gap(
        "two numbers are tensors of no dims in all arithmetic, in PyTorch not among bits",
        ("error refusal",),
        """
        bitwise_and
        """,
    ),
)


def gaps_of(entry: str) -> list[Gap]:
    """The rows that name an entry."""
    return [gap for gap in GAPS if entry in gap.entries.split()]


def covers(gap: Gap, check: str) -> bool:
    """Whether a row expects a kind of fault."""
    return any(fnmatchcase(check, pattern) for pattern in gap.checks)
