"""Factorisations and solvers on an emulated device against the CPU, and what they report."""

from __future__ import annotations

from typing import Any

import pytest

import torchgen_out as torch
from codegen.model.operator import Dispatch
from tests import harness
from tests.cuda import standin_cusolver
from tests.cuda.compiling import check, needs_extra
from tests.cuda.test_operators import OURS, compare, on_device
from torchgen_out._runtime.backends.cuda.libraries import cusolver, workspace
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.kernels.cuda.compiling import typed
from torchgen_out._runtime.kernels.cuda.linalg import matrix_parts, small_matrices

FAMILY = "linalg"

pytestmark = pytest.mark.usefixtures("emulated")


def _operators() -> list[Any]:
    found = []
    for each in harness.program().operators:
        if isinstance(each.kind, Dispatch):
            kernels = dict(each.kind.backends)
            kernel = kernels.get("CUDA") or kernels.get("CompositeExplicitAutograd")
            if kernel is not None and kernel.module.partition(".")[0] == FAMILY:
                found.append(each)
    return found


@pytest.mark.parametrize("dtype", ["complex64"])
@pytest.mark.parametrize("operator", _operators(), ids=lambda each: each.name)
def test_values(operator, dtype):
    for case in harness.cases(operator):
        if not case.raises:
            call = OURS.arguments(case, dtype)
            compare(on_device(call)(), call(), str(case), factor=20.0)


def randn(*sizes: int) -> Any:
    """Random numbers in float64."""
    generator = torch.Generator().manual_seed(sum(sizes))
    return torch.randn(*sizes, generator=generator, dtype=torch.float64)


L = torch.linalg
ROUND_TRIPS = {
    "cholesky": lambda a, b: L.cholesky(a @ a.mT + torch.eye(4).double().to(a.device)),
    "upper cholesky": lambda a, b: L.cholesky(a @ a.mT + 4, upper=True),
    "solve": lambda a, b: L.solve(a, b),
    "solve from the right": lambda a, b: L.solve(a, b.mT, left=False),
    "inverse": lambda a, b: L.inv(a),
    "determinant": lambda a, b: L.det(a),
    "slogdet": lambda a, b: L.slogdet(a)[1],
    "triangular": lambda a, b: L.solve_triangular(a, b, upper=True),
    "triangular from the right": lambda a, b: L.solve_triangular(a, b.mT, upper=False, left=False),
    "unit triangular": lambda a, b: L.solve_triangular(a, b, upper=False, unitriangular=True),
    "eigenvalues": lambda a, b: L.eigvalsh(a + a.mT),
    "singular values": lambda a, b: L.svdvals(b),
    "product of svd": lambda a, b: _product(*L.svd(b, full_matrices=False)),
    "product of qr": lambda a, b: torch.matmul(*L.qr(b)),
    "complete qr": lambda a, b: torch.matmul(*L.qr(b, mode="complete")),
    "solve with factors": lambda a, b: L.lu_solve(*L.lu_factor(a), b),
    "pseudo-inverse": lambda a, b: L.pinv(b),
    "pseudo-inverse of a wide one": lambda a, b: L.pinv(b.mT),
    "pseudo-inverse of a Hermitian one": lambda a, b: L.pinv(a + a.mT, hermitian=True),
    "least squares": lambda a, b: L.lstsq(b, a)[0],
    "least squares by qr": lambda a, b: L.lstsq(b, a, driver="gels")[0],
    "smallest solution": lambda a, b: L.lstsq(b.mT, a[..., :2, :], driver="gelsd")[0],
    "smallest solution by qr": lambda a, b: L.lstsq(b.mT, a[..., :2, :], driver="gels")[0],
    "exponential": lambda a, b: L.matrix_exp(a),
}


def _product(u: Any, s: Any, vh: Any) -> Any:
    return (u * s.unsqueeze(-2)) @ vh


@pytest.mark.parametrize("largest", [4, 0])
@pytest.mark.parametrize("name", ROUND_TRIPS)
def test_batches_in_any_layout(monkeypatch, name, largest):
    """Small matrices together, larger ones one by one."""
    monkeypatch.setattr(small_matrices, "LARGEST", largest)
    function, a, b = ROUND_TRIPS[name], randn(2, 3, 4, 4), randn(2, 3, 4, 2)
    for own in ((a, b), (a.mT, b.mT.contiguous().mT), (a[0, 0], b[0, 0])):
        on_cuda = [each.cuda() for each in own]
        got, expected = function(*on_cuda), function(*own)
        assert got.is_cuda and torch.allclose(got.cpu(), expected, atol=1e-8), name


@pytest.mark.parametrize("shape", [(2, 5, 3), (2, 3, 5), (2, 33, 3), (4, 4)])
@pytest.mark.parametrize("full", [False, True])
@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_singular_vectors(shape, full, dtype):
    a = randn(*shape).to(dtype) * (1 if dtype is torch.float64 else 1 - 2j)
    u, s, vh = L.svd(a.cuda(), full_matrices=full)
    expected = L.svd(a, full_matrices=full)
    assert [each.shape for each in (u, s, vh)] == [each.shape for each in expected]
    k = min(shape[-2:])
    assert torch.allclose(_product(u[..., :k], s, vh[..., :k, :]).cpu(), a, atol=1e-8)


@pytest.mark.parametrize("dtype", [torch.float64, torch.complex128])
def test_what_counts_as_0(dtype):
    """Of matrices whose last column is the sum of the others."""
    a, b = (torch.cat([x, x.sum(-1, True)], -1).to(dtype) for x in (randn(2, 5, 2), randn(2, 5, 1)))
    a = a * (1 + 1j) if dtype.is_complex else a
    on_cuda = [each.cuda() for each in (a, b)]
    assert torch.allclose(L.pinv(on_cuda[0]).cpu(), L.pinv(a), atol=1e-8)
    got, expected = L.lstsq(*on_cuda, driver="gelsd"), L.lstsq(a, b, driver="gelsd")
    assert got.rank.tolist() == [2, 2]
    for ours, theirs in zip(got, expected, strict=True):
        assert torch.allclose(ours.cpu(), theirs, atol=1e-8)


@pytest.mark.parametrize("scale", [1e-3, 1.0, 40.0])
def test_exponentials_of_a_batch_of_all_sizes(scale):
    """Each matrix is squared as often as it needs, so the small one beside it loses nothing."""
    a = randn(3, 5, 5) * scale / 5
    a[0] *= 1e-3
    got, expected = L.matrix_exp(a.cuda()).cpu(), L.matrix_exp(a)
    for ours, theirs in zip(got, expected, strict=True):
        assert ((ours - theirs).abs().max() / theirs.abs().max()).item() < 1e-13


def test_permutations_of_16_bits():
    LU, pivots = torch.linalg.lu_factor(torch.tensor([[1.0, 2.0], [3.0, 4.0]], device="cuda"))
    P = torch.lu_unpack(LU.bfloat16(), pivots)[0]
    assert P.tolist() == [[0.0, 1.0], [1.0, 0.0]]


def test_signs_of_zero_in_determinants():
    """They choose the sign of the logarithm's imaginary part."""
    swapped = torch.tensor([[0, 1], [1, 0]], dtype=torch.complex64)
    assert torch.equal(torch.logdet(swapped.cuda()).cpu(), torch.logdet(swapped))


def test_eigenvectors():
    a = randn(2, 4, 4)
    values, vectors = L.eig(a.cuda())
    left = a.to(torch.complex128).cuda() @ vectors
    assert torch.allclose(left.cpu(), (vectors * values.unsqueeze(-2)).cpu(), atol=1e-8)
    assert torch.allclose(L.eigvals(a.cuda()).cpu(), L.eigvals(a), atol=1e-8)


def test_failures_are_those_of_the_cpu():
    singular, indefinite = torch.zeros(2, 3, 3), -torch.eye(3)
    for function, a in ((L.cholesky, indefinite), (L.inv, singular), (L.solve, singular)):
        arguments = (a, torch.ones(a.shape)) if function is L.solve else (a,)
        with pytest.raises(L.LinAlgError) as expected:
            function(*arguments)
        with pytest.raises(L.LinAlgError) as got:
            function(*[each.cuda() for each in arguments])
        assert str(got.value) == str(expected.value)


def test_what_waits(emulated):
    a = torch.eye(3, device="cuda").expand(2, 3, 3).contiguous()
    before = len(emulated.named("synchronize_stream"))
    L.cholesky_ex(a)
    L.inv_ex(a)
    L.qr(a)
    L.lu_factor_ex(a)
    assert len(emulated.named("synchronize_stream")) == before
    L.cholesky(a)
    assert len(emulated.named("synchronize_stream")) == before + 1


def test_gradients():
    a, b = torch.randn(3, 3), torch.randn(3, 2)
    twins = [each.cuda().requires_grad_() for each in (a, b)]
    leaves = [each.requires_grad_() for each in (a, b)]
    for own in (twins, leaves):
        L.solve(*own).square().sum().backward()
    for ours, theirs in zip(twins, leaves, strict=True):
        assert torch.allclose(ours.grad.cpu(), theirs.grad, rtol=1e-3, atol=1e-3)


def test_work_goes_into_the_current_stream(libraries):
    a, side = torch.eye(3, device="cuda"), torch.cuda.Stream()
    with torch.cuda.stream(side):
        L.lu_factor_ex(a)
    assert libraries["cusolverDn"].calls == [("xgetrf", side.cuda_stream)]


TOGETHER = {
    "cholesky": (lambda a: L.cholesky_ex(a), ["spotrf_batched"]),
    "inverse": (lambda a: L.inv_ex(a), ["getrf_batched", "getrs_batched"]),
    "qr": (lambda a: L.qr(a, mode="r"), ["geqrf_batched"]),
    "triangular": (lambda a: L.solve_triangular(a, a, upper=True), ["trsm_batched"]),
    "with a factor": (lambda a: torch.cholesky_solve(a, a), ["trsm_batched"] * 2),
    "eigenvalues": (lambda a: L.eigh(a), ["xsyev_batched"]),
    "singular values": (lambda a: L.svdvals(a), ["sgesvdj_batched"]),
}


@pytest.mark.parametrize("name", TOGETHER)
def test_small_matrices_go_together(libraries, name):
    """However many there are, in the current stream."""
    function, expected = TOGETHER[name]
    a, side = torch.eye(3, device="cuda").repeat(5, 1, 1), torch.cuda.Stream()
    with torch.cuda.stream(side):
        function(a)
    calls = libraries["cublas"].calls + libraries["cusolverDn"].calls
    assert calls == [(each, side.cuda_stream) for each in expected]


@needs_extra
@pytest.mark.parametrize("dtype", [torch.float32, torch.complex64])
def test_kernels_of_small_matrices_compile(emulated, dtype):
    L.inv_ex(torch.randn(2, 3, 3, dtype=dtype, device="cuda"))
    names = {each.__name__ for each in typed.KERNELS}
    sources = [each for each in emulated.sources.values() if each.name in names]
    assert "fill_integers" in {each.name for each in sources}
    for source in sources:
        check(source, False, dtype.is_complex)


@needs_extra
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_kernels_compile(dtype):
    own = dtypes.by_name(dtype)
    check(matrix_parts.permutation.source({"X": own}, False, {}), False, own.is_complex)


def test_matrices_one_after_the_other_work_in_the_same_memory(monkeypatch):
    """Also where it is more than a stream's workspace."""
    monkeypatch.setattr(small_matrices, "LARGEST", 0)
    monkeypatch.setattr(standin_cusolver, "WORK", 1 << 20)
    monkeypatch.setattr(workspace, "BYTES", 0)
    a = randn(6, 4, 4).cuda()
    torch.cuda.reset_peak_memory_stats()
    L.eigvalsh(a + a.mT)
    assert 1 << 20 <= torch.cuda.max_memory_allocated() < 2 << 20


def test_more_matrices_than_an_iteration_takes(libraries, monkeypatch):
    assert cusolver.MOST_TOGETHER <= standin_cusolver.MOST_OF_A_BATCH
    monkeypatch.setattr(standin_cusolver, "MOST_OF_A_BATCH", 2)
    monkeypatch.setattr(cusolver, "MOST_TOGETHER", 2)
    a = randn(5, 3, 3)
    there = a.cuda()
    values, vectors = L.eigh(there + there.mT)
    assert torch.allclose(values.cpu(), L.eigvalsh(a + a.mT), atol=1e-8)
    assert torch.allclose((vectors * values.unsqueeze(-2) @ vectors.mT).cpu(), a + a.mT, atol=1e-8)
    b = randn(5, 4, 3)
    assert torch.allclose(_product(*L.svd(b.cuda(), full_matrices=False)).cpu(), b, atol=1e-8)
    names = [name for name, _ in libraries["cusolverDn"].calls]
    assert names == ["xsyev_batched"] * 3 + ["dgesvdj_batched"] * 3


def test_what_is_made_of_other_operators_is_one_in_the_graph():
    """Calls inside are neither recorded nor cast, whatever autocast says."""
    a = randn(3, 3).float()
    given = a.cuda().requires_grad_()
    with torch.autocast("cuda", dtype=torch.bfloat16):
        inverse = L.pinv(given)
    assert inverse.dtype is torch.float32 and "Pinv" in inverse.grad_fn.name()
    assert inverse.grad_fn.next_functions[0][0].variable is given
    assert torch.allclose(inverse.detach().cpu(), L.pinv(a), atol=1e-4)
    inverse.sum().backward()
    on_host = a.clone().requires_grad_()
    L.pinv(on_host).sum().backward()
    assert torch.allclose(given.grad.cpu(), on_host.grad, rtol=1e-3, atol=1e-3)
