"""timm: a vision transformer and a small convolutional network, its optimizer and its losses."""

import numpy as np
import timm
import torch
from comparing import run
from timm.loss import LabelSmoothingCrossEntropy
from timm.optim import create_optimizer_v2
from timm.scheduler import CosineLRScheduler
from torch import nn


def build():
    return nn.ModuleList(
        [
            timm.create_model("vit_tiny_patch16_224", img_size=32, depth=2, num_classes=5),
            timm.create_model("mobilenetv3_small_050", num_classes=5, drop_rate=0.0),
        ]
    )


def train(models):
    random = np.random.RandomState(0)
    images = torch.from_numpy(random.randn(8, 3, 32, 32).astype(np.float32))
    labels = torch.from_numpy(random.randint(0, 5, 8))
    for model in models:
        optimizer = create_optimizer_v2(model, opt="adamw", lr=1e-4, weight_decay=0.05)
        schedule = CosineLRScheduler(optimizer, t_initial=8)
        for epoch in range(4):
            loss = LabelSmoothingCrossEntropy(0.1)(model(images), labels)
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
            schedule.step(epoch)
            yield loss


run(build, train)
