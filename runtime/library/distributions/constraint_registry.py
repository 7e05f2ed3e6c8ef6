"""Maps of unconstrained numbers onto sets: `biject_to` one to one, `transform_to` freely."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar, overload

from torchgen_out._runtime.core import public
from torchgen_out._runtime.library.distributions import constraints, transforms

__all__ = ["ConstraintRegistry", "biject_to", "transform_to"]


Maker = TypeVar("Maker", bound=Callable[[Any], Any])


class ConstraintRegistry:
    """Makers of transforms by the class of a set; calling it makes one."""

    def __init__(self) -> None:
        self._makers: dict[type, Callable[[Any], Any]] = {}

    @overload
    def register(self, constraint: Any) -> Callable[[Maker], Maker]: ...
    @overload
    def register(self, constraint: Any, factory: Maker) -> Maker: ...
    def register(self, constraint: Any, factory: Callable[[Any], Any] | None = None) -> Any:
        """Make transforms onto `constraint`, a class or an instance of it, by `factory`.

        Without a factory it is a decorator of one.
        """
        if factory is None:
            return lambda factory: self.register(constraint, factory)
        kind = constraint if isinstance(constraint, type) else type(constraint)
        if not issubclass(kind, constraints.Constraint):
            raise TypeError(f"Expected constraint to be either a Constraint subclass or instance, "
                            f"but got {constraint}")  # fmt: skip
        self._makers[kind] = factory
        return factory

    def __call__(self, constraint: Any) -> Any:
        """A transform of unconstrained numbers onto `constraint`."""
        try:
            maker = self._makers[type(constraint)]
        except KeyError:
            raise NotImplementedError(
                f"Cannot transform {type(constraint).__name__} constraints"
            ) from None
        return maker(constraint)


biject_to = ConstraintRegistry()
transform_to = ConstraintRegistry()


def _for_both(*kinds: Any) -> Callable[[Any], Any]:
    """Register a maker of bijections in both registries."""

    def register(maker: Callable[[Any], Any]) -> Callable[[Any], Any]:
        for kind in kinds:
            biject_to.register(kind, maker)
            transform_to.register(kind, maker)
        return maker

    return register


@_for_both(constraints.real)
def _to_real(constraint: Any) -> Any:
    return transforms.identity_transform


@_for_both(constraints.positive, constraints.nonnegative)
def _to_greater(constraint: Any) -> Any:
    bound = constraint.lower_bound
    if isinstance(bound, int | float) and bound == 0:
        return transforms.ExpTransform()
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.lower_bound, 1)]
    )


@_for_both(constraints.less_than)
def _to_less(constraint: Any) -> Any:
    return transforms.ComposeTransform(
        [transforms.ExpTransform(), transforms.AffineTransform(constraint.upper_bound, -1)]
    )


@_for_both(constraints.interval, constraints.half_open_interval)
def _to_interval(constraint: Any) -> Any:
    low, high = constraint.lower_bound, constraint.upper_bound
    bounds = (low, high)
    if all(isinstance(bound, int | float) for bound in bounds) and bounds == (0, 1):
        return transforms.SigmoidTransform()
    return transforms.ComposeTransform(
        [transforms.SigmoidTransform(), transforms.AffineTransform(low, high - low)]
    )


def _over_pieces(registry: ConstraintRegistry) -> None:
    """Sets made of others take the transforms that the registry has for those."""

    @registry.register(constraints.independent)
    def independent(constraint: Any) -> Any:
        return transforms.IndependentTransform(
            registry(constraint.base_constraint), constraint.reinterpreted_batch_ndims
        )

    @registry.register(constraints.cat)
    def cat(constraint: Any) -> Any:
        parts = [registry(piece) for piece in constraint.cseq]
        return transforms.CatTransform(parts, constraint.dim, constraint.lengths)

    @registry.register(constraints.stack)
    def stack(constraint: Any) -> Any:
        parts = [registry(piece) for piece in constraint.cseq]
        return transforms.StackTransform(parts, constraint.dim)


_over_pieces(biject_to)
_over_pieces(transform_to)


@_for_both(constraints.corr_cholesky)
def _to_corr_cholesky(constraint: Any) -> Any:
    return transforms.CorrCholeskyTransform()


@biject_to.register(constraints.simplex)
def _biject_to_simplex(constraint: Any) -> Any:
    return transforms.StickBreakingTransform()


@transform_to.register(constraints.simplex)
def _transform_to_simplex(constraint: Any) -> Any:
    return transforms.SoftmaxTransform()


@transform_to.register(constraints.lower_cholesky)
def _to_lower_cholesky(constraint: Any) -> Any:
    return transforms.LowerCholeskyTransform()


@transform_to.register(constraints.positive_definite)
@transform_to.register(constraints.positive_semidefinite)
def _to_positive_definite(constraint: Any) -> Any:
    return transforms.PositiveDefiniteTransform()


public.place_all("distributions.constraint_registry", globals())
