"""The names of `torch.testing`, which the generated facade re-exports."""

from runtime.programs.make_tensor import make_tensor
from runtime.testing import *  # noqa: F403
from runtime.testing import __all__ as _compared

__all__ = ["make_tensor"]
__all__ += _compared
