"""Checkpointing: run a part of the model again in backward instead of keeping its tensors.

With `use_reentrant=False` the part is recorded as usual, but what its nodes save are empty
`_Place`s; the first one asked for in backward runs the part again and fills them all. With
`use_reentrant=True` the part is one node, whose backward records the part and runs backward
through that.
"""

from __future__ import annotations

import contextlib
import weakref
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import Any

from torchgen_out._runtime.autograd import api, engine, grad_mode, saved
from torchgen_out._runtime.autograd.function import Function
from torchgen_out._runtime.backends.cuda import availability, random
from torchgen_out._runtime.core import generator, public
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.dispatch import autocast

__all__ = [
    "CheckpointError",
    "CheckpointFunction",
    "DefaultDeviceType",
    "check_backward_validity",
    "checkpoint",
    "checkpoint_sequential",
    "detach_variable",
    "get_device_states",
    "noop_context_fn",
    "set_checkpoint_debug_enabled",
    "set_checkpoint_early_stop",
    "set_device_states",
]

_CHECKS = ["default", "none"]
_early_stop: list[bool | None] = [None]
"""What holds, in its last entry, whatever `checkpoint` is told; None: what it is told."""


class CheckpointError(RuntimeError):
    """The part did not do the same when it was run again."""


def noop_context_fn() -> tuple[Any, Any]:
    """Return two contexts that do nothing."""
    return contextlib.nullcontext(), contextlib.nullcontext()


@contextlib.contextmanager
def set_checkpoint_early_stop(enable: bool) -> Iterator[None]:
    """Have parts that are checkpointed inside stop, when they run again, once all has been found.

    Or run to their end. It stands above what `checkpoint` is told, and is not needed in backward.
    """
    _early_stop.append(enable)
    try:
        yield
    finally:
        _early_stop.pop()


@contextlib.contextmanager
def set_checkpoint_debug_enabled(enabled: bool | None) -> Iterator[None]:
    """Stand above what `checkpoint` is told as `debug`, which changes nothing here."""
    yield


def checkpoint(
    function: Callable[..., Any],
    *args: Any,
    use_reentrant: bool | None = None,
    context_fn: Callable[[], tuple[Any, Any]] = noop_context_fn,
    determinism_check: str = "default",
    debug: bool = False,
    early_stop: bool = True,
    preserve_rng_state: bool = True,
    **kwargs: Any,
) -> Any:
    """Call `function(*args, **kwargs)`; in backward, call it again for what backward needs.

    preserve_rng_state: draw the same random numbers again. context_fn: makes the contexts for the
    first and for the second call. determinism_check: 'none' skips the comparison of shapes and
    dtypes. early_stop: stop the second call once all has been found again.
    """
    if use_reentrant is None:
        warn(
            "checkpoint: the use_reentrant parameter should be passed explicitly. "
            "use_reentrant=False is recommended; the default is True.",
        )
        use_reentrant = True
    if use_reentrant:
        if context_fn is not noop_context_fn or debug:
            raise ValueError(
                "Passing `context_fn` or `debug` is only supported when use_reentrant=False."
            )
        if kwargs:
            raise ValueError(f"Unexpected keyword arguments: {','.join(kwargs)}")
        return CheckpointFunction.apply(function, preserve_rng_state, *args)
    if determinism_check not in _CHECKS:
        raise ValueError(
            f"determinism_check should be one of {_CHECKS}, but got {determinism_check}"
        )
    stops = early_stop if _early_stop[-1] is None else _early_stop[-1]
    first, second = context_fn()
    frame = _Frame(
        lambda: function(*args, **kwargs),
        second,
        generator.default_generator.get_state() if preserve_rng_state else None,
        determinism_check,
        stops,
    )
    with saved.saved_tensors_hooks(frame.pack, frame.unpack), first:
        return function(*args, **kwargs)


def checkpoint_sequential(
    functions: Any,
    segments: int,
    input: Any,
    use_reentrant: bool | None = None,
    preserve_rng_state: bool = True,
) -> Any:
    """Run modules or functions one after the other, in `segments` checkpointed parts.

    The last part is not checkpointed: its backward would begin at once.
    """
    modules = list(functions.children()) if hasattr(functions, "children") else list(functions)
    length = len(modules) // segments
    end = -1
    for start in range(0, length * (segments - 1), length):
        end = start + length - 1
        input = checkpoint(
            _in_turn(modules[start : end + 1]),
            input,
            use_reentrant=use_reentrant,
            preserve_rng_state=preserve_rng_state,
        )
    return _in_turn(modules[end + 1 :])(input)


def _in_turn(functions: Sequence[Callable[..., Any]]) -> Callable[..., Any]:
    def run(input: Any) -> Any:
        for function in functions:
            input = function(input)
        return input

    return run


@contextlib.contextmanager
def _again(random_state: Tensor | None) -> Any:
    """Draw the same random numbers inside as from `random_state` on; go on as before behind."""
    if random_state is None:
        yield
        return
    before = generator.default_generator.get_state()
    generator.default_generator.set_state(random_state)
    try:
        yield
    finally:
        generator.default_generator.set_state(before)


# -- use_reentrant=False ------------------------------------------------------------------------


class _Place:
    """Where a node of the part will find its tensor. described: what the tensor was."""

    __slots__ = ("__weakref__", "described", "value")

    def __init__(self, tensor: Tensor) -> None:
        self.described = _describe(tensor)
        self.value: Any = None


class _Stop(Exception):
    """All places are filled."""


class _Frame:
    """One checkpointed call."""

    def __init__(
        self,
        function: Callable[[], Any],
        context: Any,
        random_state: Tensor | None,
        determinism_check: str,
        early_stop: bool,
    ) -> None:
        self.function = function
        self.context = context
        self.random_state = random_state
        self.compares = determinism_check != "none"
        self.early_stop = early_stop
        self.grad_enabled = grad_mode.is_enabled()
        self.autocast = autocast.current()
        self.places: list[weakref.ref[_Place]] = []

    def pack(self, tensor: Tensor) -> _Place:
        """Keep a place instead of the tensor."""
        place = _Place(tensor)
        self.places.append(weakref.ref(place))
        return place

    def unpack(self, place: _Place) -> Any:
        """Give the tensor, recomputed with all others if it is not there."""
        if place.value is None:
            self.recompute()
        value, place.value = place.value, None
        if value is None:
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                "original forward and recomputation: one that backward needs is missing."
            )
        return value

    def recompute(self) -> None:
        """Call the function again, and fill the places in the order in which they were made."""
        found = 0

        def fill(tensor: Tensor) -> None:
            nonlocal found
            if found == len(self.places):
                raise CheckpointError(
                    "torch.utils.checkpoint: trying to save more tensors during recomputation "
                    "than during the original forward pass."
                )
            place = self.places[found]()
            if place is not None:
                if self.compares and place.described != _describe(tensor):
                    raise CheckpointError(_different(found, place.described, _describe(tensor)))
                place.value = tensor.detach()
            found += 1
            if self.early_stop and found == len(self.places):
                raise _Stop

        with (
            contextlib.suppress(_Stop),
            _again(self.random_state),
            self.context,
            autocast.as_it_was(self.autocast),
            grad_mode.set_grad_enabled(self.grad_enabled),
            saved.saved_tensors_hooks(fill, _no_unpacking),
        ):
            self.function()
        if found != len(self.places):
            raise CheckpointError(
                "torch.utils.checkpoint: A different number of tensors was saved during the "
                f"original forward and recomputation.\nNumber of tensors saved during forward: "
                f"{len(self.places)}\nNumber of tensors saved during recomputation: {found}."
            )


def _no_unpacking(content: Any) -> Any:
    raise CheckpointError(
        "torch.utils.checkpoint: Unpack is being triggered for a tensor that was already unpacked "
        "once: backward inside of a checkpointed function needs to keep its own graph."
    )


def _describe(tensor: Tensor) -> dict[str, Any]:
    return {"shape": tensor.shape, "dtype": tensor.dtype, "device": tensor.device}


def _different(position: int, before: dict[str, Any], after: dict[str, Any]) -> str:
    return (
        "torch.utils.checkpoint: Recomputed values for the following tensors have different "
        f"metadata than during the forward pass.\ntensor at position {position}:\n"
        f"saved metadata: {before}\nrecomputed metadata: {after}\n"
    )


# -- use_reentrant=True -------------------------------------------------------------------------


class CheckpointFunction(Function):
    """The part as one node."""

    @staticmethod
    def forward(
        ctx: Any, function: Callable[..., Any], preserve_rng_state: bool, *args: Any
    ) -> Any:
        """Call the function without recording it."""
        check_backward_validity(args)
        ctx.function = function
        ctx.random_state = generator.default_generator.get_state() if preserve_rng_state else None
        ctx.autocast = autocast.current()
        ctx.args = [None if isinstance(arg, Tensor) else arg for arg in args]
        ctx.places = [i for i, arg in enumerate(args) if isinstance(arg, Tensor)]
        ctx.save_for_backward(*[args[i] for i in ctx.places])
        return function(*args)

    @staticmethod
    def backward(ctx: Any, *grads: Any) -> Any:
        """Record the part now, and go backward through it."""
        if engine.is_restricted():
            raise RuntimeError(
                "When use_reentrant=True, torch.utils.checkpoint is incompatible with .grad() or "
                "passing an `inputs` parameter to .backward(). To resolve this error, you can "
                "either set use_reentrant=False, or call .backward() without passing the `inputs` "
                "argument."
            )
        args = list(ctx.args)
        for i, tensor in zip(ctx.places, ctx.saved_tensors, strict=True):
            args[i] = tensor.detach().requires_grad_(tensor.requires_grad)
        with (
            _again(ctx.random_state),
            autocast.as_it_was(ctx.autocast),
            grad_mode.enable_grad(),
        ):
            results = ctx.function(*args)
        results = (results,) if isinstance(results, Tensor) else tuple(results)
        pairs = [
            (result, grad)
            for result, grad in zip(results, grads, strict=True)
            if isinstance(result, Tensor) and result.requires_grad
        ]
        if not pairs:
            raise RuntimeError(
                "none of output has requires_grad=True, this checkpoint() is not necessary"
            )
        api.backward([result for result, _ in pairs], [grad for _, grad in pairs])
        return (None, None, *(arg.grad if isinstance(arg, Tensor) else None for arg in args))


# -- for other implementations ------------------------------------------------------------------


def check_backward_validity(inputs: Iterable[Any]) -> None:
    """Warn if no tensor among the inputs requires grad."""
    if not any(isinstance(each, Tensor) and each.requires_grad for each in inputs):
        warn("None of the inputs have requires_grad=True. Gradients will be None")


def detach_variable(inputs: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return the inputs, tensors as leaves. **Raises** RuntimeError if they are no tuple."""
    if not isinstance(inputs, tuple):
        raise RuntimeError(
            "Only tuple of tensors is supported. Got Unsupported input type: "
            f"{type(inputs).__name__}"
        )
    return tuple(
        each.detach().requires_grad_(each.requires_grad) if isinstance(each, Tensor) else each
        for each in inputs
    )


class DefaultDeviceType:
    """The type of device whose random states `set_device_states` means if it is not told."""

    _default_device_type: str | None = None

    @staticmethod
    def set_device_type(device: str = "cuda") -> None:
        """Set the type."""
        DefaultDeviceType._default_device_type = device

    @staticmethod
    def get_device_type() -> str:
        """Return the type: what was set, else 'cuda' where there is a GPU."""
        if DefaultDeviceType._default_device_type is None:
            has_gpu = availability.is_available()
            DefaultDeviceType._default_device_type = "cuda" if has_gpu else "cpu"
        return DefaultDeviceType._default_device_type


def get_device_states(*args: Any) -> tuple[list[int], list[Tensor]]:
    """Return the indices of the GPUs on which tensors lie, and the states of their generators."""
    found = [each.get_device() for each in args if isinstance(each, Tensor) and each.is_cuda]
    return found, [random.get_rng_state(index) for index in found]


def set_device_states(
    devices: Sequence[int], states: Sequence[Tensor], *, device_type: str | None = None
) -> None:
    """Give the generators of GPUs the states that `get_device_states` returned."""
    if (device_type or DefaultDeviceType.get_device_type()) == "cuda":
        for device, state in zip(devices, states, strict=False):
            random.set_rng_state(state, device)


public.place("utils.checkpoint", CheckpointError, CheckpointFunction, DefaultDeviceType)
