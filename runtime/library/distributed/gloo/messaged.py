"""Collectives by messages, for ranks on several machines: rings and trees over the connections.

The same methods as `shared.SharedCollectives`. Messages of collectives have negative tags, counted
by call, so that they never meet those of users.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from torchgen_out._runtime.library.distributed import errors
from torchgen_out._runtime.library.distributed.gloo.messages import Messages, Transfer
from torchgen_out._runtime.library.distributed.gloo.progress import Collective
from torchgen_out._runtime.library.distributed.gloo.reducing import Reducer


class _Done:
    """Some transfers are done."""

    def __init__(self, messages: Messages, transfers: list[Transfer]) -> None:
        self._messages, self._transfers = messages, transfers

    def is_met(self) -> bool:
        for transfer in self._transfers:
            if transfer.error is not None:
                raise transfer.error
        if all(transfer.is_done for transfer in self._transfers):
            return True
        self._messages.proceed(0)
        return all(each.is_done and each.error is None for each in self._transfers)

    def spin(self) -> bool:
        return self.is_met()

    def sleep(self, seconds: float) -> None:
        self._messages.proceed(seconds)

    def late(self, doing: str, seconds: float) -> BaseException:
        left = sorted({transfer.rank for transfer in self._transfers if not transfer.is_done})
        self._messages.give_up(self._transfers)
        return errors.late(left, doing, seconds)


class MessagedCollectives:
    """The collectives of a group whose ranks send each other messages."""

    def __init__(self, messages: Messages, rank: int, size: int) -> None:
        self._messages, self.rank, self.size = messages, rank, size
        self._others = [other for other in range(size) if other != rank]
        self._calls = 0

    def _next_tag(self) -> int:
        self._calls += 1
        return -self._calls

    def _send(self, rank: int, tag: int, data: Any, stamp: int) -> Transfer:
        return self._messages.send(rank, tag, memoryview(data), stamp)

    def _receive(self, rank: int, tag: int, data: Any, stamp: int) -> Transfer:
        return self._messages.receive(rank, tag, memoryview(data), stamp)

    def _done(self, *transfers: Transfer) -> _Done:
        return _Done(self._messages, list(transfers))

    def barrier(self, stamp: int) -> Collective:
        """Wait for everybody: in round k, hear of 2**k more ranks."""
        tag, nothing = self._next_tag(), np.empty(0, np.uint8)
        step = 1
        while step < self.size:
            after, before = (self.rank + step) % self.size, (self.rank - step) % self.size
            yield self._done(
                self._send(after, tag, nothing, stamp), self._receive(before, tag, nothing, stamp)
            )
            step *= 2

    def broadcast(self, data: Any, root: int, stamp: int) -> Collective:
        """Give all ranks the bytes of the root, down a binomial tree."""
        tag, place = self._next_tag(), (self.rank - root) % self.size
        step = 1
        while step <= place:
            step *= 2
        if place:
            above = (place - step // 2 + root) % self.size
            yield self._done(self._receive(above, tag, data, stamp))
        sent = []
        while place + step < self.size:
            sent.append(self._send((place + step + root) % self.size, tag, data, stamp))
            step *= 2
        yield self._done(*sent)

    def all_reduce(self, data: Any, reduce: Reducer, dtype: Any, stamp: int) -> Collective:
        """Let `data` be the reduction of all: a ring hands parts round, then their reductions."""
        item = np.dtype(dtype).itemsize
        cuts = [data.size // item * rank // self.size * item for rank in range(self.size + 1)]
        parts = [data[cuts[rank] : cuts[rank + 1]] for rank in range(self.size)]
        yield from self._reduce_round(parts, reduce, dtype, stamp)
        yield from self._pass_round(parts, (self.rank + 1) % self.size, stamp)

    def _reduce_round(
        self, parts: list[Any], reduce: Reducer, dtype: Any, stamp: int
    ) -> Collective:
        """After it, rank r has the reduction of part r + 1."""
        tag = self._next_tag()
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        for step in range(self.size - 1):
            sent = parts[(self.rank - step) % self.size]
            own = parts[(self.rank - step - 1) % self.size]
            came = np.empty_like(own)
            yield self._done(
                self._send(after, tag, sent, stamp), self._receive(before, tag, came, stamp)
            )
            if own.size:
                reduce(came.view(dtype), own.view(dtype), own.view(dtype))

    def _pass_round(self, parts: Sequence[Any], first: int, stamp: int) -> Collective:
        """Rank r has the part `first`; the next lower one comes from the rank before."""
        tag = self._next_tag()
        after, before = (self.rank + 1) % self.size, (self.rank - 1) % self.size
        for step in range(self.size - 1):
            sent, comes = parts[(first - step) % self.size], parts[(first - step - 1) % self.size]
            yield self._done(
                self._send(after, tag, sent, stamp), self._receive(before, tag, comes, stamp)
            )

    def reduce(self, data: Any, reduce: Reducer, dtype: Any, root: int, stamp: int) -> Collective:
        """Let the root's data be the reduction of all, up a binomial tree."""
        tag, place = self._next_tag(), (self.rank - root) % self.size
        total, step = data, 1
        while step < self.size and not place & step:
            if place + step < self.size:
                came = np.empty_like(data)
                below = (place + step + root) % self.size
                yield self._done(self._receive(below, tag, came, stamp))
                total = total if self.rank == root or total is not data else data.copy()
                if data.size:
                    reduce(total.view(dtype), came.view(dtype), total.view(dtype))
            step *= 2
        if place:
            yield self._done(self._send((place - step + root) % self.size, tag, total, stamp))

    def all_gather(self, data: Any, outs: Sequence[Any], stamp: int) -> Collective:
        """Let outs[r] be rank r's data."""
        outs[self.rank][:] = data
        yield from self._pass_round(outs, self.rank, stamp)

    def gather(self, data: Any, outs: Sequence[Any] | None, root: int, stamp: int) -> Collective:
        """The same, for the root alone."""
        tag = self._next_tag()
        if outs is None:
            yield self._done(self._send(root, tag, data, stamp))
            return
        outs[root][:] = data
        yield self._done(*[self._receive(r, tag, outs[r], stamp) for r in self._others])

    def scatter(self, out: Any, parts: Sequence[Any] | None, root: int, stamp: int) -> Collective:
        """Let `out` be the root's parts[r] on rank r."""
        tag = self._next_tag()
        if parts is None:
            yield self._done(self._receive(root, tag, out, stamp))
            return
        out[:] = parts[root]
        yield self._done(*[self._send(r, tag, parts[r], stamp) for r in self._others])

    def reduce_scatter(
        self, out: Any, parts: Sequence[Any], reduce: Reducer, dtype: Any, stamp: int
    ) -> Collective:
        """Let `out` be the reduction of all ranks' parts[r] on rank r."""
        turned = [parts[(rank - 1) % self.size].copy() for rank in range(self.size)]
        yield from self._reduce_round(turned, reduce, dtype, stamp)
        out[:] = turned[(self.rank + 1) % self.size]

    def all_to_all(self, outs: Sequence[Any], parts: Sequence[Any], stamp: int) -> Collective:
        """Let outs[r] be rank r's part for this rank."""
        tag = self._next_tag()
        outs[self.rank][:] = parts[self.rank]
        yield self._done(
            *[self._receive(r, tag, outs[r], stamp) for r in self._others],
            *[self._send(r, tag, parts[r], stamp) for r in self._others],
        )
