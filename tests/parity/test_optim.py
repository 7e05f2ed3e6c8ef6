"""Ten steps of every optimizer and schedule give PyTorch's numbers; states can be exchanged."""

from __future__ import annotations

import importlib
import inspect
import io
from typing import Any

import numpy as np
import pytest

import torchgen_out as ours

theirs = pytest.importorskip("torch")

SHAPES = [(5, 4), (5,), (3, 5), ()]
rng = np.random.default_rng(11)
START = [np.asarray(rng.standard_normal(shape), np.float32) for shape in SHAPES]
TARGET = [np.asarray(rng.standard_normal(shape), np.float32) for shape in SHAPES]

OPTIMIZERS: list[tuple[str, dict[str, Any]]] = [
    ("SGD", {"lr": 0.1}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "dampening": 0.2, "weight_decay": 0.01}),
    ("SGD", {"lr": 0.1, "momentum": 0.9, "nesterov": True}),
    ("SGD", {"lr": 0.01, "maximize": True}),
    ("Adam", {"lr": 0.1}),
    ("Adam", {"lr": 0.1, "betas": (0.8, 0.95), "eps": 1e-6, "weight_decay": 0.1}),
    ("Adam", {"lr": 0.1, "amsgrad": True, "maximize": True}),
    ("AdamW", {"lr": 0.1}),
    ("AdamW", {"lr": 0.1, "weight_decay": 0.3, "amsgrad": True}),
    ("RMSprop", {"lr": 0.05}),
    ("RMSprop", {"lr": 0.05, "momentum": 0.9, "centered": True, "weight_decay": 0.1}),
    ("RMSprop", {"lr": 0.05, "maximize": True}),
    ("Adagrad", {"lr": 0.1}),
    ("Adagrad", {"lr": 0.1, "lr_decay": 0.1, "weight_decay": 0.1}),
    ("Adagrad", {"lr": 0.1, "initial_accumulator_value": 0.5, "maximize": True}),
    ("Adadelta", {"lr": 1.0, "weight_decay": 0.1}),
    ("Adamax", {"lr": 0.1, "weight_decay": 0.1}),
    ("NAdam", {"lr": 0.1}),
    ("NAdam", {"lr": 0.1, "weight_decay": 0.1, "decoupled_weight_decay": True}),
    ("RAdam", {"lr": 0.1, "betas": (0.9, 0.7)}),
    ("RAdam", {"lr": 0.1, "weight_decay": 0.1}),
    ("Rprop", {"lr": 0.05}),
    ("ASGD", {"lr": 0.05, "t0": 3}),
]


def parameters(library: Any) -> list[Any]:
    return [library.nn.Parameter(library.from_numpy(array.copy())) for array in START]


def loss_of(library: Any, weights: list[Any]) -> Any:
    """A loss whose gradient is small in some places and large in others."""
    total = 0.0
    for weight, target in zip(weights, TARGET, strict=True):
        total = total + ((weight - library.from_numpy(target)) ** 4).sum() + weight.sin().sum()
    return total


def train(library: Any, optimizer: Any, weights: list[Any], steps: int) -> list[float]:
    losses = []
    for _ in range(steps):
        optimizer.zero_grad()
        loss = loss_of(library, weights)
        loss.backward()
        optimizer.step()
        losses.append(float(loss.detach()))
    return losses


def same(mine: list[Any], wanted: list[Any], tolerance: float = 1e-5) -> None:
    for value, reference in zip(mine, wanted, strict=True):
        np.testing.assert_allclose(
            value.detach().numpy(), reference.detach().numpy(), rtol=tolerance, atol=tolerance
        )


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=str)
def test_ten_steps(name: str, options: dict[str, Any]) -> None:
    results = []
    for library in (ours, theirs):
        weights = parameters(library)
        optimizer = getattr(library.optim, name)(weights, **options)
        losses = train(library, optimizer, weights, 10)
        results.append((losses, weights, optimizer))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-4)
    same(results[0][1], results[1][1])
    assert results[0][2].state_dict().keys() == results[1][2].state_dict().keys()
    mine = results[0][2].state_dict()["state"]
    wanted = results[1][2].state_dict()["state"]
    for number, state in wanted.items():
        kept = [key for key, value in state.items() if value is not None]
        assert list(mine.get(number, {})) == kept
        same([mine[number][key] for key in kept], [state[key] for key in kept], 1e-4)


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=str)
def test_the_default_dtype_is_that_of_the_state(name: str, options: dict[str, Any]) -> None:
    results = []
    for library in (ours, theirs):
        library.set_default_dtype(library.float64)
        try:
            weight = library.linspace(-1.0, 2.0, 7).requires_grad_()
            optimizer = getattr(library.optim, name)([weight], **options)
            for _ in range(6):
                optimizer.zero_grad()
                (weight**4).sum().backward()
                optimizer.step()
        finally:
            library.set_default_dtype(library.float32)
        state = optimizer.state[weight].items()
        dtypes = {key: str(value.dtype) for key, value in state if hasattr(value, "dtype")}
        results.append((weight, dtypes))
    same([results[0][0]], [results[1][0]], 1e-14)
    assert results[0][1] == results[1][1]


@pytest.mark.parametrize(("name", "options"), OPTIMIZERS, ids=str)
def test_state_continues_in_the_other_library(name: str, options: dict[str, Any]) -> None:
    """Five steps here, the rest there, through a file, is ten steps there."""
    reference = parameters(theirs)
    train(theirs, getattr(theirs.optim, name)(reference, **options), reference, 10)
    for first, second in ((ours, theirs), (theirs, ours)):
        weights = parameters(first)
        optimizer = getattr(first.optim, name)(weights, **options)
        train(first, optimizer, weights, 5)
        file = io.BytesIO()
        first.save({"weights": weights, "optimizer": optimizer.state_dict()}, file)
        file.seek(0)
        loaded = second.load(file)
        continued = loaded["weights"]
        optimizer = getattr(second.optim, name)(continued, **options)
        optimizer.load_state_dict(loaded["optimizer"])
        train(second, optimizer, continued, 5)
        same(continued, reference, 1e-4)


@pytest.mark.parametrize("search", [None, "strong_wolfe"])
@pytest.mark.parametrize("history", [100, 3])
def test_lbfgs(search: str | None, history: int) -> None:
    results = []
    for library in (ours, theirs):
        point = library.tensor([-1.5, 2.0, 0.5], dtype=library.float64, requires_grad=True)
        options = {"lr": 1.0 if search else 0.05, "history_size": history}
        optimizer = library.optim.LBFGS([point], line_search_fn=search, **options)

        def closure(point: Any = point, optimizer: Any = optimizer) -> Any:
            optimizer.zero_grad()
            x, y = point[:-1], point[1:]
            loss = (100 * (y - x**2) ** 2 + (1 - x) ** 2).sum()  # Rosenbrock's valley
            loss.backward()
            return loss

        losses = [float(optimizer.step(closure).detach()) for _ in range(3)]
        state = optimizer.state_dict()["state"][0]
        kept = [(key, len(each) if isinstance(each, list) else 0) for key, each in state.items()]
        counts = [kept, state["n_iter"], state["func_evals"]]
        results.append((losses, counts, point.detach().numpy()))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-6)
    assert results[0][1] == results[1][1]
    np.testing.assert_allclose(results[0][2], results[1][2], rtol=1e-6)


@pytest.mark.parametrize("library", [ours, theirs], ids=["ours", "theirs"])
def test_printed_form_and_groups(library: Any) -> None:
    weights = parameters(library)
    groups = [{"params": weights[:2], "lr": 0.5}, {"params": weights[2:]}]
    optimizer = library.optim.SGD(groups, lr=0.1)
    expected = theirs.optim.SGD(
        [{"params": parameters(theirs)[:2], "lr": 0.5}, {"params": parameters(theirs)[2:]}], lr=0.1
    )
    assert repr(optimizer) == repr(expected)


SCHEDULERS: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = [
    ("StepLR", (3,), {"gamma": 0.5}),
    ("MultiStepLR", ([2, 5, 5],), {}),
    ("ExponentialLR", (0.9,), {}),
    ("CosineAnnealingLR", (4,), {"eta_min": 0.01}),
    ("CosineAnnealingWarmRestarts", (3, 2), {}),
    ("LambdaLR", (lambda epoch: 0.95**epoch,), {}),
    ("MultiplicativeLR", (lambda epoch: 0.9,), {}),
    ("LinearLR", (), {"total_iters": 4}),
    ("ConstantLR", (0.5, 3), {}),
    ("PolynomialLR", (6, 2.0), {}),
    ("CyclicLR", (0.1, 1.0), {"step_size_up": 3}),
    ("CyclicLR", (0.1, 1.0, 2, 3), {"mode": "triangular2"}),
    ("CyclicLR", (0.1, 1.0, 2), {"mode": "exp_range", "gamma": 0.9, "cycle_momentum": False}),
    ("OneCycleLR", (1.0, 12), {}),
    ("OneCycleLR", (1.0,), {"epochs": 3, "steps_per_epoch": 4, "three_phase": True}),
    ("OneCycleLR", (1.0, 12), {"anneal_strategy": "linear", "cycle_momentum": False}),
]


@pytest.mark.parametrize(
    ("name", "args", "options"),
    [pytest.param(*case, id=f"{case[0]}-{i}") for i, case in enumerate(SCHEDULERS)],
)
@pytest.mark.parametrize("kind", ["SGD", "Adam"])
def test_schedules(name: str, args: Any, options: Any, kind: str) -> None:
    results = []
    for library in (ours, theirs):
        weights = parameters(library)
        momentum = {"momentum": 0.9} if kind == "SGD" else {}
        groups = [{"params": weights[:2], "lr": 0.5}, {"params": weights[2:]}]
        optimizer = getattr(library.optim, kind)(groups, lr=0.1, **momentum)
        scheduler = getattr(library.optim.lr_scheduler, name)(optimizer, *args, **options)
        rates = [scheduler.get_last_lr()]
        for _ in range(11):
            optimizer.step()
            scheduler.step()
            rates.append(scheduler.get_last_lr())
            group = optimizer.param_groups[0]
            rates.append([group.get("momentum", 0.0), group.get("betas", (0.0,))[0]])
        rates.append([group.get(f"{bound}_momentum", 0.0) for bound in ("base", "max")])
        results.append(rates)
    for mine, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-12)


@pytest.mark.parametrize("last_epoch", [-1, 0, 3])
@pytest.mark.parametrize(
    ("name", "args", "options"),
    [pytest.param(*case, id=f"{case[0]}-{i}") for i, case in enumerate(SCHEDULERS)],
)
def test_resumed_schedules(name: str, args: Any, options: Any, last_epoch: int) -> None:
    """Those that begin behind the first epoch, asked by hand for the next rates; their state."""
    start = {"initial_lr": 0.5, "max_lr": 1.0, "min_lr": 0.01}
    momenta = {"max_momentum": 0.9, "base_momentum": 0.8}
    results = []
    for library in (ours, theirs):
        group = {"params": parameters(library), **start, **momenta}
        optimizer = library.optim.SGD([group], lr=0.3, momentum=0.9)
        scheduler = getattr(library.optim.lr_scheduler, name)(
            optimizer, *args, **options, last_epoch=last_epoch
        )
        rates = []
        for _ in range(4):
            with pytest.warns(UserWarning, match="please use `get_last_lr"):
                rates += scheduler.get_lr()
            optimizer.step()
            scheduler.step()
            rates += scheduler.get_last_lr()
        results.append((rates, list(scheduler.state_dict())))
    np.testing.assert_allclose(results[0][0], results[1][0], rtol=1e-12)
    assert results[0][1] == results[1][1]


@pytest.mark.parametrize("combine", ["sequential", "chained"])
def test_combined_schedules(combine: str) -> None:
    results = []
    for library in (ours, theirs):
        optimizer = library.optim.SGD(parameters(library), lr=0.1)
        schedulers = library.optim.lr_scheduler
        warm = schedulers.LinearLR(optimizer, 0.1, total_iters=3)
        decay = schedulers.ExponentialLR(optimizer, 0.8)
        if combine == "sequential":
            scheduler = schedulers.SequentialLR(optimizer, [warm, decay], [3])
        else:
            scheduler = schedulers.ChainedScheduler([warm, decay])
        rates = []
        for _ in range(8):
            rates += scheduler.get_last_lr()
            optimizer.step()
            scheduler.step()
        results.append(rates)
    np.testing.assert_allclose(*results, rtol=1e-12)


@pytest.mark.parametrize("name", ["ExponentialLR", "CyclicLR", "OneCycleLR", "ReduceLROnPlateau"])
def test_a_rate_that_is_a_tensor_is_filled(name: str) -> None:
    options: dict[str, Any] = {
        "ExponentialLR": {"gamma": 0.5},
        "CyclicLR": {"base_lr": 0.01, "max_lr": 0.1, "cycle_momentum": False},
        "OneCycleLR": {"max_lr": 0.2, "total_steps": 9, "cycle_momentum": False},
        "ReduceLROnPlateau": {"patience": 0},
    }[name]
    results = []
    for library in (ours, theirs):
        rate, seen = library.tensor(0.125), []
        optimizer = library.optim.SGD(parameters(library), lr=rate)
        scheduler = getattr(library.optim.lr_scheduler, name)(optimizer, **options)
        for step in range(4):
            optimizer.step()
            scheduler.step(*[float(step)] * (name == "ReduceLROnPlateau"))
            seen += [rate.item(), float(scheduler.get_last_lr()[0])]
            assert optimizer.param_groups[0]["lr"] is rate
            assert scheduler.get_last_lr()[0] is not rate
        results.append(seen)
    np.testing.assert_allclose(*results, rtol=1e-6)


@pytest.mark.parametrize("options", [{}, {"mode": "max"}, {"threshold_mode": "abs", "cooldown": 2}])
def test_reduce_on_plateau(options: dict[str, Any]) -> None:
    values = [1.0, 0.9, 0.9, 0.9, 0.9, 0.95, 0.5, 0.5, 0.6, 0.7, 0.8, 0.5, 0.5, 0.5]
    results = []
    for library in (ours, theirs):
        optimizer = library.optim.SGD(parameters(library), lr=0.1)
        plateau = library.optim.lr_scheduler.ReduceLROnPlateau
        scheduler = plateau(optimizer, patience=1, factor=0.5, **options)
        rates = []
        for value in values:
            optimizer.step()
            scheduler.step(value)
            rates += scheduler.get_last_lr()
        state = scheduler.state_dict()
        results.append([*rates, *sorted(state), state["mode_worse"], state["default_min_lr"]])
    assert results[0][len(values) :] == results[1][len(values) :]
    np.testing.assert_allclose(*[each[: len(values)] for each in results])


FUNCTIONAL = {
    "adadelta": ("Adadelta", "square_avg acc_delta step", {}),
    "adagrad": ("Adagrad", "sum step", {}),
    "adam": ("Adam", "exp_avg exp_avg_sq max_exp_avg_sq step", {"amsgrad": True}),
    "adamax": ("Adamax", "exp_avg exp_inf step", {}),
    "adamw": ("AdamW", "exp_avg exp_avg_sq max_exp_avg_sq step", {"amsgrad": True}),
    "asgd": ("ASGD", "ax mu eta step", {}),
    "nadam": ("NAdam", "exp_avg exp_avg_sq mu_product step", {"weight_decay": 0.1}),
    "radam": ("RAdam", "exp_avg exp_avg_sq step", {}),
    "rmsprop": ("RMSprop", "square_avg grad_avg momentum_buffer step",
                {"momentum": 0.9, "centered": True}),
    "rprop": ("Rprop", "prev step_size step", {}),
    "sgd": ("SGD", "momentum_buffer", {"momentum": 0.9, "nesterov": True}),
    "_adafactor": ("Adafactor", "row_var col_var variance step", {}),
}  # fmt: skip
PAIRS = {"betas": ("beta1", "beta2"), "etas": ("etaminus", "etaplus"), "eps": ("eps1", "eps2"),
         "step_sizes": ("step_size_min", "step_size_max")}  # fmt: skip


@pytest.mark.parametrize("name", FUNCTIONAL)
def test_steps_as_functions(name: str) -> None:
    """The function of an optimizer's module goes on where the optimizer stopped."""
    kind, lists, options = FUNCTIONAL[name]
    results, parameters_of = [], []
    for library in (ours, theirs):
        step = getattr(importlib.import_module(f"{library.__name__}.optim.{name}"), name.strip("_"))
        weights = parameters(library)
        for weight in weights:
            weight.grad = weight.detach().sin()
        optimizer = getattr(library.optim, kind)(weights, **options)
        optimizer.step()
        given = dict(optimizer.param_groups[0])
        for pair, names in PAIRS.items():
            if isinstance(given.get(pair), tuple):
                given.update(zip(names, given[pair], strict=True))
        state = [[optimizer.state[w].get(each) for w in weights] for each in lists.split()]
        signature = inspect.signature(step).parameters.values()
        named = {
            each.name: given[each.name] for each in signature if each.kind == each.KEYWORD_ONLY
        }
        with library.no_grad():
            step(weights, [weight.grad for weight in weights], *state, **named)
        values = [*weights, *(value for each in state for value in each if value is not None)]
        results.append([value.detach().numpy() for value in values])
        parameters_of.append([(each.name, each.default, each.kind) for each in signature])
    assert parameters_of[0] == parameters_of[1]
    for mine, wanted in zip(*results, strict=True):
        np.testing.assert_allclose(mine, wanted, rtol=1e-5, atol=1e-7)
