"""Emits modules by PyTorch's paths, such as `nn.modules.conv`, over hand-written ones.

Programs import classes from where PyTorch defines them, and tools read that place from a class's
`__module__`. The table below says which names stand where; what each module re-exports, what the
packages above gather from it, and where each class says that it is found are all made from it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from .. import library
from ..write import File
from . import absent_modules
from .environment import render


@dataclass(frozen=True, slots=True)
class PublicModule:
    """A module of the package, and the names that it takes from hand-written ones."""

    path: str
    """Its dotted name within the package: `nn.modules.conv`."""
    doc: str
    sources: Mapping[str, str] = field(default_factory=dict)
    """The names, divided by blanks, of each hand-written module below the runtime."""
    gathers: tuple[str, ...] = ()
    """Packages whose modules' classes are found here, too."""
    submodules: tuple[str, ...] = ()
    """Modules that are written elsewhere, and are loaded with this one."""

    def names(self) -> dict[str, list[str]]:
        """What is imported from each hand-written module."""
        return {
            f"{library.RUNTIME}.{source}": text.split() for source, text in self.sources.items()
        }


MODULES = (
    PublicModule(
        "quasirandom",
        "Points that fill the unit cube evenly.",
        {"library.quasirandom": "SobolEngine"},
    ),
    PublicModule(
        "nn.grad",
        "Gradients of convolutions as functions.",
        {
            "library.nn.convolution_gradients": "conv1d_input conv1d_weight conv2d_input "
            "conv2d_weight conv3d_input conv3d_weight",
        },
    ),
    PublicModule(
        "nn",
        "Building blocks of neural networks.",
        {
            "library.nn.lazy": "UninitializedBuffer UninitializedParameter",
            "library.nn.parallel": "DataParallel",
            "library.nn.parameter": "Buffer Parameter",
        },
        gathers=("nn.modules",),
        submodules=("common_types", "functional", "init"),
    ),
    PublicModule(
        "nn.attention",
        "Kernels of attention.",
        {"library.nn.attention_kernels": "SDPBackend sdpa_kernel"},
        submodules=("flex_attention",),
    ),
    PublicModule("nn.modules", "Modules, by PyTorch's files.", gathers=("nn.modules",)),
    PublicModule(
        "nn.modules.activation",
        "Activations and attention.",
        {
            "library.nn.activation": "CELU ELU GELU GLU SELU Hardshrink Hardsigmoid Hardswish "
            "Hardtanh LeakyReLU LogSigmoid LogSoftmax Mish PReLU ReLU ReLU6 RReLU Sigmoid SiLU "
            "Softmax Softmax2d Softmin Softplus Softshrink Softsign Tanh Tanhshrink Threshold",
            "library.nn.attention": "MultiheadAttention",
        },
    ),
    PublicModule(
        "nn.modules.adaptive",
        "Softmax over many classes.",
        {"library.nn.adaptive_softmax": "AdaptiveLogSoftmaxWithLoss"},
    ),
    PublicModule(
        "nn.modules.batchnorm",
        "Normalisation over the batch.",
        {
            "library.nn.lazy_layers": "_LazyNormBase LazyBatchNorm1d LazyBatchNorm2d "
            "LazyBatchNorm3d",
            "library.nn.normalization": "_BatchNorm _NormBase BatchNorm1d BatchNorm2d BatchNorm3d "
            "SyncBatchNorm",
        },
    ),
    PublicModule(
        "nn.modules.channelshuffle",
        "Channels dealt out to groups.",
        {"library.nn.rearranging": "ChannelShuffle"},
    ),
    PublicModule(
        "nn.modules.container",
        "Modules that hold modules or parameters.",
        {
            "library.nn.containers": "Container ModuleDict ModuleList Sequential",
            "library.nn.module": "_addindent",
            "library.nn.parameter_containers": "ParameterDict ParameterList",
        },
    ),
    PublicModule(
        "nn.modules.conv",
        "Convolutions.",
        {
            "library.nn.convolution": "_ConvNd _ConvTransposeNd Conv1d Conv2d Conv3d "
            "ConvTranspose1d ConvTranspose2d ConvTranspose3d",
            "library.nn.lazy_layers": "_LazyConvXdMixin LazyConv1d LazyConv2d LazyConv3d "
            "LazyConvTranspose1d LazyConvTranspose2d LazyConvTranspose3d",
        },
    ),
    PublicModule(
        "nn.modules.distance",
        "Distances between vectors.",
        {"library.nn.embedding": "CosineSimilarity PairwiseDistance"},
    ),
    PublicModule(
        "nn.modules.dropout",
        "Random zeros.",
        {
            "library.nn.dropout": "_DropoutNd AlphaDropout Dropout Dropout1d Dropout2d Dropout3d "
            "FeatureAlphaDropout",
        },
    ),
    PublicModule(
        "nn.modules.flatten",
        "Dims merged and split.",
        {"library.nn.linear": "Flatten Unflatten"},
    ),
    PublicModule(
        "nn.modules.fold",
        "Sliding blocks.",
        {"library.nn.rearranging": "Fold Unfold"},
    ),
    PublicModule(
        "nn.modules.instancenorm",
        "Normalisation over each instance.",
        {
            "library.nn.normalization": "_InstanceNorm InstanceNorm1d InstanceNorm2d "
            "InstanceNorm3d",
            "library.nn.lazy_layers": "LazyInstanceNorm1d LazyInstanceNorm2d LazyInstanceNorm3d",
        },
    ),
    PublicModule(
        "nn.modules.lazy",
        "Modules initialised by their first input.",
        {"library.nn.lazy": "LazyModuleMixin"},
    ),
    PublicModule(
        "nn.modules.linear",
        "Linear layers.",
        {
            "library.nn.attention": "NonDynamicallyQuantizableLinear",
            "library.nn.lazy_layers": "LazyLinear",
            "library.nn.linear": "Bilinear Identity Linear",
        },
    ),
    PublicModule(
        "nn.modules.linear_cross_entropy_options",
        "How `linear_cross_entropy` goes through its samples.",
        {"library.nn.functional.linear_cross_entropy": "LinearCrossEntropyOptions"},
    ),
    PublicModule(
        "nn.modules.loss",
        "Losses.",
        {
            "library.nn.loss": "_Loss _WeightedLoss BCELoss BCEWithLogitsLoss CrossEntropyLoss "
            "CTCLoss GaussianNLLLoss HuberLoss KLDivLoss L1Loss MSELoss MultiLabelMarginLoss "
            "MultiLabelSoftMarginLoss MultiMarginLoss NLLLoss NLLLoss2d PoissonNLLLoss "
            "SmoothL1Loss SoftMarginLoss",
            "library.nn.linear_cross_entropy": "LinearCrossEntropyLoss",
            "library.nn.margin_loss": "CosineEmbeddingLoss HingeEmbeddingLoss MarginRankingLoss "
            "TripletMarginLoss TripletMarginWithDistanceLoss",
        },
    ),
    PublicModule(
        "nn.modules.module",
        "The base class of modules.",
        {
            "library.nn.global_hooks": "register_module_backward_hook "
            "register_module_buffer_registration_hook register_module_forward_hook "
            "register_module_forward_pre_hook register_module_full_backward_hook "
            "register_module_full_backward_pre_hook register_module_module_registration_hook "
            "register_module_parameter_registration_hook",
            "library.nn.module": "_addindent Module",
            "library.nn.module_state": "_IncompatibleKeys",
        },
    ),
    PublicModule(
        "nn.modules.normalization",
        "Normalisation over a layer, groups or channels.",
        {
            "library.nn.cross_map": "CrossMapLRN2d",
            "library.nn.normalization": "GroupNorm LayerNorm LocalResponseNorm RMSNorm",
        },
    ),
    PublicModule(
        "nn.modules.padding",
        "Padding.",
        {
            "library.nn.padding": "_CircularPadNd _ConstantPadNd CircularPad1d CircularPad2d "
            "CircularPad3d ConstantPad1d ConstantPad2d ConstantPad3d ReflectionPad1d "
            "ReflectionPad2d ReflectionPad3d ReplicationPad1d ReplicationPad2d ReplicationPad3d "
            "ZeroPad1d ZeroPad2d ZeroPad3d",
        },
    ),
    PublicModule(
        "nn.modules.pixelshuffle",
        "Channels as pixels.",
        {"library.nn.rearranging": "PixelShuffle PixelUnshuffle"},
    ),
    PublicModule(
        "nn.modules.pooling",
        "Pooling.",
        {
            "library.nn.fractional_pooling": "FractionalMaxPool2d FractionalMaxPool3d",
            "library.nn.pooling": "_AdaptiveMaxPoolNd _AvgPoolNd _LPPoolNd _MaxPoolNd "
            "AdaptiveAvgPool1d AdaptiveAvgPool2d AdaptiveAvgPool3d AdaptiveMaxPool1d "
            "AdaptiveMaxPool2d AdaptiveMaxPool3d AvgPool1d AvgPool2d AvgPool3d LPPool1d LPPool2d "
            "LPPool3d MaxPool1d MaxPool2d MaxPool3d",
            "library.nn.unpooling": "_MaxUnpoolNd MaxUnpool1d MaxUnpool2d MaxUnpool3d",
        },
    ),
    PublicModule(
        "nn.modules.rnn",
        "Recurrent layers.",
        {
            "library.nn.rnn": "GRU LSTM RNN RNNBase",
            "library.nn.rnn_cells": "GRUCell LSTMCell RNNCell RNNCellBase",
        },
    ),
    PublicModule(
        "nn.modules.sparse",
        "Tables of vectors.",
        {"library.nn.embedding": "Embedding EmbeddingBag"},
    ),
    PublicModule(
        "nn.modules.transformer",
        "Transformers.",
        {
            "library.nn.transformer": "_get_activation_fn _get_clones Transformer "
            "TransformerDecoder TransformerDecoderLayer TransformerEncoder "
            "TransformerEncoderLayer",
        },
    ),
    PublicModule(
        "nn.modules.upsampling",
        "Images resized.",
        {"library.nn.rearranging": "Upsample UpsamplingBilinear2d UpsamplingNearest2d"},
    ),
    PublicModule(
        "nn.modules.utils",
        "One value per dim.",
        {
            "library.nn.per_dim": "_list_with_default _ntuple _pair _quadruple "
            "_reverse_repeat_tuple _single _triple consume_prefix_in_state_dict_if_present",
        },
    ),
    PublicModule(
        "nn.parallel",
        "Modules on one of several devices.",
        {
            "library.nn.parallel": "DataParallel DistributedDataParallel data_parallel gather "
            "parallel_apply replicate scatter",
        },
    ),
    PublicModule(
        "nn.parallel.data_parallel",
        "Batches split among devices.",
        {"library.nn.parallel": "DataParallel data_parallel"},
    ),
    PublicModule(
        "nn.parallel.distributed",
        "Training by several processes.",
        {"library.nn.parallel": "DistributedDataParallel"},
    ),
    PublicModule(
        "nn.parallel.parallel_apply",
        "Modules called with inputs of their own.",
        {"library.nn.parallel": "parallel_apply"},
    ),
    PublicModule(
        "nn.parallel.replicate",
        "Copies of a module.",
        {"library.nn.parallel": "replicate"},
    ),
    PublicModule(
        "nn.parallel.scatter_gather",
        "Tensors split among devices and joined.",
        {"library.nn.parallel": "gather scatter scatter_kwargs"},
    ),
    PublicModule(
        "nn.parameter",
        "Parameters.",
        {
            "library.nn.lazy": "UninitializedBuffer UninitializedParameter "
            "UninitializedTensorMixin is_lazy",
            "library.nn.parameter": "Buffer Parameter",
        },
    ),
    PublicModule(
        "nn.utils",
        "Gradient clipping, vectors, normalised weights.",
        {
            "library.nn.bare_construction": "convert_conv2d_weight_memory_format "
            "convert_conv3d_weight_memory_format skip_init",
            "library.nn.fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval "
            "fuse_linear_bn_weights",
            "library.nn.parameter_sets": "clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ "
            "get_total_norm parameters_to_vector vector_to_parameters",
            "library.nn.parameter_tools": "clip_grad_norm",
            "library.nn.weight_hooks": "remove_spectral_norm remove_weight_norm spectral_norm "
            "weight_norm",
        },
        submodules=("parametrizations", "parametrize"),
    ),
    PublicModule(
        "nn.utils.clip_grad",
        "Gradients limited.",
        {
            "library.nn.parameter_sets": "clip_grad_norm_ clip_grad_value_ clip_grads_with_norm_ "
            "get_total_norm",
            "library.nn.parameter_tools": "clip_grad_norm",
        },
    ),
    PublicModule(
        "nn.utils.convert_parameters",
        "Parameters as one vector.",
        {"library.nn.parameter_sets": "parameters_to_vector vector_to_parameters"},
    ),
    PublicModule(
        "nn.utils.fusion",
        "Batch normalisation folded into layers.",
        {
            "library.nn.fusion": "fuse_conv_bn_eval fuse_conv_bn_weights fuse_linear_bn_eval "
            "fuse_linear_bn_weights",
        },
    ),
    PublicModule(
        "nn.utils.init",
        "Modules without initial values.",
        {"library.nn.bare_construction": "skip_init"},
    ),
    PublicModule(
        "nn.utils.memory_format",
        "Weights in another memory format.",
        {
            "library.nn.bare_construction": "convert_conv2d_weight_memory_format "
            "convert_conv3d_weight_memory_format",
        },
    ),
    PublicModule(
        "nn.utils.prune",
        "Pruning.",
        {
            "library.nn.prune": "BasePruningMethod CustomFromMask Identity L1Unstructured "
            "LnStructured PruningContainer RandomStructured RandomUnstructured custom_from_mask "
            "global_unstructured identity is_pruned l1_unstructured ln_structured "
            "random_structured random_unstructured remove",
        },
    ),
    PublicModule(
        "nn.utils.rnn",
        "Sequences of several lengths.",
        {
            "library.nn.packing": "PackedSequence invert_permutation pack_padded_sequence "
            "pack_sequence pad_packed_sequence pad_sequence unpack_sequence unpad_sequence",
        },
    ),
    PublicModule(
        "nn.utils.spectral_norm",
        "Spectral normalisation by hooks.",
        {"library.nn.weight_hooks": "SpectralNorm remove_spectral_norm spectral_norm"},
    ),
    PublicModule(
        "nn.utils.stateless",
        "Modules with other parameters than their own.",
        {"library.nn.stateless": "functional_call"},
    ),
    PublicModule(
        "nn.utils.weight_norm",
        "Weight normalisation by hooks.",
        {"library.nn.weight_hooks": "WeightNorm remove_weight_norm weight_norm"},
    ),
    PublicModule(
        "optim",
        "Optimizers.",
        {
            "library.optim.adafactor": "Adafactor",
            "library.optim.muon": "Muon",
        },
        gathers=("optim",),
    ),
    PublicModule(
        "optim._adafactor",
        "Adafactor.",
        {
            "library.optim.functional": "adafactor",
            "library.optim.adafactor": "Adafactor",
        },
    ),
    PublicModule("optim._muon", "Muon.", {"library.optim.muon": "Muon"}),
    PublicModule(
        "optim.adadelta",
        "Adadelta.",
        {
            "library.optim.functional": "adadelta",
            "library.optim.adaptive": "Adadelta",
        },
    ),
    PublicModule(
        "optim.adagrad",
        "Adagrad.",
        {
            "library.optim.functional": "adagrad",
            "library.optim.adaptive": "Adagrad",
        },
    ),
    PublicModule(
        "optim.adam",
        "Adam.",
        {
            "library.optim.functional": "adam",
            "library.optim.adam": "Adam",
        },
    ),
    PublicModule(
        "optim.adamax",
        "Adamax.",
        {
            "library.optim.functional": "adamax",
            "library.optim.adaptive": "Adamax",
        },
    ),
    PublicModule(
        "optim.adamw",
        "AdamW.",
        {
            "library.optim.functional": "adamw",
            "library.optim.adam": "AdamW",
        },
    ),
    PublicModule(
        "optim.asgd",
        "Averaged descent.",
        {
            "library.optim.functional": "asgd",
            "library.optim.averaged": "ASGD",
        },
    ),
    PublicModule("optim.lbfgs", "L-BFGS.", {"library.optim.lbfgs": "LBFGS"}),
    PublicModule(
        "optim.nadam",
        "NAdam.",
        {
            "library.optim.functional": "nadam",
            "library.optim.adam_variants": "NAdam",
        },
    ),
    PublicModule(
        "optim.lr_scheduler",
        "Schedules of learning rates.",
        {
            "library.optim.lr_scheduler.combined": "ChainedScheduler SequentialLR",
            "library.optim.lr_scheduler.cosine": "CosineAnnealingLR CosineAnnealingWarmRestarts",
            "library.optim.lr_scheduler.cyclic": "CyclicLR",
            "library.optim.lr_scheduler.decay": "ConstantLR ExponentialLR LambdaLR LinearLR "
            "MultiplicativeLR MultiStepLR PolynomialLR StepLR",
            "library.optim.lr_scheduler.one_cycle": "OneCycleLR",
            "library.optim.lr_scheduler.plateau": "ReduceLROnPlateau",
            "library.optim.lr_scheduler.scheduler": "LRScheduler _LRScheduler",
        },
    ),
    PublicModule(
        "optim.optimizer",
        "The base class of optimizers.",
        {
            "library.optim.third_party": "_default_to_fused_or_foreach "
            "_disable_dynamo_if_unsupported _get_capturable_supported_devices _get_scalar_dtype "
            "_get_value _stack_if_compiling _use_grad_for_differentiable _view_as_real",
            "library.optim.optimizer": "_params_t _RequiredParameter Optimizer ParamsT "
            "register_optimizer_step_post_hook register_optimizer_step_pre_hook required",
        },
    ),
    PublicModule(
        "optim.radam",
        "RAdam.",
        {
            "library.optim.functional": "radam",
            "library.optim.adam_variants": "RAdam",
        },
    ),
    PublicModule(
        "optim.rmsprop",
        "RMSprop.",
        {
            "library.optim.functional": "rmsprop",
            "library.optim.adaptive": "RMSprop",
        },
    ),
    PublicModule(
        "optim.rprop",
        "Rprop.",
        {
            "library.optim.functional": "rprop",
            "library.optim.rprop": "Rprop",
        },
    ),
    PublicModule(
        "optim.sparse_adam",
        "SparseAdam.",
        {"library.optim.sparse_adam": "SparseAdam"},
    ),
    PublicModule(
        "optim.sgd",
        "SGD.",
        {
            "library.optim.functional": "sgd",
            "library.optim.sgd": "SGD",
        },
    ),
    PublicModule(
        "optim.swa_utils",
        "Averages of weights.",
        {
            "library.optim.weight_averaging": "AveragedModel SWALR get_ema_avg_fn "
            "get_ema_multi_avg_fn get_swa_avg_fn get_swa_multi_avg_fn update_bn",
        },
    ),
    PublicModule("utils.data._utils", "Parts of loaders."),
    PublicModule(
        "utils.data._utils.collate",
        "Samples as a batch.",
        {"library.data.collate": "default_collate default_convert"},
    ),
)
"""Modules by PyTorch's paths. Of a class that stands in several, the first is its place; packages
and private modules come last."""


@dataclass(frozen=True, slots=True)
class Layout:
    """What the text of a public module is made from."""

    doc: str
    package: str
    imported: list[tuple[str, list[str]]]
    exported: list[str]
    submodules: list[str]
    hidden: list[str]
    """Submodules that a function of the same name hides: they are loaded before it is imported."""


def emit() -> Iterable[File]:
    """Emit every module of the table, and where each class is found."""
    for module in MODULES:
        path = module.path.replace(".", "/") + ("/__init__.py" if _is_package(module) else ".py")
        yield render(path, "public_module.py.jinja", module=_layout(module))
    yield render("public_modules.py", "public_modules.py.jinja", places=_places())


def _layout(module: PublicModule) -> Layout:
    sources = {source: set(names) for source, names in module.names().items()}
    for gathered in MODULES:
        if _parent(gathered.path) in module.gathers and gathered is not module:
            for source, names in gathered.names().items():
                sources.setdefault(source, set()).update(filter(_is_class, names))
    imported = [
        (source, sorted(sources[source], key=_imported_order)) for source in sorted(sources)
    ]
    imported = [(source, names) for source, names in imported if names]
    exported = sorted({name for _, names in imported for name in names}, key=_exported_order)
    children = {
        other.path.rpartition(".")[2] for other in MODULES if _parent(other.path) == module.path
    }
    return Layout(
        module.doc,
        f"torchgen_out.{module.path}",
        imported,
        exported,
        sorted({*children, *module.submodules}.difference(exported)),
        sorted(children.intersection(exported)),
    )


def _places() -> list[tuple[str, list[str]]]:
    """The public modules, and what has its place there."""
    placed: set[str] = set()
    places = []
    for module in sorted(MODULES, key=lambda each: _is_package(each) or "._" in each.path):
        written = [f"{source}.{name}" for source, names in module.names().items() for name in names]
        new = [name for name in written if name not in placed]
        placed.update(new)
        if new:
            places.append((f"torchgen_out.{module.path}", new))
    return places


def _is_package(module: PublicModule) -> bool:
    paths = [other.path for other in MODULES] + [other.path for other in absent_modules.MODULES]
    return any(_parent(path) == module.path for path in paths)


def _parent(path: str) -> str:
    return path.rpartition(".")[0]


def _is_class(name: str) -> bool:
    return name[0].isupper()


def _exported_order(name: str) -> tuple[int, str]:
    """Constants, classes, functions."""
    return (0 if name.isupper() and len(name) > 1 else 1 if name[0].isupper() else 2), name


def _imported_order(name: str) -> tuple[int, str, str]:
    """The same, whatever the case of the letters."""
    return _exported_order(name)[0], name.lower(), name
