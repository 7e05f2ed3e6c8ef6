"""What a loader does for one entry of its sampler, in its own process or in a worker."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any


@dataclass(frozen=True)
class Plan:
    """What there is to load, and how.

    is_stream: items come one after the other, not by index. is_batched: a fetch makes a batch of
    several items. drop_last: a batch that is not full is left out.
    """

    dataset: Any
    is_stream: bool
    is_batched: bool
    collate_fn: Callable[[Any], Any]
    drop_last: bool


Fetch = Callable[[Any], Any]
"""From an index, or a list of them, to the item or the batch; StopIteration at a stream's end."""


def make_fetch(plan: Plan) -> Fetch:
    """Return what fetches; of a stream, from its beginning on."""
    if plan.is_stream:
        items = iter(plan.dataset)
        if plan.is_batched:
            return lambda indices: plan.collate_fn(_take(items, len(indices), plan.drop_last))
        return lambda _: plan.collate_fn(next(items))
    if not plan.is_batched:
        return lambda index: plan.collate_fn(plan.dataset[index])
    many = getattr(plan.dataset, "__getitems__", None)
    if many:
        return lambda indices: plan.collate_fn(many(indices))
    return lambda indices: plan.collate_fn([plan.dataset[index] for index in indices])


def _take(items: Iterator[Any], count: int, drop_last: bool) -> list[Any]:
    """The next items of a stream.

    **Raises** StopIteration if there are none, or too few for those who drop the last batch.
    """
    batch = list(islice(items, count))
    if not batch or (drop_last and len(batch) < count):
        raise StopIteration
    return batch
