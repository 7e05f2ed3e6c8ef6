"""torchvision: digits in MNIST's files, transforms, a loader, and the convolutional example."""

import gzip
import struct
import tempfile
from pathlib import Path

import numpy as np
from comparing import run
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.nn import functional as F
from torch.utils.data import DataLoader
from torchvision import datasets, transforms


def write_mnist(folder):
    """Write the digits as MNIST's four files."""
    digits = load_digits()
    images = np.kron(digits.images, np.ones((2, 2))).astype(np.uint8) * 15
    raw = Path(folder) / "MNIST" / "raw"
    raw.mkdir(parents=True)
    for split in ("train", "t10k"):
        head = struct.pack(">IIII", 2051, *images.shape)
        with gzip.open(raw / f"{split}-images-idx3-ubyte.gz", "wb") as file:
            file.write(head + images.tobytes())
        with gzip.open(raw / f"{split}-labels-idx1-ubyte.gz", "wb") as file:
            labels = digits.target.astype(np.uint8)
            file.write(struct.pack(">II", 2049, len(labels)) + labels.tobytes())
    for path in raw.glob("*.gz"):
        path.with_suffix("").write_bytes(gzip.decompress(path.read_bytes()))


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc = nn.Linear(16 * 6 * 6, 10)

    def forward(self, x):
        x = F.relu(self.conv2(F.relu(self.conv1(x))))
        return F.log_softmax(self.fc(F.max_pool2d(x, 2).flatten(1)), dim=1)


def train(model):
    transform = transforms.Compose(
        [transforms.CenterCrop(16), transforms.ToTensor(), transforms.Normalize((0.3,), (0.35,))]
    )
    optimizer = optim.Adadelta(model.parameters(), lr=1.0)
    scheduler = optim.lr_scheduler.StepLR(optimizer, step_size=4, gamma=0.7)
    with tempfile.TemporaryDirectory() as folder:
        write_mnist(folder)
        loader = DataLoader(datasets.MNIST(folder, transform=transform), batch_size=64)
        for (images, labels), _ in zip(loader, range(10), strict=False):
            optimizer.zero_grad()
            loss = F.nll_loss(model(images), labels)
            loss.backward()
            optimizer.step()
            scheduler.step()
            yield loss


run(Net, train)
