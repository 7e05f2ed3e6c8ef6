"""Calls in all forms: function, method, operator, aliases, in place."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from typing import Any

import torch

import torchgen_out
from tests import gauges
from tests.parity.op_db.attempt import Attempt, attempt, attempts, same_class, told
from tests.parity.op_db.catalogue import Entry
from tests.parity.op_db.comparison import Exact, Fault, compare, flat
from tests.parity.op_db.transfer import Unavailable

WIDE = {
    **dict.fromkeys((torch.float16, torch.bfloat16, torch.float32), torch.float64),
    **dict.fromkeys((torch.complex32, torch.complex64), torch.complex128),
}

PLAIN = ("svd", "linalg.svd", "linalg.eigh", "linalg.eig", "linalg.eigvals")


def observe(entry: Entry, result: Any) -> Any:
    """What is compared of results that are not unique."""
    name = entry.info.name.replace(".", "_")
    return gauges.observe(name, result) if entry.info.name in PLAIN else result


def exact_results(entry: Entry, sample: Any) -> Exact:
    """PyTorch's results of the sample in 64-bit floats."""

    def widened(value: Any) -> Any:
        wide = WIDE.get(value.dtype) if isinstance(value, torch.Tensor) else None
        return value.detach().to(wide) if wide else value

    @cache
    def results() -> list[Any]:
        made = attempt(torch, entry.info.op, sample.transform(widened))
        return [] if made.error else flat(observe(entry, made.result))

    return results


def function_faults(entry: Entry, sample: Any) -> Iterator[Fault]:
    """The function against PyTorch's."""
    ours, theirs = attempts(entry.function(torchgen_out), entry.info.op, sample)
    if theirs.error is not None:
        return
    yield from _outcome(entry, "function", sample, ours, theirs)
    yield from _alias_faults(ours, theirs)


def _outcome(
    entry: Entry, check: str, sample: Any, ours: Attempt, theirs: Attempt
) -> Iterator[Fault]:
    if ours.error is not None:
        yield Fault(check, told(ours.error))
        return
    yield from compare(
        check,
        entry.subject,
        observe(entry, ours.result),
        observe(entry, theirs.result),
        exact_results(entry, sample),
    )


def _alias_faults(ours: Attempt, theirs: Attempt) -> Iterator[Fault]:
    """A result is a view of the first argument, or is not, in both libraries."""
    if ours.error is not None or not isinstance(theirs.first, torch.Tensor):
        return
    for mine, other in zip(flat(ours.result), flat(theirs.result), strict=False):
        if not isinstance(other, torch.Tensor) or not other.numel():
            continue
        if other.layout is not torch.strided or not isinstance(mine, torchgen_out.Tensor):
            continue
        shared = [_memory(a) == _memory(b) for a, b in ((mine, ours.first), (other, theirs.first))]
        if shared[0] != shared[1]:
            kinds = ["a view" if each else "a copy" for each in shared]
            yield Fault("view", f"{kinds[0]} of the first argument, PyTorch {kinds[1]}")


def _memory(tensor: Any) -> int:
    return int(tensor.untyped_storage().data_ptr())


def form_faults(entry: Entry, sample: Any) -> Iterator[Fault]:
    """Methods, Python's operators and aliases against PyTorch's."""
    for label, form in entry.forms.items():
        theirs = attempt(torch, form, sample)
        if theirs.error is not None:
            continue
        try:
            ours = attempt(torchgen_out, entry.ours(label, form), sample)
        except Unavailable as missing:
            yield Fault(label, f"no {missing}")
            continue
        yield from _outcome(entry, label, sample, ours, theirs)


def inplace_faults(entry: Entry, sample: Any) -> Iterator[Fault]:
    """Forms that write into their first argument; what PyTorch refuses is refused."""
    for label, form in entry.inplace_forms.items():
        theirs = attempt(torch, form, sample)
        try:
            ours = attempt(torchgen_out, entry.ours(label, form), sample)
        except Unavailable as missing:
            yield Fault(label, f"no {missing}")
            continue
        yield from refusal_faults(label, ours, theirs)
        if ours.error is not None or theirs.error is not None:
            continue
        if (ours.result is ours.first) != (theirs.result is theirs.first):
            yield Fault(label, "does not return its first argument")
        yield from _outcome(entry, label, sample, ours, theirs)


def refusal_faults(check: str, ours: Attempt, theirs: Attempt) -> Iterator[Fault]:
    """What one library refuses, the other refuses by an error of the same class."""
    if theirs.error is None:
        if ours.error is not None:
            yield Fault(check, f"{told(ours.error)}; PyTorch computes it")
    elif ours.error is None:
        yield Fault(f"{check} refusal", f"accepted; PyTorch {told(theirs.error)}")
    elif not same_class(ours.error, theirs.error):
        yield Fault(f"{check} refusal", f"{told(ours.error)}; PyTorch {told(theirs.error)}")
