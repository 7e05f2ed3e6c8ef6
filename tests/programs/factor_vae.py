"""FactorVAE: two optimizers, a discriminator of latents and of the same latents permuted."""

import numpy as np
import torch
import torch.nn.functional as F
from comparing import run
from sklearn.datasets import load_digits
from torch import nn


class FactorVAE(nn.Module):
    def __init__(self):
        super().__init__()
        self.encoder = nn.Sequential(
            nn.Conv2d(1, 8, 3, stride=2, padding=1), nn.BatchNorm2d(8), nn.LeakyReLU(), nn.Flatten()
        )
        self.mean, self.log_variance = nn.Linear(128, 4), nn.Linear(128, 4)
        self.decoder = nn.Sequential(
            nn.Linear(4, 128), nn.Unflatten(1, (8, 4, 4)), nn.LeakyReLU(),
            nn.ConvTranspose2d(8, 1, 3, stride=2, padding=1, output_padding=1), nn.Sigmoid(),
        )  # fmt: skip
        self.discriminator = nn.Sequential(
            nn.Linear(4, 16), nn.BatchNorm1d(16), nn.LeakyReLU(0.2), nn.Linear(16, 2)
        )
        self.random = np.random.RandomState(0)

    def forward(self, x):
        hidden = self.encoder(x)
        mean, log_variance = self.mean(hidden), self.log_variance(hidden)
        noise = torch.from_numpy(self.random.standard_normal(mean.shape)).to(mean)
        z = mean + torch.exp(0.5 * log_variance) * noise
        return self.decoder(z), mean, log_variance, z

    def permuted(self, z):
        """Each latent of another image of the batch."""
        columns = [column[torch.from_numpy(self.random.permutation(len(z)))] for column in z.T]
        return torch.stack(columns, 1)


def train(model):
    images = torch.tensor(load_digits().images / 16, dtype=torch.float32).unsqueeze(1)
    autoencoder = [*model.encoder.parameters(), *model.mean.parameters(),
                   *model.log_variance.parameters(), *model.decoder.parameters()]  # fmt: skip
    of_vae = torch.optim.Adam(autoencoder, lr=2e-3)
    of_discriminator = torch.optim.Adam(model.discriminator.parameters(), 2e-3, (0.5, 0.9))
    for batch in images[:384].split(48):
        decoded, mean, log_variance, z = model(batch)
        divergence = -0.5 * (1 + log_variance - mean**2 - log_variance.exp()).sum(1).mean()
        scores = model.discriminator(z)
        correlation = (scores[:, 0] - scores[:, 1]).mean()
        loss = F.mse_loss(decoded, batch) + 0.01 * divergence + 6.4 * correlation
        of_vae.zero_grad()
        loss.backward()
        of_vae.step()
        latents = z.detach()
        true, false = torch.zeros(len(z), dtype=torch.long), torch.ones(len(z), dtype=torch.long)
        told = 0.5 * F.cross_entropy(model.discriminator(latents), true)
        told = told + 0.5 * F.cross_entropy(model.discriminator(model.permuted(latents)), false)
        of_discriminator.zero_grad()
        told.backward()
        of_discriminator.step()
        yield loss.item()
        yield told.item()


run(FactorVAE, train)
