"""Optimizers and learning rate schedulers; PyTorch's `torch.optim`."""

from runtime.optim.adam import Adam, AdamW
from runtime.optim.adam_variants import NAdam, RAdam
from runtime.optim.adaptive import Adadelta, Adagrad, Adamax, RMSprop
from runtime.optim.averaged import ASGD
from runtime.optim.by_sign import Rprop
from runtime.optim.lbfgs import LBFGS
from runtime.optim.optimizer import Optimizer
from runtime.optim.sgd import SGD

__all__ = [
    "ASGD",
    "LBFGS",
    "SGD",
    "Adadelta",
    "Adagrad",
    "Adam",
    "AdamW",
    "Adamax",
    "NAdam",
    "Optimizer",
    "RAdam",
    "RMSprop",
    "Rprop",
]
