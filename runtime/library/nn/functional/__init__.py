"""Functions of `nn.functional` that are no operators: written with operators, in Python."""

from torchgen_out._runtime.library.nn import convolution_gradients as grad
from torchgen_out._runtime.library.nn.functional.attention import (
    multi_head_attention_forward,
    scaled_dot_product_attention,
)
from torchgen_out._runtime.library.nn.functional.class_margins import (
    multilabel_margin_loss,
    triplet_margin_with_distance_loss,
)
from torchgen_out._runtime.library.nn.functional.ctc_loss import ctc_loss
from torchgen_out._runtime.library.nn.functional.drawn import gumbel_softmax, rrelu, rrelu_
from torchgen_out._runtime.library.nn.functional.dropout import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from torchgen_out._runtime.library.nn.functional.embedding import (
    embedding,
    embedding_bag,
    fold,
    unfold,
)
from torchgen_out._runtime.library.nn.functional.fractional_pooling import (
    fractional_max_pool2d,
    fractional_max_pool3d,
)
from torchgen_out._runtime.library.nn.functional.grouped import grouped_mm
from torchgen_out._runtime.library.nn.functional.interpolate import (
    interpolate,
    upsample,
    upsample_bilinear,
    upsample_nearest,
)
from torchgen_out._runtime.library.nn.functional.linear_cross_entropy import linear_cross_entropy
from torchgen_out._runtime.library.nn.functional.lp_pool import lp_pool1d, lp_pool2d, lp_pool3d
from torchgen_out._runtime.library.nn.functional.normalize import normalize
from torchgen_out._runtime.library.nn.functional.softmax import log_softmax, softmax, softmin
from torchgen_out._runtime.library.nn.functional.with_indices import (
    adaptive_max_pool1d_with_indices,
    adaptive_max_pool2d_with_indices,
    adaptive_max_pool3d_with_indices,
    fractional_max_pool2d_with_indices,
    fractional_max_pool3d_with_indices,
    max_pool1d_with_indices,
    max_pool2d_with_indices,
    max_pool3d_with_indices,
)
from torchgen_out._runtime.library.nn.per_dim import _list_with_default, _pair, _single, _triple

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
    "grouped_mm",
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
