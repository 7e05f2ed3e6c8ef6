"""What works in place on a view changes the view's elements, and none beside them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch

OUTSIDE = 77.0
VIEWS: dict[str, tuple[tuple[int, ...], Callable[[Any], Any]]] = {
    "first rows, turned": ((6, 5), lambda x: x[:3].t()),
    "rows between, turned": ((6, 5), lambda x: x[2:4].t()),
    "columns, turned": ((6, 5), lambda x: x[:, 1:3].t()),
    "rows": ((6, 5), lambda x: x[1:4]),
    "images of pixels": ((4, 2, 2, 3), lambda x: x[1:3].permute(0, 3, 1, 2)),
    "many rows, turned": ((900, 80), lambda x: x[100:850].t()),
}
NUMBERS: list[tuple[Any, ...]] = [(), (0.5,), (2,), (0.2, 0.8), (0,), (0, 1)]
"""Arguments that are tried in turn."""
MOST_REFUSED = 32
"""Methods that take none of these: products of matrices, what takes indices or whole numbers."""
RANDOM = {"bernoulli_", "cauchy_", "exponential_", "geometric_", "log_normal_", "normal_",
          "random_", "uniform_", "dropout_"}  # fmt: skip
OTHER_SHAPES = {"resize_", "resize_as_", "squeeze_", "t_", "transpose_", "unsqueeze_",
                "swapaxes_", "swapdims_", "detach_", "requires_grad_", "set_", "share_memory_",
                "as_strided_", "rename_", "sparse_resize_",
                "sparse_resize_and_clear_"}  # fmt: skip
METHODS = sorted(
    name
    for name in dir(torch.Tensor)
    if name.endswith("_") and not name.startswith("_") and name not in OTHER_SHAPES
)


def _arguments(tensor: Any) -> list[tuple[Any, ...]]:
    other = torch.linspace(0.1, 0.9, tensor.numel()).reshape(tensor.shape)
    mask = other > 0.5
    return [*NUMBERS, (other,), (other, other), (other, 0.5), (mask, 3.0), (mask, other)]


def _first_that_works(name: str, tensor: Any) -> tuple[Any, ...] | None:
    for given in _arguments(tensor):
        try:
            getattr(tensor.clone(), name)(*given)
        except (TypeError, RuntimeError, ValueError, IndexError, AttributeError):
            continue
        return given
    return None


@pytest.mark.parametrize("threads", [1, 2])
@pytest.mark.parametrize("view", VIEWS)
def test_nothing_beside_a_view_is_written(view: str, threads: int) -> None:
    before, refused = torch.get_num_threads(), []
    torch.set_num_threads(threads)
    shape, see = VIEWS[view]
    try:
        for name in METHODS:
            whole = torch.full(shape, OUTSIDE)
            tensor = see(whole)
            tensor.copy_(torch.linspace(0.1, 0.9, tensor.numel()).reshape(tensor.shape))
            inside = see(torch.arange(whole.numel()).reshape(shape)).reshape(-1).numpy()
            alone = tensor.contiguous().clone()
            given = _first_that_works(name, alone)
            if given is None:
                refused.append(name)
                continue
            getattr(alone, name)(*given)
            getattr(tensor, name)(*given)
            left = np.delete(whole.reshape(-1).numpy(), inside)
            np.testing.assert_array_equal(left, OUTSIDE, err_msg=name)
            if name not in RANDOM:
                np.testing.assert_allclose(tensor.numpy(), alone.numpy(), rtol=1e-5, err_msg=name)
    finally:
        torch.set_num_threads(before)
    assert len(refused) <= MOST_REFUSED < len(METHODS) // 4
