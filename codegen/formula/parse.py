"""Turns the text of a formula into the intermediate representation, or says what is wrong."""

from __future__ import annotations

import ast
from collections.abc import Sequence

from ..errors import CodegenError, Diagnostic, SourceLocation, did_you_mean
from ..model.formula import (
    Argument,
    Constant,
    Expression,
    Formula,
    IsNone,
    Named,
    depth,
    type_of,
    written_size,
)
from . import python_text
from .expressions import ZERO, as_condition, call, select
from .fold import exceeds, is_too_large
from .functions import Functions
from .primitives import CONSTANTS, FUNCTIONS, PRIMITIVES

_BINARY = {
    ast.Add: "add",
    ast.Sub: "sub",
    ast.Mult: "mul",
    ast.Div: "div",
    ast.FloorDiv: "floor_divide",
    ast.Mod: "remainder",
    ast.Pow: "pow",
    ast.BitAnd: "bitwise_and",
    ast.BitOr: "bitwise_or",
    ast.BitXor: "bitwise_xor",
    ast.LShift: "left_shift",
    ast.RShift: "right_shift",
}
_ON_TRUTH_VALUES = {
    "bitwise_and": "logical_and",
    "bitwise_or": "logical_or",
    "bitwise_xor": "ne",
    "bitwise_not": "logical_not",
}
_COMPARISON = {
    ast.Lt: "lt",
    ast.LtE: "le",
    ast.Gt: "gt",
    ast.GtE: "ge",
    ast.Eq: "eq",
    ast.NotEq: "ne",
}
_STATEMENTS: dict[type[ast.stmt], str] = {
    ast.If: "write `a if condition else b`",
    ast.Return: "write the value alone",
    ast.Assign: "end with the name alone",
    ast.AugAssign: "every step has a name of its own: `y = x + 1`",
    ast.For: "a formula has no loops; a dispatch kernel may",
    ast.While: "a formula has no loops; a dispatch kernel may",
}
"""What to write instead of Python's statements."""
_SEVERAL = "a formula gives one number; what needs several is a composite or a dispatch kernel"
_EXPRESSIONS: dict[type[ast.expr], str] = {
    ast.Tuple: _SEVERAL,
    ast.List: _SEVERAL,
    ast.Subscript: _SEVERAL,
}
"""What to do instead of expressions that formulas do not have."""
DEEPEST = 100
"""Operations that follow from one another, through all names."""
MOST = 1_000
"""Operations and operands of a formula were it written without names."""
TOO_LARGE = f"this stands for more than {MOST} operations, or more than {DEEPEST} in a row"
_DIVIDE = "a composite may call several operators"
_NOWHERE = SourceLocation("<formula>", 1, 1)
NONE: Functions = {}


def parse_formula(
    text: str,
    where: SourceLocation = _NOWHERE,
    arguments: Sequence[Argument] = (),
    functions: Functions = NONE,
    results: int = 1,
) -> Formula:
    """Parse an expression, or lines `name = expression` that end in one.

    functions: what it may call besides the primitives. results: how many expressions, divided by
    commas, it ends in.
    Raises: CodegenError with every mistake of the formula, each at its own column.
    """
    parser = _Parser(text, where, arguments, functions, results)
    outputs = parser.parse()
    if parser.diagnostics:
        raise CodegenError(parser.diagnostics)
    names = tuple(parser.names.items())
    return Formula(tuple(arguments), outputs, names, text.strip(), where)


class _Parser:
    """One formula. A mistake is recorded, and 0 stands for what could not be read."""

    def __init__(
        self,
        text: str,
        where: SourceLocation,
        arguments: Sequence[Argument],
        functions: Functions,
        results: int,
    ) -> None:
        self.text = text
        self.where = where
        self.functions = functions
        self.results = results
        self.arguments = {argument.name: argument for argument in arguments}
        self.names: dict[str, Expression] = {}
        self.targets: dict[str, ast.Name] = {}
        self.read: set[str] = set()
        self.diagnostics: list[Diagnostic] = []
        self.indent = len(text) - len(text.lstrip())
        self.lines = [0]
        for line in text[self.indent :].splitlines(keepends=True):
            self.lines.append(self.lines[-1] + len(line))

    # Places

    def offset(self, line: int, byte_column: int) -> int:
        """Offset in the text of a place that `ast` names by line and UTF-8 byte."""
        start = self.indent + self.lines[min(line, len(self.lines)) - 1]
        row = self.text[start:].split("\n", 1)[0]
        return start + len(row.encode()[:byte_column].decode(errors="ignore"))

    def error(
        self, code: str, node: ast.expr | ast.stmt, message: str, hint: str | None = None
    ) -> Expression:
        start = self.offset(node.lineno, node.col_offset)
        end = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)
        width = max(1, end - start) if node.end_lineno == node.lineno else 1
        place = self.where.at(start)
        self.diagnostics.append(Diagnostic(code, place, message, hint, width=width))
        return ZERO

    def syntax_error(self, problem: SyntaxError) -> Expression:
        column = max(0, (problem.offset or 1) - 1)
        place = self.where.at(self.offset(problem.lineno or 1, column))
        message = f"this is not a formula: {problem.msg}"
        self.diagnostics.append(Diagnostic("E701", place, message))
        return ZERO

    # Statements

    def parse(self) -> tuple[Expression, ...]:
        none = (ZERO,) * self.results
        source = self.text[self.indent :].rstrip()
        if not source:
            where = self.where
            self.diagnostics.append(Diagnostic("E702", where, "the formula is empty"))
            return none
        try:
            tree = python_text.parse(source)
        except SyntaxError as problem:
            self.syntax_error(problem)
            return none
        assert isinstance(tree, ast.Module)
        for statement in tree.body[:-1]:
            self.binding(statement)
        last = tree.body[-1]
        if not isinstance(last, ast.Expr):
            hint = _STATEMENTS.get(type(last))
            self.error("E703", last, "the last line must be the result expression", hint)
            return none
        found = [self.expression(each) for each in self.last_values(last.value)]
        if any(depth(each) > DEEPEST or written_size(each) > MOST for each in found):
            self.error("E715", last, TOO_LARGE, _DIVIDE)
            return none
        for name, target in self.targets.items():
            if name not in self.read:
                self.error("E706", target, f"'{name}' is never used")
        return tuple(found)

    def last_values(self, node: ast.expr) -> list[ast.expr]:
        """The expressions of the last line: one for each result."""
        if self.results == 1:
            return [node]
        given = node.elts if isinstance(node, ast.Tuple) else [node]
        if len(given) != self.results:
            message = f"the last line must have {self.results} values, divided by commas"
            self.error("E703", node, f"{message}: one for each result")
        return given

    def binding(self, statement: ast.stmt) -> None:
        if not isinstance(statement, ast.Assign):
            what = "only `name = expression` lines may come before the result"
            self.error("E704", statement, what, _STATEMENTS.get(type(statement)))
            return
        target = statement.targets[0]
        if len(statement.targets) != 1 or not isinstance(target, ast.Name):
            self.error("E704", statement, "the left side must be one name")
            return
        value = self.expression(statement.value)
        if depth(value) > DEEPEST or written_size(value) > MOST:
            self.error("E715", statement.value, TOO_LARGE, _DIVIDE)
            value = ZERO
        if target.id in self.arguments or target.id in self.names:
            what = "an argument" if target.id in self.arguments else "defined above"
            self.error("E705", target, f"'{target.id}' is already {what}")
            return
        self.names[target.id] = value
        self.targets[target.id] = target

    # Expressions

    def expression(self, node: ast.expr) -> Expression:
        match node:
            case ast.Constant():
                return self.literal(node)
            case ast.Name():
                return self.name(node)
            case ast.BinOp():
                return self.binary(node)
            case ast.UnaryOp():
                return self.unary(node)
            case ast.BoolOp():
                return self.connective(node)
            case ast.Compare():
                return self.comparison(node)
            case ast.IfExp():
                parts = [self.expression(part) for part in (node.test, node.body, node.orelse)]
                return select(*parts)
            case ast.Call():
                return self.call(node)
        kind = type(node).__name__.lower()
        usual = "a formula has arguments, numbers, operators, conditionals and primitives"
        hint = _EXPRESSIONS.get(type(node), usual)
        return self.error("E701", node, f"{kind} has no meaning in a formula", hint)

    def literal(self, node: ast.Constant) -> Expression:
        if isinstance(node.value, bool | int | float | complex):
            if is_too_large(node.value):
                return self.too_large(node)
            return Constant(node.value)
        if node.value is None:
            hint = "compare with `is None` or `is not None`"
            return self.error("E711", node, "None is not a value", hint)
        return self.error("E712", node, f"{node.value!r} is not a number")

    def too_large(self, node: ast.expr) -> Expression:
        hint = "write a float, such as 1e30; what exceeds them all is `inf`"
        return self.error("E714", node, "a number of more than 64 bits", hint)

    def name(self, node: ast.Name) -> Expression:
        if node.id in self.names:
            self.read.add(node.id)
            return self.names[node.id]
        if node.id in self.arguments:
            return self.arguments[node.id]
        if node.id in CONSTANTS:
            return Named(node.id)
        if node.id in FUNCTIONS:
            hint = f"call it: {node.id}(...)"
            return self.error("E707", node, f"'{node.id}' is a function", hint)
        known = [*self.names, *self.arguments, *CONSTANTS]
        hint_text = did_you_mean(node.id, known) or "known here: " + ", ".join(known)
        return self.error("E707", node, f"unknown name '{node.id}'", hint_text)

    def binary(self, node: ast.BinOp) -> Expression:
        operands = (self.expression(node.left), self.expression(node.right))
        name = _BINARY.get(type(node.op))
        if name is None:
            return self.error("E701", node, "this operator has no meaning in a formula")
        if all(type_of(operand) == "bool" for operand in operands):
            name = _ON_TRUTH_VALUES.get(name, name)
        if exceeds(name, *operands):
            return self.too_large(node)
        return call(name, *operands)

    def unary(self, node: ast.UnaryOp) -> Expression:
        operand = self.expression(node.operand)
        match node.op:
            case ast.USub():
                return call("neg", operand)
            case ast.UAdd():
                return operand
            case ast.Not():
                return call("logical_not", operand)
        is_truth = type_of(operand) == "bool"
        return call("logical_not" if is_truth else "bitwise_not", operand)

    def connective(self, node: ast.BoolOp) -> Expression:
        name = "logical_and" if isinstance(node.op, ast.And) else "logical_or"
        result = as_condition(self.expression(node.values[0]))
        for value in node.values[1:]:
            result = call(name, result, self.expression(value))
        return result

    def comparison(self, node: ast.Compare) -> Expression:
        if len(node.ops) > 1:
            for part in (node.left, *node.comparators):
                self.expression(part)
            hint = "write `a < b and b < c`"
            return self.error("E710", node, "a comparison cannot be chained", hint)
        if isinstance(node.ops[0], ast.Is | ast.IsNot):
            return self.identity(node, isinstance(node.ops[0], ast.IsNot))
        operands = (self.expression(node.left), self.expression(node.comparators[0]))
        name = _COMPARISON.get(type(node.ops[0]))
        if name is None:
            return self.error("E701", node, "this comparison has no meaning in a formula")
        return call(name, *operands)

    def identity(self, node: ast.Compare, negated: bool) -> Expression:
        right = node.comparators[0]
        if not (isinstance(right, ast.Constant) and right.value is None):
            hint = "use == for values"
            return self.error("E711", node, "`is` compares with None only", hint)
        operand = self.expression(node.left)
        if not (isinstance(operand, Argument) and operand.optional):
            message = "only an optional argument may be compared with None"
            return self.error("E711", node.left, message)
        test = IsNone(operand)
        return call("logical_not", test) if negated else test

    def call(self, node: ast.Call) -> Expression:
        operands = [self.expression(argument) for argument in node.args]
        if not isinstance(node.func, ast.Name):
            attribute = node.func.attr if isinstance(node.func, ast.Attribute) else ""
            written = attribute if attribute in FUNCTIONS else "exp"
            hint = f"primitives are called by name: {written}(x), not x.{written}()"
            return self.error("E701", node.func, "only primitives may be called", hint)
        name = node.func.id
        own = self.functions.get(name)
        if name not in FUNCTIONS and own is None:
            close = did_you_mean(name, [*FUNCTIONS, *self.functions])
            others = "a formula calls primitives and the pointwise operators above it"
            hint = f"{close} {others}" if close else others
            return self.error("E708", node.func, f"unknown function '{name}'", hint)
        if node.keywords:
            return self.error("E709", node, f"'{name}' takes no keyword arguments")
        if own:
            if own.takes(len(operands)):
                return own(operands)
            message = f"'{name}' takes {own.arity}, got {len(operands)}"
            return self.error("E709", node, message)
        arity = 3 if name == "where" else PRIMITIVES[name].arity
        if len(operands) != arity:
            count = f"{arity} argument" + ("s" if arity > 1 else "")
            return self.error("E709", node, f"'{name}' takes {count}, got {len(operands)}")
        return select(*operands) if name == "where" else call(name, *operands)
