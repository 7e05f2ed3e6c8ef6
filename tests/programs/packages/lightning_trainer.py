"""pytorch_lightning: the Trainer fits, validates, writes a checkpoint and tests on the CPU."""

import logging
import tempfile
import warnings

import numpy as np
import pytorch_lightning as pl
import torch
from comparing import run
from pytorch_lightning.callbacks import EarlyStopping, ModelCheckpoint
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

logging.getLogger("pytorch_lightning").setLevel(logging.ERROR)
warnings.simplefilter("ignore")  # those of the package on workers and loggers


class Regression(pl.LightningModule):
    def __init__(self):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 1))
        self.told = []

    def training_step(self, batch, index):
        loss = nn.functional.mse_loss(self.net(batch[0]), batch[1])
        self.log("train_loss", loss)
        self.told.append(float(loss.detach()))
        return loss

    def validation_step(self, batch, index):
        self.log("val_loss", nn.functional.mse_loss(self.net(batch[0]), batch[1]))

    def test_step(self, batch, index):
        self.log("test_loss", nn.functional.l1_loss(self.net(batch[0]), batch[1]))

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), lr=0.01)
        return [optimizer], [torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)]


def train(model):
    random = np.random.RandomState(0)
    x = torch.from_numpy(random.randn(96, 4).astype(np.float32))
    loader = DataLoader(TensorDataset(x, x.sin().sum(1, keepdim=True)), batch_size=16)
    with tempfile.TemporaryDirectory() as folder:
        best = ModelCheckpoint(folder, monitor="val_loss", save_top_k=1)
        trainer = pl.Trainer(
            default_root_dir=folder, max_epochs=3, accelerator="cpu", logger=False,
            callbacks=[best, EarlyStopping("val_loss")], gradient_clip_val=1.0,
            enable_progress_bar=False, enable_model_summary=False,
        )  # fmt: skip
        trainer.fit(model, loader, loader)
        yield from model.told
        yield trainer.callback_metrics["val_loss"]
        again = Regression.load_from_checkpoint(best.best_model_path)
        yield trainer.test(again, loader, verbose=False)[0]["test_loss"]


run(Regression, train)
