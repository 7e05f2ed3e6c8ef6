"""Functions of `nn.functional` that are no operators: written with operators, in Python."""

from runtime.nn.functional.attention import (
    multi_head_attention_forward,
    scaled_dot_product_attention,
)
from runtime.nn.functional.gates import glu, gumbel_softmax, rrelu, softmin
from runtime.nn.functional.padding import pad
from runtime.nn.functional.random_zeros import (
    alpha_dropout,
    dropout,
    dropout1d,
    dropout2d,
    dropout3d,
    feature_alpha_dropout,
)
from runtime.nn.functional.resizing import (
    channel_shuffle,
    interpolate,
    pixel_shuffle,
    pixel_unshuffle,
    upsample,
)
from runtime.nn.functional.similarity import cosine_similarity, normalize, pairwise_distance
from runtime.nn.functional.tables import embedding, fold, unfold

__all__ = [
    "alpha_dropout",
    "channel_shuffle",
    "cosine_similarity",
    "dropout",
    "dropout1d",
    "dropout2d",
    "dropout3d",
    "embedding",
    "feature_alpha_dropout",
    "fold",
    "glu",
    "gumbel_softmax",
    "interpolate",
    "multi_head_attention_forward",
    "normalize",
    "pad",
    "pairwise_distance",
    "pixel_shuffle",
    "pixel_unshuffle",
    "rrelu",
    "scaled_dot_product_attention",
    "softmin",
    "unfold",
    "upsample",
]
