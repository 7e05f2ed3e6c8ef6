"""A generator and a discriminator of handwritten digits, with transposed convolutions."""

import numpy as np
import torch
import torch.nn as nn
from comparing import run
from sklearn.datasets import load_digits


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(6, 16, 4, bias=False),
            nn.BatchNorm2d(16),
            nn.ReLU(True),
            nn.ConvTranspose2d(16, 1, 4, stride=2, padding=1, bias=False),
            nn.Tanh(),
        )
        self.discriminator = nn.Sequential(
            nn.Conv2d(1, 16, 4, stride=2, padding=1, bias=False),
            nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(16, 1, 4, bias=False),
            nn.Sigmoid(),
        )
        self.apply(self.initialise)

    @staticmethod
    def initialise(module):
        if isinstance(module, (nn.Conv2d, nn.ConvTranspose2d)):
            nn.init.normal_(module.weight, 0.0, 0.1)


def train(model):
    noise = np.random.RandomState(0)
    images = torch.tensor(load_digits().images / 8 - 1, dtype=torch.float32).unsqueeze(1)
    criterion = nn.BCELoss()
    of_generator = torch.optim.Adam(model.generator.parameters(), lr=2e-3, betas=(0.5, 0.999))
    of_discriminator = torch.optim.Adam(model.discriminator.parameters(), 2e-3, (0.5, 0.999))
    for real in images[:192].split(32):
        of_discriminator.zero_grad()
        drawn = torch.from_numpy(noise.standard_normal((32, 6, 1, 1))).float()
        fake = model.generator(drawn)
        ones, zeros = torch.ones(32), torch.zeros(32)
        loss = criterion(model.discriminator(real).view(-1), ones)
        loss = loss + criterion(model.discriminator(fake.detach()).view(-1), zeros)
        loss.backward()
        of_discriminator.step()
        of_generator.zero_grad()
        fooled = criterion(model.discriminator(fake).view(-1), ones)
        fooled.backward()
        of_generator.step()
        yield loss.item()
        yield fooled.item()


run(Pair, train)
