"""Streams, events, memory, graphs and training on a GPU."""

from __future__ import annotations

import gc
import random
from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out import nn


def test_streams_wait_for_each_other(device):
    x = torch.zeros(1 << 16, device=device)
    side = torch.cuda.Stream()
    for i in range(1, 20):
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            x.add_(i)
        torch.cuda.current_stream().wait_stream(side)
        x.mul_(2)
        x.mul_(0.5)
    assert torch.equal(x.cpu(), torch.full((1 << 16,), float(sum(range(1, 20)))))


def test_memory_that_another_stream_reads_is_not_used_again(device):
    side, total = torch.cuda.Stream(), torch.zeros(1 << 12, device=device)
    for i in range(20):
        x = torch.full((1 << 12,), float(i), device=device)
        side.wait_stream(torch.cuda.current_stream())
        with torch.cuda.stream(side):
            for _ in range(10):
                total.add_(x, alpha=0.1)
        x.record_stream(side)
        del x
        torch.full((1 << 12,), -1e9, device=device)
    side.synchronize()
    assert torch.allclose(total.cpu(), torch.full((1 << 12,), 190.0), rtol=1e-4)


def test_events_measure_time(device):
    start, end = (torch.cuda.Event(enable_timing=True) for _ in range(2))
    start.record()
    x = torch.ones(1 << 16, device=device).exp()
    end.record()
    end.synchronize()
    assert start.elapsed_time(end) > 0 and end.query() and x.is_cuda


def test_the_allocator_under_load(device):
    """Tensors of all sizes come and go; none is written to through another."""
    rng, live = random.Random(0), {}
    for step in range(600):
        if live and rng.random() < 0.48:
            key = rng.choice(list(live))
            assert (live.pop(key) == key).all().item()
        else:
            size = int(2 ** rng.uniform(0, 14))
            live[step] = torch.full((size,), step, dtype=torch.int64, device=device)
    assert all((tensor == key).all().item() for key, tensor in live.items())
    live.clear()
    gc.collect()
    torch.cuda.empty_cache()


def test_pinned_memory_under_load(device):
    """Page-locked memory is dropped right after copies from it and to it are queued."""
    total, back = torch.zeros(1 << 14, device=device), []
    for i in range(40):
        total += torch.full((1 << 14,), float(i), pin_memory=True).to(device, non_blocking=True)
        torch.empty(1 << 14, pin_memory=True).copy_(total, non_blocking=True)
        if i % 10 == 9:
            back.append(torch.empty(1 << 14, pin_memory=True).copy_(total, non_blocking=True))
    torch.cuda.synchronize()
    for given, expected in zip(back, (45.0, 190.0, 435.0, 780.0), strict=True):
        assert torch.equal(given, torch.full((1 << 14,), expected))


def test_numbers_of_the_host(device):
    x, factor = torch.arange(6.0, device=device), torch.tensor(3.0)
    y = x * factor + torch.tensor([1, -1, 2, -2, 3, -3], dtype=torch.int8).to(device)
    factor.fill_(0)
    assert y.tolist() == [1.0, 2.0, 8.0, 7.0, 15.0, 12.0]
    assert torch.linspace(0, 1, 5, device=device).tolist() == [0.0, 0.25, 0.5, 0.75, 1.0]


def test_out_of_memory_is_survived(device):
    free, total = torch.cuda.mem_get_info()
    with pytest.raises(torch.cuda.OutOfMemoryError, match="Tried to allocate"):
        torch.empty(2 * total, dtype=torch.uint8, device=device)
    kept = torch.empty(free // 4, dtype=torch.uint8, device=device)
    del kept  # in a free list now, in the way of what follows
    assert torch.empty(free * 3 // 5, dtype=torch.uint8, device=device).is_cuda


def test_faults_are_told_and_survived(device):
    x = torch.arange(6.0, device=device)
    read = x[torch.tensor([1, 9], device=device)]
    with pytest.raises(torch.AcceleratorError, match="index 9 is out of bounds"):
        torch.cuda.synchronize()
    assert read.tolist() == [1.0, 0.0]
    loss = nn.functional.cross_entropy(
        x.reshape(2, 3), torch.tensor([0, 3]).to(device), reduction="none"
    )
    with pytest.raises(torch.AcceleratorError, match="target 3 is out of bounds"):
        loss.cpu()
    assert (x + 1).sum().item() == 21.0


CONVOLUTIONS = {
    "plain": ((4, 8, 9, 11), (6, 8, 3, 3), {"padding": 1}),
    "strides and groups": ((4, 8, 9, 11), (6, 4, 3, 2), {"stride": 2, "groups": 2}),
    "dilation": ((2, 4, 16), (5, 4, 3), {"dilation": 2}),
    "volume": ((2, 3, 5, 6, 7), (4, 3, 2, 3, 3), {"padding": (0, 1, 1)}),
}


@pytest.mark.parametrize("name", CONVOLUTIONS)
@pytest.mark.parametrize("dtype", ["float32", "float64", "float16", "bfloat16"])
def test_cudnn_convolves_as_products_do(device, name, dtype):
    if not torch.backends.cudnn.is_available():
        pytest.skip("cuDNN is not installed: pip install torchgen[cudnn]")
    sizes, weights, options = CONVOLUTIONS[name]
    function = getattr(nn.functional, f"conv{len(sizes) - 2}d")

    def run(enabled: bool) -> list[Any]:
        torch.manual_seed(0)
        leaves = [torch.randn(*each).to(device, getattr(torch, dtype)) for each in (sizes, weights)]
        for leaf in leaves:
            leaf.requires_grad_()
        with torch.backends.cudnn.flags(enabled=enabled, allow_tf32=False):
            result = function(*leaves, **options)
            result.square().mean().backward()
        return [each.detach().float().cpu() for each in (result, *[leaf.grad for leaf in leaves])]

    tolerance = {"float32": 1e-3, "float64": 1e-6}.get(dtype, 3e-2)
    for ours, theirs in zip(run(False), run(True), strict=True):
        assert torch.allclose(ours, theirs, rtol=tolerance, atol=tolerance)


def test_graphs(device):
    x, w = torch.randn(8, 16).to(device), torch.randn(4, 16).to(device)
    torch.nn.functional.linear(x, w).relu()  # compiled and loaded before
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        y = torch.nn.functional.linear(x, w).relu()
    for _ in range(3):
        given = torch.randn(8, 16)
        x.copy_(given)
        graph.replay()
        assert torch.allclose(y.cpu(), (given @ w.cpu().t()).relu(), rtol=1e-3, atol=1e-3)


CAPTURED = {
    "dense": (lambda: nn.Sequential(nn.Linear(4, 8), nn.LayerNorm(8), nn.ReLU()), (5, 4)),
    "attention": (lambda: nn.TransformerEncoderLayer(4, 2, 8, dropout=0.0), (3, 2, 4)),
    "recurrent": (lambda: nn.GRU(4, 3), (3, 2, 4)),
    "convolution": (lambda: nn.Sequential(nn.Conv2d(1, 2, 3), nn.MaxPool2d(2)), (2, 1, 4, 4)),
}


@pytest.mark.parametrize("name", CAPTURED)
def test_captured_steps_train(device, name):
    """A whole step, of forward pass, backward pass and optimizer, as the CPU does it."""
    make, sizes = CAPTURED[name]
    model, twin, x = make().to(device), make(), torch.randn(*sizes)
    twin.load_state_dict({key: value.cpu() for key, value in model.state_dict().items()})

    def stepper(own: Any, given: Any) -> Any:
        optimizer = torch.optim.SGD(own.parameters(), lr=0.05, momentum=0.9)

        def step() -> Any:
            optimizer.zero_grad(set_to_none=False)
            out = own(given)
            loss = (out[0] if isinstance(out, tuple) else out).square().mean()
            loss.backward()
            optimizer.step()
            return loss

        return step

    step, expected = stepper(model, x.to(device)), stepper(twin, x)
    side = torch.cuda.Stream()
    side.wait_stream(torch.cuda.current_stream())
    with torch.cuda.stream(side):
        step()
    torch.cuda.current_stream().wait_stream(side)
    expected()
    graph = torch.cuda.CUDAGraph()
    with torch.cuda.graph(graph):
        loss = step()
    for _ in range(2):
        graph.replay()
        wanted = expected()
    assert loss.item() == pytest.approx(wanted.item(), rel=1e-3)
    for ours, theirs in zip(model.parameters(), twin.parameters(), strict=True):
        assert torch.allclose(ours.cpu(), theirs, rtol=1e-3, atol=1e-4)


def test_graphed_modules(device):
    layer = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
    twin = nn.Sequential(nn.Linear(6, 5), nn.Tanh(), nn.Linear(5, 3))
    twin.load_state_dict(layer.state_dict())
    graphed = torch.cuda.make_graphed_callables(layer.to(device), (torch.randn(4, 6).to(device),))
    for _ in range(3):
        x = torch.randn(4, 6)
        for own in (graphed, twin):
            own.zero_grad()
        graphed(x.to(device)).square().sum().backward()
        twin(x).square().sum().backward()
        for ours, theirs in zip(graphed.parameters(), twin.parameters(), strict=True):
            assert torch.allclose(ours.grad.cpu(), theirs.grad, rtol=1e-3, atol=1e-3)


def _losses(model: Any, x: Any, y: Any, steps: int) -> list[float]:
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9)
    losses = []
    for _ in range(steps):
        loss = nn.functional.mse_loss(model(x), y)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        losses.append(loss.item())
    return losses


MODELS = {
    "dense": (lambda: nn.Sequential(nn.Linear(8, 16), nn.Tanh(), nn.Linear(16, 2)), (12, 8)),
    "convolutional": (
        lambda: nn.Sequential(
            nn.Conv2d(1, 4, 3, padding=1), nn.ReLU(), nn.Conv2d(4, 2, 3), nn.Flatten(),
            nn.Linear(32, 2),
        ),
        (3, 1, 6, 6),
    ),
}  # fmt: skip


@pytest.mark.parametrize("name", MODELS)
def test_training_goes_as_on_the_cpu(device, name):
    make, sizes = MODELS[name]
    model, twin = make(), make()
    twin.load_state_dict(model.state_dict())
    x, y = torch.randn(*sizes), torch.randn(sizes[0], 2)
    expected = _losses(twin, x, y, 3)
    got = _losses(model.to(device), x.to(device), y.to(device), 3)
    assert got == pytest.approx(expected, rel=1e-3) and got[-1] < got[0]
