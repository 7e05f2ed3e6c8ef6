"""`DeviceMesh`: ranks in rows and columns, with a process group along each dim."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import world

__all__ = ["DeviceMesh", "init_device_mesh"]


class DeviceMesh:
    """All ranks of a job, or some, in an array; dims may have names.

    mesh: a tensor or nested list of different global ranks. All processes of the job make it, in
    the same order. **Raises** ValueError for names that are not one a dim, or ranks that are twice
    in it.
    """

    def __init__(
        self, device_type: str, mesh: Any, *, mesh_dim_names: Sequence[str] | None = None
    ) -> None:
        if not world.is_initialized():
            world.init_process_group()
        given = torch.as_tensor(mesh, dtype=torch.int64, device="cpu")
        ranks = given.reshape(-1).tolist()
        if len(set(ranks)) != len(ranks):
            raise ValueError(f"DeviceMesh: a rank is twice in the mesh {ranks}")
        groups = [_groups_along(given, dim) for dim in range(given.ndim)]
        self._set(device_type, given, mesh_dim_names, groups)

    def _set(self, device_type: str, mesh: Any, names: Any, groups: list[Any]) -> None:
        self.device_type, self.mesh, self._groups = device_type, mesh, groups
        self.mesh_dim_names = None if names is None else tuple(names)
        if names is not None and len(set(names)) != mesh.ndim:
            raise ValueError(
                f"mesh_dim_names: a name for each of {mesh.ndim} dims is needed, got {list(names)}"
            )

    @classmethod
    def from_group(cls, group: Any, device_type: str) -> DeviceMesh:
        """Make a mesh of one dim of the ranks of a process group."""
        made = object.__new__(cls)
        ranks = torch.tensor(world.get_process_group_ranks(group))
        made._set(device_type, ranks, None, [world.resolve(group)])
        return made

    # -- what it looks like -----------------------------------------------------------------------

    @property
    def ndim(self) -> int:
        """How many dims there are."""
        return int(self.mesh.ndim)

    @property
    def shape(self) -> tuple[int, ...]:
        """How many ranks there are along each dim."""
        return tuple(self.mesh.shape)

    def size(self, mesh_dim: int | None = None) -> int:
        """Return how many ranks there are, or how many along a dim."""
        return int(self.mesh.numel() if mesh_dim is None else self.mesh.shape[mesh_dim])

    def __repr__(self) -> str:
        names = "" if self.mesh_dim_names is None else f", mesh_dim_names={self.mesh_dim_names}"
        return f"DeviceMesh('{self.device_type}', {self.mesh.tolist()}{names})"

    # -- where this process is --------------------------------------------------------------------

    def get_rank(self) -> int:
        """Return this process's global rank."""
        return world.get_rank()

    def get_coordinate(self) -> list[int] | None:
        """Return this process's place along each dim; None if it is not in the mesh."""
        places = (self.mesh == world.get_rank()).nonzero().tolist()
        return places[0] if places else None

    def get_local_rank(self, mesh_dim: int | str | None = None) -> int:
        """Return this process's place along a dim, which may be left out if there is one."""
        return world.get_rank(self.get_group(mesh_dim))

    def get_group(self, mesh_dim: int | str | None = None) -> Any:
        """Return the process group along a dim of which this process is a member.

        **Raises** RuntimeError if no dim is named and there are several; KeyError for a name that
        no dim has.
        """
        if mesh_dim is None and self.ndim != 1:
            raise RuntimeError(
                f"Found the DeviceMesh have {self.ndim} dimensions. Optional kwarg `mesh_dim` "
                "needs to be specified when device_mesh.ndim > 1."
            )
        dim = self._place(mesh_dim) if isinstance(mesh_dim, str) else mesh_dim or 0
        return self._groups[dim]

    def get_all_groups(self) -> list[Any]:
        """Return this process's group along each dim."""
        return list(self._groups)

    # -- parts ------------------------------------------------------------------------------------

    def _place(self, name: str) -> int:
        names = self.mesh_dim_names or ()
        if name not in names:
            raise KeyError(f"Invalid mesh_dim_name {name}: the dims of the mesh are {names}")
        return names.index(name)

    def __getitem__(self, mesh_dim_names: str | tuple[str, ...]) -> DeviceMesh:
        """Return the part of the mesh along some dims, by their names, in which this process is."""
        names = (mesh_dim_names,) if isinstance(mesh_dim_names, str) else tuple(mesh_dim_names)
        dims, own = [self._place(each) for each in names], self.get_coordinate()
        if own is None:
            raise RuntimeError("DeviceMesh: this process is in no part of the mesh")
        index = tuple(slice(None) if i in dims else place for i, place in enumerate(own))
        order = [sorted(dims).index(dim) for dim in dims]
        made = object.__new__(DeviceMesh)
        groups = [self._groups[dim] for dim in dims]
        made._set(self.device_type, self.mesh[index].permute(order), names, groups)
        return made


def _groups_along(mesh: Any, dim: int) -> Any:
    """Make the group of each row of ranks along a dim; return this process's."""
    rows = mesh.movedim(dim, -1).reshape(-1, mesh.shape[dim]).tolist()
    if rows == [list(range(world.get_world_size()))]:
        return world.resolve(None)
    made = [world.new_group(row, sort_ranks=False) for row in rows]
    own = [each for each in made if not world.is_outside(each)]
    return own[0] if own else world.GroupMember.NON_GROUP_MEMBER


def init_device_mesh(
    device_type: str, mesh_shape: Sequence[int], *, mesh_dim_names: Sequence[str] | None = None
) -> DeviceMesh:
    """Put all ranks into an array of a shape, in their order.

    The default process group is made if there is none. **Raises** RuntimeError for a shape of
    another number of ranks.
    """
    if not world.is_initialized():
        world.init_process_group()
    count, size = math.prod(mesh_shape), world.get_world_size()
    if count != size:
        raise RuntimeError(
            f"init_device_mesh: the shape {tuple(mesh_shape)} has {count} places, "
            f"there are {size} ranks"
        )
    ranks = torch.arange(count).reshape(tuple(mesh_shape))
    return DeviceMesh(device_type, ranks, mesh_dim_names=mesh_dim_names)


public.place("distributed.device_mesh", DeviceMesh)
