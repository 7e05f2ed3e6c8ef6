"""Kernels are compiled by a leaner Numba; everyone else's functions by Numba as it is."""

from __future__ import annotations

import numba
import numpy as np
import pytest
from numba.core import codegen, cpu, ir, targetconfig
from numba.np import arrayobj

from torchgen_out._runtime.kernels import build, lean_compiler
from torchgen_out._runtime.kernels.compiler import numba_rules, values
from torchgen_out._runtime.kernels.machine import compiler, compiling, packs

PARTS = (
    build.HEADER.format(title="Calls a part, and a function of Numba's.")
    + """
@inner
def part(x):
    made = np.zeros(3, x.dtype)
    made[:] = x
    return made * 2


@entry
def kernel(x):
    return part(x)[1] + np.empty(4)[:0].size
"""
)
REQUEST = compiling.request_of("parts", PARTS, "kernel", ["float64[1C]"])


def _originals() -> list[object]:
    places = [
        (codegen.CPUCodeLibrary, "finalize"),
        (cpu.CPUContext, "get_executable"),
        (arrayobj, "raise_with_shape_context"),
        (ir.Inst, "_rec_list_vars"),
        (targetconfig.TargetConfig, "__hash__"),
        (targetconfig.TargetConfig, "values"),
    ]
    return [vars(owner)[name] for owner, name in places]


def test_every_replacement_fits_this_numba() -> None:
    assert len(lean_compiler._replacements()) == len(_originals())


def test_only_what_python_calls_becomes_machine_code() -> None:
    before = _originals()
    entry = packs.decoded(compiler.answered(REQUEST))
    assert list(entry.image.entries) == ["torchgen_run"]
    assert len(entry.image.code) < 16_000
    assert _originals() == before
    assert build.load_text("parts", PARTS).kernel(np.array([1.0, 2.0, 3.0])) == 4.0


def test_another_release_of_numba_compiles_what_the_walk_leaves(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """Only the walk's questions are of a known one."""
    monkeypatch.setattr(numba_rules, "KNOWN_NUMBA", "0.0.")
    numba_rules.numba.cache_clear()
    try:
        with pytest.raises(values.Unsupported):
            numba_rules.numba()
        assert packs.decoded(compiler.answered(REQUEST)).about["returns"] == ["float64"]
    finally:
        numba_rules.numba.cache_clear()


def test_the_users_functions_are_compiled_by_numba_as_it_is() -> None:
    compiler.answered(REQUEST)

    @numba.njit
    def users(x: np.ndarray, size: int) -> np.ndarray:
        made = np.zeros(size, x.dtype)
        made[:] = x
        return made * 2

    assert users(np.array([1.0, 2.0]), 2).tolist() == [2.0, 4.0]
    with pytest.raises(ValueError, match=r"cannot assign slice .*shape \(\d,\)"):
        users(np.array([1.0, 2.0]), 4)


def test_a_kernels_error_is_an_error() -> None:
    with pytest.raises(ValueError, match="different size"):
        build.load_text("parts", PARTS).kernel(np.array([1.0, 2.0]))
