"""Calls that PyTorch refuses, or that look as if it did: the same answer and class of error here.

Only what the samples of one operator cannot say: `torch` and `F` stand for either library.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

torch = pytest.importorskip("torch")

import torchgen_out  # noqa: E402

LISTS = (
    "torch.cat(3)",
    "torch.cat(None)",
    "torch.cat({torch.ones(2)})",
    "torch.cat(x for x in [torch.ones(2)])",
    "torch.cat([torch.ones(2), 3])",
    "torch.cat(torch.ones(2, 3), out=torch.ones(1))",
    "torch.broadcast_tensors(torch.ones(2))",
    "torch.meshgrid(torch.ones(2), indexing='ij')",
    "torch.atleast_1d(torch.tensor(1.0))",
    "torch.atleast_2d(torch.ones(2), torch.ones(3))",
    "torch.atleast_3d([torch.ones(2)])",
)

DTYPES = (
    "~torch.ones(2)",
    "~torch.tensor([True, False])",
    "~torch.tensor([1, 2])",
    "torch.bitwise_not(torch.ones(2))",
    "True - torch.tensor([True])",
    "1 - torch.tensor([True])",
    "torch.ones(2) - torch.tensor([True, False])",
    "torch.ones(2).sub_(True)",
    "torch.tensor([1, 2]).mean(dtype=torch.int64)",
    "torch.tensor([1, 2]).mean(dtype=torch.float32)",
    "torch.clamp(torch.ones(2), min=None)",
    "torch.ones(2).clamp_()",
)

INTEGERS = (
    "x.sum(N)",
    "x.amax(N)",
    "x.mean((0, N))",
    "x.softmax(N).round(decimals=6)",
    "x.flip(N)",
    "x.flip([N])",
    "x.roll(N, 1)",
    "x.cumsum(N)",
    "x.argmax(N)",
    "torch.cat([x, x], N)",
    "x.index_select(N, torch.tensor([0, 2]))",
    "F.layer_norm(torch.ones(3, 1), [N])",
    "F.max_pool2d(x[None], N)",
    "F.group_norm(torch.ones(2, 4), N)",
    "torch.rot90(x, N)",
    "torch.bincount(torch.tensor([1, 3]), minlength=N)",
)
"""Calls with an integer N."""

NUMBERS = {
    "float16": ("1e6", "-1e6", "65519", "inf", "nan", "2**70"),
    "bfloat16": ("3.4e38", "2**200"),
    "float32": ("1e39", "2**200", "1j"),
    "uint8": ("300", "-1", "-256", "255.0", "-0.5", "nan"),
    "int8": ("128", "127.5"),
    "int32": ("2**40", "2.0**40"),
    "int64": ("2**63", "2**70", "1e30"),
    "bool": ("2", "0.5", "2**70"),
    "complex64": ("1e39", "1e39j", "2**200"),
}
WRITES = (
    "X.fill_(V)",
    "torch.full((2,), V, dtype=X.dtype)",
    "torch.full_like(X, V)",
    "torch.tensor(V, dtype=X.dtype)",
    "torch.tensor([V], dtype=X.dtype)",
    "X.masked_fill(torch.tensor([True, False]), V)",
    "X.scatter(0, torch.tensor([1]), V)",
    "X.scatter_(0, torch.tensor([1]), V, reduce='add')",
    "X.index_fill(0, torch.tensor([1]), V)",
    "(x := X, x.__setitem__(0, V))[0]",
    "(x := X, x.__setitem__(torch.tensor([True, False]), V))[0]",
    "F.pad(X, (1, 1), value=V)",
)
WRITTEN = [
    write.replace("X", f"torch.ones(2, dtype=torch.{dtype})").replace("V", value)
    for dtype, values in NUMBERS.items()
    for value in values
    for write in WRITES
    if "pad" not in write or value not in ("1j", "1e39j", "2**63")
]

COMPUTED_WITH = (
    "X.add(X, alpha=V)",
    "torch.sub(X, X, alpha=V)",
    "X.add_(X, alpha=V)",
    "torch.rsub(X, 1, alpha=V)",
    "torch.where(torch.tensor([True, False]), X, V)",
    "X.where(torch.tensor([True, False]), V)",
    "X.clamp(max=V)",
    "X.clamp(V, V)",
    "X.clamp_(min=V)",
    "torch.clamp_min(X, V)",
    "F.threshold(X, V, 1)",
    "F.threshold(X, 1, V)",
    "torch.addcmul(X, X, X, value=V)",
    "X + V",
    "X * V",
    "V - X",
    "X < V",
)
COMPUTED = [
    call.replace("X", f"torch.ones(2, dtype=torch.{dtype})").replace("V", value)
    for dtype, values in {
        "float32": ("1e39", "-1e39", "inf", "nan"),
        "uint8": ("300", "-1", "-256"),
        "int8": ("129", "-130"),
        "int32": ("2**40", "-2**40"),
        "int64": ("2**70", "-2**63"),
    }.items()
    for value in values
    for call in COMPUTED_WITH
]
PYTHON_TYPES = (
    "x.sum(dtype=T)",
    "x.cumsum(0, dtype=T)",
    "torch.softmax(x * 0, 1, T)",
    "F.softmax(x * 0, 1, dtype=T)",
    "torch.prod(x, dtype=T)",
    "torch.nansum(x, 1, dtype=T)",
    "torch.linalg.vector_norm(x, dtype=T)",
    "torch.arange(0.5, 6.7, 1.5, dtype=T)",
    "torch.zeros_like(x, dtype=T)",
)

POWERS = (
    "torch.tensor([1, 2]) ** -1",
    "torch.tensor([1, 2]).pow_(-2)",
    "torch.tensor([True]) ** -1",
    "torch.tensor(3, dtype=torch.uint8).pow(-1)",
    "torch.tensor(3, dtype=torch.uint8).pow(300)",
    "torch.tensor([1, 2]) ** -1.0",
    "torch.tensor([1, -1, 2]) ** torch.tensor(-1)",
    "2 ** torch.tensor([1, -1, 2])",
    "torch.ones(2) ** 1e39",
)

RESIZED = (
    "F.interpolate(torch.ones(3), scale_factor=2)",
    "F.interpolate(torch.ones(3), 5, mode='linear')",
    "F.interpolate(torch.ones(3), (5, 5))",
    "F.interpolate(torch.tensor(1.0), 5)",
    "F.interpolate(torch.ones(3, 3), 5, mode='area')",
    "F.interpolate(torch.ones(1, 1, 1, 1, 1, 1), 5)",
    "F.interpolate(torch.ones(1, 3, 3), 0)",
    "F.interpolate(torch.ones(1, 3, 3), scale_factor=(2, 2))",
    "F.interpolate(torch.ones(1, 3, 3), 5, mode='bilinear')",
    "F.interpolate(torch.ones(1, 3, 3), 5)",
    "F.interpolate(torch.ones(1, 3, 3), 5, mode='linear', antialias=True)",
    "F.interpolate(torch.ones(1, 1, 3, 3), 5, antialias=True)",
    "F.interpolate(torch.ones(1, 3, 3), 5, mode='bicubic')",
)

ARGUMENTS = (
    "x.requires_grad_('yes')",
    "x.requires_grad_(1)",
    "x.requires_grad_(np.bool_(True))",
    "torch.set_grad_enabled(np.bool_(True))",
    "torch.set_grad_enabled('no')",
    "torch.set_num_threads('a')",
    "torch.promote_types(torch.float32, 1)",
    "torch.result_type(1, 'a')",
    "x.type_as(1)",
    "x.size('a')",
    "x.is_contiguous(memory_format=1)",
    "x.set_(1)",
    "x.__delitem__(0)",
    "torch.nn.utils.rnn.pad_sequence([])",
    "torch.nn.GRUCell(3, 4)(x)",
    "torch.nn.LSTMCell(3, 4)(x)",
    "torch.zeros(torch.broadcast_shapes((2, 1), 3, (1, 1, 1)))",
    "torch.zeros(torch.broadcast_shapes())",
    "torch.broadcast_shapes((2,), (3,))",
    "torch.broadcast_shapes((2,), -1)",
    "torch.testing.make_tensor((2,), dtype=float, device='cpu')",
    "F.nll_loss(x, torch.arange(3), torch.ones(4, requires_grad=True))",
    "F.cross_entropy(x, torch.arange(3), torch.ones(4, requires_grad=True))",
    "F.batch_norm(x, torch.ones(4, requires_grad=True), torch.ones(4))",
    "torch.linalg.pinv(x, rtol=torch.tensor(0.1, requires_grad=True))",
)

NOT_A_NUMBER = (
    "F.smooth_l1_loss(x, x, beta=nan)",
    "F.huber_loss(x, x, delta=nan)",
    "torch.isclose(x, x, atol=nan)",
    "F.rrelu(x, -inf, 1.0)",
    "torch.renorm(x, 1, 0, nan)",
    "torch.cdist(x, x, p=nan)",
    "F.pdist(x, p=nan)",
)

FOUND_AT_RANDOM = (
    *("torch.broadcast_tensors()", "torch.block_diag()", "torch.cartesian_prod()"),
    *("torch.meshgrid(indexing='ij')", "torch.chain_matmul()", "torch.atleast_1d([])"),
    "torch.gradient(torch.tensor(0.0), dim=0)",
    "torch.ones(1) * torch.div(2, torch.tensor(1.0, dtype=torch.bfloat16)).element_size()",
    "torch.floor_divide(2, torch.tensor(2, dtype=torch.int8)).reshape(1)",
    "torch.addr(x[0], x[:, 0], x[0].to(torch.complex128))",
    "torch.linalg.vecdot(x, x.long())",
    *("torch.linalg.tensorinv(torch.tensor(2.0), ind=1)", "torch.linalg.tensorinv(x[:1, 1:2], 3)"),
    *("torch.unravel_index(torch.tensor([1]), (2, 2**64))", "torch.triu_indices(0, 2**62)"),
    "torch.autograd.grad(torch.matrix_power(x[:, 1:].requires_grad_(), 0).sum(), x[:, 1:])",
    "torch.istft(torch.ones(5, 6) + 0j, 8, window=torch.ones(8) + 0j)",
    *("torch.normal(1.0, torch.ones(2) + 0j)", "torch.normal(1.0, torch.ones(0) + 0j)"),
    "x.scatter(0, torch.zeros(0, 2, 2, dtype=torch.int64), 2.0)",
    "x.scatter_add(1, torch.zeros(0, dtype=torch.int64), x)",
    "x.requires_grad_().gather(0, torch.zeros(0, dtype=torch.int64)).sum().backward() or x.grad",
    *("torch.tensordot(x, x, dims=([5], [0]))", "torch.tensordot(x, x, dims=([0, 0], [0, 1]))"),
    "torch.tensordot(torch.tensor(1.0), x[:0], dims=([1, 0], [0, 1]))",
    "torch.linalg.tensorsolve(torch.eye(6).reshape(6, 2, 3), x[:2, :3], dims=(5,))",
    "torch.segment_reduce(x, 'sum', lengths=torch.tensor([[1, 3]] * 3), axis=3)",
    "torch.autograd.grad(torch.fill(x.requires_grad_(), 2.0).sum(), x)",
    *("torch.trapezoid(x, x, dim=-3)", "torch.cumulative_trapezoid(x, x, dim=2)"),
    "torch.nansum(x, dtype=torch.int64, out=torch.tensor(0))",
    *("torch.signal.windows.cosine(2**63 - 1)", "torch.signal.windows.gaussian(2**62)"),
    "torch.signal.windows.exponential(1, center=0.5, sym=False)",
    *(
        "F.unfold(torch.ones(2, 3, 4, 4), [2])",
        "F.fold(torch.ones(2, 12, 9), [4, 4], 2, padding=[0])",
    ),
    *(f"F.pad(x, {pad}, 'reflect')" for pad in ("(1.0, 1)", "(True, 1)", "1", "'ab'", "(None, 1)")),
    *("F.pad(x, (np.int64(1), 2), 'reflect')", "F.pad(x, (torch.tensor(1), 2), 'circular')"),
)
"""Calls that random ones have shown to differ."""

NO_SIZES = (
    *("x.reshape(int)", "x.reshape(2, int)", "x.reshape(2.0)", "x.reshape((2, 6.0))"),
    *("x.expand(int)", "x.permute(int)", "x.permute(0, 1.0)", "x.view(2, int)", "x.repeat(int)"),
    *("x.unflatten(1, (2, int))", "torch.zeros(int)", "torch.zeros(2, int)", "x.reshape(None)"),
    *("torch.broadcast_to(x, int)", "torch.roll(x, int)", "x.flip(int)"),
)


def answer(library: Any, call: str) -> Any:
    """The result of a call as NumPy, or the class of its error."""
    names = {"torch": library, "F": library.nn.functional, "np": np, "inf": np.inf, "nan": np.nan}
    names["x"] = library.arange(12.0).reshape(3, 4)
    try:
        result = eval(call, names)
    except Exception as error:
        return next(each for each in type(error).__mro__ if each.__module__ == "builtins")
    if isinstance(result, (tuple, list)):
        return [values(each) for each in result]
    return values(result)


def values(result: Any) -> Any:
    """A tensor as NumPy, bfloat16 as float32."""
    return np.asarray(result.float() if "bfloat16" in str(result.dtype) else result)


def check_alike(call: str) -> None:
    """Both libraries give the same value, or refuse with the same class."""
    theirs, ours = answer(torch, call), answer(torchgen_out, call)
    if isinstance(theirs, type):
        assert isinstance(ours, type) and issubclass(ours, theirs), f"{ours}, expected {theirs}"
        return
    assert type(ours) is type(theirs)
    np.testing.assert_equal(ours, theirs)


@pytest.mark.parametrize("call", LISTS)
def test_one_tensor_is_no_list_of_tensors(call: str) -> None:
    check_alike(call)


@pytest.mark.parametrize("call", DTYPES)
def test_what_an_operator_does_not_compute_in(call: str) -> None:
    check_alike(call)


@pytest.mark.parametrize("call", WRITTEN)
def test_numbers_that_a_dtype_does_not_hold(call: str) -> None:
    check_alike(call)


@pytest.mark.parametrize("call", COMPUTED)
def test_numbers_that_a_formula_does_not_take(call: str) -> None:
    check_alike(call)


@pytest.mark.parametrize("call", POWERS)
def test_powers_of_integers(call: str) -> None:
    check_alike(call)


@pytest.mark.parametrize("call", RESIZED)
def test_resizing_of_wrong_dims(call: str) -> None:
    check_alike(call)


@pytest.mark.parametrize("call", ARGUMENTS)
def test_arguments_of_another_type(call: str) -> None:
    check_alike(call)


@pytest.mark.parametrize("call", INTEGERS)
def test_what_equals_an_integer_is_none(call: str) -> None:
    for given in ("1", "1.0", "True", "np.int64(1)", "torch.tensor(1)"):
        check_alike(call.replace("N", given))


@pytest.mark.parametrize("call", PYTHON_TYPES)
def test_python_types_are_dtypes(call: str) -> None:
    for given in ("float", "int", "str", "3"):
        check_alike(call.replace("T", given))


@pytest.mark.parametrize("call", NO_SIZES)
def test_what_is_no_size_is_named(call: str) -> None:
    """Not by what Python says of our own arithmetic with it."""
    for library in (torch, torchgen_out):
        with pytest.raises(TypeError, match=r"must be (tuple of ints|int)|received an invalid"):
            eval(call, {"torch": library, "x": library.arange(12.0).reshape(3, 4)})


@pytest.mark.parametrize("call", NOT_A_NUMBER)
def test_a_number_that_is_none_is_refused(call: str) -> None:
    """Bounds are asked whether they are right, not whether they are wrong."""
    check_alike(call)


@pytest.mark.parametrize("call", FOUND_AT_RANDOM)
def test_what_random_calls_found(call: str) -> None:
    check_alike(call)


# -- states of recurrent layers, dtypes of steps --------------------------------------------------

STATES = (
    *("ones(1, 2, 5)", "ones(1, 2, 6)", "ones(1, 1, 2, 5)", "ones(2, 5)", "3", "'ab'"),
    *("(ones(1, 2, 5), ones(1, 2, 5))", "[ones(1, 2, 5), ones(1, 2, 5)]", "(ones(1, 2, 5),)"),
    *("(ones(1, 2, 6), ones(1, 2, 6))", "(ones(2, 5), ones(2, 5))", "(ones(1, 2, 5),) * 3"),
    *("ones(1, 2, 5).double()", "(ones(1, 2, 5).double(),) * 2", "(ones(1, 3, 5),) * 2"),
)


@pytest.mark.parametrize("text", STATES)
@pytest.mark.parametrize("name", ["LSTM", "GRU", "RNN"])
def test_states_of_recurrent_layers(name: str, text: str) -> None:
    found = []
    for library in (torch, torchgen_out):
        layer = getattr(library.nn, name)(4, 5)
        try:
            layer(library.ones(3, 2, 4), eval(text, {"ones": library.ones}))
            found.append("taken")
        except Exception as error:  # whatever a library raises is what is compared
            found.append(type(error).__name__)
    assert found[0] == found[1]


@pytest.mark.parametrize("text", ["ones(3, 5)", "ones(2, 5)", "ones(1, 3, 5)", "3"])
def test_states_of_a_cell_of_an_lstm(text: str) -> None:
    for library in (torch, torchgen_out):
        with pytest.raises(TypeError):
            library.nn.LSTMCell(4, 5)(library.ones(3, 4), eval(text, {"ones": library.ones}))


HEAVISIDE = (
    *("heaviside(ones(2), ones(2, dtype=long))", "heaviside(ones(2), ones((), dtype=double))"),
    *("ones(2).heaviside_(ones(2).double())", "heaviside(ones(2), ones(2), out=ones(2).double())"),
    "heaviside(ones(2) * 1j, ones(2) * 1j)",
)


@pytest.mark.parametrize("text", HEAVISIDE)
def test_a_step_of_two_dtypes_is_refused(text: str) -> None:
    for library in (torch, torchgen_out):
        with pytest.raises(RuntimeError):
            eval(text, vars(library).copy())


def test_zero_points_are_whole_numbers_of_32_bits() -> None:
    for library in (torch, torchgen_out):
        with pytest.raises(RuntimeError, match="overflow"):
            library.fake_quantize_per_tensor_affine(
                library.ones(2), library.tensor(0.1), library.tensor(2**40), 0, 255
            )


# -- truth values, texts and numbers of another class ----------------------------------------------

OTHERS = ("1", "0.5", "'a'", "None", "ones(2)", "ones(()) > 0", "[True]", "1j")

PLACES = (
    *("x.sum(0, keepdim={})", "torch.amin(x, 0, keepdim={})", "x.argmax(0, {})", "x.sort(0, {})"),
    *("x.topk(1, 0, {})", "x.median(0, {})", "x.var(0, unbiased={})", "x.quantile(0.5, 0, {})"),
    *("torch.linalg.svd(x, {})", "torch.linalg.qr(x, {})", "x.cholesky({})", "x.tril_indices({})"),
    *("torch.bucketize(x, x[0], right={})", "x.unique(True, {})", "torch.cdist(x, x, 2.0, {})"),
    *(
        "torch.linalg.vector_norm(x, 2, 0, {})",
        "x.put(i, x[0], {})",
        "torch.isclose(x, x, 1, 1, {})",
    ),
    *(
        "x.div(x, rounding_mode={})",
        "torch.fft.fft(x, norm={})",
        "torch.meshgrid(x[0], indexing={})",
    ),
    *("x.scatter_reduce(0, i[None], x, {})", "x.quantile(0.5, interpolation={})"),
    *("torch.allclose(x, x, {})", "torch.renorm(x, {}, 0, 1)"),
)
"""Calls of functions that PyTorch writes in C++, with a place for one argument."""


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("text", PLACES)
def test_arguments_of_another_class(text: str) -> None:
    for other in OTHERS:
        found = []
        for library in (torch, torchgen_out):
            names = {"torch": library, "ones": library.ones}
            x, i = library.eye(3), library.tensor([0, 1, 2])
            try:
                eval(text.format(other), {**names, "x": x, "i": i})
                found.append("taken")
            except Exception as error:  # whatever a library raises is what is compared
                found.append("TypeError" if isinstance(error, TypeError) else "another")
        assert found[0] == found[1] or (found[0] == "another" and found[1] != "taken"), (
            other,
            found,
        )


@pytest.mark.parametrize(
    "text", ["F.max_pool1d(x, 1, return_indices={})", "x.unflatten(0, (1, 3))"]
)
def test_layers_take_whatever_is_true(text: str) -> None:
    for library in (torch, torchgen_out):
        eval(text.format("1"), {"F": library.nn.functional, "x": library.eye(3)})
