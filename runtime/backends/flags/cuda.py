"""Switches of the CUDA backend: the precision of matrix products."""

from __future__ import annotations

__all__ = ["is_built", "matmul"]


class MatrixProducts:
    """How matrix products may round."""

    __slots__ = (
        "allow_bf16_reduced_precision_reduction",
        "allow_fp16_reduced_precision_reduction",
        "allow_tf32",
    )

    def __init__(self) -> None:
        self.allow_tf32 = False
        """Whether products of float32 may round their operands to TF32."""
        self.allow_fp16_reduced_precision_reduction = True
        """Whether products of float16 may add up in float16."""
        self.allow_bf16_reduced_precision_reduction = True
        """Whether products of bfloat16 may add up in bfloat16."""


matmul = MatrixProducts()


def is_built() -> bool:
    """Return whether the library has a CUDA backend: it has, `torch.cuda` says if it can run."""
    return True
