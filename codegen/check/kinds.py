"""Rules about how an operator runs, and whether its variants make sense for it."""

from __future__ import annotations

from collections.abc import Iterator

from ..errors import did_you_mean
from ..formula.primitives import INTEGER_OPERATIONS
from ..model.formula import Call, Formula, walk
from ..model.operator import (
    COPY,
    INPLACE,
    OUT,
    Case,
    Composite,
    Dispatch,
    Index,
    Operator,
    Pointwise,
    Reduction,
    View,
)
from ..model.stream import Draw
from ..model.vocabulary import DTYPE_SETS
from .rules import Context, Problem, operator_rule
from .schemas import place_of

_WITH_BITS = ("integral", "integral_and_bool", "boolean")


@operator_rule("E311")
def dispatch_has_meta(operator: Operator, context: Context) -> Iterator[Problem]:
    """A dispatch entry names its shape function, or says `meta: dynamic`."""
    kind = operator.kind
    if isinstance(kind, Dispatch) and kind.meta is None and not kind.is_dynamic:
        message = f"{operator.name}: a dispatch entry needs 'meta'"
        hint = "meta: module.function, the shape function; or dynamic, if only the data tell"
        yield Problem(operator.places.key("dispatch"), message, hint, width=len("dispatch"))


@operator_rule("E314")
def method_has_self(operator: Operator, context: Context) -> Iterator[Problem]:
    """What is offered as a method has a tensor argument called self."""
    if not (operator.has_method or operator.has_inplace):
        return
    self = operator.schema.argument("self")
    if self is None or not self.type.is_tensor:
        what = "has no argument 'self'" if self is None else f"takes {self.type} as self"
        message = f"{operator.name}: a method needs a tensor 'self', the schema {what}"
        names = [argument.name for argument in operator.arguments]
        hint = did_you_mean("self", names) or "write 'variants: function'"
        where = operator.places.word("method", "variants")
        yield Problem(where, message, hint)


@operator_rule("E315")
def out_has_tensor_results(operator: Operator, context: Context) -> Iterator[Problem]:
    """What is offered with out= returns tensors that own their memory."""
    if not operator.has_out:
        return
    where = operator.places.word(OUT, "variants")
    if not operator.returns_tensors:
        message = f"{operator.name}: out= needs results that are tensors"
        yield Problem(where, message, width=len(OUT))
    elif operator.schema.is_view and not isinstance(operator.kind, View):
        message = f"{operator.name}: out= makes no sense for a result that shares memory"
        yield Problem(where, message, width=len(OUT))


@operator_rule("E316")
def inplace_writes_one_tensor(operator: Operator, context: Context) -> Iterator[Problem]:
    """What is offered in place takes a plain `Tensor self` and returns one tensor."""
    if not operator.has_inplace:
        return
    where = operator.places.word(INPLACE, "variants")
    self = operator.schema.argument("self")
    if operator.is_inplace:
        message = f"{operator.name}: the entry is in-place already"
        yield Problem(where, message, "delete 'inplace'", width=len(INPLACE))
    elif self is not None and "Tensor" not in self.type.names:
        message = f"{operator.name}: in place needs a tensor self, not {self.type}"
        yield Problem(where, message, width=len(INPLACE))
    elif [str(result.type) for result in operator.schema.returns] != ["Tensor"]:
        message = f"{operator.name}: in place needs exactly one result of type Tensor"
        yield Problem(where, message, width=len(INPLACE))


@operator_rule("E318")
def formula_uses_every_argument(operator: Operator, context: Context) -> Iterator[Problem]:
    """A pointwise formula reads every argument of the schema."""
    kind = operator.kind
    if not isinstance(kind, Pointwise) or not kind.formula.outputs:
        return
    readable = {argument.name for argument in kind.formula.arguments}
    used = kind.formula.used
    for argument in operator.arguments:
        if argument.name in used:
            continue
        where = place_of(argument, operator)
        message = f"{operator.name}: the formula does not use '{argument.name}'"
        if argument.name not in readable:
            message = f"{operator.name}: a formula cannot read '{argument}'"
        yield Problem(where, message, width=len(str(argument)))


@operator_rule("E319")
def pointwise_returns_a_tensor(operator: Operator, context: Context) -> Iterator[Problem]:
    """A pointwise operator takes tensors and returns one."""
    if not isinstance(operator.kind, Pointwise):
        return
    results = [result.type for result in operator.schema.returns]
    if len(results) != 1 or not results[0].is_tensor:
        message = f"{operator.name}: a pointwise operator returns one Tensor"
        yield Problem(operator.where, message, width=len(operator.name))
    if not operator.tensor_arguments:
        message = f"{operator.name}: a pointwise operator needs a tensor argument"
        yield Problem(operator.where, message, width=len(operator.name))


@operator_rule("E325")
def bits_belong_to_integers(operator: Operator, context: Context) -> Iterator[Problem]:
    """A formula for floats has no operations on integers: `^` is no power."""
    kind = operator.kind
    if not isinstance(kind, Pointwise) or operator.dtypes in _WITH_BITS:
        return
    for node in walk(kind.formula.outputs):
        if isinstance(node, Call) and node.primitive.name in INTEGER_OPERATIONS:
            where = operator.places.value("pointwise")
            called = node.primitive.symbol or node.primitive.name
            message = f"{operator.name}: {called} needs integers, dtypes is {operator.dtypes}"
            is_power = node.primitive.symbol == "^"
            hint = "a power is x ** y" if is_power else "dtypes: integral"
            yield Problem(where, message, hint)
            return


@operator_rule("E339")
def index_programs_compute_in_floats(operator: Operator, context: Context) -> Iterator[Problem]:
    """An index program computes in floats; what kinds of others depends on what it does.

    Sums and products alone serve integers, too, and what only compares truth values besides. Sums
    of these have another dtype, which a shape function tells. Complex numbers have no order. Where
    an argument tells the dtype, or no rule does, a shape function refuses dtypes or names that to
    which all are converted.
    """
    if not isinstance(operator.kind, Index):
        return
    programs = [each for each in operator.kind.programs if not each.moves]
    has_meta = operator.kind.meta is not None
    # Of several programs, the shape function refuses what the one that is run does not serve.
    every = any if has_meta and operator.kind.asked else all
    is_converted = any("ScalarType" in each.type.names for each in operator.plain_arguments)
    if not programs or (has_meta and (is_converted or operator.promotion.rule == "none")):
        return
    serves = {
        "complex": every(each.serves_complex for each in programs),
        "bool": every(each.compares or (each.is_exact and has_meta) for each in programs),
        "int": every(each.serves_integers for each in programs),
        "uint": every(each.serves_integers for each in programs),
    }
    others = [
        name for name in operator.dtype_names if not serves.get(name.rstrip("0123456789"), True)
    ]
    if others:
        message = f"{operator.name}: index programs compute in floats, not in {others[0]}"
        where = operator.places.value("dtypes")
        yield Problem(where, message, "dtypes: floating", width=len(operator.dtypes))


@operator_rule("E321")
def reduction_parts_use_their_names(operator: Operator, context: Context) -> Iterator[Problem]:
    """`reduce` reads acc and the tensor, `combine` reads acc and other."""
    kind = operator.kind
    if not isinstance(kind, Reduction):
        return
    tensors = [argument.name for argument in operator.tensor_arguments]
    if len(tensors) != 1:
        message = f"{operator.name}: a reduction takes exactly one tensor, got {len(tensors)}"
        yield Problem(operator.where, message, width=len(operator.name))
        return
    yield from _reads(operator, "reduce", kind.reduce, ("acc", tensors[0]))
    yield from _reads(operator, "combine", kind.combine, ("acc", "other"))


def _reads(
    operator: Operator, part: str, formula: Formula, names: tuple[str, ...]
) -> Iterator[Problem]:
    for name in names if formula.outputs else ():
        if name not in formula.used:
            where = operator.places.value("reduction", part)
            message = f"{operator.name}: '{part}' does not use '{name}'"
            yield Problem(where, message, width=len(formula.text))


@operator_rule("E326")
def dtype_error_has_a_dtype_rule(operator: Operator, context: Context) -> Iterator[Problem]:
    """`dtype_error` explains the dtypes of a pointwise operator or a reduction: not all of them."""
    if operator.dtype_error is None:
        return
    where = operator.places.key("dtype_error")
    if not isinstance(operator.kind, Pointwise | Reduction):
        message = f"{operator.name}: 'dtype_error' belongs to pointwise operators and reductions"
        hint = "raise the error in the shape function, or in the composite's body"
        yield Problem(where, message, hint, width=len("dtype_error"))
    elif set(operator.dtype_names) == set(DTYPE_SETS["all"]):
        message = f"{operator.name}: 'dtype_error' explains nothing: every dtype is accepted"
        yield Problem(where, message, "narrow 'dtypes'", width=len("dtype_error"))


@operator_rule("E327")
def checked_numbers_are_operands(operator: Operator, context: Context) -> Iterator[Problem]:
    """Keys that check numbers name operands of a pointwise operator that may be numbers."""
    nonnegative = tuple(name for name, _ in operator.nonnegative)
    checked = {"range_checked": operator.range_checked, "nonnegative": nonnegative}
    for key, names in checked.items():
        where = operator.places.key(key)
        if names and not isinstance(operator.kind, Pointwise):
            message = f"{operator.name}: '{key}' belongs to pointwise operators"
            yield Problem(where, message, width=len(key))
            continue
        for name in names:
            argument = operator.schema.argument(name)
            if argument is None or "Scalar" not in argument.type.names:
                message = f"{operator.name}: '{key}' names '{name}', which takes no number"
                hint = "name an argument of the type Tensor|Scalar"
                yield Problem(where, message, hint, width=len(key))


@operator_rule("E323")
def view_has_no_copying_variants(operator: Operator, context: Context) -> Iterator[Problem]:
    """A view offers neither in-place nor out= variants."""
    if not isinstance(operator.kind, View):
        return
    for variant in (INPLACE, OUT):
        if variant in operator.variants:
            where = operator.places.word(variant, "variants")
            message = f"{operator.name}: a view has no variant '{variant}'"
            yield Problem(where, message, width=len(variant))


@operator_rule("E328")
def only_views_are_copied(operator: Operator, context: Context) -> Iterator[Problem]:
    """The variant `copy` belongs to views, whose first argument is what they look at."""
    if COPY not in operator.variants:
        return
    first = operator.arguments[0].name if operator.arguments else ""
    if not isinstance(operator.kind, View) or first != "self":
        where = operator.places.word(COPY, "variants")
        message = f"{operator.name}: the variant 'copy' belongs to views of self"
        yield Problem(where, message, "delete 'copy'", width=len(COPY))


@operator_rule("E330")
def successors_exist(operator: Operator, context: Context) -> Iterator[Problem]:
    """What supersedes an operator is one, too, by the name that users know."""
    if operator.superseded is None:
        return
    base = context.program.base
    everyone = (*context.program.operators, *(base.operators if base else ()))
    known = {each.public_path for each in everyone}
    if operator.superseded not in known:
        where = operator.places.value("superseded")
        message = f"{operator.name}: there is no operator '{operator.superseded}'"
        hint = did_you_mean(operator.superseded, sorted(known))
        yield Problem(where, message, hint, width=len(operator.superseded))


@operator_rule("E329")
def tags_of_out_fit(operator: Operator, context: Context) -> Iterator[Problem]:
    """What a tag says of out= goes with an entry that has it, and is of a kind that can do so."""
    is_function = isinstance(operator.kind, Composite) and operator.kind.function is not None
    is_stored = isinstance(operator.kind, Composite | Dispatch | Draw | Index | Case)
    needs = {
        "exact_out": (True, ""),
        "floating_out": (True, ""),
        "real_out": (True, ""),
        "shape_of_out": (isinstance(operator.kind, Composite), "a composite"),
        "takes_out": (is_function, "a composite that names a function"),
        "apart_out": (is_stored, "a dispatch entry or a composite"),
        "whole_out": (is_stored, "a dispatch entry or a composite"),
        "dtype_of_out": (operator.schema.argument("dtype") is not None, "an argument 'dtype'"),
    }
    for tag, (fits, needed) in needs.items():
        if not operator.has_tag(tag) or (fits and (operator.has_out or operator.has_inplace)):
            continue
        where = operator.places.word(tag, "tags")
        message = f"{operator.name}: '{tag}' needs {needed if not fits else 'the variant out'}"
        yield Problem(where, message, f"delete '{tag}'", width=len(tag))
