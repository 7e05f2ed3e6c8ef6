"""Norms and distances of vectors along a dim."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch


def normalize(
    input: Any, p: float = 2.0, dim: int | tuple[int, ...] = 1, eps: float = 1e-12, out: Any = None
) -> Any:
    """Divide by the p-norm along `dim`, taken as at least `eps`."""
    norm = torch.linalg.vector_norm(input, p, dim, keepdim=True).clamp_min(eps).expand_as(input)
    return input / norm if out is None else torch.div(input, norm, out=out)


def cosine_similarity(x1: Any, x2: Any, dim: int = 1, eps: float = 1e-8) -> Any:
    """x1 . x2 / (|x1| |x2|) along `dim`; each norm is taken as at least `eps`."""
    x1, x2 = torch.broadcast_tensors(x1, x2)
    norm1 = torch.linalg.vector_norm(x1, 2, dim, keepdim=True).clamp_min(eps)
    norm2 = torch.linalg.vector_norm(x2, 2, dim, keepdim=True).clamp_min(eps)
    return ((x1 / norm1) * (x2 / norm2)).sum(dim)


def pairwise_distance(
    x1: Any, x2: Any, p: float = 2.0, eps: float = 1e-6, keepdim: bool = False
) -> Any:
    """The p-norm of x1 - x2 + eps along the last dim."""
    return torch.linalg.vector_norm(x1 - x2 + eps, p, -1, keepdim=keepdim)
