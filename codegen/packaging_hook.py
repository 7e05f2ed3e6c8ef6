"""What the build backend asks while it makes a wheel: where the folders of the checkout go.

pyproject.toml names this file; nothing imports it later. An editable install needs none of it, as a
checkout's `torchgen_out` points to the folders beside it.
"""

from __future__ import annotations

from typing import Any

from hatchling.builders.hooks.plugin.interface import BuildHookInterface

PLACES = {
    "runtime": "torchgen_out/_runtime",
    "codegen": "torchgen_out/codegen",
    "native_functions.yaml": "torchgen_out/codegen/native_functions.yaml",
    "derivatives.yaml": "torchgen_out/codegen/derivatives.yaml",
}


class PackagingHook(BuildHookInterface[Any]):
    """Puts `runtime/`, `codegen/` and the YAML inside the one package."""

    def initialize(self, version: str, build_data: dict[str, Any]) -> None:
        """Name the folders, unless the install is editable."""
        if version != "editable":
            build_data["force_include"].update(PLACES)
