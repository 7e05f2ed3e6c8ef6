"""Exchange with Python, NumPy and PyTorch: values, shared memory, error classes."""

import copy
import gc
import io
import pickle
import warnings
import weakref

import numpy as np
import pytest

import torchgen_out as ours

theirs = pytest.importorskip("torch")

SAME = """
x.item()
e.item()
float(x)
int(x)
bool(x)
bool(e)
complex(x)
s.item()
float(s)
int(s)
bool(s)
complex(s)
h.item()
h.tolist()
m.ones(2).__index__()
m.tensor(1.5).__index__()
m.tensor(True).__index__()
m.tensor([3]).__index__()
[10, 20, 30][m.tensor(1)]
int(m.tensor(2.7))
int(m.tensor(2j))
float(m.tensor(1 + 0j))
float(m.tensor(1 + 1j))
int(m.tensor(float('inf')))
m.tensor([1 + 2j]).tolist()
m.tensor(3).tolist()
x.tolist()
e.tolist()
x.t().tolist()
x[:, ::2].tolist()
m.empty(2, device='meta').item()
m.empty((), device='meta').item()
m.empty(2, device='meta').tolist()
bool(m.empty((), device='meta'))
f"{s:.3f}"
f"{x}"
f"{x:.3f}"
x.type()
h.type()
m.ones(1, dtype=m.bfloat16).type()
x.type(m.int32)
x.type('torch.IntTensor')
x.type('torch.FooTensor')
x.type(m.FloatTensor) is x
x.to(m.float64)
x.to('cpu') is x
x.to(m.float32) is x
x.to(m.float32, copy=True) is x
x.to(m.device('cpu'), m.float64)
x.to('cpu', m.float64, True, True)
x.to(m.zeros(1, dtype=m.int8))
x.to('foo')
x.to(dtype=m.int32, device='cpu')
x.to('meta')
x.to(memory_format=m.channels_last)
x.t().to(m.float64).stride()
x.t().clone().stride()
x.t().contiguous().stride()
x.t().clone(memory_format=m.contiguous_format).stride()
m.ones(1, 2, 3, 4).clone(memory_format=m.channels_last).stride()
m.ones(1, 2, 3, 4).to(memory_format=m.channels_last).stride()
x[:, ::2].clone().stride()
x.t().double().stride()
x.float() is x
x.int()
(x - 2.5).int()
(x - 2.5).bool()
(x - 2.5).byte()
x.half()
x.bfloat16()
x.cfloat()
x.cdouble()
m.tensor([1.5, 2.5, 300.0]).half().double()
m.tensor([1e-8, 65519.0, 65520.0, 1e10]).half()
m.tensor([1.001, 3.14159]).bfloat16().float()
m.tensor([2**31 + 5, -1]).int()
m.tensor([256, 257, -1]).byte()
m.tensor([True, False]).double()
x.type_as(m.zeros(1, dtype=m.int8))
x.is_floating_point()
x.get_device()
x.element_size()
x.is_contiguous()
len(x)
len(s)
3 in x
x.requires_grad
rg.numpy()
m.empty(2, device='meta').numpy()
x.numpy()
x.t().numpy().strides
x.double().numpy().dtype
h.numpy()
rg.numpy(force=True)
np.sum(x.numpy())
np.asarray(rg)
x.copy_(m.zeros(3))
x.clone().copy_(m.arange(3))
x.clone().copy_(m.ones(4, 2, 3))
x.clone().fill_(m.tensor(3))
x.clone().fill_(m.ones(2))
x.clone().fill_(1j)
m.zeros(2, dtype=m.uint8).fill_(300)
m.zeros(2, dtype=m.uint8).fill_(-1)
x.clone().zero_()
x.apply_(lambda v: v + 1)
x.clone().map_(x, lambda a, b: a * b)
rg.apply_(lambda v: v)
x.clone().resize_(2, 2)
rg.resize_(3)
x.is_set_to(x)
m.zeros(3).set_(x)
copy.deepcopy(rg * 2)
copy.deepcopy(rg)
copy.copy(rg)
copy.copy(rg * 2).requires_grad
pickle.loads(pickle.dumps(rg))
pickle.loads(pickle.dumps(x.t())).stride()
rg.numpy()
np.asarray(rg * 2)
np.stack([rg, rg])
np.array(rg.detach())
with_no_grad(lambda: rg.numpy())
with_no_grad(lambda: np.asarray(rg))
with_no_grad(lambda: np.stack([rg, rg]))
with_no_grad(lambda: (rg * 2).numpy())
rg.set_(m.ones(3))
with_no_grad(lambda: rg.set_(m.ones(3)))
m.is_tensor(x)
m.is_tensor(3)
m.numel(x)
m.is_nonzero(s)
m.is_nonzero(x)
m.result_type(x, 1j)
m.typename(x)
x.is_pinned()
hash(x) == hash(x)
x.__dlpack_device__()
reversed(m.arange(3))
x.new_tensor([1])
rg.data.requires_grad
x.is_same_size(x.t())
"""


def outcome(code, module):
    x = module.arange(6.0).reshape(2, 3)
    names = {
        "m": module, "np": np, "copy": copy, "pickle": pickle,
        "x": x, "e": x[:0], "s": x[1, 2], "h": (x / 3).to(module.float16),
        "rg": module.ones(2).requires_grad_(), "with_no_grad": lambda f: module.no_grad()(f)(),
    }  # fmt: skip
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        try:
            return eval(code, names)
        except Exception as error:
            return error


@pytest.mark.parametrize("code", SAME.strip().splitlines())
def test_same(code):
    mine, reference = outcome(code, ours), outcome(code, theirs)
    if isinstance(reference, Exception):
        assert type(mine) is type(reference), mine
        return
    assert not isinstance(mine, Exception), mine
    assert repr(mine) == repr(reference)


NUMPY_DTYPES = ["bool", "uint8", "int8", "int16", "int32", "int64",
                "float16", "float32", "float64", "complex64", "complex128"]  # fmt: skip


@pytest.mark.parametrize("name", NUMPY_DTYPES)
def test_numpy_shares_memory_both_ways(name):
    array = np.arange(6).reshape(2, 3).astype(name)
    x = ours.from_numpy(array)
    assert x.dtype is getattr(ours, name)
    array[0, 1] = 0
    assert x.tolist() == array.tolist()
    x[1, 2] = 1
    assert array[1, 2] == 1
    back = x.numpy()
    assert back.dtype == array.dtype
    assert np.shares_memory(back, array)
    part = ours.from_numpy(array[:, ::2])
    part.fill_(1)
    assert array[:, 0].tolist() == [1, 1] == array[:, 2].tolist()


def test_bfloat16_arrays():
    ml_dtypes = pytest.importorskip("ml_dtypes")
    array = np.array([1.5, -2.25, 3e38], ml_dtypes.bfloat16)
    x = ours.from_numpy(array)
    assert x.dtype is ours.bfloat16
    assert x.numpy().dtype == ml_dtypes.bfloat16
    assert np.shares_memory(x.numpy(), array)
    assert x.tolist() == array.astype(np.float32).tolist()


def test_array_protocol():
    x = ours.arange(6.0).reshape(2, 3)
    assert np.asarray(x).tolist() == x.tolist()
    assert np.shares_memory(np.asarray(x), x.numpy())
    assert not np.shares_memory(np.array(x), x.numpy())
    assert np.array(x, dtype=np.int8).dtype == np.int8
    assert isinstance(np.sin(ours.ones(2)), ours.Tensor)
    with pytest.raises(RuntimeError, match="requires grad"):
        np.asarray(x.clone().requires_grad_())


def test_read_only_arrays_warn():
    array = np.arange(3)
    array.flags.writeable = False
    with pytest.warns(UserWarning, match="not writable"):
        ours.from_numpy(array)


@pytest.mark.parametrize("name", [*NUMPY_DTYPES, "bfloat16"])
def test_dlpack_with_pytorch(name):
    reference = theirs.arange(6).reshape(2, 3).to(getattr(theirs, name))
    x = ours.from_dlpack(reference)
    assert str(x.dtype) == str(reference.dtype)
    x[0, 0] = 1
    assert reference.tolist() == x.tolist()
    y = ours.arange(6).reshape(2, 3).to(getattr(ours, name))
    other = theirs.from_dlpack(y)
    other[0, 0] = 1
    assert other.tolist() == y.tolist()
    assert str(y.dtype) == str(other.dtype)


def test_dlpack_strides_and_release():
    reference = theirs.arange(12.0).reshape(3, 4)
    x = ours.from_dlpack(reference[1:, ::2])
    assert x.tolist() == reference[1:, ::2].tolist()
    alive = ours.from_dlpack(ours.arange(5.0)[1:])
    gc.collect()
    assert alive.tolist() == [1.0, 2.0, 3.0, 4.0]
    assert ours.from_dlpack(theirs.empty(0, 3)).shape == (0, 3)


def test_dlpack_with_numpy():
    array = np.arange(3.0)
    x = ours.from_dlpack(array)
    x[0] = 9.0
    assert array[0] == 9.0
    assert np.shares_memory(np.from_dlpack(ours.from_numpy(array)), array)
    copied = ours.from_dlpack(array, copy=True)
    copied[0] = 1.0
    assert array[0] == 9.0


def test_dlpack_capsules():
    x = ours.arange(3.0)
    capsule = x.__dlpack__(max_version=(1, 0))
    assert ours.from_dlpack(capsule).tolist() == x.tolist()
    with pytest.raises(RuntimeError, match="consumed only"):
        ours.from_dlpack(capsule)
    assert ours.from_dlpack(x.__dlpack__()).tolist() == x.tolist()
    with pytest.raises(BufferError, match="require gradient"):
        x.clone().requires_grad_().__dlpack__()


def test_dlpack_keeps_memory_until_the_last_tensor():
    class Exporter:
        def __init__(self):
            self.array = np.arange(4.0)

        def __dlpack__(self, **options):
            return self.array.__dlpack__(**options)

    exporter = Exporter()
    reference = weakref.ref(exporter.array)
    x = ours.from_dlpack(exporter)[1:]
    del exporter
    gc.collect()
    assert reference() is not None
    assert x.tolist() == [1.0, 2.0, 3.0]
    del x
    gc.collect()
    assert reference() is None


def test_pickle_keeps_sharing():
    x = ours.arange(6.0).reshape(2, 3)
    a, b = pickle.loads(pickle.dumps((x, x[0])))
    a[0, 0] = 9.0
    assert b[0].item() == 9.0
    stream = io.BytesIO()
    pickle.dump(x.half(), stream)
    stream.seek(0)
    assert pickle.load(stream).dtype is ours.float16
    assert pickle.loads(pickle.dumps(x.to("meta"))).is_meta


def test_deepcopy_keeps_sharing():
    x = ours.arange(6.0).reshape(2, 3)
    a, b = copy.deepcopy((x, x[0]))
    a[0, 0] = 9.0
    assert b[0].item() == 9.0
    assert x[0, 0].item() == 0.0
    y = ours.ones(2, requires_grad=True)
    (y * y).sum().backward()
    twin = copy.deepcopy(y)
    assert twin.grad.tolist() == [2.0, 2.0]
    assert twin.grad is not y.grad
    memo = copy.deepcopy([y, y])
    assert memo[0] is memo[1]


def test_copy_shares_memory():
    x = ours.arange(3.0)
    twin = copy.copy(x)
    twin[0] = 5.0
    assert x[0].item() == 5.0


def test_attributes_survive():
    x = ours.ones(2)
    x.note = "kept"
    assert pickle.loads(pickle.dumps(x)).note == "kept"
    assert copy.deepcopy(x).note == "kept"
