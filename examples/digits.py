"""Trains a small convolutional network on handwritten digits: plain PyTorch, another import.

    python examples/digits.py [picture.png]

The data are scikit-learn's 1797 images of 8 x 8 pixels. Needs scikit-learn, matplotlib and tqdm
(`pip install torchgen-out[demo]`).
"""

from __future__ import annotations

import sys
import time

from sklearn.datasets import load_digits
from sklearn.model_selection import train_test_split
from tqdm import tqdm

import torchgen_out as torch
import torchgen_out.nn.functional as F
from torchgen_out import nn, optim
from torchgen_out.utils.data import DataLoader, TensorDataset

EPOCHS = 12


class Net(nn.Module):
    """Two convolutions, two linear layers."""

    def __init__(self) -> None:
        super().__init__()
        self.conv1 = nn.Conv2d(1, 16, 3, padding=1)
        self.conv2 = nn.Conv2d(16, 32, 3, padding=1)
        self.norm = nn.BatchNorm2d(32)
        self.fc1 = nn.Linear(32 * 4 * 4, 64)
        self.fc2 = nn.Linear(64, 10)

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        x = F.relu(self.conv1(x))
        x = F.max_pool2d(F.relu(self.norm(self.conv2(x))), 2)
        x = F.dropout(F.relu(self.fc1(x.flatten(1))), 0.25, self.training)
        return self.fc2(x)


def load() -> tuple[TensorDataset, TensorDataset]:
    """The digits as (1, 8, 8) images in [0, 1] and their classes, for training and for testing."""
    digits = load_digits()
    images = (digits.images / 16).astype("float32")[:, None]
    parts = train_test_split(images, digits.target, test_size=0.25, random_state=0)
    train_x, test_x, train_y, test_y = map(torch.from_numpy, parts)
    return TensorDataset(train_x, train_y), TensorDataset(test_x, test_y)


def train(model: nn.Module, data: TensorDataset) -> list[float]:
    """Train the model; return the loss of every step."""
    loader = DataLoader(data, batch_size=64, shuffle=True)
    optimizer = optim.AdamW(model.parameters(), lr=3e-3)
    schedule = optim.lr_scheduler.OneCycleLR(optimizer, 1e-2, total_steps=EPOCHS * len(loader))
    losses = []
    model.train()
    with tqdm(total=EPOCHS * len(loader), unit="step") as progress:
        for _ in range(EPOCHS):
            for images, labels in loader:
                optimizer.zero_grad()
                loss = F.cross_entropy(model(images), labels)
                loss.backward()
                optimizer.step()
                schedule.step()
                losses.append(loss.item())
                progress.set_postfix(loss=f"{losses[-1]:.3f}", refresh=False)
                progress.update()
    return losses


@torch.no_grad()
def predict(model: nn.Module, data: TensorDataset) -> tuple[torch.Tensor, float]:
    """Return the predicted classes and the share of right ones."""
    images, labels = data.tensors
    predicted = model.eval()(images).argmax(1)
    return predicted, (predicted == labels).float().mean().item()


def draw(path: str, losses: list[float], data: TensorDataset, predicted: torch.Tensor) -> None:
    """Draw the loss and some predictions; wrong ones first, in red."""
    from matplotlib.figure import Figure  # late: half a second that training need not wait for

    images, labels = data.tensors
    order = (predicted == labels).int().argsort(stable=True)[:16].tolist()
    figure = Figure(figsize=(10, 4), layout="constrained")
    left, right = figure.subfigures(1, 2)
    axes = left.subplots()
    axes.semilogy(losses)
    axes.set(xlabel="step", ylabel="cross entropy", title="training loss")
    for axes, i in zip(right.subplots(4, 4).flat, order, strict=True):
        axes.imshow(images[i, 0].numpy(), cmap="gray_r")
        right_answer = predicted[i] == labels[i]
        axes.set_title(f"{predicted[i].item()}", color="black" if right_answer else "red")
        axes.axis("off")
    figure.savefig(path, dpi=120)


def main(path: str = "digits.png") -> None:
    """Train, test, draw the picture into `path`."""
    torch.manual_seed(0)
    train_data, test_data = load()
    model = Net()
    start = time.perf_counter()
    losses = train(model, train_data)
    seconds = time.perf_counter() - start
    predicted, accuracy = predict(model, test_data)
    draw(path, losses, test_data, predicted)
    print(f"test accuracy {accuracy:.1%} after {seconds:.1f} s of training; picture in {path}")


if __name__ == "__main__":
    main(*sys.argv[1:])
