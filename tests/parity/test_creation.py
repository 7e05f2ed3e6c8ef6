"""Factories and `tensor()` against PyTorch: values, dtype, strides, errors."""

import warnings

import numpy as np
import pytest

import torchgen_out as ours

theirs = pytest.importorskip("torch")
pytestmark = pytest.mark.filterwarnings("ignore")

FACTORIES = """
m.zeros(2, 3)
m.zeros((2, 3), dtype=int)
m.zeros(2, dtype=m.bool)
m.zeros(())
m.zeros(0, 3)
m.zeros(m.tensor(2), 3)
m.zeros(2, -1)
m.zeros('a')
m.zeros()
m.ones(2, 3, dtype=m.float16)
m.ones(2, 3, dtype=m.bfloat16)
m.ones([2, 3], dtype=m.complex64)
m.full((2,), 3)
m.full((2,), True)
m.full((2,), 2j)
m.full((2,), m.tensor(3))
m.full((2,), np.float32(3))
m.full((2,), np.float64(3))
m.full((2,), np.int32(3))
m.full((2,), np.float16(3.7), dtype=m.int32)
m.full((2,), [3])
m.full((2,), None)
m.full((2,), 3, dtype=m.float32)
m.full((2,), 3.7, dtype=m.int32)
m.full((2,), 1.1, dtype=m.bfloat16)
m.full((2,), 300, dtype=m.uint8)
m.full((), -1, dtype=m.uint8)
m.full((2,), 2 + 0j, dtype=m.float32)
m.full((2,), 2 + 0j, dtype=m.bfloat16)
m.full((2,), 2 + 0j, dtype=m.int32)
m.full((2,), 2 + 1j, dtype=m.float32)
m.full((2,), -0.0, dtype=m.bfloat16).signbit()
m.full((2,), 1.0, dtype=m.complex32).imag.signbit()
m.full((2,), complex(1, -0.0), dtype=m.complex32).imag.signbit()
m.full((3,), float('inf'), dtype=m.float8_e4m3fn)
m.full((3,), float('inf'), dtype=m.float8_e5m2).float()
m.full((3,), float('nan'), dtype=m.float8_e4m3fn).float().isnan()
m.tensor(np.broadcast_to(np.arange(3), (2, 3))).stride()
m.full((2,), 0.0, dtype=m.bfloat16).signbit()
m.ones_like(m.zeros(2, dtype=m.float16))
m.full_like(m.zeros(2, dtype=m.int64), 2 + 0j)
m.linspace(2 + 1j, 3, 3, dtype=m.float32)
m.logspace(2 + 1j, 3, 3, dtype=m.int64)
m.scalar_tensor(3)
m.scalar_tensor(3, dtype=m.int64)
m.eye(3)
m.eye(2, 3)
m.eye(3, 2, dtype=m.int64)
m.eye(0)
m.eye(-1)
m.arange(5)
m.arange(5.0)
m.arange(1, 5)
m.arange(1, 9, 3)
m.arange(9, 1, -3)
m.arange(0, 1, 0.3)
m.arange(2.5, dtype=m.int64)
m.arange(0.5, 3.5, dtype=m.int64)
m.arange(5, dtype=m.float16)
m.arange(m.tensor(3), 5)
m.arange(1, 5, out=m.zeros(4))
m.arange(end=3)
m.arange(2, end=4)
m.arange(1, 2, start=3)
m.arange(0)
m.arange(3, 3)
m.arange(True)
m.arange(1, 2, 0)
m.arange(1, 0, 1)
m.arange(0, float('inf'))
m.arange(0, float('nan'))
m.arange(0, 3, dtype=m.bool)
m.range(1, 3)
m.range(1, 3, 0.5)
m.linspace(0, 1, 5)
m.linspace(0, 10, 4, dtype=m.int64)
m.linspace(3, -3, 7)
m.linspace(0, 1, 1)
m.linspace(0, 1, 0)
m.linspace(0, 1, -1)
m.linspace(0, 1j, 3)
m.linspace(-10, 10, 11, dtype=m.int32)
m.linspace(start=0, end=1, steps=3)
m.logspace(0, 2, 3)
m.logspace(0, 2, 3, base=2)
m.logspace(0, 2, 3, dtype=m.int64)
m.tril_indices(3, 3)
m.tril_indices(4, 3, -1)
m.triu_indices(3, 4, 1)
m.tril_indices(3, -1)
m.tril_indices(0, 3)
m.complex(m.tensor([1.0]), m.tensor([2.0]))
m.complex(m.tensor([1.0]), m.tensor([2.0], dtype=m.float64))
m.complex(m.tensor([1]), m.tensor([2]))
m.polar(m.tensor([1.0, 2.0]), m.tensor([0.5, 3.0]))
m.zeros(2, 3).new_zeros(3)
m.zeros(2, dtype=m.int8).new_ones(2, 2)
m.zeros(2, dtype=m.int8).new_full((2,), 3.5)
m.zeros(2, dtype=m.int8).new_tensor([1.5, 2])
m.zeros(2).new_ones((2,), dtype=m.int64)
m.ones(2, requires_grad=True)
m.zeros_like(m.ones(2, 3).t())
m.ones_like(m.ones(2, 3).t(), dtype=m.int64)
m.full_like(m.ones(2, 3), 7)
m.zeros_like(m.ones(2, 3).t(), memory_format=m.contiguous_format)
m.zeros_like(m.ones(1, 2, 3, 4), memory_format=m.channels_last)
m.ones_like(m.ones(2, 3)[:, ::2])
m.ones_like(m.ones(2, 1, 3).expand(2, 4, 3))
m.empty_strided((2, 3), (1, 2)).fill_(1)
m.ones(2, 3, device='meta')
m.zeros(2, 3, out=m.empty(0))
"""

DATA = """
m.tensor(1)
m.tensor(1.5)
m.tensor(True)
m.tensor(1j)
m.tensor([1, 2])
m.tensor([[1.0, 2], [3, 4]])
m.tensor([True, 2])
m.tensor([True, 2.0])
m.tensor([1, 2j])
m.tensor([])
m.tensor([[]])
m.tensor([[], []])
m.tensor(())
m.tensor((1, 2))
m.tensor(range(3))
m.tensor([range(3), range(3)])
m.tensor([1.5], dtype=m.int64)
m.tensor([1.5], dtype=m.bool)
m.tensor([300], dtype=m.uint8)
m.tensor([-1], dtype=m.uint8)
m.tensor([-300], dtype=m.uint8)
m.tensor([2**40], dtype=m.int32)
m.tensor(2**63)
m.tensor([2**63])
m.tensor([1, 2**63])
m.tensor([2**63, 1], dtype=m.int8)
m.tensor([2**63], dtype=m.float32)
m.tensor([2**64, 1.5])
m.tensor([2**64, 1j])
m.tensor(-2**63)
m.tensor([1.0, 2j], dtype=m.float32)
m.tensor(1j, dtype=m.float32)
m.tensor([1, [2]])
m.tensor([[1, 2], [3]])
m.tensor([[1], [2, 3]])
m.tensor([[1, 2], 3])
m.tensor([[[1, 2], [3]], [[1, 2], [3, 4]]])
m.tensor(['a'])
m.tensor('a')
m.tensor(None)
m.tensor([None])
m.tensor({1: 2})
m.tensor({1, 2})
m.tensor([1, 2], dtype=float)
m.tensor([1, 2], dtype=int)
m.tensor([1, 2], dtype='float32')
m.tensor(np.float64(1.5))
m.tensor(np.float32(1.5))
m.tensor([np.float64(1.5)])
m.tensor([np.int32(1)])
m.tensor([np.array([1.0, 2.0])])
m.tensor(np.array([1.0, 2.0]))
m.tensor(np.array([1, 2], dtype=np.int16))
m.tensor(np.array([1, 2], dtype=np.float16))
m.tensor(np.array(['a']))
m.tensor(np.arange(6).reshape(2, 3).T)
m.tensor(np.arange(6)[::-1].copy())
m.tensor([m.tensor(1.0), m.tensor(2)])
m.tensor([m.tensor(1.0, dtype=m.float64), 2])
m.tensor([1, m.tensor(2.5)])
m.tensor([1e400])
m.tensor([1e200], dtype=m.float32)
m.tensor([1], dtype=m.float16, requires_grad=True)
m.tensor([1], requires_grad=True)
m.tensor([1.0], device='meta')
m.tensor(m.tensor([1.0, 2.0]))
m.as_tensor([1, 2])
m.as_tensor(1)
m.as_tensor(np.arange(3, dtype=np.int16))
m.as_tensor(np.arange(3), dtype=m.float32)
m.as_tensor(m.tensor([1.0, 2.0], requires_grad=True))
m.from_numpy(np.arange(6.0).reshape(2, 3)[:, ::2])
m.from_numpy(np.arange(6.0).reshape(2, 3).T)
m.from_numpy(np.array(3.0))
m.from_numpy(np.empty((0, 3))).shape
m.from_numpy([1])
m.from_numpy(np.float32(1))
m.from_numpy(np.arange(3)[::-1])
m.from_numpy(np.zeros((3,), dtype=[('a', 'i1'), ('b', 'f4')])['b'])
m.frombuffer(bytearray(b'abcdefgh'), dtype=m.int16)
m.frombuffer(bytearray(b'abcdefgh'), dtype=m.int32, count=1, offset=4)
m.frombuffer(bytearray(b'abcdefg'), dtype=m.int16)
m.tensor([m.ones(2), m.ones(2)])
m.tensor([1.0, m.ones(2)])
m.tensor([m.ones(1), m.ones(1, 1)])
m.FloatTensor([m.ones(0)])
m.asarray([1, 2])
m.asarray(np.arange(3))
m.FloatTensor([1, 2])
m.FloatTensor(2, 3).shape
m.IntTensor([1.5])
m.Tensor([1, 2])
m.Tensor(2, 3).shape
m.Tensor(3.5)
m.LongTensor().shape
isinstance(m.zeros(1), m.FloatTensor)
isinstance(m.zeros(1), m.IntTensor)
m.zeros(2).new([1, 2])
m.zeros(2).new(2, 3).shape
"""


def lines(block):
    return block.strip().splitlines()


def outcome(code, module):
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(code, {"m": module, "np": np})
        except (TypeError, ValueError, RuntimeError, IndexError) as error:
            return error


@pytest.mark.parametrize("code", lines(FACTORIES) + lines(DATA))
def test_same(code):
    mine, reference = outcome(code, ours), outcome(code, theirs)
    if isinstance(reference, Exception):
        assert type(mine) is type(reference), mine
    elif not isinstance(reference, theirs.Tensor):
        assert mine == reference
    else:
        assert not isinstance(mine, Exception), mine
        assert repr(mine) == repr(reference)
        assert str(mine.dtype) == str(reference.dtype)
        assert mine.stride() == reference.stride()
        assert mine.requires_grad == reference.requires_grad


RANDOM = """
m.rand(2, 3)
m.rand((2, 3), dtype=m.float64)
m.rand(2, dtype=m.int64)
m.randn(2, 3)
m.randn(2, dtype=m.complex64)
m.randint(10, (2, 3))
m.randint(-5, 5, (2, 3), dtype=m.float32)
m.randint(3, 2, (2,))
m.randperm(5)
m.randperm(5, dtype=m.int32)
m.randperm(-1)
m.randperm(300, dtype=m.uint8)
m.rand_like(m.zeros(2, 3).t())
m.randn_like(m.zeros(2, 3))
m.randint_like(m.zeros(2), 5)
m.randint_like(m.zeros(2), 2, 5)
m.normal(0.0, 1.0, (2,))
m.normal(m.zeros(2, 1), m.ones(3))
m.normal(m.zeros(2), 2.0)
m.normal(1.0, m.ones(3))
m.normal(m.zeros(2), -1.0)
m.normal(m.zeros(2), m.ones(3))
"""


OF_NUMPY = ["float16", "float32", "float64", "int8", "uint8", "int32", "complex64", "complex128"]
ITEMS = {f"Python's {each}": each for each in (1, 1.5, True, 1j)}
ITEMS |= {each: getattr(np, each)(1) for each in OF_NUMPY}
OF_TENSORS = ["bool", "bfloat16", "int16", "complex32"]


@pytest.mark.parametrize("name", [*ITEMS, *OF_TENSORS])
def test_dtypes_of_mixed_items(name):
    """Numbers of Python and NumPy and tensors in one list have the dtype that PyTorch gives it."""

    def dtypes(module):
        items = [*ITEMS.values(), *[module.tensor(1).to(getattr(module, t)) for t in OF_TENSORS]]
        one = items[[*ITEMS, *OF_TENSORS].index(name)]
        pairs = [pair for other in items for pair in ([one, other], [other, one], [[one], [other]])]
        return [str(module.tensor(pair).dtype) for pair in pairs]

    assert [each.replace("torchgen_out", "torch") for each in dtypes(ours)] == dtypes(theirs)


@pytest.mark.parametrize("code", ["[1.5, x[0]]", "[x[0], 1.5]", "[[1], [x[1]]]", "[x[0], x[1]]"])
def test_items_that_require_grad(code):
    made = [
        module.tensor(eval(code, {"x": module.tensor([2.5, 3.0], requires_grad=True)}))
        for module in (ours, theirs)
    ]
    assert made[0].tolist() == made[1].tolist()
    assert not made[0].requires_grad


@pytest.mark.parametrize("code", lines(RANDOM))
def test_random_factories(code):
    mine, reference = outcome(code, ours), outcome(code, theirs)
    if isinstance(reference, Exception):
        assert type(mine) is type(reference), mine
        return
    assert not isinstance(mine, Exception), mine
    assert tuple(mine.shape) == tuple(reference.shape)
    assert str(mine.dtype) == str(reference.dtype)
    assert mine.stride() == reference.stride()


def test_seeds_repeat():
    ours.manual_seed(3)
    first = ours.randn(100).tolist()
    assert ours.manual_seed(3) and ours.randn(100).tolist() == first
    generator = ours.Generator().manual_seed(3)
    assert ours.randn(100, generator=generator).tolist() == first
    state = ours.get_rng_state()
    drawn = ours.rand(4).tolist()
    ours.set_rng_state(state)
    assert ours.rand(4).tolist() == drawn
