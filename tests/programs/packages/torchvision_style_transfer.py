"""torchvision: a style network learns from the features of a VGG that stays as it is."""

import numpy as np
import torch
from comparing import run
from torch import nn
from torchvision import models


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.style = nn.Sequential(
            nn.ReflectionPad2d(1), nn.Conv2d(3, 8, 3), nn.InstanceNorm2d(8, affine=True),
            nn.ReLU(), nn.Upsample(scale_factor=2), nn.ReflectionPad2d(1),
            nn.Conv2d(8, 3, 3, stride=2),
        )  # fmt: skip
        self.features = models.vgg11(init_weights=False).features[:8].requires_grad_(False)


def gram(y):
    flat = y.flatten(2)
    return flat.bmm(flat.transpose(1, 2)) / y[0].numel()


def train(model):
    images = torch.from_numpy(np.random.RandomState(0).rand(2, 3, 24, 24).astype(np.float32))
    optimizer = torch.optim.Adam(model.style.parameters(), lr=1e-3)
    wanted = model.features(images)
    for _ in range(6):
        made = model.features(model.style(images))
        loss = nn.functional.mse_loss(made, wanted)
        loss = loss + 100 * nn.functional.mse_loss(gram(made), gram(wanted) / 2)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss


run(Pair, train)
