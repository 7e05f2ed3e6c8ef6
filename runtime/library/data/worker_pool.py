"""The worker processes of a loader: started, given tasks, heard, and ended together."""

from __future__ import annotations

import math
import multiprocessing
import os
import selectors
import signal
import socket
import sys
import time
import weakref
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.forks import at_fork
from torchgen_out._runtime.library.data import worker
from torchgen_out._runtime.library.data.fetching import Plan
from torchgen_out._runtime.library.data.worker import Answer, Task
from torchgen_out._runtime.library.multiprocessing.channel import Channel, ChannelClosed

PATIENCE = 5.0
"""Seconds that workers get to end what they are at when the loader has hung up."""

MOST_HELD = 256
"""Pieces of memory that may be looked at here: each costs a descriptor, of which there are few."""

SEND_AGAIN = 0.05  # seconds, while a worker's socket is full

_ends: weakref.WeakSet[socket.socket] = weakref.WeakSet()


def _close_ends() -> None:
    """A worker's loader is gone when its process is: no forked sibling may keep the line open."""
    for end in list(_ends):
        end.close()


at_fork(after_in_child=_close_ends)


class Crew:
    """Processes 0, 1, ... and the channels to them."""

    def __init__(
        self,
        context: Any,
        plan: Plan,
        count: int,
        base_seed: int,
        worker_init_fn: Callable[[int], Any] | None,
    ) -> None:
        if sys.platform == "win32":
            raise errors.no_shared_memory()
        self._owner = os.getpid()
        self._processes: list[Any] = []
        self._channels: list[Channel] = []
        self._selector = selectors.DefaultSelector()
        self._most_held = max(MOST_HELD // count, 2)
        for number in range(count):
            self._start(context, number, (plan, worker_init_fn, (number, count, base_seed)))

    def _start(self, context: Any, number: int, order: tuple[Any, ...]) -> None:
        own, other = socket.socketpair()
        _ends.add(own)
        process = (context or multiprocessing).Process(
            target=worker.work, args=(other, *order, self._owner), daemon=True
        )
        try:
            process.start()
        except BaseException:
            own.close()
            self.close()
            raise
        finally:
            other.close()
        channel = Channel(own, self._most_held)
        self._processes.append(process)
        self._channels.append(channel)
        self._selector.register(channel, selectors.EVENT_READ, number)
        self._selector.register(process.sentinel, selectors.EVENT_READ, number)

    def pids(self) -> list[int]:
        """Return the numbers that the system gave the processes."""
        return [process.pid for process in self._processes]

    def send(self, number: int, task: Task) -> None:
        """Give a task to a worker; if it has died, that is told when it is heard next."""
        try:
            self._channels[number].send(task)
        except ChannelClosed:
            return

    def receive(self, timeout: float | None = None) -> Answer | None:
        """Return the next answer of any worker; None after `timeout` seconds.

        **Raises** RuntimeError if a worker has died.
        """
        end = math.inf if timeout is None else time.monotonic() + timeout
        while True:
            left = max(0.0, end - time.monotonic())
            wait = left if self._all_is_sent() else min(left, SEND_AGAIN)
            ready = [key for key, _ in self._selector.select(None if wait == math.inf else wait)]
            for key in ready:
                if isinstance(key.fileobj, Channel):
                    return self._hear(key.data)
            if ready:
                raise self._death(ready[0].data)
            if not left:
                return None

    def _all_is_sent(self) -> bool:
        """Send what there was no room for; whether none is left."""
        try:
            return min([channel.flush() for channel in self._channels])
        except ChannelClosed:
            return True  # which will be heard

    def _hear(self, number: int) -> Answer:
        try:
            answer: Answer = self._channels[number].receive()
        except ChannelClosed:
            raise self._death(number) from None
        return answer

    def _death(self, number: int) -> RuntimeError:
        """Why a worker has hung up."""
        process = self._processes[number]
        process.join(PATIENCE)
        told = f"DataLoader worker (pid {process.pid}) "
        code = process.exitcode
        self.close()
        if code is not None and code < 0:
            return RuntimeError(f"{told}is killed by signal: {signal.strsignal(-code)}. ")
        return RuntimeError(
            f"{told}exited unexpectedly with exit code {code}. Details are lost due to "
            "multiprocessing. Rerunning with num_workers=0 may give better error trace."
        )

    def close(self) -> None:
        """Hang up, and wait for the processes to end; who takes too long is terminated."""
        if os.getpid() != self._owner:
            return  # a forked child has no part in this
        self._selector.close()
        for channel in self._channels:
            channel.close()
        end = time.monotonic() + PATIENCE
        for process in self._processes:
            process.join(max(0.0, end - time.monotonic()))
            if process.is_alive():
                process.terminate()
                process.join()
            process.close()
        self._processes, self._channels = [], []
