"""First and second gradients of samples that require them."""

from __future__ import annotations

import warnings
from collections.abc import Iterator
from types import ModuleType
from typing import Any

import numpy as np
import torch

import torchgen_out
from tests import calls, tolerances
from tests.parity.op_db.attempt import attempt, told
from tests.parity.op_db.catalogue import Entry
from tests.parity.op_db.comparison import Fault, difference, flat
from tests.parity.op_db.transfer import PYTORCH, Unavailable, rebound

TWICE = ("float64", "complex128")
"""The dtypes in which second gradients are compared: they take twice the kernels."""


def gradient_faults(entry: Entry, sample: Any, dtype: str) -> Iterator[Fault]:
    """Gradients against PyTorch's."""
    twice = dtype in TWICE and entry.info.supports_gradgrad
    try:
        theirs = gradients(torch, entry, sample, twice)
    except (RuntimeError, ValueError, IndexError):
        return  # PyTorch has no gradient here
    try:
        ours = gradients(torchgen_out, entry, sample, twice)
    except Unavailable:
        return  # the sample needs what the library lacks
    except Exception as error:  # whatever it is, PyTorch has a gradient here
        yield Fault("gradient", told(error))
        return
    for check, mine, other in zip(("gradient", "second gradient"), ours, theirs, strict=True):
        yield from _compared(entry, check, mine, other)
    if twice:
        yield from connection_faults(entry, sample)


def connection_faults(entry: Entry, sample: Any) -> Iterator[Fault]:
    """Which leaves a second backward finds from each gradient: all that PyTorch's finds."""
    try:
        theirs = connections(torch, entry, sample)
    except (RuntimeError, ValueError, IndexError):
        return  # PyTorch has no second gradient here
    try:
        ours = connections(torchgen_out, entry, sample)
    except Unavailable:
        return
    for i, (mine, other) in enumerate(zip(ours, theirs, strict=True)):
        if not set(other or ()) <= set(mine or ()) or (mine is None) > (other is None):
            yield Fault("connections", f"of gradient {i}: to leaves {mine}, PyTorch {other}")


def connections(library: Any, entry: Entry, sample: Any) -> list[list[int] | None]:
    """By gradient the leaves that it depends on; None where it does not require grad."""
    made = attempt(library, entry.function(library), sample)
    if made.error is not None:
        raise made.error
    function = sample.output_process_fn_grad
    seen = function if library is PYTORCH else rebound(function, library)
    found: list[list[int] | None] = []
    for grad in _gradients(library, flat(seen(made.result)), made.leaves, True):
        if grad is None or not grad.requires_grad:
            found.append(None)
            continue
        again = library.autograd.grad(
            grad, made.leaves, _weights(library, grad), retain_graph=True, allow_unused=True
        )
        found.append([nr for nr, each in enumerate(again) if each is not None])
    return found


def gradients(
    library: ModuleType, entry: Entry, sample: Any, twice: bool
) -> tuple[list[Any], list[Any]]:
    """Gradients of all leaves, and the gradients of those; None where there is none."""
    made = attempt(library, entry.function(library), sample)
    if made.error is not None:
        raise made.error
    function = sample.output_process_fn_grad
    seen = function if library is PYTORCH else rebound(function, library)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        first = _gradients(library, flat(seen(made.result)), made.leaves, twice)
        if not twice:
            return first, []
        again = [each for each in first if each is not None]
        return first, _gradients(library, again, made.leaves, False)


def _gradients(library: Any, outputs: list[Any], leaves: Any, create_graph: bool) -> list[Any]:
    outputs = [each for each in outputs if getattr(each, "requires_grad", False)]
    if not outputs or not leaves:
        return []
    incoming = [_weights(library, each) for each in outputs]
    return list(
        library.autograd.grad(
            outputs, leaves, incoming, create_graph=create_graph, allow_unused=True
        )
    )


def _weights(library: Any, like: Any) -> Any:
    """A fixed incoming gradient."""
    generator = np.random.default_rng(like.dim() + like.numel())
    data = generator.standard_normal(tuple(like.shape))
    if like.is_complex():
        data = data + 1j * generator.standard_normal(tuple(like.shape))
    return library.from_numpy(np.array(data)).to(like.dtype)


def _compared(entry: Entry, check: str, ours: list[Any], theirs: list[Any]) -> Iterator[Fault]:
    """Compare gradients; none at all counts as zero."""
    for i in range(max(len(ours), len(theirs))):
        pair = [each[i] if i < len(each) else None for each in (ours, theirs)]
        present = [each for each in pair if each is not None]
        if not present:
            continue
        got, expected = (
            np.zeros(tuple(present[0].shape)) if each is None else calls.array(each)
            for each in pair
        )
        if check == "second gradient" and got.shape == expected.shape:
            # Where PyTorch multiplies infinity and zero, ours need not.
            got = np.where(np.isnan(expected), expected, got)
        name = calls.name_of(present[0].dtype)
        allowed = entry.subject.tolerance(name, expected, tolerances.GRADIENT)
        if fault := difference(got, expected, allowed):
            yield Fault(check, f"of input {i}: {fault}")
