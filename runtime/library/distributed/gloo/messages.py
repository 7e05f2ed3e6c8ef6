"""Messages between two ranks over their socket, matched by tag, sent and received side by side.

Sending and receiving are *transfers*: whoever waits for one carries all of them on. A message that
nobody has asked for stays in its socket; only one that stands before another that was asked for is
kept in memory.
"""

from __future__ import annotations

import contextlib
import os
import select
import socket
import struct
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.gloo import stamps

ANY = -1
"""In place of the rank to receive from."""
_HEAD = struct.Struct("<QqQ")  # bytes, tag, stamp
_HANG_UP = select.POLLHUP | select.POLLERR | getattr(select, "POLLRDHUP", 0)
_STEP = 1 << 18
LOOKING = 4e-5
"""Seconds for which a waiting rank looks before it sleeps: about what it takes to wake it."""
_let_others_go = getattr(os, "sched_yield", lambda: None)
_CLOSED = "its connection is closed"


class Transfer:
    """One message on its way. rank: the other end, or ANY until the message is there."""

    __slots__ = ("error", "is_done", "on_end", "rank", "rest", "stamp", "tag", "view")

    def __init__(self, rank: int, tag: int, view: memoryview, stamp: int) -> None:
        self.rank, self.tag, self.view, self.stamp = rank, tag, view, stamp
        self.rest = view
        self.is_done = False
        self.error: BaseException | None = None
        self.on_end: Callable[[], Any] | None = None

    def end(self, error: BaseException | None = None) -> None:
        """Note that it is over."""
        self.error, self.is_done = error, True
        self.rest = self.view = memoryview(b"")
        if self.on_end is not None:
            self.on_end()


class _Line:
    """The connection to one rank: what waits to be sent, and what is coming in."""

    def __init__(self, rank: int, end: socket.socket) -> None:
        self.rank, self.end = rank, end
        self.outgoing: deque[tuple[list[memoryview], Transfer]] = deque()
        self.head = bytearray()
        self.incoming: Transfer | None = None
        """Whose message is coming in, and goes right where it shall be."""
        self.unasked: _Kept | None = None
        """Or a message that nobody has asked for yet."""
        self.kept: list[_Kept] = []
        """Such messages that have come in whole."""
        self.why_lost: str | None = None
        self.has_hung_up = False
        """Whether the other end is closed; what it sent before may still be read."""


class _Kept:
    """A message that nobody has asked for, or whose receiver did not fit: then it has no tag."""

    def __init__(self, tag: int | None, stamp: int, size: int) -> None:
        self.tag, self.stamp, self.left = tag, stamp, size
        self.content = bytearray()


class Messages:
    """All connections of a rank."""

    def __init__(self, ends: dict[int, socket.socket], doing: str = "a transfer") -> None:
        self._lines = {rank: _Line(rank, end) for rank, end in ends.items()}
        self._wanted: list[Transfer] = []
        self._lock = threading.RLock()
        self._poll = select.poll()
        self._masks: dict[int, int] = {}
        self._by_descriptor = {end.fileno(): rank for rank, end in ends.items()}
        self.doing = doing
        for line in self._lines.values():
            self._watch(line)

    # -- what users ask for -----------------------------------------------------------------------

    def send(self, rank: int, tag: int, view: memoryview, stamp: int = 0) -> Transfer:
        """Begin to send bytes, which must stay as they are until the transfer is done."""
        made = Transfer(rank, tag, view, stamp)
        line = self._lines[rank]
        with self._lock:
            if line.why_lost is not None:
                made.end(errors.lost(rank, self.doing, line.why_lost))
                return made
            head = memoryview(_HEAD.pack(view.nbytes, tag, stamp))
            line.outgoing.append(([head, view] if view.nbytes else [head], made))
            self._push(line)
        return made

    def receive(self, rank: int, tag: int, view: memoryview, stamp: int = 0) -> Transfer:
        """Begin to receive as many bytes as fit into `view`, from a rank or from ANY."""
        made = Transfer(rank, tag, view, stamp)
        lines = list(self._lines.values()) if rank == ANY else [self._lines[rank]]
        with self._lock:
            for line in lines:
                for kept in line.kept:
                    if kept.tag == tag:
                        line.kept.remove(kept)
                        _deliver(line.rank, made, kept)
                        return made
            gone = [line for line in lines if line.why_lost is not None]
            if len(gone) == len(lines):
                made.end(errors.lost(rank, self.doing, str(gone[0].why_lost)))
                return made
            self._wanted.append(made)
            for line in lines:
                self._pull(line)
                if made.is_done:
                    break
        return made

    def is_lost(self, rank: int) -> str | None:
        """Why there is no connection to a rank any more; None if there is."""
        line = self._lines[rank]
        return _CLOSED if line.has_hung_up else line.why_lost

    def proceed(self, seconds: float) -> None:
        """Carry on whatever can be carried on; wait for that at most some seconds."""
        with self._lock:
            for line in self._lines.values():
                self._watch(line)
            for descriptor, events in self._look(seconds):
                line = self._lines[self._by_descriptor[descriptor]]
                if events & select.POLLOUT:
                    self._push(line)
                if events & select.POLLIN:
                    self._pull(line)
                if events & _HANG_UP and line.why_lost is None:
                    line.has_hung_up = True

    def _look(self, seconds: float) -> list[tuple[int, int]]:
        """What has come, or room for what goes: most answers come sooner than one falls asleep."""
        end = time.perf_counter() + min(seconds, LOOKING)
        found = self._poll.poll(0)
        while not found and time.perf_counter() < end:
            _let_others_go()  # the other rank may need this processor
            found = self._poll.poll(0)
        return found or (self._poll.poll(seconds * 1000) if seconds > LOOKING else [])

    def wait(self, transfers: list[Transfer], seconds: float) -> None:
        """Carry on until all of them are done. **Raises** their errors; DistBackendError later."""
        end = time.monotonic() + seconds
        for transfer in transfers:
            while not transfer.is_done:
                left = end - time.monotonic()
                if left <= 0:
                    self.give_up(transfers)
                    late = sorted({t.rank for t in transfers if isinstance(t.error, TimeoutError)})
                    raise errors.late(late, self.doing, seconds)
                self.proceed(min(left, 0.05))
        for transfer in transfers:
            if transfer.error is not None:
                raise transfer.error

    def give_up(self, transfers: list[Transfer]) -> None:
        """End transfers whose time is over; what was half sent makes the connection useless."""
        with self._lock:
            for transfer in transfers:
                if transfer.is_done:
                    continue
                if transfer in self._wanted:
                    self._wanted.remove(transfer)
                elif transfer.rank in self._lines:
                    self._lose(self._lines[transfer.rank], "a transfer was given up")
                if not transfer.is_done:
                    transfer.end(TimeoutError())

    def close(self) -> None:
        """Hang up."""
        with self._lock:
            for line in self._lines.values():
                if line.why_lost is None:
                    self._lose(line, "this process has left the group")

    # -- one connection ---------------------------------------------------------------------------

    def _is_wanted(self, line: _Line) -> bool:
        if line.incoming is not None or line.unasked is not None or line.head:
            return True
        return any(each.rank in (line.rank, ANY) for each in self._wanted)

    def _watch(self, line: _Line) -> None:
        """Tell the system what to look for: no more than is asked for now."""
        if line.why_lost is not None:
            return
        mask = 0 if line.has_hung_up else getattr(select, "POLLRDHUP", 0)
        if line.outgoing:
            mask |= select.POLLOUT
        if self._is_wanted(line):
            mask |= select.POLLIN
        if self._masks.get(line.rank) == mask:
            return
        self._masks[line.rank] = mask
        if mask or not line.has_hung_up:
            self._poll.register(line.end, mask)
        else:  # or the poll would never sleep again
            self._poll.unregister(line.end)

    def _push(self, line: _Line) -> None:
        """Send as much as there is room for."""
        try:
            while line.outgoing:
                parts, transfer = line.outgoing[0]
                sent = line.end.sendmsg(parts)
                while parts and sent >= parts[0].nbytes:
                    sent -= parts.pop(0).nbytes
                if parts:
                    parts[0] = parts[0][sent:]
                else:
                    line.outgoing.popleft()
                    transfer.end()
        except BlockingIOError:
            pass
        except OSError as error:
            self._lose(line, error.strerror or str(error))

    def _pull(self, line: _Line) -> None:
        """Receive as much as has come and is asked for."""
        try:
            while line.why_lost is None and self._is_wanted(line):
                if line.incoming is not None:
                    self._read_asked(line, line.incoming)
                elif line.unasked is not None:
                    self._read_unasked(line, line.unasked)
                else:
                    self._read_head(line)
        except BlockingIOError:
            pass
        except OSError as error:
            self._lose(line, error.strerror or str(error))

    def _read_head(self, line: _Line) -> None:
        more = line.end.recv(_HEAD.size - len(line.head))
        if not more:
            raise ConnectionResetError(_CLOSED)
        line.head += more
        if len(line.head) < _HEAD.size:
            return
        size, tag, stamp = _HEAD.unpack(line.head)
        line.head.clear()
        found = self._taker(line.rank, tag)
        if found is None:
            line.unasked = _Kept(tag, stamp, size)
        elif size != found.view.nbytes or stamp != found.stamp:
            found.end(_mismatch(line.rank, size, stamp, found))
            line.unasked = _Kept(None, stamp, size)
        else:
            line.incoming = found
        if not size:
            self._finish(line)

    def _taker(self, rank: int, tag: int) -> Transfer | None:
        """Who has asked first for such a message of a rank."""
        for transfer in self._wanted:
            if transfer.tag == tag and transfer.rank in (rank, ANY):
                self._wanted.remove(transfer)
                transfer.rank = rank
                return transfer
        return None

    def _read_asked(self, line: _Line, transfer: Transfer) -> None:
        count = line.end.recv_into(transfer.rest)
        if not count:
            raise ConnectionResetError(_CLOSED)
        transfer.rest = transfer.rest[count:]
        if not transfer.rest.nbytes:
            self._finish(line)

    def _read_unasked(self, line: _Line, kept: _Kept) -> None:
        more = line.end.recv(min(kept.left, _STEP))
        if not more:
            raise ConnectionResetError(_CLOSED)
        kept.left -= len(more)
        if kept.tag is not None:
            kept.content += more
        if not kept.left:
            self._finish(line)

    def _finish(self, line: _Line) -> None:
        """A message has come in whole."""
        transfer, line.incoming = line.incoming, None
        kept, line.unasked = line.unasked, None
        if transfer is not None:
            transfer.end()
        elif kept is not None and kept.tag is not None:
            taker = self._taker(line.rank, kept.tag)
            if taker is None:
                line.kept.append(kept)
            else:
                _deliver(line.rank, taker, kept)

    def _lose(self, line: _Line, why: str) -> None:
        """End all transfers with a rank; its connection is of no more use."""
        line.why_lost = why
        with contextlib.suppress(KeyError, ValueError):
            self._poll.unregister(line.end)
        line.end.close()
        error = errors.lost(line.rank, self.doing, why)
        ended = [transfer for _, transfer in line.outgoing]
        ended += [line.incoming] if line.incoming is not None else []
        ended += [transfer for transfer in self._wanted if transfer.rank == line.rank]
        if all(each.why_lost is not None for each in self._lines.values()):
            ended += [transfer for transfer in self._wanted if transfer.rank == ANY]
        self._wanted = [transfer for transfer in self._wanted if transfer not in ended]
        line.outgoing.clear()
        line.incoming = line.unasked = None
        for transfer in ended:
            transfer.end(error)


def _deliver(rank: int, transfer: Transfer, kept: _Kept) -> None:
    """Give a message that was kept to whoever has asked for it now."""
    transfer.rank = rank
    if len(kept.content) != transfer.view.nbytes or kept.stamp != transfer.stamp:
        transfer.end(_mismatch(rank, len(kept.content), kept.stamp, transfer))
        return
    transfer.view[:] = kept.content
    transfer.end()


def _mismatch(rank: int, size: int, stamp: int, transfer: Transfer) -> errors.DistBackendError:
    sent, wanted = stamps.told(stamp, size), stamps.told(transfer.stamp, transfer.view.nbytes)
    return errors.DistBackendError(f"rank {rank} has sent {sent}; {wanted} was expected from it")
