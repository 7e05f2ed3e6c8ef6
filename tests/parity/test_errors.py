"""Calls that PyTorch refuses, or that look as if it did: the same answer and class of error here.

Only what the samples of one operator cannot say: `torch` and `F` stand for either library.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402

LISTS = (
    "torch.cat(3)",
    "torch.cat(None)",
    "torch.cat({torch.ones(2)})",
    "torch.cat(x for x in [torch.ones(2)])",
    "torch.cat([torch.ones(2), 3])",
    "torch.cat(torch.ones(2, 3), out=torch.ones(1))",
    "torch.broadcast_tensors(torch.ones(2))",
    "torch.meshgrid(torch.ones(2), indexing='ij')",
    "torch.atleast_1d(torch.tensor(1.0))",
    "torch.atleast_2d(torch.ones(2), torch.ones(3))",
    "torch.atleast_3d([torch.ones(2)])",
)


def answer(library: Any, call: str) -> Any:
    """The result of a call as NumPy, or the class of its error."""
    try:
        result = eval(call, {"torch": library, "F": library.nn.functional})
    except Exception as error:
        return next(each for each in type(error).__mro__ if each.__module__ == "builtins")
    if isinstance(result, (tuple, list)):
        return [np.asarray(each) for each in result]
    return np.asarray(result)


def check_alike(call: str) -> None:
    """Both libraries give the same value, or refuse with the same class."""
    theirs, ours = answer(torch, call), answer(torchgen_out, call)
    if isinstance(theirs, type):
        assert isinstance(ours, type) and issubclass(ours, theirs), f"{ours}, expected {theirs}"
        return
    assert type(ours) is type(theirs)
    np.testing.assert_equal(ours, theirs)


@pytest.mark.parametrize("call", LISTS)
def test_one_tensor_is_no_list_of_tensors(call: str) -> None:
    check_alike(call)
