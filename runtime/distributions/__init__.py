"""Distributions to sample from and to fit; PyTorch's `torch.distributions`."""

from runtime.core import public
from runtime.distributions import kl_across_families, kl_gamma, kl_multivariate, kl_same_family  # noqa: F401  (register formulas)
from runtime.distributions.bernoulli import Bernoulli
from runtime.distributions.beta import Beta
from runtime.distributions.binomial import Binomial
from runtime.distributions.categorical import Categorical
from runtime.distributions.cauchy import Cauchy
from runtime.distributions.chi2 import Chi2
from runtime.distributions.constraint_registry import biject_to, transform_to
from runtime.distributions.continuous_bernoulli import ContinuousBernoulli
from runtime.distributions.dirichlet import Dirichlet
from runtime.distributions.distribution import Distribution
from runtime.distributions.exp_family import ExponentialFamily
from runtime.distributions.exponential import Exponential
from runtime.distributions.fishersnedecor import FisherSnedecor
from runtime.distributions.gamma import Gamma
from runtime.distributions.generalized_pareto import GeneralizedPareto
from runtime.distributions.geometric import Geometric
from runtime.distributions.gumbel import Gumbel
from runtime.distributions.half_cauchy import HalfCauchy
from runtime.distributions.half_normal import HalfNormal
from runtime.distributions.independent import Independent
from runtime.distributions.inverse_gamma import InverseGamma
from runtime.distributions.kl import kl_divergence, register_kl
from runtime.distributions.kumaraswamy import Kumaraswamy
from runtime.distributions.laplace import Laplace
from runtime.distributions.lkj_cholesky import LKJCholesky
from runtime.distributions.log_normal import LogNormal
from runtime.distributions.logistic_normal import LogisticNormal
from runtime.distributions.lowrank_multivariate_normal import LowRankMultivariateNormal
from runtime.distributions.mixture_same_family import MixtureSameFamily
from runtime.distributions.multinomial import Multinomial
from runtime.distributions.multivariate_normal import MultivariateNormal
from runtime.distributions.negative_binomial import NegativeBinomial
from runtime.distributions.normal import Normal
from runtime.distributions.one_hot_categorical import (
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from runtime.distributions.pareto import Pareto
from runtime.distributions.poisson import Poisson
from runtime.distributions.relaxed_bernoulli import RelaxedBernoulli
from runtime.distributions.relaxed_categorical import RelaxedOneHotCategorical
from runtime.distributions.studentT import StudentT
from runtime.distributions.transformed_distribution import TransformedDistribution
from runtime.distributions.transforms import *  # noqa: F403
from runtime.distributions.transforms import __all__ as _transforms
from runtime.distributions.uniform import Uniform
from runtime.distributions.von_mises import VonMises
from runtime.distributions.weibull import Weibull
from runtime.distributions.wishart import Wishart

__all__ = [
    "Bernoulli",
    "Beta",
    "Binomial",
    "Categorical",
    "Cauchy",
    "Chi2",
    "ContinuousBernoulli",
    "Dirichlet",
    "Distribution",
    "Exponential",
    "ExponentialFamily",
    "FisherSnedecor",
    "Gamma",
    "GeneralizedPareto",
    "Geometric",
    "Gumbel",
    "HalfCauchy",
    "HalfNormal",
    "Independent",
    "InverseGamma",
    "Kumaraswamy",
    "LKJCholesky",
    "Laplace",
    "LogNormal",
    "LogisticNormal",
    "LowRankMultivariateNormal",
    "MixtureSameFamily",
    "Multinomial",
    "MultivariateNormal",
    "NegativeBinomial",
    "Normal",
    "OneHotCategorical",
    "OneHotCategoricalStraightThrough",
    "Pareto",
    "Poisson",
    "RelaxedBernoulli",
    "RelaxedOneHotCategorical",
    "StudentT",
    "TransformedDistribution",
    "Uniform",
    "VonMises",
    "Weibull",
    "Wishart",
    "biject_to",
    "kl_divergence",
    "register_kl",
    "transform_to",
    *_transforms,
]

public.place_package("distributions", globals())
