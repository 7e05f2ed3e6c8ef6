"""`ProcessGroupGloo`: the backend of this library, on shared memory and sockets."""

from __future__ import annotations

import itertools
import os
import time
from collections.abc import Iterable, Sequence
from datetime import timedelta
from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.shared_memory import SharedMemory
from torchgen_out._runtime.library.distributed import errors, reduce_op
from torchgen_out._runtime.library.distributed.buffers import Buffer
from torchgen_out._runtime.library.distributed.gloo import (
    reducing,
    segment,
    sharing,
    stamps,
    waking,
)
from torchgen_out._runtime.library.distributed.gloo.mesh import Mesh
from torchgen_out._runtime.library.distributed.gloo.messaged import MessagedCollectives
from torchgen_out._runtime.library.distributed.gloo.messages import ANY, Messages
from torchgen_out._runtime.library.distributed.gloo.progress import Collective, Queue
from torchgen_out._runtime.library.distributed.gloo.shared import SharedCollectives
from torchgen_out._runtime.library.distributed.gloo.transferring import Mailbox
from torchgen_out._runtime.library.distributed.process_group import ProcessGroup
from torchgen_out._runtime.library.distributed.reduce_op import ReduceOp
from torchgen_out._runtime.library.distributed.stores.store import Store

_MONITOR = 1 << 40
"""Tag of the messages of monitored barriers."""


class ProcessGroupGloo(ProcessGroup):
    """Collectives of ranks of one machine in shared memory, of several machines by messages.

    The variable TORCHGEN_TRANSPORT=messages has messages used on one machine, too.
    """

    def __init__(
        self, store: Store, rank: int, size: int, timeout: timedelta = timedelta(minutes=30)
    ) -> None:
        super().__init__(rank, size)
        seconds = timeout.total_seconds()
        self._mesh = Mesh(store, rank, size, seconds)
        memory = self._share(seconds)
        self._messages = Messages(self._mesh.ends)
        self._queue = Queue(seconds)
        self._mailbox = Mailbox(self._messages, seconds)
        self._collectives: Any
        if memory is None:
            self._collectives = MessagedCollectives(self._messages, rank, size)
        else:
            whole = segment.Segment(memory, rank, size)
            self._collectives = SharedCollectives(whole, self._messages)

    def _share(self, timeout: float) -> SharedMemory | None:
        """The group's shared memory; None if its ranks cannot share any."""
        asked = os.environ.get("TORCHGEN_TRANSPORT") != "messages"
        fits = self._mesh.is_local and waking.has_ordered_stores()
        return sharing.agree(self._mesh, asked and fits, timeout)

    def getBackendName(self) -> str:
        return "gloo"

    def _set_timeout(self, timeout: timedelta) -> None:
        self._queue.timeout = self._mailbox.timeout = timeout.total_seconds()

    def shutdown(self) -> None:
        self._queue.end()
        self._messages.close()
        self._mesh.close()

    # -- how a collective is run ------------------------------------------------------------------

    def _run(self, collective: Collective, doing: str, opts: Any, result: Any) -> Any:
        given = getattr(opts, "timeout", None)
        timeout = given.total_seconds() if given is not None else None
        if getattr(opts, "asyncOp", True):
            return self._queue.submit(collective, doing, result, timeout)
        self._queue.run(collective, doing, timeout)
        return None

    def _stamp(self, kind: int, tensor: Any, opts: Any = None, root: int = 1023) -> int:
        op = getattr(opts, "reduceOp", None)
        number = stamps.NO_OP if op is None else int(reduce_op.kind_of(op))
        return stamps.stamp(kind, tensor.nbytes, tensor.dtype.index, number, root)

    # -- reductions -------------------------------------------------------------------------------

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        op = ReduceOp.SUM if opts is None else opts.reduceOp
        collectives = [self._all_reduce(each, op) for each in tensors]
        return self._run(_one_by_one(collectives), "all_reduce", opts, tensors)

    allreduce_coalesced = allreduce

    def _all_reduce(self, tensor: Any, op: Any) -> Collective:
        kind = reduce_op.check(op, tensor.dtype, "all_reduce")
        stamp = stamps.stamp(stamps.ALL_REDUCE, tensor.nbytes, tensor.dtype.index, int(kind))
        function = reducing.reducer(kind, tensor.dtype)
        buffer = Buffer(tensor)
        own = _premultiplied(buffer.bytes, tensor.dtype, op, copies=False)
        run = self._collectives.all_reduce(own, function, tensor.dtype.numpy, stamp)
        return _stored(run, [buffer], kind, tensor.dtype, self.size())

    def reduce(self, tensors: Any, opts: Any = None) -> Any:
        (tensor,), root = tensors, opts.rootRank
        kind = reduce_op.check(opts.reduceOp, tensor.dtype, "reduce")
        function, buffer = reducing.reducer(kind, tensor.dtype), Buffer(tensor)
        is_root = root == self.rank()
        own = _premultiplied(buffer.bytes, tensor.dtype, opts.reduceOp, copies=not is_root)
        stamp = self._stamp(stamps.REDUCE, tensor, opts, root)
        run = self._collectives.reduce(own, function, tensor.dtype.numpy, root, stamp)
        if is_root:
            run = _stored(run, [buffer], kind, tensor.dtype, self.size())
        return self._run(run, "reduce", opts, tensors)

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (output,), (inputs,) = output_tensors, input_tensors
        _check_parts("reduce_scatter", inputs, self.size(), output)
        return self._reduce_scatter(output, [Buffer(each).bytes for each in inputs], opts)

    def _reduce_scatter_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        _check_whole("reduce_scatter_tensor", input, output, self.size())
        parts = Buffer(input).bytes.reshape(self.size(), output.nbytes)
        return self._reduce_scatter(output, list(parts), opts)

    def _reduce_scatter(self, output: Any, parts: Sequence[Any], opts: Any) -> Any:
        op = ReduceOp.SUM if opts is None else opts.reduceOp
        kind = reduce_op.check(op, output.dtype, "reduce_scatter")
        function, buffer = reducing.reducer(kind, output.dtype), Buffer(output, False)
        own = [_premultiplied(part, output.dtype, op, copies=True) for part in parts]
        stamp = stamps.stamp(stamps.REDUCE_SCATTER, output.nbytes, output.dtype.index, int(kind))
        run = self._collectives.reduce_scatter(
            buffer.bytes, own, function, output.dtype.numpy, stamp
        )
        run = _stored(run, [buffer], kind, output.dtype, self.size())
        return self._run(run, "reduce_scatter", opts, [output])

    # -- moving -----------------------------------------------------------------------------------

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:
        (tensor,), root = tensors, opts.rootRank
        buffer = Buffer(tensor, root == self.rank())
        stamp = self._stamp(stamps.BROADCAST, tensor, None, root)
        run = self._collectives.broadcast(buffer.bytes, root, stamp)
        if root != self.rank():
            run = _stored(run, [buffer])
        return self._run(run, "broadcast", opts, tensors)

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (outputs,), (input,) = output_tensors, input_tensors
        _check_parts("all_gather", outputs, self.size(), input)
        buffers = [Buffer(each, False) for each in outputs]
        stamp = self._stamp(stamps.ALL_GATHER, input)
        outs = [each.bytes for each in buffers]
        run = self._collectives.all_gather(Buffer(input).bytes, outs, stamp)
        return self._run(_stored(run, buffers), "all_gather", opts, outputs)

    def _allgather_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        _check_whole("all_gather_into_tensor", output, input, self.size())
        buffer = Buffer(output, False)
        parts = list(buffer.bytes.reshape(self.size(), input.nbytes))
        stamp = self._stamp(stamps.ALL_GATHER, input)
        run = self._collectives.all_gather(Buffer(input).bytes, parts, stamp)
        return self._run(_stored(run, [buffer]), "all_gather", opts, [output])

    def gather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (input,), root = input_tensors, opts.rootRank
        buffers = None
        if root == self.rank():
            _check_parts("gather", output_tensors[0], self.size(), input)
            buffers = [Buffer(each, False) for each in output_tensors[0]]
        outs = None if buffers is None else [each.bytes for each in buffers]
        stamp = self._stamp(stamps.GATHER, input, None, root)
        run = self._collectives.gather(Buffer(input).bytes, outs, root, stamp)
        return self._run(_stored(run, buffers or []), "gather", opts, output_tensors)

    def scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (output,), root = output_tensors, opts.rootRank
        parts = None
        if root == self.rank():
            _check_parts("scatter", input_tensors[0], self.size(), output)
            parts = [Buffer(each).bytes for each in input_tensors[0]]
        buffer = Buffer(output, False)
        stamp = self._stamp(stamps.SCATTER, output, None, root)
        run = self._collectives.scatter(buffer.bytes, parts, root, stamp)
        return self._run(_stored(run, [buffer]), "scatter", opts, output_tensors)

    def alltoall(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        for name, given in (("output", output_tensors), ("input", input_tensors)):
            if len(given) != self.size():
                raise ValueError(
                    f"all_to_all: {self.size()} {name} tensors are needed, got {len(given)}"
                )
        buffers = [Buffer(each, False) for each in output_tensors]
        parts = [Buffer(each).bytes for each in input_tensors]
        outs = [each.bytes for each in buffers]
        return self._all_to_all(outs, parts, buffers, output_tensors[0].dtype, opts)

    def alltoall_base(
        self, output: Any, input: Any, output_splits: Any, input_splits: Any, opts: Any = None
    ) -> Any:
        buffer = Buffer(output, False)
        outs = _split("output", buffer.bytes, output, output_splits, self.size())
        parts = _split("input", Buffer(input).bytes, input, input_splits, self.size())
        return self._all_to_all(outs, parts, [buffer], output.dtype, opts)

    def _all_to_all(self, outs: Any, parts: Any, buffers: Any, dtype: Any, opts: Any) -> Any:
        stamp = stamps.stamp(stamps.ALL_TO_ALL, 0, dtype.index)
        run = self._collectives.all_to_all(outs, parts, stamp)
        return self._run(_stored(run, buffers), "all_to_all", opts, None)

    def barrier(self, opts: Any = None) -> Any:
        stamp = stamps.stamp(stamps.BARRIER)
        return self._run(self._collectives.barrier(stamp), "barrier", opts, None)

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all: bool = False) -> None:
        """Wait for all ranks. **Raises** RuntimeError on rank 0 that names those who do not come;
        on the others if rank 0 does not let them go on."""
        seconds = self._queue.timeout if timeout is None else timeout.total_seconds()
        nothing = torch.empty(0, dtype=torch.uint8)
        if self.rank():
            self._mailbox.send(nothing, 0, _MONITOR).wait(timedelta(seconds=seconds))
            self._mailbox.receive(nothing, 0, _MONITOR).wait(timedelta(seconds=2 * seconds))
            return
        missing = self._missing(seconds, wait_all)
        if missing:
            self.shutdown()  # lets the others know at once
            raise RuntimeError(_told_missing(missing, seconds * 1000, wait_all))
        for rank in range(1, self.size()):
            self._mailbox.send(nothing, rank, _MONITOR).wait()

    def _missing(self, seconds: float, all_of_them: bool) -> list[int]:
        """The ranks that do not come to a monitored barrier in time, or the first of them."""
        end = time.monotonic() + seconds
        nothing, missing = torch.empty(0, dtype=torch.uint8), []
        for rank in range(1, self.size()):
            left = timedelta(seconds=max(end - time.monotonic(), 0.001))
            try:
                self._mailbox.receive(nothing, rank, _MONITOR).wait(left)
            except errors.DistBackendError:
                missing.append(rank)
                if not all_of_them:
                    break
        return missing

    # -- two ranks --------------------------------------------------------------------------------

    def send(self, tensors: Any, dstRank: int, tag: int = 0) -> Any:
        return self._mailbox.send(tensors[0], dstRank, tag)

    def recv(self, tensors: Any, srcRank: int, tag: int = 0) -> Any:
        return self._mailbox.receive(tensors[0], srcRank, tag)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Any:
        return self._mailbox.receive(tensors[0], ANY, tag)


def _told_missing(ranks: list[int], milliseconds: float, all_of_them: bool) -> str:
    who = ", ".join(map(str, ranks))
    if not all_of_them:
        return f"[Rank 0]: Rank {who} failed to pass monitoredBarrier in {milliseconds:.0f} ms"
    return (
        f"Rank 0 timed out in monitoredBarrier after {milliseconds:.0f} ms: "
        f"[Rank 0]: Ranks {who} failed to pass monitoredBarrier"
    )


def _one_by_one(collectives: Iterable[Collective]) -> Collective:
    for each in collectives:
        yield from each


def _stored(
    collective: Collective,
    buffers: Sequence[Buffer],
    kind: Any = None,
    dtype: Any = None,
    size: int = 1,
) -> Collective:
    """Run a collective, then divide for an average, then bring the bytes into their tensors."""
    yield from collective
    for buffer in buffers:
        if kind is ReduceOp.AVG:
            reducing.scale(buffer.bytes.view(dtype.numpy), dtype, size, inverse=True)
        buffer.store()


def _premultiplied(data: Any, dtype: Any, op: Any, copies: bool) -> Any:
    """The bytes of elements times the factor of PREMUL_SUM."""
    if reduce_op.kind_of(op) is not ReduceOp.PREMUL_SUM:
        return data
    factor = getattr(op, "factor", None)
    if factor is None:
        raise ValueError("ReduceOp.PREMUL_SUM has no factor: make it with a number or a tensor")
    data = data.copy() if copies else data
    reducing.scale(data.view(dtype.numpy), dtype, float(factor))
    return data


def _check_parts(name: str, parts: Sequence[Any], count: int, like: Any) -> None:
    """**Raises** ValueError if there are not `count` tensors of the size and dtype of `like`."""
    if len(parts) != count:
        raise ValueError(f"{name}: a tensor for each of {count} ranks is needed, got {len(parts)}")
    for part in parts:
        if part.numel() != like.numel() or part.dtype is not like.dtype:
            raise ValueError(
                f"{name}: tensors of {like.numel()} elements of {like.dtype} are needed, "
                f"got {part.numel()} of {part.dtype}"
            )


def _check_whole(name: str, whole: Any, part: Any, count: int) -> None:
    if whole.dtype is not part.dtype:
        raise ValueError(f"{name}: tensors of one dtype are needed: {whole.dtype}, {part.dtype}")
    if whole.numel() != part.numel() * count:
        raise ValueError(
            f"{name}: {whole.numel()} elements are not {count} times {part.numel()} elements"
        )


def _split(name: str, data: Any, tensor: Any, splits: Any, count: int) -> list[Any]:
    """The bytes of a tensor's rows, a part for each rank."""
    rows = tensor.shape[0] if tensor.ndim else 1
    if not splits:
        if rows % count:
            raise RuntimeError(
                f"all_to_all_single: {name} has {rows} rows, which {count} ranks do not divide"
            )
        splits = [rows // count] * count
    if len(splits) != count or sum(splits) != rows or min(splits) < 0:
        raise RuntimeError(
            f"all_to_all_single: {name} has {rows} rows, not the sum of {list(splits)} "
            f"for {count} ranks"
        )
    row = data.size // rows if rows else 0
    cuts = np.cumsum([0, *splits]) * row
    return [data[first:last] for first, last in itertools.pairwise(cuts)]


public.place("distributed", ProcessGroupGloo)
