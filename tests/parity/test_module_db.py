"""PyTorch's table of modules through both libraries: state, outputs, gradients, formats, errors.

The default tier takes the first construction of some modules in float32, and all errors; `-m full`
takes all constructions and inputs of all modules in both dtypes.
"""

from __future__ import annotations

import itertools
import zlib

import pytest

pytest.importorskip("torch")

from tests.parity.module_db import gaps, running
from tests.parity.op_db.gaps import covers

pytestmark = pytest.mark.filterwarnings("ignore")
SLICE = 4
"""The default tier takes one module of so many: what the others need compiled takes too long."""


def is_in_slice(name: str) -> bool:
    """Whether the default tier takes a module, the same ones in every run."""
    return zlib.crc32(name.encode()) % SLICE == 0


@pytest.mark.parametrize("name", [each for each in running.ENTRIES if is_in_slice(each)])
def test_first_construction(name: str) -> None:
    known = gaps.gaps_of(name)
    for check, message in running.faults(name, ["float32"], most=1):
        assert any(covers(gap, check) for gap in known), f"{check}: {message}"


@pytest.mark.parametrize(
    "name", [n for n, entry in running.ENTRIES.items() if entry.module_error_inputs_func]
)
def test_errors(name: str) -> None:
    assert not list(running.refusal_faults(name))


@pytest.mark.full
@pytest.mark.parametrize("name", running.ENTRIES)
def test_all_constructions(name: str) -> None:
    known, found = gaps.gaps_of(name), list(running.faults(name))
    unknown = [each for each in found if not any(covers(gap, each.check) for gap in known)]
    assert not unknown, "\n".join(" ".join(each) for each in itertools.islice(unknown, 20))
    for gap in known:
        assert any(covers(gap, each.check) for each in found), f"mended: {gap.reason}"


def test_gaps_name_entries() -> None:
    for gap in gaps.GAPS:
        assert not set(gap.entries.split()) - set(running.ENTRIES), gap
