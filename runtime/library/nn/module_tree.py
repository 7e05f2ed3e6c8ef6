"""The part of `Module` that walks: parameters, buffers, children and modules, by name or not."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.library.nn.parameter import Parameter


class Tree:
    """Traversal of a module and its submodules, depth first in the order of registration."""

    _parameters: dict[str, Any]
    _buffers: dict[str, Any]
    _modules: dict[str, Any]

    def _named_members(
        self,
        get_members: Callable[[Any], Any],
        prefix: str = "",
        recurse: bool = True,
        remove_duplicate: bool = True,
    ) -> Iterator[tuple[str, Any]]:
        seen = set()
        if recurse:
            modules = self.named_modules(prefix=prefix, remove_duplicate=remove_duplicate)
        else:
            modules = iter([(prefix, self)])
        for module_prefix, module in modules:
            for name, member in get_members(module):
                if member is None or member in seen:
                    continue
                if remove_duplicate:
                    seen.add(member)
                yield (f"{module_prefix}.{name}" if module_prefix else name), member

    def parameters(self, recurse: bool = True) -> Iterator[Any]:
        """Yield every parameter once."""
        for _, parameter in self.named_parameters(recurse=recurse):
            yield parameter

    def named_parameters(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield (name, parameter); names join the path with dots."""
        yield from self._named_members(
            lambda module: module._parameters.items(), prefix, recurse, remove_duplicate
        )

    def buffers(self, recurse: bool = True) -> Iterator[Any]:
        """Yield every buffer once."""
        for _, buffer in self.named_buffers(recurse=recurse):
            yield buffer

    def named_buffers(
        self, prefix: str = "", recurse: bool = True, remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield (name, buffer); names join the path with dots."""
        yield from self._named_members(
            lambda module: module._buffers.items(), prefix, recurse, remove_duplicate
        )

    def children(self) -> Iterator[Any]:
        """Yield every direct submodule once."""
        for _, module in self.named_children():
            yield module

    def named_children(self) -> Iterator[tuple[str, Any]]:
        """Yield (name, module) of every direct submodule."""
        seen = set()
        for name, module in self._modules.items():
            if module is not None and module not in seen:
                seen.add(module)
                yield name, module

    def modules(self, remove_duplicate: bool = True) -> Iterator[Any]:
        """Yield this module and every submodule, once unless `remove_duplicate` is False."""
        for _, module in self.named_modules(remove_duplicate=remove_duplicate):
            yield module

    def named_modules(
        self, memo: set[Any] | None = None, prefix: str = "", remove_duplicate: bool = True
    ) -> Iterator[tuple[str, Any]]:
        """Yield (name, module) of this module, whose name is `prefix`, and of every submodule."""
        seen = set() if memo is None else memo
        if self in seen:
            return
        if remove_duplicate:
            seen.add(self)
        yield prefix, self
        for name, module in self._modules.items():
            if module is not None:
                path = f"{prefix}.{name}" if prefix else name
                yield from module.named_modules(seen, path, remove_duplicate)

    # -- by path ----------------------------------------------------------------------------

    def get_submodule(self, target: str) -> Any:
        """Return the submodule at the dotted path `target`; the empty path is this module.

        **Raises** AttributeError naming the part that is missing or is no module.
        """
        module: Any = self
        for item in target.split(".") if target else ():
            if not hasattr(module, item):
                raise _no_attribute(module, item)
            module = getattr(module, item)
            if not isinstance(module, Tree):
                raise _not_a_module(item)
        return module

    def set_submodule(self, target: str, module: Any, strict: bool = False) -> None:
        """Replace the submodule at `target`; with `strict` it must be there already."""
        if not target:
            raise ValueError("Cannot set the submodule without a target name!")
        path, _, name = target.rpartition(".")
        parent = self.get_submodule(path)
        if strict and not hasattr(parent, name):
            raise _no_attribute(parent, name)
        if hasattr(parent, name) and not isinstance(getattr(parent, name), Tree):
            raise _not_a_module(name)
        setattr(parent, name, module)

    def get_parameter(self, target: str) -> Any:
        """Return the parameter at the dotted path `target`."""
        parameter = self._member(target)
        if not isinstance(parameter, Parameter):
            raise AttributeError(f"`{target.rpartition('.')[2]}` is not an nn.Parameter")
        return parameter

    def get_buffer(self, target: str) -> Any:
        """Return the buffer at the dotted path `target`."""
        buffer = self._member(target)
        path, _, name = target.rpartition(".")
        if name not in self.get_submodule(path)._buffers or not isinstance(buffer, torch.Tensor):
            raise AttributeError(f"`{name}` is not a buffer")
        return buffer

    def _member(self, target: str) -> Any:
        path, _, name = target.rpartition(".")
        module = self.get_submodule(path)
        if not hasattr(module, name):
            raise _no_attribute(module, name)
        return getattr(module, name)


def _no_attribute(module: Any, name: str) -> AttributeError:
    return AttributeError(f"{module._get_name()} has no attribute `{name}`")


def _not_a_module(name: str) -> AttributeError:
    return AttributeError(f"`{name}` is not an nn.Module")
