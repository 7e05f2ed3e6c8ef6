"""Distributions to sample from and to fit; PyTorch's `torch.distributions`."""

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributions import (  # noqa: F401  (register formulas)
    kl_across_families,
    kl_gamma,
    kl_multivariate,
    kl_same_family,
)
from torchgen_out._runtime.library.distributions.bernoulli import Bernoulli
from torchgen_out._runtime.library.distributions.beta import Beta
from torchgen_out._runtime.library.distributions.binomial import Binomial
from torchgen_out._runtime.library.distributions.categorical import Categorical
from torchgen_out._runtime.library.distributions.cauchy import Cauchy
from torchgen_out._runtime.library.distributions.chi2 import Chi2
from torchgen_out._runtime.library.distributions.constraint_registry import biject_to, transform_to
from torchgen_out._runtime.library.distributions.continuous_bernoulli import ContinuousBernoulli
from torchgen_out._runtime.library.distributions.dirichlet import Dirichlet
from torchgen_out._runtime.library.distributions.distribution import Distribution
from torchgen_out._runtime.library.distributions.exp_family import ExponentialFamily
from torchgen_out._runtime.library.distributions.exponential import Exponential
from torchgen_out._runtime.library.distributions.fishersnedecor import FisherSnedecor
from torchgen_out._runtime.library.distributions.gamma import Gamma
from torchgen_out._runtime.library.distributions.generalized_pareto import GeneralizedPareto
from torchgen_out._runtime.library.distributions.geometric import Geometric
from torchgen_out._runtime.library.distributions.gumbel import Gumbel
from torchgen_out._runtime.library.distributions.half_cauchy import HalfCauchy
from torchgen_out._runtime.library.distributions.half_normal import HalfNormal
from torchgen_out._runtime.library.distributions.independent import Independent
from torchgen_out._runtime.library.distributions.inverse_gamma import InverseGamma
from torchgen_out._runtime.library.distributions.kl import kl_divergence, register_kl
from torchgen_out._runtime.library.distributions.kumaraswamy import Kumaraswamy
from torchgen_out._runtime.library.distributions.laplace import Laplace
from torchgen_out._runtime.library.distributions.lkj_cholesky import LKJCholesky
from torchgen_out._runtime.library.distributions.log_normal import LogNormal
from torchgen_out._runtime.library.distributions.logistic_normal import LogisticNormal
from torchgen_out._runtime.library.distributions.lowrank_multivariate_normal import (
    LowRankMultivariateNormal,
)
from torchgen_out._runtime.library.distributions.mixture_same_family import MixtureSameFamily
from torchgen_out._runtime.library.distributions.multinomial import Multinomial
from torchgen_out._runtime.library.distributions.multivariate_normal import MultivariateNormal
from torchgen_out._runtime.library.distributions.negative_binomial import NegativeBinomial
from torchgen_out._runtime.library.distributions.normal import Normal
from torchgen_out._runtime.library.distributions.one_hot_categorical import (
    OneHotCategorical,
    OneHotCategoricalStraightThrough,
)
from torchgen_out._runtime.library.distributions.pareto import Pareto
from torchgen_out._runtime.library.distributions.poisson import Poisson
from torchgen_out._runtime.library.distributions.relaxed_bernoulli import RelaxedBernoulli
from torchgen_out._runtime.library.distributions.relaxed_categorical import RelaxedOneHotCategorical
from torchgen_out._runtime.library.distributions.studentT import StudentT
from torchgen_out._runtime.library.distributions.transformed_distribution import (
    TransformedDistribution,
)
from torchgen_out._runtime.library.distributions.transforms import *  # noqa: F403
from torchgen_out._runtime.library.distributions.transforms import __all__ as _transforms
from torchgen_out._runtime.library.distributions.uniform import Uniform
from torchgen_out._runtime.library.distributions.von_mises import VonMises
from torchgen_out._runtime.library.distributions.weibull import Weibull
from torchgen_out._runtime.library.distributions.wishart import Wishart

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
