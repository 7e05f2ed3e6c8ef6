"""Matrix products on an emulated device against the CPU, and what cuBLASLt is told of them."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from tests import harness
from tests.cuda.compiling import check
from tests.cuda.standin_cublas import NOT_SUPPORTED, StandInCublasLt
from tests.cuda.test_operators import OURS, compare, on_device
from torchgen_out._runtime.backends.cuda.libraries import cublaslt
from torchgen_out._runtime.kernels.cuda import rows
from torchgen_out._runtime.kernels.cuda.compiling import compiler
from torchgen_out._runtime.kernels.cuda.matmul import matrix_plans

NAMES = ("mm", "mv", "dot", "vdot", "bmm", "addmm", "addmv", "baddbmm", "addbmm", "addr", "linear",
         "matmul")  # fmt: skip
DTYPES = ("float32", "float64", "float16", "bfloat16", "complex64", "int32")

pytestmark = pytest.mark.usefixtures("emulated")


def _operators() -> list[Any]:
    by_name = {each.name: each for each in harness.program().operators}
    return [by_name[name] for name in NAMES]


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("operator", _operators(), ids=lambda each: each.name)
def test_values(operator, dtype):
    for case in harness.cases(operator):
        if not case.raises:
            call = OURS.arguments(case, dtype)
            compare(on_device(call)(), call(), str(case))


@pytest.mark.parametrize("operator", _operators(), ids=lambda each: each.name)
def test_errors_are_those_of_the_cpu(operator):
    for case in (each for each in harness.cases(operator) if each.raises):
        call = OURS.arguments(case, "float32")
        with pytest.raises(Exception) as expected:
            call()
        with pytest.raises(type(expected.value)) as got:
            on_device(call)()
        assert str(got.value) == str(expected.value)


def test_gradients():
    x, w, b = torch.randn(4, 3), torch.randn(5, 3), torch.randn(5)
    twins = [each.cuda().requires_grad_() for each in (x, w, b)]
    leaves = [each.requires_grad_() for each in (x, w, b)]
    torch.nn.functional.linear(*twins).square().sum().backward()
    torch.nn.functional.linear(*leaves).square().sum().backward()
    for ours, theirs in zip(twins, leaves, strict=True):
        assert torch.allclose(ours.grad.cpu(), theirs.grad, rtol=1e-5, atol=1e-5)


def randn(*sizes: int, **options: Any) -> Any:
    """Random numbers on the device."""
    return torch.randn(*sizes, **options).cuda()


def products(libraries: dict[str, Any]) -> list[Any]:
    """What cuBLASLt computed so far."""
    return [call[1] for call in libraries["cublasLt"].calls if call[0] == "matmul"]


LAYOUTS = {
    "dense": lambda x: x,
    "transposed": lambda x: x.t().contiguous().t(),
    "rows apart": lambda x: torch.cat([x, x], 1)[:, : x.shape[1]],
    "columns apart": lambda x: torch.stack([x, x], 2)[:, :, 0],
}


@pytest.mark.parametrize("second", LAYOUTS)
@pytest.mark.parametrize("first", LAYOUTS)
def test_layouts_are_told_to_the_library(libraries, emulated, first, second):
    a, b = torch.randn(4, 3), torch.randn(3, 5)
    laid = [LAYOUTS[name](x) for name, x in ((first, a), (second, b))]
    on_cuda = [torch.empty_strided(x.shape, x.stride(), device="cuda").copy_(x) for x in laid]
    before = len(emulated.calls)
    result = torch.mm(*on_cuda)
    launches = [call[2] for call in emulated.calls[before:] if call[0] == "launch"]
    assert len(launches) == [first, second].count("columns apart")
    assert torch.allclose(result.cpu(), a @ b, atol=1e-5)
    (product,) = products(libraries)
    # The row-major result is b.T @ a.T of column-major memory: what is row-major is not transposed.
    flags = [product.attributes.get(each, 0) for each in (3, 4)]
    assert flags == [int(name == "transposed") for name in (second, first)]


def test_batches_are_one_product(libraries):
    a, b = torch.randn(6, 4, 3), torch.randn(3, 5)
    result = torch.matmul(a.cuda(), b.cuda())
    assert torch.allclose(result.cpu(), a @ b, atol=1e-5)
    wide = torch.randn(2, 1, 4, 3), torch.randn(3, 3, 5)
    result = torch.matmul(*[each.cuda() for each in wide])
    assert torch.allclose(result.cpu(), wide[0] @ wide[1], atol=1e-5)
    assert len(products(libraries)) == 2


def test_a_bias_is_added_by_the_library(libraries, emulated):
    x, w, b = randn(4, 3), randn(5, 3), randn(5)
    before = len(emulated.named("launch"))
    torch.nn.functional.linear(x, w, b)
    (product,) = products(libraries)
    assert product.attributes[7] == 4  # the epilogue BIAS
    assert len(emulated.named("launch")) == before


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_bias_that_lies_anyhow(libraries, dtype):
    """The library is told of no alignment of it, and reads 16 bytes at once."""
    x, w, b = (each.to(dtype) for each in (torch.randn(4, 3), torch.randn(5, 3), torch.randn(9)))
    there = [each.cuda() for each in (x, w, b)]
    for start in (0, 1, 4):
        got = torch.nn.functional.linear(*there[:2], there[2][start : start + 5])
        expected = torch.nn.functional.linear(x, w, b[start : start + 5])
        compare(got, expected, f"from {start}")
    assert {product.attributes[7] for product in products(libraries)} == {4}


def test_a_row_that_is_the_result_itself_is_no_bias(libraries):
    """The library may read a bias after it has written."""
    own, a, b = (torch.rand(*sizes) for sizes in ((1, 1, 5), (1, 1, 3), (1, 3, 5)))
    there = own.cuda()
    there.baddbmm_(a.cuda(), b.cuda())
    assert torch.allclose(there.cpu(), torch.baddbmm(own, a, b))
    (product,) = products(libraries)
    assert 7 not in product.attributes


def test_a_bias_without_an_epilogue(libraries, monkeypatch):
    """Where the library has no algorithm with one, the bias is what the product is added to."""
    heuristic = StandInCublasLt.matmul_algo_get_heuristic

    def refuse(self, handle, operation, *rest):
        if 7 in self.objects[operation].attributes:
            raise self.Failure(NOT_SUPPORTED)
        heuristic(self, handle, operation, *rest)

    monkeypatch.setattr(StandInCublasLt, "matmul_algo_get_heuristic", refuse)
    x, w, b = torch.randn(4, 3), torch.randn(5, 3), torch.randn(5)
    for _ in range(2):
        got = torch.nn.functional.linear(x.cuda(), w.cuda(), b.cuda())
        compare(got, torch.nn.functional.linear(x, w, b), "linear")
    assert len([call for call in libraries["cublasLt"].calls if call[0] == "heuristic"]) == 1


def test_products_that_the_library_does_not_know(monkeypatch):
    def refuse(self, *arguments):
        raise self.Failure(NOT_SUPPORTED)

    monkeypatch.setattr(StandInCublasLt, "matmul_algo_get_heuristic", refuse)
    with pytest.raises(RuntimeError, match="cuBLASLt has no algorithm"):
        randn(4, 3) @ randn(3, 5)


def test_more_matrices_than_a_grid_takes(libraries):
    a, b, c = torch.randn(70000, 1, 2), torch.randn(70000, 2, 1), torch.randn(70000, 1, 1)
    on_cuda = [each.cuda() for each in (c, a, b)]
    compare(torch.baddbmm(*on_cuda), torch.baddbmm(c, a, b), "baddbmm")
    compare(on_cuda[1] @ on_cuda[2], a @ b, "bmm")
    assert len(products(libraries)) == 4


def test_how_matrices_lie_is_worked_out_once(libraries):
    matrix_plans.planned.cache_clear()
    w, b = randn(5, 3), randn(5)
    for _ in range(3):
        torch.nn.functional.linear(randn(4, 3), w, b)
    assert matrix_plans.planned.cache_info()[:2] == (2, 1)
    settings = [call for call in libraries["cublasLt"].calls if call[0] == "heuristic"]
    assert len(settings) == 1 and len(products(libraries)) == 3


def test_products_that_were_prepared_are_given_back(libraries, monkeypatch):
    monkeypatch.setattr(cublaslt, "PRODUCTS_KEPT", 2)
    for size in (3, 4, 5, 3):
        randn(2, size) @ randn(size, 2)
    kinds = [each.kind for each in libraries["cublasLt"].objects.values()]
    assert (kinds.count("matmul"), kinds.count("layout")) == (2, 8)
    assert len(products(libraries)) == 4


def test_results_are_written_where_they_are_wanted(libraries, emulated):
    a, b = randn(4, 3), randn(3, 5)
    expected = (a @ b).cpu()
    for out in (torch.empty(4, 5, device="cuda"), torch.empty(5, 4, device="cuda").t()):
        address, copies = out.data_ptr(), len(emulated.named("copy"))
        assert torch.mm(a, b, out=out) is out
        assert out.data_ptr() == address and len(emulated.named("copy")) == copies
        assert torch.allclose(out.cpu(), expected)
    square = randn(3, 3)
    values = square.cpu()
    assert torch.allclose(torch.mm(square, square, out=square).cpu(), values @ values, atol=1e-5)
    apart = torch.empty(4, 10, device="cuda")[:, ::2]
    assert torch.allclose(torch.mm(a, b, out=apart).cpu(), expected)


def test_sums_in_place(emulated):
    total, a, b = randn(4, 5), randn(4, 3), randn(3, 5)
    expected = torch.addmm(total.cpu(), a.cpu(), b.cpu(), beta=0.5, alpha=2)
    copies = len(emulated.named("copy"))
    assert total.addmm_(a, b, beta=0.5, alpha=2) is total
    assert len(emulated.named("copy")) == copies
    assert torch.allclose(total.cpu(), expected, atol=1e-5)


def test_what_is_added_with_factor_0_is_not_read():
    nan = torch.full((4, 5), float("nan"), device="cuda")
    a, b = randn(4, 3), randn(3, 5)
    assert torch.allclose(torch.addmm(nan, a, b, beta=0), a @ b)
    assert not torch.addr(nan, randn(4), randn(5), beta=0).isnan().any()


def test_a_product_is_prepared_once(libraries):
    a, b = randn(4, 3), randn(3, 5)
    for _ in range(3):
        a @ b
    assert [call[0] for call in libraries["cublasLt"].calls] == ["heuristic"] + ["matmul"] * 3
    a[1:] @ b
    assert libraries["cublasLt"].calls[-2][0] == "heuristic"
    assert libraries["cublasLt"].calls[-2][1][6] == 4  # rows of 12 bytes are aligned by 4


def test_tf32_is_used_if_it_is_allowed(libraries, monkeypatch):
    a, b = randn(4, 3), randn(3, 5)
    a @ b
    monkeypatch.setattr(torch.backends.cuda.matmul, "allow_tf32", True)
    a @ b
    a.double() @ b.double()
    assert [each.compute for each in products(libraries)] == [68, 77, 70]


def test_sums_of_halves_may_be_kept_in_float32(libraries, monkeypatch):
    a, b = (x.bfloat16() for x in (randn(4, 3), randn(3, 5)))
    a @ b
    name = "allow_bf16_reduced_precision_reduction"
    monkeypatch.setattr(torch.backends.cuda.matmul, name, False)
    a @ b
    asked = [call[1].get(3) for call in libraries["cublasLt"].calls if call[0] == "heuristic"]
    assert asked == [None, 2]  # REDUCTION_SCHEME_MASK: COMPUTE_TYPE


def test_work_goes_into_the_current_stream(libraries):
    a, b = randn(4, 3), randn(3, 5)
    stream = torch.cuda.Stream()
    with torch.cuda.stream(stream):
        a @ b
        a[0] @ a[0]
    assert products(libraries)[-1].stream == stream.cuda_stream
    assert libraries["cublas"].calls[-1] == ("dot", stream.cuda_stream)


@pytest.mark.parametrize("dtype", [torch.uint8, torch.int64])
def test_integers_wrap_around(dtype):
    """In tiles that end anywhere, and added to others."""
    a, b, c = (torch.randint(0, 120, s).to(dtype) for s in ((2, 17, 18), (2, 18, 3), (17, 3)))
    there = [each.cuda() for each in (a, b, c)]
    sums = [torch.baddbmm(z, x, y, beta=2, alpha=3) for x, y, z in ((a, b, c), there)]
    assert torch.equal(sums[1].cpu(), sums[0])
    x, y = c[:3], there[2][:3]
    expected = torch.nn.functional.linear(x, x, x[0])
    assert torch.equal(torch.nn.functional.linear(y, y, y[0]).cpu(), expected)


@pytest.mark.parametrize("dtype", [torch.int8, torch.int64])
def test_long_vectors_of_integers_are_cut(emulated, dtype):
    x = torch.randint(-9, 9, (40000,)).to(dtype)
    there = x.cuda()
    before = len(emulated.named("launch"))
    got = there[::2].dot(there[1::2])
    assert len(emulated.named("launch")) == before + 3  # a place, slices, and their sum
    assert torch.equal(got.cpu(), x[::2].dot(x[1::2]))
    (there[:6].view(2, 3) @ there[:6].view(3, 2)).sum()
    if compiler.is_installed():
        for source in emulated.sources.values():
            if source.name.startswith(("_sampled_products", "multiply_tiles")):
                check(source, False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_attention_is_two_products_of_what_lies_there(libraries, emulated, dtype):
    """16-bit floats as they are; heads before time are one batch, of the result as well."""
    own = [torch.randn(2, 3, 4, 8).to(dtype) for _ in range(3)]
    there = [each.cuda() for each in own]
    before = len(emulated.named("launch"))
    got = torch.nn.functional.scaled_dot_product_attention(*there, is_causal=True)
    assert len(products(libraries)) == 2
    launched = [call[1] for call in emulated.named("launch")[before:]]
    assert launched == ["_attention_weights_alone_device_0"]
    expected = torch.nn.functional.scaled_dot_product_attention(*own, is_causal=True)
    assert got.is_contiguous()
    compare(got, expected, "attention")


@pytest.mark.parametrize("name", ["float32", "bfloat16"])
@pytest.mark.parametrize("masked", [False, True])
def test_attention_over_few_long_rows(emulated, monkeypatch, masked, name):
    """Many threads share a row; its gradients, also of one that sees nothing."""
    for threshold, value in (("SHORT", 0), ("LEAST_PER_SLICE", 8), ("LEAST_PER_THREAD", 0)):
        monkeypatch.setattr(rows, threshold, value)
    dtype = getattr(torch, name)
    given = [torch.randn(1, 2, *sizes).to(dtype) for sizes in ((3, 4), (50, 4), (50, 5))]
    mask = torch.randn(3, 50).to(dtype) if masked else None
    if mask is not None:
        mask[1] = -float("inf")
    found = []
    for device in ("cpu", "cuda"):
        own = [each.to(device).detach().requires_grad_() for each in given]
        seen = None if mask is None else mask.to(device)
        out = torch.nn.functional.scaled_dot_product_attention(*own, seen)
        out.float().square().sum().backward()
        found.append([out.detach(), *(each.grad for each in own)])
    for expected, got in zip(*found, strict=True):
        compare(got, expected, "attention", of_sums=True)
    assert any(each.name.endswith("_step") for each in emulated.sources.values())


def test_steps_of_recurrent_layers_are_products_of_the_library(libraries):
    layer = torch.nn.LSTM(3, 4)
    x = torch.randn(5, 2, 3)
    expected, there = layer(x)[0], layer.cuda()(x.cuda())[0]
    assert len(products(libraries)) == 1 + 5  # the inputs' weights, and one product per step
    compare(there.detach(), expected.detach(), "lstm")


def test_devices_are_not_mixed():
    with pytest.raises(RuntimeError, match=r"same device.*cuda:0 and cuda:1"):
        torch.mm(torch.ones(2, 2, device="cuda:0"), torch.ones(2, 2, device="cuda:1"))
    with pytest.raises(RuntimeError, match="same device"):
        torch.mm(torch.ones(2, 2, device="cuda:0"), torch.ones(2, 2))


def test_the_precision_has_three_names():
    assert torch.get_float32_matmul_precision() == "highest"
    try:
        torch.set_float32_matmul_precision("medium")
        assert torch.backends.cuda.matmul.allow_tf32
        with pytest.warns(UserWarning, match="best is not one of"):
            torch.set_float32_matmul_precision("best")
        assert torch.get_float32_matmul_precision() == "medium"
        torch.backends.cuda.matmul.allow_tf32 = True
        assert torch.get_float32_matmul_precision() == "high"
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False
    assert torch.get_float32_matmul_precision() == "highest"


def test_vectors_in_any_layout():
    x, one = torch.randn(6), torch.randn(1)
    expected = torch.dot(x[::2], one.expand(3))
    got = torch.dot(x.cuda()[::2], one.cuda().expand(3))
    assert torch.allclose(got.cpu(), expected)
