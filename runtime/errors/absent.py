"""Errors of what PyTorch has and this library has not: each names it, and what to do instead."""

from __future__ import annotations

SUCCESSORS = {
    "btrifact": "linalg.lu_factor",
    "btrifact_with_info": "linalg.lu_factor_ex",
    "btrisolve": "lu_solve",
    "btriunpack": "lu_unpack",
    "eig": "linalg.eig",
    "gels": "linalg.lstsq",
    "gesv": "linalg.solve",
    "ifft": "fft.ifft",
    "irfft": "fft.irfft",
    "lstsq": "linalg.lstsq",
    "matrix_rank": "linalg.matrix_rank",
    "potrf": "linalg.cholesky",
    "potri": "cholesky_inverse",
    "potrs": "cholesky_solve",
    "rfft": "fft.rfft",
    "solve": "linalg.solve",
    "symeig": "linalg.eigh",
    "trtrs": "linalg.solve_triangular",
}
"""What took the place of functions that PyTorch has given up since 0.4."""


def not_provided(name: str, remedy: str) -> NotImplementedError:
    """A part of PyTorch is used that does not exist here."""
    return NotImplementedError(f"{name} is not provided by torchgen_out: {remedy}")


def no_attribute(module: str, name: str) -> AttributeError:
    """A module of PyTorch has a name that ours has not; `getattr` with a default takes it."""
    begin = f"module '{module}' has no attribute '{name}': it"
    if name in SUCCESSORS:
        return AttributeError(f"{begin} was removed from PyTorch; use torch.{SUCCESSORS[name]}")
    return AttributeError(f"{begin} is not provided by torchgen_out")


def real_torch_loaded(path: object) -> RuntimeError:
    """`torch` cannot become a name of this library: PyTorch goes by it in this process."""
    return RuntimeError(
        f"PyTorch is imported already, from {path}, so `import torch` cannot mean torchgen_out: "
        "import torchgen_out.as_torch before anything that imports torch, or run the program "
        "with `python -m torchgen_out.as_torch`"
    )


def cannot_load_library(path: object) -> OSError:
    """A compiled extension of PyTorch shall be loaded."""
    return OSError(
        f"could not load {path}: it is compiled for PyTorch's C++ library, which torchgen_out "
        "has not; write the operators as entries of a YAML file (docs/operators.md)"
    )
