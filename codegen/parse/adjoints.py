"""Derives the operators that compute gradients of index programs: `auto` becomes a call of one.

The adjoint of a program is a program, so that of an operator is an operator, which has a derivative
of its own: of every entry there are as many as `ORDERS`.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from ..errors import CodegenError
from ..index.reverse import backward
from ..model.derivative import Derivative, Gradient, GradientKind
from ..model.index import LAST, IndexProgram
from ..model.operator import FUNCTION, OUTPUT_MASK, Index, Operator, Promotion, adjoint_name
from ..model.program import Program
from ..model.schema import TENSOR
from ..model.signature import Signature
from ..record import record
from .expressions import Scope, read_expression
from .report import Report
from .schema import parse_schema
from .scopes import argument_scope, result_scope

ORDERS = 2
"""How often an operator may be differentiated."""


@record
class Adjoints:
    """What is derived of one operator."""

    operators: tuple[Operator, ...]
    """Its adjoint, and the adjoint of that."""
    derivative: Derivative
    """Its own, which calls the first."""
    further: tuple[Derivative, ...]
    """Theirs."""


def with_adjoints(
    program: Program,
    functions: Mapping[str, Signature],
    report: Report,
    known: Mapping[str, Adjoints] | None = None,
) -> tuple[Program, dict[str, Adjoints]]:
    """The program with an operator for each adjoint, and derivatives that call them.

    known: what was derived before, by operator. Returns all that is derived, too.
    """
    operators = list(program.operators)
    derivatives = list(program.derivatives)
    known = known or {}
    found: dict[str, Adjoints] = {}
    for number, derivative in enumerate(program.derivatives):
        operator = program.operator(derivative.operator)
        if operator is None or not isinstance(operator.kind, Index) or not derivative.is_auto:
            continue
        if message := _not_derived(operator):
            report.add("E417", derivative.where, message, hint="write the formula")
            continue
        try:
            made = known.get(operator.name) or _derived(operator, derivative, functions, ORDERS)
        except CodegenError as error:
            report.extend(error.diagnostics)
            continue
        found[operator.name] = made
        derivatives[number] = made.derivative
        operators += made.operators
        derivatives += made.further
    whole = replace(program, operators=tuple(operators), derivatives=tuple(derivatives))
    return whole, found


def _not_derived(operator: Operator) -> str | None:
    """Why no gradients are derived from the statements; None if they are."""
    assert isinstance(operator.kind, Index)
    if operator.kind.geometry is not None:
        return f"{operator.name} sees views of its operands, of which no gradient is derived"
    if operator.kind.asked:
        return f"{operator.name} is several programs, of which no gradient is derived"
    if any(name.startswith("complex") for name in operator.dtype_names):
        return f"{operator.name}: no gradients are derived of complex numbers"
    folds = [each.fold for each in operator.kind.program.statements if each.fold is not None]
    if any(fold.kind == LAST for fold in folds):
        return f"{operator.name}: no gradient is derived of which element is the last"
    return None


def _derived(
    operator: Operator, derivative: Derivative, functions: Mapping[str, Signature], orders: int
) -> Adjoints:
    assert isinstance(operator.kind, Index)
    needs = [
        name
        for gradient in derivative.gradients
        if gradient.kind is GradientKind.AUTO
        for name in gradient.inputs
    ]
    program = _differentiated(operator.kind.program, derivative)
    results, grads, spelled = _names(operator, program)
    adjoint = backward(program, needs, results, grads)
    made = _operator(operator, adjoint, {**dict.fromkeys([*results, *grads], "Tensor")})
    spelled[OUTPUT_MASK] = "grad_input_mask"
    call = ", ".join(spelled.get(a.name, a.name) for a in made.arguments)
    scope = Scope({**argument_scope(operator.schema), **result_scope(operator.schema)}, functions)
    where = derivative.where
    expression = read_expression(f"{made.base_name}({call})", where, scope)
    gradient = Gradient(tuple(needs), GradientKind.FORMULA, expression, where=where)
    kept = tuple(g for g in derivative.gradients if g.kind is not GradientKind.AUTO)
    changed = replace(derivative, gradients=(gradient, *kept))
    camel = "".join(word[:1].upper() + word[1:] for word in made.base_name.split("_"))
    inputs = tuple(t.name for t in adjoint.inputs if t.type == "number")
    whole = tuple(t.name for t in adjoint.inputs if t.type != "number")
    rest = [Gradient((each,), GradientKind.NON_DIFFERENTIABLE, where=where) for each in whole]
    if orders == 1:
        refused = Gradient(inputs, GradientKind.NOT_IMPLEMENTED, None, made.base_name, where)
        last = Derivative(made.name, f"{camel}Backward0", (refused, *rest), where=where)
        return Adjoints((made,), changed, (last,))
    auto = Gradient(inputs, GradientKind.AUTO, where=where)
    own = Derivative(made.name, f"{camel}Backward0", (auto, *rest), where=where)
    next_ = _derived(made, own, functions, orders - 1)
    return Adjoints((made, *next_.operators), changed, (next_.derivative, *next_.further))


def _differentiated(program: IndexProgram, derivative: Derivative) -> IndexProgram:
    """The statements of the results without the last ones, if these have no gradients."""
    flags = derivative.output_differentiability or ()
    count = max((number for number, flag in enumerate(flags, 1) if flag), default=0)
    if not count or count == len(flags):
        return program
    results = program.results[:count]
    needed = set(results)
    for each in reversed(program.statements):
        if each.target in needed:
            needed.update(access.tensor for access in each.accesses)
    statements = tuple(each for each in program.statements if each.target in needed)
    return replace(program, statements=statements, results=results)


def _names(
    operator: Operator, program: IndexProgram
) -> tuple[list[str], list[str], dict[str, str]]:
    """What results and their gradients are called in the adjoint, and in a derivative formula."""
    taken = {argument.name for argument in operator.arguments}
    several = len(operator.result_names) > 1
    results, grads, spelled = [], [], {}
    for number, name in enumerate(operator.result_names[: len(program.results)]):
        own = program.results[number].removeprefix("grad_") if several else ""
        grad = _untaken(f"grad_output_{own}" if several else "grad_output", taken)
        result = _untaken(f"output_{own}" if several else "output", taken)
        grads.append(grad)
        results.append(result)
        spelled[grad] = f"grads[{number}]" if several else "grad"
        spelled[result] = name
    return results, grads, spelled


def _untaken(name: str, taken: set[str]) -> str:
    while name in taken:
        name = f"{name}_"
    taken.add(name)
    return name


def _operator(operator: Operator, adjoint: IndexProgram, given: Mapping[str, str]) -> Operator:
    """The operator of an adjoint program."""
    types = {argument.name: str(argument.type) for argument in operator.arguments}
    names = [*(tensor.name for tensor in adjoint.inputs), *adjoint.numbers]
    arguments = ", ".join(f"{types.get(name, given.get(name, 'Tensor'))} {name}" for name in names)
    if len(adjoint.results) > 1:
        arguments += f", bool[{len(adjoint.results)}] {OUTPUT_MASK}"
    returns = ", ".join([TENSOR] * len(adjoint.results))
    returns = f"({returns})" if len(adjoint.results) > 1 else returns
    text = f"{adjoint_name(operator.base_name)}({arguments}) -> {returns}"
    schema = parse_schema(text, operator.where)
    numbers = tuple(tensor.name for tensor in adjoint.inputs if tensor.type == "number")
    return replace(
        operator,
        schema=schema,
        variants=(FUNCTION,),
        python_module="torch",
        deprecated=(),
        superseded=None,
        dunders=(),
        aliases=(),
        foreach=(),
        promotion=Promotion("same", numbers),
        kind=Index(adjoint, is_derived=True),
        vmap=None,
        tags=("internal",),
        reference=None,
        samples=None,
        doc=f"The gradients of `{operator.base_name}`, derived from its statements.",
    )
