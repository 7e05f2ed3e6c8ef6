"""Optimizers and learning rate schedulers; PyTorch's `torch.optim`."""

from runtime.optim.adam import Adam, AdamW
from runtime.optim.adaptive import Adadelta, Adagrad, Adamax, RMSprop
from runtime.optim.optimizer import Optimizer
from runtime.optim.sgd import SGD

__all__ = [
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "Optimizer",
    "RMSprop",
]
