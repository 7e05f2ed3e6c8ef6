"""Distributions to sample from and to fit; PyTorch's `torch.distributions`."""

from runtime.distributions import kl_across_families, kl_same_family  # noqa: F401  (register formulas)
from runtime.distributions.bernoulli import Bernoulli
from runtime.distributions.categorical import Categorical
from runtime.distributions.cauchy import Cauchy
from runtime.distributions.constraint_registry import biject_to, transform_to
from runtime.distributions.distribution import Distribution
from runtime.distributions.exp_family import ExponentialFamily
from runtime.distributions.exponential import Exponential
from runtime.distributions.independent import Independent
from runtime.distributions.kl import kl_divergence, register_kl
from runtime.distributions.laplace import Laplace
from runtime.distributions.normal import Normal
from runtime.distributions.one_hot_categorical import (
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from runtime.distributions.transformed_distribution import TransformedDistribution
from runtime.distributions.transforms import *  # noqa: F403
from runtime.distributions.transforms import __all__ as _transforms
from runtime.distributions.uniform import Uniform

__all__ = [
    "Bernoulli",
    "Categorical",
    "Cauchy",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "Independent",
    "Laplace",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "TransformedDistribution",
    "Uniform",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
    *_transforms,
]
