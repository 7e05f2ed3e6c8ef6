"""torch_optimizer: optimizers that others wrote, each for some steps on one regression."""

import copy
import warnings

import numpy as np
import torch
import torch_optimizer
from comparing import run
from torch import nn

warnings.simplefilter("ignore")  # the package's calls of the deprecated order
NAMES = [
    "AccSGD", "AdaBelief", "AdaBound", "AdaMod", "Adafactor", "AdamP", "AggMo", "Apollo",
    "DiffGrad", "Lamb", "MADGRAD", "NovoGrad", "PID", "QHAdam", "QHM", "RAdam", "Ranger", "SGDP",
    "SGDW", "SWATS", "Yogi",
]  # fmt: skip


def train(model):
    random = np.random.RandomState(0)
    x = torch.from_numpy(random.randn(16, 3))
    y = x.prod(1, keepdim=True)
    for name in NAMES:
        made = copy.deepcopy(model)
        options = {} if name == "Adafactor" else {"lr": 0.01}
        optimizer = getattr(torch_optimizer, name)(made.parameters(), **options)
        for _ in range(8):
            optimizer.zero_grad()
            loss = nn.functional.mse_loss(made(x), y)
            loss.backward()
            optimizer.step()
        yield loss


run(lambda: nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)).double(), train)
