"""Linear systems of sparse matrices, by SciPy's SuperLU on the host."""

from __future__ import annotations

import importlib
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor, from_array

SOLVED = (dtypes.float32, dtypes.float64, dtypes.complex64, dtypes.complex128)


TRIANGULAR = {"permc_spec": "NATURAL", "diag_pivot_thresh": 0.0}
"""Options with which the factors of a triangular matrix are its own triangle and its diagonal."""


def _options(rows: Tensor, columns: Tensor) -> dict[str, Any]:
    above, below = rows.le(columns).all(), rows.ge(columns).all()
    return TRIANGULAR if above or below else {}


def solve(
    rows: Tensor, columns: Tensor, values: Tensor, right: Tensor, is_transposed: bool
) -> Tensor:
    """x with matrix @ x = right; the entries of one place count as their sum.

    Raises: RuntimeError for another dtype, a tensor elsewhere than on the host, or a singular
    matrix.
    """
    if values.dtype not in SOLVED or not values.is_cpu:
        raise errors.no_rule_for_layout(
            "spsolve", f"{values.dtype}", f"on {values.device}: float32 and wider on the CPU"
        )
    library: Any = importlib.import_module("scipy.sparse.linalg")
    sparse: Any = importlib.import_module("scipy.sparse")
    places = (columns, rows) if is_transposed else (rows, columns)
    count = right._sizes[0]
    parts = (values._array(), tuple(each._array() for each in places))
    matrix = sparse.coo_array(parts, shape=(count, count)).tocsc()
    try:
        factors = library.splu(matrix, **_options(*places))
    except RuntimeError as error:
        raise RuntimeError(f"spsolve: {error}") from None
    found = factors.solve(right._array())
    return from_array(found, values.dtype)
