"""Transforms in the lanes of vectors against NumPy's in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from runtime.kernels.cpu import lane_transforms

TOLERANCE = {"f": 5e-7, "d": 2e-15, "F": 5e-7, "D": 2e-15}
SHAPES = [(64, 64), (3, 32, 128), (100, 64), (64, 100), (2, 5, 16, 64), (19, 256), (16, 4096)]
DIMS = [(-1,), (-2,), (-2, -1), (-1, -2), (0,)]


def draw(shape: tuple[int, ...], character: str) -> np.ndarray:
    rng = np.random.default_rng(0)
    x = rng.standard_normal(shape)
    return (x + 1j * rng.standard_normal(shape) if character in "FD" else x).astype(character)


def close(result: Any, wanted: np.ndarray, character: str) -> None:
    assert result.shape == wanted.shape
    error = np.abs(result - wanted).max()
    assert error <= TOLERANCE[character] * np.abs(wanted).max()


@pytest.mark.parametrize("character", TOLERANCE)
@pytest.mark.parametrize("dim", DIMS, ids=str)
@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_transforms(shape: tuple[int, ...], dim: tuple[int, ...], character: str) -> None:
    x = draw(shape, character)
    wide = x.astype("D" if character in "FD" else "d")
    for norm in (None, "ortho", "forward"):
        for name in ("fftn", "ifftn", *["rfftn"] * (character in "fd")):
            result = getattr(torch.fft, name)(torch.from_numpy(x), dim=dim, norm=norm)
            close(result.numpy(), getattr(np.fft, name)(wide, axes=dim, norm=norm), character)


@pytest.mark.parametrize("character", "fd")
@pytest.mark.parametrize("rows", [1, 7, 8, 16, 17, 31, 32, 33, 63])
def test_blocks_that_are_not_full(rows: int, character: str) -> None:
    x = draw((rows, 64), character)
    for count in (33, 64):
        room = np.full((rows, 70), 7, "F" if character == "f" else "D")
        lane_transforms.transform_real_rows(room[:, :count], x, 0.5)
        close(room[:, :count], 0.5 * np.fft.fft(x.astype("d"))[:, :count], character)
        assert (room[:, count:] == 7).all()
    z = draw((64, rows), "F" if character == "f" else "D")
    wanted = np.fft.ifft(z.astype("D"), axis=0)
    lane_transforms.transform_columns(z, z, 1 / 64, False)
    close(z, wanted, character)


@pytest.mark.parametrize("character", TOLERANCE)
def test_rows_know_nothing_of_each_other(character: str) -> None:
    x = draw((64, 64), character)
    wanted = np.fft.fft(x.astype("D"))
    x[3, 5], x[40] = np.inf, x[40] * 1e12
    with np.errstate(invalid="ignore"):
        result = torch.fft.fft(torch.from_numpy(x)).numpy()
    assert not np.isfinite(result[3]).all()
    close(result[40], wanted[40] * 1e12, character)
    others = [r for r in range(64) if r not in (3, 40)]
    close(result[others], wanted[others], character)


def test_which_transforms_have_kernels() -> None:
    x = np.zeros((128, 128), np.float32)
    assert lane_transforms.suits(x, 128)
    assert not lane_transforms.suits(x, 100)
    assert not lane_transforms.suits(x[:2, :128], 128)
    assert not lane_transforms.suits(np.zeros((128, 128), np.longdouble), 128)
    assert not lane_transforms.suits(x.T, 128) or x.T.flags.c_contiguous
