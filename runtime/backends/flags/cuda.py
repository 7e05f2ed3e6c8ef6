"""Switches of the CUDA backend: the precision of matrix products."""

from __future__ import annotations

from torchgen_out._runtime.core.user_warnings import warn

__all__ = ["is_built", "matmul"]

PRECISIONS = ("highest", "high", "medium")
"""How products of float32 may round: the first keeps float32, the others allow TF32."""


class MatrixProducts:
    """How matrix products may round."""

    __slots__ = (
        "allow_bf16_reduced_precision_reduction",
        "allow_fp16_reduced_precision_reduction",
        "precision",
    )

    def __init__(self) -> None:
        self.precision = PRECISIONS[0]
        self.allow_fp16_reduced_precision_reduction = True
        """Whether products of float16 may add up in float16."""
        self.allow_bf16_reduced_precision_reduction = True
        """Whether products of bfloat16 may add up in bfloat16."""

    @property
    def allow_tf32(self) -> bool:
        """Whether products of float32 may round their operands to TF32."""
        return self.precision != PRECISIONS[0]

    @allow_tf32.setter
    def allow_tf32(self, allowed: bool) -> None:
        self.precision = PRECISIONS[bool(allowed)]


matmul = MatrixProducts()


def set_float32_matmul_precision(precision: str) -> None:
    """Set how products of float32 may round: "highest", "high" or "medium".

    "highest" keeps float32; "high" and "medium" let CUDA round the operands to TF32. The CPU always
    keeps float32. Any other word changes nothing, with a warning.
    """
    if precision in PRECISIONS:
        matmul.precision = precision
    else:
        warn(
            f"{precision} is not one of 'highest', 'high', or 'medium'; the current "
            "setFloat32MatmulPrecision call has no effect.",
        )


def get_float32_matmul_precision() -> str:
    """Return how products of float32 may round."""
    return matmul.precision


def is_built() -> bool:
    """Return whether the library has a CUDA backend: it has, `torch.cuda` says if it can run."""
    return True
