"""Calls with sparse tensors, or with samples inside `vmap`: what an operator's entry says of the
layout, or the rule of its kind.

What it says is a composite: it calls operators on indices and values, which record themselves and
find their backend. So it stands above autograd and knows no device. Dense tensors never come here:
a layout is a part of the key, and only a signature not seen before is looked at.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.core import layout as layouts
from torchgen_out._runtime.dispatch import signature as signatures

if TYPE_CHECKING:
    from torchgen_out._runtime.dispatch.operator import Call, CallTable, Operator

OUT = "out"
"""The variant whose signatures begin with the results."""

KEYS = ("", "Sparse", *["SparseCsr"] * 4)
"""The dispatch key of each layout, by its index."""

_FOLDER = "torchgen_out._runtime.ops.composite"
_RULES = f"{_FOLDER}.sparse.rules"
_SAMPLES = f"{_FOLDER}.batched.rules"


def layout_of(signature: Any) -> layouts.layout | None:
    """The first layout among a signature's tensors that is not strided; before all, samples'."""
    found = 0
    for key in signatures.tensor_keys(signature):
        index = key >> keys.LAYOUT_SHIFT & keys.LAYOUT_MASK
        if index == layouts.batched.index:
            return layouts.batched
        found = found or index
    return layouts.BY_INDEX[found] if found else None


def make_call(table: CallTable, signature: tuple[Any, ...], layout: layouts.layout) -> Call:
    """The call for operands of which some are sparse.

    Raises: RuntimeError if devices differ; NotImplementedError if nothing is said of the layout.
    """
    operator = table.operator
    if layout is layouts.batched:
        samples: Any = importlib.import_module(_SAMPLES)
        return samples.make_call(table)  # type: ignore[no-any-return]
    signatures.device_index(signature, operator.across_devices, operator.host_lists)
    rules: Any = importlib.import_module(_RULES)
    operands = signature[1:] if table.variant == OUT else signature
    function = _named(operator, layout) or rules.of_kind(operator, layout, operands)
    if function is None:
        raise errors.no_rule_for_layout(table.called, layout)
    call: Call = rules.variant_of(table, function)
    return call


def _named(operator: Operator, layout: layouts.layout) -> Call | None:
    """The composite that the entry names."""
    name = operator.layouts.get(KEYS[layout.index])
    if name is None:
        return None
    module, _, function = name.rpartition(".")
    found: Call = getattr(importlib.import_module(f"{_FOLDER}.{module}"), function)
    return found
