"""skorch: a network as an estimator of scikit-learn, in a pipeline and in a grid search."""

import numpy as np
import torch
from comparing import run
from sklearn.datasets import load_digits
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier
from skorch.callbacks import EpochScoring, LRScheduler
from torch import nn


class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.layers = nn.Sequential(nn.Linear(64, 16), nn.ReLU(), nn.Linear(16, 10))

    def forward(self, x):
        return self.layers(x)


def train(model):
    digits = load_digits()
    net = NeuralNetClassifier(
        model, criterion=nn.CrossEntropyLoss, optimizer=torch.optim.Adam, lr=0.01, max_epochs=3,
        batch_size=128, verbose=0, iterator_train__shuffle=False,
        callbacks=[EpochScoring("accuracy", name="acc"), LRScheduler("StepLR", step_size=1)],
    )  # fmt: skip
    pipeline = make_pipeline(StandardScaler(), net)
    pipeline.fit(digits.data.astype(np.float32), digits.target.astype(np.int64))
    for row in net.history:
        yield from (row["train_loss"], row["valid_loss"], row["acc"])
    yield from pipeline.predict_proba(digits.data[:2].astype(np.float32)).ravel()


run(Net, train)
