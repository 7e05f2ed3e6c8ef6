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
        "float32 gradients are sums of large terms, taken in another order",
        ("gradient values",),
        "CTCLoss TransformerEncoder TransformerEncoderLayer TransformerDecoderLayer",
    ),
)


def gaps_of(name: str) -> list[Gap]:
    """The gaps of one module."""
    return [gap for gap in GAPS if name in gap.entries.split()]
