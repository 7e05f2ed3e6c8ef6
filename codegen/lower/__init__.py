"""Lowers a checked program: turns operators and derivatives into plans, which emit/ spells.

What is saved, which edges there are, which kernels a node has: all of it is decided here, from the
model alone and without a word of the emitted language.
"""

from __future__ import annotations

from dataclasses import fields

from ..model.operator import Operator, Pointwise
from ..model.plan import LoweredProgram, NodePlan
from ..model.program import Program
from . import nodes, pointwise


def lower(program: Program) -> LoweredProgram:
    """Return the program with a plan of each node, and of each pointwise formula."""
    given = {each.name: getattr(program, each.name) for each in fields(Program) if each.init}
    return LoweredProgram(
        **given,
        pointwise={
            operator.name: pointwise.plan(operator)
            for operator in program.operators
            if isinstance(operator.kind, Pointwise)
        },
        nodes={
            operator.name: plan
            for operator in program.operators
            if (plan := node_of(program, operator)) is not None
        },
    )


def node_of(program: Program, operator: Operator) -> NodePlan | None:
    """The plan of one operator's node; None if nothing gives a gradient."""
    derivative = program.derivative(operator)
    if derivative is None or not derivative.is_differentiable:
        return None
    return nodes.plan(operator, derivative)
