"""The process that keeps a TCP store's keys: one thread, one table, all connections.

Memory is bounded: by the table's limit, by one answer per connection, by what all requests may take
that have come in part, and by a number of connections that have yet to greet.
"""

from __future__ import annotations

import contextlib
import selectors
import socket
import threading
import time
from dataclasses import dataclass, field

from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.stores import wire
from torchgen_out._runtime.library.distributed.stores.table import CHANGES, Refused, Table

GREETING_SECONDS = 10.0
"""How long a connection may stay without its greeting."""
MOST_STRANGERS = 256
"""Connections that have yet to greet."""
MOST_UNREAD = 1 << 30
"""Bytes of requests that have come in part, of all connections together."""
_READ = 1 << 16
"""Bytes that are read at once; and how many a client may send before it has its answer."""


@dataclass(eq=False)
class _Client:
    end: socket.socket
    since: float
    has_greeted: bool = False
    received: bytearray = field(default_factory=bytearray)
    to_send: bytearray = field(default_factory=bytearray)
    waiting: tuple[wire.Request, float] | None = None
    """A request that waits for its keys, and until when."""


class Server:
    """A table behind a port; `close` ends it."""

    def __init__(self, listener: socket.socket) -> None:
        self.port: int = listener.getsockname()[1]
        self._listener, self._table = listener, Table()
        self._clients: set[_Client] = set()
        self._selector = selectors.DefaultSelector()
        self._waker, self._wakened = socket.socketpair()
        listener.setblocking(False)
        self._selector.register(listener, selectors.EVENT_READ)
        self._selector.register(self._wakened, selectors.EVENT_READ)
        self._ends = False
        self._thread = threading.Thread(target=self._serve, name="torchgen-store", daemon=True)
        self._thread.start()

    def close(self) -> None:
        """Hang up on all clients and give the port back."""
        self._ends = True
        with contextlib.suppress(OSError):
            self._waker.send(b"x")
        if threading.current_thread() is not self._thread:
            self._thread.join()

    def _serve(self) -> None:
        while not self._ends:
            for key, events in self._selector.select(self._pause()):
                if key.fileobj is self._listener:
                    self._accept()
                elif key.fileobj is not self._wakened:
                    self._attend(key.data, events)
            self._expire()
        for client in list(self._clients):
            self._drop(client)
        self._selector.close()
        for end in (self._listener, self._waker, self._wakened):
            end.close()

    def _pause(self) -> float | None:
        """Seconds until somebody's time is over."""
        ends = [client.waiting[1] for client in self._clients if client.waiting]
        ends += [c.since + GREETING_SECONDS for c in self._clients if not c.has_greeted]
        return max(0.0, min(ends) - time.monotonic()) if ends else None

    def _accept(self) -> None:
        with contextlib.suppress(OSError):
            end, _ = self._listener.accept()
            if sum(not client.has_greeted for client in self._clients) >= MOST_STRANGERS:
                end.close()
                return
            end.setblocking(False)
            if end.family != getattr(socket, "AF_UNIX", None):
                end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            client = _Client(end, time.monotonic())
            self._clients.add(client)
            self._selector.register(end, selectors.EVENT_READ, client)

    def _drop(self, client: _Client) -> None:
        if client in self._clients:
            self._clients.discard(client)
            self._selector.unregister(client.end)
            client.end.close()

    def _attend(self, client: _Client, events: int) -> None:
        try:
            if events & selectors.EVENT_READ:
                self._receive(client)
                self._read(client)
            self._send(client)
            if client.received and client.waiting is None and not client.to_send:
                self._read(client)
                self._send(client)
        except BlockingIOError:
            pass
        except (OSError, wire.Garbage):
            self._drop(client)

    def _receive(self, client: _Client) -> None:
        """Take in what has come. **Raises** Garbage for more than there is room for."""
        data = client.end.recv(_READ)
        if not data:
            raise ConnectionError("closed")
        client.received += data
        if len(client.received) > _READ:
            if client.waiting or client.to_send:
                raise wire.Garbage("more requests before the answer to the first")
            if sum(len(each.received) for each in self._clients) > MOST_UNREAD:
                raise wire.Garbage("too much that has come in part")

    def _read(self, client: _Client) -> None:
        """Answer whatever requests have come in whole."""
        if not client.has_greeted:
            head = bytes(client.received[: len(wire.GREETING)])
            if not wire.GREETING.startswith(head):
                if head.startswith(wire.GREETING[:-1]):  # tell a peer of another version our own
                    client.end.send(wire.GREETING)
                raise wire.Garbage("no greeting")
            if len(head) < len(wire.GREETING):
                return
            del client.received[: len(head)]
            client.has_greeted = True
            client.to_send += wire.GREETING
        while client.waiting is None and len(client.to_send) <= _READ:
            request = wire.unpack_request(client.received)
            if request is None:
                return
            del client.received[: request.length]
            client.waiting = request, time.monotonic() + request.timeout
            if self._try(client) and request.operation in CHANGES:
                self._retry()

    def _try(self, client: _Client) -> bool:
        """Answer the request that a client waits for, if its keys are there."""
        assert client.waiting is not None
        request, _ = client.waiting
        try:
            strings, status = self._table.answer(request.operation, request.arguments), wire.OK
        except Refused as refusal:
            strings, status = [str(refusal).encode()], wire.REFUSED
        if strings is None:
            return False
        self._reply(client, status, strings)
        return True

    def _reply(self, client: _Client, status: int, strings: list[bytes]) -> None:
        client.waiting = None
        client.to_send += wire.pack(status, 0.0, strings)

    def _retry(self) -> None:
        """Something has changed: answer those who have waited for it."""
        again = True
        while again:
            again = False
            for client in list(self._clients):
                if client.waiting and (changes := client.waiting[0].operation in CHANGES):
                    again |= self._try(client) and changes
                elif client.waiting:
                    self._try(client)
                if client.to_send:
                    self._send_or_drop(client)

    def _expire(self) -> None:
        now = time.monotonic()
        for client in list(self._clients):
            if client.waiting and client.waiting[1] <= now:
                self._reply(client, wire.TIMED_OUT, [])
                self._send_or_drop(client)
            elif not client.has_greeted and client.since + GREETING_SECONDS <= now:
                self._drop(client)

    def _send_or_drop(self, client: _Client) -> None:
        try:
            self._send(client)
        except OSError:
            self._drop(client)

    def _send(self, client: _Client) -> None:
        with contextlib.suppress(BlockingIOError):
            while client.to_send:
                del client.to_send[: client.end.send(client.to_send)]
        if client in self._clients:
            events = selectors.EVENT_READ
            if client.to_send:
                events |= selectors.EVENT_WRITE
            self._selector.modify(client.end, events, client)


def listen(host: str, port: int, descriptor: int | None = None) -> socket.socket:
    """A listening socket at the address of `host` alone: at loopback, if that is what it is.

    **Raises** DistNetworkError if the port is taken or the address is not this machine's.
    """
    if descriptor is not None:
        return socket.socket(fileno=descriptor)
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        made = socket.socket(family, socket.SOCK_STREAM)
        try:
            made.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            made.bind(address)
            made.listen(1024)
        except OSError:
            made.close()
            raise
        return made
    except OSError as error:
        raise errors.DistNetworkError(
            f"The server socket has failed to listen on {host}:{port}: {error.strerror or error}"
        ) from None
