"""torchmetrics: metrics of classification, regression, images and text, batch by batch."""

import numpy as np
import torch
import torchmetrics as tm
from comparing import run
from torch import nn


def values(model):
    random = np.random.RandomState(0)
    metrics = tm.MetricCollection(
        {
            "accuracy": tm.Accuracy("multiclass", num_classes=4, average="macro"),
            "f1": tm.F1Score("multiclass", num_classes=4, average="weighted"),
            "auroc": tm.AUROC("multiclass", num_classes=4),
            "precision": tm.AveragePrecision("multiclass", num_classes=4),
            "kappa": tm.CohenKappa("multiclass", num_classes=4),
            "calibration": tm.CalibrationError("multiclass", num_classes=4),
        }
    )
    for _ in range(3):
        scores = model(torch.from_numpy(random.randn(32, 3).astype(np.float32))).softmax(1)
        yield from metrics(scores, torch.from_numpy(random.randint(0, 4, 32))).values()
    yield from metrics.compute().values()
    confusion = tm.ConfusionMatrix("multiclass", num_classes=4)
    yield from confusion(scores, scores.argmax(1)).flatten()
    x, y = (torch.from_numpy(random.rand(40).astype(np.float32)) for _ in range(2))
    for metric in (
        tm.MeanSquaredError(), tm.R2Score(), tm.PearsonCorrCoef(), tm.SpearmanCorrCoef(),
        tm.ExplainedVariance(), tm.KendallRankCorrCoef(),
    ):  # fmt: skip
        yield metric(x, y)
    images = torch.from_numpy(random.rand(2, 2, 3, 24, 24).astype(np.float32))
    yield tm.image.StructuralSimilarityIndexMeasure(data_range=1.0)(*images)
    yield tm.image.PeakSignalNoiseRatio(data_range=1.0)(*images)
    yield tm.text.Perplexity()(scores[None], scores.argmin(1)[None])
    mean = tm.MeanMetric()
    mean.update(x)
    mean.update(y, weight=2.0)
    yield mean.compute()


run(lambda: nn.Linear(3, 4), values)
