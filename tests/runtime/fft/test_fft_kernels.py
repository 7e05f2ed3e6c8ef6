"""Transforms in the lanes of vectors, and of a few points, against NumPy's in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.fft import fft_plans, lane_transforms
from torchgen_out._runtime.kernels.plan import TensorSpec

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


@pytest.mark.parametrize("character", "FD")
@pytest.mark.parametrize("shape", [(300, 129), (3, 32, 65), (64, 33), (9, 2049), (300, 17)])
def test_transforms_to_real_numbers(shape: tuple[int, ...], character: str) -> None:
    """What the first and the last number have beside their real parts counts for nothing."""
    x = draw(shape, character)
    for dim in [(-1,), (-2, -1)]:
        for norm in (None, "ortho", "forward"):
            result = torch.fft.irfftn(torch.from_numpy(x), dim=dim, norm=norm)
            close(result.numpy(), np.fft.irfftn(x.astype("D"), axes=dim, norm=norm), character)


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


FEW = [(1,), (2,), (5,), (16,), (31,), (3, 4), (7, 16), (2, 3, 4), (4, 1, 5)]


@pytest.mark.parametrize("character", TOLERANCE)
@pytest.mark.parametrize("shape", FEW, ids=str)
def test_a_few_points(shape: tuple[int, ...], character: str) -> None:
    x = draw(shape, character)
    wide = x.astype("D" if character in "FD" else "d")
    for dim in {(-1,), (0,), tuple(range(len(shape))), tuple(range(len(shape)))[::-1]}:
        for norm in (None, "ortho", "forward"):
            for name in ("fftn", "ifftn", "irfftn" if character in "FD" else "rfftn"):
                if name == "irfftn" and shape[dim[-1]] == 1:
                    continue
                wanted = getattr(np.fft, name)(wide, axes=dim, norm=norm)
                for tensor in (torch.from_numpy(x), torch.from_numpy(np.repeat(x, 2, 0))[::2]):
                    result = getattr(torch.fft, name)(tensor, dim=dim, norm=norm)
                    close(result.numpy(), wanted, character)


def test_an_odd_number_of_points_from_half() -> None:
    z = draw((3, 3), "D")
    wanted = np.fft.irfftn(z, s=(3, 5), axes=(0, 1))
    close(torch.fft.irfftn(torch.from_numpy(z), s=(3, 5)).numpy(), wanted, "D")


def test_few_real_points_are_exactly_symmetric() -> None:
    x = torch.from_numpy(draw((3, 12), "f"))
    found = torch.fft.fft(x).numpy()
    assert (found[:, 1:] == found[:, :0:-1].conj()).all()
    assert (found[:, 0].imag == 0).all()
    assert (found[:, 6].imag == 0).all()


def test_which_transforms_are_planned() -> None:
    numbers, complexes = np.dtype("f"), np.dtype("F")

    def is_planned(sizes: tuple[int, ...], strides: tuple[int, ...]) -> bool:
        out, x = TensorSpec(complexes, sizes, strides), TensorSpec(numbers, sizes, strides)
        return fft_plans.plan_r2c(out, x, (1,), 0, False) is not None

    assert is_planned((3, 4), (4, 1))
    assert not is_planned((3, 4), (1, 3))
    assert not is_planned((64, 64), (64, 1))
    assert not is_planned((0, 4), (4, 1))


def test_roots_of_unity_are_exact_at_quarters() -> None:
    assert fft_plans.roots_of_unity(4, True) == [1, 0, 0, -1, -1, 0, 0, 1]
    angle = 8 * np.arctan(np.longdouble(1)) * np.arange(37) / 37
    wanted = np.stack([np.cos(angle), np.sin(angle)], 1).reshape(-1)
    assert np.abs(np.array(fft_plans.roots_of_unity(37, False)) - wanted).max() < 3e-16


def test_planes_on_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "GRAIN", 256)
    x = np.random.default_rng(3).standard_normal((3, 64, 128)).astype(np.float32)
    wanted = np.fft.fft2(x.astype(np.float64))
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "_threads", count)
        np.testing.assert_allclose(torch.fft.fft2(torch.from_numpy(x)).numpy(), wanted, atol=1e-3)
