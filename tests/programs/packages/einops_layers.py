"""einops: patterns as functions and as layers of a network that is trained."""

import numpy as np
import torch
from comparing import run
from einops import einsum, pack, rearrange, reduce, repeat, unpack
from einops.layers.torch import EinMix, Rearrange, Reduce
from torch import nn


def build():
    return nn.Sequential(
        Rearrange("b c (h p) (w q) -> b (h w) (p q c)", p=4, q=4),
        EinMix("b t c -> b t d", weight_shape="c d", bias_shape="d", c=48, d=8),
        nn.GELU(),
        Reduce("b t d -> b d", "mean"),
        nn.Linear(8, 3),
    )


def train(model):
    random = np.random.RandomState(0)
    images = torch.from_numpy(random.randn(6, 3, 16, 16).astype(np.float32))
    labels = torch.from_numpy(random.randint(0, 3, 6))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.5)
    for _ in range(6):
        loss = nn.functional.cross_entropy(model(images), labels)
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
        yield loss
    yield rearrange(images, "(a b) c h w -> c (a h) (b w)", a=2)[1, 20, 33]
    yield from reduce(images, "b c h w -> c", "max")
    yield repeat(images, "b c h w -> b c (h r) w", r=2).std()
    yield einsum(images, images, "a c h w, b c h w -> a b")[1, 2]
    packed, shapes = pack([images, images[:, :1]], "b * h w")
    yield unpack(packed, shapes, "b * h w")[1].sum()


run(build, train)
