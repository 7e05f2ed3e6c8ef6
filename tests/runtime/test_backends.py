"""A backend from outside, on a device type of its own: what it computes, refuses, and leaves to the
host; and the page that shows it.
"""

from __future__ import annotations

import copy
import io
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests import calls, harness, tolerances
from tests.runtime import test_operators, toy_backend
from torchgen_out._runtime import dispatch
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.dispatch import backends, tables

ROOT = Path(__file__).resolve().parents[2]
OURS = calls.Session(torch, dispatch.ops)
OPERATORS = [each for each in harness.program().operators if not each.has_tag("nondeterministic")]


@pytest.fixture(scope="module")
def toy() -> Iterator[toy_backend.ToyBackend]:
    """The backend, which other tests do not meet."""
    backend = toy_backend.register()
    yield backend
    del torch.Tensor.toy, torch.Tensor.is_toy, torch.nn.Module.toy
    devices._private.clear()
    devices._TYPE_NAMES.remove("toy")
    del backends._backends[devices.TYPE_INDEX.pop("toy")]
    for text in [text for text in devices._BY_STRING if text.startswith("toy")]:
        del devices._BY_STRING[text]
    tables.forget_calls()


def moved(value: Any) -> Any:
    """A tensor, or those of a list, on the toy."""
    if isinstance(value, torch.Tensor):
        return value.detach().to("toy").requires_grad_(value.requires_grad)
    return [moved(each) for each in value] if isinstance(value, list) else value


def assert_equal(got: Any, expected: Any, name: str) -> None:
    for ours, theirs in zip(calls.results(got), calls.results(expected), strict=True):
        if not isinstance(theirs, torch.Tensor):
            assert ours == theirs
            continue
        assert (ours.dtype, ours.shape) == (theirs.dtype, theirs.shape)
        table = tolerances.VALUE.get(calls.name_of(ours.dtype), tolerances.EXACT)
        allowed = tolerances.Tolerance(table.relative * 4, table.absolute * 4)
        tolerances.assert_close(calls.array(ours.cpu()), calls.array(theirs), allowed, name)


# -- every operator --------------------------------------------------------------------------------


def _parameters() -> list[Any]:
    """One operator of fifteen, all of them in the full tier."""
    marks = [[] if harness.is_one_of(each, 15) else [pytest.mark.full] for each in OPERATORS]
    return [pytest.param(o, id=o.name, marks=m) for o, m in zip(OPERATORS, marks, strict=True)]


def _dtype_of(operator: Any) -> str | None:
    return next((n for n in ("float32", "int64", "bool") if n in operator.dtype_names), None)


@pytest.mark.filterwarnings("ignore:.* is in beta", "ignore:The reduce argument of")
@pytest.mark.parametrize("operator", _parameters())
def test_operators_agree_with_the_cpu(toy: Any, operator: Any, monkeypatch: Any) -> None:
    """Values and gradients, where the toy is allowed all dtypes that operators make."""
    monkeypatch.setattr(toy, "dtypes", frozenset(dtypes.ALL))
    case = next((each for each in harness.cases(operator) if not each.raises), None)
    dtype = _dtype_of(operator)
    if case is None or dtype is None:
        pytest.skip("no case in a dtype of the toy")
    has_gradient = test_operators.is_smooth(case)
    needs = test_operators.differentiable_arguments(case) if has_gradient else False
    host = OURS.arguments(case, dtype, requires_grad=needs)
    values = {name: moved(value) for name, value in host.values.items()}
    got, expected = calls.Call(OURS, operator, values, [])(), host()
    assert_equal(got, expected, str(case))
    gradients = [_gradients(*each) for each in ((got, values), (expected, host.values))]
    for ours, theirs in zip(*gradients, strict=True):
        assert (ours is None) == (theirs is None)
        if ours is not None:
            assert ours.device.type == "toy"
            assert_equal(ours, theirs, f"gradient of {case}")


def _gradients(made: Any, values: dict[str, Any]) -> tuple[Any, ...]:
    results = [each for each in calls.results(made) if getattr(each, "requires_grad", False)]
    leaves = [v for v in values.values() if isinstance(v, torch.Tensor) and v.requires_grad]
    if not results or not leaves:
        return ()
    sums = [(each.real if each.is_complex() else each).sum() for each in results]
    return tuple(torch.autograd.grad(sums, leaves, allow_unused=True))


# -- what a tensor is, wherever it lies ------------------------------------------------------------


def test_devices(toy: Any) -> None:
    x = torch.ones(2, device="toy")
    assert x.device == torch.device("toy:0") and x.is_toy and not x.is_cpu and not x.is_cuda
    assert torch.device("privateuseone:1") is torch.device("toy", 1)
    assert torch.zeros(2, device="toy:1").device == torch.device("toy:1")
    assert (torch.zeros(2, device="toy:1") + 1).device == torch.device("toy:1")
    assert x.to("toy") is x and x.cpu().device.type == "cpu" and x.to("meta").is_meta
    assert torch.ones(2).toy(1).device == torch.device("toy:1")
    with torch.device("toy"):
        assert torch.arange(3).is_toy
    assert repr(torch.tensor([1.5, 2], device="toy")) == "tensor([1.5000, 2.0000], device='toy:0')"
    with pytest.raises(RuntimeError, match="no device 'toy:2': there are 2"):
        torch.empty(1, device="toy:2")
    with pytest.raises(RuntimeError, match="already been set! Current backend: toy"):
        torch.utils.rename_privateuse1_backend("other")


def test_a_module_of_the_device(toy: Any) -> None:
    module = ModuleType("toy")
    torch._register_device_module("toy", module)
    assert torch.get_device_module("toy:1") is torch.toy is module
    with pytest.raises(RuntimeError, match="'toy' has already been registered"):
        torch._register_device_module("privateuseone", module)
    del torch.toy, sys.modules["torchgen_out.toy"]


def test_dtypes_that_the_device_has_not_are_refused(toy: Any) -> None:
    x = torch.ones(2, device="toy")
    refused = "'toy' tensors cannot be torch.float64; they are bool, float32, int32, int64"
    for call in (
        lambda: torch.ones(2, device="toy", dtype=torch.float64),
        lambda: torch.ones(2, dtype=torch.float64).to("toy"),
        lambda: x.double(),
    ):
        with pytest.raises(TypeError, match=refused):
            call()


def test_writes_reach_the_device(toy: Any) -> None:
    x = torch.arange(6.0, device="toy").reshape(2, 3)
    version = x._version
    x[0].mul_(10)
    x[:, 1] = 5
    x.t()[2].copy_(torch.tensor([7.0, 8.0]))
    x.clamp_(max=7.5)
    assert x.tolist() == [[0, 5, 7], [3, 5, 7.5]] and x._version > version
    with pytest.raises(RuntimeError, match="refer to a single memory location"):
        x.view(-1)[:4].add_(x.view(-1)[2:])
    out = torch.empty(0, device="toy")
    assert torch.mm(x, x.t(), out=out) is out and out.shape == (2, 2)
    out = torch.empty(2, 3, device="toy")
    assert torch.cumsum(x, 0, out=out) is out and out.tolist() == [[0, 5, 7], [3, 10, 14.5]]
    host = torch.zeros(2, 3)
    assert host.copy_(x).tolist() == x.tolist()
    assert x.resize_(3, 3).shape == (3, 3) and x[0].tolist() == [0, 5, 7]


def test_devices_do_not_mix(toy: Any) -> None:
    x = torch.ones(2, device="toy")
    assert (x * torch.tensor(2.0)).tolist() == [2, 2]
    with pytest.raises(RuntimeError, match="two devices, toy and cpu"):
        x + torch.ones(2)
    for call in (torch.add, torch.dot, lambda a, b: torch.stack([a, b])):
        with pytest.raises(RuntimeError, match="two devices, toy:0 and toy:1"):
            call(x, x.to("toy:1"))
    assert torch.zeros(2, device="toy:1").copy_(x).tolist() == [1, 1]


def test_a_layer_learns(toy: Any) -> None:
    torch.manual_seed(0)
    layer = torch.nn.Linear(3, 1)
    twin = copy.deepcopy(layer).toy()
    x, y = torch.randn(8, 3), torch.randn(8, 1)
    losses = []
    for model, data, target in ((layer, x, y), (twin, x.toy(), y.toy())):
        optimizer = torch.optim.Adam(model.parameters(), lr=0.1)
        for _ in range(3):
            optimizer.zero_grad()
            loss = torch.nn.functional.mse_loss(model(data).tanh(), target)
            loss.backward()
            optimizer.step()
        losses.append(loss.item())
    assert losses[0] == pytest.approx(losses[1], rel=1e-5)


def test_copies_and_files(toy: Any) -> None:
    x = torch.arange(4.0, device="toy:1")
    copied = copy.deepcopy(x)
    copied.zero_()
    file = io.BytesIO()
    torch.save(x, file)
    for where, device in ((None, "toy:1"), ("cpu", "cpu")):
        file.seek(0)
        loaded = torch.load(file, map_location=where)
        assert loaded.device == torch.device(device) and loaded.tolist() == [0, 1, 2, 3]
    assert x.tolist() == [0, 1, 2, 3] and x.numpy(force=True).dtype == np.float32


def test_only_named_operators_run_on_the_host(toy: Any, monkeypatch: Any) -> None:
    monkeypatch.setattr(toy, "host_operators", frozenset({"sum", "sort"}))
    tables.forget_calls()
    x = torch.tensor([3.0, 1.0], device="toy")
    assert x.sum().item() == 4 and x.sort().values.tolist() == [1, 3] and (x * 2).tolist() == [6, 2]
    with pytest.raises(
        NotImplementedError, match="'cumsum' is not implemented for device type 'toy'"
    ):
        x.cumsum(0)
    monkeypatch.undo()
    tables.forget_calls()
    assert x.cumsum(0).tolist() == [3, 4]


def test_what_is_no_backend_is_refused() -> None:
    register = torch.utils.backend_registration.register_backend
    with pytest.raises(TypeError, match="expected a Backend, got object"):
        register("thing", object())
    with pytest.raises(RuntimeError, match="'cuda' is served by the library itself"):
        register("cuda", toy_backend.ToyBackend())


# -- the page --------------------------------------------------------------------------------------


def test_the_page_shows_the_file_that_is_tested() -> None:
    source = (ROOT / "tests/runtime/toy_backend.py").read_text(encoding="utf-8")
    page = (ROOT / "docs/backends.md").read_text(encoding="utf-8")
    assert f"```python\n{source}```\n" in page
    assert len(source.splitlines()) <= 100
