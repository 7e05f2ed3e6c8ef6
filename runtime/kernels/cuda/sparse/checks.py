"""What is wrong with compressed indices, on CUDA."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_kernel, run_elements
from torchgen_out._runtime.kernels.cuda.queue import Array, Queue, contiguous


def line_faults(queue: Queue, faults: Array, compressed: Array, plain: Array, across: int) -> None:
    """Which rules of compressed indices are broken, one number each, 0 or 1.

    0: the first line begins at 0; 1: the last ends with the entries; 2: none ends before it begins;
    3: none has more than `across`; 4: plain indices are in [0, across); 5: they ascend along each
    line, told if 0 to 2 hold.
    """
    queue.fill(faults, 0)
    given = [contiguous(queue, each) for each in (compressed, plain)]
    edges, count = compressed.sizes[-1], plain.sizes[-1]
    numbers = edges, count, across
    for kernel, n in ((find_edges, compressed.numel), (find_places, plain.numel)):
        run_elements(queue, kernel, n, faults, *given, n, *numbers)
    run_elements(queue, answer, 1, faults)


@device_kernel("int64* X* X*", "I I I int64")
def find_edges(faults, compressed, plain, n, edges, count, across):
    """A thread owns edges at the distance of the grid; faults are counted."""
    item = I(cuda.grid(1))
    while item < n:
        at = I(item - divided(item, edges) * edges)
        begin = np.int64(compressed[item])
        if at == 0 and begin != 0:
            atomic_add(faults, np.int64(0), np.int64(1))
        if at == edges - 1:
            if begin != count:
                atomic_add(faults, np.int64(1), np.int64(1))
        else:
            length = np.int64(compressed[I(item + 1)]) - begin
            if length < 0:
                atomic_add(faults, np.int64(2), np.int64(1))
            if length > across:
                atomic_add(faults, np.int64(3), np.int64(1))
        item = I(item + cuda.gridsize(1))


@device_kernel("int64* X* X*", "I I I int64")
def find_places(faults, compressed, plain, n, edges, count, across):
    """A thread owns plain indices at the distance of the grid. One that is no more than the one
    before has to begin a line, which it is looked for among."""
    item = I(cuda.grid(1))
    while item < n:
        place = np.int64(plain[item])
        if place < 0 or place >= across:
            atomic_add(faults, np.int64(4), np.int64(1))
        matrix = divided(item, count)
        at = I(item - matrix * count)
        if at > 0 and place <= np.int64(plain[I(item - 1)]):
            low, high = I(0), edges
            while low < high:
                middle = I((low + high) // 2)
                if np.int64(compressed[I(matrix * edges + middle)]) < at:
                    low = I(middle + 1)
                else:
                    high = middle
            if low == edges or np.int64(compressed[I(matrix * edges + low)]) != at:
                atomic_add(faults, np.int64(5), np.int64(1))
        item = I(item + cuda.gridsize(1))


@device_kernel("int64*", "")
def answer(faults):
    """The first thread says whether rules were broken, not how often; the last one where lines are
    in order only."""
    if cuda.grid(1) == 0:
        if faults[0] + faults[1] + faults[2] > 0:
            faults[5] = np.int64(0)
        for i in range(6):
            faults[i] = min(faults[i], np.int64(1))
