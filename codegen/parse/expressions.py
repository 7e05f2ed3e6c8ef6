"""Reads Python expressions of the YAML: what they use and call, and what they need saved."""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Collection, Mapping
from dataclasses import replace

from ..errors import CodegenError, Diagnostic, SourceLocation
from ..formula import python_text
from ..formula.fold import is_too_large, power
from ..model.expression import Call, Expression, Save, SavedValue, Use
from ..model.vocabulary import EXPRESSION_BUILTINS
from ..record import record
from .brackets import unbalanced
from .parts import PARTS, Part
from .python_subset import refused


@record
class Scope:
    """What the names of an expression may stand for."""

    values: Mapping[str, SavedValue]
    """Arguments and results, as saved when they are used whole; in the order to save them."""
    functions: Collection[str] = ()
    """Names of the functions in runtime/autograd/formulas/."""
    elsewhere: str = "a formula may call those of formulas.py"
    """Where a function may stand that does what an expression cannot."""


def read_expression(text: str, where: SourceLocation, scope: Scope) -> Expression:
    """Parse and resolve an expression.

    Raises: CodegenError at the exact character if it is no Python expression, or has a part that
    formulas do not have.
    """
    return _Reader(text, scope).read(_parse(text, where, scope), where)


def _parse(text: str, where: SourceLocation, scope: Scope) -> ast.expr:
    problem = unbalanced(text)
    if problem:
        offset, message = problem
        raise CodegenError([Diagnostic("E401", where.at(offset), message)])
    if not text.strip():
        raise CodegenError([Diagnostic("E402", where, "the formula is empty")])
    try:
        # In parentheses a formula may go on over several lines.
        tree = python_text.parse(f"({text}\n)", mode="eval")
    except SyntaxError as error:
        offset = _offset_of(error, text)
        message = f"not a Python expression: {error.msg}"
        hint = None
        if "=" in text and "==" not in text:
            hint = f"write == to compare, or let a function take the steps: {scope.elsewhere}"
        raise CodegenError([Diagnostic("E402", where.at(offset), message, hint)]) from None
    assert isinstance(tree, ast.Expression)
    return tree.body


def _number(node: ast.AST) -> complex | None:
    """The number that literals and arithmetic on them stand for; None for anything else.

    Raises: OverflowError beyond 64 bits.
    """
    if isinstance(node, ast.Constant) and isinstance(node.value, int | float | complex):
        value: complex | None = node.value
    elif isinstance(node, ast.UnaryOp):
        value = _number(node.operand)
    elif isinstance(node, ast.BinOp):
        left, right = _number(node.left), _number(node.right)
        function = _ARITHMETIC.get(type(node.op))
        if left is None or right is None or function is None:
            return None
        try:
            value = function(left, right)
        except (ZeroDivisionError, TypeError):
            return None
    else:
        return None
    if value is not None and is_too_large(value):
        raise OverflowError
    return value


_ARITHMETIC: dict[type[ast.operator], Callable[..., complex]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: power,
    ast.LShift: lambda x, y: operator.lshift(x, min(y, 64)),
}


def _offset_of(error: SyntaxError, text: str) -> int:
    """Return the offset in the text of an error in `(text)`."""
    lines = text.split("\n")
    line = (error.lineno or 1) - 1
    if line >= len(lines):  # it ends too early
        return len(text.rstrip())
    column = max(0, (error.offset or 1) - (2 if line == 0 else 1))
    return sum(len(row) + 1 for row in lines[:line]) + min(column, len(lines[line]))


@record
class _PartUse:
    """One reading of a part of a value, such as `self.size(0)`."""

    name: str
    part: Part
    start: int
    receiver_end: int
    end: int
    index: tuple[int, int] | None
    """Span of the argument in `x.size(argument)`."""


class _Reader:
    """One expression."""

    def __init__(self, text: str, scope: Scope) -> None:
        self.text = text
        self.scope = scope
        self.line_starts = [0]
        for line in f"({text}".split("\n"):
            self.line_starts.append(self.line_starts[-1] + len(line) + 1)
        self.is_ascii = text.isascii()
        self.bound: list[str] = []
        self.names: list[Use] = []
        self.attributes: list[Use] = []
        self.calls: list[Call] = []
        self.parts: list[_PartUse] = []
        self.gradients: dict[int, None] = {}
        self.uses_grads = False

    def read(self, tree: ast.expr, where: SourceLocation) -> Expression:
        """Walk the tree and put together what was found."""
        self.check_language(tree, where)
        self.visit(tree)
        values = self.scope.values
        whole = {use.name for use in self.names if use.name in values}
        saved = [values[name] for name in values if name in whole]
        wanted = {(use.name, use.part.what) for use in self.parts}
        saved += [
            replace(values[name], what=what)
            for name in values
            for what in Save
            if (name, what) in wanted and name not in whole
        ]
        order = list(values)
        saved.sort(key=lambda value: order.index(value.name))
        functions = {c.name: None for c in self.calls if not c.is_method}
        known = self.scope.functions
        return Expression(
            text=self.text.strip(),
            code=self.rewritten(whole).strip(),
            saved=tuple(saved),
            names=(*self.names, *(Use(use.name, use.start) for use in self.parts if use.name)),
            attributes=tuple(self.attributes),
            calls=tuple(self.calls),
            where=where,
            functions=tuple(name for name in functions if name in known),
            operators=tuple(
                name for name in functions if name not in known and name not in EXPRESSION_BUILTINS
            ),
            gradients=tuple(sorted(self.gradients)),
            uses_grads=self.uses_grads,
        )

    def check_language(self, tree: ast.expr, where: SourceLocation) -> None:
        """Raises: CodegenError with the place of everything that is no part of a formula."""
        found = []
        for node, name, hint in refused(tree):
            start = self.start(node)
            width = self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0) - start
            found.append(
                Diagnostic(
                    "E412",
                    where.at(start),
                    f"a formula cannot contain {name}",
                    hint or f"let a function do it: {self.scope.elsewhere}",
                    width=max(1, width),
                )
            )
        for part in ast.walk(tree):
            try:
                _number(part)
            except OverflowError:
                assert isinstance(part, ast.expr)
                place = where.at(self.start(part))
                found.append(Diagnostic("E412", place, "a number of more than 64 bits"))
                break
        if found:
            raise CodegenError(found)

    # Places

    def start(self, node: ast.expr | ast.arg | ast.keyword) -> int:
        """Offset of a node's first character in the text."""
        return self.offset(node.lineno, node.col_offset)

    def end(self, node: ast.expr) -> int:
        """Offset behind a node's last character."""
        return self.offset(node.end_lineno or node.lineno, node.end_col_offset or 0)

    def offset(self, line: int, byte_column: int) -> int:
        """Offset in the text of a place as `ast` names it (which read it after a parenthesis)."""
        start = self.line_starts[line - 1]
        if not self.is_ascii:
            row = f"({self.text}"[start:].split("\n", 1)[0]
            byte_column = len(row.encode()[:byte_column].decode(errors="ignore"))
        return start + byte_column - 1

    # The walk

    def visit(self, node: ast.AST) -> None:
        """Note what a node uses, then what its children use."""
        kind = type(node)
        if kind is ast.Name:
            self.name(node)  # type: ignore[arg-type]
        elif kind is ast.Call:
            self.call(node)  # type: ignore[arg-type]
        elif kind is ast.Attribute:
            self.attribute(node)  # type: ignore[arg-type]
        elif kind is ast.Subscript:
            self.subscript(node)  # type: ignore[arg-type]
        elif kind is ast.ListComp:
            self.comprehension(node)  # type: ignore[arg-type]
        elif kind is not ast.Constant:
            for child in ast.iter_child_nodes(node):
                self.visit(child)

    def name(self, node: ast.Name) -> None:
        """A value used whole."""
        if node.id in self.bound:
            return
        self.names.append(Use(node.id, self.start(node)))
        if node.id == "grad":
            self.gradients[0] = None
        elif node.id == "grads":
            self.uses_grads = True

    def subscript(self, node: ast.Subscript) -> None:
        """`grads[1]` is one gradient; everything else is its parts."""
        value, index = node.value, node.slice
        if (
            isinstance(value, ast.Name)
            and value.id == "grads"
            and isinstance(index, ast.Constant)
            and isinstance(index.value, int)
        ):
            self.names.append(Use("grads", self.start(value)))
            self.gradients[index.value] = None
            return
        self.visit(value)
        self.visit(index)

    def call(self, node: ast.Call) -> None:
        """A function, a method, or a part in the form of a method."""
        func = node.func
        if isinstance(func, ast.Attribute):
            if self.part(func, node):
                for argument in node.args:
                    self.visit(argument)
                return
            self.note_call(node, func.attr, self.end(func) - len(func.attr), func.value)
            self.visit(func.value)
        elif isinstance(func, ast.Name) and func.id not in self.bound:
            self.note_call(node, func.id, self.start(func))
        else:
            self.visit(func)
        for argument in node.args:
            self.visit(argument)
        for keyword in node.keywords:
            self.visit(keyword.value)

    def note_call(
        self, node: ast.Call, name: str, offset: int, receiver: ast.expr | None = None
    ) -> None:
        """Record a call for the checks of names and arity."""
        keywords = tuple(keyword.arg for keyword in node.keywords if keyword.arg)
        before = receiver.id if isinstance(receiver, ast.Name) else None
        given = tuple(each.id for each in node.args if isinstance(each, ast.Name))
        is_method = receiver is not None
        self.calls.append(Call(name, offset, len(node.args), keywords, is_method, before, given))

    def attribute(self, node: ast.Attribute) -> None:
        """A part, or an attribute of something else."""
        if self.part(node, None):
            return
        self.attributes.append(Use(node.attr, self.end(node) - len(node.attr)))
        self.visit(node.value)

    def comprehension(self, node: ast.ListComp) -> None:
        """A comprehension binds its targets; `[t.shape for t in tensors]` is a part of a list."""
        if self.part_of_list(node):
            return
        before = len(self.bound)
        for generator in node.generators:
            self.visit(generator.iter)
            self.bound += [n.id for n in ast.walk(generator.target) if isinstance(n, ast.Name)]
            for condition in generator.ifs:
                self.visit(condition)
        self.visit(node.elt)
        del self.bound[before:]

    # Parts of values

    def part(self, node: ast.Attribute, call: ast.Call | None) -> bool:
        """Record `node` (called, if `call`) if it reads a part that can be saved by itself."""
        part = PARTS.get((node.attr, call is not None))
        if part is None or (call and not part.takes(len(call.args), len(call.keywords))):
            return False
        receiver = node.value
        whole: ast.expr = call or node
        index = (self.start(call.args[0]), self.end(call.args[0])) if call and call.args else None
        name = ""
        if isinstance(receiver, ast.Name) and receiver.id not in self.bound:
            name = receiver.id
        value = self.scope.values.get(name)
        if value is None or value.what is not Save.TENSOR:
            name = ""
            if part.plain is None:
                return False
            self.visit(receiver)
        span = (self.start(whole), self.end(receiver), self.end(whole))
        self.parts.append(_PartUse(name, part, *span, index))
        return True

    def part_of_list(self, node: ast.ListComp) -> bool:
        """Record `[t.shape for t in tensors]`, which needs the shapes alone."""
        element, generator = node.elt, node.generators[0]
        call = element if isinstance(element, ast.Call) else None
        attribute = call.func if call else element
        if not (
            len(node.generators) == 1
            and not generator.ifs
            and isinstance(generator.iter, ast.Name)
            and isinstance(generator.target, ast.Name)
            and isinstance(attribute, ast.Attribute)
            and isinstance(attribute.value, ast.Name)
            and attribute.value.id == generator.target.id
        ):
            return False
        value = self.scope.values.get(generator.iter.id)
        part = PARTS.get((attribute.attr, call is not None))
        if value is None or value.what is not Save.TENSORS or part is None or part.suffix:
            return False
        if call and (call.args or call.keywords):
            return False
        span = (self.start(node), self.start(node), self.end(node))
        self.parts.append(_PartUse(value.name, part, *span, None))
        return True

    def rewritten(self, whole: set[str]) -> str:
        """Return the text with parts by their saved names, and C++ spellings by Python's."""
        edits: list[tuple[int, int, str]] = []
        for use in self.parts:
            is_saved = bool(use.name) and use.name not in whole
            if is_saved:
                local = f"{use.name}_{use.part.what.value}{use.part.suffix}"
                begin = use.start
            elif use.part.plain is None or use.start == use.receiver_end:
                continue
            else:
                local, begin = use.part.plain, use.receiver_end
            if use.index is None:
                edits.append((begin, use.end, local))
                continue
            opening, closing = ("[", "]") if is_saved else ("(", ")")
            local = local.removesuffix("()")
            edits.append((begin, use.index[0], f"{local}{opening}"))
            edits.append((use.index[1], use.end, closing))
        text = self.text
        for begin, end, replacement in sorted(edits, reverse=True):
            text = text[:begin] + replacement + text[end:]
        return text
