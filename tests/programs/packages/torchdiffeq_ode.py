"""torchdiffeq: a network of a vector field, trained through the solver and its adjoint."""

import torch
from comparing import run
from torch import nn
from torchdiffeq import odeint, odeint_adjoint


class Field(nn.Module):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(2, 8), nn.Tanh(), nn.Linear(8, 2)).double()

    def forward(self, t, y):
        return self.net(y**3)


def train(field):
    start = torch.tensor([[2.0, 0.0]], dtype=torch.float64)
    times = torch.linspace(0, 1, 6, dtype=torch.float64)
    matrix = torch.tensor([[-0.1, 2.0], [-2.0, -0.1]], dtype=torch.float64)
    true = odeint(lambda t, y: y**3 @ matrix, start, times, method="dopri5")
    optimizer = torch.optim.RMSprop(field.parameters(), lr=1e-3)
    for method in ("dopri5", "rk4", "bosh3", "explicit_adams"):
        for solve in (odeint, odeint_adjoint):
            loss = (solve(field, start, times, method=method) - true).abs().mean()
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            yield loss


run(Field, train)
