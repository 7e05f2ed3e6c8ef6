"""Emits torchgen_out/nodes/: a node per derivative, and the wrapper that records it."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from .. import formula as formulas
from ..model.derivative import Derivative, GradientKind
from ..model.formula import written_size
from ..model.plan import BackwardCase, Form, LoweredProgram, NodePlan, Step, Writes
from ..record import record
from ..write import File
from . import expressions, naming, references, saved_values, translate
from .environment import piece, render, render_pieces
from .saved_values import Assignment, Block

LONGEST_FORMULA = 70
"""Characters of a symbolic gradient that still explain something in a docstring."""


@record
class FusedItem:
    """A node whose gradients come from fused kernels."""

    node: str
    title: str
    formulas: tuple[str, ...]
    arguments: str
    inputs: str
    cases: tuple[tuple[str, str], ...]
    """(flags of the inputs, kernel)."""
    second: str
    """What its gradients pass through under create_graph; empty for nothing."""
    is_fused: bool = True


@record
class Recorder:
    """The maker of the calls that record a node, one for each signature."""

    name: str
    needs: str
    """Its parameters behind `below`."""
    parameters: str
    """Those of the call."""
    first: str
    form: str
    """single, several, view or views."""
    writes: str
    """never, always or in_place."""
    keeps_written: bool
    """Whether how the first argument is kept depends on the variant."""
    edges: str
    """Empty where `attach` takes the one edge."""
    saves: tuple[Block, ...]
    saves_of_result: tuple[Block, ...]
    attach: str


@record
class Item:
    """A node whose gradients come from formulas."""

    node: str
    base: str
    title: str
    formulas: tuple[str, ...]
    slots: str
    sees_missing: bool
    parameters: str
    """Of `apply`."""
    reads_edges: bool
    mask: str
    """Whether each gradient is needed; empty if no formula asks."""
    initial: tuple[str, ...]
    """What is None where no step computes it."""
    steps: tuple[Block, ...]
    returns: str
    second: str
    """What it returns under create_graph, if that is something else."""
    release: tuple[str, ...]
    recorder: Recorder
    is_fused: bool = False


def emit(program: LoweredProgram) -> Iterable[File]:
    """Emit one module per kind that has tables."""
    kinds = naming.modules(program, naming.TABLED)
    homes = _homes(program)
    for kind in kinds:
        operators = naming.of_kind(program, kind)
        names = [operator.name for operator in operators]
        derivatives = filter(None, map(program.derivative, operators))
        yield render_pieces(
            f"nodes/{kind}.py",
            "nodes.py.jinja",
            [_piece(program, name, homes) for name in names if name in program.nodes],
            package=program.package,
            own_formulas=_own_formulas(program),
            kind=kind,
            has_kernels=any(each.is_auto for each in derivatives if each.is_differentiable),
        )
    if kinds:
        yield render("nodes/__init__.py", "package.py.jinja", summary="The graph's nodes.")


def _piece(program: LoweredProgram, name: str, homes: Mapping[str, str]) -> str:
    def make() -> str:
        plan = program.nodes[name]
        item = _fused_item(plan) if plan.cases else _item(plan, homes)
        return piece("node_piece.py.jinja", item=item)

    return program.texts.of("nodes", name, make)


def _own_formulas(program: LoweredProgram) -> str:
    module = program.formulas_module
    return references.statement(module, "own_formulas") if module else ""


def _homes(program: LoweredProgram) -> dict[str, str]:
    """The module, as imported, of every function for derivative formulas."""
    library = dict.fromkeys(program.formulas, "formulas")
    return library | dict.fromkeys(program.own_formulas, "own_formulas")


# -- nodes of fused kernels ---------------------------------------------------------------------


def _fused_item(plan: NodePlan) -> FusedItem:
    return FusedItem(
        node=plan.derivative.node,
        title=plan.operator.name,
        formulas=tuple(_documented(plan.derivative, plan.cases)),
        arguments=translate.names_tuple(a.name for a in plan.operator.arguments),
        inputs=translate.names_tuple(a.name for a in plan.inputs),
        cases=tuple((translate.literal(c.flags(plan.inputs)), c.name) for c in plan.cases),
        second=_second(plan.derivative),
    )


# -- nodes of formulas --------------------------------------------------------------------------


def _item(plan: NodePlan, homes: Mapping[str, str]) -> Item:
    conditional = [step for step in plan.steps if step.is_conditional]
    reads_mask = any(step.reads_mask for step in plan.steps)
    local = translate.locals_of(plan.operator)
    second = _second(plan.derivative)
    return Item(
        node=plan.derivative.node,
        base="MultiOutputNode" if plan.form.has_several_outputs else "Node",
        title=plan.operator.name,
        formulas=tuple(_documented(plan.derivative)),
        slots=translate.names_tuple(sorted(saved_values.slot(s) for s in plan.saved)),
        sees_missing=plan.derivative.sees_missing,
        parameters="*grads" if plan.form.has_several_outputs else "grad",
        reads_edges=plan.reads_edges,
        mask="tuple(edge is not None for edge in edges)" if reads_mask else "",
        initial=tuple(f"grad_{name}" for step in conditional for name in step.inputs),
        steps=tuple(_apply_blocks(plan, homes, local)),
        returns=(returns := _returns(plan)),
        second=f"{second}(node, {_in_brackets(returns)})" if second else "",
        release=tuple(f"node.{saved_values.slot(s)}" for s in plan.saved if s.keep.is_tensor),
        recorder=_recorder(plan, local),
    )


def _recorder(plan: NodePlan, local: Mapping[str, str]) -> Recorder:
    variants = ["inplace=False"] if plan.writes is Writes.IN_PLACE else []
    of_result = [slot for slot in plan.saved if slot.value.is_result]
    of_arguments = [slot for slot in plan.saved if not slot.value.is_result]
    return Recorder(
        name=naming.record_name(plan),
        needs=", ".join([*(f"needs_{a.name}" for a in plan.inputs), *variants]),
        parameters=", ".join(local[a.name] for a in plan.operator.arguments),
        first=local[plan.operator.arguments[0].name],
        form=plan.form.name.lower(),
        writes=plan.writes.name.lower(),
        keeps_written=saved_values.keeps_written(plan),
        edges="" if _has_one_edge(plan) else _edges(plan, local),
        saves=saved_values.saves(plan, of_arguments, local),
        saves_of_result=saved_values.saves(plan, of_result, local),
        attach=_attach(plan, local),
    )


def _apply_blocks(
    plan: NodePlan, homes: Mapping[str, str], local: Mapping[str, str]
) -> Iterator[Block]:
    """What is read always, then each step, if an edge asks for it."""
    always = [saved_values.load(slot, local) for slot in plan.loads]
    if plan.grad_output is not None:
        always.insert(0, Assignment("grad", f"grads[{plan.grad_output}]"))
    yield Block("", tuple(always))
    positions = {a.name: i for i, a in enumerate(plan.inputs)}
    for step in plan.steps:
        tests = [f"edges[{positions[name]}] is not None" for name in step.inputs]
        condition = " or ".join(tests) if step.is_conditional else ""
        loads = [saved_values.load(slot, local) for slot in step.loads]
        targets = ", ".join(f"grad_{name}" for name in step.inputs)
        yield Block(condition, (*loads, Assignment(targets, _value(step, homes, local))))


def _value(step: Step, homes: Mapping[str, str], local: Mapping[str, str]) -> str:
    gradient = step.gradient
    if gradient.kind is GradientKind.NOT_IMPLEMENTED:
        return f'errors.raise_not_differentiable("{gradient.message}")'
    assert gradient.expression is not None
    return expressions.spelled(gradient.expression, homes=homes, names=local)


def _returns(plan: NodePlan) -> str:
    lists = [a.type.is_tensor_list for a in plan.inputs]
    names = [f"grad_{a.name}" for a in plan.inputs]
    if lists == [True]:
        return f"tuple({names[0]})"
    parts = [f"*({n} or ())" if many else n for n, many in zip(names, lists, strict=True)]
    if len(parts) == 1:
        return f"({parts[0]},)"
    return f"({', '.join(parts)})" if len(parts) > 5 else ", ".join(parts)


def _second(derivative: Derivative) -> str:
    which = derivative.second_gradients
    return "" if which is None else f"second_gradients.{which.value}"


def _in_brackets(returns: str) -> str:
    return returns if returns.endswith(")") else f"({returns})"


def _has_one_edge(plan: NodePlan) -> bool:
    """Whether one tensor always leads to the one result, and no call writes to either."""
    if plan.writes is not Writes.NEVER or plan.form not in (Form.SINGLE, Form.VIEW):
        return False
    return [e.is_conditional or e.argument.type.is_tensor_list for e in plan.edges] == [False]


def _edges(plan: NodePlan, local: Mapping[str, str]) -> str:
    """What `node.edges` is at the call."""
    parts = []
    for edge in plan.edges:
        name = local[edge.argument.name]
        if edge.argument.type.is_tensor_list:
            parts.append(f"*gradient_edges({name})")
        elif edge.is_conditional:
            parts.append(f"gradient_edge({name}) if needs_{edge.argument.name} else None")
        else:
            parts.append(f"gradient_edge({name})")
    if len(parts) == 1 and parts[0].startswith("*"):
        return parts[0].removeprefix("*")
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _attach(plan: NodePlan, local: Mapping[str, str]) -> str:
    """The call that makes the node the history of the result."""
    if plan.writes is not Writes.NEVER:
        return f"{'rebase_history' if plan.writes is Writes.ALWAYS else 'finish'}(result, node)"
    match plan.form:
        case Form.SINGLE if _has_one_edge(plan):
            return f"attach_unary(result, {local[plan.edges[0].argument.name]}, node)"
        case Form.SINGLE:
            return "attach(result, node)"
        case Form.SEVERAL:
            which = plan.derivative.output_differentiability
            return f"attach_outputs(result, node{f', {translate.literal(which)}' if which else ''})"
    first = local[plan.operator.arguments[0].name]
    return f"attach_{plan.form.name.lower()}(result, {first}, node)"


# -- docstrings ---------------------------------------------------------------------------------


def _documented(derivative: Derivative, cases: tuple[BackwardCase, ...] = ()) -> Iterator[str]:
    """The mathematics of each gradient; of an automatic one the symbolic result, if it is short."""
    for gradient in derivative.gradients:
        if gradient.kind is GradientKind.AUTO:
            for each in gradient.inputs:
                yield f"{each}: {_symbolic(each, cases)}"
            continue
        name = ", ".join(gradient.inputs)
        if gradient.kind is GradientKind.FORMULA:
            assert gradient.expression is not None
            text = translate.docstring(" ".join(gradient.expression.text.split()))
        else:
            text = gradient.kind.value
        yield f"{name}: {text}"


def _symbolic(name: str, cases: tuple[BackwardCase, ...]) -> str:
    """The automatic gradient of one input over public operators."""
    case = next((c for c in cases if c.needs == (name,) and not c.absent), None)
    if case is None or written_size(case.formula.outputs[0]) > LONGEST_FORMULA:
        return "auto"
    (text,) = formulas.tensor_expressions(case.formula)
    return f"{translate.docstring(text)} (auto)" if len(text) <= LONGEST_FORMULA else "auto"
