"""Connections between all ranks of a group, a pair each, made with the store's help.

Within one machine they are local sockets, which also carry descriptors of shared memory; between
machines TCP. Who connects says at once which group, rank and version it is, with a word that only
the store's users know; whoever says anything else is hung up on.
"""

from __future__ import annotations

import contextlib
import hashlib
import json
import os
import secrets
import select
import socket
import struct
import sys
import time
from pathlib import Path
from typing import NamedTuple

from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.stores.store import Store

VERSION = 1
"""Of what ranks say to each other."""
_HELLO = struct.Struct("<8sIi32s")  # what it is, version, rank, the group's word
_MAGIC = b"tg-ranks"
_STRANGERS_SECONDS = 5.0
_FIELDS = {"host": str, "local": str, "address": str, "port": int, "version": int, "pid": int}


class Peer(NamedTuple):
    """What a rank tells of itself in the store."""

    host: str
    """What is the same for all processes that can share memory."""
    local: str
    """Name of its local socket, or nothing."""
    address: str
    port: int
    version: int
    pid: int


def host_name() -> str:
    """What distinguishes machines, containers with networks of their own, and users."""
    boot = Path("/proc/sys/kernel/random/boot_id")
    parts = [boot.read_text() if boot.exists() else socket.gethostname()]
    with contextlib.suppress(OSError):
        parts.append(os.readlink("/proc/self/ns/net"))
    parts.append(str(os.getuid()) if hasattr(os, "getuid") else "")
    return hashlib.sha256("\n".join(parts).encode()).hexdigest()[:32]


def _own_address() -> str:
    """The address under which other machines reach this one; loopback if there are none."""
    told = os.environ.get("GLOO_SOCKET_ADDRESS")
    if told:
        return told
    master = os.environ.get("MASTER_ADDR", "127.0.0.1")
    with contextlib.suppress(OSError), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as probe:
        probe.connect((master, 9))  # sends nothing: it only asks for a route
        return str(probe.getsockname()[0])
    return "127.0.0.1"


class Mesh:
    """A socket to every other rank of a group."""

    def __init__(self, store: Store, rank: int, size: int, timeout: float) -> None:
        self.rank, self.size = rank, size
        self._store, self._end = store, time.monotonic() + timeout
        self._timeout = timeout
        self.ends: dict[int, socket.socket] = {}
        self.peers: dict[int, Peer] = {}
        self._listeners: list[socket.socket] = []
        try:
            self._meet()
        except BaseException:
            self.close()
            raise
        finally:
            for listener in self._listeners:
                listener.close()

    @property
    def is_local(self) -> bool:
        """Whether all ranks are on one machine and can hand each other descriptors."""
        return all(end.family == _LOCAL for end in self.ends.values()) and _LOCAL is not None

    def close(self) -> None:
        """Hang up on everybody."""
        for end in self.ends.values():
            end.close()
        self.ends.clear()

    # -- meeting ----------------------------------------------------------------------------------

    def _meet(self) -> None:
        own = self._listen()
        if self.rank == 0:
            self._store.set("word", secrets.token_bytes(32).hex())
        self._store.set(f"rank{self.rank}", json.dumps(own._asdict()))
        self._word = bytes.fromhex(self._ask("word", 0).decode())
        for rank in range(self.size):
            self.peers[rank] = self._told(rank)
        for rank in range(self.rank):
            self.ends[rank] = self._connect(rank, own)
        while len(self.ends) < self.size - 1:
            self._accept()

    def _listen(self) -> Peer:
        local, address = "", _own_address()
        if _LOCAL is not None:
            local = "torchgen-" + secrets.token_hex(12)
            self._listeners.append(_listening(_LOCAL, "\0" + local))
        self._listeners.append(_listening(socket.AF_INET, (address, 0)))
        port = self._listeners[-1].getsockname()[1]
        return Peer(host_name(), local, address, port, VERSION, os.getpid())

    def _left(self) -> float:
        return max(self._end - time.monotonic(), 0.001)

    def _ask(self, key: str, rank: int) -> bytes:
        """What a rank has left in the store."""
        try:
            self._store.wait([key], self._left())
        except errors.DistStoreError:
            raise errors.late([rank], "connecting the group", self._timeout) from None
        return self._store.get(key)

    def _told(self, rank: int) -> Peer:
        """What a rank has told of itself. **Raises** DistBackendError for another version."""
        try:
            found = json.loads(self._ask(f"rank{rank}", rank))
            values = [found[name] for name in _FIELDS]
        except (ValueError, KeyError, TypeError):
            raise errors.DistBackendError(f"rank {rank} has left garbage in the store") from None
        if not all(isinstance(v, kind) for v, kind in zip(values, _FIELDS.values(), strict=True)):
            raise errors.DistBackendError(f"rank {rank} has left garbage in the store")
        peer = Peer(*values)
        if peer.version != VERSION:
            raise errors.DistBackendError(
                f"rank {rank} speaks version {peer.version} of the protocol between ranks, "
                f"rank {self.rank} version {VERSION}: all need the same torchgen_out"
            )
        return peer

    def _connect(self, rank: int, own: Peer) -> socket.socket:
        peer = self.peers[rank]
        is_near = bool(_LOCAL is not None and peer.local and peer.host == own.host)
        made = socket.socket(_LOCAL if is_near and _LOCAL is not None else socket.AF_INET)
        try:
            made.settimeout(self._left())
            made.connect("\0" + peer.local if is_near else (peer.address, peer.port))
            made.sendall(_HELLO.pack(_MAGIC, VERSION, self.rank, self._word))
            _receive_exactly(made, 1)
        except OSError as error:
            made.close()
            where = "its local socket" if is_near else f"{peer.address}:{peer.port}"
            raise errors.lost(rank, f"connecting to {where}", str(error) or "no answer") from None
        return _ready(made)

    def _accept(self) -> None:
        """Take one connection from a higher rank; hang up on strangers."""
        readable, _, _ = select.select(self._listeners, [], [], self._left())
        if not readable:
            missing = [r for r in range(self.rank + 1, self.size) if r not in self.ends]
            raise errors.late(missing, "connecting the group", self._timeout)
        end, _ = readable[0].accept()
        try:
            end.settimeout(min(self._left(), _STRANGERS_SECONDS))
            hello = _HELLO.unpack(_receive_exactly(end, _HELLO.size))
            magic, version, rank, word = hello
            if (
                magic != _MAGIC
                or version != VERSION
                or not secrets.compare_digest(word, self._word)
                or not self.rank < rank < self.size
                or rank in self.ends
            ):
                raise OSError("a stranger")
            end.sendall(b"\1")
        except OSError:
            end.close()
            return
        self.ends[rank] = _ready(end)


_LOCAL: socket.AddressFamily | None = socket.AF_UNIX if sys.platform == "linux" else None


def _listening(family: socket.AddressFamily, address: object) -> socket.socket:
    made = socket.socket(family, socket.SOCK_STREAM)
    made.bind(address)  # type: ignore[arg-type]
    made.listen(1024)
    return made


def _receive_exactly(end: socket.socket, count: int) -> bytes:
    received = b""
    while len(received) < count:
        more = end.recv(count - len(received))
        if not more:
            raise ConnectionError("hung up")
        received += more
    return received


def _ready(end: socket.socket) -> socket.socket:
    if end.family == socket.AF_INET:
        end.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
    end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, 1 << 20)
    end.setblocking(False)
    return end
