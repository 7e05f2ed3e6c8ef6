"""`Function`: operators whose forward and backward users write in Python."""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.autograd import accumulate, anomaly, grad_mode, graph, hooks, saved
from torchgen_out._runtime.autograd.node import MultiOutputNode, Node, next_sequence_nr
from torchgen_out._runtime.core import batched, public, user_warnings
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import Tensor, alias

__all__ = [
    "BackwardFunction",
    "Function",
    "FunctionCtx",
    "FunctionMeta",
    "InplaceFunction",
    "once_differentiable",
]


class FunctionCtx:
    """What `forward` tells `backward`, and autograd: the `ctx` of both."""

    needs_input_grad: tuple[bool, ...] = ()
    """For each argument of forward, whether it requires grad."""

    materialize_grads = True
    to_save: Sequence[Tensor | None] | None = None
    dirty_tensors: tuple[Tensor, ...] = ()
    non_differentiable: tuple[Tensor, ...] = ()
    saved_for_forward: tuple[Tensor | None, ...] = ()
    _saved: Any = ()
    _node: Any = None

    def save_for_backward(self, *tensors: Tensor | None) -> None:
        """Keep arguments or results of forward for backward, as `saved_tensors`."""
        self.to_save = tensors

    def save_for_forward(self, *tensors: Tensor | None) -> None:
        """Keep tensors for forward mode."""
        self.saved_for_forward = tensors

    def mark_dirty(self, *tensors: Tensor) -> None:
        """Say which arguments forward has written to in place; it must return them too."""
        self.dirty_tensors = tensors
        for tensor in tensors:
            tensor._storage.version += 1

    def mark_non_differentiable(self, *tensors: Tensor) -> None:
        """Say which results have no gradient."""
        self.non_differentiable = tensors

    def set_materialize_grads(self, value: bool) -> None:
        """Say whether missing gradients reach backward as zeros (True, the default) or as None."""
        self.materialize_grads = value

    @property
    def saved_tensors(self) -> tuple[Any, ...]:
        """What `save_for_backward` kept.

        Raises: RuntimeError if the graph was used up, or a tensor written to since.
        """
        if self._saved is None:
            raise errors.saved_tensors_released()
        return tuple([saved.unpack(each, self._node) for each in self._saved])

    @property
    def saved_variables(self) -> tuple[Any, ...]:
        """The old name of `saved_tensors`."""
        return self.saved_tensors

    def _keep(self, node: BackwardFunction, results: Sequence[Any]) -> None:
        """Save what `save_for_backward` was given."""
        places = {id(result): nr for nr, result in enumerate(results)}
        kept = []
        for tensor in self.to_save or ():
            if tensor is not None and not isinstance(tensor, Tensor):
                raise errors.saved_is_no_tensor(tensor)
            nr = places.get(id(tensor))
            kept.append(saved.save(tensor) if nr is None else saved.save_result(tensor, nr))
        self._saved = tuple(kept)
        self._node = node
        self.to_save = None


class BackwardFunction(MultiOutputNode):
    """The node of a custom Function's call, and the `ctx` of its methods."""

    __slots__ = ("__dict__",)

    takes_undefined = True
    materializes = False
    _function: Any = None
    _is_argument: tuple[bool, ...]
    _saved: tuple[Any, ...] | None
    materialize_grads: bool

    def apply(self, *grads: Any) -> tuple[Any, ...]:
        if self.materialize_grads:
            grads = tuple(
                accumulate.zeros(*output) if grad is None and output is not None else grad
                for grad, output in zip(grads, self.outputs, strict=True)
            )
        returned = self._call_backward(grads)
        results = returned if isinstance(returned, tuple) else (returned,)
        return self._checked(results)

    def release(self) -> None:
        if self._saved:
            self._saved = None

    @property
    def _raw_saved_tensors(self) -> tuple[saved.SavedTensor, ...]:
        """What keeps each tensor that `save_for_backward` was given."""
        if self._saved is None:
            raise errors.saved_tensors_released()
        return tuple([saved.SavedTensor(self, "_saved", nr) for nr in range(len(self._saved))])

    def _call_backward(self, grads: tuple[Any, ...]) -> Any:
        function = self._function
        if function.backward is not Function.backward:
            if function.vjp is not Function.vjp:
                raise errors.backward_and_vjp()
            return function.backward(self, *grads)
        return function.vjp(self, *grads)

    def _checked(self, results: tuple[Any, ...]) -> tuple[Any, ...]:
        """The gradients of the arguments that are tensors."""
        expected = len(self._is_argument)
        if len(results) > expected and all(grad is None for grad in results[expected:]):
            results = results[:expected]
        if len(results) != expected:
            raise errors.gradient_count(self.name(), expected, len(results))
        for grad in results:
            if grad is not None and not isinstance(grad, Tensor):
                raise errors.not_a_gradient(grad)
        return tuple(
            grad for grad, is_tensor in zip(results, self._is_argument, strict=True) if is_tensor
        )


_SAMPLES = "torchgen_out._runtime.ops.composite.batched.functions"


class FunctionMeta(type):
    """Gives every Function its node class, named `<Function>Backward`."""

    def __init__(cls, name: str, bases: tuple[type, ...], attributes: dict[str, Any]) -> None:
        backward_class = type(
            name + "Backward", (BackwardFunction, FunctionCtx), {"_function": cls, "__slots__": ()}
        )
        cls._backward_cls = backward_class
        super().__init__(name, bases, attributes)


class Function(FunctionCtx, metaclass=FunctionMeta):
    """A differentiable operator written in Python.

    A subclass has static methods `forward(ctx, *args)` and `backward(ctx, *grads)`; or, without
    `ctx` in forward, also `setup_context(ctx, inputs, output)`. Backward returns one gradient (or
    None) per argument of forward. Called as `Subclass.apply(*args)`.

    **Example**

        class Exp(Function):
            @staticmethod
            def forward(ctx, x):
                result = x.exp()
                ctx.save_for_backward(result)
                return result

            @staticmethod
            def backward(ctx, grad):
                (result,) = ctx.saved_tensors
                return grad * result
    """

    generate_vmap_rule = False
    _backward_cls: Any

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        """Warn: an instance is of no use, since all methods are static."""
        user_warnings.warn(
            f"{self.__class__} should not be instantiated. Methods on autograd functions are all "
            "static, so you should invoke them on the class itself. Instantiating an autograd "
            "function will raise an error in a future version of PyTorch.",
            DeprecationWarning,
        )

    @staticmethod
    def forward(*args: Any, **kwargs: Any) -> Any:
        """Compute the results."""
        raise NotImplementedError(
            "You must implement the forward function for custom autograd.Function."
        )

    @staticmethod
    def setup_context(ctx: Any, inputs: tuple[Any, ...], output: Any) -> Any:
        """Fill `ctx` after a forward that does not take it."""
        raise NotImplementedError("setup_context is not implemented.")

    @staticmethod
    def backward(ctx: Any, *grad_outputs: Any) -> Any:
        """Return the gradients of forward's arguments."""
        raise NotImplementedError(
            "You must implement either the backward or vjp method for your custom "
            "autograd.Function to use it with backward mode AD."
        )

    vjp = backward

    @staticmethod
    def jvp(ctx: Any, *grad_inputs: Any) -> Any:
        """Return the derivative in a direction, for forward mode."""
        raise NotImplementedError(
            "You must implement the jvp function for custom autograd.Function to use it with "
            "forward mode AD."
        )

    @classmethod
    def apply(cls, *args: Any, **kwargs: Any) -> Any:
        """Call forward, and record the call if an argument requires grad.

        Inside `vmap` it is called for every sample, or `vmap(info, in_dims, *args)` of the class,
        if there is one, for all.
        """
        if any(map(batched.is_batched, args)):
            samples: Any = importlib.import_module(_SAMPLES)
            return samples.apply(cls, args, kwargs)
        node = cls._backward_cls()
        if cls.setup_context is Function.setup_context:
            return _record(node, functools.partial(cls.forward, node), args, kwargs)

        def forward(*args: Any, **kwargs: Any) -> Any:
            output = cls.forward(*args, **kwargs)
            cls.setup_context(node, args, output)
            return output

        return _record(node, forward, args, kwargs)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Refuse the form of before 0.4: an instance, whose methods take `self` as context."""
        raise errors.instance_of_function(type(self).__name__)


class InplaceFunction(Function):
    """A Function of before 0.4 that may work in place: kept for programs that derive from it."""

    def __init__(self, inplace: bool = False) -> None:
        super().__init__()
        self.inplace = inplace


# -- recording ----------------------------------------------------------------------------------


def _record(
    node: BackwardFunction,
    forward: Callable[..., Any],
    args: tuple[Any, ...],
    kwargs: dict[str, Any],
) -> Any:
    """Call `forward`, and make `node` the history of what it returns."""
    tensors = [arg for arg in args if isinstance(arg, Tensor)]
    edges = graph.gradient_edges(tensors)
    node.needs_input_grad = tuple(
        isinstance(arg, Tensor) and arg._key & keys.GRAD != 0 for arg in args
    )
    state = grad_mode.state
    recording = state.enabled and any(edge is not None for edge in edges)
    before, state.enabled = state.enabled, False
    try:
        output = forward(*args, **kwargs)
    finally:
        state.enabled = before
    results = list(output) if isinstance(output, tuple) else [output]
    if recording:
        node.edges = edges
        node.sequence_nr = next_sequence_nr()
        node.extras = hooks.SEVERAL_OUTPUTS
        node._is_argument = tuple(isinstance(arg, Tensor) for arg in args)
    results = _wrap(node, recording, results, tensors)
    if recording:
        if anomaly.is_on:
            anomaly.remember(node)
        node._keep(node, results)
    return tuple(results) if isinstance(output, tuple) else results[0]


def _wrap(ctx: Any, recording: bool, results: list[Any], tensors: Sequence[Tensor]) -> list[Any]:
    """The results as users see them, with `ctx` (if the call is recorded) as their history."""
    node = ctx if recording else None
    arguments = {id(tensor) for tensor in tensors}
    dirty = {id(tensor) for tensor in ctx.dirty_tensors}
    constant = {id(tensor) for tensor in ctx.non_differentiable}
    returned = {id(result) for result in results}
    if not dirty <= returned:
        raise errors.dirty_not_returned()
    if node is not None:
        node.num_outputs = len(results)
        node.outputs = tuple(
            (result._sizes, result._key) if isinstance(result, Tensor) else None
            for result in results
        )
    wrapped = []
    views = sum(isinstance(r, Tensor) and r._base is not None for r in results)
    for nr, result in enumerate(results):
        if isinstance(result, Tensor):
            is_constant = id(result) in constant or not graph.is_differentiable(result)
            if id(result) in dirty:
                result = _wrap_written(node, nr, result, id(result) in arguments)
            else:
                if id(result) in arguments:
                    result = _same_again(result)
                if node is not None and not is_constant:
                    result = _attach(node, nr, result, several_views=views and len(results) > 1)
        wrapped.append(result)
    return wrapped


def _wrap_written(
    node: BackwardFunction | None, nr: int, result: Tensor, is_argument: bool
) -> Tensor:
    """An argument that forward has written to."""
    if not is_argument:
        raise errors.dirty_not_argument()
    if node is None:
        return result
    graph.check_inplace(result)
    if result._base is not None and node.num_outputs > 1:
        raise errors.dirty_view_among_others()
    graph.rebase_history(result, node)
    node.extras = hooks.SEVERAL_OUTPUTS
    edge = result._edge
    if nr and edge is not None:
        result._edge = (node, nr, *edge[2:])
    return result


def _same_again(tensor: Tensor) -> Tensor:
    """An argument returned as it is: another tensor over the same data."""
    result = alias(tensor, tensor._sizes, tensor._strides, tensor._offset)
    graph.track_view(result, tensor, graph.CUSTOM_FUNCTION)
    return result


def _attach(node: BackwardFunction, nr: int, result: Tensor, several_views: Any) -> Tensor:
    if result._edge is not None or (result._key & keys.GRAD and result._base is None):
        result = alias(result, result._sizes, result._strides, result._offset)
    base = result._base
    version = None
    if base is not None:
        creation = graph.MULTI_OUTPUT if several_views else graph.CUSTOM_FUNCTION
        graph.track_view(result, base, creation)
        version = result._storage.version
    result._edge = (node, nr, result._sizes, result._key, version)
    result._key |= keys.GRAD
    return result


# -- once_differentiable ------------------------------------------------------------------------


class DelayedError(Node):
    """Stands for a gradient that cannot be differentiated again, and says so when asked to."""

    __slots__ = ("message",)
    message: str

    def apply(self, grad: Any) -> tuple[Any, ...]:
        raise RuntimeError(self.message)


def once_differentiable(function: Callable[..., Any]) -> Callable[..., Any]:
    """Decorate a backward that is not made of differentiable operators."""

    @functools.wraps(function)
    def backward(ctx: Any, *grads: Any) -> Any:
        with grad_mode.no_grad():
            returned = function(ctx, *grads)
        if not grad_mode.is_enabled():
            return returned
        if not any(isinstance(grad, Tensor) and grad._key & keys.GRAD for grad in grads):
            return returned
        results = returned if isinstance(returned, tuple) else (returned,)
        return tuple(_undifferentiable(result, grads) for result in results)

    return backward


def _undifferentiable(result: Any, grads: Sequence[Any]) -> Any:
    if not isinstance(result, Tensor):
        return result
    node = DelayedError()
    node.message = (
        "trying to differentiate twice a function that was marked with @once_differentiable"
    )
    node.edges = graph.gradient_edges([grad for grad in grads if isinstance(grad, Tensor)])
    copy = alias(result, result._sizes, result._strides, result._offset)
    graph.attach(copy, node)
    return copy


public.place_all("autograd.function", globals())
