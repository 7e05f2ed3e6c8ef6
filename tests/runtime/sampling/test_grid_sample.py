"""Images read at a few points, each made by itself, against the same points among many."""

from __future__ import annotations

import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels.cpu.sampling.grid_sample import FEW_POINTS

BILINEAR, NEAREST = 0, 1


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
@pytest.mark.parametrize("align", [False, True])
@pytest.mark.parametrize("padding", [0, 1, 2])
@pytest.mark.parametrize("mode", [BILINEAR, NEAREST])
@pytest.mark.parametrize("sizes", [(4, 5), (1, 3), (3, 4, 2)])
def test_few_points_are_what_they_are_among_many(
    sizes: tuple[int, ...], mode: int, padding: int, align: bool, dtype: torch.dtype
) -> None:
    torch.manual_seed(0)
    image = torch.randn(2, 3, *sizes, dtype=dtype)
    points = torch.rand(2, 2 * FEW_POINTS, len(sizes), dtype=dtype) * 6 - 3
    points[0, 0], points[1, 1], points[0, 2] = torch.nan, torch.inf, -1
    ones = [1] * (len(sizes) - 1)

    def read(some: torch.Tensor) -> torch.Tensor:
        grid = some.reshape(2, *ones, -1, len(sizes))
        return torch.grid_sampler(image, grid, mode, padding, align).reshape(2, 3, -1)

    many = read(points)
    few = torch.cat([read(points[:, i : i + 7]) for i in range(0, points.size(1), 7)], 2)
    # Products and sums may be one instruction in one loop and two in the other.
    torch.testing.assert_close(few, many, equal_nan=True)
