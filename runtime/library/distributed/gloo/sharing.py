"""How the ranks of one machine get the same memory: rank 0 makes it and sends its descriptor.

The memory has no name, so none is left behind, however the processes end.
"""

from __future__ import annotations

import array
import os
import select
import socket
import time

from torchgen_out._runtime.core.shared_memory import SharedMemory
from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.gloo import segment
from torchgen_out._runtime.library.distributed.gloo.mesh import Mesh

_YES, _NO = b"y", b"n"
_DOING = "sharing memory"


def agree(mesh: Mesh, can: bool, timeout: float) -> SharedMemory | None:
    """Return memory that all ranks have mapped; None if any of them cannot."""
    end = time.monotonic() + timeout
    if mesh.size == 1:
        return segment.create(1)
    if mesh.rank == 0:
        return _offer(mesh, can, end)
    _send(mesh, 0, _YES if can else _NO)
    return _accept(mesh, can, end)


def _offer(mesh: Mesh, can: bool, end: float) -> SharedMemory | None:
    answers = [_receive(mesh, rank, end)[0] for rank in sorted(mesh.ends)]
    memory = None
    if can and all(answer == _YES for answer in answers):
        memory = segment.create(mesh.size)
    for rank in mesh.ends:
        _send(mesh, rank, _NO if memory is None else _YES, memory)
    for rank in mesh.ends if memory is not None else ():
        if _receive(mesh, rank, end)[0] != _YES:
            raise errors.DistBackendError(f"rank {rank} cannot map the group's shared memory")
    return memory


def _accept(mesh: Mesh, can: bool, end: float) -> SharedMemory | None:
    answer, descriptors = _receive(mesh, 0, end)
    if answer != _YES:
        return None
    size = segment.size_of(mesh.size)
    if len(descriptors) != 1 or os.fstat(descriptors[0]).st_size < size:
        _send(mesh, 0, _NO)
        raise errors.DistBackendError("rank 0 has sent no shared memory of the group's size")
    memory = SharedMemory(descriptors[0], size)
    memory.leave()
    _send(mesh, 0, _YES)
    return memory


def _send(mesh: Mesh, rank: int, word: bytes, memory: SharedMemory | None = None) -> None:
    rights = []
    if memory is not None:
        memory.leave()
        numbers = array.array("i", [memory.descriptor])
        rights = [(socket.SOL_SOCKET, socket.SCM_RIGHTS, numbers)]
    try:
        mesh.ends[rank].sendmsg([word], rights)
    except OSError as error:
        raise errors.lost(rank, _DOING, str(error)) from None


def _receive(mesh: Mesh, rank: int, end: float) -> tuple[bytes, list[int]]:
    """One byte from a rank, and the descriptors that come with it."""
    own = mesh.ends[rank]
    if not select.select([own], [], [], max(end - time.monotonic(), 0.001))[0]:
        raise errors.late([rank], _DOING, 0)
    numbers = array.array("i")
    space = socket.CMSG_LEN(numbers.itemsize) if own.family != socket.AF_INET else 0
    flags = getattr(socket, "MSG_CMSG_CLOEXEC", 0)
    try:
        word, ancillary, _, _ = own.recvmsg(1, space, flags)
    except OSError as error:
        raise errors.lost(rank, _DOING, str(error)) from None
    if not word:
        raise errors.lost(rank, _DOING, "its connection is closed")
    for level, kind, data in ancillary:
        if (level, kind) == (socket.SOL_SOCKET, socket.SCM_RIGHTS):
            numbers.frombytes(data[: len(data) - len(data) % numbers.itemsize])
    return word, list(numbers)
