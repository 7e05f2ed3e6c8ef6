"""gpytorch: a Gaussian process learns its kernel's parameters and predicts."""

import gpytorch
import torch
from comparing import run
from torch import nn

X = torch.linspace(0, 1, 40)
Y = torch.sin(X * 6.0) + 0.1 * torch.cos(X * 40)


class Process(gpytorch.models.ExactGP):
    def __init__(self, likelihood):
        super().__init__(X, Y, likelihood)
        self.mean_module = gpytorch.means.ConstantMean()
        self.covar_module = gpytorch.kernels.ScaleKernel(
            gpytorch.kernels.RBFKernel() + gpytorch.kernels.MaternKernel(nu=1.5)
        )

    def forward(self, x):
        return gpytorch.distributions.MultivariateNormal(self.mean_module(x), self.covar_module(x))


def train(process):
    likelihood = process.likelihood
    optimizer = torch.optim.Adam(process.parameters(), lr=0.1)
    objective = gpytorch.mlls.ExactMarginalLogLikelihood(likelihood, process)
    for _ in range(8):
        optimizer.zero_grad()
        loss = -objective(process(X), Y)
        loss.backward()
        optimizer.step()
        yield loss
    process.eval()
    with torch.no_grad(), gpytorch.settings.fast_pred_var():
        predicted = likelihood(process(torch.linspace(0, 1, 5)))
    yield from predicted.mean
    yield from predicted.variance
    nn.Module.train(process)


run(lambda: Process(gpytorch.likelihoods.GaussianLikelihood()), train)
