"""cuFFT as far as the library calls it: batches of contiguous transforms, by NumPy."""

from __future__ import annotations

from collections.abc import Sequence
from math import prod

import numpy as np

from tests.cuda.standin_memory import NUMPY_TYPES, StandIn

MOST_OF_A_BATCH = 1 << 40
INVALID_SIZE = 8
"""cufftResult."""


class StandInCufft(StandIn):
    """`nvmath.bindings.cufft`."""

    def create(self) -> int:
        self.makes()
        return self.made("plan", device=self.driver.entered, allocates=True)

    def destroy(self, plan: int) -> None:
        self.of_kind(plan, "plan")
        del self.objects[plan]

    def set_auto_allocation(self, plan: int, auto_allocate: int) -> None:
        self.of_kind(plan, "plan").allocates = bool(auto_allocate)

    def set_stream(self, plan: int, stream: int) -> None:
        self.of_kind(plan, "plan").stream = stream

    def set_work_area(self, plan: int, work_area: int) -> None:
        own = self.of_kind(plan, "plan")
        self.driver.bytes_of(own.device, work_area, own.work)

    def xt_make_plan_many(
        self, plan: int, rank: int, n: Sequence[int], inembed: int, istride: int, idist: int,
        inputtype: int, onembed: int, ostride: int, odist: int, outputtype: int, batch: int,
        executiontype: int,
    ) -> int:  # fmt: skip
        self.makes()
        own = self.of_kind(plan, "plan")
        assert not own.allocates and rank == len(n) <= 3 and batch > 0 and min(n) > 0
        if batch > MOST_OF_A_BATCH:
            raise self.Failure(INVALID_SIZE)
        assert (inembed, onembed) == (0, 0)
        own.sizes, own.batch, own.work = tuple(n), batch, 96
        own.source, own.result = NUMPY_TYPES[inputtype], NUMPY_TYPES[outputtype]
        assert NUMPY_TYPES[executiontype] == max(
            own.source, own.result, key=lambda t: t.kind == "c"
        )
        self.calls.append(("plan", own.sizes, batch))
        return 96

    def xt_exec(self, plan: int, input: int, output: int, direction: int) -> None:
        own = self.of_kind(plan, "plan")
        assert own.device == self.driver.entered and input != output
        for place, dtype in ((input, own.source), (output, own.result)):
            size = dtype.itemsize * (1 if dtype.kind == "c" else 2)
            assert place % size == 0, "memory is not aligned like complex numbers"
        half = (*own.sizes[:-1], own.sizes[-1] // 2 + 1)
        is_real = [each.kind == "f" for each in (own.source, own.result)]
        given = self._batch(own, input, own.source, half if is_real[1] else own.sizes)
        result = self._batch(own, output, own.result, half if is_real[0] else own.sizes)
        axes = tuple(range(1, 1 + len(own.sizes)))
        points = prod(own.sizes)
        assert direction == (1 if is_real[1] else -1) or not any(is_real)

        def work() -> None:
            assert self.objects.get(plan) is own, "the plan was destroyed"
            if is_real[0]:
                result[...] = np.fft.rfftn(given, axes=axes)
            elif is_real[1]:
                result[...] = np.fft.irfftn(given, own.sizes, axes) * points
                given[...] = np.nan  # what the library leaves there
            elif direction < 0:
                result[...] = np.fft.fftn(given, axes=axes)
            else:
                result[...] = np.fft.ifftn(given, axes=axes) * points

        self.driver.do(work)
        self.calls.append(("exec", direction, own.stream))

    def _batch(
        self, own: object, address: int, dtype: np.dtype, sizes: tuple[int, ...]
    ) -> np.ndarray:
        whole = (own.batch, *sizes)
        flat = self.elements(address, dtype, (prod(whole),), (1,))
        return flat.reshape(whole)
