"""What the names of an expression stand for: arguments and results, and how a node saves them."""

from __future__ import annotations

from ..model.expression import Save, SavedValue
from ..model.schema import Schema, Type


def argument_scope(schema: Schema) -> dict[str, SavedValue]:
    """Return what each argument is when a formula uses it whole."""
    return {a.name: SavedValue(a.name, _whole(a.type)) for a in schema.arguments}


def result_scope(schema: Schema) -> dict[str, SavedValue]:
    """Return what each result is, by every name it has: `result`, `result1`, a named return."""
    scope: dict[str, SavedValue] = {}
    for i, result in enumerate(schema.returns):
        names = [result.name] if result.name else []
        names += ["result"] if len(schema.returns) == 1 else [f"result{i}"]
        for name in names:
            scope[name] = SavedValue(name, _whole(result.type), is_result=True, result_index=i)
    return scope


def _whole(type_: Type) -> Save:
    if type_.is_tensor_list:
        return Save.TENSORS
    return Save.TENSOR if type_.is_tensor else Save.VALUE
