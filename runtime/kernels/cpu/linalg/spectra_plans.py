"""Plans of singular values and eigenvalues of small matrices, and of pseudo-inverses by them."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime import errors
from torchgen_out._runtime.kernels.cpu.linalg.lapack import workspace
from torchgen_out._runtime.kernels.cpu.linalg.lapack_plans import (
    lies_by_columns,
    plan_routines,
    stack_of,
)
from torchgen_out._runtime.kernels.cpu.loop_plans import refusing
from torchgen_out._runtime.kernels.plan import LaunchPlan, TensorSpec

DEFECT = '''\
@inner
def defect(own):
    """2 if there is a NaN, 1 if an infinity: with them LAPACK's iteration need not end."""
    found = 0
    for i in range(own.size):
        x = own[i]
        if x != x:
            return 2
        if x - x != 0:
            found = 1
    return found


'''

GESDD = """\
@inner
def singular(own, job, rows, columns, s, u, left, vh, work, integers, reals):
    return gesdd(
        COLUMNS,
        job,
        columns,
        rows,
        own.ctypes.data,
        columns,
        s,
        vh,
        columns,
        u,
        max(left, 1),
        work.ctypes.data,
        work.size,
        {reals}integers.ctypes.data,
    )


"""

SYEVD = """\
@inner
def eigen(own, job, side, n, values, work, integers, reals):
    return syevd(
        COLUMNS,
        job,
        side,
        n,
        own.ctypes.data,
        n,
        values,
        work.ctypes.data,
        work.size,
        {reals}integers.ctypes.data,
        integers.size,
    )


"""

SINGULAR = '''\
@entry
def kernel(u, s, vh, a, at, plan):
    """A row-major matrix is A^T = Vh^T S U^T to LAPACK, so that U and Vh come row-major, too.

    Of a matrix that fails the first singular value is -1.
    """
    count, rows, columns, job = plan[0], plan[1], plan[2], np.int32(plan[3])
    left, right = plan[4], plan[5]
    smaller = min(rows, columns)
    own, work, reals = np.empty(rows * columns, T), np.empty(plan[6], T), np.empty(plan[7], R)
    integers, item = np.empty(8 * smaller, np.int64), a.itemsize
    for m in range(count):
        copy_matrix(own, 0, a, at + m * plan[8], columns, rows, plan[10], plan[9])
        found = defect(own)
        if found == 2:
            s[m * smaller] = -1
            return False
        if found:
            s[m * smaller : (m + 1) * smaller] = np.nan
            u[m * rows * left : (m + 1) * rows * left] = np.nan
            vh[m * right * columns : (m + 1) * right * columns] = np.nan
            continue
        at_s = s.ctypes.data + m * smaller * s.itemsize
        at_u = u.ctypes.data + m * rows * left * item
        at_vh = vh.ctypes.data + m * right * columns * item
        info = singular(
            own, job, rows, columns, at_s, at_u, left, at_vh, work, integers, reals
        )
        if info != 0:
            s[m * smaller] = -1
            return False
    return True
'''

VALUES_OF_FEW = '''\
SWEEPS = 30


@inner
def square(x):
    return x.real * x.real + x.imag * x.imag


@inner
def turn(x, y, rounding):
    """Make two columns orthogonal; whether they were."""
    alpha, beta, gamma = R(0), R(0), T(0)
    for i in range(x.size):
        alpha += square(x[i])
        beta += square(y[i])
        gamma += conjugate(x[i]) * y[i]
    size = math.sqrt(square(gamma))
    if not size > rounding * math.sqrt(alpha) * math.sqrt(beta):
        return True
    phase = conjugate(gamma) / size
    zeta = (beta - alpha) / (R(2) * size)
    tangent = R(1) / (abs(zeta) + math.sqrt(R(1) + zeta * zeta))
    tangent = tangent if zeta >= 0 else -tangent
    cosine = R(1) / math.sqrt(R(1) + tangent * tangent)
    sine = cosine * tangent
    for i in range(x.size):
        first, second = x[i], y[i] * phase
        x[i] = cosine * first - sine * second
        y[i] = sine * first + cosine * second
    return False


@entry
def kernel(u, s, vh, a, at, plan):
    """Columns are turned until they are orthogonal (M. Hestenes, 1958): values are their lengths.

    As above, of a matrix with a NaN the first value is -1.
    """
    count, rows, columns = plan[0], rows_in(plan), columns_in(plan)
    own, rounding = np.empty(rows * columns, T), R(np.finfo(T).eps)
    for m in range(count):
        copy_matrix(own, 0, a, at + m * plan[3], rows, columns, plan[4], plan[5])
        found = defect(own)
        if found == 2:
            s[m * columns] = -1
            return False
        if found:
            s[m * columns : (m + 1) * columns] = np.nan
            continue
        largest = R(0)
        for i in range(own.size):
            largest = max(largest, max(abs(own[i].real), abs(own[i].imag)))
        if largest > 0:  # squares of numbers up to 1 are numbers
            for i in range(own.size):
                own[i] /= largest
        for sweep in range(SWEEPS):
            is_done = True
            for p in range(columns):
                for q in range(p + 1, columns):
                    x, y = own[p * rows : (p + 1) * rows], own[q * rows : (q + 1) * rows]
                    if not turn(x, y, rounding):
                        is_done = False
            if is_done:
                break
        values = s[m * columns : (m + 1) * columns]
        for p in range(columns):
            total = R(0)
            for i in range(rows):
                total += square(own[p * rows + i])
            value, q = math.sqrt(total) * largest, p
            while q > 0 and values[q - 1] < value:
                values[q] = values[q - 1]
                q -= 1
            values[q] = value
    return True
'''

MOST_COLUMNS, MOST_ROWS = 4, 16
"""The sizes of matrices whose values alone are found by turns."""

EIGEN = '''\
@entry
def kernel(values, vectors, a, at, plan):
    """Eigenvectors, where they are wanted, in the columns of what is factorised.

    The number of a matrix that fails becomes the first value.
    """
    count, n, job, side = plan[0], plan[1], np.int32(plan[2]), np.int32(plan[3])
    work, integers, reals = np.empty(plan[4], T), np.empty(plan[5], np.int64), np.empty(plan[6], R)
    apart = np.empty(0 if vectors.size else n * n, T)
    for m in range(count):
        own = vectors[m * n * n : (m + 1) * n * n] if vectors.size else apart
        copy_matrix(own, 0, a, at + m * plan[7], n, n, plan[8], plan[9])
        at_values = values.ctypes.data + m * n * values.itemsize
        if eigen(own, job, side, n, at_values, work, integers, reals) != 0:
            values[0] = m
            return False
    return True
'''


PSEUDO_INVERSE = '''\
@entry
def kernel(out, a, atol, rtol, at, at_atol, at_rtol, plan):
    """V S^-1 U^H, where small singular values count as 0; U and V as in the text above."""
    rows, columns = plan[0], plan[1]
    smaller, numel = min(rows, columns), rows * columns
    own, work, reals = np.empty(numel, T), np.empty(plan[2], T), np.empty(plan[3], R)
    u, vh, s = np.empty((rows, smaller), T), np.empty((smaller, columns), T), np.empty(smaller, R)
    integers, job = np.empty(8 * smaller, np.int64), np.int32(ord("S"))
    at_s, at_u, at_vh = s.ctypes.data, u.ctypes.data, vh.ctypes.data
    for m in range(plan[7]):
        copy_matrix(own, 0, a, at + m * plan[4], columns, rows, plan[6], plan[5])
        found = defect(own)
        if found == 2:
            return False
        if found:
            out[m * numel : (m + 1) * numel] = np.nan
            continue
        info = singular(
            own, job, rows, columns, at_s, at_u, smaller, at_vh, work, integers, reals
        )
        if info != 0:
            return False
        bound = max(atol[at_atol + m * plan[8]], rtol[at_rtol + m * plan[9]] * s[0])
        for j in range(smaller):
            s[j] = R(1) / s[j] if s[j] > bound else R(0)
        for i in range(columns):
            for j in range(rows):
                total = T(0)
                for k in range(smaller):
                    total += conjugate(vh[k, i]) * s[k] * conjugate(u[j, k])
                out[m * numel + i * rows + j] = total
    return True
'''

HERMITIAN_INVERSE = '''\
@entry
def kernel(out, a, atol, rtol, at, at_atol, at_rtol, plan):
    """V L^-1 V^H, where eigenvalues of small magnitude count as 0;"""
    n, job, side = plan[0], np.int32(ord("V")), np.int32(ord("L"))
    work, integers, reals = np.empty(plan[1], T), np.empty(plan[2], np.int64), np.empty(plan[3], R)
    own, values, numel = np.empty(n * n, T), np.empty(n, R), n * n
    for m in range(plan[7]):
        copy_matrix(own, 0, a, at + m * plan[4], n, n, plan[5], plan[6])
        found = defect(own)
        if found == 2:
            return False
        if found:
            out[m * numel : (m + 1) * numel] = np.nan
            continue
        if eigen(own, job, side, n, values.ctypes.data, work, integers, reals) != 0:
            return False
        largest = max(abs(values[0]), abs(values[n - 1]))
        bound = max(atol[at_atol + m * plan[8]], rtol[at_rtol + m * plan[9]] * largest)
        for j in range(n):
            values[j] = R(1) / values[j] if abs(values[j]) > bound else R(0)
        for i in range(n):
            for j in range(n):
                total = T(0)
                for k in range(n):
                    total += own[k * n + i] * values[k] * conjugate(own[k * n + j])
                out[m * numel + i * n + j] = total
    return True
'''


def _text(dtype: Any, *parts: str) -> str:
    reals = "reals.ctypes.data,\n        "
    size = "reals.size,\n        "
    if dtype.kind != "c":
        reals = size = ""
    before = {GESDD: reals, SYEVD: reals + size}
    return "".join([each.format(reals=before[each]) if each in before else each for each in parts])


def _reals(dtype: Any, rows: int, columns: int, compute_uv: bool) -> int:
    """How many real numbers LAPACK's complex gesdd takes to work with."""
    if dtype.kind != "c":
        return 0
    small, large = sorted((rows, columns))
    if not compute_uv:
        return 7 * small
    return max(5 * small * small + 7 * small, 2 * large * small + 2 * small * small + small)


def _eigen_sizes(dtype: Any, n: int, compute_v: bool, lower: bool) -> tuple[int, int, int]:
    """How many elements, whole numbers and real numbers LAPACK's syevd takes to work with."""
    lwork, liwork, *lrwork = workspace("syevd", dtype, n, int(compute_v), int(lower))
    return lwork, liwork, lrwork[0] if lrwork else 0


MOST_MULTIPLIED = 32
"""The sizes of matrices up to which the product of singular vectors is a plain loop."""


def plan_pinv(
    out: TensorSpec, self: TensorSpec, atol: TensorSpec, rtol: TensorSpec, hermitian: bool
) -> LaunchPlan | None:
    """Plan `_linalg_pinv`; a tolerance is one for all, or each matrix has its own."""
    stack = stack_of(self)
    if stack is None or max(stack.rows, stack.columns) > MOST_MULTIPLIED:
        return None
    ends = []
    for each in (atol, rtol):
        if each.dtype.kind == "c":  # no tolerance, but this may be called with one
            return None
        if each.numel != 1 and (each.sizes != self.sizes[:-2] or not each.is_contiguous):
            return None
        ends.append(int(each.numel > 1))
    dtype, (rows, columns) = self.dtype, self.sizes[-2:]
    if hermitian:
        name, text = "syevd", _text(dtype, DEFECT, SYEVD, HERMITIAN_INVERSE)
        sizes = rows, *_eigen_sizes(dtype, rows, True, True)
    else:
        name, text = "gesdd", _text(dtype, DEFECT, GESDD, PSEUDO_INVERSE)
        (lwork,) = workspace("gesdd", dtype, columns, rows, 1, 0)
        sizes = rows, columns, lwork, _reals(dtype, rows, columns, True)
    numbers = *sizes, *stack.steps, stack.count, *ends
    plan = plan_routines((name,), text, [out], [self, atol, rtol], numbers, False)
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
    if stack is None:
        return None
    rows, columns = stack.rows, stack.columns
    is_batch = len(A.sizes) > 2

    def no_singular_values(U: Any, S: Any, *_: Any) -> Exception:
        failed = int((S.reshape(stack.count, -1)[:, 0] == -1).argmax())
        return errors.not_converged("linalg.svd", failed if is_batch else None, "singular values")

    if not compute_uv and min(rows, columns) <= MOST_COLUMNS and max(rows, columns) <= MOST_ROWS:
        tall = stack if rows >= columns else stack.turned
        places, text = {"rows_in": 1, "columns_in": 2}, DEFECT + VALUES_OF_FEW
        numbers = tall.count, tall.rows, tall.columns, *tall.steps
        plan = plan_routines(("gesdd",), text, [U, S, Vh], [A], numbers, sizes=places)
        return plan and refusing(plan, no_singular_values)
    letter = ("A" if full_matrices else "S") if compute_uv else "N"
    flags = int(compute_uv), int(full_matrices)
    (lwork,) = workspace("gesdd", A.dtype, columns, rows, *flags)
    left, right = (U.sizes[-1], Vh.sizes[-2]) if compute_uv else (0, 0)
    sizes = lwork, _reals(A.dtype, rows, columns, compute_uv)
    numbers = stack.count, rows, columns, ord(letter), left, right, *sizes, *stack.steps
    text = _text(A.dtype, DEFECT, GESDD, SINGULAR)
    plan = plan_routines(("gesdd",), text, [U, S, Vh], [A], numbers)
    return plan and refusing(plan, no_singular_values)


def plan_eigh(
    values: TensorSpec, vectors: TensorSpec, A: TensorSpec, UPLO: str, compute_v: bool
) -> LaunchPlan | None:
    """Plan `_linalg_eigh`."""
    stack = stack_of(A)
    if stack is None or (compute_v and not lies_by_columns(vectors)):
        return None
    lower, is_batch = UPLO in "lL", len(A.sizes) > 2
    sizes = _eigen_sizes(A.dtype, stack.rows, compute_v, lower)
    job, side = ord("V" if compute_v else "N"), ord("L" if lower else "U")
    numbers = stack.count, stack.rows, job, side, *sizes, *stack.steps
    text = _text(A.dtype, SYEVD, EIGEN)
    plan = plan_routines(("syevd",), text, [values, vectors], [A], numbers)

    def no_eigenvalues(values: Any, *_: Any) -> Exception:
        failed = int(values[0]) if is_batch else None
        return errors.not_converged("linalg.eigh", failed, "eigenvalues")

    return plan and refusing(plan, no_eigenvalues)
