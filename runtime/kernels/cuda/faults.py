"""What a kernel saw and cannot compute with: indices outside, targets that are no class, rates.

A kernel stops for none of them: what is outside reads as zero and is not written. It notes the
first one in a record of the host's memory, where whoever waits next finds it and raises.
"""

from __future__ import annotations

from torchgen_out._runtime.kernels.cuda.compiling.typed import device_function

RECORDS = 256
"""How many operators of a device have a record. A word of all comes before the next word of all."""
WORDS = 4
"""Of a record: what kind of fault, what was seen, how many there are; how many threads came."""
INDEX, TARGET, PROBABILITY, RATE, SAID = 1, 2, 3, 4, 5
"""Kinds of faults; 0 is none. From SAID on, each kind has a sentence that came with its kernel."""

OUTSIDE = "index {seen} is out of bounds for a dimension with size {size}"
OUTSIDE_ASKED = OUTSIDE + " ({asked})"
"""Of an index program: what it asked of the place."""

_sentences: list[str] = []
_numbers: dict[tuple[str, ...], int] = {}


def first_number(asked: tuple[str, ...], sentence: str = OUTSIDE_ASKED) -> int:
    """The kind of fault that the first of these is, which the others follow."""
    if asked not in _numbers:
        _numbers[asked] = SAID + len(_sentences)
        _sentences.extend([sentence.replace("{asked}", each) for each in asked])
    return _numbers[asked]


def sentence_of(kind: int) -> str:
    """What is told of a fault whose sentence came with its kernel."""
    return _sentences[kind - SAID]


@device_function
def note(record, kind, seen, size):
    """Fill a record that is empty: the first of several threads does, the others go on."""
    if record[0] == 0 and atomic_add(record, 3 * RECORDS, np.int64(1)) == 0:
        record[RECORDS] = np.int64(seen)
        record[2 * RECORDS] = np.int64(size)
        cuda.threadfence_system()  # the host may look at any time: what it sees is whole
        record[0] = np.int64(kind)
