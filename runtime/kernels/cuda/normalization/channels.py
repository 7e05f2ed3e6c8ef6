"""Mean and variance of channels.

An input is seen as contiguous (batch, channels, places). Few channels with many elements are cut
into slices, whose results are joined: a card has more processors than a network has channels.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.common.folded import Folded
from torchgen_out._runtime.kernels.cuda.compiling.typed import (
    THREADS,
    device_function,
    device_kernel,
)
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue
from torchgen_out._runtime.kernels.cuda.rows import (
    BLOCKS_WANTED,
    LEAST_PER_THREAD,
    MOST_SLICES,
    WARP,
    WARPS,
    Cut,
    cut,
    first_row,
    lane_of_row,
    row_step,
    run_rows,
    sum_of_group,
)


def cut_channels(queue: Queue, shape: Folded) -> Cut:
    """How channels are cut: threads own slices of neighbouring channels where these lie side by
    side, else warps or blocks those of channels as rows."""
    count = shape.outer * shape.inner
    if shape.inner > 1 or shape.count == 1:
        return cut(queue, Folded(shape.count, count, 1))
    wanted = -(-queue.processors * BLOCKS_WANTED * THREADS // max(shape.count, 1))
    splits = max(1, min(wanted, count // LEAST_PER_THREAD, MOST_SLICES))
    chunk = max(-(-count // splits), 1)
    return Cut(1, max(-(-count // chunk), 1), chunk)


@device_function
def place_in_channel(k, channel, channels, places):
    """Where the k-th element of a channel lies in (batch, channels, places)."""
    b = divided(k, places)
    return I((b * channels + channel) * places + (k - b * places))


def channel_moments(queue: Queue, mean: Array, variance: Array, x: Array, shape: Folded) -> None:
    """Write mean and (biased) variance of each channel of (batch, channels, places)."""
    group, splits, chunk = cut_channels(queue, shape)
    pieces = shape.count * splits
    made = mean, variance
    if splits > 1:
        made = queue.empty((pieces,), mean.dtype), queue.empty((pieces,), mean.dtype)
    flags = {"IS_CUT": splits > 1}
    run_rows(queue, moments_of_channels, pieces, group, *made, x, pieces, *shape, chunk, **flags)
    if splits > 1:
        numbers = (shape.count, shape.outer * shape.inner, splits, chunk)
        run_rows(queue, join_channels, shape.count, WARP, mean, variance, x, *made, *numbers)


@device_kernel("T* T* X*", "I I I I I")
def moments_of_channels(mean, variance, x, pieces, batch, channels, places, chunk):
    """A group of threads owns a slice of a channel; lane t takes elements t, t + GROUP ...

    The slices of one number stand side by side. IS_CUT: squared distances are not yet divided.
    """
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    piece = first_row()
    while piece < pieces:
        part = divided(piece, channels)
        channel = I(piece - part * channels)
        begin = I(part * chunk)
        stop = I(min(begin + chunk, I(batch * places)))
        # 1. The mean.
        total = T(0)
        k = I(begin + lane)
        while k < stop:
            total = T(total + load_X(x[place_in_channel(k, channel, channels, places)]))
            k = I(k + GROUP)
        center = T(sum_of_group(total, shared) / T(I(stop - begin)))
        # 2. The squared distances from it.
        total = T(0)
        k = I(begin + lane)
        while k < stop:
            value = load_X(x[place_in_channel(k, channel, channels, places)])
            distance = T(value - center)
            total = T(total + distance * distance)
            k = I(k + GROUP)
        total = sum_of_group(total, shared)
        if lane == 0:
            mean[piece] = center
            variance[piece] = total if IS_CUT else T(total / T(I(stop - begin)))
        piece = I(piece + row_step())


@device_kernel("T* T* X* T* T*", "I I I I")
def join_channels(mean, variance, x, centers, squares, channels, count, splits, chunk):
    """A warp owns a channel and joins its slices, as `reductions.statistics.join_moments` does."""
    shared = cuda.shared.array(WARPS, T)
    lane = lane_of_row()
    channel = first_row()
    while channel < channels:
        # 1. The mean of all.
        total = T(0)
        part = lane
        while part < splits:
            length = T(I(min(chunk, I(count - part * chunk))))
            total = T(total + length * centers[I(part * channels + channel)])
            part = I(part + GROUP)
        center = T(sum_of_group(total, shared) / T(count))
        # 2. The squared distances from it.
        total = T(0)
        part = lane
        while part < splits:
            length = T(I(min(chunk, I(count - part * chunk))))
            at = I(part * channels + channel)
            distance = T(centers[at] - center)
            total = T(total + squares[at] + length * distance * distance)
            part = I(part + GROUP)
        total = sum_of_group(total, shared)
        if lane == 0:
            mean[channel] = center
            variance[channel] = T(total / T(count))
        channel = I(channel + row_step())
