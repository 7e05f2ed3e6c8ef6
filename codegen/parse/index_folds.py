"""Folds of an index text, and what else in an expression becomes a statement of its own."""

from __future__ import annotations

from dataclasses import replace

from ..errors import did_you_mean
from ..formula.expressions import ONE, ZERO, as_number, call, select
from ..model import index as ir
from ..model import place as places
from ..model.formula import Constant, Expression, Named, type_of
from ..model.place import Place
from . import index_tree as syntax
from .index_accesses import Accesses
from .index_survey import Scope, Value, conjuncts
from .index_tree import Binder, FoldOf, Node, Span


class Folds(Accesses):
    """Folds and truncated numbers, which become statements."""

    def add(self, statement: ir.Statement) -> None:
        self.statements.append(statement)
        self.types[statement.target] = statement.type

    def type_of(self, value: Value) -> ir.Type:
        if isinstance(value, Place):
            return "int"
        return "bool" if type_of(value) == "bool" else "number"

    def fold(
        self, node: FoldOf, scope: Scope, target: str, indices: tuple[str, ...], has_batch: bool
    ) -> ir.Statement:
        """A fold as a statement."""
        kind, name = node.function.text, None
        if kind in self.owner.words:
            kind, name = ir.NAMED, kind
        own = tuple(each.name for each in node.binders if not each.is_batch)
        over_batch = any(each.is_batch for each in node.binders)
        for binder in node.binders:
            if binder.name in scope.indices:
                message = f"the index '{binder.name}' is bound already"
                self.error("E753", binder.span, message, "give the inner one another name")
            self.check_extent(binder)
        start = self.start(node, scope)
        inner = scope.inner(own, over_batch)
        tests, condition = self.tests(node.condition, inner) if node.condition else ((), None)
        tests = (*(test for each in node.binders for test in self.bounded(each, inner)), *tests)
        inner.tests = tests
        body = self.expression(self.value(node.body, inner), inner)
        if kind in (ir.ANY, ir.ALL):
            body = body if type_of(body) == "bool" else call("ne", body, ZERO)
        else:
            body = as_number(body)
        if condition is not None and kind == ir.LAST:
            hint = "compare places: last(i where index[i] == s: ...)"
            self.error("E779", node.span, "which is the last, places tell alone", hint)
        elif condition is not None:
            body = select(condition, body, identity(kind))
        type_: ir.Type = "number"
        if kind in (ir.ARGMAX, ir.ARGMIN):
            type_ = "int"
            if not own or over_batch:
                self.error("E759", node.span, f"{kind} goes over indices")
        if kind in (ir.ANY, ir.ALL):
            type_ = "bool"
        formula = self.formula(body, inner)
        lands = [test for test in tests if test.relation == "==" and test.place.indices]
        if name and not (start and any(set(each.place.indices) & set(indices) for each in lands)):
            message = f"what '{name}' names is no scatter that goes on from an element"
            hint = f"{name}(i from x[s] where index[i] == s: ...)"
            self.error("E781", node.function.span, message, hint)
        fold = ir.Fold(kind, over_batch, own, tests, self.told(node, inner), start, name)
        reads = self.reads_of(inner, formula)
        where = self.where.at(node.span.start)
        return ir.Statement(target, has_batch, indices, fold, formula, reads, type_, where=where)

    def bounded(self, binder: Binder, scope: Scope) -> list[ir.Test]:
        """What holds of an index that goes from one whole number to another, as far as it goes."""
        found: list[Place] = []
        for node in binder.bounds or ():
            value = self.value(node, scope, integers=True)
            if not isinstance(value, Place):
                hint = "an element of an integer tensor, a size, an index: j in start[i] .. stop[i]"
                self.error("E785", node.span, "an index begins and ends at whole numbers", hint)
                value = Place()
            if binder.name in value.indices:
                message = f"where '{binder.name}' begins or ends depends on itself"
                self.error("E785", node.span, message)
            for atom in value.atoms:
                if isinstance(atom, places.Parameter):
                    self.read_numbers.add(atom.name)
            found.append(self.looked_at(value, self.extents[binder.name]))
        if not found:
            return []
        index, (first, end) = places.index(binder.name), found
        begins = [] if first == Place() else [ir.Test(index - first, ">=")]
        is_whole = end == self.extents[binder.name]
        return [*begins, *([] if is_whole else [ir.Test(end - index - places.number(1), ">=")])]

    def looked_at(self, value: Place, extent: Place) -> Place:
        """A bound of an index, which is looked at where elements of tensors tell it."""
        if not any(isinstance(atom, places.Element) for atom in value.atoms):
            return value
        return places.of(places.Function("checked", (value, extent + places.number(1))))

    def told(self, node: FoldOf, scope: Scope) -> places.Place | None:
        """What a fold tells of the element that it finds, if not which it is."""
        if node.told is None:
            return None
        value = self.value(node.told, scope, integers=True)
        if node.function.text not in (ir.ARGMAX, ir.ARGMIN) or not isinstance(value, Place):
            message = "only argmax and argmin tell something else, which is a whole number"
            self.error("E759", node.told.span, message)
            return None
        return value

    def start(self, node: FoldOf, scope: Scope) -> ir.Access | None:
        """What a fold goes on from: an element, perhaps of a statement of its own."""
        if node.start is None:
            return None
        kind = node.function.text
        if kind not in (*ir.STARTED, *self.owner.words):
            message = f"'{kind}' begins with nothing"
            begun = " ".join(each for each in ir.STARTED if each in ir.FOLDS)
            self.error("E778", node.start.span, message, f"`from` is for {begun}")
        given = scope.inner((), False)
        value = self.expression(self.value(node.start, given), given)
        if value == ZERO and kind in (ir.SUM, ir.LAST):
            return None
        source = next((s for s, a in given.all_reads().items() if a == value), None)
        if isinstance(source, ir.Access) and source.outside is None:
            return source
        return self.own_statement(as_number(value), given, "start", node.start.span)

    def nested_fold(self, node: FoldOf, scope: Scope) -> Expression:
        """A fold inside an expression: a statement of those indices that it depends on."""
        if node.function.text not in (*ir.FOLDS, *self.owner.words):
            hint = did_you_mean(node.function.text, ir.FOLDS)
            message = f"unknown fold '{node.function.text}'"
            return self.error("E760", node.function.span, message, hint)
        name = self.fresh(f"{scope.target}_{node.function.text}")
        found = self.fold(node, scope, name, scope.indices, scope.has_batch)
        used = {index for place in found.all_places for index in place.indices}
        kept = tuple(index for index in scope.indices if index in used)
        assert found.fold is not None
        reads_batch = any(access.has_batch for access in found.accesses)
        has_batch = reads_batch and scope.has_batch and not found.fold.has_batch
        self.add(replace(found, indices=kept, has_batch=has_batch))
        self.targets[name] = (has_batch, kept)
        return self.read(ir.Access(name, has_batch, tuple(map(places.index, kept))), scope)

    def truncated(self, node: syntax.CallOf, scope: Scope) -> Value:
        """`int(expression)`: a whole number that is computed, a statement of its own."""
        if len(node.operands) != 1:
            return self.error("E709", node.span, "'int' takes 1 argument")
        inner = scope.inner((), False)
        value = self.value(node.operands[0], inner, integers=True)
        if isinstance(value, Place):
            return value
        access = self.own_statement(as_number(value), inner, "int", node.span, "int")
        return places.of(places.Element(access.tensor, access.has_batch, access.places))

    def detached(self, node: syntax.CallOf, scope: Scope) -> Value:
        """`detach(expression)`: a number that is a constant to all derivatives."""
        if len(node.operands) != 1:
            return self.error("E709", node.span, "'detach' takes 1 argument")
        inner = scope.inner((), False)
        value = self.value(node.operands[0], inner)
        if isinstance(value, Place | Constant | Named):
            return value
        access = self.own_statement(as_number(value), inner, "detached", node.span)
        self.statements[-1] = replace(self.statements[-1], is_detached=True)
        return self.read(access, scope)

    def own_statement(
        self, value: Expression, scope: Scope, word: str, span: Span, type_: ir.Type = "number"
    ) -> ir.Access:
        """A part of an expression as a statement of those indices that it depends on."""
        name = self.fresh(f"{scope.target}_{word}")
        formula = self.formula(value, scope)
        reads = self.reads_of(scope, formula)
        found = ir.Statement(name, scope.has_batch, scope.indices, None, formula, reads, type_)
        used = {index for place in found.all_places for index in place.indices}
        kept = tuple(index for index in scope.indices if index in used)
        has_batch = scope.has_batch and any(access.has_batch for access in found.accesses)
        where = self.where.at(span.start)
        self.add(replace(found, indices=kept, has_batch=has_batch, where=where))
        self.targets[name] = (has_batch, kept)
        return ir.Access(name, has_batch, tuple(map(places.index, kept)))

    def tests(self, node: Node, scope: Scope) -> tuple[tuple[ir.Test, ...], Expression | None]:
        """Conditions on whole numbers, and what else there is."""
        tests: list[ir.Test] = []
        others: list[Expression] = []
        for part in conjuncts(node):
            value = self.value(part, scope, integers=True)
            source = next((s for s, a in scope.all_reads().items() if a == value), None)
            if isinstance(source, ir.Test):
                tests.append(source)
            else:
                others.append(self.expression(value, scope))
        rest = None
        for other in others:
            condition = other if type_of(other) == "bool" else call("ne", other, ZERO)
            rest = condition if rest is None else call("logical_and", rest, condition)
        return tuple(tests), rest

    def fresh(self, wanted: str) -> str:
        taken = {*self.targets, *self.arguments, *self.bound}
        name, number = wanted, 1
        while name in taken:
            number += 1
            name = f"{wanted}{number}"
        return name


def identity(kind: str) -> Expression:
    """What a fold gives of nothing, as far as that can be folded with more."""
    match kind:
        case ir.PROD:
            return ONE
        case ir.MAX | ir.ARGMAX | ir.LOGSUMEXP:
            return call("neg", Named("inf"))
        case ir.MIN | ir.ARGMIN:
            return Named("inf")
        case ir.ANY:
            return Constant(False)
        case ir.ALL:
            return Constant(True)
    return ZERO
