"""`fully_shard`: each rank keeps a part of every parameter; a module has them whole while it runs.

Before a module's forward its parameters are gathered by a differentiable collective and put where
its code finds them; afterwards they are let go. What backward needs of them is gathered once more,
and the collective's gradient leaves each rank the mean of its part. So parameters, gradients and
the optimizer's state take 1 / ranks of the memory; whole are those of the modules that run.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.autograd.saved import saved_tensors_hooks
from torchgen_out._runtime.core import public
from torchgen_out._runtime.dispatch import ops
from torchgen_out._runtime.library.distributed import carrying, collectives, world
from torchgen_out._runtime.library.distributed.device_mesh import DeviceMesh
from torchgen_out._runtime.library.distributed.reduce_op import ReduceOp
from torchgen_out._runtime.library.nn.module import Module

__all__ = ["FSDPModule", "fully_shard"]


class Shard:
    """One parameter: its whole shape, and the rows of dim 0 that this rank has.

    Rows are dealt out as `chunk` does it: all ranks have equally many, the last ones fewer or none.
    """

    def __init__(self, name: str, parameter: Any, group: Any) -> None:
        if not parameter.ndim:
            raise ValueError(f"fully_shard: '{name}' is a scalar, which has no rows to deal out")
        if hasattr(parameter, "_shard"):
            raise ValueError(
                f"fully_shard: '{name}' is a parameter of a module that is sharded already: "
                "modules that share a parameter are to be sharded together"
            )
        self.parameter, self.group = parameter, group
        self.places: list[tuple[Any, str, str]] = []
        """(module, name in it, name from the sharded module on)."""
        self.shape = tuple(parameter.shape)
        self.rows = -(-self.shape[0] // group.size())
        self.elements = self.rows * math.prod(self.shape[1:])
        """How many each rank sends: as many as the first has."""
        parameter.data = self.own_rows(parameter.detach()).clone()
        parameter._shard = self

    def own_rows(self, whole: Any) -> Any:
        """This rank's part of a tensor of the whole shape."""
        first = self.group.rank() * self.rows
        return whole[first : first + self.rows]

    def padded(self, part: Any) -> Any:
        """The elements of a rank's part as it sends them."""
        flat = part.reshape(-1)
        missing = self.elements - flat.numel()
        return torch.cat([flat, flat.new_zeros(missing)]) if missing else flat

    def whole(self, gathered: Any) -> Any:
        """The tensor of all ranks' parts."""
        shape = (self.group.size() * self.rows, *self.shape[1:])
        return gathered.reshape(shape)[: self.shape[0]]

    def gather(self, part: Any) -> Any:
        """The tensor of which each rank has a part, such as a moment of the optimizer's."""
        size, name = self.group.size(), carrying.name_of(self.group)
        with torch.no_grad():
            flat = self.padded(part)
            return self.whole(ops._c10d_all_gather_into_tensor(flat, size, name))

    def total_norm(self, norm: Any, norm_type: float) -> Any:
        """The norm of what all ranks have of which each knows its part's."""
        if norm_type == math.inf:
            collectives.all_reduce(norm, ReduceOp.MAX, self.group)
            return norm
        power = norm**norm_type
        collectives.all_reduce(power, group=self.group)
        return power ** (1 / norm_type)


class _Unit:
    """The parameters that are gathered together: a module's without those of sharded submodules."""

    def __init__(self, module: Any, group: Any, reshards: bool) -> None:
        self.group, self.reshards = group, reshards
        self.shards = list(_shards(module, group))
        if len({each.parameter.dtype for each in self.shards}) > 1:
            raise ValueError("fully_shard: the parameters of a module must have one dtype")
        self._runs: list[_Run] = []

    def gather(self) -> tuple[Any, list[Any]]:
        """What this rank sends, and all parameters whole: with gradients, if those are recorded."""
        size, name = self.group.size(), carrying.name_of(self.group)
        flat = torch.cat([each.padded(each.parameter) for each in self.shards])
        rows = ops._c10d_all_gather_into_tensor(flat, size, name).view(size, -1)
        parts = rows.split([each.elements for each in self.shards], 1)
        return flat, [each.whole(part) for each, part in zip(self.shards, parts, strict=True)]

    def before(self, module: Any, args: Any) -> None:
        """Put whole parameters where the module's code finds them."""
        if self.shards:
            self._runs.append(_Run(self))

    def after(self, module: Any, args: Any, output: Any) -> None:
        """Let them go."""
        if self._runs:
            self._runs.pop().end()

    # -- state ------------------------------------------------------------------------------------

    def save(self, module: Any, state: dict[str, Any], prefix: str, metadata: Any) -> None:
        """Put whole parameters into a state dict: all ranks ask for it."""
        for each in self.shards:
            whole = each.gather(each.parameter)
            for _, _, name in each.places:
                state[prefix + name] = whole

    def load(self, state: dict[str, Any], prefix: str, *unused: Any) -> None:
        """Take this rank's part of the whole parameters in a state dict."""
        for each in self.shards:
            for _, _, name in each.places:
                given = state.get(prefix + name)
                if given is not None and tuple(given.shape) == each.shape:
                    state[prefix + name] = each.own_rows(given)


class _Run:
    """One forward of a module, and the backward that belongs to it."""

    def __init__(self, unit: _Unit) -> None:
        self.unit = unit
        flat, wholes = unit.gather()
        size = unit.group.size()
        self._storages = {id(each._storage): place for place, each in enumerate(wholes)}
        self._again: list[Any] | None = None
        if flat.requires_grad:
            flat.register_hook(lambda grad: self._done(grad / size))
        self._hooks = saved_tensors_hooks(self._pack, self._unpack) if unit.reshards else None
        for shard, whole in zip(unit.shards, wholes, strict=True):
            for owner, name, _ in shard.places:
                owner.__dict__[name] = whole  # found before the parameter of that name
        if self._hooks is not None:
            self._hooks.__enter__()

    def end(self) -> None:
        """The forward is over, with a result or an error."""
        if self._hooks is not None:
            self._hooks.__exit__()
        for shard in self.unit.shards:
            for owner, name, _ in shard.places:
                del owner.__dict__[name]
        self._storages.clear()

    def _pack(self, tensor: Any) -> Any:
        """What stands for a saved tensor: its geometry, if it shows a whole parameter."""
        place = self._storages.get(id(tensor._storage))
        if place is None:
            return tensor
        return place, tensor.shape, tensor.stride(), tensor.storage_offset()

    def _unpack(self, packed: Any) -> Any:
        if packed.__class__ is not tuple:
            return packed
        place, *geometry = packed
        if self._again is None:
            with torch.no_grad():
                self._again = self.unit.gather()[1]
        return self._again[place].as_strided(*geometry)

    def _done(self, grad: Any) -> Any:
        self._again = None
        return grad


def _shards(module: Any, group: Any) -> Iterator[Shard]:
    """Deal out the parameters of a module, but for those of submodules that are sharded."""
    found: dict[int, Shard] = {}
    waiting = [("", module)]
    while waiting:
        prefix, owner = waiting.pop(0)
        for name, parameter in owner._parameters.items():
            if parameter is None:
                continue
            if id(parameter) not in found:
                found[id(parameter)] = shard = Shard(prefix + name, parameter, group)
                yield shard
            found[id(parameter)].places.append((owner, name, prefix + name))
        waiting += [
            (f"{prefix}{name}.", child)
            for name, child in owner._modules.items()
            if child is not None and not isinstance(child, FSDPModule)
        ]


class FSDPModule(Module):
    """What a module is besides its own class once `fully_shard` has dealt out its parameters."""

    _unit: _Unit


def fully_shard(
    module: Any, *, mesh: DeviceMesh | None = None, reshard_after_forward: bool | None = None
) -> Any:
    """Let each rank keep a part of the module's parameters; returns the module.

    Submodules first, then what holds them: each call is one unit that is gathered together. The
    optimizer is made afterwards, or before: the parameters stay the same objects, with this rank's
    rows. `state_dict` gives whole tensors and `load_state_dict` takes them; all ranks call it.
    mesh: one dim of ranks, all of the job by default. reshard_after_forward: False keeps whole
    parameters from forward to backward, which spares a collective. **Raises** ValueError for a mesh
    of several dims, a module that is sharded already, scalars, parameters of several dtypes, or
    those that a sharded module has, too.
    """
    if isinstance(module, FSDPModule):
        raise ValueError("fully_shard: the module is sharded already")
    if mesh is not None and mesh.ndim != 1:
        raise ValueError(f"fully_shard: a mesh of one dim is needed, got {mesh.ndim}")
    group = world.resolve(None) if mesh is None else mesh.get_group()
    unit = _Unit(module, group, reshard_after_forward is not False)
    cls = type(module)
    module.__class__ = type(f"FSDP{cls.__name__}", (FSDPModule, cls), {"__module__": __name__})
    module.__dict__["_unit"] = unit
    module.register_forward_pre_hook(unit.before, prepend=True)
    module.register_forward_hook(unit.after, always_call=True)
    module._register_state_dict_hook(unit.save)
    module._register_load_state_dict_pre_hook(unit.load)
    return module


public.place("distributed.fsdp", FSDPModule)
