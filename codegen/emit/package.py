"""Emits the package itself: __init__.py, and facades over the hand-written parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from codegen.emit import namespaces
from codegen.emit.environment import render
from codegen.model.program import Program
from codegen.write import File


@dataclass(frozen=True, slots=True)
class Facade:
    """A public module that re-exports what a hand-written one lists in `__all__`."""

    path: str
    source: str
    doc: str
    submodules: tuple[str, ...] = ()
    has_switches: bool = False
    """Whether users set names of the module, so that it must be the hand-written module itself."""

    @property
    def package(self) -> str:
        """The package that holds the submodules."""
        return "torchgen_out." + self.path.removesuffix("/__init__.py").replace("/", ".")


DISTRIBUTIONS = {
    "bernoulli.py": "Coins.",
    "beta.py": "Beta distributions.",
    "binomial.py": "Binomial distributions.",
    "categorical.py": "Categories by index.",
    "cauchy.py": "Cauchy distributions.",
    "chi2.py": "Chi-squared distributions.",
    "constraint_registry.py": "Maps of unconstrained numbers onto sets.",
    "constraints.py": "Sets of values.",
    "continuous_bernoulli.py": "Continuous Bernoulli distributions.",
    "dirichlet.py": "Dirichlet distributions.",
    "distribution.py": "What every distribution is.",
    "exp_family.py": "Exponential families.",
    "exponential.py": "Exponential distributions.",
    "fishersnedecor.py": "F distributions.",
    "gamma.py": "Gamma distributions.",
    "generalized_pareto.py": "Generalized Pareto distributions.",
    "geometric.py": "Geometric distributions.",
    "gumbel.py": "Gumbel distributions.",
    "half_cauchy.py": "Half-Cauchy distributions.",
    "half_normal.py": "Half-normal distributions.",
    "independent.py": "Batches as events.",
    "inverse_gamma.py": "Inverse gamma distributions.",
    "kl.py": "Kullback-Leibler divergences.",
    "kumaraswamy.py": "Kumaraswamy distributions.",
    "laplace.py": "Laplace distributions.",
    "lkj_cholesky.py": "LKJ distributions.",
    "log_normal.py": "Log-normal distributions.",
    "logistic_normal.py": "Logistic normal distributions.",
    "lowrank_multivariate_normal.py": "Low-rank multivariate normal distributions.",
    "mixture_same_family.py": "Mixtures.",
    "multinomial.py": "Multinomial distributions.",
    "multivariate_normal.py": "Multivariate normal distributions.",
    "negative_binomial.py": "Negative binomial distributions.",
    "normal.py": "Normal distributions.",
    "one_hot_categorical.py": "Categories as one-hot vectors.",
    "pareto.py": "Pareto distributions.",
    "poisson.py": "Poisson distributions.",
    "relaxed_bernoulli.py": "Relaxed coins.",
    "relaxed_categorical.py": "Relaxed categories.",
    "studentT.py": "Student's t distributions.",
    "transformed_distribution.py": "Functions of samples.",
    "transforms.py": "Changes of variables.",
    "uniform.py": "Uniform distributions.",
    "von_mises.py": "Von Mises distributions.",
    "weibull.py": "Weibull distributions.",
    "wishart.py": "Wishart distributions.",
}
"""Modules of `torch.distributions`, each a module of `runtime.distributions`, and what it holds."""

FACADES = (
    Facade("autograd/__init__.py", "runtime.autograd.namespace", "Gradients.", ("functional",)),
    Facade("autograd/functional.py", "runtime.autograd.functional", "Jacobians and Hessians."),
    Facade("autograd/graph.py", "runtime.autograd.graph_access", "Nodes and saved tensors."),
    Facade("autograd/function.py", "runtime.autograd.function", "Functions with own gradients."),
    Facade("autograd/grad_mode.py", "runtime.autograd.grad_mode", "Whether calls are recorded."),
    Facade(
        "nn/__init__.py",
        "runtime.nn",
        "Building blocks of neural networks.",
        ("functional", "init", "parameter", "utils"),
    ),
    Facade("nn/init.py", "runtime.nn.init", "Initial values of parameters."),
    Facade("nn/parameter.py", "runtime.nn.parameter", "Parameters."),
    Facade(
        "nn/utils/__init__.py",
        "runtime.nn.parameter_tools",
        "Gradient clipping, vectors, normalised weights.",
        ("parametrizations", "parametrize", "rnn"),
    ),
    Facade("nn/utils/parametrizations.py", "runtime.nn.parametrizations", "Ready ones."),
    Facade("nn/utils/parametrize.py", "runtime.nn.parametrize", "Tensors computed from others."),
    Facade("nn/utils/rnn.py", "runtime.nn.packing", "Sequences of several lengths."),
    Facade("optim/__init__.py", "runtime.optim", "Optimizers.", ("lr_scheduler",)),
    Facade("optim/lr_scheduler.py", "runtime.optim.lr_scheduler", "Schedules of learning rates."),
    Facade(
        "utils/data/__init__.py",
        "runtime.data",
        "Data sets and loaders.",
        ("dataloader", "dataset", "distributed", "sampler"),
    ),
    Facade("utils/data/dataloader.py", "runtime.data.dataloader", "Loaders."),
    Facade("utils/data/dataset.py", "runtime.data.dataset", "Data sets."),
    Facade("utils/data/distributed.py", "runtime.data.distributed", "Samplers of replicas."),
    Facade("utils/data/sampler.py", "runtime.data.sampler", "Orders of visits."),
    Facade(
        "distributions/__init__.py",
        "runtime.distributions",
        "Distributions to sample from and to fit.",
        tuple(sorted([*(name.removesuffix(".py") for name in DISTRIBUTIONS), "utils"])),
    ),
    *(
        Facade(f"distributions/{name}", f"runtime.distributions.{name.removesuffix('.py')}", doc)
        for name, doc in DISTRIBUTIONS.items()
    ),
    Facade(
        "distributions/utils.py", "runtime.distributions.parameters", "What distributions share."
    ),
    Facade("utils/checkpoint.py", "runtime.autograd.checkpoint", "Recomputing in backward."),
    Facade("utils/dlpack.py", "runtime.ops.dlpack", "Tensors of other libraries."),
    Facade("utils/hooks.py", "runtime.autograd.hooks", "Hooks that can be removed."),
    Facade("multiprocessing.py", "runtime.multiprocessing", "Processes that share tensors."),
    Facade("random.py", "runtime.ops.random_namespace", "Default generators."),
    Facade("testing/__init__.py", "runtime.testing", "Comparing tensors in tests."),
    Facade("serialization.py", "runtime.serialization", "Saving and loading."),
    Facade("cpu.py", "runtime.ops.cpu_namespace", "The CPU and the memory it keeps."),
    Facade(
        "cuda/__init__.py",
        "runtime.ops.cuda_namespace",
        "Devices, streams and memory of CUDA.",
        ("amp", "nvtx"),
    ),
    Facade("cuda/amp.py", "runtime.optim.mixed_precision_cuda", "Mixed precision on CUDA."),
    Facade("cuda/nvtx.py", "runtime.backends.cuda.nvtx", "Ranges on a profiler's timeline."),
    Facade("amp.py", "runtime.optim.mixed_precision", "Mixed precision."),
    Facade(
        "backends/__init__.py",
        "runtime.backends.flags",
        "Switches of numerical libraries.",
        ("cuda", "cudnn", "mkl", "mkldnn", "mps"),
    ),
    Facade("backends/cuda.py", "runtime.backends.flags.cuda", "CUDA.", has_switches=True),
    Facade("backends/cudnn.py", "runtime.backends.flags.cudnn", "cuDNN.", has_switches=True),
    Facade("backends/mkl.py", "runtime.backends.flags.mkl", "Intel MKL."),
    Facade("backends/mkldnn.py", "runtime.backends.flags.mkldnn", "oneDNN."),
    Facade("backends/mps.py", "runtime.backends.flags.mps", "Apple Metal."),
)

LAZY_MODULES = (
    "amp", "autograd", "backends", "cpu", "cuda", "distributions", "fft", "linalg",
    "multiprocessing", "nn", "optim", "random", "serialization", "special", "testing", "utils",
)  # fmt: skip
"""Submodules that load when they are first named: `import torchgen_out` needs none of them."""


def emit(program: Program) -> Iterable[File]:
    """Emit `__init__.py`, the library's facades, and `py.typed`."""
    yield from _library() if program.is_library else _outside(program)
    yield File("py.typed", "")


def _library() -> Iterator[File]:
    yield render("__init__.py", "init.py.jinja", modules=LAZY_MODULES)
    for facade in FACADES:
        yield render(facade.path, "facade.py.jinja", facade=facade)
    yield render("utils/__init__.py", "utils.py.jinja")


def _outside(program: Program) -> Iterator[File]:
    modules = namespaces.modules(program)
    yield render(
        "__init__.py",
        "outside_init.py.jinja",
        library=program.library,
        package=program.package,
        modules=sorted({module.partition(".")[0] for module in modules}),
    )
    if "nn.functional" in modules:
        yield render("nn/__init__.py", "outside_nn.py.jinja", package=program.package)
