"""Emits torchgen_out/functions/: the Python bindings, one per operator and variant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codegen.emit import expressions, integers, naming, references, translate
from codegen.emit.environment import render
from codegen.model.operator import Composite, Operator
from codegen.model.program import Program
from codegen.model.schema import Argument
from codegen.write import File


@dataclass(frozen=True, slots=True)
class Binding:
    """One function. `style` chooses its body: table, composite, or copy (in place)."""

    name: str
    schema: str
    doc: str
    parameters: str
    result: str
    style: str
    table: str
    key: str
    out_key: str
    """The key of the table for out=, which begins with what it is written to."""
    operands: str
    call: str
    """Arguments of the resolved call, or of the composite's body."""
    body: str
    varargs: str
    """The parameter gathered from *args; empty without."""
    checks: tuple[integers.Check, ...]
    has_out: bool
    is_factory: bool
    base_name: str


@dataclass(frozen=True, slots=True)
class Dunder:
    """A binary operator that gives way to the other operand's class."""

    name: str
    other: str
    table: str
    key: str
    call: str
    style: str
    function: str


@dataclass(frozen=True, slots=True)
class Item:
    """Everything bound for one entry."""

    identifier: str
    tables: tuple[tuple[str, str], ...]
    """(module-level name, attribute of the operator)."""
    bindings: tuple[Binding, ...]
    dunders: tuple[Dunder, ...]


def emit(program: Program) -> Iterable[File]:
    """Emit one module per kind."""
    for kind in naming.modules(program, naming.KIND_NAMES):
        operators = naming.of_kind(program, kind)
        items = [_item(program, operator) for operator in operators]
        yield render(
            f"functions/{kind}.py",
            "functions.py.jinja",
            package=program.package,
            kind=kind,
            items=items,
            references=references.imports(operators),
        )
    yield render("functions/__init__.py", "package.py.jinja", summary="The operators' bindings.")


# -- one entry --------------------------------------------------------------------------------


def _item(program: Program, operator: Operator) -> Item:
    is_composite = isinstance(operator.kind, Composite)
    tables = []
    if not is_composite:
        tables.append((f"_{operator.identifier}", "calls"))
        if operator.has_inplace:
            tables.append((f"_{operator.identifier}_inplace", "inplace_calls"))
        if operator.has_out:
            tables.append((f"_{operator.identifier}_out", "out_calls"))
    bindings = [_binding(program, operator)]
    if operator.has_inplace:
        bindings.append(_inplace_binding(program, operator))
    return Item(
        operator.identifier,
        tuple(tables),
        tuple(bindings),
        tuple(_dunders(program, operator)),
    )


def _binding(program: Program, operator: Operator) -> Binding:
    names = _parameter_names(operator)
    is_composite = isinstance(operator.kind, Composite)
    varargs = varargs_parameter(operator)
    call = ", ".join(names.values())
    return Binding(
        name=naming.function_name(program, operator),
        schema=str(operator.schema),
        doc=_doc(operator),
        parameters=parameters(operator, names, varargs, operator.has_out),
        result=translate.result_annotation(operator.schema.returns, naming.named_tuple(operator)),
        style="composite" if is_composite else "table",
        table=f"_{operator.identifier}",
        key=_key(operator, names),
        out_key=_out_key(operator, names),
        operands=_operand_list(operator, names),
        call=call,
        body=_body(operator, names),
        varargs=varargs,
        checks=integers.checks(operator, names),
        has_out=operator.has_out,
        is_factory=operator.has_tag("factory"),
        base_name=operator.base_name,
    )


def _inplace_binding(program: Program, operator: Operator) -> Binding:
    names = _parameter_names(operator)
    is_composite = isinstance(operator.kind, Composite)
    schema = operator.inplace_schema
    assert schema is not None
    varargs = varargs_parameter(operator)
    return Binding(
        name=naming.inplace_name(program, operator),
        schema=str(schema),
        doc=f"In-place variant of `{operator.base_name}`.",
        parameters=parameters(operator, names, varargs, False),
        result="Tensor",
        style="copy" if is_composite else "table",
        table=f"_{operator.identifier}_inplace",
        key=_key(operator, names),
        out_key="",
        operands=_operand_list(operator, names),
        call=", ".join(names.values()),
        body=_body(operator, names),
        varargs=varargs,
        checks=integers.checks(operator, names),
        has_out=False,
        is_factory=False,
        base_name=operator.base_name,
    )


def _parameter_names(operator: Operator) -> dict[str, str]:
    """Schema name to Python parameter, in schema order."""
    names = {a.name: translate.parameter(a) for a in operator.arguments}
    if "self" in names:
        names["self"] = translate.first_parameter(operator)
    return names


def varargs_parameter(operator: Operator) -> str:
    """The list that may be given as several positional arguments, or the empty string.

    It is marked by the tag, or is the only positional argument besides self and of no fixed size
    (`x.view(2, 3)`), or the leading `size` of a factory.
    """
    positional = [a for a in operator.schema.positional if a.name != "self"]
    if operator.has_tag("varargs"):
        lists = [a for a in positional if a.type.is_list]
        return translate.parameter(lists[0]) if lists else ""
    if not positional:
        return ""
    first = positional[0]
    is_open = first.type.is_list and first.type.list_size is None
    ints = first.type.base in ("int", "SymInt") and first.default is None
    has_self = operator.arguments[0].name == "self"
    if not (is_open and ints and len(positional) == 1):
        return ""
    if has_self and not operator.has_method:
        return ""
    if not has_self and operator.arguments[0].name != "size":
        return ""
    return translate.parameter(first)


def parameters(operator: Operator, names: dict[str, str], varargs: str, has_out: bool) -> str:
    """The parameter list of a binding, annotated."""
    parts = []
    keyword: list[str] = []
    for argument in operator.arguments:
        name = names[argument.name]
        if name == varargs:
            parts.append("*args: Any")
            keyword.insert(0, f"{name}: Any = None")
        elif argument.is_keyword_only or (varargs and "*args: Any" in parts):
            keyword.append(_parameter(argument, name))
        else:
            parts.append(_parameter(argument, name))
    if has_out:
        several = len(operator.schema.returns) > 1
        keyword.append(f"out: {'tuple[Tensor, ...]' if several else 'Tensor'} | None = None")
    if operator.has_tag("factory"):
        keyword.append("requires_grad: bool = False")
    if keyword and "*args: Any" not in parts:
        parts.append("*")
    return ", ".join(parts + keyword)


def _parameter(argument: Argument, name: str) -> str:
    text = f"{name}: {translate.annotation(argument.type)}"
    if argument.default is not None:
        text += f" = {translate.default(argument.default)}"
    return text


def _operands(operator: Operator) -> Iterator[Argument]:
    for position, argument in enumerate(operator.arguments):
        if translate.is_operand(argument, position):
            yield argument


def _operand_list(operator: Operator, names: dict[str, str]) -> str:
    return ", ".join(names[a.name] for a in _operands(operator))


def _key(operator: Operator, names: dict[str, str]) -> str:
    """The signature as an expression."""
    entries = [key_entry(argument, names[argument.name]) for argument in _operands(operator)]
    return ", ".join(entries) if entries else "()"


def _out_key(operator: Operator, names: dict[str, str]) -> str:
    """The signature of the results and the operands as an expression."""
    several = len(operator.schema.returns) > 1
    entries = [key_entry(argument, names[argument.name]) for argument in _operands(operator)]
    return ", ".join(["tensors_of(out)" if several else "out._key", *entries])


def key_entry(argument: Argument, name: str) -> str:
    """What one operand contributes to the signature."""
    kind = translate.operand_kind(argument)
    if kind == "tensors":
        holds_none = argument.type.element.is_optional
        return f"{'list_of' if holds_none else 'tensors_of'}({name})"
    if kind == "tensor":
        return f"{name}._key"
    if kind == "tensor?":
        return f"None if {name} is None else {name}._key"
    if "Tensor" not in argument.type.names:
        return f"kind_of({name})"
    other = "optional_kind_of" if kind.endswith("?") else "kind_of"
    return f"{name}._key if {name}.__class__ is Tensor else {other}({name})"


def _body(operator: Operator, names: dict[str, str]) -> str:
    """The expression that computes a composite; empty for other kinds."""
    kind = operator.kind
    if not isinstance(kind, Composite):
        return ""
    if kind.function is not None:
        call = f"{references.spelled(kind.function, 'bodies')}({', '.join(names.values())})"
        result = naming.named_tuple(operator)
        if result:
            return f"{result}(*{call})"
        is_list = len(operator.schema.returns) == 1 and operator.schema.returns[0].type.is_list
        return f"tuple({call})" if is_list else call
    assert kind.body is not None
    text = expressions.spelled(kind.body, kind.body.text)
    if names.get("self", "self") != "self":
        text = expressions.renamed(text, "self", names["self"])
    return text


def _doc(operator: Operator) -> str:
    return translate.indent(translate.docstring(operator.doc or "")).rstrip()


# -- dunders ----------------------------------------------------------------------------------


def _dunders(program: Program, operator: Operator) -> Iterator[Dunder]:
    """Binary operators; unary and in-place ones are plain aliases (see emit/methods.py)."""
    for name in operator.dunders:
        if name in operator.inplace_dunders or not is_binary(operator):
            continue
        receiver, other = _receiver_and_other(operator)
        names = {a.name: translate.default(a.default) for a in operator.arguments if a.default}
        names[receiver.name], names[other.name] = "self", "other"
        key = [key_entry(a, names[a.name]) for a in _operands(operator)]
        yield Dunder(
            name,
            translate.annotation(other.type),
            f"_{operator.identifier}",
            ", ".join(key),
            ", ".join(names[a.name] for a in operator.arguments),
            "composite" if isinstance(operator.kind, Composite) else "table",
            naming.function_name(program, operator),
        )


def is_binary(operator: Operator) -> bool:
    """Whether two arguments must be given."""
    return sum(a.default is None for a in operator.arguments) == 2


def _receiver_and_other(operator: Operator) -> tuple[Argument, Argument]:
    """The operand whose method it is, the first that must be a tensor, and the other one."""
    required = [a for a in operator.arguments if a.default is None]
    receiver = next(a for a in required if a.type.names == ("Tensor",))
    other = next(a for a in required if a is not receiver)
    return receiver, other
