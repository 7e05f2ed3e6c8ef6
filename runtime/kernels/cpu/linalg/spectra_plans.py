"""Plans of singular values and of eigenvalues of small symmetric matrices."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.linalg.lapack import workspace
from torchgen_out._runtime.kernels.cpu.linalg.lapack_plans import plan_routines, stack_of
from torchgen_out._runtime.kernels.cpu.loop_plans import refusing
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

DEFECT = '''\
@inner
def defect(own):
    """2 if there is a NaN, 1 if an infinity: with them LAPACK's iteration need not end."""
    found = 0
    for x in own:
        if x != x:
            return 2
        if x - x != 0:
            found = 1
    return found


'''

SINGULAR = (
    DEFECT
    + '''\
@entry
def kernel(u, s, vh, a, at, plan):
    """A row-major matrix is A^T = conj(V) S U^T to LAPACK, so that U and Vh come row-major, too.

    Of a matrix that fails the first singular value is -1.
    """
    count, rows, columns, job = plan[0], plan[1], plan[2], np.int32(plan[3])
    left, right = plan[4], plan[5]
    smaller = min(rows, columns)
    own, work = np.empty(rows * columns, T), np.empty(plan[6], T)
    integers, item = np.empty(8 * smaller, np.int64), a.itemsize
    for m in range(count):
        copy_matrix(own, 0, a, at + m * plan[7], columns, rows, plan[9], plan[8])
        found = defect(own)
        if found == 2:
            s[m * smaller] = -1
            return False
        if found:
            s[m * smaller : (m + 1) * smaller] = np.nan
            u[m * rows * left : (m + 1) * rows * left] = np.nan
            vh[m * right * columns : (m + 1) * right * columns] = np.nan
            continue
        info = gesdd(
            COLUMNS,
            job,
            columns,
            rows,
            own.ctypes.data,
            columns,
            s.ctypes.data + m * smaller * item,
            vh.ctypes.data + m * right * columns * item,
            columns,
            u.ctypes.data + m * rows * left * item,
            max(left, 1),
            work.ctypes.data,
            work.size,
            integers.ctypes.data,
        )
        if info != 0:
            s[m * smaller] = -1
            return False
    return True
'''
)

EIGEN = '''\
@entry
def kernel(values, vectors, a, at, plan):
    """Eigenvectors, where they are wanted, in the columns of what is factorised."""
    count, n, job, side = plan[0], plan[1], np.int32(plan[2]), np.int32(plan[3])
    work, integers = np.empty(plan[4], T), np.empty(plan[5], np.int64)
    apart = np.empty(0 if vectors.size else n * n, T)
    for m in range(count):
        own = vectors[m * n * n : (m + 1) * n * n] if vectors.size else apart
        copy_matrix(own, 0, a, at + m * plan[6], n, n, plan[7], plan[8])
        info = syevd(
            COLUMNS,
            job,
            side,
            n,
            own.ctypes.data,
            n,
            values.ctypes.data + m * n * values.itemsize,
            work.ctypes.data,
            work.size,
            integers.ctypes.data,
            integers.size,
        )
        if info != 0:
            return False
    return True
'''


PSEUDO_INVERSE = (
    DEFECT
    + '''\
@entry
def kernel(out, a, atol, rtol, at, at_atol, at_rtol, plan):
    """V S^-1 U^T, where small singular values count as 0; U and V as in the text above."""
    rows, columns = plan[0], plan[1]
    smaller, numel = min(rows, columns), rows * columns
    own, work = np.empty(numel, T), np.empty(plan[2], T)
    u, vh, s = np.empty((rows, smaller), T), np.empty((smaller, columns), T), np.empty(smaller, T)
    integers = np.empty(8 * smaller, np.int64)
    for m in range(plan[6]):
        copy_matrix(own, 0, a, at + m * plan[3], columns, rows, plan[5], plan[4])
        found = defect(own)
        if found == 2:
            return False
        if found:
            out[m * numel : (m + 1) * numel] = np.nan
            continue
        info = gesdd(
            COLUMNS,
            np.int32(ord("S")),
            columns,
            rows,
            own.ctypes.data,
            columns,
            s.ctypes.data,
            vh.ctypes.data,
            columns,
            u.ctypes.data,
            smaller,
            work.ctypes.data,
            work.size,
            integers.ctypes.data,
        )
        if info != 0:
            return False
        bound = max(atol[at_atol + m * plan[7]], rtol[at_rtol + m * plan[8]] * s[0])
        for j in range(smaller):
            s[j] = T(1) / s[j] if s[j] > bound else T(0)
        for i in range(columns):
            for j in range(rows):
                total = T(0)
                for k in range(smaller):
                    total += vh[k, i] * s[k] * u[j, k]
                out[m * numel + i * rows + j] = total
    return True
'''
)

MOST_MULTIPLIED = 32
"""The sizes of matrices up to which the product of singular vectors is a plain loop."""


def plan_pinv(
    out: TensorSpec, self: TensorSpec, atol: TensorSpec, rtol: TensorSpec, hermitian: bool
) -> LaunchPlan | None:
    """Plan `_linalg_pinv` by singular values; a tolerance is one for all, or each has its own."""
    stack = stack_of(self)
    if stack is None or hermitian or self.dtype.kind != "f":
        return None
    if max(stack.rows, stack.columns) > MOST_MULTIPLIED:
        return None
    steps = []
    for each in (atol, rtol):
        if each.numel != 1 and (each.sizes != self.sizes[:-2] or not each.is_contiguous):
            return None
        steps.append(int(each.numel > 1))
    (lwork,) = workspace("gesdd", self.dtype, stack.columns, stack.rows, 1, 0)
    numbers = stack.rows, stack.columns, lwork, *stack.steps, stack.count, *steps
    plan = plan_routines(("gesdd",), PSEUDO_INVERSE, [out], [self, atol, rtol], numbers, False)
    return plan and refusing(plan, _no_pseudo_inverse)


def _no_pseudo_inverse(*args: Any) -> Exception:
    return errors.not_converged("linalg.pinv", None, "singular values")


def plan_svd(
    U: TensorSpec,
    S: TensorSpec,
    Vh: TensorSpec,
    A: TensorSpec,
    full_matrices: bool,
    compute_uv: bool,
    driver: str | None,
) -> LaunchPlan | None:
    """Plan `_linalg_svd`."""
    stack = stack_of(A)
    if stack is None or A.dtype.kind != "f":
        return None
    rows, columns = stack.rows, stack.columns
    letter = ("A" if full_matrices else "S") if compute_uv else "N"
    flags = int(compute_uv), int(full_matrices)
    (lwork,) = workspace("gesdd", A.dtype, columns, rows, *flags)
    left, right = (U.sizes[-1], Vh.sizes[-2]) if compute_uv else (0, 0)
    numbers = stack.count, rows, columns, ord(letter), left, right, lwork, *stack.steps
    plan = plan_routines(("gesdd",), SINGULAR, [U, S, Vh], [A], numbers)
    is_batch = len(A.sizes) > 2

    def no_singular_values(U: Any, S: Any, *_: Any) -> Exception:
        failed = int((S.reshape(stack.count, -1)[:, 0] == -1).argmax())
        return errors.not_converged("linalg.svd", failed if is_batch else None, "singular values")

    return plan and refusing(plan, no_singular_values)


def plan_eigh(
    values: TensorSpec, vectors: TensorSpec, A: TensorSpec, UPLO: str, compute_v: bool
) -> LaunchPlan | None:
    """Plan `_linalg_eigh`; one matrix, so that a failure needs no number."""
    stack = stack_of(A)
    if stack is None or len(A.sizes) > 2 or A.dtype.kind != "f":
        return None
    lower = UPLO in "lL"
    sizes = workspace("syevd", A.dtype, stack.rows, int(compute_v), int(lower))
    job, side = ord("V" if compute_v else "N"), ord("L" if lower else "U")
    numbers = 1, stack.rows, job, side, *sizes, *stack.steps
    plan = plan_routines(("syevd",), EIGEN, [values, vectors], [A], numbers)
    return plan and refusing(plan, _no_eigenvalues)


def _no_eigenvalues(*args: Any) -> Exception:
    return errors.not_converged("linalg.eigh", None, "eigenvalues")
