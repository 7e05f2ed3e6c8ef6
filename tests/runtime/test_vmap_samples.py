"""Every operator inside `vmap`, and its gradient there, against calls for each sample."""

from __future__ import annotations

import itertools
import re
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests import calls, harness
from tests.harness import Case
from tests.runtime.test_operators import OPERATORS, OURS, base_dtype, first_case, is_random

REFUSED = {
    "narrow.Tensor": "where the part begins is a number of one sample",
    "tensor_split.tensor_indices_or_sections": "where the parts begin are numbers of one sample",
    "histogram.bin_ct": "the range of the bins follows the numbers of one sample",
    "histogramdd": "the range of the bins follows the numbers of one sample",
    "histogramdd.int_bins": "the range of the bins follows the numbers of one sample",
}
REFUSED_CHOICES = {
    "fake_quantize_per_channel_affine": [(False, False, True), (True, True, True)],
    "copy_": [(False, True)],
    "native_batch_norm": [(True, False, False, False, False)],
}
"""They write samples into what has none, or look at numbers, if these operands are mapped."""

CASES = [
    harness.at_dtype(case, base_dtype(op))
    for op in OPERATORS
    if not is_random(op) and (case := first_case(op)) and case.inputs
]
NAMES = [case.operator.name for case in CASES]


class Mapped:
    """An operator's call as a function of its tensors, with two samples of each."""

    def __init__(self, case: Case) -> None:
        self.case = case
        self.dtype = base_dtype(case.operator)
        self.leaves = OURS.arguments(case, self.dtype).leaves
        self.samples = [[each, _other(each)] for each in self.leaves]

    def call(self, *leaves: Any) -> list[Any]:
        """The results for copies of these tensors: some calls write to theirs."""
        own = [each.clone() for each in leaves]
        return calls.results(OURS.arguments(self.case, self.dtype, leaves=own)())

    def chosen(self, mapped: Sequence[bool], sample: int) -> list[Any]:
        """One sample of the tensors that are mapped, and the first of others."""
        pairs = zip(self.samples, mapped, strict=True)
        return [each[sample] if own else each[0] for each, own in pairs]

    def stacked(self, mapped: Sequence[bool]) -> list[Any]:
        """Both samples of the tensors that are mapped, and the first of others."""
        pairs = zip(self.samples, mapped, strict=True)
        return [torch.stack(each) if own else each[0] for each, own in pairs]


def _other(tensor: Any) -> Any:
    return tensor * 0.75 if _is_differentiable(tensor) else tensor.clone()


def _is_differentiable(tensor: Any) -> bool:
    return isinstance(tensor, torch.Tensor) and (tensor.is_floating_point() or tensor.is_complex())


def _choices(count: int) -> list[tuple[bool, ...]]:
    """All tensors mapped, and each by itself."""
    alone = [tuple(i == j for j in range(count)) for i in range(count)]
    return [(True,) * count, *(alone if count > 1 else [])]


NAMED = [
    case
    for case in CASES
    if len(case.operator.schema.returns) > 1
    and not case.operator.has_tag("internal")
    and case.operator.name not in REFUSED
]


@pytest.mark.parametrize("case", NAMED, ids=lambda case: case.operator.name)
def test_results_have_names(case: Case) -> None:
    mapped, kinds = Mapped(case), []

    def call(*leaves: Any) -> Any:
        own = [each.clone() for each in leaves]
        found = OURS.arguments(case, mapped.dtype, leaves=own)()
        kinds.append(type(found))
        return calls.results(found)

    call(*mapped.leaves)
    torch.vmap(call)(*mapped.stacked([True] * len(mapped.leaves)))
    assert kinds[0] is kinds[1]


@pytest.mark.parametrize("case", CASES, ids=NAMES)
def test_value(case: Case) -> None:
    mapped = Mapped(case)
    for choice in _choices(len(mapped.leaves)):
        expected = [mapped.call(*mapped.chosen(choice, i)) for i in (0, 1)]
        everything = [*itertools.chain(*expected)]
        if not all(isinstance(each, torch.Tensor) for each in everything):
            return
        dims = tuple(0 if own else None for own in choice)
        function = torch.func.vmap(lambda *given: tuple(mapped.call(*given)), in_dims=dims)
        name = case.operator.name
        if name in REFUSED or choice in REFUSED_CHOICES.get(name, ()):
            if choice != (True, False):
                with pytest.raises(RuntimeError, match="vmap: "):
                    function(*mapped.stacked(choice))
            continue
        for got, *each in zip(function(*mapped.stacked(choice)), *expected, strict=True):
            _assert_equal(got, torch.stack(each), f"{name} {choice}")


def _assert_equal(got: Any, expected: Any, what: str) -> None:
    assert got.dtype is expected.dtype, what
    assert got.shape == expected.shape, what
    ours, theirs = calls.array(got.detach()), calls.array(expected.detach())
    if _is_differentiable(got):
        np.testing.assert_allclose(ours, theirs, rtol=1e-5, atol=1e-8, err_msg=what)
    else:
        np.testing.assert_array_equal(ours, theirs, err_msg=what)


SMOOTH = [
    case
    for case in CASES
    if case.operator.may_differentiate
    and case.operator.name not in REFUSED
    and not case.operator.base_name.endswith("_")
]


@pytest.mark.parametrize("case", SMOOTH, ids=[case.operator.name for case in SMOOTH])
def test_gradient(case: Case) -> None:
    mapped = Mapped(case)
    places = [i for i, each in enumerate(mapped.leaves) if _is_differentiable(each)]

    def loss(*given: Any) -> Any:
        leaves = list(mapped.leaves)
        for place, value in zip(places, given, strict=True):
            leaves[place] = value
        results = filter(_is_differentiable, mapped.call(*leaves))
        return sum((each.abs() ** 2).sum() for each in results)

    gradient = torch.func.grad(loss, argnums=tuple(range(len(places))))
    expected = [_by_autograd(loss, [mapped.samples[place][i] for place in places]) for i in (0, 1)]
    if None in expected:
        return
    found = torch.func.vmap(gradient)(*[torch.stack(mapped.samples[place]) for place in places])
    for got, *each in zip(found, *expected, strict=True):
        _assert_equal(got, torch.stack(each), case.operator.name)


def _by_autograd(loss: Any, values: Sequence[Any]) -> Any:
    """The gradient without `torch.func`; None where nothing is differentiable."""
    leaves = [each.detach().clone().requires_grad_() for each in values]
    try:
        value = loss(*leaves)
        if not isinstance(value, torch.Tensor) or not value.requires_grad:
            return None
        return torch.autograd.grad(value, leaves, allow_unused=True, materialize_grads=True)
    except (NotImplementedError, RuntimeError) as error:
        assert re.search("derivative|gradient|requires grad|not differentiable", str(error))
        return None
