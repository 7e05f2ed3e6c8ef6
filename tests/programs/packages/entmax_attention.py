"""entmax: sparse alternatives of softmax, and their losses, with gradients."""

import numpy as np
import torch
from comparing import run
from entmax import Entmax15Loss, SparsemaxLoss, entmax15, entmax_bisect, sparsemax
from torch import nn


def values(model):
    x = torch.from_numpy(np.random.RandomState(0).randn(8, 3).astype(np.float32))
    target = torch.arange(8) % 5
    for objective in (
        lambda y: sparsemax(y, dim=1).square().sum(),
        lambda y: entmax15(y, dim=1).square().sum(),
        lambda y: entmax_bisect(y, alpha=1.3, dim=1).square().sum(),
        lambda y: SparsemaxLoss()(y, target),
        lambda y: Entmax15Loss()(y, target),
    ):
        model.zero_grad()
        loss = objective(model(x))
        loss.backward()
        yield from (loss, model.weight.grad.abs().sum())


run(lambda: nn.Linear(3, 5), values)
