"""Losses, forward and backward."""

from __future__ import annotations

from benchmarks.case import integers, normal, statement, uniform

X, Y = normal(128, 1000), normal(128, 1000)
LOGITS, CLASSES = normal(128, 10), integers(10, 128)
MARKS = uniform(0, 1, 128, 1000)
VECTORS = normal(128, 256)

CASES = [
    statement("F.cross_entropy(x, y)", x=LOGITS, y=CLASSES),
    statement("F.cross_entropy(x, y)", x=LOGITS, y=CLASSES, train="x"),
    statement("F.cross_entropy(x, y)", x=X, y=integers(1000, 128), train="x"),
    statement("F.cross_entropy(x, y)", x=normal(64, 32000), y=integers(32000, 64), train="x"),
    statement(
        "F.cross_entropy(x, y)", x=normal(4, 21, 64, 64), y=integers(21, 4, 64, 64), train="x"
    ),
    statement("F.cross_entropy(x, y, label_smoothing=0.1)", x=X, y=integers(1000, 128), train="x"),
    statement("F.nll_loss(x, y)", x=X, y=integers(1000, 128), train="x"),
    statement("F.mse_loss(x, y)", x=LOGITS, y=LOGITS, train="x"),
    statement("F.mse_loss(x, y)", x=X, y=Y, train="x"),
    statement("F.l1_loss(x, y)", x=X, y=Y, train="x"),
    statement("F.smooth_l1_loss(x, y)", x=X, y=Y, train="x"),
    statement("F.huber_loss(x, y)", x=X, y=Y, train="x"),
    statement("F.binary_cross_entropy_with_logits(x, y)", x=X, y=MARKS, train="x"),
    statement("F.binary_cross_entropy(x, y)", x=uniform(0.01, 0.99, 128, 1000), y=MARKS, train="x"),
    statement("F.kl_div(x, y, reduction='batchmean')", x=X, y=MARKS, train="x"),
    statement("F.cosine_similarity(x, y)", x=VECTORS, y=normal(128, 256), train="x y"),
    statement(
        "F.triplet_margin_loss(x, y, z)",
        {"x": VECTORS, "y": normal(128, 256), "z": normal(128, 256)},
        train="x y z",
    ),
]
