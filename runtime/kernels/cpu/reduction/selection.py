"""Counting how often each whole number occurs."""

from __future__ import annotations

from torchgen_out._runtime.kernels.cpu.indexing import listing_plans
from torchgen_out._runtime.kernels.cpu.planned import PlannedKernel

bincount = PlannedKernel(listing_plans.plan_bincount, results=0)
