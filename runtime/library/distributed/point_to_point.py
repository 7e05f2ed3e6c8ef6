"""Messages between two ranks, and batches of them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import world
from torchgen_out._runtime.library.distributed.buffers import check_readable, check_writable
from torchgen_out._runtime.library.distributed.collectives import outside, root


def _check_tag(tag: int) -> None:
    if not 0 <= tag < 1 << 31:
        raise ValueError(f"tag {tag} is not within 0 and {(1 << 31) - 1}")


def _begin_send(tensor: Any, dst: int | None, group: Any, tag: int, group_dst: int | None) -> Any:
    check_readable(tensor, "tensor")
    _check_tag(tag)
    own = world.resolve(group)
    target = root(own, dst, group_dst)
    if target == own.rank():
        raise ValueError(
            "Invalid destination rank: destination rank should not be the same as "
            "the rank of the current process."
        )
    return own.send([tensor], target, tag)


def _begin_receive(
    tensor: Any, src: int | None, group: Any, tag: int, group_src: int | None
) -> Any:
    check_writable(tensor, "tensor")
    _check_tag(tag)
    own = world.resolve(group)
    if src is None and group_src is None:
        return own.recv_anysource([tensor], tag)
    source = root(own, src, group_src)
    if source == own.rank():
        raise ValueError(
            "Invalid source rank: source rank should not be the same as "
            "the rank of the current process."
        )
    return own.recv([tensor], source, tag)


def isend(
    tensor: Any,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> Any:
    """Begin to send a tensor to a rank; it must stay as it is until the `Work` has ended."""
    if outside("isend", group):
        return None
    work = _begin_send(tensor, dst, group, tag, group_dst)
    if hasattr(work, "leave"):
        work.leave()
    return work


def irecv(
    tensor: Any,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> Any:
    """Begin to receive a tensor from a rank, None for whichever sends first."""
    if outside("irecv", group):
        return None
    work = _begin_receive(tensor, src, group, tag, group_src)
    if hasattr(work, "leave"):
        work.leave()
    return work


def send(
    tensor: Any,
    dst: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_dst: int | None = None,
) -> None:
    """Send a tensor to a rank. Small ones may still be under way when it returns."""
    if not outside("send", group):
        _begin_send(tensor, dst, group, tag, group_dst).wait()


def recv(
    tensor: Any,
    src: int | None = None,
    group: Any = None,
    tag: int = 0,
    group_src: int | None = None,
) -> int:
    """Receive a tensor from a rank, None for whichever sends first; return that rank.

    **Raises** DistBackendError if what comes has another size or dtype, or nothing does in time.
    """
    if outside("recv", group):
        return -1
    work = _begin_receive(tensor, src, group, tag, group_src)
    work.wait()
    if src is not None:
        return src
    if group_src is not None:
        return world.get_global_rank(group, group_src)
    return world.get_global_rank(world.resolve(group), work.source_rank())


class P2POp:
    """One of a batch: `op` is `isend` or `irecv`. **Raises** ValueError for another function."""

    def __init__(
        self,
        op: Callable[..., Any],
        tensor: Any,
        peer: int | None = None,
        group: Any = None,
        tag: int = 0,
        group_peer: int | None = None,
    ) -> None:
        if op not in (isend, irecv):
            raise ValueError(
                "Invalid ``op``. Expected ``op`` to be of type "
                "``torch.distributed.isend`` or ``torch.distributed.irecv``."
            )
        check_readable(tensor, "tensor")
        self.op, self.tensor, self.group, self.tag = op, tensor, group, tag
        self.group_peer = root(world.resolve(group), peer, group_peer)
        self.peer = world.get_global_rank(world.resolve(group), self.group_peer)


def batch_isend_irecv(p2p_op_list: list[P2POp]) -> list[Any]:
    """Begin all sends and receives of a list; return their `Work`.

    **Raises** ValueError for an empty list, or one of several groups.
    """
    if not p2p_op_list or not all(isinstance(each, P2POp) for each in p2p_op_list):
        raise ValueError(
            "Invalid ``p2p_op_list``. Each op is expected to be of type "
            "``torch.distributed.P2POp``."
        )
    if len({id(world.resolve(each.group)) for each in p2p_op_list}) > 1:
        raise ValueError("All ops need to use the same group.")
    return [
        each.op(each.tensor, group=each.group, tag=each.tag, **_peer(each)) for each in p2p_op_list
    ]


def _peer(each: P2POp) -> dict[str, int]:
    return {"group_dst" if each.op is isend else "group_src": each.group_peer}


public.place("distributed", P2POp)
