"""pytorch_metric_learning: losses on embeddings, with gradients, and a miner of pairs."""

import numpy as np
import torch
from comparing import run
from pytorch_metric_learning import losses, miners
from torch import nn


def values(model):
    random = np.random.RandomState(0)
    x = torch.from_numpy(random.randn(16, 4).astype(np.float32))
    labels = torch.from_numpy(random.randint(0, 3, 16))
    for kind in (
        losses.TripletMarginLoss, losses.ContrastiveLoss, losses.NTXentLoss, losses.CircleLoss,
        losses.MultiSimilarityLoss, losses.SupConLoss, losses.LiftedStructureLoss,
    ):  # fmt: skip
        model.zero_grad()
        loss = kind()(model(x), labels)
        loss.backward()
        yield from (loss, model.weight.grad.abs().sum())
    yield len(miners.MultiSimilarityMiner()(model(x), labels)[0]) + 1


run(lambda: nn.Linear(4, 6), values)
