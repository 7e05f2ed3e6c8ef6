"""Finding the end of a pickle, and what it refers to, without doing anything that it asks for."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.library.serialization.pickle_machine import PickleMachine
from torchgen_out._runtime.library.serialization.safe_globals import KNOWN


class _Unknown:
    """Stands for whatever a name or a call would give; takes items and forgets them."""

    def append(self, item: Any) -> None:
        """Nothing."""

    extend = update = append

    def __setitem__(self, key: Any, value: Any) -> None:
        pass


class Measuring:
    """Grants everything, and does nothing but note references and names."""

    def __init__(self) -> None:
        self.references: list[Any] = []
        self.names: set[tuple[str, str]] = set()

    def find(self, module: str, name: str) -> Any:
        """The type of storages of that name; of others only the name is kept."""
        self.names.add((module, name))
        return KNOWN.get((module, name), _Unknown()) if "Storage" in name else _Unknown()

    def call(self, function: Any, arguments: tuple[Any, ...]) -> Any:
        """Something."""
        return _Unknown()

    def create(self, cls: Any, arguments: tuple[Any, ...], keywords: dict[str, Any]) -> Any:
        """Something."""
        return _Unknown()

    def restore(self, instance: Any, state: Any) -> None:
        """Nothing."""

    def refer(self, reference: Any) -> Any:
        """Note the reference."""
        self.references.append(reference)
        return _Unknown()


class MeasuringMachine(PickleMachine):
    """Runs over a pickle: what it fills stays empty."""

    def _target(self, types: tuple[type, ...]) -> Any:
        self._top()
        return _Unknown()
