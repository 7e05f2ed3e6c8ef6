"""`ProcessGroupNCCL`: collectives of CUDA tensors in stream order, through nccl4py.

Every call runs on a stream of the group's own: it begins when the caller's stream has come to it,
and `Work.wait` lets the caller's stream wait for it, not the caller. A thread looks after what is
on its way: if NCCL reports an error, or the time-out is over, the communicator is aborted, and the
next call says why. This is the one place that knows nccl4py (0.6). It has been run with a stand-in
for nccl4py and for streams, not on a GPU.
"""

from __future__ import annotations

import time
from collections import deque
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import nccl.core as nccl

import torchgen_out as torch
from torchgen_out._runtime.library.distributed import errors, reduce_op
from torchgen_out._runtime.library.distributed.gloo import progress
from torchgen_out._runtime.library.distributed.process_group import ProcessGroup
from torchgen_out._runtime.library.distributed.reduce_op import RedOpType, ReduceOp
from torchgen_out._runtime.library.distributed.stores.store import Store
from torchgen_out._runtime.library.distributed.work import Work

_OPS = {
    RedOpType.SUM: nccl.NcclRedOp.SUM,
    RedOpType.PREMUL_SUM: nccl.NcclRedOp.SUM,
    RedOpType.AVG: nccl.NcclRedOp.AVG,
    RedOpType.PRODUCT: nccl.NcclRedOp.PROD,
    RedOpType.MIN: nccl.NcclRedOp.MIN,
    RedOpType.MAX: nccl.NcclRedOp.MAX,
}
_OF_FLAGS = {
    RedOpType.SUM: nccl.NcclRedOp.MAX,
    RedOpType.MAX: nccl.NcclRedOp.MAX,
    RedOpType.BOR: nccl.NcclRedOp.MAX,
    RedOpType.PRODUCT: nccl.NcclRedOp.MIN,
    RedOpType.MIN: nccl.NcclRedOp.MIN,
    RedOpType.BAND: nccl.NcclRedOp.MIN,
}
"""Flags are bytes of 0 and 1 to NCCL."""
_GOES_ON = (0, 7)
"""NCCL's numbers for success, and for a call in progress."""
_LOOK_SECONDS = 0.05
_NAP = 0.0002


class StreamWork(Work):
    """A call on the group's stream, that is to end until some time."""

    def __init__(self, event: Any, kept: Any, result: Any, until: float) -> None:
        super().__init__(result)
        self._event, self._kept, self.until = event, kept, until

    def is_completed(self) -> bool:
        return self._error is not None or bool(self._event.query())

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Let the caller's stream wait. The future's result is there in stream order, too."""
        if self._error is None:
            torch.cuda.current_stream().wait_event(self._event)
            if not self._is_done:
                self.finish()
        return super().wait()


class ProcessGroupNCCL(ProcessGroup):
    """A communicator of one CUDA device per rank: the current one when the group is first used."""

    def __init__(self, store: Store, rank: int, size: int, timeout: timedelta) -> None:
        super().__init__(rank, size)
        if rank == 0:
            store.set("id", bytes(nccl.get_unique_id()))
        unique = nccl.UniqueId.from_bytes(store.get("id"))
        self._comm = nccl.Communicator.init(size, rank, unique)
        self._stream = torch.cuda.Stream()
        self.timeout = timeout.total_seconds()
        self._failure: BaseException | None = None
        self._works: deque[StreamWork] = deque()
        self._next_look = 0.0

    def getBackendName(self) -> str:
        return "nccl"

    def _set_timeout(self, timeout: timedelta) -> None:
        self.timeout = timeout.total_seconds()

    def shutdown(self) -> None:
        if self._failure is None:
            self._stream.synchronize()
            self._works.clear()
            self._comm.destroy()

    # -- what is on its way -----------------------------------------------------------------------

    def has_left(self) -> bool:
        """Return whether a call has yet to end."""
        return bool(self._works)

    def poll(self) -> None:
        """Look for calls that have ended, for an error of NCCL's, and for one that is late."""
        now = time.monotonic()
        if now < self._next_look:
            return
        self._next_look = now + _LOOK_SECONDS
        while self._works and self._works[0].is_completed():
            self._works.popleft()
        if not self._works:
            return
        state = int(self._comm.get_async_error())
        if state not in _GOES_ON:
            self._fail(f"NCCL reports error {state}: another rank is gone, or a device has failed")
        elif now > self._works[0].until:
            self._fail(
                f"Timed out after {self.timeout:g} seconds: other ranks of the NCCL group are "
                "gone, or have not come to the same call"
            )

    def _fail(self, why: str) -> None:
        """End all calls: none comes to its end any more."""
        self._failure = errors.DistBackendError(why)
        works = list(self._works)
        self._works.clear()
        self._comm.abort()
        for work in works:
            work.finish(self._failure)

    def _run(self, call: Callable[[int], Any], kept: list[Any], opts: Any, result: Any) -> Any:
        """call: what is done with the stream's handle. kept: tensors that it uses."""
        if self._failure is not None:
            raise errors.DistBackendError(
                f"the group cannot be used any more: {self._failure}"
            ) from self._failure
        self._stream.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(self._stream), torch.no_grad():
            call(self._stream.cuda_stream)
        for tensor in kept:
            tensor.record_stream(self._stream)
        until = time.monotonic() + self.timeout
        work = StreamWork(self._stream.record_event(), kept, result, until)
        self._works.append(work)
        progress.look_after(self)
        if getattr(opts, "asyncOp", True):
            return work
        work.wait()
        return None

    def _operation(self, op: Any, dtype: Any) -> Any:
        kind = reduce_op.check(op, dtype, "NCCL")
        known = _OF_FLAGS if dtype is torch.bool else _OPS
        if kind not in known:
            raise errors.not_supported("nccl", f"ReduceOp.{kind.name}")
        return known[kind]

    def _in_place(self, tensor: Any, call: Callable[[Any, int], Any], opts: Any) -> Any:
        """Run a call on the elements of a tensor, or on a dense copy that is copied back."""
        dense = _reals(tensor).contiguous()

        def run(stream: int) -> None:
            call(dense, stream)
            if dense.data_ptr() != tensor.data_ptr():
                _reals(tensor).copy_(dense)

        return self._run(run, [tensor, dense], opts, [tensor])

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        op = ReduceOp.SUM if opts is None else opts.reduceOp
        work = None
        for tensor in tensors:
            factor, kind = getattr(op, "factor", None), self._operation(op, tensor.dtype)

            def call(dense: Any, stream: int, kind: Any = kind, factor: Any = factor) -> None:
                if factor is not None:
                    dense.mul_(factor)
                self._comm.allreduce(dense, dense, kind, stream=stream)

            work = self._in_place(tensor, call, opts)
        return work

    allreduce_coalesced = allreduce

    def reduce(self, tensors: Any, opts: Any = None) -> Any:
        kind = self._operation(opts.reduceOp, tensors[0].dtype)
        return self._in_place(
            tensors[0],
            lambda t, stream: self._comm.reduce(t, t, kind, opts.rootRank, stream=stream),
            opts,
        )

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:
        return self._in_place(
            tensors[0],
            lambda t, stream: self._comm.broadcast(t, t, opts.rootRank, stream=stream),
            opts,
        )

    def _allgather_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        own = _reals(input).contiguous()
        return self._in_place(
            output, lambda t, stream: self._comm.allgather(own, t, stream=stream), opts
        )

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (outputs,), own = output_tensors, _reals(input_tensors[0]).contiguous()
        whole = own.new_empty((self.size(), *own.shape))

        def call(stream: int) -> None:
            self._comm.allgather(own, whole, stream=stream)
            for output, part in zip(outputs, whole, strict=True):
                _reals(output).copy_(part)

        return self._run(call, [own, whole, *outputs], opts, outputs)

    def _reduce_scatter_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        op = ReduceOp.SUM if opts is None else opts.reduceOp
        kind, own = self._operation(op, output.dtype), _reals(input).contiguous()
        return self._in_place(
            output,
            lambda t, stream: self._comm.reduce_scatter(own, t, kind, stream=stream),
            opts,
        )

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        stacked = torch.stack(tuple(input_tensors[0]))
        return self._reduce_scatter_base(output_tensors[0], stacked, opts)

    def gather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        own, root = _reals(input_tensors[0]).contiguous(), opts.rootRank
        outputs = output_tensors[0] if output_tensors else []
        parts = [_reals(each).contiguous() for each in outputs]
        moves = [(part, rank) for rank, part in enumerate(parts)]
        return self._moves([(own, root)], moves, list(zip(outputs, parts, strict=True)), opts)

    def scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (output,), root = output_tensors, opts.rootRank
        part = _reals(output).contiguous()
        given = input_tensors[0] if input_tensors else []
        sends = [(_reals(each).contiguous(), rank) for rank, each in enumerate(given)]
        return self._moves(sends, [(part, root)], [(output, part)], opts)

    def alltoall(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        parts = [_reals(each).contiguous() for each in output_tensors]
        sends = [(_reals(each).contiguous(), rank) for rank, each in enumerate(input_tensors)]
        moves = [(part, rank) for rank, part in enumerate(parts)]
        return self._moves(sends, moves, list(zip(output_tensors, parts, strict=True)), opts)

    def alltoall_base(
        self, output: Any, input: Any, output_splits: Any, input_splits: Any, opts: Any = None
    ) -> Any:
        size = self.size()
        outs = output.split(output_splits or [output.shape[0] // size] * size)
        ins = input.split(input_splits or [input.shape[0] // size] * size)
        return self.alltoall(list(outs), list(ins), opts)

    def _moves(self, sends: Any, receives: Any, copies: Any, opts: Any) -> Any:
        """Sends and receives of one group of calls; then dense parts into their tensors."""

        def call(stream: int) -> None:
            nccl.group_start()
            for tensor, rank in sends:
                if tensor.numel():
                    self._comm.send(tensor, rank, stream=stream)
            for tensor, rank in receives:
                if tensor.numel():
                    self._comm.recv(tensor, rank, stream=stream)
            nccl.group_end()
            for tensor, part in copies:
                if part.data_ptr() != tensor.data_ptr():
                    _reals(tensor).copy_(part)

        kept = [tensor for tensor, _ in [*sends, *receives]]
        return self._run(call, kept, opts, [tensor for tensor, _ in copies])

    def barrier(self, opts: Any = None) -> Any:
        work = self.allreduce([torch.zeros(1, device=self._stream.device)])
        while not work.is_completed():  # a dead rank must not hold the process in the driver
            time.sleep(_NAP)
        work.wait()
        return work

    def send(self, tensors: Any, dstRank: int, tag: int = 0) -> Any:
        return self._moves([(_reals(tensors[0]).contiguous(), dstRank)], [], [], None)

    def recv(self, tensors: Any, srcRank: int, tag: int = 0) -> Any:
        part = _reals(tensors[0]).contiguous()
        return self._moves([], [(part, srcRank)], [(tensors[0], part)], None)


def _reals(tensor: Any) -> Any:
    """A tensor as NCCL sees it: complex numbers as pairs, flags as bytes."""
    tensor = tensor.detach()
    if tensor.is_complex():
        return torch.view_as_real(tensor)
    return tensor.view(torch.uint8) if tensor.dtype is torch.bool else tensor
