"""Emits public modules of what PyTorch has and the library has not.

Programs import them at their top and hardly use them. The table says what each is asked for, and
what to do instead; the modules say so when something is used. What answers with more than one
value is hand-written, in `runtime/library/programs/`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field

from ..write import File
from .environment import render


@dataclass(frozen=True, slots=True)
class Absent:
    """A module whose names exist and cannot be used."""

    path: str
    """Its dotted name within the package: `fx`, `utils.cpp_extension`."""
    doc: str
    remedy: str
    """What to do instead: the end of a sentence."""
    classes: str = ""
    """Names of classes, divided by blanks: they can be derived from, and have no instances."""
    functions: str = ""
    """Names of functions that refuse to be called."""
    marks: str = ""
    """Names of decorators that give back what they decorate."""
    answers: Mapping[str, str] = field(default_factory=dict)
    """Questions, and what they always answer, as Python text."""
    values: Mapping[str, str] = field(default_factory=dict)
    """Plain names, and their values as Python text."""
    place: str = ""
    """Where users find the names, if not in the module: the package itself is `torch`."""


_GRAPHS = "operators run one by one as they are called, nothing is traced"
_FAKE = "nothing is traced; tensors on the device 'meta' have sizes and no memory"
_TRANSFORMS = "use torch.autograd.functional, or a loop over the batch"
_SPARSE = "sparse layouts are named and not computed with; use dense tensors"
_LOWER = "there are no quantised dtypes; use bfloat16 or float16"
_DEVICE = "there is no backend for the device; use 'cpu', or 'cuda' where there is a GPU"
_ONNX = "nothing is traced; export the same weights with PyTorch"
_PROCESSES = "there are no process groups, torch.distributed.is_available() is False"
_COMPILER = "there is no compiler"
_EXTENSION = "operators are entries of a YAML file, there is no C++ to build"

MODULES = (
    Absent(
        "fx",
        "Tracing modules into graphs",
        _GRAPHS,
        classes="Graph GraphModule Interpreter Node Proxy Tracer Transformer",
        functions="map_arg replace_pattern symbolic_trace",
        marks="has_side_effect wrap",
    ),
    Absent("fx.graph", "Graphs", _GRAPHS, classes="CodeGen Graph PythonCode"),
    Absent(
        "fx.graph_module",
        "Modules made of graphs",
        _GRAPHS,
        classes="GraphModule _CodeOnlyModule",
        functions="_copy_attr",
        values={"_USER_PRESERVED_ATTRIBUTES_KEY": '"_user_preserved_attributes"'},
    ),
    Absent(
        "fx.node",
        "Nodes of graphs",
        _GRAPHS,
        classes="Node",
        functions="map_aggregate map_arg",
        values={"Argument": "object", "Target": "object"},
    ),
    Absent("fx.proxy", "What flows while tracing", _GRAPHS, classes="Proxy TraceError"),
    Absent(
        "fx._symbolic_trace",
        "Tracing",
        _GRAPHS,
        classes="Tracer",
        functions="symbolic_trace",
        answers={"is_fx_tracing": "False"},
    ),
    Absent("fx.experimental", "Parts of tracing", _GRAPHS),
    Absent(
        "fx.experimental.proxy_tensor",
        "Tracing by tensors",
        _GRAPHS,
        classes="ProxyTorchDispatchMode",
        functions="make_fx",
        answers={"get_proxy_mode": "None"},
    ),
    Absent(
        "_subclasses",
        "Tensors without memory, for tracing",
        _FAKE,
        classes="CrossRefFakeMode DynamicOutputShapeException FakeTensor FakeTensorMode "
        "UnsupportedFakeTensorException",
    ),
    Absent(
        "_subclasses.fake_tensor",
        "Tensors without memory, for tracing",
        _FAKE,
        classes="FakeTensor FakeTensorConverter FakeTensorMode",
        functions="unset_fake_temporarily",
        answers={"is_fake": "False"},
    ),
    Absent(
        "_subclasses.functional_tensor",
        "Tensors without writes, for tracing",
        _FAKE,
        classes="FunctionalTensor FunctionalTensorMode",
    ),
    Absent(
        "onnx",
        "Writing ONNX files",
        _ONNX,
        classes="ExportOptions ONNXProgram OnnxExporterError OperatorExportTypes TrainingMode",
        functions="dynamo_export export",
        answers={
            "is_in_onnx_export": "False",
            "register_custom_op_symbolic": "None",
            "unregister_custom_op_symbolic": "None",
        },
    ),
    *(Absent(f"onnx.symbolic_opset{n}", f"Rules of ONNX, version {n}", _ONNX) for n in (9, 11)),
    Absent("onnx.symbolic_helper", "Rules of ONNX", _ONNX, marks="parse_args quantized_args"),
    Absent("onnx.operators", "Shapes in ONNX", _ONNX, functions="reshape_from_tensor_shape"),
    Absent(
        "export",
        "Programs without Python",
        _GRAPHS,
        classes="Dim ExportedProgram ShapesCollection",
        functions="draft_export export load register_dataclass save unflatten",
    ),
    Absent(
        "nested",
        "Tensors of several lengths",
        "use torch.nn.utils.rnn.pad_sequence or PackedSequence",
        functions="as_nested_tensor narrow nested_tensor nested_tensor_from_jagged "
        "to_padded_tensor",
    ),
    Absent("ao", "Quantisation", _LOWER),
    Absent(
        "ao.quantization",
        "Quantised modules",
        _LOWER,
        classes="DeQuantStub FakeQuantize ObserverBase QConfig QuantStub",
        functions="convert fuse_modules get_default_qconfig prepare prepare_qat quantize_dynamic",
    ),
    Absent(
        "quantization",
        "Quantised modules, by their old place",
        _LOWER,
        classes="DeQuantStub FakeQuantize ObserverBase QConfig QuantStub",
        functions="convert fuse_modules get_default_qconfig prepare prepare_qat quantize_dynamic",
    ),
    Absent(
        "utils._python_dispatch",
        "Calls below autograd",
        "classes and modes see calls above autograd, by __torch_function__",
        classes="BaseTorchDispatchMode TorchDispatchMode",
        functions="_disable_current_modes return_and_correct_aliasing transform_subclass",
        answers={
            "_get_current_dispatch_mode": "None",
            "_get_current_dispatch_mode_stack": "[]",
            "is_traceable_wrapper_subclass": "False",
            "is_traceable_wrapper_subclass_type": "False",
        },
    ),
    Absent(
        "utils.cpp_extension",
        "Extensions in C++",
        _EXTENSION,
        classes="BuildExtension",
        functions="CUDAExtension CppExtension include_paths library_paths load load_inline",
        values={"CUDA_HOME": "None", "ROCM_HOME": "None", "CUDNN_HOME": "None"},
    ),
    Absent(
        "mps",
        "Apple's GPUs",
        _DEVICE,
        functions="current_allocated_memory driver_allocated_memory empty_cache get_rng_state "
        "recommended_max_memory seed set_per_process_memory_fraction set_rng_state synchronize",
        answers={"is_available": "False", "device_count": "0", "manual_seed": "None"},
    ),
    Absent(
        "xpu",
        "Intel's GPUs",
        _DEVICE,
        classes="Event Stream StreamContext",
        functions="current_device current_stream empty_cache get_device_capability "
        "get_device_name get_device_properties get_rng_state init mem_get_info memory_allocated "
        "memory_reserved memory_stats reset_peak_memory_stats set_device set_rng_state "
        "set_stream stream synchronize",
        answers={
            "is_available": "False",
            "is_initialized": "False",
            "is_bf16_supported": "False",
            "device_count": "0",
            "manual_seed": "None",
            "manual_seed_all": "None",
            "seed": "None",
            "seed_all": "None",
        },
    ),
    Absent(
        "mtia",
        "Meta's accelerators",
        _DEVICE,
        functions="current_device current_stream set_device synchronize",
        answers={
            "is_available": "False",
            "is_initialized": "False",
            "device_count": "0",
            "manual_seed_all": "None",
        },
    ),
    Absent(
        "sparse",
        "Sparse tensors",
        _SPARSE,
        classes="BFloat16Tensor ByteTensor DoubleTensor FloatTensor HalfTensor IntTensor "
        "LongTensor SparseSemiStructuredTensor",
        functions="addmm as_sparse_gradcheck log_softmax mm sampled_addmm softmax spdiags "
        "spsolve sum to_sparse_semi_structured",
    ),
    Absent(
        "absent_names",
        "Names of the package itself",
        "there are no sparse layouts, quantised dtypes, symbols or graphs",
        classes="CompilationUnit Event PyTorchFileReader PyTorchFileWriter QInt32Storage "
        "QInt8Storage QUInt8Storage ScriptFunction Stream SymBool SymFloat SymInt qscheme",
        functions="dequantize dsmm empty_quantized hsmm hspmm import_ir_module "
        "quantize_per_channel quantize_per_tensor quantize_per_tensor_dynamic "
        "resize_as_sparse_ saddmm smm sparse_bsc_tensor sparse_bsr_tensor "
        "sparse_compressed_tensor sparse_coo_tensor sparse_csc_tensor sparse_csr_tensor spmm "
        "sspaddmm while_loop",
        answers={
            "compiled_with_cxx11_abi": "True",
            "init_num_threads": "None",
            "is_autocast_ipu_enabled": "False",
            "is_autocast_xla_enabled": "False",
            "is_distributed": "False",
            "is_vulkan_available": "False",
            "set_flush_denormal": "False",
        },
        values={
            "has_lapack": "True",
            "has_mkl": "False",
            "has_mkldnn": "False",
            "has_openmp": "False",
            "has_spectral": "True",
        },
        place="torch",
    ),
    Absent(
        "_custom_ops",
        "Operators that programs bring, by their old place",
        _EXTENSION,
        functions="custom_op",
        marks="impl impl_abstract",
    ),
    Absent(
        "_dynamo.utils",
        "What the compiler asks",
        _COMPILER,
        answers={"is_compile_supported": "False"},
    ),
    Absent(
        "_dynamo._trace_wrapped_higher_order_op",
        "Indices inside compiled code",
        _COMPILER,
        classes="TransformGetItemToIndex",
    ),
    Absent(
        "nn.attention.flex_attention",
        "Attention with a compiled rule",
        "use torch.nn.functional.scaled_dot_product_attention with a mask",
        classes="AuxRequest BlockMask",
        functions="create_block_mask create_mask flex_attention",
        values={"_DEFAULT_SPARSE_BLOCK_SIZE": "128"},
    ),
    Absent(
        "utils.flop_counter",
        "Counting operations",
        "torch.profiler counts calls and times them",
        classes="FlopCounterMode",
    ),
    Absent(
        "distributed.algorithms.join",
        "Uneven inputs",
        _PROCESSES,
        classes="Join JoinHook Joinable",
    ),
    Absent("distributed.algorithms", "Algorithms of several processes", _PROCESSES),
    Absent(
        "distributed.checkpoint",
        "Files of several processes",
        "use torch.save and torch.load",
        classes="FileSystemReader FileSystemWriter",
        functions="load load_state_dict save save_state_dict",
    ),
    Absent(
        "distributed.checkpoint.state_dict",
        "State dicts of several processes",
        "use state_dict and load_state_dict of the module",
        classes="StateDictOptions",
        functions="get_model_state_dict get_optimizer_state_dict get_state_dict "
        "set_model_state_dict set_optimizer_state_dict set_state_dict",
    ),
    Absent(
        "distributed.device_mesh",
        "Arrangements of devices",
        _PROCESSES,
        classes="DeviceMesh",
        functions="init_device_mesh",
    ),
    Absent(
        "distributed.distributed_c10d",
        "Process groups",
        _PROCESSES,
        classes="ProcessGroup ReduceOp Store",
        functions="_get_default_group",
    ),
    Absent(
        "distributed.fsdp",
        "Parameters on several devices",
        _PROCESSES,
        classes="BackwardPrefetch CPUOffload CPUOffloadPolicy FSDPModule FullStateDictConfig "
        "FullyShardedDataParallel MixedPrecision MixedPrecisionPolicy OffloadPolicy "
        "OptimStateKeyType ShardingStrategy StateDictType",
        functions="fully_shard",
    ),
    Absent(
        "distributed.fsdp.fully_sharded_data_parallel",
        "Parameters on several devices",
        _PROCESSES,
        classes="BackwardPrefetch CPUOffload FullStateDictConfig FullyShardedDataParallel "
        "MixedPrecision ShardingStrategy StateDictType",
    ),
    Absent(
        "distributed.fsdp.sharded_grad_scaler",
        "Scaled losses",
        _PROCESSES,
        classes="ShardedGradScaler",
    ),
    Absent(
        "distributed.fsdp.wrap",
        "Which modules to spread",
        _PROCESSES,
        classes="ModuleWrapPolicy",
        functions="enable_wrap size_based_auto_wrap_policy transformer_auto_wrap_policy wrap",
    ),
    Absent(
        "distributed.optim",
        "Optimizers of several processes",
        "use the optimizers of torch.optim",
        classes="DistributedOptimizer PostLocalSGDOptimizer ZeroRedundancyOptimizer",
    ),
    Absent(
        "distributed.rpc",
        "Calls to other processes",
        _PROCESSES,
        functions="init_rpc rpc_async rpc_sync shutdown",
        answers={"is_available": "False"},
    ),
    Absent(
        "distributed.tensor",
        "Tensors on several devices",
        _PROCESSES,
        classes="DTensor DeviceMesh Partial Placement Replicate Shard",
        functions="distribute_module distribute_tensor",
    ),
    Absent(
        "distributed.absent_names",
        "Names of the package itself",
        _PROCESSES,
        classes="Backend DeviceMesh FileStore GroupMember HashStore P2POp PrefixStore "
        "ProcessGroup ReduceOp Store TCPStore Work group",
        functions="all_gather all_gather_into_tensor all_gather_object all_reduce all_to_all "
        "all_to_all_single barrier batch_isend_irecv broadcast broadcast_object_list "
        "destroy_process_group gather gather_object get_backend get_global_rank "
        "get_process_group_ranks init_device_mesh init_process_group irecv isend "
        "monitored_barrier new_group new_subgroups recv reduce reduce_scatter "
        "reduce_scatter_tensor scatter scatter_object_list send split_group",
        place="torch.distributed",
    ),
    Absent(
        "backends.opt_einsum",
        "Orders of products",
        "operands of einsum are multiplied from left to right",
        answers={"is_available": "False"},
        values={"enabled": "False", "strategy": "None"},
    ),
    Absent("backends.openmp", "OpenMP", _DEVICE, answers={"is_available": "False"}),
    Absent("backends.xnnpack", "XNNPACK", _DEVICE, values={"enabled": "False"}),
    Absent("backends.quantized", "Quantisation", _LOWER, values={"engine": '"none"'}),
)


@dataclass(frozen=True, slots=True)
class Layout:
    """What the template prints of a module."""

    doc: str
    remedy: str
    path: str
    """Its name in PyTorch."""
    stand_ins: list[tuple[str, str]]
    """Names, and which stand-in each is."""
    refuses: bool
    """Whether something needs the remedy."""
    answers: list[tuple[str, str]]
    values: list[tuple[str, str]]
    submodules: list[str]
    package: str
    exported: list[str]


def emit() -> Iterable[File]:
    """Emit the modules of the table."""
    for module in MODULES:
        is_package = bool(_below(module))
        path = module.path.replace(".", "/") + ("/__init__.py" if is_package else ".py")
        yield render(path, "absent_module.py.jinja", module=_layout(module))


def names(path: str) -> list[str]:
    """Return the names of one module of the table."""
    return next(_layout(module).exported for module in MODULES if module.path == path)


def _below(module: Absent) -> list[str]:
    return [
        other.path.rpartition(".")[2]
        for other in MODULES
        if other.path.rpartition(".")[0] == module.path
    ]


def _layout(module: Absent) -> Layout:
    named = {"kind": module.classes, "function": module.functions, "mark": module.marks}
    stand_ins = [(name, word) for word, names in named.items() for name in names.split()]
    exported = [name for name, _ in stand_ins] + [*module.answers, *module.values]
    return Layout(
        module.doc,
        module.remedy,
        module.place or f"torch.{module.path}",
        sorted(stand_ins),
        any(word != "mark" for _, word in stand_ins),
        sorted(module.answers.items()),
        sorted(module.values.items()),
        sorted(_below(module), key=_exported_order),
        f"torchgen_out.{module.path}",
        sorted(exported, key=_exported_order),
    )


def _exported_order(name: str) -> tuple[int, list[tuple[int, str]]]:
    """Constants, classes, then the rest; numbers in names as numbers."""
    kind = 0 if name.isupper() and len(name) > 1 else 1 if name[:1].isupper() else 2
    parts = re.split(r"(\d+)", name)
    return kind, [(int(part), "") if part.isdigit() else (-1, part) for part in parts]
