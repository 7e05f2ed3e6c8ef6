"""`ProcessGroup`: what a backend does. Lists of tensors because PyTorch's interface has them.

A group that users hold passes each call on to the backend of the tensors' device. A backend from
outside subclasses it and overrides what it can do; the rest says that it cannot.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import errors

Maker = Callable[[], Any]


class ProcessGroup:
    """Some processes that talk to each other, each with a rank in the group."""

    def __init__(self, *args: Any) -> None:
        """(rank, size) or (store, rank, size)."""
        self._rank, self._size = args[-2:]
        self._makers: dict[str, Maker] = {}
        self._backends: dict[str, Any] = {}
        self.group_name = self.group_desc = ""

    def rank(self) -> int:
        """Return this process's rank in the group."""
        return int(self._rank)

    def size(self) -> int:
        """Return how many ranks there are."""
        return int(self._size)

    def name(self) -> str:
        """Return the backend's name."""
        return self.getBackendName()

    def getBackendName(self) -> str:
        """Return the backend's name."""
        return ",".join(dict.fromkeys(getattr(m, "name", "custom") for m in self._makers.values()))

    # -- which backend ----------------------------------------------------------------------------

    def _register_backend(self, device_type: str, maker: Maker) -> None:
        self._makers[device_type] = maker

    def _get_backend(self, device: Any) -> Any:
        """The backend of a device type, connected when it is first needed."""
        kind = torch.device(device).type
        if kind not in self._backends:
            if kind not in self._makers:
                raise RuntimeError(f"No backend type associated with device type {kind}")
            self._backends[kind] = self._makers[kind]()
        return self._backends[kind]

    def _any_backend(self) -> Any:
        return self._get_backend(next(iter(self._makers), "cpu"))

    def _call(self, method: str, tensor: Any, *args: Any) -> Any:
        if not self._makers:
            raise errors.not_supported(type(self).__name__, method)
        return getattr(self._get_backend(tensor.device), method)(*args)

    # -- collectives ------------------------------------------------------------------------------

    def allreduce(self, tensors: Any, opts: Any = None) -> Any:
        """Reduce each tensor over all ranks, in place."""
        return self._call("allreduce", tensors[0], tensors, opts)

    def allreduce_coalesced(self, tensors: Any, opts: Any = None) -> Any:
        """The same for several at once."""
        return self._call("allreduce_coalesced", tensors[0], tensors, opts)

    def reduce(self, tensors: Any, opts: Any = None) -> Any:
        """Reduce over all ranks, for opts.rootRank."""
        return self._call("reduce", tensors[0], tensors, opts)

    def broadcast(self, tensors: Any, opts: Any = None) -> Any:
        """Give all ranks the tensors of opts.rootRank."""
        return self._call("broadcast", tensors[0], tensors, opts)

    def allgather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        """Let output_tensors[0][r] be rank r's input_tensors[0]."""
        return self._call("allgather", input_tensors[0], output_tensors, input_tensors, opts)

    def _allgather_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        """Let `output` be all ranks' `input`, one behind the other."""
        return self._call("_allgather_base", input, output, input, opts)

    def gather(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        """The same as `allgather` for opts.rootRank; others give [] for `output_tensors`."""
        return self._call("gather", input_tensors[0], output_tensors, input_tensors, opts)

    def scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        """Let output_tensors[0] be input_tensors[0][r] of opts.rootRank on rank r."""
        return self._call("scatter", output_tensors[0], output_tensors, input_tensors, opts)

    def reduce_scatter(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        """Let output_tensors[0] be the reduction of all ranks' input_tensors[0][r] on rank r."""
        return self._call("reduce_scatter", output_tensors[0], output_tensors, input_tensors, opts)

    def _reduce_scatter_base(self, output: Any, input: Any, opts: Any = None) -> Any:
        """The same for one input that has the parts one behind the other."""
        return self._call("_reduce_scatter_base", output, output, input, opts)

    def alltoall(self, output_tensors: Any, input_tensors: Any, opts: Any = None) -> Any:
        """Let output_tensors[r] be the tensor that rank r has for this rank."""
        return self._call("alltoall", output_tensors[0], output_tensors, input_tensors, opts)

    def alltoall_base(
        self, output: Any, input: Any, output_splits: Any, input_splits: Any, opts: Any = None
    ) -> Any:
        """The same for parts of one tensor, of given lengths or equal ones."""
        return self._call("alltoall_base", output, output, input, output_splits, input_splits, opts)

    def send(self, tensors: Any, dstRank: int, tag: int = 0) -> Any:
        """Send a tensor to a rank."""
        return self._call("send", tensors[0], tensors, dstRank, tag)

    def recv(self, tensors: Any, srcRank: int, tag: int = 0) -> Any:
        """Receive a tensor from a rank."""
        return self._call("recv", tensors[0], tensors, srcRank, tag)

    def recv_anysource(self, tensors: Any, tag: int = 0) -> Any:
        """Receive a tensor from whichever rank sends first."""
        return self._call("recv_anysource", tensors[0], tensors, tag)

    def barrier(self, opts: Any = None) -> Any:
        """Wait for all ranks."""
        if not self._makers:
            raise errors.not_supported(type(self).__name__, "barrier")
        return self._any_backend().barrier(opts)

    def monitored_barrier(self, timeout: timedelta | None = None, wait_all: bool = False) -> None:
        """Wait for all ranks; tell on rank 0 which have not come."""
        if not self._makers:
            raise errors.not_supported(type(self).__name__, "monitored_barrier")
        backend = self._get_backend("cpu")
        if not hasattr(backend, "_queue"):
            raise errors.not_supported(self.getBackendName(), "monitoredBarrier")
        backend.monitored_barrier(timeout, wait_all)

    def _set_timeout(self, timeout: timedelta) -> None:
        """Let calls take so long at most."""
        for backend in self._backends.values():
            if hasattr(backend, "_set_timeout"):
                backend._set_timeout(timeout)

    set_timeout = _set_timeout

    def shutdown(self) -> None:
        """Hang up."""
        backends, self._backends = self._backends, {}
        for backend in {id(each): each for each in backends.values()}.values():
            if hasattr(backend, "shutdown"):
                backend.shutdown()

    abort = shutdown


public.place("distributed", ProcessGroup)
