"""Turns the tree of an index text into statements: names are resolved, folds become statements.

Whole numbers and elements are told apart here: `i + d - radius` between brackets is a place, beside
an element it is a number of the compute type. Mistakes are collected, each at its own column.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import replace

from ..errors import CodegenError, Diagnostic, SourceLocation
from ..model import index as ir
from ..model import place as places
from ..model.place import Place
from .index_optional import NO_CASE, Case, cases
from .index_survey import Owner, Scope, binders_of, new_value
from .index_syntax import parse_syntax
from .index_tree import Binder, Equation, FoldOf, Node, Subscript, Syntax, walk_tree
from .index_values import Values


def parse_index(
    text: str,
    where: SourceLocation,
    owner: Owner,
    missing: Collection[str] = (),
    case: Case = NO_CASE,
) -> ir.IndexProgram:
    """Parse the text of an operator, for calls where these of its optional arguments are missing,
    and others are what the case says.

    Raises: CodegenError with every mistake.
    """
    reader = _Reader(_read_tree(text, where, owner), text, where, owner, missing, case)
    program = reader.program()
    if reader.diagnostics:
        raise CodegenError(reader.diagnostics)
    return program


def parse_cases(
    text: str, where: SourceLocation, owner: Owner
) -> tuple[dict[str, ir.Answers], list[tuple[tuple[ir.Answers, ...], ir.IndexProgram]]]:
    """What a text asks of a call, and each program with the answers of the calls that run it; in
    the first of all they are others than those told apart. What is missing is asked with `meta`.

    Raises: CodegenError with every mistake.
    """
    answers, together = cases(_read_tree(text, where, owner), owner.named, owner.askable)
    return answers, [
        (tuple(tuple(c.values()) for c in each), parse_index(text, where, owner, (), each[0]))
        for each in together
    ]


def _read_tree(text: str, where: SourceLocation, owner: Owner) -> Syntax:
    """The tree of a text; what updates an argument defines the tensor that this becomes.

    Raises: CodegenError with the first thing that is not the language's.
    """
    tree = parse_syntax(text, where)
    equations = []
    for each in tree.equations:
        name = each.target.text
        if name in map(new_value, owner.updated):
            message = f"'{name}' is what '{name.removeprefix('new_')}' becomes"
            place, width = where.at(each.target.span.start), len(name)
            hint = "give it another name"
            raise CodegenError([Diagnostic("E753", place, message, hint, width=width)])
        if name in owner.updated:
            each = replace(each, target=replace(each.target, text=new_value(name)))
        equations.append(each)
    return replace(tree, equations=tuple(equations))


class _Reader(Values):
    """One text."""

    # The whole text

    def program(self) -> ir.IndexProgram:
        self.check_names()
        for equation in self.tree.equations:
            self.survey(equation)
        for function in self.tree.definitions:
            self.survey_value(function.body)
        self.find_labels()
        self.resolve_extents()
        for equation in self.tree.equations:
            self.equation(equation)
        results = self.results()
        inputs = tuple(
            ir.Tensor(
                each.name,
                *self.ranks[each.name][:2],
                "int" if each.name in self.integers else "number",
            )
            for each in self.owner.arguments
            if each.kind == "tensor" and each.name in self.ranks
        )
        if self.draws:
            inputs = (*inputs, ir.Tensor(ir.DRAW_KEY, False, 1, "int"))
        if not self.is_part:
            self.check_unused(results)
        numbers = tuple(a.name for a in self.owner.arguments if a.name in self.read_numbers)
        return ir.IndexProgram(
            inputs,
            numbers,
            tuple(name for name in numbers if self.arguments[name].kind == "int"),
            tuple(self.statements),
            tuple(self.extents.items()),
            tuple(self.requirements),
            results,
            self.text.strip("\n"),
            tuple(self.draws),
            where=self.where,
        )

    def results(self) -> tuple[str, ...]:
        names = self.owner.named.of(self.tree)
        defined = {each.target.text for each in self.tree.equations}
        updated = {new_value(name): name for name in self.owner.updated}
        for name in names:
            span = self.tree.equations[-1].target.span
            if name not in defined and name in updated:
                name = updated[name]
                message = f"no statement updates '{name}', which the schema says is written"
                self.error("E783", span, message, f"write `{name}[...] = ...`, or `Tensor {name}`")
            elif name not in defined:
                self.error("E752", span, f"no statement defines the result '{name}'")
        return names

    def resolve_extents(self) -> None:
        """Find how far each index goes: as it is written, else as what it stands in."""
        for equation in self.tree.equations:
            for binder in (*equation.binders, *binders_of(equation.value)):
                self.resolve_extent(binder)
            if (updated := self.updated_by(equation)) is not None:
                self.note_extents(updated)
            self.note_all(equation.value, ())
        for function in self.tree.definitions:
            for binder in binders_of(function.body):
                self.resolve_extent(binder)
            self.note_all(function.body, tuple(each.text for each in function.parameters))

    def resolve_extent(self, binder: Binder) -> None:
        if binder.is_batch or binder.extent is None:
            return
        value = self.value(binder.extent, Scope((), False, "extent"))
        constant = value.constant if isinstance(value, Place) else None
        if constant is not None and constant < 1:
            message = f"the extent of '{binder.name}' is {constant}"
            self.error("E771", binder.extent.span, message, "an index has a first value, 0")
        if not isinstance(value, Place):
            self.error("E756", binder.extent.span, "an extent is a whole number")
        elif binder.name not in self.extents:
            self.extents[binder.name] = value
        elif self.extents[binder.name] != value:
            message = f"'{binder.name}' has the extent {self.extents[binder.name]} elsewhere"
            self.error("E757", binder.extent.span, message, "use another index")

    def note_all(self, value: Node, parameters: Sequence[str]) -> None:
        """Note extents: of arguments first, which a call tells."""
        for own in (True, False):
            for node in walk_tree(value):
                if isinstance(node, Subscript) and (node.tensor.text in self.ranks) is own:
                    self.note_extents(node, parameters)

    def check_unused(self, results: tuple[str, ...]) -> None:
        read = {access.tensor for each in self.statements for access in each.accesses}
        for equation in self.tree.equations:
            if equation.target.text not in read and equation.target.text not in results:
                self.error("E754", equation.target.span, f"'{equation.target.text}' is never used")
        for argument in self.owner.arguments:
            is_tensor = argument.kind == "tensor"
            is_read = argument.name in (self.ranks if is_tensor else self.read_numbers)
            is_needed = is_tensor and not argument.optional
            if not is_read and (is_needed or not self.owner.has_meta):
                span = self.tree.equations[0].target.span
                self.error("E754", span, f"the statements do not use '{argument.name}'")

    # Statements

    def equation(self, equation: Equation) -> None:
        name = equation.target.text
        indices = tuple(each.name for each in equation.binders if not each.is_batch)
        batches = [n for n, each in enumerate(equation.binders) if each.is_batch]
        if batches not in ([], [0]):
            self.error("E751", equation.binders[batches[-1]].span, "`...` stands first, once")
        for number, binder in enumerate(equation.binders):
            if binder.name in [each.name for each in equation.binders[:number]]:
                self.error("E753", binder.span, f"the index '{binder.name}' stands here twice")
                return
            self.check_extent(binder)
        scope = Scope(indices, bool(batches), name)
        where = self.where.at(equation.target.span.start)
        if isinstance(equation.value, FoldOf) and equation.value.function.text in (
            *ir.FOLDS,
            *self.owner.words,
        ):
            statement = self.fold(equation.value, scope, name, indices, bool(batches))
        else:
            value = self.value(equation.value, scope)
            type_ = self.type_of(value)
            formula = self.formula(self.expression(value, scope), scope)
            reads = self.reads_of(scope, formula)
            if ir.selects_wholes(formula, reads, name, self.types):
                type_ = "int"
            statement = ir.Statement(name, bool(batches), indices, None, formula, reads, type_)
        self.add(replace(statement, where=where))
        if statement.reads_itself:
            self.check_scan(statement, equation)

    def check_scan(self, statement: ir.Statement, equation: Equation) -> None:
        """A statement that reads itself goes one way along each of its indices."""
        name = statement.target
        if statement.fold is not None:
            message = f"'{name}' is read inside its own fold"
            hint = "a scan reads its earlier elements beside the fold, or without one"
            self.error("E770", equation.target.span, message, hint)
            return
        signs: dict[str, set[int]] = {}
        for access in statement.accesses:
            if access.tensor != name:
                continue
            moved = 0
            for index, place in zip(statement.indices, access.places, strict=True):
                shift = (place - places.index(index)).constant
                if shift is None:
                    message = f"'{name}' reads itself at {place}, not at {index} and a number"
                    self.error("E770", equation.value.span, message)
                    return
                if shift:
                    moved += 1
                    signs.setdefault(index, set()).add(-1 if shift < 0 else 1)
            if not moved:
                message = f"'{name}' is defined by its own element"
                self.error("E770", equation.value.span, message, "read an earlier one: i - 1")
        for index, found in signs.items():
            if len(found) > 1:
                message = f"'{name}' reads itself before and behind '{index}'"
                self.error("E770", equation.value.span, message, "a scan goes one way")
