"""Changes of variables against PyTorch's: values, inverses, determinants, shapes and registries."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch

import torchgen_out as t

REAL = np.random.default_rng(4).normal(size=(2, 6)) * 1.5
POSITIVE = np.abs(REAL) + 0.1
MATRICES = np.random.default_rng(5).normal(size=(2, 3, 3))

Make = Callable[[Any, Any], Any]

TRANSFORMS: dict[str, tuple[Make, np.ndarray]] = {
    "exp": (lambda d, v: d.ExpTransform(), REAL),
    "power": (lambda d, v: d.PowerTransform(v(-0.7)), POSITIVE),
    "sigmoid": (lambda d, v: d.SigmoidTransform(), REAL),
    "softplus": (lambda d, v: d.SoftplusTransform(), REAL),
    "tanh": (lambda d, v: d.TanhTransform(), REAL),
    "abs": (lambda d, v: d.AbsTransform(), REAL),
    "affine": (lambda d, v: d.AffineTransform(v([[1.0], [2.0]]), v(-0.5)), REAL),
    "affine_of_vectors": (lambda d, v: d.AffineTransform(0.5, -3.0, event_dim=1), REAL),
    "cdf": (lambda d, v: d.CumulativeDistributionTransform(d.Normal(v(0.5), v(2.0))), REAL),
    "softmax": (lambda d, v: d.SoftmaxTransform(), REAL),
    "stick_breaking": (lambda d, v: d.StickBreakingTransform(), REAL),
    "lower_cholesky": (lambda d, v: d.LowerCholeskyTransform(), MATRICES),
    "positive_definite": (lambda d, v: d.PositiveDefiniteTransform(), MATRICES),
    "corr_cholesky": (lambda d, v: d.CorrCholeskyTransform(), REAL),
    "reshape": (lambda d, v: d.ReshapeTransform((6,), (2, 3)), REAL),
    "independent": (lambda d, v: d.IndependentTransform(d.ExpTransform(), 1), REAL),
    "compose": (
        lambda d, v: d.ComposeTransform(
            [d.AffineTransform(v(0.5), v(2.0)), d.StickBreakingTransform()]
        ),
        REAL,
    ),
    "inverse": (lambda d, v: d.ExpTransform().inv, POSITIVE),
    "cat": (
        lambda d, v: d.CatTransform([d.ExpTransform(), d.TanhTransform()], -1, [2, 4]),
        REAL,
    ),
    "stack": (lambda d, v: d.StackTransform([d.ExpTransform(), d.TanhTransform()], 0), REAL),
    "identity": (lambda d, v: d.identity_transform, REAL),
}
"""Name -> how it is made of a library's distributions, and values of its domain."""


def both(name: str) -> list[tuple[Any, Any]]:
    """The transform and its values, in this library and in PyTorch."""
    make, values = TRANSFORMS[name]
    return [
        (make(lib.distributions, lambda x, lib=lib: lib.tensor(x, dtype=lib.float64)),
         lib.tensor(values))
        for lib in (t, torch)
    ]  # fmt: skip


def agree(ours: Any, theirs: Any) -> None:
    assert tuple(ours.shape) == tuple(theirs.shape)
    np.testing.assert_allclose(ours.numpy(), theirs.numpy(), rtol=1e-9, atol=1e-10)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_values(name: str) -> None:
    (ours, x), (theirs, other) = both(name)
    y, expected = ours(x), theirs(other)
    agree(y, expected)
    agree(ours.inv(y), theirs.inv(expected))
    assert tuple(ours.forward_shape(x.shape)) == tuple(y.shape)
    assert tuple(ours.inverse_shape(y.shape)) == tuple(x.shape)
    assert ours.bijective == theirs.bijective
    assert ours.domain.event_dim == theirs.domain.event_dim
    assert ours.codomain.event_dim == theirs.codomain.event_dim
    assert ours.codomain.check(y).all()


@pytest.mark.parametrize("name", TRANSFORMS)
def test_determinants(name: str) -> None:
    (ours, x), (theirs, other) = both(name)
    try:
        expected = theirs.log_abs_det_jacobian(other, theirs(other))
    except NotImplementedError:
        with pytest.raises(NotImplementedError):
            ours.log_abs_det_jacobian(x, ours(x))
        return
    agree(ours.log_abs_det_jacobian(x, ours(x)), expected)


@pytest.mark.parametrize("name", TRANSFORMS)
def test_cache_and_equality(name: str) -> None:
    (ours, x), _ = both(name)
    (again, _), _ = both(name)
    cached = ours.with_cache()
    assert cached.inv(cached(x)) is x or name in ("identity", "compose", "inverse")
    if name not in ("affine", "cdf", "power"):
        assert ours == again
    assert ours != t.distributions.PowerTransform(3.0)


CONSTRAINTS: dict[str, Make] = {
    "real": lambda c, v: c.real,
    "positive": lambda c, v: c.positive,
    "nonnegative": lambda c, v: c.nonnegative,
    "greater_than": lambda c, v: c.greater_than(v(1.5)),
    "greater_than_eq": lambda c, v: c.greater_than_eq(-2.0),
    "less_than": lambda c, v: c.less_than(1.5),
    "unit_interval": lambda c, v: c.unit_interval,
    "interval": lambda c, v: c.interval(-1.0, 3.0),
    "half_open_interval": lambda c, v: c.half_open_interval(v(-1.0), v(3.0)),
    "simplex": lambda c, v: c.simplex,
    "real_vector": lambda c, v: c.real_vector,
    "corr_cholesky": lambda c, v: c.corr_cholesky,
    "cat": lambda c, v: c.cat([c.real, c.positive], -1, [2, 4]),
    "stack": lambda c, v: c.stack([c.positive, c.unit_interval], 0),
    "lower_cholesky": lambda c, v: c.lower_cholesky,
    "positive_definite": lambda c, v: c.positive_definite,
}


@pytest.mark.parametrize("registry", ["biject_to", "transform_to"])
@pytest.mark.parametrize("name", CONSTRAINTS)
def test_registries(name: str, registry: str) -> None:
    """Unconstrained numbers go to the same place of the set, or nowhere in either library."""
    values = MATRICES if name in ("lower_cholesky", "positive_definite") else REAL
    found = []
    for lib in (t, torch):
        constraint = CONSTRAINTS[name](lib.distributions.constraints, lib.tensor)
        try:
            transform = getattr(lib.distributions, registry)(constraint)
        except NotImplementedError:
            found.append(None)
            continue
        y = transform(lib.tensor(values))
        assert constraint.check(y).all()
        found.append(y)
    if found[1] is None:
        assert found[0] is None
    else:
        agree(*found)


VALUES = {
    "boolean": [0.0, 1.0, 0.5],
    "one_hot": [[0.0, 1.0], [1.0, 1.0], [0.5, 0.5]],
    "nonnegative_integer": [-1.0, 0.0, 1.5, 3.0],
    "positive_integer": [-1.0, 0.0, 1.0, 3.5],
    "simplex": [[0.5, 0.5], [0.5, 0.6], [-0.5, 1.5]],
    "lower_triangular": [[[1.0, 0.0], [2.0, -1.0]], [[1.0, 1.0], [0.0, 1.0]]],
    "lower_cholesky": [[[1.0, 0.0], [2.0, -1.0]], [[1.0, 0.0], [5.0, 1.0]]],
    "corr_cholesky": [[[1.0, 0.0], [0.6, 0.8]], [[1.0, 0.0], [0.5, 0.8]]],
    "square": [[[1.0, 2.0], [0.0, 1.0]]],
    "symmetric": [[[1.0, 2.0], [2.0, 1.0]], [[1.0, 2.0], [0.0, 1.0]]],
    "positive_semidefinite": [[[1.0, 1.0], [1.0, 1.0]], [[1.0, 2.0], [2.0, 1.0]]],
    "positive_definite": [[[2.0, 1.0], [1.0, 2.0]], [[1.0, 2.0], [2.0, 1.0]]],
    "real": [float("nan"), float("inf"), 0.0],
}


@pytest.mark.parametrize("name", VALUES)
def test_sets(name: str) -> None:
    found = [
        getattr(lib.distributions.constraints, name).check(lib.tensor(VALUES[name]).double())
        for lib in (t, torch)
    ]
    assert found[0].tolist() == found[1].tolist()


def test_texts() -> None:
    texts = []
    for library in (torch, t):
        kinds = library.distributions
        exp, affine = kinds.ExpTransform(), kinds.AffineTransform(0, 2)
        made = [affine, exp.inv, kinds.ComposeTransform([exp, affine])]
        made += [kinds.IndependentTransform(exp, 1), kinds.StackTransform([exp])]
        texts.append(list(map(repr, made)))
    assert texts[0] == texts[1]
