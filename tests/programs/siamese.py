"""Two towers with shared weights that learn which digits are the same, by pairs and by triplets."""

import torch
import torch.nn as nn
import torch.nn.functional as F
from comparing import run
from sklearn.datasets import load_digits


class SiameseNetwork(nn.Module):
    def __init__(self):
        super().__init__()
        self.tower = nn.Sequential(
            nn.Conv2d(1, 8, 3), nn.ReLU(inplace=True), nn.AvgPool2d(2), nn.Flatten(),
            nn.Linear(72, 16),
        )  # fmt: skip
        self.head = nn.Sequential(nn.Linear(32, 16), nn.ReLU(inplace=True), nn.Linear(16, 1))

    def forward(self, first, second):
        first, second = self.tower(first), self.tower(second)
        return torch.sigmoid(self.head(torch.cat((first, second), 1))).squeeze(1), first, second


def train(model):
    digits = load_digits()
    images = torch.tensor(digits.images / 16, dtype=torch.float32).unsqueeze(1)
    targets = torch.from_numpy(digits.target)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.01)
    for start in range(0, 6 * 48, 48):
        first, second, third = (images[start + i : start + 48 : 3] for i in range(3))
        same = (targets[start : start + 48 : 3] == targets[start + 1 : start + 48 : 3]).float()
        likely, anchor, other = model(first, second)
        loss = F.binary_cross_entropy(likely, same)
        loss = loss + F.triplet_margin_loss(anchor, other, model.tower(third), margin=0.5)
        loss = loss + F.cosine_embedding_loss(anchor, other, 2 * same - 1, margin=0.1)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss.item()


run(SiameseNetwork, train)
