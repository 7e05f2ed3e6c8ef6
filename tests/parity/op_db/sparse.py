"""PyTorch's table of operators on sparse operands: its own samples, and its strided ones converted.

An entry takes part with a layout if `op_db` says that it supports it. Where PyTorch's result is not
what it gives for the same dense tensors, ours may be that one.
"""

from __future__ import annotations

import unittest
import warnings
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import Any

import torch
from torch.testing._internal.common_methods_invocations import op_db
from torch.testing._internal.opinfo.core import UnaryUfuncInfo

import torchgen_out
from tests.parity.op_db import transfer
from tests.parity.op_db.attempt import Attempt, attempt, told
from tests.parity.op_db.catalogue import Entry
from tests.parity.op_db.comparison import Fault, Subject, compare, flat
from tests.parity.op_db.transfer import Unavailable

LAYOUTS = {
    str(each).removeprefix("torch.sparse_"): each
    for each in (
        *(torch.sparse_coo, torch.sparse_csr, torch.sparse_csc),
        *(torch.sparse_bsr, torch.sparse_bsc),
    )
}
OWN_SAMPLES = {"sparse.mm": "csr", "sparse.sampled_addmm": "csr"}
"""Entries whose usual samples are sparse."""
UNDEFINED = frozenset({"randn_like"})
"""Entries whose results' elements nobody can foretell."""


@dataclass(frozen=True)
class SparseEntry:
    """An OpInfo, and a layout of its operands."""

    info: Any
    layout: str

    def __str__(self) -> str:
        return f"{Entry(self.info)}-{self.layout}"

    @cached_property
    def entry(self) -> Entry:
        """The entry for strided operands, which knows names and tolerances."""
        return Entry(self.info)

    @property
    def subject(self) -> Subject:
        """How near results have to be, made dense."""
        return self.entry.subject._replace(strides=False)

    def dtypes(self) -> list[str]:
        """The dtypes of samples."""
        wanted = ("float32", "float64", "int64", "bool", "complex64")
        return [each for each in wanted if each in self.entry.dtypes()]

    def samples(self, dtype: str, requires_grad: bool = False) -> Iterator[Any]:
        """The table's samples of the layout, or its strided ones with sparse operands."""
        own, given = LAYOUTS[self.layout], (getattr(torch, dtype), requires_grad)
        torch.manual_seed(0)
        if self.info.name in OWN_SAMPLES:
            yield from self.info.sample_inputs("cpu", *given)
            return
        try:
            yield from list(self.info.sample_inputs_sparse(own, "cpu", *given))
        except NotImplementedError:
            for sample in self.info.sample_inputs("cpu", *given):
                converted = converted_input(sample.input, own)
                if converted is not None:
                    sample.input = converted.requires_grad_(sample.input.requires_grad)
                    yield sample
        except unittest.SkipTest:
            return

    def function(self, library: Any) -> Callable[..., Any]:
        """The operator; of PyTorch's `to_sparse` and `sparse.mm` the method and the function."""
        if library is torch:
            return self.info.op
        names = {"to_sparse": "Tensor.to_sparse", "sparse.mm": "sparse.mm"}
        named = names.get(self.info.name)
        return transfer.find(library, named) if named else self.entry.function(library)


def converted_input(tensor: torch.Tensor, layout: Any) -> torch.Tensor | None:
    """A strided operand in a layout, a third of its elements without entries; None if it cannot."""
    if not isinstance(tensor, torch.Tensor) or tensor.ndim < (1 if layout is LAYOUTS["coo"] else 2):
        return None
    tensor = tensor.detach()
    if tensor.ndim == 2 or layout is LAYOUTS["coo"]:
        kept = (torch.arange(tensor.numel()) % 3 != 0).reshape(tensor.shape)
        tensor = torch.where(kept, tensor, torch.zeros((), dtype=tensor.dtype))
    blocks = {}
    if layout in (LAYOUTS["bsr"], LAYOUTS["bsc"]):
        blocks["blocksize"] = tuple(2 if n and n % 2 == 0 else 1 for n in tensor.shape[-2:])
    try:
        return tensor.to_sparse(layout=layout, **blocks)
    except RuntimeError:
        return None  # batches of nothing, matrices without rows


ENTRIES = [
    SparseEntry(info, layout)
    for info in op_db
    for layout in LAYOUTS
    if info.supports_sparse_layout(LAYOUTS[layout]) or OWN_SAMPLES.get(info.name) == layout
]
SLICE = [
    each
    for each in ENTRIES
    if each.layout == "coo" or (each.layout == "csr" and not isinstance(each.info, UnaryUfuncInfo))
]
"""What the default tier takes: formulas act on the values of all layouts alike."""


def faults(entry: SparseEntry, dtype: str, most: int | None = None) -> Iterator[Fault]:
    """What differs from PyTorch in one dtype, over all samples or the first `most`."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for i, sample in enumerate(islice(entry.samples(dtype), most)):
            yield from _named(i, sample_faults(entry, sample))
        if dtype == "float64" and entry.info.supports_autograd:
            for i, sample in enumerate(islice(entry.samples(dtype, True), most)):
                yield from _named(i, gradient_faults(entry, sample))


def _named(i: int, found: Iterator[Fault]) -> Iterator[Fault]:
    for check, message in found:
        yield Fault(check, f"sample {i}: {message}")


def sample_faults(entry: SparseEntry, sample: Any) -> Iterator[Fault]:
    """The function, the method, and the form in place, where PyTorch has an answer."""
    method, inplace = entry.info.method_variant, entry.info.inplace_variant
    yield from _form_faults(entry, "function", entry.info.op, entry.function(torchgen_out), sample)
    for label, form in (("method", method), ("inplace", inplace)):
        if form is not None:
            try:
                ours = entry.entry.ours(label, form)
            except Unavailable as missing:
                yield Fault(label, f"no {missing}")
                continue
            yield from _form_faults(entry, label, form, ours, sample)


def _form_faults(
    entry: SparseEntry, label: str, form: Any, ours: Any, sample: Any
) -> Iterator[Fault]:
    theirs = attempt(torch, form, sample)
    if theirs.error is not None:
        return
    try:
        dense_tree(flat(theirs.result))
    except RuntimeError:
        return  # PyTorch's result contradicts itself
    mine = attempt(torchgen_out, ours, sample)
    if mine.error is not None:
        yield Fault(label, told(mine.error))
        return
    found = list(_result_faults(entry, label, mine, theirs))
    if found and _is_as_dense(entry, label, form, mine, sample):
        return
    yield from found


def _result_faults(
    entry: SparseEntry, label: str, mine: Attempt, theirs: Attempt
) -> Iterator[Fault]:
    """Layouts and dims of results, then their elements."""
    pairs = [flat(mine.result), flat(theirs.result)]
    for own, other in zip(*pairs, strict=False):
        if isinstance(other, torch.Tensor) and str(other.layout) != str(own.layout):
            yield Fault(label, f"{own.layout}, PyTorch {other.layout}")
        elif isinstance(other, torch.Tensor) and other.dense_dim() != own.dense_dim():
            yield Fault(label, f"{own.dense_dim()} dense dims, PyTorch {other.dense_dim()}")
    if entry.info.name not in UNDEFINED:
        yield from compare(label, entry.subject, *map(dense_tree, pairs))


def _is_as_dense(entry: SparseEntry, label: str, form: Any, mine: Attempt, sample: Any) -> bool:
    """Whether ours is what PyTorch gives for the same elements in strided tensors."""
    wanted = attempt(torch, form, sample.transform(dense_tree))
    if wanted.error is not None:
        return False
    found = [dense_tree(flat(each)) for each in (mine.result, wanted.result)]
    return not list(compare(label, entry.subject, *found))


def dense_tree(value: Any) -> Any:
    """A tree with strided tensors in place of sparse ones."""
    if isinstance(value, list):
        return [dense_tree(each) for each in value]
    if isinstance(value, (torch.Tensor, torchgen_out.Tensor)):
        return value.detach().to_dense()
    return value


def gradient_faults(entry: SparseEntry, sample: Any) -> Iterator[Fault]:
    """Gradients, of sparse leaves at their entries."""
    try:
        theirs = _gradients(torch, entry.info.op, sample)
    except (RuntimeError, ValueError, NotImplementedError):
        return  # PyTorch has no gradient here
    try:
        ours = _gradients(torchgen_out, entry.function(torchgen_out), sample)
    except Exception as error:  # whatever it is, PyTorch has a gradient here
        yield Fault("gradient", told(error))
        return
    yield from compare("gradient", entry.subject, ours, theirs)


def _gradients(library: Any, function: Any, sample: Any) -> list[Any]:
    made = attempt(library, function, sample)
    if made.error is not None:
        raise made.error
    outputs = [each for each in flat(made.result) if getattr(each, "requires_grad", False)]
    total = sum((_weighted(library, each.to_dense()) for each in outputs), library.zeros(()))
    found = library.autograd.grad(total, made.leaves, allow_unused=True)
    return [_at_entries(library, grad, leaf) for grad, leaf in zip(found, made.leaves, strict=True)]


def _weighted(library: Any, dense: Any) -> Any:
    weights = library.arange(1.0, dense.numel() + 1, dtype=dense.dtype).reshape(dense.shape)
    return (dense * weights).sum()


def _at_entries(library: Any, grad: Any, leaf: Any) -> Any:
    """A gradient as a dense tensor, zero where a sparse leaf has no entry; none is zero."""
    grad = library.zeros(leaf.shape, dtype=leaf.dtype) if grad is None else grad.to_dense()
    if leaf.layout is library.strided:
        return grad.detach()
    pattern = leaf.detach().clone()
    (pattern._values() if leaf.is_sparse else pattern.values()).fill_(1)
    return (grad * pattern.to_dense().ne(0)).detach()
