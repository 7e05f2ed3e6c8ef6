"""Reads derivatives.yaml: one Derivative per entry, its formulas resolved against the operators."""

from __future__ import annotations

import re
from collections.abc import Collection
from collections.abc import Mapping as MappingType
from dataclasses import replace

from ..errors import CodegenError, SourceLocation, did_you_mean
from ..model.derivative import (
    Derivative,
    Gradient,
    GradientKind,
    SecondGradients,
    Tangent,
    TangentKind,
)
from ..model.expression import Expression, SavedValue
from ..model.operator import Operator
from ..model.program import Program
from ..model.schema import Schema
from .expressions import Scope, read_expression
from .keys import DERIVATIVE_KEYS
from .places import NodePlaces
from .report import Report
from .schema import base_name_of, parse_schema
from .scopes import argument_scope, result_scope
from .values import described, text_of
from .yaml_nodes import AnyNode, Mapping, Scalar, Sequence

_NOT_IMPLEMENTED = re.compile(r"""not_implemented\(\s*(?:"([^"]*)"|'([^']*)')\s*\)""")
_NAME = re.compile(r"""\bname: *["']?(?:\w+::)?(\w+)""")
_OWN_KEYS = frozenset(key.name for key in DERIVATIVE_KEYS)
_FLAGS = {"true": True, "false": False}
_PLAIN_GRADIENTS = {
    "auto": GradientKind.AUTO,
    "non_differentiable": GradientKind.NON_DIFFERENTIABLE,
    "refused": GradientKind.REFUSED,
}
_PLAIN_TANGENTS = {
    "auto_linear": TangentKind.AUTO_LINEAR,
    "auto_element_wise": TangentKind.AUTO_ELEMENT_WISE,
}


class DerivativeReader:
    """Reads all entries of one file in order: it numbers the nodes of each base name.

    broken: base names of operators that were already reported.
    """

    def __init__(
        self,
        program: Program,
        functions: Collection[str],
        broken: Collection[str],
        report: Report,
    ) -> None:
        self.program = program
        self.functions = functions
        self.broken = broken
        self.report = report
        self.node_numbers: dict[str, int] = {}

    def entry(self, node: AnyNode) -> Derivative | None:
        """Read one entry; None if it names no operator or has no name."""
        if not isinstance(node, Mapping):
            message = f"an entry must be a mapping, got {described(node)}"
            self.report.add("E105", node.where, message)
            return None
        name = text_of(node.get("name"), "'name'", self.report)
        if name is None:
            if "name" not in node.keys:
                self.report.add("E108", node.where, "the entry has no 'name'")
            return None
        self.check_first(node)
        operator = self.operator(name)
        if operator is None:
            return None
        gradients, tangents = self.formulas(node, operator)
        flags = node.get("output_differentiability")
        return Derivative(
            operator=operator.name,
            node=self.node_name(operator),
            gradients=gradients,
            tangents=tangents,
            output_differentiability=self.flags(flags) if flags else None,
            sees_missing=self.sees_missing(node),
            second_gradients=self.second_gradients(node),
            saves_operands=self.saves_operands(node),
            schema=self.schema(name),
            where=name.where,
            places=NodePlaces(node),
        )

    def passed(self, derivative: Derivative) -> Derivative:
        """One that was read before, with the number that its node has now."""
        operator = self.program.operator(derivative.operator)
        assert operator is not None
        return replace(derivative, node=self.node_name(operator))

    @property
    def unread(self) -> frozenset[str]:
        """Base names of operators whose entries are no YAML."""
        return frozenset(name for text in self.report.unreadable for name in _NAME.findall(text))

    def check_first(self, node: Mapping) -> None:
        """`name` is the first key."""
        if next(iter(node.keys)) != "name":
            self.report.add("E110", node.keys["name"].where, "key 'name' must come first")

    def node_name(self, operator: Operator) -> str:
        """Name the node's class: `MulBackward0`, then `MulBackward1` for the next overload."""
        words = [word for word in operator.base_name.split("_") if word]
        camel = "".join(word[0].upper() + word[1:] for word in words)
        number = self.node_numbers.get(camel, 0)
        self.node_numbers[camel] = number + 1
        return f"{camel}Backward{number}"

    # The operator

    def operator(self, name: Scalar) -> Operator | None:
        """Find the operator that `name` speaks of: by full name, or the only overload of a base."""
        text = base_name_of(name.text).rpartition("::")[2]
        found = self.program.operator(text)
        if found is not None:
            return found
        base_name = text.split(".")[0]
        family = self.program.families.get(base_name, ())
        if len(family) == 1 and "." not in text:
            return family[0]
        if base_name not in self.broken:
            self.unknown_operator(name, text, family)
        return None

    def unknown_operator(self, name: Scalar, text: str, family: tuple[Operator, ...]) -> None:
        """Report that there is no such operator, or that the name could be several."""
        if family:
            names = ", ".join(operator.name for operator in family)
            self.report.add(
                "E403",
                name.where,
                f"'{text}' names no overload",
                hint=f"overloads: {names}",
                width=len(text),
            )
            return
        if self.program.base and self.program.base.overloads(text.split(".")[0]):
            hint: str | None = "an operator of the base package has its derivative there"
        else:
            hint = did_you_mean(text, [operator.name for operator in self.program.operators])
        message = f"derivative for unknown operator '{text}'"
        self.report.add("E403", name.where, message, hint=hint, width=len(text))

    def schema(self, name: Scalar) -> Schema | None:
        """Read the whole schema, if `name` gives one."""
        if "(" not in name.text:
            return None
        try:
            return parse_schema(name.text, name.where)
        except CodegenError as error:
            self.report.extend(error.diagnostics)
            return None

    # The formulas

    def formulas(
        self, node: Mapping, operator: Operator
    ) -> tuple[tuple[Gradient, ...], tuple[Tangent, ...]]:
        """Read every key that names arguments or results."""
        schema = operator.schema
        results = result_scope(schema)
        scope = Scope({**argument_scope(schema), **results}, self.functions)
        gradients: list[Gradient] = []
        tangents: list[Tangent] = []
        for key in node.keys.values():
            if key.text in _OWN_KEYS:
                continue
            names = tuple(name.strip() for name in key.text.split(","))
            value = text_of(node.values[key.text], f"'{key.text}'", self.report)
            if not self.check_names(key, names, schema, results) or value is None:
                continue
            if schema.argument(names[0]):
                gradients.append(self.gradient(names, value, scope))
            else:
                tangents.append(self.tangent(names, value, scope))
        return tuple(gradients), tuple(tangents)

    def check_names(
        self,
        key: Scalar,
        names: tuple[str, ...],
        schema: Schema,
        results: MappingType[str, SavedValue],
    ) -> bool:
        """Every name of a key is an argument, or every one is a result."""
        arguments = [argument.name for argument in schema.arguments]
        is_good = True
        for name in names:
            if name in arguments or name in results:
                continue
            is_good = False
            hint = did_you_mean(name, [*arguments, *results, *_OWN_KEYS])
            where = key.where.at(max(0, key.text.find(name)))
            message = f"'{schema.name}' has no argument or result '{name}'"
            self.report.add("E404", where, message, hint=hint, width=max(1, len(name)))
        if is_good and len({name in arguments for name in names}) > 1:
            message = "a key names either arguments or results, not both"
            self.report.add("E404", key.where, message)
            return False
        return is_good

    def gradient(self, names: tuple[str, ...], value: Scalar, scope: Scope) -> Gradient:
        """Read the gradient of one key; without an expression if the formula is wrong."""
        text = value.text.strip()
        if text in _PLAIN_GRADIENTS:
            return Gradient(names, _PLAIN_GRADIENTS[text], where=value.where)
        missing = _NOT_IMPLEMENTED.fullmatch(text)
        if missing:
            message = missing[1] or missing[2]
            kind = GradientKind.NOT_IMPLEMENTED
            return Gradient(names, kind, message=message, where=value.where)
        expression = self.expression(value, scope)
        return Gradient(names, GradientKind.FORMULA, expression, where=value.where)

    def tangent(self, names: tuple[str, ...], value: Scalar, scope: Scope) -> Tangent:
        """Read the forward-mode derivative of one key."""
        text = value.text.strip()
        if text in _PLAIN_TANGENTS:
            return Tangent(names, _PLAIN_TANGENTS[text], where=value.where)
        missing = _NOT_IMPLEMENTED.fullmatch(text)
        if missing:
            message = missing[1] or missing[2]
            kind = TangentKind.NOT_IMPLEMENTED
            return Tangent(names, kind, message=message, where=value.where)
        expression = self.expression(value, scope)
        return Tangent(names, TangentKind.FORMULA, expression, where=value.where)

    def expression(self, value: Scalar, scope: Scope) -> Expression | None:
        """Read a formula, or report why it is none."""
        where: SourceLocation = value.where
        try:
            return read_expression(value.text, where, scope)
        except CodegenError as error:
            self.report.extend(error.diagnostics)
            return None

    def sees_missing(self, node: Mapping) -> bool:
        """Read `missing_gradients`, whose only word is `none`."""
        scalar = text_of(node.get("missing_gradients"), "'missing_gradients'", self.report)
        if scalar is not None and scalar.text.strip() != "none":
            message = f"'missing_gradients' can only be none, got '{scalar.text}'"
            self.report.add("E430", scalar.where, message, hint="leave it out to get zeros")
        return scalar is not None

    def second_gradients(self, node: Mapping) -> SecondGradients | None:
        """Read `second_gradients`: zero or none."""
        scalar = text_of(node.get("second_gradients"), "'second_gradients'", self.report)
        if scalar is None:
            return None
        try:
            return SecondGradients(scalar.text.strip())
        except ValueError:
            message = f"'second_gradients' can only be zero or none, got '{scalar.text}'"
            self.report.add("E431", scalar.where, message)
            return None

    def saves_operands(self, node: Mapping) -> bool:
        """Read `saves`, whose only word is `operands`."""
        scalar = text_of(node.get("saves"), "'saves'", self.report)
        if scalar is not None and scalar.text.strip() != "operands":
            message = f"'saves' can only be operands, got '{scalar.text}'"
            self.report.add("E432", scalar.where, message, hint="leave it out to save what is less")
        return scalar is not None

    def flags(self, node: AnyNode) -> tuple[bool, ...] | None:
        """Read `[True, False]`."""
        if isinstance(node, Sequence):
            texts = [item.text.lower() if isinstance(item, Scalar) else "" for item in node.items]
            if all(text in _FLAGS for text in texts):
                return tuple(_FLAGS[text] for text in texts)
        message = "'output_differentiability' must be a list of True and False"
        self.report.add("E106", node.where, message)
        return None
