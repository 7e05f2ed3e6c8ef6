"""kornia: filters, colours, geometry, morphology and losses of images, with gradients."""

import kornia as K
import numpy as np
import torch
from comparing import run
from torch import nn


def values(model):
    random = np.random.RandomState(0)
    images = torch.from_numpy(random.rand(2, 3, 16, 16).astype(np.float32)).requires_grad_()
    grey = K.color.rgb_to_grayscale(images)
    corners = torch.tensor([[[0.0, 0.0], [15.0, 1.0], [14.0, 15.0], [1.0, 14.0]]]).repeat(2, 1, 1)
    square = torch.tensor([[[0.0, 0.0], [15.0, 0.0], [15.0, 15.0], [0.0, 15.0]]]).repeat(2, 1, 1)
    angle = torch.tensor([30.0, -15.0])
    for made in (
        K.filters.gaussian_blur2d(images, (5, 5), (1.5, 1.5)),
        K.filters.sobel(grey),
        K.filters.median_blur(images, (3, 3)),
        K.filters.canny(grey)[0],
        K.filters.bilateral_blur(images, (3, 3), 0.1, (1.5, 1.5)),
        K.color.rgb_to_hsv(images),
        K.color.rgb_to_lab(images),
        K.geometry.rotate(images, angle),
        K.geometry.warp_perspective(
            images, K.geometry.get_perspective_transform(square, corners), (16, 16)
        ),
        K.geometry.resize(images, (9, 11), antialias=True),
        K.morphology.dilation(images, torch.ones(3, 3)),
        K.enhance.equalize_clahe(images.detach()),
        K.enhance.adjust_contrast(images, 1.5),
        K.feature.harris_response(grey),
        K.losses.ssim_loss(images, model(images).sigmoid(), 5),
        K.losses.total_variation(images),
    ):
        yield made.double().abs().mean()
        if made.requires_grad:
            (found,) = torch.autograd.grad(made.square().sum(), images, retain_graph=True)
            yield found.abs().mean()


run(lambda: nn.Conv2d(3, 3, 3, padding=1), values)
