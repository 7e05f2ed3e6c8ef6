"""Sets of values: what a parameter may be, and where a distribution has its mass."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import torchgen_out as torch

__all__ = [
    "Constraint",
    "MixtureSameFamilyConstraint",
    "boolean",
    "cat",
    "corr_cholesky",
    "dependent",
    "dependent_property",
    "greater_than",
    "greater_than_eq",
    "half_open_interval",
    "independent",
    "integer_interval",
    "interval",
    "is_dependent",
    "less_than",
    "lower_cholesky",
    "lower_triangular",
    "multinomial",
    "nonnegative",
    "nonnegative_integer",
    "one_hot",
    "positive",
    "positive_definite",
    "positive_integer",
    "positive_semidefinite",
    "real",
    "real_vector",
    "simplex",
    "square",
    "stack",
    "symmetric",
    "unit_interval",
]


class Constraint:
    """A set of values."""

    is_discrete = False
    event_dim = 0
    """How many of the last dims make one value."""

    _bounds: tuple[str, ...] = ()
    """The attributes that its `repr` shows."""

    def check(self, value: Any) -> Any:
        """Whether each value is in the set.

        Shape: (*B, *event) -> (*B), bool.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what belongs to it")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._bounds)
        return f"{type(self).__name__.lstrip('_')}({shown})"


class _Dependent(Constraint):
    """A set that depends on other values; it cannot be checked by itself."""

    def __init__(self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented):
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> bool:
        """Whether the values are discrete."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        return self._is_discrete

    @property
    def event_dim(self) -> int:
        """How many of the last dims make one value."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        return self._event_dim

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> Any:
        """The same with these facts told."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Any) -> Any:
        raise ValueError("Cannot determine validity of dependent constraint")


class _DependentProperty(property, _Dependent):
    """A property that gives the set on an instance, and is a dependent set on the class."""

    def __init__(
        self,
        fn: Callable[[Any], Any] | None = None,
        *,
        is_discrete: Any = NotImplemented,
        event_dim: Any = NotImplemented,
    ) -> None:
        property.__init__(self, fn)
        _Dependent.__init__(self, is_discrete=is_discrete, event_dim=event_dim)

    def __call__(self, fn: Callable[[Any], Any]) -> Any:  # type: ignore[override]
        """Decorate: `@dependent_property(event_dim=1)`."""
        return type(self)(fn, is_discrete=self._is_discrete, event_dim=self._event_dim)


def is_dependent(constraint: Any) -> bool:
    """Whether a set depends on other values."""
    return isinstance(constraint, _Dependent)


class _IndependentConstraint(Constraint):
    """Values whose last dims are all in a set."""

    _bounds = ("base_constraint", "reinterpreted_batch_ndims")

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    @property
    def is_discrete(self) -> bool:
        """Whether the values are discrete."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        """How many of the last dims make one value."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Any) -> Any:
        valid = self.base_constraint.check(value)
        ndim = self.reinterpreted_batch_ndims
        if valid.dim() < ndim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return valid.flatten(-ndim).all(-1) if ndim else valid


class MixtureSameFamilyConstraint(Constraint):
    """The values that a component of a mixture takes, without the mixture's own dim."""

    _bounds = ("base_constraint",)

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    @property
    def is_discrete(self) -> bool:
        """Whether the values are discrete."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:
        """How many of the last dims make one value."""
        return self.base_constraint.event_dim

    def check(self, value: Any) -> Any:
        valid = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        ndim = value.dim() - self.event_dim
        return valid.flatten(ndim).all(-1) if valid.dim() > ndim else valid


class _Boolean(Constraint):
    """0 and 1."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value == 0) | (value == 1)


class _OneHot(Constraint):
    """Vectors of zeros with a single 1."""

    is_discrete = True
    event_dim = 1

    def check(self, value: Any) -> Any:
        return ((value == 0) | (value == 1)).all(-1) & value.sum(-1).eq(1)


class _Real(Constraint):
    """Every number but nan."""

    def check(self, value: Any) -> Any:
        return value == value


class _GreaterThan(Constraint):
    """Above a bound."""

    _bounds = ("lower_bound",)

    def __init__(self, lower_bound: Any) -> None:
        self.lower_bound = lower_bound

    def check(self, value: Any) -> Any:
        return value > self.lower_bound


class _GreaterThanEq(_GreaterThan):
    """A bound and above."""

    def check(self, value: Any) -> Any:
        return value >= self.lower_bound


class _LessThan(Constraint):
    """Below a bound."""

    _bounds = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return value < self.upper_bound


class _Interval(Constraint):
    """From a bound to another, with both."""

    _bounds = ("lower_bound", "upper_bound")

    def __init__(self, lower_bound: Any, upper_bound: Any) -> None:
        self.lower_bound = lower_bound
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value <= self.upper_bound)


class _HalfOpenInterval(_Interval):
    """From a bound to another, without the upper one."""

    def check(self, value: Any) -> Any:
        return (value >= self.lower_bound) & (value < self.upper_bound)


class _IntegerInterval(_Interval):
    """Integers from a bound to another, with both."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class _IntegerLessThan(_LessThan):
    """Integers up to a bound, with it."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & (value <= self.upper_bound)


class _IntegerGreaterThan(_GreaterThanEq):
    """Integers from a bound on, with it."""

    is_discrete = True

    def check(self, value: Any) -> Any:
        return (value % 1 == 0) & super().check(value)


class _Simplex(Constraint):
    """Vectors of weights that are at least 0 and sum to 1, to 1e-6."""

    event_dim = 1

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & ((value.sum(-1) - 1).abs() < 1e-6)


class _Multinomial(Constraint):
    """Vectors of counts that sum to at most a bound."""

    is_discrete = True
    event_dim = 1
    _bounds = ("upper_bound",)

    def __init__(self, upper_bound: Any) -> None:
        self.upper_bound = upper_bound

    def check(self, value: Any) -> Any:
        return (value >= 0).all(-1) & (value.sum(-1) <= self.upper_bound)


class _LowerTriangular(Constraint):
    """Matrices of zeros above the diagonal."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        return (value.tril() == value).flatten(-2).all(-1)


class _LowerCholesky(_LowerTriangular):
    """Lower triangular matrices with a positive diagonal."""

    def check(self, value: Any) -> Any:
        return super().check(value) & (value.diagonal(dim1=-2, dim2=-1) > 0).all(-1)


class _CorrCholesky(_LowerCholesky):
    """Cholesky factors of correlations: their rows have length 1."""

    def check(self, value: Any) -> Any:
        room = torch.finfo(value.dtype).eps * value.size(-1) * 10
        lengths = torch.linalg.vector_norm(value.detach(), dim=-1)
        return super().check(value) & ((lengths - 1).abs() < room).all(-1)


class _Square(Constraint):
    """Matrices with as many rows as columns."""

    event_dim = 2

    def check(self, value: Any) -> Any:
        is_square = value.shape[-2] == value.shape[-1]
        return torch.full(value.shape[:-2], is_square, dtype=torch.bool, device=value.device)


class _Symmetric(_Square):
    """Matrices that equal their transposes, to 1e-6."""

    def check(self, value: Any) -> Any:
        square = super().check(value)
        if not square.all():
            return square
        return torch.isclose(value, value.mT, atol=1e-6).flatten(-2).all(-1)


class _PositiveSemidefinite(_Symmetric):
    """Symmetric matrices without a negative eigenvalue."""

    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return (torch.linalg.eigvalsh(value) >= 0).all(-1)


class _PositiveDefinite(_Symmetric):
    """Symmetric matrices that have a Cholesky factor."""

    def check(self, value: Any) -> Any:
        symmetric = super().check(value)
        if not symmetric.all():
            return symmetric
        return torch.linalg.cholesky_ex(value).info == 0


class _Pieces(Constraint):
    """Several sets, side by side along a dim."""

    def __init__(self, cseq: Sequence[Constraint], dim: int = 0) -> None:
        self.cseq = list(cseq)
        self.dim = dim

    @property
    def is_discrete(self) -> bool:
        """Whether the values of any piece are discrete."""
        return any(piece.is_discrete for piece in self.cseq)

    @property
    def event_dim(self) -> int:
        """How many of the last dims make one value."""
        return max(piece.event_dim for piece in self.cseq)


class _Cat(_Pieces):
    """Pieces of some lengths, as `torch.cat` puts them together."""

    def __init__(
        self, cseq: Sequence[Constraint], dim: int = 0, lengths: Sequence[int] | None = None
    ) -> None:
        super().__init__(cseq, dim)
        self.lengths = [1] * len(self.cseq) if lengths is None else list(lengths)

    def check(self, value: Any) -> Any:
        parts = value.split(self.lengths, self.dim)
        return torch.cat([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


class _Stack(_Pieces):
    """Pieces as `torch.stack` puts them together."""

    def check(self, value: Any) -> Any:
        parts = value.unbind(self.dim)
        return torch.stack([c.check(v) for c, v in zip(self.cseq, parts, strict=True)], self.dim)


dependent = _Dependent()
dependent_property = _DependentProperty
independent = _IndependentConstraint
boolean = _Boolean()
one_hot = _OneHot()
nonnegative_integer = _IntegerGreaterThan(0)
positive_integer = _IntegerGreaterThan(1)
integer_interval = _IntegerInterval
real = _Real()
real_vector = independent(real, 1)
positive = _GreaterThan(0.0)
nonnegative = _GreaterThanEq(0.0)
greater_than = _GreaterThan
greater_than_eq = _GreaterThanEq
less_than = _LessThan
multinomial = _Multinomial
unit_interval = _Interval(0.0, 1.0)
interval = _Interval
half_open_interval = _HalfOpenInterval
simplex = _Simplex()
lower_triangular = _LowerTriangular()
lower_cholesky = _LowerCholesky()
corr_cholesky = _CorrCholesky()
square = _Square()
symmetric = _Symmetric()
positive_semidefinite = _PositiveSemidefinite()
positive_definite = _PositiveDefinite()
cat = _Cat
stack = _Stack
