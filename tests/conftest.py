"""Options of the test suite."""

from __future__ import annotations

import gc
from collections.abc import Iterator

import pytest
from hypothesis import settings

# The same examples in every run, none of them against the clock: a loaded machine fails nothing.
settings.register_profile("suite", deadline=None, derandomize=True)
settings.load_profile("suite")


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add --update-golden."""
    parser.addoption(
        "--update-golden",
        action="store_true",
        help="write what is emitted into tests/codegen/golden instead of comparing",
    )


@pytest.fixture(scope="module", autouse=True)
def collected() -> Iterator[None]:
    """Leave what earlier modules have compiled out of this one's collections.

    Behind thousands of kernels a collection takes seconds, and in a forked worker copies the heap.
    """
    gc.collect()
    gc.freeze()
    yield
