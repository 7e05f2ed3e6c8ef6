"""Operators that take an index tensor, for all small sizes of their operands, against PyTorch.

What one library refuses, the other refuses, too: a source that is shorter than its index is read
beyond its end by whoever forgets to look.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Iterator
from itertools import product
from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402
from codegen.model.operator import Operator  # noqa: E402
from tests import calls, harness  # noqa: E402

SIZES: tuple[tuple[int, ...], ...] = ((), (0,), (1,), (3,), (1, 3), (2, 3), (3, 0))
REFUSALS = (RuntimeError, TypeError, ValueError, IndexError)
OTHERS: dict[str, Any] = {"dim": 0, "value": 2.0}
"""Arguments that are no tensors and have no default."""
LIBRARIES = [calls.Session(torchgen_out), calls.Session(torch)]


def indexing_operators() -> list[Operator]:
    """Those of the table with an argument `index`, public ones."""
    return [
        operator
        for operator in harness.program().operators
        if any(a.name == "index" for a in operator.tensor_arguments)
        and not operator.has_tag("internal")
    ]


def operand_sizes(operator: Operator) -> Iterator[tuple[tuple[int, ...], ...]]:
    """Sizes for each tensor argument."""
    return product(SIZES, repeat=len(operator.tensor_arguments))


def answer(
    library: Any,
    operator: Operator,
    sizes: tuple[tuple[int, ...], ...],
    way: str,
    index_dtype: str = "int64",
) -> Any:
    """The result as an array, or the class of the refusal."""
    values: dict[str, Any] = {}
    for argument, shape in zip(operator.tensor_arguments, sizes, strict=True):
        count = int(np.prod(shape))
        is_index = argument.name == "index"
        data = np.zeros(count, index_dtype) if is_index else np.arange(1.0, 1.0 + count)
        values[argument.name] = library.library.from_numpy(data).reshape(shape)
    for argument in operator.schema.arguments:
        if argument.name == "reduce":
            values["reduce"] = "add" if operator.name.startswith("scatter.") else "amax"
        elif argument.name not in values and argument.default is None:
            values[argument.name] = OTHERS[argument.name]
    call = calls.Call(library, operator, values, ())
    try:
        if way == "inplace":
            return calls.array(call.method(operator.public_name + "_"))
        return calls.array(call.plain())
    except REFUSALS as error:
        return type(error)


CASES = [
    (operator, way)
    for operator in indexing_operators()
    for way in ("inplace", "function")
    if way == "function" or operator.has_inplace
]


def compare(operator: Operator, way: str, index_dtype: str) -> None:
    """Both libraries give the same arrays and refuse the same sizes."""
    different = []
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        for sizes in operand_sizes(operator):
            ours, theirs = (answer(each, operator, sizes, way, index_dtype) for each in LIBRARIES)
            if isinstance(ours, type) != isinstance(theirs, type):
                different.append((sizes, ours, theirs))
            elif not isinstance(ours, type):
                agree = ours.shape == theirs.shape and np.array_equal(ours, theirs)
                different += [] if agree else [(sizes, ours, theirs)]
    assert not different, f"{len(different)} differ: {different[:5]}"


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].name}-{case[1]}")
def test_all_small_sizes(case: tuple[Operator, str]) -> None:
    compare(*case, "int64")


@pytest.mark.parametrize("index_dtype", ["int16", "float32"])
@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case[0].name}-{case[1]}")
def test_an_index_of_another_dtype(case: tuple[Operator, str], index_dtype: str) -> None:
    """Some operators take an empty one, whatever its dtype, as an empty list makes."""
    compare(*case, index_dtype)


def test_there_are_indexing_operators() -> None:
    assert len(indexing_operators()) >= 14


OWN: dict[str, Callable[[Any, Any], Any]] = {
    "index_copy_": lambda x, i: x.index_copy_(0, i, x),
    "index_add_": lambda x, i: x.index_add_(0, i, x),
    "index_reduce_": lambda x, i: x.index_reduce_(0, i, x, "prod"),
    "scatter_": lambda x, i: x.scatter_(0, i, x),
    "scatter_add_": lambda x, i: x.scatter_add_(0, i, x),
    "scatter_reduce_": lambda x, i: x.scatter_reduce_(0, i, x, "sum"),
    "put_": lambda x, i: x.put_(i, x),
    "index_put_": lambda x, i: x.index_put_((i,), x),
    "scatter_, a part": lambda x, i: x[1:].scatter_(0, i[:1], x[:2]),
    "scatter_ into its index": lambda x, i: i.scatter_(0, i, i + 1),
    "index_fill_ of its index": lambda x, i: i.index_fill_(0, i, 3),
    "put_ into its index": lambda x, i: i.put_(i, i + 1),
    "index_put_ into its index": lambda x, i: i.index_put_((i,), i + 1),
    "masked_scatter_": lambda x, i: x.masked_scatter_(x > 0, x),
    "index_fill_": lambda x, i: x.index_fill_(0, i[:1], x[1]),
    "scatter_, the other half": lambda x, i: x[2:].scatter_(0, i[3:] - 3, x[:2]),
}


@pytest.mark.parametrize("name", OWN)
def test_into_the_own_source(name: str) -> None:
    """What reads from the memory that it writes to depends on the order, and is refused."""
    answers = []
    for library in (torchgen_out, torch):
        x, i = library.arange(4.0), library.tensor([1, 2, 0, 3])
        try:
            answers.append(calls.array(OWN[name](x, i)).tolist())
        except RuntimeError as error:
            assert "single memory location" in str(error)
            answers.append("refused")
    assert answers[0] == answers[1]
