"""The table of public operators, the one door through which lower floors call operators.

`torchgen_out/registrations.py` fills it at import.
"""

from __future__ import annotations

from typing import Any


class OperatorTable:
    """Public operators by name: `ops.add(x, y)`."""

    def __getattr__(self, name: str) -> Any:
        raise AttributeError(
            f"no operator named '{name}' is registered; operators come from "
            "native_functions.yaml, and importing torchgen_out registers them"
        )


ops: Any = OperatorTable()
