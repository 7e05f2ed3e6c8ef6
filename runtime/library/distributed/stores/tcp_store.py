"""`TCPStore`: keys and values that one process keeps and all others ask for over TCP."""

from __future__ import annotations

import contextlib
import socket
import threading
import time
from datetime import timedelta

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.stores import tcp_server, wire
from torchgen_out._runtime.library.distributed.stores.store import Store
from torchgen_out._runtime.library.distributed.stores.table import timed_out

_GRACE = 10.0
"""Seconds beyond a request's own time-out after which a silent server counts as gone."""
_ARRIVED = "_arrived"
_tenants: dict[int, tuple[tcp_server.Server, int]] = {}
"""Servers that stores of this process share, by port, and how many do."""
_tenancy = threading.Lock()


def _serve(host: str, port: int, shared: bool, descriptor: int | None) -> tcp_server.Server:
    with _tenancy:
        if shared and port in _tenants:
            server, count = _tenants[port]
            _tenants[port] = server, count + 1
            return server
        server = tcp_server.Server(tcp_server.listen(host, port, descriptor))
        if shared:
            _tenants[server.port] = server, 1
        return server


def _leave(server: tcp_server.Server) -> None:
    with _tenancy:
        shared, count = _tenants.get(server.port, (None, 1))
        if shared is server and count > 1:
            _tenants[server.port] = server, count - 1
            return
        if shared is server:
            del _tenants[server.port]
    server.close()


class TCPStore(Store):
    """Keys and values that the process with `is_master` keeps, at the address of `host_name` alone.

    port: 0 lets the system choose; the attribute `port` says which. world_size: with
    `wait_for_workers` the master waits until so many stores have been made. multi_tenant: stores of
    one process share a server. use_libuv: taken, without meaning.
    **Raises** DistNetworkError if the port is taken, or nobody answers there within the time-out,
    or something else does.
    """

    def __init__(
        self,
        host_name: str,
        port: int,
        world_size: int | None = None,
        is_master: bool = False,
        timeout: timedelta = timedelta(seconds=300),
        wait_for_workers: bool = True,
        multi_tenant: bool = False,
        master_listen_fd: int | None = None,
        use_libuv: bool = True,
    ) -> None:
        super().__init__()
        if not 0 <= port < 1 << 16 or (port == 0 and not is_master):
            raise ValueError(f"TCPStore: port {port} is no port that a server can listen on")
        self._server: tcp_server.Server | None = None
        self._end: socket.socket | None = None
        self._lock, self._timeout = threading.Lock(), timeout
        self.host, self.port, self.libuvBackend = host_name, port, use_libuv
        if is_master:
            self._server = _serve(host_name, port, multi_tenant, master_listen_fd)
            self.port = self._server.port
        try:
            self._end = self._connect(timeout.total_seconds())
            if world_size is not None and wait_for_workers:
                self._wait_for_workers(world_size, is_master)
        except BaseException:
            self.close()
            raise

    def _wait_for_workers(self, world_size: int, is_master: bool) -> None:
        if self.add(_ARRIVED, 1) >= world_size:
            self.set(f"{_ARRIVED}/all", b"1")
        if is_master:
            try:
                self.wait([f"{_ARRIVED}/all"])
            except errors.DistStoreError:
                count = self.add(_ARRIVED, 0)
                raise errors.DistStoreError(
                    f"Timed out after {self._timeout.total_seconds():g} seconds waiting for "
                    f"clients. {count}/{world_size} clients joined."
                ) from None

    # -- the connection ---------------------------------------------------------------------------

    def _connect(self, timeout: float) -> socket.socket:
        """Connect and greet; ask again while nobody listens."""
        end, nap = time.monotonic() + timeout, 0.01
        while True:
            left = max(end - time.monotonic(), 0.01)
            try:
                made = socket.create_connection((self.host, self.port), left)
                break
            except OSError as error:
                if time.monotonic() + nap >= end:
                    raise errors.DistNetworkError(
                        f"The client socket has timed out after {timeout * 1000:.0f}ms while "
                        f"trying to connect to ({self.host}, {self.port}): {error}"
                    ) from None
                time.sleep(nap)
                nap = min(2 * nap, 0.5)
        made.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        try:
            self._greet(made, max(end - time.monotonic(), 0.01))
        except BaseException:
            made.close()
            raise
        return made

    def _greet(self, end: socket.socket, timeout: float) -> None:
        end.settimeout(min(timeout, tcp_server.GREETING_SECONDS))
        heard = b""
        with contextlib.suppress(OSError):
            end.sendall(wire.GREETING)
            while len(heard) < len(wire.GREETING):
                more = end.recv(len(wire.GREETING) - len(heard))
                if not more:
                    break
                heard += more
        if heard == wire.GREETING:
            return
        what = "what listens there is no store"
        if heard[:-1] == wire.GREETING[:-1]:
            what = f"its store speaks version {heard[-1]}, this one {wire.GREETING[-1]}"
        raise errors.DistNetworkError(f"({self.host}, {self.port}): {what}")

    def _request(self, operation: str, arguments: list[bytes], timeout: float) -> list[bytes]:
        try:
            message = wire.pack_request(operation, arguments, timeout)
        except wire.Garbage as error:
            raise errors.DistStoreError(str(error)) from None
        with self._lock:
            if self._end is None:
                raise errors.DistStoreError("the store is closed")
            try:
                self._end.settimeout(timeout + _GRACE)
                self._end.sendall(message)
                status, strings = self._receive(self._end)
            except (OSError, wire.Garbage) as error:
                self._hang_up()
                raise errors.DistNetworkError(
                    f"the store at ({self.host}, {self.port}) is gone: {error}"
                ) from None
        if status == wire.TIMED_OUT:
            raise timed_out(operation, arguments, timeout)
        if status == wire.REFUSED:
            raise errors.DistStoreError(strings[0].decode(errors="replace"))
        return strings

    @staticmethod
    def _receive(end: socket.socket) -> tuple[int, list[bytes]]:
        received = bytearray()
        while True:
            more = end.recv(1 << 16)
            if not more:
                raise ConnectionError("it has hung up")
            received += more
            answer = wire.unpack(received)
            if answer is not None:
                return answer[0], answer[2]

    def _hang_up(self) -> None:
        if self._end is not None:
            self._end.close()
            self._end = None

    def clone(self) -> TCPStore:
        """Return a connection of its own to the same server."""
        made = TCPStore(self.host, self.port, None, False, self._timeout, False)
        return made

    def close(self) -> None:
        """Hang up; the master's keys are gone then."""
        self._hang_up()
        if self._server is not None:
            server, self._server = self._server, None
            _leave(server)

    def __del__(self) -> None:
        if hasattr(self, "_lock"):
            with contextlib.suppress(OSError, RuntimeError):
                self.close()


public.place("distributed", TCPStore)
