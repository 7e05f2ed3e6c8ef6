"""Maxima over windows at random places, which lie so that the output has the given sizes.

**Source** B. Graham, "Fractional max-pooling" (2014).
"""

from __future__ import annotations

from typing import Any

import torchgen_out as torch


def fractional_max_pool2d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Shape: (N, C, H, W) or (C, H, W) -> the same with `output_size`, or the ratio of the sizes.

    `_random_samples`, (N, C, 2) in [0, 1), shift the windows: along W, along H.
    """
    samples = None if _random_samples is None else _random_samples.flip(-1)
    name = "fractional_max_pool2d"
    return _pool(name, 2, input, kernel_size, output_size, output_ratio, return_indices, samples)


def fractional_max_pool3d(
    input: Any,
    kernel_size: Any,
    output_size: Any = None,
    output_ratio: Any = None,
    return_indices: bool = False,
    _random_samples: Any = None,
) -> Any:
    """Shape: (N, C, T, H, W) or (C, T, H, W); `_random_samples` (N, C, 3) shift along T, H, W."""
    name, samples = "fractional_max_pool3d", _random_samples
    return _pool(name, 3, input, kernel_size, output_size, output_ratio, return_indices, samples)


def _pool(
    name: str,
    dims: int,
    input: Any,
    kernel_size: Any,
    output_size: Any,
    output_ratio: Any,
    return_indices: bool,
    samples: Any,
) -> Any:
    lengths = tuple(input.shape[-dims:])
    window = _each(kernel_size, dims)
    counts = _output_sizes(name, lengths, output_size, output_ratio, dims)
    for length, size, count in zip(lengths, window, counts, strict=True):
        if count + size - 1 > length:
            raise RuntimeError(f"{name}: pool size {size} too large relative to input {length}")
    batch = input if input.dim() == dims + 2 else input.unsqueeze(0)
    if samples is None:
        samples = torch.rand((*batch.shape[:2], dims), dtype=input.dtype, device=input.device)
    elif samples.size(0) < batch.size(0) or tuple(samples.shape[1:]) != (batch.size(1), dims):
        raise RuntimeError(
            f"{name}: expect _random_samples of at least {batch.size(0)} images of "
            f"{batch.size(1)} channels and {dims} dims, but got {list(samples.shape)}"
        )
    if samples.dtype is not input.dtype:
        raise RuntimeError(
            f"{name}: Expect _random_samples to have the same dtype as input, "
            f"but got {samples.dtype} and {input.dtype}"
        )
    places = _places(samples[: batch.size(0)], lengths, window, counts)
    values = batch.flatten(2).gather(2, places.flatten(2)).reshape(places.shape)
    best, chosen = values.max(-1)
    indices = places.gather(-1, chosen.unsqueeze(-1)).squeeze(-1)
    shape = (*input.shape[:-dims], *counts)
    return (best.reshape(shape), indices.reshape(shape)) if return_indices else best.reshape(shape)


def _each(value: Any, dims: int) -> tuple[int, ...]:
    return (value,) * dims if isinstance(value, int) else tuple(value)


def _output_sizes(
    name: str, lengths: tuple[int, ...], output_size: Any, output_ratio: Any, dims: int
) -> tuple[int, ...]:
    if output_size is not None:
        return _each(output_size, dims)
    if output_ratio is None:
        raise ValueError(f"{name} requires specifying either an output_size or an output_ratio")
    ratios = (output_ratio,) * dims if isinstance(output_ratio, float) else output_ratio
    return tuple(int(n * ratio) for n, ratio in zip(lengths, ratios, strict=True))


def _places(
    samples: Any, lengths: tuple[int, ...], window: tuple[int, ...], counts: tuple[int, ...]
) -> Any:
    """Where the elements of all windows lie in a plane. Shape: (N, C, *counts, window elements)."""
    dims = len(lengths)
    places: Any = 0
    for dim in range(dims):
        starts = _starts(samples[..., dim : dim + 1], lengths[dim], window[dim], counts[dim])
        inside = torch.arange(window[dim], device=samples.device)
        shape = [1] * (2 * dims + 2)
        shape[:2] = starts.shape[:2]
        shape[2 + dim] = counts[dim]
        along = [1] * (2 * dims + 2)
        along[2 + dims + dim] = window[dim]
        places = (places + starts.reshape(shape) + inside.reshape(along)) * (
            lengths[dim + 1] if dim + 1 < dims else 1
        )
    return places.flatten(dims + 2)


def _starts(samples: Any, length: int, size: int, count: int) -> Any:
    """Where windows begin along a dim; the last one ends with it. Shape: (N, C, count)."""
    if count == 1:
        return samples.new_full(samples.shape, length - size).long()
    step = samples.new_full((), length - size) / (count - 1)
    order = torch.arange(count - 1, device=samples.device)
    starts = ((order + samples) * step).long() - (samples * step).long()
    return torch.cat([starts, torch.full_like(starts[..., :1], length - size)], -1)
