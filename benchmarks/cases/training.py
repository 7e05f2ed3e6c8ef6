"""Whole training steps: forward, loss, zero_grad, backward and the optimizer's step."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType
from typing import Any, NamedTuple

import numpy as np

from benchmarks.case import Case, Work

Forward = Callable[..., Any]


class Model(NamedTuple):
    """A model, its optimizer and one batch."""

    title: str
    make: Callable[[ModuleType], tuple[Any, Forward]]
    """The module that owns the parameters, and a function of the batch."""
    sizes: tuple[int, ...]
    classes: int = 0
    """Labels 0 to classes - 1 and the cross entropy; 0: the mean square of the result."""
    optimizer: str = "SGD"


def make_step(model: Model, T: ModuleType, device: str = "cpu") -> Work:
    """The training step of one library; all start from the same numbers."""
    rng = np.random.default_rng(0)
    module, forward = model.make(T)
    _fill(T, module, rng)
    module.to(device)
    x = T.from_numpy(rng.standard_normal(model.sizes, np.float32)).to(device)
    labels = T.from_numpy(rng.integers(0, max(model.classes, 1), model.sizes[0])).to(device)
    optimizer = getattr(T.optim, model.optimizer)(module.parameters(), lr=1e-4)
    cross_entropy = T.nn.functional.cross_entropy

    def step() -> Any:
        output = forward(x)
        loss = cross_entropy(output, labels) if model.classes else (output * output).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        return loss

    return Work(step, tuple(module.parameters()))


def _fill(T: ModuleType, module: Any, rng: np.random.Generator) -> None:
    """Give the parameters numbers that every library gets; gains stay near 1."""
    with T.no_grad():
        for name, parameter in module.named_parameters():
            numbers = rng.standard_normal(tuple(parameter.shape), np.float32)
            numbers /= np.sqrt(max(1, numbers[0].size))
            is_gain = numbers.ndim == 1 and name.endswith("weight")
            parameter.copy_(T.from_numpy(1 + 0.1 * numbers if is_gain else numbers))


def _mlp(*widths: int) -> Callable[[ModuleType], tuple[Any, Forward]]:
    def make(T: ModuleType) -> tuple[Any, Forward]:
        layers: list[Any] = []
        for i in range(len(widths) - 1):
            layers += [T.nn.Linear(widths[i], widths[i + 1]), T.nn.ReLU()]
        module = T.nn.Sequential(*layers[:-1])
        return module, module

    return make


def _lenet(T: ModuleType) -> tuple[Any, Forward]:
    nn = T.nn
    module = nn.Sequential(
        *(nn.Conv2d(1, 6, 5, padding=2), nn.ReLU(), nn.MaxPool2d(2)),
        *(nn.Conv2d(6, 16, 5), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten()),
        *(nn.Linear(400, 120), nn.ReLU(), nn.Linear(120, 84), nn.ReLU(), nn.Linear(84, 10)),
    )
    return module, module


def _recurrent(kind: str, size: int) -> Callable[[ModuleType], tuple[Any, Forward]]:
    def make(T: ModuleType) -> tuple[Any, Forward]:
        module = getattr(T.nn, kind)(size, size)
        return module, lambda x: module(x)[0]

    return make


def _attention(T: ModuleType) -> tuple[Any, Forward]:
    """Attention of 4 heads and a feed-forward layer, each after a norm and with a shortcut."""
    nn, F = T.nn, T.nn.functional
    names = {"qkv": nn.Linear(256, 768), "proj": nn.Linear(256, 256)}
    names |= {"norm1": nn.LayerNorm(256), "norm2": nn.LayerNorm(256)}
    names |= {"up": nn.Linear(256, 512), "down": nn.Linear(512, 256)}
    m = nn.ModuleDict(names)

    def forward(x: Any) -> Any:
        batch, length, width = x.shape
        qkv = m["qkv"](m["norm1"](x)).view(batch, length, 3, 4, width // 4).permute(2, 0, 3, 1, 4)
        heads = F.scaled_dot_product_attention(qkv[0], qkv[1], qkv[2], is_causal=True)
        x = x + m["proj"](heads.transpose(1, 2).reshape(batch, length, width))
        return x + m["down"](F.gelu(m["up"](m["norm2"](x))))

    return m, forward


def _basic_block(T: ModuleType) -> tuple[Any, Forward]:
    """Two 3x3 convolutions with batch norms, and the shortcut."""
    nn = T.nn
    layers: list[Any] = []
    for _ in range(2):
        layers += [nn.Conv2d(64, 64, 3, padding=1, bias=False), nn.BatchNorm2d(64), nn.ReLU()]
    body = nn.Sequential(*layers[:-1])
    return body, lambda x: nn.functional.relu(body(x) + x)


def _encoder(T: ModuleType) -> tuple[Any, Forward]:
    module = T.nn.TransformerEncoderLayer(256, 4, 512, dropout=0.0, batch_first=True)
    return module, module


MODELS = [
    Model("MLP 64-256-256-10", _mlp(64, 256, 256, 10), (64, 64), 10),
    Model("MLP 784-512-10, Adam", _mlp(784, 512, 10), (128, 784), 10, "Adam"),
    Model("tiny MLP 2-16-2, Adam", _mlp(2, 16, 2), (32, 2), 2, "Adam"),
    Model("tiny MLP 2-16-2", _mlp(2, 16, 2), (32, 2), 2),
    Model("LeNet", _lenet, (32, 1, 28, 28), 10),
    Model("LSTM 128", _recurrent("LSTM", 128), (32, 32, 128)),
    Model("GRU 128", _recurrent("GRU", 128), (32, 32, 128)),
    Model("RNN 128", _recurrent("RNN", 128), (32, 32, 128)),
    Model("attention block", _attention, (8, 128, 256), 0, "AdamW"),
    Model("transformer encoder layer", _encoder, (8, 128, 256), 0, "AdamW"),
    Model("ResNet basic block", _basic_block, (8, 64, 28, 28)),
]

CASES = [
    Case(
        f"{model.title}, {model.optimizer}".replace("Adam, Adam", "Adam"),
        "x".join(map(str, model.sizes)),
        lambda T, model=model: make_step(model, T),  # type: ignore[misc]
    )
    for model in MODELS
]
