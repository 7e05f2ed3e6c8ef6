"""Tensors between two ranks: `send` and `recv` as `Work`, carried on by whoever waits."""

from __future__ import annotations

import contextlib
import threading
from typing import Any

from torchgen_out._runtime.library.distributed.buffers import Buffer
from torchgen_out._runtime.library.distributed.gloo import progress, stamps
from torchgen_out._runtime.library.distributed.gloo.messages import Messages, Transfer
from torchgen_out._runtime.library.distributed.work import Work

_ending = threading.Lock()


class Delivery(Work):
    """A tensor on its way."""

    def __init__(self, mailbox: Mailbox, tensor: Any, buffer: Buffer, receives: bool) -> None:
        super().__init__([tensor])
        self._mailbox, self._buffer, self._receives = mailbox, buffer, receives
        self.transfer: Transfer | None = None

    def settle(self) -> None:
        """Take note of the transfer's end, once."""
        with _ending:
            if self._is_done:
                return
            assert self.transfer is not None
            error = self.transfer.error
            if error is None and self._receives:
                self._buffer.store()
            self.finish(error)

    def _proceed(self, timeout: float | None) -> None:
        assert self.transfer is not None
        self._mailbox.wait(self, self._mailbox.timeout if timeout is None else timeout)

    def is_completed(self) -> bool:
        self._mailbox.poll()
        return self._is_done

    def leave(self) -> None:
        if not self._is_done:
            progress.look_after(self._mailbox)

    def source_rank(self) -> int:
        """Return the rank that has sent."""
        assert self.transfer is not None
        return self.transfer.rank


class Mailbox:
    """The deliveries of one group that are on their way."""

    def __init__(self, messages: Messages, timeout: float) -> None:
        self._messages, self.timeout = messages, timeout
        self._open: list[Delivery] = []

    def send(self, tensor: Any, rank: int, tag: int) -> Delivery:
        """Begin to send a tensor."""
        buffer = Buffer(tensor)
        made = Delivery(self, tensor, buffer, False)
        made.transfer = self._messages.send(rank, tag, memoryview(buffer.bytes), _stamp(tensor))
        return self._keep(made)

    def receive(self, tensor: Any, rank: int, tag: int) -> Delivery:
        """Begin to receive a tensor."""
        buffer = Buffer(tensor, False)
        made = Delivery(self, tensor, buffer, True)
        made.transfer = self._messages.receive(rank, tag, memoryview(buffer.bytes), _stamp(tensor))
        return self._keep(made)

    def _keep(self, made: Delivery) -> Delivery:
        assert made.transfer is not None
        if made.transfer.is_done:
            made.settle()
        else:
            self._open.append(made)
        return made

    def has_left(self) -> bool:
        """Return whether anything is on its way."""
        return bool(self._open)

    def poll(self) -> None:
        """Carry on what can be carried on at once."""
        if self._open:
            self._messages.proceed(0)
            self._settle()

    def _settle(self) -> None:
        for each in list(self._open):
            assert each.transfer is not None
            if each.transfer.is_done:
                each.settle()
                with contextlib.suppress(ValueError):  # another thread has seen it, too
                    self._open.remove(each)

    def wait(self, delivery: Delivery, seconds: float) -> None:
        """Carry on until a delivery has ended."""
        assert delivery.transfer is not None
        try:
            self._messages.wait([delivery.transfer], seconds)
        finally:
            self._settle()
            if delivery.transfer.is_done:
                delivery.settle()


def _stamp(tensor: Any) -> int:
    return stamps.stamp(stamps.SEND, 0, tensor.dtype.index)
