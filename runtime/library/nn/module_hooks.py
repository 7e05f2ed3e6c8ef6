"""The part of `Module` that runs hooks before and after `forward` and around its backward."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.autograd.function import Function
from torchgen_out._runtime.autograd.hooks import RemovableHandle
from torchgen_out._runtime.core import user_warnings
from torchgen_out._runtime.library.nn import global_hooks, last_operator

_TABLES = (
    "_backward_pre_hooks",
    "_backward_hooks",
    "_forward_hooks",
    "_forward_hooks_with_kwargs",
    "_forward_hooks_always_called",
    "_forward_pre_hooks",
    "_forward_pre_hooks_with_kwargs",
    "_state_dict_hooks",
    "_state_dict_pre_hooks",
    "_load_state_dict_pre_hooks",
    "_load_state_dict_post_hooks",
)


class Hooks:
    """Hooks of one module; each is kept under the number of its handle."""

    forward: Callable[..., Any]
    _forward_pre_hooks: OrderedDict[int, Any]
    _forward_pre_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks: OrderedDict[int, Any]
    _forward_hooks_with_kwargs: OrderedDict[int, bool]
    _forward_hooks_always_called: OrderedDict[int, bool]
    _backward_hooks: OrderedDict[int, Any]
    _backward_pre_hooks: OrderedDict[int, Any]
    _is_full_backward_hook: bool | None = None
    """Which kind the backward hooks are, once there is one: a module has one kind only."""

    def _init_hooks(self) -> None:
        for table in _TABLES:
            self.__dict__[table] = OrderedDict()

    def _complete_hooks(self) -> None:
        """Add the tables that a module pickled by an older version lacks."""
        for table in _TABLES:
            self.__dict__.setdefault(table, OrderedDict())

    # -- registering ------------------------------------------------------------------------

    def register_forward_pre_hook(
        self, hook: Callable[..., Any], *, prepend: bool = False, with_kwargs: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, args)` before `forward`; what it returns replaces the arguments.

        With `with_kwargs` it is called as `hook(module, args, kwargs)` and returns both.
        """
        marks = [self._forward_pre_hooks_with_kwargs] if with_kwargs else []
        return _register(self._forward_pre_hooks, marks, hook, prepend)

    def register_forward_hook(
        self,
        hook: Callable[..., Any],
        *,
        prepend: bool = False,
        with_kwargs: bool = False,
        always_call: bool = False,
    ) -> RemovableHandle:
        """Call `hook(module, args, output)` after `forward`; what it returns replaces the output.

        With `with_kwargs` it is called as `hook(module, args, kwargs, output)`; with `always_call`
        also after an exception.
        """
        marks = [self._forward_hooks_with_kwargs] if with_kwargs else []
        if always_call:
            marks.append(self._forward_hooks_always_called)
        return _register(self._forward_hooks, marks, hook, prepend)

    def register_full_backward_pre_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_output)` once the gradients of the outputs are known.

        What it returns replaces them.
        """
        return _register(self._backward_pre_hooks, [], hook, prepend)

    def register_full_backward_hook(
        self, hook: Callable[..., Any], prepend: bool = False
    ) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` once the gradients of the inputs are known.

        What it returns replaces `grad_input`.

        **Raises** RuntimeError if the module has hooks of `register_backward_hook`.
        """
        self._is_full_backward_hook = global_hooks.one_kind(self._is_full_backward_hook, True)
        return _register(self._backward_hooks, [], hook, prepend)

    def register_backward_hook(self, hook: Callable[..., Any]) -> RemovableHandle:
        """Call `hook(module, grad_input, grad_output)` after the last operator of `forward` only.

        It sees the gradients of that operator's operands, not of the module's: deprecated, use
        `register_full_backward_hook`.

        **Raises** RuntimeError if the module has hooks of that kind.
        """
        self._is_full_backward_hook = global_hooks.one_kind(self._is_full_backward_hook, False)
        return _register(self._backward_hooks, [], hook, False)

    # -- calling ----------------------------------------------------------------------------

    def _call_with_hooks(self, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        called: set[int] = set()
        output = None
        try:
            args, kwargs = self._run_pre_hooks(args, kwargs)
            gate: _BackwardGate | None = None
            last: list[Any] = []
            if self._backward_hooks or self._backward_pre_hooks or global_hooks.active:
                full, last = self._get_backward_hooks()
                pre = [*global_hooks.backward_pre.values(), *self._backward_pre_hooks.values()]
                if full or pre:
                    gate = _BackwardGate(self, full, pre)
                    args = gate.watch_inputs(args)
            output = self.forward(*args, **kwargs)
            output = self._run_forward_hooks(args, kwargs, output, called)
            output = output if gate is None else gate.watch_outputs(output)
            if last:
                last_operator.watch(self, last, args, output)
            return output
        except BaseException:
            always_called = {
                *self._forward_hooks_always_called,
                *global_hooks.forward_always_called,
            }
            for number, hook in [*global_hooks.forward.items(), *self._forward_hooks.items()]:
                if number in always_called and number not in called:
                    self._call_forward_hook(number, hook, args, kwargs, output)
            raise

    def _get_backward_hooks(self) -> tuple[list[Any], list[Any]]:
        """The backward hooks of this call: around the module, and after its last operator."""
        kinds: tuple[list[Any], list[Any]] = ([], [])
        for table, is_full in (
            (global_hooks.backward, global_hooks.kind["is_full"]),
            (self._backward_hooks, self._is_full_backward_hook),
        ):
            kinds[is_full is False].extend(table.values())
        return kinds

    def _run_pre_hooks(
        self, args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> tuple[tuple[Any, ...], dict[str, Any]]:
        hooks = [*global_hooks.forward_pre.items(), *self._forward_pre_hooks.items()]
        for number, hook in hooks:
            if number in self._forward_pre_hooks_with_kwargs:
                replaced = hook(self, args, kwargs)
                if replaced is not None:
                    if not (isinstance(replaced, tuple) and len(replaced) == 2):
                        raise RuntimeError(
                            "forward pre-hook must return None or a tuple of (new_args, "
                            f"new_kwargs), but got {replaced}."
                        )
                    args, kwargs = replaced
            else:
                replaced = hook(self, args)
                if replaced is not None:
                    args = replaced if isinstance(replaced, tuple) else (replaced,)
        return args, kwargs

    def _run_forward_hooks(
        self, args: tuple[Any, ...], kwargs: dict[str, Any], output: Any, called: set[int]
    ) -> Any:
        for number, hook in [*global_hooks.forward.items(), *self._forward_hooks.items()]:
            called.add(number)
            replaced = self._call_forward_hook(number, hook, args, kwargs, output)
            output = output if replaced is None else replaced
        return output

    def _call_forward_hook(
        self, number: int, hook: Any, args: Any, kwargs: Any, output: Any
    ) -> Any:
        if number in self._forward_hooks_with_kwargs or number in global_hooks.forward_with_kwargs:
            return hook(self, args, kwargs, output)
        return hook(self, args, output)


def _register(
    table: OrderedDict[int, Any],
    marks: list[OrderedDict[int, bool]],
    hook: Callable[..., Any],
    prepend: bool,
) -> RemovableHandle:
    handle = RemovableHandle(table, extra_dict=marks)
    table[handle.id] = hook
    for mark in marks:
        mark[handle.id] = True
    if prepend:
        table.move_to_end(handle.id, last=False)
    return handle


class _Identity(Function):
    """Several tensors unchanged, as the outputs of one node that hooks can watch."""

    @staticmethod
    def forward(ctx: Any, *tensors: Any) -> Any:
        ctx.set_materialize_grads(False)
        ctx.mark_non_differentiable(*[each for each in tensors if not each.requires_grad])
        return tensors

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        return grads


class _BackwardGate:
    """One call of a module with backward hooks: identity nodes before its inputs and after its
    outputs, whose gradients are what the hooks get."""

    def __init__(self, module: Any, hooks: list[Any], pre_hooks: list[Any]) -> None:
        self.module, self.hooks, self.pre_hooks = module, hooks, pre_hooks
        self.grad_outputs: Any = None
        self.watches_inputs = False
        self.input_count = 0
        self.input_places: list[int] = []

    def watch_inputs(self, args: tuple[Any, ...]) -> tuple[Any, ...]:
        """Pass the tensors among the arguments through a node that reports their gradients."""
        args, places, node = _through_identity(args)
        self.input_count, self.input_places = len(args), places
        if node is not None:
            self.watches_inputs = True
            node.register_hook(self._inputs_done)
        return args

    def watch_outputs(self, output: Any) -> Any:
        """Pass the tensors among the outputs through a node that reports their gradients."""
        outputs = output if isinstance(output, tuple) else (output,)
        count = len(outputs)
        outputs, places, node = _through_identity(outputs)
        if node is not None:
            node.register_prehook(lambda grads: self._outputs_known(grads, places, count))
        return outputs if isinstance(output, tuple) else outputs[0]

    def _outputs_known(self, grads: Any, places: list[int], count: int) -> Any:
        self.grad_outputs = _spread(grads, places, count)
        for hook in self.pre_hooks:
            replaced = hook(self.module, self.grad_outputs)
            if replaced is not None:
                self.grad_outputs = _as_many(
                    replaced, count, "Backward pre hook returned an invalid number of grad_output"
                )
        passed_on = tuple(self.grad_outputs[place] for place in places)
        if not self.watches_inputs:
            self._no_inputs()
        return passed_on

    def _no_inputs(self) -> None:
        """Call the hooks where no gradient of the inputs will come."""
        user_warnings.warn(
            "Full backward hook is firing when gradients are computed with respect to module "
            "outputs since no inputs require gradients."
        )
        grad_inputs = (None,) * self.input_count
        for hook in self.hooks:
            replaced = hook(self.module, grad_inputs, self.grad_outputs)
            if replaced is not None and set(replaced) != {None}:
                raise RuntimeError(
                    "Backward hook for Modules where no input requires gradient should always "
                    "return None or None for all gradients."
                )
        self.grad_outputs = None

    def _inputs_done(self, grad_inputs: Any, _: Any) -> Any:
        if self.grad_outputs is None:  # backward did not pass through the module's outputs
            return None
        given: Any = _spread(grad_inputs, self.input_places, self.input_count)
        for hook in self.hooks:
            replaced = hook(self.module, given, self.grad_outputs)
            if replaced is not None:
                given = _as_many(
                    replaced,
                    self.input_count,
                    "Backward hook returned an invalid number of grad_input",
                )
        self.grad_outputs = None
        return tuple(given[place] for place in self.input_places)


def _as_many(replaced: Any, count: int, refusal: str) -> tuple[Any, ...]:
    """What a hook returned, as one gradient for each that it was given."""
    grads = replaced if isinstance(replaced, tuple) else (replaced,)
    if len(grads) != count:
        raise RuntimeError(f"{refusal}, got {len(grads)}, but expected {count}")
    return grads


def _through_identity(values: tuple[Any, ...]) -> tuple[tuple[Any, ...], list[int], Any]:
    """Pass the tensors among `values` through one node; return also their places and the node."""
    places = [place for place, value in enumerate(values) if isinstance(value, torch.Tensor)]
    tensors = [values[place] for place in places]
    if not torch.is_grad_enabled() or not any(tensor.requires_grad for tensor in tensors):
        return values, places, None
    passed = _Identity.apply(*tensors)
    node = next(tensor.grad_fn for tensor in passed if tensor.grad_fn is not None)
    result = list(values)
    for place, tensor in zip(places, passed, strict=True):
        result[place] = tensor
    return tuple(result), places, node


def _spread(grads: Any, places: list[int], count: int) -> tuple[Any, ...]:
    """Put the gradients of the tensors at their places among `count` values."""
    result = [None] * count
    for place, grad in zip(places, grads, strict=True):
        result[place] = grad
    return tuple(result)
