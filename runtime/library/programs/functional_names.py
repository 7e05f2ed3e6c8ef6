"""`torch.functional`: where PyTorch keeps those functions of the package that Python computes."""

from __future__ import annotations

import torchgen_out as torch

__all__ = [
    "atleast_1d", "atleast_2d", "atleast_3d", "block_diag", "broadcast_shapes",
    "broadcast_tensors", "cartesian_prod", "cdist", "chain_matmul", "einsum", "istft", "lu",
    "meshgrid", "norm", "pca_lowrank", "split", "stft", "svd_lowrank", "tensordot", "unique",
    "unique_consecutive", "unravel_index",
]  # fmt: skip

atleast_1d, atleast_2d, atleast_3d = torch.atleast_1d, torch.atleast_2d, torch.atleast_3d
block_diag, cartesian_prod, meshgrid = torch.block_diag, torch.cartesian_prod, torch.meshgrid
broadcast_shapes, broadcast_tensors = torch.broadcast_shapes, torch.broadcast_tensors
cdist, einsum, norm, tensordot = torch.cdist, torch.einsum, torch.norm, torch.tensordot
chain_matmul, lu, split = torch.chain_matmul, torch.lu, torch.split
stft, istft = torch.stft, torch.istft
pca_lowrank, svd_lowrank = torch.pca_lowrank, torch.svd_lowrank
unique, unique_consecutive = torch.unique, torch.unique_consecutive
unravel_index = torch.unravel_index
