"""Hand-written kernels on an emulated device against the CPU: all samples, and some dtypes.

What the kernels' texts compile to is looked at as well, for the very texts that these calls run.
"""

from __future__ import annotations

import ast
import functools
import importlib
import inspect
from collections.abc import Iterable, Iterator
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from codegen.model.operator import Dispatch, Index, Operator
from codegen.model.stream import Draw
from tests import calls, harness
from tests.cuda.compiling import check, needs_extra
from tests.cuda.test_operators import compare, on_device
from tests.gpu import kernel_families
from torchgen_out._runtime import dispatch
from torchgen_out._runtime.kernels import build
from torchgen_out._runtime.kernels.cuda import recorded, rows
from torchgen_out._runtime.kernels.cuda.compiling import compiler, typed
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.direct import Direct
from torchgen_out._runtime.kernels.cuda.loops import index

F = torch.nn.functional
ops = dispatch.ops
OURS = calls.Session(torch, dispatch.ops)
DTYPES = ("float32", "bfloat16", "int32", "bool", "complex64", "float16", "float64", "uint8")
USUAL = ("float32", "int32", "bfloat16")
"""Dtypes in which every operator is run; in the others with `-m full`."""
REFUSED = {
    "complex64": (
        "complex", "bernoulli_.Tensor", "softmax.int", "log_softmax.int", "_cross_entropy_rows",
        "_spmm", "index_reduce", "scatter_reduce.two", "max_pool2d_with_indices",
        "max_pool3d_with_indices", "_adaptive_max_pool2d", "_adaptive_max_pool3d",
    ),
    "bfloat16": ("complex", "_three_term_recurrence"),
    "float16": ("_three_term_recurrence",),
}  # fmt: skip
"""What names a dtype and refuses it, or some of the samples in it, on the CPU too."""
WIDE = ("softmax.int", "index_put", "cumsum")
"""What is run with indices of 64 bits; all others with `-m full`."""
COMPILED = (
    "max.dim", "cumsum", "log_softmax.int", "native_layer_norm_backward",
    "_cross_entropy_rows", "index_put", "_nonzero", "masked_scatter", "normal_", "sort",
    "max_pool2d_with_indices", "_unique2", "searchsorted.Tensor",
)  # fmt: skip
"""What is compiled in its first dtype; all others, and all dtypes, with `-m full`."""


OF_LIBRARIES = ("conv.convolution", "fft.", "linalg.", "matmul.")
"""Modules whose work is the libraries': they have tests of their own."""


def _is_ours(operator: Operator) -> bool:
    """Whether an operator has a hand-written kernel on CUDA, draws by a formula, or has statements
    that only CUDA runs."""
    kind = operator.kind
    if isinstance(kind, Draw) or (isinstance(kind, Index) and kind.faster):
        return True
    if not isinstance(kind, Dispatch):
        return False
    kernel = dict(kind.backends).get("CUDA")
    if kernel is None or kernel.module.startswith(OF_LIBRARIES):
        return False
    module = importlib.import_module(f"torchgen_out._runtime.kernels.cuda.{kernel.module}")
    found = getattr(module, kernel.name)
    return inspect.isfunction(found) or isinstance(found, Direct)


OPERATORS = [each for each in harness.program().operators if _is_ours(each)]
EXPLICIT = "CompositeExplicitAutograd"
OVER_TENSORS = [
    each
    for each in harness.program().operators
    if isinstance(each.kind, Dispatch) and EXPLICIT in dict(each.kind.backends)
]
"""Operators that a device computes by calls of others."""


ON_THE_HOST = {
    "_randperm": "its steps follow each other: the host shuffles, and the numbers are equal",
    "_draw": "a tensor is made on the device, and filled there",
    "_ldl_factor": "its composite brings the matrices to the host",
    "_ldl_solve": "its composite brings the factors to the host",
}
"""Operators whose kernel is the CPU's, whatever the device of the result, and why."""


def test_every_kernel_has_a_twin():
    """Whatever runs on the CPU runs on a device."""
    kinds = {each.name: each.kind for each in harness.program().operators}
    kernels = {n: dict(kind.backends) for n, kind in kinds.items() if isinstance(kind, Dispatch)}
    alone = [n for n, own in kernels.items() if "CUDA" not in own and EXPLICIT not in own]
    assert alone == list(ON_THE_HOST)


def _cases(operator: Operator) -> list[harness.Case]:
    return [each for each in harness.cases(operator) if not each.raises]


def _with_dtypes(operators: list[Operator], *, compiled: bool = False) -> list[Any]:
    """Every operator in its dtypes, most of them in the full tier, even more where compiled."""
    made = []
    for operator in operators:
        dtypes = [each for each in DTYPES if each in operator.dtype_names]
        dtypes = [each for each in dtypes if operator.name not in REFUSED.get(each, ())]
        usual = [each for each in USUAL if each in dtypes] or dtypes[:1]
        for dtype in dtypes:
            is_usual = dtype in usual
            if compiled:
                is_usual = dtype == dtypes[0] and operator.name in COMPILED
            marks = [] if is_usual else [pytest.mark.full]
            made.append(pytest.param(operator, dtype, marks=marks, id=f"{operator.name}-{dtype}"))
    return made


@pytest.mark.filterwarnings("ignore:.* is in beta", "ignore:The reduce argument of")
@pytest.mark.parametrize(("operator", "dtype"), _with_dtypes([*OPERATORS, *OVER_TENSORS]))
def test_values(emulated, operator, dtype):
    """All samples in the first dtype, two in the others."""
    is_first = dtype == _with_first(operator)
    for case in _cases(operator)[: None if is_first else 2]:
        call = OURS.arguments(case, dtype)
        theirs = on_device(call)
        torch.manual_seed(7)  # of all devices: what is drawn is equal, too
        expected = call()
        compare(theirs(), expected, str(case))


def _with_first(operator: Operator) -> str:
    return next(each for each in DTYPES if each in operator.dtype_names)


def _with_variants() -> list[Any]:
    found = [*OPERATORS, *OVER_TENSORS]
    return [pytest.param(each, id=each.name) for each in found if each.has_inplace]


@pytest.mark.parametrize("operator", _with_variants())
def test_in_place(emulated, operator):
    """In place as without, also where memory is not dense."""
    call = on_device(OURS.arguments(_cases(operator)[0], _with_first(operator)))
    torch.manual_seed(7)
    expected, own = call(), call.values["self"]
    if own.shape != expected.shape or own.dtype != expected.dtype:
        return
    address, version = own.data_ptr(), own._version
    spaced = torch.empty((*own.shape, 2), dtype=own.dtype, device="cuda")[..., 0].copy_(own)
    apart = calls.Call(call.session, call.operator, call.values | {"self": spaced}, [])
    torch.manual_seed(7)
    assert call.method(operator.public_name + "_") is own
    assert own.data_ptr() == address and own._version == version + 1
    torch.manual_seed(7)
    assert apart.method(operator.public_name + "_") is spaced
    compare(own, expected.cpu(), operator.name)
    compare(spaced.contiguous(), expected.cpu(), operator.name)


@pytest.mark.parametrize(
    "operator",
    [pytest.param(each, id=each.name, marks=() if each.name in COMPILED else pytest.mark.full)
     for each in (*OPERATORS, *OVER_TENSORS) if each.has_out],
)  # fmt: skip
def test_out(emulated, operator):
    """Into results that are given, which are resized."""
    call = on_device(OURS.arguments(_cases(operator)[0], _with_first(operator)))
    torch.manual_seed(7)
    expected = calls.results(call())
    given = [torch.empty(0, dtype=each.dtype, device="cuda") for each in expected]
    torch.manual_seed(7)
    call(out=given[0] if len(given) == 1 else tuple(given))
    for got, wanted in zip(given, expected, strict=True):
        compare(got, wanted.cpu(), operator.name)


def test_results_are_written_where_the_caller_says(emulated):
    """By a text that reads its operands where they lie, unless it would overwrite these."""
    x = torch.arange(12.0).reshape(3, 4).cuda()
    expected = x.tril().cpu()
    whole, spaced = torch.empty(2, 3, 4, device="cuda"), torch.empty(3, 8, device="cuda")[:, ::2]
    for out, made in ((whole[1], 0), (spaced, 1), (x, 1)):
        before, version = torch.cuda.memory_stats()["allocation.all.allocated"], out._version
        assert torch.tril(x, out=out) is out and out._version > version
        assert torch.cuda.memory_stats()["allocation.all.allocated"] == before + made
        assert torch.equal(out.cpu(), expected)
    assert torch.tril(x, out=torch.empty(0, device="cuda")).shape == (3, 4)


def _sources(emulated: Any, operator: Operator, dtype: str) -> list[Source]:
    """The texts that the samples of an operator run."""
    for case in _cases(operator):
        on_device(OURS.arguments(case, dtype))()
    return list(emulated.sources.values())


_compiled = functools.cache(check)


def _own(sources: Iterable[Source]) -> list[Source]:
    """Those of hand-written device kernels."""
    names = {kernel.__name__ for kernel in typed.KERNELS}
    return [each for each in sources if each.name in names]


@needs_extra
@pytest.mark.parametrize(("operator", "dtype"), _with_dtypes(OPERATORS, compiled=True))
def test_kernels_compile(emulated, operator, dtype):
    """The texts that are run; those of copies have tests of their own."""
    for source in _own(_sources(emulated, operator, dtype)):
        _compiled(source, "float64" in source.text, "complex" in source.text)


OF_PRODUCTS = ("window_size", "first_window", "last_window")
"""What divides products of two indices, which 32 bits may not hold, and has 64 for them."""


def test_indices_are_divided_as_what_they_are():
    """`a // b` of two indices is a division of 64 bits, signed: `divided(a, b)` is not."""
    found = {each for kernel in typed.KERNELS for each in _called(kernel.function)}
    assert len(found) > 20
    dividing = {each.__name__ for each in found if any(map(_divides, ast.walk(_tree(each))))}
    assert dividing <= set(OF_PRODUCTS)


def _called(function: Any) -> Iterator[Any]:
    """A device function, and those of its module that it names."""
    yield function
    for name in build.names_used(build.plain_source(function)):
        value = function.__globals__.get(name)
        if isinstance(value, typed.DeviceFunction) and value.function is not function:
            yield from _called(value.function)


@functools.cache
def _tree(function: Any) -> ast.AST:
    return ast.parse(build.plain_source(function))


def _divides(node: ast.AST) -> bool:
    """Whether this is a quotient by what is no constant, and of no type that is named."""
    if not isinstance(node, ast.BinOp) or not isinstance(node.op, ast.FloorDiv | ast.Mod):
        return False
    by = ast.unparse(node.right)
    is_typed = by.startswith(("T(", "U(", "np.uint"))
    return not (isinstance(node.right, ast.Constant) or by.isupper() or is_typed)


# -- what samples are too small for -------------------------------------------------------------


@pytest.fixture
def long_rows(emulated, monkeypatch):
    """An emulated device on which rows of 700 are long: blocks own them, in slices."""
    monkeypatch.setattr(rows, "SHORT", 100)
    monkeypatch.setattr(rows, "LEAST_PER_SLICE", 320)
    monkeypatch.setattr(rows, "LEAST_PER_THREAD", 700)
    return emulated


LONG = torch.tensor(np.random.default_rng(3).permutation(1400).reshape(2, 700) % 1000)
OVER_ROWS = {
    "argmax": lambda x: x.argmax(1),
    "argmin of all": lambda x: x.argmin(),
    "max": lambda x: x.max(1),
    "cumsum": lambda x: x.cumsum(1),
    "cumprod": lambda x: (1 + x / 1e5).cumprod(1),
    "logcumsumexp": lambda x: (x / 100).logcumsumexp(1),
    "cummax": lambda x: x.cummax(1),
    "cummin": lambda x: x.cummin(1),
    "softmax": lambda x: (x / 100).softmax(1),
    "log_softmax": lambda x: (x / 100).log_softmax(1),
    "logsumexp": lambda x: (x / 100).logsumexp(1),
    "var": lambda x: torch.var_mean(x, 1),
    "norm": lambda x: torch.linalg.vector_norm(x, 2, 1),
    "greatest magnitude": lambda x: torch.linalg.vector_norm(-x, float("inf"), 1),
    "norm of any order": lambda x: torch.linalg.vector_norm(x / 500, 3, 1),
    "norm of complex numbers": lambda x: torch.linalg.vector_norm(torch.complex(x, 2 - x), 2, 1),
    "least magnitude": lambda x: torch.linalg.vector_norm(torch.complex(x, x), -float("inf"), 1),
    "count of complex numbers": lambda x: torch.linalg.vector_norm(torch.complex(x, 0 * x), 0, 1),
    "layer_norm": lambda x: F.layer_norm(x, x.shape[1:]),
    "cross_entropy": lambda x: F.cross_entropy(x.view(-1, 700), x.new_tensor([7, 650]).long()),
    "batch_norm": lambda x: F.batch_norm(x.view(2, -1, 50), None, None, training=True),
    "sort": lambda x: x.sort(1),
    "topk of integers": lambda x: x.int().topk(5, 1, largest=False),
    "median": lambda x: x.to(torch.int16).median(1),
    "scatter_add": lambda x: (0 * x).scatter_add(1, x.long() % 700, x),
}


@pytest.mark.parametrize("name", OVER_ROWS)
@pytest.mark.parametrize("inner", [1, 2])
def test_long_rows(long_rows, name, inner):
    """Rows beside each other, too, where there are few of them."""
    x = LONG.float() if inner == 1 else LONG.float().reshape(1, 700, 2)
    compare(OVER_ROWS[name](x.cuda()), OVER_ROWS[name](x), name)


def test_folds_of_long_rows_are_launches(long_rows):
    """Where rows are few, each fold of a program is a launch that many threads share."""
    before = len(long_rows.named("launch"))
    LONG.float().cuda().var(1)
    assert len(long_rows.named("launch")) - before > 2
    LONG[:, :30].float().cuda().var(1)
    assert len(long_rows.named("launch")) - before < 6


USUALLY = ("cumsum", "sort", "softmax", "least magnitude")
"""What is compiled of these; all of it with `-m full`."""
ROWS = torch.tensor(np.random.default_rng(4).random((3, 1100), np.float32))
OF_BLOCKS = {
    "layer_norm": lambda x: F.layer_norm(x, x.shape[1:], x[0], x[1]),
    "cross_entropy": lambda x: ops._cross_entropy_rows(x, labels(x), None, 1, -100),
    "smoothed": lambda x: ops._cross_entropy_rows(x, labels(x), x[0], 0, -100, 0.3),
}


def labels(x):
    return torch.tensor([7, x.shape[1] - 1, 0]).to(x.device)


@pytest.mark.parametrize("length", [70, 1100])
@pytest.mark.parametrize("name", OF_BLOCKS)
def test_rows_of_warps_and_blocks(emulated, monkeypatch, name, length):
    """A warp, or of a longer row a block, shares all its folds and what is made of them."""
    made, make = {}, index.index_kernel

    def remembered(form):
        made[make(form)] = form.lanes
        return make(form)

    monkeypatch.setattr(index, "index_kernel", remembered)
    x = ROWS[:, :length].contiguous()
    compare(OF_BLOCKS[name](x.cuda()), OF_BLOCKS[name](x), name)
    (source,) = [source for source, lanes in made.items() if lanes > 1]
    assert made[source] == (rows.WARP if length < rows.SHORT else typed.THREADS)
    if compiler.is_installed():
        check(source, False)


@needs_extra
@pytest.mark.parametrize(
    "name",
    [pytest.param(each, marks=() if each in USUALLY else pytest.mark.full) for each in OVER_ROWS],
)  # fmt: skip
def test_kernels_of_long_rows_compile(long_rows, name):
    """Kernels by hand, and the steps of statements whose rows several threads share."""
    OVER_ROWS[name](LONG.float().cuda())
    sources = list(long_rows.sources.values())
    for source in [*_own(sources), *(each for each in sources if each.name.endswith("_step"))]:
        _compiled(source, False, "complex" in source.text)


@pytest.mark.parametrize(
    "operator",
    [pytest.param(each, id=each.name, marks=() if each.name in WIDE else pytest.mark.full)
     for each in OPERATORS],
)  # fmt: skip
def test_indices_of_64_bits(emulated, monkeypatch, request, operator):
    """What operands of more than 2**30 elements would run."""
    monkeypatch.setattr(typed, "NARROW", -1)
    recorded.forget()  # what calls of statements inside have launched before
    request.addfinalizer(recorded.forget)
    call = OURS.arguments(_cases(operator)[0], _with_first(operator))
    theirs = on_device(call)
    torch.manual_seed(7)
    expected = call()
    compare(theirs(), expected, operator.name)
    for source in _own(emulated.sources.values()):
        assert "I = np.int64" in source.text
        if compiler.is_installed():
            _compiled(source, "float64" in source.text, "complex" in source.text)


# -- what samples do not say --------------------------------------------------------------------


FACTORIES = {
    "rand": lambda on: torch.rand(3, 2, device=on),
    "randn": lambda on: torch.randn(3, 2, device=on),
    "randint": lambda on: torch.randint(2, 9, (3, 2), device=on),
    "rand_like": lambda on: torch.rand_like(torch.zeros(3, 2, device=on)),
    "randn_like": lambda on: torch.randn_like(torch.zeros(3, 2, device=on)),
    "randint_like": lambda on: torch.randint_like(torch.zeros(3, 2, device=on), 9),
    "randperm": lambda on: torch.randperm(7, device=on),
}


@pytest.mark.parametrize("name", FACTORIES)
def test_random_tensors_are_those_of_the_cpu(emulated, name):
    torch.manual_seed(3)
    got, expected = FACTORIES[name]("cuda"), FACTORIES[name]("cpu")
    compare(got, expected, name)


@pytest.mark.parametrize(
    ("name", "options", "launches"),
    [("SGD", {}, 1), ("SGD", {"momentum": 0.9}, 2), ("Adam", {}, 3), ("RMSprop", {}, 2)],
)
def test_steps_of_optimizers_are_fused(emulated, name, options, launches):
    """The CPU's formulas, each one kernel; nothing waits."""

    def step(device: str) -> Any:
        parameter = torch.ones(5, device=device).requires_grad_()
        optimizer = getattr(torch.optim, name)([parameter], lr=0.1, **options)
        for _ in range(2):
            parameter.grad = torch.arange(5.0, device=device)
            counted, waits = (len(emulated.named(n)) for n in ("launch", "synchronize_stream"))
            optimizer.step()
        assert len(emulated.named("synchronize_stream")) == waits
        assert len(emulated.named("launch")) - counted == (launches if device == "cuda" else 0)
        return parameter.detach()

    compare(step("cuda"), step("cpu"), name)


def test_sums_at_places_are_those_of_a_loop(emulated):
    """In the order of the values, bit for bit: float additions in another order would differ."""
    places = torch.randint(0, 3, (300,))
    values = torch.rand(300) * 10.0 ** torch.randint(-6, 6, (300,))
    there = torch.zeros(3).cuda().index_add(0, places.cuda(), values.cuda())
    assert torch.equal(there.cpu(), torch.zeros(3).index_add(0, places, values))


@pytest.mark.parametrize(
    ("dtype", "sizes"),
    [(torch.int16, (4500,)), (torch.int8, (3, 1500)), (torch.float32, (4200,)),
     pytest.param(torch.float64, (5, 1500), marks=pytest.mark.full)],
)  # fmt: skip
def test_tiles_are_sorted_stably(emulated, dtype, sizes):
    """Rows that end within tiles, tiles that end within runs, and equal keys in most of them."""
    x = torch.tensor(np.random.default_rng(4).integers(-60, 60, sizes)).to(dtype)
    values, places = x.cuda().sort(dim=-1, stable=True)
    expected = x.sort(dim=-1, stable=True)
    assert torch.equal(values.cpu(), expected[0]) and torch.equal(places.cpu(), expected[1])
    moved = [name for _, name, *_ in emulated.named("launch") if name == "move_tiles"]
    assert len(moved) == dtype.itemsize + (len(sizes) > 1)


def test_sorted_values(emulated):
    """Signed zeros are equal, NaN is the greatest, ties keep their order, in both directions."""
    x = torch.tensor([0.0, -0.0, float("nan"), 3.0, -float("inf"), -0.0, float("inf"), 3.0, -2.5])
    for descending in (False, True):
        order = x.cuda().argsort(descending=descending, stable=True)
        assert order.tolist() == x.argsort(descending=descending, stable=True).tolist()


def test_running_statistics_follow(emulated):
    layers = [torch.nn.BatchNorm1d(3), torch.nn.BatchNorm1d(3).cuda()]
    x = torch.randn(5, 3)
    for layer, given in zip(layers, (x, x.cuda()), strict=True):
        layer(given)
    compare(layers[1].running_mean, layers[0].running_mean, "running_mean")
    compare(layers[1].running_var, layers[0].running_var, "running_var")


def test_running_statistics_that_lie_apart_follow(emulated):
    """The columns of a table."""
    x, table = torch.randn(5, 3), torch.rand(3, 2)
    there = table.cuda()
    for given, stats in ((x, table), (x.cuda(), there)):
        F.batch_norm(given, stats[:, 0], stats[:, 1], training=True)
    compare(there, table, "running statistics")


OF_CHANNELS = {
    "planes": lambda: torch.randn(2, 3, 4, 5),
    "channels last": lambda: torch.randn(2, 3, 4, 5).to(memory_format=torch.channels_last),
    "rows": lambda: torch.randn(62, 3),
    "rows that do not divide": lambda: torch.randn(37, 3),
    "columns": lambda: torch.randn(3, 62).t(),
    "one place": lambda: torch.randn(8, 3, 1, 1),
    "one channel": lambda: torch.randn(3, 1, 7),
    "every second": lambda: torch.randn(2, 6, 10)[:, ::2, ::2],
    "turned": lambda: torch.randn(4, 3, 5, 2).permute(3, 1, 0, 2),
    "nothing": lambda: torch.randn(0, 3, 4),
}


@pytest.mark.parametrize("name", [each for each in OF_CHANNELS if each != "nothing"])
@pytest.mark.parametrize("training", [True, False])
@pytest.mark.parametrize("parameters", ["", "weight", "bias", "weight and bias"])
def test_batch_norm_in_all_layouts(emulated, name, training, parameters):
    """Its results lie as on the CPU, and running statistics follow, beside 16-bit images, too."""
    torch.manual_seed(0)
    x = OF_CHANNELS[name]()
    channels = torch.rand(4, x.shape[1])
    for dtype in (torch.float32, torch.bfloat16):
        found = []
        for device in ("cpu", "cuda"):
            weight, bias, *running = (each.clone() for each in channels.to(device))
            given = (
                weight if "weight" in parameters else None,
                bias if "bias" in parameters else None,
            )
            args = x.to(device, dtype), *given, *running, training, 0.1, 1e-3
            found.append((*dispatch.ops.native_batch_norm(*args), *running))
        compare(found[1], found[0], name)


@pytest.mark.parametrize("grad", OF_CHANNELS)
@pytest.mark.parametrize("name", OF_CHANNELS)
def test_gradients_of_batch_norm_in_all_layouts(emulated, name, grad):
    """The result lies as the input does; what lies otherwise is copied first."""
    torch.manual_seed(0)
    x = OF_CHANNELS[name]()
    laid = OF_CHANNELS[grad]()
    slope = torch.randn(x.shape) if laid.shape != x.shape else laid
    channels = torch.rand(3, x.shape[1])
    for train, wants in ((True, True), (False, True), (True, False)):
        given = *channels, train, 1e-3, [wants, True, True]
        expected = dispatch.ops._batch_norm_backward(slope, x, *given)
        there = [a.cuda() if isinstance(a, torch.Tensor) else a for a in given]
        found = dispatch.ops._batch_norm_backward(slope.cuda(), x.cuda(), *there)
        for ours, theirs in zip(found[not wants :], expected[not wants :], strict=True):
            compare(ours, theirs, name, factor=20.0)
            assert ours.stride() == theirs.stride()


def test_training_step(emulated):
    """Embedding, dropout, normalisation, cross entropy: their gradients, and a step."""
    words, classes = torch.tensor([3, 1, 3, 0]), torch.tensor([2, 0, 1, 3])
    weights = torch.randn(5, 4)

    def train(device: str) -> list:
        torch.manual_seed(3)
        table = weights.to(device).requires_grad_()
        optimizer = torch.optim.SGD([table], lr=0.5)
        rows = F.layer_norm(F.dropout(F.embedding(words.to(device), table), 0.25), (4,))
        loss = F.cross_entropy(rows, classes.to(device))
        loss.backward()
        optimizer.step()
        return [loss.detach(), table.detach()]

    for got, expected in zip(train("cuda"), train("cpu"), strict=True):
        compare(got, expected, "training", factor=20.0)


def test_families_of_kernels_for_tools_that_watch_them(emulated):
    """The program that compute-sanitizer runs on a GPU."""
    found = kernel_families.families()
    assert {operator.name for operator in OPERATORS} <= {
        operator.name for family in found.values() for operator in family
    }
    assert kernel_families.run(["loss", "conv"]) > 5
    assert not any(not operators for operators in found.values())
