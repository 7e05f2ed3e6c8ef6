"""Tables of operators' calls by name: `calls.view_dtype[x._key](x, dtype)` calls `view.dtype`.

For bodies that know what they hold: no binding reads the arguments again. A table is found by the
first who asks, and is an attribute of the module from then on.
"""

from __future__ import annotations

from torchgen_out._runtime.dispatch.operator import CallTable, operators


def __getattr__(name: str) -> CallTable:
    if name.startswith("__"):
        raise AttributeError(f"module '{__name__}' has no attribute '{name}'")
    for full, operator in operators.items():
        if full.replace(".", "_") == name:
            globals()[name] = operator.calls
            return operator.calls
    raise AttributeError(f"no operator is called '{name}'")
