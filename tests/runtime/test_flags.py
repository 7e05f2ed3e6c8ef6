"""torch.backends: switches that users set are the ones that are read."""

from __future__ import annotations

import pytest

import torchgen_out as torch
import torchgen_out.backends.cudnn as cudnn
from torchgen_out._runtime.backends.flags import cudnn as switches


@pytest.fixture(autouse=True)
def as_before():
    before = switches.set_flags()
    yield
    vars(switches).update(zip(switches._NAMES, before, strict=True))


def test_what_is_set_is_what_is_read():
    cudnn.benchmark = True
    assert switches.benchmark and torch.backends.cudnn.benchmark
    torch.backends.cudnn.deterministic = True
    assert switches.deterministic


def test_blocks_restore_the_switches():
    with cudnn.flags(enabled=False, allow_tf32=False):
        assert not switches.enabled and not switches.allow_tf32
    assert switches.enabled and switches.allow_tf32
    assert switches.set_flags(_benchmark_limit=3)[2] == 10
    assert switches.benchmark_limit == 3


def test_what_there_is():
    assert not cudnn.is_available() and cudnn.version() is None
    assert not cudnn.is_acceptable(torch.ones(2))
    for library in (torch.backends.mkl, torch.backends.mkldnn, torch.backends.mps):
        assert not library.is_available()
    assert torch.backends.cuda.is_built() and not torch.backends.mps.is_built()


def test_precision_of_products():
    from torchgen_out._runtime.backends.flags import cuda as read

    assert torch.backends.cuda.matmul.allow_tf32 is False
    try:
        torch.backends.cuda.matmul.allow_tf32 = True
        assert read.matmul.allow_tf32
        with pytest.raises(AttributeError):
            torch.backends.cuda.matmul.allow_tf23 = True
    finally:
        torch.backends.cuda.matmul.allow_tf32 = False
