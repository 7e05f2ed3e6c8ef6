"""Shapes of collectives. That `group_size` is the group's own is checked when it is carried out."""

from __future__ import annotations

from typing import Any

Answer = tuple[tuple[int, ...], Any]

REDUCTIONS = ("sum", "avg", "product", "min", "max", "band", "bor", "bxor")


def _check_reduction(name: str, word: str) -> None:
    if word not in REDUCTIONS:
        raise ValueError(f"{name}: reduce_op must be one of {', '.join(REDUCTIONS)}, got '{word}'")


def _gathered(input: Any, ranks: int) -> Answer:
    first, *rest = input.shape or (1,)
    return (ranks * first, *rest), input.dtype


def _part(name: str, input: Any, ranks: int) -> Answer:
    if not input.ndim or ranks < 1 or input.shape[0] % ranks:
        raise ValueError(
            f"{name}: dim 0 must split evenly among {ranks} ranks, got {list(input.shape)}"
        )
    first, *rest = input.shape
    return (first // ranks, *rest), input.dtype


def all_reduce(input: Any, reduce_op: str, group_name: str) -> Answer:
    """The shape of the input. Raises: ValueError for an unknown reduction."""
    _check_reduction("all_reduce", reduce_op)
    return input.shape, input.dtype


def reduce(input: Any, reduce_op: str, dst: int, group_name: str) -> Answer:
    """The shape of the input. Raises: ValueError for an unknown reduction."""
    _check_reduction("reduce", reduce_op)
    return input.shape, input.dtype


def broadcast(input: Any, src: int, group_name: str) -> Answer:
    """The shape of the input."""
    return input.shape, input.dtype


def all_gather_into_tensor(input: Any, group_size: int, group_name: str) -> Answer:
    """Dim 0 as often as there are ranks."""
    return _gathered(input, group_size)


def gather(input: Any, dst: int, group_size: int, group_name: str) -> Answer:
    """Dim 0 as often as there are ranks."""
    return _gathered(input, group_size)


def reduce_scatter_tensor(input: Any, reduce_op: str, group_size: int, group_name: str) -> Answer:
    """A rank's part of dim 0. Raises: ValueError for an unknown reduction, or an uneven split."""
    _check_reduction("reduce_scatter", reduce_op)
    return _part("reduce_scatter", input, group_size)


def scatter(input: Any, src: int, group_size: int, group_name: str) -> Answer:
    """A rank's part of dim 0. Raises: ValueError for an uneven split."""
    return _part("scatter", input, group_size)


def all_to_all_single(
    input: Any, output_split_sizes: Any, input_split_sizes: Any, group_name: str
) -> Answer:
    """As many rows as come. Raises: RuntimeError if the splits are not those of the input."""
    rows = input.shape[0] if input.ndim else -1
    if rows < 0 or (input_split_sizes and sum(input_split_sizes) != rows):
        raise RuntimeError(
            f"all_to_all: Split sizes doesn't match total dim 0 size: {list(input_split_sizes)} "
            f"of {list(input.shape)}"
        )
    came = sum(output_split_sizes) if output_split_sizes else rows
    return (came, *input.shape[1:]), input.dtype
