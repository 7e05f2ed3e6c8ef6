"""PyTorch's table of operators through both libraries: samples, forms, out=, gradients, errors.

The default tier takes the first sample of some entries in two dtypes; `-m full` takes all samples
of all entries in all dtypes. `python -m tests.parity.op_db NAME` shows what an entry's faults are.
"""

from __future__ import annotations

import zlib

import pytest

pytest.importorskip("torch")

from tests.parity.op_db import first_release, gaps, running, sparse, writes
from tests.parity.op_db.catalogue import ENTRIES, Entry

SLICE = 16
"""The default tier takes one entry of so many: what the others need compiled takes too long."""


def is_in_slice(entry: Entry) -> bool:
    """Whether the default tier takes an entry, the same ones in every run."""
    return zlib.crc32(str(entry).encode()) % SLICE == 0


@pytest.mark.parametrize("entry", [each for each in ENTRIES if is_in_slice(each)], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_first_sample(entry: Entry) -> None:
    known = gaps.gaps_of(str(entry))
    for dtype in {"float32", "int64"}.intersection(entry.dtypes()):
        for check, message in running.quick_faults(entry, dtype):
            assert any(gaps.covers(gap, check, dtype) for gap in known), (dtype, check, message)


@pytest.mark.parametrize("entry", [each for each in ENTRIES if is_in_slice(each)], ids=str)
@pytest.mark.filterwarnings("ignore")
def test_writes_before_backward(entry: Entry) -> None:
    known = gaps.gaps_of(str(entry))
    for check, message in running.write_faults(entry, writes.DTYPE, most=2):
        assert any(gaps.covers(gap, check) for gap in known), (check, message)


@pytest.mark.full
@pytest.mark.parametrize("entry", ENTRIES, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_every_sample(entry: Entry) -> None:
    known = gaps.gaps_of(str(entry))
    found = [
        (check, dtype, message)
        for dtype in entry.dtypes()
        for check, message in running.faults(entry, dtype)
    ]
    unknown = [each for each in found if not any(gaps.covers(gap, *each[:2]) for gap in known)]
    assert not unknown, "\n".join(" ".join(each) for each in unknown[:20])
    for gap in known:
        assert any(gaps.covers(gap, *each[:2]) for each in found), f"mended: {gap.reason}"


def test_the_first_release_names_entries() -> None:
    assert not first_release.NAMES - {entry.info.name for entry in ENTRIES}


def test_gaps_name_entries() -> None:
    names = {str(entry) for entry in ENTRIES}
    for gap in gaps.GAPS:
        assert not set(gap.entries.split()) - names, gap


@pytest.mark.parametrize("entry", sparse.SLICE, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_sparse_operands(entry: sparse.SparseEntry) -> None:
    found = list(sparse.faults(entry, "float32", most=2))
    assert not found, "\n".join(map(" ".join, found))


@pytest.mark.full
@pytest.mark.parametrize("entry", sparse.ENTRIES, ids=str)
@pytest.mark.filterwarnings("ignore")
def test_all_sparse_operands(entry: sparse.SparseEntry) -> None:
    found = [each for dtype in entry.dtypes() for each in sparse.faults(entry, dtype)]
    assert not found, "\n".join(map(" ".join, found[:20]))
