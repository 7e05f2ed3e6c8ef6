"""The operators that copy what a view shows: `variants: copy` of a view entry makes them."""

from __future__ import annotations

from dataclasses import replace

from .. import library
from ..model.operator import (
    COPY,
    FUNCTION,
    OUT,
    Composite,
    FunctionReference,
    Operator,
    Samples,
    View,
)
from ..model.variants import copy_schema

_MODULE = f"{library.RUNTIME}.ops.composite.view.copies"
_COPIED = FunctionReference(_MODULE, "copied", is_absolute=True)
"""Clones what a view shows; of a view of several parts, each."""


def has_copy(operator: Operator) -> bool:
    """Whether the entry is a view that offers a copying function."""
    is_view = isinstance(operator.kind, View) and operator.arguments[0].name == "self"
    return COPY in operator.variants and is_view


def copy_of(operator: Operator) -> Operator:
    """The copying function of a view: a composite, so its derivative is that of the view."""
    schema = copy_schema(operator.schema)
    has_parts = operator.schema.returns[0].type.is_list
    return replace(
        operator,
        schema=schema,
        variants=(FUNCTION, OUT),
        python_module="torch",
        dunders=(),
        deprecated=(),
        superseded=None,
        aliases=(),
        foreach=(),
        kind=Composite(None, _COPIED, operator.name),
        layouts=(),
        vmap=None,
        tags=("exact_out", "silent_out") if has_parts else ("exact_out",),
        reference=None,
        samples=_first(operator.samples),
        doc=f"Copy what `{operator.base_name}` views into memory of its own, which is contiguous.",
    )


def _first(samples: Samples | None) -> Samples | None:
    """One call: the others would test the view again."""
    return replace(samples, calls=samples.calls[:1]) if samples else None
