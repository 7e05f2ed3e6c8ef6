"""Scatters to places that move evenly: on a device, each element asks who goes there."""

from __future__ import annotations

from dataclasses import replace

from ..index.rewrite import map_places
from ..model import place as places
from ..model.index import Fold, IndexProgram, Statement, Test
from ..model.place import Atom, Element, Index, Place
from .index_nests import goes_through_a_tensor, is_target, scattered_of


def gathered(program: IndexProgram) -> IndexProgram:
    """The program with gathers in the place of scatters, where the places can be solved."""
    statements = tuple(_gathered(each, program) for each in program.statements)
    return replace(program, statements=statements)


def _gathered(statement: Statement, program: IndexProgram) -> Statement:
    scattered, fold = scattered_of(statement), statement.fold
    if fold is None or not scattered:
        return statement
    tests = [test for test in fold.where if not is_target(test, scattered)]
    values: dict[Atom, Place] = {}
    for name, value in scattered.items():
        solution = _solution(name, value, fold, set(values), program)
        if solution is None:
            return statement
        index, rest, step = solution
        values[Index(index)] = places.apply("quotient", rest, step)
        last = program.extent[index] - places.number(1)
        tests += [Test(places.index(index), ">="), Test(last - places.index(index), ">=")]
        if step.constant != 1:
            tests.append(Test(places.apply("remainder", rest, step), "=="))
    left = tuple(name for name in fold.indices if Index(name) not in values)
    if not left:
        return statement
    own = replace(fold, indices=left, where=tuple(tests))
    return map_places(replace(statement, fold=own), lambda place: place.substitute(values))


def _solution(
    name: str, value: Place, fold: Fold, solved: set[Atom], program: IndexProgram
) -> tuple[str, Place, Place] | None:
    """The index of a fold that tells an own one by `step * index == rest`, if one does."""
    if any(isinstance(atom, Element) for atom in value.atoms):
        return None
    if any(atom in value.atoms for atom in solved):
        return None
    steps = {
        index: step
        for index in fold.indices
        if value.is_linear_in(index) and _is_positive(step := value.coefficient(index), fold)
    }
    far = [index for index in steps if goes_through_a_tensor(index, program)]
    for index in (*far, *steps):
        rest = places.index(name) - (value - places.index(index) * steps[index])
        return index, rest, steps[index]
    return None


def _is_positive(step: Place, fold: Fold) -> bool:
    """Whether a step is at least 1 for certain, because of a condition if it is an argument."""
    if step.constant is not None:
        return step.constant > 0
    return Test(step - places.number(1), ">=") in fold.where
