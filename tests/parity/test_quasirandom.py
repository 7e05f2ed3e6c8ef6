"""Points of Sobol's sequence are PyTorch's, bit by bit."""

from __future__ import annotations

import numpy as np
import pytest

import torchgen_out

torch = pytest.importorskip("torch")


@pytest.mark.parametrize("dimension", [1, 3, 37, 1111])
@pytest.mark.parametrize("scramble", [False, True])
def test_points(dimension: int, scramble: bool, monkeypatch: pytest.MonkeyPatch) -> None:
    """Scrambled ones from the same random numbers: the libraries' streams differ."""
    drawn = torch.Generator()
    drawn.manual_seed(11)

    def randint(high: int, size: tuple[int, ...], generator: object) -> object:
        return torchgen_out.tensor(torch.randint(high, size, generator=drawn).numpy())

    monkeypatch.setattr(torchgen_out, "randint", randint)
    theirs, ours = (
        library.quasirandom.SobolEngine(dimension, scramble=scramble, seed=11)
        for library in (torch, torchgen_out)
    )
    assert repr(ours) == repr(theirs)
    for n in (1, 1, 5, 9):
        np.testing.assert_array_equal(ours.draw(n).numpy(), theirs.draw(n).numpy())
        np.testing.assert_array_equal(ours.quasi.numpy(), theirs.quasi.numpy())
    np.testing.assert_array_equal(ours.shift.numpy(), theirs.shift.numpy())
    np.testing.assert_array_equal(ours.sobolstate.numpy(), theirs.sobolstate.numpy())
    for engine, library in ((theirs, torch), (ours, torchgen_out)):
        engine.fast_forward(1000)
        engine.last = engine.draw(3, dtype=library.float64)
        engine.again = engine.reset().draw_base2(4, out=library.empty(0))
    np.testing.assert_array_equal(ours.last.numpy(), theirs.last.numpy())
    np.testing.assert_array_equal(ours.again.numpy(), theirs.again.numpy())
    assert ours.num_generated == theirs.num_generated


@pytest.mark.parametrize("library", [torch, torchgen_out])
def test_refusals(library: object) -> None:
    engine = library.quasirandom.SobolEngine
    for dimension in (0, 21202):
        with pytest.raises(ValueError, match="Supported range"):
            engine(dimension)
    made = engine(2)
    made.draw(3)
    with pytest.raises(ValueError, match="power of 2"):
        made.draw_base2(3)
