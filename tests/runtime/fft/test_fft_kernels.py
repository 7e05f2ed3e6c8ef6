"""Transforms in the lanes of vectors, and of a few points, against NumPy's in double precision."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.core.shape import contiguous_strides
from torchgen_out._runtime.dispatch.launch_cache import forget_launches
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu.fft import fft_plans, lane_plans, lane_transforms
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


SIZES = [1 << k for k in range(1, 18)]
SIZES += [9, 10, 12, 14, 15, 21, 27, 28, 42, 45, 48, 50, 98, 100, 105, 126, 162, 200, 250, 343, 360]
SIZES += [400, 480, 625, 686, 1000, 1050, 2187, 4900, 12005, 40000]


@pytest.mark.parametrize("threads_used", [1, 2])
@pytest.mark.parametrize("character", "fd")
@pytest.mark.parametrize("size", SIZES)
def test_rows_of_every_size(
    size: int, character: str, threads_used: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One row, a few, and as many as share the lanes of vectors and one more."""
    monkeypatch.setattr(threads, "GRAIN", 64 * threads_used)  # plans know how many share the work
    monkeypatch.setattr(threads, "_threads", threads_used)
    forget_launches()
    for rows in (1, 3) if size > 4096 else (1, 2, 3, 7, 17):
        x = draw((rows, size), character)
        z = draw((rows, size), character.upper())
        half = z[:, : size // 2 + 1].copy()
        for norm in (None, "ortho", "forward"):
            for name, given in (("fft", x), ("rfft", x), ("fft", z), ("ifft", z), ("irfft", half)):
                wide = given.astype("D" if given.dtype.kind == "c" else "d")
                wanted = getattr(np.fft, name)(wide, norm=norm)
                for tensor in (torch.from_numpy(given), torch.from_numpy(given.T.copy()).T):
                    result = getattr(torch.fft, name)(tensor, norm=norm)
                    close(result.numpy(), wanted, character)


COLUMNS = [(64, 1), (64, 7), (64, 33), (2, 4, 63), (5, 8, 3, 16), (16, 2, 1), (4096, 6)]


@pytest.mark.parametrize("character", TOLERANCE)
@pytest.mark.parametrize("shape", COLUMNS, ids=str)
def test_columns_that_do_not_fill_lanes(shape: tuple[int, ...], character: str) -> None:
    x = draw(shape, character)
    wide = x.astype("D" if character in "FD" else "d")
    dims = range(len(shape))
    for dim in ((0,), (1,), (0, 1), (1, 0), tuple(dims), tuple(dims)[::-1]):
        for name in ("fftn", "ifftn", *["rfftn"] * (character in "fd")):
            result = getattr(torch.fft, name)(torch.from_numpy(x), dim=dim, norm="ortho")
            close(result.numpy(), getattr(np.fft, name)(wide, axes=dim, norm="ortho"), character)


@pytest.mark.parametrize("character", "fd")
def test_transforms_of_real_numbers_are_exactly_symmetric(character: str) -> None:
    for shape in ((3, 16), (2, 64), (512,), (32, 64), (6, 200), (50,)):
        found = torch.fft.fft2(torch.from_numpy(draw((2, *shape), character))).numpy()
        opposite = np.roll(found[..., ::-1, ::-1], 1, (-2, -1)).conj()
        behind = shape[-1] // 2 + 1
        assert (found[..., behind:] == opposite[..., behind:]).all()
    row = torch.fft.rfft(torch.from_numpy(draw((5, 256), character))).numpy()
    assert (row[:, [0, 128]].imag == 0).all()


def test_memory_beside_a_result_stays_as_it_is() -> None:
    x = draw((7, 64), "F")
    room = torch.full((9, 64), 7.0, dtype=torch.complex64)
    torch.fft.ifft(torch.from_numpy(x), out=room[1:8])
    close(room[1:8].numpy(), np.fft.ifft(x.astype("D")), "F")
    assert (room[[0, 8]] == 7).all()


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
    def has_kernel(sizes: tuple[int, ...], dim: tuple[int, ...], dtype: Any = np.complex64) -> bool:
        spec = TensorSpec(np.dtype(dtype), sizes, contiguous_strides(sizes))
        return lane_plans.plan_c2c(spec, spec, dim, 0, True) is not None

    assert has_kernel((8,), (0,))
    assert has_kernel((5, 128, 1), (1,))
    assert has_kernel((128, 100), (0,))
    assert not has_kernel((4,), (0,))
    assert has_kernel((128, 100), (0, 1))
    assert not has_kernel((128, 11), (1,))
    assert not has_kernel((128, 22), (0, 1))
    assert not has_kernel((128, 0), (0,))
    assert not has_kernel((1 << 19,), (0,))
    assert not has_kernel((128, 128), (1,), np.clongdouble)


def test_blocks_of_rows_cover_them_from_either_end() -> None:
    for width in (2, 4, 8, 16):
        for count in range(width, 150):
            begins = lane_transforms.starts(count, width)
            assert {each + i for each in begins for i in range(width)} == set(range(count))
            assert [count - width - each for each in begins[::-1]] == begins
            assert len(begins) <= -(-count // width) + 1


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
    assert fft_plans.roots_of_unity(4, True).tolist() == [1, -1j, -1, 1j]
    angle = 8 * np.arctan(np.longdouble(1)) * np.arange(37) / 37
    found = fft_plans.roots_of_unity(37, False)
    assert np.abs(found.real - np.cos(angle)).max() < 1.2e-16
    assert np.abs(found.imag - np.sin(angle)).max() < 1.2e-16


def test_planes_on_several_threads(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(threads, "GRAIN", 256)
    x = np.random.default_rng(3).standard_normal((3, 64, 128)).astype(np.float32)
    wanted = np.fft.fft2(x.astype(np.float64))
    for count in (1, 2, 3):
        monkeypatch.setattr(threads, "_threads", count)
        np.testing.assert_allclose(torch.fft.fft2(torch.from_numpy(x)).numpy(), wanted, atol=1e-3)
