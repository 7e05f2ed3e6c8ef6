"""A variational autoencoder of handwritten digits; its noise is NumPy's."""

import numpy as np
import torch
from comparing import run
from sklearn.datasets import load_digits
from torch import nn, optim
from torch.nn import functional as F


class VAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encode = nn.Linear(64, 32)
        self.mean = nn.Linear(32, 4)
        self.log_variance = nn.Linear(32, 4)
        self.decode = nn.Sequential(nn.Linear(4, 32), nn.ReLU(), nn.Linear(32, 64), nn.Sigmoid())
        self.noise = np.random.RandomState(0)

    def forward(self, x):
        hidden = F.relu(self.encode(x))
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        noise = torch.from_numpy(self.noise.standard_normal(mean.shape)).to(mean)
        z = mean + torch.exp(0.5 * log_variance) * noise
        return self.decode(z), mean, log_variance


def train(model):
    images = torch.tensor(load_digits().data / 16, dtype=torch.float32)
    optimizer = optim.Adam(model.parameters(), lr=1e-3)
    for batch in images[:512].split(64):
        optimizer.zero_grad()
        decoded, mean, log_variance = model(batch)
        likelihood = F.binary_cross_entropy(decoded, batch, reduction="sum")
        divergence = -0.5 * torch.sum(1 + log_variance - mean.pow(2) - log_variance.exp())
        loss = likelihood + divergence
        loss.backward()
        optimizer.step()
        yield loss.item()


run(VAE, train)
