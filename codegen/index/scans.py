"""What scans carry from one element to the next: which statements do, and along which index."""

from __future__ import annotations

from ..model import place as places
from ..model.formula import Argument, Call, Constant, Expression, Named, walk
from ..model.index import PROD, SUM, Access, Statement
from ..model.loops import Nest
from ..record import record

COSTLY = 24
"""Work of a step, in multiplications, that is worth vectors across rows."""
GATHERED = 10
"""The same of an element that only joins a fold: an exponential is."""


@record
class Carried:
    """A statement that reads its own last element, and none before that."""

    index: str
    """Along which it goes."""
    access: Access
    """Its last element; before the first there is a constant."""
    argument: Argument
    """What the statement's formula calls that."""
    kind: str | None
    """SUM or PROD, if the last element is an operand of a sum or product alone."""
    term: Expression | None
    """Then the other operand."""

    @property
    def begin(self) -> Constant | Named:
        """What stands before the first element: a constant."""
        outside = self.access.outside
        assert isinstance(outside, Constant | Named)
        return outside


def carried_of(statement: Statement) -> Carried | None:
    """What a scan carries; None of what is no scan, or reads more than its last element."""
    own = dict.fromkeys(each for each in statement.accesses if each.tensor == statement.target)
    reads = [each for each in statement.reads if each.source in own]
    if len(own) != 1 or len(reads) != 1 or statement.type == "bool":
        return None
    (access,) = own
    moved = [
        (index, (place - places.index(index)).constant)
        for index, place in zip(statement.indices, access.places, strict=True)
        if place != places.index(index)
    ]
    if len(moved) != 1 or moved[0][1] not in (-1, 1) or access.outside is None:
        return None
    argument = next(a for a in statement.formula.arguments if a.name == reads[0].name)
    return Carried(moved[0][0], access, argument, *_running(statement, argument))


def _running(statement: Statement, last: Argument) -> tuple[str | None, Expression | None]:
    """Whether a scan is a running sum or product, and of what."""
    outcome = statement.formula.outputs[0]
    kinds = {"add": SUM, "mul": PROD}
    if isinstance(outcome, Call) and outcome.primitive.name in kinds and last in outcome.operands:
        one, other = outcome.operands
        term = other if one == last else one
        if last not in walk((term,)):
            return kinds[outcome.primitive.name], term
    return None, None


def scans_of(nest: Nest) -> dict[str, Carried]:
    """What each statement of a nest carries from one step of its outermost loop to the next.

    Nothing where some statement reads itself otherwise, or there are more loops than one within.
    """
    found = {each.target: carried_of(each) for each in nest.statements if each.reads_itself}
    carried = {name: each for name, each in found.items() if each is not None}
    is_simple = nest.outer and not nest.is_fold and not nest.guards and len(nest.outer) <= 2
    if not is_simple or len(carried) < len(found):
        return {}
    steps = {each.index for each in carried.values()}
    return carried if steps == {nest.outer[0].index} else {}


def has_costly_steps(nest: Nest) -> bool:
    """Whether steps of a scan are so costly that vectors pay, even of elements far apart."""
    return bool(scans_of(nest)) and _work(nest) > COSTLY


def has_costly_elements(nest: Nest) -> bool:
    """Whether elements cost so much that vectors pay across rows of a few."""
    return _work(nest) > GATHERED


def _work(nest: Nest) -> int:
    nodes = [node for each in nest.statements for node in walk(each.formula.outputs)]
    return sum(each.primitive.cost for each in nodes if isinstance(each, Call))


def waits(nest: Nest) -> bool:
    """Whether each step of an item waits for the one before it, and has nothing beside it."""
    return bool(scans_of(nest)) and len(nest.outer) == 1 and not has_costly_steps(nest)
