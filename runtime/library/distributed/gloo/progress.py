"""Carrying collectives on: each is a generator that yields what it has to wait for.

The collectives of a group run one after the other, in the order of the calls. Whoever waits for one
carries on those before it; a thread looks after those that nobody waits for.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections import deque
from collections.abc import Generator
from typing import Any, Protocol

from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.work import Work

_SLICE = 0.05
"""Seconds after which a sleeper looks whether the others are still alive."""
_TICK = 0.001


class Condition(Protocol):
    """What a collective waits for."""

    def is_met(self) -> bool:
        """Whether it can go on; **raises** if it never will."""

    def spin(self) -> bool:
        """Look for it a short time; return whether it can go on."""

    def sleep(self, seconds: float) -> None:
        """Sleep until it may be met, at most some seconds."""

    def late(self, doing: str, seconds: float) -> BaseException:
        """The error that it has not been met in time."""


Collective = Generator[Condition, None, None]


class Step(Work):
    """A collective that has been called, as `Work`."""

    def __init__(self, queue: Queue, collective: Collective, doing: str, result: Any) -> None:
        super().__init__(result)
        self.queue, self.collective, self.doing = queue, collective, doing
        self.condition: Condition | None = None
        self.since = time.monotonic()
        self.timeout = queue.timeout

    def _proceed(self, timeout: float | None) -> None:
        self.queue.run_until(self, self.timeout if timeout is None else timeout)

    def leave(self) -> None:
        if not self._is_done:
            look_after(self.queue)

    def is_completed(self) -> bool:
        if not self._is_done:
            self.queue.poll()
        return self._is_done


class Queue:
    """The collectives of one group that have yet to end."""

    def __init__(self, timeout: float) -> None:
        self.timeout = timeout
        self._steps: deque[Step] = deque()
        self._lock = threading.RLock()
        self.failure: BaseException | None = None
        """Why no collective can run any more: ranks may be at different ones."""

    def run(self, collective: Collective, doing: str, timeout: float | None = None) -> None:
        """Carry a collective out, here and now."""
        with self._lock:
            if self._steps:
                self.submit(collective, doing, None, timeout).wait()
                return
            self._check()
            seconds = self.timeout if timeout is None else timeout
            try:
                for condition in collective:
                    if not condition.spin():
                        _wait(condition, doing, time.monotonic() + seconds, seconds)
            except BaseException as error:
                self.failure = error
                raise

    def submit(
        self, collective: Collective, doing: str, result: Any, timeout: float | None = None
    ) -> Step:
        """Begin a collective, as soon as those before it have ended."""
        step = Step(self, collective, doing, result)
        if timeout is not None:
            step.timeout = timeout
        with self._lock:
            self._check()
            self._steps.append(step)
            self._advance()
        return step

    def has_left(self) -> bool:
        """Return whether a collective has yet to end."""
        return bool(self._steps)

    def poll(self) -> None:
        """Carry on what can be carried on at once."""
        if self._lock.acquire(blocking=False):
            try:
                self._advance()
            finally:
                self._lock.release()

    def run_until(self, step: Step, seconds: float) -> None:
        """Carry on until a step has ended. Its error is its own; that it is late is raised."""
        end = time.monotonic() + seconds
        with self._lock:
            while not step._is_done:
                self._advance()
                if step._is_done or not self._steps:
                    break
                first = self._steps[0]
                assert first.condition is not None
                try:
                    _wait(first.condition, first.doing, end, seconds)
                except BaseException as error:
                    self._fail(error)

    def _check(self) -> None:
        if self.failure is not None:
            raise errors.DistBackendError(
                f"the group cannot be used any more, as a collective has failed: {self.failure}"
            ) from self.failure

    def _advance(self) -> None:
        """Carry on the first collective, and those behind it as they become the first."""
        while self._steps:
            step = self._steps[0]
            try:
                while step.condition is None or step.condition.is_met():
                    step.condition = next(step.collective)
                if time.monotonic() > step.since + step.timeout:
                    raise step.condition.late(step.doing, step.timeout)
                return
            except StopIteration:
                self._steps.popleft()
                step.finish()
            except BaseException as error:
                self._fail(error)

    def _fail(self, error: BaseException) -> None:
        """End all collectives: an error of one leaves no order for the others."""
        self.failure = error
        steps = list(self._steps)
        self._steps.clear()
        for step in steps:
            step.finish(error)

    def end(self) -> None:
        """End what is left: the group is destroyed."""
        with self._lock:
            self._fail(errors.DistBackendError("the group has been destroyed"))


def _wait(condition: Condition, doing: str, end: float, seconds: float) -> None:
    """Wait for one condition. **Raises** what it says if it is late."""
    while not condition.is_met():
        left = end - time.monotonic()
        if left <= 0:
            raise condition.late(doing, seconds)
        condition.sleep(min(left, _SLICE))


# -- those that nobody waits for ------------------------------------------------------------------

_watched: weakref.WeakSet[Any] = weakref.WeakSet()
_has_work = threading.Event()
_thread: threading.Thread | None = None
_starting = threading.Lock()


def look_after(queue: Any) -> None:
    """Let the thread poll an object while its `has_left()` says so."""
    global _thread
    with _starting:
        _watched.add(queue)
        if _thread is None:
            _thread = threading.Thread(target=_tick, name="torchgen-progress", daemon=True)
            _thread.start()
    _has_work.set()


def _tick() -> None:
    while True:
        _has_work.wait()
        _has_work.clear()
        for each in list(_watched):
            each.poll()
        with _starting:
            for each in list(_watched):
                if not each.has_left():
                    _watched.discard(each)
            if _watched:
                _has_work.set()
        time.sleep(_TICK)


def _forget() -> None:
    global _thread
    _thread = None
    _watched.clear()
    _has_work.clear()


at_fork(after_in_child=_forget)
