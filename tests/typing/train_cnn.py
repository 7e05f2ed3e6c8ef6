"""A user's typed program: `tests.typecheck` reads it as strictly as the library itself.

A small network is built, trained, saved and read again; wherever a public signature loses its type
or refuses what programs write, the checker says so here. Nobody runs it.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any, assert_type

import numpy as np

import torchgen_out as torch
import torchgen_out.nn.functional as F
from torchgen_out import Tensor, nn, optim
from torchgen_out.distributions import Categorical, Normal
from torchgen_out.optim.lr_scheduler import CosineAnnealingLR, LRScheduler
from torchgen_out.utils.data import DataLoader, TensorDataset


class Block(nn.Module):
    """Convolution, normalisation, activation; a shortcut around them."""

    def __init__(self, channels: int, width: int, stride: int | tuple[int, int] = 1) -> None:
        super().__init__()
        self.conv = nn.Conv2d(channels, width, 3, stride=stride, padding=1, bias=False)
        self.norm = nn.BatchNorm2d(width)
        self.shortcut: nn.Module = nn.Identity()
        if channels != width:
            self.shortcut = nn.Conv2d(channels, width, 1, stride=stride)

    def forward(self, x: Tensor) -> Tensor:
        inner = F.relu(self.norm(self.conv(x)))
        assert_type(inner, Tensor)
        around: Tensor = self.shortcut(x)
        return inner + around


class Network(nn.Module):
    """Blocks, an average over the plane, and a linear layer."""

    scale: Tensor

    def __init__(self, widths: Sequence[int], classes: int) -> None:
        super().__init__()
        pairs = zip([1, *widths[:-1]], widths, strict=True)
        self.blocks = nn.Sequential(*(Block(before, after) for before, after in pairs))
        self.pool = nn.AdaptiveAvgPool2d((1, 1))
        self.dropout = nn.Dropout(0.1)
        self.head = nn.Linear(widths[-1], classes)
        self.gain = nn.Parameter(torch.ones(classes))
        self.register_buffer("scale", torch.tensor(0.5))

    def forward(self, x: Tensor) -> Tensor:
        features = self.pool(self.blocks(x)).flatten(1)
        logits: Tensor = self.head(self.dropout(features)) * self.gain
        return logits * self.scale

    @torch.no_grad()
    def predict(self, x: Tensor) -> Tensor:
        """The likeliest classes."""
        return self.forward(x).argmax(dim=1)


def batches(count: int, device: torch.device | str) -> DataLoader[tuple[Tensor, ...]]:
    """Images at random, and their classes."""
    images = torch.randn(count, 1, 8, 8, device=device, dtype=torch.float32)
    labels = torch.randint(0, 10, (count,), device=device)
    return DataLoader(TensorDataset(images, labels), batch_size=16, shuffle=True)


def train(model: Network, loader: DataLoader[tuple[Tensor, ...]], epochs: int) -> list[float]:
    """Return the losses."""
    criterion = nn.CrossEntropyLoss(label_smoothing=0.1)
    optimizer = optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.01)
    scheduler: LRScheduler = CosineAnnealingLR(optimizer, T_max=epochs)
    losses: list[float] = []
    model.train()
    for _ in range(epochs):
        for images, labels in loader:
            optimizer.zero_grad(set_to_none=True)
            loss = criterion(model(images), labels)
            loss.backward()
            norm = nn.utils.clip_grad_norm_(model.parameters(), 1.0)
            assert_type(norm, Tensor)
            optimizer.step()
            losses.append(float(loss))
        scheduler.step()
    return losses


def evaluate(model: Network, loader: DataLoader[tuple[Tensor, ...]]) -> float:
    """The share of classes that are right."""
    model.eval()
    right, seen = 0, 0
    with torch.no_grad():
        for images, labels in loader:
            predicted = model.predict(images)
            assert_type(predicted, Tensor)
            right += int((predicted == labels).sum().item())
            seen += labels.size(0)
    return right / seen


def arithmetic(x: Tensor) -> Iterator[Tensor]:
    """What operators, methods and indexing return."""
    assert_type(x + 1, Tensor)
    assert_type(1 - x, Tensor)
    assert_type(x @ x.mT, Tensor)
    assert_type(x[0, ..., None], Tensor)
    assert_type(x.to("cpu", torch.float64), Tensor)
    assert_type(x.float().cpu(), Tensor)
    assert_type(x.shape[0], int)
    assert_type(torch.cat([x, x], dim=1), Tensor)
    assert_type(torch.where(x > 0, x, 0.0), Tensor)
    assert_type(torch.linalg.norm(x), Tensor)
    values, indices = x.max(dim=1)
    assert_type(values, Tensor)
    assert_type(indices, Tensor)
    assert_type(x.grad, Tensor | None)
    assert_type(x.detach().numpy(), np.ndarray[tuple[Any, ...], np.dtype[Any]])
    yield from x


def policy(logits: Tensor) -> Tensor:
    """Distributions: samples and their log probabilities."""
    choice = Categorical(logits=logits)
    action = choice.sample()
    noise = Normal(torch.zeros(3), torch.ones(3)).rsample((2,))
    assert_type(noise, Tensor)
    return choice.log_prob(action) + choice.entropy()


def main() -> None:
    """Train, save, load."""
    torch.manual_seed(0)
    model = Network([8, 16], 10).to("cpu")
    losses = train(model, batches(64, "cpu"), epochs=2)
    torch.save(model.state_dict(), "model.pt")
    model.load_state_dict(torch.load("model.pt", weights_only=True))
    print(evaluate(model, batches(32, torch.device("cpu"))), min(losses))


if __name__ == "__main__":
    main()
