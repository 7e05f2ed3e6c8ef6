"""`torch.overrides`: classes that define `__torch_function__`, and modes that see all calls."""

from __future__ import annotations

import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.dispatch import overrides
from torchgen_out._runtime.library.tools import modes

__all__ = [
    "BaseTorchFunctionMode",
    "TorchFunctionMode",
    "get_default_nowrap_functions",
    "get_ignored_functions",
    "get_overridable_functions",
    "get_testing_overrides",
    "handle_torch_function",
    "has_torch_function",
    "has_torch_function_unary",
    "has_torch_function_variadic",
    "is_tensor_like",
    "is_tensor_method_or_property",
    "resolve_name",
    "wrap_torch_function",
]

_NAMESPACES = ("", "nn.functional", "linalg", "fft", "special")


def has_torch_function(relevant_args: Iterable[Any]) -> bool:
    """Whether a class of these arguments, or a mode, answers calls."""
    if overrides.state.modes:
        return True
    return overrides.state.enabled and any(overrides.answers(type(each)) for each in relevant_args)


def has_torch_function_unary(argument: Any) -> bool:
    """`has_torch_function` of one argument."""
    return has_torch_function((argument,))


def has_torch_function_variadic(*relevant_args: Any) -> bool:
    """`has_torch_function` of several arguments."""
    return has_torch_function(relevant_args)


def handle_torch_function(
    public_api: Callable[..., Any], relevant_args: Iterable[Any], *args: Any, **kwargs: Any
) -> Any:
    """What the classes of `relevant_args` answer to the call `public_api(*args, **kwargs)`.

    Raises: TypeError if all decline.
    """
    found = overrides.answer(public_api, args, kwargs, tuple(relevant_args))
    if found is NotImplemented:
        raise TypeError(f"no argument of {resolve_name(public_api)} has a __torch_function__")
    return found


def wrap_torch_function(
    dispatcher: Callable[..., Iterable[Any]],
) -> Callable[[Callable[..., Any]], Callable[..., Any]]:
    """Make a function ask the classes of the arguments that `dispatcher`, called alike, returns."""

    def wrap(function: Callable[..., Any]) -> Callable[..., Any]:
        @functools.wraps(function)
        def asking(*args: Any, **kwargs: Any) -> Any:
            relevant = tuple(dispatcher(*args, **kwargs))
            if has_torch_function(relevant):
                return handle_torch_function(asking, relevant, *args, **kwargs)
            return function(*args, **kwargs)

        return asking

    return wrap


def is_tensor_like(inp: Any) -> bool:
    """Whether an object is a tensor or answers calls as one."""
    return type(inp) is torch.Tensor or hasattr(inp, "__torch_function__")


def is_tensor_method_or_property(func: Callable[..., Any]) -> bool:
    """Whether a function is a method of Tensor, or the reading or writing of a property."""
    return func in _names_of_tensor() or getattr(func, "__name__", "") == "__get__"


def get_default_nowrap_functions() -> set[Callable[..., Any]]:
    """Functions whose results stay what they are where a subclass answers by default."""
    grad: Any = torch.Tensor.grad
    return {grad.__get__}


@functools.cache
def get_ignored_functions() -> set[Callable[..., Any]]:
    """Functions that make tensors of no tensor, and so ask nobody."""
    return {value for _, _, value in _functions() if not _is_asked(value)}


@functools.cache
def get_overridable_functions() -> dict[Any, list[Callable[..., Any]]]:
    """By namespace, the functions and methods that ask their arguments' classes."""
    found: dict[Any, list[Callable[..., Any]]] = {}
    for place, _, function in _functions():
        if _is_asked(function):
            found.setdefault(place, []).append(function)
    found[torch.Tensor] = list(_names_of_tensor())
    return found


@functools.cache
def get_testing_overrides() -> dict[Callable[..., Any], Callable[..., int]]:
    """For each function that asks its arguments' classes one with its parameters that returns -1.

    Tests of classes with `__torch_function__` call them in place of the functions.
    """
    found: dict[Callable[..., Any], Callable[..., int]] = {}
    for functions in get_overridable_functions().values():
        for function in functions:
            found[function] = _stand_in(_parameters_of(function))
    return found


def _parameters_of(function: Callable[..., Any]) -> inspect.Signature:
    """The parameters that callers see: not those that take what was misspelt or is out of date."""
    if function.__name__ == "__get__":
        return inspect.Signature([_SELF])
    if function.__name__ == "__set__":
        return inspect.Signature([_SELF, _SELF.replace(name="value")])
    signature = inspect.signature(function)
    return signature.replace(
        parameters=[each for each in signature.parameters.values() if each.name not in _HIDDEN]
    )


def _stand_in(signature: inspect.Signature) -> Callable[..., int]:
    def stand_in(*args: Any, **kwargs: Any) -> int:
        signature.bind(*args, **kwargs)
        return -1

    shown: Any = stand_in
    shown.__signature__ = signature
    return stand_in


_SELF = inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)
_HIDDEN = ("_rest", "_words")


def resolve_name(f: Callable[..., Any]) -> str | None:
    """What users call a function, `torch.add`; None for one that is not known."""
    return _names().get(f) or _names_of_tensor().get(f)


def _functions() -> Iterable[tuple[Any, str, Callable[..., Any]]]:
    for path in _NAMESPACES:
        place: Any = functools.reduce(getattr, path.split("."), torch) if path else torch
        begin = f"torch.{path}." if path else "torch."
        for name, value in vars(place).items():
            if callable(value) and not isinstance(value, type) and not name.startswith("_"):
                yield place, begin + name, value


def _is_asked(function: Callable[..., Any]) -> bool:
    """Whether a function is an operator's whose schema, its documentation's head, takes tensors."""
    module = getattr(function, "__module__", "") or ""
    if not module.startswith("torchgen_out.functions"):
        return False
    return any("Tensor" in each for each in (function.__doc__ or "").split("->")[:-1])


@functools.cache
def _names() -> dict[Callable[..., Any], str]:
    names: dict[Callable[..., Any], str] = {}
    for _, name, function in _functions():
        names.setdefault(function, name)
    return names


@functools.cache
def _names_of_tensor() -> dict[Callable[..., Any], str]:
    names: dict[Callable[..., Any], str] = {}
    for name, member in vars(torch.Tensor).items():
        if isinstance(member, property):
            names[member.__get__] = f"torch.Tensor.{name}.__get__"
            names[member.__set__] = f"torch.Tensor.{name}.__set__"
        elif callable(member) and not isinstance(member, (type, staticmethod, classmethod)):
            names.setdefault(member, f"torch.Tensor.{name}")
    return names


class TorchFunctionMode:
    """Sees every call of an operator while it is entered, whatever its arguments are.

    Subclasses define `__torch_function__(self, func, types, args, kwargs)`, within which the mode
    is off.
    """

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        raise NotImplementedError

    def __enter__(self) -> Any:
        modes.let_modes_see()
        overrides.state.modes += (self,)
        return self

    def __exit__(self, *raised: object) -> None:
        overrides.state.modes = overrides.state.modes[:-1]

    @classmethod
    def push(cls, *args: Any, **kwargs: Any) -> TorchFunctionMode:
        """The old spelling of making an instance."""
        return cls(*args, **kwargs)


class BaseTorchFunctionMode(TorchFunctionMode):
    """A mode that does what is asked and nothing else."""

    def __torch_function__(
        self, func: Callable[..., Any], types: Any, args: Any = (), kwargs: Any = None
    ) -> Any:
        return func(*args, **(kwargs or {}))


public.place("overrides", BaseTorchFunctionMode, TorchFunctionMode)
