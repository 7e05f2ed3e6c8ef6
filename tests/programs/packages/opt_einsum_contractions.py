"""opt_einsum: products of several tensors in the order that it finds."""

import numpy as np
import opt_einsum
import torch
from comparing import run
from torch import nn


def values(model):
    random = np.random.RandomState(0)
    x = torch.from_numpy(random.randn(5, 4).astype(np.float32))
    for pattern, operands in (
        ("ab,cb,cd->ad", (x, model.weight, model.weight)),
        ("ab,ac,ad->bcd", (x, x, x)),
        ("ab,ab->", (x, x)),
        ("ab,cb->ac", (x, model.weight)),
        ("...b,cb->...c", (x[None], model.weight)),
    ):
        made = opt_einsum.contract(pattern, *operands)
        yield made.square().sum()
    expression = opt_einsum.contract_expression("ab,bc,cd->ad", (2, 5), x, (4, 3), constants=[1])
    yield expression(torch.ones(2, 5), model.weight.T).sum()


run(lambda: nn.Linear(4, 3), values)
