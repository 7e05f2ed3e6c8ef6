"""Errors of a tensor's autograd members: requires_grad, .grad, .data and hooks."""

from __future__ import annotations

from collections.abc import Sequence


def requires_grad_dtype(dtype: object) -> RuntimeError:
    """An integer or boolean tensor is to require grad."""
    return RuntimeError(
        f"only Tensors of floating point and complex dtype can require gradients, got {dtype!r}"
    )


def requires_grad_of_non_leaf() -> RuntimeError:
    """requires_grad of a computed tensor is to be switched off."""
    return RuntimeError(
        "you can only change requires_grad flags of leaf variables. To use a computed variable "
        "in a subgraph that doesn't require differentiation use var_no_grad = var.detach()."
    )


def retain_without_grad() -> RuntimeError:
    """A gradient is to be kept that will not come."""
    return RuntimeError("can't retain_grad on Tensor that has requires_grad=False")


def assigned_grad_type(got: object) -> TypeError:
    """Something that is no tensor is assigned to .grad."""
    return TypeError(
        f"assigned grad expected to be a Tensor or None but got grad of type {type(got).__name__}"
    )


def own_grad() -> RuntimeError:
    """A tensor is assigned to its own .grad."""
    return RuntimeError("can't assign Variable as its own grad")


def assigned_grad_size(got: Sequence[int], expected: Sequence[int]) -> RuntimeError:
    """A gradient of another shape is assigned to .grad."""
    return RuntimeError(
        f"attempting to assign a gradient of size '{list(got)}' to a tensor of size "
        f"'{list(expected)}'. Please ensure that the gradient and the tensor are the same size"
    )


def assigned_grad_dtype(got: object, expected: object) -> RuntimeError:
    """A gradient of another dtype is assigned to .grad."""
    return RuntimeError(
        f"attempting to assign a gradient with dtype '{got!r}' to a tensor with dtype "
        f"'{expected!r}'. The gradient must match the tensor's dtype"
    )


def assigned_grad_device(got: object, expected: object) -> RuntimeError:
    """A gradient on another device is assigned to .grad."""
    return RuntimeError(
        f"attempting to assign a gradient located on device '{got}' to a tensor located on "
        f"device '{expected}'. Please ensure that the gradient and the tensor are on the same "
        "device"
    )


def data_type(got: object) -> TypeError:
    """Something that is no tensor is assigned to .data."""
    return TypeError(f"Variable data has to be a tensor, but got {type(got).__name__}")


def hook_without_grad() -> RuntimeError:
    """A hook is registered where no gradient will come."""
    return RuntimeError("cannot register a hook on a tensor that doesn't require gradient")


def post_hook_on_non_leaf() -> RuntimeError:
    """A hook for after accumulation is registered where nothing accumulates."""
    return RuntimeError("post accumulate grad hooks cannot be registered on non-leaf tensors")


def hook_result(got: object) -> TypeError:
    """A tensor's hook returned something that is no tensor."""
    return TypeError(f"expected Tensor, but hook returned '{type(got).__name__}'")


def hook_size(hook: object, got: Sequence[int], expected: Sequence[int]) -> RuntimeError:
    """A tensor's hook returned a gradient of another shape."""
    name = getattr(hook, "__name__", type(hook).__name__)
    return RuntimeError(
        f"hook '{name}' has changed the size of value (from {list(expected)} to {list(got)})"
    )


def hook_count(expected: int, got: int) -> RuntimeError:
    """A node's hook returned too many or too few gradients."""
    return RuntimeError(
        f"hook has returned an incorrect number of values (got {got}, but expected {expected})"
    )


def deepcopy_of_non_leaf() -> RuntimeError:
    """A computed tensor cannot be copied together with its graph."""
    return RuntimeError(
        "Only Tensors created explicitly by the user (graph leaves) support the deepcopy protocol "
        "at the moment. Use .detach().clone() for a computed tensor."
    )
