"""Functions of `nn.functional` that are no operators: written with operators, in Python."""

from runtime.nn import convolution_gradients as grad
from runtime.nn.functional.alignment import ctc_loss
from runtime.nn.functional.attention import (
    multi_head_attention_forward,
    scaled_dot_product_attention,
)
from runtime.nn.functional.class_margins import (
    multilabel_margin_loss,
    triplet_margin_with_distance_loss,
)
from runtime.nn.functional.drawn import gumbel_softmax, rrelu, rrelu_
from runtime.nn.functional.fractional_pooling import (
    fractional_max_pool2d,
    fractional_max_pool3d,
)
from runtime.nn.functional.linear_cross_entropy import linear_cross_entropy
from runtime.nn.functional.power_pooling import lp_pool1d, lp_pool2d, lp_pool3d
from runtime.nn.functional.random_zeros import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from runtime.nn.functional.resizing import (
    interpolate,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from runtime.nn.functional.softmax import log_softmax, softmax, softmin
from runtime.nn.functional.tables import embedding, embedding_bag, fold, unfold
from runtime.nn.functional.unit_vectors import normalize
from runtime.nn.functional.with_indices import (
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d_with_indices,
    max_pool1d_with_indices,
    max_pool2d_with_indices,
    max_pool3d_with_indices,
)
from runtime.nn.per_dim import _list_with_default, _pair, _single, _triple

__all__ = [
    "_list_with_default",
    "_pair",
    "_single",
    "_triple",
    "adaptive_max_pool1d_with_indices",
    "adaptive_max_pool2d_with_indices",
    "adaptive_max_pool3d_with_indices",
    "alpha_dropout",
    "ctc_loss",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "embedding",
    "embedding_bag",
    "feature_alpha_dropout",
    "fold",
    "fractional_max_pool2d",
    "fractional_max_pool2d_with_indices",
    "fractional_max_pool3d",
    "fractional_max_pool3d_with_indices",
    "grad",
    "gumbel_softmax",
    "interpolate",
    "linear_cross_entropy",
    "log_softmax",
    "lp_pool1d",
    "lp_pool2d",
    "lp_pool3d",
    "max_pool1d_with_indices",
    "max_pool2d_with_indices",
    "max_pool3d_with_indices",
    "multi_head_attention_forward",
    "multilabel_margin_loss",
    "normalize",
    "rrelu",
    "rrelu_",
    "scaled_dot_product_attention",
    "softmax",
    "softmin",
    "triplet_margin_with_distance_loss",
    "unfold",
    "upsample",
    "upsample_bilinear",
    "upsample_nearest",
]
