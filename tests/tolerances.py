"""How far a result may be from its reference: one table per dtype, wider ones with a reason."""

from __future__ import annotations

from fnmatch import fnmatchcase
from typing import Any, NamedTuple

import numpy as np


class Tolerance(NamedTuple):
    """|result - reference| <= absolute + relative * |reference|."""

    relative: float
    absolute: float


VALUE: dict[str, Tolerance] = {
    "float16": Tolerance(1e-3, 1e-4),
    "bfloat16": Tolerance(8e-3, 1e-3),
    "float32": Tolerance(1e-6, 1e-6),
    "float64": Tolerance(1e-13, 1e-13),
    "complex32": Tolerance(1e-3, 1e-4),
    "complex64": Tolerance(2e-6, 2e-6),
    "complex128": Tolerance(1e-13, 1e-13),
}

GRADIENT: dict[str, Tolerance] = {
    "float16": Tolerance(4e-3, 1e-3),
    "bfloat16": Tolerance(2e-2, 1e-2),
    "float32": Tolerance(1e-5, 1e-5),
    "float64": Tolerance(1e-11, 1e-11),
    "complex32": Tolerance(4e-3, 1e-3),
    "complex64": Tolerance(2e-5, 2e-5),
    "complex128": Tolerance(1e-11, 1e-11),
}

EXACT = Tolerance(0.0, 0.0)

WIDER: dict[str, tuple[float, str]] = {
    "special_bessel_*": (100.0, "rational approximations good to 1e-12, not the same as PyTorch's"),
    "hardsigmoid": (1e4, "PyTorch divides by a float32 6"),
    "polygamma": (1e4, "PyTorch's trigamma is good to 1e-10"),
    "*gamma": (100.0, "PyTorch's trigamma is good to 1e-10"),
    "logit": (2.0, "PyTorch rounds 1 - x to 16 bits"),
    "special_*polynomial*": (4.0, "PyTorch takes cosines of float32 angles"),
    "special_ndtr": (3.0, "PyTorch rounds the error function to 16 bits"),
    "special_i*": (3.0, "PyTorch evaluates the series in bfloat16"),
    "linalg_lstsq": (20.0, "solutions of ill-conditioned systems, rounded by another LAPACK"),
    "linalg_pinv*": (20.0, "products of inverses of small singular values"),
    "*matrix_exp": (4.0, "another polynomial, of matrices far apart in size"),
    "linalg_eig*": (20.0, "eigenvalues close to each other, rounded by another LAPACK"),
    "linalg_svd": (20.0, "singular values close to each other, rounded by another LAPACK"),
    "conv*": (10.0, "sums of products, taken in another order"),
    "*_conv*": (10.0, "sums of products, taken in another order"),
    "binary_cross_entropy": (10.0, "PyTorch adds 1e-12 to denominators"),
    "addbmm": (4.0, "PyTorch adds the matrices up in bfloat16"),
    "addr": (4.0, "PyTorch rounds 16-bit intermediate results"),
    "adaptive_avg_pool3d": (20.0, "PyTorch adds up in 16 bits"),
    "masked_log_softmax": (2.0, "PyTorch rounds the logarithm of the sum to 16 bits"),
    "group_norm": (4.0, "16-bit results are rounded before weight and bias"),
    "instance_norm": (4.0, "PyTorch rounds 16-bit intermediate results"),
    "native_*_norm": (2.0, "PyTorch rounds 16-bit intermediate results"),
}
"""Pattern of operators -> (factor on both tables, reason)."""


def tolerance(table: dict[str, Tolerance], operator: str, dtype: str) -> Tolerance:
    """Return the tolerance of an operator; integers and bool are exact."""
    if dtype not in table:
        return EXACT
    factor = max((f for name, (f, _) in WIDER.items() if fnmatchcase(operator, name)), default=1.0)
    return Tolerance(table[dtype].relative * factor, table[dtype].absolute * factor)


def assert_close(got: Any, expected: Any, allowed: Tolerance, what: str = "") -> None:
    """Fail unless shapes are equal and elements agree; nan agrees with nan, inf with inf."""
    got, expected = np.asarray(got), np.asarray(expected)
    assert got.shape == expected.shape, f"{what}: shape {got.shape}, expected {expected.shape}"
    wide = np.result_type(got, expected, np.float64)
    got, expected = got.astype(wide), expected.astype(wide)
    with np.errstate(all="ignore"):
        bound = allowed.absolute + allowed.relative * np.abs(expected)
        close = (got == expected) | (np.isnan(got) & np.isnan(expected))
        close |= np.isfinite(expected) & (np.abs(got - expected) <= bound)
    if not close.all():
        worst = np.argwhere(~close)[:5].tolist()
        pairs = [f"{i}: {got[tuple(i)]!r}, expected {expected[tuple(i)]!r}" for i in worst]
        raise AssertionError(f"{what}: {(~close).sum()} of {close.size} differ: {'; '.join(pairs)}")
