"""accelerate: a training loop with accumulated and clipped gradients, and its state on disk."""

import tempfile

import numpy as np
import torch
from accelerate import Accelerator
from accelerate.utils import set_seed
from comparing import run
from torch import nn
from torch.utils.data import DataLoader, TensorDataset


def train(model):
    set_seed(0)
    random = np.random.RandomState(0)
    x = torch.from_numpy(random.randn(48, 3).astype(np.float32))
    loader = DataLoader(TensorDataset(x, x.cos().sum(1, keepdim=True)), batch_size=4)
    accelerator = Accelerator(cpu=True, gradient_accumulation_steps=2)
    optimizer = torch.optim.AdamW(model.parameters(), lr=0.01)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, total_iters=4)
    made, optimizer, loader, schedule = accelerator.prepare(model, optimizer, loader, schedule)
    for inputs, targets in loader:
        with accelerator.accumulate(made):
            loss = nn.functional.mse_loss(made(inputs), targets)
            accelerator.backward(loss)
            if accelerator.sync_gradients:
                accelerator.clip_grad_norm_(made.parameters(), 1.0)
            optimizer.step()
            schedule.step()
            optimizer.zero_grad()
        yield accelerator.gather_for_metrics(loss.detach()).mean()
    with tempfile.TemporaryDirectory() as folder:
        accelerator.save_state(folder)
        before = model[0].weight.detach().clone()
        nn.init.zeros_(model[0].weight)
        accelerator.load_state(folder)
        yield (accelerator.unwrap_model(made)[0].weight - before).abs().sum()


run(lambda: nn.Sequential(nn.Linear(3, 8), nn.Tanh(), nn.Linear(8, 1)), train)
