"""Vectors scaled to length one."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch


def normalize(
    input: Any, p: float = 2.0, dim: int | tuple[int, ...] = 1, eps: float = 1e-12, out: Any = None
) -> Any:
    """Divide by the p-norm along `dim`, taken as at least `eps`."""
    norm = torch.linalg.vector_norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else torch.div(input, norm, out=out)
