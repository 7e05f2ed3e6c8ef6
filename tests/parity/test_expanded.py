"""Reductions, rows and their gradients of tensors whose elements share memory, along any dims.

The reference is PyTorch given copies: it has faults of its own there (`median`).
"""

from __future__ import annotations

from itertools import chain, combinations
from typing import Any

import numpy as np
import pytest
import torch

import torchgen_out
from tests.tolerances import GRADIENT, assert_close

SIZES = (2, 3, 4)
VIEWS = {
    "as it is": lambda t: t,
    "transposed": lambda t: t.transpose(0, 1),
    "turned": lambda t: t.permute(2, 1, 0),
}
OVER_DIMS = {
    **{name: name for name in ("sum", "mean", "amax", "amin", "logsumexp", "var", "std", "nansum")},
    **{name: name for name in ("var_mean", "std_mean", "any", "all", "count_nonzero")},
}
ALONG_ONE = ("prod", "argmax", "argmin", "softmax", "log_softmax", "cumsum", "cumprod", "cummax")
ALONG_ONE = (*ALONG_ONE, "logcumsumexp", "median", "nanmedian", "sort", "argsort", "mode", "diff")
LAYERS = {
    "vector_norm": lambda F, t: t.norm(dim=1) + t.norm(1, dim=1) + t.norm(3, dim=1),
    "norm of two": lambda F, t: t.norm(dim=(0, 2)),
    "normalize": lambda F, t: F.normalize(t, dim=2),
    "cosine_similarity": lambda F, t: F.cosine_similarity(t, t[:1] * 2 + 1, dim=-1),
    "layer_norm": lambda F, t: F.layer_norm(t, t.shape[1:]),
    "layer_norm of rows": lambda F, t: F.layer_norm(t, t.shape[2:]),
    "group_norm": lambda F, t: F.group_norm(t, 1),
    "instance_norm": lambda F, t: F.instance_norm(t),
    "avg_pool1d": lambda F, t: F.avg_pool1d(t, 2),
    "max_pool1d": lambda F, t: F.max_pool1d(t, 2),
    "adaptive_avg_pool1d": lambda F, t: F.adaptive_avg_pool1d(t, 2),
    "pad": lambda F, t: F.pad(t, (1, 1), mode="replicate"),
    "interpolate": lambda F, t: F.interpolate(t, scale_factor=2),
}
SHARED = [each for n in range(1, 4) for each in combinations(range(3), n)]
"""Dims along which elements share memory."""


def expanded(T: Any, shared: tuple[int, ...], is_copied: bool) -> tuple[Any, Any]:
    """A leaf, and what is seen of it."""
    sizes = [1 if dim in shared else size for dim, size in enumerate(SIZES)]
    leaf = T.from_numpy(np.random.default_rng(0).normal(size=sizes)).requires_grad_()
    seen = leaf.expand(SIZES)
    return leaf, seen.clone(memory_format=T.contiguous_format) if is_copied else seen


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shared", SHARED, ids=str)
def test_reductions(shared: tuple[int, ...], view: str) -> None:
    """Over all dims and sets of dims, and all that is along one dim."""
    ours, theirs = (
        VIEWS[view](expanded(T, shared, T is torch)[1].detach()) for T in (torchgen_out, torch)
    )
    some = list(chain.from_iterable(combinations(range(3), n) for n in (1, 2, 3)))
    calls = [(name, dims) for name in OVER_DIMS for dims in some]
    calls += [(name, dim) for name in ALONG_ONE for dim in range(3)]
    for name, dims in calls:
        if isinstance(dims, tuple) and name in ("any", "all") and len(dims) > 1:
            continue
        given = dims[0] if isinstance(dims, tuple) and len(dims) == 1 else dims
        found, expected = (
            getattr(T, name)(t, dim=given)
            for T, t in ((torchgen_out, ours), (torch, theirs.contiguous()))
        )
        pairs = (
            zip(found, expected, strict=True) if isinstance(found, tuple) else ((found, expected),)
        )
        for got, right in pairs:
            if name in ("median", "nanmedian", "mode") and not right.is_floating_point():
                continue  # which of equal elements is the one
            assert_close(got.numpy(), right.numpy(), GRADIENT["float64"], f"{name} {dims}")


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("shared", SHARED, ids=str)
def test_layers_and_their_gradients(shared: tuple[int, ...], view: str) -> None:
    """What normalizes, pools and pads."""
    for name, layer in LAYERS.items():
        made = []
        for T in (torchgen_out, torch):
            leaf, seen = expanded(T, shared, T is torch)
            result = layer(T.nn.functional, VIEWS[view](seen))
            result.square().sum().backward()
            made.append([result.detach().numpy(), leaf.grad.numpy()])
        for got, right in zip(*made, strict=True):
            assert_close(got, right, GRADIENT["float64"], name)
