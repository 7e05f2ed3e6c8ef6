"""Neural networks: modules, losses, initialisation; PyTorch's `torch.nn`, which lists them.

The public package is loaded first, whichever module of this one is asked for: modules are written
with its functions, and it would copy the names of a module that is half loaded.
"""

import torchgen_out.nn  # noqa: F401
