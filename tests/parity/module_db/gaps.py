"""What modules are known to do otherwise than PyTorch's. Strict: what is mended fails."""

from __future__ import annotations

from tests.parity.op_db.gaps import Gap

GAPS: tuple[Gap, ...] = (
    Gap(
        "channels stay last, where PyTorch's CPU lays its result out anew",
        ("memory format strides",),
        """
        AdaptiveAvgPool3d AdaptiveMaxPool3d AvgPool3d LPPool3d CircularPad3d Conv3d LazyConv3d
        ConvTranspose3d LazyConvTranspose3d
        """,
    ),
    Gap(
        # Of 820 float32 results of TransformerEncoderLayer, ours are on average 0.95 times as far
        # from float64 as PyTorch's; of CTCLoss, whose logarithms are near 100, as far (5e-5).
        "float32 rounding of ill-conditioned gradients, as large in PyTorch; float64 agrees",
        ("gradient values", "copy values"),
        """
        CTCLoss MultiheadAttention Transformer TransformerEncoder TransformerEncoderLayer
        TransformerDecoderLayer
        """,
    ),
)


def gaps_of(name: str) -> list[Gap]:
    """The gaps of one module."""
    return [gap for gap in GAPS if name in gap.entries.split()]
