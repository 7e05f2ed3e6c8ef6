"""cuSOLVER as far as the library calls it: factorisations of column-major matrices, by LAPACK."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.linalg

from tests.cuda.standin_memory import NUMPY_TYPES, StandIn

WORK = 64
"""Bytes that every function works in."""
MOST_OF_A_BATCH = 1 << 15
"""Matrices up to which iterations of many are not refused."""
INVALID_VALUE = 3
"""cusolverStatus_t."""
LETTERS = {"s": np.float32, "d": np.float64, "c": np.complex64, "z": np.complex128}


def lapack(name: str, dtype: Any) -> Any:
    """LAPACK's function for a type."""
    (found,) = scipy.linalg.get_lapack_funcs((name,), dtype=dtype)
    return found


class Matrices(StandIn):
    """What all functions share."""

    def create_params(self) -> int:
        return self.made("params")

    def create_gesvdj_info(self) -> int:
        return self.made("jacobi")

    def set_stream(self, handle: int, stream_id: int) -> None:
        self.of_kind(handle, "library").stream = stream_id

    def matrix(self, address: int, kind: Any, rows: int, columns: int, leading: int) -> np.ndarray:
        """A matrix stored by columns."""
        assert leading >= max(rows, 1)
        dtype = NUMPY_TYPES[kind] if isinstance(kind, int) else np.dtype(kind)
        return self.elements(address, dtype, (rows, columns), (1, leading))

    def vector(self, address: int, dtype: Any, size: int) -> np.ndarray:
        return self.elements(address, np.dtype(dtype), (size,), (1,))

    def asked(self, handle: int, params: int) -> tuple[int, int]:
        """The workspaces on the device and on the host."""
        self.used(handle)
        self.of_kind(params, "params")
        return WORK, 16

    def began(self, name: str, handle: int, *given: int) -> None:
        """Check a call's workspaces: (device, its bytes, host, its bytes)."""
        self.used(handle)
        device, size, host, on_host = given
        assert (size, on_host) == (WORK, 16) and host
        self.driver.bytes_of(self.driver.entered, device, size)
        self.calls.append((name, self.objects[handle].stream))

    def report(self, info: int, number: int) -> None:
        """What LAPACK says."""
        self.vector(info, np.int32, 1)[0] = number


class StandInCusolver(Matrices):
    """`nvmath.bindings.cusolverDn`."""

    def xpotrf_buffer_size(
        self, handle: int, params: int, uplo: int, n: int, data_type_a: int, a: int, lda: int,
        compute_type: int,
    ) -> tuple[int, int]:  # fmt: skip
        return self.asked(handle, params)

    def xpotrf(
        self, handle: int, params: int, uplo: int, n: int, data_type_a: int, a: int, lda: int,
        compute_type: int, buffer_on_device: int, workspace_in_bytes_on_device: int,
        buffer_on_host: int, workspace_in_bytes_on_host: int, info: int,
    ) -> None:  # fmt: skip
        work = buffer_on_device, workspace_in_bytes_on_device
        self.began("xpotrf", handle, *work, buffer_on_host, workspace_in_bytes_on_host)
        own = self.matrix(a, data_type_a, n, n, lda)

        def work() -> None:
            own[...], number = lapack("potrf", own.dtype)(own, lower=not uplo, clean=0)
            self.report(info, number)

        self.driver.do(work)

    def xpotrs(
        self, handle: int, params: int, uplo: int, n: int, nrhs: int, data_type_a: int, a: int,
        lda: int, data_type_b: int, b: int, ldb: int, info: int,
    ) -> None:  # fmt: skip
        right = self.matrix(b, data_type_b, n, nrhs, ldb)
        own = self.matrix(a, data_type_a, n, n, lda)
        right[...], number = lapack("potrs", own.dtype)(own, right, lower=not uplo)
        self.report(info, number)

    def xgetrf_buffer_size(
        self, handle: int, params: int, m: int, n: int, data_type_a: int, a: int, lda: int,
        compute_type: int,
    ) -> tuple[int, int]:  # fmt: skip
        return self.asked(handle, params)

    def xgetrf(
        self, handle: int, params: int, m: int, n: int, data_type_a: int, a: int, lda: int,
        ipiv: int, compute_type: int, buffer_on_device: int, workspace_in_bytes_on_device: int,
        buffer_on_host: int, workspace_in_bytes_on_host: int, info: int,
    ) -> None:  # fmt: skip
        work = buffer_on_device, workspace_in_bytes_on_device
        self.began("xgetrf", handle, *work, buffer_on_host, workspace_in_bytes_on_host)
        own = self.matrix(a, data_type_a, m, n, lda)
        own[...], pivots, number = lapack("getrf", own.dtype)(own)
        self.vector(ipiv, np.int64, min(m, n))[...] = pivots + 1
        self.report(info, number)

    def xgetrs(
        self, handle: int, params: int, trans: int, n: int, nrhs: int, data_type_a: int, a: int,
        lda: int, ipiv: int, data_type_b: int, b: int, ldb: int, info: int,
    ) -> None:  # fmt: skip
        own = self.matrix(a, data_type_a, n, n, lda)
        right = self.matrix(b, data_type_b, n, nrhs, ldb)
        pivots = (self.vector(ipiv, np.int64, n) - 1).astype(np.int32)
        right[...], number = lapack("getrs", own.dtype)(own, pivots, right, trans=trans)
        self.report(info, number)

    def xgeqrf_buffer_size(
        self, handle: int, params: int, m: int, n: int, data_type_a: int, a: int, lda: int,
        data_type_tau: int, tau: int, compute_type: int,
    ) -> tuple[int, int]:  # fmt: skip
        return self.asked(handle, params)

    def xgeqrf(
        self, handle: int, params: int, m: int, n: int, data_type_a: int, a: int, lda: int,
        data_type_tau: int, tau: int, compute_type: int, buffer_on_device: int,
        workspace_in_bytes_on_device: int, buffer_on_host: int, workspace_in_bytes_on_host: int,
        info: int,
    ) -> None:  # fmt: skip
        work = buffer_on_device, workspace_in_bytes_on_device
        self.began("xgeqrf", handle, *work, buffer_on_host, workspace_in_bytes_on_host)
        own = self.matrix(a, data_type_a, m, n, lda)
        own[...], scales, _, number = lapack("geqrf", own.dtype)(own)
        self.vector(tau, own.dtype, min(m, n))[...] = scales
        self.report(info, number)

    def xsyevd_buffer_size(
        self, handle: int, params: int, jobz: int, uplo: int, n: int, data_type_a: int, a: int,
        lda: int, data_type_w: int, w: int, compute_type: int,
    ) -> tuple[int, int]:  # fmt: skip
        return self.asked(handle, params)

    def xsyevd(
        self, handle: int, params: int, jobz: int, uplo: int, n: int, data_type_a: int, a: int,
        lda: int, data_type_w: int, w: int, compute_type: int, buffer_on_device: int,
        workspace_in_bytes_on_device: int, buffer_on_host: int, workspace_in_bytes_on_host: int,
        info: int,
    ) -> None:  # fmt: skip
        work = buffer_on_device, workspace_in_bytes_on_device
        self.began("xsyevd", handle, *work, buffer_on_host, workspace_in_bytes_on_host)
        own = self.matrix(a, data_type_a, n, n, lda)
        values, vectors = np.linalg.eigh(own, UPLO="LU"[uplo])
        own[...] = vectors if jobz else np.nan
        self.vector(w, NUMPY_TYPES[data_type_w], n)[...] = values
        self.report(info, 0)

    def xsyev_batched_buffer_size(
        self, handle: int, params: int, jobz: int, uplo: int, n: int, data_type_a: int, a: int,
        lda: int, data_type_w: int, w: int, compute_type: int, batch_size: int,
    ) -> tuple[int, int]:  # fmt: skip
        if batch_size > MOST_OF_A_BATCH:
            raise self.Failure(INVALID_VALUE)
        return self.asked(handle, params)

    def xsyev_batched(
        self, handle: int, params: int, jobz: int, uplo: int, n: int, data_type_a: int, a: int,
        lda: int, data_type_w: int, w: int, compute_type: int, buffer_on_device: int,
        workspace_in_bytes_on_device: int, buffer_on_host: int, workspace_in_bytes_on_host: int,
        info: int, batch_size: int,
    ) -> None:  # fmt: skip
        work = buffer_on_device, workspace_in_bytes_on_device
        self.began("xsyev_batched", handle, *work, buffer_on_host, workspace_in_bytes_on_host)
        kind, real = NUMPY_TYPES[data_type_a], NUMPY_TYPES[data_type_w]
        for i in range(batch_size):
            own = self.matrix(a + i * n * lda * kind.itemsize, data_type_a, n, n, lda)
            values, vectors = np.linalg.eigh(own, UPLO="LU"[uplo])
            own[...] = vectors if jobz else np.nan
            self.vector(w + i * n * real.itemsize, real, n)[...] = values
            self.report(info + 4 * i, 0)

    def xgesvd_buffer_size(
        self, handle: int, params: int, jobu: int, jobvt: int, m: int, n: int, data_type_a: int,
        a: int, lda: int, data_type_s: int, s: int, data_type_u: int, u: int, ldu: int,
        data_type_vt: int, vt: int, ldvt: int, compute_type: int,
    ) -> tuple[int, int]:  # fmt: skip
        return self.asked(handle, params)

    def xgesvd(
        self, handle: int, params: int, jobu: int, jobvt: int, m: int, n: int, data_type_a: int,
        a: int, lda: int, data_type_s: int, s: int, data_type_u: int, u: int, ldu: int,
        data_type_vt: int, vt: int, ldvt: int, compute_type: int, buffer_on_device: int,
        workspace_in_bytes_on_device: int, buffer_on_host: int, workspace_in_bytes_on_host: int,
        info: int,
    ) -> None:  # fmt: skip
        work = buffer_on_device, workspace_in_bytes_on_device
        self.began("xgesvd", handle, *work, buffer_on_host, workspace_in_bytes_on_host)
        assert m >= n and jobu == jobvt
        own, is_full = self.matrix(a, data_type_a, m, n, lda), chr(jobu) == "A"
        left, values, right = np.linalg.svd(own, full_matrices=is_full)
        self.vector(s, NUMPY_TYPES[data_type_s], n)[...] = values
        if chr(jobu) != "N":
            self.matrix(u, data_type_u, *left.shape, ldu)[...] = left
            self.matrix(vt, data_type_vt, *right.shape, ldvt)[...] = right
        own[...] = np.nan
        self.report(info, 0)

    def xgeev_buffer_size(
        self, handle: int, params: int, jobvl: int, jobvr: int, n: int, data_type_a: int, a: int,
        lda: int, data_type_w: int, w: int, data_type_vl: int, vl: int, ldvl: int,
        data_type_vr: int, vr: int, ldvr: int, compute_type: int,
    ) -> tuple[int, int]:  # fmt: skip
        return self.asked(handle, params)

    def xgeev(
        self, handle: int, params: int, jobvl: int, jobvr: int, n: int, data_type_a: int, a: int,
        lda: int, data_type_w: int, w: int, data_type_vl: int, vl: int, ldvl: int,
        data_type_vr: int, vr: int, ldvr: int, compute_type: int, buffer_on_device: int,
        workspace_in_bytes_on_device: int, buffer_on_host: int, workspace_in_bytes_on_host: int,
        info: int,
    ) -> None:  # fmt: skip
        work = buffer_on_device, workspace_in_bytes_on_device
        self.began("xgeev", handle, *work, buffer_on_host, workspace_in_bytes_on_host)
        assert not jobvl, "left eigenvectors are not computed"
        own = self.matrix(a, data_type_a, n, n, lda)
        values, vectors = np.linalg.eig(own)
        self.vector(w, NUMPY_TYPES[data_type_w], n)[...] = values
        if jobvr:
            self.matrix(vr, data_type_vr, n, n, ldvr)[...] = vectors
        own[...] = np.nan
        self.report(info, 0)


def _orgqr(letter: str) -> tuple[Callable[..., int], Callable[..., None]]:
    def buffer_size(
        self: Any, handle: int, m: int, n: int, k: int, a: int, lda: int, tau: int
    ) -> int:
        return 8

    def orgqr(
        self: Any, handle: int, m: int, n: int, k: int, a: int, lda: int, tau: int, work: int,
        lwork: int, info: int,
    ) -> None:  # fmt: skip
        assert m >= n >= k and lwork == 8
        self.used(handle)
        own, dtype = self.matrix(a, LETTERS[letter], m, n, lda), LETTERS[letter]
        scales = self.vector(tau, dtype, k)
        name = "ungqr" if own.dtype.kind == "c" else "orgqr"
        own[...], _, number = lapack(name, own.dtype)(own, scales)
        self.report(info, number)

    return buffer_size, orgqr


def _ormqr(letter: str) -> tuple[Callable[..., int], Callable[..., None]]:
    def buffer_size(
        self: Any, handle: int, side: int, trans: int, m: int, n: int, k: int, a: int, lda: int,
        tau: int, c: int, ldc: int,
    ) -> int:  # fmt: skip
        return 8

    def ormqr(
        self: Any, handle: int, side: int, trans: int, m: int, n: int, k: int, a: int, lda: int,
        tau: int, c: int, ldc: int, work: int, lwork: int, dev_info: int,
    ) -> None:  # fmt: skip
        self.used(handle)
        dtype = np.dtype(LETTERS[letter])
        own = self.matrix(a, dtype, m if side == 0 else n, k, lda)
        right = self.matrix(c, dtype, m, n, ldc)
        name = "unmqr" if dtype.kind == "c" else "ormqr"
        assert trans in ((0, 2) if dtype.kind == "c" else (0, 1))
        scales, function = self.vector(tau, dtype, k), lapack(name, dtype)
        right[...], _, number = function("LR"[side], "NTC"[trans], own, scales, right, 256)
        self.report(dev_info, number)

    return buffer_size, ormqr


def _potrf_batched(letter: str) -> Callable[..., None]:
    def potrf_batched(
        self: Any, handle: int, uplo: int, n: int, aarray: int, lda: int, info_array: int,
        batch_size: int,
    ) -> None:  # fmt: skip
        self.used(handle)
        for i, address in enumerate(self.addresses(aarray, batch_size)):
            own = self.matrix(address, LETTERS[letter], n, n, lda)
            own[...], number = lapack("potrf", own.dtype)(own, lower=not uplo, clean=0)
            self.report(info_array + 4 * i, number)
        self.calls.append((f"{letter}potrf_batched", self.objects[handle].stream))

    return potrf_batched


def _gesvdj_batched(letter: str) -> tuple[Callable[..., int], Callable[..., None]]:
    def buffer_size(
        self: Any, handle: int, jobz: int, m: int, n: int, a: int, lda: int, s: int, u: int,
        ldu: int, v: int, ldv: int, params: int, batch_size: int,
    ) -> int:  # fmt: skip
        if batch_size > MOST_OF_A_BATCH:
            raise self.Failure(INVALID_VALUE)
        return 8

    def gesvdj_batched(
        self: Any, handle: int, jobz: int, m: int, n: int, a: int, lda: int, s: int, u: int,
        ldu: int, v: int, ldv: int, work: int, lwork: int, info: int, params: int,
        batch_size: int,
    ) -> None:  # fmt: skip
        assert max(m, n) <= 32 and lwork == 8 and self.of_kind(params, "jacobi")
        self.used(handle)
        dtype = np.dtype(LETTERS[letter])
        real, k = dtype.type(0).real.dtype, min(m, n)
        for i in range(batch_size):
            own = self.matrix(a + i * lda * n * dtype.itemsize, dtype, m, n, lda)
            left, values, right = np.linalg.svd(own)
            self.vector(s + i * k * real.itemsize, real, k)[...] = values
            if jobz:
                self.matrix(u + i * ldu * m * dtype.itemsize, dtype, m, m, ldu)[...] = left
                columns = right.conj().T
                self.matrix(v + i * ldv * n * dtype.itemsize, dtype, n, n, ldv)[...] = columns
            own[...] = np.nan
            self.report(info + 4 * i, 0)
        self.calls.append((f"{letter}gesvdj_batched", self.objects[handle].stream))

    return buffer_size, gesvdj_batched


for _letter, _type in LETTERS.items():
    setattr(StandInCusolver, f"{_letter}potrf_batched", _potrf_batched(_letter))
    _size, _function = _gesvdj_batched(_letter)
    setattr(StandInCusolver, f"{_letter}gesvdj_batched_buffer_size", _size)
    setattr(StandInCusolver, f"{_letter}gesvdj_batched", _function)
    _prefix = "un" if np.dtype(_type).kind == "c" else "or"
    for _stem, _make in (("gqr", _orgqr), ("mqr", _ormqr)):
        _size, _function = _make(_letter)
        setattr(StandInCusolver, f"{_letter}{_prefix}{_stem}_buffer_size", _size)
        setattr(StandInCusolver, f"{_letter}{_prefix}{_stem}", _function)
