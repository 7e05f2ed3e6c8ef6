"""Gradients reduced over all ranks in buckets, while the backward that makes them still runs.

A hook on each parameter notes that its gradient is there and puts it into its bucket. A bucket that
is full starts on its way, after those before it, so that all ranks start them in one order.
What is left is waited for when the backward has finished.
"""

from __future__ import annotations

import weakref
from collections.abc import Callable, Iterable, Sequence
from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.autograd import engine
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import collectives, errors, sparse_gradients, world
from torchgen_out._runtime.library.distributed.options import AllreduceOptions
from torchgen_out._runtime.library.distributed.reduce_op import ReduceOp
from torchgen_out._runtime.library.programs.futures import Future

FIRST_BUCKET_BYTES = 1 << 20
"""Of the bucket that is full first, so that communication begins early."""
BUCKET_BYTES = 25 << 20
Hook = Callable[[Any, "GradBucket"], "Future[Any]"]


class GradBucket:
    """What a communication hook gets: gradients of some parameters, side by side in one tensor."""

    def __init__(self, bucket: _Bucket, is_last: bool) -> None:
        self._bucket, self._is_last = bucket, is_last

    def index(self) -> int:
        """Return its number: buckets are full in their order."""
        return self._bucket.index

    def buffer(self) -> Any:
        """Return the flat tensor of all its gradients."""
        return self._bucket.flat

    def gradients(self) -> list[Any]:
        """Return views of it, one for each parameter."""
        return list(self._bucket.views)

    def parameters(self) -> list[Any]:
        """Return the parameters."""
        return list(self._bucket.parameters)

    def is_last(self) -> bool:
        """Return whether no other comes after it."""
        return self._is_last

    def set_buffer(self, buffer: Any) -> None:
        """Let the gradients be those of another flat tensor."""
        self._bucket.flat.copy_(buffer)


class _Bucket:
    """Some parameters of one dtype and device, and their gradients in one flat tensor."""

    def __init__(self, index: int, parameters: Sequence[Any]) -> None:
        self.index, self.parameters = index, list(parameters)
        first = parameters[0]
        total = sum(each.numel() for each in parameters)
        self.flat = torch.zeros(total, dtype=first.dtype, device=first.device)
        pieces = self.flat.split([each.numel() for each in parameters])
        self.views = [p.view(each.shape) for p, each in zip(pieces, parameters, strict=True)]
        self.missing = len(parameters)
        self.future: Future[Any] | None = None
        self.work: Any = None


def _compute_bucket_assignment_by_size(
    tensors: Sequence[Any], bucket_size: Sequence[int], *unused: Any
) -> tuple[list[list[int]], list[int]]:
    """Return the indices of the tensors of each bucket, and its limit in bytes.

    A bucket is closed when it has reached its limit: the first limit counts for the first bucket
    of a dtype and device, the last for all that follow.
    """
    closed: list[tuple[list[int], int]] = []
    open_: dict[Any, tuple[list[int], int, int]] = {}
    for index, tensor in enumerate(tensors):
        kind = (tensor.dtype, tensor.device)
        indices, size, number = open_.pop(kind, ([], 0, 0))
        if size == 0 and kind not in open_:
            number = sum(tensors[each[0][0]].dtype is tensor.dtype for each in closed)
        indices.append(index)
        size += tensor.numel() * tensor.element_size()
        limit = bucket_size[min(number, len(bucket_size) - 1)]
        if size >= limit:
            closed.append((indices, limit))
        else:
            open_[kind] = indices, size, number
    closed += [
        (each[0], bucket_size[min(each[2], len(bucket_size) - 1)]) for each in open_.values()
    ]
    closed.sort(key=lambda each: each[0][0])
    return [each[0] for each in closed], [each[1] for each in closed]


class Reducer:
    """Averages the gradients of parameters over the ranks of a group, in every backward."""

    def __init__(
        self,
        parameters: Sequence[Any],
        group: Any = None,
        bucket_bytes: int = BUCKET_BYTES,
        finds_unused: bool = False,
        as_views: bool = False,
        is_static: bool = False,
        sparse: Iterable[int] = (),
    ) -> None:
        """sparse: parameters whose gradients are sparse, by `id`; they have no buckets."""
        wanted = set(sparse)
        self.sparse = [each for each in parameters if id(each) in wanted]
        parameters = [each for each in parameters if id(each) not in wanted]
        self.parameters, self.group = parameters, world.resolve(group)
        self.size = self.group.size()
        self.divisor = self.size
        """By what sums are divided: fewer ranks may take part while some have run out of data."""
        self._finds_unused, self._as_views, self._is_static = finds_unused, as_views, is_static
        self._hook: tuple[Any, Hook] | None = None
        backwards = self.parameters[::-1]  # gradients come in about this order
        limits = [min(FIRST_BUCKET_BYTES, bucket_bytes), bucket_bytes]
        indices, _ = _compute_bucket_assignment_by_size(backwards, limits)
        self.buckets = [
            _Bucket(number, [backwards[i] for i in each]) for number, each in enumerate(indices)
        ]
        self._place = {
            id(parameter): (bucket, i)
            for bucket in self.buckets
            for i, parameter in enumerate(bucket.parameters)
        }
        self._uses: dict[int, int] = {}
        """How often each gradient is added to in a backward of a static graph."""
        watched = [*self.parameters, *self.sparse]
        self._handles = [self._watch(parameter) for parameter in watched]
        self.expects = False
        """Whether the backward that comes reduces gradients."""
        self._begin()

    def set_hook(self, state: Any, hook: Hook) -> None:
        """Let a communication hook reduce the buckets. **Raises** RuntimeError if there is one."""
        if self._hook is not None:
            raise RuntimeError("register_comm_hook can only be called once.")
        self._hook = state, hook

    def stop(self) -> None:
        """Take the hooks off the parameters."""
        for handle in self._handles:
            handle.remove()

    # -- a backward -------------------------------------------------------------------------------

    def _watch(self, parameter: Any) -> Any:
        self_reference = weakref.ref(self)

        def note(ready: Any) -> None:
            reducer = self_reference()
            if reducer is not None and reducer.expects:
                reducer._note(ready)

        return parameter.register_post_accumulate_grad_hook(note)

    def _begin(self) -> None:
        self._next = 0
        self._is_queued = False
        self._ready: dict[int, int] = {}
        self._unused: set[int] = set()
        for bucket in self.buckets:
            bucket.missing = len(bucket.parameters)
            bucket.future = bucket.work = None

    def prepare(self, outputs: Any) -> None:
        """Expect a backward from these outputs.

        **Raises** RuntimeError if the last one has left gradients without a sum.
        """
        if self.expects and self._ready:
            missing = [i for i, p in enumerate(self.parameters) if id(p) not in self._ready]
            self._begin()
            raise RuntimeError(
                "Expected to have finished reduction in the prior iteration before starting a new "
                "one. This error indicates that your module has parameters that were not used in "
                f"producing loss (parameter indices which did not receive grad: {missing}). Pass "
                "find_unused_parameters=True to DistributedDataParallel, and make sure that all "
                "forward outputs take part in the loss."
            )
        self._begin()
        self.expects = True
        if self._finds_unused or self._is_static:
            reached = _reached(outputs)
            self._unused = {id(p) for p in self.parameters if id(p) not in reached}

    def _note(self, parameter: Any) -> None:
        """A gradient is there."""
        if not self._is_queued:
            self._is_queued = True
            engine.queue_callback(self._finish)
            for unused in self._unused:
                self._mark(unused)
        key = id(parameter)
        if key not in self._place:
            return  # sparse: exchanged at the end
        count = self._ready[key] = self._ready.get(key, 0) + 1
        if self._is_static:
            if key in self._uses and count == self._uses[key]:
                self._mark(key)
            return  # of the first backward all are put in place at its end
        if count > 1:
            raise RuntimeError(
                f"Expected to mark a variable ready only once: parameter of shape "
                f"{list(parameter.shape)} got two gradients in one backward. Shared use across "
                "reentrant backwards needs static_graph=True."
            )
        self._mark(key)

    def _mark(self, key: int) -> None:
        """Put a gradient into its bucket; start what is full, in order."""
        bucket, i = self._place[key]
        self._fill(bucket, i)
        bucket.missing -= 1
        while self._next < len(self.buckets) and not self.buckets[self._next].missing:
            self._start(self.buckets[self._next])
            self._next += 1

    def _fill(self, bucket: _Bucket, i: int) -> None:
        grad, view = bucket.parameters[i].grad, bucket.views[i]
        with torch.no_grad():
            if grad is None:
                view.zero_()
            elif self._hook is not None:
                if grad is not view:
                    view.copy_(grad)
            else:
                torch.mul(grad.detach(), 1 / self.divisor, out=view)

    def _start(self, bucket: _Bucket) -> None:
        if self._hook is None:
            # Carried on by the next bucket and at the end: no thread need look after it.
            bucket.work = self.group.allreduce([bucket.flat], AllreduceOptions())
            return
        state, hook = self._hook
        bucket.future = hook(state, GradBucket(bucket, bucket is self.buckets[-1]))

    # -- its end ----------------------------------------------------------------------------------

    def _finish(self) -> None:
        """The backward has finished: wait for the buckets, give parameters their gradients."""
        if self._is_static and not self._uses:
            self._uses = dict(self._ready)
            for parameter in self.parameters:
                if id(parameter) not in self._unused:
                    self._mark(id(parameter))
        if self._next < len(self.buckets):
            return  # told by the next `prepare`: who sees it now sees a backward that worked
        used = self._used_anywhere()
        for bucket in self.buckets:
            self._wait(bucket)
            for i, parameter in enumerate(bucket.parameters):
                if used is None or id(parameter) in used:
                    self._give(parameter, bucket.views[i])
        for parameter in self.sparse:
            parameter.grad = sparse_gradients.averaged(parameter, self.divisor, self.group)
        self.expects = False

    @staticmethod
    def _wait(bucket: _Bucket) -> None:
        if bucket.work is not None:
            bucket.work.wait()
        elif bucket.future is not None:
            reduced = bucket.future.wait()
            reduced = reduced[0] if isinstance(reduced, (list, tuple)) else reduced
            if reduced.data_ptr() != bucket.flat.data_ptr():
                with torch.no_grad():
                    bucket.flat.copy_(reduced.view(-1))

    def _give(self, parameter: Any, view: Any) -> None:
        if self._as_views:
            if parameter.grad is not view:
                parameter.grad = view
        elif parameter.grad is None:
            parameter.grad = view.clone()
        else:
            with torch.no_grad():
                parameter.grad.copy_(view)

    def _used_anywhere(self) -> set[int] | None:
        """Parameters that some rank has used: others keep their gradients. None: all of them."""
        if not self._finds_unused:
            return None
        flags = [float(id(each) not in self._unused) for each in self.parameters]
        told = torch.tensor(flags)
        collectives.all_reduce(told, ReduceOp.MAX, self.group)
        return {id(p) for p, flag in zip(self.parameters, told.tolist(), strict=True) if flag}

    # -- a rank without data ----------------------------------------------------------------------

    def shadow(self) -> None:
        """Take part in a backward of others, with gradients of zero."""
        self._begin()
        for bucket in self.buckets:
            bucket.flat.zero_()
            self._start(bucket)
        if self._finds_unused:
            collectives.all_reduce(torch.zeros(len(self.parameters)), ReduceOp.MAX, self.group)
        for bucket in self.buckets:
            self._wait(bucket)
        for parameter in self.sparse:
            parameter.grad = None
            sparse_gradients.averaged(parameter, self.divisor, self.group)


def _reached(outputs: Any) -> set[int]:
    """The leaves that a backward from some outputs reaches, by `id`."""
    found: set[int] = set()
    seen: set[int] = set()
    waiting = [t.grad_fn for t in _tensors(outputs) if t.grad_fn is not None]
    found.update(id(t) for t in _tensors(outputs) if t.grad_fn is None)
    while waiting:
        node = waiting.pop()
        if id(node) in seen:
            continue
        seen.add(id(node))
        variable = getattr(node, "variable", None)
        if variable is not None:
            found.add(id(variable))
        waiting += [after for after, _ in node.next_functions if after is not None]
    return found


def _tensors(value: Any) -> Iterable[Any]:
    """All tensors within an output."""
    if isinstance(value, torch.Tensor):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from _tensors(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from _tensors(each)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from _tensors(getattr(value, name))


def _verify_params_across_processes(group: Any, tensors: Sequence[Any], logger: Any = None) -> None:
    """Compare shapes and dtypes of parameters. **Raises** DistBackendError if ranks differ."""
    own = world.resolve(group)
    text = "\n".join(f"{each.dtype} {list(each.shape)}" for each in tensors).encode()
    told = torch.tensor([len(text)], dtype=torch.int64)
    sizes = torch.empty(own.size(), dtype=torch.int64)
    collectives.all_gather_into_tensor(sizes, told, own)
    longest = int(sizes.max())
    data = torch.zeros(longest, dtype=torch.uint8)
    data[: len(text)] = torch.tensor(list(text), dtype=torch.uint8)
    every = torch.empty(own.size() * longest, dtype=torch.uint8)
    collectives.all_gather_into_tensor(every, data, own)
    texts = [bytes(each.tolist()).rstrip(b"\0") for each in every.view(own.size(), -1)]
    for rank, other in enumerate(texts):
        if other != text:
            mine, its = text.decode().split("\n"), other.decode(errors="replace").split("\n")
            at = next((i for i, pair in enumerate(zip(mine, its)) if pair[0] != pair[1]), None)  # noqa: B905
            what = "a number" if at is None else f"parameter {at}: {its[at]}, not {mine[at]}"
            raise errors.DistBackendError(
                f"DDP expects the same model across all ranks, but rank {rank} has {what} of "
                f"{len(its)} parameters; this rank has {len(mine)}"
            )


def _broadcast_coalesced(
    group: Any, tensors: Sequence[Any], buffer_size: int = BUCKET_BYTES, src: int = 0
) -> None:
    """Give tensors of the group's rank `src` to all, several in one message."""
    own = world.resolve(group)
    for indices in _compute_bucket_assignment_by_size(tensors, [buffer_size])[0]:
        parts = [tensors[i].detach() for i in indices]
        with torch.no_grad():
            flat = torch.cat([part.reshape(-1) for part in parts])
            collectives.broadcast(flat, group=own, group_src=src)
            if own.rank() != src:
                pieces = flat.split([part.numel() for part in parts])
                for part, piece in zip(parts, pieces, strict=True):
                    part.copy_(piece.view(part.shape))


public.place("distributed", GradBucket, Reducer)
