"""Optimizers and schedulers: groups, closures, hooks, states, wrong arguments."""

from __future__ import annotations

import copy
import pickle
from typing import Any

import pytest

import torchgen_out as torch
from torchgen_out import nn, optim
from torchgen_out._runtime.core import deprecation
from torchgen_out.optim import lr_scheduler


def weight(*values: float) -> Any:
    parameter = nn.Parameter(torch.tensor(values or (1.0, 2.0)))
    parameter.grad = torch.ones_like(parameter)
    return parameter


@pytest.mark.parametrize(
    "make",
    [
        optim.SGD,
        optim.Adam,
        optim.AdamW,
        optim.RMSprop,
        optim.Adagrad,
        optim.Adadelta,
        optim.Adamax,
    ],
    ids=lambda cls: cls.__name__,
)
def test_every_optimizer_finds_a_minimum(make: Any) -> None:
    parameter = nn.Parameter(torch.tensor([3.0, -2.0]))
    optimizer = make([parameter], lr=10.0 if make is optim.Adadelta else 0.1)
    first = float((parameter**2).sum().detach())
    for _ in range(150):
        optimizer.zero_grad()
        loss = (parameter**2).sum()
        loss.backward()
        optimizer.step()
    assert float(loss.detach()) < 0.2 * first


def test_groups_have_options_of_their_own() -> None:
    a, b = weight(), weight()
    optimizer = optim.SGD([{"params": [a]}, {"params": b, "lr": 0.5}], lr=0.1)
    optimizer.step()
    assert a.tolist() == pytest.approx([0.9, 1.9]) and b.tolist() == pytest.approx([0.5, 1.5])
    optimizer = optim.SGD([("first", a)], lr=0.1)
    optimizer.add_param_group({"params": [("named", weight())]})
    assert optimizer.param_groups[1]["param_names"] == ["named"]
    with pytest.raises(ValueError, match="with/without names"):
        optimizer.add_param_group({"params": [weight()]})


@pytest.mark.parametrize(
    ("call", "error", "phrase"),
    [
        (lambda: optim.SGD([], lr=0.1), ValueError, "empty parameter list"),
        (lambda: optim.SGD(weight(), lr=0.1), TypeError, "should be an iterable of Tensors"),
        (lambda: optim.SGD([3], lr=0.1), TypeError, "can only optimize Tensors"),
        (lambda: optim.SGD([weight() * 2], lr=0.1), ValueError, "can't optimize a non-leaf"),
        (lambda: optim.SGD([weight()], lr=-1), ValueError, "Invalid learning rate: -1"),
        (lambda: optim.SGD([weight()], nesterov=True), ValueError, "Nesterov momentum requires"),
        (lambda: optim.Adam([weight()], betas=(1.0, 0)), ValueError, "Invalid beta parameter"),
        (lambda: lr_scheduler.StepLR(3, 1), TypeError, "is not an Optimizer"),
    ],
)
def test_wrong_arguments(call: Any, error: type[Exception], phrase: str) -> None:
    with pytest.raises(error, match=phrase):
        call()


def test_a_parameter_belongs_to_one_group() -> None:
    parameter = weight()
    with pytest.raises(ValueError, match="appear in more than one parameter group"):
        optim.SGD([{"params": [parameter]}, {"params": [parameter]}], lr=0.1)


def test_closure_and_hooks() -> None:
    parameter, calls = weight(), []
    optimizer = optim.SGD([parameter], lr=0.1)
    optimizer.register_step_pre_hook(lambda *args: calls.append("pre"))
    handle = optimizer.register_step_post_hook(lambda *args: calls.append("post"))

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (parameter**2).sum()
        loss.backward()
        return loss

    with torch.no_grad():
        loss = optimizer.step(closure)
    assert float(loss.detach()) == 5.0 and calls == ["pre", "post"]
    handle.remove()
    optimizer.step()
    assert calls == ["pre", "post", "pre"]


def test_hooks_see_the_optimizer_among_the_arguments() -> None:
    """As PyTorch's do: arguments are those of the method, self first, and may be replaced."""
    optimizer, seen = optim.SGD([weight()], lr=0.1), []

    def without_closure(own: Any, args: Any, kwargs: Any) -> Any:
        seen.append((args, kwargs))
        return args[:1], {}

    optimizer.register_step_pre_hook(without_closure)
    optimizer.register_step_post_hook(lambda own, args, kwargs: seen.append((args, kwargs)))
    optimizer.step(closure=pytest.fail)
    assert seen == [((optimizer,), {"closure": pytest.fail}), ((optimizer,), {})]


@pytest.mark.filterwarnings("error")
def test_losses_become_numbers_without_a_word(monkeypatch: pytest.MonkeyPatch) -> None:
    """Of numbers with gradients PyTorch warns where gradients are recorded, not inside LBFGS."""
    monkeypatch.setattr(deprecation, "_told", set())
    parameter = weight()
    optimizer = optim.LBFGS([parameter], max_iter=2)

    def closure() -> Any:
        optimizer.zero_grad()
        loss = (parameter**2).sum()
        loss.backward()
        return loss

    optimizer.step(closure)
    with pytest.raises(UserWarning, match="requires_grad=True to a scalar"):
        float(closure())


def test_zero_grad() -> None:
    parameter = weight()
    optimizer = optim.SGD([parameter], lr=0.1)
    optimizer.zero_grad(set_to_none=False)
    assert parameter.grad.tolist() == [0.0, 0.0]
    optimizer.zero_grad()
    assert parameter.grad is None
    optimizer.step()  # nothing to do


def test_state_dict_is_taken_over_as_a_copy() -> None:
    source, target = weight(), weight()
    first, second = optim.Adam([source]), optim.Adam([target])
    first.step()
    second.load_state_dict(copy.deepcopy(first.state_dict()))
    first.step()
    second.step()
    assert second.state[target]["step"].item() == 2.0
    with pytest.raises(ValueError, match="different number of parameter groups"):
        optim.Adam([{"params": [weight()]}, {"params": [weight()]}]).load_state_dict(
            first.state_dict()
        )
    with pytest.raises(ValueError, match="doesn't match the size"):
        optim.Adam([weight(), weight()]).load_state_dict(first.state_dict())


def test_pickle_and_deepcopy() -> None:
    optimizer = optim.Adam([weight()])
    optimizer.step()
    for twin in (copy.deepcopy(optimizer), pickle.loads(pickle.dumps(optimizer))):
        twin.param_groups[0]["params"][0].grad = torch.ones(2)
        twin.step()
        assert next(iter(twin.state.values()))["step"].item() == 2.0


def test_scheduler_state_and_order() -> None:
    optimizer = optim.SGD([weight()], lr=1.0)
    scheduler = lr_scheduler.StepLR(optimizer, 1, 0.5)
    with pytest.warns(UserWarning, match="before `optimizer.step"):
        scheduler.step()
    optimizer.step()
    scheduler.step()
    assert scheduler.get_last_lr() == [0.25] == [optimizer.param_groups[0]["lr"]]
    other = lr_scheduler.StepLR(optim.SGD([weight()], lr=1.0), 9)
    other.load_state_dict(scheduler.state_dict())
    assert other.last_epoch == 2 and other.step_size == 1
    with pytest.raises(KeyError, match="'initial_lr' is not specified"):
        lr_scheduler.StepLR(optim.SGD([weight()], lr=1.0), 1, last_epoch=3)


def test_one_cycle_ends() -> None:
    optimizer = optim.SGD([weight()], lr=1.0, momentum=0.9)
    scheduler = lr_scheduler.OneCycleLR(optimizer, 1.0, total_steps=2)
    optimizer.step()
    scheduler.step()
    scheduler.step()
    with pytest.raises(ValueError, match="Tried to step 3 times"):
        scheduler.step()
