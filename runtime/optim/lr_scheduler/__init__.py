"""Learning rate schedulers."""

from runtime.optim.lr_scheduler.combined import ChainedScheduler, SequentialLR
from runtime.optim.lr_scheduler.cosine import CosineAnnealingLR, CosineAnnealingWarmRestarts
from runtime.optim.lr_scheduler.cyclic import CyclicLR
from runtime.optim.lr_scheduler.decay import (
    ConstantLR,
    ExponentialLR,
    LambdaLR,
    LinearLR,
    MultiplicativeLR,
    MultiStepLR,
    PolynomialLR,
    StepLR,
)
from runtime.optim.lr_scheduler.one_cycle import OneCycleLR
from runtime.optim.lr_scheduler.plateau import ReduceLROnPlateau
from runtime.optim.lr_scheduler.scheduler import LRScheduler

_LRScheduler = LRScheduler

__all__ = [
    "ChainedScheduler",
    "ConstantLR",
    "CosineAnnealingLR",
    "CosineAnnealingWarmRestarts",
    "CyclicLR",
    "ExponentialLR",
    "LRScheduler",
    "LambdaLR",
    "LinearLR",
    "MultiStepLR",
    "MultiplicativeLR",
    "OneCycleLR",
    "PolynomialLR",
    "ReduceLROnPlateau",
    "SequentialLR",
    "StepLR",
]
