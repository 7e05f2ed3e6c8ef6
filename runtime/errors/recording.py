"""Errors of recording the graph: writes it forbids, saved tensors, custom Functions."""

from __future__ import annotations

_VIEW_CREATION = {
    "multi_output": (
        "This view is the output of a function that returns multiple views. Such functions do not "
        "allow the output views to be modified inplace: use an out-of-place operator, or clone."
    ),
    "custom_function": (
        "This view was created inside a custom Function (or because an input was returned as-is); "
        "a write to it would bypass the Function's backward: clone the Function's output."
    ),
    "no_grad": (
        "A view was created in no_grad mode and is being modified inplace with grad mode enabled. "
        "Given that this use case is ambiguous, it is forbidden: put both the view and the write "
        "inside no_grad, or both outside."
    ),
}


def forbidden_view_write(
    node_name: str | None, output_nr: int, creation: str, indirect: bool = False
) -> RuntimeError:
    """A view that must not be written to, nor its base, was; `creation` says why it must not."""
    if creation.startswith("no_grad"):
        text = _VIEW_CREATION["no_grad"]
        if indirect:
            text = text.replace("is being", "its base or another view of its base has been", 1)
        return RuntimeError(text)
    written = (
        "its base or another view of its base has been modified inplace"
        if indirect
        else "is being modified inplace"
    )
    return RuntimeError(
        f"Output {output_nr} of {node_name} is a view and {written}. {_VIEW_CREATION[creation]}"
    )


def inplace_on_leaf(what: str) -> RuntimeError:
    """`what` ("a leaf Variable", "a view of a leaf Variable") is written to while recording."""
    return RuntimeError(f"{what} that requires grad is being used in an in-place operation.")


def saved_tensor_modified(
    what: str, made_by: str, node_name: str, found: int, expected: int
) -> RuntimeError:
    """A tensor kept for backward was written to. what: its type and sizes; made_by: its origin."""
    return RuntimeError(
        "one of the variables needed for gradient computation has been modified by an inplace "
        f"operation: [{what}], which is {made_by}, is at version {found}; {node_name} expected "
        f"version {expected} instead. Hint: enable anomaly detection to find the forward "
        "operation, with autograd.set_detect_anomaly(True)."
    )


def saved_tensors_released() -> RuntimeError:
    """Backward runs over a part of the graph that has been used up."""
    return RuntimeError(
        "Trying to backward through the graph a second time (or directly access saved tensors "
        "after they have already been freed). Saved intermediate values of the graph are freed by "
        ".backward() and autograd.grad(): specify retain_graph=True in all calls but the last."
    )


def hooks_after_release() -> RuntimeError:
    """A saved tensor is given hooks when it is gone."""
    return RuntimeError(
        "Calling register_hooks on a saved tensor after it has been freed: backward lets go of "
        "what was saved. Give it hooks before, or give backward retain_graph=True"
    )


def hooks_of_none() -> RuntimeError:
    """Nothing was saved in this place."""
    return RuntimeError("Calling register_hooks on a saved tensor with value None is forbidden")


def hooks_registered_twice() -> RuntimeError:
    """There is one pair of hooks at a time."""
    return RuntimeError(
        "Calling register_hooks on a saved tensor whose hooks have already been set. "
        "There is one pair of hooks at a time"
    )


def pack_hook_wrote() -> RuntimeError:
    """A hook of saved tensors wrote to the tensor it was given."""
    return RuntimeError(
        "A saved tensor pack hook is modifying its input in place. Tensors provided as input to "
        "pack hook can not be modified by in-place operations."
    )


def unpack_hook_result(got: object) -> TypeError:
    """A hook of saved tensors gave something back that is no tensor."""
    return TypeError(
        f"Output of saved tensor unpack_hook expected to be a Tensor but got {type(got).__name__}"
    )


def saved_is_no_tensor(got: object) -> TypeError:
    """save_for_backward got something that is no tensor."""
    return TypeError(
        f"save_for_backward can only save variables, but got {type(got).__name__}; keep other "
        "values as attributes of ctx"
    )


def creator_is_grad_fn() -> AttributeError:
    """A tensor is asked for its history by the name of before 0.2."""
    return AttributeError("'Tensor' object has no attribute 'creator': it is called grad_fn now")


def instance_of_function(name: str) -> RuntimeError:
    """A custom Function is written as before release 0.4, and called through an instance."""
    return RuntimeError(
        f"Legacy autograd function with non-static forward method is deprecated: {name}()(x). "
        "Make forward and backward static methods that take a context, and call apply:\n"
        f"    class {name}(torch.autograd.Function):\n"
        "        @staticmethod\n"
        "        def forward(ctx, x): ...\n"
        "        @staticmethod\n"
        "        def backward(ctx, grad_output): ...\n"
        f"    y = {name}.apply(x)"
    )


def backward_and_vjp() -> RuntimeError:
    """A custom Function has both spellings of one method."""
    return RuntimeError(
        "Implementing both 'backward' and 'vjp' for a custom Function is not allowed. You should "
        "only implement one of them."
    )


def dirty_not_returned() -> RuntimeError:
    """A custom Function marked an argument as written to, and does not return it."""
    return RuntimeError(
        "Some elements marked as dirty during the forward method were not returned as output. The "
        "inputs that are modified inplace must all be outputs of the Function."
    )


def dirty_not_argument() -> RuntimeError:
    """A custom Function marked a tensor as written to that is none of its arguments."""
    return RuntimeError(
        "A tensor marked as dirty is not an input of the Function; mark only inputs with mark_dirty"
    )


def dirty_view_among_others() -> RuntimeError:
    """A custom Function writes to a view and has several results."""
    return RuntimeError(
        "If your Function modifies inplace an input that is a view of another tensor, it must "
        "return only that input: give it one output, or clone the view first."
    )
