"""`repr` against PyTorch's, on hundreds of random tensors and on the odd ones."""

import itertools
import pickle

import numpy as np
import pytest

import torchgen_out
from torchgen_out._runtime.core import device as devices
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import alias, from_array, make_tensor
from torchgen_out._runtime.tensor_api import printing

torch = pytest.importorskip("torch")

SHAPES = [(), (0,), (1,), (7,), (30,), (2, 3), (0, 2), (2, 0, 3), (3, 1, 4), (2, 2, 2, 2)]
SHAPES += [(1001,), (40, 40), (3, 400), (400, 3), (1, 1, 1200), (11, 10, 10), (7, 1, 5, 40)]
FLOATING = ["float16", "bfloat16", "float32", "float64", "complex64", "complex128"]
INTEGRAL = ["uint8", "int8", "int16", "int32", "int64", "bool"]


def pair(array, name):
    """Our tensor and PyTorch's with the same elements."""
    theirs = torch.from_numpy(np.array(array)).to(getattr(torch, name))
    bits = theirs.view(torch.uint16) if name in ("float16", "bfloat16") else theirs
    return from_array(bits.numpy(), dtypes.by_name(name)), theirs


def check(array, name):
    ours, theirs = pair(array, name)
    assert printing.tensor_repr(ours) == repr(theirs)


@pytest.fixture(autouse=True)
def default_options():
    yield
    for module in (printing, torch):
        module.set_printoptions(profile="default")


def floating_arrays(shape, rng):
    """Numbers of every look: fractions, integers, wide ranges, tiny, huge, with non-finite."""
    normal = rng.standard_normal(shape)
    yield normal
    yield np.round(normal * 10)
    yield np.round(normal * 1e5)
    yield normal * 10.0 ** rng.integers(-6, 6, shape)
    yield normal * 1e-5
    yield np.zeros(shape)
    special = np.where(rng.random(shape) < 0.3, rng.choice([np.nan, np.inf, -np.inf]), normal)
    yield special
    yield np.where(rng.random(shape) < 0.3, np.inf, np.round(special))
    yield np.full(shape, np.nan)
    yield np.round(normal) * 1e9


@pytest.mark.parametrize("name", FLOATING)
def test_floating(name):
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        parts = list(floating_arrays(shape, rng))
        for array, other in itertools.pairwise([*parts, parts[0]]):
            with np.errstate(all="ignore"):
                values = array + 1j * other if name.startswith("complex") else array
            check(values, name)


@pytest.mark.parametrize("name", INTEGRAL)
def test_integral(name):
    rng = np.random.default_rng(0)
    for shape in SHAPES:
        for low, high in ((0, 2), (0, 100), (-100, 100), (-(2**40), 2**40)):
            check(rng.integers(low, high, shape), name)


OPTIONS = [
    {"precision": 2},
    {"precision": 8},
    {"sci_mode": True},
    {"sci_mode": False},
    {"linewidth": 40},
    {"linewidth": 200},
    {"threshold": 5},
    {"threshold": 5, "edgeitems": 1},
    {"threshold": 5, "edgeitems": 0},
    {"profile": "short"},
    {"profile": "full"},
    {"profile": "full", "precision": 1},
]


@pytest.mark.parametrize("options", OPTIONS, ids=str)
def test_options(options):
    rng = np.random.default_rng(1)
    for module in (printing, torch):
        module.set_printoptions(**options)
    for shape in [(), (0,), (5,), (2, 3), (12, 13), (3, 4, 5), (1001,)]:
        for array in floating_arrays(shape, rng):
            check(array, "float32")
            check(array, "float16")
        check(rng.standard_normal(shape) + 1j * rng.standard_normal(shape), "complex64")
        check(rng.integers(-5, 5, shape), "int64")


def test_default_dtype_is_not_shown():
    torch.set_default_dtype(torch.float64)
    dtypes.set_default_dtype(dtypes.float64)
    try:
        for name in ("float32", "float64", "complex64", "complex128", "int64", "int32"):
            check(np.ones(3), name)
            check(np.ones((0, 3)), name)
    finally:
        torch.set_default_dtype(torch.float32)
        dtypes.set_default_dtype(dtypes.float32)


@pytest.mark.parametrize("shape", [(), (2, 3), (0,)], ids=str)
@pytest.mark.parametrize("name", ["float32", "int64", "bool"])
def test_meta(shape, name):
    ours = make_tensor(None, shape, dtypes.by_name(name), devices.meta)
    theirs = torch.empty(shape, dtype=getattr(torch, name), device="meta")
    assert printing.tensor_repr(ours) == repr(theirs)


@pytest.mark.parametrize("name", ["float32", "int64", "bool", "complex64"])
def test_strided(name):
    array = np.arange(24).reshape(2, 3, 4)
    ours, theirs = pair(array, name)
    ours = alias(ours, (3, 2), (4, 12), 1)
    assert printing.tensor_repr(ours) == repr(theirs[:, :, 1].t())


HISTORY = """
m.ones(2, requires_grad=True)
m.ones(2, requires_grad=True) * 2
m.ones(2, 3, requires_grad=True).t()
m.ones(2, requires_grad=True).clone()
m.ones(2, requires_grad=True).double()
m.ones(2, requires_grad=True)[0]
m.ones(2, requires_grad=True).sum()
m.ones(2, 3, requires_grad=True).reshape(6)
m.ones(2, dtype=m.float64, requires_grad=True) + 1
m.ones(2, requires_grad=True).exp().detach()
m.zeros(2, device="meta", requires_grad=True)
m.zeros(0, 3, requires_grad=True) * 2
m.full((30,), 0.123456, requires_grad=True)
m.full((9,), 1e-10, requires_grad=True) * 2
"""


@pytest.mark.parametrize("code", HISTORY.strip().splitlines())
def test_history(code):
    assert repr(eval(code, {"m": torchgen_out})) == repr(eval(code, {"m": torch}))


CALLS = (
    "m.ones(2, 3).max(1)",
    "m.sort(m.ones(2), stable=True)",
    "m.aminmax(m.ones(2))",
    "m.topk(m.ones(3, 1), 1, 0)",
)


@pytest.mark.parametrize("call", CALLS)
def test_results_with_names(call):
    ours, theirs = (eval(call, {"m": library}) for library in (torchgen_out, torch))
    name = type(theirs).__name__
    assert repr(ours) == repr(theirs)
    assert type(ours).__name__ == name and type(ours).__module__ == "torchgen_out.return_types"
    assert type(ours) is getattr(torchgen_out.return_types, name)
    again = pickle.loads(pickle.dumps(ours))
    assert type(again) is type(ours) and isinstance(again, tuple) and repr(again) == repr(ours)
