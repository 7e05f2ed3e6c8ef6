"""The names of `torch.sparse`."""

from __future__ import annotations

from torchgen_out._runtime.factories.sparse_tensors import check_sparse_tensor_invariants
from torchgen_out._runtime.library.programs import absent
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
from torchgen_out._runtime.tensor_api.legacy_types import SPARSE_TYPES
from torchgen_out._runtime.tensor_api.scipy_exchange import from_scipy, to_scipy

_DENSE = "two of four elements are no layout here; use dense or CSR tensors"

SparseSemiStructuredTensor = absent.kind("torch.sparse.SparseSemiStructuredTensor", _DENSE)
to_sparse_semi_structured = absent.function("torch.sparse.to_sparse_semi_structured", _DENSE)

BFloat16Tensor, ByteTensor = SPARSE_TYPES["BFloat16Tensor"], SPARSE_TYPES["ByteTensor"]
CharTensor, DoubleTensor = SPARSE_TYPES["CharTensor"], SPARSE_TYPES["DoubleTensor"]
FloatTensor, HalfTensor = SPARSE_TYPES["FloatTensor"], SPARSE_TYPES["HalfTensor"]
IntTensor, LongTensor = SPARSE_TYPES["IntTensor"], SPARSE_TYPES["LongTensor"]
ShortTensor = SPARSE_TYPES["ShortTensor"]

__all__ = [
    "BFloat16Tensor",
    "ByteTensor",
    "CharTensor",
    "DoubleTensor",
    "FloatTensor",
    "HalfTensor",
    "IntTensor",
    "LongTensor",
    "ShortTensor",
    "SparseSemiStructuredTensor",
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
    "to_sparse_semi_structured",
]
