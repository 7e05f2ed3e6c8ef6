"""How tensors lie in memory: each layout stores data in its own way and sees it through a view."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from tests.calls import Session
from tests.inputs import Input


@dataclass(frozen=True, slots=True)
class Layout:
    """store: data -> the array that holds it; view: that array's tensor -> the data's tensor."""

    name: str
    store: Callable[[np.ndarray], np.ndarray]
    view: Callable[[Any], Any]
    repeats: bool = False
    """Elements share memory: the data must repeat along the first dim, and nothing be written."""


def _padded(data: np.ndarray) -> np.ndarray:
    """Every other column of a wider array, from the fourth on."""
    stored = np.zeros((*data.shape[:-1], 2 * data.shape[-1] + 3), data.dtype)
    stored[..., 3::2] = data
    return stored


def _framed(data: np.ndarray) -> np.ndarray:
    """The inner columns: rows that begin at odd places."""
    stored = np.zeros((*data.shape[:-1], data.shape[-1] + 3), data.dtype)
    stored[..., 1:-2] = data
    return stored


LAYOUTS = {
    each.name: each
    for each in (
        Layout("dense", lambda data: data, lambda tensor: tensor),
        Layout(
            "transposed",
            lambda data: data.swapaxes(0, -1),
            lambda tensor: tensor.transpose(0, -1),
        ),
        Layout(
            "columns",
            lambda data: data.swapaxes(-2, -1),
            lambda tensor: tensor.transpose(-2, -1),
        ),
        Layout("stepped", _padded, lambda tensor: tensor[..., 3::2]),
        Layout("framed", _framed, lambda tensor: tensor[..., 1:-2]),
        Layout(
            "expanded",
            lambda data: data[:1],
            lambda tensor: tensor,
            repeats=True,
        ),
    )
}


@dataclass(frozen=True, slots=True)
class LaidOut(Session):
    """A session whose tensors lie in memory as a layout says."""

    layout: Layout = LAYOUTS["dense"]
    is_copied: bool = False
    """Whether calls are given dense copies of what is laid out."""

    def tensor(self, value: Input, dtype: str, requires_grad: bool = False) -> Any:
        """Make the tensor that holds an input; `view` shows the input."""
        if value.data.ndim < 2 and self.layout.name in ("columns", "expanded"):
            return Session.tensor(self, value, dtype, requires_grad)
        if value.data.ndim < 1:
            return Session.tensor(self, value, dtype, requires_grad)
        stored = Input(self.layout.store(value.stored()), value.kind)
        return Session.tensor(self, stored, dtype, requires_grad)

    def view(self, tensor: Any, value: Input) -> Any:
        """Lay a tensor of `self.tensor` out as its input and the layout ask."""
        ndim = value.data.ndim
        if ndim >= 1 and not (ndim < 2 and self.layout.name in ("columns", "expanded")):
            if self.layout.repeats:
                tensor = tensor.expand(value.stored().shape)
            else:
                tensor = self.layout.view(tensor)
        tensor = Session.view(self, tensor, value)
        return tensor.contiguous() if self.is_copied else tensor
