"""Switches of the CUDA backend: the precision of matrix products."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from torchgen_out._runtime.core.user_warnings import warn

__all__ = [
    "can_use_cudnn_attention",
    "can_use_efficient_attention",
    "can_use_flash_attention",
    "cudnn_sdp_enabled",
    "enable_cudnn_sdp",
    "enable_flash_sdp",
    "enable_math_sdp",
    "enable_mem_efficient_sdp",
    "flash_sdp_enabled",
    "is_built",
    "is_flash_attention_available",
    "math_sdp_enabled",
    "matmul",
    "mem_efficient_sdp_enabled",
    "preferred_blas_library",
    "preferred_linalg_library",
    "sdp_kernel",
]

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


# There is one kernel of attention on each device: which ones are allowed is remembered, not asked.

_allowed = {"flash": True, "mem_efficient": True, "math": True, "cudnn": True}


def enable_flash_sdp(enabled: bool) -> None:
    """Allow FlashAttention."""
    _allowed["flash"] = enabled


def flash_sdp_enabled() -> bool:
    """Return whether FlashAttention is allowed."""
    return _allowed["flash"]


def enable_mem_efficient_sdp(enabled: bool) -> None:
    """Allow attention in little memory."""
    _allowed["mem_efficient"] = enabled


def mem_efficient_sdp_enabled() -> bool:
    """Return whether attention in little memory is allowed."""
    return _allowed["mem_efficient"]


def enable_math_sdp(enabled: bool) -> None:
    """Allow attention by matrix products."""
    _allowed["math"] = enabled


def math_sdp_enabled() -> bool:
    """Return whether attention by matrix products is allowed."""
    return _allowed["math"]


def enable_cudnn_sdp(enabled: bool) -> None:
    """Allow cuDNN's attention."""
    _allowed["cudnn"] = enabled


def cudnn_sdp_enabled() -> bool:
    """Return whether cuDNN's attention is allowed."""
    return _allowed["cudnn"]


def can_use_flash_attention(params: object, debug: bool = False) -> bool:
    """Return False: the library has a kernel of its own."""
    return False


can_use_efficient_attention = can_use_cudnn_attention = can_use_flash_attention


def is_flash_attention_available() -> bool:
    """Return False: the library has a kernel of its own."""
    return False


@contextmanager
def sdp_kernel(
    enable_flash: bool = True,
    enable_math: bool = True,
    enable_mem_efficient: bool = True,
    enable_cudnn: bool = True,
) -> Iterator[None]:
    """Allow some kernels in a block; `nn.attention.sdpa_kernel` by its old name."""
    warn(
        "`torch.backends.cuda.sdp_kernel()` is deprecated. In the future, this context manager "
        "will be removed. Please see `torch.nn.attention.sdpa_kernel()` for the new context "
        "manager, with updated signature.",
        FutureWarning,
    )
    before = dict(_allowed)
    _allowed.update(
        flash=enable_flash,
        math=enable_math,
        mem_efficient=enable_mem_efficient,
        cudnn=enable_cudnn,
    )
    try:
        yield
    finally:
        _allowed.update(before)


def preferred_linalg_library(backend: str | None = None) -> str:
    """Return "default", which stays: there is one library for each factorisation."""
    return "default"


def preferred_blas_library(backend: str | None = None) -> str:
    """Return "default", which stays: there is one library of matrix products."""
    return "default"


def is_built() -> bool:
    """Return whether the library has a CUDA backend: it has, `torch.cuda` says if it can run."""
    return True
