"""Modules with their arguments and inputs: name, arguments, options, arrays."""

from __future__ import annotations

from typing import Any

import numpy as np


def draw(*shape: int) -> np.ndarray:
    """Normal numbers, the same for the same shape."""
    return np.random.default_rng(7).standard_normal(shape).astype(np.float32)


def classes(high: int, *shape: int) -> np.ndarray:
    """Whole numbers below `high`."""
    return np.random.default_rng(7).integers(0, high, shape)


X2, X3, X4 = draw(3, 8), draw(3, 4, 8), draw(2, 4, 6, 6)

LAYERS: list[Any] = [
    ("Identity", (), {}, [X2]),
    ("Linear", (8, 5), {}, [X2]),
    ("Linear", (8, 5), {"bias": False}, [X3]),
    ("Bilinear", (8, 8, 4), {}, [X2, draw(3, 8)]),
    ("Flatten", (), {}, [X4]),
    ("Unflatten", (1, (2, 4)), {}, [X2]),
    ("Conv1d", (4, 6, 3), {"padding": 1}, [X3]),
    ("Conv1d", (4, 6, 3), {"stride": 2, "groups": 2}, [X3]),
    ("Conv2d", (4, 6, 3), {}, [X4]),
    ("Conv2d", (4, 6, (3, 2)), {"stride": 2, "padding": (1, 0), "bias": False}, [X4]),
    ("Conv2d", (4, 4, 3), {"padding": "same", "groups": 4, "dilation": 2}, [X4]),
    ("Conv2d", (4, 4, 3), {"padding": 1, "padding_mode": "reflect"}, [X4]),
    ("Conv2d", (4, 4, 3), {"padding": 1, "padding_mode": "circular"}, [X4]),
    ("Conv2d", (4, 4, 3), {"padding": 1, "padding_mode": "replicate"}, [X4]),
    ("ConvTranspose1d", (4, 6, 3), {"stride": 2}, [X3]),
    ("ConvTranspose2d", (4, 6, 3), {"stride": 2, "padding": 1, "output_padding": 1}, [X4]),
    ("MaxPool1d", (2,), {}, [X3]),
    ("MaxPool2d", (2,), {}, [X4]),
    ("MaxPool2d", (3,), {"stride": 2, "padding": 1, "return_indices": True}, [X4]),
    ("AvgPool1d", (2,), {}, [X3]),
    ("AvgPool2d", (2,), {"padding": 1, "count_include_pad": False}, [X4]),
    ("AdaptiveAvgPool1d", (3,), {}, [X3]),
    ("AdaptiveAvgPool2d", ((2, 3),), {}, [X4]),
    ("AdaptiveMaxPool2d", (2,), {}, [X4]),
    ("BatchNorm1d", (8,), {}, [X2]),
    ("BatchNorm1d", (4,), {"momentum": None}, [X3]),
    ("BatchNorm2d", (4,), {"affine": False}, [X4]),
    ("BatchNorm2d", (4,), {"track_running_stats": False}, [X4]),
    ("LayerNorm", (8,), {}, [X3]),
    ("LayerNorm", ((4, 8),), {"elementwise_affine": False}, [X3]),
    ("LayerNorm", (8,), {"bias": False}, [X2]),
    ("RMSNorm", (8,), {}, [X3]),
    ("GroupNorm", (2, 4), {}, [X4]),
    ("InstanceNorm1d", (4,), {"affine": True}, [X3]),
    ("InstanceNorm2d", (4,), {"track_running_stats": True}, [X4]),
    ("Embedding", (10, 4), {}, [classes(10, 3, 5)]),
    ("Embedding", (10, 4), {"padding_idx": 2}, [classes(10, 3, 5)]),
    ("CosineSimilarity", (), {}, [X2, draw(3, 8) + 1]),
    ("PairwiseDistance", (), {}, [X2, draw(3, 8) + 1]),
    ("ConstantPad1d", (2, 1.5), {}, [X3]),
    ("ZeroPad2d", ((1, 0, 2, -1),), {}, [X4]),
    ("ReflectionPad2d", (2,), {}, [X4]),
    ("ReplicationPad1d", ((1, 3),), {}, [X3]),
    ("CircularPad2d", (1,), {}, [X4]),
    ("Upsample", (), {"scale_factor": 2}, [X4]),
    ("Upsample", (), {"size": (4, 9), "mode": "bilinear"}, [X4]),
    ("Upsample", (), {"scale_factor": 1.5, "mode": "bilinear", "align_corners": True}, [X4]),
    ("PixelShuffle", (2,), {}, [X4]),
    ("PixelUnshuffle", (2,), {}, [X4]),
    ("ChannelShuffle", (2,), {}, [X4]),
    ("UpsamplingNearest2d", (), {"scale_factor": 3}, [X4]),
    ("UpsamplingBilinear2d", ((4, 9),), {}, [X4]),
    ("Unfold", ((2, 3),), {"stride": 2, "padding": 1}, [X4]),
    ("Fold", ((5, 5), 2), {"padding": 1}, [draw(2, 12, 36)]),
    ("AdaptiveAvgPool3d", (2,), {}, [draw(1, 2, 4, 5, 6)]),
    ("AdaptiveMaxPool3d", ((2, 3, 2),), {}, [draw(1, 2, 4, 5, 6)]),
    ("LPPool1d", (2, 3), {"stride": 2}, [X3]),
    ("LPPool2d", (2, (3, 2)), {}, [X4]),
    ("LPPool3d", (2, 2), {}, [np.abs(draw(1, 2, 4, 5, 6))]),
    ("MaxUnpool1d", (2,), {}, [X3, np.arange(X3.size).reshape(X3.shape) % X3.shape[-1] * 2]),
    (
        "AdaptiveLogSoftmaxWithLoss",
        (8, 20, [4, 10]),
        {"div_value": 2.0, "head_bias": True},
        [draw(9, 8), classes(20, 9)],
    ),
    ("ReflectionPad3d", (1,), {}, [draw(1, 2, 4, 5, 6)]),
    ("ReplicationPad3d", (1,), {}, [draw(1, 2, 4, 5, 6)]),
    ("CircularPad3d", (1,), {}, [draw(1, 2, 4, 5, 6)]),
    ("LocalResponseNorm", (3,), {}, [X4]),
    ("EmbeddingBag", (10, 4), {}, [classes(10, 3, 5)]),
    ("EmbeddingBag", (10, 4), {"mode": "max"}, [classes(10, 7), np.array([0, 2, 5])]),
    ("EmbeddingBag", (10, 4), {"mode": "sum", "padding_idx": 2}, [classes(10, 3, 5)]),
]

ACTIVATIONS: list[Any] = [
    (name, args, {}, [X3])
    for name, args in [
        ("ReLU", ()),
        ("ReLU", (True,)),
        ("ReLU6", ()),
        ("LeakyReLU", (0.2,)),
        ("Threshold", (0.1, 0.3)),
        ("Hardtanh", (-0.5, 0.7)),
        ("Sigmoid", ()),
        ("Tanh", ()),
        ("SiLU", ()),
        ("Mish", ()),
        ("Hardswish", ()),
        ("Hardsigmoid", ()),
        ("ELU", (0.7,)),
        ("CELU", (0.7,)),
        ("SELU", ()),
        ("GLU", ()),
        ("GELU", ()),
        ("GELU", ("tanh",)),
        ("Hardshrink", ()),
        ("Softshrink", (0.3,)),
        ("LogSigmoid", ()),
        ("Softplus", (2,)),
        ("PReLU", ()),
        ("PReLU", (4,)),
        ("Softsign", ()),
        ("Tanhshrink", ()),
        ("Softmin", (1,)),
        ("Softmax", (-1,)),
        ("LogSoftmax", (1,)),
        ("Softmax2d", ()),
    ]
]

Y2 = draw(3, 8)[::-1].copy()
SIGNS = np.sign(Y2)
RECURRENT: list[Any] = [
    (name, (8, 5), options, inputs)
    for name in ("RNN", "GRU", "LSTM")
    for options, inputs in [
        ({}, [draw(6, 3, 8)]),
        ({"batch_first": True, "num_layers": 2, "bidirectional": True}, [draw(3, 6, 8)]),
        ({"bias": False}, [draw(6, 8)]),
    ]
] + [
    ("RNN", (8, 5), {"nonlinearity": "relu"}, [draw(6, 3, 8), draw(1, 3, 5)]),
    ("LSTM", (8, 5), {"proj_size": 3, "num_layers": 2}, [draw(6, 3, 8)]),
    *((name, (8, 5), {"bidirectional": True}, [draw(4, 9, 8)]) for name in ("RNN", "GRU", "LSTM")),
    ("RNNCell", (8, 5), {}, [X2, draw(3, 5)]),
    ("GRUCell", (8, 5), {}, [X2]),
    ("LSTMCell", (8, 5), {"bias": False}, [X2]),
]

LOSSES: list[Any] = [
    (name, (), {**options, "reduction": reduction}, inputs)
    for name, options, inputs in [
        ("L1Loss", {}, [X2, Y2]),
        ("MSELoss", {}, [X2, Y2]),
        ("SmoothL1Loss", {"beta": 0.5}, [X2, Y2]),
        ("HuberLoss", {"delta": 0.5}, [X2, Y2]),
        ("NLLLoss", {}, [X2, classes(8, 3)]),
        ("CrossEntropyLoss", {}, [X2, classes(8, 3)]),
        ("CrossEntropyLoss", {"label_smoothing": 0.1, "ignore_index": 3}, [X2, classes(8, 3)]),
        ("CrossEntropyLoss", {"label_smoothing": 0.1, "ignore_index": 3}, [X3, classes(4, 3, 8)]),
        ("PoissonNLLLoss", {}, [X2, np.abs(Y2)]),
        ("GaussianNLLLoss", {}, [X2, Y2, np.abs(draw(3, 8)) + 0.1]),
        ("KLDivLoss", {}, [X2, np.abs(Y2)]),
        ("BCEWithLogitsLoss", {}, [X2, (Y2 > 0).astype(np.float32)]),
        ("SoftMarginLoss", {}, [X2, SIGNS]),
        ("MultiLabelSoftMarginLoss", {}, [X2, (Y2 > 0).astype(np.float32)]),
        ("MultiMarginLoss", {}, [X2, classes(8, 3)]),
        ("MultiLabelMarginLoss", {}, [X2, np.array([[3, 0, -1, 1, 1, 1, 1, 1]] * 3)]),
        ("TripletMarginWithDistanceLoss", {"swap": True}, [X2, Y2, draw(3, 8) + 1]),
        ("HingeEmbeddingLoss", {}, [X2, SIGNS]),
        ("CosineEmbeddingLoss", {"margin": 0.1}, [X2, Y2, SIGNS[:, 0].copy()]),
        ("MarginRankingLoss", {"margin": 0.1}, [X2, Y2, SIGNS]),
        ("TripletMarginLoss", {}, [X2, Y2, draw(3, 8) + 1]),
    ]
    for reduction in ("mean", "sum", "none")
    if not (name == "KLDivLoss" and reduction == "mean")
]
