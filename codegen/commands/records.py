"""Operators as plain data, for the tools that run them: see runtime/library/tools/records.py."""

from __future__ import annotations

from typing import Any

from ..model.operator import Composite, Operator, Pointwise, Reduction
from ..model.program import Program
from ..model.schema import Argument, Symbol

Json = dict[str, Any]

_USUAL_DOMAIN = (-3.0, 3.0)


def record_of(program: Program, operator: Operator) -> Json:
    """One operator: what it takes, what it computes, how it is to be tried."""
    kind = operator.kind
    return {
        "package": program.package,
        "name": operator.name,
        "base_name": operator.base_name,
        "path": f"ops.{operator.base_name}" if operator.is_internal else operator.public_path,
        "kind": type(kind).__name__.lower(),
        "arguments": [_argument(program, operator, a) for a in operator.arguments],
        "calls": [
            {
                "arguments": {name: source.text for name, source in call.arguments},
                "raises": call.raises,
            }
            for call in (operator.samples.calls if operator.samples else ())
        ],
        "formula": kind.formula.text if isinstance(kind, Pointwise) else None,
        "parts": _parts(kind) if isinstance(kind, Reduction) else {},
        "reference": operator.reference,
        "dtypes": operator.dtype_names,
        "promotion": operator.promotion.rule,
        "variants": operator.variants,
        "tags": operator.tags,
        "results": len(operator.schema.returns),
        "differentiable": _is_differentiable(program, operator),
        "writes_self": operator.is_inplace,
    }


def _argument(program: Program, operator: Operator, argument: Argument) -> Json:
    derivative = program.derivative(operator)
    samples = operator.samples
    domains = samples.domains if samples else ()
    choices = samples.choices if samples else ()
    promoted = operator.promotion.arguments
    default = argument.default.value if argument.default else None
    return {
        "name": argument.name,
        "kind": _kind(argument),
        "optional": argument.type.is_optional,
        "keyword": argument.is_keyword_only,
        "required": argument.is_required,
        "domain": next(
            ((d.low, d.high) for d in domains if d.argument == argument.name), _USUAL_DOMAIN
        ),
        "choices": next((c.values for c in choices if c.argument == argument.name), ()),
        "promoted": promoted is None or argument.name in promoted,
        "differentiable": not argument.type.is_written
        and derivative
        and argument.name in derivative.differentiable_inputs,
        "written": argument.type.is_written,
        "default": None if isinstance(default, Symbol) else default,
    }


def _kind(argument: Argument) -> str:
    if argument.type.is_tensor_list:
        return "tensors"
    if not argument.type.is_tensor:
        return "value"
    return "number" if argument.type.is_union else "tensor"


def _parts(kind: Reduction) -> Json:
    return {
        name: None if formula is None else formula.text
        for name, formula in (
            ("identity", kind.identity),
            ("reduce", kind.reduce),
            ("combine", kind.combine),
            ("project", kind.project),
        )
    }


def _is_differentiable(program: Program, operator: Operator) -> bool:
    if operator.has_tag("nondeterministic") or operator.is_inplace or not operator.returns_tensors:
        return False
    derivative = program.derivative(operator)
    if derivative is None:
        return isinstance(operator.kind, Composite)
    return derivative.is_differentiable and not any(
        gradient.message is not None for gradient in derivative.gradients
    )
