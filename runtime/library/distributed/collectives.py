"""Collectives by PyTorch's functions: what all ranks of a group do together."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import timedelta
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core.user_warnings import warn
from torchgen_out._runtime.library.distributed import debug, options, reduce_op, world
from torchgen_out._runtime.library.distributed.buffers import check_readable, check_writable
from torchgen_out._runtime.library.distributed.reduce_op import ReduceOp

_NOT_MEMBER = "Running {} on global rank {} which does not belong to the given group."


def outside(name: str, group: Any) -> bool:
    """Whether this process is not in a group: then its call does nothing, but for a warning."""
    if not world.is_outside(group):
        return False
    warn(_NOT_MEMBER.format(name, world.get_rank()))
    return True


def _member(name: str, group: Any, tensor: Any = None) -> Any:
    """The group of a call; None if this process is not in it.

    In debug mode, all ranks' calls with a tensor are compared first.
    """
    if outside(name, group):
        return None
    own = world.resolve(group)
    if tensor is not None and debug.is_detailed():
        debug.check_alike(own, name, tensor)
    return own


def root(group: Any, rank: int | None, group_rank: int | None, default: int | None = None) -> int:
    """The group's rank that a user names by its global rank or by the group's.

    **Raises** ValueError if both are named, or none without a default.
    """
    if rank is not None and group_rank is not None:
        raise ValueError("Can't specify both group_src and src (or group_dst and dst)")
    if group_rank is not None:
        world.get_global_rank(group, group_rank)
        return group_rank
    if rank is None:
        if default is None:
            raise ValueError("Must specify src or group_src (or dst or group_dst)")
        rank = default
    return world.get_group_rank(group, rank)


def _finished(work: Any, async_op: bool) -> Any:
    """What a call returns: its work, or nothing once it has ended."""
    if async_op:
        if hasattr(work, "leave"):
            work.leave()
        return work
    if work is not None:
        work.wait()
    return None


def _check_list(tensors: Any, name: str, is_written: bool) -> None:
    if not isinstance(tensors, (list, tuple)):
        raise TypeError(
            f"Invalid function argument. Expected parameter `{name}` of type list[torch.Tensor]"
        )
    for each in tensors:
        (check_writable if is_written else check_readable)(each, name)


def _of_root(is_root: bool, given: Any, name: str, side: str, is_written: bool) -> list[Any]:
    """The list that one rank gives, in a list; an empty one on the others."""
    if is_root and not given:
        raise ValueError(f"Argument ``{name}`` must be specified on {side} rank.")
    if given and not is_root:
        raise ValueError(f"Argument ``{name}`` must NOT be specified on non-{side} ranks.")
    if given:
        _check_list(given, name, is_written)
    return [list(given)] if given else []


# -- reductions -----------------------------------------------------------------------------------


def all_reduce(
    tensor: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Let `tensor` be the reduction of all ranks' tensors, the same bits on each.

    Shape: the same on all ranks. dtype: float16 and bfloat16 are rounded after each rank; complex
    numbers are summed and averaged only. **Raises** RuntimeError or ValueError for an operation
    that the dtype has not; DistBackendError if another rank is gone, late, or in another call.
    """
    check_writable(tensor, "tensor")
    own = _member("all_reduce", group, tensor)
    if own is None:
        return None
    reduce_op.check(op, tensor.dtype, "all_reduce")
    opts = options.AllreduceOptions(None, async_op, op)
    return _finished(own.allreduce([tensor], opts), async_op)


def all_reduce_coalesced(
    tensors: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """`all_reduce` of several tensors in one call."""
    tensors = [tensors] if isinstance(tensors, torch.Tensor) else tensors
    _check_list(tensors, "tensors", True)
    if outside("all_reduce_coalesced", group) or not tensors:
        return None
    for each in tensors:
        reduce_op.check(op, each.dtype, "all_reduce")
    opts = options.AllreduceCoalescedOptions(None, async_op, op)
    work = world.resolve(group).allreduce_coalesced(list(tensors), opts)
    return work.get_future() if async_op else _finished(work, False)


def reduce(
    tensor: Any,
    dst: int | None = None,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Any:
    """Let the tensor of rank `dst` be the reduction of all ranks' tensors."""
    check_writable(tensor, "tensor")
    own = _member("reduce", group, tensor)
    if own is None:
        return None
    target = root(own, dst, group_dst)
    reduce_op.check(op, tensor.dtype, "reduce")
    opts = options.ReduceOptions(None, async_op, op, target)
    return _finished(own.reduce([tensor], opts), async_op)


def reduce_scatter(
    output: Any,
    input_list: Any,
    op: Any = ReduceOp.SUM,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Let `output` be the reduction of all ranks' input_list[r] on rank r."""
    check_writable(output, "output")
    _check_list(input_list, "input_list", False)
    own = _member("reduce_scatter", group, output)
    if own is None:
        return None
    opts = options.ReduceScatterOptions(None, async_op, op)
    return _finished(own.reduce_scatter([output], [list(input_list)], opts), async_op)


def reduce_scatter_tensor(
    output: Any, input: Any, op: Any = ReduceOp.SUM, group: Any = None, async_op: bool = False
) -> Any:
    """Let `output` be the reduction of the ranks' parts r of `input` on rank r.

    Shape: `input` has as many elements as all ranks' outputs together.
    """
    check_writable(output, "output")
    check_readable(input, "input")
    own = _member("reduce_scatter_tensor", group, output)
    if own is None:
        return None
    opts = options.ReduceScatterOptions(None, async_op, op)
    return _finished(own._reduce_scatter_base(output, input, opts), async_op)


reduce_scatter_single = _reduce_scatter_base = reduce_scatter_tensor

# -- moving ---------------------------------------------------------------------------------------


def broadcast(
    tensor: Any,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Any:
    """Let all ranks' tensors have the elements of rank `src`."""
    check_writable(tensor, "tensor")
    own = _member("broadcast", group, tensor)
    if own is None:
        return None
    source = root(own, src, group_src)
    opts = options.BroadcastOptions(None, async_op, source)
    return _finished(own.broadcast([tensor], opts), async_op)


def all_gather(tensor_list: Any, tensor: Any, group: Any = None, async_op: bool = False) -> Any:
    """Let tensor_list[r] have the elements of rank r's `tensor`."""
    _check_list(tensor_list, "tensor_list", True)
    check_readable(tensor, "tensor")
    own = _member("all_gather", group, tensor)
    if own is None:
        return None
    opts = options.AllgatherOptions(None, async_op)
    return _finished(own.allgather([list(tensor_list)], [tensor], opts), async_op)


def all_gather_into_tensor(
    output_tensor: Any, input_tensor: Any, group: Any = None, async_op: bool = False
) -> Any:
    """Let `output_tensor` have the elements of all ranks' `input_tensor`, in the order of ranks.

    Shape: (ranks, *S) or (ranks * S[0], *S[1:]) for inputs of shape S.
    """
    check_writable(output_tensor, "output_tensor")
    check_readable(input_tensor, "input_tensor")
    own = _member("all_gather_into_tensor", group, input_tensor)
    if own is None:
        return None
    opts = options.AllgatherOptions(None, async_op)
    return _finished(own._allgather_base(output_tensor, input_tensor, opts), async_op)


all_gather_single = _all_gather_base = all_gather_into_tensor


def all_gather_coalesced(
    output_tensor_lists: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False
) -> Any:
    """`all_gather` of several tensors: output_tensor_lists[r][i] is rank r's input i."""
    if outside("all_gather_coalesced", group):
        return None
    works = [
        all_gather([outputs[i] for outputs in output_tensor_lists], each, group, True)
        for i, each in enumerate(input_tensor_list)
    ]
    if async_op:
        return torch.futures.collect_all([work.get_future() for work in works])
    for work in works:
        work.wait()
    return None


def gather(
    tensor: Any,
    gather_list: Any = None,
    dst: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_dst: int | None = None,
) -> Any:
    """Let gather_list[r] on rank `dst` (0 if not given) have the elements of rank r's `tensor`.

    **Raises** ValueError if that rank gives no list, or another one does.
    """
    check_readable(tensor, "tensor")
    own = _member("gather", group, tensor)
    if own is None:
        return None
    target = root(own, dst, group_dst, None if world.is_default(group) is False else 0)
    is_root = own.rank() == target
    outputs = _of_root(is_root, gather_list, "gather_list", "destination", True)
    opts = options.GatherOptions(None, async_op, target)
    return _finished(own.gather(outputs, [tensor], opts), async_op)


def scatter(
    tensor: Any,
    scatter_list: Any = None,
    src: int | None = None,
    group: Any = None,
    async_op: bool = False,
    group_src: int | None = None,
) -> Any:
    """Let `tensor` have the elements of scatter_list[r] of rank `src` (0 if not given) on rank r.

    **Raises** ValueError if that rank gives no list, or another one does.
    """
    check_writable(tensor, "tensor")
    own = _member("scatter", group, tensor)
    if own is None:
        return None
    source = root(own, src, group_src, None if world.is_default(group) is False else 0)
    is_root = own.rank() == source
    inputs = _of_root(is_root, scatter_list, "scatter_list", "source", False)
    opts = options.ScatterOptions(None, async_op, source)
    return _finished(own.scatter([tensor], inputs, opts), async_op)


def all_to_all(
    output_tensor_list: Any, input_tensor_list: Any, group: Any = None, async_op: bool = False
) -> Any:
    """Let output_tensor_list[r] have the elements of the tensor that rank r has for this rank."""
    _check_list(output_tensor_list, "output_tensor_list", True)
    _check_list(input_tensor_list, "input_tensor_list", False)
    own = _member("all_to_all", group)
    if own is None:
        return None
    opts = options.AllToAllOptions(None, async_op)
    work = own.alltoall(list(output_tensor_list), list(input_tensor_list), opts)
    return _finished(work, async_op)


def all_to_all_single(
    output: Any,
    input: Any,
    output_split_sizes: Sequence[int] | None = None,
    input_split_sizes: Sequence[int] | None = None,
    group: Any = None,
    async_op: bool = False,
) -> Any:
    """Exchange rows: `input` is split among ranks, `output` takes their parts for this rank.

    Shape: dim 0 is split into the given sizes, or evenly. **Raises** RuntimeError if they do not
    add up; DistBackendError if what a rank sends is not what another expects.
    """
    check_writable(output, "output")
    check_readable(input, "input")
    own = _member("all_to_all_single", group)
    if own is None:
        return None
    opts = options.AllToAllOptions(None, async_op)
    work = own.alltoall_base(
        output, input, list(output_split_sizes or ()), list(input_split_sizes or ()), opts
    )
    return _finished(work, async_op)


# -- waiting for each other -----------------------------------------------------------------------


def barrier(
    group: Any = None,
    async_op: bool = False,
    device_ids: Any = None,
    timeout: timedelta | None = None,
) -> Any:
    """Wait until all ranks are here."""
    if outside("barrier", group):
        return None
    opts = options.BarrierOptions(timeout, async_op, list(device_ids or ()))
    return _finished(world.resolve(group).barrier(opts), async_op)


def monitored_barrier(
    group: Any = None, timeout: timedelta | None = None, wait_all_ranks: bool = False
) -> None:
    """Wait until all ranks are here; rank 0 tells which are not within the time-out.

    wait_all_ranks: all of them, not the first only. **Raises** RuntimeError; ValueError unless the
    backend is gloo.
    """
    if outside("monitored_barrier", group):
        return
    if world.get_backend(group) != "gloo":
        raise ValueError("monitored_barrier is only implemented for GLOO backend.")
    world.resolve(group).monitored_barrier(timeout, wait_all_ranks)
