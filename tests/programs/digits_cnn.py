"""A convolutional network that reads handwritten digits, with batch norm and a schedule."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from comparing import run
from sklearn.datasets import load_digits
from torch.optim.lr_scheduler import StepLR
from torch.utils.data import DataLoader, TensorDataset


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(1, 8, 3, padding=1)
        self.norm = nn.BatchNorm2d(8)
        self.conv2 = nn.Conv2d(8, 16, 3)
        self.fc = nn.Linear(16 * 9, 10)

    def forward(self, x):
        x = F.relu(self.norm(self.conv1(x)))
        x = F.max_pool2d(F.relu(self.conv2(x)), 2)
        return F.log_softmax(self.fc(x.flatten(1)), dim=1)


def train(model):
    digits = load_digits()
    images = torch.tensor(digits.images / 16, dtype=torch.float32).unsqueeze(1)
    loader = DataLoader(TensorDataset(images[:256], torch.tensor(digits.target[:256])), 64)
    optimizer = torch.optim.Adadelta(model.parameters(), lr=0.5)
    scheduler = StepLR(optimizer, step_size=1, gamma=0.7)
    for _ in range(2):
        model.train()
        for data, target in loader:
            optimizer.zero_grad()
            loss = F.nll_loss(model(data), target)
            loss.backward()
            optimizer.step()
            yield loss.item()
        scheduler.step()
    model.eval()
    with torch.no_grad():
        yield F.nll_loss(model(images[256:]), torch.tensor(digits.target[256:])).item()


run(Net, train)
