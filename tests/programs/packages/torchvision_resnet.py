"""torchvision: ResNet-18 as the ImageNet example trains it, accuracies, and a grid of images."""

import numpy as np
import torch
from comparing import run
from torch import nn, optim
from torchvision import models
from torchvision.transforms import v2
from torchvision.utils import make_grid


def accuracy(output, target, topk=(1, 5)):
    _, found = output.topk(max(topk), 1, True, True)
    correct = found.t().eq(target.view(1, -1).expand_as(found.t()))
    return [correct[:k].reshape(-1).float().sum(0, keepdim=True) for k in topk]


def train(model):
    random = np.random.RandomState(0)
    images = torch.from_numpy(random.rand(8, 3, 72, 72))
    labels = torch.from_numpy(random.randint(0, 10, 8))
    resize = v2.Compose([v2.CenterCrop(64), v2.Normalize([0.5] * 3, [0.25] * 3)])
    batch = resize(images)
    yield make_grid(batch, nrow=4, normalize=True).mean()
    optimizer = optim.SGD(model.parameters(), 0.01, momentum=0.9, weight_decay=1e-4)
    for _ in range(4):
        output = model(batch)
        loss = nn.functional.cross_entropy(output, labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss
    yield accuracy(output, labels)[1]


# Few values are normalised together: in float32 the libraries' roundings drift apart.
run(lambda: models.resnet18(num_classes=10).double(), train)
