"""Whether operators are recorded: thread-local switches, as context managers and decorators."""

from __future__ import annotations

import functools
import inspect
import threading
from collections.abc import Callable, Generator
from typing import Any, TypeVar, cast, overload

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import public

__all__ = [
    "enable_grad",
    "inference_mode",
    "no_grad",
    "set_grad_enabled",
    "set_multithreading_enabled",
]

Decorated = TypeVar("Decorated", bound=Callable[..., Any])


class _State(threading.local):
    """The switches of one thread. The class attributes are what a new thread starts with.

    task: the running backward, an `engine.Task`. callbacks: what to call when it has finished.
    """

    enabled = True
    inference = False
    task: Any = None
    callbacks: list[Callable[[], Any]] | None = None


state = _State()


def is_enabled() -> bool:
    """Return whether operators on tensors that require grad are recorded."""
    return state.enabled


def is_recorded(tensor: Any) -> bool:
    """Return whether what is computed from a tensor is recorded for gradients."""
    return state.enabled and bool(tensor.requires_grad)


def is_inference_enabled() -> bool:
    """Return whether this thread is in inference mode."""
    return state.inference


is_grad_enabled = is_enabled
is_inference_mode_enabled = is_inference_enabled


def set_enabled(mode: bool) -> None:
    """Record, or do not record, from here on in this thread."""
    state.enabled = mode


class _Switch:
    """A context manager that is also a decorator, of functions and of generator functions."""

    def clone(self) -> _Switch:
        """Return a switch that does the same, to be entered independently of this one."""
        return self.__class__()

    def __enter__(self) -> Any:
        raise NotImplementedError(type(self).__name__)

    def __exit__(self, *exc: object) -> None:
        raise NotImplementedError(type(self).__name__)

    def __call__(self, function: Decorated) -> Decorated:
        decorated: Any = self._decorate(function)
        return cast("Decorated", decorated)

    def _decorate(self, function: Callable[..., Any]) -> Callable[..., Any]:
        if isinstance(function, type):
            return self._decorate_class(function)
        if inspect.isgeneratorfunction(function):
            return self._decorate_generator(function)

        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Any:
            with self.clone():
                return function(*args, **kwargs)

        return within

    def _decorate_class(self, cls: type) -> type:
        """Switch around the construction of instances."""
        decorated: Any = cls
        decorated.__init__ = self(decorated.__init__)
        return cls

    def _decorate_generator(self, function: Callable[..., Any]) -> Callable[..., Any]:
        """Switch while the generator's own code runs, not while its consumer's does."""

        @functools.wraps(function)
        def within(*args: Any, **kwargs: Any) -> Generator[Any, Any, Any]:
            generator = function(*args, **kwargs)
            with self.clone():
                try:
                    item = next(generator)
                except StopIteration as stop:
                    return stop.value
            while True:
                try:
                    sent = yield item
                except GeneratorExit:
                    with self.clone():
                        generator.close()
                    raise
                except BaseException as thrown:
                    resume = functools.partial(generator.throw, thrown)
                else:
                    resume = functools.partial(generator.send, sent)
                with self.clone():
                    try:
                        item = resume()
                    except StopIteration as stop:
                        return stop.value

        return within


class no_grad(_Switch):
    """Do not record what happens inside: results do not require grad.

    **Example** `with no_grad(): y = x * 2`
    """

    @overload
    def __new__(cls, function: Decorated) -> Decorated: ...  # type: ignore[misc]  # no instance
    @overload
    def __new__(cls, function: None = None) -> no_grad: ...
    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """`@no_grad` without parentheses decorates as well."""
        self = object.__new__(cls)
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self.before = state.enabled
        state.enabled = False

    def __exit__(self, *exc: object) -> None:
        state.enabled = self.before


class enable_grad(_Switch):
    """Record what happens inside, also within `no_grad`."""

    @overload
    def __new__(cls, function: Decorated) -> Decorated: ...  # type: ignore[misc]  # no instance
    @overload
    def __new__(cls, function: None = None) -> enable_grad: ...
    def __new__(cls, function: Callable[..., Any] | None = None) -> Any:
        """`@enable_grad` without parentheses decorates as well."""
        self = object.__new__(cls)
        return self if function is None else self(function)

    def __enter__(self) -> None:
        self.before = state.enabled
        state.enabled = True

    def __exit__(self, *exc: object) -> None:
        state.enabled = self.before


class set_grad_enabled(_Switch):
    """Record or not, by `mode`: at once as a function, until the end as a context manager."""

    def __init__(self, mode: bool) -> None:
        if not isinstance(mode, bool):
            raise errors.bool_expected("set_grad_enabled", "enabled", mode)
        self.before = state.enabled
        self.mode = mode
        state.enabled = bool(mode)

    def __call__(self, function: Callable[..., Any]) -> Any:
        state.enabled = self.before
        return super().__call__(function)

    def clone(self) -> set_grad_enabled:
        """Return a switch to the same mode."""
        return self.__class__(self.mode)

    def __enter__(self) -> None:
        state.enabled = bool(self.mode)

    def __exit__(self, *exc: object) -> None:
        state.enabled = self.before


class inference_mode(_Switch):
    """Like `no_grad`, for code that never meets autograd again.

    mode: False leaves inference mode for the duration.
    """

    mode: bool

    # DEVIATION: tensors made inside are ordinary tensors. PyTorch's lack a version counter, which
    # saves it some time here and forbids to use them in recorded code later; ours need no saving.

    def __new__(cls, mode: Any = True) -> Any:
        """`@inference_mode` without parentheses decorates as well."""
        self = object.__new__(cls)
        if isinstance(mode, bool):
            self.mode = mode
            return self
        self.mode = True
        return self(mode)

    def clone(self) -> inference_mode:
        """Return a switch to the same mode."""
        again: inference_mode = self.__class__(self.mode)
        return again

    def __enter__(self) -> None:
        self.before = state.enabled, state.inference
        state.inference = self.mode
        state.enabled = not self.mode

    def __exit__(self, *exc: object) -> None:
        state.enabled, state.inference = self.before


class set_multithreading_enabled(_Switch):
    """Accepted for its callers' sake: backward runs in the calling thread."""

    def __init__(self, mode: bool) -> None:
        self.mode = mode

    def clone(self) -> set_multithreading_enabled:
        """Return another one."""
        return self.__class__(self.mode)

    def __enter__(self) -> None:
        pass

    def __exit__(self, *exc: object) -> None:
        pass


public.place(
    "autograd.grad_mode",
    enable_grad,
    inference_mode,
    no_grad,
    set_grad_enabled,
    set_multithreading_enabled,
)
