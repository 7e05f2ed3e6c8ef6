"""One module in both libraries, with the same weights and inputs: each check yields its faults."""

from __future__ import annotations

import copy
import functools
import inspect
import itertools
import pickle
import re
import warnings
from collections.abc import Callable, Iterator
from types import ModuleType
from typing import Any

import numpy as np
import torch
from torch.testing._internal import common_modules

import torchgen_out
from tests.parity.op_db import transfer
from tests.parity.op_db.comparison import Fault, Subject, compare, flat

ENTRIES = {entry.name.removeprefix("nn."): entry for entry in common_modules.module_db}
DTYPES = {"float32": torch.float32, "float64": torch.float64}
CHANNELS_LAST = {4: "channels_last", 5: "channels_last_3d"}


def inputs(name: str, dtype: str, training: bool) -> list[Any]:
    """The table's constructions and inputs of a module; the same in every run."""
    torch.manual_seed(0)
    entry = ENTRIES[name]
    return list(
        entry.module_inputs_func(
            entry, device="cpu", dtype=DTYPES[dtype], requires_grad=True, training=training
        )
    )


class Subjects:
    """A module of each library, made from one construction, with PyTorch's weights."""

    def __init__(self, name: str, given: Any, dtype: str, training: bool) -> None:
        self.name, self.given = name, given
        torch.manual_seed(1)
        self.theirs, self.ours = (
            self._made(library, dtype).train(training) for library in (torch, torchgen_out)
        )
        if "Lazy" in name:
            for library in (torch, torchgen_out):
                self.call(library)

    def _made(self, library: ModuleType, dtype: str) -> Any:
        move = transfer.Transfer(library)
        given = self.given.constructor_input
        args = [_layer(library, each) or move(each) for each in given.args]
        made = getattr(library.nn, self.name)(*args, **move(given.kwargs))
        return made.to(getattr(library, dtype))

    def of(self, library: ModuleType) -> Any:
        return self.theirs if library is torch else self.ours

    def give_weights(self) -> Iterator[Fault]:
        """Load PyTorch's state into ours, and ours back."""
        mine, wanted = self.ours.state_dict(), self.theirs.state_dict()
        if list(mine) != list(wanted):
            yield Fault("state", f"{list(mine)}, PyTorch {list(wanted)}")
            return
        if mine._metadata != wanted._metadata:
            yield Fault("state metadata", f"{mine._metadata}, PyTorch {wanted._metadata}")
        for key, value in wanted.items():
            if tuple(mine[key].shape) != tuple(value.shape):
                yield Fault("state", f"{key} {mine[key].shape}, PyTorch {value.shape}")
        self.ours.load_state_dict(transfer.Transfer(torchgen_out)(dict(wanted)))
        back = {key: torch.from_numpy(value.numpy().copy()) for key, value in mine.items()}
        self.theirs.load_state_dict(back)

    def call(self, library: ModuleType, module: Any = None) -> tuple[list[Any], list[Any]]:
        """The outputs, and the gradients of inputs and parameters."""
        move = transfer.Transfer(library)
        args, kwargs = move(self.given.forward_input.args), move(self.given.forward_input.kwargs)
        module = self.of(library) if module is None else module
        outputs = flat(module(*args, **kwargs))
        leaves = [*_leaves(library, [args, kwargs]), *module.parameters()]
        total: Any = 0
        for output in outputs:
            if isinstance(output, library.Tensor) and output.requires_grad:
                weight = np.cos(np.arange(output.numel())).reshape(output.shape)
                total = total + (output * library.from_numpy(weight).to(output.dtype)).sum()
        if isinstance(total, int):
            return outputs, []
        gradients = library.autograd.grad(total, leaves, allow_unused=True)
        return [_detached(each) for each in outputs], list(gradients)

    def exactly(self, module: Any) -> Callable[[], tuple[list[Any], list[Any]]]:
        """What PyTorch's module computes in float64."""

        def computed() -> tuple[list[Any], list[Any]]:
            given = copy.copy(self.given)
            given.forward_input = common_modules.FunctionInput(
                *_doubled(given.forward_input.args), **_doubled(given.forward_input.kwargs)
            )
            wide = copy.copy(self)
            wide.given = given
            return wide.call(torch, module.double())

        return computed

    def outputs(self, library: ModuleType, module: Any, memory_format: str) -> list[Any]:
        """The outputs for images in a memory format."""
        move = transfer.Transfer(library)
        args = [
            _as_format(library, move(each), memory_format) for each in self.given.forward_input.args
        ]
        return [_detached(each) for each in flat(module(*args))]


def _doubled(value: Any) -> Any:
    """A tree with its floats in float64."""
    if isinstance(value, tuple | list):
        return type(value)(map(_doubled, value))
    if isinstance(value, dict):
        return {key: _doubled(each) for key, each in value.items()}
    if isinstance(value, torch.Tensor) and value.is_floating_point():
        return value.detach().double().requires_grad_(value.requires_grad)
    return value


def _detached(value: Any) -> Any:
    return value.detach() if hasattr(value, "detach") else value


def _leaves(library: ModuleType, value: Any) -> list[Any]:
    """The tensors of a tree that want a gradient."""
    return [each for each in flat(value) if isinstance(each, library.Tensor) and each.requires_grad]


def _as_format(library: ModuleType, value: Any, memory_format: str) -> Any:
    """A tensor of images in a memory format, again a leaf; anything else as it is."""
    if not isinstance(value, library.Tensor) or CHANNELS_LAST.get(value.dim()) != memory_format:
        return value
    moved = value.detach().contiguous(memory_format=getattr(library, memory_format))
    return moved.requires_grad_(value.requires_grad)


def _layer(library: ModuleType, value: Any) -> Any:
    """A layer of a transformer as the library makes it, None for anything else."""
    if not isinstance(value, torch.nn.TransformerEncoderLayer):
        return None
    return library.nn.TransformerEncoderLayer(
        value.linear1.in_features,
        value.self_attn.num_heads,
        value.linear1.out_features,
        value.dropout.p,
        batch_first=value.self_attn.batch_first,
        norm_first=value.norm_first,
    )


def subject(name: str, strides: bool = True) -> Subject:
    return Subject(f"nn.{name}", by_element=False, strides=strides)


def computed_faults(name: str, dtype: str, training: bool, most: int | None) -> Iterator[Fault]:
    """Construction, state, outputs, gradients, buffers, copies, memory formats."""
    for given in itertools.islice(inputs(name, dtype, training), most):
        if given.forward_input is None:
            continue
        label = f"{dtype} {'train' if training else 'eval'} {given.desc} "
        label += f"{given.constructor_input.args} {given.constructor_input.kwargs}"
        for fault in _faults_of(Subjects(name, given, dtype, training)):
            yield Fault(fault.check, f"{label}: {fault.message}")


def _faults_of(pair: Subjects) -> Iterator[Fault]:
    if repr(pair.ours) != repr(pair.theirs):
        yield Fault("repr", f"{pair.ours!r}, PyTorch {pair.theirs!r}")
    yield from pair.give_weights()
    copies = [copy.deepcopy(pair.ours), pickle.loads(pickle.dumps(pair.ours))]
    wide = functools.cache(pair.exactly(copy.deepcopy(pair.theirs)))
    ours, theirs = pair.call(torchgen_out), pair.call(torch)
    yield from compare("forward", subject(pair.name), ours[0], theirs[0], lambda: wide()[0])
    yield from _gradient_faults(pair.name, ours[1], theirs[1], lambda: wide()[1])
    buffers = [list(each.buffers()) for each in (pair.ours, pair.theirs)]
    yield from compare("buffers", subject(pair.name), *buffers)
    for copied in copies:
        outputs, _ = pair.call(torchgen_out, copied)
        yield from compare("copy", subject(pair.name), outputs, theirs[0])
    for memory_format in CHANNELS_LAST.values():
        yield from _format_faults(pair, memory_format)


def _gradient_faults(name: str, ours: Any, theirs: Any, exact: Any) -> Iterator[Fault]:
    if [each is None for each in ours] != [each is None for each in theirs]:
        yield Fault("gradient", f"of {len(ours)}, PyTorch of {len(theirs)}, or some None")
        return
    given = [number for number, each in enumerate(theirs) if each is not None]
    yield from compare(
        "gradient",
        subject(name, strides=False),
        [ours[number] for number in given],
        [theirs[number] for number in given],
        lambda: [exact()[number] for number in given],
    )


def _format_faults(pair: Subjects, memory_format: str) -> Iterator[Fault]:
    """With images and weights whose channels lie last: values, and where channels lie after."""
    args = pair.given.forward_input.args
    if not any(
        isinstance(each, torch.Tensor) and CHANNELS_LAST.get(each.dim()) == memory_format
        for each in args
    ):
        return
    results = []
    for library in (torchgen_out, torch):
        module = copy.deepcopy(pair.of(library))
        try:
            module = module.to(memory_format=getattr(library, memory_format))
        except RuntimeError:  # PyTorch wants the rank of all weights
            return
        results.append(pair.outputs(library, module, memory_format))
    yield from compare("memory format", subject(pair.name), *results)


def factory_faults(name: str) -> Iterator[Fault]:
    """`device` and `dtype` where PyTorch's constructor takes them."""
    words = [
        inspect.signature(getattr(library.nn, name)).parameters for library in (torchgen_out, torch)
    ]
    for word in ("device", "dtype"):
        if (word in words[0]) != (word in words[1]):
            yield Fault("factory", f"{word}: {word in words[0]}, PyTorch {word in words[1]}")
    if "dtype" not in words[1]:
        return
    for given in inputs(name, "float32", True)[:3]:
        made = []
        for library in (torchgen_out, torch):
            options = transfer.Transfer(library)(given.constructor_input.kwargs)
            options = {**options, "dtype": library.float64, "device": "meta"}
            made.append(getattr(library.nn, name)(*given.constructor_input.args, **options))
        told = [
            [(key, str(value.dtype), str(value.device)) for key, value in each.state_dict().items()]
            for each in made
        ]
        if told[0] != told[1]:
            yield Fault("factory", f"{told[0]}, PyTorch {told[1]}")


def refusal_faults(name: str) -> Iterator[Fault]:
    """Errors of the table: their class, and the words that PyTorch's tests look for."""
    entry = ENTRIES[name]
    if entry.module_error_inputs_func is None or not hasattr(torchgen_out.nn, name):
        return
    for case in entry.module_error_inputs_func(
        entry, device="cpu", dtype=torch.float32, requires_grad=False, training=False
    ):
        given = case.module_error_input
        label = f"{given.constructor_input.args} {given.constructor_input.kwargs}"
        told = _told(torchgen_out, name, given)
        if told is None:
            yield Fault("refusal", f"{label}: accepted, PyTorch: {case.error_regex}")
        elif not isinstance(told, case.error_type):
            yield Fault("refusal", f"{label}: {told!r}, PyTorch {case.error_type.__name__}")
        elif not re.search(case.error_regex, str(told)):
            yield Fault("refusal text", f"{label}: {told}, PyTorch: {case.error_regex}")


def _told(library: ModuleType, name: str, given: Any) -> Exception | None:
    move = transfer.Transfer(library)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            module = getattr(library.nn, name)(
                *move(given.constructor_input.args), **move(given.constructor_input.kwargs)
            )
            if given.forward_input is not None:
                module(*move(given.forward_input.args), **move(given.forward_input.kwargs))
    except (TypeError, ValueError, RuntimeError, IndexError, AssertionError) as error:
        return error
    return None


def faults(name: str, dtypes: Any = tuple(DTYPES), most: int | None = None) -> Iterator[Fault]:
    """All that is not as in PyTorch."""
    if not hasattr(torchgen_out.nn, name):
        yield Fault("missing", name)
        return
    for dtype, training in itertools.product(dtypes, (True, False)):
        yield from computed_faults(name, dtype, training, most)
    yield from factory_faults(name)
    yield from refusal_faults(name)
