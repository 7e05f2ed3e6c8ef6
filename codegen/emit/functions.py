"""Emits torchgen_out/functions/: the Python bindings, one per operator and variant."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace

from ..model.operator import INPLACE, METHOD, Composite, Operator
from ..model.plan import LoweredProgram
from ..model.program import Program
from ..model.roles import Role
from ..model.schema import Argument
from ..record import record
from ..write import File
from . import argument_checks, calling, collisions, expressions, naming, references, translate
from .environment import piece, render, render_pieces


@record
class Binding:
    """One function. `style` chooses its body: table, composite, or copy (in place)."""

    name: str
    itself: str
    """The function in its own body, where a parameter may hide its name."""
    schema: str
    doc: str
    parameters: str
    result: str
    style: str
    table: str
    key: str
    out_key: str
    """The key of the table for out=, which begins with what it is written to."""
    call: str
    """Arguments of the resolved call, or of the composite's body."""
    body: str
    varargs: str
    """The parameter gathered from *args; empty without."""
    labelled: str
    """The parameter of the equation that lists of labels may stand for; empty without."""
    several: str
    """How many *args are its items: several, or not one where it may be empty."""
    forms: calling.Forms
    """What else a call may look like."""
    checks: tuple[argument_checks.Check, ...]
    has_out: bool
    out_body: str
    """The call of a composite's function that takes out= itself; empty for others."""
    store: str
    """The function that puts the result of a composite into out=."""
    rule: str
    """Which dtypes a composite may write to, as a literal; empty if results are cast."""
    watched: str
    """The operands of a composite that out= must not overlap, as a keyword; empty for any."""
    takes_dtype_of_out: bool
    """Whether out= says the dtype when the caller does not."""
    is_factory: bool
    tensors: str
    """(name, position, value) of each argument that must be a tensor."""
    called: str
    """The name in errors."""
    superseded: str
    """The names of the operator and of what replaces it, as arguments; empty for others."""


@record
class Dunder:
    """A binary operator that gives way to the other operand's class."""

    name: str
    other: str
    table: str
    key: str
    call: str
    style: str
    function: str


@record
class Item:
    """Everything bound for one entry."""

    identifier: str
    tables: tuple[tuple[str, str], ...]
    """(module-level name, attribute of the operator)."""
    bindings: tuple[Binding, ...]
    dunders: tuple[Dunder, ...]


def emit(program: LoweredProgram) -> Iterable[File]:
    """Emit one module per kind."""
    for kind in naming.modules(program, naming.KIND_NAMES):
        operators = naming.of_kind(program, kind)
        yield render_pieces(
            f"functions/{kind}.py",
            "functions.py.jinja",
            [_piece(program, operator) for operator in operators],
            package=program.package,
            kind=kind,
            references=references.imports(operators),
            library=program.library,
            synonyms=calling.NAMES,
            has_named_results=any(map(naming.named_tuple, operators)),
        )
    yield render("functions/__init__.py", "package.py.jinja", summary="The operators' bindings.")


# -- one entry --------------------------------------------------------------------------------


def _piece(program: LoweredProgram, operator: Operator) -> str:
    def make() -> str:
        return piece("function_piece.py.jinja", item=_item(program, operator))

    return program.texts.of("functions", operator.name, make)


def _item(program: Program, operator: Operator) -> Item:
    is_composite = isinstance(operator.kind, Composite)
    tables = []
    if not is_composite:
        tables.append((f"_{operator.identifier}", "calls"))
        if operator.has_inplace:
            tables.append((f"_{operator.identifier}_inplace", "inplace_calls"))
        if operator.has_out:
            tables.append((f"_{operator.identifier}_out", "out_calls"))
    names = _parameter_names(operator)
    inner = _inner_names(program, operator, names)
    bindings = [_binding(program, operator, inner)]
    if operator.has_inplace and not naming.has_own_method(operator):
        bindings.append(_inplace_binding(program, operator, inner))
    if inner != names:
        bindings = [each for binding in bindings for each in _wrapped(operator, binding, names)]
    if naming.has_own_method(operator):
        bindings += _method_bindings(program, operator)
    return Item(
        operator.identifier,
        tuple(tables),
        tuple(bindings),
        tuple(_dunders(program, operator)),
    )


def _inner_names(program: Program, operator: Operator, names: dict[str, str]) -> dict[str, str]:
    """What arguments are called in the body, which has names of its own."""
    taken = {
        *collisions.in_bindings(),
        *(f"_{operator.identifier}{which}" for which in ("", "_inplace", "_out")),
        *collisions.names_in(_body(operator, dict.fromkeys(names, "None"))),
    }
    if calling.synonyms(operator, names):
        taken.add(naming.function_name(program, operator))
    return collisions.renamed(names, taken)


def _named_varargs(operator: Operator, names: dict[str, str]) -> str:
    """What the list that may be given as several arguments is called in the body."""
    varargs = varargs_parameter(operator)
    return next(
        (names[a.name] for a in operator.arguments if translate.parameter(a) == varargs), ""
    )


def _several(operator: Operator, varargs: str) -> str:
    """There may be no tensors at all, while a size has at least one number."""
    tensors = [translate.parameter(a) for a in operator.arguments if a.type.is_tensor_list]
    return "!= 1" if varargs in tensors else "> 1"


def _wrapped(operator: Operator, binding: Binding, names: dict[str, str]) -> Iterator[Binding]:
    """A binding under a private name, and one that only passes its arguments on.

    For operators whose arguments are called like something that bodies use.
    """
    varargs = varargs_parameter(operator)
    inner = f"_{binding.name}_renamed"
    while inner in names.values():
        inner += "_"
    own = dict(zip(names, binding.call.split(", "), strict=True))
    by_name = {a.name for a in operator.schema.keyword_only}
    given: list[str] = []
    for name, text in names.items():
        if text == varargs:
            given.append("*args")
        elif name in by_name or "*args" in given:
            given.append(f"{own[name]}={text}")
        else:
            given.append(text)
    given += ["out=out"] if binding.has_out else []
    given += ["requires_grad=requires_grad"] if binding.is_factory else []
    plain = replace(binding.forms, synonyms="", orders=(), unseen="")
    yield replace(binding, name=inner, forms=plain)
    plain = replace(plain, asked="")
    yield replace(
        binding,
        parameters=parameters(operator, names, varargs, binding.has_out),
        style="composite",
        body=f"{inner}({', '.join(given)})",
        varargs="",
        forms=plain,
        checks=(),
        has_out=False,
        is_factory=False,
        tensors="",
    )


def _binding(program: Program, operator: Operator, names: dict[str, str]) -> Binding:
    is_composite = isinstance(operator.kind, Composite)
    varargs = _named_varargs(operator, names)
    call = ", ".join(names.values())
    return Binding(
        name=naming.function_name(program, operator),
        itself=calling.itself(naming.function_name(program, operator), names),
        schema=str(operator.schema),
        doc=_doc(operator),
        parameters=parameters(
            operator, names, varargs, operator.has_out, calling.synonyms(operator, names)
        ),
        result=translate.result_annotation(operator.schema.returns, naming.named_tuple(operator)),
        style="composite" if is_composite else "table",
        table=f"_{operator.identifier}",
        key=_key(operator, names),
        out_key=_out_key(operator, names),
        call=call,
        body=_body(operator, names),
        varargs=varargs,
        labelled=next(iter(names.values())) if operator.has_tag("labelled") else "",
        several=_several(operator, varargs),
        forms=calling.forms(operator, names, varargs, operator.has_out),
        checks=argument_checks.checks(operator, names),
        has_out=operator.has_out,
        out_body=_out_body(operator, names),
        store=next((name for tag, name in _STORES.items() if operator.has_tag(tag)), "store_out"),
        rule=_spelled_rule(operator.out_rule),
        watched=_watched(operator, names),
        takes_dtype_of_out=_takes_dtype_of_out(operator),
        is_factory=operator.has_tag("factory"),
        tensors=_tensors(operator, names),
        called=operator.base_name,
        superseded=_superseded(operator),
    )


def _inplace_binding(program: Program, operator: Operator, names: dict[str, str]) -> Binding:
    is_composite = isinstance(operator.kind, Composite)
    schema = operator.inplace_schema
    assert schema is not None
    varargs = _named_varargs(operator, names)
    return Binding(
        name=naming.inplace_name(program, operator),
        itself=calling.itself(naming.inplace_name(program, operator), names),
        schema=str(schema),
        doc=f"In-place variant of `{operator.base_name}`.",
        parameters=parameters(
            operator, names, varargs, False, calling.synonyms(operator, names, False)
        ),
        result="Tensor",
        style="copy" if is_composite else "table",
        table=f"_{operator.identifier}_inplace",
        key=_key(operator, names),
        out_key="",
        call=", ".join(names.values()),
        body=_body(operator, names),
        varargs=varargs,
        labelled="",
        several=_several(operator, varargs),
        forms=calling.forms(operator, names, varargs, False, is_inplace=True),
        checks=argument_checks.checks(operator, names),
        has_out=False,
        out_body="",
        store="",
        rule=_spelled_rule(operator.inplace_rule),
        watched="",
        takes_dtype_of_out=False,
        is_factory=False,
        tensors="",
        called=f"{operator.base_name}_",
        superseded=_superseded(operator),
    )


def _method_bindings(program: Program, operator: Operator) -> Iterator[Binding]:
    """The method, and the one in place, of a function that takes other arguments before self."""
    arguments = sorted(operator.schema.arguments, key=lambda a: a.name != "self")
    schema = replace(operator.schema, arguments=tuple(arguments))
    turned = replace(operator, schema=schema, variants=(METHOD, INPLACE))
    names = _parameter_names(turned)
    given = ", ".join(names[argument.name] for argument in operator.arguments)
    body = f"{naming.function_name(program, operator)}({given})"
    name = naming.method_name(program, operator)
    method = replace(
        _binding(program, turned, names), name=name, itself=name, body=body, tensors=""
    )
    yield replace(method, style="composite", schema=str(operator.schema))
    if operator.has_inplace:
        yield replace(_inplace_binding(program, turned, names), body=body)


def _superseded(operator: Operator) -> str:
    if operator.superseded is None:
        return ""
    return f'"{operator.public_path}", "{operator.superseded}"'


def _tensors(operator: Operator, names: dict[str, str]) -> str:
    """The arguments that are tensors, or lists of them, for the error that names another type."""
    return ", ".join(
        f'("{argument.name}", {position}, "{kind}", {names[argument.name]})'
        for position, argument in enumerate(operator.arguments)
        if (kind := translate.only_tensors(argument.type))
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


def parameters(
    operator: Operator,
    names: dict[str, str],
    varargs: str,
    has_out: bool,
    synonyms: str = "",
) -> str:
    """The parameter list of a binding, annotated.

    synonyms: the class of NumPy's words that are taken, too. Then bindings, not Python, see what is
    missing: it may have been given by another word.
    """
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
            may_be_missing = bool(synonyms) and argument.default is None
            parts.append(_parameter(argument, name) + (" = MISSING" if may_be_missing else ""))
    if operator.deprecated:
        parts.append("*_rest: Any")
    if has_out:
        several = len(operator.schema.returns) > 1
        keyword.append(f"out: {'tuple[Tensor, ...]' if several else 'Tensor'} | None = None")
    if operator.has_tag("factory"):
        keyword.append("requires_grad: bool = False")
    if keyword and "*args: Any" not in parts and not operator.deprecated:
        parts.append("*")
    if synonyms:
        keyword.append(f"**_words: Unpack[{synonyms}]")
    return ", ".join(parts + keyword)


def _parameter(argument: Argument, name: str) -> str:
    text = f"{name}: {translate.annotation(argument.type)}"
    if argument.default is not None:
        text += f" = {translate.default(argument.default)}"
    return text


def _key(operator: Operator, names: dict[str, str]) -> str:
    """The signature as an expression."""
    entries = [key_entry(operator, a, names[a.name]) for a in operator.operands]
    return ", ".join(entries) if entries else "()"


def _out_key(operator: Operator, names: dict[str, str]) -> str:
    """The signature of the results and the operands as an expression."""
    several = len(operator.schema.returns) > 1
    entries = [key_entry(operator, a, names[a.name]) for a in operator.operands]
    return ", ".join(["tensors_of(out)" if several else "out._key", *entries])


def key_entry(operator: Operator, argument: Argument, name: str) -> str:
    """What one operand contributes to the signature."""
    may_be_absent = argument.type.is_optional
    match operator.role(argument):
        case Role.TENSORS:
            holds_none = argument.type.element.is_optional
            return f"{'list_of' if holds_none else 'tensors_of'}({name})"
        case Role.TENSOR:
            return f"None if {name} is None else {name}._key" if may_be_absent else f"{name}._key"
        case Role.NUMBER:
            other = "optional_kind_of" if may_be_absent else "kind_of"
            return f"{name}._key if {name}.__class__ is Tensor else {other}({name})"
    return f"kind_of({name})"


def _body(operator: Operator, names: dict[str, str]) -> str:
    """The expression that computes a composite; empty for other kinds."""
    kind = operator.kind
    if not isinstance(kind, Composite):
        return ""
    if kind.function is not None:
        told = [translate.literal(each) for each in (kind.of, kind.written) if each]
        given = ", ".join([*told, *names.values()])
        call = f"{references.spelled(kind.function, 'bodies')}({given})"
        result = naming.named_tuple(operator)
        if result:
            return f"{result}(*{call})"
        is_list = len(operator.schema.returns) == 1 and operator.schema.returns[0].type.is_list
        return f"tuple({call})" if is_list else call
    assert kind.body is not None
    return expressions.spelled(kind.body, kind.body.text, names=names)


def _out_body(operator: Operator, names: dict[str, str]) -> str:
    """The call of the composite's function that takes out= itself; empty for other entries."""
    if not operator.has_tag("takes_out"):
        return ""
    assert isinstance(operator.kind, Composite) and operator.kind.function is not None
    given = ", ".join([*names.values(), "out=out"])
    return f"{references.spelled(operator.kind.function, 'bodies')}({given})"


_STORES = {"shape_of_out": "store_in_shape", "silent_out": "store_parts"}


def _spelled_rule(rule: str) -> str:
    return "" if rule == "cast" else f'"{rule}"'


def _watched(operator: Operator, names: dict[str, str]) -> str:
    """The operands that out= must not overlap, as a keyword of `store_out`; empty where it may."""
    if not isinstance(operator.kind, Composite) or operator.out_overlap == "anything":
        return ""
    watched = [names[a.name] for a in operator.arguments if "Tensor" in a.type.names]
    return f"{operator.out_overlap}=[{', '.join(watched)}]"


def _takes_dtype_of_out(operator: Operator) -> bool:
    has_dtype = operator.schema.argument("dtype") is not None
    return operator.has_tag("dtype_of_out") or (operator.has_tag("factory") and has_dtype)


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
        if name.startswith("__r") and other.type.names == ("Tensor",):
            names[receiver.name], names[other.name] = "other", "self"
        key = [key_entry(operator, a, names[a.name]) for a in operator.operands]
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
