"""Emits torchgen_out/operators/: each operator as the dispatcher sees it, with its tables."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator

from ..model.operator import Composite, Dispatch, Given, Operator, Pointwise, View
from ..model.plan import BackwardCase, LoweredProgram, PointwisePlan
from ..record import record
from ..write import File
from . import naming, references, translate
from .breaking import INDENT
from .environment import piece, render, render_pieces
from .flow import flowed


@record
class Field:
    """One keyword of a constructor call."""

    name: str
    value: str


@record
class Item:
    """One operator: `name = Class("schema", {...}, field=value, ...)`."""

    name: str
    cls: str
    schema: str
    """The text, quoted."""
    operands: str
    fields: tuple[Field, ...]


@record
class BackwardItem:
    """A fused backward kernel, `name = BackwardKernel(formula, gradient, operands, ...)`."""

    name: str
    lines: tuple[str, ...]
    """What it is made of, as lines."""


def emit(program: LoweredProgram) -> Iterable[File]:
    """Emit one module per kind that has tables."""
    kinds = naming.modules(program, naming.TABLED)
    for kind in kinds:
        operators = naming.of_kind(program, kind)
        yield render_pieces(
            f"operators/{kind}.py",
            "operators.py.jinja",
            [_piece(program, operator) for operator in operators],
            apart=1,
            package=program.package,
            library=program.library,
            kind=kind,
            references=references.imports(operators),
        )
    backward = [_backward(program, each) for each in naming.of_kind(program, "pointwise")]
    if any(backward) or program.is_library:
        package = program.package
        yield render_pieces(
            "operators/backward.py", "backward.py.jinja", backward, apart=1, package=package
        )
    if kinds:
        yield render("operators/__init__.py", "package.py.jinja", summary="The operators' tables.")


def _piece(program: LoweredProgram, operator: Operator) -> str:
    def make() -> str:
        return piece("operator_piece.py.jinja", item=_item(program, operator))

    return program.texts.of("operators", operator.name, make)


def _backward(program: LoweredProgram, operator: Operator) -> str:
    """The fused backward kernels of an operator; empty if it has none."""

    def make() -> str:
        items = map(_backward_item, program.backward_cases(operator))
        return "\n".join([piece("backward_piece.py.jinja", item=item) for item in items])

    return program.texts.of("backward", operator.name, make)


def _item(program: LoweredProgram, operator: Operator) -> Item:
    assert not isinstance(operator.kind, Composite)
    kind = naming.kind_of(operator)
    fields = [*_kind_fields(program, operator, kind), *_autograd_fields(program, operator)]
    if operator.layouts:
        fields.append(Field("layouts", _mapping((key, str(ref)) for key, ref in operator.layouts)))
    if operator.vmap:
        fields.append(Field("vmap", f'"{operator.vmap}"'))
    return Item(
        operator.identifier,
        kind.capitalize(),
        translate.literal(str(operator.schema)),
        _operands(operator),
        tuple(fields),
    )


def _mapping(pairs: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f'"{key}": "{value}"' for key, value in pairs) + "}"


def _operands(operator: Operator) -> str:
    return _mapping((a.name, translate.operand_kind(operator, a)) for a in operator.operands)


def _arguments(operator: Operator) -> str:
    return _mapping((a.name, translate.argument_kind(operator, a)) for a in operator.arguments)


def _kind_fields(program: LoweredProgram, operator: Operator, kind: str) -> Iterator[Field]:
    if kind == "view":
        assert isinstance(operator.kind, View)
        yield Field("function", references.spelled(operator.kind.function, "views"))
        if operator.schema.returns[0].type.is_list:
            yield Field("several", "True")
        if operator.has_tag("same_elements"):
            yield Field("same_elements", "True")
        return
    if kind == "reduction" or len(operator.operands) < len(operator.arguments):
        yield Field("arguments", _arguments(operator))
    if kind == "reduction" or operator.promotion.rule != "default":
        yield Field("promotion", f'"{operator.promotion.rule}"')
    if operator.out_rule != "cast":
        yield Field("out_rule", f'"{operator.out_rule}"')
    if kind != "reduction" and operator.promoted != tuple(a.name for a in operator.operands):
        yield Field("promoted", translate.names_tuple(operator.promoted))
    yield Field("dtypes", f"dtype_sets.{operator.dtypes.upper()}")
    if operator.has_tag("number_first"):
        yield Field("number_first", "True")
    if operator.has_tag("number_each"):
        yield Field("number_each", "True")
    if kind == "pointwise":
        if operator.range_checked:
            yield Field("range_checked", translate.names_tuple(operator.range_checked))
        if operator.has_tag("bool_conditions"):
            yield Field("bool_conditions", "True")
        if operator.nonnegative:
            yield Field("nonnegative", _mapping(operator.nonnegative))
        assert isinstance(operator.kind, Pointwise)
        if operator.kind.check:
            yield Field("check", references.spelled(operator.kind.check, "shapes"))
        yield from _formulas(operator, program.pointwise[operator.name])
        yield from _zeros(program.pointwise[operator.name])
    elif kind == "reduction":
        if operator.has_tag("empty_dim_keeps"):
            yield Field("empty_dim_keeps", "True")
        yield Field("parts", f"kernels.{naming.kernel_name(operator)}")
    else:
        yield from _dispatch_fields(operator)


def _formulas(operator: Operator, plan: PointwisePlan) -> Iterator[Field]:
    forms = [
        f"{translate.names_tuple(absent)}: kernels.{naming.kernel_name(operator, absent)}"
        for absent, _ in plan.forms
    ]
    yield Field("formulas", "{" + ", ".join(forms) + "}")
    if plan.at_defaults is not None:
        defaults = [f'"{name}": {value!r}' for name, value in plan.defaults.items()]
        yield Field("defaults", "{" + ", ".join(defaults) + "}")
        yield Field("at_defaults", f"kernels.{operator.identifier}_at_defaults")


def _zeros(plan: PointwisePlan) -> Iterator[Field]:
    if plan.zeros:
        sets = ", ".join(map(translate.names_tuple, plan.zeros))
        yield Field("vanishes_with", f"({sets})" if len(plan.zeros) > 1 else f"({sets},)")
    if plan.linear:
        yield Field("linear_in", translate.names_tuple(plan.linear))


def _dispatch_fields(operator: Operator) -> Iterator[Field]:
    kind = operator.kind
    assert isinstance(kind, Dispatch)
    yield Field("kernel_names", _kernel_names(kind))
    if kind.case:
        yield Field("case", _case(kind))
    if kind.unasked:
        yield Field("unasked", str(kind.unasked))
    if kind.shapes_of is not None:
        yield Field("meta", f'"{kind.shapes_of}.shapes"')
    elif kind.meta is not None and kind.has_shapes_of_case:
        given = ", ".join(map(_spelled, (value for _, value in kind.case)))
        names = ", ".join(argument.name for argument in operator.arguments)
        shapes = references.spelled(kind.meta, "shapes")
        yield Field("meta", f"lambda {names}: {shapes}({given})")
    else:
        yield Field(
            "meta", "None" if kind.meta is None else references.spelled(kind.meta, "shapes")
        )
    if kind.half_as_stored:
        yield Field("half_as_stored", "True")
    if kind.aliasing:
        yield Field("aliasing", translate.names_tuple(kind.aliasing))
    if operator.has_out and operator.out_overlap != "anything":
        yield Field("out_overlap", f'"{operator.out_overlap}"')
    if kind.memory_format:
        yield Field("memory_format", translate.names_tuple(kind.memory_format))
    if operator.has_tag("across_devices"):
        yield Field("across_devices", "True")
    if operator.has_tag("host_lists"):
        yield Field("host_lists", "True")
    if operator.is_inplace:
        yield Field("mutates", "True")
    if len(operator.schema.returns) != 1:
        yield Field("outputs", str(len(operator.schema.returns)))
    result = naming.named_tuple(operator)
    if result:
        yield Field("wrap", result)


def _case(kind: Dispatch) -> str:
    """What the arguments of the kernels are given."""
    return "{" + ", ".join(f'"{name}": {_given(value)}' for name, value in kind.case) + "}"


def _spelled(value: Given) -> str:
    """What a case gives an argument, as an expression of its own arguments."""
    return str(value) if value.is_argument else translate.literal(ast.literal_eval(value.text))


def _given(value: Given) -> str:
    if not value.is_argument:
        return _spelled(value)
    return f'{"Negated" if value.is_negated else "Argument"}("{value.text}")'


def _kernel_names(kind: Dispatch) -> str:
    """The kernels by backend; one text if CPU and CUDA have one name for it."""
    names = {name: str(kernel) for name, kernel in kind.backends}
    if names.keys() == {"CPU", "CUDA"} and names["CPU"] == names["CUDA"]:
        return f'"{names["CPU"]}"'
    return _mapping(names.items())


def _autograd_fields(program: LoweredProgram, operator: Operator) -> Iterator[Field]:
    plan = program.nodes.get(operator.name)
    if plan is None:
        return
    yield Field("differentiable", translate.names_tuple(a.name for a in plan.inputs))
    if plan.derivative.refused_inputs:
        yield Field("refused", translate.names_tuple(plan.derivative.refused_inputs))
    yield Field("record", f"nodes.{naming.record_name(plan)}")


def _backward_item(case: BackwardCase) -> BackwardItem:
    operands = [name for name, _ in case.operands]
    values = [(name, translate.kind_of_role(role)) for name, role in case.values]
    parts = [
        f"kernels.{case.name}",
        f"gradients.{case.name}",
        _mapping((name, translate.kind_of_role(role)) for name, role in case.operands),
        translate.names_tuple(case.needs),
        *([f"values={_mapping(values)}"] if values else []),
    ]
    if list(case.promoted) != operands:
        parts.append(f"promoted={translate.names_tuple(case.promoted)}")
    return BackwardItem(case.name, tuple(line.strip() for line in flowed(parts, INDENT)))
