"""Emits torchgen_out/operators/: each operator as the dispatcher sees it, with its tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from ..model.operator import Composite, Dispatch, Operator, Pointwise, View
from ..model.program import Program
from ..write import File
from . import automatic, naming, references, translate
from .environment import render


@dataclass(frozen=True, slots=True)
class Field:
    """One keyword of a constructor call."""

    name: str
    value: str


@dataclass(frozen=True, slots=True)
class Item:
    """One operator: `name = Class("...", "schema", {...}, field=value, ...)`."""

    name: str
    cls: str
    full_name: str
    schema: str
    """The text, quoted."""
    operands: str
    fields: tuple[Field, ...]


@dataclass(frozen=True, slots=True)
class BackwardItem:
    """A fused backward kernel, `name = BackwardKernel(formula, gradient, operands, ...)`."""

    name: str
    operands: str
    gives: str
    values: str
    """What it reads besides operands; empty for nothing."""
    promoted: str
    """Empty for all operands."""


def emit(program: Program) -> Iterable[File]:
    """Emit one module per kind that has tables."""
    kinds = naming.modules(program, naming.TABLED)
    for kind in kinds:
        items = [_item(program, operator) for operator in naming.of_kind(program, kind)]
        yield render(
            f"operators/{kind}.py",
            "operators.py.jinja",
            package=program.package,
            library=program.library,
            kind=kind,
            items=items,
            references=references.imports(naming.of_kind(program, kind)),
        )
    backward = [
        _backward_item(operator, case)
        for operator in naming.of_kind(program, "pointwise")
        for case in automatic.backward_cases(program, operator)
    ]
    if backward or program.is_library:
        yield render(
            "operators/backward.py",
            "backward.py.jinja",
            package=program.package,
            items=backward,
        )
    if kinds:
        yield render("operators/__init__.py", "package.py.jinja", summary="The operators' tables.")


def _item(program: Program, operator: Operator) -> Item:
    assert not isinstance(operator.kind, Composite)
    kind = naming.kind_of(operator)
    fields = [*_kind_fields(operator, kind), *_autograd_fields(program, operator)]
    return Item(
        operator.identifier,
        kind.capitalize(),
        operator.name,
        translate.literal(str(operator.schema)),
        _operands(operator),
        tuple(fields),
    )


def _quoted(names: Iterable[str]) -> str:
    items = [f'"{name}"' for name in names]
    return f"({', '.join(items)}{',' if len(items) == 1 else ''})"


def _mapping(pairs: Iterable[tuple[str, str]]) -> str:
    return "{" + ", ".join(f'"{key}": "{value}"' for key, value in pairs) + "}"


def _operands(operator: Operator) -> str:
    return _mapping(
        (a.name, translate.operand_kind(a))
        for i, a in enumerate(operator.arguments)
        if translate.is_operand(a, i)
    )


def _arguments(operator: Operator) -> str:
    return _mapping(
        (a.name, _pointwise_kind(operator, a.name, i)) for i, a in enumerate(operator.arguments)
    )


def _pointwise_kind(operator: Operator, name: str, position: int) -> str:
    argument = operator.arguments[position]
    return translate.argument_kind(argument, position)


def _promoted(operator: Operator) -> tuple[str, ...]:
    if operator.promotion.arguments is not None:
        return operator.promotion.arguments
    return tuple(a.name for i, a in enumerate(operator.arguments) if translate.is_operand(a, i))


def _kind_fields(operator: Operator, kind: str) -> Iterator[Field]:
    if kind == "view":
        assert isinstance(operator.kind, View)
        yield Field("function", references.spelled(operator.kind.function, "views"))
        if operator.schema.returns[0].type.is_list:
            yield Field("several", "True")
        if operator.has_tag("same_elements"):
            yield Field("same_elements", "True")
        return
    yield Field("arguments", _arguments(operator))
    yield Field("promotion", f'"{operator.promotion.rule}"')
    if operator.out_rule != "cast":
        yield Field("out_rule", f'"{operator.out_rule}"')
    if kind != "reduction":
        yield Field("promoted", _quoted(_promoted(operator)))
    yield Field("dtypes", f"dtype_sets.{operator.dtypes.upper()}")
    if operator.has_tag("number_first"):
        yield Field("number_first", "True")
    if operator.has_tag("number_each"):
        yield Field("number_each", "True")
    if kind == "pointwise":
        if operator.range_checked:
            yield Field("range_checked", _quoted(operator.range_checked))
        if operator.nonnegative:
            yield Field("nonnegative", _mapping(operator.nonnegative))
        assert isinstance(operator.kind, Pointwise)
        if operator.kind.check:
            yield Field("check", references.spelled(operator.kind.check, "shapes"))
        yield Field("formulas", _formulas(operator))
        if automatic.at_defaults(operator):
            defaults = automatic.scalar_defaults(operator)
            listed = ", ".join(f'"{name}": {value!r}' for name, value in defaults.items())
            yield Field("defaults", "{" + listed + "}")
            yield Field("at_defaults", f"kernels.{operator.identifier}_at_defaults")
    elif kind == "reduction":
        if operator.has_tag("empty_dim_keeps"):
            yield Field("empty_dim_keeps", "True")
        yield Field("parts", f"kernels.{naming.kernel_name(operator)}")
    else:
        yield from _dispatch_fields(operator)


def _formulas(operator: Operator) -> str:
    assert isinstance(operator.kind, Pointwise)
    items = []
    for absent in automatic.absent_sets(operator):
        items.append(f"{_quoted(absent)}: kernels.{naming.kernel_name(operator, absent)}")
    return "{" + ", ".join(items) + "}"


def _dispatch_fields(operator: Operator) -> Iterator[Field]:
    kind = operator.kind
    assert isinstance(kind, Dispatch)
    yield Field("kernel_names", _mapping((name, str(ref)) for name, ref in kind.backends))
    yield Field("meta", "None" if kind.meta is None else references.spelled(kind.meta, "shapes"))
    if kind.half_as_stored:
        yield Field("half_as_stored", "True")
    if kind.aliasing:
        yield Field("aliasing", _quoted(kind.aliasing))
    if operator.has_out and operator.out_overlap != "anything":
        yield Field("out_overlap", f'"{operator.out_overlap}"')
    if kind.memory_format:
        yield Field("memory_format", _quoted(kind.memory_format))
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


def _autograd_fields(program: Program, operator: Operator) -> Iterator[Field]:
    derivative = program.derivative(operator)
    if derivative is None or not derivative.is_differentiable:
        return
    names = [a.name for a in operator.arguments if a.name in derivative.differentiable_inputs]
    yield Field("differentiable", _quoted(names))
    if derivative.refused_inputs:
        yield Field("refused", _quoted(derivative.refused_inputs))
    yield Field("record", f"nodes.{naming.record_name(program, operator)}")


def _backward_item(operator: Operator, case: automatic.BackwardCase) -> BackwardItem:
    kinds = {"grad": "tensor", "result": "tensor"}
    arguments = {"grad": "operand", "result": "operand"}
    for i, argument in enumerate(operator.arguments):
        arguments[argument.name] = translate.argument_kind(argument, i)
        kinds[argument.name] = translate.operand_kind(argument).rstrip("?")
    read = [a.name for a in case.formula.arguments]
    operands = [name for name in read if arguments[name] == "operand"]
    values = [(name, arguments[name]) for name in read if name not in operands]
    counted = _floating(operator, operands)
    return BackwardItem(
        case.name,
        _mapping((name, kinds[name]) for name in operands),
        _quoted(case.needs),
        _mapping(values) if values else "",
        "" if counted == operands else _quoted(counted),
    )


def _floating(operator: Operator, operands: list[str]) -> list[str]:
    """Operands whose dtype counts: not a condition that the operator itself leaves out."""
    promoted = set(_promoted(operator)) | {"grad", "result"}
    return [name for name in operands if name in promoted]
