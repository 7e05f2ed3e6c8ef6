"""A stand-in for nccl4py and for CUDA's streams, on which `ProcessGroupNCCL` runs without a GPU.

`nccl.core` has the names and signatures of nccl4py 0.6 that the library uses, and carries calls out
by a gloo group of the same ranks, at once: what a stream would do later is not shown. `install`
lets the backend serve tensors of the host.
"""

from __future__ import annotations

import contextlib
import enum
import os
import sys
from types import ModuleType, SimpleNamespace
from typing import Any

import torchgen_out as torch
import torchgen_out.distributed as dist


class NcclRedOp(enum.IntEnum):
    SUM, PROD, MAX, MIN, AVG = range(5)


_OPS = {
    NcclRedOp.SUM: dist.ReduceOp.SUM,
    NcclRedOp.PROD: dist.ReduceOp.PRODUCT,
    NcclRedOp.MAX: dist.ReduceOp.MAX,
    NcclRedOp.MIN: dist.ReduceOp.MIN,
    NcclRedOp.AVG: dist.ReduceOp.AVG,
}


class UniqueId:
    def __init__(self, data: bytes) -> None:
        self._data = data

    def __bytes__(self) -> bytes:
        return self._data

    @staticmethod
    def from_bytes(b: bytes) -> UniqueId:
        return UniqueId(bytes(b))


def get_unique_id(empty: bool = False) -> UniqueId:
    return UniqueId(os.urandom(16))


_grouped: list[tuple[Communicator, str, Any, int]] | None = None


def group_start() -> None:
    global _grouped
    _grouped = []


def group_end(*, simulate: bool = False) -> None:
    """Messages of a group go together; those to oneself are copies."""
    global _grouped
    waiting, _grouped = _grouped or [], None
    own = [each for each in waiting if each[3] == each[0].rank]
    sent = [buffer for _, call, buffer, _ in own if call == "send"]
    received = [buffer for _, call, buffer, _ in own if call == "recv"]
    for source, target in zip(sent, received, strict=True):
        target.copy_(source)
    others = [each for each in waiting if each[3] != each[0].rank]
    works = [getattr(comm._group, call)([buffer], peer) for comm, call, buffer, peer in others]
    for work in works:
        work.wait()


def _dense(*buffers: Any) -> None:
    for each in buffers:
        assert each.is_contiguous()
        assert not each.requires_grad
        assert not each.is_complex()
        assert each.dtype is not torch.bool


class Communicator:
    """Calls that check what NCCL asks for: dense buffers of one dtype, ranks, a stream."""

    error = 0

    @classmethod
    def init(cls, nranks: int, rank: int, unique_id: UniqueId, config: Any = None) -> Communicator:
        made, name = cls(), bytes(unique_id).hex()
        store = dist.FileStore(f"{os.environ['JOB_FOLDER']}/nccl{name}", nranks)
        made._group = dist.ProcessGroupGloo(store, rank, nranks)
        made.rank, made.ended = rank, ""
        return made

    def _run(self, call: str, *args: Any, **options: Any) -> None:
        assert not self.ended
        options = SimpleNamespace(asyncOp=False, timeout=None, **options)
        getattr(self._group, call)(*args, options)

    def allreduce(self, sendbuf: Any, recvbuf: Any, op: NcclRedOp, *, stream: int) -> None:
        _dense(sendbuf, recvbuf)
        assert sendbuf.data_ptr() == recvbuf.data_ptr()
        self._run("allreduce", [recvbuf], reduceOp=_OPS[op])

    def reduce(self, sendbuf: Any, recvbuf: Any, op: NcclRedOp, root: int, *, stream: int) -> None:
        _dense(sendbuf, recvbuf)
        self._run("reduce", [recvbuf], reduceOp=_OPS[op], rootRank=root)

    def broadcast(self, sendbuf: Any, recvbuf: Any, root: int, *, stream: int) -> None:
        _dense(sendbuf, recvbuf)
        self._run("broadcast", [recvbuf], rootRank=root)

    def allgather(self, sendbuf: Any, recvbuf: Any, *, stream: int) -> None:
        _dense(sendbuf, recvbuf)
        self._run("_allgather_base", recvbuf, sendbuf)

    def reduce_scatter(self, sendbuf: Any, recvbuf: Any, op: NcclRedOp, *, stream: int) -> None:
        _dense(sendbuf, recvbuf)
        self._run("_reduce_scatter_base", recvbuf, sendbuf, reduceOp=_OPS[op])

    def send(self, sendbuf: Any, peer: int, *, stream: int) -> None:
        self._message("send", sendbuf, peer)

    def recv(self, recvbuf: Any, peer: int, *, stream: int) -> None:
        self._message("recv", recvbuf, peer)

    def _message(self, call: str, buffer: Any, peer: int) -> None:
        _dense(buffer)
        assert _grouped is not None
        _grouped.append((self, call, buffer, peer))

    def get_async_error(self) -> int:
        return self.error

    def destroy(self) -> None:
        self.ended = "destroyed"
        self._group.shutdown()

    def abort(self) -> None:
        self.ended = "aborted"
        self._group.shutdown()


class Event:
    is_over = True

    def query(self) -> bool:
        return self.is_over


class Stream:
    cuda_stream, device = 0, torch.device("cpu")

    def wait_stream(self, other: Stream) -> None: ...
    def wait_event(self, event: Event) -> None: ...
    def synchronize(self) -> None: ...

    def record_event(self) -> Event:
        return Event()


def install() -> None:
    """Have the backend find all this."""
    core, package = ModuleType("nccl.core"), ModuleType("nccl")
    for each in (NcclRedOp, UniqueId, Communicator, get_unique_id, group_start, group_end):
        setattr(core, each.__name__, each)
    package.core = core  # type: ignore[attr-defined]
    sys.modules.update({"nccl": package, "nccl.core": core})
    current = Stream()
    torch.cuda.Stream = Stream
    torch.cuda.current_stream = lambda device=None: current
    torch.cuda.stream = contextlib.nullcontext
    torch.Tensor.record_stream = lambda self, stream: None
    dist.Backend.backend_capability["nccl"] = ["cpu"]
