"""Modules: attributes, traversal, state, containers, conversion, copies."""

from __future__ import annotations

import copy
import pickle
from collections import OrderedDict
from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out import nn


class Net(nn.Module):
    """A small tree with everything in it."""

    def __init__(self) -> None:
        super().__init__()
        self.first = nn.Linear(3, 4)
        self.second = nn.Sequential(nn.ReLU(), nn.Linear(4, 2))
        self.scale = nn.Parameter(torch.ones(2))
        self.register_buffer("seen", torch.zeros(1))
        self.register_buffer("scratch", torch.zeros(1), persistent=False)

    def forward(self, x: Any) -> Any:
        return self.second(self.first(x)) * self.scale


NAMES = ["scale", "first.weight", "first.bias", "second.1.weight", "second.1.bias"]


# -- attributes -----------------------------------------------------------------------------------


def test_assignment_registers() -> None:
    net = Net()
    assert [name for name, _ in net.named_parameters()] == NAMES
    assert [name for name, _ in net.named_buffers()] == ["seen", "scratch"]
    assert [name for name, _ in net.named_modules()] == [
        "",
        "first",
        "second",
        "second.0",
        "second.1",
    ]
    assert {"first", "scale", "seen", "forward"} <= set(dir(net))


def test_assignment_moves_a_name_between_tables() -> None:
    net = Net()
    net.first = None
    assert net.first is None and "first" in net._modules
    del net.first
    net.first = nn.Parameter(torch.zeros(1))
    assert "first" in net._parameters and "first" not in net._modules
    net.scale = None
    assert net.scale is None
    net.seen = torch.ones(2)
    assert net.seen.shape == (2,) and "seen" in net._buffers


@pytest.mark.parametrize(
    ("name", "value", "phrase"),
    [
        ("scale", torch.ones(2), "cannot assign 'torch.FloatTensor' as parameter 'scale'"),
        ("first", 3, "cannot assign 'int' as child module 'first'"),
        ("seen", 3, "cannot assign 'int' as buffer 'seen'"),
    ],
)
def test_wrong_assignments(name: str, value: Any, phrase: str) -> None:
    with pytest.raises(TypeError, match=phrase):
        setattr(Net(), name, value)


def test_registration_checks_names() -> None:
    net = Net()
    with pytest.raises(KeyError, match="already exists"):
        net.register_buffer("forward", None)
    with pytest.raises(KeyError, match=r"name can.*contain"):
        net.register_parameter("a.b", None)
    with pytest.raises(KeyError, match="be empty string"):
        net.add_module("", None)
    with pytest.raises(TypeError, match="is not a Module subclass"):
        net.add_module("x", 3)
    with pytest.raises(ValueError, match="non-leaf Tensor"):
        net.register_parameter("y", nn.Parameter(torch.ones(1)) if False else _computed())


def _computed() -> Any:
    parameter = nn.Parameter(torch.ones(1))
    parameter._edge = (torch.ones(1, requires_grad=True) * 2)._edge
    return parameter


def test_missing_init_and_missing_attribute() -> None:
    class Forgets(nn.Module):
        def __init__(self) -> None:
            self.weight = nn.Parameter(torch.ones(1))

    with pytest.raises(AttributeError, match=r"before Module.__init__\(\) call"):
        Forgets()
    with pytest.raises(AttributeError, match="'Net' object has no attribute 'third'"):
        _ = Net().third
    with pytest.raises(NotImplementedError, match='missing the required "forward" function'):
        nn.Module()(1)


# -- traversal ------------------------------------------------------------------------------------


def test_shared_parts_are_visited_once() -> None:
    shared = nn.Linear(2, 2)
    net = nn.ModuleList([shared, shared])
    assert len(list(net.parameters())) == 2
    assert len(list(net.named_parameters(remove_duplicate=False))) == 4
    assert len(list(net.modules())) == 2


def test_paths() -> None:
    net = Net()
    assert net.get_submodule("second.1") is net.second[1]
    assert net.get_submodule("") is net
    assert net.get_parameter("second.1.bias") is net.second[1].bias
    assert net.get_buffer("seen") is net.seen
    net.set_submodule("second.0", nn.Tanh())
    assert isinstance(net.second[0], nn.Tanh)
    for call, phrase in (
        (lambda: net.get_submodule("second.7"), "has no attribute `7`"),
        (lambda: net.get_submodule("scale"), "`scale` is not an nn.Module"),
        (lambda: net.get_parameter("seen"), "`seen` is not an nn.Parameter"),
        (lambda: net.get_buffer("scale"), "`scale` is not a buffer"),
    ):
        with pytest.raises(AttributeError, match=phrase):
            call()


def test_modes_and_apply() -> None:
    net = Net()
    assert all(not module.training for module in net.eval().modules())
    assert all(module.training for module in net.train().modules())
    with pytest.raises(ValueError, match="expected to be boolean"):
        net.train("yes")
    order: list[str] = []
    net.apply(lambda module: order.append(type(module).__name__))
    assert order == ["Linear", "ReLU", "Linear", "Sequential", "Net"]
    assert not any(p.requires_grad for p in net.requires_grad_(False).parameters())


# -- state ----------------------------------------------------------------------------------------


def test_state_dict_round_trip() -> None:
    net, other = Net(), Net()
    state = net.state_dict()
    assert list(state) == [NAMES[0], "seen", *NAMES[1:]]
    assert not any(tensor.requires_grad for tensor in state.values())
    assert state["scale"].data_ptr() == net.scale.data_ptr()
    assert repr(other.load_state_dict(state)) == "<All keys matched successfully>"
    for mine, theirs in zip(net.parameters(), other.parameters(), strict=True):
        assert torch.equal(mine, theirs) and mine is not theirs
    assert next(iter(net.state_dict(keep_vars=True).values())) is net.scale


def test_load_state_dict_lists_all_mistakes() -> None:
    net = Net()
    state = net.state_dict()
    del state["first.bias"]
    state["extra"] = torch.ones(1)
    state["scale"] = torch.ones(3)
    with pytest.raises(RuntimeError) as caught:
        net.load_state_dict(state)
    message = str(caught.value)
    assert message.startswith("Error(s) in loading state_dict for Net:\n\t")
    assert 'Missing key(s) in state_dict: "first.bias". ' in message
    assert 'Unexpected key(s) in state_dict: "extra". ' in message
    assert "size mismatch for scale: copying a param with shape torch.Size([3])" in message
    state["scale"] = torch.ones(2)
    result = net.load_state_dict(state, strict=False)
    assert result.missing_keys == ["first.bias"]
    assert result.unexpected_keys == ["extra"]
    with pytest.raises(TypeError, match="Expected state_dict to be dict-like"):
        net.load_state_dict([1])


def test_assign_takes_the_tensors_themselves() -> None:
    net = Net()
    weight = torch.zeros(4, 3)
    net.load_state_dict({**net.state_dict(), "first.weight": weight}, assign=True)
    assert net.first.weight.data_ptr() == weight.data_ptr()
    assert isinstance(net.first.weight, nn.Parameter) and net.first.weight.requires_grad


def test_extra_state() -> None:
    class Counter(nn.Module):
        count = 3

        def get_extra_state(self) -> Any:
            return {"count": self.count}

        def set_extra_state(self, state: Any) -> None:
            self.count = state["count"]

    source, target = Counter(), Counter()
    source.count = 5
    target.load_state_dict(source.state_dict())
    assert target.count == 5


def test_state_hooks() -> None:
    net, seen = Net(), []
    net.register_state_dict_pre_hook(lambda module, prefix, keep: seen.append("pre"))
    net.register_state_dict_post_hook(
        lambda module, state, prefix, meta: state.__delitem__("scale")
    )
    net.register_load_state_dict_pre_hook(lambda *args: seen.append("load"))
    net.register_load_state_dict_post_hook(lambda module, keys: keys.missing_keys.clear())
    state = net.state_dict()
    assert "scale" not in state
    net.load_state_dict(state)
    assert seen == ["pre", "load"]


# -- containers -----------------------------------------------------------------------------------


def test_sequential_is_a_list_of_modules() -> None:
    net = nn.Sequential(OrderedDict(a=nn.Linear(2, 2), b=nn.ReLU()))
    assert next(iter(net.named_children()))[0] == "a" and net[-1] is net.b
    net.append(nn.Tanh()).insert(0, nn.Identity())
    assert [type(module).__name__ for module in net] == ["Identity", "Linear", "ReLU", "Tanh"]
    assert isinstance(net[1:3], nn.Sequential) and len(net[1:3]) == 2
    del net[0]
    assert len(net + net) == 6 and len(nn.Sequential(nn.ReLU()) * 3) == 3
    assert isinstance(net.pop(-1), nn.Tanh)
    with pytest.raises(IndexError, match="out of range"):
        net[9]


def test_lists_and_dicts() -> None:
    layers = nn.ModuleList([nn.Linear(2, 2)])
    layers += [nn.ReLU(), nn.ReLU()]
    assert repr(layers) == (
        "ModuleList(\n  (0): Linear(in_features=2, out_features=2, bias=True)\n"
        "  (1-2): 2 x ReLU()\n)"
    )
    named = nn.ModuleDict({"act": nn.ReLU()})
    named["out"] = nn.Linear(2, 1)
    assert (
        list(named) == ["act", "out"] and "act" in named and len(named.pop("act").state_dict()) == 0
    )
    numbers = nn.ParameterList([torch.ones(2), nn.Parameter(torch.zeros(3))])
    assert len(list(numbers.parameters())) == 2
    assert "Parameter containing: [torch.float32 of size 2]" in repr(numbers)
    table = nn.ParameterDict({"w": torch.ones(2)})
    table["b"] = nn.Parameter(torch.zeros(1))
    assert list(table.keys()) == ["w", "b"] and isinstance(table["w"], nn.Parameter)
    assert [name for name, _ in table.named_parameters()] == ["w", "b"]
    assert table.pop("w").shape == (2,) and "w" not in table


# -- parameters, copies, conversion -----------------------------------------------


def test_parameter() -> None:
    data = torch.ones(2)
    parameter = nn.Parameter(data)
    assert isinstance(parameter, torch.Tensor) and parameter.is_leaf and parameter.requires_grad
    assert parameter.data_ptr() == data.data_ptr()
    assert type(parameter * 2) is torch.Tensor
    assert repr(parameter) == "Parameter containing:\ntensor([1., 1.], requires_grad=True)"
    assert not nn.Parameter(data, requires_grad=False).requires_grad
    for copied in (copy.deepcopy(parameter), pickle.loads(pickle.dumps(parameter))):
        assert type(copied) is nn.Parameter and torch.equal(copied, parameter)
        assert copied.data_ptr() != parameter.data_ptr()


def test_deepcopy_of_a_module() -> None:
    net = Net()
    twin = copy.deepcopy(net)
    with torch.no_grad():
        twin.first.weight.zero_()
    assert float(net.first.weight.abs().sum()) > 0
    assert [name for name, _ in twin.named_parameters()] == NAMES


def test_buffer_class() -> None:
    net = nn.Module()
    net.kept = nn.Buffer(torch.ones(1))
    net.dropped = nn.Buffer(torch.ones(1), persistent=False)
    assert list(net.state_dict()) == ["kept"] and len(list(net.buffers())) == 2


def test_conversion() -> None:
    net = nn.Sequential(nn.Linear(2, 2), nn.BatchNorm1d(2))
    weight = net[0].weight
    net(torch.ones(3, 2)).sum().backward()
    assert net.double() is net and net[0].weight is weight
    assert weight.dtype is torch.float64 and weight.grad.dtype is torch.float64
    assert net[1].num_batches_tracked.dtype is torch.int64
    net.to(torch.float16)
    assert weight.dtype is torch.float16
    net.to("cpu", torch.float32)
    assert weight.dtype is torch.float32 and weight.is_leaf and weight.requires_grad
    with pytest.raises(TypeError, match="only accepts floating point or complex dtypes"):
        net.to(torch.int32)


def test_zero_grad() -> None:
    net = Net()
    net(torch.ones(1, 3)).sum().backward()
    net.zero_grad(set_to_none=False)
    assert float(net.scale.grad.abs().sum()) == 0
    net.zero_grad()
    assert net.scale.grad is None


# -- layers beyond their numbers ----------------------------------------------


def test_dropout() -> None:
    torch.manual_seed(0)
    x = torch.ones(1000)
    layer = nn.Dropout(0.3)
    kept = layer(x)
    assert kept.unique().tolist() == [0.0, pytest.approx(1 / 0.7)]
    assert abs(float(kept.mean()) - 1) < 0.1
    assert layer.eval()(x) is x
    channels = nn.Dropout2d(0.5)(torch.ones(4, 8, 3, 3))
    per_channel = channels.flatten(2)
    assert torch.equal(per_channel.amax(-1), per_channel.amin(-1))
    noise = nn.AlphaDropout(0.2)(torch.randn(20000))
    assert abs(float(noise.mean())) < 0.05 and abs(float(noise.std()) - 1) < 0.05
    with pytest.raises(ValueError, match="has to be between 0 and 1"):
        nn.Dropout(1.5)


def test_embedding_options() -> None:
    layer = nn.Embedding(5, 3, padding_idx=-1, max_norm=1.0)
    assert layer.padding_idx == 4 and float(layer.weight[4].abs().sum()) == 0
    output = layer(torch.tensor([0, 1, 4]))
    assert float(torch.linalg.vector_norm(output, dim=-1).max()) <= 1.0 + 1e-6
    output.sum().backward()
    assert float(layer.weight.grad[4].abs().sum()) == 0
    table = nn.Embedding.from_pretrained(torch.ones(2, 2))
    assert not table.weight.requires_grad


@pytest.mark.parametrize(
    ("call", "error", "phrase"),
    [
        (lambda: nn.Linear(3, 2)(torch.ones(1, 4)), RuntimeError, "shapes cannot be multiplied"),
        (lambda: nn.Conv2d(3, 4, 3, groups=2), ValueError, "in_channels must be divisible"),
        (lambda: nn.Conv2d(2, 4, 3, padding="no"), ValueError, "Invalid padding string"),
        (lambda: nn.BatchNorm2d(3)(torch.ones(2, 3)), ValueError, "expected 4D input"),
        (lambda: nn.GroupNorm(2, 3), ValueError, "must be divisible by num_groups"),
        (lambda: nn.LSTM(3, 2)(torch.ones(4, 1, 2)), RuntimeError, "must be equal to input_size"),
        (lambda: nn.RNN(3, 2, nonlinearity="no"), ValueError, "Unknown nonlinearity"),
        (lambda: nn.MultiheadAttention(5, 2), AssertionError, "divisible by num_heads"),
        (lambda: nn.init.xavier_uniform_(torch.ones(2)), ValueError, "fewer than 2 dimensions"),
        (lambda: nn.init.calculate_gain("no"), ValueError, "Unsupported nonlinearity"),
    ],
)
def test_wrong_arguments(call: Any, error: type[Exception], phrase: str) -> None:
    with pytest.raises(error, match=phrase):
        call()


def test_old_spelling_of_reductions() -> None:
    with pytest.warns(UserWarning, match="reduction='sum'"):
        assert nn.MSELoss(size_average=False).reduction == "sum"
    with pytest.warns(UserWarning, match="reduction='none'"):
        assert nn.MSELoss(reduce=False).reduction == "none"
    assert nn.MSELoss().reduction == "mean"


GROUPS = [
    {"batch_chunk_size": 1, "chunking_method": None},
    {"batch_chunk_size": 3, "chunking_method": None},
    {"chunking_method": "aspect_ratio:4"},
    {},
]


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
@pytest.mark.parametrize("given", GROUPS, ids=str)
def test_linear_cross_entropy_in_groups(reduction: str, given: Any) -> None:
    """The loss, its gradients and those of these are the same, however samples are grouped."""
    torch.manual_seed(3)
    leaves = [
        torch.randn(*s, dtype=torch.float64, requires_grad=True) for s in ((7, 3), (5, 3), (5,))
    ]
    target, classes = torch.tensor([0, 4, 1, -100, 2, 2, 3]), torch.rand(5, dtype=torch.float64)
    losses = []
    for options in (None, nn.LinearCrossEntropyOptions(**given)):
        loss = nn.functional.linear_cross_entropy(
            *leaves[:2],
            target,
            linear_bias=leaves[2],
            weight=classes,
            reduction=reduction,
            options=options,
        )
        first = torch.autograd.grad(loss.square().sum(), leaves, create_graph=True)
        second = torch.autograd.grad(sum(each.square().sum() for each in first), leaves)
        losses.append([loss, *first, *second])
    assert all(map(torch.allclose, *losses))
