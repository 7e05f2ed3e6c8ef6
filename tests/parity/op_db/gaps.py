"""What is known to differ from PyTorch, by kind: reason, kinds of fault, entries.

Strict: an entry that a row names and that has no such fault fails the full tier. The rows were
found at the first two samples of each entry in float32, and at the first in other dtypes.
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
    dtypes: str = "*"
    """Of which dtypes, with wildcards, separated by blanks."""


GAPS: tuple[Gap, ...] = (
    Gap(
        "groups of samples have second gradients, too",
        ("second gradient",),
        """
        nn.functional.linear_cross_entropy-chunked
        nn.functional.linear_cross_entropy-chunked_none
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
        ("out strided strides", "out* warning"),
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
    Gap(
        "PyTorch's slope, a sixth, is rounded to float32, and its 1e-12 keeps a second one finite",
        ("gradient", "second gradient"),
        """
        nn.functional.hardsigmoid nn.functional.binary_cross_entropy
        """,
        "float64",
    ),
    Gap(
        "PyTorch's have errors of 1e-8 (SciPy's and mpmath's are these), of digamma near its poles",
        ("*values",),
        """
        special.airy_ai special.bessel_j0 special.bessel_j1 special.bessel_y0 special.bessel_y1
        special.polygamma-special_polygamma_n_0
        """,
        "float64",
    ),
    Gap(
        "of equal elements another one is told: docs/deviations.md",
        ("*values",),
        """
        argsort kthvalue sort topk
        """,
        "bool *int* *float16",
    ),
    Gap(
        "a fraction beside integers is refused: docs/deviations.md",
        ("function",),
        """
        nn.functional.hardtanh
        """,
        "*int*",
    ),
    Gap(
        "PyTorch resizes images of bytes in fixed-point numbers, rounding after each dim",
        ("function",),
        """
        nn.functional.interpolate-bicubic nn.functional.interpolate-bilinear
        nn.functional.upsample_bilinear
        """,
        "uint8",
    ),
    Gap(
        "out= has the real dtype of the result; PyTorch takes the complex one of the input, too",
        ("out wider",),
        """
        abs
        """,
        "complex128",
    ),
    Gap(
        "infinite at the poles; PyTorch divides by a sine that is not quite 0 there",
        ("*values",),
        """
        polygamma-polygamma_n_0 polygamma-polygamma_n_1 polygamma-polygamma_n_2
        polygamma-polygamma_n_3 polygamma-polygamma_n_4 special.polygamma-special_polygamma_n_0
        """,
        "int8",
    ),
    Gap(
        "there is no lazy conjugation: docs/deviations.md",
        ("view",),
        """
        H conj mH
        """,
        "complex*",
    ),
    Gap(
        "a Hermitian matrix has a Hermitian gradient, in PyTorch not on the diagonal",
        ("gradient", "second gradient"),
        """
        cholesky linalg.cholesky linalg.cholesky_ex
        """,
        "complex*",
    ),
    Gap(
        "PyTorch divides by what may cancel: 1e-8 to 1e-7 from the product written out, ours 5e-16",
        ("gradient", "second gradient"),
        """
        linalg.householder_product
        """,
        "complex*",
    ),
    Gap(
        "small differences of large sums, of which PyTorch rounds others: neither is nearer",
        ("gradient",),
        """
        logcumsumexp
        """,
        "complex64",
    ),
    Gap(
        "the operand itself is saved, in PyTorch what is computed from it: docs/deviations.md",
        ("write leaf",),
        """
        __rdiv__ __rmatmul__ cdist float_power gradient kron ldexp linalg.qr masked.std masked.var
        matmul nn.functional.cross_entropy nn.functional.embedding_bag nn.functional.kl_div
        nn.functional.tanhshrink polar qr special.ndtr
        """,
        "float32",
    ),
    Gap(
        "groups of samples are computed again in backward, from the operand",
        ("write leaf",),
        """
        nn.functional.linear_cross_entropy-chunked
        """,
        "float32",
    ),
)


def gaps_of(entry: str) -> list[Gap]:
    """The rows that name an entry."""
    return [gap for gap in GAPS if entry in gap.entries.split()]


def covers(gap: Gap, check: str, dtype: str | None = None) -> bool:
    """Whether a row expects a kind of fault, in a dtype or, where there is none, in any."""
    if dtype is not None and not any(fnmatchcase(dtype, each) for each in gap.dtypes.split()):
        return False
    return any(fnmatchcase(check, pattern) for pattern in gap.checks)
