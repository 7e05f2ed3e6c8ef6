"""torchvision: the DCGAN example, which trains on a folder of images and saves what it draws."""

import tempfile
from pathlib import Path

import numpy as np
import torch
from comparing import run
from PIL import Image
from torch import nn, optim
from torch.utils.data import DataLoader
from torchvision import datasets, transforms
from torchvision.utils import save_image

RANDOM = np.random.RandomState(0)


class Pair(nn.Module):
    def __init__(self):
        super().__init__()
        self.generator = nn.Sequential(
            nn.ConvTranspose2d(5, 16, 4, bias=False), nn.BatchNorm2d(16), nn.ReLU(True),
            nn.ConvTranspose2d(16, 8, 4, 2, 1, bias=False), nn.BatchNorm2d(8), nn.ReLU(True),
            nn.ConvTranspose2d(8, 3, 4, 2, 1, bias=False), nn.Tanh(),
        )  # fmt: skip
        self.discriminator = nn.Sequential(
            nn.Conv2d(3, 8, 4, 2, 1, bias=False), nn.LeakyReLU(0.2, inplace=True),
            nn.Conv2d(8, 16, 4, 2, 1, bias=False), nn.BatchNorm2d(16), nn.LeakyReLU(0.2, True),
            nn.Conv2d(16, 1, 4, bias=False), nn.Sigmoid(),
        )  # fmt: skip
        self.apply(self.initialise)

    @staticmethod
    def initialise(module):
        if "Conv" in type(module).__name__:
            nn.init.normal_(module.weight, 0.0, 0.05)
        elif "BatchNorm" in type(module).__name__:
            nn.init.normal_(module.weight, 1.0, 0.02)
            nn.init.zeros_(module.bias)


def images(folder):
    """Write images of noise as files of two classes."""
    for i in range(32):
        place = Path(folder) / str(i % 2)
        place.mkdir(exist_ok=True)
        values = RANDOM.randint(0, 256, (20, 20, 3)).astype(np.uint8)
        Image.fromarray(values).save(place / f"{i}.png")
    normalize = transforms.Normalize((0.5,) * 3, (0.5,) * 3)
    steps = [transforms.Resize(16), transforms.CenterCrop(16), transforms.ToTensor(), normalize]
    return datasets.ImageFolder(folder, transforms.Compose(steps))


def train(model):
    criterion = nn.BCELoss()
    of_d = optim.Adam(model.discriminator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    of_g = optim.Adam(model.generator.parameters(), lr=2e-4, betas=(0.5, 0.999))
    with tempfile.TemporaryDirectory() as folder:
        for real, _ in DataLoader(images(folder), batch_size=8):
            noise = torch.from_numpy(RANDOM.standard_normal((8, 5, 1, 1))).float()
            label = torch.full((8,), 1.0)
            of_d.zero_grad()
            on_real = criterion(model.discriminator(real).flatten(), label)
            on_real.backward()
            fake = model.generator(noise)
            on_fake = criterion(model.discriminator(fake.detach()).flatten(), label.fill_(0))
            on_fake.backward()
            of_d.step()
            of_g.zero_grad()
            fooled = criterion(model.discriminator(fake).flatten(), label.fill_(1))
            fooled.backward()
            of_g.step()
            yield from (on_real, on_fake, fooled)
        save_image(fake.detach(), f"{folder}/fake.png", normalize=True)
        yield np.asarray(Image.open(f"{folder}/fake.png")).mean()


run(Pair, train)
