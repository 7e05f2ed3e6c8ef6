"""Recurrent layers whose batch is shared among threads, against one cell, step by step."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
import torchgen_out.nn as nn
from torchgen_out._runtime.kernels import threads

TIME, INPUT, SIZE = 4, 5, 7


def by_cells(kind: str, layer: Any, x: Any, options: dict[str, Any]) -> Any:
    """The outputs of a layer's cell, both directions beside each other."""
    outputs = []
    for suffix, times in (("", range(TIME)), ("_reverse", range(TIME - 1, -1, -1))):
        cell = getattr(nn, f"{kind}Cell")(INPUT, SIZE, dtype=x.dtype, **options)
        for name in ("weight_ih", "weight_hh", "bias_ih", "bias_hh"):
            setattr(cell, name, getattr(layer, f"{name}_l0{suffix}"))
        state, found = None, {}
        for time in times:
            state = cell(x[time], state)
            found[time] = state[0] if kind == "LSTM" else state
        outputs.append(torch.stack([found[time] for time in range(TIME)]))
    return torch.cat(outputs, 2)


@pytest.mark.parametrize("count", [1, 2, 3])
@pytest.mark.parametrize("batch", [1, 3, 30])
@pytest.mark.parametrize(
    "kind, options", [("LSTM", {}), ("GRU", {}), ("RNN", {}), ("RNN", {"nonlinearity": "relu"})]
)
def test_rows_shared_among_threads(
    kind: str, options: dict[str, Any], batch: int, count: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(threads, "GRAIN", 16)
    monkeypatch.setattr(threads, "_threads", count)
    torch.manual_seed(batch)
    layer = getattr(nn, kind)(INPUT, SIZE, bidirectional=True, dtype=torch.float64, **options)
    x = torch.randn(batch, TIME, INPUT, dtype=torch.float64).transpose(0, 1).requires_grad_()
    grads = torch.randn(TIME, batch, 2 * SIZE, dtype=torch.float64)
    found = []
    for output in (layer(x)[0], by_cells(kind, layer, x, options)):
        wanted = torch.autograd.grad(output, [x, *layer.parameters()], grads)
        found.append([output.detach(), *wanted])
    for mine, exact in zip(*found, strict=True):
        np.testing.assert_allclose(mine.numpy(), exact.numpy(), rtol=1e-11, atol=1e-12)
