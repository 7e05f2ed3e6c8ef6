"""The best few of each row in one scan."""

from __future__ import annotations

from torchgen_out._runtime.kernels.build import kernel

LANES = 32  # elements compared with the threshold at once
HEAP_SHARE = 16  # `topk` keeps a heap while k is below this part of the row, else it sorts


@kernel
def top_of_rows(values, indices, rows, largest):
    """Scan each row with a heap of the best k: the worst of them, at the root, is the threshold.

    Few elements pass the threshold, so a scan costs a comparison per element.
    """
    k = values.shape[1]
    for row in range(rows.shape[0]):
        heap, places = values[row], indices[row]
        for i in range(k):
            heap[i] = rows[row, i]
            places[i] = i
        for root in range(k // 2 - 1, -1, -1):
            _sift_down(heap, places, root, k, largest)
        start = k
        while start < rows.shape[1]:
            start = _next_candidate(rows[row], start, heap[0], largest)
            if start < rows.shape[1]:
                value = rows[row, start]
                if _is_better(value, start, heap[0], places[0], largest):
                    heap[0] = value
                    places[0] = start
                    _sift_down(heap, places, 0, k, largest)
                start += 1
        for stop in range(k - 1, 0, -1):
            heap[0], heap[stop] = heap[stop], heap[0]
            places[0], places[stop] = places[stop], places[0]
            _sift_down(heap, places, 0, stop, largest)


@kernel
def _next_candidate(row, start, worst, largest):
    """The next place whose value may be better; blocks without one are passed over whole."""
    n = row.size
    while start + LANES <= n:
        block = row[start : start + LANES]
        found = False
        if largest:
            for lane in range(LANES):
                found |= not block[lane] <= worst
        else:
            for lane in range(LANES):
                found |= not block[lane] >= worst
        if found:
            break
        start += LANES
    while start < n:
        value = row[start]
        if (not value <= worst) if largest else (not value >= worst):
            break
        start += 1
    return start


@kernel
def _sift_down(heap, places, root, count, largest):
    """Restore the order below `root`: a parent is worse than its children."""
    while True:
        child = 2 * root + 1
        if child >= count:
            return
        other = child + 1
        if other < count and _is_better(
            heap[child], places[child], heap[other], places[other], largest
        ):
            child = other
        if not _is_better(heap[root], places[root], heap[child], places[child], largest):
            return
        heap[root], heap[child] = heap[child], heap[root]
        places[root], places[child] = places[child], places[root]
        root = child


@kernel
def _is_better(a, place_a, b, place_b, largest):
    """Whether a comes before b: by value, NaN as the greatest, then by place."""
    if a == b or (a != a and b != b):
        return place_a < place_b
    if largest:
        return a > b or a != a
    return a < b or b != b
