"""How schema types, defaults and names are spelled in Python: the one place that knows."""

from __future__ import annotations

import ast
import io
import keyword
import math
import tokenize
from collections.abc import Iterable

from ..model.operator import Operator
from ..model.roles import Role
from ..model.schema import Argument, Default, Return, Symbol, Type
from . import collisions

_SCALARS = {
    "Tensor": "Tensor",
    "Scalar": "Number",
    "int": "int",
    "SymInt": "int",
    "float": "float",
    "bool": "bool",
    "str": "str",
    "ScalarType": "dtype",
    "Layout": "layout",
    "Device": "device | str | int",
    "MemoryFormat": "memory_format",
    "Generator": "Generator",
}

_SYMBOLS = {
    "contiguous_format": "contiguous_format",
    "preserve_format": "preserve_format",
    "channels_last": "channels_last",
    "long": "int64",
    "Mean": "'mean'",
    "Sum": "'sum'",
}


def annotation(type_: Type, is_result: bool = False) -> str:
    """The Python annotation of a schema type, over the names that the generated modules import."""
    element = type_.element
    text = " | ".join(_SCALARS.get(name, "Any") for name in element.names)
    if element.is_optional:
        text += " | None"
    if type_.is_list:
        if is_result:
            text = f"tuple[{text}, ...]"
        elif type_.list_size is not None and element.base in ("int", "SymInt", "float"):
            text = f"{text} | Sequence[{text}]"
        else:
            text = f"Sequence[{text}]"
    return f"{text} | None" if type_.is_optional else text


def result_annotation(returns: tuple[Return, ...], named_tuple: str | None = None) -> str:
    """The annotation of what a schema returns."""
    if not returns:
        return "None"
    if len(returns) == 1:
        return annotation(returns[0].type, is_result=True)
    if named_tuple:
        return named_tuple
    return f"tuple[{', '.join(annotation(r.type, is_result=True) for r in returns)}]"


def default(value: Default) -> str:
    """A default as a Python expression."""
    return literal(value.value)


def literal(value: object) -> str:
    """A schema literal as a Python expression."""
    if isinstance(value, Symbol):
        return _SYMBOLS.get(value.name, value.name)
    if isinstance(value, tuple):
        return tuple_of(map(literal, value))
    if isinstance(value, str):
        return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
    if isinstance(value, float) and not math.isfinite(value):
        return f'float("{value}")'
    return repr(value)


def tuple_of(items: Iterable[str]) -> str:
    """A tuple of expressions; of one, with its comma."""
    listed = list(items)
    return f"({listed[0]},)" if len(listed) == 1 else f"({', '.join(listed)})"


def parameter(argument: Argument) -> str:
    """The name of an argument as a Python parameter of a public function."""
    name = argument.name
    return name + "_" if keyword.iskeyword(name) else name


def first_parameter(operator: Operator) -> str:
    """What users call the argument `self`: `input` where there is a function."""
    return "input" if operator.has_function else "self"


_ROLES = {
    Role.TENSOR: "tensor",
    Role.NUMBER: "number",
    Role.NUMBER_ALONE: "scalar",
    Role.TENSORS: "tensors",
    Role.SCALAR: "scalar",
    Role.GENERATOR: "generator",
    Role.RAW: "raw",
}


def kind_of_role(role: Role) -> str:
    """What the runtime calls a role, among operands or among what is none."""
    return _ROLES[role]


def operand_kind(operator: Operator, argument: Argument) -> str:
    """What the dispatcher calls an operand; with '?' if it may be absent."""
    role = operator.role(argument)
    may_be_absent = argument.type.is_optional and role in (Role.TENSOR, Role.NUMBER)
    return kind_of_role(role) + ("?" if may_be_absent else "")


def argument_kind(operator: Operator, argument: Argument) -> str:
    """What a backend makes of an argument: 'operand', 'scalar', 'generator' or 'raw'."""
    role = operator.role(argument)
    return "operand" if role.is_operand else kind_of_role(role)


def only_tensors(type_: Type) -> str:
    """The kind of what holds tensors alone, in `errors.wrong_argument_type`'s words; or ''."""
    if str(type_) == "Tensor[]":
        return "tensors"
    if type_.is_list or type_.names != ("Tensor",):
        return ""
    return "tensor?" if type_.is_optional else "tensor"


def indent(text: str, spaces: int = 4) -> str:
    """Every line but the first indented, for text inside a docstring."""
    lines = text.rstrip().split("\n")
    pad = " " * spaces
    return "\n".join(
        line if i == 0 or not line.strip() else pad + line for i, line in enumerate(lines)
    )


def docstring(text: str) -> str:
    """Text that may stand between triple quotes."""
    return text.replace("\\", "\\\\").replace('"""', "'''")


def locals_of(operator: Operator) -> dict[str, str]:
    """What arguments are called in the code of nodes, where they must not hide anything."""
    names = {argument.name: parameter(argument) for argument in operator.arguments}
    own = {f"{what}_{each}" for each in names for what in ("grad", "needs")}
    return collisions.renamed(names, collisions.in_nodes() | own)


def names_tuple(names: Iterable[str]) -> str:
    """Names as a tuple of strings."""
    return literal(tuple(names))


def expression_text(tree: ast.AST) -> str:
    """The text of a Python expression as the formatter would leave it: in double quotes."""
    text = ast.unparse(tree)
    if "'" not in text:
        return text
    tokens = []
    for token in tokenize.generate_tokens(io.StringIO(text).readline):
        quoted = token.type == tokenize.STRING and token.string.startswith("'")
        if quoted and '"' not in token.string:
            token = token._replace(string=f'"{token.string[1:-1]}"')
        tokens.append(token)
    return tokenize.untokenize(tokens)
