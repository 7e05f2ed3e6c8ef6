"""Loops around formulas on the CPU: the flat way of dense operands, and launches from plans."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from torchgen_out._runtime.backends.common.output import Output
from torchgen_out._runtime.backends.cpu.memory import memory_of
from torchgen_out._runtime.core import dtype as dtypes
from torchgen_out._runtime.core.tensor import Tensor
from torchgen_out._runtime.dispatch.call_spec import NEW, UPDATE
from torchgen_out._runtime.kernels import plan as plans
from torchgen_out._runtime.kernels import threads
from torchgen_out._runtime.kernels.cpu import pool
from torchgen_out._runtime.kernels.cpu.loops.pointwise_launches import LoopKernels, Run, plan_loop


class CPULoops:
    """`LoopBackend` for the CPU: threads share what is long."""

    in_runs = has_flat_loops = True
    on_devices = False
    loops = LoopKernels

    def launch(
        self,
        loops: LoopKernels,
        plan: plans.PointwisePlan,
        tensors: Sequence[Tensor],
        mode: str,
        outputs: int,
    ) -> tuple[Run, int | None]:
        """The loop that suits the plan."""
        return plan_loop(loops, plan, outputs, mode == UPDATE)

    def output(self, spec: Any, tensors: Sequence[Tensor]) -> Output:
        """A new result."""
        return Output(spec, None, pool.maker)

    def hooks(
        self, loops: LoopKernels, mode: str, outputs: Sequence[dtypes.dtype]
    ) -> dict[str, Any]:
        """The flat loop, and the memory of small results and others."""
        made = [dtype.numpy for dtype in outputs if mode == NEW]
        small = [pool.LEAST_BYTES // dtype.itemsize for dtype in made]
        return {
            "memory_of": memory_of,
            "load": loops.inplace_kernel if mode == UPDATE else loops.flat_kernel,
            "run_flat": threads.run_flat if mode == UPDATE else loops.sharing(len(outputs)),
            "work": loops.work,
            "small": min([loops.serial_below, *small]),
            **{f"empty{i}": pool.maker(0, dtype) for i, dtype in enumerate(made)},
            **{f"pooled{i}": pool.any_size(dtype) for i, dtype in enumerate(made)},
        }


LOOPS = CPULoops()
