"""Every family of kernels under NVIDIA's compute-sanitizer."""

from __future__ import annotations

import subprocess
import sys

import pytest

from tests.gpu import kernel_families
from tests.gpu.conftest import is_emulated

TOOLS = ("memcheck", "racecheck", "synccheck")
"""Memory outside allocations; shared memory that threads write to at once; barriers missed."""
FOUND = 9
"""The tool's exit code where it found something."""


@pytest.mark.parametrize("tool", TOOLS)
def test_nothing_is_found(request, tool):
    if is_emulated(request.config):
        assert kernel_families.run()
        return
    from cuda import pathfinder

    sanitizer = pathfinder.find_nvidia_binary_utility("compute-sanitizer")
    if sanitizer is None:
        pytest.skip("compute-sanitizer is not installed: pip install nvidia-cuda-sanitizer-api")
    options = ["--tool", tool, "--error-exitcode", str(FOUND), "--print-limit", "20"]
    program = [sys.executable, "-m", "tests.gpu.kernel_families"]
    done = subprocess.run([sanitizer, *options, *program], capture_output=True, text=True)
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
