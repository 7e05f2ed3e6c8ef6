"""What tests of this folder ask of the machine."""

from __future__ import annotations

import pytest

from tests.distributed import jobs

needs_mpi = pytest.mark.skipif(not jobs.MPIEXEC, reason="there is no MPI: pip install .[mpi]")
