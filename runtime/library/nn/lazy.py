"""Modules whose sizes come from their first input, and parameters that wait for a shape."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import torchgen_out as torch
from torchgen_out._runtime.dispatch import overrides
from torchgen_out._runtime.library.nn.parameter import Buffer, Parameter


def _no_shape() -> RuntimeError:
    return RuntimeError(
        "Can't access the shape of an uninitialized parameter or buffer. This error usually "
        "happens in `load_state_dict` when trying to load an uninitialized parameter into an "
        "initialized one. Call `forward` to initialize the parameters before accessing their "
        "attributes."
    )


def _used_in(name: str) -> ValueError:
    return ValueError(
        f"Attempted to use an uninitialized parameter in {name}. This error happens when you are "
        "using a `LazyModule` or explicitly manipulating `UninitializedParameter` objects. When "
        "using LazyModules Call `forward` with a dummy batch to initialize the parameters before "
        "calling torch functions"
    )


# What has a meaning without a shape: attributes, other dtypes and devices.
_ALLOWED = {"__get__", "__set__", "__delete__", "__hash__", "get_device", "size"}
_ALLOWED |= {"to", "cpu", "cuda", "half", "float", "double", "char", "short", "int", "long"}
_ALLOWED |= {"copy_", "is_complex", "is_floating_point"}


class UninitializedTensorMixin:
    """A tensor that has dtype and device, and gets its shape by `materialize`."""

    __module__ = "torchgen_out.nn.parameter"

    cls_to_become: type
    __class__: Any
    data: Any
    device: Any
    dtype: Any
    requires_grad: bool

    if TYPE_CHECKING:

        def __init__(self, requires_grad: bool, device: Any, dtype: Any) -> None: ...

    @property
    def shape(self) -> Any:
        """There is none yet. **Raises** RuntimeError."""
        raise _no_shape()

    def numel(self) -> int:
        """Not known yet. **Raises** ValueError."""
        raise _used_in("Tensor.numel")

    nelement = numel

    @classmethod
    def __torch_function__(cls, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        name = getattr(func, "__name__", str(func))
        if name not in _ALLOWED:
            raise _used_in(name)
        return overrides.disabled(func, types, args, kwargs or {})

    def materialize(self, shape: Any, device: Any = None, dtype: Any = None) -> None:
        """Become a tensor of this shape, without initial values."""
        device = self.device if device is None else device
        dtype = self.dtype if dtype is None else dtype
        # As an ordinary tensor: an uninitialised one has no shape to take over.
        self.__class__ = self.cls_to_become
        self.data = torch.empty(shape, device=device, dtype=dtype)

    def share_memory_(self) -> Any:
        """Nothing to share. **Raises** RuntimeError."""
        raise RuntimeError(
            "Can't share memory on an uninitialized parameter or buffer. Call `forward` to "
            "initialize the parameters before calling `module.share_memory()`."
        )

    def __repr__(self, *, tensor_contents: str | None = None) -> str:
        return f"<{type(self).__name__}>"

    def __deepcopy__(self, memo: dict[int, Any]) -> Any:
        if id(self) not in memo:
            memo[id(self)] = type(self)(self.requires_grad, self.device, self.dtype)
        return memo[id(self)]

    def __reduce_ex__(self, protocol: Any) -> Any:
        return type(self), (self.requires_grad, self.device, self.dtype)


# The two ways to write a tensor differ for mypy, which forgets the names of their keywords.
class UninitializedParameter(UninitializedTensorMixin, Parameter):  # type: ignore[misc]
    """A parameter whose shape is not known yet."""

    __module__ = "torchgen_out.nn.parameter"

    cls_to_become = Parameter

    def __new__(cls, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> Any:
        with overrides.DisableTorchFunctionSubclass():
            data = torch.empty(0, device=device, dtype=dtype)
            return Parameter.__new__(cls, data, requires_grad)

    def __init__(self, requires_grad: bool = True, device: Any = None, dtype: Any = None) -> None:
        pass


class UninitializedBuffer(UninitializedTensorMixin, Buffer):  # type: ignore[misc]  # as above
    """A buffer whose shape is not known yet."""

    __module__ = "torchgen_out.nn.parameter"

    cls_to_become = torch.Tensor

    def __new__(
        cls,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> Any:
        with overrides.DisableTorchFunctionSubclass():
            data = torch.empty(0, device=device, dtype=dtype, requires_grad=requires_grad)
            return Buffer.__new__(cls, data, persistent=persistent)

    def __init__(
        self,
        requires_grad: bool = False,
        device: Any = None,
        dtype: Any = None,
        persistent: bool = True,
    ) -> None:
        pass


def is_lazy(param: Any) -> bool:
    """Whether a parameter or buffer waits for its shape."""
    return isinstance(param, UninitializedTensorMixin)


class LazyModuleMixin:
    """A module that is initialised by its first call, and then becomes a `cls_to_become`.

    A subclass implements `initialize_parameters`, which gives every waiting tensor its shape.
    """

    __module__ = "torchgen_out.nn.modules.lazy"

    cls_to_become: Any = None
    __class__: Any
    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _non_persistent_buffers_set: set[str]
    _get_name: Any

    if TYPE_CHECKING:

        def reset_parameters(self) -> None:
            """The module's behind this one."""

    def __init__(self: Any, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self._load_hook = self._register_load_state_dict_pre_hook(self._lazy_load_hook)
        self._initialize_hook = self.register_forward_pre_hook(
            self._infer_parameters, with_kwargs=True
        )

    def initialize_parameters(self, *args: Any, **kwargs: Any) -> None:
        """Give every waiting tensor the shape that the arguments of `forward` imply."""
        raise NotImplementedError(
            f"initialize_parameters is not implemented for {type(self).__name__}"
        )

    def has_uninitialized_params(self) -> bool:
        """Whether a parameter or buffer of this module itself waits for its shape."""
        return any(map(is_lazy, (*self._parameters.values(), *self._buffers.values())))

    def _save_to_state_dict(self, destination: Any, prefix: str, keep_vars: bool) -> None:
        """Waiting tensors are saved as they are: there is nothing to detach."""
        for table in (self._parameters, self._buffers):
            for name, value in table.items():
                if value is not None and name not in self._non_persistent_buffers_set:
                    is_kept = keep_vars or is_lazy(value)
                    destination[prefix + name] = value if is_kept else value.detach()

    def _lazy_load_hook(self, state_dict: Any, prefix: str, *rest: Any) -> None:
        """Let waiting tensors take the shapes of what is loaded."""
        for table in (self._parameters, self._buffers):
            for name, own in table.items():
                given = state_dict.get(prefix + name)
                if is_lazy(own) and given is not None and not is_lazy(given):
                    with torch.no_grad():
                        own.materialize(given.shape)

    def _infer_parameters(self: Any, module: Any, args: Any, kwargs: Any = None) -> None:
        module.initialize_parameters(*args, **(kwargs or {}))
        if module.has_uninitialized_params():
            raise RuntimeError(f"module {self._get_name()} has not been fully initialized")
        module._initialize_hook.remove()
        module._load_hook.remove()
        del module._initialize_hook, module._load_hook
        if module.cls_to_become is not None:
            module.__class__ = module.cls_to_become
