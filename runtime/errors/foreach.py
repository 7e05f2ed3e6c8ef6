"""Errors of operators over lists of tensors."""

from __future__ import annotations


def foreach_of_nothing() -> RuntimeError:
    """A list of tensors is empty."""
    return RuntimeError("Tensor list must have at least one tensor.")


def foreach_lengths(expected: int, got: int, is_tensors: bool) -> RuntimeError:
    """Two lists have different lengths; the second holds tensors, or numbers."""
    if not is_tensors:
        return RuntimeError(
            "Tensor list must have same number of elements as scalar list, "
            f"got {expected} tensors and {got} numbers"
        )
    return RuntimeError(
        f"Tensor lists must have the same number of tensors, got {expected} and {got}"
    )


def foreach_number_has_dims(ndim: int, numel: int) -> RuntimeError:
    """A tensor in the place of one number has dims."""
    return RuntimeError(
        f"scalar tensor expected to be 0 dim but it has {ndim} dimensions and {numel} elements."
    )


def foreach_packed_dims(ndim: int) -> RuntimeError:
    """A tensor in the place of a list of numbers is no vector."""
    return RuntimeError(f"Expected packed scalar Tensor to be of dimension 1. Got {ndim} instead.")


def foreach_packed_length(expected: int, got: int) -> RuntimeError:
    """A tensor in the place of a list of numbers has another length than the list of tensors."""
    return RuntimeError(
        f"Expected length of scalars to match input of length {expected} but got {got} instead."
    )
