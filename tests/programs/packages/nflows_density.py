"""nflows: a flow of masked autoregressive layers learns a density."""

import numpy as np
import torch
from comparing import run
from nflows import distributions, flows, transforms


def layer():
    return transforms.MaskedAffineAutoregressiveTransform(features=2, hidden_features=8)


def build():
    steps = [layer(), transforms.RandomPermutation(2), layer()]
    return flows.Flow(transforms.CompositeTransform(steps), distributions.StandardNormal([2]))


def train(flow):
    x = torch.from_numpy(np.random.RandomState(0).randn(32, 2).astype(np.float32))
    optimizer = torch.optim.Adam(flow.parameters(), lr=1e-2)
    for _ in range(8):
        loss = -flow.log_prob(inputs=x).mean()
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss


run(build, train)
