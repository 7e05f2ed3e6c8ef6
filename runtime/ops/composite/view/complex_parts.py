"""Composites about the parts of complex tensors: imaginary part, conjugate transpose."""

from __future__ import annotations

from typing import Any

from torchgen_out._runtime.core import deprecation
from torchgen_out._runtime.dispatch import calls, ops


def imag(self: Any) -> Any:
    """View the imaginary parts. **Raises** RuntimeError for a real tensor."""
    if not self.dtype.is_complex:
        raise RuntimeError("imag is not implemented for tensors with non-complex dtypes.")
    return ops.select(ops.view_as_real(self), -1, 1)


def polar(abs: Any, angle: Any) -> Any:
    """abs * exp(1j * angle)."""
    keys = abs._key, angle._key
    real = calls._polar_real[keys](abs, angle)
    imag = calls._polar_imag[keys](abs, angle)
    return calls.complex[real._key, imag._key](real, imag)


def adjoint(self: Any) -> Any:
    """The last two dims swapped, conjugated; a scalar is conjugated only."""
    if not self._sizes:
        deprecation.transposed_scalar("adjoint()", "Consider using x.conj().")
        return self.conj()
    return self.mT.conj()


def hermitian(self: Any) -> Any:
    """A matrix transposed and conjugated. **Raises** RuntimeError unless it has 0 or 2 dims."""
    ndim = len(self._sizes)
    if ndim not in (0, 2):
        raise RuntimeError(
            f"tensor.H is only supported on matrices (2-D tensors). Got {ndim}-D tensor."
            + (" For batches of matrices, consider using tensor.mH" if ndim > 2 else "")
        )
    if not ndim:
        deprecation.transposed_scalar("Tensor.H", "Consider using x.conj().")
        return self.conj()
    return self.mT.conj()
