"""Objects between two processes over a socket; the memory of tensors and arrays is lent, not sent.

A message is a pickle whose buffers are out of band (protocol 5). Memory that is shared already goes
as a descriptor, so that both ends see the same; other memory is copied once, into memory that
serves again and again; small pieces travel in the message.
"""

from __future__ import annotations

import array
import copyreg
import io
import os
import pickle
import select
import socket
import struct
import threading
from collections import ChainMap, deque
from multiprocessing import reduction
from typing import Any

import numpy as np

import torchgen_out as torch
from torchgen_out._runtime.core import shared_memory
from torchgen_out._runtime.core.shared_memory import SharedMemory
from torchgen_out._runtime.core.storage import Storage
from torchgen_out._runtime.library.multiprocessing.reductions import check_sendable
from torchgen_out._runtime.library.multiprocessing.shared_buffers import Borrower, Lender
from torchgen_out._runtime.tensor_api import pickling

LEAST_LENT = 1 << 14
"""Bytes of a buffer from which on it gets memory of its own."""
MOST_INLINE = 1 << 16
"""Bytes of a message that still go over the socket, which must not fill up."""
MOST_DESCRIPTORS = 200  # the system sends no more than 253 at once
_GONE = "the other end of the channel is closed"
_HEAD = struct.Struct("<QI")  # bytes of the frame's content, and descriptors that come with it


class ChannelClosed(EOFError):
    """The other end is gone."""


class Channel:
    """One end. Sending never waits for the other end to receive, unless it is told to."""

    def __init__(self, end: socket.socket, most_held: int = 64) -> None:
        self._socket = end
        self._lender, self._borrower = Lender(), Borrower(most_held)
        self._outbox: deque[_Frame] = deque()
        self._sending = threading.Lock()

    def fileno(self) -> int:
        """Return the socket's descriptor, which can be waited for."""
        return self._socket.fileno()

    def close(self) -> None:
        """Hang up: the other end hears of it. What has arrived stays where it is."""
        self._socket.close()
        self._lender, self._borrower = Lender(), Borrower(0)

    def send(self, message: Any) -> None:
        """Send an object, or as much of it as there is room for; `flush` sends the rest.

        **Raises** ChannelClosed if the other end is gone; what pickle raises.
        """
        with self._sending:
            self._outbox.extend(self._encode(message))
        self.flush()

    def flush(self, wait: bool = False) -> bool:
        """Send what is left, as far as there is room; wait: all of it. Return whether it is."""
        with self._sending:
            while self._outbox:
                if self._outbox[0].send(self._socket):
                    self._outbox.popleft()
                elif wait:
                    select.select([], [self._socket], [])
                else:
                    return False
        return True

    def receive(self) -> Any:
        """Return the next object; wait for it.

        **Raises** ChannelClosed if the other end is gone.
        """
        try:
            payload, descriptors = self._read()
        except ConnectionError as error:
            raise ChannelClosed(str(error)) from None
        content, opened, dropped, returned = pickle.loads(payload)
        for number, size in opened:
            self._borrower.open(number, descriptors.popleft(), size)
        self._borrower.drop(dropped)
        for number, has_left in returned:
            self._lender.take_back(number, has_left)
        if isinstance(content, tuple):
            content = self._borrower.borrow(*content)
        body, places = pickle.loads(content)
        return pickle.loads(body, buffers=[self._found(each, descriptors) for each in places])

    # -- what a message is made of ------------------------------------------------------------

    def _encode(self, message: Any) -> list[_Frame]:
        body, buffers = _dumps(message)
        foreign: list[SharedMemory] = []
        places = [self._place(buffer, foreign) for buffer in buffers]
        content: Any = pickle.dumps((body, places), 5)
        if len(content) > MOST_INLINE:
            content = self._lender.fill(content), len(content)
        lender = self._lender
        opened = [lender.memory(number) for number in lender.opened]
        sizes = [(n, memory.size) for n, memory in zip(lender.opened, opened, strict=True)]
        returned = self._borrower.returned()
        payload = pickle.dumps((content, sizes, lender.dropped, returned), 5)
        lender.opened, lender.dropped = [], []
        memories = opened + foreign
        last = len(memories) - len(memories) % MOST_DESCRIPTORS
        cuts = range(0, last, MOST_DESCRIPTORS)
        before = [_Frame(b"", memories[cut : cut + MOST_DESCRIPTORS]) for cut in cuts]
        return [*before, _Frame(payload, memories[last:])]

    def _place(self, buffer: pickle.PickleBuffer, foreign: list[SharedMemory]) -> Any:
        """Where the other end finds a buffer: in the message, in lent or in shared memory."""
        view = buffer.raw()
        memory = shared_memory.memory_of(view.obj)
        if memory is not None:
            memory.leave()
            foreign.append(memory)
            start = np.frombuffer(view, np.uint8).ctypes.data - memory.address
            return memory.size, start, view.nbytes
        if view.nbytes < LEAST_LENT:
            return bytearray(view)
        return self._lender.fill(view), view.nbytes

    def _found(self, place: Any, descriptors: deque[int]) -> np.ndarray:
        """The buffer at such a place."""
        if isinstance(place, bytearray):
            return np.frombuffer(place, np.uint8)
        if len(place) == 2:
            return self._borrower.borrow(*place)
        size, start, nbytes = place
        memory = SharedMemory(descriptors.popleft(), size)
        memory.leave()
        return np.asarray(memory)[start : start + nbytes]

    # -- the socket -----------------------------------------------------------------------------

    def _read(self) -> tuple[bytearray, deque[int]]:
        descriptors: deque[int] = deque()
        while True:
            head = self._receive_head(descriptors)
            content = bytearray(_HEAD.unpack(head)[0])
            self._read_into(memoryview(content))
            if content:
                return content, descriptors

    def _receive_head(self, descriptors: deque[int]) -> bytes:
        numbers = array.array("i")
        space = socket.CMSG_LEN(MOST_DESCRIPTORS * numbers.itemsize)
        flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
        head, ancillary, _, _ = self._socket.recvmsg(_HEAD.size, space, flags)
        for level, kind, data in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
                numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
        descriptors.extend(numbers)
        if not head:
            raise ChannelClosed(_GONE)
        rest = bytearray(_HEAD.size - len(head))
        self._read_into(memoryview(rest))
        head += rest
        if len(numbers) != _HEAD.unpack(head)[1]:
            for number in numbers:
                os.close(number)
            raise OSError("Too many open files: shared memory could not be received")
        return head

    def _read_into(self, view: memoryview) -> None:
        while view:
            count = self._socket.recv_into(view)
            if not count:
                raise ChannelClosed(_GONE)
            view = view[count:]


class _Frame:
    """A part of a message that can be sent at once, and the memory whose descriptors go with it."""

    def __init__(self, content: bytes, memories: list[SharedMemory]) -> None:
        self.rest = memoryview(_HEAD.pack(len(content), len(memories)) + content)
        self.memories = memories

    def send(self, end: socket.socket) -> bool:
        """Send as much as there is room for; return whether that was the rest."""
        try:
            while self.rest:
                numbers = array.array("i", [memory.descriptor for memory in self.memories])
                rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)] if numbers else []
                sent = end.sendmsg([self.rest], rights, socket.MSG_DONTWAIT)
                self.rest, self.memories = self.rest[sent:], []
        except BlockingIOError:
            return False
        except ConnectionError:
            raise ChannelClosed(_GONE) from None
        return True


# -- pickling -----------------------------------------------------------------------------------


class _Pickler(pickle.Pickler):
    """As `multiprocessing` pickles, but for tensors, whose memory goes out of band."""

    def __init__(self, file: Any, buffers: list[pickle.PickleBuffer]) -> None:
        super().__init__(file, 5, buffer_callback=buffers.append)
        shared: Any = reduction.ForkingPickler
        tables: list[Any] = [_REDUCERS, shared._extra_reducers, copyreg.dispatch_table]
        self.dispatch_table = ChainMap(*tables)


def _dumps(message: Any) -> tuple[bytes, list[pickle.PickleBuffer]]:
    buffers: list[pickle.PickleBuffer] = []
    file = io.BytesIO()
    _Pickler(file, buffers).dump(message)
    return file.getvalue(), buffers


def _reduce_tensor(tensor: torch.Tensor) -> Any:
    """Send of the storage what lies between the first and the last element."""
    check_sendable(tensor)
    make, (kind, storage, dtype, sizes, strides, offset, *rest), *state = tensor.__reduce_ex__(5)
    if make is not pickling.rebuild or not isinstance(storage.buffer, np.ndarray):
        return tensor.__reduce_ex__(5)
    steps = zip(sizes, strides, strict=True)
    span = 1 + sum((size - 1) * stride for size, stride in steps) if tensor.numel() else 0
    if span * dtype.itemsize < storage.nbytes():
        typed = storage.buffer.view(dtype.numpy)
        storage, offset = Storage(typed[offset : offset + span]), 0
    return make, (kind, storage, dtype, sizes, strides, offset, *rest), *state


def _reduce_storage(storage: Storage) -> Any:
    buffer = storage.buffer
    if not isinstance(buffer, np.ndarray) or not buffer.size:
        return storage.__reduce_ex__(5)
    octets: Any = buffer.view(np.uint8)
    return _restore_storage, (pickle.PickleBuffer(octets), buffer.dtype.str)


def _restore_storage(buffer: np.ndarray, dtype: str) -> Storage:
    return Storage(buffer.view(dtype))


_REDUCERS = {torch.Tensor: _reduce_tensor, Storage: _reduce_storage}
