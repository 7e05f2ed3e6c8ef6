"""Texts with optional arguments: what is left of one where some of them are missing."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from . import index_tree as syntax
from .index_tree import (
    Binder,
    FoldOf,
    IsMissing,
    Node,
    Operation,
    Part,
    Repeat,
    Subscript,
    Syntax,
)


def specialised(tree: Syntax, optional: Collection[str], missing: Collection[str]) -> Syntax:
    """The text without the branches that are not taken where these arguments are missing."""
    return _Specialiser(optional, missing).whole(tree)


class _Specialiser:
    def __init__(self, optional: Collection[str], missing: Collection[str]) -> None:
        self.optional = optional
        self.missing = missing

    def whole(self, tree: Syntax) -> Syntax:
        equations = tuple(replace(each, value=self(each.value)) for each in tree.equations)
        definitions = tuple(replace(each, body=self(each.body)) for each in tree.definitions)
        return Syntax(equations, definitions)

    def decided(self, node: Node) -> bool | None:
        """The truth of a condition that asks for nothing but which arguments are there."""
        match node:
            case IsMissing(argument) if argument.text in self.optional:
                return argument.text in self.missing
            case Operation("not", (inner,)):
                found = self.decided(inner)
                return None if found is None else not found
            case Operation("and" | "or" as word, operands):
                known = [self.decided(each) for each in operands]
                if (word == "or") in known:
                    return word == "or"
                return None if None in known else word == "and"
        return None

    def __call__(self, node: Node) -> Node:
        match node:
            case Operation("if", (condition, then, otherwise)):
                known = self.decided(condition)
                if known is not None:
                    return self(then if known else otherwise)
                return replace(node, operands=tuple(map(self, node.operands)))
            case Operation() | syntax.CallOf():
                return replace(node, operands=tuple(map(self, node.operands)))
            case FoldOf():
                start = node.start and self(node.start)
                condition_left = node.condition and self(node.condition)
                body, binders = self(node.body), tuple(map(self.binder, node.binders))
                told = node.told and self(node.told)
                node = replace(node, binders=binders, start=start, told=told)
                return replace(node, condition=condition_left, body=body)
            case Subscript():
                outside = node.outside and self(node.outside)
                return replace(node, places=tuple(map(self, node.places)), outside=outside)
            case Repeat():
                states = tuple((name, self(each)) for name, each in node.states)
                bodies = tuple(map(self, node.bodies))
                return replace(node, count=self(node.count), states=states, bodies=bodies)
            case Part():
                loop = self(node.loop)
                assert isinstance(loop, Repeat)
                return replace(node, loop=loop)
        return node

    def binder(self, binder: Binder) -> Binder:
        return replace(binder, extent=binder.extent and self(binder.extent))
