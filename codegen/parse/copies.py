"""The operators that copy what a view shows: `variants: copy` of a view entry makes them."""

from __future__ import annotations

from dataclasses import replace

from ..model.expression import Expression
from ..model.operator import (
    COPY,
    FUNCTION,
    METHOD,
    OUT,
    Composite,
    Operator,
    Samples,
    View,
)
from ..model.variants import copy_schema
from .expressions import Scope, read_expression
from .scopes import argument_scope


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
        kind=Composite(_body(operator), None),
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


def _body(view: Operator) -> Expression:
    """Call the view, and clone every tensor that it gives."""
    given = [f"{a.name}={a.name}" if a.is_keyword_only else a.name for a in view.arguments[1:]]
    is_method = METHOD in view.variants
    arguments = ", ".join(given if is_method else ["self", *given])
    call = f"self.{view.base_name}({arguments})" if is_method else f"{view.base_name}({arguments})"
    cloned = "clone(memory_format=contiguous_format)"
    is_list = view.schema.returns[0].type.is_list
    text = f"tuple([part.{cloned} for part in {call}])" if is_list else f"{call}.{cloned}"
    return read_expression(text, view.where, Scope(argument_scope(copy_schema(view.schema))))
