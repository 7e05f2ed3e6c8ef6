"""Loops of an index text: steps of a fixed count, and folds whose accumulator is a tuple."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ..formula.expressions import as_number
from ..model import index as ir
from ..model import place as places
from ..model.formula import Argument, Constant, Named
from ..model.place import Place
from . import index_tree as syntax
from .index_folds import Folds
from .index_survey import Scope, Value
from .index_tree import Binder

MOST_STEPS = 64
"""Steps of a loop with a fixed count, each of which is a statement."""


class Loops(Folds):
    """`repeat(...)`: a constant count is written out; over an index, each value is a scan."""

    def repeated(self, node: syntax.Repeat, scope: Scope) -> Value:
        """The first value of a loop."""
        binder = node.binder
        if binder is not None:
            return self.read(self.scanned(node, binder, scope)[0], scope)
        return self.steps(node, scope)[0]

    def part(self, node: syntax.Part, scope: Scope) -> Value:
        """One of the values of a loop that several statements take."""
        if node.loop not in self.loops:
            if node.loop.binder is not None:
                found = self.scanned(node.loop, node.loop.binder, scope)
            else:
                values = self.steps(node.loop, scope)
                found = [
                    self.own_statement(self.expression(value, scope), scope, name.text, node.span)
                    for value, (name, _) in zip(values, node.loop.states, strict=True)
                ]
            self.loops[node.loop] = found
        parts = self.loops[node.loop]
        if node.number >= len(parts):
            message = f"the loop has {len(parts)} values"
            return self.error("E773", node.span, message, "one for each name before the `=`")
        return self.read(parts[node.number], scope)

    # A constant count

    def steps(self, node: syntax.Repeat, scope: Scope) -> list[Value]:
        """The last values of a loop with a fixed count: statements one after the other."""
        count = self.value(node.count, scope)
        times = count.constant if isinstance(count, Place) else None
        before = scope.values
        names = [name.text for name, _ in node.states]
        values = [self.kept(self.value(each, scope), scope, name) for name, each in node.states]
        if times is None or not 1 <= times <= MOST_STEPS:
            message = f"a loop has a count from 1 to {MOST_STEPS}"
            self.error("E772", node.count.span, message, "or goes over an index: repeat(j, ...)")
            return values
        for step in range(times):
            index = {} if node.index is None else {node.index.text: places.number(step)}
            scope.values = {**before, **index, **dict(zip(names, values, strict=True))}
            values = [self.value(each, scope) for each in node.bodies]
            if step < times - 1:
                pairs = zip(node.states, values, strict=True)
                values = [self.kept(value, scope, name) for (name, _), value in pairs]
        scope.values = before
        return values

    def kept(self, value: Value, scope: Scope, name: syntax.Name) -> Value:
        """A value that may be read often, as a statement if it is more than a name."""
        if isinstance(value, Place | Argument | Constant | Named):
            return value
        return self.read(self.own_statement(value, scope, name.text, name.span), scope)

    # Over an index

    def scanned(self, node: syntax.Repeat, binder: Binder, scope: Scope) -> list[ir.Access]:
        """The last elements of one scan for each value; a scan reads earlier elements of others."""
        if binder.name in scope.indices:
            message = f"the index '{binder.name}' is bound already"
            self.error("E753", binder.span, message, "give the loop's another name")
        self.check_extent(binder)
        inner = scope.inner((binder.name,), False)
        own = tuple(map(places.index, scope.indices))
        before = (*own, places.index(binder.name) - places.number(1))
        states = [self.fresh_state(f"{scope.target}_{name.text}") for name, _ in node.states]
        starts = [self.outside(each, scope, True) for _, each in node.states]
        inner.values = dict(scope.values)
        for state, start, (name, _) in zip(states, starts, node.states, strict=True):
            access = ir.Access(state, scope.has_batch, before, start)
            inner.values[name.text] = self.read(access, inner)
        first = len(self.statements)
        made = [
            self.scan(state, body, inner) for state, body in zip(states, node.bodies, strict=True)
        ]
        made, kept, has_batch = _narrowed(made, binder.name)
        ordered = self.in_order(made, self.statements[first:], node)
        for each in ordered:
            self.add(replace(each, where=self.where.at(node.span.start)))
        last = self.extents[binder.name] - places.number(1)
        where = (*map(places.index, kept), last)
        return [
            ir.Access(state, has_batch, where, start)
            for state, start in zip(states, starts, strict=True)
        ]

    def fresh_state(self, wanted: str) -> str:
        name = self.fresh(wanted)
        self.targets[name] = (False, ())
        return name

    def scan(self, state: str, body: syntax.Node, scope: Scope) -> ir.Statement:
        """The statement of one value: the next of what was before."""
        value = as_number(self.expression(self.value(body, scope), scope))
        formula = self.formula(value, scope)
        reads = self.reads_of(scope, formula)
        return ir.Statement(state, scope.has_batch, scope.indices, None, formula, reads)

    def in_order(
        self, made: Sequence[ir.Statement], nested: Sequence[ir.Statement], node: syntax.Repeat
    ) -> list[ir.Statement]:
        """The scans, each behind those that it reads."""
        names = {each.target for each in made}
        rest, ordered = list(made), list[ir.Statement]()
        while rest:
            known = {each.target for each in ordered}
            free = [e for e in rest if not (_reads(e) & names) - known - {e.target}]
            if not free:
                break
            ordered.append(free[0])
            rest.remove(free[0])
        if rest or any(_reads(each) & names for each in nested):
            message = "the values of this loop depend on each other both ways"
            hint = "the next value may read itself and those that do not read it"
            if not rest:
                message, hint = (
                    "a fold inside this loop reads its values",
                    "give it a constant count",
                )
            self.error("E773", node.span, message, hint)
        return [*ordered, *rest]


def _reads(statement: ir.Statement) -> set[str]:
    return {access.tensor for access in statement.accesses}


def _narrowed(
    made: Sequence[ir.Statement], index: str
) -> tuple[list[ir.Statement], tuple[str, ...], bool]:
    """The scans over no more indices than they depend on, which of them, and whether over `...`."""
    names = {each.target for each in made}
    used = {index}
    has_batch = False
    for each in made:
        for read in each.reads:
            source = read.source
            if isinstance(source, ir.Access) and source.tensor in names:
                continue
            at = source.places if isinstance(source, ir.Access) else [_place_of(source)]
            used |= {name for place in at for name in place.indices}
            has_batch |= isinstance(source, ir.Access) and source.has_batch
    all_indices = made[0].indices
    keep = [number for number, name in enumerate(all_indices) if name in used]

    def narrow(read: ir.Read) -> ir.Read:
        source = read.source
        if not isinstance(source, ir.Access) or source.tensor not in names:
            return read
        at = tuple(source.places[number] for number in keep)
        return ir.Read(read.name, replace(source, has_batch=has_batch, places=at))

    found = [
        replace(
            each,
            has_batch=has_batch,
            indices=tuple(all_indices[number] for number in keep),
            reads=tuple(map(narrow, each.reads)),
        )
        for each in made
    ]
    kept = tuple(all_indices[number] for number in keep if all_indices[number] != index)
    return found, kept, has_batch


def _place_of(source: Place | ir.Test) -> Place:
    return source.place if isinstance(source, ir.Test) else source
