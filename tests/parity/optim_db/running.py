"""One optimizer in both libraries, from the same weights: each check yields its faults."""

from __future__ import annotations

import copy
import itertools
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from types import FunctionType, ModuleType
from typing import Any

import numpy as np
import torch
from torch.testing._internal import common_optimizers

import torchgen_out
from tests.parity.op_db import transfer
from tests.parity.op_db.comparison import Fault, Subject, compare

ENTRIES = {entry.name: entry for entry in common_optimizers.optim_db}
STEPS = {"LBFGS": 2}
"""How many steps are compared, if not 6: a step of LBFGS is twenty, which carry rounding on."""
MATRICES = [(4, 3), (3, 4)]
SHAPES = [*MATRICES, (5,), ()]
ONLY_MATRICES = frozenset({"Muon"})
SPARSE = [
    name
    for name, entry in ENTRIES.items()
    if entry.supports_sparse or entry.only_supports_sparse_grads
]
DENSE = [name for name in ENTRIES if not ENTRIES[name].only_supports_sparse_grads]


def weights(library: ModuleType, name: str, dtype: str) -> list[Any]:
    """Parameters with the same values in either library."""
    found = []
    for number, shape in enumerate(MATRICES if name in ONLY_MATRICES else SHAPES):
        values = np.cos(np.arange(np.prod(shape, dtype=int)) * 1.3 + number).reshape(shape)
        if dtype.startswith("complex"):
            values = values + 1j * np.sin(3 * values)
        tensor = library.from_numpy(np.asarray(values, dtype))
        found.append(library.nn.Parameter(tensor))
    return found


def loss_of(parameters: list[Any]) -> Any:
    """A loss whose gradient differs in size and sign from element to element."""
    total: Any = 0.0
    for parameter in parameters:
        size = (parameter * parameter.conj()).real if parameter.is_complex() else parameter**2
        total = total + (size**2).sum() - 0.7 * size.sum()
        total = total + (parameter.real if parameter.is_complex() else parameter).sin().sum()
    return total


def step(optimizer: Any, parameters: list[Any]) -> float:
    """One step with a closure; the loss before it."""

    def closure() -> Any:
        optimizer.zero_grad()
        loss = loss_of(parameters)
        loss.backward()
        return loss

    return float(optimizer.step(closure).detach())


class Run:
    """An optimizer of one library, and its weights after each step."""

    def __init__(
        self, library: ModuleType, name: str, dtype: str, options: Any, groups: bool
    ) -> None:
        self.library, self.parameters = library, weights(library, name, dtype)
        options = transfer.Transfer(library)(options)
        given: Any = self.parameters
        if groups:
            given = [
                {"params": self.parameters[:1], "lr": 0.03},
                {"params": list(self.parameters[1:]), "weight_decay": 0.02},
            ]
        self.optimizer = getattr(library.optim, name)(given, **options)
        self.weights: list[Any] = []
        self.losses: list[float] = []

    def train(self, steps: int) -> Run:
        for _ in range(steps):
            self.losses.append(step(self.optimizer, self.parameters))
            self.weights.append([each.detach().clone() for each in self.parameters])
        return self


def both(name: str, dtype: str, options: Any, groups: bool = False) -> tuple[Run, Run]:
    """Train in both libraries."""
    steps = STEPS.get(name, 6)
    mine = Run(torchgen_out, name, dtype, options, groups).train(steps)
    return mine, Run(torch, name, dtype, options, groups).train(steps)


def subject(name: str) -> Subject:
    return Subject(f"optim.{name}", by_element=False)


def variants(name: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """The options of PyTorch's table, and each with the ways of computing that it names."""
    entry = ENTRIES[name]
    for given in entry.optim_inputs_func(device="cpu"):
        yield str(given.kwargs), given.kwargs
        for way in entry.supported_impls:
            if way == "fused" or (way == "foreach" and not _has_tensor(given.kwargs)):
                yield f"{way} {given.kwargs}", {**given.kwargs, way: True}


def _has_tensor(options: dict[str, Any]) -> bool:
    return any(isinstance(value, torch.Tensor) for value in options.values())


def trajectory_faults(name: str, dtype: str, most: int | None = None) -> Iterator[Fault]:
    """Weights step by step, and the state at the end; of so many options."""
    for label, options in itertools.islice(variants(name), most):
        if dtype.startswith("complex") and options.get("fused"):
            continue
        mine, wanted = both(name, dtype, options)
        check = "trajectory foreach" if options.get("foreach") else "trajectory"
        yield from _told(label, compare(check, subject(name), mine.weights, wanted.weights))
        yield from _told(label, state_faults(check, name, mine.optimizer, wanted.optimizer))
        if name != "LBFGS" and options.get("weight_decay"):
            mine, wanted = both(name, dtype, options, groups=True)
            yield from _told(
                f"groups {label}", compare(check, subject(name), mine.weights, wanted.weights)
            )


def _told(label: str, faults: Iterator[Fault]) -> Iterator[Fault]:
    for fault in faults:
        yield Fault(fault.check, f"{label}: {fault.message}")


def state_faults(check: str, name: str, mine: Any, wanted: Any) -> Iterator[Fault]:
    """What two optimizers' `state_dict` have different."""
    own, theirs = mine.state_dict(), wanted.state_dict()
    for number, group in enumerate(theirs["param_groups"]):
        if own["param_groups"][number].keys() != group.keys():
            different = set(own["param_groups"][number]) ^ set(group)
            yield Fault("options", f"group {number}: {sorted(different)}")
    if own["state"].keys() != theirs["state"].keys():
        yield Fault("state", f"of {list(own['state'])}, PyTorch {list(theirs['state'])}")
        return
    for number, values in theirs["state"].items():
        present = [key for key, value in values.items() if value is not None]
        if list(own["state"][number]) != present:
            yield Fault("state", f"{list(own['state'][number])}, PyTorch {present}")
            continue
        for key in present:
            yield from _told(
                key,
                compare(f"{check} state", subject(name), own["state"][number][key], values[key]),
            )


def exchange_faults(name: str) -> Iterator[Fault]:
    """Training goes on from PyTorch's state, and from a copy and a pickle of our own."""
    for label, options in variants(name):
        half = STEPS.get(name, 6) // 2
        wanted = Run(torch, name, "float64", options, False).train(half)
        mine = _continued(torchgen_out, name, options, wanted)
        wanted = _continued(torch, name, options, wanted)
        held = (mine.optimizer, mine.parameters)
        others = [copy.deepcopy(held), pickle.loads(pickle.dumps(held))]
        wanted.train(half)
        for optimizer, parameters in (held, *others):
            for _ in range(half):
                step(optimizer, parameters)
            check = "exchange foreach" if options.get("foreach") else "exchange"
            faults = compare(check, subject(name), parameters, wanted.weights[-1])
            yield from _told(label, faults)


def _continued(library: ModuleType, name: str, options: Any, before: Run) -> Run:
    """A run that begins with the weights and the state of one of PyTorch's."""
    run, move = Run(library, name, "float64", options, False), transfer.Transfer(library)
    for own, given in zip(run.parameters, before.parameters, strict=True):
        own.data.copy_(move(given.detach()))
    run.optimizer.load_state_dict(move(before.optimizer.state_dict()))
    return run


def differentiable_faults(name: str) -> Iterator[Fault]:
    """Gradients through two steps."""
    if "differentiable" not in ENTRIES[name].supported_impls:
        return
    for given in ENTRIES[name].optim_inputs_func(device="cpu"):
        if _has_tensor(given.kwargs):
            continue
        try:
            steps, wanted = 2, _gradients(torch, name, given.kwargs, 2)
        except RuntimeError:  # PyTorch's second step writes over what the first one needs
            steps, wanted = 1, _gradients(torch, name, given.kwargs, 1)
        mine = _gradients(torchgen_out, name, given.kwargs, steps)
        yield from _told(str(given.kwargs), compare("differentiable", subject(name), mine, wanted))


def _gradients(library: ModuleType, name: str, options: Any, steps: int) -> list[Any]:
    """Gradients with respect to the weights before a few steps."""
    start = weights(library, name, "float64")
    moved = [each.clone() for each in start]
    optimizer = getattr(library.optim, name)(moved, **options, differentiable=True)
    for number in range(steps):
        for each, first in zip(moved, start, strict=True):
            each.grad = (first * (number + 1.5)).sin()
        optimizer.step()
    return list(library.autograd.grad(sum(each.square().sum() for each in moved), start))


def refusal_faults(name: str) -> Iterator[Fault]:
    """Errors of the table: their class, and the words that PyTorch's tests look for."""
    for case in ENTRIES[name].optim_error_inputs_func("cpu", torch.float32):
        given = case.optimizer_error_input
        told = [
            _told_by(library, name, given.params, given.kwargs) for library in (torchgen_out, torch)
        ]
        if told[1] is None or not re.search(case.error_regex, str(told[1])):
            continue
        if told[0] is None:
            yield Fault("refusal", f"{given.desc}: accepted")
        elif type(told[0]) is not type(told[1]):
            yield Fault("refusal", f"{given.desc}: {told[0]!r}, PyTorch {told[1]!r}")
        elif not re.search(case.error_regex, str(told[0])):
            yield Fault("refusal text", f"{given.desc}: {told[0]}, PyTorch {told[1]}")


def _told_by(library: ModuleType, name: str, params: Any, options: Any) -> BaseException | None:
    move = transfer.Transfer(library)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            optimizer = getattr(library.optim, name)(move(params), **move(options))
            for group in optimizer.param_groups:
                for parameter in group["params"]:
                    parameter.grad = library.ones_like(parameter)
            optimizer.step()
    except (TypeError, ValueError, RuntimeError, UserWarning) as error:
        return error
    return None


def sparse_faults(name: str) -> Iterator[Fault]:
    """Weights under sparse gradients, of which some rows are missing, step by step."""
    entry = ENTRIES[name]
    if name not in SPARSE:
        return
    for given in [entry.metadata_for_sparse[0], *_sparse_options(entry)]:
        runs = [_sparse_run(library, name, given) for library in (torchgen_out, torch)]
        yield from _told(str(given), compare("sparse trajectory", subject(name), *runs))


def _sparse_options(entry: Any) -> list[Any]:
    """The options of an optimizer that takes no other gradients."""
    if not entry.only_supports_sparse_grads:
        return []
    given = [each.kwargs for each in entry.optim_inputs_func(device="cpu")]
    return [each for each in given if not _has_tensor(each)]


def _sparse_run(library: ModuleType, name: str, options: Any) -> list[Any]:
    parameters = weights(library, name, "float64")[:2]
    optimizer = getattr(library.optim, name)(parameters, **transfer.Transfer(library)(options))
    found = []
    for number in range(STEPS.get(name, 6)):
        for each in parameters:
            grad = each.detach().sin() * (number + 1)
            grad[number % len(grad)] = 0
            each.grad = grad.to_sparse(1)
        optimizer.step()
        found += [each.detach().clone() for each in parameters]
    return found


def schedule_faults(name: str) -> Iterator[Fault]:
    """The learning rates under the table's schedulers."""
    for makers in ENTRIES[name].scheduler_inputs:
        rates: list[list[Any]] = []
        for library in (torchgen_out, torch):
            run = Run(library, name, "float64", {}, False)
            schedulers = [_of(library, maker)(run.optimizer) for maker in makers]
            rates.append([])
            for _ in range(12):
                loss = step(run.optimizer, run.parameters)
                for scheduler in schedulers:
                    plateau = type(scheduler).__name__ == "ReduceLROnPlateau"
                    scheduler.step(loss) if plateau else scheduler.step()
                rates[-1].append(float(run.optimizer.param_groups[0]["lr"]))
        if not np.allclose(*rates, rtol=1e-6):
            yield Fault("schedule", f"{rates[0]}, PyTorch {rates[1]}")


def _of(library: ModuleType, maker: FunctionType) -> Callable[..., Any]:
    """The table's function with a library's schedulers."""
    known = vars(library.optim.lr_scheduler)
    names = {key: known.get(key, value) for key, value in maker.__globals__.items()}
    return FunctionType(maker.__code__, names, closure=maker.__closure__)


CHECKS: tuple[Callable[[str], Iterator[Fault]], ...] = (
    lambda name: trajectory_faults(name, "float64"),
    # In float32 the searches of LBFGS go ways of their own after a few steps.
    lambda name: trajectory_faults(name, "float32") if name != "LBFGS" else iter(()),
    lambda name: trajectory_faults(name, "complex128") if _is_complex(name) else iter(()),
    exchange_faults,
    differentiable_faults,
    schedule_faults,
    sparse_faults,
)


def _is_complex(name: str) -> bool:
    return bool(ENTRIES[name].supports_complex)


def faults(name: str) -> Iterator[Fault]:
    """All that is not as in PyTorch, errors apart."""
    for check in CHECKS:
        yield from check(name)
