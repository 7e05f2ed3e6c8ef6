"""Products of groups of rows with a matrix each: what mixtures of experts are made of."""

from __future__ import annotations

from typing import Any

import torchgen_out as torch


def grouped_mm(
    mat_a: Any, mat_b: Any, *, offs: Any = None, bias: Any = None, out_dtype: Any = None
) -> Any:
    """Multiply group by group; `offs` says where each group of a matrix of two dims ends.

    Shape: (G, M, K) @ (G, K, N) -> (G, M, N); of (M, K) the rows are grouped, -> (M, N); of (K, N)
    beside three dims the columns, -> (M, N); of two matrices the inner dim, -> (G, M, N).
    Rows beyond the last group are zero.
    """
    for name, matrix in (("mat_a", mat_a), ("mat_b", mat_b)):
        if matrix.dim() not in (2, 3):
            raise RuntimeError(f"grouped_mm: {name} has to be 2 or 3d, got {matrix.dim()}d")
        if matrix.dtype not in (torch.float32, torch.bfloat16, torch.float16):
            raise RuntimeError(
                f"grouped_mm: expected {name} to be Float32, BFloat16 or Float16 matrix, got "
                f"{matrix.dtype}"
            )
    are_flat = mat_a.dim() == 2, mat_b.dim() == 2
    if any(are_flat) != (offs is not None):
        raise RuntimeError(
            "grouped_mm: Have to provide offsets if there is a 2d matrix, or no offset if both "
            "matrices are 3d"
        )
    if bias is not None:
        raise RuntimeError("grouped_mm: Bias not supported yet")
    if out_dtype not in (None, mat_a.dtype):
        raise RuntimeError("grouped_mm: output dtype must match `mat_a` dtype")
    if offs is None:
        return torch.bmm(mat_a, mat_b)
    return _of_groups(mat_a, mat_b, offs, are_flat)


def _of_groups(mat_a: Any, mat_b: Any, offs: Any, are_flat: tuple[bool, bool]) -> Any:
    if offs.dtype is not torch.int32:
        raise RuntimeError(f"grouped_mm: Offsets have to be int32, got {offs.dtype}")
    ends = offs.tolist()
    groups = list(zip([0, *ends], ends, strict=False))
    if are_flat == (True, True):
        return torch.stack([mat_a[:, start:end] @ mat_b[start:end] for start, end in groups])
    if are_flat[0]:
        parts = [mat_a[start:end] @ mat_b[i] for i, (start, end) in enumerate(groups)]
        rest = mat_a.new_zeros((mat_a.size(0) - ends[-1], mat_b.size(2)))
        return torch.cat([*parts, rest])
    parts = [mat_a[i] @ mat_b[:, start:end] for i, (start, end) in enumerate(groups)]
    rest = mat_a.new_zeros((mat_a.size(1), mat_b.size(1) - ends[-1]))
    return torch.cat([*parts, rest], 1)
