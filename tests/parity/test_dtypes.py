"""What every dtype can do in PyTorch, whatever computes in it: be made, cast, moved, told, saved.

Elements are compared by their bits: not every dtype has a counterpart in NumPy.
"""

from __future__ import annotations

import io

import numpy as np
import pytest

import torchgen_out as torch
from torchgen_out._runtime.core import dtype as dtypes

reference = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings(
    "ignore:ComplexHalf support is experimental", "ignore:Casting complex values to real"
)

NAMES = [each.name for each in dtypes.ALL]
VALUES = [0.0, 1.0, 2.0, 3.0, 0.5, 1.75, 37.0, 100.0, 127.0]
"""Numbers that every integer dtype holds, once their fractions are cut."""


def bits(tensor):
    """The bytes of a tensor of either library."""
    library = torch if isinstance(tensor, torch.Tensor) else reference
    return tensor.detach().contiguous().view(library.uint8).numpy().tobytes()


def pair(name, values=VALUES):
    """The same numbers in both libraries."""
    ours = torch.tensor(values, dtype=torch.float64).to(getattr(torch, name))
    theirs = reference.tensor(values, dtype=reference.float64).to(getattr(reference, name))
    return ours, theirs


def same(ours, theirs):
    """Whether two tensors have the same dtype, shape and bits."""
    assert str(ours.dtype) == str(theirs.dtype)
    assert tuple(ours.shape) == tuple(theirs.shape)
    assert bits(ours) == bits(theirs)


@pytest.mark.parametrize("name", NAMES)
def test_casts_to_every_dtype(name):
    ours, theirs = pair(name)
    for other in NAMES:
        same(ours.to(getattr(torch, other)), theirs.to(getattr(reference, other)))
        target, expected = pair(other, [0.0] * len(VALUES))
        same(target.copy_(ours), expected.copy_(theirs))


LAYOUTS = {
    "dense": lambda x: x,
    "steps": lambda x: x[::2],
    "turned": lambda x: x[:15].reshape(3, 5).t(),
    "expanded": lambda x: x[:, None].expand(-1, 3),
    "one": lambda x: x[5:6],
    "many": lambda x: x.repeat(4000).reshape(-1, 20).t(),
}


@pytest.mark.parametrize("layout", LAYOUTS)
def test_casts_of_any_layout(layout):
    values = [0.0, -0.0, 1.5, -1.5, 127.9, -128.7, 255.9, 256.0, 300.7, -300.2, 32767.5, -40000.0]
    values += [65504.0, 7e4, 2.0**31 - 128, -(2.0**31), 0.1, 1e-7, -33.0, 5.0]
    names = [name for name in NAMES if not name.startswith(("float8", "complex32", "uint1"))]
    names = [name for name in names if name not in ("uint32", "uint64")]
    for name in names:
        ours, theirs = map(LAYOUTS[layout], pair(name, values))
        for other in names:
            same(ours.to(getattr(torch, other)), theirs.to(getattr(reference, other)))


@pytest.mark.parametrize("name", NAMES)
def test_is_made_and_moved(name):
    own, other = getattr(torch, name), getattr(reference, name)
    for make in ("zeros", "ones"):
        same(getattr(torch, make)(2, 3, dtype=own), getattr(reference, make)(2, 3, dtype=other))
    same(torch.full((2,), 1, dtype=own), reference.full((2,), 1, dtype=other))
    same(torch.tensor([1, 2], dtype=own), reference.tensor([1, 2], dtype=other))
    for moved in (
        lambda x: x[1:4],
        lambda x: x.view(3, 3).t().contiguous(),
        lambda x: x.clone(),
        lambda x: x.view(3, 3)[:, ::2].clone(),
        lambda x: x.expand(2, 9).contiguous(),
    ):
        same(*map(moved, pair(name)))
    ours, theirs = pair(name)
    torch.testing.assert_close(*[pair(name)[0] for _ in range(2)])
    ours[2] = theirs[2] = 5
    same(ours, theirs)
    same(ours.fill_(3), theirs.fill_(3))
    same(ours.zero_(), theirs.zero_())
    assert ours.element_size() == theirs.element_size()
    assert ours.type() == theirs.type()


@pytest.mark.parametrize("name", NAMES)
def test_elements_are_told_alike(name):
    ours, theirs = pair(name, VALUES[1:])  # 0 is a very small number to float8_e8m0fnu
    assert repr(ours) == repr(theirs)
    assert ours.tolist() == theirs.tolist()
    assert type(ours[1].item()) is type(theirs[1].item())
    assert ours[4].item() == theirs[4].item()


@pytest.mark.parametrize("name", NAMES)
def test_goes_through_files_both_ways(name):
    ours, theirs = pair(name)
    for writer, reader, tensor in ((torch, reference, ours), (reference, torch, theirs)):
        contents = io.BytesIO()
        writer.save({"x": tensor, "y": tensor[2:]}, contents)
        contents.seek(0)
        loaded = reader.load(contents)
        same(*((loaded["x"], theirs) if reader is torch else (ours, loaded["x"])))
        assert loaded["y"].untyped_storage().data_ptr() == loaded["x"].untyped_storage().data_ptr()


@pytest.mark.parametrize("name", NAMES)
def test_numpy_takes_it_or_says_why(name):
    ours, theirs = pair(name)
    try:
        expected = theirs.numpy()
    except TypeError as error:
        if name != "bfloat16":  # docs/deviations.md
            with pytest.raises(TypeError, match=str(error)):
                ours.numpy()
        return
    assert ours.numpy().dtype == expected.dtype
    same(torch.from_numpy(ours.numpy()), reference.from_numpy(expected))


FLOAT8 = [each.name for each in dtypes.ALL if each.kind == "f" and each.itemsize == 1]


@pytest.mark.parametrize("count", [200, 40_000], ids=["few", "many"])
@pytest.mark.parametrize("name", FLOAT8)
def test_float8_rounds_as_pytorch(name, count):
    """Few elements go one by one, many through a kernel."""
    draws = np.random.default_rng(0)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 448, 464, 480, 57344, 61440, 240, 248, 1.5]
    special += [2.0**-126, 2.0**-127, 1.5 * 2.0**-127, 1.5 * 2.0**127, 2.0**-10, 1.5 * 2.0**-17]
    values = np.concatenate([
        np.array(special, np.float32),
        draws.integers(0, 2**32, count, dtype=np.uint32).view(np.float32),
        np.float32(draws.standard_normal(count) * 10.0 ** draws.integers(-8, 6, count)),
    ])  # fmt: skip
    values = values[:count]
    ours = torch.from_numpy(values).to(getattr(torch, name))
    theirs = reference.from_numpy(values).to(getattr(reference, name))
    same(ours, theirs)
    every = np.arange(256, dtype=np.uint8)
    wide = torch.from_numpy(every).view(getattr(torch, name)).float().numpy()
    expected = reference.from_numpy(every).view(getattr(reference, name)).float().numpy()
    assert np.array_equal(wide, expected, equal_nan=True)


@pytest.mark.parametrize("name", ["bfloat16", "complex32", *FLOAT8])
def test_goes_through_dlpack_both_ways(name):
    ours, theirs = pair(name, VALUES[1:])
    same(ours, reference.from_dlpack(ours))
    same(torch.from_dlpack(theirs), theirs)


def test_parts_of_complex32():
    """Views of the parts share memory, whatever the element's type in memory is."""
    ours = torch.tensor([1 + 2j, -3.5 + 0.25j], dtype=torch.chalf)
    theirs = reference.tensor([1 + 2j, -3.5 + 0.25j], dtype=reference.chalf)
    for view in ("view_as_real", "real", "imag"):
        same(*(getattr(m, view)(x) for m, x in ((torch, ours), (reference, theirs))))
    ours.real.copy_(torch.tensor([5.0, 6.0]))
    assert ours.tolist() == [5 + 2j, 6 + 0.25j]
    parts = torch.arange(6.0, dtype=torch.float16).view(3, 2)
    paired = torch.view_as_complex(parts)
    parts[1, 1] = 9.0
    assert paired.dtype is torch.complex32 and paired.tolist() == [1j, 2 + 9j, 4 + 5j]
    assert torch.equal(torch.complex(ours.real, ours.imag), ours)


def test_complex32_computes_and_differentiates_as_complex64():
    values = np.random.default_rng(0).standard_normal((2, 400)).astype(np.float32)
    wide = torch.from_numpy(values[0] + 1j * values[1]).chalf().cfloat().requires_grad_()
    narrow = wide.detach().chalf().requires_grad_()
    for x in (wide, narrow):
        y = x * x.conj() + 2j * x
        (y.abs().sum() + x.real.float().exp().sum().to(y.real.dtype)).backward()
    assert narrow.grad.dtype is torch.complex32
    torch.testing.assert_close(narrow.grad.cfloat(), wide.grad, rtol=4e-3, atol=4e-3)


@pytest.mark.parametrize("name", ["uint16", "uint32", "uint64"])
def test_unsigned_integers_compute(name):
    """Also where PyTorch's CPU does not: as the same numbers of int64 would, but for wrapping."""
    own = getattr(torch, name)
    x, y = (torch.tensor(values, dtype=own) for values in ([5, 0, 9], [7, 3, 2]))
    bits = torch.iinfo(own).bits
    assert (x + y).tolist() == [12, 3, 11] and (x - y).tolist() == [2**bits - 2, 2**bits - 3, 7]
    assert (x // y).tolist() == [0, 0, 4] and (x % y).tolist() == [5, 0, 1]
    assert (x < y).tolist() == [True, True, False] and (x / y)[2] == 4.5
    assert (x.max(), x.sum().dtype) == (9, torch.int64)
    assert x.sort().values.tolist() == [0, 5, 9] and x.unique().tolist() == [0, 5, 9]
    assert x.bincount(minlength=3).tolist() == [1, 0, 0, 0, 0, 1, 0, 0, 0, 1]
    assert (~x)[1] == torch.iinfo(own).max == torch.tensor([2**bits - 1], dtype=own)[0].item()
    assert torch.tensor([2**bits - 1, 0], dtype=own).tolist() == [2**bits - 1, 0]
    with pytest.raises(RuntimeError, match="attempted to promote"):
        x + torch.ones(3, dtype=torch.int64)


def test_short_results_wrap_around_before_a_wider_out():
    """The compiler adds short integers and bools as longer ones."""
    cases = [("int8", 127, 1), ("uint8", 200, 100), ("int32", 2**31 - 1, 1), ("bool", 1, 1)]
    for name, first, second in cases:
        for wider in ("int64", "float32", "complex64"):
            results = []
            for library in (torch, reference):
                given = [library.tensor([n], dtype=getattr(library, name)) for n in (first, second)]
                out = library.empty(1, dtype=getattr(library, wider))
                results.append(library.add(*given, out=out).tolist())
            assert results[0] == results[1], (name, wider)


PYTHON_TYPES = {
    "to": lambda library: library.ones(1).to("cpu", int),
    "to, by name": lambda library: library.ones(1).to(dtype=float),
    "view": lambda library: library.ones(4).view(complex),
    "new_zeros": lambda library: library.ones(1).new_zeros(2, dtype=bool),
    "frombuffer": lambda library: library.frombuffer(bytearray(8), dtype=float),
    "arange": lambda library: library.arange(2, dtype=float),
    "sum": lambda library: library.ones(2).sum(dtype=float),
    "a module": lambda library: library.nn.Linear(1, 1).to(float).weight,
    "finfo": lambda library: library.finfo(complex),
    "iinfo": lambda library: library.iinfo(int),
}


@pytest.mark.parametrize("name", PYTHON_TYPES)
def test_pythons_types_stand_for_dtypes(name: str) -> None:
    ours, theirs = PYTHON_TYPES[name](torch), PYTHON_TYPES[name](reference)
    assert str(ours.dtype) == str(theirs.dtype)


def test_pythons_types_are_promoted() -> None:
    for library in (torch, reference):
        assert library.promote_types(float, library.int32) is library.float64
        assert library.can_cast(int, float) and not library.can_cast(complex, float)
        calls = (library.finfo, library.iinfo, library.ones(1).view, library.nn.Linear(1, 1).to)
        for call in calls:
            with pytest.raises(TypeError):
                call(dict)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
@pytest.mark.parametrize("name", ["BatchNorm1d", "InstanceNorm1d"])
def test_normalizations_train_in_16_bits(name: str, dtype: str) -> None:
    """With weights and running statistics of 16 bits, as `module.half()` makes them."""
    found = []
    for library, narrow in ((torch, dtype), (reference, "float32")):
        layer = getattr(library.nn, name)(3, affine=True, track_running_stats=True)
        layer = layer.to(getattr(library, narrow))
        x = (library.arange(24.0).reshape(4, 3, 2) / 8).to(getattr(library, narrow))
        result = layer(x.requires_grad_())
        result.sum().backward()
        tensors = result.detach(), layer.running_mean, layer.running_var, layer.bias.grad
        found.append([np.asarray(each.float()) for each in tensors])
        assert {str(each.dtype).split(".")[1] for each in tensors} == {narrow}
    for ours, theirs in zip(*found, strict=True):
        np.testing.assert_allclose(ours, theirs, rtol=1e-2, atol=1e-2)
