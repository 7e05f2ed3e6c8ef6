"""What is wrong with sparse tensors, and calls of operators that do not take them."""

from __future__ import annotations

from typing import Any


def no_strided_memory(layout: Any) -> NotImplementedError:
    """Code that reads strided memory was given a sparse tensor."""
    return NotImplementedError(
        f"a {layout} tensor has no strided memory (Cannot access storage of SparseTensorImpl); "
        "use its indices and values, or .to_dense()"
    )


def no_data_pointer() -> RuntimeError:
    """A sparse tensor has no one address."""
    return RuntimeError("Cannot access data pointer of Tensor that doesn't have storage")


def no_rule_for_layout(operator: str, layout: Any, reason: str = "") -> NotImplementedError:
    """An operator says nothing of a layout."""
    why = f": {reason}" if reason else ""
    return NotImplementedError(
        f"{operator}: not implemented for {layout} tensors{why}. Convert with .to_dense() if the "
        "memory allows, or compute with .values()"
    )


def not_this_layout(operator: str, expected: str, got: Any) -> RuntimeError:
    """A method of one layout was called on another."""
    return RuntimeError(f"{operator} expected {expected} tensor layout but got {got}")


def entries_count(indices: int, values: int) -> RuntimeError:
    """There are not as many values as indices."""
    return RuntimeError(
        "indices and values must have same nnz, but got nnz from indices: "
        f"{indices}, nnz from values: {values}"
    )


def indices_not_matrix(sizes: Any) -> RuntimeError:
    """The indices of a COO tensor are no matrix."""
    return RuntimeError(f"indices must be sparse_dim x nnz, but got: {list(sizes)}")


def indices_not_integers(dtype: Any) -> RuntimeError:
    """Indices have another dtype than integers."""
    return RuntimeError(f"indices must be an int64 tensor, got {dtype}")


def sparse_dims_count(size: int, sparse_dim: int, dense_dim: int) -> RuntimeError:
    """The sizes are not as many as indices and values say."""
    return RuntimeError(
        f"'len(size) == sparse_dim + dense_dim' is not satisfied: len(size) = {size}, "
        f"sparse_dim = {sparse_dim}, dense_dim = {dense_dim}"
    )


def negative_index(index: int, dim: int) -> RuntimeError:
    """An index is less than zero."""
    return RuntimeError(f"found negative index {index} for dim {dim}")


def index_beyond_size(dim: int, size: int, index: int) -> RuntimeError:
    """An index is no place of its dim."""
    return RuntimeError(
        f"size is inconsistent with indices: for dim {dim}, size is {size} but found index {index}"
    )


def indices_changed() -> RuntimeError:
    """Indices were written to of which a transposed tensor was made."""
    return RuntimeError(
        "the indices of a sparse tensor were written to after another tensor had been made of "
        "them: clone() it before"
    )


def values_size(expected: Any, got: Any) -> RuntimeError:
    """The values' sizes are not those of the entries."""
    return RuntimeError(f"values has incorrect size, expected {list(expected)}, got {list(got)}")


def uncoalesced(what: str) -> RuntimeError:
    """Indices or values of a tensor were asked for whose entries are not in order."""
    return RuntimeError(
        f"Cannot get {what} on an uncoalesced tensor, please call .coalesce() first"
    )


def sparse_dim_range(most: int, got: int) -> RuntimeError:
    """A dense tensor has not so many dims."""
    return RuntimeError(
        f"dense_to_sparse: sparse_dim argument must be in [0,{most}] range, but {got} is given"
    )


def sparse_divisor(sizes: Any) -> RuntimeError:
    """A sparse tensor was divided by more than a number."""
    return RuntimeError(
        "Sparse division requires a scalar or zero-dim dense tensor divisor "
        f"(got shape {list(sizes)} for divisor)"
    )


class DenseIntoSparse(RuntimeError):
    """A dense tensor was added to a sparse one."""


def add_to_sparse() -> DenseIntoSparse:
    """The sum of a sparse tensor and a dense one, in this order."""
    return DenseIntoSparse("add(sparse, dense) is not supported. Use add(dense, sparse) instead.")


def zeroth_power() -> RuntimeError:
    """A sparse tensor's elements without entries would become ones."""
    return RuntimeError(
        "pow: cannot raise to zeroth power on sparse tensor; it would make the result tensor dense"
    )


def mixed_dims(operator: str, dim0: int, dim1: int, sparse_dim: int) -> RuntimeError:
    """A sparse and a dense dim were to change places."""
    return RuntimeError(
        f"{operator}: dims {dim0} and {dim1} of a tensor with {sparse_dim} sparse dims: one is "
        "sparse and the other dense, which cannot change places"
    )


def too_few_dims(layout: Any, ndim: int) -> RuntimeError:
    """Compressed rows need a matrix."""
    return RuntimeError(
        f"torch.empty: Only batched sparse compressed (non-block) tensors are supported, but got "
        f"{ndim} dims for {layout}"
    )


def different_shapes(operator: str, first: Any, second: Any) -> RuntimeError:
    """Two sparse operands are not of one shape."""
    return RuntimeError(
        f"{operator}: expected sizes of 'self' and 'other' to match, but {list(first)} != "
        f"{list(second)}"
    )


def to_numpy() -> TypeError:
    """A sparse tensor has no array."""
    return TypeError("can't convert Sparse layout tensor to numpy. Use Tensor.to_dense() first.")


def compressed_invariant(what: str) -> RuntimeError:
    """The parts of a compressed tensor contradict each other."""
    return RuntimeError(f"`{what}` is not satisfied.")
