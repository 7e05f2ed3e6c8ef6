"""Emits the package itself: __init__.py, and facades over the hand-written parts."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from .. import library
from ..model.program import Program
from ..write import File
from . import absent_modules, imports, namespaces, public_modules
from .environment import render


@dataclass(frozen=True, slots=True)
class Facade:
    """A public module that re-exports what a hand-written one lists in `__all__`."""

    path: str
    source: str
    """The hand-written module, below the runtime."""
    doc: str
    submodules: tuple[str, ...] = ()
    has_switches: bool = False
    """Whether users set names of the module, so that it must be the hand-written module itself."""
    shadowed: tuple[str, ...] = ()
    """Submodules whose names stand for something else here: they load before that is named."""

    @property
    def module(self) -> str:
        """The hand-written module's full name."""
        return f"{library.RUNTIME}.{self.source}"

    @property
    def comes_first(self) -> bool:
        """Whether its own package sorts before the hand-written module."""
        return self.package < self.module

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
"""Modules of `torch.distributions`, each a hand-written one, and what it holds."""

TORCH_NAMES = (
    "_assert",
    "Future",
    "ScriptModule",
    "autocast_decrement_nesting", "autocast_increment_nesting", "classproperty",
    "clear_autocast_cache", "compile", "cond", "fork", "get_autocast_cpu_dtype",
    "get_autocast_gpu_dtype", "get_device_module", "get_file_path", "get_num_interop_threads",
    "is_autocast_cache_enabled", "is_autocast_cpu_enabled", "is_inference",
    "is_warn_always_enabled", "set_autocast_cpu_dtype", "set_autocast_gpu_dtype",
    "set_num_interop_threads", "set_warn_always", "sym_float", "sym_int", "sym_ite", "sym_max",
    "sym_min", "sym_not", "sym_sqrt", "torch", "vmap", "wait",
)  # fmt: skip
"""Hand-written names of the package itself that load when they are first asked for."""

PRIVATE_NAMES = (
    "_assert_async", "_assert_scalar", "_check", "_check_index", "_check_is_size",
    "_check_not_implemented", "_check_tensor_all", "_check_tensor_all_with", "_check_type",
    "_check_value", "_check_with", "_convert_indices_from_coo_to_csr",
    "_convert_indices_from_csr_to_coo", "_segment_reduce", "_shape_as_tensor",
)  # fmt: skip
"""Those with an underscore, which programs call all the same."""

FACADES = (
    Facade(
        "autograd/__init__.py",
        "autograd.namespace",
        "Gradients.",
        ("functional", "profiler"),
        shadowed=("gradcheck",),
    ),
    Facade(
        "autograd/gradcheck.py",
        "autograd.gradcheck",
        "Gradients by differences.",
    ),
    Facade(
        "autograd/functional.py",
        "autograd.functional",
        "Jacobians and Hessians.",
    ),
    Facade(
        "autograd/graph.py",
        "autograd.graph_access",
        "Nodes and saved tensors.",
    ),
    Facade(
        "autograd/function.py",
        "autograd.function",
        "Functions with own gradients.",
    ),
    Facade(
        "autograd/grad_mode.py",
        "autograd.grad_mode",
        "Whether calls are recorded.",
    ),
    Facade("nn/init.py", "library.nn.init", "Initial values of parameters."),
    Facade(
        "nn/utils/parametrizations.py",
        "library.nn.parametrizations",
        "Ready ones.",
    ),
    Facade(
        "nn/utils/parametrize.py",
        "library.nn.parametrize",
        "Tensors computed from others.",
    ),
    Facade(
        "utils/data/__init__.py",
        "library.data",
        "Data sets and loaders.",
        ("dataloader", "dataset", "distributed", "sampler"),
    ),
    Facade("utils/data/dataloader.py", "library.data.dataloader", "Loaders."),
    Facade("utils/data/dataset.py", "library.data.dataset", "Data sets."),
    Facade(
        "utils/data/distributed.py",
        "library.data.distributed",
        "Samplers of replicas.",
    ),
    Facade("utils/data/sampler.py", "library.data.sampler", "Orders of visits."),
    Facade(
        "distributions/__init__.py",
        "library.distributions",
        "Distributions to sample from and to fit.",
        tuple(sorted([*(name.removesuffix(".py") for name in DISTRIBUTIONS), "utils"])),
    ),
    *(
        Facade(
            f"distributions/{name}",
            f"library.distributions.{name.removesuffix('.py')}",
            doc,
        )
        for name, doc in DISTRIBUTIONS.items()
    ),
    Facade(
        "distributions/utils.py",
        "library.distributions.parameters",
        "What distributions share.",
    ),
    Facade(
        "autograd/profiler.py",
        "library.programs.autograd_profiler",
        "Where the time goes.",
    ),
    Facade("version.py", "core.version", "Which PyTorch this is."),
    Facade("torch_version.py", "core.version", "Versions that compare."),
    Facade(
        "_C/__init__.py",
        "library.programs.internals",
        "What programs ask of PyTorch's C++.",
        ("_nn",),
    ),
    Facade(
        "_C/_nn.py",
        "library.programs.internals_nn",
        "How arguments are read.",
    ),
    Facade(
        "_dynamo/__init__.py",
        "library.programs.dynamo",
        "The compiler's switches.",
        ("eval_frame",),
    ),
    Facade(
        "_dynamo/eval_frame.py",
        "library.programs.dynamo",
        "Compiled modules.",
    ),
    Facade(
        "__config__.py",
        "library.programs.configuration",
        "What the library computes with.",
    ),
    Facade("_utils.py", "library.programs.tensor_lists", "Lists of tensors."),
    Facade(
        "functional.py",
        "library.programs.functional_names",
        "Functions of the package.",
    ),
    Facade(
        "nn/common_types.py",
        "library.programs.argument_types",
        "Types of arguments.",
    ),
    Facade("_tensor_str.py", "library.programs.tensor_text", "Tensors as text."),
    Facade(
        "accelerator.py",
        "library.programs.accelerator",
        "The GPU, of whatever make.",
    ),
    Facade(
        "compiler.py",
        "library.programs.compiling",
        "Running functions as they are.",
    ),
    Facade(
        "distributed/__init__.py",
        "library.programs.distributed",
        "Whether there are other processes.",
    ),
    Facade("func.py", "library.programs.transforms", "Functions of functions."),
    Facade("futures.py", "library.programs.futures", "Results that come later."),
    Facade(
        "hub.py",
        "library.programs.hub",
        "Models from folders, files from the net.",
    ),
    Facade(
        "jit/__init__.py",
        "library.programs.jit",
        "Functions that stay Python.",
        ("annotations",),
    ),
    Facade(
        "jit/annotations.py",
        "library.programs.jit_annotations",
        "Types for a compiler.",
    ),
    Facade(
        "_jit_internal.py",
        "library.programs.jit_internals",
        "Marks for a compiler.",
    ),
    Facade(
        "library.py",
        "library.programs.library",
        "Operators that programs bring.",
    ),
    Facade(
        "ops.py",
        "library.programs.aten",
        "Operators by namespace and overload.",
    ),
    Facade("profiler.py", "library.programs.profiler", "Where the time goes."),
    Facade(
        "storage.py",
        "library.programs.storage_namespace",
        "The memory of tensors.",
    ),
    Facade(
        "torch_names.py",
        "library.programs.torch_names",
        "Names of the package itself.",
    ),
    Facade(
        "private_names.py",
        "library.programs.private_names",
        "Names with an underscore.",
    ),
    Facade(
        "types.py",
        "library.programs.types_namespace",
        "Names of types for annotations.",
    ),
    Facade(
        "utils/_pytree.py",
        "library.programs.pytree_maps",
        "Trees of containers.",
    ),
    Facade(
        "utils/collect_env.py",
        "library.programs.collect_env",
        "What the machine is.",
    ),
    Facade("utils/model_zoo.py", "library.programs.hub", "Weights from the net."),
    Facade(
        "utils/tensorboard/__init__.py",
        "library.programs.tensorboard",
        "Logs for TensorBoard.",
        ("writer",),
    ),
    Facade(
        "utils/tensorboard/writer.py",
        "library.programs.tensorboard",
        "The writer of logs.",
    ),
    Facade(
        "utils/checkpoint.py",
        "autograd.checkpoint",
        "Recomputing in backward.",
    ),
    Facade("utils/dlpack.py", "tensor_api.dlpack", "Tensors of other libraries."),
    Facade("utils/hooks.py", "autograd.hooks", "Hooks that can be removed."),
    Facade(
        "multiprocessing.py",
        "library.multiprocessing",
        "Processes that share tensors.",
    ),
    Facade(
        "overrides.py",
        "library.tools.overrides",
        "Classes that answer calls.",
    ),
    Facade("random.py", "namespaces.random_names", "Default generators."),
    Facade(
        "testing/__init__.py",
        "library.programs.testing_namespace",
        "Tensors in tests.",
    ),
    Facade("serialization.py", "library.serialization", "Saving and loading."),
    Facade("cpu/__init__.py", "namespaces.cpu_names", "The CPU and the memory it keeps.", ("amp",)),
    Facade(
        "cpu/amp/__init__.py",
        "library.optim.mixed_precision_cpu",
        "Mixed precision on the CPU.",
        ("autocast_mode", "grad_scaler"),
    ),
    Facade(
        "cpu/amp/autocast_mode.py",
        "library.optim.mixed_precision_cpu",
        "Lower precision on the CPU.",
    ),
    Facade(
        "cpu/amp/grad_scaler.py",
        "library.optim.mixed_precision_cpu",
        "Scaled losses on the CPU.",
    ),
    Facade(
        "cuda/__init__.py",
        "namespaces.cuda_names",
        "Devices, streams and memory of CUDA.",
        ("amp", "nvtx"),
    ),
    Facade(
        "cuda/amp/__init__.py",
        "library.optim.mixed_precision_cuda",
        "Mixed precision on CUDA.",
        ("autocast_mode", "grad_scaler"),
    ),
    Facade(
        "cuda/amp/autocast_mode.py",
        "library.optim.mixed_precision_cuda",
        "Lower precision on CUDA.",
    ),
    Facade(
        "cuda/amp/grad_scaler.py",
        "library.optim.mixed_precision_cuda",
        "Scaled losses on CUDA.",
    ),
    Facade(
        "cuda/nvtx.py",
        "backends.cuda.nvtx",
        "Ranges on a profiler's timeline.",
    ),
    Facade(
        "amp/__init__.py",
        "library.optim.mixed_precision",
        "Mixed precision.",
        ("autocast_mode", "grad_scaler"),
    ),
    Facade("amp/autocast_mode.py", "autograd.autocast_mode", "Lower precision."),
    Facade("amp/grad_scaler.py", "library.optim.grad_scaler", "Scaled losses."),
    Facade(
        "backends/__init__.py",
        "backends.flags",
        "Switches of numerical libraries.",
        (
            "cuda",
            "cudnn",
            "mkl",
            "mkldnn",
            "mps",
            "openmp",
            "opt_einsum",
            "quantized",
            "xnnpack",
        ),
    ),
    Facade("backends/cuda.py", "backends.flags.cuda", "CUDA.", has_switches=True),
    Facade(
        "backends/cudnn.py",
        "backends.flags.cudnn",
        "cuDNN.",
        has_switches=True,
    ),
    Facade("backends/mkl.py", "backends.flags.mkl", "Intel MKL."),
    Facade("backends/mkldnn.py", "backends.flags.mkldnn", "oneDNN."),
    Facade("backends/mps.py", "backends.flags.mps", "Apple Metal."),
)

NAMES = {
    "GradScaler": "amp",
    "load": "serialization",
    "save": "serialization",
    **dict.fromkeys(TORCH_NAMES, "torch_names"),
    **dict.fromkeys(PRIVATE_NAMES, "private_names"),
    **dict.fromkeys(absent_modules.names("absent_names"), "absent_names"),
}
"""Names of the package itself that load with a module, when they are first asked for."""


def lazy_modules(package: str = "") -> list[str]:
    """Return the modules of a package that load when they are first named."""
    paths = [
        *(facade.path.removesuffix(".py").replace("/", ".") for facade in FACADES),
        *(module.path for module in public_modules.MODULES),
        *(module.path for module in absent_modules.MODULES),
        *namespaces.MODULES[1:],
        "utils",
    ]
    below = [path.removeprefix(package) for path in paths if path.startswith(package)]
    return sorted({path.partition(".")[0] for path in below} - {"__init__"})


def names_by_module() -> list[tuple[str, list[str]]]:
    """Return the modules that `NAMES` load with, and which of them each holds."""
    return [
        (
            module,
            sorted((name for name in NAMES if NAMES[name] == module), key=imports.member_order),
        )
        for module in sorted(set(NAMES.values()))
    ]


def emit(program: Program) -> Iterable[File]:
    """Emit `__init__.py`, the library's facades, and `py.typed`."""
    yield from _library() if program.is_library else _outside(program)
    yield File("py.typed", "")


def _library() -> Iterator[File]:
    yield render(
        "__init__.py",
        "init.py.jinja",
        modules=lazy_modules(),
        names=sorted(NAMES.items(), key=lambda item: (item[1], item[0])),
        names_by_module=names_by_module(),
    )
    yield from public_modules.emit()
    yield from absent_modules.emit()
    for name, folder in library.LINKED.items():
        yield render(f"{name}/__init__.py", "linked_package.py.jinja", folder=folder)
    yield render("as_torch.py", "as_torch.py.jinja")
    for facade in FACADES:
        yield render(facade.path, "facade.py.jinja", facade=facade)
    yield render("utils/__init__.py", "utils.py.jinja", modules=lazy_modules("utils."))


def _outside(program: Program) -> Iterator[File]:
    modules = namespaces.modules(program)
    yield render(
        "__init__.py",
        "outside_init.py.jinja",
        library=program.library,
        package=program.package,
        modules=sorted({module.partition(".")[0] for module in modules}),
        has_foreach=any(operator.foreach for operator in program.operators),
    )
    if "nn.functional" in modules:
        yield render("nn/__init__.py", "outside_nn.py.jinja", package=program.package)
