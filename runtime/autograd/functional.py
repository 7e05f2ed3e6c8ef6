"""Derivatives of functions: jacobian, hessian, and their products with vectors."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import api, grad_mode
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

__all__ = [
    "hessian",
    "hvp",
    "jacobian",
    "jvp",
    "vhp",
    "vjp",
]

Tensors = tuple[Tensor, ...]


def vjp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return `func(*inputs)`, and the product of `v` with its Jacobian.

    v: like the outputs; not needed for a single number. create_graph: keep the results
    differentiable. strict: refuse independent inputs instead of returning zeros.
    """
    with grad_mode.enable_grad():
        xs, single = _prepare(inputs, "vjp", create_graph)
        outputs, single_output = _called(func, xs, "vjp", strict)
        vs = _vector(v, outputs, single_output, "returns a single Tensor with a single element")
    with grad_mode.set_grad_enabled(create_graph or grad_mode.is_enabled()):
        found = _gradients(outputs, xs, vs, create_graph)
        products = _filled(found, xs, strict, create_graph, "vjp")
    return (
        _given_back(outputs, single_output, create_graph),
        _given_back(products, single, create_graph),
    )


def jvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return `func(*inputs)`, and the product of its Jacobian with `v`.

    Backward is linear in the gradient it starts from; backward of that map is this product.
    v: like the inputs; not needed for a single number.
    """
    with grad_mode.enable_grad():
        xs, single = _prepare(inputs, "jvp", create_graph)
        vs = _vector(v, xs, single, "has a single input with a single element")
        outputs, single_output = _called(func, xs, "jvp", strict)
        starts = tuple(ops.zeros_like(output).requires_grad_() for output in outputs)
        found = _gradients(outputs, xs, starts, True)
        linear = _filled(found, xs, strict, True, "jvp")
    with grad_mode.set_grad_enabled(create_graph or grad_mode.is_enabled()):
        if any(each.requires_grad for each in linear):
            back = _gradients(linear, starts, vs, create_graph)
        else:
            back = (None,) * len(starts)
        products = _filled(back, outputs, strict, create_graph, "jvp_back")
    return (
        _given_back(outputs, single_output, create_graph),
        _given_back(products, single_output, create_graph),
    )


def _check_strategy(strategy: str, create_graph: bool, strict: bool, vectorize: bool) -> None:
    if strategy != "forward-mode":
        raise AssertionError('Expected strategy to be either "forward-mode" or "reverse-mode".')
    refused = "`create_graph=True`" if create_graph else "`strict=True`" if strict else ""
    if refused:
        raise (NotImplementedError if create_graph else RuntimeError)(
            f"torch.autograd.functional.jacobian: {refused} and "
            '`strategy="forward-mode"` are not supported together (yet). Please choose '
            '`strategy="reverse-mode"`.'
        )
    if not vectorize:
        raise NotImplementedError(
            "Computing Jacobian using forward-AD or forward-over-reverse Hessian is only "
            "implemented for `vectorize=True`."
        )


def jacobian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    strategy: str = "reverse-mode",
) -> Any:
    """Return the Jacobian of `func` at `inputs`: per output and input a tensor of both shapes.

    Shape: (*output.shape, *input.shape). A tuple where there are several inputs or outputs.
    vectorize and strategy ('reverse-mode' or 'forward-mode') are accepted where PyTorch takes
    them, and change nothing.
    """
    if strategy != "reverse-mode":
        _check_strategy(strategy, create_graph, strict, vectorize)
    with grad_mode.enable_grad():
        xs, single = _prepare(inputs, "jacobian", create_graph)
        outputs, single_output = _called(func, xs, "jacobian", strict)
        blocks = []
        for nr, output in enumerate(outputs):
            rows: list[list[Tensor]] = [[] for _ in xs]
            for unit in _units(output):
                found = _gradients((output,), xs, (unit,), create_graph)
                what = f"Output {nr} of the user-provided function"
                filled = _filled(found, xs, strict, create_graph, what)
                for row, grad in zip(rows, filled, strict=True):
                    row.append(grad)
            blocks.append(tuple(_stacked(r, output, x) for r, x in zip(rows, xs, strict=True)))
    blocks = [_detached(block, create_graph) for block in blocks]
    by_output = tuple(block[0] if single else block for block in blocks)
    return by_output[0] if single_output else by_output


def hessian(
    func: Callable[..., Any],
    inputs: Any,
    create_graph: bool = False,
    strict: bool = False,
    vectorize: bool = False,
    outer_jacobian_strategy: str = "reverse-mode",
) -> Any:
    """Return the second derivatives of `func`, which returns one number.

    Shape: per pair of inputs (*first.shape, *second.shape).
    """
    single = isinstance(inputs, Tensor)

    def first_derivatives(*xs: Tensor) -> Any:
        found = jacobian(lambda *args: _one_number(func(*args), "hessian"), xs, True)
        if strict:
            _refuse_constant(found, "hessian")
        return found

    with grad_mode.enable_grad():
        found = jacobian(
            first_derivatives,
            (inputs,) if single else inputs,
            create_graph,
            strict,
            vectorize,
            outer_jacobian_strategy,
        )
    return found[0][0] if single else found


def vhp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return `func(*inputs)`, one number, and the product of `v` with its Hessian."""
    with grad_mode.enable_grad():
        xs, single = _prepare(inputs, "vhp", create_graph)
        vs = _vector(v, xs, single, "has a single input with a single element")
        outputs, single_output = _called(func, xs, "vhp", strict)
        _one_number(outputs[0], "vhp")
        slopes = _filled(_gradients(outputs, xs, None, True), xs, strict, True, "vhp")
    with grad_mode.set_grad_enabled(create_graph or grad_mode.is_enabled()):
        if any(slope.requires_grad for slope in slopes):
            found = _gradients(slopes, xs, vs, create_graph)
        else:
            found = (None,) * len(xs)
        products = _filled(found, xs, strict, create_graph, "vhp")
    return (
        _given_back(outputs, single_output, create_graph),
        _given_back(products, single, create_graph),
    )


def hvp(
    func: Callable[..., Any],
    inputs: Any,
    v: Any = None,
    create_graph: bool = False,
    strict: bool = False,
) -> tuple[Any, Any]:
    """Return `func(*inputs)`, one number, and the product of its Hessian with `v`.

    The Hessian is symmetric where second derivatives are continuous, so this is `vhp`.
    """
    return vhp(func, inputs, v, create_graph, strict)


# -- arguments and results ----------------------------------------------------------------------


def _prepare(inputs: Any, name: str, create_graph: bool) -> tuple[Tensors, bool]:
    """The inputs as leaves (or views, to keep the graph), and whether it was one."""
    given, single = _as_tuple(inputs, f"The inputs given to {name}", "the given inputs")
    if create_graph:
        return tuple(_on_the_graph(x) for x in given), single
    return tuple(x.detach().requires_grad_() for x in given), single


def _on_the_graph(x: Tensor) -> Tensor:
    return x.view_as(x) if x.requires_grad else x.detach().requires_grad_()


def _called(func: Callable[..., Any], xs: Tensors, name: str, strict: bool) -> tuple[Tensors, bool]:
    what = f"The outputs of the user-provided function given to {name}"
    outputs, single = _as_tuple(func(*xs), what, "the given outputs of the user-provided function")
    if strict:
        for nr, output in enumerate(outputs):
            if not output.requires_grad:
                raise RuntimeError(
                    f"Output {nr} of the user-provided function does not require gradients. The "
                    "outputs must be computed in a differentiable manner from the input when "
                    "running in strict mode."
                )
    return outputs, single


def _as_tuple(values: Any, what: str, short: str) -> tuple[Tensors, bool]:
    single = not isinstance(values, tuple)
    listed = (values,) if single else values
    for position, value in enumerate(listed):
        if not isinstance(value, Tensor):
            where = (
                f"has type {type(value)}"
                if single
                else f"at index {position} has type " + str(type(value))
            )
            raise TypeError(
                f"{what} must be either a Tensor or a tuple of Tensors but {short} {where}."
            )
    return listed, single


def _vector(v: Any, like: Tensors, single: bool, condition: str) -> Tensors:
    """The given vector, checked; ones for a single number."""
    if v is None:
        if len(like) != 1 or like[0].numel() != 1:
            raise RuntimeError(
                f"The vector v can only be None if the user-provided function {condition}."
            )
        return (ops.ones_like(like[0].detach()),)
    listed = (v,) if isinstance(v, Tensor) else tuple(v)
    if len(listed) != len(like):
        if single:
            raise RuntimeError("The given v should contain a single Tensor.")
        raise RuntimeError(
            f"v is a tuple of invalid length: should be {len(like)} but got {len(listed)}."
        )
    for each, x in zip(listed, like, strict=True):
        if each.shape != x.shape:
            raise RuntimeError(f"v has invalid size: should be {x.shape} but got {each.shape}.")
    return listed


def _units(output: Tensor) -> Iterator[Tensor]:
    """For each element of an output the gradient of it alone."""
    if output.requires_grad and output.dtype.is_complex:
        raise errors.implicit_gradient_complex(output.dtype)
    count, one = output.numel(), output.detach().new_ones((1,))
    for place in range(count):
        yield ops._put_slice(one, (count,), 0, place).reshape(output.shape)


def _gradients(
    outputs: Sequence[Tensor], xs: Sequence[Tensor], vs: Any, create_graph: bool
) -> tuple[Any, ...]:
    """Gradients where there are any; None for what does not depend."""
    kept = [i for i, output in enumerate(outputs) if output.requires_grad]
    if not kept:
        return (None,) * len(xs)
    return api.grad(
        [outputs[i] for i in kept],
        xs,
        None if vs is None else [vs[i] for i in kept],
        retain_graph=True,
        create_graph=create_graph,
        allow_unused=True,
    )


def _filled(
    grads: Sequence[Tensor | None], like: Tensors, strict: bool, create_graph: bool, what: str
) -> Tensors:
    """The gradients, with zeros where there is none (strict: an error)."""
    filled = []
    for position, (grad, x) in enumerate(zip(grads, like, strict=True)):
        if grad is None:
            if strict:
                raise RuntimeError(
                    f"{what} is independent of input {position}. This is not allowed in strict "
                    "mode."
                )
            grad = ops.zeros_like(x.detach())
        elif strict and create_graph and not grad.requires_grad:
            raise RuntimeError(
                f"The gradient of {what} is independent of input {position}. This is not allowed "
                "in strict mode when create_graph=True."
            )
        filled.append(grad)
    return tuple(filled)


def _one_number(result: Any, name: str) -> Tensor:
    if not isinstance(result, Tensor):
        raise RuntimeError(f"The function given to {name} should return a single Tensor")
    if result.numel() != 1:
        raise RuntimeError(
            f"The Tensor returned by the function given to {name} should contain a single element"
        )
    return result.reshape(())


def _refuse_constant(derivatives: Any, name: str) -> None:
    for position, each in enumerate(derivatives):
        if not each.requires_grad:
            raise RuntimeError(
                f"While computing the {name}, found that the jacobian of the user-provided "
                f"function with respect to input {position} is independent of the input. This is "
                "not allowed in strict mode."
            )


def _stacked(rows: Sequence[Tensor], output: Tensor, x: Tensor) -> Tensor:
    shape = (*output.shape, *x.shape)
    return ops.stack(list(rows)).reshape(shape) if rows else x.detach().new_zeros(shape)


def _detached(tensors: Tensors, create_graph: bool) -> Tensors:
    return tensors if create_graph else tuple(tensor.detach() for tensor in tensors)


def _given_back(tensors: Tensors, single: bool, create_graph: bool) -> Any:
    kept = _detached(tensors, create_graph)
    return kept[0] if single else kept
