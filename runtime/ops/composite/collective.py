"""Collectives as operators: which group carries them out, found by its name.

Groups are made two floors higher, in `library.distributed`, which says here how they are found. A
process alone needs none.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Protocol

from torchgen_out._runtime.core.tensor import Tensor


class Group(Protocol):
    """What some processes do together. Ranks are the group's; results are written to `out`."""

    def size(self) -> int:
        """How many ranks there are."""
        ...

    def all_reduce(self, out: Tensor, reduce_op: str) -> None:
        """Reduce `out` over all ranks, in place."""
        ...

    def reduce(self, out: Tensor, reduce_op: str, dst: int) -> None:
        """The same on one rank; elsewhere `out` is undefined after it."""
        ...

    def broadcast(self, out: Tensor, src: int) -> None:
        """Give all ranks the elements of one."""
        ...

    def all_gather(self, out: Tensor, input: Tensor) -> None:
        """Put all ranks' inputs behind each other."""
        ...

    def reduce_scatter(self, out: Tensor, input: Tensor, reduce_op: str) -> None:
        """Reduce all ranks' inputs, of which each rank gets its part."""
        ...

    def gather(self, out: Tensor, input: Tensor, dst: int) -> bool:
        """As `all_gather` on one rank. Returns whether this is the one."""
        ...

    def scatter(self, out: Tensor, input: Tensor, src: int) -> None:
        """Give each rank its part of the input of one."""
        ...

    def all_to_all(
        self, out: Tensor, input: Tensor, out_splits: Sequence[int], in_splits: Sequence[int]
    ) -> None:
        """Exchange rows."""
        ...

    def rank(self) -> int:
        """This process's rank."""
        ...


class _Alone:
    """The group of this process: everything is there already."""

    def size(self) -> int:
        return 1

    def rank(self) -> int:
        return 0

    def all_reduce(self, out: Tensor, reduce_op: str) -> None:
        pass

    def reduce(self, out: Tensor, reduce_op: str, dst: int) -> None:
        pass

    def broadcast(self, out: Tensor, src: int) -> None:
        pass

    def all_gather(self, out: Tensor, input: Tensor) -> None:
        out.copy_(input.reshape(out.shape))

    def reduce_scatter(self, out: Tensor, input: Tensor, reduce_op: str) -> None:
        out.copy_(input)

    def gather(self, out: Tensor, input: Tensor, dst: int) -> bool:
        self.all_gather(out, input)
        return True

    def scatter(self, out: Tensor, input: Tensor, src: int) -> None:
        out.copy_(input)

    def all_to_all(
        self, out: Tensor, input: Tensor, out_splits: Sequence[int], in_splits: Sequence[int]
    ) -> None:
        out.copy_(input)


_ALONE = _Alone()


def _unknown(name: str) -> Group:
    raise ValueError(f"there is no process group '{name}': init_process_group makes the first")


_find: Callable[[str], Group] = _unknown


def find_groups_by(find: Callable[[str], Group]) -> None:
    """Let `find(name)` give a process group. It raises ValueError for one that is not there."""
    global _find
    _find = find


def _group(name: str, ranks: int | None = None, root: int = 0) -> Group:
    """A group of so many ranks, one of which is `root`. Raises: ValueError if it is another."""
    found: Group = _find(name) if name else _ALONE
    size = found.size()
    if ranks not in (None, size):
        raise ValueError(f"group_size: the process group '{name}' has {size} ranks, not {ranks}")
    if not 0 <= root < size:
        raise ValueError(f"the process group '{name}' of {size} ranks has no rank {root}")
    return found


# -- kernels for all backends: they get tensors, below autograd -----------------------------------


def all_reduce(out: Tensor, input: Tensor, reduce_op: str, group_name: str) -> None:
    """out = the reduction over all ranks."""
    group = _group(group_name)
    group.all_reduce(out.copy_(input.detach()), reduce_op)


def reduce(out: Tensor, input: Tensor, reduce_op: str, dst: int, group_name: str) -> None:
    """out = the reduction on rank `dst`, else 0."""
    group = _group(group_name, root=dst)
    group.reduce(out.copy_(input.detach()), reduce_op, dst)
    if group.rank() != dst:
        out.zero_()


def broadcast(out: Tensor, input: Tensor, src: int, group_name: str) -> None:
    """out = the input of rank `src`."""
    group = _group(group_name, root=src)
    group.broadcast(out.copy_(input.detach()), src)


def all_gather_into_tensor(out: Tensor, input: Tensor, group_size: int, group_name: str) -> None:
    """out = all ranks' inputs."""
    _group(group_name, group_size).all_gather(out, input.detach())


def reduce_scatter_tensor(
    out: Tensor, input: Tensor, reduce_op: str, group_size: int, group_name: str
) -> None:
    """out = this rank's part of the reduction."""
    _group(group_name, group_size).reduce_scatter(out, input.detach(), reduce_op)


def gather(out: Tensor, input: Tensor, dst: int, group_size: int, group_name: str) -> None:
    """out = all ranks' inputs on rank `dst`, else 0."""
    if not _group(group_name, group_size, dst).gather(out, input.detach(), dst):
        out.zero_()


def scatter(out: Tensor, input: Tensor, src: int, group_size: int, group_name: str) -> None:
    """out = this rank's part of the input of rank `src`."""
    _group(group_name, group_size, src).scatter(out, input.detach(), src)


def all_to_all_single(
    out: Tensor,
    input: Tensor,
    output_split_sizes: Sequence[int],
    input_split_sizes: Sequence[int],
    group_name: str,
) -> None:
    """out = the rows that all ranks have for this one."""
    group = _group(group_name)
    group.all_to_all(out, input.detach(), output_split_sizes, input_split_sizes)
