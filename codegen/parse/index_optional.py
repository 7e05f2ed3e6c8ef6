"""What is left of a text for calls that settle what it asks of its arguments.

A text may ask whether an argument is None, which word one is, and which number or whether a flag is
set where it then folds in another way: every answer makes a program of its own, of one operator.
Where no shape function sees all arguments, what is missing makes operators.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import product
from math import inf
from typing import TypeAlias

from ..model.index import Answers
from ..record import record
from . import index_tree as syntax
from .index_tree import (
    Binder,
    FoldOf,
    IsMissing,
    Name,
    Node,
    Number,
    Operation,
    Part,
    Repeat,
    Subscript,
    Syntax,
    Word,
    walk_tree,
)

Case: TypeAlias = Mapping[str, str | float | bool | None]
"""What arguments are, by name; OTHERWISE stands for all that the text does not tell apart."""
OTHERWISE = None
MISSING = False
"""What an optional argument is that is not there."""
NO_CASE: Case = {}


def specialised(
    tree: Syntax,
    results: Results,
    optional: Collection[str],
    missing: Collection[str],
    case: Case = NO_CASE,
) -> Syntax:
    """The text without the branches that are not taken where these arguments are missing, and
    what a case tells is so, and without statements that then nothing reads."""
    return _Specialiser(optional, missing, case).whole(tree, results.of(tree))


@record
class Results:
    """What tells which statements of a text are results: the schema's names, and how many."""

    names: tuple[str, ...]
    count: int
    new_values: tuple[str, ...] = ()
    """Of arguments that are updated: they are results behind all others."""

    def of(self, tree: Syntax) -> tuple[str, ...]:
        """The results' names: the schema's, perhaps without a statement; else `out`, `result0` and
        so on, or the last statements."""
        defined = [each.target.text for each in tree.equations]
        defined = [name for name in defined if name not in self.new_values]
        return (*self._returned(defined), *self.new_values)

    def _returned(self, defined: Sequence[str]) -> tuple[str, ...]:
        if not self.count:
            return ()
        numbered = tuple(f"result{number}" for number in range(self.count))
        if not self.names and set(numbered) <= set(defined):
            return numbered
        if not self.names or self.count == 1:
            named = [name for name in (*self.names, "out") if name in defined]
            found = defined[-self.count :] if self.count > 1 else (named or defined[-1:])[:1]
            return tuple(found) or ("out",)
        return self.names


@record
class Askable:
    """The arguments that a text may ask: words, flags, numbers, and those that may be missing."""

    words: Collection[str] = ()
    flags: Collection[str] = ()
    numbers: Collection[str] = ()
    optional: Collection[str] = ()


def asked(tree: Syntax, askable: Askable) -> dict[str, Answers]:
    """The arguments that a text asks for words, the flags and numbers by which it folds otherwise,
    and those of which it asks whether they are there, with the answers that it tells apart."""
    found: dict[str, Answers] = {}
    for node in _nodes(tree):
        match node:
            case Operation("==" | "!=", (Name(name), Word(word))) if name in askable.words:
                found[name] = tuple(dict.fromkeys((*found.get(name, ()), word)))
            case IsMissing(argument) if argument.text in askable.optional:
                found[argument.text] = (MISSING,)
            case Operation("if", (condition, *branches)) if any(map(_folds, branches)):
                found |= {name: (True,) for name in _names(condition) if name in askable.flags}
                for name, told in _numbers(condition):
                    if name in askable.numbers:
                        found[name] = tuple(dict.fromkeys((*found.get(name, ()), told)))
            case FoldOf(start=Operation("if", (condition, *_))):
                found |= {name: (True,) for name in _names(condition) if name in askable.flags}
    return found


def cases(
    tree: Syntax, results: Results, askable: Askable
) -> tuple[dict[str, Answers], list[list[Case]]]:
    """What a text asks, and its cases, those together in which the same is left of it; in the
    first of all each answer is another one than those told apart."""
    answers = asked(tree, askable)
    left: dict[Syntax, list[Case]] = {}
    for chosen in product(*((OTHERWISE, *each) for each in answers.values())):
        case = dict(zip(answers, chosen, strict=True))
        left.setdefault(specialised(tree, results, (), (), case), []).append(case)
    return answers, list(left.values())


def _nodes(tree: Syntax) -> Iterator[Node]:
    for value in (*(e.value for e in tree.equations), *(d.body for d in tree.definitions)):
        yield from walk_tree(value)


def _numbers(condition: Node) -> Iterator[tuple[str, float]]:
    """The names that a condition compares with constants, and these."""
    for node in walk_tree(condition):
        match node:
            case Operation("==", (Name(name), other)) if (number := _constant(other)) is not None:
                yield name, number


def _constant(node: Node) -> float | None:
    """The value of a literal, an infinity, or what is less than 0 of these."""
    match node:
        case Number(value):
            return float(value)
        case Name("inf"):
            return inf
        case Operation("neg", (inner,)):
            turned = _constant(inner)
            return None if turned is None else -turned
    return None


def _names(node: Node) -> Iterator[str]:
    return (each.text for each in walk_tree(node) if isinstance(each, Name))


def _folds(node: Node) -> bool:
    return any(isinstance(each, FoldOf) for each in walk_tree(node))


class _Specialiser:
    def __init__(self, optional: Collection[str], missing: Collection[str], case: Case) -> None:
        self.optional = optional
        self.missing = missing
        self.case = case

    def whole(self, tree: Syntax, results: Collection[str]) -> Syntax:
        equations = tuple(replace(each, value=self(each.value)) for each in tree.equations)
        definitions = tuple(replace(each, body=self(each.body)) for each in tree.definitions)
        left = Syntax(equations, definitions)
        lost = _read(tree, results) - _read(left, results)
        return replace(left, equations=tuple(e for e in equations if e.target.text not in lost))

    def decided(self, node: Node) -> bool | None:
        """The truth of a condition that asks for nothing but which arguments are there."""
        match node:
            case IsMissing(argument) if argument.text in self.optional:
                return argument.text in self.missing
            case IsMissing(argument) if argument.text in self.case:
                return self.case[argument.text] is MISSING
            case Operation("==" | "!=" as sign, (Name(name), Word(word))) if name in self.case:
                return (self.case[name] == word) is (sign == "==")
            case Operation("==", (Name(name), other)) if name in self.case:
                number = _constant(other)
                return None if number is None else self.case[name] == number
            case Name(name) if name in self.case:
                return self.case[name] is True
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
        extent, bounds = binder.extent and self(binder.extent), binder.bounds
        if bounds is not None:
            bounds = self(bounds[0]), self(bounds[1])
        return replace(binder, extent=extent, bounds=bounds)


def _read(tree: Syntax, results: Collection[str]) -> set[str]:
    """The results, and what is read for them and by functions."""
    values = {each.target.text: each.value for each in tree.equations}
    found = values.keys() & {*results, tree.equations[-1].target.text}
    left = [*(values[name] for name in found), *(each.body for each in tree.definitions)]
    while left:
        names = {_name_of(each) for each in walk_tree(left.pop())} & values.keys() - found
        found |= names
        left += [values[name] for name in names]
    return found


def _name_of(node: Node) -> str:
    match node:
        case Name(name):
            return name
        case Subscript(tensor):
            return tensor.text
    return ""
