"""All checks of an entry in one dtype."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

import torch

import torchgen_out
from tests.parity.op_db import destinations, forward, gradients, refusals, writes
from tests.parity.op_db.catalogue import UNSAFE_OUT, Entry
from tests.parity.op_db.comparison import Fault
from tests.parity.op_db.transfer import Unavailable

DIFFERENTIATED = ("float32", "float64", "complex64", "complex128")
OUT_SAMPLES = 5
"""How many samples are also written to out= tensors: those of the first shapes."""

ABSENT = ("lazy conjugation", "meta beside", "function ")
"""What this library lacks by design: samples that need it are left out."""


def faults(entry: Entry, dtype: str, most: int | None = None) -> Iterator[Fault]:
    """What differs from PyTorch in one dtype, over all samples or the first `most`."""
    try:
        entry.function(torchgen_out)
    except Unavailable as missing:
        yield Fault("missing", f"no {missing}")
        return
    for i, sample in enumerate(islice(entry.samples(dtype), most)):
        yield from _named(i, sample_faults(entry, sample, i))
    if dtype in DIFFERENTIATED and _is_differentiable(entry, dtype):
        for i, sample in enumerate(islice(entry.samples(dtype, True), most)):
            yield from _named(i, gradients.gradient_faults(entry, sample, dtype))
    yield from write_faults(entry, dtype, most)
    if dtype == entry.dtypes()[0]:
        yield from refusals.error_faults(entry)


def quick_faults(entry: Entry, dtype: str) -> Iterator[Fault]:
    """What differs in the function and its other forms, at the first sample; and in refusals."""
    try:
        entry.function(torchgen_out)
    except Unavailable as missing:
        yield Fault("missing", f"no {missing}")
        return
    for sample in islice(entry.samples(dtype), 1):
        yield from _named(0, forward.function_faults(entry, sample))
        yield from _named(0, forward.form_faults(entry, sample))
    if dtype == entry.dtypes()[0]:
        yield from refusals.error_faults(entry)


def write_faults(entry: Entry, dtype: str, most: int | None = None) -> Iterator[Fault]:
    """What may be written to before backward in PyTorch, and not here."""
    if dtype == writes.DTYPE and _is_differentiable(entry, dtype):
        for i, sample in enumerate(islice(entry.samples(dtype, True), most)):
            yield from _named(i, writes.write_faults(entry, sample))
            yield from _named(i, writes.inplace_faults(entry, sample))


def _is_differentiable(entry: Entry, dtype: str) -> bool:
    info = entry.info
    supported = getattr(torch, dtype) in info.supported_backward_dtypes("cpu")
    return info.supports_autograd and supported and not entry.is_random


def sample_faults(entry: Entry, sample: Any, i: int) -> Iterator[Fault]:
    """Every form of a call with one sample."""
    yield from forward.function_faults(entry, sample)
    yield from forward.form_faults(entry, sample)
    yield from forward.inplace_faults(entry, sample)
    is_safe = entry.info.name not in UNSAFE_OUT
    if entry.info.supports_out and is_safe and i < OUT_SAMPLES:
        yield from destinations.destination_faults(entry, sample)


def _named(i: int, found: Iterator[Fault]) -> Iterator[Fault]:
    """Put the sample's number before messages."""
    try:
        for check, message in found:
            yield Fault(check, f"sample {i}: {message}")
    except Unavailable as missing:
        if not str(missing).startswith(ABSENT):
            yield Fault("missing", f"sample {i}: no {missing}")
