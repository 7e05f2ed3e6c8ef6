"""Rules about operators that draw: what they read, what they write, in which dtypes."""

from __future__ import annotations

from collections.abc import Iterator

from ..model.formula import Argument, walk
from ..model.operator import Operator
from ..model.stream import FLOATS, Draw
from .rules import Context, Problem, operator_rule
from .schemas import place_of


@operator_rule("E340")
def draws_read_every_argument(operator: Operator, context: Context) -> Iterator[Problem]:
    """A draw reads every argument of the schema, but its generator and what it fills."""
    kind = operator.kind
    if not isinstance(kind, Draw):
        return
    roots = (*kind.formula.outputs, *([kind.parameter] if kind.parameter else []))
    used = {node.name for node in walk(roots) if isinstance(node, Argument)}
    used |= {"self"} if operator.is_inplace else set()
    for argument in operator.arguments:
        if argument.type.base != "Generator" and argument.name not in used:
            message = f"{operator.name}: the formula does not use '{argument.name}'"
            yield Problem(place_of(argument, operator), message, width=len(str(argument)))


@operator_rule("E341")
def draws_have_a_shape(operator: Operator, context: Context) -> Iterator[Problem]:
    """A draw fills `self`, or has the shape of the tensors that it reads."""
    if isinstance(operator.kind, Draw) and not (
        operator.tensor_arguments and operator.returns_tensors
    ):
        message = f"{operator.name}: nothing says how many numbers are drawn"
        hint = "fill a tensor: name_(Tensor(a!) self, ...) -> Tensor(a!)"
        yield Problem(operator.where, message, hint, width=len(operator.name))


@operator_rule("E342")
def draws_know_their_dtypes(operator: Operator, context: Context) -> Iterator[Problem]:
    """Numbers with a fraction fill floats, and the parts of complex numbers; others all that has an
    order. Chances serve all dtypes."""
    kind = operator.kind
    if not isinstance(kind, Draw) or kind.word == "chance":
        return
    is_wide = operator.has_tag("computes_in_double")
    reads = any(a.kind == "tensor" and a.name in kind.formula.used for a in _tensors(kind))
    for name in operator.dtype_names:
        is_float, is_complex = name.startswith(("float", "bfloat")), name.startswith("complex")
        is_drawn = is_float or is_wide if kind.word in FLOATS else True
        if is_complex:
            is_drawn = kind.word in FLOATS and not is_wide and not reads
        if not is_drawn:
            message = f"{operator.name}: '{kind.word}' cannot be drawn in {name}"
            hint = "dtypes: real" if kind.word not in FLOATS else "dtypes: floating"
            where = operator.places.value("dtypes")
            yield Problem(where, message, hint, width=len(operator.dtypes))
            return


def _tensors(kind: Draw) -> tuple[Argument, ...]:
    return kind.formula.arguments[1:]
