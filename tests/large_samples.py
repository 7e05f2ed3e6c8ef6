"""Large cases of the operator tests, derived from the small ones.

Blocked loops, plans and threads begin at sizes that no sample has: a sample is grown by mapping the
sizes of its tensors, the same size to the same one everywhere, so that what had to agree agrees.
What else must grow along - sizes among the other arguments, the range of indices - is proposed;
which proposal is right, an oracle says: the first one that it computes.
"""

from __future__ import annotations

import math
import zlib
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tests.harness import Case
from tests.inputs import Input, is_input

Sizes = Callable[[int], int]


@dataclass(frozen=True, slots=True)
class Growth:
    """Which sizes of a case grow, and to how many elements in all."""

    label: str
    dim: int | None
    """All sizes grow, or those alone that are the size of this dim of the largest tensor."""
    numel: int


GROWTHS = (
    Growth("all", None, 1_100_000),
    Growth("rows", 0, 300_000),
    Growth("columns", -1, 270_001),
    Growth("middle", 1, 70_001),
)


def chosen_sizes(case: Case, growth: Growth) -> frozenset[int]:
    """The sizes that grow; none where this growth is not another one than those before."""
    largest = max(case.inputs, key=lambda each: each.data.size).data
    ndim = largest.ndim
    if growth.dim is None:
        return frozenset(n for each in case.inputs for n in each.data.shape if n > 1)
    if ndim < (3 if growth.dim == 1 else 2):
        return frozenset()
    return frozenset(size for size in (largest.shape[growth.dim],) if size > 1)


def grown(case: Case, growth: Growth, results: Sequence[tuple[int, ...]]) -> Iterator[Case]:
    """Propose the case at a larger size, the most likely one first.

    results: the shapes that the results of the small case have; no tensor is to be much larger
    than the growth says.
    """
    chosen = chosen_sizes(case, growth)
    if not chosen:
        return
    times = growth.numel
    for shape in (*results, *(each.data.shape for each in case.inputs)):
        count = sum(size in chosen for size in shape)
        if count:
            times = min(times, int((growth.numel / max(math.prod(shape), 1)) ** (1 / count)))
    for odd in (True, False):
        sizes = _sizes(chosen, max(times, 2), odd)
        for arguments in (_kept, _lists, _numbers):
            for scale_indices in (True, False):
                label = f"{case.label}-{growth.label}"
                values = {
                    name: _grown(value, name, sizes, arguments, scale_indices, label)
                    for name, value in case.arguments.items()
                }
                yield replace(case, label=label, arguments=values)


def _sizes(chosen: frozenset[int], times: int, odd: bool) -> Sizes:
    """Chosen sizes grow to a multiple, or to one more: no multiple of a block's size."""
    return lambda size: size * times + odd if size in chosen else size


def _kept(value: Any, name: str, sizes: Sizes) -> Any:
    return value


def _lists(value: Any, name: str, sizes: Sizes) -> Any:
    """Sizes in lists grow: a view's sizes, a normalised shape."""
    if isinstance(value, list | tuple) and all(type(each) is int for each in value):
        return type(value)(sizes(each) for each in value)
    return value


def _numbers(value: Any, name: str, sizes: Sizes) -> Any:
    """Single sizes grow, too."""
    if type(value) is int and not name.startswith("dim"):
        return sizes(value)
    return _lists(value, name, sizes)


def _grown(
    value: Any,
    name: str,
    sizes: Sizes,
    arguments: Callable[[Any, str, Sizes], Any],
    scale_indices: bool,
    seed: str,
) -> Any:
    if is_input(value):
        return grown_input(value, tuple(map(sizes, value.data.shape)), sizes, scale_indices, seed)
    if isinstance(value, list) and any(is_input(each) for each in value):
        each_seed = [f"{seed} {i}" for i in range(len(value))]
        return [
            _grown(each, name, sizes, arguments, scale_indices, seed)
            for each, seed in zip(value, each_seed, strict=True)
        ]
    return arguments(value, name, sizes)


def grown_input(
    small: Input, shape: tuple[int, ...], sizes: Sizes, scale_indices: bool, seed: str
) -> Input:
    """Data of another shape like that of a small input; the permutation stays."""
    data = small.data
    if data.shape == shape and not (scale_indices and data.dtype.kind in "iu"):
        return small
    generator = np.random.default_rng(zlib.crc32(f"{seed} {shape}".encode()))
    return replace(small, data=_like(data, shape, sizes, scale_indices, generator))


def _like(
    data: np.ndarray,
    shape: tuple[int, ...],
    sizes: Sizes,
    scale_indices: bool,
    generator: np.random.Generator,
) -> np.ndarray:
    """Numbers between those of `data`, no two alike, or numbers out of it where it has steps."""
    if data.dtype.kind == "c":
        real, imag = (
            _like(part, shape, sizes, scale_indices, generator) for part in (data.real, data.imag)
        )
        return real + 1j * imag
    if data.size == 0:
        return np.zeros(shape, data.dtype)
    if data.dtype.kind in "iu" and scale_indices and data.min() >= 0:
        high = max(sizes(int(data.max()) + 1), 1)
        return generator.integers(0, high, shape).astype(data.dtype)
    if data.dtype.kind != "f" or not np.isfinite(data).all() or (data * 2 % 1 == 0).all():
        return generator.choice(data.reshape(-1), shape)
    count = math.prod(shape)
    return generator.permutation(np.linspace(data.min(), data.max(), count)).reshape(shape)


def first_computed(
    proposals: Iterable[Case], compute: Callable[[Case], Any]
) -> tuple[Case, Any] | None:
    """The first proposal that the oracle computes, and what it says of it."""
    for proposal in proposals:
        try:
            return proposal, compute(proposal)
        except (RuntimeError, TypeError, ValueError, IndexError):
            continue
    return None


def plain_arguments(case: Case) -> Mapping[str, Any]:
    """The arguments as messages show them: shapes in place of data."""
    return {name: _plain(value) for name, value in case.arguments.items()}


def _plain(value: Any) -> Any:
    if isinstance(value, list):
        return [_plain(each) for each in value]
    return value.data.shape if is_input(value) else value
