"""Random calls come last, when the kernels that other tests compile are there."""

from __future__ import annotations

import pytest


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Keep the order of all others."""
    items.sort(key=lambda item: "test_random_calls" in item.nodeid)
