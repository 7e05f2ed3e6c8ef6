"""`Work`: an operation between processes that goes on while its caller does something else."""

from __future__ import annotations

import contextlib
from collections.abc import Callable
from concurrent import futures
from datetime import timedelta
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.programs.futures import Future


class WorkFuture(Future[Any]):
    """The future of some work, or of what follows it: waiting for it carries the work on."""

    def __init__(self, work: Work | None = None) -> None:
        super().__init__()
        self.work = work

    def wait(self) -> Any:
        if self.work is not None and not self.done():
            self.work.carry_on()
        return super().wait()

    def then(self, callback: Callable[[Any], Any]) -> Future[Any]:
        following = WorkFuture(self.work)

        def proceed(_: Any) -> None:
            try:
                following.set_result(callback(self))
            except Exception as error:
                following.set_exception(error)

        self.add_done_callback(proceed)
        return following


class Work:
    """What an asynchronous call returns. Backends from outside override what they know better."""

    def __init__(self, result: Any = None) -> None:
        self._future: WorkFuture | None = None  # made when it is asked for: most never are
        self._result = result
        self._error: BaseException | None = None
        self._is_done = False

    # -- for whoever carries it out ---------------------------------------------------------------

    def finish(self, error: BaseException | None = None) -> None:
        """Note that the operation has ended, well or with an error."""
        self._error, self._is_done = error, True
        self._tell()

    def _tell(self) -> None:
        """Bring the end to the future, if there is one. It may be told twice, by two threads."""
        future = self._future
        if future is not None and self._is_done:
            future.work = None
            with contextlib.suppress(RuntimeError, futures.InvalidStateError):
                if self._error is None:
                    future.set_result(self._result)
                else:
                    future.set_exception(self._error)

    def _proceed(self, timeout: float | None) -> None:
        """Carry the operation on until it has ended."""
        if not self._is_done:
            raise NotImplementedError(f"{type(self).__name__} does not say how to wait for it")

    def leave(self) -> None:
        """Note that the caller goes on without waiting."""

    def carry_on(self) -> None:
        """Carry the operation on until it has ended, well or not."""
        with contextlib.suppress(errors.DistError):
            self.wait()

    # -- for its user -----------------------------------------------------------------------------

    def is_completed(self) -> bool:
        """Return whether it has ended."""
        return self._is_done

    def is_success(self) -> bool:
        """Return whether it has ended well."""
        return self.is_completed() and self._error is None

    def exception(self) -> BaseException | None:
        """Return the error with which it has ended, if any."""
        return self._error

    def wait(self, timeout: timedelta | None = None) -> bool:
        """Wait for its end; raise its error. timeout: how long, instead of the group's."""
        if not self._is_done:
            self._proceed(timeout.total_seconds() if timeout else None)
        if self._error is not None:
            raise self._error
        return True

    def synchronize(self) -> None:
        """Let what the caller's stream does next come after it."""
        self.wait()

    def block_current_stream(self) -> None:
        """Let what the caller's stream does next come after it."""
        self.wait()

    def source_rank(self) -> int:
        """Return the rank from which a receive got its message."""
        raise RuntimeError("sourceRank() may only be called on work objects that are a recv")

    def result(self) -> Any:
        """Return the tensors that it has written."""
        return self._result

    def get_future(self) -> Future[Any]:
        """Return the future of its result."""
        if self._future is None:
            self._future = WorkFuture(self)
            self._tell()
        return self._future

    def get_future_result(self) -> Future[Any]:
        """Return the future of its status: 0 for success."""
        return self.get_future().then(lambda _: 0 if self._error is None else 1)


public.place("distributed", Work)
