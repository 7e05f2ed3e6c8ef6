"""Errors of asking for gradients: `backward`, `grad`, and what runs inside them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any


def nothing_to_differentiate(position: int) -> RuntimeError:
    """Backward is asked for a tensor outside autograd."""
    return RuntimeError(
        f"element {position} of tensors does not require grad and does not have a grad_fn"
    )


def gradient_not_needed() -> RuntimeError:
    """An input of `grad` does not require grad."""
    return RuntimeError("One of the differentiated Tensors does not require grad")


def unused_input(position: int) -> RuntimeError:
    """An input of `grad` cannot be reached from the outputs."""
    return RuntimeError(
        f"The differentiated Tensor at index {position} appears to not have been used in the "
        "graph. Set allow_unused=True if this is the desired behavior."
    )


def no_inputs() -> RuntimeError:
    """Backward is to accumulate into nothing."""
    return RuntimeError("`inputs` argument to `backward()` cannot be empty.")


def implicit_gradient(sizes: Sequence[int]) -> RuntimeError:
    """Backward of several elements was called without a gradient."""
    return RuntimeError(
        "grad can be implicitly created only for scalar outputs "
        f"(the output has shape {list(sizes)}: pass gradient=)"
    )


def implicit_gradient_complex(dtype: object) -> RuntimeError:
    """Backward of a complex number was called without a gradient."""
    return RuntimeError(
        f"grad can be implicitly created only for real scalar outputs but got {dtype!r}"
    )


def edge_needs_gradient() -> RuntimeError:
    """A place in the graph has no value from which a gradient could be made."""
    return RuntimeError(
        "grad can be implicitly created only for scalar outputs: pass a gradient for a GradientEdge"
    )


def edge_without_grad() -> RuntimeError:
    """A tensor outside autograd has no place in the graph."""
    return RuntimeError(
        "It is not possible to get the gradient edge of a Tensor that does not require gradients"
    )


def gradient_type(got: object) -> TypeError:
    """The gradient passed for an output is no tensor."""
    return TypeError(f"gradients can be either Tensors or None, but got {type(got).__name__}")


def gradient_shape(position: int, got: Sequence[int], expected: Sequence[int]) -> RuntimeError:
    """The gradient passed for an output has another shape."""
    return RuntimeError(
        f"Mismatch in shape: grad_output[{position}] has a shape of {got} and "
        f"output[{position}] has a shape of {expected}."
    )


def gradient_complexity(position: int, got: object, expected: object) -> RuntimeError:
    """The gradient passed for an output is complex, or the output is, and not both."""
    return RuntimeError(
        "For complex Tensors, both grad_output and output are required to have the same dtype. "
        f"Mismatch in dtype: grad_output[{position}] has a dtype of {got!r} and "
        f"output[{position}] has a dtype of {expected!r}."
    )


def gradients_counted(tensors: int, gradients: int) -> RuntimeError:
    """Backward got one gradient too many or too few."""
    return RuntimeError(f"got {tensors} tensors and {gradients} gradients")


def both_grad_arguments() -> RuntimeError:
    """Backward got the old and the new spelling of one argument."""
    return RuntimeError(
        "'grad_tensors' and 'grad_variables' (deprecated) arguments both passed to backward(). "
        "Use only 'grad_tensors'."
    )


def materialize_needs_unused() -> ValueError:
    """materialize_grads contradicts allow_unused=False."""
    return ValueError("Expected allow_unused to be True or not passed when materialize_grads=True")


def starts_counted(counts: Sequence[int]) -> RuntimeError:
    """Gradients with a dim of starts in front do not say how many there are, or disagree."""
    return RuntimeError(
        "grad(): with is_grads_batched=True all grad_outputs need a first dim of one size that is "
        f"not 0, got {list(counts)}"
    )


def invalid_gradient(
    node_name: str, position: int, got: Sequence[int], expected: Sequence[int]
) -> RuntimeError:
    """A node made a gradient of a shape that its input cannot have."""
    return RuntimeError(
        f"Function {node_name} returned an invalid gradient at index {position} - got "
        f"{list(got)} but expected shape compatible with {list(expected)}"
    )


def gradient_count(node_name: str, expected: int, got: int) -> RuntimeError:
    """A custom Function's backward returned too many or too few gradients."""
    return RuntimeError(
        f"function {node_name} returned an incorrect number of gradients "
        f"(expected {expected}, got {got})"
    )


def not_a_gradient(got: object) -> TypeError:
    """Something that is no tensor arrives as a gradient."""
    return TypeError(f"expected Tensor or None (got {type(got).__name__})")


def no_backward_runs() -> RuntimeError:
    """A callback for the end of backward is given while no backward runs."""
    return RuntimeError("Final callbacks can only be installed during backward pass.")


def not_differentiable(operator: str, operand: str) -> RuntimeError:
    """An operand requires grad that gets no gradient."""
    return RuntimeError(
        f"The function '{operator.lstrip('_')}' is not differentiable with respect to argument "
        f"'{operand}'. This input cannot have requires_grad True."
    )


def raise_not_differentiable(name: str) -> Any:
    """A gradient was asked for that derivatives.yaml says is not implemented."""
    raise NotImplementedError(
        f"the derivative for '{name}' is not implemented; it stands as not_implemented in "
        "derivatives.yaml"
    )


def gradient_device(node_name: str, position: int, got: object) -> RuntimeError:
    """A node made a gradient on another device than its input's."""
    return RuntimeError(
        f"Function {node_name} returned an invalid gradient at index {position} - expected the "
        f"device of its input but got {got}"
    )
