"""out= tensors: right ones, of another dtype or shape, overlapping, and in autograd."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import torch

import torchgen_out
from tests.parity.op_db import forward
from tests.parity.op_db.attempt import Attempt, attempt, attempts
from tests.parity.op_db.catalogue import Entry
from tests.parity.op_db.comparison import Fault, compare, flat


def destination_faults(entry: Entry, sample: Any) -> Iterator[Fault]:
    """The function with all kinds of out= against PyTorch's."""
    plain = attempt(torch, entry.info.op, sample)
    results = plain.result if isinstance(plain.result, tuple | list) else (plain.result,)
    if plain.error is not None or not all(isinstance(each, torch.Tensor) for each in results):
        return
    for check, made in destinations(results):
        if check == "out gradient" and not entry.info.supports_autograd:
            continue  # some of these have gradients here: docs/deviations.md
        out = made[0] if isinstance(plain.result, torch.Tensor) else tuple(made)
        yield from _faults(entry, check, sample, out, results[0].dtype)


def destinations(results: Any) -> Iterator[tuple[str, list[torch.Tensor]]]:
    """Every kind of destination that results may be written to."""
    yield "out", [torch.full_like(each, 1) for each in results]
    yield "out strided", [_strided(each) for each in results]
    yield "out empty", [each.new_empty(0) for each in results]
    yield "out shape", [each.new_ones((*each.shape, 2)) for each in results]
    for name in ("out integer", "out wider"):
        dtype = torch.int32 if name == "out integer" else torch.complex128
        yield name, [torch.ones(each.shape, dtype=dtype) for each in results]
    if any(each.numel() > 1 for each in results):
        yield "out overlapping", [each.new_ones(()).expand(each.shape) for each in results]
    if all(each.is_floating_point() for each in results):
        yield "out gradient", [torch.ones_like(each).requires_grad_() for each in results]


def _strided(like: torch.Tensor) -> torch.Tensor:
    """A tensor of that shape with every other element of its memory."""
    return like.new_ones((*like.shape, 2)).select(-1, 0)


def _faults(entry: Entry, check: str, sample: Any, out: Any, computed: Any) -> Iterator[Fault]:
    ours, theirs = attempts(entry.function(torchgen_out), entry.info.op, sample, out=out)
    if check == "out overlapping" and theirs.error is None:
        return  # what PyTorch makes of it is no example
    yield from forward.refusal_faults(check, ours, theirs)
    if ours.error is not None or theirs.error is not None:
        return
    if theirs.resized and not ours.resized:
        yield Fault(f"{check} warning", "says nothing of resizing, PyTorch warns")
    yield from _compared(entry, check, sample, ours, theirs, computed)


def _compared(
    entry: Entry, check: str, sample: Any, ours: Attempt, theirs: Attempt, computed: Any
) -> Iterator[Fault]:
    given = check in ("out", "out strided")
    yield from compare(
        check,
        entry.subject._replace(computed=computed, strides=given),
        forward.observe(entry, ours.result),
        forward.observe(entry, theirs.result),
        forward.exact_results(entry, sample),
    )
    returned = flat(ours.out) if theirs.result is not None else [None]
    if not all(a is b for a, b in zip(flat(ours.result), returned, strict=True)):
        yield Fault(check, "does not return its out= tensor")
