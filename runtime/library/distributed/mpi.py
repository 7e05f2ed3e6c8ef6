"""`ProcessGroupMPI`: collectives by MPI's non-blocking calls, through mpi4py.

MPI goes on only inside of its calls: whoever waits asks again and again, and a thread asks for what
nobody waits for if the MPI library allows calls of several threads. This is the one place that
knows mpi4py, which is imported with the first group.
"""

from __future__ import annotations

import threading
import time
import zlib
from collections.abc import Callable, Sequence
from datetime import timedelta
from typing import Any

import mpi4py.MPI as MPI
import numpy as np

from torchgen_out._runtime.library.distributed import errors, reduce_op
from torchgen_out._runtime.library.distributed.buffers import Buffer
from torchgen_out._runtime.library.distributed.gloo import process_group as arguments
from torchgen_out._runtime.library.distributed.gloo import progress, reducing
from torchgen_out._runtime.library.distributed.process_group import ProcessGroup
from torchgen_out._runtime.library.distributed.reduce_op import RedOpType, ReduceOp
from torchgen_out._runtime.library.distributed.work import Work

_OPS = {
    RedOpType.SUM: MPI.SUM,
    RedOpType.AVG: MPI.SUM,
    RedOpType.PREMUL_SUM: MPI.SUM,
    RedOpType.PRODUCT: MPI.PROD,
    RedOpType.MIN: MPI.MIN,
    RedOpType.MAX: MPI.MAX,
    RedOpType.BAND: MPI.BAND,
    RedOpType.BOR: MPI.BOR,
    RedOpType.BXOR: MPI.BXOR,
}
_OF_FLAGS = {
    RedOpType.SUM: MPI.LOR,
    RedOpType.MAX: MPI.LOR,
    RedOpType.BOR: MPI.LOR,
    RedOpType.PRODUCT: MPI.LAND,
    RedOpType.MIN: MPI.LAND,
    RedOpType.BAND: MPI.LAND,
    RedOpType.BXOR: MPI.LXOR,
}
_SPINS = 200
_NAP = 0.0002


class RequestWork(Work):
    """One non-blocking call of MPI."""

    def __init__(self, request: Any, group: ProcessGroupMPI, result: Any, end: Any) -> None:
        super().__init__(result)
        self._request, self._group, self._end = request, group, end
        self._status = MPI.Status()

    def poll(self) -> None:
        """Look whether it has ended."""
        with self._group.lock:
            if self._is_done or not self._request.Test(self._status):
                return
            error: BaseException | None = None
            try:
                self._end()
            except RuntimeError as caught:
                error = caught
            self.finish(error)

    def has_left(self) -> bool:
        """Return whether it goes on."""
        return not self._is_done

    def is_completed(self) -> bool:
        self.poll()
        return self._is_done

    def leave(self) -> None:
        if MPI.Query_thread() == MPI.THREAD_MULTIPLE:
            progress.look_after(self)

    def _proceed(self, timeout: float | None) -> None:
        seconds = self._group.timeout if timeout is None else timeout
        end, looks = time.monotonic() + seconds, 0
        while True:
            self.poll()
            if self._is_done:
                return
            looks += 1
            if looks > _SPINS:
                time.sleep(_NAP)
                if time.monotonic() > end:
                    raise errors.DistBackendError(
                        f"Timed out after {seconds:g} seconds: other ranks of the MPI group have "
                        "not come to the same call"
                    )

    def source_rank(self) -> int:
        """Return the rank that has sent."""
        return int(self._status.Get_source())


def ranks() -> tuple[int, int]:
    """This process's rank among those that `mpiexec` has started, and their number."""
    return MPI.COMM_WORLD.Get_rank(), MPI.COMM_WORLD.Get_size()


class ProcessGroupMPI(ProcessGroup):
    """A communicator of some ranks of `mpiexec`."""

    def __init__(self, members: Sequence[int], timeout: timedelta, name: str) -> None:
        own = MPI.COMM_WORLD.Get_group().Incl(list(members))
        tag = zlib.crc32(name.encode()) % 32767
        self._comm = MPI.COMM_WORLD.Create_group(own, tag)
        super().__init__(self._comm.Get_rank(), len(members))
        self.timeout = timeout.total_seconds()
        self.lock = threading.RLock()
        self._own_ops: dict[Any, Any] = {}

    def getBackendName(self) -> str:
        return "mpi"

    def _set_timeout(self, timeout: timedelta) -> None:
        self.timeout = timeout.total_seconds()

    def shutdown(self) -> None:
        for op in self._own_ops.values():
            op.Free()
        self._own_ops.clear()
        if self._comm != MPI.COMM_NULL:
            self._comm.Free()

    # -- how a call is run ------------------------------------------------------------------------

    def _run(self, begin: Callable[[], Any], opts: Any, result: Any, *buffers: Buffer) -> Any:
        def end() -> None:
            for each in buffers:
                each.store()

        return self._run_to(begin, opts, result, end)

    def _run_to(self, begin: Callable[[], Any], opts: Any, result: Any, end: Any) -> Any:
        with self.lock:
            work = RequestWork(begin(), self, result, end)
        if getattr(opts, "asyncOp", True):
            return work
        given = getattr(opts, "timeout", None)
        work.wait(given)
        return None

    def _operation(self, kind: RedOpType, dtype: Any) -> tuple[Any, Any]:
        """MPI's operation and NumPy's dtype of the elements; for narrow floats, one of ours."""
        if dtype.kind == "b":
            return _OF_FLAGS[kind], np.dtype(bool)
        if dtype.opmath is dtype:
            return _OPS[kind], dtype.numpy
        if (kind, dtype) not in self._own_ops:
            reduce = reducing.reducer(kind, dtype)

            def apply(one: Any, both: Any, datatype: Any) -> None:
                first = np.frombuffer(one, dtype.numpy)
                second = np.frombuffer(both, dtype.numpy)
                reduce(first, second, second)

            self._own_ops[kind, dtype] = MPI.Op.Create(apply, commute=True)
        return self._own_ops[kind, dtype], dtype.numpy

    def _scaled(self, kind: RedOpType, dtype: Any, buffer: Buffer) -> None:
        if kind is ReduceOp.AVG:
            view = buffer.bytes.view(dtype.numpy)
            reducing.scale(view, dtype, self.size(), inverse=True)
        buffer.store()

    # -- reductions -------------------------------------------------------------------------------

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        works = [self._all_reduce(tensor, opts, tensors) for tensor in tensors]
        for work in works[:-1]:
            if work is not None:
                work.wait()
        return works[-1]

    allreduce_coalesced = allreduce

    def _all_reduce(self, tensor: Any, opts: Any, result: Any) -> Any:
        op = ReduceOp.SUM if opts is None else opts.reduceOp
        kind = reduce_op.check(op, tensor.dtype, "all_reduce")
        buffer, (function, numbers) = Buffer(tensor), self._operation(kind, tensor.dtype)
        data = arguments._premultiplied(buffer.bytes, tensor.dtype, op, copies=False)
        view = data.view(numbers)
        return self._run_to(
            lambda: self._comm.Iallreduce(MPI.IN_PLACE, view, function),
            opts,
            result,
            lambda: self._scaled(kind, tensor.dtype, buffer),
        )

    def reduce(self, tensors: Any, opts: Any = None) -> Any:
        (tensor,), root = tensors, opts.rootRank
        kind = reduce_op.check(opts.reduceOp, tensor.dtype, "reduce")
        buffer, (function, numbers) = Buffer(tensor), self._operation(kind, tensor.dtype)
        is_root = root == self.rank()
        data = arguments._premultiplied(
            buffer.bytes, tensor.dtype, opts.reduceOp, copies=not is_root
        )
        view = data.view(numbers)
        given: Any = (MPI.IN_PLACE, view) if is_root else (view, None)
        return self._run_to(
            lambda: self._comm.Ireduce(given[0], given[1], function, root),
            opts,
            tensors,
            lambda: self._scaled(kind, tensor.dtype, buffer) if is_root else None,
        )

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (output,), (inputs,) = output_tensors, input_tensors
        arguments._check_parts("reduce_scatter", inputs, self.size(), output)
        return self._reduce_scatter(
            output, np.concatenate([Buffer(each).bytes for each in inputs]), opts
        )

    def _reduce_scatter_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        arguments._check_whole("reduce_scatter_tensor", input, output, self.size())
        return self._reduce_scatter(output, Buffer(input).bytes, opts)

    def _reduce_scatter(self, output: Any, data: Any, opts: Any) -> Any:
        op = ReduceOp.SUM if opts is None else opts.reduceOp
        kind = reduce_op.check(op, output.dtype, "reduce_scatter")
        buffer, (function, numbers) = Buffer(output, False), self._operation(kind, output.dtype)
        data = arguments._premultiplied(data, output.dtype, op, copies=True)
        return self._run_to(
            lambda: self._comm.Ireduce_scatter_block(
                data.view(numbers), buffer.bytes.view(numbers), function
            ),
            opts,
            [output],
            lambda: self._scaled(kind, output.dtype, buffer),
        )

    # -- moving -----------------------------------------------------------------------------------

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:
        buffer, root = Buffer(tensors[0]), opts.rootRank
        stored = [] if root == self.rank() else [buffer]
        return self._run(lambda: self._comm.Ibcast(buffer.bytes, root), opts, tensors, *stored)

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (outputs,), (input,) = output_tensors, input_tensors
        arguments._check_parts("all_gather", outputs, self.size(), input)
        own, buffers = Buffer(input).bytes, [Buffer(each, False) for each in outputs]
        whole = np.empty((self.size(), own.size), np.uint8)
        return self._run_to(
            lambda: self._comm.Iallgather(own, whole), opts, outputs, _spread(whole, buffers)
        )

    def _allgather_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        arguments._check_whole("all_gather_into_tensor", output, input, self.size())
        own, buffer = Buffer(input).bytes, Buffer(output, False)
        return self._run(lambda: self._comm.Iallgather(own, buffer.bytes), opts, [output], buffer)

    def gather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (input,), root = input_tensors, opts.rootRank
        own, buffers, whole = Buffer(input).bytes, [], None
        if root == self.rank():
            arguments._check_parts("gather", output_tensors[0], self.size(), input)
            buffers = [Buffer(each, False) for each in output_tensors[0]]
            whole = np.empty((self.size(), own.size), np.uint8)
        return self._run_to(
            lambda: self._comm.Igather(own, whole, root),
            opts,
            output_tensors,
            _spread(whole, buffers),
        )

    def scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        (output,), root = output_tensors, opts.rootRank
        whole, buffer = None, Buffer(output, False)
        if root == self.rank():
            arguments._check_parts("scatter", input_tensors[0], self.size(), output)
            whole = np.stack([Buffer(each).bytes for each in input_tensors[0]])
        return self._run(
            lambda: self._comm.Iscatter(whole, buffer.bytes, root), opts, output_tensors, buffer
        )

    def alltoall(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        buffers = [Buffer(each, False) for each in output_tensors]
        parts = [Buffer(each).bytes for each in input_tensors]
        sizes = [each.bytes.size for each in buffers], [part.size for part in parts]
        came = np.empty(sum(sizes[0]), np.uint8)
        cuts = np.split(came, np.cumsum(sizes[0])[:-1])
        return self._exchange(came, np.concatenate(parts), sizes, opts, _spread(cuts, buffers))

    def alltoall_base(
        self, output: Any, input: Any, output_splits: Any, input_splits: Any, opts: Any = None
    ) -> Any:
        buffer, data = Buffer(output, False), Buffer(input).bytes
        outs = arguments._split("output", buffer.bytes, output, output_splits, self.size())
        parts = arguments._split("input", data, input, input_splits, self.size())
        sizes = [out.size for out in outs], [part.size for part in parts]
        return self._exchange(buffer.bytes, data, sizes, opts, buffer.store)

    def _exchange(self, came: Any, data: Any, sizes: Any, opts: Any, end: Any) -> Any:
        into, out = [came, (sizes[0], None), MPI.BYTE], [data, (sizes[1], None), MPI.BYTE]
        return self._run_to(lambda: self._comm.Ialltoallv(out, into), opts, None, end)

    def barrier(self, opts: Any = None) -> Any:
        return self._run(self._comm.Ibarrier, opts, None)

    # -- two ranks --------------------------------------------------------------------------------

    def _deliver(self, begin: Callable[[], Any], tensors: Any, end: Any) -> RequestWork:
        with self.lock:
            return RequestWork(begin(), self, tensors, end)

    def send(self, tensors: Any, dstRank: int, tag: int = 0) -> Any:
        data = Buffer(tensors[0]).bytes
        return self._deliver(lambda: self._comm.Isend(data, dstRank, tag), tensors, lambda: data)

    def recv(self, tensors: Any, srcRank: int, tag: int = 0) -> Any:
        buffer = Buffer(tensors[0], False)
        return self._deliver(
            lambda: self._comm.Irecv(buffer.bytes, srcRank, tag), tensors, buffer.store
        )

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Any:
        return self.recv(tensors, MPI.ANY_SOURCE, tag)


def _spread(whole: Any, buffers: Sequence[Buffer]) -> Callable[[], None]:
    """What brings rows of bytes into their tensors."""

    def end() -> None:
        for row, buffer in zip(() if whole is None else whole, buffers, strict=True):
            buffer.bytes[:] = row
            buffer.store()

    return end


MPI.COMM_WORLD.Set_errhandler(MPI.ERRORS_RETURN)
