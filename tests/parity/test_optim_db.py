"""PyTorch's table of optimizers through both libraries: trajectories, states, errors, schedules.

The default tier takes the first options of each in float64, and all errors; `-m full` takes all
options in all dtypes, the exchange of states, gradients through steps, and schedules.
"""

from __future__ import annotations

import itertools

import pytest

pytest.importorskip("torch")

from tests.parity.op_db.gaps import covers
from tests.parity.optim_db import gaps, running

pytestmark = pytest.mark.filterwarnings("ignore")


@pytest.mark.parametrize("name", running.DENSE)
def test_first_options(name: str) -> None:
    known = gaps.gaps_of(name)
    for check, message in running.trajectory_faults(name, "float64", most=1):
        assert any(covers(gap, check) for gap in known), f"{check}: {message}"


@pytest.mark.parametrize("name", running.ENTRIES)
def test_errors(name: str) -> None:
    assert not list(running.refusal_faults(name))


@pytest.mark.parametrize("name", running.SPARSE)
def test_sparse_gradients(name: str) -> None:
    assert not list(running.sparse_faults(name))


@pytest.mark.full
@pytest.mark.parametrize("name", running.DENSE)
def test_all_options(name: str) -> None:
    known, found = gaps.gaps_of(name), list(running.faults(name))
    unknown = [each for each in found if not any(covers(gap, each.check) for gap in known)]
    assert not unknown, "\n".join(" ".join(each) for each in itertools.islice(unknown, 20))
    for gap in known:
        assert any(covers(gap, each.check) for each in found), f"mended: {gap.reason}"


def test_gaps_name_entries() -> None:
    for gap in gaps.GAPS:
        assert not set(gap.entries.split()) - set(running.ENTRIES), gap
