"""Index programs on CUDA: on an emulated device as on the CPU, and compiled without a GPU."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

import torchgen_out as torch
from codegen.model.operator import Index, Operator
from tests import calls, harness
from tests.cuda.compiling import check, needs_extra
from tests.cuda.test_operators import compare, on_device
from tests.cuda.test_products import products
from tests.research_package import generated
from tests.runtime.index_language import test_language as language
from tests.runtime.index_language import test_ranges as ranges
from tests.runtime.index_language import test_updates as updates
from torchgen_out._runtime import dispatch
from torchgen_out._runtime.kernels.cuda import recorded
from torchgen_out._runtime.kernels.cuda.compiling import compiler, typed
from torchgen_out._runtime.kernels.cuda.compiling.compiler import Source
from torchgen_out._runtime.kernels.cuda.loops import index
from torchgen_out._runtime.kernels.cuda.scatter import combining

pytestmark = pytest.mark.usefixtures("emulated")


@pytest.fixture(scope="module")
def ops(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The package of examples/research_ops, under a name of its own."""
    with generated(tmp_path_factory.mktemp("index"), "research_ops_on_cuda") as package:
        yield package


def _randn(*sizes: int) -> Any:
    return torch.randn(*sizes)


CALLS: dict[str, Callable[[], tuple[Any, ...]]] = {
    "rms_norm_gated": lambda: (_randn(2, 40, 3).transpose(1, 2), _randn(3, 40), _randn(40)),
    "local_correlation": lambda: (_randn(1, 3, 2, 5), _randn(1, 3, 2, 5), 2),
    "segment_softmax": lambda: (_randn(9), torch.tensor([0, 1, 1, 0, 3, 1, 2, 2, 0]), 4),
    "selective_scan": lambda: (
        *(_randn(2, 4, 3), _randn(2, 4, 3).abs(), -_randn(3, 2).abs()),
        *(_randn(2, 4, 2), _randn(2, 4, 2)),
    ),
    "entmax15": lambda: (_randn(3, 40),),
    "bias_gelu_dropout_residual": lambda: (_randn(3, 5), _randn(5), _randn(3, 5), 0.4),
}
"""Long folds, which a warp shares, and short ones; `...`, windows, gathers, scatters and a scan;
steps, and draws, which are the CPU's.
"""


def _trained(function: Any, args: tuple[Any, ...], device: str, dtype: Any) -> list[Any]:
    """The result, and the gradients of a sum of squares."""
    given = [
        a.detach().to(device, dtype).requires_grad_()
        if isinstance(a, torch.Tensor) and a.is_floating_point()
        else a.to(device)
        if isinstance(a, torch.Tensor)
        else a
        for a in args
    ]
    torch.manual_seed(1)
    out = function(*given)
    (out * out).sum().backward()
    leaves = [a.grad for a in given if isinstance(a, torch.Tensor) and a.requires_grad]
    return [each.detach().cpu().double().numpy() for each in (out, *leaves)]


@pytest.mark.parametrize("name", CALLS)
def test_as_on_the_cpu(ops: Any, name: str) -> None:
    torch.manual_seed(0)
    args, function = CALLS[name](), getattr(ops, name)
    for dtype, tolerance in ((torch.float32, 1e-5), (torch.bfloat16, 1e-2)):
        found = _trained(function, args, "cuda", dtype)
        expected = _trained(function, args, "cpu", dtype)
        for ours, theirs in zip(found, expected, strict=True):
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance)


@pytest.mark.parametrize(
    ("name", "sizes", "count"),
    [("causal_conv1d", [(2, 17, 20), (16, 17, 3), (16,)], 2 * 3 * 2), ("alibi_scores", None, 3)],
)
def test_contractions_are_products_of_the_library(
    ops: Any, libraries: dict[str, Any], name: str, sizes: Any, count: int
) -> None:
    """One for each tap of a convolution and each of its batch, forward and back to its input;
    three for a batch of scores and its gradients."""
    torch.manual_seed(0)
    args = tuple(_randn(*s) for s in sizes or [(2, 3, 5, 4), (2, 3, 5, 4), (3,)])
    for dtype, tolerance in ((torch.float32, 1e-4), (torch.bfloat16, 3e-2)):
        expected = _trained(getattr(ops, name), args, "cpu", dtype)
        before = len(products(libraries))
        found = _trained(getattr(ops, name), args, "cuda", dtype)
        assert len(products(libraries)) - before == count
        for ours, theirs in zip(found, expected, strict=True):
            largest = np.abs(theirs[np.isfinite(theirs)]).max()
            np.testing.assert_allclose(ours, theirs, rtol=tolerance, atol=tolerance * largest)


@pytest.fixture(scope="module")
def constructs(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Any]:
    """The operators of tests/runtime/index_language, under a name of their own."""
    folder = tmp_path_factory.mktemp("constructs")
    with generated(folder, "language_on_cuda", Path(language.__file__).parent, "language") as made:
        yield made


@pytest.mark.parametrize("name", ranges.CALLS)
def test_ranges_as_on_the_cpu(tmp_path: Path, name: str) -> None:
    """What a thread folds, and a warp of a long range; gradients look for the range."""
    torch.manual_seed(0)
    with generated(tmp_path, "ranges_on_cuda", Path(ranges.__file__).parent, "ranges") as ops:
        for call in ranges.CALLS[name]:
            given, found = call(), []
            for device in ("cpu", "cuda"):
                there = [
                    a.detach().to(device).requires_grad_(a.is_floating_point())
                    if isinstance(a, torch.Tensor)
                    else a
                    for a in given
                ]
                results = ranges.made(getattr(ops, name)(*there))
                leaves = [a for a in there if isinstance(a, torch.Tensor) and a.requires_grad]
                summed = [(r * r).nansum() for r in results if r.requires_grad]
                grads = torch.autograd.grad(sum(summed), leaves) if summed else ()
                found.append([r.detach().cpu().numpy() for r in (*results, *grads)])
            for ours, theirs in zip(*found, strict=True):
                np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-12)


def test_a_bound_of_a_range_that_is_outside_is_noted(tmp_path: Path) -> None:
    with generated(tmp_path, "ranges_noted", Path(ranges.__file__).parent, "ranges") as ops:
        given = torch.tensor([0, 2, 77]), torch.tensor([1, 0, 1]), _randn(3), _randn(2, 3)
        said = r"index 77 is out of bounds .* with size 4 \(0 <= start\[i \+ 1\] < "
        with pytest.raises(torch.AcceleratorError, match=said):
            ops.row_products(*(each.cuda() for each in given)).cpu()
        torch.cuda.synchronize()
        value = _randn(3).cuda().requires_grad_()
        start, *rest = torch.tensor([0, 3, 0, 3]), given[1]
        ops.row_products(start.cuda(), rest[0].cuda(), value, given[3].cuda()).sum().backward()
        with pytest.raises(torch.AcceleratorError, match=r"start\[i \+ 1\] <= start\[i \+ 2\]"):
            torch.cuda.synchronize()


def test_places_that_elements_tell_by_way_of_others(tmp_path: Path) -> None:
    """Each is looked at before the next is read there."""
    with generated(tmp_path, "told_on_cuda", Path(language.__file__).parent, "places") as ops:
        x, at, of = _randn(4), torch.tensor([3, 0]), torch.tensor([1, 1, 0, 0])
        found = ops.told_twice(x.cuda(), at.cuda(), of.cuda(), 4)
        for ours, theirs in zip(found, ops.told_twice(x, at, of, 4), strict=True):
            torch.testing.assert_close(ours.cpu(), theirs)
        torch.testing.assert_close(ops.next_ones(x.cuda(), at.cuda()).cpu(), ops.next_ones(x, at))
        of[2] = 1 << 40
        with pytest.raises(torch.AcceleratorError, match=f"index {1 << 40} is out of bounds"):
            ops.told_twice(x.cuda(), at.cuda(), of.cuda(), 4)[0].cpu()
        torch.cuda.synchronize()


def test_updates_as_on_the_cpu(tmp_path: Path) -> None:
    """What statements return, and what they leave in arguments, dense and not."""
    with generated(tmp_path, "updates_on_cuda", Path(updates.__file__).parent, "updates") as ops:
        for name, (_, _, calls) in updates.CASES.items():
            given = calls[0]()
            there = {
                key: updates.spread(each.to("cuda")) if isinstance(each, torch.Tensor) else each
                for key, each in given.items()
            }
            found, expected = updates.made(ops, name, there), updates.made(ops, name, given)
            for ours, theirs in zip(found, expected, strict=True):
                torch.testing.assert_close(ours.cpu(), theirs)


@pytest.mark.parametrize(
    "name",
    ["truths", "extremes", "wavefront", "computed", "moments", "carried", "side_by_side"],
)
def test_constructs_as_on_the_cpu(constructs: Any, name: str) -> None:
    """Results of each type, and gradients, in float64."""
    torch.manual_seed(0)
    for call in language.CALLS[name]:
        args, found = call(), []
        for device in ("cpu", "cuda"):
            given = [
                a.detach().to(device).requires_grad_(a.is_floating_point())
                if isinstance(a, torch.Tensor)
                else a
                for a in args
            ]
            results = getattr(constructs, name)(*given)
            results = results if isinstance(results, tuple) else (results,)
            summed = [(r * r).sum() for r in results if r.requires_grad]
            leaves = [a for a in given if isinstance(a, torch.Tensor) and a.requires_grad]
            grads = torch.autograd.grad(sum(summed), leaves) if summed else ()
            found.append([r.detach().cpu().numpy() for r in (*results, *grads)])
        for ours, theirs in zip(*found, strict=True):
            np.testing.assert_allclose(theirs, ours, rtol=1e-9, atol=1e-12)


COLUMNS: dict[str, Callable[[Any], Any]] = {
    "var": lambda x: torch.var_mean(x, 0),
    "logsumexp": lambda x: (x.logsumexp(0),),
    "layer_norm": lambda x: dispatch.ops.native_layer_norm_backward(
        *(x, 2 * x, [32], x[:, 0], x[:, 1], x[0], None, [False, True, True])
    )[1:],
}


@pytest.mark.parametrize("name", COLUMNS)
def test_long_columns_beside_each_other(name: str, emulated: Any) -> None:
    """Threads fold slices of neighbouring columns, and warps what these come to."""
    torch.manual_seed(0)
    x = torch.randn(1300, 32, dtype=torch.float64)
    emulated.calls.clear()
    found = COLUMNS[name](x.cuda())
    steps = [call[1] for call in emulated.named("launch") if call[1].endswith("_step")]
    assert len(steps) >= 2 and steps[::2] == steps[1::2]
    expected = COLUMNS[name](x)
    for ours, theirs in zip(found, expected, strict=True):
        np.testing.assert_allclose(ours.cpu().numpy(), theirs.numpy(), rtol=1e-12)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int64, torch.bool])
def test_scatters_into_what_lies_in_no_usual_order(dtype: Any) -> None:
    """Columns, and every second row and column, in place."""
    source, at = (3 * torch.randn(4, 6)).to(dtype), torch.tensor([1, 0, 1, 3])
    found = []
    for device in ("cpu", "cuda"):
        whole = torch.ones(8, 12, dtype=dtype, device=device)
        values, places = source.to(device), at.to(device)
        whole.t()[:, :6].index_add_(1, places, values.new_ones(12, 4))
        whole[:, ::2].index_add_(0, places, values)
        whole[::2, 1:7].scatter_add_(0, places.unsqueeze(1).expand(4, 6), values)
        found.append(whole.cpu())
    torch.testing.assert_close(found[1], found[0])


SCATTERS_OF_INTEGERS: dict[str, Callable[..., Any]] = {
    "sum": lambda x, at, source: x.index_add(0, at, source),
    "of rows": lambda x, at, source: x.t().contiguous().index_add(1, at, source.t()).t(),
    "amax": lambda x, at, source: x.scatter_reduce(0, at[:, None].expand(9, 5), source, "amax"),
    "amin": lambda x, at, source: x.scatter_reduce(0, at[:, None].expand(9, 5), source, "amin"),
    "put": lambda x, at, source: x.index_put((at, at), source[:, 0], accumulate=True),
}


@pytest.mark.parametrize("name", SCATTERS_OF_INTEGERS)
@pytest.mark.parametrize("dtype", [torch.int32, torch.int64])
def test_whole_numbers_are_combined_without_sorting(
    emulated: Any, name: str, dtype: torch.dtype
) -> None:
    """No order matters; the texts compile."""
    x, source = (torch.randint(-9, 9, (n, 5), dtype=dtype) for n in (5, 9))
    args = x, torch.randint(0, 5, (9,)), source
    found = SCATTERS_OF_INTEGERS[name](*(each.cuda() for each in args))
    assert torch.equal(found.cpu(), SCATTERS_OF_INTEGERS[name](*args))
    names = [call[1] for call in emulated.named("launch")]
    assert "combine_elements" in names and "combine_runs" not in names
    for source_text in emulated.sources.values() if compiler.is_installed() else ():
        if source_text.name == "combine_elements":
            check(source_text, is_double=False)


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_nothing_but_what_is_scattered_moves_in_place(emulated: Any, dtype: torch.dtype) -> None:
    """The target is neither copied onto itself nor kept in a wider type."""
    x, at = torch.randn(40, 3).to(dtype), torch.tensor([7, 2, 7])
    there, values = x.cuda(), x[:3].cuda()
    at = at.cuda()
    emulated.calls.clear()
    there.index_add_(0, at, values)
    there[at] = values[:1]
    there.index_put_((at, at - at), values[:, 0], accumulate=True)
    there.index_fill_(1, at[1:2], 3.0)
    names = [call[1] for call in emulated.named("launch")]
    assert not emulated.named("copy")
    assert not [each for each in names if each.startswith("element") and "strided" not in each]
    x.index_add_(0, at.cpu(), values.cpu())
    x[at.cpu()] = values[:1].cpu()
    x.index_put_((at.cpu(), at.cpu() * 0), values[:, 0].cpu(), accumulate=True)
    x.index_fill_(1, at[1:2].cpu(), 3.0)
    torch.testing.assert_close(there.cpu(), x)


def test_places_are_sorted_once_for_what_goes_there_side_by_side(
    constructs: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    counts: list[int] = []
    real = combining.sort_positions

    def counted(queue: Any, keys: Any, *args: Any) -> Any:
        counts.append(keys.numel)
        return real(queue, keys, *args)

    monkeypatch.setattr(combining, "sort_positions", counted)
    places = (torch.zeros(4, dtype=torch.int64), torch.zeros(3, 4, dtype=torch.int64))
    constructs.side_by_side(_randn(2, 3, 4, 5).cuda(), *(each.cuda() for each in places), 2)
    assert counts == [4, 2 * 4, 4, 2 * 3 * 4, 4 * 5]  # no one step leads from image to image


@pytest.mark.parametrize(("size", "count"), [(3, 5), (5, 3), (1, 4), (4, 1), (7, 7)])
def test_windows_around_places_that_divide_are_gathered(
    tmp_path: Path, emulated: Any, size: int, count: int
) -> None:
    """An element asks for the windows that reach it, and no others."""
    with generated(tmp_path, "places_on_cuda", Path(language.__file__).parent, "places") as made:
        x = torch.randn(2, size, dtype=torch.float64)
        emulated.calls.clear()
        found = made.spread(x.cuda(), count)
        assert len(emulated.named("launch")) == 1
        np.testing.assert_allclose(found.cpu().numpy(), made.spread(x, count).numpy(), rtol=1e-14)


def test_an_index_outside_is_noted(ops: Any) -> None:
    """Which one it was, and what was asked of it; of several the first, and what it saw."""
    score, segment = _randn(3).to("cuda"), torch.tensor([0, 5, -7]).to("cuda")
    said = r"index (5|-7) is out of bounds .* with size 2 \(0 <= segment\[i\] < segments\)"
    with pytest.raises(torch.AcceleratorError, match=said):
        ops.segment_softmax(score, segment, 2).cpu()
    torch.cuda.synchronize()
    index = torch.tensor([[0, 9]]).to("cuda")
    with pytest.raises(
        torch.AcceleratorError, match=r"gather: index 9 .* with size 4 \(0 <= index\["
    ):
        torch.zeros(4, 2).to("cuda").gather(0, index).cpu()


# -- the library's own ----------------------------------------------------------------------------

OPERATORS = [each for each in harness.program().operators if isinstance(each.kind, Index)]


@pytest.fixture
def made(monkeypatch: pytest.MonkeyPatch) -> dict[Source, bool]:
    """The texts that calls run, and whether they compute in double."""
    sources: dict[Source, bool] = {}
    make = index.index_kernel

    def remembered(form: Any) -> Source:
        source = make(form)
        sources[source] = form.compute.name == "float64"
        return source

    monkeypatch.setattr(index, "index_kernel", remembered)
    recorded.forget()
    return sources


@pytest.mark.parametrize("operator", OPERATORS, ids=lambda each: each.name)
def test_operators(operator: Operator, made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """All samples as on the CPU, and two of them in 16 bits and with indices of 64; the first is
    compiled in both. No narrow kernel divides 64 bits."""
    session = calls.Session(torch, dispatch.ops)
    cases = [each for each in harness.cases(operator) if not each.raises]
    usual = [each for each in ("float32", "int64") if each in operator.dtype_names][:1]
    further = [each for each in ("bfloat16",) if each in operator.dtype_names]
    for dtype, wide in [*((each, False) for each in usual + further), (usual[0], True)]:
        made.clear()
        recorded.forget()
        monkeypatch.setattr(typed, "NARROW", -1 if wide else 1 << 30)
        is_first = dtype == usual[0] and not wide
        for case in cases[: None if is_first else 2]:
            call = session.arguments(case, dtype)
            compare(on_device(call)(), call(), str(case))
        for source, is_double in list(made.items())[:1]:
            assert ("I = np.int64" in source.text) == wide
            converts = "float32_to_bfloat16" in source.text
            if compiler.is_installed() and not wide and (is_first or converts):
                check(source, is_double)


WRITTEN = {
    "dense rows": ((2, 3, 4, 5), (0, 1, 2, 3), ("j", "i", "...")),
    "dense columns": ((2, 3, 4, 5), (0, 1, 3, 2), ("i", "j", "...")),
    "channels last": ((2, 3, 4, 5), (0, 2, 3, 1), ("...", "j", "i")),
    "one column": ((2, 3, 4, 1), (0, 1, 3, 2), ("i", "j", "...")),
}
"""Sizes of a result, its dims from the outermost in memory to the dense one, and what tells an item
from its neighbour, first."""


@pytest.mark.parametrize("name", WRITTEN)
def test_neighbours_write_side_by_side(name: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whatever is read, whose order is that of the result's dims."""
    sizes, dims, expected = WRITTEN[name]
    forms: list[Any] = []
    recorded.forget()
    make = index.index_kernel
    monkeypatch.setattr(index, "index_kernel", lambda form: forms.append(form) or make(form))
    x = _randn(*sizes)
    laid = torch.empty([sizes[dim] for dim in dims], device="cuda")
    own = laid.permute([dims.index(dim) for dim in range(4)]).copy_(x.cuda())
    own.tril_()
    assert forms[0].order == expected
    assert torch.equal(own.cpu(), x.tril())


def test_indices_of_one_element_divide_nothing(made: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """Of many indices; planes may be volumes of depth 1."""
    forms: list[Any] = []
    make = index.index_kernel
    monkeypatch.setattr(index, "index_kernel", lambda form: forms.append(form) or make(form))
    for sizes, count in (((2, 1, 4, 5), 5), ((2, 3, 4, 5), 7)):
        x, kernel = _randn(1, *sizes), (sizes[1], 3, 2)
        steps = (1, 1, 1), (sizes[1] // 2, 0, 1), (1, 1, 1)
        given = kernel, (sizes[1], 2, 6), *steps
        got = dispatch.ops._convolution_windows(x.cuda(), *given)
        assert torch.equal(got.cpu(), dispatch.ops._convolution_windows(x, *given))
        assert len(forms[-1].order) == count


def test_a_call_is_decided_once(ops: Any, made: dict[Source, bool], monkeypatch: Any) -> None:
    """Other memory and other numbers in it: nothing is decided anew; other arguments are."""
    for _ in range(3):
        score, segment = _randn(6), torch.randint(0, 3, (6,))
        found = ops.segment_softmax(score.cuda(), segment.cuda(), 3)
        assert torch.allclose(found.cpu(), ops.segment_softmax(score, segment, 3), atol=1e-6)
        monkeypatch.setattr(index, "index_kernel", None)
    with pytest.raises(TypeError, match="NoneType"):
        ops.segment_softmax(score.cuda(), segment.cuda(), 4)


def test_equal_numbers_of_other_types_are_other_calls() -> None:
    seen: list[Any] = []
    kernel = recorded.Recorded(lambda queue, value: seen.append(value))
    queue = SimpleNamespace(processors=1, faults=SimpleNamespace(address=0))
    for value in (0.0, -0.0, 0, False, 0.0):
        kernel(queue, value)
    assert list(map(repr, seen)) == ["0.0", "-0.0", "0", "False"]


@needs_extra
def test_kernels_compile(ops: Any, made: dict[Source, bool]) -> None:
    """All launches of values and gradients, in float32: no double, no stack, nothing spilled."""
    for name, call in CALLS.items():
        _trained(getattr(ops, name), call(), "cuda", torch.float32)
    for columns in COLUMNS.values():
        columns(_randn(1300, 32).cuda())
    assert len(made) > 2 * len(CALLS)
    for source in made:
        check(source, is_double=False)


@needs_extra
def test_kernels_over_ranges_compile(tmp_path: Path, made: dict[Source, bool]) -> None:
    """Rows of a compressed matrix, and what looks for the range of each entry."""
    with generated(tmp_path, "ranges_compiled", Path(ranges.__file__).parent, "ranges") as ops:
        _trained(ops.row_products, ranges.CALLS["row_products"][0](), "cuda", torch.float32)
    assert any("low" in source.text for source in made)
    for source in made:
        check(source, is_double=False)
