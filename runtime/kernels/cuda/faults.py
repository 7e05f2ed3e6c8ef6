"""What a kernel saw and cannot compute with: indices outside, targets that are no class, weights.

A kernel stops for none of them: what is outside reads as zero and is not written. It notes the
first one in a record of the host's memory, where whoever waits next finds it and raises.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function

RECORDS = 256
"""How many operators of a device have a record. A word of all comes before the next word of all."""
WORDS = 3
"""Of a record: what kind of fault, what was seen, how many there are."""
INDEX, TARGET, PROBABILITY, WEIGHTS, RATE, PLACE = 1, 2, 3, 4, 5, 6
"""Kinds of faults; 0 is none. A place is an index of which nobody says what it is."""


@device_function
def note(record, kind, seen, size):
    """Fill a record that is empty. Of several threads any one may win: each saw a fault."""
    if record[0] == 0:
        record[RECORDS] = np.int64(seen)
        record[2 * RECORDS] = np.int64(size)
        cuda.threadfence_system()  # the host may look at any time: what it sees is whole
        record[0] = np.int64(kind)
