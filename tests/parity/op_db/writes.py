"""What may be written to between a call and its backward: leaves and results, one at a time.

And by the call itself: backward of in-place forms.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import torch

import torchgen_out
from tests.parity.op_db.attempt import attempt, told
from tests.parity.op_db.catalogue import Entry
from tests.parity.op_db.comparison import Fault, flat
from tests.parity.op_db.transfer import PYTORCH, Unavailable, rebound

DTYPE = "float32"
"""The dtype in which writes are tried: what is saved is the same in all."""

MODIFIED = "modified by an inplace operation"


def write_faults(entry: Entry, sample: Any) -> Iterator[Fault]:
    """Writes that make backward fail here and not in PyTorch, which may save more."""
    try:
        kinds = [kind for kind, _ in _tensors(torch, entry, sample)[0]]
    except (RuntimeError, ValueError, IndexError):
        return  # PyTorch has no gradient here
    for nr, kind in enumerate(kinds):
        try:
            theirs = backward_error(torch, entry, sample, nr)
        except (RuntimeError, ValueError, IndexError):
            continue  # it cannot be written to
        if theirs is not None:
            continue
        try:
            ours = backward_error(torchgen_out, entry, sample, nr)
        except Unavailable:
            return  # the sample needs what the library lacks
        if ours is not None:
            yield Fault(f"write {kind}", f"tensor {nr}: {told(ours)}")


def backward_error(library: ModuleType, entry: Entry, sample: Any, nr: int) -> RuntimeError | None:
    """What backward says after a write to one of the tensors, the leaves first."""
    tensors, outputs = _tensors(library, entry, sample)
    tensors[nr][1].detach().mul_(1)
    try:
        library.autograd.backward(outputs, [library.ones_like(each) for each in outputs])
    except RuntimeError as error:
        return error
    return None


def _tensors(library: Any, entry: Entry, sample: Any) -> tuple[list[tuple[str, Any]], list[Any]]:
    """The leaves and results of a call by kind, and the results that have gradients."""
    made = attempt(library, entry.function(library), sample)
    if made.error is not None:
        raise made.error
    function = sample.output_process_fn_grad
    seen = function if library is PYTORCH else rebound(function, library)
    outputs = [each for each in flat(seen(made.result)) if getattr(each, "requires_grad", False)]
    if not outputs:
        raise ValueError("no gradient")
    results = [each for each in flat(made.result) if isinstance(each, library.Tensor)]
    kinds = [("leaf", made.leaves), ("result", results)]
    return [(kind, each) for kind, found in kinds for each in found], outputs


def inplace_faults(entry: Entry, sample: Any) -> Iterator[Fault]:
    """In-place forms whose backward fails here and not in PyTorch."""
    for label, form in entry.inplace_forms.items():
        for place in (_whole, _part):
            try:
                if inplace_error(torch, form, sample, place) is not None:
                    continue
            except (RuntimeError, ValueError, IndexError, TypeError):
                continue  # PyTorch does not write here, or has no gradient
            try:
                ours = inplace_error(torchgen_out, entry.ours(label, form), sample, place)
            except Unavailable:
                return
            except (RuntimeError, ValueError, IndexError, TypeError):
                continue  # another check's fault
            if ours is not None:
                yield Fault(f"write {label}", f"{place.__name__}: {told(ours)}")


def _whole(library: Any, tensor: Any) -> tuple[Any, Any]:
    """A tensor to write to, and what shows the write: both the same."""
    copy = tensor.clone()
    return copy, copy


def _part(library: Any, tensor: Any) -> tuple[Any, Any]:
    """A view to write to, and its base."""
    base = library.stack([tensor, tensor])
    return base[1], base


def inplace_error(
    library: ModuleType, form: Any, sample: Any, place: Callable[..., tuple[Any, Any]]
) -> RuntimeError | None:
    """What backward says after an in-place form wrote to a copy of the first argument."""
    shown: list[Any] = []

    def write(first: Any, *args: Any, **kwargs: Any) -> Any:
        written, shows = place(library, first)
        shown.append(shows)
        return form(written, *args, **kwargs)

    made = attempt(library, write, sample)
    if made.error is not None:
        raise made.error
    try:
        shown[0].sum().backward()
    except RuntimeError as error:
        return error
    return None
