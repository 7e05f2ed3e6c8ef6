"""Every name that a public module of PyTorch exports is here, or known to be missing."""

from __future__ import annotations

import gc
import importlib
import inspect
from typing import Any

import pytest

import torchgen_out as ours

theirs = pytest.importorskip("torch")

MODULES = [
    "amp",
    "autograd",
    "autograd.forward_ad",
    "autograd.function",
    "autograd.functional",
    "autograd.grad_mode",
    "autograd.graph",
    "distributions",
    "distributions.constraints",
    "distributions.transforms",
    "fft",
    "func",
    "futures",
    "hub",
    "library",
    "linalg",
    "masked",
    "multiprocessing",
    "nn",
    "nn.functional",
    "nn.init",
    "nn.utils",
    "nn.utils.parametrizations",
    "nn.utils.prune",
    "nn.utils.rnn",
    "optim",
    "optim.lr_scheduler",
    "optim.swa_utils",
    "overrides",
    "random",
    "signal.windows",
    "sparse",
    "special",
    "storage",
    "testing",
    "utils.checkpoint",
    "utils.data",
    "utils.dlpack",
    "utils.weak",
]
MISSING = {
    "autograd": "NestedIOFunction enforce_grad_layout_policy",
    "autograd.function": "BackwardCFunction NestedIOFunction",
    "autograd.grad_mode": "enforce_grad_layout_policy",
    "autograd.graph": "region_activation_memory_budget set_override_stale_capture_stream "
    "set_warn_on_accumulate_grad_stream_mismatch",
    "fft": "Tensor",
    "func": "debug_unwrap rearrange",
    "masked": "MaskedTensor as_masked_tensor is_masked_tensor masked_tensor",
    "nn": "factory_kwargs",
    "nn.functional": "ScalingType SwizzleType assert_int_or_pair scaled_grouped_mm scaled_mm",
    "optim": "swap_in_optimizer_params_and_state",
    "overrides": "enable_reentrant_dispatch redispatch_function",
    "random": "thread_safe_generator",
    "sparse": "SparseSemiStructuredTensorCUSPARSELT SparseSemiStructuredTensorCUTLASS solve",
    "testing": "assert_allclose",
    "utils.checkpoint": "GraphExecGroup",
    "utils.data": "DFIterDataPipe DataChunk IterDataPipe MapDataPipe _DatasetKind "
    "argument_validation functional_datapipe guaranteed_datapipes_determinism non_deterministic "
    "runtime_validation runtime_validation_disabled",
}


WITH_CLASSES = [
    "autograd.graph",
    "distributions",
    "nn",
    "nn.utils.rnn",
    "optim",
    "optim.lr_scheduler",
    "optim.swa_utils",
    "utils.data",
]
NOWHERE = {"T_destination", "arg_constraints", "ipu", "mtia", "xpu"}
NOWHERE |= {"OptimizerPostHook", "OptimizerPreHook", "profile_hook_step"}
"""Attributes of no class: annotations, devices that are not here, what abstract classes name."""
_RNN = "check_forward_args check_hidden_size check_input get_expected_hidden_size permute_hidden"
MISSING_METHODS = {
    "CatTransform": "length",
    "DataLoader": "check_worker_number_rationality",
    "DataParallel": "gather parallel_apply replicate scatter",
    "ConcatDataset": "cummulative_sizes",
    "GRU": _RNN,
    "GeneralizedPareto": "log_cdf log_survival_function",
    "LSTM": f"{_RNN} get_expected_cell_size",
    "MultiheadAttention": "merge_masks",
    "RNN": _RNN,
    "RNNBase": _RNN,
    "SequentialLR": "recursive_undo",
}
OTHER_KEYWORDS = {
    "CorrCholeskyTransform.log_abs_det_jacobian": "intermediates",
    "Hardtanh.__init__": "max_value min_value",
    "Transformer.forward": "memory_is_causal src_is_causal tgt_is_causal",  # **hints
    "NLLLoss2d.__init__": "ignore_index reduce reduction size_average weight",  # passed on
    **dict.fromkeys(
        [f"{each}Loss.__init__" for each in ("CosineEmbedding", "HingeEmbedding", "MarginRanking")],
        "reduce reduction size_average",  # passed on
    ),
}


def _exported(module: Any) -> list[str]:
    return getattr(module, "__all__", None) or [
        each
        for each, value in vars(module).items()
        if each[0] != "_" and str(getattr(value, "__module__", "")).startswith(module.__name__)
    ]


def _classes(name: str) -> list[tuple[type, type]]:
    module, own = (importlib.import_module(f"{each}.{name}") for each in ("torch", "torchgen_out"))
    pairs = [(getattr(module, each), getattr(own, each, None)) for each in _exported(module)]
    return [(a, b) for a, b in pairs if isinstance(a, type) and isinstance(b, type)]


@pytest.mark.parametrize("name", WITH_CLASSES)
def test_methods(name: str) -> None:
    for theirs_class, own in _classes(name):
        missing = {each for each in dir(theirs_class) if each[0] != "_" and not hasattr(own, each)}
        if not issubclass(theirs_class, theirs.Tensor):
            known = set(MISSING_METHODS.get(theirs_class.__name__, "").split())
            assert missing - NOWHERE == known, theirs_class


@pytest.mark.parametrize("name", WITH_CLASSES)
def test_keywords_of_methods(name: str) -> None:
    for theirs_class, own in _classes(name):
        for method, function in vars(theirs_class).items():
            is_public = method[0] != "_" or method == "__init__"
            if is_public and inspect.isfunction(function) and callable(getattr(own, method, None)):
                wanted = _keywords(function)
                missing = wanted - _keywords(getattr(own, method))
                title = f"{theirs_class.__name__}.{method}"
                assert missing == set(OTHER_KEYWORDS.get(title, "").split()), title


def _keywords(function: Any) -> set[str]:
    parameters = inspect.signature(function).parameters.values()
    several = (inspect.Parameter.VAR_POSITIONAL, inspect.Parameter.VAR_KEYWORD)
    return {each.name for each in parameters if each.kind not in several and each.name != "self"}


@pytest.mark.parametrize("name", MODULES)
def test_exported_names(name: str) -> None:
    module = importlib.import_module(f"torch.{name}")
    own = importlib.import_module(f"torchgen_out.{name}")
    missing = {each for each in _exported(module) if not hasattr(own, each)}
    assert missing == set(MISSING.get(name, "").split())


@pytest.fixture(params=[ours, theirs], ids=["ours", "theirs"])
def torch(request: pytest.FixtureRequest) -> Any:
    return request.param


def test_tensors_as_keys(torch: Any) -> None:
    weak = importlib.import_module(f"{torch.__name__}.utils.weak")
    known, key = weak.WeakTensorKeyDictionary(), torch.ones(2)
    known[key] = 3
    assert known[key] == 3
    assert torch.ones(2) not in known
    assert len(known.copy()) == 1
    del key
    gc.collect()
    assert len(known) == 0
    reference = weak.WeakIdRef(known)
    assert reference == weak.WeakIdRef(known)


def test_tensors_that_change_places(torch: Any) -> None:
    layer = torch.nn.Linear(2, 2)
    weight, other = layer.weight, torch.zeros(3, 2, requires_grad=True)
    other.mark = 1
    torch.utils.swap_tensors(layer.weight, other)
    assert layer.weight is weight
    assert weight.shape == (3, 2)
    assert weight.mark == 1
    assert isinstance(other, torch.nn.Parameter)
    assert not isinstance(weight, torch.nn.Parameter)


def test_batch_norms_without_statistics(torch: Any) -> None:
    layers = torch.nn.Sequential(torch.nn.Linear(2, 2), torch.nn.BatchNorm1d(2))
    assert torch.func.replace_all_batch_norm_modules_(layers) is layers
    assert "track_running_stats=False" in repr(layers)
    assert [name for name, _ in layers.named_buffers()] == []


def test_what_is_saved_may_be_written_to(torch: Any) -> None:
    with torch.autograd.graph.allow_mutation_on_saved_tensors():
        x = torch.ones(3, requires_grad=True)
        y = x * 2
        z = y * y
        y.add_(5)
        z.sum().backward()
        assert x.grad.tolist() == [8, 8, 8]
        w = x.exp().sin()
    with pytest.raises(AssertionError, match="outside of the 'allow_mutation_on_saved_tensors'"):
        w.sum().backward()


@pytest.mark.parametrize(
    ("first", "second", "ends"),
    [
        ((5, 16), (2, 16, 32), (2, 5)),
        ((5, 16), (2, 16, 32), (2, 4)),
        ((2, 5, 16), (2, 16, 32), None),
        ((2, 5, 16), (16, 32), (16, 32)),
        ((5, 16), (16, 32), (8, 16)),
    ],
)
def test_products_of_groups(first: Any, second: Any, ends: Any) -> None:
    found = []
    for torch in (ours, theirs):
        a, b = (
            torch.arange(float(torch.Size(sizes).numel())).sin().reshape(sizes)
            for sizes in (first, second)
        )
        a.requires_grad_()
        offs = None if ends is None else torch.tensor(ends, dtype=torch.int32)
        result = torch.nn.functional.grouped_mm(a, b, offs=offs)
        defined = slice(4) if ends == (2, 4) else slice(None)
        rows = result[defined]
        rows.pow(2).sum().backward()
        found.append((rows.tolist(), a.grad[defined].tolist(), result.stride()))
    assert found[0][2] == found[1][2]
    for own, other in zip(found[0][:2], found[1][:2], strict=True):
        theirs.testing.assert_close(theirs.tensor(own), theirs.tensor(other), rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("dim", [0, 1, -1])
@pytest.mark.parametrize("name", ["unique", "unique_consecutive"])
def test_distinct_slices_lie_one_after_the_other(torch: Any, name: str, dim: int) -> None:
    x = torch.arange(24).reshape(2, 3, 4) % 3
    order = {0: (0, 1, 2), 1: (1, 0, 2), -1: (2, 0, 1)}[dim]
    found, places = getattr(torch, name)(x, dim=dim, return_inverse=True)
    assert found.permute(order).is_contiguous()
    assert found.index_select(dim, places).tolist() == x.tolist()


@pytest.mark.parametrize("training", [False, True])
def test_results_that_are_contiguous_whatever_the_operand(torch: Any, training: bool) -> None:
    x = torch.ones(3, 4).t()
    assert torch.nn.functional.rrelu(x, training=training).is_contiguous()
    parts = torch.nn.utils.rnn.unpad_sequence(torch.ones(3, 2), torch.tensor([3, 1]))
    assert all(part.is_contiguous() for part in parts)
