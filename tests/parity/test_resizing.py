"""Resized images and their gradients against PyTorch's."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402
from tests.parity.nn_cases import draw  # noqa: E402

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
    """Cubic weights overshoot, and what is cut off is not seen by the other dim.

    PyTorch's weights are numbers of 16 bits: results are one apart at most.
    """
    if options.get("mode") == "area":
        pytest.skip("adaptive_avg_pool2d takes no bytes")
    image = np.random.default_rng(0).integers(0, 2, IMAGE).astype(np.uint8) * 255
    found = []
    for library in (torchgen_out, torch):
        memory_format = library.channels_last if is_last else library.contiguous_format
        x = library.tensor(image).contiguous(memory_format=memory_format)
        found.append(library.nn.functional.interpolate(x, **options))
    ours, theirs = found
    assert ours.dtype is torchgen_out.uint8
    assert ours.stride() == theirs.stride()
    np.testing.assert_allclose(ours.numpy().astype(int), theirs.numpy().astype(int), atol=1)


@pytest.mark.parametrize("dtype", ["uint8", "int16", "int64"])
def test_integers_but_bytes_of_images_are_refused(dtype: str) -> None:
    for library in (torchgen_out, torch):
        for mode, size in (("linear", LINE), ("trilinear", VOLUME)):
            x = library.ones(size, dtype=getattr(library, dtype))
            with pytest.raises(NotImplementedError, match="not implemented for"):
                library.nn.functional.interpolate(x, scale_factor=2, mode=mode)
