"""Plans of batch normalisation in training: one compiled call forward, one backward."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from math import prod
from typing import Any

from runtime.kernels import threads
from runtime.kernels.cpu.batch_loops import batch_gradients, normalise_batch, normalise_by_running
from runtime.kernels.cpu.loop_plans import operand, out, plan_ranges
from runtime.kernels.cpu.planned import Operand, Plan
from runtime.kernels.cpu.small import are_dense_alike, entry_for, make_gathering
from runtime.kernels.typed import typed_sum

Array = Any
WORK = 4  # how much more an element costs than in element-wise work


def run_channels(kernel: Any, x: Array, *args: Any) -> None:
    """kernel(start, stop, *args) over the channels of x, (batch, channels, places)."""
    threads.run_ranges(kernel, x.shape[1], WORK * x.size, *args)


def plan_batch_norm(
    result: Operand,
    save_mean: Operand,
    save_invstd: Operand,
    input: Operand,
    weight: Operand | None,
    bias: Operand | None,
    running_mean: Operand | None,
    running_var: Operand | None,
    training: bool,
    momentum: float,
    eps: float,
) -> Plan | None:
    """Plan `native_batch_norm` of arrays of one dtype."""
    given = [input, weight, bias, running_mean, running_var]
    if not training:
        return _plan_by_running(result, given, eps)
    if not _are_alike(result, save_mean, *given):
        return None
    arguments = int, int, *(result.dtype,) * 8, int, int, float, float
    entry = entry_for(batch_norm_flat, result.dtype, *arguments)
    numbers = (*input.sizes[:2], float(momentum), float(eps))
    return Plan(_make_run(entry, given, input), numbers)


def _plan_by_running(result: Operand, given: Sequence[Operand | None], eps: float) -> Plan | None:
    """Plan the normalisation by running statistics."""
    if not are_dense_alike(result.dtype, result, *given):
        return None
    batch, channels = result.sizes[:2]
    shape = batch, channels, prod(result.sizes[2:])
    parameters = [operand(i, channels) for i in range(1, 5)]
    views = [out(0, *shape), operand(0, *shape), *parameters]
    unused = [Operand(result.dtype, (0,), (1,))] * 2  # the statistics of the batch
    work, results = WORK * prod(shape), [result, *unused]
    return plan_ranges(normalise_by_running, channels, work, results, given, *views, float(eps))


def plan_batch_norm_backward(
    grad_input: Operand,
    grad_weight: Operand,
    grad_bias: Operand,
    grad_out: Operand,
    input: Operand,
    weight: Operand | None,
    running_mean: Operand | None,
    running_var: Operand | None,
    save_mean: Operand | None,
    save_invstd: Operand | None,
    train: bool,
    eps: float,
    output_mask: Sequence[bool],
) -> Plan | None:
    """Plan `native_batch_norm_backward` after training, of arrays of one dtype."""
    given = [grad_out, input, weight, running_mean, running_var, save_mean, save_invstd]
    if not train or not _are_alike(grad_input, grad_weight, *given):
        return None
    arguments = int, int, *(input.dtype,) * 10, int, int
    entry = entry_for(batch_gradients_flat, input.dtype, *arguments)
    return Plan(_make_run(entry, given, input), tuple(input.sizes[:2]))


def _are_alike(out: Operand, *others: Operand | None) -> bool:
    """Whether all that are given are dense, of one dtype, and not empty."""
    given = [each for each in others if each is not None]
    return out.dtype.name in ("float32", "float64") and all(
        each.dtype == out.dtype and each.is_contiguous and prod(each.sizes) for each in given
    )


def _make_run(
    entry: Callable[..., Any], given: Sequence[Operand | None], input: Operand
) -> Callable[..., None]:
    """Call a loop over channels that takes three results and all of `given`; an empty array stands
    for None."""
    gather = make_gathering(given, input.dtype)
    count = sum(each is not None for each in given)
    channels, work = input.sizes[1], WORK * prod(input.sizes)

    def run(first: Array, second: Array, third: Array, *others: Any) -> None:
        arrays = gather(others[:count], others[count:-1])
        entry(0, channels, first, second, third, *arrays, *others[-1])

    def run_parts(first: Array, second: Array, third: Array, *others: Any) -> None:
        arrays = gather(others[:count], others[count:-1])
        threads.run_ranges(entry, channels, work, first, second, third, *arrays, *others[-1])

    return run if work < 2 * threads.GRAIN else run_parts


@typed_sum
def batch_norm_flat(
    start,
    stop,
    out,
    save_mean,
    save_invstd,
    x,
    weight,
    bias,
    running_mean,
    running_var,
    batch,
    channels,
    momentum,
    eps,
):
    """normalise_batch of flat memory."""
    shape = (batch, channels, x.size // (batch * channels))
    result, values = out.reshape(shape), x.reshape(shape)
    normalise_batch(
        start,
        stop,
        result,
        values,
        weight,
        bias,
        running_mean,
        running_var,
        save_mean,
        save_invstd,
        momentum,
        eps,
    )


@typed_sum
def batch_gradients_flat(
    start,
    stop,
    out,
    grad_weight,
    grad_bias,
    grad,
    x,
    weight,
    running_mean,
    running_var,
    mean,
    invstd,
    batch,
    channels,
):
    """batch_gradients of flat memory; `out` is empty if the gradient of x is not wanted."""
    places = x.size // (batch * channels)
    shape = (batch, channels, places)
    result = out.reshape((batch if out.size else 0, channels, places))
    values, upstream = x.reshape(shape), grad.reshape(shape)
    sums = grad_weight, grad_bias
    batch_gradients(start, stop, result, *sums, upstream, values, weight, mean, invstd, True)
