"""Chooses what a backward formula reads: the inputs, or the result where that costs less."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace

from ..model.formula import Argument, Call, Expression, Formula, Select, children, walk
from .expressions import call, is_call, substitute
from .fold import value_of
from .simplify import simplify

COST_OF_TENSOR = 36
"""Reading one more saved tensor, in multiplications: about three evaluations of exp. Measured on a
memory-bound kernel, where a float costs 0.4 ns to load and a vectorised exp takes 0.13 ns."""


def cheapest(raw: Formula, outputs: Sequence[Expression], results: Sequence[Argument]) -> Formula:
    """Return the cheaper of two forms of a backward formula: over inputs only, or with results.

    The cost is COST_OF_TENSOR for every tensor that must be saved plus the work of one evaluation.
    A tie goes to the form with results: it leaves the input free to be overwritten in place.
    """
    plain = simplify(raw, collect=True)
    values: dict[Expression, Expression] = {}
    for output, result in zip(outputs, results, strict=True):
        values.update(_equivalents(output, result))
    rewritten = replace(
        raw,
        arguments=(*raw.arguments, *results),
        outputs=tuple(substitute(output, values) for output in raw.outputs),
        names=tuple((name, substitute(node, values)) for name, node in raw.names),
    )
    rewritten = simplify(rewritten, collect=True)
    best = rewritten if cost(rewritten) <= cost(plain) else plain
    return _with_used_arguments(best, raw.arguments[: len(results)])


def over_inputs(raw: Formula, grads: Sequence[Argument]) -> Formula:
    """Return a backward formula as it is over the inputs."""
    return _with_used_arguments(simplify(raw, collect=True), grads)


def cost(formula: Formula) -> int:
    """Estimate one evaluation, in multiplications, tensors that are read included."""
    nodes = walk(formula.outputs)
    tensors = sum(isinstance(node, Argument) and node.kind == "tensor" for node in nodes)
    work = sum(node.primitive.cost if isinstance(node, Call) else 1 for node in nodes)
    return COST_OF_TENSOR * tensors + work


def _equivalents(output: Expression, result: Expression) -> Mapping[Expression, Expression]:
    """What can be read off `result = output`, without loss of accuracy."""
    if isinstance(output, Argument) or not children(output):
        return {}
    return {output: result, **dict(_readable_from(output, result))}


def _readable_from(
    output: Expression, result: Expression
) -> Iterator[tuple[Expression, Expression]]:
    if is_call(output, "neg"):
        yield children(output)[0], call("neg", result)
    elif is_call(output, "mul") and value_of(children(output)[0]):
        factor, rest = children(output)
        if children(rest):
            yield rest, call("div", result, factor)
    elif is_call(output, "div") and value_of(children(output)[0]):
        constant, divisor = children(output)
        yield divisor, call("div", constant, result)
    elif isinstance(output, Select) and isinstance(output.condition, Call):
        # u if u > k else k: whether u was taken shows in the result.
        taken, bound = output.then, output.otherwise
        if is_call(output.condition, "le"):
            taken, bound = bound, taken
        is_threshold = output.condition.operands == (taken, bound)
        if is_threshold and output.condition.primitive.name in ("gt", "le"):
            yield output.condition, Call(output.condition.primitive, (result, bound))


def _with_used_arguments(formula: Formula, grads: Sequence[Argument]) -> Formula:
    used = formula.used
    kept = [a for a in formula.arguments if a in grads or a.name in used]
    return replace(formula, arguments=tuple(kept))
