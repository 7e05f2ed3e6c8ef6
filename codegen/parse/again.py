"""Reads a program again after an edit: the entries that changed, and those that may see it.

What an entry says reaches others in two ways. Formulas take in the formulas that they call, and a
case is what its operator is: these are read again with all that they name. Everything else looks at
an operator from outside, at its signature and its names: who mentions one is read again only if
these are others now. Whether a text mentions a name is asked of its words, prose included.
"""

from __future__ import annotations

import os
import re
import warnings
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import fields, replace
from itertools import chain
from pathlib import Path
from typing import Generic, TypeVar

from ..model.derivative import Derivative
from ..model.operator import Operator, adjoint_name, text_names
from ..model.program import Program
from ..model.signature import Signature
from .adjoints import with_adjoints
from .derivatives import DerivativeReader
from .entries import OperatorReader
from .program import Inputs, Parsed
from .reading import Entry, Reading, digest, entry_texts
from .report import Report
from .split import split
from .yaml_nodes import AnyNode, Source
from .yaml_reader import read_yaml

MOST = 60
"""Entries that are read again; beyond, the whole is."""

_HEAD = re.compile(r"""- +["']?(?:func|name)["']? *: *["']?(?:\w+::)?(\w+)""")
_TAKES_IN = re.compile(r"^ +(?:pointwise|reduction|index|draw|case_of) *:", re.MULTILINE)
_OWN = frozenset({"kind", "samples", "reference", "doc"})
_SEEN = tuple([each.name for each in fields(Operator) if each.compare and each.name not in _OWN])
"""What other entries see of an operator."""

T = TypeVar("T", Operator, Derivative)


def parse_again(
    inputs: Inputs, before: Reading, functions: Mapping[str, Signature]
) -> Parsed | None:
    """Read what changed since then; None if the whole is to be read, be it for its mistakes.

    functions: what derivative formulas may call now.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("error", SyntaxWarning)
        try:
            return _Again(inputs, before, functions).parsed()
        except _Whole:
            return None


class _Whole(Exception):
    """The whole is to be read."""


class _File(Generic[T]):
    """The entries of one file, and what they were before."""

    def __init__(self, path: str, head: str, before: Sequence[Entry[T]]) -> None:
        self.path = path
        try:
            now, self.texts = entry_texts(Path(path).read_text(encoding="utf-8-sig"))
        except (OSError, UnicodeDecodeError) as error:
            raise _Whole from error
        known = {each.text: each for each in before}
        self.entries: list[Entry[T] | None] = [known.get(digest(text)) for text in self.texts]
        kept = [each for each in self.entries if each is not None]
        held = {each.text for each in kept}
        if now != head or kept != [each for each in before if each.text in held]:
            raise _Whole
        self.gone: list[Entry[T]] = [each for each in before if each.text not in held]
        self.again = {i for i, each in enumerate(self.entries) if each is None}
        self.bases = [self._base(i) for i in range(len(self.texts))]

    def _base(self, number: int) -> str:
        match = _HEAD.match(self.texts[number])
        if match is None:
            raise _Whole
        return match[1]

    def mentioning(self, names: Collection[str]) -> set[int]:
        """The entries whose text has one of these words, or the word of its in-place variant."""
        if not names:
            return set()
        words = re.compile(rf"\b(?:{'|'.join(map(re.escape, sorted(names)))})_?\b")
        return {i for i, text in enumerate(self.texts) if words.search(text)}

    def of_bases(self, names: Collection[str]) -> set[int]:
        """The entries of these base names."""
        return {i for i, base in enumerate(self.bases) if base in names}

    def node(self, number: int, report: Report) -> AnyNode:
        """The entry as YAML; its places are those in its own text."""
        nodes = read_yaml(Source(self.path, self.texts[number]), report)
        if nodes is None or len(nodes) != 1:
            raise _Whole
        return nodes[0]

    def before(self, number: int) -> tuple[T, ...]:
        """What an entry became that is as it was."""
        entry = self.entries[number]
        return entry.made if entry else ()


class _Again:
    """One reading."""

    def __init__(self, inputs: Inputs, before: Reading, functions: Mapping[str, Signature]) -> None:
        self.inputs = inputs
        self.earlier = before
        self.functions = functions
        paths = [os.fspath(each) for each in (inputs.functions, inputs.derivatives) if each]
        if len(paths) != len(before.heads) or len(paths) != 2:
            raise _Whole
        self.operators: _File[Operator] = _File(paths[0], before.heads[0], before.operators)
        self.derivatives: _File[Derivative] = _File(paths[1], before.heads[1], before.derivatives)

    def parsed(self) -> Parsed:
        names = {name for entry in self.operators.gone for name in _names(entry.made)}
        names |= {self.operators.bases[i] for i in self.operators.again}
        pairs = {each.operator.split(".")[0] for e in self.derivatives.gone for each in e.made}
        pairs |= {self.derivatives.bases[i] for i in self.derivatives.again}
        gone = {each.base_name for e in self.operators.gone for each in e.made}
        self.reach(self.operators.of_bases(pairs), self.derivatives.of_bases(gone))
        self.take_in(names)
        program, again = self.read()
        seen = self.seen_otherwise(program, again)
        seen |= {name for name, _ in self.functions.items() ^ self.earlier.functions.items()}
        operators, derivatives = (
            each.mentioning(seen) for each in (self.operators, self.derivatives)
        )
        if not operators <= self.operators.again or not derivatives <= self.derivatives.again:
            self.reach(operators, derivatives)
            program, again = self.read()
        roots = self.inputs.roots
        return Parsed(program, self.functions, (), (), roots, Report(), again=frozenset(again))

    # Which entries

    def reach(self, operators: Iterable[int], derivatives: Iterable[int]) -> None:
        """Read these again; an operator and its derivatives always together."""
        self.derivatives.again.update(derivatives)
        bases = {self.derivatives.bases[i] for i in self.derivatives.again}
        self.operators.again.update(operators, self.operators.of_bases(bases))
        bases = {self.operators.bases[i] for i in self.operators.again}
        self.derivatives.again |= self.derivatives.of_bases(bases)
        if len(self.operators.again) + len(self.derivatives.again) > MOST:
            raise _Whole

    def take_in(self, names: set[str]) -> None:
        """Read again what takes in the text of one of these operators, and so on."""
        file = self.operators
        takes_in = {i for i, text in enumerate(file.texts) if _TAKES_IN.search(text)}
        while True:
            self.reach((), ())
            names |= {name for i in file.again for name in _names(file.before(i))}
            found = (file.mentioning(names) & takes_in) - file.again
            if not found:
                return
            self.reach(found, ())

    # Reading

    def read(self) -> tuple[Program, set[str]]:
        """The program, and the names of the operators that were read now."""
        report = Report()
        reader = OperatorReader(report)
        made: list[tuple[Operator, ...]] = []
        for i in range(len(self.operators.texts)):
            if i in self.operators.again:
                made.append(reader.entry(self.operators.node(i, report)))
            else:
                made.append(self.operators.before(i))
                reader.passed(made[-1])
        operators = tuple(chain.from_iterable(made))
        rest = replace(self.earlier.program, formulas=tuple(self.functions))
        program = replace(rest, operators=operators)
        names = {each.name for i in self.operators.again for each in made[i]}
        derivatives = tuple(self.read_derivatives(program, names, report))
        again = {each.name for each in self.split(program, derivatives, names).operators}
        whole = split(replace(program, derivatives=derivatives))
        known = {name: e for name, e in self.earlier.adjoints.items() if name not in again}
        whole, adjoints = with_adjoints(whole, self.functions, report, known)
        for name in again & adjoints.keys():
            again |= {each.name for each in adjoints[name].operators}
        if report.diagnostics:
            raise _Whole
        return whole, again

    def read_derivatives(
        self, program: Program, names: set[str], report: Report
    ) -> Iterator[Derivative]:
        """All derivatives; adds to the names those whose node has another number now."""
        file = self.derivatives
        reader = DerivativeReader(program, self.functions, (), report)
        for i in range(len(file.texts)):
            if i in file.again:
                entry = reader.entry(file.node(i, report))
                if entry is None:
                    raise _Whole
                yield entry
                continue
            for each in file.before(i):
                passed = reader.passed(each)
                if passed.node != each.node:
                    names.add(each.operator)
                yield passed

    @staticmethod
    def split(
        program: Program, derivatives: Iterable[Derivative], names: Collection[str]
    ) -> Program:
        """The operators of these names alone, split."""
        part = tuple(each for each in program.operators if each.name in names)
        own = tuple(each for each in derivatives if each.operator in names)
        return split(replace(program, operators=part, derivatives=own))

    # What others see

    def seen_otherwise(self, program: Program, again: Collection[str]) -> set[str]:
        """The names of what looks otherwise from outside, came, or is gone."""
        file = self.operators
        entries = [*file.gone, *(e for i in file.again if (e := file.entries[i]) is not None)]
        made = tuple(each for entry in entries for each in entry.made)
        part = self.split(replace(program, operators=made), (), {each.name for each in made})
        adjoints = [a for each in part.operators if (a := self.earlier.adjoints.get(each.name))]
        derived = (each for adjoint in adjoints for each in adjoint.operators)
        old = {each.name: each for each in (*part.operators, *derived)}
        new = {name: each for name in again if (each := program.operator(name))}
        found: set[str] = set()
        for name in old.keys() | new.keys():
            pair = [each for each in (old.get(name), new.get(name)) if each]
            if len(pair) == 1 or _outside(pair[0]) != _outside(pair[1]):
                found.update(_names(pair))
        return found


def _outside(operator: Operator) -> tuple[object, ...]:
    """What others see of an operator."""
    return type(operator.kind), *[getattr(operator, name) for name in _SEEN]


def _names(operators: Iterable[Operator]) -> Iterator[str]:
    """Every name by which a text may mention operators, or what is derived of them."""
    for operator in operators:
        yield from operator.flat_names
        for name in {each.split(".")[0] for each in text_names(operator)}:
            yield name
            yield adjoint_name(name)
            yield adjoint_name(adjoint_name(name))
