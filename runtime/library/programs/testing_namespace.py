"""The names of `torch.testing`, which the generated facade re-exports."""

from torchgen_out._runtime.library.programs.make_tensor import make_tensor
from torchgen_out._runtime.library.testing import *  # noqa: F403
from torchgen_out._runtime.library.testing import __all__ as _compared

__all__ = ["make_tensor"]
__all__ += _compared
