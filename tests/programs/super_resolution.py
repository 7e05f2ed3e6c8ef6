"""A network that doubles the resolution of images by shuffling channels into pixels."""

import torch
import torch.nn as nn
import torch.nn.init as init
from comparing import run
from sklearn.datasets import load_digits


class Net(nn.Module):
    def __init__(self, upscale_factor=2):
        super().__init__()
        self.relu = nn.ReLU()
        self.conv1 = nn.Conv2d(1, 16, (5, 5), (1, 1), (2, 2))
        self.conv2 = nn.Conv2d(16, 8, (3, 3), (1, 1), (1, 1))
        self.conv3 = nn.Conv2d(8, upscale_factor**2, (3, 3), (1, 1), (1, 1))
        self.pixel_shuffle = nn.PixelShuffle(upscale_factor)
        for layer in (self.conv1, self.conv2):
            init.orthogonal_(layer.weight, init.calculate_gain("relu"))
        init.orthogonal_(self.conv3.weight)

    def forward(self, x):
        x = self.relu(self.conv2(self.relu(self.conv1(x))))
        return self.pixel_shuffle(self.conv3(x))


def train(model):
    images = torch.tensor(load_digits().images / 16, dtype=torch.float32).unsqueeze(1)
    small = nn.functional.interpolate(images, scale_factor=0.5, mode="bilinear")
    optimizer = torch.optim.Adam(model.parameters(), lr=0.002)
    criterion = nn.MSELoss()
    for start in range(0, 8 * 32, 32):
        optimizer.zero_grad()
        loss = criterion(model(small[start : start + 32]), images[start : start + 32])
        loss.backward()
        optimizer.step()
        yield loss.item()


run(Net, train)
