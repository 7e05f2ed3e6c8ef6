"""The table of public operators, the one door through which lower floors call operators.

`torchgen_out/registrations.py` fills it at import: `ops.add(x, y)` is then the public function. It
is a module because nothing is looked up faster.
"""

from __future__ import annotations

from typing import Any


def __getattr__(name: str) -> Any:
    raise AttributeError(
        f"no operator named '{name}' is registered; operators come from native_functions.yaml, "
        "and importing torchgen_out registers them"
    )
