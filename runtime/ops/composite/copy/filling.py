"""Filling out of place."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import key as keys
from torchgen_out._runtime.factories import creation, creation_like

_NOT_PLAIN = keys.GRAD | keys.OVERRIDES | keys.NOT_HERE


def fill(self: Any, value: Any) -> Any:
    """A tensor of one value, placed as `self`: what is not recorded is not copied first."""
    if self._key & _NOT_PLAIN or value.__class__ not in creation.NUMBERS:
        return self.clone().fill_(value)
    return creation_like.full_like(self, value)
