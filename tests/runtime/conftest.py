"""What the tests of one folder share."""

import pytest

import torchgen_out


@pytest.fixture
def torch():
    """The library under test; tests/parity/test_autograd.py puts PyTorch in its place."""
    return torchgen_out
