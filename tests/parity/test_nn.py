"""Modules give PyTorch's outputs, gradients and printed form from the same weights and data."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

import torchgen_out as ours
from tests.parity.nn_cases import ACTIVATIONS, LAYERS, LOSSES, RECURRENT, X4, draw

theirs = pytest.importorskip("torch")

pytestmark = [
    pytest.mark.filterwarnings("ignore:dropout option adds"),
    pytest.mark.filterwarnings("ignore:enable_nested_tensor"),
    pytest.mark.filterwarnings("ignore:LSTM with projections"),
]


def both(value: Any) -> tuple[Any, Any]:
    """An array as a tensor of each library; anything else as it is."""
    if isinstance(value, np.ndarray):
        return ours.from_numpy(value.copy()), theirs.from_numpy(value.copy())
    return value, value


def give_weights(source: Any, target: Any) -> None:
    """Copy all parameters and buffers of PyTorch's module to ours."""
    state = {key: ours.from_numpy(value.numpy()) for key, value in source.state_dict().items()}
    target.load_state_dict(state)


def flatten(output: Any) -> list[Any]:
    """All tensors of a nested result."""
    if isinstance(output, (tuple, list)):
        return [tensor for item in output for tensor in flatten(item)]
    return [] if output is None else [output]


def close(mine: Any, wanted: Any, tolerance: float = 2e-5) -> None:
    assert tuple(mine.shape) == tuple(wanted.shape)
    assert str(mine.dtype) == str(wanted.dtype)
    np.testing.assert_allclose(
        mine.detach().numpy(), wanted.detach().numpy(), rtol=tolerance, atol=tolerance
    )


def run(module: Any, inputs: list[Any], differentiable: int) -> list[Any]:
    """Outputs, and the gradients of inputs and parameters of a weighted sum of them."""
    for value in inputs[:differentiable]:
        if value.is_floating_point():
            value.requires_grad_(True)
    # Times one: what a module may write to is no leaf.
    outputs = flatten(module(*[value * 1 if value.requires_grad else value for value in inputs]))
    total = 0.0
    for output in outputs:
        if output.is_floating_point() and output.requires_grad:
            weight = np.cos(np.arange(output.numel(), dtype=np.float32)).reshape(output.shape)
            factory = ours if type(output).__module__.startswith("torchgen") else theirs
            total = total + (output * factory.from_numpy(weight)).sum()
    gradients = []
    if not isinstance(total, float):
        total.backward()
        gradients = [v.grad for v in inputs if hasattr(v, "grad") and v.is_leaf]
        gradients += [p.grad for p in module.parameters()]
    return [*outputs, *[gradient for gradient in gradients if gradient is not None]]


def compare(
    name: str, args: tuple[Any, ...], options: dict[str, Any], inputs: Any, differentiable: int = 9
) -> None:
    theirs.manual_seed(0)
    wanted = getattr(theirs.nn, name)(*args, **options)
    mine = getattr(ours.nn, name)(*args, **options)
    assert repr(mine) == repr(wanted)
    give_weights(wanted, mine)
    pairs = [both(value) for value in inputs]
    results = run(mine, [pair[0] for pair in pairs], differentiable)
    expected = run(wanted, [pair[1] for pair in pairs], differentiable)
    assert len(results) == len(expected)
    for result, reference in zip(results, expected, strict=True):
        close(result, reference)
    states = zip(mine.state_dict().values(), wanted.state_dict().values(), strict=True)
    for value, reference in states:
        close(value, reference)


def _id(case: Any) -> str:
    name, args, options, _ = case
    return f"{name}({', '.join(map(str, [*args, *options.items()]))})"


@pytest.mark.parametrize("case", LAYERS + ACTIVATIONS + RECURRENT, ids=_id)
def test_layer(case: Any) -> None:
    compare(*case)


@pytest.mark.parametrize("case", LOSSES, ids=_id)
def test_loss(case: Any) -> None:
    compare(*case, differentiable=1)


@pytest.mark.parametrize("name", ["BatchNorm2d", "InstanceNorm2d"])
def test_norm_in_evaluation(name: str) -> None:
    wanted = getattr(theirs.nn, name)(4, track_running_stats=True)
    wanted(theirs.from_numpy(X4))
    mine = getattr(ours.nn, name)(4, track_running_stats=True)
    give_weights(wanted, mine)
    close(mine.eval()(ours.from_numpy(X4)), wanted.eval()(theirs.from_numpy(X4)))


ATTENTION: list[dict[str, Any]] = [
    {},
    {"batch_first": True},
    {"bias": False},
    {"add_bias_kv": True, "add_zero_attn": True},
    {"kdim": 6, "vdim": 10},
]


@pytest.mark.parametrize("options", ATTENTION, ids=str)
@pytest.mark.parametrize("average", [True, False])
def test_multihead_attention(options: dict[str, Any], average: bool) -> None:
    wanted = theirs.nn.MultiheadAttention(8, 2, **options)
    mine = ours.nn.MultiheadAttention(8, 2, **options)
    assert repr(mine) == repr(wanted)
    give_weights(wanted, mine)
    query, key = draw(5, 3, 8), draw(4, 3, options.get("kdim", 8))
    value = draw(4, 3, options.get("vdim", 8))
    if options.get("batch_first"):
        query, key, value = query[:3], key[:3], value[:3]
    mask = np.triu(
        np.ones(
            (
                query.shape[1 if options.get("batch_first") else 0],
                key.shape[1 if options.get("batch_first") else 0],
            ),
            bool,
        ),
        2,
    )
    results = []
    for library, module in ((ours, mine), (theirs, wanted)):
        inputs = [library.from_numpy(each.copy()) for each in (query, key, value)]
        results.append(
            module(*inputs, attn_mask=library.from_numpy(mask), average_attn_weights=average)
        )
    for result, reference in zip(*results, strict=True):
        close(result, reference)


def test_attention_with_padding() -> None:
    wanted, mine = theirs.nn.MultiheadAttention(8, 2), ours.nn.MultiheadAttention(8, 2)
    give_weights(wanted, mine)
    padding = np.array([[False] * 5, [False] * 4 + [True], [False] * 2 + [True] * 3])
    results = []
    for library, module in ((ours, mine), (theirs, wanted)):
        x = library.from_numpy(draw(5, 3, 8))
        results.append(module(x, x, x, key_padding_mask=library.from_numpy(padding)))
    for result, reference in zip(*results, strict=True):
        close(result, reference)


@pytest.mark.parametrize("shape", [(2, 5), (1, 5), (3, 4), (3, 1), (5,), (3, 5, 1)])
def test_attention_refuses_padding_of_another_shape(shape: tuple[int, ...]) -> None:
    """One row or one column is not spread over the others either."""
    for library in (ours, theirs):
        x, padding = library.ones(3, 5, 8), library.zeros(shape, dtype=library.bool)
        attention = library.nn.MultiheadAttention(8, 2, batch_first=True)
        with pytest.raises(AssertionError, match="key_padd"):
            attention(x, x, x, key_padding_mask=padding)


@pytest.mark.parametrize("norm_first", [False, True])
def test_transformer(norm_first: bool) -> None:
    options = {"dropout": 0.0, "batch_first": True, "norm_first": norm_first}
    wanted = theirs.nn.Transformer(8, 2, 2, 1, 16, **options)
    mine = ours.nn.Transformer(8, 2, 2, 1, 16, **options)
    give_weights(wanted, mine)
    results = []
    for library, module in ((ours, mine), (theirs, wanted)):
        mask = module.generate_square_subsequent_mask(4)
        source, target = library.from_numpy(draw(3, 5, 8)), library.from_numpy(draw(3, 4, 8))
        results.append(module(source, target, tgt_mask=mask))
    close(*results, tolerance=1e-4)


@pytest.mark.parametrize("name", ["RNN", "GRU", "LSTM"])
@pytest.mark.parametrize("bidirectional", [False, True])
def test_packed_sequences(name: str, bidirectional: bool) -> None:
    options = {"bidirectional": bidirectional, "num_layers": 2}
    wanted = getattr(theirs.nn, name)(8, 5, **options)
    mine = getattr(ours.nn, name)(8, 5, **options)
    give_weights(wanted, mine)
    results = []
    for library, module in ((ours, mine), (theirs, wanted)):
        tools = library.nn.utils.rnn
        lengths = library.tensor([3, 6, 1])
        packed = tools.pack_padded_sequence(
            library.from_numpy(draw(6, 3, 8)), lengths, enforce_sorted=False
        )
        output, state = module(packed)
        padded, counts = tools.pad_packed_sequence(output)
        results.append([padded, counts, *flatten(state)])
    for result, reference in zip(*results, strict=True):
        close(result, reference)


@pytest.mark.parametrize("causal", [False, True])
def test_scaled_dot_product_attention(causal: bool) -> None:
    results = []
    for library in (ours, theirs):
        q, k = library.from_numpy(draw(2, 3, 5, 4)), library.from_numpy(draw(2, 3, 5, 4) + 1)
        function = library.nn.functional.scaled_dot_product_attention
        results.append(function(q, k, k * 2, is_causal=causal))
    close(*results)


@pytest.mark.parametrize("is_boolean", [False, True])
def test_a_query_without_keys_gives_zero(is_boolean: bool) -> None:
    allowed = np.ones((5, 5), bool)
    allowed[2] = False
    mask = allowed if is_boolean else np.where(allowed, 0, -np.inf).astype(np.float32)
    for needs_grad in (False, True) if not is_boolean else (False,):
        results = []
        for library in (ours, theirs):
            q, k = (library.from_numpy(draw(2, 3, 5, 4) + i).requires_grad_() for i in range(2))
            m = library.from_numpy(mask.copy()).requires_grad_(needs_grad)
            output = library.nn.functional.scaled_dot_product_attention(q, k, k * 2, m)
            output.square().sum().backward()
            results.append([output.detach(), q.grad, k.grad])
        for result, reference in zip(*results, strict=True):
            close(result, reference, tolerance=1e-4)


@pytest.mark.parametrize("reduction", ["mean", "sum", "none"])
def test_ctc_loss(reduction: str) -> None:
    results = []
    for library in (ours, theirs):
        logits = library.from_numpy(draw(7, 3, 5)).requires_grad_()
        targets = library.tensor([[1, 2, 2, 0], [3, 4, 0, 0], [1, 1, 1, 1]])
        loss = library.nn.CTCLoss(reduction=reduction, zero_infinity=True)(
            logits.log_softmax(-1),
            targets,
            library.tensor([7, 5, 6]),
            library.tensor([3, 2, 4]),
        )
        loss.sum().backward()
        results.append((loss, logits.grad))
    for result, reference in zip(*results, strict=True):
        close(result, reference)


@pytest.mark.parametrize(
    ("targets", "times", "counts"),
    [
        ([1, 2, 2, 3, 1, 1], [7, 5, 6], [3, 1, 2]),
        ([[1, 2, 2], [3, 3, 0], [1, 0, 0]], [7, 4, 0], [3, 2, 0]),
        ([1, 2, 2], [7, 5, 6], [3, 1, 2]),
        ([[1, 2], [3, 3], [1, 1]], [7, 5, 6], [3, 1, 2]),
        ([[1, 2], [3, 3], [1, 1]], [8, 5, 6], [2, 1, 2]),
        ([[1, 2], [3, 3], [1, 1]], [7, 5, 6], [2, -1, 2]),
        ([[1, 2], [3, 3], [1, 1]], [7, 5], [2, 1, 2]),
        ([[1, 2], [3, 3]], [7, 5, 6], [2, 1, 2]),
    ],
)
def test_ctc_targets(targets: list[Any], times: list[int], counts: list[int]) -> None:
    scores, results = draw(7, 3, 5), []
    for library in (ours, theirs):
        given = library.from_numpy(scores).log_softmax(-1), library.tensor(targets)
        try:
            loss = library.nn.functional.ctc_loss(*given, tuple(times), counts, 4, "none")
        except RuntimeError as error:
            results.append(str(error).partition(" for ")[0].partition(" in ")[0].split(" (")[0])
        else:
            results.append(loss)
    if isinstance(results[1], str):
        assert results[0] == results[1]
    else:
        close(*results)


@pytest.mark.filterwarnings("ignore:.*weight_norm.*deprecated:FutureWarning")
@pytest.mark.parametrize("options", [{}, {"dim": None}, {"dim": 1}])
@pytest.mark.parametrize("name", ["weight_norm", "spectral_norm"])
def test_computed_weights(name: str, options: dict[str, Any]) -> None:
    x, results, state = draw(3, 5, 8), [], {}
    for library in (theirs, ours):
        tools = library.nn.utils
        layer = getattr(tools, name)(library.nn.Conv1d(5, 4, 3), **options)
        state = state or {key: value.numpy().copy() for key, value in layer.state_dict().items()}
        layer.load_state_dict({key: library.from_numpy(v.copy()) for key, v in state.items()})
        output = layer(library.from_numpy(x)) + layer(library.from_numpy(x))
        output.square().sum().backward()
        grads = [each.grad for _, each in sorted(layer.named_parameters())]
        assert isinstance(layer.weight, library.Tensor) and "weight" not in dict(layer._parameters)
        getattr(tools, f"remove_{name}")(layer)
        assert list(layer.state_dict()) == ["bias", "weight"] and not layer._forward_pre_hooks
        results.append([output, *grads, layer.weight])
        with pytest.raises(ValueError, match="not found in"):
            getattr(tools, f"remove_{name}")(layer)
    for reference, result in zip(*results, strict=True):
        close(result, reference, tolerance=1e-4)


def test_adaptive_softmax_of_all_classes() -> None:
    layer = ours.nn.AdaptiveLogSoftmaxWithLoss(8, 12, [3, 7], div_value=2.0)
    x = ours.from_numpy(draw(4, 8))
    every = layer.log_prob(x)
    close(every.exp().sum(1), theirs.ones(4))
    assert layer.predict(x).tolist() == every.argmax(1).tolist()
    one = layer(x[0], ours.tensor(9))
    close(one.output, theirs.tensor(every[0, 9].item()))
    with pytest.raises(RuntimeError, match=r"should be in \[0, 11\]"):
        layer(x, ours.tensor([0, 1, 2, 12]))


@pytest.mark.parametrize(
    ("dims", "window", "sizes"),
    [
        (2, 2, {"output_size": (5, 4)}),
        (2, (3, 2), {"output_ratio": 0.5}),
        (3, 2, {"output_size": 3}),
    ],
)
def test_fractional_pooling(dims: int, window: Any, sizes: dict[str, Any]) -> None:
    x, samples = draw(2, 3, *(9, 8, 7)[:dims]), np.random.default_rng(1).random((2, 3, dims))
    results = []
    for library in (ours, theirs):
        kind = getattr(library.nn, f"FractionalMaxPool{dims}d")
        drawn = library.from_numpy(samples.astype(x.dtype))
        layer = kind(window, **sizes, return_indices=True, _random_samples=drawn)
        given = library.from_numpy(x.copy()).requires_grad_()
        values, places = layer(given)
        values.square().sum().backward()
        assert (
            getattr(library.nn, type(layer).__name__)(window, **sizes)(given[0]).dim() == dims + 1
        )
        results.append((values, places, given.grad))
    for result, reference in zip(*results, strict=True):
        close(result, reference)


def test_clipping_and_vectors() -> None:
    results = []
    for library in (ours, theirs):
        weights = [library.nn.Parameter(library.from_numpy(draw(4, 3) * s)) for s in (1, 2)]
        tools = library.nn.utils
        (tools.parameters_to_vector(weights) ** 3).sum().backward()
        norm = tools.clip_grad_norm_(weights, 1.5)
        tools.clip_grad_value_(weights[:1], 0.05)
        results.append([norm, *[weight.grad for weight in weights]])
    for result, reference in zip(*results, strict=True):
        close(result, reference)


def _numbers(values: list[Any]) -> list[float]:
    return [float(value) for value in values]


INITS = [
    "xavier_uniform_",
    "xavier_normal_",
    "kaiming_uniform_",
    "kaiming_normal_",
    "trunc_normal_",
    "normal_",
    "uniform_",
]


@pytest.mark.parametrize("name", INITS)
def test_initialisation_has_the_same_spread(name: str) -> None:
    spreads = []
    for library in (ours, theirs):
        library.manual_seed(3)
        weight = getattr(library.nn.init, name)(library.empty(64, 32, 3, 3))
        spreads.append(_numbers([weight.std(), weight.mean(), weight.abs().max()]))
    scale = spreads[1][0]
    np.testing.assert_allclose(spreads[0][:2], spreads[1][:2], atol=0.02 * scale)
    np.testing.assert_allclose(spreads[0][2], spreads[1][2], rtol=0.2)


def test_orthogonal_eye_and_dirac() -> None:
    weight = ours.nn.init.orthogonal_(ours.empty(5, 8))
    np.testing.assert_allclose((weight @ weight.t()).numpy(), np.eye(5), atol=1e-5)
    for name, shape in (("eye_", (3, 4)), ("dirac_", (4, 4, 3, 3))):
        close(
            getattr(ours.nn.init, name)(ours.empty(shape)),
            getattr(theirs.nn.init, name)(theirs.empty(shape)),
        )


@pytest.mark.parametrize(
    "nonlinearity", ["linear", "conv2d", "sigmoid", "tanh", "relu", "leaky_relu", "selu"]
)
def test_gains(nonlinearity: str) -> None:
    mine = ours.nn.init.calculate_gain(nonlinearity)
    assert mine == pytest.approx(theirs.nn.init.calculate_gain(nonlinearity))
