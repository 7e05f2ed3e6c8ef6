"""PowerSGD: gradients of matrices travel as products of two thin ones.

Source: Vogels, Karimireddy, Jaggi, "PowerSGD: Practical Low-Rank Gradient Compression for
Distributed Optimization", NeurIPS 2019: one step of power iteration, M ~ P Q^T with P = M Q
orthogonalised and Q = M^T P, both averaged over the ranks; what is lost is added to the next
gradient (error feedback), and Q is where the next iteration starts (warm start).
"""

from __future__ import annotations

from typing import Any

import torchgen_out as torch
from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributed import collectives, communication_hooks, world
from torchgen_out._runtime.library.programs.futures import Future

__all__ = ["PowerSGDState", "batched_powerSGD_hook", "powerSGD_hook"]


class PowerSGDState:
    """What the hook keeps: errors and starting points of each bucket.

    matrix_approximation_rank: columns of P and Q. start_powerSGD_iter: iterations before that are
    averaged in full. min_compression_rate: matrices that shrink less travel whole.
    """

    def __init__(
        self,
        process_group: Any,
        matrix_approximation_rank: int = 1,
        start_powerSGD_iter: int = 1000,
        min_compression_rate: float = 2,
        use_error_feedback: bool = True,
        warm_start: bool = True,
        orthogonalization_epsilon: float = 0,
        random_seed: int = 0,
        compression_stats_logging_frequency: int = 10_000,
        batch_tensors_with_same_shape: bool = False,
    ) -> None:
        if (use_error_feedback or warm_start) and start_powerSGD_iter <= 1:
            raise ValueError(
                "Expect `start_powerSGD_iter` > 1 if `use_error_feedback` or `warm_start` is "
                "enabled, because PowerSGD can only be applied after the first two iterations."
            )
        self.process_group = process_group
        self.matrix_approximation_rank = matrix_approximation_rank
        self.start_powerSGD_iter, self.min_compression_rate = (
            start_powerSGD_iter,
            min_compression_rate,
        )
        self.use_error_feedback, self.warm_start = use_error_feedback, warm_start
        self.orthogonalization_epsilon = orthogonalization_epsilon
        self.generator = torch.Generator().manual_seed(random_seed)
        self.error_dict: dict[int, Any] = {}
        self.q_memory_dict: dict[tuple[int, int], Any] = {}
        self.iter = 0

    def is_compressible(self, shape: Any) -> bool:
        """Whether a gradient of a shape shrinks enough as a product."""
        if len(shape) < 2:
            return False
        rows, columns = shape[0], shape[1:].numel()
        rank = min(rows, columns, self.matrix_approximation_rank)
        return bool((rows + columns) * rank * self.min_compression_rate < rows * columns)


class _InTurn(Future[Any]):
    """A result that is computed when it is waited for.

    Its collectives come then, and buckets are waited for in one order on all ranks.
    """

    def __init__(self, compute: Any) -> None:
        super().__init__()
        self._compute = compute

    def wait(self) -> Any:
        if not self.done():
            self.set_result(self._compute())
        return super().wait()


def _orthogonalize(matrix: Any, epsilon: float) -> Any:
    """Columns made orthonormal, by Householder reflections; epsilon: by Gram and Schmidt."""
    if not epsilon:
        return torch.linalg.qr(matrix)[0]
    columns: list[Any] = []
    for column in matrix.unbind(1):
        for before in columns:
            column = column - before * (before @ column)
        columns.append(column / (column.norm() + epsilon))
    return torch.stack(columns, 1)


def powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """Average a bucket's matrices as products of thin ones, and its vectors in full."""
    group = world.resolve(state.process_group)
    if bucket.is_last():
        state.iter += 1
    if state.iter <= state.start_powerSGD_iter:
        return communication_hooks.allreduce_hook(group, bucket)
    flat = bucket.buffer()
    if state.use_error_feedback:
        error = state.error_dict.get(bucket.index())
        flat = flat if error is None else flat.add_(error)
        state.error_dict[bucket.index()] = flat.clone()
    matrices, whole = [], []
    for i, gradient in enumerate(bucket.gradients()):
        if state.is_compressible(gradient.shape):
            matrices.append((i, gradient.reshape(gradient.shape[0], -1)))
        else:
            whole.append(gradient)
    qs = [_start(state, bucket.index(), i, matrix) for i, matrix in matrices]
    ps = [matrix @ q for (_, matrix), q in zip(matrices, qs, strict=True)]
    first = _begin_sum(group, [*whole, *ps])
    return _InTurn(lambda: _finish(state, group, bucket, matrices, whole, ps, first))


def _start(state: PowerSGDState, bucket: int, i: int, matrix: Any) -> Any:
    """Q of the iteration before, or a random one that is the same on all ranks."""
    known = state.q_memory_dict.get((bucket, i)) if state.warm_start else None
    if known is not None:
        return known
    rank = min(*matrix.shape, state.matrix_approximation_rank)
    drawn = torch.randn(matrix.shape[1], rank, generator=state.generator, dtype=matrix.dtype)
    return _orthogonalize(drawn, state.orthogonalization_epsilon)


def _begin_sum(group: Any, tensors: list[Any]) -> Any:
    flat = torch.cat([each.reshape(-1) for each in tensors])
    return flat, collectives.all_reduce(flat, group=group, async_op=True)


def _take(sum_: Any, tensors: list[Any], size: int) -> None:
    """Wait for a sum, and let tensors have their averages."""
    flat, work = sum_
    work.wait()
    pieces = flat.div_(size).split([each.numel() for each in tensors])
    for tensor, piece in zip(tensors, pieces, strict=True):
        tensor.copy_(piece.view(tensor.shape))


def _finish(
    state: PowerSGDState,
    group: Any,
    bucket: Any,
    matrices: list[tuple[int, Any]],
    whole: list[Any],
    ps: list[Any],
    first: Any,
) -> Any:
    _take(first, [*whole, *ps], group.size())
    ps = [_orthogonalize(p, state.orthogonalization_epsilon) for p in ps]
    qs = [matrix.t() @ p for (_, matrix), p in zip(matrices, ps, strict=True)]
    if qs:
        _take(_begin_sum(group, qs), qs, group.size())
    for (i, matrix), p, q in zip(matrices, ps, qs, strict=True):
        matrix.copy_(p @ q.t())
        if state.warm_start:
            state.q_memory_dict[bucket.index(), i] = _orthogonalize(
                q, state.orthogonalization_epsilon
            )
    if state.use_error_feedback:
        error = state.error_dict[bucket.index()]
        error.sub_(bucket.buffer())
        for view, gradient in _views(error, bucket.gradients()):
            if not state.is_compressible(gradient.shape):
                view.zero_()
    return bucket.buffer()


def _views(flat: Any, like: list[Any]) -> Any:
    pieces = flat.split([each.numel() for each in like])
    return zip(pieces, like, strict=True)


def batched_powerSGD_hook(state: PowerSGDState, bucket: Any) -> Any:
    """The same for the bucket as one square matrix, padded with zeros: faster, and coarser."""
    side = int(bucket.buffer().numel() ** 0.5) + 1
    square = torch.zeros(side * side, dtype=bucket.buffer().dtype)
    square[: bucket.buffer().numel()] = bucket.buffer()
    future = powerSGD_hook(state, _Square(bucket, square.view(side, side)))

    def unpack(done: Any) -> Any:
        return done[: bucket.buffer().numel()]

    if isinstance(future, _InTurn):
        return _InTurn(lambda: unpack(future.wait()))
    return future.then(lambda done: unpack(done.value()))


class _Square:
    """A bucket of one square matrix."""

    def __init__(self, bucket: Any, square: Any) -> None:
        self._bucket, self._square = bucket, square

    def index(self) -> int:
        return int(self._bucket.index())

    def is_last(self) -> bool:
        return bool(self._bucket.is_last())

    def buffer(self) -> Any:
        return self._square.view(-1)

    def gradients(self) -> list[Any]:
        return [self._square]


public.place_all("distributed.algorithms.ddp_comm_hooks.powerSGD_hook", globals())
