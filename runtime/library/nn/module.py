"""`Module`: a tree of parameters, buffers and submodules that can be called."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

import torchgen_out as torch
from torchgen_out._runtime.autograd import accumulate
from torchgen_out._runtime.library.nn import module_defaults
from torchgen_out._runtime.library.nn.global_hooks import active as watched_everywhere
from torchgen_out._runtime.library.nn.global_hooks import registered
from torchgen_out._runtime.library.nn.module_conversion import Conversion
from torchgen_out._runtime.library.nn.module_hooks import Hooks
from torchgen_out._runtime.library.nn.module_state import StateDict
from torchgen_out._runtime.library.nn.module_tree import Tree
from torchgen_out._runtime.library.nn.parameter import Buffer, Parameter
from torchgen_out.public_modules import PUBLIC_MODULES

T = TypeVar("T", bound="Module")


class Module(Hooks, StateDict, Conversion, Tree):
    """Base class of all neural network modules.

    A subclass calls `super().__init__()`, assigns parameters, buffers and submodules as plain
    attributes, and computes in `forward`. Calling the module runs its hooks around `forward`.
    """

    __module__ = "torchgen_out.nn.modules.module"

    training: bool
    dump_patches = False
    call_super_init = False

    def __init_subclass__(cls, **options: Any) -> None:
        """Let the library's own classes say where users find them."""
        super().__init_subclass__(**options)
        cls.__module__ = PUBLIC_MODULES.get(f"{cls.__module__}.{cls.__qualname__}", cls.__module__)

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        if (args or kwargs) and not self.call_super_init:
            given = f"{next(iter(kwargs))!r}" if kwargs else f"{len(args)} positional"
            raise TypeError(
                f"{type(self).__name__}.__init__() got an unexpected keyword argument {given}"
                if kwargs
                else f"{type(self).__name__}.__init__() takes 1 positional argument "
                f"but {len(args) + 1} were given"
            )
        attributes = self.__dict__
        attributes["training"] = True
        attributes["_parameters"] = {}
        attributes["_buffers"] = {}
        attributes["_non_persistent_buffers_set"] = set()
        attributes["_modules"] = {}
        self._init_hooks()
        if self.call_super_init:
            super().__init__(*args, **kwargs)

    def forward(self, *args: Any, **kwargs: Any) -> Any:
        """Define the computation; every subclass overrides it."""
        raise NotImplementedError(
            f'Module [{type(self).__name__}] is missing the required "forward" function'
        )

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        if (
            self._forward_hooks
            or self._forward_pre_hooks
            or self._backward_hooks
            or self._backward_pre_hooks
            or watched_everywhere
        ):
            return self._call_with_hooks(args, kwargs)
        return self.forward(*args, **kwargs)

    def compile(self, **options: Any) -> None:
        """Say once that there is no compiler: the module runs as it is."""
        torch.compile(self, **options)

    # -- attributes -------------------------------------------------------------------------

    def __getattr__(self, name: str) -> Any:
        attributes = self.__dict__
        table = attributes.get("_parameters")
        if table is not None and name in table:
            return table[name]
        table = attributes.get("_modules")
        if table is not None and name in table:
            return table[name]
        table = attributes.get("_buffers")
        if table is not None and name in table:
            return table[name]
        raise AttributeError(f"'{type(self).__name__}' object has no attribute '{name}'")

    def __setattr__(self, name: str, value: Any) -> None:
        attributes = self.__dict__
        parameters = attributes.get("_parameters")
        if isinstance(value, Parameter):
            if parameters is None:
                raise AttributeError("cannot assign parameters before Module.__init__() call")
            self._forget(name, keep="_parameters")
            self.register_parameter(name, value)
        elif parameters is not None and name in parameters:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as parameter '{name}' "
                    "(torch.nn.Parameter or None expected)"
                )
            self.register_parameter(name, value)
        elif isinstance(value, Module):
            if "_modules" not in attributes:
                raise AttributeError("cannot assign module before Module.__init__() call")
            self._forget(name, keep="_modules")
            self._modules[name] = registered("module", self, name, value)
        elif "_modules" in attributes and name in attributes["_modules"]:
            if value is not None:
                raise TypeError(
                    f"cannot assign '{_type_name(value)}' as child module '{name}' "
                    "(torch.nn.Module or None expected)"
                )
            self._modules[name] = value
        elif isinstance(value, Buffer) or name in attributes.get("_buffers", ()):
            self._set_buffer(name, value)
        else:
            object.__setattr__(self, name, value)

    def _set_buffer(self, name: str, value: Any) -> None:
        if value is not None and not isinstance(value, torch.Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(value)}' as buffer '{name}' "
                "(torch.nn.Buffer, torch.Tensor or None expected)"
            )
        if "_buffers" not in self.__dict__:
            raise AttributeError("cannot assign buffer before Module.__init__() call")
        if isinstance(value, Buffer):
            self._forget(name, keep="_buffers")
            self.register_buffer(name, value, value.persistent)
        else:
            self._buffers[name] = value

    def _forget(self, name: str, keep: str) -> None:
        """Take `name` out of every table but `keep`, in which it is about to be put."""
        for table in ("_parameters", "_buffers", "_modules"):
            if table != keep:
                self.__dict__.get(table, {}).pop(name, None)
        if keep != "_buffers":
            self._non_persistent_buffers_set.discard(name)
        self.__dict__.pop(name, None)

    def __delattr__(self, name: str) -> None:
        for table in (self._parameters, self._buffers, self._modules):
            if name in table:
                del table[name]
                self._non_persistent_buffers_set.discard(name)
                return
        object.__delattr__(self, name)

    def __dir__(self) -> list[str]:
        names = {*dir(type(self)), *self.__dict__}
        names.update(self._parameters, self._buffers, self._modules)
        return sorted(name for name in names if not name[:1].isdigit())

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state)
        self._complete_hooks()
        self.__dict__.setdefault("_non_persistent_buffers_set", set())
        module_defaults.complete(self)

    # -- registration -----------------------------------------------------------------------

    def _check_name(self, kind: str, name: Any, table: str) -> None:
        if table not in self.__dict__:
            raise AttributeError(f"cannot assign {kind} before Module.__init__() call")
        if not isinstance(name, str):
            raise TypeError(f"{kind} name should be a string. Got {_type_name(name)}")
        if "." in name:
            raise KeyError(f'{kind} name can\'t contain ".", got: {name}')
        if name == "":
            raise KeyError(f'{kind} name can\'t be empty string ""')
        if hasattr(self, name) and name not in self.__dict__[table]:
            raise KeyError(f"attribute '{name}' already exists")

    def register_parameter(self, name: str, param: Any) -> None:
        """Add a parameter; None marks one that is absent (a layer without bias)."""
        self._check_name("parameter", name, "_parameters")
        if param is not None and not isinstance(param, Parameter):
            raise TypeError(
                f"cannot assign '{_type_name(param)}' object to parameter '{name}' "
                "(torch.nn.Parameter or None required)"
            )
        if param is not None and param.grad_fn is not None:
            raise ValueError(
                f"Cannot assign non-leaf Tensor to parameter '{name}'. Model parameters must be "
                f"created explicitly. To express '{name}' as a function of another Tensor, "
                "compute the value in the forward() method."
            )
        self._parameters[name] = registered("parameter", self, name, param)

    def register_buffer(self, name: str, tensor: Any, persistent: bool = True) -> None:
        """Add a buffer: state that is no parameter. Only persistent ones are in `state_dict`."""
        self._check_name("buffer", name, "_buffers")
        if tensor is not None and not isinstance(tensor, torch.Tensor):
            raise TypeError(
                f"cannot assign '{_type_name(tensor)}' object to buffer '{name}' "
                "(torch Tensor or None required)"
            )
        self._buffers[name] = registered("buffer", self, name, tensor)
        if persistent:
            self._non_persistent_buffers_set.discard(name)
        else:
            self._non_persistent_buffers_set.add(name)

    def add_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under `name`."""
        if module is not None and not isinstance(module, Module):
            raise TypeError(f"{_type_name(module)} is not a Module subclass")
        self._check_name("module", name, "_modules")
        self._modules[name] = registered("module", self, name, module)

    def register_module(self, name: str, module: Module | None) -> None:
        """Add a submodule under `name`: `add_module` by another name."""
        self.add_module(name, module)

    # -- mode and gradients -----------------------------------------------------------------

    def train(self: T, mode: bool = True) -> T:
        """Set training mode, or evaluation mode with False, here and in every submodule."""
        if not isinstance(mode, bool):
            raise ValueError("training mode is expected to be boolean")
        self.training = mode
        for module in self.children():
            module.train(mode)
        return self

    def eval(self: T) -> T:
        """Set evaluation mode here and in every submodule."""
        return self.train(False)

    def requires_grad_(self: T, requires_grad: bool = True) -> T:
        """Say for every parameter whether autograd shall record operations on it."""
        for parameter in self.parameters():
            parameter.requires_grad_(requires_grad)
        return self

    def zero_grad(self, set_to_none: bool = True) -> None:
        """Drop the gradients of all parameters, or set them to zero."""
        for parameter in self.parameters():
            accumulate.clear(parameter, set_to_none)

    def apply(self: T, fn: Callable[[Module], None]) -> T:
        """Call `fn` on every submodule, children first, and on this module."""
        for module in self.children():
            module.apply(fn)
        fn(self)
        return self

    # -- printing ---------------------------------------------------------------------------

    def _get_name(self) -> str:
        return type(self).__name__

    def extra_repr(self) -> str:
        """What `repr` shows between the parentheses; subclasses override it."""
        return ""

    def __repr__(self) -> str:
        extra = self.extra_repr()
        lines = extra.split("\n") if extra else []
        children = [
            f"({name}): {_addindent(repr(module), 2)}" for name, module in self._modules.items()
        ]
        if not children and len(lines) <= 1:
            return f"{self._get_name()}({extra})"
        body = "\n  ".join([*lines, *children])
        return f"{self._get_name()}(\n  {body}\n)"


def _type_name(value: Any) -> str:
    """What messages call a value's type: `torch.FloatTensor` for a tensor."""
    return str(torch.typename(value))


def _addindent(s_: str, numSpaces: int) -> str:
    """Indent every line but the first."""
    return s_.replace("\n", "\n" + numSpaces * " ")
