"""Reads `samples:`: a domain or choices per argument, or a list of calls."""

from __future__ import annotations

import ast

from ..model.operator import Choices, Domain, SampleCall, Samples, SourceText
from ..model.schema import Argument, Schema
from .report import Report
from .values import described
from .yaml_nodes import AnyNode, Mapping, Scalar, Sequence

_LITERALS = {"true": "True", "false": "False", "null": "None", "~": "None", "none": "None"}


def read_samples(node: AnyNode | None, schema: Schema, report: Report) -> Samples | None:
    """Read the value of `samples`; None if there is no such key or it cannot be read."""
    if node is None:
        return None
    if isinstance(node, Mapping):
        return _domains(node, schema, report)
    if isinstance(node, Sequence):
        return Samples(calls=_calls(node, schema, report))
    hint = "{argument: [low, high]}, or a list of {argument: value}"
    report.add("E106", node.where, f"'samples' cannot be {described(node)}", hint=hint)
    return None


def _domains(node: Mapping, schema: Schema, report: Report) -> Samples:
    domains: list[Domain] = []
    choices: list[Choices] = []
    for name, value in node.values.items():
        argument = schema.argument(name)
        if argument is None or not argument.type.is_tensor:
            items = value.items if isinstance(value, Sequence) else [value]
            choices.append(Choices(name, tuple(_expression(item, argument) for item in items)))
            continue
        bounds = _bounds(value)
        if bounds is None:
            message = f"the domain of '{name}' must be [low, high] with low <= high"
            report.add("E604", value.where, message)
        else:
            domains.append(Domain(name, *bounds))
    return Samples(tuple(domains), tuple(choices))


def _bounds(node: AnyNode) -> tuple[float, float] | None:
    if not isinstance(node, Sequence) or len(node.items) != 2:
        return None
    try:
        low, high = (float(item.text) for item in node.items if isinstance(item, Scalar))
    except ValueError:
        return None
    return (low, high) if low <= high else None


def _calls(node: Sequence, schema: Schema, report: Report) -> tuple[SampleCall, ...]:
    calls: list[SampleCall] = []
    for item in node.items:
        if not isinstance(item, Mapping):
            message = f"a sample must be a mapping of arguments, got {described(item)}"
            report.add("E106", item.where, message)
            continue
        values = dict(item.values)
        raises = values.pop("raises", None)
        arguments = tuple(
            (name, SourceText(_expression(value, schema.argument(name)), value.where))
            for name, value in values.items()
        )
        calls.append(SampleCall(arguments, raises.text if isinstance(raises, Scalar) else None))
    return tuple(calls)


def _expression(node: AnyNode, argument: Argument | None) -> str:
    """Return a value as a Python expression.

    YAML's `true`, `null` and lists become Python's; a bare word for a `str` argument is the text.
    """
    if isinstance(node, Sequence):
        element = Argument("", argument.type.element) if argument else None
        return f"[{', '.join(_expression(item, element) for item in node.items)}]"
    if isinstance(node, Mapping):
        pairs = (f"{key!r}: {_expression(value, None)}" for key, value in node.values.items())
        return f"{{{', '.join(pairs)}}}"
    text = node.text.strip()
    if argument is not None and argument.type.base == "str":
        return _string(text, argument.type.is_optional)
    return text if node.style else _LITERALS.get(text, text)


def _string(text: str, may_be_none: bool) -> str:
    if may_be_none and text in ("None", "null", "~"):
        return "None"
    if text[:1] in ("'", '"') and text[-1:] == text[:1] and len(text) > 1:
        return str(ast.literal_eval(text)).__repr__()
    return repr(text)
