"""How operators reach process groups: `ops/composite/collective.py` asks for one by its name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.library.distributed import collectives, world
from torchgen_out._runtime.library.distributed.reduce_op import RedOpType, ReduceOp, kind_of
from torchgen_out._runtime.ops.composite import collective

_OPS = {
    "sum": ReduceOp.SUM,
    "avg": ReduceOp.AVG,
    "product": ReduceOp.PRODUCT,
    "min": ReduceOp.MIN,
    "max": ReduceOp.MAX,
    "band": ReduceOp.BAND,
    "bor": ReduceOp.BOR,
    "bxor": ReduceOp.BXOR,
}
_WORDS: dict[RedOpType, str] = {op: word for word, op in _OPS.items()}


def word_of(op: Any) -> str:
    """The word for an operation, or the word itself. **Raises** ValueError for PREMUL_SUM."""
    if isinstance(op, str):
        return op.lower()
    kind = kind_of(op)
    if kind not in _WORDS:
        raise ValueError(f"{kind} is no operation of differentiable collectives")
    return _WORDS[kind]


class Carrier:
    """A process group as operators see it."""

    def __init__(self, group: Any) -> None:
        self._group = group

    def size(self) -> int:
        return int(self._group.size())

    def rank(self) -> int:
        return int(self._group.rank())

    def all_reduce(self, out: Any, reduce_op: str) -> None:
        collectives.all_reduce(out, _OPS[reduce_op], self._group)

    def reduce(self, out: Any, reduce_op: str, dst: int) -> None:
        collectives.reduce(out, op=_OPS[reduce_op], group=self._group, group_dst=dst)

    def broadcast(self, out: Any, src: int) -> None:
        collectives.broadcast(out, group=self._group, group_src=src)

    def all_gather(self, out: Any, input: Any) -> None:
        collectives.all_gather_into_tensor(out, input, self._group)

    def reduce_scatter(self, out: Any, input: Any, reduce_op: str) -> None:
        collectives.reduce_scatter_tensor(out, input, _OPS[reduce_op], self._group)

    def gather(self, out: Any, input: Any, dst: int) -> bool:
        is_target = self.rank() == dst
        parts = self._parts(out) if is_target else None
        collectives.gather(input.reshape(1) if not input.ndim else input, parts,
                           group=self._group, group_dst=dst)  # fmt: skip
        return is_target

    def scatter(self, out: Any, input: Any, src: int) -> None:
        parts = self._parts(input) if self.rank() == src else None
        collectives.scatter(out, parts, group=self._group, group_src=src)

    def all_to_all(
        self, out: Any, input: Any, out_splits: Sequence[int], in_splits: Sequence[int]
    ) -> None:
        collectives.all_to_all_single(out, input, out_splits, in_splits, self._group)

    def _parts(self, whole: Any) -> list[Any]:
        return list(whole.chunk(self.size()))


def name_of(group: Any = None) -> str:
    """The name by which operators find a group: of one that is given, or the default one."""
    return str(world.resolve(group).group_name)


def _find(name: str) -> Carrier:
    return Carrier(world.by_name(name))


collective.find_groups_by(_find)
