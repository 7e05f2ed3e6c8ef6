"""Errors of writing: into memory that is shared, too small, or watched by autograd."""

from __future__ import annotations

from collections.abc import Sequence


def overlapping_write(operator: str) -> RuntimeError:
    """In-place writing to a tensor whose elements share memory."""
    return RuntimeError(
        f"{operator}: unsupported operation: more than one element of the written-to tensor refers "
        "to a single memory location; clone() the tensor before writing to it"
    )


def partly_overlapping(operator: str) -> RuntimeError:
    """The written-to tensor and an input share some, but not all, of their memory."""
    return RuntimeError(
        f"{operator}: unsupported operation: some elements of the input tensor and the written-to "
        "tensor refer to a single memory location; clone() the input before writing"
    )


def inplace_shape(operator: str, out: Sequence[int], broadcast: Sequence[int]) -> RuntimeError:
    """The written-to tensor would have to grow."""
    return RuntimeError(
        f"{operator}: output with shape {list(out)} doesn't match the broadcast shape "
        f"{list(broadcast)}"
    )


def out_with_grad(operator: str) -> RuntimeError:
    """out= was given together with arguments that require grad."""
    return RuntimeError(
        f"{operator}(): functions with out=... arguments don't support automatic differentiation, "
        "but one of the arguments requires grad."
    )


def no_shared_event() -> NotImplementedError:
    """An event of a device was to be waited for by another process."""
    return NotImplementedError(
        "ipc_handle: events of CUDA are not shared between processes; synchronize() before you "
        "tell another process"
    )


def resize_of_grad() -> RuntimeError:
    """A tensor that requires grad was to be resized."""
    return RuntimeError("cannot resize variables that require grad")


def not_resizable() -> RuntimeError:
    """Memory of somebody else, such as an array, is too small."""
    return RuntimeError("Trying to resize storage that is not resizable")


def set_of_another_dtype(source: object, own: object) -> RuntimeError:
    """A tensor was to look into the memory of one of another dtype."""
    return RuntimeError(f"Could not set tensor of type {source} to a tensor of type {own}")


def python_write_to_grad(method: str) -> RuntimeError:
    """A Python function was to rewrite a tensor that requires grad."""
    return RuntimeError(
        f"Can't call {method}() on Variable that requires grad. Use var.detach().{method}() "
        "instead."
    )
