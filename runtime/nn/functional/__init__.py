"""Functions of `nn.functional` that are no operators: written with operators, in Python."""

from runtime.nn.functional.attention import (
    multi_head_attention_forward,
    scaled_dot_product_attention,
)
from runtime.nn.functional.drawn import gumbel_softmax, rrelu
from runtime.nn.functional.random_zeros import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from runtime.nn.functional.resizing import interpolate, upsample
from runtime.nn.functional.softmax import log_softmax, softmax, softmin
from runtime.nn.functional.tables import embedding, fold, unfold
from runtime.nn.functional.unit_vectors import normalize

__all__ = [
    "alpha_dropout",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "embedding",
    "feature_alpha_dropout",
    "fold",
    "gumbel_softmax",
    "interpolate",
    "log_softmax",
    "multi_head_attention_forward",
    "normalize",
    "rrelu",
    "scaled_dot_product_attention",
    "softmax",
    "softmin",
    "unfold",
    "upsample",
]
