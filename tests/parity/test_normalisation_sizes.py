"""Normalisations of all small sizes, empty, vectors and numbers among them, beside PyTorch's."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

import torchgen_out as torch

reference = pytest.importorskip("torch")

SIZES: tuple[tuple[int, ...], ...] = (
    *((), (0,), (1,), (3,), (2, 3), (1, 3), (0, 3), (2, 0), (1, 1)),
    *((2, 3, 1), (1, 3, 1), (2, 3, 0), (0, 3, 2), (2, 0, 4), (2, 3, 4), (0, 3, 4, 4)),
)

Layer = Callable[[Any, Any, Any, Any], Any]
"""From a library, an input, and zeros and ones, one per channel."""

LAYERS: dict[str, Layer] = {
    "batch_norm of its own": lambda f, x, z, o: f.batch_norm(x, None, None, training=True),
    "batch_norm that learns": lambda f, x, z, o: f.batch_norm(x, z, o, training=True),
    "batch_norm by statistics": lambda f, x, z, o: f.batch_norm(x, z, o),
    "batch_norm with weight": lambda f, x, z, o: f.batch_norm(x, z, o, o + 1, z + 1),
    "batch_norm of nothing": lambda f, x, z, o: f.batch_norm(x, None, None),
    "instance_norm of its own": lambda f, x, z, o: f.instance_norm(x),
    "instance_norm that learns": lambda f, x, z, o: f.instance_norm(x, z, o),
    "instance_norm by statistics": lambda f, x, z, o: f.instance_norm(
        x, z, o, use_input_stats=False
    ),
    "instance_norm with weight": lambda f, x, z, o: f.instance_norm(x, None, None, o + 1, z + 1),
    "group_norm": lambda f, x, z, o: f.group_norm(x, 1, o, z),
    "group_norm by threes": lambda f, x, z, o: f.group_norm(x, 3),
    "layer_norm": lambda f, x, z, o: f.layer_norm(x, (3,)),
    "layer_norm of all": lambda f, x, z, o: f.layer_norm(x, x.shape),
    "rms_norm": lambda f, x, z, o: f.rms_norm(x, (3,)),
    "normalize": lambda f, x, z, o: f.normalize(x, dim=0),
}


def answer(library: Any, layer: Layer, sizes: tuple[int, ...]) -> Any:
    """Values, statistics and sizes, or the refusal's class and, of most, its text."""
    channels = sizes[1] if len(sizes) > 1 else sizes[0] if sizes else 1
    zeros, ones = library.zeros(channels), library.ones(channels)
    try:
        result = layer(library.nn.functional, library.ones(sizes), zeros, ones)
    except (RuntimeError, IndexError, ValueError) as error:
        return type(error), str(error).replace("[*3]", "[*, 3]")
    values = result, zeros, ones
    return tuple(result.shape), *([round(x, 4) for x in v.flatten().tolist()] for v in values)


@pytest.mark.parametrize("name", LAYERS)
@pytest.mark.filterwarnings("ignore")
def test_small_sizes(name: str) -> None:
    different = []
    for sizes in SIZES:
        ours, theirs = (answer(each, LAYERS[name], sizes) for each in (torch, reference))
        if repr(ours) != repr(theirs):  # so that nan is nan
            different.append((sizes, ours, theirs))
    assert not different


def test_an_empty_batch_is_in_the_graph_of_its_parameters() -> None:
    """Their gradients are zeros; a layer whose batch ran empty is no error for an optimizer."""
    for library in (torch, reference):
        x = library.ones(0, 3, requires_grad=True)
        parameters = [library.ones(3, requires_grad=True) for _ in range(2)]
        library.nn.functional.batch_norm(x, None, None, *parameters, training=True).sum().backward()
        assert tuple(x.grad.shape) == (0, 3)
        assert [each.grad.tolist() for each in parameters] == [[0.0] * 3] * 2
