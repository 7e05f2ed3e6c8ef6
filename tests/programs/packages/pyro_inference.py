"""pyro: variational inference with point estimates, and log densities of traces."""

import numpy as np
import pyro
import pyro.distributions as dist
import torch
from comparing import run
from pyro.infer import SVI, Trace_ELBO, TraceEnum_ELBO, config_enumerate
from pyro.infer.autoguide import AutoDelta
from torch import nn

RANDOM = np.random.RandomState(0)
X = torch.from_numpy(RANDOM.randn(30, 2).astype(np.float32))
Y = X @ torch.tensor([1.0, -2.0]) + 0.5


def regression(x, y):
    weights = pyro.sample("weights", dist.Normal(torch.zeros(2), 1.0).to_event(1))
    scale = pyro.sample("scale", dist.LogNormal(0.0, 1.0))
    with pyro.plate("data", len(x)):
        pyro.sample("y", dist.StudentT(4.0, x @ weights, scale), obs=y)


@config_enumerate
def mixture(x, y):
    means = pyro.sample("means", dist.Normal(torch.tensor([-1.0, 1.0]), 2.0).to_event(1))
    odds = pyro.sample("odds", dist.Dirichlet(torch.ones(2)))
    with pyro.plate("data", len(y)):
        which = pyro.sample("which", dist.Categorical(odds))
        pyro.sample("y", dist.Normal(means[which], 1.0), obs=y)


def infer(model):
    for program, objective in ((regression, Trace_ELBO()), (mixture, TraceEnum_ELBO())):
        pyro.clear_param_store()
        quiet = pyro.poutine.block(program, hide=["which"])
        start = {"weights": torch.zeros(2), "scale": torch.ones(()),
                 "means": torch.tensor([-1.0, 0.5]), "odds": torch.tensor([0.4, 0.6])}  # fmt: skip
        guide = AutoDelta(quiet, init_loc_fn=lambda site, at=start: at[site["name"]].clone())
        svi = SVI(program, guide, pyro.optim.Adam({"lr": 0.05}), objective)
        for _ in range(6):
            yield svi.step(X, Y)
    conditioned = pyro.condition(regression, {"weights": model.weight[0], "scale": torch.ones(())})
    yield pyro.poutine.trace(conditioned).get_trace(X, Y).log_prob_sum()


run(lambda: nn.Linear(2, 1), infer)
