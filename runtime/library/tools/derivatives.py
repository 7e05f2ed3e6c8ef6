"""The checks of derivatives: against finite differences, along the inputs that are meant."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import replace
from typing import Any

import numpy as np

import torchgen_out
from torchgen_out._runtime.autograd.api import grad
from torchgen_out._runtime.autograd.gradcheck import GradcheckError, gradcheck, gradgradcheck
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.library.tools import differences, matrices
from torchgen_out._runtime.library.tools.calling import (
    Mismatch,
    arguments_of,
    at_dtype,
    call,
    flat,
    good_cases,
    told_as,
)
from torchgen_out._runtime.library.tools.cases import COMPLEX, FLOATING, Case
from torchgen_out._runtime.library.tools.records import Record

Differentiable = tuple[Callable[..., Any], tuple[Any, ...], tuple[str, ...]]
"""A function of leaves that may receive a gradient, these, and the arguments they belong to."""


def differentiable(record: Record) -> Iterator[tuple[Case, Differentiable]]:
    """Cases as functions of their floating-point leaves."""
    for case in good_cases(record):
        if case.is_empty or not all(np.isfinite(each.array).all() for each in case.data):
            continue
        made = gradient_function(record, case)
        if made:
            yield case, made


def call_samples(record: Record, dtype: str) -> None:
    """Call an operator as its samples show, in one dtype, and take what gradients it has.

    Of all tensors, or where that is refused of those that must be given: statistics have none.
    Raises: Mismatch.
    """
    needed = [replace(a, differentiable=False) if a.optional else a for a in record.arguments]
    has_gradient = record.differentiable and dtype in (*FLOATING, *COMPLEX)
    for case in good_cases(record):
        with told_as(case.label):
            call(record, arguments_of(at_dtype(case, dtype), dtype))
        for arguments in (record.arguments, tuple(needed)) if has_gradient else ():
            with suppress(Mismatch):
                gradient_function(replace(record, arguments=arguments), case, dtype)
                break


def gradient_function(
    record: Record, case: Case, dtype: str | None = None
) -> Differentiable | None:
    """The call as a function of the leaves that may receive a gradient; None without any."""
    dtype = dtype or precise_dtype(record)
    assert dtype is not None
    values = arguments_of(at_dtype(case, dtype), dtype, requires_grad=True)
    for argument in record.arguments:
        if argument.differentiable is False and argument.name in values:
            values[argument.name] = _detached(values[argument.name])
    owners = {id(leaf): name for name, value in values.items() for leaf in flat(value)}
    leaves = [leaf for value in values.values() for leaf in flat(value)]
    wanted = [leaf for leaf in leaves if isinstance(leaf, Tensor) and leaf.requires_grad]

    def function(*replaced: Any) -> Any:
        table = {id(leaf): new for leaf, new in zip(wanted, replaced, strict=True)}

        def swap(value: Any) -> Any:
            if isinstance(value, list):
                return [swap(each) for each in value]
            return table.get(id(value), value)

        given = {name: swap(value) for name, value in values.items()}
        given |= {name: given[name].clone() for name in record.written & given.keys()}
        found = flat(call(record, given))
        return tuple(each for each in found if isinstance(each, Tensor) and each.requires_grad)

    with told_as(case.label):
        results = function(*wanted) if wanted else ()
        if not results:
            return None
        # Of a composite, only the graph tells which inputs have a gradient.
        found = grad(
            results, wanted, [torchgen_out.ones_like(r) for r in results], allow_unused=True
        )
        if record.kind == "composite":
            pairs = zip(list(wanted), found, strict=True)
            wanted[:] = [leaf for leaf, gradient in pairs if gradient is not None]
    return function, tuple(wanted), tuple(owners[id(leaf)] for leaf in wanted)


def _detached(value: Any) -> Any:
    if isinstance(value, list):
        return [_detached(each) for each in value]
    return value.detach() if isinstance(value, Tensor) else value


def check_gradient(record: Record, twice: bool = False) -> str | None:
    """First or second derivatives against finite differences."""
    if not record.differentiable or not precise_dtype(record):
        return None
    count, fitted = 0, ""
    for case, made in differentiable(record):
        with told_as(case.label):
            fitted = _check_case(made, twice) or fitted
        count += 1
        if twice and count == 3:
            break
    return f"{count} calls against finite differences{fitted}" if count else None


def precise_dtype(record: Record) -> str | None:
    """The dtype in which differences are taken."""
    return next((d for d in ("float64", "complex128") if d in record.dtypes), None)


def _check_case(made: Differentiable, twice: bool) -> str:
    """Hold one call's derivative to differences; how these were taken, if not by each element."""
    function, leaves, names = made
    check = gradgradcheck if twice else gradcheck
    try:
        check(function, leaves)
    except GradcheckError as error:
        among = matrices.among_those_meant(function, leaves)
        if among is not None:
            with suppress(GradcheckError):
                check(among, leaves)
                return ", among symmetric or triangular matrices: one triangle is read"
        where = differences.first_difference(among or function, leaves, names, twice)
        raise Mismatch(where or str(error).split("\n")[0]) from error
    return ""
