"""Results that come later: `torch.futures`, and `torch.jit.fork`, which runs at once."""

from __future__ import annotations

from collections.abc import Callable
from concurrent import futures
from typing import Any, Generic, TypeVar

from torchgen_out._runtime.core import public

__all__ = ["Future", "collect_all", "wait_all"]

Result = TypeVar("Result")
Following = TypeVar("Following")


class Future(Generic[Result]):
    """A result that another thread brings, and what shall be done with it then."""

    def __init__(self, *, devices: Any = None) -> None:
        self._future: futures.Future[Result] = futures.Future()

    def done(self) -> bool:
        """Return whether the result, or an error, is there."""
        return self._future.done()

    def wait(self) -> Result:
        """Return the result as soon as it is there, or raise the error."""
        return self._future.result()

    def value(self) -> Result:
        """Return the result. **Raises** RuntimeError if it is not there yet."""
        if not self.done():
            raise RuntimeError("Future.value() was called before the future was completed")
        return self._future.result()

    def set_result(self, result: Result) -> None:
        """Bring the result. **Raises** RuntimeError if there is one."""
        try:
            self._future.set_result(result)
        except futures.InvalidStateError:
            raise RuntimeError(
                "Attempting to mark a completed Future as complete again. Note that a Future can "
                "only be marked completed once."
            ) from None

    def set_exception(self, result: BaseException) -> None:
        """Bring an error in place of a result."""
        if not isinstance(result, BaseException):
            raise AssertionError(f"{result} is of type {type(result)}, not an Exception.")
        self._future.set_exception(result)

    def add_done_callback(self, callback: Callable[[Future[Result]], Any]) -> None:
        """Let `callback` be called with this future when it is done."""
        self._future.add_done_callback(lambda _: callback(self))

    def then(self, callback: Callable[[Future[Result]], Following]) -> Future[Following]:
        """Return the future of what `callback` makes of this one."""
        following: Future[Following] = Future()

        def proceed(_: Any) -> None:
            try:
                following.set_result(callback(self))
            except BaseException as error:
                following.set_exception(error)

        self._future.add_done_callback(proceed)
        return following


def collect_all(futures: list[Future[Result]]) -> Future[list[Future[Result]]]:
    """Return the future of the list that all of them form when they are done."""
    collected: Future[list[Future[Result]]] = Future()
    waiting = len(futures)
    if not waiting:
        collected.set_result([])

    def count(_: Future[Result]) -> None:
        nonlocal waiting
        waiting -= 1
        if not waiting:
            collected.set_result(list(futures))

    for each in futures:
        each.add_done_callback(count)
    return collected


def wait_all(futures: list[Future[Result]]) -> list[Result]:
    """Return all results; raise the first error."""
    return [each.wait() for each in collect_all(futures).wait()]


def fork(func: Callable[..., Result], *args: Any, **kwargs: Any) -> Future[Result]:
    """Call a function now and return its result as a future: uncompiled code runs in order."""
    made: Future[Result] = Future()
    made.set_result(func(*args, **kwargs))
    return made


def wait(future: Future[Result]) -> Result:
    """Return the result of a future."""
    return future.wait()


public.place_all("futures", globals())
