"""higher: gradients through the steps of an inner optimizer."""

import higher
import numpy as np
import torch
from comparing import run
from torch import nn


def train(model):
    x = torch.from_numpy(np.random.RandomState(0).randn(8, 4).astype(np.float32))
    inner = torch.optim.SGD(model.parameters(), lr=0.1)
    outer = torch.optim.Adam(model.parameters(), lr=0.01)
    for _ in range(6):
        outer.zero_grad()
        with higher.innerloop_ctx(model, inner, copy_initial_weights=False) as (made, steps):
            for _ in range(3):
                steps.step((made(x) - x[:, :1]).pow(2).mean())
            loss = (made(2 * x) - x[:, 1:2]).pow(2).mean()
            loss.backward()
        outer.step()
        yield loss


run(lambda: nn.Sequential(nn.Linear(4, 8), nn.Tanh(), nn.Linear(8, 1)), train)
