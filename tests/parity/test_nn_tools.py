"""Tools around modules do what PyTorch's do: lazy layers, pruning, fusion, averages of weights."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from functools import partial
from typing import Any

import numpy as np
import pytest

import torchgen_out as ours
import torchgen_out.nn.utils.stateless
import torchgen_out.optim.swa_utils

theirs = pytest.importorskip("torch")
theirs_prune = pytest.importorskip("torch.nn.utils.prune")


def array(*shape: int) -> Any:
    return np.cos(np.arange(np.prod(shape)) * 0.7 + len(shape)).astype(np.float32).reshape(shape)


def same(mine: Any, wanted: Any) -> None:
    np.testing.assert_allclose(mine.detach().numpy(), wanted.detach().numpy(), rtol=1e-5, atol=1e-5)


def give(source: Any, target: Any) -> None:
    """Copy parameters and buffers of PyTorch's module to ours."""
    state = {
        key: ours.from_numpy(value.numpy().copy()) for key, value in source.state_dict().items()
    }
    assert list(target.load_state_dict(state)) == [[], []]


LAZY = [
    ("LazyLinear", (3,), (4, 5)),
    ("LazyConv1d", (4, 3, 2, 1), (3, 9)),
    ("LazyConv2d", (4, 3), (2, 3, 8, 8)),
    ("LazyConvTranspose1d", (4, 3), (2, 3, 8)),
    ("LazyBatchNorm2d", (), (2, 3, 4, 4)),
    ("LazyInstanceNorm1d", (), (2, 3, 4)),
]


@pytest.mark.parametrize(("name", "args", "shape"), LAZY, ids=[case[0] for case in LAZY])
def test_lazy_layers(name: str, args: Any, shape: Any) -> None:
    wanted, mine = getattr(theirs.nn, name)(*args), getattr(ours.nn, name)(*args)
    assert repr(mine) == repr(wanted)
    if mine.weight is not None:
        with pytest.raises(RuntimeError, match="uninitialized parameter"):
            _ = mine.weight.shape
    others = [copy.deepcopy(mine), pickle.loads(pickle.dumps(mine))]
    expected = wanted(theirs.from_numpy(array(*shape)))
    give(wanted, mine)
    for module in (mine, *others):
        module(ours.from_numpy(array(*shape)))
        give(wanted, module)
        assert repr(module) == repr(wanted)
        assert type(module).__name__ == type(wanted).__name__
        assert "_initialize_hook" not in vars(module)
        if name != "LazyBatchNorm2d":  # whose statistics went on
            same(module(ours.from_numpy(array(*shape))), expected)


@pytest.mark.parametrize("size", [3, 4, 5, 6])
def test_cross_map(size: int) -> None:
    values = array(2, 7, 3, 3)
    mine = ours.nn.CrossMapLRN2d(size, 0.1)(ours.from_numpy(values))
    same(mine, theirs.nn.CrossMapLRN2d(size, 0.1)(theirs.from_numpy(values)))


def normalised(library: Any, kind: str) -> tuple[Any, Any]:
    """A layer and a batch norm in evaluation mode, with statistics of their own."""
    layer = getattr(library.nn, kind)(*((3, 4) if kind == "Linear" else (3, 4, 3)))
    norm = library.nn.BatchNorm1d(4) if kind == "Linear" else library.nn.BatchNorm2d(4)
    for module in (layer, norm):
        for tensor in (*module.parameters(), *module.buffers()):
            if tensor.dim():
                tensor.data.copy_(library.from_numpy(np.abs(array(*tensor.shape)) + 0.1))
    return layer.eval(), norm.eval()


@pytest.mark.parametrize("kind", ["Conv2d", "ConvTranspose2d", "Linear"])
def test_fusion(kind: str) -> None:
    fused = []
    for library in (ours, theirs):
        layer, norm = normalised(library, kind)
        utils = library.nn.utils
        if kind == "Linear":
            fused.append(utils.fuse_linear_bn_eval(layer, norm))
        else:
            fused.append(utils.fuse_conv_bn_eval(layer, norm, kind == "ConvTranspose2d"))
        with pytest.raises(AssertionError):
            utils.fuse_conv_bn_eval(layer, norm.train())
    same(fused[0].weight, fused[1].weight)
    same(fused[0].bias, fused[1].bias)


PRUNING = [
    ("identity", ()),
    ("l1_unstructured", (0.3,)),
    ("l1_unstructured", (4,)),
    ("ln_structured", (2, 2, 0)),
    ("ln_structured", (0.4, 1, -1)),
]


@pytest.mark.parametrize(("name", "args"), PRUNING, ids=str)
def test_pruning_twice(name: str, args: Any) -> None:
    mine, wanted = ours.nn.Linear(6, 5), theirs.nn.Linear(6, 5)
    give(wanted, mine)
    for library, module in ((ours, mine), (theirs, wanted)):
        prune = library.nn.utils.prune
        for _ in range(2):
            getattr(prune, name)(module, "weight", *args)
        assert prune.is_pruned(module)
    assert list(mine.state_dict()) == list(wanted.state_dict())
    same(mine.weight_mask, wanted.weight_mask)
    same(mine.weight, wanted.weight)
    for library, module in ((ours, mine), (theirs, wanted)):
        library.nn.utils.prune.remove(module, "weight")
        assert not library.nn.utils.prune.is_pruned(module)
    assert list(mine.state_dict()) == list(wanted.state_dict())
    same(mine.weight, wanted.weight)


@pytest.mark.parametrize(
    ("amount", "error"),
    [("half", TypeError), (-1, ValueError), (1.5, ValueError), (31, ValueError)],
)
def test_amounts_that_cannot_be_pruned(amount: Any, error: type[Exception]) -> None:
    for library in (ours, theirs):
        module = library.nn.Linear(6, 5)
        with pytest.raises(error):
            library.nn.utils.prune.random_unstructured(module, "weight", amount)
        assert list(module.state_dict()) == ["weight", "bias"] or library is theirs


def test_pruning_of_several_parameters_together() -> None:
    networks = []
    for library in (ours, theirs):
        network = library.nn.Sequential(library.nn.Linear(6, 5), library.nn.Linear(5, 3))
        for parameter in network.parameters():
            parameter.data.copy_(library.from_numpy(array(*parameter.shape)))
        prune = library.nn.utils.prune
        places = [(network[0], "weight"), (network[1], "weight")]
        prune.global_unstructured(places, pruning_method=prune.L1Unstructured, amount=10)
        networks.append(network)
    for layer in (0, 1):
        same(networks[0][layer].weight_mask, networks[1][layer].weight_mask)


def test_functional_call() -> None:
    layer = ours.nn.Linear(3, 2)
    weight = ours.ones(2, 3, requires_grad=True)
    call = ours.nn.utils.stateless.functional_call
    call(layer, {"weight": weight}, ours.ones(1, 3)).sum().backward()
    assert weight.grad is not None and layer.weight.grad is None
    assert isinstance(layer.weight, ours.nn.Parameter)
    with pytest.raises(RuntimeError, match="Missing key"):
        call(layer, {"weight": weight}, ours.ones(1, 3), strict=True)
    square = ours.nn.Linear(3, 3)
    tied = ours.nn.Sequential(square, square)
    tied.register_parameter("again", square.weight)
    once = call(tied, {"again": ours.zeros(3, 3)}, ours.ones(1, 3))
    same(once, square.bias.unsqueeze(0))
    with pytest.raises(ValueError, match="tied"):
        values = {"again": ours.zeros(3, 3), "0.weight": ours.ones(3, 3)}
        call(tied, values, ours.ones(1, 3))


@pytest.mark.parametrize("kind", ["equal", "ema of all", "ema of each", "buffers"])
def test_averages_of_weights(kind: str) -> None:
    results = []
    for library in (ours, theirs):
        tools = library.optim.swa_utils
        options: dict[str, Any] = {
            "equal": {},
            "ema of all": {"multi_avg_fn": tools.get_ema_multi_avg_fn(0.9)},
            "ema of each": {"avg_fn": tools.get_ema_avg_fn(0.9)},
            "buffers": {"use_buffers": True},
        }[kind]
        model = library.nn.Sequential(library.nn.Linear(3, 4), library.nn.BatchNorm1d(4))
        for parameter in model.parameters():
            parameter.data.copy_(library.from_numpy(array(*parameter.shape)))
        average = tools.AveragedModel(model, **options)
        optimizer = library.optim.SGD(model.parameters(), lr=0.5)
        schedule = tools.SWALR(optimizer, swa_lr=0.05, anneal_epochs=3)
        inputs, rates = library.from_numpy(array(10, 3)), []
        for _ in range(5):
            optimizer.zero_grad()
            model(inputs).square().mean().backward()
            optimizer.step()
            schedule.step()
            average.update_parameters(model)
            rates.append(optimizer.param_groups[0]["lr"])
        tools.update_bn([inputs, (inputs * 2,)], average)
        results.append((rates, average.state_dict()))
    np.testing.assert_allclose(results[0][0], results[1][0])
    assert list(results[0][1]) == list(results[1][1])
    for key, value in results[0][1].items():
        same(value, results[1][1][key])


def test_data_parallel_on_the_cpu_is_the_module() -> None:
    layer = ours.nn.Linear(3, 2)
    wrapped = ours.nn.DataParallel(layer)
    assert list(wrapped.state_dict()) == ["module.weight", "module.bias"]
    same(wrapped(ours.ones(1, 3)), layer(ours.ones(1, 3)))
    with pytest.raises(RuntimeError, match="not provided"):
        ours.nn.DataParallel(layer, device_ids=[0, 1])
    with pytest.raises(ValueError, match="has not been initialized"):
        ours.nn.parallel.DistributedDataParallel(layer)


def test_sync_batch_norm_of_one_process() -> None:
    network = ours.nn.Sequential(ours.nn.Conv2d(3, 4, 3), ours.nn.BatchNorm2d(4))
    converted = ours.nn.SyncBatchNorm.convert_sync_batchnorm(copy.deepcopy(network))
    assert type(converted[1]) is ours.nn.SyncBatchNorm
    values = ours.from_numpy(array(2, 3, 5, 5))
    same(converted(values), network(values))
    assert list(converted.state_dict()) == list(network.state_dict())


def test_hooks_of_all_modules() -> None:
    seen: list[tuple[str, str]] = []
    register = ours.nn.modules.module
    handles = [
        register.register_module_forward_pre_hook(
            lambda module, args: seen.append(("before", type(module).__name__))
        ),
        register.register_module_forward_hook(
            lambda module, args, output: seen.append(("after", type(module).__name__))
        ),
        register.register_module_full_backward_hook(
            lambda module, *grads: seen.append(("backward", type(module).__name__))
        ),
    ]
    layer = ours.nn.Linear(3, 2)
    layer(ours.ones(1, 3, requires_grad=True)).sum().backward()
    for handle in handles:
        handle.remove()
    assert seen == [("before", "Linear"), ("after", "Linear"), ("backward", "Linear")]
    layer(ours.ones(1, 3, requires_grad=True)).sum().backward()
    assert len(seen) == 3


def test_parameters_that_wait_for_a_shape_are_not_counted() -> None:
    for library in (ours, theirs):
        with pytest.raises(ValueError, match="use an uninitialized parameter"):
            library.nn.LazyLinear(3).weight.numel()


WAITING = """
p + 1
m.relu(p)
m.stack([p])
p.sum()
p[0]
len(p)
p.dim()
p.zero_()
p.clone()
p.tolist()
p == p
m.nn.functional.linear(m.ones(1, 2), p)
m.nn.init.ones_(p)
p.dtype
p.device
p.requires_grad
p.grad
p.size()
p.double().dtype
p.to(m.float64).dtype
hash(p) == hash(p)
"""


@pytest.mark.parametrize("code", WAITING.split("\n")[1:-1])
@pytest.mark.parametrize("kind", ["UninitializedParameter", "UninitializedBuffer"])
def test_tensors_that_wait_for_a_shape_compute_nothing(code: str, kind: str) -> None:
    def outcome(module: Any) -> str:
        try:
            return repr(eval(code, {"m": module, "p": getattr(module.nn, kind)()}))
        except (ValueError, RuntimeError) as error:
            return type(error).__name__ + str(error)[:45]

    assert outcome(ours).replace("torchgen_out", "torch") == outcome(theirs)


def test_lazy_convolutions_take_their_arguments_by_position() -> None:
    for library in (ours, theirs):
        layer = library.nn.LazyConv1d(2, 3, 2, 1, 1, 1, False, "circular")
        assert layer(library.ones(1, 4, 6)).shape == (1, 2, 3)
        assert layer.bias is None
        turned = library.nn.LazyConvTranspose1d(2, 3, 2, 1, 1, 1, False, 2)
        assert turned(library.ones(1, 4, 6)).shape == (1, 2, 14)
        assert turned.bias is None


def test_packed_sequences_change_dtype() -> None:
    for library in (ours, theirs):
        pack = library.nn.utils.rnn.pack_sequence
        packed = pack([library.ones(1, 2), library.ones(3, 2)], enforce_sorted=False)
        names = ("double", "half", "long", "int", "short", "char", "byte", "float", "cpu")
        found = {each: getattr(packed, each)() for each in names}
        for name, each in found.items():
            assert each.data.dtype is getattr(packed.data, name)().dtype
            assert each.sorted_indices.tolist() == [1, 0]
            assert each.batch_sizes is packed.batch_sizes
        assert found["float"] is packed is found["cpu"]
        assert not packed.is_pinned()


def test_bags_of_a_given_table() -> None:
    for library in (ours, theirs):
        table = library.arange(6.0).view(3, 2)
        bag = library.nn.EmbeddingBag.from_pretrained(table, True, None, 2.0, False, "sum")
        assert bag(library.tensor([[0, 2]])).tolist() == [[4, 6]]
        assert not bag.weight.requires_grad
        trained = library.nn.EmbeddingBag.from_pretrained(table, freeze=False, padding_idx=0)
        assert trained(library.tensor([[0, 2]])).tolist() == [[4, 5]]
        assert trained.weight.requires_grad
        with pytest.raises(AssertionError, match="2-dimensional"):
            library.nn.EmbeddingBag.from_pretrained(table[0])


def test_a_sequence_of_modules_repeated_in_place() -> None:
    for library in (ours, theirs):
        modules = library.nn.Sequential(library.nn.ReLU(), library.nn.Tanh())
        kept = modules
        modules *= 2
        assert kept is modules
        assert [type(each).__name__ for each in modules] == ["ReLU", "Tanh"] * 2
        assert len(list(modules.modules(remove_duplicate=False))) == 5
        with pytest.raises(ValueError, match="Non-positive multiplication factor"):
            modules *= 0


def test_parameters_of_a_dict_come_by_name() -> None:
    """In this order optimizers number them, and `parameters()` gives them."""
    for library in (ours, theirs):
        values = {name: library.ones(1) for name in "cab"}
        parameters = library.nn.ParameterDict(values)
        assert list(parameters) == [name for name, _ in parameters.named_parameters()] == [*"abc"]
        assert list(library.nn.ParameterDict(OrderedDict(values))) == [*"cab"]
        assert list(library.nn.ParameterDict(values.items())) == [*"cab"]
        kept = library.nn.ParameterDict(values.items())
        assert list(library.nn.ParameterDict(kept)) == [*"cab"]
        kept.update({"e": 1, "d": library.ones(2)})
        assert list(kept) == [*"cabde"]
        assert list(library.nn.ModuleDict(dict.fromkeys("cab", library.nn.ReLU()))) == [*"cab"]


def test_a_module_on_meta_cannot_be_moved() -> None:
    for library in (ours, theirs):
        with pytest.raises(NotImplementedError, match=r"use torch.nn.Module.to_empty\(\) instead"):
            library.nn.Linear(2, 2, device="meta").to("cpu")


def test_hooks_of_an_optimizer_put_first() -> None:
    for library in (ours, theirs):
        optimizer = library.optim.SGD([library.ones(1, requires_grad=True)], lr=1.0)
        for kind in ("state_dict", "load_state_dict"):
            seen: list[str] = []
            first, second = partial(_note, seen, "first"), partial(_note, seen, "second")
            for when in ("pre", "post"):
                register = getattr(optimizer, f"register_{kind}_{when}_hook")
                register(second)
                register(first, prepend=True)
            optimizer.load_state_dict(optimizer.state_dict())
            assert seen[:4] == ["first", "second"] * 2


def _note(seen: list[str], what: str, *args: Any) -> None:
    seen.append(what)


def test_clipping_the_gradients_of_an_exhausted_generator_is_told() -> None:
    for library in (ours, theirs):
        with pytest.warns(UserWarning, match="`parameters` is an empty generator"):
            library.nn.utils.clip_grad_norm_((each for each in ()), 1.0)


@pytest.mark.filterwarnings("ignore:for bias")
def test_numbers_that_are_copied_nowhere_are_told() -> None:
    for library in (ours, theirs):
        state = library.nn.Linear(2, 3).state_dict()
        module = library.nn.Linear(2, 3, device="meta")
        with pytest.warns(UserWarning, match="for weight: copying from a non-meta parameter"):
            module.load_state_dict(state)
        module.load_state_dict(state, assign=True)
        assert not module.weight.is_meta


@pytest.mark.filterwarnings("ignore:The PyTorch API of nested tensors")
@pytest.mark.parametrize("case", ["evaluated", "trained", "recorded", "masked", "scattered"])
def test_padding_of_an_encoder(case: str) -> None:
    """Rows that end early are zeros where PyTorch computes rows of several lengths."""
    ends = [[0, 0, 0, 1], [0, 1, 1, 1]] if case != "scattered" else [[0, 1, 0, 1], [0, 1, 1, 1]]
    found: list[Any] = []
    for library in (theirs, ours):
        layer = library.nn.TransformerEncoderLayer(8, 2, 16, 0.0, batch_first=True)
        module = library.nn.TransformerEncoder(layer, 2, library.nn.LayerNorm(8))
        if found:
            give(found[0], module)
        module.train(case == "trained")
        options = {"mask": library.zeros(4, 4).bool()} if case == "masked" else {}
        with library.set_grad_enabled(case == "recorded"):
            x, padding = library.from_numpy(array(2, 4, 8)), library.tensor(ends).bool()
            found += [module, module(x, src_key_padding_mask=padding, **options)]
        assert module.use_nested_tensor and module.enable_nested_tensor
    same(found[3], found[1])
