"""Cases of the operator tests: calls with NumPy data, built from the `samples:` of the YAML files.

A case says what to call and with which data. Nothing here knows a tensor library; `calls.py` turns
a case into tensors of one.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np

from codegen.check import read_program
from codegen.model.operator import Domain, Operator, Pointwise, Reduction
from codegen.model.program import Program
from codegen.model.schema import Argument
from codegen.parse import Inputs
from tests import op_samples
from tests.inputs import COMPLEX, INTEGRAL, Input, constructors, is_input, rounded

ROOT = Path(__file__).resolve().parent.parent
EMPTY: Mapping[str, Any] = MappingProxyType({})


@cache
def program() -> Program:
    """The operators and derivatives under test."""
    formulas = ROOT / "runtime" / "autograd" / "formulas"
    return read_program(Inputs(ROOT / "native_functions.yaml", ROOT / "derivatives.yaml", formulas))


# ----------------------------------------------------------------------------------------------
# Cases


@dataclass(frozen=True, slots=True)
class Case:
    """One call: an operator, its arguments by name, and what is special about it."""

    operator: Operator
    label: str
    arguments: Mapping[str, Any]
    """Input, a list of Input, or a plain value."""
    raises: str | None = None
    """Name of the exception class that the call must raise."""
    source: str = field(default="", compare=False)
    """The sample as written, for messages."""

    def __str__(self) -> str:
        return f"{self.operator.name}-{self.label}"

    @property
    def inputs(self) -> tuple[Input, ...]:
        """All tensors among the arguments, in order; those inside lists too."""
        found: list[Input] = []
        for value in self.arguments.values():
            found += [v for v in (value if isinstance(value, list) else [value]) if is_input(v)]
        return tuple(found)

    @property
    def is_empty(self) -> bool:
        """Whether some tensor has no element."""
        return any(each.data.size == 0 for each in self.inputs)


@cache
def cases(operator: Operator) -> tuple[Case, ...]:
    """All cases of an operator: from the YAML samples, and those of op_samples.py."""
    return (*_yaml_cases(operator), *_extra_cases(operator))


def _yaml_cases(operator: Operator) -> Iterator[Case]:
    samples = operator.samples
    if samples is None:
        return
    for i, call in enumerate(samples.calls):
        yield _call_case(operator, str(i), dict(call.arguments), call.raises)
    if not samples.calls:
        reduces = isinstance(operator.kind, Reduction)
        yield from _reduction_cases(operator) if reduces else _domain_cases(operator)


def _extra_cases(operator: Operator) -> Iterator[Case]:
    for i, call in enumerate(op_samples.EXTRA.get(operator.name, ())):
        arguments = {name: text for name, text in call.items() if name != "raises"}
        yield _call_case(operator, f"extra{i}", arguments, call.get("raises"))


def _call_case(
    operator: Operator, label: str, texts: Mapping[str, Any], raises: str | None
) -> Case:
    names = constructors(f"{operator.name} {label}")
    source = ", ".join(f"{name}={text}" for name, text in texts.items())
    values = {
        name: evaluate(str(text), names, operator.schema.argument(name))
        for name, text in texts.items()
    }
    return Case(operator, label, values, raises, source)


def evaluate(text: str, names: Mapping[str, Any], argument: Argument | None) -> Any:
    """Evaluate a sample expression; a quoted one (in a list of tensors) is evaluated again."""
    value = eval(text, {"__builtins__": {"float": float, "complex": complex}}, dict(names))
    if argument is not None and argument.type.holds_tensors:
        if isinstance(value, str):
            return evaluate(value, names, argument)
        if isinstance(value, list):
            return [evaluate(v, names, argument) if isinstance(v, str) else v for v in value]
    return value


def _domain(operator: Operator, name: str) -> tuple[float, float]:
    domains: Sequence[Domain] = operator.samples.domains if operator.samples else ()
    return next(((d.low, d.high) for d in domains if d.argument == name), (-3.0, 3.0))


class _Arguments:
    """Makes the arguments of one operator from domains and choices."""

    def __init__(self, operator: Operator) -> None:
        self.operator = operator
        self.tensors = [a.name for a in operator.tensor_arguments]
        assert operator.samples is not None
        self.choices = {
            choice.argument: [evaluate(v, constructors(""), None) for v in choice.values]
            for choice in operator.samples.choices
        }
        self.generator = np.random.default_rng(zlib.crc32(operator.name.encode()))

    def tensor(
        self, name: str, shape: tuple[int, ...], dims: tuple[int, ...] | None = None
    ) -> Input:
        low, high = _domain(self.operator, name)
        taking_part = self.operator.promotion.arguments
        is_beside = taking_part is not None and name not in taking_part
        argument = self.operator.schema.argument(name)
        if is_beside and argument is not None and argument.type.is_union:  # a number
            return Input(np.asarray(self.generator.uniform(low, high)), "any")
        data = self.generator.uniform(low, high, shape)
        data = data if dims is None else data.transpose(dims)
        if is_beside:
            return Input(data > (low + high) / 2, "same", dims)  # a condition
        return Input(data, "any", dims)

    def call(
        self, *shapes: tuple[int, ...], scalars: int = 0, fixed: Mapping[str, Any] = EMPTY
    ) -> dict[str, Any]:
        """One set of arguments; the last shape stands for all further tensors."""
        values: dict[str, Any] = {}
        for argument in self.operator.arguments:
            name = argument.name
            if name in fixed:
                values[name] = fixed[name]
            elif name in self.tensors:
                i = self.tensors.index(name)
                values[name] = self.tensor(name, shapes[min(i, len(shapes) - 1)])
            elif name in self.choices:
                values[name] = self.choices[name][min(scalars, len(self.choices[name]) - 1)]
        return values


def _domain_cases(operator: Operator) -> Iterator[Case]:
    """Usual, other scalars, permuted, broadcast, numbers for tensors, absent, 0-d, empty."""
    make = _Arguments(operator)

    def case(label: str, values: Mapping[str, Any]) -> Case:
        return Case(operator, label, values)

    yield case("usual", make.call((3, 4)))
    for i in range(1, max(map(len, make.choices.values()), default=0)):
        yield case(f"scalars{i}", make.call((3, 4), scalars=i))
    if not make.tensors:
        return
    first = make.tensors[0]
    yield case("permuted", make.call((3, 4), fixed={first: make.tensor(first, (4, 3), (1, 0))}))
    if len(make.tensors) > 1:
        yield case("broadcast", make.call((3, 1), (4,)))
        yield Case(operator, "mismatch", make.call((3,), (4,)), "RuntimeError")
    for label, fixed in _numbers(operator):
        if len(fixed) < len(make.tensors):
            yield case(label, make.call((3, 4), fixed=fixed))
    for argument in operator.tensor_arguments:
        if argument.type.is_optional:
            yield case(f"no_{argument.name}", make.call((3, 4), fixed={argument.name: None}))
    yield case("scalar", make.call(()))
    yield case("empty", make.call((0,)))


def _numbers(operator: Operator) -> Iterator[tuple[str, dict[str, Any]]]:
    """Numbers in place of tensors: one by one, optional ones together."""
    unions = [a for a in operator.tensor_arguments if a.type.is_union]
    optional = [a.name for a in unions if a.type.is_optional]
    for names in ([a.name] for a in unions if not a.type.is_optional):
        yield f"number_{names[0]}", {name: _number(operator, name) for name in names}
    if optional:
        yield "numbers", {name: _number(operator, name) for name in optional}


def _number(operator: Operator, name: str) -> float | int:
    """A number inside the domain of an argument."""
    low, high = _domain(operator, name)
    number = low + 0.7 * (high - low)
    return round(number, 1) if "float64" in operator.dtype_names else round(number)


def _reduction_cases(operator: Operator) -> Iterator[Case]:
    make = _Arguments(operator)
    name = make.tensors[0]
    has_dim = operator.schema.argument("dim") is not None

    def case(label: str, self: Input, raises: str | None = None, **fixed: Any) -> Case:
        return Case(operator, label, {name: self, **fixed}, raises)

    yield case("usual", make.tensor(name, (3, 4)))
    yield case("permuted", make.tensor(name, (4, 3), (1, 0)))
    yield case("scalar", make.tensor(name, ()))
    if has_dim:
        yield case("inner", make.tensor(name, (2, 3, 4)), dim=-1)
        yield case("outer", make.tensor(name, (2, 3, 4)), dim=0, keepdim=True)
        yield case("permuted_inner", make.tensor(name, (4, 3), (1, 0)), dim=1)
        yield case("empty_outer", make.tensor(name, (0, 3)), dim=1)
        yield case("bad_dim", make.tensor(name, (3, 4)), "IndexError", dim=5)
        if operator.schema.argument("dim").type.is_list:
            yield case("two_dims", make.tensor(name, (2, 3, 4)), dim=[0, 2])
    assert isinstance(operator.kind, Reduction)
    if operator.kind.identity is None:
        yield case("empty", make.tensor(name, (0,)), "RuntimeError")
    else:
        yield case("empty", make.tensor(name, (0,)))


def is_pointwise(operator: Operator) -> bool:
    """Whether a scalar formula defines the operator."""
    return isinstance(operator.kind, Pointwise)


def on_grid(case: Case, label: str, grid: Sequence[float]) -> Case:
    """The case with all combinations of `grid` in its first two tensors; the others stay usual."""
    names = [name for name, value in case.arguments.items() if is_input(value)]
    axes = np.meshgrid(*[np.array(grid)] * min(len(names), 2), indexing="ij")
    values = dict(case.arguments)
    for i, name in enumerate(names):
        usual = values[name]
        if i >= 2 and not usual.data.ndim:
            continue
        data = axes[i] if i < 2 else np.full(axes[0].shape, usual.data.flat[0])
        is_condition = usual.kind == "same"
        values[name] = Input(data > 0, "same") if is_condition else Input(data, "any")
    return Case(case.operator, label, values)


def with_ties(case: Case) -> Case:
    """The case with few different numbers in its tensors."""
    values = {
        name: Input(np.resize([2.0, 5.0, 5.0, 0.5, 5.0], value.data.shape), "any")
        if is_input(value)
        else value
        for name, value in case.arguments.items()
    }
    return Case(case.operator, f"{case.label}-ties", values)


def is_element_wise(operator: Operator) -> bool:
    """Whether the promotion rule tells the result's dtype: a formula or a reduction."""
    return isinstance(operator.kind, Pointwise | Reduction)


def is_quick(case: Case) -> bool:
    """Whether a case is worth its compile time in the quick tier of the gradients.

    Loops and broadcasting are the same for every formula: a sixth of the formulas is enough to
    test them; of the others the usual case is.
    """
    if not is_pointwise(case.operator) or is_one_of(case.operator, 6):
        return True
    return case.label == "usual" or case.label.startswith("extra")


def accepted(operator: Operator) -> list[str]:
    """The dtypes of inputs that an element-wise operator declares; integers may become float32."""
    names = list(operator.dtype_names)
    if operator.promotion.rule == "int_to_float":
        names += [name for name in ("bool", *INTEGRAL) if name not in names]
    return names


def rarer(operator: Operator) -> list[str]:
    """Two accepted dtypes that other tests do not run in, others for every operator.

    A kernel takes time to compile: all of them are the full tier's.
    """
    names = [name for name in accepted(operator) if name not in ("float32", "float64")]
    start = zlib.crc32(operator.name.encode())
    picked = [names[(start + 3 * i) % len(names)] for i in range(2 if names else 0)]
    return list(dict.fromkeys(picked))


def is_one_of(operator: Operator, several: int) -> bool:
    """Whether an operator stands for so many in the quick tier, the same ones in every run."""
    return zlib.crc32(operator.name.encode()) % several == 0


def at_dtype(case: Case, dtype: str) -> Case:
    """The case with data that the dtype under test holds exactly; complex ones leave the line."""

    def turned(value: Any) -> Any:
        if isinstance(value, list):
            return [turned(each) for each in value]
        if not is_input(value) or value.kind == "same":
            return value
        if dtype in COMPLEX and not np.iscomplexobj(value.data):
            phase = 0.3 + 0.1 * np.arange(value.data.size).reshape(value.data.shape) % 1
            return replace(value, data=value.data * np.exp(1j * phase))
        return replace(value, data=rounded(value.data, dtype))

    return replace(case, arguments={n: turned(value) for n, value in case.arguments.items()})
