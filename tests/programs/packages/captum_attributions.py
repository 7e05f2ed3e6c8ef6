"""captum: attributions by gradients, by rules of layers and by perturbation."""

import numpy as np
import torch
from captum import attr
from comparing import run
from torch import nn


def build():
    return nn.Sequential(
        nn.Conv2d(1, 4, 3), nn.ReLU(), nn.MaxPool2d(2), nn.Flatten(), nn.Linear(36, 3)
    )


def attributions(model):
    random = np.random.RandomState(0)
    images = torch.from_numpy(random.randn(2, 1, 8, 8).astype(np.float32)).requires_grad_()
    target = torch.tensor([0, 2])
    for method in (
        attr.Saliency, attr.InputXGradient, attr.IntegratedGradients, attr.DeepLift,
        attr.GuidedBackprop, attr.Deconvolution,
    ):  # fmt: skip
        found = method(model).attribute(images, target=target)
        yield from (found.abs().sum(), found.std())
    yield attr.FeatureAblation(model).attribute(images, target=target).abs().sum()
    occlusion = attr.Occlusion(model)
    yield occlusion.attribute(images, (1, 3, 3), target=target, strides=(1, 2, 2)).std()
    yield attr.LayerGradCam(model, model[0]).attribute(images, target=target).std()
    yield attr.LayerConductance(model, model[1]).attribute(images, target=target).std()
    yield attr.NeuronGradient(model, model[0]).attribute(images, (0, 1, 1)).abs().sum()


run(build, attributions)
