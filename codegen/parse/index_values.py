"""Expressions of an index text: whole numbers and elements are told apart."""

from __future__ import annotations

from ..errors import did_you_mean
from ..formula.expressions import call, select
from ..formula.primitives import CONSTANTS, FUNCTIONS, PRIMITIVES
from ..model import index as ir
from ..model import place as places
from ..model.formula import Constant, Expression, Named, type_of
from ..model.place import Place
from . import index_tree as syntax
from .index_loops import Loops
from .index_survey import COMPARISONS, PLACE_FUNCTIONS, Scope, Value
from .index_tree import FoldOf, Node, Subscript, walk_tree

_OPERATORS = {
    "+": "add", "-": "sub", "*": "mul", "/": "div", "//": "floor_divide", "%": "remainder",
    "**": "pow", "&": "bitwise_and", "|": "bitwise_or", "^": "bitwise_xor", "<<": "left_shift",
    ">>": "right_shift", "<": "lt", "<=": "le", ">": "gt", ">=": "ge", "==": "eq", "!=": "ne",
    "neg": "neg", "not": "logical_not", "and": "logical_and", "or": "logical_or",
    "~": "bitwise_not",
}  # fmt: skip


class Values(Loops):
    """Expressions: whole numbers where all operands are, else formulas."""

    def value(self, node: Node, scope: Scope, integers: bool = False) -> Value:
        """What a node stands for; integers: elements of integer tensors are whole numbers."""
        match node:
            case syntax.Number(value):
                return places.number(value) if isinstance(value, int) else Constant(value)
            case syntax.Name():
                return self.name(node, scope)
            case syntax.Word():
                message = "a word stands in comparisons with an argument of type str alone"
                return self.error("E780", node.span, message, 'reduce == "sum"')
            case syntax.Operation():
                return self.operation(node, scope, integers)
            case syntax.IsMissing():
                return self.missing(node)
            case FoldOf():
                return self.nested_fold(node, scope)
            case syntax.Repeat():
                return self.repeated(node, scope)
            case syntax.Part():
                return self.part(node, scope)
            case syntax.CallOf():
                return self.call(node, scope, integers)
            case Subscript():
                return self.access(node, scope, integers and node.tensor.text in self.integers)

    def name(self, node: syntax.Name, scope: Scope) -> Value:
        name = node.text
        if name in scope.values:
            return scope.values[name]
        if name in scope.indices:
            return places.index(name)
        if name in self.equations:
            return self.access(Subscript(node, False, (), None, node.span), scope, False)
        argument = self.arguments.get(name)
        if argument is None:
            return Named(name) if name in CONSTANTS else self.unknown(node, scope)
        if argument.kind == "tensor":
            hint = f"write {name}[...], or its places: {name}[i, j]"
            return self.error("E761", node.span, f"'{name}' is a tensor: say which element", hint)
        self.read_numbers.add(name)
        return places.of(places.Parameter(name)) if argument.kind == "int" else argument

    def unknown(self, node: syntax.Name, scope: Scope) -> Value:
        name = node.text
        if name in self.bound:
            hint = "it is bound elsewhere; fold over it here, or name it on the left of the `=`"
            return self.error("E762", node.span, f"the index '{name}' is not bound here", hint)
        if name in self.absent:
            hint = f"ask first: `... if {name} is not None else 0`"
            return self.error("E775", node.span, f"'{name}' may be None here", hint)
        if name in (*FUNCTIONS, *ir.FOLDS, *self.functions):
            return self.error("E707", node.span, f"'{name}' is a function", f"call it: {name}(...)")
        known = [*scope.values, *scope.indices, *self.equations, *self.arguments, *CONSTANTS]
        hint = did_you_mean(name, known) or "known here: " + ", ".join(known)
        return self.error("E707", node.span, f"unknown name '{name}'", hint)

    def missing(self, node: syntax.IsMissing) -> Value:
        name = node.argument.text
        if name not in self.owner.optional:
            message = "only an optional argument may be compared with None"
            return self.error("E711", node.span, message)
        return Constant(name in self.absent)

    # Operations

    def operation(self, node: syntax.Operation, scope: Scope, integers: bool) -> Value:
        if node.symbol == "==" and (landing := self.landing(node, scope)) is not None:
            return self.read(landing, scope)
        whole = integers or (node.symbol in COMPARISONS and self.compares_places(node))
        values = [self.value(each, scope, whole) for each in node.operands]
        if all(isinstance(value, Place) for value in values):
            found = self.whole(node.symbol, values, scope)  # type: ignore[arg-type]
            if found is not None:
                return found
        operands = [self.expression(value, scope) for value in values]
        if node.symbol == "if":
            return select(*operands)
        name = _OPERATORS[node.symbol]
        if all(type_of(each) == "bool" for each in operands):
            on_truth = {"bitwise_and": "logical_and", "bitwise_or": "logical_or"}
            name = on_truth.get(name, "logical_not" if name == "bitwise_not" else name)
        return call(name, *operands)

    def landing(self, node: syntax.Operation, scope: Scope) -> ir.Test | None:
        """`rule(place) == i`: the place as it is in a dim of the index's extent."""
        for one, other in (node.operands, node.operands[::-1]):
            is_rule = isinstance(one, syntax.CallOf) and one.function.text in PLACE_FUNCTIONS
            is_index = isinstance(other, syntax.Name) and other.text in scope.indices
            if isinstance(one, syntax.CallOf) and is_rule and isinstance(other, syntax.Name):
                value = self.value(one.operands[0], scope, True) if len(one.operands) == 1 else None
                if not is_index or not isinstance(value, Place):
                    return None
                extent = self.extents.get(other.text, places.number(1))
                landed = places.of(places.Function(one.function.text, (value, extent)))
                return ir.Test(places.index(other.text) - landed, "==")
        return None

    def compares_places(self, node: syntax.Operation) -> bool:
        return any(
            isinstance(part, syntax.Name) and part.text in self.bound
            for each in node.operands
            for part in walk_tree(each)
        ) and all(
            not isinstance(part, Subscript) or part.tensor.text in self.integers
            for each in node.operands
            for part in walk_tree(each)
        )

    def whole(self, symbol: str, values: list[Place], scope: Scope) -> Value | None:
        """An operation on whole numbers alone; None if its value is none."""
        one, other = values[0], values[-1]
        match symbol:
            case "+":
                return one + other
            case "-":
                return one - other
            case "*":
                return one * other
            case "neg":
                return -one
            case "//":
                return places.apply("quotient", one, other)
            case "%":
                return places.apply("remainder", one, other)
            case "==" | "!=":
                return self.read(ir.Test(one - other, symbol), scope)
            case ">=":
                return self.read(ir.Test(one - other, ">="), scope)
            case "<=":
                return self.read(ir.Test(other - one, ">="), scope)
            case ">":
                return self.read(ir.Test(one - other - places.number(1), ">="), scope)
            case "<":
                return self.read(ir.Test(other - one - places.number(1), ">="), scope)
        return None

    # Calls

    def call(self, node: syntax.CallOf, scope: Scope, integers: bool) -> Value:
        name = node.function.text
        if name in self.functions:
            return self.own_function(node, scope)
        if name == "size":
            return self.size(node, scope)
        if name == "int":
            return self.truncated(node, scope)
        if name == "uniform":
            return self.draw(node, scope)
        if name == "normal":
            return normal(self.draw(node, scope), self.draw(node, scope))
        if name == "detach":
            return self.detached(node, scope)
        if name in PLACE_FUNCTIONS:
            message = f"'{name}' says what a place does that may be outside a tensor"
            return self.error(
                "E763", node.span, message, f"between brackets: x[{name}(i)], or {name}(i) == j"
            )
        if name in ir.FOLDS and name not in FUNCTIONS:
            hint = f"write {name}(j: ...), with the indices that it goes over"
            return self.error("E760", node.span, f"'{name}' is a fold", hint)
        if name in self.owner.functions:
            return self.operator(node, scope, integers)
        if name not in FUNCTIONS:
            known = [*FUNCTIONS, *self.functions, *ir.FOLDS, *self.owner.functions]
            close = did_you_mean(name, known)
            return self.error("E708", node.function.span, f"unknown function '{name}'", close)
        arity = 3 if name == "where" else PRIMITIVES[name].arity
        if len(node.operands) != arity:
            count = f"{arity} argument" + ("s" if arity > 1 else "")
            message = f"'{name}' takes {count}, got {len(node.operands)}"
            return self.error("E709", node.span, message)
        values = [self.value(each, scope, integers) for each in node.operands]
        if name in ("min", "max") and all(isinstance(each, Place) for each in values):
            least = "least" if name == "min" else "greatest"
            return places.apply(least, *values)  # type: ignore[arg-type]
        operands = [self.expression(value, scope) for value in values]
        return select(*operands) if name == "where" else call(name, *operands)

    def operator(self, node: syntax.CallOf, scope: Scope, integers: bool) -> Value:
        """A pointwise operator: its formula with the operands."""
        name, count = node.function.text, len(node.operands)
        function = self.owner.functions[name]
        if not function.takes(count):
            message = f"'{name}' takes {function.arity}, got {count}"
            return self.error("E709", node.span, message)
        values = [self.value(each, scope, integers) for each in node.operands]
        return function([self.expression(value, scope) for value in values])

    def own_function(self, node: syntax.CallOf, scope: Scope) -> Value:
        function = self.functions[node.function.text]
        if len(function.parameters) != len(node.operands):
            message = f"'{function.name.text}' takes {len(function.parameters)} arguments"
            return self.error("E709", node.span, f"{message}, got {len(node.operands)}")
        given = [self.value(each, scope) for each in node.operands]
        before = scope.values
        names = [each.text for each in function.parameters]
        scope.values = dict(zip(names, given, strict=True))
        before_functions = self.functions
        self.functions = {n: f for n, f in before_functions.items() if f is not function}
        value = self.value(function.body, scope)
        self.functions, scope.values = before_functions, before
        return value

    def size(self, node: syntax.CallOf, scope: Scope) -> Value:
        """`size(i)`: an index's extent; `size(x, -1)`: that of a dim."""
        first = node.operands[0] if node.operands else None
        if not isinstance(first, syntax.Name):
            message = "size takes an index, or a tensor and a dim"
            return self.error("E764", node.span, message, "size(i), or size(x, -1)")
        if len(node.operands) == 1 and first.text in self.extents:
            return self.extents[first.text]
        dim = self.value(node.operands[1], scope) if len(node.operands) == 2 else None
        if first.text in self.ranks and isinstance(dim, Place) and dim.constant is not None:
            number = dim.constant
            has_batch, rank, _ = self.ranks[first.text]
            if number >= 0 and not has_batch:
                number -= rank
            if -rank <= number < 0:
                return places.of(places.Size(first.text, number))
            message = f"'{first.text}' has {rank} dims with a place of their own"
            return self.error("E764", node.operands[1].span, message, "count from the last: -1")
        message = "size takes an index, or a tensor and a dim"
        return self.error("E764", node.span, message, "size(i), or size(x, -1)")


def normal(one: Expression, other: Expression) -> Expression:
    """A normal number of two even ones. Source: G. E. P. Box and M. E. Muller (1958)."""
    radius = call("sqrt", call("mul", Constant(-2), call("log1p", call("neg", one))))
    turn = call("mul", call("mul", Constant(2), Named("pi")), other)
    return call("mul", radius, call("cos", turn))
