"""Subclasses of Tensor: how they come to be asked about calls, and what they answer by default.

Operators ask by the bit in the key. The hand-written methods and properties look at no key: a
subclass that answers gets its own, which ask. So plain tensors pay for none of it.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator
from typing import Any

from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch import overrides
from torchgen_out._runtime.tensor_api import pickling

_UNASKED = frozenset(
    ("__hash__", "__init_subclass__", "__iter__", "__new__", "__torch_function__", "as_subclass")
)
"""Attributes of Tensor that compute nothing, or by operators that ask."""


def init_subclass(cls: type[Tensor], **options: Any) -> None:
    """Give a new subclass what asks, if it answers."""
    object.__init_subclass__(**options)
    if not overrides.answers(cls):
        cls._override_bit = 0
        if overrides.PLAIN:
            for classes in (overrides.PLAIN, overrides.TENSORS, overrides.OPTIONAL_TENSORS):
                classes.add(cls)
        return
    cls._override_bit = keys.OVERRIDES
    # The library's own, tensors that wait for a shape, are in no graph: backward need not look.
    overrides.InUse.classes |= cls.__module__.partition(".")[0] != __name__.partition(".")[0]
    for name, original in own_attributes():
        if _inherited(cls, name) is original:
            setattr(cls, name, _asking(original))


_HAND_WRITTEN = __name__.removesuffix("tensor_api.subclassing")


def own_attributes() -> Iterator[tuple[str, Any]]:
    """The hand-written methods and properties; those that operators make ask by themselves."""
    for name, member in vars(Tensor).items():
        function = member.fget if isinstance(member, property) else member
        is_method = callable(function) and not isinstance(member, (staticmethod, classmethod))
        is_public = not name.startswith("_") or name.endswith("__")
        module = getattr(function, "__module__", None) or ""
        if is_method and is_public and name not in _UNASKED and module.startswith(_HAND_WRITTEN):
            yield name, member


def _inherited(cls: type, name: str) -> Any:
    """The attribute as it stands in the class that has it."""
    return next((vars(each)[name] for each in cls.__mro__ if name in vars(each)), None)


def _asking(original: Any) -> Any:
    """The method or property, unless the class answers."""
    if isinstance(original, property):
        get, put, drop = original.__get__, original.__set__, original.__delete__
        return property(
            lambda self: _ask(get, (self,), {}),
            lambda self, value: _ask(put, (self, value), {}),
            lambda self: _ask(drop, (self,), {}),
        )

    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        return _ask(original, (self, *args), kwargs)

    return functools.wraps(original)(method)


def overrides_method(cls: type[Tensor], name: str) -> bool:
    """Whether a subclass has a method of its own instead of Tensor's, asking or not."""
    found, original = getattr(cls, name), getattr(Tensor, name)
    return found is not original and getattr(found, "__wrapped__", None) is not original


def _ask(function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
    if overrides.state.enabled or overrides.state.modes:
        found = overrides.answer(function, args, kwargs)
        if found is not NotImplemented:
            return found
    return function(*args, **kwargs)


def torch_function(
    cls: type[Tensor],
    func: Callable[..., Any],
    types: Any,
    args: Any = (),
    kwargs: dict[str, Any] | None = None,
) -> Any:
    """What subclasses answer by default: the call's results as instances of theirs.

    NotImplemented where an argument is of a class that knows nothing of this one.
    """
    if not all(issubclass(cls, each) for each in types):
        return NotImplemented
    with overrides.DisableTorchFunctionSubclass():
        result = func(*args, **(kwargs or {}))
        grad: Any = Tensor.grad
        return result if func == grad.__get__ else _converted(result, cls)


def _converted(value: Any, cls: type[Tensor]) -> Any:
    """Tensors as instances of a class; those in lists, tuples and named tuples, too."""
    if isinstance(value, Tensor):
        return value if isinstance(value, cls) else pickling.as_class(cls, value)
    if isinstance(value, (tuple, list)) and any(isinstance(each, Tensor) for each in value):
        made = [_converted(each, cls) for each in value]
        return type(value)(*made) if hasattr(value, "_fields") else type(value)(made)
    return value


def make_subclass(cls: type[Tensor], data: Tensor, require_grad: bool = False) -> Tensor:
    """A leaf tensor of a subclass over the elements of `data`."""
    with overrides.DisableTorchFunctionSubclass():
        made = pickling.as_class(cls, data.detach())
        made._base = None
        return made.requires_grad_(require_grad)
