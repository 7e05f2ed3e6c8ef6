"""Plans: what is saved, which edges and cases a node has; decided before anything is emitted."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from codegen.check import read_program
from codegen.formula import parse_formula
from codegen.lower import lower, reduction
from codegen.model.expression import Save, SavedValue
from codegen.model.formula import Argument
from codegen.model.operator import adjoint_name, drawn_name, variant_name
from codegen.model.plan import Form, Keep, LoweredProgram, NodePlan, Slot, Writes
from codegen.model.roles import Role
from codegen.parse import Inputs

HERE = Path(__file__).resolve().parent


@pytest.fixture(scope="module")
def program() -> LoweredProgram:
    names = ("fixture.yaml", "fixture_derivatives.yaml", "fixture_formulas.py")
    return lower(read_program(Inputs(*(HERE / name for name in names))))


def roles(program: LoweredProgram, name: str) -> dict[str, Role]:
    operator = program.operator(name)
    assert operator is not None
    return {argument.name: operator.role(argument) for argument in operator.arguments}


def test_roles_of_arguments(program: LoweredProgram) -> None:
    assert list(roles(program, "add.Tensor").values()) == [Role.TENSOR, Role.NUMBER, Role.SCALAR]
    assert roles(program, "mean.dim")["dim"] is Role.RAW
    assert roles(program, "linalg_multi_dot") == {"tensors": Role.TENSORS}


@pytest.mark.parametrize("name", ["f", "_f"])
def test_what_is_derived_of_an_operator_is_never_mangled_in_a_class(name: str) -> None:
    names = [adjoint_name(name), drawn_name(name), variant_name(name, ()), variant_name(name, "w")]
    names += [adjoint_name(each) for each in names]
    assert all(each.startswith("_") and not each.startswith("__") for each in names)


@pytest.mark.parametrize(
    ("given", "expected"),
    [
        ("acc if isnan(x) else acc + x", "acc + (0 if isnan(x) else x)"),
        ("x * acc if x > 0 else acc", "acc * (x if x > 0 else 1)"),
        ("acc if acc > x else acc + x", "acc if acc > x else acc + x"),
        ("acc if x > 0 else max(acc, x)", "acc if x > 0 else max(acc, x)"),
        ("acc if x > 0 else acc + x * acc", "acc if x > 0 else acc + x * acc"),
    ],
)
def test_a_fold_always_adds_and_decides_what(given: str, expected: str) -> None:
    arguments = [Argument("acc"), Argument("x")]
    read, wanted = (parse_formula(text, arguments=arguments) for text in (given, expected))
    assert reduction.joined(read).outputs == wanted.outputs


def test_what_a_formula_reads_is_kept_for_those_who_need_it(program: LoweredProgram) -> None:
    mm = program.nodes["mm"]
    assert mm.saved == (
        Slot(SavedValue("mat2", Save.TENSOR), Keep.TENSOR, ("self",)),
        Slot(SavedValue("self", Save.TENSOR), Keep.TENSOR, ("mat2",)),
    )
    assert [step.inputs for step in mm.steps] == [("self",), ("mat2",)]
    assert all(step.is_conditional for step in mm.steps) and mm.reads_edges
    assert all(edge.is_conditional for edge in mm.edges)
    assert (mm.form, mm.writes, mm.cases) == (Form.SINGLE, Writes.NEVER, ())


def test_the_sole_input_has_an_edge_and_its_values_are_always_kept(
    program: LoweredProgram,
) -> None:
    values = program.nodes["max.dim"]
    assert [edge.is_conditional for edge in values.edges] == [False]
    assert {slot.needed_by for slot in values.saved} == {()} and values.loads == values.saved
    assert [slot.keep for slot in values.saved][-1] is Keep.RESULT
    assert (values.form, values.grad_output) == (Form.SEVERAL, 0)


def test_forms_of_results_and_what_is_written(program: LoweredProgram) -> None:
    found = {name: (plan.form, plan.writes) for name, plan in program.nodes.items()}
    assert found["transpose.int"] == (Form.VIEW, Writes.NEVER)
    assert found["unbind.int"] == (Form.VIEWS, Writes.NEVER)
    assert found["zero_"] == (Form.SINGLE, Writes.ALWAYS)
    assert found["add.Tensor"] == (Form.SINGLE, Writes.IN_PLACE)


def test_fused_cases_by_needs_and_absence(program: LoweredProgram) -> None:
    clamp = program.nodes["clamp"]
    flags = [case.flags(clamp.inputs) for case in clamp.cases]
    assert flags[0] == (True, True, True) and len(flags) == len(set(flags)) == 13
    assert (False, None, True) in flags and (None, None, None) not in flags
    mul = program.nodes["mul.Tensor"].cases
    assert [(case.name, case.reads) for case in mul] == [
        ("mul_Tensor_backward_self_other", ("self", "other")),
        ("mul_Tensor_backward_self", ("other",)),
        ("mul_Tensor_backward_other", ("self",)),
    ]


def test_what_a_fused_kernel_takes(program: LoweredProgram) -> None:
    (softplus,) = program.nodes["softplus"].cases
    assert softplus.operands == (("grad", Role.TENSOR), ("self", Role.TENSOR))
    assert softplus.values == (("beta", Role.SCALAR), ("threshold", Role.SCALAR))
    assert softplus.promoted == ("grad", "self")
    both = program.nodes["mul.Tensor"].cases[0]
    assert dict(both.operands)["other"] is Role.NUMBER


def test_formulas_without_absent_operands_and_at_defaults(program: LoweredProgram) -> None:
    absent = [names for names, _ in program.pointwise["clamp"].forms]
    assert absent == [(), ("min",), ("max",)]
    add = program.pointwise["add.Tensor"]
    assert add.defaults == {"alpha": 1} and add.at_defaults is not None
    assert [a.name for a in add.at_defaults.arguments] == ["self", "other"]


def test_plans_hold_no_code(program: LoweredProgram) -> None:
    """What a plan says of its own is names: code is written by emit/ alone."""
    found = [text for plan in program.nodes.values() for text in texts(plan)]
    assert len(found) > 20
    assert [text for text in found if not text.isidentifier()] == []


def texts(plan: Any) -> Iterator[str]:
    """The strings of a plan and the plans in it, not of the model that it points to."""
    if isinstance(plan, str):
        yield plan
    elif isinstance(plan, tuple):
        for each in plan:
            yield from texts(each)
    elif type(plan).__module__ in (NodePlan.__module__, SavedValue.__module__):
        for field in dataclasses.fields(plan) if dataclasses.is_dataclass(plan) else ():
            yield from texts(getattr(plan, field.name))
