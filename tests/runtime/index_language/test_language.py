"""Every construct of the index language, run: values beside NumPy's, gradients beside differences.

The operators are those of language_ops.yaml; each is called with every floating dtype, with strided
and broadcast operands, with no batch dim, several, and none of an extent.
"""

from __future__ import annotations

import builtins
import dis
import importlib
import pkgutil
from collections.abc import Callable, Iterator
from pathlib import Path
from types import FunctionType
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from tests.research_package import generated
from tests.ruff import accept
from torchgen_out._runtime.autograd.gradcheck import gradcheck, gradgradcheck

F64 = torch.float64
Array = Any


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    folder = tmp_path_factory.mktemp("language")
    with generated(folder, "language_ops", Path(__file__).parent, "language") as package:
        yield package


# -- what is expected ---------------------------------------------------------------------------


def _outside(x: Array, k: int) -> Array:
    n = x.shape[-1]
    at = np.arange(n)
    mirrored = np.pad(np.arange(n), k, "reflect")[:n] if n > 1 else at
    shifted = np.concatenate([np.full((*x.shape[:-1], k), 5.0), x], -1)[..., :n]
    inside = x[..., np.minimum(at + k, n - 1)]
    return x[..., (at + k) % n] + 2 * x[..., mirrored] + 3 * inside + 4 * shifted


def _places(x: Array) -> Array:
    n = x.shape[-1]
    at = np.arange(n)
    return x[..., at // 2] + 2 * x[..., (3 * at + 1) % n] + 3 * x[..., np.minimum(at, 2)]


def _logsumexp(x: Array, axis: Any = -1) -> Array:
    with np.errstate(divide="ignore"):
        return np.log(np.exp(x).sum(axis))


def _folds(x: Array) -> Array:
    found = x.prod(-1) + 2 * x.min(-1) + 3 * x.max(-1) + 4 * x.mean(-1)
    return found + 5 * _logsumexp(x)


def _wavefront(x: Array) -> Array:
    r = np.zeros_like(x)
    for i in range(x.shape[-2]):
        for j in range(x.shape[-1]):
            above = r[..., i - 1, j] if i else 0.0
            left = r[..., i, j - 1] if j else -1.0
            r[..., i, j] = x[..., i, j] + np.maximum(above, 0.5 * left)
    return r


def _carried(x: Array, a: Array) -> tuple[Array, ...]:
    x, a = np.broadcast_arrays(x, a)
    n, decayed, last = x.shape[-1], np.full(x.shape[:-1], 2.0), np.zeros(x.shape[:-1], np.int64)
    total = x[..., ::-1].cumsum(-1)[..., ::-1]
    rows, lasts = np.empty_like(x), np.empty(x.shape, np.int64)
    top = np.maximum.accumulate(x, -1)
    for t in range(n):
        rows[..., t] = decayed = a[..., t] * decayed + x[..., t]
        lasts[..., t] = last = np.where(x[..., t] == top[..., t], t, last)
    return total, rows, np.logaddexp.accumulate(x, -1), lasts


def _backwards(x: Array) -> Array:
    n = x.shape[-1]
    out = np.zeros_like(x)
    for t in reversed(range(n)):
        one = out[..., t + 1] if t + 1 < n else 0.0
        two = out[..., t + 2] if t + 2 < n else 1.0
        out[..., t] = x[..., t] + 0.5 * one * two
    return out


def _broadcast(a: Array, b: Array) -> Array:
    return a[..., :, None] * b[..., None, :] + a.sum(-1)[..., None, None]


def _computed(x: Array, at: Array) -> Array:
    whole = np.floor(at).astype(int)
    inside = (whole >= 0) & (whole < len(x))
    padded = np.append(x, 7)
    return padded[np.where(inside, whole, len(x))] * at


def _scattered(x: Array, group: Array, groups: int) -> tuple[Array, ...]:
    of = [x[group == g] for g in range(groups)]
    high = [v.max(initial=-np.inf) for v in of]
    low = [v.min(initial=np.inf) for v in of]
    return np.array([v.prod() for v in of]), np.array(high), np.array(low)


def _side_by_side(x: Array, at: Array, place: Array, count: int) -> tuple[Array, ...]:
    c, _, d = x.shape[-3:]
    batch = x.shape[:-3]
    between, own = np.zeros((*batch, c, count, d)), np.zeros((*batch, c, d, count))
    chosen, first = np.zeros((*batch, c, count, d)), np.full((count, d, c), -np.inf)
    for i, s in enumerate(at):
        if 0 <= s < count:
            between[..., s, :] += x[..., i, :]
            chosen[..., s, :] += np.where(np.arange(d) != s, x[..., i, :], 0)
            largest = x[..., i, :].max(tuple(range(len(batch))), initial=-np.inf)
            first[s] = np.maximum(first[s], largest.T)
        for k in range(c):
            if 0 <= place[k, i] < count:
                own[..., k, :, place[k, i]] += x[..., k, i, :]
    behind = np.moveaxis(between, (-1, -3, -2), (-3, -2, -1))
    return between, first, behind, own, chosen


def _conditions(x: Array, label: Array) -> Array:
    same = label[:, None] == label
    return np.cumsum(np.where(x > 0, x, 0)) + (same * x**2).sum(-1)


def _by_label(x: Array, label: Array, power: int) -> tuple[Array, Array]:
    here = np.where(label[:, None] == np.arange(4), x[:, None], 0)
    return x.sum(), here + (x**power).sum()


def _one_of(x: Array, y: Array, z: Array, which: str) -> Array:
    return {"x": x, "y": y, "z": z * x}[which].sum(-1)


def _steps(x: Array) -> Array:
    series, part = 1.0, 1.0
    for n in range(8):
        part = part * x / (n + 1)
        series = series + part
    return np.sqrt(x**2 + 1) + series


def _moments(x: Array, count: int) -> tuple[Array, ...]:
    ordered = np.sort(np.concatenate([np.full((*x.shape[:-1], 2), -np.inf), x], -1), -1)
    rest = 1.0
    for n in range(count):
        rest = rest / 2 + x[..., 0] / (n + 1)
    return x.mean(-1), x.var(-1) * x.shape[-1], ordered[..., -1], ordered[..., -2], rest


def _centred(x: Array) -> Array:
    mean = x.mean(-1, keepdims=True)
    return (x - mean) ** 2 + x - x * mean


def _with_or_without(x: Array, scale: Any, shift: Any, power: Any) -> Array:
    scaled = x if scale is None else x * scale
    scaled = scaled if power is None else np.abs(scaled) ** power
    return scaled if shift is None else scaled + shift


REFERENCES: dict[str, Callable[..., Any]] = {
    "outside": _outside,
    "places": _places,
    "folds": _folds,
    "over_all": lambda x: (x**2).sum() + _logsumexp(x, None),
    "truths": lambda x: ((x > 1).any(-1), (x > -1).all(-1)),
    "extremes": lambda x: (x.argmax(-1), x.argmin(-1), x.max(-1) - x.min(-1)),
    "gathered": lambda x, at: x[at],
    "computed": _computed,
    "wavefront": _wavefront,
    "backwards": _backwards,
    "carried": _carried,
    "broadcast": _broadcast,
    "scattered": _scattered,
    "side_by_side": _side_by_side,
    "conditions": _conditions,
    "by_label": _by_label,
    "one_of": _one_of,
    "steps": _steps,
    "moments": _moments,
    "with_or_without": _with_or_without,
    "centred": _centred,
}

# -- what is given ------------------------------------------------------------------------------


def _randn(*sizes: int) -> Any:
    return torch.randn(*sizes, dtype=F64)


def _strided(*sizes: int) -> Any:
    """The same, every second element of memory whose dims are exchanged."""
    return _randn(*sizes[::-1], 2)[..., 0].permute(*reversed(range(len(sizes))))


_AT, _PLACE = torch.tensor([2, 0, 2, 5]), torch.tensor([[0, 1, 0, -1], [2, 2, 0, 0]])

CALLS: dict[str, list[Callable[[], tuple[Any, ...]]]] = {
    "outside": [lambda: (_randn(5), 2), lambda: (_strided(2, 3, 4), 1), lambda: (_randn(0, 4), 1)],
    "places": [lambda: (_strided(2, 7),), lambda: (_randn(3),)],
    "folds": [lambda: (_strided(2, 3, 4),), lambda: (_randn(1, 1),), lambda: (_randn(2, 0, 3),)],
    "over_all": [lambda: (_strided(2, 3, 4),), lambda: (_randn(5),)],
    "truths": [lambda: (_strided(3, 4),), lambda: (_randn(4),), lambda: (_randn(2, 0),)],
    "extremes": [lambda: (_strided(3, 4),), lambda: (_randn(6),), lambda: (_randn(0, 3),)],
    "gathered": [lambda: (_strided(4), torch.tensor([3, 0, 3])),
                 lambda: (_randn(2), torch.tensor([], dtype=torch.int64))],
    "computed": [lambda: (_strided(4), 6 * torch.rand(9, dtype=F64) - 1),
                 lambda: (_randn(0), _randn(3))],
    "wavefront": [lambda: (_strided(2, 4, 3),), lambda: (_randn(1, 5),), lambda: (_randn(0, 2),)],
    "backwards": [lambda: (_strided(3, 5),), lambda: (_randn(1),), lambda: (_randn(2, 0),)],
    "carried": [lambda: (_strided(3, 70), _randn(70)), lambda: (_randn(4), _randn(4)),
                lambda: (_randn(2, 0), _randn(0))],
    "broadcast": [lambda: (_randn(3, 1, 4), _strided(2, 3)), lambda: (_randn(2), _randn(4)),
                  lambda: (_randn(2, 3).expand(4, 2, 3), _randn(0))],
    "scattered": [lambda: (_strided(6), torch.tensor([0, 1, 1, 0, 3, 1]), 4),
                  lambda: (_randn(0), torch.tensor([], dtype=torch.int64), 2)],
    "side_by_side": [lambda: (_strided(2, 4, 3), _AT, _PLACE, 3),
                     lambda: (_randn(2, 1, 2, 4, 5), _AT, _PLACE, 4),
                     lambda: (_randn(2, 3, 2, 4, 1).transpose(0, 1), _AT, _PLACE, 1),
                     lambda: (_randn(2, 4, 0), _AT, _PLACE, 3)],
    "conditions": [lambda: (_strided(5), torch.tensor([2, 0, 2, 1, 0])),
                   lambda: (_randn(0), torch.tensor([], dtype=torch.int64))],
    "by_label": [lambda: (_strided(5), torch.tensor([2, 0, 2, 3, 0]), 1),
                 lambda: (_strided(5), torch.tensor([2, 0, 2, 4, 0]), 2)],
    "one_of": [lambda: (_strided(2, 3), _randn(2, 3), _randn(2, 3).t().contiguous().t(), "x"),
               lambda: (_strided(2, 3), _strided(2, 3), _randn(2, 6)[:, 3:], "y"),
               lambda: (_randn(2, 6)[:, 3:], _strided(2, 3), _randn(2, 6)[:, 3:], "z")],
    "steps": [lambda: (_strided(2, 3),), lambda: (_randn(0, 3),)],
    "moments": [lambda: (_strided(2, 5), 3), lambda: (_randn(2), 1)],
    "with_or_without": [lambda: (_strided(2, 3), None, None, None),
                        lambda: (_randn(2, 3), _strided(3), None, 3.0),
                        lambda: (_randn(3), _randn(3), _randn(3), None)],
    "centred": [lambda: (_strided(2, 3),), lambda: (_randn(4),)],
}  # fmt: skip
NOT_DIFFERENTIABLE = ("truths", "by_label", "one_of")
TOLERANCES = {torch.float64: 1e-12, torch.float32: 3e-5, torch.float16: 1e-2, torch.bfloat16: 8e-2}


def _results(found: Any) -> tuple[Any, ...]:
    return tuple(found) if isinstance(found, tuple) else (found,)


def _is_float(value: Any) -> bool:
    return isinstance(value, torch.Tensor) and value.is_floating_point()


@pytest.mark.parametrize("dtype", TOLERANCES, ids=str)
@pytest.mark.parametrize("name", REFERENCES)
def test_values(ops: Any, name: str, dtype: Any) -> None:
    torch.manual_seed(0)
    tolerance = TOLERANCES[dtype]
    for call in CALLS[name]:
        args = [a.to(dtype) if _is_float(a) else a for a in call()]
        plain = [
            a.to(F64 if _is_float(a) else a.dtype).numpy() if isinstance(a, torch.Tensor) else a
            for a in args
        ]
        for ours, theirs in zip(
            _results(getattr(ops, name)(*args)), _results(REFERENCES[name](*plain)), strict=True
        ):
            assert tuple(ours.shape) == np.shape(theirs)
            if ours.is_floating_point():
                assert ours.dtype is dtype
            found = ours.to(F64) if ours.is_floating_point() else ours
            np.testing.assert_allclose(found.numpy(), theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize("name", [name for name in REFERENCES if name not in NOT_DIFFERENTIABLE])
def test_gradients(ops: Any, name: str) -> None:
    """First and second gradients are those of differences; of nothing they have its shape."""
    torch.manual_seed(0)

    def numbers(*args: Any) -> Any:
        return tuple(r for r in _results(getattr(ops, name)(*args)) if r.is_floating_point())

    for call in CALLS[name]:
        args = [a.detach().requires_grad_() if _is_float(a) else a for a in call()]
        results = numbers(*args)
        if name == "centred":  # part of it is a constant to derivatives
            results[0].sum().backward()
            x = args[0].detach()
            expected = 2 * (x - x.mean(-1, keepdim=True))
            np.testing.assert_allclose(args[0].grad.numpy(), expected.numpy(), atol=1e-12)
        elif all(r.numel() and r.isfinite().all() for r in results):
            assert gradcheck(numbers, args)
            assert gradgradcheck(numbers, args)
        else:
            sum(r.sum() for r in results).backward()
            for each in args:
                if _is_float(each):
                    assert each.grad.shape == each.shape


@pytest.mark.parametrize("dtype", [torch.int32, torch.complex64], ids=str)
def test_numbers_that_are_not_floats(ops: Any, dtype: Any) -> None:
    x = np.arange(-3, 600).astype(dtype.numpy) * (2 - 1j if dtype.is_complex else 1)
    x, group = x.astype(dtype.numpy), np.arange(603) % 3
    found = ops.of_any_number(torch.tensor(x), torch.tensor(group), 4)
    near = x * x + np.append(x[1:], 0).astype(x.dtype) * x - 2 * x
    expected = [near[group == g].sum() for g in range(4)]
    assert found.dtype is dtype
    np.testing.assert_allclose(found.numpy(), np.array(expected, x.dtype), 1e-6)


def test_gradients_that_nobody_needs_are_left_out(ops: Any) -> None:
    """Each gradient alone is what it is among all."""
    inputs = [_randn(3, 1, 4).requires_grad_(), _randn(2, 3).requires_grad_()]
    whole = torch.autograd.grad(ops.broadcast(*inputs).sum(), inputs)
    for number, each in enumerate(inputs):
        given = [one if one is each else one.detach() for one in inputs]
        (alone,) = torch.autograd.grad(ops.broadcast(*given).sum(), each)
        np.testing.assert_array_equal(alone.numpy(), whole[number].numpy())


def test_sizes_that_do_not_fit_are_refused(ops: Any) -> None:
    """Before anything is made, with the index and both sizes in the message."""
    group = torch.tensor([0, 1])
    with pytest.raises(RuntimeError, match=r"'i' goes to 2, but size\(x, -1\) is 3"):
        ops.scattered(_randn(3), group, 2)
    with pytest.raises(RuntimeError, match="expected at least 2 dims of 'x'"):
        ops.folds(_randn(4))
    with pytest.raises(RuntimeError, match="the extent of 'g' is -1"):
        ops.scattered(_randn(2), group, -1)
    with pytest.raises(IndexError, match="there is no element along 'j'"):
        ops.extremes(_randn(2, 0))
    for outside in (2, -1):
        with pytest.raises(IndexError, match="index out of range in self"):
            ops.gathered(_randn(2), torch.tensor([0, outside]))


def test_draws(ops: Any) -> None:
    """Gradients of two orders draw what the call has drawn, whatever is broadcast."""
    torch.manual_seed(0)
    inputs = [_randn(3, 1, 4).requires_grad_(), _strided(2, 4).requires_grad_()]

    def seeded(*args: Any) -> Any:
        return tuple(ops.noisy(*args, generator=torch.Generator().manual_seed(5)))

    assert gradcheck(seeded, inputs)
    assert gradgradcheck(seeded, inputs)
    for each in (torch.float32, torch.float64):
        rows, total = ops.noisy(torch.ones(1000, 50, dtype=each), torch.ones(50, dtype=each))
        assert abs(float(rows.mean()) - 25) < 0.3
        assert abs(float(rows.var()) - (50 / 12 + 1)) < 0.6
        assert abs(float(total) / 50_000 - 0.5) < 0.02


def test_texts_of_kernels_name_what_is_there(ops: Any) -> None:
    package = importlib.import_module(f"{ops.__name__}.kernels.index")
    names = [each.name for each in pkgutil.iter_modules(package.__path__, f"{package.__name__}.")]
    functions = [
        each
        for module in map(importlib.import_module, names)
        for each in vars(module).values()
        if isinstance(each, FunctionType) and each.__module__ == module.__name__
    ]
    missing = {
        instruction.argval
        for function in functions
        for instruction in dis.get_instructions(function)
        if instruction.opname == "LOAD_GLOBAL"
        and instruction.argval not in {"T", *function.__globals__}
        and not hasattr(builtins, instruction.argval)
    }
    assert len(functions) > 50 and not missing


def test_all_results_need_all_launches(ops: Any) -> None:
    """Without one, what others read is undefined, and so is what a scatter begins from."""
    launches = 0
    for name in (f"{ops.__name__}.kernels.index", "torchgen_out.kernels.index"):
        package = importlib.import_module(name)
        for each in pkgutil.iter_modules(package.__path__, f"{name}."):
            program = importlib.import_module(each.name).program
            for one in (program, *program.others.values()):
                for way in (one.launches, one.on_device, one.on_long_rows):
                    assert one.needed(way, one.results) == list(way), one.name
                    launches += len(way)
    assert launches > 500


def test_formatters_leave_the_package_as_it_is(ops: Any) -> None:
    accept(ops)
