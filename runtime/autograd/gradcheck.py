"""Comparing gradients with finite differences: `gradcheck`, and `gradgradcheck` for second ones.

For complex numbers a gradient is, as everywhere here, dL/dRe(x) + i dL/dIm(x) of a real L. So an
output's real and imaginary part are two functions, and an input is moved in two directions.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.autograd import api, engine, graph
from torchgen_out._runtime.autograd.sparse.checking import over_values
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor, from_array
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import ops

__all__ = [
    "GradcheckError",
    "gradcheck",
    "gradgradcheck",
]

Jacobian = Any
"""An ndarray: for each part of each output element (rows) the gradient of the input (columns)."""


class GradcheckError(RuntimeError):
    """A gradient is wrong, or cannot be checked."""


def gradcheck(
    func: Callable[..., Any],
    inputs: Any,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_batched_forward_grad: bool = False,
    check_forward_ad: bool = False,
    check_backward_ad: bool = True,
    fast_mode: bool = False,
    masked: bool | None = None,
) -> bool:
    """Compare the gradients of `func` at `inputs` with finite differences of step `eps`.

    Inputs that require grad should be float64 or complex128. nondet_tol: how much two runs of
    backward may differ. check_undefined_grad: also run backward without gradients. masked: whether
    only the entries of sparse inputs vary, not all of their elements.
    Raises: GradcheckError naming output and input; with raise_exception=False, returns False.
    """
    _refuse(
        check_batched_grad=check_batched_grad,
        check_batched_forward_grad=check_batched_forward_grad,
        check_forward_ad=check_forward_ad,
        fast_mode=fast_mode,
    )
    func, inputs = over_values(func, _listed(inputs), bool(masked))
    try:
        _check(func, inputs, eps, atol, rtol, nondet_tol, check_grad_dtypes, check_undefined_grad)
    except GradcheckError:
        if raise_exception:
            raise
        return False
    return True


def gradgradcheck(
    func: Callable[..., Any],
    inputs: Any,
    grad_outputs: Any = None,
    *,
    eps: float = 1e-6,
    atol: float = 1e-5,
    rtol: float = 1e-3,
    gen_non_contig_grad_outputs: bool = False,
    raise_exception: bool = True,
    nondet_tol: float = 0.0,
    check_undefined_grad: bool = True,
    check_grad_dtypes: bool = False,
    check_batched_grad: bool = False,
    check_fwd_over_rev: bool = False,
    check_rev_over_rev: bool = True,
    fast_mode: bool = False,
    masked: bool = False,
) -> bool:
    """Compare the gradients of the gradients of `func` with finite differences.

    grad_outputs: the gradients arriving at the outputs; random ones unless given.
    """
    _refuse(check_fwd_over_rev=check_fwd_over_rev)
    func, inputs = over_values(func, _listed(inputs), masked)
    outputs = _differentiable(func(*inputs))
    if grad_outputs is None:
        grads = tuple(_random_like(output, gen_non_contig_grad_outputs) for output in outputs)
    else:
        grads = _listed(grad_outputs)
    count = len(grads)

    def gradients(*args: Any) -> tuple[Any, ...]:
        arguments, arriving = args[: len(args) - count], args[len(args) - count :]
        wanted = [x for x in arguments if isinstance(x, Tensor) and x.requires_grad]
        results = _differentiable(func(*arguments))
        found = api.grad(results, wanted, arriving, create_graph=True, allow_unused=True)
        return tuple(each for each in found if each is not None)

    return gradcheck(
        gradients,
        inputs + grads,
        eps=eps,
        atol=atol,
        rtol=rtol,
        raise_exception=raise_exception,
        nondet_tol=nondet_tol,
        check_undefined_grad=check_undefined_grad,
        check_grad_dtypes=check_grad_dtypes,
        check_batched_grad=check_batched_grad,
        fast_mode=fast_mode,
    )


# -- the check ----------------------------------------------------------------------------------


def _check(
    func: Callable[..., Any],
    inputs: tuple[Any, ...],
    eps: float,
    atol: float,
    rtol: float,
    nondet_tol: float,
    check_grad_dtypes: bool,
    check_undefined_grad: bool,
) -> None:
    moved = _inputs_to_move(inputs)
    outputs = _differentiable(func(*inputs))
    numerical = [numerical_jacobians(func, inputs, x, eps) for x in moved]
    if not outputs:
        _check_constant(numerical, atol)
        return
    for o, output in enumerate(outputs):
        analytical = analytical_jacobians(output, moved, check_grad_dtypes)
        again = analytical_jacobians(output, moved, check_grad_dtypes)
        for i, (found, repeated) in enumerate(zip(analytical, again, strict=True)):
            expected = numerical[i][o]
            if not _close(found, expected, rtol, atol):
                raise GradcheckError(_mismatch(o, i, expected, found))
            if not _close(found, repeated, 0.0, nondet_tol):
                raise GradcheckError(
                    "Backward is not reentrant, i.e., running backward with same input and "
                    "grad_output multiple times gives different values, although analytical "
                    "gradient matches numerical gradient. The tolerance for nondeterminism was "
                    f"{nondet_tol}."
                )
    if check_undefined_grad:
        _check_undefined(func, inputs, moved)


def _inputs_to_move(inputs: Sequence[Any]) -> list[Tensor]:
    """The inputs that require grad.

    Raises: GradcheckError if there is none, ValueError for one with elements that share memory.
    """
    moved = []
    for position, x in enumerate(inputs):
        if not isinstance(x, Tensor) or not x.requires_grad:
            continue
        if x.dtype not in (dtypes.float64, dtypes.complex128):
            warn(
                f"Input #{position} requires gradient and is not a double precision floating "
                "point or complex. This check will likely fail if all the inputs are not of "
                "double precision floating point or complex. ",
            )
        if any(stride == 0 and size > 1 for stride, size in zip(x.stride(), x.shape, strict=True)):
            raise RuntimeError(
                f"The {position}th input has a dimension with stride 0. gradcheck only supports "
                "inputs that are non-overlapping to be able to compute the numerical gradients "
                "correctly. You should call .contiguous on the input before passing it to "
                "gradcheck."
            )
        x.retain_grad()
        moved.append(x)
    if not moved:
        raise ValueError(
            "gradcheck expects at least one input tensor to require gradient, but none of the "
            "them have requires_grad=True."
        )
    return moved


def _check_constant(numerical: Sequence[Sequence[Jacobian]], atol: float) -> None:
    """A function without gradient must not depend on its inputs."""
    for jacobians in numerical:
        if any(not _close(each, np.zeros_like(each), 0.0, atol) for each in jacobians):
            raise GradcheckError("Numerical gradient for function expected to be zero")


def _check_undefined(
    func: Callable[..., Any], inputs: Sequence[Any], moved: Sequence[Tensor]
) -> None:
    """Backward must cope with outputs that have no gradient: all of them, and each alone."""
    outputs = _differentiable(func(*inputs))
    missing: list[tuple[int, ...]] = [tuple(range(len(outputs)))]
    if len(outputs) > 1:
        missing += [(position,) for position in range(len(outputs))]
    targets: list[Any] = [graph.gradient_edge(x) for x in moved]
    for positions in missing:
        outputs = _differentiable(func(*inputs))
        roots: list[Any] = [graph.gradient_edge(output) for output in outputs]
        grads = [None if i in positions else ops.zeros_like(x) for i, x in enumerate(outputs)]
        try:
            found = engine.run_backward(roots, grads, True, False, targets, False)
        except (RuntimeError, TypeError, AttributeError) as error:
            raise GradcheckError(
                "Expected backward function to handle undefined output grads. Please look at "
                f"the formulas in derivatives.yaml. Error: {error}"
            ) from error
        for grad in found or ():
            if grad is not None and np.any(_array(grad) != 0):
                raise GradcheckError(
                    "Expected all input grads to be undefined or zero when all output grads are "
                    "undefined or zero."
                )


# -- jacobians ----------------------------------------------------------------------------------


def numerical_jacobians(
    func: Callable[..., Any], inputs: Sequence[Any], moved: Tensor, eps: float
) -> list[Jacobian]:
    """One Jacobian per differentiable output (per output, if none is), by central differences."""
    columns: list[list[Any]] = []
    for direction in (1, 1j) if moved.dtype.is_complex else (1,):
        for place in np.ndindex(*moved.shape):
            above, below = (
                _outputs_at(func, inputs, moved, place, sign * eps * direction) for sign in (1, -1)
            )
            columns.append([_parts((a - b) / (2 * eps)) for a, b in zip(above, below, strict=True)])
    if not columns:
        outputs = _outputs(func(*inputs))
        return [np.zeros((_parts(_array(output)).size, 0)) for output in outputs]
    jacobians = [np.stack(each, axis=1) for each in zip(*columns, strict=True)]
    if moved.dtype.is_complex:
        half = moved.numel()
        return [each[:, :half] + 1j * each[:, half:] for each in jacobians]
    return jacobians


def analytical_jacobians(
    output: Tensor, inputs: Sequence[Tensor], check_grad_dtypes: bool = False
) -> list[Jacobian]:
    """One Jacobian of `output` per input, by backward."""
    rows: list[list[Any]] = [[] for _ in inputs]
    for part in (1, 1j) if output.dtype.is_complex else (1,):
        for place in np.ndindex(*output.shape):
            arriving = np.zeros(tuple(output.shape), output.dtype.numpy)
            arriving[place] = part
            gradient = from_array(arriving, output.dtype).to(output.device)
            found = api.grad(output, inputs, gradient, retain_graph=True, allow_unused=True)
            for row, x, grad in zip(rows, inputs, found, strict=True):
                row.append(_row(x, grad, check_grad_dtypes))
    return [
        np.stack(row) if row else np.zeros((0, x.numel()))
        for row, x in zip(rows, inputs, strict=True)
    ]


def _row(x: Tensor, grad: Tensor | None, check_grad_dtypes: bool) -> Any:
    """A gradient as a row of a Jacobian."""
    if grad is None:
        return np.zeros(x.numel(), x.dtype.numpy)
    if grad.shape != x.shape:
        raise GradcheckError("Analytical gradient has incorrect size")
    if check_grad_dtypes and grad.dtype is not x.dtype:
        raise GradcheckError("Analytical gradient has dtype mismatch")
    return _array(grad).reshape(-1)


def _outputs_at(
    func: Callable[..., Any],
    inputs: Sequence[Any],
    moved: Tensor,
    place: tuple[int, ...],
    step: complex,
) -> list[Any]:
    """The outputs with one element of one input moved by `step`."""
    data = moved.data
    before = data[place].clone()
    data[place] = before + step
    try:
        return [_array(output).copy() for output in _outputs(func(*inputs))]
    finally:
        data[place] = before


def _parts(values: Any) -> Any:
    """The real parts of all elements, then, of complex ones, the imaginary parts."""
    values = values.reshape(-1)
    return np.concatenate([values.real, values.imag]) if np.iscomplexobj(values) else values


# -- inputs and outputs -------------------------------------------------------------------------


def _listed(values: Any) -> tuple[Any, ...]:
    return (values,) if isinstance(values, Tensor) else tuple(values)


def _tensors(result: Any) -> Iterator[Tensor]:
    return (each for each in _listed(result) if isinstance(each, Tensor))


def _differentiable(result: Any) -> tuple[Tensor, ...]:
    return tuple(each for each in _tensors(result) if each.requires_grad)


def _outputs(result: Any) -> tuple[Tensor, ...]:
    """The differentiable outputs; all floating-point ones if there is none."""
    found = _differentiable(result)
    return found or tuple(each for each in _tensors(result) if graph.is_differentiable(each))


def _array(tensor: Tensor) -> Any:
    """The elements as an ndarray on the host."""
    return tensor.detach().cpu()._array()


def _random_like(tensor: Tensor, strided: bool) -> Tensor:
    """A random gradient for an output, between -1 and 1; strided: not contiguous."""
    generator = np.random.default_rng(0)
    shape = tuple(tensor.shape) + ((2,) if strided else ())
    values = generator.uniform(-1, 1, shape)
    if tensor.dtype.is_complex:
        values = values + 1j * generator.uniform(-1, 1, shape)
    made: Tensor = from_array(values.astype(tensor.dtype.numpy), tensor.dtype).to(tensor.device)
    if strided:
        made = made.select(-1, 0)
    return made.detach().requires_grad_()


def _close(a: Jacobian, b: Jacobian, rtol: float, atol: float) -> bool:
    return a.shape == b.shape and bool(np.allclose(a, b, rtol=rtol, atol=atol, equal_nan=True))


def _mismatch(output: int, position: int, numerical: Jacobian, analytical: Jacobian) -> str:
    return (
        f"Jacobian mismatch for output {output} with respect to input {position},\n"
        f"numerical:{numerical.T}\nanalytical:{analytical.T}\n"
    )


def _refuse(**options: bool) -> None:
    """Options that this library does not have."""
    for name, value in options.items():
        if value:
            raise NotImplementedError(f"gradcheck(): {name}=True is not supported")


public.place("autograd", GradcheckError)
