"""Parametrizations: a module's tensor computed from others by modules, as if it were its own.

The tensors that it is computed from are the parameters; what is read as `module.weight` is worked
out anew each time, or once within `cached`.
"""

from __future__ import annotations

from collections.abc import Generator, Sequence
from contextlib import contextmanager
from copy import deepcopy
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.nn.containers import ModuleDict, ModuleList
from torchgen_out._runtime.library.nn.parameter import Parameter

__all__ = [
    "ParametrizationList",
    "cached",
    "is_parametrized",
    "register_parametrization",
    "remove_parametrizations",
    "type_before_parametrizations",
]

_cache: dict[tuple[int, str], Any] = {}
_cached_depth = [0]


@contextmanager
def cached() -> Generator[None, None, None]:
    """Work out every parametrized tensor once inside, however often it is read."""
    _cached_depth[0] += 1
    try:
        yield
    finally:
        _cached_depth[0] -= 1
        if not _cached_depth[0]:
            _cache.clear()


class ParametrizationList(ModuleList):
    """The parametrizations of one tensor, and the tensors that it is computed from.

    These are `original`, or `original0`, `original1`, ... where the first parametrization takes
    several: what the `right_inverse` of the parametrizations makes of the tensor, if they have one.
    Raises: ValueError or TypeError if computing gives a tensor of another dtype or shape, unless
    `unsafe`.
    """

    __module__ = "torchgen_out.nn.utils.parametrize"

    def __init__(self, modules: Sequence[Any], original: Any, unsafe: bool = False) -> None:
        if not modules:
            raise ValueError("ParametrizationList requires one or more modules.")
        super().__init__(modules)
        self.unsafe = unsafe
        found = self._inverted(original, is_first=True)
        self.is_tensor = isinstance(found, torch.Tensor)
        self.ntensors = 1 if self.is_tensor else len(found)
        for name, tensor in zip(self._names(), [found] if self.is_tensor else found, strict=True):
            self._keep(name, tensor, original)
        if not unsafe:
            _check_alike(self(), original, "parametrization")

    def _names(self) -> list[str]:
        if self.is_tensor:
            return ["original"]
        return [f"original{i}" for i in range(self.ntensors)]

    def _keep(self, name: str, tensor: Any, original: Any) -> None:
        """Register one tensor as what `original` was: itself, a parameter or a buffer."""
        if not isinstance(tensor, torch.Tensor):
            raise ValueError(f"right_inverse must return tensors, got {type(tensor).__name__}")
        if not isinstance(original, Parameter):
            self.register_buffer(name, tensor)
        elif self.is_tensor and tensor.dtype == original.dtype:
            with torch.no_grad():
                original.set_(tensor.detach())  # an optimizer may hold it already
            self.register_parameter(name, original)
        else:
            self.register_parameter(name, Parameter(tensor, original.requires_grad))

    def _inverted(self, value: Any, is_first: bool = False) -> Any:
        """What the parametrizations have to be given for `value`; those without an inverse it.

        An inverse that is not implemented counts as none for the first value.
        """
        with torch.no_grad():
            for module in reversed(list(self)):
                if not hasattr(module, "right_inverse"):
                    continue
                try:
                    value = module.right_inverse(value)
                except NotImplementedError:
                    if not is_first:
                        raise
        return value

    def right_inverse(self, value: Any) -> None:
        """Set the tensors such that `value` is computed from them, as assigning it means.

        Raises: RuntimeError if a parametrization has no inverse.
        """
        for module in self:
            if not hasattr(module, "right_inverse"):
                name = type(module).__name__
                raise RuntimeError(f"parametrization {name} does not implement right_inverse.")
        found = self._inverted(value)
        with torch.no_grad():
            for name, tensor in zip(
                self._names(), [found] if self.is_tensor else found, strict=True
            ):
                kept = getattr(self, name)
                _check_alike(tensor, kept, "right_inverse")
                kept.set_(tensor.detach())

    def forward(self) -> Any:
        """The tensor."""
        value = self[0](*(getattr(self, name) for name in self._names()))
        for module in list(self)[1:]:
            value = module(value)
        return value


def _check_alike(found: Any, wanted: Any, what: str) -> None:
    if not isinstance(found, torch.Tensor):
        raise ValueError(f"A {what} must return a tensor. Got {type(found).__name__}.")
    if found.dtype != wanted.dtype:
        raise ValueError(
            f"A {what} may not change the dtype of the tensor, unless `unsafe=True`: "
            f"got {found.dtype}, expected {wanted.dtype}"
        )
    if found.shape != wanted.shape:
        raise ValueError(
            f"A {what} may not change the shape of the tensor, unless `unsafe=True`: "
            f"got {list(found.shape)}, expected {list(wanted.shape)}"
        )


def _give_own_class(module: Any) -> None:
    """Let a module be of a class of its own, which may have properties."""
    cls = module.__class__

    def getstate(self: Any) -> Any:
        raise RuntimeError(
            "Serialization of parametrized modules is only supported through state_dict(). "
            "Save module.state_dict(), or remove the parametrizations first."
        )

    def copied(self: Any, memo: dict[int, Any]) -> Any:
        copy = self.__new__(self.__class__)
        memo[id(self)] = copy
        copy.__dict__.update(deepcopy(self.__dict__, memo))
        return copy

    own = type(
        f"Parametrized{cls.__name__}",
        (cls,),
        {"__getstate__": getstate, "__deepcopy__": copied, "__module__": cls.__module__},
    )
    module.__class__ = own


def _add_property(module: Any, name: str) -> None:
    def get(self: Any) -> Any:
        parametrization = self.parametrizations[name]
        if not _cached_depth[0]:
            return parametrization()
        key = (id(self), name)
        if key not in _cache:
            _cache[key] = parametrization()
        return _cache[key]

    def assign(self: Any, value: Any) -> None:
        self.parametrizations[name].right_inverse(value)

    setattr(type(module), name, property(get, assign))


def register_parametrization(
    module: Any, tensor_name: str, parametrization: Any, *, unsafe: bool = False
) -> Any:
    """Compute a parameter or buffer of a module by another module from now on; return the module.

    `module.weight` is `parametrization(original)`, and what `parametrization.right_inverse` makes
    of a value, if it has this method, is kept when `module.weight` is assigned. Several
    parametrizations of one tensor are applied in turn. Raises: ValueError if there is no such
    tensor, or if the dtype or the shape would change, unless `unsafe`.
    """
    parametrization.train(module.training)
    if is_parametrized(module, tensor_name):
        present = module.parametrizations[tensor_name]
        value = getattr(module, tensor_name)
        if not unsafe:
            _check_alike(parametrization(value), value, "parametrization")
        present.append(parametrization)
        if hasattr(parametrization, "right_inverse"):
            present.right_inverse(value)
        return module
    if tensor_name not in module._parameters and tensor_name not in module._buffers:
        raise ValueError(
            f"Module '{module}' does not have a parameter, a buffer, or a parametrized element "
            f"with name '{tensor_name}'"
        )
    computed = ParametrizationList([parametrization], getattr(module, tensor_name), unsafe)
    delattr(module, tensor_name)
    if not is_parametrized(module):
        _give_own_class(module)
        module.parametrizations = ModuleDict()
    module.parametrizations[tensor_name] = computed
    _add_property(module, tensor_name)
    return module


def is_parametrized(module: Any, tensor_name: str | None = None) -> bool:
    """Return whether a module, or one tensor of it, is parametrized."""
    present = module.__dict__.get("_modules", {}).get("parametrizations")
    if not isinstance(present, ModuleDict):
        return False
    return len(present) > 0 if tensor_name is None else tensor_name in present


def type_before_parametrizations(module: Any) -> type:
    """Return the class that a module had before it was parametrized."""
    return type(module).__bases__[0] if is_parametrized(module) else type(module)


def remove_parametrizations(module: Any, tensor_name: str, leave_parametrized: bool = True) -> Any:
    """Make a tensor a plain parameter or buffer again, with its present or its original value.

    Raises: ValueError if it is not parametrized, or has several originals and must not be left as
    it is.
    """
    if not is_parametrized(module, tensor_name):
        raise ValueError(f"Module {module} does not have a parametrization on {tensor_name}")
    computed = module.parametrizations[tensor_name]
    if not (leave_parametrized or computed.is_tensor):
        raise ValueError(
            "Cannot leave unparametrized (`leave_parametrized=False`) a tensor that is "
            "parametrized in terms of a sequence of tensors."
        )
    original = getattr(computed, computed._names()[0])
    plain = _plain(computed, original, leave_parametrized)
    delattr(type(module), tensor_name)
    del module.parametrizations[tensor_name]
    if isinstance(plain, Parameter):
        module.register_parameter(tensor_name, plain)
    else:
        module.register_buffer(tensor_name, plain)
    if not len(module.parametrizations):
        delattr(module, "parametrizations")
        module.__class__ = type(module).__bases__[0]
    return module


def _plain(computed: ParametrizationList, original: Any, keep_value: bool) -> Any:
    """The tensor by itself: the one that it was before, where there is one."""
    if not keep_value:
        return original
    with torch.no_grad():
        value = computed()
    if not isinstance(original, Parameter):
        return value
    if computed.is_tensor and value.dtype == original.dtype:
        with torch.no_grad():
            original.set_(value.detach().clone())
        return original
    return Parameter(value, original.requires_grad)


public.place("nn.utils.parametrize", ParametrizationList)
