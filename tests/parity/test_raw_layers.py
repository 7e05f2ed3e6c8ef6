"""What PyTorch's layers call, as functions of the package: the same results here."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as ours

theirs = pytest.importorskip("torch")

NETWORKS = [
    (name, options)
    for name in ("lstm", "gru", "rnn_tanh", "rnn_relu")
    for options in (
        {},
        {"num_layers": 2, "bidirectional": True},
        {"bias": False, "batch_first": True},
        *([{"proj_size": 2}] * (name == "lstm")),
    )
]


def weights(torch: Any, name: str, options: dict[str, Any]) -> list[Any]:
    numbers = np.random.default_rng(0)
    mode = "RNN" if name.startswith("rnn") else name.upper()
    layer = getattr(torch.nn, mode)(3, 4, **options)
    return [
        torch.tensor(numbers.normal(size=tuple(each.shape)), requires_grad=True)
        for each in layer.parameters()
    ]


def run(torch: Any, name: str, options: dict[str, Any], is_packed: bool) -> list[np.ndarray]:
    numbers = np.random.default_rng(1)
    params = weights(torch, name, options)
    layers, both = options.get("num_layers", 1), options.get("bidirectional", False)
    rows = layers * (1 + both)
    first = torch.zeros(rows, 2, options.get("proj_size") or 4, dtype=torch.float64)
    hx = (first, torch.zeros(rows, 2, 4, dtype=torch.float64)) if name == "lstm" else first
    modes = (options.get("bias", True), layers, 0.0, False, both)
    x = torch.tensor(numbers.normal(size=(5, 3) if is_packed else (2, 2, 3)), requires_grad=True)
    function = getattr(torch, name)
    if is_packed:
        results = function(x, torch.tensor([2, 2, 1]), hx, params, *modes)
    else:
        results = function(x, hx, params, *modes, options.get("batch_first", False))
    (results[0] ** 2).sum().backward()
    return [each.detach().numpy() for each in (*results, x.grad, *[p.grad for p in params])]


@pytest.mark.parametrize("is_packed", [False, True], ids=["whole", "packed"])
@pytest.mark.parametrize(("name", "options"), NETWORKS, ids=str)
def test_recurrent_networks(name: str, options: dict[str, Any], is_packed: bool) -> None:
    if is_packed and "batch_first" in options:
        options = {"bias": False}
    found, expected = (run(torch, name, options, is_packed) for torch in (ours, theirs))
    for own, other in zip(found, expected, strict=True):
        np.testing.assert_allclose(own, other, rtol=1e-9, atol=1e-12)


@pytest.mark.parametrize("mode", [0, 1, 2])
@pytest.mark.parametrize("padding_idx", [None, 1])
def test_bags(mode: int, padding_idx: int | None) -> None:
    found = []
    for torch in (ours, theirs):
        weight = torch.arange(12.0).reshape(4, 3).sin()
        indices, offsets = torch.tensor([0, 3, 1, 2, 2]), torch.tensor([0, 2, 4])
        last = () if padding_idx is None else (False, None, False, padding_idx)
        results = torch.embedding_bag(weight, indices, offsets, False, mode, *last)
        found.append([each.tolist() for each in results])
    np.testing.assert_allclose(found[0][0], found[1][0], rtol=1e-6)
    assert mode == 0 or found[0][2] == found[1][2]  # PyTorch does not count for sums
    assert mode != 2 or found[0][3] == found[1][3]


@pytest.mark.parametrize("reduction", [(), (0, 0), (0, 1), (0, 2, True)])
def test_ctc_loss(reduction: tuple[Any, ...]) -> None:
    found = []
    for torch in (ours, theirs):
        probs = torch.arange(48.0).reshape(6, 2, 4).sin().log_softmax(2)
        targets = torch.tensor([[1, 2], [3, 3]])
        found.append(torch.ctc_loss(probs, targets, (6, 5), (2, 1), *reduction).tolist())
    np.testing.assert_allclose(found[0], found[1], rtol=1e-5)


def test_autocast_is_set_without_a_context() -> None:
    for torch in (ours, theirs):
        torch.set_autocast_enabled("cpu", True)
        try:
            assert torch.is_autocast_enabled("cpu")
            assert torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype is torch.bfloat16
        finally:
            torch.set_autocast_enabled("cpu", False)
        assert torch.mm(torch.ones(2, 2), torch.ones(2, 2)).dtype is torch.float32
