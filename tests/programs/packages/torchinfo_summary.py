"""torchinfo: what it counts in a network."""

from comparing import run
from torch import nn
from torchinfo import summary


def build():
    return nn.Sequential(
        nn.Conv2d(3, 8, 3), nn.BatchNorm2d(8), nn.ReLU(), nn.Flatten(), nn.Linear(8 * 36, 5)
    )


def counts(model):
    told = summary(model, (2, 3, 8, 8), depth=2, verbose=0)
    yield from (told.total_params, told.trainable_params, told.total_mult_adds)
    yield from (told.total_output_bytes, told.total_param_bytes, told.total_params / 7)
    yield len(str(told).splitlines())


run(build, counts)
