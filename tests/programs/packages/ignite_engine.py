"""ignite: engines that train and evaluate, with events and metrics."""

import numpy as np
import torch
from comparing import run
from ignite.engine import Events, create_supervised_evaluator, create_supervised_trainer
from ignite.handlers import LRScheduler, TerminateOnNan
from ignite.metrics import Accuracy, ConfusionMatrix, Loss, RunningAverage
from torch import nn


def train(model):
    random = np.random.RandomState(0)
    x = torch.from_numpy(random.randn(40, 4).astype(np.float32))
    batches = list(zip(x.split(8), (x[:, 0] > 0).long().split(8), strict=True))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.2, momentum=0.9)
    trainer = create_supervised_trainer(model, optimizer, nn.functional.cross_entropy)
    metrics = {
        "accuracy": Accuracy(), "loss": Loss(nn.functional.cross_entropy),
        "confusion": ConfusionMatrix(2),
    }  # fmt: skip
    evaluator = create_supervised_evaluator(model, metrics=metrics)
    RunningAverage(output_transform=lambda loss: loss).attach(trainer, "smooth")
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.9)
    trainer.add_event_handler(Events.EPOCH_COMPLETED, LRScheduler(schedule))
    trainer.add_event_handler(Events.ITERATION_COMPLETED, TerminateOnNan())
    told = []
    trainer.on(Events.ITERATION_COMPLETED)(lambda engine: told.append(engine.state.output))
    trainer.run(batches, max_epochs=3)
    yield from told
    yield trainer.state.metrics["smooth"]
    found = evaluator.run(batches).metrics
    yield from (found["accuracy"], found["loss"], *found["confusion"].flatten())


run(lambda: nn.Linear(4, 2), train)
