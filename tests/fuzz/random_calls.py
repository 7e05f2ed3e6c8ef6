"""Calls drawn at random: an operator's sample with its tensors and numbers changed.

A call is data: the same seed and number give the same call in any process, for any library.
"""

from __future__ import annotations

import zlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path
from typing import Any

import numpy as np

from codegen.model.operator import Operator
from codegen.model.schema import Argument, Type
from codegen.parse.entries import OperatorReader
from codegen.parse.report import Report
from codegen.parse.yaml_nodes import Source
from codegen.parse.yaml_reader import read_yaml
from tests import calls, harness
from tests.fuzz.laid_out import LAYOUTS, Stored, lay_out
from tests.inputs import COMPLEX, FLOATING, INTEGRAL, DtypeName, Input, is_input

Generator = np.random.Generator

FUNCTIONS = Path(__file__).parent / "functions.yaml"
"""Public functions that are no operators."""
WAYS = ("function", "method", "inplace", "out", "gradient")
OUTS = ("right", "stepped", "short", "long", "dtype", "self")
"""What is given as `out=`: as large as the result, that with gaps, too small, too large, of another
dtype, or the first operand."""
HUGE = (2**31, 2**40, 2**62, 2**63 - 1, -(2**63), 2**64, -(2**31))
FEW = (-3, -2, -1, 0, 1, 2, 3, 5)
REALS = (0.0, -0.0, 1.0, -1.0, 0.5, 2.5, -3.0, 1e-30, 1e30, float("nan"), float("inf"), -np.inf)


@dataclass(frozen=True, slots=True)
class Tier:
    """How much of the variety is drawn: what is rare needs kernels that no other test compiles."""

    dtypes: tuple[str, ...]
    layouts: tuple[str, ...]
    changed: float
    """How often a tensor or a number is not the sample's."""
    ways: tuple[float, ...]
    """How often an operator is called in each of WAYS."""


QUICK = Tier(
    ("float32",) * 6 + ("int64", "bool"),
    ("dense",) * 3 + LAYOUTS,
    0.25,
    (0.4, 0.2, 0.2, 0.2, 0.0),
)
WIDE = Tier((*FLOATING, *COMPLEX, *INTEGRAL, "bool"), LAYOUTS, 0.35, (0.3, 0.15, 0.2, 0.2, 0.15))
TIERS = {"quick": QUICK, "wide": WIDE}


@dataclass(frozen=True, slots=True)
class RandomCall:
    """An operator, how it is called, and what with: tensors as `Stored`."""

    operator: Operator
    way: str
    out: str
    arguments: dict[str, Any]

    def tensors(self) -> Iterator[Stored]:
        """All of them, those in lists too."""
        for value in self.arguments.values():
            each = value if isinstance(value, list) else [value]
            yield from (one for one in each if isinstance(one, Stored))

    def written_repeats(self) -> bool:
        """Whether the tensor written to shows an element twice: the order of writes counts."""
        first = next(self.tensors(), None)
        return first is not None and first.repeats()

    def __str__(self) -> str:
        values = ", ".join(f"{name}={value}" for name, value in self.arguments.items())
        way = f"{self.way} {self.out}" if self.way == "out" else self.way
        return f"{self.operator.name} [{way}] ({values})"


@cache
def operators() -> tuple[Operator, ...]:
    """Those that PyTorch has, too, and functions, in an order that says nothing."""
    import torch

    theirs = calls.Session(torch)

    def has_counterpart(operator: Operator) -> bool:
        if operator.has_function:
            return theirs.function(operator) is not None
        return hasattr(torch.Tensor, operator.public_name)

    found = [
        operator
        for operator in (*harness.program().operators, *_functions())
        if not operator.has_tag("internal")
        and not operator.has_tag("property")
        and harness.cases(operator)
        and has_counterpart(operator)
    ]
    return tuple(sorted(found, key=lambda each: zlib.crc32(each.name.encode())))


def _functions() -> tuple[Operator, ...]:
    report = Report()
    nodes = read_yaml(Source(FUNCTIONS.name, FUNCTIONS.read_text()), report)
    reader = OperatorReader(report)
    found = tuple(each for node in nodes or () for each in reader.entry(node))
    report.raise_if_any()
    return found


def draw(seed: int, number: int, tier: Tier, names: Sequence[str] = ()) -> RandomCall:
    """The call of that number: all operators in turn, round by round, or those of `names`.

    An operator's calls depend on its name and the round alone: others come and go.
    """
    chosen = [each for each in operators() if not names or each.name in names]
    turn, place = divmod(number, len(chosen))
    operator = chosen[place]
    rng = np.random.default_rng([seed, zlib.crc32(operator.name.encode()), turn])
    cases = harness.cases(operator)
    case = cases[rng.integers(len(cases))]
    drawing = _Drawing(rng, tier, operator)
    arguments = {
        name: drawing.value(value, operator.schema.argument(name))
        for name, value in case.arguments.items()
    }
    way = WAYS[rng.choice(len(WAYS), p=tier.ways)]
    has = {
        "function": operator.has_function,
        "method": operator.has_method,
        "inplace": operator.has_inplace,
        "out": operator.has_out,
        "gradient": operator.has_function,
    }
    if not has[way]:
        way = "function" if operator.has_function else "method"
    return RandomCall(operator, way, OUTS[rng.integers(len(OUTS))], arguments)


class _Drawing:
    """Changes the values of one call."""

    def __init__(self, rng: Generator, tier: Tier, operator: Operator) -> None:
        self.rng, self.tier, self.operator = rng, tier, operator
        names = [n for n in dict.fromkeys(tier.dtypes) if n in harness.accepted(operator)]
        usual = names if names and rng.random() < 0.9 else list(tier.dtypes)
        self.dtype = str(rng.choice([n for n in tier.dtypes if n in usual]))
        self.drawn: list[Stored] = []

    def is_changed(self) -> bool:
        return bool(self.rng.random() < self.tier.changed)

    def one_of(self, values: Sequence[Any]) -> Any:
        return values[int(self.rng.integers(len(values)))]

    def value(self, value: Any, argument: Argument | None) -> Any:
        """The value of an argument, changed or as it was."""
        kind = argument.type if argument is not None else Type(("Any",))
        if is_input(value):
            if kind.is_optional and self.rng.random() < 0.03:
                return None
            return self.tensor(value)
        if isinstance(value, list | tuple) and any(map(is_input, value)):
            made = [self.tensor(each) if is_input(each) else each for each in value]
            return made[: self.rng.integers(len(made) + 1)] if self.rng.random() < 0.1 else made
        return self.plain(value, kind) if self.is_changed() else value

    # -- what is no tensor

    def plain(self, value: Any, kind: Type) -> Any:
        if isinstance(value, DtypeName):
            return DtypeName(self.one_of(list(dict.fromkeys(self.tier.dtypes))))
        if isinstance(value, bool):
            return not value
        if isinstance(value, int):
            return self.whole()
        if isinstance(value, float):
            return self.one_of(REALS)
        if isinstance(value, str):
            return value if self.rng.random() < 0.8 else "nothing"
        if isinstance(value, list | tuple):
            return self.numbers(list(value), kind)
        return value

    def whole(self) -> int:
        return int(self.one_of(HUGE if self.rng.random() < 0.1 else FEW))

    def numbers(self, values: list[Any], kind: Type) -> list[Any]:
        how = self.one_of(("change", "change", "drop", "append", "repeat"))
        if how == "append" or not values:
            return [*values, self.whole()]
        place = int(self.rng.integers(len(values)))
        if how == "drop":
            return values[:place] + values[place + 1 :]
        if how == "repeat":
            return [*values, values[place]]
        return [self.plain(v, kind) if i == place else v for i, v in enumerate(values)]

    # -- tensors

    def tensor(self, value: Input) -> Stored:
        """A tensor of the sample's kind: other sizes, other values, another layout."""
        if self.drawn and self.rng.random() < 0.03:
            return self.one_of(self.drawn)  # the same tensor twice
        dtype = calls.storage_dtype(value, self.dtype)
        if self.rng.random() < 0.02:
            dtype = self.one_of(list(dict.fromkeys(self.tier.dtypes)))
        data = value.data
        if self.is_changed():
            data = self.resized(data)
        if self.is_changed() and data.size:
            data = self.revalued(np.array(data))
        with np.errstate(all="ignore"):
            data = calls.cast(data, dtype)
        layout = self.one_of(self.tier.layouts)
        stored = lay_out(data, dtype, layout, self.rng)
        if self.drawn and self.rng.random() < 0.02:
            stored = self.sharing(stored)
        self.drawn.append(stored)
        return stored

    def sharing(self, stored: Stored) -> Stored:
        """A tensor in the memory of another, as far as it fits there."""
        other = self.one_of(self.drawn)
        needed = stored.offset + len(stored.memory)
        if other.dtype != stored.dtype or len(other.memory) < needed:
            return stored
        return replace(stored, memory=other.memory)

    def resized(self, data: np.ndarray) -> np.ndarray:
        """0-d, empty, with a dim more or less, one element more or less."""
        sizes = list(data.shape)
        how = self.one_of(("scalar", "dim", "dim", "dim", "more", "less", "last"))
        if how == "scalar" or not sizes:
            sizes = [] if how == "scalar" else [int(self.rng.integers(4))]
        elif how == "dim":
            place = int(self.rng.integers(len(sizes)))
            sizes[place] = self.one_of((0, 1, max(sizes[place] - 1, 0), sizes[place] + 1))
        elif how == "more":
            sizes.insert(int(self.rng.integers(len(sizes) + 1)), self.one_of((0, 1, 1, 2)))
        elif how == "less":
            del sizes[int(self.rng.integers(len(sizes)))]
        else:
            sizes = sizes[-1:]
        return np.resize(data, sizes) if data.size else np.zeros(sizes, data.dtype)

    def revalued(self, data: np.ndarray) -> np.ndarray:
        """A few values far from what the sample has."""
        for _ in range(int(self.rng.integers(1, 3))):
            place = int(self.rng.integers(data.size))
            if data.dtype.kind == "i":
                limits = np.iinfo(data.dtype)
                wanted = self.one_of((-1, 0, 1, 2, 3, 4, 7, -5, 2**31, 2**62, -(2**63)))
                data.flat[place] = min(max(wanted, limits.min), limits.max)
            elif data.dtype.kind == "b":
                data.flat[place] = not data.flat[place]
            else:
                data.flat[place] = self.one_of(REALS)
        return data
