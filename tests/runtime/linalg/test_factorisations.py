"""Factorisations, solvers, transforms: layouts, meta tensors, failures, special gradients."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
import scipy.linalg

import torchgen_out as torch
from tests import harness
from tests.runtime.test_operators import OURS
from torchgen_out._runtime.kernels.cpu.fft import transforms as fourier
from torchgen_out._runtime.kernels.cpu.linalg import (
    lu,
)

MODULES = ("linalg", "fft")
CASES = [
    case
    for operator in harness.program().operators
    if operator.python_module in MODULES or operator.dtypes == "lapack"
    for case in harness.cases(operator)
    if case.raises is None
]


def results(value: Any) -> list[Any]:
    """The tensors among the results of a call."""
    values = value if isinstance(value, (tuple, list)) else [value]
    return [each for each in values if isinstance(each, torch.Tensor)]


def dtype_of(case: harness.Case) -> str:
    """The dtype in which a case runs."""
    return "float64" if "float64" in case.operator.dtype_names else "int64"


def with_tensors(case: harness.Case, change: Any) -> Any:
    """Call a case with every tensor changed."""
    call = OURS.arguments(case, dtype_of(case))

    def changed(value: Any) -> Any:
        if isinstance(value, list):
            return [changed(each) for each in value]
        return change(value) if isinstance(value, torch.Tensor) else value

    values = {name: changed(value) for name, value in call.values.items()}
    return type(call)(call.session, call.operator, values, call.leaves).plain()


DATA_DEPENDENT = ("linalg_lstsq",)
"""Operators whose results' shapes depend on values."""


@pytest.mark.parametrize("case", CASES, ids=str)
def test_meta_tensors_have_the_shapes(case: harness.Case) -> None:
    tensors = OURS.arguments(case, dtype_of(case)).values.values()
    if not any(isinstance(v, (torch.Tensor, list)) for v in tensors):
        pytest.skip("takes no tensor")
    if case.operator.base_name in DATA_DEPENDENT:
        pytest.skip("the shape depends on values")
    wanted = results(OURS.arguments(case, dtype_of(case)).plain())
    found = results(with_tensors(case, lambda tensor: tensor.to("meta")))
    assert [(x.shape, x.dtype) for x in found] == [(x.shape, x.dtype) for x in wanted]


def spread(tensor: Any) -> Any:
    """The same values with gaps between them, in the opposite order of dims."""
    if not tensor.dim():
        return tensor
    wide = tensor.new_zeros([2 * size for size in reversed(tensor.shape)])
    view = wide.permute(*reversed(range(tensor.dim())))[(slice(0, None, 2),) * tensor.dim()]
    return view.copy_(tensor)


@pytest.mark.parametrize("case", CASES, ids=str)
def test_any_layout(case: harness.Case) -> None:
    wanted = results(OURS.arguments(case, dtype_of(case)).plain())
    found = results(with_tensors(case, spread))
    for one, other in zip(found, wanted, strict=True):
        np.testing.assert_allclose(one.numpy(), other.numpy(), rtol=1e-9, atol=1e-9)


@pytest.mark.parametrize("name", ["linalg_svd", "linalg_qr", "linalg_eigh", "linalg_lu_factor"])
def test_out_of_several_results(name: str) -> None:
    function = getattr(torch.linalg, name.removeprefix("linalg_"))
    matrix = torch.eye(3, dtype=torch.float64) + 0.1
    wanted = function(matrix)
    out = tuple(torch.empty(0, dtype=each.dtype) for each in wanted)
    returned = function(matrix, out=out)
    for own, given, expected in zip(returned, out, wanted, strict=True):
        assert own is given
        np.testing.assert_array_equal(given.numpy(), expected.numpy())


def test_failures_name_the_matrix() -> None:
    batch = torch.stack([torch.eye(2), torch.ones(2, 2)])
    with pytest.raises(torch.linalg.LinAlgError, match=r"Batch element 1.*diagonal element 2"):
        torch.linalg.inv(batch)
    with pytest.raises(torch.linalg.LinAlgError, match=r"leading minor of order 1"):
        torch.linalg.cholesky(-torch.eye(2))
    assert torch.linalg.inv_ex(batch).info.tolist() == [0, 2]
    assert torch.linalg.cholesky_ex(-batch).info.tolist() == [1, 1]
    with pytest.raises(torch.linalg.LinAlgError, match="converge"):
        torch.linalg.svd(torch.full((2, 2), float("nan")))


def test_determinant_of_a_singular_matrix_has_a_gradient() -> None:
    matrix = torch.tensor([[1.0, 2.0], [2.0, 4.0]], dtype=torch.float64, requires_grad=True)
    torch.linalg.det(matrix).backward()
    np.testing.assert_allclose(matrix.grad.numpy(), [[4, -2], [-2, 1]], atol=1e-12)


def test_singular_values_alone_have_gradients_where_they_are_equal() -> None:
    matrix = torch.eye(3, dtype=torch.float64).requires_grad_()
    torch.linalg.svdvals(matrix).sum().backward()
    np.testing.assert_allclose(matrix.grad.numpy(), np.eye(3), atol=1e-12)


def test_functions_of_the_phase_have_no_gradient() -> None:
    matrix = torch.randn(3, 3, dtype=torch.complex128).requires_grad_()
    _, vectors = torch.linalg.eig(matrix)
    with pytest.raises(RuntimeError, match="phi"):
        (vectors[0] * 1j).real.sum().backward()


def test_q_of_a_complete_factorisation_has_no_gradient() -> None:
    matrix = torch.randn(4, 2).requires_grad_()
    with pytest.raises(RuntimeError, match="complete"):
        torch.linalg.qr(matrix, "complete").Q.sum().backward()
    with pytest.raises(RuntimeError, match="reduced"):
        torch.linalg.qr(matrix, "r").R.sum().backward()


@pytest.mark.parametrize("function", ["eigvalsh", "svdvals"])
def test_complex_gradients(function: str) -> None:
    """Against differences of a function of the real and the imaginary parts."""
    rng = np.random.default_rng(0)
    parts = torch.from_numpy(rng.standard_normal((2, 3, 3))).requires_grad_()

    def of_parts(parts: Any) -> Any:
        matrix = torch.complex(parts[0], parts[1])
        matrix = matrix + matrix.mH if function == "eigvalsh" else matrix
        return getattr(torch.linalg, function)(matrix)

    assert torch.autograd.gradcheck(of_parts, (parts,))


SIZES = (1, 5, 15, 16, 17, 50)
"""Fewer than LAPACK is asked for, around the size of a block, and several of them."""


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex128"])
@pytest.mark.parametrize("n", SIZES)
def test_systems_of_several_blocks(n: int, dtype: str) -> None:
    rng = np.random.default_rng(n)
    a, b = rng.standard_normal((2, 2, n, n))
    if dtype == "complex128":
        a = a + 1j * rng.standard_normal(a.shape)
    a, b = a.astype(dtype), b[:, :, : n // 2 + 1].astype(dtype)
    tolerance = {"rtol": 1e-2, "atol": 1e-2} if dtype == "float32" else {"atol": 1e-9}
    matrix, right = torch.from_numpy(a), torch.from_numpy(b)
    LU, pivots = torch.linalg.lu_factor(matrix)
    for adjoint in (False, True):
        used = a.conj().swapaxes(1, 2) if adjoint else a
        x = torch.linalg.lu_solve(LU, pivots, right, adjoint=adjoint).numpy()
        np.testing.assert_allclose(used @ x, b, **tolerance)
        turned = torch.linalg.lu_solve(LU, pivots, right.mT, left=False, adjoint=adjoint).numpy()
        np.testing.assert_allclose(turned @ used, b.swapaxes(1, 2), **tolerance)
    np.testing.assert_allclose(a @ torch.linalg.inv(matrix).numpy(), [np.eye(n)] * 2, **tolerance)
    sign, log = np.linalg.slogdet(a.astype(np.result_type(a, np.float64)))
    found = torch.linalg.slogdet(matrix)
    np.testing.assert_allclose(found.logabsdet.numpy(), log, rtol=1e-4, atol=1e-4)
    np.testing.assert_allclose(found.sign.numpy(), sign, rtol=1e-4)
    det = torch.linalg.det(matrix).numpy()
    np.testing.assert_allclose(det, sign * np.exp(log), rtol=1e-2 if dtype == "float32" else 1e-9)


@pytest.mark.parametrize("turned", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("n", SIZES)
def test_triangles_of_several_blocks(n: int, upper: bool, unit: bool, turned: bool) -> None:
    rng = np.random.default_rng(n)
    a = rng.standard_normal((n, n)) / n + np.eye(n)
    b = rng.standard_normal((n, 5))
    triangle = np.triu(a) if upper else np.tril(a)
    if unit:
        np.fill_diagonal(triangle, 1)
    matrix = torch.from_numpy(np.asfortranarray(a)) if turned else torch.from_numpy(a)
    options = {"upper": upper, "unitriangular": unit}
    x = torch.linalg.solve_triangular(matrix, torch.from_numpy(b), **options)
    np.testing.assert_allclose(triangle @ x.numpy(), b, atol=1e-9)
    x = torch.linalg.solve_triangular(matrix, torch.from_numpy(b.T.copy()), left=False, **options)
    np.testing.assert_allclose(x.numpy() @ triangle, b.T, atol=1e-9)


def random_matrices(sizes: tuple[int, ...], dtype: str) -> Any:
    """Normal numbers, real and imaginary."""
    rng = np.random.default_rng(0)
    values = rng.standard_normal(sizes) + 1j * rng.standard_normal(sizes)
    return (values if dtype.startswith("complex") else values.real).astype(dtype)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("sizes", [(3, 5), (5, 3), (2, 9, 12), (2, 12, 9), (1, 4), (4, 1), (4, 4)])
def test_factors_of_rectangular_matrices(sizes: tuple[int, ...], dtype: str) -> None:
    a = random_matrices(sizes, dtype)
    for laid in (a, np.asfortranarray(a), np.repeat(a, 2, -1)[..., ::2]):
        P, L, U = torch.linalg.lu(torch.from_numpy(laid))
        np.testing.assert_allclose((P @ L @ U).numpy(), a, rtol=1e-4, atol=1e-4)
        assert L.abs().max() <= 1 + (dtype == "complex128")  # of |re| + |im| pivots are largest


@pytest.mark.parametrize("rows", [3, 9])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_zero_pivots_in_a_batch(dtype: str, rows: int) -> None:
    matrices = torch.eye(rows, dtype=getattr(torch, dtype)).repeat(3, 1, 1)
    matrices[1, :, 2] = 0
    matrices[2, 0, 0] = 0
    wanted = [0, 3, 1]
    assert torch.linalg.inv_ex(matrices).info.tolist() == wanted
    assert torch.linalg.lu_factor_ex(matrices).info.tolist() == wanted
    assert torch.linalg.solve_ex(matrices, matrices).info.tolist() == wanted
    assert torch.linalg.solve_ex(matrices, matrices, left=False).info.tolist() == wanted
    assert torch.linalg.det(matrices).tolist() == [1, 0, 0]
    assert torch.linalg.slogdet(matrices).sign.tolist() == [1, 0, 0]
    with pytest.raises(torch.linalg.LinAlgError, match=r"element 1\).*element 3 is zero"):
        torch.linalg.inv(matrices)


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_a_triangle_with_a_zero_on_its_diagonal_has_no_finite_solution(dtype: str) -> None:
    triangle = torch.eye(3, dtype=getattr(torch, dtype))
    triangle[1, 1] = 0
    found = torch.linalg.solve_triangular(triangle, torch.ones_like(triangle), upper=True)
    assert found[1:].isfinite().all(1).tolist() == [False, True]


def test_zero_pivots_behind_the_first_block() -> None:
    matrix = torch.eye(40, dtype=torch.float64)
    matrix[:, 20] = 0
    assert int(torch.linalg.inv_ex(matrix).info) == 21
    assert torch.linalg.det(matrix) == 0
    assert float(torch.linalg.slogdet(matrix).logabsdet) == -np.inf


def test_without_blas_lapack_factorises(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(lu, "compiled", lambda dtype: None)
    test_systems_of_several_blocks(17, "float64")
    test_triangles_of_several_blocks(17, True, False, True)


def test_without_pocketfft_scipys_public_functions_transform(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(fourier, "transforms", lambda: None)
    signal = torch.randn(3, 5, dtype=torch.float64)
    for norm in ("forward", "ortho", "backward"):
        wanted = np.fft.rfft2(signal.numpy(), norm=norm)
        half = torch.fft.rfft2(signal, norm=norm)
        np.testing.assert_allclose(half.numpy(), wanted, atol=1e-12)
        np.testing.assert_allclose(
            torch.fft.fft2(signal, norm=norm).numpy(), np.fft.fft2(signal.numpy(), norm=norm)
        )
        back = torch.fft.irfft2(half, (3, 5), norm=norm)
        np.testing.assert_allclose(back.numpy(), signal.numpy(), atol=1e-12)
        whole = torch.fft.ifft2(torch.fft.fft2(signal * (1 + 2j), norm=norm), norm=norm)
        np.testing.assert_allclose(whole.numpy(), signal.numpy() * (1 + 2j), atol=1e-12)


@pytest.mark.parametrize("name", ["qr", "eigh", "cholesky", "lu_factor", "svd", "inv"])
def test_odd_sizes_in_single_precision(name: str) -> None:
    """The second of some odd matrices begins at an odd address."""
    rng = np.random.default_rng(0)
    matrices = rng.standard_normal((3, 3, 3)).astype(np.float32)
    matrices = matrices @ matrices.swapaxes(1, 2) + np.eye(3, dtype=np.float32)
    wide = torch.from_numpy(matrices[:, :, :1] if name == "lu_factor" else matrices)
    batch = results(getattr(torch.linalg, name)(wide))
    for i in range(3):
        for one, several in zip(results(getattr(torch.linalg, name)(wide[i])), batch, strict=True):
            np.testing.assert_allclose(several[i].numpy(), one.numpy(), rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("dtype", ["float32", "float64"])
@pytest.mark.parametrize("dim", [(2,), (0, 2), (2, 0), (0, 1, 2), (1,)])
@pytest.mark.parametrize("sizes", [(3, 4, 6), (4, 3, 5), (2, 1, 2), (2, 3, 1)])
def test_whole_transforms_of_real_numbers(
    sizes: tuple[int, ...], dim: tuple[int, ...], dtype: str
) -> None:
    signal = np.random.default_rng(0).standard_normal(sizes).astype(dtype)
    found = torch.fft.fftn(torch.from_numpy(signal), dim=dim).numpy()
    tolerance = 1e-5 if dtype == "float32" else 1e-12
    np.testing.assert_allclose(found, np.fft.fftn(signal, axes=dim), atol=tolerance, rtol=tolerance)


@pytest.mark.parametrize("sizes", [(), (1,), (3,), (4, 2)])
def test_pivots_of_another_number_of_matrices_are_refused(sizes: tuple[int, ...]) -> None:
    """PyTorch reads on behind the pivots."""
    pivots = torch.ones(sizes, dtype=torch.int32)
    with pytest.raises(RuntimeError, match="LU_pivots of shape"):
        torch.lu_unpack(torch.ones(3, 2, 2), pivots)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("batch", [(), (2,)])
@pytest.mark.parametrize("name", ["svd", "svdvals", "pinv", "cond", "matrix_rank"])
def test_infinities_come_to_an_end(name: str, batch: tuple[int, ...], dtype: str) -> None:
    """LAPACK's iteration does not, for some: it went on for ever with these."""
    data = torch.tensor([[0.28, -np.inf, -0.33], [1.53, -1.3, 1.07], [-0.13, -0.04, -1.7]])
    matrix = data.to(getattr(torch, dtype)).expand(*batch, 3, 3)
    for each in results(getattr(torch.linalg, name)(matrix)):
        assert name == "matrix_rank" or each.isnan().all()
    with pytest.raises(torch.linalg.LinAlgError, match="NaN"):
        getattr(torch.linalg, name)(matrix.isinf().to(matrix.dtype) * np.nan)


@pytest.mark.parametrize("name", ["pinv", "matrix_rank"])
@pytest.mark.parametrize("tolerance", ["atol", "rtol"])
def test_tolerances_are_real(name: str, tolerance: str) -> None:
    with pytest.raises(RuntimeError, match=f"linalg.{name}: {tolerance} tensor of complex type"):
        getattr(torch.linalg, name)(torch.eye(3), **{tolerance: torch.tensor(1j)})


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_singular_factors_have_no_inverse(dtype: str) -> None:
    factors = torch.eye(3, dtype=getattr(torch, dtype)).repeat(2, 1, 1)
    factors[1, 2, 2] = 0
    with pytest.raises(torch.linalg.LinAlgError, match=r"element 1\).*element 3 is zero"):
        torch.cholesky_inverse(factors)


def test_a_batch_tells_which_matrix_has_no_singular_values() -> None:
    matrices = torch.ones(3, 2, 4, 3)
    matrices[1, 0, 1, 1] = float("nan")
    with pytest.raises(torch.linalg.LinAlgError, match="Batch element 2"):
        torch.linalg.svdvals(matrices)
    with pytest.raises(torch.linalg.LinAlgError, match="svd: The"):
        torch.linalg.svdvals(matrices[1, 0])


@pytest.mark.parametrize("dtype", ["float32", "complex64"])
@pytest.mark.parametrize("name", ["eigh", "eigvalsh"])
def test_a_batch_tells_which_matrix_has_no_eigenvalues(name: str, dtype: str) -> None:
    matrices = torch.eye(3, dtype=getattr(torch, dtype)).repeat(2, 2, 1, 1)
    matrices[1, 0] = float("nan")
    with pytest.raises(torch.linalg.LinAlgError, match="Batch element 2"):
        getattr(torch.linalg, name)(matrices)
    with pytest.raises(torch.linalg.LinAlgError, match="eigh: The"):
        getattr(torch.linalg, name)(matrices[1, 0])


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("sizes", [(3, 3), (2, 5, 3), (2, 3, 5), (2, 20, 12), (1, 4)])
def test_singular_vectors_put_together(sizes: tuple[int, ...], dtype: str) -> None:
    a = random_matrices(sizes, dtype)
    tolerance = {"rtol": 1e-4, "atol": 1e-4}
    for full in (False, True):
        U, S, Vh = [each.numpy() for each in torch.linalg.svd(torch.from_numpy(a), full)]
        k = S.shape[-1]
        np.testing.assert_allclose(U[..., :k] * S[..., None, :] @ Vh[..., :k, :], a, **tolerance)
        for unitary in (U.conj().swapaxes(-1, -2) @ U, Vh @ Vh.conj().swapaxes(-1, -2)):
            one = np.broadcast_to(np.eye(unitary.shape[-1]), unitary.shape)
            np.testing.assert_allclose(unitary, one, **tolerance)
    found = torch.linalg.svdvals(torch.from_numpy(a)).numpy()
    np.testing.assert_allclose(found, np.linalg.svd(a, compute_uv=False), **tolerance)
    inverse = torch.linalg.pinv(torch.from_numpy(a)).numpy()
    np.testing.assert_allclose(inverse, np.linalg.pinv(a), **tolerance)


@pytest.mark.parametrize("count", [1, 20])
@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("sizes", [(4, 3), (3, 4), (4, 4), (1, 1), (1, 4), (16, 2)])
def test_singular_values_of_any_matrix(sizes: tuple[int, int], dtype: str, count: int) -> None:
    a = random_matrices((count + 6, *sizes), dtype)
    limits = np.finfo(dtype)
    a[0], a[1], a[2] = 0, 1, np.eye(*sizes)
    a[3] *= limits.max / 1e3
    a[4] *= limits.tiny * 1e3
    a[5] = a[6, :, :1] @ a[6, :1]
    found = torch.linalg.svdvals(torch.from_numpy(a)).numpy()
    wanted = np.linalg.svd(a.astype("complex128"), compute_uv=False)
    scale = wanted[:, :1] + (wanted[:, :1] == 0)
    np.testing.assert_allclose(found / scale, wanted / scale, atol=20 * limits.eps, rtol=0)


@pytest.mark.parametrize("driver", ["gels", "gelsy", "gelsd", "gelss"])
@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("sizes", [(5, 3), (3, 5), (4, 4), (2, 30, 20)])
def test_least_squares(sizes: tuple[int, ...], dtype: str, driver: str) -> None:
    a, b = random_matrices(sizes, dtype), random_matrices((*sizes[:-1], 2), dtype)
    for given in (a, np.asfortranarray(a), np.repeat(a, 2, -1)[..., ::2]):
        found = torch.linalg.lstsq(torch.from_numpy(given), torch.from_numpy(b), driver=driver)
        wanted = np.linalg.pinv(a) @ b
        np.testing.assert_allclose(found.solution.numpy(), wanted, rtol=1e-3, atol=1e-3)
        assert driver == "gels" or bool((found.rank == min(sizes[-2:])).all())
        if driver in ("gelsd", "gelss"):
            values = np.linalg.svd(a, compute_uv=False)
            np.testing.assert_allclose(found.singular_values.numpy(), values, rtol=1e-3)


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("driver", ["gelsy", "gelsd", "gelss"])
def test_least_squares_of_lower_rank(driver: str, dtype: str) -> None:
    a = random_matrices((3, 6, 2), dtype) @ random_matrices((3, 2, 4), dtype)
    sides = torch.from_numpy(random_matrices((3, 6, 2), dtype))
    found = torch.linalg.lstsq(torch.from_numpy(a), sides, rcond=1e-4, driver=driver)
    wanted = np.linalg.pinv(a, rcond=1e-4) @ sides.numpy()
    np.testing.assert_allclose(found.solution.numpy(), wanted, rtol=1e-3, atol=1e-3)
    assert found.rank.tolist() == [2, 2, 2]


@pytest.mark.parametrize("dtype", ["float32", "float64", "complex64", "complex128"])
@pytest.mark.parametrize("size", [0, 1e-4, 0.03, 0.5, 3, 40])
@pytest.mark.parametrize("rows", [1, 3, 20])
def test_exponentials_of_any_norm(rows: int, size: float, dtype: str) -> None:
    a = random_matrices((4, rows, rows), dtype)
    a = (a * size / rows).astype(dtype)
    wanted = scipy.linalg.expm(a.astype("complex128"))
    scale = np.abs(wanted).max((1, 2), keepdims=True)
    error = np.abs(torch.linalg.matrix_exp(torch.from_numpy(a)).numpy() - wanted) / scale
    assert error.max() < 4 * (1 + size) * np.finfo(dtype).eps


@pytest.mark.parametrize("value", [float("inf"), float("nan")])
@pytest.mark.parametrize("dtype", ["float32", "complex64"])
def test_the_exponential_of_what_is_not_finite_leaves_the_others_alone(
    dtype: str, value: float
) -> None:
    matrices = torch.eye(3, dtype=getattr(torch, dtype)).repeat(3, 1, 1)
    matrices[1, 0, 2] = value
    found = torch.linalg.matrix_exp(matrices)
    torch.testing.assert_close(found[::2], matrices[::2] * np.e)
    assert not found[1].isfinite().all()


@pytest.mark.parametrize("dtype", ["float32", "complex128"])
@pytest.mark.parametrize("rows", [1, 4, 20])
def test_pseudo_inverses_by_eigenvalues(rows: int, dtype: str) -> None:
    values = random_matrices((3, rows, max(rows // 2, 1)), dtype)
    a = values @ values.conj().swapaxes(1, 2)
    a[1] *= -1
    found = torch.linalg.pinv(torch.from_numpy(a), rtol=1e-4, hermitian=True).numpy()
    wanted = np.linalg.pinv(a.astype("complex128"), rcond=1e-4, hermitian=True)
    np.testing.assert_allclose(found, wanted, rtol=2e-3, atol=2e-3)
