"""Functions and modules whose forward and backward passes are replayed from CUDA graphs."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from torchgen_out._runtime.autograd import api, function, grad_mode
from torchgen_out._runtime.backends.cuda import current, graphs, streams
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import ops

WARM_UPS = 3
"""Passes before capture, in which kernels are compiled and libraries choose algorithms."""


def make_graphed_callables(
    callables: Any,
    sample_args: Sequence[Any],
    num_warmup_iters: int = WARM_UPS,
    allow_unused_input: bool = False,
    pool: graphs.Pool | None = None,
) -> Any:
    """Return callables that replay graphs in place of their work; a module is changed and returned.

    callables: one, or a tuple of them in the order in which they will run. sample_args: for each,
    tensors of the shapes, dtypes and requires_grad of all calls to come. Results are valid until
    the next call.

    **Raises** ValueError if an argument is no tensor.
    """
    is_one = not isinstance(callables, tuple)
    each = (callables,) if is_one else callables
    samples = (tuple(sample_args),) if is_one else tuple(sample_args)
    pool = graphs.graph_pool_handle() if pool is None else pool
    passes = [
        Passes(call, args, num_warmup_iters, allow_unused_input, pool)
        for call, args in zip(each, samples, strict=True)
    ]
    for one in passes:
        one.capture_forward()
    for one in reversed(passes):  # in which order their memory is needed
        one.capture_backward()
    graphed = tuple([one.replaced() for one in passes])
    return graphed[0] if is_one else graphed


class Passes:
    """The two graphs of one callable, and the tensors that they read and write."""

    def __init__(
        self,
        call: Callable[..., Any],
        args: tuple[Any, ...],
        warm_ups: int,
        allow_unused: bool,
        pool: graphs.Pool,
    ) -> None:
        if not all(isinstance(arg, Tensor) for arg in args):
            raise ValueError("In the beta API, sample_args for each callable must contain Tensors.")
        self.call, self.args, self.pool, self.allow_unused = call, args, pool, allow_unused
        parameters = getattr(call, "parameters", None)
        self.parameters = tuple(parameters()) if parameters is not None else ()
        self.leaves = [leaf for leaf in (*args, *self.parameters) if leaf.requires_grad]
        self.forward, self.backward = graphs.CUDAGraph(), graphs.CUDAGraph()
        self._warm_up(warm_ups)

    def _warm_up(self, times: int) -> None:
        current.synchronize()
        with streams.stream(streams.Stream()):
            for _ in range(times):
                outputs = self._outputs(self.call(*self.args))
                self._gradients(outputs, [ops.empty_like(each) for each in outputs])
        current.synchronize()

    def _outputs(self, results: Any) -> tuple[Tensor, ...]:
        self.is_one = isinstance(results, Tensor)
        return (results,) if self.is_one else tuple(results)

    def _gradients(self, outputs: Sequence[Tensor], grads: Sequence[Tensor]) -> Sequence[Any]:
        wanted = [
            (out, grad) for out, grad in zip(outputs, grads, strict=True) if out.requires_grad
        ]
        if not wanted or not self.leaves:
            return ()
        differentiated, given = zip(*wanted, strict=True)
        return api.grad(differentiated, self.leaves, given, allow_unused=self.allow_unused)

    def capture_forward(self) -> None:
        """Write down the forward pass."""
        with graphs.graph(self.forward, self.pool):
            self.outputs = self._outputs(self.call(*self.args))

    def capture_backward(self) -> None:
        """Write down the backward pass, from gradients that a call will fill in."""
        self.grad_outputs = [ops.empty_like(each) for each in self.outputs]
        with graphs.graph(self.backward, self.pool):
            found = iter(self._gradients(self.outputs, self.grad_outputs))
        self.grad_inputs = [
            next(found, None) if leaf.requires_grad else None
            for leaf in (*self.args, *self.parameters)
        ]

    def run_forward(self, inputs: Sequence[Tensor]) -> tuple[Tensor, ...]:
        """Copy the inputs to where the graph reads them, and replay it."""
        with grad_mode.no_grad():
            for own, given in zip(self.args, inputs, strict=False):
                if own.data_ptr() != given.data_ptr():
                    own.copy_(given)
        self.forward.replay()
        return tuple([each.detach() for each in self.outputs])

    def run_backward(self, grads: Sequence[Tensor | None]) -> tuple[Tensor | None, ...]:
        """Copy the gradients to where the graph reads them, and replay it."""
        for own, given in zip(self.grad_outputs, grads, strict=True):
            if given is None:
                own.zero_()
            elif own.data_ptr() != given.data_ptr():
                own.copy_(given)
        self.backward.replay()
        return tuple([None if each is None else each.detach() for each in self.grad_inputs])

    def replaced(self) -> Any:
        """The callable, or the module in whose training state it was captured."""
        graphed = _function(self)
        if not self.parameters and not hasattr(self.call, "train"):
            return graphed
        module: Any = self.call
        plain, was_training = module.forward, module.training
        module.forward = lambda *args: (
            graphed(*args) if module.training == was_training else plain(*args)
        )
        return module


def _function(passes: Passes) -> Callable[..., Any]:
    """A function with a gradient, both of them replays."""

    class Graphed(function.Function):
        @staticmethod
        def forward(ctx: Any, *inputs: Tensor) -> tuple[Tensor, ...]:
            return passes.run_forward(inputs)

        @staticmethod
        @function.once_differentiable
        def backward(ctx: Any, *grads: Tensor | None) -> tuple[Tensor | None, ...]:
            return passes.run_backward(grads)

    def graphed(*args: Tensor) -> Any:
        results = Graphed.apply(*args, *passes.parameters)
        return results[0] if passes.is_one else results

    return graphed
