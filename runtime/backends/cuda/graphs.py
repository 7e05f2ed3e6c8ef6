"""CUDA graphs: work of a stream written down once, and done again at the cost of one launch.

While a graph is captured nothing is done, so nothing may wait; and memory comes from a pool of the
graph, since each replay writes to the same addresses.
"""

from __future__ import annotations

import gc
from itertools import count
from types import TracebackType

from torchgen_out._runtime import errors
from torchgen_out._runtime.backends.cuda import captured_draws, current, driver, memory, streams
from torchgen_out._runtime.backends.cuda.buffer import ORDINARY
from torchgen_out._runtime.backends.cuda.libraries import workspace

Pool = tuple[int, int]
"""What `pool=` takes: the number of a pool comes second."""

_numbers = count(1)
_users: dict[tuple[int, int], int] = {}
"""How many graphs of a device use a pool."""


def graph_pool_handle() -> Pool:
    """Return a new pool of memory, for graphs that never run at the same time to share."""
    return 0, next(_numbers)


def is_current_stream_capturing() -> bool:
    """Return whether work is written down into a graph instead of being done."""
    return driver.is_capturing()


class CUDAGraph:
    """Work that was captured, to be replayed."""

    __module__ = "torchgen_out.cuda"

    def __init__(self, keep_graph: bool = False) -> None:
        self._index = -1
        self._pool = ORDINARY
        self._stream: streams.Stream | None = None
        self._handles: tuple[int, int] | None = None
        self._seed = 0
        self._draws: captured_draws.CapturedDraws | None = None

    def capture_begin(self, pool: Pool | None = None, capture_error_mode: str = "global") -> None:
        """Write down the work of the current stream from now on, instead of doing it.

        pool: of another graph, or of `graph_pool_handle`, to share its memory.

        **Raises** RuntimeError on the default stream, or if the graph was captured before.
        """
        stream = streams.current_stream()
        if stream.cuda_stream == streams.DEFAULT:
            raise errors.capture_on_default_stream()
        if self._pool != ORDINARY:
            raise errors.captured_already()
        self._stream, self._index = stream, stream.device_index
        self._pool = (graph_pool_handle() if pool is None else pool)[1]
        place = self._index, self._pool
        _users[place] = _users.get(place, 0) + 1
        self._seed = captured_draws.default_generator(self._index).initial_seed()
        driver.current().begin_capture(self._index, stream.cuda_stream, capture_error_mode)
        memory.allocator(self._index).pool = self._pool
        self._draws = captured_draws.begin_capture(self._index)
        driver.begin_capture()

    def capture_end(self) -> None:
        """End what `capture_begin` began, and make the graph ready.

        **Raises** RuntimeError if the device's generator was seeded meanwhile.
        """
        assert self._stream is not None, "capture_end without capture_begin"
        driver.end_capture()
        captured_draws.end_capture(self._index)
        memory.allocator(self._index).pool = ORDINARY
        opened = driver.current()
        graph = opened.end_capture(self._index, self._stream.cuda_stream)
        self._handles = graph, opened.instantiate(self._index, graph)
        if captured_draws.default_generator(self._index).initial_seed() != self._seed:
            self.reset()
            raise errors.random_during_capture()

    def replay(self) -> None:
        """Do the work in the current stream.

        **Raises** RuntimeError if nothing was captured.
        """
        if self._handles is None or self._draws is None:
            raise errors.not_captured()
        self._draws.begin_replay()
        stream = streams.current_handle(self._index)
        driver.current().launch_graph(self._index, self._handles[1], stream)

    def reset(self) -> None:
        """Forget the work, and let its memory go when no tensor and no graph uses it."""
        if self._handles is not None and driver.is_open():
            driver.current().destroy_graph(self._index, *self._handles)
        if self._pool != ORDINARY:
            self._leave_pool()
        self._handles, self._pool, self._draws = None, ORDINARY, None

    def _leave_pool(self) -> None:
        place = self._index, self._pool
        if place not in _users:  # another driver has taken the place of the one of this graph
            return
        _users[place] -= 1
        if not _users[place]:
            del _users[place]
            workspace.forget(*place)
            memory.allocator(self._index).drop_pool(self._pool)

    def pool(self) -> Pool:
        """Return the pool of the graph's memory."""
        return 0, self._pool

    def __del__(self) -> None:
        self.reset()


class graph:
    """A block of code whose work is captured into a graph.

    pool: as in `capture_begin`. stream: where to capture, by default one made for that.
    """

    __module__ = "torchgen_out.cuda"

    def __init__(
        self,
        cuda_graph: CUDAGraph,
        pool: Pool | None = None,
        stream: streams.Stream | None = None,
        capture_error_mode: str = "global",
    ) -> None:
        self.cuda_graph, self.pool, self.mode = cuda_graph, pool, capture_error_mode
        self.stream = streams.StreamContext(streams.Stream() if stream is None else stream)

    def __enter__(self) -> None:
        current.synchronize()
        gc.collect()
        memory.empty_cache()
        self.stream.__enter__()
        try:
            self.cuda_graph.capture_begin(self.pool, self.mode)
        except BaseException:
            self.stream.__exit__(None, None, None)
            raise

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        try:
            self.cuda_graph.capture_end()
        finally:
            self.stream.__exit__(kind, error, trace)


def forget() -> None:
    """Forget all pools, when another driver takes the place of the one of their memory."""
    _users.clear()
