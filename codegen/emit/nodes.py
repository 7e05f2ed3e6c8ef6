"""Emits torchgen_out/nodes/: a node per derivative, and the wrapper that records it."""

from __future__ import annotations

import ast
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass

from codegen import formula as formulas
from codegen.emit import automatic, naming, references, translate
from codegen.emit.environment import render
from codegen.model.derivative import Derivative, Gradient, GradientKind
from codegen.model.expression import Expression, Save, SavedValue
from codegen.model.operator import Operator
from codegen.model.program import Program
from codegen.model.schema import Argument
from codegen.write import File

PARTS = {
    Save.DTYPE: "{}.dtype",
    Save.DEVICE: "{}.device",
    Save.LAYOUT: "{}.layout",
    Save.NDIM: "{}.ndim",
    Save.NUMEL: "{}.numel()",
    Save.SIZES: "{}._sizes",
    Save.STRIDES: "{}._strides",
    Save.STORAGE_OFFSET: "{}._offset",
    Save.VALUE: "{}",
}


LONGEST_FORMULA = 70
"""Characters of a symbolic gradient that still explain something in a docstring."""


@dataclass(frozen=True, slots=True)
class Saved:
    """One slot of a node: how it is filled at the call, and read in backward."""

    slot: str
    local: str
    condition: str
    """When it is needed, over the `needs_` flags; empty for always."""
    save: str
    save_inplace: str
    load: str
    is_result: bool
    is_tensor: bool


@dataclass(frozen=True, slots=True)
class Step:
    """One gradient, or several at once: `if condition: targets = value`."""

    condition: str
    targets: str
    value: str
    loads: tuple[str, ...]
    """What only this step reads from the node."""
    needs_mask: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """A fused backward kernel for one set of needs."""

    needs: str
    loads: tuple[str, ...]
    numbers: tuple[str, ...]
    """Operands read that may be plain numbers."""
    kernel: str
    key: str
    arguments: str
    result: str
    """What `apply` returns, over `grads`."""


@dataclass(frozen=True, slots=True)
class Flag:
    """`saves_x = needs in (...)`: whether any kernel of these needs reads x."""

    name: str
    needs: str


@dataclass(frozen=True, slots=True)
class Item:
    """One node class with its wrappers."""

    node: str
    base: str
    record: str
    title: str
    formulas: tuple[str, ...]
    slots: str
    grad_parameters: str
    grad_lines: tuple[str, ...]
    saved: tuple[Saved, ...]
    steps: tuple[Step, ...]
    initial: tuple[str, ...]
    returns: str
    cases: tuple[Case, ...]
    flags: tuple[Flag, ...]
    has_needs: bool
    reads_edges: bool
    loads: tuple[str, ...]
    """What every gradient reads from the node."""
    release: tuple[str, ...]
    needs: str
    """Parameters of the record maker."""
    needs_tuple: str
    parameters: str
    edges: str
    style: str
    """single, several, view or views."""
    differentiability: str
    sees_missing: bool
    has_function: bool
    has_inplace: bool
    first: str


def emit(program: Program) -> Iterable[File]:
    """Emit one module per kind that has tables."""
    kinds = naming.modules(program, naming.TABLED)
    for kind in kinds:
        items = []
        for operator in naming.of_kind(program, kind):
            derivative = program.derivative(operator)
            if derivative is not None and derivative.is_differentiable:
                items.append(_item(program, operator, derivative))
        yield render(
            f"nodes/{kind}.py",
            "nodes.py.jinja",
            package=program.package,
            own_formulas=_own_formulas(program),
            kind=kind,
            items=items,
        )
    if kinds:
        yield render("nodes/__init__.py", "package.py.jinja", summary="The graph's nodes.")


def _own_formulas(program: Program) -> str:
    module = program.formulas_module
    return references.statement(module, "own_formulas") if module else ""


# -- one derivative ---------------------------------------------------------------------------


def _item(program: Program, operator: Operator, derivative: Derivative) -> Item:
    inputs = [a for a in operator.arguments if a.name in derivative.differentiable_inputs]
    cases = automatic.backward_cases(program, operator)
    flags = tuple(_flags(operator, cases, inputs))
    saved = tuple(_saved(operator, derivative, cases))
    multi = len(operator.schema.returns) > 1
    is_view = naming.kind_of(operator) == "view"
    is_list = operator.schema.returns[0].type.is_list
    style = ("views" if is_list else "view") if is_view else ("several" if multi else "single")
    needs = [f"needs_{a.name}" for a in inputs]
    steps = () if cases else tuple(_steps(program, derivative, inputs, saved))
    slots = [s.slot for s in saved] + (["needs"] if len(cases) > 1 else [])
    return Item(
        node=derivative.node,
        base="MultiOutputNode" if style in ("several", "views") else "Node",
        record=naming.record_name(operator),
        title=operator.name,
        formulas=tuple(_documented(derivative, cases)),
        slots=_slots(slots),
        grad_parameters="*grads" if style in ("several", "views") else "grad",
        grad_lines=tuple(_grad_lines(derivative, style)),
        saved=saved,
        steps=steps,
        initial=tuple(f"grad_{a.name}" for a in inputs),
        returns=_returns(inputs),
        cases=tuple(_case(operator, case, [a.name for a in inputs], saved) for case in cases),
        flags=flags,
        has_needs=len(cases) > 1,
        reads_edges=any(step.condition or step.needs_mask for step in steps),
        loads=() if cases else tuple(f"{s.local} = {s.load}" for s in saved if not s.condition),
        release=tuple(f"node.{s.slot}" for s in saved if s.is_tensor),
        needs=", ".join(needs),
        needs_tuple=f"({', '.join(needs)}{',' if len(needs) == 1 else ''})",
        parameters=", ".join(translate.parameter(a) for a in operator.arguments),
        edges=_edges(inputs),
        style=style,
        differentiability=_differentiability(derivative),
        sees_missing=derivative.sees_missing,
        has_function=not operator.is_inplace,
        has_inplace=operator.is_inplace or operator.has_inplace,
        first=translate.parameter(operator.arguments[0]),
    )


def _slots(names: list[str]) -> str:
    quoted = ", ".join(f'"{name}"' for name in sorted(names))
    return f"({quoted},)" if len(names) == 1 else f"({quoted})"


def _is_number(operator: Operator, name: str) -> bool:
    argument = operator.schema.argument(name)
    return argument is not None and "Scalar" in argument.type.names


def _documented(derivative: Derivative, cases: tuple[automatic.BackwardCase, ...]) -> Iterator[str]:
    """The mathematics of each gradient; of an automatic one the symbolic result, if it is short."""
    for gradient in derivative.gradients:
        name = ", ".join(gradient.inputs)
        if gradient.kind is GradientKind.FORMULA:
            assert gradient.expression is not None
            text = translate.docstring(" ".join(gradient.expression.text.split()))
        elif gradient.kind is GradientKind.AUTO:
            text = _symbolic(gradient.inputs, cases)
        else:
            text = gradient.kind.value
        yield f"{name}: {text}"


def _symbolic(inputs: tuple[str, ...], cases: tuple[automatic.BackwardCase, ...]) -> str:
    """The automatic gradient of one input over public operators."""
    case = next((c for c in cases if c.needs == inputs and not c.absent), None)
    if case is None:
        return "auto"
    (text,) = formulas.tensor_expressions(case.formula)
    return f"{translate.docstring(text)} (auto)" if len(text) <= LONGEST_FORMULA else "auto"


def _grad_lines(derivative: Derivative, style: str) -> Iterator[str]:
    """How `grad` and `grads[i]` come from what the engine passes."""
    if style not in ("several", "views"):
        return
    first = 0
    if derivative.output_differentiability:
        first = derivative.output_differentiability.index(True)
    expressions = [g.expression for g in derivative.gradients if g.expression]
    if any(e.uses("grad") for e in expressions):
        yield f"grad = grads[{first}]"


def _returns(inputs: list[Argument]) -> str:
    parts = [
        f"*(grad_{a.name} or ())" if a.type.is_tensor_list else f"grad_{a.name}" for a in inputs
    ]
    if len(inputs) == 1 and inputs[0].type.is_tensor_list:
        return f"tuple(grad_{inputs[0].name})"
    if len(parts) == 1:
        return f"({parts[0]},)"
    return f"({', '.join(parts)})" if len(parts) > 5 else ", ".join(parts)


def _edges(inputs: list[Argument]) -> str:
    parts = []
    for argument in inputs:
        name = translate.parameter(argument)
        if argument.type.is_tensor_list:
            parts.append(f"*gradient_edges({name})")
        elif argument.type.is_optional or len(inputs) > 1 or "Scalar" in argument.type.names:
            parts.append(f"gradient_edge({name}) if needs_{argument.name} else None")
        else:
            parts.append(f"gradient_edge({name})")
    if len(inputs) == 1 and inputs[0].type.is_tensor_list:
        return parts[0].removeprefix("*")
    return f"({parts[0]},)" if len(parts) == 1 else f"({', '.join(parts)})"


def _differentiability(derivative: Derivative) -> str:
    if derivative.output_differentiability is None:
        return ""
    inner = ", ".join(str(flag) for flag in derivative.output_differentiability)
    return f", ({inner})"


# -- hand-written formulas ----------------------------------------------------------------------


def _steps(
    program: Program, derivative: Derivative, inputs: list[Argument], saved: tuple[Saved, ...]
) -> Iterator[Step]:
    positions = {a.name: i for i, a in enumerate(inputs)}
    lists = {a.name for a in inputs if a.type.is_tensor_list}
    for gradient in derivative.gradients:
        names = [name for name in gradient.inputs if name in positions]
        if gradient.kind is GradientKind.NON_DIFFERENTIABLE or not names:
            continue
        alone = len(inputs) == len(names) or lists & set(names)
        tests = [] if alone else [f"edges[{positions[name]}] is not None" for name in names]
        own = {value.local for value in gradient.saved}
        loads = tuple(f"{s.local} = {s.load}" for s in saved if s.condition and s.local in own)
        mask = gradient.expression is not None and gradient.expression.uses("grad_input_mask")
        targets = ", ".join(f"grad_{name}" for name in names)
        yield Step(" or ".join(tests), targets, _value(gradient, _homes(program)), loads, mask)


def _homes(program: Program) -> dict[str, str]:
    """The module, as imported, of every function for derivative formulas."""
    library = dict.fromkeys(program.formulas, "formulas")
    return library | dict.fromkeys(program.own_formulas, "own_formulas")


def _value(gradient: Gradient, homes: Mapping[str, str]) -> str:
    if gradient.kind is GradientKind.NOT_IMPLEMENTED:
        return f'errors.raise_not_differentiable("{gradient.message}")'
    assert gradient.expression is not None
    return python_expression(gradient.expression, homes=homes)


def python_expression(
    expression: Expression, text: str | None = None, homes: Mapping[str, str] | None = None
) -> str:
    """An expression with operators and named functions found where they are.

    text: the expression in another form than `code`, with saved parts by their local names.
    homes: the modules of functions for derivative formulas; `x.f()` is then `formulas.f(x)`, too.
    """
    tree = ast.parse((text or expression.code).strip(), mode="eval")
    return translate.expression_text(_Resolve(expression, homes or {}).visit(tree))


class _Resolve(ast.NodeTransformer):
    """An operator is `ops.name`, a named function `formulas.name`, also written as a method."""

    def __init__(self, expression: Expression, homes: Mapping[str, str]) -> None:
        self.homes = homes
        self.operators = set(expression.operators)

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        function = node.func
        if isinstance(function, ast.Name):
            if function.id in self.operators:
                node.func = _attribute("ops", function.id)
            elif function.id in self.homes:
                node.func = _attribute(self.homes[function.id], function.id)
        elif isinstance(function, ast.Attribute) and function.attr in self.homes:
            named = _attribute(self.homes[function.attr], function.attr)
            return ast.Call(named, [function.value, *node.args], node.keywords)
        return node


def _attribute(module: str, name: str) -> ast.Attribute:
    return ast.Attribute(ast.Name(module, ast.Load()), name, ast.Load())


# -- saved values -------------------------------------------------------------------------------


def _saved(
    operator: Operator, derivative: Derivative, cases: tuple[automatic.BackwardCase, ...]
) -> Iterator[Saved]:
    if cases:
        yield from _saved_by_cases(operator, cases)
        return
    inputs = derivative.differentiable_inputs
    for value in derivative.saved:
        readers = [
            name
            for gradient in derivative.gradients
            if value in gradient.saved
            for name in gradient.inputs
            if name in inputs
        ]
        condition = " or ".join(f"needs_{name}" for name in readers)
        if len(inputs) == 1 or set(readers) == set(inputs):
            condition = ""
        name = translate.parameter_text(value.name)
        yield _saved_value(operator, value.name, name, value, condition)


def _saved_value(
    operator: Operator, name: str, variable: str, value: SavedValue, condition: str
) -> Saved:
    slot = f"saved_{value.local}"
    what = value.what
    if value.is_result:
        target = "result" if len(operator.schema.returns) == 1 else f"result[{value.result_index}]"
        if what in (Save.TENSOR, Save.TENSORS):
            save = f"save_result({target}, {value.result_index})"
            return Saved(slot, value.local, condition, save, save, _unpack(slot), True, True)
        text = PARTS[what].format(target)
        return Saved(slot, value.local, condition, text, text, f"node.{slot}", True, False)
    if what is Save.TENSORS:
        return Saved(
            slot,
            value.local,
            condition,
            f"save_all({variable})",
            f"save_all({variable})",
            f"unpack_all(node.{slot}, node)",
            False,
            True,
        )
    if what is Save.TENSOR:
        is_number = _is_number(operator, name)
        save = f"save_operand({variable})" if is_number else f"save({variable})"
        inplace = f"save_original({variable})" if name == operator.arguments[0].name else save
        return Saved(slot, value.local, condition, save, inplace, _unpack(slot), False, True)
    argument = operator.schema.argument(name)
    if argument is not None and argument.type.is_tensor_list and what is not Save.VALUE:
        text = f"[{PARTS[what].format('each')} for each in {variable}]"
    else:
        text = PARTS[what].format(variable)
    return Saved(slot, value.local, condition, text, text, f"node.{slot}", False, False)


def _unpack(slot: str) -> str:
    return f"unpack(node.{slot}, node)"


def _saved_by_cases(
    operator: Operator, cases: tuple[automatic.BackwardCase, ...]
) -> Iterator[Saved]:
    single = len({name for case in cases for name in case.needs}) == 1
    order = [a.name for a in operator.arguments] + ["result"]
    read = {name for case in cases for name in case.reads}
    for position, name in enumerate(order):
        if name not in read:
            continue
        always = single or all(name in case.reads for case in cases)
        condition = "" if always else f"saves_{name}"
        slot = f"saved_{name}"
        if name == "result":
            yield Saved(
                slot,
                name,
                condition,
                "save_result(result)",
                "save_result(result)",
                _unpack(slot),
                True,
                True,
            )
            continue
        variable = translate.parameter_text(name)
        if not translate.is_operand(operator.arguments[position], position):
            yield Saved(slot, name, condition, variable, variable, f"node.{slot}", False, False)
            continue
        save = f"save_operand({variable})" if _is_number(operator, name) else f"save({variable})"
        inplace = f"save_original({variable})" if position == 0 else save
        yield Saved(slot, name, condition, save, inplace, _unpack(slot), False, True)


# -- fused kernels ------------------------------------------------------------------------------


def _needs_value(case: automatic.BackwardCase, inputs: list[str]) -> str:
    flags = ["None" if name in case.absent else str(name in case.needs) for name in inputs]
    return f"({', '.join(flags)}{',' if len(flags) == 1 else ''})"


def _flags(
    operator: Operator, cases: tuple[automatic.BackwardCase, ...], inputs: list[Argument]
) -> Iterator[Flag]:
    names = [a.name for a in inputs]
    if len(names) < 2:
        return
    for name in (*(a.name for a in operator.arguments), "result"):
        readers = [case for case in cases if name in case.reads]
        if not readers or len(readers) == len(cases):
            continue
        needs = ", ".join(_needs_value(case, names) for case in readers)
        yield Flag(name, f"({needs}{',' if len(readers) == 1 else ''})")


def _case(
    operator: Operator,
    case: automatic.BackwardCase,
    inputs: list[str],
    saved: tuple[Saved, ...],
) -> Case:
    read = [a.name for a in case.formula.arguments]
    loads = tuple(f"{s.local} = {s.load}" for s in saved if s.local in read)
    numbers = tuple(
        name
        for name in case.reads
        if name != "result"
        and _is_number(operator, name)
        and any(s.local == name and s.is_tensor for s in saved)
    )
    keys = []
    for name in read:
        if name in ("grad", "result"):
            keys.append(f"{name}._key")
            continue
        position = next(i for i, a in enumerate(operator.arguments) if a.name == name)
        argument = operator.arguments[position]
        if not translate.is_operand(argument, position):
            continue
        local = name
        if "Scalar" in argument.type.names:
            keys.append(f"kind_of({local})")
        else:
            keys.append(f"{local}._key")
    return Case(
        _needs_value(case, inputs),
        loads,
        numbers,
        case.name,
        ", ".join(keys),
        ", ".join(read),
        _case_result(case, inputs),
    )


def _case_result(case: automatic.BackwardCase, inputs: list[str]) -> str:
    if len(inputs) == 1:
        return "(grads,)"
    if len(case.needs) == 1:
        parts = ["grads" if name in case.needs else "None" for name in inputs]
    elif len(case.needs) == len(inputs):
        return "grads"
    else:
        parts = [
            f"grads[{case.needs.index(name)}]" if name in case.needs else "None" for name in inputs
        ]
    return f"({', '.join(parts)})"


def renamed(expression: str, old: str, new: str) -> str:
    """An expression with one variable called otherwise."""
    tree = ast.parse(expression, mode="eval")
    for node in ast.walk(tree):
        if isinstance(node, ast.Name) and node.id == old:
            node.id = new
    return translate.expression_text(tree)
