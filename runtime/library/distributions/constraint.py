"""What a set of values is, and sets that depend on other values or sets."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from torchgen_out._runtime.core import public
from torchgen_out._runtime.core.tensor import Tensor


class Constraint:
    """A set of values."""

    is_discrete = False
    event_dim = 0
    """How many of the last dims make one value."""

    _bounds: tuple[str, ...] = ()
    """The attributes that its `repr` shows."""

    def check(self, value: Tensor) -> Tensor:
        """Whether each value is in the set.

        Shape: (*B, *event) -> (*B), bool.
        """
        raise NotImplementedError(f"{type(self).__name__} does not say what belongs to it")

    def __repr__(self) -> str:
        shown = ", ".join(f"{name}={getattr(self, name)}" for name in self._bounds)
        return f"{type(self).__name__.lstrip('_')}({shown})"


class _Dependent(Constraint):
    """A set that depends on other values; it cannot be checked by itself."""

    def __init__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> None:
        self._is_discrete = is_discrete
        self._event_dim = event_dim

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # found out when it is asked
        """Whether the values are discrete."""
        if self._is_discrete is NotImplemented:
            raise NotImplementedError(".is_discrete cannot be determined statically")
        is_discrete: bool = self._is_discrete
        return is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # found out when it is asked
        """How many of the last dims make one value."""
        if self._event_dim is NotImplemented:
            raise NotImplementedError(".event_dim cannot be determined statically")
        event_dim: int = self._event_dim
        return event_dim

    def __call__(
        self, *, is_discrete: Any = NotImplemented, event_dim: Any = NotImplemented
    ) -> Any:
        """The same with these facts told."""
        return _Dependent(
            is_discrete=self._is_discrete if is_discrete is NotImplemented else is_discrete,
            event_dim=self._event_dim if event_dim is NotImplemented else event_dim,
        )

    def check(self, value: Tensor) -> Tensor:
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

    def __init__(self, base_constraint: Constraint, reinterpreted_batch_ndims: int) -> None:
        self.base_constraint = base_constraint
        self.reinterpreted_batch_ndims = reinterpreted_batch_ndims

    def __repr__(self) -> str:
        name = type(self).__name__.lstrip("_")
        return f"{name}({self.base_constraint!r}, {self.reinterpreted_batch_ndims})"

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # found out when it is asked
        """Whether the values are discrete."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # found out when it is asked
        """How many of the last dims make one value."""
        return self.base_constraint.event_dim + self.reinterpreted_batch_ndims

    def check(self, value: Tensor) -> Tensor:
        valid = self.base_constraint.check(value)
        ndim = self.reinterpreted_batch_ndims
        if valid.dim() < ndim:
            raise ValueError(f"Expected value.dim() >= {self.event_dim} but got {value.dim()}")
        return valid.flatten(-ndim).all(-1) if ndim else valid


class MixtureSameFamilyConstraint(Constraint):
    """The values that a component of a mixture takes, without the mixture's own dim."""

    def __init__(self, base_constraint: Constraint) -> None:
        self.base_constraint = base_constraint

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.base_constraint!r})"

    @property
    def is_discrete(self) -> bool:  # type: ignore[override]  # found out when it is asked
        """Whether the values are discrete."""
        return self.base_constraint.is_discrete

    @property
    def event_dim(self) -> int:  # type: ignore[override]  # found out when it is asked
        """How many of the last dims make one value."""
        return self.base_constraint.event_dim

    def check(self, value: Tensor) -> Tensor:
        valid = self.base_constraint.check(value.unsqueeze(-1 - self.event_dim))
        ndim = value.dim() - self.event_dim
        return valid.flatten(ndim).all(-1) if valid.dim() > ndim else valid


public.place(
    "distributions.constraints",
    Constraint,
    MixtureSameFamilyConstraint,
    _Dependent,
    _DependentProperty,
    _IndependentConstraint,
)
