"""What optimizers are known to do otherwise than PyTorch's. Strict: what is mended fails."""

from __future__ import annotations

from tests.parity.op_db.gaps import Gap

GAPS: tuple[Gap, ...] = (
    Gap(
        "PyTorch's steps over lists round the step size to float32 on the way",
        ("trajectory foreach*", "exchange foreach*"),
        "ASGD",
    ),
    Gap(
        "PyTorch computes the factors of a differentiable step in float32",
        ("differentiable values",),
        "Adam AdamW NAdam",
    ),
    Gap(
        "a search along a line of complex numbers amplifies rounding, to 1e-12 of them",
        ("trajectory values", "trajectory state values"),
        "LBFGS",
    ),
)


def gaps_of(name: str) -> list[Gap]:
    """The gaps of one optimizer."""
    return [gap for gap in GAPS if name in gap.entries.split()]
