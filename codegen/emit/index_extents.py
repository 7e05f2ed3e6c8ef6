"""The function of an index program that tells the extents of indices, and checks that sizes fit."""

from __future__ import annotations

from collections.abc import Iterator

from ..index.sizes import Sizes, size_of
from ..index.text import access_text
from ..index.writer import python_name
from ..model.index import ARGMAX, ARGMIN, IndexProgram
from ..model.operator import Operator
from ..model.place import (
    LOOKED_AT,
    Atom,
    Element,
    Function,
    Index,
    Parameter,
    Place,
    Size,
    spelled,
)
from .breaking import WIDTH
from .flow import tuple_of

CHECKED_ELSEWHERE = ("least", "greatest", *LOOKED_AT)
"""Functions of places that are defined for all, or are looked at where they are read."""


def measure(operator: Operator, program: IndexProgram, name: str) -> tuple[str, str]:
    """What tells extents from sizes and whole numbers, and the function of which that is the name.

    Where nothing is checked, and no extent follows from another, it is an expression by itself.
    """
    parameters = [*(each.name for each in program.inputs), *program.integers]
    taken = ", ".join(map(python_name, parameters))
    known = {index: f"n_{index}" for index in program.extent}
    checks = list(_checks(operator, program, known))
    values = [_unwrapped(extent) for _, extent in program.extents]
    expression = f"lambda {taken}: {tuple_of(values)}"
    places = [extent for _, extent in program.extents]
    follows = any(isinstance(atom, Index) for place in places for atom in place.atoms)
    divides = any(isinstance(atom, Function) for place in places for atom in place.atoms)
    has_room = len(f"    measure={expression},") <= WIDTH
    if not (checks or follows or divides) and has_room:
        return expression, ""
    called = operator.base_name
    lines = [
        f"def {name}({taken}):",
        f'    """The extents of {", ".join(program.extent) or "no index"}; sizes must agree."""',
    ]
    for (index, extent), value in zip(program.extents, values, strict=True):
        lines += [f"    {line}" for line in _defined(extent, called) if program.text]
        lines.append(f"    {known[index]} = {value}")
    extents = list(known.values())
    result = ", ".join(extents) if len(extents) > 1 else tuple_of(extents)
    return name, "\n".join([*lines, *checks, f"    return {result}"]) + "\n"


def _checks(operator: Operator, program: IndexProgram, known: dict[str, str]) -> Iterator[str]:
    """The lines that refuse sizes."""
    called = operator.base_name
    for each in program.requirements:
        what = f"{each.extent}".replace('"', "'")
        call = f'"{called}", "{each.index}", {known[each.index]}, "{what}", {_whole(each.extent)}'
        yield f"    agree({call})"
    for index in _never_empty(program):
        yield f'    some("{called}", "{index}", {known[index]})'
    if program.text:
        yield from _all_defined(program, called, known)
        yield from _inside(program, called, known)


def _never_empty(program: IndexProgram) -> Iterator[str]:
    """The indices of folds that need an element: a range may have none."""
    folds = [each.fold for each in program.statements if each.fold is not None]
    told = [fold for fold in folds if fold.kind in (ARGMAX, ARGMIN) and not fold.has_ranges]
    yield from dict.fromkeys(name for fold in told for name in fold.indices)


def _whole(place: Place) -> str:
    """A place without indices, over sizes and arguments."""
    text = ""
    for monomial, factor in sorted(place.terms, key=lambda t: (not t[0], t[1] < 0)):
        parts = [_atom(atom) for atom in monomial]
        if abs(factor) != 1 or not parts:
            parts.insert(0, str(abs(factor)))
        part = " * ".join(parts)
        text = (
            f"{text} {'-' if factor < 0 else '+'} {part}"
            if text
            else part
            if factor > 0
            else f"-{part}"
        )
    return text or "0"


def _unwrapped(place: Place) -> str:
    """The same where nothing stands beside it: a quotient needs no brackets."""
    match list(place.terms):
        case [((Function("quotient" | "remainder"),), 1)]:
            return _whole(place)[1:-1]
    return _whole(place)


def _atom(atom: Atom) -> str:
    match atom:
        case Size(tensor, dim):
            return f"{python_name(tensor)}[{dim}]"
        case Parameter(name):
            return python_name(name)
        case Index(name):
            return f"n_{name}"
        case Function("quotient" | "remainder" as name, (first, second)):
            return f"(({_whole(first)}) {'//' if name == 'quotient' else '%'} ({_whole(second)}))"
        case Function("least" | "greatest" as name, (first, second)):
            return f"{'min' if name == 'least' else 'max'}({_whole(first)}, {_whole(second)})"
    raise AssertionError(atom)


def _all_defined(program: IndexProgram, called: str, known: dict[str, str]) -> Iterator[str]:
    """Checks of what statements compute of whole numbers, where they compute anything."""
    seen: set[tuple[str, str]] = set()
    for statement in program.statements:
        for place in statement.all_places:
            ranges = " and ".join(known[index] for index in place.indices) or "True"
            lines = [line for line in _defined(place, called) if (ranges, line) not in seen]
            seen |= {(ranges, line) for line in lines}
            if lines:
                yield f"    if {ranges}:"
            yield from (f"        {line}" for line in lines)


def _defined(place: Place, called: str) -> Iterator[str]:
    """Checks of what is not defined for all whole numbers.

    These are quotients by 0, unless an element of a tensor says so, and rules for what is outside a
    dim that has no inside; what is counted from the end is checked where it is read.
    """
    for atom in place.atoms:
        match atom:
            case Function(name, (_, second)) if name not in CHECKED_ELSEWHERE:
                if second.constant or any(isinstance(a, Index | Element) for a in second.atoms):
                    continue
                check = "nonzero" if name in ("quotient", "remainder") else "holds"
                yield f'{check}("{called}", "{spelled(atom)}", {_whole(second)})'


def _inside(program: IndexProgram, called: str, known: dict[str, str]) -> Iterator[str]:
    """Checks of places that move with indices and have no rule for outside.

    Those of an operand that move with an index under a condition are looked at where they are read.
    """
    sizes = Sizes(program)
    seen: set[str] = set()
    inputs = {each.name: each for each in program.inputs}
    for statement in program.statements:
        tests = statement.fold.where if statement.fold else ()
        tested = {name for test in tests for name in test.place.indices}
        reads = [each.source for each in statement.reads]
        for access in statement.accesses:
            if access.outside is not None:
                continue
            is_read = access.tensor in inputs and access in reads
            for dim, place in enumerate(access.places):
                size = size_of(program, access.tensor, dim)
                linear = all(place.is_linear_in(index) for index in place.indices) and not any(
                    isinstance(atom, Element | Function) for atom in place.atoms
                )
                if sizes.is_inside(place, size, tests):
                    continue
                if is_read and tested & set(place.indices):
                    continue  # where it is read
                measured = sizes.measured_ends(place)
                if not linear and measured is None:
                    continue
                if measured is None:
                    first, last = _linear_ends(place, known)
                else:
                    first, last = map(_whole, measured)
                text = access_text(access).replace('"', "'")
                line = f'within("{called}", "{text}", {first}, {last}, {_whole(size)})'
                ranges = [known[index] for index in place.indices]
                if line not in seen:
                    seen.add(line)
                    condition = " and ".join(ranges)
                    if condition:
                        yield f"    if {condition}:"
                        yield f"        {line}"
                    else:
                        yield f"    {line}"


def _linear_ends(place: Place, known: dict[str, str]) -> tuple[str, str]:
    """The least and the greatest of a sum of multiples of indices."""
    least, most, rest = [], [], place
    for index in place.indices:
        factor = _whole(place.coefficient(index))
        rest = rest.substitute({Index(index): Place()})
        least.append(f"min(0, ({factor}) * ({known[index]} - 1))")
        most.append(f"max(0, ({factor}) * ({known[index]} - 1))")
    return " + ".join([_whole(rest), *least]), " + ".join([_whole(rest), *most])
