"""`torch.kl_div` and its kin, whose reductions are numbers; the switch of determinism."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

theirs = pytest.importorskip("torch")

import torchgen_out as ours  # noqa: E402

GENERATOR = np.random.default_rng(5)
A, B, C = (GENERATOR.uniform(0.1, 0.9, (4, 3, 5)) for _ in range(3))
SIGNS = np.sign(GENERATOR.standard_normal((4, 3, 5)))

CALLS: dict[str, Any] = {
    "kl_div": lambda lib, a, b, c, s, r: lib.kl_div(a, b, r, log_target=r == 2),
    "poisson_nll_loss": lambda lib, a, b, c, s, r: lib.poisson_nll_loss(a, b, True, True, 1e-8, r),
    "hinge_embedding_loss": lambda lib, a, b, c, s, r: lib.hinge_embedding_loss(a, s, 0.7, r),
    "margin_ranking_loss": lambda lib, a, b, c, s, r: lib.margin_ranking_loss(a, b, s, 0.1, r),
    "cosine_embedding_loss": lambda lib, a, b, c, s, r: lib.cosine_embedding_loss(
        a[0], b[0], s[0, :, 0], 0.1, r
    ),
    "triplet_margin_loss": lambda lib, a, b, c, s, r: lib.triplet_margin_loss(
        a, b, c, 0.5, 2.0, 1e-6, True, r
    ),
    "binary_cross_entropy_with_logits": lambda lib, a, b, c, s, r: (
        lib.binary_cross_entropy_with_logits(a, b, None, c, r)
    ),
    "batch_norm": lambda lib, a, b, c, s, r: lib.batch_norm(
        a, b[0, :, 0], c[0, :, 0], c[1, :, 0], b[1, :, 0], r == 1, 0.1, 1e-5, False
    ),
    "instance_norm": lambda lib, a, b, c, s, r: lib.instance_norm(
        a, b[0, :, 0], c[0, :, 0], c[1, :, 0], b[1, :, 0], r == 1, 0.1, 1e-5, False
    ),
}


@pytest.mark.parametrize("reduction", [0, 1, 2])
@pytest.mark.parametrize("name", CALLS)
def test_values(name: str, reduction: int) -> None:
    results = []
    for lib in (ours, theirs):
        tensors = [lib.from_numpy(each.copy()) for each in (A, B, C, SIGNS)]
        results.append(CALLS[name](lib, *tensors, reduction).numpy())
    np.testing.assert_allclose(results[0], results[1], rtol=1e-10, atol=1e-12)


def test_reductions_are_numbers() -> None:
    x = ours.from_numpy(A)
    with pytest.raises(ValueError, match="reduction must be 0, 1 or 2"):
        ours.kl_div(x, x, 3)


def test_determinism() -> None:
    for lib in (ours, theirs):
        try:
            assert not lib.are_deterministic_algorithms_enabled()
            lib.use_deterministic_algorithms(True, warn_only=True)
            assert lib.is_deterministic_algorithms_warn_only_enabled()
            assert lib.get_deterministic_debug_mode() == 1
            lib.set_deterministic_debug_mode("error")
            assert lib.are_deterministic_algorithms_enabled()
            for wrong, error in (("often", RuntimeError), (5, RuntimeError), (1.5, TypeError)):
                with pytest.raises(error):
                    lib.set_deterministic_debug_mode(wrong)
            with pytest.raises(TypeError):
                lib.use_deterministic_algorithms(1)
        finally:
            lib.use_deterministic_algorithms(False)
