"""Compiles loops over primitives for Arm64 on any machine: python -m tests.runtime.vecmath_arm exp

Prints, for each, how many instructions of the loop compute with four floats at once, and whether
it calls anything. Numba compiles for the processor it runs on; so it is asked for LLVM's text
without optimisation, which LLVM then optimises for the other processor.
"""

from __future__ import annotations

import os
import re
import sys
from typing import Any

os.environ["NUMBA_OPT"] = "0"  # read when Numba is imported

import numpy as np
from llvmlite import binding

from tests.runtime.vecmath_running import kernel_text

PACKED = re.compile(r"\s(?:fmla|fmls|fmul|fadd|fsub|fdiv|fsqrt)\s+v\d+\.4s")


def machine() -> Any:
    """A common server processor."""
    binding.initialize_all_targets()
    binding.initialize_all_asmprinters()
    target = binding.Target.from_triple("aarch64-linux-gnu")
    return target.create_target_machine(cpu="neoverse-n1", opt=3)


def assembly(name: str, target: Any) -> str:
    """The loop over one primitive of float32 for another processor."""
    space: dict[str, Any] = {}
    text = kernel_text(name, "float32", 1)
    exec(compile(text, f"<{name}>", "exec"), space)
    x = np.ones(8, np.float32)
    space["kernel"](x, x)
    (text,) = space["kernel"].inspect_llvm().values()
    text = re.sub(r'target triple = ".*"', f'target triple = "{target.triple}"', text)
    text = re.sub(r'target datalayout = ".*"', f'target datalayout = "{target.target_data}"', text)
    module = binding.parse_assembly(text)
    options = binding.create_pipeline_tuning_options(speed_level=3)
    options.loop_vectorization = True
    passes = binding.create_pass_builder(target, options)
    passes.getModulePassManager().run(module, passes)
    return str(target.emit_assembly(module))


def main() -> None:
    """Print a line per primitive: its name, the count, and whether the loop calls."""
    target = machine()
    for name in sys.argv[1:]:
        blocks = re.split(r"\n(?=\.LBB)", assembly(name, target))
        longest = max(blocks, key=lambda block: len(PACKED.findall(block)))
        calls = bool(re.search(r"\sblr?\s", longest))
        print(name, len(PACKED.findall(longest)), calls)


if __name__ == "__main__":
    main()
