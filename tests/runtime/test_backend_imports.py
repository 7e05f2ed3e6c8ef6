"""What `import torchgen_out` loads on a machine without accelerators."""

from __future__ import annotations

import subprocess
import sys

WITHOUT_CUDA = """
import sys
import torchgen_out as torch

x = torch.ones(3, requires_grad=True)
(x * x).sum().backward()
torch.randperm(3), torch.arange(4), repr(x), x.to("meta"), x.grad.numpy()
loaded = [name for name in sys.modules if ".backends.cuda" in name or ".kernels.cuda" in name]
assert not loaded, loaded
assert torch.cuda.is_available() in (True, False)
assert "torchgen_out._runtime.backends.cuda.availability" in sys.modules
"""


def test_the_cpu_loads_no_module_of_cuda() -> None:
    ran = subprocess.run([sys.executable, "-c", WITHOUT_CUDA], capture_output=True, text=True)
    assert ran.returncode == 0, ran.stderr
