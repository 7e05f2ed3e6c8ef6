"""Resized images and their gradients against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402
from tests.parity.nn_cases import draw  # noqa: E402
from torchgen_out._runtime.dispatch import ops  # noqa: E402
from torchgen_out._runtime.library.nn.functional import resampling  # noqa: E402
from torchgen_out._runtime.ops.composite import sampling  # noqa: E402

VOLUME, IMAGE, LINE = (2, 3, 4, 5, 6), (2, 3, 70, 9), (2, 3, 11)
CASES: list[tuple[tuple[int, ...], dict[str, Any]]] = [
    (LINE, {"size": 17, "mode": "linear"}),
    (LINE, {"scale_factor": 0.6, "mode": "linear", "align_corners": True}),
    (LINE, {"scale_factor": 1.05, "mode": "linear"}),
    (LINE, {"size": 1, "mode": "linear", "align_corners": True}),
    (IMAGE, {"scale_factor": 2, "mode": "bilinear"}),
    (IMAGE, {"scale_factor": (1.3, 0.4), "mode": "bilinear"}),
    (IMAGE, {"scale_factor": (1.3, 0.4), "mode": "bilinear", "recompute_scale_factor": True}),
    (IMAGE, {"size": (20, 25), "mode": "bilinear", "align_corners": True}),
    (IMAGE, {"size": (20, 5), "mode": "bilinear", "antialias": True}),
    (IMAGE, {"size": (80, 4), "mode": "bilinear", "antialias": True, "align_corners": True}),
    (IMAGE, {"scale_factor": 2, "mode": "bicubic"}),
    (IMAGE, {"size": (33, 15), "mode": "bicubic", "align_corners": True}),
    (IMAGE, {"size": (20, 5), "mode": "bicubic", "antialias": True}),
    (IMAGE, {"scale_factor": 1.7, "mode": "bicubic", "antialias": True}),
    (VOLUME, {"scale_factor": 2, "mode": "trilinear"}),
    (VOLUME, {"size": (3, 7, 6), "mode": "trilinear", "align_corners": True}),
    (VOLUME, {"size": (3, 7, 4), "mode": "area"}),
    (IMAGE, {"size": (13, 4), "mode": "area"}),
    (LINE, {"size": 4, "mode": "area"}),
    (VOLUME, {"size": (7, 3, 11)}),
    (IMAGE, {"scale_factor": (0.45, 1.9)}),
    (IMAGE, {"size": (31, 30), "mode": "nearest-exact"}),
    *(((1, 2, 3, 4), {"scale_factor": (rows, columns), "mode": mode})
      for rows, columns in ((1.3, 2.2), (2.3, 1.2), (1.3, 0.7))
      for mode in ("nearest", "nearest-exact")),
]  # fmt: skip


def value_and_gradient(library: Any, image: np.ndarray, options: dict[str, Any]) -> list[Any]:
    """The resized image, and the gradient of its sum of squares."""
    x = library.tensor(image, requires_grad=True)
    resized = library.nn.functional.interpolate(x, **options)
    resized.square().sum().backward()
    return [resized.detach().numpy(), x.grad.numpy()]


@pytest.mark.parametrize(("dtype", "tolerance"), [("float32", 2e-5), ("float64", 1e-12)])
@pytest.mark.parametrize(("shape", "options"), CASES)
def test_resized(
    shape: tuple[int, ...],
    options: dict[str, Any],
    dtype: str,
    tolerance: float,
) -> None:
    image = draw(*shape).astype(dtype)
    ours = value_and_gradient(torchgen_out, image, options)
    theirs = value_and_gradient(torch, image, options)
    for our, their in zip(ours, theirs, strict=True):
        assert our.shape == their.shape
        np.testing.assert_allclose(our, their, atol=tolerance * abs(their).max())


def test_half_is_resized_in_float32() -> None:
    x = torchgen_out.tensor(draw(*IMAGE)).half()
    options = {"size": (20, 5), "mode": "bicubic", "antialias": True}
    wide = torchgen_out.nn.functional.interpolate(x.float(), **options)
    narrow = torchgen_out.nn.functional.interpolate(x, **options)
    np.testing.assert_array_equal(narrow.numpy(), wide.half().numpy())


def test_what_has_no_weight_takes_no_part() -> None:
    x = torchgen_out.tensor([[[1.0, float("inf"), 3.0]]])
    same = torchgen_out.nn.functional.interpolate(x, 5, mode="linear", align_corners=True)
    assert same[0, 0, ::2].tolist() == [1.0, float("inf"), 3.0]


@pytest.mark.parametrize("options", [each for shape, each in CASES if shape is IMAGE])
@pytest.mark.parametrize("is_last", [False, True])
def test_bytes_are_rounded_after_each_dim(options: dict[str, Any], is_last: bool) -> None:
    """Cubic weights overshoot, and what is cut off is not seen by the other dim."""
    if options.get("mode") == "area":
        pytest.skip("adaptive_avg_pool2d takes no bytes")
    image = np.random.default_rng(0).integers(0, 2, IMAGE).astype(np.uint8) * 255
    ours, theirs = resized_bytes(image, is_last, options)
    np.testing.assert_array_equal(ours, theirs)


def resized_bytes(image: np.ndarray, is_last: bool, options: dict[str, Any]) -> list[np.ndarray]:
    """An image of bytes, resized by both libraries; strides and dtype are compared."""
    made = []
    for library in (torchgen_out, torch):
        memory_format = library.channels_last if is_last else library.contiguous_format
        x = library.tensor(image).contiguous(memory_format=memory_format)
        made.append(library.nn.functional.interpolate(x, **options))
    assert made[0].dtype is torchgen_out.uint8
    assert made[0].stride() == made[1].stride()
    return [each.numpy() for each in made]


@pytest.mark.parametrize("mode", ["bilinear", "bicubic"])
@pytest.mark.parametrize("channels", [1, 3, 4])
def test_bytes_are_those_of_fixed_point(channels: int, mode: str) -> None:
    """Squares and bands that are full, and what hangs over their edges."""
    draws = np.random.default_rng(channels)
    sizes = ((1, 1), (2, 9), (8, 8), (17, 63), (64, 33), (65, 130), (150, 7))
    for high, wide in sizes:
        image = draws.integers(0, 256, (2, channels, high, wide)).astype(np.uint8)
        for size in (*sizes[1:], (1, 3), (high, 20), (20, wide)):
            for how in ({"antialias": True}, {"align_corners": True}, {}):
                options = {"size": size, "mode": mode, **how}
                ours, theirs = resized_bytes(image, wide > high, options)
                np.testing.assert_array_equal(ours, theirs, err_msg=f"{image.shape} {options}")


def test_the_steps_of_other_backends_resize_bytes_alike() -> None:
    image = torchgen_out.randint(0, 256, (2, 5, 11, 3), dtype=torchgen_out.uint8)
    tables = [*byte_tables("cubic", 5, 8), *byte_tables("linear", 11, 4)]
    expected = ops._resample_bytes(image, *tables)
    made = torchgen_out.empty_like(expected)
    sampling.resample_bytes(made, image, *tables)
    assert made.equal(expected)


def byte_tables(kind: str, length: int, size: int) -> tuple[Any, Any]:
    """The tables of a dim, resized as without options."""
    resizing = resampling.Resizing(kind, length, size, None, False, False, "float64")
    return resampling.byte_tables(resizing, torchgen_out.device("cpu"))


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64"])
def test_integers_but_bytes_of_images_are_refused(dtype: str) -> None:
    for library in (torchgen_out, torch):
        for mode, size in (("linear", LINE), ("trilinear", VOLUME)):
            x = library.ones(size, dtype=getattr(library, dtype))
            with pytest.raises(NotImplementedError, match="not implemented for"):
                library.nn.functional.interpolate(x, scale_factor=2, mode=mode)
