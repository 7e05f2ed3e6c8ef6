"""The names of `torch.sparse`."""

from __future__ import annotations

from torchgen_out._runtime.factories.sparse_tensors import check_sparse_tensor_invariants
from torchgen_out._runtime.ops.composite.sparse.functions import (
    addmm,
    as_sparse_gradcheck,
    log_softmax,
    mm,
    sampled_addmm,
    softmax,
    spdiags,
    spsolve,
    sum,
)
from torchgen_out._runtime.tensor_api.scipy_exchange import from_scipy, to_scipy

__all__ = [
    "addmm",
    "as_sparse_gradcheck",
    "check_sparse_tensor_invariants",
    "from_scipy",
    "log_softmax",
    "mm",
    "sampled_addmm",
    "softmax",
    "spdiags",
    "spsolve",
    "sum",
    "to_scipy",
]
