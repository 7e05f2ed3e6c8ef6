"""Collectives in shared memory: who writes what in which phase, and who reads it.

Each is a generator over flat arrays of bytes; `segment` states the two rules that it keeps. What is
longer than a slot goes in chunks, of which two are in flight. Sums are made in the order of ranks,
so all ranks get the same bits.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.gloo import segment as segments
from torchgen_out._runtime.library.distributed.gloo import stamps
from torchgen_out._runtime.library.distributed.gloo.messages import Messages
from torchgen_out._runtime.library.distributed.gloo.progress import Collective
from torchgen_out._runtime.library.distributed.gloo.reducing import Reducer
from torchgen_out._runtime.library.distributed.gloo.segment import Segment

SMALL = 1 << 19
"""Bytes of all ranks together up to which every rank reduces everything itself, instead of a part
that it hands round: one meeting less, which on a busy machine costs more than so many bytes."""
_ALIGN = 64


class _Reached:
    """Some ranks' counters show a phase, and their stamps the same call as ours."""

    __slots__ = ("_messages", "_phase", "_ranks", "_segment", "_stamp")

    def __init__(
        self, segment: Segment, messages: Messages, phase: int, ranks: Any, stamp: int | None
    ) -> None:
        self._segment, self._messages = segment, messages
        self._phase, self._ranks, self._stamp = phase, ranks, stamp

    def is_met(self) -> bool:
        return self._segment.has(self._phase, self._ranks) and self._agrees()

    def spin(self) -> bool:
        return self._segment.spin(self._phase, self._ranks) and self._agrees()

    def _agrees(self) -> bool:
        if self._stamp is not None:
            for rank in self._ranks:
                other = self._segment.stamp(rank, self._phase)
                if other != self._stamp:
                    raise errors.DistBackendError(
                        f"rank {rank} has called {stamps.told(other)}, but rank "
                        f"{self._segment.rank} {stamps.told(self._stamp)}"
                    )
        return True

    def sleep(self, seconds: float) -> None:
        self._segment.sleep(self._phase, self._ranks, seconds)
        behind = self._segment.behind(self._phase, self._ranks)
        if not behind:
            return
        self._messages.proceed(0)
        for rank in behind:
            why = self._messages.is_lost(rank)
            if why is not None and self._segment.behind(self._phase, (rank,)):
                raise errors.lost(rank, "a collective", why)

    def late(self, doing: str, seconds: float) -> BaseException:
        return errors.late(self._segment.behind(self._phase, self._ranks), doing, seconds)


class SharedCollectives:
    """The collectives of a group whose ranks share memory."""

    def __init__(self, segment: Segment, messages: Messages) -> None:
        self._segment, self._messages = segment, messages
        self.rank, self.size = segment.rank, segment.world_size
        self._others = [rank for rank in range(self.size) if rank != self.rank]

    def _reached(self, phase: int, ranks: Sequence[int], stamp: int | None) -> _Reached:
        return _Reached(self._segment, self._messages, phase, ranks, stamp)

    def _may_write(self) -> _Reached:
        """That nobody reads any more what this phase writes over."""
        return self._reached(self._segment.phase, self._others, None)

    def _half(self) -> Any:
        """All slots of the phase that comes next."""
        return self._segment.slots[(self._segment.phase + 1) & 1]

    def barrier(self, stamp: int) -> Collective:
        """Wait for everybody."""
        yield self._reached(self._segment.publish(stamp), self._others, stamp)

    def broadcast(self, data: Any, root: int, stamp: int) -> Collective:
        """Give all ranks the bytes of the root."""
        for start, end in _chunks(data.size, segments.SLOT):
            half = self._half()
            if self.rank == root:
                yield self._may_write()
                half[root, : end - start] = data[start:end]
                self._segment.publish(stamp)
            else:
                phase = self._segment.publish(stamp)
                yield self._reached(phase, (root,), stamp)
                data[start:end] = half[root, : end - start]

    def all_reduce(self, data: Any, reduce: Reducer, dtype: Any, stamp: int) -> Collective:
        """Let `data` be the reduction of all ranks' data."""
        if data.size * self.size <= SMALL:
            return self._reduce_alike(data, reduce, dtype, stamp, None)
        return self._reduce_in_parts(data, reduce, dtype, stamp, None)

    def reduce(self, data: Any, reduce: Reducer, dtype: Any, root: int, stamp: int) -> Collective:
        """The same, for the root alone; the others' data stay as they are."""
        if data.size * self.size <= SMALL:
            return self._reduce_alike(data, reduce, dtype, stamp, root)
        return self._reduce_in_parts(data, reduce, dtype, stamp, root)

    def _reduce_alike(
        self, data: Any, reduce: Reducer, dtype: Any, stamp: int, root: int | None
    ) -> Collective:
        size, half = data.size, self._half()
        yield self._may_write()
        half[self.rank, :size] = data
        phase = self._segment.publish(stamp)
        if root is not None and root != self.rank:
            return
        yield self._reached(phase, self._others, stamp)
        out = data.view(dtype)
        _reduce_all([half[rank, :size].view(dtype) for rank in range(self.size)], reduce, out)

    def _reduce_in_parts(
        self, data: Any, reduce: Reducer, dtype: Any, stamp: int, root: int | None
    ) -> Collective:
        """Rank r reduces part r of every chunk; then all, or the root, take the parts together.

        A rank's own part never goes through the memory: only the others read what it writes there.
        """
        for start, end in _chunks(data.size, segments.SLOT):
            own, half = data[start:end], self._half()
            parts = _parts(own.size, self.size)
            yield self._may_write()
            for first, last in (parts[rank] for rank in self._others):
                half[self.rank, first:last] = own[first:last]
            phase = self._segment.publish(stamp)
            yield self._reached(phase, self._others, stamp)
            first, last = parts[self.rank]
            pieces = [half[rank, first:last].view(dtype) for rank in range(self.size)]
            pieces[self.rank] = own[first:last].view(dtype)
            half = self._half()
            _reduce_all(pieces, reduce, half[self.rank, first:last].view(dtype))
            phase = self._segment.publish(stamp)
            if root is not None and root != self.rank:
                continue
            own[first:last] = half[self.rank, first:last]
            yield self._reached(phase, self._others, stamp)
            for rank in self._others:
                first, last = parts[rank]
                own[first:last] = half[rank, first:last]

    def all_gather(self, data: Any, outs: Sequence[Any], stamp: int) -> Collective:
        """Let outs[r] be rank r's data."""
        for start, end in _chunks(data.size, segments.SLOT):
            half = self._half()
            yield self._may_write()
            half[self.rank, : end - start] = data[start:end]
            phase = self._segment.publish(stamp)
            outs[self.rank][start:end] = data[start:end]
            yield self._reached(phase, self._others, stamp)
            for rank in self._others:
                outs[rank][start:end] = half[rank, : end - start]

    def gather(self, data: Any, outs: Sequence[Any] | None, root: int, stamp: int) -> Collective:
        """The same, for the root alone."""
        for start, end in _chunks(data.size, segments.SLOT):
            half = self._half()
            if outs is not None:
                phase = self._segment.publish(stamp)
                outs[self.rank][start:end] = data[start:end]
                yield self._reached(phase, self._others, stamp)
                for rank in self._others:
                    outs[rank][start:end] = half[rank, : end - start]
            else:
                yield self._may_write()
                half[self.rank, : end - start] = data[start:end]
                self._segment.publish(stamp)

    def scatter(self, out: Any, parts: Sequence[Any] | None, root: int, stamp: int) -> Collective:
        """Let `out` be the root's parts[r] on rank r."""
        for start, end in _chunks(out.size, segments.SLOT):
            half = self._half()
            if parts is not None:
                yield self._may_write()
                for rank in self._others:
                    half[rank, : end - start] = parts[rank][start:end]
                self._segment.publish(stamp)
                out[start:end] = parts[self.rank][start:end]
            else:
                phase = self._segment.publish(stamp)
                yield self._reached(phase, (root,), stamp)
                out[start:end] = half[self.rank, : end - start]

    def reduce_scatter(
        self, out: Any, parts: Sequence[Any], reduce: Reducer, dtype: Any, stamp: int
    ) -> Collective:
        """Let `out` be the reduction of all ranks' parts[r] on rank r."""
        room = segments.SLOT // self.size // _ALIGN * _ALIGN
        for start, end in _chunks(out.size, room):
            half, size = self._half(), end - start
            yield self._may_write()
            for rank in self._others:
                half[self.rank, rank * room : rank * room + size] = parts[rank][start:end]
            phase = self._segment.publish(stamp)
            yield self._reached(phase, self._others, stamp)
            at = self.rank * room
            pieces = [half[rank, at : at + size].view(dtype) for rank in range(self.size)]
            pieces[self.rank] = parts[self.rank][start:end].view(dtype)
            _reduce_all(pieces, reduce, out[start:end].view(dtype))

    def all_to_all(self, outs: Sequence[Any], parts: Sequence[Any], stamp: int) -> Collective:
        """Let outs[r] be rank r's part for this rank. First all tell how long their parts are."""
        half = self._half()
        yield self._may_write()
        sizes = np.array([part.size for part in parts], np.int64)
        half[self.rank, : sizes.nbytes] = sizes.view(np.uint8)
        phase = self._segment.publish(stamp)
        yield self._reached(phase, self._others, stamp)
        table = half[:, : sizes.nbytes].copy().view(np.int64)
        for rank, out in enumerate(outs):
            if table[rank, self.rank] != out.size:
                raise errors.DistBackendError(
                    f"all_to_all: rank {rank} sends {table[rank, self.rank]} bytes, "
                    f"{out.size} were expected from it"
                )
        yield from self._exchange(outs, parts, int(table.max()), stamp)

    def _exchange(
        self, outs: Sequence[Any], parts: Sequence[Any], longest: int, stamp: int
    ) -> Collective:
        room = segments.SLOT // self.size // _ALIGN * _ALIGN
        outs[self.rank][:] = parts[self.rank]
        for start, _ in _chunks(longest, room) if longest else ():
            half = self._half()
            yield self._may_write()
            for rank in self._others:
                piece = parts[rank][start : start + room]
                half[self.rank, rank * room : rank * room + piece.size] = piece
            phase = self._segment.publish(stamp)
            yield self._reached(phase, self._others, stamp)
            at = self.rank * room
            for rank in self._others:
                piece = outs[rank][start : start + room]
                piece[:] = half[rank, at : at + piece.size]


def _chunks(size: int, room: int) -> Iterator[tuple[int, int]]:
    """Begin and end of all chunks; an empty one if there is nothing, since ranks still meet."""
    for start in range(0, max(size, 1), room):
        yield start, min(start + room, size)


def _parts(size: int, count: int) -> list[tuple[int, int]]:
    """Bytes split among ranks, at cache lines."""
    each = -(-size // count // _ALIGN) * _ALIGN
    return [(min(rank * each, size), min((rank + 1) * each, size)) for rank in range(count)]


def _reduce_all(pieces: Sequence[Any], reduce: Reducer, out: Any) -> None:
    """Reduce arrays in their order into `out`, which may be one of them if there are two."""
    if not out.size:
        return
    first = pieces[0]
    for piece in pieces[1:]:
        reduce(first, piece, out)
        first = out
    if len(pieces) == 1 and first is not out:
        out[:] = first
