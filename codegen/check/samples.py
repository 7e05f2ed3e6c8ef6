"""Rules about samples and documentation."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from ..errors import SourceLocation, did_you_mean
from ..formula import python_text
from ..model.operator import Operator, SampleCall
from ..model.vocabulary import (
    EXCEPTIONS,
    SAMPLE_CONSTRUCTORS,
    SAMPLE_NAMES,
)
from .rules import Context, Problem, operator_rule

_NAMES = frozenset((*SAMPLE_CONSTRUCTORS, *SAMPLE_NAMES))


@operator_rule("E601")
def operator_has_samples(operator: Operator, context: Context) -> Iterator[Problem]:
    """Every operator has inputs for the generated tests."""
    samples = operator.samples
    if samples is None and not operator.places.has("samples"):
        message = f"{operator.name}: no samples"
        hint = f"samples: {{{next((a.name for a in operator.tensor_arguments), '')}: [-3, 3]}}"
        yield Problem(operator.where, message, hint, width=len(operator.name))


@operator_rule("E602")
def samples_name_arguments(operator: Operator, context: Context) -> Iterator[Problem]:
    """A sample gives arguments of the schema."""
    samples = operator.samples
    if samples is None:
        return
    known = {argument.name for argument in operator.arguments}
    names = [choice.argument for choice in samples.choices]
    names += [domain.argument for domain in samples.domains]
    for name in names:
        if name not in known:
            yield _unknown_argument(operator, name, operator.places.word(name, "samples"))
    for i, call in enumerate(samples.calls):
        for name, _ in call.arguments:
            if name not in known:
                where = operator.places.word(name, "samples", str(i))
                yield _unknown_argument(operator, name, where)


def _unknown_argument(operator: Operator, name: str, where: SourceLocation) -> Problem:
    names = [argument.name for argument in operator.arguments]
    hint = did_you_mean(name, [*names, "raises"]) or f"arguments: {', '.join(names)}"
    return Problem(where, f"{operator.name}: no argument '{name}'", hint, width=len(name))


@operator_rule("E603")
def sample_calls_are_complete(operator: Operator, context: Context) -> Iterator[Problem]:
    """A call that should succeed gives every argument that has no default."""
    if operator.samples is None or not operator.samples.calls:
        return
    required = [a.name for a in operator.arguments if a.is_required and not a.is_out]
    for i, call in enumerate(operator.samples.calls):
        given = {name for name, _ in call.arguments}
        missing = [name for name in required if name not in given]
        if missing and call.raises is None:
            message = f"{operator.name}: the sample does not give '{missing[0]}'"
            yield Problem(operator.places.value("samples", str(i)), message)


@operator_rule("E605")
def sample_values_are_expressions(operator: Operator, context: Context) -> Iterator[Problem]:
    """A value of a sample is a Python expression over the sample constructors."""
    calls = operator.samples.calls if operator.samples else ()
    whole = "\n,".join(f"({source.text})" for call in calls for _, source in call.arguments)
    if whole and not _is_good(f"({whole}\n,)"):
        for call in calls:
            yield from _value_problems(operator, call)


def _is_good(text: str) -> bool:
    """Whether a text compiles and uses known names only: one fast test for all values."""
    try:
        code = compile(text, "<sample>", "eval")
    except (SyntaxError, RecursionError, MemoryError, ValueError):
        return False
    return _NAMES.issuperset(code.co_names)


def _value_problems(operator: Operator, call: SampleCall) -> Iterator[Problem]:
    for name, source in call.arguments:
        try:
            tree = python_text.parse(f"({source.text}\n)", mode="eval")
        except SyntaxError as error:
            message = f"{operator.name}: the sample of '{name}' is no Python expression"
            yield Problem(source.where, message, error.msg)
            continue
        for node in ast.walk(tree):
            if not isinstance(node, ast.Name) or node.id in _NAMES:
                continue
            hint = did_you_mean(node.id, _NAMES)
            hint = hint or f"constructors: {', '.join(SAMPLE_CONSTRUCTORS.values())}"
            message = f"{operator.name}: unknown name '{node.id}' in the sample of '{name}'"
            where = source.where.at(max(0, node.col_offset - 1))
            yield Problem(where, message, hint, width=len(node.id))


@operator_rule("E606")
def raises_names_an_exception(operator: Operator, context: Context) -> Iterator[Problem]:
    """`raises` names an exception class."""
    for i, call in enumerate(operator.samples.calls if operator.samples else ()):
        if call.raises is not None and call.raises not in EXCEPTIONS:
            where = operator.places.value("samples", str(i), "raises")
            message = f"{operator.name}: '{call.raises}' is no exception"
            yield Problem(where, message, did_you_mean(call.raises, EXCEPTIONS))


@operator_rule("E607")
def operator_has_doc(operator: Operator, context: Context) -> Iterator[Problem]:
    """Every operator that users see is documented."""
    if operator.doc is None and not operator.places.has("doc") and not operator.is_internal:
        message = f"{operator.name}: no doc"
        hint = "doc: one line in the imperative, then what a user needs to know"
        yield Problem(operator.where, message, hint, width=len(operator.name))
